"""The XML part of reading URDF: the data of links and joints, checked, with line numbers.

Only the inertials of links and the joints are kept: meshes, transmissions, sensors and simulator extensions never reach
the model.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from .._base.types import ModelError, name_fault, repr_in_message, suggestion
from .xml import XmlElement, xml_tree

CHILDREN = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
"""Elements that are kept, by their parent element; leaves have no entry."""

PICTURES = ("visual", "collision", "material")
"""Elements that go without a word, because they do not change the motion."""

PRODUCTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ATTRIBUTES = {
    "robot": ("name",),
    "link": ("name",),
    "joint": ("name", "type"),
    "inertial": (),
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": PRODUCTS,
    "parent": ("link",),
    "child": ("link",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}
"""Attributes that are kept."""

REQUIRED_ATTRIBUTES = {
    "link": ("name",),
    "joint": ("name", "type"),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": PRODUCTS,
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
}
REQUIRED_CHILDREN = {"inertial": ("mass",), "joint": ("parent", "child")}
TEXTS = ("name", "type", "link", "joint")
"""Attributes that are not numbers."""
VECTORS = {"xyz": 3, "rpy": 3}
"""Attributes of several numbers."""
EXACT = ("origin", "axis", "mass", "inertia")
"""Elements in which an unknown attribute (a misspelling, a quaternion) would change the mechanism."""
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

REPAIRS = {"type": "fixed", "xyz": "1 0 0"}
"""Values in place of missing or unknown ones, in a file whose faults are collected."""

DEFAULTS = {
    "origin": {"xyz": "0 0 0", "rpy": "0 0 0"},
    "limit": {"lower": "0", "upper": "0", "effort": "inf", "velocity": "inf"},
    "dynamics": {"damping": "0", "friction": "0"},
    "mimic": {"multiplier": "1", "offset": "0"},
}
"""Attributes that elements leave out, as `load_urdf` documents."""
LARGEST_NUMBER = 1e50
"""No mass, length, angle or inertia is larger; products of such numbers stay finite."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
UNLIMITED = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
ZERO = "; write 0 for a product of inertia that vanishes"
XACRO = "expand the file with xacro first (`xacro robot.urdf.xacro > robot.urdf`)"


@dataclass
class UrdfTree:
    """Contents of a URDF that was read: its XML tree, and the line of every link and joint, for messages."""

    source: str
    root: Element
    lines: dict[tuple[str, str], int] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    """Kinds of other elements of robot, links and joints that are not read, and their numbers."""
    incomplete: bool = False
    """Whether joints were left out because of faults that the reader collects."""

    def robot(self) -> Any:
        """Its name, its links and its joints, as objects that `plain` describes."""
        links, joints = ([plain(one) for one in self.root.findall(tag)] for tag in ("link", "joint"))
        return SimpleNamespace(name=self.root.get("name"), links=links, joints=joints)

    def where(self, tag: str, name: str) -> str:
        """ "robot.urdf, line 12: joint 'knee'": the opening of a message."""
        return f"{self.source}, line {self.lines[tag, name]}: {tag} {repr_in_message(name)}"


def read_urdf_xml(text: str | bytes, source: str, faults: list[str] | None = None) -> UrdfTree:
    """The links' inertials and the joints of a URDF text, every number checked. `source` opens the messages.

    faults: a list that gets the message of every fault; what is wrong is then left out, or replaced by its default, and
    the reading goes on. Without it the first fault raises. Text that is no URDF raises in both cases.

    Raises ModelError, with the line, for: text that is empty, not XML, not a URDF, or holds a document
    type declaration or xacro; missing, misspelled or repeated parts; values that are not finite numbers.
    """
    return _Reader(source, faults).read(xml_tree(text, source))


def plain(element: Element) -> Any:
    """The data of an element that was read: numbers and texts by the names of its attributes and of the elements in it,
    None for those that are not given; of an element with one attribute its value."""
    keys = ATTRIBUTES[element.tag]
    values: dict[str, Any] = dict.fromkeys((*keys, *CHILDREN.get(element.tag, ())))
    for key, text in element.items():
        numbers = () if key in TEXTS else tuple(map(float, text.split()))
        values[key] = text if key in TEXTS else numbers if key in VECTORS else numbers[0]
    values |= {child.tag: plain(child) for child in element}
    return values[keys[0]] if len(values) == 1 else SimpleNamespace(**values)


class _Reader:
    """Builds the kept tree, and checks every element."""

    def __init__(self, source: str, faults: list[str] | None = None) -> None:
        self.faults = faults
        self.tree = UrdfTree(source, Element("robot"))
        self.open: list[Element] = []
        self.line = 0

    def read(self, root: XmlElement) -> UrdfTree:
        xacro = next((one for one in root.walk() if one.tag.startswith("xacro:")), None)
        if xacro is not None:
            raise ModelError(f"{xacro.place}: <{xacro.tag}> is xacro, not URDF; {XACRO}")
        if root.tag != "robot":
            raise ModelError(
                f"{root.place}: the outermost element is <{root.tag}>, expected <robot>; convert the file to URDF first"
            )
        self._read(root, self.tree.root)
        return self.tree

    def _read(self, given: XmlElement, element: Element) -> None:
        self.open.append(element)
        self.line = given.line
        self._take_attributes(element, given.attributes)
        for child in given:
            self.line = child.line
            if child.tag not in CHILDREN.get(given.tag, ()):
                self.tree.left[child.tag] += child.tag not in PICTURES
            elif child.tag not in ("link", "joint") and element.find(child.tag) is not None:
                self._fault(f"{self._what()}: a second <{child.tag}>; keep one")
            else:
                self._read(child, SubElement(element, child.tag))
        self.line = given.line
        for tag in REQUIRED_CHILDREN.get(given.tag, ()):
            if element.find(tag) is None:
                self._fault(f"{self._what()} has no <{tag}>; add one")
                self._leave_out()
        self.open.pop()

    def _fault(self, message: str) -> None:
        """Raises ModelError, or notes the message if the caller collects them: the code that follows then repairs."""
        message = f"{self.tree.source}, line {self.line}: {message}"
        if self.faults is None:
            raise ModelError(message)
        self.faults.append(message)

    def _take_attributes(self, element: Element, attributes: dict[str, str]) -> None:
        tag = element.tag
        for key in ATTRIBUTES[tag]:
            if key in attributes:
                element.set(key, attributes[key])
        if tag in ("link", "joint"):
            self._register(tag, attributes.get("name", ""))
        for key in REQUIRED_ATTRIBUTES.get(tag, ()):
            if not element.get(key) and key != "name":
                self._fault(f'{self._what()} has no {key}="..."; it needs one{ZERO * (tag == "inertia")}')
                element.set(key, REPAIRS.get(key, "0"))
                if key not in REPAIRS:
                    self._leave_out()
        unknown = [key for key in attributes if key not in ATTRIBUTES[tag]]
        if tag in EXACT and unknown:
            hint = suggestion(unknown[0], ATTRIBUTES[tag])
            self._fault(f"{self._what()}: unknown {unknown[0]}=\"...\", expected {', '.join(ATTRIBUTES[tag])}; "
                       f"correct or delete it{hint}")  # fmt: skip
        if tag == "joint" and element.get("type") not in JOINT_TYPES:
            known = ", ".join(JOINT_TYPES) + suggestion(element.get("type"), JOINT_TYPES)
            self._fault(f"{self._what()}: unknown type {repr_in_message(element.get('type'))}, expected one of {known}")
            element.set("type", REPAIRS["type"])
        for key, value in list(element.items()):
            if key not in TEXTS:
                self._check_numbers(element, key, value)
        for key, value in DEFAULTS.get(tag, {}).items():
            element.set(key, element.get(key, value))
        if tag == "limit" and not {"lower", "upper"} & {*attributes}:
            element.set("lower", "-inf")
            element.set("upper", "inf")
        if tag == "robot" and not element.get("name"):
            element.set("name", PurePath(self.tree.source).stem)

    def _register(self, tag: str, name: str) -> None:
        if not name.strip():
            self._fault(f"a <{tag}> without a name; give it a unique name")
            self._leave_out()
        elif fault := name_fault(name):
            self._fault(f"{tag} {repr_in_message(name)}: a name {fault}")
            self._leave_out()
        elif (tag, name) in self.tree.lines:
            first = self.tree.lines[tag, name]
            self._fault(
                f"{tag} {repr_in_message(name)} is already defined on line {first}; names must be unique, rename one"
            )
            self._leave_out()
        else:
            self.tree.lines[tag, name] = self.line

    def _check_numbers(self, element: Element, key: str, text: str) -> None:
        wrong = self._wrong_numbers(key, text, limit=element.tag == "limit")
        if not wrong:
            return
        self._fault(f"{self._what()}: {key}={repr_in_message(text)}{wrong}")
        if element.tag in ("mass", "inertia"):
            element.set(key, "0")
            self._leave_out()
        elif key in VECTORS:
            element.set(key, REPAIRS["xyz"] if element.tag == "axis" else "0 0 0")
        else:
            del element.attrib[key]

    def _wrong_numbers(self, key: str, text: str, limit: bool) -> str:
        """The fault of the numbers of an attribute; empty if there is none."""
        words, expected = text.split(), VECTORS.get(key, 1)
        count = "one number" if expected == 1 else f"{expected} numbers"
        if len(words) != expected:
            return f" has {len(words)} values, expected {count}"
        for word in words:
            if limit and UNLIMITED.fullmatch(word):
                continue
            if not NUMBER.fullmatch(word):
                hint = f"; {XACRO}" if "$" in text else "; correct it"
                return f" is not {count}: got {repr_in_message(word)}, expected a finite decimal number{hint}"
            if not limit and abs(float(word)) > LARGEST_NUMBER:
                return f": {repr_in_message(word)} is larger than {LARGEST_NUMBER:g}, no physical value; correct it"
        return ""

    def _leave_out(self) -> None:
        """Removes what cannot be repaired from the tree: the inertial of a link, a mimic, a link or a whole joint."""
        depth = 2 if len(self.open) > 2 and self.open[2].tag in ("inertial", "mimic") else 1
        element, parent = self.open[depth], self.open[depth - 1]
        if element in list(parent):
            parent.remove(element)
        self.tree.incomplete |= depth == 1

    def _what(self) -> str:
        """ "joint 'knee' <limit>": the element being read."""
        inner = "".join(f" <{e.tag}>" for e in self.open[2:])
        return f"{self.open[1].tag} {repr_in_message(self.open[1].get('name', ''))}{inner}"
