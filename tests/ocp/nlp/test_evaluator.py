"""Numbers of a program: the chain rule, tables, what is kept for the next one."""

import os
import threading
from collections import OrderedDict

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.functions.differentiated_dynamics import dynamics_derivatives
from ocp_dyn.models import pendulum
from ocp_dyn.native.libraries import TABLES
from ocp_dyn.ocp.nlp import block_graph, derivative_cache, function_tables
from ocp_dyn.ocp.nlp.function_tables import SOLVED_WITH, use_tables
from ocp_dyn.ocp.nlp.program import Program
from ocp_dyn.ocp.workflows.attempt import prepare
from tests.helpers import close

needs_tables = pytest.mark.skipif(TABLES.obtain(wait=True)[0] is None, reason="no native library")


def quiet(line):
    """Tells nobody."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(function_tables, "_kept", OrderedDict())
    return tmp_path / "ocp_dyn"


def flyer():
    """A body that flies, with an arm: quaternions, and joints that bend."""
    builder = od.ModelBuilder("flyer")
    builder.add_body("trunk", od.FloatingBase(), mass=3, com=(0.1, 0, 0.2), inertia=(1, 2, 3))
    builder.add_body(
        "arm", od.Revolute("y"), "trunk", origin=(0.3, 0, 0), mass=1, com=(0, 0, -0.4), inertia=(0.2, 0.2, 0.1)
    )
    return builder.build()


def dynamic(model, differentiable, instances=3):
    """Steps of a mechanism whose dynamics are a call at a midpoint, with a cost, shared time and bent variables."""
    program = Program(1)
    nq, nv = model.nq, model.nv
    nodes = [
        [program.variable(f"{name}{k}", n, -9, 9, 0.5) for name, n in (("q", nq), ("qd", nv), ("qdd", nv))]
        for k in range(instances)
    ]
    T = program.variable("T", 1, 0.1, 2, 1.0)

    def body(z, rows):
        qd = rows.inner(z["qd"] + z["T"] / 2 * z["qdd"])
        q = rows.inner(model.integrate(z["q"], z["T"] / 2 * qd))
        inverse = od.function(od.inverse_dynamics, model)
        tau = rows.call(inverse, differentiable, q, qd, z["qdd"], maker=dynamics_derivatives.__module__)
        rows.constrain("dynamics", tau - ca.sin(z["qd"]), scale=10.0)
        rows.constrain("bent", tau[0] * z["T"] * qd[-1], -1, np.inf)
        rows.cost("effort", z["T"] * ca.sumsqr(tau[-1]) + ca.sumsqr(q))

    slots = dict(zip(("q", "qd", "qdd"), nodes[0], strict=True)) | {"T": T}
    block = program.block("step", slots, body)
    for node in nodes:
        block.add(dict(zip(("q", "qd", "qdd"), node, strict=True)) | {"T": T})
    return program


def no_derivatives():
    raise ValueError("none")


@pytest.mark.parametrize("analytic", [True, False])
@pytest.mark.slow
def test_calls_bring_their_derivatives(rng, analytic):
    """Values and derivatives of rows and costs that are linear and that are not in the call, against AD of the
    whole."""
    model = flyer()
    differentiable = (lambda: dynamics_derivatives(model)) if analytic else no_derivatives
    built = dynamic(model, differentiable).assemble()
    x, lam = rng.normal(size=built.n), rng.normal(size=built.row_lower.size)
    expression = built.expression()
    X, L = expression["x"], ca.MX.sym("L", lam.size)
    lagrangian = 1.5 * expression["f"] + ca.dot(L, expression["g"])
    outputs = [ca.gradient(expression["f"], X), ca.jacobian(expression["g"], X), ca.triu(ca.hessian(lagrangian, X)[0])]
    whole = ca.Function("whole", [X, L], outputs)
    found = built.gradient(x, [])[1], built.jacobian(x, [])[1], built.hessian(x, [], 1.5, lam)
    for one, other in zip(found, whole(x, lam), strict=True):
        scale = max(1.0, float(ca.norm_inf(ca.vec(ca.DM(other)))))
        assert float(ca.norm_inf(ca.vec(ca.DM(one) - ca.DM(other)))) < 1e-12 * scale


def test_solvers_ask_for_many_things_at_one_point(rng):
    """f and g come from one evaluation of the blocks, gradient and Jacobian from another, until x or p changes."""
    built = dynamic(pendulum(1), no_derivatives).assemble()
    e, counts = built.evaluator, dict.fromkeys(derivative_cache.FUNCTION_LEVELS, 0)

    def counted(level, run):
        def call():
            counts[level] += 1
            run()

        return call

    x, none = rng.normal(size=built.n), np.zeros(0)
    e.objective(x - 1, none), e.gradient(x - 1, none)  # prepares the calls
    e._runs = {level: [counted(level, run) for run in runs] for level, runs in e._runs.items()}
    for _ in range(2):
        e.objective(x, none), e.constraints(x, none), e.gradient(x, none), e.jacobian(x, none)
    assert counts == {"values": 1, "first": 1, "second": 0, "gauss": 0}
    e.constraints(x + 1, none)
    e.constraints(x, none)
    assert counts["values"] == 3


def test_gauss_newton_leaves_out_the_curvature_of_residuals(rng):
    """Curvature of T |r|^2 + x0^4 with r = (sin x0, x0 x1): 2 T J'J, and the rest's own 12 x0^2."""
    program = Program(1)
    x, T = program.variable("x", 2, -5, 5, 1.0), program.variable("T", 1, 0, 5, 1.0)

    def body(z, rows):
        r = ca.vertcat(ca.sin(z["x"][0]), z["x"][0] * z["x"][1])
        rows.cost("squares", z["T"] * ca.sumsqr(r), [(z["T"], r)])
        rows.cost("rest", z["x"][0] ** 4)

    program.block("cost", {"x": x, "T": T}, body).add({"x": x, "T": T})
    built = program.assemble()
    a, b, t = point = rng.normal(size=3)
    half = np.array(ca.DM(built.evaluator.hessian_pattern, built.evaluator.gauss_newton(point, np.zeros(0), 3.0)))
    J = np.array([[np.cos(a), 0, 0], [b, a, 0]])
    close(half, np.triu(3 * (2 * t * J.T @ J + np.diag([12 * a**2, 0, 0]))))


@pytest.fixture
def walker():
    phase = ocp.Phase("swing", 9, 0.5, objective=ocp.TorqueSquared())
    goal = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 0.3, e.qd), 0, 0))
    return ocp.Problem(pendulum(1), phase, boundary=goal)


@needs_tables
@pytest.mark.parametrize("instances", [1, 11])
def test_tables_give_the_same_numbers(rng, cache, monkeypatch, instances):
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    built = dynamic(pendulum(1), no_derivatives, instances).assemble()
    x, lam, none = rng.normal(size=built.n), rng.normal(size=built.row_lower.size), np.zeros(0)

    def numbers():
        e = built.evaluator
        found = [e.constraints(x, none), e.gradient(x, none), e.jacobian(x, none), e.hessian(x, none, 2.0, lam)]
        found.append(e.gauss_newton(x, none, 2.0))
        return [float(e.objective(x, none)), *(np.array(part) for part in found)]

    machine = numbers()
    monkeypatch.setattr(function_tables, "KEPT_ON_DISK", 0)
    assert use_tables(built, quiet) == "virtual machine"  # they do not pay
    assert use_tables(built, quiet, complete=True) == "tables"
    assert len(built.tapes.of) == 4
    for one, other in zip(numbers(), machine, strict=True):
        close(one, other, 1e-12)
    monkeypatch.setattr(function_tables, "_kept", OrderedDict())
    again = dynamic(pendulum(1), no_derivatives, instances).assemble()
    assert use_tables(again, quiet) == "tables"  # the cache has them
    built.use(None)
    for one, other in zip(numbers(), machine, strict=True):
        close(one, other, 1e-12)


@needs_tables
def test_what_tapes_do_not_have_stays_in_the_virtual_machine(rng, cache, monkeypatch):
    """The inverse error function has no counterpart in C."""
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    program = Program(1)
    x = program.variable("x", 2, -0.5, 0.5, 0.1)

    def body(z, rows):
        rows.cost("bent", ca.erfinv(z["x"][0]) ** 2 + z["x"][1] ** 2)

    program.block("cost", {"x": x}, body).add({"x": x})
    program.block("plain", {"x": x}, lambda z, rows: rows.cost("plain", ca.sumsqr(z["x"]))).add({"x": x})
    built = program.assemble()
    before = built.evaluator.gradient([0.2, 0.3], np.zeros(0)).copy()
    assert (
        use_tables(built, quiet, SOLVED_WITH["exact"], complete=True)
        == "3 functions by tables, 3 in the virtual machine"
    )
    close(built.evaluator.gradient([0.2, 0.3], np.zeros(0)), before, 1e-14)


@needs_tables
def test_large_programs_make_their_tapes_without_being_asked(cache, monkeypatch):
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    monkeypatch.setattr(function_tables, "KEPT_ON_DISK", 0)
    built = dynamic(pendulum(1), no_derivatives, 9).assemble()
    assert use_tables(built, quiet) == "virtual machine"
    assert not list(cache.glob("*.tape"))
    monkeypatch.setattr(function_tables, "MANY_INSTRUCTIONS", 0)
    assert use_tables(built, quiet) == "tables"
    assert len(list(cache.glob("*.tape"))) == 4


def test_without_the_library_the_virtual_machine_gives_the_numbers(cache, walker, monkeypatch):
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    monkeypatch.setattr(TABLES, "obtain", lambda: (None, "the native library tables is missing"))
    solution = walker.solve(progress=False)
    assert solution.converged
    assert solution.stats["evaluation"] == "virtual machine; the native library tables is missing"


@needs_tables
def test_a_program_whose_library_is_gone_leaves_its_tables(rng, cache, monkeypatch):
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    built = dynamic(pendulum(1), no_derivatives).assemble()
    assert use_tables(built, quiet, complete=True) == "tables"
    monkeypatch.setattr(TABLES, "obtain", lambda: (None, "it is gone"))
    assert use_tables(built, quiet) == "virtual machine; it is gone"
    assert built.tapes is None


def test_compile_is_an_argument_of_the_past(walker, tmp_path):
    told = "has no argument compile any more, got compile=True: leave it out. Functions are evaluated by tables"
    solution = walker.solve(progress=False)
    for call in (
        lambda: walker.solve(compile=True),
        lambda: ocp.solve(walker, compile=True),
        lambda: walker.rti(solution, compile=True),
        lambda: walker.rti(solution, qp="riccati", compile=True),
        lambda: ocp.Sweep(pendulum, ocp.grid(to=[0.1]), tmp_path, solve={"compile": True}),
    ):
        with pytest.raises(TypeError, match=told):
            call()


def test_progress_says_how_it_evaluates(walker, capsys):
    assert walker.solve().converged
    shown = capsys.readouterr().err
    assert "evaluating by tables" in shown or "evaluating by virtual machine" in shown


def test_the_next_problem_finds_what_was_derived(rng, monkeypatch):
    """Blocks of the same values are differentiated once, and so many are kept."""
    monkeypatch.setattr(derivative_cache, "_kept", OrderedDict())
    first = dynamic(pendulum(1), no_derivatives).assemble()
    with monkeypatch.context() as patched:
        patched.setattr("ocp_dyn.ocp.nlp.block_graph.derivatives", lambda *a: pytest.fail("derived again"))
        second = dynamic(pendulum(1), no_derivatives, instances=5).assemble()
    assert second.blocks[0].derivatives.function("second") is first.blocks[0].derivatives.function("second")
    x, lam = rng.normal(size=second.n), rng.normal(size=second.row_lower.size)
    monkeypatch.setattr(derivative_cache, "KINDS_KEPT", 1)
    dynamic(pendulum(2), no_derivatives).assemble()
    assert second.blocks[0].key not in derivative_cache._kept
    anew = dynamic(pendulum(1), no_derivatives, instances=5).assemble()
    assert anew.blocks[0].derivatives.function("second") is not first.blocks[0].derivatives.function("second")
    close(np.array(second.hessian(x, [], 1.0, lam)), np.array(anew.hessian(x, [], 1.0, lam)), 0)


def test_equal_blocks_of_a_program_share_their_functions(rng, monkeypatch):
    """Also where nothing is kept from one block to the next; tables then have one key for both."""
    monkeypatch.setattr(derivative_cache, "_kept", OrderedDict())
    monkeypatch.setattr(derivative_cache, "KINDS_KEPT", 0)
    program = dynamic(pendulum(1), no_derivatives, instances=1)
    (block,) = program.blocks
    twin = program.block("twin", block.slots, block.body)
    twin.add(block.slots)
    built = program.assemble()
    one, other = built.blocks
    assert all(
        one.derivatives.function(level) is other.derivatives.function(level)
        for level in derivative_cache.FUNCTION_LEVELS
    )
    assert one.key == other.key
    x = rng.normal(size=built.n)
    alone = dynamic(pendulum(1), no_derivatives, instances=1).assemble()
    assert built.objective(x, []) == pytest.approx(2 * alone.objective(x, []))


def test_derivatives_by_recursion_are_those_of_the_graph(rng):
    model = flyer()
    n = model.nq + 2 * model.nv
    z, mu = ca.SX.sym("z", n), ca.SX.sym("mu", model.nv)
    parts = ca.vertsplit(z, [0, model.nq, model.nq + model.nv, n])
    tau = od.function(od.inverse_dynamics, model)(*parts)
    hessian, gradient = ca.hessian(ca.dot(mu, tau), z)
    F = ca.Function("F", [z, mu], [ca.jacobian(tau, z), gradient, hessian])
    at, weights = rng.normal(size=n), rng.normal(size=model.nv)
    numbers = np.split(at, [model.nq, model.nq + model.nv])
    assert dynamics_derivatives(model) is dynamics_derivatives(model)
    for one, other in zip(dynamics_derivatives(model)(*numbers, weights), F(at, weights), strict=True):
        close(np.array(ca.DM(one)), np.array(ca.DM(other)), 1e-12)


@needs_tables
def test_a_later_run_makes_the_tapes_of_blocks_with_few_instances(cache, monkeypatch):
    """The first run makes those that save more time than they take."""
    monkeypatch.setattr(function_tables, "KEPT_ON_DISK", 0)
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    monkeypatch.setattr(function_tables, "MANY_INSTRUCTIONS", 0)
    monkeypatch.setattr(function_tables, "MANY_INSTANCES", 3)

    def run():
        built = dynamic(pendulum(1), no_derivatives, 3).assemble()
        built.blocks.append(dynamic(pendulum(2), no_derivatives, 2).assemble().blocks[0])
        how = use_tables(built, quiet, SOLVED_WITH["exact"])
        return how, {k for k, _ in built.tapes.of}

    how, blocks = run()
    assert how == "3 functions by tables, 3 in the virtual machine"
    assert blocks == {0}
    assert run() == ("tables", {0, 1})


@needs_tables
def test_nothing_is_differentiated_if_the_tapes_are_on_disk(rng, cache, monkeypatch):
    monkeypatch.setattr(function_tables, "KEPT_ON_DISK", 0)
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)
    monkeypatch.setattr("ocp_dyn.ocp.nlp.block_graph.LARGE", 0)
    numbers, derivatives = [], block_graph.derivatives
    for allowed in (True, False):
        monkeypatch.setattr(derivative_cache, "_kept", OrderedDict())
        monkeypatch.setattr(function_tables, "_kept", OrderedDict())
        if not allowed:
            monkeypatch.setattr(block_graph, "derivatives", lambda *a: pytest.fail("derived again"))
        built = dynamic(flyer(), no_derivatives).assemble()
        assert use_tables(built, quiet, SOLVED_WITH["exact"], complete=True) == "tables"
        x, lam, none = np.linspace(-1, 1, built.n), np.linspace(1, 2, built.row_lower.size), np.zeros(0)
        e = built.evaluator
        numbers.append([e.constraints(x, none).copy(), e.jacobian(x, none), e.hessian(x, none, 2.0, lam)])
        numbers[-1] += [np.array(p.row() + p.colind()) for p in (e.jacobian_pattern, e.hessian_pattern)]
    assert all(np.array_equal(one, other) for one, other in zip(*numbers, strict=True))
    monkeypatch.setattr(block_graph, "derivatives", derivatives)
    assert built.blocks[0].gauss_function.nnz_out() == built.blocks[0].hessian_pattern.nnz()  # derived when needed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later
def test_a_forked_process_uses_programs_that_other_threads_hold(walker):
    _, program = prepare(walker)
    x, p = np.full(program.n, 0.1), np.ones(program.parameters)
    expected = float(program.evaluator.objective(x, p))
    held, done = threading.Event(), threading.Event()

    def hold():
        with program.lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    program.evaluator._all_z[:] = 0  # as if the other thread were in the middle of an evaluation
    program.evaluator._fresh.clear()
    child = os.fork()
    if child == 0:
        free = program.lock.acquire(timeout=1)
        os._exit(0 if free and float(program.evaluator.objective(x, p)) == expected else 1)
    status = os.waitpid(child, 0)[1]
    done.set()
    holder.join()
    assert status == 0


def test_an_interrupted_move_is_noticed(walker, monkeypatch):
    """Ctrl-C between the steps of a move to another point, of which the next evaluation must not take the rest."""
    _, program = prepare(walker)
    evaluator, p = program.evaluator, np.ones(program.parameters)
    x = np.full(program.n, 0.1)
    expected = float(evaluator.objective(x, p))
    evaluator.objective(2 * x, p)
    take = np.take
    for calls in (0, 1):
        left = [None] * calls

        def interrupted(*arguments, left=left, **options):
            if not left:
                raise KeyboardInterrupt
            left.pop()
            return take(*arguments, **options)

        monkeypatch.setattr(np, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluator.objective(x, p)
        monkeypatch.setattr(np, "take", take)
        assert float(evaluator.objective(x, p)) == expected
        assert float(evaluator.objective(2 * x, p)) != expected
