"""Mutated files and wrong arguments."""
