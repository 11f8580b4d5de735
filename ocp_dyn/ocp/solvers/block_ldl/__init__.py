"""Linear algebra of a sequence of stages under IPOPT: an LDL' factorization along a tree of fronts known from the
start."""
