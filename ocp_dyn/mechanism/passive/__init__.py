"""Passive forces beside the linear springs of dofs, as data of a model.

| module | contents |
|---|---|
| `protocol` | what every kind of passive element tells, and its checks |
| `elements` | the kinds: tissue, tendons, stops, formulas |
| `bushings` | springs between bodies: what every kind tells; springs and dampers of six directions |
| `path_springs` | springs along lines through points, or along sums of coordinates |
| `weights` | forces that hold up weight |
"""

from .bushings import DEFLECTIONS as DEFLECTIONS
from .bushings import BodySpring as BodySpring
from .bushings import Bushing as Bushing
from .bushings import Pose as Pose
from .bushings import bushings_within as bushings_within
from .bushings import checked_bushings as checked_bushings
from .elements import ELEMENTS as ELEMENTS
from .elements import CoordinateLimit as CoordinateLimit
from .elements import ExponentialTorque as ExponentialTorque
from .elements import FormulaTorque as FormulaTorque
from .elements import OneSidedSpring as OneSidedSpring
from .path_springs import PathSpring as PathSpring
from .protocol import Angles as Angles
from .protocol import PassiveElement as PassiveElement
from .protocol import checked_elements as checked_elements
from .protocol import element_entries as element_entries
from .protocol import entry_names as entry_names
from .protocol import without_joints as without_joints
from .weights import WeightSupport as WeightSupport
