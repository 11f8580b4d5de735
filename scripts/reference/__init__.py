"""Comparison of the library with files of recorded reference values, for `check_reference.py` and the tests."""
