"""Searches for faults, comparisons with references, tests of the tests: `python -m scripts.checks.NAME`."""
