"""Steps that climb, turn and go sideways, from the statement to the solution and its figures."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.unrolled import unroll
from ocp_dyn.models import five_link_biped
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.statement.periodic import height_range
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import place_value
from ocp_dyn.symmetry.advance import Advance
from ocp_dyn.viz.viewer.track import of_motion

RISE, TREAD = 0.1, 0.4


def body(root="quaternion", gravity=0.0):
    builder = od.ModelBuilder("body", gravity=(0, 0, -gravity))
    builder.add_body("body", od.FloatingBase(root), joint_name="root", mass=3, inertia=(0.3, 0.2, 0.1))
    return builder.build()


def drifting(step, speed=None, mirror=False, model=None, time=(0.2, 3.0), **settings):
    """A body with motors on all its dofs goes where its step leads."""
    phase = ocp.Phase("go", 4, time, objective=ocp.TorqueSquared())
    periodic = ocp.Periodic(speed, mirror=mirror, transition=ocp.Continuous(), step=step)
    return ocp.Problem(model or body(), phase, periodic=periodic, unactuated=(), **settings)


def solved(problem, **settings):
    found = problem.solve(progress=False, **settings)
    assert found.converged
    return found


# Statement


def test_entries_are_numbers_or_bounds():
    step = ocp.Step(0.5, sideways=(-0.1, 0.2), turn=0.3)
    assert (step.length, step.sideways, step.rise, step.turn) == ((0.5, 0.5), (-0.1, 0.2), (0.0, 0.0), (0.3, 0.3))
    with pytest.raises(ValueError, match=r"Step turn is the angle of one period in rad, .* got 30: write math.radians"):
        ocp.Step(turn=30)
    with pytest.raises(ValueError, match=r"Step rise \[m\] must be a number or \(lower, upper\) with lower <= upper"):
        ocp.Step(rise=(0.2, 0.1))
    with pytest.raises(ValueError, match=r"Step rise \[m\] must be finite"):
        ocp.Step(rise=(0.0, math.inf))


def test_an_arc_begins_at_the_origin_and_heads_forward():
    step = ocp.Step.arc(1.2, turn=0.6, rise=0.1)
    x, y, z, turn = (low for low, _ in (step.length, step.sideways, step.rise, step.turn))
    assert [x, y] == pytest.approx([1.2 * math.sin(0.6) / 0.6, 1.2 * (1 - math.cos(0.6)) / 0.6])
    assert (z, turn) == (0.1, 0.6)
    assert ocp.Step.arc(1.2, 0.0) == ocp.Step(1.2)


def test_a_period_has_one_step():
    with pytest.raises(ValueError, match=r"Periodic has step_length=0.4 and step=Step"):
        ocp.Periodic(step_length=0.4, step=ocp.Step(0.5))
    with pytest.raises(TypeError, match=r"Periodic step must be an ocp.Step, .* got 0.5"):
        ocp.Periodic(step=0.5)
    for step, names in ((ocp.Step(turn=0.1), "turn"), (ocp.Step(sideways=(0, 0.1), turn=0.1), "sideways and turn")):
        with pytest.raises(ValueError, match=f"mirror=True with {names} in its step: .* write mirror=False"):
            ocp.Periodic(step=step)
    assert ocp.Periodic(step=ocp.Step(0.3, rise=0.17)).advance.rise == (0.17, 0.17)


def test_the_speed_is_that_of_the_horizontal_distance():
    assert ocp.Periodic(1.0, mirror=False, step=ocp.Step(0.0, sideways=(0.1, 0.4))).advance.distances == (0.1, 0.4)
    backwards = ocp.Step((-0.6, -0.3), sideways=0.4)
    assert backwards.distances == pytest.approx((-math.hypot(0.6, 0.4), -0.5))
    with pytest.raises(ValueError, match=r"speed 1.0 m/s cannot be met by a step_length of -0.72\d* to -0.5 m"):
        ocp.Periodic(1.0, mirror=False, step=backwards)
    with pytest.raises(
        ValueError, match=r"take 0.2 to 3 s, so the step would be 2 to 30 m long, but step_length is 0.5 m"
    ):
        drifting(ocp.Step(0.3, sideways=0.4), speed=10.0)
    assert ocp.Step((-0.2, 0.3), sideways=(-0.4, 0.1)).distances == pytest.approx((0.0, 0.5))


def test_roots_gravity_and_names_must_allow_the_step():
    walker = five_link_biped(root="planar")
    with pytest.raises(
        ValueError, match=r"cannot move sideways .* or turn about the vertical: use a model with a Floating"
    ):
        drifting(ocp.Step(0.4, sideways=0.1, turn=0.1), model=walker)
    with pytest.raises(ValueError, match="it must point along -z, got the parameter 'slope'"):
        drifting(ocp.Step(0.4, turn=0.1), parameters=ocp.Parameter("slope", 0.1))
    with pytest.raises(ValueError, match=r"it must point along -z, got \(1.0, 0.0, -9.0\)"):
        drifting(ocp.Step(0.4, turn=0.1), model=body().with_gravity((1.0, 0.0, -9.0)))
    with pytest.raises(ValueError, match="Parameter 'turn' has the name of an entry of the step"):
        drifting(ocp.Step(0.4, turn=0.1), parameters=ocp.Parameter("turn", 0.1))
    assert drifting(ocp.Step(0.4), parameters=ocp.Parameter("turn", 0.1)).resolved.parameters[0].name == "turn"


# Motions


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_a_free_body_goes_straight_for_nothing(form):
    problem = drifting(ocp.Step((0.1, 0.9), sideways=0.3, rise=0.2), speed=0.5, form=form)
    found = solved(problem, values={"sideways": 0.4, "rise": -0.1})
    assert found.objective == pytest.approx(0.0, abs=1e-8)
    assert (found.sideways, found.rise, found.turn) == (0.4, -0.1, 0.0)
    assert found.q[-1, :3] - found.q[0, :3] == pytest.approx([found.step_length, 0.4, -0.1], abs=1e-7)
    assert math.hypot(found.step_length, 0.4) == pytest.approx(0.5 * found.duration)
    assert found.distance == pytest.approx(0.5 * found.duration)


@pytest.mark.slow
def test_a_turning_body_repeats_in_the_turned_world():
    """Angular velocities in body axes, and the turned linear velocity, are those of the start."""
    still = ocp.Boundary(lambda start, end: (start.q[:3], 0, 0))
    problem = drifting(ocp.Step.arc(0.6, 0.5, 0.1), time=0.5, boundary=still)
    found = solved(problem, values={"turn": 0.6})
    assert found.turn == 0.6
    model, g = found.model, Advance.of(found.step_length, found.sideways, found.rise, 0.6)
    for n, state in ((1, (found.q[0], found.qd[0])), (2, (found.q[-1], found.qd[-1]))):
        q, qd = g.state(model, *map(ca.DM, state))
        assert np.abs(np.array(model.difference(found.sample(n * found.duration)[0], q))).max() < 1e-6
        if n == 1:
            assert np.abs(np.array(qd).ravel() - found.qd[-1]).max() < 1e-6
    assert found.repetition(2).points(np.zeros(3)) == pytest.approx(np.array(g.point(g.shift)).ravel())


# Feet


def jumper(root="quaternion"):
    builder = od.ModelBuilder("jumper")
    builder.add_body("trunk", od.FloatingBase(root), joint_name="root", mass=8, inertia=(0.3, 0.2, 0.1))
    builder.add_body("thigh", od.Universal("x", "y"), "trunk", mass=1, inertia=(0.05,) * 3)
    builder.add_body(
        "shin", od.Prismatic("-z"), "thigh", mass=0.5, com=(0, 0, -0.3), inertia=(0.02,) * 3, lower=0.0, upper=0.5
    )
    ankle = od.MultiDof([(0, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0)])
    builder.add_body("foot", ankle, "shin", origin=(0, 0, -0.5), mass=0.5, inertia=(0.01,) * 3)
    return builder.build()


def jumping():
    """Jumps along an arc that climbs."""
    foot = ocp.Foothold(od.Contact("foot"), 0.0, 0.0, 0.0, half_length=0.1, half_width=0.06)
    path = (ocp.Unilateral(), ocp.CenterOfPressure())  # no pyramid of friction: it has the world's axes
    effort = (ocp.TorqueSquared(1e-4), ocp.AccelerationSquared(1e-4))
    phases = [
        ocp.Phase("stance", 4, (0.2, 0.5), foot, path, effort),
        ocp.Phase("flight", 4, (0.2, 0.5), (), (), effort),
    ]
    periodic = ocp.Periodic(mirror=False, step=ocp.Step.arc(0.4, 0.35, 0.1))
    return ocp.Problem(jumper(), phases, periodic=periodic, unactuated=["root"], guess=ocp.FootPlan())


@pytest.fixture(scope="module")
def jump():
    return solved(jumping())


@pytest.mark.slow
def test_multipliers_of_a_turn(jump):
    """Shifts turn into each other, so that no direction outside of the basis remains in which the map is wrong."""
    found = jump.floquet(step=0.05)
    assert found.leak < 1e-8
    turn = np.exp(1j * jump.turn)
    assert sorted([found.neutral["x"], found.neutral["y"]], key=np.imag) == pytest.approx([turn.conjugate(), turn])
    assert found.neutral["yaw"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_a_jump_lands_on_the_next_place_and_keeps_in_files(jump, tmp_path):
    end = od.pose(jump.model, "foot", jump.q[-1])
    g = jump.repetition(1)
    np.testing.assert_allclose(np.array(end[1]).ravel(), g.points(np.zeros(3)), atol=1e-6)
    np.testing.assert_allclose(np.array(end[0]), np.array(jump.advance.R), atol=1e-6)
    loaded = ocp.Solution.load(jump.save(tmp_path / "jump.npz"))
    assert (loaded.step_length, loaded.sideways, loaded.rise, loaded.turn) == (
        jump.step_length, jump.sideways, jump.rise, jump.turn
    )  # fmt: skip
    numbers = jump.summary(defects=False).numbers()
    assert numbers["turn_deg"] == pytest.approx(math.degrees(0.35))
    assert numbers["rise_m"] == pytest.approx(0.1)
    assert numbers["speed_m_per_s"] == pytest.approx(math.hypot(jump.step_length, jump.sideways) / jump.duration)
    assert jump.cost_of_transport() == pytest.approx(
        jump.mechanical_work()[0] / (jump.model.weight * numbers["speed_m_per_s"] * jump.duration)
    )


@pytest.mark.parametrize("n", [2.5, "a", True])
def test_a_repetition_has_a_whole_number(jump, n):
    with pytest.raises(ValueError, match="the number of the period must be at least -1000000, a whole number, got"):
        jump.repetition(n)
    back = jump.repetition(np.int64(-1)).points(jump.repetition(1).points(np.ones(3)))
    assert back == pytest.approx(np.ones(3))


def test_pictures_unroll_the_turned_steps(jump):
    one, two, three = (s for s in unroll(jump, 3) if s.name == "stance")
    moved, rate = jump.repetition(2).rows(jump.phases[0].q, jump.phases[0].qd)
    np.testing.assert_allclose(three.q, moved, atol=1e-12)
    np.testing.assert_allclose(three.qd, rate, atol=1e-12)
    g = jump.repetition(1)
    (first,), (second,) = one.supports, two.supports
    assert [*second.place[:2], second.height] == pytest.approx(g.points(np.zeros(3)))
    assert second.place[2] == pytest.approx(0.35)
    np.testing.assert_allclose(second.wrench[:, 3:], g.vectors(first.wrench[:, 3:]), atol=1e-9)
    np.testing.assert_allclose(second.wrench[:, :3], g.moments(first.wrench[:, :3]), atol=1e-9)
    np.testing.assert_allclose(second.forward, [math.cos(0.35), math.sin(0.35), 0.0], atol=1e-12)
    track = of_motion(jump, [])
    R, p = track.moved(2)
    np.testing.assert_allclose(track.points(np.ones(3), 2), jump.repetition(2).points(np.ones(3)), atol=1e-9)
    np.testing.assert_allclose(R @ np.ones(3) + p, jump.repetition(2).points(np.ones(3)), atol=1e-9)
    with pytest.raises(ValueError, match=r"gait\(\) is for walking straight ahead: .* turns by 20.1 degrees"):
        jump.gait()


# Stairs


def biped():
    builder = od.ModelBuilder("biped")
    root = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (0, 1, 0, 0, 0, 0)])
    builder.add_body("trunk", root, mass=10, com=(0, 0, 0.2), inertia=(0.3, 0.3, 0.1), joint_name="root")
    for side, y in (("l", 0.1), ("r", -0.1)):
        builder.add_body(
            f"hip_{side}",
            od.Revolute("y"),
            "trunk",
            origin=(0, y, 0),
            mass=1,
            inertia=(0.02,) * 3,
            lower=-0.8,
            upper=0.8,
        )
        leg = {"mass": 1, "com": (0, 0, -0.5), "lower": -0.25, "upper": 0.2}
        builder.add_body(f"leg_{side}", od.Prismatic("-z"), f"hip_{side}", **leg)
        builder.add_frame(f"foot_{side}", f"leg_{side}", (0, 0, -0.8))
    return builder.build()


def climbing(rise=RISE, height=RISE, length=TREAD, form="implicit", normal=(0.0, 0.0, 1.0)):
    """A step up: on the right foot, then on both; the left one is on the next stair."""
    left = ocp.Foothold(od.Contact("foot_l", axes="xz"), x=TREAD, y=0.1, plane=ocp.Plane((0, 0, height), normal))
    right = ocp.Foothold(od.Contact("foot_r", axes="xz"), x=(-5, 5), y=(-1, 1), plane=ocp.Plane(normal=normal))
    effort = (ocp.TorqueSquared(1e-3), ocp.AccelerationSquared(1e-4))
    over = ocp.Clearance([("foot_l", (0, 0, 0))], height=0.04, terrain=lambda x, y: RISE / TREAD * x)
    phases = [
        ocp.Phase("one", 5, (0.3, 0.8), right, (ocp.Unilateral(), over), effort),
        ocp.Phase("both", 3, (0.1, 0.3), (right, left), ocp.Unilateral(), effort),
    ]
    periodic = ocp.Periodic(transition=ocp.Continuous(), step=ocp.Step(length, rise=rise))
    return ocp.Problem(biped(), phases, ocp.Impact(), periodic=periodic, form=form, unactuated=["root"])


@pytest.mark.slow
def test_mirrored_steps_climb_stairs():
    """Every next foothold is one stair higher and a tread further; a free rise follows from the planes."""
    problem = climbing((0.0, 0.3))
    found = solved(problem)
    assert found.rise == pytest.approx(RISE, abs=1e-8)
    both = found.phases[1].places
    assert both["foot_l"][:2] == pytest.approx([TREAD, 0.1])
    assert both["foot_r"][:2] == pytest.approx([0.0, -0.1])  # the image of the left one
    model, T = found.model, found.duration
    for time, name, stairs in ((T, "foot_l", 1), (1.5 * T, "foot_l", 1), (2 * T, "foot_r", 2), (3 * T, "foot_l", 3)):
        place = np.array(od.point_position(model, name, found.sample(time)[0])).ravel()
        assert place[[0, 2]] == pytest.approx([stairs * TREAD, stairs * RISE], abs=3e-3)
    assert found.repetition(1).points(np.array([TREAD, 0.1, RISE])) == pytest.approx([2 * TREAD, -0.1, 2 * RISE])
    assert found.drift().position < 1e-4


@pytest.mark.slow
def test_planes_decide_the_rise():
    with pytest.raises(
        ValueError, match=r"'foot_l' .* is, one step back, .* 'foot_r' .* is then \+0.05 m above the plane"
    ):
        transcribe(climbing(rise=0.05))
    with pytest.raises(ValueError, match=r"is then -0.1 m above the plane"):
        transcribe(climbing(rise=(0.2, 0.3)))
    with pytest.raises(KeyError, match="no parameter 'rise'"):
        climbing().solve(values={"rise": 0.2}, progress=False)


def test_the_range_of_a_rise_is_that_of_all_corners_of_the_step():
    low, ramp = ocp.Plane(), ocp.Plane((0.0, 0.0, 0.0), (-1.0, 0.0, 1.0))
    up = math.sqrt(0.5)
    free = ocp.Step(length=(0.1, 0.5), rise=(0.2, 0.3))
    assert height_range(free, False, ramp, ramp) == pytest.approx(((0.1 - 0.3) * up, (0.5 - 0.2) * up))
    assert height_range(free, False, low, ocp.Plane((0, 0, 0.3))) == pytest.approx((0.0, 0.1))
    assert all(map(math.isnan, height_range(free, False, low, ramp)))  # not parallel
    turning = ocp.Step(length=0.3, turn=(0.0, 0.2))
    assert all(map(math.isnan, height_range(turning, False, ramp, ramp)))  # parallel at no turn alone
    assert height_range(turning, False, low, low) == (0.0, 0.0)


def test_a_speed_that_no_duration_allows_is_refused():
    for length, time in ((3.0, (0.2, 1.0)), (0.1, (0.2, 3.0))):
        with pytest.raises(ValueError, match=r"Periodic speed 1 m/s: the phases take .* change the speed"):
            drifting(ocp.Step(length), speed=1.0, time=time)
    drifting(ocp.Step((-math.inf, math.inf)), speed=1.0)  # the length alone may be unbounded


def test_a_ramp_ties_length_and_rise():
    """The planes of both feet are one ramp: a free step stays on it."""
    normal = np.array([-RISE, 0.0, TREAD]) / math.hypot(RISE, TREAD)
    t = transcribe(climbing((0.0, 0.3), 0.0, (0.2, 0.6), normal=tuple(normal)))
    first, last = t.problem.phases[0].footholds[0], t.problem.phases[1].footholds[1]
    g = Advance.of(0.4, 0.0, 0.1)
    image, place = (place_value(t, f, t.program.start, g) for f in (first, last))
    ends = [np.array(f.origin(ca.DM(p))).ravel() for f, p in ((first, image), (last, place))]
    np.testing.assert_allclose(ends[0], (ends[1] - [0.4, 0, 0.1]) * [1, -1, 1], atol=1e-12)
    with pytest.raises(ValueError, match="are not parallel then"):
        transcribe(replace(climbing(), phases=_with_tilted_left(climbing())))


def _with_tilted_left(problem):
    one, both = problem.phases
    tilted = replace(both.footholds[1], plane=ocp.Plane((0, 0, RISE), (0.1, 0.0, 1.0)))
    return [one, replace(both, footholds=(both.footholds[0], tilted))]


# Guesses


def standing_feet(places, periodic=None, stands=((0, 1), (1,), (1, 2))):
    """A body on two feet, which stand at some of the places in every phase: both, one, both."""
    builder = od.ModelBuilder("feet")
    builder.add_body("trunk", od.FloatingBase(), joint_name="root", mass=8, inertia=(0.3, 0.2, 0.1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        hip = od.MultiDof([(0, 0, 1, 0, 0, 0), (1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0)])
        builder.add_body(f"hip_{side}", hip, "trunk", origin=(0, y, 0), mass=1, inertia=(0.05,) * 3)
        builder.add_body(f"shin_{side}", od.Prismatic("-z"), f"hip_{side}", mass=1, inertia=(0.02,) * 3)
        ankle = od.MultiDof([(0, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)])
        builder.add_body(f"foot_{side}", ankle, f"shin_{side}", origin=(0, 0, -0.7), mass=0.5, inertia=(0.01,) * 3)
    x = [ocp.Foothold(od.Contact(f"foot_{s}"), *p, plane=ocp.Plane((0, 0, z))) for s, p, z in places]
    phases = [ocp.Phase(f"phase {k}", 6, 0.6, [x[i] for i in feet]) for k, feet in enumerate(stands)]
    problem = ocp.Problem(builder.build(), phases, periodic=periodic, guess=ocp.FootPlan(lift=0.05))
    t = transcribe(problem)
    initial_guess(t)
    nodes = [
        (t.program.start[q.index], t.program.start[qd.index])
        for p in t.phases
        for q, qd in zip(p["q"], p["qd"], strict=True)
    ]
    return problem, [np.array(part) for part in zip(*nodes, strict=True)]


@pytest.mark.slow
def test_a_guess_that_ends_standing_follows_the_feet():
    """The base rests at both ends between the feet, turned by their mean heading, as high above them as at the
    start."""
    start, there = (0.0, 0.1, 0.0), (0.3, 0.2, 0.4)
    problem, (q, qd) = standing_feet([("l", start, 0.0), ("r", (0.0, -0.1, 0.0), 0.0), ("l", there, 0.15)])
    assert np.abs(qd[[0, -1], :3]).max() < 0.02
    assert q[0, :2] == pytest.approx([0.0, 0.0], abs=0.02)
    assert q[-1, :2] == pytest.approx([0.15, 0.05], abs=0.02)
    assert 2 * math.atan2(q[-1, 5], q[-1, 6]) == pytest.approx(0.2, abs=0.03)
    assert q[-1, 2] - q[0, 2] == pytest.approx(0.075, abs=0.05)  # the slanted legs push it up
    assert np.all(np.diff(q[:, 0]) > -1e-3)
    way = np.array([np.array(od.point_position(problem.model, "foot_l", x)).ravel() for x in q])
    assert way[-1] == pytest.approx([0.3, 0.2, 0.15], abs=0.01)
    halfway = int(np.argmin(np.abs(way[:, 0] - 0.15)))
    assert way[halfway, 2] > 0.15  # it climbs before it moves ahead
    down = standing_feet([("l", start, 0.15), ("r", (0.0, -0.1, 0.0), 0.15), ("l", there, 0.0)])[1][0]
    way = np.array([np.array(od.point_position(problem.model, "foot_l", x)).ravel() for x in down])
    assert way[int(np.argmin(np.abs(way[:, 0] - 0.15))), 2] > 0.15


@pytest.mark.parametrize("heading", [0.0, math.pi])
@pytest.mark.slow
def test_a_guess_faces_where_the_feet_do(heading):
    """Backward along x, the feet have headings on both sides of pi, and the body between them looks along -x."""
    g = Advance.of(turn=heading)
    feet = []
    for side, x, y, yaw in (("l", 0.0, 0.1, 0.1), ("r", 0.0, -0.1, -0.1), ("l", 0.3, 0.1, 0.1)):
        px, py, _ = np.array(g.point(ca.DM([x, y, 0.0]))).ravel()
        feet.append((side, (px, py, math.remainder(heading + yaw, 2 * math.pi)), 0.0))
    _, (q, _) = standing_feet(feet)
    ahead = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y + z * w)] for x, y, z, w in q[:, 3:7]])
    np.testing.assert_allclose(ahead, np.tile((math.cos(heading), math.sin(heading)), (len(q), 1)), atol=0.05)


@pytest.mark.slow
def test_a_periodic_guess_goes_along_the_arc():
    step = ocp.Step.arc(0.6, 0.5, 0.2)
    g = Advance.of(*(low for low, _ in (step.length, step.sideways, step.rise, step.turn)))
    x, y, z = np.array(g.point(ca.DM([0.0, 0.1, 0.0]))).ravel()
    feet = [("l", (0.0, 0.1, 0.0), 0.0), ("r", (0.3, -0.05, 0.25), 0.1), ("l", (x, y, 0.5), z)]
    periodic = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step=step)
    with pytest.raises(
        ValueError, match="'foot_r' stands in the first and in the last phase, but a periodic motion moves"
    ):
        standing_feet(feet, periodic)
    _, (q, qd) = standing_feet(feet, periodic, stands=((0,), (0, 1), (1,), (1, 2)))
    back = np.array(g.inverse().q(body(), ca.DM(q[-1, :7]))).ravel()
    assert back[:3] == pytest.approx(q[0, :3], abs=0.03)
    assert abs(np.dot(back[3:], q[0, 3:7])) == pytest.approx(1.0, abs=2e-3)
    assert np.linalg.norm(qd[5, :2]) == pytest.approx(0.6 / 2.4, rel=0.15)
