"""Costs of effort with fitted weights: the same numbers for bodies of every size, names of weights, a walk."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking.effort.fitted_effort import FITTED, GROUPS


def instant(model: od.Model, time: float, torque: float) -> ocp.Instant:
    """A state in general position: the same angles, rates in 1/time, torques in `torque`; ankles without torque."""
    rng = np.random.default_rng(3)
    q = np.array(model.integrate(ca.DM(model.neutral()), ca.DM(0.2 * rng.standard_normal(model.nv)))).ravel()
    qd, qdd, tau = (rng.standard_normal(model.nv) for _ in range(3))
    tau[[name.startswith("ankle") for name in model.qd_names]] = 0.0  # tendons scale with the mass alone
    q[:3] = qd[:6] = qdd[:6] = tau[:6] = 0.0
    return ocp.Instant(
        model, ca.DM(q), ca.DM(qd / time), qdd=ca.DM(qdd / time**2), tau=ca.DM(torque * tau), tau_rate=ca.DM(0 * tau)
    )


def test_bodies_of_all_sizes_pay_the_same_for_the_same_gait() -> None:
    """Angles are equal, times in proportion to sqrt(l/g), torques to m g l: every term has the same value."""
    found = []
    for mass, height in ((73.0, 1.741), (38.0, 1.42)):
        body = od.walking.person(mass, height, effort="fitted")
        time, size = np.sqrt(body.size.leg_length / 9.81), mass * 9.81 * body.size.leg_length
        at = instant(body.model, time, 0.1 * size)
        values: list[Any] = []
        for cost in body.effort():
            if isinstance(cost, ocp.ForceRateSquared):
                values.append(cost.weight * cost.rate_integrand(ca.DM([0.3, 0.7]) * mass * 9.81 / time))
            elif isinstance(cost, ocp.RateCost):
                values.append(cost.weight * cost.rate_integrand(cost.quantity(at) / time))
            else:
                values.append(cost.weight * cost.integrand(at))
        found.append(np.array([float(value) for value in values]))
    assert len(found[0]) == 6 + len(GROUPS)
    assert (found[0] > 0).all()
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_every_joint_returns_to_its_neutral_posture_in_one_group() -> None:
    body = od.walking.person(effort="fitted")
    postures = [cost for cost in body.effort() if isinstance(cost, ocp.JointAngleSquared)]
    assert (sum(np.asarray(cost.stiffness) for cost in postures)[6:] == 1).all()
    weights = {cost.weight for cost in postures}
    assert weights == {FITTED[name] for name in GROUPS}


def test_weights_by_name() -> None:
    body = od.walking.person()
    costs = od.walking.fitted_effort(body.measured, body.size.leg_length, {"work": 3.0})
    work = next(cost for cost in costs if isinstance(cost, ocp.JointWork))
    assert work.weight == pytest.approx(3.0)
    with pytest.raises(KeyError, match=r"no weight 'tisue'; there are effort, .*did you mean 'tissue'"):
        od.walking.fitted_effort(body.measured, body.size.leg_length, {"tisue": 1.0})
    with pytest.raises(ValueError, match="leg_length"):
        od.walking.fitted_effort(body.measured, 0.0)
    with pytest.raises(ValueError, match="effort must be"):
        od.walking.person(effort="best")
    assert od.walking.person().costs == ()


@pytest.mark.slow
def test_the_fitted_walk_lists_turns_and_rises_as_people_do() -> None:
    """Pelvis and center of mass, which the usual weights miss; the speed is one that the fit did not see."""
    walk = od.walking.human_walk(od.walking.person(effort="fitted"), 1.68, intervals=(2, 2, 6, 6))
    solution = walk.solve(progress=False)
    assert solution.converged
    found = solution.gait().compare("schwartz_fast")
    assert found["pelvis obliquity"].correlation > 0.8
    assert found["pelvis rotation"].correlation > 0.7
    assert found["knee flexion"].rmse < 6.5
    figures = solution.gait().figures
    assert 0.025 < figures["center_of_mass_rise_m"] < 0.06
    assert 14 < figures["double_support_percent"] < 20
