"""Paths of the muscles of the OpenSim models of a folder, beside OpenSim's lengths and moment arms in MODEL.npz.

With OpenSim's own lines (`lines="opensim"`) lengths of paths over at most one cylinder, sphere or torus are those of
OpenSim, 1e-9 m, and arms 1e-8; over one ellipsoid, whose tangent points OpenSim finds roughly, 1e-4. Over several
objects OpenSim stops early, so that these are told and not judged. Beside them stands by how much OpenSim's lines are
longer than the shortest ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od

from .osim import files_in, free_joints, speeds  # noqa: F401, the command calls files_in

LIMITS = {"straight": (1e-9, 1e-8), "one surface": (1e-9, 1e-8), "one ellipsoid": (1e-4, 1e-4)}
"""Errors of lengths [m] and of moment arms that are allowed, by kinds of paths."""


def kind_of(model: od.Model, muscle: od.Muscle) -> str:
    """The kind of a path: by the wrap objects on it."""
    surfaces = {wrap.name: wrap.kind for wrap in model.wraps if wrap.active}
    kinds = [surfaces[wrap.wrap] for wrap in muscle.wraps if wrap.wrap in surfaces]
    if len(kinds) > 1:
        return "several objects"
    return "straight" if not kinds else "one ellipsoid" if kinds == ["ellipsoid"] else "one surface"


def check(path: Path, folder: Path | None = None) -> tuple[str, str]:
    """("not a model" | "agree" | "differ", what): one file, with a line for every kind of paths."""
    beside = path.with_suffix(".npz")
    if not beside.is_file() or not np.load(beside).get("length", np.zeros(0)).size:
        return "not a model", "no recorded paths"
    found = dict(np.load(beside))
    model = od.load_osim(path, up="y", keep_locked=True)
    wrong, largest = [], 0.0
    for kind, (length, arm, longer, count) in errors(model, found, free_joints(path)).items():
        print(f"{path.stem}, {kind}: {count} muscles, length {length:.1e} m, arm {arm:.1e} m, longer {longer:.1e} m")
        if kind in LIMITS:
            allowed = LIMITS[kind]
            largest = max(largest, length if kind != "one ellipsoid" else 0.0)
            wrong += [f"{kind} {length:.1e} m, {arm:.1e}"] if length > allowed[0] or arm > allowed[1] else []
    return ("differ", ", ".join(wrong)) if wrong else ("agree", f"{largest:.1e}")


def errors(model: od.Model, theirs: Mapping[str, Any], free: set[str]) -> dict[str, tuple[float, float, float, int]]:
    """By kind of paths: the largest errors of lengths [m] and arms, how much longer [m] OpenSim's lines are than the
    shortest ones, and the number of muscles."""
    names = [str(name) for name in theirs["coordinates"]]
    order = [names.index(name) for name in model.q_names]
    q = theirs["q"][:, order]
    muscles = [str(name) for name in theirs["muscles"]]
    own, best = (od.muscles.path_geometry(model, q, muscles, lines=lines) for lines in ("opensim", "shortest"))
    rates = [speeds(model, one, u[order], free)[0] for one, u in zip(q, theirs["u"], strict=True)]
    arms = np.array([r @ N for r, N in zip(own.moment_arms, rates, strict=True)])
    off = np.abs(own.lengths - theirs["length"])
    off_arms = np.abs(arms + theirs["length_jacobian"][:, :, order]).max(axis=2)
    longer = theirs["length"] - best.lengths
    kinds = [kind_of(model, next(m for m in model.muscles if m.name == name)) for name in muscles]
    found = {}
    for kind in dict.fromkeys(kinds):
        of = [k for k, one in enumerate(kinds) if one == kind]
        length, arm, more = (float(x[:, of].max()) for x in (off, off_arms, longer))
        found[kind] = (length, arm, more, len(of))
    return found
