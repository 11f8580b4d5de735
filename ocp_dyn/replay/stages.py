"""Stages of the integrator of a motion, at which its equations of motion hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Array
from ..integrators import Scheme, scheme, stage_states
from ..ocp import Solution


class MotionStage(NamedTuple):
    """A stage of the integrator in an interval of a phase: state, acceleration, torques, forces of the contacts."""

    phase: int
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    lam: Array


def stages(solution: Solution) -> Iterator[MotionStage]:
    """All stages at which the equations of motion hold.

    The variables of the program have the accelerations and the forces there if it is in the implicit form; otherwise
    the starts of the intervals are taken, where `PhaseMotion` has them.
    """
    form, method = solution.stats.get("form"), scheme(solution.stats.get("integrator", "midpoint"))
    variables = solution.variables() if solution.record is not None else {}
    known = form == "implicit" and solution.stats.get("steps", 1) == 1
    size = method.stages * solution.model.nv
    for number, phase in enumerate(solution.phases):
        if known and variables.get(f"qdd {phase.name}[0]", np.zeros(0)).size == size:
            yield from _collocated(solution, number, method, variables)
        else:
            for k, (t, rate) in enumerate(zip(np.diff(phase.t), phase.tau_rate, strict=True)):
                tau = phase.tau[k] - rate * t / 2
                qdd, lam = solution.equations.forward_dynamics(phase.contacts, *map(DM, (phase.q[k], phase.qd[k], tau)))
                yield MotionStage(number, phase.q[k], phase.qd[k], flat(qdd), tau, flat(lam))


def _collocated(solution: Solution, number: int, method: Scheme, variables: dict[str, Array]) -> Iterator[MotionStage]:
    """The stages of collocation, whose states follow from the accelerations."""
    model, phase = solution.model, solution.phases[number]
    q, qd, h = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("h")
    qdd = [SX.sym(f"qdd{k}", model.nv) for k in range(method.stages)]
    states, _ = stage_states(model, method, q, qd, qdd, h)
    at_stages = ca.Function("states", [q, qd, h, *qdd], [x for state in states for x in state], {"cse": True})
    for k, h_k in enumerate(np.diff(phase.t)):
        accelerations = variables[f"qdd {phase.name}[{k}]"].reshape(method.stages, -1)
        forces = variables.get(f"lam {phase.name}[{k}]", np.zeros(0)).reshape(method.stages, -1)
        found = [flat(x) for x in at_stages(phase.q[k], phase.qd[k], h_k, *accelerations)]
        for i in range(method.stages):
            tau = phase.tau[k] + phase.tau_rate[k] * (method.c[i] - 0.5) * h_k
            yield MotionStage(number, found[2 * i], found[2 * i + 1], accelerations[i], tau, forces[i])


def flat(x: Any) -> Array:
    """The entries of a matrix in one row."""
    return np.array(DM(x).full()).ravel()
