"""Passive torques of the joints of the human model: muscles at rest, ligaments and capsules, from the literature.

Sources:

[RE99] R. Riener, T. Edrich, Identification of passive elastic joint moments in the lower extremities, J. Biomechanics
       32(5), 1999, 539-544: hip, knee and ankle of ten healthy subjects, with the coupling by muscles over two joints.
       All 25 numbers agree in three independent programs that implement it (of movement control, of the validation of
       musculoskeletal models, of sprinting); the last has 1.50 where the others have 0.150, which alone fits the curve.
[AP99] F. Anderson, M. Pandy, A dynamic optimization solution for vertical jumping in three dimensions, Computer
       Methods in Biomechanics and Biomedical Engineering 2(3), 1999, 201-231: stops of the joints. The numbers are
       those of the programs of A. Falisse et al., J. R. Soc. Interface 16(157), 2019, and of S. Uhlrich et al., PLOS
       Computational Biology 19(10), 2023, which agree but have one origin. A second one confirms only the stops of
       flexion and extension of the hip, and has another start for one of them.
[F22]  A. Falisse, M. Afschrift, F. De Groote, Modeling toes contributes to realistic stance knee mechanics, PLOS ONE
       17(1), 2022: toe joint, by the settings of their program. A program on sprinting quotes the same stiffness, with
       another damping, from K. Sasaki et al., 2009.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._base.types import repr_in_message, truth
from ..mechanism.passive import ExponentialTorque, PassiveElement
from .anthropometry import HEIGHT_RANGE, MASS, MASS_RANGE, STATURE, Sex, check_range, check_sex
from .joint_limits import RANGES

JOINT_DAMPING = 0.1
"""Damping of every joint of legs, spine and arms [N m s/rad]: that of the stops as Falisse et al. 2019 use them. A
number from another laboratory was not found."""

TOE_STIFFNESS, TOE_DAMPING = 25.0, 2.0
"""Linear stiffness [N m/rad] and damping [N m s/rad] of the toe joint [F22]; the damping after Sasaki et al. is
0.03."""


class TissueTerm(NamedTuple):
    """One exponential of [RE99]: sign exp(constant + slopes . angles) [N m]; angles in degrees."""

    sign: float
    constant: float
    hip: float = 0.0
    knee: float = 0.0
    ankle: float = 0.0


MOMENTS: dict[str, tuple[float, tuple[TissueTerm, ...]]] = {
    "hip": (
        8.072,
        (TissueTerm(1, 1.4655, knee=-0.0034, hip=-0.0750), TissueTerm(-1, 1.3403, knee=-0.0226, hip=0.0305)),
    ),
    "knee": (
        -4.820,
        (
            TissueTerm(1, 1.800, ankle=-0.0460, knee=-0.0352, hip=0.0217),
            TissueTerm(-1, -3.971, ankle=-0.0004, knee=0.0495, hip=-0.0128),
            TissueTerm(1, 2.220, knee=-0.150),
        ),
    ),
    "ankle": (
        -1.792,
        (TissueTerm(1, 2.1016, ankle=-0.0843, knee=-0.0176), TissueTerm(-1, -7.9763, ankle=0.1949, knee=0.0008)),
    ),
}
"""[RE99]: moments of hip flexion, knee flexion and plantar flexion [N m], a constant and exponentials of the angles of
these in degrees. Signs confirm themselves: a knee that bends lets the calf slacken, and plantar flexion torque
falls."""

SIGN = {"hip": -1.0, "knee": 1.0, "ankle": 1.0}
"""Sign of the coordinate about y, of the human model, for a positive angle of [RE99]: flexion of the hip is
negative."""


class Stop(NamedTuple):
    """gain exp(slope (angle - start)) [N m; 1/rad; rad]."""

    gain: float
    slope: float
    start: float


ENDS: dict[str, tuple[Stop, Stop]] = {
    "hip": (Stop(-2.44, 5.05, 1.81), Stop(1.51, -21.88, -0.6981)),
    "knee": (Stop(-11.03, 11.33, 2.4), Stop(6.09, -33.94, -0.13)),
    "ankle": (Stop(-0.18, 12.12, 0.74), Stop(2.03, -38.11, -0.52)),
}
"""[AP99]: flexion of hip and knee and plantar flexion, of a body whose muscles are modeled one by one: these give what
[RE99] measured of muscles at rest."""

STOPS: dict[str, tuple[Stop, Stop]] = {
    "hip.rx": (Stop(-0.03, 14.94, 0.5), Stop(0.03, -14.94, -0.5)),
    "hip.rz": (Stop(-0.03, 14.94, 0.92), Stop(0.03, -14.94, -0.92)),
    "subtalar": (Stop(-60.21, 16.32, 0.65), Stop(60.21, -16.32, -0.65)),
}
"""[AP99]: abduction and rotation of the hip, eversion; the same to both sides, so that no sign has to be chosen."""

LUMBAR: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "ry": ((-0.25, 20.36), (0.35, -30.72)),
    "rx": ((-0.25, 20.36), (0.25, -20.36)),
    "rz": ((-0.25, 20.36), (0.25, -20.36)),
}
"""[AP99]: gains and slopes at the upper and the lower end of the lumbar joint; flexion is positive about y."""

LUMBAR_MARGIN = math.radians(15)
"""Distance from the end of the lumbar joint's range at which its stops have their gain. In [AP99] they have it at 20
degrees of bending and at 10 degrees of extension, which is this margin for the ranges of `joint_limits`; for flexion at
30 and rotation at 20 degrees, where this model goes on to 80 and 45: its joint stands for all joints of the spine."""

TOE_STOP = Stop(-0.9, 14.87, math.radians(65))
"""[AP99]: extension of the toes. Its other stop, at 0 and 70 per radian, is left out: it only holds toes straight."""


def passive_tissue(
    mass: float, height: float, sex: Sex, toe: str = "", *, muscles: bool = False
) -> tuple[PassiveElement, ...]:
    """Passive torques of the joints of `human(mass, height, sex)`, which has them by default.

    Hip, knee and ankle in the sagittal plane after Riener & Edrich 1999, with muscles over two joints: the knee's
    torque depends on hip and ankle, the hip's and the ankle's on the knee. Abduction and rotation of the hip, subtalar
    and lumbar joint by the exponential stops of Anderson & Pandy 1999. Shoulders and elbows have none.
    `model.with_passive` adds these torques to another model; damping is not among them, see `JOINT_DAMPING`.

    All torques scale with mass x height, 1 for the mean man of the anthropometric tables: assumed, for the measured
    subjects' sizes are not in the sources that could be read; no source tells men from women. toe: name of toe joints
    about y without the side, such as "toes" for toes_l and toes_r, extension negative; "" if there are none.
    muscles: of a body that has muscles with passive forces of their own: hip, knee and ankle get stops of Anderson &
    Pandy in place of the torques of Riener & Edrich.

    ValueError for another sex, a mass outside 20..250 kg or a height outside 1.0..2.3 m.

    >>> relaxed = od.models.human(tissue=False)
    >>> standing = relaxed.with_passive(od.models.passive_tissue(73, 1.741, "male"))
    >>> torque = od.passive_force(standing, standing.neutral(), np.zeros(standing.nv))
    >>> round(float(torque[standing.qd_names.index("ankle_l")]), 2)  # ankle at a right angle, straight knee [N m]
    6.39
    """
    check_sex(sex)
    check_range("mass", mass, MASS_RANGE, "kg")
    check_range("height", height, HEIGHT_RANGE, "m")
    if not isinstance(toe, str):
        raise TypeError(
            f"passive_tissue: toe must be the name of the toe joints without the side, got {repr_in_message(toe)}"
        )
    size = mass * height / (MASS["male"] * STATURE["male"])
    found: list[PassiveElement] = []
    for side in "lr":
        for joint in MOMENTS:
            found += _ends(joint, side, size) if truth(muscles, "muscles") else _moment(joint, side, size)
        for name, stops in STOPS.items():
            joint, _, axis = name.partition(".")
            dof = f"{joint}_{side}" + (f".{axis}" if axis else "")
            found += [_stop(dof, stop, size) for stop in stops]
        if toe:
            found.append(_stop(f"{toe}_{side}", TOE_STOP, size, -1.0))
    return (*found, *_lumbar(size))


def _moment(joint: str, side: str, size: float) -> list[PassiveElement]:
    """The torques of [RE99] on one joint, in the signs of the human model."""
    dofs = {"hip": f"hip_{side}.ry", "knee": f"knee_{side}", "ankle": f"ankle_{side}"}
    constant, terms = MOMENTS[joint]
    found: list[PassiveElement] = [ExponentialTorque(dofs[joint], SIGN[joint] * size * constant)]
    for term in terms:
        slopes = {dof: SIGN[name] * math.degrees(getattr(term, name)) for name, dof in dofs.items()}  # per degree
        found.append(ExponentialTorque(dofs[joint], SIGN[joint] * size * term.sign, slopes, term.constant))
    return found


def _ends(joint: str, side: str, size: float) -> list[PassiveElement]:
    """The stops of a joint about y, in the signs of the human model."""
    dof = f"hip_{side}.ry" if joint == "hip" else f"{joint}_{side}"
    return [_stop(dof, stop, size, SIGN[joint]) for stop in ENDS[joint]]


def _stop(dof: str, stop: Stop, size: float, sign: float = 1.0) -> PassiveElement:
    """A stop on one dof; sign: of the dof's coordinate for a positive angle of the stop."""
    return ExponentialTorque(dof, sign * size * stop.gain, {dof: sign * stop.slope}, -stop.slope * stop.start)


def _lumbar(size: float) -> list[PassiveElement]:
    found = []
    for (axis, ends), (low, high) in zip(LUMBAR.items(), RANGES["lumbar"], strict=True):
        starts = math.radians(high) - LUMBAR_MARGIN, math.radians(low) + LUMBAR_MARGIN
        found += [_stop(f"lumbar.{axis}", Stop(*end, start), size) for end, start in zip(ends, starts, strict=True)]
    return found
