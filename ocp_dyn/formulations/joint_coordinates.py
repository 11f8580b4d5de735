"""Joint coordinates from natural coordinates and back: q <-> x, qd <-> xd.

Positions follow from directions of both bodies in the world: an angle is atan2(c_p . b_s, b_p . b_s), with b, c and
the axis a perpendicular, p in the predecessor and s in the successor. Velocities are linear in xd, qd = B(x) xd: the
component of a body's angular velocity along a = b x c is w . a = c . bd, which is linear in x, too. Torques act by
virtual power, Q = B' tau.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import positive
from .._base.types import Array, Expr, M, Numbers, as_type, check_kind, matrix, repr_in_message
from ..joints import (
    Cylindrical,
    Euler,
    FloatingBase,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.spatial import Transform
from .natural_coordinates import LinearPoint, NaturalCoordinates
from .sharing.joints import across

F = TypeVar("F", bound=Callable[..., Any])
X_AXIS, Y_AXIS, Z_AXIS = np.eye(3)


MATRICES = ("x", "xd", "xdd", "lam", "h")
"""Arguments of functions of natural coordinates that may be numbers, also arrays and lists, or expressions."""


def checks_natural_arguments(function: F) -> F:
    """The decorator `checks_arguments` for functions of (model, natural, ...): it checks natural, and arguments of its
    sizes, too."""
    inner = checks_arguments(own=("mu",))(function)  # a factor of stabilization here
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    @wraps(inner)
    def checked(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        made = {name: matrix(given[name], name) for name in MATRICES if name in given}
        if "natural" in given:
            _check(given["natural"], given | made)
        args = *(made.get(name, value) for name, value in zip(names, args, strict=False)), *args[len(names) :]
        return inner(*args, **{name: made.get(name, value) for name, value in kwargs.items()})

    return cast(F, checked)


def check_natural(natural: Any) -> None:
    """TypeError if these are no natural coordinates."""
    if not isinstance(natural, NaturalCoordinates):
        raise TypeError(
            "natural must be natural coordinates, od.formulations.natural(model, loops), got "
            f"{repr_in_message(natural)}"
        )


def _check(natural: Any, given: dict[str, Any]) -> None:
    """Checks natural coordinates, and the sizes and kinds of columns in them and of a step."""
    check_natural(natural)
    for name, size in {**dict.fromkeys(("x", "xd", "xdd"), natural.n), "lam": natural.m, "h": 1}.items():
        if name not in given:
            continue
        if given[name].shape != (size, 1):
            raise ValueError(f"{name} must be one column of {size} entries, got shape {given[name].shape}")
    if isinstance(given.get("h"), DM):
        positive(given["h"], "the step h [s]")
    columns = ("x", "xd", "xdd", "lam", "qd", "tau", "h", "f_ext")
    check_kind(*(given[name] for name in columns if given.get(name) is not None))


@checks_natural_arguments
def natural_from_q(model: Model, natural: NaturalCoordinates, q: M | Numbers) -> M:
    """x(q) (n): world positions of the points [m] and unit vectors that are coordinates. O(nb).

    Where loops are not closed at q, points and vectors that they share are taken in the first of their bodies.

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.natural_from_q(rod, natural, [np.pi / 6])
    DM([0.866025, -0.5])
    """
    return as_type(natural.positions(natural.split(model), q), q)


@checks_natural_arguments
def natural_velocity(model: Model, natural: NaturalCoordinates, q: M | Numbers, qd: M | Numbers) -> M:
    """xd(q, qd) (n): the velocities of `natural_from_q`. O(nb).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.natural_velocity(rod, natural, [0.0], [2.0])
    DM([0, -2])
    """
    return as_type(natural.velocities(natural.split(model), q, qd), q)


@checks_natural_arguments
def q_from_natural(model: Model, natural: NaturalCoordinates, x: M | Numbers) -> M:
    """q(x) (nq): joint by joint from the relative poses of bodies; the inverse of `natural_from_q`.

    Angles lie in (-pi, pi], the middle one of Euler angles in [-pi/2, pi/2]; quaternions have w >= 0. O(nb).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.q_from_natural(rod, natural, od.formulations.natural_from_q(rod, natural, [0.3]))
    DM(0.3)
    """
    return as_type(q_of(natural, natural.split(model), x), x)


@checks_natural_arguments
def qd_from_natural(model: Model, natural: NaturalCoordinates, x: M | Numbers, xd: M | Numbers) -> M:
    """qd = B(x) xd (nv), for velocities that keep the conditions; see `joint_rates`. O(nb).

    >>> natural = od.formulations.natural(rod)
    >>> x = od.formulations.natural_from_q(rod, natural, [0.3])
    >>> xd = od.formulations.natural_velocity(rod, natural, [0.3], [2.0])
    >>> od.formulations.qd_from_natural(rod, natural, x, xd)
    DM(2)
    """
    return as_type(qd_of(natural, natural.split(model), x, xd), x)


def q_of(natural: NaturalCoordinates, tree: Model, x: Expr) -> Expr:
    """q (nq) at x."""
    return ca.vertcat(*(_position(tree.joints[i], _JointFrame(natural, tree, i, x)) for i, _ in tree.edges), DM(0, 1))


def angles_of(tree: Model) -> list[int]:
    """Indices in q of the angles, which `q_of` knows up to whole turns only."""
    places: list[int] = []
    for i, _ in tree.edges:
        part = tree.q_slice(tree.joint_names[i - 1])
        motions, rotation = _motions(tree.joints[i])
        places += [part.start + k for k, motion in enumerate(motions) if motion.turns]
        places += range(part.start + len(motions), part.stop) if isinstance(rotation, (Universal, Euler)) else ()
    return places


def q_near_rest(natural: NaturalCoordinates, tree: Model, rest: Array, x: Expr) -> Expr:
    """q (nq) at x, angles within half a turn of the rest positions of springs (nq)."""
    entries: list[Any] = ca.vertsplit(q_of(natural, tree, x))
    for k in angles_of(tree):
        if rest[k]:
            turned = entries[k] - float(rest[k])
            entries[k] = float(rest[k]) + ca.atan2(ca.sin(turned), ca.cos(turned))
    return ca.vertcat(*entries, DM(0, 1))


def qd_of(natural: NaturalCoordinates, tree: Model, x: Expr, xd: Expr) -> Expr:
    """qd (nv) at x, xd."""
    return joint_rates(natural, tree, x) @ xd


def joint_rates(natural: NaturalCoordinates, tree: Model, x: Expr) -> Expr:
    """B(x) (nv x n), sparse: qd = B xd for all xd with Phi_x xd = 0.

    Linear in x for revolute, prismatic and cylindrical joints and for all joints on the ground but those of Euler
    angles.
    """
    rows = [_rates(tree.joints[i], _JointFrame(natural, tree, i, x)) for i, _ in tree.edges]
    return ca.vertcat(*rows, DM(0, natural.n))


class _JointFrame:
    """A joint between predecessor and successor, with directions of both in the world at x."""

    def __init__(self, natural: NaturalCoordinates, tree: Model, i: int, x: Expr) -> None:
        X: Transform = tree.X_tree[i]
        self.p, self.s = natural.bodies[tree.parent[i]], natural.bodies[i]
        self.R, self.r = np.array(DM(X.E).full()).T, np.array(DM(X.r).full()).ravel()
        self.x = x

    def before(self, v: Array) -> LinearPoint:
        """A direction of the joint's fixed frame."""
        return self.p.direction(self.R @ v)

    def after(self, v: Array) -> LinearPoint:
        """A direction of the joint's moved frame."""
        return self.s.direction(v)

    @property
    def distance(self) -> LinearPoint:
        """Vector from the origin of the fixed frame to that of the moved frame."""
        start, end = self.p.point(self.r), self.s.point(np.zeros(3))
        return LinearPoint(ca.sparsify(end.A - start.A), ca.sparsify(end.a - start.a))

    def dot(self, a: LinearPoint, b: LinearPoint) -> Expr:
        return ca.dot(ca.densify(a(self.x)), ca.densify(b(self.x)))

    def angle(self, a: Array) -> Expr:
        """The angle about a."""
        b, c = across(a)
        turned = self.after(b)
        return ca.atan2(self.dot(self.before(c), turned), self.dot(self.before(b), turned))

    def turning(self, a: Array) -> Expr:
        """The row of B of the angle about a, which both bodies share: c_s' Bd_s - c_p' Bd_p."""
        b, c = across(a)
        return self.after(c)(self.x).T @ self.after(b).A - self.before(c)(self.x).T @ self.before(b).A

    def along(self, v: Array) -> Expr:
        """The coordinate along v of the fixed frame, d . v."""
        return self.dot(self.distance, self.before(v))

    def sliding(self, v: Array, whole: bool) -> Expr:
        """The row of B of d . v; whole: d has components across v, so that it changes as v turns."""
        d, direction = self.distance, self.before(v)
        row = direction(self.x).T @ d.A
        return row + d(self.x).T @ direction.A if whole else row

    def rotation(self) -> Expr:
        """R (3x3): directions of the moved frame in the fixed one."""
        before, after = (ca.horzcat(*(side(e)(self.x) for e in np.eye(3))) for side in (self.before, self.after))
        return before.T @ after

    def angular_velocity(self) -> Expr:
        """W (3 x n): relative angular velocity of the moved frame, in its coordinates."""
        sides = []
        for side in (self.after, self.before):
            axes = [side(e) for e in np.eye(3)]
            sides.append(ca.vertcat(*(axes[(k + 2) % 3](self.x).T @ axes[(k + 1) % 3].A for k in range(3))))
        return sides[0] - (self.rotation().T @ sides[1] if sides[1].nnz() else sides[1])


class _AxisMotion(NamedTuple):
    """A turn about an axis, or a slide along it. across: whether the bodies also move across the axis, which then turns
    with the first of them."""

    axis: Array
    turns: bool
    across: bool = False


def _motions(joint: Joint) -> tuple[list[_AxisMotion], Joint | None]:
    """Turns and slides of a joint, in the order of its q, and the joint of the rotation about a point after them."""
    if isinstance(joint, (Revolute, Prismatic, Cylindrical)):
        a = np.array(joint.axis)
        both = [_AxisMotion(a, True), _AxisMotion(a, False)]
        return both[:1] if isinstance(joint, Revolute) else both[1:] if isinstance(joint, Prismatic) else both, None
    if isinstance(joint, Planar):
        return [_AxisMotion(X_AXIS, False, True), _AxisMotion(Y_AXIS, False, True), _AxisMotion(Z_AXIS, True)], None
    shifts = [_AxisMotion(e, False, True) for e in np.eye(3)]
    if isinstance(joint, Translation):
        return shifts, None
    if isinstance(joint, FloatingBase):
        return shifts, Spherical() if joint.has_quaternion else Euler(joint.rotation.removeprefix("euler_"))
    return [], joint


def _position(joint: Joint, frame: _JointFrame) -> Expr:
    """q of one joint."""
    motions, rotation = _motions(joint)
    parts = [frame.angle(m.axis) if m.turns else frame.along(m.axis) for m in motions]
    if isinstance(rotation, Universal):
        parts.append(_universal_angles(frame.rotation(), np.array(rotation.first), np.array(rotation.second)))
    elif isinstance(rotation, Euler):
        parts.append(euler_angles(frame.rotation(), rotation.order))
    elif rotation is not None:
        parts.append(matrix_to_quaternion(frame.rotation()))
    return ca.vertcat(*parts)


def _rates(joint: Joint, frame: _JointFrame) -> Expr:
    """Rows of B of one joint."""
    motions, rotation = _motions(joint)
    rows = [frame.turning(m.axis) if m.turns else frame.sliding(m.axis, whole=m.across) for m in motions]
    if rotation is not None:
        W = frame.angular_velocity()
        if not isinstance(rotation, Spherical):
            S = rotation.jcalc(_position(rotation, frame), DM(rotation.nv, 1)).S[:3, :]
            W = dual_basis(S) @ W
        rows.append(W)
    return ca.vertcat(*rows)


def dual_basis(S: Expr) -> Expr:
    """The rows s*_k (2 x 3 or 3 x 3) with s*_k . s_l = 1 for k = l, otherwise 0, for the columns s_l of S (3 x 2 or
    3)."""
    columns = ca.horzsplit(S)
    if len(columns) == 2:
        first, second = columns
        cosine = ca.dot(first, second)
        scale = 1 / (1 - cosine * cosine)
        return ca.horzcat(scale * (first - cosine * second), scale * (second - cosine * first)).T
    crossed = [ca.cross(columns[(k + 1) % 3], columns[(k + 2) % 3]) for k in range(3)]
    return ca.horzcat(*crossed).T / ca.dot(columns[0], crossed[0])


def euler_angles(R: Expr, order: str) -> Expr:
    """(q0, q1, q2) with R = R_a(q0) R_b(q1) R_c(q2) for the order "abc", q1 in [-pi/2, pi/2]."""
    i, j, k = ("xyz".index(axis) for axis in order)
    s = 1.0 if (j - i) % 3 == 1 else -1.0
    return ca.vertcat(
        ca.atan2(-s * R[j, k], R[k, k]),
        ca.atan2(s * R[i, k], ca.sqrt(R[i, i] ** 2 + R[i, j] ** 2)),
        ca.atan2(-s * R[i, j], R[i, i]),
    )


def _universal_angles(R: Expr, first: Array, second: Array) -> Expr:
    """Angles of R = R_first(q0) R_second(q1): the second axis turns about the first one in the fixed frame, and the
    first one about the second in the moved frame."""
    u, w = DM(first), DM(second)
    cosine = float(first @ second)
    carried, back = R @ w, R.T @ u
    q0 = ca.atan2(ca.dot(ca.cross(u, w), carried), ca.dot(w - cosine * u, carried))
    q1 = ca.atan2(ca.dot(ca.cross(u, w), back), ca.dot(u - cosine * w, back))
    return ca.vertcat(q0, q1)


def matrix_to_quaternion(R: Expr) -> Expr:
    """Unit quaternion (x, y, z, w), w >= 0, of a rotation matrix: of Shepperd's four the one with the largest
    divisor."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    yz, zx, xy = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    sxy, syz, szx = R[1, 0] + R[0, 1], R[2, 1] + R[1, 2], R[0, 2] + R[2, 0]
    by_x = ca.vertcat(1 + xx - yy - zz, sxy, szx, yz)
    by_y = ca.vertcat(sxy, 1 - xx + yy - zz, syz, zx)
    by_z = ca.vertcat(szx, syz, 1 - xx - yy + zz, xy)
    by_w = ca.vertcat(yz, zx, xy, 1 + xx + yy + zz)
    trace = xx + yy + zz
    chosen = by_z
    for largest, columns in ((yy, by_y), (xx, by_x), (trace, by_w)):
        others = [value for value in (xx, yy, zz, trace) if value is not largest]
        greatest = ca.fmax(ca.fmax(others[0], others[1]), others[2])
        chosen = ca.if_else(largest >= greatest, columns, chosen)
    chosen = chosen / ca.sqrt(ca.sumsqr(chosen))
    return ca.if_else(chosen[3] < 0, -chosen, chosen)
