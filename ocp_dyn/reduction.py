"""Dynamically equivalent models: the same q, qd, tau, H, C, ID and FD from fewer operations.

Two freedoms that no joint-space quantity can see are used up [RBDA, 9.7; W. Khalil and E. Dombre, Modeling,
Identification and Control of Robots, 2002, ch. 9]:

* Part of a body's inertia can move to its parent: whatever the joint cannot feel (I_s S = 0) and cannot
  change (XJ' I_s XJ = I_s). For a revolute joint that is the mass, the first moment along the axis and one of the two
  transverse moments; for a prismatic one the rotational inertia; for one that turns freely about a point the mass.
* A body's frame can be chosen anew: axis along z, origin anywhere on the axis, any angle about it.

What is left is full of structural zeros. Link forces and external wrenches do not survive the first step, so
they need the original model; poses of named frames do survive.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
from casadi import DM

from ._types import Array, sparse
from .joints import Euler, Joint, Prismatic, Revolute, Spherical, Translation
from .model import Frame, Model
from .rotations import rotation_about
from .spatial import Inertia, Transform


def reduce(model: Model) -> Model:
    """A model with the same joint-space dynamics whose transforms and inertias are as sparse as they can be made.

    Bodies, joints, names, layouts and frames' poses are those of `model`; inertias are base parameters, which no
    body need have. Not for link forces or external wrenches. Cost: some milliseconds per body, once.
    """
    return _regrouped(_reframed(model))


def _regrouped(model: Model) -> Model:
    """Moves to the parent what every joint cannot feel, from the tips inwards."""
    inertia = list(model.I)
    for i, p in reversed(list(model.edges)):
        moved = _unfelt(model.joints[i], inertia[i])
        inertia[i] = _clean(Inertia(inertia[i].m - moved.m, inertia[i].h - moved.h, inertia[i].I - moved.I))
        if p:
            inertia[p] = inertia[p] + moved.to_parent(model.X_tree[i])
    return replace(model, I=tuple(inertia[:1] + [_clean(body) for body in inertia[1:]]))


def _unfelt(joint: Joint, body: Inertia) -> Inertia:
    """The part of a body's inertia that its joint neither feels nor changes."""
    if isinstance(joint, Revolute):
        a = np.array(joint.axis)
        transverse = np.eye(3) - np.outer(a, a)
        along = float(a @ np.array(body.h.full()).ravel())
        b = _across(a)
        I = np.array(DM(body.I).full())
        return Inertia(body.m, sparse(along * a), sparse(float(b @ I @ b) * transverse))
    if isinstance(joint, (Prismatic, Translation)):
        return Inertia(DM(1, 1), DM(3, 1), body.I)
    if isinstance(joint, (Spherical, Euler)):
        return Inertia(body.m, DM(3, 1), DM(3, 3))
    return Inertia.zero()


def _across(a: Array) -> Array:
    """A unit vector across a, along a coordinate axis where a is along one."""
    e = np.eye(3)[int(np.argmin(np.abs(a)))]
    b = np.cross(a, e)
    return np.asarray(b / np.linalg.norm(b))


def _reframed(model: Model) -> Model:
    """Chooses every body's frame anew, from the tips inwards: `X_new[i]` leads from the old frame to the new one."""
    X_new = [Transform.identity() for _ in model.joints]
    joints = list(model.joints)
    X_tree = list(model.X_tree)
    children: dict[int, list[int]] = {i: [] for i in range(model.nb + 1)}
    for i, p in model.edges:
        children[p].append(i)
    for i, p in model.edges:
        joint = joints[i]
        placed = X_tree[i] @ X_new[p].inverse()  # from the parent's new frame
        if isinstance(joint, (Revolute, Prismatic)):
            R = _axis_to_z(np.array(joint.axis))
            turn = Transform(sparse(R), DM(3, 1))
            joints[i] = type(joint)("z")
            placed = turn @ placed
            extra = _convenient(placed, isinstance(joint, Revolute), [X_tree[c] @ turn.inverse() for c in children[i]])
            X_new[i] = extra @ turn
            X_tree[i] = _sparse_transform(extra @ placed)
        else:
            X_tree[i] = _sparse_transform(placed)
    inertia = [model.I[0]] + [_clean(model.I[i].to_parent(X_new[i].inverse())) for i, _ in model.edges]
    frames = {n: Frame(n, f.body, _sparse_transform(f.X @ X_new[f.body].inverse())) for n, f in model.frames.items()}
    return replace(model, joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(inertia), frames=frames)


def _axis_to_z(a: Array) -> Array:
    """The rotation E with E a = z that has the most zeros."""
    if abs(a[2]) > 1 - 1e-9:
        return np.eye(3) if a[2] > 0 else np.diag([1.0, -1.0, -1.0])
    x = _across(a)
    return np.array([x, np.cross(a, x), a])


def _convenient(placed: Transform, slides: bool, onwards: list[Transform]) -> Transform:
    """Slide along and turn about the new z axis that leave the fewest nonzeros in this and the next transforms."""
    best, fewest = Transform.identity(), None
    for angle in _angles(placed, onwards):
        turn = Transform(rotation_about((0.0, 0.0, 1.0), DM(angle)).T, DM(3, 1))
        for slide in _slides(placed, onwards) if slides else [0.0]:
            extra = turn @ Transform(DM.eye(3), sparse([0, 0, slide]))
            here = _sparse_transform(extra @ placed)
            # a nonzero left to the next body counts less: that body may yet get rid of it
            count = _weight(here) + 0.9 * sum(_weight(_sparse_transform(X @ extra.inverse())) for X in onwards)
            if fewest is None or count < fewest - 1e-9:
                best, fewest = extra, count
    return best


def _angles(placed: Transform, onwards: list[Transform]) -> list[float]:
    """Angles about z that line x up with something: this frame's own axes, the next joints' axes or origins."""
    E = np.array(DM(placed.E).full())
    directions = [E[:, k] for k in range(3)]
    for X in onwards:
        directions += [*np.array(DM(X.E).full()), np.array(DM(X.r).full()).ravel()]
    found = {0.0}
    for d in directions:
        if np.hypot(d[0], d[1]) > 1e-9:
            found.add(round(float(np.arctan2(d[1], d[0])) % (np.pi / 2), 12))
    return sorted(found)


def _slides(placed: Transform, onwards: list[Transform]) -> list[float]:
    """Distances along z that put the origin where a coordinate of some transform vanishes."""
    axis = np.array(DM(placed.E).full())[2]
    origin = np.array(DM(placed.r).full()).ravel()
    found = {0.0}
    found |= {round(float(-origin[k] / axis[k]), 12) for k in range(3) if abs(axis[k]) > 1e-9}
    found |= {round(float(DM(X.r)[2]), 12) for X in onwards}
    return sorted(found, key=abs)


def _weight(X: Transform) -> float:
    """How much a transform costs: a general entry of E or r, and half of that for an entry of E that is +-1."""
    E = np.abs(np.array(DM(X.E).full()))
    return float(np.sum((E > 0) & (E < 1)) * 2.0 + DM(X.r).nnz() * 2.5)


def _sparse_transform(X: Transform) -> Transform:
    return Transform(sparse(X.E), sparse(X.r))


def _clean(body: Inertia) -> Inertia:
    """Zeros that are only rounding away: entries below 1e-13 of the largest."""
    scale = max(1e-3, float(ca.norm_inf(ca.vec(ca.densify(body.I)))))
    I = DM(body.I)
    return Inertia(sparse(body.m), sparse(body.h), sparse(I, 1e-13 * scale))
