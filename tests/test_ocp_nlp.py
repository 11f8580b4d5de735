"""Programs put together from blocks: derivatives and values against CasADi's own on the whole program."""

import casadi as ca
import numpy as np
import pytest

from ocp_dyn.ocp.nlp import Program


def swing_up(threads=1, intervals=7):
    """A pendulum's swing with free duration: shared variables, scales, parameters, several kinds of blocks."""
    program = Program(threads)
    x = [program.variable(f"x{k}", 2, -5, 5, 1.0) for k in range(intervals + 1)]
    u = [program.variable(f"u{k}", 1, -10, 10, 0.5, scale=10.0) for k in range(intervals)]
    T = program.variable("T", 1, 0.5, 3.0, 1.0)

    def step(z, rows):
        h = z["T"] / intervals
        rows.constrain("gap", z["x1"] - z["x"] - h * ca.vertcat(z["x"][1], ca.sin(z["x"][0]) + z["u"]))
        rows.constrain("bounded", z["x"][0] * z["u"] + z["w"], -3, np.inf, scale=2.0)
        rows.cost("effort", h * z["u"] ** 2)
        rows.cost("time", h * ca.cos(z["x"][1]))

    block = program.block("step", {"x": x[0], "u": u[0], "x1": x[1], "T": T}, step, w=1)
    for k in range(intervals):
        block.add({"x": x[k], "u": u[k], "x1": x[k + 1], "T": T}, w=k)
    program.block("ends", {"a": x[0], "b": x[-1]}, lambda z, rows: rows.constrain("ends", z["a"] - z["b"] ** 2)).add(
        {"a": x[0], "b": x[-1]}
    )
    program.block("unused", {"a": x[0]}, lambda z, rows: rows.cost("never", z["a"][0]))
    return program


@pytest.mark.parametrize("threads", [1, 2])
def test_derivatives_are_those_of_the_whole_program(rng, threads):
    program = swing_up(threads)
    built = program.assemble()
    x, lam = rng.normal(size=built.n), rng.normal(size=built.lower.size)
    X, L, sigma = built.problem["x"], ca.MX.sym("L", lam.size), 2.5
    f, g = built.problem["f"], built.problem["g"]
    whole = ca.Function(
        "whole",
        [X, L],
        [f, g, ca.gradient(f, X), ca.jacobian(g, X), ca.triu(ca.hessian(sigma * f + ca.dot(L, g), X)[0])],
    )
    expected = [np.array(ca.DM(e)) for e in whole(x, lam)]
    found = [
        built.objective(x, []),
        built.constraints(x, []),
        built.gradient(x, [])[1],
        built.jacobian(x, [])[1],
        built.hessian(x, [], sigma, lam),
    ]
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(np.array(a), b, rtol=1e-12, atol=1e-12)


def test_the_values_are_the_blocks(rng):
    program = swing_up()
    built = program.assemble()
    x = rng.normal(size=built.n)
    states, controls, T = x[:16].reshape(8, 2), 10 * x[16:23], x[23]
    h = T / 7
    assert np.isclose(float(built.objective(x, [])), h * np.sum(controls**2) + h * np.sum(np.cos(states[:-1, 1])))
    assert built.cost_names == ["effort", "time"]
    assert np.allclose(
        np.array(built.cost_terms(x)).ravel(), [h * np.sum(controls**2), h * np.sum(np.cos(states[:-1, 1]))]
    )
    g = np.array(built.constraints(x, [])).ravel()
    gap = states[1] - states[0] - h * np.array([states[0, 1], np.sin(states[0, 0]) + controls[0]])
    assert np.allclose(g[:2], gap)
    assert np.allclose(g[5], (states[1, 0] * controls[1] + 1) / 2)  # second interval: w = 1, divided by its scale
    assert built.lower[2] == -1.5
    assert built.row_names[2] == "step: bounded"
    assert built.row_names[-1] == "ends: ends"


def test_size_of_the_graphs_does_not_grow_with_the_horizon():
    short, long = (swing_up(1, n).assemble() for n in (9, 50))
    assert [b.hessian_function.n_instructions() for b in short.blocks] == [
        b.hessian_function.n_instructions() for b in long.blocks
    ]
    assert abs(short.hessian.n_instructions() - long.hessian.n_instructions()) <= 4


def test_bad_variables_are_refused():
    with pytest.raises(ValueError, match="bounds must be ordered"):
        Program().variable("x", 2, 1.0, -1.0, 0.0)
    with pytest.raises(ValueError, match="start finite"):
        Program().variable("x", 1, -1.0, 1.0, np.nan)


def test_a_variable_may_stand_in_two_slots(rng):
    program = Program(1)
    x = program.variable("x", 2, -5, 5, 1.0)

    def body(z, rows):
        rows.cost("cost", ca.sin(z["a"][0] * z["b"][1]) + z["a"][0] ** 2 * z["b"][0])
        rows.constrain("row", z["a"][1] ** 3 * z["b"][1] * z["b"][0])

    program.block("twice", {"a": x, "b": x}, body).add({"a": x, "b": x})
    built = program.assemble()
    X, lam, point = ca.SX.sym("X", 2), 1.7, rng.normal(size=2)
    f, g = ca.sin(X[0] * X[1]) + X[0] ** 3, X[1] ** 4 * X[0]
    hessian = ca.Function("hessian", [X], [ca.triu(ca.hessian(2.5 * f + lam * g, X)[0])])
    assert np.allclose(np.array(built.hessian(point, [], 2.5, lam)), np.array(hessian(point)), rtol=1e-12, atol=1e-12)
