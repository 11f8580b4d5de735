"""Diagnosis: faults of a problem before it is solved, and constraints that a solver could not satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from ..._types import Array, Indices, listed
from ...constraints import constraint_jacobian
from ..equations import equations_of
from ..nlp.assembled import Assembled
from ..nlp.dependent_rows import supports, vanishing
from ..nlp.program import Variable
from ..transcription.variable_labels import VariableLabel, variable_labels
from ..transcription.variables import Transcription, contacts, number

ROWS_SHOWN = 6
"""Largest number of rows that one sentence names."""

ONLY_AT_THE_GUESS = (
    "unless they depend on one another at this guess only (straight legs are singular): then bend the posture"
)
"""Reservation added to dependences at the first guess: rows that are dependent at one point may be independent at
others."""

LONGEST_STABLE_STEP = 2.7
"""Longest stable step of rk4 in units of the fastest time constant; other explicit schemes need shorter steps."""

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest one, or of 1 if that is larger, count as zero."""


@dataclass(frozen=True)
class Fault:
    """Violated rows of one name: the largest violation, its phase and time [s], and the number of violated rows."""

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
    """Constraints that are violated at x, the largest violation first; violations are in the scale of the rows."""
    g = program.evaluator.constraints(x, transcription.program.values)
    violation = np.maximum(program.row_lower - g, g - program.row_upper)
    violated: list[Fault] = []
    labels = variable_labels(transcription, x)
    for k, rows in _kinds(program):
        b = program.blocks[k]
        for name in dict.fromkeys(b.row_names):
            chosen = np.array([n == name for n in b.row_names])
            values = violation[rows][:, chosen]
            if not np.max(values, initial=0.0) > tolerance:
                continue
            instance = int(np.argmax(values.max(axis=1)))
            places = [labels[v] for v in b.instances[instance] if v in labels]
            phase = transcription.problem.phases[places[0].phase].name if places else ""
            time = places[0].time if places else 0.0
            count = int(np.sum(values > tolerance))
            violated.append(Fault(f"{b.name}: {name}", phase, time, float(values.max()), count))
    return sorted(violated, key=lambda fault: -fault.violation)


def _kinds(program: Assembled) -> Iterator[tuple[int, Indices]]:
    """The number of every kind of block that has rows, and the indices of its rows in g, one line per instance."""
    first = 0
    for k, b in enumerate(program.blocks):
        count, m = len(b.instances), b.lower.size
        if m:
            yield k, first + np.arange(count * m).reshape(count, m)
        first += count * m


def check(transcription: Transcription, program: Assembled) -> list[str]:
    """Faults and difficulties of the problem, as sentences; empty if nothing was found.

    Examines the problem at the first guess: a root with motors in a model with footholds, values out of their bounds,
    rows and costs without finite values or derivatives, violated rows without a free variable, contacts that constrain
    one another, more equalities than free variables, dependent equalities, springs and losses too fast for an explicit
    scheme.
    """
    repeated = repetitions(transcription, program, transcription.program.start)
    return [
        *_root_motors(transcription),
        *_starts_out_of_bounds(transcription),
        *_undefined(transcription, program),
        *_unsatisfiable(transcription, program),
        *_redundant_contacts(transcription),
        *_stiff(transcription),
        *_counts(transcription, program),
        *(f"at the first guess {sentence}, {ONLY_AT_THE_GUESS}" for sentence in repeated),
    ]


def _root_motors(transcription: Transcription) -> Iterator[str]:
    """A model with footholds that is fixed to the ground, or whose root joint has motors."""
    model, problem = transcription.problem.model, transcription.problem
    grounded = [name for name, frame in model.frames.items() if not frame.body]
    if problem.footholds and grounded:
        yield (
            f"the model is fixed to the ground at {listed(grounded, 3)}, which carries it in place of its feet: unless "
            "this is intended, give it a root that moves, as by od.load_urdf(..., root=od.FloatingBase())"
        )
    elif problem.footholds and set(range(model.joints[1].nv)) & set(problem.actuated):
        yield (
            f"the root joint {model.joint_names[0]!r} has a motor, which can carry the model in place of its feet: "
            "unless this is intended, name it, and the joints after it that have no motor, in Problem(unactuated=...)"
        )


def _starts_out_of_bounds(transcription: Transcription) -> Iterator[str]:
    """First values that are out of their bounds."""
    program = transcription.program
    labels = variable_labels(transcription, program.start)
    for variable in program.variables:
        x, low, up = (
            values[variable.index] * variable.scale for values in (program.start, program.x_lower, program.x_upper)
        )
        far = np.maximum(low - x, x - up)
        if np.max(far, initial=0.0) > 1e-9:
            k = int(np.argmax(far))
            name = _entry_name(variable, k, labels.get(variable), transcription)
            yield (
                f"the first guess of {name} is {x[k]:.4g}, out of its bounds {low[k]:.4g} to {up[k]:.4g}: the solver "
                "moves it; give another guess or posture, or wider bounds"
            )


def _entry_name(variable: Variable, k: int, label: VariableLabel | None, transcription: Transcription) -> str:
    """Entry k of a variable in words: kind, joint or contact row, phase and time if they are known."""
    if label is None or not label.entries:
        return f"{variable.name}, entry {k}," if variable.size > 1 else variable.name
    kind, phase = variable.name.split()[0], transcription.problem.phases[label.phase].name
    return f"{kind} of {label.entries[k % len(label.entries)]} at t = {label.time:.3f} s of {phase}"


def _undefined(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Rows and costs whose values or derivatives are not finite at the first guess."""
    x, p, e = transcription.program.start, transcription.program.values, program.evaluator
    bad = ~np.isfinite(e.constraints(x, p))
    rows = np.array(e.jacobian_pattern.row(), dtype=int)
    bad[rows[~np.isfinite(e.jacobian(x, p))]] = True
    described = _described(transcription, program, x)
    names = list(_names_and_places([described[int(row)] for row in np.flatnonzero(bad)]))
    if not (np.isfinite(e.objective(x, p)) and np.all(np.isfinite(e.gradient(x, p)))):
        names.append("the cost")
    for name in names:
        yield (
            f"{name}: its value or its slope is not a finite number at the first guess, as for a root or a quotient at "
            "0: give another guess or posture, or write an expression that is smooth at 0"
        )


def _unsatisfiable(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Violated rows whose variables are all fixed."""
    x, p = transcription.program.start, transcription.program.values
    g = program.evaluator.constraints(x, p)
    violation = np.maximum(program.row_lower - g, g - program.row_upper)
    fixed = transcription.program.x_lower == transcription.program.x_upper
    pattern = program.evaluator.jacobian_pattern
    columns = np.array(pattern.get_col(), dtype=int)
    free = np.zeros(program.row_lower.size, dtype=bool)
    free[np.array(pattern.row(), dtype=int)[~fixed[columns]]] = True
    rows = np.flatnonzero(~free & (violation > 1e-6))
    described = _described(transcription, program, x) if rows.size else {}
    for row in rows:
        yield (
            f"{''.join(described[int(row)])} is out of its bounds by {violation[row]:.2g}, and every variable in it is "
            "fixed: no motion satisfies it; change the bounds, or free one of its variables"
        )


def _redundant_contacts(transcription: Transcription) -> Iterator[str]:
    """Phases whose contacts have dependent rows at the first guess."""
    model = transcription.problem.model
    for phase, variables in zip(transcription.problem.phases, transcription.phases, strict=True):
        if not phase.held:
            continue
        q = transcription.program.start[variables.q[0].index] * variables.q[0].scale
        try:
            G = np.array(DM(constraint_jacobian(model, contacts(phase.held), DM(q))).full())
        except (NotImplementedError, RuntimeError, TypeError):
            continue  # a model with free parameters has no numbers
        values = np.linalg.svd(G, compute_uv=False)
        rank = int(np.sum(values > RANK_TOLERANCE * max(1.0, values.max(initial=0.0))))
        if rank < len(G):
            names = ", ".join(held.name for held in phase.held)
            yield (
                f"the contacts of phase {phase.name!r} ({names}) have {len(G)} rows of rank {rank} at the first guess: "
                "some rows repeat or contradict others, so that the forces are not unique; use points instead of "
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
        if h > LONGEST_STABLE_STEP * time:
            yield (
                f"springs, damping or friction of joints act within {time:.2g} s, and the steps of phase "
                f"{phase.name!r} are {h:.2g} s: an explicit scheme such as {problem.scheme.name!r} is unstable; use an "
                "implicit one (gauss:2), more steps, a larger loads.slip_speed, or leave these forces out: "
                "loads=od.Loads(armature=True)"
            )


def _counts(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """More equalities than the free variables can satisfy, judged by the pattern of their Jacobian alone."""
    free = np.flatnonzero(transcription.program.x_lower < transcription.program.x_upper)
    rows = np.flatnonzero(program.row_lower == program.row_upper)
    pattern, _ = program.evaluator.jacobian_pattern.sub(rows.tolist(), free.tolist())
    rank = ca.sprank(ca.DM(pattern, 1))
    if rank < len(rows):
        yield (
            f"{len(rows)} equalities on {len(free)} free variables have rank {rank} by their pattern alone: at least "
            f"{len(rows) - rank} contradict or repeat others; leave out conditions that others imply"
        )


def repetitions(transcription: Transcription, program: Assembled, x: Array) -> list[str]:
    """Equalities that, linearized at x, are combinations of others, as sentences.

    Their multipliers are not unique, and an interior-point method perturbs every factorization: whether it converges
    depends on rounding. Rows that are redundant only if other rows hold are found only at an x at which those rows
    hold.
    """
    rows, free = (
        np.flatnonzero(program.row_lower == program.row_upper),
        np.flatnonzero(transcription.program.x_lower < transcription.program.x_upper),
    )
    values = program.evaluator.jacobian(x, transcription.program.values).copy()
    J = DM(program.evaluator.jacobian_pattern, values)[rows.tolist(), free.tolist()]
    described = _described(transcription, program, x)
    counts: dict[tuple[str, ...], int] = {}
    for support in supports(vanishing(J)):
        names = _names_and_places([described[row] for row in rows[support]])
        counts[names] = counts.get(names, 0) + 1
    return [_repetition(names, count) for names, count in counts.items()]


def _repetition(names: tuple[str, ...], count: int) -> str:
    among = "; ".join(names[:ROWS_SHOWN]) + (f"; {len(names) - ROWS_SHOWN} more" if len(names) > ROWS_SHOWN else "")
    return (
        f"{count} of these equalities {'depends' if count == 1 else 'depend'} on the others: {among}: multipliers are "
        f"not unique, and the solver may fail; leave out {'one' if count == 1 else count} of them"
    )


def _names_and_places(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """Names of rows, the rarest first, each with its phase and time, or with the number of its times.

    rows: pairs of name, and text on phase and time.
    """
    places: dict[str, set[str]] = {}
    for name, place in rows:
        places.setdefault(name, set()).add(place)
    ranked = sorted(places.items(), key=lambda pair: len(pair[1]))
    return tuple(f"{name}{min(at)}" if len(at) == 1 else f"{name} at {len(at)} times" for name, at in ranked)


def _described(transcription: Transcription, program: Assembled, x: Array) -> dict[int, tuple[str, str]]:
    """Name of every row of g, and a text on its phase and time; empty if it belongs to no single time."""
    labels = variable_labels(transcription, x)
    phases = transcription.problem.phases
    described: dict[int, tuple[str, str]] = {}
    for k, rows in _kinds(program):
        b = program.blocks[k]
        for variables, indices in zip(b.instances, rows, strict=True):
            places = [labels[v] for v in variables if v in labels] if b.name != "ends" else []
            when = f" at t = {places[0].time:.3f} s of {phases[places[0].phase].name}" if places else ""
            described |= {int(row): (f"{b.name}: {name}", when) for row, name in zip(indices, b.row_names, strict=True)}
    return described
