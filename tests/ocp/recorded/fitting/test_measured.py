"""Measured numbers of a motion: samples, curves and figures of gait analysis, missing values, bad input."""

import numpy as np
import pytest

from ocp_dyn import ocp


@pytest.fixture(scope="module")
def walk(motions):
    return motions["human walk"]


@pytest.mark.slow
def test_samples_of_a_motion(walk):
    names = ["knee_r", "hip_l.ry"] if "hip_l.ry" in walk.model.q_names else [walk.model.q_names[k] for k in (12, 9)]
    columns = [walk.model.q_names.index(name) for name in names]
    first = max(walk.phases, key=lambda phase: len(phase.t))
    at = first.t[[1, 3]] / walk.duration
    data = ocp.Measured.motion("q", np.zeros((2, 2)), names=names, fractions=at)
    np.testing.assert_allclose(data.of(walk).reshape(2, 2), first.q[[1, 3]][:, columns], atol=1e-12)
    last = walk.phases[-1]
    end = ocp.Measured.motion("qd", np.zeros((1, walk.model.nv)), fractions=[1.0])
    np.testing.assert_allclose(end.of(walk), last.qd[-1])
    middle = (first.t[:-1] + first.t[1:])[2] / 2 / walk.duration
    torque = ocp.Measured.motion("tau", np.zeros((1, walk.model.nv)), fractions=[middle])
    np.testing.assert_allclose(torque.of(walk), first.tau[2])


@pytest.mark.slow
def test_curves_and_figures_of_the_gait(walk):
    gait = walk.gait("left")
    curve = ocp.Measured.curve("knee flexion", [0, 25.5, 100], [1, np.nan, 3], 2.0, side="left")
    expected = np.interp([0, 25.5, 100], gait.percent, gait["knee flexion"])
    np.testing.assert_allclose(curve.of(walk), expected)
    np.testing.assert_allclose(curve.residual(walk), (expected[[0, 2]] - [1, 3]) / 2)
    figure = ocp.Measured.figure("cadence_steps_per_min", 100, 4)
    assert figure.residual(walk)[0] == pytest.approx((gait.numbers()["cadence_steps_per_min"] - 100) / 4)
    for wrong in (ocp.Measured.curve("knee flexon", [0], [1]), ocp.Measured.figure("cadence_steps_per_minute", 1, 1)):
        with pytest.raises(ValueError, match=r"has no (curve|figure) .* did you mean .*data of another body"):
            wrong.of(walk)


def test_a_curve_counts_for_few_independent_values(walk):
    percent = np.arange(101)
    curve = ocp.Measured.curve("hip flexion", percent, np.zeros(101), 4.0)
    assert curve.count == 12
    expected = 12 * np.mean((walk.gait()["hip flexion"] / 4) ** 2)
    assert np.sum(curve.residual(walk) ** 2) == pytest.approx(expected)
    assert ocp.Measured.curve("hip flexion", percent, np.zeros(101), 4.0, independent=None).count == 101


def test_a_measured_gait():
    data = ocp.measured_gait("schwartz_free", ["knee flexion", "hip power"], every=10)
    reference = ocp.gait_reference("schwartz_free")
    np.testing.assert_allclose(data[0].values, reference.curves["knee flexion"].mean[::10])
    np.testing.assert_allclose(data[0].spread[4], reference.curves["knee flexion"].sd[40])
    given = ocp.measured_gait("schwartz_free", ["knee flexion"], spread={"knee flexion": 7.0})
    assert set(given[0].spread) == {7.0}
    assert len(ocp.measured_gait("winter")) > 3


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: ocp.Measured("", len, 1), TypeError, "Measured name must be a name"),
        (lambda: ocp.Measured("x", 3, 1), TypeError, "Measured 'x': function"),
        (lambda: ocp.Measured("x", len, [np.nan]), ValueError, "at least one finite number"),
        (lambda: ocp.Measured("x", len, [1, np.inf]), ValueError, "must be finite, or nan"),
        (lambda: ocp.Measured("x", len, "much"), ValueError, "at least one finite number"),
        (lambda: ocp.Measured("x", len, [1, 2], [1, 2, 3]), ValueError, "spread must be one number, or 2"),
        (lambda: ocp.Measured("x", len, [1, 2], 0.0), ValueError, "spread"),
        (lambda: ocp.Measured("x", len, [1, 2], 1.0, -1), ValueError, "independent"),
        (lambda: ocp.Measured.motion("p", [1]), ValueError, "Measured.motion channel"),
        (lambda: ocp.Measured.motion("q", [[1], [2]], fractions=[0, 2]), ValueError, "fractions must be 2 numbers"),
        (lambda: ocp.Measured.motion("q", [[1], [2]], names=["a", "b"]), ValueError, "2 names, and 1 columns"),
        (lambda: ocp.Measured.curve("hip flexion", [0, 101], [1, 2]), ValueError, "percent must be numbers"),
        (lambda: ocp.Measured.curve("hip flexion", [0], [1], side="top"), ValueError, "Measured side"),
        (lambda: ocp.measured_gait("winter", ["elbow"]), KeyError, "no curve 'elbow'"),
        (lambda: ocp.measured_gait("winter", every=0), ValueError, "whole number of percent"),
        (lambda: ocp.Fitted("x", prior=3), ValueError, "prior must be"),
        (lambda: ocp.Fitted("x", prior=(3, 0)), ValueError, "spread of the prior must be positive"),
        (lambda: ocp.Fitted("x", bounds=(3, 3)), ValueError, "lower < upper"),
        (lambda: ocp.Fitted("x", scale="cubic"), ValueError, "scale"),
    ],
)
def test_bad_input(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
