"""Shapes of the links of a URDF: boxes, cylinders, spheres, capsules and names of mesh files.

They are read when something is drawn or stands on the ground, not with the model, which has no use for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ..._base.files import path_of
from ..._base.types import ModelError, ModelWarning, numbers, repr_in_message
from ...spatial_algebra.rotations import rpy_matrix
from ..xml import XmlElement, xml_tree
from .body_shape import BodyShape, Color, ShapeKind, ShapeUse, find_mesh

SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "capsule": ("radius", "length")}
"""Attributes of the simple shapes, all lengths [m]."""


def urdf_shapes(path: str | PathLike[str], use: ShapeUse = "visual") -> list[BodyShape]:
    """The `<visual>` or the `<collision>` shapes of a URDF file, in the file's order.

    Meshes are looked up, not read: `package://NAME/...` in the folders above the URDF and in those of ROS_PACKAGE_PATH
    and AMENT_PREFIX_PATH, other names from the URDF's folder. ModelError for a file that is not XML, declares a
    document type, or has a shape with wrong numbers; OSError if it cannot be read.
    """
    file = path_of(path).resolve()
    root = xml_tree(file.read_bytes(), str(file))
    named = {m.get("name"): color for m in root.all("material") if (color := _color(m, file)) is not None}
    return [
        shape
        for link in root.all("link")
        for element in link.all(use)
        for shape in _shape(link.get("name"), element, named, file)
    ]


def _shape(link: str, element: XmlElement, named: dict[str, Color], file: Path) -> Iterator[BodyShape]:
    where = f"{file}: link {repr_in_message(link)} <{element.tag}>"
    geometry = element.child("geometry")
    shape = next((s for s in geometry or () if s.tag in get_args(ShapeKind)), None)
    if shape is None:
        unknown = [s.tag for s in geometry or ()]
        if unknown:
            known = ", ".join(get_args(ShapeKind))
            warnings.warn(f"{where}: <{unknown[0]}> is none of {known}: it is left out", ModelWarning, stacklevel=2)
        return
    origin = element.child("origin")
    p = _numbers(origin, "xyz", 3, where, (0.0, 0.0, 0.0))
    R = rpy_matrix(_numbers(origin, "rpy", 3, where, (0.0, 0.0, 0.0)))
    material = element.child("material")
    color = None if material is None else _color(material, file) or named.get(material.get("name"))
    if shape.tag == "mesh":
        name = shape.get("filename")
        size = _numbers(shape, "scale", 3, where, (1.0, 1.0, 1.0))
        yield BodyShape(link, "mesh", size, R, np.array(p), color, name, find_mesh(name, file))
        return
    size = tuple(x for key in SIZES[shape.tag] for x in _numbers(shape, key, 3 if key == "size" else 1, where))
    if min(size) < 0:
        raise ModelError(f"{where}: <{shape.tag}> has a negative size {repr_in_message(size)}; correct it")
    kind: Any = shape.tag
    yield BodyShape(link, kind, size, R, np.array(p), color)


def _numbers(
    element: XmlElement | None, key: str, count: int, where: str, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    text = element.get(key) if element is not None else ""
    if not text and default is not None:
        return default
    values = numbers([_number(word) for word in text.split()])
    if values.size != count or not np.all(np.isfinite(values)):
        raise ModelError(
            f"{where}: {key} must be {count} finite number{'s' * (count > 1)}, got {repr_in_message(text)}"
        )
    return tuple(values.tolist())


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _color(material: XmlElement, file: Path) -> Color | None:
    color = material.child("color")
    if color is None or not color.get("rgba"):
        return None
    r, g, b, a = np.clip(_numbers(color, "rgba", 4, f"{file}: material {repr_in_message(material.get('name'))}"), 0, 1)
    return float(r), float(g), float(b), float(a)
