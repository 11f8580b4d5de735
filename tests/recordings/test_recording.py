"""`Recording`: what it holds and refuses; splines, filter, gaps, axes; names with other cases and prefixes."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.recordings import Recording
from ocp_dyn.recordings.block_bands import solve_banded
from ocp_dyn.recordings.signals import Spline, butterworth, padding


def recorded(seed: int, n: int = 40, shape: tuple[int, ...] = (2,), rate: float = 50.0) -> Recording:
    rng = np.random.default_rng(seed)
    return Recording(
        [f"c{k}" for k in range(shape[0])], 0.3 + np.arange(n) / rate, rng.normal(size=(n, *shape)).cumsum(0)
    )


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("count", [3, 4, 7, 150])
@pytest.mark.slow
def test_splines_are_natural(degree: int, count: int) -> None:
    import scipy.interpolate  # takes a second to import

    rng = np.random.default_rng(count)
    t, y = np.cumsum(rng.uniform(0.5, 1.5, count)) * 0.01, rng.normal(size=(count, 3))
    ends = [(order, np.zeros(3)) for order in range((degree + 1) // 2, degree)]
    reference = scipy.interpolate.make_interp_spline(t, y, degree, bc_type=(ends, ends))
    spline, at = Spline.through(t, y, degree), np.linspace(t[0], t[-1], 97)
    for order in range(3):
        wanted = reference(at, nu=order)
        np.testing.assert_allclose(spline(at, order), wanted, atol=1e-11 * np.abs(wanted).max())


def test_few_points_give_lines_and_constants() -> None:
    line = Spline.through(np.array([1.0, 3.0]), np.array([2.0, 6.0]), 5)
    assert line(np.array([1.5])).tolist() == [3.0]
    assert line(np.array([1.5]), 1).tolist() == [2.0]
    assert Spline.through(np.array([1.0]), np.array([2.0]), 3)(np.array([5.0])).tolist() == [2.0]


def test_banded_systems_are_solved() -> None:
    rng = np.random.default_rng(3)
    n, w = 61, 5
    band, begin = rng.normal(size=(n, w)), np.clip(np.arange(n) - 2, 0, n - w)
    band[np.arange(n), np.arange(n) - begin] += 8
    A = np.zeros((n, n))
    A[np.arange(n)[:, None], begin[:, None] + np.arange(w)] = band
    y = rng.normal(size=(n, 2))
    np.testing.assert_allclose(A @ solve_banded(band, begin, y), y, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.slow
def test_filter_is_that_of_scipy(order: int) -> None:
    import scipy.signal  # takes a second to import

    x = np.random.default_rng(order).normal(size=(300, 2)).cumsum(0)
    sections = scipy.signal.butter(order, 6.0, fs=100.0, output="sos")
    wanted = scipy.signal.sosfiltfilt(sections, x, axis=0, padlen=padding(100.0, 6.0, order))
    np.testing.assert_allclose(butterworth(x, 100.0, 6.0, order), wanted, atol=1e-11)


def test_filter_halves_the_power_of_each_pass_at_the_cutoff() -> None:
    t = np.arange(4000) / 200
    x = Recording("x", t, np.sin(2 * np.pi * 7.3 * t)).filter(7.3)["x"][1000:3000]
    assert np.abs(x).max() == pytest.approx(0.5, abs=1e-3)


def test_filter_treats_runs_between_gaps_each_by_itself() -> None:
    whole = recorded(0, 80)
    values = np.array(whole.values)
    values[30:33, 0] = np.nan
    found = Recording(whole.names, whole.times, values).filter(5.0)
    assert np.isnan(found["c0"]).nonzero()[0].tolist() == [30, 31, 32]
    np.testing.assert_allclose(found["c1"], whole.filter(5.0)["c1"], atol=1e-13)
    first = Recording("c0", whole.times[:30], values[:30, 0]).filter(5.0)
    np.testing.assert_allclose(found["c0"][:30], first["c0"])


def test_resample_keeps_cubics_and_gaps() -> None:
    t = np.linspace(0, 2, 41)
    values = np.stack([3 - t, t], axis=1)
    values[20, 1] = np.nan
    found = Recording(["a", "b"], t, values).resample(rate=37.0)
    np.testing.assert_allclose(found["a"], 3 - found.times, atol=1e-13)
    lost = np.isnan(found["b"])
    assert found.times[lost].min() > t[19]
    assert found.times[lost].max() < t[21]
    assert found.times[-1] <= 2 < found.times[-1] + 1 / 37
    outside = Recording("a", t, values[:, 0]).resample(times=[-0.1, 0.5, 2.1])["a"]
    assert np.isnan(outside).tolist() == [True, False, True]


def test_derivatives_are_exact_for_parabolas() -> None:
    t = np.linspace(0, 1, 30)
    motion = Recording("x", t, 1 + 2 * t + 3 * t**2, "m")
    np.testing.assert_allclose(motion.derivative()["x"], 2 + 6 * t, atol=1e-10)
    np.testing.assert_allclose(motion.derivative(2)["x"], 6, atol=1e-8)
    assert motion.derivative(2).units == ("m/s^2",)


def test_gaps_are_found_and_filled_if_short() -> None:
    t = np.arange(20) / 10
    values = np.stack([t**2, t, t], axis=1)
    values[3:5, 0] = values[8:14, 0] = values[18:, 1] = np.nan
    record = Recording(["a", "b", "c"], t, values)
    assert record.gaps() == {"a": [(0.3, 0.4), (0.8, 1.3)], "b": [(1.8, 1.9)]}
    filled = record.fill_gaps(0.31)
    assert filled.gaps() == {"a": [(0.8, 1.3)], "b": [(1.8, 1.9)]}
    np.testing.assert_allclose(filled["a"][3:5], [0.09, 0.16], atol=2e-3)


def test_axes_turn() -> None:
    points = recorded(1, 5, (2, 3)).z_up()
    before = recorded(1, 5, (2, 3)).values
    np.testing.assert_allclose(points.values, np.stack([before[..., 0], -before[..., 2], before[..., 1]], axis=-1))
    wrench = recorded(2, 5, (1, 6))
    R = np.asarray(od.rpy_matrix((0.3, -0.7, 1.1)))
    np.testing.assert_allclose(wrench.turned(R).values[:, 0, 3:], wrench.values[:, 0, 3:] @ R.T)
    np.testing.assert_allclose(wrench.turned(R).values[:, 0, :3], wrench.values[:, 0, :3] @ R.T)
    q = np.random.default_rng(5).normal(size=4)
    q /= np.linalg.norm(q)
    turned = Recording("b", [0.0], [[q]]).turned(R)["b"][0]
    wanted = R @ np.asarray(od.quaternion_matrix(q))
    np.testing.assert_allclose(np.asarray(od.quaternion_matrix(turned)), wanted, atol=1e-14)


def test_orientations_do_not_flip_between_samples() -> None:
    angle = np.linspace(0, 3, 31)
    q = np.stack([0 * angle, 0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1)
    q[10:] *= -1
    record = Recording("b", angle, q[:, None])
    found = record.resample(times=[0.95])["b"][0]
    np.testing.assert_allclose(found / found[3], [0, 0, np.tan(0.475), 1], atol=1e-6)


def test_points_are_gathered_from_columns() -> None:
    table = Recording(["a.x", "a.y", "a.z", "bX", "bY", "bZ", "x"], [0.0], [range(7)], "m")
    points = table.as_points()
    assert points.names == ("a", "b")
    assert points["b"].tolist() == [[3, 4, 5]]
    with pytest.raises(ValueError, match="no three columns end with x, y and z; the columns are x"):
        table.select(["x"]).as_points()


def test_names_with_other_cases_and_prefixes_are_suggested() -> None:
    record = Recording(["S01:R.ASIS", "L.ASIS"], [0.0], [[1, 2]])
    with pytest.raises(KeyError, match=r"no 'r_asis': did you mean 'S01:R.ASIS'"):
        record["r_asis"]
    with pytest.raises(KeyError, match=r"no 'sub:L.Asis': did you mean 'L.ASIS'"):
        record.select(["sub:L.Asis"])
    with pytest.raises(KeyError, match=r"no 'heel'; it has S01:R.ASIS, L.ASIS"):
        record["heel"]


def test_recordings_cannot_be_changed() -> None:
    values = np.ones((2, 1))
    record = Recording("a", [0, 1], values)
    values[0] = 7
    assert record["a"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        record.values[0] = 2


REFUSED = [
    (lambda: Recording(["a", "a"], [0], [[1, 2]]), ValueError, "differ, got 'a'"),
    (lambda: Recording(["a", ""], [0], [[1, 2]]), ValueError, "non-empty"),
    (lambda: Recording("a", [0, 0], [[1], [2]]), ValueError, "increase"),
    (lambda: Recording("a", [], np.zeros((0, 1))), ValueError, "at least"),
    (lambda: Recording("a", [0, 1], [[1]]), ValueError, "a row for each of 2 times"),
    (lambda: Recording("a", [0], [[[1, 2]]]), ValueError, "3 or 4 or 6"),
    (lambda: Recording("a", [0], [[np.inf]]), ValueError, "finite, or NaN"),
    (lambda: Recording("a", [0], [["x"]]), TypeError, "must be numbers"),
    (lambda: Recording("a", [0], [[1]], ["m", "m"]), ValueError, "units must be one"),
    (lambda: Recording(3, [0], [[1]]), TypeError, "names must be a text"),
    (lambda: recorded(0).between(9, 10), ValueError, "no sample lies from 9 to 10 s"),
    (lambda: recorded(0).resample(), TypeError, "rate= or times="),
    (lambda: recorded(0).resample(1e12), ValueError, "more than 1e8 samples"),
    (lambda: recorded(0).filter(25.0), ValueError, "less than half the rate, 25 Hz"),
    (lambda: Recording("a", [0, 1, 3], [1, 2, 3]).filter(0.1), ValueError, "sample 1 lies at 1 s.*resample"),
    (lambda: recorded(0).z_up(), ValueError, "only points, orientations and wrenches turn"),
    (lambda: recorded(0, 5, (1, 3)).turned(-np.eye(3)), ValueError, "rotation matrix"),
    (lambda: Recording("b", [0], [[[0, 0, 0, 1]]]).derivative(), ValueError, "angular velocities"),
    (lambda: Recording("b", [0], [[[0, 0, 0, 0]]]), ValueError, "unit quaternions .* got length 0"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "text"), REFUSED, ids=range(len(REFUSED)))
def test_wrong_values_are_refused(make, error, text) -> None:
    with pytest.raises(error, match=text):
        make()
