"""Programs put together from blocks: derivatives and values against CasADi's own on the whole program."""

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from ocp_dyn.ocp.nlp import program as program_module
from ocp_dyn.ocp.nlp.program import BlockRows, Program


def test_programs_know_no_mechanics():
    """The modules of programs import, of the library, checks, types, caches and code generation only."""
    texts = [path.read_text() for path in Path(program_module.__file__).parent.glob("*.py")]
    rooms = {room for text in texts for room in re.findall(r"^ *from (\.\.+\w+)", text, re.MULTILINE)}
    assert rooms == {"..._base", "...codegen", "...native"}


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
    x, lam = rng.normal(size=built.n), rng.normal(size=built.row_lower.size)
    expression = built.expression()
    X, L, sigma = expression["x"], ca.MX.sym("L", lam.size), 2.5
    f, g = expression["f"], expression["g"]
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
        np.array(built.cost_terms(x, [])).ravel(), [h * np.sum(controls**2), h * np.sum(np.cos(states[:-1, 1]))]
    )
    g = np.array(built.constraints(x, [])).ravel()
    gap = states[1] - states[0] - h * np.array([states[0, 1], np.sin(states[0, 0]) + controls[0]])
    assert np.allclose(g[:2], gap)
    assert np.allclose(g[5], (states[1, 0] * controls[1] + 1) / 2)  # second interval: w = 1, divided by its scale
    assert built.row_lower[2] == -1.5
    assert built.row_names[2] == "step: bounded"
    assert built.row_names[-1] == "ends: ends"


def test_size_of_the_graphs_does_not_grow_with_the_horizon():
    short, long = (swing_up(1, n).assemble() for n in (9, 50))
    assert [b.derivatives.function("second").n_instructions() for b in short.blocks] == [
        b.derivatives.function("second").n_instructions() for b in long.blocks
    ]


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


def tracking(count=3):
    """Points drawn to targets that are parameters, one part for each; their weight is a parameter of all."""
    program = Program(1)
    x = [program.variable(f"x{k}", 2, -5, 5, 1.0) for k in range(count)]
    targets = program.parameter("targets", 2 * count, np.arange(2 * count))
    weight = program.parameter("weight", 1, 3.0)

    def body(z, rows):
        rows.cost("distance", z["w"] * z["k"] * ca.sumsqr(z["x"] - z["target"]))
        rows.constrain("product", z["x"][0] * z["target"][1], -1, 1)

    block = program.block("pull", {"x": x[0], "target": targets[:2], "w": weight}, body, k=1)
    for k in range(count):
        block.add({"x": x[k], "target": targets[2 * k : 2 * k + 2], "w": weight}, k=k + 1)
    return program


def test_parameters_change_without_a_rebuild(rng):
    program = tracking()
    built = program.assemble()
    x = rng.normal(size=(3, 2))
    for targets, weight in ((np.arange(6.0), 3.0), (rng.normal(size=6), 0.5)):
        program.set_value("targets", targets)
        program.set_value("weight", weight)
        gap = x - targets.reshape(3, 2)
        expected = weight * np.arange(1, 4) @ (gap**2).sum(axis=1)
        p = program.values
        assert np.isclose(float(built.objective(x.ravel(), p)), expected)
        assert np.isclose(float(built.cost_terms(x.ravel(), p)), expected)
        gradient = 2 * weight * np.arange(1, 4)[:, None] * gap
        assert np.allclose(np.array(built.gradient(x.ravel(), p)[1]).ravel(), gradient.ravel())
        jacobian = np.array(ca.DM(built.jacobian(x.ravel(), p)[1]))
        assert np.allclose(jacobian[[0, 1, 2], [0, 2, 4]], targets[1::2])
        hessian = np.array(ca.DM(built.hessian(x.ravel(), p, 2.0, np.zeros(3))))
        assert np.allclose(np.diag(hessian), np.repeat(4 * weight * np.arange(1, 4), 2))
    program.reset()
    assert program.values.tolist() == [0, 1, 2, 3, 4, 5, 3]


def test_parameters_are_checked():
    program = tracking()
    with pytest.raises(ValueError, match="'weight' already"):
        program.parameter("weight", 1, 0.0)
    with pytest.raises(KeyError, match="no parameter 'mass'; there are targets, weight"):
        program.set_value("mass", 1.0)
    with pytest.raises(ValueError, match="'targets' takes one finite number or 6"):
        program.set_value("targets", [1.0, 2.0])
    with pytest.raises(TypeError, match="'weight' takes one finite number or 1, got 'much'"):
        program.set_value("weight", "much")
    block, x = program.blocks[0], program.variables[0]
    with pytest.raises(ValueError, match="slot 'w' takes a ProgramParameter of size 1, got a Variable of size 2"):
        block.add({"x": x, "target": program.parameters[0][:2], "w": x}, k=1)


@pytest.mark.parametrize(("lower", "upper"), [(2, 1), ([0, 3], [1, 2]), (np.inf, np.inf), (-np.inf, -np.inf)])
def test_rows_between_limits_that_leave_nothing_are_refused(lower, upper):
    rows = BlockRows()
    with pytest.raises(ValueError, match="constraint 'x': needs lower <= upper, got"):
        rows.constrain("x", SX.sym("y", 2), lower, upper)
    rows.constrain("x", SX.sym("y", 2), 1, 1)
    rows.constrain("x", SX.sym("y", 2), -np.inf, np.inf)
    assert len(rows.rows) == 2
