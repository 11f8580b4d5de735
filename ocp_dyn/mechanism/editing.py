"""Edited copies of a tree or a model; documented at the methods of `Model` with the same names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from casadi import DM

from .._base.checks import warn_user
from .._base.types import (
    Array,
    ModelError,
    ModelWarning,
    Vector,
    finite_vector,
    is_one_of,
    names_in_message,
    repr_in_message,
    sequence,
    suggestion,
    truth,
)
from ..spatial_algebra.spatial import Inertia, Transform
from .parts import (
    WORLD,
    DofData,
    FileJoint,
    Frame,
    body_inertia,
    merge_inertias,
    placement,
    product,
    vector,
)
from .passive import BodySpring, PassiveElement, Pose, bushings_within, without_joints
from .tree import Tree
from .validity.consistency import check_name

T = TypeVar("T", bound=Tree)
"""A tree or a model: an edited copy is of the class of the original."""


def with_gravity(model: T, gravity: Vector) -> T:
    x, y, z = (float(g) for g in vector(gravity, 3, "gravity"))
    return replace(model, gravity=(x, y, z))


def with_inertia(
    model: T, body: str, mass: float | None = None, com: Vector | None = None, inertia: object = None
) -> T:
    i = moving(model, body)
    m, c, I = central(model.I[i], body)
    new = body_inertia(
        m if mass is None else mass, c if com is None else com, I if inertia is None else inertia,
        f"body {repr_in_message(body)}", check=inertia is not None,
    )  # fmt: skip
    return replace(model, I=(*model.I[:i], new, *model.I[i + 1 :]))


def with_passive(model: T, elements: Iterable[PassiveElement], replace_all: bool) -> T:
    given = tuple(sequence(elements, "with_passive needs a list of elements such as [od.OneSidedSpring(...)]"))
    return replace(model, passive=given if truth(replace_all, "replace_all") else (*model.passive, *given))


def with_bushings(model: T, bushings: Iterable[BodySpring], replace_all: bool) -> T:
    given = tuple(sequence(bushings, "with_bushings needs a list such as [od.Bushing(...)]"))
    return replace(model, bushings=given if truth(replace_all, "replace_all") else (*model.bushings, *given))


def with_frame(model: T, name: str, to: str, origin: Vector, rotation: object) -> T:
    check_name(name, "with_frame")
    if name == WORLD or name in model.frames:
        raise ModelError(f"frame {repr_in_message(name)}: the model has a frame of that name already: choose another")
    host = model.frame(to)
    X = product(placement(origin, rotation, f"frame {repr_in_message(name)}"), host.X)
    return replace(model, frames={**model.frames, name: Frame(name, host.body, X)})


def central(body: Inertia, name: str) -> tuple[float, Array, Array]:
    """Mass, center of mass and inertia about it, as numbers; without mass, the center is the origin."""
    if not all(isinstance(x, DM) for x in (body.m, body.h, body.I)):
        raise ModelError(
            f"body {repr_in_message(name)} has a symbolic inertia, which cannot be changed in part: set numbers first "
            "and symbols last, all of them in one with_parameters"
        )
    c, I = body.central()
    return float(body.m), np.array(c.full()).ravel(), np.array(I.full())


def attach(model: T, other: Tree, to: str, prefix: str, origin: Vector, rotation: object) -> T:
    if not isinstance(other, Tree):
        raise TypeError(f"attach needs a Model, got {repr_in_message(other)}")
    if not isinstance(prefix, str):
        raise TypeError(f"attach: prefix must be a string, got {repr_in_message(prefix)}")
    names = [*model.frames, *model.joint_names]
    added = [prefix + name for name in (*other.frames, *other.joint_names)]
    twice = sorted(set(names) & set(added))
    if twice:
        raise ModelError(
            f"attach: both models have {', '.join(map(repr, twice[:6]))}; names must be unique: give a prefix such as "
            f"prefix={repr_in_message((other.name or 'other') + '_')}"
        )
    host = Frame(WORLD, 0) if is_one_of(to, (WORLD,)) and WORLD not in model.frames else model.frame(to)
    X = product(placement(origin, rotation, "attach"), host.X)

    def moved(body: int, placed: Transform) -> tuple[int, Transform]:
        """Body and transform, in the new model, of a frame in a body of the other model."""
        return (body + model.nb, placed) if body else (host.body, product(placed, X))

    hung = [moved(p, other.X_tree[i]) for i, p in other.edges]
    frames = {prefix + f.name: Frame(prefix + f.name, *moved(f.body, f.X)) for f in other.frames.values()}
    dofs = {key: np.concatenate([values, getattr(other.dofs, key)]) for key, values in vars(model.dofs).items()}
    return replace(
        model,
        parent=(*model.parent, *(parent for parent, _ in hung)),
        joints=(*model.joints, *other.joints[1:]),
        X_tree=(*model.X_tree, *(placed for _, placed in hung)),
        I=(*model.I, *other.I[1:]),
        joint_names=(*model.joint_names, *(prefix + name for name in other.joint_names)),
        body_names=(*model.body_names, *(prefix + name for name in other.body_names)),
        frames={**model.frames, **frames},
        dofs=DofData(**dofs),
        mimics=(*model.mimics, *(m._replace(joint=prefix + m.joint, other=prefix + m.other) for m in other.mimics)),
        file_joints=(
            *model.file_joints,
            *(
                f._replace(joint=prefix + f.joint, mounts=tuple(prefix + m for m in f.mounts))
                for f in other.file_joints
            ),
        ),
        shape_files=(*model.shape_files, *(f._replace(prefix=prefix + f.prefix) for f in other.shape_files)),
        passive=(*model.passive, *(element.renamed(lambda name: prefix + name) for element in other.passive)),
        coordinate_names=(
            *model.coordinate_names,
            *(
                noted._replace(joint=prefix + noted.joint, names=tuple(prefix + name for name in noted.names))
                for noted in other.coordinate_names
            ),
        ),
        constraints=(*model.constraints, *(one.renamed(lambda name: prefix + name) for one in other.constraints)),
        bushings=(*model.bushings, *(_hung(one, prefix, to, origin, rotation) for one in other.bushings)),
        annotations=model.annotations.joined(
            other.annotations.renamed(lambda name: prefix + name), model.neutral(), other.neutral()
        ),
    )


def _hung(spring: BodySpring, prefix: str, to: str, origin: Vector, rotation: object) -> BodySpring:
    """A spring of an attached model, whose ground is the place in the frame `to` at which it is attached."""
    X = placement(origin, rotation, "attach")
    R, p = np.array(DM(X.E).full()).T, np.array(DM(X.r).full()).ravel()

    def place(name: str, pose: Pose) -> tuple[str, Pose]:
        if name != prefix + WORLD:
            return name, pose
        axes, at = pose
        return to, (tuple((R @ np.reshape(axes, (3, 3))).ravel()), tuple(p + R @ at))

    return spring.renamed(lambda name: prefix + name).placed(place)


def lock_joints(model: T, positions: Mapping[str, float | Vector]) -> T:
    if not isinstance(positions, Mapping):
        raise TypeError(f"lock_joints needs {{joint name: position}}, got {repr_in_message(positions)}")
    locked: dict[int, Transform] = {}
    outside: list[str] = []
    held: dict[str, float] = {}
    values: dict[str, float] = {}
    for name, value in _followed(model, positions).items():
        i = model.joint_names.index(name) + 1
        joint = model.joints[i]
        q = DM(finite_vector(value, joint.nq, f"position of joint {repr_in_message(name)}"))
        locked[i] = joint.jcalc(q, DM(joint.nv, 1)).XJ
        outside += _outside(model, name, np.array(q.full()).ravel())
        held |= {dof: float(q[k]) for dof, k in _own_entries(model, i).items()}
        values |= _values(model, i, np.array(q.full()).ravel())
    if outside:
        warn_user(f"lock_joints: {'; '.join(outside)}", ModelWarning)
    if len(locked) == model.nb:
        raise ModelError("lock_joints: no moving body is left; leave at least one joint free")

    host, placed, inertia = [0], [Transform.identity()], list(model.I)
    for i, p in model.edges:
        X = product(model.X_tree[i], placed[p])
        host.append(host[p] if i in locked else i)
        placed.append(product(locked[i], X) if i in locked else Transform.identity())
        if i in locked and host[i]:
            inertia[host[i]] = merge_inertias(inertia[host[i]], model.I[i], placed[i])
    kept = [i for i, _ in model.edges if i not in locked]
    return _selected(
        replace(model, file_joints=_mounted_on(model, locked)),
        kept,
        parents={i: host[model.parent[i]] for i in kept},
        X_tree={i: product(model.X_tree[i], placed[model.parent[i]]) for i in kept},
        inertia={i: inertia[i] for i in kept},
        frames=[replace(f, body=host[f.body], X=product(f.X, placed[f.body])) for f in model.frames.values()],
        passive=without_joints(model.passive, held)[0],
        held=values,
    )


def _own_entries(model: Tree, i: int) -> dict[str, int]:
    """The dofs of joint i that passive elements name, with the entry of the joint's q that each has."""
    used = {dof: place for dof, place in model.passive_entries.items() if place[1] in model.dofs_of(i)}
    return {dof: at_q - model.q_index[i] for dof, (at_q, _) in used.items()}


def _values(model: Tree, i: int, q: Array) -> dict[str, float]:
    """The positions of joint i by the names of its entries; also by its own name if it has one."""
    part = slice(model.q_index[i], model.q_index[i + 1])
    found = dict(zip(model.q_names[part], q.tolist(), strict=True))
    return found | ({model.joint_names[i - 1]: float(q[0])} if q.size == 1 else {})


def _outside(model: Tree, name: str, q: Array) -> list[str]:
    """A sentence for every entry of a joint's position that is outside its limits by more than rounding."""
    part = model.q_slice(name)
    limits = zip(model.q_names[part], q, model.dofs.q_lower[part], model.dofs.q_upper[part], strict=True)
    return [
        f"{entry} is locked at {x:.6g}, outside its limits {lower:.6g} to {upper:.6g}"
        for entry, x, lower, upper in limits
        if not lower - 1e-9 * (1 + abs(lower)) <= x <= upper + 1e-9 * (1 + abs(upper))
    ]


def _mounted_on(model: Tree, locked: Iterable[int]) -> tuple[FileJoint, ...]:
    """The notes of the file's joints, with the `locked` ones as fixed joints that others are mounted on."""
    noted = {f.joint: f for f in model.file_joints}
    notes = [FileJoint(name, *noted.get(name, ("",))[1:]) for name in ("", *model.joint_names)]
    mounted = [notes[0]]
    for i, p in model.edges:
        before = (*mounted[p].mounts, mounted[p].joint) if p in locked else ()
        mounted.append(notes[i]._replace(mounts=(*before, *notes[i].mounts)))
    return tuple(f for f in mounted[1:] if f.mounts or f.continuous)


def _followed(model: Tree, positions: Mapping[str, Any]) -> dict[str, Any]:
    """The positions, and those of the joints that mimic one of them."""
    found = dict(positions)
    for name in positions:
        model.q_slice(name)  # raises for a name that no joint has
    ahead = list(found)
    while ahead:
        other = ahead.pop()
        for m in model.mimics:
            if m.other == other and m.joint not in found:
                at = finite_vector(found[other], 1, f"position of joint {repr_in_message(other)}")
                found[m.joint] = m.ratio * float(at[0]) + m.offset
                ahead.append(m.joint)
    return found


def subtree(model: T, body: str) -> T:
    root = moving(model, body)
    kept = [i for i, _ in model.edges if root in model.path(i)]
    gone = [i for i, _ in model.edges if i not in kept]
    neutral = {dof: float(model.joints[i].neutral()[k]) for i in gone for dof, k in _own_entries(model, i).items()}
    passive, used = without_joints(model.passive, neutral)
    if used:
        warn_user(
            f"subtree: passive torques of {repr_in_message(body)} depend on {names_in_message(used)}, which are no "
            "more: held at their neutral positions; lock their joints first to hold them elsewhere",
            ModelWarning,
        )
    moved = model.parent[root] > 0  # the ground is the parent then, and nothing is held by the old one
    bushings = [one for one in model.bushings if not moved or WORLD not in one.frames]
    return _selected(
        replace(model, bushings=tuple(bushings)),
        kept,
        parents={i: model.parent[i] if i != root else 0 for i in kept},
        X_tree={i: model.X_tree[i] for i in kept},
        inertia={i: model.I[i] for i in kept},
        frames=[f for f in model.frames.values() if f.body in kept],
        passive=passive,
        held={name: x for i in gone for name, x in _values(model, i, model.joints[i].neutral()).items()},
    )


def scale(model: T, length: float, mass: float) -> T:
    s, m = (float(vector(x, 1, f"scale: {what}")[0]) for x, what in ((length, "length"), (mass, "mass")))
    if not (s > 0 and m > 0):
        raise ModelError(f"scale: length and mass must be positive, got {s:g} and {m:g}")

    def longer(X: Transform) -> Transform:
        return Transform(X.E, s * X.r)

    factor_q, factor_v = (np.where(lengths, s, 1.0) for lengths in model.lengths)
    dofs = vars(model.dofs) | {key: getattr(model.dofs, key) * factor_q for key in ("q_lower", "q_upper", "rest")}
    factor = {name: factor_q[model.q_slice(name).start] for name in model.joint_names}
    by_name = factor | dict(zip(model.q_names, factor_q.tolist(), strict=True))
    rates = dict(zip(model.qd_names, factor_v.tolist(), strict=True))
    longer_by = {name: float(factor_q[at_q]) for name, (at_q, _) in model.passive_entries.items()}
    return replace(
        model,
        joints=tuple(joint.scaled(s) for joint in model.joints),
        X_tree=tuple(longer(X) for X in model.X_tree),
        I=tuple(body.scaled(m, s) for body in model.I),
        frames={name: replace(f, X=longer(f.X)) for name, f in model.frames.items()},
        dofs=DofData(**dofs | {"qd_max": model.dofs.qd_max * factor_v}),
        mimics=tuple(
            m._replace(ratio=m.ratio * factor[m.joint] / factor[m.other], offset=m.offset * factor[m.joint])
            for m in model.mimics
        ),
        shape_files=tuple(f._replace(scale=s * f.scale) for f in model.shape_files),
        passive=tuple(element.scaled(longer_by) for element in model.passive),
        annotations=model.annotations.scaled(s, by_name, factor_q),
        bushings=tuple(one.scaled(s, m, rates) for one in model.bushings),
        constraints=tuple(one.scaled(s, by_name) for one in model.constraints),
    )


def moving(model: Tree, body: str) -> int:
    """Index of a moving body."""
    if not isinstance(body, str) or body not in model.body_names:
        known = (
            ""
            if not isinstance(body, str) or body not in model.frames
            else f": {repr_in_message(body)} is fixed to {_host(model, body)}"
        )
        names = model.body_names
        raise KeyError(
            f"no moving body {repr_in_message(body)}{known}; moving bodies are: "
            f"{names_in_message(names)}{suggestion(body, names)}"
        )
    return model.body_names.index(body) + 1


def _host(model: Tree, frame: str) -> str:
    i = model.frames[frame].body
    return repr(model.body_names[i - 1]) if i else "the ground"


def _selected(
    model: T,
    kept: list[int],
    parents: Mapping[int, int],
    X_tree: Mapping[int, Transform],
    inertia: Mapping[int, Inertia],
    frames: Iterable[Frame],
    passive: tuple[PassiveElement, ...],
    held: Mapping[str, float],
) -> T:
    """The model of the bodies `kept`, renumbered in their order; the other arguments use the old numbers."""
    number = {0: 0} | {i: k for k, i in enumerate(kept, 1)}
    q: list[int] = [k for i in kept for k in range(model.q_index[i], model.q_index[i + 1])]
    v: list[int] = [k for i in kept for k in model.dofs_of(i)]
    fields: dict[str, Any] = {
        "parent": (-1, *(number[parents[i]] for i in kept)),
        "joints": (model.joints[0], *(model.joints[i] for i in kept)),
        "X_tree": (model.X_tree[0], *(X_tree[i] for i in kept)),
        "I": (model.I[0], *(inertia[i] for i in kept)),
        "joint_names": tuple(model.joint_names[i - 1] for i in kept),
        "body_names": tuple(model.body_names[i - 1] for i in kept),
        "frames": {f.name: replace(f, body=number[f.body]) for f in frames},
        "dofs": DofData(**model.dofs.rows(q, v)),
        "passive": passive,
    }
    joints = fields["joint_names"]
    fields["file_joints"] = tuple(f for f in model.file_joints if f.joint in joints)
    fields["mimics"] = tuple(m for m in model.mimics if m.joint in joints and m.other in joints)
    fields["coordinate_names"] = tuple(noted for noted in model.coordinate_names if noted.joint in joints)
    fields["annotations"] = model.annotations.within(fields["frames"], held, q)
    left = (*joints, *(model.q_names[k] for k in q))
    fields["bushings"] = bushings_within(model.bushings, fields["frames"], WORLD, held, left)
    found = (one.within(fields["frames"], held, left) for one in model.constraints)
    fields["constraints"] = tuple(one for one in found if one is not None)
    return replace(model, **fields)
