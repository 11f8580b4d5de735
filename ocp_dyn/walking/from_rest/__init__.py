"""People at rest: the posture of standing, a chair to sit on, steps from standing to standing."""
