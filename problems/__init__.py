"""Ready optimal control problems; each runs by `python -m problems.NAME`."""
