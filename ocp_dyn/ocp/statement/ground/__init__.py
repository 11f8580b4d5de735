"""The ground: planes on which feet stand."""
