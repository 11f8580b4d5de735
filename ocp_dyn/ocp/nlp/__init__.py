"""Nonlinear programs put together from blocks. No mechanics and no phases are known here."""
