"""The variables of a transcribed problem, and where everything is in its program."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from casadi import SX

from .._types import Expr, split
from ..constraints import Contact
from .mirror import MirrorMap
from .nlp import Program, Variable
from .problem import Impact, Problem
from .stage import Foothold

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


def add_variables(t: Transcription) -> None:
    """Allocates everything: places, durations, states, controls, impulses."""
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
    images = {f: last[f.name] for f in t.problem.phases[0].footholds if f.name in last}
    for foothold in images.values():
        if foothold in images:
            raise ValueError(
                f"Foothold {foothold.name!r} stands in the first and in the last phase, but a periodic motion moves it "
                "on by the step length: give the last phase a Foothold of its own, after a phase in which it is lifted"
            )
    return images


def place_slots(t: Transcription, feet: tuple[Foothold, ...]) -> dict[str, Variable]:
    """Slots for the places of the feet, and for the step length that the images among them need."""
    slots = {f"place{k}": t.places[t.images.get(f, f)] for k, f in enumerate(feet)}
    unique = {slots[key]: key for key in reversed(slots)}  # a variable enters a block once
    slots = {key: variable for variable, key in unique.items()}
    return slots | ({"step_length": t.step_length} if t.step_length is not None else {})


def places(t: Transcription, feet: tuple[Foothold, ...], z: dict[str, SX]) -> dict[Foothold, Expr]:
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


def wrenches(feet: tuple[Foothold, ...], lam: Expr) -> dict[Foothold, Expr]:
    """The contact rows of a phase as a wrench on every foot."""
    parts = split(lam, *(f.size for f in feet)) if feet else []
    return {f: f.wrench(part) for f, part in zip(feet, parts, strict=True)}


def full_tau(problem: Problem, tau: Expr) -> Expr:
    """tau (nv) of the motors' torques; zero where there is no motor."""
    full = SX(problem.model.nv, 1)
    full[problem.actuated] = tau
    return full


def contacts(feet: tuple[Foothold, ...]) -> tuple[Contact, ...]:
    """The constraint set of a phase."""
    return tuple(f.contact for f in feet)
