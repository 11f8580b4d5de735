"""OpenSim models, .osim.

| module | contents |
|---|---|
| `reader` | `load_osim`, `parse_osim`: the tree of bodies and joints, and what belongs to it |
| `document` | properties of elements with their checks, sets of objects, sockets, functions |
| `frames` | bodies, the ground and offset frames by name or path |
| `joints` | coordinates, and joints of every class as those of this library |
| `paths` | markers, muscles with their paths, wrap objects |
| `constraints` | couplers, points, welds, distances |
| `contacts` | `osim_spheres`: spheres on the ground |
| `notes` | what is left out or turned, for `model.notes` |
| `faults` | all faults of a file, for reports |
| `writer` | `write_osim`, `osim_text`; its parts are in `writing/` |
| `forces` | springs, limits, actuators, and what is refused |
"""

from .contacts import osim_spheres as osim_spheres
from .reader import load_osim as load_osim
from .reader import parse_osim as parse_osim
from .writer import osim_text as osim_text
from .writer import write_osim as write_osim
