"""A figure of activations and moments along a recorded motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base.display import figure_of
from ...viz.drawing import FAINT, INK, MUSCLE, SHADE, figure, picture_format, save
from ...viz.panels import dress
from .estimate import AT_LIMIT, MuscleEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, WIDE, HIGH = 6, 2.1, 1.15
"""Panels in a row, and the size of one with its margins [inches]."""
TOP, FOOT, GAP = 0.65, 0.15, 0.45
"""Heights above, below and between activations and moments [inches]."""


@figure_of.register(MuscleEstimate)
def plot_estimate(shown: MuscleEstimate, path: str | Path | None = None) -> Figure:
    """The figure; see `MuscleEstimate.plot`."""
    picture_format(path)
    columns = min(COLUMNS, max(len(shown.names), len(shown.coordinates)))
    above, below = -(-len(shown.names) // columns), -(-len(shown.coordinates) // columns)
    width, height = 0.5 + WIDE * columns, TOP + HIGH * (above + below) + GAP + FOOT
    made = figure(max(width, 5.0), height)
    width = float(made.get_figwidth())
    panels = [(k, 0.0, above) for k in range(len(shown.names))] + [
        (k, HIGH * above + GAP, below) for k in range(len(shown.coordinates))
    ]
    for number, (k, down, rows) in enumerate(panels):
        row, column = divmod(k, columns)
        bottom = height - TOP - down - HIGH * (row + 1) + 0.32
        box = ((0.5 + WIDE * column) / width, bottom / height, (WIDE - 0.5) / width, (HIGH - 0.5) / height)
        axes = made.add_axes(box)
        last = k + columns >= (len(shown.names) if number < len(shown.names) else len(shown.coordinates))
        label = "time [s]" if last and rows else ""
        (_activation if number < len(shown.names) else _moment)(axes, shown, k, label)
    name = (shown.moments.motion.model.name or "motion").replace("_", " ")
    made.text(0.1 / width, 1 - 0.14 / height, f"{name}: activations, and net moments", fontsize=11, color=INK, va="top")
    words = ("● what muscles give", "- - net moment", "shaded: at the limit, or muscles too weak")
    for word, color, left in zip(words, (MUSCLE, INK, INK), (0.1, 1.5, 2.55), strict=True):
        made.text(left / width, 1 - 0.36 / height, word, fontsize=8, color=color, va="top")
    save(made, path)
    return made


def _activation(axes: Axes, shown: MuscleEstimate, k: int, label: str) -> None:
    values, (low, high) = shown.activations[:, k], shown.limits
    _shade(axes, shown.times, values >= high - AT_LIMIT)
    axes.fill_between(shown.times, low, values, color=MUSCLE, alpha=0.25, linewidth=0)
    axes.plot(shown.times, values, color=MUSCLE, linewidth=1.2)
    axes.set_ylim(0.0, 1.05)
    axes.set_yticks([0.0, 0.5, 1.0])
    _dressed(axes, shown, shown.names[k], "", label)


def _moment(axes: Axes, shown: MuscleEstimate, k: int, label: str) -> None:
    tau = shown.tau[:, k]
    _shade(axes, shown.times, np.nan_to_num(shown.shortfall[:, k]) != 0)
    axes.plot(shown.times, tau - shown.reserves[:, k], color=MUSCLE, linewidth=1.6)
    axes.plot(shown.times, tau, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    _dressed(axes, shown, shown.coordinates[k], shown.recording("reserves").units[k], label)


def _dressed(axes: Axes, shown: MuscleEstimate, title: str, unit: str, label: str) -> None:
    dress(axes, title, unit, label, (float(shown.times[0]), float(shown.times[-1]) + 1e-9))
    axes.title.set_fontsize(7.5)
    axes.tick_params(labelsize=6.5, labelbottom=True)
    axes.xaxis.label.set_fontsize(7)
    axes.yaxis.label.set_fontsize(7)


def _shade(axes: Axes, t: Any, where: Any) -> None:
    """Shades the frames where something holds, each half way to its neighbors."""
    if not where.any():
        return
    edges = np.concatenate([t[:1], (t[:-1] + t[1:]) / 2, t[-1:]])
    starts = np.flatnonzero(where & ~np.append(False, where[:-1]))
    ends = np.flatnonzero(where & ~np.append(where[1:], False))
    for a, b in zip(starts, ends, strict=True):
        axes.axvspan(edges[a], edges[b + 1], color=SHADE, linewidth=0, zorder=0)
        axes.axvspan(edges[a], edges[b + 1], ymin=0.96, color=FAINT, linewidth=0, zorder=0)
