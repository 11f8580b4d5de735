"""Random sets of constraints, rows that depend on others among them, and a dense reference for `check_redundant.py`."""
