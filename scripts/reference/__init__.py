"""Reads files of recorded reference values and compares the library with them, for `check_reference.py` and the tests."""
