"""Ranges of motion, speeds and strengths of the joints of the human model, from the literature.

Sources:

[AAOS] American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965, as
       tabulated by C. Norkin and J. White, Measurement of Joint Motion.
[A07]  D. Anderson, M. Madigan, M. Nussbaum, Maximum voluntary joint torque as a function of joint angle and angular
       velocity, J. Biomechanics 40(14), 2007, Table 3: C1, largest isometric torque / (mass g height), age 18-25. The
       whole table is in `strength_curves`.
[D09]  B. Danneskiold-Samsoe et al., Isokinetic and isometric muscle strength in a healthy population with special
       reference to age and gender, Acta Physiologica 197 (suppl. 673), 2009, appendices: isometric torques of men and
       women of 20 to 29 years, dominant side, gravity corrected.
[F25]  L. da Fonseca et al., Normative values of ankle strength and its importance for rehabilitation and return to
       activity, World J. Orthopedics 16(10), 2025, Table 6: inversion and eversion at 30 degrees/s, 20 to 60 years.
[P25]  F. Pan et al., Sex-specific characteristics of the trunk muscle behaviors in an asymptomatic adult cohort,
       Eur. J. Medical Research 30:471, 2025: isometric torques of the trunk, medians of 61 men and 61 women of 20 to 35
       years, seated, pelvis held.
[GB12] J.-P. Goldmann, G.-P. Brueggemann, The potential of human toe flexor muscles to produce force, J. Anatomy 221(2),
       2012: isometric moments about the toes' joints of 20 men.
[Q23]  A device to quantify the strength of hallux extension (QuHalEx), 2023, PMC10223981: forces of the great toe of 38
       adults, 23.1 to 82.0 N in extension and 32.0 to 142.4 N in flexion.
[R15]  A. Rabin et al., Weight-bearing ankle dorsiflexion range of motion: can side-to-side symmetry be assumed?,
       J. Athletic Training 50(1), 2015.

The numbers of [A07] were checked against the table in the muscle addon of the rigid-body library RBDL, those of [D09],
[F25] and [P25] against a second tabulation of these papers: the papers themselves were not at hand. Those of [F25],
weighed by its 69 men and 31 women, give its published means, 34.8 and 29.9 N m.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._base.files import csv_rows
from .anthropometry import MASS, PUBLISHED, STATURE, Sex
from .strength_curves import GRAVITY, young_coefficients

_JOINTS: dict[str, list[dict[str, str]]] = {}
for _row in csv_rows(PUBLISHED / "joint_limits.csv"):
    _JOINTS.setdefault(_row["joint"], []).append(_row)
"""Rows of `published/joint_limits.csv`, one for each axis, by joint."""


class JointLimits(NamedTuple):
    """Per dof of one joint: lower and upper position [rad], speed [rad/s], lowest and largest torque [N m]."""

    lower: list[float]
    upper: list[float]
    velocity: list[float]
    effort: list[tuple[float, float]]


RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    joint: tuple((float(row["lower"]), float(row["upper"])) for row in rows) for joint, rows in _JOINTS.items()
}
"""Position limits [degrees] about y, x, z, of the LEFT limb and the spine, from [AAOS] but for four. Dorsiflexion is
that of a loaded ankle, 30, the low end of the 30 to 38 that are usual in the weight-bearing lunge test: an unloaded
ankle reaches 20 [AAOS], and the two differ [R15]. Extension of the spine is the middle of its 20 to 30 degrees. The
shoulder's adduction, 30, is a round number: [AAOS] gives none. Its abduction, 180, is cut at 80: at 90 the three axes
of the joint are no longer independent, and an arm goes overhead by flexion. The lumbar joint alone has the ranges that
[AAOS] gives for the thoracolumbar spine."""

SPEEDS: dict[str, tuple[float, ...]] = {
    joint: tuple(float(row["speed"]) for row in rows) for joint, rows in _JOINTS.items()
}
"""Largest joint speeds [rad/s]. Round numbers above the speeds of running, not measurements: they keep an
optimizer in a realistic range."""

DIRECTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    joint: tuple((row["negative"], row["positive"]) for row in rows) for joint, rows in _JOINTS.items()
}
"""Actions of a negative and of a positive torque about y, x, z, in the LEFT limb and the spine."""

_MEASURED: dict[str, dict[str, dict[str, float]]] = {}
for _row in csv_rows(PUBLISHED / "torques.csv"):
    for _sex in ("male", "female"):
        if _sides := [float(x) for x in _row[_sex].split()]:
            _of_sex = _MEASURED.setdefault(_row["joint"], {}).setdefault(_sex, {})
            _of_sex[_row["direction"]] = sum(_sides) / len(_sides)
"""Largest torques [N m], by joint, sex and direction, of the subjects of [P25] (lumbar; the two sides averaged), [F25]
(subtalar), [GB12] (flexion of
the toes; their extension is 0.6 of it, the ratio of the middles of the two ranges of [Q23]) and [D09] (the others: hip
abduction and adduction lying on the side, hip rotation prone, elbow at 60 degrees). Toes were measured in men only:
those of women are as strong for their mass and stature."""

_MASSES: dict[str, dict[str, float]] = {
    "lumbar": {"male": 73.4, "female": 55.1},
    "subtalar": MASS,
    "toes": MASS,
    "hip": {"male": 73.8, "female": 62.8},
    "shoulder": {"male": 73.8, "female": 62.8},
    "elbow": {"male": 73.8, "female": 62.8},
}
"""Mean masses [kg] of these subjects. [F25] gives 77.1 kg of both sexes together, and the mass of the men of [GB12] was
not at hand: the mean man and woman of the anthropometric tables stand in for these subjects."""

CALF = 2.8
"""Strength of plantar flexion that people show when they move [N m/kg]: dynamometers measure half of it at best, but
the ankle's moment reaches 3 N m/kg when they run at 3.5 m/s (Schache et al., Med. Sci. Sports Exerc. 43, 2011)."""


def strengths(mass: float, height: float, sex: Sex) -> dict[str, tuple[tuple[float, float], ...]]:
    """Lowest and largest torques (lower, upper) [N m] of each joint about its axes y, x, z, of a body mass [kg] and
    stature [m].

    Signs are those of the LEFT limb and of the spine, `DIRECTIONS`; on the right the directions about x and z change
    places. These are isometric torques at the best angle (subtalar: slow ones); how they fall with angle and speed in
    hip, knee and ankle is in `strength_curves`. All scale with mass x height, as [A07] found for the leg. The
    subjects of the other sources are taken to have the stature of the mean man and woman of the anthropometric tables.
    """
    found = {}
    for joint, axes in DIRECTIONS.items():
        torques = {name: row[0] * mass * GRAVITY * height for name, row in young_coefficients(joint, sex).items()}
        if joint in _MEASURED:
            subjects = sex if sex in _MEASURED[joint] else "male"
            scale = mass * height / (_MASSES[joint][subjects] * STATURE[subjects])
            torques |= {name: torque * scale for name, torque in _MEASURED[joint][subjects].items()}
        found[joint] = tuple((-torques[negative], torques[positive]) for negative, positive in axes)
    return found


def joint_limits(joint: str, axes: str, side: str, strength: dict[str, tuple[tuple[float, float], ...]]) -> JointLimits:
    """Limits of one joint ("hip", ...) turning about `axes` ("yxz", "y", "x"), on side "l", "r" or "" (spine).

    On the right the ranges and the torques about x and z are those of the left with the sign changed.
    """

    def of_side(pairs: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
        return [
            (-high, -low) if side == "r" and axis != "y" else (low, high)
            for axis, (low, high) in zip(axes, pairs, strict=True)
        ]

    ranges = of_side(RANGES[joint])
    return JointLimits(
        [math.radians(low) for low, _ in ranges],
        [math.radians(high) for _, high in ranges],
        list(SPEEDS[joint]),
        of_side(strength[joint]),
    )
