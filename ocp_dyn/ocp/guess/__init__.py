"""First guesses: from a standing posture, from a plan of the feet, from another solution."""
