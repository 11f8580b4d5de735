"""Operation counts of the stages of tables 8.3 and 8.4 [GJB94], and of the recursive algorithms, on the same models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

import ocp_dyn as od

from . import published
from .operations import Operations, by_stage, count

Stages = dict[str, Operations]

ROWS = {
    "positions": published.POSITIONS,
    "velocities": published.VELOCITIES,
    "Sc": published.BIAS,
    "M": published.MASSES,
    "C": published.FORCES,
    "R": published.TRANSFORMATION,
    "RtMR": published.REDUCED_MASS,
    "RtMSc": published.REDUCED_BIAS,
    "RtQ": published.REDUCED_FORCE,
    "closing_jacobian": published.LOOP_JACOBIAN,
    "closing_products": published.LOOP_BIAS,
    "assembly": published.ASSEMBLY,
    "linear_equations": published.SOLUTION,
}
"""Fields of `formulations.Stages` and rows of the tables."""


REMOVED = ("link_", "spring4_", "tie_rod")
"""Beginnings of the names of the truck's bodies whose rigid-body conditions are removed: each closes a loop."""


def formulation_b(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations by stage of Formulation B; with loops, which are held by multipliers, the stages of table 8.4."""
    q, qd, tau = inputs = _inputs(model)
    return _counted(od.formulations.stages(model, q, qd, tau, constraints=tuple(loops)), inputs)


def formulation_a(model: od.Model, loops: Sequence[Any] = (), q: Any = None) -> Stages:
    """Operations by stage of Formulation A, whose R'MR is one product of sparse matrices; with loops, closed at q, those
    of the chain that is opened by removing the truck's rods, `REMOVED`."""
    opened = None
    if loops:
        removed = [name for name in model.body_names if name.startswith(REMOVED)]
        opened = od.formulations.open_by_removing(model, loops, removed, q=q)
    natural = opened.natural if opened else od.formulations.natural(model)
    q, qd, tau = inputs = _inputs(model)
    return _counted(od.formulations.stages_a(model, natural, q, qd, tau, opened=opened), inputs)


def _inputs(model: od.Model) -> list[ca.SX]:
    return [ca.SX.sym(name, n) for name, n in (("q", model.nq), ("qd", model.nv), ("tau", model.nv))]


def _counted(stages: Any, inputs: Sequence[ca.SX]) -> Stages:
    """Operations by row of the tables, in their order; stages without any operation are left out."""
    names = {field: row for field, row in ROWS.items() if field in stages._fields}
    found = by_stage(inputs, {row: [getattr(stages, field)] for field, row in names.items()})
    return {row: operations for row, operations in found.items() if any(operations)}


def recursive(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations of the recursive algorithms on the model as it is: forward dynamics, with loops constrained dynamics,
    and the function that `od.function` chooses."""
    if loops:
        options = {
            "RNEA + CRBA, loops by range space": {"solver": "range"},
            "ABA, loops by articulated bodies": {"solver": "aba"},
        }
        return {
            name: count(od.function(od.constrained_dynamics, model, tuple(loops), reduce=False, **chosen))
            for name, chosen in options.items()
        } | {"as od.function simplifies it": count(od.function(od.constrained_dynamics, model, tuple(loops)))}
    return {
        "RNEA + CRBA + LTDL": count(od.function(od.forward_dynamics_crba, model, reduce=False)),
        "ABA": count(od.function(od.forward_dynamics, model, reduce=False)),
        "as od.function simplifies it": count(od.function(od.forward_dynamics, model)),
    }


def whole(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations of the accelerations by Formulation B in one function, which leaves out what only a table shows."""
    if loops:
        f = od.function(od.formulations.closed_chain_dynamics, model, tuple(loops))
    else:
        f = od.function(od.formulations.forward_dynamics_formulation_b, model)
        natural = od.formulations.natural(model)
        a = od.function(od.formulations.forward_dynamics_formulation_a, model, natural)
        return {"Formulation A, one function": count(a), "Formulation B, one function": count(f)}
    return {"Formulation B, one function": count(f)}


def total(stages: Stages) -> Operations:
    """The sum over all stages."""
    found = Operations()
    for operations in stages.values():
        found = found.plus(operations)
    return found


def show(
    title: str,
    rows: Sequence[published.Row],
    printed: tuple[Operations, Operations],
    ours: tuple[Stages | None, Stages | None],
    others: Stages,
) -> None:
    """The book's table, ours beside it, and totals of other algorithms with divisions, roots and library functions."""
    print(f"\n{title}")
    heads = ("A, book", "A, ours", "B, book", "B, ours")
    print(f"{'':18s}" + "".join(f"{head:>20s}" for head in heads))
    for name, *book in rows:
        cells = [cell for k in (0, 1) for cell in (book[k], None if ours[k] is None else ours[k].get(name))]
        if any(cells):
            print(f"{name:18s}" + "".join(f"{_cell(cell):>20s}" for cell in cells))
    sums = [None if stages is None else total(stages) for stages in ours]
    cells = [printed[0], sums[0], printed[1], sums[1]]
    print(f"{'total':18s}" + "".join(f"{_cell(cell):>20s}" for cell in cells))
    print(f"\n{'':34s}{'mult. + add.':>20s}{'divisions':>11s}{'roots':>7s}{'functions':>11s}{'others':>8s}")
    labels = {f"Formulation {letter}, stages": s for letter, s in zip("AB", sums, strict=True) if s is not None}
    for name, found in (labels | others).items():
        print(f"{name:34s}{found!s:>20s}{found.divisions:11d}{found.roots:7d}{found.functions:11d}{found.others:8d}")


def run(quick: bool, progress: Callable[[str], None]) -> dict[str, Any]:
    """Counts and prints both tables; quick: the human body only."""
    found: dict[str, Any] = {}
    truck = od.models.heavy_truck()
    cases = {
        "human_body": ("Table 8.3: human body, 40 bodies, 45 degrees of freedom", od.models.human_body(), (),
                       published.TABLE_8_3, published.TOTAL_8_3),
        "heavy_truck": ("Table 8.4: heavy truck, 33 bodies, 48 open-chain coordinates, 18 degrees of freedom",
                        truck.model, truck.loops, published.TABLE_8_4, published.TOTAL_8_4),
    }  # fmt: skip
    for name, (title, model, loops, rows, printed) in list(cases.items())[: 1 if quick else None]:
        progress(f"{name}: Formulation A")
        a = formulation_a(model, loops, truck.q)
        progress(f"{name}: Formulation B")
        b = formulation_b(model, loops)
        progress(f"{name}: recursive algorithms")
        others = whole(model, loops) | recursive(model, loops)
        show(title, rows, printed, (a, b), others)
        found[name] = {"A": a and _plain(a), "B": _plain(b), "others": _plain(others)}
    return found


def _plain(stages: Stages) -> dict[str, dict[str, int]]:
    return {name: operations._asdict() for name, operations in stages.items()}


def _cell(operations: Operations | None) -> str:
    return "--" if operations is None or not any(operations) else str(operations)
