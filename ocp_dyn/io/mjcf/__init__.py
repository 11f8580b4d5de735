"""MuJoCo's MJCF files: `read_mjcf`, `parse_mjcf` and `load_mjcf`.

| module | contents |
|---|---|
| `reader` | the three functions, and `MjcfFile`, what they find |
| `document` | a file with those that it includes as one tree of elements |
| `settings` | `<compiler>`, `<option>`, `<default>` |
| `vocabulary` | the attributes that elements may have |
| `values` | checked numbers and words of attributes |
| `poses` | positions and orientations |
| `tree` | the kinematic tree: bodies, frames, copies, names |
| `elements` | joints, shapes and inertias in SI units |
| `geometry` | masses and moments of shapes |
| `inertia` | inertias of bodies, and their bounds |
| `compiled` | inertias of meshes, by the package `mujoco` |
| `build` | from the tree to a `Model` |
| `tendons` | fixed tendons, springs of tendons |
| `actuators` | motors, rotors |
| `equality` | constraints |
"""

from .actuators import Actuator as Actuator
from .reader import MjcfFile as MjcfFile
from .reader import load_mjcf as load_mjcf
from .reader import parse_mjcf as parse_mjcf
from .reader import read_mjcf as read_mjcf
from .tendons import FixedTendon as FixedTendon
