"""Several first guesses: distinct optima, their distances, the best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ocp_dyn import ocp
from problems.small import cart_pole


@pytest.fixture(scope="module")
def found():
    """A pole is swung up on either side of its cart: the first guess finds the better way."""
    return ocp.multistart(cart_pole.problem(20), 8, noise=2.0, progress=False)


@pytest.mark.slow
def test_a_pole_has_two_ways_up(found):
    one, other = found.optima[:2]
    assert found.best is one.solution
    assert sorted(k for optimum in found.optima for k in optimum.starts) + sorted(found.failed) == list(range(8))
    assert 0 in one.starts
    assert other.worse == pytest.approx(other.solution.objective / one.solution.objective - 1)
    assert other.worse > 0.005
    s = np.linspace(0, 1, 21)
    gaps = [
        np.interp(s, a.t / a.t[-1], a.q[:, k]) - np.interp(s, b.t / b.t[-1], b.q[:, k])
        for k in range(2)
        for a, b in [(one.solution, other.solution)]
    ]
    assert (other.length, other.angle) == pytest.approx(tuple(np.abs(gap).max() for gap in gaps))
    assert (one.worse, one.angle, one.length) == (0.0, 0.0, 0.0)
    assert str(found).startswith(
        f"8 starts, of which {8 - len(found.failed)} converged, to {len(found.optima)} optima\noptimum  starts"
    )
    assert "<table>" in found._repr_html_()


@pytest.mark.slow
def test_processes_find_the_same(found):
    """Starts depend on the seed and on their numbers only, not on who solves them, nor on which are done first."""
    again = ocp.multistart(cart_pole.problem(20), 8, noise=2.0, jobs=2, threads=1, progress=False)
    assert [o.starts for o in again.optima] == [o.starts for o in found.optima]
    assert [o.solution.objective for o in again.optima] == pytest.approx([o.solution.objective for o in found.optima])


def test_what_cannot_be_sent_is_told():
    base = cart_pole.problem(20)
    problem = replace(base, guess=lambda s: (np.array([s, 0.0]), np.zeros(2)))
    with pytest.raises(TypeError, match=r"cannot be sent to other processes .*: define its functions in a module"):
        ocp.multistart(problem, 2, jobs=2, progress=False)


def test_a_guess_is_moved_too(found):
    """From the worse optimum with hardly any noise all starts lead back to it."""
    worse = found.optima[1].solution
    near = ocp.multistart(cart_pole.problem(20), 3, noise=1e-3, guess=worse, progress=False)
    assert [o.starts for o in near.optima] == [(0, 1, 2)]
    assert near.best.objective == pytest.approx(worse.objective)


def test_what_did_not_converge_is_told(capsys):
    failed = ocp.multistart(cart_pole.problem(20), 2, max_iterations=1)
    assert failed.optima == ()
    assert failed.failed == dict.fromkeys(range(2), "Maximum_Iterations_Exceeded")
    assert str(failed) == "2 starts, of which 0 converged, to 0 optima"
    assert capsys.readouterr().err.count("not found") == 2
    with pytest.raises(ValueError, match="no start converged: Maximum_Iterations_Exceeded"):
        _ = failed.best


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"starts": 0}, ValueError, "starts must be at least 1"),
        ({"noise": -1.0}, ValueError, "noise must be positive"),
        ({"restarts": 2}, TypeError, "multistart has no option restarts"),
        ({"start": None}, TypeError, "multistart has no option start"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"jobs": 0}, ValueError, "jobs must be at least 1"),
    ],
)
def test_wrong_arguments(options, error, message):
    with pytest.raises(error, match=message):
        ocp.multistart(cart_pole.problem(20), **options, progress=False)
