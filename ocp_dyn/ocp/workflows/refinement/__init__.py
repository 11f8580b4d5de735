"""Refinement of grids: the next grid, and the iterate on it."""
