"""A mechanism in another description of the world, and how numbers change between the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from casadi import DM
from scipy.linalg import block_diag

import ocp_dyn as od
from ocp_dyn.mechanism.editing import central
from tests.helpers import flat, random_rotation
from tests.laws.joints import MIRROR, Array, Draw, Frame, Moved, moved


def skew(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@dataclass(frozen=True)
class Change:
    """Parts that are described otherwise.

    length, mass, time: how many new units make an old one. turned, mirrored: the world's axes. shift [old m]: by how
    much its origin moves. frames [old m]: how far frames of bodies and joints move, 0: they stay. bodies, rows: whether
    bodies, constraints and rows come in another order. split: whether joints are chains of joints of one dof.
    """

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    turned: bool = False
    mirrored: bool = False
    shift: float = 0.0
    frames: float = 0.0
    bodies: bool = False
    rows: bool = False
    split: bool = False

    @property
    def units(self) -> tuple[float, float, float]:
        """Factors of numbers of dimension mass, length and time."""
        return self.mass, self.length, self.time


def factor(units: tuple[float, float, float], dimension: Any) -> float:
    """The factor of a number of a dimension, powers of (mass, length, time)."""
    return float(np.prod(np.array(units) ** np.array(dimension)))


@dataclass(frozen=True, eq=False)
class World:
    """A model in the new description.

    Q, d: new coordinates of places in the world are length Q x + d. order: the old bodies (1 ...) in their new order.
    joints: what has become of every joint, by old body.
    """

    change: Change
    old: od.Model
    model: od.Model
    Q: Array
    d: Array
    order: tuple[int, ...]
    joints: tuple[Moved, ...]
    kept: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(old: od.Model, change: Change, rng: np.random.Generator) -> World:
        draw = Draw(change.length, change.mirrored, rng if change.frames else None, change.frames)
        joints = tuple(moved(joint, draw) for joint in old.joints[1:])
        Q = (random_rotation(rng) if change.turned else np.eye(3)) @ draw.plain.P
        way = rng.normal(size=3)
        d = change.length * change.shift * way / np.linalg.norm(way)
        order = _another_order(old, rng) if change.bodies else tuple(i for i, _ in old.edges)
        world = World(change, old, old, Q, d, order, joints)
        return replace(world, model=_described(world))

    def point(self, body: int, x: Any) -> Array:
        """New coordinates of a place on a body, 0: in the world."""
        frame = self.frame(body)
        return self.change.length * frame.P @ (np.array(x) - frame.r)

    @cached_property
    def _ground(self) -> Frame:
        return Frame(self.Q, -self.Q.T @ self.d / self.change.length)

    def frame(self, body: int) -> Frame:
        """Change of coordinates in an old body; 0: in the world."""
        return self.joints[body - 1].moving if body else self._ground

    @cached_property
    def A(self) -> Array:
        """New velocities are A qd."""
        return self._arranged([joint.A for joint in self.joints], self.old.v_index)

    @cached_property
    def B(self) -> Array:
        return self._arranged([joint.B for joint in self.joints], self.old.q_index)

    @cached_property
    def b(self) -> Array:
        return np.concatenate([self.joints[i - 1].b for i in self.order])

    def q(self, q: Any) -> Any:
        """New positions, by old ones: numbers."""
        return self.B @ np.array(q) + self.b

    def old_q(self, q: Any) -> Any:
        """Old positions, by new ones: numbers or expressions."""
        return DM(np.linalg.inv(self.B)) @ (q - DM(self.b))

    def _arranged(self, blocks: list[Array], index: Any) -> Array:
        entries = [k for i in self.order for k in range(index[i], index[i + 1])]
        return block_diag(*blocks)[entries]


def _another_order(model: od.Model, rng: np.random.Generator) -> tuple[int, ...]:
    """The bodies in a random order in which parents come first, other than theirs where there is one."""
    for _ in range(20):
        left, found = {i for i, _ in model.edges}, list[int]()
        while left:
            ready = sorted(i for i in left if model.parent[i] not in left)
            found.append(int(rng.choice(ready)))
            left.discard(found[-1])
        if found != sorted(found):
            break
    return tuple(found)


def _described(world: World) -> od.Model:
    """The model as a builder makes it in the new description."""
    old, change = world.old, world.change
    gravity = factor(change.units, (0, 1, -2)) * world.Q @ np.array(old.gravity)
    builder = od.ModelBuilder(old.name, gravity=gravity)
    for i in world.order:
        joint, parent, X = world.joints[i - 1], old.parent[i], old.X_tree[i]
        before, E, r = world.frame(parent), np.array(X.E.full()), flat(X.r)
        mass, com, inertia = central(old.I[i], old.body_names[i - 1])
        P = joint.moving.P
        splits = change.split and joint.joint.nv > 1 and _is_chain(joint.joint)
        builder.add_body(
            old.body_names[i - 1], joint.joint, old.body_names[parent - 1] if parent else "world",
            joint_name=old.joint_names[i - 1],
            origin=world.point(parent, r + E.T @ joint.fixed.r), rotation=before.P @ E.T @ joint.fixed.P.T,
            mass=change.mass * mass, com=world.point(i, com),
            inertia=factor(change.units, (1, 2, 0)) * P @ inertia @ P.T, emulate=splits,
        )  # fmt: skip
    for name, frame in old.frames.items():
        if name not in old.body_names:
            R = world.frame(frame.body).P @ np.array(frame.X.E.full()).T @ own_axes(world).T
            body = old.body_names[frame.body - 1] if frame.body else "world"
            builder.add_frame(name, body, world.point(frame.body, flat(frame.X.r)), R)
    return builder.build().with_muscles([_moved_muscle(world, muscle) for muscle in old.muscles])


def _moved_muscle(world: World, muscle: od.Muscle) -> od.Muscle:
    """A straight muscle between bodies, in the new description."""
    numbers = {name: k + 1 for k, name in enumerate(world.old.body_names)}
    path = tuple(replace(p, point=tuple(world.point(numbers[p.body], p.point))) for p in muscle.path)
    return replace(muscle, path=path)


def own_axes(world: World) -> Array:
    """Change of coordinates in a frame that is neither a body's nor the world's."""
    return MIRROR if world.change.mirrored else np.eye(3)


def axes_of(world: World, frame: str) -> Array:
    """Change of coordinates along the axes of a named frame."""
    old = world.old
    return world.frame(old.frames[frame].body).P if frame in old.body_names else own_axes(world)


def _is_chain(joint: od.Joint) -> bool:
    try:
        joint.chain()
    except ValueError:
        return False
    return True


def of_bodies(world: World) -> Array:
    """Matrix of ones where a new body (row) is an old one (column)."""
    new = world.model.body_names
    return np.array([[float(name == other) for other in world.old.body_names] for name in new])


def scaled(blocks: Mapping[int, Array], world: World) -> Array:
    """A matrix of blocks, one per old body, at the places of the new bodies."""
    where = of_bodies(world)
    rows, columns = next(iter(blocks.values())).shape
    found = np.zeros((where.shape[0] * rows, where.shape[1] * columns))
    for new, old in np.argwhere(where):
        found[new * rows : (new + 1) * rows, old * columns : (old + 1) * columns] = blocks[old + 1]
    return found
