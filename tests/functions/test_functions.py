"""Algorithms as casadi.Functions: names, sizes, caching, options, derivatives, patterns, errors."""

from __future__ import annotations

import gc
import inspect
import multiprocessing
import os
import threading
import time
import weakref

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.functions import conventions
from ocp_dyn.functions import function as function_module
from ocp_dyn.functions.cheapest_equivalent import cheapest_equivalent
from ocp_dyn.functions.description import describe
from ocp_dyn.functions.quantities import QUANTITIES
from ocp_dyn.functions.registry import REGISTRY
from tests.helpers import CLOSED, State, add_random, close, closed_chain_function, flat, tree, with_straight_muscles

CONTACTS = (od.Contact("b2"), od.Contact("b3", point=(0.1, 0, 0.2), axes="xz"))
CONSTRAINED = ("phi", "G", "gamma", "FDc", "impact", "EoMc", "IDc", "phi_dot", "dFDc", "dimpact")
FRAMED, FRAME = (
    ("pose", "pos", "vel", "acc", "J", "J6", "J_dot", "vel_frame", "acc_frame", "J_frame", "J_frame_dot"),
    "b5",
)
ENTRIES = {signature.name: algorithm for algorithm, signature in REGISTRY.items()}
NAMES = [
    name for name, algorithm in ENTRIES.items()
    if not algorithm.__module__.startswith("ocp_dyn.formulations") and "second" not in algorithm.__name__
]  # fmt: skip
"""Those on a model, with constraints and frames."""


def mixed_model() -> od.Model:
    """Quaternions, Euler angles, planar and simple joints in one branching tree."""
    rng = np.random.default_rng(4)
    builder = od.ModelBuilder("mixed")
    add_random(builder, "b1", od.FloatingBase(), "world", rng)
    add_random(builder, "b2", od.Spherical(), "b1", rng)
    add_random(builder, "b3", od.Euler("zyx"), "b1", rng)
    add_random(builder, "b4", od.Planar(), "b2", rng)
    add_random(builder, "b5", od.Revolute((1, 2, 3)), "b3", rng)
    add_random(builder, "b6", od.Prismatic("y"), "b3", rng)
    return with_straight_muscles(builder.build())


MODEL = mixed_model()


def entry(name: str, /, **options) -> ca.Function:
    static = (FRAME,) if name in FRAMED else ()
    if name in CONSTRAINED:
        static = (tuple(c.at(MODEL, MODEL.neutral()) for c in CONTACTS) if name == "phi" else CONTACTS,)
    return od.function(ENTRIES[name], MODEL, *static, **options)


every_entry = pytest.mark.parametrize("name", NAMES)


def inputs(function: ca.Function, rng: np.random.Generator, at_rest: bool = False) -> list[np.ndarray]:
    s = State.of(MODEL, rng)
    other = flat(MODEL.integrate(s.q, 0.3 * s.tau))  # less than half a turn away
    values = {
        "q": s.q,
        "qd": s.qd,
        "qdd": s.qdd,
        "tau": s.tau,
        "v": s.qdd,
        "q0": s.q,
        "q1": other,
        "s": np.full(1, 0.3),
        "F_mt": np.array([0.7, 1.3]),
    }
    if at_rest:
        values |= {"q": MODEL.neutral(), "qd": 0 * s.qd, "v": 0 * s.qd, "q0": MODEL.neutral(), "q1": MODEL.neutral()}
    return [values[name] for name in function.name_in()]


# Names and kinds


def test_the_registry_is_the_one_listed():
    """Names differ by more than case, and every name has units."""
    registered = set(ENTRIES)
    assert len({name.lower() for name in registered}) == len(registered)
    for algorithm, signature in REGISTRY.items():
        optional = (*signature.optional_inputs, *signature.optional_outputs)
        named = {quantity.name for quantity in (*signature.inputs, *signature.outputs, *optional)}
        assert named <= set(QUANTITIES)
        assert all(QUANTITIES[name].units for name in named)
        options = inspect.signature(algorithm).parameters
        assert {quantity.name for quantity in optional} == {"e", "t", "f_ext", "residual"} & set(options)
        assert bool(signature.several) == ("columns" in options)


@pytest.mark.parametrize("name", ["ID", "H", "FDc", "pose", "interpolate"])
@pytest.mark.slow
def test_numbers_symbols_and_calls(rng, name):
    """DM in, DM out; SX in, SX out; MX: one call node, and the same value."""
    function = entry(name)
    values = inputs(function, rng)
    numbers = function(*values)
    numbers = numbers if isinstance(numbers, tuple) else (numbers,)
    assert all(isinstance(x, DM) for x in numbers)
    symbols = [SX.sym(n, len(v)) for n, v in zip(function.name_in(), values, strict=True)]
    result = function.call(symbols)
    assert all(isinstance(x, SX) for x in result)
    mx = [MX.sym(n, len(v)) for n, v in zip(function.name_in(), values, strict=True)]
    wrapped = ca.Function("w", mx, function.call(mx))
    calls = [k for k in range(wrapped.n_instructions()) if wrapped.instruction_id(k) == ca.OP_CALL]
    assert len(calls) == 1
    for a, b in zip(wrapped.call([DM(v) for v in values]), numbers, strict=True):
        close(a, b)


DIFFERENTIATED = [
    "ID", "FD", "H_inv", "C_mat", "Y", "gamma", "FDc", "impact", "IDc", "pose", "acc", "J6", "J_frame_dot",
    "poses", "integrate", "difference", "interpolate", "V", "h_com", "zmp", "P", "l_mt_dot",
]  # fmt: skip
"""Each kind of recursion, solve and joint map; the others are made of the same parts."""


@pytest.mark.parametrize("name", DIFFERENTIATED)
@pytest.mark.slow
def test_derivatives_are_finite_and_equal_to_differences(rng, name):
    """Derivatives of every output by every input, at random states and at neutral() and qd = 0."""
    function = entry(name)
    states = [inputs(function, rng, at_rest) for at_rest in (False, True)]
    symbols = [SX.sym(n, len(v)) for n, v in zip(function.name_in(), states[0], strict=True)]
    outputs = ca.vertcat(*(ca.vec(ca.densify(x)) for x in function.call(symbols)))
    dense = ca.Function("f", symbols, [outputs])
    for k, symbol in enumerate(symbols):
        jacobian = ca.Function("J", symbols, [ca.jacobian(outputs, symbol)])
        for values in states:
            equals_differences(jacobian, dense, values, k, rng)


def equals_differences(
    jacobian: ca.Function, dense: ca.Function, values: list, k: int, rng: np.random.Generator
) -> None:
    """The derivative by input k is finite, and is that of differences along a random direction."""
    h, J = 1e-5, jacobian(*values).full()
    assert np.all(np.isfinite(J))
    direction = rng.normal(size=len(values[k]))
    ahead, behind = (
        flat(dense(*(v + s * h * direction if i == k else v for i, v in enumerate(values)))) for s in (1, -1)
    )
    expected = (ahead - behind) / (2 * h)
    error = np.abs(J @ direction - expected) / (1 + np.abs(expected).max() + np.abs(ahead).max())
    assert error.max() < 1e-7  # central differences: h^2 and rounding / h


@pytest.mark.parametrize("name", ["FDc", "impact", "pose", "difference", "interpolate", "zmp", "l_mt_dot"])
@pytest.mark.slow
def test_second_derivatives_are_finite_at_neutral_and_rest(name):
    function = entry(name)
    values = inputs(function, np.random.default_rng(0), at_rest=True)
    symbols = [SX.sym(n, len(v)) for n, v in zip(function.name_in(), values, strict=True)]
    outputs = ca.vertcat(*(ca.vec(ca.densify(x)) for x in function.call(symbols)))
    weights = np.linspace(0.5, 1.5, outputs.shape[0])
    gradient = ca.gradient(ca.dot(outputs, DM(weights)), ca.vertcat(*symbols))
    along = ca.jtimes(gradient, ca.vertcat(*symbols), DM.ones(gradient.shape[0]))
    assert np.all(np.isfinite(ca.Function("h", symbols, [along])(*values).full()))


@pytest.mark.parametrize("name", ["ID", "FD", "FD_HC", "C", "T", "FDc"])
def test_the_scale_of_a_quaternion_does_not_matter(rng, name):
    function = entry(name)
    values = inputs(function, rng)
    other = list(values)
    other[0] = values[0].copy()
    for joint in ("b1_joint", "b2_joint"):
        place = MODEL.q_slice(joint)
        other[0][place.stop - 4 : place.stop] *= -2.5
    for a, b in zip(function.call([DM(v) for v in values]), function.call([DM(v) for v in other]), strict=True):
        close(a, b, 1e-9)


# Patterns


def test_patterns():
    """H is structurally zero between branches, G outside the path."""
    H = entry("H").sparsity_out(0)
    rows = {n: MODEL.qd_slice(f"{n}_joint") for n in MODEL.body_names}
    pattern = DM(H, 1).full().astype(bool)
    for a, b in (("b2", "b3"), ("b4", "b3"), ("b5", "b6"), ("b2", "b5")):
        assert not pattern[rows[a], rows[b]].any()
        assert not pattern[rows[b], rows[a]].any()
    G = DM(entry("G").sparsity_out(0), 1).full().astype(bool)
    assert not G[:6, rows["b3"]].any()
    assert not G[:6, rows["b4"]].any()
    assert not G[6:, rows["b2"]].any()
    assert G[:6, rows["b2"]].any()


# Caching


@pytest.mark.slow
def test_a_function_is_built_once():
    model = tree("chain")
    first = od.function(od.mass_matrix, model)
    assert od.function(od.mass_matrix, model) is first
    assert od.function(od.mass_matrix, model, name="M") is not first
    assert od.function(od.mass_matrix, model, name="M").name() == "M"
    equal, other = (tree("chain", np.random.default_rng(seed)) for seed in (7, 8))
    assert od.function(od.mass_matrix, equal) is first
    assert od.function(od.mass_matrix, other) is not first
    one = od.function(od.constraint_jacobian, model, (od.Contact("b2"),))
    assert od.function(od.constraint_jacobian, model, [od.Contact("b2")]) is one
    assert od.function(od.constraint_jacobian, model, (od.Contact("b2", point=(0, 0, 1)),)) is not one
    assert od.function(od.impact, model, od.Contact("b2"), e=0.5) is not od.function(od.impact, model, od.Contact("b2"))


@pytest.mark.slow
def test_a_model_that_is_gone_frees_its_functions():
    model = tree("chain", np.random.default_rng(9))
    watch = [weakref.ref(model), weakref.ref(od.function(od.mass_matrix, model))]
    del model
    gc.collect()
    assert [ref() for ref in watch] == [None, None]


def test_what_only_headers_say_is_found_out_when_they_ask(monkeypatch):
    monkeypatch.setattr(conventions, "model_digest", lambda model: pytest.fail("the model was written"))
    f = od.function(od.mass_matrix, tree("chain", np.random.default_rng(8)))
    monkeypatch.undo()
    assert len(describe(f).conventions.digest) == 16


# Options


@pytest.mark.slow
def test_external_adds_the_last_input():
    function = entry("ID", loads=od.Loads(external=("b4", "b1")))
    assert function.name_in() == ["q", "qd", "qdd", "f_ext"]
    assert function.size_in("f_ext") == (6, 2)
    assert entry("FDc", loads=od.Loads(external=("b1",))).name_in()[-1] == "f_ext"
    assert entry("ID", loads=od.Loads(external=())) is entry("ID")


@pytest.mark.slow
def test_residual_adds_an_output():
    assert entry("FDc", residual=True).name_out() == ["qdd", "lam", "residual"]


@pytest.mark.slow
def test_restitution_as_an_input():
    function = entry("impact", e="input")
    assert function.name_in() == ["q", "qd", "e"]
    assert function.size_in("e") == (1, 1)


def test_algorithms_of_the_user(rng):
    def energy(model, q, qd):
        return od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)

    def reach(model, body, q, p):
        return ca.norm_2(od.point_position(model, body, q) - p), 1.0

    s = State.of(MODEL, rng)
    E = od.function(energy, MODEL, signature="q qd -> E")
    assert str(E).startswith("energy:(q[19],qd[17])->(E)")
    close(E(s.q, s.qd), entry("T")(s.q, s.qd) + entry("V")(s.q))
    distance = od.function(reach, MODEL, "b3", signature="q p[3] -> d one", name="reach_b3")
    assert str(distance).startswith("reach_b3:(q[19],p[3])->(d,one)")
    close(distance(s.q, (1, 2, 3))[1], 1.0)
    assert od.function(lambda model, q: q[0], MODEL, signature="q -> x").name() == "lambda"


# Errors


def two(model, q):
    return q, q


REFUSED = [
    (TypeError, "needs a Model as its second argument, got int", lambda: od.function(od.mass_matrix, 3)),
    (KeyError, "print.* is not in the registry .*pass its signature", lambda: od.function(print, MODEL)),
    (ValueError, 'a signature reads "inputs -> outputs"', lambda: od.function(two, MODEL, signature="q E")),
    (ValueError, 'a signature reads "inputs -> outputs"', lambda: od.function(two, MODEL, signature="q ->")),
    (KeyError, "input 'z' has no known size; known: q, qd.*z\\[3\\]", lambda: od.function(
        two, MODEL, signature="z -> E")),
    (ValueError, "signature names outputs .*returned 2", lambda: od.function(two, MODEL, signature="q -> E")),
    (ValueError, "needs a different name, got q twice", lambda: od.function(two, MODEL, signature="q q -> E F")),
    (ValueError, "needs a different name, got E twice", lambda: od.function(two, MODEL, signature="q -> E E")),
    (ValueError, "needs a different name, got q twice", lambda: od.function(two, MODEL, signature="q -> q F")),
    (ValueError, "'mass matrix' cannot name a Function", lambda: entry("H", name="mass matrix")),
    (TypeError, r"external must be a tuple of frame names, .*write \('b1',\)",
        lambda: entry("ID", loads=od.Loads(external="b1"))),
    (KeyError, "no frame 'hand'", lambda: entry("ID", loads=od.Loads(external=("hand",)))),
    (ValueError, "e is a value .* or 'rows', got 'some'", lambda: entry("impact", e="some")),
    (TypeError, "must be hashable", lambda: od.function(od.constraint_jacobian, MODEL, np.zeros(3))),
    (TypeError,
        "missing a required argument: 'tau'; inputs of the Function are q, qd, tau.*constraint set, follow the model",
        lambda:
        od.function(od.constrained_dynamics, MODEL)),
    (TypeError, "unexpected keyword", lambda: entry("H", speed="high")),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_a_failed_build_is_not_kept():
    model = tree("chain")
    for _ in range(2):
        with pytest.raises(ValueError, match="signature names outputs"):
            od.function(two, model, signature="q -> E")


# Size

CEILINGS = {"ID": 2350, "C": 2200, "H": 3720, "FD": 5650, "tau_g": 610, "G": 530, "gamma": 720, "FD_HC": 10200}
DERIVATIVES_CEILING = 19900


def humanoid() -> od.Model:
    if not od.robots.installed():
        pytest.skip("example-robot-data is not installed")
    return od.robots.load("simple_humanoid")


@pytest.mark.slow
def test_instruction_counts_on_a_humanoid():
    """A deterministic figure of speed: a change that makes an algorithm longer is seen here."""
    model = humanoid()
    feet = (od.Contact("l_ankle"), od.Contact("r_ankle"))
    counts = {
        name: od.function(ENTRIES[name], model, *([feet] if name in CONSTRAINED else [])).n_instructions()
        for name in CEILINGS
    }
    assert {name: n for name, n in counts.items() if n > CEILINGS[name]} == {}


@pytest.mark.slow
def test_instruction_count_of_derivatives_on_a_humanoid():
    """The Jacobian of ID by q and qd alone, on the lighter model."""

    def by_q_and_qd(model, q, qd, qdd):
        return od.inverse_dynamics_derivatives(model, q, qd, qdd)[:2]

    f = od.function(by_q_and_qd, cheapest_equivalent(humanoid()), signature="q qd qdd -> dtau_dq dtau_dqd")
    assert f.n_instructions() <= DERIVATIVES_CEILING


@pytest.mark.slow
def test_functions_of_closed_chains_have_names_and_labels():
    """Functions of the registry: sizes from the choice of coordinates and the opened chain, and the same numbers."""
    b, chain = od.formulations, CLOSED
    model, loops, q, qd = chain.model, chain.loops, chain.q, chain.qd
    choice = b.independent_coordinates(model, loops, q)
    R2, qd_R2, Phi2_q, FDc_A = (closed_chain_function(algorithm) for algorithm in (
        b.independent_transformation, b.dependent_qd, b.closing_jacobian, b.closed_chain_dynamics_a))  # fmt: skip
    for f, name in ((R2, "R2"), (qd_R2, "qd_R2"), (Phi2_q, "Phi2_q"), (FDc_A, "FDc_A")):
        assert f.name() == name
    close(R2(q)[0], b.independent_transformation(model, loops, q, choice)[0])
    assert qd_R2.name_in() == ["q", "qd_i"]
    rate = qd[list(choice.independent)]
    close(qd_R2(q, rate), R2(q)[0] @ rate)
    v_B = od.function(b.dependent_velocity, model)
    close(v_B(q, qd), b.velocity_transformation(model, q) @ qd)
    assert Phi2_q.size_out(0) == (4, 6 * model.nb)
    close(Phi2_q(q) @ v_B(q, qd), od.constraint_jacobian(model, loops, q) @ qd)
    tau = np.arange(model.nv)
    qdd, lam, xdd = FDc_A(q, qd, tau)
    close(qdd, b.closed_chain_dynamics(model, loops, q, qd, tau)[0], 1e-8)
    opened = b.open_by_removing(model, loops, ["coupler1", "coupler2"])
    assert (lam.numel(), xdd.numel()) == (len(opened.conditions), opened.natural.n)
    for condition in opened.conditions:
        assert condition in od.codegen.generate([FDc_A], "bars")["bars.h"]
    with pytest.raises(TypeError, match="missing a required argument"):
        od.function(b.independent_transformation, model, loops)
    with pytest.raises(ValueError, match="R2 and qd_i have the sizes of a choice of independent coordinates"):
        od.function(b.dependent_qd, model, loops)


# Lighter models


LIGHTER = [name for name in NAMES if REGISTRY[ENTRIES[name]].joint_space]


@pytest.mark.parametrize("name", LIGHTER[::3])
@pytest.mark.slow
def test_lighter_models_change_nothing_but_rounding(rng, name):
    """Outputs, their sizes and what a Function tells of itself, against the model as it is."""
    light, plain = entry(name), entry(name, reduce=False)
    assert light is not plain
    for kind in ("in", "out"):
        names = getattr(plain, f"name_{kind}")()
        assert getattr(light, f"name_{kind}")() == names
        assert all(getattr(light, f"size_{kind}")(n) == getattr(plain, f"size_{kind}")(n) for n in names)
    facts = ("model", "neutral", "labels", "conventions", "gravity_is_input", "forces", "loads")
    told = [[getattr(describe(f), fact) for fact in facts] for f in (light, plain)]
    assert told[0] == told[1]
    values = inputs(light, rng)
    for a, b in zip(light.call([DM(v) for v in values]), plain.call([DM(v) for v in values]), strict=True):
        close(a, b, 1e-9)  # forward dynamics of random trees is not well conditioned


@pytest.mark.slow
def test_the_shorter_route_of_forward_dynamics(rng):
    """On a short chain H and C are shorter than ABA, on a long one ABA: whichever it is, the same accelerations."""
    for n, shorter in ((4, od.forward_dynamics_crba), (20, od.forward_dynamics)):
        model = od.models.chain(n)
        s = State.of(model, rng)
        taken = od.function(od.forward_dynamics, model)
        other = od.function(shorter, model)
        assert taken.name() == "FD"
        assert taken.n_instructions() == other.n_instructions()
        expected = od.function(od.forward_dynamics, model, reduce=False)
        assert expected.n_instructions() >= taken.n_instructions() or n == 20
        close(taken(s.q, s.qd, s.tau), expected(s.q, s.qd, s.tau), 1e-9)


@pytest.mark.slow
def test_locked_and_own_constraints_on_lighter_models(rng):
    """A lock of the floating root counts its dofs; a constraint of a user's own finds the model it knows."""
    seen = []

    class Own(od.Constraint):
        rows = ("own",)

        def position(self, model, q):
            seen.append(model)
            return q[0]

        def jacobian(self, model, q):
            seen.append(model)
            return DM(np.eye(model.nv)[:1])

        def hessian(self, model, q, qd):
            return DM(1, 1)

    s = State.of(MODEL, rng)
    for constraint in (od.LockedJoint.of(MODEL, "b1_joint"), Own()):
        light, plain = (od.function(od.constrained_dynamics, MODEL, (constraint,), reduce=r) for r in (True, False))
        for a, b in zip(light(s.q, s.qd, s.tau), plain(s.q, s.qd, s.tau), strict=True):
            close(a, b, 1e-9)
    assert seen
    assert all(model is MODEL for model in seen)


def test_threads_get_one_function():
    """Eight that ask at once while it is built, and an algorithm that asks for another one meanwhile."""

    def slow(model, q):
        time.sleep(0.05)
        return od.function(od.mass_matrix, model)(q)

    model = tree("chain")
    barrier, found = threading.Barrier(8), []

    def ask():
        barrier.wait()
        found.append(od.function(slow, model, signature="q -> H"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(f is found[0] for f in found)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_while_a_function_is_built_can_build(monkeypatch):
    inside = threading.Event()

    def slow(model, q):
        inside.set()
        time.sleep(0.1)
        return q

    model = tree("chain")
    builder = threading.Thread(target=od.function, args=(slow, model), kwargs={"signature": "q -> x"})
    builder.start()
    inside.wait()
    process = multiprocessing.get_context("fork").Process(target=od.function, args=(od.mass_matrix, model))
    process.start()
    process.join(10)
    builder.join()
    assert process.exitcode == 0


def test_functions_with_and_without_reduction_are_kept_apart():
    """The one that is asked for second is not the first again."""
    model = od.random_tree(3, 1.0, [od.Revolute((1, 2, 3))])
    reduced, whole = (od.function(od.inverse_dynamics, model, reduce=reduce) for reduce in (True, False))
    assert reduced.n_instructions() < whole.n_instructions()
    assert od.function(od.inverse_dynamics, model, reduce=False) is whole


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (None, TypeError, r"f: A: the algorithm must return an expression of its inputs \(SX\) or numbers, got None"),
        ("x", TypeError, "f: A: the algorithm must return an expression"),
        (MX.sym("z"), TypeError, r"got MX\(z\)"),
        (SX(3, 1), ValueError, "f: A has 3 rows, its quantity has 2"),
        (SX(2, 2), ValueError, "f: A has 2 columns, its quantity has 1"),
        (SX.sym("z", 2), ValueError, "f: the result contains the symbols z_0, z_1, which are no inputs"),
    ],
)
def test_what_a_users_algorithm_returns_is_checked(result, error, message):
    force = od.Quantity("A", "N", 2, 1)
    with pytest.raises(error, match=message):
        od.function(od.algorithm("f: q -> A", force)(lambda model, q: result), od.models.pendulum(2))


def test_large_functions_are_not_searched_for_equal_subexpressions(monkeypatch):
    def counted(name):
        twice = od.Signature.parse(f"{name}: q -> A")
        return od.function(lambda model, q: ca.sin(q[0]) + ca.cos(ca.sin(q[0])), od.models.pendulum(1), signature=twice)

    merged = counted("f")
    monkeypatch.setattr(function_module, "LARGEST_MERGED", 5)
    assert counted("g").n_instructions() == merged.n_instructions() + 1
    assert counted("g")(0.3) == merged(0.3)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, r"od.algorithm decorates a function\(model, q, ...\), got 3", lambda: od.algorithm("q -> A")(3)),
        (TypeError, "od.algorithm decorates", lambda: od.algorithm("q -> A")(od.models.pendulum(1).with_limits)),
        (TypeError, "quantity E: per_row must be True or False", lambda: od.Quantity("E", "J", 1, None, "yes")),
        (ValueError, "quantity p: rows must be at most 1000000", lambda: od.Signature.parse("q p[99999999999] -> A")),
        (TypeError, "signature 'f': joint_space must be", lambda: od.Signature.parse("f: q -> A", joint_space="yes")),
        (TypeError, "write lambda options: True", lambda: od.Signature.parse("f: q -> A", needs_inverse=True)),
    ],
)
def test_signatures_of_the_user_are_checked(error, message, call):
    with pytest.raises(error, match=message):
        call()
