"""The ground in pictures from the side and from ahead."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base.types import Array
from ..drawing import INK, SHADE, flat
from .faces import Face, base_of, faces_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JUST = 1e-7
"""Distance from an edge at which the ground beside it is looked at [m]."""

NEAR = 0.3
"""Distance up to which faces are drawn in the view from ahead, as a fraction of the model's size."""

SAMPLES = 80
"""Number of points at which a ground that is a function is looked at."""


class Ground:
    """The ground of a motion as faces; false if the motion has none but the plane z = 0."""

    def __init__(self, motion: Any, steps: int) -> None:
        self.faces = faces_of(motion, steps)
        terrain = getattr(motion, "terrain", None)
        self.terrain = terrain if terrain is not None and callable(terrain.ground) else None
        self.base, self.repeats = base_of(motion, self.faces), motion.repeats

    def __bool__(self) -> bool:
        return bool(self.faces) or self.terrain is not None

    def seen(self, straight: Any, time: float) -> list[Face]:
        """The faces as a camera sees them that goes along with the motion."""
        return [Face(straight(face.corners, time), face.solid) for face in self.faces]

    def profile(self, faces: list[Face], low: float, high: float) -> Array:
        """The line (n, 2) of the ground, x and z [m], from x = low to high, with its steps."""
        solid = [face for face in faces if face.solid and face.span[0] < high and face.span[1] > low]
        ends = {low, high, *(x for face in solid for x in face.span if low < x < high)}
        if self.terrain is not None:
            ends |= set(np.linspace(low, high, SAMPLES))
        marks, points = sorted(ends), []
        for a, b in pairwise(marks):
            over = [face for face in solid if face.span[0] < (a + b) / 2 < face.span[1]]
            for x in (a + JUST, b - JUST):
                points.append((x, max([self._base(x, over), *(face.height(x) for face in over)])))
        return np.array(points)

    def _base(self, x: float, over: list[Face]) -> float:
        if self.terrain is not None:
            return float(self.terrain.ground(x, 0.0))
        return -np.inf if over else self.base


class SideGround:
    """The ground in axes that show (x, z); `draw` replaces it."""

    def __init__(self, axes: Axes, ground: Ground) -> None:
        from matplotlib.collections import PolyCollection

        self.axes, self.ground = axes, ground
        self.fill = PolyCollection([], facecolors=[SHADE], edgecolors="none", zorder=0)
        self.rails = PolyCollection([], facecolors=[SHADE], edgecolors=[INK], linewidths=1.2, zorder=1)
        axes.add_collection(self.fill, autolim=False)
        axes.add_collection(self.rails, autolim=False)
        (self.line,) = axes.plot([], [], color=INK, linewidth=1.2, zorder=2)

    def draw(self, faces: list[Face], low: float, high: float, bottom: float, shift: float = 0.0) -> None:
        """Draws the ground from x = low to high; shift: of the picture along x [m]."""
        line = self.ground.profile(faces, low, high) + np.array([shift, 0.0])
        ends = [(line[-1, 0], bottom), (line[0, 0], bottom)]
        self.fill.set_verts([np.vstack([line, ends])])
        self.line.set_data(line[:, 0], line[:, 1])
        shown = [face for face in faces if not face.solid and face.span[0] < high and face.span[1] > low]
        shown += [face for face in faces if face.solid and face.tilts and low < face.corners[:, 0].mean() < high]
        self.rails.set_verts([flat(face.corners, "side") + np.array([shift, 0.0]) for face in shown], closed=True)

    def follow(self, faces: list[Face], places: Array) -> None:
        """Draws the ground in all of the axes."""
        (low, high), (bottom, _) = self.axes.get_xlim(), self.axes.get_ylim()
        self.draw(faces, low, high, bottom)


class FrontGround:
    """The faces near the walker in axes that show (y, z); `draw` replaces them."""

    def __init__(self, axes: Axes, ground: Ground, reach: float) -> None:
        from matplotlib.collections import PolyCollection

        self.reach = reach
        if not ground.repeats and ground.terrain is None:
            axes.axhline(ground.base, color=INK, linewidth=1.2, zorder=0)
        self.shapes = PolyCollection([], facecolors=[SHADE], edgecolors=[INK], linewidths=1.0, zorder=0)
        axes.add_collection(self.shapes, autolim=False)

    def follow(self, faces: list[Face], places: Array) -> None:
        """Draws the faces near the places (n, 3) of a walker [m], the nearest ones last."""
        x = float(places[:, 0].mean())
        near = [f for f in faces if f.span[0] < x + NEAR * self.reach and f.span[1] > x - NEAR * self.reach]
        near.sort(key=lambda face: float(face.corners[:, 0].mean()))
        self.shapes.set_verts([flat(face.corners, "front") for face in near], closed=True)
