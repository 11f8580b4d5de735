"""`natural`: natural coordinates of a model and its loops, chosen automatically [GJB94, ch. 2]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from .._types import Array, finite_vector, listed, sequence, shown
from ..constrained_motion.assembly import AssemblyError, assemble_q
from ..constraints import Loop
from ..dynamics.kinematics import body_transforms, resolve
from ..joints import MultiDof, Planar, Prismatic, Revolute
from ..mechanism import Model
from ..mechanism.boundary import boundary, column_of_numbers
from ..mechanism.parts import WORLD
from ..mechanism.reduction import split_joints
from ..spatial_algebra.spatial import Transform
from .joint_conditions import LOOP_KINDS, SUPPORTED, Link, Sharing, join_groups, link_of_joint, parallel
from .natural_coordinates import NaturalCoordinates, of_numbers
from .natural_matrices import assembled
from .rigid_elements import WANTED, Choice, Elements, Groups

CLOSED = 1e-8
"""Largest error of a loop that counts as closed: sine of an angle, or distance relative to the mechanism's size."""
ALIGNED = 1e-9
"""Largest sine between axes that count as parallel."""


@boundary(own=("q",))
def natural(
    model: Model,
    loops: Loop | Sequence[Loop] = (),
    *,
    q: Any = None,
    plane: bool | str = "auto",
    points: Mapping[str, tuple[str, Any]] | None = None,
    vectors: Mapping[str, tuple[str, Any]] | None = None,
) -> NaturalCoordinates:
    """Natural coordinates of a model: points and unit vectors, shared by the bodies that joints connect [GJB94, ch. 2].

    loops: closures by `od.Loop`; they too share points and vectors, and those that close to the ground tie these to
    constants. q (nq): a configuration in which the loops are closed; default: assembled from the neutral one. plane:
    True for two coordinates per point, for mechanisms that move in a plane; "auto" where they do. points, vectors:
    further ones, {name: (frame, coordinates in it)}; a body takes them before others if it lacks elements.

    Every joint but `Helical`, `CustomJoint` and those of a user's class; a `MultiDof` is split into massless bodies.
    Redundant conditions remain, see `NaturalCoordinates.rank`. ValueError for loops that are not closed at q, joints
    that it cannot take, and lengths that are expressions. Cost: milliseconds per body, once.
    """
    tree = split_joints(model, (MultiDof,))
    _check_joints(tree)
    closures = _loops(loops)
    q0 = _assembled(model, closures, q)
    X0 = [_numbers(X) for X in body_transforms(tree, DM(q0))]
    links = [
        link_of_joint(tree.joint_names[i - 1], tree.joints[i], p, i, *_numbers(tree.X_tree[i])) for i, p in tree.edges
    ]
    wanted = _wanted(tree, points, vectors)
    size = _size(tree, closures, wanted)
    _check_closed(model, closures, q0, size)
    links += [_link_of_loop(tree, loop, X0) for loop in closures]
    normal = _normal(tree, links, X0, plane)
    axes = np.eye(3) if normal is None else _plane_axes(normal)
    neutral = body_transforms(tree, DM(tree.neutral()))
    frames = [_numbers(X)[0] @ axes for X in neutral] if normal is not None else [np.eye(3) for _ in neutral]
    links = [_in_plane(link, frames) for link in links] if normal is not None else links
    groups = Groups(tree.nb + 1, axes.shape[1])
    for link in filter(parallel, links):
        join_groups(groups, link, frames)
    sharing = Sharing(Elements(groups, size), frames)
    _add_wanted(sharing, wanted)
    for link in links:
        sharing.add(link)
    choice = Choice(sharing.elements, axes.shape[1])
    for body in range(tree.nb + 1):
        choice.body(body)
    return assembled(tree, sharing, choice, axes, q0)


# Checks


def _check_joints(tree: Model) -> None:
    for i, _ in tree.edges:
        name, joint, X = tree.joint_names[i - 1], tree.joints[i], tree.X_tree[i]
        if type(joint) not in SUPPORTED:
            raise ValueError(
                f"joint {name}: natural coordinates take no {type(joint).__name__}, its motion is no polynomial of "
                f"points and vectors; they take {listed([kind.__name__ for kind in SUPPORTED])}, MultiDof. Use "
                "Formulation B (velocity transformations), which takes every joint"
            )
        if not of_numbers(X):
            raise ValueError(
                f"joint {name}: its position is an expression, but natural coordinates hold numbers for lengths: make "
                "them from a model of numbers"
            )


def _loops(loops: Any) -> list[Loop]:
    found = [loops] if isinstance(loops, Loop) else sequence(loops, "loops must be od.Loop's")
    for loop in found:
        if not isinstance(loop, Loop):
            raise TypeError(
                f"loops must be od.Loop's, got {shown(loop)}: natural coordinates hold joints and closed loops; other "
                "constraints need Formulation B or constrained_dynamics"
            )
    return found


def _assembled(model: Model, loops: Sequence[Loop], q: Any) -> Array:
    """q as numbers, or the configuration nearest to the neutral one in which the loops are closed."""
    if q is not None:
        return np.array(column_of_numbers(q, model.nq, "q").full()).ravel()
    if not loops:
        return model.neutral()
    try:
        return assemble_q(model, tuple(loops), model.neutral())
    except AssemblyError as error:
        raise ValueError(
            f"loops {listed([loop.name for loop in loops])} cannot be closed from model.neutral(), the largest error "
            f"is {error.error:.3g}: give a closed configuration, q=od.assemble_q(model, loops, q_near_it)"
        ) from error


def _check_closed(model: Model, loops: Sequence[Loop], q: Array, size: float) -> None:
    for loop in loops:
        phi = np.array(loop.position(model, DM(q)).full()).ravel()
        scale = np.array([max(1.0 if any(row[:3]) else 0.0, size if any(row[3:]) else 0.0) for row in loop.axes])
        worst = int(np.argmax(np.abs(phi) / scale))
        if not abs(phi[worst]) <= CLOSED * scale[worst]:
            raise ValueError(
                f"loop {loop.name} is not closed at q: row {loop.rows[worst]} is {phi[worst]:.3g} (m; sine of an "
                "angle). Close it first: q=od.assemble_q(model, loops, q)"
            )


def _size(tree: Model, loops: Sequence[Loop], wanted: Sequence[_Wanted]) -> float:
    """The largest length between joints, ends of loops and points of the user; 1 m if there is none."""
    found = [_numbers(X)[1] for X in tree.X_tree] + [point.r for point in wanted if point.is_point]
    for loop in loops:
        for frame, pose in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose)):
            found.append(_placed(resolve(tree, frame).X, np.array(pose[1])))
    return max((float(np.linalg.norm(r)) for r in found), default=0.0) or 1.0


# Links


def _link_of_loop(tree: Model, loop: Loop, X0: Sequence[tuple[Array, Array]]) -> Link:
    """The link of a loop. Directions that its rows allow to be opposite are turned as they are at q."""
    ends = []
    for frame, (R, r) in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose)):
        at = resolve(tree, frame)
        E, _ = _numbers(at.X)
        ends.append((at.body, _placed(at.X, np.array(r)), E.T @ np.reshape(np.array(R), (3, 3))))
    (p, rp, Rp), (s, rs, Rs) = ends
    if p == s:
        raise ValueError(f"loop {loop.name}: both ends are on one body, {_body_name(tree, p)}; remove the loop")
    kind = LOOP_KINDS.get(loop.axes, "rows")
    Rp0, Rs0 = X0[p][0].T @ Rp, X0[s][0].T @ Rs
    if kind in ("revolute", "cylindrical") and Rp0[:, 2] @ Rs0[:, 2] < 0:
        Rs = Rs @ np.diag([1.0, -1.0, -1.0])
    elif kind in ("orientation", "prismatic", "fixed") and np.abs(Rp0 - Rs0).max() > 0.1:
        Rs = X0[s][0] @ Rp0
    axes = (np.array([0.0, 0.0, 1.0]),) if kind != "rows" else tuple(np.array(row) for row in loop.axes)
    return Link(loop.name, kind, p, s, rp, Rp, rs, Rs, axes)


def _in_plane(link: Link, frames: Sequence[Array]) -> Link:
    """A link of a planar mechanism; a cylindrical loop across the plane is a revolute one, along it a prismatic one."""
    if link.kind != "cylindrical":
        return link
    normal = np.cross(frames[link.p][:, 0], frames[link.p][:, 1])
    kind = "revolute" if abs(link.before(link.axes[0]).r @ normal) > 0.5 else "rows"
    return Link(link.name, kind, link.p, link.s, link.rp, link.Rp, link.rs, link.Rs, link.axes)


def _normal(tree: Model, links: Sequence[Link], X0: Sequence[tuple[Array, Array]], plane: bool | str) -> Array | None:
    """The normal of the plane in which the mechanism moves; None for coordinates in space."""
    if plane is not True and plane is not False and plane != "auto":
        raise ValueError(f"plane must be True, False or 'auto', got {shown(plane)}")
    if plane is False:
        return None
    world = [(link, X0[link.p][0].T @ link.before(link.axes[0][:3]).r) for link in links if link.axes]
    turning = [a for link, a in world if link.kind in ("revolute", "planar")]
    sliding = [a for link, a in world if link.kind == "prismatic"]
    normal = turning[0] if turning else _common_normal(sliding)
    fault = "it has no revolute joint" if normal is None else _out_of_plane(tree, links, world, normal)
    if fault is None:
        return normal
    if plane is True:
        raise ValueError(f"plane=True: the mechanism does not move in a plane: {fault}. Use plane='auto' or False")
    return None


def _common_normal(axes: Sequence[Array]) -> Array | None:
    """The unit vector across the first axis and the one that is most independent of it."""
    normals = [np.cross(axes[0], a) for a in axes]
    longest = max(normals, key=lambda n: float(np.linalg.norm(n)), default=None)
    if longest is None or np.linalg.norm(longest) < ALIGNED:
        return None
    return np.asarray(longest / np.linalg.norm(longest))


def _out_of_plane(tree: Model, links: Sequence[Link], world: Sequence[tuple[Link, Array]], normal: Array) -> str | None:
    """A joint or loop that moves a body out of the plane; None if there is none."""
    for i, _ in tree.edges:
        if not isinstance(tree.joints[i], (Revolute, Prismatic, Planar)):
            return f"joint {tree.joint_names[i - 1]} ({type(tree.joints[i]).__name__}) leaves it"
    for link, a in world:
        along = abs(float(a @ normal)) / float(np.linalg.norm(a)) if np.linalg.norm(a) else 0.0
        turned = link.kind in ("revolute", "planar")
        if turned and along < 1 - ALIGNED:
            return f"the axis of {link.name} is not along its normal"
        if link.kind == "prismatic" and along > ALIGNED:
            return f"{link.name} does not slide in it"
        if link.kind == "cylindrical" and along < 1 - ALIGNED:
            return f"the axis of {link.name} is not along its normal"
        if link.kind == "rows":
            return f"loop {link.name} has rows of its own"
    return None


def _plane_axes(normal: Array) -> Array:
    """Two axes (3x2) of the plane, along axes of the world where it is a coordinate plane."""
    k = int(np.argmax(np.abs(normal)))
    if abs(normal[k]) > 1 - ALIGNED:
        return np.delete(np.eye(3), k, axis=1)
    first = np.cross(normal, np.eye(3)[k])
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(normal, first)])


# Elements that the user asked for


class _Wanted(NamedTuple):
    """A point, or a direction, of a body: coordinates r (3) in it."""

    name: str
    is_point: bool
    body: int
    r: Array


def _wanted(tree: Model, points: Any, vectors: Any) -> list[_Wanted]:
    """The points and vectors that the user asked for, checked."""
    found = []
    for what, given in (("points", points), ("vectors", vectors)):
        if not isinstance(given, Mapping | None):
            raise TypeError(f"{what} must be {{name: (frame, three numbers)}}, got {shown(given)}")
        for name, value in (given or {}).items():
            if not isinstance(name, str) or not isinstance(value, (tuple, list)) or len(value) != 2:
                raise TypeError(f"{what} must be {{name: (frame, three numbers)}}, got {shown({name: value})}")
            frame, r = resolve(tree, value[0]), finite_vector(value[1], 3, f"{what}: {shown(name)}")
            is_point = what == "points"
            placed = _placed(frame.X, r) if is_point else _numbers(frame.X)[0].T @ r
            found.append(_Wanted(name, is_point, frame.body, placed))
    return found


def _add_wanted(sharing: Sharing, wanted: Sequence[_Wanted]) -> None:
    """Adds the points and vectors that the user asked for, in the plane their components along it."""
    for name, is_point, body, r in wanted:
        at = sharing.frames[body].T @ r
        if is_point:
            element = sharing.elements.point([(body, at)], WANTED, name)
        elif np.linalg.norm(at) > 0.5 * np.linalg.norm(r):
            element = sharing.elements.vector([(body, at / np.linalg.norm(at))], WANTED, name)
        else:
            raise ValueError(f"vectors: {shown(name)} must be a direction along which the mechanism moves, got {r}")
        if element.name != name:
            raise ValueError(f"{shown(name)} and {shown(element.name)} are the same: leave out one of them")


def _numbers(X: Transform) -> tuple[Array, Array]:
    """(E, r) of a transform of numbers as arrays."""
    return np.array(DM(X.E).full()), np.array(DM(X.r).full()).ravel()


def _placed(X: Transform, r: Array) -> Array:
    """A point of a frame in coordinates of its body, X: body -> frame."""
    E, origin = _numbers(X)
    return np.asarray(origin + E.T @ r)


def _body_name(tree: Model, body: int) -> str:
    return tree.body_names[body - 1] if body else WORLD
