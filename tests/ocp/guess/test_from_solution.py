"""First guesses from solutions of other grids, phases and models."""

import casadi
import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.guess.from_solution import carry_over
from ocp_dyn.ocp.guess.standing import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import number, place_value
from problems import human_walk


def swing(links=1, intervals=(6,), **options):
    def from_rest_to_one(start, end):
        return casadi.vertcat(start.q, end.q - 1), 0, 0

    phases = [ocp.Phase(f"part {k}", n, (0.2, 2.0), (), (), ocp.TorqueSquared()) for k, n in enumerate(intervals)]
    return ocp.Problem(pendulum(links), phases, boundary=[ocp.Boundary(from_rest_to_one)], **options)


def carried(problem, guess):
    """The transcription with first values from the guess."""
    t = transcribe(problem)
    initial_guess(t)
    carry_over(t, guess)
    return t


def values(t, slots):
    return np.array([number(t, slot, t.program.start) for slot in slots])


@pytest.mark.parametrize("torque", ["constant", "linear"])
def test_the_same_grid_keeps_every_node(torque):
    problem = swing(2, (5, 4), torque=torque)
    found = problem.solve(progress=False)
    t = carried(problem, found)
    for x, phase in zip(t.phases, found.phases, strict=True):
        assert np.allclose(values(t, x.q), phase.q, atol=1e-12)
        assert np.allclose(values(t, x.qd), phase.qd, atol=1e-12)
        assert np.allclose(values(t, x.qdd), phase.qdd, atol=1e-9)
        assert number(t, x.duration, t.program.start) == pytest.approx(phase.duration)
        means = values(t, x.tau) if torque == "constant" else (values(t, x.tau)[1:] + values(t, x.tau)[:-1]) / 2
        assert np.allclose(means, phase.tau, atol=1e-9)


def test_other_phases_follow_the_whole_motion():
    one = swing(1, (8,)).solve(progress=False)
    t = carried(swing(1, (2, 2)), one)
    assert sum(float(number(t, x.duration, t.program.start)[0]) for x in t.phases) == pytest.approx(one.duration)
    half = one.sample(one.duration / 2)[0]
    assert values(t, [t.phases[0].q[-1]])[0] == pytest.approx(half, abs=1e-9)
    assert values(t, [t.phases[1].q[-1]])[0] == pytest.approx(one.q[-1], abs=1e-9)


def test_another_model_shares_the_joints_of_one_name():
    one = swing(1).solve(progress=False)
    t = carried(swing(2), one)
    q = values(t, t.phases[0].q)
    assert np.allclose(q[:, 0], one.q[:, 0], atol=1e-12)
    assert np.allclose(q[:, 1], 0.0)


@pytest.mark.slow
def test_the_whole_human_begins_with_the_walk_of_the_still_one_on_another_grid():
    still = human_walk.problem(1.2, intervals=(2, 2, 6, 4), still=True).solve(progress=False)
    whole = human_walk.problem(1.2, intervals=human_walk.QUICK)
    t = carried(whole, still)
    flat = whole.phases[2].footholds[0]
    place = place_value(t, flat, t.program.start, still.advance)
    assert place == pytest.approx(still.phases[2].places["heel_r"], abs=1e-9)
    lam = values(t, t.phases[2].lam)
    assert lam.max() > 0.8 * 73 * 9.81  # forces are carried over, too
    assert whole.solve(progress=False, guess=still).converged
