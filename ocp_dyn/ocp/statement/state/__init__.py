"""Channels, the quantities of a motion over time, and components, which add channels to a problem."""
