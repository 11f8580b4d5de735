"""A human body of 40 rigid bodies on revolute joints, for benchmarks of formulations [GJB94, section 8.4.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.types import Array
from ..joints import FloatingBase, Revolute
from ..mechanism import Model
from ..mechanism.builder import WORLD, ModelBuilder
from .anthropometry import MASS, STATURE, HumanDimensions, SegmentBody, Sex, human_dimensions, segment_bodies

LINK_SHARE = 0.05
"""Share of a segment's mass in each of the first links of its joint: tissue that follows only a part of its turns."""

ULNA_SHARE = 0.5
"""Share of the forearm that does not turn with the hand."""

TALUS_SHARE, TOES_SHARE, NECK_SHARE, GIRDLE_SHARE = 0.15, 0.1, 0.1, 0.08
"""Shares of the foot in the talus and in the toes, of head and neck in the neck (half of it each), of the upper trunk
in the collarbone and shoulder blade of one side."""

THICKNESS = {"neck": 0.033, "girdle": 0.025, "toes": 0.01}
"""Radii of the parts that are taken from the tables' segments, as cylinders, of stature."""


@dataclass(frozen=True)
class MassPart:
    """Mass [kg], center of mass [m] and inertia about it [kg m^2] in axes of the world at q = 0."""

    mass: float
    com: Array
    inertia: Array

    def share(self, part: float) -> MassPart:
        """A part with the same center of mass and radii of gyration."""
        return MassPart(part * self.mass, self.com, part * self.inertia)

    def moved(self, by: Array) -> MassPart:
        return MassPart(self.mass, self.com + by, self.inertia)

    def without(self, *parts: MassPart) -> MassPart:
        """The rest, such that together with the parts it has this mass, center of mass and inertia."""
        mass = self.mass - sum(p.mass for p in parts)
        com = (self.mass * self.com - sum(p.mass * p.com for p in parts)) / mass
        rest = self._about_origin() - sum(p._about_origin() for p in parts)
        return MassPart(mass, com, rest - mass * _spread(com))

    def _about_origin(self) -> Array:
        return np.asarray(self.inertia + self.mass * _spread(self.com))


def human_body(mass: float = MASS["male"], height: float = STATURE["male"], sex: Sex = "male") -> Model:
    """A human of body mass [kg] and stature [m]: 40 bodies, 45 dofs, a floating pelvis and 39 revolute joints.

    The number of bodies, of dofs and the kind of the joints are those of [GJB94], figure 8.19; the book gives no
    sizes. Sizes and masses here are those of `human`, see `ocp_dyn.models.anthropometry`. Axes, `neutral()` and signs
    are as in `human` too: x forward, y to the left, z up; standing upright with hanging arms at q = 0. Joints are
    called by axis and side, `hip_y_l`, `hip_x_l`, `hip_z_l`; all axes are along +x, +y or +z on both sides.

    | bodies | joints |
    |---|---|
    | `pelvis` | `root`, floating |
    | `lumbar_1`, `lumbar_2`, `abdomen` | `lumbar_y`, `lumbar_x`, `lumbar_z` |
    | `thorax` | `thorax_y` |
    | `neck_1`, `neck_2`, `skull` | `neck_y`, `neck_x`, and `atlas_z` above them |
    | `clavicle_l`, `scapula_l` | `clavicle_x_l` (lifts the shoulder), `clavicle_z_l` |
    | `shoulder_1_l`, `shoulder_2_l`, `upper_arm_l` | `shoulder_y_l`, `shoulder_x_l`, `shoulder_z_l` |
    | `ulna_l`, `radius_l` | `elbow_y_l`, `forearm_z_l` |
    | `carpus_l`, `hand_l` | `wrist_x_l`, `wrist_y_l` |
    | `hip_1_l`, `hip_2_l`, `thigh_l` | `hip_y_l`, `hip_x_l`, `hip_z_l` |
    | `shank_l` | `knee_y_l` |
    | `talus_l`, `foot_l`, `toes_l` | `ankle_y_l`, `subtalar_x_l`, `toes_y_l` |

    and the same on the right, `_r`. Every body has mass and a positive definite inertia. The links of a joint of
    several axes are shares of the segment that they carry (`LINK_SHARE`), neck, shoulder girdle and toes are
    cylinders; all shares are assumed. At q = 0 the bodies of one segment together have the mass, center of mass and
    inertia of the tables. No limits, springs or damping.

    Frames: `head` (vertex), `fingertip_l`, `heel_l`, `toe_l` and the same on the right. `ValueError` as in `human`.

    >>> body = od.models.human_body()
    >>> body.nb, body.nv
    (40, 45)
    """
    size, bodies = human_dimensions(height, sex), segment_bodies(mass, height, sex)
    body = _Body(ModelBuilder(f"human_body_{sex}"), size, bodies)
    body.trunk()
    for side in "lr":
        body.leg(side)
    for side in "lr":
        body.arm(side)
    return body.builder.build()


class _Body:
    """The human body under construction."""

    def __init__(self, builder: ModelBuilder, size: HumanDimensions, bodies: dict[str, SegmentBody]) -> None:
        self.builder, self.size, self.bodies = builder, size, bodies

    def trunk(self) -> None:
        size = self.size
        pelvis = self.segment("lower_trunk", size.lower_trunk)
        self.builder.add_body(
            "pelvis", FloatingBase(), WORLD, joint_name="root",
            mass=pelvis.mass, com=pelvis.com, inertia=pelvis.inertia,
        )  # fmt: skip
        self.chain(("lumbar_1", "lumbar_2", "abdomen"), ("lumbar_y", "lumbar_x", "lumbar_z"), "pelvis",
                   (0.0, 0.0, size.lower_trunk), self.segment("middle_trunk", size.middle_trunk))  # fmt: skip
        upper = self.segment("upper_trunk", size.upper_trunk)
        girdles = [self.girdle(upper, out) for out in (1.0, -1.0)]
        thorax = upper.without(*girdles)
        self.add("thorax", "thorax_y", "abdomen", (0.0, 0.0, size.middle_trunk), thorax)
        gap, top = size.neck_gap, size.neck_gap + size.head
        head = self.segment("head", top)
        neck = [
            self.cylinder(head, NECK_SHARE / 2, (0, 0, k * gap / 2), (0, 0, (k + 1) * gap / 2), "neck") for k in (0, 1)
        ]
        self.add("neck_1", "neck_y", "thorax", (0.0, 0.0, size.upper_trunk), neck[0])
        self.add("neck_2", "neck_x", "neck_1", (0.0, 0.0, gap / 2), neck[1].moved(np.array([0, 0, -gap / 2])))
        skull = head.without(*neck).moved(np.array([0.0, 0.0, -gap]))
        self.add("skull", "atlas_z", "neck_2", (0.0, 0.0, gap / 2), skull)
        self.builder.add_frame("head", "skull", (0.0, 0.0, size.head))

    def arm(self, side: str) -> None:
        size, out = self.size, 1.0 if side == "l" else -1.0
        sternum, shoulder = self.shoulder(out)
        girdle = self.girdle(self.segment("upper_trunk", size.upper_trunk), out).moved(-sternum)
        self.chain(("clavicle", "scapula"), ("clavicle_x", "clavicle_z"), "thorax", sternum, girdle, side, 0.25)
        self.chain(("shoulder_1", "shoulder_2", "upper_arm"), ("shoulder_y", "shoulder_x", "shoulder_z"),
                   f"scapula_{side}", shoulder - sternum, self.segment("upper_arm"), side)  # fmt: skip
        self.chain(("ulna", "radius"), ("elbow_y", "forearm_z"), f"upper_arm_{side}", (0.0, 0.0, -size.upper_arm),
                   self.segment("forearm"), side, ULNA_SHARE)  # fmt: skip
        self.chain(("carpus", "hand"), ("wrist_x", "wrist_y"), f"radius_{side}", (0.0, 0.0, -size.forearm),
                   self.segment("hand"), side, 2 * LINK_SHARE)  # fmt: skip
        self.builder.add_frame(f"fingertip_{side}", f"hand_{side}", (0.0, 0.0, -size.hand))

    def leg(self, side: str) -> None:
        size, out = self.size, 1.0 if side == "l" else -1.0
        self.chain(("hip_1", "hip_2", "thigh"), ("hip_y", "hip_x", "hip_z"), "pelvis",
                   (0.0, out * size.hip_spacing / 2, 0.0), self.segment("thigh"), side)  # fmt: skip
        self.add(f"shank_{side}", f"knee_y_{side}", f"thigh_{side}", (0.0, 0.0, -size.thigh), self.segment("shank"))
        foot, toes, joint = foot_and_toes(size, self.bodies["foot"])
        self.chain(("talus", "foot"), ("ankle_y", "subtalar_x"), f"shank_{side}", (0.0, 0.0, -size.shank),
                   foot, side, TALUS_SHARE)  # fmt: skip
        self.add(f"toes_{side}", f"toes_y_{side}", f"foot_{side}", joint, toes)
        self.builder.add_frame(f"heel_{side}", f"foot_{side}", (-size.heel, 0.0, -size.ankle_height))
        tip = np.array([size.toe, 0.0, -size.ankle_height]) - joint
        self.builder.add_frame(f"toe_{side}", f"toes_{side}", tip)

    def chain(
        self,
        names: tuple[str, ...],
        joints: tuple[str, ...],
        parent: str,
        origin: tuple[float, float, float] | Array,
        whole: MassPart,
        side: str = "",
        share: float = LINK_SHARE,
    ) -> None:
        """Bodies on joints that meet in one point: all but the last have a share each of the whole."""
        end = f"_{side}" if side else ""
        for k, (name, joint) in enumerate(zip(names, joints, strict=True)):
            part = share if k < len(names) - 1 else 1 - share * k
            self.add(name + end, joint + end, parent, origin if k == 0 else (0.0, 0.0, 0.0), whole.share(part))
            parent = name + end

    def add(
        self, name: str, joint: str, parent: str, origin: tuple[float, float, float] | Array, body: MassPart
    ) -> None:
        """A body on a revolute joint; the name of the joint holds its axis: hip_y_l."""
        axis = next(part for part in joint.split("_") if part in ("x", "y", "z"))
        self.builder.add_body(
            name, Revolute(axis), parent, joint_name=joint, origin=origin,
            mass=body.mass, com=body.com, inertia=body.inertia,
        )  # fmt: skip

    def segment(self, name: str, top: float = 0.0) -> MassPart:
        """A vertical segment of the tables, whose first end point is at height `top` above the origin."""
        body = self.bodies[name]
        inertia = np.diag([body.sagittal, body.transverse, body.longitudinal])
        return MassPart(body.mass, np.array([0.0, 0.0, top - body.com]), inertia)

    def shoulder(self, out: float) -> tuple[Array, Array]:
        """Joints of the collarbone with the breastbone and of the arm, from the thorax's origin."""
        size = self.size
        height = size.shoulder_height - size.lumbar_height - size.middle_trunk
        y = out * size.shoulder_width / 2
        return np.array([0.0, 0.15 * y, height]), np.array([0.0, y, height])

    def girdle(self, upper: MassPart, out: float) -> MassPart:
        """Collarbone and shoulder blade of one side, a cylinder from breastbone to shoulder."""
        return self.cylinder(upper, GIRDLE_SHARE, *self.shoulder(out), "girdle")

    def cylinder(self, whole: MassPart, share: float, start: object, end: object, part: str) -> MassPart:
        """A uniform cylinder between two points with a share of the whole's mass."""
        return _cylinder(share * whole.mass, start, end, THICKNESS[part] * self.size.height)


def whole_foot(size: HumanDimensions, body: SegmentBody) -> MassPart:
    """Foot with toes, from the ankle. The foot's long axis, heel to toe, is x; then its sagittal axis, at right angles
    to it and to y, is z."""
    com = np.array([body.com - size.heel, 0.0, -size.ankle_height / 2])
    return MassPart(body.mass, com, np.diag([body.longitudinal, body.transverse, body.sagittal]))


def foot_and_toes(size: HumanDimensions, body: SegmentBody) -> tuple[MassPart, MassPart, Array]:
    """(foot, from the ankle; toes, from their joint; place of this joint from the ankle [m]).

    The toes are a cylinder that lies on the ground, with a share of the foot's mass and the joint at its end on its
    axis. Both together have the mass, center of mass and inertia of the whole foot.
    """
    whole = whole_foot(size, body)
    radius = THICKNESS["toes"] * size.height
    joint = np.array([size.ball, 0.0, radius - size.ankle_height])
    toes = _cylinder(TOES_SHARE * whole.mass, joint, np.array([size.toe, 0.0, joint[2]]), radius)
    return whole.without(toes), toes.moved(-joint), joint


def _cylinder(mass: float, start: object, end: object, radius: float) -> MassPart:
    """A uniform cylinder between two points."""
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    along, across = b - a, mass * radius**2 / 4
    direction = along / np.linalg.norm(along)
    inertia = across * np.eye(3) + across * np.outer(direction, direction) + mass / 12 * _spread(along)
    return MassPart(mass, (a + b) / 2, inertia)


def _spread(r: Array) -> Array:
    """|r|^2 1 - r r': the inertia of a unit mass at r."""
    return np.asarray(r @ r * np.eye(3) - np.outer(r, r))
