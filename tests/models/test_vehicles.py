"""Truck and car: counts of the book, closed loops in general position, symmetry of masses, static springs."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import models
from ocp_dyn._base.types import Array
from ocp_dyn.models import ClosedChain
from ocp_dyn.models.placed_bodies import box_inertia, rod_inertia, wheel_inertia
from tests.helpers import close, evaluate, flat

VEHICLES = {"heavy_truck": (33, 48, 18), "car": (25, 50, 15)}
"""Bodies, open-chain coordinates, degrees of freedom [GJB94, figures 8.20 and 8.23; 50: not in the book]."""


@cache
def vehicle(name: str) -> ClosedChain:
    return getattr(models, name)()  # type: ignore[no-any-return]


@cache
def general_positions(name: str) -> list[Array]:
    """Assembled configurations in general position: chassis, springs, steering and wheels turned."""
    chain = vehicle(name)
    phi = od.function(od.constraint_position, chain.model, chain.loops)
    G = od.function(od.constraint_jacobian, chain.model, chain.loops)
    rng, found = np.random.default_rng(5), []
    for _ in range(2):
        q = chain.model.integrate(DM(chain.q), DM(0.15 * rng.normal(size=chain.model.nv)))
        for _ in range(20):
            error = flat(phi(q))
            q = chain.model.integrate(q, DM(-np.linalg.lstsq(G(q).full(), error, rcond=1e-8)[0]))
        found.append(flat(q))
    return found


def test_inertias_of_shapes() -> None:
    """Against sums over many points of the shapes."""
    rng = np.random.default_rng(2)
    u = rng.uniform(-0.5, 0.5, (200_000, 3))
    box = u * [3.0, 0.5, 1.2]
    np.testing.assert_allclose(np.diag(box_inertia(3.0, 0.5, 1.2, 7.0)), inertia_of(box, 7.0), atol=0.03)
    start, end, mass = np.array([0.3, -0.2, 0.1]), np.array([0.7, 0.4, 0.3]), 60.0
    along = end - start
    length = np.linalg.norm(along)
    radius = np.sqrt(mass / (np.pi * 7850 * length))
    disc = 2 * u[:, 1:][np.hypot(u[:, 1], u[:, 2]) < 0.5] * radius
    across = np.linalg.svd(along[None])[2][1:]
    rod = np.outer(u[: len(disc), 0], along) + disc @ across
    np.testing.assert_allclose(rod_inertia(start, end, mass), inertia_of(rod, mass), atol=0.02)
    turn = rng.uniform(0, 2 * np.pi, len(u))
    ring = np.column_stack([np.cos(turn), 0.2 / 0.3 / np.sqrt(0.75) * u[:, 1], np.sin(turn)]) * 0.3 * np.sqrt(0.75)
    np.testing.assert_allclose(np.diag(wheel_inertia(0.3, 0.2, 18.0)), inertia_of(ring, 18.0), atol=0.01)


def inertia_of(points: Array, mass: float) -> Array:
    """The inertia of many equal masses about their center."""
    r = points - points.mean(axis=0)
    moments = mass / len(r) * r.T @ r
    return np.trace(moments) * np.eye(3) - moments


@pytest.mark.slow
@pytest.mark.parametrize("name", VEHICLES)
def test_counts(name: str) -> None:
    chain = vehicle(name)
    bodies, coordinates, freedoms = VEHICLES[name]
    assert (chain.model.nb, chain.model.nv) == (bodies, coordinates)
    assert chain.degrees_of_freedom() == freedoms
    G = od.function(od.constraint_jacobian, chain.model, chain.loops)
    phi = od.function(od.constraint_position, chain.model, chain.loops)
    assert np.abs(phi(chain.q).full()).max() < 1e-14
    for q in general_positions(name):
        assert np.abs(phi(q).full()).max() < 1e-12
        assert np.abs(q[7:] - chain.q[7:]).max() > 0.1
        values = np.linalg.svd(G(q).full(), compute_uv=False)
        rank = coordinates - freedoms
        assert values[rank - 1] > 0.02  # far from singular
        assert values[rank:].max(initial=0.0) < 1e-12


def test_joints_of_the_truck() -> None:
    chain = vehicle("heavy_truck")
    tree = Counter(type(joint).__name__ for joint in chain.model.joints[1:])
    assert tree == {"FloatingBase": 1, "Revolute": 23, "Spherical": 2, "Universal": 6, "Prismatic": 1}
    balls = [loop for loop in chain.loops if loop.axes == od.Loop("a", "b", "ball").axes]
    assert len(balls) == len(chain.loops) == 13
    assert tree["Spherical"] + len(balls) == 15


def test_joints_of_the_car() -> None:
    chain = vehicle("car")
    tree = Counter(type(joint).__name__ for joint in chain.model.joints[1:])
    assert tree == {"FloatingBase": 1, "Revolute": 7, "Spherical": 4, "Universal": 12, "Prismatic": 1}
    assert Counter(len(loop.axes) for loop in chain.loops) == {3: 10, 2: 2, 1: 1}


@pytest.mark.slow
def test_freedoms_of_the_car() -> None:
    """The wheels' hubs move vertically one by one, and the column steers both front wheels to the same side."""
    chain = vehicle("car")
    q = general_positions("car")[0]
    G = evaluate(od.constraint_jacobian, chain.model, chain.loops, args=[q])
    hubs = ["wheel_front_l", "wheel_front_r", "wheel_rear_l", "wheel_rear_r"]
    chassis = np.eye(6, chain.model.nv)
    up = np.vstack([evaluate(od.point_jacobian, chain.model, hub, args=[q])[2] for hub in hubs])
    names = list(chain.model.qd_names)
    column = names.index(next(n for n in names if n.startswith("steering_column")))
    spins = [names.index(next(n for n in names if n.startswith(hub))) for hub in hubs]
    rows = np.vstack([G, chassis, up, np.eye(chain.model.nv)[[column, *spins]]])
    assert np.linalg.matrix_rank(rows) == chain.model.nv  # these fifteen velocities determine all
    steer = np.linalg.solve(rows[_independent(rows)], np.eye(len(rows))[_independent(rows)][:, len(G) + 10])
    turn = [evaluate(od.point_jacobian_6d, chain.model, f"knuckle_{side}", args=[q])[2] @ steer for side in "lr"]
    assert turn[0] * turn[1] > 0


def _independent(rows: Array) -> list[int]:
    """Rows that are independent, from the first on."""
    kept: list[int] = []
    for k in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*kept, k]]) == len(kept) + 1:
            kept.append(k)
    return kept


@pytest.mark.slow
def test_chassis_of_the_truck_rolls_on_its_axles() -> None:
    """Every axle heaves, rolls and pitches against the chassis: three velocities that the loops leave free."""
    chain = vehicle("heavy_truck")
    q = general_positions("heavy_truck")[1]
    G = evaluate(od.constraint_jacobian, chain.model, chain.loops, args=[q])
    free = np.linalg.svd(G)[2][chain.model.nv - 18 :].T
    for axle in ("axle_front", "axle_rear"):
        J = evaluate(od.point_jacobian_6d, chain.model, axle, args=[q]) - evaluate(
            od.point_jacobian_6d, chain.model, "chassis", args=[q]
        )
        roll_pitch_heave = (J @ free)[[0, 1, 5]]
        assert np.linalg.svd(roll_pitch_heave, compute_uv=False)[-1] > 0.05


@pytest.mark.parametrize("name", VEHICLES)
@pytest.mark.slow
def test_masses_are_symmetric(name: str) -> None:
    chain = vehicle(name)
    model = chain.model
    masses = {"heavy_truck": 13785.0, "car": 1223.4}
    assert model.mass == pytest.approx(masses[name], rel=1e-12)
    center = evaluate(od.center_of_mass, model, args=[chain.q])
    names = [n for n in model.body_names if n.endswith("_l") and n != "wheel_l"]
    for left in names:
        right = left[:-1] + "r"
        one, other = (model.I[model.body_names.index(n) + 1] for n in (left, right))
        close(float(one.m), float(other.m))
        at = [evaluate(od.point_position, model, n, args=[chain.q]) for n in (left, right)]
        close(at[0], at[1] * [1, -1, 1], 1e-14)
        flip = np.diag([1.0, -1.0, 1.0])
        close(one.I.full(), flip @ other.I.full() @ flip, 1e-13)
    assert abs(center[1]) < 0.01  # steering gear and column are off the middle plane at most


@pytest.mark.parametrize("name", VEHICLES)
def test_wheels_stand_on_the_ground(name: str) -> None:
    chain = vehicle(name)
    radius = {"heavy_truck": 0.5, "car": 0.3}[name]
    for wheel in (n for n in chain.model.body_names if n.startswith("wheel")):
        assert evaluate(od.point_position, chain.model, wheel, args=[chain.q])[2] == pytest.approx(radius, rel=1e-12)


def stiffness_along(chain: ClosedChain, held: Array) -> float:
    """Second derivative of the springs' energy at q = 0 along the velocity v with G v = 0 and held v = (0, ..., 0,
    1)."""
    rows = np.vstack([evaluate(od.constraint_jacobian, chain.model, chain.loops, args=[chain.q]), held])
    v, *_ = np.linalg.lstsq(rows, np.eye(len(rows))[-1], rcond=1e-12)
    np.testing.assert_allclose(rows @ v, np.eye(len(rows))[-1], atol=1e-12)
    return float(v @ (chain.model.dofs.stiffness * v))


@pytest.mark.parametrize("axle", ["front", "rear"])
@pytest.mark.slow
def test_leaf_springs_of_the_truck(axle: str) -> None:
    chain = vehicle("heavy_truck")
    model = chain.model
    J = evaluate(od.point_jacobian_6d, model, f"axle_{axle}", args=[chain.q])
    heave = np.vstack([np.eye(6, model.nv), J[:3], J[5]])
    rate = {"front": 2.5e5, "rear": 4.5e5}[axle]
    assert stiffness_along(chain, heave) == pytest.approx(1.14 * 2 * rate, rel=0.01)
    roll = np.vstack([np.eye(6, model.nv), J[1:3], J[0]])
    # the springs are 0.9 m apart; the stabilizer bar adds to them
    assert stiffness_along(chain, roll) > rate * 0.9**2 / 2


@pytest.mark.slow
def test_springs_of_the_car() -> None:
    chain = vehicle("car")
    model = chain.model
    for end, rate in (("knuckle_l", 2.2e4), ("carrier_r", 2.4e4)):
        up = evaluate(od.point_jacobian, model, end, args=[chain.q])[2]
        names = list(model.qd_names)
        column = names.index(next(n for n in names if n.startswith("steering_column")))
        held = np.vstack([np.eye(6, model.nv), np.eye(model.nv)[column], up])
        assert stiffness_along(chain, held) == pytest.approx(rate, rel=1e-9)
