"""The boundary of plain functions: what they are given is checked, once, in words of the library."""

import inspect

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.functions.registry import REGISTRY
from ocp_dyn.mechanism.boundary import checks_arguments
from ocp_dyn.models import pendulum
from tests.helpers import OF_CLOSED_CHAINS, add_random, close, with_straight_muscles

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
            and next(iter(inspect.signature(found).parameters), "") == "model"
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
        (lambda: od.mass_matrix(MODEL, None), TypeError, "q must be numbers, or a casadi SX, MX or DM, got None"),
        (lambda: od.mass_matrix(MODEL, "ab"), TypeError, "q must be numbers, .* got 'ab'"),
        (lambda: od.mass_matrix(MODEL, [ca.SX.sym("a"), 1]), TypeError, r"got .*: write casadi.vertcat\(\*q\)"),
        (lambda: od.mass_matrix(MODEL, [[1, 2], [3]]), TypeError, "q must be numbers"),
        (lambda: od.mass_matrix(MODEL, np.zeros((2, 1, 1))), TypeError, "q must be numbers"),
        (lambda: od.mass_matrix(MODEL, np.zeros(2, complex)), TypeError, "q must be numbers"),
        (lambda: od.mass_matrix(MODEL, 0.3), ValueError, r"q must have 2 rows \(nq: .*\) .*, got the number 0.3"),
        (lambda: od.mass_matrix(MODEL, np.zeros(3)), ValueError, r"q must have 2 rows \(nq: joint1, joint2\)"),
        (lambda: MODEL.split_qd(np.zeros(3)), ValueError, "qd must have 2 rows in this model"),
        (
            lambda: MODEL.integrate(0.1, V),
            ValueError,
            r"q must have 2 entries \(joint1, joint2\) .* got shape \(1, 1\)",
        ),
        (
            lambda: od.mass_matrix(MODEL, ca.DM(2, 2)),
            ValueError,
            r"q must be one column of 2 entries, got shape \(2, 2\)",
        ),
        (lambda: od.bias_force(MODEL, Q, ca.DM(3, 1)), ValueError, r"qd must have 2 rows \(nv: .*\) in this model"),
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


def floating_arm():
    """A floating base with a joint of each side, one of them spherical."""
    rng, builder = np.random.default_rng(5), od.ModelBuilder("arm", gravity=(1.1, -2.3, -9.81))
    for name, joint, parent in (
        ("b1", od.FloatingBase(), "world"), ("b2", od.Revolute((1, 2, 3)), "b1"), ("b3", od.Spherical(), "b1")
    ):  # fmt: skip
        add_random(builder, name, joint, parent, rng)
    return builder.build()


ARRAYS = with_straight_muscles(floating_arm())
NATURAL = od.formulations.natural(ARRAYS)
FEET = tuple(c.at(ARRAYS, ARRAYS.neutral()) for c in (od.Contact("b2"), od.Contact("b3", axes="xz")))
OTHERS = {"frame": "b3", "constraints": FEET, "natural": NATURAL, "t": [0.0], "values": {}, "s": 0.3, "h": 1e-3,
          "spheres": (od.HuntCrossleySphere("b3", (0.1, 0.2, -0.3), 0.05),)}  # fmt: skip
NOT_OF_Q = {"inertial_parameters", "mimic_constraints", "mimic_map", "model_to_dict", "parameter_names", "reduce",
            "save_model", "with_parameters"}  # fmt: skip
OF_NUMBERS = {"assemble_q", "assemble_qd", "constraint_rank", "inverse_kinematics", "is_fully_actuated"}
"""Functions that work on numbers alone, and give NumPy arrays or plain values."""


def arguments(function):
    """Arguments for a function of a model, the matrices as arrays in general position, and which of them are so."""
    model, rng = ARRAYS, np.random.default_rng(3)
    state = {"q": model.random_q(rng), **{name: rng.normal(size=model.nv) for name in ("qd", "qdd", "tau", "mu", "v")}}
    state |= {"q0": model.random_q(rng), "q1": model.random_q(rng), "lam": rng.normal(size=8)}
    state["F_mt"] = rng.normal(size=len(model.muscles))
    needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty][1:]
    if "natural" in needed:
        at = od.formulations.natural_from_q(model, NATURAL, state["q"])
        state |= {
            "x": at.full().ravel(),
            "xd": od.formulations.natural_velocity(model, NATURAL, state["q"], state["qd"]).full().ravel(),
        }
        state |= {"xdd": rng.normal(size=NATURAL.n), "lam": rng.normal(size=len(NATURAL.constraint_names))}
    known = {**OTHERS, **state}
    return [known[name] for name in needed], [name in state for name in needed]


def algorithms():
    """Every registered or public algorithm that takes matrices."""
    found = dict.fromkeys([*of_a_model(), *REGISTRY])
    return [f for f in found if f.__name__ not in NOT_OF_Q | OF_NUMBERS and f not in OF_CLOSED_CHAINS]


def parts(result):
    """The matrices of a result, with the names of fields."""
    items = result.items() if isinstance(result, dict) else enumerate(result if isinstance(result, tuple) else [result])
    return dict(items)


@pytest.mark.parametrize("function", algorithms(), ids=lambda f: f.__name__)
@pytest.mark.slow
def test_arrays_are_numbers_of_every_algorithm(function):
    """Arrays, flat or columns, give what a DM gives, bit for bit, as a DM; the arrays do not change."""
    given, matrices = arguments(function)
    kept = [np.copy(x) for x in given]
    expected = parts(function(ARRAYS, *(ca.DM(x) if m else x for x, m in zip(given, matrices, strict=True))))
    mixed = [x[:, None] if m and k % 2 else x for k, (x, m) in enumerate(zip(given, matrices, strict=True))]
    found = parts(function(ARRAYS, *mixed))
    assert found.keys() == expected.keys()
    for name, x in found.items():
        assert isinstance(x, ca.DM), name
        assert x.sparsity() == expected[name].sparsity()
        assert np.array_equal(x.full(), expected[name].full(), equal_nan=True)
    for x, before, matrix in zip(given, kept, matrices, strict=True):
        assert not matrix or np.array_equal(x, before)


def test_lists_and_tuples_are_numbers():
    q, qd, qdd = (x.tolist() for x in arguments(od.inverse_dynamics)[0])
    expected = od.inverse_dynamics(ARRAYS, ca.DM(q), ca.DM(qd), ca.DM(qdd))
    assert isinstance(expected, ca.DM)
    close(od.inverse_dynamics(ARRAYS, q, tuple(qd), [[x] for x in qdd]), expected, 0)
    close(od.inverse_dynamics(ARRAYS, q, [np.float32(0)] * ARRAYS.nv, range(ARRAYS.nv)),
          od.inverse_dynamics(ARRAYS, ca.DM(q), ca.DM(ARRAYS.nv, 1), ca.DM(range(ARRAYS.nv))), 0)  # fmt: skip


def test_arrays_by_name_beside_loads_and_symbols(rng):
    q, qd, qdd = MODEL.random_q(rng), rng.normal(size=2), rng.normal(size=2)
    tip, wrench = MODEL.body_names[-1], rng.normal(size=6)
    loads = od.Loads(external=(tip,), armature=True)
    expected = od.inverse_dynamics(MODEL, *map(ca.DM, (q, qd, qdd, wrench)), loads=loads)
    close(od.inverse_dynamics(MODEL, q, qdd=qdd, qd=list(qd), f_ext=wrench, loads=loads), expected, 0)
    close(od.inverse_dynamics(MODEL, q, qd, qdd, wrench[:, None], loads=loads), expected, 0)
    for kind in (ca.SX, ca.MX):
        free = kind.sym("qdd", 2)
        tau = od.inverse_dynamics(MODEL, q, qd, free, wrench, loads=loads)
        assert isinstance(tau, kind)
        close(ca.Function("tau", [free], [tau])(qdd), expected)
    columns = rng.normal(size=(2, 3))
    found = od.mass_matrix_inverse_product(MODEL, q, columns)
    close(found, od.mass_matrix_inverse_product(MODEL, ca.DM(q), ca.DM(columns)), 0)
    close(od.joint_power(MODEL, columns, 2 * columns), 2 * columns**2)


def test_arrays_in_methods_of_a_model(rng):
    """Steps on the manifold, parts by joint."""
    model = ARRAYS
    q0, q1, v = model.random_q(rng), model.random_q(rng), rng.normal(size=model.nv)
    calls = {
        "q_dot": (q0, v), "integrate": (q0, v), "difference": (q0, q1), "tangent_rate": (v, v), "rest": (q0,),
        "split_q": (q0,), "split_qd": (v,), "interpolate": (q0, q1, 0.3), "d_integrate": (q0, v),
        "d_difference": (q0, q1),
    }  # fmt: skip
    for name, given in calls.items():
        method = getattr(model, name)
        expected = method(*(ca.DM(x) for x in given))
        for form in (lambda x: x, lambda x: x.tolist() if isinstance(x, np.ndarray) else x):
            found = method(*map(form, given))
            for a, b in zip(*(x if isinstance(x, (list, tuple)) else [x] for x in (found, expected)), strict=True):
                assert isinstance(a, ca.DM), name
                close(a, b, 0)


def test_arrays_in_functions_without_a_model(rng):
    """A wrench, forces of constraints, a quaternion."""
    wrench, lam, quaternion = rng.normal(size=6), rng.normal(size=8), rng.normal(size=4)
    close(od.center_of_pressure(wrench), od.center_of_pressure(ca.DM(wrench)), 0)
    for name, force in od.split_forces(FEET, lam).items():
        close(force, od.split_forces(FEET, ca.DM(lam))[name], 0)
    close(od.quaternion_matrix(quaternion), od.quaternion_matrix(ca.DM(quaternion)), 0)
    for call, message in (
        (lambda: od.center_of_pressure(wrench[:5]), "a wrench must be a column of 6 entries"),
        (lambda: od.split_forces(FEET, lam[:5]), r"lam must have 8 rows \(b2.*8 in all\)\), got shape \(5, 1\)"),
        (lambda: od.quaternion_matrix(wrench), r"a quaternion \(x, y, z, w\) must be a column of 4 entries"),
    ):
        with pytest.raises(ValueError, match=message):
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
    at = checks_arguments(several=("tau",), own=("q",))(lambda model, q, tau, f_ext=None: (q, tau))
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
        (
            lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", precision=[]),
            "precision must be one of double, single",
        ),
        (lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", derivatives=3), "derivatives must be"),
        (
            lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", lanes=ca.SX.sym("x")),
            "lanes in double",
        ),
        (lambda: od.codegen.compile([od.function(od.mass_matrix, MODEL)], keys=[3]), "keys must be texts"),
        (
            lambda: od.codegen.compile([od.function(od.mass_matrix, MODEL)], threads=10**9),
            "threads, unless None, must be at least 1 and at most 4096",
        ),
    ],
)
def test_the_other_rooms_refuse_in_words(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
