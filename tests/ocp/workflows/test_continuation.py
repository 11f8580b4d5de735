"""Solutions along a list of parameter values."""

import casadi as ca
import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.workflows import continuation
from tests import hopper
from tests.helpers import close

QUIET = {"progress": False, "threads": 1}


def swing():
    """A pendulum from rest to rest at an angle that is a parameter."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - e.values["to"], e.qd), 0, 0))
    phase = ocp.Phase("swing", 10, 0.6, objective=ocp.TorqueSquared())
    return ocp.Problem(pendulum(1), phase, boundary=ends, parameters=ocp.Parameter("to", 0.3))


def test_solutions_along_a_parameter_are_those_of_single_solves():
    problem = swing()
    angles = [0.3, 0.35, 0.4]
    found = ocp.solve_along(problem, to=angles, solve=QUIET)
    for angle, solution in zip(angles, found, strict=True):
        assert solution.converged
        assert solution.q[-1, 0] == pytest.approx(angle)
        alone = problem.solve(values={"to": angle}, **QUIET)
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6)  # the solver's tolerance
    again = ocp.solve_along(problem, start=found[0], to=angles[1:], solve=QUIET)
    close(again[-1].q, found[-1].q, 1e-5)
    assert again[0].stats["iterations"] == found[1].stats["iterations"]  # both began at the first


@pytest.mark.slow
def test_parameters_change_together_and_others_stay():
    found = ocp.solve_along(
        hopper.problem(False), speed=[0.8, 0.9], slope=[0.0, 0.05], values={"step_length": 0.45}, solve=QUIET
    )
    for solution, speed, slope in zip(found, (0.8, 0.9), (0.0, 0.05), strict=True):
        assert solution.converged
        values = dict(zip(solution.record.parameters, solution.record.values, strict=True))
        given = {"speed": speed, "slope": slope, "step_length": 0.45}
        assert {name: values[name] for name in given} == given


def test_a_step_too_far_is_halved(monkeypatch):
    problem, asked = swing(), []
    plain = continuation.solution_of

    def solve(problem, *, values, start=None, **options):
        """Fails where the way from the start is longer than 0.06 rad."""
        asked.append(float(values["to"]))
        far = start is not None and abs(asked[-1] - start.q[-1, 0]) > 0.06
        return plain(problem, values=values, start=start, **options | ({"max_iterations": 1} if far else {}))

    monkeypatch.setattr(continuation, "solution_of", solve)
    found = ocp.solve_along(problem, to=[0.3, 0.4], solve=QUIET)
    assert asked == pytest.approx([0.3, 0.4, 0.35, 0.4])
    assert found[1].converged
    assert found[1].q[-1, 0] == pytest.approx(0.4)
    found = ocp.solve_along(problem, to=[0.3, 3.0, 0.35], solve=QUIET)
    assert [s.converged for s in found] == [True, False, True]


def test_errors():
    problem = swing()
    with pytest.raises(ValueError, match="at least one parameter"):
        ocp.solve_along(problem)
    with pytest.raises(ValueError, match="one length"):
        ocp.solve_along(problem, to=[0.8, 0.9], other=np.zeros(3))
    with pytest.raises(ValueError, match="one length"):
        ocp.solve_along(problem, to=[])
    with pytest.raises(TypeError, match=r"a sequence of values for to, such as .*, got 1\.0"):
        ocp.solve_along(problem, to=1.0)
    with pytest.raises(ValueError, match="both stay and change"):
        ocp.solve_along(problem, values={"to": 1.0}, to=[0.8])
    first = problem.solve(**QUIET)
    for key, value in (("start", first), ("values", {"to": 0.3})):
        with pytest.raises(ValueError, match=f"solve must not hold {key}: give it as {key}=... of solve_along"):
            ocp.solve_along(problem, to=[0.8], solve={key: value})
    with pytest.raises(ValueError, match="give start, or a guess in solve, not both"):
        ocp.solve_along(problem, to=[0.8], start=first, solve={"guess": first})


def test_a_guess_is_that_of_the_first_solve(monkeypatch):
    problem, seen, solve = swing(), [], continuation.solution_of
    guess = problem.solve(**QUIET)
    monkeypatch.setattr(
        continuation, "solution_of", lambda problem, **options: seen.append(options) or solve(problem, **options)
    )
    found = ocp.solve_along(problem, to=[0.3, 0.35], solve={**QUIET, "guess": guess, "linear_solver": "mumps"})
    assert [options.get("guess") for options in seen] == [guess, None]
    assert [solution.stats["linear_solver"] for solution in found] == ["mumps", "mumps"]
