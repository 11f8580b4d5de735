"""The shapes of the bodies of a model, in body coordinates: those of its file where it has any, else rounded ones."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from ..._base.types import Array, ModelError, ModelWarning, names_in_message
from ...gait.bodies import sides
from ...io.shapes.body_shape import Color
from ...io.shapes.meshes import Mesh, hull_of_balls, joined
from ...io.shapes.placed import NO_FILE, placed
from ...mechanism import Model, ShapeFile
from ..drawing import COLORS, FAINT
from ..skeleton import skeleton

PLAIN: Color = (0.74, 0.76, 0.79, 1.0)
"""Color of shapes without one."""

DARKEST = 0.14
"""Least brightness of a color: of black shapes one would see no form."""

INSTALL = "pip install 'ocp_dyn[viewer]'"


@dataclass(frozen=True, eq=False)
class Piece:
    """The triangles of one color on one body (0: the ground), in body coordinates [m]."""

    body: int
    mesh: Mesh
    color: Color


def pieces(model: Model, files: tuple[ShapeFile, ...] | None = None) -> list[Piece]:
    """The shapes of a model: of its files (default: those it was loaded from), else rounded ones; see `skeleton`.

    A `ModelWarning` names the shapes that could not be read. If none of a file could, all bodies are drawn rounded.
    """
    found: list[Piece] = []
    for file in model.shape_files if files is None else files:
        found += _of_file(model, file)
    return _joined(found) if any(piece.body for piece in found) else rounded(model)


def rounded(model: Model) -> list[Piece]:
    """Rounded shapes through joints and named frames, blue on the left and orange on the right."""
    side = sides(model)
    found = []
    for segment in skeleton(model):
        body = segment.points[0 if segment.of_joint else -1].body
        color = _hex(FAINT if segment.of_joint else COLORS[side[body]])
        count = 1 if len({p.body for p in segment.points}) > 1 else None  # a rail's end that moves is not drawn
        centers = np.array([p[1:] for p in segment.points[:count]])
        found.append(Piece(body, hull_of_balls(centers, np.array(segment.radii[:count])), color))
    return _joined(found)


def _of_file(model: Model, file: ShapeFile) -> list[Piece]:
    try:
        shapes, missing = placed(model, file)
    except (OSError, ModelError) as error:
        _warn(f"shapes of {file.path} could not be read, so bodies are drawn as rounded ones: {error}")
        return []
    if missing:
        _warn_of_missing(file, missing, bool(shapes))
    return [Piece(shape.body, shape.mesh, visible_color(shape.color or PLAIN)) for shape in shapes]


def _warn_of_missing(file: ShapeFile, missing: list[tuple[str, Exception]], some: bool) -> None:
    names = list(dict.fromkeys(name for name, _ in missing))
    reasons = Counter(str(error) for _, error in missing)
    rest = "they are left out" if some else "bodies are drawn as rounded shapes"
    reason = reasons.most_common(1)[0][0]
    remedy = ""
    if reason == NO_FILE:
        remedy = "; set ROS_PACKAGE_PATH to the folder of the package, or keep the meshes beside the URDF"
    elif "collada" in reason:
        remedy = f"; {INSTALL} reads .dae"
    count = f"{len(names)} meshes" if len(names) > 1 else "a mesh"
    _warn(f"{file.path}: {count} could not be read, {rest}: {names_in_message(names, 3)} ({reason}){remedy}")


def _warn(text: str) -> None:
    warnings.warn(text, ModelWarning, stacklevel=2)


def _joined(found: list[Piece]) -> list[Piece]:
    """One piece for every body and color."""
    groups: dict[tuple[int, Color], list[Mesh]] = defaultdict(list)
    for piece in found:
        groups[piece.body, piece.color].append(piece.mesh)
    return [Piece(body, joined(meshes), color) for (body, color), meshes in groups.items()]


def visible_color(color: Color) -> Color:
    """The color, not darker than DARKEST."""
    r, g, b, a = color
    lift = max(0.0, DARKEST - max(r, g, b))
    return r + lift, g + lift, b + lift, a


def _hex(text: str) -> Color:
    r, g, b = (int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return r, g, b, 1.0


def vertices_of(shapes: list[Piece], body: int) -> Array:
    """All vertices (V, 3) of the pieces of one body, in its coordinates [m]."""
    found = [piece.mesh.vertices for piece in shapes if piece.body == body]
    return np.concatenate(found) if found else np.zeros((0, 3))
