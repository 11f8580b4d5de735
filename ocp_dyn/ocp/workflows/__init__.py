"""Tasks that run through all rooms: solve, check, continue, differentiate, control in real time."""
