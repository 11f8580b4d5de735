"""Objectives, limits, collisions and tracking: numbers worked out by hand, and small problems that use them."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from ocp_dyn.ocp.statement.collisions import distance_squared
from ocp_dyn.ocp.statement.objectives import base_size, middle_of_feet
from ocp_dyn.ocp.workflows.attempt import prepare
from tests.helpers import close, flat

FOOT = ocp.Foothold(od.Contact("ball", axes="xyz"))


def hopper():
    builder = od.ModelBuilder("hopper")
    builder.add_body("ball", od.Translation(), mass=3)
    return builder.build()


def number(x):
    return float(ca.evalf(ca.SX(x)))


def rows(term, instant):
    value, lower, upper = term.rows(instant)
    return flat(ca.evalf(ca.SX(value))), lower, upper


def swing(objective=(), path=(), form="implicit", intervals=8, **options):
    """A two-link pendulum from rest to rest; the same task for all terms."""
    goal = ocp.Boundary(
        lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 0.5, end.qd), 0, 0), "from rest to rest"
    )
    phase = ocp.Phase("swing", intervals, options.pop("duration", 1.0), path=path, objective=objective)
    return ocp.Problem(pendulum(2), phase, boundary=goal, form=form, **options)


def test_work_of_joints():
    instant = ocp.Instant(pendulum(2), None, ca.DM([2, -3]), tau=ca.DM([10, 10]))
    assert number(ocp.MechanicalWork(smoothing=1e-9).integrand(instant)) == pytest.approx(50)
    assert number(ocp.MechanicalWork(kind="positive", smoothing=1e-9).integrand(instant)) == pytest.approx(20)
    assert (
        number(
            ocp.MechanicalWork(smoothing=3).integrand(ocp.Instant(instant.model, None, instant.qd * 0, tau=instant.tau))
        )
        == 0
    )
    with pytest.raises(ValueError, match="smoothing"):
        ocp.MechanicalWork(smoothing=0)
    with pytest.raises(ValueError, match="'absolute' or 'positive'"):
        ocp.SlackWork(kind="negative")


def test_slacks_of_absolute_work_are_held_from_both_sides():
    """s >= tau qd and s >= -tau qd; of positive work the first alone."""
    model = pendulum(2)
    for kind, expected in (("absolute", [5 - 20, 7 + 30, 5 + 20, 7 - 30]), ("positive", [5 - 20, 7 + 30])):
        term = ocp.SlackWork(kind=kind)
        instant = ocp.Instant(model, None, ca.DM([2, -3]), tau=ca.DM([10, 10]), slacks={term: ca.DM([5, 7])})
        close(flat(term.slack_rows(instant)), expected)


@pytest.mark.parametrize("kind", ["absolute", "positive"])
def test_work_by_slacks_is_work_without_rounding(kind):
    """The slacks settle on |tau qd| (or its positive part) of every interval."""
    solution = swing((ocp.SlackWork(kind=kind), ocp.TorqueSquared(weight=1e-2))).solve(progress=False)
    assert solution.converged
    phase = solution.phases[0]
    power = phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2
    work = np.sum(np.abs(power) if kind == "absolute" else np.maximum(power, 0)) * np.diff(phase.t)[0]
    assert solution.cost["SlackWork"] == pytest.approx(work, rel=1e-4)


@pytest.mark.slow
def test_rates_of_accelerations_and_forces():
    terms = (ocp.TorqueSquared(), ocp.JerkSquared(weight=1e-4))
    solution = swing(terms).solve(progress=False)
    phase = solution.phases[0]
    h = np.diff(phase.t)[0]
    expected = 1e-4 * np.sum((np.diff(phase.qdd, axis=0) / h) ** 2) * h
    assert solution.cost["JerkSquared"] == pytest.approx(expected, rel=1e-9)
    plain = swing(terms[:1]).solve(progress=False)
    assert np.abs(np.diff(phase.qdd, axis=0)).max() < np.abs(np.diff(plain.phases[0].qdd, axis=0)).max()
    explicit = swing(terms, form="explicit", integrator="midpoint").solve(progress=False)
    assert explicit.cost["JerkSquared"] == pytest.approx(expected, rel=1e-6)
    assert number(ocp.ForceRateSquared(scale=2).rate_integrand(ca.DM([2, 4]))) == pytest.approx(5)


def test_time_and_terminal_costs():
    """The fastest swing sits on the torque limit; a terminal cost stands beside the integrals, once."""
    limit = ocp.Path(lambda instant: instant.tau, -30, 30, where="interval")
    terminal = ocp.Terminal(lambda start, end: 10 * ca.sumsqr(end.q) + end.values["time"], weight=0.1)
    solution = swing(
        (ocp.Duration(), ocp.TorqueSquared(weight=1e-4)), limit, duration=(0.2, 2.0), terminal=terminal
    ).solve(progress=False)
    assert solution.converged
    assert solution.cost["Duration"] == pytest.approx(solution.duration)
    assert solution.cost["terminal"] == pytest.approx(0.1 * (10 * 0.5 + solution.duration), rel=1e-6)
    assert np.abs(solution.tau).max() == pytest.approx(30, rel=1e-3)
    with pytest.raises(TypeError, match="terminal must hold Terminal"):
        swing(terminal=[lambda start, end: 1.0])


@pytest.mark.slow
def test_a_soft_constraint_gives_way_at_its_price():
    wall = ocp.Path(lambda instant: instant.q, -np.inf, 0.3)
    instant = ocp.Instant(pendulum(2), ca.DM([0.5, 0.1]), None)
    assert number(ocp.Soft(wall).integrand(instant)) == pytest.approx(0.04)
    between = ocp.Path(lambda instant: instant.q, [0.55, -np.inf], [np.inf, 0.3])
    assert number(ocp.Soft(between).integrand(instant)) == pytest.approx(0.05**2)
    both = ocp.Path(lambda instant: instant.q, [0.0, 0.2], [0.3, 0.4])
    assert number(ocp.Soft(both).integrand(instant)) == pytest.approx(0.2**2 + 0.1**2)
    tight, loose = (swing((ocp.TorqueSquared(), ocp.Soft(wall, w))).solve(progress=False) for w in (1e7, 1e2))
    assert tight.converged
    assert np.mean(np.maximum(tight.q - 0.3, 0)) < np.mean(np.maximum(loose.q - 0.3, 0))
    assert tight.cost["Soft Path"] > 0


@pytest.mark.slow
def test_a_head_feels_its_accelerations(rng):
    model = human()
    q, qd, qdd = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    instant = ocp.Instant(model, ca.DM(q), ca.DM(qd), qdd=ca.DM(qdd))
    found = od.point_acceleration_6d(model, "head", instant.q, instant.qd, instant.qdd, point=(0.1, 0, 0.05))
    expected = 0.04 * ca.sumsqr(found[:3]) + ca.sumsqr(found[3:])
    term = ocp.HeadStabilization("head", point=(0.1, 0, 0.05), arm=0.2)
    assert number(term.integrand(instant)) == pytest.approx(float(expected))
    momentum = od.centroidal_momentum(model, instant.q, instant.qd)[:3]
    assert number(ocp.AngularMomentumSquared(scale=2).integrand(instant)) == pytest.approx(
        float(ca.sumsqr(momentum)) / 4
    )


def test_balance_of_a_point_mass():
    """At height 4 g s^2 the time constant is 2 s: the capture point is c + 2 c', the zero-moment point c - 4 c''."""
    places = {FOOT: ca.DM([0.5, 0, 0])}
    instant = ocp.Instant(
        hopper(), ca.DM([1, 2, 4 * 9.81]), ca.DM([0.5, -1, 0]), qdd=ca.DM([0.2, 0.1, 0]), places=places
    )
    assert number(ocp.CapturePointSquared().integrand(instant)) == pytest.approx(1.5**2)
    assert number(ocp.ZeroMomentPointSquared().integrand(instant)) == pytest.approx(0.3**2 + 1.6**2)
    value, _, upper = rows(ocp.CaptureMargin(0.5), instant)
    assert (value[0] * 0.5, upper) == (pytest.approx(1.5**2), 0.5)
    assert rows(ocp.ZeroMomentPointMargin(0.1), instant)[0][0] == pytest.approx((0.3**2 + 1.6**2) / 0.1)
    flight = ocp.Instant(hopper(), instant.q, instant.qd, qdd=instant.qdd)
    assert number(ocp.CapturePointSquared().integrand(flight)) == 0
    assert rows(ocp.CaptureMargin(0.5), flight)[0].size == 0


def test_rows_of_a_collision_are_meters_near_contact():
    """Spheres of 0.1 and 0.2 m with a margin of 0.05 m, 0.5 m apart: (0.5^2 - 0.35^2) / 0.7."""
    one, other = ocp.Capsule("ball", 0.1), ocp.Obstacle((0.3, 0, 1.4), 0.2)
    instant = ocp.Instant(hopper(), ca.DM([0, 0, 1.0]), None)
    value, lower, _ = rows(ocp.NoCollision([(one, other)], margin=0.05), instant)
    close(value, [(0.5**2 - 0.35**2) / 0.7])
    assert lower == 0


def test_joints_are_tracked_by_their_velocities():
    """Behind a quaternion q has an entry more than qd: the joint's own difference is meant."""
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    for name in ("hip", "knee"):
        builder.add_body(name, od.Revolute("y"), "base", joint_name=name, mass=1, inertia=(1, 1, 1))
    model = builder.build()
    track = ocp.TrackJoints(lambda s: model.neutral(), joints=("hip",), scale=2.0)
    q = model.neutral() + np.array([0] * 7 + [0.3, 0.8])
    instant = ocp.Instant(model, ca.DM(q), None, references={track: ca.DM(model.neutral())})
    close(track.residual(instant), [0.15])
    track = ocp.TrackVelocities(lambda s: np.zeros(8), joints=("knee",), scale=2.0)
    instant = ocp.Instant(model, ca.DM(q), ca.DM(range(8)), references={track: ca.DM([0] * 7 + [3])})
    close(track.residual(instant), [2.0])


def test_motors():
    instant = ocp.Instant(pendulum(2), None, ca.DM([2, -3]), tau=ca.DM([10, 10]))
    value, lower, upper = rows(ocp.PowerLimit([50, 40]), instant)
    close(value, [20, -30])
    close(upper, [50, 40])
    close(lower, [-50, -40])
    value, lower, upper = rows(ocp.TorqueSpeedCurve(tau_max=20, qd_max=[4, 6]), instant)
    close(value, [0.5 + 0.5, 0.5 - 0.5])
    assert (lower, upper) == (-1.0, 1.0)
    assert rows(ocp.TorqueSpeedCurve(), instant)[0].size == 0  # a model without limits
    solution = swing(ocp.TorqueSquared(), ocp.PowerLimit(12.0)).solve(progress=False)
    phase = solution.phases[0]
    assert np.abs(phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2).max() == pytest.approx(12, rel=1e-3)


def test_torque_over_the_strength_of_its_direction(rng):
    """tau^2 over the square of the limit on the torque's side; the gradient is continuous."""
    model = pendulum(3).with_limits(effort=[(-2, 5), (-4, 4), (-7, 3)])
    tau = ca.SX.sym("tau", 3)
    square = ocp.TorqueSquared(scale="strength").integrand(ocp.Instant(model, None, None, tau=tau))
    f = ca.Function("f", [tau], [square, ca.gradient(square, tau), ca.hessian(square, tau)[0]])
    for signs in ((1, 1, 1), (-1, -1, -1), (1, -1, 1), (-1, 1, -1)):
        at = np.array(signs) * rng.uniform(1, 2, 3)
        limits = np.where(at < 0, [2, 4, 7], [5, 4, 3])
        close(f(at)[0], [np.sum((at / limits) ** 2)])
        close(f(at)[1], 2 * at / limits**2)
        close(f(at)[2], np.diag(2 / limits**2))
    close(f(1e-9 * tau_sides(3))[1], f(-1e-9 * tau_sides(3))[1], 1e-8)
    assert np.all(np.linalg.eigvalsh(f(np.zeros(3))[2].full()) > 0)
    given = ocp.TorqueSquared(scale=[(-2, 5), (-4, 4), (-7, 3)])
    close(ca.Function("g", [tau], [given.integrand(ocp.Instant(model, None, None, tau=tau))])(at), f(at)[0])
    one = ocp.Instant(pendulum(1), None, None, tau=ca.DM([-3]))
    assert number(ocp.TorqueSquared(scale=(-2, 5)).integrand(one)) == pytest.approx(2.25)
    assert number(ocp.TorqueSquared(scale="strength").integrand(one)) == 9  # without limits: over 1 N m


def tau_sides(n):
    return np.resize([1.0, -1.0], n)


def test_a_directed_scale_is_checked():
    for wrong, message in (
        ("strenght", "TorqueSquared scale must be numbers or 'strength', got 'strenght'"),
        ([(2, 5)] * 3, "needs lower < 0 < upper"),
        ([(-2, 0)], "must be positive"),
        ([(-2, 5), (-2, 5)], "3 pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            ocp.Problem(pendulum(3), ocp.Phase("p", 2, 1.0, objective=ocp.TorqueSquared(scale=wrong)))
    with pytest.raises(ValueError, match="positive"):
        ocp.TorqueRateSquared(scale=[(-2, 5)])
    with pytest.raises(ValueError, match="3 pairs"):
        ocp.Problem(pendulum(3), ocp.Phase("p", 2, 1.0, path=ocp.TorqueSpeedCurve(tau_max=[(-2, 5)])))


def test_motors_with_a_stronger_direction():
    """tau / 5 + qd / 4 <= 1 forward, tau / 2 + qd / 4 >= -1 backward."""
    model = pendulum(2).with_limits(effort=[(-2, 5), (0, 6)], velocity=4)
    instant = ocp.Instant(model, None, ca.DM([1, -3]), tau=ca.DM([3, 2]))
    for curve in (ocp.TorqueSpeedCurve(), ocp.TorqueSpeedCurve(tau_max=[(-2, 5), (-np.inf, 6)])):
        value, lower, upper = rows(curve, instant)
        close(value, [3 / 5 + 1 / 4, 3 / 2 + 1 / 4, 2 / 6 - 3 / 4])
        assert lower.tolist() == [-np.inf, -1, -np.inf]
        assert upper.tolist() == [1, np.inf, 1]


def test_joints_keep_a_margin():
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("x"), mass=1, inertia=(1, 1, 1), lower=-1.0, upper=0.5)
    model = builder.build()
    value, lower, upper = rows(ocp.JointMargin(0.1), ocp.Instant(model, ca.DM([0.2]), None))
    close(np.concatenate([value, lower, upper]), [0.2, -0.9, 0.4])
    with pytest.raises(ValueError, match="nothing is left of the range of a_joint"):
        ocp.JointMargin(0.8).rows(ocp.Instant(model, ca.DM([0.2]), None))


def test_the_second_order_cone_is_the_cone():
    instant = ocp.Instant(hopper(), None, None, wrenches={FOOT: ca.DM([0, 0, 0, 30, 40, 100])})
    value, lower, _ = rows(ocp.FrictionCone(mu=0.5, second_order=True), instant)
    close(value, [0])
    assert lower == 0.0


def test_obstacles_under_the_foot():
    bump = ocp.Clearance([("ball", (0, 0, 0))], 0.0, terrain=lambda x, y: 0.2 * ca.exp(-(x**2)))
    value, _, _ = rows(bump, ocp.Instant(hopper(), ca.DM([1, 0, 0.5]), None, s=0.3))
    close(value, [0.5 - 0.2 * np.exp(-1)])


@pytest.mark.slow
def test_distance_of_segments(rng):
    """Against a search over both parameters; crossing, parallel, end to end, points."""
    s = np.linspace(0, 1, 801)
    pairs = [rng.normal(size=(4, 3)) for _ in range(12)]
    pairs.append(np.array([[0, 0, 0], [1, 0, 0], [0.2, 1, 0], [1.7, 1, 0]], dtype=float))  # parallel, side by side
    pairs.append(np.array([[0, 0, 0], [1, 0, 0], [3, 1, 0], [2, 1, 0]], dtype=float))  # parallel, past each other
    for a, b, c, d in pairs:
        one, other = (1 - s[:, None]) * a + s[:, None] * b, (1 - s[:, None]) * c + s[:, None] * d
        expected = (((one[:, None] - other[None]) ** 2).sum(axis=-1)).min()
        found = float(distance_squared((ca.DM(a), ca.DM(b)), (ca.DM(c), ca.DM(d))))
        assert found == pytest.approx(expected, abs=1e-4)
        found = float(distance_squared((ca.DM(a), None), (ca.DM(c), ca.DM(d))))
        assert found == pytest.approx((((a - other) ** 2).sum(axis=-1)).min(), abs=1e-4)


@pytest.mark.slow
def test_a_pendulum_swings_around_an_obstacle():
    tip = ocp.Capsule("link2", 0.05, end=(0, 0, -1))
    ball = ocp.Obstacle((-0.25, 0, -1.75), 0.2)
    free = swing(ocp.TorqueSquared(), intervals=15).solve(progress=False)
    apart = ocp.NoCollision([(tip, ball)], ends=False)  # at the start, which the boundary fixes, the two touch
    wary = swing(ocp.TorqueSquared(), apart, intervals=15).solve(progress=False)

    def clearance(solution):
        value = [
            rows(ocp.NoCollision([(tip, ball)]), ocp.Instant(solution.model, ca.DM(q), None))[0][0]
            for q in solution.q[1:-1]
        ]
        return min(value)

    assert wary.converged
    assert clearance(free) < 0 <= clearance(wary) + 1e-6
    with pytest.raises(ValueError, match="have no size"):
        ocp.NoCollision([(ocp.Capsule("link1", 0), ocp.Capsule("link2", 0))]).rows(
            ocp.Instant(pendulum(2), ca.DM([0, 0]), None)
        )


@pytest.mark.slow
def test_tracking_finds_the_recorded_motion_again():
    """Joints, markers and forces recorded from a known motion lead back to it."""
    truth = swing(ocp.TorqueSquared(), intervals=12).solve(progress=False)
    t, q = truth.phases[0].t, truth.phases[0].q
    points = [("link2", (0, 0, 0)), ("link2", (0, 0, -1))]
    markers = [
        np.concatenate([flat(od.point_position(truth.model, point[0], ca.DM(x), point[1])) for point in points])
        for x in q
    ]
    light = ocp.TorqueSquared(weight=1e-8)
    for term in (
        ocp.TrackJoints(ocp.recording(t, q), joints=("joint1", "joint2")),
        ocp.TrackJoints(ocp.recording(t, q), scale=0.1),
        ocp.TrackMarkers(points, ocp.recording(t, markers)),
    ):
        towards = lambda s: (np.full(2, 0.5 * s), np.full(2, 0.5))
        found = swing((light, term), intervals=12, guess=towards).solve(progress=False)
        assert found.converged
        # markers move on arcs, the recording between its samples on chords: a centimeter apart at these large steps
        close(found.q, q, 2e-2 if isinstance(term, ocp.TrackMarkers) else 2e-3)
    forces = ocp.TrackForces(["ball", "other"], lambda s: [1, 2, 3, 0, 0, 0], scale=2)
    instant = ocp.Instant(hopper(), None, None, wrenches={FOOT: ca.DM([0, 0, 0, 3, 2, 7])})
    instant.references[forces] = ca.DM([1, 2, 3, 0, 0, 0])
    assert number(forces.integrand(instant)) == pytest.approx((4 + 16) / 4)


def test_a_recording_of_the_stages_is_met_there():
    """References are taken at the stages of the scheme: of a midpoint rule in the middle of every interval."""
    truth = swing(ocp.TorqueSquared(), intervals=6).solve(progress=False)
    q = truth.phases[0].q
    points = [("link2", (0, 0, 0)), ("link2", (0, 0, -1))]

    def markers(s):
        here = ca.DM([np.interp(6 * s, range(7), column) for column in q.T])
        return np.concatenate([flat(od.point_position(truth.model, frame, here, point)) for frame, point in points])

    terms = ocp.TorqueSquared(weight=1e-8), ocp.TrackMarkers(points, markers)
    found = swing(terms, intervals=6, guess=lambda s: (np.full(2, 0.5 * s), np.full(2, 0.5))).solve(progress=False)
    assert found.converged
    assert found.cost["TrackMarkers"] < 1e-6
    middles = lambda x: (x[:-1] + x[1:]) / 2
    close(middles(found.phases[0].q), middles(q), 1e-3)


def test_recordings():
    f = ocp.recording([1, 2, 4], [[0, 1], [1, 1], [3, 2]])
    close(f(0.0), [0, 1])
    close(f(2 / 3), [2, 1.5])
    for times, values in (([0, 0], [1, 2]), ([0, 1], [1, 2, 3]), ([0], [1])):
        with pytest.raises(ValueError, match="a recording needs increasing times"):
            ocp.recording(times, values)
    with pytest.raises(ValueError, match="finite"):
        ocp.recording([0, 1], [0, np.nan])
    with pytest.raises(ValueError, match=r"reference\(s\) must return 2 finite numbers, got 3"):
        swing(ocp.TrackJoints(lambda s: [1, 2, 3])).solve(progress=False)


@pytest.mark.parametrize(("integrator", "steps"), [("midpoint", 1), ("gauss:2", 1), ("gauss:2", 2), ("radau:3", 1)])
def test_references_are_those_of_every_stage(integrator, steps):
    """At rest in the origin, tracking a line along the phase costs the integral of its square, s^2: 1/3, but for the
    midpoint rule's error."""
    track = ocp.TrackJoints(lambda s: [s, 0.0])
    problem = swing(track, intervals=2, integrator=integrator, steps=steps)
    t, program = prepare(problem)
    x = 0 * t.program.start
    x[t.program.x_lower == t.program.x_upper] = t.program.start[t.program.x_lower == t.program.x_upper]
    expected = 5 / 16 if integrator == "midpoint" else 1 / 3
    assert program.evaluator.objective(x, t.program.values) == pytest.approx(expected, rel=1e-12)


def test_dofs_of_the_base_and_the_middle_of_the_feet():
    bases = (od.models.human(), od.models.five_link_biped(root="planar"), pendulum(1))
    assert [base_size(model) for model in bases] == [6, 3, 0]
    feet = [ocp.Foothold(od.Contact(f"sole_{side}"), x=0, y=0) for side in "lr"]
    places = dict(zip(feet, (ca.SX([1, 2, 0]), ca.SX([3, 0, 0])), strict=True))
    np.testing.assert_allclose(ca.DM(middle_of_feet(SimpleNamespace(places=places))), [[2], [1], [0]])


RATE = "phase 'swing' has one interval, and the quantity of '{}' one value in it, so its rate would cost nothing"


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("TorqueRateSquared", ocp.TorqueRateSquared()),
        ("JerkSquared", ocp.JerkSquared()),
        ("of torques", ocp.Rate(lambda instant: instant.tau[0], name="of torques")),
        ("of accelerations", ocp.Rate(lambda instant: instant.q[0] * instant.qdd[1], name="of accelerations")),
    ],
)
def test_a_rate_in_a_phase_of_one_interval_is_refused(name, term):
    with pytest.raises(ValueError, match=RATE.format(name) + ": give the phase two intervals or more"):
        swing(term, intervals=1)
    swing(term, intervals=2)


def test_rates_that_cost_something_in_one_interval():
    """Rates of the state, from node to node; of torques that are linear along the interval, or that go on into another
    phase."""
    speed = ocp.Rate(lambda instant: instant.qd[0], name="of a speed")
    swing(speed, intervals=1)
    swing(ocp.TorqueRateSquared(), intervals=1, torque="linear")
    first, last = (ocp.Phase(name, n, 0.5, objective=ocp.TorqueRateSquared()) for name, n in (("one", 1), ("two", 2)))
    ocp.Problem(pendulum(1), (first, last))
    jolt = ocp.Rate(lambda instant: instant.tau, name="jolt")  # does not go on into another phase
    ocp.Problem(pendulum(1), ocp.Phase("none", 1, 0.5, objective=ocp.ForceRateSquared()))
    ocp.Problem(pendulum(1), (last, replace(first, name="last")))  # the change into the last phase counts
    again = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    ocp.Problem(pendulum(1), (replace(last, objective=()), replace(first, name="last")), periodic=again)
    with pytest.raises(ValueError, match="phase 'last' has one interval"):
        ocp.Problem(pendulum(1), (replace(last, objective=()), replace(first, name="last")))
    with pytest.raises(ValueError, match=r"phase 'one' has one interval.*JerkSquared.*out of this phase"):
        ocp.Problem(pendulum(1), [replace(phase, objective=ocp.JerkSquared()) for phase in (first, last)])
    with pytest.raises(ValueError, match="phase 'one' has one interval"):  # nothing leads into the first phase
        ocp.Problem(pendulum(1), (replace(first, objective=jolt), replace(last, objective=jolt)))
    held = ocp.Phase("stance", 1, 0.5, FOOT, objective=ocp.ForceRateSquared())
    with pytest.raises(ValueError, match="phase 'stance' has one interval, and the quantity of 'ForceRateSquared'"):
        ocp.Problem(hopper(), held)
    own = ocp.Rate(lambda instant: instant.tau[0] * instant.values["unheard of"], name="own")
    with pytest.raises(ValueError, match="quantity of 'own'"):
        swing(own, intervals=1)
