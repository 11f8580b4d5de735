"""Simulations of mechanisms by every formulation: one call, one form of result.

| formulation | accelerations |
|---|---|
| `recursive` | by recursive algorithms, loops by their constraint forces |
| `velocity` | Formulation B, velocity transformations, open chains only |
| `multipliers` | Formulation B, loops by Lagrange multipliers |
| `penalty` | Formulation B, loops by penalties |
| `independent` | Formulation B, loops by independent coordinates |
| `trapezoidal` | natural coordinates, augmented Lagrangian form, implicit trapezoidal rule |

All but the last are integrated by the fourth-order Runge-Kutta method. Equations: `ocp_dyn.formulations`.
"""

from .._base.rooms import only_names as _only_names
from .by_formulation import Simulation as Simulation
from .by_formulation import System as System
from .by_formulation import simulate as simulate

_only_names(globals())
