"""Spatial vector algebra in compact form [RBDA, ch. 2 and app. A].

6-vectors are angular first: motion [omega; v_O], force [n_O; f]. No function forms a 6x6
product: a transform is (E, r), a rigid-body inertia (m, h, I), an articulated one (I, H, M). Each
class has `.matrix()`, the 6x6 matrix that it represents, for tests and for reading.

[RBDA] R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._base.autodiff import apply_template
from .._base.types import ROUNDING, Array, Expr, exact, matrix, repr_in_message, sparse, sparse_beside, split
from .linalg import symmetric

ZERO3 = DM(3, 1)
KINDS = (DM, SX, MX)


def skew(r: Expr) -> Expr:
    """r x: the matrix with `skew(r) @ u = cross(r, u)`; its diagonal is structurally zero."""
    x, y, z = split(r)
    o = type(r)(1, 1)
    return ca.vertcat(ca.horzcat(o, -z, y), ca.horzcat(z, o, -x), ca.horzcat(-y, x, o))


def vee(A: Expr) -> Expr:
    """Axial vector of the skew-symmetric part of a 3x3 matrix: `vee(skew(r)) = r`."""
    return axial(A) / 2


def axial(A: Expr) -> Expr:
    """Twice `vee`: `axial(a b') = b x a`."""
    return ca.vertcat(A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1])


def halves(v: Expr) -> tuple[Expr, Expr]:
    """The angular and the linear half of a 6-vector, or of several in columns."""
    w, u = split(matrix(v, "a 6-vector"), 3, 3)
    return w, u


def cross(a: Expr, b: Expr) -> Expr:
    """a x b, column by column (3 x k); a single column is multiplied with every column of the other."""
    if a.size2() == b.size2():
        return ca.cross(a, b, 1)
    (ax, ay, az), (bx, by, bz) = split(a), split(b)
    return ca.vertcat(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)


def crm(v: Expr, m: Expr) -> Expr:
    """v x m: cross product of motion v with motion m [RBDA, 2.31]; either may have several columns."""
    (w, vo), (mw, mv) = halves(v), halves(m)
    return ca.vertcat(cross(w, mw), cross(w, mv) + cross(vo, mw))


def crf(v: Expr, f: Expr) -> Expr:
    """v x* f: cross product of motion v with force f [RBDA, 2.32]; either may have several columns."""
    (w, vo), (n, fl) = halves(v), halves(f)
    return ca.vertcat(cross(w, n) + cross(vo, fl), cross(w, fl))


def acceleration_field(w: Expr, dw: Expr) -> Expr:
    """U = dw x + w x w x (3x3): a body whose origin accelerates by a accelerates by `a + U p` at its point p."""
    (x, y, z), (dx, dy, dz) = split(w), split(dw)
    xy, xz, yz, xx, yy, zz = x * y, x * z, y * z, x * x, y * y, z * z
    return ca.vertcat(
        ca.horzcat(-(yy + zz), xy - dz, xz + dy),
        ca.horzcat(xy + dz, -(xx + zz), yz - dx),
        ca.horzcat(xz - dy, yz + dx, -(xx + yy)),
    )


def congruence(E: Expr, A: Expr) -> Expr:
    """E' A E of a rotation E (3x3), with half the products if E is a rotation about a coordinate axis.

    Then the block across the axis, [a b; e d], becomes with the sine s and the cosine c of the angle

        [a + s t, c t - e; c t - b, d - s t],    t = s (d - a) + c (b + e),

    because its trace and its skew part do not change. E may also exchange axes: row k and column l hold the +-1.
    """
    found = _coordinate_axis(E)
    if found is None:
        return E.T @ (A @ E)
    k, l = found
    (i, j), (p, q) = ((k + 1) % 3, (k + 2) % 3), ((l + 1) % 3, (l + 2) % 3)
    sign, c, s = E[k, l], E[i, p], E[j, p]
    a, b, e, d = A[i, i], A[i, j], A[j, i], A[j, j]
    t = s * (d - a) + c * (b + e)
    along, across = sign * (E.T @ A[:, k]), sign * (A[k, :] @ E)
    B = {(l, l): A[k, k], (p, p): a + s * t, (q, q): d - s * t, (p, q): sign * (c * t - e), (q, p): sign * (c * t - b)}
    B |= {(x, l): along[x] for x in (p, q)} | {(l, x): across[x] for x in (p, q)}
    return ca.blockcat([[B[row, column] for column in range(3)] for row in range(3)])


def _coordinate_axis(E: Expr) -> tuple[int, int] | None:
    """Row and column of the +-1 in a rotation of symbols about a coordinate axis, from its pattern; else None."""
    if not isinstance(E, ca.SX) or E.nnz() != 5:
        return None
    rows, columns = E.sparsity().row(), E.sparsity().get_col()
    return next((k, l) for k, l in zip(rows, columns, strict=True) if rows.count(k) == 1 and columns.count(l) == 1)


def _convert(made: Any, **shapes: tuple[int, int]) -> None:
    """Replaces numbers among the fields of a frozen dataclass by structurally sparse DMs of these shapes."""
    for name, shape in shapes.items():
        value = getattr(made, name)
        if not isinstance(value, KINDS):
            found = ca.sparsify(matrix(value, f"{type(made).__name__} {name}"))
            if found.shape != shape:
                size = " x ".join(map(str, shape))
                raise ValueError(f"{type(made).__name__} {name} must be {size}, got {repr_in_message(value)}")
            object.__setattr__(made, name, found)


@dataclass(frozen=True)
class Transform:
    """Plucker transform X(E, r) from frame A to frame B [RBDA, 2.24].

    E (3x3) turns A coordinates into B coordinates; r (3) is the origin of B in A coordinates. So the
    active rotation of B in A is E', and a point p given in B lies at `r + E' p` in A. Numbers (arrays, lists) become a
    DM; ValueError for other shapes.

    >>> X = od.Transform(np.eye(3), [0, 0, 1])  # a frame 1 m above
    >>> X.apply([0, 2, 0, 0, 0, 0])  # [angular; linear]: 2 rad/s about y move its origin along x
    DM([0, 2, 0, 2, 0, 0])
    """

    E: Expr
    r: Expr

    def __post_init__(self) -> None:
        if not (isinstance(self.E, KINDS) and isinstance(self.r, KINDS)):
            _convert(self, E=(3, 3), r=(3, 1))

    @staticmethod
    def identity() -> Transform:
        return Transform(DM.eye(3), ZERO3)

    @staticmethod
    def pose(R: object, p: object = (0.0, 0.0, 0.0)) -> Transform:
        """Transform to a frame whose axes are the columns of R and whose origin is p (numbers)."""
        return Transform(sparse(R).T, sparse_beside(p))

    def __matmul__(self, other: Transform) -> Transform:
        """`X_CB @ X_BA = X_CA`: first `other`, then `self`."""
        return type(self)(self.E @ other.E, other.r + other.E.T @ self.r)

    def inverse(self) -> Transform:
        """The transform from B back to A."""
        return type(self)(self.E.T, -(self.E @ self.r))

    def apply(self, v: Expr) -> Expr:
        """X v: a motion vector from A to B coordinates."""
        w, vo = halves(v)
        return ca.vertcat(self.E @ w, self.E @ (vo - cross(self.r, w)))

    def apply_inverse(self, v: Expr) -> Expr:
        """X^-1 v: a motion vector from B to A coordinates."""
        w, vo = halves(v)
        w = self.E.T @ w
        return ca.vertcat(w, self.E.T @ vo + cross(self.r, w))

    def apply_force(self, f: Expr) -> Expr:
        """X* f: a force vector from A to B coordinates."""
        n, fl = halves(f)
        return ca.vertcat(self.E @ (n - cross(self.r, fl)), self.E @ fl)

    def apply_transpose(self, f: Expr) -> Expr:
        """X' f: a force vector from B to A coordinates."""
        n, fl = halves(f)
        fl = self.E.T @ fl
        return ca.vertcat(self.E.T @ n + cross(self.r, fl), fl)

    def point(self, p: Expr) -> Expr:
        """Position in A of the point p given in B."""
        return self.r + self.E.T @ matrix(p, "p")

    def matrix(self) -> Expr:
        """The 6x6 matrix [E, 0; -E r x, E]."""
        return ca.blockcat([[self.E, type(self.E)(3, 3)], [-self.E @ skew(self.r), self.E]])


@dataclass(frozen=True)
class Inertia:
    """Rigid-body inertia (m, h, I): mass, first moment h = m c, rotational inertia about the origin.

    Ten numbers for the 6x6 matrix [I, h x; (h x)', m 1] [RBDA, 2.63]. Numbers (arrays, lists) become a DM; ValueError
    for other shapes.

    >>> ball = od.Inertia.from_com(2.0, (0, 0, 1), np.diag([0.1, 0.1, 0.1]))
    >>> ball.I[0, 0]  # about the origin: 0.1 + m c^2
    DM(2.1)
    """

    m: Expr
    h: Expr
    I: Expr

    def __post_init__(self) -> None:
        if not (isinstance(self.m, KINDS) and isinstance(self.h, KINDS) and isinstance(self.I, KINDS)):
            _convert(self, m=(1, 1), h=(3, 1), I=(3, 3))

    @staticmethod
    def zero() -> Inertia:
        return Inertia(DM(1, 1), ZERO3, DM(3, 3))

    @staticmethod
    def from_com(mass: float, com: Any, inertia: Any) -> Inertia:
        """Inertia from mass [kg], center of mass [m] and 3x3 inertia about it [kg m^2], in body axes (numbers)."""
        I = sparse_beside(inertia)
        gyration = math.sqrt(largest(I) / mass) if mass else 0.0
        c = sparse_beside(com, max(largest(DM(com)), gyration))
        cx = skew(c)
        return (
            (Summed.of(Inertia(DM(mass), ZERO3, I)) + Summed.of(Inertia(DM(1, 1), mass * c, -mass * (cx @ cx))))
            .clean()
            .with_central(I)
        )

    def central(self) -> tuple[Expr, Expr]:
        """(c, I_com): the center of mass, and the rotational inertia about it; without mass the center is the
        origin."""
        if isinstance(self.m, DM) and not float(self.m):
            return ZERO3, self.I
        c = self.h / self.m
        cx = skew(c)
        return c, self.I + self.m * (cx @ cx)

    def with_central(self, I_com: DM) -> Inertia:
        """The same inertia of numbers; where it is far from the origin, a `FarInertia`."""
        moment, h = largest(I_com), float(ca.norm_2(self.h))
        far = moment > 0 and h * h > FAR * FAR * moment * float(self.m)  # m c^2 beside the largest moment
        return FarInertia(self.m, self.h, self.I, I_com) if far else self

    def scaled(self, mass: Expr, length: Expr) -> Inertia:
        """The inertia of a body that is `mass` times as heavy and `length` times as large."""
        return Inertia(mass * self.m, mass * length * self.h, mass * length**2 * self.I)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def apply(self, v: Expr) -> Expr:
        """I v: the momentum of motion v."""
        w, vo = halves(v)
        return ca.vertcat(self.I @ w + cross(self.h, vo), self.m * vo - cross(self.h, w))

    def force(self, v: Expr, a: Expr) -> Expr:
        """I a + v x* I v: the force that gives the body spatial acceleration a at velocity v.

        By its points: the origin's classical acceleration is `a_O + omega x v_O`.
        """
        return apply_template(_force, self.m, self.h, self.second_moments, v, a)

    def newton_euler(self, a: Expr, U: Expr) -> Expr:
        """The force that accelerates the points p of the body by `a + U p`.

        `f = m a + U h`, `n = h x a + axial(U J)` with J the second moments, the integrals of `p x (a + U p) dm`: the
        equations of Newton and Euler in about half the operations of the spatial form [after Khalil & Dombre, 9.3].
        """
        return apply_template(_newton_euler, self.m, self.h, self.second_moments, a, U)

    @property
    def second_moments(self) -> Expr:
        """J = integral of p p' dm = tr(I)/2 - I (3x3) [kg m^2]; of numbers, without rounding errors."""
        J = ca.trace(self.I) / 2 * DM.eye(3) - self.I
        return ca.sparsify(J, SECOND_MOMENT_ROUNDING * largest(self.I)) if isinstance(J, DM) else J

    def to_parent(self, X: Transform) -> Inertia:
        """X' I X: the same body in the coordinates of frame A of X: A -> B [RBDA, 2.66]."""
        r = X.r
        g = X.E.T @ self.h
        h = g + self.m * r
        return Inertia(self.m, h, symmetric(congruence(X.E, self.I) - skew(r) @ skew(g) - skew(h) @ skew(r)))

    def matrix(self) -> Expr:
        hx = skew(self.h)
        return ca.blockcat([[self.I, hx], [hx.T, self.m * DM.eye(3)]])


def _force(m: Expr, h: Expr, J: Expr, v: Expr, a: Expr) -> Expr:
    (w, vo), (dw, ao) = halves(v), halves(a)
    return _newton_euler(m, h, J, ao + ca.cross(w, vo), acceleration_field(w, dw))


def _newton_euler(m: Expr, h: Expr, J: Expr, a: Expr, U: Expr) -> Expr:
    return ca.vertcat(ca.cross(h, a) + axial(U @ J), m * a + U @ h)


SECOND_MOMENT_ROUNDING = 1e-14
"""Second moments below this share of the largest entry of I are rounding errors."""

FAR = 1e3
"""Distance of a center of mass from the origin, in radii of gyration, beyond which I holds ten digits of the inertia
about the center, or fewer."""


@dataclass(frozen=True)
class FarInertia(Inertia):
    """The inertia of a body far from the origin of its frame, and its rotational inertia about its center of mass.

    I contains m c^2, so the difference of both, which decides how the body turns, has lost as many digits as c^2 has
    more than the square of the radius of gyration. Sums and transforms do not keep I_com.
    """

    I_com: Expr

    def central(self) -> tuple[Expr, Expr]:
        return self.h / self.m, self.I_com

    def scaled(self, mass: Expr, length: Expr) -> Inertia:
        near = super().scaled(mass, length)
        return FarInertia(near.m, near.h, near.I, mass * length**2 * self.I_com)


class InertiaNumbers(NamedTuple):
    """Entries of an inertia as arrays: m (1), h (3), I (3x3)."""

    m: Array
    h: Array
    I: Array

    @staticmethod
    def of(body: Inertia) -> InertiaNumbers:
        return InertiaNumbers(body.m.full()[0], body.h.full()[:, 0], body.I.full())

    @property
    def second_moments(self) -> Array:
        """See `Inertia.second_moments`."""
        I = self.I
        J = np.asarray((I[0, 0] + I[1, 1] + I[2, 2]) / 2 * np.eye(3) - I)
        return np.where(np.abs(J) > SECOND_MOMENT_ROUNDING * np.abs(I).max(), J, 0.0)


@dataclass(frozen=True)
class Summed:
    """An inertia of numbers, and for each of its entries the size of the terms that were summed.

    A joint may depend on one entry that is tiny beside the others. Therefore rounding is judged entry by entry. Arrays
    instead of an `Inertia`, because the reduction of a model takes some hundred of these sums.
    """

    body: InertiaNumbers
    size: InertiaNumbers

    @staticmethod
    def of(body: Inertia | InertiaNumbers) -> Summed:
        entries = InertiaNumbers.of(body) if isinstance(body, Inertia) else body
        return Summed(entries, InertiaNumbers(*map(np.abs, entries)))

    def __add__(self, other: Summed) -> Summed:
        return self._with(InertiaNumbers(*(a + b for a, b in zip(self.body, other.body, strict=True))), other)

    def __sub__(self, other: Summed) -> Summed:
        return self._with(InertiaNumbers(*(a - b for a, b in zip(self.body, other.body, strict=True))), other)

    def _with(self, body: InertiaNumbers, other: Summed) -> Summed:
        return Summed(body, InertiaNumbers(*(a + b for a, b in zip(self.size, other.size, strict=True))))

    def to_parent(self, X: Transform) -> Summed:
        """The same inertia in parent coordinates, see `Inertia.to_parent`."""
        E, r = X.E.full(), X.r.full()[:, 0]
        (m, h, I), size = self.body, self.size
        g = _times(E.T, h)
        h = g + m * r
        moved = _times(E.T, _times(I, E)) - _times(_skew(r), _skew(g)) - _times(_skew(h), _skew(r))
        E, r = np.abs(E), np.abs(r)
        g = _times(E.T, size.h)
        most = g + size.m * r
        rx, gx, hx = (np.abs(_skew(x)) for x in (r, g, most))
        sizes = _times(_times(E.T, size.I), E) + _times(rx, gx) + _times(hx, rx)
        upper = np.triu(moved)
        return Summed(InertiaNumbers(m, h, upper + np.triu(moved, 1).T), InertiaNumbers(size.m, most, sizes))

    def clean(self) -> Inertia:
        """The inertia with structural zeros in place of rounding errors; the mass does not change."""
        return Inertia(*map(exact, self.cleaned()))

    def cleaned(self) -> InertiaNumbers:
        """The entries with zeros in place of rounding errors; the mass does not change."""
        pairs = zip(self.body[1:], self.size[1:], strict=True)
        return InertiaNumbers(self.body.m, *(np.where(np.abs(x) < ROUNDING * size, 0.0, x) for x, size in pairs))


def _times(A: Array, B: Array) -> Array:
    """A @ B of small arrays, summed in the order of the columns of A: BLAS rounds otherwise on every processor."""
    return np.asarray((A[:, :, None] * B.reshape(len(B), -1)).sum(1).reshape(len(A), *B.shape[1:]))


def _skew(r: Array) -> Array:
    """`skew` of an array."""
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def largest(x: DM) -> float:
    """The largest magnitude among numbers."""
    return float(ca.norm_inf(ca.vec(ca.densify(x))))


@dataclass(frozen=True)
class ArticulatedInertia:
    """Articulated-body inertia [I, H; H', M], a symmetric 6x6 matrix in three blocks [RBDA, ch. 7]."""

    I: Expr
    H: Expr
    M: Expr

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        return ArticulatedInertia(body.I, skew(body.h), body.m * DM.eye(3))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def apply(self, v: Expr) -> Expr:
        """IA v; `v` may have several columns."""
        w, vo = halves(v)
        return ca.vertcat(self.I @ w + self.H @ vo, self.H.T @ w + self.M @ vo)

    def downdate(self, U: Expr, UDinv: Expr) -> ArticulatedInertia:
        """IA - U D^-1 U', given U (6 x n) and U D^-1."""
        (Uw, Uv), (Pw, Pv) = halves(U), halves(UDinv)
        return ArticulatedInertia(self.I - symmetric(Pw @ Uw.T), self.H - Pw @ Uv.T, self.M - symmetric(Pv @ Uv.T))

    def to_parent(self, X: Transform) -> ArticulatedInertia:
        """X' IA X: in the coordinates of frame A of X: A -> B."""
        rx = skew(X.r)
        I, M = symmetric(congruence(X.E, self.I)), symmetric(congruence(X.E, self.M))
        H = congruence(X.E, self.H)
        Hr = H + rx @ M
        return ArticulatedInertia(symmetric(I - H @ rx + rx @ Hr.T), Hr, M)

    def matrix(self) -> Expr:
        return ca.blockcat([[self.I, self.H], [self.H.T, self.M]])
