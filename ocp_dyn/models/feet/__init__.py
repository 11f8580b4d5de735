"""Feet of people: the spheres on which they stand."""
