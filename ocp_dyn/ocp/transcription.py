"""Direct multiple shooting: a Problem becomes a Program, one block per kind of stage.

implicit: per interval the variables a, tau, lam; with h the step, v_m = v + h/2 a and q_m = q (+) h/2 v_m,

    v_next = v + h a,   q_next = q (+) h v_m,   ID(q_m, v_m, a) = tau + G(q_m)' lam        (implicit midpoint)

and every foothold's pose at the end of the interval. The pose of a foot at the first node is asked for
only where the foot is set down: elsewhere the interval before, or periodicity, implies it.

explicit: per interval tau; qdd, lam from constrained_dynamics; RK4 or semi-implicit Euler.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._types import Expr
from ..constraints import constraint_jacobian
from ..dynamics import mass_matrix
from ..functions import function
from .nlp import Program, Rows
from .problem import Continuous, Impact, Phase, Problem, Transition
from .stage import Foothold, Stage
from .steps import explicit_step, implicit_step
from .terms import Objective, PathConstraint, RateObjective, objective_name
from .variables import FORCE_SCALE, Transcription, add_variables, contacts, full_tau, place_slots, places, wrenches


def transcribe(problem: Problem, threads: int = 2) -> Transcription:
    """The nonlinear program of a problem, by the form and the integrator it names."""
    t = Transcription(problem, Program(threads), problem.mirror())
    if problem.periodic is not None:
        low, high = problem.periodic.step_length
        t.step_length = t.program.variable("step_length", 1, low, high, np.clip(0.5, low, high))
        if problem.periodic.speed is not None:
            s = problem.periodic.speed
            t.speed = t.program.variable("speed", 1, s, s, s)
    add_variables(t)
    for p, phase in enumerate(problem.phases):
        _add_intervals(t, p, phase)
        _add_rates(t, p, phase)
        _add_path(t, p, phase)
        _add_arrivals(t, p)
    for p, transition in enumerate(problem.transitions):
        if isinstance(transition, Impact):
            _add_impact(t, p, transition)
    _add_ends(t)
    return t


def _constrain_path(rows: Rows, terms: tuple[PathConstraint, ...], kinds: tuple[str, ...], stage: Stage) -> None:
    for term in terms:
        if term.where in kinds:
            value, lower, upper = term.rows(stage)
            scale = FORCE_SCALE if term.where == "wrench" else 1.0
            rows.constrain(type(term).__name__, value, lower, upper, scale)


def _add_intervals(t: Transcription, p: int, phase: Phase) -> None:
    x, problem = t.phases[p], t.problem
    implicit = problem.form == "implicit"
    slots = {"q": x.q[0], "v": x.v[0], "q1": x.q[1], "v1": x.v[1], "tau": x.tau[0], "T": x.duration}
    if implicit:
        slots |= {"a": x.a[0]} | ({"lam": x.lam[0]} if x.lam else {})
    slots |= place_slots(t, phase.footholds)
    step = implicit_step if implicit else explicit_step

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = z["T"] / phase.intervals
        stage = step(t, phase, z, h, rows)
        stage.s = (z["k"] + 0.5) / phase.intervals
        _constrain_path(rows, phase.path, ("interval", "wrench"), stage)
        per = 1 / z["step_length"] if problem.per_distance else 1.0
        for objective in _integrands(phase):
            rows.cost(objective_name(objective), objective.weight * h * per * objective.integrand(stage))

    block = t.program.block(phase.name, slots, body, k=1)
    constant = {key: variable for key, variable in slots.items() if key.startswith("place") or key == "step_length"}
    for k in range(phase.intervals):
        local = {"q": x.q[k], "v": x.v[k], "q1": x.q[k + 1], "v1": x.v[k + 1], "tau": x.tau[k], "T": x.duration}
        local |= {"a": x.a[k]} if implicit else {}
        local |= {"lam": x.lam[k]} if x.lam else {}
        block.add(local | constant, k=k)


def _integrands(phase: Phase) -> list[Objective]:
    return [term for term in phase.objective if isinstance(term, Objective)]


def _rate_terms(phase: Phase) -> list[RateObjective]:
    return [term for term in phase.objective if isinstance(term, RateObjective)]


def _add_rates(t: Transcription, p: int, phase: Phase) -> None:
    """Costs on the rate of the torques: from interval to interval, and from this phase into the next."""
    terms, problem, x = _rate_terms(phase), t.problem, t.phases[p]
    if not terms:
        return
    last = p == len(problem.phases) - 1
    following = (p + 1) % len(problem.phases)
    for inside in (True, False):
        if not inside and last and problem.periodic is None:
            continue
        turn = t.mirror if last and not inside else None
        y, other = (x, phase) if inside else (t.phases[following], problem.phases[following])
        slots = {"tau": x.tau[-1], "tau1": y.tau[0], "T": x.duration}
        slots |= {"T1": y.duration} if y is not x else {}
        slots |= {"step_length": t.step_length} if problem.per_distance and t.step_length is not None else {}

        def body(z: dict[str, SX], rows: Rows, turn: Any = turn, other: Phase = other) -> None:
            h = (z["T"] / phase.intervals + z.get("T1", z["T"]) / other.intervals) / 2
            tau, tau1 = (full_tau(problem, z[key]) for key in ("tau", "tau1"))
            rate = (tau1 - (turn.qd(tau) if turn is not None else tau)) / h
            per = 1 / z["step_length"] if problem.per_distance else 1.0
            for term in terms:
                rows.cost(objective_name(term), term.weight * h * per * term.rate_integrand(rate))

        block = t.program.block(
            f"torque rate in {phase.name}" if inside else f"torque rate after {phase.name}", slots, body
        )
        for k in range(phase.intervals - 1) if inside else [phase.intervals - 1]:
            block.add(slots | {"tau": x.tau[k], "tau1": x.tau[k + 1] if inside else y.tau[0]})


def _add_path(t: Transcription, p: int, phase: Phase) -> None:
    """Node constraints, inside the phase; with the ends where a constraint says `ends = True`."""
    x, problem = t.phases[p], t.problem
    starts_anew = p == 0 or isinstance(problem.transitions[p - 1], Impact)
    for term in phase.path:
        if term.where != "node":
            continue
        ends = getattr(term, "ends", False)

        def body(z: dict[str, SX], rows: Rows, term: PathConstraint = term) -> None:
            stage = Stage(problem.model, z["q"], z["v"], s=z["s"], values=z)
            _constrain_path(rows, (term,), ("node",), stage)

        name = f"{phase.name} {type(term).__name__}"
        block = t.program.block(name, {"q": x.q[0], "v": x.v[0]}, body, s=1)
        first, last = (0 if starts_anew else 1, phase.intervals) if ends else (1, phase.intervals - 1)
        for k in range(first, last + 1):
            block.add({"q": x.q[k], "v": x.v[k]}, s=k / phase.intervals)


def _add_arrivals(t: Transcription, p: int) -> None:
    """Pose of the feet set down at the start of a phase, and rest of the feet that hold still from there on."""
    problem, phase, x = t.problem, t.problem.phases[p], t.phases[p]
    before: set[Foothold] = set(problem.phases[p - 1].footholds) if p else set(t.images)
    transition: Transition | None = problem.transitions[p - 1] if p else None
    if p == 0 and problem.periodic is not None:
        transition = problem.periodic.transition
    new = tuple(f for f in phase.footholds if f not in before)
    still = phase.footholds if isinstance(transition, Impact) or (p == 0 and transition is None) else new
    if not phase.footholds:
        return
    model = problem.model

    def body(z: dict[str, SX], rows: Rows) -> None:
        here = places(t, new, z)
        for f in new:
            rows.constrain(f"pose of {f.name}", f.position(model, z["q"], here[f]))
        if still:
            rows.constrain("feet at rest", constraint_jacobian(model, contacts(still), z["q"]) @ z["v"])

    slots = {"q": x.q[0], "v": x.v[0]} | place_slots(t, new)
    t.program.block(f"start of {phase.name}", slots, body).add(slots)


def _impact_rows(
    t: Transcription, rows: Rows, phase: Phase, transition: Impact, q: Expr, v: Expr, v_plus: Expr, z: dict[str, SX]
) -> None:
    model = t.problem.model
    G = constraint_jacobian(model, contacts(phase.footholds), q)
    change = function(mass_matrix, model)(q) @ (v_plus - v)
    rows.constrain("impact", change - G.T @ z["Lam"], scale=10.0)
    here = places(t, phase.footholds, z)
    stage = Stage(model, q, v_plus, wrenches=wrenches(phase.footholds, z["Lam"]), places=here, values=z)
    _constrain_path(rows, phase.path, ("wrench",), stage)
    if transition.weight:
        rows.cost("Impact", transition.weight * ca.sumsqr(z["Lam"]))


def _add_impact(t: Transcription, p: int, transition: Impact) -> None:
    """Between phase p and the next: positions are shared, velocities jump."""
    before, after, phase = t.phases[p], t.phases[p + 1], t.problem.phases[p + 1]
    impulse = t.impulses[p]
    slots = {"q": after.q[0], "v": before.v[-1], "v_plus": after.v[0]} | place_slots(t, phase.footholds)
    slots |= {"Lam": impulse} if impulse is not None else {}

    def body(z: dict[str, SX], rows: Rows) -> None:
        if impulse is None:
            rows.constrain("velocity", z["v_plus"] - z["v"])
        else:
            _impact_rows(t, rows, phase, transition, z["q"], z["v"], z["v_plus"], z)

    t.program.block(f"impact to {phase.name}", slots, body).add(slots)


def _add_ends(t: Transcription) -> None:
    """Periodicity, boundary conditions, unit quaternions at the start, speed."""
    problem, model = t.problem, t.problem.model
    start, end = t.phases[0], t.phases[-1]
    slots = {"q": start.q[0], "v": start.v[0], "q_end": end.q[-1], "v_end": end.v[-1]}
    slots |= {f"T{p}": x.duration for p, x in enumerate(t.phases)}
    if t.step_length is not None:
        slots |= place_slots(t, problem.phases[0].footholds)
    if t.speed is not None:
        slots["speed"] = t.speed
    if problem.periodic is not None and t.impulses[-1] is not None:
        slots["Lam"] = t.impulses[-1]

    def body(z: dict[str, SX], rows: Rows) -> None:
        time = sum((z[f"T{p}"] for p in range(len(t.phases))), start=SX(0))
        values = z | {"time": time}
        for i, _ in model.edges:
            quaternion = model.split_q(z["q"])[i]
            if model.joints[i].nq > model.joints[i].nv:
                rows.constrain("unit quaternion", ca.sumsqr(quaternion[-4:]) - 1)
        if problem.periodic is not None:
            _close_period(t, rows, problem.periodic.transition, z)
            if "speed" in z:
                rows.constrain("speed", z["step_length"] - z["speed"] * time)
        for condition in problem.boundary:
            found = condition.function(
                Stage(model, z["q"], z["v"], values=values), Stage(model, z["q_end"], z["v_end"], s=1.0, values=values)
            )
            if not isinstance(found, (tuple, list)) or len(found) != 3:
                raise ValueError(f"Boundary {condition.name!r} must return (expression, lower, upper), got {found!r}")
            rows.constrain(condition.name, *found)

    t.program.block("ends", slots, body).add(slots)


def _close_period(t: Transcription, rows: Rows, transition: Transition, z: dict[str, SX]) -> None:
    """The start is the image of the end, one step back, after the closing transition."""
    model = t.problem.model
    q, v = z["q_end"], z["v_end"]
    if t.mirror is not None:
        q, v = t.mirror.q(q), t.mirror.qd(v)
    back = DM(model.nq, 1)
    back[0] = 1
    rows.constrain("periodic position", model.difference(q - back * z["step_length"], z["q"]))
    if isinstance(transition, Continuous) or "Lam" not in z:
        rows.constrain("periodic velocity", z["v"] - v)
    else:
        _impact_rows(t, rows, t.problem.phases[0], transition, z["q"], v, z["v"], z)
