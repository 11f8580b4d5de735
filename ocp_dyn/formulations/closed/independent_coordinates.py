"""Independent coordinates of closed chains: a pivoted choice, the transformation R2, the position problem [GJB94, 8.3 c].

The closing conditions Phi_z zd = 0 leave f2 of the f1 velocities z-dot of the open chain free. Some of these are chosen
as independent; with B the rows of the unit matrix that pick them,

    [Phi_z; B] zdd = [c2; zdd_i],     zdd = S2 c2 + R2 zdd_i,     zd = R2 zd_i.                     (8.118, 8.119)

The choice is made once, from numbers at one position, by Gaussian elimination with total pivoting: the pivots are the
dependent coordinates, and conditions without a pivot repeat others and are dropped. It is good in a neighborhood of that
position, until a pivot vanishes. Algorithms take it as a static argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM
from numpy.typing import NDArray

from ... import _arguments as arguments
from ..._autodiff import as_function
from ..._types import Array, Expr, M, ModelError, as_type, check_kind, listed, meant, sequence, shown
from ...constrained_motion import AssemblyError
from ...constrained_motion.reflections import DEPENDENT
from ...constraints import Constraints, as_set, constraint_magnitudes, constraint_names, constraint_position
from ...constraints.sets import constraint_rows
from ...mechanism import Model
from ...mechanism.boundary import boundary, column_of_numbers
from ...spatial_algebra.linalg import LU
from ..cut_joints import closing_rows

STEP = 0.02
"""Size of the steps to neighbors of a position, in rad or in lengths of the mechanism."""
SUDDEN = 1e-3
"""Ratio of the smallest pivots at a position and near it below which the position counts as singular."""
ASSEMBLED = 1e-9
"""Largest error of a closed joint, relative to the terms of its row, at which a position counts as assembled."""


class SingularPositionError(ValueError):
    """At this position the closing conditions are of lower rank than near it; `pivot` is the smallest pivot there."""

    def __init__(self, message: str, pivot: float) -> None:
        super().__init__(message)
        self.pivot = pivot


@dataclass(frozen=True)
class IndependentCoordinates:
    """A choice of independent coordinates of closed chains.

    dofs: names of all entries of qd; conditions: names of all rows of the loops. independent: indices of the chosen
    dofs, ascending; dependent, rows: indices of the other dofs and of the conditions that determine them, in the order
    of their pivots. pivot: the smallest pivot, relative to the terms of its row; near zero close to a singular position.
    """

    dofs: tuple[str, ...]
    conditions: tuple[str, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]
    pivot: float

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the independent dofs."""
        return tuple(self.dofs[k] for k in self.independent)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the conditions that repeat others."""
        return tuple(name for k, name in enumerate(self.conditions) if k not in self.rows)

    def __str__(self) -> str:
        lines = [f"{len(self.independent)} independent of {len(self.dofs)} coordinates: {', '.join(self.names)}"]
        pairs = zip(self.dependent, self.rows, strict=True)
        lines += [f"  {self.dofs[k]} by {self.conditions[row]}" for k, row in pairs]
        if self.dropped:
            lines.append(f"conditions that repeat others: {', '.join(self.dropped)}")
        return "\n".join([*lines, f"smallest pivot {self.pivot:.2g}"])


# The choice


@boundary(own=("q",))
def independent_coordinates(
    model: Model, constraints: Constraints, q: Any, *, prefer: str | Sequence[str] = ()
) -> IndependentCoordinates:
    """A choice of independent coordinates at the assembled position q (nq, numbers), by total pivoting on Phi_z.

    Rows are scaled by the sizes of their terms, and so are columns, so that radians and meters weigh alike. prefer:
    joints or entries of qd that shall be independent if this leaves pivots of ordinary size; the first of them first.

    AssemblyError where q does not close the loops; SingularPositionError where Phi_z has a lower rank at q than at
    assembled positions near it (a dead center, a change point); ValueError for a mechanism that is locked, with no
    coordinate left. All name the loops. Cost: some evaluations of Phi_z.
    """
    conditions = Conditions.of(model, constraints)
    at = column_of_numbers(q, model.nq, "q")
    late = _preferred(model, prefer)
    here = conditions.scaled(at)
    conditions.check_assembled(at, here)
    found = eliminate(here.A, late)
    if len(found.rows) == model.nv:
        raise ValueError(
            f"the mechanism is locked: none of its {model.nv} coordinates is free with {conditions.loops()} (rank "
            f"{model.nv} of {len(conditions.rows)} rows). Check axes and lengths, or free a joint"
        )
    _check_singular(conditions, at, here, found)
    independent = tuple(k for k in range(model.nv) if k not in found.columns)
    return IndependentCoordinates(
        model.qd_names, conditions.rows, independent, tuple(found.columns), tuple(found.rows), found.pivot
    )


class _Scaled(NamedTuple):
    """Phi_z with rows and columns scaled to entries of about 1: Phi_z[i, j] = A[i, j] row[i] column[j]."""

    A: Array
    row: Array
    column: Array


class Pivots(NamedTuple):
    """Rows and columns of the pivots, in order, and the smallest of them (1 if there is none)."""

    rows: list[int]
    columns: list[int]
    pivot: float


@dataclass(frozen=True)
class Conditions:
    """Phi and Phi_z of closed chains, in numbers."""

    model: Model
    constraints: tuple[Any, ...]
    rows: tuple[str, ...]
    evaluate: ca.Function

    @staticmethod
    def of(model: Model, constraints: Constraints) -> Conditions:
        if model.has_symbols:
            raise ModelError("independent coordinates are chosen from numbers, and this model holds symbols")
        members = as_set(constraints)

        def terms(q: Expr) -> tuple[Expr, Expr, Expr]:
            Phi_z = closing_rows(model, members, q, model.rest(q)).Phi_z
            return constraint_position(model, members, q), Phi_z, constraint_magnitudes(model, members, q)

        return Conditions(model, members, constraint_rows(members), as_function(terms, model.nq))

    def loops(self, rows: Sequence[int] | None = None) -> str:
        """Names of the loops, or of those that hold some of the rows, for a message."""
        of_row = [
            name for name, c in zip(constraint_names(self.constraints), self.constraints, strict=True) for _ in c.rows
        ]
        named = list(dict.fromkeys(of_row if rows is None else [of_row[k] for k in rows]))
        return f"loop{'s' if len(named) > 1 else ''} {', '.join(map(repr, named))}"

    def position(self, q: DM) -> Array:
        return np.array(self.evaluate(q)[0].full()).ravel()

    def scaled(self, q: DM) -> _Scaled:
        Phi_z, size = (np.array(x.full()) for x in self.evaluate(q)[1:])
        if not np.all(np.isfinite(Phi_z)):
            raise ValueError("the constraints are not finite at this configuration: a quaternion must not be zero")
        unit = np.where(self.model.lengths[1], _length(size, self.model.lengths[1]), 1.0)
        row = _or_one((size * unit).max(axis=1, initial=0.0))
        column = _or_one((size / row[:, None]).max(axis=0, initial=0.0))
        return _Scaled(Phi_z / np.outer(row, column), row, column)

    def check_assembled(self, q: DM, here: _Scaled) -> None:
        """AssemblyError unless the loops are closed at q."""
        phi = self.position(q)
        k = int(np.argmax(np.abs(phi) / here.row))
        if not abs(phi[k]) <= ASSEMBLED * here.row[k]:
            raise AssemblyError(
                f"{self.loops([k])} is open at q: the error of {self.rows[k]} is {abs(phi[k]):.3g} [m, sine]. Close it "
                "by od.assemble_q(model, loops, q), or by od.formulations.dependent_q",
                np.array(q.full()).ravel(),
                float(abs(phi[k])),
            )

    def closed(self, q: DM, free: Sequence[int], iterations: int = 50) -> tuple[DM, float]:
        """(q, error) after Newton's method for Phi = 0 along the free dofs; error relative to the terms of the rows."""
        free, best, least = list(free), q, np.inf
        for _ in range(iterations):
            here = self.scaled(q)
            phi = self.position(q) / here.row
            error = float(np.max(np.abs(phi), initial=0.0))
            if error >= least and least < ASSEMBLED:
                break
            if error < least:
                best, least = q, error
            step = np.zeros(self.model.nv)
            step[free] = -np.linalg.lstsq(here.A[:, free], phi, rcond=DEPENDENT)[0] / here.column[free]
            q = self.model.integrate(q, DM(step / max(1.0, np.abs(step * here.column).max())))
        return best, least

    def neighbors(self, q: DM, here: _Scaled, count: int = 4) -> Iterator[DM]:
        """Assembled positions at a distance of `STEP` from q, in random directions that the loops leave free."""
        _, s, V = np.linalg.svd(here.A, full_matrices=True)
        free = V[int(np.sum(s > DEPENDENT)) :]
        rng = np.random.default_rng(0)
        for _ in range(count):
            way = rng.normal(size=len(free)) @ free
            step = DM(STEP * way / max(np.abs(way).max(initial=0.0), 1e-9) / here.column)
            near, error = self.closed(self.model.integrate(q, step), range(self.model.nv))
            if error <= ASSEMBLED:
                yield near


def _length(size: Array, translations: NDArray[np.bool_]) -> float:
    """A length of the mechanism: the largest ratio of an angle's part in a row to a translation's, 1 where no row has
    both."""
    turning, sliding = size[:, ~translations].max(axis=1, initial=0.0), size[:, translations].max(axis=1, initial=0.0)
    both = (turning > 0) & (sliding > 0)
    return float((turning[both] / sliding[both]).max(initial=0.0)) or 1.0


def _or_one(sizes: Array) -> Array:
    """Sizes to divide by: 1 in place of 0."""
    return np.asarray(np.where(sizes > 0, sizes, 1.0))


def eliminate(A: Array, late: Sequence[int] = ()) -> Pivots:
    """Gaussian elimination with total pivoting, until all that is left is below `DEPENDENT`.

    late: columns that are taken only if all others leave pivots a thousand times smaller; the last of them first.
    """
    A, pivot = A.copy(), 1.0
    rows: list[int] = []
    columns: list[int] = []
    order = [k for k in range(A.shape[1]) if k not in late]
    waiting = list(late)
    while len(rows) < min(A.shape):
        left = np.abs(A)
        left[rows, :] = left[:, columns] = 0.0
        largest = left.max(initial=0.0)
        if largest < DEPENDENT:
            break
        while waiting and left[:, order].max(initial=0.0) < SUDDEN * largest:
            order.append(waiting.pop())
        i, place = np.unravel_index(np.argmax(left[:, order]), (A.shape[0], len(order)))
        j = order[int(place)]
        pivot = min(pivot, float(left[i, j]))
        others = [k for k in range(A.shape[0]) if k not in rows and k != i]
        A[others, :] -= np.outer(A[others, j] / A[i, j], A[i, :])
        rows.append(int(i))
        columns.append(j)
    return Pivots(rows, columns, pivot)


def _check_singular(conditions: Conditions, q: DM, here: _Scaled, found: Pivots) -> None:
    """SingularPositionError if the rank rises, or the smallest pivot grows suddenly, at assembled positions near q."""
    model = conditions.model
    for near in conditions.neighbors(q, here):
        other = eliminate(conditions.scaled(near).A)
        if len(other.rows) < len(found.rows):
            continue
        if len(other.rows) > len(found.rows) or found.pivot < SUDDEN * other.pivot:
            lost = [k for k in other.columns if k not in found.columns] or found.columns[-1:]
            rows = [k for k in other.rows if k not in found.rows] or found.rows[-1:]
            rank, pivot = len(found.rows), found.pivot if len(other.rows) == len(found.rows) else 0.0
            raise SingularPositionError(
                f"q is a singular position of {conditions.loops(rows)}: rank {rank} with a smallest pivot of "
                f"{pivot:.2g}, and rank {len(other.rows)} with {other.pivot:.2g} at a distance of {STEP:g}; here the "
                f"motion of {listed([model.qd_names[k] for k in lost])} does not follow from the other coordinates. "
                "Choose the coordinates at another position, or take method='penalty' or the augmented Lagrangian form",
                pivot,
            )


def _preferred(model: Model, prefer: str | Sequence[str]) -> list[int]:
    """Indices of the preferred dofs."""
    found: list[int] = []
    for name in [prefer] if isinstance(prefer, str) else sequence(prefer, "prefer must be names of joints or dofs"):
        if name in model.joint_names:
            dofs = model.qd_slice(name)
            found += range(dofs.start, dofs.stop)
        elif name in model.qd_names:
            found.append(model.qd_names.index(name))
        else:
            known = dict.fromkeys((*model.joint_names, *model.qd_names))
            raise KeyError(
                f"prefer: no joint or dof {shown(name)}; dofs are: {listed(model.qd_names)}{meant(name, known)}"
            )
    return list(dict.fromkeys(found))


# The transformation


@boundary()
def independent_transformation(
    model: Model, constraints: Constraints, q: M, independent: IndependentCoordinates
) -> tuple[M, M]:
    """(R2, S2) of `zdd = S2 c2 + R2 zdd_i`, `zd = R2 zd_i` [GJB94, 8.119], for the chosen coordinates.

    R2 (nv x f2), with unit rows at the independent coordinates; S2 (nv x m), zero for conditions that repeat others.
    Phi_z R2 = 0 and Phi_z S2 = 1 for the kept conditions. At a position that is singular for this choice inf or nan.
    O((nv - f2)^2 nv).
    """
    Phi_z = closing_rows(model, constraints, q, model.rest(q)).Phi_z
    return Transformation.of(model, constraints, Phi_z, independent).matrices(q)


@boundary(own=("qd",))
def dependent_qd(model: Model, constraints: Constraints, q: M, qd: M, independent: IndependentCoordinates) -> M:
    """All velocities R2 zd_i (nv) from those of the independent coordinates, qd (f2) in the order of `names`."""
    choice = checked_choice(model, constraints, independent)
    rates = model.column(qd, len(choice.names), f"qd, the velocities of {listed(choice.names)},")
    check_kind(q, rates)
    R2, _ = independent_transformation(model, constraints, q, choice)
    return as_type(R2 @ rates, q)


@boundary(own=("q",))
def dependent_q(
    model: Model, constraints: Constraints, q: Any, independent: IndependentCoordinates, *, iterations: int = 50
) -> Array:
    """The q (nq) that closes the loops, with the independent coordinates of the given one [GJB94, 8.3].

    Newton's method for Phi(q) = 0 along the dependent dofs, from q (numbers), by least squares where rows repeat others.
    AssemblyError, with the loop and its residual, where they do not close.
    """
    iterations = arguments.whole(iterations, "dependent_q: iterations", 1)
    conditions = Conditions.of(model, constraints)
    choice = checked_choice(model, constraints, independent)
    found, _ = conditions.closed(column_of_numbers(q, model.nq, "q"), choice.dependent, iterations)
    phi, row = np.abs(conditions.position(found)), conditions.scaled(found).row
    k = int(np.argmax(phi / row))
    best = np.array(found.full()).ravel()
    if not phi[k] <= ASSEMBLED * row[k]:
        raise AssemblyError(
            f"{conditions.loops([k])} does not close with {listed(choice.names)} held: after {iterations} steps the "
            f"error of {conditions.rows[k]} is {phi[k]:.3g} [m, sine]. Start nearer, choose other independent "
            "coordinates, or check that the mechanism reaches this position",
            best,
            float(phi[k]),
        )
    return best


class Transformation(NamedTuple):
    """Factor of the kept rows of Phi_z by the dependent coordinates, and their columns for the independent ones."""

    choice: IndependentCoordinates
    factor: LU
    free: Expr

    @staticmethod
    def of(model: Model, constraints: Constraints, Phi_z: Expr, independent: Any) -> Transformation:
        choice = checked_choice(model, constraints, independent)
        kept = Phi_z[list(choice.rows), :]
        return Transformation(choice, LU.of(kept[:, list(choice.dependent)]), kept[:, list(choice.independent)])

    def matrices(self, q: M) -> tuple[M, M]:
        """(R2, S2)."""
        choice = self.choice
        n, r, f = len(choice.dofs), len(choice.rows), len(choice.independent)
        R2, S2 = type(q)(n, f), type(q)(n, len(choice.conditions))
        if r:
            R2[list(choice.dependent), :] = -self.factor.solve(self.free)
            S2[list(choice.dependent), list(choice.rows)] = self.factor.solve(type(q)(DM.eye(r)))
        R2[list(choice.independent), :] = DM.eye(f)
        return R2, S2

    def forces(self, b: Expr) -> Expr:
        """lam (m) with `Phi_z' lam = b` (nv); zero for dropped conditions."""
        lam = type(b)(len(self.choice.conditions), 1)
        lam[list(self.choice.rows), 0] = self.factor.solve_transposed(b[list(self.choice.dependent)])
        return lam


def checked_choice(model: Model, constraints: Constraints, independent: Any) -> IndependentCoordinates:
    """The choice of independent coordinates, if it is one for this model and these loops."""
    remedy = "choose them by od.formulations.independent_coordinates(model, loops, q, prefer=names)"
    if not isinstance(independent, IndependentCoordinates):
        raise TypeError(f"independent must be a choice of independent coordinates, got {shown(independent)}: {remedy}")
    if (independent.dofs, independent.conditions) != (model.qd_names, constraint_rows(constraints)):
        raise ValueError(
            f"independent coordinates {listed(independent.names)} were chosen for another model or other loops: {remedy}"
        )
    return independent
