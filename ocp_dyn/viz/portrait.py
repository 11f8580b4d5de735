"""Phase portraits of motions, and Floquet multipliers in the complex plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.convergence import mark_of
from .._base.types import LARGEST_MAGNITUDE, repr_in_message, sequence
from ..gait.joint_angles import Coordinate, coordinates, directed
from ..gait.unrolled import MotionLike
from .drawing import COLORS, FAINT, INK, SHADE, across, figure, legend, picture_format, save
from .panels import Chart, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS_PER_ROW = 4
"""Largest number of panels in a row."""


def plot_phase_portrait(
    solution: MotionLike, path: str | Path | None = None, *, joints: Sequence[str] | None = None
) -> Figure:
    """Velocity over position of joints; impacts are dotted, and a dot marks the start.

    The curves of a periodic motion are closed, except those of a root that moves on; a mirrored motion is shown over
    two steps. joints: names of joints (default: all except the root of a floating or planar model). Written to `path`
    (.png, .pdf, .svg) if given. KeyError for a joint that the model does not have, ValueError if no coordinate is left
    to plot.

    >>> len(od.viz.plot_phase_portrait(solution).axes)
    1
    """
    picture_format(path)
    chart = Chart(solution)
    chosen = _chosen(chart, joints)
    columns = min(PANELS_PER_ROW, len(chosen))
    rows = -(-len(chosen) // columns)
    width, height = max(3.6, 2.75 * columns + 0.25), 2.6 * rows + 0.45
    made = figure(width, height)
    for k, c in enumerate(chosen):
        i, j = divmod(k, columns)
        left, bottom = 0.62 + 2.75 * j, height - 0.45 - 2.6 * (i + 1) + 0.55
        axes = made.add_axes((left / width, bottom / height, 2.02 / width, 1.75 / height))
        _curve(axes, chart, c)
    y = 1 - 0.24 / height
    made.text(0.2 / width, y, chart.title, fontsize=10.5 if columns > 2 else 8.5, color=INK, va="center", weight="bold")
    if columns > 2:
        legend(made, chart.words, 1 - 0.2 / width, y, force=False)
    across(made, mark_of(solution))
    save(made, path)
    return made


def plot_multipliers(multipliers: Any, path: str | Path | None = None) -> Figure:
    """Floquet multipliers in the complex plane with the unit circle, inside which disturbances die out.

    multipliers: as `Solution.floquet_multipliers` returns them. Written to `path` (.png, .pdf, .svg) if given.

    >>> figure = od.viz.plot_multipliers([0.3 + 0.4j, 0.3 - 0.4j, -0.1])
    >>> figure.axes[0].get_xlabel()
    'real'
    """
    picture_format(path)
    values = _complex(multipliers)
    made = figure(3.6, 3.6)
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
    save(made, path)
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


def _curve(axes: Axes, chart: Chart, c: Coordinate) -> None:
    factor, unit = (c.sign * 180 / np.pi, "degrees") if c.is_rotation else (c.sign, "m")
    ends = []
    for stretch in chart.stretches:
        q, qd = factor * stretch.q[:, c.q_index], factor * stretch.qd[:, c.qd_index]
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
