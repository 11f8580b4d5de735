"""Costs of effort of people: weights chosen by hand, weights fitted to measured gaits, running."""
