"""Programs on disk: a problem that was built before is not built again, and has the same functions."""

import functools
from collections import OrderedDict
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.content import content, library_state
from ocp_dyn.mechanism.boundary import checks_arguments
from ocp_dyn.models import pendulum
from ocp_dyn.native.libraries import TABLES
from ocp_dyn.ocp.nlp import blocks, derivative_cache, function_tables
from ocp_dyn.ocp.nlp.function_tables import SOLVED_WITH, use_tables
from ocp_dyn.ocp.nlp.program import Program
from ocp_dyn.ocp.transcription.transcribe import key_of
from ocp_dyn.ocp.workflows.attempt import prepare

needs_tables = pytest.mark.skipif(TABLES.obtain(wait=True)[0] is None, reason="no native library")


@pytest.fixture
def new_process(tmp_path, monkeypatch):
    """A call that forgets what a process keeps; the disk keeps its files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(function_tables, "LEAST_INSTRUCTIONS", 0)

    def begin():
        monkeypatch.setattr(derivative_cache, "_kept", OrderedDict())
        monkeypatch.setattr(function_tables, "_kept", OrderedDict())

    begin()
    return begin


def swing(weight=1.0, duration=(0.4, 0.6), intervals=5, **options):
    objective = [ocp.TorqueSquared(weight=weight), ocp.AccelerationSquared(weight=0.1)]
    options = {"integrator": "gauss:2"} | options
    return ocp.Problem(pendulum(2), ocp.Phase("swing", intervals, duration, objective=objective), **options)


def numbers(program):
    x, lam, p = np.linspace(-1, 1, program.n), np.linspace(1, 2, program.row_lower.size), np.ones(program.parameters)
    e = program.evaluator
    found = [e.terms(x, p), e.constraints(x, p), e.gradient(x, p), e.jacobian(x, p)]
    found += [e.hessian(x, p, 2.0, lam), program.row_lower, program.row_upper]
    patterns = [np.array(p.row() + p.colind()) for p in (e.jacobian_pattern, e.hessian_pattern)]
    return [*(np.array(part) for part in found), *patterns, np.array([*program.row_names, *program.cost_names])]


@needs_tables
def test_a_problem_that_was_built_before_is_not_built_again(new_process, monkeypatch):
    built = prepare(swing())[1]
    assert built.key
    assert use_tables(built, lambda line: None, SOLVED_WITH["exact"], complete=True) == "tables"
    assert not built.key  # it is stored
    new_process()
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "BlockGraph", lambda *a: pytest.fail("built again"))
        taken = prepare(swing())[1]
        assert use_tables(taken, lambda line: None, SOLVED_WITH["exact"]) == "tables"
        for one, other in zip(numbers(taken), numbers(built), strict=True):
            assert np.array_equal(one, other)
        finer = prepare(swing(intervals=ocp.Intervals([1, 2, 2, 1, 3, 1, 1])))[1]  # another grid has the same functions
        assert use_tables(finer, lambda line: None, SOLVED_WITH["exact"]) == "tables"
    x, p = np.linspace(-1, 1, taken.n), np.ones(taken.parameters)
    assert np.array_equal(taken.evaluator.gauss_newton(x, p, 2.0), built.evaluator.gauss_newton(x, p, 2.0))


@needs_tables
def test_without_its_tables_a_program_from_the_disk_is_evaluated(new_process):
    built = prepare(swing())[1]
    use_tables(built, lambda line: None, SOLVED_WITH["exact"], complete=True)
    new_process()
    taken = prepare(swing())[1]
    for one, other in zip(numbers(taken), numbers(prepare(swing(integrator="gauss:2"))[1]), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_keys_of_programs_are_those_of_costs_and_rows():
    key = key_of(swing())
    assert key == key_of(swing())
    assert key == key_of(swing(guess=lambda s: (np.zeros(2), np.zeros(2)), options={"max_iter": 3}))
    assert key == key_of(swing(intervals=7)) == key_of(swing(intervals=ocp.Intervals([1, 2])))
    assert key == key_of(swing(2.0))  # weights are parameters of the program, as long as none is zero
    others = [swing(0.0), swing(integrator="gauss:3"), swing(loads=od.Loads()), swing(limits=False)]
    others.append(replace(swing(), model=pendulum(2).with_limits(effort={pendulum(2).qd_names[0]: 3.0})))
    assert len({key, *map(key_of, others)}) == 6
    assert key_of(swing(boundary=ocp.Boundary(lambda start, end: (start.q, 0, 0)))) == ""


def test_fixed_durations_are_numbers_of_the_program():
    assert key_of(swing(duration=0.4)) != key_of(swing(duration=0.5))
    assert key_of(swing(duration=(0.4, 0.6))) == key_of(swing(duration=(0.4, 0.7))) != key_of(swing(duration=0.4))


@needs_tables
def test_other_variables_make_another_program(new_process):
    """The scale of a variable is in the functions of its blocks, whatever the key says of the problem."""

    def value(scale):
        program = Program(1)
        x = program.variable("x", 2, -1, 1, 0.5, scale)
        program.block("cost", {"x": x}, lambda z, rows: rows.cost("square", ca.sumsqr(z["x"]))).add({"x": x})
        built = program.assemble("key")
        use_tables(built, lambda line: None, SOLVED_WITH["exact"], complete=True)
        return float(built.evaluator.objective(np.ones(2), np.zeros(0)))

    assert value(1.0) == 2.0
    new_process()
    assert value(3.0) == 18.0


@pytest.mark.slow
def test_a_walk_has_one_program_for_all_speeds():
    person = od.walking.person(73.0, 1.741, "male")
    walks = [od.walking.human_walk(person, speed) for speed in (1.2, 1.3)]
    assert len({key_of(walk) for walk in walks}) == 1
    assert key_of(walks[0])
    assert key_of(replace(walks[0], periodic=replace(walks[0].periodic, speed=None))) != key_of(walks[0])


def test_contents_differ_with_the_data():
    data = [
        None,
        True,
        1,
        1.0,
        "1",
        b"1",
        np.float64(1),
        np.ones(1),
        ca.DM(1),
        ca.DM(1, 1),
        (1,),
        [1],
        {1: 1},
        {"1": 1},
    ]
    data += [
        np.array([0.0]),
        np.array([-0.0]),
        np.ones((1, 1)),
        1.0 + 2**-52,
        float,
        od.Revolute("x"),
        od.Revolute("y"),
    ]
    data += [functools.partial(library_state), library_state, content, od.Spherical().integrate, od.Spherical().q_dot]
    data += [checks_arguments(several=names) for names in (("q",), ("qd",))]  # closures
    assert len({content(part) for part in data}) == len(data)
    assert content({"a": [1, (2.0, od.Revolute("x"))]}) == content({"a": [1, (2.0, od.Revolute("x"))]})


def test_functions_of_one_name_differ_by_their_place():
    """A function of the library may write two lambdas, which have one name and hold the same."""
    pairs = [eval(text, {"__name__": content.__module__}) for text in ("lambda: 1, lambda: 2", "lambda: 1, lambda: 2")]
    assert content(pairs[0][0]) != content(pairs[0][1])
    assert content(pairs[0]) == content(pairs[1])


def test_an_object_that_stands_twice_differs_from_its_copy():
    """A foothold of two phases has one place, two equal footholds have two."""
    one, same = (ocp.Foothold(od.Contact("foot")) for _ in range(2))
    assert content([one, one]) != content([one, same])
    assert content([one, same, one]) != content([one, same, same])
    assert content([one, same]) == content([same, one])
    assert content([one, one, 1]) != content([one, one, 2])


@dataclass(frozen=True)
class Own:
    weight: float = 1.0


def test_what_is_no_data_of_this_library_has_no_content():
    for part in (lambda: 1, Own(), Own, ca.SX.sym("x"), np.array([object()]), {1, 2}, numbers):
        with pytest.raises(TypeError, match=r"content|code of"):
            content([part])
