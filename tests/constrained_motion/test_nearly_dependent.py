"""Rows that depend on others but for a small remainder: every order, every solver, numbers and symbols, derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from scripts.checks.redundant.comparison import column, number
from scripts.checks.redundant.nearly import LIMIT, NEARLY, SOLVERS, obey
from tests.helpers import close


@pytest.mark.parametrize("seed", range(len(NEARLY)))
@pytest.mark.slow
def test_rows_hold_in_every_order(seed):
    """One set of each kind with a remainder between 1 and 1e-16, by the solvers in turn;
    `python -m scripts.checks.redundant --nearly` takes more."""
    kind, remainder, worst = obey(seed, (SOLVERS[seed % len(SOLVERS)],))
    assert max(worst.values()) < LIMIT, (kind, remainder, worst)


def held_body():
    builder = od.ModelBuilder()
    builder.add_body("b", od.FloatingBase(), mass=1, com=(0.02, 0.01, 0), inertia=(0.1, 0.2, 0.15))
    axes = [(-0.9, 0.5, -1.6), (0.8, -1.1, -2.1), (0.10999157, -0.52000951, -2.26999823)]  # in a plane but for 1e-5
    skew = od.Contact("b", (-0.4, 0.3, -1.2), axes=axes)
    return builder.build(), skew, od.Contact("b", (0.7, 1.9, -1.1))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.slow
def test_a_held_body_stops(solver):
    """Nine rows hold a body, three of them nearly in a plane: numbers and symbols."""
    model, skew, hold = held_body()
    q = model.neutral()
    for members in ((skew, hold), (hold, skew)):
        assert od.constraint_rank(model, members, q) == 6
        close(od.impact(model, members, q, np.ones(6), solver=solver)[0], np.zeros(6), 1e-12)
        f = od.function(od.impact, model, members, solver=solver)
        close(f(q, np.ones(6))[0], np.zeros(6), 1e-12)


@pytest.mark.slow
def test_derivatives_of_a_held_body_vanish():
    """By recursion and by automatic differentiation."""
    model, skew, hold = held_body()
    at = model.neutral(), np.ones(6)
    for members in ((skew, hold), (hold, skew)):
        by_ad = od.function(od.impact, model, members).jacobian()(*at, 0, 0)[1]
        for found in (*od.impact_derivatives(model, members, *at)[:2], by_ad):
            close(found, np.zeros((6, 6)), 1e-9)


@pytest.mark.slow
def test_two_points_some_micrometers_apart_hold_a_foot(rng):
    """A rounded mesh holds a corner of a sole twice: velocities after impacts are those of the corner once."""
    human = od.models.human()
    corners = [(0.1, 0.04, 0.0), (0.1, -0.04, 0.0), (-0.1, 0.04, 0.0)]
    once = od.point_contacts("sole_l", corners)
    twice = od.point_contacts("sole_l", [(0.1 + 4e-6, 0.04 - 4e-6, 2e-6), *corners])
    for _ in range(3):
        q, qd = DM(human.random_q(rng)), DM(rng.normal(size=human.nv))
        close(od.impact(human, twice, q, qd)[0], column(od.impact(human, once, q, qd)[0]), 1e-8)


@pytest.mark.slow
def test_forces_are_shared_alike_in_all_units(rng):
    """Redundant rows of moments and of forces: a world of millimeters has the same forces as one of meters."""
    builder = od.ModelBuilder()
    builder.add_body("b", od.FloatingBase(), mass=2, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.15))
    model = builder.build()
    q, tau = model.random_q(rng), rng.normal(size=6)
    points = rng.normal(size=(2, 3))
    found = []
    for scale in (1.0, 1e-3, 1e3):
        held = [od.Contact("b", tuple(scale * p)) for p in points]
        at = np.concatenate([scale * q[:3], q[3:]])
        force = np.concatenate([tau[:3], scale * tau[3:]])
        larger = model.scale(scale, 1.0)
        pushed, weight = (column(od.constrained_dynamics(larger, held, DM(at), DM(6, 1), DM(tau), solver="proximal")[1])
                          for tau in (force, 0 * force))  # fmt: skip
        found.append(((pushed - weight).reshape(2, 2, 3) / np.array([scale, 1.0])[None, :, None]).ravel())
    close(found[1], found[0], 1e-9)
    close(found[2], found[0], 1e-9)


def test_forces_of_rows_of_one_unit_have_the_least_norm(rng):
    builder = od.ModelBuilder()
    builder.add_body("b", od.FloatingBase(), mass=2, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.15))
    model, held = builder.build(), od.point_contacts("b", [tuple(p) for p in rng.normal(size=(5, 3))])
    q, tau = DM(model.random_q(rng)), DM(rng.normal(size=6))
    G = number(od.constraint_jacobian(model, held, q))
    lam = column(od.constrained_dynamics(model, held, q, DM(6, 1), tau, solver="proximal")[1])
    close(lam, np.linalg.pinv(G.T) @ G.T @ lam, 1e-10)


@pytest.mark.parametrize(
    ("opened", "size"), [(1e-12, 1.0), (1e-8, 1e-3), (1e-8, 1e3), (1e-5, 1.0), (1e-3, 1e-3), (1e-3, 1e3)]
)
@pytest.mark.slow
def test_an_open_redundant_loop_moves_as_a_closed_one(opened, size, rng):
    """Bricard's linkage, whose fifth row repeats the others where all hold, has one motion beside its positions too."""
    chain = od.models.bricard()
    model, loops, q = chain.model, chain.loops, chain.q
    if size != 1.0:
        model, loops = model.scale(size, 1.0), tuple(larger(loop, size) for loop in loops)
    closed = column(od.constrained_dynamics(model, loops, q, np.zeros(5), np.zeros(5))[0])
    beside = q + opened * rng.normal(size=5)
    found = column(od.constrained_dynamics(model, loops, beside, np.zeros(5), np.zeros(5))[0])
    assert np.linalg.norm(closed) > 0.1 / size
    assert np.linalg.norm(found - closed) < (30 * opened + 1e-10) * np.linalg.norm(closed)


def larger(loop, size):
    poses = [(R, tuple(size * np.array(r))) for R, r in (loop.predecessor_pose, loop.successor_pose)]
    return od.Loop(loop.predecessor, loop.successor, loop.axes, *poses, turning=loop.turning)


def box():
    builder = od.ModelBuilder("box")
    builder.add_body("box", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    corners = od.point_contacts("box", [(x, y, 0) for x in (-1, 1) for y in (-1, 1)])
    return builder.build(), corners


@pytest.mark.slow
def test_forces_of_a_box_on_four_corners_do_not_hang_on_rounding(rng):
    """Corners whose motions are equal in size: which of them carry forces is the same nearby, and in symbols."""
    model, corners = box()
    f = od.function(od.constrained_dynamics, model, corners)
    for q in (model.neutral(), model.random_q(rng)):
        tau = np.arange(6.0) + 1
        lam = column(od.constrained_dynamics(model, corners, q, np.zeros(6), tau)[1])
        close(f(q, np.zeros(6), tau)[1], lam, 1e-9)
        for _ in range(5):
            near = model.integrate(q, 1e-9 * rng.normal(size=6))
            close(od.constrained_dynamics(model, corners, near, np.zeros(6), tau)[1], lam, 1e-6)


@pytest.mark.slow
def test_a_loop_that_is_wide_open_is_taken_as_it_stands(rng):
    """Its rows then act on the body that carries it, too."""
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "base", mass=1, com=(0, 0, 0.5), inertia=(1, 1, 1))
    model, q, qd = builder.build(), [0, 0, 0, 0, 0, 0, 1, 0.3], np.arange(7.0) + 1
    for kind, rank in (("ball", 3), ("fixed", 6)):
        loop = od.Loop("base", "arm", kind, successor_pose=(np.eye(3), (0, 0.1, 0.5)))
        for solver in SOLVERS:
            close(od.impact(model, loop, q, qd, solver=solver, residual=True)[2], np.zeros(rank), 1e-12)


def test_inverse_dynamics_where_nothing_is_actuated():
    model, corners = box()
    tau, lam, _ = od.constrained_inverse_dynamics(model, corners, model.neutral(), np.zeros(6), np.zeros(6))
    close(tau, np.zeros(6))
    close(sum(lam.full()[2::3]), [2 * 9.81])
    builder = od.ModelBuilder()
    builder.add_body("a", od.Prismatic("z"), mass=1)
    for relaxed in (True, False, None):
        held = [od.LockedJoint("a_joint")] * 2
        found = od.constrained_inverse_dynamics(builder.build(), held, [0], [0], [0], actuated=[False], relaxed=relaxed)
        close(sum(found[1].full()), [9.81])


@pytest.mark.slow
def test_legs_with_parallel_joints_share_the_motions_of_the_root(rng):
    """Four legs of three joints about y: sideways the root alone moves the feet, so that their rows are one group."""
    builder = od.ModelBuilder("quadruped")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(0.1, 0.2, 0.2))
    for leg in range(4):
        parent = "trunk"
        for k in range(3):
            axis = np.array((0, 1.0, 0)) + 4e-7 * rng.normal(size=3)  # decimals of a file
            builder.add_body(f"{leg}{k}", od.Revolute(axis), parent, mass=0.3, com=(0, 0, -0.1),
                             inertia=(0.01, 0.01, 0.01), origin=(0, 0, -0.2) if k else (leg - 1.5, leg % 2,
                                 0))  # fmt: skip
            parent = f"{leg}{k}"
    model, feet = builder.build(), [od.Contact(f"{leg}2", (0, 0, -0.2), "xyz") for leg in range(4)]
    q, qd = model.random_q(rng), rng.normal(size=model.nv)
    forward, back = (column(od.impact(model, sets, q, qd)[0]) for sets in (feet, feet[::-1]))
    close(forward, back, 1e-8)
    close(number(od.constraint_jacobian(model, feet, q)) @ forward, np.zeros(12), 1e-9)


def test_units_of_users_rows_do_not_matter_to_inverse_dynamics():
    model = od.models.pendulum(4)
    at = [0.1, 0.5, 0.4, 0.3], [0.1, -0.1, 0.2, 0.3], [1.0, 2.0, 3.0, 4.0]
    tip = od.Contact(model.body_names[-1], (0, 0, -0.5), "xz")
    for unit in (1e-10, 1.0, 1e10):
        held = (od.CustomConstraint(lambda q, unit=unit: unit * (q[0] + q[1])), tip)
        x = od.constrained_inverse_dynamics(model, held, *at, actuated=[True, True, True, False])[2]
        left = od.constraint_jacobian(model, held, at[0]) @ x - od.constraint_hessian(model, held, *at[:2])
        close(left / DM([unit, 1, 1]), np.zeros(3), 1e-9)


def test_a_violation_turns_no_rows_that_are_the_same_everywhere():
    builder = od.ModelBuilder()
    for k in range(2):
        builder.add_body(f"b{k}", od.Revolute("y"), mass=1, inertia=(1, 1, 1))
    rows = [od.CustomConstraint(lambda q, r=r: q[0] - r * q[1], name=f"r{r}") for r in (1.0, 1.001)]
    for violated in (0.0, 1e-3):
        assert od.constraint_rank(builder.build(), rows, [violated, 0.0]) == 2


def test_angles_of_a_root_with_masses_between_them_do_not_tell_alone():
    """At a right angle of the second, three joints of an arm keep six rows independent."""
    builder = od.ModelBuilder()
    parent = "world"
    for k, joint in enumerate([*map(od.Prismatic, "xyz"), *map(od.Revolute, "zyxyxy")]):
        builder.add_body(
            f"b{k}", joint, parent, mass=1, inertia=(1, 1, 1), origin=(0.3, 0.2, 0.4) if k > 5 else (0, 0, 0)
        )
        parent = f"b{k}"
    held = [od.Contact("b8"), od.Contact("b8", (1, 0.2, 0.3), axes="xyz")]
    q = [0, 0, 0, 0, np.pi / 2, 0, 0.3, 0.3, 0.3]
    close(od.impact(builder.build(), held, q, np.ones(9), residual=True)[2], np.zeros(9), 1e-12)
