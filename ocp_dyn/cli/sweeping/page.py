"""The page of a sweep: counts, distributions of the results, points that were not found, a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ocp import Library
from ...ocp.workflows.sweeps.data_set import csv_of
from ...viz.drawing import figure

FIGURES = ("objective", "step_length", "duration", "iterations")
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
MOST_LISTED = 20


def write_page(library: Library, points: Sequence[Any], title: str) -> None:
    """Writes report.md, table.csv and sweep.png into the folder of a sweep, which may be on another machine."""
    rows, records = library.rows(points), library.records(points)
    library.write("table.csv", csv_of(rows))
    library.write("report.md", page(rows, records, title).encode())
    if any(row["converged"] for row in rows):
        library.write("sweep.png", _picture(rows))


def page(rows: list[dict[str, Any]], records: dict[str, dict[str, Any]], title: str) -> str:
    """The text of the page, in Markdown."""
    found = [row for row in rows if row["converged"]]
    missing = [row for row in rows if not row["converged"]]
    seconds = [record["processor_seconds"] for record in records.values() if "processor_seconds" in record]
    size = sum(record.get("bytes", 0) for record in records.values())
    lines = [f"# Sweep of {title}", ""]
    lines += [f"{len(found)} of {len(rows)} points were found; their files take {size / 1e6:.1f} MB."]
    if seconds:
        lines[-1] += f" One point takes {np.median(seconds):.1f} s of a processor (median; build and solve)."
    lines += ["", "| | least | 5 % | median | 95 % | largest |", "|---|---|---|---|---|---|"]
    for name in (*_numbers(rows), *FIGURES):
        values = [row[name] for row in found if row.get(name) is not None]
        if any(values):
            cells = " | ".join(f"{x:.5g}" for x in np.quantile(values, QUANTILES))
            lines.append(f"| {name} | {cells} |")
    lines += ["", "![results over the coordinates](sweep.png)", ""] if found else [""]
    if missing:
        lines += ["## Not found", "", "| point | status |", "|---|---|"]
        lines += [
            f"| {row['point']} | {row['error'] or row['status'] or 'not solved'} |" for row in missing[:MOST_LISTED]
        ]
        lines += [f"| {len(missing) - MOST_LISTED} more | see table.csv |"] * (len(missing) > MOST_LISTED)
        lines += ["", "A second run tries points with errors again, and with `--again` those that did not converge."]
    return "\n".join(lines) + "\n"


def _numbers(rows: list[dict[str, Any]]) -> list[str]:
    """Names of the coordinates that are numbers."""
    known = {"point", "converged", "status", "error", *FIGURES}
    names = dict.fromkeys(name for row in rows for name in row if name not in known)
    return [name for name in names if any(isinstance(row.get(name), (int, float)) for row in rows)]


def _picture(rows: list[dict[str, Any]]) -> bytes:
    """The objective over each coordinate that is a number, as .png."""
    found = [row for row in rows if row["converged"]]
    names = _numbers(rows) or ["duration"]
    made = figure(3.2 * len(names), 2.9)
    for axes, name in zip(np.ravel(made.subplots(1, len(names), sharey=True)), names, strict=True):
        axes.plot([row[name] for row in found], [row["objective"] for row in found], ".", markersize=4)
        axes.set(xlabel=name)
        axes.spines[["top", "right"]].set_visible(False)
    made.axes[0].set(ylabel="objective")
    made.tight_layout()
    content = io.BytesIO()
    made.savefig(content, format="png", dpi=130)
    return content.getvalue()
