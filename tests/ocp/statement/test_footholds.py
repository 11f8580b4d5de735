"""Footholds of every kind, constraints a phase keeps, transitions, parameters, the guess by feet."""

import math
import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from ocp_dyn.ocp.guess.foot_tracks import tracks_of
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import place_value
from ocp_dyn.spatial_algebra import rotations
from ocp_dyn.symmetry.advance import Advance

G = 9.81
ACROSS = (0.0, 1.0, 0.0)


def plate(half=0.2, height=0.5):
    """A body on a foot: its frame `sole` lies between two edges, its center of mass above."""
    builder = od.ModelBuilder("plate")
    builder.add_body(
        "body", od.FloatingBase(), joint_name="root", mass=2.0, com=(0, 0, height), inertia=(0.1, 0.2, 0.1)
    )
    builder.add_frame("sole", "body", (0.0, 0.0, 0.0))
    builder.add_frame("toe", "body", (half, 0.0, 0.0))
    builder.add_frame("heel", "body", (-half, 0.0, 0.0))
    return builder.build()


def edge(frame="toe", radius=0.0, **options):
    return ocp.Foothold(od.RollingContact(frame, radius, (0, 0, radius), axis=ACROSS), **options)


def rolled(place, pitch, frame_x, radius):
    """q of the plate rolled by a pitch over an edge at frame_x whose place this is."""
    x, y, yaw = place
    heading = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    Rz = np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
    Ry = np.array([[math.cos(pitch), 0, math.sin(pitch)], [0, 1, 0], [-math.sin(pitch), 0, math.cos(pitch)]])
    R = Rz @ Ry
    center = np.array([x, y, radius]) + radius * pitch * heading
    p = center - R @ np.array([frame_x, 0.0, radius])
    turn, tilt = (
        ca.DM([0, 0, math.sin(yaw / 2), math.cos(yaw / 2)]),
        ca.DM([0, math.sin(pitch / 2), 0, math.cos(pitch / 2)]),
    )
    return np.concatenate([p, np.array(rotations.quaternion_multiply(turn, tilt)).ravel()])


def test_a_foothold_derived_from_another_stands_on_the_same_foot():
    model = plate()
    flat = ocp.Foothold(od.Contact("sole"), yaw=0.3)
    toe, heel = edge("toe", 0.02, of=flat), edge("heel", of=flat)
    assert toe.root is flat
    assert toe.offset(model) == pytest.approx((0.2, 0.0, 0.0))
    assert heel.offset(model) == pytest.approx((-0.2, 0.0, 0.0))
    high = ocp.Foothold(od.Contact("sole", point=(0, 0, 0.1)), of=flat)
    with pytest.raises(ValueError, match=r"'sole' cannot be derived from 'sole'.*0\.1 m above"):
        high.offset(model)
    with pytest.raises(ValueError, match=r"derived from each other .* can hold only one"):
        ocp.Phase("both", 2, 1.0, (toe, heel))
    with pytest.raises(TypeError, match="must be a Foothold of the same foot"):
        edge(of="sole")
    for place in ({"x": 0.3}, {"y": (0.0, 0.1)}, {"yaw": 0.2}):
        with pytest.raises(ValueError, match=f"'toe' has its place from of='sole': leave out {next(iter(place))}"):
            ocp.Foothold(od.RollingContact("toe", 0.0, axis=(0, 1, 0)), of=flat, **place)
    with pytest.raises(ValueError, match="axis in the frame's x-y plane"):
        ocp.Foothold(od.RollingContact("toe", 0.0))


def toppling():
    """A plate that stands on its rear edge falls forward until it is flat, and stays so."""
    model = plate()
    flat = ocp.Foothold(od.Contact("sole"), x=0.0, y=0.0, half_length=0.2, half_width=0.1)
    start = rolled((-0.2, 0.0, 0.0), -0.3, -0.2, 0.0)

    def at_rest(first, _):
        return ca.vertcat(first.model.difference(ca.DM(start), first.q), first.qd)[[4, 10]], 0.0, 0.0

    phases = [
        ocp.Phase("roll", 12, (0.05, 2.0), edge("heel", of=flat)),
        ocp.Phase("stand", 2, 0.1, flat),
    ]
    return ocp.Problem(
        model,
        phases,
        ocp.Impact(),
        boundary=ocp.Boundary(at_rest),
        integrator="gauss:2",
        guess=lambda s: (start, np.zeros(6)),
    )


@pytest.mark.slow
def test_a_plate_topples_over_its_edge_and_slaps_down():
    """It swings like a rigid pendulum about the edge; the energy it brings down is lost, and the edge's pitch is
    zero."""
    solution = toppling().solve(progress=False, max_iterations=100, tolerance=1e-10)
    assert solution.converged
    roll, stand = solution.phases
    inertia = 0.2 + 2.0 * (0.2**2 + 0.5**2)  # about the edge
    energy = [float(od.potential_energy(solution.model, ca.DM(roll.q[k]))) for k in (0, -1)]
    rate = math.sqrt(2 * (energy[0] - energy[1]) / inertia)
    assert roll.qd[-1][4] == pytest.approx(rate, rel=1e-6)
    assert np.allclose(stand.qd, 0, atol=1e-8)
    assert np.allclose(stand.q[:, :3], 0, atol=1e-8)
    assert roll.places["heel"] == pytest.approx([-0.2, 0.0, 0.0])
    assert solution.defects().angle < 1e-4
    impulse = solution.impulses[0]
    momentum = 2.0 * rate * np.array([0.5, 0.0, -0.2])  # of the center of mass, just before
    assert np.allclose(impulse[3:], -momentum, atol=1e-6)
    lever, lean = math.hypot(0.2, 0.5), math.atan2(0.2, 0.5)  # of the center of mass about the edge
    assert energy[0] - energy[1] == pytest.approx(2.0 * G * lever * (math.cos(lean - 0.3) - math.cos(lean)))


@pytest.mark.slow
def test_edges_survive_a_file(tmp_path):
    solution = toppling().solve(progress=False, max_iterations=100)
    again = ocp.Solution.load(solution.save(tmp_path / "plate.npz"))
    assert again.phases[0].contacts == solution.phases[0].contacts
    assert np.array_equal(again.phases[0].wrenches["heel"], solution.phases[0].wrenches["heel"])


@pytest.mark.slow
def test_a_flat_foot_rolls_onto_its_edge_with_nothing_set_down_anew():
    """Flat, then over the toes: no rows at the start of the second phase, and the edge stays where the sole had it."""
    model = plate()
    flat = ocp.Foothold(od.Contact("sole"), x=(-1, 1), y=0.1, yaw=(-1, 1))
    phases = [ocp.Phase("flat", 2, 0.1, flat), ocp.Phase("toes", 6, 0.3, edge("toe", of=flat))]

    def ends(first, last):
        tip = od.point_position(last.model, "heel", last.q)[2]
        return ca.vertcat(first.q[0] - 0.4, tip - 0.1), 0.0, 0.0

    problem = ocp.Problem(
        model, [ocp.Phase(p.name, p.intervals, p.duration, p.footholds, (), ocp.TorqueSquared()) for p in phases],
        boundary=ocp.Boundary(ends), unactuated=(),
    )  # fmt: skip
    t = transcribe(problem)
    program = t.program.assemble()
    assert not [name for name in program.row_names if name.startswith("start of toes")]
    solution = problem.solve(progress=False)
    assert solution.converged
    x, y, yaw = solution.phases[0].places["sole"]
    assert solution.phases[1].places["toe"] == pytest.approx([x + 0.2 * math.cos(yaw), y + 0.2 * math.sin(yaw), yaw])
    tip = od.point_position(model, "toe", ca.DM(solution.phases[1].q[-1]))
    assert np.allclose(np.array(tip).ravel()[:2], solution.phases[1].places["toe"][:2], atol=1e-7)


def test_constraints_of_the_robot_hold_in_every_phase():
    """Two joints coupled by a gear, all along; a torque on one moves both: q2 = 2 q1 and T = (I1 + 4 I2) qdd1."""
    builder = od.ModelBuilder("gear", gravity=(0, 0, 0))
    for name, inertia in (("one", 0.3), ("two", 0.1)):
        builder.add_body(name, od.Revolute("z"), mass=1, inertia=(1, 1, inertia), joint_name=name)
    gear = od.JointCoupling("two", "one", ratio=2.0)

    def ends(first, last):
        return ca.vertcat(first.q[0], first.qd[0], last.q[0] - 1.0), 0.0, 0.0

    phase = ocp.Phase("turn", 10, 1.0, constraints=gear, objective=ocp.TorqueSquared(), path=())
    more = ocp.Phase("more", 2, 0.2, constraints=gear, objective=ocp.TorqueSquared())
    solution = ocp.Problem(builder.build(), [phase, more], boundary=ocp.Boundary(ends), unactuated=("two",)).solve(
        progress=False
    )
    assert solution.converged
    assert np.allclose(solution.q[:, 1], 2 * solution.q[:, 0], atol=1e-8)
    first = solution.phases[0]
    assert np.allclose(first.tau[:, 0], (0.3 + 4 * 0.1) * first.qdd[:, 0], atol=1e-7)
    assert solution.defects().angle < 1e-6
    assert first.wrenches == {}


def ball(gravity=G):
    builder = od.ModelBuilder("ball", gravity=(0, 0, -gravity))
    builder.add_body("ball", od.Translation(), joint_name="root", mass=3.0)
    return builder.build()


def test_a_jump_of_the_users_own():
    """A ball bounces with restitution 0.8: it comes back to 0.64 of its height."""

    def bounce(end, start):
        after = ca.vertcat(end.qd[:2], -0.8 * end.qd[2])
        return ca.vertcat(start.q - end.q, start.qd - after, end.q[2]), 0.0, 0.0

    def thrown(start, end):
        return ca.vertcat(start.q - ca.DM([0, 0, 1.0]), start.qd - ca.DM([0.5, 0, 0]), end.qd[2]), 0.0, 0.0

    phases = [ocp.Phase("down", 4, (0.1, 2.0)), ocp.Phase("up", 4, (0.1, 2.0))]
    solution = ocp.Problem(ball(), phases, ocp.Jump(bounce), boundary=ocp.Boundary(thrown), unactuated=["root"]).solve(
        progress=False, tolerance=1e-10
    )
    assert solution.converged
    assert solution.q[-1][2] == pytest.approx(0.64, abs=1e-7)
    with pytest.raises(ValueError, match="Jump 'jump' must return"):
        ocp.Problem(ball(), phases, ocp.Jump(lambda end, start: end.q)).solve(progress=False)


def test_costs_and_durations_follow_parameters():
    """A rotor turned by the angle `far` in the time T: J = 12 I^2 far^2 / T^3 (midpoint: N^2 / (N^2 - 1) of it)."""
    far, time = ocp.Parameter("far", 1.0), ocp.Parameter("half", 0.5)
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1))

    def ends(first, last):
        return ca.vertcat(first.q, first.qd, last.q - first.values["far"], last.qd), 0.0, 0.0

    halves = [ocp.Phase(name, 10, time, objective=ocp.TorqueSquared()) for name in ("first", "second")]
    problem = ocp.Problem(builder.build(), halves, boundary=ocp.Boundary(ends), parameters=[far])
    cost = lambda x, T: 12 * x**2 / (2 * T) ** 3 * 400 / 399
    first = problem.solve(progress=False)
    again = problem.solve(values={"far": 2.0, "half": 0.4}, progress=False)
    assert first.objective == pytest.approx(cost(1.0, 0.5), rel=1e-6)
    assert again.objective == pytest.approx(cost(2.0, 0.4), rel=1e-6)
    assert [phase.duration for phase in again.phases] == pytest.approx([0.4, 0.4])
    assert problem.solve(progress=False).objective == pytest.approx(first.objective, rel=1e-8)
    with pytest.raises(KeyError, match="no parameter 'near'; there are far, half"):
        problem.solve(values={"near": 1.0}, progress=False)


def test_parameters_that_are_free_in_bounds_and_shared():
    """Free and shared duration: with time at a price of c per second, 12 d^2 / T^3 + c T is least at T^4 = 36 d^2 /
    c."""
    time = ocp.Parameter("half", 0.4, bounds=(0.1, 3.0))
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    ends = ocp.Boundary(lambda a, b: (ca.vertcat(a.q, a.qd, b.q - 1.0, b.qd), 0.0, 0.0))
    objective = (ocp.TorqueSquared(), ocp.Integral(lambda instant: 5.0))
    halves = [ocp.Phase(name, 20, time, objective=objective) for name in ("first", "second")]
    solution = ocp.Problem(builder.build(), halves, boundary=ends).solve(progress=False)
    assert solution.phases[0].duration == pytest.approx(solution.phases[1].duration)
    assert solution.duration == pytest.approx((36 / 5) ** 0.25, rel=1e-3)


def test_parameters_of_the_model():
    """Mass and slope: a ball on a slope falls along it; a heavier one needs more force to stand."""
    model = ball()
    standing = ocp.Phase("stand", 2, 0.5, ocp.Foothold(od.Contact("ball", axes="xyz")), objective=ocp.ForceSquared())
    parameters = [ocp.Parameter("slope", 0.3), ocp.Parameter("mass:ball", 3.0)]
    problem = ocp.Problem(model, standing, unactuated=["root"], parameters=parameters)
    for slope, mass in ((0.3, 3.0), (-0.1, 5.0)):
        solution = problem.solve(values={"slope": slope, "mass:ball": mass}, progress=False)
        weight = mass * G * np.array([math.sin(slope), 0, math.cos(slope)])
        assert np.allclose(solution.phases[0].lam, weight, atol=1e-5)
        assert np.linalg.norm(solution.model.gravity) == pytest.approx(G)
        assert solution.model.gravity[0] == pytest.approx(-G * math.sin(slope))
        assert solution.model.mass == pytest.approx(mass)


def test_speed_and_step_length_are_parameters():
    phase = ocp.Phase("go", 4, (0.1, 2.0), objective=ocp.TorqueSquared())
    periodic = ocp.Periodic(1.0, mirror=False, transition=ocp.Continuous(), step_length=0.5)
    problem = ocp.Problem(ball(0.0), phase, periodic=periodic, unactuated=())
    assert problem.solve(progress=False).duration == pytest.approx(0.5)
    faster = problem.solve(values={"speed": 2.0, "step_length": 0.8}, progress=False)
    assert faster.duration == pytest.approx(0.4)
    assert faster.step_length == pytest.approx(0.8)


def test_options_of_the_problem_are_for_a_start_from_its_guess():
    """They reach the solver, options of the call before them; not where a solution starts it, or another solver."""
    phase = ocp.Phase("swing", 3, 1.0, objective=ocp.TorqueSquared())
    up = ocp.Boundary(lambda first, last: (ca.vertcat(first.qd, last.q - first.q - 2.0), 0.0, 0.0))
    problem = ocp.Problem(pendulum(1), phase, boundary=up, options={"acceptable_iter": 1, "acceptable_tol": 1e9})
    first = problem.solve(progress=False)
    assert first.status == "Solved_To_Acceptable_Level"
    assert problem.solve(progress=False, acceptable_tol=1e-12).status == "Solve_Succeeded"
    assert problem.solve(progress=False, start=first).converged


def test_parameters_are_checked():
    with pytest.raises(ValueError, match=r"bounds must be \(lower, upper\), got array"):
        ocp.Parameter("slope", bounds=np.array(None))
    with pytest.raises(ValueError, match="needs a value, or bounds"):
        ocp.Parameter("b")
    with pytest.raises(ValueError, match="needs a name other than"):
        ocp.Parameter("tau", 1.0)
    with pytest.raises(ValueError, match="needs lower <= upper"):
        ocp.Parameter("b", bounds=(2.0, 1.0))
    phase = ocp.Phase("swing", 3, 1.0)
    with pytest.raises(ValueError, match="must have different names"):
        ocp.Problem(pendulum(1), phase, parameters=[ocp.Parameter("b", 1), ocp.Parameter("b", 2)])
    with pytest.raises(ValueError, match="'gravity' has 3 numbers, got 1"):
        ocp.Problem(pendulum(1), phase, parameters=[ocp.Parameter("gravity", 9.81)])
    with pytest.raises(ValueError, match="must be one number"):
        ocp.Phase("swing", 3, ocp.Parameter("half", [1.0, 2.0]))


def walker():
    """Half a step of the human, as phases only: heel, flat, toes."""
    model = human()

    def foot(side, **place):
        flat = ocp.Foothold(od.Contact(f"sole_{side}"), **place)
        edges = [ocp.Foothold(od.RollingContact(f"{end}_{side}", 0.0, axis=ACROSS), of=flat) for end in ("heel", "toe")]
        return flat, *edges

    (flat, heel, toe), (_, _, behind) = foot("r", x=0.0, y=-0.1), foot("l")
    phases = [
        ocp.Phase("loading", 3, 0.1, (heel, behind)),
        ocp.Phase("flat", 6, 0.3, flat),
        ocp.Phase("toes", 4, 0.2, toe),
    ]
    return ocp.Problem(
        model, phases, [ocp.Impact(), ocp.Continuous()], periodic=ocp.Periodic(1.0), guess=ocp.FootPlan()
    )


@pytest.mark.slow
def test_the_image_of_a_foot_is_found_whatever_its_frame_is_called():
    model = human().with_frame("left", "sole_l").with_frame("right", "sole_r")
    right = ocp.Foothold(od.Contact("right"), x=0.0, y=-0.1)
    left, elsewhere = ocp.Foothold(od.Contact("left")), ocp.Foothold(od.Contact("left", point=(0.1, 0, 0)))

    def images(first):
        phases = [ocp.Phase("both", 2, 0.2, (right, first)), ocp.Phase("one", 2, 0.4, right)]
        return transcribe(ocp.Problem(model, phases, periodic=ocp.Periodic(1.0))).images

    assert images(left) == {left: right}
    assert images(elsewhere) == {}


@pytest.mark.slow
def test_the_guess_by_feet_puts_them_where_the_phases_say():
    problem = walker()
    weak = problem.model.dofs.effort * (0.05, 1.0)
    problem = replace(problem, model=problem.model.with_limits(effort=weak))
    t = transcribe(problem)
    initial_guess(t)
    start = t.program.start
    step = 0.6
    assert start[t.step_length.index] == pytest.approx(step)
    model = problem.model
    for phase, x in zip(problem.phases, t.phases, strict=True):
        for q in (x["q"][1], x["q"][-2]):
            numbers = start[q.index]
            assert np.linalg.norm(numbers[3:7]) == pytest.approx(1.0)
            for f in phase.footholds:
                phi = f.position(model, ca.DM(numbers), ca.DM(place_value(t, f, start, Advance.of(step))))
                assert np.abs(np.array(phi)).max() < 0.02  # the guess is smoothed
    # accelerations and torques follow the motion
    x = t.phases[1]
    h = 0.3 / 6
    rate = (start[x["qd"][3].index] - start[x["qd"][2].index]) / h
    assert np.allclose(start[x["qdd"][2].index], np.clip(rate, -100, 100))
    torques = start[x["tau"][2].index] * x["tau"][2].scale
    assert np.all(torques <= 0.5 * model.dofs.tau_max[problem.actuated] + 1e-9)
    assert np.all(torques >= 0.5 * model.dofs.tau_min[problem.actuated] - 1e-9)
    assert np.abs(torques).max() > 1.0
    swing = start[t.phases[1]["q"][3].index]
    assert float(od.point_position(model, "sole_l", ca.DM(swing))[2]) > 0.04
    # the trailing foot of the first phase is the image of the toes that the last phase stands on
    behind = problem.phases[0].footholds[1]
    toe = problem.phases[2].footholds[0]
    x0, y0, _ = place_value(t, toe, start, Advance.of(step))
    assert place_value(t, behind, start, Advance.of(step)) == pytest.approx([x0 - step, -y0, 0.0])
    tracks = tracks_of(problem.guess, t, [0.1, 0.3, 0.2])
    assert sorted(model.body_names[body - 1] for body in tracks) == ["foot_l", "foot_r"]


def test_an_edge_moves_to_another_plane():
    edge = od.RollingContact("foot", 0.0, (0.1, 0, 0), axis=(0, 1, 0))
    ramp, wall = ocp.Plane((0, 0, 0), (-0.5, 0.2, 1.0)), ocp.Plane((1, 0, 0), (-1, 0, 0))
    for foothold in (ocp.Foothold(edge, plane=ramp), pickle.loads(pickle.dumps(ocp.Foothold(edge, plane=ramp)))):
        for plane in (wall, ocp.Plane()):
            moved = replace(foothold, plane=plane)
            assert moved.plane == plane
            assert moved.contact.normal == plane.normal
    flat = [ocp.Foothold(od.Contact("foot"), plane=plane) for plane in (ramp, wall)]
    derived = ocp.Foothold(edge, of=flat[0])
    with pytest.raises(ValueError, match=r"leave out plane, or write plane=ocp.Plane\(\) in dataclasses.replace"):
        replace(derived, of=flat[1])
    moved = replace(derived, of=flat[1], plane=ocp.Plane())
    assert moved.plane == wall
    assert moved.contact.normal == wall.normal
    with pytest.raises(ValueError, match="other planes go to Foothold"):
        ocp.Foothold(replace(edge, normal=ramp.normal))
