"""Sizes and mass distribution of a man and a woman of any stature and mass, from published tables.

Sources:

[dL96] P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29(9),
       1996, Table 4: lengths, masses, centers of mass, radii of gyration; mean man 73.0 kg, 1.741 m, mean
       woman 61.9 kg, 1.735 m.
[DC66] R. Drillis, R. Contini, Body segment parameters, 1966, as in D. Winter, Biomechanics and Motor Control of
       Human Movement, Fig. 4.1: breadths and the height of the ankle as fractions of stature.
[D90]  S. Delp et al., An interactive graphics-based model of the lower extremity, IEEE Trans. Biomed. Eng.
       37(8), 1990: places of the hip and ankle joints in the skeleton of a man of 1.80 m.
[G14]  C. Gordon et al., 2012 Anthropometric Survey of U.S. Army Personnel: Methods and Summary Statistics, Natick
       TR-15/007, 2014: length of the foot, and from heel to ball, of 4082 men and 1986 women.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Real
from pathlib import Path
from typing import Literal, NamedTuple

from .._base.checks import choice, positive
from .._base.display import Brief
from .._base.files import csv_rows
from .._base.types import LARGEST_MAGNITUDE, repr_in_message

Sex = Literal["male", "female"]

PUBLISHED = Path(__file__).parent / "published"
"""Folder of the tables of publications."""

STATURE: dict[str, float] = {"male": 1.741, "female": 1.735}
"""Stature [m] of the mean man and woman of [dL96]; every length scales with height / STATURE."""

MASS: dict[str, float] = {"male": 73.0, "female": 61.9}
"""Mass [kg] of the mean man and woman of [dL96]."""

MASS_RANGE = (20.0, 250.0)
HEIGHT_RANGE = (1.0, 2.3)
"""Range of mass [kg] and stature [m] in which the tables, which are those of adults, are used."""


class SegmentData(NamedTuple):
    """One row of [dL96], Table 4: lengths and radii of the mean man or woman.

    length [mm] between the end points; mass [% of body mass]; com [% of length from the first end point];
    radii of gyration about the center of mass [% of length]: sagittal (about the fore-and-aft axis),
    transverse (about the left-right axis), longitudinal.
    """

    length: float
    mass: float
    com: float
    sagittal: float
    transverse: float
    longitudinal: float


SEGMENTS: dict[str, dict[str, SegmentData]] = {sex: {} for sex in STATURE}
for _sex, _name, *_numbers in (row.values() for row in csv_rows(PUBLISHED / "segments.csv")):
    SEGMENTS[_sex][_name] = SegmentData(*map(float, _numbers))
"""[dL96], Table 4. End points: head from the vertex to mid-gonion (mass with the neck); upper trunk from
suprasternale to xiphion, middle to omphalion, lower to mid-hip; arm from joint to joint, hand from the wrist to
the third metacarpal's head; thigh from hip to knee, shank to the lateral malleolus; foot from heel to toe tip."""

PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
"""Segments that occur twice, left and right."""

MID_SHOULDER = {"male": 515.5, "female": 497.9}
"""Mid-shoulder to mid-hip [mm], joint centers: [dL96], Table 4, the trunk between its other end points."""

ANKLE_HEIGHT = 0.039  # of stature, [DC66]
HIP_WIDTH = 0.191  # of stature, [DC66]: the breadth of the body at the hips
SHOULDER_WIDTH = (
    0.259  # of stature, [DC66]: biacromial; taken for the distance of the shoulder joints, as [DC66] draws it
)
FOOT_BREADTH = 0.055  # of stature, [DC66]
HIP_SPACING = 2 * 0.0835 / 1.80
"""Distance of the hip joint centers, of stature: [D90], hip centers 83.5 mm from the midplane at 1.80 m. (The hip
width of [DC66] is that of the body with its soft tissue, and about twice as much.)"""
SEAT_BELOW_HIP = 0.05
"""Seat below the hip joints when sitting, of stature: 87 mm at 1.741 m. Assumed, rounded: half of the thickness of a
seated thigh; bone and compressed tissue under the hip joint make about as much."""
SEAT_BREADTH = 0.07
"""Distance of the points of the pelvis that carry a sitting body, the ischial tuberosities, of stature: 0.12 m.
Assumed, rounded."""
ANKLE_AHEAD_OF_HEEL = 0.23
"""Ankle ahead of the rear of the heel, of the foot's length. Rounded: in [D90] the ankle lies 48.8 mm ahead of the
rear of the bone at 1.80 m; about 10 mm of soft tissue behind it make 0.22 (man) to 0.25 (woman)."""


BALL_AHEAD_OF_HEEL = 0.72
"""Axis of the toes' joints ahead of the rear of the heel, of the foot's length. The head of the first metatarsal bone
is at 0.74: 194.75 mm of 263.03 mm, means of all subjects of [G14]. The line through the heads runs backwards from there
to the little toe; 0.72, rounded, is about its middle weighted by the load, for an axis straight across the foot."""


@dataclass(frozen=True, repr=False)
class HumanDimensions(Brief):
    """Lengths [m] of a standing human of given sex and stature; made by `human_dimensions`.

    Segments: `head` (vertex to mid-gonion), `neck_gap` (mid-gonion to suprasternale), `upper_trunk` (to xiphion),
    `middle_trunk` (to omphalion), `lower_trunk` (to mid-hip), `thigh`, `shank` (to the ankle), `ankle_height` (to the
    sole): these eight add up to `height`. `upper_arm`, `forearm`, `hand` (wrist to the third metacarpal's head).
    `foot_length`, `foot_breadth`; `heel` and `toe`: how far the sole reaches behind and ahead of the ankle; `ball`: how
    far the axis of the toes' joints lies ahead of it. `shoulder_height` above the sole; `shoulder_width` and
    `hip_spacing` between the joint centers; `hip_width`: breadth of the body at the hips. `seat_depth`: the seat below
    the hip joints when sitting; `seat_breadth`: distance of the points of the pelvis that carry a sitting body.

    >>> size = od.models.human_dimensions(height=1.80, sex="male")
    >>> round(size.thigh + size.shank, 3), round(size.leg_length, 3)
    (0.885, 0.955)
    """

    sex: str
    height: float
    head: float
    neck_gap: float
    upper_trunk: float
    middle_trunk: float
    lower_trunk: float
    thigh: float
    shank: float
    ankle_height: float
    upper_arm: float
    forearm: float
    hand: float
    foot_length: float
    foot_breadth: float
    heel: float
    toe: float
    ball: float
    shoulder_height: float
    shoulder_width: float
    hip_spacing: float
    hip_width: float
    seat_depth: float
    seat_breadth: float

    def __post_init__(self) -> None:
        choice(self.sex, STATURE, "HumanDimensions sex")
        for field in (field.name for field in fields(self) if field.name != "sex"):
            positive(getattr(self, field), f"HumanDimensions {field} [m]")

    @property
    def leg_length(self) -> float:
        """Hip joint center to sole [m]: the height of the pelvis' origin when standing."""
        return self.thigh + self.shank + self.ankle_height

    @property
    def lumbar_height(self) -> float:
        """Height of the lumbar joint above the sole [m]."""
        return self.leg_length + self.lower_trunk

    @property
    def sole_half_length(self) -> float:
        """Half the length of the sole [m]: the frame `sole` to `heel` and to `toe`."""
        return self.foot_length / 2

    @property
    def sole_half_breadth(self) -> float:
        """Half the breadth of the sole [m]."""
        return self.foot_breadth / 2


def human_dimensions(height: float = STATURE["male"], sex: Sex = "male") -> HumanDimensions:
    """The lengths of a human of that stature [m] and sex ("male" or "female").

    Segment and foot lengths and the height of the shoulders from [dL96], scaled by stature; ankle height, hip
    width, shoulder width and foot breadth from [DC66]; hip spacing from [D90]; see the module's constants.

    The lengths of [dL96] leave out the neck between mid-gonion and suprasternale: `neck_gap` is what the others
    leave of the stature, 4.7 % of it in men and 7.9 % in women. (By the distances of vertex and mid-hip from
    cervicale in the same table it would be 6.4 % and 7.4 %, but then a man's parts add up to 1.7 % more than
    his stature.) It has no mass of its own: the head's includes the neck.

    `ValueError` for another sex, or a height that is not a number between 1.0 and 2.3 m.

    >>> round(od.models.human_dimensions(height=1.80, sex="male").foot_length, 3)
    0.267
    """
    check_sex(sex)
    check_range("height", height, HEIGHT_RANGE, "m")
    scale = height / STATURE[sex] / 1000.0
    length = {name: segment.length * scale for name, segment in SEGMENTS[sex].items()}
    foot, ankle = length.pop("foot"), ANKLE_HEIGHT * height
    column = ("head", "upper_trunk", "middle_trunk", "lower_trunk", "thigh", "shank")
    return HumanDimensions(
        sex=sex,
        height=height,
        neck_gap=height - ankle - sum(length[name] for name in column),
        **length,
        ankle_height=ankle,
        foot_length=foot,
        foot_breadth=FOOT_BREADTH * height,
        heel=ANKLE_AHEAD_OF_HEEL * foot,
        toe=(1 - ANKLE_AHEAD_OF_HEEL) * foot,
        ball=(BALL_AHEAD_OF_HEEL - ANKLE_AHEAD_OF_HEEL) * foot,
        shoulder_height=MID_SHOULDER[sex] * scale + length["thigh"] + length["shank"] + ankle,
        shoulder_width=SHOULDER_WIDTH * height,
        hip_spacing=HIP_SPACING * height,
        hip_width=HIP_WIDTH * height,
        seat_depth=SEAT_BELOW_HIP * height,
        seat_breadth=SEAT_BREADTH * height,
    )


class SegmentBody(NamedTuple):
    """Mass [kg], length [m], center of mass [m from the first end point], principal inertias [kg m^2]."""

    mass: float
    length: float
    com: float
    sagittal: float
    transverse: float
    longitudinal: float


def segment_bodies(mass: float, height: float, sex: Sex) -> dict[str, SegmentBody]:
    """The segments of [dL96] scaled to a body mass [kg] and a stature [m]; one side of the paired ones.

    The percentages of the table add up to 100 but for rounding (99.99 in women); they are divided by their
    sum, so that the masses add up to `mass`. `ValueError` as in `human_dimensions`, and for a mass that is
    not a number between 20 and 250 kg.
    """
    check_sex(sex)
    check_range("height", height, HEIGHT_RANGE, "m")
    check_range("mass", mass, MASS_RANGE, "kg")
    table = SEGMENTS[sex]
    total = sum(s.mass * (2 if name in PAIRED else 1) for name, s in table.items())
    bodies = {}
    for name, s in table.items():
        m, l = mass * s.mass / total, s.length / 1000.0 * height / STATURE[sex]
        inertias = (m * (l * radius / 100.0) ** 2 for radius in (s.sagittal, s.transverse, s.longitudinal))
        bodies[name] = SegmentBody(m, l, l * s.com / 100.0, *inertias)
    return bodies


def check_sex(sex: str) -> None:
    """Raises `ValueError` unless there is a table for that sex."""
    choice(sex, STATURE, "sex")


def check_range(what: str, value: float, allowed: tuple[float, float], unit: str) -> None:
    """Raises `ValueError` unless value is a number within the allowed range."""
    low, high = allowed
    if isinstance(value, bool) or not isinstance(value, Real) or not abs(value) <= LARGEST_MAGNITUDE:
        raise ValueError(f"{what} must be a number of {unit}, got {repr_in_message(value)}")
    if not low <= value <= high:
        raise ValueError(
            f"{what} must lie between {low:g} and {high:g} {unit}, where the tables of adults still make sense, "
            f"got {float(value):g}; is it in {unit}?"
        )
