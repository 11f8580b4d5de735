"""Layouts of other libraries: round trips, power, and live comparison with Pinocchio and MuJoCo."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.layouts import KINDS, Layout

JOINTS = [od.FloatingBase(), od.Spherical(), od.Planar(), od.Translation(), od.Revolute((1, 2, 3)), od.Prismatic("x")]


def states(model, rng, count=3):
    return [np.array(x) for x in (model.random_q(rng), *rng.normal(size=(count, model.nv)))]


@pytest.fixture
def model(rng):
    return od.random_tree(8, 1.6, JOINTS, rng)


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(model, rng, kind):
    q, qd, qdd, tau = states(model, rng)
    shuffled = tuple(rng.permutation(model.joint_names))
    for layout in (Layout(model, kind), Layout(model, kind, shuffled)):
        assert np.allclose(np.array(layout.from_q(layout.to_q(q))).ravel(), q)
        assert np.allclose(np.array(layout.from_qd(q, layout.to_qd(q, qd))).ravel(), qd)
        assert np.allclose(np.array(layout.from_qdd(q, qd, layout.to_qdd(q, qd, qdd))).ravel(), qdd)
        assert np.allclose(np.array(layout.from_tau(q, layout.to_tau(q, tau))).ravel(), tau)
        assert float(ca.dot(layout.to_tau(q, tau), layout.to_qd(q, qd))) == pytest.approx(float(tau @ qd))


@pytest.mark.parametrize("kind", KINDS)
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
      <link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="a"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="zz" type="continuous"><parent link="base"/><child link="b"/><origin xyz="0 1 0"/><axis xyz="1 0 0"/></joint>
      <joint name="aa" type="continuous"><parent link="base"/><child link="a"/><origin xyz="0 -1 0"/><axis xyz="0 1 1"/></joint>
      </robot>"""
    model = od.parse_urdf(text, root=od.FloatingBase())
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    order = ("root", *list(theirs.names)[2:])
    layout = Layout(model, "pinocchio", order, unbounded=("zz", "aa"))
    assert order != model.joint_names
    q, qd, qdd = states(model, rng, 2)
    tau = np.array(od.function(od.inverse_dynamics, model)(q, qd, qdd)).ravel()
    Q, V, A = (np.array(x).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)))
    expected = pin.rnea(theirs, theirs.createData(), Q, V, A)
    assert np.allclose(np.array(layout.to_tau(q, tau)).ravel(), expected, rtol=1e-11, atol=1e-11)


def test_bad_layouts_are_refused(model):
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
    with pytest.raises(ValueError, match="no Euler joint"):
        Layout(builder.build(), "mujoco")


def test_a_robot_in_mujoco(rng):
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><compiler angle="radian"/><worldbody><body name="base"><freejoint/>
      <inertial pos="0.1 0 0.2" mass="3" diaginertia="0.1 0.12 0.15"/>
      <body name="head" pos="0 0.3 0.4"><joint type="ball"/><inertial pos="0 0.1 0.2" mass="1" diaginertia="0.05 0.06 0.07"/>
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
