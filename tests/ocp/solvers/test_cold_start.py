"""Cold starts: the first barrier, the first multipliers, and iterations that do not grow with the grid."""

from dataclasses import replace

import numpy as np
import pytest

from ocp_dyn.ocp.solvers import ipopt
from ocp_dyn.ocp.solvers.cold_start import FROM_ZERO, GAP_OF_FREE_GUESSES, SHARE, cold_start, first_gap
from ocp_dyn.ocp.workflows.attempt import prepare, starting_point
from problems.small import hopper


def prepared(problem, **changes):
    t, program = prepare(problem, 1)
    return program, replace(starting_point(t, None, None, None), **changes)


def bounds(program, start):
    """Finite bounds of all that is not fixed, counted one by one."""
    pairs = [*zip(start.lower, start.upper, strict=True), *zip(program.row_lower, program.row_upper, strict=True)]
    return sum(int(np.isfinite(low)) + int(np.isfinite(high)) for low, high in pairs if low < high)


@pytest.mark.slow
def test_the_first_gap_is_shared_by_all_bounds():
    """A guess without torques has no cost: the gap is a fixed one, the barrier the gap over the number of bounds."""
    barriers = []
    for intervals in (15, 30, 60):
        program, start = prepared(hopper.problem(intervals))
        assert first_gap(program, start) == GAP_OF_FREE_GUESSES
        found = cold_start(program, start, {"tol": 1e-8})
        barriers.append(found.pop("mu_init"))
        assert barriers[-1] == pytest.approx(GAP_OF_FREE_GUESSES / bounds(program, start))
        assert found == FROM_ZERO
    assert np.allclose(np.divide(barriers[:-1], barriers[1:]), 2, rtol=0.1)  # twice the intervals, twice the bounds


def test_fixed_variables_have_no_bounds():
    program, start = prepared(hopper.problem(30))
    fixed = np.flatnonzero(np.isfinite(start.lower) & np.isfinite(start.upper) & (start.lower < start.upper))[:7]
    upper = start.upper.copy()
    upper[fixed] = start.lower[fixed]
    less = replace(start, upper=upper)
    ratio = cold_start(program, less, {})["mu_init"] / cold_start(program, start, {})["mu_init"]
    assert ratio == pytest.approx(bounds(program, start) / (bounds(program, start) - 14))


def test_the_gap_is_a_share_of_the_cost_in_the_scale_of_ipopt():
    program, start = prepared(hopper.problem(15))
    rng = np.random.default_rng(3)
    start = replace(start, x=start.x + 30 * rng.standard_normal(start.x.size))
    cost, slopes = program.evaluator.objective(start.x, start.p), program.evaluator.gradient(start.x, start.p)
    steepest = np.abs(slopes[start.lower < start.upper]).max()
    assert steepest > 100
    assert cost < 0  # of negative durations: its size counts
    assert first_gap(program, start) == pytest.approx(-SHARE * cost * 100 / steepest)


def test_few_bounds_and_options_of_the_user_leave_the_start_to_ipopt():
    program, start = prepared(hopper.problem(5))
    assert bounds(program, start) < 10 * GAP_OF_FREE_GUESSES
    assert cold_start(program, start, {}) == {}
    program, start = prepared(hopper.problem(30))
    assert cold_start(program, start, {"mu_strategy": "monotone"})
    assert cold_start(program, start, {"mu_init": 0.1}) == {}
    assert cold_start(program, start, {"mu_strategy": "adaptive"}) == {}
    assert cold_start(program, replace(start, x=start.x * np.nan), {}) == {}


@pytest.mark.slow
def test_options_of_the_user_come_before_those_of_a_cold_start(monkeypatch):
    asked, run = [], ipopt.run_nlpsol
    monkeypatch.setattr(ipopt, "run_nlpsol", lambda *given: asked.append(given[2]["ipopt"]) or run(*given))
    problem = hopper.problem(15)
    first = problem.solve(progress=False, bound_mult_init_method="constant")
    assert asked[-1]["bound_mult_init_method"] == "constant"
    assert asked[-1]["constr_mult_init_max"] == 0.0
    problem.solve(progress=False, mu_init=0.05)
    assert asked[-1]["mu_init"] == 0.05
    assert "constr_mult_init_max" not in asked[-1]
    problem.solve(progress=False, start=first, values={"speed": 1.05})
    assert "constr_mult_init_max" not in asked[-1]  # a start with multipliers keeps them


@pytest.mark.slow
def test_iterations_do_not_grow_with_the_grid():
    """The hopper took 41, 66 and 42 iterations from IPOPT's own barrier."""
    for factor in (1, 2, 4):
        stats = hopper.problem(15 * factor).solve(progress=False, threads=1).stats
        assert stats["converged"]
        assert stats["iterations"] <= 34
