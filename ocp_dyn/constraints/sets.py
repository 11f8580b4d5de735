"""The base class of constraints, and sets of constraints: stacked phi, G, gamma, names of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import casadi as ca
from casadi import MX, SX

from .._base.autodiff import rounding_error
from .._base.display import Displayed, heading, table
from .._base.extensible import Extensible, derive
from .._base.types import (
    Expr,
    M,
    Numbers,
    Vector,
    as_type,
    check_kind,
    matrix,
    names_in_message,
    repr_in_message,
    sequence,
)
from ..mechanism import Frame, KeptConstraint, Model
from ..mechanism.boundary import checks_arguments


class MotionRows(NamedTuple):
    """Rows R [w; v; w x e] of the motion of a frame, world axes: of its angular velocity w, the velocity v of a point,
    and the velocity of an arm e relative to it; point and arm in frame coordinates, R (m x 9)."""

    frame: Frame | str
    point: Vector
    arm: Vector
    R: Expr


class Constraint(Extensible, Displayed, KeptConstraint):
    """Base class of constraints: phi(q) = 0, and `G qdd = gamma`. `rows` names its rows.

    A class has `rows`, `position`, `jacobian` and `hessian`; the other members have defaults. parameters: kinds of
    parameters that `with_parameter(kind, value)` replaces, see `constraints.parameters`. force_text: a sentence about
    the rows of lam, for the headers of exported code.

    >>> isinstance(od.Contact("tip"), od.Constraint)
    True
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        given = cls.parameters is not Constraint.parameters
        if given and cls.with_parameter is Constraint.with_parameter:
            raise TypeError(f"constraint {cls.__name__}: with parameters it needs with_parameter(kind, value) too")

    @property
    @abstractmethod
    def rows(self) -> tuple[str, ...]:
        """Names of the rows."""

    @property
    def name(self) -> str:
        """The name of the constraint, for forces by name: that of its class, unless the class gives another one."""
        return type(self).__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        return ()

    @property
    def force_text(self) -> str:
        return "work per change of phi"

    @abstractmethod
    def position(self, model: Model, q: Expr) -> Expr:
        """phi (m)."""

    @abstractmethod
    def jacobian(self, model: Model, q: Expr) -> Expr:
        """G (m x nv)."""

    @abstractmethod
    def hessian(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """gamma (m) of `G qdd = gamma`."""

    def velocity(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """d(phi)/dt (m): G qd, unless phi depends on time."""
        return self.jacobian(model, q) @ qd

    def magnitudes(self, model: Model, q: Expr) -> Expr:
        """Sizes of the terms that add up to the entries of G (m x nv), see `constraint_magnitudes`."""
        return rounding_error(lambda q: self.jacobian(model, q), q)

    def at_time(self, t: Any) -> Constraint:
        """The constraint at time t [s]; one that does not depend on time is returned as it is."""
        return self

    def wrenches(self, model: Model, q: Expr, lam: Expr) -> dict[str, Expr]:
        """Wrenches of the forces lam on bodies: {frame: [moment about the world origin; force]}, world axes."""
        raise ValueError(
            f"constraint {repr_in_message(self.name)} acts on coordinates, not on bodies: its forces are G' lam"
        )

    def with_parameter(self, kind: str, value: Any) -> Constraint:
        """The constraint with another value of a parameter."""
        raise KeyError(f"constraint {repr_in_message(self.name)} has no parameter {repr_in_message(kind)}")

    def _card_html(self) -> str:
        return card_html((self,))

    def _place(self) -> str:
        """The place of the constraint, for the table of a notebook."""
        return ""


C = TypeVar("C", bound=Constraint)


class ConstraintSet(tuple[C, ...], Displayed):
    """Constraints as a tuple that a notebook shows as a table; algorithms take any tuple of constraints alike.

        feet = od.ConstraintSet([od.Contact("l_foot"), od.Contact("r_foot")])

    Sums of sets, and of sets and tuples, are sets. TypeError for members that are no constraints.

    >>> len(od.ConstraintSet([od.Contact("tip", axes="x"), od.LockedJoint("joint1")]))
    2
    """

    def __new__(cls, members: Iterable[C] = ()) -> ConstraintSet[C]:
        empty = isinstance(members, (tuple, list)) and not members
        checked: Any = () if empty else as_set(members)
        return super().__new__(cls, checked)

    def __add__(self, other: Any) -> Any:
        return ConstraintSet((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return ConstraintSet((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def _card_html(self) -> str:
        return card_html(self)


Constraints = Sequence[Constraint]


@checks_arguments()
def constraint_position(model: Model, constraints: Constraints, q: M | Numbers, *, t: Any = None) -> M:
    """phi(q) (m): position-level error of every constraint, stacked [m; sine of an angle]. t: time [s].

    >>> pin = od.Contact("tip", axes="xz", reference=(np.eye(3), (0.0, 0.0, -0.9)))
    >>> od.constraint_position(rod, [pin], [0.0])  # 0.1 m too low
    DM([0, -0.1])
    """
    return as_type(ca.vertcat(*(c.position(model, q) for c in as_set(constraints, t))), q)


@checks_arguments()
def constraint_jacobian(model: Model, constraints: Constraints, q: M | Numbers, *, t: Any = None) -> M:
    """G(q) (m x nv): `G qd` is the velocity along every row; zero outside supporting paths [F16, eqs. 5 and 6].

    >>> od.constraint_jacobian(arm, [od.Contact("tip", axes="xz")], [0.0, 0.0])
    DM(
    [[-2, -1],
     [0, 0]])
    """
    return as_type(ca.vertcat(*(c.jacobian(model, q) for c in as_set(constraints, t))), q)


@checks_arguments()
def constraint_hessian(model: Model, constraints: Constraints, q: M | Numbers, qd: M | Numbers, *, t: Any = None) -> M:
    """gamma(q, qd) = -(dG/dt) qd (m): the right-hand side of `G qdd = gamma` [F16, eqs. 60, 61].

    Constraints on time add -(d/dt)(dphi/dt at fixed q); `Baumgarte` constraints add their stabilization.

    >>> od.constraint_hessian(rod, [od.Contact("tip", axes="z")], [0.0], [2.0])  # -l qd^2
    DM(-4)
    """
    return as_type(ca.vertcat(*(c.hessian(model, q, qd) for c in as_set(constraints, t))), q)


@checks_arguments()
def constraint_velocity(model: Model, constraints: Constraints, q: M | Numbers, qd: M | Numbers, *, t: Any = None) -> M:
    """Velocity error of every row (m): `G qd`, plus dphi/dt at fixed q for constraints on time [m/s, rad/s].

    >>> od.constraint_velocity(rod, [od.Contact("tip", axes="xz")], [0.0], [2.0])
    DM([-2, 0])
    """
    return as_type(ca.vertcat(*(c.velocity(model, q, qd) for c in as_set(constraints, t))), q)


@checks_arguments()
def constraint_magnitudes(model: Model, constraints: Constraints, q: M | Numbers, *, t: Any = None) -> M:
    """The sizes of the terms that add up to each entry of G, before they cancel (m x nv).

    The rounding errors of G are in proportion to these sizes. A row whose terms cancel is zero up to rounding and
    constrains nothing; an example is the row of a planar loop normal to its plane.

    >>> od.constraint_magnitudes(rod, [od.Contact("tip", axes="x")], [0.0])
    DM(1)
    """
    return as_type(ca.vertcat(*(c.magnitudes(model, q) for c in as_set(constraints, t))), q)


def constraint_rows(constraints: Constraints) -> tuple[str, ...]:
    """A name for every row of phi, G, gamma, lam.

    >>> od.constraint_rows([od.Contact("tip", axes="xz"), od.LockedJoint("joint1")])
    ('tip.tx', 'tip.tz', 'joint1')
    """
    return tuple(row for c in as_set(constraints) for row in c.rows)


def as_set(constraints: Any, t: Any = None) -> tuple[Constraint, ...]:
    """A constraint set as a tuple; one constraint alone is a set too. With t, all of them at that time."""
    if isinstance(constraints, Constraint) or derive(constraints, (Constraint,)):
        constraints = (constraints,)
    members = tuple(sequence(constraints, "constraints must be a tuple of constraints such as Contact"))
    for each in members:
        if not isinstance(each, Constraint):
            raise TypeError(
                f"constraints must be a tuple of constraints such as Contact, got {repr_in_message(each)} in it"
                f"{derive(each, (Constraint,))}"
            )
    if not members:
        raise ValueError("the constraint set is empty: use forward_dynamics for an unconstrained model")
    return members if t is None else tuple(each.at_time(t) for each in members)


def replace_fields(constraint: C, **fields: Any) -> C:
    """A copy with other fields; numbers are checked by the constructor, expressions are checked for their size only."""
    if not any(isinstance(x, (SX, MX)) for value in fields.values() for x in (value, *_entries(value))):
        return replace(constraint, **fields)  # type: ignore[type-var]
    made = copy(constraint)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def _entries(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def card_html(constraints: Sequence[Constraint]) -> str:
    """A table of constraints as HTML: what each one holds, where, and its rows."""
    count = sum(len(c.rows) for c in constraints)
    names = constraint_names(constraints) if constraints else ()
    rows = [
        (name, type(c).__name__, c._place(), " ".join(row.removeprefix(f"{c.name}.") for row in c.rows))
        for name, c in zip(names, constraints, strict=True)
    ]
    what = "1 constraint" if len(rows) == 1 else f"{len(rows)} constraints"
    return heading("", f"{what}, {count} rows") + table(("name", "kind", "at", "rows"), rows)


def constraint_names(constraints: Constraints) -> tuple[str, ...]:
    """A name per constraint: its `name` (else its class), numbered from the second of that name: `foot`, `foot#2`.

    >>> od.constraint_names([od.Contact("tip", axes="x"), od.Contact("tip", axes="z")])
    ('tip', 'tip#2')
    """
    names: list[str] = []
    count: dict[str, int] = {}
    for constraint in as_set(constraints):
        name = constraint.name
        count[name] = count.get(name, 0) + 1
        names.append(name if count[name] == 1 else f"{name}#{count[name]}")
    return tuple(names)


def split_forces(constraints: Constraints, lam: M) -> dict[str, M]:
    """lam (or Lam) cut by constraint: {name: its rows}, names as in `constraint_names`.

    >>> feet = [od.Contact("tip", axes="xz"), od.LockedJoint("joint1")]
    >>> od.split_forces(feet, ca.DM([1.0, 2.0, 3.0]))
    {'tip': DM([1, 2]), 'joint1': DM(3)}
    """
    members = as_set(constraints)
    sizes = [len(c.rows) for c in members]
    lam = matrix(lam, "lam")
    if lam.shape[0] != sum(sizes):
        rows = f"{sum(sizes)} rows ({names_in_message(constraint_rows(members), 6)})"
        raise ValueError(f"lam must have {rows}, got shape {lam.shape}")
    cuts = [0]
    for size in sizes:
        cuts.append(cuts[-1] + size)
    parts: Any = ca.vertsplit(lam, cuts)
    return dict(zip(constraint_names(members), parts, strict=True))


@checks_arguments()
def constraint_wrenches(
    model: Model, constraints: Constraints, q: M | Numbers, lam: M | Numbers, *, t: Any = None
) -> dict[str, M]:
    """Wrenches of the constraint forces lam on bodies: {frame: [moment about the world origin; force]}, world axes.

    Wrenches of several constraints on a frame are added. Each can be a column of `f_ext`, its frame in
    `Loads.external`. For impulses Lam the result is impulsive wrenches. ValueError for a constraint that acts on joint
    coordinates only: it has no wrench.

    >>> od.constraint_wrenches(rod, [od.Contact("tip", axes="x")], [0.0], [2.0])  # 2 N, 1 m below the origin
    {'tip': DM([00, -2, 00, 2, 00, 00])}
    """
    forces_of_rows: M = matrix(lam, "lam")
    if forces_of_rows.shape[1] != 1:
        raise ValueError(f"lam must be one column, got shape {forces_of_rows.shape}: call it for one column at a time")
    check_kind(q, forces_of_rows)
    wrenches: dict[str, M] = {}
    forces = split_forces(constraints, forces_of_rows)
    for force, constraint in zip(forces.values(), as_set(constraints, t), strict=True):
        for frame, wrench in constraint.wrenches(model, q, force).items():
            wrenches[frame] = wrenches[frame] + wrench if frame in wrenches else as_type(wrench, q)
    return wrenches
