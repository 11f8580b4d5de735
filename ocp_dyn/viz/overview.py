"""A small motion in one picture: its poses on top of one another, and positions and torques over time beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from .._types import Array, Vector, finite, is_whole, sequence, shown
from .drawing import (
    COLORS,
    FAINT,
    FORCE,
    INK,
    Puppet,
    bare,
    figure,
    flat,
    hull_of_discs,
    picture_format,
    save,
    used_points,
)
from .gait import Motion, check_motion, weight
from .joints import Coordinate, coordinates
from .plots import Chart, dress
from .skeleton import Point, locate, size, skeleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POSES = 200
"""Poses that a picture can hold."""

PALEST = 0.15
"""Strength of the colors of the first pose; the last has full strength."""

CURVES = (COLORS["left"], COLORS["right"], FORCE, INK, "#CC79A7", "#E69F00")
"""Colors of the curves of a panel, in turn."""

NEGLIGIBLE = 1e-6
"""Torques below this fraction of the model's weight times its size are drawn as zero."""

WIDTH, POSES, PANEL, HEAD = 10.0, 5.9, 1.55, 0.45
"""Inches: the figure, the picture of the poses, the height of a panel of curves, the title."""


class Shape(Protocol):
    """A body that stands still in the world; `ocp_dyn.ocp.Obstacle` is one."""

    @property
    def start(self) -> Vector: ...
    @property
    def end(self) -> Vector | None: ...
    @property
    def radius(self) -> float: ...


class _Group(NamedTuple):
    """Curves of one unit: title, unit, and (label, abscissa, values) of each."""

    title: str
    unit: str
    curves: list[tuple[str, Array, Array]]


def overview(
    solution: Motion,
    path: str | Path | None = None,
    *,
    poses: int = 13,
    trace: Sequence[str] = (),
    obstacles: Sequence[Shape] = (),
    spread: float = 0.0,
    title: str = "",
) -> Figure:
    """Poses of a motion where they are in the x-z plane, the first pale, the last dark; beside them positions, torques
    and forces of the joints over time. Written to `path` (.png, .pdf, .svg) if given.

    For mechanisms that stay in place or travel a few body lengths; `stick_figure` sets the poses of a walker side by
    side. poses: how many. trace: frames whose paths are drawn. obstacles: shapes that stand in the way, such as
    `ocp.Obstacle`. spread [m]: shifts the poses along x with time, for motions up and down. title: default: name of
    the model and duration. KeyError for a frame that
    the model lacks.
    """
    check_motion(solution)
    picture_format(path)
    if not (is_whole(poses, 2) and poses <= MOST_POSES):
        raise ValueError(
            f"overview: poses must be a whole number of at least 2 and at most {MOST_POSES}, got {shown(poses)}"
        )
    finite(spread, "overview: spread [m]")
    frames = [solution.model.frame(name) for name in sequence(trace, "overview: trace must be a list of frames")]
    points = tuple(Point(f.body, *np.array(f.X.r.full()).ravel().tolist()) for f in frames)
    chart = Chart(solution)
    groups = _groups(chart)
    height = HEAD + PANEL * max(2, len(groups))
    made = figure(WIDTH, height)
    axes = made.add_axes((0.1 / WIDTH, 0.1 / height, POSES / WIDTH, 1 - (HEAD + 0.25) / height))
    bare(axes)
    reach = _poses(axes, chart, poses, spread)
    reach += _traces(axes, chart, points, spread) + _obstacles(axes, obstacles)
    _frame(axes, np.vstack(reach), 0.06 * size(solution.model))
    for k, group in enumerate(groups):
        bottom = height - HEAD - PANEL * (k + 1) + 0.5
        panel = made.add_axes((6.75 / WIDTH, bottom / height, 3.05 / WIDTH, (PANEL - 0.75) / height))
        _curves(panel, chart, group, last=k == len(groups) - 1)
    y = 1 - 0.22 / height
    made.text(0.15 / WIDTH, y, title or chart.title, fontsize=10.5, color=INK, va="center", weight="bold")
    text = f"poses from 0 s (pale) to {solution.duration:.2f} s (dark)"
    made.text(0.15 / WIDTH, y - 0.22 / height, text, fontsize=8.5, color=INK, va="center")
    save(made, path)
    return made


def _groups(chart: Chart) -> list[_Group]:
    """Positions of the joints, then torques and forces that are not zero, in panels of one unit each.

    A root that moves in several directions is left out: its way is seen in the poses.
    """
    root = chart.model.joints[1].nv
    found = [c for c in coordinates(chart.model) if root == 1 or c.qd_index >= root]
    negligible = NEGLIGIBLE * weight(chart.model) * size(chart.model)
    groups = []
    for turns, title, unit in ((True, "angles", "degrees"), (False, "positions", "m")):
        factor = 180 / np.pi if turns else 1.0
        curves = [(_name(c), *_scaled(chart.positions(c.q_index), factor)) for c in found if c.is_rotation == turns]
        groups.append(_Group(title, unit, curves))
    for turns, title, unit in ((True, "torques", "N m"), (False, "forces", "N")):
        efforts = [(_name(c), *chart.torques(c.qd_index)) for c in found if c.is_rotation == turns]
        efforts = [(label, x, np.where(np.abs(y) < negligible, 0.0, y)) for label, x, y in efforts if np.any(y)]
        groups.append(_Group(title, unit, efforts))
    return [group for group in groups if group.curves]


def _name(c: Coordinate) -> str:
    """Label of a coordinate, without the word "joint" that the builder adds to a body's name."""
    return c.label.removesuffix(" joint")


def _scaled(curve: tuple[Array, Array], factor: float) -> tuple[Array, Array]:
    return curve[0], factor * curve[1]


def _curves(axes: Axes, chart: Chart, group: _Group, last: bool) -> None:
    """One panel: curves in colors of their own; thin lines where a phase ends."""
    for k, (label, x, y) in enumerate(group.curves):
        style = "-" if k < len(CURVES) else (0, (4.5, 1.6))
        axes.plot(x, y, color=CURVES[k % len(CURVES)], linewidth=1.6, linestyle=style, label=label)
    for one, _ in pairwise(chart.stretches):
        axes.axvline(float(chart.abscissa(one.t[-1:])[0]), color=FAINT, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    end = float(chart.abscissa(np.array([chart.end]))[0])
    dress(axes, group.title, group.unit, chart.label if last else "", (0.0, end))
    axes.legend(fontsize=7.5, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.96), ncols=4, handlelength=1.3,
                borderpad=0.0, columnspacing=1.0, handletextpad=0.5)  # fmt: skip


def _poses(axes: Axes, chart: Chart, poses: int, spread: float) -> list[Array]:
    """Draws the poses; returns the corners (., 2) of what they cover [m]."""
    segments = skeleton(chart.model)
    times = np.linspace(0.0, chart.motion.duration, poses)
    places = locate(chart.model, used_points(segments), chart.motion.sample(times))
    places[..., 0] += spread * np.linspace(0.0, 1.0, poses)[:, None]
    for k in range(poses):
        strength = PALEST + (1 - PALEST) * (k / (poses - 1)) ** 1.5
        Puppet(axes, segments, "side", strength, zorder=3 + k / poses).draw(places[k])
    radius = max(max(s.radii) for s in segments)
    seen = flat(places, "side").reshape(-1, 2)
    if any(phase.places for phase in chart.motion.phases):
        axes.axhline(0.0, color=INK, linewidth=1.2, zorder=2)
    return [seen - radius, seen + radius]


def _traces(axes: Axes, chart: Chart, points: tuple[Point, ...], spread: float) -> list[Array]:
    """Draws the paths of points; returns what they cover."""
    fractions = np.linspace(0.0, 1.0, 200)
    places = locate(chart.model, points, chart.motion.sample(fractions * chart.motion.duration))
    places[..., 0] += spread * fractions[:, None]
    paths = [flat(places[:, k], "side") for k in range(len(points))]
    for k, way in enumerate(paths):
        axes.plot(*way.T, color=CURVES[k % len(CURVES)], linewidth=1.3, zorder=5)
    return paths


def _obstacles(axes: Axes, obstacles: Sequence[Shape]) -> list[Array]:
    """Draws the obstacles; returns their outlines."""
    outlines = []
    for shape in obstacles:
        ends = np.array([shape.start] if shape.end is None else [shape.start, shape.end], dtype=float)
        outline = hull_of_discs(flat(ends, "side"), np.full(len(ends), float(shape.radius)))
        axes.fill(*outline.T, color="#F0E442", edgecolor=INK, linewidth=0.8, zorder=2)
        outlines.append(outline)
    return outlines


def _frame(axes: Axes, seen: Array, pad: float) -> None:
    """Limits of the axes about all that is seen, at one scale in both directions."""
    low, high = seen.min(axis=0) - pad, seen.max(axis=0) + pad
    box = axes.get_window_extent()
    room = np.array([box.width, box.height])
    half = max((high - low) / room) * room / 2
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
