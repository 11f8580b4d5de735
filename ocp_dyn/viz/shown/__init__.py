"""Figures and animations that a notebook shows without any setting."""
