"""Muscles of the human model: numbers and paths of published bodies."""
