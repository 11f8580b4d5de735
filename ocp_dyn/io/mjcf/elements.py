"""Joints, shapes and inertias of bodies, from the attributes of their elements to numbers in SI units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._base.types import Array, repr_in_message
from ...spatial_algebra.poses import Pose, z_towards
from ..xml import XmlElement
from .geometry import MASSLESS, SIZES, moments, volume
from .poses import Angles, direction, pose_of, turn_of
from .settings import Settings
from .values import Values

GEOMS = (*SIZES, *MASSLESS, "mesh", "sdf")
JOINTS = ("hinge", "slide", "ball", "free")
DENSITY = 1000.0
"""Density of geoms that give none [kg/m^3]."""


@dataclass
class JointData:
    """A joint: kind, place and axis in its body, and the numbers of its dofs.

    reference: position at which the body is where the file has it. limits, effort: None if it has none.
    spring_damper: time constant [s] and damping ratio that give stiffness and damping, or None.
    """

    name: str
    kind: str
    p: Array
    axis: Array
    reference: float
    rest: float
    limits: Array | None
    effort: Array | None
    stiffness: float
    damping: float
    friction: float
    armature: float
    spring_damper: tuple[float, float] | None
    element: XmlElement
    powers: str = ""
    """Forces of higher powers of stretch and speed, as a formula."""
    motor_damping: float = 0.0
    """Damping of the motors, which `springdamper` leaves as it is."""


@dataclass
class GeomData:
    """A shape: its kind, pose in the body and sizes; mass None: it follows from a mesh."""

    name: str
    kind: str
    pose: Pose
    size: Array
    mass: float | None
    moments: Array
    group: float
    counts: bool
    """Whether it counts where inertias come from shapes: by its group."""
    collides: bool
    mesh: str
    color: tuple[float, float, float, float] | None
    material: str
    element: XmlElement


@dataclass
class InertiaData:
    """Mass [kg], its center [m] and the inertia about it [kg m^2] in axes of the body."""

    mass: float
    com: Array
    I: Array


def read_joint(values: Values, settings: Settings, frame: Pose, name: str) -> JointData:
    """A `<joint>`. Angles of hinges and balls are in the units of the file, lengths of slides in m."""
    kind = values.word("type", JOINTS, "hinge")
    unit = settings.angles.unit if kind in ("hinge", "ball") else 1.0
    axis = np.array([0.0, 0.0, 1.0])
    if kind in ("hinge", "slide"):
        axis = frame.R @ direction(values.vector("axis", (0, 0, 1)), "axis", values)
    limits = None if kind == "free" else values.range_of("range", "limited", settings.autolimits)
    effort = None
    if kind in ("hinge", "slide"):
        effort = values.range_of("actuatorfrcrange", "actuatorfrclimited", settings.autolimits)
    if values.number("springyield"):
        raise values.element.fault("springyield: a spring that yields has a state of its own, which is not read")
    if values.switch("actuatorgravcomp"):
        raise values.element.fault(
            'actuatorgravcomp="true": weight that motors hold up is not read: delete it, and give the motors '
            "od.gravity_force"
        )
    timing = values.numbers("springdamper", 2, default=(0.0, 0.0))
    scalar = kind in ("hinge", "slide")
    stiffness, damping = springs_of(values, settings)
    rest = unit * values.number("springref") if scalar else 0.0
    if not scalar and (any(stiffness[1:]) or any(damping[1:])):
        raise values.element.fault(
            "stiffness and damping of second or third degree are read of hinges and slides: keep the first coefficient"
        )
    return JointData(
        name=name, kind=kind, p=frame.R @ values.vector("pos") + frame.p, axis=axis,
        reference=unit * values.number("ref") if scalar else 0.0,
        rest=rest,
        limits=None if limits is None else unit * limits, effort=effort,
        stiffness=stiffness[0], damping=damping[0], powers=_powers(stiffness, damping, rest),
        friction=not_negative(values, "frictionloss"), armature=not_negative(values, "armature"),
        spring_damper=(float(timing[0]), float(timing[1])) if min(timing) > 0 else None, element=values.element,
    )  # fmt: skip


def springs_of(values: Values, settings: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Three coefficients each of stiffness and damping, zero where the file switches springs or dampers off."""
    found = []
    for key, flag in (("stiffness", "spring"), ("damping", "damper")):
        given = values.numbers(key, 1, 3, default=(0.0,)).tolist()
        if given[0] < 0:
            raise values.element.fault(f"{key} must not be negative, got {given[0]:g}")
        off = settings.off & {flag, "passive"}
        found.append((0.0,) * 3 if off else (*given, *(0.0,) * (3 - len(given))))
    return found[0], found[1]


def _powers(stiffness: tuple[float, ...], damping: tuple[float, ...], rest: float) -> str:
    """-(k2 x^2 + k3 x^3 + d2 v |v| + d3 v^3) as a formula of q and qdot, x = q - rest; empty if all are zero."""
    terms = {"x^2": stiffness[1], "x^3": stiffness[2], "qdot*abs(qdot)": damping[1], "qdot^3": damping[2]}
    text = "".join(f"-({factor!r})*{power}" for power, factor in terms.items() if factor)
    return f"{text}; x=q-({rest!r})" if text else ""


def not_negative(values: Values, key: str) -> float:
    found = values.number(key)
    if found < 0:
        raise values.element.fault(f"{key} must not be negative, got {found:g}")
    return found


def read_geom(values: Values, settings: Settings, frame: Pose, name: str) -> GeomData:
    """A `<geom>` with its mass, which mass= or density= and its size give."""
    kind = values.word("type", GEOMS, "sphere")
    pose, size = placed(values, settings.angles, kind)
    shell = values.switch("shellinertia")
    group = values.number("group")
    mesh = values.text("mesh")
    fitted = bool(mesh) or kind in ("mesh", "sdf")
    mass: float | None = 0.0
    inertia = np.zeros(3)
    weightless = ("mass" in values and values.number("mass") == 0) or ("mass" not in values and density(values) == 0)
    if fitted:
        mass = 0.0 if weightless else None
    elif kind in SIZES:
        content = volume(kind, size, shell)
        mass = not_negative(values, "mass") if "mass" in values else density(values) * content
        inertia = moments(kind, size, mass, shell)
    color = values.numbers("rgba", 3, 4, default=(0.5, 0.5, 0.5, 1.0))
    r, g, b = (float(x) for x in color[:3])
    return GeomData(
        name=name, kind=kind, pose=frame @ pose, size=size, mass=mass, moments=inertia,
        group=group,
        counts=settings.groups[0] <= group <= settings.groups[1], mesh=mesh,
        collides=bool(values.number("contype", 1) or values.number("conaffinity", 1)),
        color=(r, g, b, float(color[3]) if color.size > 3 else 1.0) if "rgba" in values else None,
        material=values.text("material"),
        element=values.element,
    )  # fmt: skip


def density(values: Values) -> float:
    return not_negative(values, "density") if "density" in values else DENSITY


def placed(values: Values, angles: Angles, kind: str) -> tuple[Pose, Array]:
    """Pose and sizes of a shape, by pos and an orientation or by the two points of fromto."""
    given = values.numbers("size", 1, 3, default=())
    needed = SIZES.get(kind, 0)
    if values.text("mesh") or kind not in SIZES:
        return pose_of(values, angles), given
    if "fromto" not in values:
        if given.size < needed:
            raise values.element.fault(f"a {kind} needs {needed} numbers in size, got {given.size}")
        size, pose = given[:needed], pose_of(values, angles)
    else:
        if kind == "sphere":
            raise values.element.fault("fromto is for capsules, cylinders, ellipsoids and boxes; a sphere has pos")
        if not given.size:
            raise values.element.fault("size must give the radius beside fromto")
        first, second = np.split(values.numbers("fromto", 6), 2)
        way = first - second
        turn_of(values, angles)  # which has no effect, and must be right all the same
        pose = Pose(z_towards(direction(way, "fromto", values)), (first + second) / 2)
        half = float(np.linalg.norm(way)) / 2
        size = np.array([given[0], half] if needed == 2 else [given[0], given[0], half])
    if np.any(size <= 0):
        raise values.element.fault(f"size={repr_in_message(values.text('size'))}: a {kind} has positive sizes")
    return pose, size


def read_inertial(values: Values, settings: Settings, frame: Pose) -> InertiaData:
    """An `<inertial>`: mass, center, and principal moments with their axes or a full matrix."""
    for key in ("mass", "pos"):
        if key not in values:
            raise values.element.fault(f'it has no {key}="..."; it needs one')
    mass = not_negative(values, "mass")
    if "fullinertia" not in values:
        pose = pose_of(values, settings.angles)
        I = pose.R @ np.diag(values.vector("diaginertia")) @ pose.R.T
    else:
        if "diaginertia" in values or any(key in values for key in ("quat", "axisangle", "xyaxes", "zaxis", "euler")):
            raise values.element.fault("fullinertia excludes diaginertia and an orientation: keep one of them")
        xx, yy, zz, xy, xz, yz = values.numbers("fullinertia", 6)
        pose = pose_of(values, settings.angles)
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return InertiaData(mass, frame.R @ pose.p + frame.p, frame.R @ I @ frame.R.T)
