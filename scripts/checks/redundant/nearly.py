"""Random constraint sets with rows that depend on others but for a small remainder, and the laws that they obey."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from casadi import DM

import ocp_dyn as od

from .comparison import SOLVERS, column, number
from .sets import Array, Set, add, direction, rotation

LIMIT = 1e-8
"""Remainder of a row, relative to its terms, at which rows stop being independent; the tolerance of all laws."""


def free_body(rng: np.random.Generator, *limbs: int) -> od.ModelBuilder:
    """A floating body with limbs of so many joints about random axes; limb k ends with the body f"{k}.{n - 1}"."""
    builder = od.ModelBuilder("body", gravity=9.81 * direction(rng))
    add(builder, "body", od.FloatingBase(), "world", rng)
    for k, joints in enumerate(limbs):
        parent = "body"
        for j in range(joints):
            add(builder, f"{k}.{j}", od.Revolute(direction(rng)), parent, rng, origin=rng.normal(size=3) * 0.4)
            parent = f"{k}.{j}"
    return builder


def nearly_in_plane(rng: np.random.Generator, remainder: float) -> list[tuple[float, ...]]:
    """Three directions, the third a combination of the others but for its part normal to them."""
    a, b = direction(rng), direction(rng)
    normal = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    third = rng.normal() * a + rng.normal() * b
    return [tuple(a), tuple(b), tuple(third / np.linalg.norm(third) + remainder * normal)]


def skew_axes(rng: np.random.Generator, remainder: float) -> Set:
    """Nearly dependent directions at one point of a free body, another point of which is held."""
    model = free_body(rng, 2).build()
    at = [tuple(rng.normal(size=3)) for _ in range(2)]
    body = ("body", "0.1")[rng.integers(2)]
    return Set(model, (od.Contact(body, at[0], nearly_in_plane(rng, remainder)), od.Contact(body, at[1])),
               model.random_q(rng))  # fmt: skip


def near_points(rng: np.random.Generator, remainder: float) -> Set:
    """Points of a sole, two of them so close that the second adds nothing but the remainder."""
    model = free_body(rng, 3).build()
    p, r = rng.normal(size=3), rng.normal(size=3)
    points = [p, p + remainder * direction(rng), r, rng.normal(size=3)][: rng.integers(2, 5)]
    return Set(model, tuple(od.Contact("0.2", tuple(x), "xyz") for x in points), model.random_q(rng))


def points_in_line(rng: np.random.Generator, remainder: float) -> Set:
    """Three points of a body that lie in a line but for the remainder: they hold it against turning about the line."""
    model = free_body(rng, 3).build()
    p, along = rng.normal(size=3), direction(rng)
    points = [p, p + along, p + 0.4 * along + remainder * np.cross(along, direction(rng))]
    return Set(model, tuple(od.Contact("body", tuple(x), "xyz") for x in points), model.random_q(rng))


def stretched_arm(rng: np.random.Generator, remainder: float) -> Set:
    """An arm of three joints on the ground, its tip held: it is stretched but for an angle."""
    builder = od.ModelBuilder("arm", gravity=9.81 * direction(rng))
    add(builder, "a", od.Revolute("x"), "world", rng, origin=rng.normal(size=3), rotation=rotation(rng))
    add(builder, "b", od.Revolute("y"), "a", rng)
    add(builder, "c", od.Revolute("y"), "b", rng, origin=np.array((0, 0, 0.7)))
    model = builder.build()
    q = np.array((rng.normal(), rng.normal(), remainder))
    return Set(model, (od.Contact("c", (0, 0, rng.uniform(0.3, 1)), [tuple(r) for r in rotation(rng)]),), q)


def gears(rng: np.random.Generator, remainder: float) -> Set:
    """Couplings around a circle of joints, whose ratios multiply to 1 but for the remainder."""
    model = free_body(rng, 3).build()
    names, (u, v) = [f"0.{k}_joint" for k in range(3)], rng.normal(size=2)
    couplings = [od.JointCoupling(b, a, r) for (a, b), r in zip(pairwise(names), (u, v), strict=True)]
    return Set(model, (*couplings, od.JointCoupling(names[2], names[0], u * v + remainder)), model.random_q(rng))


def loop_rows(rng: np.random.Generator, remainder: float) -> Set:
    """A loop between two limbs with nearly dependent axes, and a contact."""
    model = free_body(rng, 3, 3).build()
    rows = rng.normal(size=(2, 6))
    third = rng.normal(size=2) @ rows + remainder * rng.normal(size=6)
    q, axes = model.random_q(rng), [tuple(r) for r in (*rows, third)]
    poses = [tuple(np.array(x.full()) for x in od.pose(model, end, DM(q))) for end in ("0.2", "1.2")]
    frames = [(R.T, R.T @ (-p.ravel())) for R, p in poses]
    return Set(model, (od.Loop("0.2", "1.2", axes, *frames), od.Contact("body", axes="x")), q)


def nested_contacts(rng: np.random.Generator, remainder: float) -> Set:
    """Contacts with a shank and with its foot, whose two joints are parallel but for the remainder: one row too
    many."""
    builder = free_body(rng, 2)
    axis = direction(rng)
    add(builder, "foot", od.Revolute(axis), "0.1", rng)
    add(builder, "toe", od.Revolute(axis + remainder * direction(rng)), "foot", rng)
    model = builder.build()
    return Set(model, (od.Contact("0.1"), od.Contact("toe", axes=nearly_in_plane(rng, remainder))), model.random_q(rng))


NEARLY: dict[str, Callable[[np.random.Generator, float], Set]] = {
    made.__name__.replace("_", " "): made
    for made in (skew_axes, near_points, points_in_line, stretched_arm, gears, loop_rows, nested_contacts)
}


def shuffled(given: Set, rng: np.random.Generator) -> Set:
    """The same rows in another order: of the constraints, and of the directions of contacts."""
    members = []
    for k in rng.permutation(len(given.constraints)):
        member = given.constraints[k]
        if isinstance(member, od.Contact) and member.axes is not None:
            member = od.Contact(member.body, member.point, [member.axes[i] for i in rng.permutation(len(member.axes))])
        elif isinstance(member, od.Loop):
            order = rng.permutation(len(member.axes))
            member = od.Loop(member.predecessor, member.successor, [member.axes[i] for i in order],
                             member.predecessor_pose, member.successor_pose)  # fmt: skip
        members.append(member)
    return given._replace(constraints=tuple(members))


def left(rows: Array, x: Array, wanted: Array, terms: Array, size: float) -> float:
    """Largest violation of rows x = wanted, relative to the terms of motions of a size."""
    return float(np.max(np.abs(rows @ x - wanted) / (np.linalg.norm(terms, axis=1) * size + np.abs(wanted))))


def obey(seed: int, solvers: tuple[str, ...] = SOLVERS) -> tuple[str, float, dict[str, float]]:
    """Kind of the set of a seed, its remainder, and the worst errors: of rows after an impact and of accelerations,
    and of motions in another order, relative to the motion without constraints."""
    rng = np.random.default_rng(seed)
    kind = list(NEARLY)[seed % len(NEARLY)]
    remainder = 10.0 ** rng.uniform(-16, 0)
    given = NEARLY[kind](rng, remainder)
    model, at = given.model, DM(given.q)
    before, tau = rng.normal(size=model.nv), DM(rng.normal(size=model.nv))
    worst: dict[str, float] = {"G qd+": 0.0, "G qdd": 0.0, "order": 0.0}
    sets = [given, *(shuffled(given, rng) for _ in range(3))]
    for solver in solvers:
        motions = []
        for _, members, _ in sets:
            G = number(od.constraint_jacobian(model, members, at))
            terms = number(od.constraints.constraint_magnitudes(model, members, at))
            after = column(od.impact(model, members, at, DM(before), solver=solver)[0])
            qd = DM((0 if kind == "stretched arm" else 0.3) * after)  # keeps the rows; a turning arm cannot be held
            qdd = column(od.constrained_dynamics(model, members, at, qd, tau, solver=solver)[0])
            gamma = column(od.constraint_hessian(model, members, at, qd))
            size = np.linalg.norm(before), np.linalg.norm(qdd) + 1
            worst["G qd+"] = max(worst["G qd+"], left(G, after, 0 * gamma, terms, size[0]))
            worst["G qdd"] = max(worst["G qdd"], left(G, qdd, gamma, terms, size[1]))
            motions.append((after, qdd))
        for other in motions[1:]:
            apart = [np.linalg.norm(x - y) / s for x, y, s in zip(motions[0], other, size, strict=True)]
            worst["order"] = max(worst["order"], *apart)
    return kind, remainder, worst
