"""From any model to a walk: bipeds and quadrupeds of the user, from files and built in code."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

FLAT = {"sole": (0.1, 0.05), "sole_height": 0.07}
FEET = ("left_foot", "right_foot")


def stepper() -> od.Model:
    """A biped of 34 kg with five joints in each leg."""
    builder = od.ModelBuilder("stepper")
    builder.add_body("trunk", od.FloatingBase(), mass=20, com=(0, 0, 0.2), inertia=(0.4, 0.4, 0.2))
    for side, y in (("left", 0.1), ("right", -0.1)):
        parent = "trunk"
        for name, axis, origin, mass in (
            ("hip", "x", (0, y, 0), 1), ("thigh", "y", (0, 0, 0), 3), ("shank", "y", (0, 0, -0.4), 2),
            ("ankle", "y", (0, 0, -0.4), 0.3), ("foot", "x", (0, 0, 0), 0.7),
        ):  # fmt: skip
            limits = {"lower": 0.0, "upper": 2.2} if name == "shank" else {}
            builder.add_body(
                f"{side}_{name}", od.Revolute(axis), parent, origin=origin, mass=mass, effort=150.0, damping=2.0,
                com=(0, 0, -0.2 if mass > 1 else 0), inertia=(0.02, 0.02, 0.005), **limits,
            )  # fmt: skip
            parent = f"{side}_{name}"
    return builder.build()


def table(head: bool = False) -> od.Model:
    """A quadruped of 8 kg, with three joints in each leg."""
    builder = od.ModelBuilder("table")
    builder.add_body("top", od.FloatingBase(), mass=4, inertia=(0.05, 0.1, 0.1))
    for front, x in (("f", 0.2), ("h", -0.2)):
        for side, y in (("l", 0.1), ("r", -0.1)):
            leg = f"{front}{side}"
            inertia = (0.002, 0.002, 0.0005)
            builder.add_body(f"{leg}_hip", od.Revolute("x"), "top", origin=(x, y, 0), mass=0.2, inertia=inertia)
            builder.add_body(
                f"{leg}_thigh", od.Revolute("y"), f"{leg}_hip", mass=0.4, com=(0, 0, -0.1), inertia=inertia
            )
            builder.add_body(
                f"{leg}_shank", od.Revolute("y"), f"{leg}_thigh", origin=(0, 0, -0.2), mass=0.2, com=(0, 0, -0.1),
                inertia=inertia,
            )  # fmt: skip
            builder.add_frame(f"{leg}_paw", f"{leg}_shank", origin=(0, 0, -0.2))
    if head:
        builder.add_body("head", od.Revolute("z"), "top", mass=0.1, inertia=(1e-4,) * 3)
    return builder.build()


@pytest.fixture(scope="module")
def biped() -> od.walking.Biped:
    return od.walking.biped(stepper(), FEET, **FLAT)


@pytest.mark.slow
def test_a_robot_comes_from_a_file_of_any_format(biped, tmp_path):
    """MJCF and JSON give the robot of the model itself, and its couplings hold in every phase."""
    model = stepper()
    od.io.write_mjcf(model, tmp_path / "stepper.xml")
    coupled = model.with_constraints([od.JointCoupling("left_hip_joint", "right_hip_joint", 0.5)])
    od.save_model(coupled, tmp_path / "stepper.json")
    for name, loops in (("stepper.xml", 0), ("stepper.json", 1)):
        read = od.walking.biped(tmp_path / name, FEET, **FLAT)
        assert read.posture == pytest.approx(biped.posture)
        assert read.model.dofs.tau_max == pytest.approx(biped.model.dofs.tau_max)
        phases = od.walking.biped_walk(read, 0.5, intervals=(2, 2)).phases
        assert [len(phase.constraints) for phase in phases] == [loops, loops]


@pytest.mark.slow
def test_a_urdf_of_the_user_walks_in_ten_lines_from_an_empty_page(tmp_path):
    od.io.write_urdf(stepper(), tmp_path / "robot.urdf")
    robot = od.walking.biped(tmp_path / "robot.urdf", FEET, **FLAT)
    walk = od.walking.biped_walk(robot, 0.4, intervals=(2, 8)).solve(progress=False)
    assert walk.converged
    assert walk.step_length / walk.duration == pytest.approx(0.4)
    found = od.walking.biped_figures(walk)
    assert found["step_width_m"] > 0.1
    assert 3 < found["double_support_percent_of_step"] < 50


@pytest.mark.slow
def test_a_biped_on_points_that_is_built_in_code_walks_in_ten_lines_from_an_empty_page():
    builder = od.ModelBuilder("stilts")
    builder.add_body("trunk", od.FloatingBase(), mass=8, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.05))
    limb = {"mass": 1, "com": (0, 0, -0.15), "inertia": (0.01, 0.01, 0.001)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder.add_body(f"{side}_hip", od.Revolute("x"), "trunk", origin=(0, y, 0), **limb)
        builder.add_body(f"{side}_thigh", od.Revolute("y"), f"{side}_hip", **limb)
        builder.add_body(f"{side}_shank", od.Revolute("y"), f"{side}_thigh", origin=(0, 0, -0.3), **limb)
        builder.add_frame(f"{side}_foot", f"{side}_shank", origin=(0, 0, -0.3))
    robot = od.walking.biped(builder.build(), FEET, sole=None)
    walk = od.walking.biped_walk(robot, intervals=(2, 10)).solve(progress=False)
    assert walk.converged
    assert [phase.name for phase in walk.phases] == ["single_support"]


@pytest.mark.slow
def test_a_trot_keeps_the_stops_of_its_legs_and_lets_its_head_hang_over():
    """The trunk's head has a range that its mirror image leaves, which is no reason not to trot."""
    model = table(head=True)
    names, lower, upper = model.q_names, np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    lower[7:], upper[7:], lower[-1] = -1.6, 1.6, 0.5
    robot = od.walking.quadruped(model.with_limits(lower=lower, upper=upper), ("fl_paw", "fr_paw", "hl_paw", "hr_paw"))
    kept, free = (od.walking.trot(robot, **given) for given in ({}, {"margins": None}))
    least = dict(zip(names, kept.model.dofs.q_lower, strict=True))
    assert (least["fl_shank_joint"], least["head_joint"]) == (pytest.approx(-1.5), -np.inf)
    assert (kept.limits, free.limits) == (True, False)
    heights = [next(p for p in w.phases[0].path if isinstance(p, ocp.Clearance)).height for w in (kept, free)]
    np.testing.assert_allclose(heights, [0.1 * robot.leg, 0.1 * robot.posture[2]])
    assert [len(w.phases[0].path) for w in (kept, free)] == [3, 2]
    flying = od.walking.trot(robot, flight=0.05, clearance=0.02)
    assert [len(phase.path) for phase in flying.phases] == [3, 1]
    assert flying.phases[0].path[-1].height == 0.02
    with pytest.raises(TypeError, match=r"margins must be od.walking.Margins\(\), or None"):
        od.walking.trot(robot, margins=True)
    with pytest.raises(ValueError, match=r"clearance must lie between 0 and 0\.4 m"):
        od.walking.trot(robot, clearance=0.5)


@pytest.mark.slow
def test_a_quadruped_that_is_built_in_code_trots():
    robot = od.walking.quadruped(table(), ("fl_paw", "fr_paw", "hl_paw", "hr_paw"))
    solution = od.walking.trot(robot, intervals=8).solve(progress=False)
    assert solution.converged
    assert solution.step_length > 0.02


def test_soles_lie_where_the_feet_stand(biped):
    q = DM(biped.posture)
    for name, side in (("left_sole", 1), ("right_sole", -1)):
        R, p = (np.array(part.full()) for part in od.pose(biped.model, name, q))
        assert np.abs(R - np.eye(3)).max() < 1e-7
        assert p.ravel() == pytest.approx([p[0, 0], side * 0.1, 0.0], abs=1e-7)
        height = od.pose(biped.model, name, DM(biped.model.neutral()))[1][2]
        assert float(height) == pytest.approx(-0.87)
    assert biped.leg == pytest.approx(0.87)
    assert biped.mirrored


def test_a_phase_of_a_biped_of_the_user_has_its_parts(biped):
    walk = od.walking.biped_walk(biped, 0.4, step_width=0.3)
    double, single = walk.phases
    assert {type(term).__name__ for term in single.path} == {
        "FrictionCone",
        "CenterOfPressure",
        "Clearance",
        "Path",  # the trunk's turn
        "Separation",
    }
    assert double.footholds[0].y == (-0.15, -0.15)
    assert walk.unactuated == ("root",)
    chosen = od.walking.biped_walk(biped, 0.4, double_support=0.1).phases[0]
    assert chosen.duration == (0.1, 0.1)
    bounds = [od.walking.biped_walk(biped, 0.4, double_support=x).phases[0] for x in ((0.1, 0.2), [0.1, 0.2])]
    assert [len(phase.objective) for phase in bounds] == [len(double.objective)] * 2
    assert len(chosen.objective) == len(double.objective) - 1  # a chosen time needs no cost of the load's transfer


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: od.walking.biped(stepper()),
            "has no frame left_sole and no frame right_sole: name the links or frames"),
        (lambda: od.walking.biped(stepper(), ("left_foot", None)),
            "stepper: the links or frames of both feet are needed"),
        (lambda: od.walking.biped(stepper(), FEET, sole_height=2.0), "sole_height must lie between 0 and 0.8 m"),
        (lambda: od.walking.biped(stepper(), FEET, sole="flat"), "sole must be .half length, half width"),
        (lambda: od.walking.biped(stepper(), FEET, sole=0.1), "sole must be .half length, half width.*got 0.1"),
        (lambda: od.walking.biped(stepper(), FEET, sole=(0.1, 0)), "sole must be positive and finite, got"),
        (lambda: od.walking.quadruped(table()), "has no frame front_left: name its feet"),
        (lambda: od.walking.quadruped(table(), ("fl_paw",)), "feet must be four names"),
        (
            lambda: od.walking.biped(
                od.models.human(root=od.FloatingBase("euler_zyx")).with_frame("left_sole", "sole_l").with_frame(
                    "right_sole", "sole_r")),
            r"needs the root od.FloatingBase\(\), a position and a quaternion",
        ),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_robots_that_cannot_stand_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
def test_locked_joints_and_light_joints():
    model = stepper()
    gripper = od.ModelBuilder("gripper")
    gripper.add_body("palm", od.Revolute("x"), mass=0.01, inertia=(1e-6, 1e-6, 1e-6))
    armed = model.attach(gripper.build(), "trunk")
    free = od.walking.biped(armed, FEET, **FLAT)
    light = od.walking.biped(armed, FEET, lock_light=True, **FLAT)
    assert free.model.nv == light.model.nv + 1 == model.nv + 1
    stiff = od.walking.biped(
        armed, FEET, lock_light=True, locked={"left_foot_joint": 0.0, "right_foot_joint": 0.0}, **FLAT
    )
    assert stiff.model.nv == light.model.nv - 2


def test_ball_hips_and_frames_named_as_soles_stand():
    """Other joints with quaternions, and frames that have the names of the soles already, named once more."""
    builder = od.ModelBuilder("balls")
    builder.add_body("trunk", od.FloatingBase(), mass=8, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.05))
    limb = {"mass": 1, "com": (0, 0, -0.15), "inertia": (0.01, 0.01, 0.001)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder.add_body(f"{side}_thigh", od.Spherical(), "trunk", origin=(0, y, 0), **limb)
        builder.add_body(f"{side}_shank", od.Revolute("y"), f"{side}_thigh", origin=(0, 0, -0.3), lower=0, **limb)
        builder.add_frame(f"{side}_sole", f"{side}_shank", origin=(0, 0, -0.3))
    model = builder.build()
    for feet in (None, ("left_sole", "right_sole")):
        robot = od.walking.biped(model, feet, sole=None)
        for sole in ("left_sole", "right_sole"):
            assert abs(float(od.point_position(robot.model, sole, DM(robot.posture))[2])) < 1e-6


@pytest.mark.slow
def test_a_flat_footed_body_that_cannot_sway_is_told_which_joints_it_needs():
    ankles = {"left_foot_joint": 0.0, "right_foot_joint": 0.0}
    stiff = stepper().lock_joints(ankles | {"left_hip_joint": 0.0, "right_hip_joint": 0.0})
    message = r"no joints that move it sideways, .* 0.1 m beside the foot .* Add joints about x"
    with pytest.raises(ValueError, match=message):
        od.walking.biped(stiff, FEET, **FLAT)
    assert od.walking.biped(stiff, FEET, sole=(0.1, 0.11), sole_height=0.07).sole  # its soles reach under its mass
    assert od.walking.biped(stiff, FEET, sole=None, sole_height=0.07).sole is None  # it tips about its point feet
