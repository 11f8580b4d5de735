"""One shape of a body in the file of a model, and where the meshes that files name lie."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlparse

from ..._base.files import path_of
from ..._base.types import Array
from ...mechanism import ShapeFile

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

ShapeKind = Literal["box", "cylinder", "sphere", "capsule", "mesh"]

ShapeUse = Literal["visual", "collision"]
"""Use of a shape: in pictures, or for contact with other bodies."""

PACKAGE_PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH")
"""Environment variables with folders in which packages of meshes are searched."""


class BodyShape(NamedTuple):
    """One shape of a link.

    size: of a box its three edges; of a cylinder or capsule, along z, radius and length without caps; of a sphere its
    radius [m]; of a mesh the factors of its x, y and z. R (3x3), p (3) [m]: pose of the shape in the link. color: None
    if the file gives none. mesh: the file's name as the model's file has it; path: where it was found, None if it was
    not.
    """

    link: str
    kind: ShapeKind
    size: tuple[float, ...]
    R: Array
    p: Array
    color: Color | None = None
    mesh: str = ""
    path: Path | None = None


def find_mesh(name: str, urdf: Path) -> Path | None:
    """The file that a URDF or SDF names, None if it is not there; urdf: path of that file."""
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


def shape_file(path: str | PathLike[str], folder: str | PathLike[str] | None = None) -> ShapeFile:
    """The note by which a model remembers the file with the shapes of its links; folder: of included files."""
    return ShapeFile(str(path_of(path).resolve()), folder="" if folder is None else str(path_of(folder).resolve()))
