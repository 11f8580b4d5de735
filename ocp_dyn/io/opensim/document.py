"""Elements of an OpenSim document: properties with their checks, sets of objects, sockets, defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..._base.types import LARGEST_MAGNITUDE, Array, ModelError, repr_in_message, suggestion
from ...joints import (
    ConstantFunction,
    LinearFunction,
    NaturalSpline,
    PiecewiseLinearFunction,
    PolynomialFunction,
    ScalarFunction,
    SimmSpline,
    SineFunction,
)
from ..xml import XmlElement, xml_tree

OLDEST, FRAMES_SINCE, NEWEST = 20000, 30500, 50000
"""Versions of documents: the oldest that is read, the first in which joints have frames, the first that is too new."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
INFINITE = re.compile(r"([-+]?)(inf|infinity|1\.#inf)", re.IGNORECASE)
UNBOUNDED = 99999.0
"""Ends of a range that mean none: OpenSim writes 99999.9 and 999999.9."""
TRUE, FALSE = ("true", "1"), ("false", "0")


def opensim_model(text: str | bytes, source: str) -> tuple[XmlElement, int]:
    """The <Model> element of a document, with the defaults of its classes put in, and the document's version."""
    root = xml_tree(text, source)
    if root.tag != "OpenSimDocument":
        raise root.fault("the outermost element must be <OpenSimDocument>; it is no OpenSim model")
    version = root.get("Version")
    if not version.isdigit() or not OLDEST <= int(version) < NEWEST:
        raise root.fault(
            f"its Version is {repr_in_message(version)}, and {OLDEST} to {NEWEST - 1} are read; save the model with "
            "OpenSim 3 or 4"
        )
    models = root.all("Model")
    if len(models) != 1:
        other = f", got <{root.children[0].tag}>" if root.children and not models else ""
        raise root.fault(f"a document with one <Model> is needed{other}; it may be the setup file of a tool")
    _put_in_defaults(models[0])
    return models[0], int(version)


def _put_in_defaults(model: XmlElement) -> None:
    """Properties that an object leaves out get those of the object of its class in <defaults>."""
    found = model.child("defaults")
    kept = {element.tag: element for element in found or ()}
    if not kept:
        return
    model.children.remove(found)  # type: ignore[arg-type]  # it is there
    for element in model.walk():
        if default := kept.get(element.tag):
            have = {child.tag for child in element}
            element.children += [child for child in default if child.tag not in have]


# Properties


def text_of(element: XmlElement, tag: str, default: str = "") -> str:
    """The text of a property without blanks around it; the default if it is left out or empty."""
    child = element.child(tag)
    return (child.text.strip() if child is not None else "") or default


def numbers_of(element: XmlElement, tag: str, size: int | None, default: Array | tuple[float, ...] | None) -> Array:
    """The numbers of a property; default: where it is left out; None: it is needed. size: None for any number."""
    child = element.child(tag)
    words = child.text.replace("(", " ").replace(")", " ").split() if child is not None else []
    if child is None or not words:
        if default is None:
            raise element.fault(f"it has no <{tag}>; add one")
        return np.array(default, dtype=float)
    values = np.array([_number(word, child) for word in words])
    if size is not None and values.size != size:
        raise child.fault(f"it has {values.size} numbers, expected {size}")
    return values


def _number(word: str, element: XmlElement) -> float:
    if NUMBER.fullmatch(word):
        value = float(word)
        if abs(value) <= LARGEST_MAGNITUDE:
            return value
        raise element.fault(f"{repr_in_message(word)} is larger than {LARGEST_MAGNITUDE:g}, no physical value")
    if found := INFINITE.fullmatch(word):
        return -np.inf if found[1] == "-" else np.inf
    comma = "; write a point, not a comma, in numbers" if "," in word else ""
    raise element.fault(f"{repr_in_message(word)} is not a number{comma}")


def number_of(element: XmlElement, tag: str, default: float | None = None, finite: bool = True) -> float:
    """One number of a property."""
    value = float(numbers_of(element, tag, 1, None if default is None else (default,))[0])
    if finite and not np.isfinite(value):
        raise element.fault(f"its <{tag}> must be finite, got {value}")
    return value


def vector_of(element: XmlElement, tag: str, default: tuple[float, ...] | None = (0.0, 0.0, 0.0)) -> Array:
    """Three finite numbers of a property."""
    values = numbers_of(element, tag, 3, default)
    if not np.all(np.isfinite(values)):
        raise element.fault(f"its <{tag}> must be finite")
    return values


def flag_of(element: XmlElement, tag: str, default: bool = False) -> bool:
    """A property that is true or false."""
    word = text_of(element, tag).lower()
    if not word:
        return default
    if word not in (*TRUE, *FALSE):
        raise element.fault(f"its <{tag}> must be true or false, got {repr_in_message(word)}")
    return word in TRUE


def name_of(element: XmlElement) -> str:
    """The name of an object, which it needs."""
    name = element.get("name").strip()
    if not name:
        raise element.fault("it needs a name")
    return name


# Sets and sockets


def objects_of(element: XmlElement, tag: str) -> list[XmlElement]:
    """The objects of a set, old and new: <BodySet><objects>...; or of a list property, <coordinates>...."""
    found: list[XmlElement] = []
    for one in element.all(tag):
        inner = one.child("objects")
        found += inner.children if inner is not None else [c for c in one if c.tag not in ("objects", "groups")]
    return found


def socket_of(element: XmlElement, name: str, *old: str) -> str:
    """Path or name of what a socket is connected to. old: tags of the property in earlier versions."""
    for tag in (f"socket_{name}", f"socket_{name}_connectee_name", f"connector_{name}_connectee_name", *old):
        if found := text_of(element, tag):
            return found
    for connectors in element.all("connectors"):
        for connector in connectors:
            if connector.get("name") == name and (found := text_of(connector, "connectee_name")):
                return found
    raise element.fault(f"its {name} is not connected; add <socket_{name}>")


@dataclass
class Components:
    """All objects of a model by the sets in which they are listed; those of <components> by what they are."""

    model: XmlElement
    forces: list[XmlElement] = field(default_factory=list)
    constraints: list[XmlElement] = field(default_factory=list)
    markers: list[XmlElement] = field(default_factory=list)
    bodies: list[XmlElement] = field(default_factory=list)
    joints: list[XmlElement] = field(default_factory=list)
    geometry: list[XmlElement] = field(default_factory=list)
    controllers: list[XmlElement] = field(default_factory=list)
    probes: list[XmlElement] = field(default_factory=list)
    frames: list[XmlElement] = field(default_factory=list)

    def __post_init__(self) -> None:
        sets = {
            "ForceSet": self.forces, "ConstraintSet": self.constraints, "MarkerSet": self.markers,
            "BodySet": self.bodies, "JointSet": self.joints, "ContactGeometrySet": self.geometry,
            "ControllerSet": self.controllers, "ProbeSet": self.probes,
        }  # fmt: skip
        for tag, kept in sets.items():
            kept += objects_of(self.model, tag)
        for element in [*objects_of(self.model, "ComponentSet"), *objects_of(self.model, "components")]:
            self._kept(element.tag).append(element)
        self.forces += [e for e in objects_of(self.model, "ActuatorSet") if e not in self.forces]

    def _kept(self, tag: str) -> list[XmlElement]:
        """The list to which an object of <components> belongs."""
        for word, kept in (
            ("Joint", self.joints), ("Constraint", self.constraints), ("Marker", self.markers), ("Body", self.bodies),
            ("Contact", self.geometry), ("Controller", self.controllers), ("Frame", self.frames),
            ("Metabolics", self.probes), ("Probe", self.probes), ("StateReporter", self.probes),
            ("Reporter", self.probes),
        ):  # fmt: skip
            if word in tag and not tag.endswith("Force"):
                return kept
        return self.forces


# Functions

FUNCTION_TAGS = {
    "Constant": "ConstantFunction", "LinearFunction": "LinearFunction", "PolynomialFunction": "PolynomialFunction",
    "SimmSpline": "SimmSpline", "NaturalCubicSpline": "SimmSpline", "natCubicSpline": "SimmSpline",
    "PiecewiseLinearFunction": "PiecewiseLinearFunction", "MultiplierFunction": "ScaledFunction",
    "Sine": "SineFunction", "GCVSpline": "NaturalSpline",
}  # fmt: skip
"""Functions of OpenSim, and ours."""


def function_of(element: XmlElement, tag: str = "function") -> ScalarFunction | None:
    """The function of a property: <function><SimmSpline>..., or <SimmSpline name="function">...; None if it is left
    out."""
    child = element.child(tag)
    inner = list(child) if child is not None else [c for c in element if c.get("name") == tag]
    if not inner:
        return None
    if len(inner) > 1:
        raise element.fault(f"its <{tag}> holds {len(inner)} functions, expected one")
    return made_function(inner[0])


def made_function(element: XmlElement, depth: int = 0) -> ScalarFunction:
    """The function of an element; ModelError, with its line, for one that is not known or not whole."""
    if element.tag not in FUNCTION_TAGS:
        raise element.fault(
            f"the function {element.tag} is not read{suggestion(element.tag, FUNCTION_TAGS)}; known are "
            f"{', '.join(FUNCTION_TAGS)}; approximate it by a SimmSpline"
        )
    try:
        return _made(element, depth)
    except (ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        raise element.fault(str(error)) from None


def _made(element: XmlElement, depth: int) -> ScalarFunction:
    kind = FUNCTION_TAGS[element.tag]
    if kind == "ConstantFunction":
        return ConstantFunction(number_of(element, "value", 0.0))
    if kind == "LinearFunction":
        *slopes, intercept = _finite(element, "coefficients", (1.0, 0.0))
        return LinearFunction(tuple(slopes), intercept)
    if kind == "PolynomialFunction":
        return PolynomialFunction(tuple(_finite(element, "coefficients", (0.0,))))
    if kind == "SineFunction":
        return SineFunction(*(number_of(element, tag, default) for tag, default in SINE))
    if kind == "ScaledFunction":
        inner = [c for f in element.all("function") for c in f] or [c for c in element if c.get("name") == "function"]
        if len(inner) != 1 or depth > 20:
            raise element.fault("it needs one function, and few in each other")
        return made_function(inner[0], depth + 1).times(number_of(element, "scale", 1.0))
    x, y = (_finite(element, tag, None) for tag in ("x", "y"))
    if kind == "NaturalSpline":
        order = number_of(element, "half_order", 3.0)
        if number_of(element, "error_variance", 0.0):
            raise element.fault(
                "a spline that smooths its points is not read; write <error_variance>0 and points of the smooth curve"
            )
        return NaturalSpline(tuple(x), tuple(y), int(2 * order - 1) if order == int(order) else -1)
    return (SimmSpline if kind == "SimmSpline" else PiecewiseLinearFunction)(tuple(x), tuple(y))


SINE = (("amplitude", 1.0), ("omega", 1.0), ("phase", 0.0), ("offset", 0.0))


def _finite(element: XmlElement, tag: str, default: tuple[float, ...] | None) -> list[float]:
    values = numbers_of(element, tag, None, default)
    if not np.all(np.isfinite(values)):
        raise element.fault(f"its <{tag}> must be finite numbers")
    found: list[float] = values.tolist()
    return found


def short(values: Array) -> Array:
    """Numbers to six significant digits, as OpenSim 4 has the places of joints and welds of documents before 30500: it
    makes offset frames of them by way of texts of so many digits."""
    return np.array([float(f"{x:.6g}") for x in values])


def all_objects(elements: list[XmlElement], kind: str, unnamed: bool = False) -> Iterator[tuple[str, XmlElement]]:
    """(name, element) of objects whose names must be unique; ModelError for a name that stands there twice.

    unnamed: objects without a name get that of their class and a number.
    """
    for element in elements if unnamed else ():
        if not element.get("name").strip():
            known = {one.get("name") for one in elements}
            free = (f"{element.tag}_{k}" for k in range(1, len(elements) + 1))
            element.attributes["name"] = next(name for name in free if name not in known)
    seen: dict[str, XmlElement] = {}
    for element in elements:
        name = name_of(element)
        if name in seen:
            raise element.fault(f"a {kind} of this name stands in line {seen[name].line}; names must be unique")
        seen[name] = element
        yield name, element
