"""Sweeps: one problem, or one for each of many bodies, solved at many points by processes or a cluster."""
