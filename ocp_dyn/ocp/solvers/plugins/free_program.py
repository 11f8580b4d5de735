"""A program over its free variables, with its functions under the names that CasADi's `nlpsol` plugins ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ...._types import Array
from ...nlp.assembled import Assembled, Numeric, Stopped
from ...nlp.scatter import chosen_nonzeros
from ..interface import Start

Compute = Callable[[list[Array]], Any]
"""Computes one output from the list of arguments."""

Output = tuple[tuple[str, ca.Sparsity], Compute]
"""Name and pattern of an output, and its computation."""


class _Differentiable(Numeric):
    """A Function whose derivative along one direction is given."""

    def __init__(
        self, name: str, inputs: dict[str, ca.Sparsity], outputs: dict[str, ca.Sparsity], compute: Any, forward: Numeric
    ) -> None:
        self._forward = forward
        super().__init__(name, inputs, outputs, compute)

    def has_forward(self, directions: int) -> bool:
        return directions == 1

    def get_forward(self, directions: int, name: str, inputs: Any, outputs: Any, options: Any) -> ca.Function:
        return self._forward


class FreeProgram:
    """The program over z, the free entries of x; the fixed entries keep the values of the start.

    Most solvers treat a fixed entry as a constraint more. functions: f, g and derivatives as CasADi Functions, with the
    names and shapes under which a plugin looks for them in its option "cache": it then differentiates nothing itself.
    `stopped` is asked before every evaluation: if it is True, the evaluation fails.
    """

    def __init__(self, program: Assembled, start: Start, stopped: Callable[[], bool]) -> None:
        self._program, self._stopped = program, stopped
        self.free = np.flatnonzero(start.lower < start.upper)
        self._x = np.where(start.lower < start.upper, start.x, start.lower)
        e, m = program.evaluator, int(program.row_lower.size)
        self._jacobian, self._of_jacobian = chosen_nonzeros(e.jacobian_pattern, np.arange(m), self.free)
        self._hessian, self._of_hessian = chosen_nonzeros(e.hessian_pattern, self.free, self.free)
        self._row, self._column = (np.array(k, dtype=int) for k in self._jacobian.get_triplet())
        self._upper, self._lower = (np.array(k, dtype=int) for k in self._hessian.get_triplet())
        self._rows = m
        self._kept: tuple[list[Array], Array] | None = None
        self.functions = self._functions()
        point = {"x": ca.MX.sym("x", self.free.size), "p": ca.MX.sym("p", program.parameters)}
        f, g = self.functions["nlp_fg"].call([*point.values()])
        self.problem = point | {"f": f, "g": g}

    def entries(self, z: Array) -> Array:
        """The program's x for the free entries z, as a new array."""
        x = self._x.copy()
        x[self.free] = z
        return x

    def _at(self, z: Array) -> Array:
        if self._stopped():
            raise Stopped
        return self.entries(z)

    def _f(self, z: list[Array]) -> float:
        return self._program.evaluator.objective(self._at(z[0]), z[1])

    def _g(self, z: list[Array]) -> Array:
        return self._program.evaluator.constraints(self._at(z[0]), z[1])

    def _gradient(self, z: list[Array]) -> Array:
        return self._program.evaluator.gradient(self._at(z[0]), z[1])[self.free]

    def _slopes(self, z: list[Array]) -> Array:
        """Nonzeros of the Jacobian."""
        return self._program.evaluator.jacobian(self._at(z[0]), z[1])[self._of_jacobian]

    def _slope(self, z: list[Array]) -> Array:
        """Gradient of lam_f f + lam_g' g. Like the two below it is asked for once, at the result, also after a stop."""
        x, e = self.entries(z[0]), self._program.evaluator
        weighted = np.bincount(self._column, e.jacobian(x, z[1])[self._of_jacobian] * z[3][self._row], self.free.size)
        return np.asarray(z[2][0] * e.gradient(x, z[1])[self.free] + weighted)

    def _last_f(self, z: list[Array]) -> float:
        return self._program.evaluator.objective(self.entries(z[0]), z[1])

    def _last_g(self, z: list[Array]) -> Array:
        return self._program.evaluator.constraints(self.entries(z[0]), z[1])

    def _curvature(self, z: list[Array]) -> Array:
        """Nonzeros of the upper half of the Hessian of lam_f f + lam_g' g."""
        values = self._program.evaluator.hessian(self._at(z[0]), z[1], float(z[2][0]), z[3])
        return values[self._of_hessian]

    def _along(self, z: list[Array]) -> Array:
        """The Hessian times a direction, z[5]; a QP solver asks for many directions at one point."""
        at, direction = z[:4], z[5]
        if self._kept is None or not all(map(np.array_equal, at, self._kept[0])):
            self._kept = [a.copy() for a in at], self._curvature(z)
        elif self._stopped():
            raise Stopped
        values, n = self._kept[1], self.free.size
        product = np.bincount(self._upper, values * direction[self._lower], n)
        beside = np.where(self._upper == self._lower, 0.0, values) * direction[self._upper]
        return np.asarray(product + np.bincount(self._lower, beside, n))

    def _functions(self) -> dict[str, Numeric]:
        dense, n, m, parameters = ca.Sparsity.dense, self.free.size, self._rows, self._program.parameters
        point = {"x": dense(n, 1), "p": dense(parameters, 1)}
        weighted = point | {"lam_f": dense(1, 1), "lam_g": dense(m, 1)}
        direction = {f"fwd_{name}": pattern for name, pattern in weighted.items()}
        along = weighted | {"out_grad_gamma_x": ca.Sparsity(n, 1)} | direction
        f, g, gradient = ("f", dense(1, 1)), ("g", dense(m, 1)), ("grad_gamma_x", dense(n, 1))
        nothing: Output = ("grad_gamma_p", ca.Sparsity(parameters, 1)), lambda z: 0.0
        signatures: dict[str, tuple[dict[str, ca.Sparsity], list[Output]]] = {
            "nlp_fg": (point, [(f, self._f), (g, self._g)]),
            "nlp_f": (point, [(f, self._f)]),
            "nlp_g": (point, [(g, self._g)]),
            "nlp_grad_f": (point, [(("grad_f_x", dense(n, 1)), self._gradient)]),
            "nlp_jac_g": (point, [(("jac_g_x", self._jacobian), self._slopes)]),
            "nlp_grad": (weighted, [(f, self._last_f), (g, self._last_g), (gradient, self._slope), nothing]),
            "nlp_hess_l": (weighted, [(("triu_hess_gamma_x_x", self._hessian), self._curvature)]),
        }
        functions = {name: _numeric(name, inputs, outputs) for name, (inputs, outputs) in signatures.items()}
        forward = _numeric("fwd1_nlp_grad_l", along, [(("fwd_grad_gamma_x", dense(n, 1)), self._along)])
        functions["nlp_grad_l"] = _numeric("nlp_grad_l", weighted, [(gradient, self._slope)], forward)
        return functions


def _numeric(name: str, inputs: dict[str, ca.Sparsity], outputs: list[Output], *forward: Numeric) -> Numeric:
    """A CasADi Function; outputs: pairs of (name, pattern) and a function of the list of arguments."""
    patterns = dict(head for head, _ in outputs)
    kind: Any = _Differentiable if forward else Numeric
    made: Numeric = kind(name, inputs, patterns, lambda z: [partial(compute, z) for _, compute in outputs], *forward)
    return made
