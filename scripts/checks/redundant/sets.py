"""Random models with constraints, by kind, each in a configuration that keeps them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from casadi import DM
from numpy.typing import NDArray

import ocp_dyn as od

Array = NDArray[np.float64]
CLOSURES = ("ball", "revolute", "fixed", "orientation", "cylindrical", "prismatic", "explicit")


class Set(NamedTuple):
    """A model, constraints, and a configuration that keeps them."""

    model: od.Model
    constraints: tuple[od.constraints.Constraint, ...]
    q: Array


def rotation(rng: np.random.Generator) -> Array:
    return np.array(od.quaternion_matrix(DM(rng.normal(size=4))).full())


def direction(rng: np.random.Generator) -> Array:
    n = rng.normal(size=3)
    return np.asarray(n / np.linalg.norm(n))


def add(
    builder: od.ModelBuilder, name: str, joint: od.Joint, parent: str, rng: np.random.Generator, **place: Array
) -> None:
    """A body with a random mass, mass center and box inertia."""
    mass, R, s = rng.uniform(0.5, 2), rotation(rng), rng.uniform(0.05, 0.2, 3) ** 2
    inertia = R @ (mass / 3 * np.diag([s[1] + s[2], s[0] + s[2], s[0] + s[1]])) @ R.T
    builder.add_body(name, joint, parent, mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=inertia, **place)


def closed_chain(rng: np.random.Generator, kind: str, closure: str) -> Set:
    """Two chains from one body, closed by a loop constraint at their random positions.

    kind: "planar", all axes are parallel; "spherical", all axes pass through one point, some as universal joints.
    """
    builder = od.ModelBuilder(kind, gravity=9.81 * direction(rng))
    far = 10.0 ** rng.uniform(-1, 3)
    root = od.FloatingBase() if rng.random() < 0.5 else od.Revolute(direction(rng))
    add(builder, "base", root, "world", rng, origin=far * rng.normal(size=3), rotation=rotation(rng))
    normal, center = direction(rng), rng.normal(size=3)
    ends = []
    for chain, length in enumerate(rng.choice([(2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (3, 3)])):
        parent, Rp, pp = "base", np.eye(3), np.zeros(3)
        for k in range(length):
            R, name = rotation(rng), f"chain{chain}_{k}"
            axis = normal if kind == "planar" else direction(rng)
            if kind == "planar":
                p = pp + np.cross(normal, rng.normal(size=3)) * 0.6 + normal * rng.normal() * 0.3
            else:
                p = center + axis * rng.normal()
            joint: od.Joint = od.Revolute(R.T @ axis)
            if kind == "spherical" and rng.random() < 0.2:
                joint, p = od.Universal(R.T @ axis, np.cross(R.T @ axis, rng.normal(size=3))), center
            add(builder, name, joint, parent, rng, origin=Rp.T @ (p - pp), rotation=Rp.T @ R)
            parent, Rp, pp = name, R, p
        ends.append(parent)
    model = builder.build()
    q = model.random_q(rng)
    R, p = pose(model, "base", q)
    return Set(model, (closed(model, ends, q, R @ normal, p + R @ rng.normal(size=3), closure, rng),), q)


def closed(
    model: od.Model, ends: list[str], q: Array, normal: Array, p: Array, closure: str, rng: np.random.Generator
) -> od.constraints.Loop:
    """Loop constraint between two bodies that their poses at q keep, about the normal, at the point p of the world."""
    x = np.cross(normal, rng.normal(size=3))
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(normal, x), normal])
    axes: Any = closure
    if closure == "explicit":
        axes = [tuple(row) for row in rng.normal(size=(5, 5)) @ np.eye(6)[[0, 1, 3, 4, 5]]]
    poses = [(Rb.T @ R, Rb.T @ (p - pb)) for Rb, pb in (pose(model, end, q) for end in ends)]
    return od.Loop(ends[0], ends[1], axes, poses[0], poses[1])


def pose(model: od.Model, frame: str, q: Array) -> tuple[Array, Array]:
    R, p = od.pose(model, frame, DM(q))
    return np.array(R.full()), np.array(p.full()).ravel()


def standing(rng: np.random.Generator, straight: bool) -> Set:
    """Two legs of six joints, each foot held at its four corners along random directions."""
    builder = od.ModelBuilder("legs", gravity=9.81 * direction(rng))
    add(builder, "trunk", od.FloatingBase(), "world", rng)
    constraints: tuple[od.constraints.Constraint, ...] = ()
    corners = [(x, y, -0.05) for x in (0.15, -0.07) for y in (0.05, -0.05)]
    heights = (0.0, 0.0, 0.0, -0.4, -0.4, 0.0)
    for side, y in (("l", 0.1), ("r", -0.1)):
        parent = "trunk"
        for k, (axis, z) in enumerate(zip("zxyyyx", heights, strict=True)):
            origin = np.array([0.0, 0.0 if k else y, z])
            add(builder, f"{side}{k}", od.Revolute(axis), parent, rng, origin=origin)
            parent = f"{side}{k}"
        constraints += od.point_contacts(parent, corners, [tuple(row) for row in rotation(rng)])
    model = builder.build()
    q = model.random_q(rng)
    q[:3] *= 10.0 ** rng.uniform(-1, 3)
    q[7:] = 0.0 if straight else rng.normal(size=12) * 0.4
    return Set(model, constraints, q)


def contacts(rng: np.random.Generator) -> Set:
    """A random tree with contacts at random points: whole bodies, points, and random directions, more than needed."""
    builder = od.ModelBuilder("tree", gravity=9.81 * direction(rng))
    n = int(rng.integers(3, 9))
    for i in range(n):
        kinds = (od.Revolute(direction(rng)), od.Prismatic(direction(rng)), od.Spherical(), od.Revolute("z"))
        joint = od.FloatingBase() if i == 0 and rng.random() < 0.6 else kinds[rng.integers(4)]
        parent = f"b{rng.integers(i)}" if i else "world"
        add(builder, f"b{i}", joint, parent, rng, origin=rng.normal(size=3) * 0.5, rotation=rotation(rng))
    model = builder.build()
    held = []
    for _ in range(rng.integers(1, 6)):
        some = [tuple(row) for row in rng.normal(size=(rng.integers(1, 5), 3))]
        point = tuple(rng.normal(size=3) * 0.4)
        held.append(od.Contact(f"b{rng.integers(n)}", point, (None, "xyz", some)[rng.integers(3)]))
    return Set(model, tuple(held), model.random_q(rng))


def along_the_axis(rng: np.random.Generator) -> Set:
    """A body that is held along the axis of its joint: a row that is zero but for rounding."""
    builder = od.ModelBuilder("rod", gravity=9.81 * direction(rng))
    axis, parent = direction(rng), "world"
    if rng.random() < 0.3:
        add(builder, "base", od.Revolute(axis), "world", rng)
        parent = "base"
    add(builder, "rod", od.Revolute(axis), parent, rng, origin=rng.normal(size=3))
    model = builder.build()
    q = model.random_q(rng)
    across = [tuple(direction(rng))] if rng.random() < 0.5 else []
    held = od.Contact("rod", tuple(rng.normal(size=3)), [tuple(pose(model, "rod", q)[0] @ axis), *across])
    return Set(model, (held,), q)


FAMILIES: dict[str, Callable[[np.random.Generator], Set]] = {
    **{
        f"{kind} chain, {c}": partial(closed_chain, kind=kind, closure=c)
        for kind in ("planar", "spherical")
        for c in CLOSURES
    },
    "four-point feet": partial(standing, straight=False),
    "four-point feet, straight legs": partial(standing, straight=True),
    "random contacts": contacts,
    "along a joint axis": along_the_axis,
}
