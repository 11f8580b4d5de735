"""Loops that share few dofs: people who carry one beam. Work grows with their number, and dependent rows are found."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion.groups import groups_of
from ocp_dyn.dynamics.kinematics import poses_and_axes
from ocp_dyn.spatial_algebra.linalg import Semidefinite
from scripts.bench.growth.crowd import carriers
from tests.helpers import close, flat


def dense(model, held, q, qd, tau):
    """qdd by least squares on the whole system: independent of groups, orders and factors."""
    H, C, G, gamma = (np.array(DM(x).full()) for x in od.constrained_equations(model, held, q, qd))
    m = len(G)
    whole = np.block([[H, G.T], [G, np.zeros((m, m))]])
    return np.linalg.lstsq(whole, np.vstack([tau - C, gamma]), rcond=1e-12)[0][: model.nv, 0]


def test_work_grows_with_the_number_of_people():
    """Operations of FDc: each further pair of hands adds what the one before added."""
    counts = [od.function(od.constrained_dynamics, *carriers(k)[:2]).n_instructions() for k in (1, 2, 3)]
    first, second = np.diff(counts)
    assert first < 25_000
    assert second < 1.15 * first


def test_accelerations_of_a_crowd_are_those_of_the_dense_system(rng):
    model, held, q = carriers(2)
    q = q + rng.normal(scale=0.05, size=model.nq)  # loops open by centimeters
    qd, tau = rng.normal(size=(model.nv, 1)), rng.normal(scale=20.0, size=(model.nv, 1))
    qdd, _ = od.function(od.constrained_dynamics, model, held)(q, qd, tau)
    close(flat(qdd), dense(model, held, DM(q), DM(qd), tau), 1e-9)


def arms_and_slider():
    """Two arms of two ball joints on a fixed trunk, hands in sockets of a block that slides along z."""
    builder = od.ModelBuilder("arms")
    builder.add_body("block", od.Prismatic("z"), mass=3.0, inertia=(0.1, 0.1, 0.1), origin=(0, 0, -2))
    for side, y in (("l", 0.3), ("r", -0.3)):
        for part, parent, z in (("upper", "world", 0.0), ("lower", f"upper_{side}", -1.0)):
            builder.add_body(f"{part}_{side}", od.Euler("xyz"), parent, origin=(0, 0 if z else y, z), mass=1.0,
                             com=(0, 0, -0.5), inertia=(0.1, 0.12, 0.02))  # fmt: skip
        builder.add_frame(f"hand_{side}", f"lower_{side}", (0, 0, -1))
        builder.add_frame(f"socket_{side}", "block", (0, y, 0))
    return builder.build(), tuple(od.Loop(f"hand_{s}", f"socket_{s}", "ball") for s in "lr")


@pytest.mark.parametrize("solver", ["range", "kkt", "aba", "proximal"])
def test_straight_arms_hold_one_block_by_rows_that_depend_on_each_other(solver, rng):
    """With straight arms both rows along z see nothing but the block: the groups are two, the rank of the rows five."""
    model, held = arms_and_slider()
    G = od.constraint_jacobian(model, held, SX.sym("q", model.nq))
    assert [group.rows for group in groups_of(model, held, G)] == [(0, 1, 2), (3, 4, 5)]
    q = DM(model.nq, 1)
    assert od.constraint_rank(model, held, q) == 5
    tau = rng.normal(size=(model.nv, 1))
    qdd, lam, left = od.constrained_dynamics(model, held, q, DM.zeros(model.nv), DM(tau), solver=solver, residual=True)
    close(flat(qdd), dense(model, held, q, DM.zeros(model.nv), tau), 1e-8)
    assert np.abs(flat(left)).max() < 1e-8
    assert np.isfinite(flat(lam)).all()


def floating_pair():
    builder = od.ModelBuilder("pair")
    for name, root in (("a", od.FloatingBase()), ("b", od.Spherical())):
        builder.add_body(name, root, mass=1, inertia=(1, 1, 1))
        builder.add_body(f"{name}_tip", od.Revolute("y"), name, mass=1, inertia=(1, 1, 1), origin=(0, 0, -1))
    return builder.build()


@pytest.mark.parametrize(
    ("axes", "certain"),
    [
        ("ball", True),
        ("fixed", True),
        ([(0, 0, 0, 1, 0, 0), (0, 0, 0, 1, 0.05, 0)], False),
        ([*map(tuple, np.eye(6)), (1, 0, 0, 1, 0, 0)], False),
    ],
)
def test_a_loop_with_a_body_that_floats_is_taken_as_it_is(axes, certain):
    model = floating_pair()
    for ends in (("a_tip", "b_tip"), ("b_tip", "a_tip")):
        loop = od.Loop(*ends, axes)
        (group,) = groups_of(model, (loop,), od.constraint_jacobian(model, loop, SX.sym("q", model.nq)))
        assert group.certain == certain
    shared = od.Loop("a", "a_tip", axes)  # the floating base moves both ends
    (group,) = groups_of(model, (shared,), od.constraint_jacobian(model, shared, SX.sym("q", model.nq)))
    assert not group.certain


def test_poses_are_those_of_the_mechanism_on_which_the_body_stands():
    """Only the own bodies of a mechanism beside others enter the graph."""
    model = floating_pair()
    q = SX.sym("q", model.nq)
    assert sorted(poses_and_axes(model, model.frame("b_tip").body, q).X0) == [0, 3, 4]
    assert sorted(poses_and_axes(model, 0, q).X0) == [0]


def test_rows_that_do_not_meet_cost_nothing_together(rng):
    """The semidefinite factor of separate blocks has their entries only, and solves them."""
    blocks = [B @ B.T for B in rng.normal(size=(4, 3, 3))]
    A = DM(12, 12)
    for k, block in enumerate(blocks):
        A[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    factor, b = Semidefinite.of(A), rng.normal(size=12)
    assert [len(row) for row in factor.L] == [0, 1, 2] * 4
    close(flat(factor.solve(DM(b))), np.linalg.solve(A.full(), b), 1e-9)


def test_feet_of_many_people_are_judged_in_several_postures():
    """One of sixteen legs is nearly straight in the first random posture: its foot is taken as it is all the same."""
    one = od.models.human(root=od.FloatingBase("euler_zyx"), tissue=False)
    builder = od.ModelBuilder("people")
    builder.add_body("ball", od.FloatingBase("euler_zyx", name="ball"), mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    for k in range(8):
        model = model.attach(one, "world", prefix=f"p{k}_")
    held = tuple(od.Contact(f"p{k}_foot_{side}") for k in range(8) for side in "lr")
    groups = groups_of(model, held, od.constraint_jacobian(model, held, SX.sym("q", model.nq)))
    assert len(groups) == 16
    assert all(group.certain for group in groups)
