"""Restarts: other first guesses, tried one after the other once a run has failed.

- "crouched": a plan of the feet with bent legs and higher swings;
- "planned": a plan of the feet, where the problem has none;
- "standing": the standing posture moved forward, where the problem has another guess;
- "perturbed": a posture with random joint angles; drawn anew every time, from one seed;
- "coarse": the solution on half as many intervals;
- "slow": the solution at 0.7 of the speed.

Those that do not apply to a problem are skipped: plans need rigid footholds, "slow" needs a speed. A number of restarts
takes them in this order, and then perturbed postures. The first run that converges is the result; if none does, the run
of least infeasibility. A run that converges, bounds that contradict each other, and Ctrl-C end the restarts. A verdict
that rests on a search holds near the iterates of its run only, so other guesses are tried after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._base.checks import name_among, whole
from ..._base.types import repr_in_message
from ..guess.standing_guess import initial_guess, standing
from ..nlp.program import Variable
from ..solution import Solution
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.guesses import FootPlan
from ..statement.statement import Statement
from ..transcription.transcribe import transcribe
from ..transcription.variables import Transcription
from .attempt import Attempt
from .verdict import PROVED

MOST = 50
"""Largest number of restarts."""

FIRST = "first guess"
"""Name of the run before all restarts."""

CROUCH, LIFT = 0.12, 2.0
"""Crouch of the plan of a crouched walk, and factor of the lift of its feet."""

SPEED = 0.7
"""Fraction of the speed at which the restart "slow" begins."""

NOISE = 0.1
"""Standard deviation of a perturbed posture [rad, m]; at most a quarter of the range of a joint."""

STOPPED = "Interrupted"
"""Status of a run that the user has stopped."""

Announce = Callable[[], None]
"""Tells that a restart begins; a restart that does not apply to the problem never calls it."""


def _other(attempt: Attempt, announce: Announce, **changes: Any) -> Solution:
    """A run of the same program from the first guess of a problem with these changes."""
    announce()
    other = replace(attempt.problem, **changes)

    def set_guess(transcription: Transcription) -> None:
        initial_guess(replace(transcription, problem=other))

    return attempt.solved(set_guess=set_guess)


def _plannable(problem: Statement) -> bool:
    feet = problem.footholds
    return bool(feet) and not any(isinstance(f, WrenchFoothold) for f in feet)


def _crouched(attempt: Attempt, announce: Announce) -> Solution | None:
    """A plan of the feet with bent legs and a high swing."""
    if not _plannable(attempt.problem):
        return None
    guess = attempt.problem.guess
    plan = guess if isinstance(guess, FootPlan) else FootPlan()
    return _other(attempt, announce, guess=replace(plan, crouch=max(CROUCH, plan.crouch), lift=LIFT * plan.lift))


def _planned(attempt: Attempt, announce: Announce) -> Solution | None:
    """A plan of the feet, where the problem has none."""
    if isinstance(attempt.problem.guess, FootPlan) or not _plannable(attempt.problem):
        return None
    return _other(attempt, announce, guess=FootPlan())


def _standing(attempt: Attempt, announce: Announce) -> Solution | None:
    """The standing posture moved forward, in place of the problem's guess."""
    return None if attempt.problem.guess is None else _other(attempt, announce, guess=None)


def _slow(attempt: Attempt, announce: Announce) -> Solution | None:
    """The motion at a lower speed, from which the solver goes on to the speed."""
    periodic = attempt.problem.periodic
    if periodic is None or periodic.speed is None:
        return None
    announce()
    speed = float(np.ravel(attempt.values.get("speed", periodic.speed))[0])
    easier = replace(attempt, values={**attempt.values, "speed": SPEED * speed}).solved()
    return attempt.solved(guess=easier) if easier.converged else easier


def _coarse(attempt: Attempt, announce: Announce) -> Solution | None:
    """The motion on a grid with half as many intervals, which is carried over to the grid."""
    phases = [replace(phase, intervals=max(2, phase.grid.count // 2)) for phase in attempt.problem.phases]
    if all(one.grid.count == other.grid.count for one, other in zip(phases, attempt.problem.phases, strict=True)):
        return None
    announce()
    coarse = replace(attempt, problem=replace(attempt.problem, phases=phases)).solved()
    return attempt.solved(guess=coarse) if coarse.converged else coarse


def _perturbed(attempt: Attempt, announce: Announce) -> Solution:
    """The problem's guess from a posture with random angles of the joints, without those of the root; without a guess
    of the problem, the whole motion is moved by random amounts."""
    problem = attempt.problem
    model, dofs = problem.model, problem.model.dofs
    inner = slice(model.joints[1].nq, None) if model.nq > model.joints[1].nq else slice(0, None)
    low, high = dofs.q_lower, dofs.q_upper
    span = np.where(np.isfinite(high - low), high - low, np.inf)
    noise = attempt.rng.normal(size=model.nq) * np.minimum(NOISE, span / 4)
    mask = np.zeros(model.nq)
    mask[inner] = 1.0
    if any(joint.has_quaternion for joint in model.joints[2:]):
        mask[:] = 0.0  # a quaternion has no independent entries
    if isinstance(problem.guess, FootPlan) or (problem.guess is None and problem.posture is not None):
        return _other(attempt, announce, posture=np.clip(standing(transcribe(problem, 1)) + mask * noise, low, high))

    def set_guess(transcription: Transcription) -> None:
        initial_guess(transcription)
        shift(transcription, lambda: (mask * noise)[problem.coordinates.q])

    announce()
    return attempt.solved(set_guess=set_guess)


def shift(transcription: Transcription, by: Callable[[], Any]) -> None:
    """Moves the first values of the positions at every node by an amount, within their bounds."""
    program = transcription.program
    x, lower, upper = program.start, program.x_lower, program.x_upper
    done: set[Variable] = set()
    for phase in transcription.phases:
        for q in phase["q"]:
            if q not in done:
                done.add(q)
                bounds = (bound[q.index] * q.scale for bound in (lower, upper))
                program.set_start(q, np.clip(x[q.index] * q.scale + by(), *bounds))


RESTARTS: dict[str, Callable[[Attempt, Announce], Solution | None]] = {
    "crouched": _crouched,
    "planned": _planned,
    "standing": _standing,
    "perturbed": _perturbed,
    "coarse": _coarse,
    "slow": _slow,
}
"""Restarts by name, the cheapest first; each returns None for a problem to which it does not apply."""


def check_restarts(restarts: int | str | Sequence[str], seed: int) -> tuple[tuple[str, ...], int]:
    """The names of restarts to try one after the other, and how many of those that apply; a number of restarts takes
    the table's and then perturbed postures. TypeError and KeyError for anything else."""
    whole(seed, "seed")
    if isinstance(restarts, str):
        restarts = (restarts,)
    if isinstance(restarts, Sequence):
        for name in restarts:
            name_among(name, RESTARTS, "restarts", "restart")
        return tuple(restarts), len(restarts)
    if isinstance(restarts, bool) or not isinstance(restarts, (int, np.integer)):
        raise TypeError(
            f"restarts must be a number of restarts, or names of them ({', '.join(RESTARTS)}), got "
            f"{repr_in_message(restarts)}"
        )
    most = whole(restarts, "restarts", least=0, most=MOST)
    return (*RESTARTS, *("perturbed" for _ in range(most))), most


def solve_with_restarts(first: Solution, names: Sequence[str], most: int, attempt: Attempt) -> Solution:
    """The first solution that converges, or else the one of least infeasibility, of the first run and at most this
    number of restarts; names of restarts that do not apply to the problem are skipped."""
    tried: dict[str, Solution] = {FIRST: first}
    last = first
    for name in names:
        if len(tried) > most or last.converged or last.status == STOPPED or last.stats["proof"] == PROVED:
            break
        count = sum(label.split()[0] == name for label in tried)
        found = RESTARTS[name](attempt, partial(attempt.say, f"restart {len(tried)} of {most}: {name}"))
        if found is not None:
            last = tried[f"{name} {count + 1}" if count else name] = found
    label = min(tried, key=lambda key: (not tried[key].converged, tried[key].stats["infeasibility"]))
    told = {"guess": label, "restarts": {key: solution.status for key, solution in tried.items()}}
    return replace(tried[label], stats=tried[label].stats | told)
