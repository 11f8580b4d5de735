"""Margins of a robot's walk: limits that become narrower, the bound of the trunk's turn, arguments."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli import options
from ocp_dyn.walking import Margins


@pytest.fixture(scope="module")
def robot() -> Any:
    """A man as a robot on two feet, with limits of all its joints."""
    model = od.models.human(root=od.FloatingBase())
    return od.walking.biped(model, ("sole_l", "sole_r"), sole=(0.1, 0.04))


@pytest.mark.slow
def test_joints_of_the_legs_keep_away_from_their_stops_and_motors_have_reserves(robot: Any) -> None:
    margins = Margins(joints=0.2, speed=0.1, torque=0.25)
    walk, plain = (od.walking.biped_walk(robot, 0.5, margins=m) for m in (margins, None))
    before, after = plain.model.dofs, walk.model.dofs
    knee, elbow = (plain.model.q_names.index(name) for name in ("knee_l", "elbow_l"))
    assert after.q_lower[knee] == pytest.approx(before.q_lower[knee] + 0.2)
    assert after.q_upper[knee] == pytest.approx(before.q_upper[knee] - 0.2)
    assert after.q_lower[elbow] == before.q_lower[elbow]
    np.testing.assert_allclose(after.qd_max, 0.9 * before.qd_max)
    np.testing.assert_allclose(after.effort, 0.75 * before.effort)
    narrow = plain.model.q_names.index("subtalar_l")  # its range is 0.87 rad: four margins of 0.2 rad fit, not of 0.3
    assert after.q_upper[narrow] == pytest.approx(before.q_upper[narrow] - 0.2)
    wider = Margins(joints=0.3).of(robot).model.dofs
    assert wider.q_upper[narrow] == before.q_upper[narrow]
    # the cost compares torques with the whole strength, so that a reserve is no stronger or weaker robot
    scales = [next(c for c in w.phases[0].objective if isinstance(c, ocp.TorqueSquared)).scale for w in (walk, plain)]
    np.testing.assert_array_equal(*scales)
    clear = [next(p for p in w.phases[1].path if isinstance(p, ocp.Clearance)).height for w in (walk, plain)]
    np.testing.assert_allclose(clear, [0.07 * robot.leg, 0.045 * robot.leg])
    own = od.walking.biped_walk(robot, 0.5, margins=margins, clearance=0.03).phases[1].path
    assert next(p for p in own if isinstance(p, ocp.Clearance)).height == 0.03


@pytest.mark.parametrize("turn", [0.3, -0.3])
def test_the_trunk_turns_to_both_sides_of_the_way(robot: Any, turn: float) -> None:
    (bound,) = Margins(yaw=0.3).path(robot)
    q = np.array(robot.posture)
    q[3:7] = 0.0, 0.0, math.sin(turn / 2), math.cos(turn / 2)
    value, low, high = bound.rows(ocp.Instant(robot.model, ca.DM(q), ca.DM(robot.model.nv, 1)))
    assert float(value) == pytest.approx(high if turn > 0 else low)
    walk = od.walking.biped_walk(robot, 0.5, margins=Margins(yaw=0.3))
    assert all(any(isinstance(term, ocp.Path) and term.upper == bound.upper for term in p.path) for p in walk.phases)
    assert Margins(yaw=math.inf).path(robot) == ()


def test_a_walk_has_the_usual_margins_unless_it_shall_have_none(robot: Any) -> None:
    usual, none = (od.walking.biped_walk(robot, 0.5, **given) for given in ({}, {"margins": None}))
    np.testing.assert_allclose(usual.model.dofs.qd_max, 0.8 * none.model.dofs.qd_max)


def test_the_command_names_all_margins() -> None:
    assert options.MARGINS == tuple(field.name for field in fields(Margins))


def test_limits_that_do_not_count_stay(robot: Any) -> None:
    free = replace(robot, limits=False)
    assert Margins().of(free) is free


@pytest.mark.parametrize(
    ("given", "message"),
    [({"torque": 1.0}, "torque must lie between 0 and 0.9"), ({"yaw": 0.0}, "yaw must be more than 0"),
     ({"joints": -0.1}, "joints must lie between 0 and 1"), ({"clearance": math.nan}, "clearance must lie")],
)  # fmt: skip
def test_margins_of_no_robot_are_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Margins(**given)


def test_margins_must_be_margins(robot: Any) -> None:
    with pytest.raises(TypeError, match=r"margins must be od.walking.Margins\(\), or None"):
        od.walking.biped_walk(robot, 0.5, margins=True)
