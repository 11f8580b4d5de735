"""Panels of curves of a motion and the pages that they make; measured bands behind the curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._base.convergence import mark_of
from .._base.types import Array, numbers, repr_in_message, suggestion
from ..gait.bodies import Side, side_words, sides
from ..gait.joint_angles import gait_coordinates
from ..gait.unrolled import MotionLike, Stretch, check_motion, climb_words, foot_forces, touch_down, unroll
from .drawing import COLORS, FAINT, INK, SHADE, across, figure, legend, picture_format, save
from .print_layout import MARGIN, PanelGrid, PrintLayout, finish_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING_ERROR = 1e-9
"""Curves below this value are zero up to rounding errors: they are drawn as a line at zero."""

Paint = Callable[["Axes", "Chart"], None]


class Band(NamedTuple):
    """Measured curves behind a panel: between `low` and `high` (n) over `percent` (n) of the gait cycle of a leg.

    percent: from 0, the touch-down of the leg, to 100, its next one. low, high: in the units and with the signs of the
    panel, such as the mean less and plus a standard deviation.

    >>> od.viz.Band(percent=[0, 100], low=[-5, -5], high=[5, 5]).low
    [-5, -5]
    """

    percent: Array
    low: Array
    high: Array


Bands = Mapping[str, Any]
"""Bands by the titles of their panels; each a `Band` or a tuple (percent, low, high)."""


def checked_bands(bands: Bands | None, titles: Iterable[str]) -> dict[str, Band]:
    """The bands as arrays; KeyError for a title without a panel, ValueError for curves that do not fit each other."""
    if bands is not None and not isinstance(bands, Mapping):
        raise TypeError(
            f"bands must be a dict of (percent, low, high) by titles of panels, got {repr_in_message(bands)}"
        )
    known, found = list(titles), {}
    for title, band in (bands or {}).items():
        if title not in known:
            raise KeyError(
                f"no panel {repr_in_message(title)} for a band; there are {', '.join(known)}{suggestion(title, known)}"
            )
        curves = [numbers(curve) for curve in band] if isinstance(band, (tuple, list)) else []
        sizes = {curve.size for curve in curves}
        if len(curves) != 3 or len(sizes) != 1 or sizes == {1} or not all(np.all(np.isfinite(c)) for c in curves):
            raise ValueError(
                f"the band of {repr_in_message(title)} must be (percent, low, high), three arrays of finite numbers of "
                f"one length, 2 at least, got {repr_in_message(band)}"
            )
        found[title] = Band(*curves)
    return found


def _with_net_torques(motion: Any) -> Any:
    """The motion with torques that hold those of components too, such as muscles; a recorded motion as it is."""
    return motion.with_net_torques() if getattr(motion, "driving", ()) else motion


class Chart:
    """The curves of a motion, over a full gait cycle if it is periodic, otherwise over time."""

    def __init__(self, motion: MotionLike) -> None:
        check_motion(motion)
        self.motion, self.model, self.layout = motion, motion.model, PrintLayout()
        steps = 1 if not motion.repeats else 2 if motion.mirror() is not None else 1
        self.stretches = unroll(_with_net_torques(motion), steps)
        self.end = self.stretches[-1].t[-1]
        self.cycle = motion.repeats
        self.joints = gait_coordinates(self.model)
        walks = bool(self.joints) or motion.mirror() is not None  # on legs, by hips and knees or in mirror images
        self.label = ("gait cycle [%]" if walks else "cycle [%]") if self.cycle else "time [s]"
        self.feet = foot_forces(motion, self.stretches)
        self.words = side_words(self.model)

    def abscissa(self, t: Array) -> Array:
        """Times t [s] in the unit of the abscissa: percent of the cycle of a periodic motion, otherwise seconds."""
        return 100 * t / self.end if self.cycle else t

    @property
    def title(self) -> str:
        name = (self.model.name or "motion").replace("_", " ")
        if not self.cycle:
            return f"{name}: {self.end:.2f} s"
        way = ", ".join([f"{self.motion.distance:.2f} m", *climb_words(self.motion)])
        speed = self.motion.distance / self.motion.duration
        return f"{name} at {speed:.2f} m/s, steps of {way} in {self.motion.duration:.2f} s"

    @property
    def double_support(self) -> list[Stretch]:
        """The phases with more feet on the ground than at other times, and more than one."""
        feet = [len({id(support.foot) for support in stretch.supports}) for stretch in self.stretches]
        least = max(1, min(feet))
        return [stretch for stretch, number in zip(self.stretches, feet, strict=True) if number > least]

    def positions(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of q at all nodes."""
        return self._joined((s.t, s.q[:, k]) for s in self.stretches)

    def velocities(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of qd at all nodes."""
        return self._joined((s.t, s.qd[:, k]) for s in self.stretches)

    def torques(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of tau at the midpoints of the intervals."""
        return self._joined((s.middle, s.tau[:, k]) for s in self.stretches)

    def powers(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of tau times the mean of qd, for dof k, at the midpoints of the intervals [W]."""
        return self._joined((s.middle, s.tau[:, k] * (s.qd[:-1, k] + s.qd[1:, k]) / 2) for s in self.stretches)

    def channel(self, channel: Any, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of a component's channel, at the nodes or at the midpoints of the intervals."""
        pieces, mirror = [], self.motion.mirror() if self.motion.repeats else None
        phases: Any = self.motion.phases
        for step in range(1 + max(s.step for s in self.stretches)):
            image = np.array(channel.image(mirror.images).full()) if mirror is not None and step % 2 else None
            for phase in phases:
                t, values = phase.t + step * self.motion.duration, phase.channels[channel.name]
                at = t if channel.at_nodes else (t[:-1] + t[1:]) / 2
                pieces.append((at, (values if image is None else values @ image.T)[:, k]))
        return self._joined(pieces)

    def _joined(self, pieces: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
        times, values = zip(*pieces, strict=True)
        return self.abscissa(np.concatenate(times)), np.concatenate(values)


class Panel:
    """One panel of a page: its title, the unit of its ordinate, and the function that draws its curves."""

    def __init__(self, title: str, unit: str, paint: Paint) -> None:
        self.title, self.unit, self.paint = title, unit, paint


def coincide(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether two curves differ by less than a hundredth of their range, so that one hides the other."""
    if one[0].shape != other[0].shape or not np.array_equal(one[0], other[0], equal_nan=True):
        return False
    width = np.ptp(one[1][np.isfinite(one[1])]) if np.any(np.isfinite(one[1])) else 0.0
    return bool(np.allclose(one[1], other[1], rtol=0.0, atol=0.01 * width + 1e-9, equal_nan=True))


def lines(curves: list[tuple[Array, Array, Side, str]]) -> Paint:
    """Lines in the colors of their sides; several lines of one side differ in their dashes and have a legend."""

    def paint(axes: Axes, _: Chart) -> None:
        styles = ("-", (0, (4.5, 1.6)), (0, (1.2, 1.4)))
        seen: dict[Side, int] = {}
        for k, (x, y, side, label) in enumerate(curves):
            n = seen.get(side, 0)
            seen[side] = n + 1
            hidden = any(side != other[2] and coincide((x, y), other[:2]) for other in curves[k + 1 :])
            width = 4.2 if hidden else 1.7  # a curve below an equal one of the other leg is drawn broader
            axes.plot(x, y, color=COLORS[side], linewidth=width, linestyle=styles[n % 3], label=label or None)
        labels = [label for *_, label in curves if label]
        if labels:
            columns = 3 if len(labels) < 4 else 2
            rows = -(-len(labels) // columns)
            low, high = axes.get_ylim()
            axes.set_ylim(low, high + (0.08 + 0.14 * rows) * (high - low))  # space for the legend above the curves
            axes.legend(fontsize=7 if columns == 3 else 6.5, frameon=False, loc="upper left", ncols=columns,
                        handlelength=2.2 if columns == 3 else 1.5, borderpad=0.1, columnspacing=1.2)  # fmt: skip

    return paint


class Section(NamedTuple):
    """Rows of panels with a heading, which may be empty."""

    heading: str
    rows: list[list[Panel]]


def channel_sections(chart: Chart, channels: Sequence[Any]) -> list[Section]:
    """A section with a panel for every channel of the components; none without channels."""
    panels = [Panel(c.name, c.unit, lines([_channel_curve(chart, c, k) for k in range(c.size)])) for c in channels]
    rows = [panels[k : k + 3] for k in range(0, len(panels), 3)]
    return [Section("components", rows)] if rows else []


def _channel_curve(chart: Chart, channel: Any, k: int) -> tuple[Array, Array, Side, str]:
    """The curve of an entry of a channel; entries of dofs have the colors of their sides."""
    label, model = channel.labels[k], chart.model
    bodies = [
        i for i, _ in model.edges if label in (model.joint_names[i - 1], *(model.qd_names[d] for d in model.dofs_of(i)))
    ]
    side: Side = sides(model)[bodies[0]] if bodies else "middle"
    return (*chart.channel(channel, k), side, label)


HEADING = 0.16
"""Height that the heading of a section adds to the gap above its panels [inches]."""


def page(
    chart: Chart,
    sections: Sequence[Section],
    path: str | Path | None,
    height: float = 2.05,
    width: float = 3.35,
    bands: Bands | None = None,
    note: str = "",
) -> Figure:
    """A figure of panels, row by row, with one title and one legend; height, width: of a panel [inches].

    note: a line of text at the bottom.
    """
    picture_format(path)
    layout, grid = chart.layout, PanelGrid.of(chart.layout, width, height)
    sections = [section._replace(rows=grid.arranged(section.rows)) for section in sections]
    rows = [row for section in sections for row in section.rows]
    grid = grid.filled(rows)
    behind = checked_bands(bands, (panel.title for row in rows for panel in row))
    if behind and not chart.cycle:
        raise ValueError("bands are over the gait cycle, and this motion is not periodic: leave them out")
    title = chart.title if layout.titled else ""
    head = 0.32 if title or chart.words or chart.double_support else 0.0
    foot = 0.42 + (0.2 if note else 0.0)
    headings = HEADING * sum(bool(section.heading) for section in sections)
    wide = grid.total or max(grid.width * max(map(len, rows)) + MARGIN, 0.078 * len(title) + 3.6)
    size = (wide, grid.height * len(rows) + headings + head + foot)
    made = figure(*size)
    top = size[1] - head
    for k, section in enumerate(sections):
        below = max((len(row) for later in sections[k + 1 :] for row in later.rows), default=0)
        top = _draw_section(made, chart, section, behind, grid, below, top)
    headline(made, title, chart.words, 1 - 0.24 / size[1], bool(chart.double_support))
    if note:
        made.text(0.2 / size[0], 0.13 / size[1], note, fontsize=7.5, color=INK, va="center")
    finish_layout(made, layout)
    across(made, mark_of(chart.motion))
    save(made, path, math=layout.style == "latex")
    return made


def _draw_section(
    made: Any, chart: Chart, section: Section, bands: Mapping[str, Band], grid: PanelGrid, below: int, top: float
) -> float:
    """Draws the heading and the panels of a section below `top`, and returns their lower end [inches]; below: number of
    columns of the sections below, whose abscissas have the label."""
    size = made.get_size_inches()
    if section.heading:
        y = (top - 0.22) / size[1]
        made.text(0.2 / size[0], y, section.heading, fontsize=9.5, color=INK, va="center", weight="bold")
        top -= HEADING
    for row, next_row in zip_longest(section.rows, section.rows[1:], fillvalue=()):
        top -= grid.height
        for j, panel in enumerate(row):
            axes = made.add_axes(grid.box(size, j, top + 0.12))
            panel.paint(axes, chart)
            if panel.title in bands:
                _band(axes, chart, bands[panel.title])
            _dress(axes, chart, panel, "" if j < len(next_row) else " " if j < below else chart.label)
    return top


def _band(axes: Axes, chart: Chart, band: Band) -> None:
    """Draws a band behind the curves, once for each leg, from its touch-down on, in a pale tint of its color."""
    drawn: Sequence[Side] = ("left", "right")
    for side in drawn:
        down, _ = touch_down(chart.stretches, side, chart.end)
        for shift in (down - 100, down):
            axes.fill_between(band.percent + shift, band.low, band.high, color=COLORS[side], alpha=0.17, linewidth=0,
                              zorder=0.5)  # fmt: skip


def _dress(axes: Axes, chart: Chart, panel: Panel, below: str) -> None:
    """Styles a panel with `dress` and shades double support."""
    for stretch in chart.double_support:
        a, b = chart.abscissa(stretch.t[[0, -1]])
        axes.axvspan(a, b, color=SHADE, linewidth=0, zorder=0)
    span = chart.abscissa(np.array([0.0, chart.end]))
    dress(axes, panel.title, panel.unit, below, (float(span[0]), float(span[1])))
    if chart.cycle:
        axes.set_xticks([0, 25, 50, 75, 100])


def dress(axes: Axes, title: str, unit: str, below: str, span: tuple[float, float]) -> None:
    """Sets title, units and ticks of axes; below: label of the abscissa, "" if a panel below has it; span: its
    limits."""
    if all(np.abs(line.get_ydata()).max(initial=0.0) < ROUNDING_ERROR for line in axes.lines):
        axes.set_ylim(-1.0, 1.0)
    low, high = axes.get_ylim()
    if low < 0 < high:
        axes.axhline(0.0, color=FAINT, linewidth=0.7, zorder=1)
    axes.set_xlim(*span)
    axes.set_title(title, fontsize=9, color=INK, loc="left", pad=4)
    axes.set_ylabel(unit, fontsize=8, color=INK, labelpad=2)
    axes.tick_params(labelsize=7.5, color=FAINT, labelcolor=INK, length=3, labelbottom=bool(below))
    axes.locator_params(axis="y", nbins=5)
    if below:
        axes.set_xlabel(below, fontsize=8, color=INK, labelpad=2)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(FAINT)
    axes.patch.set_visible(False)


def headline(made: Figure, title: str, words: dict[Side, str], y: float, shaded: bool) -> None:
    """Writes the title, the names of the sides in their colors, and the meaning of the shading."""
    width = float(made.get_size_inches()[0])
    made.text(0.2 / width, y, title, fontsize=10.5, color=INK, ha="left", va="center", weight="bold")
    x = 1 - 0.2 / width
    if shaded:
        made.text(x, y, "double support", color=INK, fontsize=9, ha="right", va="center")
        made.text(x - 1.02 / width, y, "■", color="#CDD2D8", fontsize=13, ha="right", va="center")
        x -= 1.42 / width
    legend(made, words, x, y, force=False)
