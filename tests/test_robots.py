"""Robots from files: their symmetric twins, how they stand, how they walk and trot."""

from __future__ import annotations

import json
from functools import wraps

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking.quadruped import PAWS
from problems import robot_trot, robot_walk
from tests.helpers import close

pytestmark = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")


@pytest.mark.parametrize("name", ["g1", "solo12"])
@pytest.mark.slow
def test_twins_are_symmetric_and_near(name):
    """A robot as built has no mirror map; its twin has one, weighs the same, and is its own twin."""
    model = od.robots.load(name)
    with pytest.raises(od.ModelError, match="symmetric_twin"):
        ocp.mirror_map(model)
    twin = ocp.symmetric_twin(model)
    ocp.mirror_map(twin)
    assert twin.mass == pytest.approx(model.mass)
    apart = ocp.asymmetry(model)
    assert 0 < max(apart.values()) < 0.03
    again = ocp.symmetric_twin(twin)
    for one, other in zip(twin.I[1:], again.I[1:], strict=True):
        close(one.matrix(), other.matrix(), 1e-9)


@pytest.mark.slow
def test_a_robot_that_looks_backwards_is_turned(rng):
    """iCub's base frame points backwards: turned, its left foot is on the left, and nothing else has changed."""
    model = od.robots.load("icub")
    turned = ocp.facing_forward(model, "l_sole", "r_sole")
    left = np.array(od.point_position(turned, "l_sole", DM(turned.neutral()))).ravel()
    assert left[1] > 0.05
    joints = model.random_q(rng)[7:]
    q, q_turned = np.concatenate([model.neutral()[:7], joints]), np.concatenate([turned.neutral()[:7], joints])
    H, H_turned = (od.mass_matrix(m, DM(x)).full()[6:, 6:] for m, x in ((model, q), (turned, q_turned)))
    close(H_turned, H)
    with pytest.raises(ValueError, match="must lie apart"):
        ocp.facing_forward(model, "l_sole", "l_sole")


def test_bodies_without_partners_have_no_twin():
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "base", origin=(0, 2, 0), mass=5, inertia=(1, 1, 1))
    with pytest.raises(od.ModelError, match="body 'arm' has no mirror image"):
        ocp.symmetric_twin(builder.build())


@pytest.mark.parametrize("name", ["g1", "icub"])
@pytest.mark.slow
def test_robots_stand_with_bent_knees(name):
    robot = od.walking.biped(name)
    model, q = robot.model, DM(robot.posture)
    for side, sign in (("left", 1), ("right", -1)):
        R, p = (np.array(part.full()) for part in od.pose(model, f"{side}_sole", q))
        close(R, np.eye(3), 1e-7)
        assert abs(p[2, 0]) < 1e-7
        assert sign * p[1, 0] > 0.03
    mirror = ocp.mirror_map(model)
    close(mirror.q(q), q, 1e-6)


@pytest.mark.parametrize("name", ["solo12", "go2"])  # all four knees of the second bend to one side only
@pytest.mark.slow
def test_a_quadruped_stands(name):
    robot = od.walking.quadruped(name)
    model, q = robot.model, DM(robot.posture)
    for paw in PAWS:
        assert abs(float(od.point_position(model, paw, q)[2])) < 1e-7
    assert (robot.posture >= model.dofs.q_lower).all()
    assert (robot.posture <= model.dofs.q_upper).all()


@pytest.mark.slow
def test_a_humanoid_walks(capsys):
    """One of many: scripts/bench/robots.py walks all of them."""
    assert robot_walk.main(["talos", "--speed", "0.5", "--quick", "--quiet", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["speed_m_per_s"] == pytest.approx(0.5)
    assert 0.05 < numbers["step_length_m"] < 0.6
    assert 3 < numbers["double_support_percent_of_step"] < 40
    assert not {bound["kind"] for bound in numbers["deciding_bounds"]} & {"duration", "place", "parameter"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [("--speed", "0.8", "--flight", "0.03"), ("--overlap", "0.03", "--margins", "none")]
)
def test_a_quadruped_trots(options, capsys):
    arguments = ["solo12", "--foot-radius", "0", *options, "--quick", "--quiet", "--json"]
    assert robot_trot.main(arguments) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 < numbers["cost_of_transport"] < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--urdf", "nowhere.urdf", "--left-foot", "l", "--right-foot", "r"], "nowhere.urdf"),
        (["talos", "--left-foot", "paw"], "paw"),
        (["tallos"], "did you mean 'talos'"),
        (["talos", "--urdf", "talos.urdf"], "one robot is needed, its name or its file, got talos and talos.urdf"),
        ([], "one robot is needed, its name or its file, got none"),
        (["ur5"], "robot 'ur5' has no two feet in the library's table"),
    ],
)
@pytest.mark.slow
def test_wrong_robots_are_refused(arguments, message, capsys):
    with pytest.raises(SystemExit):
        robot_walk.main(arguments)
    assert message in capsys.readouterr().err


G1 = (
    "--left-foot", "left_ankle_roll_link", "--right-foot", "right_ankle_roll_link", "--sole-height", "0.035", "--sole",
    "0.08", "0.03",
)  # fmt: skip


@pytest.mark.slow
def test_a_urdf_and_a_name_give_the_same_walk(monkeypatch):
    """The table holds the feet of robots by name; a URDF needs their names."""
    made = []
    kept = wraps(od.walking.biped_walk)(lambda *a, **b: made.append((a, b)) or _stop())
    monkeypatch.setattr(od.walking, "biped_walk", kept)

    def walk(*arguments):
        with pytest.raises(KeyboardInterrupt):
            robot_walk.main([*arguments, "--quick"])
        (robot, speed), settings = made.pop()
        model = robot.model
        return speed, model.frame_names, model.mass, str(model.frame("left_sole").X), robot.sole, robot.limits, settings

    path = str(od.robots.path("g1"))
    assert walk("g1") == walk("--urdf", path, *G1) == walk(path, *G1)


def _stop():
    raise KeyboardInterrupt


def test_a_quadruped_needs_four_feet(capsys):
    with pytest.raises(SystemExit):
        robot_trot.main(["talos"])
    assert "robot 'talos' has no four feet in the library's table" in capsys.readouterr().err


def test_names_by_number_of_feet():
    assert {"talos", "bolt"} <= set(od.robots.names(feet=2))
    assert "solo12" in od.robots.names("quadruped", feet=4)
    assert not set(od.robots.names(feet=2)) & set(od.robots.names(feet=4))
    assert od.robots.names("quadruped", feet=2) == ()
    with pytest.raises(ValueError, match="feet must be at least 0"):
        od.robots.names(feet="two")
