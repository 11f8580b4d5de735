"""Error of every interval before and after the refinement of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..._base.types import Array, repr_in_message
from ..drawing import FAINT, INK, SHADE, figure, mix_with_white, picture_format, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEFORE, AFTER = "#b3562b", "#1f6f8b"
"""Colors of the first and the last grid."""

DECADES = 9
"""Decades below the largest error that are drawn at most."""

ROUNDING = 1e-16
"""Errors that are drawn at least: zero has no logarithm."""


class RoundLike(Protocol):
    """A grid with its errors, such as `ocp_dyn.ocp.Round`."""

    @property
    def integrator(self) -> str: ...

    @property
    def nodes(self) -> tuple[tuple[float, ...], ...]: ...

    @property
    def error(self) -> Array: ...


class RefinementLike(Protocol):
    """Grids of a motion, such as `ocp_dyn.ocp.Refinement`."""

    @property
    def accuracy(self) -> float: ...

    @property
    def rounds(self) -> Sequence[RoundLike]: ...


def plot_refinement(refinement: RefinementLike, path: str | Path | None = None) -> Figure:
    """Figure of the error of every interval over time, on the first and on the last grid, with the accuracy that was
    asked for; below it the nodes of all grids.

    refinement: `solution.refinement`. Written to `path` (.png, .pdf, .svg) if given. TypeError for anything else,
    ValueError without a grid whose errors are known.

    >>> swing = ocp.Problem(rod, [ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])], boundary=[rest])
    >>> figure = od.viz.plot_refinement(swing.solve(accuracy=1e-5, progress=False).refinement)
    >>> figure.axes[0].get_ylabel()
    'error of an interval [rad, m]'
    """
    picture_format(path)
    rounds = getattr(refinement, "rounds", None)
    if not isinstance(rounds, Sequence):
        raise TypeError(
            "plot_refinement: expected the record of a refinement, solution.refinement, got "
            f"{repr_in_message(refinement)}"
        )
    if not rounds:
        raise ValueError("plot_refinement: no grid of this refinement has a motion, so that no error is known")
    made = figure(7.6, 3.3 + 0.16 * len(rounds))
    tall = (0.55 + 0.16 * len(rounds)) / (3.3 + 0.16 * len(rounds))
    errors = made.add_axes((0.11, tall + 0.1, 0.86, 0.82 - tall))
    grids = made.add_axes((0.11, 0.13, 0.86, tall - 0.12))
    shown = [(rounds[0], BEFORE, "first grid")] if len(rounds) > 1 else []
    shown += [(rounds[-1], AFTER, "last grid")]
    for one, color, words in shown:
        _stairs(errors, one, color, f"{words}: {one.error.size} intervals, {one.integrator}")
    largest = max(
        refinement.accuracy, *(float(np.nanmax(np.where(np.isfinite(x.error), x.error, 0))) for x, *_ in shown)
    )
    least = min(float(x.error.min()) for x, *_ in shown)
    errors.axhline(refinement.accuracy, color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4)
    errors.text(1.0, refinement.accuracy, f"accuracy {refinement.accuracy:g} ", fontsize=7.5, color=INK, ha="right",
                va="bottom", transform=errors.get_yaxis_transform())  # fmt: skip
    errors.set_yscale("log")
    errors.set_ylim(max(least / 3, largest / 10**DECADES, ROUNDING), largest * 4)
    errors.yaxis.set_major_formatter(lambda y, _: f"{y:.0e}")
    errors.minorticks_off()
    errors.set_ylabel("error of an interval [rad, m]", fontsize=8.5)
    errors.legend(fontsize=7.5, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    _nodes(grids, rounds)
    for axes in (errors, grids):
        axes.set_xlim(rounds[-1].nodes[0][0], max(one.nodes[-1][-1] for one in rounds))
        axes.tick_params(labelsize=7.5)
        axes.spines[["top", "right"]].set_visible(False)
        _phases(axes, rounds[-1])
    grids.set_xlabel("time [s]", fontsize=8.5)
    errors.tick_params(labelbottom=False)
    save(made, path)
    return made


def _stairs(axes: Axes, one: RoundLike, color: str, words: str) -> None:
    """The errors of a grid as steps, filled down to the axis."""
    first = 0
    for times in one.nodes:
        part = np.maximum(one.error[first : first + len(times) - 1], ROUNDING)
        first += len(times) - 1
        axes.stairs(part, times, fill=True, color=mix_with_white(color, 0.35), zorder=2, alpha=0.6, baseline=ROUNDING)
        axes.stairs(part, times, color=color, linewidth=1.4, zorder=3, label=words, baseline=None)
        words = ""


def _nodes(axes: Axes, rounds: Sequence[RoundLike]) -> None:
    """The nodes of all grids, one line each, the first one on top."""
    for k, one in enumerate(rounds):
        times = np.concatenate([np.array(part) for part in one.nodes])
        color = BEFORE if k == 0 and len(rounds) > 1 else AFTER if k == len(rounds) - 1 else FAINT
        axes.plot(times, np.full(times.size, -k), "|", color=color, markersize=7, markeredgewidth=1.1)
    axes.set_ylim(0.6 - len(rounds), 0.6)
    axes.set_yticks([-k for k in range(len(rounds))], [f"grid {k + 1}" for k in range(len(rounds))])


def _phases(axes: Axes, one: RoundLike) -> None:
    """Every second phase in gray."""
    for times in one.nodes[::2]:
        axes.axvspan(times[0], times[-1], color=SHADE, linewidth=0, zorder=0)
