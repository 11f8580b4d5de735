"""Triangle meshes of rounded and simple shapes, and of mesh files, ready for smooth shading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._base.types import Array
from .body_shape import Color

Faces = NDArray[np.int64]

AROUND, RINGS = 24, 7
"""Edges of a circle, and rings of a half sphere, in round shapes."""

CREASE = 35.0
"""Angle [degrees] between two faces from which on their common edge is drawn as an edge."""


HEAD = 20_000
"""Number of bytes at the start of a COLLADA file in which its unit and its axes stand."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles: vertices (V, 3) [m], and their indices in counterclockwise faces (F, 3). color: None if unknown."""

    vertices: Array
    faces: Faces
    color: Color | None = None

    def placed(self, R: Array, p: Array) -> Mesh:
        """The mesh turned by R (3x3), then moved by p (3)."""
        return Mesh(self.vertices @ np.asarray(R).T + np.asarray(p), self.faces, self.color)


def joined(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one, with the color of the first."""
    starts = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    faces = [m.faces + start for m, start in zip(meshes, starts[:-1], strict=True)]
    return Mesh(np.concatenate([m.vertices for m in meshes]), np.concatenate(faces), meshes[0].color)


@cache
def _globe(around: int, rings: int) -> tuple[Array, Faces]:
    """A unit sphere of rings about z, with two rings at the equator, so that it can be pulled apart into a capsule."""
    half = np.pi / 2 * np.arange(rings + 1) / rings
    latitude = np.concatenate([half[::-1], -half])
    longitude = 2 * np.pi * np.arange(around) / around
    z, radius = np.sin(latitude), np.cos(latitude)
    x, y = np.outer(radius, np.cos(longitude)), np.outer(radius, np.sin(longitude))
    vertices = np.stack([x, y, np.broadcast_to(z[:, None], x.shape)], axis=-1).reshape(-1, 3)
    return vertices, _band(len(latitude), around)


def _band(rings: int, around: int) -> Faces:
    """Faces between rings of vertices, from the top one to the lowest one."""
    k, j = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    a, b = k * around + j, k * around + (j + 1) % around
    return np.concatenate([np.stack([a, a + around, b], -1), np.stack([b, a + around, b + around], -1)], 1).reshape(
        -1, 3
    )


def _axes_along(direction: Array) -> Array:
    """A rotation (3x3) whose third column is the unit vector `direction`."""
    other = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(other, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])


def hull_of_balls(centers: Array, radii: Array) -> Mesh:
    """The convex hull of balls: `centers` (n, 3) and `radii` (n) [m].

    Every vertex is the farthest point of the balls in a direction of a sphere. For two balls the sphere's axis is
    theirs, and its equator lies where they are pulled apart, so that the sides of the hull are straight.
    """
    centers, radii = np.asarray(centers, dtype=float), np.asarray(radii, dtype=float)
    if len(centers) == 2 and (length := float(np.linalg.norm(centers[1] - centers[0]))) > abs(radii[1] - radii[0]):
        return _cone(centers, radii, length)
    directions, faces = _globe(AROUND, RINGS) if len(centers) <= 2 else _globe(3 * AROUND, 3 * RINGS)
    furthest = np.argmax(directions @ centers.T + radii, axis=1)
    return Mesh(centers[furthest] + radii[furthest, None] * directions, faces)


def _cone(centers: Array, radii: Array, length: float) -> Mesh:
    """Two balls and the cone that touches both: the latitude of contact is the same on both, asin of the slope."""
    slope = np.arcsin((radii[0] - radii[1]) / length)
    upper = slope + (np.pi / 2 - slope) * np.arange(RINGS + 1) / RINGS
    lower = slope - (np.pi / 2 + slope) * np.arange(RINGS + 1) / RINGS
    latitude = np.concatenate([upper[::-1], lower])
    ball = np.repeat([1, 0], RINGS + 1)
    longitude = 2 * np.pi * np.arange(AROUND) / AROUND
    across = np.outer(np.cos(latitude), np.stack([np.cos(longitude), np.sin(longitude)]).ravel())
    directions = np.concatenate(
        [across.reshape(-1, 2, AROUND).swapaxes(1, 2), np.broadcast_to(np.sin(latitude)[:, None, None],
            (len(ball), AROUND, 1))], -1
    )  # fmt: skip
    turned = directions @ _axes_along((centers[1] - centers[0]) / length).T
    vertices = centers[ball][:, None] + radii[ball][:, None, None] * turned
    return Mesh(vertices.reshape(-1, 3), _band(len(latitude), AROUND))


def simple_shape(kind: str, size: tuple[float, ...]) -> Mesh:
    """A box, cylinder, sphere or capsule of the size that `Visual` gives."""
    if kind == "box":
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces = np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))])
        return creased(Mesh(corners, faces))
    if kind == "cylinder":
        radius, length = size
        angle = 2 * np.pi * np.arange(AROUND) / AROUND
        rim = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        heights = [(0.0, length / 2), (1.0, length / 2), (1.0, -length / 2), (0.0, -length / 2)]
        rings = [np.column_stack([r * rim, np.full(AROUND, z)]) for r, z in heights]
        return creased(Mesh(np.concatenate(rings), _band(4, AROUND)))
    half = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * (size[1] if kind == "capsule" else 0.0)
    return hull_of_balls(half, np.full(2, size[0]))


def creased(mesh: Mesh, angle: float = CREASE) -> Mesh:
    """The mesh with vertices doubled along its edges, so that averages of the normals of faces shade it well.

    Corners of faces that meet at a point are one vertex where their faces are no farther apart than the angle.
    """
    points, faces = _merged(mesh.vertices, mesh.faces)
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    kept = area > 1e-9 * max(float(area.max(initial=0.0)), 1e-30)
    faces, normals, area = faces[kept], normals[kept], area[kept]
    unit = normals / area[:, None]
    order = np.argsort(faces.ravel(), kind="stable")
    point, corner_face = faces.ravel()[order], order // 3  # corner by corner, those at one point together
    part = _smooth_parts(point, unit[corner_face], float(np.cos(np.radians(angle))))
    _, first, inverse = np.unique(point * (part.max(initial=0) + 1) + part, return_index=True, return_inverse=True)
    vertex = np.empty(len(order), dtype=np.int64)
    vertex[order] = inverse.ravel()
    return Mesh(points[point[first]], vertex.reshape(-1, 3), mesh.color)


def _smooth_parts(point: Faces, normal: Array, least: float) -> Faces:
    """The number (C) of the vertex of every corner among those of its point; point (C): ascending, normal (C, 3).

    At every point at once: the first corner that is left, and those whose normals lie near its own, are one vertex.
    """
    part = np.zeros(len(point), dtype=np.int64)
    left, k = np.arange(len(point)), 0
    while len(left):
        is_first = np.diff(point[left], prepend=-1) > 0
        first = left[is_first][np.cumsum(is_first) - 1]
        near = (np.einsum("ij,ij->i", normal[left], normal[first]) >= least) | is_first
        part[left[near]] = k
        left, k = left[~near], k + 1
    return part


def _merged(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """Vertices at the same place as one, and the faces between them.

    A place has three coordinates of at most a million steps, which one integer holds: those sort fast.
    """
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    steps = np.round(vertices / (1e-6 * size)).astype(np.int64)
    steps -= steps.min(axis=0, initial=np.iinfo(np.int64).max)
    _, first, inverse = np.unique(steps @ np.array([1 << 42, 1 << 21, 1]), return_index=True, return_inverse=True)
    return vertices[first], inverse.ravel()[faces]


_read: dict[tuple[str, int], list[Mesh]] = {}
"""Meshes of files by path and time of change: a robot has many links of one file, and is shown many times."""


def mesh_file(path: Path) -> list[Mesh]:
    """The parts of a mesh file (.stl, .obj, .dae, .ply, .glb, what trimesh reads), with the colors of the file.

    Empty for a file of lines and points only. ValueError if the file cannot be read.
    """
    key = str(path), path.stat().st_mtime_ns
    if key not in _read:
        _read[key] = [creased(mesh) for mesh in _parts(path)]
    return _read[key]


def _parts(path: Path) -> list[Mesh]:
    import trimesh

    try:
        scene: Any = trimesh.load_scene(path, skip_materials=False)
        parts = scene.dump(concatenate=False)
    except Exception as error:  # noqa: BLE001, its readers raise whatever they meet
        raise ValueError(f"{type(error).__name__}: {error}") from None
    turn = _collada_axes(path) if path.suffix.lower() == ".dae" else np.eye(3)
    by_color: dict[Color | None, list[Mesh]] = {}
    for part in parts:
        if isinstance(part, trimesh.Trimesh) and len(part.faces):
            color = _file_color(part)
            vertices, faces = np.array(part.vertices) @ turn.T, np.array(part.faces, dtype=np.int64)
            by_color.setdefault(color, []).append(Mesh(vertices, faces, color))
    return [joined(meshes) for meshes in by_color.values()]


def _collada_axes(path: Path) -> Array:
    """The matrix (3x3) to meters and to z up that the <asset> of a COLLADA file asks for; trimesh leaves both out."""
    head = path.read_bytes()[:HEAD]
    unit = re.search(rb'<unit\b[^>]*\bmeter="([^"]+)"', head)
    meter = float(unit.group(1)) if unit else 1.0
    y_up = re.search(rb"<up_axis>\s*Y_UP", head)
    return meter * (np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]) if y_up else np.eye(3))


def _file_color(part: Any) -> Color | None:
    """The color of the material of a part; None for the default of a file without materials."""
    visual = part.visual
    if not getattr(visual, "defined", False):
        return None
    try:
        if visual.kind == "texture":
            main = np.asarray(visual.material.main_color, dtype=float) / 255
        else:
            main = np.asarray(visual.main_color, dtype=float) / 255
    except (AttributeError, TypeError, ValueError):
        return None
    r, g, b, a = (float(x) for x in main)
    return r, g, b, a if a > 0.05 else 1.0
