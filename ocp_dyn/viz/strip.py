"""A strip of stick figures: poses of a solved motion side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._base.checks import not_negative, positive, whole
from .._base.convergence import mark_of
from .._base.types import Array, truth
from ..gait.bodies import Point, locate, side_words, size
from ..gait.unrolled import MotionLike, Straight, check_finite, check_motion, climb_words, unroll
from .drawing import INK, Arrows, Puppet, across, bare, figure, force_arrows, legend, picture_format, save, used_points
from .muscles import MuscleShapes, activations_at
from .skeleton import skeleton
from .terrain.side import Ground, SideGround

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

X = np.array([1.0, 0.0, 0.0])

LARGEST_WIDTH = 300
"""Largest width of a picture [inches]."""

MOST_POSES = 1000
"""Largest number of poses, and of ghosts between two poses."""

LEGEND_WIDTH, LETTER_WIDTH = 3.0, 0.075
"""Widths of the legend and of a letter of the title [inches]."""


def stick_figure(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    poses: int | None = None,
    ghosts: int = 1,
    spacing: float | None = None,
    forces: bool = True,
    width: float | None = None,
) -> Figure:
    """Poses of a motion side by side, seen from the walker's right; written to `path` (.png, .pdf, .svg) if given.

    A periodic motion is shown over its period, a mirrored one over a whole stride (two steps), any other from start to
    end. Time increases to the right; the number below a pose is the fraction of the stride, or the time. Arrows are
    ground reaction forces (one body weight: 0.4 of the model's height).

    poses: their number; None: nine, or five if the body is longer than tall. ghosts: number of pale poses between two
    poses. spacing [m]: distance between two poses; None keeps them apart, 0 superposes them. forces: whether to draw
    the forces. width [inches]: of the figure, such as 7 for a page; then it has no title, which a caption replaces.

    >>> figure = od.viz.stick_figure(solution, poses=5)
    >>> len(figure.axes)
    1
    """
    check_motion(solution)
    if poses is not None:
        whole(poses, "stick_figure: poses", 2, MOST_POSES)
    whole(ghosts, "stick_figure: ghosts", 0, MOST_POSES)
    if spacing is not None:
        not_negative(spacing, "stick_figure: spacing [m]")
    truth(forces, "stick_figure: forces")
    if width is not None:
        positive(width, "stick_figure: width [inches]")
    picture_format(path)
    check_finite(solution, "stick_figure")
    strip = _Strip(solution, poses or 9, ghosts, spacing)
    if poses is None and strip.is_long:
        strip = _Strip(solution, 5, ghosts, spacing)
    made = strip.canvas(forces, width)
    for k in strip.ghosts:
        strip.pose(made.axes[0], k, 0.13)
    for k in strip.poses:
        strip.pose(made.axes[0], k, 1.0)
        strip.under(made.axes[0], k)
        strip.caption(made.axes[0], k)
        if forces:
            strip.forces(made.axes[0], k)
    across(made, mark_of(solution))
    save(made, path, dpi=170)
    return made


class _Strip:
    """The poses and their positions in the picture, x = world x - `origin` + `along` [m], each (count)."""

    def __init__(self, motion: MotionLike, poses: int, ghosts: int, spacing: float | None) -> None:
        self.motion, self.model = motion, motion.model
        self.steps = 2 if motion.repeats and motion.mirror() is not None else 1
        self.total, self.reach, self.segments = motion.duration * self.steps, size(self.model), skeleton(self.model)
        self.radius = max((max(s.radii) for s in self.segments), default=0.0)
        count = (poses - 1) * (ghosts + 1) + 1
        self.times = np.linspace(0.0, self.total, count)
        self.straight = Straight(motion)
        muscles, q = MuscleShapes(self.model), motion.sample(self.times)
        places = np.concatenate([locate(self.model, used_points(self.segments), q), muscles.places(q)], axis=1)
        self.segments = self.segments + muscles.segments
        self.muscles = muscles.looks(activations_at(motion, self.times))
        places = np.array([self.straight(p, float(time)) for p, time in zip(places, self.times, strict=True)])
        self.origin = self.straight.length * self.times / motion.duration
        self.origin = self.origin + (places[..., 0] - self.origin[:, None]).mean()
        self.places = places - self.origin[:, None, None] * X
        if spacing is None:
            widths = np.ptp(self.places[:, :, 0], axis=1)
            spacing = 0.9 * float(widths.max()) + self.radius
        self.along = spacing * np.linspace(0.0, poses - 1, count)
        self.places = self.places + self.along[:, None, None] * X
        middle = (self.places[:, :, 0].min(axis=1) + self.places[:, :, 0].max(axis=1)) / 2
        # captions of a periodic motion have equal distances; those of other motions stand below the root: the pivot of
        # a pendulum, the cart below a pole, the pelvis
        self.centers = self.along + (middle - self.along).mean() if motion.repeats else self._roots()
        self.poses = range(0, count, ghosts + 1)
        self.ghosts = [k for k in range(count) if k not in self.poses]
        self.ground, self.spacing = Ground(motion, self.steps + 1), spacing
        level = not self.ground and not getattr(motion, "rise", 0.0)
        self.grounded = bool(places[..., 2].min() > -0.05 * self.reach) and level
        # one step more than shown: the forces of the last pose are those of the first pose of the next stride
        self.stretches = unroll(motion, self.steps + 1)

    def _roots(self) -> Array:
        """x of the first body's joint in the picture (count) [m], in every pose."""
        root = locate(self.model, (Point(1),), self.motion.sample(self.times))[:, 0]
        seen = np.array([self.straight(p, float(time)) for p, time in zip(root, self.times, strict=True)])
        found: Array = seen[:, 0] - self.origin + self.along
        return found

    def canvas(self, forces: bool, given: float | None = None) -> Figure:
        """The figure, as wide as the poses need or as given [inches], with ground and legend."""
        pad = self.radius + 0.03 * self.reach
        (left, low), (right, high) = (f(self.places[..., [0, 2]].reshape(-1, 2), axis=0) for f in (np.min, np.max))
        left, right, high = left - pad, right + pad, high + pad + 0.1 * self.reach
        low = (0.0 if self.grounded else low - pad) - 0.13 * self.reach
        height = 3.0 * (high - low) / (1.3 * self.reach)
        bodies, self.inch, self.points = (left, right), (high - low) / height, 9.0 if given is None else 7.0
        left, right = self._with_captions(*bodies)
        if given is None:  # title and legend need space side by side, even if the steps are short
            lacking = (LEGEND_WIDTH + LETTER_WIDTH * len(self.title)) * self.inch - (right - left)
            left, right = left - max(0.0, lacking) / 2, right + max(0.0, lacking) / 2
        else:  # captions keep their size where the bodies become smaller, so that the scale needs some steps
            for _ in range(5):
                self.inch = (right - left) / given
                left, right = self._with_captions(*bodies)
            self.inch = (right - left) / given
        height = (high - low) / self.inch
        width = height * (right - left) / (high - low)
        if not width <= LARGEST_WIDTH:
            raise ValueError(
                f"stick_figure: the poses need {width:.3g} inches of width, and a picture has {LARGEST_WIDTH} at most: "
                "choose fewer poses, or a smaller spacing"
            )
        made = figure(width, height)
        axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
        bare(axes)
        axes.set_xlim(left, right)
        axes.set_ylim(low, high)
        if self.grounded:
            axes.axhline(0.0, color=INK, linewidth=1.2, zorder=2)
        has_forces = forces and any(s.place is not None for stretch in self.stretches for s in stretch.supports)
        width, top = float(made.get_size_inches()[0]), 1 - 0.16 / height
        if given is None or given >= LEGEND_WIDTH:
            legend(made, side_words(self.model), 1 - 0.15 / width, top, force=has_forces)
        if given is None:
            made.text(0.15 / width, top, self.title, fontsize=9, color=INK, ha="left", va="center")
        self.floor = low
        self.written: list[tuple[float, float]] = []
        return made

    def _with_captions(self, left: float, right: float) -> tuple[float, float]:
        """Left and right end of the picture [m] with the captions of the outer poses."""
        half = max(self._half(k) for k in self.poses)
        centers = self.centers[list(self.poses)]
        return min(left, float(centers.min()) - half), max(right, float(centers.max()) + half)

    def _half(self, k: int) -> float:
        """Half of the width of a caption [m]."""
        return float(0.55 * LETTER_WIDTH * self.points / 9 * len(self.text(k)) * self.inch)

    @property
    def is_long(self) -> bool:
        """Whether the body is longer than tall in its first pose."""
        along, up = (float(np.ptp(self.places[0, :, k])) for k in (0, 2))
        return along > up

    @property
    def title(self) -> str:
        if not self.motion.repeats:
            name = (self.model.name or "motion").replace("_", " ")
            return f"{name}, {self.total:.2f} s"
        speed = self.motion.distance / self.motion.duration
        what = ("one stride" if self.steps == 2 else "one period") + (" backward" if speed < 0 else "")
        way = ", ".join([f"{self.steps * abs(self.motion.distance):.2f} m", *climb_words(self.motion, self.steps)])
        return f"{what} at {abs(speed):.2f} m/s: {way} in {self.total:.2f} s"

    def pose(self, axes: Axes, k: int, strength: float) -> None:
        puppet = Puppet(axes, self.segments, "side", strength, 3.0 if strength == 1 else 1.0)
        puppet.draw(self.places[k], self.muscles[k] if self.muscles else None)

    def under(self, axes: Axes, k: int) -> None:
        """Draws the ground under a pose, if it is other than the plane z = 0; gaps keep the poses apart."""
        if not self.ground:
            return
        shift = float(self.along[k] - self.origin[k])
        feet = self.places[k, :, 0]
        middle = float(feet.min() + feet.max()) / 2 - shift
        half = 0.46 * self.spacing if self.spacing > 0 else 0.75 * self.reach
        faces = self.ground.seen(self.straight, float(self.times[k]))
        line = self.ground.profile(faces, middle - half, middle + half)
        bottom = max(float(line[:, 1].min()), self.floor + 0.13 * self.reach) - 0.03 * self.reach
        SideGround(axes, self.ground).draw(faces, middle - half, middle + half, bottom, shift)

    def text(self, k: int) -> str:
        """The caption of a pose: the fraction of the stride, or the time."""
        return f"{100 * self.times[k] / self.total:.3g} %" if self.motion.repeats else f"{self.times[k]:.2f} s"

    def caption(self, axes: Axes, k: int) -> None:
        """Writes the fraction of the stride, or the time, below a pose, if other captions leave room."""
        text = self.text(k)
        y = self.floor + 0.055 * self.reach
        x = self.centers[k]
        half = self._half(k)
        if any(x - half < right and left < x + half for left, right in self.written):
            return
        self.written.append((x - half, x + half))
        axes.text(x, y, text, fontsize=self.points, color=INK, ha="center", va="center")

    def forces(self, axes: Axes, k: int) -> None:
        """Draws the ground reaction forces of a pose."""
        found = force_arrows(self.model, self.stretches, self.straight, float(self.times[k]), self.reach)
        shift = (self.along[k] - self.origin[k]) * X
        Arrows(axes, "side", 0.011 * self.reach).draw([(start + shift, arrow) for start, arrow in found])
