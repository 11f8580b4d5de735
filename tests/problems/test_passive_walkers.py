"""The simplest walker and the compass gait against published gaits, and the map from step to step."""

from __future__ import annotations

import json

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn import ocp
from problems import compass_gait, simplest_walker
from tests.helpers import close


@pytest.mark.slow
def test_the_simplest_walker_at_its_published_slope():
    """Garcia et al. 1998, gamma = 0.009: state to 1e-9, period to 1e-6, multipliers to 1e-5."""
    cycle = simplest_walker.gait(0.009)
    assert cycle.stable
    close(cycle.x[[0, 2]], (0.200310900544, -0.199832473005), 1e-9)
    assert abs(cycle.period - 3.882463) < 1e-6
    close(np.abs(cycle.multipliers[:2]), (0.589113, 0.589113), 1e-5)


def test_the_rows_of_vanishing_feet_are_the_printed_equations(rng):
    q, qd, gamma = rng.normal(size=2), rng.normal(size=2), 0.03
    theta, phi = q
    first = np.sin(theta - gamma)
    second = first + qd[0] ** 2 * np.sin(phi) - np.cos(theta - gamma) * np.sin(phi)
    close(np.array(ca.DM(simplest_walker.dynamics(gamma, SX(q), SX(qd)))).ravel(), (first, second))


@pytest.mark.parametrize(("slope", "stable"), [(0.015, True), (0.0155, False)])
@pytest.mark.slow
def test_the_long_period_gait_over_slopes(slope, stable):
    """It loses its stability at 0.0151 by doubling its period: a multiplier at -1."""
    cycle = simplest_walker.gait(slope, 100)
    assert cycle.stable is stable
    assert 3.8 < cycle.period < 3.95


@pytest.mark.slow
def test_the_compass_gait_at_three_degrees():
    cycle = compass_gait.gait(np.radians(3.0))
    assert abs(cycle.period - 0.734346) < 1e-6
    assert abs(2 * np.sin(cycle.x[0]) - 0.535445) < 1e-6
    assert abs(abs(cycle.multipliers[0]) - 0.579952) < 1e-6


@pytest.mark.slow
def test_the_compass_gait_doubles_its_period_at_a_steep_slope():
    assert compass_gait.gait(np.radians(4.3), 200).stable
    assert not compass_gait.gait(np.radians(4.6), 200).stable


@pytest.mark.slow
def test_multipliers_are_the_rates_at_which_disturbances_die_out():
    """dP/dx against differences of whole steps, each with a strike of its own time."""
    step_map = compass_gait.step_map(np.radians(2.0), 200)
    cycle = compass_gait.gait(np.radians(2.0), 200)
    after, time = step_map.step(cycle.x, cycle.period)
    close(after, cycle.x, 1e-10)
    assert abs(time - cycle.period) < 1e-10
    for k, column in enumerate(cycle.derivative.T):
        e = 1e-6 * np.eye(4)[k]
        ahead, behind = (step_map.step(cycle.x + sign * e, cycle.period)[0] for sign in (1, -1))
        close((ahead - behind) / 2e-6, column, 1e-7)


@pytest.mark.slow
def test_a_limit_cycle_is_followed_along_a_parameter():
    """Each begins at the extrapolation of two: Newton's method then needs few steps, and no jump is taken for a way."""
    slopes = np.radians([3.0, 3.2, 3.4, 3.6])
    known = compass_gait.KNOWN
    maps = [compass_gait.step_map(slope, 100) for slope in slopes]
    found = list(ocp.follow_limit_cycles(iter(maps), known.state, known.period))
    for step_map, cycle in zip(maps, found, strict=True):
        close(step_map.step(cycle.x, cycle.period)[0], cycle.x, 1e-9)
    assert np.all(np.diff([cycle.x[0] for cycle in found]) > 0)  # steeper slopes, longer steps
    rest = ocp.follow_limit_cycles(maps, known.state, known.period, largest_change=1e-4)
    assert next(rest).period == found[0].period
    with pytest.raises(ocp.NoGait, match=r"the period changes by 0\.\d+ % in step 1, from 0\.734.* another gait"):
        next(rest)
    with pytest.raises(TypeError, match="follow_limit_cycles needs StepMaps, got 3"):
        next(ocp.follow_limit_cycles([3], known.state, known.period))


def test_both_roots_of_the_compass_walker_are_one_machine(rng):
    pinned, planar = (od.models.compass_walker(root=root, slope=0.1) for root in ("pinned", "planar"))
    q, qd, qdd = rng.normal(size=(3, 2))
    tau = np.array(od.function(od.inverse_dynamics, pinned)(q, qd, qdd)).ravel()
    padded = [np.concatenate([(0.0, 0.0), x]) for x in (q, qd, qdd)]
    close(np.array(od.function(od.inverse_dynamics, planar)(*padded)).ravel()[2:], tau)


@pytest.mark.parametrize("problem", [simplest_walker, compass_gait])
@pytest.mark.slow
def test_command_lines(problem, capsys, tmp_path):
    assert problem.main(["--quick", "--json", "--out", str(tmp_path)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert abs(numbers["period"] - numbers["published_period"]) < 1e-5
    assert {path.name for path in tmp_path.iterdir()} == {"gait.png", "report.md", "report.html"}


@pytest.mark.parametrize("slope", ["0", "nan"])
def test_refuses_where_there_is_no_gait(slope, capsys):
    assert simplest_walker.main(["--slope", slope, "--quick", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["converged"] is False
    assert captured.err.strip()


def test_errors():
    with pytest.raises(ValueError, match="guard must return one number and reset n = 2 numbers"):
        ocp.StepMap(lambda x: x, lambda x: x, lambda x: x, 2)
    bounce = ocp.StepMap(lambda x: ca.vertcat(x[1], -1), lambda x: x[0], lambda x: -x, 2, 10)
    with pytest.raises(ValueError, match=r"period \[s\] must be positive"):
        bounce.flow(np.zeros(2), 0.0)
    with pytest.raises(ocp.NoGait, match="no periodic gait"):
        bounce.limit_cycle(np.array([1.0, 1.0]), 1.0, iterations=1)
    with pytest.raises(ValueError, match="root must be"):
        od.models.compass_walker(root="floating")


def test_a_family_of_maps_that_has_no_gait():
    def oscillator() -> ocp.StepMap:
        return ocp.StepMap(lambda x: ca.vertcat(x[1], -x[0]), lambda x: x[0], lambda x: ca.vertcat(x[0], -x[1]), 2)

    for maps in (3, oscillator()):
        with pytest.raises(TypeError, match="follow_limit_cycles needs an iterable of StepMaps as maps, got"):
            next(ocp.follow_limit_cycles(maps, np.array([0.0, 1.0]), 3.0))
    with pytest.raises(ocp.NoGait, match="touches the guard without crossing it, or rests: this is no gait"):
        next(ocp.follow_limit_cycles([oscillator()], np.zeros(2), 3.0))
