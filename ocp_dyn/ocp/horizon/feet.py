"""Feet of a horizon: contacts whose forces are controls, their friction cones, and the sizes of all vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, repr_in_message, suggestion
from ...constraints import Contact
from ...dynamics.kinematics import point_position
from ...joints import FloatingBase
from ...mechanism import Model
from ..statement.footholds import Foothold
from .fields import Fields

POINT, FLAT = 3, 6
"""Number of the forces of a point foot, and of a flat one: moments about the axes of the sole, then forces."""

SWINGS = 3
"""Number of swings of a foot that a schedule holds: those of a window of two strides."""

HARMONICS = 4
"""Number of harmonics of the joint angles that a gait may have."""

FAR = 1e9
"""Time [s] of swings that do not take place."""


@dataclass(frozen=True)
class Foot:
    """One foot: its frame, the contact point in it, half length and half width of its sole [m], zero for a point."""

    frame: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    half_length: float = 0.0
    half_width: float = 0.0

    @property
    def size(self) -> int:
        """Number of its forces."""
        return FLAT if self.half_length else POINT


@dataclass(frozen=True, eq=False)
class Body:
    """The robot of a horizon: its model, feet and standing posture, and the fields of all vectors.

    grid (N + 1): times of the nodes from now [s], before they are shifted to the phase of the gait. nf: number of
    forces; nj: of joints with motors, all but the root's.
    """

    model: Model
    feet: tuple[Foot, ...]
    posture: Array
    grid: Array

    @property
    def n(self) -> int:
        """Number of feet."""
        return len(self.feet)

    @property
    def nv(self) -> int:
        return int(self.model.nv)

    @property
    def nj(self) -> int:
        return self.nv - 6

    @cached_property
    def nf(self) -> int:
        return sum(foot.size for foot in self.feet)

    @cached_property
    def begins(self) -> list[int]:
        """Begins of the forces of each foot."""
        return [sum(foot.size for foot in self.feet[:k]) for k in range(len(self.feet))]

    @cached_property
    def hips(self) -> Array:
        """Places of the feet from the base in the posture, in its heading (feet, 2)."""
        q = DM(self.posture)
        places = [np.array(point_position(self.model, foot.frame, q, foot.point).full()).ravel() for foot in self.feet]
        return np.array([place[:2] - self.posture[:2] for place in places])

    @cached_property
    def height(self) -> float:
        """Height of the base above the feet in the posture [m]."""
        q = DM(self.posture)
        return float(self.posture[2]) - float(
            np.mean([float(point_position(self.model, foot.frame, q, foot.point)[2]) for foot in self.feet])
        )

    @cached_property
    def reach(self) -> float:
        """Distance from the base to the feet on straight legs [m]: the shortest leg, and the base above its hip."""
        model, found = self.model, []
        for foot in self.feet:
            q, path = DM(self.posture), model.path(model.frame(foot.frame).body)[1:]
            joints = [np.array(point_position(model, model.body_names[i - 1], q).full()).ravel() for i in path]
            joints.append(np.array(point_position(model, foot.frame, q, foot.point).full()).ravel())
            length = sum(float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(joints))
            found.append(length + float(self.posture[2] - joints[0][2]))
        return min(found)

    @cached_property
    def weight(self) -> float:
        """Weight [N]."""
        return float(self.model.mass) * float(np.linalg.norm(self.model.gravity))

    @cached_property
    def gait(self) -> Fields:
        n = self.n
        numbers: dict[str, tuple[int, ...]] = dict.fromkeys(("period", "swing_height", "lead", "feedback"), ())
        return Fields(numbers | {"duty": (n,), "offsets": (n,), "joints": (self.nj, 1 + 2 * HARMONICS)})

    @cached_property
    def memory(self) -> Fields:
        n = len(self.feet)
        numbers: dict[str, tuple[int, ...]] = dict.fromkeys(("time", "phase", "begin", "end", "halt", "ground"), ())
        return Fields(numbers | {"anchor": (3,), "swinging": (n,), "landed": (n,), "places": (n, 3), "yaws": (n,)})

    @cached_property
    def schedule(self) -> Fields:
        shape = (len(self.feet), SWINGS)
        return Fields(dict.fromkeys(("liftoff", "touchdown", "x", "y", "z", "yaw"), shape) | {"normal": (shape[0], 3)})

    @cached_property
    def settings(self) -> Fields:
        nv, numbers = self.nv, ("terminal", "foot_gain", "damping", "stiffness", "mu", "mu_yaw", "foot_xy", "foot_z")
        more = ("foot_turn", "joint_price", "speed_price", "torque_price", "cone_price", "torque_share", "speed_share")
        vectors = {"q": (nv,), "qd": (nv,), "qdd": (nv,), "tau": (self.nj,), "force": (self.nf,)}
        return Fields(vectors | dict.fromkeys((*numbers, *more), ()))

    @cached_property
    def node(self) -> Fields:
        n, single = len(self.feet), ("h", "last")
        references = {"q_ref": (self.model.nq,), "qd_ref": (self.nv,), "force_ref": (self.nf,)}
        of_feet = {"contact": (n,), "swing": (n,), "normal": (n, 3), "hold": (n, 3), "place": (n, 3), "speed": (n, 3)}
        turning = {"yaw": (n,), "yaw_rate": (n,)}
        scalars: dict[str, tuple[int, ...]] = dict.fromkeys(single, ())
        return Fields(scalars | references | of_feet | turning | self.settings.shapes)


def as_feet(model: Model, feet: Any) -> tuple[Foot, ...]:
    """Feet from footholds, or from names of frames, which are points."""
    if isinstance(feet, Mapping):
        feet = list(feet.values())
    if isinstance(feet, (str, Foothold)) or not isinstance(feet, Sequence) or not feet:
        raise TypeError(
            "Horizon feet: a sequence of ocp.Foothold, or of names of frames for point feet, got "
            f"{repr_in_message(feet)}"
        )
    found = tuple(_foot(model, foot) for foot in feet)
    names = [foot.frame for foot in found]
    if len(set(names)) < len(names):
        raise ValueError(f"Horizon feet: every foot once, got {', '.join(names)}")
    return found


def _foot(model: Model, foot: Any) -> Foot:
    if isinstance(foot, str):
        foot = Foothold(Contact(foot, axes="xyz"))
    if not isinstance(foot, Foothold):
        raise TypeError(f"Horizon feet: an ocp.Foothold or the name of a frame, got {repr_in_message(foot)}")
    name = foot.name
    if name not in model.frame_names and name not in model.body_names:
        raise ModelError(f"model {model.name!r} has no frame {name!r} for a foot{suggestion(name, model.frame_names)}")
    if foot.kind == "point":
        return Foot(name, foot.point)
    if foot.kind != "flat" or not min(foot.half_length, foot.half_width) > 0:
        raise ValueError(
            f"Horizon: foot {name!r} must be a point, od.Contact(frame, axes='xyz'), or a flat sole with its "
            f"half_length and half_width [m], got {foot.kind!r} of {foot.half_length} m by {foot.half_width} m"
        )
    return Foot(name, foot.point, float(foot.half_length), float(foot.half_width))


def check_model(model: Any) -> Model:
    """The model, if it stands on a free base with a quaternion."""
    if not isinstance(model, Model):
        raise TypeError(f"Horizon needs an od.Model, got {repr_in_message(model)}")
    root = model.joints[1]
    if not isinstance(root, FloatingBase) or model.nq != model.nv + 1 or root.nq != 7:
        raise ModelError(
            f"model {model.name!r} must stand on od.FloatingBase() with a quaternion, and all other joints must have "
            f"one coordinate per velocity, got {model.joint_names[0]!r} with {model.nq} coordinates and {model.nv} "
            "velocities: load it with root=od.FloatingBase()"
        )
    return model


def cone_rows(foot: Foot, mu: Any, mu_yaw: Any) -> ca.SX:
    """Rows over the forces of a foot that must not be negative: friction pyramid; yaw moment and center of pressure of
    a flat foot. As in `ocp.FrictionCone` and `ocp.CenterOfPressure`."""
    limit = mu / math.sqrt(2)
    pyramid: ca.SX = ca.vertcat(*(ca.horzcat(*row, limit) for row in ((-1, 0), (1, 0), (0, -1), (0, 1))))
    if foot.size == POINT:
        return pyramid
    sides = ((foot.half_width, 0), (foot.half_length, 1), (mu_yaw, 2))
    moments = []
    for half, axis in sides:
        for sign in (-1.0, 1.0):
            row = ca.SX(1, 6)
            row[axis], row[5] = sign, half
            moments.append(row)
    rows: ca.SX = ca.vertcat(ca.horzcat(ca.SX(4, 3), pyramid), *moments)
    return rows
