"""Costs of effort of people: walking, with weights fitted to measured gaits, and running."""
