"""Layouts of other libraries: round trips, power, and live comparison with Pinocchio and MuJoCo."""

import json
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io.layouts import LIBRARIES, Layout
from tests.helpers import DATA

ORDERS = json.loads((DATA / "layouts" / "joint_orders.json").read_text())
"""For every robot of example-robot-data: the joints as Pinocchio 4.1 sorts them behind a free flyer, where that is not
the file's order (which MuJoCo 4.0 keeps in all of them), and those that it writes as (cos, sin)."""
needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")

JOINTS = [od.FloatingBase(), od.Spherical(), od.Planar(), od.Translation(), od.Revolute((1, 2, 3)), od.Prismatic("x")]


def states(model, rng, count=3):
    return [np.array(x) for x in (model.random_q(rng), *rng.normal(size=(count, model.nv)))]


@pytest.fixture
def model(rng):
    return od.random_tree(8, 1.6, JOINTS, rng)


@pytest.mark.parametrize("kind", LIBRARIES)
def test_there_and_back(model, rng, kind):
    q, qd, qdd, tau = states(model, rng)
    shuffled = tuple(rng.permutation(model.joint_names))
    for layout in (Layout(model, kind), Layout(model, kind, shuffled)):
        assert np.allclose(np.array(layout.from_q(layout.to_q(q))).ravel(), q)
        assert np.allclose(np.array(layout.from_qd(q, layout.to_qd(q, qd))).ravel(), qd)
        assert np.allclose(np.array(layout.from_qdd(q, qd, layout.to_qdd(q, qd, qdd))).ravel(), qdd)
        assert np.allclose(np.array(layout.from_tau(q, layout.to_tau(q, tau))).ravel(), tau)
        assert float(ca.dot(layout.to_tau(q, tau), layout.to_qd(q, qd))) == pytest.approx(float(tau @ qd))


@pytest.mark.parametrize("kind", LIBRARIES)
@pytest.mark.slow
def test_the_map_of_velocities(model, rng, kind):
    q, qd, _, tau = states(model, rng)
    layout = Layout(model, kind, tuple(rng.permutation(model.joint_names)))
    T = np.array(layout.qd_map(q))
    assert np.allclose(T @ qd, np.array(layout.to_qd(q, qd)).ravel())
    assert np.allclose(T.T @ np.array(layout.to_tau(q, tau)).ravel(), tau)
    symbol = ca.SX.sym("q", model.nq)
    assert np.allclose(np.array(ca.Function("T", [symbol], [layout.qd_map(symbol)])(q)), T)


@pytest.mark.parametrize("kind", LIBRARIES)
def test_accelerations_are_rates_of_velocities(model, rng, kind):
    q, qd, qdd = states(model, rng, 2)
    layout = Layout(model, kind)
    Q, V = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    theirs = layout.to_qd(Q, V)
    rate = ca.jtimes(theirs, Q, model.q_dot(Q, V)) + ca.jtimes(theirs, V, ca.SX(qdd))
    found = np.array(ca.Function("rate", [Q, V], [rate])(q, qd)).ravel()
    assert np.allclose(np.array(layout.to_qdd(q, qd, qdd)).ravel(), found)


def test_where_the_quaternion_goes(rng):
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "base", mass=1, inertia=(1, 1, 1))
    model = builder.build()
    q = np.array([1, 2, 3, 0.1, 0.2, 0.3, 0.9, 5])
    assert np.array(Layout(model, "rbdl").to_q(q)).ravel().tolist() == [1, 2, 3, 0.1, 0.2, 0.3, 5, 0.9]
    assert np.array(Layout(model, "mujoco").to_q(q)).ravel().tolist() == [1, 2, 3, 0.9, 0.1, 0.2, 0.3, 5]
    assert np.array(Layout(model, "pinocchio").to_q(q)).ravel().tolist() == q.tolist()


def test_a_robot_in_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    text = """<robot name="r"><link name="base"><inertial><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/><mass value="3"/>
      <inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
      <link name="b"><inertial>
        <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="a"><inertial>
        <mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="zz" type="continuous"><parent link="base"/><child link="b"/>
        <origin xyz="0 1 0"/><axis xyz="1 0 0"/></joint>
      <joint name="aa" type="continuous"><parent link="base"/><child link="a"/>
        <origin xyz="0 -1 0"/><axis xyz="0 1 1"/></joint>
      </robot>"""
    model = od.parse_urdf(text, root=od.FloatingBase())
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    layout = Layout(model, "pinocchio")
    assert layout.joints == ("root", *list(theirs.names)[2:]) != model.joint_names
    q, qd, qdd = states(model, rng, 2)
    tau = np.array(od.function(od.inverse_dynamics, model)(q, qd, qdd)).ravel()
    Q, V, A = (np.array(x).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)))
    expected = pin.rnea(theirs, theirs.createData(), Q, V, A)
    assert np.allclose(np.array(layout.to_tau(q, tau)).ravel(), expected, rtol=1e-11, atol=1e-11)


def robot(path):
    return od.load_urdf(od.robots.folder() / path, root=od.FloatingBase(), mimic="free", inertia="keep")


SOME = [path for k, path in enumerate(ORDERS) if k % 6 == 0 or ORDERS[path]["continuous"]][::3]


@needs_robots
@pytest.mark.parametrize("path", SOME)
@pytest.mark.slow
def test_recorded_orders_of_robots(path):
    model = robot(path)
    theirs = Layout(model, "pinocchio")
    order = ORDERS[path]["sorted"]
    assert theirs.joints == (model.joint_names if order is None else ("root", *order.split()))
    assert Layout(model, "rbdl").joints == theirs.joints
    assert Layout(model, "mujoco").joints == model.joint_names
    continuous = ORDERS[path]["continuous"].split()
    assert [name for name in theirs.joints if name in theirs.unbounded] == continuous
    assert theirs.to_q(model.neutral()).shape[0] == model.nq + len(continuous)


@needs_robots
@pytest.mark.parametrize("path", SOME)
def test_robots_in_pinocchio(path, rng):
    pin = pytest.importorskip("pinocchio")
    model, theirs = robot(path), pin.buildModelFromUrdf(str(od.robots.folder() / path), pin.JointModelFreeFlyer())
    layout = Layout(model, "pinocchio")
    q, qd, qdd = states(model, rng, 2)
    tau = od.inverse_dynamics(model, *(ca.DM(x) for x in (q, qd, qdd)))
    Q, V, A = (np.array(x).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)))
    expected = pin.rnea(theirs, theirs.createData(), Q, V, A)
    assert np.allclose(np.array(layout.to_tau(q, tau)).ravel(), expected, rtol=1e-9, atol=1e-9)
    turns = (np.array(layout.from_q(layout.to_q(q))).ravel() - q) / (2 * np.pi)
    assert np.allclose(turns, np.rint(turns))


@needs_robots
@pytest.mark.parametrize("path", SOME)
@pytest.mark.slow
def test_orders_of_robots_in_mujoco(path):
    mujoco = pytest.importorskip("mujoco")
    root = ElementTree.parse(od.robots.folder() / path).getroot()
    for link in root.findall("link"):
        for part in (*link.findall("visual"), *link.findall("collision")):
            link.remove(part)
    for other in [x for x in root if x.tag not in ("link", "joint")]:
        root.remove(other)
    options = {"balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", options)
    try:
        theirs = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, "unicode"))
    except ValueError as error:
        pytest.skip(f"MuJoCo does not take it: {error}")
    assert Layout(robot(path), "mujoco").joints[1:] == tuple(theirs.joint(i).name for i in range(theirs.njnt))


def test_siblings_behind_fixed_joints_are_sorted_by_those(tmp_path):
    """The way from the root decides; a locked joint counts as a fixed one; JSON, attach and subtree keep the notes."""
    joints = [
        ("base", "zz", "fixed", "mount"),
        ("mount", "aa", "continuous", "left"),
        ("base", "mm", "revolute", "right"),
    ]
    joints += [("left", "cc", "fixed", "tool"), ("tool", "bb", "prismatic", "tip"), ("left", "ca", "revolute", "wrist")]
    links = "".join(f'<link name="{name}"/>' for name in ("base", "mount", "left", "right", "tool", "tip", "wrist"))
    text = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
        for parent, name, kind, child in joints
    )
    model = od.parse_urdf(f'<robot name="r">{links}{text}</robot>')
    assert model.joint_names == ("aa", "bb", "ca", "mm")
    assert Layout(model, "pinocchio").joints == ("mm", "aa", "ca", "bb")
    assert Layout(model, "pinocchio").unbounded == ("aa",)
    assert Layout(model, "mujoco").joints == model.joint_names
    od.save_model(model, tmp_path / "r.json")
    assert od.load_model(tmp_path / "r.json").file_joints == model.file_joints
    assert Layout(model.lock_joints({"aa": 0.3}), "pinocchio").joints == ("mm", "ca", "bb")
    assert Layout(model.subtree("left"), "pinocchio").joints == ("aa", "ca", "bb")
    both = od.models.pendulum().attach(model, "world", prefix="x_")
    assert [name for name in Layout(both, "pinocchio").joints if name.startswith("x_")] == [
        "x_mm", "x_aa", "x_ca", "x_bb",
    ]  # fmt: skip
    assert Layout(both, "pinocchio").unbounded == ("x_aa",)


def test_models_that_do_not_list_their_bodies_depth_first():
    """MuJoCo numbers bodies depth first, whatever the order in which they were built or attached."""
    builder = od.ModelBuilder("tree")
    for name, joint, parent in (
        ("trunk", od.FloatingBase(), "world"), ("z", od.Revolute("x"), "trunk"), ("a", od.Revolute("y"), "trunk"),
        ("plate", od.Fixed(), "trunk"), ("y", od.Revolute("z"), "plate"), ("c", od.Spherical(), "z"),
    ):  # fmt: skip
        builder.add_body(name, joint, parent, joint_name=f"to_{name}", mass=1, inertia=(1, 1, 1))
    model = builder.build()
    grown = model.attach(od.models.pendulum(1), "a", prefix="tip_")
    (added,) = set(grown.joint_names) - set(model.joint_names)
    for one, mujoco, pinocchio in (
        (model, "trunk z c a y", "trunk a y z c"),
        (grown, "trunk z c a + y", "trunk a + y z c"),
    ):
        for kind, names in (("mujoco", mujoco), ("pinocchio", pinocchio), ("rbdl", pinocchio)):
            expected = tuple(added if name == "+" else f"to_{name}" for name in names.split())
            assert Layout(one, kind).joints == expected


def test_bad_layouts_are_refused(model):
    with pytest.raises(TypeError, match="joints must be a tuple of joint names, got 3"):
        Layout(model, "rbdl", 3)
    with pytest.raises(TypeError, match="Layout needs a Model"):
        Layout(None, "rbdl")
    with pytest.raises(KeyError, match="no joint 'x'"):
        Layout(model, "pinocchio", unbounded=("x",))
    root = next(n for n, j in zip(model.joint_names, model.joints[1:], strict=True) if not isinstance(j, od.Revolute))
    with pytest.raises(TypeError, match="unbounded joints are revolute"):
        Layout(model, "pinocchio", unbounded=(root,))
    with pytest.raises(ValueError, match="layout must be one of rbdl, pinocchio, mujoco"):
        Layout(model, "drake")
    with pytest.raises(ValueError, match="in another order"):
        Layout(model, "rbdl", ("joint1",))
    with pytest.raises(ValueError, match="q must have"):
        Layout(model, "rbdl").to_q(np.zeros(3))
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase("euler_zyx"), mass=1, inertia=(1, 1, 1))
    builder.add_body("head", od.Euler("zyx"), "base", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="no floating base with euler_zyx"):
        Layout(builder.build(), "pinocchio")
    builder.add_body("nut", od.Helical("z", pitch=0.1), "head", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match="joint 'nut_joint': MuJoCo has no joint that moves as"):
        Layout(builder.build(), "mujoco")


def test_angles_are_those_of_the_hinges_in_mujoco(rng):
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase("euler_zyx"), mass=1, inertia=(1, 1, 1))
    builder.add_body("head", od.Euler("yxz"), "base", mass=1, inertia=(1, 1, 1))
    builder.add_body("arm", od.Universal("x", "z"), "base", mass=1, inertia=(1, 1, 1))
    model = builder.build()
    q, qd, qdd, tau = states(model, rng)
    layout = Layout(model, "mujoco")
    for found, ours in ((layout.to_q(q), q), (layout.to_qd(q, qd), qd), (layout.to_tau(q, tau), tau)):
        assert np.array(found).ravel().tolist() == ours.tolist()
    assert np.array(layout.from_qdd(q, qd, layout.to_qdd(q, qd, qdd))).ravel().tolist() == qdd.tolist()


def test_a_robot_in_mujoco(rng):
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><compiler angle="radian"/><worldbody><body name="base"><freejoint/>
      <inertial pos="0.1 0 0.2" mass="3" diaginertia="0.1 0.12 0.15"/>
      <body name="head" pos="0 0.3 0.4"><joint type="ball"/>
          <inertial pos="0 0.1 0.2" mass="1" diaginertia="0.05 0.06 0.07"/>
      </body></body></worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml)
    builder = od.ModelBuilder()
    builder.add_body("base", od.FloatingBase(), mass=3, com=(0.1, 0, 0.2), inertia=(0.1, 0.12, 0.15))
    builder.add_body(
        "head", od.Spherical(), "base", origin=(0, 0.3, 0.4), mass=1, com=(0, 0.1, 0.2), inertia=(0.05, 0.06, 0.07)
    )
    model = builder.build()
    layout = Layout(model, "mujoco")
    q, qd, qdd = states(model, rng, 2)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], data.qacc[:] = (
        np.array(x).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd))
    )
    mujoco.mj_inverse(theirs, data)
    tau = np.array(od.function(od.inverse_dynamics, model)(q, qd, qdd)).ravel()
    assert np.allclose(np.array(layout.to_tau(q, tau)).ravel(), data.qfrc_inverse, rtol=1e-10, atol=1e-10)
