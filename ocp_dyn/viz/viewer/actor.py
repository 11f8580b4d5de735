"""One robot in the scene: a node for every body, in the tree of its joints, and nodes for muscles, forces, center of
mass and footholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.types import Array
from ...gait.bodies import size
from ...io.shapes.body_shape import Color
from ...io.shapes.meshes import simple_shape
from ..drawing import COLORS, FORCE
from ..terrain.slabs import edges as edges_of
from ..terrain.slabs import slabs
from .drawn_bodies import Piece, _hex, vertices_of
from .muscle_film import MuscleFilm
from .track import PoseTrack, footprints, quaternions

COM_COLOR, COM_ON_DARK = "#1E1E22", "#D5DAE0"
GHOST = 0.35
"""Opacity of all robots but the first, where they are drawn over each other."""

SEE_THROUGH = 0.8
"""Opacity of rounded bodies, in which forces and the center of mass would be hidden."""

LAYERS = ("bodies", "muscles", "forces", "center of mass", "footholds", "frames", "names")
"""Parts of the scene that can be shown and hidden."""

STONE, EDGE = (226, 229, 233), (120, 128, 138)
"""Colors of the ground's faces and of their edges."""

HIDDEN = ("frames", "names")
"""Layers that are hidden at first."""


class Actor:
    """A robot that moves along a track.

    Bodies hang in each other as in the mechanism, with their poses in their parents, so that a revolute joint needs one
    message per frame, a quaternion. tint: one color for the whole robot; None: the colors of its shapes.
    """

    def __init__(
        self,
        server: Any,
        name: str,
        track: PoseTrack,
        shapes: list[Piece],
        tint: Color | None = None,
        dark: bool = False,
    ) -> None:
        self.server, self.name, self.track, self.tint = server, name, track, tint
        self.mark = bytes_of(_hex(COM_ON_DARK if dark else COM_COLOR))
        self.label: Any = None
        self.path = f"/scene/{plain(name)}"
        self.reach = size(track.model)
        scene = server.scene
        self.root = scene.add_frame(self.path, show_axes=False)
        self.moved = scene.add_frame(f"{self.path}/robot", show_axes=False)
        self.cycle = scene.add_frame(f"{self.path}/cycle", show_axes=False)
        self.layers: dict[str, list[Any]] = {layer: [] for layer in LAYERS}
        self.bodies, self.meshes = self._bodies(shapes)
        self.middles = [middle(vertices_of(shapes, i)) for i, _ in track.model.edges]
        self.moving = np.ptp(track.p, axis=0).max(axis=-1) > 1e-9 if len(track.p) > 1 else np.ones(track.model.nb, bool)
        self._extras()
        self._muscles()
        self.last_cycle: int | None = None
        self.drawn = False

    def _bodies(self, shapes: list[Piece]) -> tuple[list[Any], list[Any]]:
        """Nodes of the bodies, and their meshes."""
        scene, model = self.server.scene, self.track.model
        paths, nodes, meshes = [f"{self.path}/ground"], [], []
        scene.add_frame(paths[0], show_axes=False)
        for i, parent in model.edges:
            above = paths[parent] if parent else f"{self.path}/robot"
            paths.append(f"{above}/{plain(model.body_names[i - 1])}")
            nodes.append(scene.add_frame(paths[i], show_axes=False))
        for k, piece in enumerate(shapes):
            r, g, b, opacity = self.tint or piece.color
            made = scene.add_mesh_simple(
                f"{paths[piece.body]}/shape {k}", piece.mesh.vertices, piece.mesh.faces, color=(r, g, b),
                opacity=None if opacity > 0.99 else opacity, side="double", receive_shadow=False,
            )  # fmt: skip
            meshes.append(made)
            self.layers["bodies"].append(made)
        return nodes, meshes

    def _extras(self) -> None:
        """Nodes of forces, center of mass and footholds."""
        scene, reach, track = self.server.scene, self.reach, self.track
        green = bytes_of(_hex(FORCE))
        self.arrows = scene.add_arrows(
            f"{self.path}/cycle/forces", np.zeros((1, 2, 3)), green, shaft_radius=0.008 * reach,
            head_radius=0.02 * reach,
            head_length=0.045 * reach, visible=False,
        )  # fmt: skip
        self.layers["forces"].append(self.arrows)
        self.forces_shown = True
        ball = scene.add_icosphere(f"{self.path}/center of mass", radius=0.016 * reach, color=self.mark)
        spot = scene.add_cylinder(f"{self.path}/below center of mass", 0.012 * reach, 0.002 * reach, color=self.mark)
        self.com, self.spot, self.floor = ball, spot, 0.0
        self.layers["center of mass"] += [ball, spot]
        if len(track.com) > 1 and np.ptp(track.com, axis=0).max() > 1e-6:
            way = np.concatenate([track.points(track.com, k) for k in ((-1, 0, 1) if track.repeats else (0,))])
            self.layers["center of mass"].append(
                scene.add_line_segments(
                    f"{self.path}/cycle/way of center of mass",
                    np.stack([way[:-1], way[1:]], axis=1),
                    self.mark,
                    thickness=0.003 * reach,
                )
            )
        if track.faces:
            vertices, triangles = slabs(track.faces)
            scene.add_mesh_simple(
                f"{self.path}/cycle/ground", vertices, triangles, color=STONE, flat_shading=True, side="double"
            )
            scene.add_line_segments(f"{self.path}/cycle/edges", edges_of(track.faces), EDGE, thickness=0.002 * reach)
        edges, side = footprints(track)
        if len(edges):
            copies = np.concatenate([track.points(edges, k) for k in ((-1, 0, 1) if track.repeats else (0,))])
            lifted = copies + np.array([0.0, 0.0, 0.002 * reach])
            colors = np.array([_hex(COLORS[s])[:3] for s in side] * (len(copies) // len(edges)))
            colors = np.repeat(colors[:, None], 2, axis=1) if self.tint is None else np.array(self.tint[:3])
            self.layers["footholds"].append(
                scene.add_line_segments(f"{self.path}/cycle/footholds", lifted, colors, thickness=0.005 * reach)
            )

    def _muscles(self) -> None:
        """Node of the muscles."""
        if not self.track.model.muscles:
            return
        self.film = self.track, MuscleFilm.of(self.track)
        made, at = simple_shape("cylinder", (1.0, 1.0)), self.film[1].cylinders(float(self.track.t[0]))
        self.muscles = self.server.scene.add_batched_meshes_simple(
            f"{self.path}/cycle/muscles", made.vertices, made.faces, receive_shadow=False, lod="off", **at
        )
        self.layers["muscles"].append(self.muscles)

    def _draw_muscles(self, local: float) -> None:
        """The muscles at a time of the cycle; those of another track, which a model without a motion gets with every
        configuration, are found anew."""
        track, film = self.film
        for name, value in (film if track is self.track else MuscleFilm.of(self.track)).cylinders(local).items():
            setattr(self.muscles, name, value)

    def show(self, layer: str, on: bool) -> None:
        """Shows or hides a layer; axes and names of bodies are made when they are first wanted."""
        if layer in HIDDEN and on and not self.layers[layer]:
            self.layers[layer] = self._axes() if layer == "frames" else self._names()
        if layer == "forces":
            self.forces_shown = on
        for node in self.layers[layer]:
            node.visible = on and (node is not self.arrows or len(node.points) > 0)

    def _axes(self) -> list[Any]:
        length, add = 0.07 * self.reach, self.server.scene.add_frame
        return [
            add(f"{node.name}/axes", axes_length=length, axes_radius=0.06 * length, origin_radius=0.0)
            for node in self.bodies
        ]

    def _names(self) -> list[Any]:
        add = self.server.scene.add_label
        names = zip(self.bodies, self.track.model.body_names, self.middles, strict=True)
        return [add(f"{node.name}/name", text, position=at) for node, text, at in names]

    def set_opacity(self, opacity: float) -> None:
        """Makes the bodies transparent: 0 invisible, 1 opaque."""
        for mesh in self.meshes:
            mesh.opacity = None if opacity >= 0.995 else opacity

    def name_it(self, text: str, height: float) -> None:
        """Writes a name `height` [m] above the first body."""
        below = self.bodies[0].name if self.bodies else self.path
        self.label = self.server.scene.add_label(
            f"{below}/label", text, position=(0.0, 0.0, height), anchor="bottom-center"
        )

    def place(self, offset: Array) -> None:
        """Moves the robot, with all that belongs to it, to another place."""
        self.root.position = offset

    def draw(self, time: float) -> None:
        """The robot at a time [s]; only what has changed is sent."""
        cycle, local = self.track.local(time)
        if cycle != self.last_cycle:
            self.last_cycle = cycle
            R, p = self.track.moved(cycle)
            self.moved.position = self.cycle.position = p
            self.moved.wxyz = self.cycle.wxyz = quaternions(R)
        placement = self.track.placement(local)
        for node, moving, p, w in zip(self.bodies, self.moving, placement.p, placement.w, strict=True):
            if moving or not self.drawn:
                node.position = p
            node.wxyz = w
        self.drawn = True
        center = self.track.points(self.track.center(local), cycle)
        self.com.position = center
        self.spot.position = np.array([center[0], center[1], self.floor])
        if self.layers["muscles"]:
            self._draw_muscles(local)
        arrows = self.track.arrows(local)
        if len(arrows):  # in the coordinates of the cycle: a browser that draws them late has them at the body
            self.arrows.points = arrows
        self.arrows.visible = self.forces_shown and len(arrows) > 0


def middle(vertices: Array) -> Array:
    """The middle (3) of the box around points (V, 3): there a name stands clear of the joint; the origin without
    any."""
    return (vertices.min(axis=0) + vertices.max(axis=0)) / 2 if len(vertices) else np.zeros(3)


def bytes_of(color: Color) -> tuple[int, int, int]:
    """Red, green and blue from 0 to 255."""
    r, g, b = (round(255 * c) for c in color[:3])
    return r, g, b


def plain(name: str) -> str:
    """A name without the character that parts the names of nodes."""
    return name.replace("/", "_") or "robot"
