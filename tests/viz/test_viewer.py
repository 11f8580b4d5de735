"""The viewer without a browser: poses, arrows, time, shapes from files, what is sent, and its errors."""

from __future__ import annotations

import itertools
import os
import re
import socket
import struct
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("viser")

import ocp_dyn as od
from ocp_dyn.io.shapes import meshes, placed
from ocp_dyn.io.shapes.body_shape import find_mesh
from ocp_dyn.io.shapes.placed import read_shapes
from ocp_dyn.ocp import Solution
from ocp_dyn.viz.viewer import channel, drawn_bodies, outlines
from ocp_dyn.viz.viewer import track as tracks
from ocp_dyn.viz.viewer.stage import ASIDE, upright
from tests.io.test_shapes import TRIANGLE, write_stl
from tests.viz.motions import SOLE, STEP, TIME

URDF = """<robot name="r">
<material name="red"><color rgba="1 0 0 0.5"/></material>
<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
 <visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry><box size="2 4 6"/></geometry>
  <material name="red"/></visual>
 <visual><geometry><sphere radius="0.5"/></geometry></visual></link>
<link name="tip"><visual><geometry><mesh filename="{mesh}" scale="1 -2 1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
 <visual><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.1" length="1"/></geometry></visual></link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 1 0"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>
  <origin xyz="0 0 -1" rpy="0 0 1.5707963267948966"/></joint>
</robot>"""


@pytest.fixture
def robot(tmp_path) -> od.Model:
    write_stl(tmp_path / "pkg" / "meshes" / "tip.stl")
    (tmp_path / "pkg" / "r.urdf").write_text(URDF.format(mesh="package://pkg/meshes/tip.stl"))
    return od.load_urdf(tmp_path / "pkg" / "r.urdf", root=od.FloatingBase())


@pytest.fixture(scope="module")
def shown(walk):
    """The walk, in a viewer that does not play."""
    with od.viz.show(walk, play=False) as viewer:
        yield viewer


def sent_pose(node) -> tuple[np.ndarray, np.ndarray]:
    """(R, p) in the scene of a node of viser, from the poses of all nodes above it but the scene's own."""
    api, R, p = node._impl.api, np.eye(3), np.zeros(3)
    name = node.name
    while name.count("/") > 1:
        handle = api._handle_from_node_name[name]
        turn = tracks.rotation(np.array(handle.wxyz))
        R, p = turn @ R, np.array(handle.position) + turn @ p
        name = name.rsplit("/", 1)[0]
    return R, p


def assert_poses(viewer, q, shift=0.0) -> None:
    """Every body stands where od.pose has it."""
    actor = viewer.actors[0]
    model = actor.track.model
    for name, node in zip(model.body_names, actor.bodies, strict=True):
        R, p = (np.array(x.full()) for x in od.pose(model, name, q))
        sent_R, sent_p = sent_pose(node)
        np.testing.assert_allclose(sent_R, R, atol=2e-5)  # viser sends no change below a relative 1e-5
        np.testing.assert_allclose(sent_p, p.ravel(), atol=2e-5 + shift)


# Numbers


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_poses_of_bodies_at_rows_and_between(seed):
    rng = np.random.default_rng(seed)
    model = od.random_tree(9, 1.5, rng=rng)
    q = np.array([model.random_q(rng) for _ in range(3)])
    track = tracks.of_rows(model, np.array([0.0, 0.5, 0.6]), q)
    between = np.array(model.integrate(q[0], 0.3 * model.difference(q[0], q[1])).full()).ravel()
    for time, x, slack in ((0.0, q[0], 1e-12), (0.5, q[1], 1e-12), (0.6, q[2], 1e-12), (0.15, between, 2e-3)):
        placement = track.placement(time)
        for i, name in enumerate(model.body_names, 1):
            R, p = tracks.world_pose(placement, model, i)
            expected = od.pose(model, name, x)
            np.testing.assert_allclose(R, expected[0].full(), atol=slack)
            np.testing.assert_allclose(p, expected[1].full().ravel(), atol=10 * slack)
        np.testing.assert_allclose(track.center(time), od.center_of_mass(model, x).full().ravel(), atol=10 * slack)


def test_quaternions_of_all_rotations(rng):
    w = rng.normal(size=(50, 4))
    w = np.vstack([w, np.eye(4), [[1, 1e-9, 0, 0], [0, 1, 1, 0], [1e-9, 0, 1, -1]]])
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    R = np.array([tracks.rotation(x) for x in w])
    found = tracks.quaternions(R)
    np.testing.assert_allclose(np.abs(np.sum(found * w, axis=1)), 1.0, atol=1e-12)


@pytest.mark.slow
def test_time_of_a_motion_that_repeats_and_of_one_that_ends(walk):
    track = tracks.of_motion(walk, [])
    assert track.duration == pytest.approx(2 * TIME)  # a stride of two mirrored steps
    np.testing.assert_allclose(track.advance, [2 * STEP, 0, 0])
    assert track.local(0.1) == (0, pytest.approx(0.1))
    assert track.local(5 * TIME) == (2, pytest.approx(TIME))
    assert track.local(-0.1) == (-1, pytest.approx(2 * TIME - 0.1))
    assert [name for name, _, _ in track.phases] == 2 * ["double_support", "single_support"]
    assert track.phase(TIME + 0.05) == "double_support"
    assert track.phase(TIME + 0.15) == "single_support"
    once = replace(track, repeats=False, once=None)
    assert once.local(-1.0) == (0, 0.0)
    assert once.local(9.0) == (0, pytest.approx(2 * TIME))


def test_a_full_turn_between_two_rows():
    """Quaternions of following samples have one sign, so that the poses between them lie between them."""
    track = tracks.of_rows(od.models.pendulum(), np.array([0.0, 1.0]), np.array([[0.0], [2 * np.pi]]))
    assert np.all(np.sum(track.w[1:] * track.w[:-1], axis=-1) > 0.9)
    np.testing.assert_allclose(track.way(0.25), [track.com[15, 0], 0, 0], atol=1e-9)  # a camera stays level
    assert abs(track.com[15, 2] - track.com[0, 2]) > 0.4


@pytest.mark.slow
def test_arrows_begin_at_the_center_of_pressure_and_are_as_long_as_the_force(walk):
    track = tracks.of_motion(walk, [])
    meters = tracks.FORCE_LENGTH * tracks.size(walk.model)  # one body weight
    ((start, tip),) = track.arrows(0.25)
    np.testing.assert_allclose(start, [0.1 + SOLE[0], -0.06 + SOLE[1], 0], atol=1e-9)
    np.testing.assert_allclose(tip - start, meters * np.array([0.1, 0.05, 1.0]), atol=1e-9)
    ((image, image_tip),) = track.arrows(0.25 + TIME)  # the left foot, a step ahead
    np.testing.assert_allclose(image, start * [1, -1, 1] + [STEP, 0, 0], atol=1e-9)
    np.testing.assert_allclose(image_tip - image, (tip - start) * [1, -1, 1], atol=1e-9)
    assert len(track.arrows(0.05)) == 2
    assert np.abs(np.diff(track.arrows(0.05), axis=1))[:, 0, 2].sum() == pytest.approx(meters)


def test_pressure_on_a_slope():
    """The moment of a force at the point r is r x f: the center of pressure on the plane is r again."""
    normal = np.array([-0.6, 0, 0.8])
    r, f = np.array([0.08, 0.05, 0.06]), np.array([3.0, 4.0, 50.0])
    hold = tracks.Hold("foot", "left", np.array([0.0, 1.0]), np.array([1.0, 2.0, 3.0]), normal,
                       np.concatenate([np.cross(r, f), f])[None], np.zeros((0, 3)))  # fmt: skip
    assert r @ normal == pytest.approx(0)
    start, force = hold.force(0.5, 1.0)
    np.testing.assert_allclose(start, [1.08, 2.05, 3.06], atol=1e-12)
    np.testing.assert_allclose(force, f)
    assert hold.force(0.5, 100.0) is None
    assert hold.force(1.0, 1.0) is None


@pytest.mark.slow
def test_one_outline_for_every_footstep(walk):
    shapes = drawn_bodies.pieces(walk.model)
    track = tracks.of_motion(walk, shapes)
    edges, side = tracks.footprints(track)
    assert set(side) == {"left", "right"}
    right = edges[np.array(side) == "right"].reshape(-1, 3)
    np.testing.assert_allclose(right[:, 2], 0.0, atol=1e-9)
    assert np.abs(right[:, 1].mean() + 0.09) < 0.06
    assert 0.1 < np.ptp(right[:, 0]) < 0.35


def test_contacts_of_one_footstep_have_one_outline(walk):
    """Heel and toes of a foot, also those of the step that ends in the next cycle; the other foot beside them."""
    sole = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]])

    def hold(name: str, side: str, x: float, length: float = 1.0) -> tracks.Hold:
        return tracks.Hold(name, side, np.array([0.0, 1.0]), np.zeros(3), np.array([0, 0, 1.0]), np.zeros((1, 6)),
                           sole * [length, 1, 1] + [x, 0, 0])  # fmt: skip

    track = tracks.of_motion(walk, [])
    x = float(track.advance[0])
    holds = (hold("toes", "left", 0.05, 0.5), hold("heel", "left", 0.0), hold("sole", "right", 0.0),
             hold("heel", "left", x + 0.01, 0.9), hold("heel", "left", x / 2))  # fmt: skip
    edges, side = tracks.footprints(replace(track, holds=holds))
    assert side == ("left",) * 4 + ("right",) * 4 + ("left",) * 4
    np.testing.assert_allclose(edges[:, 0, 0].reshape(3, 4).min(axis=1), [0, 0, x / 2])


def test_gravity_points_down(rng):
    for g in (rng.normal(size=3), np.array([0, 0, -1.0]), np.array([0, 0, 2.0]), np.array([0, -9.81, 0])):
        R = upright(g)
        np.testing.assert_allclose(R @ g, [0, 0, -np.linalg.norm(g)], atol=1e-12)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_array_equal(upright(np.zeros(3)), np.eye(3))


# Shapes


@pytest.mark.parametrize("radii", [(0.3,), (0.3, 0.1), (0.1, 0.3), (0.2, 0.1, 0.3)])
def test_hulls_of_balls(radii, rng):
    """The farthest vertex in any direction is that of the balls, up to the fineness of the mesh; no vertex is
    outside."""
    centers = np.array([[0, 0, 0], [0.2, 0.5, 1], [1, 0, 0.0]])[: len(radii)]
    mesh = meshes.hull_of_balls(centers, np.array(radii))
    d = rng.normal(size=(200, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    reach = (d @ centers.T + np.array(radii)).max(axis=1)
    found = (d @ mesh.vertices.T).max(axis=1)
    assert np.all(found <= reach + 1e-12)
    assert np.all(found >= reach - 0.05 * max(radii))
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = np.sum(normals * (corners.mean(axis=1) - mesh.vertices.mean(axis=0)), axis=1)
    assert np.all(outwards >= -1e-9)


def test_edges_of_a_box_are_sharp_and_those_of_a_ball_are_not():
    assert len(meshes.simple_shape("box", (1, 2, 3)).vertices) == 24
    cylinder = meshes.simple_shape("cylinder", (0.5, 3.0)).vertices
    np.testing.assert_allclose([cylinder.min(axis=0), cylinder.max(axis=0)], [[-0.5, -0.5, -1.5], [0.5, 0.5, 1.5]])
    ball = meshes.simple_shape("sphere", (1.0,))
    assert len(meshes.creased(ball).vertices) < len(ball.vertices)


def test_vertices_are_split_where_faces_are_far_apart(rng):
    """At every point the first corner that is left takes all those whose normals are near its own."""
    vertices = rng.normal(size=(40, 3)).round(1)[rng.integers(0, 40, 60)]  # some places twice
    faces = np.array([rng.permutation(60)[:3] for _ in range(80)])
    mesh = meshes.creased(meshes.Mesh(vertices, faces), 35.0)
    np.testing.assert_allclose(mesh.vertices[mesh.faces], vertices[_solid(vertices, faces)], atol=1e-12)
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    parts: dict[tuple[float, ...], list[list[int]]] = {}
    for f, k in itertools.product(range(len(mesh.faces)), range(3)):
        at = parts.setdefault(tuple(corners[f, k]), [])
        near = next((part for part in at if normals[f] @ normals[part[0]] >= np.cos(np.radians(35))), None)
        at.append([f]) if near is None else near.append(f)
    assert len(mesh.vertices) == sum(map(len, parts.values()))
    shared = np.bincount(mesh.faces.ravel())
    assert sorted(shared) == sorted(len(part) for at in parts.values() for part in at)


def _solid(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The faces with an area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return faces[area > 1e-9 * area.max()]


def test_meshes_as_one():
    box = meshes.simple_shape("box", (1, 2, 3))
    both = meshes.joined([box, box.placed(np.eye(3), np.array([5.0, 0, 0]))])
    np.testing.assert_array_equal(both.vertices[both.faces[12:]], box.vertices[box.faces] + [5, 0, 0])


def test_a_mesh_file_that_changes_is_read_again(tmp_path):
    write_stl(tmp_path / "a.stl")
    assert len(meshes.mesh_file(tmp_path / "a.stl")[0].faces) == 1
    data = (tmp_path / "a.stl").read_bytes()
    (tmp_path / "a.stl").write_bytes(
        data[:80] + struct.pack("<I", 2) + data[84:] + struct.pack("<12fH", 0, 0, 1, *(TRIANGLE + 1).ravel(), 0)
    )
    os.utime(tmp_path / "a.stl", (1, 1))
    assert len(meshes.mesh_file(tmp_path / "a.stl")[0].faces) == 2


def test_outline_of_points(rng):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    found = outlines.outline(np.vstack([rng.uniform(0.1, 0.9, (30, 2)), square]))
    np.testing.assert_allclose(found, square)


def test_shapes_of_a_urdf_stand_where_its_links_are(robot, rng):
    found = drawn_bodies.pieces(robot)
    box = next(piece for piece in found if piece.color == (1.0, 0.0, 0.0, 0.5))
    np.testing.assert_allclose(np.ptp(box.mesh.vertices, axis=0), [4, 2, 6], atol=1e-12)  # turned about z
    np.testing.assert_allclose(box.mesh.vertices.mean(axis=0), [0, 0, 1], atol=1e-12)
    arm = drawn_bodies.vertices_of(found, 2)
    assert arm[:, 2].min() == pytest.approx(-1)
    for corner in TRIANGLE[:, [1, 0, 2]] * [2, 1, 1] - [0, 0, 1]:  # in the link tip, which is fixed to the arm, turned
        assert np.abs(arm - corner).max(axis=1).min() < 1e-6
    tip = next(v for v in read_shapes(robot.shape_files[0].path) if v.kind == "mesh")
    faces = placed._meshes(tip)[0]
    a, b, c = faces.vertices[faces.faces[0]]
    assert np.cross(b - a, c - a)[2] > 0  # mirrored, and its face still looks up


def test_a_file_with_shapes_of_the_ground_alone(tmp_path):
    text = re.sub(
        r"<visual><geometry><mesh.*?</visual>|<visual><origin xyz=.0 0 -0.5.*?</visual>", "", URDF, flags=re.DOTALL
    )
    (tmp_path / "r.urdf").write_text(text)
    assert {v.link for v in read_shapes(tmp_path / "r.urdf")} == {"base"}
    model = od.load_urdf(tmp_path / "r.urdf", root=od.Fixed())
    assert {piece.body for piece in drawn_bodies.pieces(model)} >= {1}


def test_notes_of_files_follow_edits(robot):
    doubled = robot.scale(length=2.0)
    np.testing.assert_allclose(
        drawn_bodies.vertices_of(drawn_bodies.pieces(doubled), 2),
        2 * drawn_bodies.vertices_of(drawn_bodies.pieces(robot), 2),
    )
    twice = robot.attach(robot, "tip", prefix="b_")
    found = drawn_bodies.pieces(twice)
    np.testing.assert_allclose(drawn_bodies.vertices_of(found, 4), drawn_bodies.vertices_of(found, 2))
    locked = robot.lock_joints({"elbow": 0.5})
    assert {piece.body for piece in drawn_bodies.pieces(locked)} == {1}


def test_missing_meshes_are_named_once(tmp_path):
    (tmp_path / "r.urdf").write_text(URDF.format(mesh="package://nowhere/tip.stl"))
    model = od.load_urdf(tmp_path / "r.urdf", root=od.FloatingBase())
    with pytest.warns(
        od.ModelWarning, match=r"a mesh could not be read, they are left out: .*nowhere/tip.stl.*ROS_PACKAGE_PATH"
    ):
        found = drawn_bodies.pieces(model)
    assert {piece.body for piece in found} == {1, 2}
    (tmp_path / "r.urdf").unlink()
    with pytest.warns(od.ModelWarning, match="rounded"):
        rounded = drawn_bodies.pieces(model)
    assert len(rounded) == len(drawn_bodies.rounded(model))
    assert find_mesh("package:///nowhere/tip.stl", tmp_path / "r.urdf") is None


def test_collada_files_are_brought_to_meters_and_z_up(tmp_path):
    path = tmp_path / "a.dae"
    path.write_text('<COLLADA><asset><unit name="cm" meter="0.01"/><up_axis>Y_UP</up_axis></asset></COLLADA>')
    np.testing.assert_allclose(meshes._collada_axes(path) @ [0, 1, 0], [0, 0, 0.01])
    path.write_text("<COLLADA><asset><up_axis>Z_UP</up_axis></asset></COLLADA>")
    np.testing.assert_array_equal(meshes._collada_axes(path), np.eye(3))


def test_meshes_are_searched_in_packages(tmp_path, monkeypatch):
    write_stl(tmp_path / "else" / "share" / "pkg" / "a.stl")
    urdf = tmp_path / "here" / "r.urdf"
    urdf.parent.mkdir()
    assert find_mesh("package://pkg/a.stl", urdf) is None
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "else"))
    assert find_mesh("package://pkg/a.stl", urdf) == tmp_path / "else" / "share" / "pkg" / "a.stl"
    assert find_mesh("../else/share/pkg/a.stl", urdf).samefile(tmp_path / "else" / "share" / "pkg" / "a.stl")
    assert find_mesh(f"file://{tmp_path}/else/share/pkg/a.stl", urdf) is not None
    write_stl(tmp_path / "else" / "a b.stl")
    assert find_mesh(f"file://{tmp_path}/else/a%20b.stl", urdf) is not None


def test_damaged_shapes_are_refused(tmp_path):
    path = tmp_path / "r.urdf"
    for text, message in (
        (URDF.replace('size="2 4 6"', 'size="2 4"'), "size must be 3 finite numbers"),
        (URDF.replace('radius="0.5"', 'radius="-1"'), "negative size"),
        (URDF.replace('radius="0.5"', 'radius="wide"'), "radius must be 1 finite number, got 'wide'"),
        ("<!DOCTYPE a><robot/>", "document type"),
        ("<robot>", "not well-formed XML"),
    ):
        path.write_text(text)
        with pytest.raises(od.ModelError, match=message):
            read_shapes(path)


# The running viewer


@pytest.mark.slow
def test_bodies_are_sent_where_they_are(shown, walk):
    for time in (0.0, 0.35, 0.35 + 2 * TIME):
        shown.time = time
        assert_poses(shown, walk.sample([time])[0], 1e-3)
        np.testing.assert_allclose(shown.q, walk.sample([time])[0])
        com = od.center_of_mass(walk.model, walk.sample([time])[0]).full().ravel()
        np.testing.assert_allclose(shown.actors[0].com.position, com, atol=1e-3)
    ground = shown._stage.ground.position[0]
    assert ground / shown._stage.section == pytest.approx(round(ground / shown._stage.section))  # its lines stay
    assert abs(ground - STEP / TIME * time) <= shown._stage.section / 2
    assert shown._stage.scene.position[0] == pytest.approx(-STEP / TIME * time)
    shown.follow(False)
    assert shown._stage.scene.position[0] == 0
    shown.follow(True)


def test_the_camera_has_the_robot_left_of_the_panel(shown):
    assert np.ptp(shown.scenery.space()[0][:, 0]) < 1.5  # the camera follows: not the whole way
    camera, box = shown._stage.server.initial_camera, shown.scenery.space()[0]
    position, view = np.array(camera.position), np.array(camera.look_at) - np.array(camera.position)
    right = np.cross(view, [0, 0, 1.0])
    to_robot = box.mean(axis=0) - position
    slope = (to_robot @ right / np.linalg.norm(right)) / (to_robot @ view / np.linalg.norm(view))
    assert slope == pytest.approx(-ASIDE * np.tan(camera.fov / 2))
    assert np.linalg.norm(np.ptp(box, axis=0)) / 2 < np.linalg.norm(to_robot) * np.sin(camera.fov / 2)


def test_forces_are_sent(shown):
    shown.time = 0.25 + 2 * TIME
    arrows = shown.actors[0].arrows
    assert arrows.visible
    at = arrows.points[0, 0, 0] + shown.actors[0].cycle.position[0]
    assert at == pytest.approx(0.1 + SOLE[0] + 2 * STEP)
    shown.layer("forces", False)
    assert not arrows.visible
    shown.time = 0.3 + 2 * TIME
    assert not arrows.visible
    shown.layer("forces", True)
    assert arrows.visible


@pytest.mark.slow
def test_a_pose_beside_the_motion(shown, walk):
    shown.time = 0.1
    other = walk.sample([0.3])[0]
    shown.update(other)
    assert_poses(shown, other, 1e-3)
    shown.time = 0.1  # the motion is still there
    assert_poses(shown, walk.sample([0.1])[0], 1e-3)


def test_layers_and_steps(shown):
    shown.layer("names", True)
    labels = shown.actors[0].layers["names"]
    assert [label.text for label in labels] == list(shown.actors[0].track.model.body_names)
    shown.layer("names", False)
    assert not any(label.visible for label in labels)
    with pytest.raises(ValueError, match="did you mean 'forces'"):
        shown.layer("force", True)
    shown.time = 0.1
    shown.step(3)
    assert shown.time == pytest.approx(0.15)
    shown.step(-3)
    assert shown.time == pytest.approx(0.1)
    shown.opacity(0.5)
    assert {mesh.opacity for mesh in shown.actors[0].meshes} == {0.5}


def test_time_goes_on_for_visitors_only(shown):
    shown.time = 0.0
    shown.play(0.5)
    assert (shown.playing, shown.speed) == (True, 0.5)
    shown._advance(0.2)
    assert shown.time == pytest.approx(0.2)
    shown.pause()
    shown._advance(0.2)
    assert shown.time == pytest.approx(0.2)
    shown.time = 5 * TIME
    shown.play()  # a motion that repeats has no end at which it would start again
    assert shown.time == pytest.approx(5 * TIME)
    shown.pause()
    with pytest.raises(ValueError, match="speed must be positive"):
        shown.play(0.0)


def test_a_motion_that_ends_starts_again_or_stops(rng):
    model = od.models.pendulum()
    with od.viz.show(model, [[0.0], [1.0]], t=[0.0, 1.0], play=False) as viewer:
        viewer.play()
        viewer._advance(1.5)
        assert viewer.time == pytest.approx(1.5)  # the pause at the end
        viewer._advance(0.5)
        assert viewer.time == 0.0
        viewer.loop(False)
        viewer._advance(1.2)
        assert (viewer.time, viewer.playing) == (1.0, False)
        np.testing.assert_allclose(viewer.q, [1.0])
        viewer.play()
        assert viewer.time == 0.0


@pytest.mark.slow
def test_a_model_with_sliders(robot, rng):
    with robot.show() as viewer:
        q = robot.random_q(rng)
        viewer.update(q)
        assert_poses(viewer, q)
        np.testing.assert_array_equal(viewer.q, q)
        panel = viewer._joints
        assert panel.by_q[7].value == pytest.approx(q[7], abs=2e-3)
        assert (panel.by_q[7].min, panel.by_q[7].max) == (-1, 2)
        assert sorted(panel.by_step) == list(range(6))
        panel.by_q[7].value = 0.5
        panel._moved(0.5)
        assert viewer.q[7] == pytest.approx(0.5)
        np.testing.assert_allclose(viewer.q[:7], q[:7], atol=0.02)
        html = viewer._repr_html_()
        assert "iframe" in html
        assert "data:image/png;base64,iVBOR" in html
        with pytest.raises(ValueError, match=r"update: q of .* must be 8 finite numbers"):
            viewer.update([1, 2])
    assert not viewer.running
    assert "closed" in repr(viewer)
    viewer.close()
    for name, arguments in (("play", ()), ("pause", ()), ("step", ()), ("loop", (True,)), ("follow", (True,)),
                            ("opacity", (1.0,)),
                            ("layer", ("bodies", True)), ("arrange", (True,)), ("update", (q,))):  # fmt: skip
        with pytest.raises(RuntimeError, match=f"{'time' if name == 'step' else name}: this viewer was closed"):
            getattr(viewer, name)(*arguments)
    assert viewer.time == 0.0


@pytest.mark.slow
def test_loops_stay_closed():
    chain = od.models.bricard()
    with chain.show() as viewer:
        panel = viewer._joints
        k = next(iter(panel.by_q))
        panel.by_q[k].value = chain.q[k] + 0.3
        panel._moved(0.0)
        assert np.abs(viewer.q - chain.q).max() > 0.05
        assert np.abs(od.constraint_position(chain.model, chain.loops, viewer.q).full()).max() < 1e-6


@pytest.mark.slow
def test_several_stand_side_by_side_or_over_each_other(walk):
    with od.viz.show({"one": walk, "two": walk}, play=False) as viewer:
        assert viewer.names == ("one", "two")
        one, two = (actor.root.position for actor in viewer.actors)
        assert two[1] - one[1] > 0.5
        viewer.arrange(True)
        np.testing.assert_array_equal(viewer.actors[1].root.position, one)
        assert viewer.actors[1].meshes[0].opacity < 0.5
        assert viewer.actors[0].meshes[0].color != viewer.actors[1].meshes[0].color


def test_names_that_differ_in_a_slash_have_nodes_of_their_own():
    rod = od.models.pendulum()
    with od.viz.show({"a/b": rod, "a_b": rod}) as viewer:
        assert len({actor.path for actor in viewer.actors}) == 2


@pytest.mark.slow
def test_a_page_holds_the_motion(shown, tmp_path):
    path = shown.save(tmp_path / "walk.html", fps=20)
    text = path.read_text()
    assert "iframe" in path._repr_html_()
    assert "<title>human" in text
    assert "__VISER_EMBED_DATA__" in text
    assert len(text) < 1_500_000
    with pytest.raises(ValueError, match=r"written as \.html"):
        shown.save(tmp_path / "walk.gif")
    with pytest.raises(ValueError, match="more than 20000"):
        shown.save(tmp_path / "walk.html", fps=1e6)
    with pytest.raises(ValueError, match="cycles must be at least 1, a whole number"):
        shown.save(tmp_path / "walk.html", cycles=0)


def test_wrong_arguments(walk, monkeypatch):
    model = od.models.pendulum()
    for arguments, options, error, message in (
        ((model, [1.0, 2.0]), {}, ValueError, "show: q of .* must be 1 finite numbers"),
        ((model, np.zeros((3, 2))), {}, ValueError, "give its times too"),
        ((model, [[0.0]]), {"t": [0.0, 1.0]}, ValueError, r"shape \(len\(t\), nq\) = \(2, 1\)"),
        ((model, [[0.0], [1.0]]), {"t": [1.0, 0.0]}, ValueError, "do not fall"),
        ((walk, [0.0]), {}, TypeError, "a motion has its own"),
        (([],), {}, ValueError, "nothing to show"),
        ((3,), {}, TypeError, "a solved motion or a list of these is needed"),
        ((model,), {"urdf": "nowhere.urdf"}, FileNotFoundError, "nowhere.urdf"),
        ((model,), {"port": 0}, ValueError, "port, up to 65535, or None for a free one, must be at least 1"),
    ):
        with pytest.raises(error, match=message):
            od.viz.show(*arguments, **options)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match=r"cannot be used .*leave port out"):
            model.show(port=taken.getsockname()[1])
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=r"pip install 'ocp_dyn\[viewer\]'"):
        model.show()


def test_no_warning_and_no_output(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        od.models.pendulum().show().close()
    assert capsys.readouterr() == ("", "")
    assert isinstance(Solution.show.__doc__, str)


@pytest.mark.slow
def test_a_model_shows_itself_in_a_new_process():
    """The room of pictures, which registers the viewer, is not loaded before."""
    program = "import ocp_dyn as od; v = od.models.pendulum().show(); print(v.running); v.close()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_host_that_is_not_here_is_refused():
    for host in ("no.such.host.invalid", 3, ""):
        with pytest.raises(ValueError, match="host must be an address of this machine"):
            od.models.pendulum().show(host=host)


@pytest.mark.slow
def test_a_quaternion_of_zeros_is_refused():
    human = od.models.human()
    zeros = np.zeros(human.nq)
    with pytest.raises(ValueError, match=r"show: the quaternion of joint .* is zero"):
        human.show(zeros)
    with pytest.raises(ValueError, match="show: the quaternion"):
        od.viz.show(human, np.stack([np.ravel(human.neutral()), zeros]), t=[0, 1])
    with pytest.raises(ValueError, match="plot: the quaternion"):
        od.viz.plot_model(human, zeros)
    with human.show() as viewer, pytest.raises(ValueError, match="update: the quaternion"):
        viewer.update(zeros)


def test_wrong_tables_and_objects():
    pendulum = od.models.pendulum()
    with pytest.raises(ValueError, match="rows of q must have the same length, nq = 1"):
        od.viz.show(pendulum, [[0.0], [1.0, 2.0]], t=[0, 1])
    with pytest.raises(TypeError, match="a model, a closed chain, a solved motion or a list"):
        od.viz.show(3)


def test_a_layer_moves_its_switch():
    with od.models.pendulum().show() as viewer:
        viewer.layer("names", True)
        viewer.layer("ground", False)
        assert viewer._view.layers["names"].value
        assert not viewer._view.layers["ground"].value


def test_names_stand_at_the_middle_of_bodies():
    with od.models.pendulum().show() as viewer:
        viewer.layer("names", True)
        label = viewer.actors[0].layers["names"][0]
        points = drawn_bodies.vertices_of(drawn_bodies.pieces(od.models.pendulum()), 1)
        np.testing.assert_allclose(label.position, (points.min(axis=0) + points.max(axis=0)) / 2, atol=1e-6)
        assert np.linalg.norm(label.position) > 0.1


def test_an_unknown_shape_is_named(tmp_path):
    file = tmp_path / "cone.urdf"
    file.write_text(
        '<robot name="r"><link name="a"><visual><geometry><cone radius="1"/></geometry></visual></link></robot>'
    )
    with pytest.warns(od.ModelWarning, match="link 'a' <visual>: <cone> is none of box, .*left out"):
        assert read_shapes(file) == []


def test_a_notebook_reaches_the_viewer_by_its_proxy(monkeypatch):
    """The addresses of a hub, an editor and a notebook on another machine, as far as the kernel knows them."""
    hub = {"JUPYTERHUB_SERVICE_PREFIX": "/user/ada/"}
    monkeypatch.setattr(channel, "has_proxy", lambda: True)
    assert channel.proxied_url(8080, hub) == "/user/ada/proxy/8080/"
    assert (
        channel.proxied_url(8080, {"VSCODE_PROXY_URI": "https://x.dev/proxy/{{port}}/"}) == "https://x.dev/proxy/8080/"
    )
    assert channel.proxied_url(8080, {}) is None
    monkeypatch.setattr(channel, "has_proxy", lambda: False)
    assert channel.proxied_url(8080, hub) is None
    html = channel.frame("http://localhost:8080", 8080, 300)
    assert " src=" not in html.partition("<img")[0]  # the page of the notebook tries the addresses
    assert "let address = null;" in html
    assert 'const local = "http://localhost:8080", proxied' in html
    assert 'base.replace(/\\/?$/, "/") + "proxy/8080/"' in html
    assert "ssh -L 8080:localhost:8080 MACHINE" in html
    monkeypatch.setenv("VSCODE_PROXY_URI", "https://x.dev/proxy/{{port}}/")
    html = channel.frame("http://localhost:8080", 8080, 300)
    assert 'let address = "https://x.dev/proxy/8080/";' in html
    assert 'href="https://x.dev/proxy/8080/"' in html


@pytest.mark.slow
def test_arrows_stand_in_the_cycle_of_the_body(walk):
    """Arrows that a browser draws later than bodies are not a stride away."""
    with od.viz.show(walk, play=False) as viewer:
        actor = viewer.actors[0]
        assert actor.arrows.name.startswith(actor.cycle.name)
        early, late = 0.3 * viewer.duration, 1.3 * viewer.duration
        viewer.time = early
        before = np.array(actor.arrows.points)
        viewer.time = late
        np.testing.assert_allclose(actor.arrows.points, before, atol=1e-6)
        np.testing.assert_allclose(np.array(actor.cycle.position), np.array(actor.moved.position))
        assert np.array(actor.cycle.position)[0] > 0.1
