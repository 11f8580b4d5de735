"""The first guess that the library makes: the robot standing, moved forward."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from casadi import DM

from .._types import Array
from ..kinematics import point_position
from .problem import Problem
from .stage import Foothold
from .variables import Transcription


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
            found = state((begin + duration * k / phase.intervals) / total)
            for variable, numbers in zip((x.q[k], x.v[k]), _checked(problem, found), strict=True):
                program.set_start(variable, numbers)
        for lam in x.lam:
            program.set_start(lam, _weight_rows(phase.footholds, weight))
        begin += duration


def _checked(problem: Problem, found: object) -> tuple[Array, Array]:
    """(q, v) as a guess returned them, if they are that."""
    nq, nv = problem.model.nq, problem.model.nv
    if not isinstance(found, tuple) or len(found) != 2:
        raise ValueError(f"guess must return (q, v), got {found!r}")
    q, v = (np.array(DM(part)).ravel() for part in found)
    if (q.size, v.size) != (nq, nv) or not np.all(np.isfinite([*q, *v])):
        raise ValueError(f"guess must return finite q (nq = {nq}) and v (nv = {nv}), got {q} and {v}")
    return q, v


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
