"""A whole human body in three dimensions, of any mass, stature and sex."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.types import Array, repr_in_message, truth
from ..joints import Euler, Fixed, FloatingBase, Joint, Revolute
from ..mechanism import Model
from ..mechanism.builder import WORLD, ModelBuilder
from .anthropometry import MASS, STATURE, HumanDimensions, SegmentBody, Sex, human_dimensions, segment_bodies
from .human_body import foot_and_toes, whole_foot
from .joint_limits import joint_limits, strengths
from .musculature.fitted import with_musculature
from .passive_tissue import JOINT_DAMPING, TOE_DAMPING, TOE_STIFFNESS, passive_tissue

_FLOATING = FloatingBase()


def human(
    mass: float = MASS["male"],
    height: float = STATURE["male"],
    sex: Sex = "male",
    root: Joint = _FLOATING,
    tissue: bool = True,
    toes: bool = False,
    muscles: bool = False,
) -> Model:
    """A human of body mass [kg] and stature [m]: 14 bodies, 29 dofs with a floating base.

    x forward, y to the left, z up. At `neutral()` the body stands upright with hanging arms and flat feet; every body
    and joint frame has the world's axes. The pelvis' origin is midway between the hip joints, above the soles by
    `human_dimensions(height, sex).leg_length`: that is the z of the root when standing. Positive rotations; on the
    right the signs about x and z are the other way round, about y the same, so that the mirror image of a pose changes
    sides and the signs of the x and z rotations:

    | joint (order of its entries) | about y | about x, left | about z, left | limits about y, x, z [degrees] |
    |---|---|---|---|---|
    | `lumbar` (y, x, z) | flexion | bend to the RIGHT | turn to the left | -25..80, -35..35, -45..45 |
    | `hip_l` (y, x, z) | extension | abduction | external rotation | -120..30, -30..45, -45..45 |
    | `knee_l` (y) | flexion | | | 0..135 |
    | `ankle_l` (y) | plantar flexion | | | -30..50 |
    | `subtalar_l` (x) | | eversion | | -35..15 |
    | `shoulder_l` (y, x, z) | extension | abduction | external rotation | -180..60, -30..80, -70..90 |
    | `elbow_l` (y) | extension | | | -150..0 |
    | `toes_l` (y), if `toes` | flexion | | | -70..45 |

    So flexion of hip, shoulder and elbow, dorsiflexion and extension of the toes are negative. Three-dof joints are
    `Euler("yxz")`: flexion first, then abduction, then axial rotation, singular at 90 degrees of abduction.
    Bodies: `pelvis` (lower trunk), `torso` (middle and upper trunk, head), and on each side `thigh`, `shank`, `talus`
    (massless), `foot`, `upper_arm`, `forearm` (with the hand), as `thigh_l`, `thigh_r`. The lumbar joint is at the
    omphalion, where the tables cut the trunk, at about the third and fourth lumbar vertebrae. Ankle and subtalar axes
    meet in the ankle's center. The joint of `root` is called `root`. Frames beside the bodies: `heel_l`, `toe_l` (ends
    of the midline of the sole), `sole_l` (midway between), `hand_l` (wrist), `fingertip_l` (third metacarpal's head),
    `head` (vertex), `upper_trunk` (suprasternale), `seat` (under a sitting pelvis), and those of the right side.

    Masses add up to `mass` and the lengths from sole to vertex to `height`. Sizes, inertias and limits and their
    sources: `ocp_dyn.models.anthropometry` and `joint_limits`. Assumed: all centers of mass but the feet's lie on the
    straight line between their joints; the foot's is halfway from ankle to sole; legs are vertical. Torque limits
    differ between both directions; `human_strength_curves` tells how they fall with angle and speed.

    tissue: joints have damping and the passive torques of muscles at rest and ligaments (`passive_tissue`), which count
    where `loads.passive` is set, as optimal control does. False: joints turn freely in their ranges.
    toes: bodies `toes_l`, `toes_r` on joints of these names, `HumanDimensions.ball` ahead of the ankle: 16 bodies, 31
    dofs. Straight toes leave the foot's inertia as it is. The frames `toe_l`, `toe_r` move with them. With `tissue`
    each joint has a spring and damping, which stand for tendons and ligaments of the sole, and a stop.
    muscles: 86 of legs and trunk, `model.muscles`, as `models/musculature` tells; stops replace torques at rest.
    root: the joint between world and pelvis, by default `FloatingBase()` (`Fixed()`: the pelvis is held).

    ValueError for another sex, a mass outside 20..250 kg or a height outside 1.0..2.3 m; TypeError for a wrong root.

    >>> human = od.models.human(mass=60, height=1.65, sex="female")
    >>> round(human.mass, 6), human.nv
    (60.0, 29)
    """
    if not isinstance(root, Joint):
        raise TypeError(f"human: root must be a joint such as FloatingBase() or Fixed(), got {repr_in_message(root)}")
    options = (truth(value, name) for value, name in ((tissue, "tissue"), (toes, "toes"), (muscles, "muscles")))
    return _built(mass, height, sex, root, *options)


def _built(mass: float, height: float, sex: Sex, root: Joint, tissue: bool, toes: bool, muscles: bool) -> Model:
    size, bodies = human_dimensions(height, sex), segment_bodies(mass, height, sex)
    damping = JOINT_DAMPING if tissue else 0.0
    sole = _sole(mass, height, tissue) if toes else None
    figure = BodyFigure(ModelBuilder(f"human_{sex}"), size, bodies, strengths(mass, height, sex), damping, sole)
    model = figure.build(root)
    if tissue:
        model = model.with_passive(passive_tissue(mass, height, sex, "toes" if toes else "", muscles=muscles))
    return with_musculature(model, size, mass) if muscles else model


def _sole(mass: float, height: float, tissue: bool) -> dict[str, float]:
    """Spring and damping of a toe joint, in the sizes of `passive_tissue`."""
    built = mass * height / (MASS["male"] * STATURE["male"]) if tissue else 0.0
    return {"stiffness": TOE_STIFFNESS * built, "damping": TOE_DAMPING * built}


class BodyFigure:
    """The body under construction."""

    def __init__(
        self,
        builder: ModelBuilder,
        size: HumanDimensions,
        bodies: dict[str, SegmentBody],
        strength: dict[str, tuple[tuple[float, float], ...]],
        damping: float,
        toes: dict[str, float] | None,
    ) -> None:
        self.builder, self.size, self.bodies, self.strength = builder, size, bodies, strength
        self.damping, self.toes = damping, toes

    def build(self, root: Joint) -> Model:
        """The model: trunk, then both legs, then both arms; this is the order of the dofs."""
        self.trunk(root)
        for side in "lr":
            self.leg(side)
        for side in "lr":
            self.arm(side)
        return self.builder.build()

    def trunk(self, root: Joint) -> None:
        size = self.size
        self.add("lower_trunk", "pelvis", WORLD, (0.0, 0.0, 0.0), root, top=size.lower_trunk)
        self.hinge("lumbar", "yxz", "middle_trunk", "torso", "pelvis", (0.0, 0.0, size.lower_trunk),
                   top=size.middle_trunk)  # fmt: skip
        self.builder.add_frame("seat", "pelvis", (0.0, 0.0, -size.seat_depth))
        suprasternale = size.middle_trunk + size.upper_trunk
        self.add("upper_trunk", "upper_trunk", "torso", (0.0, 0.0, suprasternale), Fixed())
        self.add("head", "head", "torso", (0.0, 0.0, size.height - size.lumbar_height), Fixed())

    def leg(self, side: str) -> None:
        size, out = self.size, 1.0 if side == "l" else -1.0
        self.hinge("hip", "yxz", "thigh", "thigh", "pelvis", (0.0, out * size.hip_spacing / 2, 0.0), side)
        self.hinge("knee", "y", "shank", "shank", f"thigh_{side}", (0.0, 0.0, -size.thigh), side)
        self.hinge("ankle", "y", None, "talus", f"shank_{side}", (0.0, 0.0, -size.shank), side)
        self.hinge("subtalar", "x", "foot", "foot", f"talus_{side}", (0.0, 0.0, 0.0), side)
        for name, x in (("heel", -size.heel), ("sole", (size.toe - size.heel) / 2)):
            self.builder.add_frame(f"{name}_{side}", f"foot_{side}", (x, 0.0, -size.ankle_height))
        tip = np.array([size.toe, 0.0, -size.ankle_height])
        if self.toes is not None:
            tip = tip - self.add_toes(side)
        self.builder.add_frame(f"toe_{side}", f"foot_{side}" if self.toes is None else f"toes_{side}", tip)

    def add_toes(self, side: str) -> Array:
        """The toes of a side; returns the place of their joint, from the ankle."""
        _, toes, joint = foot_and_toes(self.size, self.bodies["foot"])
        options = joint_limits("toes", "y", side, self.strength)._asdict() | (self.toes or {})
        self.builder.add_body(
            f"toes_{side}", Revolute("y"), f"foot_{side}", joint_name=f"toes_{side}", origin=joint, mass=toes.mass,
            com=toes.com, inertia=toes.inertia, **options,
        )  # fmt: skip
        return joint

    def arm(self, side: str) -> None:
        size, out = self.size, 1.0 if side == "l" else -1.0
        shoulder = (0.0, out * size.shoulder_width / 2, size.shoulder_height - size.lumbar_height)
        self.hinge("shoulder", "yxz", "upper_arm", "upper_arm", "torso", shoulder, side)
        self.hinge("elbow", "y", "forearm", "forearm", f"upper_arm_{side}", (0.0, 0.0, -size.upper_arm), side)
        self.add("hand", f"hand_{side}", f"forearm_{side}", (0.0, 0.0, -size.forearm), Fixed())
        self.builder.add_frame(f"fingertip_{side}", f"hand_{side}", (0.0, 0.0, -size.hand))

    def hinge(
        self,
        joint: str,
        axes: str,
        segment: str | None,
        name: str,
        parent: str,
        origin: tuple[float, float, float],
        side: str = "",
        top: float = 0.0,
    ) -> None:
        """A body on a joint with the limits of the literature; names get the side."""
        suffix = f"_{side}" if side else ""
        limits = joint_limits(joint, axes, side, self.strength)
        kind = Euler(axes) if len(axes) == 3 else Revolute(axes)
        self.add(segment, name + suffix, parent, origin, kind, joint + suffix, top,
                 limits._asdict() | {"damping": self.damping})  # fmt: skip

    def add(
        self,
        segment: str | None,
        name: str,
        parent: str,
        origin: tuple[float, float, float],
        joint: Joint,
        joint_name: str | None = None,
        top: float = 0.0,
        limits: dict[str, Any] | None = None,
    ) -> None:
        """A body with the mass and inertia of a segment (None: massless).

        top: height of the segment's first end point, from which the tables measure, above the origin.
        """
        mass: float = 0.0
        com: Any = (0.0, 0.0, 0.0)
        inertia: Any = (0.0, 0.0, 0.0)
        if segment == "foot":
            whole = self.bodies["foot"]
            part = whole_foot(self.size, whole) if self.toes is None else foot_and_toes(self.size, whole)[0]
            mass, com, inertia = part.mass, part.com, part.inertia
        elif segment is not None:
            body = self.bodies[segment]
            mass, com = body.mass, (0.0, 0.0, top - body.com)
            inertia = (body.sagittal, body.transverse, body.longitudinal)
        if parent == WORLD and not isinstance(joint, FloatingBase):
            joint_name = "root"
        self.builder.add_body(
            name, joint, parent, joint_name=joint_name, origin=origin, mass=mass, com=com, inertia=inertia,
            **(limits or {}),
        )  # fmt: skip
