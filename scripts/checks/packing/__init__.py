"""Packed code beside plain code, bit by bit."""
