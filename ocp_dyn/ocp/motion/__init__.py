"""Motions that were found, as data, tables and files."""
