"""Boundary conditions for given states: `At`, a configuration, and `Rest`, a configuration at rest.

Feet on the ground and closed loops hold some directions of motion already: phi(q, p) = 0 with the places p of the feet.
A condition q = q0 would repeat these rows, and the solver's multipliers would not be unique. So the condition has rows
N' (q - q0) = 0 alone, with N (nv x k) an orthonormal basis of the motions that the contacts of the phase leave free
near q0: of L G, where G = d(phi)/dq, and L spans the combinations of rows that no free place can satisfy by moving,
L' d(phi)/dp = 0. Velocities: N' qd = 0 with the null space of G.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._base.checks import choice, given_name, numbers
from ...._base.types import Array, Expr, finite_vector, repr_in_message
from ....mechanism import Model
from ..footholds import Foothold, Rigid, rigid
from ..instant import Instant
from ..path_constraints import Bounded
from ..phases import BoundaryCondition
from ..values.parameters import Parameter, number_in

RANK = 1e-8
"""Singular values below this fraction of the largest one count as zero."""

NEAR = 1e-2
"""Largest distance [m, rad] from the feet that stand on the ground at which a configuration is taken for one on
them."""

STEPS = 8
"""Newton steps to the free places of the feet of a configuration."""


@dataclass(frozen=True)
class At(BoundaryCondition):
    """The motion begins, or ends, in a given state: q = q0, and qd = qd0 if it is given, but for what the feet imply.

    q: the nq numbers q0. where: "start" or "end". qd: the nv numbers qd0, or None for any velocity. Either may be a
    `Parameter` of so many numbers, such as a measured state; the problem declares it, and its value when the problem is
    made decides which rows are left out. Rows that the contacts of the first or the last phase hold already are left
    out, so that the conditions are independent: a foot that stands on a given place keeps its leg's joints tied to the
    root. ValueError if q or qd is of another size, or q more than a centimeter or a hundredth of a radian off the feet
    that stand on the ground.

    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> ends = [ocp.Rest([0.0]), ocp.At([1.0], where="end")]
    >>> round(ocp.Problem(wheel, [push], boundary=ends).solve(progress=False).objective, 2)  # 3 (N m)^2 s: it goes on
    3.0
    >>> q0, qd0 = ocp.Parameter("q0", 0.0), ocp.Parameter("qd0", 0.0)
    >>> problem = ocp.Problem(wheel, [push], boundary=[ocp.At(q0, qd=qd0), ocp.Rest([1.0], where="end")])
    >>> [round(problem.solve(values={"q0": x, "qd0": 0.1}, progress=False).objective, 2) for x in (0.0, 0.5)]
    [10.87, 2.45]
    """

    q: Any
    where: str = "start"
    qd: Any = field(default=None, kw_only=True)
    name: str = field(default="at", kw_only=True)
    free: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for key, given in (("q", self.q), ("qd", self.qd)):
            if given is not None and not isinstance(given, Parameter):
                numbers(given, f"{type(self).__name__} {key}")
        choice(self.where, ("start", "end"), f"{type(self).__name__} where")
        given_name(self.name, f"{type(self).__name__} name")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(given for given in (self.q, self.qd) if isinstance(given, Parameter))

    def of_problem(self, problem: Any) -> At:
        """The condition with the directions that the contacts of the problem's first or last phase leave free."""
        model, phase = problem.model, problem.phases[0 if self.where == "start" else -1]
        found, what = copy(self), type(self).__name__
        for key, names in (("q", model.q_names), ("qd", model.qd_names)):
            given = getattr(self, key)
            if isinstance(given, Parameter):
                if given.size != len(names):
                    raise ValueError(
                        f"{what}: {key} of {model!r} must be {len(names)} numbers, got Parameter "
                        f"{repr_in_message(given.name)} of {given.size}"
                    )
            elif given is not None:
                found_numbers = finite_vector(given, len(names), f"{what}: {key} of {model!r}", names=names)
                object.__setattr__(found, key, tuple(found_numbers.tolist()))
        held = (*rigid(phase.held), *problem.coordinates.held)
        q = np.broadcast_to(np.array(number_in(found.q), dtype=float), (model.nq,))
        object.__setattr__(found, "free", free_directions(model, held, q, f"{what}: q"))
        return found

    def _velocity(self, nv: int) -> Any:
        """The nv velocities, a Parameter, or None."""
        return self.qd

    def rows(self, start: Instant, end: Instant) -> Bounded:
        instant = start if self.where == "start" else end
        model = instant.model
        position, velocity = (np.eye(model.nv),) * 2 if self.free is None else self.free
        gap = DM(position).T @ model.difference(_value(self.q, instant), instant.q)
        if (qd := self._velocity(model.nv)) is not None:
            gap = ca.vertcat(gap, DM(velocity).T @ (instant.qd - _value(qd, instant)))
        return gap, 0.0, 0.0


@dataclass(frozen=True)
class Rest(At):
    """The motion begins, or ends, at rest in a configuration: q = q0 and qd = 0, but for what the feet imply.

    q, where: as of `At`. At the end the velocity of a foot is zero by the contact rows; a scheme of one stage, such as
    the midpoint rule, holds positions there, so that it is zero up to the error of the scheme.

    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> ends = [ocp.Rest([0.0]), ocp.Rest([1.0], where="end")]
    >>> round(ocp.Problem(wheel, [push], boundary=ends).solve(progress=False).objective, 2)
    12.03
    """

    qd: Any = field(default=None, init=False, repr=False)
    name: str = field(default="rest", kw_only=True)

    def _velocity(self, nv: int) -> Any:
        return np.zeros(nv)


def _value(given: Any, instant: Instant) -> Expr:
    """Numbers, or the expression of a Parameter."""
    return instant.values[given.name] if isinstance(given, Parameter) else DM(np.array(given, dtype=float))


def free_directions(model: Model, held: Iterable[Rigid], q: Array, what: str = "q") -> tuple[Array, Array]:
    """Orthonormal bases (nv, k) of the steps on the configuration manifold, and of the velocities, that contacts leave
    free near q. ValueError, which opens with `what`, if q is off the contacts.

    A model with symbols has no numbers: then all directions count as free.
    """
    held = tuple(held)
    if not held or model.has_symbols:
        return np.eye(model.nv), np.eye(model.nv)
    roots = list(dict.fromkeys(f.root for f in held if isinstance(f, Foothold)))
    d, p = SX.sym("d", model.nv), SX.sym("p", 3 * len(roots))
    here = model.integrate(DM(q), d)
    phi = ca.vertcat(*(f.position(model, here, _place(model, f, roots, p)) for f in held))
    G = ca.vertcat(*(f.contact.jacobian(model, DM(q)) for f in held))
    bounds = np.array([root.bounds for root in roots]).reshape(-1, 2)
    open_places = np.flatnonzero(bounds[:, 0] < bounds[:, 1])
    linear = ca.Function("linear", [d, p], [phi, ca.jacobian(phi, d), ca.jacobian(phi, p)])
    still, places = np.zeros(model.nv), bounds.mean(axis=1)
    for _ in range(STEPS if open_places.size else 1):
        gap, Gq, Gp = (np.array(DM(x).full()) for x in linear(still, places))
        places[open_places] -= np.linalg.lstsq(Gp[:, open_places], gap.ravel(), rcond=None)[0]
    gap, Gq, Gp = (np.array(DM(x).full()) for x in linear(still, places))
    L = _null(Gp[:, open_places].T)
    off = float(np.abs(L.T @ gap).max(initial=0.0))
    if off > NEAR:
        names = ", ".join(f.name for f in held)
        raise ValueError(
            f"{what} is {off:.2g} m or rad off what {names} hold at that time: give a configuration in which the feet "
            "stand on the ground, such as a solution's q[0] or od.inverse_kinematics(...).q"
        )
    return _null(L.T @ Gq), _null(np.array(DM(G).full()))


def _place(model: Model, f: Rigid, roots: list[Foothold], p: SX) -> Expr:
    """The place of a foothold, from those of the footholds that have one of their own; None for constraints."""
    if not isinstance(f, Foothold):
        return None
    if f.of is None:
        k = roots.index(f)
        return p[3 * k : 3 * k + 3]
    before, (x, y, yaw) = _place(model, f.of, roots, p), f.offset(model)
    c, s = ca.cos(before[2]), ca.sin(before[2])
    return ca.vertcat(before[0] + c * x - s * y, before[1] + s * x + c * y, before[2] + yaw)


def _null(A: Array) -> Array:
    """An orthonormal basis of the null space of a matrix, in columns."""
    if not A.size:
        return np.eye(A.shape[1])
    _, values, Vt = np.linalg.svd(A)
    rank = int(np.sum(values > RANK * max(1.0, values.max(initial=0.0))))
    basis: Array = Vt[rank:].T
    return basis
