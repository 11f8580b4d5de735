"""The ground under a motion in pictures: stairs, ramps, stones, seats, rails."""
