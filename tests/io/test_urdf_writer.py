"""`write_urdf`: what it writes is read again as the same model, here and by Pinocchio; what URDF lacks is refused."""

from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io.simulators.urdf_writer import rpy_of
from tests.helpers import ALL_TREES, close, mostly_slow, random_rotation, tree, turns

LACKING = {"spherical", "helical_x", "helical_skew", "multi_dof", "custom", "functions"}
MIXED = {"star", "forest"}
"""Trees with a spherical joint beside others."""
WRITTEN = [key for key in ALL_TREES if key not in LACKING | MIXED]
needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")


def entries(model, other, names, sizes):
    """Places in q or qd of `other` of the entries of the model's, by their names."""
    return [getattr(other, names).index(name) for name in getattr(model, names)]


def same_dynamics(model, other, rng):
    at_q, at_v = (entries(model, other, names, None) for names in ("q_names", "qd_names"))
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    Q, V, A = np.zeros(other.nq), np.zeros(other.nv), np.zeros(other.nv)
    Q[at_q], V[at_v], A[at_v] = q, qd, qdd
    wanted = od.inverse_dynamics(model, *(ca.DM(x) for x in (q, qd, qdd))).full().ravel()
    found = od.inverse_dynamics(other, *(ca.DM(x) for x in (Q, V, A))).full().ravel()[at_v]
    assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
    for name in model.frame_names:
        for a, b in zip(od.pose(other, name, Q), od.pose(model, name, q), strict=True):
            close(a, b, 1e-12)
    return at_q, at_v


@mostly_slow("key", WRITTEN, ["planar", "universal", "floating", "floating_zyx", "chain"])
@pytest.mark.slow
def test_every_joint_comes_back(key, rng):
    model = tree(key)
    back = od.parse_urdf(od.io.urdf_text(model), gravity=model.gravity)
    assert model.nv == back.nv
    assert set(model.frame_names) <= set(back.frame_names)
    same_dynamics(model, back, rng)


def doors():
    """A model with everything that a URDF has."""
    b = od.ModelBuilder("doors")
    b.add_body("base", od.FloatingBase(name="float"), mass=3, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
    b.add_body("a", od.Revolute((1, 2, 3)), "base", origin=(0.1, 0, 0), mass=1, lower=-1, upper=2, effort=5, velocity=3)
    b.add_body("b", od.Revolute("y"), "base", rotation=turns("y", [-np.pi / 2]), mass=1, damping=0.1, friction=0.2)
    b.add_body("c", od.Prismatic("x"), "b", mass=1, upper=0.5, effort=7)
    b.add_body("d", od.Euler("yxz"), "c", origin=(0, 0, 1), mass=1, inertia=(1, 1, 1), lower=-1, upper=(1, 2, 3))
    b.add_frame("tip", "c", (0.1, 0.2, 0.3), turns("xyz", [0.1, -np.pi / 2, 0.3]))
    b.add_mimic("c_joint", "b_joint", -2.0, 0.1)
    return b.build()


def test_limits_losses_and_mimics_come_back(rng):
    model = doors()
    text = od.io.urdf_text(model)
    assert "Links without mass" in text
    assert "root=od.FloatingBase()" in text
    assert 'link name="world"' not in text
    back = od.parse_urdf(text, root=model.joints[1], mimic="couple")
    at_q, at_v = same_dynamics(model, back, rng)
    for key in ("q_lower", "q_upper"):
        assert getattr(back.dofs, key)[at_q].tolist() == getattr(model.dofs, key).tolist()
    for key in ("qd_max", "tau_max", "tau_min", "damping", "friction"):
        assert getattr(back.dofs, key)[at_v].tolist() == getattr(model.dofs, key).tolist()
    assert back.mimics == model.mimics
    types = {e.get("name"): e.get("type") for e in ElementTree.fromstring(text).findall("joint")}
    assert types["a_joint"] == "revolute"
    assert types["b_joint"] == "continuous"
    assert types["c_joint"] == "prismatic"
    assert types["tip_fixed"] == "fixed"
    assert types["d_joint.rx"] == "revolute"


def test_the_base_as_a_joint_of_the_world(rng):
    model = doors()
    back = od.parse_urdf(od.io.urdf_text(model, world=True), mimic="free")
    assert back.joint_names[0] == "float"
    same_dynamics(model, back, rng)
    moved = od.ModelBuilder()
    moved.add_body("base", od.FloatingBase(), origin=(0, 0, 1), mass=1, inertia=(1, 1, 1))
    same_dynamics(moved.build(), od.parse_urdf(od.io.urdf_text(moved.build())), rng)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, 0.3, np.pi / 2 - 1e-9, 2.0])
def test_angles_of_any_rotation(pitch, rng):
    R = turns("zyx", [0.7, pitch, -2.5])
    roll, tilt, yaw = rpy_of(R)
    assert np.abs(turns("zyx", [yaw, tilt, roll]) - R).max() < 1e-15 * 8
    assert rpy_of(np.eye(3)) == (0, 0, 0)


def shapes():
    return [
        od.io.Box("tip", (0.1, 0.2, 0.3), (1, 2, 3), turns("x", [0.5]), name="sole"),
        od.io.Ball("a", 0.05),
        od.io.Cylinder("base", 0.1, 0.2, rounded=True, rotation=turns("y", [np.pi / 2])),
        od.io.Cylinder("world", 0.3, 0.01),
    ]


def test_shapes_become_collisions():
    root = ElementTree.fromstring(od.io.urdf_text(doors(), shapes()))
    found = {link.get("name"): link.findall("collision") for link in root.findall("link")}
    (box,) = found["tip"]
    assert box.get("name") == "sole"
    assert box.find("geometry/box").get("size") == "0.2 0.4 0.6"
    assert box.find("origin").get("xyz") == "1 2 3"
    assert float(box.find("origin").get("rpy").split()[0]) == 0.5
    assert found["a"][0].find("geometry/sphere").get("radius") == "0.05"
    (disk,) = found["world"]
    assert dict(disk.find("geometry/cylinder").items()) == {"radius": "0.3", "length": "0.02"}
    tube, *balls = found["base"]
    assert dict(tube.find("geometry/cylinder").items()) == {"radius": "0.1", "length": "0.4"}
    at = sorted(float(ball.find("origin").get("xyz").split()[0]) for ball in balls)
    assert at == [-0.2, 0.2]
    assert all(ball.find("geometry/sphere").get("radius") == "0.1" for ball in balls)


@pytest.mark.parametrize("key", sorted(LACKING))
def test_joints_that_urdf_does_not_have(key):
    with pytest.raises(od.ModelError, match=r"joint 'b1_joint': URDF has no joint that moves as") as error:
        od.io.urdf_text(tree(key))
    own = {"spherical": "Euler", "custom": "several joints", "functions": "several joints"}
    assert own.get(key, "builder.add_mimic") in str(error.value)


LOST = {
    "springs": ({"stiffness": 2.0}, "springs of"),
    "armature": ({"armature": 2.0}, "inertias of rotors of"),
    "effort": ({"effort": (-3, 1)}, "torque limits that differ"),
}


@pytest.mark.parametrize("word", LOST)
def test_what_is_lost_is_told_unless_it_is_dropped(word):
    b = od.ModelBuilder()
    options, text = LOST[word]
    b.add_body("a", od.Revolute("y"), mass=1, inertia=(1, 1, 1), **options)
    model = b.build()
    with pytest.raises(od.ModelError, match=rf"{text}.*a_joint.*drop=\('{word}',\)"):
        od.io.urdf_text(model)
    written = od.io.urdf_text(model, drop=word)
    assert f"Left out: {text}" in written
    assert od.parse_urdf(written).dofs.tau_max[0] == (3 if word == "effort" else np.inf)


def test_several_losses_are_told_at_once():
    b = od.ModelBuilder(gravity=(0, 0, -1.62))
    b.add_body("a", od.Planar(), mass=1, inertia=(1, 1, 1), stiffness=1, damping=1)
    b.add_body("b", od.Revolute("y"), "a", mass=1, inertia=(1, 1, 1))
    b.add_passive(od.OneSidedSpring("b_joint", 100.0, 1.0))
    with pytest.raises(od.ModelError, match=r"drop=\('passive', 'springs', 'limits',\)"):
        od.io.urdf_text(b.build())
    text = od.io.urdf_text(b.build(), drop=("passive", "springs", "limits"))
    assert "1 nonlinear passive torques" in text
    assert "Gravity is (0 0 -1.62)" in text
    with pytest.raises(ValueError, match="did you mean 'springs'"):
        od.io.urdf_text(b.build(), drop=("sprigs",))


def test_parts_of_data_come_back():
    """Friction without damping, inertia without mass, and a frame on the ground beside a base that floats."""
    b = od.ModelBuilder()
    b.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    b.add_body("rotor", od.Revolute("y"), "base", inertia=(0, 0.5, 0), inertia_check=False, friction=0.3)
    b.add_frame("goal", "world", (1, 2, 3))
    back = od.parse_urdf(od.io.urdf_text(b.build()), inertia="keep")
    assert back.dofs.friction.tolist() == [0] * 6 + [0.3]
    assert float(back.I[2].I[1, 1]) == 0.5
    assert od.pose(back, "goal", back.neutral())[1].full().ravel().tolist() == [1, 2, 3]
    sticky = od.ModelBuilder()
    sticky.add_body("a", od.Planar(), mass=1, inertia=(1, 1, 1), friction=0.1)
    with pytest.raises(od.ModelError, match=r"drop=\('limits',\)"):
        od.io.urdf_text(sticky.build())


def test_limits_of_a_base_with_euler_angles():
    """Its chain holds them; a base that is left to the reader is not in the file at all."""
    b = od.ModelBuilder()
    b.add_body("a", od.FloatingBase("euler_zyx"), mass=1, inertia=(1, 1, 1), damping=0.5, lower=-1, effort=3)
    model = b.build()
    with pytest.raises(od.ModelError, match="limits, damping and friction of the planar or floating joints root"):
        od.io.urdf_text(model)
    back = od.parse_urdf(od.io.urdf_text(model, world=True))
    assert back.dofs.damping.tolist() == [0.5] * 6
    assert back.dofs.q_lower.tolist() == [-1] * 6
    assert back.dofs.tau_max.tolist() == [3] * 6


def test_the_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "x.urdf"
    with pytest.raises(od.ModelError):
        od.io.write_urdf(tree("spherical"), path)
    assert not list(tmp_path.iterdir())
    od.io.write_urdf(doors(), path, shapes()[:2])
    assert path.read_text() == od.io.urdf_text(doors(), shapes()[:2])


def test_names_that_xml_writes_otherwise(rng):
    b = od.ModelBuilder('a "robot" <1> --')
    b.add_body("a_", od.Euler("xyz"), joint_name="j & k", mass=1, inertia=(1, 1, 1))
    b.add_body("a__2", od.Revolute("x"), "a_", mass=1, inertia=(1, 1, 1))
    back = od.parse_urdf(od.io.urdf_text(b.build()))
    assert back.body_names == ("a_.rx", "a_.ry", "a_", "a__2")
    assert back.joint_names[0] == "j & k.rx"


@pytest.mark.parametrize("key", ["euler_yxz", "planar", "floating", "chain"])
def test_pinocchio_reads_it(key, rng):
    pin = pytest.importorskip("pinocchio")
    text = od.io.urdf_text(tree(key))
    same_as_pinocchio(od.parse_urdf(text), pin.buildModelFromXML(text), rng)


@pytest.mark.slow
def test_human(rng):
    model = od.models.human()
    with pytest.raises(od.ModelError, match=r"drop=\('passive', 'effort',\)"):
        od.io.urdf_text(model)
    text = od.io.urdf_text(model, drop=("passive", "effort"))
    back = od.parse_urdf(text, root=od.FloatingBase())
    assert back.nv == model.nv == 29
    same_dynamics(model, back, rng)


def same_as_pinocchio(model, theirs, rng):
    import pinocchio as pin

    layout = od.Layout(model, "pinocchio")
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    Q, V, A = (np.array(x).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)))
    expected = pin.rnea(theirs, theirs.createData(), Q, V, A)
    found = np.array(layout.to_tau(q, od.inverse_dynamics(model, *map(ca.DM, (q, qd, qdd))))).ravel()
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


@needs_robots
@mostly_slow("name", ["talos", "g1", "solo12"], ["solo12"])
def test_robots_here_and_in_pinocchio(name, rng):
    pin = pytest.importorskip("pinocchio")
    model = od.robots.load(name)
    text = od.io.urdf_text(model, drop=("limits", "armature"), visuals=False)
    root = model.joints[1]
    back = od.parse_urdf(text, root)
    at_q, _ = same_dynamics(model, back, rng)
    assert np.array_equal(back.dofs.q_upper[at_q], model.dofs.q_upper)
    same_as_pinocchio(back, pin.buildModelFromXML(text, pin.JointModelFreeFlyer()), rng)


@needs_robots
def test_meshes_are_found_again(tmp_path):
    model = od.robots.load("solo12")
    od.io.write_urdf(model, tmp_path / "solo.urdf", drop=("limits",))
    from ocp_dyn.io.shapes.placed import read_shapes

    before, after = (read_shapes(path) for path in (model.shape_files[0].path, tmp_path / "solo.urdf"))
    assert len(before) == len(after) > 10
    assert {(v.link, v.mesh.rpartition("/")[2], v.size) for v in before} == {
        (v.link, v.mesh.rpartition("/")[2], v.size) for v in after
    }


def test_random_rotations_keep_their_digits(rng):
    for _ in range(20):
        R = random_rotation(rng)
        assert np.abs(turns("zyx", rpy_of(R)[::-1]) - R).max() < 1e-15 * 8
