"""Robots of example-robot-data by name: files, roots, feet, errors."""

from __future__ import annotations

import importlib.metadata
import sys

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.models.robots.table import ROBOTS
from tests.helpers import mostly_slow

needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
NAMES = od.robots.names()
QUICK = ["bolt", "go1", "solo12", "panda", "hector", "double_pendulum"]


def test_names_are_those_of_the_table_by_kind():
    assert NAMES == tuple(sorted(robot.name for robot in ROBOTS))
    assert len(set(NAMES)) == len({robot.file for robot in ROBOTS}) == len(ROBOTS)
    assert {"talos", "g1", "icub"} <= set(od.robots.names("humanoid"))
    assert "solo12" not in od.robots.names("humanoid")
    with pytest.raises(ValueError, match="got 'quadruple': did you mean 'quadruped'"):
        od.robots.names("quadruple")


@needs_robots
@mostly_slow("name", [robot.name for robot in ROBOTS if robot.feet] + QUICK[3:], QUICK)
@pytest.mark.slow
def test_robots_load_on_their_root_with_feet_on_one_height(name, recwarn):
    model, robot = od.robots.load(name), od.robots.describe(name)
    assert not recwarn
    assert isinstance(model.joints[1], od.FloatingBase) == robot.free
    assert robot.free == (robot.kind in ("biped", "flying", "humanoid", "quadruped"))
    if robot.feet:
        places = np.array([od.point_position(model, foot, model.neutral()).full().ravel() for foot in robot.feet])
        heights = places[:, "xyz".index(robot.up)]
        assert np.ptp(heights) < 2e-3
        assert np.all(heights < -0.2)
        contacts = od.robots.contacts(name)
        rows = 6 if robot.sole else 3
        assert od.constraint_jacobian(model, contacts, model.neutral()).shape[0] == rows * len(robot.feet)
        assert [contact.name for contact in contacts] == list(robot.feet)


@needs_robots
@pytest.mark.slow
def test_options_reach_the_file():
    bolted = od.robots.load("solo12", od.Fixed(), gravity=(0, 0, -1.62))
    assert bolted.nv == 12
    assert bolted.gravity == (0.0, 0.0, -1.62)
    with pytest.raises(od.ModelError, match="mimics joint"):
        od.robots.load("panda", mimic="refuse")
    assert od.robots.load("panda", mimic="couple").mimics
    assert od.robots.contacts("g1")[0].point == (0.0, 0.0, -0.035)
    assert od.robots.contacts("human")[0].point == (0.06, -0.0765, 0.0)  # y is up


@needs_robots
def test_every_file_of_the_package_has_a_name():
    files = {path.relative_to(od.robots.folder()).as_posix() for path in od.robots.folder().rglob("*.urdf")}
    named = {robot.file for robot in ROBOTS}
    assert named <= files
    # a file without links, and one that differs only in the shapes by which collisions are found
    assert files - named == {"ur_description/urdf/ur3.urdf", "panda_description/urdf/panda_collision.urdf"}


def test_unknown_robots_get_the_nearest_name():
    for function in (od.robots.load, od.robots.path, od.robots.contacts, od.robots.describe):
        with pytest.raises(KeyError, match="no robot 'tallos': did you mean 'talos'"):
            function("tallos")
    with pytest.raises(KeyError, match=r"od\.robots\.names\(\) lists all"):
        od.robots.load("zebra")
    with pytest.raises(od.ModelError, match="robot 'ur5' has no feet"):
        od.robots.contacts("ur5")


def test_a_missing_package_is_named_with_its_installation(monkeypatch, tmp_path):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        monkeypatch.setenv(variable, "")
    assert not od.robots.installed()
    with pytest.raises(ModuleNotFoundError, match=r'pip install "ocp_dyn\[robots\]"'):
        od.robots.load("talos")
    with pytest.raises(KeyError, match="no robot 'tallos': did you mean 'talos'"):
        od.robots.path("tallos")
    (tmp_path / "share/example-robot-data/robots").mkdir(parents=True)  # an older version, of another package manager
    monkeypatch.setenv("CMAKE_PREFIX_PATH", str(tmp_path))
    assert od.robots.folder() == tmp_path / "share/example-robot-data/robots"
    with pytest.raises(FileNotFoundError, match=r"robot 'talos': the installed example-robot-data has no .*--upgrade"):
        od.robots.load("talos")
