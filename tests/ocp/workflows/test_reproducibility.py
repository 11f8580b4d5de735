"""Results that are the same to the last bit when a problem is solved again, and those that differ by rounding; the
table of docs/how_to/reproducibility.md."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.native.libraries import BLOCK_LDL, TABLES

OPTIONS = {"progress": False, "threads": 1}


def problem(intervals=10):
    """A double pendulum in general position, with limits that hold."""
    arm = od.models.pendulum(2).with_limits(lower=-2.0, upper=2.0, effort=20.0)
    swing = ocp.Phase("swing", intervals, (0.3, 1.0), objective=[ocp.TorqueSquared(), ocp.Duration(0.1)])
    ends = ocp.Boundary(
        lambda s, e: ([*s.q.elements(), *s.qd.elements()], [0.1, -0.2, 0.0, 0.0], [0.1, -0.2, 0.0, 0.0])
    )
    there = ocp.Boundary(lambda s, e: ([*e.q.elements(), *e.qd.elements()], [0.9, 0.3, 0.0, 0.0], [0.9, 0.3, 0.0, 0.0]))
    return ocp.Problem(arm, [swing], boundary=[ends, there])


def bits(solution):
    return [getattr(solution, name).tobytes() for name in ("t", "q", "qd", "tau")]


@pytest.fixture(scope="module")
def first():
    for library in (TABLES, BLOCK_LDL):
        library.obtain(wait=True)  # a library that is being made would come in between
    solution = problem().solve(**OPTIONS)
    assert solution.converged
    return solution


@pytest.mark.slow
def test_the_same_problem_made_again_has_the_same_bits(first):
    made = problem()
    again, once_more = made.solve(**OPTIONS), made.solve(**OPTIONS)
    assert bits(again) == bits(once_more) == bits(first)
    assert again.stats["iterations"] == first.stats["iterations"]


def test_threads_and_seeds_change_no_bit(first):
    assert bits(problem().solve(progress=False, threads=3)) == bits(first)
    assert bits(problem().solve(**OPTIONS, seed=5)) == bits(first)


def test_the_provenance_tells_how_it_was_solved(first):
    made = problem().solve(**OPTIONS, seed=5, restarts=1).stats["provenance"]
    told = first.stats["provenance"]
    assert made["problem"]["digest"] == told["problem"]["digest"]
    assert made["solve"] == told["solve"] | {"seed": 5, "restarts": 1}
    assert problem(9).solve(**OPTIONS).stats["provenance"]["problem"]["digest"] != told["problem"]["digest"]
    again = problem().solve(**OPTIONS, start=first).stats["provenance"]
    assert (told["begin"], again["begin"]) == ("the first guess", "another solution, with its multipliers")


def test_without_libraries_and_compiler_it_is_the_same_motion(first, monkeypatch, tmp_path):
    for name, value in {"PATH": "", "CC": "none", "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    bare = problem().solve(**OPTIONS)
    assert bare.stats["linear_solver"] == "mumps"
    np.testing.assert_allclose(bare.q, first.q, atol=1e-9)
    assert bare.objective == pytest.approx(first.objective, rel=1e-9)
    assert bare.stats["provenance"]["problem"]["digest"] == first.stats["provenance"]["problem"]["digest"]
