"""Figures of a person's walk that lie outside the bands of measured people."""

from __future__ import annotations

from ...gait.compare import Expected, ExpectedFigures
from ...gait.curves import gait
from ...gait.gait import Gait
from ..motion.motion import Motion

OUTSIDE = "outside the measured bands"


def beside_people(motion: Motion) -> ExpectedFigures:
    """Figures of a walk beside those of people, see `Gait.expected`; none for a motion that is no walk of a person."""
    found = _gait(motion)
    return ExpectedFigures() if found is None else found.expected()


def outside_bands(motion: Motion) -> list[Expected]:
    """Figures of a walk beyond two standard deviations of people at its speed, see `Gait.outside`; none for a motion
    that is no walk of a person."""
    found = _gait(motion)
    return [] if found is None else found.outside()


def _gait(motion: Motion) -> Gait | None:
    """The gait of a person, whose feet have the frames heel_l and heel_r; None for another motion."""
    if not motion.step_length or "heel_l" not in motion.model.frame_names:
        return None
    try:
        return gait(motion)
    except ValueError:  # no walk straight ahead on two legs
        return None
