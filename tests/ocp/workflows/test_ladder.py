"""The ladder of grids: which grids are climbed, that the motion is the same, and what is told of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.interface import SolverSettings
from ocp_dyn.ocp.workflows.attempt import Attempt
from ocp_dyn.ocp.workflows.refinement import carried_solve, ladder
from tests.ocp.workflows.test_refine import reach

FINE = 36, 24  # intervals of the two phases
COARSE = [18, 12]


@pytest.fixture(scope="module")
def problem():
    return reach(*FINE)


@pytest.fixture(scope="module")
def climbed(problem):
    return problem.solve(progress=False, tolerance=1e-9)


@pytest.mark.slow
def test_the_motion_is_that_of_a_solve_without_a_ladder(problem, climbed):
    direct = problem.solve(progress=False, ladder=False, tolerance=1e-9)
    assert "ladder" not in direct.stats
    assert direct.summary(defects=False).ladder is None
    assert climbed.converged
    assert climbed.objective == pytest.approx(direct.objective, rel=1e-9)
    assert np.abs(climbed.q - direct.q).max() < 1e-5
    assert climbed.stats["iterations"] < direct.stats["iterations"]
    again = problem.solve(start=climbed, progress=False)  # it is a start of this very problem
    assert again.stats["iterations"] <= 2
    assert "ladder" not in again.stats


@pytest.mark.slow
def test_all_grids_are_told(climbed, tmp_path, capsys):
    rungs = climbed.stats["ladder"]
    assert [one["intervals"] for one in rungs] == [COARSE, list(FINE)]
    assert [one["status"] for one in rungs] == ["Solve_Succeeded"] * 2
    assert rungs[-1]["iterations"] == climbed.stats["iterations"]
    assert rungs[-1]["objective"] == climbed.objective
    told = dict(climbed.summary(defects=False).rows())["ladder"]
    counts = [one["iterations"] for one in rungs]
    assert told == f"30 intervals in {counts[0]} iterations, then 60 intervals in {counts[1]} iterations"
    climbed.save(tmp_path / "reach.json")
    assert ocp.Solution.load(tmp_path / "reach.json").stats["ladder"] == rungs
    reach(8, 4).solve(ladder=True, max_iterations=0)
    assert "ladder of grids: 4, 6, 12 intervals" in capsys.readouterr().err


def test_a_grid_that_is_not_solved_is_left_for_that_of_the_problem(problem):
    found = problem.solve(progress=False, max_iterations=1)
    assert not found.converged
    assert [one["intervals"] for one in found.stats["ladder"]] == [COARSE, list(FINE)]
    assert [len(phase.tau) for phase in found.phases] == list(FINE)


def test_a_last_grid_that_is_not_solved_begins_at_the_first_guess(problem, climbed, monkeypatch):
    """A motion on a coarser grid can be a worse guess than none."""
    lost = replace(climbed, stats=climbed.stats | {"status": "Maximum_Iterations_Exceeded", "converged": False})
    monkeypatch.setattr(ladder, "solved_on", lambda here, other, _: (lost, replace(here, problem=other)))
    found = problem.solve(progress=False)
    assert found.converged
    told = [(one["intervals"], one["status"]) for one in found.stats["ladder"]]
    assert told[1:] == [(list(FINE), lost.status), (list(FINE), "Solve_Succeeded")]


@pytest.mark.slow
def test_a_middle_grid_takes_no_more_iterations_than_those_before_it(monkeypatch):
    allowed = []

    def solved_on(here, other, solution):
        allowed.append(here.settings.max_iterations)
        return carried_solve.solved_on(here, other, solution)

    monkeypatch.setattr(ladder, "solved_on", solved_on)
    monkeypatch.setattr(ladder, "LEAST_ITERATIONS", 0)
    rungs = reach(8, 4).solve(ladder=True, progress=False, max_iterations=200).stats["ladder"]
    assert allowed == [rungs[0]["iterations"], 200]  # the last grid has what the user allows
    attempt = Attempt(None, {}, "ipopt", SolverSettings(1e-6, 50, {"max_iter": 30}), 1, True, None, None)
    assert ladder._within(attempt, 40).settings == SolverSettings(1e-6, 30, {})


def test_a_user_who_stops_a_coarse_grid_gets_its_iterate(problem, climbed, monkeypatch):
    stopped = replace(climbed, stats=climbed.stats | {"status": "Interrupted", "converged": False})
    monkeypatch.setattr(Attempt, "solved", lambda self, *_, **__: stopped)
    found = problem.solve(progress=False, interrupt="return")
    assert found.status == "Interrupted"
    assert [one["intervals"] for one in found.stats["ladder"]] == [COARSE]


@pytest.mark.slow
def test_an_accuracy_is_reached_from_the_grid_of_the_problem():
    found = reach(8, 4).solve(accuracy=1e-4, ladder=True, progress=False)
    assert found.refinement.reached
    assert found.refinement.rounds[0].intervals == (8, 4)
    assert len(found.refinement.rounds) > 1
    assert [one["intervals"] for one in found.stats["ladder"]][-1] == [8, 4]


def grids_of(counts, choice="auto", **changes):
    """The grids that are chosen, as numbers of intervals, for phases with so many."""
    phases = [ocp.Phase(f"p{k}", n, 1.0) for k, n in enumerate(counts)]
    problem = ocp.Problem(reach().model, phases)
    options = {"solver": "ipopt"} | changes
    attempt = Attempt(problem, {}, options["solver"], None, 1, False, print, np.random.default_rng(0))  # type: ignore[arg-type]
    found = ladder._coarser_grids(attempt, options.get("guess"), options.get("start"), choice)
    return [tuple(grid.count for grid in grids) for grids in found]


def test_a_ladder_is_chosen_for_fine_grids_only(climbed):
    assert grids_of((32, 16, 96, 104)) == [(4, 2, 12, 13), (8, 4, 24, 26), (16, 8, 48, 52)]
    assert grids_of((32, 23)) == []
    assert grids_of((32, 24)) == [(16, 12)]
    assert grids_of((1, 1, 4, 4) * 20) == []  # many phases, none of which is fine
    assert grids_of((60,), guess=climbed) == grids_of((60,), start=climbed) == grids_of((60,), solver="sqp") == []
    assert grids_of((60,), choice=False) == []
    assert grids_of((9, 3), choice=True) == [(3, 3), (5, 3)]


def test_pairs_of_intervals_are_joined():
    grid = ladder._halved(ocp.Intervals([1.0, 2.0, 1.5, 0.5, 3.0]))
    assert np.allclose(grid.nodes, [0, 3 / 8, 5 / 8, 1])
    assert ladder._halved(ocp.Intervals.even(7)) == ocp.Intervals.even(4)


def test_wrong_ladders_are_refused(problem, climbed):
    with pytest.raises(TypeError, match="ladder must be True, False or 'auto', got 'yes'"):
        problem.solve(ladder="yes")
    with pytest.raises(ValueError, match="a start has the grid of the problem: give it as guess"):
        problem.solve(ladder=True, start=climbed)
