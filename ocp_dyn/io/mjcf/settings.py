"""`<compiler>`, `<option>` and `<default>`: what holds for a whole MJCF file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..._base.types import repr_in_message, suggestion
from ..xml import XmlElement
from .poses import Angles
from .values import Values
from .vocabulary import check_attributes

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor", "plugin",
)  # fmt: skip
COMPILER = (
    "angle", "eulerseq", "autolimits", "inertiafromgeom", "inertiagrouprange", "balanceinertia", "boundmass",
    "boundinertia", "settotalmass", "coordinate", "alignfree", "fusestatic", "discardvisual", "meshdir", "texturedir",
    "assetdir", "strippath", "fitaabb", "usethread", "convexhull", "exactmeshinertia", "saveinertial", "savecompiled",
    "savecanonical", "conflict", "passthrough",
)  # fmt: skip
DEFAULTS = {"tendon": "tendon", "equality": "default equality"}
"""Under which the attributes of an element of a default class are listed, where it is not its tag."""
OFF = ("constraint", "equality", "spring", "damper", "gravity", "passive")
"""Flags of `<option><flag>` that change the equation of motion if they are disabled."""


@dataclass
class Settings:
    """Contents of `<compiler>` and `<option>`, as far as the motion depends on it."""

    angles: Angles = field(default_factory=Angles)
    autolimits: bool = True
    inertia_from_geom: str = "auto"
    groups: tuple[float, float] = (0, 5)
    balance: bool = False
    bound_mass: float = 0.0
    bound_inertia: float = 0.0
    total_mass: float = -1.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    off: frozenset[str] = frozenset()
    """Flags that are disabled."""


def read_settings(root: XmlElement) -> Settings:
    """The settings of a file; later sections override the attributes of earlier ones."""
    settings = Settings()
    _compiler(settings, _merged(root, "compiler"))
    _option(settings, _merged(root, "option"), root)
    return settings


def _merged(root: XmlElement, tag: str) -> Values:
    """The attributes of all sections of a kind, later ones over earlier ones; messages name the last section."""
    found = root.all(tag)
    values = Values(found[-1] if found else XmlElement(tag, {}, root.line, root.source))
    values.all = {key: text for section in found for key, text in section.attributes.items()}
    return values


def _compiler(settings: Settings, values: Values) -> None:
    for key in values.all:
        if key not in COMPILER:
            raise values.element.fault(f"<compiler> has no attribute {repr_in_message(key)}{suggestion(key, COMPILER)}")
    if values.word("coordinate", ("local", "global"), "local") == "global":
        raise values.element.fault('coordinate="global" is not read, nor by MuJoCo since 2.3.4: save the model with it')
    if values.switch("alignfree"):
        raise values.element.fault(
            'alignfree="true" moves the frames of free bodies to their inertial frames, which is not read: delete it, '
            "or save the compiled model by MuJoCo and load that"
        )
    radian = values.word("angle", ("degree", "radian"), "degree") == "radian"
    sequence = values.text("eulerseq", "xyz")
    if len(sequence) != 3 or not set(sequence.lower()) <= set("xyz"):
        raise values.element.fault(f"eulerseq={repr_in_message(sequence)} must be three of the letters x y z X Y Z")
    settings.angles = Angles(1.0, sequence) if radian else Angles(sequence=sequence)
    settings.autolimits = values.switch("autolimits", True)
    settings.inertia_from_geom = values.word("inertiafromgeom", ("true", "false", "auto"), "auto")
    low, high = values.numbers("inertiagrouprange", 2, default=(0, 5))
    settings.groups = (float(low), float(high))
    settings.balance = values.switch("balanceinertia")
    settings.bound_mass = values.number("boundmass")
    settings.bound_inertia = values.number("boundinertia")
    settings.total_mass = values.number("settotalmass", -1.0)
    if min(settings.bound_mass, settings.bound_inertia) < 0:
        raise values.element.fault("boundmass and boundinertia must not be negative")


def _option(settings: Settings, values: Values, root: XmlElement) -> None:
    for key, what in (("density", "drag and added mass"), ("viscosity", "drag")):
        if values.number(key):
            raise values.element.fault(
                f"{key}={repr_in_message(values.text(key))}: the forces of a fluid ({what}) change the motion, and the "
                f"library has none; delete it to load the model without them"
            )
    flags = {
        key: Values(flag).word(key, ("enable", "disable"), "enable")
        for option in root.all("option")
        for flag in option.all("flag")
        for key in OFF
        if key in flag.attributes
    }
    settings.off = frozenset(key for key, value in flags.items() if value == "disable")
    x, y, z = values.vector("gravity", (0.0, 0.0, -9.81))
    settings.gravity = (0.0, 0.0, 0.0) if "gravity" in settings.off else (float(x), float(y), float(z))


# Default classes


@dataclass
class Classes:
    """Attributes of default classes: {class: {kind of element: attributes}}. A class begins as a copy of the one around
    it, and changes what it names; actuators of all kinds share one set, as equalities and tendons do."""

    known: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {"main": {}})

    def of(self, element: XmlElement, child_class: str = "", kind: str = "") -> Values:
        """The attributes of an element, with those of its class, of the class around it or of the main one.

        kind: under which defaults are kept, where it is not that of the tag.
        """
        name = element.get("class") or child_class or "main"
        if name not in self.known:
            raise element.fault(
                f"class={repr_in_message(name)}: the file has no such default class{suggestion(name, self.known)}"
            )
        return Values(element, self.known[name].get(kind or kind_of(element.tag), {}))

    def check(self, element: XmlElement, name: str) -> str:
        """The name of a class that `childclass` gives."""
        if name not in self.known:
            raise element.fault(
                f"childclass={repr_in_message(name)}: the file has no such default class{suggestion(name, self.known)}"
            )
        return name


def kind_of(tag: str) -> str:
    """The kind of an element by which defaults are kept."""
    return "general" if tag in ACTUATORS else tag


def read_classes(root: XmlElement) -> Classes:
    """The default classes of a file, section after section."""
    classes = Classes()
    for section in root.all("default"):
        if section.get("class") not in ("", "main"):
            raise section.fault('the class of the outermost <default> is "main"; put other classes inside it')
        _fill(classes, section, "main")
    return classes


def _fill(classes: Classes, section: XmlElement, name: str) -> None:
    """The attributes that a class names, then the classes inside it; elements come before classes, wherever they
    stand."""
    waiting = [(section, name, "")]
    while waiting:
        element, name, parent = waiting.pop(0)
        if parent:
            classes.known[name] = {kind: dict(found) for kind, found in classes.known[parent].items()}
        for child in element:
            if child.tag != "default":
                check_attributes(child, DEFAULTS.get(child.tag, "actuator" if child.tag in ACTUATORS else ""))
                kept = classes.known[name].setdefault(kind_of(child.tag), {})
                kept.update(_without_turns(kept, child.attributes))
        for child in element.all("default"):
            inner = child.get("class")
            if not inner:
                raise child.fault('a <default> inside another one needs class="..."')
            taken = inner in classes.known or any(inner == other for _, other, _ in waiting)
            if taken:
                raise child.fault(f"class {repr_in_message(inner)} is defined already; names must be unique, rename it")
            waiting.append((child, inner, name))


def _without_turns(kept: dict[str, str], new: Mapping[str, str]) -> Mapping[str, str]:
    """The new attributes; orientations that are kept go if a new one is given."""
    turns = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
    if any(key in new for key in turns):
        for key in turns:
            kept.pop(key, None)
    return new
