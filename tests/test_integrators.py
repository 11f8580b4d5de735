"""Runge-Kutta schemes: their tableaus, and the order of each, on a driven pendulum and on a tumbling body."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.integrators import explicit_step, scheme, stage_states
from ocp_dyn.models import pendulum

ORDERS = {
    "euler": 1, "heun": 2, "rk4": 4, "midpoint": 2, "trapezoid": 2, "hermite_simpson": 4, "gauss:1": 2, "gauss:2": 4,
    "gauss:3": 6, "radau:1": 1, "radau:2": 3, "radau:3": 5, "lobatto:4": 6,
}  # fmt: skip


def test_collocation_integrates_polynomials_of_its_degree():
    for family, lost in (("gauss", 0), ("radau", 1), ("lobatto", 2)):
        for s in range(2, 10):
            method = scheme(f"{family}:{s}")
            assert method.order == 2 * s - lost
            for k in range(method.order):
                assert method.b @ method.c**k == pytest.approx(1 / (k + 1), rel=1e-10)
            for k in range(s):
                assert np.allclose(method.A @ method.c**k, method.c ** (k + 1) / (k + 1), rtol=0, atol=1e-11)


def test_known_tableaus():
    euler, gauss, radau = scheme("radau:1"), scheme("gauss:2"), scheme("radau:2")
    assert (float(euler.A[0, 0]), float(euler.b[0]), float(euler.c[0])) == pytest.approx((1, 1, 1))
    r = np.sqrt(3) / 6
    assert np.allclose(gauss.A, [[1 / 4, 1 / 4 - r], [1 / 4 + r, 1 / 4]], atol=1e-14)
    assert np.allclose(radau.A, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]], atol=1e-14)
    simpson = scheme("hermite_simpson")
    assert np.allclose(simpson.A, [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]], atol=1e-14)
    assert np.allclose(scheme("trapezoid").A, [[0, 0], [0.5, 0.5]], atol=1e-14)


@pytest.mark.parametrize("name", ["rk5", "gauss", "gauss:0", "gauss:10", "lobatto:1", "radau:x", "midpoint:2", ""])
def test_unknown_schemes_are_refused(name):
    with pytest.raises(ValueError, match=r"integrator must be one of euler, heun, rk4, .* gauss:s, radau:s"):
        scheme(name)


def one_step(model, method, tau):
    """(x, h) -> x1: the step as a function of numbers; implicit stages by Newton's method."""
    rate = od.function(od.forward_dynamics, model)
    x, h = ca.SX.sym("x", model.nq + model.nv), ca.SX.sym("h")
    q, v = ca.vertsplit(x, [0, model.nq, x.shape[0]])
    if method.explicit:
        _, end = explicit_step(model, method, lambda q, v: rate(q, v, tau), q, v, h)
        return ca.Function("step", [x, h], [ca.vertcat(*end)])
    a = ca.SX.sym("a", model.nv, method.stages)
    states, end = stage_states(model, method, q, v, ca.horzsplit(a), h)
    gap = a - ca.horzcat(*(rate(*state, tau) for state in states))
    unknown = ca.vec(a)
    newton = ca.rootfinder(
        "newton", "newton", {"x": unknown, "p": ca.vertcat(x, h), "g": ca.vec(gap)}, {"abstol": 1e-13}
    )
    X, H = ca.MX.sym("x", x.shape[0]), ca.MX.sym("h")
    found = newton(x0=ca.DM.zeros(unknown.shape[0]), p=ca.vertcat(X, H))["x"]
    final = ca.Function("end", [x, h, unknown], [ca.vertcat(*end)])
    return ca.Function("step", [X, H], [final(X, H, found)])


def tumbling_body():
    builder = od.ModelBuilder("body", gravity=(0, 0, -1.0))
    builder.add_body("body", od.FloatingBase(), mass=2.0, com=(0.1, -0.2, 0.05), inertia=(0.4, 0.9, 0.7))
    builder.add_body(
        "arm", od.Revolute("y"), "body", origin=(0.2, 0, 0), mass=0.5, com=(0, 0, -0.3), inertia=(0.1, 0.1, 0.1)
    )
    return builder.build()


def systems():
    """(model, x0, tau) of the pendulum and of the body."""
    q, qd = [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5, 0.4], [0.3, 0.1, -0.2, 1.2, -0.8, 1.5, 0.7]
    body = tumbling_body(), np.array([*q, *qd]), np.array([0.1, 0, 0.2, 0.5, -0.3, 0.2, 0.1])
    return (pendulum(2), np.array([0.4, -0.3, 1.0, 0.5]), np.array([1.0, -0.5])), body


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.slow
def test_halving_the_step_shows_the_order(name):
    for (model, x0, tau), exact in references():
        step = one_step(model, scheme(name), tau)
        errors = []
        # steps as long as still show the order, so that rounding stays far away
        for n in (8, 16) if ORDERS[name] > 2 else (32, 64):
            x = ca.DM(x0)
            for _ in range(n):
                x = step(x, 0.6 / n)
            errors.append(distance(model, x, exact))
        assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=0.4)


@cache
def references():
    """The systems, each with its state after 0.6 s by small steps of the scheme of highest order, which the known
    orders vouch for."""
    found = []
    for model, x0, tau in systems():
        step, x = one_step(model, scheme("gauss:4"), tau), ca.DM(x0)
        for _ in range(20):
            x = step(x, 0.03)
        found.append(((model, x0, tau), x))
    return found


def distance(model, x, y):
    gap = ca.vertcat(model.difference(x[: model.nq], y[: model.nq]), x[model.nq :] - y[model.nq :])
    return float(ca.norm_inf(gap))


@pytest.mark.parametrize("name", ["euler", "rk4", "midpoint", "radau:2", "gauss:3"])
@pytest.mark.slow
def test_quaternions_stay_on_the_unit_sphere(name):
    model, x0, tau = systems()[1]
    x = one_step(model, scheme(name), tau)(x0, 0.3)
    assert float(ca.norm_2(x[3:7])) == pytest.approx(1.0, abs=1e-14)


def test_tangent_rate_is_the_rate_of_the_tangent_step(rng):
    """d/dt integrate(q0, theta) = q_dot(q, v) with d(theta)/dt = tangent_rate(theta, v), at small and large angles."""
    model = tumbling_body()
    theta, v = ca.SX.sym("theta", model.nv), ca.SX.sym("v", model.nv)
    q = model.integrate(ca.DM(systems()[1][1][:8]), theta)
    gap = ca.jacobian(q, theta) @ model.tangent_rate(theta, v) - model.q_dot(q, v)
    gap = ca.Function("gap", [theta, v], [gap])
    for size in (0.0, 1e-6, 0.28, 0.29, 1.0, 1.7):
        assert float(ca.norm_inf(gap(size * np.ones(7), rng.normal(size=7)))) < 1e-14
