"""Muscles of legs and trunk of the human model: numbers and paths of published bodies, fitted to its segments.

Sources:

[R16]  A. Rajagopal et al., Full-body musculoskeletal model for muscle-driven simulation of human gait, IEEE Trans.
       Biomed. Eng. 63(10), 2016: paths, forces and fiber lengths of the leg, after S. Ward et al. 2009 (fibers) and
       G. Handsfield et al. 2014 (volumes); with the changes of A. Lai et al., Ann. Biomed. Eng. 45(12), 2017, and
       S. Uhlrich et al., Sci. Rep. 12, 2022. Taken over here: a copy of it that was scaled to a man of 85.3 kg, from
       the example of a walk in three dimensions that comes with OpenSim Moco.
[D90]  S. Delp et al., An interactive graphics-based model of the lower extremity, IEEE Trans. Biomed. Eng. 37(8),
       1990: the foot, of a man of 1.80 m.
[G92]  OpenSim's model gait2392, after [D90] and F. Anderson, M. Pandy, 1999: muscles of the trunk.
[H14]  G. Handsfield et al., Relationships of 35 lower limb muscles to height and body mass, J. Biomech. 47(3), 2014:
       a limb has 47 cm^3/(kg m) mass x height + 1285 cm^3 of muscle, men and women alike.

`published/muscles.csv` has a row for each muscle of the left side, in the axes of the human model at `neutral()` (x
forward, y out, z up): largest isometric force [N], optimal fiber length and tendon slack length [mm], pennation at the
optimal length [degrees], points [mm] and the surfaces over which the path bends, with the numbers of the points between
which it does. `published/wrap_cylinders.csv` has these surfaces: sizes, origins [mm], roll, pitch and yaw [degrees] of
cylinders about z; `published/patella.csv` the place [mm] and the tilt [degrees] of the patella in the thigh over the
flexion of the knee.

Points are given in the straight legs of `REFERENCE`: from the middle of the hip joints ("pelvis"), the hip ("thigh"),
the knee ("shank"), the ankle ("foot"), the toes' joint ("toes"), the lumbar joint ("loin", of the pelvis, and "torso"),
the patella. What was done to the source:

* The knee of [R16] slides and turns inwards as it bends. The hinge here is the one next to this motion, of the points
  at which muscles are fixed to the shank, for 0 to 120 degrees (2.4 mm RMS). These points have the mean of their
  places, and were moved by up to 4.5 mm, so that moment arms about the knee come near those of the source.
* Joints of a leg lie on one vertical line: points of thigh and shank were sheared forward or back onto it, up to 7 mm.
* The pelvis is tilted forward by 5.8 degrees, the mean of that man's walk.
* The foot has the size of [D90] again: in the scaled body its parts do not fit (the toe joint was not scaled).
* Cylinders of iliacus and psoas have 0.7 of their radius, and touch the muscles where they did: the thigh's points
  entered the larger ones in extension. That of gaslat at the condyles lies 4.7 mm further back. The lower parts of
  the gluteus maximus, 2 and 3, have a point more in place of cylinders, over which they jumped.
* Tendon slack lengths take up what these changes add to the lengths of the paths along that man's walk.

Moment arms beside the source, in legs of its size, RMS over the ranges of walking: 2.4 mm about the hip and 4 mm about
the knee at most, where the hinge cannot turn the shank inwards; 4 mm about the ankle, 6 mm of the muscles behind the
inner ankle, which lie nearer to it in the foot of [D90].
`python -m scripts.checks.musculature FILE.osim` prints them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..._base.files import csv_rows
from ..._base.types import Array
from ...joints import ConstantFunction, SimmSpline
from ...mechanism import Model, MovingPathPoint, Muscle, PathPoint, PathWrap, WrapObject
from ...mechanism.annotations import AnyPathPoint
from ...muscles import path_geometry
from ...spatial_algebra.rotations import rpy_matrix
from ..anthropometry import PUBLISHED, HumanDimensions
from ..human_body import THICKNESS
from ..joint_limits import strengths

KIND = "DeGrooteFregly2016Muscle"
"""Class of the muscles: its curves are smooth, and the rest of its numbers are OpenSim's defaults."""

VOLUME_SLOPE, VOLUME_OFFSET = 47.0, 1285.0
"""Volume of the muscles of a limb [cm^3/(kg m), cm^3] [H14]."""
STRONG = (75.0, 1.70)
"""Mass [kg] and height [m] of the man whose muscles have the forces of the table [R16]."""

LEGS = ("lumbar", "hip", "knee", "ankle", "subtalar")
"""Joints whose torques tell how strong women are for their mass and height."""

Scale = tuple[float, float, float]


@dataclass(frozen=True)
class Skeleton:
    """Sizes of a skeleton that place its muscles [m].

    spacing: of the hip joints. loin: from them up to the lumbar joint. thigh, shank: between their joints. ball, depth:
    of the toes' joint, ahead of the ankle and below it. height: that of the body.
    """

    spacing: float
    loin: float
    thigh: float
    shank: float
    ball: float
    depth: float
    height: float

    @staticmethod
    def of(size: HumanDimensions) -> Skeleton:
        """That of a human body."""
        depth = size.ankle_height - THICKNESS["toes"] * size.height
        return Skeleton(size.hip_spacing, size.lower_trunk, size.thigh, size.shank, size.ball, depth, size.height)

    def scales(self) -> dict[str, Scale]:
        """Factors of x, y, z from `REFERENCE` to this skeleton, by segment: along a segment those of its length, across
        legs that of both their lengths."""
        ref = REFERENCE
        across = (self.thigh + self.shank) / (ref.thigh + ref.shank)
        tall = self.height / ref.height
        foot = (self.ball / ref.ball, tall, self.depth / ref.depth)
        return {
            "pelvis": (across, self.spacing / ref.spacing, across),
            "thigh": (across, across, self.thigh / ref.thigh),
            "shank": (across, across, self.shank / ref.shank),
            "foot": foot, "toes": foot,
            "loin": (tall, tall, tall), "torso": (tall, tall, tall),
        }  # fmt: skip


REFERENCE = Skeleton(spacing=0.1671, loin=0.1476, thigh=0.4019, shank=0.4565, ball=0.1300, depth=0.0440, height=1.80)
"""The skeleton in which the tables give points: legs of [R16], scaled as told above, foot and trunk of a man of 1.80 m
[D90]."""


def with_musculature(model: Model, size: HumanDimensions, mass: float) -> Model:
    """A human model with its muscles: 40 of each leg, 3 of each side of the trunk.

    Fibers and tendons grow with the path of their muscle in the standing body. Forces: F0 l0, which is the volume of a
    muscle, grows with the volume of all muscles of a limb [H14]; women have the share of it that their joints have in
    the torques of `joint_limits`.
    """
    muscles, wraps = musculature(Skeleton.of(size), "toes_l" in model.body_names)
    volume = strength_of(mass, size.height) * _share(size)
    plain = model.with_muscles(muscles, wraps)
    lengths = path_geometry(plain, np.array(plain.neutral(), dtype=float).ravel()).lengths
    grown = [
        _grown(muscle, length / standing, volume)
        for muscle, length, standing in zip(muscles, lengths, standing_lengths() * 2, strict=True)
    ]
    return model.with_muscles(grown, wraps)


def _grown(muscle: Muscle, length: float, volume: float) -> Muscle:
    """A muscle on a path so many times as long, with so many times the volume."""
    l0, ls, F0 = muscle.optimal_fiber_length, muscle.tendon_slack_length, muscle.max_isometric_force
    assert l0 is not None
    assert ls is not None
    assert F0 is not None
    return replace(
        muscle,
        optimal_fiber_length=l0 * length,
        tendon_slack_length=ls * length,
        max_isometric_force=F0 * volume / length,
    )


def strength_of(mass: float, height: float) -> float:
    """Volume of the muscles of a limb over that of the man of the table [H14]."""
    volume, standard = (VOLUME_SLOPE * m * h + VOLUME_OFFSET for m, h in ((mass, height), STRONG))
    return volume / standard


def _share(size: HumanDimensions) -> float:
    """Geometric mean of the torques of this sex over those of men, for the same mass and height."""
    if size.sex == "male":
        return 1.0
    own, men = strengths(1.0, 1.0, "female"), strengths(1.0, 1.0, "male")
    ratios = [
        math.log(a / b)
        for joint in LEGS
        for x, y in zip(own[joint], men[joint], strict=True)
        for a, b in zip(x, y, strict=True)
    ]
    return math.exp(sum(ratios) / len(ratios))


def musculature(skeleton: Skeleton, toes: bool) -> tuple[tuple[Muscle, ...], tuple[WrapObject, ...]]:
    """Muscles and surfaces of both sides in a skeleton, with fibers and tendons of the table. toes: whether these are
    bodies of their own."""
    sides = [_Side(skeleton, side, toes) for side in "lr"]
    return (
        tuple(side.muscle(row) for side in sides for row in _table("muscles")),
        tuple(side.wrap(row) for side in sides for row in _table("wrap_cylinders")),
    )


@lru_cache(maxsize=4)
def _table(name: str) -> tuple[dict[str, str], ...]:
    return tuple(csv_rows(PUBLISHED / f"{name}.csv"))


@lru_cache(maxsize=1)
def standing_lengths() -> tuple[float, ...]:
    """Lengths of the paths [m] of one side in the standing `REFERENCE`, from the table."""
    return tuple(float(row["standing"]) / 1000 for row in _table("muscles"))


class _Side:
    """Muscles of one side of a skeleton."""

    def __init__(self, skeleton: Skeleton, side: str, toes: bool) -> None:
        self.skeleton, self.side, self.toes = skeleton, side, toes
        self.scales = skeleton.scales()
        self.out = np.array([1.0, 1.0 if side == "l" else -1.0, 1.0])

    def muscle(self, row: dict[str, str]) -> Muscle:
        name = f"{row['name']}_{self.side}"
        points = tuple(self.point(f"{name}-P{k}", *text.split()) for k, text in enumerate(row["path"].split("; "), 1))
        wraps = tuple(self.path_wrap(*text.split()) for text in row["wraps"].split("; ") if text)
        return Muscle(
            name, KIND, points, wraps, max_isometric_force=float(row["force"]),
            optimal_fiber_length=float(row["fiber"]) / 1000, tendon_slack_length=float(row["tendon"]) / 1000,
            pennation_angle=math.radians(float(row["pennation"])),
        )  # fmt: skip

    def path_wrap(self, name: str, first: str = "0", last: str = "0") -> PathWrap:
        return PathWrap(f"{name}_{self.side}", first=int(first), last=int(last))

    def point(self, name: str, segment: str, *at: str) -> AnyPathPoint:
        place = np.array([float(x) / 1000 for x in at])
        if segment == "patella":
            return self.on_patella(name, place)
        body, point = self.placed(segment, place)
        return PathPoint(name, body, tuple(point))

    def placed(self, segment: str, place: Array) -> tuple[str, Array]:
        """(frame of the model, place in it) of a place in a segment of `REFERENCE`."""
        point = place * self.scales[segment] * self.out
        if segment in ("pelvis", "torso"):
            return segment, point
        if segment == "loin":
            return "pelvis", point + np.array([0.0, 0.0, self.skeleton.loin])
        if segment == "toes" and not self.toes:
            return f"foot_{self.side}", point + np.array([self.skeleton.ball, 0.0, -self.skeleton.depth])
        return f"{segment}_{self.side}", point

    def on_patella(self, name: str, place: Array) -> MovingPathPoint:
        """A point of the patella, which moves in the thigh as the knee bends."""
        knee, x, z, tilt = (
            np.array([float(row[key]) for row in _table("patella")]) for key in ("knee", "x", "z", "tilt")
        )
        c, s = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))
        moved = x / 1000 + c * place[0] - s * place[2], z / 1000 + s * place[0] + c * place[2]
        scale = self.scales["thigh"]
        angles = tuple(np.radians(knee))
        functions = (
            SimmSpline(angles, tuple(scale[0] * moved[0])),
            ConstantFunction(scale[1] * place[1] * self.out[1]),
            SimmSpline(angles, tuple(scale[2] * moved[1])),
        )
        knee_name = f"knee_{self.side}"
        return MovingPathPoint(name, f"thigh_{self.side}", functions, (knee_name, None, knee_name))

    def wrap(self, row: dict[str, str]) -> WrapObject:
        """A cylinder; its mirror image on the right has the axis z reversed, so that quadrants of x and y stay."""
        origin = np.array([float(x) / 1000 for x in row["origin"].split()])
        body, place = self.placed(row["segment"], origin)
        R = rpy_matrix([math.radians(float(x)) for x in row["rotation"].split()])
        across = self.scales[row["segment"]][0]
        if self.side == "r":
            R = np.diag(self.out) @ R @ np.diag([1.0, 1.0, -1.0])
        sizes = tuple(across * float(row[key]) / 1000 for key in ("radius", "length"))
        return WrapObject(f"{row['name']}_{self.side}", "cylinder", body, sizes, tuple(place), R, row["quadrant"])
