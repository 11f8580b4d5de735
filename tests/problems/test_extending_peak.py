"""Costs of the largest value of a quantity: exact values, entries, phases, kinds, errors."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.peak import ANGLE, INERTIA, TIME, turn

TORQUE = ocp.Peak(lambda instant: instant.tau, name="peak torque")
BANG_BANG = 4 * INERTIA * ANGLE / TIME**2
"""Least peak torque: half the time forwards, half backwards."""


@pytest.mark.parametrize("options", [{}, {"form": "explicit"}, {"integrator": "gauss:2"}])
@pytest.mark.parametrize("intervals", [4, 20])
@pytest.mark.slow
def test_a_rotor_is_turned_by_the_least_torque(intervals: int, options: dict[str, Any]) -> None:
    solution = turn(TORQUE, intervals, **options).solve(progress=False, tolerance=1e-9)
    assert solution.converged
    assert solution.cost == {"peak torque": pytest.approx(BANG_BANG, rel=1e-6)}
    assert solution.variables()["peak torque"] == pytest.approx(BANG_BANG, rel=1e-6)
    assert np.abs(solution.tau) == pytest.approx(BANG_BANG, rel=1e-4)


def test_linear_torques_are_bounded_at_the_nodes() -> None:
    """Torque over time is a trapezoid, which crosses zero within one interval or, here, at a node."""
    solution = turn(TORQUE, 10, torque="linear").solve(progress=False, tolerance=1e-9)
    phase = solution.phases[0]
    half = phase.tau_rate * np.diff(phase.t)[:, None] / 2
    assert np.abs([phase.tau - half, phase.tau + half]).max() == pytest.approx(solution.cost["peak torque"], rel=1e-6)
    assert BANG_BANG < solution.cost["peak torque"] < 1.05 * BANG_BANG


def test_a_weight_and_a_scale() -> None:
    peak = ocp.Peak(lambda instant: instant.tau, weight=3.0, scale=0.5)
    assert turn(peak).solve(progress=False).cost["peak"] == pytest.approx(3 * BANG_BANG / 0.5, rel=1e-4)


def rotors(objective: Any) -> ocp.Solution:
    """Two rotors, one twice as heavy, turned by the same angle."""
    builder = od.ModelBuilder("rotors")
    for name, inertia in (("light", INERTIA), ("heavy", 2 * INERTIA)):
        builder.add_body(name, od.Revolute("z"), mass=1.0, inertia=(inertia,) * 3)
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - ANGLE, end.qd), 0.0, 0.0))
    phase = ocp.Phase("turn", 10, TIME, objective=objective)
    return ocp.Problem(builder.build(), phase, boundary=ends).solve(progress=False, tolerance=1e-9)


@pytest.mark.slow
def test_one_peak_for_all_entries_or_one_for_each() -> None:
    one = rotors(ocp.Peak(lambda instant: instant.tau))
    assert one.cost["peak"] == pytest.approx(2 * BANG_BANG, rel=1e-5)
    each = rotors(ocp.Peak(lambda instant: instant.tau, each=True))
    assert each.variables()["peak"] == pytest.approx([BANG_BANG, 2 * BANG_BANG], rel=1e-5)
    assert each.cost["peak"] == pytest.approx(3 * BANG_BANG, rel=1e-5)
    relative = rotors(ocp.Peak(lambda instant: instant.tau, scale=(1.0, 2.0)))
    assert relative.cost["peak"] == pytest.approx(BANG_BANG, rel=1e-5)


@pytest.mark.slow
def test_one_peak_over_several_phases() -> None:
    problem = turn(TORQUE)

    def phases(*peaks: ocp.Peak) -> ocp.Solution:
        parts = [ocp.Phase(name, n, n / 10, objective=peak) for name, n, peak in zip("ab", (5, 15), peaks, strict=True)]
        return ocp.Problem(problem.model, parts, boundary=problem.boundary).solve(progress=False, tolerance=1e-9)

    assert phases(TORQUE, TORQUE).cost["peak torque"] == pytest.approx(BANG_BANG, rel=1e-5)
    two = phases(TORQUE, ocp.Peak(lambda instant: instant.tau, name="later"))
    assert sum(two.cost.values()) < 1.99 * BANG_BANG
    assert set(two.cost) == {"peak torque", "later"}


def test_a_quantity_of_the_state_counts_at_all_nodes() -> None:
    """The least peak speed is the mean speed, but for the ends at rest: one interval of acceleration at each end."""
    solution = turn(ocp.Peak(lambda instant: instant.qd, name="speed"), 10).solve(progress=False, tolerance=1e-9)
    assert solution.cost["speed"] == pytest.approx(ANGLE / TIME * 10 / 9, rel=1e-5)
    assert np.abs(solution.qd).max() == pytest.approx(solution.cost["speed"], rel=1e-5)


def test_positive_values_alone() -> None:
    """The accelerating torque alone counts: the longer it acts, the smaller it is, and braking is as hard as
    allowed."""
    limit = ocp.Path(lambda instant: instant.tau, -9 * BANG_BANG, np.inf, where="interval")
    peak = ocp.Peak(lambda instant: instant.tau, kind="positive")
    problem = turn(peak)
    phase = ocp.Phase("turn", 20, TIME, path=limit, objective=peak)
    solution = ocp.Problem(problem.model, phase, boundary=problem.boundary).solve(progress=False, tolerance=1e-9)
    assert solution.tau.min() < -1.5 * BANG_BANG
    assert solution.cost["peak"] == pytest.approx(solution.tau.max(), rel=1e-4)
    assert BANG_BANG / 2 < solution.cost["peak"] < 0.6 * BANG_BANG


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"function": 3}, TypeError, "Peak must be a function, got 3"),
        ({"weight": -1}, ValueError, "Peak weight must not be negative, got -1"),
        ({"scale": 0}, ValueError, "Peak scale must be positive"),
        ({"each": 1}, TypeError, "Peak each must be True or False"),
        ({"kind": "negative"}, ValueError, "Peak kind must be one of absolute, positive, got 'negative'"),
        ({"name": ""}, TypeError, "Peak name must be a name"),
    ],
)
def test_wrong_peaks_are_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ocp.Peak(**({"function": abs} | given))


def test_a_scale_has_the_size_of_the_quantity():
    with pytest.raises(ValueError, match="scale: give one number, or one per entry of the quantity, 1"):
        turn(ocp.Peak(lambda instant: instant.tau, scale=(1.0, 2.0))).solve(progress=False)


def test_a_peak_of_nothing_costs_nothing():
    assert turn(ocp.Peak(lambda instant: 0 * instant.tau), 3).solve(progress=False).converged


def test_every_peak_has_a_name_of_its_own():
    torque = ocp.Peak(lambda instant: instant.tau, name="x")
    for others, parameters in (
        ([ocp.Peak(lambda instant: instant.qd, name="x")], []),
        ([], [ocp.Parameter("x", 1.0)]),
        ([], [ocp.Parameter("x", 1.0, bounds=(0, 2))]),
    ):
        with pytest.raises(ValueError, match="Peak 'x': the problem has another peak, a variable or a parameter"):
            turn([torque, *others], 3, parameters=parameters).solve(progress=False)
