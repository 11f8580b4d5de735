"""Faults of muscles: slack tendons, fibers out of range, numbers that are not positive."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn import ModelError, ocp
from ocp_dyn._base.convergence import NotConvergedWarning
from ocp_dyn.mechanism import Muscle
from ocp_dyn.muscles import muscle_faults

ELBOW = od.models.elbow()


def with_one(**changes: float) -> od.Model:
    """The forearm with a changed biceps alone."""
    biceps = next(muscle for muscle in ELBOW.muscles if muscle.name == "biceps")
    return ELBOW.with_muscles([replace(biceps, **changes)], ELBOW.wraps, replace_all=True)  # type: ignore[arg-type]


def test_good_muscles_have_none() -> None:
    assert muscle_faults(ELBOW) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tendon_slack_length": 0.9}, "its tendon of 0.9 m is slack everywhere"),
        ({"optimal_fiber_length": 0.05}, "outside 0.2 to 1.8 at"),
        ({"optimal_fiber_length": 0.0}, "its optimal_fiber_length is 0"),
        ({"max_isometric_force": -5.0}, "its max_isometric_force is -5"),
    ],
)
def test_faults_have_the_name_and_a_remedy(changes: dict[str, float], words: str) -> None:
    (fault,) = muscle_faults(with_one(**changes))
    assert fault.muscle == "biceps"
    assert words in str(fault)
    assert "; " in str(fault)
    assert fault.severe == ("1.8" not in words)
    assert muscle_faults(with_one(**changes), fits=False) == (fault,)


def test_problems_are_refused_before_a_solve() -> None:
    phase = ocp.Phase("lift", 4, 0.5)
    with pytest.raises(ModelError, match=r"muscle 'biceps': its tendon of 0\.9 m is slack"):
        ocp.Problem(with_one(tendon_slack_length=0.9), [phase], unactuated=["elbow"], components=[ocp.Muscles()])


@pytest.mark.slow
def test_a_problem_tells_fibers_out_of_range_by_name() -> None:
    phase = ocp.Phase("lift", 4, 0.5)
    other = replace(with_one(optimal_fiber_length=0.05).muscles[0], name="brachialis")
    both = with_one(optimal_fiber_length=0.05).with_muscles([other])
    problem = ocp.Problem(both, [phase], unactuated=["elbow"], components=[ocp.Muscles()])
    (told,) = (text for text in problem.check() if "muscle" in text)
    assert "'biceps': its fibers are" in told
    assert "outside 0.2 to 1.8" in told
    assert told.endswith("(the same of brachialis)")
    one = replace(problem, components=[ocp.Muscles(["brachialis"])])
    assert [text for text in one.check() if "biceps" in text] == []


@pytest.mark.slow
def test_a_run_that_stops_names_the_muscles_at_their_limits() -> None:
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.5, end.qd), 0, 0))
    lift = ocp.Phase("lift", 20, 0.08, objective=[ocp.ChannelPower("activation")])
    problem = ocp.Problem(ELBOW, [lift], boundary=[ends], unactuated=["elbow"], components=[ocp.Muscles()])
    with pytest.warns(NotConvergedWarning, match=r"at their limits: excitation of triceps \(1\)$"):
        found = problem.solve(progress=False, max_iter=5)
    assert found.stats["at_limits"] == "excitation of triceps (1)"


def test_ligaments_have_no_fibers() -> None:
    biceps = ELBOW.muscles[0]
    string = Muscle("string", "PathSpring", biceps.path)
    assert muscle_faults(ELBOW.with_muscles([string], replace_all=True)) == ()
