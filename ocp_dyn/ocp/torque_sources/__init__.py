"""Muscles as torque sources: strength, activation, tendons, effort and metabolic rate."""
