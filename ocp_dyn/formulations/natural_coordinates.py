"""Natural coordinates of a model: Cartesian coordinates of points and unit vectors that bodies share [GJB94, ch. 2].

`natural(model, loops)` chooses the points and vectors; `print(natural(model))` lists them. The algorithms in
`natural_dynamics` and `joint_coordinates` take the result after the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import positive
from .._base.display import aligned
from .._base.types import Array, Expr, exact, is_one_of, names_in_message, repr_in_message, sparse_beside
from ..dynamics.recursions import joint_states, poses, velocities
from ..joints import MultiDof
from ..mechanism import Model
from ..mechanism.boundary import column_of_numbers
from ..mechanism.reduction import split_joints
from ..spatial_algebra.spatial import Transform, halves
from .sharing.choice import COINCIDENT


class LinearPoint(NamedTuple):
    """A point, a direction or a difference of points that is linear in x: value = A x + a."""

    A: DM
    a: DM

    def __call__(self, x: Expr) -> Expr:
        return self.A @ x + self.a


@dataclass(frozen=True, eq=False)
class NaturalElement:
    """A basic point or a unit vector.

    bodies: names of the bodies that share it ("world": it is fixed). local: its coordinates in each of them [m; 1],
    body axes. first: index of its first entry in x; None if it is no coordinate: fixed, or linear in others. value:
    world coordinates as `value(x)`, in the plane along its two axes.

    >>> [element.name for element in od.formulations.natural(arm).points]
    ['P1', 'P2']
    """

    name: str
    is_point: bool
    bodies: tuple[str, ...]
    local: tuple[tuple[float, ...], ...]
    first: int | None
    value: LinearPoint

    @property
    def fixed(self) -> bool:
        """Whether it is fixed to the ground, a constant."""
        return not self.value.A.nnz()


@dataclass(frozen=True, eq=False)
class RigidElement:
    """A body as an element: its point O (origin) and its directions D_k, one below the other.

    frame: body axes in which o and inverse count, the identity or the axes of the plane (3 x d). o: coordinates of O.
    inverse: c = inverse (p - o) are the factors of a point p in the directions; in the plane it multiplies by 1/d in
    complex numbers.
    """

    origin: LinearPoint
    directions: LinearPoint
    frame: Array
    o: Array
    inverse: Array

    @property
    def field(self) -> DM:
        """W of W x + w = [O; D_1; D_2 ...]: velocities of O and of the directions are W xd."""
        return ca.vertcat(self.origin.A, self.directions.A)

    def direction(self, v: Array) -> LinearPoint:
        """The direction with coordinates v (3) in the body, body axes."""
        return self._from(self.inverse @ (self.frame.T @ v))

    def point(self, p: Array) -> LinearPoint:
        """The material point with coordinates p (3) [m] in the body."""
        c = self.inverse @ (self.frame.T @ p - self.o)
        step = self._from(c)
        return LinearPoint(ca.sparsify(self.origin.A + step.A), ca.sparsify(self.origin.a + step.a))

    def _from(self, c: Array) -> LinearPoint:
        """sum_k c_k D_k."""
        G = exact(factor_block(c))
        return LinearPoint(ca.sparsify(G @ self.directions.A), ca.sparsify(G @ self.directions.a))


def factor_block(c: Array) -> Array:
    """The matrix G with G [D_1; D_2; ...] = sum_k c_k D_k; c holds a real and an imaginary part in the plane."""
    if len(c) == 2:
        return np.array([[c[0], -c[1]], [c[1], c[0]]])
    clean = np.where(np.abs(c) > 1e-14 * np.abs(c).max(initial=0.0), c, 0.0)
    return np.asarray(np.kron(clean, np.eye(3)))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The conditions Phi = pick (left(x) * right(x)) - constant, sums of products of linear functions."""

    left: LinearPoint
    right: LinearPoint
    pick: DM
    constant: DM

    def value(self, x: Expr) -> Expr:
        """Phi (m)."""
        return self.pick @ (self.left(x) * self.right(x)) - self.constant

    def jacobian(self, x: Expr) -> Expr:
        """Phi_x (m x n) = pick (diag(left) B + diag(right) A)."""
        return self.pick @ (_scaled_rows(self.left(x), self.right.A) + _scaled_rows(self.right(x), self.left.A))

    def rate(self, xd: Expr) -> Expr:
        """-Phi_x_dot xd (m) = -2 pick (A xd * B xd)."""
        return -2 * (self.pick @ ((self.left.A @ xd) * (self.right.A @ xd)))


class ChosenElement(NamedTuple):
    """An element that is a coordinate, as a point (or direction) with coordinates r [m; 1] in one body (3)."""

    is_point: bool
    body: int
    r: Array


def _scaled_rows(factors: Expr, A: DM) -> Expr:
    """diag(factors) A."""
    return ca.diag(factors) @ A


@dataclass(frozen=True, eq=False, repr=False)
class NaturalCoordinates:
    """Natural coordinates x (n) of a model, and their conditions Phi(x) = 0 (m); made by `natural`.

    dimension: 3, or 2 for a planar mechanism, whose plane has the axes `plane` (3x2, world). points, vectors: all basic
    points and unit vectors. names, constraint_names: of the entries of x and of the rows of Phi. powers: of the rows;
    the unit of a row is m^power, 0, 1 or 2. q, x: the assembled configuration, in joint and in natural coordinates.
    size [m]: largest length of the mechanism. It holds the geometry and no masses: algorithms take these and gravity
    from the model.

    >>> natural = od.formulations.natural(arm)
    >>> natural.n, natural.names
    (4, ('P2.x', 'P2.z', 'u1.x', 'u1.z'))
    """

    tree: Model
    dimension: int
    plane: Array
    points: tuple[NaturalElement, ...]
    vectors: tuple[NaturalElement, ...]
    names: tuple[str, ...]
    constraint_names: tuple[str, ...]
    powers: tuple[int, ...]
    bodies: tuple[RigidElement, ...]
    conditions: Quadratic
    chosen: tuple[ChosenElement, ...]
    q: Array
    x: Array
    size: float

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def m(self) -> int:
        """Number of conditions."""
        return len(self.constraint_names)

    @cached_property
    def lengths(self) -> Array:
        """Truth values for entries of x: True for coordinates of points [m], False for those of unit vectors."""
        points = {e.first for e in self.points}
        d = self.dimension
        return np.array([k - k % d in points for k in range(self.n)], dtype=bool)

    def rank(self, x: Any = None, tolerance: float = 1e-8) -> int:
        """Rank of Phi_x at x (n) numbers (default: the assembled configuration), lengths measured by the mechanism's
        size.

        tolerance: on singular values, relative to the largest; rows are scaled to norm 1.
        """
        tolerance = positive(tolerance, "rank: tolerance")
        at = DM(self.x) if x is None else column_of_numbers(x, self.n, "x")
        J = np.array(DM(self.conditions.jacobian(at)).full()) * np.where(self.lengths, self.size, 1.0)
        norms = np.linalg.norm(J, axis=1, keepdims=True)
        J = J / np.where(norms > 0, norms, 1.0)
        if not J.size:
            return 0
        values = np.linalg.svd(J, compute_uv=False)
        return int(np.sum(values > tolerance * values[0]))

    def degrees_of_freedom(self, x: Any = None, tolerance: float = 1e-8) -> int:
        """n - rank: number of independent velocities at x; at a singular position more than in its neighborhood."""
        return self.n - self.rank(x, tolerance)

    @cached_property
    def redundant(self) -> int:
        """Number of conditions that others imply, at the assembled configuration."""
        return self.m - self.rank()

    def element(self, name: str) -> NaturalElement:
        """The point or vector of that name."""
        found = {e.name: e for e in (*self.points, *self.vectors)}
        if not is_one_of(name, found):
            raise KeyError(f"no point or vector {repr_in_message(name)}; there are: {names_in_message(tuple(found))}")
        return found[name]

    def rows_of(self, name: str) -> tuple[int, ...]:
        """Indices of the conditions of a body, a joint, a loop or an element, by its name."""
        if not isinstance(name, str):
            raise TypeError(
                f"rows_of needs a name of a body, a joint, a loop or an element, got {repr_in_message(name)}"
            )
        return tuple(k for k, row in enumerate(self.constraint_names) if row.startswith(f"{name}: "))

    def split(self, model: Model) -> Model:
        """The model with joints split as those of these coordinates; ValueError for other joints or lengths."""
        tree = split_joints(model, (MultiDof,)) if any(isinstance(j, MultiDof) for j in model.joints) else model
        same = tree.joints == self.tree.joints and tree.parent == self.tree.parent
        for name, X, mine in zip(("", *tree.joint_names), tree.X_tree, self.tree.X_tree, strict=False):
            if X is mine or not same:
                continue
            if not of_numbers(X):
                raise ValueError(
                    f"joint {name}: its position is an expression, but natural coordinates hold numbers for lengths: "
                    "leave out the parameter origin, or make natural coordinates of a model with these lengths"
                )
            change = max(float(np.abs((X.E - mine.E).full()).max()), float(np.abs((X.r - mine.r).full()).max()))
            same = change <= COINCIDENT * max(1.0, self.size)
        if not same:
            raise ValueError(
                f"these natural coordinates belong to another mechanism than {repr_in_message(model)}: joints or "
                "lengths differ; make them by od.formulations.natural(model, loops)"
            )
        return tree

    def positions(self, tree: Model, q: Expr) -> Expr:
        """x at q, for a tree that `split` returned."""
        X0 = poses(tree, joint_states(tree, q))
        values = [X0[b].point(exact(r)) if is_point else X0[b].E.T @ exact(r) for is_point, b, r in self.chosen]
        return self._in_plane(values)

    def velocities(self, tree: Model, q: Expr, qd: Expr) -> Expr:
        """xd at q, qd, for a tree that `split` returned."""
        states = joint_states(tree, q, qd)
        X0, (v, _) = poses(tree, states), velocities(tree, states)
        values = []
        for is_point, b, r in self.chosen:
            w, vo = halves(v[b])
            turned = ca.cross(w, exact(r))
            values.append(X0[b].E.T @ (vo + turned if is_point else turned))
        return self._in_plane(values)

    def _in_plane(self, values: list[Expr]) -> Expr:
        """World vectors along the axes of the coordinates, one below the other."""
        if self.dimension == 2:
            values = [exact(self.plane.T) @ value for value in values]
        return ca.vertcat(*values) if values else DM(0, 1)

    def __repr__(self) -> str:
        return f"<NaturalCoordinates of {self.tree.name!r}: n={self.n}, m={self.m}, dimension={self.dimension}>"

    def __str__(self) -> str:
        rows = [("element", "coordinates", "at x", "bodies")]
        for e in (*self.points, *self.vectors):
            place = ", ".join(f"{value + 0.0:.4g}" for value in np.array(e.value(DM(self.x)).full()).ravel().round(9))
            rows.append((e.name, self._place_in_x(e), f"({place})", ", ".join(e.bodies)))

        free = self.degrees_of_freedom()
        kind = "in the plane, " if self.dimension == 2 else ""
        head = (
            f"natural coordinates of {self.tree.name or 'a model'}: {kind}n = {self.n} coordinates, m = {self.m} "
            f"conditions, {self.redundant} of them redundant, {free} degree{'' if free == 1 else 's'} of freedom"
        )
        return f"{head}\n{aligned(rows)}"

    def _place_in_x(self, element: NaturalElement) -> str:
        """Entries of x of an element, or why it has none."""
        if element.first is not None:
            return f"x[{element.first}:{element.first + self.dimension}]"
        return "fixed" if element.fixed else "linear in others"


def of_numbers(X: Transform) -> bool:
    """Whether a transform holds no expressions."""
    return all(isinstance(part, DM) for part in (X.E, X.r))


def linear(A: Array, a: Array) -> LinearPoint:
    """A x + a with structural zeros."""
    return LinearPoint(exact(A), sparse_beside(a))
