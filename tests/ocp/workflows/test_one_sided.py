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


def turn(limit):
    push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    model = wheel.with_limits(effort=limit) if limit else wheel
    return ocp.Problem(
        model, [push], boundary=[ocp.Boundary(ends)], parameters=[ocp.Parameter("angle", 1.0)], integrator="midpoint"
    )


@pytest.fixture(scope="module")
def kink():
    """A turn whose first and last torques have just reached their limit."""
    free = turn(None).solve(progress=False, tolerance=1e-10)
    problem = turn(float(np.abs(free.tau).max()))
    return problem, problem.solve(progress=False, tolerance=1e-10)


@pytest.mark.parametrize(("side", "sign"), [("up", 1.0), ("down", -1.0)])
def test_each_side_has_its_derivative(kink, side, sign):
    """Larger angles leave the first and last torques at their limit, smaller ones release them."""
    problem, solution = kink
    found = ocp.sensitivities(problem, solution, "angle", side=side)["angle"].phases[0]["tau"]
    h = 0.02  # the motion is linear in the angle on either side
    other = problem.solve(values={"angle": 1.0 + sign * h}, progress=False, tolerance=1e-10)
    np.testing.assert_allclose(found, (other.tau - solution.tau) * sign / h, atol=5e-3)
    ends_of = found[[0, -1], 0]
    assert np.abs(ends_of).max() < 1e-6 if side == "up" else np.abs(ends_of).min() > 5


def test_sides_agree_where_no_bound_is_near(kink):
    problem = turn(20.0)
    solution = problem.solve(progress=False)
    both, up, down = (ocp.sensitivities(problem, solution, side=side)["angle"] for side in ("both", "up", "down"))
    np.testing.assert_allclose(up.x, both.x, atol=1e-8)
    np.testing.assert_allclose(down.x, both.x, atol=1e-8)
    with pytest.raises(ValueError, match="side must be"):
        ocp.sensitivities(problem, solution, side="left")
