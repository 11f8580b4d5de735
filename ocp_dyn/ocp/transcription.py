"""Direct multiple shooting: a Problem becomes a Program, one block per kind of stage.

implicit: per interval the variables a, tau, lam; with h the step, v_m = v + h/2 a and q_m = q (+) h/2 v_m,

    v_next = v + h a,   q_next = q (+) h v_m,   ID(q_m, v_m, a) = tau + G(q_m)' lam        (implicit midpoint)

and every foothold's pose at the end of the interval. The pose of a foot at the first node is asked for
only where the foot is set down: elsewhere the interval before, or periodicity, implies it.

explicit: per interval tau; qdd, lam from constrained_dynamics; RK4 or semi-implicit Euler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._types import Array, Expr
from ..constrained import constrained_dynamics
from ..constraints import constraint_jacobian
from ..dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from ..functions import function
from ..kinematics import point_position
from ..model import Model
from .mirror import MirrorMap
from .nlp import Program, Rows, Variable
from .problem import Continuous, Impact, Phase, Problem, Transition
from .stage import Foothold, Stage
from .terms import Objective, PathConstraint, RateObjective, objective_name

FORCE_SCALE = 100.0
"""Typical size of torques [N m], forces [N] and impulses: halves the iterations of the solver."""


@dataclass
class PhaseVariables:
    """The variables of one phase: states at its nodes, controls on its intervals."""

    duration: Variable
    q: list[Variable] = field(default_factory=list)
    v: list[Variable] = field(default_factory=list)
    a: list[Variable] = field(default_factory=list)
    tau: list[Variable] = field(default_factory=list)
    lam: list[Variable] = field(default_factory=list)


@dataclass
class Transcription:
    """The program of a problem, and where everything is in it."""

    problem: Problem
    program: Program
    mirror: MirrorMap | None
    phases: list[PhaseVariables] = field(default_factory=list)
    places: dict[Foothold, Variable] = field(default_factory=dict)
    images: dict[Foothold, Foothold] = field(default_factory=dict)
    """Feet that stand since before the start, and whose foothold at the end they are the image of."""
    impulses: list[Variable | None] = field(default_factory=list)
    """Of every transition, the one that closes the period last."""
    step_length: Variable | None = None
    speed: Variable | None = None


def transcribe(problem: Problem, threads: int = 2) -> Transcription:
    """The nonlinear program of a problem, by the form and the integrator it names."""
    t = Transcription(problem, Program(threads), problem.mirror())
    if problem.periodic is not None:
        low, high = np.atleast_1d(problem.periodic.step_length)[[0, -1]]
        t.step_length = t.program.variable("step_length", 1, low, high, np.clip(0.5, low, high))
        if problem.periodic.speed is not None:
            s = problem.periodic.speed
            t.speed = t.program.variable("speed", 1, s, s, s)
    _add_variables(t)
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


# Variables


def _add_variables(t: Transcription) -> None:
    problem, model, program = t.problem, t.problem.model, t.program
    t.images = _standing_feet(t)
    for foothold in problem.footholds:
        if foothold not in t.images:
            low, high = np.transpose([foothold.x, foothold.y, foothold.yaw])
            t.places[foothold] = program.variable(f"place of {foothold.name}", 3, low, high, (low + high) / 2)
    dofs = model.dofs
    unlimited = np.full(model.nq, np.inf)
    q_low, q_high = (dofs.q_lower, dofs.q_upper) if problem.limits else (-unlimited, unlimited)
    v_max = dofs.qd_max if problem.limits else np.full(model.nv, np.inf)
    tau_max = (dofs.tau_max if problem.limits else np.full(model.nv, np.inf))[problem.actuated]
    neutral = model.neutral()
    for p, phase in enumerate(problem.phases):
        low, high = phase.duration
        x = PhaseVariables(program.variable(f"duration of {phase.name}", 1, low, high, (low + high) / 2))
        m = sum(foothold.size for foothold in phase.footholds)
        for k in range(phase.intervals + 1):
            here = f"{phase.name}[{k}]"
            before = t.phases[p - 1] if p and k == 0 else None
            hit = before is not None and isinstance(problem.transitions[p - 1], Impact)
            x.q.append(before.q[-1] if before else program.variable(f"q {here}", model.nq, q_low, q_high, neutral))
            if before and not hit:
                x.v.append(before.v[-1])
            else:
                x.v.append(program.variable(f"v {here}", model.nv, -v_max, v_max, 0.0))
            if k == phase.intervals:
                break
            x.tau.append(program.variable(f"tau {here}", len(tau_max), -tau_max, tau_max, 0.0, FORCE_SCALE))
            if problem.form == "implicit":
                x.a.append(program.variable(f"a {here}", model.nv, -np.inf, np.inf, 0.0))
                if m:
                    x.lam.append(program.variable(f"lam {here}", m, -np.inf, np.inf, 0.0, FORCE_SCALE))
        t.phases.append(x)
    closing = [problem.periodic.transition] if problem.periodic else []
    for p, transition in enumerate([*problem.transitions, *closing]):
        feet = problem.phases[(p + 1) % len(problem.phases)].footholds
        size = sum(foothold.size for foothold in feet)
        hit = isinstance(transition, Impact) and size > 0
        t.impulses.append(program.variable(f"impulse {p}", size, -np.inf, np.inf, 0.0, FORCE_SCALE) if hit else None)


def _standing_feet(t: Transcription) -> dict[Foothold, Foothold]:
    """Footholds of the first phase that are images of the last phase's: the foot stood there before."""
    if t.problem.periodic is None:
        return {}
    name = (lambda n: t.mirror.frame(n).name) if t.mirror else (lambda n: n)
    last = {name(f.name): f for f in t.problem.phases[-1].footholds}
    return {f: last[f.name] for f in t.problem.phases[0].footholds if f.name in last}


# Blocks


def _place_slots(t: Transcription, feet: tuple[Foothold, ...]) -> dict[str, Variable]:
    slots = {f"place{k}": t.places[t.images.get(f, f)] for k, f in enumerate(feet)}
    unique = {slots[key]: key for key in reversed(slots)}  # a variable enters a block once
    slots = {key: variable for variable, key in unique.items()}
    return slots | ({"step_length": t.step_length} if t.step_length is not None else {})


def _places(t: Transcription, feet: tuple[Foothold, ...], z: dict[str, SX]) -> dict[Foothold, Expr]:
    """Where every foot stands: its own variable, or the image of the place where the motion ends."""
    found: dict[Foothold, Expr] = {}
    owners = [t.places[t.images.get(f, f)] for f in feet]
    for f, owner in zip(feet, owners, strict=True):
        place = z[f"place{owners.index(owner)}"]
        if f in t.images:
            side = -1.0 if t.mirror else 1.0
            place = ca.vertcat(place[0] - z["step_length"], side * place[1], side * place[2])
        found[f] = place
    return found


def _wrenches(feet: tuple[Foothold, ...], lam: Expr) -> dict[Foothold, Expr]:
    parts = ca.vertsplit(lam, np.cumsum([0, *(f.size for f in feet)]).tolist()) if feet else []
    return {f: f.wrench(part) for f, part in zip(feet, parts, strict=True)}


def _full_tau(problem: Problem, tau: Expr) -> Expr:
    full = SX(problem.model.nv, 1)
    full[problem.actuated] = tau
    return full


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
    slots |= _place_slots(t, phase.footholds)
    step = _implicit_step if implicit else _explicit_step

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
    return [term for term in phase.objective if not hasattr(term, "rate_integrand")]


def _rate_terms(phase: Phase) -> list[RateObjective]:
    return [term for term in phase.objective if hasattr(term, "rate_integrand")]


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
            tau, tau1 = (_full_tau(problem, z[key]) for key in ("tau", "tau1"))
            rate = (tau1 - (turn.qd(tau) if turn is not None else tau)) / h
            per = 1 / z["step_length"] if problem.per_distance else 1.0
            for term in terms:
                rows.cost(objective_name(term), term.weight * h * per * term.rate_integrand(rate))

        block = t.program.block(f"torque rate in {phase.name}" if inside else f"torque rate after {phase.name}", slots, body)
        for k in range(phase.intervals - 1) if inside else [phase.intervals - 1]:
            block.add(slots | {"tau": x.tau[k], "tau1": x.tau[k + 1] if inside else y.tau[0]})


def _implicit_step(t: Transcription, phase: Phase, z: dict[str, SX], h: SX, rows: Rows) -> Stage:
    model, feet = t.problem.model, phase.footholds
    vm = z["v"] + h / 2 * z["a"]
    qm = model.integrate(z["q"], h / 2 * vm)
    tau = _full_tau(t.problem, z["tau"])
    force = function(inverse_dynamics, model)(qm, vm, z["a"]) - tau
    lam = z.get("lam", SX(0, 1))
    places = _places(t, feet, z)
    if feet:
        force = force - constraint_jacobian(model, _contacts(feet), qm).T @ lam
    rows.constrain("velocity step", z["v1"] - z["v"] - h * z["a"])
    rows.constrain("position step", z["q1"] - model.integrate(z["q"], h * vm))
    rows.constrain("dynamics", force, scale=FORCE_SCALE)
    for f in feet:
        rows.constrain(f"pose of {f.name}", f.position(model, z["q1"], places[f]))
    return Stage(model, qm, vm, a=z["a"], tau=tau, wrenches=_wrenches(feet, lam), places=places, values=z)


def _explicit_step(t: Transcription, phase: Phase, z: dict[str, SX], h: SX, rows: Rows) -> Stage:
    model, feet = t.problem.model, phase.footholds
    tau = _full_tau(t.problem, z["tau"])

    def rate(q: Expr, v: Expr) -> tuple[Expr, Expr]:
        if not feet:
            return function(forward_dynamics, model)(q, v, tau), SX(0, 1)
        a, lam = function(constrained_dynamics, model, _contacts(feet))(q, v, tau)
        return a, lam

    q, v = z["q"], z["v"]
    a, lam = rate(q, v)
    if t.problem.integrator == "euler":
        v1 = v + h * a
        q1 = model.integrate(q, h * v1)
    else:
        q1, v1 = _rk4(model, lambda q, v: rate(q, v)[0], q, v, a, h)
    rows.constrain("velocity step", z["v1"] - v1)
    rows.constrain("position step", z["q1"] - q1)
    places = _places(t, feet, z)
    return Stage(model, q, v, a=a, tau=tau, wrenches=_wrenches(feet, lam), places=places, values=z)


def _rk4(model: Model, rate: Callable[[Expr, Expr], Expr], q: Expr, v: Expr, a1: Expr, h: Expr) -> tuple[Expr, Expr]:
    """One classical Runge-Kutta step of (dq/dt, dv/dt) = (q_dot(q, v), rate(q, v)); a1 = rate(q, v)."""
    k1, v2 = model.q_dot(q, v), v + h / 2 * a1
    q2 = q + h / 2 * k1
    a2, k2 = rate(q2, v2), model.q_dot(q2, v2)
    q3, v3 = q + h / 2 * k2, v + h / 2 * a2
    a3, k3 = rate(q3, v3), model.q_dot(q3, v3)
    q4, v4 = q + h * k3, v + h * a3
    a4, k4 = rate(q4, v4), model.q_dot(q4, v4)
    return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def _contacts(feet: tuple[Foothold, ...]) -> tuple[Any, ...]:
    return tuple(f.contact for f in feet)


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
        places = _places(t, new, z)
        for f in new:
            rows.constrain(f"pose of {f.name}", f.position(model, z["q"], places[f]))
        if still:
            rows.constrain("feet at rest", constraint_jacobian(model, _contacts(still), z["q"]) @ z["v"])

    slots = {"q": x.q[0], "v": x.v[0]} | _place_slots(t, new)
    t.program.block(f"start of {phase.name}", slots, body).add(slots)


def _impact_rows(
    t: Transcription, rows: Rows, phase: Phase, transition: Impact, q: Expr, v: Expr, v_plus: Expr, z: dict[str, SX]
) -> None:
    model = t.problem.model
    contacts = _contacts(phase.footholds)
    change = function(mass_matrix, model)(q) @ (v_plus - v)
    rows.constrain("impact", change - constraint_jacobian(model, contacts, q).T @ z["Lam"], scale=10.0)
    places = _places(t, phase.footholds, z)
    stage = Stage(model, q, v_plus, wrenches=_wrenches(phase.footholds, z["Lam"]), places=places, values=z)
    _constrain_path(rows, phase.path, ("wrench",), stage)
    if transition.weight:
        rows.cost("Impact", transition.weight * ca.sumsqr(z["Lam"]))


def _add_impact(t: Transcription, p: int, transition: Impact) -> None:
    """Between phase p and the next: positions are shared, velocities jump."""
    before, after, phase = t.phases[p], t.phases[p + 1], t.problem.phases[p + 1]
    impulse = t.impulses[p]
    slots = {"q": after.q[0], "v": before.v[-1], "v_plus": after.v[0]} | _place_slots(t, phase.footholds)
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
        slots |= _place_slots(t, problem.phases[0].footholds)
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
            value, lower, upper = condition.function(
                Stage(model, z["q"], z["v"], values=values), Stage(model, z["q_end"], z["v_end"], s=1.0, values=values)
            )
            rows.constrain(condition.name, value, lower, upper)

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


def initial_guess(t: Transcription) -> None:
    """First values: the user's, or the robot standing, moved forward at the speed asked for, its weight on its feet."""
    problem, program = t.problem, t.program
    speed = problem.periodic.speed if problem.periodic and problem.periodic.speed else 0.0
    durations = [float(program.start[x.duration.index[0]]) for x in t.phases]
    total = sum(durations)
    if t.step_length is not None and speed:
        program.set_start(t.step_length, speed * total)
    state = problem.guess or _standing_guess(problem, speed, total)
    weight = problem.model.mass * float(np.linalg.norm(problem.model.gravity))
    begin = 0.0
    for x, phase, duration in zip(t.phases, problem.phases, durations, strict=True):
        for k in range(phase.intervals + 1):
            q, v = state((begin + duration * k / phase.intervals) / total)
            program.set_start(x.q[k], q)
            program.set_start(x.v[k], v)
        for lam in x.lam:
            program.set_start(lam, _weight_rows(phase.footholds, weight))
        begin += duration


def _standing_guess(problem: Problem, speed: float, total: float) -> Callable[[float], tuple[Array, Array]]:
    q0, v = standing(problem), np.zeros(problem.model.nv)
    if problem.periodic is not None:
        v[0] = speed

    def state(s: float) -> tuple[Array, Array]:
        q = q0.copy()
        if problem.periodic is not None:
            q[0] += speed * total * (s - 0.5)
        return q, v

    return state


def _weight_rows(feet: tuple[Foothold, ...], weight: float) -> Array:
    """Contact rows that carry the weight, shared evenly."""
    share = np.array([0, 0, 0, 0, 0, weight / max(1, len(feet))])
    parts = [share if f.contact.axes is None else np.asarray(f.contact.axes) @ share[3:] for f in feet]
    return np.concatenate(parts)


def standing(problem: Problem) -> Array:
    """The posture of the first guess, its lowest foot on the ground."""
    model = problem.model
    dofs = model.dofs
    q = np.array(model.neutral() if problem.posture is None else problem.posture, dtype=float)
    if problem.limits:
        q = np.clip(q, dofs.q_lower, dofs.q_upper)
    feet = problem.footholds
    if problem.posture is None and feet and model.joints[1].q_labels[:3] == ("x", "y", "z"):
        heights = [float(point_position(model, f.name, DM(q), f.contact.point)[2]) for f in feet]
        q[2] -= min(heights)
    return q
