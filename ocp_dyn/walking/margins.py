"""Margins that an operator keeps between a robot's walk and what the robot can do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._base.checks import within
from .._base.types import repr_in_message
from ..dynamics.kinematics import pose
from ..mechanism import Model
from ..ocp import Instant, Path
from .biped import SOLES, Biped

NARROW = 4.0
"""Least range of a joint, in margins, of which a margin is taken off at both ends."""


@dataclass(frozen=True)
class Margins:
    """Margins of a robot's walk, with the values of a cautious operator.

    A walk of least effort goes to the ends of what a robot can do: the stance knee rests on its stop, the pelvis swings
    about the vertical to lengthen the step, feet pass close to the ground, motors reach their limits. Errors of the
    model and of the controller need room there.

    clearance: height of the swinging foot in the middle of its swing, in lengths of the leg: 6 cm for 0.86 m. yaw
    [rad]: most the trunk turns to either side of the way. joints [rad]: distance of the joints of the legs from the
    ends of their ranges. speed, torque: parts of the limits that are left to the controller. 0 switches a reserve off,
    inf the bound of the yaw.

    >>> od.walking.Margins(yaw=0.1).torque
    0.2
    """

    clearance: float = 0.07
    yaw: float = 0.15
    joints: float = 0.1
    speed: float = 0.2
    torque: float = 0.2

    def __post_init__(self) -> None:
        most = {"clearance": 1.0, "yaw": math.inf, "joints": 1.0, "speed": 0.9, "torque": 0.9}
        for field in fields(self):
            top = most[field.name]
            within(getattr(self, field.name), 0.0, top, f"Margins: {field.name} must lie between 0 and {top:g}")
        if self.yaw == 0:
            raise ValueError("Margins: yaw must be more than 0 rad: a trunk that cannot turn at all has no walk")

    def of(self, robot: Biped) -> Biped:
        """The robot with narrower limits of its joints; without any change if its limits do not count."""
        return replace(robot, model=self.narrowed(robot.model, SOLES)) if robot.limits else robot

    def narrowed(self, model: Model, feet: Sequence[str]) -> Model:
        """The model with those margins of the positions of the legs that end in these frames, and of the speeds and
        torques of all joints.

        >>> model = od.models.human(root=od.FloatingBase())
        >>> narrow = od.walking.Margins(torque=0.5).narrowed(model, ("sole_l", "sole_r"))
        >>> round(float(narrow.dofs.tau_max[-1] / model.dofs.tau_max[-1]), 3)
        0.5
        """
        dofs = model.dofs
        lower, upper = np.array(dofs.q_lower), np.array(dofs.q_upper)
        for at in leg_coordinates(model, feet):
            wide = upper[at] - lower[at] >= NARROW * self.joints
            lower[at], upper[at] = lower[at] + self.joints * wide, upper[at] - self.joints * wide
        return model.with_limits(
            lower=lower,
            upper=upper,
            velocity=(1 - self.speed) * dofs.qd_max,
            effort=(1 - self.torque) * dofs.effort,
        )

    def path(self, robot: Any) -> tuple[Path, ...]:
        """The bound of the turn of the robot's trunk about the vertical, as a path constraint of every phase.

        >>> [bound.where for bound in od.walking.Margins().path(od.walking.biped("heel_spring_biped"))]
        ['node']
        """
        if self.yaw == math.inf:
            return ()
        trunk = robot.model.body_names[0]

        def turn(instant: Instant) -> Any:
            R, _ = pose(instant.model, trunk, instant.q)
            return R[1, 0]  # of a trunk that leans little: the sine of its turn

        return (Path(turn, -math.sin(min(self.yaw, math.pi / 2)), math.sin(min(self.yaw, math.pi / 2))),)


USUAL = Margins()
"""Margins of a walk for which none are given."""


def check_margins(margins: Any) -> None:
    """TypeError for anything but margins or None."""
    if margins is not None and not isinstance(margins, Margins):
        raise TypeError(f"margins must be od.walking.Margins(), or None for none, got {repr_in_message(margins)}")


def leg_coordinates(model: Model, feet: Sequence[str]) -> list[slice]:
    """Slices of q of the joints between the root and these frames."""
    bodies = {body for foot in feet for body in model.path(model.frame(foot).body)[1:]}
    return [model.q_slice(model.joint_names[body - 1]) for body in sorted(bodies)]
