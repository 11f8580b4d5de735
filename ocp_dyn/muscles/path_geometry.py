"""Lengths, moment arms and lines of the paths of muscles at given configurations, exact, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import DM

from .._base.checks import choice
from .._base.types import Array, ModelError, names_in_message, repr_in_message, suggestion
from ..mechanism import Model, Muscle
from ..mechanism.boundary import checks_arguments
from .paths.bodies import path_bodies
from .paths.geometry import LINES, Path, path_values
from .paths.lines import path_lines_at


@dataclass(frozen=True)
class PathGeometry:
    """Paths of muscles at one configuration, or at n of them.

    names: of the muscles. lengths (muscles) [m], or (n, muscles). moment_arms (muscles, nv) [m, for dofs that are
    lengths 1], or (n, muscles, nv).

    >>> od.muscles.path_geometry(od.models.elbow(), [0.5]).names
    ('biceps', 'triceps')
    """

    names: tuple[str, ...]
    lengths: Array
    moment_arms: Array


@checks_arguments(own=("q",))
def path_geometry(
    model: Model, q: Any, muscles: Sequence[str] | str | None = None, *, lines: str = "shortest"
) -> PathGeometry:
    """Lengths and moment arms r = -dl/dq of paths with via points, moving and conditional points, and wrap objects.

    q: a configuration (nq), or n of them (n x nq), which cost little more than one. muscles: names; all by default.
    lines: "shortest": helices on cylinders, great circles on spheres, geodesics on ellipsoids, right to about 1e-10 m;
    a torus is a cylinder along its ring, as in OpenSim. "opensim": sections of ellipsoids by planes, and the heights at
    which OpenSim crosses a cylinder that is alone on its path. OpenSim's rules decide with both which objects a path
    wraps, and on which side.

    Moment arms are generalized forces of a unit tension: -dl/dq for the shortest lines. Those of coordinates that
    constraints couple are arms of the tree. ModelError for a model with symbols.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> bent = arm.with_muscles([od.Muscle("flexor", "PathSpring", path)])
    >>> od.muscles.path_geometry(bent, [0.0, 0.5]).lengths
    array([0.7040356])
    """
    choice(lines, LINES, "lines")
    if model.has_symbols:
        raise ModelError("paths of muscles in numbers need a model without symbols; give it values of its parameters")
    table = _configurations(model, q)
    chosen = chosen_muscles(model, muscles)
    found = [path_values(Path(model, muscle, lines), np.atleast_2d(table)) for muscle in chosen]
    n = len(np.atleast_2d(table))
    lengths = np.stack([one.length for one in found], axis=1) if found else np.zeros((n, 0))
    arms = np.stack([one.moment_arms for one in found], axis=1) if found else np.zeros((n, 0, model.nv))
    names = tuple(muscle.name for muscle in chosen)
    return PathGeometry(names, lengths, arms) if table.ndim == 2 else PathGeometry(names, lengths[0], arms[0])


@checks_arguments(own=("q",))
def path_lines(model: Model, q: Any, muscles: Sequence[str] | str | None = None) -> dict[str, Any]:
    """Points (k x 3) [m], world axes, of the lines of paths at a configuration q (nq), by the names of the muscles:
    those of the path, and some along its arcs over wrap objects. To draw them. Of n configurations (n x nq) a list of n
    lines for every muscle.

    >>> od.muscles.path_lines(od.models.elbow(), [0.0], "biceps")["biceps"].shape
    (2, 3)
    """
    table = _configurations(model, q)
    rows = np.atleast_2d(table)
    found: dict[str, Any] = {}
    for muscle in chosen_muscles(model, muscles):
        path = Path(model, muscle)
        base = path.bodies.base
        poses = path_bodies(model, tuple(sorted({0, base}))).at(rows)
        lines = [
            line @ R.T + p for line, R, p in zip(path_lines_at(path, rows), poses.R[base], poses.p[base], strict=True)
        ]
        found[muscle.name] = lines if table.ndim == 2 else lines[0]
    return found


def _configurations(model: Model, q: Any) -> Array:
    """q as a row, or as a table with a row each."""
    try:
        table = np.array(q.full().ravel() if isinstance(q, DM) else q, dtype=float)
    except (TypeError, ValueError):
        table = np.zeros((0, 0, 0))
    if table.ndim not in (1, 2) or table.shape[-1] != model.nq or not np.all(np.isfinite(table)):
        raise ValueError(f"q must be {model.nq} finite numbers, or rows of so many, got {repr_in_message(q)}")
    return table


def chosen_muscles(model: Model, names: Sequence[str] | str | None) -> list[Muscle]:
    """Muscles by their names, all where none are given; KeyError for one that the model does not have."""
    known = {muscle.name: muscle for muscle in model.muscles}
    wanted = list(known) if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise KeyError(
                f"no muscle {repr_in_message(name)}; muscles are: {names_in_message(tuple(known))}"
                f"{suggestion(name, known)}"
            )
    return [known[name] for name in wanted]
