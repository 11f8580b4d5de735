"""The default first guess: the standing posture, moved forward; and guesses by functions or plans of the feet."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from casadi import DM

from ..._base.checks import call_user, numbers
from ..._base.types import Array, positional, repr_in_message
from ...constraints import RollingContact, constraint_jacobian
from ...dynamics.kinematics import pose, resolve
from ...functions.function import function
from ...mechanism import Model
from ...symmetry.advance import Advance, obstacle
from ..equations import equations_of
from ..nlp.program import Variable
from ..statement.footholds import Foothold, Held, yaw_rotation
from ..statement.ground.wrench_footholds import CompliantFoothold, WrenchFoothold
from ..statement.guesses import FootPlan, Postures
from ..statement.statement import Statement
from ..transcription.variables import Transcription, advance_value, contacts, model_of, number, place_value, state_of
from .channel_guesses import guess_channels
from .foot_plan import planned
from .foot_tracks import positions
from .postures import through_postures


def initial_guess(transcription: Transcription) -> None:
    """Sets first values of states, contact forces and the step length.

    States come from the problem's guess, or from the standing posture moved forward at the problem's speed; contact
    forces carry the weight in equal shares. With a `FootPlan` or `Postures` in the implicit form, accelerations and
    torques are set too.
    """
    problem, program = transcription.problem, transcription.program
    speed = (
        float(number(transcription, transcription.speed, program.start)[0]) if transcription.speed is not None else 0.0
    )
    durations = [float(number(transcription, x.duration, program.start)[0]) for x in transcription.phases]
    total = sum(durations)
    _start_step(transcription, speed * total)
    if isinstance(problem.guess, FootPlan):
        state = planned(problem.guess, transcription, durations, standing(transcription))
    elif isinstance(problem.guess, Postures):
        state = through_postures(problem.guess, transcription, durations, standing(transcription))
    else:
        state = problem.guess or _standing_guess(transcription, speed, total)
    weight = problem.model.mass * float(np.linalg.norm(problem.model.gravity))
    independent = problem.coordinates.q, problem.coordinates.qd
    begin = 0.0
    for x, phase, duration in zip(transcription.phases, problem.phases, durations, strict=True):
        for k in range(phase.grid.count + 1):
            at = duration * k / phase.grid.count if phase.grid.is_even else duration * phase.grid.at(k)
            found = _state_at(problem, state, (begin + at) / total)
            for name, values, chosen in zip(("q", "qd"), found, independent, strict=True):
                program.set_start(x[name][k], values[chosen])
        for lam in x["lam"]:
            rows = _weight_rows(phase.held, weight)
            program.set_start(lam, np.tile(rows, lam.size // rows.size))
        for k, inner in enumerate(x["inner"]):
            fractions = phase.grid.at(k, np.arange(1, problem.steps) / problem.steps)
            between = [_state_at(problem, state, (begin + duration * s) / total) for s in fractions]
            parts = [part[chosen] for pair in between for part, chosen in zip(pair, independent, strict=True)]
            program.set_start(inner, np.concatenate(parts))
        begin += duration
    guess_channels(transcription)
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


ROUNDING = 1e-12
"""Steps [m, rad] of a posture below this are rounding."""

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
        duration = float(number(transcription, x.duration, program.start)[0])
        feet = contacts(phase.held)
        G = function(constraint_jacobian, model, feet, reduce=False) if feet else None  # with the poses of the rows
        for k in range(phase.grid.count):
            h = duration / phase.grid.count if phase.grid.is_even else duration * phase.grid.shares[k]
            q, qd = state_of(transcription, x, k, program.start)
            qd1 = state_of(transcription, x, k + 1, program.start)[1]
            qdd = np.clip((qd1 - qd) / h, -LARGEST_ACCELERATION, LARGEST_ACCELERATION)
            chosen = problem.coordinates
            program.set_start(x["qdd"][k], np.tile(qdd[chosen.qd], x["qdd"][k].size // len(chosen.qd)))
            tau = equations.inverse_dynamics(q, qd, qdd)
            if G is not None:
                jacobian = G(q)
                tau = tau - jacobian.T @ DM(number(transcription, x["lam"][k], program.start)[: jacobian.shape[0]])
            felt = chosen.spread(chosen.project(DM(q), DM(tau)))  # the constraints of dependent joints carry the rest
            program.set_start(x["tau"][k], np.clip(np.array(felt.full()).ravel()[actuated], least, most))


def _state_at(problem: Statement, guess: Callable[[float], object], s: float) -> tuple[Array, Array]:
    """(q, qd) that a guess returns at s; ValueError if it returns anything else."""
    nq, nv = problem.model.nq, problem.model.nv
    found = call_user(f"guess at s = {s:.3g}", guess, s)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise ValueError(f"guess must return (q, qd), got {repr_in_message(found)} at s = {s:.3g}")
    found = [
        positional(part, f"guess at s = {s:.3g}: {what}", names)
        for part, what, names in zip(found, ("q", "qd"), (problem.model.q_names, problem.model.qd_names), strict=True)
    ]
    try:
        q, qd = (numbers(part, "guess") for part in found)
    except (TypeError, ValueError):
        q = qd = np.zeros(0)
    if (q.size, qd.size) != (nq, nv) or not np.all(np.isfinite([*q, *qd])):
        raise ValueError(
            f"guess must return finite q (nq = {nq}) and qd (nv = {nv}), got {repr_in_message(found[0])} and "
            f"{repr_in_message(found[1])} at s = {s:.3g}"
        )
    return q, qd


def _standing_guess(transcription: Transcription, speed: float, total: float) -> Callable[[float], tuple[Array, Array]]:
    """The standing posture, moved at the speed of the motion; the middle of a straight motion lies where it stands."""
    problem, model = transcription.problem, transcription.problem.model
    q0, qd = standing(transcription), np.zeros(model.nv)
    if problem.periodic is None:
        return lambda s: (q0.copy(), qd)
    step = advance_value(transcription, transcription.program.start)
    if not (step["rise"] or step["turn"]):
        length = math.hypot(step["step_length"], step["sideways"])
        distance = abs(speed) * total
        way = [distance * step[name] / length if length else 0.0 for name in ("step_length", "sideways")]
        ahead, behind = (
            np.array(Advance.of(*(s * x for x in way)).q(model, DM(q0)).full()).ravel() for s in (0.5, -0.5)
        )
        qd = np.array(model.difference(behind, ahead).full()).ravel() / total
        return lambda s: (behind + (ahead - behind) * s, qd)

    def state(s: float) -> tuple[Array, Array]:
        at, later = (
            np.array(Advance.of(*step.values()).share(x).q(model, DM(q0)).full()).ravel() for x in (s, s + RATE_STEP)
        )
        return at, np.array(model.difference(at, later).full()).ravel() / (RATE_STEP * total)

    return state


def _weight_rows(held: tuple[Held, ...], weight: float) -> Array:
    """Contact rows with which the feet carry the weight in equal shares; zero for other constraints."""
    feet = (Foothold, WrenchFoothold)
    share = weight / max(1, sum(isinstance(f, feet) for f in held))
    parts = [_share_rows(f, share) if isinstance(f, feet) else np.zeros(f.size) for f in held]
    return np.concatenate([np.zeros(0), *parts])


def _share_rows(f: Foothold | WrenchFoothold, share: float) -> Array:
    """Contact rows of one foot under a vertical force [N]."""
    if isinstance(f, WrenchFoothold):
        return np.array([0, 0, 0, *share * np.asarray(f.plane.normal)])
    if isinstance(f.contact, RollingContact):
        up = share * np.array(f.contact.sides.full())[:, 2]
        return np.concatenate([up, np.zeros(f.size - len(up))])
    if f.contact.axes is not None:
        return np.asarray(f.contact.axes)[:, 2] * share
    return np.array([*np.zeros(f.size - 1), share])


def standing(transcription: Transcription) -> Array:
    """The posture of the first guess. The problem's own is where and as the user wants it; else the neutral posture
    stands over the footholds of the first phase that has any, turned as they are, with the lowest foot on the
    ground."""
    problem = transcription.problem
    model, dofs = problem.model, problem.model.dofs
    q = np.array(model.neutral() if problem.posture is None else problem.posture, dtype=float)
    if problem.limits:
        q = np.clip(q, dofs.q_lower, dofs.q_upper)
    feet = [f for f in problem.footholds if f.plane == problem.footholds[0].plane]  # others may lie on other planes
    if problem.posture is not None or not feet:
        return q
    placed = [f for f in feet if isinstance(f, Foothold)]
    if not placed:
        soft = [f for f in feet if isinstance(f, CompliantFoothold)]
        return _moved(model, q, rise=-_height_above_rest(model, soft, q)) if soft else q
    q = _over(transcription, q)
    ground = float(placed[0].origin(DM(placed[0].bounds.mean(axis=1)))[2])
    return _moved(model, q, rise=ground - positions(model, q, [(f.name, f.point) for f in placed])[:, 2].min())


def _over(transcription: Transcription, q: Array) -> Array:
    """The posture q turned about the vertical to the directions of the feet that stand first, and moved over their
    places: by the means over these feet. A mirrored motion neither turns nor leaves its plane."""
    problem, model = transcription.problem, transcription.problem.model
    phases = ([f for f in phase.footholds if isinstance(f, Foothold)] for phase in problem.phases)
    feet = next(found for found in phases if found)
    step = Advance.of(*advance_value(transcription, transcription.program.start).values())
    places = [DM(place_value(transcription, f, transcription.program.start, step)) for f in feet]
    free = transcription.mirror is None
    if free and not obstacle(model, shifts=(False, False, False), turns=True):
        turns = [_turn(model, f, place, q) for f, place in zip(feet, places, strict=True) if f.kind != "point"]
        q = _moved(model, q, turn=float(np.angle(sum(turns))))
    goals = np.array([f.origin(place).full().ravel() for f, place in zip(feet, places, strict=True)])
    length, sideways, _ = np.mean(goals - positions(model, q, [(f.name, f.point) for f in feet]), axis=0)
    return _moved(model, q, length=length, sideways=sideways if free else 0.0)


def _turn(model: Model, f: Foothold, place: DM, q: Array) -> complex:
    """The turn about the vertical from the direction of a foot in the posture q to that of its foothold: a complex
    number with its angle."""
    R = np.array((f.plane.R @ yaw_rotation(place) @ pose(model, resolve(model, f.contact.body), DM(q))[0].T).full())
    return complex(R[0, 0] + R[1, 1], R[1, 0] - R[0, 1])


def _moved(model: Model, q: Array, **step: float) -> Array:
    """The posture q moved by a step of the root joint, as far as it can."""
    known = {name: x for name, x in step.items() if abs(x) > ROUNDING}
    return np.array(Advance.of(**known).q(model, DM(q)).full()).ravel() if known else q


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
