"""Solvers of CasADi beside IPOPT and FATROP, with the derivatives of this library."""
