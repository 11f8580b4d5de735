"""The cost after Falisse et al.: every term against its formula, own weights, muscles alone; refused input."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

BODY = od.models.planar_human()
PART = ocp.Muscles(activation="limits")
ARM = (od.PathPoint("P1", "pelvis", (0.0, 0.0, 0.0)), od.PathPoint("P2", "thigh_l", (0.05, 0.0, -0.2)))
NAMES = [
    "MuscleMetabolicRate", "ChannelPower activation", "AccelerationSquared", "TorqueSquared", "PassiveTorqueSquared",
    "ChannelRateSquared activation",
]  # fmt: skip


def instant(rng: np.random.Generator) -> ocp.Instant:
    q, qd, qdd = (ca.DM(rng.uniform(-0.3, 0.3, BODY.nv) * scale) for scale in (1, 3, 50))
    a, rates = ca.DM(rng.uniform(0.1, 0.6, 18)), ca.DM(rng.uniform(-5, 5, 18))
    tau = ca.DM([0, 0, 0, 20.0, 0, 0, 0, 0, 0, 0])
    return ocp.Instant(BODY, q, qd, qdd=qdd, tau=tau, channels={"activation": a}, rates={"activation": rates})


def mean_square(x: ca.DM) -> float:
    return float(ca.sumsqr(x)) / x.numel()


@pytest.mark.slow
def test_terms_are_those_of_the_paper(rng):
    costs, now = od.walking.falisse_effort(BODY, PART), instant(rng)
    assert [cost.name for cost in costs] == NAMES
    found = {cost.name: float(cost.weight * cost.integrand(now)) for cost in costs}
    a, forces = now["activation"], PART.contraction(now)
    rates = od.muscles.Bhargava2004(steepness=10.0).rates(PART.hill(BODY), a, a, forces)
    scales = [61, 17, 20, 53, 201, 442, 430, 201, 442, 430]  # root, lumbar, then hip, knee and ankle of both legs
    at_rest = ca.sparsify(od.passive_force(BODY, now.q, ca.DM(BODY.nv, 1)))
    expected = (
        500 / BODY.mass * mean_square(rates),
        2000 * mean_square(a),
        5e4 * mean_square(now.qdd / ca.DM(scales)),
        1e6 * (20 / 150) ** 2,  # the lumbar joint has the only motor
        1000 * float(ca.sumsqr(at_rest)) / at_rest.nnz(),
        1e-3 * mean_square(now.rates["activation"] / 100),
    )
    assert found == pytest.approx(dict(zip(NAMES, expected, strict=True)), rel=1e-9)
    squares = costs[0].residual(now)
    assert float(ca.sumsqr(squares)) == pytest.approx(float(costs[0].integrand(now)))


def test_accelerations_of_arms_cost_if_asked():
    """The mean is over their dofs, too."""
    body = od.models.human(root=od.FloatingBase()).with_muscles(BODY.muscles[:0], replace_all=True)
    body = body.with_muscles([od.Muscle("flexor", "DeGrooteFregly2016Muscle", ARM, max_isometric_force=500.0,
                                        optimal_fiber_length=0.15, tendon_slack_length=0.1)])  # fmt: skip
    free, held = (od.walking.falisse_effort(body, arms=arms)[2] for arms in (False, True))
    counted = [np.isfinite(cost.scale) for cost in (free, held)]
    assert [int(x.sum()) for x in counted] == [21, 29]
    assert np.all(np.asarray(held.scale)[~counted[0]] == 84.0)
    assert held.weight * 29 == pytest.approx(free.weight * 21)


def test_weights_and_muscles_of_your_own():
    own = od.walking.falisse_effort(BODY, ocp.Muscles(["soleus_r", "soleus_l"]), weights={"activation": 6.0})
    assert [cost.name for cost in own] == NAMES[:-1]  # excitations bound the rates
    assert own[1].weight == 3.0
    with pytest.raises(KeyError, match="did you mean 'activation'"):
        od.walking.falisse_effort(BODY, weights={"activations": 1.0})
    with pytest.raises(od.ModelError, match="has no muscles"):
        od.walking.falisse_effort(BODY.with_muscles([], replace_all=True))


def test_no_cost_of_the_motion_by_motors_is_kept_if_asked_for():
    elbow = od.models.elbow()
    swing = ocp.Problem(elbow, [ocp.Phase("swing", 4, 0.5, objective=[ocp.TorqueSquared()])])
    costs = [ocp.ChannelPower("activation")]
    for alone, names in ((True, []), (False, ["TorqueSquared"])):
        made = od.walking.muscle_driven(swing, costs=costs, replace_costs=alone)
        assert [cost.name for cost in made.phases[0].objective] == [*names, "ChannelPower activation"]


def test_scales_of_accelerations():
    cost = ocp.AccelerationSquared(scale=[np.inf] * 3 + [2.0] * 7)
    qdd = ca.DM([9, 9, 9, 4, *[0] * 6])
    now = ocp.Instant(BODY, ca.DM(BODY.neutral()), ca.DM.zeros(10), qdd=qdd)
    assert float(cost.integrand(now)) == 4.0
    assert float(ocp.AccelerationSquared(scale=[np.inf] * 2 + [3.0] * 8, base=True).integrand(now)) == 9 + 16 / 9
    for scale, message in ((0.0, "must be positive"), ([1.0, 2.0], "one per dof")):
        with pytest.raises(ValueError, match=message):
            ocp.Problem(BODY, [ocp.Phase("p", 2, 0.1, objective=[ocp.AccelerationSquared(scale=scale)])])
    with pytest.raises(ValueError, match="power must be 1 or 2"):
        ocp.MuscleMetabolicRate(PART, power=3)
