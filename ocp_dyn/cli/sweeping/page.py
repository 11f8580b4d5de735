"""The page of a sweep: counts, distributions of the results, points that were not found, a picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..._base.display import page as page_of
from ..._base.display import table
from ...ocp import Library
from ...ocp.workflows.sweeps.data_set import csv_of
from .picture import picture

FIGURES = ("objective", "step_length", "duration", "iterations")
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
SPREAD = ("", "least", "5 %", "median", "95 %", "largest")
MOST_LISTED, MOST_ROWS = 20, 2000
"""Most points that were not found in report.md, and most points in a table of report.html."""
AGAIN = "A second run tries points with errors again, and with --again those that did not converge."


def write_page(library: Library, points: Sequence[Any], title: str) -> None:
    """Writes report.md, report.html, table.csv and sweep.png into the folder of a sweep, which may be on another
    machine."""
    rows, records = library.rows(points), library.records(points)
    library.write("table.csv", csv_of(rows))
    library.write("report.md", page(rows, records, title).encode())
    drawn = picture(rows, _numbers(rows)) if any(row["converged"] for row in rows) else b""
    if drawn:
        library.write("sweep.png", drawn)
    library.write("report.html", html_page(rows, records, title, drawn).encode())


def page(rows: list[dict[str, Any]], records: dict[str, dict[str, Any]], title: str) -> str:
    """The text of the page, in Markdown."""
    missing = _missing(rows)
    lines = [f"# Sweep of {title}", "", _head(rows, records), ""]
    lines += [f"| {' | '.join(SPREAD)} |", f"|{'---|' * len(SPREAD)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in _distributions(rows)]
    lines += ["", "![results over the coordinates](sweep.png)", ""] if len(missing) < len(rows) else [""]
    if missing:
        lines += ["## Not found", "", "| point | status |", "|---|---|"]
        lines += [f"| {point} | {status} |" for point, status in missing[:MOST_LISTED]]
        lines += [f"| {len(missing) - MOST_LISTED} more | see table.csv |"] * (len(missing) > MOST_LISTED)
        lines += ["", AGAIN.replace("--again", "`--again`")]
    return "\n".join(lines) + "\n"


def html_page(rows: list[dict[str, Any]], records: dict[str, dict[str, Any]], title: str, drawn: bytes) -> str:
    """The page of a browser, in one file: that of `page` with its picture, and a table of all points."""
    missing = _missing(rows)
    parts = [f"<h1>Sweep of {escape(title)}</h1>", f"<p>{escape(_head(rows, records))}</p>"]
    if drawn:
        content = b64encode(drawn).decode()
        parts.append(f'<img alt="results over the coordinates" src="data:image/png;base64,{content}">')
    parts.append(table(SPREAD, _distributions(rows)))
    if missing:
        parts += ["<h2>Not found</h2>", table(("point", "status"), missing[:MOST_ROWS]), f"<p>{AGAIN}</p>"]
    names = list(dict.fromkeys(name for row in rows for name in row))
    listed = [[_cell(row.get(name)) for name in names] for row in rows[:MOST_ROWS]]
    parts += ["<h2>All points</h2>", table(names, listed)]
    if len(rows) > MOST_ROWS:
        parts.append(f"<p>{len(rows) - MOST_ROWS} more points are in table.csv.</p>")
    return page_of(f"Sweep of {title}", "\n".join(parts))


def _head(rows: list[dict[str, Any]], records: dict[str, dict[str, Any]]) -> str:
    """Counts, sizes and times in two sentences."""
    found = sum(bool(row["converged"]) for row in rows)
    size = sum(record.get("bytes", 0) for record in records.values())
    told = f"{found} of {len(rows)} points were found; their files take {size / 1e6:.1f} MB."
    seconds = [record["processor_seconds"] for record in records.values() if "processor_seconds" in record]
    if seconds:
        told += f" One point takes {np.median(seconds):.1f} s of a processor (median; build and solve)."
    made = sorted({record["made_with"] for record in records.values() if "made_with" in record})
    return f"{told} {'Made with ' + '; '.join(made) + '.' if made else ''}".rstrip()


def _distributions(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Quantiles of the coordinates and figures of points that were found; see `SPREAD`."""
    lines = []
    for name in (*_numbers(rows), *FIGURES):
        values = [row[name] for row in rows if row["converged"] and row.get(name) is not None]
        if any(values):
            lines.append([name, *(f"{x:.5g}" for x in np.quantile(values, QUANTILES))])
    return lines


def _missing(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Points that were not found, each with its reason."""
    return [(row["point"], row["error"] or row["status"] or "not solved") for row in rows if not row["converged"]]


def _cell(value: Any) -> str:
    """A value of the table of all points."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _numbers(rows: list[dict[str, Any]]) -> list[str]:
    """Names of the coordinates that are numbers."""
    known = {"point", "converged", "status", "error", *FIGURES}
    names = dict.fromkeys(name for row in rows for name in row if name not in known)
    return [name for name in names if any(isinstance(row.get(name), (int, float)) for row in rows)]
