"""Reduced models: every joint-space quantity and every pose as before, on random trees and on robots; fewer
operations."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.functions.cheapest_equivalent import cheapest_equivalent
from ocp_dyn.mechanism.reduction import reduce, variants
from ocp_dyn.models import chain, human, pendulum
from tests.helpers import MIXED, close, mostly_slow, tree


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
        expected = od.function(algorithm, model, reduce=False)(*arguments)
        close(od.function(algorithm, reduced, reduce=False)(*arguments), expected, tolerance)


@pytest.mark.parametrize("key", ["forest", *MIXED])
@pytest.mark.slow
def test_joint_space_quantities_stay(key, rng):
    compare(tree(key), reduce(tree(key)), rng, 1e-9)  # forward dynamics of random trees is not well conditioned


@pytest.mark.slow
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


def test_small_products_of_inertia_stay():
    """Products of inertia of a body of 0.1 g are far below 1 kg m^2 and no rounding: they alone make these torques."""
    builder = od.ModelBuilder(gravity=(0, 0, 0))
    I = np.diag([3e-7, 4e-7, 5e-7]) + 5e-11 * (1 - np.eye(3))
    builder.add_body("ball", od.Spherical(), mass=1e-4, inertia=I)
    model = builder.build()
    tau = od.function(od.inverse_dynamics, reduce(model), reduce=False)(model.neutral(), np.zeros(3), (1, 0, 0))
    close(tau.full()[:, 0] / I[:, 0], np.ones(3))


@pytest.mark.slow
def test_constrained_dynamics_stays(rng):
    model = human()
    reduced = reduce(model)
    q, qd, _, tau = state(model, rng)
    feet = (od.Contact("sole_l"), od.Contact("sole_r", (0.1, 0, 0), "xyz"))
    for algorithm, arguments in ((od.constrained_dynamics, (q, qd, tau)), (od.impact, (q, qd))):
        for a, b in zip(
            od.function(algorithm, model, feet, reduce=False)(*arguments),
            od.function(algorithm, reduced, feet, reduce=False)(*arguments),
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
    """A chain about parallel axes: what is left of a body is its first moment across the axis and its moment about it.

    The second moment along the axis is gone, so the two transverse moments add up to the one about the axis.
    """
    builder = od.ModelBuilder()
    for k in range(3):
        parent = f"b{k - 1}" if k else "world"
        builder.add_body(
            f"b{k}", od.Revolute("z"), parent, origin=(1, 0, 0.3), mass=2, com=(0.3, 0.1, 0.2), inertia=(1, 2, 1.5)
        )
    model = builder.build()
    for body in reduce(model).I[1:]:
        assert ca.DM(body.m).nnz() == 0
        assert ca.DM(body.h)[2].nnz() == 0
        assert body.second_moments[2, 2].nnz() == 0
    *_, handed_on = variants(model)
    assert all(ca.DM(X.r).nnz() <= 1 for X in handed_on.X_tree[1:])


def instructions(algorithm, model):
    return od.function(algorithm, model, reduce=False).n_instructions()


@mostly_slow("make", (chain, human, od.models.five_link_biped), (chain, od.models.five_link_biped))
@pytest.mark.slow
def test_fewer_operations(make):
    """Never more than the model itself, but for a few of ABA's on plain chains; well fewer where forces are
    computed."""
    model = make(20) if make is chain else make()
    for algorithm, share in (
        (od.inverse_dynamics, 0.95),
        (od.bias_force, 0.95),
        (od.forward_dynamics, 1.03),
        (od.mass_matrix, 1.0),
    ):
        velocities = algorithm is not od.mass_matrix
        assert instructions(algorithm, cheapest_equivalent(model, velocities=velocities)) <= share * instructions(
            algorithm, model
        )


@pytest.mark.parametrize("key", ["mixed", "bases"])
@pytest.mark.slow
def test_joints_taken_apart(key, rng):
    """The same q, qd, names of the moved bodies, poses of frames and quantities; constant motion subspaces."""
    model = tree(key)
    q = model.random_q(rng)
    for apart in variants(model):
        assert (apart.nq, apart.nv) == (model.nq, model.nv)
        assert apart.nb > model.nb
        assert set(model.body_names) <= set(apart.body_names)
        assert set(model.joint_names) <= set(apart.joint_names)
        for name in model.frame_names:
            for a, b in zip(od.pose(model, name, ca.DM(q)), od.pose(apart, name, ca.DM(q)), strict=True):
                close(b, a, 1e-9)
            # a frame of the model itself stands for that of the lighter one
            close(od.pose(apart, model.frame(name), ca.DM(q))[1], od.pose(model, name, ca.DM(q))[1], 1e-9)
        compare(model, apart, rng, 1e-8)


def test_frames_of_other_models_are_refused():
    """But those of an equal model are as good as the model's own."""
    model, other = pendulum(2), pendulum(2)
    q = ca.DM([0.3, 0.4])
    assert model.frame("tip") is not other.frame("tip")
    close(od.pose(reduce(model), other.frame("tip"), q)[1], od.pose(model, "tip", q)[1])
    with pytest.raises(ValueError, match="belongs to another model"):
        od.pose(reduce(model), pendulum(2, length=2.0).frame("tip"), q)


@pytest.mark.slow
def test_lightest_by_what_must_hold_on_it():
    """Taken apart where only frames count; bodies kept for locked joints; untouched for what may ask for anything."""
    model = human()
    foot = od.Contact("sole_l")
    assert cheapest_equivalent(model).nb > model.nb
    assert cheapest_equivalent(model, (foot,)) is cheapest_equivalent(model)
    assert cheapest_equivalent(model, ((od.Baumgarte(foot, 0.1),),)).nb > model.nb
    lock = od.LockedJoint.of(model, model.joint_names[0])
    assert cheapest_equivalent(model, ((foot, lock),)).joint_names == model.joint_names
    assert cheapest_equivalent(model, split=False).joint_names == model.joint_names

    class Own(od.Constraint):
        rows = ("own",)

        def position(self, model, q):
            return q[0]

        def jacobian(self, model, q):
            return q[0]

        def hessian(self, model, q, qd):
            return q[0]

    assert cheapest_equivalent(model, (Own(),)) is model
    gravity = ca.SX.sym("c", 3)
    symbolic = od.with_parameters(model, {f"com:{model.body_names[2]}": gravity})
    assert cheapest_equivalent(symbolic) is symbolic


@pytest.mark.slow
def test_lightest_goes_by_the_pass_it_is_for():
    """Positions alone take the shorter H, velocities the shorter ID, of the two that differ in where offsets are."""
    for model in (human(), chain(6)):
        found = list(variants(model))
        for algorithm, velocities in ((od.mass_matrix, False), (od.inverse_dynamics, True)):
            least = min(instructions(algorithm, x) for x in found)
            assert instructions(algorithm, cheapest_equivalent(model, velocities=velocities)) == least


def test_a_frame_turns_about_its_axis_until_it_is_along_the_one_before():
    builder = od.ModelBuilder("door")
    builder.add_body("door", od.Revolute("z"), rotation=od.rpy_matrix((0, 0, 0.4)), mass=1, com=(0.5, 0, 0))
    assert od.reduce(builder.build()).X_tree[1].E.nnz() == 3
