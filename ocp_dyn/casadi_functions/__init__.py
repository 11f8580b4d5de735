"""Algorithms as `casadi.Function`s: the registry of their names, inputs and outputs, and how they are made."""
