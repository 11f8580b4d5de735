"""Solvers of programs: from a program and a start to an iterate with its multipliers; `by_name` lists them."""
