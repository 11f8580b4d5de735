"""Spheres on the ground of an OpenSim model, as compliant spheres of this library."""

from __future__ import annotations

from os import PathLike

import numpy as np

from ..._base.files import path_of
from ..._base.types import ModelError, repr_in_message, suggestion
from ...dynamics.compliant import HuntCrossleySphere
from ..xml import XmlElement
from .document import Components, name_of, number_of, opensim_model, socket_of, vector_of
from .forces import applies
from .frames import GROUND, Frames, rotation_xyz

SMOOTH = "SmoothSphereHalfSpaceForce"
FIGURES = {
    "stiffness": ("stiffness", 1.0), "dissipation": ("dissipation", 0.0),
    "static_friction": ("static_friction", 0.0), "dynamic_friction": ("dynamic_friction", 0.0),
    "viscous_friction": ("viscous_friction", 0.0), "transition_velocity": ("transition_velocity", 0.01),
    "smoothing": ("derivative_smoothing", 1e-5), "depth_smoothing": ("hertz_smoothing", 300.0),
    "rate_smoothing": ("hunt_crossley_smoothing", 50.0),
}  # fmt: skip
"""Fields of our sphere, the properties of the file, and their defaults."""
LEVEL = 1e-6
"""Largest tilt [rad] and height [m] of a ground plane that is z = 0."""


def osim_spheres(path: str | PathLike[str]) -> tuple[HuntCrossleySphere, ...]:
    """The compliant spheres of an OpenSim model on the ground, one for every SmoothSphereHalfSpaceForce.

    They are in frames of the model that `load_osim` reads, and the plane is z = 0, that of the file's ground.
    `od.compliant_force(model, spheres, q, qd)` gives their generalized force.

    Raises ModelError, with line and element, for a half space that is not the ground's plane, for HuntCrossleyForce and
    ElasticFoundationForce, which have no smooth form, and for files that are no OpenSim models.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = '<OpenSimDocument Version="40000"><Model name="none"/></OpenSimDocument>'
    ...     size = pathlib.Path(folder, "none.osim").write_text(text)
    ...     od.io.osim_spheres(f"{folder}/none.osim")
    ()
    """
    file = path_of(path)
    model, _ = opensim_model(file.read_bytes(), str(file))
    parts = Components(model)
    frames = Frames(parts)
    geometry = {name_of(element): element for element in parts.geometry}
    found = []
    for force in parts.forces:
        if not applies(force) or force.tag not in (SMOOTH, "HuntCrossleyForce", "ElasticFoundationForce"):
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


def _check_plane(space: XmlElement, frames: Frames) -> None:
    """ModelError unless a half space is all that lies below the ground's origin: its x axis points down."""
    place = frames.of(space, socket_of(space, "frame", "body_name"), "frame")
    down = place.R @ rotation_xyz(vector_of(space, "orientation"))[:, 0]
    height = (place.p + place.R @ vector_of(space, "location"))[1]
    if place.body != GROUND or abs(height) > LEVEL or np.linalg.norm(down - [0, -1, 0]) > LEVEL:
        raise space.fault("only the half space below the ground, y = 0, is read")


def _sphere(force: XmlElement, ball: XmlElement, frames: Frames) -> HuntCrossleySphere:
    place = frames.of(ball, socket_of(ball, "frame", "body_name"), "frame")
    center = place.p + place.R @ vector_of(ball, "location")
    figures = {key: number_of(force, tag, default) for key, (tag, default) in FIGURES.items()}
    try:
        return HuntCrossleySphere(place.body, tuple(center), number_of(ball, "radius"), **figures)
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise force.fault(str(error)) from None
