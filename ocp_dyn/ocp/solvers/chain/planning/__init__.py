"""Which row of a KKT matrix is eliminated when: fronts along a chain of intervals, from the structure of a program."""
