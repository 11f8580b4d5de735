"""The step of a periodic motion: its value and distance, rows that keep free ones on planes, and the entries of the state
that it changes."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
from casadi import SX

from ..._types import Expr, split
from ..nlp.program import Rows, Variable
from ..statement.footholds import Foothold
from .variables import Transcription, advance_of

ROUNDED_DISTANCE = 1e-6
"""Distance [m] within which the horizontal distance of a step is rounded: the root has no slope at zero."""


def distance_of(z: Mapping[str, Expr]) -> Expr:
    """The horizontal distance of the step [m]: its length, or with a shift sideways sqrt(length^2 + sideways^2)."""
    if "sideways" not in z:
        return z["step_length"]
    return ca.sqrt(z["step_length"] ** 2 + z["sideways"] ** 2 + ROUNDED_DISTANCE**2)


def stay_on_planes(transcription: Transcription, rows: Rows, z: dict[str, SX]) -> None:
    """Constrains a free step to bring the planes of the last feet to those of the first ones, their images."""
    back, seen = advance_of(transcription, z).inverse(), []
    for f, g in transcription.standing.items():
        if not isinstance(f, Foothold) or not isinstance(g, Foothold) or (f.plane, g.plane) in seen:
            continue
        seen.append((f.plane, g.plane))
        height = g.plane.above(f.plane, transcription.mirror is not None, back)
        free = [z[name] for name, slot in transcription.step.items() if isinstance(slot, Variable)]
        if any(ca.depends_on(height, x) for x in free):
            rows.constrain("step from plane to plane", height)


def moved_by(transcription: Transcription, q: SX, qd: SX) -> list[SX]:
    """The entries of the state that the step from one period to the next changes."""
    step = {name: SX.sym(name) for name in (*transcription.step, *transcription.fixed)}
    moved = advance_of(transcription, step).state(transcription.problem.model, q, qd)
    pairs = [
        (x, y) for old, new in zip((q, qd), moved, strict=True) for x, y in zip(split(old), split(new), strict=True)
    ]
    return [x for x, y in pairs if not ca.is_equal(x, y)]
