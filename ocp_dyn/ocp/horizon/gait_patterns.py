"""Gaits as data: when each foot is on the ground, by period, duty factors and offsets; and the commands of a walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._base.checks import all_positive, choice, finite, not_negative, numbers, positive, whole
from ..._base.types import Array, repr_in_message, truth
from ...gait.unrolled import MotionLike, check_motion, unroll
from .feet import HARMONICS, Body

NAMED: dict[str, dict[int, tuple[float, float, tuple[float, ...]]]] = {
    "stand": {2: (1.0, 1.0, (0.0, 0.0)), 4: (1.0, 1.0, (0.0,) * 4)},
    "walk": {2: (1.0, 0.6, (0.0, 0.5)), 4: (1.0, 0.75, (0.25, 0.75, 0.0, 0.5))},
    "trot": {4: (0.5, 0.55, (0.0, 0.5, 0.5, 0.0))},
    "pace": {4: (0.5, 0.55, (0.0, 0.5, 0.0, 0.5))},
    "bound": {4: (0.4, 0.45, (0.0, 0.0, 0.5, 0.5))},
    "run": {2: (0.6, 0.42, (0.0, 0.5)), 4: (0.4, 0.42, (0.0, 0.5, 0.5, 0.0))},
}
"""Period [s], duty factor, offsets of the feet, by the name of the gait and the number of feet; feet in the order left,
right, or front left, front right, hind left, hind right. Offsets of the gaits of quadrupeds: R. M. Alexander, The gaits
of bipedal and quadrupedal animals, Int. J. Robotics Research 3, 1984, fig. 2."""

SAMPLES = 64
"""Number of times of a stride at which `from_motion` reads joint angles."""

TOUCHING = 1e-6
"""Largest time between two phases that follow one another, in strides."""

SWING_HEIGHT = 0.08
"""Default height of the feet in the middle of their swing [m]."""


@dataclass(frozen=True)
class GaitPattern:
    """A gait as data: foot i is on the ground while `(t / period + offsets[i]) mod 1 < duty[i]`.

    period [s]: duration of a stride. duty: share of the stride that each foot stands, one number or one per foot;
    1: always. Below 0.5 a biped or a trotting quadruped is in the air for a part of the time. offsets: one per foot, in
    strides. swing_height [m]: height of a foot above the ground in the middle of its swing. lead [s]: time between the
    command to walk and the first liftoff, in which the body shifts; half the period by default. feedback: share
    of the distance to the capture point, error of velocity times sqrt(height / g), by which footholds move. joints,
    height [m]: angles of the joints over the stride, Fourier coefficients (1, cos, sin, cos 2, ...) in rows, and height
    of the base, which the walk follows; None: those of the posture.

    >>> trot = ocp.GaitPattern.named("trot", feet=4)
    >>> trot.contacts(0.1)
    array([ True, False, False,  True])
    """

    period: float
    duty: Any
    offsets: Sequence[float]
    swing_height: float = SWING_HEIGHT
    lead: float | None = None
    feedback: float = 0.0
    joints: Array | None = field(default=None, repr=False, compare=False)
    height: float | None = None

    def __post_init__(self) -> None:
        positive(self.period, "GaitPattern period [s]")
        offsets = numbers(self.offsets, "GaitPattern offsets")
        if not offsets.size or not np.all(np.isfinite(offsets)):
            raise ValueError(f"GaitPattern offsets: one finite number per foot, got {repr_in_message(self.offsets)}")
        duty = np.broadcast_to(all_positive(self.duty, "GaitPattern duty"), offsets.shape)
        if np.any(duty > 1):
            raise ValueError(f"GaitPattern duty must lie in (0, 1], the share of the stride, got {duty.max():g}")
        not_negative(self.swing_height, "GaitPattern swing_height [m]")
        not_negative(self.feedback, "GaitPattern feedback")
        object.__setattr__(self, "duty", tuple(float(x) for x in duty))
        object.__setattr__(self, "offsets", tuple(float(x) % 1.0 for x in offsets))
        if self.joints is not None:
            rows = numbers(self.joints, "GaitPattern joints")
            if rows.size % (1 + 2 * HARMONICS) or not np.all(np.isfinite(rows)):
                raise ValueError(
                    f"GaitPattern joints: finite numbers (joints, {1 + 2 * HARMONICS}), got {rows.size} numbers"
                )
            object.__setattr__(self, "joints", rows.reshape(-1, 1 + 2 * HARMONICS))
        if self.height is not None:
            positive(self.height, "GaitPattern height [m]")
        lead = 0.5 * self.period if self.lead is None else not_negative(self.lead, "GaitPattern lead [s]")
        object.__setattr__(self, "lead", lead)

    @classmethod
    def named(cls, name: str, feet: int, **changes: Any) -> GaitPattern:
        """The gait of a name, for two or four feet: stand, walk, trot, pace, bound, run.

        changes: other values of fields, as in `GaitPattern.named("trot", 4, period=0.4)`.

        >>> ocp.GaitPattern.named("walk", feet=2).duty
        (0.6, 0.6)
        """
        of_name = NAMED[choice(name, NAMED, "gait")]
        if whole(feet, "feet", 1) not in of_name:
            raise ValueError(
                f"gait {name!r} is a gait of {' or '.join(map(str, of_name))} feet, got {feet}: give your own "
                "GaitPattern(period, duty, offsets)"
            )
        period, duty, offsets = of_name[feet]
        return replace(cls(period, duty, offsets), **{"lead": None, **changes})

    @classmethod
    def from_motion(cls, motion: MotionLike, feet: Sequence[str], **changes: Any) -> GaitPattern:
        """The gait of a periodic motion, such as a solved walk: its times of contact, joint angles and height.

        feet: names of the contacts, in the order of the feet of the horizon. The angles are approximated by HARMONICS
        harmonics. changes: other values of fields. ValueError for a motion that is not periodic, and for feet that do
        not stand exactly once in a stride.

        >>> walk = od.walking.trot(od.walking.quadruped("solo12")).solve()  # doctest: +SKIP
        >>> ocp.GaitPattern.from_motion(walk, od.walking.quadruped("solo12").footholds())  # doctest: +SKIP
        GaitPattern(period=0.43, ...)
        """
        check_motion(motion)
        if not motion.repeats:
            raise ValueError("from_motion needs a periodic motion, such as a walk of ocp.Problem(periodic=)")
        steps = 1 if motion.mirror() is None else 2
        period, stretches = steps * motion.duration, unroll(motion, steps)
        duty, offsets = [], []
        for name in feet:
            stood = [(s.t[0], s.t[-1]) for s in stretches if any(support.name == name for support in s.supports)]
            begin, length = _once(name, stood, period)
            duty.append(length / period)
            offsets.append(-begin / period)
        q = motion.sample(np.linspace(0.0, period, SAMPLES, endpoint=False))
        joints = _harmonics(q[:, 7:])
        given = {"joints": joints, "height": float(q[:, 2].mean()), **changes}
        return cls(period, np.minimum(duty, 1.0), offsets, **given)

    def vector(self, body: Body) -> Array:
        """The gait as the numbers that the functions of a horizon take."""
        still = np.zeros(body.gait.shapes["joints"])
        still[:, 0] = body.posture[7:]
        joints = still if self.joints is None else np.asarray(self.joints, dtype=float)
        if joints.shape != still.shape or not np.all(np.isfinite(joints)):
            raise ValueError(f"GaitPattern joints: finite numbers of the shape {still.shape}, got {joints.shape}")
        names = set(body.gait.shapes) - {"joints"}
        return body.gait.pack({name: getattr(self, name) for name in names} | {"joints": joints})

    @property
    def feet(self) -> int:
        """Number of feet."""
        return len(self.offsets)

    def contacts(self, time: float) -> Array:
        """Whether feet are on the ground at a time [s] of the gait (feet,), booleans."""
        phase = (finite(time, "time [s]") / self.period + np.array(self.offsets)) % 1.0
        return np.asarray(phase < np.array(self.duty))


def _once(name: str, stood: list[tuple[float, float]], period: float) -> tuple[float, float]:
    """Begin and length of the one stance of a foot in a stride, from the phases in which it stands."""
    joined: list[list[float]] = []
    for begin, end in stood:
        if joined and abs(joined[-1][1] - begin) < TOUCHING * period:
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    if len(joined) > 1 and joined[0][0] < TOUCHING * period and joined[-1][1] > (1 - TOUCHING) * period:
        first = joined.pop(0)
        joined[-1][1] += first[1]
    if len(joined) != 1:
        raise ValueError(
            f"from_motion: foot {name!r} must stand once in a stride of the motion, it does {len(joined)} times"
        )
    begin, end = joined[0]
    return begin, end - begin


def _harmonics(angles: Array) -> Array:
    """Fourier coefficients (joints, 1 + 2 HARMONICS) of angles at evenly spaced times of a period (times, joints)."""
    spectrum = np.fft.rfft(angles, axis=0)[: HARMONICS + 1] / len(angles)
    columns = [spectrum[0].real]
    for line in spectrum[1:]:
        columns += [2 * line.real, -2 * line.imag]
    return np.column_stack(columns)


@dataclass(frozen=True)
class Command:
    """Command of a walk, at every step anew.

    forward, sideways [m/s] (left is positive) and turning [rad/s] (left is positive): velocities in the heading of the
    body. height [m]: of the base over the ground; None: that of the posture. roll, pitch [rad] of the base. walk:
    False finishes the steps that have begun, and stands.

    >>> ocp.Command(forward=0.5).vector(height=0.3)
    array([0.5, 0. , 0. , 0.3, 0. , 0. , 1. ])
    """

    forward: float = 0.0
    sideways: float = 0.0
    turning: float = 0.0
    height: float | None = None
    roll: float = 0.0
    pitch: float = 0.0
    walk: bool = True

    def __post_init__(self) -> None:
        for name in ("forward", "sideways", "turning", "roll", "pitch"):
            finite(getattr(self, name), f"Command {name}")
        if self.height is not None:
            positive(self.height, "Command height [m]")
        truth(self.walk, "Command walk")

    def vector(self, height: float) -> Array:
        """The command as the numbers that the functions of a horizon take; height: that of the posture."""
        height = height if self.height is None else self.height
        values = self.forward, self.sideways, self.turning, height, self.roll, self.pitch, self.walk
        return np.array(values, dtype=float)
