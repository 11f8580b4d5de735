"""Diagnosis: faults of a problem before it is solved, and constraints that a solver could not satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.rounding import largest, ordinal
from ..._base.types import Array, Indices, names_in_message
from ...constraints import constraint_jacobian, constraint_rows
from ...gait.bodies import excessive_efforts
from ..equations import equations_of
from ..motion.plain_data import unsaved
from ..nlp.assembled import Assembled
from ..nlp.dependent_rows import supports, vanishing
from ..nlp.program import Variable
from ..statement.footholds import rigid
from ..statement.objectives import RateCost
from ..statement.phases import JumpCondition
from ..statement.state.channels import MECHANICS
from ..statement.statement import Statement
from ..transcription.tabulate import VariableLabel, variable_labels
from ..transcription.variables import Transcription, contacts, number, state_of
from .parameter_values import unread
from .reach import misplaced_footholds

ROWS_SHOWN = 6
"""Largest number of rows that one sentence names."""

ONLY_AT_THE_GUESS = (
    "unless they depend on one another at this guess only (straight legs are singular): then bend the posture"
)
"""Reservation added to dependences at the first guess: rows that are dependent at one point may be independent at
others."""

LONGEST_STABLE_STEP = 2.7
"""Longest stable step of rk4 in units of the fastest time constant; other explicit schemes need shorter steps."""

LITTLE = 0.02
"""Fraction of a variable's range, or of its scale, by which a first value may be out of its bounds without a word: any
solver moves it inside, and a guess of straight legs bends a knee by that much the wrong way."""

UNEVEN = 1e-3
"""Difference between limits of two sides that counts [rad, m]: less is rounding of a file."""

QUANTITIES = {name: its.word for name, its in MECHANICS.items()}
"""Kinds of variables in words."""
PLACE = ("x", "y", "yaw")
"""Entries of the place of a foothold."""
OF_DOFS = (
    "dynamics", "velocity step", "position step", "continuous torque", "periodic position", "periodic velocity"
)  # fmt: skip
"""Names of the rows that there are for every dof, every entry of q, or every motor."""

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest one, or of 1 if that is larger, count as zero."""


@dataclass(frozen=True)
class ViolatedRows:
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


def faults(transcription: Transcription, program: Assembled, x: Array, tolerance: float = 1e-6) -> list[ViolatedRows]:
    """Constraints that are violated at x, the largest violation first; violations are in the scale of the rows."""
    g = program.evaluator.constraints(x, transcription.program.values)
    violation = np.maximum(program.row_lower - g, g - program.row_upper)
    violated: list[ViolatedRows] = []
    labels = variable_labels(transcription, x)
    for k, rows in _kinds(program):
        b = program.blocks[k]
        for name in dict.fromkeys(b.row_names):
            chosen = np.array([n == name for n in b.row_names])
            values = violation[rows][:, chosen]
            if not np.max(values, initial=0.0) > tolerance:
                continue
            instance = largest(values.max(axis=1))
            places = [labels[v] for v in b.instances[instance] if v in labels]
            phase = transcription.problem.phases[places[0].phase].name if places else ""
            time = places[0].time if places else 0.0
            count = int(np.sum(values > tolerance))
            violated.append(ViolatedRows(f"{b.name}: {name}", phase, time, float(values.max()), count))
    return sorted(violated, key=lambda fault: -ordinal(fault.violation))


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

    Examines the problem at the first guess: a root with motors in a model with footholds, limits of a mirrored motion
    that differ between the sides, footholds out of reach, crossed or on walls, values out of their bounds, parameters
    that nothing reads, rows and costs without finite values or derivatives, violated rows without a free variable,
    contacts that constrain one another, more equalities than free variables, dependent equalities, springs and losses
    too fast for an explicit scheme, linear torques of which a scheme sees the means alone.
    """
    repeated = repetitions(transcription, program, transcription.program.start)
    return [
        *_root_motors(transcription),
        *excessive_efforts(transcription.problem.model),
        *gaps_of_files(transcription.problem),
        *_limits_of_sides(transcription),
        *(
            text
            for part in transcription.problem.parts.components
            for text in part.findings(transcription.problem.model)
        ),
        *misplaced_footholds(transcription),
        *_starts_out_of_bounds(transcription),
        *unread(transcription, program),
        *_undefined(transcription, program),
        *_unsatisfiable(transcription, program),
        *_redundant_contacts(transcription),
        *_stiff(transcription),
        *_alternating(transcription),
        *_returning(transcription, program),
        *_counts(transcription, program),
        *(f"at the first guess {sentence}, {ONLY_AT_THE_GUESS}" for sentence in repeated),
    ]


def gaps_of_files(problem: Statement) -> list[str]:
    """A sentence on what files of solutions cannot hold."""
    held = [held.contact for phase in problem.phases for held in (*phase.held, *problem.coordinates.held)]
    return [
        f"a file of the solution will hold its numbers, but not all of the problem: {why}; "
        "Solution.load(path, problem=problem) reads it"
        for why in unsaved(problem.model, held)
    ]


def _root_motors(transcription: Transcription) -> Iterator[str]:
    """A model with footholds whose root joint has motors, perhaps because a part of it is fixed to the ground."""
    model, problem = transcription.problem.model, transcription.problem
    if not problem.footholds or not set(range(model.joints[1].nv)) & set(problem.actuated):
        return
    grounded = [name for name, frame in model.frames.items() if not frame.body]
    if grounded:
        yield (
            f"the model is fixed to the ground at {names_in_message(grounded, 3)}, which carries it in place of its "
            "feet: unless this is intended, give it a root that moves, as by od.load_urdf(..., root=od.FloatingBase())"
        )
    else:
        yield (
            f"the root joint {model.joint_names[0]!r} has a motor, which can carry the model in place of its feet: "
            "unless this is intended, name it, and the joints after it that have no motor, in Problem(unactuated=...)"
        )


def _limits_of_sides(transcription: Transcription) -> Iterator[str]:
    """Joints of a mirrored motion whose limits are no mirror images of the other side's."""
    problem, mirror = transcription.problem, transcription.mirror
    if mirror is None or not problem.limits:
        return
    dofs, (low, high) = problem.model.dofs, mirror.common_range
    shown = [
        f"{problem.model.q_names[k]} {low[k]:.4g} to {high[k]:.4g}"
        if low[k] <= high[k]
        else f"{problem.model.q_names[k]}, which keeps its own, as they have nothing in common"
        for k in np.flatnonzero((low > dofs.q_lower + UNEVEN) | (high < dofs.q_upper - UNEVEN))
    ]
    if shown:
        yield (
            "limits of joints are no mirror images of the other side's, and a mirrored motion keeps within both: "
            f"{names_in_message(shown, ROWS_SHOWN)}: correct them by model.with_limits(...), or write "
            "Periodic(mirror=False)"
        )


def _starts_out_of_bounds(transcription: Transcription) -> Iterator[str]:
    """First values that are out of their bounds by more than a little, one sentence for each joint, contact row or
    other quantity."""
    program = transcription.program
    labels = variable_labels(transcription, program.start)
    found: dict[str, list[_Outside]] = {}
    for variable in program.variables:
        x, low, up = (
            values[variable.index] * variable.scale for values in (program.start, program.x_lower, program.x_upper)
        )
        span = np.where(np.isfinite(up - low), up - low, variable.scale)
        far = np.maximum(low - x, x - up)
        for k in np.flatnonzero(far > np.where(span > 0, LITTLE * span, 1e-9)):
            name, phase, time = _entry_name(variable, int(k), labels.get(variable), transcription)
            found.setdefault(name, []).append(_Outside(phase, time, x[k], low[k], up[k]))
    for name, values in found.items():
        worst = values[largest([max(value.low - value.x, value.x - value.up) for value in values])]
        phases = list(dict.fromkeys(value.phase for value in values))
        when = f" at t = {worst.time:.3f} s of {worst.phase}" if worst.phase else ""
        more = f" (and at {len(values) - 1} other times of {names_in_message(phases, 4)})" if len(values) > 1 else ""
        yield (
            f"the first guess of the {name}{when} is {worst.x:.4g}, out of its bounds {worst.low:.4g} to "
            f"{worst.up:.4g}{more}: the solver moves it; give another guess or posture, or wider bounds"
        )


class _Outside(NamedTuple):
    """A first value out of its bounds; phase "" for a quantity of no single time."""

    phase: str
    time: float
    x: float
    low: float
    up: float


def _entry_name(
    variable: Variable, k: int, label: VariableLabel | None, transcription: Transcription
) -> tuple[str, str, float]:
    """(name, phase, time) of entry k of a variable in words: "position of knee", "stance", 0.1."""
    if label is None or not label.entries:
        entry = f", {PLACE[k]}" if variable.name.startswith("place of") else f", number {k + 1}"
        return variable.name.replace("_", " ") + (entry if variable.size > 1 else ""), "", 0.0
    kind, phase = variable.name.split()[0], transcription.problem.phases[label.phase].name
    entry = label.entries[k % len(label.entries)]
    return f"{QUANTITIES.get(kind, kind)}{f' of {entry}' if entry else ''}", phase, label.time


def _undefined(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """Rows and costs whose values or derivatives are not finite at the first guess."""
    x, p, e = transcription.program.start, transcription.program.values, program.evaluator
    bad = ~np.isfinite(e.constraints(x, p))
    rows = np.array(e.jacobian_pattern.row(), dtype=int)
    bad[rows[~np.isfinite(e.jacobian(x, p))]] = True
    described = row_places(transcription, program, x, by_joint=True)
    names = list(names_and_places([described[int(row)] for row in np.flatnonzero(bad)]))
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
    described = row_places(transcription, program, x, by_joint=True) if rows.size else {}
    for row in rows:
        yield (
            f"{''.join(described[int(row)])} is out of its bounds by {violation[row]:.2g}, and every variable in it is "
            "fixed: no motion satisfies it; change the bounds, or free one of its variables"
        )


def _redundant_contacts(transcription: Transcription) -> Iterator[str]:
    """Phases whose contacts have dependent rows at the first guess."""
    model = transcription.problem.model
    for phase, variables in zip(transcription.problem.phases, transcription.phases, strict=True):
        standing = rigid(phase.held)
        if not standing:
            continue
        q, _ = state_of(transcription, variables, 0, transcription.program.start)
        try:
            G = np.array(DM(constraint_jacobian(model, contacts(phase.held), DM(q))).full())
        except (NotImplementedError, RuntimeError, TypeError):
            continue  # a model with free parameters has no numbers
        values = np.linalg.svd(G, compute_uv=False)
        rank = int(np.sum(values > RANK_TOLERANCE * max(1.0, values.max(initial=0.0))))
        if rank < len(G):
            names = ", ".join(held.name for held in standing)
            rows = zip(constraint_rows(contacts(phase.held)), G, strict=True)
            still = [row for row, of_dofs in rows if np.abs(of_dofs).max() < RANK_TOLERANCE]
            cause = (
                f"nothing in this model moves along {names_in_message(still, ROWS_SHOWN)}; leave these rows out, by "
                "planar=True for soles and edges of a model that moves in the x-z plane, and axes='xz' for points"
                if still
                else "some rows repeat or contradict others, so that the forces are not unique; use points instead of "
                "flat feet (axes='xyz'), fewer contacts, or another posture"
            )
            yield (
                f"the contacts of phase {phase.name!r} ({names}) have {len(G)} rows of rank {rank} at the first guess: "
                f"{cause}"
            )


def _stiff(transcription: Transcription) -> Iterator[str]:
    """Springs and losses of joints that are too fast for an explicit scheme."""
    problem = transcription.problem
    if not problem.scheme.explicit:
        return
    for phase, variables in zip(problem.phases, transcription.phases, strict=True):
        q, _ = state_of(transcription, variables, 0, transcription.program.start)
        h = (
            float(number(transcription, variables.duration, transcription.program.start)[0])
            * float(phase.grid.shares.max())
            / problem.steps
        )
        time = 1 / max(equations_of(problem).fastest(DM(q)), 1e-9)
        if h > LONGEST_STABLE_STEP * time:
            yield (
                f"springs, tissue, damping or friction of joints act within {time:.2g} s, and the steps of phase "
                f"{phase.name!r} are {h:.2g} s: an explicit scheme such as {problem.scheme.name!r} is unstable; use an "
                "implicit one (gauss:2), more steps, a larger loads.slip_speed, or leave these forces out: "
                "loads=od.Loads(armature=True)"
            )


def _alternating(transcription: Transcription) -> Iterator[str]:
    """Torques at nodes of which the equations of motion see no more than the mean of neighbors."""
    problem = transcription.problem
    seen_between = bool(np.all(problem.scheme.c == 0.5)) and problem.steps == 1
    terms = [term for phase in problem.phases for term in phase.objective if term.weight]
    if problem.torque == "linear" and seen_between and not any(isinstance(t, RateCost) and t.continues for t in terms):
        yield (
            f"the scheme {problem.scheme.name!r} evaluates torques in the middle of intervals alone, so that torques "
            "which alternate from node to node change neither the motion nor its cost: give integrator='gauss:2', "
            "steps=2 or more, torque='constant', or a cost TorqueRateSquared"
        )


def _returning(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """States of components that repeat with the period, and whose start a condition fixes."""
    problem = transcription.problem
    if problem.periodic is None or isinstance(problem.periodic.transition, JumpCondition):
        return
    free = transcription.program.x_lower < transcription.program.x_upper
    pattern = program.evaluator.jacobian_pattern
    rows, columns = np.array(pattern.row(), dtype=int), np.array(pattern.get_col(), dtype=int)
    rows, columns = rows[free[columns]], columns[free[columns]]
    alone = (np.bincount(rows, minlength=program.row_lower.size) == 1) & (program.row_lower == program.row_upper)
    free[columns[alone[rows]]] = False
    for c in problem.parts.channels:
        if c.kind == "state" and c.periodic:
            fixed = ~free[transcription.phases[0][c.name][0].index]
            if names := [name for name, known in zip(c.names(), fixed, strict=True) if known]:
                yield (
                    f"the start of {names_in_message(names)} is fixed, and the state repeats with the motion, so that "
                    "it must come back to this value: if it need not, give its channel periodic=False"
                )


def _counts(transcription: Transcription, program: Assembled) -> Iterator[str]:
    """More equalities than the free variables can satisfy, judged by the pattern of their Jacobian alone."""
    free = np.flatnonzero(transcription.program.x_lower < transcription.program.x_upper)
    rows = np.flatnonzero(program.row_lower == program.row_upper)
    pattern, _ = program.evaluator.jacobian_pattern.sub(rows.tolist(), free.tolist())
    rank = ca.sprank(ca.DM(pattern, 1))
    if rank < len(rows):
        described = row_places(transcription, program, transcription.program.start, by_joint=True)
        names = names_and_places([described[int(rows[k])] for k in _overdetermined(pattern)])
        yield (
            f"{len(rows)} equalities on {len(free)} free variables have rank {rank} by their pattern alone: at least "
            f"{len(rows) - rank} contradict or repeat others, among {_shortened(names)}; leave out conditions that "
            "others imply"
        )


def _overdetermined(pattern: ca.Sparsity) -> list[int]:
    """Rows of a pattern that have fewer columns than rows between them [Dulmage & Mendelsohn 1958]."""
    _, rows, _, _, _, coarse, _ = pattern.btf()
    return sorted(rows[: coarse[2]])


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
    described = row_places(transcription, program, x)
    counts: dict[tuple[str, ...], int] = {}
    for support in supports(vanishing(J)):
        names = names_and_places([described[row] for row in rows[support]])
        counts[names] = counts.get(names, 0) + 1
    return [_repetition(names, count) for names, count in counts.items()]


def _repetition(names: tuple[str, ...], count: int) -> str:
    return (
        f"{count} of these equalities {'depends' if count == 1 else 'depend'} on the others: {_shortened(names)}: "
        "multipliers are "
        f"not unique, and the solver may fail; leave out {'one' if count == 1 else count} of them"
    )


def _shortened(names: tuple[str, ...]) -> str:
    """The first names, and the number of the others."""
    return "; ".join(names[:ROWS_SHOWN]) + (f"; {len(names) - ROWS_SHOWN} more" if len(names) > ROWS_SHOWN else "")


def names_and_places(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """Names of rows, the rarest first, each with its phase and time, or with the number of its times.

    rows: pairs of name, and text on phase and time.
    """
    places: dict[str, set[str]] = {}
    for name, place in rows:
        places.setdefault(name, set()).add(place)
    ranked = sorted(places.items(), key=lambda pair: len(pair[1]))
    return tuple(f"{name}{min(at)}" if len(at) == 1 else f"{name} at {len(at)} times" for name, at in ranked)


def row_places(
    transcription: Transcription, program: Assembled, x: Array, by_joint: bool = False
) -> dict[int, tuple[str, str]]:
    """Name of every row of g, and a text on its phase and time; empty if it belongs to no single time.

    by_joint: names of rows that there are for every dof have the dof's name: "dynamics of knee".
    """
    labels = variable_labels(transcription, x)
    phases = transcription.problem.phases
    described: dict[int, tuple[str, str]] = {}
    for k, rows in _kinds(program):
        b = program.blocks[k]
        names = _by_joint(transcription, b.row_names) if by_joint else b.row_names
        for variables, indices in zip(b.instances, rows, strict=True):
            places = [labels[v] for v in variables if v in labels] if b.name != "ends" else []
            when = f" at t = {places[0].time:.3f} s of {phases[places[0].phase].name}" if places else ""
            described |= {int(row): (f"{b.name}: {name}", when) for row, name in zip(indices, names, strict=True)}
    return described


def _by_joint(transcription: Transcription, names: Sequence[str]) -> list[str]:
    """Names of rows; those of which there is one for each entry of q or qd, or each motor, with the entry's name."""
    model = transcription.problem.model
    motors = [model.qd_names[k] for k in transcription.problem.actuated]
    found, own = list(names), {}
    for channel in transcription.problem.parts.channels if names else ():
        for row in (f"{channel.name} step", f"periodic {channel.name}", f"rate of {channel.name}"):
            own[row] = (channel.labels,) if any(channel.labels) else ()
    for name in dict.fromkeys(names):
        places = [k for k, other in enumerate(names) if other == name]
        named = (model.qd_names, model.q_names, motors) if name in OF_DOFS else own.get(name, ())
        for entries in named:
            if entries and len(places) % len(entries) == 0:
                for k, place in enumerate(places):
                    found[place] = f"{name} of {entries[k % len(entries)]}"
                break
    return found
