"""Costs of the user's own: a class and a function, and what is said about wrong ones."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.cost import Sway, swing

EFFORT = ocp.TorqueSquared(1e-2)


@pytest.mark.slow
def test_a_class_and_a_function_are_the_same_cost() -> None:
    function = ocp.Integral(
        lambda instant: ca.sumsqr(od.point_velocity(instant.model, "link2", instant.q, instant.qd)), 10.0, "Sway"
    )
    one, other = (swing((EFFORT, cost)).solve(progress=False) for cost in (Sway("link2", 10.0), function))
    np.testing.assert_allclose(one.q, other.q, atol=1e-5)
    assert one.cost == pytest.approx(other.cost, rel=1e-6)
    q, qd = (x[1:] + x[:-1] for x in (one.q / 2, one.qd / 2))  # the stage of the midpoint rule
    speeds = [
        od.point_velocity(one.model, "link2", ca.DM(a), ca.DM(b)).full().ravel() for a, b in zip(q, qd, strict=True)
    ]
    assert one.cost["Sway"] == pytest.approx(10.0 * np.sum(np.square(speeds)) / 20, rel=1e-9)


def test_a_residual_serves_gauss_newton() -> None:
    exact = swing((EFFORT, Sway("link2"))).solve(progress=False)
    near = swing((EFFORT, Sway("link2"))).solve(progress=False, solver="sqp")
    assert near.converged
    np.testing.assert_allclose(near.q, exact.q, atol=1e-5)


class Own(ocp.Cost):
    """An objective whose weight and integrand the test gives."""

    def __init__(self, function: Any, weight: Any = 1.0) -> None:
        self.function, self.weight = function, weight

    def integrand(self, instant: ocp.Instant) -> Any:
        return self.function(instant)


def test_wrong_classes_are_explained_when_the_phase_is_made() -> None:
    with pytest.raises(TypeError, match=r"phase 'swing': Own: weight must be a number, got 'heavy'"):
        swing(Own(abs, "heavy"))
    with pytest.raises(ValueError, match=r"phase 'swing': weight of .* must be finite, got inf"):
        swing(Own(abs, np.inf))

    class Half:  # not derived from ocp.Cost
        def integrand(self, instant: ocp.Instant) -> Any:
            return instant.q[0]

    with pytest.raises(TypeError, match=r"derive its class from the base class, class Half\(ocp.Cost\)"):
        swing(Half())
