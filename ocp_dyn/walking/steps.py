"""Steps on human feet: the phases in which the feet carry the body, one after the other.

A foot that walks forward strikes with its heel, lies flat, and leaves over the edge of its toes. Backward everything is
the other way round: it comes down on the edge of its toes, lies flat, and leaves over its heel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._base.checks import choice, name_among, truth
from ..ocp import Activation, CenterOfPressure, Clearance, Foothold, ForceRateSquared, FrictionCone, Phase, Unilateral
from .human_feet import CLEARANCE, Feet
from .person import SIDES, Person, Side

FORWARD = ("loading", "push_off", "flat", "heel_off")
"""Phases of a step forward: on the heel of the one foot and the toes of the other, flat and on toes, flat, on toes."""

BACKWARD = ("landing", "unloading", "toes", "flat")
"""Phases of a step backward, the image of `FORWARD` in time: on the toes of the one foot and the flat sole of the
other, on toes and heel, on toes, flat."""

REVERSED = {"landing": "push_off", "unloading": "loading", "toes": "heel_off", "flat": "flat"}
"""The phase forward that lasts as long, by the phase backward."""

SHARES = {"loading": (0.04, 0.25), "push_off": (0.02, 0.3), "flat": (0.15, 0.8), "heel_off": (0.15, 0.75)}
"""Bounds on the durations of the phases, as fractions of the time that people take for a step at this speed: wide, so
that effort decides and not they. Normal in percent of a stride: foot flat after 7 to 8, the other foot leaves after 10
to 12, the heel rises at 31 to 40 (Perry & Burnfield, Gait Analysis, 2010)."""


class Stand(NamedTuple):
    """A part of a step: the footholds that carry the body, and the part of the other foot's swing that passes, (0, 1)
    for all of it; None: the other foot stands.

    >>> sole = od.walking.person().feet("r").flat
    >>> od.walking.Stand("flat", (sole,), (0.0, 0.5)).swing
    (0.0, 0.5)
    """

    name: str
    footholds: tuple[Foothold, ...]
    swing: tuple[float, float] | None = None


def other(side: Side) -> Side:
    """The other side."""
    return "r" if side == "l" else "l"


def sides(count: int, first: Side = "r") -> list[Side]:
    """The sides of so many footsteps, in turn."""
    return [first if k % 2 == 0 else other(first) for k in range(count)]


def step_forward(on: Feet, off: Feet) -> list[Stand]:
    """The four parts of a step forward: from the strike of the foot `on` to that of the next; `off`: the foot before.

    >>> walker = od.walking.person()
    >>> [stand.name for stand in od.walking.step_forward(walker.feet("r", x=0.0), walker.feet("l"))]
    ['loading', 'push_off', 'flat', 'heel_off']
    """
    return [
        Stand("loading", (on.heel, off.toes)),
        Stand("push_off", (on.flat, off.toes)),
        Stand("flat", (on.flat,), (0.0, 0.5)),
        Stand("heel_off", (on.toes,), (0.5, 1.0)),
    ]


def step_backward(on: Feet, off: Feet) -> list[Stand]:
    """The four parts of a step backward, on the toes first.

    >>> walker = od.walking.person()
    >>> [stand.name for stand in od.walking.step_backward(walker.feet("r", x=0.0), walker.feet("l"))]
    ['landing', 'unloading', 'toes', 'flat']
    """
    return [
        Stand("landing", (on.toes, off.flat)),
        Stand("unloading", (on.toes, off.heel)),
        Stand("toes", (on.toes,), (0.0, 0.5)),
        Stand("flat", (on.flat,), (0.5, 1.0)),
    ]


def human_contact() -> tuple[Any, ...]:
    """Path constraints of feet on the ground, and of muscles, whose torques cannot jump: they switch on in 15 ms and
    off in 60 ms.

    >>> len(od.walking.human_contact())
    4
    """
    return (Unilateral(), FrictionCone(), CenterOfPressure(), Activation())


def stand_phase(
    person: Person,
    stand: Stand,
    intervals: int,
    duration: Any,
    swinging: Side,
    costs: Any,
    *,
    name: str = "",
    facing: str | None = None,
) -> Phase:
    """The phase of a part of a step, in which the foot of the side `swinging` clears the ground and passes the other
    one.

    duration [s]: a number or (lower, upper). name: by default that of the stand. facing: as in `Person.separation`.

    >>> walker = od.walking.person(still=True)
    >>> stand = od.walking.Stand("flat", (walker.feet("r", x=0.0).flat,), (0.0, 0.5))
    >>> len(od.walking.stand_phase(walker, stand, 6, (0.1, 0.4), "l", walker.effort()).path)
    6
    """
    choice(swinging, SIDES, "swinging")
    if facing is not None:
        name_among(facing, person.model.frame_names, "facing", "frame")
    path = human_contact()
    if intervals == 1:  # a force that has one value has no rate
        costs = [cost for cost in costs if not isinstance(cost, ForceRateSquared)]
    if stand.swing is not None:
        clear = Clearance(person.sole_points(swinging), CLEARANCE, part=stand.swing)
        path = (*path, clear, *([] if person.planar else [person.separation(facing=facing)]))
    return Phase(name or stand.name, intervals, duration, stand.footholds, path, costs, person.loops)


def share(name: str, time: float) -> tuple[float, float]:
    """Bounds on the duration of a part of a step that takes about this time [s]."""
    low, high = SHARES[REVERSED.get(name, name)]
    return time * low, time * high


def middle_time(time: float) -> float:
    """Duration [s] of a step whose parts last the middle of their bounds: that of the first guess."""
    return sum(sum(share(name, time)) / 2 for name in FORWARD)


def step_phases(
    person: Person,
    footsteps: Sequence[Feet],
    before: Feet,
    intervals: Sequence[int],
    time: float,
    costs: Any,
    *,
    first: Side = "r",
    backward: bool = False,
    facing: str | None = None,
) -> list[Phase]:
    """The phases of steps in a row; before: where the other foot stands as the first foot strikes.

    intervals: in the four parts of a step. time: of a step, about [s]. facing: as in `Person.separation`. The phases of
    one step have the names of its parts; with two steps the side is added, with more the number.

    >>> walker = od.walking.person(still=True)
    >>> feet = [walker.feet("r", x=0.0), walker.feet("l", x=0.6)]
    >>> phases = od.walking.step_phases(walker, feet, walker.feet("l"), (2, 2, 6, 6), 0.55, walker.effort())
    >>> phases[0].name, phases[-1].name
    ('loading_r', 'heel_off_l')
    """
    choice(first, SIDES, "first")
    if not footsteps:
        raise ValueError(f"footsteps must hold at least one place of a foot, such as person.feet('r'), got {footsteps}")
    step = step_backward if truth(backward, "backward") else step_forward
    phases = []
    pairs = zip(sides(len(footsteps), first), footsteps, (before, *footsteps), strict=False)
    for k, (side, on, off) in enumerate(pairs):
        tail = "" if len(footsteps) == 1 else f"_{side}" if len(footsteps) == 2 else f"_{k + 1}"
        phases += [
            stand_phase(
                person, stand, n, share(stand.name, time), other(side), costs, name=stand.name + tail, facing=facing
            )
            for stand, n in zip(step(on, off), intervals, strict=True)
        ]
    return phases
