"""Computed motions of mechanisms: states at a row of times, with energies and errors of constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base import checks as arguments
from .._base.display import Displayed, table
from .._base.types import Array
from ..constraints import Constraints, as_set, constraint_position, constraint_velocity
from ..dynamics.momentum import kinetic_energy, potential_energy
from ..dynamics.passive_torques import spring_energy
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads

Progress = Callable[[int, int], None]
"""A function of (steps done, steps in all)."""


class IntegrationError(ValueError):
    """A step of an integration failed; `motion` is the motion until then, None if there is none.

    >>> explode = lambda q, qd, tau: 1e200 * (1 + q) ** 9
    >>> od.formulations.runge_kutta_motion(rod, explode, [1.0], [0.0], h=0.1, duration=1.0)
    Traceback (most recent call last):
        ...
    ocp_dyn.formulations.trajectory.IntegrationError: the state of pendulum_1 is not finite after t = 0 ...
    """

    def __init__(self, message: str, motion: Any = None) -> None:
        super().__init__(message)
        self.motion = motion


def is_open(constraints: Any) -> bool:
    """Whether there are no constraints: an open chain."""
    return isinstance(constraints, (tuple, list)) and not constraints


@dataclass(frozen=True, eq=False)
class TrajectoryPart:
    """The nodes of a trajectory, in the form of a phase that `ocp_dyn.viz` draws: no contacts, no forces on feet."""

    name: str
    t: Array
    q: Array
    qd: Array
    tau: Array
    places: dict[str, Array]
    planes: Mapping[str, Any]
    wrenches: dict[str, Array]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Displayed):
    """A motion in joint coordinates: t (N+1) [s], q (N+1, nq), qd (N+1, nv) at the nodes.

    constraints: those that the motion must satisfy, such as loops; () for an open chain. loads: those of the equation
    of motion; springs and rotors count in the energy if they are among them. `ocp_dyn.viz.animate(trajectory, path)`,
    `viz.plot` and `viz.overview` draw it; a notebook shows the overview.

    >>> motion = od.formulations.Trajectory(rod, t=[0.0, 1.0], q=[[0.0], [0.5]], qd=[[0.5], [0.5]])
    >>> motion.duration
    1.0
    """

    model: Model
    t: Array
    q: Array
    qd: Array
    constraints: Constraints = ()
    loads: Loads = NO_LOADS

    def __post_init__(self) -> None:
        if not is_open(self.constraints):
            as_set(self.constraints)
        for name, width in (("t", ()), ("q", (self.model.nq,)), ("qd", (self.model.nv,))):
            value, shape = np.asarray(getattr(self, name), dtype=float), (len(self.t), *width)
            if value.shape != shape:
                raise ValueError(f"Trajectory {name} must be of shape {shape}, a row per time, got {value.shape}")
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Trajectory of {self.model.name!r}: {len(self.t)} states in {self.duration:.4g} s"

    def _card_html(self) -> str:
        rows = [("states", f"{len(self.t)} in {self.duration:.4g} s"), ("energy error", f"{self.energy_error:.2g}")]
        if not is_open(self.constraints):
            worst = float(np.abs(self.velocity_errors).max())
            rows.append(("largest velocity error of the constraints", f"{worst:.2g} m/s, rad/s"))
        return table((), rows)

    @property
    def duration(self) -> float:
        """Time from the first node to the last [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def step_length(self) -> float:
        """0: the motion is not periodic."""
        return 0.0

    @property
    def distance(self) -> float:
        """0: the motion is not periodic."""
        return 0.0

    @property
    def repeats(self) -> bool:
        """False: the motion is not periodic."""
        return False

    @property
    def phases(self) -> tuple[TrajectoryPart, ...]:
        """The motion as one phase without contacts, for pictures."""
        tau = np.zeros((len(self.t) - 1, self.model.nv))
        return (TrajectoryPart(self.model.name or "motion", self.t, self.q, self.qd, tau, {}, {}, {}),)

    def mirror(self) -> None:
        """None: the motion is not repeated mirrored."""

    def repetition(self, n: int) -> Any:
        """Not to be used: the motion is not periodic."""
        raise ValueError(f"a trajectory is not periodic and has no repetition {n}")

    def sample(self, times: Any) -> Array:
        """q (K, nq) at K times [s] or at one, between nodes along the shortest step from one node to the next; before
        the first node and after the last the motion rests there."""
        times = np.clip(arguments.numbers(times, "times [s]"), self.t[0], self.t[-1])
        if len(self.t) < 2 or not times.size:
            return np.repeat(self.q[:1], times.size, axis=0)
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        part = (times - self.t[k]) / (self.t[k + 1] - self.t[k])
        q0, q1 = (ca.SX.sym(name, self.model.nq) for name in ("q0", "q1"))
        s = ca.SX.sym("s")
        between = self.model.integrate(q0, s * self.model.difference(q0, q1))
        f = ca.Function("between", [q0, q1, s], [between], {"cse": True})
        return np.array(f(DM(self.q[k].T), DM(self.q[k + 1].T), DM(part[None, :])).full()).T

    @cached_property
    def energy(self) -> Array:
        """Total energy at the nodes (N+1) [J]: kinetic, of gravity, and of springs and rotors among the loads.

        Losses change it, and so do passive torques without a potential, see `spring_energy`.
        """
        model = self.model

        def total(q: ca.SX, qd: ca.SX) -> ca.SX:
            energy = kinetic_energy(model, q, qd) + potential_energy(model, q)
            if self.loads.armature:
                energy = energy + ca.dot(DM(model.dofs.armature) * qd, qd) / 2
            return energy + spring_energy(model, q) if self.loads.passive else energy

        return self._at_nodes(total)[:, 0]

    @cached_property
    def position_errors(self) -> Array:
        """phi (N+1, m) at the nodes: errors of the constraints [m; sine of an angle]; m = 0 without constraints."""
        return self._errors(lambda q, qd: constraint_position(self.model, self.constraints, q))

    @cached_property
    def velocity_errors(self) -> Array:
        """d(phi)/dt (N+1, m) at the nodes."""
        return self._errors(lambda q, qd: constraint_velocity(self.model, self.constraints, q, qd))

    @property
    def energy_error(self) -> float:
        """Largest change of the total energy, relative to the largest change of the kinetic energy [-]."""
        kinetic = self._at_nodes(lambda q, qd: kinetic_energy(self.model, q, qd))
        return float(np.abs(self.energy - self.energy[0]).max() / max(np.ptp(kinetic), np.finfo(float).tiny))

    def _errors(self, of_constraints: Callable[[ca.SX, ca.SX], ca.SX]) -> Array:
        """Errors at all nodes (N+1, m); m = 0 for an open chain."""
        return self._at_nodes((lambda q, qd: ca.SX(0, 1)) if is_open(self.constraints) else of_constraints)

    def _at_nodes(self, quantity: Callable[[ca.SX, ca.SX], ca.SX]) -> Array:
        """A quantity of (q, qd) at all nodes (N+1, size)."""
        q, qd = ca.SX.sym("q", self.model.nq), ca.SX.sym("qd", self.model.nv)
        f = ca.Function("quantity", [q, qd], [quantity(q, qd)], {"cse": True})
        return np.array(f(DM(self.q.T), DM(self.qd.T)).full()).T
