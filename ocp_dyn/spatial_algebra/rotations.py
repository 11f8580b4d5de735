"""Rotations: about axes, from roll-pitch-yaw, quaternions (x, y, z, w), and the exponential map.

Every matrix R here is active: it turns coordinates of the moved frame into those of the fixed one.
`E = R'` is what a Transform holds.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import (
    Array,
    Expr,
    Vector,
    check_kind,
    finite_vector,
    matrix,
    numbers,
    repr_in_message,
    sparse,
    split,
)
from .spatial import skew

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
"""The Bernoulli numbers B_2, B_4, ..., B_18."""

DECIMALS = 5e-11
"""Rounding of an angle in a file [rad]: half a unit of its tenth decimal."""


def unit_axis(axis: str | Vector, what: str = "axis") -> tuple[float, float, float]:
    """`"x"`, `"y"`, `"z"` (or `"-x"` ...) or any three numbers, as a unit vector."""
    if isinstance(axis, str):
        if axis.lstrip("+-") not in AXES or len(axis) > 2:
            raise ValueError(
                f"{what} must be 'x', 'y', 'z', '-x', '-y', '-z' or three numbers, got {repr_in_message(axis)}"
            )
        sign = -1.0 if axis.startswith("-") else 1.0
        x, y, z = (sign * c + 0.0 for c in AXES[axis[-1]])
        return x, y, z
    a = finite_vector(axis, 3, what)
    norm = float(np.linalg.norm(a))
    if norm < 1e-9:
        raise ValueError(f"{what} must not be zero, got {repr_in_message(axis)}: give a direction")
    if abs(norm - 1) > 1e-15:  # a unit vector stays as it is, to the last bit
        a = a / norm
    x, y, z = (float(c) for c in np.array(sparse(a).full()).ravel())
    return x, y, z


def rotation_about(axis: Vector, angle: Expr) -> Expr:
    """R = a a' + (1 - a a') cos(angle) + a x sin(angle) for a unit axis of numbers (Rodrigues).

    The constant matrices are sparse, so a rotation about a coordinate axis costs one sine and one cosine.
    """
    along, across, turning = _rodrigues(tuple(float(x) for x in np.ravel(axis)))
    return along + across * ca.cos(angle) + turning * ca.sin(angle)


@functools.lru_cache(maxsize=1024)
def _rodrigues(axis: tuple[float, ...]) -> tuple[DM, DM, DM]:
    a = sparse(axis)
    aa = ca.sparsify(a @ a.T)
    return aa, ca.sparsify(DM.eye(3) - aa), skew(a)


def rpy_matrix(rpy: Vector) -> Array:
    """URDF's roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll), as numbers.

    >>> (od.rpy_matrix((0, 0, np.pi / 6)) @ [1, 0, 0]).round(3)  # yaw turns x towards y
    array([0.866, 0.5  , 0.   ])
    """
    angles = finite_vector(rpy, 3, "roll, pitch, yaw")
    r, p, y = (rotation_about(AXES[k], DM(float(a))) for k, a in zip("xyz", angles, strict=True))
    return np.array((y @ p @ r).full())


def quarter_turns(angles: Vector) -> Vector:
    """Angles of a file, with multiples of pi/2 in place of their decimal figures.

    Files give pi/2 as 1.57079632679; the remainder would leave entries of 5e-12 in rotations that exchange axes, and
    all that follows would be computed with them. An angle is changed by `DECIMALS` at most.
    """
    turns = (round(angle / (np.pi / 2)) * (np.pi / 2) for angle in angles)
    return [turn if abs(angle - turn) < DECIMALS else angle for angle, turn in zip(angles, turns, strict=True)]


def quaternion_matrix(quat: Expr) -> Expr:
    """R of the direction of a quaternion (x, y, z, w), with the factor 2/|q|^2.

    Off-unit quaternions, an optimizer's iterates, still give a rotation; those whose squares overflow or vanish, of a
    size above 1e154 or below 1e-154, give nan.

    >>> od.quaternion_matrix(ca.DM([0, 0, 1, 0]))  # half a turn about z
    DM(
    [[-1, 0, 0],
     [0, -1, 0],
     [0, 0, 1]])
    """
    column = _column(quat, 4, "a quaternion (x, y, z, w)")
    x, y, z, w = split(column)
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    along_x = ww + xx
    s = 2 / (along_x + (yy + zz))
    sx, sy, sz = s * x, s * y, s * z
    xy, xz, yz = sx * y, sx * z, sy * z
    wx, wy, wz = sx * w, sy * w, sz * w
    # the diagonal holds the squares themselves: where they overflow s is 0, and 0 times infinity is nan
    return ca.vertcat(
        ca.horzcat(s * along_x - 1, xy - wz, xz + wy),
        ca.horzcat(xy + wz, s * (ww + yy) - 1, yz - wx),
        ca.horzcat(xz - wy, yz + wx, s * (ww + zz) - 1),
    )


def quaternion_multiply(a: Expr, b: Expr) -> Expr:
    """Hamilton product a b, both (x, y, z, w): first b, then a."""
    av, aw = split(a, 3, 1)
    bv, bw = split(b, 3, 1)
    return ca.vertcat(aw * bv + bw * av + ca.cross(av, bv), aw * bw - ca.dot(av, bv))


def quaternion_conjugate(a: Expr) -> Expr:
    v, w = split(a, 3, 1)
    return ca.vertcat(-v, w)


def quaternion_rate(quat: Expr, omega: Expr) -> Expr:
    """d(quat)/dt = 1/2 quat (omega, 0), omega in body axes."""
    return quaternion_multiply(quat, ca.vertcat(omega, type(omega)(1, 1))) / 2


def _series(x: Expr, coefficients: list[float]) -> Expr:
    total = DM(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = c + x * total
    return total


def quaternion_exp(phi: Expr) -> Expr:
    """Unit quaternion of the rotation vector phi [rad], smooth everywhere, zero included.

    `sin(t/2)/t` and `cos(t/2)` by their series below |phi| = 0.3 (the next terms are under 1e-18), so
    that derivatives of every order are finite at phi = 0.
    """
    t2 = ca.sumsqr(phi)
    small = t2 < 0.09
    t = ca.sqrt(ca.if_else(small, 1.0, t2))
    sinc = [(-1) ** k / (2 * 4**k * math.factorial(2 * k + 1)) for k in range(8)]
    cosine = [(-1) ** k / (4**k * math.factorial(2 * k)) for k in range(8)]
    return ca.vertcat(
        phi * ca.if_else(small, _series(t2, sinc), ca.sin(t / 2) / t),
        ca.if_else(small, _series(t2, cosine), ca.cos(t / 2)),
    )


def quaternion_log(quat: Expr) -> Expr:
    """Rotation vector [rad], |phi| <= pi, of the direction of a quaternion: the inverse of quaternion_exp. A quaternion
    whose squares overflow or vanish gives nan."""
    v, w = split(quat, 3, 1)
    sign = ca.if_else(w < 0, -1.0, 1.0)
    v, w = sign * v, sign * w
    n2 = ca.sumsqr(v)
    small = n2 < 1e-2 * w * w
    n2_safe = ca.if_else(small, 1.0, n2)
    n = ca.sqrt(n2_safe)
    w_safe = ca.if_else(small, w, 1.0)
    ratio = n2 / w_safe / w_safe  # tan^2 of the half angle; used where it is below 1e-2
    atan = [(-1) ** k / (2 * k + 1) for k in range(10)]
    return v * ca.if_else(small, 2 / w_safe * _series(ratio, atan), 2 * ca.atan2(n, w) * n / n2_safe)


def rotation_vector_rate(phi: Expr, omega: Expr) -> Expr:
    """d(phi)/dt of a rotation vector phi [rad] whose rotation R(phi) turns with omega [rad/s] in body axes.

    With t = |phi| and Jr the right Jacobian of the exponential map, omega = Jr(phi) d(phi)/dt,

        d(phi)/dt = omega + 1/2 phi x omega + (1 - t/2 cot(t/2)) / t^2 phi x (phi x omega)

    (Bullo and Murray, ECC 1995). Singular at |phi| = 2 pi; below 0.5 by its series (the next term is under 1e-18).
    """
    t2 = ca.sumsqr(phi)
    small = t2 < 0.25
    half = ca.sqrt(ca.if_else(small, 1.0, t2)) / 2
    # |B_2k| / (2k)! for the Bernoulli numbers B_2, B_4, ...: the Taylor coefficients of 1 - t/2 cot(t/2)
    series = [abs(b) / math.factorial(2 * k + 2) for k, b in enumerate(BERNOULLI)]
    factor = ca.if_else(small, _series(t2, series), (1 - half * ca.cos(half) / ca.sin(half)) / ca.fmax(t2, 0.25))
    turned = ca.cross(phi, omega)
    return omega + turned / 2 + factor * ca.cross(phi, turned)


def exp3(phi: Any) -> Expr:
    """R = exp(phi x), the rotation matrix (3x3) of the rotation vector phi [rad] (3), by Rodrigues' formula

        R = 1 + sin(t)/t phi x + (1 - cos(t))/t^2 (phi x)^2,    t = |phi|.

    R is active and turns about phi by the angle t. Smooth everywhere, zero included: derivatives of every order are
    finite. Numbers, also lists and arrays, give a DM; an expression gives one of its kind.

    >>> od.exp3([0, 0, np.pi / 6]) @ [1, 0, 0]  # 30 degrees about z
    DM([0.866025, 0.5, 0])
    """
    phi = _column(phi, 3, "phi")
    sine, cosine, _ = _exponential(ca.sumsqr(phi))
    return _polynomial(phi, sine, cosine)


def log3(R: Any) -> Expr:
    """phi (3) [rad], |phi| <= pi, with exp3(phi) = R: the rotation vector of a rotation matrix (3x3).

    By the largest column of the products of the quaternion's entries, as `matrix_quaternion`: exact to rounding at
    every angle, half a turn too, where phi and -phi give the same R and one of the two is returned. ValueError for
    numbers that are no rotation.

    >>> od.log3(od.exp3([0.1, 0.2, 0.3]))
    DM([0.1, 0.2, 0.3])
    """
    A = matrix(R, "R")
    if A.shape != (3, 3):
        raise ValueError(f"a rotation matrix (3x3) is needed, got shape {A.shape}")
    if isinstance(A, DM):
        _check_rotation(np.array(A.full()), R)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (split(row.T) for row in split(A))
    x, y, z, w = 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz
    columns = [  # 4 quat_k quat, quat = (x, y, z, w): for each k a multiple of the quaternion
        ca.vertcat(x, yx + xy, xz + zx, zy - yz),
        ca.vertcat(yx + xy, y, zy + yz, xz - zx),
        ca.vertcat(xz + zx, zy + yz, z, yx - xy),
        ca.vertcat(zy - yz, xz - zx, yx - xy, w),
    ]
    largest, quaternion = w, columns[3]
    for size, column in zip((x, y, z), columns, strict=False):
        larger = size > largest
        quaternion, largest = ca.if_else(larger, column, quaternion), ca.fmax(largest, size)
    return quaternion_log(quaternion)


def exp6(twist: Any) -> tuple[Expr, Expr]:
    """(R, p): active rotation (3x3) and origin [m] (3) of a frame that moves by a constant twist for unit time.

    twist (6): [phi; rho], angular velocity and velocity of the origin times the time [rad; m], in axes of the moving
    frame:

        R = exp3(phi),   p = V rho,   V = 1 + (1 - cos(t))/t^2 phi x + (t - sin(t))/t^3 (phi x)^2,   t = |phi|

    [Lynch & Park, Modern Robotics, 2017, 3.3]. A screw motion; smooth everywhere. Types as those of `exp3`.

    >>> od.exp6([0, 0, np.pi, np.pi, 0, 0])[1]  # half a circle of radius 1
    DM([0, 2, 0])
    """
    phi, rho = split(_column(twist, 6, "twist"), 3, 3)
    sine, cosine, cubic = _exponential(ca.sumsqr(phi))
    return _polynomial(phi, sine, cosine), _polynomial(phi, cosine, cubic) @ rho


def log6(R: Any, p: Any) -> Expr:
    """[phi; rho] (6) with exp6([phi; rho]) = (R, p), |phi| <= pi: the twist of a pose.

    rho = V^-1 p. R (3x3) active, p (3) [m]; see `exp6` and `log3`.

    >>> od.log6(*od.exp6([0.1, 0.2, 0.3, 1, 2, 3]))
    DM([0.1, 0.2, 0.3, 1, 2, 3])
    """
    phi, place = log3(R), _column(p, 3, "p")
    check_kind(phi, place)
    return ca.vertcat(phi, rotation_vector_rate(-phi, place))


def rotation_vector_jacobian(phi: Expr) -> Expr:
    """Jr (3x3), the right Jacobian of exp3: R(phi) turns with omega = Jr(phi) d(phi)/dt [rad/s] in body axes.

    Jr = 1 - (1 - cos(t))/t^2 phi x + (t - sin(t))/t^3 (phi x)^2, t = |phi|; its inverse is in `rotation_vector_rate`.
    """
    _, cosine, cubic = _exponential(ca.sumsqr(phi))
    return _polynomial(-phi, cosine, cubic)


def _exponential(t2: Expr) -> tuple[Expr, Expr, Expr]:
    """sin(t)/t, (1 - cos(t))/t^2 and (t - sin(t))/t^3 of t^2; below t = 0.5 by their series (next terms under
    1e-18)."""
    small = t2 < 0.25
    t = ca.sqrt(ca.if_else(small, 1.0, t2))
    half = ca.sin(t / 2) / t
    exact = (ca.sin(t) / t, 2 * half * half, (t - ca.sin(t)) / (t * t * t))
    first = [[(-1) ** k / math.factorial(2 * k + n) for k in range(8)] for n in (1, 2, 3)]
    sine, cosine, cubic = (ca.if_else(small, _series(t2, c), x) for c, x in zip(first, exact, strict=True))
    return sine, cosine, cubic


def _polynomial(phi: Expr, a: Expr, b: Expr) -> Expr:
    """1 + a phi x + b (phi x)^2, with (phi x)^2 = phi phi' - |phi|^2 1."""
    return (1 - b * ca.sumsqr(phi)) * DM.eye(3) + a * skew(phi) + b * (phi @ phi.T)


def checked_pose(given: Any, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(R, p) of a frame in another as numbers, R row by row; ValueError unless R is a rotation and p a point."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{what} must be (R, p), a rotation (3x3) and an origin, got {repr_in_message(given)}")
    R = finite_vector(np.ravel(given[0]), 9, f"{what}: rotation (3x3)")
    _check_rotation(R.reshape(3, 3), given[0])
    return tuple(map(float, R)), tuple(map(float, finite_vector(given[1], 3, f"{what}: origin [m]")))


def _column(x: Any, size: int, what: str) -> Expr:
    """Numbers or an expression as one column."""
    column = matrix(x, what)
    if column.shape != (size, 1):
        raise ValueError(f"{what} must be a column of {size} entries, got shape {column.shape}")
    return column


def _check_rotation(A: Array, given: object) -> None:
    """ValueError unless a 3x3 array is a rotation."""
    if not np.all(np.abs(A) < 2) or not np.allclose(A @ A.T, np.eye(3), atol=1e-6) or np.linalg.det(A) < 0:
        raise ValueError(
            f"a rotation matrix (3x3, orthonormal, determinant +1) is needed, got {repr_in_message(given)}"
        )


def matrix_quaternion(R: object) -> Array:
    """Unit quaternion (x, y, z, w), w >= 0, of a rotation matrix of numbers; sound at every angle, 180 degrees too.

    Shepperd's choice: divide by the largest of the four components.

    >>> od.matrix_quaternion(np.diag([-1.0, -1.0, 1.0]))  # half a turn about z: x y z w
    array([0., 0., 1., 0.])
    """
    flat = numbers(R)
    A = flat.reshape(3, 3) if flat.size == 9 and np.asarray(R).shape == (3, 3) else np.full((3, 3), np.nan)
    _check_rotation(A, R)
    d = np.array([A[0, 0], A[1, 1], A[2, 2], np.trace(A)])
    k = int(np.argmax(d))
    if k == 3:
        q = np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1], 1 + d[3]])
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        q = np.empty(4)
        q[k] = 1 + A[k, k] - A[i, i] - A[j, j]
        q[i] = A[i, k] + A[k, i]
        q[j] = A[j, k] + A[k, j]
        q[3] = A[j, i] - A[i, j]
    q /= np.linalg.norm(q)
    return -q if q[3] < 0 else q
