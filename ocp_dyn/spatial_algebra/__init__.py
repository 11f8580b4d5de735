"""Spatial vectors, rotations, and factors of small or tree-structured matrices."""
