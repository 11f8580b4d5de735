"""Properties, names and functions of a written OpenSim document, places of frames in it, and what it cannot say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np
from casadi import DM

from ...._base.types import Array, ModelError, repr_in_message
from ....joints import (
    ConstantFunction,
    LinearFunction,
    NaturalSpline,
    PolynomialFunction,
    ScalarFunction,
    ScaledFunction,
    SineFunction,
)
from ....mechanism import Model
from ....mechanism.builder import WORLD
from ..frames import GROUND
from ..reader import TO_Z_UP

Element = ElementTree.Element
TAG = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
FUNCTIONS = {
    "ConstantFunction": "Constant", "PiecewiseLinearFunction": "PiecewiseLinearFunction", "SineFunction": "Sine",
    "ScaledFunction": "MultiplierFunction", "LinearFunction": "LinearFunction", "SimmSpline": "SimmSpline",
    "NaturalSpline": "GCVSpline", "PolynomialFunction": "PolynomialFunction",
}  # fmt: skip
"""Our functions, and those of OpenSim."""


def checked_name(name: str, what: str) -> str:
    """A name that OpenSim takes."""
    if not is_name(name):
        raise ModelError(f"write_osim: {what} {repr_in_message(name)}: OpenSim takes no blanks and slashes in names")
    return name


def is_name(name: str) -> bool:
    """Whether OpenSim takes a name."""
    return not any(c.isspace() or c in '/"<>' for c in name)


def objects(parent: Element, tag: str) -> Element:
    """A new set, <TAG><objects>."""
    return ElementTree.SubElement(ElementTree.SubElement(parent, tag), "objects")


def put(parent: Element, tag: str, value: Any) -> None:
    """A property: a text, true or false, a number or several."""
    if isinstance(value, (bool, np.bool_)):
        words = str(bool(value)).lower()
    else:
        words = value if isinstance(value, str) else " ".join(number(x) for x in np.ravel(value))
    ElementTree.SubElement(parent, tag).text = words


def number(value: float) -> str:
    """The digits that give the same double again; whole numbers without a point, which OpenSim takes as integers and
    as truth values too."""
    return repr(float(value)).removesuffix(".0")


def pose_of(X: Any) -> tuple[Array, Array]:
    """Rotation (3x3) and origin (3) of a frame, from its transform."""
    return np.array(DM(X.E).full()).T, np.array(DM(X.r).full()).ravel()


def angles_xyz(R: Array) -> Array:
    """Body-fixed angles x, y, z of a rotation R = Rx Ry Rz [rad]; the first is zero where the middle one is upright."""
    cosine = float(np.hypot(R[0, 0], R[0, 1]))
    middle = np.arctan2(R[0, 2], cosine)
    if cosine < 1e-12:
        return np.array([0.0, middle, np.arctan2(R[1, 0], R[1, 1])])
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), middle, np.arctan2(-R[0, 1], R[0, 0])])


def put_offset(parent: Element, name: str, base: str, R: Array, p: Array) -> None:
    """A frame at (R, p) in the one at the path `base`."""
    offset = ElementTree.SubElement(parent, "PhysicalOffsetFrame", name=name)
    put(offset, "socket_parent", base)
    put(offset, "translation", p)
    put(offset, "orientation", angles_xyz(R))


def put_function(parent: Element, function: ScalarFunction, owner: str) -> None:
    """A function of coordinates; ModelError for a class that OpenSim does not have."""
    kind = type(function).__name__
    if kind not in FUNCTIONS:
        raise ModelError(f"write_osim: {repr_in_message(owner)}: OpenSim has no function {kind}; use a SimmSpline")
    made = ElementTree.SubElement(parent, FUNCTIONS[kind])
    if isinstance(function, ConstantFunction):
        put(made, "value", function.value)
    elif isinstance(function, LinearFunction):
        put(made, "coefficients", (*np.ravel(function.slopes), function.intercept))
    elif isinstance(function, PolynomialFunction):
        put(made, "coefficients", function.coefficients)
    elif isinstance(function, SineFunction):
        for tag in ("amplitude", "omega", "phase", "offset"):
            put(made, tag, getattr(function, tag))
    elif isinstance(function, ScaledFunction):
        put_function(ElementTree.SubElement(made, "function"), function.function, owner)
        put(made, "scale", function.scale)
    else:
        if isinstance(function, NaturalSpline):
            put(made, "half_order", (function.degree + 1) // 2)
            put(made, "error_variance", 0.0)
            put(made, "weights", (1.0,) * len(function.x))
        put(made, "x", function.x)  # type: ignore[attr-defined]
        put(made, "y", function.y)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of the file: its name and path, its entries of q and qd, whether it is an angle in OpenSim.

    rate: whether the entry of qd is its rate; not so for the angles of joints that turn by quaternions, whose entry of
    q is None.
    """

    name: str
    path: str
    entry: int | None
    dof: int
    angle: bool
    rate: bool = True


@dataclass
class Target:
    """The document of a model: names that are taken, its coordinates, and the words of what it cannot say."""

    model: Model
    coordinates: list[Coordinate] = field(default_factory=list)
    lost: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """The ground's axes: those of the frame "ground", as `load_osim` makes it, else turned so that y is up."""
        self.axes = TO_Z_UP
        known = self.model.frames.get(GROUND)
        if known is not None:
            R, p = pose_of(known.X)
            if known.body or np.any(p):
                raise ModelError("write_osim: a body or frame is called 'ground', as the ground of OpenSim; rename it")
            self.axes = R

    def free_name(self, name: str) -> str:
        """The name, or one like it, that no force or constraint has."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def place(self, frame: str) -> tuple[str, Array, Array]:
        """The path of the frame of the file that stands for one of the model, and the pose of the latter in it."""
        if frame == GROUND:
            return "/ground", np.eye(3), np.zeros(3)
        if frame == WORLD:
            R, p = pose_of(self.model.frames[WORLD].X) if WORLD in self.model.frames else (np.eye(3), np.zeros(3))
            return "/ground", self.axes.T @ R, self.axes.T @ p
        return f"/bodyset/{checked_name(frame, 'frame')}", np.eye(3), np.zeros(3)

    def coordinate(self, name: str, of: str = "q") -> Coordinate | None:
        """The coordinate whose entry of q, or of qd, has a name; None if OpenSim has no such coordinate."""
        names = self.model.q_names if of == "q" else self.model.qd_names
        for one in self.coordinates:
            k = one.entry if of == "q" else one.dof
            if one.rate and k is not None and names[k] == name:
                return one
        return None
