"""Shapes of the links of an SDF file."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from ..._base.files import path_of
from ..sdf.frames import own_pose
from ..sdf.reader import LinkPart, links_of
from ..sdf.texts import number, numbers_in
from ..xml import XmlElement
from .body_shape import BodyShape, Color, ShapeKind, ShapeUse, find_mesh

KINDS: tuple[ShapeKind, ...] = ("box", "sphere", "cylinder", "capsule", "mesh")
"""Kinds of shapes that are read; planes, ellipsoids, height maps and polylines are not."""


def sdf_shapes(
    path: str | PathLike[str], use: ShapeUse = "visual", folder: str | PathLike[str] | None = None
) -> list[BodyShape]:
    """The `<visual>` or the `<collision>` shapes of an SDF file, in the file's order.

    folder: as in `load_sdf`. ModelError for a file with faults, OSError if it cannot be read.
    """
    file = path_of(path).resolve()
    near = file.parent if folder is None else path_of(folder)
    return [
        shape
        for link in links_of(file.read_bytes(), str(file), near)
        for element in link.element.all(use)
        for shape in _shape(link, element, file)
    ]


def _shape(link: LinkPart, element: XmlElement, file: Path) -> Iterator[BodyShape]:
    geometry = element.child("geometry")
    shape = next((s for s in geometry or () if s.tag in KINDS), None)
    if shape is None:
        return
    kind = next(kind for kind in KINDS if kind == shape.tag)
    given = element.child("pose")
    pose = link.inside(own_pose(element), "" if given is None else given.get("relative_to"))
    color = _color(element)
    if kind == "mesh":
        uri, scale = shape.child("uri"), shape.child("scale")
        name = "" if uri is None else uri.text.strip()
        size = (1.0, 1.0, 1.0) if scale is None else tuple(float(x) for x in numbers_in(scale, 3))
        yield BodyShape(link.name, kind, size, pose.R, pose.p, color, name, find_mesh(name, file))
    elif kind == "box":
        edges = shape.child("size")
        size = (1.0, 1.0, 1.0) if edges is None else tuple(float(x) for x in numbers_in(edges, 3))
        yield BodyShape(link.name, kind, size, pose.R, pose.p, color)
    else:
        tags = ("radius",) if kind == "sphere" else ("radius", "length")
        yield BodyShape(link.name, kind, tuple(number(shape, tag, 1.0) for tag in tags), pose.R, pose.p, color)


def _color(element: XmlElement) -> Color | None:
    material = element.child("material")
    diffuse = None if material is None else material.child("diffuse")
    if diffuse is None:
        return None
    r, g, b, a = (float(x) for x in numbers_in(diffuse, 4))
    return r, g, b, a
