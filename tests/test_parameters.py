"""Gravity, inertias and positions as inputs: equal to the model built with the numbers, and differentiable."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.parameters import inertia_parameters, parameter_size
from ocp_dyn.regressor import inertial_parameters
from tests.helpers import State, add_random, close, evaluate, flat, random_inertia

ALL = (
    "gravity",
    "inertia:b1",
    "mass:b2",
    "com:b2",
    "inertia_com:b2",
    "payload:tool",
    "position:tool",
    "origin:b3_joint",
)


def build(gravity=(0, 0, -9.81), b2=None, tool=(0.1, 0.2, 0.3), b3=(0.3, 0.1, -0.2)) -> od.Model:
    rng = np.random.default_rng(8)
    builder = od.ModelBuilder("arm", gravity)
    add_random(builder, "b1", od.FloatingBase(), "world", rng)
    b2 = b2 or {"mass": 1.5, "com": (0.1, 0.0, -0.2), "inertia": random_inertia(np.random.default_rng(3), 1.5)}
    builder.add_body("b2", od.Revolute((1, 2, 3)), "b1", origin=(0.2, 0.1, 0), **b2)
    builder.add_body("b3", od.Euler("xyz"), "b2", origin=b3, mass=1, com=(0, 0.1, 0), inertia=(1, 1, 1))
    builder.add_frame("tool", "b3", tool, od.rpy_matrix((0.1, 0.2, 0.3)))
    builder.add_frame("post", "world")
    return builder.build()


MODEL = build()


def six(I: np.ndarray) -> np.ndarray:
    """(xx, xy, yy, xz, yz, zz)."""
    return I[np.tril_indices(3)]


def test_values_equal_those_of_a_model_built_with_the_numbers(rng):
    I = random_inertia(rng, 0.7)
    b2 = {"mass": 0.7, "com": (0.2, -0.1, 0.05), "inertia": I}
    other = build((1, 2, -3), b2, (0.4, -0.1, 0.6), (0.1, 0.5, 0.2))
    names = ("gravity", "mass:b2", "com:b2", "inertia_com:b2", "position:tool", "origin:b3_joint")
    values = ((1, 2, -3), 0.7, b2["com"], six(I), (0.4, -0.1, 0.6), (0.1, 0.5, 0.2))
    s = State.of(MODEL, rng)
    feet = (od.Contact(MODEL.frame("tool")),)
    for algorithm, static, args in (
        (od.inverse_dynamics, (), (s.q, s.qd, s.qdd)),
        (od.forward_dynamics, (), (s.q, s.qd, s.tau)),
        (od.mass_matrix, (), (s.q,)),
        (od.center_of_mass, (), (s.q,)),
        (od.potential_energy, (), (s.q,)),
        (od.constrained_dynamics, (feet,), (s.q, s.qd, s.tau)),
    ):
        theirs = tuple((od.Contact("tool"),) for _ in static)
        computed = evaluate(algorithm, MODEL, *static, args=(*args, *values), parameters=names)
        expected = evaluate(algorithm, other, *theirs, args=args)
        for a, b in zip(*((x if isinstance(x, list) else [x]) for x in (computed, expected)), strict=True):
            close(a, b)
    numbers = od.with_parameters(MODEL, dict(zip(names, values, strict=True)))
    close(evaluate(od.mass_matrix, numbers, args=(s.q,)), evaluate(od.mass_matrix, other, args=(s.q,)))
    assert isinstance(numbers.mass, float)


def test_the_model_s_own_numbers_change_nothing(rng):
    """All ten parameters of a body as they are, and no payload; function and inputs are called as said."""
    s = State.of(MODEL, rng)
    values = [flat(inertia_parameters(MODEL.I[1])), np.zeros(10)]
    ID = od.function(od.inverse_dynamics, MODEL, parameters=("inertia:b1", "payload:tool"))
    assert ID.name_in() == ["q", "qd", "qdd", "inertia_b1", "payload_tool"]
    assert ID is od.function(od.inverse_dynamics, MODEL, parameters=("inertia:b1", "payload:tool"))
    close(flat(ID(s.q, s.qd, s.qdd, *values)), evaluate(od.inverse_dynamics, MODEL, args=(s.q, s.qd, s.qdd)))


def test_a_payload_is_a_body_fixed_to_the_frame(rng):
    m, c, I = 0.8, np.array([0.1, -0.2, 0.3]), random_inertia(rng, 0.8)
    builder_value = np.concatenate([[m], m * c, six(I + m * (c @ c * np.eye(3) - np.outer(c, c)))])
    load = od.ModelBuilder()
    load.add_body("load", od.Revolute("z"), mass=m, com=c, inertia=I)
    carrying = MODEL.attach(load.build(), "tool").lock_joints({"load_joint": 0.0})
    s = State.of(MODEL, rng)
    close(
        evaluate(od.forward_dynamics, MODEL, args=(s.q, s.qd, s.tau, builder_value), parameters=("payload:tool",)),
        evaluate(od.forward_dynamics, carrying, args=(s.q, s.qd, s.tau)),
    )


def test_the_order_of_ten_is_the_regressor_s(rng):
    """tau = Y pi with the parameters of every body: the two rooms mean the same ten numbers."""
    pi = np.concatenate([flat(inertia_parameters(body)) for body in MODEL.I[1:]])
    close(flat(inertial_parameters(MODEL)), pi)


def test_torque_is_linear_in_the_ten_parameters(rng):
    ID = od.function(od.inverse_dynamics, MODEL, parameters=("gravity", "inertia:b1", "payload:tool"))
    symbols = [SX.sym(n, ID.size1_in(k)) for k, n in enumerate(ID.name_in())]
    pi = ca.vertcat(*symbols[4:])
    Y = ca.jacobian(ID(*symbols), pi)
    assert not ca.depends_on(Y, pi)


def test_derivatives_by_every_parameter_are_finite_and_equal_to_differences(rng):
    s = State.of(MODEL, rng)
    names = tuple(n for n in ALL if n != "inertia:b1")
    FD = od.function(od.forward_dynamics, MODEL, parameters=names)
    x = [SX.sym(n, FD.size1_in(k)) for k, n in enumerate(FD.name_in())]
    J = ca.Function("J", x, [ca.jacobian(FD(*x), ca.vertcat(*x[3:]))])
    sizes = [parameter_size(n) for n in names]
    p = rng.uniform(0.5, 1.0, sum(sizes))

    def at(values):
        return [s.q, s.qd, s.tau, *np.split(values, np.cumsum(sizes)[:-1])]

    jacobian = J(*at(p)).full()
    h = 1e-6
    for k in range(len(p)):
        e = h * np.eye(len(p))[k]
        difference = (flat(FD(*at(p + e))) - flat(FD(*at(p - e)))) / (2 * h)
        close(jacobian[:, k], difference, 1e-5)  # central differences in double precision


def test_parameters_may_be_of_any_type(rng):
    s = State.of(MODEL, rng)
    g = MX.sym("g", 3)
    tau = od.gravity_force(od.with_parameters(MODEL, {"gravity": g}), MX(DM(s.q)))
    close(
        flat(ca.Function("f", [g], [tau])([1, 2, 3])),
        evaluate(od.gravity_force, MODEL.with_gravity((1, 2, 3)), args=(s.q,)),
    )


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (("weight",), ValueError, "no parameter 'weight'; parameters are: gravity, mass:NAME"),
        (("mass",), ValueError, "no parameter 'mass'"),
        (("gravity:b1",), ValueError, "no parameter 'gravity:b1'"),
        (("mass:tool",), KeyError, "no moving body 'tool': 'tool' is fixed to 'b3'"),
        (("payload:nowhere",), KeyError, "no frame 'nowhere'"),
        (("payload:post",), od.ModelError, "fixed to the ground"),
        (("position:b3",), od.ModelError, "own frame is its origin"),
        (("origin:b3",), KeyError, "no joint 'b3'"),
        (("inertia:b2", "mass:b2"), od.ModelError, "leave out mass:b2"),
        (("gravity", "gravity"), ValueError, "gravity twice"),
        ("gravity", TypeError, "must be a tuple of names"),
    ],
)
def test_wrong_parameters_are_refused(names, error, message):
    with pytest.raises(error, match=message):
        od.function(od.inverse_dynamics, MODEL, parameters=names)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="parameter 'com:b2' must have 3 entries"):
        od.with_parameters(MODEL, {"com:b2": (1, 2)})


def test_a_model_with_symbols_can_be_read_but_not_written():
    model = od.with_parameters(MODEL, {"mass:b2": SX.sym("m"), "gravity": SX.sym("g", 3)})
    assert "mass = symbolic kg" in str(model)
    for name, value in (("mass:b2", SX.sym("m")), ("gravity", SX.sym("g", 3)), ("origin:b3_joint", SX.sym("r", 3))):
        with pytest.raises(od.ModelError, match="holds symbols"):
            od.model_to_dict(od.with_parameters(MODEL, {name: value}))


def test_parameters_go_into_generated_code(tmp_path):
    """The inputs keep their names and sizes in the header."""
    od.codegen.export([od.function(od.inverse_dynamics, MODEL, parameters=("inertia:b1",))], tmp_path / "arm")
    assert "inertia_b1" in next((tmp_path).rglob("*.h")).read_text()
