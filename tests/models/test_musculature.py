"""Muscles of the human model: moment arms beside the published body's, mirror images, sizes, fibers in walking."""

from __future__ import annotations

import csv
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base.types import Array
from ocp_dyn.models.musculature.fitted import standing_lengths, strength_of
from ocp_dyn.muscles import HillMuscles, equilibrium, path_geometry
from scripts.checks.musculature import JOINTS, RANGES, our_arms, postures, reference_human
from tests.motions import Motions

RECORDED = Path(__file__).parents[1] / "data" / "leg_moment_arms.csv"
"""Moment arms [mm] of the subject of `scripts.checks.musculature`, by muscle and posture."""
LARGEST = {"hip flexion": 4.0, "hip abduction": 6.0, "hip rotation": 4.5, "knee": 10.5, "ankle": 8.5}
"""Largest differences [mm]: about the knee where the hinge does not turn the shank inwards."""
RMS = {"hip flexion": 1.7, "hip abduction": 3.0, "hip rotation": 2.6, "knee": 5.0, "ankle": 7.0}


@lru_cache(maxsize=4)
def strong(mass: float = 73.0, height: float = 1.741, sex: od.models.anthropometry.Sex = "male") -> od.Model:
    return od.models.human(mass, height, sex, muscles=True)


def column(values: object) -> Array:
    return np.array(values, dtype=float).ravel()


@pytest.mark.slow
def test_moment_arms_are_those_of_the_published_body() -> None:
    with RECORDED.open() as file:
        rows = list(csv.DictReader(file))
    ours, names = our_arms(reference_human(), postures(RANGES["walking"])), {row["muscle"] for row in rows}
    assert len(names) == 40
    for name in names:
        own = [row for row in rows if row["muscle"] == name]
        theirs = np.array([[float(row[joint]) for joint in JOINTS] for row in own])
        off = np.abs(1e3 * ours[name][[int(row["posture"]) for row in own]] - theirs)
        for k, joint in enumerate(JOINTS):
            assert off[:, k].max() < LARGEST[joint], (name, joint)
            assert np.sqrt(np.mean(off[:, k] ** 2)) < RMS[joint], (name, joint)


@pytest.mark.slow
def test_the_table_has_the_standing_lengths() -> None:
    human = reference_human()
    lengths = path_geometry(human, column(human.neutral())).lengths
    trunk = 3  # the lumbar joint of the reference lies higher than that of a man of its height
    assert np.allclose(lengths[: 43 - trunk], standing_lengths()[: 43 - trunk], atol=2e-3)
    assert [human.muscle_names[k] for k in (0, 42, 43)] == ["addbrev_l", "extobl_l", "addbrev_r"]


@pytest.mark.slow
def test_both_sides_are_mirror_images() -> None:
    human = strong()
    mirror = od.ocp.mirror_map(human)
    q = column(human.random_q(np.random.default_rng(3)))
    here, there = path_geometry(human, q), path_geometry(human, column(mirror.q(q)))
    other = [human.muscle_names.index(name[:-1] + {"l": "r", "r": "l"}[name[-1]]) for name in human.muscle_names]
    assert np.allclose(there.lengths[other], here.lengths, atol=1e-9)
    assert np.allclose(there.moment_arms[other], here.moment_arms @ np.array(mirror.qd_matrix), atol=1e-8)
    assert len(human.muscles) == 86
    assert sum(bool(muscle.wraps) for muscle in human.muscles) == 38


@pytest.mark.parametrize("toes", [False, True])
@pytest.mark.slow
def test_trunk_and_toes_are_pulled_the_right_way(toes: bool) -> None:
    human = od.models.human(muscles=True, toes=toes)
    found = path_geometry(human, column(human.neutral()))

    def arm(muscle: str, dof: str) -> float:
        return float(found.moment_arms[found.names.index(muscle), human.qd_names.index(dof)])

    assert arm("ercspn_l", "lumbar.ry") < -0.03 < 0.03 < arm("extobl_l", "lumbar.ry")
    assert arm("extobl_l", "lumbar.rx") == pytest.approx(-arm("extobl_r", "lumbar.rx"))
    assert arm("soleus_l", "ankle_l") > 0.035 > -0.03 > arm("tibant_l", "ankle_l")
    assert arm("perlong_l", "subtalar_l") * arm("tibpost_l", "subtalar_l") < 0
    if toes:
        assert arm("fdl_l", "toes_l") > 0.003 > -0.003 > arm("ehl_l", "toes_l")


@pytest.mark.slow
def test_muscles_grow_with_the_body() -> None:
    small, tall = HillMuscles.of(strong(height=1.55)), HillMuscles.of(strong(height=1.9))
    ratio = column(tall.optimal_fiber_length / small.optimal_fiber_length)
    assert np.allclose(ratio, 1.9 / 1.55, rtol=0.01)
    assert np.allclose(column(tall.tendon_slack_length / small.tendon_slack_length), ratio)
    volume = column(tall.max_isometric_force * tall.optimal_fiber_length)
    grown = strength_of(73.0, 1.9) / strength_of(73.0, 1.55)
    assert np.allclose(volume, grown * column(small.max_isometric_force * small.optimal_fiber_length))
    assert strength_of(75.0, 1.70) == 1.0
    woman = HillMuscles.of(strong(61.9, 1.735, "female"))
    man = HillMuscles.of(strong(61.9, 1.735, "male"))
    share = column(woman.max_isometric_force * woman.optimal_fiber_length) / column(
        man.max_isometric_force * man.optimal_fiber_length
    )
    assert np.allclose(share, share[0])
    assert 0.85 < share[0] < 0.95


@pytest.mark.slow
def test_fibers_stay_near_their_optimum_in_walking(motions: Motions) -> None:
    q = np.array(motions["human walk"].q)[::3]
    human = strong()
    muscles, found = HillMuscles.of(human), path_geometry(human, q)
    for length in found.lengths[::3]:
        fibers = column(equilibrium(muscles, length, np.full(86, 0.3)))
        assert np.all((fibers > 0.4) & (fibers < 1.6))
    steps = np.array([column(human.difference(a, b)) for a, b in pairwise(q)])
    middle = (found.moment_arms[1:] + found.moment_arms[:-1]) / 2
    slack = np.diff(found.lengths, axis=0) + np.einsum("nmk,nk->nm", middle, steps)
    assert np.abs(slack).max() < 2e-3  # lengths do not jump


def test_stops_take_the_place_of_muscles_at_rest() -> None:
    human = strong()
    q = human.neutral()
    q[human.q_names.index("knee_l")] = 2.4
    torque = od.passive_force(human, q, np.zeros(human.nv))
    assert float(torque[human.qd_names.index("knee_l")]) == pytest.approx(-11.03, abs=1e-6)
    assert abs(float(torque[human.qd_names.index("knee_r")]) - 6.09 * np.exp(-33.94 * 0.13)) < 1e-6
    with pytest.raises(TypeError, match="muscles must be True or False"):
        od.models.human(muscles=1)  # type: ignore[arg-type]
