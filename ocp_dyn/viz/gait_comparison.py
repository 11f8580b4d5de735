"""Several walks in one figure of curves over the stride, and their differences from the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._base.checks import choice
from .._base.types import Array, repr_in_message
from ..gait import curves
from ..gait.data import PERCENT, POSITIVE, UNITS
from ..gait.joint_angles import directed
from ..gait.reference import GaitReference, gait_reference
from .drawing import INK, across, figure, picture_format, save
from .gait_curves import HIPS, TINTS, as_references, caption, rows_of
from .panels import dress
from .print_layout import MARGIN, PanelGrid, PrintLayout, finish_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colors of the walks in turn, of Okabe and Ito's palette."""

MOST = len(COLORS)
"""Largest number of walks in one figure."""

PANEL_WIDTH, PANEL_HEIGHT = 3.35, 1.95
"""Size of a panel with its margins [inches]."""


class _Walk(NamedTuple):
    """Curves of one walk: mean and half width of the band (101 each), which is nan without a band; lift: percent of the
    stride at which the foot leaves the ground; side: of the leg, "" where it is not known."""

    name: str
    curves: Mapping[str, tuple[Array, Array]]
    lift: float
    mark: str
    side: str = ""


def plot_gaits(
    gaits: Mapping[str, Any],
    path: str | Path | None = None,
    *,
    side: str = "right",
    reference: Any = None,
    quantities: Sequence[str] | None = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure:
    """Figure of the curves of several walks over the stride of one leg, a color for each, written to `path` if given.

    gaits: walks by the names of the legend: solved motions, `NetMoments` of recorded ones, gaits
    (`solution.gait("left")`), measured gaits by name, path or `GaitReference`, and lists of them, of which the mean is
    drawn; a band of two standard deviations to both sides is drawn where it is known. side: the leg of motions.
    reference: measured gaits behind all, as in `Gait.plot`. quantities: rows of panels, some of "angles", "moments",
    "powers", "forces", "pelvis", "hips", "hip rotation", "trunk", "foot" and "center of mass", and names of curves,
    such as "knee extension moment". width, style: see `plot_motion`. A dotted line marks the time at which the foot
    leaves the ground. Panels hold the curves that at least one walk has.

    TypeError for no dict, ValueError for no walk, more than six, or a motion that is not a walk.

    >>> bent = ocp.Gait("right", "bent", {"knee flexion": np.full(101, 20.0)}, {}, {})
    >>> figure = od.viz.plot_gaits({"bent": bent, "people": "winter"}, quantities=["angles"])
    >>> [axis.get_title(loc="left") for axis in figure.axes]
    ['hip flexion from trunk', 'knee flexion', 'ankle dorsiflexion']
    """
    walks = _walks(gaits, side)
    references = as_references(reference)
    return _figure(walks, references, path, quantities, PrintLayout.of(width, style), "")


def plot_differences(
    gaits: Mapping[str, Any],
    path: str | Path | None = None,
    *,
    side: str = "right",
    quantities: Sequence[str] | None = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure:
    """Figure of the differences of walks from the first of them, curve by curve over the stride, written to `path` if
    given; options as for `plot_gaits`. A band is that of the first walk, where its standard deviation is known.

    >>> two = {name: ocp.Gait("right", name, {"knee flexion": np.full(101, x)}, {}, {}) for name, x in
    ...        {"healthy": 5.0, "weak": 8.0}.items()}
    >>> figure = od.viz.plot_differences(two)
    >>> [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_label() == "weak"]
    [np.float64(3.0)]
    """
    walks = _walks(gaits, side)
    if len(walks) < 2:
        raise ValueError(f"plot_differences needs two walks or more, got {', '.join(walk.name for walk in walks)}")
    first = walks[0]
    moved = [_difference(walk, first) for walk in walks[1:]]
    zero = {name: (np.zeros(PERCENT.size), sd) for name, (_, sd) in first.curves.items()}
    base = GaitReference(first.name, {name: _curve(*pair) for name, pair in zero.items()})
    banded = [base] if any(np.isfinite(sd).any() for _, sd in zero.values()) else []
    layout = PrintLayout.of(width, style)
    return _figure(moved, banded, path, quantities, layout, f"difference from {first.name}", offset=1)


def _curve(mean: Array, sd: Array) -> Any:
    from ..gait.reference import Curve

    return Curve(mean, sd / 2)


def _walks(gaits: Any, side: str) -> list[_Walk]:
    if not isinstance(gaits, Mapping):
        raise TypeError(
            'plot: walks are given by name, such as {"healthy": a, "weak": b}, got ' + repr_in_message(gaits)
        )
    choice(side, ("left", "right"), "plot: side")
    if not 1 <= len(gaits) <= MOST:
        raise ValueError(f"plot: 1 to {MOST} walks fit into one figure, got {len(gaits)}")
    return [_walk(str(name), one, side) for name, one in gaits.items()]


def _walk(name: str, one: Any, side: str) -> _Walk:
    group = isinstance(one, (list, tuple))
    members = [_gait(name, each, side) for each in (one if group else [one])]
    known = gait_reference(members if group else members[0])
    gaits = [member for member in members if hasattr(member, "events")]
    lift = np.mean([gait.events.get("toe-off", np.nan) for gait in gaits]) if gaits else np.nan
    mark = next(filter(None, (getattr(gait, "mark", "") for gait in gaits)), "")
    found = {key: (c.mean, 2 * c.sd) for key, c in known.curves.items()}
    return _Walk(name, found, float(lift), mark, gaits[0].side if gaits else "")


def _gait(name: str, one: Any, side: str) -> Any:
    """The gait of a motion; others as they are."""
    if not hasattr(one, "gait") and not hasattr(one, "phases"):
        return one
    try:
        return one.gait(side) if hasattr(one, "gait") else curves.gait(one, side)
    except ValueError as error:
        raise ValueError(f"plot: {name!r} is no walk: {error}") from None


def _difference(walk: _Walk, first: _Walk) -> _Walk:
    """The walk less the first one, of the curves that both have."""
    shared = [key for key in walk.curves if key in first.curves]
    if not shared:
        raise ValueError(f"plot_differences: {walk.name!r} and {first.name!r} have no curve in common")
    nothing = np.full(PERCENT.size, np.nan)
    found = {key: (walk.curves[key][0] - first.curves[key][0], nothing) for key in shared}
    return _Walk(walk.name, found, walk.lift, walk.mark or first.mark, walk.side)


def _figure(
    walks: Sequence[_Walk],
    references: Sequence[GaitReference],
    path: str | Path | None,
    quantities: Any,
    layout: PrintLayout,
    title: str,
    offset: int = 0,
) -> Figure:
    picture_format(path)
    grid = PanelGrid.of(layout, PANEL_WIDTH, PANEL_HEIGHT)
    panels = grid.arranged(_names_of_panels(walks, rows_of(quantities)))
    grid, legs = grid.filled(panels), {walk.side for walk in walks if walk.side}
    abscissa = f"stride of the {next(iter(legs))} leg [%]" if len(legs) == 1 else "stride of the leg [%]"
    head, foot = 0.36, 0.1 + 0.19 * (len(references) if layout.titled else 0)
    wide = grid.total or max(map(len, panels)) * grid.width + MARGIN
    size = (wide, grid.height * len(panels) + head + foot)
    made = figure(*size)
    for i, row in enumerate(panels):
        for j, name in enumerate(row):
            box = grid.box(size, j, size[1] - head - grid.height * (i + 1) + 0.42)
            below = abscissa if i + 1 == len(panels) or j >= len(panels[i + 1]) else ""
            _panel(made.add_axes(box), name, walks, references, below, offset)
    _legend(made, walks, references, title if layout.titled else "", layout.titled, offset)
    finish_layout(made, layout)
    across(made, "; ".join(dict.fromkeys(filter(None, (walk.mark for walk in walks)))))
    save(made, path, math=layout.style == "latex")
    return made


def _names_of_panels(walks: Sequence[_Walk], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Names of the curves of some rows that at least one walk has, with the hip angle that most of them have."""
    known = {name for walk in walks for name in walk.curves}
    hips = [name for name in HIPS if all(name in walk.curves for walk in walks)]
    hip = next((name for name in (*hips, *HIPS) if name in known), HIPS[0])
    named = [[hip if name == HIPS[0] else name for name in row] for row in rows]
    panels = [row for names in named if (row := [name for name in names if name in known])]
    if not panels:
        asked = ", ".join(name for row in rows for name in row)
        raise ValueError(f"plot: none of the curves {asked} is known of these walks")
    return panels


def _panel(
    axes: Axes, name: str, walks: Sequence[_Walk], references: Sequence[GaitReference], below: str, offset: int
) -> None:
    for k, reference in enumerate(references):
        if name in reference.curves:
            mean, sd = reference.curves[name]
            _band(axes, mean, 2 * sd, TINTS[k % len(TINTS)])
            axes.plot(PERCENT, mean, color=TINTS[k % len(TINTS)], linewidth=1.1, linestyle=(0, (4, 1.5)), zorder=1.5)
    for k, walk in enumerate(walks):
        color = COLORS[(k + offset) % len(COLORS)]
        if name in walk.curves:
            mean, half = walk.curves[name]
            _band(axes, mean, half, color)
            axes.plot(PERCENT, mean, color=color, linewidth=1.6, zorder=3, label=walk.name)
        if np.isfinite(walk.lift):
            axes.axvline(walk.lift, color=color, linewidth=0.9, alpha=0.7, linestyle=(0, (1.2, 1.6)), zorder=2)
    dress(axes, name, directed(UNITS[name], [POSITIVE[name]]), below, (0.0, 100.0))
    axes.set_xticks([0, 20, 40, 60, 80, 100])


def _band(axes: Axes, mean: Array, half: Array, color: str) -> None:
    if np.isfinite(half).any():
        axes.fill_between(PERCENT, mean - half, mean + half, color=color, alpha=0.22, linewidth=0, zorder=1)


def _legend(
    made: Any, walks: Sequence[_Walk], references: Sequence[GaitReference], title: str, captioned: bool, offset: int
) -> None:
    """Names of the walks in their colors, the title, and below the meaning of bands."""
    width, height = (float(x) for x in made.get_size_inches())
    y, x = 1 - 0.2 / height, 0.2 / width
    renderer = made.canvas.get_renderer()
    if title:
        text = made.text(x, y, title, fontsize=10.5, color=INK, va="center", weight="bold")
        x += text.get_window_extent(renderer).width / made.bbox.width + 0.3 / width
    entries = [(walk.name, COLORS[(k + offset) % len(COLORS)]) for k, walk in enumerate(walks)]
    entries += [] if captioned else [(r.name, TINTS[k % len(TINTS)]) for k, r in enumerate(references)]
    for name, color in entries:
        text = made.text(x, y, f"● {name}", fontsize=9, color=color, va="center")
        x += text.get_window_extent(renderer).width / made.bbox.width + 0.22 / width
    for k, reference in enumerate(reversed(references) if captioned else ()):
        at = (0.13 + 0.19 * k) / height
        tint = TINTS[(len(references) - 1 - k) % len(TINTS)]
        made.text(0.2 / width, at, "▮", color=tint, alpha=0.6, fontsize=11, ha="left", va="center")
        made.text(0.36 / width, at, caption(reference), fontsize=7, color=INK, ha="left", va="center")
