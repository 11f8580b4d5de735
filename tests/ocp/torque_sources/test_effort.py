"""Costs of effort and metabolic rates: against straightforward NumPy, and in small problems."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.torque_sources.metabolic import force, heat
from tests.helpers import close, flat

REST = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))


def number(x):
    return float(ca.evalf(ca.SX(x)))


def instant(tau=(10.0, -6.0), qd=(2.0, 3.0), rate=(40.0, -100.0)):
    model = pendulum(2).with_limits(effort=[20.0, 15.0], velocity=[10.0, 12.0])
    return ocp.Instant(model, ca.DM([0.1, 0.2]), ca.DM(qd), tau=ca.DM(tau), tau_rate=ca.DM(rate))


def turn(*objective, duration=1.0, intervals=12, path=(), **options):
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=2, inertia=(0.5, 0.5, 1), effort=20.0, velocity=9.0)
    phase = ocp.Phase("turn", intervals, duration, objective=objective, path=path)
    return ocp.Problem(builder.build(), [phase], boundary=[REST], **options)


def floating():
    builder = od.ModelBuilder("kicker")
    builder.add_body("trunk", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    builder.add_body("leg", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), effort=9.0, velocity=8.0)
    return builder.build()


@pytest.mark.parametrize("power", [2, 2.5, 3, 4])
def test_torques_to_a_power(power):
    x = instant()
    term = ocp.TorquePower(power, strength=[(-20.0, 25.0), (-12.0, 30.0)])
    assert number(term.integrand(x)) == pytest.approx((10 / 25) ** power + (6 / 12) ** power, rel=2e-3)
    assert number(ocp.TorquePower(power).integrand(x)) == pytest.approx(0.5**power + 0.4**power, rel=1e-4)
    offset = 0 if power in (2, 4) else 2 * 1e-3**power
    close(number(ca.sumsqr(term.residual(x))), number(term.integrand(x)) + offset)
    assert number(term.integrand(instant(tau=(0.0, 0.0)))) == pytest.approx(0, abs=1e-12)
    curve = ocp.TorquePower(power, strength=lambda at: (10 + at.qd, 30 - 2 * at.qd))
    assert number(curve.integrand(x)) == pytest.approx((10 / 26) ** power + (6 / 13) ** power, rel=2e-3)


FALLING = ocp.TorqueCapacity(
    {name: (lambda q, qd: 10 + qd, lambda q, qd: 30 - 2 * qd) for name in ("joint1", "joint2")}
)


def test_strengths_of_an_object_and_of_motors_of_one_direction():
    x = instant()
    by_function = ocp.TorquePower(2, strength=lambda at: (10 + at.qd, 30 - 2 * at.qd)).integrand(x)
    close(number(ocp.TorquePower(2, strength=FALLING).integrand(x)), number(by_function))
    close(number(ocp.TorquePower(2, strength=lambda at: 20.0).integrand(x)), (10 / 20) ** 2 + (6 / 20) ** 2)
    with pytest.raises(ValueError, match="no limit of the torque of joint1, joint2"):
        ocp.TorquePower(strength=lambda at: (np.inf, np.inf)).integrand(x)


def test_motors_without_strength_are_left_out():
    x = instant()
    x.model = x.model.with_limits(effort=[0.0, 12.0])
    close(number(ocp.TorquePower(2).integrand(x)), (6 / 12) ** 2)
    x = instant((-10.0, 6.0), (1.0, 1.0), (-40.0, 100.0))
    x.model = x.model.with_limits(effort=[(-20.0, 0.0), (0.0, 12.0)])  # the other direction stands in for the division
    close(number(ocp.TorquePower(2).integrand(x)), (10 / 20) ** 2 + (6 / 12) ** 2)
    value, lower, upper = ocp.Activation(rise=0.06).rows(x)
    close(flat(ca.evalf(value)), [(-10 - 0.06 * 40) / 20, (6 + 0.06 * 100) / 12])
    close([*lower, *upper], [-1, 0, 0, 1])


def test_strengths_of_the_state_know_motors_of_one_direction_and_of_none():
    """A curve gives one direction; the other one, and the other joint, have the model's limits, which are zero."""
    model = pendulum(2).with_limits(effort=[(0.0, 20.0), (0.0, 0.0)], velocity=10.0)
    x = replace(instant(tau=(5.0, 0.0), rate=(40.0, 0.0)), model=model)
    half = ocp.TorqueCapacity({"joint1": (None, lambda q, qd: 30 - 2 * qd)})  # 26 N m at 2 rad/s
    close(number(ocp.TorquePower(2, strength=half).integrand(x)), (5 / 26) ** 2)
    close(number(ocp.ExcitationSquared(strength=half, rise=0.05, fall=0.05).integrand(x)), (7 / 26) ** 2, 1e-3)
    able = 20 * 10 * phi(0.2) * 5 / 26
    assert number(ocp.MetabolicRate(capacity=half, smoothing=1e-4).integrand(x)) == pytest.approx(able, rel=1e-4)
    rates = ocp.MetabolicRate(strength=20.0, capacity=half).rates(x)
    close(flat(ca.evalf(rates)), [able, 0], 1e-9)
    rows, lower, _ = ocp.Activation(strength=half, rise=0.05, fall=0.05).rows(x)
    close(flat(ca.evalf(rows)), [1 - 7 / 26, 7 / 26, 1 - 5 / 26, 5 / 26])
    assert lower == 0
    x.model = model.with_limits(effort={"joint1": np.inf})
    rows, _, _ = ocp.Activation(strength=half, rise=0.05, fall=0.05).rows(x)
    close(flat(ca.evalf(rows)), [1 - 7 / 26, 1 - 5 / 26])
    with pytest.raises(ValueError, match="TorquePower strength: the function raised TypeError"):
        ocp.TorquePower(strength=lambda q, qd: 1.0).integrand(x)


def test_strength_and_capacity_are_those_of_the_same_joint():
    """The first of three joints has no strength, and the second no capacity."""
    model = pendulum(3).with_limits(effort=[0.0, 20.0, 30.0], velocity=10.0)
    zero = ca.DM.zeros(3)
    x = ocp.Instant(model, zero, zero, tau=ca.DM([1.0, 2.0, 5.0]))
    cost = ocp.MetabolicRate(capacity=lambda at: np.array([8.0, 0.0, 25.0]))
    close(flat(ca.evalf(cost.rates(x))), [0, 0, 30 * 10 * 0.054 * 5 / 25])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ((-3.0, 4.0), "must return magnitudes, which are not negative"),
        ((np.array([3.0, 3.0]), np.array([4.0, -4.0])), "must return magnitudes, which are not negative"),
        (None, "must return strengths .N m., got None"),
        (ca.SX.sym("s", 3), "must return one strength, or nv = 2, got 3"),
    ],
)
def test_strengths_of_the_state_are_magnitudes(found, message):
    """Negative ones would turn the sign of a cost, or allow any torque."""
    for term in (ocp.TorquePower, ocp.ExcitationSquared):
        with pytest.raises(ValueError, match=f"{term.__name__} strength: the function {message}"):
            term(strength=lambda at: found).integrand(instant())


def test_a_single_pair_is_not_the_strengths_of_two_joints():
    for make in (
        lambda pair: ocp.TorqueSquared(scale=pair),
        lambda pair: ocp.TorqueSpeedCurve(tau_max=pair, qd_max=5.0),
        lambda pair: ocp.TorquePower(strength=pair),
        lambda pair: ocp.MetabolicRate(strength=pair, speed=5.0),
        lambda pair: ocp.ExcitationSquared(strength=pair),
        lambda pair: ocp.Activation(strength=pair),
    ):
        with pytest.raises(ValueError, match=r"numbers for both directions must be positive, .* need 2 pairs"):
            make([-3.0, 4.0]).check(instant().model, ())
        make([(-3.0, 4.0), (-5.0, 6.0)]).check(instant().model, ())


def test_joint_work_has_the_prices_of_margaria():
    x = instant()
    gained, taken = 20.0, 18.0  # [W]
    expected = gained / 0.25 + taken / 1.2
    assert number(ocp.JointWork(smoothing=1e-6).integrand(x)) == pytest.approx(expected, rel=1e-6)
    close(flat(ocp.JointWork().rates(x)), [gained / 0.25, taken / 1.2])
    assert number(ocp.JointWork((0.5, -np.inf), smoothing=1e-6).integrand(x)) == pytest.approx(40, rel=1e-6)
    assert number(ocp.JointWork(smoothing=1.0).integrand(x)) == pytest.approx(expected, rel=3e-3)
    for power in (-30.0, -1.0, -0.3, 0.0, 0.3, 1.0):
        small = number(ocp.JointWork(smoothing=1.0).integrand(instant((power, 0.0), (1.0, 0.0))))
        exact = power / 0.25 if power > 0 else -power / 1.2
        assert 0 <= small <= exact + 0.2
    with_tendons = ocp.JointWork(tendons=[ocp.Tendon("joint2", 50.0)])
    close(flat(with_tendons.powers(x)), [20, -6 * (3 - 100 / 50)])
    assert with_tendons.needs_tau_rate
    assert not ocp.JointWork().needs_tau_rate


def test_slacks_of_joint_work_bound_both_signs():
    for efficiency, expected in (
        ((0.25, -1.2), [200 - 80, 40 + 72, 200 + 20 / 1.2, 40 - 15]),
        ((0.25, -np.inf), [200 - 80, 40 + 72]),
    ):
        term = ocp.JointWork(efficiency, smoothing=None)
        x = replace(instant(), slacks={term: ca.DM([200, 40])})
        close(flat(term.slack_rows(x)), expected)
        assert number(term.integrand(x)) == 240
        assert term.slack_size(x.model) == 2
    assert ocp.JointWork().slack_size(x.model) == 0


@pytest.mark.slow
def test_exact_and_rounded_work_agree_with_the_figures_of_the_solution():
    """The cost of a solve, and `metabolic_rate` of its motion, against power by hand."""
    solutions = [
        turn(ocp.JointWork(smoothing=s), ocp.TorqueSquared(1e-2), ocp.TorqueRateSquared(1e-4), **options).solve(
            progress=False
        )
        for s, options in ((None, {}), (0.02, {}), (None, {"torque": "linear"}))
    ]
    for solution, tolerance in zip(solutions, (1e-4, 0.02, 0.08), strict=True):
        assert solution.converged
        phase = solution.phases[0]
        power = phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2
        energy = np.sum(np.where(power > 0, power / 0.25, -power / 1.2)) * (phase.t[1] - phase.t[0])
        assert solution.cost["JointWork"] == pytest.approx(energy, rel=min(tolerance, 0.02))
        price = solution.metabolic_rate()
        assert price.net == pytest.approx(energy / (2.0 * 1.0), rel=max(tolerance, 0.01))
    price = solutions[0].metabolic_rate(ocp.JointWork((1.0, -1.0)), ocp.RestingRate(2.0))
    work = solutions[0].mechanical_work()
    assert 2 * price.net == pytest.approx(work[0] - work[1], rel=1e-3)
    assert (price.rest, price.gross) == (2.0, price.net + 2.0)
    assert price.net_cost is None
    moved = replace(solutions[0], step_length=-0.5).metabolic_rate(ocp.JointWork((1.0, -1.0)), ocp.RestingRate(2.0))
    assert moved.gross_cost == pytest.approx(moved.gross / 0.5)
    assert moved.net_cost == pytest.approx(moved.net / 0.5)
    assert [name for name, _ in moved.rows()] == ["net power", "rest", "gross power", "net cost", "gross cost"]
    assert moved.rows()[-1][1].endswith("J/(kg m)")
    assert list(moved.by_dof) == ["rim_joint"]
    assert sum(moved.by_dof.values()) == pytest.approx(moved.net)


def test_a_tendon_returns_what_it_stores():
    """Linear torques of a tendon's muscle: figures of the motion, tendon energy and joint work agree."""
    tendon = ocp.Tendon("rim_joint", 40.0)
    costs = ocp.JointWork(tendons=[tendon], smoothing=0.05), ocp.TorqueRateSquared(1e-4)
    solution = turn(*costs, torque="linear").solve(progress=False)
    phase = solution.phases[0]
    h = np.diff(phase.t)[:, None]
    start, end = phase.tau - phase.tau_rate * h / 2, phase.tau + phase.tau_rate * h / 2
    fine = (np.arange(200) + 0.5) / 200
    tau = start + (end - start) * fine
    qd = phase.qd[:-1] + (phase.qd[1:] - phase.qd[:-1]) * fine
    power = tau * (qd + phase.tau_rate / 40.0)
    joint, muscle = np.sum(tau * qd) * h[0, 0] / 200, np.sum(power) * h[0, 0] / 200
    stored = flat(tendon.energy(ca.DM(np.array([start[0, 0], end[-1, 0]]))))
    assert muscle == pytest.approx(joint + stored[1] - stored[0], abs=1e-6)
    energy = np.sum(np.where(power > 0, power / 0.25, -power / 1.2)) * h[0, 0] / 200
    price = solution.metabolic_rate(ocp.JointWork(tendons=[tendon]))
    assert 2 * price.net == pytest.approx(energy, rel=5e-3)
    with pytest.raises(ValueError, match="needs the rate of the torques"):
        turn(ocp.TorqueSquared(), intervals=3).solve(progress=False).metabolic_rate(ocp.JointWork(tendons=[tendon]))


def phi(v):
    return (0.054 + 0.506 * v + 2.46 * v**2) / (1 - 1.13 * v + 12.8 * v**2 - 1.64 * v**3)


def hill(v):
    if v >= 0:
        return (1 - v) / (1 + 4 * v)
    return 1 + 0.8 * 5 * -v / (0.8 + 5 * -v)


@pytest.mark.parametrize("qd", [(2.0, 3.0), (-2.0, 3.0), (0.0, -1.5), (-4.0, -4.0)])
def test_metabolic_rate_of_minetti_and_alexander(qd):
    x = instant(qd=qd)
    term = ocp.MetabolicRate(strength=[(-18.0, 25.0), (-12.0, 30.0)], speed=[10.0, 12.0], smoothing=0.01)
    v = qd[0] / 10, -qd[1] / 12  # positive where the muscle in the direction of the torque shortens
    expected = [10 * 10 * phi(v[0]) / hill(v[0]), 6 * 12 * phi(v[1]) / hill(v[1])]
    np.testing.assert_allclose(flat(ca.evalf(term.rates(x))), expected, rtol=0.008)
    assert number(term.integrand(x)) == pytest.approx(sum(expected), rel=0.02)
    capacity = ocp.MetabolicRate(
        strength=[(-18.0, 25.0)] * 2, speed=[10.0, 12.0], capacity=lambda at: (14.0, 20.0), smoothing=0.01
    )
    np.testing.assert_allclose(
        flat(ca.evalf(capacity.rates(x))),
        [10 / 20 * 25 * 10 * phi(v[0]), 6 / 14 * 18 * 12 * phi(v[1])],
        rtol=0.01,
    )
    wide = number(ocp.MetabolicRate(strength=40.0, speed=[10.0, 12.0], smoothing=0.25).integrand(x))
    torque = np.array([10.0, 6.0])  # |tau| is rounded over 25 % of the strength, tau is not
    v = qd[0] / 10, -qd[1] / 12
    along, against = ([s * phi(d * y) / hill(d * y) for s, y in zip((10, 12), v, strict=True)] for d in (1, -1))
    even = torque**2 / np.sqrt(torque**2 + 10**2)
    expected = even * np.add(along, against) / 2 + torque * np.subtract(along, against) / 2
    assert wide == pytest.approx(expected.sum(), rel=0.01)
    curves = ocp.MetabolicRate(capacity=FALLING, smoothing=0.01)
    np.testing.assert_allclose(
        flat(ca.evalf(curves.rates(x))),
        [10 / (30 - 2 * qd[0]) * 20 * 10 * phi(v[0]), 6 / (10 + qd[1]) * 15 * 12 * phi(v[1])],
        rtol=0.01,
    )
    own = ocp.MetabolicRate(tendons=[ocp.Tendon("joint1", 20.0)], smoothing=0.01)
    v = (qd[0] + 40 / 20) / 10, -qd[1] / 12
    expected = [10 * 10 * phi(v[0]) / hill(v[0]), 6 * 12 * phi(v[1]) / hill(v[1])]
    np.testing.assert_allclose(flat(ca.evalf(own.rates(x))), expected, rtol=0.01)


def test_curves_of_the_metabolic_rate():
    v = np.linspace(-1, 1, 41)
    np.testing.assert_allclose(flat(heat(ca.DM(v))), phi(v), rtol=1e-4)
    np.testing.assert_allclose(flat(force(ca.DM(v[v < 0.7]), 0.25)), [hill(x) for x in v if x < 0.7], rtol=0.02)
    far = ca.DM(np.array([-50.0, -5.0, 1.0, 3.0, 50.0]))
    assert np.all(flat(heat(far)) > 0)
    assert np.all(flat(force(far, 0.25)) > 0)
    assert flat(force(far, 0.25))[0] == pytest.approx(1.8, rel=0.01)
    efficiency = [x * hill(x) / phi(x) for x in v if 0 < x < 1]
    assert 0.4 < max(efficiency) < 0.55  # initial efficiency of muscle


@pytest.mark.parametrize(
    "term",
    [
        ocp.TorquePower(3, strength=(-12.0, 20.0)),
        ocp.TorquePower(2.5, strength=(-12.0, 20.0)),
        ocp.JointWork(smoothing=1.0),
        ocp.MetabolicRate(strength=(-12.0, 20.0), speed=9.0),
    ],
    ids=["cubed", "odd", "work", "rate"],
)
def test_derivatives_are_continuous_where_signs_change(term):
    x = ca.SX.sym("x", 2)
    model = turn().model
    f = ca.Function("f", [x], ca.hessian(term.integrand(ocp.Instant(model, None, x[1], tau=x[0])), x))
    for point in ([0, 0], [0, 2], [0, -2], [5, 0], [-5, 0], [1e-9, 1e-9]):
        H, g = f(point)
        assert np.all(np.isfinite(H.full()))
        for step in ([1e-6, 0], [-1e-6, 0], [0, 1e-6], [0, -1e-6]):
            close(flat(f(np.add(point, step))[1]), flat(g) + np.array(H) @ step, 1e-8)


def test_the_base_has_no_effort():
    model = floating()
    x = ocp.Instant(model, None, ca.DM([1.0] * 7), tau=ca.DM([50.0] * 6 + [3.0]), tau_rate=ca.DM([1.0] * 7))
    close(number(ocp.TorquePower(2).integrand(x)), (3 / 9) ** 2)
    assert number(ocp.JointWork(smoothing=1e-9).integrand(x)) == pytest.approx(3 / 0.25)
    assert number(ocp.MetabolicRate(smoothing=0.01).integrand(x)) == pytest.approx(
        24 * phi(1 / 8) / hill(1 / 8), rel=0.01
    )
    assert ocp.ExcitationSquared().residual(x).numel() == 1
    assert ocp.Activation(rise=0.06).rows(x)[0].numel() == 1
    assert ocp.JointWork(smoothing=None).slack_size(model) == 1
    assert flat(ocp.JointWork().rates(x)).tolist() == [0.0] * 6 + [12.0]
    assert number(ocp.RestingRate(1.5).integrand(x)) == 1.5 * 3


def test_a_rate_at_rest_makes_a_preferred_duration():
    """Torques cost 12 w / T^3, the rest of 2 kg 1.5 T: least at T = (36 w / 1.5)^(1/4)."""
    costs = ocp.TorqueSquared(0.1), ocp.RestingRate(0.75)
    solution = turn(*costs, duration=(0.3, 5.0), intervals=30).solve(progress=False)
    assert solution.duration == pytest.approx((36 * 0.1 / 1.5) ** 0.25, rel=1e-3)


@pytest.mark.slow
def test_all_terms_fit_into_problems():
    """Every cost and `per_distance`, in both forms; the terms add up, weights count."""
    tendons = [ocp.Tendon("rim_joint", 200.0)]
    terms = [
        ocp.TorquePower(3, 2.0),
        ocp.JointWork(weight=0.1, tendons=tendons, smoothing=None),
        ocp.MetabolicRate(0.1, tendons=tendons),
        ocp.ExcitationSquared(0.5),
        ocp.RestingRate(weight=0.1),
        ocp.TorqueRateSquared(1e-4),
    ]
    for form in ("implicit", "explicit"):
        solution = turn(*terms, path=[ocp.Activation()], torque="linear", form=form).solve(progress=False)
        assert solution.converged
        assert solution.cost["RestingRate"] == pytest.approx(0.1 * 2 * 1.2)
        assert min(solution.cost.values()) > 0


WRONG = [
    (lambda: ocp.TorquePower(1.5), ValueError, "TorquePower power must be at least 2"),
    (lambda: ocp.TorquePower(np.inf), ValueError, "TorquePower power"),
    (lambda: ocp.TorquePower(strength="x"), TypeError, "TorquePower strength"),
    (lambda: turn(ocp.TorquePower(strength=[1, 2, 3])), ValueError, "give one number, or nv = 1"),
    (lambda: ocp.JointWork(0.25), ValueError, r"efficiency must be a pair \(of positive work, of negative work\)"),
    (lambda: ocp.JointWork((0.25, 1.2)), ValueError, "positive for positive work and negative for negative work"),
    (lambda: ocp.JointWork((-0.25, -1.2)), ValueError, "positive for positive work"),
    (lambda: ocp.JointWork(smoothing=0), ValueError, r"JointWork smoothing \[W\] \(None: exact\)"),
    (lambda: turn(ocp.JointWork(tendons=[ocp.Tendon("rim", 1)]), torque="linear"), KeyError, "no dof 'rim'"),
    (lambda: turn(ocp.MetabolicRate(tendons=[ocp.Tendon("rim", 1)]), torque="linear"), KeyError, "no dof 'rim'"),
    (lambda: ocp.MetabolicRate(strength=lambda x: x), TypeError, "goes to capacity="),
    (lambda: ocp.MetabolicRate(capacity=3.0), TypeError, "numbers go to strength="),
    (lambda: ocp.MetabolicRate(speed=0.0), ValueError, "MetabolicRate speed"),
    (lambda: ocp.MetabolicRate(hill=0.0), ValueError, "MetabolicRate hill"),
    (lambda: ocp.MetabolicRate(smoothing=0.0), ValueError, "MetabolicRate smoothing"),
    (lambda: turn(ocp.MetabolicRate(speed=[1, 2])), ValueError, "MetabolicRate speed: give one number, or nv = 1"),
    (lambda: ocp.RestingRate(-1.0), ValueError, "RestingRate watts_per_kg"),
    (lambda: ocp.RestingRate(weight=-1.0), ValueError, "RestingRate weight"),
]


@pytest.mark.parametrize(("make", "error", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_are_told(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_missing_limits_are_told():
    x = ocp.Instant(pendulum(2), None, ca.DM([1, 1]), tau=ca.DM([1, 1]))
    with pytest.raises(ValueError, match="no limit of the torque of joint1, joint2: give strength="):
        ocp.TorquePower().integrand(x)
    with pytest.raises(ValueError, match="no largest speed of joint1, joint2: give speed="):
        ocp.MetabolicRate(strength=3.0).integrand(x)
    solution = turn(ocp.TorqueSquared(), intervals=3).solve(progress=False)
    with pytest.raises(TypeError, match="rate must be a JointWork, a MetabolicRate"):
        solution.metabolic_rate(ocp.TorqueSquared())
    with pytest.raises(TypeError, match="rest must be a RestingRate"):
        solution.metabolic_rate(rest=1.2)
