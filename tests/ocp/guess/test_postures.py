"""First guesses through postures: the curve between them, feet on their footholds, errors."""

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.postures import cubic, slopes
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import state_of
from problems import sit_to_stand
from tests.helpers import close

X = np.array([0.0, 0.2, 0.7, 1.0])
Y = np.array([[0.0, 1.0], [1.0, 1.0], [1.5, 0.0], [1.2, 0.5]])


@pytest.mark.parametrize("at_rest", [True, False])
def test_a_monotone_cubic(at_rest):
    rates = slopes(X, Y, at_rest)
    values = np.array([cubic(X, Y, rates, t) for t in np.linspace(0, 1, 101)])
    close(values[[0, 20, 70, 100]], Y)
    rising = np.diff(values[:71, 0])
    assert rising.min() >= 0
    assert np.diff(values[70:, 0]).max() <= 0  # it does not overshoot
    close(values[:21, 1], np.ones(21))  # equal postures are held
    before, after = 1 / 0.2, 0.5 / 0.5
    share = (0.2 + 2 * 0.5) / (3 * 0.7)
    close(rates[1, 0], before * after / (share * after + (1 - share) * before))
    close(rates[2], [0.0, 0.0])  # a turning point
    close(rates[0], [0.0, 0.0] if at_rest else [5.0, 0.0])
    for k, t in enumerate(X[1:-1], 1):
        step = 1e-6
        slope = (cubic(X, Y, rates, t + step) - cubic(X, Y, rates, t - step)) / (2 * step)
        assert slope == pytest.approx(rates[k], abs=1e-4)


def guessed(problem):
    """(q, qd) at the nodes of every phase of the first guess."""
    transcription = transcribe(problem)
    initial_guess(transcription)
    start = transcription.program.start
    return [[state_of(transcription, x, k, start) for k in range(len(x["q"]))] for x in transcription.phases]


@pytest.mark.slow
def test_a_guess_sits_on_the_chair_and_stands_on_its_feet():
    problem = sit_to_stand.problem(still=True, intervals=sit_to_stand.QUICK)
    seated, rise = guessed(problem)
    model = problem.model
    for q, _ in seated:
        seat = np.array(od.point_position(model, "seat", DM(q))).ravel()
        assert np.abs(seat - [0, 0, 0.45]).max() < 0.01
    feet = [np.array(od.point_position(model, "heel_r", DM(q))).ravel() for q, _ in (*seated, *rise)]
    assert np.ptp(feet, axis=0).max() < 0.01
    assert abs(feet[0][2]) < 0.01
    height = [q[2] for q, _ in rise]
    assert height[-1] - height[0] > 0.3
    for _, qd in (seated[0], rise[-1]):
        assert not np.any(qd)  # at rest
    assert max(abs(qd).max() for _, qd in rise) > 0.5


@pytest.mark.parametrize(
    ("posture", "error", "message"),
    [
        (np.zeros(3), ValueError, "must have nq = 19 entries .* got 3"),
        ({"knee": 0.1}, KeyError, "knee_"),
        ({"hip_l": 0.1}, ValueError, "'hip_l' has 3 entries of q"),
    ],
)
@pytest.mark.slow
def test_postures_that_a_model_does_not_have(posture, error, message):
    model = sit_to_stand.problem(still=True).model
    phase = ocp.Phase("rest", 2, 1.0)
    with pytest.raises(error, match=message):
        ocp.Problem(model, [phase], guess=ocp.Postures({0.0: posture, 1.0: {}}))
