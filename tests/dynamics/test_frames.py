"""Frames as spatial vectors in three references: each is the rate of the one before it; all poses at once."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.spatial_algebra.spatial import Transform, halves
from tests.helpers import QUICK_TREES, TREES, State, close, evaluate, flat, mostly_slow, rate_of, symbols, tree

every_tree = mostly_slow("key", TREES, QUICK_TREES)
every_reference = pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])


def framed(key: str) -> od.Model:
    """A tree whose last body carries a turned frame away from its origin."""
    model = tree(key)
    return model.with_frame("tip", model.body_names[-1], (0.2, -0.4, 0.3), od.rpy_matrix((0.3, -1.1, 2.0)))


def expressed(reference: str, R, p, V):
    """[omega; velocity of the frame's origin] in world axes, expressed in a reference."""
    w, v = halves(V)
    if reference == "local":
        return ca.vertcat(R.T @ w, R.T @ v)
    return ca.vertcat(w, v - ca.cross(w, p)) if reference == "world" else V


@every_tree
@pytest.mark.slow
def test_velocity_jacobian_and_acceleration(rng, key):
    """Velocities against those of the frame's origin; J qd, rates of v and of J, in every reference."""
    model, s = framed(key), State.of(tree(key), rng)
    q, qd, qdd = symbols(model)
    for reference in ("local", "world", "local_world_aligned"):
        R, p = od.pose(model, "tip", q)
        v = od.frame_velocity(model, "tip", q, qd, reference=reference)
        a = od.frame_acceleration(model, "tip", q, qd, qdd, reference=reference)
        true = od.frame_acceleration(model, "tip", q, qd, qdd, reference=reference, classical=True)
        J = od.frame_jacobian(model, "tip", q, reference=reference)
        J_dot = od.frame_jacobian_dot(model, "tip", q, qd, reference=reference)
        pairs = [
            (v, expressed(reference, R, p, od.point_velocity_6d(model, "tip", q, qd))),
            (J @ qd, v),
            (J_dot, rate_of(J, model, q, qd)),
            (true if reference == "local_world_aligned" else a, rate_of(v, model, q, qd, qdd)),
            (true - a, ca.vertcat(DM(3, 1), ca.cross(v[:3], v[3:]))),
        ]
        f = ca.Function("f", [q, qd, qdd], [ca.vertcat(ca.vec(a), ca.vec(b)) for a, b in pairs])
        for both in f(s.q, s.qd, s.qdd):
            close(*np.split(flat(both), 2))
        at_rest = od.frame_acceleration(model, "tip", s.q, s.qd, reference=reference)
        close(at_rest, od.frame_acceleration(model, "tip", s.q, s.qd, 0 * s.qdd, reference=reference))


def test_the_local_classical_acceleration_is_that_of_an_accelerometer(rng):
    """Axes of the frame, acceleration of its origin; and the spatial accelerations are one vector in three
    references."""
    model, s = framed("forest"), State.of(tree("forest"), rng)
    args = (model, "tip", s.q, s.qd, s.qdd)
    R, p = od.pose(model, "tip", s.q)
    felt = od.frame_acceleration(*args, reference="local", classical=True)
    close(R @ felt[3:], od.point_acceleration(*args))
    local, world, aligned = (
        od.frame_acceleration(*args, reference=r) for r in ("local", "world", "local_world_aligned")
    )
    close(Transform(R.T, p).apply_inverse(local), world)
    close(Transform(R.T, DM(3, 1)).apply_inverse(local), aligned)


@every_reference
def test_patterns_and_a_frame_of_the_ground(rng, reference):
    model = tree("star")
    J = od.function(od.frame_jacobian, model, "b2", reference=reference).sparsity_out(0)
    J_dot = od.function(od.frame_jacobian_dot, model, "b2", reference=reference).sparsity_out(0)
    moving = set(model.dofs_of(2))
    assert set(J.get_col()) == moving
    assert set(J_dot.get_col()) <= moving


def test_a_frame_on_the_ground_does_not_move(rng):
    model = od.random_tree(3, 1, [od.Revolute("z"), od.Prismatic("x")], rng)
    first = model.joint_names[0]
    fixed = model.lock_joints({first: 0.2})
    name, s = model.body_names[0], State.of(fixed, rng)
    assert not fixed.frame(name).body
    for reference in ("local", "world", "local_world_aligned"):
        close(od.frame_velocity(fixed, name, s.q, s.qd, reference=reference), np.zeros(6), 0)
        close(od.frame_acceleration(fixed, name, s.q, s.qd, s.qdd, reference=reference), np.zeros(6), 0)
        assert not od.frame_jacobian(fixed, name, s.q, reference=reference).nnz()
        assert not od.frame_jacobian_dot(fixed, name, s.q, s.qd, reference=reference).nnz()


def test_wrong_references_and_frames_are_refused():
    model = tree("chain")
    q, qd = DM(4, 1), DM(4, 1)
    for call in (
        lambda **o: od.frame_velocity(model, "b2", q, qd, **o),
        lambda **o: od.frame_acceleration(model, "b2", q, qd, **o),
        lambda **o: od.frame_jacobian(model, "b2", q, **o),
        lambda **o: od.frame_jacobian_dot(model, "b2", q, qd, **o),
    ):
        with pytest.raises(
            ValueError, match=r"one of local, world, local_world_aligned, got 'locl': did you mean 'local'"
        ):
            call(reference="locl")
        with pytest.raises(ValueError, match="reference must be one of local, world"):
            call(reference=None)
    with pytest.raises(TypeError, match="classical must be True or False, got 'yes'"):
        od.frame_acceleration(model, "b2", q, qd, classical="yes")
    with pytest.raises(KeyError, match="no frame 'b22'"):
        od.frame_velocity(model, "b22", q, qd)


@every_tree
def test_all_poses_at_once(rng, key):
    model = tree(key)
    q = model.random_q(rng)
    for R, p in (od.body_poses(model, q), evaluate(od.body_poses, model, args=(q,))):
        R, p = flat(R), DM(p).full()
        assert R.shape == (3, 3 * model.nb)
        for k, name in enumerate(model.body_names):
            R_k, p_k = od.pose(model, name, q)
            close(R[:, 3 * k : 3 * k + 3], R_k)
            close(p[:, k], p_k)
