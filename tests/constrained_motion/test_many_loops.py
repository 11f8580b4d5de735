"""Loops that share few dofs: people who carry one beam. Work grows with their number, and dependent rows are found."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion.groups import groups_of
from ocp_dyn.dynamics.kinematics import poses_and_axes
from ocp_dyn.spatial_algebra.semidefinite import BlockSemidefinite, Semidefinite, factor_of
from scripts.bench.growth.crowd import carriers
from tests.helpers import close, flat


def dense(model, held, q, qd, tau):
    """qdd by least squares on the whole system: independent of groups, orders and factors."""
    H, C, G, gamma = (np.array(DM(x).full()) for x in od.constrained_equations(model, held, q, qd))
    m = len(G)
    whole = np.block([[H, G.T], [G, np.zeros((m, m))]])
    return np.linalg.lstsq(whole, np.vstack([tau - C, gamma]), rcond=1e-12)[0][: model.nv, 0]


def jugglers(n):
    """Trunks that turn about points of the world, with two arms each, all hands in sockets of one block that floats;
    the loops of the left hands, and those of the right ones."""
    builder = od.ModelBuilder("jugglers")
    builder.add_body("block", od.FloatingBase("euler_zyx"), mass=3.0, inertia=(0.1, 0.2, 0.3), origin=(0, 0, -3))
    rod = {"mass": 1.0, "com": (0, 0.1, -0.5), "inertia": (0.1, 0.12, 0.02)}
    for k in range(n):
        x, y = 0.5 * np.cos(k), 0.5 * np.sin(k)
        builder.add_body(f"trunk{k}", od.Spherical(), origin=(x, y, 0), **rod)
        for side, across in (("l", 0.1), ("r", -0.1)):
            hand = f"{side}{k}"
            builder.add_body(f"upper_{hand}", od.Euler("xyz"), f"trunk{k}", origin=(across, 0, -1), **rod)
            builder.add_body(f"lower_{hand}", od.Revolute("y"), f"upper_{hand}", origin=(0, 0, -1), **rod)
            builder.add_frame(f"hand_{hand}", f"lower_{hand}", (0, 0, -1))
            builder.add_frame(f"socket_{hand}", "block", (x + across, y, 0))
    left, right = ([od.Loop(f"hand_{s}{k}", f"socket_{s}{k}", "ball") for k in range(n)] for s in "lr")
    return builder.build(), left, right


@pytest.mark.slow
def test_groups_stand_person_by_person():
    model, left, right = jugglers(6)
    held = [*left, *right]
    G = od.constraint_jacobian(model, held, SX.sym("q", model.nq))
    assert [group.rows[0] for group in groups_of(model, held, G)][:4] == [0, 18, 3, 21]


@pytest.mark.slow
def test_many_hands_on_one_block_move_it_as_the_dense_system_does(rng):
    """With bent arms, and with straight ones, which leave rows out."""
    model, left, right = jugglers(6)
    held = od.ConstraintSet([*left, *right])
    f = od.function(od.constrained_dynamics, model, held)
    assert f.n_instructions() < 37_000  # 52,000 by one dense factor
    equations = od.function(od.constrained_equations, model, held)
    for spread in (0.1, 0.0):
        q = model.integrate(model.neutral(), rng.normal(scale=spread, size=model.nv))
        qd, tau = 10 * spread * rng.normal(size=model.nv), rng.normal(size=model.nv)
        H, C, G, gamma = (np.array(x.full()) for x in equations(q, qd))
        whole = np.block([[H, G.T], [G, np.zeros((36, 36))]])
        right = np.concatenate([tau - C[:, 0], gamma[:, 0]])
        qdd, lam = map(flat, f(q, qd, tau))
        close(qdd, np.linalg.lstsq(whole, right, rcond=1e-12)[0][: model.nv], 1e-8)
        close(H @ qdd + C[:, 0] - tau, G.T @ lam, 1e-8)
        assert np.count_nonzero(lam) == np.linalg.matrix_rank(G, 1e-8) == (36 if spread else 33)


@pytest.mark.slow
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
@pytest.mark.slow
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
@pytest.mark.slow
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


@pytest.mark.slow
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


def shared_by_blocks(n, rng, repeated=False):
    """W of n blocks of six columns that share three rows, and d; repeated: the third column of every block has nothing
    but the shared rows, with zeros in the pattern of the others."""
    W, d = np.zeros((3 + 7 * n, 6 * n)), rng.uniform(0.5, 2.0, size=3 + 7 * n)
    for k in range(n):
        W[3 + 7 * k : 10 + 7 * k, 6 * k : 6 * k + 6] = rng.normal(size=(7, 6))
        W[:3, 6 * k : 6 * k + 6] = rng.normal(size=(3, 6))
    W = ca.sparsify(DM(W))
    if repeated:
        for k in range(n):
            W[3 + 7 * k : 10 + 7 * k, 6 * k + 2] = 0
    return W, d


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.slow
def test_blocks_that_share_rows_are_solved_like_the_dense_matrix(rng, repeated):
    """Pivots are those of the dense factor, all but three of nine in the shared rows left out."""
    W, d = shared_by_blocks(9, rng, repeated)
    dense_W = np.array(W.full())
    A = dense_W.T @ (dense_W / d[:, None])
    b = A @ rng.normal(size=(54, 2))
    factor = factor_of(W, [DM(x) for x in d])
    whole = Semidefinite.of(DM(A))
    assert isinstance(factor, BlockSemidefinite)
    x = np.array(factor.solve(DM(b)).full())
    close(x, whole.solve(DM(b)).full(), 1e-6)
    close(A @ x, b, 1e-9)
    skipped = [float(y) == 0 for block in factor.blocks for y in block.factor.d_inverse]
    assert skipped == [float(y) == 0 for y in whole.d_inverse]
    assert sum(skipped) == (6 if repeated else 0)


@pytest.mark.slow
def test_work_grows_with_the_number_of_blocks(rng):
    counts = []
    for n in (10, 20, 40):
        W, d = shared_by_blocks(n, rng)
        w = SX.sym("w", W.sparsity())
        b = SX.sym("b", 6 * n)
        counts.append(ca.Function("f", [w, b], [factor_of(w, list(map(SX, d))).solve(b)]).n_instructions())
    first, second = np.diff(counts)
    assert second < 2.01 * first


@pytest.mark.slow
def test_columns_in_another_order_take_the_dense_factor(rng):
    W, d = shared_by_blocks(9, rng)
    assert isinstance(factor_of(W[:, rng.permutation(54).tolist()], [DM(x) for x in d]), Semidefinite)
