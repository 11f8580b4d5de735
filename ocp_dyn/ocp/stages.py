"""A program as a chain of stages x0, u0, x1, u1, ..., as Riccati solvers want it, where it is one.

Stage k has the state x_k = (q_k, v_k), the controls u_k, the gaps x_{k+1} - F(x_k, u_k) and further rows of x_k, u_k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from .._types import Array, Indices
from .assembled import Assembled, Numeric, Stopped
from .layout import chosen_nonzeros, symmetric_nonzeros
from .nlp import Variable
from .phases import Continuous
from .variables import Transcription

See = Callable[[Array, float, Array, Array, Array], bool]

GAPS = ("position step", "velocity step")


@dataclass(frozen=True, eq=False)
class Chain:
    """columns: entries of x, stage by stage; rows: entries of g, gaps first in each stage; sizes per stage."""

    columns: Indices
    rows: Indices
    nx: list[int]
    nu: list[int]
    ng: list[int]

    @property
    def options(self) -> dict[str, Any]:
        """The sizes as CasADi's interfaces take them."""
        return {"N": len(self.nx) - 1, "nx": self.nx, "nu": self.nu, "ng": self.ng}


def chain(t: Transcription, program: Assembled) -> Chain:
    """The stages of a program. Raises ValueError that says what keeps it from being a chain."""
    states, controls = _variables(t)
    stage = np.full(program.n, -1)
    for k, members in enumerate([*zip(states, controls, strict=True)]):
        for variable in (*members[0], *members[1]):
            stage[variable.index] = k
    _check_shared(t, stage)
    column = np.concatenate([v.index for pair in zip(states, controls, strict=True) for part in pair for v in part])
    rows, ng = _rows(program, stage, len(states))
    nx = [sum(v.size for v in part) for part in states]
    nu = [sum(v.size for v in part) for part in controls]
    return Chain(column, rows, nx, nu, ng)


def _variables(t: Transcription) -> tuple[list[list[Variable]], list[list[Variable]]]:
    """State and control variables of every stage; the last has no controls."""
    problem = t.problem
    if problem.periodic is not None:
        raise ValueError(_refusal("the motion is periodic: its last stage is tied to its first"))
    if not all(isinstance(transition, Continuous) for transition in problem.transitions):
        raise ValueError(_refusal("velocities jump between phases"))
    if problem.torque != "constant":
        raise ValueError(_refusal("torques are linear, and so belong to two intervals each"))
    states: list[list[Variable]] = []
    controls: list[list[Variable]] = []
    for x, phase in zip(t.phases, problem.phases, strict=True):
        for k in range(phase.intervals):
            states.append([x.q[k], x.v[k]])
            controls.append([listed[k] for listed in (x.tau, x.a, x.lam, x.inner) if listed])
    return [*states, [t.phases[-1].q[-1], t.phases[-1].v[-1]]], [*controls, []]


def _check_shared(t: Transcription, stage: Indices) -> None:
    free = t.program.lower < t.program.upper
    shared = [v.name for v in t.program.variables if np.any(free[v.index] & (stage[v.index] < 0))]
    if shared:
        listed = ", ".join(shared[:4]) + (", ..." if len(shared) > 4 else "")
        raise ValueError(_refusal(f"all stages share the free variables {listed}: fix them"))


def _rows(program: Assembled, stage: Indices, stages: int) -> tuple[Indices, list[int]]:
    """Rows sorted by stage, gaps first, and how many of the others every stage has."""
    pattern = program.evaluator.jacobian_pattern
    row, owner = np.array(pattern.row(), dtype=int), stage[np.array(pattern.get_col(), dtype=int)]
    m = program.lower.size
    low, high = np.full(m, stages), np.full(m, -1)
    inside = owner >= 0
    np.minimum.at(low, row[inside], owner[inside])
    np.maximum.at(high, row[inside], owner[inside])
    gap = np.array([name.split(": ")[-1] in GAPS for name in program.row_names], dtype=bool)
    kind = np.array([GAPS.index(n) if (n := name.split(": ")[-1]) in GAPS else 2 for name in program.row_names])
    for k in np.flatnonzero(~gap & (high > low)):
        raise ValueError(_refusal(f"{program.row_names[k]} ties stage {low[k]} to stage {high[k]}"))
    at = np.where(gap, high - 1, np.where(high < 0, 0, high))
    order = np.lexsort((np.arange(m), kind, at))
    return order, [int(np.sum(~gap & (at == k))) for k in range(stages)]


def _refusal(reason: str) -> str:
    return (
        f"fatrop and hpipm need a chain of stages, and this problem is none: {reason}; or solve it with solver='ipopt'"
    )


class Chained:
    """The program in the order of its chain, with the functions that fatrop asks for; Hessians are whole, not halves.

    x: where variables outside the chain stay. see: is shown every iterate as x, f, g, lam_x, lam_g; once it
    returns True all evaluations fail.
    """

    def __init__(self, program: Assembled, ordered: Chain, x: Array, see: See) -> None:
        self._program, self._x, self._see = program, np.array(x), see
        self._stopped = False
        self._columns, self._rows = ordered.columns, ordered.rows
        e = program.evaluator
        self._jacobian, self._jacobian_order = chosen_nonzeros(e.jacobian_pattern, ordered.rows, ordered.columns)
        self._hessian, self._hessian_order = symmetric_nonzeros(e.hessian_pattern, ordered.columns)
        self._row, self._column = (np.array(k, dtype=int) for k in self._jacobian.get_triplet())
        self.functions = self._functions()
        point = {"x": ca.MX.sym("x", ordered.columns.size), "p": ca.MX.sym("p", program.parameters)}
        f, g = self.functions["nlp_fg"].call([*point.values()])
        self.problem = point | {"f": f, "g": g}

    def _at(self, z: Array) -> Array:
        if self._stopped:
            raise Stopped
        self._x[self._columns] = z
        return self._x

    def _f(self, z: list[Array]) -> float:
        return self._program.evaluator.objective(self._at(z[0]), z[1])

    def _g(self, z: list[Array]) -> Array:
        return self._program.evaluator.constraints(self._at(z[0]), z[1])[self._rows]

    def _gradient(self, z: list[Array]) -> Array:
        return self._program.evaluator.gradient(self._at(z[0]), z[1])[self._columns]

    def _slopes(self, z: list[Array]) -> Array:
        """Nonzeros of the Jacobian."""
        return self._program.evaluator.jacobian(self._at(z[0]), z[1])[self._jacobian_order]

    def _slope(self, z: list[Array]) -> Array:
        """Gradient of lam_f f + lam_g' g."""
        weighted = np.bincount(self._column, self._slopes(z) * z[3][self._row], self._columns.size)
        return np.asarray(z[2][0] * self._gradient(z) + weighted)

    def _curvature(self, z: list[Array]) -> Array:
        """Nonzeros of the Hessian of lam_f f + lam_g' g."""
        lam = np.zeros(self._program.lower.size)
        lam[self._rows] = z[3]
        x = self._at(z[0]).copy()
        e, p = self._program.evaluator, z[1]
        if self._see(x, e.objective(x, p), e.constraints(x, p).copy(), np.zeros(x.size), lam):
            self._stopped = True
        return self._program.evaluator.hessian(self._at(z[0]), z[1], float(z[2][0]), lam)[self._hessian_order]

    def _functions(self) -> dict[str, Numeric]:
        dense, n, m = ca.Sparsity.dense, self._columns.size, self._rows.size
        point = {"x": dense(n, 1), "p": dense(self._program.parameters, 1)}
        weighted = point | {"lam_f": dense(1, 1), "lam_g": dense(m, 1)}
        f, g, gradient = (("f", dense(1, 1)), self._f), (("g", dense(m, 1)), self._g), dense(n, 1)
        slope = ("grad_gamma_x", gradient), self._slope
        nothing = ("grad_gamma_p", ca.Sparsity(*point["p"].shape)), lambda z: 0.0
        listed: dict[str, tuple[dict[str, ca.Sparsity], list[Any]]] = {
            "nlp_fg": (point, [f, g]),
            "nlp_f": (point, [f]),
            "nlp_g": (point, [g]),
            "nlp_grad_f": (point, [(("grad_f_x", gradient), self._gradient)]),
            "nlp_jac_g": (point, [g, (("jac_g_x", self._jacobian), self._slopes)]),
            "nlp_grad": (weighted, [f, g, slope, nothing]),
            "nlp_hess_l": (weighted, [slope, (("hess_gamma_x_x", self._hessian), self._curvature)]),
        }
        return {name: _numeric(name, inputs, outputs) for name, (inputs, outputs) in listed.items()}


def _numeric(name: str, inputs: dict[str, ca.Sparsity], outputs: list[Any]) -> Numeric:
    """A Function of outputs ((name, pattern), what computes it from all arguments)."""
    patterns = dict(head for head, _ in outputs)
    return Numeric(name, inputs, patterns, lambda z: [partial(compute, z) for _, compute in outputs])
