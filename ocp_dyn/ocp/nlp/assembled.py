"""Functions of a whole program for solvers: CasADi Functions of (x, p), computed by an `Evaluator`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakSet

import casadi as ca
import numpy as np
from casadi import MX

from ..._base.types import Array
from .blocks import Block
from .evaluator import Evaluator, Tapes
from .scatter import row_tables


class Filling(NamedTuple):
    """A computation that writes its result into the array it is given, large ones without a copy."""

    fill: Callable[[Array], object]


GAPS = ("position step", "velocity step")
"""Names of the rows x_{k+1} - F(x_k, u_k) of a mechanism, which lead from one state to the next."""

Outputs = Callable[[list[Array]], Sequence[Callable[[], Any] | Filling]]


class Numeric(ca.Callback):
    """A CasADi Function computed in Python.

    `compute(arguments)` returns, for every output, a function without arguments or a `Filling`, called if the output is
    needed.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, ca.Sparsity], outputs: Mapping[str, ca.Sparsity], compute: Outputs
    ) -> None:
        ca.Callback.__init__(self)
        self._inputs, self._outputs, self._compute = dict(inputs), dict(outputs), compute
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_name_in(self, i: int) -> str:
        return list(self._inputs)[i]

    def get_name_out(self, i: int) -> str:
        return list(self._outputs)[i]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return list(self._inputs.values())[i]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return list(self._outputs.values())[i]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Evaluates with the solver's memory as input and output; an argument that is null stands for zeros."""
        inputs = [
            np.zeros(pattern.nnz()) if view is None or not len(view) else np.frombuffer(view)
            for view, pattern in zip(arguments, self._inputs.values(), strict=True)
        ]
        for view, thunk in zip(results, self._compute(inputs), strict=True):
            if view is not None and len(view):
                memory = np.frombuffer(view)
                if isinstance(thunk, Filling):
                    thunk.fill(memory)
                else:
                    memory[:] = thunk()
        return 0


class Assembled:
    """The functions of a whole program over (x, p): f, g, their first and second derivatives, and the cost by term.

    gaps: names of the rows that lead from one state to the next, in the order of the states. evaluator: computes them
    as numpy arrays. lock: to be acquired by a thread before it uses the program. key: under which the program is to be
    stored on disk as soon as it has all tables; "": it is there, or can not be. objective, constraints, gradient,
    jacobian, hessian, cost_terms: the same as CasADi Functions, with the names and shapes that `casadi.nlpsol` expects.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        n: int,
        parameters: int,
        threads: int,
        gaps: tuple[str, ...] = GAPS,
        key: str = "",
    ) -> None:
        self.blocks, self.n, self.threads, self.parameters, self.gaps = list(blocks), n, threads, parameters, gaps
        self.row_lower = np.concatenate([np.zeros(0), *(np.tile(b.lower, len(b.instances)) for b in blocks)])
        self.row_upper = np.concatenate([np.zeros(0), *(np.tile(b.upper, len(b.instances)) for b in blocks)])
        self.row_names = [n for b in self.blocks for _ in b.instances for n in (f"{b.name}: {r}" for r in b.row_names)]
        self.cost_names = [name for b in self.blocks for name in b.cost_names]
        self.constants = np.concatenate([np.zeros(0), *(value for b in self.blocks for value in b.values)])
        self.lock, self.key = threading.RLock(), key
        self.tapes: Tapes | None = None
        self.evaluator = Evaluator(self.blocks, self.n, self.constants, self.parameters, self.threads)
        self._make_functions()
        _programs.add(self)

    def use(self, tapes: Tapes | None) -> None:
        """Evaluates these functions of blocks by their tables from now on, and all others by CasADi's virtual
        machine."""
        self.tapes = tapes
        self.evaluator.use(tapes)

    def _make_functions(self) -> None:
        dense = ca.Sparsity.dense
        point = {"x": dense(self.n, 1), "p": dense(self.parameters, 1)}
        m, number = self.row_lower.size, dense(1, 1)

        def numeric(name: str, outputs: dict[str, ca.Sparsity], compute: Outputs, **more: ca.Sparsity) -> Numeric:
            return Numeric(name, point | more, outputs, compute)

        def objective_and_constraints(z: list[Array]) -> Sequence[Callable[[], Any]]:
            return lambda: self.evaluator.objective(*z), lambda: self.evaluator.constraints(*z)

        jacobian, hessian = self.evaluator.jacobian_pattern, self.evaluator.hessian_pattern
        self.objective = numeric("nlp_f", {"f": number}, lambda z: [lambda: self.evaluator.objective(*z)])
        self.constraints = numeric("nlp_g", {"g": dense(m, 1)}, lambda z: [lambda: self.evaluator.constraints(*z)])
        self.values = numeric("nlp_fg", {"f": number, "g": dense(m, 1)}, objective_and_constraints)
        self.gradient = numeric(
            "nlp_grad_f",
            {"f": number, "grad_f_x": dense(self.n, 1)},
            lambda z: [lambda: self.evaluator.objective(*z), lambda: self.evaluator.gradient(*z)],
        )
        self.jacobian = numeric(
            "nlp_jac_g",
            {"g": dense(m, 1), "jac_g_x": jacobian},
            lambda z: [
                lambda: self.evaluator.constraints(*z),
                Filling(lambda out: self.evaluator.jacobian(z[0], z[1], out)),
            ],
        )
        self.hessian = numeric(
            "nlp_hess_l",
            {"triu_hess_gamma_x_x": hessian},
            lambda z: [Filling(lambda out: self.evaluator.hessian(z[0], z[1], float(z[2][0]), z[3], out))],
            lam_f=number,
            lam_g=dense(m, 1),
        )
        self.cost_terms = numeric(
            "cost_terms", {"terms": dense(len(self.cost_names), 1)}, lambda z: [lambda: self.evaluator.terms(*z)]
        )
        x, p = MX.sym("x", self.n), MX.sym("p", self.parameters)
        f, g = self.values.call([x, p])
        self.problem = {"x": x, "p": p, "f": f, "g": g}

    def expression(self) -> dict[str, MX]:
        """The program as a CasADi graph, which CasADi can differentiate; several times slower than the evaluator."""
        x, p = MX.sym("x", self.n), MX.sym("p", self.parameters)
        numbers = ca.vertcat(p, ca.DM(self.constants))
        f, rows, first, m = MX(0), [MX(0, 1)], self.parameters, self.row_lower.size
        for b in self.blocks:
            count = len(b.instances)
            local = []
            for source, indices in ((x, b.gather), (numbers, b.gather_parameters(first))):
                local.append(ca.reshape(source[indices.ravel()], indices.shape[1], count))
            first += b.constant_count
            function = b.values_function.map(count) if count > 1 else b.values_function
            terms, g = function.call(local)
            f = f + ca.sum2(ca.sum1(terms)) if b.cost_names else f
            rows.append(ca.vec(g))
        to = np.concatenate([np.zeros(0, dtype=int), *(table.ravel() for table in row_tables(self.blocks))])
        sums = ca.DM.triplet(to.tolist(), list(range(to.size)), ca.DM.ones(to.size), m, to.size)
        return {"x": x, "p": p, "f": f, "g": sums @ ca.vertcat(*rows) if to.size > m else ca.vertcat(*rows)}


_programs: WeakSet[Assembled] = WeakSet()


def _free_all() -> None:
    """In a forked process no other thread runs: one that used a program would keep its lock forever."""
    for program in list(_programs):
        program.lock = threading.RLock()
        program.evaluator.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
