"""Parameters: gravity, inertias and positions of a model, and points of constraints, as inputs of algorithms.

For identification and for design optimization. A parameter is called by its kind and the body, frame, joint or
constraint that it belongs to:

| name | size | meaning |
|---|---|---|
| `gravity` | 3 | gravity [m/s^2], ground axes |
| `mass:BODY` | 1 | mass [kg] of a moving body; its com and its inertia about the com stay |
| `com:BODY` | 3 | center of mass [m], body axes; mass and inertia about the com stay |
| `inertia_com:BODY` | 6 | inertia about the com (xx, xy, yy, xz, yz, zz) [kg m^2], body axes |
| `inertia:BODY` | 10 | (m, h, I): mass, first moment h = m c, I (xx, xy, yy, xz, yz, zz) about the body's origin |
| `payload:FRAME` | 10 | (m, h, I) in axes of a frame, added to the body that carries the frame |
| `position:FRAME` | 3 | origin [m] of an added frame in coordinates of its body: contact points |
| `origin:JOINT` | 3 | origin [m] of a joint's fixed frame in coordinates of the parent body: lengths of links |
| `point:CONTACT` | 3 | point [m] of a contact, center of a rolling contact, in coordinates of its frame |
| `radius:CONTACT` | 1 | radius [m] of a rolling contact |
| `predecessor:LOOP`, `successor:LOOP` | 3 | origin [m] of a loop's end in coordinates of the frame it sits on |

The last three rows belong to a constraint set, not to a model: see `ocp_dyn.constraints.with_constraint_parameters`;
the names are those of `constraint_names`: the frame's, from the second constraint on a frame on `foot#2`, `foot#3`. The
equations are linear in `gravity`, `inertia:` and `payload:`. A body's inertia is that of the whole moving body, with
everything that is fixed to it. Numbers that no body can have are refused: a mass is not negative; a rotational inertia
about a center of mass has principal moments A, B, C >= 0 with A + B >= C, which is the same as a positive semidefinite
matrix of second moments; the ten numbers (m, h, I) need both, and no h without mass.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import LARGEST_MAGNITUDE, Array, Expr, ModelError, repr_in_message, split, suggestion
from ..spatial_algebra.spatial import Inertia, Transform, skew
from . import Frame, Model
from .boundary import checks_arguments
from .editing import central, moving
from .parts import impossible_moments


class ParameterKind(NamedTuple):
    """A kind of parameter: its unit, and a name for each of its entries."""

    units: str
    entries: tuple[str, ...]


_POSITION = ("x", "y", "z")
_TEN = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_ABOUT = "kg, kg m, kg m^2; (m, h, I) about the origin and along the axes of the"
MODEL_PARAMETERS = {
    "gravity": ParameterKind("m/s^2, ground axes", _POSITION),
    "mass": ParameterKind("kg", ("m",)),
    "com": ParameterKind("m, body axes", _POSITION),
    "inertia_com": ParameterKind("kg m^2, about the center of mass, body axes", _TEN[4:]),
    "inertia": ParameterKind(f"{_ABOUT} body", _TEN),
    "payload": ParameterKind(f"{_ABOUT} frame", _TEN),
    "position": ParameterKind("m, body axes", _POSITION),
    "origin": ParameterKind("m, axes of the parent body", _POSITION),
}
CONSTRAINT_PARAMETERS = {
    "point": ParameterKind("m, axes of the contact's frame", _POSITION),
    "radius": ParameterKind("m", ("radius",)),
    "predecessor": ParameterKind("m, axes of the loop's predecessor frame", _POSITION),
    "successor": ParameterKind("m, axes of the loop's successor frame", _POSITION),
}


def parameter(name: str) -> ParameterKind:
    """Unit and entries of a parameter, by its name."""
    if not isinstance(name, str):
        raise TypeError(f"a parameter is named by a string such as 'gravity', got {repr_in_message(name)}")
    kinds = MODEL_PARAMETERS | CONSTRAINT_PARAMETERS
    kind, colon, target = name.partition(":")
    if kind not in kinds or bool(target) != (kind != "gravity") or bool(colon) != bool(target):
        known = ", ".join(k if k == "gravity" else f"{k}:NAME" for k in kinds)
        raise ValueError(
            f"no parameter {repr_in_message(name)}; parameters are: {known}{suggestion(kind, kinds.keys() - {kind})}"
        )
    return kinds[kind]


def parameter_size(name: str) -> int:
    """The number of entries of a parameter, by its name."""
    return len(parameter(name).entries)


def of_constraint(name: str) -> bool:
    """Whether a parameter belongs to a constraint set; the others belong to a model."""
    return name.partition(":")[0] in CONSTRAINT_PARAMETERS


@checks_arguments()
def with_parameters(model: Model, values: Mapping[str, Any]) -> Model:
    """A copy of the model with parameters replaced by `values`: numbers, or expressions of one CasADi type.

    Names and sizes as in the table of `ocp_dyn.mechanism.parameters`. Frames and constraints of `model` hold on the
    copy. `od.function(..., parameters=names)` makes inputs of them.

    >>> moon = od.with_parameters(rod, {"gravity": (0.0, 0.0, -1.62)})
    >>> od.gravity_force(moon, [np.pi / 2])  # m g l/2
    DM(0.81)

    ModelError for numbers that no body can have: a mass below zero, an inertia whose largest principal moment is above
    the sum of the other two.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"with_parameters needs {{parameter: value}}, got {repr_in_message(values)}")
    columns = {name: _column(model, name, value) for name, value in values.items()}
    for name in filter(of_constraint, columns):
        raise ValueError(f"{name} belongs to a constraint, not to a model: use with_constraint_parameters on the set")
    for name, column in columns.items():
        if isinstance(column, DM) or column.is_constant():
            check_value(name, DM(ca.evalf(column)).full().T)
    return with_columns(model, columns)


def with_columns(model: Model, columns: Mapping[str, Expr]) -> Model:
    """`with_parameters` for columns of the right sizes, without the check of numbers: iterates of a solver pass."""
    inertia, X_tree, frames = list(model.I), list(model.X_tree), dict(model.frames)
    gravity: tuple[Any, ...] = model.gravity
    for body in {name.partition(":")[2] for name in columns if name.startswith(("mass:", "com:", "inertia"))}:
        i = moving(model, body)
        inertia[i] = _inertia_with(model.I[i], body, columns)
    for name, value in columns.items():
        kind, _, target = name.partition(":")
        if kind == "gravity":
            gravity = tuple(float(g) if isinstance(g, DM) else g for g in split(value))
        elif kind == "payload":
            frame = _carried(model, name)
            inertia[frame.body] = inertia[frame.body] + inertia_from_parameters(value).to_parent(frame.X)
        elif kind == "position":
            frame = _carried(model, name)
            if frame.name in model.body_names:
                raise ModelError(
                    f"{name}: the frame of a moving body is its origin and cannot be moved; add a frame with add_frame"
                )
            frames[target] = replace(frame, X=Transform(frame.X.E, value), stands_for=frame)
        elif kind == "origin":
            model.q_slice(target)  # raises for a name that no joint has
            i = model.joint_names.index(target) + 1
            X_tree[i] = Transform(X_tree[i].E, value)
    return replace(model, gravity=gravity, I=tuple(inertia), X_tree=tuple(X_tree), frames=frames)


def inertia_parameters(body: Inertia) -> Expr:
    """(m, h, I) of a body as a column (10): I by xx, xy, yy, xz, yz, zz, about the body's origin."""
    I = body.I
    return ca.vertcat(body.m, body.h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2])


def inertia_from_parameters(pi: Expr) -> Inertia:
    """The inertia of a column (m, h, I) of ten entries."""
    m, h, I = split(pi, 1, 3, 6)
    return Inertia(m, h, _rotational_inertia(I))


def _rotational_inertia(entries: Expr) -> Expr:
    """3x3 matrix of (xx, xy, yy, xz, yz, zz)."""
    xx, xy, yy, xz, yz, zz = split(entries)
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _inertia_with(old: Inertia, body: str, columns: Mapping[str, Expr]) -> Inertia:
    """The inertia of a body with the parameters that `columns` holds for it."""
    whole = columns.get(f"inertia:{body}")
    if whole is not None:
        others = [f"{kind}:{body}" for kind in ("mass", "com", "inertia_com") if f"{kind}:{body}" in columns]
        if others:
            raise ModelError(f"inertia:{body} holds mass and com too: leave out {', '.join(others)}")
        return inertia_from_parameters(whole)
    m, c, I = (ca.sparsify(DM(x)) for x in central(old, body))
    m = columns.get(f"mass:{body}", m)
    c = columns.get(f"com:{body}", c)
    if f"inertia_com:{body}" in columns:
        I = _rotational_inertia(columns[f"inertia_com:{body}"])
    cx = skew(c)
    return Inertia(m, m * c, I - m * (cx @ cx))


def _column(model: Model, name: str, value: Any) -> Expr:
    column = model.column(value, parameter_size(name), f"parameter {repr_in_message(name)}")
    return ca.sparsify(column) if isinstance(column, DM) else column


def _carried(model: Model, name: str) -> Frame:
    """The frame that a parameter belongs to; ModelError unless it is on a moving body."""
    frame = model.frame(name.partition(":")[2])
    if not frame.body:
        raise ModelError(f"{name}: the frame is fixed to the ground and moves nothing; name a frame of a moving body")
    return frame


LARGEST_CORNER = 1e9
"""Stands for an infinite bound."""

CANCELED = 1e-9
"""Rounding that an inertia about the mass center has beside the one about the origin, from which it is computed."""

MOMENTS = {"inertia_com": 0, "inertia": 4, "payload": 4}
"""Kinds of parameters that hold a rotational inertia, each with its place among the entries."""


GLOBAL = ("gravity", "slope")
"""Names of parameters that belong to no body."""


def check_value(name: str, value: Any, what: str = "", error: type[ValueError] = ModelError) -> None:
    """Raises an error if the parameter `name` cannot have these numbers: one set of its entries, or one per row.

    Names are those of `ocp_dyn.mechanism.parameters`, and "slope" [rad]; other names pass, as the user's own do.
    """
    kind, rows = name.partition(":")[0], np.atleast_2d(np.asarray(value, dtype=float))
    what = what or f"parameter {repr_in_message(name)}"
    sized = kind not in MOMENTS or rows.shape[1] == MOMENTS[kind] + 6  # another number of entries is told elsewhere
    if not sized or (":" not in name and name not in GLOBAL):
        return
    for row in rows[~np.all(np.abs(rows) <= LARGEST_MAGNITUDE, axis=1)]:  # not a number, too
        raise error(f"{what} must hold finite numbers of size {LARGEST_MAGNITUDE:g} at most, got {_text(row)}")
    if kind in ("mass", "radius", "inertia", "payload"):
        for row in rows[rows[:, 0] < 0]:
            unit, quantity = ("m", "radius") if kind == "radius" else ("kg", "mass")
            raise error(f"{what}: a {quantity} must not be negative, got {row[0]:g} {unit}{_removed(kind)}")
    if kind in ("inertia", "payload"):
        for row in rows[(rows[:, 0] == 0) & np.any(rows[:, 1:4] != 0, axis=1)]:
            raise error(f"{what}: without mass there is no first moment h = m c, got {_text(row)}")
    if kind in MOMENTS:
        _check_moments(rows, kind, what, error)
    if name == "slope" and np.any(np.abs(rows) >= math.pi / 2):
        raise error(
            f"{what} is an angle in rad, below pi / 2 to either side, got {repr_in_message(value)}: write "
            "math.radians(...)"
        )


def check_bounds(name: str, lower: Array, upper: Array, what: str) -> None:
    """Raises ValueError if bounds of a free parameter hold values that it cannot have.

    The values that a body can have are a convex set, so that it is enough to look at the corners of the box.
    """
    low, high = (np.clip(x, -LARGEST_CORNER, LARGEST_CORNER) for x in (lower, upper))
    box = zip(low.tolist(), high.tolist(), strict=True)
    corners = itertools.product(*({*ends} for ends in box)) if name.partition(":")[0] in MOMENTS else (low, high)
    try:
        check_value(name, np.array(list(corners)), what, ValueError)
    except ValueError as fault:
        raise ValueError(f"{fault}; the bounds allow it: narrow them to values that can be") from None


def _check_moments(rows: Array, kind: str, what: str, error: type[ValueError]) -> None:
    """Raises an error for rows whose rotational inertia about the mass center no body has."""
    at = MOMENTS[kind]
    xx, xy, yy, xz, yz, zz = rows[:, at : at + 6].T
    I = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    slack = np.zeros(len(rows))
    if kind != "inertia_com":
        m, h = np.where(rows[:, 0] > 0, rows[:, 0], 1.0), rows[:, 1:4]
        slack = CANCELED * np.abs(I).max(axis=(1, 2), initial=0.0)
        I = I - (np.sum(h * h, axis=1)[:, None, None] * np.eye(3) - h[:, :, None] * h[:, None, :]) / m[:, None, None]
    for k in np.flatnonzero(impossible_moments(I, slack)):
        moments = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(I[k]))
        raise error(
            f"{what}: no body has principal moments of inertia {moments} kg m^2 about its center of mass: each must be "
            f">= 0 and none larger than the sum of the other two, got {_text(rows[k])}{_removed(kind)}"
        )


def _removed(kind: str) -> str:
    """The remedy for a load that takes mass away."""
    return "; to take mass away change the body itself, by inertia:BODY" if kind == "payload" else ""


def _text(row: Array) -> str:
    return f"({', '.join(f'{x:g}' for x in row)})"
