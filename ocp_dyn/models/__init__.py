"""Ready models: pendulums, benchmark trees, the five-link biped, a whole human.

| module | contents |
|---|---|
| `simple` | `pendulum`, and `chain`: a chain or tree of equal links |
| `compass` | `compass_walker`: two straight legs |
| `biped` | `five_link_biped`: the planar robot RABBIT |
| `human` | `human`: 14 bodies, 29 dofs |
| `anthropometry`, `joint_limits` | sizes, masses, ranges of motion and strengths of people, from the literature |
"""

from .anthropometry import HumanDimensions as HumanDimensions
from .anthropometry import human_dimensions as human_dimensions
from .biped import FiveLinkParameters as FiveLinkParameters
from .biped import absolute_angles as absolute_angles
from .biped import five_link_biped as five_link_biped
from .compass import CompassParameters as CompassParameters
from .compass import compass_walker as compass_walker
from .human import human as human
from .simple import chain as chain
from .simple import pendulum as pendulum
