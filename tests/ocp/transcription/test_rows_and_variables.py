"""Rows, bounds and costs of a program at any point of it, by formulas of their own: nothing is solved here."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.integrators import explicit_step, scheme, stage_states
from ocp_dyn.ocp.analysis import defects
from ocp_dyn.ocp.analysis.active_set import active_entries
from ocp_dyn.ocp.equations import Equations
from ocp_dyn.ocp.guess.foot_tracks import FootPlan, Span, pose_at
from ocp_dyn.ocp.guess.standing_guess import _weight_rows, initial_guess
from ocp_dyn.ocp.guess.standing_guess import standing as standing_posture
from ocp_dyn.ocp.nlp.block_rows import BlockRows
from ocp_dyn.ocp.solvers.sqp import _LineSearch, _QpIterate
from ocp_dyn.ocp.statement.state.dependent import Coordinates
from ocp_dyn.ocp.transcription import contact_rows
from ocp_dyn.ocp.transcription.collect import collect
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import contacts
from tests.helpers import close, flat
from tests.hopper import monopod

N = 3


def twins() -> od.Model:
    """A trunk with a leg on either side, which swings about x and y."""
    builder = od.ModelBuilder("twins")
    builder.add_body("trunk", od.FloatingBase("euler_zyx"), mass=8, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        legs = {"mass": 1, "com": (0, 0, -0.3), "inertia": (0.1, 0.1, 0.1), "velocity": 7.0}
        builder.add_body(f"hip_{side}", od.Universal("x", "y"), "trunk", origin=(0, y, 0), **legs)
    return builder.build()


@pytest.fixture(scope="module")
def flight():
    """(transcription, program) of a mirrored flight: what closes its period, and a cost that goes across its end."""
    phase = ocp.Phase("flight", N, 0.6, objective=(ocp.TorqueRateSquared(0.25), ocp.TorqueSquared(0.5)))
    problem = ocp.Problem(twins(), phase, periodic=ocp.Periodic(speed=1.2, mirror=True, transition=ocp.Continuous()))
    t = transcribe(problem)
    return t, t.program.assemble()


def uneven(**limits):
    """A mirrored flight with these limits, of (about x, about y) of the legs."""
    model = twins().with_limits(**limits)
    return ocp.Problem(model, ocp.Phase("flight", N, 0.6), periodic=ocp.Periodic(1.2, transition=ocp.Continuous()))


def test_a_mirrored_period_keeps_within_the_limits_of_both_sides():
    """Legs that swing about x are the images of each other's opposite; about y, of each other's equal."""
    upper, lower = {"hip_l_joint": (0.5, 0.8)}, {"hip_l_joint": (-0.9, -0.4), "hip_r_joint": (-0.7, -1.0)}
    problem = uneven(upper=upper, lower=lower, velocity={"hip_r_joint": (3.0, 9.0)}, effort={"hip_l_joint": (2.0, 4.0)})
    t = transcribe(problem)
    q, qd, tau = t.phases[0]["q"][1], t.phases[0]["qd"][1], t.phases[0]["tau"][1]
    at = t.program.x_lower, t.program.x_upper
    low, high = (x[q.index][-4:] for x in at)
    assert low == pytest.approx([-0.9, -0.4, -0.5, -0.4])
    assert high == pytest.approx([0.5, 0.8, 0.9, 0.8])
    assert (at[1][qd.index] * qd.scale)[-4:] == pytest.approx([3.0, 7.0, 3.0, 7.0])
    assert (at[0][tau.index] * tau.scale)[-4:] == pytest.approx([-2.0, -4.0, -2.0, -4.0])
    told = next(text for text in problem.check() if "no mirror images" in text)
    assert "hip_r_joint.first -0.5 to 0.9, hip_r_joint.second -0.4 to 0.8" in told
    assert not any("no mirror images" in text for text in replace(problem, limits=False).check())


def test_limits_of_two_sides_that_have_nothing_in_common_stay():
    problem = uneven(lower={"hip_l_joint": (0.2, -1), "hip_r_joint": (-0.1, -1)},
                     upper={"hip_l_joint": (0.5, 1), "hip_r_joint": (0.9, 1)})  # fmt: skip
    t = transcribe(problem)
    q = t.phases[0]["q"][1].index
    assert t.program.x_lower[q][-4:] == pytest.approx([0.2, -1, -0.1, -1])
    assert t.program.x_upper[q][-4:] == pytest.approx([0.5, 1, 0.9, 1])
    told = next(text for text in problem.check() if "no mirror images" in text)
    assert "hip_l_joint.first, which keeps its own" in told
    assert "second" not in told


def anywhere(t, rng):
    """A random point of a program; what is fixed keeps its value."""
    x = rng.normal(size=t.program.size)
    return np.where(t.program.x_lower == t.program.x_upper, t.program.x_lower, x)


def motion(flight, rng):
    t, program = flight
    x = anywhere(t, rng)
    return x, collect(t, program, x, {"converged": False, "status": "made up"})


@pytest.mark.slow
def test_the_rate_of_torques_goes_on_from_the_end_to_the_mirrored_start(flight, rng):
    _, found = motion(flight, rng)
    (phase,), h = found.phases, 0.6 / N
    after = np.vstack([phase.tau[1:], flat(found.mirror().qd(DM(phase.tau[0])))])
    assert found.cost["TorqueRateSquared"] == pytest.approx(0.25 * np.sum(((after - phase.tau) / h) ** 2) * h)
    assert found.cost["TorqueSquared"] == pytest.approx(0.5 * np.sum(phase.tau**2) * h)


def test_a_motion_that_does_not_repeat_has_no_rate_from_its_end_to_its_start(rng):
    phase = ocp.Phase("flight", N, 0.6, objective=ocp.TorqueRateSquared())
    t = transcribe(ocp.Problem(twins(), phase))
    program = t.program.assemble()
    x = anywhere(t, rng)
    tau, h = collect(t, program, x, {}).phases[0].tau, 0.6 / N
    assert float(program.cost_terms(x, t.program.values)) == pytest.approx(np.sum(np.diff(tau, axis=0) ** 2) / h)


def test_the_start_is_the_mirror_image_of_the_end(flight, rng):
    t, program = flight
    x, found = motion(flight, rng)
    (phase,), mirror = found.phases, found.mirror()
    g = program.evaluator.constraints(x, t.program.values)
    rows = {name: g[[k for k, n in enumerate(program.row_names) if n == f"ends: {name}"]] for name in
            ("periodic position", "periodic velocity", "speed")}  # fmt: skip
    close(rows["periodic velocity"], phase.qd[0] - flat(mirror.qd(DM(phase.qd[-1]))))
    back = np.eye(found.model.nq)[0] * found.step_length
    close(rows["periodic position"], phase.q[0] - (flat(mirror.q(DM(phase.q[-1]))) - back))
    close(rows["speed"], [found.step_length - 1.2 * 0.6])


def test_velocities_keep_the_limits_of_the_model(flight):
    t, _ = flight
    for variable in t.phases[0]["qd"]:
        assert t.program.x_upper[variable.index].tolist() == [*[np.inf] * 6, 7, 7, 7, 7]
        assert t.program.x_lower[variable.index].tolist() == [*[-np.inf] * 6, -7, -7, -7, -7]


def test_the_graph_of_a_program_is_what_its_evaluator_computes(rng):
    """Rows of two kinds of blocks, whose instances have numbers of their own: the fraction of the phase."""
    late = ocp.Integral(lambda instant: instant.s * ca.sumsqr(instant.tau))
    t = transcribe(
        ocp.Problem(twins(), [ocp.Phase("one", 2, 0.6, objective=late), ocp.Phase("two", 3, 0.4, objective=late)])
    )
    program = t.program.assemble()
    graph = program.expression()
    f = ca.Function("graph", [graph["x"], graph["p"]], [graph["f"], graph["g"]])
    x, p = rng.normal(size=program.n), t.program.values
    objective, g = f(x, p)
    close(objective, program.evaluator.objective(x, p))
    close(g, program.evaluator.constraints(x, p))


# Contacts


def standing(baumgarte: float, rng: np.random.Generator) -> tuple[contact_rows.StandingFeet, DM, DM, DM, DM]:
    """Feet at the rate alpha, a state off the contact, phi and G v by kinematics."""
    model = monopod()
    foot = ocp.Foothold(od.Contact("foot", axes="xyz"))
    q, qd = DM(model.random_q(rng)), DM(rng.normal(size=model.nv))
    q[2] -= od.point_position(model, "foot", q)[2]
    place = flat(od.point_position(model, "foot", q)) + 0.1 * rng.normal(size=3)
    feet = contact_rows.StandingFeet(Equations(model), (foot,), {foot: DM(place)}, baumgarte)
    q = model.integrate(q, DM(0.1 * rng.normal(size=model.nv)))
    phi = od.point_position(model, "foot", q) - DM([*place[:2], 0])
    return feet, q, qd, phi, od.point_velocity(model, "foot", q, qd)


def test_baumgarte_s_return_is_critically_damped(rng):
    """The foot accelerates by -2 alpha (its velocity) - alpha^2 (its distance)."""
    feet, q, qd, phi, rate = standing(20.0, rng)
    close(feet.correction(q, qd), 2 * 20 * rate + 20**2 * phi)
    tau = DM(rng.normal(size=feet.model.nv))
    qdd, _ = feet.equations.corrected_dynamics(contacts(feet.footholds), q, qd, tau, feet.correction(q, qd))
    close(od.point_acceleration(feet.model, "foot", q, qd, qdd), -(40 * rate + 400 * phi), 1e-9)


def test_a_projection_brings_the_foot_near_its_place_and_to_rest(rng):
    feet, q, qd, phi, _ = standing(0.0, rng)
    gaps = [float(ca.norm_2(phi))]
    for _ in range(5):
        q, qd = contact_rows.project(feet, Coordinates(feet.model), q, qd, "position")
        gaps.append(float(ca.norm_2(feet.position(q))))
        close(feet.velocity(q, qd), np.zeros(3))
    assert gaps[-1] < 1e-9 * gaps[0]


@pytest.mark.parametrize(("level", "free"), [("position", {0, 2}), ("velocity", {2}), ("acceleration", set())])
def test_stages_leave_out_what_the_end_of_a_step_asks_for(rng, level, free):
    feet, q, qd, _, _ = standing(0.0, rng)
    for k in range(3):
        rows = BlockRows()
        contact_rows.hold_stage(rows, feet, scheme("gauss:3"), k, level, q, qd, DM(rng.normal(size=feet.model.nv)))
        assert bool(rows.rows) == (k not in free)


# Feet in the air


def test_a_swing_is_highest_in_its_middle():
    """From standing at x = 0 until 1 s to standing at x = 1 from 3 s on: half way and one lift up after 2 s."""

    def span(begin, end, x):
        return Span(1, begin, end, True, np.zeros(3), np.eye(3), None, (np.eye(3), np.array([x, 0.2, 0.0])))

    spans = [span(0.0, 1.0, 0.0), span(3.0, 4.0, 1.0)]
    for time, place in ((1.0, (0, 0.2, 0)), (2.0, (0.5, 0.2, 0.06)), (3.0, (1, 0.2, 0))):
        close(pose_at(spans, time, FootPlan().lift)[1], place)
    close(pose_at(spans, 1.5, 0.06)[1][2], 0.03)


# Sequential quadratic programming


def test_the_semi_implicit_step_moves_at_its_last_velocity():
    """As a stage of accelerations and as an explicit step: qd1 = qd + h qdd, q1 = q + h qd1."""
    model = monopod()
    q, qd, qdd, h = (DM(x) for x in (np.arange(5.0), np.ones(5), np.arange(5.0) - 2, 0.1))
    _, ends = stage_states(model, scheme("euler"), q, qd, [qdd], h)
    for found in (ends, explicit_step(model, scheme("euler"), lambda q, qd: qdd, q, qd, h)[1]):
        close(found[1], qd + h * qdd)
        close(found[0], q + h * (qd + h * qdd))


def test_a_step_is_halved_until_the_merit_falls():
    """Line search on x^2 from 1 along -3: the whole step leads up, half of it down."""
    evaluator = SimpleNamespace(objective=lambda x, p: float(x[0] ** 2), constraints=lambda x, p: np.zeros(0))
    program = SimpleNamespace(evaluator=evaluator, row_lower=np.zeros(0), row_upper=np.zeros(0))
    step = (np.array([-3.0]), np.zeros(1), np.zeros(0), True)
    model = SimpleNamespace(step=lambda *_: step, gradient=np.array([2.0]), change=lambda d: np.zeros(0))
    start = SimpleNamespace(lower=np.full(1, -np.inf), upper=np.full(1, np.inf), p=np.zeros(0))
    found = _LineSearch(program, model, start).advance(
        _QpIterate(np.ones(1), 1.0, np.zeros(0), np.zeros(1), np.zeros(0))
    )
    assert (found.x[0], found.f) == (-0.5, 0.25)


# What is told of a motion


def test_work_and_samples_of_a_motion(flight, rng):
    """Work of torques on joints' displacements; nodes are met, and every second period is a mirror image."""
    _, found = motion(flight, rng)
    (phase,), h = found.phases, 0.6 / N
    work = phase.tau * (phase.qd[:-1] + phase.qd[1:]) / 2 * h
    close(found.mechanical_work(), [work[work > 0].sum(), work[work < 0].sum()])
    close(found.cost_of_transport(), work[work > 0].sum() / (10 * 9.81 * abs(found.step_length)))
    samples = found.sample([h, 0.6 + h, 1.2 + h])
    along = np.eye(found.model.nq)[0] * found.step_length
    mirrored = flat(found.mirror().q(DM(phase.q[1])))
    for sample, q in zip(samples, (phase.q[1], mirrored + along, phase.q[1] + 2 * along), strict=True):
        close(flat(found.model.difference(DM(q), DM(sample))), np.zeros(found.model.nv))


def test_drift_is_the_largest_over_all_phases():
    model = monopod()
    contact, place = od.Contact("foot", axes="xyz"), {"foot": np.array([0.2, 0, 0])}
    q, still = np.array([[0.0, 0, 0.5, 0, 0]]), np.zeros((1, model.nv))
    moving = still + np.array([0, 0.3, 0, 0, 0])
    phases = [
        SimpleNamespace(q=q, qd=qd, contacts=(contact,), places=place, foothold=ocp.Foothold) for qd in (moving, still)
    ]
    drift = defects.drift(SimpleNamespace(model=model, phases=phases))
    close([drift.position, drift.velocity], [0.2, 0.3])


def test_a_bound_is_active_where_it_presses_harder_than_it_is_far():
    value, lower, upper = np.array([0.01, 0.01, 0.0]), np.zeros(3), np.array([9.0, 9.0, 0.0])
    assert list(active_entries(value, lower, upper, np.array([-0.02, -0.005, 0.0]), 1e-6)) == [
        (0, "lower"),
        (2, "lower"),
    ]


def test_a_condition_on_what_is_fixed_alone_is_hopeless():
    builder = od.ModelBuilder("stuck")
    builder.add_body("a", od.Revolute("y"), mass=1, inertia=(1, 1, 1), lower=0.2, upper=0.2)
    builder.add_body("b", od.Revolute("y"), "a", mass=1, inertia=(1, 1, 1))
    goal = ocp.Boundary(lambda start, end: (end.q[0] - 1.0, 0, 0), "lifted")
    problem = ocp.Problem(builder.build(), ocp.Phase("hang", 2, 0.5), boundary=goal)
    assert any("lifted" in sentence and "every variable in it is fixed" in sentence for sentence in problem.check())


# First guesses


def hop(**options):
    foot = ocp.Foothold(od.Contact("foot", axes="xyz"), x=0.0, y=0.0)
    phases = [ocp.Phase("stance", 4, 0.3, foot), ocp.Phase("flight", 4, 0.3)]
    return ocp.Problem(monopod(), phases, periodic=ocp.Periodic(0.5, mirror=False), unactuated=["root"], **options)


def test_a_model_without_posture_is_put_on_the_ground():
    problem = hop()
    q = DM(standing_posture(transcribe(problem)))
    close(od.point_position(problem.model, "foot", q)[2], 0)
    assert float(q[2]) == pytest.approx(0.5)


def test_feet_share_the_weight():
    feet = tuple(ocp.Foothold(od.Contact(name)) for name in "ab")
    close(_weight_rows(feet, 100.0), [0, 0, 0, 0, 0, 50] * 2)


def test_a_guess_by_feet_follows_inverse_dynamics_at_a_lower_base():
    """tau = ID(q, v, a) - G' lam on the motors, the base a twentieth lower than it stands."""
    problem = hop(guess=FootPlan(), posture=np.array([0, 0, 0.7, 0, 0.2]))
    t = transcribe(problem)
    initial_guess(t)
    found = collect(t, t.program.assemble(), t.program.start, {})
    model, phase = problem.model, found.phases[0]
    ID, G = od.function(od.inverse_dynamics, model), od.function(od.constraint_jacobian, model, phase.contacts)
    for q, qd, qdd, lam, tau in zip(phase.q[:-1], phase.qd[:-1], phase.qdd, phase.lam, phase.tau, strict=True):
        close(tau[3:], flat(ID(q, qd, qdd) - G(q).T @ lam)[3:], 1e-9)
    heights = phase.q[:, 2] / standing_posture(t)[2]
    assert np.abs(heights - 0.95).max() < 0.04
