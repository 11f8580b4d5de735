"""Phases and what joins them, on models small enough for closed forms: impacts, periods, footholds."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from tests.hopper import monopod

G = 9.81


def ball(gravity=G, effort=math.inf, mass=3.0):
    builder = od.ModelBuilder("ball", gravity=(0, 0, -gravity))
    builder.add_body("ball", od.Translation(), joint_name="root", mass=mass, effort=effort)
    return builder.build()


def foot(**place):
    return ocp.Foothold(od.Contact("ball", axes="xyz"), **place)


def fall(form, height=0.8, ahead=0.6, mu=1.0):
    """A ball thrown forwards lands and sticks."""

    def thrown(start, _):
        return ca.vertcat(start.q, start.qd) - ca.DM([0, 0, height, ahead, 0, 0]), 0, 0

    phases = [
        ocp.Phase("flight", 5, (0.05, 2.0)),
        ocp.Phase("stance", 3, 0.3, foot(), (ocp.Unilateral(), ocp.FrictionCone(mu))),
    ]
    return ocp.Problem(
        ball(), phases, ocp.Impact(), boundary=ocp.Boundary(thrown), unactuated=["root"], form=form
    ).solve(progress=False, max_iterations=100, tolerance=1e-10)


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_a_ball_falls_hits_and_stands(form):
    solution = fall(form)
    assert solution.converged
    flight, stance = solution.phases
    time = math.sqrt(2 * 0.8 / G)
    assert flight.duration == pytest.approx(time, abs=1e-7)
    assert np.allclose(flight.qd[-1], [0.6, 0, -G * time], atol=1e-6)
    assert np.allclose(solution.impulses[0], 3 * np.array([-0.6, 0, G * time]), atol=1e-5)
    assert np.allclose(stance.qd, 0, atol=1e-7)
    assert np.allclose(stance.places["ball"][:2], [0.6 * time, 0], atol=1e-6)
    assert np.allclose(stance.q, [0.6 * time, 0, 0], atol=1e-6)
    assert np.allclose(stance.lam, [0, 0, 3 * G], atol=1e-5)
    assert np.allclose(stance.wrenches["ball"], [0, 0, 0, 0, 0, 3 * G], atol=1e-5)
    assert solution.defects().length < 1e-6


@pytest.mark.slow
def test_the_impulse_obeys_the_friction_cone():
    """|Lam_x| / Lam_z = 0.6 / 3.962 = 0.151: inside mu / sqrt(2) for mu = 0.22, outside for mu = 0.2."""
    assert fall("implicit", mu=0.22).converged
    assert not fall("implicit", mu=0.2).converged


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_a_ball_carried_on_by_its_own_force(form):
    """Stand, move, stand, without gravity: least force over N intervals costs 12 m^2 L^2 / (h^3 N (N^2 - 1)).

    The place where it stands first is the image, one step back, of the place where it stands last.
    """
    N, T, L, m = 6, 0.9, 0.6, 3.0
    first, last = foot(), foot(x=0.25)
    phases = [
        ocp.Phase("stand", 2, 0.2, first, objective=ocp.TorqueSquared()),
        ocp.Phase("move", N, T, objective=ocp.TorqueSquared()),
        ocp.Phase("arrive", 2, 0.2, last, objective=ocp.TorqueSquared()),
    ]
    periodic = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=L)
    solution = ocp.Problem(ball(0.0), phases, periodic=periodic, unactuated=(), form=form).solve(progress=False)
    assert solution.converged
    assert solution.step_length == pytest.approx(L)
    stand, _, arrive = solution.phases
    assert np.allclose(arrive.places["ball"], [0.25, 0, 0], atol=1e-6)
    assert np.allclose(stand.places["ball"], [0.25 - L, 0, 0], atol=1e-6)
    assert np.allclose(stand.q, [0.25 - L, 0, 0], atol=1e-6)
    assert np.allclose(arrive.q, [0.25, 0, 0], atol=1e-6)
    assert solution.objective == pytest.approx(12 * (m * L) ** 2 / ((T / N) ** 3 * N * (N**2 - 1)), rel=1e-6)
    assert np.allclose(solution.sample([0.1, 0.1 + solution.duration])[:, 0], [0.25 - L, 0.25], atol=1e-6)


@pytest.mark.slow
def test_a_monopod_hops_without_a_mirror(motions):
    solution = motions["hop"]
    assert solution.converged
    assert solution.mirror() is None
    model, (stance, flight) = solution.model, solution.phases
    assert solution.step_length == pytest.approx(0.8 * solution.duration)
    shift = np.array([solution.step_length, *np.zeros(model.nq - 1)])
    assert np.allclose(flight.q[-1] - shift, stance.q[0], atol=1e-6)
    H = np.array(od.function(od.mass_matrix, model)(stance.q[0]))
    J = np.array(od.function(od.constraint_jacobian, model, stance.contacts)(stance.q[0]))
    assert np.allclose(H @ (stance.qd[0] - flight.qd[-1]), J.T @ solution.impulses[-1], atol=1e-5)
    assert np.allclose(J @ stance.qd[0], 0, atol=1e-7)
    # over a period the ground gives back, as force and impulse, what gravity takes
    upwards = stance.lam[:, 2].sum() * stance.duration / 5 + solution.impulses[-1][2]
    assert upwards == pytest.approx(model.mass * G * solution.duration, rel=2e-2)  # midpoint rule for the rest
    assert min(float(od.point_position(model, "foot", ca.DM(q))[2]) for q in flight.q) > -1e-7


def test_one_interval_of_a_period_follows_itself():
    """With a single interval the torque leads on to itself: no rate, no cost, and it stays solvable."""
    phase = ocp.Phase("hold", 1, 0.5, objective=(ocp.TorqueRateSquared(), ocp.TorqueSquared(1e-3)))
    periodic = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0)
    solution = ocp.Problem(pendulum(1), phase, periodic=periodic).solve(progress=False)
    assert solution.converged
    assert solution.cost["TorqueRateSquared"] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="cost_of_transport divides by the step length"):
        solution.cost_of_transport()


def test_periods_are_checked():
    walker, phase = ball(), ocp.Phase("hop", 3, 1.0)
    with pytest.raises(ValueError, match=r"speed -1.0 m/s cannot be met by a step_length of 0.05 to 3 m"):
        ocp.Periodic(-1.0)
    assert ocp.Periodic(-1.0, step_length=(-3.0, -0.05)).step_length == (-3.0, -0.05)
    with pytest.raises(ValueError, match="finite number or None"):
        ocp.Periodic(math.nan)
    with pytest.raises(ValueError, match="finite number or None, got 'fast'"):
        ocp.Periodic("fast")
    with pytest.raises(ValueError, match=r"root joint 'joint1' cannot"):
        ocp.Problem(pendulum(1), phase, periodic=ocp.Periodic(1.0, mirror=False))
    with pytest.raises(TypeError, match=r"periodic must be Periodic"):
        ocp.Problem(walker, phase, periodic=True)
    slow = ocp.Phase("hop", 3, (0.5, 2.0))
    for speed, steps in ((0.02, "0.01 to 0.04"), (7.0, "3.5 to 14"), (1e9, r"5e\+08 to 2e\+09")):
        with pytest.raises(
            ValueError, match=f"take 0.5 to 2 s, so the step would be {steps} m long, but step_length is 0"
        ):
            ocp.Problem(walker, slow, periodic=ocp.Periodic(speed, mirror=False))
    backwards = ocp.Periodic(-7.0, mirror=False, step_length=(-3.0, -0.05))
    with pytest.raises(ValueError, match=r"would be -14 to -3.5 m long, but step_length is -3 to -0.05 m"):
        ocp.Problem(walker, slow, periodic=backwards)
    for speed in (0.03, 5.9):
        ocp.Problem(walker, slow, periodic=ocp.Periodic(speed, mirror=False))
    stays = ocp.Phase("stand", 3, 1.0, foot())
    with pytest.raises(ValueError, match="give the last phase another Foothold"):
        ocp.Problem(walker, stays, periodic=ocp.Periodic(1.0, mirror=False)).solve(progress=False)


def test_phases_and_footholds_are_checked():
    with pytest.raises(TypeError, match="Foothold needs a Contact"):
        ocp.Foothold("foot")
    with pytest.raises(ValueError, match=r"half_length .* must not be negative"):
        foot(half_length=-0.1)
    with pytest.raises(ValueError, match="must have different frames"):
        ocp.Phase("stand", 3, 1.0, (foot(), foot()))
    with pytest.raises(ValueError, match=r"a whole number, got 2\.5"):
        ocp.Phase("stand", 2.5, 1.0)
    with pytest.raises(ValueError, match=r"lower <= upper, got \(1, 2, 3\)"):
        ocp.Phase("stand", 2, (1, 2, 3))
    with pytest.raises(TypeError, match="needs a Model"):
        ocp.Problem("robot.urdf", ocp.Phase("stand", 2, 1.0))


@pytest.mark.parametrize("found", [np.zeros(2), (np.zeros(3), np.zeros(2)), (np.zeros(2), np.full(2, np.nan))])
def test_a_guess_must_be_a_state(found):
    problem = ocp.Problem(pendulum(2), ocp.Phase("swing", 3, 1.0), guess=lambda s: found)
    with pytest.raises(ValueError, match="guess must return"):
        problem.solve(progress=False)


def test_a_guess_of_a_model_without_shared_joints_is_refused():
    phase = ocp.Phase("swing", 3, 1.0, objective=ocp.TorqueSquared())
    other = ocp.Problem(pendulum(1), phase).solve(progress=False)
    finer = ocp.Problem(ball(), ocp.Phase("swing", 6, 1.0), unactuated=())
    with pytest.raises(
        ValueError, match=r"shares joints with .* matched by name and kind; joints of the problem: root"
    ):
        finer.solve(progress=False, guess=other)
    with pytest.raises(TypeError, match=r"start must be a Solution, .* got 'last\.npz'"):
        finer.solve(progress=False, start="last.npz")


def test_defects_tell_lengths_from_angles():
    """A slide's defect is a length, a pendulum's an angle."""
    builder = od.ModelBuilder("slide")
    builder.add_body("block", od.Prismatic("x"), mass=1, inertia=(1, 1, 1))
    for model, longer in ((builder.build(), "length"), (pendulum(1), "angle")):
        solution = ocp.Problem(model, ocp.Phase("go", 2, 1.0, objective=ocp.TorqueSquared())).solve(progress=False)
        solution.phases[0].q[-1] += 0.25
        assert getattr(solution.defects(), longer) == pytest.approx(0.25, abs=0.05)
        assert getattr(solution.defects(), {"length": "angle", "angle": "length"}[longer]) == 0


def test_a_replaced_phase_keeps_its_shared_duration():
    step = ocp.Parameter("step time", 0.5, bounds=(0.3, 0.8))
    phase = replace(ocp.Phase("swing", 4, step), intervals=6)
    assert (phase.intervals, phase.shared_duration, phase.duration_bounds) == (6, step, (0.3, 0.8))
    assert replace(ocp.Phase("swing", 4, (0.2, 0.4)), intervals=6).duration_bounds == (0.2, 0.4)


def test_a_contact_among_the_constraints_has_forces_and_no_foothold():
    model = monopod()
    posture = model.neutral()
    held = od.Contact("foot", axes="xz").at(model, posture)
    rest = ocp.Boundary(lambda start, _: (ca.vertcat(start.qd[2:]), 0.0, 0.0))
    phase = ocp.Phase("stand", 3, 0.2, constraints=[held], objective=ocp.TorqueSquared(1e-3))
    solution = ocp.Problem(model, phase, boundary=[rest], posture=posture).solve(progress=False)
    assert solution.phases[0].wrenches == {}
    assert solution.phases[0].lam.shape == (3, 2)
