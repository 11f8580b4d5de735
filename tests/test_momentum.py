"""Mass centre, momentum, energy, zero-moment point: against sums over bodies and against each other."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from tests.helpers import TREES, State, add_random, close, evaluate, flat, rate_of, symbols, tree

every_tree = pytest.mark.parametrize("key", TREES)


def bodies(model: od.Model, s: State):
    """(m, com, velocity of it, angular velocity, inertia about it) of each body, in world axes."""
    q, qd = DM(s.q), DM(s.qd)
    for name, I in zip(model.body_names, model.I[1:], strict=True):
        m, c = float(I.m), flat(I.h) / float(I.m)
        R = od.pose(model, name, q)[0].full()
        V = flat(od.point_velocity_6d(model, name, q, qd, c))
        about_com = I.I.full() - m * (c @ c * np.eye(3) - np.outer(c, c))
        yield m, flat(od.point_position(model, name, q, c)), V[3:], V[:3], R @ about_com @ R.T


@every_tree
def test_sums_over_bodies(rng, key):
    model = tree(key)
    s = State.of(model, rng)
    q, qd = DM(s.q), DM(s.qd)
    parts = list(bodies(model, s))
    M = sum(m for m, *_ in parts)
    com = sum(m * c for m, c, *_ in parts) / M
    p = sum(m * v for m, _, v, *_ in parts)
    L = sum(np.cross(c, m * v) + I @ w for m, c, v, w, I in parts)
    T = sum(m * v @ v / 2 + w @ I @ w / 2 for m, _, v, w, I in parts)
    close(model.mass, M)
    close(od.center_of_mass(model, q), com)
    close(od.center_of_mass_velocity(model, q, qd), p / M)
    close(od.linear_momentum(model, q, qd), p)
    close(od.angular_momentum(model, q, qd), L)
    close(od.centroidal_momentum(model, q, qd), [*(L - np.cross(com, p)), *p])
    close(od.kinetic_energy(model, q, qd), T)
    close(od.potential_energy(model, q), -M * np.dot(model.gravity, com))


@every_tree
def test_rates(rng, key):
    """d(com)/dt, d(com_vel)/dt and d(h_com)/dt by AD along the motion."""
    model = tree(key)
    s = State.of(model, rng)
    q, qd, qdd = symbols(model)
    pairs = (
        (rate_of(od.center_of_mass(model, q), model, q, qd), od.center_of_mass_velocity(model, q, qd)),
        (rate_of(od.center_of_mass_velocity(model, q, qd), model, q, qd, qdd),
         od.center_of_mass_acceleration(model, q, qd, qdd)),
        (rate_of(od.centroidal_momentum(model, q, qd), model, q, qd, qdd),
         od.centroidal_momentum_rate(model, q, qd, qdd)),
    )  # fmt: skip
    for pair in pairs:
        close(*ca.Function("f", [q, qd, qdd], list(pair))(s.q, s.qd, s.qdd))


@pytest.mark.parametrize("key", [k for k in TREES if k.startswith("floating")])
def test_momentum_changes_by_external_wrenches_only(rng, key):
    """A free-floating tree, whatever its joints do: d(h_com)/dt = m g and the wrench, taken about the com."""
    model = tree(key)
    s = State.of(model, rng)
    s.tau[:6] = 0
    wrench = rng.normal(size=6)
    qdd = evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau, wrench), external=("b4",))
    com = flat(od.center_of_mass(model, DM(s.q)))
    expected = [*(wrench[:3] - np.cross(com, wrench[3:])), *(wrench[3:] + model.mass * np.array(model.gravity))]
    close(od.centroidal_momentum_rate(model, DM(s.q), DM(s.qd), DM(qdd)), expected)


def test_zero_moment_point_is_the_centre_of_pressure(rng):
    """A floating tree pushed by one vertical-plane force at a point of z = 0: the point comes back."""
    model = tree("floating")
    s = State.of(model, rng)
    s.tau[:6] = 0
    at, force = np.array([0.3, -0.7, 0.0]), np.array([4.0, -3.0, 200.0])
    twist = np.array([0, 0, 1.5])  # a moment about the vertical does not move the point
    wrench = np.concatenate([np.cross(at, force) + twist, force])
    qdd = evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau, wrench), external=("b1",))
    close(od.zero_moment_point(model, DM(s.q), DM(s.qd), DM(qdd)), at)


def test_merged_bodies_count_and_grounded_ones_do_not(rng):
    builder = od.ModelBuilder()
    builder.add_body("base", od.Fixed(), mass=100.0, com=(5, 5, 5))
    add_random(builder, "a", od.Revolute("x"), "base", rng)
    mass = builder.build().mass
    builder.add_body("lump", od.Fixed(), "a", mass=2.0, com=(0, 0, 1))
    model = builder.build()
    close(model.mass, mass + 2.0)
    assert mass < 3
    m, c = float(model.I[1].m), flat(model.I[1].h) / float(model.I[1].m)
    assert m == model.mass
    close(od.center_of_mass(model, DM([0.4])), od.point_position(model, "a", DM([0.4]), c))


def test_without_gravity_there_is_no_potential_energy():
    builder = od.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("a", od.Revolute("x"), mass=1, com=(0, 1, 0))
    model = builder.build()
    V = od.potential_energy(model, SX.sym("q"))
    assert isinstance(V, SX)
    assert V.nnz() == 0 or V.is_zero()
    assert od.gravity_force(model, SX.sym("q")).is_zero()


def test_a_model_without_mass_is_refused():
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("x"))
    model, x = builder.build(), DM([0.0])
    for call in (
        lambda: od.center_of_mass(model, x),
        lambda: od.center_of_mass_velocity(model, x, x),
        lambda: od.center_of_mass_acceleration(model, x, x, x),
    ):
        with pytest.raises(ValueError, match="has no mass, so no centre of mass"):
            call()
