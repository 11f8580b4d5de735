"""Nonlinear programs that consist of blocks, without mechanics and phases."""
