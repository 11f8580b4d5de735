"""Analysis of a solved motion: active bounds and multipliers, defects, stability, main figures."""
