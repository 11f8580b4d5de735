"""Loop closures: any subset of the relative motion of two frames [F16, sec. 2.2; RBDA, ch. 8].

Frames p (predecessor) and s (successor) sit on two bodies; x, R are their origins and rotations in the world,
[w; v] the velocities of the bodies at those origins. A row is a 6-D axis T = [rotation; translation] in p:

    G row = T_w' (J_s - J_p),   T_w = diag(R_p, R_p) T,   J the 6-D Jacobian at the frame's own origin, world axes.

The two Jacobians are taken at material points in world axes, so the rows do not depend on the world's origin. `lam` is
the wrench along T_w on the successor at x_s, and its opposite on the predecessor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import given_name
from .._base.types import Expr, exact, finite_vector, repr_in_message, sequence, sparse, suggestion
from ..dynamics.kinematics import (
    as_point,
    point_acceleration_6d,
    point_jacobian_6d,
    point_jacobian_magnitudes,
    point_velocity_6d,
    pose,
    resolve,
)
from ..mechanism import Frame, Model
from ..spatial_algebra.rotations import checked_pose
from ..spatial_algebra.spatial import halves, skew, vee
from .contact import wrench_at
from .sets import Constraint, replace_fields

Pose = tuple[tuple[float, ...], tuple[float, ...]]
IDENTITY: Pose = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
AXIS_LABELS = ("rx", "ry", "rz", "tx", "ty", "tz")
ROWS_BY_KIND = {
    "ball": "tx ty tz",
    "orientation": "rx ry rz",
    "revolute": "rx ry tx ty tz",
    "cylindrical": "rx ry tx ty",
    "prismatic": "rx ry rz tx ty",
    "fixed": "rx ry rz tx ty tz",
}
"""Rows by the joint that they represent; the free axis is z of the predecessor frame."""


class _Relative(NamedTuple):
    """R_p, x_p, x_s and the vector d from the predecessor's origin to the point at which its motion is taken."""

    R: Expr
    xp: Expr
    xs: Expr
    d: Expr


@dataclass(frozen=True)
class Loop(Constraint):
    """Rows of the relative motion of a successor frame against a predecessor frame.

    predecessor, successor: frames of the model or their names. axes: one of "ball" (points coincide), "revolute"
    (about z), "fixed", "orientation", "cylindrical" and "prismatic" (along z), or a sequence of 6-D axes [rotation;
    translation] in the predecessor frame (not normalized). predecessor_pose, successor_pose: (R, r), active rotation
    (3x3) and origin [m] of the loop's frames in the frames named.

    phi: vee of the skew part of R_p' R_s [sine of the angle], then R_p' (x_s - x_p) [m], dotted with the axis.
    turning (None: only for "revolute" and "cylindrical"): the rows leave one axis n free to turn, and n x R_p' R_s n,
    the sine of the angle between the two axes, takes the place of vee, which loses the tilt as the frames turn.
    `G qd = d(phi)/dt` at phi = 0 if all translations are held. sliding (None: only for "cylindrical" and
    "prismatic"): takes the predecessor's velocity at the successor's origin, so that rows stay right when
    the origins may move apart; equal where they coincide.

    >>> loop = od.Loop("link1", "tip", "ball")  # the tip of the second rod on the hinge of the first
    >>> loop.rows
    ('link1-tip.tx', 'link1-tip.ty', 'link1-tip.tz')
    >>> float(np.degrees(od.assemble_q(arm, [loop], [0.1, 3.0])[1]).round(6))  # the rods lie on each other
    180.0
    """

    predecessor: Frame | str
    successor: Frame | str
    axes: Any = "fixed"
    predecessor_pose: Any = IDENTITY
    successor_pose: Any = IDENTITY
    sliding: bool | None = None
    label: str | None = None
    turning: bool | None = None

    parameters = ("predecessor", "successor")

    def __post_init__(self) -> None:
        for what, frame in (("predecessor", self.predecessor), ("successor", self.successor)):
            if not isinstance(frame, (Frame, str)):
                raise TypeError(
                    f"Loop {what} must be a frame (model.frame(name)) or a name, got {repr_in_message(frame)}"
                )
        if self.label is not None and not isinstance(self.label, str):
            raise TypeError(f"Loop label must be a string or None, got {repr_in_message(self.label)}")
        if self.label:
            given_name(self.label, "Loop label")
        for flag, kinds in (("sliding", ("cylindrical", "prismatic")), ("turning", ("revolute", "cylindrical"))):
            value = getattr(self, flag)
            if value is not None and not isinstance(value, bool):
                raise TypeError(f"Loop {flag} must be True, False or None, got {repr_in_message(value)}")
            if value is None:
                object.__setattr__(self, flag, isinstance(self.axes, str) and self.axes in kinds)
        object.__setattr__(self, "axes", _axes(self.axes))
        if self.turning and self._free_axis() is None:
            raise ValueError(
                "Loop turning=True needs axes that hold two rotations and leave one axis free, got "
                f"{repr_in_message(self.axes)}"
            )
        for key in ("predecessor_pose", "successor_pose"):
            object.__setattr__(self, key, checked_pose(getattr(self, key), f"Loop {key}"))

    @property
    def name(self) -> str:
        """The label, or "predecessor-successor"."""
        ends = (f if isinstance(f, str) else f.name for f in (self.predecessor, self.successor))
        return self.label or "-".join(ends)

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{_axis_name(axis)}" for axis in self.axes)

    def with_parameter(self, kind: str, value: Any) -> Loop:
        """The same loop with another origin [m] of its end `kind`: three numbers, or an expression (3x1)."""
        return replace_fields(self, **{f"{kind}_pose": (getattr(self, f"{kind}_pose")[0], value)})

    def renamed(self, name: Callable[[str], str]) -> Loop:
        ends = {key: name(_frame_name(getattr(self, key))) for key in self.parameters}
        return replace(self, label=name(self.label) if self.label else None, **ends)  # type: ignore[arg-type]

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> Loop:
        poses = {key: getattr(self, key) for key in ("predecessor_pose", "successor_pose")}
        longer: Any = {key: (R, tuple(length * x for x in r)) for key, (R, r) in poses.items()}
        return replace(self, **longer)

    def within(self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]) -> Loop | None:
        ends = {_frame_name(getattr(self, key)) for key in self.parameters}
        return self if ends <= set(frames) else None

    def position(self, model: Model, q: Expr) -> Expr:
        (Rp, xp), (Rs, xs) = self._poses(model, q)
        R, n = Rp.T @ Rs, self.free_axis
        turned = vee(R) if n is None else ca.cross(n, R @ n)
        return exact(self.axes) @ ca.vertcat(turned, Rp.T @ (xs - xp))

    def jacobian(self, model: Model, q: Expr) -> Expr:
        at = self._relative(model, q)
        Js = point_jacobian_6d(model, resolve(model, self.successor), q, self.successor_pose[1])
        Jp = point_jacobian_6d(model, resolve(model, self.predecessor), q, self.predecessor_pose[1])
        if self.sliding:
            Jp = ca.vertcat(Jp[:3, :], Jp[3:, :] - skew(at.d) @ Jp[:3, :])
        return self._along(at.R) @ (Js - Jp)

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """gamma = -T_w' (a_s - a_p - w_p x (v_s - v_p)) at qdd = 0: T_w turns with the predecessor."""
        at = self._relative(model, q)
        points = ((self.successor, self.successor_pose[1]), (self.predecessor, self.predecessor_pose[1]))
        (ws, vs), (wp, vp) = (halves(point_velocity_6d(model, resolve(model, f), q, qd, r)) for f, r in points)
        (dws, as_), (dwp, ap) = (
            halves(point_acceleration_6d(model, resolve(model, f), q, qd, point=r)) for f, r in points
        )
        du, u = as_ - ap, vs - vp
        if self.sliding:
            du, u = du - ca.cross(dwp, at.d) - ca.cross(wp, u), u - ca.cross(wp, at.d)
        turning = ca.vertcat(ca.cross(wp, ws - wp), ca.cross(wp, u))
        return -self._along(at.R) @ (ca.vertcat(dws - dwp, du) - turning)

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        """The sums of the magnitudes at both ends: motions that both ends share cancel in the rows."""
        ends = ((self.predecessor, self.predecessor_pose), (self.successor, self.successor_pose))
        (wp, vp), (ws, vs) = (point_jacobian_magnitudes(model, frame, q, r) for frame, (_, r) in ends)
        if self.sliding:
            vp = vp + wp * ca.sum1(ca.fabs(self._relative(model, q).d))
        T = ca.fabs(exact(self.axes))
        return ca.sum2(T[:, :3]) @ (wp + ws) + ca.sum2(T[:, 3:]) @ (vp + vs)

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        """The wrenches on successor and predecessor: {frame: [moment about the world origin; force]}, world axes."""
        at = self._relative(model, q)
        w = self._along(at.R).T @ lam
        first, second = (f if isinstance(f, str) else f.name for f in (self.predecessor, self.successor))
        on_p, on_s = -wrench_at(at.xp + at.d, w), wrench_at(at.xs, w)
        return {first: on_p + on_s} if first == second else {first: on_p, second: on_s}

    def _poses(self, model: Model, q: Expr) -> list[tuple[Expr, Expr]]:
        """(R, x) of the predecessor's and the successor's loop frame in the world."""
        found = []
        for frame, (R, r) in ((self.predecessor, self.predecessor_pose), (self.successor, self.successor_pose)):
            Rb, xb = pose(model, resolve(model, frame), q)
            found.append((Rb @ sparse(np.reshape(R, (3, 3))), xb + Rb @ as_point(r)))
        return found

    @property
    def free_axis(self) -> DM | None:
        """The axis (3) about which phi leaves the frames free to turn, in the predecessor's frame; None if there is
        none, or unless `turning`."""
        return self._free_axis() if self.turning else None

    def _free_axis(self) -> DM | None:
        """The axis (3) about which the frames may turn, in the predecessor's frame, if there is exactly one."""
        rotations = np.array(self.axes)[:, :3]
        _, values, axes = np.linalg.svd(rotations)
        rank = int(np.sum(values > 1e-9 * values.max(initial=0.0)))
        return sparse(axes[2]) if rank == 2 else None

    def _relative(self, model: Model, q: Expr) -> _Relative:
        (Rp, xp), (_, xs) = self._poses(model, q)
        return _Relative(Rp, xp, xs, xs - xp if self.sliding else DM(3, 1))

    def _along(self, R: Expr) -> Expr:
        """T_w', a row per axis."""
        T = exact(self.axes)
        return ca.horzcat(T[:, :3] @ R.T, T[:, 3:] @ R.T)


def _frame_name(frame: Frame | str) -> str:
    return frame if isinstance(frame, str) else frame.name


def _axes(axes: Any) -> tuple[tuple[float, ...], ...]:
    if isinstance(axes, str):
        if axes not in ROWS_BY_KIND:
            raise ValueError(
                f"Loop axes must be one of {', '.join(ROWS_BY_KIND)}, or a sequence of 6-D axes, got "
                f"{repr_in_message(axes)}{suggestion(axes, ROWS_BY_KIND)}"
            )
        unit = np.eye(6)
        return tuple(tuple(map(float, unit[AXIS_LABELS.index(k)])) for k in ROWS_BY_KIND[axes].split())
    rows = tuple(
        tuple(map(float, finite_vector(a, 6, "a loop axis [rotation; translation] (axes is a sequence of them)")))
        for a in sequence(axes, f"Loop axes must be one of {', '.join(ROWS_BY_KIND)}, or a sequence of 6-D axes")
    )
    if not rows or any(not any(row) for row in rows):
        raise ValueError(f"Loop axes must hold at least one axis and none that is zero, got {repr_in_message(axes)}")
    return rows


def _axis_name(axis: tuple[float, ...]) -> str:
    unit = [k for k, x in enumerate(axis) if x]
    if len(unit) == 1 and axis[unit[0]] == 1.0:
        return AXIS_LABELS[unit[0]]
    return "(" + " ".join(f"{x:.3g}" for x in axis) + ")"
