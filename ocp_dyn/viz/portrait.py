"""Phase portraits of motions, and Floquet multipliers in the complex plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.convergence import mark_of
from .._base.types import LARGEST_MAGNITUDE, Array, repr_in_message, sequence
from ..gait.joint_angles import Coordinate, coordinates, directed
from ..gait.unrolled import MotionLike
from .drawing import COLORS, FAINT, INK, SHADE, across, figure, legend, picture_format, save
from .panels import Chart, dress
from .print_layout import PanelGrid, PrintLayout, finish_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS_PER_ROW = 4
"""Largest number of panels in a row."""

SAMPLES = 8
"""Points of a curve per interval."""


def plot_phase_portrait(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure:
    """Velocity over position of joints; impacts are dotted, and a dot marks the start.

    Cubic between the nodes. The curves of a periodic motion are closed, except those of a root that moves on; a
    mirrored motion is shown over two steps. joints: names of joints (default: all except the root of a floating or
    planar model). width, style: see `plot_motion`. Written to `path` (.png, .pdf, .svg) if given. KeyError for a joint
    that the model does not have, ValueError if no coordinate is left to plot.

    >>> len(od.viz.plot_phase_portrait(solution).axes)
    1
    """
    picture_format(path)
    layout, chart = PrintLayout.of(width, style), Chart(solution)
    chosen = _chosen(chart, joints)
    grid = PanelGrid.of(layout, 2.75, 2.45)
    rows = grid.arranged([chosen[k : k + PANELS_PER_ROW] for k in range(0, len(chosen), PANELS_PER_ROW)])
    grid, columns, head = grid.filled(rows), max(map(len, rows)), 0.45 if layout.titled else 0.1
    size = (grid.total or max(3.6, grid.width * columns + 0.4), grid.height * len(rows) + head)
    made = figure(*size)
    for i, row in enumerate(rows):
        for j, c in enumerate(row):
            bottom = size[1] - head - grid.height * (i + 1) + 0.4
            _curve(made.add_axes(grid.box(size, j, bottom)), chart, c)
    y, large = 1 - 0.24 / size[1], columns > 2
    if layout.titled:
        made.text(0.2 / size[0], y, chart.title, fontsize=10.5 if large else 8.5, color=INK, va="center", weight="bold")
    if large and layout.titled:
        legend(made, chart.words, 1 - 0.2 / size[0], y, force=False)
    finish_layout(made, layout)
    across(made, mark_of(solution))
    save(made, path, math=layout.style == "latex")
    return made


def plot_multipliers(
    multipliers: Any, path: str | Path | None = None, *, width: float | None = None, style: str = "screen"
) -> Figure:
    """Floquet multipliers in the complex plane with the unit circle, inside which disturbances die out.

    multipliers: as `Solution.floquet_multipliers` returns them. width, style: see `plot_motion`; 3.6 inches if no width
    is given. Written to `path` (.png, .pdf, .svg) if given.

    >>> figure = od.viz.plot_multipliers([0.3 + 0.4j, 0.3 - 0.4j, -0.1])
    >>> figure.axes[0].get_xlabel()
    'real'
    """
    picture_format(path)
    layout, values = PrintLayout.of(3.6 if width is None else width, style), _complex(multipliers)
    made = figure(*[(layout.width or 3.6) / layout.scale] * 2)
    axes = made.add_axes((0.17, 0.15, 0.76, 0.76))
    around = np.linspace(0.0, 2 * np.pi, 200)
    axes.fill(np.cos(around), np.sin(around), color=SHADE, linewidth=0)
    axes.plot(np.cos(around), np.sin(around), color=FAINT, linewidth=1.0)
    inside = np.abs(values) < 1
    for chosen, color in ((inside, COLORS["left"]), (~inside, COLORS["right"])):
        axes.plot(values.real[chosen], values.imag[chosen], "o", color=color, markersize=5, clip_on=False)
    reach = 1.12 * max([1.0, *np.abs(values[np.isfinite(values)])])
    dress(axes, f"largest magnitude {np.abs(values).max(initial=0.0):.4g}", "imaginary", "real", (-reach, reach))
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    finish_layout(made, layout)
    save(made, path, math=layout.style == "latex")
    return made


def _complex(multipliers: Any) -> Any:
    """Real or complex numbers as a complex array; ValueError for anything else."""
    try:
        array = np.asarray(multipliers)
        values = array.astype(complex).ravel() if array.dtype.kind not in "US" else np.zeros(0, complex)
    except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):  # the last two from symbols
        values = np.zeros(0, complex)
    if not values.size or not np.all(np.abs(values) <= LARGEST_MAGNITUDE):  # false for nan, too
        raise ValueError(f"plot_multipliers needs finite numbers, real or complex, got {repr_in_message(multipliers)}")
    return values


def _chosen(chart: Chart, joints: Sequence[str] | None) -> list[Coordinate]:
    model = chart.model
    if joints is not None:
        names = sequence(joints, "joints must be a sequence of names of joints")
        dofs = {k for name in names for k in range(*model.qd_slice(name).indices(model.nv))}
    else:
        root = model.joints[1]
        dofs = set(range(root.nv if root.nv > 1 else 0, model.nv))
    found = [c for c in coordinates(model) if c.qd_index in dofs]
    if not found:
        which = " besides its root" if joints is None else f" among {repr_in_message(joints)}"
        raise ValueError(
            f"plot_phase_portrait needs joints with as many positions as velocities, and {model!r} has none{which}"
        )
    return found


def _smooth(t: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """(q, qd) along the cubics with these positions and velocities at the nodes."""
    s, h = np.linspace(0.0, 1.0, SAMPLES, endpoint=False), np.maximum(np.diff(t), 1e-12)[:, None]
    step, begin, end = np.diff(q)[:, None], h * qd[:-1, None], h * qd[1:, None]
    a, b = 3 * step - 2 * begin - end, begin + end - 2 * step
    inside = q[:-1, None] + s * (begin + s * (a + s * b)), (begin + s * (2 * a + 3 * s * b)) / h
    return np.append(inside[0], q[-1]), np.append(inside[1], qd[-1])


def _curve(axes: Axes, chart: Chart, c: Coordinate) -> None:
    factor, unit = (c.sign * 180 / np.pi, "degrees") if c.is_rotation else (c.sign, "m")
    ends = []
    for stretch in chart.stretches:
        q, qd = _smooth(stretch.t, factor * stretch.q[:, c.q_index], factor * stretch.qd[:, c.qd_index])
        axes.plot(q, qd, color=COLORS[c.side], linewidth=1.6, zorder=3)
        ends.append(((q[0], qd[0]), (q[-1], qd[-1])))
    following = ends[1:] + (ends[:1] if chart.cycle else [])
    span = max(float(np.ptp(factor * stretch.q[:, c.q_index])) for stretch in chart.stretches)
    for (_, (q, qd)), ((q_next, qd_next), _) in zip(ends, following, strict=False):
        if abs(q_next - q) > 0.02 * span:  # a root that moves on: the curve is not closed
            continue
        axes.plot([q, q_next], [qd, qd_next], color=COLORS[c.side], linewidth=1.0, linestyle=(0, (1.2, 1.4)), zorder=2)
    axes.plot(*ends[0][0], "o", color=COLORS[c.side], markersize=4, zorder=4)
    low, high = axes.get_xlim()
    dress(axes, c.label, f"{unit}/s", directed(unit, [c.positive]), (low, high))
    axes.locator_params(axis="x", nbins=4)
