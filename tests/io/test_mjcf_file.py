"""Shapes, options, names and errors of `write_mjcf`."""

from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io.simulators._common import Names, xml_text
from tests.helpers import random_rotation
from tests.io.mjcf_models import loaded, machine

mujoco = pytest.importorskip("mujoco")
needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")


def placed(model, theirs, rng):
    """A random configuration, and MuJoCo's data in it."""
    q, data = model.random_q(rng), mujoco.MjData(theirs)
    data.qpos[:] = od.Layout(model, "mujoco").to_q(q).full().ravel()
    mujoco.mj_forward(theirs, data)
    return q, data


@pytest.mark.slow
def test_shapes_touch_the_ground_only(rng):
    model = machine()
    R = random_rotation(rng)
    made = [od.io.Box("tip", (0.1, 0.2, 0.3), (1, 2, 3), R, name="sole"), od.io.Ball("a", 0.05), od.io.Ball("a", 0.06),
            od.io.Cylinder("base", 0.1, 0.2, rounded=True), od.io.Cylinder("world", 0.3, 0.01)]  # fmt: skip
    theirs = loaded(model, made, friction=(0.7, 0.01, 0.001), solref=(0.005, 1), visuals="none")
    names = [theirs.geom(k).name for k in range(theirs.ngeom)]
    assert sorted(names) == ["a", "a_2", "base", "ground", "sole", "world"]
    q, data = placed(model, theirs, rng)
    Rt, p = (x.full() for x in od.pose(model, "tip", ca.DM(q)))
    assert np.abs(data.geom("sole").xpos - p.ravel() - Rt @ (1, 2, 3)).max() < 1e-12
    assert np.abs(data.geom("sole").xmat.reshape(3, 3) - Rt @ R).max() < 1e-12
    assert theirs.geom("sole").size.tolist() == [0.1, 0.2, 0.3]
    assert theirs.geom("base").size[:2].tolist() == [0.1, 0.2]
    collide = {(a, b): bool((theirs.geom(a).contype & theirs.geom(b).conaffinity).item()
               or (theirs.geom(b).contype & theirs.geom(a).conaffinity).item())
            for a in names for b in names}  # fmt: skip
    assert all(hit == ((a in ("ground", "world")) != (b in ("ground", "world"))) for (a, b), hit in collide.items())
    assert theirs.geom("sole").friction.tolist() == theirs.geom("ground").friction.tolist() == [0.7, 0.01, 0.001]
    assert theirs.geom("sole").solref.tolist() == [0.005, 1]
    stairs = loaded(model, [od.io.Box("world", (1, 1, 1))], visuals="none")
    assert [stairs.geom(k).name for k in range(stairs.ngeom)] == ["world"]
    assert loaded(model, made, ground=False, visuals="none").ngeom == 5
    assert loaded(model, ground=True, visuals="none").ngeom == 1


def test_a_ball_falls_on_the_ground():
    b = od.ModelBuilder()
    b.add_body("ball", od.FloatingBase(), mass=1, inertia=(0.01, 0.01, 0.01))
    theirs = loaded(b.build(), [od.io.Ball("ball", 0.1)], keyframes={"high": (0, 0, 0.3, 0, 0, 0, 1)}, timestep=0.001)
    data = mujoco.MjData(theirs)
    mujoco.mj_resetDataKeyframe(theirs, data, theirs.key("high").id)
    assert data.qpos.tolist() == [0, 0, 0.3, 1, 0, 0, 0]
    for _ in range(2000):
        mujoco.mj_step(theirs, data)
    assert data.time == pytest.approx(2.0)
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-3)


def test_sticks_are_between_joints():
    theirs = loaded(machine())
    sticks = [k for k in range(theirs.ngeom) if theirs.geom_group[k] == 2]
    assert len(sticks) == 4
    assert not theirs.geom_contype[sticks].any()
    assert theirs.geom_bodyid[sticks].tolist() == [theirs.body(n).id for n in ("base", "base", "a", "c")]
    assert theirs.geom_size[sticks[2]][1] == pytest.approx(0.15)


@needs_robots
@pytest.mark.slow
def test_meshes_of_the_robot():
    model = od.robots.load("solo12")
    text = od.io.mjcf_text(model, visuals="meshes")
    root = ElementTree.fromstring(text)
    files = [mesh.get("file") for mesh in root.iter("mesh")]
    assert len(files) == len(set(files))
    assert all(file.startswith("/") for file in files)
    assert loaded(model, visuals="meshes").nmesh == len(files) >= 4
    with pytest.raises(od.ModelError, match='visuals="sticks"'):
        od.io.mjcf_text(machine(), visuals="meshes")


def test_names_stay_valid_and_unique(rng):
    b = od.ModelBuilder('a "model" <1> -- ---')
    b.add_body("a_", od.Euler("xyz"), joint_name="j & k", mass=1, inertia=(1, 1, 1))
    b.add_body("a__2", od.Revolute("x"), "a_", mass=1, inertia=(1, 1, 1))
    b.add_body("-----", od.Revolute("x"), "a_", mass=1, com=(0, 0, 1))  # a comment names it: it is a point
    b.add_body("world2", od.Revolute("x"), "a_", joint_name="j & k.rx", mass=1, inertia=(1, 1, 1))
    b.add_frame("f_\u00e9", "world")
    assert "- - - - -" in ElementTree.canonicalize(od.io.mjcf_text(b.build()), with_comments=True)
    theirs = loaded(b.build())
    assert [theirs.body(k).name for k in range(1, 5)] == ["a_", "a__2", "-----", "world2"]
    assert [theirs.joint(k).name for k in range(3, 6)] == ["a__2_joint", "-----_joint", "j & k.rx_2"]
    assert theirs.site(0).name == "f_\u00e9"
    names = Names("a_")  # of meshes, which come from files
    assert [names.new("a\x01"), names.new("a\n")] == ["a__2", "a__3"]


def test_names_of_shapes_beside_the_plane():
    theirs = loaded(machine(), [od.io.Ball("a", 0.1, name="ground")], visuals="none")
    assert [theirs.geom(k).name for k in range(2)] == ["ground", "ground_2"]


def test_a_body_called_as_the_ground():
    b = od.ModelBuilder()
    b.add_body("world", od.Revolute("y"), mass=1, inertia=(1, 1, 1))
    assert loaded(b.build()).body(1).name == "world_2"


def test_a_one_sided_limit_holds():
    b = od.ModelBuilder()
    b.add_body("a", od.Revolute("y"), mass=1, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1), upper=0.5)
    theirs, settled = loaded(b.build()), []
    data = mujoco.MjData(theirs)
    for _ in range(1500):
        mujoco.mj_step(theirs, data)
        settled.append(data.qpos[0])
    assert max(settled) < 0.6
    assert data.qpos[0] == pytest.approx(0.5, abs=0.02)


WRONG = [
    ({"timestep": 0}, "timestep"), ({"integrator": "euler"}, "did you mean 'Euler'"), ({"cone": "round"}, "elliptic"),
    ({"friction": (1, 2)}, "friction must be 1 or 3"), ({"friction": -1}, "friction"), ({"solimp": (1, 2)}, "solimp"),
    ({"friction": (1, 0, -1)}, "friction must not be negative"), ({"solref": (-100, 1)}, "both positive"),
    ({"solref": (0, 1)}, "both positive"), ({"keyframes": {"up": [np.nan] * 15}}, "keyframe 'up': q must hold finite"),
    ({"solref": (np.nan, 1)}, "solref"), ({"visuals": "mesh"}, "did you mean 'meshes'"),
    ({"drop": ("pasive",)}, "passive"),
    ({"ground": 1}, "ground"), ({"balance": None}, "balance"), ({"keyframes": [1]}, "keyframes"),
    ({"keyframes": {1: 2}}, "keyframes"), ({"constraints": "loop"}, "constraints"),
    ({"time_step": 1}, "did you mean 'timestep'"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "text"), WRONG, ids=[str(options) for options, _ in WRONG])
def test_wrong_options(options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        od.io.mjcf_text(machine(), **options)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: od.io.Box("a", (1, 0, 1)), "half_sizes"), (lambda: od.io.Ball("a", -1), "radius"),
    (lambda: od.io.Ball("", 1), "frame"), (lambda: od.io.Cylinder("a", 1, np.inf), "half_length"),
    (lambda: od.io.Box("a", (1, 1, 1), rotation=2 * np.eye(3)), "orthonormal"),
    (lambda: od.io.Ball("a", 1, (1, 2)), "center"),
    (lambda: od.io.Ball("a", raduis=1), "did you mean 'radius'"), (lambda: od.io.Ball("a", 1, name=""), "name"),
])  # fmt: skip
def test_wrong_shapes(make, text):
    with pytest.raises((ValueError, TypeError), match=text):
        make()


def test_shapes_of_a_file_are_seen_in_their_sizes(tmp_path):
    shapes = ('<cylinder radius="0.1" length="0.6"/>', '<box size="0.2 0.4 0.6"/>', '<sphere radius="0.3"/>')
    visuals = "".join(f'<visual><origin xyz="1 2 3"/><geometry>{x}</geometry></visual>' for x in shapes)
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{inertial}{visuals}</link>{joint}</robot>'
    )
    model = od.load_urdf(tmp_path / "arm.urdf")
    theirs = loaded(model, visuals="meshes")
    assert theirs.geom_size.tolist() == [[0.1, 0.3, 0], [0.1, 0.2, 0.3], [0.3, 0, 0]]
    assert theirs.geom_pos.tolist() == [[1, 2, 3]] * 3
    text = od.io.urdf_text(model)
    for shape in ('<cylinder radius="0.1" length="0.6" />', '<box size="0.2 0.4 0.6" />', '<sphere radius="0.3" />'):
        assert shape in text


def test_stiffness_and_damping_of_contacts():
    theirs = loaded(machine(), [od.io.Ball("tip", 0.1)], solref=(-2000, -10))
    assert theirs.geom_condim[[theirs.geom(name).id for name in ("ground", "tip")]].tolist() == [3, 3]
    assert theirs.geom("tip").solref.tolist() == [-2000, -10]


def test_shapes_of_other_models(tmp_path):
    with pytest.raises(KeyError, match="Ball: no frame 'tp' in this model: did you mean 'tip'"):
        od.io.mjcf_text(machine(), [od.io.Ball("tp", 1)])
    with pytest.raises(TypeError, match=r"od\.io\.Box"):
        od.io.write_mjcf(machine(), tmp_path / "x.xml", ["tip"])
    with pytest.raises(od.ModelError, match="two shapes are called 'a'"):
        od.io.mjcf_text(machine(), [od.io.Ball("tip", 1, name="a"), od.io.Ball("s", 1, name="a")])
    with pytest.raises(TypeError, match="needs a Model"):
        od.io.mjcf_text("model")
    with pytest.raises(od.ModelError, match="holds symbols"):
        od.io.mjcf_text(od.with_parameters(machine(), {"gravity": ca.SX.sym("g", 3)}))
    assert not list(tmp_path.iterdir())


def test_frames_may_be_given_themselves(tmp_path):
    shape = od.io.Box(machine().frame("tip"), (1, 1, 1))
    assert shape.frame == "tip"
    assert od.io.Box("tip", (1, 1, 1)) == shape
    od.io.write_mjcf(machine(), tmp_path / "x.xml", [shape])
    assert (tmp_path / "x.xml").read_text() == od.io.mjcf_text(machine(), [shape])
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "x.xml")).nq == machine().nq


def test_files_are_written_as_python_writes_them_but_to_any_depth():
    root = ElementTree.fromstring(od.io.mjcf_text(machine()))
    root.insert(1, ElementTree.Comment(" a < b & c "))
    root[0].set("note", 'quotes " and < & \n')
    text = xml_text(root)
    ElementTree.indent(root)
    assert text.removeprefix('<?xml version="1.0" encoding="utf-8"?>\n') == ElementTree.tostring(root, "unicode") + "\n"
    deepest = chain = ElementTree.Element("body")
    for _ in range(3000):
        deepest = ElementTree.SubElement(deepest, "body")
    assert xml_text(chain).count("</body>") == 3000
