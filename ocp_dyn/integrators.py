"""Runge-Kutta schemes, by name or as a tableau, for second-order systems whose configurations may hold quaternions.

| name | scheme | order |
|---|---|---|
| euler | semi-implicit: qd1 = qd + h a(q, qd), q1 = q (+) h qd1 | 1 |
| heun | explicit trapezoid | 2 |
| rk4 | classical Runge-Kutta | 4 |
| midpoint | implicit midpoint, gauss:1 | 2 |
| trapezoid | lobatto:2 | 2 |
| hermite_simpson | lobatto:3 | 4 |
| gauss:s | collocation at the zeros of the Legendre polynomial | 2s |
| radau:s | collocation at the Radau points, the end among them (IIA); radau:1 is backward Euler | 2s - 1 |
| lobatto:s | collocation at the Lobatto points, both ends among them (IIIA) | 2s - 2 |

A user defines a scheme by its tableau, `Scheme("Ralston", A=[[0, 0], [2 / 3, 0]], b=[1 / 4, 3 / 4])`.

A step of length h from (q, qd) has stages at the times c h. With the accelerations a_i at the stages (Hairer and
Wanner, Solving Ordinary Differential Equations II, sec. IV.5; Munthe-Kaas, BIT 38, 1998)

    qd_i = qd + h sum_j A_ij a_j,   q_i = q (+) theta_i,   theta_i = h sum_j A_ij rate(theta_j, qd_j),
    qd1 = qd + h sum_j b_j a_j,     q1 = q (+) theta,      theta = h sum_j b_j rate(theta_j, qd_j),

where (+) is `model.integrate` and rate(theta, qd) = d(theta)/dt is `model.tangent_rate`. The rate is qd itself, except
for quaternions, which in this way stay on the unit sphere at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import Legendre
from numpy.polynomial.polynomial import polyfromroots

from ._base.checks import given_name, whole
from ._base.extensible import Extensible
from ._base.types import Array, Expr, finite_vector, numbers, repr_in_message, suggestion, truth
from .mechanism import Model

FAMILIES = ("gauss", "radau", "lobatto")
LARGEST_STAGE_COUNT = 9
ALIASES = {"midpoint": "gauss:1", "trapezoid": "lobatto:2", "hermite_simpson": "lobatto:3"}
SCHEME_NAMES = ("euler", "heun", "rk4", *ALIASES, *(f"{family}:s" for family in FAMILIES))


HIGHEST_CHECKED_ORDER = 8
"""Highest order for which the order conditions of a tableau are checked; there are 200 conditions."""

COEFFICIENT_TOLERANCE = 1e-10
"""Largest error of a condition on the coefficients of a tableau, which must be given in full precision."""


@dataclass(frozen=True, eq=False)
class Scheme(Extensible):
    """A Runge-Kutta tableau: A (s, s), weights b (s), fractions of the step c (s) between 0 and 1.

    name: for messages and reports. c: must be the row sums of A, its default. order: computed from the tableau, up to
    order 8; if it is given, it is checked up to order 8. Explicit schemes have A strictly lower triangular.
    semi_implicit: positions move with the velocity at the end of the step. ValueError if the coefficients are
    inconsistent.

    >>> heun = ocp.Scheme("my heun", A=[[0, 0], [1, 0]], b=[0.5, 0.5])
    >>> heun.order
    2
    """

    name: str
    A: Any
    b: Any
    c: Any = None
    order: int = 0
    semi_implicit: bool = False

    def __post_init__(self) -> None:
        here = f"Scheme {repr_in_message(given_name(self.name, 'Scheme name'))}"
        truth(self.semi_implicit, f"{here}: semi_implicit")
        size = numbers(self.b).size
        object.__setattr__(self, "b", finite_vector(self.b, size, f"{here}: b").copy())
        square = finite_vector(self.A, size * size, f"{here}: A ({size} x {size}, since b has {size} numbers)")
        object.__setattr__(self, "A", square.reshape(size, size).copy())
        sums = self.A.sum(axis=1)
        if self.c is not None:
            fractions = finite_vector(self.c, size, f"{here}: c")
            if np.abs(fractions - sums).max() > COEFFICIENT_TOLERANCE:
                raise ValueError(f"{here}: c must be the row sums of A, {sums.tolist()}, got {repr_in_message(self.c)}")
            sums = fractions
        if abs(self.b.sum() - 1) > COEFFICIENT_TOLERANCE:
            raise ValueError(f"{here}: the weights b must sum to 1, got {repr_in_message(self.b.tolist())}")
        if np.any((sums < -COEFFICIENT_TOLERANCE) | (sums > 1 + COEFFICIENT_TOLERANCE)):
            raise ValueError(f"{here}: the fractions c of the step must lie between 0 and 1, got {sums.tolist()}")
        object.__setattr__(self, "c", np.clip(sums, 0.0, 1.0))
        for array in (self.A, self.b, self.c):
            array.setflags(write=False)
        whole(self.order, f"{here}: order, 0 if it is left out,")
        found = _order(self.A, self.b)
        if min(self.order, HIGHEST_CHECKED_ORDER) > found:
            raise ValueError(f"{here} has the order {found}, got order={self.order}: leave it out, or check A and b")
        object.__setattr__(self, "order", self.order or found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self.name, *(x.tobytes() for x in (self.A, self.b, self.c)), self.order, self.semi_implicit)

    def to_dict(self) -> dict[str, Any]:
        """The tableau as plain data, for a file: `Scheme(**data)` is equal to it."""
        arrays = {key: getattr(self, key).tolist() for key in ("A", "b", "c")}
        return {"name": self.name, **arrays, "order": self.order, "semi_implicit": self.semi_implicit}

    @property
    def stages(self) -> int:
        return int(self.b.size)

    @property
    def explicit(self) -> bool:
        """Whether every stage depends only on the stages before it."""
        return not np.any(np.triu(self.A))

    @property
    def holds_positions(self) -> bool:
        """Whether forces at the first and the last stage move position and velocity at the end independently; with one
        stage, whether its force moves the position."""
        ends = [0, -1]
        moments = np.array([self.b[ends], (self.b @ self.A)[ends]])
        if self.stages == 1:
            return bool(self.semi_implicit or abs(moments[1, 0]) > 1e-12)
        return bool(abs(np.linalg.det(moments)) > 1e-12)

    @property
    def holds_velocities(self) -> bool:
        """Whether the force at the last stage moves the velocity at the end."""
        return bool(abs(self.b[-1]) > 1e-12)

    @property
    def ends_at_stage(self) -> bool:
        """Whether the last stage is the end of the step."""
        return bool(np.allclose(self.A[-1], self.b, rtol=0, atol=1e-12))

    @property
    def fixed_point_iterations(self) -> int:
        """Number of fixed-point iterations for theta.

        theta = h qd has an error of third order in h, and every iteration raises the order by one.
        """
        return 1 if self.explicit else max(0, self.order - 2)


def scheme(integrator: str | Scheme) -> Scheme:
    """The scheme with this name, or the scheme itself; ValueError, with the known names, for anything else."""
    if isinstance(integrator, Scheme):
        return integrator
    return _scheme(integrator if isinstance(integrator, str) else repr_in_message(integrator))


Tree = tuple[Any, ...]
"""A rooted tree, as the tuple of the subtrees at its root."""


def _order(A: Array, b: Array) -> int:
    """The order of a scheme, `HIGHEST_CHECKED_ORDER` at most.

    Order p: sum_i b_i Phi_i(t) = 1 / gamma(t) for all rooted trees t with up to p nodes (Hairer, Norsett and Wanner,
    Solving Ordinary Differential Equations I, sec. II.2).
    """
    for order in range(1, HIGHEST_CHECKED_ORDER + 1):
        for tree in _trees(order):
            weights, density, _ = _condition(A, tree)
            if abs(float(b @ weights) - 1 / density) > COEFFICIENT_TOLERANCE:
                return order - 1
    return HIGHEST_CHECKED_ORDER


def _condition(A: Array, tree: Tree) -> tuple[Array, int, int]:
    """(Phi, gamma, number of nodes) of a tree."""
    weights, density, nodes = np.ones(len(A)), 1, 1
    for branch in tree:
        w, d, n = _condition(A, branch)
        weights, density, nodes = weights * (A @ w), density * d, nodes + n
    return weights, density * nodes, nodes


@cache
def _trees(nodes: int) -> tuple[Tree, ...]:
    """All rooted trees with this number of nodes."""
    return ((),) if nodes == 1 else tuple({grown for tree in _trees(nodes - 1) for grown in _grown(tree)})


def _grown(tree: Tree) -> Iterator[Tree]:
    """The trees that arise from a tree by adding one leaf."""
    yield tuple(sorted((*tree, ())))
    for k, branch in enumerate(tree):
        for grown in _grown(branch):
            yield tuple(sorted((*tree[:k], grown, *tree[k + 1 :])))


@cache
def _scheme(name: str) -> Scheme:
    fixed = {
        "euler": Scheme("euler", np.zeros((1, 1)), np.ones(1), np.zeros(1), 1, semi_implicit=True),
        "heun": Scheme("heun", np.array([[0, 0], [1, 0.0]]), np.full(2, 0.5), np.array([0, 1.0]), 2),
        "rk4": Scheme("rk4", np.diag([0.5, 0.5, 1.0], -1), np.array([1, 2, 2, 1]) / 6, np.array([0, 0.5, 0.5, 1.0]), 4),
    }
    if name in fixed:
        return fixed[name]
    family, _, stages = ALIASES.get(name, str(name)).partition(":")
    fewest = 2 if family == "lobatto" else 1
    if family not in FAMILIES or not stages.isdecimal() or not fewest <= int(stages) <= LARGEST_STAGE_COUNT:
        near = suggestion(name, (*fixed, *ALIASES, *(f"{known}:{stages or 2}" for known in FAMILIES)))
        raise ValueError(
            f"integrator must be one of {', '.join(SCHEME_NAMES)}, s from {fewest} to {LARGEST_STAGE_COUNT} stages, "
            f"or a Scheme, got {repr_in_message(name)}{near}"
        )
    return _collocation(name, family, int(stages))


def _collocation(name: str, family: str, s: int) -> Scheme:
    """The collocation scheme: a polynomial of degree s satisfies the differential equation at the family's points.

    A_ij and b_j are the integrals of the j-th Lagrange polynomial from 0 to c_i and to 1. The points are the zeros, on
    [-1, 1], of P_s, of P_{s-1} - P_s, and of (1 - x^2) P'_{s-1}.
    """
    P = Legendre.basis(s)
    if family == "gauss":
        x = P.roots()
    elif family == "radau":
        x = np.append((P - Legendre.basis(s - 1)).roots()[:-1], 1.0)
    else:
        x = np.concatenate([[-1.0], Legendre.basis(s - 1).deriv().roots(), [1.0]])
    c: Array = (np.asarray(np.real(x), dtype=float) + 1) / 2  # NumPy 2.5 gives real roots as complex numbers
    A, b = np.zeros((s, s)), np.zeros(s)
    for j in range(s):
        others = np.delete(c, j)
        integral = Polynomial(polyfromroots(others) / np.prod(c[j] - others)).integ()
        A[:, j], b[j] = integral(c), integral(1.0)
    A[np.abs(A) < 1e-15] = 0.0
    return Scheme(name, A, b, c, 2 * s - FAMILIES.index(family))


def stage_states(
    model: Model,
    method: Scheme,
    q: Expr,
    qd: Expr,
    qdd: list[Expr],
    h: Expr,
    inner: Callable[[Expr], Expr] = lambda value: value,
) -> tuple[list[tuple[Expr, Expr]], tuple[Expr, Expr]]:
    """The states (q_i, qd_i) at the stages of a step and (q1, qd1) at its end, from the accelerations at the stages.

    The rates of theta depend on theta itself; for quaternions they are found by fixed-point iterations, to the order of
    the scheme and without additional unknowns. inner: gives what stands for the turns h qd_i of joints with
    quaternions, by which derivatives may be taken first: these q_i and q1 depend on the velocities by them alone.
    """
    speeds = [weighted(qd, h, row, qdd) for row in method.A]
    qd1 = weighted(qd, h, method.b, qdd)
    if method.semi_implicit:
        return [(q, qd)], (model.integrate(q, _turns(model, h * qd1, inner)), qd1)
    turns = [_turns(model, h * speed, inner) for speed in speeds]
    rates = list(turns)
    for _ in range(method.fixed_point_iterations if model.nq > model.nv else 0):
        for i, row in enumerate(method.A):
            if np.any(row):
                rates[i] = model.tangent_rate(weighted(0, 1, row, rates), turns[i])
    places = [model.integrate(q, weighted(0, 1, row, rates)) if np.any(row) else q for row in method.A]
    return list(zip(places, speeds, strict=True)), (model.integrate(q, weighted(0, 1, method.b, rates)), qd1)


def _turns(model: Model, step: Expr, inner: Callable[[Expr], Expr]) -> Expr:
    """A step (nv), with what `inner` gives for the rotations of joints with quaternions."""
    parts = model.split_qd(step)
    return ca.vertcat(
        *(
            ca.vertcat(part[:-3], inner(part[-3:])) if joint.has_quaternion else part
            for joint, part in zip(model.joints, parts, strict=True)
        )
    )


def explicit_step(
    model: Model, method: Scheme, rate: Callable[[Expr, Expr], Expr], q: Expr, qd: Expr, h: Expr
) -> tuple[list[tuple[Expr, Expr]], tuple[Expr, Expr]]:
    """The results of `stage_states` for an explicit scheme, whose accelerations are rate(q_i, qd_i), stage by stage."""
    states: list[tuple[Expr, Expr]] = []
    qdd: list[Expr] = []
    theta_rates: list[Expr] = []
    for row in method.A:
        theta, speed = weighted(0, h, row, theta_rates), weighted(qd, h, row, qdd)
        states.append((model.integrate(q, theta) if np.any(row) else q, speed))
        theta_rates.append(model.tangent_rate(theta, speed) if np.any(row) else speed)
        qdd.append(rate(*states[-1]))
    qd1 = weighted(qd, h, method.b, qdd)
    theta = h * qd1 if method.semi_implicit else weighted(0, h, method.b, theta_rates)
    return states, (model.integrate(q, theta), qd1)


def flow_step(method: Scheme, f: Callable[[Expr], Expr], x: Expr, h: Expr) -> Expr:
    """x after a step h of an explicit scheme along x' = f(x)."""
    rates: list[Expr] = []
    for row in method.A:
        rates.append(f(weighted(x, h, row, rates)))
    return weighted(x, h, method.b, rates)


def weighted(start: Expr, h: Expr, weights: Array, rates: list[Expr]) -> Expr:
    """start + h sum_j weights_j rates_j over the given rates; rates with weight zero do not enter the expression."""
    terms = [rate if w == 1 else w * rate for w, rate in zip(weights, rates, strict=False) if w]
    return start + h * sum(terms[1:], start=terms[0]) if terms else start
