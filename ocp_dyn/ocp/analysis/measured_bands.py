"""Figures of a person's walk that lie outside the bands of measured people."""

from __future__ import annotations

from ...gait.compare import Expected
from ...gait.curves import gait
from ..motion.motion import Motion

OUTSIDE = "outside the measured bands"


def outside_bands(motion: Motion) -> list[Expected]:
    """Figures of a walk beyond two standard deviations of people at its speed, see `Gait.outside`; none for a motion
    that is no walk of a person, whose feet have the frames heel_l and heel_r."""
    if not motion.step_length or "heel_l" not in motion.model.frame_names:
        return []
    try:
        return gait(motion).outside()
    except ValueError:  # no walk straight ahead on two legs
        return []
