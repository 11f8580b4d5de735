"""Pictures of problems that are not solved: the pattern of the KKT matrix, the strip of phases."""
