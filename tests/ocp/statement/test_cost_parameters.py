"""Scales, stiffness, strengths and exponents of ready costs as parameters: other values without a new build."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

builder = od.ModelBuilder("wheel", gravity=(0, 0, 0))
builder.add_body("rim", joint=od.Revolute("z"), inertia=np.diag([0.5, 0.5, 1.0]), mass=1.0)
model = builder.build().with_passive([od.OneSidedSpring("rim_joint", 3.0, start=0.2)])
model = model.with_limits(effort={"rim_joint": (-8.0, 8.0)})
near = ocp.Terminal(lambda start, end: (end.q - 1.2) ** 2, weight=40.0, name="near")
rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.qd), 0, 0))


def turn(*costs):
    parts = [ocp.Phase(f"part {k}", 6, 0.4, objective=[ocp.TorqueSquared(1e-3), *costs]) for k in range(2)]
    return ocp.Problem(model, parts, boundary=[rest], terminal=[near])


CASES = {
    "torque": lambda x: ocp.TorqueSquared(0.3, scale=x),
    "torque rate": lambda x: ocp.TorqueRateSquared(0.01, scale=x),
    "posture": lambda x: ocp.JointAngleSquared(0.3, stiffness=x),
    "tissue": lambda x: ocp.PassiveTorqueSquared(0.3, scale=x),
    "strength": lambda x: ocp.TorquePower(2, weight=3.0, strength=x),
    "exponent": lambda x: ocp.TorquePower(x, weight=3.0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_other_values_need_no_new_build(case):
    """A parameter's value gives the motion of the problem with this number, and its derivative is that of the
    numbers' motions; exponents that are not even are rounded at zero, in the number's problem as well."""
    cost = CASES[case]
    shared = ocp.Parameter("x", 3.0)
    problem = turn(cost(shared))
    found = problem.solve(values={"x": 2.5}, progress=False, tolerance=1e-10)
    direct = turn(cost(2.5)).solve(progress=False, tolerance=1e-10)
    assert found.objective == pytest.approx(direct.objective, rel=1e-8)
    np.testing.assert_allclose(found.q, direct.q, atol=1e-6)
    slope = ocp.sensitivities(problem, found, "x")["x"].objective
    h = 1e-4
    ends = [problem.solve(values={"x": 2.5 + k * h}, start=found, progress=False, tolerance=1e-10) for k in (1, -1)]
    assert slope == pytest.approx((ends[0].objective - ends[1].objective) / (2 * h), rel=1e-3)
    assert abs(slope) > 1e-3


def test_one_value_per_dof_and_numbers_of_another_size():
    each = ocp.Parameter("x", np.array([3.0]))
    assert turn(ocp.TorqueRateSquared(scale=each)).solve(progress=False).converged
    with pytest.raises(ValueError, match="nv = 1"):
        turn(ocp.TorquePower(strength=ocp.Parameter("x", [3.0, 4.0])))


def test_refused_parameters():
    with pytest.raises(ValueError, match=r"JointAngleSquared stiffness: Parameter 'stiff' is free between its bounds"):
        ocp.JointAngleSquared(stiffness=ocp.Parameter("stiff", bounds=(1.0, 2.0)))
    with pytest.raises(ValueError, match="scale must be positive"):
        ocp.TorqueRateSquared(scale=ocp.Parameter("size", -1.0))
    with pytest.raises(TypeError, match="TrackJoints scale must be a number"):
        ocp.TrackJoints(ocp.recording([0, 1], [[0.0], [1.0]]), scale=ocp.Parameter("size", 1.0))


@pytest.mark.parametrize(("case", "value", "told"), [
    ("torque rate", 0.0, "TorqueRateSquared scale must be positive"),
    ("posture", -1.0, "JointAngleSquared stiffness must be finite and not negative"),
    ("strength", -2.0, "TorquePower strength"),
    ("exponent", 1.5, "TorquePower power must be at least 2"),
])  # fmt: skip
def test_values_that_a_cost_cannot_have_are_told_before_the_solve(case, value, told):
    problem = turn(CASES[case](ocp.Parameter("x", 3.0)))
    with pytest.raises(ValueError, match=told):
        problem.solve(values={"x": value}, progress=False)


@pytest.mark.slow
def test_a_fit_finds_the_strength_and_applies_it():
    """From the motion of a planted strength; the problem with the value that was found has this motion."""
    problem = turn(ocp.TorquePower(2, weight=3.0, strength=ocp.Parameter("strength", 4.0)))
    planted = problem.solve(values={"strength": 2.5}, progress=False)
    data = ocp.Measured("angles", lambda solution: solution.q[:, 0], planted.q[:, 0], spread=1e-3)
    found = ocp.fit({"turn": problem}, {"turn": [data]}, ["strength"], progress=False)
    assert found["strength"] == pytest.approx(2.5, rel=1e-4)
    np.testing.assert_allclose(found.applied(problem).solve(progress=False).q, planted.q, atol=1e-5)
