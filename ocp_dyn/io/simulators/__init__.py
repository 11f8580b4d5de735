"""Models as files for simulators: MJCF for MuJoCo, URDF, and the shapes with which bodies touch the ground.

| module | contents |
|---|---|
| `shapes` | `Box`, `Ball`, `Cylinder`: shapes fixed to frames |
| `mjcf` | `write_mjcf`, `mjcf_text`: the file as a whole |
| `_mjcf_bodies` | bodies, joints, motors and keyframes of an MJCF file |
| `_mjcf_equality` | joints that mimic others, and loops |
| `_mjcf_visuals` | sticks or the shapes of the model's file |
| `urdf_writer` | `write_urdf`, `urdf_text` |
| `_common` | numbers, names, inertias, and what a file cannot hold |
"""

from ._mjcf_bodies import idle_dofs as idle_dofs
from .mjcf import MjcfOptions as MjcfOptions
from .mjcf import mjcf_text as mjcf_text
from .mjcf import write_mjcf as write_mjcf
from .shapes import Ball as Ball
from .shapes import Box as Box
from .shapes import Cylinder as Cylinder
from .shapes import Shape as Shape
from .shapes import shape_pose as shape_pose
from .urdf_writer import urdf_text as urdf_text
from .urdf_writer import write_urdf as write_urdf
