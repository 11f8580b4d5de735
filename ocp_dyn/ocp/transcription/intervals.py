"""One interval of the motion, in the implicit and in the explicit form, by any Runge-Kutta scheme.

Multiple shooting: if the accelerations follow from forward dynamics and the scheme is explicit, the state at the end is
an expression of the state at the start and the torques.

Collocation: otherwise the accelerations qdd_i at the stages are variables (so are the contact forces lam_i in the
implicit form), the equations of motion at the stages are constraints, and the states at the stages are expressions of
the accelerations:

    implicit   ID(q_i, qd_i, qdd_i) = tau_i + G(q_i)' lam_i, and the rows of `contact_rows`,
    explicit   qdd_i = FD(q_i, qd_i, tau_i), under contacts with G qdd_i = gamma.

ID and FD are the inverse and forward dynamics of `equations`, with springs, losses and rotors of the joints.

Each function writes its gaps into `rows` and returns the stages at which path constraints and objectives are evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Expr
from ...integrators import Scheme, explicit_step, stage_states
from ...mechanism import Model
from ..nlp.program import BlockRows
from ..statement.footholds import Held
from ..statement.instant import Instant
from ..statement.phases import Phase
from ..statement.state.components import LocalValue
from ..statement.state.dependent import Coordinates
from ..statement.statement import Statement
from .contact_rows import StandingFeet, hold_end, hold_laws, hold_stage, project
from .evolution import Evolution
from .grid_numbers import PER_PHASE
from .local_blocks import called
from .tracks import FORCE_SCALE
from .variables import Transcription, completed, equations_at, full_tau, model_of, places, wrenches


@dataclass(frozen=True)
class StagePoint:
    """A stage of an interval: its fraction of the interval, from 0 to 1, its weight in the mean, and its `Instant`."""

    fraction: float
    weight: float
    instant: Instant


class State(NamedTuple):
    """A configuration and its velocity, all entries."""

    q: Expr
    qd: Expr


def interval_points(transcription: Transcription, phase: Phase, z: dict[str, SX], rows: BlockRows) -> list[StagePoint]:
    """Adds the gaps of an interval to the rows and returns its stages."""
    interval = _Interval(transcription, phase, z, rows)
    interval.channels.limit_slopes(rows)
    return interval.collocated() if transcription.problem.collocated else interval.shot()


def interval_ends(transcription: Transcription, phase: Phase, z: dict[str, SX]) -> list[Instant]:
    """The start and the end of an interval, with states, torques and their rate in this interval, and places."""
    full, model = completed(transcription, z), model_of(transcription, z)
    here, channels = places(transcription, phase.held, z), Evolution(transcription.problem, phase, z)
    tau_rate, found = _torque_rate(transcription.problem, phase, z), []
    for q, qd, fraction in (("q", "qd", 0.0), ("q+", "qd+", 1.0)):
        s, tau = (z["k"] + fraction) / z[PER_PHASE], _torque(transcription.problem, z, fraction)
        found.append(Instant(model, full[q], full[qd], s, tau=tau, tau_rate=tau_rate, places=here, values=z))
        channels.at_end(found[-1], fraction)
    return found


def control_points(transcription: Transcription, phase: Phase, z: dict[str, SX]) -> list[StagePoint]:
    """The stages of an interval with the torques, accelerations and forces that are variables; states, and forces and
    accelerations that are no variables, are free symbols."""
    problem, interval = transcription.problem, _Interval(transcription, phase, z, BlockRows())
    model, feet, count = interval.model, interval.feet(phase.held), problem.scheme.stages
    qdd = [SX.sym("qdd", model.nv)] * (count * problem.steps)
    if "qdd" in z and not problem.dependent:
        qdd = ca.horzsplit(ca.reshape(z["qdd"], model.nv, -1))
    lam = [SX.sym("lam", feet.size + sum(held.size for held in problem.coordinates.held))] * len(qdd)
    if "lam" in z and not problem.dependent:
        lam = ca.horzsplit(ca.reshape(z["lam"], feet.size, -1))
    free = State(SX.sym("q", model.nq), SX.sym("qd", model.nv))
    points: list[StagePoint] = []
    for step in range(problem.steps):
        for k in range(count):
            points.append(interval.point(step, k, free))
            interval.channels.of_controls(points[-1].instant, step, k)
            interval.close(feet, points[-1].instant, qdd[step * count + k], lam[step * count + k])
    return points


class _Interval:
    """One interval: its expressions z, the rows to which its equations go, and what all its steps share."""

    def __init__(self, transcription: Transcription, phase: Phase, z: dict[str, SX], rows: BlockRows) -> None:
        self.transcription, self.phase, self.z, self.rows = transcription, phase, z, rows
        self.problem, self.equations = transcription.problem, equations_at(transcription, z)
        self.model: Model = self.equations.model
        self.method: Scheme = self.problem.scheme
        self.chosen: Coordinates = self.problem.coordinates
        self.h = z["T"] / z[PER_PHASE] / self.problem.steps
        self.places = places(transcription, phase.held, z)
        self.channels = Evolution(self.problem, phase, z)
        self.tau_rate = _torque_rate(self.problem, phase, z)

    def feet(self, held: tuple[Held, ...]) -> StandingFeet:
        """Everything that is held in the phase; held: with or without the constraints of dependent joints."""
        return StandingFeet(self.equations, held, self.places, self.problem.baumgarte)

    def point(self, step: int, k: int, state: State) -> StagePoint:
        """Stage k of a step, with state and torques; accelerations and forces are not known yet."""
        fraction, steps = float(step + self.method.c[k]), self.problem.steps
        tau = _torque(self.problem, self.z, (step + self.method.c[k]) / steps)
        s = (self.z["k"] + fraction / steps) / self.z[PER_PHASE]
        instant = Instant(self.model, *state, s, tau=tau, tau_rate=self.tau_rate, places=self.places, values=self.z)
        return StagePoint(fraction / steps, float(self.method.b[k]) / steps, instant)

    def close(self, feet: StandingFeet, instant: Instant, qdd: Expr, lam: Expr) -> None:
        """Adds accelerations and forces to an instant."""
        instant.qdd, instant.lam = qdd, lam
        instant.wrenches = wrenches(feet.held, lam, feet.places)

    def shot(self) -> list[StagePoint]:
        """Multiple shooting: explicit form and explicit scheme, `problem.steps` steps one after the other."""
        feet, full = self.feet((*self.phase.held, *self.chosen.held)), completed(self.transcription, self.z)
        reached = State(full["q"], full["qd"])
        points: list[StagePoint] = []
        for step in range(self.problem.steps):
            found, reached = self._shot_step(feet, step, reached)
            points += found
        self._lead_on(State(full["q+"], full["qd+"]), reached)
        return points

    def _shot_step(self, feet: StandingFeet, step: int, start: State) -> tuple[list[StagePoint], State]:
        """The stages of a step of multiple shooting, and the state at its end."""
        points: list[StagePoint] = []
        self.channels.begin(step)

        def rate(q: Expr, qd: Expr) -> Expr:
            k = len(points)
            points.append(self.point(step, k, _state(self.chosen.complete(q, qd))))
            instant = points[k].instant
            self.channels.attach(instant, k)
            self.close(feet, instant, *self._forward_dynamics(feet, instant))
            self.channels.derive(self.rows, instant, k)
            return instant.qdd

        _, end = explicit_step(self.model, self.method, rate, *start, self.h)
        self.channels.finish(self.rows)
        return points, _state(project(feet, self.chosen, *end, self.problem.resolved.contact_level))

    def collocated(self) -> list[StagePoint]:
        """Collocation: the accelerations at the stages of `problem.steps` steps, and the states between the steps, are
        variables."""
        full = completed(self.transcription, self.z)
        ends = [*self._inner_states(), State(full["q+"], full["qd+"])]
        starts = [State(full["q"], full["qd"]), *ends[:-1]]
        points: list[StagePoint] = []
        for step, (start, end) in enumerate(zip(starts, ends, strict=True)):
            points += self._collocated_step(step, start, end)
        return points

    def _collocated_step(self, step: int, start: State, end: State) -> list[StagePoint]:
        """The stages of a step whose end is a variable; adds its equations of motion and its gaps."""
        chosen, method, level = self.chosen, self.method, self.problem.resolved.contact_level
        implicit = self.problem.form == "implicit"
        feet = self.feet(self.phase.held if implicit else (*self.phase.held, *chosen.held))
        here = slice(step * method.stages, (step + 1) * method.stages)
        qdd = self._accelerations[here]
        states, reached = stage_states(self.model, method, *start, qdd, self.h, self.rows.inner)
        states = [*states[:-1], end] if method.ends_at_stage else states
        full = [chosen.complete(*state, x) for state, x in zip(states, qdd, strict=True)]
        lifted = _lifted(self.rows, method, [_state(stage) for stage in full])
        moved = [self.rows.inner(x[2]) if self.problem.dependent else x[2] for x in full]
        points = [self.point(step, k, state) for k, state in enumerate(lifted)]
        self.channels.begin(step)
        for k, (point, qdd_k, lam_k) in enumerate(zip(points, moved, self._forces(feet)[here], strict=True)):
            self.channels.attach(point.instant, k)
            if implicit:
                self._inverse(feet, k, point.instant, qdd_k, lam_k)
            else:
                self._forward(feet, point.instant, qdd_k)
            self.channels.derive(self.rows, point.instant, k)
        self._lead_on(end, State(*reached) if implicit else _state(project(feet, chosen, *reached, level)))
        if implicit:
            hold_end(self.rows, feet, method, level, *end)
        self.channels.finish(self.rows)
        return points

    def _inverse(self, feet: StandingFeet, k: int, instant: Instant, qdd: Expr, lam: Expr) -> None:
        """Adds the equations of motion of the implicit form at stage k, for accelerations and forces that are
        variables."""
        rows, q, qd = self.rows, instant.q, instant.qd
        apart = self.transcription.bodies_apart
        inertial = SX(self.model.nv, 1) if apart else feet.equations.force_rows(rows, q, qd, qdd)
        gap = inertial - self._driving(instant, partial(called, rows))
        gap = gap - feet.force_rows(rows, q, lam) if feet.held else gap
        self.close(feet, instant, qdd, ca.vertcat(lam, self.chosen.forces(self.model, q, gap)))
        rows.constrain("dynamics", self.chosen.project(q, gap), scale=FORCE_SCALE)
        hold_stage(rows, feet, self.method, k, self.problem.resolved.contact_level, q, qd, qdd)
        hold_laws(rows, feet, q, qd, lam)

    def _forward(self, feet: StandingFeet, instant: Instant, qdd: Expr) -> None:
        """Adds the equations of motion of the explicit form at a stage, for accelerations that are variables."""
        found, lam = self._forward_dynamics(feet, instant)
        self.rows.constrain("dynamics", (qdd - found)[self.chosen.qd])
        self.close(feet, instant, found, lam)

    def _forward_dynamics(self, feet: StandingFeet, instant: Instant) -> tuple[Expr, Expr]:
        """(qdd, lam) under the torques and the forces of the components."""
        held, state = tuple(f.contact for f in feet.held), (instant.q, instant.qd)
        if feet.footholds and feet.baumgarte:
            correction = feet.correction(*state)
            return feet.equations.corrected_dynamics(held, *state, self._driving(instant), correction)
        return feet.equations.forward_dynamics(held, *state, self._driving(instant))

    def _driving(self, instant: Instant, local: LocalValue | None = None) -> Expr:
        """The torques and the forces of the components; local: makes the values of local forces."""
        parts = self.problem.parts
        return instant.tau + parts.force(instant, self.transcription.split, local) if parts.components else instant.tau

    def _lead_on(self, end: State, reached: State) -> None:
        """Adds the gaps between the variables at the end of a step and the state that the step reaches."""
        self.rows.constrain("velocity step", (end.qd - reached.qd)[self.chosen.qd])
        self.rows.constrain("position step", (end.q - reached.q)[self.chosen.q])

    @cached_property
    def _accelerations(self) -> list[Expr]:
        """The accelerations (nv) at the stages of all steps; zero for dependent joints."""
        columns = ca.horzsplit(ca.reshape(self.z["qdd"], len(self.chosen.qd), -1))
        return [self.chosen.spread(x) for x in columns]

    def _forces(self, feet: StandingFeet) -> list[Expr]:
        """The contact forces at the stages of all steps, as far as they are variables."""
        if "lam" not in self.z:
            return [SX(0, 1)] * len(self._accelerations)
        return list(ca.horzsplit(ca.reshape(self.z["lam"], feet.size, -1)))

    def _inner_states(self) -> list[State]:
        """The states between the steps of the interval."""
        if self.problem.steps == 1:
            return []
        chosen, n = self.chosen, len(self.chosen.q)
        columns = ca.horzsplit(ca.reshape(self.z["inner"], n + len(chosen.qd), -1))
        return [_state(chosen.complete(chosen.full_q(x[:n]), chosen.spread(x[n:]))) for x in columns]


def _lifted(rows: BlockRows, method: Scheme, states: list[State]) -> list[State]:
    """The states at the stages as inner variables (`BlockRows.inner`); a stage at a node has the state of the node."""
    last = method.stages - 1 if method.ends_at_stage else method.stages
    inside = [
        State(rows.inner(q), rows.inner(qd)) if np.any(row) else State(q, qd)
        for (q, qd), row in zip(states, method.A[:last], strict=False)
    ]
    return [*inside, *states[last:]]


def _state(parts: tuple[Expr, ...]) -> State:
    """The state of (q, qd) or (q, qd, qdd)."""
    return State(parts[0], parts[1])


def _torque(problem: Statement, z: dict[str, SX], fraction: float) -> Expr:
    """The torques tau (nv) at a fraction of the interval."""
    tau = z["tau"] if "tau+" not in z else (1 - fraction) * z["tau"] + fraction * z["tau+"]
    return full_tau(problem, tau)


def _torque_rate(problem: Statement, phase: Phase, z: dict[str, SX]) -> Expr:
    """The rate d(tau)/dt (nv) in an interval; None for torques that are constant in it."""
    if "tau+" not in z:
        return None
    return full_tau(problem, (z["tau+"] - z["tau"]) / (z["T"] / z[PER_PHASE]))
