"""Predictive control over a moving window: from a model and a gait to torques and gains, step by step.

| module | holds |
|---|---|
| `horizon` | `Horizon`, the problem of the window |
| `controller` | `HorizonController`, which solves one program per step, and returns torques and gains |
| `gait_patterns` | gaits by name and by own tables, and commands |
| `tuning` | weights, prices and gains |
| `plan` | the planned motion |
| `references` | from commands and the phase of the gait to contact times, footholds and references of nodes |
| `stage` | costs and rows of one stage, linear about the plan |
| `feet` | the robot of a horizon, its feet, and the fields of its vectors |
| `fields`, `evaluation` | named parts of vectors; Functions at all nodes at once |
"""
