"""Mechanisms of textbooks and benchmarks: counts, closed loops, exact motions, published digits."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import models
from ocp_dyn._base.types import Array
from ocp_dyn.models import ClosedChain
from tests.helpers import close, evaluate, flat


def residual(chain: ClosedChain, q: Array) -> float:
    return float(np.abs(evaluate(od.constraint_position, chain.model, chain.loops, args=[q])).max())


def velocity_residual(chain: ClosedChain, q: Array, qd: Array) -> float:
    return float(np.abs(evaluate(od.constraint_velocity, chain.model, chain.loops, args=[q, qd])).max())


def path(chain: ClosedChain, steps: int, length: float) -> Array:
    """Configurations along the one freedom of a mechanism, by steps of that length in q."""
    G = od.function(od.constraint_jacobian, chain.model, chain.loops)
    q, direction, found = chain.q, np.ones(chain.model.nv), []
    for _ in range(steps):
        v = np.linalg.svd(G(q).full())[2][-1]
        direction = v * (np.sign(v @ direction) or 1.0)
        q, _ = chain.assemble(q + length * direction)
        found.append(q)
    return np.array(found)


def rk4(f: ca.Function, x0: Array, h: float, steps: int) -> Array:
    """The state after so many steps of the classical Runge-Kutta scheme for x' = f(x)."""
    x = ca.MX.sym("x", f.size1_in(0))
    k1 = f(x)
    k2 = f(x + h / 2 * k1)
    k3 = f(x + h / 2 * k2)
    k4 = f(x + h * k3)
    return flat(ca.Function("step", [x], [x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)]).fold(steps)(x0))


# Closed chains


def test_closed_chain_is_frozen_and_checked() -> None:
    chain = models.n_four_bar(2)
    with pytest.raises(ValueError, match="read-only"):
        chain.q[0] = 1.0
    with pytest.raises(AttributeError):
        chain.q = chain.q  # type: ignore[misc]
    with pytest.raises(ValueError, match="ClosedChain q must"):
        ClosedChain(chain.model, chain.loops, np.zeros(3))
    with pytest.raises(ValueError, match="ClosedChain qd must"):
        ClosedChain(chain.model, chain.loops, chain.q, np.zeros(3))
    with pytest.raises(TypeError, match="ClosedChain model must be a Model, the open tree, got 'row'"):
        ClosedChain("row", chain.loops, chain.q)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="constraints must be a tuple of constraints"):
        ClosedChain(chain.model, "loop", chain.q)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"loop 'B1_hinge' is open at q, by 0.\d+ \[m, .*q=od.assemble_q\("):
        ClosedChain(chain.model, chain.loops, chain.q + 0.1)
    single = models.bricard()
    assert ClosedChain(single.model, single.loops[0], single.q).loops == single.loops  # type: ignore[index]
    assert chain.name == "n_four_bar_2"
    assert not ClosedChain(chain.model, chain.loops, chain.q).qd.any()


# Five bars and Bricard's linkage


@pytest.mark.parametrize("lumped", [True, False])
@pytest.mark.slow
def test_five_bar_pendulum(lumped: bool) -> None:
    model = models.five_bar_pendulum(0.7, 1.3, lumped)
    assert (model.nb, model.nv, model.mass) == (5, 5, pytest.approx(5 * 1.3))
    q = np.random.default_rng(1).uniform(-3, 3, 5)
    ends = [*(evaluate(od.point_position, model, f"bar{i}", args=[q]) for i in range(1, 6)),
            evaluate(od.point_position, model, "tip", args=[q])]  # fmt: skip
    for near, far in pairwise(ends):
        assert np.linalg.norm(far - near) == pytest.approx(0.7, rel=1e-14)
    assert np.linalg.eigvalsh(evaluate(od.mass_matrix, model, args=[q])).min() > 0.01
    qd, tau = np.linspace(-1, 1, 5), np.linspace(2, -1, 5)
    close(evaluate(od.forward_dynamics, model, args=[q, qd, tau]),
          np.linalg.solve(evaluate(od.mass_matrix, model, args=[q]),
                          tau - evaluate(od.bias_force, model, args=[q, qd])))  # fmt: skip


def test_lumped_bars_are_point_masses_at_their_ends() -> None:
    model = models.five_bar_pendulum(0.7, 1.3)
    q, qd = np.random.default_rng(2).normal(size=(2, 5))
    names = [*(f"bar{i}" for i in range(1, 6)), "tip"]
    speeds = [evaluate(od.point_velocity, model, name, args=[q, qd]) for name in names]
    weights = [0.65, *[1.3] * 4, 0.65]
    T = sum(m * v @ v / 2 for m, v in zip(weights, speeds, strict=True))
    assert qd @ evaluate(od.mass_matrix, model, args=[q]) @ qd / 2 == pytest.approx(T, rel=1e-13)


def test_uniform_bars_are_boxes() -> None:
    body = models.five_bar_pendulum(0.7, 1.3, lumped=False).I[2]  # along -z
    I = body.I.full() - 1.3 * 0.35**2 * np.diag([1, 1, 0])
    w, l = 0.07, 0.7
    np.testing.assert_allclose(I, 1.3 / 12 * np.diag([w**2 + l**2, w**2 + l**2, 2 * w**2]), atol=1e-14)


@pytest.mark.parametrize("lumped", [True, False])
@pytest.mark.slow
def test_bricard_has_one_freedom_everywhere(lumped: bool) -> None:
    chain = models.bricard(0.7, 1.3, lumped)
    assert (chain.model.nv, len(chain.loops[0].rows)) == (5, 5)
    assert residual(chain, chain.q) < 1e-15
    # the closed curve of assembled positions: sin(a) - sin(b) = sin(a) sin(b)
    b = np.linspace(-7 * np.pi / 6, np.pi / 6, 7)[1:-1]
    a = np.arcsin(np.sin(b) / (1 - np.sin(b)))
    for q in np.transpose([(a, b, a, -b, -a), (np.pi - a, b, np.pi - a, -b, a - np.pi)], (0, 2, 1)).reshape(-1, 5):
        assert residual(chain, q) < 1e-14
        assert chain.degrees_of_freedom(q) == 1
    assert chain.degrees_of_freedom(chain.q + 0.1) == 0  # an open loop of six revolute joints has all five rows


# Rows of four-bars


@pytest.mark.parametrize(
    ("n", "t", "tip", "speed"),
    [(2, 10.0, (0.3284581115, 0.9445185382), (1.4230514702, -0.4948688455)),
     (40, 20.0, (0.4109011537, 0.9116799010), (1.5667853719, -0.7061622356))],
)  # fmt: skip
def test_exact_motion_of_four_bars(n: int, t: float, tip: tuple[float, float], speed: tuple[float, float]) -> None:
    theta, rate = models.n_four_bar_motion(n, t)
    np.testing.assert_allclose((np.sin(theta), np.cos(theta)), tip, atol=6e-11)  # the digits given
    np.testing.assert_allclose((rate * np.cos(theta), -rate * np.sin(theta)), speed, atol=6e-11)


@pytest.mark.parametrize("speed", [0.3, -2.0, 5.0])
def test_exact_motion_solves_the_pendulum(speed: float) -> None:
    length, n, t = 0.6, 3, 1.7
    k = 9.81 / length * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.vertcat(x[1], k * ca.sin(x[0]))])
    motion = models.n_four_bar_motion(n, t, length, speed)
    np.testing.assert_allclose(motion, rk4(f, np.array([0.0, speed / length]), t / 20000, 20000), rtol=1e-10)
    start = models.n_four_bar_motion(n, 0.0, length, speed)
    np.testing.assert_allclose(start, (0.0, speed / length), atol=1e-14)


def test_exact_motion_of_every_length() -> None:
    """The means come to an end, also where rounding leaves them a last bit apart; energy is kept."""
    n, speed = 2, 1.0
    for length in (*(1 / k for k in range(1, 40)), 0.1, 7.3):
        k = 9.81 / length * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
        theta, rate = models.n_four_bar_motion(n, 0.1, length, speed)
        energy = rate**2 / 2 + k * np.cos(theta)
        assert energy == pytest.approx((speed / length) ** 2 / 2 + k, rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 1.0), "at least 1, a whole number, got 0"), ((2, "soon"), "t .s. must be"),
     ((2, 1.0, 0.0), "length of a rod must be a positive"),
     ((2, 1.0, 1.0, 0.0), "speed must not be zero"),
     ((2, 1.0, 1e20), "speed 1 m/s is too small for cranks of 1e.20 m")],
)  # fmt: skip
def test_exact_motion_of_no_mechanism(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=f"n_four_bar_motion: .*{message}"):
        models.n_four_bar_motion(*arguments)


@pytest.mark.slow
def test_four_bars_keep_the_exact_motion() -> None:
    n, length, mass, speed = 3, 0.6, 1.7, 0.4
    chain = models.n_four_bar(n, length, mass, speed)
    model = chain.model
    assert (model.nb, model.nv, model.mass) == (7, 7, pytest.approx(7 * mass))
    close(evaluate(od.point_velocity, model, "B0", args=[chain.q, chain.qd]), [speed, 0, 0])
    signs = np.sign(chain.qd)
    dynamics = od.function(od.constrained_dynamics, model, chain.loops)
    for t in (0.0, 0.3, 0.9):
        theta, rate = models.n_four_bar_motion(n, t, length, speed)
        q, qd = theta * signs, rate * signs
        assert residual(chain, q) < 1e-14
        assert velocity_residual(chain, q, qd) < 1e-13
        assert chain.degrees_of_freedom(q) == 1
        qdd = flat(dynamics(q, qd, np.zeros(7))[0])
        k = 9.81 / length * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
        close(qdd, k * np.sin(theta) * signs)
        close(
            evaluate(od.point_position, model, "B2", args=[q]),
            [length * (2 + np.sin(theta)), 0, length * np.cos(theta)],
        )
    assert chain.degrees_of_freedom(np.pi / 2 * signs) == n + 1  # all rods in one line


@pytest.mark.slow
def test_many_four_bars() -> None:
    chain = models.n_four_bar(12)
    assert chain.model.nb == 25
    assert len(chain.loops) == 12
    assert chain.degrees_of_freedom() == 1


# The spatial slider-crank


@pytest.mark.slow
def test_spatial_slider_crank() -> None:
    chain = models.spatial_slider_crank()
    assert (chain.model.nb, chain.model.nv, chain.degrees_of_freedom()) == (3, 4, 1)
    assert residual(chain, chain.q) < 1e-14
    assert velocity_residual(chain, chain.q, chain.qd) < 1e-13
    assert chain.q[:2] == pytest.approx([0.0, 0.2], abs=1e-14)
    assert chain.qd[:2] == pytest.approx([6.0, 0.24], abs=1e-12)  # the published start of the benchmark
    found = path(chain, 25, 0.4)
    assert max(residual(chain, q) for q in found) < 1e-12
    assert {chain.degrees_of_freedom(q) for q in found[::8]} == {1}
    assert np.ptp(found[:, 0]) > 2 * np.pi  # it turns over
    for q in found[::4]:
        end = evaluate(od.point_position, chain.model, "B", args=[q])
        assert np.linalg.norm(end - evaluate(od.point_position, chain.model, "rod", args=[q])) == pytest.approx(0.3)


# The squeezer

PUBLISHED_Q = np.array([15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                        0.5244099658805304, 0.5347301163226948, 1.048080741042263])  # fmt: skip
PUBLISHED_QD = np.array([1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
                         0.5735699284790808, -19.29337464421385, 0.3231791658026955])  # fmt: skip
PUBLISHED_LAM = np.array([199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927,
                          22.64249232082739, 11.61740700019673])  # fmt: skip
"""Test Set for Initial Value Problem Solvers, Bari: angles, rates and multipliers at t = 0.03 s."""


def squeezer_equations(angles: Array, rates: Array) -> tuple[Array, Array]:
    """(accelerations, multipliers) of the squeezer in the test set's angles, from positions of points by CasADi: the
    kinetic energy and the distances between the tips, independent of trees and loops."""
    q, qd = ca.SX.sym("q", 7), ca.SX.sym("qd", 7)
    beta, theta, gamma, phi, delta, omega, epsilon = ca.vertsplit(q)

    def turned(angle: ca.SX, x: float, y: float) -> ca.SX:
        return ca.vertcat(ca.cos(angle) * x - ca.sin(angle) * y, ca.sin(angle) * x + ca.cos(angle) * y)

    A, B, C = DM([-0.06934, -0.00227]), DM([-0.03635, 0.03273]), DM([0.014, 0.072])
    m = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    I = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    turns = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    pin2, pin4, pin6 = turned(beta, 0.007, 0), A + turned(delta, 0.04, 0), A + turned(epsilon, 0, -0.04)
    centers = (turned(beta, 0.00092, 0), pin2 + turned(turns[1], -0.0115, 0), B + turned(gamma, 0.01043, -0.01874),
               pin4 + turned(turns[3], 0, -(0.02 - 0.01421)), A + turned(delta, 0.02308, 0.00916),
               pin6 + turned(turns[5], 0.02 - 0.01421, 0), A + turned(epsilon, -0.00449, -0.01228))  # fmt: skip
    tip = pin2 + turned(turns[1], -0.028, 0)
    tips = (B + turned(gamma, 0, -0.035), pin4 + turned(turns[3], 0, -0.02), pin6 + turned(turns[5], 0.02, 0))
    g = ca.vertcat(*(tip - x for x in tips))
    T = sum(mk * ca.sumsqr(ca.jtimes(c, q, qd)) / 2 for mk, c in zip(m, centers, strict=True))
    T += sum(Ik * ca.jtimes(a, q, qd) ** 2 / 2 for Ik, a in zip(I, turns, strict=True))
    spring = 4530 / 2 * (ca.norm_2(B + turned(gamma, 0.02, -0.018) - C) - 0.07785) ** 2
    p, M, G = ca.jacobian(T, qd), ca.hessian(T, qd)[0], ca.jacobian(g, q)
    f = (ca.jacobian(T - spring, q) - ca.jtimes(p.T, q, qd).T).T
    f[0] += 0.033
    K = ca.blockcat([[M, G.T], [G, ca.SX(6, 6)]])
    right = ca.vertcat(f, -ca.jtimes(ca.jtimes(g, q, qd), q, qd))
    K, right = (x.full() for x in ca.Function("f", [q, qd], [K, right])(angles, rates))
    solution = np.linalg.solve(K, right)[:, 0]
    return solution[:7], solution[7:]


@pytest.fixture(scope="module")
def squeezed() -> tuple[ClosedChain, ca.Function, Array]:
    """The squeezer, its dynamics (q, qd) -> (qdd, lam), and its state at 0.03 s by 12000 steps."""
    chain = models.squeezer()
    q, qd = ca.SX.sym("q", 7), ca.SX.sym("qd", 7)
    tau = models.squeezer_torque(q)
    qdd, lam = od.constrained_dynamics(chain.model, chain.loops, q, qd, tau, solver="kkt")
    f = ca.Function("f", [ca.vertcat(q, qd)], [ca.vertcat(qd, qdd)])
    end = rk4(f, np.concatenate([chain.q, chain.qd]), 0.03 / 12000, 12000)
    return chain, ca.Function("dynamics", [q, qd], [qdd, models.squeezer_multipliers(q, lam)]), end


def test_squeezer_is_closed_at_the_start() -> None:
    chain = models.squeezer()
    assert (chain.model.nb, chain.model.nv, chain.degrees_of_freedom()) == (7, 7, 1)
    assert residual(chain, chain.q) < 1e-15
    angles = chain.q[list(models.squeezer_order())]
    assert angles[:3] == pytest.approx([-0.0617138900142765, 0.0, 0.4552798191630704], abs=1e-15)
    assert angles[5] == -angles[3]


def test_squeezer_torque_and_multipliers_in_all_types() -> None:
    q, lam = np.linspace(-1, 1, 7), np.linspace(2, -3, 6)
    for kind in (ca.SX, ca.MX):
        x, y = kind.sym("q", 7), kind.sym("lam", 6)
        f = ca.Function("f", [x, y], [models.squeezer_torque(x), models.squeezer_multipliers(x, y)])
        close(f(q, lam)[0], models.squeezer_torque(DM(q)), 1e-15)
        close(f(q, lam)[1], models.squeezer_multipliers(DM(q), DM(lam)), 1e-15)
    gamma = 0.3  # the spring's energy, differentiated
    energy = [2265 * (np.hypot(*(np.array([-0.03635, 0.03273]) + np.array([[np.cos(g), -np.sin(g)],
              [np.sin(g), np.cos(g)]])
              @ [0.02, -0.018] - [0.014, 0.072])) - 0.07785) ** 2 for g in (gamma - 1e-5, gamma + 1e-5)]  # fmt: skip
    tau = flat(models.squeezer_torque(DM([0, 0, gamma, 0, 0, 0, 0])))
    np.testing.assert_allclose(tau, [0.033, 0, -(energy[1] - energy[0]) / 2e-5, 0, 0, 0, 0], atol=1e-7)


@pytest.mark.slow
def test_squeezer_equals_the_equations_of_the_test_set(squeezed: tuple[ClosedChain, ca.Function, Array]) -> None:
    chain, dynamics, end = squeezed
    order = list(models.squeezer_order())
    for state in (np.concatenate([chain.q, chain.qd]), end):
        q, qd = state[:7], state[7:]
        qdd, lam = (flat(x) for x in dynamics(q, qd))
        expected = squeezer_equations(q[order], qd[order])
        np.testing.assert_allclose(qdd[order], expected[0], rtol=1e-9, atol=1e-9 * np.abs(qdd).max())
        np.testing.assert_allclose(lam, expected[1], rtol=1e-9, atol=1e-9 * np.abs(lam).max())


@pytest.mark.slow
def test_squeezer_reaches_the_published_state(squeezed: tuple[ClosedChain, ca.Function, Array]) -> None:
    chain, dynamics, end = squeezed
    order = list(models.squeezer_order())
    q, qd = end[:7], end[7:]
    assert residual(chain, q) < 1e-12
    np.testing.assert_allclose(q[order], PUBLISHED_Q, rtol=1e-9)
    np.testing.assert_allclose(qd[order], PUBLISHED_QD, atol=1e-9 * np.linalg.norm(PUBLISHED_QD))
    # A phase error of 1e-12 s in the published digits: body 3 has an acceleration of 3e5 rad/s^2.
    np.testing.assert_allclose(qd[order], PUBLISHED_QD, rtol=6e-8)
    # The published multipliers are less exact than the published angles and rates, from which others follow:
    at_published = squeezer_equations(PUBLISHED_Q, PUBLISHED_QD)[1]
    assert 1e-7 < np.abs(at_published / PUBLISHED_LAM - 1).max() < 1.3e-6
    lam = flat(dynamics(q, qd)[1])
    np.testing.assert_allclose(lam, at_published, rtol=3e-9)
    np.testing.assert_allclose(lam, PUBLISHED_LAM, rtol=1.3e-6)


# Bad input


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_bad_sizes(bad: float) -> None:
    for make in (models.five_bar_pendulum, models.bricard, lambda **k: models.n_four_bar(2, **k)):
        for what, unit in (("length", "m"), ("mass", "kg")):
            with pytest.raises(ValueError, match=f"{what} of a rod must be a positive number of {unit}"):
                make(**{what: bad})


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_bad_numbers_of_four_bars(n: object) -> None:
    with pytest.raises(ValueError, match="the number of four-bars must be at least 1, a whole number"):
        models.n_four_bar(n)  # type: ignore[arg-type]


def test_bad_speed() -> None:
    with pytest.raises(ValueError, match="speed must not be zero"):
        models.n_four_bar_motion(2, 1.0, speed=0.0)
    with pytest.raises(ValueError, match="speed"):
        models.n_four_bar(2, speed=np.nan)
