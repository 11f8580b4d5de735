"""Ready optimal control problems; each runs by `python -m ocp_dyn.problems.NAME`."""
