"""Joint angles of both legs, each over the gait cycle of its leg, with landmarks of normal walking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, truth
from .drawing import COLORS, FAINT, INK, figure, legend, picture_format, save, tinted
from .gait import Motion, Stretch
from .plots import Chart, dress
from .skeleton import Side

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

TITLES = {"hip": "hip flexion", "knee": "knee flexion", "ankle": "ankle dorsiflexion"}


def plot_gait_cycle(solution: Motion, path: str | Path | None = None, *, landmarks: bool = True) -> Figure:
    """Flexion of hip, knee and ankle [degrees] of both legs, from the leg's touch-down to its next one (0 to 100 %).

    The broad curve is the left leg; dotted lines mark the times at which a leg leaves the ground. landmarks: whether to
    draw gray bars for normal walking (see `LANDMARKS`). Written to `path` (.png, .pdf, .svg) if given. ValueError for a
    motion that is not periodic, a model without hips, knees and ankles, or a leg that does not leave the ground and
    touch down once per cycle.
    """
    picture_format(path)
    truth(landmarks, "landmarks")
    chart = Chart(solution)
    if not chart.cycle or not chart.joints:
        raise ValueError(
            "plot_gait_cycle needs a periodic motion of a model with hips, knees and ankles: use plot for other motions"
        )
    strikes = {side: touch_down(chart.stretches, side, chart.end) for side in ("left", "right")}
    wide, height = 10.4, 3.1
    made = figure(wide, height)
    for k, (joint, title) in enumerate(TITLES.items()):
        axes = made.add_axes(((0.6 + 3.35 * k) / wide, 0.56 / height, 2.85 / wide, 1.92 / height))
        if landmarks:
            _bars(axes, joint)
        for c in chart.joints[joint]:
            down, off = strikes[c.side]
            x, y = chart.positions(c.q_index)
            # the curves of two equal legs coincide: the broad left one shows beneath the right one
            strength, width = (0.5, 4.2) if c.side == "left" else (1.0, 1.5)
            x, y = from_strike(x, np.degrees(c.sign * y), down)
            axes.plot(x, y, color=tinted(COLORS[c.side], strength), linewidth=width, zorder=3)
            axes.axvline((off - down) % 100, color=FAINT, linewidth=0.9, linestyle=(0, (1.2, 1.6)), zorder=2)
        dress(axes, title, "degrees", "gait cycle of the leg [%]", (0.0, 100.0))
        axes.set_xticks([0, 25, 50, 75, 100])
        if not k:
            lift = (strikes["right"][1] - strikes["right"][0]) % 100
            low, high = axes.get_ylim()
            axes.text(lift + 1.5, high, "lift-off", fontsize=7, color=INK, ha="left", va="top")
            axes.set_ylim(low, high)
    top = 1 - 0.24 / height
    made.text(0.2 / wide, top, chart.title, fontsize=10.5, color=INK, ha="left", va="center", weight="bold")
    right = 1 - 0.2 / wide
    if landmarks:
        words = made.text(right, top, "normal walking, landmarks ± 5°", color=INK, fontsize=9, ha="right", va="center")
        box = words.get_window_extent(made.canvas.get_renderer())  # type: ignore[attr-defined]
        right -= box.width / made.bbox.width + 0.14 / wide
        made.text(right, top, "▮", color=FAINT, fontsize=11, ha="right", va="center")
        right -= 0.34 / wide
    legend(made, chart.words, right, top, force=False)
    save(made, path)
    return made


def touch_down(stretches: list[Stretch], side: Side, end: float) -> tuple[float, float]:
    """Times at which a side touches down and leaves the ground [% of the cycle]."""
    stands = [any(s.side == side for s in stretch.supports) for stretch in stretches]
    down = [k for k, on_ground in enumerate(stands) if on_ground and not stands[k - 1]]
    off = [k for k, on_ground in enumerate(stands) if not on_ground and stands[k - 1]]
    if len(down) != 1 or len(off) != 1:
        raise ValueError(
            f"plot_gait_cycle needs legs that leave the ground once per cycle, the {side} one leaves it {len(off)} "
            "times: use plot"
        )
    landing, lifting = (100 * float(stretches[k[0]].t[0]) / end for k in (down, off))
    return landing, lifting


def from_strike(x: Array, y: Array, strike: float) -> tuple[Array, Array]:
    """A curve over the cycle [%] that starts at the strike; its first point is repeated at 100 %."""
    shifted = (x - strike) % 100
    order = np.argsort(shifted, kind="stable")
    return np.append(shifted[order], 100.0), np.append(y[order], y[order[0]])


def _bars(axes: Axes, joint: str) -> None:
    for x, y in LANDMARKS[joint]:
        axes.plot([x, x], [y - ROUNDING, y + ROUNDING], color=FAINT, alpha=0.55, linewidth=5, solid_capstyle="butt",
                  zorder=1, clip_on=False)  # fmt: skip
