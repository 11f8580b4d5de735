"""Simulation in natural coordinates by the implicit trapezoidal rule: starts, steps until convergence, motions."""
