"""Ready models: pendulums, benchmark trees, the five-link biped, a whole human.

| module | contents |
|---|---|
| `simple` | `pendulum`, and `chain`: a chain or tree of equal links; `elbow`: a forearm with two muscles |
| `compass` | `compass_walker`: two straight legs |
| `biped` | `five_link_biped`: the planar robot RABBIT |
| `human` | `human`: 14 bodies, 29 dofs |
| `musculature.planar_human` | `planar_human`: that body in the sagittal plane, 10 dofs, 18 muscles |
| `mechanisms` | `five_bar_pendulum`, `bricard`, `n_four_bar` and its exact motion, `spatial_slider_crank` |
| `squeezer` | `squeezer`: Andrews' squeezer, with its motor and spring |
| `human_body` | `human_body`: 40 bodies on revolute joints, 45 dofs |
| `feet` | `human_spheres`: compliant spheres under the feet of `human` |
| `heavy_truck`, `car` | vehicles with loops in suspension and steering: 33 and 25 bodies, 18 and 15 dofs |
| `placed_bodies` | a builder of mechanisms by points of a drawing |
| `closed_legs` | `heel_spring_biped`: a biped with closed chains in its legs; `four_bar_leg`: a four-bar knee |
| `closed_chain` | `ClosedChain`: the record of a mechanism with loops |
| `robots` | robots from the URDFs of the package example-robot-data, by name; `od.robots` |
| `anthropometry`, `joint_limits` | sizes, masses, ranges of motion and strengths of people, from the literature |
| `passive_tissue` | passive torques of people's joints, from the literature |
| `musculature` | muscles of people's legs and trunk, from published bodies |
| `strength_curves` | torques that people's muscles can give at an angle and a speed, and such curves in general |
"""

from .._base.rooms import only_names as _only_names
from .anthropometry import HumanDimensions as HumanDimensions
from .anthropometry import human_dimensions as human_dimensions
from .biped import FiveLinkParameters as FiveLinkParameters
from .biped import absolute_angles as absolute_angles
from .biped import five_link_biped as five_link_biped
from .biped import five_link_leg_change as five_link_leg_change
from .biped import five_link_strike as five_link_strike
from .biped import five_link_swing as five_link_swing
from .car import car as car
from .closed_chain import ClosedChain as ClosedChain
from .closed_legs.four_bar_knee import four_bar_knee as four_bar_knee
from .closed_legs.four_bar_knee import four_bar_leg as four_bar_leg
from .closed_legs.heel_spring import heel_spring_biped as heel_spring_biped
from .compass import CompassParameters as CompassParameters
from .compass import compass_walker as compass_walker
from .feet.spheres import human_spheres as human_spheres
from .heavy_truck import heavy_truck as heavy_truck
from .human import human as human
from .human_body import human_body as human_body
from .mechanisms import bricard as bricard
from .mechanisms import five_bar_pendulum as five_bar_pendulum
from .mechanisms import n_four_bar as n_four_bar
from .mechanisms import n_four_bar_motion as n_four_bar_motion
from .mechanisms import spatial_slider_crank as spatial_slider_crank
from .musculature.planar_human import planar_human as planar_human
from .passive_tissue import passive_tissue as passive_tissue
from .simple import chain as chain
from .simple import elbow as elbow
from .simple import pendulum as pendulum
from .squeezer import squeezer as squeezer
from .squeezer import squeezer_multipliers as squeezer_multipliers
from .squeezer import squeezer_order as squeezer_order
from .squeezer import squeezer_torque as squeezer_torque
from .strength_curves import human_strength_curves as human_strength_curves

_only_names(globals())
