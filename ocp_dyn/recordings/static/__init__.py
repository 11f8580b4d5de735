"""Static optimization: the muscle forces of a recorded motion, each frame for itself.

| module | holds |
|---|---|
| `optimization` | `static_optimization`, its arguments and the rows of its frames |
| `gains` | forces of muscles as linear functions of activation, net moments of independent coordinates |
| `least_effort` | the interior-point method for all frames at once |
| `estimate`, `picture` | `MuscleEstimate`, and its figure |
"""
