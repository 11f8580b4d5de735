"""A library of gaits as a table and as a picture: cost of transport and step length against speed."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...ocp import Library
from ...viz.drawing import figure, save
from ..person import person
from .grid import GaitPoint

COLUMNS = (
    "speed_m_per_s", "slope", "step_length_asked_m", "converged", "iterations", "solve_seconds", "step_length_m",
    "step_duration_s", "cost_of_transport", "positive_work_J", "negative_work_J", "objective", "file",
)  # fmt: skip


COLORS = ("#0072b2", "#444444", "#d55e00", "#009e73", "#cc79a7")
"""Colors of the slopes."""


def write_gait_table(library: Library, points: Sequence[GaitPoint]) -> list[dict[str, Any]]:
    """The solved gaits of a library, a row each, which `table.csv` in its folder then holds, too."""
    rows = [_row(point, library) for point in sorted(points, key=lambda point: point.name)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    library.write("table.csv", text.getvalue().encode())
    return rows


def _row(point: GaitPoint, library: Library) -> dict[str, Any]:
    solution = library.load(point)
    positive, negative = solution.mechanical_work()
    asked = "free" if point.free else point.step
    values = (
        point.speed, point.slope, asked, solution.converged, solution.stats["iterations"],
        round(solution.stats["solve_seconds"], 3), solution.step_length, solution.duration,
        solution.cost_of_transport(), positive, negative, solution.objective, library.path(point).name,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def plot_gait_table(rows: Sequence[dict[str, Any]], path: str | Path | None = None) -> Any:
    """Cost of transport and free step length against speed, a line for each slope and requested step length, beside the
    step length that people choose on level ground. rows: those of `write_gait_table`. `ValueError` if no gait of them
    was found."""
    found = [r for r in rows if r["converged"]]
    if not found:
        raise ValueError("plot_gait_table needs at least one gait that was found")
    made = figure(10, 4.2)
    cost, length = made.subplots(1, 2)
    made.subplots_adjust(left=0.07, right=0.98, bottom=0.13, top=0.96, wspace=0.2)
    slopes = sorted({r["slope"] for r in found})
    marks = dict(zip(sorted({str(r["step_length_asked_m"]) for r in found}, reverse=True), "os^Dvx", strict=False))
    for slope, step in product(slopes, marks):
        line = [r for r in found if (r["slope"], str(r["step_length_asked_m"])) == (slope, step)]
        line.sort(key=lambda r: float(r["speed_m_per_s"]))
        speeds, color = [r["speed_m_per_s"] for r in line], COLORS[slopes.index(slope) % len(COLORS)]
        style = {"color": color, "marker": marks[step], "linestyle": "-" if step == "free" else "--", "markersize": 5}
        label = f"{_slope(slope)}, " + ("free step" if step == "free" else f"step {float(step):.2g} m")
        if line:
            cost.plot(speeds, [r["cost_of_transport"] for r in line], label=label, **style)
        if line and step == "free":
            length.plot(speeds, [r["step_length_m"] for r in line], **style)
    _beside_people(length, [float(r["speed_m_per_s"]) for r in found])
    cost.set(xlabel="speed [m/s]", ylabel="positive joint work per weight and distance", ylim=(0, None))
    length.set(xlabel="speed [m/s]", ylabel="step length where it is free [m]")
    for axes in (cost, length):
        axes.legend(fontsize=7, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    save(made, path)
    return made


def _beside_people(axes: Any, speeds: Sequence[float]) -> None:
    """The step length that people choose, as a broad curve."""
    x, walker = np.linspace(min(speeds) - 0.05, max(speeds) + 0.05, 50), person()
    people, label = [walker.step_length(v) for v in x], "people, level ground (Grieve and Gear 1966)"
    axes.plot(x, people, color="0.4", linewidth=3, alpha=0.5, label=label)


def _slope(slope: float) -> str:
    """A slope in percent; "level" for none."""
    return f"slope {100 * slope:+.3g} %" if slope else "level"
