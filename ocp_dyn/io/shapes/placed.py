"""Shapes of the file that a model was loaded from, as triangles on its bodies."""

from __future__ import annotations

from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._base.files import path_of
from ...mechanism import Model, ShapeFile
from ...mechanism.parts import UNTURNED
from ..formats import format_of
from .body_shape import BodyShape, Color, ShapeUse
from .meshes import Mesh, mesh_file, simple_shape
from .mjcf_shapes import mjcf_shapes
from .sdf_shapes import sdf_shapes
from .urdf_shapes import urdf_shapes

NO_FILE = "no such file"

READERS: dict[str, Callable[..., list[BodyShape]]] = {
    "URDF": lambda path, use, folder: urdf_shapes(path, use),
    "MuJoCo MJCF": mjcf_shapes,
    "SDF": sdf_shapes,
}


class PlacedMesh(NamedTuple):
    """A mesh on a body (0: the ground), in body coordinates [m]; color: None if unknown."""

    body: int
    mesh: Mesh
    color: Color | None


def read_shapes(
    path: str | PathLike[str], use: ShapeUse = "visual", folder: str | PathLike[str] | None = None
) -> list[BodyShape]:
    """The shapes of the links in a URDF, MJCF or SDF, in the file's order; none of other formats.

    use: "visual" for those that pictures show, "collision" for those that touch other bodies. folder: of included
    files, as in `load_mjcf`. Meshes are looked up, not read. ModelError for a file with faults, OSError if it cannot
    be read.

    >>> import pathlib, tempfile
    >>> ball = '<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    >>> with tempfile.TemporaryDirectory() as place:
    ...     size = pathlib.Path(place, "ball.xml").write_text(ball)
    ...     shape = od.io.read_shapes(f"{place}/ball.xml")[0]
    >>> shape.link, shape.kind, shape.size
    ('ball', 'sphere', (0.1,))
    """
    file = path_of(path)
    reader = READERS.get(format_of(file).name)
    return [] if reader is None else reader(file, use, folder or None)


def placed(
    model: Model, file: ShapeFile, use: ShapeUse = "visual", bodies: Collection[int] | None = None
) -> tuple[list[PlacedMesh], list[tuple[str, Exception]]]:
    """The shapes of a file on the bodies of a model, and the meshes that could not be read with the reasons.

    bodies: indices of the bodies whose shapes are wanted; None: all. ModelError and OSError as `read_shapes`.
    """
    found: list[PlacedMesh] = []
    missing: list[tuple[str, Exception]] = []
    for shape in read_shapes(file.path, use, file.folder):
        name = file.prefix + shape.link
        frame = model.frames.get(name + UNTURNED, model.frames.get(name))
        if frame is None or (bodies is not None and frame.body not in bodies):
            continue
        try:
            meshes = _meshes(shape)
        except (OSError, ValueError, ImportError) as error:
            missing.append((str(shape.path or shape.mesh), error))
            continue
        R, p = np.array(frame.X.E.full()).T, np.array(frame.X.r.full()).ravel()
        for mesh in meshes:
            scaled = Mesh(file.scale * mesh.vertices, mesh.faces, mesh.color)
            color = mesh.color if mesh.color is not None or shape.color is None else shape.color
            found.append(PlacedMesh(frame.body, scaled.placed(R, p), color))
    return found, missing


def _meshes(shape: BodyShape) -> list[Mesh]:
    """The meshes of a shape, in the axes of its link; ValueError for a mesh that is missing or cannot be read."""
    if shape.kind != "mesh":
        return [simple_shape(shape.kind, shape.size).placed(shape.R, shape.p)]
    if shape.path is None:
        raise ValueError(NO_FILE)
    factors = np.array(shape.size)
    turned = np.prod(factors) < 0  # a mirrored mesh: its faces would look inwards
    return [
        Mesh(m.vertices * factors, m.faces[:, ::-1] if turned else m.faces, m.color).placed(shape.R, shape.p)
        for m in mesh_file(Path(shape.path))
    ]
