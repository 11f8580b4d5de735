"""A strip of the phases of a motion: which contacts are held when, and how the phases follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._base.types import Array
from ...gait.bodies import Side
from ..drawing import COLORS, FAINT, INK, SHADE, bare, figure, mix_with_white

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NARROWEST = 1.25
"""Least width of a phase [inches]."""

WIDTH = 6.6
"""Width of the phases together, unless they need more [inches]."""

LANE, TOP, BOTTOM, MOST_LANES = 0.3, 0.76, 0.36, 12
"""Height of the bar of a contact, of the names above and of the transitions below [inches]; most contacts drawn."""


class PhaseColumn(NamedTuple):
    """One phase: its name, lines of text below it, its share of the strip, and the contacts that it holds, each with a
    text to stand in its bar."""

    name: str
    notes: tuple[str, ...]
    share: float
    held: dict[str, str]


def phase_strip(stages: Sequence[PhaseColumn], transitions: Sequence[str], sides: dict[str, Side]) -> Figure:
    """Phases from left to right, as wide as they are long, with a bar for every contact that a phase holds.

    transitions: a text for each of the P - 1 transitions, and one for the transition that closes a period, if there is
    one. sides: of the contacts, for their colors.
    """
    contacts = list(dict.fromkeys(name for stage in stages for name in stage.held))
    lanes = contacts[:MOST_LANES]
    names = max((len(name) for name in lanes), default=0)
    left = 0.2 + 0.075 * names
    shares = np.array([stage.share for stage in stages])
    widths = np.maximum(NARROWEST, WIDTH * shares / shares.sum())  # none too narrow for its name
    wide, tall = left + widths.sum() + 0.9, TOP + LANE * max(1, len(lanes)) + BOTTOM
    made = figure(wide, tall)
    axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
    bare(axes)
    axes.set_xlim(0.0, wide)
    axes.set_ylim(0.0, tall)
    ends = left + np.concatenate([[0.0], np.cumsum(widths)])
    _bars(axes, stages, lanes, ends, sides, tall)
    for text, x in zip(transitions, ends[1:], strict=False):
        axes.plot([x, x], [BOTTOM - 0.1, tall - 0.06], color=INK, linewidth=0.9, linestyle=(0, (3, 2)), zorder=3)
        axes.text(x, BOTTOM - 0.2, text, fontsize=7.5, color=INK, ha="center", va="center")
    if len(lanes) < len(contacts):
        axes.text(left - 0.1, BOTTOM - 0.1, f"and {len(contacts) - len(lanes)} more", fontsize=7, color=INK, ha="right")
    return made


def _bars(
    axes: Axes, stages: Sequence[PhaseColumn], lanes: Sequence[str], ends: Array, sides: dict[str, Side], tall: float
) -> None:
    """Draws names and durations above the phases, and bars of the contacts."""
    for k, stage in enumerate(stages):
        a, b = float(ends[k]), float(ends[k + 1])
        if k % 2 == 0:
            axes.fill_between([a, b], BOTTOM - 0.04, tall - 0.06, color=SHADE, linewidth=0, zorder=0)
        name = _cut(stage.name.replace("_", " "), (b - a) / 0.085)
        axes.text((a + b) / 2, tall - 0.2, name, fontsize=9, color=INK, ha="center", va="center", weight="bold")
        for j, note in enumerate(stage.notes):
            axes.text((a + b) / 2, tall - 0.38 - 0.15 * j, note, fontsize=7.5, color=INK, ha="center", va="center")
    if not lanes:
        axes.text(
            float(ends.mean()), BOTTOM + LANE / 2, "no contacts", fontsize=8, color=FAINT, ha="center", va="center"
        )
    for j, name in enumerate(lanes):
        y = tall - TOP - LANE * (j + 0.5)
        color = COLORS[sides.get(name, "middle")]
        axes.text(ends[0] - 0.1, y, name, fontsize=8, color=color, ha="right", va="center")
        axes.plot(ends[[0, -1]], [y, y], color=mix_with_white(FAINT, 0.5), linewidth=0.6, zorder=1)
        for k, stage in enumerate(stages):
            if name in stage.held:
                axes.fill_between(ends[k : k + 2], y - 0.09, y + 0.09, color=color, linewidth=0, zorder=2)
                axes.text(ends[k : k + 2].mean(), y, stage.held[name], fontsize=7, color="white", ha="center",
                          va="center_baseline", zorder=4)  # fmt: skip


def _cut(text: str, letters: float) -> str:
    return text if len(text) <= letters else text[: max(3, int(letters) - 1)] + "…"
