"""Values of parameters and options of a problem: what is named acts, or is refused, at every door."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base import display


def rod() -> od.Model:
    builder = od.ModelBuilder("rod")
    builder.add_body("link", od.Revolute("y"), joint_name="hinge", mass=1, com=(0, 0, -0.5))
    return builder.build()


MODEL = rod()
RAISED = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))
EFFORT = [ocp.TorqueSquared()]


def raised(**fields: Any) -> ocp.Problem:
    phase = ocp.Phase("raise", 8, ocp.Parameter("duration", 1.0), objective=EFFORT)
    return ocp.Problem(MODEL, [phase], boundary=[RAISED], parameters=[ocp.Parameter("mass:link", 1.0)], **fields)


@pytest.fixture(scope="module")
def problem() -> ocp.Problem:
    return raised()


@pytest.fixture(scope="module")
def solution(problem: ocp.Problem) -> ocp.Solution:
    return problem.solve(progress=False)


def make_raised() -> ocp.Problem:
    return raised()


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("mass:link", -1.0, "parameter 'mass:link': a mass must not be negative, got -1 kg"),
        ("duration", -1.0, r"'duration' is the duration \[s\] of phase 'raise' and must be positive, got"),
    ],
)
def test_values_are_checked_at_every_door(
    problem: ocp.Problem, solution: ocp.Solution, tmp_path: Any, name: str, value: float, fault: str
) -> None:
    control = problem.rti(solution)
    doors = {
        "solve": lambda: problem.solve(values={name: value}, progress=False),
        "function": lambda: ocp.solve(problem, values={name: value}, progress=False),
        "check": lambda: problem.check(values={name: value}),
        "along": lambda: ocp.solve_along(problem, **{name: [1.0, value]}, solve={"progress": False}),
        "fixed": lambda: ocp.solve_along(problem, other=[1.0], values={name: value}, solve={"progress": False}),
        "rti": lambda: problem.rti(solution, values={name: value}),
        "feedback": lambda: control.feedback(**{name: value}),
        "predict": lambda: ocp.sensitivities(problem, solution).predict(**{name: value}),
    }
    if name == "mass:link":  # before a process starts; a duration is known once a problem is made
        doors["sweep"] = lambda: ocp.Sweep(make_raised, ocp.grid(**{name: [1.0, value]}), tmp_path)
    for way, door in doors.items():
        with pytest.raises(ValueError, match=fault):
            pytest.fail(f"{way} took {door()}")
    control.feedback(**{name: 1.5})


def test_a_turn_beyond_pi_is_refused() -> None:
    box = od.ModelBuilder("box")
    box.add_body("box", od.FloatingBase(), mass=1, inertia=(0.1, 0.1, 0.1))
    turning = ocp.Periodic(mirror=False, step=ocp.Step(0.0, turn=0.3), transition=ocp.Continuous())
    problem = ocp.Problem(box.build(), [ocp.Phase("turn", 2, 1.0)], periodic=turning)
    with pytest.raises(ValueError, match="parameter 'turn' is the angle of one period in rad, at most pi"):
        problem.solve(values={"turn": 10.0}, progress=False)


def test_a_free_parameter_has_no_value_to_give() -> None:
    free = ocp.Parameter("mass:link", 1.0, bounds=(0.5, 2.0))
    problem = ocp.Problem(MODEL, [ocp.Phase("hang", 1, 1.0)], parameters=[free])
    with pytest.raises(
        KeyError, match=r"parameter 'mass:link' is free between its bounds, .* declare it without bounds"
    ):
        problem.solve(values={"mass:link": 1.5}, progress=False)
    with pytest.raises(ValueError, match=r"the first guess 3.0 lies outside its bounds"):
        ocp.Parameter("mass:link", 3.0, bounds=(0.5, 2.0))


def test_a_parameter_that_nothing_reads_is_told() -> None:
    names = ("aim", "speed limit", "idle", "mass:link")
    aim = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - end.values["aim"], end.qd), 0, 0))
    slow = ocp.Path(lambda instant: instant.qd - instant.values["speed limit"], -np.inf, 0.0)
    phase = ocp.Phase("raise", 4, 1.0, path=[slow], objective=EFFORT)
    problem = ocp.Problem(MODEL, [phase], boundary=[aim], parameters=[ocp.Parameter(name, 1.0) for name in names])
    told = [sentence for sentence in problem.check() if "changes nothing" in sentence]
    assert len(told) == 1
    assert "the value of the parameter 'idle' changes nothing: no cost, constraint or condition reads" in told[0]


def test_options_of_a_problem_hold_at_every_door(solution: ocp.Solution) -> None:
    stated = raised(options={"max_iter": 1})
    runs = {
        "method": stated.solve(progress=False),
        "function": ocp.solve(stated, progress=False),
        "along": ocp.solve_along(stated, duration=[1.0], solve={"progress": False})[0],
    }
    assert {way: run.status for way, run in runs.items()} == dict.fromkeys(runs, "Maximum_Iterations_Exceeded")
    assert ocp.solve(stated, progress=False, max_iter=50).converged  # options of a call come first
    assert ocp.solve(stated, progress=False, start=solution).converged  # a start has its own


def test_options_that_cannot_hold_are_refused_when_the_problem_is_made() -> None:
    with pytest.raises(ValueError, match="No such IPOPT option: mu_initt: did you mean 'mu_init'"):
        raised(options={"mu_initt": 0.1})
    with pytest.raises(ValueError, match=r"max_iterations is no option of IPOPT but an argument of solve: write solve"):
        raised(options={"max_iterations": 3})
    with pytest.raises(ValueError, match="tolerance=1e-08 and IPOPT's option tol=1e-06 mean the same: give one"):
        raised(options={"tol": 1e-6}).solve(tolerance=1e-8, progress=False)
    assert np.isclose(raised(options={"tol": 1e-4}).solve(progress=False).duration, 1.0)


def test_a_long_build_counts(capsys, monkeypatch):
    monkeypatch.setattr(display, "REPORT_INTERVAL", -1.0)
    kept_wheel().solve(max_iterations=1)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("building '")]
    assert len(told) > 1
    assert f"; 1 of {len(told)} kinds of blocks, " in told[1]


def test_nothing_is_built_twice(capsys):
    """One program for each number of threads; progress tells what is built and what is kept."""
    problem = kept_wheel()
    told = []
    for threads in (1, 2, 1):
        problem.solve(threads=threads)
        told.append(capsys.readouterr().err)
    assert "kinds of blocks" in told[0]
    assert "kinds of blocks" in told[1]
    assert "the program is kept from an earlier call: nothing is built" in told[2]


def kept_wheel():
    """A small problem of data alone."""
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1))
    phase = ocp.Phase("turn", 3, 1.0, objective=[ocp.TorqueSquared()])
    ends = [ocp.Rest([0.0]), ocp.Rest([0.3], where="end")]
    return ocp.Problem(builder.build(), [phase], boundary=ends)
