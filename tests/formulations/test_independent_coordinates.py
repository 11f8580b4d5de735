"""The choice of independent coordinates, its transformation, the position problem, singular and locked positions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from tests.formulations.mechanisms import I3, MECHANISMS, XY, Closed, bricard, four_bar, six_bar
from tests.helpers import close, flat

pytestmark = pytest.mark.slow

b = od.formulations
every_mechanism = pytest.mark.parametrize("name", MECHANISMS)


def parallelogram(short: float = 0.5) -> Closed:
    """A crank and a rocker of equal length; stretched, at q = 0, it may go on as an antiparallelogram."""
    builder = od.ModelBuilder("parallelogram")
    for name, parent, origin in (("crank", "world", 0), ("coupler", "crank", short), ("rocker", "world", 1)):
        builder.add_body(name, od.Revolute("z"), parent, origin=(origin, 0, 0), mass=1, com=(0.2, 0, 0), inertia=I3)
    loop = od.Loop("coupler", "rocker", XY, (I3, (1, 0, 0)), (I3, (short, 0, 0)), label="four-bar")
    return Closed(builder.build(), (loop,), 1, (0, 0, 0))


def stretched() -> tuple[od.Model, tuple[od.Loop, ...]]:
    """A slider-crank at its dead center, q = 0."""
    builder = od.ModelBuilder("slider-crank")
    builder.add_body("crank", od.Revolute("z"), mass=1, inertia=I3)
    builder.add_body("rod", od.Revolute("z"), "crank", origin=(0.5, 0, 0), mass=1, inertia=I3)
    builder.add_body("slider", od.Prismatic("x"), origin=(1.5, 0, 0), mass=1, inertia=I3)
    return builder.build(), (od.Loop("slider", "rod", XY, (I3, (0, 0, 0)), (I3, (1, 0, 0))),)


# The choice


@every_mechanism
def test_counts_and_rows(rng, name):
    closed = MECHANISMS[name](rng)
    q, _, _ = closed.state(rng)
    choice = b.independent_coordinates(closed.model, closed.loops, q)
    rank = np.linalg.matrix_rank(od.constraint_jacobian(closed.model, closed.loops, q).full(), tol=1e-9)
    assert len(choice.rows) == len(choice.dependent) == rank == closed.model.nv - closed.freedom
    assert sorted((*choice.independent, *choice.dependent)) == list(range(closed.model.nv))
    assert choice.pivot > 0.05
    assert hash(choice) == hash(b.independent_coordinates(closed.model, closed.loops, q))


def test_preferred_coordinates(rng):
    closed = six_bar(rng)
    q, _, _ = closed.state(rng)
    for name in closed.model.joint_names:
        choice = b.independent_coordinates(closed.model, closed.loops, q, prefer=name)
        assert choice.names == (name,)
    text = str(choice)
    assert text.startswith("1 independent of 5 coordinates: lever_joint\n")
    assert "conditions that repeat others: first.rx, first.ry, first.tz, second.rx" in text
    closed = MECHANISMS["floating_legs"](rng)
    q, _, _ = closed.state(rng)
    choice = b.independent_coordinates(closed.model, closed.loops, q, prefer=("root", "thigh_l_joint", "shank_l_joint"))
    assert choice.names == closed.model.qd_names[:9]
    choice = b.independent_coordinates(closed.model, closed.loops, q, prefer=("thigh_r_joint.first", "root"))
    assert "thigh_r_joint.first" in choice.names


def test_a_preferred_coordinate_at_its_dead_center_is_not_taken():
    """The slider cannot drive crank and rod that are in line."""
    model, loops = stretched()
    choice = b.independent_coordinates(model, loops, np.zeros(3), prefer="slider_joint")
    assert choice.names != ("slider_joint",)
    assert "slider_joint" in choice.dofs
    q = od.assemble_q(model, loops, [1.0, -1.0, 0.0])
    assert b.independent_coordinates(model, loops, q, prefer="slider_joint").names == ("slider_joint",)


def test_the_first_of_the_preferred_coordinates_comes_first(rng):
    closed = four_bar(rng, XY)
    q, _, _ = closed.state(rng)
    joints = closed.model.joint_names
    for first in joints:
        order = (first, *(name for name in joints if name != first))
        assert b.independent_coordinates(closed.model, closed.loops, q, prefer=order).names == (first,)


@pytest.mark.parametrize("length", [1e-4, 1e4])
def test_the_choice_does_not_depend_on_the_unit_of_length(rng, length):
    """Radians and lengths weigh alike: a slider and a crank."""
    closed = MECHANISMS["slider_crank"](rng)
    model, loop = closed.model, closed.loops[0]
    q, _, _ = closed.state(rng)
    scaled = model.scale(length, 1.0)
    ends = [(R, length * np.array(r)) for R, r in (loop.predecessor_pose, loop.successor_pose)]
    q_scaled = np.where(model.lengths[0], length, 1.0) * flat(q)
    one = b.independent_coordinates(model, loop, q)
    other = b.independent_coordinates(scaled, od.Loop(loop.predecessor, loop.successor, loop.axes, *ends), q_scaled)
    assert (other.independent, other.dependent, other.rows) == (one.independent, one.dependent, one.rows)
    assert other.pivot == pytest.approx(one.pivot, rel=1e-6)


# The transformation


@every_mechanism
def test_matrices(rng, name):
    """Phi_z R2 = 0, Phi_z S2 = 1 for the kept rows, B R2 = 1, B S2 = 0."""
    closed = MECHANISMS[name](rng)
    model, loops = closed.model, closed.loops
    q, qd, _ = closed.state(rng)
    choice = b.independent_coordinates(model, loops, q)
    independent, kept = list(choice.independent), list(choice.rows)
    x = SX.sym("q", model.nq)
    f = ca.Function("f", [x], list(b.independent_transformation(model, loops, x, choice)))
    R2, S2 = (y.full() for y in f(q))
    G = od.constraint_jacobian(model, loops, q).full()
    close(G @ R2, np.zeros((len(G), closed.freedom)))
    close((G @ S2)[np.ix_(kept, kept)], np.eye(len(kept)))
    assert not S2[:, [k for k in range(len(G)) if k not in kept]].any()
    assert np.array_equal(R2[independent], np.eye(closed.freedom))
    assert not S2[independent].any()
    close(b.dependent_qd(model, loops, q, qd[independent], choice), qd, 1e-9)  # qd keeps the loops to 1e-9


def test_loops_apart_leave_zeros(rng):
    """The coordinates of one loop do not depend on those of another."""
    model = od.models.pendulum(1).attach(four_bar(rng, XY).model, "world", "one_")
    model = model.attach(four_bar(rng, XY).model, "world", "two_")
    loops = tuple(
        od.Loop(f"{k}_coupler", f"{k}_rocker", XY, (I3, (1.1, 0, 0)), (I3, (0.8, 0, 0))) for k in ("one", "two")
    )
    q = od.assemble_q(model, loops, (0.1, 1, -0.5, 1.5, 1, -0.5, 1.5))
    choice = b.independent_coordinates(model, loops, q, prefer=("one_crank_joint", "two_crank_joint"))
    R2, S2 = b.independent_transformation(model, loops, SX.sym("q", model.nq), choice)
    assert choice.names == ("joint1", "one_crank_joint", "two_crank_joint")
    assert R2.nnz() == 1 + 3 + 3
    assert S2.nnz() == 4 + 4


# Positions


@every_mechanism
def test_dependent_positions(rng, name):
    closed = MECHANISMS[name](rng)
    model, loops = closed.model, closed.loops
    q, _, _ = closed.state(rng)
    choice = b.independent_coordinates(model, loops, q)
    step = np.zeros(model.nv)
    step[list(choice.independent)] = 0.1 * rng.normal(size=closed.freedom)
    start = model.integrate(q, DM(step))
    found = b.dependent_q(model, loops, start, choice)
    assert np.abs(flat(od.constraint_position(model, loops, DM(found)))).max() < 1e-11
    moved = flat(model.difference(start, DM(found)))
    single = [k for k in choice.independent if not model.joints[dof_body(model, k)].has_quaternion]
    assert not np.abs(moved[single]).max(initial=0.0) > 1e-15


def dof_body(model: od.Model, k: int) -> int:
    return next(i for i, _ in model.edges if k in model.dofs_of(i))


def test_a_crank_that_cannot_turn_further_is_told(rng):
    closed = four_bar(rng, XY)
    q, _, _ = closed.state(rng)
    choice = b.independent_coordinates(closed.model, closed.loops, q, prefer="rocker_joint")
    far = flat(q)
    far[2] += 2.0
    told = r"loop 'coupler-rocker' does not close with rocker_joint held: after 50 steps the error of "
    with pytest.raises(od.AssemblyError, match=told + r"coupler-rocker.t[xy] is .* Start nearer"):
        b.dependent_q(closed.model, closed.loops, far, choice)


def test_positions_far_from_the_start(rng):
    """Newton's method goes on where a step leads to a larger error."""
    closed = four_bar(rng, XY)
    q, choice = closed.assembled()
    for away in ([0.329, -0.553, -1.102], [-1.16, 0.752, 0.991], [0.711, -0.646, -1.075]):
        found = b.dependent_q(closed.model, closed.loops, flat(q) + away, choice)
        assert np.abs(flat(od.constraint_position(closed.model, closed.loops, DM(found)))).max() < 1e-12


# Singular, open and locked positions


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-6, 1e-5])
def test_change_points_are_told(angle):
    closed = parallelogram()
    q = (angle, -angle, angle)
    told = r"q is a singular position of loop 'four-bar': rank [12] .*motion of .*_joint does not follow .* "
    with pytest.raises(b.SingularPositionError, match=told + r"method='penalty'") as error:
        b.independent_coordinates(closed.model, closed.loops, q)
    assert error.value.pivot < 1e-5


def test_no_false_alarm_near_a_change_point():
    closed = parallelogram()
    for angle in (0.05, 0.3, 1.5, -2.0):
        assert b.independent_coordinates(closed.model, closed.loops, (angle, -angle, angle)).pivot > 1e-3
    slender = parallelogram(1e-4)
    assert len(b.independent_coordinates(slender.model, slender.loops, (1.0, -1.0, 1.0)).independent) == 1


@pytest.mark.parametrize("q", [DM(3, 1), DM.zeros(3, 1)])
def test_at_a_change_point_an_earlier_choice_gives_no_numbers(q):
    """Whether or not the zeros are stored."""
    closed = parallelogram()
    choice = b.independent_coordinates(closed.model, closed.loops, (1.0, -1.0, 1.0))
    R2, _ = b.independent_transformation(closed.model, closed.loops, q, choice)
    assert not np.isfinite(R2.full()).all()
    at = (q, DM.zeros(3, 1), DM([1, 2, 3]))
    qdd, _ = b.closed_chain_dynamics(closed.model, closed.loops, *at, method="independent", independent=choice)
    assert not np.isfinite(qdd.full()).all()


def test_an_overconstrained_mechanism_is_not_singular(rng):
    """Bricard's has rank 4 of 5 rows wherever it is closed."""
    closed = bricard(rng)
    choice = b.independent_coordinates(closed.model, closed.loops, closed.start)
    assert len(choice.rows) == 4
    assert len(choice.dropped) == 1


def test_the_penalty_method_goes_through_a_change_point():
    """There H + alpha Phi_z' Phi_z has an inverse, and accelerations keep the loop, up to 1/alpha."""
    closed = parallelogram()
    at = (DM(3, 1), DM([1.0, -1.0, 1.0]), DM(3, 1))
    qdd, _ = b.closed_chain_dynamics(closed.model, closed.loops, *at, method="penalty")
    G = od.constraint_jacobian(closed.model, closed.loops, at[0])
    close(G @ qdd, od.constraint_hessian(closed.model, closed.loops, *at[:2]), 1e-6)


def test_an_open_loop_is_told(rng):
    closed = six_bar(rng)
    with pytest.raises(od.AssemblyError, match=r"loop '(first|second)' is open at q: the error of \w+.t[xyz] is "):
        b.independent_coordinates(closed.model, closed.loops, closed.start)


def test_a_locked_mechanism_is_told():
    builder = od.ModelBuilder("triangle")
    builder.add_body("one", od.Revolute("z"), mass=1, inertia=I3)
    builder.add_body("two", od.Revolute("z"), "one", origin=(1, 0, 0), mass=1, inertia=I3)
    builder.add_frame("foot", "world", (1.5, 0, 0))
    model = builder.build()
    loop = od.Loop("two", "foot", XY, (I3, (1, 0, 0)), label="triangle")
    q = od.assemble_q(model, loop, (0.7, -1.5))
    with pytest.raises(
        ValueError, match=r"mechanism is locked: none of its 2 coordinates is free with loop 'triangle'"
    ):
        b.independent_coordinates(model, loop, q)


def test_wrong_arguments(rng):
    closed = four_bar(rng, XY)
    q, qd, _ = closed.state(rng)
    choice = b.independent_coordinates(closed.model, closed.loops, q)
    with pytest.raises(KeyError, match=r"no joint or dof 'crank'; dofs are: .* did you mean 'crank_joint'"):
        b.independent_coordinates(closed.model, closed.loops, q, prefer="crank")
    with pytest.raises(ValueError, match="chosen for another model or other loops"):
        b.independent_transformation(closed.model, four_bar(rng, "ball").loops, q, choice)
    with pytest.raises(
        ValueError,
        match=r"qd, the velocities of \w+_joint, must have 1 entries \(crank_joint\) in one column, got shape",
    ):
        b.dependent_qd(closed.model, closed.loops, q, qd, choice)
    for wrong in ("fast", None):
        with pytest.raises(TypeError, match="qd, the velocities of"):
            b.dependent_qd(closed.model, closed.loops, q, wrong, choice)
    with pytest.raises(TypeError, match="expressions must be of one kind, got SX and MX"):
        b.dependent_qd(closed.model, closed.loops, MX.sym("q", 3), SX.sym("qd"), choice)
    close(*(b.dependent_qd(closed.model, closed.loops, q, rate, choice) for rate in (2.0, DM([2.0]))))
    for wrong in (0, 2.5, "many"):
        with pytest.raises(ValueError, match="dependent_q: iterations must be at least 1, a whole number, got"):
            b.dependent_q(closed.model, closed.loops, q, choice, iterations=wrong)
    with pytest.raises(TypeError, match="independent must be a choice of independent coordinates, got 'crank_joint'"):
        b.independent_transformation(closed.model, closed.loops, q, "crank_joint")
    symbolic = od.with_parameters(closed.model, {"gravity": SX.sym("g", 3)})
    with pytest.raises(od.ModelError, match="chosen from numbers, and this model holds symbols"):
        b.independent_coordinates(symbolic, closed.loops, q)
