"""A solved motion as data: time grid, states, controls, contact forces, cost by term."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from casadi import DM

from ..._base.checks import name_among, whole
from ..._base.convergence import mark_of
from ..._base.display import ByName, Listing
from ..._base.types import LARGEST_MAGNITUDE, Array, numbers, repr_in_message
from ...constraints import Contact, RollingContact
from ...mechanism import Model
from ...mechanism.loads import JOINT_LOADS, Loads
from ...symmetry.advance import Advance, Repetition
from ...symmetry.mirror import MirrorMap, mirror_map
from ..equations import Contacts, Equations
from ..statement.footholds import Foothold
from ..statement.grids import Intervals
from ..statement.ground.planes import GROUND, Plane
from ..statement.ground.terrain import Terrain
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.state.channels import MECHANICS, Channel
from ..statement.state.components import Component
from .motion_checks import check_motion, check_phase
from .net_torques import net_torques
from .program_table import ProgramTable

LARGEST_PERIOD = 10**6
"""Largest number of a period that is asked for, forward or back."""


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """One phase of a solved motion: N intervals between N + 1 nodes.

    At the nodes; times count from the start of the whole motion:
        t (N+1): times [s]
        q (N+1, nq): configurations [rad, m], in the order of `model.q_names`
        qd (N+1, nv): velocities [rad/s, m/s], in the order of `model.qd_names`
    One row for every interval:
        qdd (N, nv): accelerations [rad/s^2, m/s^2], the mean over the interval, or in the explicit form the value at
            its start
        tau (N, nv): joint torques and forces [N m, N], the mean over the interval; zero for dofs without a motor
        tau_rate (N, nv): slope of the torques along the interval [N m/s, N/s], zero for constant torques
        lam (N, m): forces of the constraints on the robot, mean or value at the start as for qdd. One column for every
            row of the `contacts`, in their order: the force [N] along the row's direction in the world, or the moment
            [N m] about it. `wrenches` gives them by foot
    For the whole phase:
        name: name of the phase
        contacts: the constraints that the phase holds, and its compliant footholds
        places: (x, y, yaw) [m, rad] of every foothold, by contact name, in the coordinates of its plane; a compliant
            foothold has none
        planes: the planes of the footholds that do not lie on the ground z = 0, by contact name
        soles: (half_length, half_width) [m] of every foothold, by contact name; files of earlier versions lack them
        channels: values of the channels of components, by name: a row for every node (states, controls with a rate) or
            for every interval (other controls; algebraic channels, the means)

    >>> solution.phases[0]
    PhaseMotion 'turn': 20 intervals, 1 s, on no foot
    >>> solution.phases[0].qdd.shape
    (20, 1)
    """

    name: str
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    lam: Array
    contacts: Contacts
    places: dict[str, Array]
    tau_rate: Array = 0.0  # type: ignore[assignment]
    planes: dict[str, Plane] = field(default_factory=dict)
    soles: dict[str, tuple[float, float]] = field(default_factory=dict)
    channels: dict[str, Array] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        """The values of a channel: q, qd, qdd, tau, lam, or one of a component; KeyError for an unknown name."""
        if name in MECHANICS:
            return np.asarray(getattr(self, name))
        return self.channels[name_among(name, self.channels, f"phase {self.name!r}", "channel")]

    def __post_init__(self) -> None:
        check_phase(self)

    def __repr__(self) -> str:
        names = [*self.places, *(c.name for c in self.contacts if isinstance(c, WrenchFoothold))]
        feet = f"on {', '.join(names)}" if names else "on no foot"
        return f"PhaseMotion {self.name!r}: {len(self.tau)} intervals, {self.duration:.4g} s, {feet}"

    @cached_property
    def grid(self) -> Intervals:
        """The intervals as a grid, from the times of the nodes."""
        return Intervals.through(self.t)

    @property
    def duration(self) -> float:
        """Duration of the phase [s]."""
        return float(self.t[-1] - self.t[0])

    def foothold(self, contact: Contact | RollingContact) -> Foothold:
        """The foothold of a contact of this phase, on its plane."""
        return Foothold(contact, plane=self.planes.get(contact.name, GROUND))

    @cached_property
    def wrenches(self) -> dict[str, Array]:
        """Wrenches [moment; force] (N, 6) [N m; N] on the feet of all footholds, about the contact point (of a
        compliant foothold: the origin of its frame, which moves), in world axes, by contact name. Contacts among
        `Phase.constraints` have no foothold; their forces are in lam."""
        found, k = {}, 0
        for contact in self.contacts:
            m = len(contact.rows)
            rows = self.lam[:, k : k + m]
            k += m
            if isinstance(contact, WrenchFoothold):
                found[contact.name] = rows.copy()
            if isinstance(contact, (Contact, RollingContact)) and contact.name in self.places:
                foothold, place = self.foothold(contact), DM(self.places[contact.name])
                per_row = [foothold.wrench(DM(unit), place).full().ravel() for unit in np.eye(m)]  # it is linear
                found[contact.name] = rows @ np.array(per_row).reshape(m, 6)
        return ByName(found)


@dataclass(frozen=True, eq=False)
class Motion:
    """The data of a solved motion.

    model: the mechanism. phases: a `PhaseMotion` for every phase, in order. cost: value of every cost term, by name;
    their sum is the objective.

    impulses: the impulses on the robot at every transition between phases, then at the transition that closes the
    period, if the motion is periodic. Each is an array over the rows of the contacts of the next phase [N s, N m s],
    empty for a transition without impact. step_length, sideways, rise [m], turn [rad]: the rigid motion from the start
    to the next start of a periodic motion, see `Step`; else 0. mirrored: True if every second repetition is mirrored
    left to right.

    terrain: that of the problem's `Clearance`, if it has one, which pictures draw.

    stats: figures of the solver's run, such as "converged", "status", "iterations", "infeasibility", "solve_seconds",
    "linear_solver" and, if it did not converge, "faults"; also the settings of the transcription, such as "form" and
    "integrator". iterate: the scaled variables "x" of the solver and the multipliers "lam_x" and "lam_g", for
    `solve(start=solution)`. central: the same of an earlier iterate of IPOPT, from which solves for other values of the
    parameters begin; empty if there is none, as in older files. record: names, bounds and values of these variables and
    rows. loads: the passive joint forces and rotor inertias that the equations of motion contain, as in `Problem`.
    channels: those that components declare; components: the components themselves, which files do not hold.
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
    sideways: float = 0.0
    rise: float = 0.0
    turn: float = 0.0
    terrain: Terrain | None = None
    central: dict[str, Array] = field(default_factory=dict)
    channels: tuple[Channel, ...] = ()
    components: tuple[Component, ...] = ()

    def __post_init__(self) -> None:
        check_motion(self, PhaseMotion)
        for name in ("stats", "iterate", "central"):
            object.__setattr__(self, name, Listing(getattr(self, name)))

    def __repr__(self) -> str:
        status, phases = self.stats.get("status", "not solved"), ", ".join(phase.name for phase in self.phases)
        status = mark_of(self) or status
        terms = ", ".join(f"{name} {value:.6g}" for name, value in self.cost.items())
        outcome = f"{status}, objective {self.objective:.6g}" + (f" ({terms})" if terms else "")
        return f"{type(self).__name__} of {self.model.name!r}: {outcome}, {self.duration:.4g} s, phases {phases}"

    @property
    def equations(self) -> Equations:
        """The equations of motion that the motion fulfills."""
        return Equations(self.model, self.loads)

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return bool(self.stats["converged"])

    @property
    def status(self) -> str:
        """The solver's status, such as "Solve_Succeeded"."""
        return str(self.stats["status"])

    @property
    def objective(self) -> float:
        """The minimized cost: the sum of all cost terms."""
        return sum(self.cost.values())

    @property
    def driving(self) -> tuple[str, ...]:
        """Names of the components whose forces are added to tau in the equations of motion."""
        return tuple(self.stats.get("driving", ()))

    def with_net_torques(self) -> Self:
        """The motion with net torques of the joints in tau: those of motors and of components, such as muscles,
        together. The motion itself if no component drives it."""
        if not self.driving:
            return self
        phases = tuple(
            replace(phase, tau=net_torques(self.equations, phase), tau_rate=np.zeros_like(phase.tau))
            for phase in self.phases
        )
        return replace(self, phases=phases, stats={k: v for k, v in self.stats.items() if k != "driving"})

    @property
    def duration(self) -> float:
        """Time of the whole motion [s]."""
        return float(self.phases[-1].t[-1])

    @property
    def t(self) -> Array:
        """Times of all nodes [s]; the time at which two phases meet appears twice."""
        return np.concatenate([phase.t for phase in self.phases])

    @property
    def q(self) -> Array:
        """Configurations (len(t), nq) [rad, m] at all nodes."""
        return np.concatenate([phase.q for phase in self.phases])

    @property
    def qd(self) -> Array:
        """Velocities (len(t), nv) [rad/s, m/s] at all nodes."""
        return np.concatenate([phase.qd for phase in self.phases])

    @property
    def tau(self) -> Array:
        """Mean joint torques and forces [N m, N], a row for every interval: fewer rows than `t` has times."""
        return np.concatenate([phase.tau for phase in self.phases])

    def __getitem__(self, name: str) -> Array:
        """The values of a channel in all phases, such as `solution["heat"]`; a row for every node or every interval.

        KeyError for an unknown name, ValueError for "lam", whose columns differ from phase to phase.
        """
        known = [*(key for key in MECHANICS if key != "lam"), *(channel.name for channel in self.channels)]
        if name == "lam":
            raise ValueError("lam has other columns in every phase: use solution.phases[k].lam")
        name_among(name, known, "this motion", "channel")
        return np.concatenate([phase[name] for phase in self.phases])

    def mechanical_work(self) -> tuple[float, float]:
        """Positive and negative work of all joints [J]: mean torque times mean velocity times duration, summed over the
        intervals.

        >>> [round(work, 2) for work in solution.mechanical_work()]  # driven, then braked: +- I qd^2 / 2
        [1.13, -1.13]
        """
        positive = negative = 0.0
        for phase in self.phases:
            h = np.diff(phase.t)[:, None]
            work = phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2 * h
            positive += float(work[work > 0].sum())
            negative += float(work[work < 0].sum())
        return positive, negative

    def cost_of_transport(self) -> float:
        """Positive mechanical work of the joints per weight and distance [1]; ValueError for a motion in place.

        >>> solution.cost_of_transport()
        Traceback (most recent call last):
            ...
        ValueError: cost_of_transport divides by the step length, and this motion has none: give the ...
        """
        if not self.distance:
            raise ValueError(
                "cost_of_transport divides by the step length, and this motion has none: give the problem "
                "periodic=Periodic(...)"
            )
        return self.mechanical_work()[0] / (self.model.weight * abs(self.distance))

    @property
    def repeats(self) -> bool:
        """Whether the motion repeats somewhere else: it moves on, climbs or turns from period to period."""
        return any((self.step_length, self.sideways, self.rise, self.turn))

    @property
    def distance(self) -> float:
        """Horizontal distance of the step [m]; of a straight one its length, negative backwards."""
        if not self.sideways:
            return self.step_length
        return math.copysign(math.hypot(self.step_length, self.sideways), -1.0 if self.step_length < 0 else 1.0)

    @property
    def advance(self) -> Advance:
        """The rigid motion from the start to the next start."""
        return Advance.of(self.step_length, self.sideways, self.rise, self.turn)

    def repetition(self, n: int) -> Repetition:
        """The map from this motion to its n-th repetition; the identity for a motion that is repeated in place.

        >>> solution.repetition(2).points(np.array([0.0, 0.0, 1.0]))
        array([0., 0., 1.])
        """
        n = whole(n, "repetition: the number of the period", least=-LARGEST_PERIOD, most=LARGEST_PERIOD)
        return Repetition.of(self.model, self.advance, self.mirror() if n % 2 and self.repeats else None, n)

    def mirror(self) -> MirrorMap | None:
        """The map of states to their mirror images, if every second repetition is mirrored; else None."""
        return mirror_map(self.model, loads=self.loads) if self.mirrored else None

    def sample(self, times: Array) -> Array:
        """Configurations (len(times), nq) at the times [s] >= 0; a periodic motion is repeated as often as needed.

        times: a sequence, or one number. Between nodes q moves at a constant rate; after the end of a motion that is
        not periodic, q stays constant. ValueError for times that are negative or not finite.

        >>> solution.sample([0.0, 0.5, 1.0]).round(3).ravel().tolist()
        [0.0, 0.5, 1.0]
        """
        t, q = self.t, self.q
        wanted, times = times, numbers(times, "times [s]")
        if not np.all((times >= 0) & (times <= LARGEST_MAGNITUDE)):  # false for nan, too
            raise ValueError(f"times [s] must be finite and not negative, got {repr_in_message(wanted)}")
        mirror = self.mirror() if self.repeats else None
        found = []
        for time in times:
            steps = int(time // self.duration) if self.repeats else 0
            local = min(time - steps * self.duration, self.duration)
            k = int(np.clip(np.searchsorted(t, local, side="right") - 1, 0, len(t) - 2))
            width = t[k + 1] - t[k]
            step = self.model.difference(q[k], q[k + 1]) * ((local - t[k]) / width if width > 0 else 0.0)
            configuration = self.model.integrate(q[k], step)
            if steps:
                configuration = Repetition.of(self.model, self.advance, mirror, steps).q(configuration)
            found.append(np.array(configuration.full()).ravel())
        return np.array(found)
