"""Metabolic rates: numbers of OpenSim, limits, and rounded forms."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od

M = od.muscles
PATH = (od.PathPoint("P1", "a", (0, 0, 0)), od.PathPoint("P2", "b", (0, 0, 0)))

SOLEUS = od.Muscle(
    "soleus", "DeGrooteFregly2016Muscle", PATH, max_isometric_force=5137.0, optimal_fiber_length=0.050288844245806,
    tendon_slack_length=0.25144422122903, pennation_angle=0.43633231,
    parameters={"fiber_damping": 0.1, "passive_fiber_strain_at_one_norm_force": 0.7},
)  # fmt: skip

OPENSIM = [
    ((0.300375371, -0.05586362, 0.5521598, 0.127474986),
     (1974.623666, 142.0942938, 185.9469874, 185.9469874, 147.7490732, 140.4659588)),
    ((0.253053281, 0.018783065, 0.525338609, 0.422867187),
     (6.377534701, 62.77713352, 95.49930727, 93.58234396, 47.81783972, 47.80307832)),
    ((0.328718352, 0.012531759, 0.87843398, 0.974786256),
     (3303.780147, 65.30002713, 66.27926077, 69.12942951, 84.36685429, 79.81388913)),
    ((0.286319345, 0.027355361, 0.656583058, 0.107970848),
     (2750.471223, 0.0, 37.31046385, 84.28544403, 0.0, 0.0)),
    ((0.303850121, -0.021846462, 0.403813897, 0.824077468), None),
]  # fmt: skip
"""Length, speed, activation and excitation; tendon force [N], and rates [W] by OpenSim 4.6: Uchida 2016, Umberger 2003
and 2010 (its probe with and without orderly recruitment and negative work), Bhargava 2004, exact and rounded by 10."""

MODELS = (M.Uchida2016(), M.Umberger2003(), M.Umberger2010(), M.Bhargava2004(), M.Bhargava2004(steepness=10.0))


def test_rates_beside_opensim():
    muscles = M.HillMuscles.of([SOLEUS])
    for (length, speed, a, e), expected in OPENSIM[:-1]:
        forces = M.rigid_tendon(muscles, [length], [speed], [a])
        assert abs(float(forces.tendon_force) / expected[0] - 1) < 1e-6
        for model, rate in zip(MODELS, expected[1:], strict=True):
            assert abs(float(model.rates(muscles, DM([e]), DM([a]), forces)) - rate) < 1e-5 * (1 + rate), model


def sample(rng, n=30):
    muscles = M.HillMuscles.of([replace(SOLEUS, name=f"m{k}") for k in range(n)])
    length = DM(rng.uniform(0.27, 0.33, n))
    forces = M.rigid_tendon(muscles, length, DM(rng.uniform(-0.2, 0.2, n)), DM(rng.uniform(0.02, 1, n)))
    return muscles, DM(rng.uniform(0.02, 1, n)), DM(rng.uniform(0.02, 1, n)), forces


@pytest.mark.parametrize("model", [*MODELS[:4], M.Bhargava2004(force_dependent=True), M.Margaria1968()])
def test_rounded_forms_come_near_the_exact_ones(model, rng):
    muscles, e, a, forces = sample(rng)
    exact, steep = (replace(model, steepness=b).rates(muscles, e, a, forces).full() for b in (None, 1e5))
    assert np.allclose(steep, exact, rtol=1e-6, atol=1e-3)
    rounded = replace(model, steepness=10.0).rates(muscles, e, a, forces).full()
    assert np.abs(rounded - exact).max() < 0.15 * np.abs(exact).max()


def test_least_heat_and_rates_that_are_not_negative(rng):
    muscles, e, a, forces = sample(rng)
    mass = M.muscle_mass(muscles)
    work = -forces.active_force * forces.fiber_speed
    for model in MODELS[:4]:
        heat = model.rates(muscles, e, a, forces) - work
        if not isinstance(model, M.Umberger2010):
            assert np.all((heat - mass).full() > -1e-9), model
        if isinstance(model, (M.Uchida2016, M.Bhargava2004)):
            assert np.all(model.rates(muscles, e, a, forces).full() > -1e-9), model
    assert np.any(M.Umberger2003().rates(muscles, 0.02 + 0 * e, a, forces).full() < 0)
    rest = M.rigid_tendon(muscles, 0.29 + 0 * e, 0 * e, 0 * e)
    still = M.Umberger2010().rates(muscles, 0 * e, 0 * e, rest)
    assert np.allclose(still.full(), mass.full(), rtol=1e-12)


def test_slow_and_fast_fibers(rng):
    """Fast fibers cost more; orderly recruitment takes slow ones first, so that weak efforts cost less."""
    muscles, e, a, forces = sample(rng)
    weak = 0.05 + 0 * e
    still = M.rigid_tendon(muscles, 0.29 + 0 * e, 0 * e, weak)
    for kind in (M.Umberger2003, M.Umberger2010):
        fast, slow = (kind(slow_twitch=r).rates(muscles, e, a, still).full() for r in (0.2, 0.8))
        assert np.all(fast > slow)
    plain, orderly = (kind().rates(muscles, weak, weak, still).full() for kind in (M.Umberger2003, M.Uchida2016))
    assert np.all(orderly < plain)
    per_muscle = M.Bhargava2004(slow_twitch=np.linspace(0.1, 0.9, 30)).rates(muscles, e, a, forces)
    assert np.isclose(float(per_muscle[0]), float(M.Bhargava2004(slow_twitch=0.1).rates(muscles, e, a, forces)[0]))


def test_derivatives_of_rounded_rates(rng):
    muscles = M.HillMuscles.of([SOLEUS])
    x = SX.sym("x", 4)
    for model in (M.Bhargava2004(steepness=10.0), M.Uchida2016(steepness=10.0), M.Margaria1968(steepness=0.1)):
        forces = M.rigid_tendon(muscles, x[0], x[1], x[2])
        rate = model.rates(muscles, x[3], x[2], forces)
        f = ca.Function("f", [x], [rate, ca.gradient(rate, x)])
        at, h = DM([0.3, -0.02, 0.4, 0.5]), 1e-7
        slopes = [float(f(at + h * d)[0] - f(at - h * d)[0]) / (2 * h) for d in ca.horzsplit(DM.eye(4))]
        assert np.allclose(f(at)[1].full().ravel(), slopes, rtol=1e-5, atol=1e-4), model


def test_a_body_adds_its_basal_rate():
    elbow = od.models.elbow()
    assert abs(float(M.body_rate(elbow, DM([3.0, 4.0]), basal=2.0)) - (7 + 2 * 1.5)) < 1e-12


@pytest.mark.parametrize(("make", "message"), [
    (lambda: M.Bhargava2004(slow_twitch=1.2), "between 0 and 1, got 1.2"),
    (lambda: M.Umberger2010(slow_twitch=-0.1), "must not be negative"),
    (lambda: M.Uchida2016(steepness=0.0), "steepness must be positive"),
    (lambda: M.Margaria1968(positive=0.0), "must be positive"),
])  # fmt: skip
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
