"""Operation counts of the stages of tables 8.3 and 8.4 [GJB94], and of the recursive algorithms, on the same models."""

from __future__ import annotations

from collections.abc import Sequence
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


def formulation_b(model: od.Model, *static: Any) -> Stages:
    """Operations by stage of Formulation B; static: the loops of a closed chain."""
    q, qd, tau = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("qd", model.nv), ("tau", model.nv)))
    return _counted(od.formulations.stages(model, *static, q, qd, tau), [q, qd, tau])


def _counted(stages: Any, inputs: Sequence[ca.SX]) -> Stages:
    """Operations by row of the tables, in their order; stages without any operation are left out."""
    names = {field: row for field, row in ROWS.items() if field in stages._fields}
    found = by_stage(inputs, {row: [getattr(stages, field)] for field, row in names.items()})
    return {row: operations for row, operations in found.items() if any(operations)}


def recursive(model: od.Model, loops: Sequence[Any] = ()) -> Stages:
    """Operations of the recursive algorithms: with loops, of constrained dynamics by its solvers."""
    if loops:
        makers = {
            f'FDc, solver="{solver}"': od.function(od.constrained_dynamics, model, tuple(loops), solver=solver)
            for solver in ("range", "null", "aba")
        }
    else:
        makers = {
            "RNEA + CRBA + LTDL": od.function(od.forward_dynamics_crba, model, reduce=False),
            "ABA": od.function(od.forward_dynamics, model, reduce=False),
            "od.function's choice": od.function(od.forward_dynamics, model),
        }
    return {name: count(f) for name, f in makers.items()}


def total(stages: Stages) -> Operations:
    """The sum over all stages."""
    found = Operations()
    for operations in stages.values():
        found = found.plus(operations)
    return found
