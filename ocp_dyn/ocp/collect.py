"""From a point of the program back to a motion: the solution at x."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from ..constrained import constrained_dynamics
from ..constraints import Contact
from ..dynamics import forward_dynamics
from ..functions import function
from ..model import Model
from .nlp import Assembled, Variable
from .solution import PhaseSolution, Solution
from .stage import Foothold
from .variables import Transcription


def collect(t: Transcription, program: Assembled, x: Array, stats: dict[str, Any]) -> Solution:
    """The solution at a point x of the program."""
    problem, model = t.problem, t.problem.model

    def value(variable: Variable) -> Array:
        return np.asarray(x[variable.index] * variable.scale)

    step_length = float(value(t.step_length)[0]) if t.step_length is not None else 0.0
    phases, begin = [], 0.0
    for variables, phase in zip(t.phases, problem.phases, strict=True):
        duration = float(value(variables.duration)[0])
        times = begin + duration * np.linspace(0.0, 1.0, phase.intervals + 1)
        begin += duration
        q, v = (np.array([value(k) for k in nodes]) for nodes in (variables.q, variables.v))
        tau = np.zeros((phase.intervals, model.nv))
        tau[:, problem.actuated] = [value(k) for k in variables.tau]
        contacts = tuple(f.contact for f in phase.footholds)
        if problem.form == "implicit":
            a = np.array([value(k) for k in variables.a])
            lam = np.array([value(k) for k in variables.lam]).reshape(phase.intervals, -1)
        else:
            a, lam = _explicit_forces(model, contacts, q, v, tau)
        places = {f.name: _place(t, f, value, step_length) for f in phase.footholds}
        phases.append(PhaseSolution(phase.name, times, q, v, a, tau, lam, contacts, places))
    terms = np.array(program.cost_terms(x)).ravel()
    cost: dict[str, float] = {}
    for name, term in zip(program.cost_names, terms, strict=True):
        cost[name] = cost.get(name, 0.0) + float(term)
    return Solution(
        model=model,
        phases=tuple(phases),
        cost=cost,
        impulses=tuple(value(k) if k is not None else np.zeros(0) for k in t.impulses),
        step_length=step_length,
        mirrored=t.mirror is not None,
        stats=stats | {"form": problem.form, "integrator": problem.integrator},
    )


def _explicit_forces(
    model: Model, contacts: tuple[Contact, ...], q: Array, v: Array, tau: Array
) -> tuple[Array, Array]:
    """Accelerations and contact rows at the start of every interval."""
    if not contacts:
        dynamics = function(forward_dynamics, model)
        return np.array([np.array(dynamics(*z)).ravel() for z in zip(q, v, tau, strict=False)]), np.zeros((len(tau), 0))
    dynamics = function(constrained_dynamics, model, contacts)
    pairs = [dynamics(*z) for z in zip(q, v, tau, strict=False)]
    return np.array([np.array(a).ravel() for a, _ in pairs]), np.array([np.array(lam).ravel() for _, lam in pairs])


def _place(t: Transcription, foothold: Foothold, value: Any, step_length: float) -> Array:
    if foothold not in t.images:
        return np.asarray(value(t.places[foothold]))
    x, y, yaw = value(t.places[t.images[foothold]])
    side = -1.0 if t.mirror is not None else 1.0
    return np.array([x - step_length, side * y, side * yaw])
