"""Times of one evaluation of accelerations by every formulation, beside table 8.5 [GJB94]."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import formulations
from scripts.common import Table, machine

from ..dynamics import ours
from ..dynamics.robots import Array
from .operations import count
from .published import TABLE_8_5

PENALTY, MATRIX_R, B, CRBA, ABA, CHOSEN = ("penalty", "matrix R", "Formulation B", "RNEA+CRBA", "ABA", "od.function")
BOOK = dict(zip((PENALTY, MATRIX_R, B), range(3), strict=True))
"""Columns of table 8.5."""

STATES = 64


class Times(NamedTuple):
    """Microseconds per evaluation, interpreted and compiled (None: not compiled), and the operations of one."""

    interpreted: float
    compiled: float | None
    multiplications: int
    additions: int


class Mechanism(NamedTuple):
    """A model, its loops, and a configuration in which these are closed."""

    model: od.Model
    loops: tuple[Any, ...]
    q: Array

    @staticmethod
    def of(made: od.Model | od.models.ClosedChain) -> Mechanism:
        if isinstance(made, od.Model):
            return Mechanism(made, (), made.neutral())
        return Mechanism(made.model, tuple(made.loops), np.array(made.q))


MECHANISMS: dict[str, Callable[[], Any]] = {
    "bricard": od.models.bricard, "five_bar_pendulum": od.models.five_bar_pendulum, "car": od.models.car,
    "human_body": od.models.human_body,
}  # fmt: skip


def functions(made: Mechanism) -> dict[str, Callable[[], ca.Function]]:
    """Makers of the accelerations by every method, as functions of x, xd, tau in natural coordinates, of q, qd, tau in
    joint coordinates. Loops are held by multipliers unless the name tells another method. "od.function" is the
    library's default: the shorter of two algorithms, on an equivalent model with fewer inertial parameters."""
    model, loops, q = made

    def by(algorithm: Any, *static: Any, **options: Any) -> Callable[[], ca.Function]:
        return lambda: od.function(algorithm, model, *static, **options)

    natural = formulations.natural(model, loops)
    dependent = formulations.natural_forward_dynamics
    found = {
        PENALTY: by(dependent, natural, method="penalty", name="NC_penalty"),
        MATRIX_R: by(dependent, natural, method="matrix_r", name="NC_matrix_r"),
    }
    if not loops:
        return found | {
            B: by(formulations.forward_dynamics_formulation_b),
            CRBA: by(od.forward_dynamics_crba, reduce=False),
            ABA: by(od.forward_dynamics, reduce=False, name="FD_ABA"),
            CHOSEN: by(od.forward_dynamics),
        }
    closed, choice = formulations.closed_chain_dynamics, formulations.independent_coordinates(model, loops, q)
    return found | {
        B: by(closed, loops),
        f"{B}, penalty": by(closed, loops, method="penalty", name="FDc_B_penalty"),
        f"{B}, indep.": by(closed, loops, method="independent", independent=choice, name="FDc_B_independent"),
        CRBA: by(od.constrained_dynamics, loops, solver="range", name="FDc_range", reduce=False),
        ABA: by(od.constrained_dynamics, loops, solver="aba", name="FDc_aba", reduce=False),
        CHOSEN: by(od.constrained_dynamics, loops),
    }


def states(made: Mechanism, rng: np.random.Generator) -> dict[str, Array]:
    """Inputs of all functions by name, a state in every row; the times do not depend on them."""
    model, loops, q0 = made
    natural = formulations.natural(model, loops)
    q = np.array([np.array(model.integrate(ca.DM(q0), ca.DM(0.1 * rng.normal(size=model.nv)))).ravel()
                  for _ in range(STATES)])  # fmt: skip
    drawn = {"q": q} | {name: rng.normal(size=(STATES, model.nv)) for name in ("qd", "tau")}
    x_q = od.function(formulations.natural_from_q, model, natural)
    xd_q = od.function(formulations.natural_velocity, model, natural)
    x, xd = x_q(ca.DM(drawn["q"].T)), xd_q(ca.DM(drawn["q"].T), ca.DM(drawn["qd"].T))
    return drawn | {"x": np.array(x.full()).T, "xd": np.array(xd.full()).T}


def measure(made: Mechanism, compiled: bool = True) -> dict[str, Times]:
    """Times by method; a method that cannot take the mechanism is left out, with a line that says why."""
    drawn = states(made, np.random.default_rng(1))
    found = {}
    for method, make in functions(made).items():
        print(f"  {made.model.name}: {method} ...", file=sys.stderr, flush=True)
        try:
            f = make()
        except (TypeError, ValueError) as error:
            print(f"{made.model.name}: {method} is left out: {error}", file=sys.stderr)
            continue
        operations, fast = count(f), None
        if compiled:
            library = od.codegen.compile([f], lanes=1, threads=1)
            fast = ours.one_state(library[f.name()], drawn) if library.backend == "compiled" else None
        found[method] = Times(ours.interpreted(f, drawn), fast, operations.multiplications, operations.additions)
    return found


COLUMNS = {"": "<23s", "mult.": "9d", "add.": "9d", "interpreted us": "13.2f", "ratio": "8.2f", "compiled us": "13.2f",
           "ratio ": "8.2f", "book ms": "10.2f", "ratio  ": "8.2f"}  # fmt: skip


def show(name: str, times: Mapping[str, Times]) -> None:
    """The table of a mechanism: microseconds and ratios to Formulation B, beside the book's."""
    print(f"\n{name}: one evaluation of accelerations")
    table, base = Table(COLUMNS), times[B]
    for method, row in times.items():
        compiled = row.compiled and base.compiled and row.compiled / base.compiled
        cells = [row.interpreted, row.interpreted / base.interpreted, row.compiled, compiled]
        if method in BOOK:
            book = TABLE_8_5[name]
            cells += [book[BOOK[method]], book[BOOK[method]] / book[BOOK[B]]]
        table.row(method, row.multiplications, row.additions, *cells)


def winners(tables: Mapping[str, Mapping[str, Times]]) -> None:
    """The fastest method of every mechanism, interpreted and compiled, and how much slower the next one is."""
    print("\nwho wins where")
    for name, times in tables.items():
        for kind in ("interpreted", "compiled"):
            ranked = sorted((getattr(t, kind), method) for method, t in times.items() if getattr(t, kind) is not None)
            if ranked:
                text = ", then ".join(f"{method} {value / ranked[0][0]:.2f}" for value, method in ranked)
                print(f"{name:20s}{kind:13s}{text}")


def run(quick: bool) -> dict[str, Any]:
    """Measures and prints all tables; returns them as plain data."""
    print(f"\nmicroseconds of processor time, medians, on {machine()}; ratios to Formulation B")
    tables = {}
    for name in list(MECHANISMS)[: 2 if quick else None]:
        tables[name] = measure(Mechanism.of(MECHANISMS[name]()), compiled=not quick)
        show(name, tables[name])
    winners(tables)
    return {name: {method: row._asdict() for method, row in times.items()} for name, times in tables.items()}
