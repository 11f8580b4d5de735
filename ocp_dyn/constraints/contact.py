"""Contacts: points of a body, or whole bodies, held in the world; sets of points of a sole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import truth
from .._base.types import Expr, Vector, finite_vector, repr_in_message, sequence, sparse, sparse_beside
from ..dynamics.kinematics import (
    as_point,
    point_acceleration_6d,
    point_jacobian_6d,
    point_jacobian_magnitudes,
    pose,
    resolve,
)
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.rotations import AXES, matrix_quaternion, unit_axis
from ..spatial_algebra.spatial import halves, vee
from .sets import Constraint, ConstraintSet, MotionRows, replace_fields


@dataclass(frozen=True)
class Contact(Constraint):
    """A point of a body, or the whole body, held in the world.

    body: a frame of the model (`model.body(name)`) or its name. point [m], in that frame's coordinates.
    axes: None, six rows [angular; linear] at the point; "xyz" or any subset, or a sequence of directions
    in the world (normalized): linear rows only. reference: pose (R, p) at which phi = 0; `at(model, q)`
    takes it from a configuration. phi: R R_ref' by the vee of its skew part [sine of the angle], then p - p_ref [m].
    planar: of the six rows the three of a body that moves in the world's x-z plane: the angle about y, x and z.

    `G qd = d(phi)/dt` holds everywhere for linear rows, at phi = 0 for angular ones; gamma is minus the
    point's true acceleration at qdd = 0.

    >>> od.Contact("tip", axes="xz").rows
    ('tip.tx', 'tip.tz')
    >>> od.constraint_jacobian(rod, [od.Contact("tip", axes="xz")], [0.0])  # the tip moves along -x
    DM([-1, 0])
    """

    body: Frame | str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axes: Any = None
    reference: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    planar: bool = False

    parameters = ("point",)

    def __post_init__(self) -> None:
        if not isinstance(self.body, (Frame, str)):
            raise TypeError(f"Contact needs a frame (model.body(name)) or a name, got {repr_in_message(self.body)}")
        x, y, z = (float(c) for c in finite_vector(self.point, 3, "Contact point"))
        object.__setattr__(self, "point", (x, y, z))
        object.__setattr__(self, "axes", None if self.axes is None else _directions(self.axes))
        if truth(self.planar, "Contact planar") and self.axes is not None:
            raise ValueError("Contact planar holds a whole body in the x-z plane; for a point write axes='xz' alone")
        if self.reference is not None:
            if not isinstance(self.reference, (tuple, list)) or len(self.reference) != 2:
                raise ValueError(
                    "Contact reference must be (R, p), a rotation and a position, got "
                    f"{repr_in_message(self.reference)}"
                )
            R = finite_vector(self.reference[0], 9, "Contact reference rotation (3x3)")
            p = finite_vector(self.reference[1], 3, "Contact reference position")
            matrix_quaternion(R.reshape(3, 3))  # raises unless R is a rotation
            object.__setattr__(self, "reference", (tuple(map(float, R)), tuple(map(float, p))))

    @property
    def name(self) -> str:
        """The name of the frame in contact."""
        return self.body if isinstance(self.body, str) else self.body.name

    @property
    def rows(self) -> tuple[str, ...]:
        if self.axes is None:
            kinds = ("ry", "tx", "tz") if self.planar else ("rx", "ry", "rz", "tx", "ty", "tz")
            return tuple(f"{self.name}.{kind}" for kind in kinds)
        return tuple(f"{self.name}.t{_direction_name(axis)}" for axis in self.axes)

    def with_parameter(self, kind: str, value: Any) -> Contact:
        """The same contact with another point [m]: three numbers, or an expression (3x1)."""
        return replace_fields(self, **{kind: value})

    @checks_arguments(own=("q",))
    def at(self, model: Model, q: Any) -> Contact:
        """The same contact with the pose it has at q (numbers) as its reference."""
        column = model.column(q, model.nq, "q", model.q_names)
        if not isinstance(column, DM):
            raise TypeError(
                f"Contact.at: q must be numbers, got {repr_in_message(q)}: for a reference pose that depends on "
                "symbols call contact.position_from(model, q, R_ref, p_ref)"
            )
        R, p = self._pose(model, column)
        return replace(self, reference=(tuple(R.full().ravel()), tuple(p.full().ravel())))

    def position(self, model: Model, q: Expr) -> Expr:
        if self.reference is None:
            raise ValueError(
                f"contact at {repr_in_message(self.name)} has no reference pose, so no phi: "
                "give Contact(..., reference=(R, p)) or take it from a configuration with contact.at(model, q)"
            )
        return self.position_from(
            model, q, sparse(np.reshape(self.reference[0], (3, 3))), sparse_beside(self.reference[1])
        )

    def position_from(self, model: Model, q: Expr, R_ref: Expr, p_ref: Expr) -> Expr:
        """phi against a reference pose that may be symbolic."""
        R, p = self._pose(model, q)
        return self.selected(ca.vertcat(vee(R @ R_ref.T), p - p_ref))

    def jacobian(self, model: Model, q: Expr) -> Expr:
        return self.selected(point_jacobian_6d(model, resolve(model, self.body), q, self.point))

    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        return -self.selected(point_acceleration_6d(model, resolve(model, self.body), q, qd, point=self.point))

    @property
    def motion_rows(self) -> MotionRows:
        """The rows by the motion of the frame."""
        return MotionRows(self.body, self.point, (0.0, 0.0, 0.0), self.selected(ca.horzcat(DM.eye(6), DM(6, 3))))

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        w, v = point_jacobian_magnitudes(model, self.body, q, self.point)
        if self.axes is None:
            return ca.vertcat(w, v, v) if self.planar else ca.vertcat(*[w] * 3, *[v] * 3)
        return ca.vertcat(*[v] * len(self.axes))

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        """The wrench on the body: {frame: [moment about the world origin; force]}, world axes."""
        p = self._pose(model, q)[1]
        return {self.name: wrench_at(p, self.all_rows(lam))}

    def all_rows(self, rows: Expr) -> Expr:
        """Values [angular; linear] (6) from those of the rows of this contact, zero where it has none."""
        if self.axes is not None:
            return ca.vertcat(type(rows)(3, 1), sparse(self.axes).T @ rows)
        if not self.planar:
            return rows
        zero = type(rows)(1, 1)
        return ca.vertcat(zero, rows[0], zero, rows[1], zero, rows[2])

    def _place(self) -> str:
        place = "(" + ", ".join(f"{float(x):.4g}" for x in self.point) + ") m"
        return place if self.reference is None else f"{place}, with a reference pose"

    def _pose(self, model: Model, q: Expr) -> tuple[Expr, Expr]:
        R, p = pose(model, resolve(model, self.body), q)
        return R, p + R @ as_point(self.point)

    def selected(self, x: Expr) -> Expr:
        """The rows of this contact of [angular; linear] (6 x k)."""
        if self.axes is not None:
            return sparse(self.axes) @ x[3:, :]
        return x[[1, 3, 5], :] if self.planar else x


def wrench_at(p: Expr, w: Expr) -> Expr:
    """[couple; force] at the point p as [moment about the world origin; force]."""
    n, f = halves(w)
    return ca.vertcat(n + ca.cross(p, f), f)


def point_contacts(body: Frame | str, points: Sequence[Vector], axes: Any = "xyz") -> ConstraintSet[Contact]:
    """Several points of one body, each held along `axes` in the world.

    Three points off a line hold a flat foot; with more, or with all three directions at each, rows depend on
    each other: `constraint_rank` counts them, and every solver but "null" accepts them.

    >>> len(od.point_contacts("tip", [(0.1, 0, 0), (-0.1, 0, 0)]))
    2
    """
    return ConstraintSet(Contact(body, (x, y, z), axes) for x, y, z in _points(points))


def edge_contacts(
    body: Frame | str, start: Vector, end: Vector, normal: Vector = (0.0, 0.0, 1.0), across: Vector | None = None
) -> ConstraintSet[Contact]:
    """An edge of a body (from start to end, frame coordinates) held on a plane with the given world normal.

    The start does not move; the end keeps its height: four rows, the edge may swivel about the normal. With
    `across`, the world direction in the plane at right angles to the edge, it may not: five independent rows.

    >>> [contact.rows for contact in od.edge_contacts("tip", (0, -0.1, 0), (0, 0.1, 0))]
    [('tip.tx', 'tip.ty', 'tip.tz'), ('tip.tz',)]
    """
    first, last = _points((start, end))
    directions = (normal,) if across is None else (normal, across)
    held = tuple(unit_axis(direction, "a direction of an edge") for direction in directions)
    return ConstraintSet((Contact(body, first, "xyz"), Contact(body, last, held)))


def plane_contacts(
    body: Frame | str, corners: Sequence[Vector], normal: Vector = (0.0, 0.0, 1.0)
) -> ConstraintSet[Contact]:
    """Points of a flat sole kept at their heights over a plane with the given world normal; free to slide.

    Three corners off a line leave sliding and turning about the normal free.

    >>> sole = od.plane_contacts("tip", [(0.1, 0, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0)])
    >>> od.constraint_rows(sole)
    ('tip.tz', 'tip.tz', 'tip.tz')
    """
    return point_contacts(body, corners, (unit_axis(normal, "the normal of a plane"),))


def _points(points: Sequence[Vector]) -> list[tuple[float, float, float]]:
    found = []
    for point in sequence(points, "points of a sole must be a sequence of points"):
        x, y, z = (float(c) for c in finite_vector(point, 3, "a contact point"))
        found.append((x, y, z))
    if not found:
        raise ValueError("a sole needs at least one point, got none")
    return found


def _directions(axes: str | Sequence[Vector]) -> tuple[tuple[float, ...], ...]:
    wrong = ValueError(
        f"Contact axes must be a subset of 'xyz' or a sequence of directions, got {repr_in_message(axes)}"
    )
    if isinstance(axes, str):
        if not axes or set(axes) - set(AXES) or len(set(axes)) != len(axes):
            raise wrong
        return tuple(AXES[k] for k in axes)
    single = isinstance(axes, (DM, ca.SX, ca.MX)) or (isinstance(axes, np.ndarray) and not axes.ndim)
    if single or not isinstance(axes, Iterable):
        raise wrong
    rows = []
    for axis in axes:
        a = finite_vector(axis, 3, "a contact direction (axes is a subset of 'xyz' or a sequence of them)")
        if np.linalg.norm(a) < 1e-9:
            raise ValueError("a contact direction must not be zero")
        rows.append(tuple(float(x) for x in a / np.linalg.norm(a)))
    if not rows:
        raise ValueError("Contact axes must not be empty; leave axes out for all six rows")
    return tuple(rows)


def _direction_name(axis: tuple[float, ...]) -> str:
    return next((k for k, unit in AXES.items() if axis == unit), "(" + " ".join(f"{x:.3g}" for x in axis) + ")")
