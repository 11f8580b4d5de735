"""The kinematic tree of an MJCF file: bodies with their joints, shapes and sites, in the order of MuJoCo's numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._base.types import repr_in_message, suggestion
from ...spatial_algebra.poses import Pose, euler, z_towards
from ..xml import XmlElement
from .elements import GeomData, InertiaData, JointData, read_geom, read_inertial, read_joint
from .poses import pose_of
from .settings import Classes, Settings
from .values import Values
from .vocabulary import check_attributes

HOLDS = ("body", "frame", "replicate", "joint", "freejoint", "inertial", "geom", "site", "camera", "light")
"""Elements inside a body, a frame or a `<replicate>` that are read or have no effect on the motion."""
REFUSED = {
    "attach": "the attached model is a file of its own: attach it by model.attached_to(...) of two loaded models",
    "composite": "it stands for many bodies, and MuJoCo 4 has none: write them out",
    "flexcomp": "deformable bodies have no counterpart here: delete it to load the rigid bodies",
    "plugin": "its forces are computed by code that the file does not contain: delete it to load the model without",
}
MOST_REPLICAS = 100_000


@dataclass
class SiteData:
    name: str
    pose: Pose
    element: XmlElement


@dataclass
class BodyData:
    """A body: its parent's number, its pose in the parent, and what is fixed to it. Number 0 is the world."""

    name: str
    parent: int
    pose: Pose
    element: XmlElement
    joints: list[JointData] = field(default_factory=list)
    geoms: list[GeomData] = field(default_factory=list)
    sites: list[SiteData] = field(default_factory=list)
    inertial: InertiaData | None = None
    mocap: bool = False
    support: float = 0.0
    """Share of the weight that is held up."""


class Place:
    """The place of an element: its body, the frame around it in this body, the class and the suffix of names."""

    def __init__(self, body: int, frame: Pose, child_class: str, suffix: str) -> None:
        self.body, self.frame, self.child_class, self.suffix = body, frame, child_class, suffix


class TreeReader:
    """Reads `<worldbody>`; names are unique per kind, and elements without one get a name."""

    def __init__(self, root: XmlElement, settings: Settings, classes: Classes) -> None:
        self.settings, self.classes = settings, classes
        self.bodies = [BodyData("world", -1, Pose(), root)]
        self.names: dict[str, dict[str, XmlElement]] = {kind: {} for kind in ("body", "joint", "site", "geom")}
        self.replicas = 0
        for section in root.all("worldbody"):
            self._children(section, Place(0, Pose(), "", ""))
        self._name_joints()

    def _children(self, element: XmlElement, place: Place) -> None:
        for child in element:
            if child.tag in REFUSED:
                raise child.fault(f"it is not read: {REFUSED[child.tag]}")
            if child.tag not in HOLDS:
                raise child.fault(
                    f"<{element.tag}> holds no such element; known are {', '.join(HOLDS)}{suggestion(child.tag, HOLDS)}"
                )
            check_attributes(child)
            read = getattr(self, f"_{child.tag}", None)
            if read is not None:
                read(child, place)

    def _named(self, kind: str, element: XmlElement, place: Place) -> str:
        """The name of an element, which no other of its kind has; empty if it has none."""
        name = element.get("name")
        if not name:
            return ""
        name += place.suffix
        first = self.names[kind].setdefault(name, element)
        if first is not element or (name == "world" and kind == "body"):
            taken = "the ground" if name == "world" else f"the one of line {first.line}"
            raise element.fault(
                f"the name {repr_in_message(name)} is taken by {taken}; names must be unique, rename it"
            )
        return name

    def _class_inside(self, element: XmlElement, place: Place) -> str:
        own = element.get("childclass")
        return self.classes.check(element, own) if own else place.child_class

    def _body(self, element: XmlElement, place: Place) -> None:
        values = Values(element)
        name = self._named("body", element, place)
        number = len(self.bodies)
        body = BodyData(name, place.body, place.frame @ pose_of(values, self.settings.angles), element)
        body.mocap, body.support = values.switch("mocap"), values.number("gravcomp")
        self.bodies.append(body)
        self._children(element, Place(number, Pose(), self._class_inside(element, place), place.suffix))
        if body.mocap and (place.body or body.joints):
            raise element.fault("a mocap body hangs on the world, and has no joints")

    def _frame(self, element: XmlElement, place: Place) -> None:
        inner = place.frame @ pose_of(Values(element), self.settings.angles)
        self._children(element, Place(place.body, inner, self._class_inside(element, place), place.suffix))

    def _replicate(self, element: XmlElement, place: Place) -> None:
        """Copies of the children: copy k is turned by k times the angles, and shifted by the offset in the frame of the
        one before. Names get the number of the copy."""
        values = Values(element)
        if "count" not in values:
            raise element.fault('it has no count="..."; it needs one')
        count = values.whole("count", 1, 1, MOST_REPLICAS)
        angles, sequence = self.settings.angles.unit * values.vector("euler"), self.settings.angles.sequence
        offset, p, digits = values.vector("offset"), np.zeros(3), len(str(count))
        joint = next((child for child in element if child.tag in ("joint", "freejoint")), None)
        if joint is not None:
            raise joint.fault("a <replicate> holds no joints; wrap them in a <body>")
        self.replicas += count
        if self.replicas > MOST_REPLICAS:
            raise element.fault(f"more than {MOST_REPLICAS} copies in all; a model has fewer")
        for k in range(count):
            suffix = f"{values.text('sep')}{k:0{digits}d}{place.suffix}"
            copy = Pose(euler(k * angles, sequence), p)
            self._children(element, Place(place.body, place.frame @ copy, place.child_class, suffix))
            p = p + copy.R @ offset

    def _joint(self, element: XmlElement, place: Place) -> None:
        values = self.classes.of(element, place.child_class)
        self._add_joint(read_joint(values, self.settings, place.frame, self._named("joint", element, place)), place)

    def _freejoint(self, element: XmlElement, place: Place) -> None:
        if Values(element).word("align", ("true", "false", "auto"), "auto") == "true":
            raise element.fault(
                'align="true" moves the frame of the body to its inertial frame, which is not read: delete it, or save '
                "the compiled model by MuJoCo and load that"
            )
        plain = Values(XmlElement("joint", {"type": "free"}, element.line, element.source))
        self._add_joint(read_joint(plain, self.settings, place.frame, self._named("joint", element, place)), place)

    def _add_joint(self, joint: JointData, place: Place) -> None:
        body = self.bodies[place.body]
        if not place.body:
            raise joint.element.fault("the world has no joints; put it into a <body>")
        kinds = [other.kind for other in body.joints]
        if (joint.kind == "free" and (body.parent or kinds)) or "free" in kinds:
            raise joint.element.fault("a free joint is the only one of its body, which hangs on the world")
        if joint.kind in ("hinge", "ball") and "ball" in kinds:
            raise joint.element.fault("a ball joint is the last joint of its body that turns it")
        body.joints.append(joint)

    def _inertial(self, element: XmlElement, place: Place) -> None:
        body = self.bodies[place.body]
        if not place.body or body.inertial is not None:
            raise element.fault("the world has no inertia" if not place.body else "a second <inertial>; keep one")
        body.inertial = read_inertial(Values(element), self.settings, place.frame)

    def _geom(self, element: XmlElement, place: Place) -> None:
        if any(child.tag == "plugin" for child in element) and self.classes.of(element).text("type") != "sdf":
            raise element.fault(f"its plugin is not read: {REFUSED['plugin']}")
        values = self.classes.of(element, place.child_class)
        geom = read_geom(values, self.settings, place.frame, self._named("geom", element, place))
        self.bodies[place.body].geoms.append(geom)

    def _site(self, element: XmlElement, place: Place) -> None:
        values = self.classes.of(element, place.child_class)
        name = self._named("site", element, place)
        if "fromto" in values:
            first, second = np.split(values.numbers("fromto", 6), 2)
            way = first - second
            if not way.any():
                raise element.fault("fromto gives two equal points, which have no direction")
            pose = Pose(z_towards(way / np.linalg.norm(way)), (first + second) / 2)
        else:
            pose = pose_of(values, self.settings.angles)
        if name:
            self.bodies[place.body].sites.append(SiteData(name, place.frame @ pose, element))

    def _name_joints(self) -> None:
        """Names of bodies and joints that have none: "body3" by its number, "body3_joint", "body3_joint2"."""
        for number, body in enumerate(self.bodies[1:], 1):
            body.name = body.name or self._free_name("body", f"body{number}", body.element)
            for k, joint in enumerate(body.joints):
                ending = "_joint" if not k else f"_joint{k + 1}"
                joint.name = joint.name or self._free_name("joint", body.name + ending, joint.element)

    def _free_name(self, kind: str, wanted: str, element: XmlElement) -> str:
        while wanted in self.names[kind]:
            wanted += "_"
        self.names[kind][wanted] = element
        return wanted
