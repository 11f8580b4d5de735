"""The planar five-link biped of the walking literature, pinned at its stance foot or with a planar base."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from casadi import DM, vertcat

from .._base.checks import choice, numbers, positive
from .._base.types import Array, repr_in_message
from ..constrained_motion import impact
from ..constraints import Contact
from ..dynamics.kinematics import point_position, point_velocity
from ..joints import Fixed, Joint, Planar, Revolute
from ..mechanism import Model
from ..mechanism.builder import WORLD, ModelBuilder

LINKS = ("stance_tibia", "stance_femur", "torso", "swing_femur", "swing_tibia")
"""The links in the order in which the literature counts their absolute angles."""

X_Z_PLANE = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Axes (columns) of a joint frame whose x points forward and y up; its z is -y: a turn from x towards z."""


@dataclass(frozen=True)
class FiveLinkParameters:
    """Masses [kg], inertias about the centers of mass [kg m^2], lengths and centers of mass [m] of the five links.

    Defaults: the robot RABBIT (Chevallereau et al., IEEE Control Systems Magazine 23(5), 2003) as Kelly uses it
    (SIAM Review 59(4), 2017). `tibia_com` is measured from the knee and `femur_com` from the hip (the upper
    end of both), `torso_com` from the TOP of the torso; the swing leg has its own two, because published
    models differ there. `ValueError` for a number that is not finite, or a mass, inertia or length <= 0.

    >>> od.models.FiveLinkParameters(torso_mass=30.0).torso_length
    0.625
    """

    tibia_mass: float = 3.2
    femur_mass: float = 6.8
    torso_mass: float = 20.0
    tibia_inertia: float = 0.93
    femur_inertia: float = 1.08
    torso_inertia: float = 2.22
    tibia_length: float = 0.4
    femur_length: float = 0.4
    torso_length: float = 0.625
    tibia_com: float = 0.128
    femur_com: float = 0.163
    torso_com: float = 0.2
    swing_tibia_com: float = 0.128
    swing_femur_com: float = 0.163

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if not math.isfinite(value) or (value <= 0 and not name.endswith("_com")):
                kind = "finite" if name.endswith("_com") else "positive and finite"
                raise ValueError(f"FiveLinkParameters: {name} must be {kind}, got {repr_in_message(value)}")


_RABBIT = FiveLinkParameters()


def five_link_biped(parameters: FiveLinkParameters = _RABBIT, root: Literal["pinned", "planar"] = "pinned") -> Model:
    """The planar five-link biped with point feet: two tibiae, two femora and a torso in the x-z plane.

    x points forward, z up. At q = 0 everything is vertical, and every link has the world's axes. All
    rotations are about -y: seen with x to the right and z up, positive is counter-clockwise, so a positive
    ABSOLUTE angle leans the top of a link backwards and swings a hanging leg forwards. The absolute angles
    of the literature, from the vertical, are sums of the joint angles: `absolute_angles(model) @ q`.

    root "pinned" (nq = 5): the stance foot turns about the origin. Joints `stance_ankle, stance_knee,
        stance_hip, swing_hip, swing_knee` form one chain (stance tibia, stance femur, torso, swing femur,
        swing tibia), so the absolute angles are the cumulative sums of q, and q[i] = a[i] - a[i-1]. A
        human-like stance knee has q >= 0 and a human-like swing knee q <= 0.
    root "planar" (nq = 7): `root` moves the hip: q[0] forward, q[1] up [m], q[2] the torso's absolute
        angle. Joints `stance_hip, stance_knee, swing_hip, swing_knee` turn each leg from the torso
        outwards, so a[stance_femur] = q[2] + q[3] and so on; both human-like knees have q <= 0. The moving
        body of the root is `base`; the torso is merged into it.

    Frames: `stance_foot`, `swing_foot`, `hip`, `head` (the top of the torso), and the five links, whose
    origins are at the joints that move them (`torso`: at the hip). Only the moment of inertia about y
    matters; the links are given it about x too, and none about z. `ValueError` for another root.

    >>> robot = od.models.five_link_biped()
    >>> robot.mass, robot.joint_names
    (40.0, ('stance_ankle', 'stance_knee', 'stance_hip', 'swing_hip', 'swing_knee'))
    """
    if not isinstance(parameters, FiveLinkParameters):
        raise TypeError(f"five_link_biped: parameters must be FiveLinkParameters, got {repr_in_message(parameters)}")
    choice(root, ("pinned", "planar"), "five_link_biped: root")
    builder = ModelBuilder(f"five_link_{root}")
    if root == "pinned":
        _pinned_leg(builder, parameters)
        _torso(builder, parameters, Revolute("-y"), "stance_femur", parameters.femur_length)
    else:
        builder.add_body("base", Planar(), joint_name="root", rotation=X_Z_PLANE)
        _torso(builder, parameters, Fixed(), "base", 0.0)
        _hanging_leg(builder, parameters, "stance", parameters.femur_com, parameters.tibia_com)
    _hanging_leg(builder, parameters, "swing", parameters.swing_femur_com, parameters.swing_tibia_com)
    builder.add_frame("hip", "torso")
    builder.add_frame("head", "torso", (0.0, 0.0, parameters.torso_length))
    return builder.build()


def absolute_angles(model: Model) -> Array:
    """The matrix A (5 x nv) with `a = A q`: absolute angles of `LINKS` of a `five_link_biped` from its q.

    Rates and accelerations map alike; torques on the absolute angles map back by `tau = A' tau_a`.

    >>> od.models.absolute_angles(od.models.five_link_biped()).shape
    (5, 5)
    """
    if not isinstance(model, Model):
        raise TypeError(f"absolute_angles needs a Model, od.models.five_link_biped(...), got {repr_in_message(model)}")
    A = np.zeros((len(LINKS), model.nv))
    for row, link in zip(A, LINKS, strict=True):
        # the last dof of each joint on the way to the link is the one that turns
        row[[model.dofs_of(i)[-1] for i in model.path(model.frame(link).body)]] = 1.0
    return A


def five_link_swing(start: Sequence[float], duration: float) -> Callable[[float], tuple[Array, Array]]:
    """A first guess of a step of the pinned biped, s -> (q, qd): absolute angles move at constant rates from `start`
    to those of the posture with swapped legs.

    >>> q, qd = od.models.five_link_swing((0.3, 0.2, 0.0, -0.2, -0.3), 0.5)(0.0)
    >>> q.round(9)
    array([ 0.3, -0.1, -0.2, -0.2, -0.1])
    """
    first: Any = numbers(start, "five_link_swing: start [rad]")
    duration = positive(duration, "five_link_swing: duration [s]")
    if first.size != len(LINKS):
        raise ValueError(f"five_link_swing: start must be {len(LINKS)} absolute angles [rad], got {first.size} numbers")
    A = absolute_angles(five_link_biped())
    rates = (first[::-1] - first) / duration

    def guess(s: float) -> tuple[Array, Array]:
        return np.linalg.solve(A, first + s * duration * rates), np.linalg.solve(A, rates)

    return guess


def five_link_strike(q: Any, qd: Any, parameters: FiveLinkParameters = _RABBIT) -> tuple[Any, Any, Any]:
    """The strike of the swing foot of the pinned biped: absolute angles (5) and their rates (5) after it, when the
    legs have changed their roles, and the impulse (x, z) on the foot [N s]. q, qd: before it; the foot does not slip.

    >>> q, qd = ca.DM([0.2, 0.1, -0.1, 0.1, -0.1]), ca.DM([-1, 0, 0, 0, 0])
    >>> angles, _, impulse = od.models.five_link_strike(q, qd)
    >>> float(impulse[1]) > 0
    True
    """
    pinned, planar = five_link_biped(parameters), five_link_biped(parameters, root="planar")
    q, qd = (Model.column(x, len(LINKS), name, pinned.q_names) for x, name in ((q, "q"), (qd, "qd")))
    A, A_planar = DM(absolute_angles(pinned)), absolute_angles(planar)
    angles, rates = A @ q, A @ qd
    # the same state in the coordinates of the biped that can leave the ground: hip, torso, then the joints
    links, hip = np.linalg.inv(A_planar[:, 2:]), DM([[1, 0, 0], [0, 0, 1]])
    free = vertcat(hip @ point_position(pinned, "hip", q), links @ angles)
    moving = vertcat(hip @ point_velocity(pinned, "hip", q, qd), links @ rates)
    qd_plus, impulse = impact(planar, (Contact("swing_foot", axes="xz"),), free, moving)
    swap = DM(np.eye(len(LINKS))[::-1])
    return swap @ angles, swap @ (A_planar @ qd_plus), impulse


def five_link_leg_change(q: Any, qd: Any, parameters: FiveLinkParameters = _RABBIT) -> tuple[Any, Any, Any]:
    """State and impulse (q, qd, impulse [N s]) of the pinned biped after a strike, at the start of the next step.

    >>> q, qd, _ = od.models.five_link_leg_change(ca.DM([0.2, 0.1, -0.1, 0.1, -0.1]), ca.DM([-1, 0, 0, 0, 0]))
    >>> q.full().ravel().round(3)
    array([ 0.2,  0.1, -0.1,  0.1, -0.1])
    """
    joints = DM(np.linalg.inv(absolute_angles(five_link_biped(parameters))))
    angles, rates, impulse = five_link_strike(q, qd, parameters)
    return joints @ angles, joints @ rates, impulse


def _rod(inertia: float) -> tuple[float, float, float]:
    return (inertia, inertia, 0.0)


def _pinned_leg(builder: ModelBuilder, p: FiveLinkParameters) -> None:
    """The stance leg upwards from the ground: links point along +z from the joint below them."""
    builder.add_body(
        "stance_tibia", Revolute("-y"), WORLD, joint_name="stance_ankle",
        mass=p.tibia_mass, com=(0.0, 0.0, p.tibia_length - p.tibia_com), inertia=_rod(p.tibia_inertia),
    )  # fmt: skip
    builder.add_body(
        "stance_femur", Revolute("-y"), "stance_tibia", joint_name="stance_knee", origin=(0.0, 0.0, p.tibia_length),
        mass=p.femur_mass, com=(0.0, 0.0, p.femur_length - p.femur_com), inertia=_rod(p.femur_inertia),
    )  # fmt: skip
    builder.add_frame("stance_foot", "stance_tibia")


def _torso(builder: ModelBuilder, p: FiveLinkParameters, joint: Joint, parent: str, hip: float) -> None:
    """The torso on its parent, its origin at the hip, `hip` above the parent's."""
    fixed = isinstance(joint, Fixed)
    builder.add_body(
        "torso", joint, parent, joint_name="stance_hip", origin=(0.0, 0.0, hip),
        rotation=np.transpose(X_Z_PLANE) if fixed else None,
        mass=p.torso_mass, com=(0.0, 0.0, p.torso_length - p.torso_com), inertia=_rod(p.torso_inertia),
    )  # fmt: skip


def _hanging_leg(builder: ModelBuilder, p: FiveLinkParameters, side: str, femur_com: float, tibia_com: float) -> None:
    """A leg downwards from the torso: links point along -z from the joint above them."""
    builder.add_body(
        f"{side}_femur", Revolute("-y"), "torso", joint_name=f"{side}_hip",
        mass=p.femur_mass, com=(0.0, 0.0, -femur_com), inertia=_rod(p.femur_inertia),
    )  # fmt: skip
    builder.add_body(
        f"{side}_tibia", Revolute("-y"), f"{side}_femur", joint_name=f"{side}_knee", origin=(0.0, 0.0, -p.femur_length),
        mass=p.tibia_mass, com=(0.0, 0.0, -tibia_com), inertia=_rod(p.tibia_inertia),
    )  # fmt: skip
    builder.add_frame(f"{side}_foot", f"{side}_tibia", (0.0, 0.0, -p.tibia_length))
