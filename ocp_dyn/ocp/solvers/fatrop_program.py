"""The functions of a program in the order of its chain of stages, in the form that FATROP needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ..._types import Array, Indices
from ..nlp.assembled import Assembled, Numeric, Stopped
from ..nlp.stage_orders import SharedStageOrder

See = Callable[[Array, float, Array, Array, Array], bool]
"""Function of an iterate (x, f, g, lam_x, lam_g); True if the solver is to stop."""


class FatropProgram:
    """The program in the order of its chain, with the functions that FATROP needs; Hessians are full, not halves.

    z: the variables of the chain. x: a point of the program, from which variables outside the chain keep their values.
    see: called with every iterate; after it has returned True, all evaluations fail.
    """

    def __init__(self, program: Assembled, order: SharedStageOrder, x: Array, see: See) -> None:
        self._program, self._chain, self._x, self._see = program, order, np.array(x), see
        self._stopped = False
        self._copied = order.rows < 0
        self._jacobian, self._jacobian_order = _jacobian(program, order)
        self._hessian, self._hessian_order = _hessian(program, order)
        self._row, self._column = (np.array(k, dtype=int) for k in self._jacobian.get_triplet())
        self.functions = self._functions()
        point = {"x": ca.MX.sym("x", order.columns.size), "p": ca.MX.sym("p", program.parameters)}
        f, g = self.functions["nlp_fg"].call([*point.values()])
        self.problem = point | {"f": f, "g": g}

    def entries(self, z: Array) -> Array:
        """The program's x for the chain's variables z."""
        self._x[self._chain.columns[self._chain.own]] = z[self._chain.own]
        return self._x

    def rows(self, values: Array) -> Array:
        """Values of the program's rows, from the values of the chain's rows."""
        of_program = np.zeros(self._program.row_lower.size)
        of_program[self._chain.rows[~self._copied]] = values[~self._copied]
        return of_program

    def _at(self, z: Array) -> Array:
        if self._stopped:
            raise Stopped
        return self.entries(z)

    def _f(self, z: list[Array]) -> float:
        return self._program.evaluator.objective(self._at(z[0]), z[1])

    def _g(self, z: list[Array]) -> Array:
        g = self._program.evaluator.constraints(self._at(z[0]), z[1])[self._chain.rows]
        g[self._copied] = z[0][self._chain.copies] - z[0][self._chain.source]
        return g

    def _gradient(self, z: list[Array]) -> Array:
        gradient = self._program.evaluator.gradient(self._at(z[0]), z[1])
        return np.where(self._chain.own, gradient[self._chain.columns], 0.0)

    def _slopes(self, z: list[Array]) -> Array:
        """Nonzeros of the Jacobian."""
        values = self._program.evaluator.jacobian(self._at(z[0]), z[1])
        return np.append(values, (1.0, -1.0))[self._jacobian_order]

    def _slope(self, z: list[Array]) -> Array:
        """Gradient of lam_f f + lam_g' g."""
        weighted = np.bincount(self._column, self._slopes(z) * z[3][self._row], self._chain.columns.size)
        return np.asarray(z[2][0] * self._gradient(z) + weighted)

    def _curvature(self, z: list[Array]) -> Array:
        """Nonzeros of the Hessian of lam_f f + lam_g' g."""
        lam = self.rows(z[3])
        x = self._at(z[0]).copy()
        e, p = self._program.evaluator, z[1]
        if self._see(x, e.objective(x, p), e.constraints(x, p).copy(), np.zeros(x.size), lam):
            self._stopped = True
        return e.hessian(self._at(z[0]), p, float(z[2][0]), lam)[self._hessian_order]

    def _functions(self) -> dict[str, Numeric]:
        dense, n, m = ca.Sparsity.dense, self._chain.columns.size, self._chain.rows.size
        point = {"x": dense(n, 1), "p": dense(self._program.parameters, 1)}
        weighted = point | {"lam_f": dense(1, 1), "lam_g": dense(m, 1)}
        f, g, gradient = (("f", dense(1, 1)), self._f), (("g", dense(m, 1)), self._g), dense(n, 1)
        slope = ("grad_gamma_x", gradient), self._slope
        nothing = ("grad_gamma_p", ca.Sparsity(*point["p"].shape)), lambda z: 0.0
        signatures: dict[str, tuple[dict[str, ca.Sparsity], list[Any]]] = {
            "nlp_fg": (point, [f, g]),
            "nlp_f": (point, [f]),
            "nlp_g": (point, [g]),
            "nlp_grad_f": (point, [(("grad_f_x", gradient), self._gradient)]),
            "nlp_jac_g": (point, [g, (("jac_g_x", self._jacobian), self._slopes)]),
            "nlp_grad": (weighted, [f, g, slope, nothing]),
            "nlp_hess_l": (weighted, [slope, (("hess_gamma_x_x", self._hessian), self._curvature)]),
        }
        return {name: _numeric(name, inputs, outputs) for name, (inputs, outputs) in signatures.items()}


def _jacobian(program: Assembled, chain: SharedStageOrder) -> tuple[ca.Sparsity, Indices]:
    """The pattern of the Jacobian in the order of the chain, and for every nonzero the index of the program's nonzero
    that it equals; the two indices past the last one stand for 1 and -1."""
    pattern = program.evaluator.jacobian_pattern
    row, column = (np.array(k, dtype=int) for k in pattern.get_triplet())
    kept = np.flatnonzero(chain.home[column] >= 0)
    position = np.full(program.row_lower.size, -1)
    position[chain.rows[chain.rows >= 0]] = np.flatnonzero(chain.rows >= 0)
    gaps, one = np.flatnonzero(chain.rows < 0), np.full(chain.source.size, pattern.nnz())
    rows = np.concatenate([position[row[kept]], gaps, gaps])
    columns = np.concatenate([chain.seen(column[kept], chain.at[row[kept]]), chain.copies, chain.source])
    return _pattern(rows, columns, np.concatenate([kept, one, one + 1]), (chain.rows.size, chain.columns.size))


def _hessian(program: Assembled, chain: SharedStageOrder) -> tuple[ca.Sparsity, Indices]:
    """The pattern of the symmetric Hessian in the order of the chain, and for every nonzero the index of the program's
    nonzero that it equals; a second derivative is assigned to the later of its two stages."""
    i, j = (np.array(k, dtype=int) for k in program.evaluator.hessian_pattern.get_triplet())
    kept = np.flatnonzero((chain.home[i] >= 0) & (chain.home[j] >= 0))
    stage = np.maximum(chain.home[i[kept]], chain.home[j[kept]])
    a, b = chain.seen(i[kept], stage), chain.seen(j[kept], stage)
    off_diagonal = a != b
    rows, columns = np.concatenate([a, b[off_diagonal]]), np.concatenate([b, a[off_diagonal]])
    n = chain.columns.size
    return _pattern(rows, columns, np.concatenate([kept, kept[off_diagonal]]), (n, n))


def _pattern(rows: Indices, columns: Indices, source: Indices, shape: tuple[int, int]) -> tuple[ca.Sparsity, Indices]:
    """A pattern, and the sources of its nonzeros in the order of the pattern."""
    order = np.lexsort((rows, columns))
    pattern = ca.Sparsity.triplet(*shape, rows[order].tolist(), columns[order].tolist())
    return pattern, source[order]


def _numeric(name: str, inputs: dict[str, ca.Sparsity], outputs: list[Any]) -> Numeric:
    """A CasADi Function; outputs: pairs of (name, pattern) and a function of the list of arguments."""
    patterns = dict(head for head, _ in outputs)
    return Numeric(name, inputs, patterns, lambda z: [partial(compute, z) for _, compute in outputs])
