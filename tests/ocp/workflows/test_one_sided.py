"""Derivatives of a motion towards one side, where a bound is about to become active."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

builder = od.ModelBuilder("wheel", gravity=(0, 0, 0))
builder.add_body("rim", joint=od.Revolute("z"), inertia=np.diag([0.5, 0.5, 1.0]), mass=1.0)
wheel = builder.build()


def ends(start, end):
    return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0


def turn(torque=None, speed=None):
    path = [ocp.Path(lambda instant: instant.qd, upper=speed)] if speed else []
    push = ocp.Phase("push", 20, 1.0, path=path, objective=[ocp.TorqueSquared()])
    model = wheel.with_limits(effort=torque) if torque else wheel
    return ocp.Problem(
        model, [push], boundary=[ocp.Boundary(ends)], parameters=[ocp.Parameter("angle", 1.0)], integrator="midpoint"
    )


@pytest.fixture(scope="module", params=["torque", "speed"])
def kink(request):
    """A turn whose first and last torques, or whose speed in the middle, have just reached their limit: bounds of
    variables, and a row."""
    free = turn().solve(progress=False, tolerance=1e-10)
    problem = turn(**{request.param: float(np.abs({"torque": free.tau, "speed": free.qd}[request.param]).max())})
    return problem, problem.solve(progress=False, tolerance=1e-10)


@pytest.mark.parametrize(("side", "sign"), [("up", 1.0), ("down", -1.0)])
@pytest.mark.slow
def test_each_side_has_its_derivative(kink, side, sign):
    """Larger angles leave the torques or the speed at their limit, smaller ones release them."""
    problem, solution = kink
    found = ocp.sensitivities(problem, solution, "angle", side=side)["angle"].phases[0]["tau"]
    h = 0.02  # the motion is linear in the angle on either side
    other = problem.solve(values={"angle": 1.0 + sign * h}, progress=False, tolerance=1e-10)
    np.testing.assert_allclose(found, (other.tau - solution.tau) * sign / h, atol=5e-3)
    free = 5.714 * (1 - np.arange(20) / 9.5)  # the torques of an angle of 1 without limits
    assert (np.abs(found[:, 0] - free).max() < 0.01) == (side == "down")


def test_sides_agree_where_no_bound_is_near():
    problem = turn(20.0)
    solution = problem.solve(progress=False)
    both, up, down = (ocp.sensitivities(problem, solution, side=side)["angle"] for side in ("both", "up", "down"))
    np.testing.assert_allclose(up.x, both.x, atol=1e-8)
    np.testing.assert_allclose(down.x, both.x, atol=1e-8)
    with pytest.raises(ValueError, match="side must be"):
        ocp.sensitivities(problem, solution, side="left")
