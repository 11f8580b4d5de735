"""Robots from files: their symmetric twins, how they stand, how they walk and trot."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from problems import robot_trot, robot_walk
from tests.helpers import close

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
TALOS = ROBOTS / "talos_data/robots/talos_reduced.urdf"
G1 = ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"
ICUB = ROBOTS / "icub_description/robots/icub_reduced.urdf"
SOLO = ROBOTS / "solo_description/robots/solo12.urdf"
WALKERS = {
    "talos": (TALOS, "left_sole_link", "right_sole_link", ()),
    "g1": (G1, "left_ankle_roll_link", "right_ankle_roll_link", ("--sole-height", "0.035", "--sole", "0.08", "0.03")),
    "icub": (ICUB, "l_sole", "r_sole", ("--sole", "0.06", "0.03", "--speed", "0.2")),
}
SOLO_FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")

pytestmark = pytest.mark.skipif(not ROBOTS.exists(), reason="example-robot-data is not installed")


def robot(path: Path) -> od.Model:
    return od.load_urdf(path, root=od.FloatingBase(), mimic="free", inertia="keep")


@pytest.mark.parametrize("path", [TALOS, G1, ICUB, SOLO], ids=lambda path: path.stem)
@pytest.mark.slow
def test_twins_are_symmetric_and_near(path):
    """A robot as built has no mirror map; its twin has one, weighs the same, and is its own twin."""
    model = robot(path)
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


def test_a_robot_that_looks_backwards_is_turned(rng):
    """iCub's base frame points backwards: turned, its left foot is on the left, and nothing else has changed."""
    model = robot(ICUB)
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


@pytest.mark.parametrize("name", WALKERS)
@pytest.mark.slow
def test_robots_stand_with_bent_knees(name):
    path, left, right, options = WALKERS[name]
    height = float(options[1]) if "--sole-height" in options else 0.0
    model = robot_walk.load(path, left, right, height)
    q = DM(robot_walk.standing(model))
    for side, sign in (("left", 1), ("right", -1)):
        R, p = (np.array(part.full()) for part in od.pose(model, f"{side}_sole", q))
        close(R, np.eye(3), 1e-7)
        assert abs(p[2, 0]) < 1e-7
        assert sign * p[1, 0] > 0.03
    mirror = ocp.mirror_map(model)
    close(mirror.q(q), q, 1e-6)


def test_a_quadruped_stands():
    model = robot_trot.load(SOLO, SOLO_FEET)
    q = DM(robot_trot.standing(model))
    for name in robot_trot.NAMES:
        assert abs(float(od.point_position(model, name, q)[2])) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKERS)
def test_humanoids_walk(name, capsys):
    path, left, right, options = WALKERS[name]
    arguments = [
        "--urdf",
        str(path),
        "--left-foot",
        left,
        "--right-foot",
        right,
        *options,
        "--quick",
        "--quiet",
        "--json",
    ]
    assert robot_walk.main(arguments) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["speed_m_per_s"] == pytest.approx(0.2 if "--speed" in options else 0.5)
    assert 0.05 < numbers["step_length_m"] < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--speed", "0.8", "--flight", "0.03"), ("--overlap", "0.03")])
def test_a_quadruped_trots(options, capsys):
    arguments = ["--urdf", str(SOLO), "--feet", *SOLO_FEET, *options, "--quick", "--quiet", "--json"]
    assert robot_trot.main(arguments) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 < numbers["cost_of_transport"] < 1


def test_wrong_robots_are_refused(capsys):
    with pytest.raises(SystemExit):
        robot_walk.main(["--urdf", "nowhere.urdf", "--left-foot", "l", "--right-foot", "r"])
    assert "nowhere.urdf" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        robot_walk.main(["--urdf", str(TALOS), "--left-foot", "paw", "--right-foot", "right_sole_link"])
    assert "paw" in capsys.readouterr().err
