"""Times of one evaluation of accelerations by every formulation, beside table 8.5 [GJB94]."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import formulations

from . import ours
from .operations import count
from .published import TABLE_8_5
from .robots import Array

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


def mechanism(made: Any) -> Mechanism:
    """The mechanism of a model or of a closed chain."""
    if isinstance(made, od.Model):
        return Mechanism(made, (), made.neutral())
    return Mechanism(made.model, tuple(made.loops), np.array(made.q))


MECHANISMS: dict[str, Callable[[], Any]] = {
    "bricard": lambda: od.models.bricard(),
    "five_bar_pendulum": lambda: od.models.five_bar_pendulum(),
    "car": lambda: od.models.car(),
    "human_body": lambda: od.models.human_body(),
}


QUICK = ("bricard", "five_bar_pendulum")


def functions(made: Mechanism) -> dict[str, Callable[[], ca.Function]]:
    """Makers of the accelerations by every method, as functions of x, xd, tau in natural coordinates, of q, qd, tau in
    joint coordinates. Loops are held by multipliers unless the name tells another method. "od.function" is the library's
    default: the shorter of two algorithms, on an equivalent model with fewer inertial parameters."""
    model, loops, _ = made
    natural = formulations.natural(model, loops)

    def dependent(method: str) -> ca.Function:
        return od.function(formulations.natural_forward_dynamics, model, natural, method=method, name=f"NC_{method}")

    def recursive(**options: Any) -> ca.Function:
        return od.function(od.constrained_dynamics, model, loops, **options)

    found = {PENALTY: lambda: dependent("penalty"), MATRIX_R: lambda: dependent("matrix_r")}
    if loops:
        return found | {
            B: lambda: od.function(formulations.closed_chain_dynamics, model, loops),
            f"{B}, penalty": lambda: od.function(
                formulations.closed_chain_dynamics, model, loops, method="penalty", name="FDc_B_penalty"
            ),
            f"{B}, indep.": lambda: od.function(
                formulations.closed_chain_dynamics,
                model,
                loops,
                method="independent",
                name="FDc_B_independent",
                independent=formulations.independent_coordinates(model, loops, made.q),
            ),
            CRBA: lambda: recursive(solver="range", name="FDc_range", reduce=False),
            ABA: lambda: recursive(solver="aba", name="FDc_aba", reduce=False),
            CHOSEN: lambda: recursive(),
        }
    return found | {
        B: lambda: od.function(formulations.forward_dynamics_formulation_b, model),
        CRBA: lambda: od.function(od.forward_dynamics_crba, model, reduce=False),
        ABA: lambda: od.function(od.forward_dynamics, model, reduce=False, name="FD_ABA"),
        CHOSEN: lambda: od.function(od.forward_dynamics, model),
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


def measure(made: Mechanism, progress: Callable[[str], None], compiled: bool = True) -> dict[str, Times]:
    """Times by method; a method that cannot take the mechanism is left out, with a line that says why."""
    drawn = states(made, np.random.default_rng(1))
    found = {}
    for method, make in functions(made).items():
        progress(f"{made.model.name}: {method}")
        try:
            f = make()
        except (TypeError, ValueError) as error:
            print(f"{made.model.name}: {method} is left out: {error}", file=sys.stderr)
            continue
        operations = count(f)
        fast = None
        if compiled:
            library = od.codegen.compile([f], lanes=1, threads=1)
            fast = ours.one_state(library[f.name()], drawn) if library.backend == "compiled" else None
        found[method] = Times(ours.interpreted(f, drawn), fast, operations.multiplications, operations.additions)
    return found


def show(name: str, times: Mapping[str, Times]) -> None:
    """The table of a mechanism: microseconds and ratios to Formulation B, beside the book's."""
    book = TABLE_8_5.get(name)
    print(f"\n{name}: one evaluation of accelerations")
    print(f"{'':23s}{'mult.':>9s}{'add.':>9s}{'interpreted':>13s}{'ratio':>8s}{'compiled':>10s}{'ratio':>8s}{'book':>10s}"
          f"{'ratio':>8s}")  # fmt: skip
    base = times.get(B)
    for method, row in times.items():
        cells = [f"{row.multiplications:9d}{row.additions:9d}"]
        for value, unit in ((row.interpreted, base and base.interpreted), (row.compiled, base and base.compiled)):
            wide = 13 if value is row.interpreted else 10
            cells.append(f"{'-':>{wide}s}" if value is None else f"{value:{wide - 3}.2f} us")
            cells.append(f"{'-':>8s}" if value is None or not unit else f"{value / unit:8.2f}")
        if book is not None and method in BOOK:
            cells.append(f"{book[BOOK[method]]:7.2f} ms{book[BOOK[method]] / book[BOOK[B]]:8.2f}")
        print(f"{method:23s}" + "".join(cells))


def winners(tables: Mapping[str, Mapping[str, Times]]) -> None:
    """The fastest method of every mechanism, interpreted and compiled, and how much slower the next one is."""
    print("\nwho wins where")
    for name, times in tables.items():
        for kind in ("interpreted", "compiled"):
            ranked = sorted((getattr(t, kind), method) for method, t in times.items() if getattr(t, kind) is not None)
            if len(ranked) > 1:
                text = ", then ".join(f"{method} {value / ranked[0][0]:.2f}" for value, method in ranked)
                print(f"{name:20s}{kind:13s}{text}")


def machine() -> str:
    """The processor and the compiler's machine, in words."""
    path = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in path.read_text().splitlines() if line.startswith("model name")] \
        if path.exists() else []  # fmt: skip
    return f"{names[0] if names else platform.processor() or platform.machine()}, Python {platform.python_version()}"


def run(quick: bool, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measures and prints all tables; returns them as plain data."""
    print(f"\nmicroseconds of processor time, medians, on {machine()}; ratios to Formulation B")
    tables = {}
    for name in QUICK if quick else MECHANISMS:
        tables[name] = measure(mechanism(MECHANISMS[name]()), progress, compiled=not quick)
        show(name, tables[name])
    winners(tables)
    return {name: {method: row._asdict() for method, row in times.items()} for name, times in tables.items()}
