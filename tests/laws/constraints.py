"""Constraints in the new description of a world: the constraint, and how its rows change."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.linalg import block_diag

import ocp_dyn as od
from tests.laws.joints import Array
from tests.laws.worlds import World, axes_of, own_axes


class Held(NamedTuple):
    """A constraint in the new description, as one or several, and phi there by phi here."""

    constraints: tuple[od.Constraint, ...]
    rows: Array


@singledispatch
def held(constraint: od.Constraint, world: World) -> Held:
    raise NotImplementedError(
        f"the laws do not know how {type(constraint).__name__} changes with units and axes: register it in "
        "tests/laws/constraints.py with @held.register"
    )


def _body(world: World, frame: str) -> int:
    return world.old.frames[frame].body


def _place(world: World, frame: str, point: Any) -> Array:
    """New coordinates of a point of a frame, in that frame."""
    if frame in world.old.body_names:
        return world.point(_body(world, frame), point)
    return world.change.length * axes_of(world, frame) @ np.array(point)


def _axial(P: Array) -> Array:
    return np.linalg.det(P) * P


@held.register
def _(contact: od.Contact, world: World) -> Held:
    s, Q = world.change.length, world.Q
    axes = None if contact.axes is None else np.array(contact.axes) @ Q.T
    reference = contact.reference
    if reference is not None:
        R = Q @ np.reshape(reference[0], (3, 3)) @ axes_of(world, contact.name).T
        reference = (tuple(R.ravel()), tuple(world.point(0, reference[1])))
    rows = block_diag(_axial(Q), s * Q) if axes is None else s * np.eye(len(axes))
    new = od.Contact(contact.body, _place(world, contact.name, contact.point), axes, reference)
    return Held((new,), rows)


@held.register
def _(loop: od.Loop, world: World) -> Held:
    s, own = world.change.length, own_axes(world)
    axes, sizes = [], []
    for axis in loop.axes:
        r, t = np.split(np.array(axis), 2)
        size = s if t.any() else 1.0
        axes.append((*(size * _axial(own) @ r), *(own @ t)))
        sizes.append(size)
    poses = []
    for frame, (R, r) in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose)):
        poses.append((axes_of(world, frame) @ np.reshape(R, (3, 3)) @ own.T, _place(world, frame, r)))
    new = replace(loop, axes=axes, predecessor_pose=poses[0], successor_pose=poses[1])
    return Held((new,), np.diag(sizes))


@held.register
def _(lock: od.LockedJoint, world: World) -> Held:
    joint = world.joints[world.old.joint_names.index(lock.joint)]
    value = None if lock.value is None else joint.B @ np.array(lock.value) + joint.b
    links = [name for name in world.model.joint_names if name.partition("#")[0] == lock.joint]
    if len(links) == 1:
        return Held((od.LockedJoint(lock.joint, value, lock.dofs),), joint.A)
    values = [None] * len(links) if value is None else value
    return Held(tuple(map(od.LockedJoint, links, values)), joint.A)


@held.register
def _(coupling: od.JointCoupling, world: World) -> Held:
    one, other = (world.joints[world.old.joint_names.index(name)].A[0, 0] for name in (coupling.joint, coupling.other))
    function = coupling.function
    scaled = None if function is None else (lambda x: one * function(x / other))
    ratio = coupling.ratio if function is not None else coupling.ratio * one / other
    new = replace(coupling, ratio=ratio, offset=coupling.offset * one, function=scaled)
    return Held((new,), np.array([[one]]))


@held.register
def _(rolling: od.RollingContact, world: World) -> Held:
    s, Q, P = world.change.length, world.Q, axes_of(world, rolling.name)
    normal = Q @ rolling.normal
    new = od.RollingContact(
        rolling.body, s * rolling.radius, _place(world, rolling.name, rolling.center), normal,
        None if rolling.axis is None else P @ rolling.axis, s * rolling.height + normal @ world.d,
    )  # fmt: skip
    sides = np.array(new.sides.full()) @ Q @ np.array(rolling.sides.full()).T
    turns = [] if rolling.axis is None else [np.diag([np.linalg.det(Q), 1.0])]
    return Held((new,), block_diag(s * sides, *turns))


@held.register
def _(custom: od.CustomConstraint, world: World) -> Held:
    s, T = world.change.length, world.change.time

    def phi(q: Any, t: Any = 0.0) -> Any:
        return s * custom.phi(world.old_q(q), *([t / T] if custom.timed else []))

    return Held((replace(custom, phi=phi),), s * np.eye(custom.size))


@held.register
def _(stabilized: od.Baumgarte, world: World) -> Held:
    inner = held(stabilized.constraint, world)
    T = world.change.time * stabilized.T
    return Held(tuple(od.Baumgarte(constraint, T) for constraint in inner.constraints), inner.rows)


# Random sets


def _unit(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _contact(model: od.Model, q: Array, body: str, rng: np.random.Generator) -> od.Constraint:
    axes = [None, "xyz", "xz", [_unit(rng), _unit(rng)], "y"][int(rng.integers(5))]
    near = np.array(od.integrate(model, q, 0.3 * rng.normal(size=model.nv)).full()).ravel()
    return od.Contact(body, rng.uniform(-0.5, 0.5, 3), axes).at(model, near)


def _rolling(model: od.Model, q: Array, body: str, rng: np.random.Generator) -> od.Constraint:
    axis = _unit(rng) if rng.random() < 0.5 else None
    return od.RollingContact(body, 0.3, rng.uniform(-0.3, 0.3, 3), _unit(rng), axis, 0.2)


def loop(model: od.Model, q: Array, body: str, rng: np.random.Generator, axes: Any = None) -> od.Loop:
    """A loop that is closed at q, from the body to another one or to the ground."""
    others = [name for name in (*model.body_names, "ground") if name != body]
    other = str(rng.choice(others))
    kinds = ["ball", "orientation", "revolute", "cylindrical", "prismatic"]
    kinds += [[(*_unit(rng), *_unit(rng)), (0, 0, 0, *_unit(rng)), (*_unit(rng), 0, 0, 0)]]
    kind = kinds[int(rng.integers(len(kinds)))] if axes is None else axes
    R, p = (np.array(part.full()) for part in od.pose(model, body, q))
    local_R, local_p = od.rpy_matrix(rng.uniform(-1, 1, 3)), rng.uniform(-0.3, 0.3, 3)
    R, p = R @ local_R, p.ravel() + R @ local_p
    R0, p0 = (np.array(part.full()) for part in od.pose(model, other, q))
    before = (R0.T @ R, R0.T @ (p - p0.ravel()))
    return od.Loop(other, body, kind, before, (local_R, local_p))


def _joint(model: od.Model, q: Array, body: str, rng: np.random.Generator) -> od.Constraint:
    names = [n for n, j in zip(model.joint_names, model.joints[1:], strict=True) if j.nv == j.nq == 1]
    if len(names) >= 2 and rng.random() < 0.7:
        one, other = rng.choice(names, 2, replace=False)
        function = (lambda x: ca.sin(x) + 0.3 * x**2) if rng.random() < 0.5 else None
        return od.JointCoupling(str(one), str(other), 0.7, 0.2, function)
    joint = model.joint_names[model.body_names.index(body)]
    near = np.array(od.integrate(model, q, 0.3 * rng.normal(size=model.nv)).full()).ravel()
    return od.LockedJoint.of(model, joint, near)


def _custom(model: od.Model, q: Array, body: str, rng: np.random.Generator) -> od.Constraint:
    way, point, speed = rng.normal(size=3), rng.uniform(-0.5, 0.5, 3), rng.normal()

    def phi(q: Any, t: Any) -> Any:
        return ca.dot(ca.DM(way), od.point_position(model, body, q, point)) + 0.3 * ca.sin(speed * t) - 0.1

    return od.CustomConstraint(phi, timed=True, name=f"height of {body}")


KINDS = (_contact, _contact, _rolling, loop, _joint, _custom)


def independent(model: od.Model, q: Array, rng: np.random.Generator) -> tuple[od.Constraint, ...]:
    """A random set whose rows are independent at q, clearly: a few constraints of all kinds."""
    found: tuple[od.Constraint, ...] = ()
    for make in rng.permutation(np.array(KINDS, dtype=object))[:5]:
        new = make(model, q, str(rng.choice(model.body_names)), rng)
        if rng.random() < 0.3:
            new = od.Baumgarte(new, 0.2)
        G = np.array(od.constraint_jacobian(model, (*found, new), q, t=0.4).full())
        if len(G) < model.nv and _least(G) > 0.05:
            found = (*found, new)
    return found or (od.LockedJoint.of(model, model.joint_names[0]),)


def _least(G: Array) -> float:
    """The least singular value of rows of length 1; 0 with a row that constrains nothing."""
    sizes = np.linalg.norm(G, axis=1, keepdims=True)
    return float(np.linalg.svd(G / sizes, compute_uv=False)[-1]) if sizes.all() else 0.0


def loops(model: od.Model, q: Array, rng: np.random.Generator) -> tuple[od.Constraint, ...]:
    """Loops that are closed at q, with independent rows."""
    while True:
        found = (loop(model, q, model.body_names[-1], rng, "ball"),)
        G = np.array(od.constraint_jacobian(model, found, q).full())
        if _least(G) > 0.05:
            return found


def dependent(
    model: od.Model, q: Array, rng: np.random.Generator, distance: float | None = None
) -> tuple[od.Constraint, ...]:
    """A random set with rows that others imply: points of a foot, at distances [m] from each other, a row given
    twice."""
    body = str(rng.choice(model.body_names))
    points = rng.uniform(-0.5, 0.5, 3) + (distance or 1.0) * rng.uniform(-0.5, 0.5, (4, 3))
    sole = tuple(od.Contact(body, point, "xyz").at(model, q) for point in points)
    return (*sole, od.Contact(body, points[0], [_unit(rng)]).at(model, q))
