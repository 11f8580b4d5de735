"""Hand-made motions for the tests of pictures."""

from __future__ import annotations

import numpy as np

import ocp_dyn as od
from ocp_dyn.gait.unrolled import weight
from ocp_dyn.models import human
from ocp_dyn.ocp import Solution
from ocp_dyn.ocp.motion.motion import PhaseMotion

STEP, TIME, SOLE = 0.5, 0.4, (0.02, 0.03)


def phase(model: od.Model, name: str, t: np.ndarray, q: np.ndarray, **contacts: tuple) -> PhaseMotion:
    """A phase with the given wrench and place at each contact, constant; torques grow with time."""
    n = len(t) - 1
    lam = np.hstack([np.tile(wrench, (n, 1)) for wrench, _ in contacts.values()] or [np.zeros((n, 0))])
    tau = np.outer(t[:-1], np.arange(1.0, model.nv + 1))
    feet = tuple(od.Contact(foot) for foot in contacts)
    places = {foot: np.array(place) for foot, (_, place) in contacts.items()}
    return PhaseMotion(name, t, q, np.zeros((n + 1, model.nv)), np.zeros((n, model.nv)), tau, lam, feet, places)


def motion(model: od.Model, phases: tuple[PhaseMotion, ...], step: float = 0.0, mirrored: bool = False) -> Solution:
    return Solution(model, phases, {}, (), step, mirrored, {"converged": True, "status": "hand-made"})


def once(model: od.Model, q0: list[float], q1: list[float], duration: float = 0.3) -> Solution:
    """From q0 to q1 in a straight line, touching nothing."""
    s = np.linspace(0.0, 1.0, 6)[:, None]
    q = np.array(q0) * (1 - s) + np.array(q1) * s
    return motion(model, (phase(model, "swing", duration * s.ravel(), q),))


def walk() -> Solution:
    """Stiff legs that swing, the right foot on the ground, its center of pressure at SOLE from its place."""
    model = human()
    body = weight(model)

    def wrench(share: float) -> np.ndarray:
        fz = share * body
        return np.array([SOLE[1] * fz, -SOLE[0] * fz, 0.0, 0.1 * fz, 0.05 * fz, fz])

    def q(t: float) -> np.ndarray:
        s, x = t / TIME, model.neutral()
        x[:3] = STEP * s - 0.25, 0.02 * np.sin(np.pi * s), 0.9
        swing = 0.4 * np.cos(np.pi * s)
        x[model.q_slice("hip_r")][0], x[model.q_slice("hip_l")][0] = -swing, swing
        x[model.q_slice("shoulder_r")][0], x[model.q_slice("shoulder_l")][0] = swing, -swing
        return x

    t0, t1 = np.linspace(0.0, 0.1, 3), np.linspace(0.1, TIME, 7)
    right, left = (0.1, -0.06, 0.0), (0.1 - STEP, 0.06, 0.0)
    both = {"sole_r": (wrench(0.6), right), "sole_l": (wrench(0.4) * [1, 1, 1, -1, 1, 1], left)}
    phases = (
        phase(model, "double_support", t0, np.array([q(t) for t in t0]), **both),
        phase(model, "single_support", t1, np.array([q(t) for t in t1]), sole_r=(wrench(1.0), right)),
    )
    return motion(model, phases, STEP, mirrored=True)
