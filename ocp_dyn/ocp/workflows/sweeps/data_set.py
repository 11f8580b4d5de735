"""Results of a sweep for tools of the field: rows of a table (CSV, Parquet), motions as one data set (xarray)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...._base.checks import whole
from ...._base.files import path_of, whole_file
from ...._base.types import Array

FIGURES = ("converged", "status", "objective", "duration", "step_length", "iterations", "error")
"""Columns of the table after the coordinates; times of solves are in the records, for they differ from run to run."""

UNITS = {"q": "rad, m", "qd": "rad/s, m/s", "tau": "N m, N", "t": "s", "duration": "s", "step_length": "m"}


def rows(library: Any, points: Sequence[Any]) -> list[dict[str, Any]]:
    """A row for every point, sorted by name: name, coordinates, and `FIGURES`, each None where it does not apply."""
    found = library.records(points)
    table = []
    for point in sorted(points, key=lambda point: str(point.name)):
        record: Mapping[str, Any] = found.get(point.name, {})
        figures = {key: record.get(key) for key in FIGURES}
        table.append({"point": point.name, **point.values, **figures})
    return table


def write_table(library: Any, points: Sequence[Any], path: str | Path) -> Path:
    """Writes the rows of the points as CSV or Parquet, complete or not at all."""
    path = path_of(path)
    table = rows(library, points)
    if path.suffix == ".csv":
        with whole_file(path) as partial:
            partial.write_bytes(csv_of(table))
    elif path.suffix == ".parquet":
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise RuntimeError(f"{path.name} needs PyArrow: pip install 'ocp_dyn[data]'; or write a .csv") from error
        arrow = pyarrow.table({key: [row.get(key) for row in table] for key in columns_of(table)})
        with whole_file(path) as partial:
            pyarrow.parquet.write_table(arrow, partial)
    else:
        raise ValueError(f"a table is a file .csv or .parquet, got {path.name!r}")
    return path


def columns_of(table: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of all columns, in the order in which they appear."""
    return list(dict.fromkeys(key for row in table for key in row))


def csv_of(table: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as the content of a file .csv."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns_of(table), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue().encode()


def data_set(library: Any, points: Sequence[Any], nodes: int = 101) -> Any:
    """The motions of all points that converged, as one `xarray.Dataset`.

    Dimensions: point (names); node, `nodes` equal steps from the first to the last node of a motion; position and dof,
    by `model.q_names` and `model.qd_names`. Variables: q (point, node, position), qd and tau (point, node, dof), t
    (point, node) [s]; q and qd are interpolated between the nodes of the solution, tau is the value of the interval;
    a variable for each coordinate of the points, such as mass, and the figures of the records: objective, duration,
    step_length, iterations (point).

    ValueError if none of the points converged, or their models have different dofs; RuntimeError without the extra
    `data`. Memory: 8 bytes for each number, 1,000 gaits of 29 dofs on 101 nodes 75 MB.
    """
    try:
        import xarray
    except ImportError as error:
        raise RuntimeError("a data set needs xarray: pip install 'ocp_dyn[data]'") from error
    whole(nodes, "nodes", least=2)
    records = library.records(points)
    solved = [p for p in sorted(points, key=lambda point: str(point.name)) if records.get(p.name, {}).get("converged")]
    if not solved:
        raise ValueError(f"{library.folder} has no solution that converged at any of the {len(points)} points")
    motions: dict[str, list[Array]] = {"t": [], "q": [], "qd": [], "tau": []}
    names: tuple[list[str], list[str]] | None = None
    for point in solved:
        solution = library.load(point)
        own = list(solution.model.q_names), list(solution.model.qd_names)
        if names is not None and own != names:
            raise ValueError(
                f"{point.name} has other dofs than {solved[0].name}: a data set holds motions of one set of dofs"
            )
        names = own
        for key, value in _resampled(solution, nodes).items():
            motions[key].append(value)
    assert names is not None
    dims = {"t": ("point", "node"), "q": ("point", "node", "position")} | dict.fromkeys(
        ("qd", "tau"), ("point", "node", "dof")
    )
    data = {key: (dims[key], np.array(value), {"units": UNITS[key]}) for key, value in motions.items()}
    columns = {key: [point.values.get(key, np.nan) for point in solved] for point in solved for key in point.values}
    figures = {key: [records[point.name].get(key, np.nan) for point in solved] for key in _NUMBERS}
    data |= {key: (("point",), np.array(value), {"units": UNITS.get(key, "")}) for key, value in figures.items()}
    coordinates = {"point": [point.name for point in solved], "position": names[0], "dof": names[1]}
    return xarray.Dataset(data, coordinates | {key: ("point", value) for key, value in columns.items()})


_NUMBERS = ("objective", "duration", "step_length", "iterations")


def _resampled(solution: Any, nodes: int) -> dict[str, Array]:
    """Times, positions, velocities and torques of a motion at equal steps of time."""
    t = np.linspace(solution.t[0], solution.t[-1], nodes)

    def interpolated(values: Array) -> Array:
        return np.column_stack([np.interp(t, solution.t, column) for column in values.T])

    starts = np.concatenate([phase.t[:-1] for phase in solution.phases])
    interval = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
    return {"t": t, "q": interpolated(solution.q), "qd": interpolated(solution.qd), "tau": solution.tau[interval]}
