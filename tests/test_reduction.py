"""Reduced models: every joint-space quantity and every pose as before, on random trees and on robots; fewer operations."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.models import chain, human
from ocp_dyn.reduction import reduce
from tests.helpers import close

KINDS = [
    od.Revolute((1, 2, -3)),
    od.Revolute("-x"),
    od.Prismatic((0.3, 1, 0)),
    od.Translation(),
    od.Planar(),
    od.Spherical(),
    od.Euler("yxz"),
    od.FloatingBase(),
    od.FloatingBase("euler_zyx"),
]


def state(model, rng):
    return model.random_q(rng), *rng.normal(size=(3, model.nv))


def compare(model, reduced, rng, tolerance=1e-11):
    q, qd, qdd, tau = state(model, rng)
    for algorithm, arguments in (
        (od.inverse_dynamics, (q, qd, qdd)),
        (od.bias_force, (q, qd)),
        (od.gravity_force, (q,)),
        (od.mass_matrix, (q,)),
        (od.forward_dynamics, (q, qd, tau)),
        (od.forward_dynamics_crba, (q, qd, tau)),
    ):
        close(od.function(algorithm, reduced)(*arguments), od.function(algorithm, model)(*arguments), tolerance)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("branching", [1.0, 2.0])
@pytest.mark.slow
def test_joint_space_quantities_stay(kind, branching, rng):
    model = od.random_tree(6, branching, [kind, od.Revolute((0.2, 1, 0.3))], rng)
    compare(model, reduce(model), rng, 1e-9)  # forward dynamics of random trees is not well conditioned


def test_frames_keep_their_poses(rng):
    model = human()
    reduced = reduce(model)
    q, qd, qdd, _ = state(model, rng)
    for name in model.frame_names:
        for a, b in zip(od.pose(model, name, ca.DM(q)), od.pose(reduced, name, ca.DM(q)), strict=True):
            close(b, a)
        arguments = [ca.DM(x) for x in (q, qd, qdd)]
        close(
            od.point_acceleration_6d(reduced, name, *arguments),
            od.point_acceleration_6d(model, name, *arguments),
            1e-11,
        )


def test_constrained_dynamics_stays(rng):
    model = human()
    reduced = reduce(model)
    q, qd, _, tau = state(model, rng)
    feet = (od.Contact("sole_l"), od.Contact("sole_r", (0.1, 0, 0), "xyz"))
    for algorithm, arguments in ((od.constrained_dynamics, (q, qd, tau)), (od.impact, (q, qd))):
        for a, b in zip(
            od.function(algorithm, model, feet)(*arguments),
            od.function(algorithm, reduced, feet)(*arguments),
            strict=True,
        ):
            close(b, a, 1e-8)


def test_names_and_layout_stay():
    model = human()
    reduced = reduce(model)
    for what in ("joint_names", "body_names", "qd_names", "frame_names", "parent", "nq", "nv"):
        assert getattr(reduced, what) == getattr(model, what)
    assert np.array_equal(reduced.dofs.q_lower, model.dofs.q_lower)


def test_revolute_bodies_lose_seven_numbers():
    """A chain about parallel axes: what is left of a body is its first moment across the axis and its moment about it."""
    builder = od.ModelBuilder()
    for k in range(3):
        parent = f"b{k - 1}" if k else "world"
        builder.add_body(
            f"b{k}", od.Revolute("z"), parent, origin=(1, 0, 0.3), mass=2, com=(0.3, 0.1, 0.2), inertia=(1, 2, 1.5)
        )
    reduced = reduce(builder.build())
    for body in reduced.I[1:]:
        assert ca.DM(body.m).nnz() == 0
        assert ca.DM(body.h)[2].nnz() == 0
        assert ca.DM(body.I)[1, 1].nnz() == 0 or ca.DM(body.I)[0, 0].nnz() == 0
    assert all(ca.DM(X.r).nnz() <= 1 for X in reduced.X_tree[1:])


def test_fewer_operations():
    for model, least in ((chain(20), 0.9), (human(), 0.99)):
        for algorithm in (od.inverse_dynamics, od.bias_force, od.forward_dynamics):
            before, after = (od.function(algorithm, m).n_instructions() for m in (model, reduce(model)))
            assert after < least * before + 1 or algorithm is od.forward_dynamics
            assert after <= before
