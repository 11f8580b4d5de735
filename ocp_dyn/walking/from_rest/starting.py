"""Steps from standing to standing: the phases of a walk that begins and ends at rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.types import repr_in_message, sequence
from ...ocp import Phase
from ..human_feet import Feet
from ..person import Person
from ..steps import FORWARD, Stand, stand_phase, step_forward

SHARES = {
    "stand": (0.1, 1.1), "first": (0.05, 0.65), "loading": (0.03, 0.23), "push_off": (0.02, 0.12), "flat": (0.15, 0.75),
    "heel_off": (0.1, 0.6), "swing": (0.3, 1.1), "landing": (0.03, 0.23), "stop": (0.1, 1.1),
}  # fmt: skip
"""Bounds on the durations of the phases, as fractions of the mean time of a step; first: the first push-off. They are
wide, so that effort decides and not they; their middles are the durations of the first guess, those of a usual walk."""

STANDING = 4
"""Number of intervals on both feet, before the first step and after the last one."""


def phases_from_rest(
    person: Person, feet: Sequence[Feet], intervals: Sequence[int], time: float, costs: Any
) -> list[Phase]:
    """The phases of a walk from rest to rest: a stand, the first step from it, steps in a row, the last step, a stand.

    feet: places in the order of the steps, the left foot first; the first two stand side by side, and so do the last
    two. intervals: in the four parts of a step, as in `step_phases`. time: of a step, about [s]. Names of phases end in
    the number of the step.

    >>> walker = od.walking.person(still=True)
    >>> x, y = (0.0, 0.0, 0.6, 1.2, 1.2), (0.1, -0.1)
    >>> feet = [walker.feet_at("lr"[k % 2], x[k], y[k % 2]) for k in range(5)]
    >>> phases = od.walking.phases_from_rest(walker, feet, (1, 1, 3, 3), 0.6, walker.effort())
    >>> phases[0].name, phases[-1].name
    ('stand_1', 'stop_3')
    """
    places = list(sequence(feet, "feet must be places of feet in the order of the steps"))
    if len(places) < 4:
        raise ValueError(f"feet must be at least four places, two at the start, got {repr_in_message(feet)}")
    (first, second, *_), (beside, last) = places, places[-2:]
    start = [Stand("stand", (first.flat, second.flat)), Stand("push_off", (second.flat, first.toes)),
             Stand("flat", (second.flat,), (0.0, 0.5)), Stand("heel_off", (second.toes,), (0.5, 1.0))]  # fmt: skip
    walk = [step_forward(on, off) for on, off in zip(places[2:-2], places[1:], strict=False)]
    end = [*step_forward(beside, places[-3])[:2], Stand("swing", (beside.flat,), (0.0, 1.0)),
           Stand("landing", (last.heel, beside.flat)), Stand("stop", (last.flat, beside.flat))]  # fmt: skip
    counts = dict(zip(FORWARD, intervals, strict=True))
    counts |= {"stand": STANDING, "stop": STANDING, "swing": intervals[2] + intervals[3], "landing": intervals[0]}
    phases = []
    for k, stands in enumerate([start, *walk, end]):
        for stand in stands:
            low, high = SHARES["first" if not k and stand.name == "push_off" else stand.name]
            bounds, name = (low * time, high * time), f"{stand.name}_{k + 1}"
            phases.append(
                stand_phase(person, stand, counts[stand.name], bounds, "r" if k % 2 else "l", costs, name=name)
            )
    return phases
