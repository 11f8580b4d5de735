"""Figures that fit a page: as wide as is asked for, in the type sizes of a paper, with labels in LaTeX's fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._base.checks import choice, positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ("screen", "paper", "latex")
"""Styles of figures: that of the screen; type of 7 points without a title, which a caption replaces; the same with the
units and symbols of LaTeX's fonts."""

SMALL = 0.85
"""Size of type and lines of a paper, beside those of the screen."""

PAPER_WIDTH = 7.0
"""Width of a figure of a paper [inches] if none is given: that of a page with two columns."""

MARGIN, LABELS = 0.43, 0.72
"""Margin left of all panels, and width of the ordinate's labels of one [inches]."""

NARROWEST = 1.75
"""Smallest width of a panel with its margins [inches], in the type of the screen."""

HIGHEST = 2.4
"""Largest height of a panel without its margins [inches], in the type of the screen."""

MOST_INCHES = 100.0

SMALLEST = 5.0
"""Smallest type of a label [points]."""

P = TypeVar("P")


@dataclass(frozen=True)
class PrintLayout:
    """Width [inches] and style of a figure; width None: as wide as its panels are on the screen."""

    width: float | None = None
    style: str = "screen"

    @staticmethod
    def of(width: Any, style: Any) -> PrintLayout:
        """The checked layout; ValueError for a width of no size, or an unknown style."""
        choice(style, STYLES, "plot: style")
        if width is not None:
            width = positive(width, "plot: width [inches]")
            if not 1.0 <= width <= MOST_INCHES:
                raise ValueError(f"plot: width [inches] must be at least 1 and at most {MOST_INCHES:g}, got {width:g}")
        return PrintLayout(PAPER_WIDTH if width is None and style != "screen" else width, style)

    @property
    def scale(self) -> float:
        """Size of type beside that of the screen."""
        return 1.0 if self.style == "screen" else SMALL

    @property
    def titled(self) -> bool:
        """Whether the figure has a title."""
        return self.style == "screen" and (self.width is None or self.width >= PAPER_WIDTH)


class PanelGrid(NamedTuple):
    """Size of a panel with its margins, and the width of the figure if the layout gives it [inches of the screen];
    most: number of panels in a row, None for any."""

    width: float
    height: float
    total: float | None = None
    most: int | None = None

    @staticmethod
    def of(layout: PrintLayout, width: float, height: float) -> PanelGrid:
        """The grid of a layout; width, height: of a panel on the screen."""
        if layout.width is None:
            return PanelGrid(width, height)
        total = layout.width / layout.scale
        return PanelGrid(width, height, total, max(1, int((total - MARGIN) / NARROWEST)))

    def arranged(self, rows: Sequence[Sequence[P]]) -> list[list[P]]:
        """The panels in rows that fit."""
        return [list(row) for row in rows] if self.most is None else reflow(rows, self.most)

    def filled(self, rows: Sequence[Sequence[Any]]) -> PanelGrid:
        """The grid whose panels are as wide as the figure allows with these rows."""
        if self.total is None:
            return self
        width = (self.total - MARGIN) / max(map(len, rows))
        return self._replace(width=width, height=0.58 + min(max(0.8, 0.6 * (width - LABELS)), HIGHEST))

    def box(self, size: tuple[float, float], column: int, bottom: float) -> tuple[float, float, float, float]:
        """The axes of a panel in a figure of this size, in fractions of it; bottom: height of the abscissa."""
        left = LABELS + 0.04 + column * self.width
        return left / size[0], bottom / size[1], (self.width - LABELS) / size[0], (self.height - 0.58) / size[1]


def reflow(rows: Sequence[Sequence[P]], most: int) -> list[list[P]]:
    """The panels in rows of at most so many: turned, a column for each row, where that fits; else one after the
    other."""
    longest = max(map(len, rows), default=0)
    if longest <= most:
        return [list(row) for row in rows]
    if 1 < len(rows) <= most and all(len(row) == longest for row in rows):
        return [list(column) for column in zip(*rows, strict=True)]
    panels = [panel for row in rows for panel in row]
    return [panels[k : k + most] for k in range(0, len(panels), most)]


def finish_layout(made: Figure, layout: PrintLayout) -> None:
    """Brings type, lines and the figure to their printed size, and labels into LaTeX's fonts."""
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    if layout.style == "latex":
        for axes in made.axes:
            axes.set_ylabel(latex(axes.get_ylabel()))
            axes.set_xlabel(latex(axes.get_xlabel()))
    if layout.scale != 1.0:
        for text in made.findobj(Text):
            assert isinstance(text, Text)
            text.set_fontsize(layout.scale * float(text.get_fontsize()))
        for axes in made.axes:
            sizes = [float(t.get_fontsize()) for t in axes.get_yticklabels()] or [7.5 * layout.scale]
            axes.tick_params(labelsize=sizes[0], length=2.2, pad=2)
        for line in made.findobj(Line2D):
            assert isinstance(line, Line2D)
            line.set_linewidth(layout.scale * float(line.get_linewidth()))
        width, height = (float(x) for x in made.get_size_inches())
        made.set_size_inches(layout.scale * width, layout.scale * height)
    if layout.style == "latex":
        for text in made.findobj(Text):
            assert isinstance(text, Text)
            text.set_fontfamily("serif")
            text.set_math_fontfamily("cm")
    if layout.width is not None:
        _fit_texts(made)


def _fit_texts(made: Any) -> None:
    """Makes titles and labels of the axes that do not fit beside each other smaller, and puts the names of curves one
    below the other where they are too wide."""
    renderer = made.canvas.get_renderer()
    for axes in made.axes:
        box = axes.get_window_extent(renderer)
        for text, room in (
            (axes._left_title, 1.2 * box.width),
            (axes.yaxis.label, 1.35 * box.height),
            (axes.xaxis.label, 1.3 * box.width),
        ):
            extent = text.get_window_extent(renderer)
            size = max(extent.width, extent.height)
            if size > room:
                text.set_fontsize(max(SMALLEST, float(text.get_fontsize()) * room / size))
        legend = axes.get_legend()
        if legend is not None and legend.get_window_extent(renderer).width > box.width:
            size = float(legend.get_texts()[0].get_fontsize())
            axes.legend(fontsize=min(size, SMALLEST + 0.5), frameon=False, handlelength=1.3, loc="best", ncols=1)


UNITS = {
    "degrees/s": r"$^\circ\!/\mathrm{s}$",
    "degrees": r"$^\circ$",
    "N m/kg": r"$\mathrm{N\,m/kg}$",
    "N m": r"$\mathrm{N\,m}$",
    "N/kg": r"$\mathrm{N/kg}$",
    "W/kg": r"$\mathrm{W/kg}$",
    "m/s": r"$\mathrm{m/s}$",
    "%": r"$\%$",
    "m": r"$\mathrm{m}$",
    "N": r"$\mathrm{N}$",
    "W": r"$\mathrm{W}$",
    "J": r"$\mathrm{J}$",
}
"""Units in LaTeX."""


def latex(label: str) -> str:
    """A label with its unit as LaTeX writes it: "degrees (+ flexion)" becomes "[°] (+ flexion)"."""
    for unit, written in UNITS.items():
        if label == unit or label.startswith(f"{unit} "):
            rest = label[len(unit) :].replace("%", r"\%")
            return f"[{written}]{rest}"
    return re.sub(r"\[%\]", r"[$\\%$]", label)
