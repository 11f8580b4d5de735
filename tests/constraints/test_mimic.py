"""Joints that mimic others: read from files, carried along by editing and JSON, as constraints, left out of q."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from tests.helpers import add_random, close, evaluate, flat
from tests.io.test_urdf import FILES, needs_robots

PARTS = "<parent link='{}'/><child link='{}'/><axis xyz='0 1 0'/>{}"
INERTIAL = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"


def urdf(*joints: tuple[str, ...]) -> str:
    """(name, type, parent, child, <mimic>...) with links a, b, c, d of one kind."""
    links = "\n".join(f"<link name='{name}'>{INERTIAL}</link>" for name in "abcd")
    rows = (f"<joint name='{j}' type='{kind}'>{PARTS.format(*rest)}</joint>" for j, kind, *rest in joints)
    return f"<robot name='r'>\n{links}\n" + "\n".join(rows) + "\n</robot>"


def hand() -> od.Model:
    """A floating palm; a finger of three joints, where tip follows middle follows base; a slider that follows base."""
    rng = np.random.default_rng(4)
    builder = od.ModelBuilder("hand", gravity=(1, 2, -9))
    add_random(builder, "palm", od.FloatingBase(), "world", rng)
    for name, joint, parent in (
        ("tip0", od.Revolute("z"), "palm"),
        ("base", od.Revolute((1, 2, 3)), "palm"),
        ("middle", od.Revolute((1, 0, 1)), "base"),
        ("ball", od.Spherical(), "middle"),
        ("tip", od.Helical("x", pitch=0.2), "middle"),
        ("slider", od.Prismatic((1, 1, 0)), "palm"),
    ):
        add_random(builder, name, joint, parent, rng)
    builder.add_mimic("tip_joint", "middle_joint", -0.5, 0.3)
    builder.add_mimic("middle_joint", "base_joint", 2.0, -0.1)
    builder.add_mimic("slider_joint", "base_joint", 0.4)
    return builder.build()


HAND = hand()


def test_a_file_s_mimics_are_noted():
    text = urdf(
        ("k", "revolute", "a", "c", "<mimic joint='j' multiplier='-2' offset='0.25'/>"),
        ("j", "revolute", "a", "b", ""),
        ("p", "prismatic", "a", "d", "<mimic joint='k'/>"),
    )
    model = od.parse_urdf(text, mimic="couple")
    assert model.joint_names == ("k", "j", "p")
    assert model.mimics == (("k", "j", -2.0, 0.25), ("p", "k", 1.0, 0.0))
    assert "k mimics j: -2 q + 0.25" in str(model)
    assert od.parse_urdf(text, mimic="free").mimics == ()
    fixed = text.replace("name='p' type='prismatic'", "name='p' type='fixed'")
    assert [m.joint for m in od.parse_urdf(fixed, mimic="couple").mimics] == ["k"]


@pytest.mark.parametrize(
    ("kind", "mimic", "message"),
    [
        ("revolute", "<mimic joint='no'/>", r"line 8: joint 'k' mimics 'no': no joint 'no' moves in this model"),
        ("revolute", "<mimic joint='f'/>", r"no joint 'f' moves in this model; correct the name, or fix"),
        ("revolute", "<mimic joint='k'/>", r"line 8: joints mimic each other in a ring, k -> k"),
        ("revolute", "<mimic joint='j'/>", r"line 8: joints mimic each other in a ring, (k -> j -> k|j -> k -> j)"),
        ("floating", "<mimic joint='l'/>", r"joint 'k' mimics 'l': both need one dof, 'k' has 6"),
    ],
)
def test_mimics_of_a_file_that_cannot_be(kind, mimic, message):
    text = urdf(
        ("f", "fixed", "a", "b", ""),
        ("j", "revolute", "b", "c", "<mimic joint='k'/>" if "'j'" in mimic else ""),
        ("k", kind, "c", "d", mimic),
    ).replace(
        "</robot>", "<link name='e'/><joint name='l' type='revolute'>" + PARTS.format("a", "e", "") + "</joint></robot>"
    )
    with pytest.raises(od.ModelError, match=message):
        od.parse_urdf(text, mimic="couple")


def test_a_builder_checks_its_mimics():
    builder = od.ModelBuilder()
    for name in ("a", "b", "c"):
        builder.add_body(name, od.Revolute("z"), joint_name=name, mass=1, inertia=(1, 1, 1))
    builder.add_mimic("b", "a")
    with pytest.raises(od.ModelError, match="joint 'b' mimics two, 'a' and 'c'; keep one"):
        builder.add_mimic("b", "c")
    with pytest.raises(od.ModelError, match="ratio must be 1 finite numbers"):
        builder.add_mimic("c", "a", ratio=np.inf)
    builder.add_mimic("c", "b")
    with pytest.raises(
        od.ModelError, match=r"in a ring, (a -> c -> b -> a|b -> a -> c -> b|c -> b -> a -> c); set one"
    ):
        builder.add_mimic("a", "c")
    assert builder.build().mimics == (("b", "a", 1, 0), ("c", "b", 1, 0))


def reduced_state(rng) -> tuple[np.ndarray, np.ndarray]:
    """q and qd of the hand that keep its couplings."""
    A, b, A_q = od.mimic_map(HAND)
    full = HAND.random_q(rng)
    kept = [int(np.argmax(column)) for column in (A_q.full() == 1).T]
    return flat(A_q @ full[kept] + b), flat(A @ rng.normal(size=A.shape[1]))


def test_couplings_hold_where_the_map_leads(rng):
    q, qd = reduced_state(rng)
    rows = od.mimic_constraints(HAND)
    assert [c.name for c in rows] == ["tip_joint=middle_joint", "middle_joint=base_joint", "slider_joint=base_joint"]
    G = od.constraint_jacobian(HAND, rows, DM(q))
    close(od.constraint_position(HAND, rows, DM(q)), np.zeros(3))
    close(G @ qd, np.zeros(3))
    A, b, A_q = od.mimic_map(HAND)
    close(G @ A, np.zeros((3, HAND.nv - 3)))
    assert A.shape == (HAND.nv, HAND.nv - 3)
    assert A_q.shape == (HAND.nq, HAND.nq - 3)
    base, tip = (HAND.q_slice(f"{name}_joint").start for name in ("base", "tip"))
    close(q[tip], -0.5 * (2 * q[base] - 0.1) + 0.3)
    close(A.full()[:6, :6], np.eye(6))
    assert np.linalg.matrix_rank(A.full()) == HAND.nv - 3
    close(b[HAND.q_slice("ball_joint")], np.zeros(4))


@pytest.mark.slow
def test_minimal_coordinates_move_as_the_couplings_make_them(rng):
    """H_min qdd_min + C_min = A' tau gives the accelerations of constrained dynamics, with any other constraint too."""
    q, qd = reduced_state(rng)
    tau = rng.normal(size=HAND.nv)
    A = od.mimic_map(HAND).A.full()
    H, C = (flat(x) for x in od.equations_of_motion(HAND, DM(q), DM(qd)))
    qdd = evaluate(od.constrained_dynamics, HAND, od.mimic_constraints(HAND), args=(q, qd, tau))[0]
    close(A @ np.linalg.solve(A.T @ H @ A, A.T @ (tau - C)), qdd)

    held = (od.Contact("ball", (0.1, 0.2, 0.3), "xyz"), *od.mimic_constraints(HAND))
    qd = flat(od.impact(HAND, held, DM(q), DM(qd))[0])
    qdd, lam = evaluate(od.constrained_dynamics, HAND, held, args=(q, qd, tau))
    C = evaluate(od.bias_force, HAND, args=(q, qd))
    G = evaluate(od.constraint_jacobian, HAND, held[:1], args=(q,)) @ A
    gamma = evaluate(od.constraint_hessian, HAND, held[:1], args=(q, qd))
    K = np.block([[A.T @ H @ A, -G.T], [G, np.zeros((3, 3))]])
    x = np.linalg.solve(K, np.concatenate([A.T @ (tau - C), gamma]))
    close(A @ x[:-3], qdd)
    close(x[-3:], lam[:3])


def test_without_mimics_the_map_is_the_identity():
    model = HAND.lock_joints({"base_joint": 0.1, "ball_joint": (0, 0, 0, 1)})
    assert od.mimic_constraints(model) == ()
    A, b, A_q = od.mimic_map(model)
    assert np.array_equal(A.full(), np.eye(model.nv))
    assert np.array_equal(A_q.full(), np.eye(model.nq))
    assert b.nnz() == 0


def test_editing_and_files_carry_mimics_along(tmp_path):
    twice = HAND.attach(HAND, "tip", "other_")
    assert twice.mimics == (*HAND.mimics, *(("other_" + m.joint, "other_" + m.other, *m[2:]) for m in HAND.mimics))
    assert HAND.subtree("base").mimics == HAND.mimics[:2]
    for same in (
        HAND.with_gravity((0, 0, 0)), HAND.with_inertia("tip", 2.0), od.reduce(HAND), pickle.loads(pickle.dumps(HAND)),
        copy.deepcopy(HAND), od.model_from_dict(od.model_to_dict(HAND)), od.with_parameters(HAND, {"mass:tip": 1}),
    ):  # fmt: skip
        assert same.mimics == HAND.mimics
    od.save_model(HAND, tmp_path / "hand.json")
    assert od.load_model(tmp_path / "hand.json").mimics == HAND.mimics
    assert "mimics" not in od.model_to_dict(HAND.subtree("tip"))


def test_a_joint_that_mimics_a_locked_one_is_locked_where_it_puts_it():
    base = 0.4
    explicit = HAND.lock_joints(
        {
            "base_joint": base,
            "middle_joint": 2 * base - 0.1,
            "tip_joint": -0.5 * (2 * base - 0.1) + 0.3,
            "slider_joint": 0.4 * base,
        }
    )
    model = HAND.lock_joints({"base_joint": base})
    assert model.joint_names == explicit.joint_names == ("palm_joint", "tip0_joint", "ball_joint")
    q = DM(model.random_q(np.random.default_rng(1)))
    close(od.mass_matrix(model, q), od.mass_matrix(explicit, q))
    alone = HAND.lock_joints({"middle_joint": 0.7})
    assert alone.mimics == (HAND.mimics[2],)
    assert "tip_joint" not in alone.joint_names
    given = HAND.lock_joints({"middle_joint": 0.7, "tip_joint": 1.0})
    assert given.joint_names == alone.joint_names
    X = given.frame("tip").X, alone.frame("tip").X
    assert not np.allclose(X[0].E.full(), X[1].E.full())


def test_a_scaled_model_keeps_its_couplings_in_its_own_lengths():
    s = 3.0
    big = HAND.scale(s)
    assert big.mimics[:2] == HAND.mimics[:2]
    close(np.array(big.mimics[2][2:]), (0.4 * s, 0.0))  # meters per radian


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"other": "nowhere"}, "no joint 'nowhere' moves"),
        ({"other": "palm_joint"}, "both need one dof, 'palm_joint' has 6"),
        ({"ratio": "x"}, r"mimics\[0\]: 'ratio' must be a finite number, got 'x'"),
        ({"joint": 3}, r"mimics\[0\]: 'joint' must be a string"),
    ],
)
def test_wrong_mimics_in_json_are_refused(entry, message):
    data = od.model_to_dict(HAND)
    data["mimics"][0] |= entry
    with pytest.raises(od.ModelError, match=message):
        od.model_from_dict(data)


@needs_robots
@pytest.mark.parametrize("name", ["panda", "baxter", "tiago_pro", "pr2"])
def test_mass_matrices_of_real_robots_equal_pinocchio_s(rng, name):
    """H_min against a mimicking model of Pinocchio's."""
    pin = pytest.importorskip("pinocchio")
    file = next(file for file in FILES if file.stem == name)
    try:
        other = pin.buildModelFromUrdf(str(file), mimic=True)
    except TypeError:
        pytest.skip("this Pinocchio knows no mimicking joints")
    model = od.load_urdf(file, mimic="couple", inertia="keep")
    A, b, A_q = od.mimic_map(model)
    followers = {m.joint for m in model.mimics}
    free = [joint for joint in model.joint_names if joint not in followers]
    q = rng.uniform(-1, 1, len(free))
    theirs, order = pin.neutral(other), []
    for value, joint in zip(q, free, strict=True):
        j = other.joints[other.getJointId(joint)]
        theirs[j.idx_q : j.idx_q + j.nq] = value if j.nq == 1 else (np.cos(value), np.sin(value))
        order.append(j.idx_v)
    H = od.mass_matrix(model, A_q @ q + b)
    data = other.createData()
    M = pin.crba(other, data, theirs)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    assert len(followers) >= 1
    close(A.T @ H @ A, M)


@needs_robots
@pytest.mark.parametrize(("name", "followers"), [("romeo", 22), ("talos_full_v2", 12)])
@pytest.mark.slow
def test_hands_of_real_robots_that_pinocchio_does_not_couple(rng, name, followers):
    """Followers that stand before the joint they follow, or in another branch."""
    file = next(file for file in FILES if file.stem == name)
    model = od.load_urdf(file, od.FloatingBase(), mimic="couple", inertia="keep")
    A, b, A_q = od.mimic_map(model)
    assert (A.shape[1], A_q.shape[1]) == (model.nv - followers, model.nq - followers)
    q = A_q @ rng.normal(size=A_q.shape[1]) + b
    rows = od.mimic_constraints(model)
    close(od.constraint_position(model, rows, q), np.zeros(followers))
    close(od.constraint_jacobian(model, rows, q) @ A, np.zeros((followers, A.shape[1])))


def test_a_rotor_behind_a_gear_is_an_armature(rng):
    """A rotor as a body that turns n times as fast, against n^2 J on the diagonal of H."""
    n, J = -30.0, 2e-4
    arm = {"mass": 1.2, "com": (0.1, 0.3, 0.2), "inertia": (0.1, 0.2, 0.15)}
    geared, plain = od.ModelBuilder(), od.ModelBuilder()
    geared.add_body("arm", od.Revolute("y"), **arm)
    geared.add_body("rotor", od.Revolute("y"), mass=0.1, inertia=(J, J, J))
    geared.add_mimic("rotor_joint", "arm_joint", n)
    plain.add_body("arm", od.Revolute("y"), rotor_inertia=J, gear_ratio=n, **arm)
    A, b, A_q = od.mimic_map(geared.build())
    q = DM(rng.normal(size=1))
    H = A.T @ od.mass_matrix(geared.build(), A_q @ q + b) @ A
    close(H, od.mass_matrix(plain.build(), q, loads=od.Loads(armature=True)))
    close(plain.build().dofs.armature, [n**2 * J])


def test_couplings_scale_with_the_model():
    """A slider that follows an angle moves in the new unit, offset and all; an angle follows a slider the other way."""
    builder = od.ModelBuilder()
    for name, joint in (("a", od.Revolute("z")), ("b", od.Prismatic("z")), ("c", od.Revolute("x"))):
        builder.add_body(name, joint, joint_name=name, mass=1, inertia=(1, 1, 1))
    builder.add_mimic("b", "a", 0.4, 0.3)
    builder.add_mimic("c", "b", 2.0, 0.1)
    b, c = builder.build().scale(length=5.0).mimics
    close([b.ratio, b.offset, c.ratio, c.offset], [2.0, 1.5, 0.4, 0.1])


def test_a_file_may_leave_the_ratio_out():
    joints = [("j", "a", "b", ""), ("k", "b", "c", "<mimic joint='j'/>"), ("l", "c", "d", "")]
    text = urdf(*((name, "revolute", parent, child, more) for name, parent, child, more in joints))
    assert od.parse_urdf(text, mimic="couple").mimics == (("k", "j", 1.0, 0.0),)
