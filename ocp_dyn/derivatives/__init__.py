"""Analytic derivatives of inverse and forward dynamics, by recursion."""
