"""Numbers of a statement that may change without a new build: parameters, and weights of costs."""
