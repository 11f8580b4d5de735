"""A person who walks: a model of a human body, and the size of its feet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from casadi import DM, vertcat

from .._base.checks import choice, name_among, truth
from .._base.display import Brief
from ..dynamics.kinematics import point_position
from ..dynamics.momentum import center_of_mass
from ..joints import FloatingBase
from ..mechanism import Model
from ..models import HumanDimensions, human_dimensions
from ..models import human as human_model
from ..ocp import Instant, Separation
from . import alterations
from .alterations import Joints, Sex
from .effort.effort_costs import human_effort
from .human_feet import BALL, EDGE, HEEL, TOE_OUT, Feet, human_feet
from .robots import moves_in_plane

Side = Literal["l", "r"]

SIDES = ("l", "r")
"""Left and right."""

FRAMES = ("heel_l", "heel_r", "sole_l", "sole_r", "shank_l", "shank_r")
"""Frames that a model needs to walk on human feet; axes as in `ocp_dyn.models.human`."""

LEGS = ("hip", "knee", "ankle", "subtalar", "toes")
"""Beginnings of the names of the joints of the legs."""

STILL: dict[str, Any] = {"lumbar": np.zeros(3)} | {
    f"{joint}_{side}": x for side in "lr" for joint, x in (("shoulder", np.zeros(3)), ("elbow", 0.0))
}
"""Joints of trunk and arms at rest."""


@dataclass(frozen=True, eq=False, repr=False)
class Person(Brief):
    """A person who walks, as `person` makes one; its methods give the footholds, constraints and costs of a motion.

    model: with the strength that walking needs. measured: the same body with the strength that dynamometers measure,
    with which costs of effort are compared. size: the lengths of a person; the feet have theirs. mirrored: whether left
    and right are mirror images, so that one step is a period. prosthetic: joints with springs in place of muscles.
    loops: constraints of the body that hold in every phase; passive: joints without muscles that follow from them.
    costs: of effort, by default those of `human_effort`. rounded: False: rigid feet leave over an edge, as in
    the ready runs and on the ready stairs.

    >>> model = od.models.human(80.0, root=od.FloatingBase())
    >>> walker = od.walking.Person(od.walking.with_calves(model), model, od.models.human_dimensions())
    >>> round(walker.step_length(1.2), 2)
    0.66
    """

    model: Model
    measured: Model
    size: HumanDimensions
    mirrored: bool = True
    prosthetic: tuple[str, ...] = ()
    loops: tuple[Any, ...] = ()
    passive: tuple[str, ...] = ()
    costs: tuple[Any, ...] = ()
    rounded: bool = True

    def feet(self, side: Side, **place: Any) -> Feet:
        """The footholds of one foot at one place: `x`, `y`, `yaw` and `plane` as in `ocp.Foothold`."""
        choice(side, SIDES, "side")
        if self.planar:
            y = float(point_position(self.model, f"heel_{side}", DM(self.model.neutral()))[1])
            place |= {"y": y, "yaw": 0.0}
        return human_feet(self.model, self.size, side, self.rounded, self.planar, **place)

    def feet_at(self, side: Side, x: Any, y: Any, heading: float = 0.0, **place: Any) -> Feet:
        """The footholds of a foot that points outwards from a heading [rad], its middle at x, y [m]: numbers or (lower,
        upper). place: `plane` as in `ocp.Foothold`."""
        choice(side, SIDES, "side")
        return self.feet(side, x=x, y=y, yaw=heading + (self.toe_out if side == "l" else -self.toe_out), **place)

    @cached_property
    def planar(self) -> bool:
        """Whether the body moves in the world's x-z plane."""
        return moves_in_plane(self.model, FRAMES[:2])

    @property
    def toe_out(self) -> float:
        """Angle of the feet outwards [rad]."""
        return 0.0 if self.planar else TOE_OUT

    @property
    def pivot(self) -> float:
        """Distance of the end of the flat sole, at the ball or the edge, ahead of the rear of the heel [m]."""
        return (BALL if self.rounded else EDGE) * self.size.foot_length

    @property
    def sole_middle(self) -> float:
        """Distance of the middle of the flat sole ahead of the rear of the heel [m]."""
        return (HEEL * self.size.foot_length + self.pivot) / 2

    @property
    def spread(self) -> float:
        """Width by which the middles of both soles are wider apart than the heels, because feet point outwards [m]."""
        return 2 * self.sole_middle * math.sin(self.toe_out)

    def sole_points(self, side: Side) -> list[tuple[str, tuple[float, float, float]]]:
        """The corners of a sole from the point where the round heel begins to the pivot.

        The rear of the foot is not among them: it is above the round heel, and a sharp corner there would hit the
        ground before the heel strikes.
        """
        choice(side, SIDES, "side")
        width, ends = self.size.sole_half_breadth, (HEEL * self.size.foot_length, self.pivot)
        return [(f"heel_{side}", (x, y, 0.0)) for x in ends for y in (-width, width)]

    def separation(self, breadths: float = 0.8, facing: str | None = None) -> Separation:
        """Feet and knees pass each other side by side; breadths: distance of their middles, in breadths of a foot.
        facing: the frame that tells left from right, for walks that turn.

        0.8: heel and arch, which pass the other foot, are narrower than the ball of the foot, where its breadth is
        measured.
        """
        if facing is not None:
            name_among(facing, self.model.frame_names, "facing", "frame")
        ends = (0.0, self.pivot)
        soles = [(("heel_l", (x, 0, 0)), ("heel_r", (u, 0, 0))) for x in ends for u in ends]
        knees = (("shank_l", (0, 0, 0)), ("shank_r", (0, 0, 0)))
        # not at the ends of a swing: there both feet stand, and their footholds determine the distance
        return Separation([*soles, knees], breadths * self.size.foot_breadth, ends=False, facing=facing)

    def effort(self) -> tuple[Any, ...]:
        """The usual costs, see `human_effort`."""
        return self.costs or human_effort(self)

    def step_length(self, speed: float) -> float:
        """Step length that people choose [m], in proportion to height and to the power 0.42 of the speed [m/s].

        0.66 m at 1.2 m/s and a height of 1.741 m (Grieve & Gear, 1966).
        """
        return 0.66 * self.size.height / 1.741 * math.pow(speed / 1.2, 0.42)

    @property
    def upper_coordinates(self) -> list[int]:
        """Indices into q of trunk and arms."""
        below = (*LEGS, *self.model.floating_joints)
        return [k for k, name in enumerate(self.model.q_names) if not name.startswith(below)]

    @property
    def dofs_above_legs(self) -> list[int]:
        """Indices into qd of root, trunk and arms: with the places of both feet they determine the legs."""
        return [k for k, name in enumerate(self.model.qd_names) if not name.startswith(LEGS)]

    def at_rest(self, instant: Instant, bent: float, ahead: float) -> Any:
        """Rows that are zero while the body stands upright and still: trunk and arms at neutral, the angle `bent` [rad]
        between thighs and vertical (straight legs are singular), the center of mass `ahead` [m] of the ankles. The legs
        follow from the places of the feet."""
        model, q, upper = self.model, instant.q, self.upper_coordinates
        neutral = np.array(model.neutral(), dtype=float)[upper]
        before = center_of_mass(model, q)[0] - point_position(model, "foot_l", q)[0]
        pose = [before - ahead, q[1], q[2] - self.pelvis_height(bent), q[3:6], q[upper] - neutral]
        return vertcat(*pose, instant.qd[self.dofs_above_legs])

    def pelvis_height(self, bent: float) -> float:
        """Height of the pelvis' origin [m] of a person who stands, with this angle [rad] between thighs and
        vertical."""
        return self.size.leg_length - (self.size.thigh + self.size.shank) * (1 - math.cos(bent))


def person(
    mass: float = 73.0,
    height: float = 1.741,
    sex: Sex = "male",
    *,
    model: Model | None = None,
    base: str = "quaternion",
    toes: bool = False,
    still: bool = False,
    locked: Joints = (),
    prosthesis: Joints = (),
    load: float = 0.0,
) -> Person:
    """A person who walks: mass [kg], height [m], sex.

    model: another body, such as `od.models.human` with your changes or a load in its hand; mass, base and toes are then
    its own, and its feet have the size of a person of this height and sex. Its calves get the strength that walking
    needs, in proportion to that of its ankles. base: rotation of `od.FloatingBase`. toes: the feet have toes, which
    adds 2 dofs. still: trunk and arms are one rigid body, which leaves 18 dofs.

    locked: names of joints that do not move, or a dict of their angles [rad]. prosthesis: names of joints with a spring
    and without muscles, or a dict of its stiffness [N m/rad]. load [kg]: a rigid backpack.

    `KeyError` for a model without the frames of `od.models.human`, or for unknown joints; `ValueError` for angles,
    loads and springs that no person has.

    >>> od.walking.person(locked="ankle_r", still=True).model.nv
    17
    """
    both = sorted(set(alterations.listed(locked)) & set(alterations.listed(prosthesis)))
    if both:
        raise ValueError(
            f"{both[0]!r} is both locked and prosthetic: a locked joint does not move; leave out one of both"
        )
    size = human_dimensions(height, sex)
    whole = human_model(mass, height, sex, root=FloatingBase(base), toes=toes) if model is None else _checked(model)
    if truth(still, "still"):
        whole = whole.lock_joints({name: q for name, q in STILL.items() if name in whole.joint_names})
    measured = alterations.with_prosthesis(alterations.locked_at(whole, locked), prosthesis)
    walker = alterations.with_backpack(alterations.strengthened(measured, height, sex), load, height)
    usual = model is None and not locked and not prosthesis  # saves the search for a mirror image
    springs = alterations.values_by_joint(walker, prosthesis, "prosthesis")
    mirrored = usual or alterations.is_symmetric(walker)
    return Person(walker, measured, size, mirrored, tuple(springs))


def _checked(model: Any) -> Model:
    """The user's model, which has the frames of human feet and is not fixed to the ground."""
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model with the frames of od.models.human, got {model!r}")
    missing = [name for name in FRAMES if name not in model.frame_names]
    if missing:
        raise KeyError(
            f"model {model.name!r} has no frame {', '.join(missing)}: this walk needs {', '.join(FRAMES)}, placed as "
            "in od.models.human. Add them by model.with_frame(name, to=...); a robot walks by od.walking.biped"
        )
    if not model.floating_joints:
        raise ValueError(f"model {model.name!r} is fixed to the ground: give it a root of od.FloatingBase()")
    return model
