"""Collects the solution that a point x of the program describes."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._types import Array
from ...constraints import constraint_jacobian
from ...mechanism import Model
from ...symmetry.advance import Advance
from ..equations import Contacts, Equations, equations_of
from ..motion.motion import PhaseMotion
from ..nlp.program import Assembled, Variable
from ..solution import Solution
from ..statement.footholds import CompliantFoothold, Foothold
from ..statement.ground.planes import GROUND
from ..statement.ground.terrain import Terrain
from ..statement.statement import Statement
from .quantities import PhaseQuantity, needed
from .tabulate import tabulate
from .variable_labels import node_times
from .variables import Transcription, advance_value, contacts, model_of, number, place_value, state_of


def collect(transcription: Transcription, program: Assembled, x: Array, stats: dict[str, Any]) -> Solution:
    """The solution at a point x of the program; stats: figures of the run, to which settings of the problem are
    added."""
    problem = transcription.problem
    model = model_of(
        transcription, {name: DM(number(transcription, slot, x)) for name, slot in transcription.slots.items()}
    )

    def value(variable: Variable) -> Array:
        return np.asarray(x[variable.index] * variable.scale)

    step = advance_value(transcription, x)
    advance = Advance.of(*step.values())
    phases: list[PhaseMotion] = []
    for variables, phase, times in zip(transcription.phases, problem.phases, node_times(transcription, x), strict=True):
        h = float(number(transcription, variables.duration, x)[0]) / phase.intervals
        nodes = [state_of(transcription, *pair, x) for pair in zip(variables.q, variables.qd, strict=True)]
        q, qd = (np.array(part) for part in zip(*nodes, strict=True))
        tau, tau_rate = _torques(problem, np.array([value(k) for k in variables.tau]), h)
        held = tuple(held.contact for held in (*phase.held, *problem.coordinates.held))
        if problem.form == "implicit" and problem.dependent:
            qdd, lam = _means(transcription, len(phases), x)
        elif problem.form == "implicit":
            qdd = _mean(problem, np.array([value(k) for k in variables.qdd]))
            lam = _mean(problem, np.array([value(k) for k in variables.lam]).reshape(phase.intervals, -1))
        else:
            qdd, lam = _explicit_forces(equations_of(problem).of(model), held, q, qd, tau)
        placed = [f for f in phase.footholds if isinstance(f, Foothold)]
        places = {f.name: place_value(transcription, f, x, advance) for f in placed}
        planes = {f.name: f.plane for f in phase.footholds if f.plane != GROUND}
        soles = {f.name: (f.half_length, f.half_width) for f in placed}
        phases.append(PhaseMotion(phase.name, times, q, qd, qdd, tau, lam, held, places, tau_rate, planes, soles))
    terms = np.array(program.cost_terms(x, transcription.program.values)).ravel()
    cost: dict[str, float] = {}
    for name, term in zip(program.cost_names, terms, strict=True):
        cost[name] = cost.get(name, 0.0) + float(term)
    return Solution(
        model=model,
        phases=tuple(phases),
        cost=cost,
        impulses=_impulses(transcription, model, phases, x),
        mirrored=transcription.mirror is not None,
        step_length=step["step_length"],
        sideways=step["sideways"],
        rise=step["rise"],
        turn=step["turn"],
        terrain=_terrain(problem),
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


def _means(transcription: Transcription, p: int, x: Array) -> tuple[Array, Array]:
    """Means over the intervals of phase p of qdd and lam, for a problem with dependent joints: expressions of the
    variables of an interval."""
    if p not in transcription.means:
        quantity = PhaseQuantity(transcription, p, "qdd and lam", lambda instant: ca.vertcat(instant.qdd, instant.lam))
        slots, free = needed(quantity.slots(0), quantity.mean)
        value = quantity.mean(free | {"k": SX.sym("k")})
        function = ca.Function("mean", [free[name] for name in slots], [value])
        transcription.means[p] = quantity, list(slots), function
    quantity, names, mean = transcription.means[p]
    rows = []
    for k in range(quantity.last + 1):
        here = quantity.slots(k)
        rows.append(np.array(mean(*(number(transcription, here[name], x) for name in names)).full()).ravel())
    nv = transcription.problem.model.nv
    return np.array(rows)[:, :nv], np.array(rows)[:, nv:]


def _impulses(transcription: Transcription, model: Model, phases: list[PhaseMotion], x: Array) -> tuple[Array, ...]:
    """The impulses of all transitions, over the rows of the contacts of the next phase, zero for compliant footholds;
    those of the constraints that dependent joints fulfill follow from the change of velocity."""
    problem, found = transcription.problem, []
    for p, variable in enumerate(transcription.impulses):
        if variable is None:
            found.append(np.zeros(0))
            continue
        Lam, n = np.asarray(x[variable.index] * variable.scale), (p + 1) % len(phases)
        if problem.dependent:
            q, before, after = DM(phases[n].q[0]), DM(phases[p].qd[-1]), DM(phases[n].qd[0])
            if n == 0 and transcription.mirror is not None:
                before = transcription.mirror.qd(before)
            change = equations_of(problem).of(model).mass_matrix(q) @ (after - before)
            G = constraint_jacobian(model, contacts(problem.phases[n].held), q)
            inside = problem.coordinates.forces(model, q, change - G.T @ DM(Lam))
            Lam = np.concatenate([Lam, np.array(inside.full()).ravel()])
        rigid_rows = rows_with_impulse(phases[n].contacts)
        full = np.zeros(rigid_rows.size)
        full[rigid_rows] = Lam
        found.append(full)
    return tuple(found)


def rows_with_impulse(contacts: Contacts) -> Array:
    """For every row of the contacts, whether an impact acts on it: false for those of compliant footholds."""
    return np.array([not isinstance(c, CompliantFoothold) for c in contacts for _ in c.rows], dtype=bool)


def _explicit_forces(equations: Equations, contacts: Contacts, q: Array, qd: Array, tau: Array) -> tuple[Array, Array]:
    """Accelerations and contact forces at the start of every interval."""
    pairs = [equations.forward_dynamics(contacts, *map(DM, z)) for z in zip(q, qd, tau, strict=False)]
    qdd, lam = (np.array([np.array(pair[k].full()).ravel() for pair in pairs]) for k in (0, 1))
    return qdd, lam


def _terrain(problem: Statement) -> Terrain | None:
    """The terrain of the first path constraint that has one."""
    found = (getattr(constraint, "terrain", None) for phase in problem.phases for constraint in phase.path)
    return next((terrain for terrain in found if isinstance(terrain, Terrain)), None)
