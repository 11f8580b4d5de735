"""Shapes of the links of a URDF, for pictures: boxes, cylinders, spheres, capsules and names of mesh files.

They are read when something is drawn, not with the model, which has no use for them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from urllib.parse import unquote, urlparse

import numpy as np

from .._base.files import path_of
from .._base.types import Array, ModelError, ModelWarning, numbers, repr_in_message
from ..spatial_algebra.rotations import rpy_matrix
from .xml import XmlElement, xml_tree

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

ShapeKind = Literal["box", "cylinder", "sphere", "capsule", "mesh"]
SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "capsule": ("radius", "length")}
"""Attributes of the simple shapes, all lengths [m]."""

PACKAGE_PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH")
"""Environment variables with folders in which packages of meshes are searched."""


class Visual(NamedTuple):
    """One shape of a link.

    size: of a box its three edges; of a cylinder or capsule, along z, radius and length without caps; of a sphere its
    radius [m]; of a mesh the factors of its x, y and z. R (3x3), p (3) [m]: pose of the shape in the link. color: None
    if the file gives none. mesh: the file's name as the URDF has it; path: where it was found, None if it was not.
    """

    link: str
    kind: ShapeKind
    size: tuple[float, ...]
    R: Array
    p: Array
    color: Color | None = None
    mesh: str = ""
    path: Path | None = None


def read_visuals(path: str | PathLike[str]) -> list[Visual]:
    """The shapes of a URDF file, in the file's order.

    Meshes are looked up, not read: `package://NAME/...` in the folders above the URDF and in those of ROS_PACKAGE_PATH
    and AMENT_PREFIX_PATH, other names from the URDF's folder. ModelError for a file that is not XML, declares a
    document type, or has a shape with wrong numbers; OSError if it cannot be read.
    """
    file = path_of(path).resolve()
    root = xml_tree(file.read_bytes(), str(file))
    named = {m.get("name"): color for m in root.all("material") if (color := _color(m, file)) is not None}
    return [
        visual
        for link in root.all("link")
        for element in link.all("visual")
        for visual in _visual(link.get("name"), element, named, file)
    ]


def _visual(link: str, element: XmlElement, named: dict[str, Color], file: Path) -> Iterator[Visual]:
    geometry = element.child("geometry")
    shape = next((s for s in geometry or () if s.tag in get_args(ShapeKind)), None)
    if shape is None:
        unknown = [s.tag for s in geometry or ()]
        if unknown:
            known = ", ".join(get_args(ShapeKind))
            text = f"{file}: link {repr_in_message(link)} <visual>: <{unknown[0]}> is none of {known}: it is left out"
            warnings.warn(text, ModelWarning, stacklevel=2)
        return
    where = f"{file}: link {repr_in_message(link)} <visual>"
    origin = element.child("origin")
    p = _numbers(origin, "xyz", 3, where, (0.0, 0.0, 0.0))
    R = rpy_matrix(_numbers(origin, "rpy", 3, where, (0.0, 0.0, 0.0)))
    material = element.child("material")
    color = None if material is None else _color(material, file) or named.get(material.get("name"))
    if shape.tag == "mesh":
        name = shape.get("filename")
        size = _numbers(shape, "scale", 3, where, (1.0, 1.0, 1.0))
        yield Visual(link, "mesh", size, R, np.array(p), color, name, find_mesh(name, file))
        return
    size = tuple(x for key in SIZES[shape.tag] for x in _numbers(shape, key, 3 if key == "size" else 1, where))
    if min(size) < 0:
        raise ModelError(f"{where}: <{shape.tag}> has a negative size {repr_in_message(size)}; correct it")
    yield Visual(link, shape.tag, size, R, np.array(p), color)  # type: ignore[arg-type]  # one of SIZES


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


def find_mesh(name: str, urdf: Path) -> Path | None:
    """The file that a URDF names, None if it is not there; urdf: path of the URDF."""
    if not name or "\0" in name:
        return None
    scheme, separator, rest = name.partition("://")
    if not separator or scheme == "file":
        plain = unquote(urlparse(name).path) if separator else name
        candidates = [urdf.parent / plain]
    else:  # package://NAME/path, model://NAME/path
        rest = rest.lstrip("/")
        package, _, inner = rest.partition("/")
        above = list(urdf.parents)
        candidates = [folder / rest for folder in above] + [f / inner for f in above if f.name == package]
        for variable in PACKAGE_PATHS:
            for folder in map(Path, filter(None, os.environ.get(variable, "").split(os.pathsep))):
                candidates += [folder / rest, folder / "share" / rest]
                candidates += [folder / inner] if folder.name == package else []
    return next((c for c in candidates if _is_file(c)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for the file system
        return False
