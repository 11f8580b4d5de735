"""Solutions as tables for other programs: .csv, in this library's layout or in MuJoCo's, Pinocchio's or RBDL's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

from ..._base.convergence import mark_of
from ..._base.display import Columns
from ..._base.files import path_of, whole_file
from ..._base.rooms import named_arguments
from ..._base.types import Array, is_one_of, repr_in_message, suggestion, truth
from ...io.layouts import Layout
from .motion import Motion, PhaseMotion
from .sampled_tables import sampled_table

HEADS = {"mujoco": ("qpos", "qvel", "qfrc"), "pinocchio": ("q", "v", "tau"), "rbdl": ("q", "qdot", "tau")}
"""Column names of other libraries for position, velocity and generalized force."""


@named_arguments
def table(solution: Motion, layout: str = "", *, stride: bool = False, samples: int | None = None) -> Columns:
    """Columns by name, with a line per node: time [s], number of the phase, q, qd, tau [SI units], contact forces lam,
    channels of components, such as "heat knee". A solution that did not converge ends
    with a column "NOT CONVERGED (status)".

    tau, lam and other values of intervals belong to the interval that begins at the node; at the last node of a phase
    they are nan. Where two phases meet, two lines have the same time. layout: "" for this library's layout, with names
    of joints; "mujoco" (`qpos0`, ..., `qvel0`, ..., `qfrc0`, ...), "pinocchio" or "rbdl": see `ocp_dyn.io.layouts`,
    without contact forces.

    samples: number of even times instead of the nodes; stride: over a whole stride of a periodic motion, 101 times if
    no number is given. Then there are the forces and centers of pressure of the feet in world axes in place of lam, see
    `sampled_table`.
    """
    if not is_one_of(layout, ("", *HEADS)):
        raise ValueError(
            f"layout must be '' or one of {', '.join(HEADS)}, got {repr_in_message(layout)}{suggestion(layout, HEADS)}"
        )
    if truth(stride, "stride") or samples is not None:
        if layout:
            raise ValueError(f"stride and samples are for this library's layout, got layout={layout!r}: leave one out")
        return _marked(solution, sampled_table(solution, stride, samples))
    phases = [_lines(solution, phase, layout) for phase in solution.phases]
    t = np.concatenate([phase.t for phase in solution.phases])
    number = np.concatenate([np.full(len(phase.t), k) for k, phase in enumerate(solution.phases)])
    found: dict[str, Array] = {"time": t, "phase": number}
    names = dict.fromkeys(name for columns in phases for name in columns)
    for name in names:
        nodes = [(columns, len(phase.t)) for columns, phase in zip(phases, solution.phases, strict=True)]
        found[name] = np.concatenate([columns.get(name, np.full(count, np.nan)) for columns, count in nodes])
    return _marked(solution, found)


def _marked(solution: Motion, found: dict[str, Array]) -> Columns:
    """The columns, with one more for a solution that did not converge."""
    mark = mark_of(solution)
    return Columns(found | ({mark: np.ones(len(found["time"]))} if mark else {}))


@named_arguments
def to_csv(
    solution: Motion,
    path: str | Path,
    layout: str = "",
    delimiter: str = ",",
    *,
    stride: bool = False,
    samples: int | None = None,
) -> Path:
    """Writes `table` with a header line, numbers in full precision and empty cells for nan; returns the path.

    The column "phase" holds the names of the phases. ValueError if a name contains the delimiter.
    """
    path = path_of(path)
    columns = table(solution, layout, stride=stride, samples=samples)
    phase_names = [phase.name for phase in solution.phases]
    for name in [*columns, *phase_names]:
        if delimiter in name:
            raise ValueError(f"the name {name!r} contains the delimiter {delimiter!r}: choose another delimiter")
    lines = [delimiter.join(columns)]
    for row in zip(*columns.values(), strict=True):
        cells = [
            phase_names[int(x)] if name == "phase" else "" if np.isnan(x) else repr(float(x))
            for name, x in zip(columns, row, strict=True)
        ]
        lines.append(delimiter.join(cells))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _lines(solution: Motion, phase: PhaseMotion, layout: str) -> dict[str, Array]:
    """The columns of one phase."""
    model, last = solution.model, np.full((1, solution.model.nv), np.nan)
    q, qd, tau = phase.q, phase.qd, phase.tau
    if not layout:
        rows = tuple(row for contact in phase.contacts for row in contact.rows)
        entries = {"q": model.q_names, "qd": model.qd_names, "tau": model.qd_names, "lam": rows}
        names = {name: [f"{name} {entry}" for entry in its] for name, its in entries.items()}
        names |= {channel.name: list(channel.names()) for channel in solution.channels}
        pairs = ((names[name], _padded(phase[name], len(phase.t))) for name in names)
        return {name: column for its, values in pairs for name, column in zip(its, values.T, strict=True)}
    other = Layout(model, layout)
    states = _rows(other.to_q, q), _rows(other.to_qd, q, qd)
    efforts = np.vstack([_rows(other.to_tau, q[:-1], tau), last])
    parts = zip(HEADS[layout], (*states, efforts), strict=True)
    return {f"{head}{k}": column for head, part in parts for k, column in enumerate(part.T)}


def _padded(values: Array, count: int) -> Array:
    """Values with a row for every node: those of intervals end with nan."""
    return np.vstack([values, np.full((count - len(values), values.shape[1]), np.nan)])


def _rows(convert: Any, *states: Array) -> Array:
    return np.array([np.array(DM(convert(*row)).full()).ravel() for row in zip(*states, strict=True)])
