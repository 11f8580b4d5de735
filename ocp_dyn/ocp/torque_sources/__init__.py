"""Muscles as torque sources: strength, activation, tendons, effort and metabolic rate.

`model_muscles` has the muscles of a model, with paths, as a component; `muscle_costs` what they cost.
"""
