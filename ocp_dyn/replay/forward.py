"""A motion played forward in MuJoCo: torques of the plan, joint PD about its angles, until the body falls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .._base.checks import whole
from .._base.types import Array
from ..dynamics.compliant import HuntCrossleySphere
from ..dynamics.kinematics import pose
from ..dynamics.momentum import center_of_mass
from ..mechanism import Model
from ..ocp import CompliantFoothold, PhaseMotion, Solution
from .motors import Motors
from .planned_torques import Plan, plan
from .simulator import SimulatedBody, load, mujoco

GAIN = 30.0
"""Stiffness of the joints' controllers [strengths/rad]: full torque at an error of 2 degrees, as stiff as robots under
position control are. The human falls with less than 20."""

DAMPING = 1.0
"""Their damping [strengths s/rad]."""

TIMESTEP = 1e-4
"""Time step [s]. Feet that roll over an edge amplify errors: with three times this step the human falls."""

LONGEST = 1e-3
"""Largest time step [s]."""

LOWEST, STEEPEST = 0.7, math.radians(45.0)
"""The body has fallen when its center of mass is below this fraction of the lowest planned height, or its base tilts by
this angle from the planned orientation."""

SAMPLES = 200.0
"""Instants per second that are recorded."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Each motor gets the planned torque and a joint controller about the planned angle,

        tau = feed_forward tau_plan + gain strength (q_plan - q) + damping strength (qd_plan - qd),

    within the limits of its strength, with the same gain [strengths/rad] and damping [strengths s/rad] for all joints
    of all bodies. friction: coefficient of the ground. timestep [s], at most 1 ms. steps: repetitions of the motion,
    unless the body falls before.

    >>> od.replay.Settings(steps=3).gain
    30.0
    """

    gain: float = GAIN
    damping: float = DAMPING
    friction: float = 0.8
    timestep: float = TIMESTEP
    steps: int = 20
    feed_forward: float = 1.0

    def __post_init__(self) -> None:
        for name in ("gain", "damping", "friction", "feed_forward"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number, not negative, got {getattr(self, name)}")
        if not 0 < self.timestep <= LONGEST:
            raise ValueError(f"timestep must be positive and at most {LONGEST} s, got {self.timestep}")
        whole(self.steps, "steps", 1)


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated motion of N recorded instants.

    t (N) [s], q (N, nq), qd (N, nv), tau (N, nv): the motors' torques; wrenches: [moment; force] of the ground on every
    foot (N, 6) about the origin of its frame, world axes. fallen: whether the body fell; time: until the fall, or of
    the whole run [s]. saturated: share of the time in which a motor is at its limit.

    >>> run.steps, run.fallen  # doctest: +SKIP
    (20.0, False)
    """

    solution: Solution
    settings: Settings
    t: Array
    q: Array
    qd: Array
    tau: Array
    wrenches: dict[str, Array]
    fallen: bool
    time: float
    saturated: float

    @property
    def steps(self) -> float:
        """Steps until the fall; a step is one period of the motion."""
        return self.time / self.solution.duration

    @property
    def title(self) -> str:
        """The outcome in a line."""
        end = "" if self.fallen else ", and no fall"
        return f"{self.solution.model.name} in MuJoCo: {self.steps:.3g} steps upright{end}"

    def motion(self, begin: float = 0.0, end: float = math.inf) -> Solution:
        """The simulated motion between two times [s] as a solution, for pictures, `save` and `show`."""
        here = np.flatnonzero((self.t >= begin) & (self.t <= end))
        between = slice(here[0], here[-1])
        feet = tuple(CompliantFoothold(name, [HuntCrossleySphere(name, radius=1e-3)]) for name in self.wrenches)
        lam = np.hstack([np.zeros((here.size - 1, 0)), *(w[between] for w in self.wrenches.values())])
        phase = PhaseMotion(
            "simulated", self.t[here] - self.t[here[0]], self.q[here], self.qd[here],
            np.diff(self.qd[here], axis=0) * SAMPLES, self.tau[between], lam, feet, {},
        )  # fmt: skip
        return replace(
            self.solution, phases=(phase,), cost={}, impulses=(), step_length=0.0, sideways=0.0, rise=0.0,
            turn=0.0, mirrored=False, iterate={}, record=None, stats={"status": "Simulated", "converged": True},
        )  # fmt: skip


def forward(
    solution: Solution, settings: Settings | None = None, progress: Callable[[float], None] | None = None
) -> Run:
    """Simulates the motion from its first instant, step after step, until the body falls.

    Nothing watches the base, the feet or the balance. The feet are hard shapes (`ocp.contact_shapes`) on MuJoCo's
    ground with friction. A periodic motion is repeated, mirrored as the solution says; a step is one period. progress:
    a function that is called with the number of steps from time to time.

    `ValueError` without MuJoCo, for a motion that the simulated ground cannot carry, and for one with forces of
    components.

    >>> run = od.replay.forward(walk, od.replay.Settings(steps=3))  # doctest: +SKIP
    >>> run.fallen  # doctest: +SKIP
    False
    """
    return _Simulation(solution, settings or Settings()).run(progress)


class _Simulation:
    """The state of a run. All arrays are in our order, but those of `data`."""

    def __init__(self, solution: Solution, settings: Settings) -> None:
        self.solution, self.settings = solution, settings
        self.mj = mujoco()
        self.plan: Plan = plan(solution, settings.timestep)
        self.body: SimulatedBody = load(solution, settings.friction, self.plan.h)
        self.data: Any = self.mj.MjData(self.body.spec)
        self.data.qpos[:] = self.plan.q[0][0][self.body.of_q]
        self.data.qvel[:] = self.plan.qd[0][0][self.body.of_qd]
        self.motors = Motors(solution, settings.gain, settings.damping, settings.feed_forward)
        self.feet = _feet(solution.model, self.body, self.mj)
        self.total = (settings.steps if solution.repeats else 1) * self.plan.steps
        self.every = max(1, round(1 / SAMPLES / self.plan.h))
        self.upright = _Upright(solution, self.plan.h * np.arange(0, self.total, self.every))
        self.records: list[tuple[Array, ...]] = []
        self.saturated = 0

    def run(self, progress: Callable[[float], None] | None) -> Run:
        k, fallen = 0, False
        for k in range(self.total):
            tau = self._step(k)
            if k % self.every == 0:
                self._record(k, tau)
                fallen = self.upright.has_fallen(self.data, k // self.every)
                if fallen:
                    break
                if progress is not None and k % (20 * self.every) == 0:
                    progress(k / self.plan.steps)
        t, q, qd, tau, *wrenches = (np.array(x) for x in zip(*self.records, strict=True))
        found = dict(zip(self.feet, wrenches, strict=True))
        time = (k if fallen else self.total) * self.plan.h
        return Run(self.solution, self.settings, t, q, qd, tau, found, fallen, time, self.saturated / (k + 1))

    def _step(self, k: int) -> Array:
        """One time step; the torques of the motors."""
        n, at = divmod(k, self.plan.steps)
        data, body, side = self.data, self.body, n % 2
        q, qd = data.qpos[body.back_q], data.qvel[body.back_qd]
        tau, other, damping = self.motors(q, qd, self.plan.q[side][at], self.plan.qd[side][at], self.plan.tau[side][at])
        self.saturated += self.motors.saturated
        # MuJoCo takes the damping at the end of the step, which light joints with losses need
        body.spec.dof_damping[:] = damping[body.of_qd]
        data.qfrc_applied[:] = (tau + other + damping * qd)[body.of_qd]
        self.mj.mj_step(body.spec, data)
        return tau

    def _record(self, k: int, tau: Array) -> None:
        data, body = self.data, self.body
        state = data.qpos[body.back_q].copy(), data.qvel[body.back_qd].copy()
        wrenches = _wrenches(self.mj, body.spec, data, self.feet)
        self.records.append((np.float64((k + 1) * self.plan.h), *state, tau, *wrenches))  # type: ignore[arg-type]


class _Upright:
    """Whether the body has fallen, see `LOWEST`; its base is the first moving body. times: those of the questions."""

    def __init__(self, solution: Solution, times: Any) -> None:
        q = SX.sym("q", solution.model.nq)
        rotation, _ = pose(solution.model, solution.model.body_names[0], q)
        see = ca.Function("see", [q], [ca.densify(rotation), center_of_mass(solution.model, q)[2]])
        self.rotations = np.array([np.array(see(x)[0].full()) for x in solution.sample(times)])
        self.least = LOWEST * min(float(see(x)[1]) for x in solution.q)

    def has_fallen(self, data: Any, number: int) -> bool:
        """Whether the body has fallen at the time of this number."""
        if not np.all(np.isfinite(data.qpos)) or data.subtree_com[0][2] < self.least:
            return True
        turned = (np.trace(self.rotations[number].T @ data.xmat[1].reshape(3, 3)) - 1) / 2
        return bool(turned < math.cos(STEEPEST))


def _feet(model: Model, body: SimulatedBody, mj: Any) -> dict[str, int]:
    """MuJoCo's numbers of the bodies with shapes, by the name of a frame on each."""
    found: dict[str, int] = {}
    for shape in body.shapes:
        name = model.body_names[model.frame(shape.frame).body - 1]
        number = mj.mj_name2id(body.spec, mj.mjtObj.mjOBJ_BODY, name)
        if number not in found.values():
            found[shape.frame] = number
    return found


def _wrenches(mj: Any, spec: Any, data: Any, feet: dict[str, int]) -> list[Array]:
    """[moment; force] (6) of the ground on every foot, about the origin of its frame, world axes."""
    found = {number: np.zeros(6) for number in feet.values()}
    local = np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        mj.mj_contactForce(spec, data, k, local)
        axes = contact.frame.reshape(3, 3)
        for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):  # the force is that on the second of the two
            number = int(spec.geom_bodyid[geom])
            if number in found:
                force = sign * axes.T @ local[:3]
                found[number] += np.concatenate([np.cross(contact.pos, force), force])
    moved = []
    for name, number in feet.items():
        origin = data.site(name).xpos if _is_site(mj, spec, name) else data.xpos[number]
        wrench = found[number]
        moved.append(np.concatenate([wrench[:3] - np.cross(origin, wrench[3:]), wrench[3:]]))
    return moved


def _is_site(mj: Any, spec: Any, name: str) -> bool:
    return bool(mj.mj_name2id(spec, mj.mjtObj.mjOBJ_SITE, name) >= 0)
