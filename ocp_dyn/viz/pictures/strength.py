"""Bars of the largest use of strength of every joint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base.checks import whole
from ..._base.convergence import mark_of
from ..._base.types import repr_in_message
from ..drawing import COLORS, FAINT, INK, across, figure, picture_format, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 200


def plot_strength(solution: Any, path: str | Path | None = None, *, most: int = 24) -> Figure:
    """Bars of the largest use of strength of every joint [%], the largest first, written to `path` if given; 100 % is
    the torque limit of the model in the direction of the torque.

    solution: a solved motion, or its `strength_use()`. most: number of bars. TypeError for anything else, ValueError
    for a motion without limited torques.

    >>> strong = ocp.Problem(wheel.with_limits(effort=6.0), turn(ocp.TorqueSquared()).phases, boundary=[rest])
    >>> figure = od.viz.plot_strength(strong.solve(progress=False))
    >>> round(figure.axes[0].patches[0].get_width())
    95
    """
    picture_format(path)
    used: Sequence[Any] = solution.strength_use() if hasattr(solution, "strength_use") else solution
    if not all(hasattr(used, key) for key in ("entries", "line")):
        raise TypeError(f"plot_strength needs a solved motion, got {repr_in_message(solution)}")
    shown = list(used)[: whole(most, "plot_strength: most", 1, MOST)]
    if not shown:
        raise ValueError("plot_strength: no joint of this motion has both a torque and a limit of it")
    height = 0.75 + 0.22 * len(shown)
    made = figure(5.6, height)
    axes = made.add_axes((0.3, 0.42 / height, 0.62, 1 - 0.72 / height))
    rows, values = np.arange(len(shown))[::-1], np.array([100 * one.share for one in shown])
    side = ["left" if one.dof.partition(".")[0].endswith(("_l", "left")) else "right" for one in shown]
    paired = [one.dof.partition(".")[0].endswith(("_l", "_r", "left", "right")) for one in shown]
    colors = [COLORS[s] if both else COLORS["middle"] for s, both in zip(side, paired, strict=True)]  # type: ignore[index]
    axes.barh(rows, values, height=0.66, color=colors)
    for row, one, value in zip(rows, shown, values, strict=True):
        axes.text(value + 1, row, f"{value:.0f} %, {one.phase}", fontsize=7, color=INK, va="center")
    axes.axvline(100.0, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(rows, [one.dof.replace("_", " ").replace(".", " ") for one in shown])
    axes.set_xlim(0.0, max(125.0, 1.25 * float(values.max())))
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlabel("largest use of strength [%]", fontsize=8, color=INK)
    axes.tick_params(labelsize=7.5, color=FAINT, labelcolor=INK, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(FAINT)
    across(made, mark_of(solution))
    save(made, path)
    return made
