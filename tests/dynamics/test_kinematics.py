"""Poses, velocities, accelerations, Jacobians: each is the time derivative of the one before it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.dynamics.kinematics import body_motion, body_transforms
from ocp_dyn.dynamics.recursions import without_drift
from ocp_dyn.spatial_algebra.spatial import skew
from tests.helpers import QUICK_TREES, TREES, State, add_random, close, mostly_slow, rate_of, symbols, tree

every_tree = mostly_slow("key", TREES, QUICK_TREES)
POINT = (0.2, -0.4, 0.3)


@every_tree
@pytest.mark.slow
def test_velocity_is_the_rate_of_the_pose(rng, key):
    """d(p)/dt = v and d(R)/dt = omega x R, with dq/dt = q_dot."""
    model = tree(key)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    for name in model.body_names:
        R, _ = od.pose(model, name, q)
        V = od.point_velocity_6d(model, name, q, qd, POINT)
        turning = rate_of(R, model, q, qd) - skew(V[:3]) @ R
        going = rate_of(od.point_position(model, name, q, POINT), model, q, qd) - V[3:]
        for residual in ca.Function("f", [q, qd], [turning, going])(s.q, s.qd):
            close(residual, np.zeros(residual.shape))


@every_tree
@pytest.mark.slow
def test_acceleration_is_the_rate_of_the_velocity(rng, key):
    model = tree(key)
    q, qd, qdd = symbols(model)
    s = State.of(model, rng)
    for name in model.body_names:
        V = od.point_velocity_6d(model, name, q, qd, POINT)
        A = od.point_acceleration_6d(model, name, q, qd, qdd, POINT)
        A0 = od.point_acceleration_6d(model, name, q, qd, point=POINT)
        f = ca.Function("f", [q, qd, qdd], [A, rate_of(V, model, q, qd, qdd), A0])
        A, expected, A0 = f(s.q, s.qd, s.qdd)
        close(A, expected)
        close(A0, f(s.q, s.qd, 0 * s.qdd)[0])


@every_tree
@pytest.mark.slow
def test_jacobian_gives_the_velocity_and_is_zero_outside_the_path(rng, key):
    model = tree(key)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    for i, name in enumerate(model.body_names, 1):
        J = od.point_jacobian_6d(model, name, q, POINT)
        V = od.point_velocity_6d(model, name, q, qd, POINT)
        f = ca.Function("f", [q, qd], [J @ qd - V, J[3:, :] - od.point_jacobian(model, name, q, POINT)])
        for residual in f(s.q, s.qd):
            close(residual, np.zeros(residual.shape))
        on_path = {k for j in model.path(i) for k in model.dofs_of(j)}
        assert set(J.sparsity().get_col()) == on_path


@every_tree
def test_parts_of_the_six_dimensional_quantities(rng, key):
    model = tree(key)
    s = State.of(model, rng)
    q, qd, qdd = DM(s.q), DM(s.qd), DM(s.qdd)
    name = model.body_names[-1]
    close(od.point_velocity(model, name, q, qd, POINT), od.point_velocity_6d(model, name, q, qd, POINT)[3:])
    a6 = od.point_acceleration_6d(model, name, q, qd, qdd, POINT)
    close(od.point_acceleration(model, name, q, qd, qdd, POINT), a6[3:])
    R, p = od.pose(model, name, q)
    close(od.point_position(model, name, q, POINT), p + R @ DM(POINT))
    X0 = body_transforms(model, q)[-1]
    close(X0.E.T, R)
    close(body_motion(model, model.nb, q, qd).X0.r, p)


def test_merged_frames_move_with_their_body(rng):
    builder = od.ModelBuilder()
    add_random(builder, "a", od.FloatingBase(), "world", rng)
    add_random(builder, "b", od.Fixed(), "a", rng)
    model = builder.build()
    s = State.of(model, rng)
    q, qd, qdd = DM(s.q), DM(s.qd), DM(s.qdd)
    X = model.frame("b").X
    inner = X.point(DM(POINT))
    for f, args in (
        (od.point_position, (q,)),
        (od.point_velocity_6d, (q, qd)),
        (od.point_acceleration_6d, (q, qd, qdd)),
        (od.point_jacobian_6d, (q,)),
    ):
        close(f(model, "b", *args, POINT), f(model, "a", *args, inner))
    close(od.pose(model, "b", q)[0], od.pose(model, "a", q)[0] @ X.E.T)


@pytest.mark.parametrize("kind", [DM, SX, MX])
def test_frames_on_the_ground_stand_still_and_keep_the_type(kind):
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute())
    builder.add_frame("wall", "world", origin=(1, 2, 3))
    model = builder.build()
    q, qd = kind(1, 1), kind(1, 1)
    R, p = od.pose(model, "wall", q)
    results = (
        R, p, od.point_position(model, "wall", q), od.point_velocity_6d(model, "wall", q, qd),
        od.point_acceleration_6d(model, "wall", q, qd), od.point_jacobian_6d(model, "wall", q),
    )  # fmt: skip
    assert all(isinstance(x, kind) for x in results)
    assert results[-1].nnz() == 0
    for x, expected in ((p, [1, 2, 3]), (results[2], [1, 2, 3]), (results[3], np.zeros(6)), (results[4], np.zeros(6))):
        close(x if kind is DM else ca.evalf(x), expected)


@pytest.mark.parametrize("key", QUICK_TREES)
@pytest.mark.slow
def test_numbers_and_symbols_mix(rng, key):
    """Numbers for q with symbols for qd, and the other way: as if all were symbols."""
    model = tree(key)
    q, qd, qdd = symbols(model)
    s = State.of(model, rng)
    p = SX.sym("p", 3)
    for f in (
        lambda q, qd, qdd: od.point_acceleration(model, "b2", q, qd, qdd, POINT),
        lambda q, qd, qdd: od.point_velocity(model, "b2", q, qd, POINT),
        lambda q, qd, qdd: od.inverse_dynamics(model, q, qd, qdd),
        lambda q, qd, qdd: od.forward_dynamics(model, q, qd, qdd),
        lambda q, qd, qdd: od.forward_dynamics_crba(model, q, qd, qdd),
        lambda q, qd, qdd: od.kinetic_energy(model, q, qd),
        lambda q, qd, qdd: od.centroidal_momentum_rate(model, q, qd, qdd),
        lambda q, qd, qdd: od.constrained_dynamics(model, od.Contact("b2", axes="x"), q, qd, qdd)[0],
        lambda q, qd, qdd: od.impact(model, od.Contact("b2", axes="x"), q, qd)[0],
    ):
        expected = f(DM(s.q), DM(s.qd), DM(s.qdd))
        close(ca.Function("f", [qd, qdd], [f(DM(s.q), qd, qdd)])(s.qd, s.qdd), expected)
        close(ca.Function("f", [q], [f(q, DM(s.qd), DM(s.qdd))])(s.q), expected)
    J = ca.Function("f", [p], [od.point_jacobian_6d(model, "b2", DM(s.q), p)])(POINT)
    close(J, od.point_jacobian_6d(model, "b2", DM(s.q), POINT))


@every_tree
@pytest.mark.slow
def test_jacobian_rate(rng, key):
    """dJ/dt by AD along the motion, and dJ/dt qd the acceleration at qdd = 0."""
    model = tree(key)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    for name in (model.body_names[0], model.body_names[-1]):
        J, rate = od.point_jacobian_6d(model, name, q, POINT), od.point_jacobian_dot_6d(model, name, q, qd, POINT)
        close(*ca.Function("f", [q, qd], [rate_of(ca.densify(J), model, q, qd), rate])(s.q, s.qd))
        rate = od.point_jacobian_dot_6d(model, name, DM(s.q), DM(s.qd), POINT)
        close(rate @ s.qd, od.point_acceleration_6d(model, name, DM(s.q), DM(s.qd), point=POINT))
        close(od.point_jacobian_dot(model, name, DM(s.q), DM(s.qd), POINT), rate[3:, :])


def test_symbols_in_a_custom_joint_stay():
    """A ramp whose rise is a parameter: poses and Jacobians are expressions of it."""
    rise, q = SX.sym("rise"), SX.sym("q")
    builder = od.ModelBuilder("ramp")
    along = od.CustomJoint(lambda q: od.Transform(DM.eye(3), ca.vertcat(q[0], 0, rise * q[0])))
    builder.add_body("block", along, mass=1, inertia=(1, 1, 1))
    model = builder.build()
    for _ in range(2):  # what was traced once is found the second time
        found = [od.point_position(model, "block", q), od.point_jacobian(model, "block", q)]
        place, J = ca.Function("found", [q, rise], found)(2.0, 0.5)
        close(np.array(place.full()), [[2.0], [0.0], [1.0]])
        close(np.array(J.full()), [[1.0], [0.0], [0.5]])


def test_points_and_frames_are_checked():
    model, other = (tree("star").with_frame("tip", "b1", (0, 0, z)) for z in (1.0, 2.0))
    q = DM(model.neutral())
    with pytest.raises(ValueError, match="belongs to another model than <Model 'star'"):
        od.point_position(model, other.frame("tip"), q)
    with pytest.raises(KeyError, match="no frame 'hand'; frames are: b1, b2"):
        od.pose(model, "hand", q)
    with pytest.raises(TypeError, match=r"a frame of the model .* or its name is needed, got 3"):
        od.pose(model, 3, q)
    with pytest.raises(ValueError, match="a point must be 3 finite numbers"):
        od.point_position(model, "b1", q, (1, 2))
    with pytest.raises(ValueError, match=r"a point must be 3x1, got shape \(2, 1\)"):
        od.point_position(model, "b1", q, DM([1, 2]))


@pytest.mark.slow
def test_a_uniform_motion_of_the_ground_drops_out(rng):
    """Rates of first translations are taken out of qd where they are no more than a common velocity, and there only."""
    builder = od.ModelBuilder()
    for name, joint, parent in (
        ("slide", od.Prismatic("x"), "world"), ("cross", od.Prismatic("y"), "slide"),
        ("arm", od.Revolute("z"), "cross"),
        ("rod", od.Prismatic("z"), "arm"), ("free", od.FloatingBase(), "world"), ("puck", od.Planar(), "slide"),
        ("crane", od.MultiDof([(0, 0, 0, 0, 0, 1), (0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)]), "slide"),
    ):  # fmt: skip
        add_random(builder, name, joint, parent, rng)
    model = builder.build()
    kept = without_drift(model, SX.sym("qd", model.nv))
    drifting = [name for k, name in enumerate(model.qd_names) if kept[k].nnz() == 0]
    assert drifting == [
        "slide_joint", "cross_joint", "free_joint.x", "free_joint.y", "free_joint.z", "puck_joint.x", "puck_joint.y",
        "crane_joint.q0",
    ]  # fmt: skip
    s = State.of(model, rng)
    other = s.qd.copy()
    other[[model.qd_names.index(name) for name in drifting]] += 10 * rng.normal(size=len(drifting))
    C = od.function(od.bias_force, model, reduce=False)
    close(C(s.q, other), C(s.q, s.qd))
    T = od.function(od.kinetic_energy, model)
    assert abs(float(T(s.q, other) - T(s.q, s.qd))) > 1e-3


def test_poses_follow_a_configuration_whose_entries_are_replaced():
    """Poses of the last configurations are kept; a column of symbols may be changed in place."""
    model, q = od.models.pendulum(2), SX.sym("q", 2)
    before = od.point_position(model, model.body_names[-1], q)
    other = SX.sym("other")
    q[0] = other
    after = od.point_position(model, model.body_names[-1], q)
    names = [{str(x) for x in ca.symvar(place)} for place in (before, after)]
    assert "other" not in names[0]
    assert "other" in names[1]
