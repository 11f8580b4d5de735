"""Proofs that footholds are out of reach at the speed: found where they must be, and never of motions that there
are."""

from dataclasses import replace

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.workflows.unreachable import unreachable
from problems import human_walk
from tests.ocp.workflows.test_reach import foot, walker

LEAST_TIME = 0.4
FASTEST = np.sqrt(2.0**2 - 0.2**2) / LEAST_TIME
"""Speed [m/s] at which feet 0.2 m apart, on two legs that reach 2 m, are set down as far as these reach."""


def walk(speed, time=(LEAST_TIME, 0.8), x=0.0, yaw=0.0, **options):
    """A walk without double support: the left foot is set down while the right one still stands."""
    stance = ocp.Phase("stance", 2, time, [foot("r", x, -0.1, yaw=yaw)])
    return ocp.Problem(walker(), [stance], periodic=ocp.Periodic(speed, step_length=(0.05, 9.0)), **options)


def told(problem, **values):
    transcription = transcribe(problem, 1)
    for name, value in values.items():
        transcription.program.set_value(name, value)
    return unreachable(transcription)


@pytest.mark.slow
def test_a_walk_faster_than_the_legs_reach_in_the_least_time_is_proved_to_be_none():
    assert not told(walk(0.99 * FASTEST))
    found = told(walk(1.01 * FASTEST))
    assert "'sole_r' of phase 'stance' and 'sole_r' of phase 'stance' of the next period" in found
    assert f"at {1.01 * FASTEST:.4g} m/s" in found
    assert "reach 2 m" in found
    assert told(walk(1.0), speed=1.01 * FASTEST)  # the value of the parameter counts
    assert told(walk(1.0, 0.4), speed=1.01 * FASTEST)
    assert not told(walk(1.01 * FASTEST, (0.3, 0.8)))


def test_where_the_walk_goes_does_not_matter():
    for free in ({"x": (-10.0, 10.0)}, {"yaw": (-1.0, 1.0)}):
        assert told(walk(1.01 * FASTEST, **free))
        assert not told(walk(0.99 * FASTEST, **free))


@pytest.mark.slow
def test_a_solve_tells_it_without_a_run():
    found = walk(1.01 * FASTEST).solve(progress=False, restarts=2)
    assert (found.status, found.converged, found.stats["iterations"]) == ("Infeasible", False, 0)
    assert found.stats["proof"] == "bounds"
    assert found.stats["verdict"] == told(walk(1.01 * FASTEST))
    assert walk(1.01 * FASTEST).solve(progress=False, early_verdict=False, max_iterations=2).stats["proof"] == ""


@pytest.mark.slow
def test_no_proof_without_its_premises():
    """Contacts that are held by their accelerations may drift; across a Jump, feet do not stand together; joints that
    slide without limits have no reach."""
    fast = walk(1.01 * FASTEST)
    assert not told(replace(fast, form="explicit"))
    assert not told(replace(fast, contact_level="acceleration"))
    cut = replace(fast.periodic, transition=ocp.Jump(lambda end, start: (start.q[2] - end.q[2], 0, 0)))
    assert not told(replace(fast, periodic=cut))
    sliding = walker(slide=0.5)
    assert not told(replace(fast, model=sliding))
    assert told(replace(fast, model=sliding), speed=3.5 / LEAST_TIME)
    assert not told(replace(fast, model=sliding, limits=False), speed=3.5 / LEAST_TIME)


def test_one_phase_after_another():
    """Feet that stand in two phases, one after the other, stand together in between, unless a Jump divides them."""
    phases = [ocp.Phase(name, 2, 0.5, [foot(name, x, 0.0)]) for name, x in (("l", 0.0), ("r", (2.1, 3.0)))]
    model = walker()
    assert "'sole_l' of phase 'l' and 'sole_r' of phase 'r' hold at one time, at least 2.1 m" in told(
        ocp.Problem(model, phases)
    )
    jump = ocp.Jump(lambda end, start: (start.q[2] - end.q[2], 0, 0))
    assert not told(ocp.Problem(model, phases, [jump]))


def test_directions_that_a_contact_does_not_hold_do_not_count():
    for axes, far in (("xyz", True), ("xz", False)):
        feet = [ocp.Foothold(od.Contact(f"sole_{side}", axes=axes), x=0.0, y=y) for side, y in (("l", 0.0), ("r", 3.0))]
        assert bool(told(ocp.Problem(walker(), [ocp.Phase("stand", 2, 0.5, feet)]))) == far


@pytest.mark.parametrize(("yaw", "far"), [(0.0, True), ((-1.0, 1.0), False)])
def test_a_foot_with_a_free_yaw_turns_what_is_derived_from_it(yaw, far):
    """A point 0.3 m ahead of the sole, which lies 1.95 m from the other foot; reached are 2.1 m."""
    flat = foot("r", 1.95, 0.0, yaw=yaw)
    ahead = ocp.Foothold(od.Contact("sole_r", (0.3, 0.0, 0.0), axes="xyz"), of=flat)
    phases = [ocp.Phase("flat", 2, 0.5, [flat]), ocp.Phase("both", 2, 0.5, [ahead, foot("l", 0.0, 0.0)])]
    assert bool(told(ocp.Problem(walker(), phases))) == far


@pytest.mark.slow
def test_places_of_postures_are_never_refused(rng):
    """Random postures whose feet are where they are, derived footholds with a free yaw among them."""
    model = walker()
    farthest = 0.0
    for _ in range(20):
        q = np.array(model.random_q(rng))
        if rng.random() < 0.5:
            q[7:] *= 0.1  # nearly stretched
        feet = []
        for side in "lr":
            R, p = (np.array(DM(x).full()) for x in od.pose(model, f"sole_{side}", DM(q)))
            x, y, z = p.ravel()
            plane, turn = ocp.Plane((0.0, 0.0, z)), rng.uniform(-1, 1)
            at = foot(side, (x - rng.uniform(), x), (y, y + rng.uniform()), plane=plane, yaw=(turn - 1, turn + 1))
            feet.append(at)
            farthest = max(farthest, np.hypot(x, y))
            assert R.shape == (3, 3)
        assert not told(ocp.Problem(model, [ocp.Phase("stand", 2, 0.5, feet)]))
    assert farthest > 0.3


@pytest.mark.slow
def test_walks_that_there_are_are_not_refused():
    for speed in (0.5, 1.3, 2.1):
        assert not told(human_walk.problem(speed, intervals=human_walk.QUICK))
    for speed in (14.0, 30.0):  # the second is beyond the bound of the step's length
        assert told(human_walk.problem(1.3, intervals=human_walk.QUICK), speed=speed)
