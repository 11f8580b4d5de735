"""Rows and costs of the terms of a phase: path constraints at its nodes and stages, integrands of costs, and values
that single costs have beside the instant, slacks and references to track."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.checks import call_user, expression, rows_and_bounds, scalar
from ..._base.types import Array, Expr
from ..nlp.program import BlockRows, Span
from ..statement.instant import Instant
from ..statement.objectives import Cost, LeastSquares, TrackingCost
from ..statement.path_constraints import PathConstraint
from ..statement.phases import Impact, JumpCondition, Phase
from ..statement.tracking import reference_numbers
from .evolution import at_node
from .instant_quantities import COMPARED_DEPTH
from .intervals import StagePoint, interval_ends
from .tracks import FORCE_SCALE, slacks_of
from .variables import Transcription, completed, model_of, moved_by


class TermValues:
    """Attaches the slacks and references of a phase's costs to instants. References are constants of the block,
    numbered by the position of the cost in the list."""

    def __init__(self, transcription: Transcription, phase: Phase) -> None:
        steps, scheme = transcription.problem.steps, transcription.problem.scheme
        self._model, self._grid = transcription.problem.model, phase.grid
        self._fractions = [float(step + c) / steps for step in range(steps) for c in scheme.c]
        self._slacks = {track.name: cost for track, cost in slacks_of(transcription.problem, phase).items()}
        self._references = {f"reference{i}": x for i, x in enumerate(phase.objective) if isinstance(x, TrackingCost)}

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the references, over all stages of an interval."""
        return {key: len(self._fractions) * term.reference_size(self._model) for key, term in self._references.items()}

    def numbers(self, k: int) -> dict[str, Array]:
        """The references at the stages of interval k."""
        stages = [self._grid.at(k, fraction) for fraction in self._fractions]
        return {
            key: np.concatenate([reference_numbers(term, self._model, s) for s in stages])
            for key, term in self._references.items()
        }

    def attach(self, z: dict[str, SX], point: StagePoint) -> None:
        """Attaches the slacks and references of every cost to the instant of a point."""
        for key, cost in self._slacks.items():
            point.instant.slacks[cost] = z[key]
        for key, term in self._references.items():
            stages = ca.vertsplit(z[key], term.reference_size(self._model))
            point.instant.references[term] = stages[self._fractions.index(point.fraction)]

    def constrain(self, rows: BlockRows, points: list[StagePoint]) -> None:
        """Adds the rows that constrain the slacks, at every stage."""
        for cost in self._slacks.values():
            for point in points:
                name = f"slack of {cost.name}"
                value = expression(call_user(name, cost.slack_rows, point.instant), name)
                rows.constrain(name, value, 0.0, np.inf, cost.scale)


def constrain_path(rows: BlockRows, phase: Phase, terms: Iterable[PathConstraint], instant: Instant) -> None:
    for term in terms:
        value, lower, upper = _rows(phase, term, instant)
        if value.numel():
            scale = FORCE_SCALE if term.where == "wrench" else 1.0
            rows.constrain(term.name, value, lower, upper, scale)


def _rows(phase: Phase, term: PathConstraint, instant: Instant) -> tuple[SX, Any, Any]:
    """Value and bounds of a path constraint, checked because users write path constraints."""
    own = "" if term.name == term.usual_name else f" {term.name!r}"
    here = f"phase {phase.name!r}: {type(term).__name__}{own}"
    return rows_and_bounds(call_user(here, term.rows, instant, values=instant.values), here)


def constrain_interval(
    transcription: Transcription, rows: BlockRows, phase: Phase, z: dict[str, SX], points: list[StagePoint]
) -> None:
    """Adds path constraints in an interval: at its stages, in multiple shooting at the first one; those of terms with
    `at_interval_ends` at both ends."""
    terms = [term for term in phase.path if term.where != "node"]
    at_ends = [term for term in terms if term.at_interval_ends]
    stages = [point.instant for point in (points if transcription.problem.collocated else points[:1])]
    _constrain_instants(rows, phase, [term for term in terms if term not in at_ends], stages)
    _constrain_instants(rows, phase, at_ends, interval_ends(transcription, phase, z) if at_ends else [])


def _constrain_instants(
    rows: BlockRows, phase: Phase, terms: Iterable[PathConstraint], instants: Iterable[Instant]
) -> None:
    """Adds path constraints at instants of an interval; rows that are equal at several instants are added once."""
    seen: list[tuple[SX, Array, Array]] = []
    for instant in instants:
        stage_rows = BlockRows()
        constrain_path(stage_rows, phase, terms, instant)
        for name, value, lower, upper in stage_rows.rows:
            if not any(_same((value, lower, upper), other) for other in seen):
                rows.rows.append((name, value, lower, upper))
            seen.append((value, lower, upper))


def _same(one: tuple[SX, Array, Array], other: tuple[SX, Array, Array]) -> bool:
    """Whether two rows (value, lower, upper) are the same constraint."""
    alike = one[0].shape == other[0].shape and all(map(np.array_equal, one[1:], other[1:]))
    return alike and bool(ca.is_equal(one[0], other[0], COMPARED_DEPTH))


def integrand(phase: Phase, objective: Cost, instant: Instant) -> tuple[SX, Expr | None]:
    """Integrand of an objective, checked because users write objectives, and its residual, if it has one."""
    here = f"phase {phase.name!r}: {type(objective).__name__} {objective.name!r}"
    found, values = objective.with_values(instant.values), instant.values
    if type(found).integrand is LeastSquares.integrand:
        residual = call_user(here, found.residual, instant, values=values)
        value = call_user(here, ca.sumsqr, residual)
    else:
        value, residual = call_user(here, found.integrand, instant, values=values), found.residual(instant)
    return scalar(value, f"{here}: cost"), residual


def add_path(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds node constraints at every node of the phase; not at its ends if a constraint has `ends = False`."""
    x = transcription.phases[p]
    for term in phase.path:
        if term.where != "node":
            continue

        def body(z: dict[str, SX], rows: BlockRows, term: PathConstraint = term) -> None:
            z = completed(transcription, z)
            constrain_path(rows, phase, (term,), node_instant(transcription, z, z["s"]))

        name = f"{phase.name} {term.name}"
        block = transcription.program.block(name, x.state(0) | transcription.slots, body, s=1)
        first = int(_repeated(transcription, p, term)) if term.ends else 1
        for k in range(first, phase.grid.count + term.ends):
            block.add(x.state(k) | transcription.slots, Span.node(p, k), s=phase.grid.at(k))


def node_instant(transcription: Transcription, z: dict[str, SX], s: Expr, suffix: str = "") -> Instant:
    """The instant of a node whose state is in the slots `name + suffix`."""
    channels = at_node(transcription.problem, z, suffix)
    model = model_of(transcription, z)
    return Instant(model, z[f"q{suffix}"], z[f"qd{suffix}"], s=s, values=z | channels, channels=channels)


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
    if isinstance(transition, JumpCondition) or not any(other is term for other in before.path):
        return False
    model = problem.model
    z = {"q": SX.sym("q", model.nq), "qd": SX.sym("qd", model.nv), "s": SX.sym("s")}
    z |= {c.name: SX.sym(c.name, c.size) for c in problem.parts.channels if c.at_nodes}
    values = {name: SX.sym(name, slot.size) for name, slot in transcription.slots.items()}
    rows, _, _ = _rows(before, term, node_instant(transcription, z | values, z["s"]))
    changed = [z["s"]]
    if isinstance(transition, Impact):
        changed.append(z["qd"])
    if p == 0:
        changed += moved_by(transcription, z["q"], z["qd"])
        changed += [z[c.name] for c in problem.parts.channels if c.at_nodes and not c.periodic]
    return not any(ca.depends_on(rows, x) for x in changed)
