"""Data that a model carries beside its equations: markers, paths of muscles, wrap objects, named configurations.

They belong to frames and coordinates by name, and follow every edit of the model: they get prefixes where it is
attached, grow where it is scaled, and coordinates that are locked become numbers in them.

| module | contents |
|---|---|
| `kinds` | markers, points of paths, wrap objects, muscles |
| `motions` | motions that a file prescribes for coordinates |
| `edits` | their copies with other names, sizes, or coordinates that are held |
| `collected` | `Annotations`, all of a model's |
"""

from .collected import Annotations as Annotations
from .collected import counted_out as counted_out
from .edits import held_muscle as held_muscle
from .kinds import QUADRANTS as QUADRANTS
from .kinds import WRAP_METHODS as WRAP_METHODS
from .kinds import AnyPathPoint as AnyPathPoint
from .kinds import ConditionalPathPoint as ConditionalPathPoint
from .kinds import Marker as Marker
from .kinds import MovingPathPoint as MovingPathPoint
from .kinds import Muscle as Muscle
from .kinds import PathPoint as PathPoint
from .kinds import PathWrap as PathWrap
from .kinds import WrapObject as WrapObject
from .motions import PrescribedMotion as PrescribedMotion
