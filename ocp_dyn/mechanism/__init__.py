"""The frozen model of an articulated mechanism, and copies of it with something changed.

| module | contents |
|---|---|
| `model` | `Model`, the class that users see: the data of `tree`, the methods of `editing` |
| `tree` | data of a tree of bodies and joints, sizes, indices, names, configuration manifold [RBDA, ch. 4] |
| `annotations` | markers, paths of muscles, wrap objects, named configurations: data beside the equations |
| `parts` | frames, data of the dofs (limits, springs, losses, rotors), mimicking joints; checked inertias |
| `builder` | `ModelBuilder`, which checks every body as it is added; `random_tree` |
| `editing` | edited copies: limits, attached, locked, scaled |
| `parameters` | gravity, inertias and positions as inputs |
| `reduction` | dynamically equivalent models with fewer operations |
| `passive` | nonlinear passive torques of joints, springs between bodies |
| `loads` | `Loads`: passive forces, rotors and external wrenches in the equation of motion |
| `equal_models` | equality of models by their data; a decorator for what is found once for all equal models |
| `boundary` | checks of the arguments of every function of a model |
"""

from .._base.rooms import suggest_names_in as _suggest_names_in
from .annotations import Annotations as Annotations
from .annotations import ConditionalPathPoint as ConditionalPathPoint
from .annotations import Marker as Marker
from .annotations import MovingPathPoint as MovingPathPoint
from .annotations import Muscle as Muscle
from .annotations import PathPoint as PathPoint
from .annotations import PathWrap as PathWrap
from .annotations import PrescribedMotion as PrescribedMotion
from .annotations import WrapObject as WrapObject
from .model import Model as Model
from .parts import CoordinateNames as CoordinateNames
from .parts import DofData as DofData
from .parts import FileJoint as FileJoint
from .parts import Frame as Frame
from .parts import KeptConstraint as KeptConstraint
from .parts import Mimic as Mimic
from .parts import ShapeFile as ShapeFile
from .passive import BodySpring as BodySpring
from .passive import Bushing as Bushing
from .passive import CoordinateLimit as CoordinateLimit
from .passive import ExponentialTorque as ExponentialTorque
from .passive import FormulaTorque as FormulaTorque
from .passive import OneSidedSpring as OneSidedSpring
from .passive import PathSpring as PathSpring
from .passive import WeightSupport as WeightSupport

_suggest_names_in(globals())
