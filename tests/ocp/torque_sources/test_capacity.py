"""Path constraint: torques between curves of angle and speed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from tests.helpers import flat


def curves() -> dict[str, tuple[od.StrengthCurve, od.StrengthCurve]]:
    """Curves in general position of the second joint of a pendulum."""
    lower = od.StrengthCurve(30.0, angle=0.3, width=1.1, speed_75=1.5, speed_50=4.0, eccentric=0.2, direction=-1)
    upper = od.StrengthCurve(50.0, angle=-0.2, width=0.9, speed_75=2.0, speed_50=4.5, eccentric=0.3, direction=1)
    return {"joint2": (lower, upper)}


def test_rows_by_hand(rng):
    (lower, upper), model = curves()["joint2"], pendulum(3)
    q, qd, tau = (rng.uniform(-1, 1, 3) for _ in range(3))
    instant = ocp.Instant(model, ca.DM(q), ca.DM(qd), tau=ca.DM(tau))
    value, low, high = ocp.TorqueCapacity(curves()).rows(instant)
    np.testing.assert_allclose(
        flat(ca.evalf(value)),
        [(tau[1] + lower(q[1], qd[1])) / 30, (tau[1] - upper(q[1], qd[1])) / 50],
        rtol=1e-12,
    )
    assert (low.tolist(), high.tolist()) == ([0, -np.inf], [np.inf, 0])
    one = ocp.TorqueCapacity({"joint2": (None, upper)}).rows(instant)
    assert (one[0].shape, one[1].tolist()) == ((1, 1), [-np.inf])
    negative, positive = ocp.TorqueCapacity(curves()).strengths(instant)
    np.testing.assert_allclose(flat(ca.evalf(positive)), [np.inf, upper(q[1], qd[1]), np.inf], rtol=1e-12)
    np.testing.assert_allclose(flat(ca.evalf(negative)), [np.inf, lower(q[1], qd[1]), np.inf], rtol=1e-12)


def test_a_floating_base_shifts_the_angles(rng):
    """Behind a quaternion q has an entry more than qd."""
    model = human()
    capacity = ocp.TorqueCapacity(od.models.human_strength_curves(73, 1.741, "male"))
    capacity.check(model, ())
    q, qd = model.neutral(), rng.uniform(-1, 1, model.nv)
    k = model.qd_names.index("knee_r")
    q[model.q_names.index("knee_r")] = 0.9
    strengths = capacity.strengths(ocp.Instant(model, ca.DM(q), ca.DM(qd), tau=ca.DM(model.nv, 1)))
    for found, curve in zip(strengths, capacity.curves["knee_r"], strict=True):
        assert float(found[k]) == pytest.approx(curve(0.9, qd[k]))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, TypeError, "must be a dict"),
        ([1], TypeError, "must be a dict"),
        ({"joint2": (1.0, None)}, TypeError, "'joint2' needs a pair"),
        ({"joint2": abs}, TypeError, "'joint2' needs a pair"),
        ({"joint2": (None, None)}, ValueError, "'joint2' has no curve in either direction: leave it out"),
        ({"joint2": curves()["joint2"][::-1]}, ValueError, "the order is"),
        ({"jiont2": curves()["joint2"]}, KeyError, "no dof 'jiont2'.*did you mean 'joint2'"),
    ],
)
def test_wrong_curves_are_refused(given, error, message):
    def problem() -> ocp.Problem:
        return ocp.Problem(pendulum(3), ocp.Phase("p", 2, 1.0, path=ocp.TorqueCapacity(given)))

    with pytest.raises(error, match=message):
        problem()


def test_joints_with_quaternions_are_refused():
    builder = od.ModelBuilder()
    builder.add_body("ball", od.Spherical(), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    with pytest.raises(ValueError, match="has no single angle"):
        ocp.TorqueCapacity({model.qd_names[0]: curves()["joint2"]}).check(model, ())


def test_the_fastest_turn_of_a_wheel_follows_the_curve():
    """Time-optimal: at every interval one of both limits holds, at the angle and the speed of that interval."""
    builder = od.ModelBuilder()
    builder.add_body("wheel", od.Revolute("z"), joint_name="joint2", mass=1, inertia=(3, 3, 5))
    goal = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd), 0, 0))
    phase = ocp.Phase("turn", 30, (0.1, 5.0), path=ocp.TorqueCapacity(curves()), objective=ocp.Duration())
    solution = ocp.Problem(builder.build(), phase, boundary=goal).solve(progress=False)
    lower, upper = curves()["joint2"]
    p = solution.phases[0]
    q, qd = (p.q[1:, 0] + p.q[:-1, 0]) / 2, (p.qd[1:, 0] + p.qd[:-1, 0]) / 2
    tau, high, low = p.tau[:, 0], upper(q, qd), -lower(q, qd)
    assert np.all(tau < high * 1.01)
    assert np.all(tau > low * 1.01)
    assert np.sum(np.minimum(abs(tau / high - 1), abs(tau / low - 1)) < 0.02) >= 28
    assert high.min() < 0.8 * 50
