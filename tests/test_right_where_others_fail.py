"""Named tests of what published libraries are known to get wrong: joints, models, numbers that depend on history."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.joints import EULER_ORDERS, one_dof
from ocp_dyn.spatial_algebra.rotations import rotation_about
from ocp_dyn.spatial_algebra.spatial import vee
from tests.helpers import (
    JOINTS,
    State,
    add_random,
    close,
    evaluate,
    flat,
    random_inertia,
    random_rotation,
    symbols,
    turn,
)

MULTIPLE = {key: joint for key, joint in JOINTS.items() if joint.nv == joint.nq > 1 and key != "custom"}
GROUND = {
    **{f"euler_{order}": od.Euler(order) for order in EULER_ORDERS},
    **{key: JOINTS[key] for key in ("helical_x", "helical_skew", "universal", "multi_dof", "cylindrical_skew")},
    "custom": JOINTS["custom"],
}


def lagrangian(model: od.Model, bodies: list[tuple], q: SX, qd: SX) -> SX:
    """L = T - V from poses alone: bodies are (name, mass, com, inertia about it)."""
    L = SX(0)
    for name, mass, com, inertia in bodies:
        R, p = od.pose(model, name, q)
        c = p + R @ DM(com)
        v = ca.jtimes(c, q, qd)
        Rd = ca.reshape(ca.jtimes(ca.vec(R), q, qd), 3, 3)
        w = vee(R.T @ Rd)
        L = L + mass / 2 * ca.dot(v, v) + ca.dot(w, DM(inertia) @ w) / 2 + mass * ca.dot(DM(model.gravity), c)
    return L


@pytest.mark.parametrize("joint", GROUND.values(), ids=GROUND.keys())
def test_bias_force_of_joints_on_the_ground(joint, rng):
    """C = d/dt(dL/dqd) - dL/dq at qdd = 0, with L from poses alone: no S and no cJ in it."""
    builder, bodies = od.ModelBuilder(gravity=(1, 2, -9)), []
    for name, kind, parent in (("a", joint, "world"), ("b", od.Revolute((1, 2, 3)), "a"), ("c", joint, "a")):
        mass, com = rng.uniform(1, 2), rng.normal(size=3)
        bodies.append((name, mass, com, random_inertia(rng, mass)))
        place = {"origin": rng.normal(size=3), "rotation": random_rotation(rng)}
        builder.add_body(name, kind, parent, mass=mass, com=com, inertia=bodies[-1][3], **place)
    model = builder.build()
    q, qd, _ = symbols(model)
    L = lagrangian(model, bodies, q, qd)
    momentum = ca.gradient(L, qd)
    C = ca.jtimes(momentum, q, qd) - ca.gradient(L, q)
    state = State.of(model, rng)
    close(
        evaluate(od.bias_force, model, args=(state.q, state.qd)),
        flat(ca.Function("C", [q, qd], [C])(state.q, state.qd)),
    )


@pytest.mark.parametrize("joint", MULTIPLE.values(), ids=MULTIPLE.keys())
@pytest.mark.slow
def test_emulated_joints_equal_true_ones_with_branches_at_every_kind(joint, rng):
    """On the ground, on a moving body, and as a fork: joint space, poses, with external forces."""
    models = []
    for emulate in (False, True):
        same = np.random.default_rng(5)
        builder = od.ModelBuilder()
        for name, kind, parent in (
            ("a", joint, "world"), ("b", joint, "a"), ("c", od.Revolute((1, 2, 3)), "a"), ("d", joint, "a"),
            ("e", od.Prismatic("y"), "b"),
        ):  # fmt: skip
            mass = same.uniform(1, 2)
            builder.add_body(
                name, kind, parent, origin=same.normal(size=3), rotation=random_rotation(same), mass=mass,
                com=same.normal(size=3), inertia=random_inertia(same, mass), emulate=emulate,
                armature=same.uniform(0, 1, kind.nv), damping=same.uniform(0, 1, kind.nv), stiffness=1.0,
                lower=same.uniform(-3, -2, kind.nq),
            )  # fmt: skip
        models.append(builder.build())
    true, chain = models
    assert chain.nb == chain.nv == true.nv
    assert "a#0" in chain.body_names
    assert "b_joint#0" in chain.joint_names
    assert true.nb == 5
    for key, values in vars(true.dofs).items():
        assert np.array_equal(values, getattr(chain.dofs, key)), key
    s = State.of(true, rng)
    f = rng.normal(size=(6, 2))
    options = {"loads": od.Loads(external=("b", "d"), passive=True, armature=True)}
    for algorithm, args in (
        (od.inverse_dynamics, (s.q, s.qd, s.qdd, f)),
        (od.forward_dynamics, (s.q, s.qd, s.tau, f)),
        (od.forward_dynamics_crba, (s.q, s.qd, s.tau, f)),
    ):
        # emulated joints of nearly singular S cancel more digits
        close(*(evaluate(algorithm, model, args=args, **options) for model in models), 1e-9)
    close(*(evaluate(od.mass_matrix, model, args=(s.q,)) for model in models))
    for name in "abcde":
        close(*(od.point_acceleration_6d(model, name, DM(s.q), DM(s.qd), DM(s.qdd)) for model in models))
        close(*(od.point_jacobian_6d(model, name, DM(s.q)) for model in models))


def function_of(axis: np.ndarray):
    """The motion along a 6-D axis as a function, which knows nothing of joints."""
    t = DM(axis[3:])

    def move(q):
        E = rotation_about(axis[:3] / np.linalg.norm(axis[:3]), q).T if np.any(axis[:3]) else DM.eye(3)
        return od.Transform(E, t * q)

    return move


def test_chains_of_custom_joints_of_one_dof(rng):
    """Custom joints in a chain and in branches equal the library's, though their S and cJ come from AD."""
    axes = [
        np.array(a, dtype=float) for a in ((-1, 0, 0, 0, 0, 0), (0, 0, 0, 0.6, 0, 0.8), (0, 0.6, 0.8, 0.3, 0.1, -0.2))
    ]
    models = []
    for custom in (True, False):
        same = np.random.default_rng(2)
        builder = od.ModelBuilder()
        parents = ("world", "b0", "b1", "b1", "b3", "world")
        for k, parent in enumerate(parents):
            axis = axes[k % 3]
            add_random(builder, f"b{k}", od.CustomJoint(function_of(axis)) if custom else one_dof(axis), parent, same)
        models.append(builder.build())
    s = State.of(models[0], rng)
    for algorithm, args in (
        (od.inverse_dynamics, (s.q, s.qd, s.qdd)), (od.forward_dynamics, (s.q, s.qd, s.tau)), (od.mass_matrix, (s.q,)),
        (od.bias_force, (s.q, s.qd)), (od.kinetic_energy, (s.q, s.qd)),
    ):  # fmt: skip
        close(*(evaluate(algorithm, model, args=args) for model in models))


def test_custom_joints_work_on_every_type(rng):
    """SX, MX and numbers give the same, and MX stays a graph of symbols."""
    joint = JOINTS["custom"]
    q, qd = rng.normal(size=2), rng.normal(size=2)
    numbers = joint.jcalc(DM(q), DM(qd))
    for kind in (ca.SX, ca.MX):
        x, v = kind.sym("q", 2), kind.sym("qd", 2)
        state = joint.jcalc(x, v)
        f = ca.Function("f", [x, v], [state.XJ.E, state.XJ.r, state.S, state.vJ, state.cJ])
        for a, b in zip(f(q, qd), (numbers.XJ.E, numbers.XJ.r, *numbers[1:]), strict=True):
            close(a, b)


@pytest.mark.parametrize("kind", [od.Revolute, od.Prismatic, lambda a: od.Helical(a, pitch=0.4), od.Cylindrical])
def test_axes_along_minus_x_and_oblique_ones_in_symbols(kind, rng):
    """The joint about -a at q is the joint about a at -q, in SX as in numbers; un-normalized axes are the same joint."""
    for axis in ("x", (1.0, 2.0, -2.0), (0.0, 0.0, 7.0)):
        minus = "-x" if axis == "x" else tuple(-x for x in axis)
        joint, other = kind(axis), kind(minus)
        long = (3, 0, 0) if axis == "x" else tuple(2.5 * x for x in axis)
        assert kind(long) == joint
        q, qd = rng.normal(size=joint.nv), rng.normal(size=joint.nv)
        xq, xv = SX.sym("q", joint.nv), SX.sym("qd", joint.nv)
        results = []
        for j, sign in ((joint, 1), (other, -1)):
            state = j.jcalc(sign * xq, sign * xv)
            f = ca.Function("f", [xq, xv], [state.XJ.matrix(), sign * state.S, state.vJ, state.cJ])
            results.append([x.full() for x in f(q, qd)])
            numbers = j.jcalc(sign * DM(q), sign * DM(qd))
            close(results[-1][0], numbers.XJ.matrix())
        for a, b in zip(*results, strict=True):
            close(a, b)


def test_oblique_revolute_turns_as_the_exponential_says(rng):
    axis = rng.normal(size=3)
    X = od.Revolute(axis).jcalc(SX.sym("q"), SX(1, 1)).XJ
    E = ca.Function("E", ca.symvar(X.E), [X.E])(0.7).full()
    close(E.T, turn(0.7 * axis / np.linalg.norm(axis)))


URDF = """<robot name="r">
  <link name="base"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>
    <inertia ixx="0.5" iyy="0.6" izz="0.7" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 3 4"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_inertial_rotation_of_the_root_link_counts():
    """H of a floating base holds the root link's inertia turned by its <inertial> rpy."""
    model = od.parse_urdf(URDF, od.FloatingBase())
    R = turn([0, 0, 0.6]) @ turn([0, -0.5, 0]) @ turn([0.4, 0, 0])
    c = np.array([0.1, 0.2, 0.3])
    I = R @ np.diag([0.5, 0.6, 0.7]) @ R.T + 2 * (c @ c * np.eye(3) - np.outer(c, c)) + np.eye(3)
    close(evaluate(od.mass_matrix, model, args=(model.neutral(),))[3:6, 3:6], I)


def test_axes_of_files_are_normalized():
    model = od.parse_urdf(URDF)
    close(model.joints[1].axis, (0, 0.6, 0.8))


def test_quaternion_integration_at_zero_rate(rng):
    """At zero rate the configuration stays to the last bit, and all derivatives are finite."""
    joint = od.Spherical()
    q = joint.random_q(rng)
    assert np.array_equal(flat(joint.integrate(DM(q), DM.zeros(3, 1))), q)
    close(joint.q_dot(DM(q), DM.zeros(3, 1)), np.zeros(4))
    x, v = SX.sym("q", 4), SX.sym("v", 3)
    step = joint.integrate(x, v)
    first = ca.jacobian(step, v)
    f = ca.Function("f", [x, v], [first, ca.jacobian(ca.vec(first), v), ca.jacobian(step, x)])
    for value in f(q, np.zeros(3)):
        assert np.all(np.isfinite(value.full()))
    small = 1e-9 * rng.normal(size=3)
    close((flat(joint.integrate(DM(q), DM(small))) - q) / 1e-9, flat(joint.q_dot(DM(q), DM(small))) / 1e-9, 1e-6)


def test_rotation_matrix_to_quaternion_at_half_a_turn(rng):
    for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))):
        a = axis / np.linalg.norm(axis)
        for angle in (np.pi, np.pi - 1e-9, np.pi + 1e-9):
            R = turn(angle * a)
            close(od.quaternion_matrix(DM(od.matrix_quaternion(R))).full(), R)


@pytest.mark.slow
def test_answers_do_not_depend_on_the_previous_call(rng):
    """The same inputs give the same bits whatever was computed between, with external forces and other types too."""
    model = od.random_tree(8, 1.7, rng=rng)
    names = (model.body_names[-1], model.body_names[3])
    states = [State.of(model, rng) for _ in range(2)]
    f_ext = rng.normal(size=(6, 2))
    algorithms = (
        (od.inverse_dynamics, lambda s: (s.q, s.qd, s.qdd)),
        (od.forward_dynamics, lambda s: (s.q, s.qd, s.tau)),
        (od.bias_force, lambda s: (s.q, s.qd)),
    )

    def everything(s: State) -> list[np.ndarray]:
        values = [evaluate(a, model, args=(*args(s), f_ext), loads=od.Loads(external=names)) for a, args in algorithms]
        values += [evaluate(a, model, args=args(s)) for a, args in algorithms]
        values += [
            flat(a(model, *map(DM, args(s)), DM(f_ext), loads=od.Loads(external=names))) for a, args in algorithms
        ]
        return [*values, evaluate(od.mass_matrix, model, args=(s.q,))]

    first = everything(states[0])
    everything(states[1])
    od.inverse_dynamics(model, *symbols(model))
    for a, b in zip(everything(states[0]), first, strict=True):
        assert np.array_equal(a, b)


def test_external_forces_use_the_transforms_of_this_state(rng):
    """tau = ID - J' f at the state given, J taken at the frame's origin moved to the world's: nothing kept from before."""
    model = od.random_tree(6, 2.0, rng=rng)
    name = model.body_names[-1]
    ID = od.function(od.inverse_dynamics, model, loads=od.Loads(external=(name,)))
    for _ in range(3):
        s = State.of(model, rng)
        f = rng.normal(size=6)
        p = flat(od.point_position(model, name, DM(s.q)))
        J = od.point_jacobian_6d(model, name, DM(s.q)).full()
        at_point = np.concatenate([f[:3] - np.cross(p, f[3:]), f[3:]])
        plain = evaluate(od.inverse_dynamics, model, args=(s.q, s.qd, s.qdd))
        close(flat(ID(s.q, s.qd, s.qdd, f)), plain - J.T @ at_point)
