"""What holds for every mechanism, on two hundred random trees of every kind of joint.

A kind at a time first, then trees of two to five bodies, from chains to stars, of joints drawn from a few kinds each.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn import joints
from ocp_dyn.joints import EULER_ORDERS
from ocp_dyn.spatial_algebra.rotations import rotation_about
from tests.helpers import State, close, flat, knee

MODELS = 200
SEED = 6
"""One for which no two of the trees have the same parents and kinds of joints."""
SIZES = (3, 2, 4, 3, 3, 2, 3, 5, 3, 4)
BRANCHING = (1.0, 1.4, 2.0, 3.0, np.inf)


def vector(rng: np.random.Generator, size: int = 3) -> np.ndarray:
    return rng.normal(size=size)


def axes(rng: np.random.Generator) -> list[np.ndarray]:
    """Two to four axes of which at most two turn, two slide and one does both: independent of each other."""
    turn, slide, screw = (1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1), (1, 1, 1, 1, 1, 1)
    menu = rng.permutation((turn, turn, slide, slide, screw))
    return [mask * vector(rng, 6) for mask in menu[: rng.integers(2, 5)]]


def cam(rng: np.random.Generator) -> od.CustomJoint:
    """Turns about one axis while it slides along a curve, with random gains."""
    a, b, c = rng.uniform(0.2, 0.6, 3)

    def place(q: object) -> od.Transform:
        return od.Transform(rotation_about((0.6, 0.0, 0.8), q).T, ca.vertcat(a * ca.sin(q), b * q, c * q * q))

    return od.CustomJoint(place)


Kind = Callable[[np.random.Generator], od.Joint]
KINDS: dict[str, Kind] = {
    "revolute": lambda rng: od.Revolute("z" if rng.random() < 0.3 else vector(rng)),
    "prismatic": lambda rng: od.Prismatic(vector(rng)),
    "helical": lambda rng: od.Helical(vector(rng), 0.2) if rng.random() < 0.3 else od.Helical(vector(rng, 6)),
    "cylindrical": lambda rng: od.Cylindrical(vector(rng)),
    "universal": lambda rng: od.Universal(vector(rng), vector(rng)),
    "translation": lambda rng: od.Translation(),
    "planar": lambda rng: od.Planar(),
    "spherical": lambda rng: od.Spherical(),
    "axes": lambda rng: od.MultiDof(axes(rng)),
    "knee": lambda rng: od.CustomJoint(knee, ("flexion", "slide")),
    "cam": cam,
    "floating": lambda rng: od.FloatingBase(),
    **{f"euler {order}": lambda rng, order=order: od.Euler(order) for order in EULER_ORDERS},
    **{f"floating {order}": lambda rng, order=order: od.FloatingBase(f"euler_{order}") for order in EULER_ORDERS},
}


@cache
def model(k: int) -> od.Model:
    """The k-th model: every kind alone, then trees."""
    rng = np.random.default_rng((SEED, k))
    if k < len(KINDS):
        chosen, n = [list(KINDS)[k]], 1
    else:
        chosen, n = list(rng.choice(list(KINDS), 5, replace=False)), SIZES[k % 10]
    tree = od.random_tree(n, BRANCHING[k % 7 % 5], [KINDS[name](rng) for name in chosen], rng)
    return tree.with_gravity(3 * vector(rng))


class Functions(NamedTuple):
    """What is evaluated at several states, as functions that take a state per column."""

    ID: ca.Function
    motion: ca.Function
    """T, V, (R, p) of the contact's point, its velocity."""

    @staticmethod
    def of(tree: od.Model, contact: od.Contact) -> Functions:
        q, qd, qdd = SX.sym("q", tree.nq), SX.sym("qd", tree.nv), SX.sym("qdd", tree.nv)
        R, p = od.pose(tree, contact.body, q)
        placed = ca.vertcat(ca.vec(R), p + R @ ca.DM(contact.point))
        energies = od.kinetic_energy(tree, q, qd), od.potential_energy(tree, q)
        velocity = od.constraint_jacobian(tree, (contact,), q) @ qd
        return Functions(
            ca.Function("ID", [q, qd, qdd], [od.inverse_dynamics(tree, q, qd, qdd)]),
            ca.Function("motion", [q, qd], [*energies, placed, velocity]),
        )


STEP = 4e-3
STENCIL = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * STEP)
"""d/dt by seven points in steps of STEP: truncation STEP^6/140 of the seventh derivative."""


def rates(tree: od.Model, f: ca.Function, s: State) -> list[np.ndarray]:
    """d/dt at t = 0 of the outputs of f(q, qd), at q = integrate(q, t qd) and qd + t qdd."""
    times = STEP * np.arange(-3, 4)
    q = np.column_stack([flat(tree.integrate(s.q, t * s.qd)) for t in times])
    qd = s.qd[:, None] + s.qdd[:, None] * times
    return [y.full() @ STENCIL for y in f.call([ca.DM(q), ca.DM(qd)])]


@pytest.mark.parametrize("k", range(MODELS))
@pytest.mark.slow
def test_what_holds_for_every_mechanism(k):
    """H, ID, FD, H^-1, `reduce`, energies, motion of a point: each against the others, at a random state."""
    tree, rng = model(k), np.random.default_rng(k)
    s = State.of(tree, rng)
    s.qd, s.qdd = s.qd / 2, s.qdd / 2
    contact = od.Contact(tree.body_names[-1], rng.uniform(-0.3, 0.3, 3))
    f = Functions.of(tree, contact)
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    unit = np.eye(tree.nv)

    H = od.mass_matrix(tree, q).full()
    np.linalg.cholesky(H)  # raises unless positive definite
    assert np.array_equal(H, H.T)
    tau, C = flat(f.ID(s.q, s.qd, s.qdd)), flat(f.ID(s.q, s.qd, 0 * s.qdd))
    close(f.ID(s.q, s.qd, unit).full() - C[:, None], H)
    close(tau, H @ s.qdd + C)

    inverse = 1e-11 + 1e-13 * np.linalg.cond(H)  # what a solve with H makes of rounding
    close(od.forward_dynamics(tree, q, qd, ca.DM(tau)), s.qdd, inverse)
    close(od.mass_matrix_inverse_product(tree, q, ca.DM(H)), unit, inverse)

    close(od.inverse_dynamics(od.reduce(tree), q, qd, ca.DM(s.qdd)), tau)

    T, V, (*pose, _, _, _), velocity = (flat(y) for y in f.motion(s.q, s.qd))
    close(T, s.qd @ H @ s.qd / 2)
    Td, Vd, pose_d, _ = rates(tree, f.motion, s)
    scale = 1 + abs(T[0]) + abs(V[0])
    close((Td + Vd) / scale, s.qd @ tau / scale)  # a difference of energies: their rounding counts
    spin = pose_d[:9].reshape(3, 3).T @ np.reshape(pose, (3, 3))
    close([spin[2, 1], spin[0, 2], spin[1, 0]], velocity[:3])
    close(pose_d[9:], velocity[3:])
    s.qdd = np.zeros(tree.nv)
    close(rates(tree, f.motion, s)[3], -flat(od.constraint_hessian(tree, (contact,), q, qd)))


def signature(tree: od.Model) -> tuple[object, ...]:
    """What makes a tree different from others beside its numbers: parents and kinds of joints."""
    return tree.parent, tuple(
        (type(j).__name__, getattr(j, "order", getattr(j, "rotation", "")), j.nv) for j in tree.joints[1:]
    )


@pytest.mark.slow  # as are the tests that use them
def test_the_models_differ_and_hold_every_kind_of_joint():
    trees = [model(k) for k in range(MODELS)]
    assert len({signature(tree) for tree in trees}) == MODELS
    assert {tree.nb for tree in trees} == set(range(1, 6))
    assert len({tree.parent for tree in trees}) > 15
    assert max(max(tree.parent.count(i) for i in range(tree.nb + 1)) for tree in trees) >= 4
    count = Counter(type(joint) for tree in trees for joint in tree.joints[1:])
    every = {
        kind
        for kind in vars(joints).values()
        if inspect.isclass(kind) and issubclass(kind, od.Joint) and not inspect.isabstract(kind)
    }
    assert count.keys() == every - {od.Fixed}
    assert min(count.values()) >= 15
    rotations = Counter(j.rotation for tree in trees for j in tree.joints if isinstance(j, od.FloatingBase))
    assert rotations.keys() == {"quaternion", *(f"euler_{order}" for order in EULER_ORDERS)}
