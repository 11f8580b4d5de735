"""Closing conditions of closed chains in numbers: their scales, positions that keep them, elimination with pivots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM
from numpy.typing import NDArray

from ..._base.autodiff import as_function
from ..._base.types import Array, Expr, ModelError
from ...constrained_motion import AssemblyError
from ...constrained_motion.independent_rows import DEPENDENT
from ...constraints import Constraints, as_set, constraint_magnitudes, constraint_names, constraint_position
from ...constraints.sets import constraint_rows
from ...mechanism import Model
from ..cut_joints import closing_rows

STEP = 0.02
"""Size of the steps to neighbors of a position, in rad or in lengths of the mechanism."""
SUDDEN = 1e-3
"""Ratio of the smallest pivots at a position and near it below which the position counts as singular."""
ASSEMBLED = 1e-9
"""Largest error of a closed joint, relative to the terms of its row, at which a position counts as assembled."""


class ScaledConditions(NamedTuple):
    """Phi_z with rows and columns scaled to entries of about 1: Phi_z[i, j] = A[i, j] row[i] column[j]."""

    A: Array
    row: Array
    column: Array


class EliminationPivots(NamedTuple):
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

    def scaled(self, q: DM) -> ScaledConditions:
        Phi_z, size = (np.array(x.full()) for x in self.evaluate(q)[1:])
        if not np.all(np.isfinite(Phi_z)):
            raise ValueError("the constraints are not finite at this configuration: a quaternion must not be zero")
        unit = np.where(self.model.lengths[1], _length(size, self.model.lengths[1]), 1.0)
        row = _or_one((size * unit).max(axis=1, initial=0.0))
        column = _or_one((size / row[:, None]).max(axis=0, initial=0.0))
        return ScaledConditions(Phi_z / np.outer(row, column), row, column)

    def check_assembled(self, q: DM, here: ScaledConditions) -> None:
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

    def neighbors(self, q: DM, here: ScaledConditions) -> Iterator[DM]:
        """Four assembled positions at a distance of `STEP` from q, in random directions that the loops leave free."""
        _, s, V = np.linalg.svd(here.A, full_matrices=True)
        free = V[int(np.sum(s > DEPENDENT)) :]
        rng = np.random.default_rng(0)
        for _ in range(4):
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


def eliminate(A: Array, late: Sequence[int] = ()) -> EliminationPivots:
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
    return EliminationPivots(rows, columns, pivot)
