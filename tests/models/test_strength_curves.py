"""Torques against angle and speed: published points, smoothness, the signs of the model."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.models import human, human_strength_curves
from ocp_dyn.models.strength_curves import AGES, TABLE

CURVE = od.StrengthCurve(200.0, angle=0.4, width=1.2, speed_75=1.5, speed_50=4.0, eccentric=0.2, floor=0.02)


def test_published_points():
    """The peak at rest at the best angle; 75 % and 50 % at C4 and C5; nothing at the no-load speed."""
    assert CURVE(0.4, 0.0) == pytest.approx(200)
    assert CURVE.speed_factor(1.5) == pytest.approx(0.75, rel=3e-3)
    assert CURVE.speed_factor(4.0) == pytest.approx(0.5, rel=3e-3)
    assert CURVE.angle_factor(0.4 + 0.7) == pytest.approx(np.cos(1.2 * 0.7), rel=1e-3)
    assert CURVE.angle_factor(0.4 - 0.7) == pytest.approx(CURVE.angle_factor(0.4 + 0.7))
    assert CURVE.no_load_speed == pytest.approx(2 * 1.5 * 4 / (4.5 - 4))
    assert CURVE.speed_factor(CURVE.no_load_speed) == pytest.approx(0.02, abs=0.011)
    assert replace(CURVE, speed_50=4.6).no_load_speed == np.inf


@pytest.mark.parametrize("direction", [1, -1])
def test_the_formula_of_the_source(rng, direction):
    """Against equations 1 and 2, typed anew, at random coefficients of the table, away from the rounded corner."""
    for rows in TABLE.values():
        c1, c2, c3, c4, c5, c6 = rows["female" if direction > 0 else "male"][1]
        curve = od.StrengthCurve(c1, c3, c2, c4, c5, c6, direction, floor=1e-3)
        for w in (*rng.uniform(0.5 * c4, c5, 4), *-rng.uniform(0.5 * c4, 0.9 * c5, 4)):
            v = abs(w)
            f = (2 * c4 * c5 + v * (c5 - 3 * c4)) / (2 * c4 * c5 + v * (2 * c5 - 4 * c4)) * (1 - c6 * min(w, 0))
            q = c3 + rng.uniform(-0.5, 0.5)
            assert curve(q, direction * w) == pytest.approx(c1 * np.cos(c2 * (q - c3)) * f, rel=2e-2)


def test_lengthening_muscles_keep_their_torque():
    far = CURVE.speed_factor(np.array([-5.0, -8.0, -50.0]))
    assert far == pytest.approx([0.5 * (1 + 0.2 * 4)] * 3, rel=5e-3)


def test_curves_are_smooth_and_positive():
    """Second derivatives by the speed and the angle are those of finite differences everywhere, so no corner is
    left."""
    q, w = ca.SX.sym("q"), ca.SX.sym("w")
    torque = CURVE(q, w)
    f = ca.Function("f", [q, w], [torque, ca.gradient(torque, ca.vertcat(q, w)), *ca.hessian(torque, ca.vertcat(q, w))])
    speeds = np.concatenate([np.linspace(-12, 40, 105), np.linspace(-0.3, 0.3, 41)])
    h = 1e-4
    for speed in speeds:
        value, gradient, H, _ = (np.array(x.full()) for x in f(0.9, speed))
        left, right = f(0.9, speed - h)[1].full(), f(0.9, speed + h)[1].full()
        np.testing.assert_allclose((right - left)[1] / (2 * h), H[1, 1], atol=0.05 * (1 + abs(H[1, 1])))
        assert value > 0
        assert np.all(np.isfinite(gradient))
    angles = np.linspace(-2.5, 2.5, 60)
    assert np.all(CURVE(angles, 1.0) > 0)
    assert np.all(CURVE(0.4, np.linspace(-100, 400, 999)) > 0.019 * 200)
    assert float(f(0.4, 0.0)[1][1]) == pytest.approx(0, abs=1e-9)
    same = [float(CURVE(ca.DM(0.9), ca.DM(-2.0))), float(ca.evalf(CURVE(ca.MX(0.9), ca.MX(-2.0)))), CURVE(0.9, -2.0)]
    np.testing.assert_allclose(same, same[0], rtol=1e-14)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_curves_of_people_in_the_signs_of_the_model(sex):
    """Peaks are the model's limits; each group is strongest at the published angle and weaker when it shortens."""
    model = human(66.0, 1.69, sex)
    curves = human_strength_curves(66.0, 1.69, sex)
    assert set(curves) == {f"{joint}_{side}{end}" for side in "lr" for joint, end in
                           (("hip", ".ry"), ("knee", ""), ("ankle", ""))}  # fmt: skip
    for name, (lower, upper) in curves.items():
        k = model.qd_names.index(name)
        assert (-lower.peak, upper.peak) == pytest.approx(tuple(model.dofs.effort[k]))
        assert (lower.direction, upper.direction) == (-1, 1)
        assert lower(lower.angle, -2.0) < 0.8 * lower.peak
        assert upper(upper.angle, 2.0) < 0.8 * upper.peak
        assert lower(lower.angle, 2.0) > lower(lower.angle, -2.0)
        low, high = model.dofs.q_lower[k + 1], model.dofs.q_upper[k + 1]
        assert low < upper.angle < high
        assert low < lower.angle < high
    best = {
        name: [round(float(np.degrees(c.angle))) for c in curves[name]] for name in ("hip_r.ry", "knee_l", "ankle_l")
    }
    expected = {  # hip flexors, extensors (flexion is negative); knee extensors, flexors; dorsiflexors, plantar flexors
        "male": {"hip_r.ry": [12, -53], "knee_l": [65, 30], "ankle_l": [11, -23]},
        "female": {"hip_r.ry": [20, -71], "knee_l": [73, 36], "ankle_l": [17, -24]},
    }
    assert best == expected[sex]


def test_age_groups():
    peaks = [human_strength_curves(73, 1.741, "male", age)["knee_l"][0].peak for age in AGES]
    np.testing.assert_allclose(np.array(peaks) / (73 * 9.81 * 1.741), [0.163, 0.156, 0.137])
    for wrong, message in (
        ({"age": "18"}, "age must be one of 18-25, 55-65, over 65, got '18'"),
        ({"sex": "man"}, "sex"),
        ({"mass": 1.0}, "mass"),
        ({"height": 9.0}, "height"),
    ):
        with pytest.raises(ValueError, match=message):
            human_strength_curves(**({"mass": 70, "height": 1.7, "sex": "male"} | wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"peak": 0}, "StrengthCurve peak"),
        ({"width": -1}, "StrengthCurve width"),
        ({"speed_50": 2.9}, "speed_50 must be at least twice speed_75"),
        ({"eccentric": -0.1}, "StrengthCurve eccentric"),
        ({"direction": 0}, "direction must be 1 or -1, got 0"),
        ({"direction": True}, "direction must be 1 or -1, got True"),
        ({"floor": 0.6}, "at most 0.5"),
        ({"angle": np.inf}, "StrengthCurve angle"),
    ],
)
def test_wrong_curves_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        replace(CURVE, **wrong)


def test_all_rows_of_the_table_make_curves():
    """All 36 rows; the hyperbola of none has a pole, and every group gives more at rest than when it shortens."""
    rows = [row for sexes in TABLE.values() for ages in sexes.values() for row in ages]
    assert len(rows) == 36
    for c1, c2, c3, c4, c5, c6 in rows:
        curve = od.StrengthCurve(c1, c3, c2, c4, c5, c6)
        shortening = curve.speed_factor(np.linspace(0, 30, 200))
        assert np.all(np.diff(shortening) < 0)
        assert curve.speed_factor(np.array([c4, c5])) == pytest.approx([0.75, 0.5], abs=0.011)
