"""The walk on compliant feet, on its coarse grid: the solver finds heel strike and toe-off."""

from __future__ import annotations

import numpy as np
import pytest

from problems import compliant_walk


@pytest.fixture
def walk(motions):
    return motions["compliant walk"]


@pytest.mark.slow
def test_the_solver_finds_heel_strike_and_toe_off(walk):
    assert walk.converged
    numbers = compliant_walk.numbers(walk)
    assert abs(numbers["heel_strike_percent_of_stride"]) < 4
    assert 55 < numbers["toe_off_percent_of_stride"] < 68
    assert 5 < numbers["double_support_percent_of_stride"] < 17
    assert 100 < numbers["cadence_steps_per_min"] < 130
    assert numbers["valley_body_weights"] < 0.85
    assert 1.0 < numbers["second_peak_body_weights"] < 1.3
    stances = walk.stances()
    assert [s.foot for s in stances] in (["heel_l", "heel_r"], ["heel_r", "heel_l"])
    curves = walk.gait()
    assert curves.figures["stance_percent"] == pytest.approx(numbers["toe_off_percent_of_stride"], abs=6)
    right = max(s.lift_off - s.touch_down for s in stances)
    assert all(s.lift_off - s.touch_down == pytest.approx(right) for s in stances)  # a mirrored motion


@pytest.mark.slow
def test_the_ground_carries_the_body_and_does_not_pull(walk):
    phase = walk.phases[0]
    forces = np.array([w[:, 3:] for w in phase.wrenches.values()])
    mean = forces.sum(axis=0).T @ np.diff(phase.t) / walk.duration
    assert mean[[0, 2]] == pytest.approx([0, walk.model.weight], abs=1.0)  # sideways forces cancel over two steps
    assert forces[:, :, 2].min() > -1e-9
    stands = forces[:, :, 2] > 20  # a heel that grazes the ground at some m/s has viscous friction
    assert np.all(np.linalg.norm(forces[:, :, :2], axis=2)[stands] < 1.2 * forces[:, :, 2][stands] + 5)
