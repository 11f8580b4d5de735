"""Curves of muscles: force over length and speed of the fibers, and over the length of the tendon, all dimensionless.

| module | contents |
|---|---|
| `family` | `MuscleCurves`, what every family of curves has |
| `de_groote_fregly`, `thelen`, `millard`, `splines` | the families |
| `bezier` | monotone quintic Bezier curves, by which those of Millard are made |
| `mixed` | different families of different muscles as one |

Lengthening is positive. A fiber length is over the optimal length, a fiber speed over the largest speed of shortening,
a tendon length over the slack length, and forces are over the maximum isometric force.
"""

from .de_groote_fregly import DeGrooteFreglyCurves as DeGrooteFreglyCurves
from .family import MuscleCurves as MuscleCurves
from .millard import MillardCurves as MillardCurves
from .mixed import MixedCurves as MixedCurves
from .splines import RigidTendonCurves as RigidTendonCurves
from .splines import SchutteCurves as SchutteCurves
from .thelen import ThelenCurves as ThelenCurves
