"""Operation counts of the stages of tables 8.3 and 8.4 [GJB94], and of the recursive algorithms, on the same models."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import casadi as ca

import ocp_dyn as od
from scripts.common import Table

from .operations import Operations, by_stage, count
from .published import TITLES
from .published import table as published_table

Stages = dict[str, Operations]

REMOVED = ("link_", "spring4_", "tie_rod")
"""Beginnings of the names of the truck's bodies whose rigid-body conditions are removed: each closes a loop."""


def formulation_b(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations by stage of Formulation B; with loops, which are held by multipliers, the stages of table 8.4."""
    q, qd, tau = inputs = _inputs(model)
    return _counted(od.formulations.stages(model, q, qd, tau, constraints=tuple(loops)), inputs)


def formulation_a(model: od.Model, loops: Sequence[Any] = (), q: Any = None) -> Stages:
    """Operations by stage of Formulation A, whose R'MR is one product of sparse matrices; with loops, closed at q,
    those of the chain that is opened by removing the truck's rods, `REMOVED`."""
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
    """Operations by field of the stages, in the order of the tables; stages without any operation are left out."""
    fields = [field for field in TITLES if field in stages._fields]
    found = by_stage(inputs, {field: [getattr(stages, field)] for field in fields})
    return {field: operations for field, operations in found.items() if any(operations)}


def others(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations of accelerations in one function: by the formulations, which leave out what only a table shows, and by
    the recursive algorithms, on the model as it is and as `od.function` simplifies it."""

    def by(algorithm: Any, *static: Any, **options: Any) -> Operations:
        return count(od.function(algorithm, model, *static, **options))

    if loops:
        held = tuple(loops)
        return {
            "Formulation B, one function": by(od.formulations.closed_chain_dynamics, held),
            "RNEA + CRBA, loops by range space": by(od.constrained_dynamics, held, reduce=False, solver="range"),
            "ABA, loops by articulated bodies": by(od.constrained_dynamics, held, reduce=False, solver="aba"),
            "as od.function simplifies it": by(od.constrained_dynamics, held),
        }
    natural = od.formulations.natural(model)
    return {
        "Formulation A, one function": by(od.formulations.forward_dynamics_formulation_a, natural),
        "Formulation B, one function": by(od.formulations.forward_dynamics_formulation_b),
        "RNEA + CRBA + LTDL": by(od.forward_dynamics_crba, reduce=False),
        "ABA": by(od.forward_dynamics, reduce=False),
        "as od.function simplifies it": by(od.forward_dynamics),
    }


def total(stages: Stages) -> Operations:
    """The sum over all stages."""
    return Operations(*(sum(counts) for counts in zip(*stages.values(), strict=True)))


HEADS = {"": "<18s"} | dict.fromkeys(("A, book", "A, ours", "B, book", "B, ours"), "20s")
WHOLE = {"": "<36s", "mult. + add.": "20s", "divisions": "9d", "roots": "7d", "functions": "9d", "others": "8d"}


def show(name: str, a: Stages, b: Stages, rest: Stages) -> None:
    """The book's table, ours beside it, and totals of other algorithms with divisions, roots and library functions."""
    title, rows, printed = published_table(name)
    print(f"\n{title}")
    table = Table(HEADS)
    for field, row in TITLES.items():
        book = rows.get(field, (None, None))
        cells = [book[0], a.get(field), book[1], b.get(field)]
        if any(map(any, filter(None, cells))):
            table.row(row, *(str(cell) if cell and any(cell) else "--" for cell in cells))
    table.row("total", *map(str, (printed[0], total(a), printed[1], total(b))))
    print()
    table = Table(WHOLE)
    for label, found in {"Formulation A, stages": total(a), "Formulation B, stages": total(b), **rest}.items():
        table.row(label, str(found), *found[2:])


def run(quick: bool) -> dict[str, Any]:
    """Counts and prints both tables; quick: the human body only."""
    found: dict[str, Any] = {}
    truck = od.models.heavy_truck()
    cases = {"human_body": ("table_8_3", od.models.human_body(), ()),
             "heavy_truck": ("table_8_4", truck.model, truck.loops)}  # fmt: skip
    for name, (table, model, loops) in list(cases.items())[: 1 if quick else None]:
        print(f"  {name} ...", file=sys.stderr, flush=True)
        counts = formulation_a(model, loops, truck.q), formulation_b(model, loops), others(model, loops)
        show(table, *counts)
        found[name] = {
            key: {TITLES.get(row, row): operations._asdict() for row, operations in stages.items()}
            for key, stages in zip(("A", "B", "others"), counts, strict=True)
        }
    return found
