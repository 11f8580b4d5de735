"""The picture of a sweep: the cost over every coordinate, and a map of it over two of them, with what was not found."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._base.types import Array
from ...viz.drawing import MUSCLE, figure

Row = dict[str, Any]
PANEL = 3.2
"""Width of one panel [inches]."""


def picture(rows: Sequence[Row], names: Sequence[str]) -> bytes:
    """Panels of the objective over each coordinate of these names, and a map over the first two, as .png.

    Points that were not found are red crosses: at the foot of the panels, and at their places in the map.
    """
    across = max(len(names), 1)
    made = figure(PANEL * (across + (len(names) > 1)), 2.9)
    made.set_layout_engine("constrained")
    panels = np.ravel(made.subplots(1, across + (len(names) > 1)))
    for axes, name in zip(panels, names or ["duration"], strict=False):
        _draw_line(axes, rows, name)
        if axes is not panels[0]:
            axes.sharey(panels[0])
    panels[0].set(ylabel="objective")
    if len(names) > 1:
        _draw_map(panels[-1], rows, names[0], names[1])
    content = io.BytesIO()
    made.savefig(content, format="png", dpi=130)
    return content.getvalue()


def _draw_line(axes: Any, rows: Sequence[Row], name: str) -> None:
    """The objective over one coordinate."""
    found, missing = _parted(rows, name)
    axes.plot([row[name] for row in found], [row["objective"] for row in found], ".", markersize=4)
    axes.plot([row[name] for row in missing], np.zeros(len(missing)), "x", color=MUSCLE, markersize=5, clip_on=False,
              transform=axes.get_xaxis_transform())  # fmt: skip
    axes.set(xlabel=name)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_map(axes: Any, rows: Sequence[Row], one: str, other: str) -> None:
    """The objective as colors over two coordinates: cells of a grid, or dots of a sample."""
    found, missing = _parted(rows, one)
    x, y, cost = (np.array([row[key] for row in found], dtype=float) for key in (one, other, "objective"))
    cells = cells_of(x, y, cost)
    drawn = axes.scatter(x, y, c=cost, s=14) if cells is None else axes.pcolormesh(*cells, shading="nearest")
    axes.plot([row[one] for row in missing], [row[other] for row in missing], "x", color=MUSCLE, markersize=6)
    axes.set(xlabel=one, ylabel=other)
    axes.figure.colorbar(drawn, ax=axes, label="objective")


def cells_of(x: Array, y: Array, cost: Array) -> tuple[Array, Array, Array] | None:
    """Columns, rows and the least cost of every cell (nan: none) of a grid; None for points that are no grid, of which
    fewer than half of the cells have one."""
    columns, lines = np.unique(x), np.unique(y)
    if min(columns.size, lines.size) < 2 or 2 * x.size < columns.size * lines.size:
        return None
    cells = np.full((lines.size, columns.size), np.nan)
    for i, j, value in zip(np.searchsorted(lines, y), np.searchsorted(columns, x), cost, strict=True):
        cells[i, j] = np.fmin(cells[i, j], value)
    return columns, lines, cells


def _parted(rows: Sequence[Row], name: str) -> tuple[list[Row], list[Row]]:
    """Rows that have a value of the coordinate: those that were found, and the others."""
    known = [row for row in rows if row.get(name) is not None]
    return [row for row in known if row["converged"]], [row for row in known if not row["converged"]]
