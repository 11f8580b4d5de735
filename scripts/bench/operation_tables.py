"""Operation counts of the stages of tables 8.3 and 8.4 [GJB94], and of the recursive algorithms, on the same models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn.dynamics.recursions import joint_states
from ocp_dyn.dynamics.rnea_crba_aba import factor
from ocp_dyn.formulations import velocity_transformations as b

from . import published
from .operations import Operations, by_stage, count

Stages = dict[str, Operations]


def formulation_b(model: od.Model) -> Stages:
    """Operations by stage of Formulation B on an open chain, without torques of joints.

    R'(Q - c) holds the subtraction of M Sc, so that R' is multiplied once, where the book does it twice.
    """
    q, qd, tau = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv), ca.SX.sym("tau", model.nv)
    states = joint_states(model, q, qd)
    at = b.positions(model, states)
    by = b.columns(model, states, at)
    moving = b.velocities(model, at, by, qd)
    bodies = b.elements(model, q, qd)
    squares = [body.R.T @ body.momenta(body.R) for body in bodies]
    momenta = [body.momenta(body.Sc) for body in bodies]
    forces = [body.R.T @ (p + body.C - body.Q) for body, p in zip(bodies, momenta, strict=True)]
    H, C = od.formulations.projected_equations(model, q, qd)
    stages = {
        published.POSITIONS: [*at.A, *at.r, *at.d, *at.s],
        published.VELOCITIES: [*by.w, *by.v, *moving.w, *moving.v, *moving.g],
        published.BIAS: [body.Sc for body in bodies],
        published.MASSES: [body.J for body in bodies],
        published.FORCES: [*(body.C for body in bodies), *(body.Q for body in bodies)],
        published.TRANSFORMATION: [body.R for body in bodies],
        published.REDUCED_MASS: [ca.triu(square) for square in squares],
        published.REDUCED_BIAS: momenta,
        published.REDUCED_FORCE: forces,
        published.ASSEMBLY: [H, C],
        published.SOLUTION: [factor(model, H).solve(tau - C)],
    }
    return by_stage([q, qd, tau], stages)


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
