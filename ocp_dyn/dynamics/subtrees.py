"""Joint-space matrices that are filled from the tips inwards, a subtree at a time.

The book carries the force F of each joint towards the root, body by body [RBDA, table 6.2]: as many steps as the matrix
has blocks. Here a body holds one matrix for its whole subtree, with a column per dof, which crosses the joint at once:

    F[i] = [Ic[i] S[i], beyond[i]],    H[i, subtree of i] = S[i]' F[i],    beyond[p] = [X[i]' F[i], beyond[p]].

The operations are the same, in nb steps. The columns of a subtree stand in depth-first order: the body's own, then
those of its children's subtrees, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, Indices
from ..mechanism import Model
from ..spatial_algebra.linalg import symmetric

Rows = Mapping[int, Expr]
"""Rows of the dofs of every body, with the columns of the dofs of its subtree."""
Columns = TypeVar("Columns", bound=tuple[Expr, ...])


def children_of(model: Model) -> list[list[int]]:
    """The children of every body, the ground's first, in the model's order."""
    children: list[list[int]] = [[] for _ in model.parent]
    for i, p in model.edges:
        children[p].append(i)
    return children


def depth_first(model: Model) -> list[int]:
    """The moving bodies in an order in which every subtree is one run: a body, then the subtrees of its children."""
    children = children_of(model)
    order, ahead = [], children[0][::-1]
    while ahead:
        order.append(ahead.pop())
        ahead += children[order[-1]][::-1]
    return order


def beside(*parts: Columns) -> Columns:
    """Matrices side by side, field by field of a NamedTuple."""
    return type(parts[0])(*(ca.horzcat(*field) for field in zip(*parts, strict=True)))


def symmetric_matrix(model: Model, rows: Rows) -> Expr:
    """A = A' (nv x nv) from the rows of all bodies; of the blocks on the diagonal the upper triangle counts."""
    return _by_dof(model, symmetric(_stacked(model, rows)))


def square_matrix(model: Model, rows: Rows, columns: Rows) -> Expr:
    """A (nv x nv) from the rows of all bodies, the diagonal among them, and from the columns below the diagonal.

    columns: by body, with a row per dof beyond the body's joint.
    """
    lower = {i: ca.horzcat(DM(below.shape[1], below.shape[1]), below.T) for i, below in columns.items()}
    return _by_dof(model, _stacked(model, rows) + _stacked(model, lower).T)


def matrix_by_bodies(model: Model, rows: Rows, width: int) -> Expr:
    """A (nv x width nb) from rows that have `width` columns per body in place of one per dof."""
    A = _stacked(model, rows, width)
    order, bodies = _dof_order(model), np.array(depth_first(model)) - 1
    columns = (width * np.argsort(bodies)[:, None] + np.arange(width)).ravel().tolist()
    return A if _sorted(order) and _sorted(bodies) else A[np.argsort(order).tolist(), columns]


def _stacked(model: Model, rows: Rows, width: int = 0) -> Expr:
    """The rows of all bodies in depth-first order, each at its place. width: columns per body; 0: one per dof."""
    total = width * model.nb or model.nv
    parts, start = [], 0
    for i in depth_first(model):
        n, k = rows[i].shape
        parts.append(ca.horzcat(DM(n, start), rows[i], DM(n, total - start - k)))
        start += width or n
    return ca.vertcat(*parts)


def _by_dof(model: Model, A: Expr) -> Expr:
    """A matrix whose rows and columns stand in depth-first order, in the order of the dofs."""
    order = _dof_order(model)
    if _sorted(order):
        return A
    place = np.argsort(order).tolist()
    return A[place, place]


def _dof_order(model: Model) -> Indices:
    return np.array([k for i in depth_first(model) for k in model.dofs_of(i)])


def _sorted(order: Indices) -> bool:
    return bool(np.all(np.diff(order) > 0))
