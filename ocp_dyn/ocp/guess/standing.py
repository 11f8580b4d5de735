"""The default first guess: the standing posture, moved forward; and guesses by functions or plans of the feet."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from casadi import DM

from ..._arguments import called, numbers
from ..._types import Array, shown
from ...casadi_functions.function import function
from ...constraints import RollingContact, constraint_jacobian
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...symmetry.advance import Advance
from ..equations import equations_of
from ..nlp.program import Variable
from ..statement.footholds import CompliantFoothold, Foothold, Held
from ..statement.guesses import FootPlan, Postures
from ..statement.statement import Statement
from ..transcription.variables import Transcription, advance_value, contacts, model_of, number, state_of
from .foot_plan import planned
from .postures import through_postures


def initial_guess(transcription: Transcription) -> None:
    """Sets first values of states, contact forces and the step length.

    States come from the problem's guess, or from the standing posture moved forward at the problem's speed; contact
    forces carry the weight in equal shares. With a `FootPlan` or `Postures` in the implicit form, accelerations and torques are set
    too.
    """
    problem, program = transcription.problem, transcription.program
    speed = (
        float(number(transcription, transcription.speed, program.start)[0]) if transcription.speed is not None else 0.0
    )
    durations = [float(number(transcription, x.duration, program.start)[0]) for x in transcription.phases]
    total = sum(durations)
    _start_step(transcription, speed * total)
    if isinstance(problem.guess, FootPlan):
        state = planned(problem.guess, transcription, durations, standing(problem))
    elif isinstance(problem.guess, Postures):
        state = through_postures(problem.guess, transcription, durations, standing(problem))
    else:
        state = problem.guess or _standing_guess(transcription, speed, total)
    weight = problem.model.mass * float(np.linalg.norm(problem.model.gravity))
    independent = problem.coordinates.q, problem.coordinates.qd
    begin = 0.0
    for x, phase, duration in zip(transcription.phases, problem.phases, durations, strict=True):
        for k in range(phase.intervals + 1):
            found = _state_at(problem, state, (begin + duration * k / phase.intervals) / total)
            for variable, values, chosen in zip((x.q[k], x.qd[k]), found, independent, strict=True):
                program.set_start(variable, values[chosen])
        for lam in x.lam:
            rows = _weight_rows(phase.held, weight)
            program.set_start(lam, np.tile(rows, lam.size // rows.size))
        for k, inner in enumerate(x.inner):
            fractions = (k + np.arange(1, problem.steps) / problem.steps) / phase.intervals
            between = [_state_at(problem, state, (begin + duration * s) / total) for s in fractions]
            parts = [part[chosen] for pair in between for part, chosen in zip(pair, independent, strict=True)]
            program.set_start(inner, np.concatenate(parts))
        begin += duration
    if isinstance(problem.guess, (FootPlan, Postures)) and problem.form == "implicit":
        _follow_motion(transcription)


def _start_step(transcription: Transcription, distance: float) -> None:
    """Sets the first values of a free step so that its horizontal distance [m] is the given one, if that is not 0."""
    step, now = transcription.step, advance_value(transcription, transcription.program.start)
    for name, other in (("step_length", "sideways"), ("sideways", "step_length")):
        slot = step.get(name)
        if distance and isinstance(slot, Variable):
            size = math.sqrt(max(0.0, distance**2 - now[other] ** 2))
            transcription.program.set_start(slot, math.copysign(size, distance if name == "step_length" else now[name]))
            return


RATE_STEP = 1e-4
"""Fraction of the motion between two postures whose difference gives a velocity."""

LARGEST_ACCELERATION = 100.0
"""Largest acceleration of a guess [rad/s^2, m/s^2]; larger ones come from corners of the guessed motion only."""


def _follow_motion(transcription: Transcription) -> None:
    """Sets accelerations from the guessed velocities, and torques by inverse dynamics, up to half of their limits."""
    problem, program = transcription.problem, transcription.program
    model, actuated = (
        model_of(
            transcription,
            {name: DM(number(transcription, slot, program.start)) for name, slot in transcription.slots.items()},
        ),
        problem.actuated,
    )
    least, most = (0.5 * limit[actuated] for limit in (model.dofs.tau_min, model.dofs.tau_max))
    equations = equations_of(problem).of(model)
    for x, phase in zip(transcription.phases, problem.phases, strict=True):
        h = float(number(transcription, x.duration, program.start)[0]) / phase.intervals
        feet = contacts(phase.held)
        G = function(constraint_jacobian, model, feet) if feet else None
        for k in range(phase.intervals):
            q, qd = state_of(transcription, x.q[k], x.qd[k], program.start)
            qd1 = state_of(transcription, x.q[k + 1], x.qd[k + 1], program.start)[1]
            qdd = np.clip((qd1 - qd) / h, -LARGEST_ACCELERATION, LARGEST_ACCELERATION)
            chosen = problem.coordinates
            program.set_start(x.qdd[k], np.tile(qdd[chosen.qd], x.qdd[k].size // len(chosen.qd)))
            tau = equations.inverse_dynamics(q, qd, qdd)
            if G is not None:
                jacobian = G(q)
                tau = tau - jacobian.T @ DM(number(transcription, x.lam[k], program.start)[: jacobian.shape[0]])
            felt = chosen.spread(chosen.project(DM(q), DM(tau)))  # the constraints of dependent joints carry the rest
            program.set_start(x.tau[k], np.clip(np.array(felt.full()).ravel()[actuated], least, most))


def _state_at(problem: Statement, guess: Callable[[float], object], s: float) -> tuple[Array, Array]:
    """(q, qd) that a guess returns at s; ValueError if it returns anything else."""
    nq, nv = problem.model.nq, problem.model.nv
    found = called(f"guess at s = {s:.3g}", guess, s)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise ValueError(f"guess must return (q, qd), got {shown(found)} at s = {s:.3g}")
    try:
        q, qd = (numbers(part, "guess") for part in found)
    except (TypeError, ValueError):
        q = qd = np.zeros(0)
    if (q.size, qd.size) != (nq, nv) or not np.all(np.isfinite([*q, *qd])):
        raise ValueError(
            f"guess must return finite q (nq = {nq}) and qd (nv = {nv}), got {shown(found[0])} and {shown(found[1])} "
            f"at s = {s:.3g}"
        )
    return q, qd


def _standing_guess(transcription: Transcription, speed: float, total: float) -> Callable[[float], tuple[Array, Array]]:
    """The standing posture, moved at the speed of the motion; the middle of a straight motion lies where it stands."""
    problem, model = transcription.problem, transcription.problem.model
    q0, qd = standing(problem), np.zeros(model.nv)
    if problem.periodic is None:
        return lambda s: (q0.copy(), qd)
    step = advance_value(transcription, transcription.program.start)
    if not any(step[name] for name in ("sideways", "rise", "turn")):
        qd[0] = speed
        ahead = np.eye(model.nq)[0] * speed * total
        return lambda s: (q0 + ahead * (s - 0.5), qd)

    def state(s: float) -> tuple[Array, Array]:
        at, later = (
            np.array(Advance.of(*step.values()).share(x).q(model, DM(q0)).full()).ravel() for x in (s, s + RATE_STEP)
        )
        return at, np.array(model.difference(at, later).full()).ravel() / (RATE_STEP * total)

    return state


def _weight_rows(held: tuple[Held, ...], weight: float) -> Array:
    """Contact rows with which the feet carry the weight in equal shares; zero for other constraints."""
    feet = (Foothold, CompliantFoothold)
    share = weight / max(1, sum(isinstance(f, feet) for f in held))
    parts = [_share_rows(f, share) if isinstance(f, feet) else np.zeros(f.size) for f in held]
    return np.concatenate([np.zeros(0), *parts])


def _share_rows(f: Foothold | CompliantFoothold, share: float) -> Array:
    """Contact rows of one foot under a vertical force [N]."""
    if isinstance(f, CompliantFoothold):
        return np.array([0, 0, 0, *share * np.asarray(f.plane.normal)])
    if isinstance(f.contact, RollingContact):
        return np.array([*share * np.array(f.contact.sides.full())[:, 2], 0, 0])
    return np.array([0, 0, 0, 0, 0, share]) if f.contact.axes is None else np.asarray(f.contact.axes)[:, 2] * share


def standing(problem: Statement) -> Array:
    """The posture of the first guess, with the lowest foot on the ground."""
    model = problem.model
    dofs = model.dofs
    q = np.array(model.neutral() if problem.posture is None else problem.posture, dtype=float)
    if problem.limits:
        q = np.clip(q, dofs.q_lower, dofs.q_upper)
    feet = [f for f in problem.footholds if f.plane == problem.footholds[0].plane]  # others may lie on other planes
    if problem.posture is None and feet and np.allclose(model.root_shifts[:, :3], np.eye(3)[:, : model.nq]):
        placed = [f for f in feet if isinstance(f, Foothold)]
        soft = [f for f in feet if isinstance(f, CompliantFoothold)]
        if placed:
            ground = placed[0].origin(DM(placed[0].bounds.mean(axis=1)))
            heights = [float(point_position(model, f.name, DM(q), f.point)[2]) for f in placed]
            q[2] -= min(heights) - float(ground[2])
        elif soft:
            q[2] -= _height_above_rest(model, soft, q)
    return q


def _height_above_rest(model: Model, feet: list[CompliantFoothold], q: Array) -> float:
    """Height [m] by which to lower the model so that the spheres of its feet carry its weight, by bisection."""
    up = feet[0].plane.normal[2]
    depths = [(sphere, d) for f in feet for sphere, d in zip(f.spheres, _depths(model, f, q), strict=True)]
    touching, size = -max(d for _, d in depths), max(sphere.radius for sphere, _ in depths)
    low, high = touching - size, touching + size  # a light model rests above the ground, where the force fades away
    for _ in range(30):
        middle = (low + high) / 2
        lifted = sum(float(sphere.normal_force(d + middle, 0.0)) for sphere, d in depths)
        low, high = (middle, high) if lifted < model.weight else (low, middle)
    return low / up if up > 0 else 0.0


def _depths(model: Model, f: CompliantFoothold, q: Array) -> Array:
    return np.array(f.depth(model, DM(q)).full()).ravel()
