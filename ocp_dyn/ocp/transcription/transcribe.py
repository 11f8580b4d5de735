"""Multiple shooting and collocation: makes a Program of a Problem, with one block per kind of interval, node or event.

For the equations of an interval see `intervals`, for the rows of contacts `contact_rows`. The pose of a foot is
constrained at the first node of the phase in which the foot is set down; in later phases the interval before, or
periodicity, implies it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._arguments import bounded, called, scalar
from ..._types import Array, Expr
from ...constraints import constraint_jacobian
from ..nlp.program import Program, Rows
from ..statement.footholds import Foothold, Rigid, rigid
from ..statement.instant import Instant
from ..statement.objectives import Objective, objective_name
from ..statement.path_constraints import PathConstraint
from ..statement.phases import Continuous, Impact, Jump, Phase, Transition
from ..statement.statement import Statement
from .dependent_joints import add_limits, check_images
from .intervals import Point, interval_ends, interval_points
from .peaks import add_peaks
from .period import distance_of, moved_by, stay_on_planes
from .quantities import COMPARED_DEPTH
from .rate_costs import add_rates
from .term_variables import TermVariables
from .variables import (
    FORCE_SCALE,
    Transcription,
    add_variables,
    advance_of,
    completed,
    contacts,
    equations_at,
    model_of,
    place_slots,
    places,
    wrenches,
)


def transcribe(problem: Statement, threads: int = 2) -> Transcription:
    """The nonlinear program of a problem, in the problem's form and by its integrator."""
    t = Transcription(problem, Program(threads), problem.mirror())
    check_images(t)
    add_variables(t)
    for p, phase in enumerate(problem.phases):
        _add_intervals(t, p, phase)
        add_rates(t, p, phase)
        _add_path(t, p, phase)
        add_limits(t, p, phase)
        _add_start(t, p)
    add_peaks(t)
    for p, transition in enumerate(problem.resolved.transitions):
        if isinstance(transition, Impact):
            _add_impact(t, p, transition)
        elif isinstance(transition, Jump):
            _add_jump(t, p, transition)
    _add_ends(t)
    return t


def _constrain_path(rows: Rows, phase: Phase, terms: Iterable[PathConstraint], instant: Instant) -> None:
    for term in terms:
        value, lower, upper = _rows(phase, term, instant)
        if value.numel():
            scale = FORCE_SCALE if term.where == "wrench" else 1.0
            rows.constrain(type(term).__name__, value, lower, upper, scale)


def _rows(phase: Phase, term: PathConstraint, instant: Instant) -> tuple[SX, Any, Any]:
    """Value and bounds of a path constraint, checked because users write path constraints."""
    here = f"phase {phase.name!r}: {type(term).__name__}"
    return bounded(called(here, term.rows, instant, values=instant.values), here)


def _constrain_interval(
    transcription: Transcription, rows: Rows, phase: Phase, z: dict[str, SX], points: list[Point]
) -> None:
    """Adds path constraints in an interval: at its stages, in multiple shooting at the first one; those of terms with
    `at_interval_ends` at both ends."""
    terms = [term for term in phase.path if term.where != "node"]
    at_ends = [term for term in terms if getattr(term, "at_interval_ends", False)]
    stages = [point.instant for point in (points if transcription.problem.collocated else points[:1])]
    _constrain_instants(rows, phase, [term for term in terms if term not in at_ends], stages)
    _constrain_instants(rows, phase, at_ends, interval_ends(transcription, phase, z) if at_ends else [])


def _constrain_instants(rows: Rows, phase: Phase, terms: Iterable[PathConstraint], instants: Iterable[Instant]) -> None:
    """Adds path constraints at instants of an interval; rows that are equal at several instants are added once."""
    seen: list[tuple[SX, Array, Array]] = []
    for instant in instants:
        stage_rows = Rows()
        _constrain_path(stage_rows, phase, terms, instant)
        for name, value, lower, upper in stage_rows.rows:
            if not any(_same((value, lower, upper), other) for other in seen):
                rows.rows.append((name, value, lower, upper))
            seen.append((value, lower, upper))


def _same(one: tuple[SX, Array, Array], other: tuple[SX, Array, Array]) -> bool:
    """Whether two rows (value, lower, upper) are the same constraint."""
    alike = one[0].shape == other[0].shape and all(map(np.array_equal, one[1:], other[1:]))
    return alike and bool(ca.is_equal(one[0], other[0], COMPARED_DEPTH))


def _add_intervals(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds the intervals of a phase: gaps, path constraints at their stages, and integrals of objectives."""
    x, problem = transcription.phases[p], transcription.problem
    slots = x.interval(0) | place_slots(transcription, phase.held) | transcription.slots
    term_variables = TermVariables(transcription, phase)
    slots |= term_variables.slots(0)
    duration, longest = phase.duration_bounds
    fixed = duration == longest and phase.shared_duration is None
    if fixed:  # with a number as duration the steps are linear
        del slots["T"]

    def body(z: dict[str, SX], rows: Rows) -> None:
        z = z | {"T": SX(duration)} if fixed else z
        points = interval_points(transcription, phase, z, rows)
        for point in points:
            point.instant.s = (z["k"] + point.fraction) / phase.intervals
            term_variables.attach(z, point)
        term_variables.constrain(rows, points)
        _constrain_interval(transcription, rows, phase, z, points)
        per = 1 / ca.fabs(distance_of(z)) if problem.per_distance else 1.0
        for objective in _integrands(phase):
            mean = sum((p.weight * _integrand(phase, objective, p.instant) for p in points), start=SX(0))
            factor = objective.weight * z["T"] / phase.intervals * per
            residual = getattr(objective, "residual", None)
            squares = [(factor * p.weight, residual(p.instant)) for p in points] if residual is not None else []
            rows.cost(objective_name(objective), factor * mean, squares)

    block = transcription.program.block(phase.name, slots, body, k=1, **term_variables.parameters)
    for k in range(phase.intervals):
        block.add(slots | x.interval(k) | term_variables.slots(k), k=k, **term_variables.numbers(k))


def _integrand(phase: Phase, objective: Objective, instant: Instant) -> SX:
    """Integrand of an objective, checked because users write objectives."""
    here = f"phase {phase.name!r}: {type(objective).__name__} {objective_name(objective)!r}"
    return scalar(called(here, objective.integrand, instant, values=instant.values), f"{here}: cost")


def _integrands(phase: Phase) -> list[Objective]:
    return [term for term in phase.objective if isinstance(term, Objective)]


def _add_path(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds node constraints at every node of the phase; not at its ends if a constraint has `ends = False`."""
    x = transcription.phases[p]
    for term in phase.path:
        if term.where != "node":
            continue

        def body(z: dict[str, SX], rows: Rows, term: PathConstraint = term) -> None:
            _constrain_path(rows, phase, (term,), _node_instant(transcription, completed(transcription, z)))

        name = f"{phase.name} {type(term).__name__}"
        block = transcription.program.block(name, {"q": x.q[0], "qd": x.qd[0]} | transcription.slots, body, s=1)
        ends = getattr(term, "ends", True)
        first, last = (int(_repeated(transcription, p, term)), phase.intervals) if ends else (1, phase.intervals - 1)
        for k in range(first, last + 1):
            block.add({"q": x.q[k], "qd": x.qd[k]} | transcription.slots, s=k / phase.intervals)


def _node_instant(transcription: Transcription, z: dict[str, SX]) -> Instant:
    return Instant(model_of(transcription, z), z["q"], z["qd"], s=z["s"], values=z)


def _repeated(transcription: Transcription, p: int, term: PathConstraint) -> bool:
    """Whether the rows of a node constraint at the first node of phase p repeat its rows at the last node before it.

    They do if the phase before has the same constraint and its rows depend only on quantities that are equal at both
    nodes: not on the fraction of the phase, not on the velocity across an impact, and not on positions and velocities
    that the step changes across a period.
    """
    problem = transcription.problem
    if p == 0 and (problem.periodic is None or transcription.mirror is not None):
        return False
    before = problem.phases[p - 1]
    transition = problem.resolved.transitions[p - 1] if p or problem.periodic is None else problem.periodic.transition
    if isinstance(transition, Jump) or not any(other is term for other in before.path):
        return False
    model = problem.model
    z = {"q": SX.sym("q", model.nq), "qd": SX.sym("qd", model.nv), "s": SX.sym("s")}
    rows = _rows(
        before,
        term,
        _node_instant(transcription, z | {name: SX.sym(name, slot.size) for name, slot in transcription.slots.items()}),
    )[0]
    changed = [z["s"]]
    if isinstance(transition, Impact):
        changed.append(z["qd"])
    if p == 0:
        changed += moved_by(transcription, z["q"], z["qd"])
    return not any(ca.depends_on(rows, x) for x in changed)


def _add_start(transcription: Transcription, p: int) -> None:
    """Adds the conditions at the start of a phase that the interval before does not imply: poses of new contacts, and
    zero velocity at them."""
    problem, phase, x = transcription.problem, transcription.problem.phases[p], transcription.phases[p]
    closing = problem.periodic.transition if problem.periodic is not None else None
    transition = problem.resolved.transitions[p - 1] if p else closing
    standing = rigid(phase.held)
    before = {held: _held_before(transcription, p, held) for held in standing}
    stood = tuple(f for f in before.values() if f is not None and f not in phase.held)
    if not standing:
        return

    def body(z: dict[str, SX], rows: Rows) -> None:
        model, z = model_of(transcription, z), completed(transcription, z)
        where: dict[Any, Expr] = dict(places(transcription, (*phase.held, *stood), z))
        for held, was in before.items():
            here, there = where.get(held), where.get(was)
            rows.constrain(f"pose of {held.name}", held.touchdown(model, z["q"], here, was, there))
            if isinstance(transition, Continuous | None):
                rate = held.touchdown_rate(model, z["q"], z["qd"], was, there)
                rows.constrain(f"rest of {held.name}", rate)
        if isinstance(transition, Impact):
            rows.constrain("feet at rest", constraint_jacobian(model, contacts(phase.held), z["q"]) @ z["qd"])

    slots = {"q": x.q[0], "qd": x.qd[0]} | place_slots(transcription, (*phase.held, *stood)) | transcription.slots
    transcription.program.block(f"start of {phase.name}", slots, body).add(slots)


def _held_before(transcription: Transcription, p: int, held: Rigid) -> Any:
    """The foothold of the same foot, or the same constraint, that was held just before phase p; None if there is
    none."""
    if p == 0:
        return held if held in transcription.standing else None
    same = [
        h
        for h in rigid(transcription.problem.phases[p - 1].held)
        if h == held or (_root(h) is not None and _root(h) is _root(held))
    ]
    return same[0] if same else None


def _root(held: Rigid) -> Foothold | None:
    return held.root if isinstance(held, Foothold) else None


def _impact_rows(
    transcription: Transcription,
    rows: Rows,
    phase: Phase,
    transition: Impact,
    q: Expr,
    qd: Expr,
    qd_plus: Expr,
    z: dict[str, SX],
) -> None:
    """Adds the rows and the cost of an impact at q from the velocity qd to qd_plus, at the start of a phase."""
    equations = equations_at(transcription, z)
    model = equations.model
    G = constraint_jacobian(model, contacts(phase.held), q)
    gap = equations.momentum_rows(rows, q, qd_plus - qd) - G.T @ z["Lam"]
    rows.constrain("impact", transcription.problem.coordinates.project(q, gap), scale=10.0)
    here = places(transcription, phase.held, z)
    forces = wrenches(rigid(phase.held), z["Lam"], here)
    instant = Instant(model, q, qd_plus, wrenches=forces, places=here, values=z, impulse=True)
    _constrain_path(rows, phase, [term for term in phase.path if term.where == "wrench"], instant)
    if transition.weight:
        rows.cost("Impact", transition.weight * ca.sumsqr(z["Lam"]))


def _add_impact(transcription: Transcription, p: int, transition: Impact) -> None:
    """Adds the impact between phase p and the next: both have the same positions, velocities jump."""
    before, after, phase = transcription.phases[p], transcription.phases[p + 1], transcription.problem.phases[p + 1]
    impulse = transcription.impulses[p]
    slots = {"q": after.q[0], "qd": before.qd[-1], "qd_plus": after.qd[0]} | place_slots(transcription, phase.held)
    slots |= transcription.slots | {"Lam": impulse} if impulse is not None else {}

    def body(z: dict[str, SX], rows: Rows) -> None:
        if impulse is None:
            rows.constrain("velocity", z["qd_plus"] - z["qd"])
        else:
            z = completed(transcription, z)
            _impact_rows(transcription, rows, phase, transition, z["q"], z["qd"], z["qd_plus"], z)

    transcription.program.block(f"impact to {phase.name}", slots, body).add(slots)


def _add_jump(transcription: Transcription, p: int, transition: Jump) -> None:
    """Adds a user-defined transition between phase p and the next."""
    before, after = transcription.phases[p], transcription.phases[p + 1]
    slots = {
        "q_before": before.q[-1],
        "qd_before": before.qd[-1],
        "q": after.q[0],
        "qd": after.qd[0],
    } | transcription.slots

    def body(z: dict[str, SX], rows: Rows) -> None:
        z = completed(transcription, z)
        end = Instant(model_of(transcription, z), z["q_before"], z["qd_before"], s=1.0, values=z)
        _jump_rows(rows, transition, end, Instant(end.model, z["q"], z["qd"], values=z))

    transcription.program.block(f"{transition.name} to {transcription.problem.phases[p + 1].name}", slots, body).add(
        slots
    )


def _jump_rows(rows: Rows, transition: Jump, end: Instant, start: Instant) -> None:
    what = f"Jump {transition.name!r}"
    condition = called(what, transition.function, end, start, values=start.values)
    rows.constrain(transition.name, *bounded(condition, what))


def _add_ends(transcription: Transcription) -> None:
    """Adds periodicity, boundary conditions, unit quaternions at the start, speed, and terminal costs."""
    problem, model = transcription.problem, transcription.problem.model
    start, end = transcription.phases[0], transcription.phases[-1]
    slots = {"q": start.q[0], "qd": start.qd[0], "q_end": end.q[-1], "qd_end": end.qd[-1]} | transcription.slots
    slots |= {f"T{p}": x.duration for p, x in enumerate(transcription.phases)}
    if problem.periodic is not None:
        slots |= place_slots(transcription, problem.phases[0].held)
    if transcription.speed is not None:
        slots["speed"] = transcription.speed
    if problem.periodic is not None and transcription.impulses[-1] is not None:
        slots["Lam"] = transcription.impulses[-1]

    def body(z: dict[str, SX], rows: Rows) -> None:
        time = sum((z[f"T{p}"] for p in range(len(transcription.phases))), start=SX(0))
        z = completed(transcription, z)
        values = z | {"time": time}
        for i, _ in model.edges:
            if model.joints[i].has_quaternion:
                rows.constrain("unit quaternion", ca.sumsqr(model.split_q(z["q"])[i][-4:]) - 1)
        if problem.periodic is not None:
            _close_period(transcription, rows, problem.periodic.transition, z)
            stay_on_planes(transcription, rows, z)
            if "speed" in z:
                speed = ca.fabs(z["speed"]) if "sideways" in z else z["speed"]  # which has no sign then
                rows.constrain("speed", distance_of(z) - speed * time)
        here = model_of(transcription, z)
        first = Instant(here, z["q"], z["qd"], values=values)
        last = Instant(here, z["q_end"], z["qd_end"], s=1.0, values=values)
        for condition in problem.boundary:
            what = f"Boundary {condition.name!r}"
            result = called(what, condition.function, first, last, values=values)
            rows.constrain(condition.name, *bounded(result, what))
        for term in problem.terminal:
            what = f"Terminal {term.name!r}"
            result = called(what, term.function, first, last, values=values)
            rows.cost(term.name, term.weight * scalar(result, f"{what}: cost"))

    transcription.program.block("ends", slots, body).add(slots)


def _close_period(transcription: Transcription, rows: Rows, transition: Transition, z: dict[str, SX]) -> None:
    """Constrains the first state to the image of the last: mirrored if the motion is, moved back by the step, and after
    the transition that closes the period."""
    model = transcription.problem.model
    q, qd = z["q_end"], z["qd_end"]
    if transcription.mirror is not None:
        q, qd = transcription.mirror.q(q), transcription.mirror.qd(qd)
    q, qd = advance_of(transcription, z).inverse().state(model, q, qd)
    if isinstance(transition, Jump):
        here = model_of(transcription, z)
        end = Instant(here, q, qd, s=1.0, values=z)
        _jump_rows(rows, transition, end, Instant(here, z["q"], z["qd"], values=z))
        return
    chosen = transcription.problem.coordinates
    rows.constrain("periodic position", model.difference(q, z["q"])[chosen.qd])
    if isinstance(transition, Continuous) or "Lam" not in z:
        rows.constrain("periodic velocity", (z["qd"] - qd)[chosen.qd])
    else:
        qd = chosen.complete(z["q"], qd)[1]
        _impact_rows(transcription, rows, transcription.problem.phases[0], transition, z["q"], qd, z["qd"], z)
