"""Collects the solution that a point x of the program describes."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array
from ...constraints import constraint_jacobian
from ...mechanism import Model
from ...symmetry.advance import Advance
from ..equations import Contacts, equations_of
from ..motion.motion import PhaseMotion
from ..motion.strength_use import KEPT, strength_use
from ..nlp.program import Assembled, Slot
from ..solution import Solution
from ..statement.footholds import Foothold
from ..statement.ground.planes import GROUND
from ..statement.ground.terrain import Terrain
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.instant import Instant
from ..statement.path_constraints import Clearance
from ..statement.phases import JumpCondition, Transition
from ..statement.statement import Statement
from ..torque_sources.capacity import TorqueCapacity, strengths_along
from .grid_numbers import numbers, symbols
from .instant_quantities import PhaseQuantity, needed
from .tabulate import node_times, tabulate
from .variables import Transcription, advance_value, contacts, model_of, number, place_value, state_of


@dataclass(frozen=True, eq=False)
class _Point:
    """A point x of a program, read as a motion. values: of the parameters; step: from one period to the next."""

    transcription: Transcription
    x: Array

    @property
    def problem(self) -> Statement:
        return self.transcription.problem

    @cached_property
    def values(self) -> dict[str, DM]:
        return {name: DM(self.number(slot)) for name, slot in self.transcription.slots.items()}

    @cached_property
    def model(self) -> Model:
        return model_of(self.transcription, self.values)

    @cached_property
    def step(self) -> dict[str, Any]:
        return advance_value(self.transcription, self.x)

    def number(self, slot: Slot) -> Array:
        return number(self.transcription, slot, self.x)

    def track(self, p: int, name: str) -> Array:
        """The variables of a track of phase p, one row each."""
        return np.array([self.number(variable) for variable in self.transcription.phases[p][name]])

    def lengths(self, p: int) -> Array:
        """Lengths (N, 1) of the intervals of phase p [s]."""
        duration, grid = float(self.number(self.transcription.phases[p].duration)[0]), self.problem.phases[p].grid
        each = np.full(grid.count, duration / grid.count) if grid.is_even else duration * grid.shares
        return np.asarray(each[:, None])


def collect(transcription: Transcription, program: Assembled, x: Array, stats: dict[str, Any]) -> Solution:
    """The solution at a point x of the program; stats: figures of the run, to which settings of the problem are
    added."""
    point, problem = _Point(transcription, x), transcription.problem
    phases = [_phase(point, p, times) for p, times in enumerate(node_times(transcription, x))]
    terms = np.array(program.cost_terms(x, transcription.program.values)).ravel()
    cost: dict[str, float] = {}
    for name, term in zip(program.cost_names, terms, strict=True):
        cost[name] = cost.get(name, 0.0) + float(term)
    found = Solution(
        model=point.model,
        phases=tuple(phases),
        cost=cost,
        impulses=_impulses(transcription, point.model, phases, x),
        mirrored=transcription.mirror is not None,
        terrain=_terrain(problem),
        stats=stats | _settings(problem),
        record=tabulate(transcription, program, x),
        loads=problem.loads,
        channels=problem.parts.channels,
        components=problem.parts.components,
        **point.step,
    )
    return replace(found, stats=found.stats | _use_of_strength(problem, found))


def _use_of_strength(problem: Statement, found: Solution) -> dict[str, Any]:
    """The use of strength by limits that depend on angle and speed, as an entry of `stats`; none without these."""
    capacities = {
        phase.name: [t for t in (getattr(term, "constraint", term) for term in (*phase.path, *phase.objective))
                     if isinstance(t, TorqueCapacity)]
        for phase in problem.phases
    }  # fmt: skip
    if not any(capacities.values()) or not np.all(np.isfinite(found.tau)):
        return {}

    def limits(phase: PhaseMotion) -> Array:
        q, qd = ((x[1:] + x[:-1]) / 2 for x in (phase.q, phase.qd))
        held = capacities[phase.name]
        return strengths_along(found.model, held, q, qd) if held else np.full((2, *phase.tau.shape), np.inf)

    return {KEPT: [list(astuple(entry)) for entry in strength_use(found, limits)]}


def _phase(point: _Point, p: int, times: Array) -> PhaseMotion:
    """The motion of phase p."""
    problem, phase = point.problem, point.problem.phases[p]
    placed, advance = [f for f in phase.footholds if isinstance(f, Foothold)], Advance.of(*point.step.values())
    places = {f: place_value(point.transcription, f, point.x, advance) for f in placed}
    nodes = [state_of(point.transcription, point.transcription.phases[p], k, point.x) for k in range(times.size)]
    q, qd = (np.array(part) for part in zip(*nodes, strict=True))
    tau, tau_rate = _torques(problem, point.track(p, "tau"), point.lengths(p))
    tracks = {c.name: point.track(p, c.name) for c in problem.parts.channels}
    algebraic = [c.name for c in problem.parts.channels if c.kind == "algebraic"]
    channels = tracks | {name: _mean(problem, tracks[name]) for name in algebraic}
    if problem.form == "explicit":
        qdd, lam = _explicit_forces(point, p, Instant(
            point.model, q, qd, tau=tau - tau_rate * point.lengths(p) / 2, tau_rate=tau_rate, places=places,
            channels=channels,
        ))  # fmt: skip
    elif problem.dependent:
        qdd, lam = _means(point.transcription, p, point.x)
    else:
        stages = (point.track(p, name).reshape(phase.grid.count, -1) for name in ("qdd", "lam"))
        qdd, lam = (_mean(problem, found) for found in stages)
    return PhaseMotion(
        name=phase.name,
        t=times,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        lam=lam,
        contacts=_held(problem, p),
        places={f.name: place for f, place in places.items()},
        tau_rate=tau_rate,
        planes={f.name: f.plane for f in phase.footholds if f.plane != GROUND},
        soles={f.name: (f.half_length, f.half_width) for f in placed},
        channels=channels,
    )


def _held(problem: Statement, p: int) -> Contacts:
    """All contacts and constraints of phase p; those of dependent joints are last."""
    return tuple(held.contact for held in (*problem.phases[p].held, *problem.coordinates.held))


def _settings(problem: Statement) -> dict[str, Any]:
    """The settings of the problem that its solution keeps in `stats`."""
    closing = [problem.periodic.transition] if problem.periodic is not None else []
    resolved = problem.resolved
    return {
        "form": problem.form,
        "integrator": resolved.integrator,
        "steps": problem.steps,
        "torque": problem.torque,
        "contact_level": resolved.contact_level,
        "baumgarte": problem.baumgarte,
        "transitions": [_kind(transition) for transition in (*resolved.transitions, *closing)],
    } | ({"driving": [*problem.parts.driving]} if problem.parts.driving else {})


def _kind(transition: Transition) -> str:
    """Name of the kind of a transition: "Jump" for all that users define."""
    return "Jump" if isinstance(transition, JumpCondition) else type(transition).__name__


def _torques(problem: Statement, tau: Array, h: Array) -> tuple[Array, Array]:
    """Mean and rate of the torques (N, nv) on every interval."""
    full = np.zeros((len(tau), problem.model.nv))
    full[:, problem.actuated] = tau
    if problem.torque == "constant":
        return full, np.zeros_like(full)
    return (full[1:] + full[:-1]) / 2, (full[1:] - full[:-1]) / h


def _explicit_forces(point: _Point, p: int, starts: Instant) -> tuple[Array, Array]:
    """Accelerations and contact forces at the start of every interval of phase p; starts: an instant with arrays of the
    states at the nodes, and of the torques at the starts."""
    driving = starts.tau + _component_forces(point, p, starts)
    dynamics, held = equations_of(point.problem).of(point.model).forward_dynamics, _held(point.problem, p)
    pairs = [dynamics(held, *map(DM, z)) for z in zip(starts.q, starts.qd, driving, strict=False)]
    qdd, lam = (np.array([np.array(pair[k].full()).ravel() for pair in pairs]) for k in (0, 1))
    return qdd, lam


def _component_forces(point: _Point, p: int, starts: Instant) -> Array:
    """The generalized forces (N, nv) of the components at the start of every interval of phase p."""
    problem, found = point.problem, np.zeros_like(starts.tau)
    h, grid = point.lengths(p), point.problem.phases[p].grid
    slopes = [c.name for c in problem.parts.channels if c.kind == "control" and c.at_nodes]
    values = point.values | {name: DM(point.step[name]) for name in point.transcription.step}
    for k in range(len(found) if problem.parts.components else 0):
        here = {name: DM(array[k]) for name, array in starts.channels.items()}
        instant = Instant(
            point.model,
            DM(starts.q[k]),
            DM(starts.qd[k]),
            s=DM(grid.at(k)),
            tau=DM(starts.tau[k]),
            tau_rate=DM(starts.tau_rate[k]) if problem.torque == "linear" else None,
            places={f: DM(place) for f, place in starts.places.items()},
            values=values | here,
            channels=here,
            rates={name: DM(np.diff(starts.channels[name], axis=0)[k] / h[k]) for name in slopes},
        )
        found[k] = np.array(DM(problem.parts.force(instant)).full()).ravel()
    return np.asarray(found)


def _mean(problem: Statement, stages: Array) -> Array:
    """Mean over every interval of values at its stages, by the weights of the scheme.

    stages: one row per interval, with the values at its stages one after the other.
    """
    weights = np.tile(problem.scheme.b, problem.steps) / problem.steps
    return np.asarray(np.einsum("s,ksj->kj", weights, stages.reshape(len(stages), weights.size, -1)))


def _means(transcription: Transcription, p: int, x: Array) -> tuple[Array, Array]:
    """Means over the intervals of phase p of qdd and lam, for a problem with dependent joints: expressions of the
    variables of an interval."""
    if p not in transcription.means:
        quantity = PhaseQuantity(transcription, p, "qdd and lam", lambda instant: ca.vertcat(instant.qdd, instant.lam))
        here = symbols()
        slots, free, value = needed(quantity.slots(0), quantity.mean, here)
        function = ca.Function("mean", [*(free[name] for name in slots), *here.values()], [value])
        transcription.means[p] = quantity, list(slots), function
    quantity, names, mean = transcription.means[p]
    rows, phase = [], transcription.problem.phases[p]
    for k in range(quantity.last + 1):
        here = quantity.slots(k)
        given = [*(number(transcription, here[name], x) for name in names), *numbers(phase, k).values()]
        rows.append(np.array(mean(*given).full()).ravel())
    nv = transcription.problem.model.nv
    return np.array(rows)[:, :nv], np.array(rows)[:, nv:]


def _impulses(transcription: Transcription, model: Model, phases: list[PhaseMotion], x: Array) -> tuple[Array, ...]:
    """The impulses of all transitions, over the rows of the contacts of the next phase, zero for compliant footholds;
    those of the constraints that dependent joints fulfill follow from the change of velocity."""
    problem, found = transcription.problem, []
    for p, variable in enumerate(transcription.impulses):
        if variable is None:
            found.append(np.zeros(0))
            continue
        Lam, n = np.asarray(x[variable.index] * variable.scale), (p + 1) % len(phases)
        if problem.dependent:
            q, before, after = DM(phases[n].q[0]), DM(phases[p].qd[-1]), DM(phases[n].qd[0])
            if n == 0 and transcription.mirror is not None:
                before = transcription.mirror.qd(before)
            change = equations_of(problem).of(model).mass_matrix(q) @ (after - before)
            G = constraint_jacobian(model, contacts(problem.phases[n].held), q)
            inside = problem.coordinates.forces(model, q, change - G.T @ DM(Lam))
            Lam = np.concatenate([Lam, np.array(inside.full()).ravel()])
        rigid_rows = rows_with_impulse(phases[n].contacts)
        full = np.zeros(rigid_rows.size)
        full[rigid_rows] = Lam
        found.append(full)
    return tuple(found)


def rows_with_impulse(contacts: Contacts) -> Array:
    """For every row of the contacts, whether an impact acts on it: false for those of footholds that hold no rows."""
    return np.array([not isinstance(c, WrenchFoothold) for c in contacts for _ in c.rows], dtype=bool)


def _terrain(problem: Statement) -> Terrain | None:
    """The terrain of the first path constraint that has one."""
    paths = (term for phase in problem.phases for term in phase.path)
    found = (term.terrain for term in paths if isinstance(term, Clearance))
    return next((terrain for terrain in found if isinstance(terrain, Terrain)), None)
