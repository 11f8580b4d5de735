"""The benchmark of solvers: what it reads from IPOPT, its problems, its tables on a tiny problem."""

import argparse
import json
import sys

import pytest

from scripts.bench.solvers import __main__ as bench_solvers
from scripts.bench.solvers import runs as solver_runs
from tests.helpers import REPOSITORY

PRINTED = """
Number of doubles for MUMPS to hold factorization (INFO(9)) = 1000
Number of trial factorizations performed: 1
Number of doubles for MUMPS to hold factorization (INFO(9)) = 3000
Number of trial factorizations performed: 2
OverallAlgorithm....................:      9.000 (sys:      0.000 wall:     10.000)
StdAugSystemSolverMultiSolve.......:      0.026 (sys:      0.000 wall:      0.084)
 LinearSystemSymbolicFactorization..:      0.005 (sys:      0.000 wall:      0.010)
 LinearSystemFactorization..........:      0.000 (sys:      0.000 wall:      0.000)
 LinearSystemBackSolve..............:      0.005 (sys:      0.000 wall:      0.014)
Function Evaluations................:      0.171 (sys:      0.013 wall:      0.887)
"""


def quick(**changes):
    """Options of the command line for coarse grids."""
    given = {"quick": True, "cases": None, "linear_solvers": ["mumps"], "threads": [1], "factors": [1], "repeats": 1}
    return argparse.Namespace(**given | {"limit": 60.0, "only": None} | changes)


def test_times_of_linear_algebra_are_read_from_ipopts_statistics():
    found = solver_runs.linear_algebra(PRINTED, {})
    assert found["factorizations"] == 2
    assert found["factorization_ms"] == pytest.approx((84 - 10 - 14) / 2)
    assert found["substitution_ms"] == pytest.approx(7)
    assert found["structure_ms"] == pytest.approx(10)
    assert found["evaluation_s"] == pytest.approx(0.887)
    assert found["factor_MB"] == pytest.approx(0.024)
    counted = solver_runs.linear_algebra(PRINTED, {"factorizations": 5, "factor_entries": 1e6})
    assert (counted["factorizations"], counted["factor_MB"]) == (5, 8.0)
    assert counted["factorization_ms"] == pytest.approx(60 / 5)
    without = "\n".join(line for line in PRINTED.splitlines() if "INFO(9)" not in line)
    assert solver_runs.linear_algebra(without, {})["factorizations"] == 4  # one before the first iteration


def test_the_median_is_one_run():
    runs = [{"seconds": s, "iterations": k} for k, s in enumerate((3.0, 1.0, 2.0))]
    assert solver_runs.median(runs) == {"seconds": 2.0, "iterations": 2}


@pytest.mark.slow
def test_a_task_solves_each_way_and_says_what_was_used():
    ways = {
        "mumps": {"solver": "ipopt", "options": {"linear_solver": "mumps"}},
        "sqp": {"solver": "sqp", "options": {}},
    }
    task = {"case": "five-link", "quick": True, "repeats": 1, "threads": 1}
    found = solver_runs.solve(task | {"ways": ways})
    first, second = found["mumps"], found["sqp"]
    assert first["converged"]
    assert second["objective"] == pytest.approx(first["objective"], rel=1e-4)
    assert first["linear_solver"] == "mumps"
    assert first["factorizations"] >= first["iterations"]  # no multipliers are estimated at the start
    assert first["factor_MB"] > 0
    assert "factorization_ms" not in second
    json.dumps(found)


def test_rows_tell_of_errors_and_of_solvers_that_stood_in(monkeypatch, capsys):
    record = {"linear_solver": "mumps", "converged": True}
    assert bench_solvers._used("mumps", record) == "mumps"
    assert bench_solvers._used("block_ldl", record | {"converged": False}) == "mumps for block_ldl !"
    monkeypatch.setattr(bench_solvers, "in_process", lambda *a, **k: ([], "more than 60 s"))
    for name, (_, table) in bench_solvers.TABLES.items():
        rows = list(table(quick(cases=["hopper"], only=["small.rotor"])))
        assert all(row["error"] == "more than 60 s" for row in rows), name
        assert rows, name
    assert capsys.readouterr().out.count("more than 60 s") == len(bench_solvers.TABLES)


def test_unknown_names_are_refused_before_anything_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench_solvers.py", "all"])
    with pytest.raises(SystemExit):
        bench_solvers._options()
    assert "there is no table 'all'" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["bench_solvers.py", "linear", "--linear-solvers", "ma99"])
    assert bench_solvers.main() == 2
    assert "ma99 is left out" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_runs_each_problem_in_a_process_of_its_own(tmp_path, monkeypatch, capsys):
    file = tmp_path / "figures.json"
    given = ["solvers", "--quick", "--threads", "1", "--linear-solvers", "mumps", "nothing", "--cases", "hopper"]
    monkeypatch.setattr(sys, "argv", ["bench", *given, "--only", "sqp", "simplex", "--json", str(file)])
    monkeypatch.chdir(REPOSITORY)
    assert bench_solvers.main() == 0
    told = capsys.readouterr()
    assert "nothing is left out" in told.err
    assert "coarse grids" in told.out
    sqp, other = json.loads(file.read_text())["solvers"]
    assert sqp["case"] == "hopper"
    assert "there is no solver 'simplex'" in other["error"]
