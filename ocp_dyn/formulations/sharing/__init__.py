"""Choice of natural coordinates: points and vectors that joints and loops share, conditions, matrices."""
