"""Copies of a model with other limits, with loads that its bodies carry and with springs at its joints; documented at
`Model`'s methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.checks import finite, not_negative
from .._base.types import (
    LARGEST_MAGNITUDE,
    Array,
    ModelError,
    Vector,
    is_one_of,
    names_in_message,
    numbers,
    repr_in_message,
    sequence,
    suggestion,
    truth,
)
from .annotations import Annotations, Marker, Muscle, WrapObject
from .parts import (
    LIMIT_FIELDS,
    NONNEGATIVE_FIELDS,
    SIZE_NQ,
    DofData,
    Frame,
    KeptConstraint,
    body_inertia,
    check_turning,
    efforts,
)
from .tree import Tree

T = TypeVar("T", bound=Tree)
"""A tree or a model: an edited copy is of the class of the original."""


def with_markers(model: T, markers: Iterable[Marker], replace_all: bool) -> T:
    given = tuple(sequence(markers, "with_markers needs a list of markers such as [od.Marker(...)]"))
    kept = () if truth(replace_all, "replace_all") else model.annotations.markers
    return replace(model, annotations=replace(model.annotations, markers=(*kept, *given)))


def with_muscles(model: T, muscles: Iterable[Muscle], wraps: Iterable[WrapObject], replace_all: bool) -> T:
    given = tuple(sequence(muscles, "with_muscles needs a list of muscles such as [od.Muscle(...)]"))
    surfaces = tuple(sequence(wraps, "with_muscles: wraps must be a list such as [od.WrapObject(...)]"))
    had = Annotations() if truth(replace_all, "replace_all") else model.annotations
    changed = replace(model.annotations, muscles=(*had.muscles, *given), wraps=(*had.wraps, *surfaces))
    return replace(model, annotations=changed)


def with_constraints(model: T, constraints: Iterable[KeptConstraint], replace_all: bool) -> T:
    given = tuple(sequence(constraints, "with_constraints needs a list of constraints such as [od.Loop(...)]"))
    for one in given:
        if not isinstance(one, KeptConstraint):
            raise TypeError(f"with_constraints needs constraints such as od.Loop, got {repr_in_message(one)}")
        values = vars(one).values()
        if any(isinstance(value, Frame) or callable(value) for value in values):
            raise ModelError(
                f"with_constraints: {repr_in_message(one)} holds a frame or a function; name the frame, and give data"
            )
    return replace(model, constraints=given if truth(replace_all, "replace_all") else (*model.constraints, *given))


def with_limits(model: T, **given: object) -> T:
    limits = {option: value for option, value in given.items() if value is not None}
    effort = limits.pop("effort", None)
    dofs = vars(model.dofs) | {LIMIT_FIELDS[option]: _limit(model, option, value) for option, value in limits.items()}
    if effort is not None:
        # The model's lowest and largest torques, with the changes that `value` gives
        low, high = np.array(model.dofs.tau_min), np.array(model.dofs.tau_max)
        for name, part, limit in _named(model, "effort", effort):
            low[part], high[part] = efforts(limit, low[part].size, f"with_limits: effort{name}")
        dofs["tau_min"], dofs["tau_max"] = low, high
    crossed = np.flatnonzero(dofs["q_lower"] > dofs["q_upper"])
    if crossed.size:
        k = crossed[0]
        raise ModelError(
            f"with_limits: the lower limit of {repr_in_message(model.q_names[k])}, {dofs['q_lower'][k]:g}, lies above "
            f"its upper limit, {dofs['q_upper'][k]:g}: change both"
        )
    none = np.flatnonzero((dofs["q_lower"] == np.inf) | (dofs["q_upper"] == -np.inf))
    if none.size:
        raise ModelError(
            "with_limits: a lower limit of inf, or an upper limit of -inf, leaves "
            f"{repr_in_message(model.q_names[none[0]])} no position: for no limit write lower=-inf, upper=inf"
        )
    return replace(model, dofs=DofData(**dofs))


def _limit(model: Tree, option: str, value: object) -> Array:
    """The model's limits of one kind, with the changes that `value` gives."""
    before = getattr(model.dofs, LIMIT_FIELDS[option])
    found = np.array(before)
    spared = _in_quaternions(model) if LIMIT_FIELDS[option] in SIZE_NQ else np.zeros(found.size, dtype=bool)
    for name, part, limit in _named(model, option, value):
        what = f"with_limits: {option}{name}"
        x = _spread(limit, found[part].size, what, option)
        one_for_several = x.size == 1 < found[part].size
        turning = spared[part]
        if np.any(turning) and (not one_for_several or np.all(turning)):
            check_turning(model.q_names[part], turning, np.broadcast_to(x, turning.shape), before[part], what)
        found[part] = np.where(turning & one_for_several, found[part], x)
    return found


def _named(model: Tree, option: str, value: object) -> list[tuple[str, slice, Any]]:
    """(words for a message, entries, limits) of every name of a dict, or of all entries."""
    if not isinstance(value, Mapping):
        return [("", slice(None), value)]
    return [(f" of {repr_in_message(name)}", _entries(model, name, option), limit) for name, limit in value.items()]


def _in_quaternions(model: Tree) -> NDArray[np.bool_]:
    """Truth values for entries of q: True for those of quaternions, which a limit in rad or m does not fit."""
    parts = [np.arange(joint.nq) >= joint.nq - 4 * joint.has_quaternion for joint in model.joints[1:]]
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def _entries(model: Tree, name: object, option: str) -> slice:
    """Entries of q, or of qd, for a name: all entries of a joint, or a single entry."""
    positions = LIMIT_FIELDS[option] in SIZE_NQ
    names = model.q_names if positions else model.qd_names
    if is_one_of(name, model.joint_names):
        return model.q_slice(str(name)) if positions else model.qd_slice(str(name))
    if is_one_of(name, names):
        return slice(names.index(str(name)), names.index(str(name)) + 1)
    known = tuple(dict.fromkeys((*model.joint_names, *names)))
    hint = suggestion(name, known) or f"; known are: {names_in_message(known)}"
    raise KeyError(f"with_limits: no joint, nor entry of {'q' if positions else 'qd'}, {repr_in_message(name)}{hint}")


def _spread(value: object, size: int, what: str, option: str) -> Array:
    """Limits as `size` numbers, which may be infinite."""
    x = numbers(value, what)
    if x.size not in (1, size) or np.any(np.isnan(x)) or np.any(np.abs(x[np.isfinite(x)]) > LARGEST_MAGNITUDE):
        raise ModelError(f"{what} must be one number{'' if size == 1 else f' or {size}'}, got {repr_in_message(value)}")
    if LIMIT_FIELDS[option] in NONNEGATIVE_FIELDS and np.any(x < 0):
        raise ModelError(f"{what} must not be negative, got {repr_in_message(value)}: it limits both directions")
    return x


def with_load(model: T, to: str, mass: float, com: Vector, inertia: object) -> T:
    frame = model.frame(to)
    if not frame.body:
        raise ModelError(
            f"with_load: the frame {repr_in_message(to)} is fixed to the ground, where a load has no effect"
        )
    added = body_inertia(mass, com, inertia, f"load on {repr_in_message(to)}", check=inertia is not None)
    bodies = list(model.I)
    bodies[frame.body] = bodies[frame.body] + added.to_parent(frame.X)
    return replace(model, I=tuple(bodies))


def with_springs(model: T, stiffness: Mapping[str, float], rest: object, damping: object) -> T:
    dofs = vars(model.dofs) | {
        "stiffness": _changed(model, "stiffness", stiffness, "N m/rad, N/m"),
        "damping": _changed(model, "damping", {} if damping is None else damping, "N m s/rad, N s/m"),
        "rest": _changed(model, "rest", {} if rest is None else rest, "rad, m"),
    }
    for name in {} if rest is None else rest:  # type: ignore[attr-defined]  # a mapping, as `_changed` has checked
        if not dofs["stiffness"][model.qd_names.index(name)]:
            raise ModelError(
                f"with_springs: rest of {repr_in_message(name)} has no effect, because this dof has no spring: name it "
                "in stiffness too"
            )
    return replace(model, dofs=DofData(**dofs))


def _changed(model: Tree, field: str, values: Any, unit: str) -> Array:
    """The data of one field of the dofs, with other values at some of its entries."""
    if not isinstance(values, Mapping):
        raise TypeError(
            f"with_springs: {field} must be a dict of values by names of dofs, got {repr_in_message(values)}"
        )
    found = np.array(getattr(model.dofs, field))
    check = finite if field == "rest" else not_negative
    for name, value in values.items():
        joint, entry = _entry(model, name, field)
        found[entry] = check(value, f"with_springs: {field} of {repr_in_message(name)} [{unit}]")
        if model.joints[joint].nq != model.joints[joint].nv:
            raise ModelError(
                f"with_springs: the joint of {repr_in_message(name)} turns by a quaternion, which no spring can act "
                "on; springs need coordinates that are angles or lengths"
            )
    return found


def _entry(model: Tree, name: str, field: str) -> tuple[int, int]:
    """The joint (a number from 1), and the entry of the field, that a name of a dof stands for."""
    if not is_one_of(name, model.qd_names):
        hint = suggestion(str(name), model.qd_names) or f"; dofs are: {names_in_message(model.qd_names)}"
        raise KeyError(f"with_springs: {field}: no dof {repr_in_message(name)}{hint}")
    k = model.qd_names.index(name)
    joint = next(i for i in range(1, len(model.joints)) if k in model.dofs_of(i))
    place = k - model.qd_slice(model.joint_names[joint - 1]).start
    return joint, model.q_slice(model.joint_names[joint - 1]).start + place if field == "rest" else k
