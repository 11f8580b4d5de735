"""Random sets of constraints, many with dependent rows, and a dense reference, for `check_redundant.py`."""
