"""Gravity, inertias and positions as inputs: equal to the model built with the numbers, and differentiable."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion import constrained_equations
from ocp_dyn.dynamics.regressor import inertial_parameters
from ocp_dyn.functions.description import describe
from ocp_dyn.mechanism.parameters import (
    CONSTRAINT_PARAMETERS,
    MODEL_PARAMETERS,
    inertia_parameters,
    parameter,
    parameter_size,
)
from tests.helpers import State, add_random, close, evaluate, flat, mostly_slow, random_inertia

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


@pytest.mark.parametrize(
    ("name", "bodies"),
    [
        ("gravity", ()),
        ("inertia:b1", ("b1",)),
        ("mass:b2", ("b2",)),
        ("origin:b3_joint", ("b3",)),
        ("position:tool", ()),
    ],
)
def test_a_model_names_its_symbolic_bodies(name, bodies):
    assert not MODEL.has_symbols
    symbolic = od.with_parameters(MODEL, {name: SX.sym("p", parameter_size(name))})
    assert symbolic.symbolic_bodies == bodies
    assert symbolic.has_symbols == (name != "position:tool")


def six(I: np.ndarray) -> np.ndarray:
    """(xx, xy, yy, xz, yz, zz)."""
    return I[np.tril_indices(3)]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_derivatives_by_every_parameter_are_finite_and_equal_to_differences(rng):
    s = State.of(MODEL, rng)
    names = tuple(n for n in ALL if n != "inertia:b1")
    FD = od.function(od.forward_dynamics, MODEL, parameters=names)
    x = [SX.sym(n, FD.size1_in(k)) for k, n in enumerate(FD.name_in())]
    J = ca.Function("J", x, [ca.jacobian(FD(*x), ca.vertcat(*x[3:]))])
    sizes = [parameter_size(n) for n in names]
    m, c, I = 0.8, rng.uniform(0.1, 0.3, 3), random_inertia(rng, 0.8)
    bodies = {
        "inertia_com:b2": six(I),
        "payload:tool": [m, *(m * c), *six(I + m * (c @ c * np.eye(3) - np.outer(c, c)))],
    }
    p = np.concatenate([bodies.get(n, rng.uniform(0.5, 1.0, size)) for n, size in zip(names, sizes, strict=True)])

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
        (("position:b3",), od.ModelError, "frame of a moving body is its origin"),
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


# Points of constraints


def constraints(point=(0.1, 0.2, -0.3), center=(0.0, 0.1, -0.2), radius=0.2, pred=(0.1, 0, 0), succ=(0, 0.3, 0)):
    R = od.rpy_matrix((0.3, -0.2, 0.5))
    return (
        od.Contact(MODEL.frame("b3"), point, reference=(R, (0.1, 0.2, 0.3))),
        od.Contact("b3", (0.4, 0, 0), axes="z", reference=(R, (0, 0, 0))),
        od.Baumgarte(od.RollingContact("b1", radius, center, axis="y"), 0.2),
        od.Loop("b1", "tool", "revolute", (R, pred), (R, succ), label="bolt"),
    )


POINTS = {
    "point:b3": (-0.2, 0.3, 0.5),
    "point:b1": (0.3, -0.1, 0.4),
    "radius:b1": 0.7,
    "predecessor:bolt": (0.2, 0.1, -0.6),
    "successor:bolt": (0.5, -0.4, 0.1),
}


SHORT = (
    od.constraint_position, od.constraint_jacobian, od.constraint_hessian, od.constraint_velocity,
    od.constrained_dynamics, constrained_equations,
)  # fmt: skip


@mostly_slow("algorithm", (*SHORT, od.impact, od.constrained_inverse_dynamics), SHORT[::3], ids=lambda f: f.__name__)
def test_points_of_constraints_equal_those_of_a_set_built_with_the_numbers(rng, algorithm):
    s = State.of(MODEL, rng)
    feet, other = constraints(), constraints(*POINTS.values())
    options = {"solver": "proximal"} if algorithm in (od.constrained_dynamics, od.impact) else {}
    given = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.tau}
    # on the same model: proximal forces of dependent rows are no better than rounding / rho
    numbers = od.function(algorithm, MODEL, other, reduce=False, **options)
    args = [given[name] for name in numbers.name_in()]
    f = od.function(algorithm, MODEL, feet, parameters=tuple(POINTS), **options)
    assert f.name_in()[len(args) :] == ["point_b3", "point_b1", "radius_b1", "predecessor_bolt", "successor_bolt"]
    computed, expected = f.call([*map(DM, args), *map(DM, POINTS.values())]), numbers.call(list(map(DM, args)))
    for a, b in zip(computed, expected, strict=True):
        close(a, b)
    assert any(
        np.abs(flat(a - b)).max() > 1e-3 for a, b in zip(f.call([*map(DM, args), *own()]), expected, strict=True)
    )
    direct = od.with_constraint_parameters(feet, POINTS)
    assert all(a == b for a, b in zip(direct[1:], other[1:], strict=True))
    assert direct[0].point == other[0].point


def own():
    """The points that the set has by itself."""
    return map(DM, ((0.1, 0.2, -0.3), (0.0, 0.1, -0.2), 0.2, (0.1, 0, 0), (0, 0.3, 0)))


@pytest.mark.slow
def test_points_may_be_expressions_of_any_type_and_are_differentiable(rng):
    s = State.of(MODEL, rng)
    p = MX.sym("p", 3)
    feet = od.with_constraint_parameters((od.Contact("tool", axes="xyz"),), {"point:tool": p})
    G = ca.Function("G", [p], [od.constraint_jacobian(MODEL, feet, MX(DM(s.q)))])
    at = np.array([0.1, -0.2, 0.3])
    close(G(at).full(), evaluate(od.constraint_jacobian, MODEL, (od.Contact("tool", at, "xyz"),), args=(s.q,)))
    FDc = od.function(od.constrained_dynamics, MODEL, (od.Contact("tool", axes="xyz"),), parameters=("point:tool",))
    x = SX.sym("x", 3)
    J = ca.Function("J", [x], [ca.jacobian(FDc(s.q, s.qd, s.tau, x)[0], x)])(at).full()
    h = 1e-5
    for k, e in enumerate(h * np.eye(3)):
        step = [flat(FDc(s.q, s.qd, s.tau, at + way * e)[0]) for way in (1, -1)]
        close(J[:, k], (step[0] - step[1]) / (2 * h), 1e-6)  # central differences in double precision


def test_points_in_several_sets_and_in_one_constraint_of_a_user_s_algorithm(rng):
    def feet_apart(model, left, right, q):
        return right.position_from(model, q, DM.eye(3), DM(3, 1)) + od.constraint_jacobian(model, left, q)[:3, -1]

    left, right = (od.Contact("tool", axes="xyz"), od.Contact("b2", axes="xyz")), od.Contact("tool", axes="xyz")
    f = od.function(
        feet_apart, MODEL, left, right, signature="q -> d", parameters=("point:tool", "gravity", "point:b2")
    )
    q = MODEL.random_q(rng)
    at = {"point:tool": (0.1, 0.2, 0.3), "point:b2": (0.3, 0.2, 0.1)}
    expected = feet_apart(
        MODEL, od.with_constraint_parameters(left, at), od.Contact("tool", at["point:tool"], "xyz"), DM(q)
    )
    close(f(q, at["point:tool"], (0, 0, -9.81), at["point:b2"]), expected)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (("point:b9",), KeyError, "no constraint 'b9' in the set; its constraints are: b3, b3#2, b1, bolt"),
        (("point:bolt",), KeyError, "a Loop has no such parameter; 'bolt' has: predecessor:bolt, successor:bolt"),
        (("radius:b3",), KeyError, "a Contact has no such parameter; 'b3' has: point:b3"),
        (("point",), ValueError, "no parameter 'point'"),
        (("point:b3#2", "point:b3#2"), ValueError, "point_b32 twice"),
    ],
)
def test_wrong_points_are_refused(names, error, message):
    with pytest.raises(error, match=message):
        od.function(od.constraint_jacobian, MODEL, constraints(), parameters=names)


def test_points_need_constraints_and_keep_to_their_set():
    with pytest.raises(ValueError, match="point:b3: these parameters belong to constraints, and this algorithm"):
        od.function(od.inverse_dynamics, MODEL, parameters=("point:b3",))
    with pytest.raises(ValueError, match="point:b3 belongs to a constraint, not to a model"):
        od.with_parameters(MODEL, {"point:b3": (0, 0, 0)})
    with pytest.raises(ValueError, match="mass:b2 belongs to a model, not to a constraint"):
        od.with_constraint_parameters(constraints(), {"mass:b2": 1})
    with pytest.raises(ValueError, match="must have 3 entries in one column"):
        od.with_constraint_parameters(constraints(), {"point:b3": SX.sym("p", 2)})
    with pytest.raises(ValueError, match="'point:b3' must be 3 finite numbers"):
        od.with_constraint_parameters(constraints(), {"point:b3": (1, 2)})
    symbolic = od.with_constraint_parameters(constraints(), {"point:b3": SX.sym("p", 3)})
    with pytest.raises(TypeError, match="hold no symbols"):
        od.function(od.constraint_jacobian, MODEL, symbolic)
    with pytest.raises(KeyError, match="'b3_joint' has: none"):
        od.with_constraint_parameters((od.LockedJoint("b3_joint", None, 3),), {"point:b3_joint": (1, 2, 3)})


# What the rest of the library makes of symbols


@pytest.mark.slow
def test_labels_say_what_a_parameter_holds(tmp_path):
    names = ("gravity", "inertia:b1", "mass:b2", "point:b3")
    f = od.function(od.constrained_dynamics, MODEL, constraints()[:1], parameters=names)
    labels = describe(f).labels
    assert labels["gravity"] == ("m/s^2, ground axes", ("x", "y", "z"), ())
    assert labels["inertia_b1"].rows == ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    assert "about the origin and along the axes of the body" in labels["inertia_b1"].units
    assert (labels["mass_b2"].units, labels["point_b3"].units) == ("kg", "m, axes of the contact's frame")
    for kind in (*MODEL_PARAMETERS, *CONSTRAINT_PARAMETERS):
        name = kind if kind == "gravity" else f"{kind}:b1"
        assert parameter(name).units
        assert len(parameter(name).entries) == parameter_size(name)
    od.codegen.export([f], tmp_path / "arm")
    header = next(tmp_path.rglob("*.h")).read_text()
    assert all(label.units in header for name, label in labels.items() if name in f.name_in()[3:])


@pytest.mark.slow
def test_a_model_with_symbols_is_edited_or_refuses(rng):
    """Editing carries symbols along; what needs numbers says so."""
    I, r = SX.sym("I", 10), SX.sym("r", 3)
    values = (np.array([1.2, 0.1, 0.2, -0.1, 0.9, 0.02, 0.8, 0.01, 0.03, 0.7]), np.array([0.3, -0.2, 0.4]))
    names = ("inertia:b2", "origin:b3_joint")
    model = od.with_parameters(MODEL, dict(zip(names, (I, r), strict=True)))
    numbers = od.with_parameters(MODEL, dict(zip(names, values, strict=True)))
    for edit in (
        lambda m: m.with_inertia("b3", mass=2.0),
        lambda m: m.with_gravity((0, 1, 2)),
        lambda m: m.lock_joints({"b3_joint": (0.1, 0.2, 0.3)}),
        lambda m: m.attach(MODEL, "tool", "other_"),
        lambda m: MODEL.attach(m, "tool", "other_"),
        lambda m: m.subtree("b2"),
        lambda m: m.scale(1.5, 2.0),
    ):
        symbolic, expected = edit(model), edit(numbers)
        q = DM(symbolic.random_q(rng))
        H = ca.Function("H", [I, r], [od.mass_matrix(symbolic, SX(q))])
        close(H(*values).full(), od.mass_matrix(expected, q).full())
    with pytest.raises(od.ModelError, match=r"body 'b2' has a symbolic inertia.*all of them in one with_parameters"):
        model.with_inertia("b2", mass=2.0)
    with pytest.raises(od.ModelError, match="body 'b2' has a symbolic inertia"):
        od.with_parameters(model, {"mass:b2": 1.0})
    with pytest.raises(od.ModelError, match="reduce: body 'b2' has a symbolic inertia or position"):
        od.reduce(model)
