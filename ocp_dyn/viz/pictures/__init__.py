"""Pictures of models, of the phases of a problem, and of the patterns of matrices."""
