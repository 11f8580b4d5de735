"""First guesses: standing, on a plan of the feet, from another solution."""
