"""Ranges of motion, speeds and strengths of the joints of the human model, from the literature.

Sources:

[AAOS] American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965, as
       tabulated by C. Norkin and J. White, Measurement of Joint Motion.
[A07]  D. Anderson, M. Madigan, M. Nussbaum, Maximum voluntary joint torque as a function of joint angle and angular
       velocity, J. Biomechanics 40(14), 2007, Table 3: C1, largest isometric torque / (mass g height), age 18-25.
[S14]  D. Sugimoto et al., Comparison of isokinetic hip abduction and adduction peak torques, Clin. J. Sport
       Med. 24(5), 2014: hip abduction at 60 degrees/s, N m per kg.
[R15]  A. Rabin et al., Weight-bearing ankle dorsiflexion range of motion: can side-to-side symmetry be assumed?,
       J. Athletic Training 50(1), 2015.
[S82]  T. Stobbe, 1982, as in D. Chaffin and G. Andersson, Occupational Biomechanics: static strengths of workers,
       50th percentile, N m. Typed without a second source at hand: check before you build on a last digit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .anthropometry import MASS, STATURE, Sex

GRAVITY = 9.81


class JointLimits(NamedTuple):
    """Per dof of one joint: lower and upper position [rad], speed [rad/s], torque [N m]."""

    lower: list[float]
    upper: list[float]
    velocity: list[float]
    effort: list[float]


RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "lumbar": ((-25, 80), (-35, 35), (-45, 45)),  # extension, flexion; to a side; turn (thoracolumbar spine)
    "hip": ((-120, 30), (-30, 45), (-45, 45)),  # flexion, extension; adduction, abduction; internal, external
    "knee": ((0, 135),),  # extension, flexion
    "ankle": ((-30, 50),),  # dorsiflexion (loaded), plantar flexion
    "subtalar": ((-35, 15),),  # inversion, eversion
    "shoulder": ((-180, 60), (-30, 80), (-70, 90)),  # as the hip
    "elbow": ((-150, 0),),  # flexion, extension
}
"""Position limits [degrees] about y, x, z, of the LEFT limb and the spine, from [AAOS] but for four. Dorsiflexion is
that of a loaded ankle, 30, the low end of the 30 to 38 that are usual in the weight-bearing lunge test: an unloaded
ankle reaches 20 [AAOS], and the two differ [R15]. Extension of the spine is the middle of its 20 to 30 degrees. The
shoulder's adduction, 30, is a round number: [AAOS] gives none. Its abduction, 180, is cut at 80: at 90 the three axes
of the joint are no longer independent, and an arm goes overhead by flexion. The lumbar joint alone has the ranges that
[AAOS] gives for the thoracolumbar spine."""

SPEEDS: dict[str, tuple[float, ...]] = {
    "lumbar": (10, 10, 10),
    "hip": (15, 15, 15),
    "knee": (20,),
    "ankle": (20,),
    "subtalar": (10,),
    "shoulder": (20, 20, 20),
    "elbow": (20,),
}
"""Largest joint speeds [rad/s]. Round numbers above the speeds of running, not measurements: they keep an
optimizer in a realistic range."""

_NORMALIZED: dict[str, dict[str, float]] = {
    "male": {"hip": 0.161, "knee": 0.163, "ankle": 0.095, "dorsiflexion": 0.033},
    "female": {"hip": 0.181, "knee": 0.159, "ankle": 0.104, "dorsiflexion": 0.027},
}
"""[A07]: C1 of hip extension, knee extension, plantar flexion, dorsiflexion."""

_HIP_ABDUCTION = {"male": 1.29, "female": 1.13}
"""[S14] [N m/kg]."""

_STATIC: dict[str, dict[str, tuple[float, ...]]] = {
    "male": {"lumbar": (234, 159, 80), "shoulder": (71, 71, 52), "elbow": (77,)},
    "female": {"lumbar": (184, 95, 48), "shoulder": (37, 37, 21), "elbow": (41,)},
}
"""[S82] [N m]: torso extension and lateral bending; shoulder abduction (also taken for flexion), medial rotation;
elbow flexion. The turn of the torso is not in the source: half of its lateral bending is assumed."""


def strengths(mass: float, height: float, sex: Sex) -> dict[str, tuple[float, ...]]:
    """Largest torques [N m] of each joint about its axes, of a body mass [kg] and stature [m].

    A joint has one limit for both directions, the stronger one's. All scale with mass x height, as [A07]
    found for the leg; the workers of [S82] and the athletes of [S14] are taken to have the size of the mean
    man and woman of the anthropometric tables. Assumed, not measured: the hip turns with half of its
    strength in abduction, the subtalar joint is as strong as the ankle in dorsiflexion.
    """
    weight_height = mass * GRAVITY * height
    scale = mass * height / (MASS[sex] * STATURE[sex])
    leg = {name: c1 * weight_height for name, c1 in _NORMALIZED[sex].items()}
    abduction = _HIP_ABDUCTION[sex] * MASS[sex] * scale
    static = {name: tuple(torque * scale for torque in torques) for name, torques in _STATIC[sex].items()}
    return static | {
        "hip": (leg["hip"], abduction, abduction / 2),
        "knee": (leg["knee"],),
        "ankle": (leg["ankle"],),
        "subtalar": (leg["dorsiflexion"],),
    }


def joint_limits(joint: str, axes: str, side: str, strength: dict[str, tuple[float, ...]]) -> JointLimits:
    """Limits of one joint ("hip", ...) turning about `axes` ("yxz", "y", "x"), on side "l", "r" or "" (spine).

    On the right the ranges about x and z are those of the left with the sign changed.
    """
    ranges = [
        (-high, -low) if side == "r" and axis != "y" else (low, high)
        for axis, (low, high) in zip(axes, RANGES[joint], strict=True)
    ]
    return JointLimits(
        [math.radians(low) for low, _ in ranges],
        [math.radians(high) for _, high in ranges],
        [float(speed) for speed in SPEEDS[joint]],
        list(strength[joint]),
    )
