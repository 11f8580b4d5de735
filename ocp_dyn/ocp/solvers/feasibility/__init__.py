"""Feasibility of a program: bounds that contradict each other, and the point of least violation near an iterate."""
