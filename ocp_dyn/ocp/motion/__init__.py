"""Solved motions as data, tables and files."""
