"""Multiple shooting and collocation: makes a Program of a Problem, with one block per kind of interval, node or event.

For the equations of an interval see `intervals`, for the rows of contacts `contact_rows`. The pose of a foot is
constrained at the first node of the phase in which the foot is set down; in later phases the interval before, or
periodicity, implies it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import call_user, rows_and_bounds, scalar
from ..nlp.kept_programs import program_key
from ..nlp.program import GAPS, Block, BlockRows, Program, Slot, Span
from ..statement.objectives import Cost
from ..statement.phases import Continuous, Impact, JumpCondition, Phase
from ..statement.state.mirrored import check_mirrored
from ..statement.statement import Statement
from ..statement.values.weights import replaced_terms, with_weight
from .grid_numbers import PER_PHASE, numbers, sizes
from .intervals import StagePoint, interval_points
from .local_blocks import add_local_forces, with_local_forces
from .quantity_costs import add_peaks, add_rates
from .terms import TermValues, add_path, constrain_interval, integrand, node_instant
from .tracks import limits_of
from .transitions import add_impact, add_jump, add_start, close_period, stay_on_planes
from .variables import (
    Transcription,
    add_variables,
    completed,
    distance_of,
    number,
    place_slots,
    weight_of,
    weight_slots,
)


def transcribe(problem: Statement, threads: int = 2) -> Transcription:
    """The nonlinear program of a problem, in the problem's form and by its integrator."""
    steps = (f"{c.name} step" for c in problem.parts.channels if c.kind == "state")
    t = Transcription(problem, Program(threads, (*GAPS, *steps)), problem.mirror())
    _check_images(t)
    add_variables(t)
    if t.mirror is not None and problem.parts.components:
        values = {name: DM(number(t, slot, t.program.start)) for name, slot in (t.slots | t.step).items()}
        check_mirrored(problem.parts, problem.model, t.mirror, values)
    t.split, intervals = with_local_forces(t), []
    t.bodies_apart = bool(t.split) and not {"slope", "gravity"} & t.slots.keys()
    for p, phase in enumerate(problem.phases):
        intervals.append(_add_intervals(t, p, phase))
        add_rates(t, p, phase)
        add_path(t, p, phase)
        _add_limits(t, p, phase)
        add_start(t, p)
    add_peaks(t)
    for p, transition in enumerate(problem.resolved.transitions):
        if isinstance(transition, Impact):
            add_impact(t, p, transition)
        elif isinstance(transition, JumpCondition):
            add_jump(t, p, transition)
    _add_ends(t)
    add_local_forces(t, intervals)
    return t


NO_ROWS = ("guess", "posture", "options")
"""Fields of a problem that neither costs nor rows depend on."""


def key_of(problem: Statement) -> str:
    """The key of the program of a problem on disk; "" for a problem with functions of a user (`kept_programs`).

    The speed of a period and weights of costs are parameters of the program, bounds of a free duration are those of a
    variable, and grids are numbers of its blocks: walks at different speeds, of different weights and on different
    grids have one program.
    """
    entries = problem.weights.entries
    named = {
        id(term): with_weight(term, entry.parameter) for entry in entries for term in entry.terms if entry.parameter
    }
    costs = replaced_terms(problem, named)
    data = _fields(problem, *NO_ROWS, "periodic") | costs
    data["phases"] = [
        _fields(phase, "duration", "intervals") | {"duration": _duration(phase)} for phase in costs["phases"]
    ]
    if problem.periodic is not None:
        periodic = costs.get("periodic", problem.periodic)
        data["periodic"] = _fields(periodic, "speed") | {"speed": problem.periodic.speed is not None}
    return program_key(data)


def _fields(part: Any, *without: str) -> dict[str, Any]:
    """The class and the fields of a dataclass, by name."""
    values = {f.name: getattr(part, f.name) for f in fields(part) if f.init and f.name not in without}
    return {"class": type(part)} | values


def _duration(phase: Phase) -> Any:
    low, high = phase.duration_bounds
    return "free" if phase.shared_duration is None and low < high else phase.duration


def _add_intervals(transcription: Transcription, p: int, phase: Phase) -> Block:
    """Adds the intervals of a phase: gaps, path constraints at their stages, and integrals of objectives."""
    x = transcription.phases[p]
    slots = x.interval(0) | place_slots(transcription, phase.held) | transcription.slots
    terms, costs = TermValues(transcription, phase), [term for term in phase.objective if isinstance(term, Cost)]
    slots |= weight_slots(transcription, costs)
    duration, longest = phase.duration_bounds
    fixed = {"T": duration} if duration == longest and phase.shared_duration is None else {}
    if fixed:  # the duration is a constant of the block: steps are linear, and phases of other durations have the same
        del slots["T"]

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        points = interval_points(transcription, phase, z, rows)
        for point in points:
            terms.attach(z, point)
        terms.constrain(rows, points)
        constrain_interval(transcription, rows, phase, z, points)
        for objective in costs:
            _add_integral(transcription, phase, objective, z, points, rows)

    block = transcription.program.block(phase.name, slots, body, **sizes(), **dict.fromkeys(fixed, 1), **terms.sizes)
    for k in range(phase.grid.count):
        block.add(slots | x.interval(k), Span.interval(p, k), **numbers(phase, k), **fixed, **terms.numbers(k))
    return block


def _add_integral(
    transcription: Transcription,
    phase: Phase,
    objective: Cost,
    z: dict[str, SX],
    points: list[StagePoint],
    rows: BlockRows,
) -> None:
    """Adds the integral of an objective over an interval to the costs."""
    found = [(point.weight, *integrand(phase, objective, point.instant)) for point in points]
    mean = sum((weight * value for weight, value, _ in found), start=SX(0))
    per = 1 / ca.fabs(distance_of(z)) if transcription.problem.per_distance else 1.0
    factor = weight_of(transcription, objective, z) * z["T"] / z[PER_PHASE] * per
    squares = [(factor * weight, residual) for weight, _, residual in found if residual is not None]
    rows.cost(objective.name, factor * mean, squares)


def _add_ends(transcription: Transcription) -> None:
    """Adds periodicity, boundary conditions, unit quaternions at the start, speed, and terminal costs."""
    problem, model = transcription.problem, transcription.problem.model
    start, end = transcription.phases[0], transcription.phases[-1]
    slots: dict[str, Slot] = {**start.state(0), **{f"{name}:end": slot for name, slot in end.state(-1).items()}}
    slots |= transcription.slots
    slots |= {f"T{p}": x.duration for p, x in enumerate(transcription.phases)}
    if problem.periodic is not None:
        slots |= place_slots(transcription, problem.phases[0].held)
    if transcription.speed is not None:
        slots["speed"] = transcription.speed
    if problem.periodic is not None and transcription.impulses[-1] is not None:
        slots["Lam"] = transcription.impulses[-1]
        slots |= weight_slots(transcription, [problem.periodic.transition])
    slots |= weight_slots(transcription, problem.terminal)

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        time = sum((z[f"T{p}"] for p in range(len(transcription.phases))), start=SX(0))
        z = completed(transcription, z)
        values = z | {"time": time}
        for i, _ in model.edges:
            if model.joints[i].has_quaternion:
                rows.constrain("unit quaternion", ca.sumsqr(model.split_q(z["q"])[i][-4:]) - 1)
        if problem.periodic is not None:
            close_period(transcription, rows, problem.periodic.transition, z)
            stay_on_planes(transcription, rows, z)
            if "speed" in z:
                speed = ca.fabs(z["speed"]) if "sideways" in z else z["speed"]  # which has no sign then
                rows.constrain("speed", distance_of(z) - speed * time)
        first = node_instant(transcription, values, 0.0)
        last = node_instant(transcription, values, 1.0, ":end")
        for condition in problem.conditions:
            what = f"Boundary {condition.name!r}"
            result = call_user(what, condition.rows, first, last, values=values)
            rows.constrain(condition.name, *rows_and_bounds(result, what))
        for term in problem.terminal:
            what = f"Terminal {term.name!r}"
            result = call_user(what, term.value, first, last, values=values)
            rows.cost(term.name, weight_of(transcription, term, z) * scalar(result, f"{what}: cost"))

    transcription.program.block("ends", slots, body).add(slots)


def _check_images(transcription: Transcription) -> None:
    """Checks that the mirror images of dependent joints are dependent, so that independent coordinates determine the
    image of a state."""
    problem, chosen = transcription.problem, transcription.problem.coordinates
    if transcription.mirror is None or not problem.dependent:
        return
    others = np.setdiff1d(np.arange(problem.model.nv), chosen.qd)
    mixed = np.array(DM(transcription.mirror.qd_matrix).full())[np.ix_(others, np.array(chosen.qd))]
    if np.any(mixed):
        name = problem.model.qd_names[others[int(np.argmax(np.any(mixed, axis=1)))]]
        raise ValueError(
            f"the mirror image of the dependent coordinate {name!r} is independent: in a mirrored period make the same "
            "joints of both sides dependent, or write Periodic(mirror=False)"
        )


def _add_limits(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds the limits of dependent joints at the nodes, as rows; those of independent joints are bounds of
    variables."""
    problem, x = transcription.problem, transcription.phases[p]
    limits, chosen = limits_of(problem, transcription.mirror), problem.coordinates
    q_low, q_high = (np.delete(limit, chosen.q) for limit in (limits.q_lower, limits.q_upper))
    fastest = np.delete(limits.qd_max, chosen.qd)
    limited, fast = np.isfinite(q_low) | np.isfinite(q_high), np.isfinite(fastest)
    if not (np.any(limited) or np.any(fast)):
        return
    at, rate = (np.delete(np.arange(n), k) for n, k in ((problem.model.nq, chosen.q), (problem.model.nv, chosen.qd)))

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        z = completed(transcription, z)
        rows.constrain("position", z["q"][at[limited].tolist()], q_low[limited], q_high[limited])
        rows.constrain("speed", z["qd"][rate[fast].tolist()], -fastest[fast], fastest[fast])

    joined = p > 0 and isinstance(problem.resolved.transitions[p - 1], Continuous)
    block = transcription.program.block(f"limits of dependent joints in {phase.name}", x.state(0), body)
    for k in range(int(joined), phase.grid.count + 1):
        block.add(x.state(k), Span.node(p, k))
