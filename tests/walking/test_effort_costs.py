"""Costs of effort: the same numbers for bodies of every size, names of weights, a walk."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking.effort.effort_costs import EXPONENTS, WEIGHTS


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


@pytest.mark.slow
def test_bodies_of_all_sizes_pay_the_same_for_the_same_gait() -> None:
    """Angles are equal, times in proportion to sqrt(l/g), torques to m g l: every term has the same value."""
    found = []
    for mass, height in ((73.0, 1.741), (38.0, 1.42)):
        body = od.walking.person(mass, height)
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
    assert len(found[0]) == len(WEIGHTS)
    assert (found[0] > 0).all()
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_every_joint_returns_to_its_neutral_posture_in_one_group() -> None:
    body = od.walking.person()
    postures = [cost for cost in body.effort() if isinstance(cost, ocp.JointAngleSquared)]
    assert (sum(np.asarray(cost.stiffness) for cost in postures)[6:] == 1).all()
    assert [cost.weight for cost in postures] == list(WEIGHTS.values())[6:]


def test_weights_by_name() -> None:
    body = od.walking.person()
    costs = od.walking.human_effort(body, {"work": 3.0})
    work = next(cost for cost in costs if isinstance(cost, ocp.JointWork))
    assert work.weight == pytest.approx(3.0)
    with pytest.raises(KeyError, match=r"no weight 'tisue'; there are effort, .*did you mean 'tissue'"):
        od.walking.human_effort(body, {"tisue": 1.0})
    with pytest.raises(KeyError, match=r"no weight 'angle'.*did you mean 'ankle'"):
        od.walking.human_effort(body, exponents={"angle": 1.0})


def test_weights_follow_the_dimensionless_speed() -> None:
    """The reference grows with the square root of the leg; motions without weights of their own follow no speed."""
    small, large = (od.walking.person(60.0, height) for height in (1.45, 1.85))
    growth = np.sqrt(large.size.leg_length / small.size.leg_length)
    pairs = zip(small.effort(), large.effort(), strict=True)
    found = [(one.by_speed, other.by_speed) for one, other in pairs if one.by_speed]
    assert [exponent for (_, exponent), _ in found] == list(EXPONENTS.values())
    for (one, exponent), (other, same) in found:
        assert other == pytest.approx(growth * one)
        assert exponent == same
    assert not any(cost.by_speed for cost in od.walking.motion_effort(small))
    assert not any(cost.by_speed for cost in od.walking.running_effort(small))


@pytest.mark.slow
def test_costs_do_not_depend_on_names_of_coordinates() -> None:
    """A body as files have it: groups and tendons are found by the words in names of joints and by their axes."""
    loaded = od.walking.loaded_person(od.models.human(80.0, 1.8))
    for one, other in zip(loaded.effort(), od.walking.person(80.0, 1.8).effort(), strict=True):
        assert type(one) is type(other)
        assert one.weight == pytest.approx(other.weight)
    assert [tendon.dof for tendon in od.walking.achilles_tendons(loaded.model)] == ["ankle_l", "ankle_r"]
    weak = od.walking.person(prosthesis="ankle_r", locked="knee_l")
    assert [tendon.dof for tendon in od.walking.achilles_tendons(weak.measured)] == ["ankle_l"]


@pytest.mark.slow
def test_walks_list_turn_and_rise_as_people_do() -> None:
    """Pelvis and center of mass; the speed is one that the fit did not see."""
    walk = od.walking.human_walk(od.walking.person(), 1.68, intervals=(2, 2, 6, 6))
    solution = walk.solve(progress=False)
    assert solution.converged
    found = solution.gait().compare("schwartz_fast")
    assert found["pelvis obliquity"].correlation > 0.8
    assert found["pelvis rotation"].correlation > 0.7
    assert found["knee flexion"].rmse < 6.5
    figures = solution.gait().figures
    assert 0.025 < figures["center_of_mass_rise_m"] < 0.06
    assert 14 < figures["double_support_percent"] < 20
