"""One interval of the motion, in the implicit and in the explicit form, by any Runge-Kutta scheme.

Multiple shooting: if the accelerations follow from forward dynamics and the scheme is explicit, the state at the end is
an expression of the state at the start and the torques.

Collocation: otherwise the accelerations qdd_i at the stages are variables (so are the contact forces lam_i in the
implicit form), the equations of motion at the stages are constraints, and the states at the stages are expressions of
the accelerations:

    implicit   ID(q_i, qd_i, qdd_i) = tau_i + G(q_i)' lam_i, and the rows of `contact_rows`,
    explicit   qdd_i = FD(q_i, qd_i, tau_i), under contacts with G qdd_i = gamma.

ID and FD are the inverse and forward dynamics of `equations`, with springs, losses and rotors of the joints.

Each function writes its gaps into `rows` and returns the stages at which path constraints and objectives are evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from ..._types import Expr
from ...integrators import Scheme, explicit_step, stage_states
from ..nlp.program import Rows
from ..statement.dependent import Coordinates
from ..statement.instant import Instant
from ..statement.phases import Phase
from ..statement.statement import Statement
from .contact_rows import Feet, hold_end, hold_laws, hold_stage, project
from .variables import (
    FORCE_SCALE,
    Transcription,
    completed,
    equations_at,
    full_tau,
    model_of,
    places,
    wrenches,
)


@dataclass(frozen=True)
class Point:
    """A stage of an interval: its fraction of the interval, from 0 to 1, its weight in the mean, and its `Instant`."""

    fraction: float
    weight: float
    instant: Instant


def interval_points(transcription: Transcription, phase: Phase, z: dict[str, SX], rows: Rows) -> list[Point]:
    """Adds the gaps of an interval to the rows and returns its stages."""
    points = (_collocated if transcription.problem.collocated else _shot)(transcription, phase, z, rows)
    return _with_rates(transcription, phase, z, points)


def interval_ends(transcription: Transcription, phase: Phase, z: dict[str, SX]) -> list[Instant]:
    """The start and the end of an interval, with states, torques and their rate in this interval, and places."""
    full, model = completed(transcription, z), model_of(transcription, z)
    here, rate = places(transcription, phase.held, z), _torque_rate(transcription, phase, z)
    sides = (("q", "qd", 0.0), ("q1", "qd1", 1.0))
    return [
        Instant(
            model, full[q], full[qd], (z["k"] + fraction) / phase.intervals,
            tau=_torque(transcription.problem, z, fraction), tau_rate=rate, places=here, values=z,
        )
        for q, qd, fraction in sides
    ]  # fmt: skip


def control_points(transcription: Transcription, phase: Phase, z: dict[str, SX]) -> list[Point]:
    """The stages of an interval with the torques, accelerations and forces that are variables; states, and forces and
    accelerations that are no variables, are free symbols."""
    problem, model = transcription.problem, model_of(transcription, z)
    feet = Feet(equations_at(transcription, z), phase.held, places(transcription, phase.held, z), problem.baumgarte)
    count = problem.scheme.stages
    states = [(SX.sym("q", model.nq), SX.sym("qd", model.nv))] * count
    qdd = [SX.sym("qdd", model.nv)] * (count * problem.steps)
    if "qdd" in z and not problem.dependent:
        qdd = ca.horzsplit(ca.reshape(z["qdd"], model.nv, -1))
    lam = [SX.sym("lam", feet.size + sum(held.size for held in problem.coordinates.held))] * len(qdd)
    if "lam" in z and not problem.dependent:
        lam = ca.horzsplit(ca.reshape(z["lam"], feet.size, -1))
    points: list[Point] = []
    for step in range(problem.steps):
        here = slice(step * count, (step + 1) * count)
        torques = [_torque(problem, z, (step + c) / problem.steps) for c in problem.scheme.c]
        points += _points(transcription, step, feet, z, states, list(zip(qdd[here], lam[here], strict=True)), torques)
    return _with_rates(transcription, phase, z, points)


def _shot(transcription: Transcription, phase: Phase, z: dict[str, SX], rows: Rows) -> list[Point]:
    """Multiple shooting: explicit form and explicit scheme, `problem.steps` steps one after the other."""
    problem, equations, method = transcription.problem, equations_at(transcription, z), transcription.problem.scheme
    model = equations.model
    chosen = problem.coordinates
    held = (*phase.held, *chosen.held)
    feet = Feet(equations, held, places(transcription, phase.held, z), problem.baumgarte)
    h = z["T"] / phase.intervals / problem.steps
    ends = completed(transcription, z)
    q, qd = ends["q"], ends["qd"]
    points: list[Point] = []
    for step in range(problem.steps):
        torques = [_torque(problem, z, (step + c) / problem.steps) for c in method.c]
        solved: list[tuple[Expr, Expr]] = []

        def rate(q: Expr, qd: Expr, torques: list[Expr] = torques, solved: list[tuple[Expr, Expr]] = solved) -> Expr:
            solved.append(_forward_dynamics(feet, *_pair(chosen.complete(q, qd)), torques[len(solved)]))
            return solved[-1][0]

        states, end = explicit_step(model, method, rate, q, qd, h)
        states = [_pair(chosen.complete(*state)) for state in states]
        q, qd = project(feet, chosen, *end, problem.resolved.contact_level)
        points += _points(transcription, step, feet, z, states, solved, torques)
    rows.constrain("velocity step", z["qd1"] - qd[chosen.qd])
    rows.constrain("position step", z["q1"] - q[chosen.q])
    return points


def _collocated(transcription: Transcription, phase: Phase, z: dict[str, SX], rows: Rows) -> list[Point]:
    """Collocation: the accelerations at the stages of `problem.steps` steps, and the states between the steps, are
    variables."""
    problem, equations, method = transcription.problem, equations_at(transcription, z), transcription.problem.scheme
    model = equations.model
    chosen = problem.coordinates
    held = phase.held if problem.form == "implicit" else (*phase.held, *chosen.held)
    feet = Feet(equations, held, places(transcription, phase.held, z), problem.baumgarte)
    h = z["T"] / phase.intervals / problem.steps
    qdd = [chosen.spread(x) for x in ca.horzsplit(ca.reshape(z["qdd"], len(chosen.qd), -1))]
    lam = ca.horzsplit(ca.reshape(z["lam"], feet.size, -1)) if "lam" in z else [SX(0, 1)] * len(qdd)
    full = completed(transcription, z)
    ends = [*_inner_states(chosen, z, problem.steps), (full["q1"], full["qd1"])]
    q, qd = full["q"], full["qd"]
    points: list[Point] = []
    for step, (q_end, qd_end) in enumerate(ends):
        here = slice(step * method.stages, (step + 1) * method.stages)
        torques = [_torque(problem, z, (step + c) / problem.steps) for c in method.c]
        states, (q1, qd1) = stage_states(model, method, q, qd, qdd[here], h)
        states = [*states[:-1], (q_end, qd_end)] if method.ends_at_stage else states
        stages = [chosen.complete(*state, x) for state, x in zip(states, qdd[here], strict=True)]
        states = _lifted(rows, method, [_pair(stage) for stage in stages])
        solved = [(rows.inner(x[2]) if problem.dependent else x[2], y) for x, y in zip(stages, lam[here], strict=True)]
        for k, (state, (qdd_k, lam_k), tau) in enumerate(zip(states, solved, torques, strict=True)):
            if problem.form == "implicit":
                gap = _force_gap(rows, feet, *state, qdd_k, lam_k, tau)
                solved[k] = (qdd_k, ca.vertcat(lam_k, chosen.forces(model, state[0], gap)))
                rows.constrain("dynamics", chosen.project(state[0], gap), scale=FORCE_SCALE)
                hold_stage(rows, feet, method, k, problem.resolved.contact_level, *state, qdd_k)
                hold_laws(rows, feet, *state, lam_k)
            else:
                solved[k] = _forward_dynamics(feet, *state, tau)
                rows.constrain("dynamics", (qdd_k - solved[k][0])[chosen.qd])
        if problem.form == "explicit":
            q1, qd1 = project(feet, chosen, q1, qd1, problem.resolved.contact_level)
        rows.constrain("velocity step", (qd_end - qd1)[chosen.qd])
        rows.constrain("position step", (q_end - q1)[chosen.q])
        if problem.form == "implicit":
            hold_end(rows, feet, method, problem.resolved.contact_level, q_end, qd_end)
        points += _points(transcription, step, feet, z, states, solved, torques)
        q, qd = q_end, qd_end
    return points


def _lifted(rows: Rows, method: Scheme, states: list[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr]]:
    """The states at the stages as inner variables (`Rows.inner`); a stage at a node has the state of the node."""
    last = method.stages - 1 if method.ends_at_stage else method.stages
    inside = [
        (rows.inner(q), rows.inner(qd)) if np.any(row) else (q, qd)
        for (q, qd), row in zip(states, method.A[:last], strict=False)
    ]
    return [*inside, *states[last:]]


def _inner_states(chosen: Coordinates, z: dict[str, SX], steps: int) -> list[tuple[Expr, Expr]]:
    """The states between the steps of an interval."""
    if steps == 1:
        return []
    n = len(chosen.q)
    columns = ca.horzsplit(ca.reshape(z["inner"], n + len(chosen.qd), -1))
    return [_pair(chosen.complete(chosen.full_q(x[:n]), chosen.spread(x[n:]))) for x in columns]


def _pair(state: tuple[Expr, ...]) -> tuple[Expr, Expr]:
    """(q, qd) of a state (q, qd) or (q, qd, qdd)."""
    return state[0], state[1]


def _torque(problem: Statement, z: dict[str, SX], fraction: float) -> Expr:
    """The torques tau (nv) at a fraction of the interval."""
    tau = z["tau"] if "tau1" not in z else (1 - fraction) * z["tau"] + fraction * z["tau1"]
    return full_tau(problem, tau)


def _with_rates(transcription: Transcription, phase: Phase, z: dict[str, SX], points: list[Point]) -> list[Point]:
    """The points with the rate of the torques in their instants, if torques are linear along the interval."""
    for point in points:
        point.instant.tau_rate = _torque_rate(transcription, phase, z)
    return points


def _torque_rate(transcription: Transcription, phase: Phase, z: dict[str, SX]) -> Expr:
    """The rate d(tau)/dt (nv) in an interval; None for torques that are constant in it."""
    if "tau1" not in z:
        return None
    return full_tau(transcription.problem, (z["tau1"] - z["tau"]) / (z["T"] / phase.intervals))


def _force_gap(rows: Rows, feet: Feet, q: Expr, qd: Expr, qdd: Expr, lam: Expr, tau: Expr) -> Expr:
    """The residual ID(q, qd, qdd) - tau - G' lam."""
    force = feet.equations.force_rows(rows, q, qd, qdd) - tau
    return force - feet.force(q, lam) if feet.held else force


def _forward_dynamics(feet: Feet, q: Expr, qd: Expr, tau: Expr) -> tuple[Expr, Expr]:
    """(qdd, lam) under tau."""
    held = tuple(f.contact for f in feet.held)
    if feet.footholds and feet.baumgarte:
        return feet.equations.corrected_dynamics(held, q, qd, tau, feet.correction(q, qd))
    return feet.equations.forward_dynamics(held, q, qd, tau)


def _points(
    transcription: Transcription,
    step: int,
    feet: Feet,
    z: dict[str, SX],
    states: list[tuple[Expr, Expr]],
    solved: list[tuple[Expr, Expr]],
    torques: list[Expr],
) -> list[Point]:
    """The stages of a step, from their states, their pairs (qdd, lam) and their torques."""
    method, steps = transcription.problem.scheme, transcription.problem.steps
    return [
        Point(
            fraction=float(step + c) / steps,
            weight=float(b) / steps,
            instant=Instant(
                feet.model,
                q,
                qd,
                qdd=qdd,
                tau=tau,
                wrenches=wrenches(feet.held, lam, feet.places),
                places=feet.places,
                values=z,
                lam=lam,
            ),
        )
        for b, c, (q, qd), (qdd, lam), tau in zip(method.b, method.c, states, solved, torques, strict=True)
    ]
