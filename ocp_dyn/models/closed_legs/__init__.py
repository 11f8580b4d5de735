"""Robots whose legs have closed chains."""
