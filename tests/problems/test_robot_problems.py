"""Problems of robots: joints that move nothing, loads, lengths and speeds of steps, a biped with closed chains."""

from __future__ import annotations

import json

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking import robots
from ocp_dyn.walking.biped import SOLES
from ocp_dyn.walking.biped_walk import DOUBLE, SINGLE, SPEED
from ocp_dyn.walking.strides import Strides
from problems import robot_trot, robot_walk

needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")


@pytest.fixture(scope="module")
def biped():
    return od.models.heel_spring_biped()


def gripper():
    """A base with an arm of 2 kg, at whose end a finger of 1 g and one without mass, and one that has only a rotor."""
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=10, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "base", joint_name="shoulder", mass=2, inertia=(0.1, 0.1, 0.1))
    builder.add_body("finger", od.Revolute("y"), "arm", joint_name="light", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6))
    builder.add_body("palm", od.Revolute("x"), "arm", joint_name="empty", lower=0.2, upper=0.4)
    builder.add_body("nail", od.Revolute("x"), "palm", joint_name="empty_too")
    builder.add_body("wheel", od.Revolute("x"), "arm", joint_name="rotor", armature=0.1)
    return builder.build()


def test_joints_that_move_nothing_are_found_and_locked_within_their_range():
    model = gripper()
    assert robots.massless_joints(model) == ["empty", "empty_too"]
    locked = robots.locked_at_rest(model, robots.massless_joints(model))
    assert locked.joint_names == ("root", "shoulder", "light", "rotor")
    R = od.pose(locked, "palm", locked.neutral())[0]
    assert float(R[2, 1]) == pytest.approx(np.sin(0.2))  # zero lies outside its range
    assert robots.light_joints(model, ["arm"]) == ["light", "empty", "empty_too", "rotor"]
    assert "light" not in robots.light_joints(model, ["finger"])  # a leg
    assert robots.locked_at_rest(model, {"shoulder": 0.3}).nv == model.nv - 1


def test_a_load_lies_on_the_heaviest_body_that_is_no_leg():
    model = gripper()
    assert robots.loaded(model, 0.0, ["arm"]) is model
    assert robots.loaded(model, 5.0, ["arm"]).mass == pytest.approx(model.mass + 5.0)
    with pytest.raises(ValueError, match="load must be a mass in kg, 0 or more, got -1"):
        robots.loaded(model, -1.0, ["arm"])


STEPS = Strides("Robot", length=0.981, gravity=9.81, usual=0.2, fastest=1.0)


def test_speed_length_and_time_of_steps_follow_from_each_other():
    (low, high), speed = STEPS.at(None, None, None)
    assert speed == pytest.approx(0.2 * 3.102, rel=1e-3)
    assert 0 < low < 0.1
    assert 1.5 < high < 1.6
    assert STEPS.at(None, 0.5, 0.5) == ((0.5, 0.5), 1.0)
    assert STEPS.at(0.6, None, 0.5) == ((0.3, 0.3), 0.6)
    assert STEPS.at(0.6, 0.4, None) == ((0.4, 0.4), 0.6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((4.0, None, None), r"Robot cannot go at 4 m/s in this gait: the Froude number .* is 1.66 .* at most 3.1 m/s"),
        ((0.5, 2.0, None), "a step_length of 2 m is out of reach: legs of 0.981 m take steps of at most 1.57 m"),
        ((0.5, 0.3, 0.3), "contradict each other: speed times time is the length"),
        ((-0.5, None, None), r"speed must be positive, got -0.5 \(backward=True walks backward\)"),
        ((0.5, None, float("nan")), "step_time must be positive, got nan"),
    ],
)
def test_steps_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        STEPS.at(*given)


@pytest.mark.slow
def test_a_biped_with_closed_chains_stands_on_its_flat_feet(biped):
    model, q = biped.model, DM(biped.q)
    ocp.mirror_map(model)
    assert model.nv - od.constraint_rank(model, biped.loops, biped.q) == 20
    for sole in SOLES:
        R, p = od.pose(model, sole, q)
        assert abs(float(p[2])) < 1e-12
        assert np.allclose(np.array(DM(R).full()), np.eye(3))
    idle = [n for n in model.joint_names[1:] if not model.dofs.tau_max[model.qd_slice(n)].any()]
    assert sorted(idle) == sorted(f"{joint}_{side}" for joint in ("tarsus", "rod", "spring") for side in "lr")


def test_the_tarsus_follows_the_knee_and_the_spring_gives(biped):
    """With springs at rest the tarsus turns back by 1.15 times the angle of the knee: nearly a parallelogram."""
    model = biped.model
    G = np.array(od.constraint_jacobian(model, biped.loops, DM(biped.q)).full())
    nv = {name: model.qd_slice(f"{name}_l").start for name in ("knee", "tarsus", "rod", "spring")}
    rows = G[:2]
    slope = np.linalg.solve(rows[:, [nv["tarsus"], nv["rod"]]], -rows[:, nv["knee"]])
    assert slope[0] == pytest.approx(-1.15, abs=0.01)
    by_spring = np.linalg.solve(rows[:, [nv["tarsus"], nv["rod"]]], -rows[:, nv["spring"]])
    assert abs(by_spring[0]) > 5.0  # rad/m: a lever of less than 0.2 m


def test_a_walk_holds_the_loops_and_scales_with_the_legs(biped):
    walk = robot_walk.problem(None, biped, intervals=(2, 4))
    double, single = walk.phases
    time = np.sqrt(0.95 / 9.81)
    assert double.duration == pytest.approx(tuple(time * x for x in DOUBLE))
    assert single.duration == pytest.approx(tuple(time * x for x in SINGLE))
    assert all(set(phase.constraints) == set(biped.loops) for phase in walk.phases)
    assert set(walk.unactuated) == {"root", *(f"{j}_{s}" for j in ("tarsus", "rod", "spring") for s in "lr")}
    assert walk.periodic.speed == pytest.approx(SPEED * np.sqrt(0.95 * 9.81))
    back = robot_walk.problem(0.4, biped, intervals=(2, 4), backward=True, slope=0.1, steps=2, step_length=0.3)
    assert (back.periodic.speed, back.periodic.step_length) == (-0.4, (-0.6, -0.6))
    assert not back.periodic.mirror
    assert [phase.name for phase in back.phases] == [
        "double_support_1", "single_support_1", "double_support_2", "single_support_2"
    ]  # fmt: skip
    assert back.parameters[0].value == pytest.approx(np.arctan(0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 5.0}, "cannot go at 5 m/s"),
        ({"steps": 0}, "steps must be a whole number, 1 or more, got 0"),
        ({"sole": "flat"}, "sole must be"),
        ({"locked": ["knee_l"]}, "not for a robot with closed chains"),
        ({"step_width": -0.2}, "step_width must be more than the width of a sole, 0.1 m, .*, got -0.2"),
        ({"step_width": 0.1}, "step_width must be more than the width of a sole"),
        ({"sole": None, "step_width": 0.0}, "the width of a sole, 0 m"),
        ({"sole": None, "double_support": 0.1}, "double_support: .* stands on points"),
        ({"slope": 0.5}, "slope must lie between -0.495 and 0.495"),
        ({"slope": float("nan")}, "slope must lie between"),
    ],
)
def test_walks_that_cannot_be_are_refused(options, message, biped):
    with pytest.raises(ValueError, match=message):
        robot_walk.problem(**{"model": biped, **options})


def test_options_of_files_are_refused_for_a_robot_that_is_built_here(capsys):
    for option in (["--left-foot", "x"], ["--sole-height", "0.1"]):
        with pytest.raises(SystemExit):
            robot_walk.main(["heel_spring_biped", *option])
        assert "are for robots from files, and heel_spring_biped is built here" in capsys.readouterr().err


@pytest.mark.slow
def test_trots_that_cannot_be_are_refused():
    for options, message in (
        ({"flight": -1.0}, r"flight \[s\] must be 0 or more, got -1.0"),
        ({"overlap": float("nan")}, r"overlap \[s\] must be 0 or more"),
        ({"flight": 0.1, "overlap": 0.1}, "a flight or an overlap"),
    ):
        with pytest.raises(ValueError, match=message):
            robot_trot.problem(**options)


@needs_robots
@pytest.mark.slow
def test_a_trot_on_a_wall_is_refused():
    with pytest.raises(ValueError, match=r"slope must lie between -0\.424 and 0\.424"):
        robot_trot.problem(slope=0.43)


def test_robots_without_legs_are_refused():
    with pytest.raises(ValueError, match="robot 'panda' has no two feet in the library's table; those that walk: alex"):
        od.walking.biped("panda")
    with pytest.raises(ValueError, match="robot 'talos' has no four feet in the library's table; those that trot: a1,"):
        od.walking.quadruped("talos")


@pytest.mark.slow
def test_a_biped_with_closed_chains_walks(capsys):
    assert robot_walk.main(["heel_spring_biped", "--intervals", "2", "4", "--quiet", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 5 < numbers["double_support_percent_of_step"] < 40
    assert numbers["iterations"] < 100


@needs_robots
@pytest.mark.slow
def test_a_biped_on_points_walks_backward_too():
    walks = (robot_walk.problem(0.4, "bolt", intervals=(2, 8), backward=backward) for backward in (False, True))
    ahead, back = (walk.solve(progress=False) for walk in walks)
    assert ahead.converged
    assert back.converged
    assert -back.step_length == pytest.approx(ahead.step_length, rel=0.3)
    assert [phase.name for phase in ahead.phases] == ["single_support"]


@needs_robots
@pytest.mark.slow
def test_a_robot_with_a_locked_ankle_walks_full_strides():
    walk = robot_walk.problem(0.3, "alexander", locked=["LEFT_ANKLE_Y"], intervals=(2, 6))
    assert len(walk.phases) == 4
    assert not walk.periodic.mirror
    with pytest.raises(ValueError, match="steps must be even for Alexander"):
        robot_walk.problem(0.3, "alexander", locked=["LEFT_ANKLE_Y"], steps=3)


@needs_robots
@pytest.mark.slow
def test_the_human_of_the_files_stands_upright():
    """Its file has y upward; the limits of the simple humanoids' joints do not count."""
    human = od.walking.biped("human")
    assert human.model.frame("left_sole")
    height = float(od.point_position(human.model, "left_sole", human.model.neutral())[2])
    assert -1.1 < height < -1.0
    assert human.posture.shape == (human.model.nq,)
    simple = od.walking.biped("simple_humanoid")
    assert not simple.limits


@needs_robots
@pytest.mark.slow
def test_a_robot_with_grippers_without_mass_may_walk():
    model = robot_walk.problem(None, "romeo_laas", intervals=(2, 8)).model
    assert "r_gripper_joint" not in model.joint_names
    assert np.linalg.eigvalsh(np.array(od.mass_matrix(model, DM(model.neutral())))).min() > 1e-6
