"""Independent coordinates: joints that follow from other joints, and the states, forces and rows that remain.

With q_d = g(q_i) for the dependent coordinates of closed loops [GJB94, eqs. 8.116 to 8.120, with g in closed form],

    qd = R2 qd_i,   qdd = R2 qdd_i + S2c2,   R2 = [1; J],   S2c2 = [0; dJ/dt qd_i],   J = dg/dq_i,

and the forces of the loops vanish from the equations of motion: R2' (ID(q, qd, qdd) - tau - G' lam) = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._base.autodiff import FunctionDerivatives, derivatives
from ...._base.checks import all_known, call_user, function, listed_names
from ...._base.types import Array, Expr, names_in_message, repr_in_message
from ....constraints import Constraint, constraint_jacobian
from ....mechanism import Model
from ..footholds import PhaseConstraint

CLOSED = 1e-6
"""Largest |phi| at which a loop counts as closed [m, sine of an angle]."""

LEAST_PIVOT = 1e-9
"""G_d counts as singular if its smallest singular value is below this multiple of the largest."""


@dataclass(frozen=True, eq=False)
class DependentJoints:
    """Joints whose coordinates follow from those of other joints: for Problem(dependent=...).

    constraint: `od.Loop`, `od.JointCoupling` or another one that holds in all phases; do not give it to phases too.
    joints: names of the dependent joints, with as many dofs as the constraint has rows. of: names of the joints that
    move them, themselves not dependent. function: g, from the coordinates q of the joints `of`, one after the other, to
    those of `joints`; written with CasADi's operations, and smooth in the range of the motion.

    Only independent coordinates are variables: states, accelerations and equations of motion are as many as these, and
    the constraint needs no rows and no forces. Costs, path constraints, boundary conditions and the solution see all
    coordinates of the model; the forces of the constraint follow from the rows of the dependent joints,
    lam = G_d^-T (ID - tau - G' lam)_d. ValueError if the function does not close the constraint at the posture.

    >>> gear = od.JointCoupling("joint2", "joint1", ratio=-2.0)
    >>> follows = ocp.DependentJoints(gear, joints=["joint2"], of=["joint1"], function=lambda q: -2 * q)
    >>> hang = ocp.Phase("hang", 4, 1.0, objective=[ocp.TorqueSquared()])
    >>> kept = ocp.Problem(arm, [hang], dependent=[follows]).solve(progress=False)
    >>> bool(np.allclose(kept.q[:, 1], -2 * kept.q[:, 0]))
    True
    """

    constraint: Constraint
    joints: Sequence[str]
    of: Sequence[str]
    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if isinstance(self.constraint, type) or not isinstance(self.constraint, Constraint):
            raise TypeError(
                f"DependentJoints needs a constraint such as od.Loop, got {repr_in_message(self.constraint)}"
            )
        here = f"DependentJoints of {repr_in_message(self.name)}"
        for key in ("joints", "of"):
            names = listed_names(getattr(self, key), f"{here}: {key}")
            if not names or len(set(names)) < len(names):
                raise ValueError(
                    f"{here}: {key} must name joints, each once, got {repr_in_message(getattr(self, key))}"
                )
            object.__setattr__(self, key, names)
        function(self.function, f"{here}: function")

    @property
    def name(self) -> str:
        """The name of the constraint."""
        return str(getattr(self.constraint, "name", type(self.constraint).__name__))


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The independent coordinates of a model with dependent joints; without such joints, all coordinates.

    q, qd: indices of the independent entries of q and of qd. Methods take and return full columns (nq, nv) and read
    only their independent entries.
    """

    model: Model
    members: tuple[DependentJoints, ...] = ()
    q: list[int] = field(init=False)
    qd: list[int] = field(init=False)

    def __post_init__(self) -> None:
        model = self.model
        for key, size, slices in (("q", model.nq, model.q_slice), ("qd", model.nv, model.qd_slice)):
            taken = set(_entries(slices, self.joints))
            object.__setattr__(self, key, [k for k in range(size) if k not in taken])

    @property
    def joints(self) -> list[str]:
        """The dependent joints."""
        return [joint for member in self.members for joint in member.joints]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that the dependent joints fulfill."""
        return tuple(member.constraint for member in self.members)

    @property
    def held(self) -> tuple[PhaseConstraint, ...]:
        """These constraints in the form in which phases hold constraints."""
        return tuple(map(PhaseConstraint, self.constraints))

    def full_q(self, independent: Expr) -> Expr:
        """q (nq) from its independent entries."""
        return self.complete(_spread(independent, self.q, self.model.nq))[0]

    def complete(self, q: Expr, *rates: Expr) -> tuple[Expr, ...]:
        """q, or (q, qd), or (q, qd, qdd), with dependent entries that follow from the independent ones."""
        found = (q, *rates)
        if not self.members:
            return found
        found = tuple(type(x)(x) for x in found)
        for member in self.members:
            at, rate = _entries(self.model.q_slice, member.joints), _entries(self.model.qd_slice, member.joints)
            inputs = _entries(self.model.qd_slice, member.of)
            g = self._derive(member, q, rates[0] if rates else None)
            found[0][at] = g.value
            if rates:
                found[1][rate] = g.jacobian @ rates[0][inputs]
            if len(rates) > 1:
                found[2][rate] = g.jacobian @ rates[1][inputs] + g.bias
        return found

    @cached_property
    def states(self) -> ca.Function:
        """(q, qd), all entries, from the independent entries of q and of qd."""
        q, qd = SX.sym("q", len(self.q)), SX.sym("qd", len(self.qd))
        return ca.Function("states", [q, qd], [*self.complete(self.full_q(q), self.spread(qd))])

    def spread(self, independent: Expr) -> Expr:
        """A column (nv) with these independent entries, and zeros for the dependent ones."""
        return _spread(independent, self.qd, self.model.nv)

    def project(self, q: Expr, force: Expr) -> Expr:
        """R2' force: the forces (nv) as felt by the independent dofs."""
        if not self.members:
            return force
        found = type(force)(force)
        for member in self.members:
            rows, inputs = (_entries(self.model.qd_slice, names) for names in (member.joints, member.of))
            found[inputs] += self._derive(member, q).jacobian.T @ force[rows]
        return found[self.qd]

    def forces(self, model: Model, q: Expr, force: Expr) -> Expr:
        """lam (or Lam) of the constraints, G_d' lam = force_d, for the force (nv) that they balance.

        model: this model, perhaps with other parameters.
        """
        if not self.members:
            return type(q)(0, 1)
        G = constraint_jacobian(model, self.constraints, q)
        rows = _entries(self.model.qd_slice, self.joints)
        return ca.solve(G[:, rows].T, force[rows])

    def _derive(self, member: DependentJoints, q: Expr, qd: Expr | None = None) -> FunctionDerivatives:
        """g, J and dJ/dt qd_i."""
        x = q[_entries(self.model.q_slice, member.of)]
        inputs = _entries(self.model.qd_slice, member.of)
        v = type(q)(len(inputs), 1) if qd is None else qd[inputs]
        return derivatives(member.function, x, v, lambda x, v: self._rate(member.of, x, v))

    def _rate(self, joints: Sequence[str], x: Expr, v: Expr) -> Expr:
        """dx/dt for the coordinates x and velocities v of joints."""
        kinds = [self.model.joints[self.model.joint_names.index(name) + 1] for name in joints]
        parts, a, b = [], 0, 0
        for joint in kinds:
            parts.append(joint.q_dot(x[a : a + joint.nq], v[b : b + joint.nv]))
            a, b = a + joint.nq, b + joint.nv
        return ca.vertcat(*parts)


def _entries(slices: Callable[[str], slice], joints: Sequence[str]) -> list[int]:
    """Indices of the entries of joints, one joint after the other."""
    return [k for joint in joints for k in range(slices(joint).start, slices(joint).stop)]


def _spread(independent: Expr, indices: list[int], size: int) -> Expr:
    if len(indices) == size:
        return independent
    full = type(independent)(size, 1)
    full[indices] = independent
    return full


def check_dependent(model: Model, members: Sequence[DependentJoints], q: Array) -> None:
    """Checks names and sizes, and that the functions close their constraints at the configuration q (nq), and that G_d
    is regular there."""
    given: dict[str, str] = {}
    for member in members:
        here = f"DependentJoints of {repr_in_message(member.name)}"
        all_known((*member.joints, *member.of), model.joint_names, here, "joint")
        rows, dofs = member.constraint.rows, _entries(model.qd_slice, member.joints)
        if len(dofs) != len(rows):
            raise ValueError(
                f"{here}: the constraint has {len(rows)} rows ({names_in_message(rows, 6)}), and the joints "
                f"{', '.join(member.joints)} have {len(dofs)} dofs: name as many dofs as there are rows, and give the "
                "constraint independent rows only, such as the two in the plane of a planar loop"
            )
        if len(_entries(model.q_slice, member.joints)) != len(dofs):
            raise ValueError(
                f"{here}: the joints {', '.join(member.joints)} have quaternions, which cannot be dependent "
                "coordinates: name other joints, or build these from joints of one dof each"
            )
        for joint in member.joints:
            if joint in given:
                raise ValueError(
                    f"{here}: joint {repr_in_message(joint)} already is a dependent joint of "
                    f"{repr_in_message(given[joint])}"
                )
            given[joint] = member.name
    for member in members:
        wrong = [joint for joint in member.of if joint in given]
        if wrong:
            raise ValueError(
                f"DependentJoints of {repr_in_message(member.name)}: joint {repr_in_message(wrong[0])} in of= is a "
                f"dependent joint of {repr_in_message(given[wrong[0]])}: name the independent joints from which both "
                "follow"
            )
        _check_values(model, member)
    _check_closed(Coordinates(model, tuple(members)), q)


def _check_values(model: Model, member: DependentJoints) -> None:
    """Checks the result of a function."""
    here = f"DependentJoints of {repr_in_message(member.name)}: function"
    x = SX.sym("x", len(_entries(model.q_slice, member.of)))
    value, size = call_user(here, member.function, x), len(member.constraint.rows)
    if not isinstance(value, (SX, DM)) or value.shape != (size, 1):
        raise ValueError(
            f"{here} must return {size} coordinates as a column, those of {', '.join(member.joints)}, got "
            f"{repr_in_message(value)}"
        )
    others = ca.Function("g", [x], [value], {"allow_free": True}).free_sx()
    if others:
        names = names_in_message([symbol.name() for symbol in others])
        raise ValueError(
            f"{here} must depend on the coordinates of {', '.join(member.of)} only, got the symbols {names}"
        )


def _check_closed(coordinates: Coordinates, q: Array) -> None:
    """Checks that the functions close the constraints at q, and that G_d is regular there."""
    model, members = coordinates.model, coordinates.members
    full = coordinates.complete(DM(q))[0]
    try:
        gaps = [np.array(DM(member.constraint.position(model, full)).full()).ravel() for member in members]
        G = np.array(DM(constraint_jacobian(model, coordinates.constraints, full)).full()) if members else None
    except (NotImplementedError, RuntimeError, TypeError):
        return  # a model with symbols has no numbers
    for member, phi in zip(members, gaps, strict=True):
        if not np.all(np.isfinite(phi)) or np.abs(phi).max() > CLOSED:
            raise ValueError(
                f"DependentJoints of {repr_in_message(member.name)}: function does not close the constraint at "
                f"{_at(model, member, full)}: phi = {np.array2string(phi, precision=3)}; check its signs and its "
                "branch, or give a posture in its range"
            )
    if G is None:
        return
    Gd = G[:, _entries(model.qd_slice, coordinates.joints)]
    values = np.linalg.svd(Gd / np.linalg.norm(Gd, axis=0).clip(1e-300), compute_uv=False)
    if values[-1] <= LEAST_PIVOT * values[0]:
        places = ", ".join(dict.fromkeys(_at(model, member, full) for member in members))
        raise ValueError(
            f"dependent: the constraints do not determine {', '.join(coordinates.joints)} at {places}, a dead center "
            "(G_d is singular): name other dependent joints, or give another posture"
        )


def _at(model: Model, member: DependentJoints, q: DM) -> str:
    """The coordinates from which a member follows, with their values."""
    return ", ".join(f"{model.q_names[k]} = {float(q[k]):.4g}" for k in _entries(model.q_slice, member.of))
