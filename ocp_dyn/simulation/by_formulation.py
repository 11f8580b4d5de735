"""Motions of a mechanism by one of the formulations, their energies and errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .. import formulations
from .._base.types import Array
from ..constrained_motion import constrained_dynamics
from ..dynamics.momentum import kinetic_energy
from ..dynamics.passive_torques import passive_force
from ..dynamics.rnea_crba_aba import forward_dynamics
from ..formulations import Trajectory
from ..functions.function import function
from ..mechanism import Model
from ..mechanism.loads import Loads

Progress = Callable[[int, int], None]


class System(NamedTuple):
    """A mechanism at its start, and its simulation by default: formulation, duration and step [s].

    torque: a function (q, qd) -> tau, None for none. shown [s], speed: part of the motion that an animation shows, and
    its speed, 1 for real time. turn (3x3): rotation of the mechanism in pictures. slim: whether pictures draw all bars
    equally wide. wheels: radius of bodies called wheel_... in pictures [m]. penalty: alpha and omega [rad/s] of the
    penalty form. tolerance: largest change of a coordinate in the last iteration of the trapezoidal rule, below the
    rule's own error.

    >>> bars = od.models.n_four_bar(1)
    >>> system = od.simulation.System(bars.model, bars.loops, bars.q, bars.qd, "multipliers", 0.1, 1e-3)
    >>> motion, failure = od.simulation.simulate(system)
    >>> motion.steps, failure, motion.energy_error < 1e-9
    (100, '', True)
    """

    model: Model
    loops: tuple[Any, ...]
    q: Array
    qd: Array
    formulation: str
    duration: float
    step: float
    torque: Any = None
    loads: Loads = Loads()
    shown: float = 8.0
    speed: float = 1.0
    turn: Any = None
    slim: bool = True
    wheels: float | None = None
    penalty: tuple[float, float] = (1e7, 10.0)
    tolerance: float = 1e-9


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated motion, the errors of its constraints (N+1), its iterations per step, and its seconds.

    position_errors, velocity_errors: the largest at every node; of the loops [m, sine of an angle; per second], or of
    the natural coordinates' conditions, relative to the size of the mechanism. seconds: of processor time. iterations:
    None for explicit schemes.

    >>> fall, _ = od.simulation.simulate(od.simulation.System(rod, (), [1.0], [0.0], "recursive", 0.1, 1e-3))
    >>> fall.steps, fall.energy_error < 1e-9
    (100, True)
    """

    system: System
    motion: Trajectory
    position_errors: Array
    velocity_errors: Array
    seconds: float
    steps: int
    iterations: Array | None = None

    @cached_property
    def work(self) -> Array:
        """Work of torques and losses of joints since the start (N+1) [J], by a rule of fourth order along the nodes."""
        t, system = self.motion.t, self.system
        if system.torque is None and not system.loads.passive:
            return np.zeros(len(t))
        q, qd = ca.SX.sym("q", system.model.nq), ca.SX.sym("qd", system.model.nv)
        tau = ca.SX(system.model.nv, 1) if system.torque is None else system.torque(q, qd)
        if system.loads.passive:  # springs count in the energy
            tau = tau + passive_force(system.model, q, qd) - passive_force(system.model, q, ca.SX(qd.shape[0], 1))
        f = ca.Function("P", [q, qd], [ca.dot(tau, qd)], {"cse": True})
        power = np.array(f(DM(self.motion.q.T), DM(self.motion.qd.T)).full()).ravel()
        h = t[1] - t[0]
        slope = np.gradient(power, h, edge_order=2)
        parts = h / 2 * (power[:-1] + power[1:]) + h**2 / 12 * (slope[:-1] - slope[1:])
        return np.concatenate([[0.0], np.cumsum(parts)])

    @cached_property
    def kinetic(self) -> Array:
        """Kinetic energy at the nodes (N+1) [J]."""
        motion = self.motion
        q, qd = ca.SX.sym("q", motion.model.nq), ca.SX.sym("qd", motion.model.nv)
        f = ca.Function("T", [q, qd], [kinetic_energy(motion.model, q, qd)])
        return np.array(f(DM(motion.q.T), DM(motion.qd.T)).full()).ravel()

    def numbers(self) -> dict[str, Any]:
        """Sizes, errors, times and iterations, for a report."""
        steps = self.steps
        found: dict[str, Any] = {
            "bodies": self.system.model.nb,
            "coordinates": self.system.model.nv,
            "duration": self.motion.duration,
            "step": self.motion.duration / steps,
            "steps": steps,
            "energy_error": self.energy_error,
            "position_error": float(self.position_errors.max(initial=0.0)),
            "velocity_error": float(self.velocity_errors.max(initial=0.0)),
            "integration_seconds": round(self.seconds, 4),
            "microseconds_per_step": round(self.seconds / steps * 1e6, 2),
        }
        if self.iterations is not None:
            found |= {"mean_iterations": float(np.mean(self.iterations[1:]))}
            found |= {"most_iterations": int(self.iterations.max())}
        return found

    @property
    def energy_change(self) -> Array:
        """Total energy less the work of the torques, less its value at the start (N+1) [J]; zero in an exact motion."""
        balance = self.motion.energy - self.work
        return np.asarray(balance - balance[0])

    @property
    def energy_error(self) -> float:
        """The largest change of energy that no torque explains, relative to the largest change of the kinetic
        energy."""
        return float(np.abs(self.energy_change).max() / max(float(np.ptp(self.kinetic)), np.finfo(float).tiny))


# Formulations: (system, h, steps, every, progress) -> Simulation


def _explicit(accelerations: Callable[[System], ca.Function]) -> Callable[..., Simulation]:
    """The simulation by RK4 on accelerations."""

    def simulate(system: System, h: float, steps: int, every: int, progress: Progress | None) -> Simulation:
        f = accelerations(system)
        begin = time.process_time()
        motion = formulations.runge_kutta_motion(
            system.model, f, system.q, system.qd, h=h, duration=steps * h, tau=system.torque,
            constraints=system.loops, every=every, loads=system.loads, progress=progress,
        )  # fmt: skip
        seconds = time.process_time() - begin
        return Simulation(system, motion, *_errors(motion), seconds, steps)

    return simulate


def _errors(motion: Trajectory) -> tuple[Array, Array]:
    """The largest errors of positions and velocities at the nodes (N+1); zeros for an open chain."""
    if not motion.constraints:
        return np.zeros(len(motion.t)), np.zeros(len(motion.t))
    positions, velocities = (np.abs(rows).max(axis=1) for rows in (motion.position_errors, motion.velocity_errors))
    return positions, velocities


def _recursive(system: System) -> ca.Function:
    """Accelerations by the library's recursive algorithms."""
    if system.loops:
        return function(constrained_dynamics, system.model, system.loops, loads=system.loads)
    return function(forward_dynamics, system.model, loads=system.loads)


def _velocity(system: System) -> ca.Function:
    """Accelerations of an open chain by Formulation B."""
    if system.loops:
        raise ValueError(
            "formulation velocity takes open chains only, and this system has loops: choose multipliers, penalty or "
            "independent"
        )
    return function(formulations.forward_dynamics_formulation_b, system.model, loads=system.loads)


def _closed_chain(method: str) -> Callable[[System], ca.Function]:
    """Accelerations by Formulation B, loops by multipliers or penalties."""

    def make(system: System) -> ca.Function:
        if not system.loops:
            raise ValueError(f"formulation {method} holds loops, and this system has none: choose velocity")
        options: Any = {"alpha": system.penalty[0], "omega": system.penalty[1]} if method == "penalty" else {}
        return function(
            formulations.closed_chain_dynamics, system.model, system.loops, method=method, loads=system.loads, **options
        )

    return make


def _independent(system: System, h: float, steps: int, every: int, progress: Progress | None) -> Simulation:
    """RK4 on accelerations in independent coordinates; they are chosen again, and the loops closed, from time to
    time."""
    if not system.loops:
        raise ValueError("formulation independent needs a system with loops: choose velocity")
    model, loops = system.model, system.loops
    part = every * max(1, steps // (CHOICES * every))
    q, qd, done = system.q, system.qd, 0
    pieces: list[Trajectory] = []
    begin = time.process_time()
    while done < steps:
        choice = formulations.independent_coordinates(model, loops, q)
        f = function(
            formulations.closed_chain_dynamics, model, loops, method="independent", independent=choice,
            loads=system.loads,
        )  # fmt: skip
        count = min(part, steps - done)
        motion = formulations.runge_kutta_motion(
            model, f, q, qd, h=h, duration=count * h, tau=system.torque, constraints=loops, every=every,
            loads=system.loads,
        )  # fmt: skip
        done += count
        q = formulations.dependent_q(model, loops, motion.q[-1], choice)
        rates = DM(motion.qd[-1][list(choice.independent)])
        qd = np.array(formulations.dependent_qd(model, loops, DM(q), rates, choice)).ravel()
        pieces.append(motion)
        if progress is not None:
            progress(done, steps)
    motion = _joined(pieces)
    return Simulation(system, motion, *_errors(motion), time.process_time() - begin, steps)


CHOICES = 20
"""Number of times that independent coordinates are chosen in a motion."""


def _joined(pieces: list[Trajectory]) -> Trajectory:
    """One trajectory of several that follow one another."""
    first = pieces[0]
    t, q, qd = [first.t], [first.q], [first.qd]
    for piece in pieces[1:]:
        t.append(piece.t[1:] + t[-1][-1])
        q.append(piece.q[1:])
        qd.append(piece.qd[1:])
    return Trajectory(first.model, np.concatenate(t), np.vstack(q), np.vstack(qd), first.constraints, first.loads)


def _trapezoidal(system: System, h: float, steps: int, every: int, progress: Progress | None) -> Simulation:
    """Natural coordinates, augmented Lagrangian form, implicit trapezoidal rule with projections."""
    torque = system.torque
    tau = None if torque is None else lambda t, q, qd: torque(q, qd)
    natural = formulations.natural(system.model, system.loops)
    begin = time.process_time()
    motion = formulations.trapezoidal_motion(
        system.model, natural, q=system.q, qd=system.qd, h=h, duration=steps * h, tau=tau, every=every,
        tolerance=system.tolerance, loads=system.loads, progress=progress,
    )  # fmt: skip
    seconds = time.process_time() - begin
    return _natural_run(system, motion, seconds, steps)


def _natural_run(system: System, motion: formulations.NaturalMotion, seconds: float, steps: int) -> Simulation:
    """The result in joint coordinates of a motion in natural ones."""
    path = motion.trajectory(system.loops)
    return Simulation(system, path, motion.position_errors, motion.velocity_errors, seconds, steps, motion.iterations)


FORMULATIONS: dict[str, Callable[..., Simulation]] = {
    "recursive": _explicit(_recursive),
    "velocity": _explicit(_velocity),
    "multipliers": _explicit(_closed_chain("multipliers")),
    "penalty": _explicit(_closed_chain("penalty")),
    "independent": _independent,
    "trapezoidal": _trapezoidal,
}
"""Simulations by name of the formulation."""

MOST_NODES = 2000
"""Largest number of nodes of a motion that is kept, about: enough for curves."""


def simulate(system: System, progress: Progress | None = None) -> tuple[Simulation | None, str]:
    """The simulated motion of a system by its formulation, and a message if the integration failed, "" if not.

    After a failure the motion until then, None if there is none. ValueError for a formulation that cannot take the
    system, or a step or duration out of range.

    >>> od.simulation.simulate(od.simulation.System(rod, (), [1.0], [0.0], "multipliers", 0.1, 1e-3))
    Traceback (most recent call last):
        ...
    ValueError: formulation multipliers holds loops, and this system has none: choose velocity
    """
    h = system.step
    if not (h > 0 and system.duration > 0 and np.isfinite(system.duration / h)):
        raise ValueError(f"step and duration must be positive numbers of seconds, got {h:g} and {system.duration:g}")
    if system.duration / h > LARGEST_STEP_COUNT:
        raise ValueError(f"{system.duration / h:.3g} steps are too many: at most {LARGEST_STEP_COUNT:.0e}")
    steps = max(1, round(system.duration / h))
    least = -(-steps // MOST_NODES)
    every = next((k for k in range(least, 4 * least + 1) if steps % k == 0), 1)  # the last node is the end
    begin = time.process_time()
    try:
        return FORMULATIONS[system.formulation](system, h, steps, every, progress), ""
    except formulations.IntegrationError as error:
        motion = error.motion
        if motion is None or len(motion.t) < 3:
            return None, str(error)
        done = every * (len(motion.t) - 1)
        if isinstance(motion, formulations.NaturalMotion):
            return _natural_run(system, motion, time.process_time() - begin, done), str(error)
        return Simulation(system, motion, *_errors(motion), time.process_time() - begin, done), str(error)


LARGEST_STEP_COUNT = 50_000_000
"""Largest number of steps; more are taken for a mistake."""
