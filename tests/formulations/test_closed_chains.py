"""Closed chains by cut joints: rows in the velocities of bodies, multipliers, penalty, independent coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.formulations.cut_joints import closing_rows
from tests.formulations.mechanisms import I3, MECHANISMS, XY, four_bar, six_bar
from tests.helpers import State, close, flat, random_rotation, tree

pytestmark = pytest.mark.slow

b = od.formulations
every_mechanism = pytest.mark.parametrize("name", MECHANISMS)


def accelerations(closed, at, **options) -> list[np.ndarray]:
    """(qdd, lam) of closed_chain_dynamics."""
    return [flat(x) for x in b.closed_chain_dynamics(closed.model, closed.loops, *at, **options)]


def same_motion(closed, at, got, expected, tolerance: float = 1e-10) -> None:
    """Equal accelerations and joint forces G' lam; lam itself may differ where rows repeat others."""
    G = od.constraint_jacobian(closed.model, closed.loops, at[0]).full()
    close(got[0], expected[0], tolerance)
    close(G.T @ got[1], G.T @ flat(expected[1]), tolerance)


# Rows


def any_loops(rng: np.random.Generator) -> list[od.Loop]:
    """Loops between all sorts of bodies, along all sorts of axes, sliding and not."""

    def end() -> tuple[np.ndarray, np.ndarray]:
        return random_rotation(rng), rng.uniform(-0.5, 0.5, 3)

    pairs = [("b2", "b4"), ("base", "b3"), ("b5", "base"), ("b3", "b3"), ("tool", "b5"), ("b1", "tool")]
    oblique = [tuple(rng.normal(size=6)) for _ in range(3)]
    kinds = ("revolute", oblique, "fixed", oblique[:2], "cylindrical", "orientation")
    return [
        od.Loop(p, s, kind, end(), end(), sliding=None if k % 2 else True, label=f"loop{k}")
        for k, ((p, s), kind) in enumerate(zip(pairs, kinds, strict=True))
    ]


@pytest.mark.parametrize("key", ["floating", "multi_dof", "custom", "spherical", "prismatic_x"])
def test_rows_are_those_of_loops(rng, key):
    """At any position, closed or not: Phi2_q R = G, c2 - Phi2_q Sc = gamma, and velocities."""
    builder = od.ModelBuilder("ground")
    builder.add_body("slide", od.Prismatic("x"), mass=1)
    builder.add_frame("base", "world", (0.3, 0.1, -0.2), random_rotation(rng))
    model = (
        builder.build().attach(tree(key, rng), "base").with_frame("tool", "b2", (0.1, 0.2, 0.3), random_rotation(rng))
    )
    loops = any_loops(rng)
    s = State.of(model, rng)
    q, qd = DM(s.q), DM(s.qd)
    rows = closing_rows(model, loops, q, qd)
    G = od.constraint_jacobian(model, loops, q)
    close(rows.Phi_z, G)
    close(b.closing_jacobian(model, loops, q) @ b.velocity_transformation(model, q), G)
    close(rows.gamma, od.constraint_hessian(model, loops, q, qd))
    close(rows.rate, od.constraint_velocity(model, loops, q, qd))


def test_a_row_touches_two_bodies_only(rng):
    model = tree("chain")
    loops = (od.Loop("b2", "b4", "revolute"), od.Loop("b1", "b3", "ball"))
    pattern = b.closing_jacobian(model, loops, SX.sym("q", model.nq)).sparsity()
    bodies = [{column // 6 + 1 for row, column in zip(pattern.row(), pattern.get_col(), strict=True) if row in rows}
              for rows in (range(5), range(5, 8))]  # fmt: skip
    assert bodies == [{2, 4}, {1, 3}]


# Accelerations


@every_mechanism
def test_accelerations_equal_constrained_dynamics(rng, name):
    """By multipliers, and in independent coordinates."""
    closed = MECHANISMS[name](rng)
    at = closed.state(rng)
    expected = od.constrained_dynamics(closed.model, closed.loops, *at)
    for got, known in zip(accelerations(closed, at), expected, strict=True):
        close(got, known)
    choice = b.independent_coordinates(closed.model, closed.loops, at[0])
    assert len(choice.independent) == closed.freedom
    got = accelerations(closed, at, method="independent", independent=choice)
    same_motion(closed, at, got, expected)
    assert not any(got[1][k] for k in range(len(got[1])) if k not in choice.rows)


@every_mechanism
def test_the_penalty_method_solves_its_equation(rng, name):
    """(8.115) by dense matrices, at an open position, and its multipliers."""
    closed = MECHANISMS[name](rng)
    model, loops = closed.model, closed.loops
    q, qd, tau = closed.state(rng)
    q, qd = model.integrate(q, DM(1e-3 * rng.normal(size=model.nv))), qd + 1e-3 * rng.normal(size=model.nv)
    alpha, omega, mu = 1e4, 7.0, 0.8
    H, C, G, gamma = (flat(x) for x in od.constrained_equations(model, loops, q, qd))
    H, G = H.reshape(model.nv, -1), G.reshape(-1, model.nv)
    error = 2 * omega * mu * (G @ flat(qd)) + omega**2 * flat(od.constraint_position(model, loops, q)) - gamma
    expected = np.linalg.solve(H + alpha * G.T @ G, flat(tau) - C - alpha * G.T @ error)
    qdd, lam = accelerations(
        closed, (q, qd, tau), method="penalty", alpha=alpha, omega=omega, mu=mu,
    )  # fmt: skip
    close(qdd, expected, 1e-9)  # the condition of the matrix is 1e5
    close(lam, -alpha * (G @ qdd + error), 1e-8)


@pytest.mark.parametrize("name", ["bricard", "six_bar", "spatial_four_bar"])
def test_penalties_converge_to_multipliers(rng, name):
    """Errors shrink as 1/alpha; forces, and shares of rows that repeat others, sum to those of the multipliers."""
    closed = MECHANISMS[name](rng)
    at = closed.state(rng)
    expected = od.constrained_dynamics(closed.model, closed.loops, *at)
    soft, hard = (accelerations(closed, at, method="penalty", alpha=alpha) for alpha in (1e4, 1e5))
    ratio = np.abs(soft[0] - flat(expected[0])).max() / np.abs(hard[0] - flat(expected[0])).max()
    assert 9 < ratio < 11
    extrapolated = [(10 * fine - coarse) / 9 for fine, coarse in zip(hard, soft, strict=True)]
    same_motion(closed, at, extrapolated, expected, 1e-7)  # what is left is of the order 1/alpha^2


def test_baumgarte_terms(rng):
    """Terms of `od.Baumgarte` with omega = 1/T, xi = 1, in the two methods that take them."""
    closed = six_bar(rng, XY)
    model, loops = closed.model, closed.loops
    q, qd, tau = closed.state(rng)
    at = (q + 1e-2 * rng.normal(size=model.nv), qd + 0.1 * rng.normal(size=model.nv), tau)
    expected = od.constrained_dynamics(model, [od.Baumgarte(loop, 0.2) for loop in loops], *at)
    choice = b.independent_coordinates(model, loops, q)
    for options in ({}, {"method": "independent", "independent": choice}):
        got = accelerations(closed, at, baumgarte=(5.0, 1.0), **options)
        close(got[0], expected[0])
        close(got[1], expected[1])
    weaker = accelerations(closed, at, baumgarte=(5.0, 0.5))
    assert np.abs(weaker[0] - flat(expected[0])).max() > 1e-3


@pytest.mark.parametrize("method", ["multipliers", "independent"])
def test_loads(rng, method):
    closed = four_bar(rng)
    q, qd, tau = closed.state(rng)
    f_ext = DM(rng.normal(size=(6, 2)))
    loads = od.Loads(passive=True, armature=True, external=("rocker", "coupler"))
    choice = b.independent_coordinates(closed.model, closed.loops, q) if method == "independent" else None
    got = accelerations(closed, (q, qd, tau, f_ext), method=method, independent=choice, loads=loads)
    expected = od.constrained_dynamics(closed.model, closed.loops, q, qd, tau, f_ext, loads=loads)
    same_motion(closed, (q,), got, expected)


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-9), (1e3, 1e9)])
def test_scales(rng, length, mass):
    """In other units of length and mass the same angles, velocities and accelerations."""
    closed = MECHANISMS["six_bar"](rng)
    q, qd, _ = closed.state(rng)
    at = (q, qd, DM(5, 1))
    scaled = closed.model.scale(length, mass).with_gravity(length * np.array(closed.model.gravity))
    loops = tuple(
        od.Loop(l.predecessor, l.successor, l.axes, *((R, length * np.array(r)) for R, r in
                (l.predecessor_pose, l.successor_pose)), label=l.label) for l in closed.loops
    )  # fmt: skip
    choices = [b.independent_coordinates(m, c, q) for m, c in ((closed.model, closed.loops), (scaled, loops))]
    assert choices[0].independent == choices[1].independent
    expected = flat(b.closed_chain_dynamics(closed.model, closed.loops, *at)[0])
    for options in ({}, {"method": "independent", "independent": choices[1]}):
        close(b.closed_chain_dynamics(scaled, loops, *at, **options)[0], expected, 1e-9)


def test_parameters_of_model_and_loop(rng):
    closed = four_bar(rng)
    at = closed.state(rng)
    names = ("gravity", "inertia:coupler", "successor:coupler-rocker")
    values = ((1, 2, 3), (2, 0.1, 0.2, 0.3, 3, 0.1, 4, 0.2, 0.3, 5), (0.8, 0.0, 0.0))
    f, g = (od.function(a, closed.model, closed.loops, parameters=names)
            for a in (b.closed_chain_dynamics, od.constrained_dynamics))  # fmt: skip
    for got, expected in zip(f(*at, *values), g(*at, *values), strict=True):
        close(got, expected)


def test_contacts_and_loops_together(rng):
    """Constraints other than loops by their G and gamma."""
    closed = MECHANISMS["floating_legs"](rng)
    model = closed.model
    s = State.of(model, rng)
    held = (od.Contact("shank_l", (0, 0, -0.6)), *closed.loops)
    at = (DM(s.q), DM(s.qd), DM(s.tau))
    for got, expected in zip(
        b.closed_chain_dynamics(model, held, *at), od.constrained_dynamics(model, held, *at), strict=True
    ):
        close(got, expected, 1e-9)


def test_the_cost_of_penalties_grows_with_the_number_of_loops(rng):
    """The factor follows a row of four-bars: each further one adds as many operations."""

    def row(count: int) -> tuple[od.Model, tuple[od.Loop, ...]]:
        builder = od.ModelBuilder("row")
        for k in range(count + 1):
            builder.add_body(f"bar{k}", od.Revolute("y"), origin=(k, 0, 0), mass=1, com=(0, 0, 0.5), inertia=(1, 1, 1))
            if k < count:
                builder.add_body(f"coupler{k}", od.Revolute("y"), f"bar{k}", origin=(0, 0, 1), mass=1, com=(0.5, 0, 0),
                                 inertia=(1, 1, 1))  # fmt: skip
        axes = ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1))
        return builder.build(), tuple(od.Loop(f"coupler{k}", f"bar{k + 1}", axes, (I3, (1, 0, 0)), (I3, (0, 0, 1)))
                                      for k in range(count))  # fmt: skip

    counts = [od.function(b.closed_chain_dynamics, *row(n), method="penalty").n_instructions() for n in (4, 8, 12)]
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.02)


def test_a_body_without_inertia_in_a_loop():
    """The open chain has no accelerations then, and neither has (8.114); the loop moves the body all the same."""
    light, heavy = (od.ModelBuilder(name) for name in ("light", "heavy"))
    for builder, mass in ((light, 0.0), (heavy, 1e-9)):
        builder.add_body("crank", od.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
        builder.add_body("coupler", od.Revolute("z"), "crank", origin=(0.4, 0, 0), mass=mass, inertia=mass * I3)
        builder.add_body("rocker", od.Revolute("z"), origin=(1, 0, 0), mass=2.0, com=(0.1, 0.2, 0), inertia=(1, 1, 1))
    loop = od.Loop("coupler", "rocker", XY, (I3, (1.1, 0, 0)), (I3, (0.8, 0, 0)))
    model, almost = light.build(), heavy.build()
    q = DM(od.assemble_q(model, loop, (1.0, -0.5, 1.5)))
    choice = b.independent_coordinates(model, loop, q, prefer="crank_joint")
    at = (q, b.dependent_qd(model, loop, q, 1.0, choice), DM([1.0, 0, 2.0]))
    with pytest.raises(od.ModelError, match="no inertia resists joint 'coupler_joint'"):
        b.closed_chain_dynamics(model, loop, *at)
    expected = b.closed_chain_dynamics(almost, loop, *at)
    for options, tolerance in (({"method": "independent", "independent": choice}, 1e-8), ({"method": "penalty"}, 1e-5)):
        close(b.closed_chain_dynamics(model, loop, *at, **options)[0], expected[0], tolerance)


# Errors


def test_options_that_do_not_belong_together(rng):
    closed = four_bar(rng)
    at = closed.state(rng)

    def call(**options):
        return b.closed_chain_dynamics(closed.model, closed.loops, *at, **options)

    for options, message in (
        ({"method": "lagrange"}, "method must be one of multipliers, penalty, independent, got 'lagrange'"),
        ({"method": "penalty", "baumgarte": (5, 1)}, "stabilized by omega and mu already"),
        ({"baumgarte": 5}, r"baumgarte must be \(omega \[rad/s\], xi\)"),
        ({"baumgarte": (5, -1)}, "baumgarte xi must be positive, got -1"),
        ({"method": "penalty", "alpha": 0}, "alpha must be positive"),
        ({"method": "penalty", "alpha": (1, 2)}, r"alpha must be one finite number or 3, one per row, got \(1, 2\)"),
        ({"method": "penalty", "alpha": "stiff"}, "alpha must be one finite number or 3, one per row, got 'stiff'"),
        ({"method": "penalty", "mu": 0}, "mu must be positive"),
        ({"method": "independent"}, "goes with independent=, a choice by od.formulations.independent_coordinates"),
        ({"independent": ("crank_joint",)}, "method='independent' goes with independent="),
    ):
        with pytest.raises(ValueError, match=message):
            call(**options)
    with pytest.raises(TypeError, match=r"independent must be a choice .* prefer=names"):
        call(method="independent", independent=("crank_joint",))


def test_cut_joints_are_loops():
    model = od.models.pendulum(2)
    with pytest.raises(TypeError, match=r"closing_jacobian takes cut joints, od.Loop\(.*got Contact.*constraint_jac"):
        b.closing_jacobian(model, od.Contact("tip"), DM(2, 1))
