"""A chair, and the legs of a person who sits on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import vertcat

from ..._base.checks import within
from ...constraints import RollingContact
from ...models import HumanDimensions
from ...ocp import Foothold, Instant, Plane
from ..person import Person

LOWEST, HIGHEST = 0.35, 0.65
"""Range of the seat's height [m]."""

SHANK = math.radians(15.0)
"""Usual angle of the shanks, forward of the vertical: people draw their feet back before they rise."""


RESTING = ((-0.3, 0.0, 0.0), (-1.0,))
"""Angles of shoulder and elbow of the left arm while the hands lie on the thighs."""


def both_arms(shoulder: tuple[float, ...], elbow: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Angles of the joints of both arms from those of the left arm, whose mirror image the right one is.

    >>> od.walking.both_arms((-0.3, 0.0, 0.2), (-1.0,))["shoulder_r"]
    (-0.3, -0.0, -0.2)
    """
    x, *others = shoulder
    return {"shoulder_l": shoulder, "elbow_l": elbow, "shoulder_r": (x, *(-y for y in others)), "elbow_r": elbow}


@dataclass(frozen=True)
class Chair:
    """A chair for a person of this size, who sits upright with the shanks leaning forward by `shank` [rad].

    height [m]: of the seat. The hip joints are above the origin; the pelvis touches the seat at the frame `seat`.

    >>> chair = od.walking.Chair(od.models.human_dimensions(), 0.45)
    >>> round(chair.ankles, 2), round(chair.hip, 2)
    (0.31, -1.45)
    """

    size: HumanDimensions
    height: float = 0.45
    shank: float = SHANK

    def __post_init__(self) -> None:
        within(self.height, LOWEST, HIGHEST, f"seat_height must lie between {LOWEST} and {HIGHEST} m")

    @property
    def thigh(self) -> float:
        """Angle of the thighs below the horizontal [rad]."""
        knee = self.size.ankle_height + self.size.shank * math.cos(self.shank)
        return math.asin((self.height + self.size.seat_depth - knee) / self.size.thigh)

    @property
    def ankles(self) -> float:
        """Place of the ankles ahead of the hip joints [m]."""
        return self.size.thigh * math.cos(self.thigh) - self.size.shank * math.sin(self.shank)

    @property
    def hip(self) -> float:
        """Angle of the hips [rad], negative in flexion; the knees' is `shank - hip`, the ankles' `-shank`."""
        return -(math.pi / 2 - self.thigh)

    def posture(self, person: Person) -> dict[str, Any]:
        """Angles of the joints of a person who sits upright, the hands on the thighs; the trunk is at neutral."""
        legs = {f"{name}_{s}": x for s in "lr" for name, x in (("knee", self.shank - self.hip), ("ankle", -self.shank))}
        arms = {name: q for name, q in both_arms(*RESTING).items() if name in person.model.joint_names}
        return {**legs, **{f"hip_{s}.ry": self.hip for s in "lr"}, **arms}

    def at_rest(self, person: Person, instant: Instant) -> Any:
        """Rows that are zero while the person sits still in this posture. The legs follow from feet and seat."""
        model, upper, wanted = person.model, person.upper_coordinates, np.array(person.model.neutral(), dtype=float)
        for joint, angles in both_arms(*RESTING).items():
            if joint in model.joint_names:
                wanted[model.q_slice(joint)] = angles
        dofs = [k for k in person.dofs_above_legs if model.qd_names[k].partition(".")[0] not in model.floating_joints]
        return vertcat(instant.q[4], instant.q[upper] - wanted[upper], instant.qd[[4, *dofs]])

    def seat(self, person: Person) -> Foothold:
        """The foothold of the pelvis on the seat: an edge that joins the two points on which people sit, and over
        which the pelvis rolls."""
        edge = RollingContact(person.model.frame("seat"), radius=0.0, center=(0, 0, 0), axis=(0, 1, 0))
        return Foothold(edge, x=0.0, y=0.0, half_width=self.size.seat_breadth / 2, plane=Plane((0.0, 0.0, self.height)))
