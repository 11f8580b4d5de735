"""Gait analysis of a solved walk: curves over the stride, measured references, comparison, pictures."""
