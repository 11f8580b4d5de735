"""Dynamically equivalent models: the same q, qd, tau, H, C, ID and FD from fewer operations.

Three freedoms that no joint-space quantity can see are used up [RBDA, 9.7; W. Khalil and E. Dombre, Modeling,
Identification and Control of Robots, 2002, ch. 9]:

* Part of a body's inertia can move to its parent: whatever the joint cannot feel (I_s S = 0) and cannot
  change (XJ' I_s XJ = I_s). For a revolute joint that is the mass, the first moment along the axis and one of the
  second moments; for a prismatic one the rotational inertia; for one that turns freely about a point the mass.
* A body's frame can be chosen anew: origin anywhere on the axis, any angle about it.
* A joint of several degrees of freedom can be taken apart into a chain of simpler ones. Below the translation of a
  floating base no body need have a mass then, and no joint a motion subspace that depends on q.

What is left is full of structural zeros. Link forces and external wrenches do not survive the first step, so
they need the original model; poses of named frames do survive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from casadi import DM

from ._types import ROUNDING, Array, ModelError, exact, shown
from .boundary import boundary
from .joints import Euler, FloatingBase, Joint, MultiDof, Planar, Prismatic, Revolute, Spherical, Translation, Universal
from .model import Frame, Model
from .model.parts import clean, product
from .rotations import rotation_about
from .spatial import Inertia, Summed, Transform

FARTHEST = 10
"""How many times as far as its neighbours an origin may be moved."""


@boundary()
def reduce(model: Model) -> Model:
    """A model with the same joint-space dynamics whose transforms and inertias are as sparse as they can be made.

    Bodies, joints, names, layouts and frames' poses are those of `model`; inertias are base parameters, which no
    body need have. Not for link forces or external wrenches. Constraints on frames of `model` hold on it. Cost: some
    milliseconds per body, once.
    ModelError for symbolic inertias or positions: what may move to a parent depends on their values.
    """
    for i, name in enumerate(model.body_names, 1):
        if not _of_numbers(model, i):
            raise ModelError(
                f"reduce: body {shown(name)} has a symbolic inertia or position; reduce a model of numbers, and use a "
                "model with such parameters as it is"
            )
    return next(variants(model, unfold=False))


def is_reducible(model: Model) -> bool:
    """Whether all inertias and positions are numbers, as `reduce` needs them."""
    return all(_of_numbers(model, i) for i, _ in model.edges)


def variants(model: Model, unfold: bool = True) -> Iterator[Model]:
    """Models of the same joint-space dynamics that differ in where the offset of two joints that meet is put.

    Which takes the fewest operations differs by robot and by algorithm: counting tells. unfold: with joints taken
    apart, which changes bodies, joints and their names, not q, qd and frames.
    """
    if unfold:
        model = unfolded(model)
    for onward in (1.0, 0.9):
        yield _regrouped(_reframed(model, onward))


def _of_numbers(model: Model, i: int) -> bool:
    body, X = model.I[i], model.X_tree[i]
    return all(isinstance(x, DM) for x in (body.m, body.h, body.I, X.E, X.r))


# Joints taken apart


def unfolded(model: Model) -> Model:
    """The model with joints taken apart, massless bodies in between; the last of a chain keeps body and names."""
    index = [0]  # the new index of every body
    for i, _ in model.edges:
        index.append(index[-1] + len(_links(model.joints[i])))
    parent, joints, X_tree, I = [-1], [model.joints[0]], [model.X_tree[0]], [model.I[0]]
    joint_names: list[str] = []
    body_names: list[str] = []
    for i, p in model.edges:
        links = _links(model.joints[i])
        carriers = len(links) - 1
        parent += [index[p], *range(index[i] - carriers, index[i])]
        joints += links
        X_tree += [model.X_tree[i], *[Transform.identity()] * carriers]
        I += [*[Inertia.zero()] * carriers, model.I[i]]
        for names, own in ((joint_names, model.joint_names[i - 1]), (body_names, model.body_names[i - 1])):
            names += [*(f"{own} ({k})" for k in range(1, len(links))), own]
    return replace(
        model, parent=tuple(parent), joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(I),
        joint_names=tuple(joint_names), body_names=tuple(body_names),
        frames={n: Frame(n, index[f.body], f.X, f) for n, f in model.frames.items()},
    )  # fmt: skip


def _links(joint: Joint) -> tuple[Joint, ...]:
    """The joints that, one after the other, move as this one does, with the same q and qd."""
    if isinstance(joint, FloatingBase):
        turning: tuple[Joint, ...] = (Spherical(),) if joint.nq > joint.nv else joint.chain()[3:]
        return (Translation(), *turning)
    return joint.chain() if isinstance(joint, (Euler, MultiDof, Planar, Universal)) else (joint,)


# Inertias moved to the parent


def _regrouped(model: Model) -> Model:
    """Moves to the parent what every joint cannot feel, from the tips inwards.

    What cancels is judged by all that was summed.
    """
    inertia = [Summed.of(body) for body in model.I]
    for i, p in reversed(list(model.edges)):
        moved = Summed.of(_unfelt(model.joints[i], inertia[i].clean()))
        inertia[i] -= moved
        if p:
            inertia[p] += moved.to_parent(model.X_tree[i])
    return replace(model, I=tuple(body.clean() for body in inertia))


def _unfelt(joint: Joint, body: Inertia) -> Inertia:
    """The part of a body's inertia that its joint neither feels nor changes.

    Of a revolute joint's that is a rod of mass along the axis a: m, h along a, and the second moment `a' J a`.
    """
    if isinstance(joint, Revolute):
        a = np.array(joint.axis)
        along = float(a @ np.array(body.h.full()).ravel())
        second = float(a @ np.array(body.second_moments.full()) @ a)
        return Inertia(body.m, exact(along * a), exact(second * (np.eye(3) - np.outer(a, a))))
    if isinstance(joint, (Prismatic, Translation)):
        return Inertia(DM(1, 1), DM(3, 1), body.I)
    if isinstance(joint, (Spherical, Euler)):
        return Inertia(body.m, DM(3, 1), DM(3, 3))
    return Inertia.zero()


# Frames chosen anew


def _reframed(model: Model, onward: float) -> Model:
    """Chooses every body's frame anew, from the ground outwards: `X_new[i]` leads from the old frame to the new one.

    onward: what a nonzero in a transform to the next bodies counts against one in the body's own. Below 1 it is
    worthwhile to hand it on: the next body may yet get rid of it.
    """
    X_old = [_numbers(X) for X in model.X_tree]
    X_new: dict[int, Transform] = {}
    joints, X_tree = list(model.joints), list(model.X_tree)
    for i, p in model.edges:
        joint, placed = joints[i], X_old[i]
        summed = _length(placed)
        if p in X_new:
            placed = placed @ X_new[p].inverse()  # from the parent's new frame
            summed += _length(X_new[p])
        if isinstance(joint, (Revolute, Prismatic)):
            E = _axis_to_coordinate(np.array(joint.axis))
            a, turn = E @ np.array(joint.axis), Transform(E, np.zeros(3))
            joints[i] = type(joint)(a)
            onwards = [X_old[c] @ turn.inverse() for c, parent in model.edges if parent == i]
            extra = _convenient(a, turn @ placed, isinstance(joint, Revolute), onwards, onward)
            if extra is not None or not np.array_equal(E, np.eye(3)):
                X_new[i] = turn if extra is None else extra @ turn
                placed = X_new[i] @ placed
                summed += _length(X_new[i])
        if i in X_new or p in X_new:
            X_tree[i] = _sparse_transform(placed, summed)
    back = {i: _sparse_transform(X.inverse()) for i, X in X_new.items()}
    inertia = [Summed.of(body).to_parent(back[i]).clean() if i in back else body for i, body in enumerate(model.I)]
    frames = {
        n: Frame(n, f.body, product(f.X, back[f.body]) if f.body in back else f.X, f) for n, f in model.frames.items()
    }
    return replace(model, joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(inertia), frames=frames)


def _axis_to_coordinate(a: Array) -> Array:
    """The identity for a coordinate axis, else the rotation E with E a = z that has the most zeros."""
    if np.abs(a).max() > 1 - 1e-9:
        return np.eye(3)
    x = _across(a)
    return np.array([x, np.cross(a, x), a])


def _across(a: Array) -> Array:
    """A unit vector across a, along a coordinate axis where a is along one."""
    b = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return np.asarray(b / np.linalg.norm(b))


def _convenient(a: Array, placed: Transform, slides: bool, onwards: list[Transform], onward: float) -> Transform | None:
    """Slide along and turn about the axis a that leave the lightest transforms to this body and the next; None: none."""
    length = max(_length(X) for X in (placed, *onwards))
    best, least = None, _weight(placed, length) + onward * sum(_weight(X, length) for X in onwards)
    for angle in _angles(a, placed, onwards):
        turn = Transform(np.array(rotation_about(a, DM(angle)).full()).T, np.zeros(3))
        for slide in _slides(a, placed, onwards, length) if slides else [0.0]:
            extra = turn @ Transform(np.eye(3), slide * a)
            back, size = extra.inverse(), length + abs(slide)
            weight = _weight(extra @ placed, size) + onward * sum(_weight(X @ back, size) for X in onwards)
            if weight < least - 1e-9:
                best, least = extra, weight
    return best


def _angles(a: Array, placed: Transform, onwards: list[Transform]) -> list[float]:
    """Angles about a that line an axis across up with something: own axes, the next joints' axes or origins."""
    b = _across(a)
    c = np.cross(a, b)
    found = {0.0: 0.0}  # by rounded values, so that each is tried once
    for d in (*placed.E.T, *(d for X in onwards for d in (*X.E, X.r / (_length(X) or 1.0)))):
        angle = float(np.arctan2(d @ c, d @ b)) % (np.pi / 2)
        if np.hypot(d @ b, d @ c) > 1e-9 and min(angle, np.pi / 2 - angle) > 1e-9:
            found |= {round(angle + k * np.pi / 2, 9): angle + k * np.pi / 2 for k in range(4)}
    return sorted(found.values())


def _slides(a: Array, placed: Transform, onwards: list[Transform], length: float) -> list[float]:
    """Distances along a that put the origin where a coordinate of some transform vanishes, the shortest first.

    length: the largest in these transforms. None is longer by far, as where axes are all but at right angles: an
    inertia about an origin far away is rounding.
    """
    axis = placed.E.T @ a
    ahead = [float(-placed.r[k] / axis[k]) for k in range(3) if abs(axis[k]) * FARTHEST * length > abs(placed.r[k])]
    found = {0: 0.0}  # by rounded values, so that each is tried once
    for slide in (*ahead, *(float(X.r @ a) for X in onwards)):
        if length:
            found.setdefault(round(slide / length * 1e9), slide)
    return sorted(found.values(), key=abs)


def _weight(X: Transform, length: float) -> float:
    """How much a transform costs: an entry of r beside a length, a general entry of E, a little a change of sign."""
    size = np.abs(X.E)
    general = np.sum((size > ROUNDING) & (size < 1 - ROUNDING))
    offset = np.sum(np.abs(X.r) > ROUNDING * length)
    return float(2.5 * offset + 2.0 * general + 0.5 * np.sum(X.E < ROUNDING - 1))


def _numbers(X: Transform) -> Transform:
    """The same transform on numpy arrays."""
    return Transform(np.array(DM(X.E).full()), np.array(DM(X.r).full()).ravel())


def _length(X: Transform) -> float:
    """The largest entry of r of a transform on numpy arrays."""
    return float(np.abs(X.r).max())


def _sparse_transform(X: Transform, length: float = 0.0) -> Transform:
    """The transform on DM, with structural zeros where it is zero, r where it is nothing beside a length."""
    return clean(Transform(DM(X.E), DM(X.r)), length)
