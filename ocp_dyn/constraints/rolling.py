"""Rolling without slip: a round foot on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import truth
from .._base.types import Expr, finite, finite_vector, repr_in_message, sparse, split
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
from ..spatial_algebra.rotations import unit_axis
from ..spatial_algebra.spatial import halves, skew
from .contact import wrench_at
from .sets import Constraint, MotionRows, replace_fields


@dataclass(frozen=True)
class RollingContact(Constraint):
    """A sphere, or a cylinder, of a body that rolls without slip on a fixed plane.

    body: frame or name. radius [m] about `center` (frame coordinates). normal: of the plane, in the world; the plane
    is {x: normal . x = height}. axis: None for a sphere; for a cylinder its axis in frame coordinates, parallel to
    the plane.

    Rows: the material point in contact, at center - radius normal, does not move (three, along the normal and two
    directions across it): `v_c + radius normal x w = 0`; for a cylinder the body neither turns about the normal nor
    tilts along its axis (two more). planar: for a body that moves in the world's x-z plane, the rows along the normal
    and against the way alone. Rolling has no phi along the plane: those rows of phi are zero, and
    `G qd = d(phi)/dt` holds for the first row (height) and the last (tilt).

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("ball", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    >>> ball = od.RollingContact("ball", radius=0.2)
    >>> q, spin = [0, 0, 0.2, 0, 0, 0, 1], [0.2, 0, 0, 0, 1, 0]  # 1 rad/s about y: it rolls at 0.2 m/s along x
    >>> od.constraint_velocity(builder.build(), [ball], q, spin)
    DM([0, 0, 0])
    """

    body: Frame | str
    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)
    axis: Any = None
    height: float = 0.0
    planar: bool = False

    parameters = ("point", "radius")

    def __post_init__(self) -> None:
        if not isinstance(self.body, (Frame, str)):
            raise TypeError(
                f"RollingContact needs a frame (model.body(name)) or a name, got {repr_in_message(self.body)}"
            )
        object.__setattr__(self, "radius", finite(self.radius, "RollingContact radius [m]"))
        object.__setattr__(self, "height", finite(self.height, "RollingContact height [m]"))
        if self.radius < 0:
            raise ValueError(f"RollingContact radius must not be negative [m], got {repr_in_message(self.radius)}")
        truth(self.planar, "RollingContact planar")
        center = finite_vector(self.center, 3, "RollingContact center")
        object.__setattr__(self, "center", tuple(map(float, center)))
        object.__setattr__(self, "normal", unit_axis(self.normal, "RollingContact normal"))
        if self.axis is not None:
            object.__setattr__(self, "axis", unit_axis(self.axis, "RollingContact axis"))

    @property
    def name(self) -> str:
        return self.body if isinstance(self.body, str) else self.body.name

    @property
    def rows(self) -> tuple[str, ...]:
        sides = ("normal", "side2") if self.planar else ("normal", "side1", "side2")
        kinds = (*sides, *(("spin", "tilt") if self.turns else ()))
        return tuple(f"{self.name}.{kind}" for kind in kinds)

    def with_parameter(self, kind: str, value: Any) -> RollingContact:
        """The same contact with another center ("point") or radius [m]: numbers, or an expression."""
        return replace_fields(self, **{"center" if kind == "point" else kind: value})

    def position(self, model: Model, q: Expr) -> Expr:
        """(n . c - radius - height, 0, 0) and, for a cylinder, (0, n . a); planar, (n . c - radius - height, 0)."""
        R, p = pose(model, resolve(model, self.body), q)
        n = sparse(self.normal)
        gap = ca.dot(n, p + R @ as_point(self.center)) - self.radius - self.height
        tilt = [DM(1, 1), ca.dot(n, R @ sparse(self.axis))] if self.turns else []
        return ca.vertcat(gap, DM(len(self.rows) - 1 - len(tilt), 1), *tilt)

    @property
    def motion_rows(self) -> MotionRows:
        """The rows by the motion of the frame: the tilt of the axis e, along the normal, is the velocity of its end."""
        n = sparse(self.normal)
        R = self.sides @ ca.horzcat(self.radius * skew(n), DM.eye(3), DM(3, 3))
        if self.turns:
            R = ca.vertcat(R, ca.horzcat(n.T, DM(1, 6)), ca.horzcat(DM(1, 6), n.T))
        return MotionRows(self.body, self.center, self.axis if self.turns else (0.0, 0.0, 0.0), ca.sparsify(R))

    def jacobian(self, model: Model, q: Expr) -> Expr:
        J = point_jacobian_6d(model, resolve(model, self.body), q, self.center)
        return self.motion_rows.R @ ca.vertcat(J, -skew(self._arm(model, q)) @ J[:3, :])

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        frame, e = resolve(model, self.body), self._arm(model, q)
        center = point_acceleration_6d(model, frame, q, qd, point=self.center)
        w = halves(point_velocity_6d(model, frame, q, qd))[0]
        end = ca.cross(center[:3], e) + ca.cross(w, ca.cross(w, e))
        return -self.motion_rows.R @ ca.vertcat(center, end)

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        w, v = point_jacobian_magnitudes(model, self.body, q, self.center)
        turns = [w, w] if self.turns else []
        return ca.vertcat(*[v + self.radius * w] * self.sides.shape[0], *turns)

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        """The wrench on the body: {frame: [moment about the world origin; force]}, world axes."""
        R, p = pose(model, resolve(model, self.body), q)
        couple, force, at_end = split(self.motion_rows.R.T @ lam, 3, 3, 3)
        couple = couple + ca.cross(self._arm(model, q), at_end)
        return {self.name: wrench_at(p + R @ as_point(self.center), ca.vertcat(couple, force))}

    @property
    def turns(self) -> bool:
        """Whether there are rows of a cylinder's turn about the normal and of its tilt."""
        return self.axis is not None and not self.planar

    @property
    def sides(self) -> DM:
        """Rows: the normal and two directions across it; planar, the normal and the one in the x-z plane."""
        n = np.array(self.normal)
        if self.planar:
            return sparse(np.vstack([n, np.cross(n, (0.0, 1.0, 0.0))]))
        side = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        side /= np.linalg.norm(side)
        return sparse(np.vstack([n, side, np.cross(n, side)]))

    def _arm(self, model: Model, q: Expr) -> Expr:
        """The axis in the world; zero without rows of its tilt."""
        return pose(model, resolve(model, self.body), q)[0] @ as_point(self.motion_rows.arm)
