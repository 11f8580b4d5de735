"""Workflows: solve, check, continue along parameters, sweep over grids, differentiate, control in real time."""
