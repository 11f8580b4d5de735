"""Linear solvers of IPOPT and other solvers, side by side."""
