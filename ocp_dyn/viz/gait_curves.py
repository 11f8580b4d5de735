"""Pictures of a walk over the stride of each leg, with measured bands behind the curves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.checks import some_of
from .._base.display import figure_of
from .._base.types import repr_in_message
from ..gait import curves
from ..gait.compare import compare
from ..gait.data import PERCENT, POSITIVE, UNITS, GaitData
from ..gait.gait import Gait
from ..gait.joint_angles import directed
from ..gait.reference import GaitReference, gait_reference
from ..gait.unrolled import Walk
from .drawing import COLORS, FAINT, INK, SHADE, across, figure, mix_with_white, picture_format, save
from .panels import coincide, dress, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIPS = ("hip flexion", "hip flexion from trunk", "thigh flexion")
"""Definitions of the hip angle: the panel shows that of the reference."""

ROWS = {
    "angles": ("hip flexion", "knee flexion", "ankle dorsiflexion"),
    "moments": ("hip extension moment", "knee extension moment", "ankle plantar flexion moment"),
    "powers": ("hip power", "knee power", "ankle power"),
    "forces": ("vertical force", "forward force", "lateral force"),
    "pelvis": ("pelvis tilt", "pelvis obliquity", "pelvis rotation"),
    "hips": ("hip adduction", "hip abduction moment", "hip abduction power"),
    "hip rotation": ("hip internal rotation", "hip external rotation moment", "hip rotation power"),
    "trunk": ("trunk tilt", "trunk lean", "trunk rotation"),
    "foot": ("center of pressure along", "center of pressure lateral", "foot pitch"),
    "center of mass": ("center of mass height", "center of mass lateral"),
}
"""Curves of a row of panels, by the name of the row."""

QUANTITIES = (*ROWS, *UNITS)
"""Names of rows of panels, and of single curves."""

TINTS = ("#8B949E", "#5B8E7D", "#A97FB5")
"""Colors of the bands of several references."""

WIDE, HIGH, BELOW = 3.45, 1.9, 0.52
"""Size of a panel with its margins, and height below all panels [inches]."""

LETTERS = 165
"""Letters in a line of the caption."""


def plot_gait(
    gaits: Sequence[GaitData],
    reference: Any = None,
    path: str | Path | None = None,
    *,
    quantities: Sequence[str] | None = None,
) -> Figure:
    """Figure of the curves of one leg or both, written to `path` if given; see `Gait.plot`."""
    picture_format(path)
    references = as_references(reference)
    panels = [[name for name in row if name in gaits[0].curves] for row in rows_of(quantities)]
    panels = [[_hip(name, references) for name in row] for row in panels if row]
    tints = _tints(references)
    captions = [(k, line) for k, r in enumerate(references) for line in textwrap.wrap(caption(r), LETTERS)]
    foot = BELOW + 0.19 * len(captions)
    width, height = WIDE * 3 + 0.1, 0.4 + HIGH * len(panels) + foot
    made = figure(width, height)
    for i, row in enumerate(panels):
        for j, name in enumerate(row):
            bottom = height - 0.4 - HIGH * (i + 1) + 0.3
            box = ((0.62 + WIDE * j) / width, bottom / height, 2.72 / width, (HIGH - 0.52) / height)
            _panel(made.add_axes(box), name, gaits, references, "" if i + 1 < len(panels) else "stride of the leg [%]")
    _texts(made, gaits, captions, tints)
    across(made, "; ".join(dict.fromkeys(mark for gait in gaits if (mark := getattr(gait, "mark", "")))))
    save(made, path)
    return made


def rows_of(quantities: Any) -> list[tuple[str, ...]]:
    """Names of curves by rows of panels: those of `ROWS`, and a row of three for curves that are named one by one."""
    rows: list[tuple[str, ...]] = []
    for k, name in enumerate(given := some_of([*ROWS] if quantities is None else quantities, QUANTITIES, "quantities")):
        if name in ROWS:
            rows.append(ROWS[name])
        elif k and given[k - 1] not in ROWS and len(rows[-1]) < 3:
            rows[-1] = (*rows[-1], name)
        else:
            rows.append((name,))
    return rows


@figure_of.register(Gait)
def _plot_one(shown: Gait, reference: Any = None, path: Any = None, quantities: Any = None) -> Figure:
    return plot_gait([shown], reference, path, quantities=quantities)


def plot_beside(motion: Walk, reference: Any, path: Any = None, quantities: Any = None, **others: Any) -> Any:
    """Figure of both legs with measured bands; see `Gait.plot`. TypeError for other options of `plot`."""
    if others:
        raise TypeError(
            "plot(reference=...) shows the stride of both legs and takes quantities as its only option, got "
            f"{repr_in_message(next(iter(others)))}"
        )
    legs = [curves.gait(motion, side) for side in ("left", "right")]
    return plot_gait(legs, as_references(reference), path, quantities=quantities)


def as_references(reference: Any) -> list[GaitReference]:
    """Gaits to hold walks against, from one or several names, paths, references, gaits or motions; none for None."""
    if reference is None:
        return []
    several = isinstance(reference, (list, tuple))
    return [gait_reference(one) for one in (reference if several else [reference])]


def _tints(references: Sequence[GaitReference]) -> list[str]:
    """Colors of the references: those of bands in turn, black for single curves."""
    bands = iter(TINTS * len(references))
    return [next(bands) if _has_band(r) else INK for r in references]


def _has_band(reference: GaitReference) -> bool:
    """Whether a standard deviation is known for some curve."""
    return any(np.isfinite(curve.sd).any() for curve in reference.curves.values())


def caption(reference: GaitReference) -> str:
    """Meaning and source of a band, in a line or two."""
    what = "mean and 2 standard deviations" if _has_band(reference) else reference.kind or "measured"
    people = f" of {reference.subjects}" if reference.subjects else ""
    source = f"; {reference.source}" if reference.source and reference.source != reference.name else ""
    return f"{reference.name}{'' if reference.name.endswith(what) else ': ' + what}{people}{source}"


def _hip(name: str, references: Sequence[GaitReference]) -> str:
    """The hip angle by the definition of the first reference that has one; other curves as they are."""
    if name != HIPS[0]:
        return name
    return next((hip for r in references for hip in HIPS if hip in r.curves), name)


def _panel(axes: Axes, name: str, gaits: Sequence[GaitData], references: Sequence[GaitReference], below: str) -> None:
    """One curve of all legs over its bands."""
    for a, b in _double_support(gaits[0]):
        axes.axvspan(a, b, color=SHADE, linewidth=0, zorder=0)
    told = []
    for tint, reference in zip(_tints(references), references, strict=True):
        if name not in reference.curves:
            continue
        mean, sd = reference.curves[name]
        if np.isfinite(sd).any():
            axes.fill_between(PERCENT, mean - 2 * sd, mean + 2 * sd, color=tint, alpha=0.3, linewidth=0, zorder=1)
        axes.plot(PERCENT, mean, color=tint, linewidth=1.1, linestyle=(0, (4, 1.5)), zorder=1.5)
        found = compare(gaits[0], reference)[name]
        if np.isfinite(found.rmse):
            within = f", {found.within:.0f} % in band" if np.isfinite(found.within) else ""
            told.append((f"RMSE {found.rmse:.2g}{within}", tint))
    for k, gait in enumerate(gaits):
        side: Any = gait.side
        hidden = any(coincide((PERCENT, gait.curves[name]), (PERCENT, other.curves[name])) for other in gaits[k + 1 :])
        color = mix_with_white(COLORS[side], 0.45) if hidden else COLORS[side]
        axes.plot(PERCENT, gait.curves[name], color=color, linewidth=4.2 if hidden else 1.6, zorder=3)
        if "toe-off" in gait.events:
            axes.axvline(gait.events["toe-off"], color=FAINT, linewidth=0.9, linestyle=(0, (1.2, 1.6)), zorder=2)
    if told:
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + (0.04 + 0.1 * len(told)) * (high - low))
    for k, (text, tint) in enumerate(told):
        color = INK if len(references) == 1 else tint
        axes.text(0.99, 1.0 - 0.09 * k, text, transform=axes.transAxes, fontsize=7, color=color, ha="right", va="top",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    dress(axes, name, directed(UNITS[name], [POSITIVE[name]]), below, (0.0, 100.0))
    axes.set_xticks([0, 20, 40, 60, 80, 100])


def _double_support(gait: GaitData) -> list[tuple[float, float]]:
    """Spans of percent in which both feet are on the ground, as far as a recording tells them."""
    lift, strike, off = (
        gait.events.get(name, np.nan) for name in ("opposite toe-off", "opposite heel strike", "toe-off")
    )
    return [(a, b) for a, b in ((0.0, lift), (strike, off)) if a < b and not lift > strike]


def _texts(made: Any, gaits: Sequence[GaitData], captions: Sequence[tuple[int, str]], tints: Sequence[str]) -> None:
    """Title, meaning of colors, and below the lines of the captions, each with the number of its reference."""
    width, height = made.get_size_inches()
    top = 1 - 0.2 / height
    words: Any = {gait.side: gait.side for gait in gaits}
    headline(made, gaits[0].title, words, top, shaded=bool(_double_support(gaits[0])))
    for n, (k, text) in enumerate(reversed(captions)):
        y = (0.13 + 0.19 * n) / height
        if captions.index((k, text)) == [owner for owner, _ in captions].index(k):
            made.text(0.2 / width, y, "▮", color=tints[k], alpha=0.6, fontsize=11, ha="left", va="center")
        made.text(0.36 / width, y, text, fontsize=7, color=INK, ha="left", va="center")
