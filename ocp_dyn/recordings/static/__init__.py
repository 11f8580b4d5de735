"""Muscle forces of a recorded motion, each frame for itself, or all together with activation dynamics.

| module | holds |
|---|---|
| `optimization` | `static_optimization`, its arguments and the rows of its frames |
| `gains` | forces of muscles as linear functions of activation, net moments of independent coordinates |
| `tied_frames` | the interior-point method of `muscles.least_effort` for frames that activation dynamics tie together |
| `estimate`, `picture` | `MuscleEstimate`, and its figure |
"""
