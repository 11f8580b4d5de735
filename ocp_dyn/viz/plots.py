"""Plots of solved motions: joint angles, torques and ground reaction forces over the gait cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from .drawing import COLORS, FAINT, INK, SHADE, figure, legend, picture_format, save
from .gait import Motion, Support, check_motion, unroll, weight
from .joints import coordinates, gait_coordinates
from .skeleton import Side, side_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING_ERROR = 1e-9
"""Curves below this value are zero up to rounding errors: they are drawn as a line at zero."""

Paint = Callable[["Axes", "Chart"], None]


def plot(solution: Motion, path: str | Path | None = None) -> Figure:
    """Figure of a motion, written to `path` (.png, .pdf, .svg) if given.

    For a model with hips, knees and ankles on both sides: angles [degrees] and torques [N m] of both legs, ground
    reaction forces [% of body weight], center of pressure, trunk and arms. For other models: position, velocity and
    torque of every joint. The abscissa is the gait cycle of a periodic motion (of a mirrored one, two steps), otherwise
    the time. Double support is shaded. `ValueError` for another suffix.
    """
    chart = Chart(solution)
    if not chart.joints:
        return _everything(chart, path)
    rows = [_angle_panels(chart), _torque_panels(chart)]
    rows += [_force_panels(chart)] if chart.feet else []
    upper = _upper_panels(chart)
    return _page(chart, rows + ([upper] if upper else []), path)


def plot_angles(solution: Motion, path: str | Path | None = None) -> Figure:
    """Flexion angles of hip, knee and ankle of both legs [degrees], or positions of all joints of other models; see
    `plot`."""
    chart = Chart(solution)
    return _page(chart, [_angle_panels(chart)], path) if chart.joints else _everything(chart, path, (0,))


def plot_torques(solution: Motion, path: str | Path | None = None) -> Figure:
    """Torques of hip, knee and ankle of both legs [N m], or of all joints of other models; see `plot`."""
    chart = Chart(solution)
    return _page(chart, [_torque_panels(chart)], path) if chart.joints else _everything(chart, path, (2,))


def plot_forces(solution: Motion, path: str | Path | None = None) -> Figure:
    """Ground reaction forces [% of body weight] and center of pressure [cm]; `ValueError` for a motion without
    contacts."""
    chart = Chart(solution)
    if not chart.feet:
        raise ValueError("plot_forces needs contacts with the ground, and this motion has no contacts with the ground")
    return _page(chart, [_force_panels(chart)], path)


class Chart:
    """The curves of a motion, over a full gait cycle if it is periodic, otherwise over time."""

    def __init__(self, motion: Motion) -> None:
        check_motion(motion)
        self.motion, self.model = motion, motion.model
        steps = 1 if not motion.step_length else 2 if motion.mirror() is not None else 1
        self.stretches = unroll(motion, steps)
        self.end = self.stretches[-1].t[-1]
        self.cycle = bool(motion.step_length)
        self.joints = gait_coordinates(self.model)
        walks = (
            bool(self.joints) or motion.mirror() is not None
        )  # on two legs or more, by hips and knees or in mirror images
        self.label = ("gait cycle [%]" if walks else "cycle [%]") if self.cycle else "time [s]"
        self.feet = list(dict.fromkeys(s.name for stretch in self.stretches for s in stretch.supports))
        self.words = side_words(self.model)

    def abscissa(self, t: Array) -> Array:
        """Times t [s] in the unit of the abscissa: percent of the cycle of a periodic motion, otherwise seconds."""
        return 100 * t / self.end if self.cycle else t

    @property
    def title(self) -> str:
        name = (self.model.name or "motion").replace("_", " ")
        if not self.cycle:
            return f"{name}: {self.end:.2f} s"
        speed = self.motion.step_length / self.motion.duration
        return f"{name} at {speed:.2f} m/s, steps of {self.motion.step_length:.2f} m in {self.motion.duration:.2f} s"

    def positions(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of q at all nodes."""
        return self._joined((s.t, s.q[:, k]) for s in self.stretches)

    def velocities(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of qd at all nodes."""
        return self._joined((s.t, s.qd[:, k]) for s in self.stretches)

    def torques(self, k: int) -> tuple[Array, Array]:
        """(abscissa, values) of entry k of tau at the midpoints of the intervals."""
        return self._joined((s.middle, s.tau[:, k]) for s in self.stretches)

    def contact(self, name: str, value: Callable[[Support], Array]) -> tuple[Array, Array]:
        """(abscissa, values) of a quantity of a foot at the midpoints of the intervals; nan, a gap, while it is in the
        air."""

        def pieces() -> Iterable[tuple[Array, Array]]:
            for stretch in self.stretches:
                support = [s for s in stretch.supports if s.name == name]
                yield (stretch.middle, value(support[0])) if support else (stretch.middle[:1], np.array([np.nan]))

        return self._joined(pieces())

    def _joined(self, pieces: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
        times, values = zip(*pieces, strict=True)
        return self.abscissa(np.concatenate(times)), np.concatenate(values)


class _Panel:
    """One panel of a page: its title, the unit of its ordinate, and the function that draws its curves."""

    def __init__(self, title: str, unit: str, paint: Paint) -> None:
        self.title, self.unit, self.paint = title, unit, paint


def _coincide(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether two curves differ by less than a hundredth of their range, so that one hides the other."""
    if one[0].shape != other[0].shape or not np.array_equal(one[0], other[0], equal_nan=True):
        return False
    width = np.ptp(one[1][np.isfinite(one[1])]) if np.any(np.isfinite(one[1])) else 0.0
    return bool(np.allclose(one[1], other[1], rtol=0.0, atol=0.01 * width + 1e-9, equal_nan=True))


def _lines(curves: list[tuple[Array, Array, Side, str]]) -> Paint:
    """Lines in the colors of their sides; several lines of one side differ in their dashes and have a legend."""

    def paint(axes: Axes, _: Chart) -> None:
        styles = ("-", (0, (4.5, 1.6)), (0, (1.2, 1.4)))
        seen: dict[Side, int] = {}
        for k, (x, y, side, label) in enumerate(curves):
            n = seen.get(side, 0)
            seen[side] = n + 1
            hidden = any(side != other[2] and _coincide((x, y), other[:2]) for other in curves[k + 1 :])
            width = 4.2 if hidden else 1.7  # a curve below an equal one of the other leg is drawn broader
            axes.plot(x, y, color=COLORS[side], linewidth=width, linestyle=styles[n % 3], label=label or None)
        if any(label for *_, label in curves):
            low, high = axes.get_ylim()
            axes.set_ylim(low, high + 0.22 * (high - low))  # space for the legend above the curves
            axes.legend(
                fontsize=7, frameon=False, loc="upper left", ncols=3, handlelength=2.2, borderpad=0.1, columnspacing=1.2
            )

    return paint


def _angle_panels(chart: Chart) -> list[_Panel]:
    """Panels of joint angles with clinical signs: flexion and dorsiflexion are positive."""
    found = []
    for joint, words in (("hip", "hip flexion"), ("knee", "knee flexion"), ("ankle", "ankle dorsiflexion")):
        found.append(_Panel(words, "degrees", _lines(_degrees(chart, joint))))
    return found


def _torque_panels(chart: Chart) -> list[_Panel]:
    """Panels of torques with clinical signs: extending and plantar flexing torques are positive."""
    found = []
    for joint, words in (("hip", "hip extension"), ("knee", "knee extension"), ("ankle", "ankle plantar flexion")):
        curves = []
        for c in chart.joints[joint]:
            x, y = chart.torques(c.qd_index)
            curves.append((x, -c.sign * y, c.side, ""))
        found.append(_Panel(f"{words} torque", "N m", _lines(curves)))
    return found


def _degrees(chart: Chart, joint: str) -> list[tuple[Array, Array, Side, str]]:
    curves = []
    for c in chart.joints.get(joint, []):
        x, y = chart.positions(c.q_index)
        curves.append((x, np.degrees(c.sign * y), c.side, c.label))
    return curves


def _force_panels(chart: Chart) -> list[_Panel]:
    body_weight = weight(chart.model)
    sides = {s.name: s.side for stretch in chart.stretches for s in stretch.supports}

    def curves(value: Callable[[Support], Array]) -> list[tuple[Array, Array, Side, str]]:
        return [(*chart.contact(name, value), sides[name], "") for name in chart.feet]

    def along(support: Support) -> Array:
        yaw = 0.0 if support.place is None else support.place[2]
        offset: Array = support.pressure(0.03 * body_weight) @ np.array([np.cos(yaw), np.sin(yaw)])
        return 100 * offset

    flat = any(np.abs(s.wrench[:, :3]).max(initial=0.0) > 1e-9 for st in chart.stretches for s in st.supports)
    found = [
        _Panel(
            "vertical ground force", "% of body weight", _lines(curves(lambda s: 100 * s.force[:, 2] / body_weight))
        ),
        _Panel(
            "fore-aft ground force", "% of body weight", _lines(curves(lambda s: 100 * s.force[:, 0] / body_weight))
        ),
    ]
    if flat:  # the center of pressure of a point foot is always the contact point
        found.append(_Panel("center of pressure along the foot", "cm", _lines(curves(along))))
    else:
        lateral = curves(lambda s: 100 * s.force[:, 1] / body_weight)
        found.append(_Panel("lateral ground force", "% of body weight", _lines(lateral)))
    return found


def _upper_panels(chart: Chart) -> list[_Panel]:
    titles = (("lumbar", "lumbar joint"), ("shoulder", "shoulder flexion"), ("elbow", "elbow flexion"))
    return [_Panel(t, "degrees", _lines(_degrees(chart, joint))) for joint, t in titles if chart.joints.get(joint)]


def _everything(chart: Chart, path: str | Path | None, columns: tuple[int, ...] = (0, 1, 2)) -> Figure:
    """A page with position, velocity and torque of every joint coordinate; columns: which of these three to draw."""
    rows = []
    for c in coordinates(chart.model):
        factor, unit = (180 / np.pi, "degrees") if c.is_rotation else (1.0, "m")
        x, y = chart.positions(c.q_index)
        x_rate, rate = chart.velocities(c.qd_index)
        panels = [
            _Panel(c.label, unit, _lines([(x, factor * y, c.side, "")])),
            _Panel(f"{c.label} rate", f"{unit}/s", _lines([(x_rate, factor * rate, c.side, "")])),
            _Panel(f"{c.label} torque" if c.is_rotation else f"{c.label} force", "N m" if c.is_rotation else "N",
                   _lines([(*chart.torques(c.qd_index), c.side, "")])),
        ]  # fmt: skip
        rows.append([panels[k] for k in columns])
    if len(columns) == 1:  # one kind of panel: three side by side
        flat = [panel for row in rows for panel in row]
        rows = [flat[k : k + 3] for k in range(0, len(flat), 3)]
    else:  # several coordinates side by side keep the page from becoming too long
        abreast = min(3, 1 + (len(rows) - 1) // 12)
        rows = [[p for row in rows[k : k + abreast] for p in row] for k in range(0, len(rows), abreast)]
    if not rows:
        raise ValueError(f"{chart.model!r} has no joint coordinates to plot (joints with quaternions have none)")
    return _page(chart, rows, path, height=1.45)


def _page(chart: Chart, rows: list[list[_Panel]], path: str | Path | None, height: float = 2.05) -> Figure:
    """A figure of panels, row by row, with one title and one legend."""
    picture_format(path)
    columns, head, foot = max(len(row) for row in rows), 0.32, 0.42
    size = (3.35 * columns + 0.35, height * len(rows) + head + foot)
    made = figure(*size)
    left, gap = 0.62 / size[0], 0.66 / size[0]
    width = (1 - left - 0.2 / size[0] - gap * (columns - 1)) / columns
    for i, row in enumerate(rows):
        for j, panel in enumerate(row):
            bottom = 1 - (head + (i + 1) * height - 0.12) / size[1]
            axes = made.add_axes((left + j * (width + gap), bottom, width, (height - 0.58) / size[1]))
            panel.paint(axes, chart)
            below = len(rows) > i + 1 and len(rows[i + 1]) > j
            _dress(axes, chart, panel, not below)
    _headline(made, chart, size)
    save(made, path)
    return made


def _dress(axes: Axes, chart: Chart, panel: _Panel, last: bool) -> None:
    """Styles a panel with `dress` and shades double support."""
    for stretch in chart.stretches:
        a, b = chart.abscissa(stretch.t[[0, -1]])
        if len(stretch.supports) > 1:
            axes.axvspan(a, b, color=SHADE, linewidth=0, zorder=0)
    span = chart.abscissa(np.array([0.0, chart.end]))
    dress(axes, panel.title, panel.unit, chart.label if last else "", (float(span[0]), float(span[1])))
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


def _headline(made: Figure, chart: Chart, size: tuple[float, float]) -> None:
    """Writes the title, and the meaning of colors and shading."""
    y = 1 - 0.24 / size[1]
    made.text(0.2 / size[0], y, chart.title, fontsize=10.5, color=INK, ha="left", va="center", weight="bold")
    x = 1 - 0.2 / size[0]
    if any(len(s.supports) > 1 for s in chart.stretches):
        made.text(x, y, "double support", color=INK, fontsize=9, ha="right", va="center")
        made.text(x - 1.02 / size[0], y, "■", color="#CDD2D8", fontsize=13, ha="right", va="center")
        x -= 1.42 / size[0]
    legend(made, chart.words, x, y, force=False)
