"""Feet of people on the ground: the flat sole, the round heel, the round front over which the foot leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..constraints import Contact, RollingContact
from ..mechanism import Model
from ..models import HumanDimensions, human_dimensions
from ..ocp import Foothold

HEEL, HEEL_RADIUS = 0.12, 0.2
"""Distance from the rear of the heel to the point that first touches the ground, and radius of the heel's curve, as
fractions of the foot's length. The heel bone carries the load some 3 cm ahead of the rear of the heel. On a sharp edge
at the rear, the torque that lifts the toes would have to be almost twice as large, and the force would dip when the
foot gets flat."""

BALL = (human_dimensions().heel + human_dimensions().ball) / human_dimensions().foot_length
"""Distance of the ball of the foot, where the flat sole ends, ahead of the rear of the heel, as such a fraction."""

EDGE = 0.83
"""Distance from the heel of the edge over which a foot without a round front leaves, as such a fraction. The center of
pressure comes to about this point before a foot leaves (Hansen et al., Effective foot length ratio, J. Prosthet.
Orthot. 16, 2004: 0.83 in able-bodied people)."""

TOE_RADIUS = 0.3
"""Radius of the round front of the sole, as a fraction of the foot's length; it touches the ground at the ball when the
toes are level. Assumed: so the toes, 0.28 of the foot's length, have rolled to their ends at 53 degrees, and that is
about the angle at which they leave the ground. Between 0.3 and 0.8 the gait hardly changes. A foot without joints at
the toes rolls over this front as if they could not bend: over an edge, which the center of pressure has to reach before
the heel can rise, it would leave too late."""

CLEARANCE = 0.04
"""Height of the lowest point of the swinging foot, in the middle of its swing [m]."""

TOE_OUT = math.radians(6.0)
"""Angle of the feet outwards; 5 to 7 degrees are normal in adults."""


class Feet(NamedTuple):
    """The footholds of one foot at one place: the flat sole, and the round heel and front.

    >>> od.walking.person().feet("r", x=0.0, y=-0.1).toes.kind
    'edge'
    """

    flat: Foothold
    heel: Foothold
    toes: Foothold


def human_feet(
    model: Model, size: HumanDimensions, side: str, rounded: bool = True, planar: bool = False, **place: Any
) -> Feet:
    """A foot flat on the ground from heel to ball, its round heel, and its round front: that of the toes, if they have
    joints; one place for the three. rounded: False: a rigid foot is flat as far as `EDGE`, and leaves over this edge.
    planar: the body moves in the x-z plane.
    """
    with_toes = f"toes_{side}" in model.joint_names
    rear, width = HEEL * size.foot_length, size.sole_half_breadth
    front, radius = (BALL if with_toes or rounded else EDGE) * size.foot_length, HEEL_RADIUS * size.foot_length
    heel = f"heel_{side}"  # names, so that the problem fits another model that has these frames
    sole = Contact(heel, point=((rear + front) / 2, 0, 0), planar=planar)
    flat = Foothold(sole, half_length=(front - rear) / 2, half_width=width, **place)
    round_heel = RollingContact(heel, radius, center=(rear, 0, radius), axis=(0, 1, 0), planar=planar)
    radius = TOE_RADIUS * size.foot_length if with_toes or rounded else 0.0
    frame, ahead = (f"toe_{side}", size.ball - size.toe) if with_toes else (heel, front)
    toes = RollingContact(frame, radius, center=(ahead, 0, radius), axis=(0, 1, 0), planar=planar)
    return Feet(flat, *(Foothold(edge, half_width=width, of=flat) for edge in (round_heel, toes)))
