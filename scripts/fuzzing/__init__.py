"""Inputs that `fuzz.py` hands to the library: mutated files, and calls with wrong arguments."""
