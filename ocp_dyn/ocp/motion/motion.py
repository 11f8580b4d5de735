"""A motion that was found, as data: time grid, states, controls, contact forces, cost by term."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import DM

from ..._types import LARGEST, Array, numbers, shown
from ...constraints import Constraint, Contact, RollingContact
from ...mechanism import Model
from ...mechanism.loads import JOINT_LOADS, Loads
from ...symmetry.mirror import MirrorMap, mirror_map
from ..equations import Equations
from ..statement.footholds import Foothold
from ..statement.planes import GROUND, Plane
from .program_table import ProgramTable


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """One phase: N intervals between N + 1 nodes.

    t (N+1) [s]; q (N+1, nq), qd (N+1, nv) at the nodes; qdd (N, nv), tau (N, nv), lam (N, m), means over the intervals;
    places: (x, y, yaw) of every foothold on its plane, by contact name; planes: those that are not the ground; tau_rate
    (N, nv) [N m/s]: slope of the torques along the intervals, zero for constant torques.
    """

    name: str
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    lam: Array
    contacts: tuple[Constraint, ...]
    places: dict[str, Array]
    tau_rate: Array = 0.0  # type: ignore[assignment]
    planes: dict[str, Plane] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau_rate", np.array(np.broadcast_to(self.tau_rate, np.shape(self.tau))))

    def __repr__(self) -> str:
        feet = f"on {', '.join(self.places)}" if self.places else "on no foot"
        return f"PhaseMotion {self.name!r}: {len(self.tau)} intervals, {self.duration:.4g} s, {feet}"

    @property
    def duration(self) -> float:
        """Duration of the phase [s]."""
        return float(self.t[-1] - self.t[0])

    def foothold(self, contact: Contact | RollingContact) -> Foothold:
        """The foothold of a contact of this phase, on its plane."""
        return Foothold(contact, plane=self.planes.get(contact.name, GROUND))

    @property
    def wrenches(self) -> dict[str, Array]:
        """Wrenches [moment; force] (N, 6) on every foot at its contact point, world axes, by contact name."""
        found, k = {}, 0
        for contact in self.contacts:
            m = len(contact.rows)
            rows = self.lam[:, k : k + m]
            k += m
            if isinstance(contact, (Contact, RollingContact)):
                foothold, place = self.foothold(contact), DM(self.places[contact.name])
                found[contact.name] = np.array([np.array(foothold.wrench(DM(r), place).full()).ravel() for r in rows])
        return found


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion that `Problem.solve` found. `phases` in order; `cost` by term; `stats` of the solver.

    iterate: the solver's own x and multipliers lam_x, lam_g, for `solve(start=solution)`. record: names, bounds and
    values of these. loads: whether the joints' springs and losses, and their rotors, are in its equations, as in
    `Problem`.
    """

    model: Model
    phases: tuple[PhaseMotion, ...]
    cost: dict[str, float]
    impulses: tuple[Array, ...]
    step_length: float
    mirrored: bool
    stats: dict[str, Any]
    iterate: dict[str, Array] = field(default_factory=dict)
    record: ProgramTable | None = None
    loads: Loads = JOINT_LOADS

    def __repr__(self) -> str:
        status, phases = self.stats.get("status", "not solved"), ", ".join(phase.name for phase in self.phases)
        terms = ", ".join(f"{name} {value:.6g}" for name, value in self.cost.items())
        outcome = f"{status}, objective {self.objective:.6g}" + (f" ({terms})" if terms else "")
        return f"{type(self).__name__} of {self.model.name!r}: {outcome}, {self.duration:.4g} s, phases {phases}"

    @property
    def equations(self) -> Equations:
        """The equations of motion that the motion was found for."""
        return Equations(self.model, self.loads)

    @property
    def converged(self) -> bool:
        return bool(self.stats["converged"])

    @property
    def status(self) -> str:
        return str(self.stats["status"])

    @property
    def objective(self) -> float:
        return sum(self.cost.values())

    @property
    def duration(self) -> float:
        """Time of the whole motion [s]."""
        return float(self.phases[-1].t[-1])

    @property
    def t(self) -> Array:
        """Times of all nodes [s]; a time at which two phases meet appears twice."""
        return np.concatenate([phase.t for phase in self.phases])

    @property
    def q(self) -> Array:
        return np.concatenate([phase.q for phase in self.phases])

    @property
    def qd(self) -> Array:
        return np.concatenate([phase.qd for phase in self.phases])

    @property
    def tau(self) -> Array:
        return np.concatenate([phase.tau for phase in self.phases])

    def mechanical_work(self) -> tuple[float, float]:
        """Positive and negative work of all joints [J], torques times the intervals' joint displacements."""
        positive = negative = 0.0
        for phase in self.phases:
            h = np.diff(phase.t)[:, None]
            work = phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2 * h
            positive += float(work[work > 0].sum())
            negative += float(work[work < 0].sum())
        return positive, negative

    def cost_of_transport(self) -> float:
        """Positive mechanical work of the joints per weight and distance [1]; ValueError for a motion in place."""
        if not self.step_length:
            raise ValueError("cost_of_transport needs a motion that moves on: a Periodic one with a step length")
        return self.mechanical_work()[0] / (self.model.weight * self.step_length)

    def mirror(self) -> MirrorMap | None:
        """The mirror map if the motion repeats mirrored, else None."""
        return mirror_map(self.model, loads=self.loads) if self.mirrored else None

    def sample(self, times: Array) -> Array:
        """Configurations (len(times), nq) at any times [s] >= 0; a periodic motion goes on step after step.

        times: a sequence, or one number. Between nodes q moves at a constant rate; after the end of a motion that does
        not repeat, q stays constant. ValueError for times that are negative or not finite.
        """
        t, q = self.t, self.q
        given, times = times, numbers(times)
        if not np.all((times >= 0) & (times <= LARGEST)):  # nan is not less either
            raise ValueError(f"times [s] must be finite and not negative, got {shown(given)}")
        mirror = self.mirror() if self.step_length else None
        found = []
        for time in times:
            steps = int(time // self.duration) if self.step_length else 0
            local = min(time - steps * self.duration, self.duration)
            k = int(np.clip(np.searchsorted(t, local, side="right") - 1, 0, len(t) - 2))
            width = t[k + 1] - t[k]
            step = self.model.difference(q[k], q[k + 1]) * ((local - t[k]) / width if width > 0 else 0.0)
            configuration = self.model.integrate(q[k], step)
            if mirror is not None and steps % 2:
                configuration = mirror.q(configuration)
            x = np.array(configuration.full()).ravel()
            if self.step_length:
                x[0] += steps * self.step_length
            found.append(x)
        return np.array(found)
