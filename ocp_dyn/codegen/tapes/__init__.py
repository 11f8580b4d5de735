"""Functions as tables of operations, which C code compiled once per machine evaluates for eight states at a time."""
