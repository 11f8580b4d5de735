"""Steps of a person who stands, is pushed, and stands again: the phases of a recovery."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..._base.checks import choice, whole
from ...dynamics.kinematics import point_position
from ...ocp import Path, Phase
from ..human_feet import Feet
from ..person import Person, Side
from ..steps import Stand, stand_phase

Direction = Literal["forward", "backward", "left", "right"]

SIDES: tuple[Side, Side] = ("l", "r")

DIRECTIONS = ("forward", "backward", "left", "right")

PARTS: dict[str, tuple[tuple[float, float], int, int]] = {
    "in place": ((0.8, 2.5), 24, 12), "stand": ((0.04, 0.5), 8, 5), "off": ((0.04, 0.4), 3, 2),
    "swing": ((0.15, 0.7), 12, 6), "flat": ((0.05, 0.5), 8, 5), "heel_off": ((0.05, 0.5), 8, 5),
    "down": ((0.03, 0.3), 3, 2), "landed": ((0.04, 0.5), 8, 5), "rest": ((0.3, 1.5), 8, 5),
}  # fmt: skip
"""Bounds on the duration of every part [s], its number of intervals, and that of a coarse grid. In place: a recovery
without steps; rest: the last part of one with steps."""

FARTHEST = 0.9
"""Farthest step [m]."""

STEEPEST = math.radians(50.0)
"""Largest pitch of the foot that stands behind, on its toes, after a step: its tip would go into the ground."""


def recovery_phases(
    person: Person, direction: Direction, steps: int, costs: Any, *, coarse: bool = False
) -> list[Phase]:
    """The phases between a push in a direction and rest: with both feet in place (steps = 0), with one step, wherever
    the foot lands, or with two, of which the second puts the other foot down beside the first.

    Forward, the foot leaves over its toes and lands on its heel, and the other one rolls onto its toes; backward it is
    the other way round; to the side the foot is lifted and put down flat. coarse: half the intervals, for a first look.

    >>> walker = od.walking.person(still=True)
    >>> [phase.name for phase in od.walking.recovery_phases(walker, "left", 1, walker.effort())]
    ['stand', 'swing', 'rest']
    """
    choice(direction, DIRECTIONS, "direction")
    whole(steps, "steps", 0, 2)
    out = {"l": person.size.hip_spacing / 2, "r": -person.size.hip_spacing / 2}
    left, right = person.feet_at("l", 0.0, out["l"]), person.feet_at("r", 0.0, out["r"])

    def phase(stand: Stand, swinging: Side, part: str, name: str = "") -> Phase:
        duration, fine, few = PARTS[part]
        return stand_phase(person, stand, few if coarse else fine, duration, swinging, costs, name=name)

    if not steps:
        return [phase(Stand("stand", (left.flat, right.flat)), "l", "in place")]
    first, second = SIDES if direction == "left" else SIDES[::-1]
    here, other = (left, right) if direction == "left" else (right, left)
    there = _landing(person, first, direction, out[first])
    parts = [(stand, first, stand.name, "") for stand in _first_step(direction, here, there, other)]
    if steps == 2:
        beside = _second_step(direction, _landing(person, second, direction, out[second]), there)
        parts += [(stand, second, stand.name, f"second_{stand.name}") for stand in beside]
    last, swinging, *_ = parts.pop()
    parts.append((last, swinging, "rest", "rest"))
    height, heel = math.sin(STEEPEST) * person.pivot, f"heel_{second}"
    low = Path(lambda i: point_position(i.model, heel, i.q)[2], -np.inf, height, ends=True)
    phases = [phase(*part) for part in parts]
    return [replace(p, path=(*p.path, low)) if p.name in ("down", "landed", "rest") else p for p in phases]


def _landing(person: Person, side: Side, direction: Direction, y: float) -> Feet:
    """Footholds at which a foot may land that stands y [m] beside the middle."""
    along = {"forward": (0.0, FARTHEST), "backward": (-FARTHEST, 0.0)}.get(direction, (-0.2, 0.2))
    low, high = {"left": (0.0, FARTHEST), "right": (-FARTHEST, 0.0)}.get(direction, (-0.15, 0.15))
    return person.feet_at(side, along, (y + low, y + high))


def _first_step(direction: Direction, here: Feet, there: Feet, other: Feet) -> list[Stand]:
    """The parts of a step from standing on the feet `here` and `other`."""
    if direction == "forward":
        return [
            Stand("off", (here.toes, other.flat)),
            Stand("flat", (other.flat,), (0.0, 0.5)),
            Stand("heel_off", (other.toes,), (0.5, 1.0)),
            Stand("down", (there.heel, other.toes)),
            Stand("landed", (there.flat, other.toes)),
        ]
    backward = direction == "backward"
    return [
        Stand("off", (here.heel, other.flat)) if backward else Stand("stand", (here.flat, other.flat)),
        Stand("swing", (other.flat,), (0.0, 1.0)),
        *([Stand("down", (there.toes, other.flat))] if backward else []),
        Stand("landed", (there.flat, other.flat)),
    ]


def _second_step(direction: Direction, there: Feet, other: Feet) -> list[Stand]:
    """The parts of the step that puts the foot behind down beside the foot `other`."""
    lands = {"forward": [there.heel], "backward": [there.toes]}.get(direction, [])
    return [
        Stand("swing", (other.flat,), (0.0, 1.0)),
        *(Stand("down", (edge, other.flat)) for edge in lands),
        Stand("landed", (there.flat, other.flat)),
    ]
