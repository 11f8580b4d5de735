"""Ready problems from guesses that differ by rounding, under several BLAS kernels."""
