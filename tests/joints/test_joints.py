"""Every joint model: what `jcalc` returns belongs together, and the manifold steps fit the velocities."""

from __future__ import annotations

import copy

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.joints import EULER_ORDERS
from tests.helpers import JOINTS, close, flat, turns
from tests.spatial_algebra.test_spatial import crm_matrix

every_joint = pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())


def sampled(joint: od.Joint, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return joint.random_q(rng), rng.normal(size=joint.nv)


@every_joint
@pytest.mark.slow
def test_velocity_is_the_rate_of_the_transform(joint, rng):
    """d(XJ)/dt = -crm(vJ) XJ along dq/dt = q_dot, and vJ = S qd."""
    q, qd = SX.sym("q", joint.nq), SX.sym("qd", joint.nv)
    state = joint.jcalc(q, qd)
    XJ = state.XJ.matrix()
    rate = ca.jtimes(ca.vec(ca.densify(SX(XJ))), q, joint.q_dot(q, qd))
    f = ca.Function("f", [q, qd], [XJ, rate, state.S, state.vJ])
    values, rates = sampled(joint, rng)
    XJ, rate, S, vJ = (x.full() for x in f(values, rates))
    close(rate.reshape(6, 6, order="F"), -crm_matrix(vJ[:, 0]) @ XJ)
    close(vJ, S @ rates[:, None])
    assert np.linalg.matrix_rank(S) == joint.nv


@every_joint
def test_a_quaternion_is_the_last_four_entries_of_q(joint, rng):
    assert joint.has_quaternion == (joint.nq > joint.nv)
    if joint.has_quaternion:
        close(np.linalg.norm(joint.neutral()[-4:]), 1)
        close(np.linalg.norm(joint.random_q(rng)[-4:]), 1)


SHIFTED = od.MultiDof([(0, 0, 0, 1, 2, 3), (0, 0, 0, 0, 1, 0), (0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)])


@pytest.mark.parametrize("joint", [*JOINTS.values(), SHIFTED], ids=[*JOINTS, "shifted"])
def test_leading_translations_are_along_fixed_directions(joint, rng):
    """They do not turn the body, and move it by the same amount in every position; the next velocity does not."""
    n = joint.leading_translations
    along = []
    for _ in range(2):
        state = joint.jcalc(DM(joint.random_q(rng)), DM(joint.nv, 1))
        S = np.array(DM(state.S).full())
        close(S[:3, :n], np.zeros((3, n)))
        along.append(DM(state.XJ.E).full().T @ S[3:])
    close(along[0][:, :n], along[1][:, :n])
    assert n == joint.nv or S[:3, n].any() or not np.allclose(along[0][:, n], along[1][:, n])


def test_which_joints_translate_first():
    found = {name: joint.leading_translations for name, joint in (JOINTS | {"shifted": SHIFTED}).items()}
    floating = {name: 3 for name in JOINTS if name.startswith("floating")}
    expected = {"prismatic_x": 1, "prismatic_skew": 1, "translation": 3, "planar": 2, "shifted": 2} | floating
    assert {name: n for name, n in found.items() if n} == expected


@every_joint
def test_velocity_product_acceleration_is_the_apparent_rate_of_the_subspace(joint, rng):
    q, qd = SX.sym("q", joint.nq), SX.sym("qd", joint.nv)
    state = joint.jcalc(q, qd)
    S_rate = ca.jtimes(ca.vec(ca.densify(SX(state.S))), q, joint.q_dot(q, qd))
    f = ca.Function("f", [q, qd], [ca.reshape(S_rate, 6, joint.nv) @ qd, state.cJ])
    expected, cJ = f(*sampled(joint, rng))
    close(cJ, flat(expected))


@every_joint
def test_at_rest_nothing_moves_structurally(joint):
    q = SX.sym("q", joint.nq)
    state = joint.jcalc(q, SX(joint.nv, 1))
    assert state.vJ.nnz() == 0
    assert state.cJ.nnz() == 0


@every_joint
def test_neutral_is_the_identity(joint):
    if isinstance(joint, od.FunctionJoint):
        assert not joint.neutral().any()
        return
    XJ = joint.jcalc(DM(joint.neutral()), DM(joint.nv, 1)).XJ
    close(XJ.matrix(), np.eye(6))
    assert joint.neutral().shape == (joint.nq,)


@every_joint
def test_integrate_and_difference_are_inverse(joint, rng):
    q0, q1 = joint.random_q(rng), joint.random_q(rng)
    v = flat(joint.difference(DM(q0), DM(q1)))
    assert v.shape == (joint.nv,)
    moved = flat(joint.integrate(DM(q0), DM(v)))
    close(*(joint.jcalc(DM(q), DM(joint.nv, 1)).XJ.matrix() for q in (moved, q1)))
    step = rng.uniform(-1, 1, joint.nv)
    close(joint.difference(DM(q0), joint.integrate(DM(q0), DM(step))), step)
    close(joint.difference(DM(q0), DM(q0)), np.zeros(joint.nv))


@every_joint
def test_integrate_starts_with_velocity_q_dot(joint, rng):
    q, v = SX.sym("q", joint.nq), SX.sym("v", joint.nv)
    step = joint.integrate(q, v)
    first = ca.jacobian(step, v)
    f = ca.Function("f", [q, v], [first @ v, joint.q_dot(q, v), first, ca.jacobian(ca.vec(first), v)])
    g = ca.Function("g", [q], list(f(q, SX(joint.nv, 1))[2:]))
    values, rates = sampled(joint, rng)
    close(g(values)[0] @ rates, flat(f(values, rates)[1]))
    assert all(np.all(np.isfinite(x.full())) for x in g(joint.neutral()))


@every_joint
def test_integrate_is_a_motion_at_constant_velocity(joint, rng):
    """integrate(q, s v) has velocity v all along: two half steps are one whole step."""
    q, v = sampled(joint, rng)
    half = joint.integrate(DM(q), DM(v) / 2)
    close(joint.integrate(half, DM(v) / 2), flat(joint.integrate(DM(q), DM(v))))


@every_joint
def test_random_q_is_valid_and_seeded(joint):
    q, again = (joint.random_q(np.random.default_rng(3)) for _ in range(2))
    assert q.shape == (joint.nq,)
    assert np.array_equal(q, again)
    E = joint.jcalc(DM(q), DM(joint.nv, 1)).XJ.E
    close(E @ E.T, np.eye(3))


@every_joint
def test_labels_and_equality(joint):
    assert len(joint.q_labels) == joint.nq
    assert len(joint.qd_labels) == joint.nv
    twin = copy.deepcopy(joint)
    assert twin == joint
    assert hash(twin) == hash(joint)
    assert sum(other == joint for other in JOINTS.values()) == 1


def pose(joint: od.Joint, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    X = joint.jcalc(DM(q), DM(joint.nv, 1)).XJ
    return X.E.full().T, X.r.full().ravel()


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_is_intrinsic(order):
    angles = [0.4, -0.9, 1.3]
    R = turns(order, angles)
    close(pose(od.Euler(order), angles)[0], R)
    moved = pose(od.FloatingBase(f"euler_{order}"), [1, 2, 3, *angles])
    close(moved[0], R)
    close(moved[1], [1, 2, 3])


def test_simple_joints_move_as_said():
    R, p = pose(od.Revolute((0, 0, 2)), [0.3])
    close(R, turns("z", 0.3))
    close(p, np.zeros(3))
    close(pose(od.Prismatic((0, 3, 4)), [2.0])[1], [0, 1.2, 1.6])
    close(pose(od.Translation(), [1, 2, 3])[1], [1, 2, 3])
    R, p = pose(od.Planar(), [1, 2, 0.5])
    close(p, [1, 2, 0])
    close(R, turns("z", 0.5))
    R, p = pose(od.FloatingBase(), [1, 2, 3, 0, np.sin(0.2), 0, np.cos(0.2)])
    close(p, [1, 2, 3])
    close(R, turns("y", 0.4))


def test_floating_velocity_is_linear_in_the_world_and_angular_in_the_body(rng):
    joint = od.FloatingBase()
    q, qd = sampled(joint, rng)
    close(joint.q_dot(DM(q), DM(qd))[:3], qd[:3])
    vJ = flat(joint.jcalc(DM(q), DM(qd)).vJ)
    close(vJ[:3], qd[3:])
    close(vJ[3:], pose(joint, q)[0].T @ qd[:3])


def test_joints_refuse_nonsense():
    for wrong in (lambda: od.Euler("xyx"), lambda: od.FloatingBase("euler"), lambda: od.FloatingBase("euler_zzz")):
        with pytest.raises(ValueError, match="must be one of"):
            wrong()
    with pytest.raises(ValueError, match="axis must not be zero"):
        od.Revolute((0, 0, 0))
    with pytest.raises(ValueError, match="axis must be"):
        od.Prismatic("u")


def test_screws_and_their_kin_move_as_said():
    R, p = pose(od.Helical("-z", pitch=0.5), [0.4])
    close(R, turns("z", -0.4))
    close(p, [0, 0, -0.2])
    R, p = pose(od.Helical((0, 0, 2, 0.1, 0.2, 0.3)), [0.4])  # t is before the rotation, and not normalized
    close(R, turns("z", 0.4))
    close(p, [0.04, 0.08, 0.12])
    R, p = pose(od.Cylindrical("y"), [0.3, 2.0])
    close(R, turns("y", 0.3))
    close(p, [0, 2, 0])
    close(pose(od.Universal("x", "z"), [0.3, -0.8])[0], turns("xz", [0.3, -0.8]))
    R, p = pose(od.MultiDof([(0, 0, 3, 0, 0, 0), (0, 0, 0, 2, 0, 0), (1, 0, 0, 0.5, 0, 0)]), [0.3, 2.0, 0.4])
    close(R, turns("zx", [0.3, 0.4]))
    close(p, turns("z", 0.3) @ [2.2, 0, 0])


def test_a_screw_along_its_axis_keeps_its_subspace():
    """No graph for what does not change: S is constant and cJ is nothing where t lies along r."""
    for axis in ((1, 0, 0, 0.2, 0, 0), (3, 4, 0, 0.3, 0.4, 0), (1, 2, 3, 0, 0, 0)):
        state = od.Helical(axis).jcalc(SX.sym("q"), SX.sym("qd"))
        assert isinstance(state.S, DM)
        assert state.cJ.nnz() == 0


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_is_a_multi_dof_joint(order, rng):
    joint = od.MultiDof([(*np.eye(3)["xyz".index(k)], 0, 0, 0) for k in order])
    q, qd = sampled(joint, rng)
    for a, b in zip(joint.jcalc(DM(q), DM(qd))[1:], od.Euler(order).jcalc(DM(q), DM(qd))[1:], strict=True):
        close(a, b)


@every_joint
def test_chains_have_the_same_dofs(joint):
    if joint.nq > joint.nv or isinstance(joint, (od.CustomJoint, od.FunctionJoint)):
        with pytest.raises(ValueError, match="is not a chain of 1-dof joints"):
            joint.chain()
    else:
        assert [link.nv for link in joint.chain()] == [1] * joint.nv


def test_joints_of_axes_refuse_nonsense():
    def wrong_size(q):
        return od.Transform(DM.eye(2), DM(3, 1))

    for make, error, message in (
        (lambda: od.Helical("x"), ValueError, "needs pitch="),
        (lambda: od.Helical((0, 0, 0, 1, 0, 0)), ValueError, "must turn.*use Prismatic"),
        (lambda: od.Helical((1, 0, 0, 1)), ValueError, "must be 6"),
        (lambda: od.Universal("x", "-x"), ValueError, "must not be parallel"),
        (lambda: od.MultiDof([]), ValueError, "1 to 6 axes"),
        (lambda: od.MultiDof([(1, 0, 0, 0, 0, 0)] * 7), ValueError, "1 to 6 axes"),
        (lambda: od.MultiDof([(1, 0, 0)]), ValueError, "must be 6"),
        (lambda: od.MultiDof([(0, 0, 0, 0, 0, 0)]), ValueError, "must not be zero"),
        (lambda: od.CustomJoint(lambda q: q), TypeError, "must give a Transform"),
        (lambda: od.CustomJoint(wrong_size), TypeError, "must give a Transform"),
        (lambda: od.CustomJoint(lambda q: od.Transform(2 * DM.eye(3), DM(3, 1))), ValueError, "must be a rotation"),
        (lambda: od.CustomJoint(lambda q: od.Transform(-DM.eye(3), DM(3, 1))), ValueError, "must be a rotation"),
        (lambda: od.CustomJoint(lambda q: od.Transform.identity(), ("a", "a")), ValueError, "all different"),
    ):
        with pytest.raises(error, match=message):
            make()


@pytest.mark.slow
def test_a_joint_made_of_another_s_axis_is_the_same_joint(rng):
    """To the last bit: normalizing what is normalized changes nothing, which files and copies rely on."""
    for _ in range(200):
        joint = od.MultiDof([(*rng.normal(size=3), 0, 0, 0), (0, 0, 0, *rng.normal(size=3)), rng.normal(size=6)])
        assert od.MultiDof(joint.axes) == joint


def test_quaternions_cannot_be_emulated():
    with pytest.raises(od.ModelError, match=r"body 'a': it cannot be emulated: Spherical.*not a chain"):
        od.ModelBuilder().add_body("a", od.Spherical(), emulate=True)
    with pytest.raises(TypeError, match="body 'a': emulate must be True or False"):
        od.ModelBuilder().add_body("a", od.Universal("x", "y"), emulate=np.zeros(2))


def test_a_fixed_joint_does_nothing():
    state = od.Fixed().jcalc(DM(0, 1), DM(0, 1))
    close(state.XJ.matrix(), np.eye(6))
    assert (od.Fixed().nq, od.Fixed().nv, state.S.shape) == (0, 0, (6, 0))


@every_joint
@pytest.mark.slow
def test_a_turned_joint_moves_as_its_motion_turned(joint, rng):
    """R' = R(axis, angle) R and p' = R(axis, angle) p, with the same velocity in body axes; or the joint cannot."""
    values, rates = sampled(joint, rng)
    oblique = rng.normal(size=3)
    free = isinstance(joint, (od.FloatingBase, od.Spherical, od.Euler))
    for axis in (oblique / np.linalg.norm(oblique), *np.eye(3), -np.eye(3)[2]):
        found = joint.turned(DM(values), DM(rates), tuple(axis), DM(0.7))
        assert found is not None or not free
        if found is None:
            continue
        before, after = joint.jcalc(DM(values), DM(rates)), joint.jcalc(*map(DM, found))
        turn = rotation(axis, 0.7)
        close(DM(after.XJ.E).full().T, turn @ DM(before.XJ.E).full().T)
        close(DM(after.XJ.r).full(), turn @ DM(before.XJ.r).full())
        close(DM(after.vJ).full(), DM(before.vJ).full())


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """exp of the angle times the axis, by its series."""
    K = angle * np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    term, total = np.eye(3), np.eye(3)
    for k in range(1, 30):
        term = term @ K / k
        total = total + term
    return total
