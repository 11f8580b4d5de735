"""Muscles as a component: a forearm is lifted; solutions beside integrations of their own, and refused input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

ELBOW = od.models.elbow()
M = od.muscles


def ends(start, end):
    return ca.vertcat(start.q - 0.3, start.qd, end.q - 1.4, end.qd, start["activation"] - 0.05), 0, 0


def lift(muscles: ocp.Muscles, *more, intervals: int = 20, rows=(), **options) -> ocp.Problem:
    what = "activation" if muscles.activation == "limits" else "excitation"
    phase = ocp.Phase("lift", intervals, 0.5, objective=[ocp.ChannelPower(what), *more])
    boundary = [ocp.Boundary(ends), *rows]
    return ocp.Problem(ELBOW, [phase], boundary=boundary, unactuated=["elbow"], components=[muscles], **options)


@cache
def lifted(tendon: str = "rigid", activation: str = "smooth") -> ocp.Solution:
    """A solved lift, shared by the tests; compliant tendons start in equilibrium."""
    muscles = ocp.Muscles(tendon=tendon, activation=activation)
    rows = [ocp.Boundary(lambda start, end: (muscles.balance(start), 0, 0), "balance")] if tendon != "rigid" else []
    return lift(muscles, rows=rows, integrator="gauss:2").solve(progress=False)


def integrated(solution: ocp.Solution, kind: str, state: np.ndarray) -> np.ndarray:
    """The end of a motion from its start and its excitations, by an integrator with error control and the parts of the
    library that know no optimal control."""
    hill = M.HillMuscles.of(ELBOW)
    x, e = ca.SX.sym("x", state.size), ca.SX.sym("e", 2)
    q, qd, a, z = x[0], x[1], x[2:4], x[4:]
    length, speed = od.muscle_lengths(ELBOW, q), od.muscle_speeds(ELBOW, q, qd)
    states = {"force": M.tendon_state, "length": M.fiber_state}
    found = M.rigid_tendon(hill, length, speed, a) if kind == "rigid" else states[kind](hill, length, speed, a, z)
    qdd = od.forward_dynamics(ELBOW, q, qd, od.muscle_torques(ELBOW, q, found.tendon_force))
    rates = [qd, qdd, M.activation_rate(hill, e, a), *([] if kind == "rigid" else [found.rate])]
    problem, phase = {"x": x, "p": e, "ode": ca.vertcat(*rates)}, solution.phases[0]
    step = ca.integrator("step", "cvodes", problem, 0, float(phase.t[1] - phase.t[0]), {"abstol": 1e-9, "reltol": 1e-9})
    for excitation in phase["excitation"]:
        state = step(x0=state, p=excitation)["xf"].full().ravel()
    return state


@pytest.mark.parametrize("tendon", ["rigid", "force", "length"])
@pytest.mark.slow
def test_the_motion_is_what_the_excitations_make(tendon):
    solution = lifted(tendon)
    assert solution.status == "Solve_Succeeded"
    names = {"force": ["tendon_force"], "length": ["fiber_length"], "rigid": []}[tendon]
    start = [solution.q[0], solution.qd[0], *(solution[name][0] for name in ("activation", *names))]
    end = integrated(solution, tendon, np.concatenate(start))
    expected = np.concatenate([solution.q[-1], solution.qd[-1], solution["activation"][-1]])
    assert np.allclose(end[:4], expected, rtol=0, atol=5e-3)
    low, high = solution["excitation"].min(), solution["excitation"].max()
    assert 0.01 - 1e-7 < low < high < 1


def test_linear_excitations_are_continuous():
    """Their motion is that of excitations between nodes, and the smooth activation has the steepness that is asked."""
    muscles = ocp.Muscles(excitations="linear", steepness=3.0)
    solution = lift(muscles, integrator="gauss:2").solve(progress=False)
    assert solution["excitation"].shape == solution["activation"].shape == (21, 2)
    a, e, t = solution["activation"], solution["excitation"], solution.phases[0].t
    x = ca.SX.sym("x", 2), ca.SX.sym("e", 2)
    rate = ca.Function("rate", list(x), [M.activation_rate(M.HillMuscles.of(ELBOW), x[1], x[0], steepness=3.0)])
    steps = 50  # of the explicit midpoint rule in the first interval
    h, state = t[1] / steps, DM(a[0])
    for k in range(steps):
        u = [DM(e[0] + (e[1] - e[0]) * (k + s) / steps) for s in (0.0, 0.5)]
        state = state + h * rate(state + h / 2 * rate(state, u[0]), u[1])
    assert np.abs(state.full().ravel() - a[1]).max() < 2e-3
    assert np.abs(a[1] - a[0]).max() > 0.02


def test_both_states_of_tendons_tell_one_motion():
    force, length = lifted("force"), lifted("length")
    costs = [sum(solution.cost.values()) for solution in (force, length)]
    assert abs(costs[0] / costs[1] - 1) < 0.03
    assert np.abs(force.q - length.q).max() < 0.04
    hill = M.HillMuscles.of(ELBOW)
    at = [DM(x[5]) for x in (force.q, force.qd, force["activation"], force["tendon_force"])]
    state = od.muscle_lengths(ELBOW, at[0]), od.muscle_speeds(ELBOW, *at[:2]), at[2]
    fibers = M.tendon_state(hill, *state, at[3]).fiber_length / hill.optimal_fiber_length
    assert np.abs(fibers.full().ravel() - length["fiber_length"][5]).max() < 0.02


def test_tendons_start_in_equilibrium():
    for tendon, channel in (("force", "tendon_force"), ("length", "fiber_length")):
        solution = lifted(tendon)
        hill = M.HillMuscles.of(ELBOW)
        length = od.muscle_lengths(ELBOW, solution.q[0])
        fibers = M.equilibrium(hill, length, DM(solution["activation"][0]))
        force = M.fiber_state(
            hill, length, DM.zeros(2), DM(solution["activation"][0]), fibers, DM.zeros(2)
        ).tendon_force
        expected = fibers if tendon == "length" else force / hill.max_isometric_force
        assert np.abs(expected.full().ravel() - solution[channel][0]).max() < 1e-6


def test_limits_of_rates_stand_for_excitations():
    """The rates of a motion without excitations are those that excitations between 0 and 1 give."""
    solution = lifted("rigid", "limits")
    assert "excitation" not in [c.name for c in ocp.Muscles(activation="limits").channels(ELBOW)]
    a, t = solution["activation"], solution.phases[0].t
    rate = np.diff(a, axis=0) / np.diff(t)[:, None]
    rise, fall = 0.015, 0.060
    assert np.all(rate <= (1 - a[1:]) / rise + 1e-5)
    assert np.all(rate >= -a[:-1] / fall - 1e-5)
    assert abs(solution.q[-1, 0] - 1.4) < 1e-6


@pytest.mark.slow
def test_weak_muscles_need_more():
    """A parameter scales the strength of one muscle; half of it costs more than three times as much."""
    muscles = ocp.Muscles(activation="limits", strengths={"biceps": "strength"})
    problem = lift(muscles, parameters=[ocp.Parameter("strength", 1.0)])
    strong = problem.solve(progress=False)
    weak = lift(muscles, parameters=[ocp.Parameter("strength", 0.5)]).solve(progress=False)
    assert np.isclose(sum(strong.cost.values()), sum(lift(
        ocp.Muscles(activation="limits")).solve(progress=False).cost.values()), rtol=1e-6)  # fmt: skip
    assert 3 < sum(weak.cost.values()) / sum(strong.cost.values()) < 6


def test_activations_follow_measured_ones():
    """The measured triceps co-contracts, the other muscle is free; the order of the names does not matter."""
    muscles = ocp.Muscles(activation="limits")
    emg = ocp.TrackActivations(muscles, ["triceps"], lambda s: [0.3 * s * (1 - s)], weight=1e4)
    found = lift(muscles, emg).solve(progress=False)
    s = np.linspace(0, 1, 21)
    assert np.abs(found["activation"][3:-1, 1] - 0.3 * (s * (1 - s))[3:-1]).max() < 0.01  # the start is given
    assert found["activation"][:, 0].max() > 0.15


@pytest.mark.slow
def test_metabolic_energy_is_the_integral_of_the_rates():
    muscles = ocp.Muscles(activation="limits")
    energy = ocp.MuscleMetabolicRate(muscles, M.Umberger2010(steepness=10.0), weight=1e-2)
    solution = lift(muscles, energy).solve(progress=False)
    assert solution.status == "Solve_Succeeded"
    t, rates = solution.phases[0].t, []
    for q, qd, a in zip(solution.q, solution.qd, solution["activation"], strict=True):
        instant = ocp.Instant(ELBOW, DM(q), DM(qd), channels={"activation": DM(a)})
        rates.append(float(ca.sum1(energy.rates(instant))))
    expected = float(np.sum(np.diff(t) * (np.array(rates[1:]) + rates[:-1]) / 2))
    assert abs(solution.cost["MuscleMetabolicRate"] / 1e-2 / expected - 1) < 0.03


def test_forces_of_some_muscles_at_an_instant():
    q, qd, a = DM([0.8]), DM([1.0]), DM([0.4])
    for part in (ocp.Muscles(["biceps"]), ocp.Muscles(["biceps"], curves="own")):
        instant = ocp.Instant(ELBOW, q, qd, channels={"activation": a})
        hill = M.HillMuscles.of(ELBOW, ["biceps"])
        forces = M.rigid_tendon(hill, od.muscle_lengths(ELBOW, q)[0], od.muscle_speeds(ELBOW, q, qd)[0], a)
        expected = float(od.moment_arms(ELBOW, q)[0, 0] * forces.tendon_force)
        assert abs(float(part.force(instant)) - expected) < 1e-12
        assert abs(float(part.contraction(instant).tendon_force - forces.tendon_force)) < 1e-9


def test_mirror_images_by_names():
    path = ELBOW.muscles[0].path
    numbers = {"max_isometric_force": 500.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2}
    names = ("soleus_r", "soleus_l", "neck", "right_psoas", "left_psoas", "lone_r")
    body = ELBOW.with_muscles(
        [od.Muscle(name, "Thelen2003Muscle", path, **numbers) for name in names], replace_all=True
    )
    images = ocp.Muscles().channels(body)[0].mirror
    assert {name: image for name, image, sign in images} == {
        "soleus_r": "soleus_l", "soleus_l": "soleus_r", "neck": "neck", "right_psoas": "left_psoas",
        "left_psoas": "right_psoas", "lone_r": "lone_r"}  # fmt: skip
    assert ocp.Muscles().channels(ELBOW)[0].mirror is None


def test_powers_of_channels():
    a = DM([0.5, -0.1, 0.0])
    instant = ocp.Instant(ELBOW, DM([0.0]), DM([0.0]), channels={"activation": a})
    assert abs(float(ocp.ChannelPower("activation", 10).integrand(instant)) - (0.5**10 + 0.1**10)) < 1e-15
    assert float(ca.sumsqr(ocp.ChannelPower("activation", 10).residual(instant))) == pytest.approx(0.5**10 + 0.1**10)
    assert abs(float(ocp.ChannelPower("activation", 3).integrand(instant)) - 0.126) < 2e-6
    assert abs(float(ocp.ChannelPower("activation", 1).integrand(instant)) - 0.6) < 4e-3
    assert ocp.ChannelPower("activation", 3).residual(instant) is None


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: ocp.Muscles("biceps"), TypeError, "must be a sequence of names"),
        (lambda: ocp.Muscles([]), ValueError, "different names, one or more"),
        (lambda: ocp.Muscles(["biceps", "biceps"]), ValueError, "different names, one or more"),
        (lambda: od.Muscle("m", "PathSpring", ELBOW.muscles[0].path, parameters=3), TypeError, "parameters must be a"),
        (lambda: od.Muscle("m", "PathSpring", ELBOW.muscles[0].path, functions=3), TypeError, "functions must be a"),
        (lambda: ocp.Muscles(tendon="elastic"), ValueError, "rigid, force, length"),
        (lambda: ocp.Muscles(activation="none"), ValueError, "smooth, limits"),
        (lambda: ocp.Muscles(excitations="smooth"), ValueError, "constant, linear"),
        (lambda: ocp.Muscles(steepness=0.0), ValueError, "steepness"),
        (lambda: ocp.Muscles(tendon="force", curves="millard"), ValueError, 'take tendon="length"'),
        (lambda: ocp.Muscles(range=(0.0, 1.0)), ValueError, "0 < lower < upper <= 1"),
        (lambda: ocp.Muscles(range=0.1), ValueError, "must be a pair"),
        (lambda: ocp.Muscles(strengths={"biceps": 0.5}), TypeError, "'biceps'"),
        (lambda: ocp.Muscles(strengths="biceps"), TypeError, "must be a dict"),
        (lambda: ocp.ChannelPower("activation", 0.5), ValueError, "at least 1"),
        (lambda: ocp.MuscleMetabolicRate("biceps"), TypeError, "needs a Muscles"),
        (
            lambda: lift(ocp.Muscles(), ocp.MuscleMetabolicRate(ocp.Muscles(["triceps", "biceps"]))),
            ValueError,
            "give one object to both",
        ),
        (lambda: ocp.TrackActivations(ocp.Muscles, ["biceps"], lambda s: [0.1]), TypeError, "needs a Muscles"),
        (lambda: ocp.TrackActivations(ocp.Muscles(), "biceps", lambda s: [0.1]), TypeError, "sequence of names"),
        (lambda: ocp.TrackActivations(ocp.Muscles(), ["biceps"], 0.1), TypeError, "ocp.recording"),
        (
            lambda: lift(*(ocp.Muscles(), ocp.TrackActivations(ocp.Muscles(), ["bicep"], lambda s: [0.1]))),
            KeyError,
            "did you mean 'biceps'",
        ),
        (lambda: lift(ocp.Muscles(["bicep"])), KeyError, "did you mean 'biceps'"),
        (lambda: lift(ocp.Muscles(curves="thelan")), KeyError, "thelen"),
        (lambda: lift(ocp.Muscles(strengths={"bicep": "s"})), KeyError, "biceps"),
        (lambda: lift(ocp.Muscles(strengths={"biceps": "s"})), ValueError, "no parameter 's'"),
        (lambda: ocp.Muscles().check(od.models.pendulum()), od.ModelError, "has no muscles"),
    ],
)
def test_what_does_not_fit_is_told_by_name(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_a_muscle_that_crosses_no_joint_moves_nothing():
    """As those at a joint that is locked."""
    biceps = ELBOW.muscles[0]
    end = biceps.path[-1]
    path = (end, replace(end, name="near", point=(0.012, 0.0, -0.2)))
    idle = replace(biceps, name="idle", path=path)
    model = ELBOW.with_muscles([idle])
    pulls = [ocp.Muscles().local_forces(body) for body in (ELBOW, model)]
    assert [pull.dofs for pull in pulls[1]] == [(0,), (0,)]
    assert [pull.channels[0][1] for pull in pulls[1]] == [0, 1]
    for own, other in zip(*pulls, strict=True):
        assert np.array(own.f(0.7, 0.3, 0.4)) == pytest.approx(np.array(other.f(0.7, 0.3, 0.4)))
    instant = ocp.Instant(model, DM([0.8]), DM([0.0]), channels={"activation": DM([0.1, 0.3, 0.9])})
    without = ocp.Instant(ELBOW, DM([0.8]), DM([0.0]), channels={"activation": DM([0.1, 0.3])})
    forces = [float(DM(ocp.Muscles().force(one))) for one in (instant, without)]
    assert forces[0] == pytest.approx(forces[1])


def test_rows_of_limits_vanish_at_extreme_excitations():
    part, a, hill = ocp.Muscles(activation="limits"), DM([0.3, 0.6]), M.HillMuscles.of(ELBOW)
    for e, rows in ((DM.zeros(2), slice(0, 2)), (DM.ones(2), slice(2, 4))):
        rate = M.activation_rate(hill, e, a, form="linear")
        instant = ocp.Instant(ELBOW, DM([0.8]), DM([0.0]), channels={"activation": a}, rates={"activation": rate})
        values = DM(part.rows(instant)[0]).full().ravel()
        assert np.abs(values[rows]).max() < 1e-14
        assert values.min() > -1e-14
