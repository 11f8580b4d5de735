"""Fits of a model to all frames of a recording at once.

| module | holds |
|---|---|
| `placed` | markers and sensors on the bodies: costs, gradients, matrices |
| `least_squares`, `newton_steps` | steps of all frames, in NumPy and by the native library |
| `smooth_motion` | motions that are smooth over all frames |
"""
