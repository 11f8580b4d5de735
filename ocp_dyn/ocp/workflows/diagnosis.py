"""Diagnosis of a problem before it is solved, and of the constraints that a solver could not satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from ..._types import Array, Indices
from ...constraints import constraint_jacobian
from ..equations import equations_of
from ..nlp.assembled import Assembled
from ..nlp.dependent_rows import supports, vanishing
from ..transcription.variable_labels import variable_labels
from ..transcription.variables import Transcription, contacts, number

SHOWN = 6
"""Largest number of rows that one sentence names."""

ELSEWHERE = "if they do so away from the first guess too (straight legs are singular: try a bent posture)"
"""Reservation added to such findings: rows that are dependent at one point need not be so elsewhere."""

STABLE = 2.7
"""Longest stable step of rk4 in units of the fastest time constant; other explicit schemes need shorter steps."""

RANK = 1e-8
"""Singular values below this fraction of the largest one, or of 1 if that is larger, count as zero."""


@dataclass(frozen=True)
class Fault:
    """Rows of one name that are out of bounds: the largest violation, its phase and time [s], and the number of such
    rows."""

    rows: str
    phase: str
    time: float
    violation: float
    count: int

    def __str__(self) -> str:
        more = f", {self.count} rows in all" if self.count > 1 else ""
        when = f" at t = {self.time:.3f} s of {self.phase}" if self.phase else ""
        return f"{self.rows}: out of its bounds by {self.violation:.2g}{when}{more}"


def faults(transcription: Transcription, program: Assembled, x: Array, tolerance: float = 1e-6) -> list[Fault]:
    """Constraints that do not hold at x, the worst first; violations in the scale of the rows."""
    g = program.evaluator.constraints(x, transcription.program.values)
    broken = np.maximum(program.row_lower - g, g - program.row_upper)
    found: list[Fault] = []
    labels = variable_labels(transcription, x)
    for k, rows in _kinds(program):
        b = program.blocks[k]
        for name in dict.fromkeys(b.row_names):
            chosen = np.array([n == name for n in b.row_names])
            values = broken[rows][:, chosen]
            if not np.max(values, initial=0.0) > tolerance:
                continue
            instance = int(np.argmax(values.max(axis=1)))
            places = [labels[v] for v in b.instances[instance] if v in labels]
            phase = transcription.problem.phases[places[0].phase].name if places else ""
            time = places[0].time if places else 0.0
            found.append(Fault(f"{b.name}: {name}", phase, time, float(values.max()), int(np.sum(values > tolerance))))
    return sorted(found, key=lambda fault: -fault.violation)


def _kinds(program: Assembled) -> Iterator[tuple[int, Indices]]:
    """Every kind of block that has rows, and the indices of its rows in g, one line per instance."""
    first = 0
    for k, b in enumerate(program.blocks):
        count, m = len(b.instances), b.lower.size
        if m:
            yield k, first + np.arange(count * m).reshape(count, m)
        first += count * m


def check(transcription: Transcription, program: Assembled) -> list[str]:
    """Faults and difficulties of the problem, as sentences; empty if nothing was found.

    Looks at the first guess: a root with motors beside footholds, values out of their bounds, rows and costs without
    finite values or slopes, violated rows without a free variable, contacts that constrain one another, more equalities
    than free variables, equalities that repeat others, springs and losses too fast for an explicit scheme.
    """
    repeated = [
        f"{sentence}, {ELSEWHERE}" for sentence in repetitions(transcription, program, transcription.program.start)
    ]
    found = [
        *_carried(transcription),
        *_starts(transcription),
        *_undefined(transcription, program),
        *_hopeless(transcription, program),
        *_contacts(transcription),
        *_stiff(transcription),
    ]
    return [*found, *_counts(transcription, program), *repeated]


def _carried(transcription: Transcription) -> Iterator[str]:
    """A walker whose root is moved by motors."""
    model, problem = transcription.problem.model, transcription.problem
    if problem.footholds and set(range(model.joints[1].nv)) & set(problem.actuated):
        yield (
            f"the root joint {model.joint_names[0]!r} has a motor, which can carry the model beside its footholds: unless "
            "it is meant to, name it, and the joints after it that no motor moves, in Problem(unactuated=...)"
        )


def _starts(transcription: Transcription) -> Iterator[str]:
    program = transcription.program
    for variable in program.variables:
        x, low, up = (
            values[variable.index] * variable.scale for values in (program.start, program.x_lower, program.x_upper)
        )
        far = np.maximum(low - x, x - up)
        if np.max(far, initial=0.0) > 1e-9:
            k = int(np.argmax(far))
            yield (
                f"the first guess of {variable.name}, entry {k}, is {x[k]:.4g}, out of its bounds {low[k]:.4g} to "
                f"{up[k]:.4g}: the solver moves it; give another guess or posture, or wider bounds"
            )


def _undefined(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Rows and costs that are not finite at the first guess, or whose derivatives are not."""
    x, p, e = transcription.program.start, transcription.program.values, program.evaluator
    bad = ~np.isfinite(e.constraints(x, p))
    rows = np.array(e.jacobian_pattern.row(), dtype=int)
    bad[rows[~np.isfinite(e.jacobian(x, p))]] = True
    described = _described(transcription, program, x)
    names = list(_listed([described[int(row)] for row in np.flatnonzero(bad)]))
    if not (np.isfinite(e.objective(x, p)) and np.all(np.isfinite(e.gradient(x, p)))):
        names.append("the cost")
    for name in names:
        yield (
            f"{name}: its value or its slope is not a finite number at the first guess, as of a root or a quotient at 0: "
            "give another guess or posture, or write it so that it is smooth there"
        )


def _hopeless(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Rows that are out of bounds and whose variables are all fixed."""
    x, p = transcription.program.start, transcription.program.values
    g = program.evaluator.constraints(x, p)
    broken = np.maximum(program.row_lower - g, g - program.row_upper)
    fixed = transcription.program.x_lower == transcription.program.x_upper
    pattern = program.evaluator.jacobian_pattern
    columns = np.array(pattern.get_col(), dtype=int)
    free = np.zeros(program.row_lower.size, dtype=bool)
    free[np.array(pattern.row(), dtype=int)[~fixed[columns]]] = True
    for row in np.flatnonzero(~free & (broken > 1e-6)):
        yield (
            f"{program.row_names[row]} is out of its bounds by {broken[row]:.2g}, and every variable in it is fixed: "
            "no motion satisfies it; change the bounds, or free one of its variables"
        )


def _contacts(transcription: Transcription) -> Iterator[str]:
    """Phases whose contacts constrain one another at the first guess."""
    model = transcription.problem.model
    for phase, variables in zip(transcription.problem.phases, transcription.phases, strict=True):
        if not phase.held:
            continue
        q = transcription.program.start[variables.q[0].index] * variables.q[0].scale
        try:
            G = np.array(DM(constraint_jacobian(model, contacts(phase.held), DM(q))).full())
        except (NotImplementedError, RuntimeError, TypeError):
            continue  # a model with free parameters has no numbers here
        values = np.linalg.svd(G, compute_uv=False)
        rank = int(np.sum(values > RANK * max(1.0, values.max(initial=0.0))))
        if rank < len(G):
            names = ", ".join(held.name for held in phase.held)
            yield (
                f"the contacts of phase {phase.name!r} ({names}) have {len(G)} rows of rank {rank} at the first guess: "
                "some are implied by others, or contradict them, and forces are not unique; use points instead of "
                "flat feet (axes='xyz'), fewer contacts, or another posture"
            )


def _stiff(transcription: Transcription) -> Iterator[str]:
    """Springs and losses of joints that are too fast for an explicit scheme."""
    problem = transcription.problem
    if not problem.scheme.explicit:
        return
    for phase, variables in zip(problem.phases, transcription.phases, strict=True):
        q = transcription.program.start[variables.q[0].index] * variables.q[0].scale
        h = (
            float(number(transcription, variables.duration, transcription.program.start)[0])
            / phase.intervals
            / problem.steps
        )
        time = 1 / max(equations_of(problem).fastest(DM(q)), 1e-9)
        if h > STABLE * time:
            yield (
                f"springs, damping or friction of joints act within {time:.2g} s, and the steps of phase {phase.name!r} are "
                f"{h:.2g} s: an explicit scheme such as {problem.scheme.name!r} runs away; take an implicit one (gauss:2), "
                "more steps, a larger loads.slip_speed, or loads=od.Loads(armature=True)"
            )


def _counts(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Equalities that are too many for the free variables, judged by the pattern of their Jacobian alone."""
    free = np.flatnonzero(transcription.program.x_lower < transcription.program.x_upper)
    rows = np.flatnonzero(program.row_lower == program.row_upper)
    pattern, _ = program.evaluator.jacobian_pattern.sub(rows.tolist(), free.tolist())
    rank = ca.sprank(ca.DM(pattern, 1))
    if rank < len(rows):
        yield (
            f"{len(rows)} equalities on {len(free)} free variables have rank {rank} by their pattern alone: at least "
            f"{len(rows) - rank} contradict the others or repeat them; leave out what other conditions imply"
        )


def repetitions(transcription: Transcription, program: Assembled, x: Array) -> list[str]:
    """Equalities that, linearized at x, are combinations of others, as sentences.

    Multipliers are then not unique, and an interior-point method perturbs every factorization: whether it converges
    depends on rounding. Rows that are redundant only if other rows hold are found only at an x where those hold.
    """
    rows, free = (
        np.flatnonzero(program.row_lower == program.row_upper),
        np.flatnonzero(transcription.program.x_lower < transcription.program.x_upper),
    )
    values = program.evaluator.jacobian(x, transcription.program.values).copy()
    J = DM(program.evaluator.jacobian_pattern, values)[rows.tolist(), free.tolist()]
    described = _described(transcription, program, x)
    found: dict[tuple[str, ...], int] = {}
    for support in supports(vanishing(J)):
        names = _listed([described[row] for row in rows[support]])
        found[names] = found.get(names, 0) + 1
    return [_repetition(names, count) for names, count in found.items()]


def _repetition(names: tuple[str, ...], count: int) -> str:
    listed = "; ".join(names[:SHOWN]) + (f"; {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    many = "1 equality repeats or contradicts" if count == 1 else f"{count} equalities repeat or contradict"
    return (
        f"{many} others among these: {listed}: the solver's multipliers are not unique, and it may fail; "
        f"leave out {'one row' if count == 1 else f'{count} rows'} that others imply"
    )


def _listed(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """Names of rows, the rarest first, each with its place in the motion, or with the number of its places."""
    places: dict[str, set[str]] = {}
    for name, place in rows:
        places.setdefault(name, set()).add(place)
    ranked = sorted(places.items(), key=lambda pair: len(pair[1]))
    return tuple(f"{name}{min(at)}" if len(at) == 1 else f"{name} at {len(at)} times" for name, at in ranked)


def _described(transcription: Transcription, program: Assembled, x: Array) -> dict[int, tuple[str, str]]:
    """Name of every row, and its phase and time if it belongs to one place of the motion."""
    labels = variable_labels(transcription, x)
    phases = transcription.problem.phases
    found: dict[int, tuple[str, str]] = {}
    for k, rows in _kinds(program):
        b = program.blocks[k]
        for variables, here in zip(b.instances, rows, strict=True):
            places = [labels[v] for v in variables if v in labels] if b.name != "ends" else []
            when = f" at t = {places[0].time:.3f} s of {phases[places[0].phase].name}" if places else ""
            found |= {int(row): (f"{b.name}: {name}", when) for row, name in zip(here, b.row_names, strict=True)}
    return found
