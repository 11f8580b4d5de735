"""Collects the solution that a point x of the program describes."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import DM

from ..._types import Array
from ...constraints import Constraint
from ..equations import Equations, equations_of
from ..motion.motion import PhaseMotion
from ..nlp.program import Assembled, Variable
from ..solution import Solution
from ..statement.planes import GROUND
from ..statement.statement import Statement
from .tabulate import tabulate
from .variable_labels import node_times
from .variables import Transcription, model_of, number, place_value


def collect(transcription: Transcription, program: Assembled, x: Array, stats: dict[str, Any]) -> Solution:
    """The solution at a point x of the program; stats: figures of the run, to which settings of the problem are
    added."""
    problem = transcription.problem
    model = model_of(
        transcription, {name: DM(number(transcription, slot, x)) for name, slot in transcription.slots.items()}
    )

    def value(variable: Variable) -> Array:
        return np.asarray(x[variable.index] * variable.scale)

    step_length = (
        float(number(transcription, transcription.step_length, x)[0]) if transcription.step_length is not None else 0.0
    )
    phases = []
    for variables, phase, times in zip(transcription.phases, problem.phases, node_times(transcription, x), strict=True):
        h = float(number(transcription, variables.duration, x)[0]) / phase.intervals
        q, qd = (np.array([value(k) for k in nodes]) for nodes in (variables.q, variables.qd))
        tau, tau_rate = _torques(problem, np.array([value(k) for k in variables.tau]), h)
        contacts = tuple(held.contact for held in phase.held)
        if problem.form == "implicit":
            qdd = _mean(problem, np.array([value(k) for k in variables.qdd]))
            lam = _mean(problem, np.array([value(k) for k in variables.lam]).reshape(phase.intervals, -1))
        else:
            qdd, lam = _explicit_forces(equations_of(problem).of(model), contacts, q, qd, tau)
        places = {f.name: place_value(transcription, f, x, step_length) for f in phase.footholds}
        planes = {f.name: f.plane for f in phase.footholds if f.plane != GROUND}
        phases.append(PhaseMotion(phase.name, times, q, qd, qdd, tau, lam, contacts, places, tau_rate, planes))
    terms = np.array(program.cost_terms(x, transcription.program.values)).ravel()
    cost: dict[str, float] = {}
    for name, term in zip(program.cost_names, terms, strict=True):
        cost[name] = cost.get(name, 0.0) + float(term)
    return Solution(
        model=model,
        phases=tuple(phases),
        cost=cost,
        impulses=tuple(value(k) if k is not None else np.zeros(0) for k in transcription.impulses),
        step_length=step_length,
        mirrored=transcription.mirror is not None,
        stats=stats | _settings(problem),
        record=tabulate(transcription, program, x),
        loads=problem.loads,
    )


def _settings(problem: Statement) -> dict[str, Any]:
    """The settings of the problem that its solution keeps in `stats`."""
    closing = [problem.periodic.transition] if problem.periodic is not None else []
    resolved = problem.resolved
    return {
        "form": problem.form,
        "integrator": resolved.integrator,
        "steps": problem.steps,
        "torque": problem.torque,
        "contact_level": resolved.contact_level,
        "baumgarte": problem.baumgarte,
        "transitions": [type(transition).__name__ for transition in (*resolved.transitions, *closing)],
    }


def _torques(problem: Statement, tau: Array, h: float) -> tuple[Array, Array]:
    """Mean and rate of the torques (N, nv) on every interval."""
    full = np.zeros((len(tau), problem.model.nv))
    full[:, problem.actuated] = tau
    if problem.torque == "constant":
        return full, np.zeros_like(full)
    return (full[1:] + full[:-1]) / 2, (full[1:] - full[:-1]) / h


def _mean(problem: Statement, stages: Array) -> Array:
    """Mean over every interval of values at its stages, by the weights of the scheme.

    stages: one row per interval, with the values at its stages one after the other.
    """
    weights = np.tile(problem.scheme.b, problem.steps) / problem.steps
    return np.asarray(np.einsum("s,ksj->kj", weights, stages.reshape(len(stages), weights.size, -1)))


def _explicit_forces(
    equations: Equations, contacts: tuple[Constraint, ...], q: Array, qd: Array, tau: Array
) -> tuple[Array, Array]:
    """Accelerations and contact forces at the start of every interval."""
    pairs = [equations.forward_dynamics(contacts, *map(DM, z)) for z in zip(q, qd, tau, strict=False)]
    qdd, lam = (np.array([np.array(pair[k].full()).ravel() for pair in pairs]) for k in (0, 1))
    return qdd, lam
