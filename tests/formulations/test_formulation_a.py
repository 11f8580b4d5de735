"""Formulation A: natural coordinates of open chains, and of closed chains by removed rigid bodies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.formulations.closed.branches import Branches
from tests.formulations.mechanisms import MECHANISMS, Closed, add, base
from tests.helpers import TREES, State, close, evaluate, flat, rate_of, symbols, tree

pytestmark = pytest.mark.slow

b = od.formulations
ALGORITHMS = (
    b.velocity_transformation_a, b.velocity_products_a, b.projected_equations_a, b.forward_dynamics_formulation_a,
)  # fmt: skip
TAKEN = [key for key in TREES if key != "screws"]
ALL = od.Loads(passive=True, armature=True)
MODELS = {
    "human": od.models.human(),
    "compass": od.models.compass_walker(),
}


def check(model: od.Model, s: State, scale: float = 1.0, **options) -> None:
    """R and Sc against the rates of natural coordinates, H, C and qdd against CRBA, RNEA and ABA."""
    natural = b.natural(model)
    q, qd = DM(s.q), DM(s.qd)
    R = evaluate(b.velocity_transformation_a, model, natural, args=[s.q])
    close(R @ s.qd / scale, b.natural_velocity(model, natural, q, qd) / scale)
    x = b.natural_from_q(model, natural, q)
    J = b.natural_jacobian(model, natural, x).full() / scale
    close(J @ R / scale, np.zeros((natural.m, model.nv)))
    Sc = evaluate(b.velocity_products_a, model, natural, args=[s.q, s.qd])
    close(J @ Sc / scale, flat(b.natural_jacobian_rate(model, natural, x, DM(R @ s.qd))) / scale**2)
    for got, expected in zip(
        evaluate(b.projected_equations_a, model, natural, args=[s.q, s.qd], **options),
        evaluate(od.equations_of_motion, model, args=[s.q, s.qd], **options), strict=True,
    ):  # fmt: skip
        close(got / np.abs(expected).max(), expected / np.abs(expected).max())
    qdd = evaluate(od.forward_dynamics, model, args=[s.q, s.qd, s.tau], **options)
    close(evaluate(b.forward_dynamics_formulation_a, model, natural, args=[s.q, s.qd, s.tau], **options), qdd)


@pytest.mark.parametrize("key", TAKEN)
def test_every_joint(rng, key):
    model = tree(key)
    check(model, State.of(model, rng))


@pytest.mark.parametrize("key", MODELS)
def test_ready_models(rng, key):
    model = MODELS[key]
    check(model, State.of(model, rng), loads=ALL)


def test_joints_of_several_dofs_along_any_axes(rng):
    joint = od.MultiDof([(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 2, 3), (0.6, 0, 0.8, 0, 0, 0)])
    model = od.random_tree(4, 1.5, (joint, od.Revolute((1, 2, 3))), rng)
    check(model, State.of(model, rng))


def test_external_wrenches(rng):
    model = tree("floating")
    natural = b.natural(model)
    s = State.of(model, rng)
    loads = od.Loads(passive=True, armature=True, external=("b3", "b5", "b3"))
    given = [s.q, s.qd, s.tau, rng.normal(size=(6, 3))]
    got = evaluate(b.forward_dynamics_formulation_a, model, natural, args=given, loads=loads)
    close(got, evaluate(od.forward_dynamics, model, args=given, loads=loads))


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-9), (1e3, 1e9)])
def test_scales(rng, length, mass):
    model = tree("forest").scale(length, mass).with_gravity((0.3 * length, 0, -9.8 * length))
    s = State.of(model, rng)
    by_q, by_v = model.lengths
    s.q[by_q] *= length
    for x in (s.qd, s.qdd):
        x[by_v] *= length
    s.tau = flat(od.inverse_dynamics(model, DM(s.q), DM(s.qd), DM(s.qdd)))
    check(model, s, max(length, 1.0))


def test_R_is_zero_where_a_dof_does_not_move_an_element():
    """Elements that two bodies share move with the first of them."""
    model = od.models.pendulum(3)
    natural = b.natural(model)
    R = b.velocity_transformation_a(model, natural, SX.sym("q", 3))
    assert natural.names[:4] == ("P2.x", "P2.z", "P3.x", "P3.z")
    pattern = np.array(DM(R.sparsity(), 1).full(), dtype=bool)
    assert [list(np.flatnonzero(row)) for row in pattern[:4]] == [[0], [0], [0, 1], [0, 1]]


def test_inertias_and_gravity_as_inputs(rng):
    model = tree("euler_zyx")
    natural = b.natural(model)
    names = ("gravity", "inertia:b3", "mass:b2")
    s = State.of(model, rng)
    given = [s.q, s.qd, s.tau, (1, 2, 3), (2, 0.1, 0.2, 0.3, 3, 0.1, 4, 0.2, 0.3, 5), 3.0]
    f = od.function(b.forward_dynamics_formulation_a, model, natural, parameters=names)
    close(f(*given), od.function(od.forward_dynamics, model, parameters=names)(*given))


def test_closed_chains_are_refused():
    model = od.models.pendulum(3)
    loop = od.Loop("link1", "link3", ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)), successor_pose=(np.eye(3), (0, 0, -0.5)))
    natural = b.natural(model, loop, q=od.assemble_q(model, loop, (0.3, 2.0, 1.6)))
    with pytest.raises(ValueError, match=r"belong to a closed chain: .*natural\(model\), or open the loops by"):
        b.velocity_transformation_a(model, natural, DM(3, 1))


# Closed chains by removed rigid-body conditions

REMOVED = (
    "four_bar-coupler", "four_bar-crank", "spatial_four_bar-coupler", "six_bar-coupler", "bricard-link2",
    "slider_crank-slider", "sliding_line-crank", "floating_legs-thigh_l", "four_bar_xy-rocker", "pin_in_slot-crank",
    "slot_in_link-crank",
)  # fmt: skip
"""Bodies with and without others behind them, with joints of all kinds at either end."""
SIGNATURE = "q qd tau f_ext? -> qdd lam xdd"


@pytest.mark.parametrize("key", REMOVED)
def test_any_body_may_be_removed(rng, key):
    """Accelerations are those of cut joints, whether or not the body carries others, and whatever its joints are."""
    name, body = key.split("-")
    closed = MECHANISMS[name](rng)
    model, loops = closed.model, closed.loops
    q, qd, tau = closed.state(rng)
    opened = b.open_by_removing(model, loops, body, q=q)
    qdd, lam, xdd = (flat(y) for y in b.closed_chain_dynamics_a(model, opened, q, qd, tau))
    expected, _ = b.closed_chain_dynamics(model, loops, q, qd, tau)
    close(qdd, expected)
    close(xdd, acceleration(model, opened.natural, q, qd, expected))
    assert len(lam) == len(opened.conditions) >= 1
    x, xd = b.natural_from_q(model, opened.natural, q), b.natural_velocity(model, opened.natural, q, qd)
    J, M = b.natural_jacobian(model, opened.natural, x).full(), b.natural_mass_matrix(model, opened.natural, x).full()
    rest = M @ xdd - flat(b.natural_force(model, opened.natural, x, xd, tau)) - J[list(opened.rows)].T @ lam
    others = np.delete(J, opened.rows, axis=0).T  # forces of the conditions that the branches keep by themselves
    close(rest, others @ np.linalg.lstsq(others, rest, rcond=1e-10)[0] if others.size else 0 * rest, 1e-9)


def acceleration(model: od.Model, natural, q: DM, qd: DM, qdd: DM) -> np.ndarray:
    """xdd at (q, qd, qdd), by automatic differentiation of the velocities."""
    at = symbols(model)
    rate = rate_of(b.natural_velocity(model, natural, *at[:2]), model, *at)
    return flat(ca.Function("rate", at, [rate])(q, qd, qdd))


def test_the_coupler_of_a_four_bar(rng):
    """Its length is the only condition, and crank and rocker are the open branches."""
    closed = MECHANISMS["four_bar_revolute"](rng)
    q, _, _ = closed.state(rng)
    opened = b.open_by_removing(closed.model, closed.loops, "coupler", q=q)
    assert opened.names == ("crank_joint", "rocker_joint")
    assert [name.split(":")[0] for name in opened.conditions] == ["coupler"]
    assert [(edge.start, edge.end, edge.backwards) for edge in opened.edges] == [(0, 1, False), (0, 3, False)]


def test_bodies_beyond_the_removed_one_hang_on_the_other_end(rng):
    """Bricard's third link removed: links 4 and 5 are reached from the ground through the loop."""
    closed = MECHANISMS["bricard"](rng)
    q, _, _ = closed.state(rng)
    opened = b.open_by_removing(closed.model, closed.loops, "link3", q=q)
    assert opened.names == ("link1_joint", "link2_joint", "link5-base.free1", "link5_joint")
    assert [(edge.start, edge.end, edge.backwards) for edge in opened.edges[2:]] == [(0, 5, True), (5, 4, True)]


def test_sliders_in_reverse(rng):
    """An inverted slider-crank without its crank: its coupler slides on a block that turns on the ground."""
    builder = base("inverted", rng)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng)
    add(builder, "coupler", od.Revolute("z"), "crank", (0.4, 0, 0), rng)
    add(builder, "block", od.Prismatic("x"), "coupler", (0.1, 0.2, 0), rng)
    loop = od.Loop("base", "block", "revolute", (np.eye(3), (1, 0.1, 0)))
    closed = Closed(builder.build(), (loop,), 1, (1.0, -1.0, 0.9))
    at = closed.state(rng)
    opened = b.open_by_removing(closed.model, closed.loops, "crank", q=at[0])
    assert [edge.backwards for edge in opened.edges] == [False, True]
    close(b.closed_chain_dynamics_a(closed.model, opened, *at)[0],
          b.closed_chain_dynamics(closed.model, closed.loops, *at)[0])  # fmt: skip


def test_several_bodies_may_be_removed(rng):
    """Their common point moves freely. The rocker's end is linear in points of the coupler, so its joint moves
    nothing."""
    closed = MECHANISMS["six_bar"](rng)
    at = closed.state(rng)
    opened = b.open_by_removing(closed.model, closed.loops, ("coupler", "link"), q=at[0])
    assert opened.bodies == ("coupler", "link")
    assert opened.names == ("crank_joint", "lever_joint", "P4.1", "P4.2")
    close(b.closed_chain_dynamics_a(closed.model, opened, *at)[0],
          b.closed_chain_dynamics(closed.model, closed.loops, *at)[0])  # fmt: skip


def test_rates_that_move_nothing_are_left_out(rng):
    """In a row of four-bars the points of a bar may all belong to its neighbors; then its own rate moves none."""
    row = od.models.n_four_bar(4)
    q = DM(row.q) + 0.0
    choice = b.independent_coordinates(row.model, row.loops, q)
    step = np.zeros(row.model.nv)
    step[choice.independent[0]] = 0.3
    q = DM(b.dependent_q(row.model, row.loops, row.model.integrate(q, DM(step)), choice))
    qd, tau = b.dependent_qd(row.model, row.loops, q, DM([1.3]), choice), DM(rng.normal(size=row.model.nv))
    expected, _ = b.closed_chain_dynamics(row.model, row.loops, q, qd, tau)
    fewer = 0
    for body in row.model.body_names:
        opened = b.open_by_removing(row.model, row.loops, body, q=q)
        close(b.closed_chain_dynamics_a(row.model, opened, q, qd, tau)[0], expected)
        fewer += len(opened.names) < len(opened.rates)
    assert fewer


def test_loads_and_stabilization_of_removed_bodies(rng):
    closed = MECHANISMS["six_bar"](rng)
    model, loops = closed.model, closed.loops
    q, qd, tau = closed.state(rng)
    opened = b.open_by_removing(model, loops, "coupler", q=q)
    loads = od.Loads(passive=True, external=("coupler", "lever"))
    f_ext = DM(rng.normal(size=(6, 2)))
    expected, _ = od.constrained_dynamics(model, loops, q, qd, tau, f_ext, loads=loads)
    f = od.function(b.closed_chain_dynamics_a, model, opened, signature=SIGNATURE, name="FDc_A", loads=loads)
    close(f(q, qd, tau, f_ext)[0], expected)
    close(b.closed_chain_dynamics_a(model, opened, q, qd, tau, f_ext, baumgarte=(5, 1), loads=loads)[0], expected)
    soft, hard = (
        flat(b.closed_chain_dynamics_a(model, opened, q, qd, tau, f_ext, method="penalty", alpha=a, loads=loads)[0])
        for a in (1e5, 1e6)
    )
    close((10 * hard - soft) / 9, expected, 1e-7)  # what is left is of the order 1/alpha^2


def test_stabilization_pulls_an_open_chain_together(rng):
    """With Baumgarte's terms Phi'' = -2 xi omega Phi' - omega^2 Phi in the conditions."""
    closed = MECHANISMS["slider_crank"](rng)
    model = closed.model
    q, qd, tau = closed.state(rng)
    opened = b.open_by_removing(model, closed.loops, "coupler", q=q)
    natural, rows = opened.natural, list(opened.rows)
    q = q + DM([0.01, 0, 0.02])
    xdd = b.closed_chain_dynamics_a(model, opened, q, qd, tau, baumgarte=(6.0, 0.7))[2]
    full = b.closed_chain_dynamics_a(model, opened, q, qd, tau)[2]
    at = open_x(model, opened, q, qd)
    J = b.natural_jacobian(model, natural, at[0])[rows, :]
    Phi = b.natural_constraints(model, natural, at[0])[rows]
    close(J @ (xdd - full), -2 * 0.7 * 6 * (J @ at[1]) - 36 * Phi)


def open_x(model: od.Model, opened, q: DM, qd: DM) -> tuple[DM, DM]:
    """(x, xd) of the branches at a position that is not closed."""
    found = Branches.of(model, opened, q, qd)
    return found.x, found.xd


def test_what_cannot_be_removed(rng):
    closed = MECHANISMS["floating_legs"](rng)
    model, loops = closed.model, closed.loops
    q, qd, tau = closed.state(rng)
    with pytest.raises(ValueError, match=r"without trunk nothing supports thigh_l, shank_l, .* Remove another body"):
        b.open_by_removing(model, loops, "trunk", q=q)
    with pytest.raises(KeyError, match=r"no moving body 'thigh'; bodies are: .* did you mean 'thigh_r'"):
        b.open_by_removing(model, loops, "thigh", q=q)
    with pytest.raises(TypeError, match=r"open_by_removing takes loops, .* got Contact"):
        b.open_by_removing(model, od.Contact("shank_l"), "shank_l", q=q)
    opened = b.open_by_removing(model, loops, "shank_l", q=q)
    with pytest.raises(ValueError, match="method='independent' is for cut joints"):
        b.closed_chain_dynamics_a(model, opened, q, qd, tau, method="independent")
    with pytest.raises(ValueError, match=r"natural coordinates have a constant mass matrix, loads.armature would"):
        b.closed_chain_dynamics_a(model, opened, q, qd, tau, loads=od.Loads(armature=True))
    with pytest.raises(TypeError, match=r"opened must be a chain without one of its bodies, .* got Loop"):
        b.closed_chain_dynamics_a(model, loops[0], q, qd, tau)


# Stages


def test_stages_of_open_chains(rng):
    model = tree("forest")
    natural = b.natural(model)
    at = symbols(model)
    found = b.stages_a(model, natural, *at)
    s = State.of(model, rng)
    f = ca.Function("f", list(at), list(found), ["q", "qd", "tau"], list(found._fields))
    values = dict(zip(found._fields, f.call([DM(s.q), DM(s.qd), DM(s.tau)]), strict=True))
    close(values["linear_equations"], od.forward_dynamics(model, DM(s.q), DM(s.qd), DM(s.tau)), 1e-9)
    close(values["velocities"], b.natural_velocity(model, natural, DM(s.q), DM(s.qd)))
    close(values["positions"][9 * model.nb :], b.natural_from_q(model, natural, DM(s.q)))
    close(values["assembly"], DM(s.tau) - od.bias_force(model, DM(s.q), DM(s.qd)))
    assert not any(values[name].numel() for name in ("M", "C", "closing_jacobian", "closing_products"))


def test_stages_of_removed_bodies(rng):
    closed = MECHANISMS["bricard"](rng)
    at = closed.state(rng)
    opened = b.open_by_removing(closed.model, closed.loops, "link3", q=at[0])
    x = [SX.sym(name, 5) for name in ("q", "qd", "tau")]
    found = b.stages_a(closed.model, opened.natural, *x, opened=opened)
    solution, Sc, R = (flat(y) for y in ca.Function("f", x, [found.linear_equations, found.Sc, found.R])(*at))
    _, lam, xdd = b.closed_chain_dynamics_a(closed.model, opened, *at)
    close(solution[4:], lam)
    branches = Branches.of(closed.model, opened, at[0], at[1])
    close(branches.R @ solution[:4] + Sc, xdd)
    close(np.linalg.norm(R), np.linalg.norm(branches.R.full()))
    with pytest.raises(ValueError, match=r"must belong together: give opened.natural"):
        b.stages_a(closed.model, b.natural(closed.model), *at, opened=opened)
    with pytest.raises(TypeError, match=r"opened must be a chain without one of its bodies, .* got 'link3'"):
        b.stages_a(closed.model, opened.natural, *at, opened="link3")
