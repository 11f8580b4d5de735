"""Contraction and activation: powers, equilibria, both states of compliant tendons, limits, and refused input."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od

M = od.muscles
PATH = (od.PathPoint("P1", "a", (0, 0, 0)), od.PathPoint("P2", "b", (0, 0, 0)))
CLASSES = (
    "DeGrooteFregly2016Muscle",
    "Millard2012EquilibriumMuscle",
    "Thelen2003Muscle",
    "Schutte1993Muscle_Deprecated",
)


def some(rng: np.random.Generator, kinds: tuple[str, ...] = CLASSES, curves: str = "own") -> M.HillMuscles:
    """A muscle of every class, with random numbers."""
    muscles = [
        od.Muscle(
            f"{kind}{k}", kind, PATH, max_isometric_force=rng.uniform(300, 3000),
            optimal_fiber_length=rng.uniform(0.05, 0.2), tendon_slack_length=rng.uniform(0.05, 0.3),
            pennation_angle=rng.uniform(0, 0.5), parameters={"max_contraction_velocity": rng.uniform(8, 12)},
        ) for k, kind in enumerate(kinds)
    ]  # fmt: skip
    return M.HillMuscles.of(muscles, curves=curves)


def lengths(muscles: M.HillMuscles, fibers: DM, strain: float) -> DM:
    """Path lengths at which fibers have these lengths over the optimal ones, and tendons a strain."""
    along = ca.sqrt((fibers * muscles.optimal_fiber_length) ** 2 - muscles.width**2)
    return along + muscles.tendon_slack_length * (1 + strain)


def drawn(rng, muscles, strain=0.0):
    n = muscles.size
    fibers = DM(rng.uniform(0.7, 1.4, n))
    return lengths(muscles, fibers, strain), DM(rng.uniform(-0.3, 0.3, n)), DM(rng.uniform(0.05, 1, n)), fibers


def test_rigid_tendons_pass_all_power_on(rng):
    """Tendon force times path speed is fiber force times fiber speed."""
    muscles = some(rng)
    length, speed, a, fibers = drawn(rng, muscles)
    found = M.rigid_tendon(muscles, length, speed, a)
    powers = found.tendon_force * speed, found.fiber_force * found.fiber_speed
    assert np.allclose(powers[0].full(), powers[1].full(), rtol=1e-12)
    assert np.allclose((found.fiber_length / muscles.optimal_fiber_length - fibers).full(), 0, atol=1e-12)
    assert np.allclose(found.tendon_length.full(), muscles.tendon_slack_length.full(), rtol=1e-12)
    h = 1e-7  # the fiber speed is the derivative of the fiber length along the motion of the path
    ahead, back = (M.rigid_tendon(muscles, length + s * h * speed, speed, a).fiber_length for s in (1, -1))
    assert np.allclose(((ahead - back) / (2 * h)).full(), found.fiber_speed.full(), rtol=1e-6)


def test_forces_scale_with_strength_and_damping_takes_energy(rng):
    muscles = some(rng)
    length, speed, a, _ = drawn(rng, muscles)
    one = M.rigid_tendon(muscles, length, speed, a)
    two = M.rigid_tendon(replace(muscles, max_isometric_force=2 * muscles.max_isometric_force), length, speed, a)
    assert np.allclose(two.tendon_force.full(), 2 * one.tendon_force.full(), rtol=1e-13)
    groote = some(rng, CLASSES[:1] * 3)
    damped = replace(groote, fiber_damping=DM.ones(3) * 0.1)
    length, speed, a, _ = drawn(rng, groote)
    found = [M.rigid_tendon(m, length, speed, a) for m in (groote, damped)]
    taken = (found[1].passive_force - found[0].passive_force) * found[0].fiber_speed
    v = found[0].fiber_speed / (groote.max_contraction_velocity * groote.optimal_fiber_length)
    assert np.all(taken.full() > 0)
    assert np.allclose(taken.full(), (groote.max_isometric_force * 0.1 * v * found[0].fiber_speed).full(), rtol=1e-12)


@pytest.mark.slow
def test_explicit_fiber_speeds_balance_the_forces(rng):
    muscles = some(rng)
    for strain in (0.005, 0.02, 0.035):
        length, speed, a, fibers = drawn(rng, muscles, strain)
        found = M.fiber_state(muscles, length, speed, a, fibers)
        assert float(ca.norm_inf(found.residual)) < 1e-11
        assert np.allclose((found.tendon_length / muscles.tendon_slack_length).full(), 1 + strain, rtol=1e-12)
        again = M.fiber_state(muscles, length, speed, a, fibers, found.rate)
        assert float(ca.norm_inf(again.residual)) < 1e-11
        off = M.fiber_state(muscles, length, speed, a, fibers, found.rate + 0.5)
        assert np.all(off.residual.full() < 0)  # fibers that lengthen faster pull more


def test_both_states_describe_one_motion(rng):
    """The rate of the tendon force, from the fiber length and its rate by differences."""
    muscles = some(rng, CLASSES[:1] * 4, "de_groote_fregly")
    muscles = replace(muscles, fiber_damping=DM(rng.uniform(0.001, 0.1, 4)))
    length, speed, a, fibers = drawn(rng, muscles, 0.02)
    by_length = M.fiber_state(muscles, length, speed, a, fibers)
    z = by_length.tendon_force / muscles.max_isometric_force
    by_force = M.tendon_state(muscles, length, speed, a, z)
    for field in ("fiber_length", "fiber_speed", "cos_pennation", "tendon_length", "fiber_force", "tendon_force"):
        assert np.allclose(getattr(by_force, field).full(), getattr(by_length, field).full(), rtol=1e-10), field
    h = 1e-7
    ahead, back = (
        M.fiber_state(muscles, length + s * h * speed, speed, a, fibers + s * h * by_length.rate).tendon_force
        for s in (1, -1)
    )
    rate = (ahead - back) / (2 * h) / muscles.max_isometric_force
    assert np.allclose(rate.full(), by_force.rate.full(), rtol=1e-5)
    assert float(ca.norm_inf(M.tendon_state(muscles, length, speed, a, z, by_force.rate).residual)) < 1e-12


def test_stiff_tendons_are_nearly_rigid(rng):
    muscles = some(rng, CLASSES[:1] * 4, "de_groote_fregly")
    stiff = replace(muscles, curves=M.DeGrooteFreglyCurves(tendon_strain=1e-6))
    length, speed, a, _ = drawn(rng, muscles)
    rigid = M.rigid_tendon(muscles, length, speed, a)
    fibers = M.equilibrium(stiff, length, a, speed)
    found = M.fiber_state(stiff, length, speed, a, fibers, speed * rigid.cos_pennation / muscles.optimal_fiber_length)
    assert np.allclose(found.tendon_force.full(), rigid.tendon_force.full(), rtol=1e-4)


@pytest.mark.slow
def test_equilibrium_stands_still(rng):
    muscles = some(rng, CLASSES[:3])
    length, _, a, _ = drawn(rng, muscles, 0.02)
    fibers = M.equilibrium(muscles, length, a)
    found = M.fiber_state(muscles, length, 0 * length, a, fibers)
    assert float(ca.norm_inf(found.rate)) < 1e-8
    assert float(ca.norm_inf(found.fiber_speed)) < 1e-9
    short = M.equilibrium(muscles, 0.5 * muscles.tendon_slack_length, a)  # no tendon can be tight
    assert float(ca.norm_inf(short - M.shortest_fiber(muscles))) < 1e-12


def test_muscles_of_millard_do_not_push():
    """A fast shortening and a short path: no force, where the smooth curves give a small negative one."""
    muscles = some(np.random.default_rng(3), CLASSES[:2])
    length = lengths(muscles, DM([0.8, 0.8]), 0.0)
    fast = -2.0 * muscles.max_contraction_velocity * muscles.optimal_fiber_length
    groote, millard = M.rigid_tendon(muscles, length, fast, DM([0.5, 0.5])).fiber_force.full().ravel()
    assert groote < 0
    assert millard == 0
    slack = M.rigid_tendon(muscles, 0.9 * muscles.tendon_slack_length, 0 * length, DM([0.5, 0.5]))
    assert slack.tendon_force.full()[1] == 0
    assert slack.tendon_length.full()[1] < muscles.tendon_slack_length.full()[1]
    assert np.allclose(slack.fiber_length.full()[1], 0.4441 * muscles.optimal_fiber_length.full()[1])


@pytest.mark.slow
def test_derivatives_of_forces(rng):
    muscles = some(rng)
    names = ("length", "speed", "activation", "state")
    x = [SX.sym(name, 4) for name in names]
    f = ca.Function("f", x, [M.fiber_state(muscles, *x).rate, M.rigid_tendon(muscles, *x[:3]).tendon_force])
    at = list(drawn(rng, muscles, 0.02))
    h = 1e-7
    for k in range(4):
        J = ca.Function("J", x, [ca.jacobian(value, x[k]) for value in f(*x)])(*at)
        up, down = (f(*at[:k], at[k] + s * h, *at[k + 1 :]) for s in (1, -1))
        for slope, one, other in zip(J, up, down, strict=True):
            expected = ((one - other) / (2 * h)).full().ravel()
            assert np.allclose(ca.diag(slope).full().ravel(), expected, rtol=2e-5, atol=1e-5), names[k]


def test_numbers_of_files_and_their_defaults():
    given = {"activation_time_constant": 0.02, "fiber_damping": 0.05, "minimum_activation": 0.03}
    numbers = {"max_isometric_force": 500.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2}
    muscles = [
        od.Muscle("a", "Millard2012EquilibriumMuscle", PATH, **numbers, parameters=given),
        od.Muscle("b", "Millard2012AccelerationMuscle", PATH, **numbers),
        od.Muscle("c", "Thelen2003Muscle", PATH, **numbers, parameters={"FmaxTendonStrain": 0.033}),
        od.Muscle("ligament", "Ligament", PATH),
        od.Muscle("off", "Thelen2003Muscle", PATH, **numbers, active=False),
    ]
    found = M.HillMuscles.of(muscles)
    assert found.names == ("a", "b", "c")
    assert found.activation_time.full().ravel().tolist() == [0.02, 0.010, 0.015]
    assert found.deactivation_time.full().ravel().tolist() == [0.040, 0.040, 0.050]
    assert found.fiber_damping.full().ravel().tolist() == [0.05, 0.1, 0.0]
    assert found.least_activation.full().ravel().tolist() == [0.03, 0.01, 0.01]
    assert found.curves.tendon_strain.full().ravel().tolist() == [0.049, 0.049, 0.033]
    assert M.HillMuscles.of(muscles, ["off", "a"]).names == ("off", "a")
    assert isinstance(M.HillMuscles.of(muscles, curves="own").curves, M.MixedCurves)
    assert isinstance(M.HillMuscles.of(muscles[:1], curves="own").curves, M.MillardCurves)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda m: M.HillMuscles.of(m, ["sloeus"]), KeyError, "no muscle 'sloeus': did you mean 'soleus'"),
        (lambda m: M.HillMuscles.of(m, curves="thelan"), KeyError, "thelen"),
        (lambda m: M.HillMuscles.of(m, ["band"]), od.ModelError, "'band' .Ligament. has no .*give its numbers"),
        (lambda m: M.HillMuscles.of(m, ["weak"]), od.ModelError, "max_isometric_force must be positive, got -1"),
        (lambda m: M.HillMuscles.of(m, ["across"]), od.ModelError, "below 1.5 rad, got 1.6"),
        (lambda m: M.HillMuscles.of([m[1]]), od.ModelError, "there are no muscles"),
        (lambda m: M.rigid_tendon(M.HillMuscles.of(m[:1]), [0.3, 0.3], [0.0], [0.1]), ValueError, "length must be one"),
        (lambda m: M.rigid_tendon(M.HillMuscles.of(m[:1]), "0.3", [0.0], [0.1]), TypeError, "length must be numbers"),
        (lambda m: M.activation_rate(M.HillMuscles.of(m[:1]), [0.3], [0.1], form="rough"), ValueError, "smooth"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_by_name(make, kind, message):
    numbers = {"max_isometric_force": 500.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2}
    muscles = [
        od.Muscle("soleus", "Thelen2003Muscle", PATH, **numbers),
        od.Muscle("band", "Ligament", PATH),
        od.Muscle("weak", "Thelen2003Muscle", PATH, **numbers | {"max_isometric_force": -1.0}),
        od.Muscle("across", "Thelen2003Muscle", PATH, **numbers, pennation_angle=1.6),
    ]
    with pytest.raises(kind, match=message):
        make(muscles)


def test_activation_follows_excitation(rng):
    muscles = some(rng)
    a = DM(rng.uniform(0.05, 0.95, 4))
    for form in ("smooth", "pieces", "linear"):
        assert float(ca.norm_inf(M.activation_rate(muscles, a, a, form=form))) < 1e-14
        assert np.all(M.activation_rate(muscles, a + 0.03, a, form=form).full() > 0)
        assert np.all(M.activation_rate(muscles, a - 0.03, a, form=form).full() < 0)
    e = DM(rng.uniform(0.05, 0.95, 4))
    sharp = M.activation_rate(muscles, e, a, steepness=1e6)
    assert np.allclose(sharp.full(), M.activation_rate(muscles, e, a, form="pieces").full(), rtol=1e-12)
    rise = M.activation_rate(muscles, a + 0.01, a, form="pieces") / 0.01 * muscles.activation_time
    assert np.allclose(rise.full(), 1 / (0.5 + 1.5 * a.full()), rtol=1e-10)
    fall = M.activation_rate(muscles, a - 0.01, a, form="pieces") / -0.01 * muscles.deactivation_time
    assert np.allclose(fall.full(), 0.5 + 1.5 * a.full(), rtol=1e-10)
    held = M.activation_rate(muscles, DM.zeros(4), DM.zeros(4), form="pieces")
    assert np.all(held.full() < 0)  # from the least activation, above which it is held


@pytest.mark.parametrize("form", ["linear", "pieces"])
def test_limits_of_rates_are_those_of_excitations(form, rng):
    muscles, a = some(rng), DM(rng.uniform(0.05, 0.95, 4))
    low, high = M.activation_rate_limits(muscles, a, form=form)
    assert np.allclose(low.full(), M.activation_rate(muscles, DM.zeros(4), a, form=form).full(), rtol=1e-13)
    assert np.allclose(high.full(), M.activation_rate(muscles, DM.ones(4), a, form=form).full(), rtol=1e-13)
