"""Shapes of the bodies of an MJCF file."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from ..._base.files import path_of
from ..mjcf.document import read_document, sections
from ..mjcf.elements import GeomData
from ..mjcf.settings import Classes, read_classes, read_settings
from ..mjcf.tree import TreeReader
from ..mjcf.values import Values
from ..xml import XmlElement
from .body_shape import BodyShape, Color, ShapeKind, ShapeUse

KINDS: tuple[ShapeKind, ...] = ("box", "sphere", "cylinder", "capsule", "mesh")
"""Kinds of geoms that are read; planes, height fields, ellipsoids and shapes fitted to meshes are not."""

LAST_SEEN = 2
"""Last group of geoms that MuJoCo's viewer shows when it opens."""


def mjcf_shapes(
    path: str | PathLike[str], use: ShapeUse = "visual", folder: str | PathLike[str] | None = None
) -> list[BodyShape]:
    """The geoms of an MJCF file that are seen, those of the groups 0 to 2, or those that collide, in the file's order.

    Lengths of cylinders and capsules, and edges of boxes, are whole ones. folder: as in `load_mjcf`. ModelError for a
    file with faults, OSError if it cannot be read.
    """
    file = path_of(path).resolve()
    root = read_document(file.read_bytes(), str(file), file, None if folder is None else path_of(folder))
    settings, classes = read_settings(root), read_classes(root)
    colors = dict(_colors(root, classes))
    meshes = {name: mesh for element in sections(root, "asset") for name, mesh in _mesh(element, classes, root, file)}
    return [
        shape
        for body in TreeReader(root, settings, classes).bodies
        for geom in body.geoms
        if (geom.collides if use == "collision" else geom.group <= LAST_SEEN)
        for shape in _shape(body.name, geom, meshes, geom.color or colors.get(geom.material))
    ]


class _MeshFile(Values):
    """A `<mesh>` of the assets: its file and the factors of its x, y and z."""

    def __init__(self, values: Values, folder: Path) -> None:
        super().__init__(values.element, values.all)
        self.file = self.text("file")
        self.scale = self.vector("scale", (1.0, 1.0, 1.0))
        self.path = folder / self.file


def _mesh(element: XmlElement, classes: Classes, root: XmlElement, file: Path) -> Iterator[tuple[str, _MeshFile]]:
    """The mesh of an element and its name; none for other assets and for meshes that are moved or made by MuJoCo."""
    if element.tag != "mesh":
        return
    values = classes.of(element)
    if not values.text("file") or "refpos" in values or "refquat" in values:
        return
    mesh = _MeshFile(values, file.parent / _mesh_folder(root))
    yield element.get("name") or Path(mesh.file).stem, mesh


def _mesh_folder(root: XmlElement) -> str:
    """The folder of meshes that the last `<compiler>` names which names one."""
    named = [c.get("meshdir") or c.get("assetdir") for c in root.all("compiler")]
    return next(filter(None, reversed(named)), "")


def _colors(root: XmlElement, classes: Classes) -> Iterator[tuple[str, Color]]:
    """The materials with colors."""
    for element in sections(root, "asset"):
        if element.tag == "material" and "rgba" in (values := classes.of(element)):
            r, g, b, a = values.numbers("rgba", 4)
            yield element.get("name"), (float(r), float(g), float(b), float(a))


def _shape(body: str, geom: GeomData, meshes: dict[str, _MeshFile], color: Color | None) -> Iterator[BodyShape]:
    kind = next((kind for kind in KINDS if kind == geom.kind), None)
    if kind is None or (geom.mesh and kind != "mesh"):
        return
    size = tuple(float(x) for x in geom.size)
    if kind == "mesh":
        mesh = meshes.get(geom.mesh)
        if mesh is not None:
            scale = tuple(float(x) for x in mesh.scale)
            found = mesh.path if mesh.path.is_file() else None
            yield BodyShape(body, kind, scale, geom.pose.R, geom.pose.p, color, mesh.file, found)
        return
    if kind == "box":
        size = tuple(2 * x for x in size)
    elif kind in ("cylinder", "capsule"):
        size = (size[0], 2 * size[1])
    yield BodyShape(body, kind, size, geom.pose.R, geom.pose.p, color)
