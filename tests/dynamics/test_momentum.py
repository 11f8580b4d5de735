"""Mass center, momentum, energy, zero-moment point: against sums over bodies and against each other."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from tests.helpers import (
    QUICK_TREES,
    TREES,
    State,
    add_random,
    close,
    evaluate,
    flat,
    mostly_slow,
    rate_of,
    symbols,
    tree,
)

every_tree = mostly_slow("key", TREES, QUICK_TREES)


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
@pytest.mark.slow
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
@pytest.mark.slow
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


@pytest.mark.parametrize("key", ["floating"])
def test_momentum_changes_by_external_wrenches_only(rng, key):
    """A free-floating tree, whatever its joints do: d(h_com)/dt = m g and the wrench, taken about the com."""
    model = tree(key)
    s = State.of(model, rng)
    s.tau[:6] = 0
    wrench = rng.normal(size=6)
    qdd = evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau, wrench), loads=od.Loads(external=("b4",)))
    com = flat(od.center_of_mass(model, DM(s.q)))
    expected = [*(wrench[:3] - np.cross(com, wrench[3:])), *(wrench[3:] + model.mass * np.array(model.gravity))]
    close(od.centroidal_momentum_rate(model, DM(s.q), DM(s.qd), DM(qdd)), expected)


def test_zero_moment_point_is_the_center_of_pressure(rng):
    """A floating tree pushed by one vertical-plane force at a point of z = 0: the point comes back."""
    model = tree("floating")
    s = State.of(model, rng)
    s.tau[:6] = 0
    at, force = np.array([0.3, -0.7, 0.0]), np.array([4.0, -3.0, 200.0])
    twist = np.array([0, 0, 1.5])  # a moment about the vertical does not move the point
    wrench = np.concatenate([np.cross(at, force) + twist, force])
    qdd = evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau, wrench), loads=od.Loads(external=("b1",)))
    close(od.zero_moment_point(model, DM(s.q), DM(s.qd), DM(qdd)), at)


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -3), (0.3, -0.2, 0.9)])
def test_center_of_pressure_on_any_plane(rng, normal):
    """A force at a point of a plane, and a moment along its normal: the point comes back, from wrench and motion."""
    model = tree("floating")
    s = State.of(model, rng)
    s.tau[:6] = 0
    normal = np.array(normal, dtype=float)
    at, force = rng.normal(size=3), np.array([4.0, -3.0, 200.0])
    inside = at + np.cross(normal, rng.normal(size=3))  # another point of the plane
    wrench = np.concatenate([np.cross(at, force) + 1.5 * normal, force])
    close(od.center_of_pressure(DM(wrench), point=inside, normal=normal), at)
    qdd = evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau, wrench), loads=od.Loads(external=("b1",)))
    close(od.zero_moment_point(model, DM(s.q), DM(s.qd), DM(qdd), point=inside, normal=normal), at, 1e-9)
    # as ill-conditioned as the accelerations of a light mechanism under 200 N


def test_a_plane_needs_a_normal():
    with pytest.raises(ValueError, match="normal of the plane must not be zero"):
        od.center_of_pressure(DM.ones(6), normal=(0, 0, 0))


@every_tree
@pytest.mark.slow
def test_momentum_matrices(rng, key):
    """h = A qd, d(h_com)/dt = A_G qdd + bias, d(com)/dt = J_com qd; M J_com is the linear half of A_G."""
    model = tree(key)
    s = State.of(model, rng)
    q, qd, qdd = DM(s.q), DM(s.qd), DM(s.qdd)
    A_G = od.centroidal_momentum_matrix(model, q)
    close(od.momentum_matrix(model, q) @ qd, od.momentum(model, q, qd))
    close(A_G @ qd, od.centroidal_momentum(model, q, qd))
    rate = od.centroidal_momentum_rate(model, q, qd, qdd)
    close(A_G @ qdd + od.centroidal_momentum_bias(model, q, qd), rate)
    J = od.center_of_mass_jacobian(model, q)
    close(J @ qd, od.center_of_mass_velocity(model, q, qd))
    close(model.mass * J, A_G[3:, :])


def test_power_and_work_of_joints():
    """A torque of 2 N m at the rate sin(t): P = 2 sin(t), work of +4 J and -4 J over a turn."""
    model = tree("chain")
    t = np.linspace(0, 2 * np.pi, 2001)
    qd = np.zeros((model.nv, t.size))
    tau = np.zeros_like(qd)
    qd[1], tau[1] = np.sin(t), 2.0
    close(od.joint_power(model, DM(qd), DM(tau))[1, :].T, 2 * np.sin(t))
    done, absorbed = od.joint_work(model, t, DM(qd), DM(tau))
    close(done, [0, 4, 0, 0], 1e-5)  # the trapezoidal rule: the square of the step
    close(absorbed, [0, -4, 0, 0], 1e-5)
    for times in (t[::-1], np.sort([*t[:-1], t[0]])):  # backwards, and one time twice
        with pytest.raises(ValueError, match="t must hold N increasing times"):
            od.joint_work(model, times, DM(qd), DM(tau))


def test_work_over_uneven_steps_is_the_area_under_the_power():
    """Trapezia of 0.5 s between 2 and 4 W and of 1 s between 4 and 0 W; the other joint takes all of it."""
    model = tree("chain")
    power = np.array([[2.0, 4, 0], [-2, -4, 0], [0, 0, 0], [0, 0, 0]])
    done, absorbed = od.joint_work(model, (0, 0.5, 1.5), DM.ones(4, 3), DM(power))
    close(done, [3.5, 0, 0, 0])
    close(absorbed, [0, -3.5, 0, 0])


def test_the_power_of_the_joints_is_the_rate_of_energy(rng):
    model = tree("forest")
    s = State.of(model, rng)
    q, qd, qdd = symbols(model)
    E = od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)
    rate = ca.Function("f", [q, qd, qdd], [rate_of(E, model, q, qd, qdd)])(s.q, s.qd, s.qdd)
    tau = evaluate(od.inverse_dynamics, model, args=(s.q, s.qd, s.qdd))
    close(ca.sum1(od.joint_power(model, DM(s.qd), DM(tau))), rate)


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
        with pytest.raises(ValueError, match="has no mass, so no center of mass"):
            call()


@every_tree
@pytest.mark.slow
def test_rates_of_the_momentum_matrices(rng, key):
    """dA_O/dt and dA_G/dt entry by entry against automatic differentiation; times qd, the bias."""
    model, s = tree(key), State.of(tree(key), rng)
    q, qd, _ = symbols(model)
    A_O, A_G = od.momentum_matrix(model, q), od.centroidal_momentum_matrix(model, q)
    f = ca.Function("f", [q, qd], [rate_of(A_O, model, q, qd), rate_of(A_G, model, q, qd)])
    expected_O, expected_G = f(s.q, s.qd)
    close(od.momentum_matrix_dot(model, s.q, s.qd), expected_O)
    close(od.centroidal_momentum_matrix_dot(model, s.q, s.qd), expected_G)
    found = evaluate(od.centroidal_momentum_matrix_dot, model, args=(s.q, s.qd))
    close(found, expected_G)
    close(found @ s.qd, od.centroidal_momentum_bias(model, s.q, s.qd))
