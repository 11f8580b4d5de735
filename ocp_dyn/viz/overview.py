"""Overview of a short motion in one picture: superposed poses, and positions and torques over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .._base.checks import whole
from .._base.convergence import mark_of
from .._base.display import picture_of
from .._base.types import Array, Vector, finite, repr_in_message, sequence
from ..formulations import Trajectory
from ..gait.bodies import Point, locate, size
from ..gait.joint_angles import Coordinate, coordinates, directed
from ..gait.unrolled import MotionLike, check_motion, weight
from .drawing import (
    COLORS,
    FAINT,
    FORCE,
    INK,
    Puppet,
    across,
    bare,
    figure,
    flat,
    hull_of_discs,
    picture_format,
    save,
    used_points,
)
from .panels import Chart, dress
from .skeleton import skeleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POSES = 200
"""Largest number of poses in a picture."""

PALEST = 0.15
"""Strength of the colors of the first pose; the last has full strength."""

CURVES = (COLORS["left"], COLORS["right"], FORCE, INK, "#CC79A7", "#E69F00")
"""Colors of the curves of a panel, in order."""

NAMES_PER_LINE, LINE_OF_NAMES = 4, 12.0
"""Number of names of curves in a line above a panel, and the height of this line [points]."""

NEGLIGIBLE = 1e-6
"""Torques below this fraction of the model's weight times its size are drawn as zero."""

WIDTH, POSES_WIDTH, PANEL_HEIGHT, TITLE_HEIGHT = 10.0, 5.9, 1.55, 0.45
"""Sizes of the figure, the picture of the poses, a panel of curves, and the title [inches]."""


class ShapeLike(Protocol):
    """A ball or capsule fixed in the world, such as `ocp_dyn.ocp.Obstacle`."""

    @property
    def start(self) -> Vector: ...
    @property
    def end(self) -> Vector | None: ...
    @property
    def radius(self) -> float: ...


class _Group(NamedTuple):
    """Curves of one panel: title, unit, and (label, abscissa, values) of each curve."""

    title: str
    unit: str
    curves: list[tuple[str, Array, Array]]


def overview(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    poses: int = 13,
    trace: Sequence[str] = (),
    obstacles: Sequence[ShapeLike] = (),
    spread: float = 0.0,
    title: str = "",
) -> Figure:
    """Superposed poses of a motion in the x-z plane, the first pale, the last dark, beside curves of joint positions,
    torques and forces over time. Written to `path` (.png, .pdf, .svg) if given.

    For mechanisms that stay in place or travel a few body lengths; for walkers, `stick_figure` draws the poses side by
    side. poses: their number. trace: names of frames whose paths are drawn. obstacles: shapes to draw, such as
    `ocp.Obstacle`. spread [m]: shift along x from the first pose to the last, for motions up and down. title: by
    default the name of the model and the duration. KeyError for a frame that the model does not have.

    >>> figure = od.viz.overview(solution, poses=5)
    >>> len(figure.axes)
    3
    """
    picture_format(path)
    points = _checked(solution, poses, spread, title, trace, obstacles)
    chart = Chart(solution)
    groups = _groups(chart)
    height = TITLE_HEIGHT + PANEL_HEIGHT * max(2, len(groups))
    made = figure(WIDTH, height)
    axes = made.add_axes((0.1 / WIDTH, 0.1 / height, POSES_WIDTH / WIDTH, 1 - (TITLE_HEIGHT + 0.25) / height))
    bare(axes)
    reach = _poses(axes, chart, poses, spread)
    reach += _traces(axes, chart, points, spread) + _obstacles(axes, obstacles)
    _frame(axes, np.vstack(reach), 0.06 * size(solution.model))
    for k, group in enumerate(groups):
        bottom = height - TITLE_HEIGHT - PANEL_HEIGHT * (k + 1) + 0.5
        panel = made.add_axes((6.75 / WIDTH, bottom / height, 3.05 / WIDTH, (PANEL_HEIGHT - 0.75) / height))
        _curves(panel, chart, group, last=k == len(groups) - 1)
    below = f"poses from 0 s (pale) to {solution.duration:.2f} s (dark)" + ", drawn side by side" * bool(spread)
    for line, text, look in ((1, title or chart.title, {"fontsize": 10.5, "weight": "bold"}),
                             (2, below, {"fontsize": 8.5})):  # fmt: skip
        made.text(0.15 / WIDTH, 1 - 0.22 * line / height, text, color=INK, va="center", **look)
    across(made, mark_of(solution))
    save(made, path)
    return made


def _checked(solution: Any, poses: Any, spread: Any, title: Any, trace: Any, obstacles: Any) -> tuple[Point, ...]:
    """The points whose paths are drawn, once all arguments of `overview` are found right."""
    check_motion(solution)
    if not all(np.all(np.isfinite(phase.q)) for phase in solution.phases):
        raise ValueError("overview: the positions of this motion are not finite: solve it again")
    whole(poses, "overview: poses", 2, MOST_POSES)
    finite(spread, "overview: spread [m]")
    if not isinstance(title, str):
        raise TypeError(f"overview: title must be a string, got {repr_in_message(title)}")
    needs = "overview: obstacles must be a list of shapes, such as [ocp.Obstacle((0, 0, 1), 0.1)]"
    for shape in sequence(obstacles, needs):
        if not all(hasattr(shape, key) for key in ("start", "end", "radius")):
            raise TypeError(f"{needs}, got {repr_in_message(shape)} among them")
    frames = [solution.model.frame(name) for name in sequence(trace, "overview: trace must be a list of frames")]
    return tuple(Point(f.body, *np.array(f.X.r.full()).ravel().tolist()) for f in frames)


@picture_of.register(Trajectory)
def _picture_of_trajectory(motion: Trajectory) -> Any:
    return overview(motion)


def _groups(chart: Chart) -> list[_Group]:
    """Panels of joint positions, then of torques and forces that are not zero; each panel has one unit.

    A root joint with several dofs is left out: the poses show its motion.
    """
    root = chart.model.joints[1].nv
    shown_coordinates = [c for c in coordinates(chart.model) if root == 1 or c.qd_index >= root]
    negligible = NEGLIGIBLE * weight(chart.model) * size(chart.model)
    groups = []
    for is_rotation, title, unit in ((True, "angles", "degrees"), (False, "positions", "m")):
        factor = 180 / np.pi if is_rotation else 1.0
        of_kind = [c for c in shown_coordinates if c.is_rotation == is_rotation]
        curves = [(_name(c), x, c.sign * factor * y) for c in of_kind for x, y in [chart.positions(c.q_index)]]
        groups.append(_Group(title, _ordinate(unit, [c.positive for c in of_kind]), curves))
    for is_rotation, title, unit in ((True, "torques", "N m"), (False, "forces", "N")):
        driven = [(c, *chart.torques(c.qd_index)) for c in shown_coordinates if c.is_rotation == is_rotation]
        driven = [entry for entry in driven if np.any(entry[2])]
        efforts = [(_name(c), x, c.effort_sign * np.where(np.abs(y) < negligible, 0.0, y)) for c, x, y in driven]
        groups.append(_Group(title, _ordinate(unit, [c.effort for c, *_ in driven]), efforts))
    return [group for group in groups if group.curves]


def _ordinate(unit: str, words: list[str]) -> str:
    """The unit, and what is positive if it is the same for all curves."""
    return directed(unit, words) if len(set(words)) == 1 else unit


def _name(c: Coordinate) -> str:
    """Label of a coordinate, without the word "joint" that the builder adds to a body's name."""
    return c.label.removesuffix(" joint")


def _curves(axes: Axes, chart: Chart, group: _Group, last: bool) -> None:
    """Draws one panel: a color for every curve, thin lines at the ends of phases."""
    for k, (label, x, y) in enumerate(group.curves):
        style = "-" if k < len(CURVES) else (0, (4.5, 1.6))
        axes.plot(x, y, color=CURVES[k % len(CURVES)], linewidth=1.6, linestyle=style, label=label)
    for one, _ in pairwise(chart.stretches):
        axes.axvline(float(chart.abscissa(one.t[-1:])[0]), color=FAINT, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    end = float(chart.abscissa(np.array([chart.end]))[0])
    dress(axes, group.title, group.unit, chart.label if last else "", (0.0, end))
    axes.legend(fontsize=7.5, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.96), ncols=NAMES_PER_LINE,
                handlelength=1.3, borderpad=0.0, columnspacing=1.0, handletextpad=0.5)  # fmt: skip
    if len(group.curves) > NAMES_PER_LINE:  # the title stands above the names
        lines = -(-len(group.curves) // NAMES_PER_LINE)
        axes.set_title(group.title, fontsize=9, color=INK, loc="left", pad=4 + LINE_OF_NAMES * lines)


def _poses(axes: Axes, chart: Chart, poses: int, spread: float) -> list[Array]:
    """Draws the poses; returns points (., 2) that bound them [m]."""
    segments = skeleton(chart.model)
    times = np.linspace(0.0, chart.motion.duration, poses)
    places = locate(chart.model, used_points(segments), chart.motion.sample(times))
    places[..., 0] += spread * np.linspace(0.0, 1.0, poses)[:, None]
    for k in range(poses):
        strength = PALEST + (1 - PALEST) * (k / (poses - 1)) ** 1.5
        Puppet(axes, segments, "side", strength, zorder=3 + k / poses).draw(places[k])
    radius = max(max(s.radii) for s in segments)
    seen = flat(places, "side").reshape(-1, 2)
    if any(phase.wrenches for phase in chart.motion.phases):
        axes.axhline(0.0, color=INK, linewidth=1.2, zorder=2)
    return [seen - radius, seen + radius]


def _traces(axes: Axes, chart: Chart, points: tuple[Point, ...], spread: float) -> list[Array]:
    """Draws the paths of points; returns these paths [m]."""
    fractions = np.linspace(0.0, 1.0, 200)
    places = locate(chart.model, points, chart.motion.sample(fractions * chart.motion.duration))
    places[..., 0] += spread * fractions[:, None]
    paths = [flat(places[:, k], "side") for k in range(len(points))]
    for k, way in enumerate(paths):
        axes.plot(*way.T, color=CURVES[k % len(CURVES)], linewidth=1.3, zorder=5)
    return paths


def _obstacles(axes: Axes, obstacles: Sequence[ShapeLike]) -> list[Array]:
    """Draws the obstacles; returns their outlines [m]."""
    outlines = []
    for shape in obstacles:
        ends = np.array([shape.start] if shape.end is None else [shape.start, shape.end], dtype=float)
        outline = hull_of_discs(flat(ends, "side"), np.full(len(ends), float(shape.radius)))
        axes.fill(*outline.T, color="#F0E442", edgecolor=INK, linewidth=0.8, zorder=2)
        outlines.append(outline)
    return outlines


def _frame(axes: Axes, seen: Array, pad: float) -> None:
    """Sets the limits of the axes around all drawn points, with one scale in both directions."""
    low, high = seen.min(axis=0) - pad, seen.max(axis=0) + pad
    box = axes.get_window_extent()
    room = np.array([box.width, box.height])
    half = max((high - low) / room) * room / 2
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
