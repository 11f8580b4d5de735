"""`Problem(muscles=...)`: motors or muscles, what remains of motors, first guesses from torques; refused input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

ELBOW = od.models.elbow()
ENDS = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.4, end.qd), 0, 0))


def lift(intervals: int = 10, **options) -> ocp.Problem:
    costs = [ocp.ChannelPower("activation")] if options.get("muscles") else [ocp.TorqueSquared()]
    return ocp.Problem(ELBOW, [ocp.Phase("lift", intervals, 0.5, objective=costs)], boundary=[ENDS], **options)


@cache
def by_motors() -> ocp.Solution:
    return lift(torque="linear", integrator="gauss:2").solve(progress=False)


@pytest.mark.slow
def test_muscles_take_the_place_of_motors():
    problem = lift(muscles=True)
    assert problem.muscles == ocp.Muscles()
    assert problem.actuated == []
    assert [channel.name for channel in problem.parts.channels] == ["activation", "excitation"]
    assert replace(problem, muscles=False).actuated == [0]
    assert replace(problem, muscles=False).parts.channels == ()
    assert lift().actuated == lift(muscles=False).actuated == [0]
    as_before = lift(components=[ocp.Muscles()], unactuated=["elbow"])
    written = replace(as_before, phases=problem.phases)
    found = [one.solve(progress=False).objective for one in (problem, written)]
    np.testing.assert_allclose(*found, rtol=1e-10)


def test_reserves_keep_their_motors():
    problem = lift(muscles=ocp.Muscles(reserves=["elbow"]))
    assert problem.actuated == [0]
    assert problem.parts.channels


@pytest.mark.parametrize(("tau", "speed"), [(3.0, 0.4), (-1.5, -2.0)])
def test_muscles_share_out_torques(tau, speed):
    """Exactly, but for the small torque that is left because it costs less."""
    part = ocp.Muscles(tendon="force")
    now = ocp.Instant(ELBOW, ca.DM([0.9]), ca.DM([speed]), tau=ca.DM([tau]))
    guess = part.guess(now)
    np.testing.assert_array_equal(guess["activation"], guess["excitation"])
    rigid = ocp.Muscles()
    made = rigid.force(replace(now, channels={"activation": ca.DM(guess["activation"])}))
    assert abs(float(made) - tau) < 0.02 * abs(tau)
    hill = part.hill(ELBOW)
    at_rest = rigid.contraction(replace(now, channels={"activation": ca.DM(guess["activation"])}))
    wanted = np.clip(ca.DM(at_rest.tendon_force / hill.max_isometric_force).full(), 0.01, 1.0)
    np.testing.assert_allclose(ca.DM(guess["tendon_force"]).full(), wanted)
    assert float(part.guess(replace(now, tau=None))["activation"][0]) == 0.1


@pytest.mark.slow
def test_the_torques_of_a_solution_by_motors_are_shared_out():
    problem, guess = lift(muscles=True), by_motors()
    first = problem.solve(guess=guess, progress=False, max_iter=0)
    own = [problem.muscles.guess(ocp.Instant(ELBOW, ca.DM(q), ca.DM(qd), tau=ca.DM(tau)))["activation"]
           for q, qd, tau in zip(guess.q[:-1], guess.qd[:-1], _at_starts(guess), strict=True)]  # fmt: skip
    np.testing.assert_allclose(first["activation"][:-1], np.reshape(own, (-1, 2)), atol=0.02)  # pushed inside bounds
    neutral = problem.solve(progress=False, max_iter=0)
    assert np.ptp(neutral["activation"]) < np.ptp(first["activation"])
    kept = lift(muscles=ocp.Muscles(reserves=["elbow"])).solve(guess=guess, progress=False, max_iter=0)
    assert kept["activation"].max() < 0.1  # the motor has the torque


def _at_starts(solution: ocp.Solution) -> np.ndarray:
    phase = solution.phases[0]
    return phase.tau - phase.tau_rate * np.diff(phase.t)[:, None] / 2


@pytest.mark.slow
def test_a_solution_with_muscles_is_read_back_and_keeps_its_activations_as_a_guess(tmp_path):
    problem = lift(muscles=True)
    solution = problem.solve(progress=False)
    solution.save(tmp_path / "lift.npz")
    again = ocp.Solution.load(tmp_path / "lift.npz", problem=problem)
    assert again.components == (problem.muscles,)
    stiff = lift(muscles=ocp.Muscles(tendon="force"))
    first = stiff.solve(guess=solution, progress=False, max_iter=0)
    np.testing.assert_allclose(first["activation"], solution["activation"], atol=0.02)  # inside the bounds
    assert np.ptp(first["tendon_force"]) > 0.01


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"muscles": ocp.Muscles(reserves=["elbw"])}, KeyError, "elbow"),
        ({"muscles": "yes"}, TypeError, "True, False or ocp.Muscles"),
    ],
)
def test_what_does_not_fit_is_refused(options, kind, words):
    with pytest.raises(kind, match=words):
        lift(**options)


def test_a_model_without_muscles_is_refused():
    with pytest.raises(od.ModelError, match="no muscles"):
        replace(lift(), model=od.models.pendulum(), boundary=(), muscles=True)


@cache
def by_muscles() -> ocp.Solution:
    return lift(40, muscles=True, integrator="gauss:2").solve(guess=by_motors(), progress=False)


@pytest.mark.slow
def test_net_torques_are_those_of_muscles():
    solution = by_muscles()
    net = solution.with_net_torques()
    assert (solution.driving, net.driving) == (("Muscles",), ())
    assert not solution.tau.any()
    part, phase = lift(muscles=True).muscles, solution.phases[0]
    for k in range(40):
        mean = (phase["activation"][k] + phase["activation"][k + 1]) / 2
        q, qd = (phase.q[k] + phase.q[k + 1]) / 2, (phase.qd[k] + phase.qd[k + 1]) / 2
        force = part.force(ocp.Instant(ELBOW, ca.DM(q), ca.DM(qd), channels={"activation": ca.DM(mean)}))
        assert abs(float(net.phases[0].tau[k, 0]) - float(force)) < 0.05  # of up to 2.5 N m: means over intervals
    assert by_motors().with_net_torques() is by_motors()
    marked = replace(by_motors(), stats=by_motors().stats | {"driving": ["Other"]})
    np.testing.assert_allclose(marked.with_net_torques().tau, by_motors().tau, atol=0.02)


@pytest.mark.slow
def test_the_metabolic_rate_of_muscles_is_that_of_their_cost():
    rate = ocp.MuscleMetabolicRate(ocp.Muscles())
    found = by_muscles().metabolic_rate(rate)
    assert set(found.by_dof) == set(ELBOW.muscle_names)
    phase = replace(lift(40, muscles=True).phases[0], objective=[ocp.ChannelPower("activation"), rate])
    with_cost = replace(lift(muscles=True, integrator="gauss:2"), phases=[phase]).solve(
        guess=by_muscles(), progress=False
    )
    power = with_cost.cost["MuscleMetabolicRate"] / (0.5 * ELBOW.mass)
    assert with_cost.metabolic_rate(rate).net == pytest.approx(power, rel=0.015)  # 0.8 to 1.2 %; half on half the steps
    with pytest.raises(ValueError, match="no activations"):
        by_motors().metabolic_rate(rate)


@pytest.mark.parametrize("activation", ["limits", "smooth"])
@pytest.mark.slow
def test_rates_of_channels_cost(activation):
    muscles = ocp.Muscles(activation=activation)
    rate = ocp.ChannelRateSquared("activation", weight=0.01)
    phase = replace(lift(muscles=True).phases[0], objective=[ocp.ChannelPower("activation"), rate])
    solution = replace(lift(muscles=muscles), phases=[phase]).solve(guess=by_motors(), progress=False)
    assert solution.converged
    steps = np.diff(solution["activation"], axis=0) / 0.05
    own = 0.01 * 0.05 * np.sum(steps**2)  # rates are constant along intervals, by the midpoint rule in both cases
    assert solution.cost["ChannelRateSquared activation"] == pytest.approx(own, rel=1e-6)
