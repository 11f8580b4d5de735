"""Loops as links between bodies: which joint a loop's rows stand for, in space or in the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from casadi import DM, MX, SX

from ..._base.types import Array
from ...constraints import Loop
from ...dynamics.kinematics import resolve
from ...mechanism import Model
from ...mechanism.parts import WORLD
from ...spatial_algebra.spatial import Transform, vee
from .choice import PARALLEL
from .joints import Link, across

CLOSED = 1e-8
"""Largest error of a loop that counts as closed: sine of an angle, or distance relative to the mechanism's size."""
ALIGNED = 1e-6
"""Frames whose axes differ less are aligned, and assembly has left the difference."""
Poses = Sequence[tuple[Array, Array]]
"""(E, r) by body, from the ground to the body."""


def numbers_of(X: Transform) -> tuple[Array, Array]:
    """(E, r) of a transform as arrays; ValueError for expressions."""
    if not all(isinstance(part, DM) for part in (X.E, X.r)):
        raise ValueError(
            "natural coordinates hold numbers for lengths, the position of a frame is an expression: make them from a "
            "model of numbers"
        )
    return np.array(DM(X.E).full()), np.array(DM(X.r).full()).ravel()


def point_in_body(X: Transform, r: Array) -> Array:
    """A point of a frame in coordinates of its body; X: body -> frame."""
    E, origin = numbers_of(X)
    return np.asarray(origin + E.T @ r)


def ends_of(tree: Model, loop: Loop) -> tuple[tuple[int, Array, Array], tuple[int, Array, Array]]:
    """(body, origin, rotation) of both ends of a loop, in coordinates of the bodies; the predecessor first."""
    ends = []
    for frame, (R, r) in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose)):
        symbolic = isinstance(r, (SX, MX))
        if symbolic:
            raise ValueError(
                f"loop {loop.name}: its pose is an expression, natural coordinates hold numbers for lengths"
            )
        at = resolve(tree, frame)
        E, _ = numbers_of(at.X)
        ends.append((at.body, point_in_body(at.X, np.array(r)), E.T @ np.reshape(np.array(R), (3, 3))))
    first, second = ends
    if first[0] == second[0]:
        name = tree.body_names[first[0] - 1] if first[0] else WORLD
        raise ValueError(f"loop {loop.name}: both ends are on one body, {name}; remove the loop")
    return first, second


def check_closed(tree: Model, loop: Loop, X0: Poses, size: float) -> None:
    """ValueError if a loop is open in the poses X0: phi as in `Loop.position`."""
    (p, rp, Rp), (s, rs, Rs) = ends_of(tree, loop)
    (Ep, xp), (Es, xs) = X0[p], X0[s]
    Rp0, rows = Ep.T @ Rp, np.array(loop.axes)
    A, gap = Rp0.T @ Es.T @ Rs, Rp0.T @ (xs + Es.T @ rs - xp - Ep.T @ rp)
    n = free_axis(loop)
    rotation = np.array(vee(DM(A)).full()).ravel() if n is None else np.cross(n, A @ n)
    phi = rows @ np.concatenate([rotation, gap])
    scale = np.array([max(1.0 if any(row[:3]) else 0.0, size if any(row[3:]) else 0.0) for row in loop.axes])
    worst = int(np.argmax(np.abs(phi) / scale))
    if not abs(phi[worst]) <= CLOSED * scale[worst]:
        raise ValueError(
            f"loop {loop.name} is not closed at q: row {loop.rows[worst]} is {phi[worst]:.3g} (m; sine of an angle). "
            "Close it first: q=od.assemble_q(model, loops, q)"
        )


def link_of_loop(tree: Model, loop: Loop, X0: Poses, normal: Array | None) -> Link:
    """The link of a loop. Axes that the rows allow to be opposite, and frames that they allow to be turned against each
    other, are as they are in the poses X0. normal: of the plane of motion, world axes; None in space."""
    (p, rp, Rp), (s, rs, Rs) = ends_of(tree, loop)
    Rp0 = X0[p][0].T @ Rp
    rows = np.array(loop.axes)
    if normal is not None:
        rows = in_plane(rows, Rp0.T @ normal)
    kind, axis = kind_of_rows(rows, normal is not None)
    if axis is None:
        Q, axes = np.eye(3), tuple(rows)
    else:
        Q, axes = np.column_stack([*across(axis), axis]), (np.array([0.0, 0.0, 1.0]),)
    Rp, Rs, Rp0, Rs0 = Rp @ Q, Rs @ Q, Rp0 @ Q, X0[s][0].T @ Rs @ Q
    if kind in ("revolute", "cylindrical") and Rp0[:, 2] @ Rs0[:, 2] < 0:
        Rs = Rs @ np.diag([1.0, -1.0, -1.0])
    elif kind in ("orientation", "prismatic", "fixed") and np.abs(Rp0 - Rs0).max() > ALIGNED:
        Rs = X0[s][0] @ Rp0
    return Link(loop.name, kind, p, s, rp, Rp, rs, Rs, axes, free_axis(loop) if normal is None else None)


def in_plane(rows: Array, normal: Array) -> Array:
    """The part of 6-D axes that motions along a plane feel: rotation about its normal, translation in it."""
    N = np.outer(normal, normal)
    turning, shifting = rows[:, :3] @ N, rows[:, 3:] @ (np.eye(3) - N)
    found = np.hstack([turning, shifting])
    found[np.abs(found) < PARALLEL * np.abs(rows).max()] = 0.0
    return found


def kind_of_rows(rows: Array, planar: bool) -> tuple[str, Array | None]:
    """The kind of joint that holds these 6-D axes at zero, and its free axis; "rows" if it is none.

    By the ranks of the rotations and of the translations held, if no row mixes them.
    """
    W, T = rows[:, :3], rows[:, 3:]
    turned, shifted = _rank(W), _rank(T)
    both = _rank(np.hstack([part / (np.abs(part).max(initial=0.0) or 1.0) for part in (W, T)]))
    if both < turned + shifted:
        return "rows", None
    if planar:
        kinds = {(0, 2): "ball", (1, 0): "orientation", (1, 2): "fixed", (1, 1): "prismatic"}
        kind = kinds.get((turned, shifted), "rows")
        n, across_ = (_largest(part) for part in (W, T))
        return kind, np.cross(n, across_) if kind == "prismatic" else None
    kinds = {(0, 3): "ball", (3, 0): "orientation", (3, 3): "fixed", (2, 3): "revolute", (3, 2): "prismatic"}
    if (turned, shifted) == (2, 2) and _rank(np.vstack([W / np.abs(W).max(), T / np.abs(T).max()])) == 2:
        return "cylindrical", _free(W)
    kind = kinds.get((turned, shifted), "rows")
    return kind, {"revolute": _free(W), "prismatic": _free(T)}.get(kind)


def free_axis(loop: Loop) -> Array | None:
    """The axis n of a loop whose error of position is n x R_p' R_s n instead of vee, see `Loop.turning`."""
    return _free(np.array(loop.axes)[:, :3]) if loop.turning else None


def _rank(A: Array) -> int:
    values = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(values > PARALLEL * max(values.max(initial=0.0), 1e-300)))


def _largest(A: Array) -> Array:
    """The direction of the largest row; zero if all are."""
    row = A[int(np.argmax(np.linalg.norm(A, axis=1)))]
    return np.asarray(row / (np.linalg.norm(row) or 1.0))


def _free(A: Array) -> Array:
    """The unit vector across all rows (of rank 2), along a coordinate axis to rounding where it is along one."""
    axis = np.linalg.svd(A)[2][2]
    axis[np.abs(axis) < 1e-15] = 0.0
    return np.asarray(axis * np.sign(axis[int(np.argmax(np.abs(axis)))]))
