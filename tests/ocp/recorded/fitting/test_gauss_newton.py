"""The search: steps between bounds, kinks, and where it ends."""

import numpy as np
import pytest

from ocp_dyn.ocp.recorded.fitting.gauss_newton import Search, damped_step


def searched(residual, jacobian, z, low=-np.inf, high=np.inf, gauge=None, most=60):
    z, at, tried = np.asarray(z, float), [], []

    def attempt(x):
        tried[:] = [x]
        return residual(x)

    def accept():
        at[:] = [tried[0]]

    n = z.size
    gauge = np.zeros(n, dtype=bool) if gauge is None else np.asarray(gauge)
    search = Search(attempt, accept, lambda: jacobian(at[0]), np.broadcast_to(low, n), np.broadcast_to(high, n), gauge)
    return search, *search.run(z, most)


def test_a_curved_valley():
    search, point, _ = searched(
        lambda z: np.array([10 * (z[1] - z[0] ** 2), 1 - z[0]]),
        lambda z: np.array([[-20 * z[0], 10.0], [-1.0, 0.0]]),
        [-1.2, 1.0],
    )
    assert search.status == "Converged"
    np.testing.assert_allclose(point.z, [1, 1], atol=1e-6)


def test_steps_between_bounds_fulfill_the_first_order_conditions(rng):
    for _ in range(40):
        J, r = rng.normal(size=(9, 5)), rng.normal(size=9)
        low, high = -rng.uniform(0, 0.3, 5), rng.uniform(0, 0.3, 5)
        step = damped_step(J, r, 0.1, np.sum(J**2, axis=0), low, high, np.zeros(5, dtype=bool))
        slope = J.T @ (r + J @ step) + 0.1 * np.sum(J**2, axis=0) * step
        assert np.all((step >= low - 1e-12) & (step <= high + 1e-12))
        inside = (step > low + 1e-12) & (step < high - 1e-12)
        np.testing.assert_allclose(slope[inside], 0, atol=1e-10)
        assert np.all(slope[step <= low + 1e-12] >= -1e-10)
        assert np.all(slope[step >= high - 1e-12] <= 1e-10)


def test_steps_keep_the_mean_of_a_common_factor(rng):
    J, r = rng.normal(size=(9, 4)), rng.normal(size=9)
    gauge = np.array([True, True, False, True])
    step = damped_step(J, r, 1e-3, np.sum(J**2, axis=0), np.full(4, -np.inf), np.full(4, np.inf), gauge)
    assert abs(step[gauge].sum()) < 1e-9
    assert abs(step).max() > 0.01


@pytest.mark.parametrize("start", [3.0, -2.0])
def test_a_kink_is_crossed(start):
    """A residual whose slope is 1 on one side of zero and 30 on the other, with its root beyond the kink."""

    def residual(z):
        return np.array([z[0] - 1.0 if z[0] > 0 else 30 * z[0] - 1.0, 0.1 * z[1]])

    search, point, _ = searched(
        lambda z: residual(z), lambda z: np.array([[1.0 if z[0] > 0 else 30.0, 0.0], [0.0, 0.1]]), [start, 2.0]
    )
    np.testing.assert_allclose(point.z, [1, 0], atol=1e-5)
    assert search.status == "Converged"


def test_an_optimum_at_a_kink_is_told():
    """The sum of squares falls towards z = 0.3 from both sides, and neither side's slope is zero there."""

    def residual(z):
        return np.array([2 + abs(z[0] - 0.3)])

    search, point, _ = searched(residual, lambda z: np.array([[np.sign(z[0] - 0.3) or 1.0]]), [1.0])
    assert search.status == "Stopped_At_A_Kink"
    assert point.z[0] == pytest.approx(0.3, abs=1e-4)


def test_a_point_without_a_motion_is_not_taken():
    def residual(z):
        return None if z[0] < 0.5 else np.array([z[0]])

    search, point, _ = searched(residual, lambda z: np.eye(1), [2.0])
    assert 0.5 <= point.z[0] < 0.51
    assert search.status == "Stopped_At_A_Kink"
    with pytest.raises(ValueError, match="no residuals at the start"):
        searched(residual, lambda z: np.eye(1), [0.0])


def test_bounds_hold_and_iterations_are_counted():
    search, point, _ = searched(lambda z: z - 3.0, lambda z: np.eye(2), [0.0, 0.0], low=-1, high=[1.0, 9.0])
    np.testing.assert_allclose(point.z, [1, 3], atol=1e-6)
    assert search.status == "Converged"
    search, _, _ = searched(lambda z: z - 30.0, lambda z: np.eye(2), [0.0, 0.0], most=2)
    assert search.status == "Maximum_Iterations_Exceeded"
    assert (search.iteration, len(search.costs)) == (2, 3)
