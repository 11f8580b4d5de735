"""Spheres on the ground of an OpenSim model, as compliant spheres of this library."""

from __future__ import annotations

from os import PathLike

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import ModelError, repr_in_message, suggestion
from ...dynamics.compliant import HuntCrossleySphere
from ..xml import XmlElement
from .document import Components, name_of, number_of, objects_of, opensim_model, socket_of, text_of, vector_of
from .forces import CONTACT, applies
from .frames import GROUND, Frames, rotation_xyz

SMOOTH, HUNT_CROSSLEY = "SmoothSphereHalfSpaceForce", "HuntCrossleyForce"
FIGURES = {
    "stiffness": ("stiffness", 1.0), "dissipation": ("dissipation", 0.0),
    "static_friction": ("static_friction", 0.0), "dynamic_friction": ("dynamic_friction", 0.0),
    "viscous_friction": ("viscous_friction", 0.0), "transition_velocity": ("transition_velocity", 0.01),
    "smoothing": ("derivative_smoothing", 1e-5), "depth_smoothing": ("hertz_smoothing", 300.0),
    "rate_smoothing": ("hunt_crossley_smoothing", 50.0),
}  # fmt: skip
"""Fields of our sphere, the properties of the file, and their defaults."""
MATERIAL = {
    "stiffness": 1.0, "dissipation": 0.0, "static_friction": 0.0, "dynamic_friction": 0.0, "viscous_friction": 0.0,
}  # fmt: skip
"""Properties of the parameters of a HuntCrossleyForce, and their defaults."""
LEVEL = 1e-6
"""Largest tilt [rad] and height [m] of a ground plane that is z = 0."""


def osim_spheres(path: str | PathLike[str]) -> tuple[HuntCrossleySphere, ...]:
    """The compliant spheres of an OpenSim model on the ground: those of SmoothSphereHalfSpaceForces and
    HuntCrossleyForces.

    The law of a HuntCrossleyForce is that of our spheres without their smoothing, with the materials of sphere and
    ground combined as Simbody does; spheres do not touch each other here.
    They are in frames of the model that `load_osim` reads, and the plane is z = 0, that of the file's ground.
    `od.compliant_force(model, spheres, q, qd)` gives their generalized force.

    Raises ModelError, with line and element, for a half space that is not the ground's plane, for meshes and
    ElasticFoundationForce, and for files that are no OpenSim models.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = '<OpenSimDocument Version="40000"><Model name="none"/></OpenSimDocument>'
    ...     size = pathlib.Path(folder, "none.osim").write_text(text)
    ...     od.io.osim_spheres(f"{folder}/none.osim")
    ()
    """
    file = file_to_read(path)
    model, _ = opensim_model(file.read_bytes(), str(file))
    parts = Components(model)
    frames = Frames(parts)
    geometry = {name_of(element): element for element in parts.geometry}
    found = []
    for force in parts.forces:
        if not applies(force) or force.tag not in CONTACT:
            continue
        if force.tag == HUNT_CROSSLEY:
            found += _spheres(force, geometry, frames)
            continue
        if force.tag != SMOOTH:
            raise force.fault(f"contact of this class is not read; use {SMOOTH}")
        _check_plane(_geometry(force, "half_space", "ContactHalfSpace", geometry), frames)
        found.append(_sphere(force, _geometry(force, "sphere", "ContactSphere", geometry), frames))
    return tuple(found)


def _geometry(force: XmlElement, socket: str, tag: str, geometry: dict[str, XmlElement]) -> XmlElement:
    name = socket_of(force, socket).rpartition("/")[2]
    if name not in geometry or geometry[name].tag != tag:
        raise force.fault(f"its {socket} {repr_in_message(name)} is no {tag}{suggestion(name, geometry)}")
    return geometry[name]


def _spheres(force: XmlElement, geometry: dict[str, XmlElement], frames: Frames) -> list[HuntCrossleySphere]:
    """The spheres of a HuntCrossleyForce against its one half space."""
    materials: dict[str, dict[str, float]] = {}
    for element in objects_of(force, "HuntCrossleyForce::ContactParametersSet"):
        own = {tag: number_of(element, tag, default) for tag, default in MATERIAL.items()}
        for name in text_of(element, "geometry").split():
            name = name.rpartition("/")[2]
            if name not in geometry:
                raise element.fault(f"there is no geometry {repr_in_message(name)}{suggestion(name, geometry)}")
            materials[name] = own
    planes = [name for name in materials if geometry[name].tag == "ContactHalfSpace"]
    balls = [name for name in materials if geometry[name].tag == "ContactSphere"]
    other = [name for name in materials if name not in (*planes, *balls)]
    if other or len(planes) != 1 or not balls:
        raise force.fault(
            "spheres against one half space are read, got "
            + ", ".join(f"<{geometry[name].tag} {repr_in_message(name)}>" for name in materials)
        )
    _check_plane(geometry[planes[0]], frames)
    slip = {"transition_velocity": number_of(force, "transition_velocity", 0.01)}
    try:
        return [
            _placed(geometry[name], frames, combined(materials[name], materials[planes[0]]) | slip) for name in balls
        ]
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise force.fault(str(error)) from None


def combined(sphere: dict[str, float], ground: dict[str, float]) -> dict[str, float]:
    """The material of a contact of two: springs in series, dissipation by their shares, harmonic means of friction.

    Our stiffness is the modulus that both surfaces have: E^(2/3)/2 of it is k1 k2/(k1 + k2), k = E^(2/3) of each
    [Simbody's HuntCrossleyForce].
    """
    if min(sphere["stiffness"], ground["stiffness"]) <= 0:
        raise ValueError("the stiffness of both surfaces must be positive")
    k1, k2 = (surface["stiffness"] ** (2 / 3) for surface in (sphere, ground))
    share = k2 / (k1 + k2)
    found = {"stiffness": (2 * k1 * share) ** 1.5, "flattening": share}
    found["dissipation"] = share * sphere["dissipation"] + (1 - share) * ground["dissipation"]
    for key in ("static_friction", "dynamic_friction", "viscous_friction"):
        a, b = sphere[key], ground[key]
        found[key] = 2 * a * b / (a + b) if a + b else 0.0
    return found


def _check_plane(space: XmlElement, frames: Frames) -> None:
    """ModelError unless a half space is all that lies below the ground's origin: its x axis points down."""
    place = frames.of(space, socket_of(space, "frame", "body_name"), "frame")
    down = place.R @ rotation_xyz(vector_of(space, "orientation"))[:, 0]
    height = (place.p + place.R @ vector_of(space, "location"))[1]
    if place.body != GROUND or abs(height) > LEVEL or np.linalg.norm(down - [0, -1, 0]) > LEVEL:
        raise space.fault("only the half space below the ground, y = 0, is read")


def _sphere(force: XmlElement, ball: XmlElement, frames: Frames) -> HuntCrossleySphere:
    figures = {key: number_of(force, tag, default) for key, (tag, default) in FIGURES.items()}
    try:
        return _placed(ball, frames, figures)
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise force.fault(str(error)) from None


def _placed(ball: XmlElement, frames: Frames, figures: dict[str, float]) -> HuntCrossleySphere:
    """The sphere of a geometry, of this material; ValueError for numbers that none can have."""
    place = frames.of(ball, socket_of(ball, "frame", "body_name"), "frame")
    center = place.p + place.R @ vector_of(ball, "location")
    return HuntCrossleySphere(place.body, tuple(center), number_of(ball, "radius"), **figures)
