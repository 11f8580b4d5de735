"""Solvers: each is given a program and a start, and returns an iterate."""
