"""Joint angles of both legs, each over the gait cycle of its leg, with landmarks of normal walking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.checks import some_of
from .._base.convergence import mark_of
from .._base.types import Array, truth
from ..gait.bodies import Side
from ..gait.data import POSITIVE
from ..gait.joint_angles import directed
from ..gait.unrolled import MotionLike, touch_down
from .drawing import COLORS, FAINT, INK, across, figure, legend, mix_with_white, picture_format, save
from .panels import Bands, Chart, checked_bands, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANDMARKS = {
    "hip": ((0, 30), (50, -10), (60, 0), (85, 30)),
    "knee": ((0, 5), (15, 15), (40, 5), (60, 35), (73, 60)),
    "ankle": ((0, 0), (8, -5), (45, 10), (63, -15), (80, 0)),
}
"""(percent of the gait cycle, degrees) of adults who walk at a comfortable speed, rounded to 5 degrees as in textbooks.

Flexion and dorsiflexion are positive. D. Neumann, Kinesiology of the Musculoskeletal System, 2010, ch. 15; J. Perry &
J. Burnfield, Gait Analysis: Normal and Pathological Function, 2010, for knee and ankle. These are landmarks, not
recordings: they contain no variation between people.
"""

ROUNDING = 5.0
"""Half the length of the landmarks' bars [degrees]: the rounding of the values, not a standard deviation."""

TITLES = {
    "angles": {"hip": "hip flexion", "knee": "knee flexion", "ankle": "ankle dorsiflexion"},
    "moments": {
        "hip": "hip extension moment",
        "knee": "knee extension moment",
        "ankle": "ankle plantar flexion moment",
    },
    "powers": {"hip": "hip power", "knee": "knee power", "ankle": "ankle power"},
}
"""Titles of the panels, by quantity and joint; extending and plantar flexing moments are positive."""

UNITS = {"angles": "degrees", "moments": "N m/kg", "powers": "W/kg"}


def plot_gait_cycle(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    landmarks: bool = True,
    quantities: Sequence[str] = ("angles",),
    bands: Bands | None = None,
) -> Figure:
    """Flexion of hip, knee and ankle [degrees] of both legs, from the leg's touch-down to its next one (0 to 100 %).

    The broad curve is the left leg; dotted lines mark the times at which a leg leaves the ground. landmarks: whether to
    draw gray bars for normal walking (see `LANDMARKS`) behind angles without a band. quantities: rows of panels, some
    of "angles", "moments" [N m per kg of body mass] and "powers" [W/kg], positive where a muscle or motor gives energy.
    bands: measured curves by the titles of panels, {"knee flexion": (percent, low, high)}, see `Band`.

    Written to `path` (.png, .pdf, .svg) if given. ValueError for a motion that is not periodic, a model without hips,
    knees and ankles, or a leg that does not leave the ground and touch down once per cycle; KeyError for a band of an
    unknown panel.
    """
    picture_format(path)
    truth(landmarks, "landmarks")
    rows = some_of(quantities, TITLES, "quantities")
    measured = checked_bands(bands, (title for row in rows for title in TITLES[row].values()))
    chart = Chart(solution)
    if not chart.cycle or not chart.joints:
        raise ValueError(
            "plot_gait_cycle needs a periodic motion of a model with hips, knees and ankles: use plot for other motions"
        )
    strikes = {side: touch_down(chart.stretches, side, chart.end) for side in SIDES}
    wide, height = 10.4, 0.5 + 2.6 * len(rows)
    made = figure(wide, height)
    for i, row in enumerate(rows):
        for k, (joint, title) in enumerate(TITLES[row].items()):
            bottom = height - 0.7 - 1.84 - 2.6 * i
            axes = made.add_axes(((0.68 + 3.35 * k) / wide, bottom / height, 2.7 / wide, 1.84 / height))
            _panel(axes, title, joint, measured, landmarks and row == "angles")
            _legs(axes, chart, row, joint, strikes)
            below = "gait cycle of the leg [%]" if i == len(rows) - 1 else ""
            dress(axes, title, directed(UNITS[row], [POSITIVE[title]]), below, (0.0, 100.0))
            axes.set_xticks([0, 25, 50, 75, 100])
    _name_lift_off(made.axes[0], *strikes["right"])
    _headline(made, chart, landmarks and "angles" in rows and not set(TITLES["angles"].values()) <= set(measured),
              bool(measured))  # fmt: skip
    across(made, mark_of(solution))
    save(made, path)
    return made


SIDES: tuple[Side, ...] = ("left", "right")


def _panel(axes: Axes, title: str, joint: str, measured: Mapping[str, Any], landmarks: bool) -> None:
    """Draws what lies behind the curves: a measured band if there is one, else the landmarks if they are asked for."""
    if title in measured:
        band = measured[title]
        axes.fill_between(band.percent, band.low, band.high, color=FAINT, alpha=0.3, linewidth=0, zorder=1)
    elif landmarks:
        _bars(axes, joint)


def _name_lift_off(axes: Axes, down: float, off: float) -> None:
    """Writes beside the line of the leg's lift-off what it is."""
    low, high = axes.get_ylim()
    axes.text((off - down) % 100 + 1.5, high, "lift-off", fontsize=7, color=INK, ha="left", va="top")
    axes.set_ylim(low, high)


def _legs(axes: Axes, chart: Chart, row: str, joint: str, strikes: Mapping[Side, tuple[float, float]]) -> None:
    """Draws a quantity of a joint of both legs, each from its touch-down on."""
    for c in chart.joints[joint]:
        down, off = strikes[c.side]
        if row == "angles":
            x, y = chart.positions(c.q_index)
            y = np.degrees(c.sign * y)
        else:
            x, y = chart.torques(c.qd_index) if row == "moments" else chart.powers(c.qd_index)
            y = y * (-c.sign if row == "moments" else 1.0) / (float(chart.model.mass) or 1.0)
        # the curves of two equal legs coincide: the broad left one shows beneath the right one
        strength, width = (0.5, 4.2) if c.side == "left" else (1.0, 1.5)
        x, y = from_strike(x, y, down, closed=row == "angles")
        axes.plot(x, y, color=mix_with_white(COLORS[c.side], strength), linewidth=width, zorder=3)
        axes.axvline((off - down) % 100, color=FAINT, linewidth=0.9, linestyle=(0, (1.2, 1.6)), zorder=2)


def _headline(made: Any, chart: Chart, bars: bool, measured: bool) -> None:
    """Writes the title, and the meaning of colors, bars and bands."""
    wide, height = made.get_size_inches()
    top = 1 - 0.24 / height
    made.text(0.2 / wide, top, chart.title, fontsize=10.5, color=INK, ha="left", va="center", weight="bold")
    right = 1 - 0.2 / wide
    entries = [("measured", 0.3)] if measured else []
    entries += [("normal walking, landmarks ± 5°", 1.0)] if bars else []
    for text, alpha in entries:
        words = made.text(right, top, text, color=INK, fontsize=9, ha="right", va="center")
        box = words.get_window_extent(made.canvas.get_renderer())
        right -= box.width / made.bbox.width + 0.14 / wide
        made.text(right, top, "▮", color=FAINT, alpha=alpha, fontsize=11, ha="right", va="center")
        right -= 0.34 / wide
    legend(made, chart.words, right, top, force=False)


def from_strike(x: Array, y: Array, strike: float, closed: bool = True) -> tuple[Array, Array]:
    """A curve over the cycle [%] that starts at the strike; closed: its first point is repeated at 100 %."""
    shifted = (x - strike) % 100
    order = np.argsort(shifted, kind="stable")
    if not closed:
        return shifted[order], y[order]
    return np.append(shifted[order], 100.0), np.append(y[order], y[order[0]])


def _bars(axes: Axes, joint: str) -> None:
    for x, y in LANDMARKS[joint]:
        axes.plot([x, x], [y - ROUNDING, y + ROUNDING], color=FAINT, alpha=0.55, linewidth=5, solid_capstyle="butt",
                  zorder=1, clip_on=False)  # fmt: skip
