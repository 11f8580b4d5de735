"""Feet and soles of robots by the shapes in their files: which bodies, in which order, how large, how high."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.io.shapes.placed import placed
from tests.walking.test_any_model import stepper, table

HALF = (0.1, 0.05, 0.02)
SOLES = tuple(od.io.Box(f"{side}_foot", HALF, (0.03, 0.01 * y, -0.05)) for side, y in (("left", 1), ("right", -1)))
HAND = od.io.Ball("trunk", 0.1, (0, 0, 0.3))
PAWS = tuple(od.io.Ball(f"{leg}_paw", 0.02) for leg in ("fl", "fr", "hl", "hr"))
NAMES = ("front_left", "front_right", "hind_left", "hind_right")


def saved(model: od.Model, shapes, folder, ending: str = "urdf") -> str:
    """The path of a file with the model and shapes."""
    path = folder / f"robot.{ending}"
    if ending == "urdf":
        od.io.write_urdf(model, path, shapes)
    else:
        od.io.write_mjcf(model, path, shapes)
    return str(path)


def turned(model: od.Model, angle: float) -> od.Model:
    """The model whose base frame is turned about z, so that it faces elsewhere with all joints at zero."""
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    turn = od.Transform(DM(R.T), DM.zeros(3))
    X_tree = tuple(X @ turn if p == 1 else X for X, p in zip(model.X_tree, model.parent, strict=True))
    return replace(model, X_tree=X_tree)


def renamed(model: od.Model) -> od.Model:
    """The model with names that tell no side."""
    names = tuple(f"part{i}" for i, _ in enumerate(model.body_names))
    frames = {names[model.body_names.index(n)] if n in model.body_names else n: f for n, f in model.frames.items()}
    frames = {n: replace(f, name=n) for n, f in frames.items()}
    return replace(model, body_names=names, frames=frames)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
@pytest.mark.slow
def test_soles_are_those_of_the_file(ending, tmp_path):
    robot = od.walking.biped(saved(stepper(), (*SOLES, HAND), tmp_path, ending))
    assert robot.sole == pytest.approx((0.9 * 0.1, 0.9 * 0.05))
    assert robot.mirrored
    assert robot.leg == pytest.approx(0.87)
    for name, side in (("left_sole", 1), ("right_sole", -1)):
        R, p = od.pose(robot.model, name, robot.model.neutral())
        assert np.array(p.full()).ravel() == pytest.approx([0.03, side * 0.11, -0.87])
        assert np.array(R.full()) == pytest.approx(np.eye(3))


@pytest.mark.slow
def test_given_numbers_come_before_those_of_shapes(tmp_path):
    path = saved(stepper(), SOLES, tmp_path)
    assert od.walking.biped(path, sole=(0.04, 0.03)).sole == (0.04, 0.03)
    assert od.walking.biped(path, sole=None).sole is None
    with pytest.raises(ValueError, match="the links or frames of both feet are needed"):
        od.walking.biped(path, sole_height=0.2)  # the height of which frames
    assert od.walking.biped(path, ("left_foot", "right_foot"), sole_height=0.2).leg == pytest.approx(1.0)
    named = od.walking.biped(path, ("left_foot", "right_foot"))
    assert named.sole == pytest.approx((0.09, 0.045))
    model = od.load_urdf(path, root=od.FloatingBase())
    assert od.walking.biped(model).sole == pytest.approx((0.09, 0.045))
    bare = od.walking.biped(replace(model, shape_files=()), ("left_foot", "right_foot"))
    assert bare.sole == od.walking.biped(stepper(), ("left_foot", "right_foot")).sole == (0.09, 0.05)


def test_both_soles_are_the_mean_of_the_two(tmp_path):
    left = od.io.Box("left_foot", (0.12, 0.05, 0.02), (0.03, 0.02, -0.05))
    robot = od.walking.biped(saved(stepper(), (left, SOLES[1]), tmp_path))
    assert robot.sole == pytest.approx((0.9 * 0.11, 0.9 * 0.05))
    places = [np.array(od.pose(robot.model, name, robot.model.neutral())[1].full()).ravel() for name in
              ("left_sole", "right_sole")]  # fmt: skip
    assert places[0] == pytest.approx([0.03, 0.115, -0.87])
    assert places[1] == pytest.approx([0.03, -0.115, -0.87])


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.slow
def test_the_side_of_a_biped_follows_from_names_then_places(named, angle, tmp_path):
    """Names tell the sides of a robot that faces backward in its file; without names its base faces forward."""
    model = turned(stepper(), angle)
    shapes = SOLES
    if not named:
        model, number = renamed(model), {n: f"part{i}" for i, n in enumerate(model.body_names)}
        shapes = tuple(replace(one, frame=number[one.frame]) for one in SOLES)
    loaded = od.load_urdf(saved(model, shapes, tmp_path), root=od.FloatingBase())
    left, right = od.walking.find_feet(loaded)
    y = [float(od.pose(loaded, name, loaded.neutral())[1][1]) for name in (left, right)]
    assert (y[0] > y[1]) == (not named or angle == 0.0)
    if named:
        assert (left, right) == ("left_foot", "right_foot")


@pytest.mark.parametrize("angle", [np.pi / 2, np.pi])
@pytest.mark.slow
def test_feet_of_a_quadruped_by_their_names(angle, tmp_path):
    path = saved(turned(table(head=True), angle), PAWS, tmp_path)
    with pytest.raises(ValueError, match=r"foot_radius is the height of the frames in feet=.*, which are not given"):
        od.walking.quadruped(path, foot_radius=0.02)
    robot = od.walking.quadruped(path)
    places = np.array([np.array(od.pose(robot.model, name, robot.model.neutral())[1].full()).ravel() for name in NAMES])
    expected = [[s * 0.2, t * 0.1, -0.42] for s in (1, -1) for t in (1, -1)]
    assert places == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.slow
def test_feet_of_a_quadruped_by_their_places(tmp_path):
    model = table()
    number = {n: f"part{i}" for i, n in enumerate(model.body_names)}
    path = saved(renamed(model), PAWS, tmp_path)
    loaded = od.load_urdf(path, root=od.FloatingBase())
    assert od.walking.find_feet(loaded) == tuple(number[f"{leg}_shank"] for leg in ("fl", "fr", "hl", "hr"))
    assert od.walking.quadruped(loaded).leg == od.walking.quadruped(path).leg == pytest.approx(0.42)


@pytest.mark.slow
def test_files_without_feet_are_refused(tmp_path):
    with pytest.raises(od.ModelError, match=r"show no two or four feet, no shapes of its limbs can be read.*: name"):
        od.walking.biped(saved(stepper(), (), tmp_path), sole=None)
    with pytest.raises(od.ModelError, match=r"feet, its lowest ends are fl_shank, fr_shank, hl_shank.*: name"):
        od.walking.quadruped(saved(table(), PAWS[:3], tmp_path))
    with pytest.raises(ValueError, match=r"2 feet are needed, and it has 4: fl_shank"):
        od.walking.biped(saved(table(), PAWS, tmp_path))
    tilted = tuple(replace(one, rotation=((0.8, 0, 0.6), (0, 1, 0), (-0.6, 0, 0.8))) for one in SOLES)
    with pytest.raises(
        od.ModelError, match=r"stand on edges, \S+ m long and 0\.09 m wide: the soles must be level then"
    ):
        od.walking.biped(saved(stepper(), tilted, tmp_path))
    assert od.walking.biped(saved(stepper(), tilted, tmp_path), ("left_foot", "right_foot")).sole == (0.09, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "human", "icub", "solo12", "anymal_c"])  # y up, looking backward, on points
def test_feet_of_the_table_of_robots_are_found(name):
    """Bodies, and soles that differ by 2 cm at most: the table has rectangles around frames, inside the soles."""
    pytest.importorskip("trimesh", reason="meshes are read by trimesh")
    if not od.robots.installed():
        pytest.skip("example-robot-data is not installed")
    known, model = od.robots.describe(name), od.walking.as_built(name)
    feet = od.walking.find_feet(model, known.up)
    assert [model.frame(foot).body for foot in feet] == [model.frame(foot).body for foot in known.feet]
    names = ("left_sole", "right_sole") if len(feet) == 2 else NAMES
    _, sole = od.walking.found_feet.twin_on_soles(model, names, feet, known.up)
    assert (sole is None) == (known.sole is None)
    if sole is not None:
        assert sole == pytest.approx(known.sole, abs=0.02)


@pytest.mark.slow
def test_shapes_of_a_base_that_is_turned_stay_in_their_place(tmp_path):
    """Feet that lie along x in the file: the base's frame turns, its shape does not turn with it."""
    box = od.io.Box("trunk", (0.3, 0.1, 0.05), (0.1, 0.0, 0.2))
    path = saved(turned(stepper(), np.pi / 2), (*SOLES, box), tmp_path)
    model = od.walking.biped(path).model
    found = [one.mesh.vertices for one in placed(model, model.shape_files[0], "collision")[0] if one.body == 1]
    assert np.concatenate(found).min(axis=0) == pytest.approx([-0.1, -0.4, 0.15])
    assert np.concatenate(found).max(axis=0) == pytest.approx([0.1, 0.2, 0.25])
