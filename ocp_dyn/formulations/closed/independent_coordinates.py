"""Independent coordinates of closed chains: a pivoted choice, the transformation R2, the position problem
[GJB94, 8.3 c].

The closing conditions Phi_z zd = 0 leave f2 of the f1 velocities z-dot of the open chain free. Some of these are chosen
as independent; with B the rows of the unit matrix that pick them,

    [Phi_z; B] zdd = [c2; zdd_i],     zdd = S2 c2 + R2 zdd_i,     zd = R2 zd_i.                     (8.118, 8.119)

The choice is made once, from numbers at one position, by Gaussian elimination with total pivoting: the pivots are the
dependent coordinates, and conditions without a pivot repeat others and are dropped. It is good in a neighborhood of
that position, until a pivot vanishes. Algorithms take it as a static argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from ..._base import checks as arguments
from ..._base.types import (
    Array,
    Expr,
    M,
    Numbers,
    as_type,
    cast_to_matrix,
    check_kind,
    is_one_of,
    names_in_message,
    repr_in_message,
    sequence,
    suggestion,
)
from ...constrained_motion import AssemblyError
from ...constraints import Constraints
from ...constraints.sets import constraint_rows
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments, column_of_numbers
from ...spatial_algebra.linalg import LU
from ..cut_joints import closing_rows
from .conditions import ASSEMBLED, STEP, SUDDEN, Conditions, EliminationPivots, ScaledConditions, eliminate


class SingularPositionError(ValueError):
    """At this position the closing conditions are of lower rank than near it; `pivot` is the smallest pivot there.

    >>> bar = od.models.n_four_bar(1)
    >>> flat = [np.pi / 2, -np.pi / 2, np.pi / 2]  # on one line: the cranks may turn alike or against each other
    >>> od.formulations.independent_coordinates(bar.model, bar.loops, flat)
    Traceback (most recent call last):
        ...
    ocp_dyn.formulations.closed.independent_coordinates.SingularPositionError: q is a singular position ...
    """

    def __init__(self, message: str, pivot: float) -> None:
        super().__init__(message)
        self.pivot = pivot


@dataclass(frozen=True)
class IndependentCoordinates:
    """A choice of independent coordinates of closed chains.

    dofs: names of all entries of qd; conditions: names of all rows of the loops. independent: indices of the chosen
    dofs, ascending; dependent, rows: indices of the other dofs and of the conditions that determine them, in the order
    of their pivots. pivot: the smallest pivot, relative to the terms of its row; near zero close to a singular
        position.

    >>> bar = od.models.n_four_bar(1)
    >>> print(od.formulations.independent_coordinates(bar.model, bar.loops, bar.q))
    1 independent of 3 coordinates: A0_hinge
      A1_hinge by B1_hinge.tx
      B0_hinge by B1_hinge.tz
    smallest pivot 1
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


@checks_arguments(own=("q",))
def independent_coordinates(
    model: Model, constraints: Constraints, q: Any, *, prefer: str | Sequence[str] = ()
) -> IndependentCoordinates:
    """A choice of independent coordinates at the assembled position q (nq, numbers), by total pivoting on Phi_z.

    Rows are scaled by the sizes of their terms, and so are columns, so that radians and meters weigh alike. prefer:
    joints or entries of qd that shall be independent if this leaves pivots of ordinary size; the first of them first.

    AssemblyError where q does not close the loops; SingularPositionError where Phi_z has a lower rank at q than at
    assembled positions near it (a dead center, a change point); ValueError for a mechanism that is locked, with no
    coordinate left. All name the loops. Cost: some evaluations of Phi_z.

    >>> bar = od.models.n_four_bar(1)
    >>> od.formulations.independent_coordinates(bar.model, bar.loops, bar.q).names
    ('A0_hinge',)
    """
    conditions = Conditions.of(model, constraints)
    at = column_of_numbers(q, model.nq, "q", model.q_names)
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


def _check_singular(conditions: Conditions, q: DM, here: ScaledConditions, found: EliminationPivots) -> None:
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
                f"motion of {names_in_message([model.qd_names[k] for k in lost])} does not follow from the other "
                "coordinates. Choose the coordinates at another position, or take method='penalty' or the augmented "
                "Lagrangian form",
                pivot,
            )


def _preferred(model: Model, prefer: str | Sequence[str]) -> list[int]:
    """Indices of the preferred dofs."""
    found: list[int] = []
    for name in [prefer] if isinstance(prefer, str) else sequence(prefer, "prefer must be names of joints or dofs"):
        if is_one_of(name, model.joint_names):
            dofs = model.qd_slice(name)
            found += range(dofs.start, dofs.stop)
        elif is_one_of(name, model.qd_names):
            found.append(model.qd_names.index(name))
        else:
            known = dict.fromkeys((*model.joint_names, *model.qd_names))
            raise KeyError(
                f"prefer: no joint or dof {repr_in_message(name)}; dofs are: "
                f"{names_in_message(model.qd_names)}{suggestion(name, known)}"
            )
    return list(dict.fromkeys(found))


# The transformation


@checks_arguments()
def independent_transformation(
    model: Model, constraints: Constraints, q: M | Numbers, independent: IndependentCoordinates
) -> tuple[M, M]:
    """(R2, S2) of `zdd = S2 c2 + R2 zdd_i`, `zd = R2 zd_i` [GJB94, 8.119], for the chosen coordinates.

    R2 (nv x f2), with unit rows at the independent coordinates; S2 (nv x m), zero for conditions that repeat others.
    Phi_z R2 = 0 and Phi_z S2 = 1 for the kept conditions. At a position that is singular for this choice inf or nan.
    O((nv - f2)^2 nv).

    >>> bar = od.models.n_four_bar(1)
    >>> chosen = od.formulations.independent_coordinates(bar.model, bar.loops, bar.q)
    >>> od.formulations.independent_transformation(bar.model, bar.loops, bar.q, chosen)[0]  # both cranks turn alike
    DM([1, -1, 1])
    """
    Phi_z = closing_rows(model, constraints, q, model.rest(q)).Phi_z
    return Transformation.of(model, constraints, Phi_z, independent).matrices(cast_to_matrix(q))


@checks_arguments(own=("qd",))
def dependent_qd(
    model: Model, constraints: Constraints, q: M | Numbers, qd: M | Numbers, independent: IndependentCoordinates
) -> M:
    """All velocities R2 zd_i (nv) from those of the independent coordinates, qd (f2) in the order of `names`.

    >>> bar = od.models.n_four_bar(1)
    >>> chosen = od.formulations.independent_coordinates(bar.model, bar.loops, bar.q)
    >>> od.formulations.dependent_qd(bar.model, bar.loops, bar.q, [2.0], chosen)
    DM([2, -2, 2])
    """
    choice = checked_choice(model, constraints, independent)
    rates = model.column(
        qd, len(choice.names), f"qd, the velocities of {names_in_message(choice.names)},", choice.names
    )
    check_kind(q, rates)
    R2, _ = independent_transformation(model, constraints, q, choice)
    return as_type(R2 @ rates, q)


@checks_arguments(own=("q",))
def dependent_q(
    model: Model, constraints: Constraints, q: Any, independent: IndependentCoordinates, *, iterations: int = 50
) -> Array:
    """The q (nq) that closes the loops, with the independent coordinates of the given one [GJB94, 8.3].

    Newton's method for Phi(q) = 0 along the dependent dofs, from q (numbers), by least squares where rows repeat
    others. AssemblyError, with the loop and its residual, where they do not close.

    >>> bar = od.models.n_four_bar(1)
    >>> chosen = od.formulations.independent_coordinates(bar.model, bar.loops, bar.q)
    >>> q = bar.q + 0.1 * np.eye(3)[chosen.independent[0]]
    >>> od.formulations.dependent_q(bar.model, bar.loops, q, chosen).round(6).tolist()
    [0.1, -0.1, 0.1]
    """
    iterations = arguments.whole(iterations, "dependent_q: iterations", 1)
    conditions = Conditions.of(model, constraints)
    choice = checked_choice(model, constraints, independent)
    found, _ = conditions.closed(column_of_numbers(q, model.nq, "q", model.q_names), choice.dependent, iterations)
    phi, row = np.abs(conditions.position(found)), conditions.scaled(found).row
    k = int(np.argmax(phi / row))
    best = np.array(found.full()).ravel()
    if not phi[k] <= ASSEMBLED * row[k]:
        raise AssemblyError(
            f"{conditions.loops([k])} does not close with {names_in_message(choice.names)} held: after {iterations} "
            f"steps the error of {conditions.rows[k]} is {phi[k]:.3g} [m, sine]. Start nearer, choose other "
            "independent coordinates, or check that the mechanism reaches this position",
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
        raise TypeError(
            f"independent must be a choice of independent coordinates, got {repr_in_message(independent)}: {remedy}"
        )
    if (independent.dofs, independent.conditions) != (model.qd_names, constraint_rows(constraints)):
        raise ValueError(
            f"independent coordinates {names_in_message(independent.names)} were chosen for another model or other "
            f"loops: {remedy}"
        )
    return independent
