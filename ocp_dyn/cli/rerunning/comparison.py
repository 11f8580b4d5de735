"""Two solutions of one problem: how far they are apart in configurations, torques, cost and iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import _names as od
from ..._base.types import Array

SAMPLES = 101
"""Number of times at which motions on different grids are compared, at even fractions of each."""

OF_VERSIONS = ("ocp_dyn", "source", "casadi", "numpy", "python", "system", "processor", "compiler", "native")
"""Entries of a provenance that are told where they differ."""


class Apart(NamedTuple):
    """Distance of two motions. q: largest difference of a configuration [rad, m], of the dof `dof`; tau: largest
    difference of a torque [N m, N], nan on different grids. same_bits: whether all times, configurations, velocities
    and torques agree to the last bit."""

    q: float
    dof: str
    tau: float
    same_bits: bool


def apart(saved: od.ocp.Solution, again: od.ocp.Solution) -> Apart:
    """The distance of two motions of one model."""
    model = saved.model
    if list(model.qd_names) != list(again.model.qd_names):
        raise ValueError(
            f"the problem that was solved now has other joints, {again.model!r}, than the file, {model!r}: "
            "--problem FILE.py:NAME names the right one"
        )
    same_grid = [p.t.size for p in saved.phases] == [p.t.size for p in again.phases]
    first, second = (saved.q, again.q) if same_grid else (_even(saved), _even(again))
    steps = np.array([np.array(model.difference(a, b).full()).ravel() for a, b in zip(first, second, strict=True)])
    worst = int(np.argmax(np.abs(steps).max(axis=0))) if steps.size else 0
    pairs = [(getattr(saved, name), getattr(again, name)) for name in ("t", "q", "qd", "tau")]
    return Apart(
        float(np.abs(steps).max(initial=0.0)),
        model.qd_names[worst] if steps.size else "",
        float(np.abs(saved.tau - again.tau).max(initial=0.0)) if same_grid else float("nan"),
        same_grid and all(np.array_equal(a, b) for a, b in pairs),
    )


def _even(solution: od.ocp.Solution) -> Array:
    """Configurations at even fractions of a motion, its last instant left out: a periodic one begins anew there."""
    return solution.sample(np.linspace(0.0, solution.duration, SAMPLES)[:-1])


def figures(saved: od.ocp.Solution, again: od.ocp.Solution) -> dict[str, tuple[Any, Any]]:
    """Figures of both solutions by name."""
    names = ("iterations", "evaluation", "linear_solver")
    found = {name: (saved.stats.get(name), again.stats.get(name)) for name in names}
    return {
        "status": (saved.status, again.status),
        "cost": (float(saved.objective), float(again.objective)),
        "duration [s]": (float(saved.duration), float(again.duration)),
        **found,
    }


def changes(saved: Mapping[str, Any], again: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Versions, machine and compiler where two provenances differ."""
    pairs = {name: (saved.get(name), again.get(name)) for name in OF_VERSIONS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
