"""A proof, before a run, that steps are too long: footholds that hold at one time, farther apart than the links between
them are long, at all places within their bounds and at the speed.

Two feet are on the ground at one time if both stand in one phase; if one stands in a phase and the other one is set
down at the start of the next; and in a periodic motion if one stands at the end and the other one at the start of the
next period. At a speed v, a straight step is at least v times the least duration of all phases long. So a walk, in
which each foot is set down before the other one leaves the ground, is not faster than the reach of both legs in that
time.

Motions with a flight between all steps have no such bound: what a body covers in flight depends on its speed alone. Nor
have limits on the speeds of joints one that holds always, because the root turns as fast as it likes, with all that it
carries, and so does a foot about the edge on which it rolls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from casadi import DM

from ..._base.types import Array
from ...constraints import RollingContact
from ...mechanism.parameters import MODEL_PARAMETERS
from ...symmetry.advance import Advance, Repetition
from ..nlp.program import Slot, Variable
from ..statement.footholds import Foothold
from ..statement.phases import JumpCondition
from ..transcription.variables import Transcription, advance_value, number, place_slots, place_value
from .reach import end_of, reach_of

MARGIN = 1e-3
"""Distance [m] beyond the reach from which on a proof is one: rows hold to the tolerance of the solver."""

HARMLESS = ("gravity",)
"""Model parameters that move no joint."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """A foothold of phase `before`, and one of phase `after`; later: one period later."""

    one: Foothold
    before: str
    other: Foothold
    after: str
    later: bool = False


def unreachable(transcription: Transcription) -> str:
    """The proof in words that a pair of footholds cannot hold together; "" if there is none."""
    problem = transcription.problem
    kinds = {name.partition(":")[0] for name in transcription.slots}
    exact = problem.form == "implicit" and problem.resolved.contact_level == "position"
    if problem.model.has_symbols or kinds & (set(MODEL_PARAMETERS) - set(HARMLESS)) or not exact:
        return ""
    places = _Places(transcription)
    return next((told for pair in _pairs(transcription) if (told := _told(transcription, pair, places))), "")


def _told(transcription: Transcription, pair: _Pair, places: _Places) -> str:
    body, length = _end(transcription, pair.other)
    if pair.later and transcription.mirror is not None:
        body = transcription.mirror.partners[body]
    one = _end(transcription, pair.one)
    if one[0] == body:
        return ""
    gap = places.gap(pair)
    if not gap > MARGIN:
        return ""
    reach = one[1] + length + places.between(one[0], body)
    if not gap > reach + MARGIN:
        return ""
    speed = transcription.speed
    at = (
        ""
        if speed is None
        else f" at {abs(float(number(transcription, speed, transcription.program.start)[0])):.4g} m/s"
    )
    again = " of the next period" if pair.later else ""
    return (
        f"no motion takes these steps{at}: foothold {pair.one.name!r} of phase {pair.before!r} and {pair.other.name!r} "
        f"of phase {pair.after!r}{again} hold at one time, at least {gap:.3g} m apart within the bounds of places, "
        f"steps and durations, and the links between them reach {reach:.3g} m, whatever the solver does; go slower, "
        "allow shorter durations or steps, or lift a foot before the other one is set down"
    )


def _end(transcription: Transcription, f: Foothold) -> tuple[int, float]:
    """The body of a foothold, and the largest distance of the place from its origin [m]; a rounded edge rolls ahead by
    at most half a turn."""
    body, length = end_of(transcription.problem.model, f)
    return body, length + (f.contact.radius * math.pi if isinstance(f.contact, RollingContact) else 0.0)


def _pairs(transcription: Transcription) -> Iterator[_Pair]:
    """Footholds that hold at one time."""
    problem = transcription.problem
    standing = [[f for f in phase.footholds if isinstance(f, Foothold)] for phase in problem.phases]
    names = [phase.name for phase in problem.phases]
    for k, feet in enumerate(standing):
        yield from (_Pair(a, names[k], b, names[k]) for i, a in enumerate(feet) for b in feet[i + 1 :])
        if k + 1 < len(standing) and not isinstance(problem.resolved.transitions[k], JumpCondition):
            yield from (_Pair(a, names[k], b, names[k + 1]) for a in feet for b in standing[k + 1])
    if problem.periodic is not None and not isinstance(problem.periodic.transition, JumpCondition):
        yield from (_Pair(a, names[-1], b, names[0], later=True) for a in standing[-1] for b in standing[0])


def _step_bounds(transcription: Transcription) -> tuple[float, float]:
    """Bounds [m] of the length of a straight step at the present speed; without a speed, of no use: (-inf, inf)."""
    program, speed = transcription.program, transcription.speed
    if speed is None or "sideways" in transcription.step:
        return -np.inf, np.inf
    times = np.sum([_range(transcription, x.duration) for x in transcription.phases], axis=0)
    low, high = np.sort(float(number(transcription, speed, program.start)[0]) * times)
    return float(low), float(high)


def _range(transcription: Transcription, slot: Slot) -> Array:
    """(lower, upper) of a variable of one entry, or the value of a parameter, twice."""
    program = transcription.program
    if not isinstance(slot, Variable):
        return np.repeat(number(transcription, slot, program.start), 2)
    return np.array([x[slot.index][0] for x in (program.x_lower, program.x_upper)]) * slot.scale


class _Places:
    """Places of the footholds in the world at the middle of all bounds, and how they move with single entries of x."""

    def __init__(self, transcription: Transcription) -> None:
        self._transcription, program = transcription, transcription.program
        self._x, self._half = program.start.copy(), np.zeros(program.start.size)
        feet = tuple(f for f in transcription.problem.footholds if isinstance(f, Foothold))
        step = _step_bounds(transcription)
        for name, slot in place_slots(transcription, feet).items():
            if not isinstance(slot, Variable):
                continue
            low, high = program.x_lower[slot.index], program.x_upper[slot.index]
            if name == "step_length":
                low = np.maximum(low, step[0] / slot.scale)
                high = np.maximum(low, np.minimum(high, step[1] / slot.scale))  # at high speeds none is long enough
            known = bool(np.all(np.isfinite(low) & np.isfinite(high) & (low <= high)))
            self._x[slot.index] = (low + high) / 2 if known else 0.0
            self._half[slot.index] = (high - low) / 2 if known else np.inf
        self._reach: dict[tuple[int, int], float] = {}
        self._found: dict[tuple[Foothold, bool], tuple[Array, dict[int, Array]]] = {}

    def gap(self, pair: _Pair) -> float:
        """Least distance [m] of two footholds within all bounds; 0 if it is not known.

        The way from one to the other is linear in all entries of places and steps but turns: its extremes are sums of
        those of single entries. A free yaw moves a foothold that is derived from another one by at most its offset
        times the range of the yaw.
        """
        transcription, feet = self._transcription, (pair.one, pair.other)
        slots = [slot for slot in place_slots(transcription, feet).values() if isinstance(slot, Variable)]
        free = [k for slot in slots for k in np.arange(self._x.size)[slot.index] if self._half[k]]
        yaws = {int(np.arange(self._x.size)[slot.index][2]) for slot in slots if slot.size == 3}
        if isinstance(transcription.step.get("turn"), Variable) or not np.all(np.isfinite(self._half[free])):
            return 0.0
        slack = 2 * float(sum(self._half[k] for k in free if k in yaws))
        (one, moves), (other, others) = self._place(pair.one, False), self._place(pair.other, pair.later)
        still = np.zeros(3)
        reach = sum(np.abs(others.get(k, still) - moves.get(k, still)) for k in free if k not in yaws)
        least = np.maximum(np.abs(other - one) - reach, 0.0)[_held(feet)]
        return max(0.0, float(np.linalg.norm(least)) - (slack * _turning(transcription, feet) if slack else 0.0))

    def between(self, body: int, other: int) -> float:
        """Largest distance [m] of the origins of two bodies."""
        if (body, other) not in self._reach:
            problem = self._transcription.problem
            self._reach[body, other] = reach_of(problem.model, (body, 0.0), (other, 0.0), problem.limits)
        return self._reach[body, other]

    def _place(self, f: Foothold, later: bool) -> tuple[Array, dict[int, Array]]:
        """The place (3) [m] in the middle of all bounds, and its ways to the upper bounds of single entries."""
        if (f, later) not in self._found:
            middle, moves = self._at(f, later, self._x), {}
            for slot in place_slots(self._transcription, (f,)).values():
                for k in np.arange(self._x.size)[slot.index] if isinstance(slot, Variable) else ():
                    if self._half[k] and np.isfinite(self._half[k]):
                        x = self._x.copy()
                        x[k] += self._half[k]
                        moves[int(k)] = self._at(f, later, x) - middle
            self._found[f, later] = middle, moves
        return self._found[f, later]

    def _at(self, f: Foothold, later: bool, x: Array) -> Array:
        transcription = self._transcription
        step = Advance.of(*advance_value(transcription, x).values())
        place = np.array(f.origin(DM(place_value(transcription, f, x, step))).full()).ravel()
        if not later:
            return place
        return Repetition.of(transcription.problem.model, step, transcription.mirror, 1).points(place)


def _turning(transcription: Transcription, feet: tuple[Foothold, ...]) -> float:
    """Sum of the distances [m] by which two footholds lie beside those from which they are derived."""
    total, model = 0.0, transcription.problem.model
    for f in feet:
        held = transcription.images.get(f, f)
        for g in {f, held}:
            while g.of is not None:
                total += float(np.hypot(*g.offset(model)[:2]))
                g = g.of
    return total


def _held(feet: tuple[Foothold, ...]) -> Array:
    """Entries (3) of the world's axes along which both contacts hold their point; none if that is another direction."""
    held = np.ones(3, dtype=bool)
    for f in feet:
        if not isinstance(f.contact, RollingContact) and f.contact.axes is not None:
            axes = np.abs(np.asarray(f.contact.axes))
            units = axes[np.max(axes, axis=1) > 1 - 1e-12]
            held &= np.ones(3, dtype=bool) if np.linalg.matrix_rank(axes) == 3 else units.any(axis=0)
    return held
