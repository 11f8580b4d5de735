"""Convex quadratic programs along a sequence of stages: the statement, the solver in C, and the same in numpy."""
