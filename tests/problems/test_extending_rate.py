"""Costs of rates of any quantity: exact values, refinement, the ready cases, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.rate import SMOOTH, move
from tests.hopper import problem as hopper


def test_the_cost_converges_to_the_integral() -> None:
    """Least integral of (d(force)/dt)^2 from rest to rest: jerk = 60 L s (s - 1) / T^3, its integral 120 m^2 L^2 /
    T^5."""
    errors = [abs(move(SMOOTH, n).solve(progress=False).cost["force rate"] / 60 - 1) for n in (5, 10)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.1)
    assert errors[1] < 2e-4


@pytest.mark.parametrize("options", [{"torque": "linear", "integrator": "gauss:2"}, {"form": "explicit"}])
@pytest.mark.slow
def test_torques_of_every_kind_and_form_converge(options: dict[str, Any]) -> None:
    errors = [abs(move(SMOOTH, n, **options).solve(progress=False).cost["force rate"] / 60 - 1) for n in (5, 10)]
    assert errors[1] < errors[0] / 3.5
    assert errors[1] < 2e-2


def test_a_quantity_of_the_state_is_compared_at_nodes() -> None:
    """The rate of the velocity is the acceleration: least integral of its square 12 L^2 / T^3."""
    rate = ocp.Rate(lambda instant: od.center_of_mass_velocity(instant.model, instant.q, instant.qd))
    solution = move(rate, 10).solve(progress=False)
    assert solution.cost["rate"] == pytest.approx(np.sum(np.diff(solution.qd[:, 0]) ** 2) * 10, rel=1e-9)
    assert solution.cost["rate"] == pytest.approx(12, rel=2e-2)
    position = ocp.Rate(lambda instant: instant.q + 3 * instant.s, weight=1e-6, name="position")  # s counts too
    solution = move((rate, position), 10).solve(progress=False)
    expected = 1e-6 * np.sum((np.diff(solution.q[:, 0]) + 0.3) ** 2) * 10
    assert solution.cost["position"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_quantity_of_states_and_torques_is_a_mean_over_the_interval() -> None:
    power = ocp.Rate(lambda instant: instant.s**2 * instant.tau * instant.qd, weight=1e-3, name="power")
    solution = move((ocp.TorqueSquared(), power), 10).solve(progress=False)
    phase = solution.phases[0]
    p = phase.tau * (phase.qd[1:] + phase.qd[:-1]) / 2 * ((np.arange(10) + 0.5) / 10)[:, None] ** 2
    assert solution.cost["power"] == pytest.approx(1e-3 * np.sum(np.diff(p, axis=0) ** 2) * 10, rel=1e-9)
    for options in ({"integrator": "gauss:2", "steps": 2}, {"form": "explicit"}):
        found = move((ocp.TorqueSquared(), power), 10, **options).solve(progress=False)
        assert found.cost["power"] == pytest.approx(solution.cost["power"], rel=5e-2)


@pytest.mark.slow
def test_the_ready_costs_are_cases_of_it() -> None:
    for ready, own in (
        (ocp.TorqueRateSquared(0.3, 2.0), ocp.Rate(lambda instant: instant.tau, 0.3, 2.0, "TorqueRateSquared")),
        (ocp.JerkSquared(0.3), ocp.Rate(lambda instant: instant.qdd, 0.3, name="JerkSquared")),
    ):
        one, other = (move(term, 8).solve(progress=False) for term in (ready, own))
        assert one.cost == other.cost
        assert np.array_equal(one.q, other.q)


@pytest.mark.slow
def test_rates_of_contact_forces() -> None:
    """In the hopper's stance, beside the ready cost; in flight it has no foot and the cost nothing to compare."""
    problem = hopper()
    stance, flight = problem.phases
    foot = stance.footholds[0]
    own = ocp.Rate(lambda instant: instant.wrenches[foot][3:], 1e-4, 3.0, "own")
    terms = (*stance.objective, own, ocp.ForceRateSquared(1e-4, 3.0))
    phases = [ocp.Phase("stance", 5, (0.1, 0.5), foot, stance.path, terms)]
    phases.append(ocp.Phase("flight", 5, (0.1, 0.6), (), flight.path, (*flight.objective, ocp.ForceRateSquared())))
    solution = ocp.Problem(
        problem.model, phases, periodic=problem.periodic, unactuated=["root"], per_distance=True
    ).solve(progress=False)
    assert solution.converged
    lam, h = solution.phases[0].lam, solution.phases[0].duration / 5
    expected = 1e-4 / 9 * np.sum((np.diff(lam, axis=0) / h) ** 2) * h / solution.step_length
    assert solution.cost["own"] == pytest.approx(expected, rel=1e-9)
    assert solution.cost["ForceRateSquared"] == pytest.approx(expected, rel=1e-9)


def test_wrong_rates_are_refused() -> None:
    with pytest.raises(TypeError, match="Rate must be a function, got 3"):
        ocp.Rate(3)
    with pytest.raises(ValueError, match="Rate weight must not be negative, got -1"):
        ocp.Rate(abs, -1)
    with pytest.raises(ValueError, match="Rate scale must be positive"):
        ocp.Rate(abs, scale=0.0)
    with pytest.raises(ValueError, match="scale: give one number, or one per entry of the quantity, 1, got 2"):
        move(ocp.Rate(lambda instant: instant.tau, scale=(1.0, 2.0))).solve(progress=False)
