"""Torques that muscles can give at an angle and a speed of their joint: a curve, and people's hips, knees and ankles.

Source:

[A07]  D. Anderson, M. Madigan, M. Nussbaum, Maximum voluntary joint torque as a function of joint angle and angular
       velocity: model development and application to the lower limb, J. Biomechanics 40(14), 2007, equations 1 and 2,
       Table 3: means of men and women of 18 to 25, of 55 to 65 and above 65 years.

The numbers of Table 3 were checked against the copy in the muscle addon of the rigid-body library RBDL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .._base.checks import choice, finite, not_negative, numbers, positive
from .._base.files import csv_rows
from .._base.types import is_whole, repr_in_message
from .anthropometry import HEIGHT_RANGE, MASS_RANGE, PUBLISHED, Sex, check_range, check_sex

GRAVITY = 9.81
"""[m/s^2]."""

AGES = ("18-25", "55-65", "over 65")
"""Age groups [years] of [A07]."""

Row = tuple[float, ...]

TABLE: dict[tuple[str, str], dict[str, list[Row]]] = {}
for _row in csv_rows(PUBLISHED / "strength_curves.csv"):
    _ages = TABLE.setdefault((_row["joint"], _row["direction"]), {}).setdefault(_row["sex"], [])
    _ages.append(tuple(float(_row[f"C{k}"]) for k in range(1, 7)))
"""C1 to C6 of [A07, Table 3] by joint and direction, sex and age group: C1 largest isometric torque / (mass g height),
C2 [1/rad] and C3 [rad] of the torque-angle curve, C4 and C5 [rad/s] the speeds at which 75 % and 50 % of the isometric
torque are left, C6 [s/rad] for lengthening muscles. Angles are flexion of hip and knee and dorsiflexion, zero when
standing upright."""

SIGNS: dict[str, tuple[float, str, str]] = {
    "hip": (-1.0, "flexion", "extension"),
    "knee": (1.0, "extension", "flexion"),
    "ankle": (-1.0, "dorsiflexion", "plantar flexion"),
}
"""Sign of the model's angle against that of [A07], and the actions of the model's negative and
positive torques."""

DOFS = {"hip": "hip_{side}.ry", "knee": "knee_{side}", "ankle": "ankle_{side}"}
"""Names of the dofs of `human`."""

ROUNDED_SPEED = 0.1
"""Speed [rad/s] below which the change between shortening and lengthening is rounded."""


@dataclass(frozen=True)
class StrengthCurve:
    """Largest torque of a muscle group against the angle q and the speed qd of its joint [A07, equations 1, 2].

    torque(q, qd) = peak cos(width (q - angle)) f(w) > 0, with the speed of shortening w = direction qd and

        f(w) = (2 C4 C5 + w (C5 - 3 C4)) / (2 C4 C5 + w (2 C5 - 4 C4))                        shortening, w >= 0,
        f(w) = (2 C4 C5 - w (C5 - 3 C4)) / (2 C4 C5 - w (2 C5 - 4 C4)) (1 - C6 w)             lengthening, w < 0.

    peak [N m]: the isometric torque at the best angle [rad]. width [1/rad]: C2; the torque ends pi / (2 width) away
    from the best angle. speed_75 < speed_50 [rad/s]: C4, C5, at which 75 % and 50 % of the isometric torque are left;
    speed_50 must be twice speed_75 at least, otherwise f has a pole. eccentric [s/rad]: C6. direction: 1 if the muscles
    turn the joint in the positive direction, -1 if in the negative one: the result is positive in both cases.

    For an optimizer the curve is smooth: the corner of f at w = 0 is rounded within `ROUNDED_SPEED`, by at most 3 % of
    the torque; muscles that lengthen faster than speed_50 keep the torque of that speed, because the source's formula,
    continued, would fall to zero; and neither the cosine nor f falls below `floor`. Shortening faster than speed_50 is
    a continuation too: the torque is zero at `no_load_speed`. Call the curve with SX, MX or DM, or with numbers and
    NumPy arrays.

    >>> quadriceps = od.StrengthCurve(200.0, angle=1.1, width=1.3, speed_75=1.5, speed_50=4.0, direction=-1)
    >>> round(quadriceps(1.1, 0.0), 1), round(quadriceps(1.1, -4.0), 1)  # isometric; extending at 4 rad/s
    (200.0, 100.1)
    """

    peak: float
    angle: float
    width: float
    speed_75: float
    speed_50: float
    eccentric: float = 0.0
    direction: int = 1
    floor: float = 0.03

    def __post_init__(self) -> None:
        finite(self.angle, "StrengthCurve angle [rad]")
        not_negative(self.eccentric, "StrengthCurve eccentric [s/rad]")
        for key in ("peak", "width", "speed_75", "speed_50", "floor"):
            positive(getattr(self, key), f"StrengthCurve {key}")
        if not self.floor <= 0.5:
            raise ValueError(
                f"StrengthCurve floor is a part of the peak, at most 0.5, got {repr_in_message(self.floor)}"
            )
        if self.speed_50 < 2 * self.speed_75:
            raise ValueError(
                f"StrengthCurve speed_50 must be at least twice speed_75, otherwise the hyperbola has a pole, got "
                f"{repr_in_message(self.speed_50)} and {repr_in_message(self.speed_75)}"
            )
        if not is_whole(self.direction, -1) or not self.direction or self.direction > 1:
            raise ValueError(f"StrengthCurve direction must be 1 or -1, got {repr_in_message(self.direction)}")

    @property
    def no_load_speed(self) -> float:
        """Speed of shortening [rad/s] at which the hyperbola reaches zero; inf if it never does."""
        rest = 3 * self.speed_75 - self.speed_50
        return 2 * self.speed_75 * self.speed_50 / rest if rest > 0 else float("inf")

    def __call__(self, q: Any, qd: Any) -> Any:
        """The largest torque [N m], positive, at the angle q [rad] and the speed qd [rad/s]."""
        return self.peak * (self.angle_factor(q) * self.speed_factor(qd))

    def angle_factor(self, q: Any) -> Any:
        """Part of the peak that is left at the angle q [rad]."""
        x = _plain(q, "StrengthCurve q [rad]")
        return _simple(self._above_floor(_library(x).cos(self.width * (x - self.angle))))

    def speed_factor(self, qd: Any) -> Any:
        """Part of the isometric torque that is left, or gained, at the speed qd [rad/s]."""
        w = self.direction * _plain(qd, "StrengthCurve qd [rad/s]")
        root = _library(w).sqrt(w**2 + ROUNDED_SPEED**2)
        size = w**2 / root  # |w|, rounded
        lengthening = size * (1 - w / root) / 2
        slower = lengthening - (_positive_part(lengthening - self.speed_50) - _positive_part(-self.speed_50))
        speed = size - lengthening + slower
        c4, c5 = self.speed_75, self.speed_50
        fall = (2 * c4 * c5 + speed * (c5 - 3 * c4)) / (2 * c4 * c5 + speed * (2 * c5 - 4 * c4))
        return _simple(self._above_floor(fall) * (1 + self.eccentric * slower))

    def _above_floor(self, x: Any) -> Any:
        """x, at least `floor` and smooth; 1 stays 1."""
        f = self.floor
        at_one = f + _positive_part(1.0 - f, f)
        return (f + _positive_part(x - f, f)) / at_one


def _plain(x: Any, what: str) -> Any:
    """CasADi's types as they are, everything else as an array of its shape or a number."""
    return x if isinstance(x, (ca.SX, ca.MX, ca.DM)) else numbers(x, what).reshape(np.shape(x))


def _simple(x: Any) -> Any:
    """A single number as a float, everything else as it is."""
    return float(x) if isinstance(x, (np.ndarray, np.floating)) and not np.ndim(x) else x


def _library(x: Any) -> Any:
    """The library with the functions for x."""
    return ca if isinstance(x, (ca.SX, ca.MX, ca.DM)) else np


def _positive_part(x: Any, rounded: float = ROUNDED_SPEED) -> Any:
    """max(x, 0), rounded."""
    return (x + _library(x).sqrt(x**2 + rounded**2)) / 2


def young_coefficients(joint: str, sex: Sex) -> dict[str, Row]:
    """C1 to C6 of the directions of a joint, of the youngest age group; empty for a joint that is not in the table."""
    return {direction: rows[sex][0] for (of, direction), rows in TABLE.items() if of == joint}


def human_strength_curves(
    mass: float, height: float, sex: Sex, age: str = "18-25"
) -> Mapping[str, tuple[StrengthCurve, StrengthCurve]]:
    """Curves of hip, knee and ankle in the sagittal plane for `human`: {dof: (of negative, of positive torque)}.

    mass [kg], height [m]; age: one of `AGES` [years]. Signs are those of the model; the peaks of the young are its
    torque limits. Isometric, at the best angle and at rest: `dofs.tau_min`, `dofs.tau_max`. ValueError for another
    sex or age, and for sizes that `human` refuses.

    >>> curves = od.models.human_strength_curves(mass=73, height=1.741, sex="male")
    >>> dorsiflexors, plantarflexors = curves["ankle_l"]
    >>> round(dorsiflexors(0.187, 0.0)), round(plantarflexors(-0.408, 0.0))  # N m, each at its best angle
    (41, 118)
    """
    check_sex(sex)
    check_range("mass", mass, MASS_RANGE, "kg")
    check_range("height", height, HEIGHT_RANGE, "m")
    choice(age, AGES, "human_strength_curves: age")
    weight_height = mass * GRAVITY * height

    def curve(joint: str, name: str, direction: int) -> StrengthCurve:
        c1, c2, c3, c4, c5, c6 = TABLE[joint, name][sex][AGES.index(age)]
        return StrengthCurve(c1 * weight_height, SIGNS[joint][0] * c3, c2, c4, c5, c6, direction)

    return {
        DOFS[joint].format(side=side): (curve(joint, negative, -1), curve(joint, positive_, 1))
        for side in "lr"
        for joint, (_, negative, positive_) in SIGNS.items()
    }
