"""Natural splines: against the numbers of OpenSim's GCVSpline, their conditions, their derivatives."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from tests.helpers import close

X = (-1.0, -0.4, 0.1, 0.6, 1.2, 1.9, 2.1, 3.0)
Y = (0.1, -0.05, 0.02, 0.1, 0.3, -0.2, 0.5, 0.1)
AT = (-2, -1.3, -1, -0.7, 0.3, 1, 2.05, 2.5, 3, 3.4, 5)
OPENSIM = {
    1: (0.1, 0.1, 0.1, 0.025, 0.052, 0.233333333333, 0.325, 0.322222222222, 0.1, 0.1, 0.1),
    3: (0.478815025482, 0.213644507645, 0.1, -0.003983380733, 0.027159658719, 0.36147168574, 0.323200998776,
        0.967587082421, 0.1, -0.824557116008, -4.522785580042),
    5: (1.878876194176, 0.428381458542, 0.1, -0.05308545868, 0.000825957702, 0.411517895246, 0.302755915289,
        1.658538406976, 0.1, -4.175514816345, -48.471212712461),
    7: (7.832625996733, 1.01385273362, 0.1, -0.134400540092, -0.009837916483, 0.398268687929, 0.286155802073,
        2.300896213176, 0.1, -10.865944403435, -234.69470724704),
}  # fmt: skip
"""Values of GCVSpline of OpenSim 4.6, error_variance 0, by the degree."""


@pytest.mark.parametrize("degree", OPENSIM)
def test_natural_splines_are_those_of_opensim(degree: int) -> None:
    spline = od.NaturalSpline(X, Y, degree)
    for x, expected in zip(AT, OPENSIM[degree], strict=True):
        close(spline.at(x), expected, 1e-9)  # far beyond the points rounding grows like a cubic
        close(spline.at(DM(x)), spline.at(x), 1e-13)
    x = ca.SX.sym("x")
    orders = spline.orders(x)
    slope = ca.Function("slope", [x], [ca.jacobian(orders.value, x), ca.SX(orders.slopes[0])])
    bend = ca.Function("bend", [x], [ca.jacobian(ca.SX(orders.slopes[0]), x), ca.SX(orders.curvatures[0][0])])
    for at in AT:
        for one, other in (slope(at), bend(at)):
            close(one, other, 1e-11)
    close(spline.with_scaled_coordinates([-2.0]).at(-0.6), spline.at(0.3), 1e-10)


def test_a_natural_spline_of_a_line_is_the_line() -> None:
    for degree in (3, 5, 7):
        spline = od.NaturalSpline(X, 2 * np.array(X) - 1, degree)
        close(spline.at(7.0), 13.0, 1e-9)


FAULTS = {
    "degree must be one of 1, 3, 5, 7": lambda: od.NaturalSpline(X, Y, 4),
    "degree 7 needs 4 to 400 points, got 3": lambda: od.NaturalSpline((0, 1, 2), (0, 1, 2), 7),
    "x must rise by more than": lambda: od.NaturalSpline((0, 1, 1, 2), (0, 1, 2, 3), 3),
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FAULTS[message]()
