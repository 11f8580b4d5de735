"""Sections of the growth benchmark: rows of figures by case and size, as a Markdown table with slopes, and as a
log-log figure.

A section is a module with a `SECTION`, and a line in `SECTIONS` of `__main__.py`.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.common import in_process


@dataclass(frozen=True)
class Row:
    """Figures of one measurement. case: what was measured; size: how much of it; note: what went wrong, if
    something did."""

    case: str
    size: float
    figures: Mapping[str, float]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """One table of the benchmark.

    title: its heading; size: what the sizes count; columns: names of figures and the formats of their cells; plotted:
    figures with a slope and a panel of the figure; rows: measures, row by row; arguments: adds options of its own.
    """

    title: str
    size: str
    columns: Mapping[str, str]
    plotted: Sequence[str]
    rows: Callable[[argparse.Namespace], Iterable[Row]]
    arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None


def header(section: Section) -> str:
    """The first lines of the table."""
    titles = ["case", section.size, *section.columns]
    return f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"


def line(section: Section, row: Row) -> str:
    """A row of the table; a figure that is missing is a dash."""
    cells = [format(row.figures[name], form) if name in row.figures else "-" for name, form in section.columns.items()]
    return f"| {row.case} | {row.size:g} | {' | '.join(cells)} |{f' {row.note}' if row.note else ''}"


def slope(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The exponent p of the fit value = c size^p by least squares of the logarithms; None below two sizes.

    >>> slope([1, 2, 4], [3, 12, 48])
    2.0
    """
    pairs = [(x, y) for x, y in zip(sizes, values, strict=True) if x > 0 and y > 0]
    if len({x for x, _ in pairs}) < 2:
        return None
    return round(float(np.polyfit(*np.log(np.array(pairs)).T, 1)[0]), 3)


def curves(rows: Iterable[Row], figure: str) -> dict[str, tuple[list[float], list[float]]]:
    """Sizes and values of a figure, by case."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        if figure in row.figures and not row.note:
            sizes, values = found.setdefault(row.case, ([], []))
            sizes.append(row.size)
            values.append(float(row.figures[figure]))
    return found


def slopes(section: Section, rows: Sequence[Row]) -> list[str]:
    """A table of the slopes of the plotted figures; empty without two sizes of a case."""
    by_figure = {figure: curves(rows, figure) for figure in section.plotted}
    table = {
        case: [slope(*by_figure[figure].get(case, ([], []))) for figure in section.plotted]
        for case in dict.fromkeys(row.case for row in rows)
    }
    table = {case: cells for case, cells in table.items() if any(cell is not None for cell in cells)}
    if not table:
        return []
    lines = [
        f"| slope over {section.size} | {' | '.join(section.plotted)} |",
        f"|{'---|' * (1 + len(section.plotted))}",
    ]
    for case, cells in table.items():
        lines.append(f"| {case} | {' | '.join('-' if cell is None else f'{cell:.2f}' for cell in cells)} |")
    return lines


def draw(section: Section, rows: Sequence[Row], path: Path) -> None:
    """Draws the plotted figures over the size, on logarithmic axes, with the slopes in the legends."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    picture = Figure(figsize=(5.2 * len(section.plotted), 4.2), layout="constrained")
    for axes, figure in zip(picture.subplots(1, len(section.plotted), squeeze=False)[0], section.plotted, strict=True):
        for case, (sizes, values) in curves(rows, figure).items():
            p = slope(sizes, values)
            axes.loglog(sizes, values, "o-", label=case if p is None else f"{case}, slope {p:.2f}")
        axes.set(xlabel=section.size, title=figure)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize="x-small")
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": section.title}):
        picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {})


def plain(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as plain data, for JSON."""
    return [{"case": r.case, "size": r.size, "figures": dict(r.figures), "note": r.note} for r in rows]


def apart(module: str, *arguments: str) -> Row:
    """The row that `python -m module` prints, as JSON, in a process of its own: its memory is that of one case."""
    lines, fault = in_process(module, list(arguments))
    if fault:
        raise SystemExit(f"{module} {' '.join(arguments)}: {fault}")
    (row,) = json.loads(lines[-1])
    return Row(**row)


def peak() -> float:
    """The most memory that this process has held [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
