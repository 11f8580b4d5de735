"""The rigid motion from one period of a motion to the next: a turn about the vertical and a shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Array, Expr
from ..mechanism import Frame, Model
from ..mechanism.equal_models import kept_per_model
from ..spatial_algebra.rotations import rotation_about
from .mirror import PSEUDO, REFLECTION, MirrorMap

VERTICAL = (0.0, 0.0, 1.0)

STRAIGHT = 1e-9
"""Deviation [m per m] up to which a step of the root joint goes along an axis."""


@dataclass(frozen=True, eq=False)
class Advance:
    """The rigid motion p -> Rz(turn) p + shift of points in world coordinates.

    shift (3) [m]: (length, sideways, rise), to where the origin goes. turn [rad]: about the world's z axis, through the
    origin; None: no turn, which leaves no sines in expressions. Both may be expressions.
    """

    shift: Expr
    turn: Expr = None

    @staticmethod
    def of(length: Any = 0.0, sideways: Any = 0.0, rise: Any = 0.0, turn: Any = 0.0) -> Advance:
        """The motion of these entries, numbers or expressions; a number 0 as turn is no turn."""
        still = isinstance(turn, (int, float)) and turn == 0
        return Advance(
            ca.vertcat(length, sideways, rise), None if still else turn if isinstance(turn, SX) else DM(turn)
        )

    @property
    def R(self) -> Expr:
        """Rotation (3x3)."""
        return DM.eye(3) if self.turn is None else rotation_about(VERTICAL, self.turn)

    @property
    def angle(self) -> float:
        """The turn as a number [rad]."""
        return 0.0 if self.turn is None else float(self.turn)

    def point(self, p: Expr) -> Expr:
        """The place to which the point p (3) [m] goes; p may have several columns."""
        moved = self.vector(p)
        return moved + (self.shift if moved.shape[1] == 1 else ca.repmat(self.shift, 1, moved.shape[1]))

    def vector(self, v: Expr) -> Expr:
        """The turned vector (3); v may have several columns."""
        return v if self.turn is None else self.R @ v

    def inverse(self) -> Advance:
        """The motion back."""
        if self.turn is None:
            return Advance(-self.shift)
        back = Advance(DM(3, 1), -self.turn)
        return Advance(-(back.R @ self.shift), back.turn)

    def repeated(self, n: int) -> Advance:
        """The motion done n times; n = 0: none at all, n < 0: back."""
        if n < 0:
            return self.inverse().repeated(-n)
        if self.turn is None:
            return Advance(self.shift * n)
        shift = DM(3, 1)
        for _ in range(n):
            shift = self.point(shift)
        return Advance(shift, self.turn * n)

    def share(self, s: float) -> Advance:
        """The fraction s of the motion, at a constant speed of shift and turn, along an arc of a circle.

        With J the quarter turn about z, the shift at the fraction s is V(s turn) V(turn)^-1 shift where
        V(a) = (sin(a) + (1 - cos(a)) J) / turn, horizontally; numbers only.
        """
        if self.turn is None or not float(self.turn):
            return Advance(self.shift * s)
        a = float(self.turn)
        x, y, z = np.array(DM(self.shift).full()).ravel()
        ends = [(np.sin(b) + 1j * (1 - np.cos(b))) for b in (s * a, a)]
        way = complex(x, y) * ends[0] / ends[1] if abs(ends[1]) > 1e-9 else complex(x, y) * s
        return Advance(DM([way.real, way.imag, s * z]), DM(s * a))

    def state(self, model: Model, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """(q, qd) of the model that is moved so by its root joint; see `obstacle` for roots that cannot.

        Velocities of the root's origin turn with the model; angular velocities in body axes do not change.
        """
        shift = self.shift
        if self.turn is not None:
            X, joint = model.X_tree[1], model.joints[1]
            (first, *rest), (rate, *rates) = model.split_q(q)[1:], model.split_qd(qd)[1:]
            found = joint.turned(first, rate, _vertical(model), self.turn)
            assert found is not None
            q, qd = ca.vertcat(found[0], *rest), ca.vertcat(found[1], *rates)
            shift = shift + self.R @ X.r - X.r
        return q + _root_steps(model) @ shift, qd

    def q(self, model: Model, q: Expr) -> Expr:
        """The configuration (nq) of the moved model."""
        return self.state(model, q, type(q)(model.nv, 1))[0]


@dataclass(frozen=True, eq=False)
class Repetition:
    """The map from a solved period to the n-th one after it: n times the mirror image, if every second one is mirrored,
    and the advance; n = 0 is the period itself, n = -1 the one before.

    advance: of all n periods together. mirror: the mirror map if n is odd and the motion mirrored, else None.
    """

    model: Model
    advance: Advance
    mirror: MirrorMap | None

    @staticmethod
    def of(model: Model, once: Advance, mirror: MirrorMap | None, n: int) -> Repetition:
        """The map to the n-th period; a mirrored motion neither turns nor goes sideways, so that both parts commute."""
        return Repetition(model, once.repeated(n), mirror if n % 2 else None)

    def state(self, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """The state (q, qd) in the other period."""
        if self.mirror is not None:
            q, qd = self.mirror.q(q), self.mirror.qd(qd)
        return self.advance.state(self.model, q, qd)

    def q(self, q: Expr) -> Expr:
        """The configuration (nq) in the other period."""
        return self.advance.q(self.model, q if self.mirror is None else self.mirror.q(q))

    def rows(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """The states with the rows of q (N, nq) and qd (N, nv), as rows."""
        pairs = [self.state(DM(a), DM(b)) for a, b in zip(q, qd, strict=True)]
        moved, rates = (np.array([_numbers(x) for x in part]) for part in zip(*pairs, strict=True))
        return moved, rates

    def forces(self, tau: Array) -> Array:
        """Torques of the motors, or accelerations of their joints, in the other period; rows (N, nv)."""
        return tau if self.mirror is None else tau @ np.array(self.mirror.qd_matrix.full()).T

    def points(self, p: Array) -> Array:
        """The places of points (..., 3) [m] in the other period."""
        return self.vectors(p) + _numbers(self.advance.shift)

    def vectors(self, v: Array) -> Array:
        """Vectors (..., 3) in the other period."""
        return self._turned(v, REFLECTION)

    def moments(self, v: Array) -> Array:
        """Moments or angular velocities (..., 3) in the other period."""
        return self._turned(v, PSEUDO)

    def _turned(self, v: Array, mirrored: Any) -> Array:
        seen = v if self.mirror is None else v * np.diag(mirrored)
        return np.asarray(seen @ np.array(DM(self.advance.R).full()).T)

    def yaw(self, yaw: float) -> float:
        """The heading [rad] in the other period of what heads along `yaw`."""
        return self.advance.angle + (yaw if self.mirror is None else -yaw)

    def frame(self, name: str) -> Frame:
        """The frame that does in the other period what the frame of that name does in this one."""
        return self.model.frame(name) if self.mirror is None else self.mirror.frame(name)


def obstacle(model: Model, *, shifts: Sequence[bool], turns: bool) -> str:
    """Words for what the root joint of a model cannot do of the shifts along x, y and z and the turn; "" if it can."""
    directions = ("along x", "sideways (along y)", "up (along z)")
    steps = np.array(DM(_root_steps(model)).full())
    lost = [d for d, wanted, step in zip(directions, shifts, steps.T, strict=True) if wanted and not step.any()]
    if turns:
        joint = model.joints[1]
        q, rate = DM(joint.neutral()), DM(joint.nv, 1)
        lost += ["turn about the vertical"] if joint.turned(q, rate, _vertical(model), DM(0.1)) is None else []
    moves = [f"move {d}" if d in directions else d for d in lost]
    return " or ".join(moves)


@kept_per_model
def _root_steps(model: Model) -> DM:
    """Matrix (nq, 3): the changes of q that move the whole model by 1 m along x, y and z, by the root joint alone; a
    column is zero if the joint cannot move so."""
    S = model.root_shifts
    found = np.zeros((model.nq, 3))
    for k, unit in enumerate(np.eye(3)):
        same = np.flatnonzero(np.all(np.abs(S.T - unit) < STRAIGHT, axis=1))
        if same.size:
            found[same[0], k] = 1.0
            continue
        step = np.linalg.lstsq(S, unit, rcond=None)[0]
        if np.linalg.norm(S @ step - unit) < STRAIGHT:
            found[:, k] = np.where(np.abs(step) > STRAIGHT, step, 0.0)
    return ca.sparsify(DM(found))


def _vertical(model: Model) -> tuple[float, float, float]:
    """The world's z axis in the coordinates of the fixed frame of the root joint."""
    x, y, z = _numbers(DM(model.X_tree[1].E)[:, 2])
    return x, y, z


def _numbers(x: Expr) -> Array:
    return np.array(DM(x).full()).ravel()
