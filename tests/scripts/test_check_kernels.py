"""scripts/checks/kernels: runs from guesses that differ by rounding, and what they have in common."""

import pytest

from scripts.checks.kernels import ready, table
from scripts.checks.kernels.runs import Run, runs


def run(objective: float, status: str = "Solve_Succeeded", iterations: int = 20) -> Run:
    return Run(status, objective, iterations, 0.5)


def test_costs_within_a_millionth_are_one_optimum():
    assert table.optima([2.0, 1.0, 1.0000005, 2.0000001]) == [(1.0, 2), (2.0, 2)]
    assert table.optima([-1.0, -1.0000005, -3.0]) == [(-3.0, 1), (-1.0000005, 2)]
    assert table.optima([0.0, 0.0]) == [(0.0, 2)]


def test_one_status_and_one_cost():
    assert table.alike([run(1.0), run(1.0 + 1e-9, iterations=30)])
    assert not table.alike([run(1.0), run(1.0, "Maximum_Iterations_Exceeded")])
    assert not table.alike([run(1.0), run(1.1)])


def test_rows_name_what_differs():
    same = table.row("jump", [run(4.0, iterations=k) for k in (10, 12, 20)])
    assert same == ("jump", "3", "Solve_Succeeded", "4", "0.0e+00", "1", "10", "12", "20", "0.5")
    other = table.row("jump", [run(4.0), run(5.0), run(4.0, "Infeasible")])
    assert other[2:6] == ("Solve_Succeeded 2, Infeasible 1", "4", "2.5e-01", "4 (2) 5 (1)")
    assert table.markdown([same]).splitlines()[2] == "| " + " | ".join(same) + " |"


@pytest.mark.slow
def test_noise_is_in_the_guess_and_as_large_as_asked():
    plain, slight, large = (
        next(runs("small.rotor", range(seed, seed + 1), size, quick=True))
        for seed, size in ((0, 1e-2), (1, 1e-12), (1, 1e-2))
    )
    assert plain.objective == pytest.approx(slight.objective, rel=1e-9)
    assert (plain.iterations, plain.objective) != (large.iterations, large.objective)


def test_every_problem_that_needs_no_input_is_known():
    found = ready.names()
    assert {"human_walk", "five_link", "validate", "small.hopper", "small.rotor"} <= set(found)
    assert not {"track_gait", "gait_library", "replay"} & set(found)
    default, coarse = (ready.ready("small.rotor", quick=quick) for quick in (False, True))
    assert default.phases[0].intervals == coarse.phases[0].intervals
    assert ready.ready("five_link", quick=True).phases[0].intervals == 12
