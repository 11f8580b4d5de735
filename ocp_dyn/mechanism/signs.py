"""Signs of axes: limbs that mirror each other get frames in which their joints turn the same way.

A file often states the joints of one leg about x, -y and z, and those of the other about -x, y and z. Expressions of
both legs are then the same but for signs, and code that computes both legs at once cannot share their operations. Half
a turn of a frame about a coordinate axis changes signs only: of the joint's axis, of entries of transforms, of products
of inertia. Therefore no number of the model is rounded.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from casadi import DM

from .._base.types import ROUNDING, Array, exact
from ..joints import Prismatic, Revolute
from ..spatial_algebra.spatial import ZERO3, Transform
from . import Frame, Model

HALF_TURNS = tuple(np.array(signs, dtype=float) for signs in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)))
"""The diagonals of the rotations by pi about coordinate axes, after that of the identity."""

ONE_AXIS = (Revolute, Prismatic)
"""Joints whose frame may be turned: they turn about their axis, or slide along it, in any frame."""

AXIS = 2
"""Number of entries of E whose signs count as much as the direction in which one joint turns."""

SHARE = 3
"""Flip the frames only if at most 1/SHARE of the differing signs remain: negative entries of E cost operations."""


class _HalfTurn(NamedTuple):
    """The least number of different signs from a body outwards, and the half turn of the body that gives it."""

    different: int
    turn: int


def with_equal_signs(model: Model) -> Model:
    """The model with frames turned by half turns, so that signs of limbs with one pattern are as equal as possible.

    Limbs are compared if they hang on one body, and their joints and the patterns of their transforms are the same. The
    first of them keeps its frames. Bodies, names, q and qd do not change. Cost: some 0.1 ms per body.
    """
    E = [np.array(DM(X.E).full()) for X in model.X_tree]
    axes = [np.array(joint.axis) if isinstance(joint, ONE_AXIS) else np.zeros(3) for joint in model.joints]
    limbs = _Limbs(model, E, axes)
    turned: dict[int, Array] = {}
    for p in range(model.nb, -1, -1):  # fingers before arms
        first: dict[Hashable, int] = {}
        for c in limbs.children[p]:
            other = first.setdefault(limbs.shape[c], c)
            if other != c:
                for i, signs in limbs.turns(other, c):
                    turned[i] = turned.get(i, HALF_TURNS[0]) * signs
                    limbs.turn(i, signs)
    return _turned(model, {i: signs for i, signs in turned.items() if signs.min() < 0})


class _Limbs:
    """Limbs of a model: rotations E and axes as they are now, children, and a number for the shape of every subtree."""

    def __init__(self, model: Model, E: list[Array], axes: list[Array]) -> None:
        self.model, self.E, self.axes = model, E, axes
        self.children: list[list[int]] = [[] for _ in E]
        for i, p in model.edges:
            self.children[p].append(i)
        self.shape = [0] * len(E)
        numbers: dict[Hashable, int] = {}
        for i in range(model.nb, 0, -1):
            size = np.abs(E[i]).ravel()
            kinds = np.where(size < ROUNDING, 0, np.where(size < 1 - ROUNDING, 2, 1)).tolist()
            offsets = np.array(DM(model.X_tree[i].r).full()).ravel() != 0
            beyond = sorted(self.shape[c] for c in self.children[i])
            along = np.abs(axes[i]).round(9).tolist()
            key = (type(model.joints[i]), *along, *kinds, *offsets.tolist(), *beyond)
            self.shape[i] = numbers.setdefault(key, len(numbers))

    def turns(self, left: int, right: int) -> list[tuple[int, Array]]:
        """Half turns of the bodies of the limb `right` that make its signs those of the limb `left`; none where that
        does not pay."""
        pairs = self.pairs(left, right)
        image = {j: i for i, j in pairs}
        before = sum(self.different(i, j, 0, 0) for i, j in pairs)
        best: dict[tuple[int, int], _HalfTurn] = {}  # by body of the limb and half turn of its parent
        for j in reversed(image):
            turnable = isinstance(self.model.joints[j], ONE_AXIS)
            for parent in range(4):
                best[j, parent] = min(
                    _HalfTurn(self.different(image[j], j, k, parent) + self.beyond(best, j, k), k)
                    for k in range(4 if turnable else 1)
                )
        if SHARE * best[right, 0].different > before or not before:
            return []
        chosen = {self.model.parent[right]: 0}
        for j in image:
            chosen[j] = best[j, chosen[self.model.parent[j]]].turn
        return [(j, HALF_TURNS[chosen[j]]) for j in image]

    def pairs(self, left: int, right: int) -> list[tuple[int, int]]:
        """Bodies of two limbs of one shape that correspond to each other, every body after its parent."""
        found = [(left, right)]
        for i, j in found:
            free = list(self.children[j])
            for c in self.children[i]:
                partner = next(k for k in free if self.shape[k] == self.shape[c])
                free.remove(partner)
                found.append((c, partner))
        return found

    def beyond(self, best: dict[tuple[int, int], _HalfTurn], j: int, turn: int) -> int:
        """Number of different signs of the bodies beyond body j, if it is turned."""
        return sum(best[c, turn].different for c in self.children[j])

    def different(self, i: int, j: int, turn: int, parent: int) -> int:
        """Number of different signs of bodies i and j, if j and its parent are turned."""
        d = HALF_TURNS[turn]
        E = d[:, None] * self.E[j] * HALF_TURNS[parent]
        opposite = (np.abs(E) > 1 - ROUNDING) & (E * self.E[i] < 0)
        return int(np.sum(opposite)) + AXIS * bool(d * self.axes[j] @ self.axes[i] < 0)

    def turn(self, i: int, signs: Array) -> None:
        self.axes[i] = signs * self.axes[i]
        self.E[i] = signs[:, None] * self.E[i]
        for c in self.children[i]:
            self.E[c] = self.E[c] * signs


def _turned(model: Model, turned: dict[int, Array]) -> Model:
    """The model with the frames of some bodies turned by half turns."""
    if not turned:
        return model
    turn = {i: Transform(exact(np.diag(signs)), ZERO3) for i, signs in turned.items()}
    joints, X_tree, inertia = list(model.joints), list(model.X_tree), list(model.I)
    for i, p in model.edges:
        if p in turn:
            X_tree[i] = X_tree[i] @ turn[p]
        joint = joints[i]
        if i in turn and isinstance(joint, ONE_AXIS):
            joints[i] = type(joint)(turned[i] * np.array(joint.axis) + 0.0)
            X_tree[i] = turn[i] @ X_tree[i]
            inertia[i] = inertia[i].to_parent(turn[i])
    frames = {n: Frame(n, f.body, f.X @ turn[f.body], f) if f.body in turn else f for n, f in model.frames.items()}
    return replace(model, joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(inertia), frames=frames)
