"""Rates of torques, activation and excitation: against piecewise formulas, and in small problems of both forms."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.torque_sources.strengths import strengths
from tests.helpers import close, flat

REST = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))
RISE, FALL = 0.02, 0.07
LOWER, UPPER = 7.0, 12.0


def wheel(effort=8.0):
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1), effort=effort)
    return builder.build()


def turn(objective=(), path=(), duration=1.0, intervals=12, model=None, **options):
    phase = ocp.Phase("turn", intervals, duration, objective=objective, path=path)
    options = {"torque": "linear", "boundary": [REST]} | options
    return ocp.Problem(model or wheel(), [phase], **options)


def at(tau, rate, model=None):
    zero = ca.DM.zeros(1)
    return ocp.Instant(model or wheel(), zero, zero, tau=ca.DM([tau]), tau_rate=ca.DM([rate]))


def node_torques(phase):
    h = np.diff(phase.t)[:, None]
    return phase.tau - phase.tau_rate * h / 2, phase.tau + phase.tau_rate * h / 2


def excitation(tau, rate):
    """The cases of a pair of muscles one by one: which muscle is active, and whether it grows, decays or is
    overcome."""
    if tau < 0 or (tau == 0 and rate < 0):
        return -_of_one(-tau, -rate, LOWER, UPPER)
    return _of_one(tau, rate, UPPER, LOWER)


def _of_one(tau, rate, strength, other):
    if rate >= 0:
        return (tau + RISE * rate) / strength
    if rate >= -tau / FALL:
        return (tau + FALL * rate) / strength
    return RISE * (rate + tau / FALL) / other


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_the_rate_of_the_torque_is_known_at_all_stages(form):
    seen = ocp.Integral(lambda instant: ca.sumsqr(instant.tau_rate), 1e-4, name="rate")
    top = ocp.Peak(lambda instant: instant.tau_rate, weight=1e-2, name="top")
    solution = turn([seen, top, ocp.TorqueSquared()], form=form, intervals=6).solve(progress=False)
    phase = solution.phases[0]
    start, end = node_torques(phase)
    h = np.diff(phase.t)[:, None]
    close(start[1:], end[:-1])
    assert solution.cost["rate"] == pytest.approx(1e-4 * np.sum(((end - start) / h) ** 2 * h), rel=1e-8)
    assert solution.cost["top"] == pytest.approx(1e-2 * np.abs(phase.tau_rate).max(), rel=1e-4)


def test_a_rate_of_the_rate_is_a_difference_between_intervals():
    jerk = ocp.Rate(lambda instant: instant.tau_rate, 1e-4, name="jerk")
    solution = turn([jerk, ocp.TorqueSquared()], intervals=6).solve(progress=False)
    phase = solution.phases[0]
    h = phase.t[1] - phase.t[0]
    assert solution.cost["jerk"] == pytest.approx(1e-4 * np.sum(np.diff(phase.tau_rate, axis=0) ** 2) / h, rel=1e-8)
    with pytest.raises(ValueError, match="has one interval, and the quantity of 'jerk' one value"):
        turn([jerk], intervals=1)


@pytest.mark.parametrize("term", ["activation", "excitation", "tendon", "rate"])
def test_constant_torques_have_no_rate(term):
    path = [ocp.Activation()] if term == "activation" else []
    tendons = [ocp.Tendon("rim_joint", 100.0)]
    costs = {
        "excitation": ocp.ExcitationSquared(),
        "tendon": ocp.JointWork(tendons=tendons),
        "rate": ocp.MetabolicRate(speed=5, tendons=tendons),
    }
    with pytest.raises(
        ValueError, match=r"phase 'turn': .* needs the rate of the torques.*give Problem\(torque=\"linear"
    ):
        turn([costs[term]] if term in costs else [], path, torque="constant")
    with pytest.raises(ValueError, match="needs the rate of the torques"):
        ocp.muscle_speed(replace(at(1, 1), tau_rate=None), tendons)


@pytest.mark.slow
def test_excitations_are_those_of_a_pair_of_muscles(rng):
    cost = ocp.ExcitationSquared(strength=(-LOWER, UPPER), rise=RISE, fall=FALL)
    for tau, rate in zip(rng.uniform(-LOWER, UPPER, 60), rng.uniform(-500, 500, 60), strict=True):
        found = float(cost.residual(at(tau, rate)))
        assert found == pytest.approx(excitation(tau, rate), abs=0.02)  # rounded
    for tau, rate in ((6.0, 50.0), (6.0, -50.0), (-4.0, -50.0), (-4.0, 30.0), (3.0, 0.0)):
        assert float(cost.residual(at(tau, rate))) == pytest.approx(excitation(tau, rate), rel=0.02)
    instant = at(-3.0, 140.0)
    close(float(cost.integrand(instant)), float(cost.residual(instant)) ** 2)


@pytest.mark.slow
def test_the_inequalities_hold_if_and_only_if_excitations_exist(rng):
    term = ocp.Activation((-LOWER, UPPER), RISE, FALL)
    taus, rates = rng.uniform(-1.1 * LOWER, 1.1 * UPPER, 100), rng.uniform(-900, 900, 100)
    inside = 0
    for tau, rate in zip(taus, rates, strict=True):
        value, lower, upper = term.rows(at(tau, rate))
        value = flat(ca.evalf(value))
        holds = bool(np.all((value >= lower) & (value <= upper)))
        assert holds == (abs(excitation(tau, rate)) <= 1 and -LOWER <= tau <= UPPER)
        inside += holds
        moving = ocp.Activation(lambda instant: (LOWER, UPPER), RISE, FALL).rows(at(tau, rate))
        assert holds == bool(np.all(flat(ca.evalf(moving[0])) >= 0))
    assert 25 < inside < 75


def test_the_limits_of_the_model_are_those_of_the_term():
    model = wheel(9.0)
    value, lower, upper = ocp.Activation(rise=RISE, fall=RISE).rows(at(3.0, 50.0, model))
    close(flat(ca.evalf(value)), [(3.0 + RISE * 50) / 9])  # one row if both time constants are equal
    close([*lower, *upper], [-1, 1])
    close(np.concatenate(strengths(model, None, "x")), [9, 9])
    assert len(ocp.Activation(rise=RISE, fall=FALL).rows(at(3.0, 50.0, model))[1]) == 2
    double = pendulum(2).with_limits(effort=[5.0, np.inf])
    instant = ocp.Instant(double, None, ca.DM([0, 0]), tau=ca.DM([1, 2]), tau_rate=ca.DM([0, 0]))
    assert len(ocp.Activation(rise=RISE, fall=FALL).rows(instant)[1]) == 2  # none for the joint without a limit
    with pytest.raises(ValueError, match="no torque of the model has a limit"):
        turn(path=[ocp.Activation()], model=wheel(np.inf))
    with pytest.raises(ValueError, match="no limit of the torque of joint2: give strength="):
        ocp.ExcitationSquared().residual(instant)


def test_derivatives_are_continuous_where_torques_and_rates_change_sign():
    tau, rate = ca.SX.sym("tau"), ca.SX.sym("rate")
    model = wheel()
    zero = ca.DM.zeros(1)
    cost = ocp.ExcitationSquared(strength=(-LOWER, UPPER)).integrand(
        ocp.Instant(model, zero, zero, tau=tau, tau_rate=rate)
    )
    x = ca.vertcat(tau, rate)
    f = ca.Function("f", [x], [ca.gradient(cost, x), ca.hessian(cost, x)[0]])
    for point in ([0, 0], [0, 40], [0, -40], [2, 0], [-2, 0], [3, -50], [-3, 50]):
        g, H = f(point)
        for step in ([1e-7, 0], [-1e-7, 0], [0, 1e-6], [0, -1e-6]):
            close(flat(f(np.add(point, step))[0]), flat(g) + np.array(H) @ step, 1e-9)
        assert np.all(np.isfinite(H.full()))


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_torques_do_not_jump(form):
    """The fastest turn: a jump from 8 to -8 N m becomes a decay with `fall` and a rise with `rise`."""
    problem = turn([ocp.Duration()], [ocp.Activation(rise=0.1, fall=0.2)], (0.5, 2.0), 20, form=form)
    solution = problem.solve(progress=False)
    phase = solution.phases[0]
    start, end = node_torques(phase)
    assert solution.converged
    assert 0.73 < solution.duration < 0.76  # 0.707 s with a jump
    for tau in (start, end):
        fast = 0.1 * phase.tau_rate
        assert np.abs(np.concatenate([tau + fast, tau / 2 + fast])).max() < 8 * (1 + 1e-6)
    assert np.min(phase.tau_rate) < -8 / 0.1  # both muscles help to turn the torque
    free = turn([ocp.Duration()], duration=(0.5, 2.0), intervals=20, form=form).solve(progress=False)
    assert np.abs(free.phases[0].tau_rate).max() > 200


@pytest.mark.slow
def test_torques_continue_from_phase_to_phase():
    halves = [ocp.Phase(name, 6, 0.5, objective=[ocp.TorqueSquared()]) for name in ("first", "second")]
    limited = [
        [replace(half, path=[ocp.Activation()] if k == with_term else []) for k, half in enumerate(halves)]
        for with_term in (0, 1)
    ]
    click = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))
    options = {"torque": "linear", "boundary": [click], "transitions": [ocp.Jump(half_speed)]}
    jumps = []
    for phases in (halves, *limited):
        solution = ocp.Problem(wheel(40.0), phases, **options).solve(progress=False)
        jumps.append(float(abs(node_torques(solution.phases[0])[1][-1] - node_torques(solution.phases[1])[0][0])[0]))
    assert jumps[0] > 0.1
    assert max(jumps[1:]) < 1e-6


def test_strengths_of_the_state_hold_at_both_ends_of_intervals():
    """A strength that falls with the speed, at the speeds of the nodes."""
    falling = ocp.Activation(lambda instant: (8.0, 8.0 - 4 * instant.qd), rise=0.06)
    solution = turn([ocp.Duration()], [falling], (0.5, 3.0)).solve(progress=False)
    phase = solution.phases[0]
    for tau, qd in zip(node_torques(phase), (phase.qd[:-1], phase.qd[1:]), strict=True):
        room = 8.0 - 4 * qd - tau - 0.06 * np.maximum(phase.tau_rate, 0)
        assert np.min(room) > -1e-6
    assert np.min(8.0 - 4 * phase.qd[:-1] - node_torques(phase)[0]) < 0.5


def half_speed(end, start):
    return ca.vertcat(start.q - end.q, start.qd - 0.5 * end.qd), 0, 0


def test_ends_of_intervals_have_dependent_joints():
    """The strength reads the speed of a joint that is no variable; the torque of the free joint follows it."""
    gear = od.JointCoupling("joint2", "joint1", ratio=-2.0)
    follows = ocp.DependentJoints(gear, joints=["joint2"], of=["joint1"], function=lambda q: -2 * q)
    term = ocp.Activation(lambda instant: (50.0, 40.0 + 3 * instant.qd[1]), rise=0.06)
    swing = ocp.Phase("swing", 4, (0.2, 2.0), path=[term], objective=[ocp.Duration(), ocp.TorqueSquared(1e-5)])
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], start.qd[0], end.q[0] - 0.5, end.qd[0]), 0, 0))
    options = {"dependent": [follows], "boundary": [ends], "torque": "linear", "unactuated": ["joint2"]}
    solution = ocp.Problem(pendulum(2), [swing], **options).solve(progress=False)
    phase = solution.phases[0]
    for tau, qd in zip(node_torques(phase), (phase.qd[:-1], phase.qd[1:]), strict=True):
        drive = tau[:, 0] + 0.06 * phase.tau_rate[:, 0]
        assert np.max(drive - 40.0 - 3 * qd[:, 1]) < 1e-5
    assert solution.converged


WRONG = [
    (lambda: ocp.Activation(rise=0.1, fall=0.05), "muscles switch on faster than off: needs rise <= fall"),
    (lambda: ocp.ExcitationSquared(rise=0.1), "ExcitationSquared: muscles switch on faster"),
    (lambda: ocp.Activation(rise=0.0), "Activation rise"),
    (lambda: ocp.Activation(strength=-3.0), r"Activation strength \[N m\] .* must be positive, got -3"),
    (lambda: turn(path=[ocp.Activation(strength=(-3.0, 0.0))]), "must be positive"),
    (lambda: turn(path=[ocp.Activation([1.0, 2.0, 3.0])]), "give one number, or nv = 1"),
    (lambda: turn([ocp.ExcitationSquared(strength=[1.0, 2.0, 3.0])]), "give one number, or nv = 1"),
    (lambda: ocp.Activation(lambda i: ca.DM([1, 2, 3])).rows(at(1, 1)), "must return one strength, or nv = 1, got 3"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
def test_a_rule_that_does_not_see_alternating_torques_is_told():
    """Torques +a, -a, +a, ... at nodes have the mean zero on every interval."""
    blind = turn([ocp.TorquePower(2)])
    assert any("alternate from node to node" in line for line in blind.check())
    for seeing in (
        {"integrator": "gauss:2"},
        {"steps": 2},
        {"form": "explicit"},
        {"integrator": "trapezoid"},
        {"torque": "constant"},
    ):
        assert turn([ocp.TorquePower(2)], **seeing).check() == []
    assert turn([ocp.TorquePower(2), ocp.TorqueRateSquared(1e-6)]).check() == []
    assert turn([ocp.TorquePower(2), ocp.TorqueRateSquared(0.0)]).check() == blind.check()


def test_without_the_bounds_of_the_model_strengths_must_be_given():
    """The rows alone allow 2 / (1 - rise / fall) times the strength for a moment."""
    with pytest.raises(
        ValueError, match=r"Activation without strength= needs the bounds .*limits=False.*directed=True"
    ):
        turn(path=[ocp.Activation()], limits=False)
    strength = wheel().dofs.strength(np.inf, directed=True)
    slow = {"duration": (0.3, 2.0), "objective": [ocp.Duration(), ocp.TorqueRateSquared(1e-9)]}
    path = [ocp.Activation(strength=strength, rise=0.05, fall=0.2)]
    free = turn(path=path, limits=False, **slow).solve(progress=False)
    held = turn(path=[ocp.Activation(rise=0.05, fall=0.2)], **slow).solve(progress=False)
    assert np.max(np.abs(node_torques(free.phases[0]))) < 8.001
    assert free.duration == pytest.approx(held.duration, rel=1e-4)


@pytest.mark.slow
def test_torque_sources_are_components_of_a_problem():
    """Components hold in all phases, as if every phase named them; a changed problem does not add them again."""
    halves = [ocp.Phase(name, 6, 0.5, objective=[ocp.Duration()]) for name in ("first", "second")]
    sources = [ocp.Activation(8.0, rise=0.1, fall=0.1), ocp.TorquePower(3, 1e-2, 8.0), ocp.JointWork(smoothing=None)]
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 0.3, end.qd), 0, 0))
    whole = ocp.Problem(wheel(), halves, boundary=[ends], torque="linear", components=sources, integrator="gauss:2")
    named = [replace(half, path=sources[:1], objective=[*half.objective, *sources[1:]]) for half in halves]
    other = ocp.Problem(wheel(), named, boundary=[ends], torque="linear", integrator="gauss:2")
    found, same = (problem.solve(progress=False) for problem in (whole, other))
    assert found.converged
    assert found.objective == same.objective
    assert found.record.rows == same.record.rows
    again = replace(whole, form="implicit").phases
    assert [(len(phase.objective), len(phase.path)) for phase in again] == [(3, 1), (3, 1)]
