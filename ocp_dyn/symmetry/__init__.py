"""Left-right symmetry of models: the mirror map, and symmetric versions of nearly symmetric robots."""
