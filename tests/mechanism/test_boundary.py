"""The boundary of plain functions: what they are given is checked, once, in words of the library."""

import inspect

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.casadi_functions.registry import REGISTRY
from ocp_dyn.mechanism.boundary import boundary
from ocp_dyn.models import pendulum

MODEL = pendulum(2)
Q, V = ca.DM([0.1, 0.2]), ca.DM([0.3, 0.4])
HOLD = od.LockedJoint(MODEL.joint_names[0])


def of_a_model():
    """Every public function whose first argument is a model, but `od.function`, which checks all by itself."""
    for name in dir(od):
        found = getattr(od, name)
        if (
            inspect.isfunction(found)
            and name != "function"
            and next(iter(inspect.signature(found).parameters)) == "model"
        ):
            yield found


def test_all_public_functions_of_a_model_are_at_the_boundary():
    functions = [*of_a_model(), *REGISTRY]
    assert len(functions) > 80
    for function in functions:
        assert hasattr(function, "__wrapped__"), function.__name__
        with pytest.raises(TypeError, match=r"^model must be a Model, such as .* got None"):
            function(None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: od.mass_matrix(MODEL, np.zeros(2)),
            TypeError,
            r"q must be a casadi .* got ndarray: write casadi.DM\(q\)",
        ),
        (lambda: od.mass_matrix(MODEL, None), TypeError, "q must be a casadi SX, MX or DM, got None"),
        (
            lambda: od.mass_matrix(MODEL, ca.DM(2, 2)),
            ValueError,
            r"q must be one column of 2 entries, got shape \(2, 2\)",
        ),
        (lambda: od.bias_force(MODEL, Q, ca.DM(3, 1)), ValueError, "qd must have 2 rows in this model"),
        (lambda: od.bias_force(MODEL, ca.SX.sym("q", 2), ca.MX.sym("v", 2)), TypeError, "one kind, got SX and MX"),
        (lambda: od.impact(MODEL, HOLD, ca.SX.sym("q", 2), V, ca.MX.sym("e")), TypeError, "one kind, got SX and MX"),
        (
            lambda: od.mass_matrix(MODEL, Q, loads=od.Loads(armature=np.zeros(3))),
            TypeError,
            "armature must be True or False",
        ),
        (
            lambda: od.bias_force(MODEL, Q, V, loads=od.Loads(external=5)),
            TypeError,
            "external must be a tuple of frame names, got 5",
        ),
        (
            lambda: od.bias_force(MODEL, Q, V, loads=od.Loads(external="tip")),
            TypeError,
            "external must be a tuple of frame names",
        ),
        (lambda: od.constraint_jacobian(MODEL, HOLD, Q, t=np.nan), ValueError, "t must be one finite time"),
        (lambda: od.constraint_wrenches(MODEL, HOLD, Q, ca.DM(1, 2)), ValueError, "lam must be one column"),
        (lambda: od.impact(MODEL, HOLD, Q, V, "x"), ValueError, r"restitution e must lie in \[0, 1\]"),
        (lambda: od.impact(MODEL, HOLD, Q, V, solver=[]), ValueError, r"solver must be one of range, .* got \[\]"),
        (lambda: od.constraint_rank(MODEL, HOLD, None), TypeError, "q must be 2 numbers or a casadi .* got None"),
        (
            lambda: od.constraint_rank(MODEL, HOLD, Q, tolerance=np.nan),
            ValueError,
            "tolerance must be 1 finite numbers",
        ),
        (lambda: od.constraint_rank(MODEL, HOLD, Q, tolerance=2), ValueError, "tolerance must be a fraction"),
        (lambda: od.is_fully_actuated(MODEL, HOLD, Q, 5), TypeError, "actuated must be a sequence of joint names or"),
        (lambda: od.is_fully_actuated(MODEL, HOLD, Q, [None, 1]), TypeError, "truth values, .* got None in it"),
        (lambda: od.assemble_q(MODEL, HOLD, ca.SX.sym("q", 2)), TypeError, "q0 must be 2 numbers, got the expression"),
        (lambda: MODEL.integrate(ca.SX.sym("q", 2), ca.MX.sym("v", 2)), TypeError, "one kind, got SX and MX"),
        (lambda: od.function(od.mass_matrix, MODEL, reduce=ca.SX.sym("x")), TypeError, "reduce must be True or False"),
        (lambda: od.function(od.impact, MODEL, HOLD, loads=[]), TypeError, "loads must be od.Loads"),
        (
            lambda: od.function(od.mass_matrix_inverse_product, MODEL, columns=10**9),
            ValueError,
            "from 1 to 10000, got 1000000000",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_words(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_quaternion_of_zeros_is_told():
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    held = od.Contact("ball", point=(1, 0, 0), axes="xyz").at(model, model.neutral())
    for call in (od.constraint_rank, od.assemble_q):
        with pytest.raises(ValueError, match=r"not finite at this .* a quaternion must not be zero"):
            call(model, held, np.zeros(7))


def test_what_functions_check_themselves_and_what_python_tells_pass():
    at = boundary(several=("tau",), own=("q",))(lambda model, q, tau, f_ext=None: (q, tau))
    assert at(MODEL, "own", V)[0] == "own"
    assert at(MODEL, "own", ca.DM(2, 5))[1].shape == (2, 5)
    assert at(MODEL, "own", tau=V, f_ext=None)
    for wrong in (lambda: od.mass_matrix(), lambda: od.mass_matrix(MODEL), lambda: od.mass_matrix(MODEL, Q, flag=1)):
        with pytest.raises(TypeError, match="mass_matrix"):
            wrong()


def test_numbers_and_symbols_mix():
    """Buffers are of the type that holds all of what enters them."""
    model, free = MODEL, ca.SX.sym("x", 2)
    for q, qd, qdd in ((Q, V, free), (Q, free, V), (free, V, V)):
        tau, _, _ = od.constrained_inverse_dynamics(model, HOLD, q, qd, qdd)
        value = ca.Function("tau", [free], [tau])(V)
        given = [V if x is free else x for x in (q, qd, qdd)]
        expected, _, _ = od.constrained_inverse_dynamics(model, HOLD, *given)
        assert float(ca.norm_inf(value - expected)) < 1e-12
    wrench = ca.SX.sym("w", 6)
    tip = model.body_names[-1]
    found = od.inverse_dynamics_derivatives(model, Q, V, V, wrench, loads=od.Loads(external=(tip,)))
    at = ca.Function("dq", [wrench], [found[0]])(ca.DM.ones(6))
    expected = od.inverse_dynamics_derivatives(model, Q, V, V, ca.DM.ones(6), loads=od.Loads(external=(tip,)))[0]
    assert float(ca.norm_fro(at - expected)) < 1e-12


@pytest.mark.parametrize("path", [3, None, b"x", [], "", "a\0b"])
def test_a_path_is_a_name_and_no_open_file(path):
    calls = (
        od.load_model,
        od.load_urdf,
        ocp.Solution.load,
        lambda path: od.save_model(MODEL, path),
        lambda path: od.codegen.export([od.function(od.mass_matrix, MODEL)], path),
        lambda path: od.viz.plot_multipliers([0.5], path),
    )
    for call in calls[:-1] if path is None else calls:
        with pytest.raises((TypeError, ValueError), match=r"(path|directory) must be"):
            call(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: od.viz.plot(None), "a motion is needed, such as"),
        (lambda: od.viz.stick_figure(3.0), "a motion is needed, such as"),
        (lambda: od.viz.animate([], "x.gif"), "a motion is needed, such as"),
        (lambda: od.viz.skeleton(None), "model must be a Model"),
        (lambda: od.viz.plot_multipliers(["x"]), "needs finite numbers, real or complex"),
        (lambda: ocp.mirror_map(MODEL, loads=[]), "loads must be od.Loads"),
        (lambda: ocp.asymmetry(None), "model must be a Model"),
        (lambda: ocp.Separation(ca.MX.sym("x"), 0.1), "Separation pairs must be a sequence"),
        (lambda: ocp.Phase("p", 3, 1.0, constraints=ca.DM(3, 1)), "constraints must be a tuple of constraints"),
        (lambda: ocp.StepMap(abs, abs, abs, n=10**9), "n must be at least 1 and at most 200"),
        (lambda: ocp.StepMap(abs, abs, abs, n=1, steps=10**9), "steps must be at least 1 and at most 100000"),
        (lambda: od.codegen.emit(None, "f"), "emit needs a casadi.Function"),
        (lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", precision=[]), "precision is 'double'"),
        (lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", derivatives=3), "derivatives must be"),
        (
            lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", lanes=ca.SX.sym("x")),
            "lanes in double",
        ),
        (lambda: od.codegen.compile([od.function(od.mass_matrix, MODEL)], keys=[3]), "keys must be texts"),
        (lambda: od.codegen.compile([od.function(od.mass_matrix, MODEL)], threads=10**9), "threads must be a positive"),
    ],
)
def test_the_other_rooms_refuse_in_words(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
