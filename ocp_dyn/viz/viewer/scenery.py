"""The content of a viewer, as data: robots with their tracks and shapes, and where they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.convergence import MARK
from ..._base.types import Array
from ...gait.bodies import size
from ...io.shapes.body_shape import Color
from ...mechanism import Model
from ..terrain.slabs import THICK
from .actor import GHOST, SEE_THROUGH, Actor, plain
from .drawn_bodies import Piece, _hex, vertices_of
from .stage import upright
from .track import PoseTrack, world_pose

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colors of several robots, of Okabe and Ito's palette."""


LOOKS = 9
"""Number of times at which the place of a moving robot is looked at, for the camera."""


@dataclass(frozen=True, eq=False)
class SceneRobot:
    """One robot: its name, its track and its shapes. at: its configuration at a time. from_file: whether the shapes are
    those of a URDF."""

    name: str
    track: PoseTrack
    shapes: list[Piece]
    at: Callable[[float], Array]
    from_file: bool = False


@dataclass(eq=False)
class Scenery:
    """Robots, and what the panel offers. q: configuration of a model without a motion; settle: closes its loops, None
    without loops. overlaid: whether several robots stand over each other."""

    robots: list[SceneRobot]
    title: str
    overlaid: bool = False
    dark: bool = False
    q: Array | None = None
    settle: Callable[[Array], Array] | None = None

    @property
    def model(self) -> Model:
        """The model of the first robot."""
        return self.robots[0].track.model

    @property
    def moves(self) -> bool:
        """Whether a robot has a motion."""
        return any(robot.track.duration > 0 for robot in self.robots)

    @property
    def joints(self) -> bool:
        """Whether the joints have sliders."""
        return self.q is not None

    @property
    def start(self) -> float:
        """The first time of a motion [s]."""
        return min(float(robot.track.t[0]) for robot in self.robots)

    def configuration(self, time: float) -> Array:
        """The configuration of the first robot."""
        return self.q if self.q is not None else self.robots[0].at(time)

    @property
    def tints(self) -> list[Color | None]:
        """A color for every robot, if there are several."""
        several = len(self.robots) > 1
        return [_hex(PALETTE[k % len(PALETTE)]) if several else None for k in range(len(self.robots))]

    @property
    def opacities(self) -> list[float]:
        """Opacity of every robot: less than 1 where forces would be hidden in rounded bodies, and for robots that stand
        over the first one."""
        rounded = [bool(robot.track.holds) and not robot.from_file for robot in self.robots]
        return [GHOST if k and self.overlaid else SEE_THROUGH if hidden else 1.0 for k, hidden in enumerate(rounded)]

    @property
    def offsets(self) -> Array:
        """Places of the robots (n, 3) [m]: in a row along y, the first one nearest to the camera."""
        width = max(float(np.ptp(box[:, 1])) + 0.35 * self.reach for box in self.boxes)
        row = np.arange(len(self.robots)) * (0.0 if self.overlaid else width)
        return np.column_stack([np.zeros_like(row), row, np.zeros_like(row)])

    @property
    def reach(self) -> float:
        """Size of the largest robot [m]."""
        return max(size(robot.track.model) for robot in self.robots)

    @property
    def boxes(self) -> list[Array]:
        """Corners (2, 3) [m] of the boxes around the robots."""
        return [_box(robot) for robot in self.robots]

    def space(self) -> tuple[Array, float, Array, Array]:
        """Arguments of a `Stage`: the box around all robots, the height of the ground, rotations of world and
        ground."""
        moved = np.concatenate([box + offset for box, offset in zip(self.boxes, self.offsets, strict=True)])
        box = np.array([moved.min(axis=0), moved.max(axis=0)])
        gravity = np.zeros(3) if self.model.has_symbols else np.array(self.model.gravity, dtype=float)
        tilt, slope = upright(gravity), np.eye(3)
        holds = [hold for robot in self.robots for hold in robot.track.holds]
        faces = [face for robot in self.robots for face in robot.track.faces]
        if faces:
            return box, min(0.0, *(float(face.corners[:, 2].min()) for face in faces)) - THICK, tilt, slope
        if holds:
            normals = np.array([hold.normal for hold in holds])
            if np.ptp(normals, axis=0).max() < 1e-9:
                slope = upright(-normals[0]).T
        lowest = float(box[0, 2])
        floor = 0.0 if holds or lowest > -0.03 * self.reach else lowest
        if np.abs(tilt - np.eye(3)).max() > 0.5 and not holds:  # a mechanism in the x-y plane: the ground is below it
            slope, floor = tilt.T, 0.0
        return box, floor, tilt, slope

    def actors(self, server: Any, floor: float) -> list[Actor]:
        """The robots as nodes of a scene."""
        found = []
        taken: set[str] = set()
        with server.atomic():
            for robot, tint, offset, opacity, box in zip(
                self.robots, self.tints, self.offsets, self.opacities, self.boxes, strict=True
            ):
                name = robot.name
                while plain(name) in taken:  # two nodes of one path would be one
                    name += "'"
                taken.add(plain(name))
                actor = Actor(server, name, robot.track, robot.shapes, tint, self.dark)
                actor.floor = floor
                actor.place(offset)
                if opacity < 1:
                    actor.set_opacity(opacity)
                marked = robot.name.startswith(MARK)
                if len(self.robots) > 1 or marked:
                    actor.name_it(robot.name, 1.05 * float(box[1, 2] - robot.track.p[0, 0, 2]))
                    actor.label.visible = marked or not self.overlaid
                found.append(actor)
        return found


def _box(robot: SceneRobot) -> Array:
    """Corners (2, 3) [m] of the box that a robot fills during its motion, as a camera sees it that follows."""
    track, model = robot.track, robot.track.model
    corners = {}
    for body in {piece.body for piece in robot.shapes}:
        vertices = vertices_of(robot.shapes, body)
        ends = np.array([vertices.min(axis=0), vertices.max(axis=0)])
        corners[body] = np.array([[x, y, z] for x in ends[:, 0] for y in ends[:, 1] for z in ends[:, 2]])
    found = []
    for time in np.linspace(track.t[0], track.t[-1], LOOKS if track.duration else 1):
        placement = track.placement(float(time))
        for body, points in corners.items():
            R, p = world_pose(placement, model, body)
            found.append(points @ R.T + p - (track.way(float(time)) if body else 0.0))
    if not found:
        half = 0.5 * size(model) * np.ones(3)
        return np.array([-half, half])
    points = np.concatenate(found)
    return np.array([points.min(axis=0), points.max(axis=0)])
