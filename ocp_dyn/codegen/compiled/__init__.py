"""Functions as machine code in this process: compilers, their cache, and calls from numpy arrays."""
