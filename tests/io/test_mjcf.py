"""`write_mjcf`: MuJoCo computes with the file what the library computes with the model; what MJCF lacks is refused."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io.simulators._common import balance_moments
from tests.helpers import ALL_TREES, mostly_slow, random_rotation, tree
from tests.io.mjcf_models import loaded, machine

mujoco = pytest.importorskip("mujoco")
LACKING = {"helical_x", "helical_skew", "multi_dof", "custom", "functions"}
needs_robots = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
WHOLE = od.Loads(armature=True)


def state(model, theirs, rng):
    """A state of the model, and MuJoCo's data in that state."""
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    layout, data = od.Layout(model, "mujoco"), mujoco.MjData(theirs)
    data.qpos[:] = layout.to_q(q).full().ravel()
    data.qvel[:] = layout.to_qd(q, qd).full().ravel()
    mujoco.mj_forward(theirs, data)
    data.qacc[:] = layout.to_qdd(q, qd, qdd).full().ravel()
    return q, qd, qdd, data


def near(found, wanted, tolerance=1e-12):
    wanted = np.asarray(wanted).squeeze()
    assert np.abs(found - wanted).max() <= tolerance * max(np.abs(wanted).max(), 1e-3)


def same_dynamics(model, theirs, rng):
    """H, C, inverse dynamics and poses of all frames; without contacts, springs, losses and limits."""
    off = mujoco.mjtDisableBit
    theirs.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_SPRING | off.mjDSBL_DAMPER)
    q, qd, qdd, data = state(model, theirs, rng)
    layout = od.Layout(model, "mujoco")
    T, H = layout.qd_map(q).full(), np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, H)
    near(H, T @ od.mass_matrix(model, ca.DM(q), loads=WHOLE).full() @ T.T)
    near(data.qfrc_bias, layout.to_tau(q, od.bias_force(model, ca.DM(q), ca.DM(qd))))
    mujoco.mj_inverse(theirs, data)
    near(data.qfrc_inverse, layout.to_tau(q, od.inverse_dynamics(model, *map(ca.DM, (q, qd, qdd)), loads=WHOLE)))
    for name, frame in model.frames.items():
        of_body = frame.body and name == model.body_names[frame.body - 1]
        found = data.body(name) if of_body else data.site(name)
        R, p = od.pose(model, name, ca.DM(q))
        near(found.xpos, p.full())
        near(found.xmat.reshape(3, 3), R.full(), 1e-11)  # MuJoCo takes a site that is turned by 1e-11 as not turned
    return data


@mostly_slow("key", [key for key in ALL_TREES if key not in LACKING], ["euler_xyz", "universal", "forest", "star"])
@pytest.mark.slow
def test_trees_of_every_joint(key, rng):
    model = tree(key)
    same_dynamics(model, loaded(model), rng)


@pytest.mark.slow
def test_human(rng):
    model = od.models.human()
    with pytest.raises(od.ModelError, match=r"nonlinear passive torques.*drop=\('passive',\)"):
        od.io.mjcf_text(model)
    assert "Left out:" in od.io.mjcf_text(model, drop="passive")
    same_dynamics(model, loaded(model, drop=("passive",)), rng)


@needs_robots
@mostly_slow("name", ["talos", "g1", "solo12"], ["solo12"])
@pytest.mark.slow
def test_robots(name, rng):
    model = od.robots.load(name)
    theirs = loaded(model, visuals="none")
    same_dynamics(model, theirs, rng)
    assert theirs.nu == model.nv - 6
    assert np.array_equal(theirs.actuator_ctrlrange[:, 1], model.dofs.tau_max[6:])


@pytest.mark.parametrize("key", sorted(LACKING))
@pytest.mark.slow
def test_joints_that_mjcf_does_not_have(key):
    with pytest.raises(od.ModelError, match=r"joint 'b1_joint': MuJoCo has no joint that moves as") as error:
        od.io.mjcf_text(tree(key))
    assert ("several joints" if key in ("custom", "functions") else "builder.add_mimic") in str(error.value)
    with pytest.raises(ValueError, match="joint 'b1_joint'"):
        od.Layout(tree(key), "mujoco")


def test_a_machine_of_all_joints(rng):
    same_dynamics(machine(), loaded(machine()), rng)


def test_data_of_joints():
    model = machine()
    theirs = loaded(model)
    a, b, c, s, t = (theirs.joint(f"{name}_joint") for name in "abcst")
    assert a.range.tolist() == [-1, 2]
    assert a.limited
    assert a.armature == 0.01
    assert a.damping[0] == 0.1
    assert (a.frictionloss, a.stiffness[0], a.qpos_spring) == (0.2, 3, 0.3)
    assert theirs.jnt_actfrcrange[a.id].tolist() == [-5, np.inf]
    assert c.range.tolist() == [-np.inf, 1]
    assert c.limited
    assert not b.limited
    assert t.range.tolist() == [-0.1, np.inf]
    assert np.allclose(t.axis, np.array([1, 1, 0]) / np.sqrt(2))
    assert theirs.opt.gravity.tolist() == [0.3, -0.2, -1.62]
    assert s.armature.tolist() == [0.03] * 3
    names = [theirs.actuator(k).name for k in range(theirs.nu)]
    assert names == ["a_joint", "c_joint", "s_joint.wx", "s_joint.wy", "s_joint.wz", "t_joint"]
    assert (
        theirs.actuator("a_joint").ctrlrange.tolist() == theirs.actuator("a_joint").forcerange.tolist() == [-5, np.inf]
    )
    assert theirs.actuator("s_joint.wy").ctrlrange.tolist() == [-4, 2]
    assert not theirs.actuator("c_joint").ctrllimited
    assert theirs.numeric("velocity_limit_a_joint").data == 3
    assert theirs.nnumeric == 1
    assert theirs.body("base").jntnum == 1
    assert theirs.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE


def test_springs_and_damping_are_ours(rng):
    model = machine().with_passive([], replace_all=True)
    theirs = loaded(model)
    q, qd, _, data = state(model, theirs, rng)
    frictionless = od.passive_force(model, q, qd).full().ravel()
    k = model.qd_slice("a_joint").start
    frictionless[k] += 0.2 * np.tanh(qd[k] / 0.01)
    near(data.qfrc_passive, od.Layout(model, "mujoco").to_tau(q, frictionless))


def test_motors_push_their_own_dofs(rng):
    model = machine()
    theirs = loaded(model)
    _, _, _, data = state(model, theirs, rng)
    layout, q = od.Layout(model, "mujoco"), model.neutral()
    for k in range(theirs.nu):
        data.ctrl[:] = 0
        data.ctrl[k] = 1
        mujoco.mj_fwdActuation(theirs, data)
        own = np.eye(model.nv)[model.qd_names.index(theirs.actuator(k).name)]
        near(data.qfrc_actuator, layout.to_tau(q, own))


@pytest.mark.slow
def test_bases_that_a_free_joint_cannot_be(rng):
    def base(**options):
        b = od.ModelBuilder()
        placement = {key: options.pop(key) for key in ("origin", "rotation") if key in options}
        b.add_body("a", od.FloatingBase(), mass=1, inertia=(1, 2, 2), **placement, **options)
        b.add_body("c", od.FloatingBase(), "a", mass=1, inertia=(1, 2, 2))
        return b.build()

    moved = {"origin": (1, 2, 3), "rotation": random_rotation(rng)}
    limits = {"lower": (0, *[-np.inf] * 6)}
    sprung = {"stiffness": (1, 1, 1, 1, 1, 1), "rest": (0, 0, 1, 0, 0, 0, 1)}
    uneven = {"damping": (1, 2, 3, 0, 0, 0)}
    for options in (moved, limits, sprung, uneven):
        theirs = loaded(base(**options))
        same_dynamics(base(**options), theirs, rng)
        assert theirs.njnt == 8
        assert theirs.joint(3).name == "root.turn"
        if options is not moved:
            theirs = loaded(base(**options))
            q, qd, _, data = state(base(**options), theirs, rng)
            near(
                data.qfrc_passive,
                od.Layout(base(**options), "mujoco").to_tau(q, od.passive_force(base(**options), q, qd)),
            )
    same = loaded(base(damping=2.0, armature=0.5, friction=1.0))
    assert same.njnt == 5
    assert same.dof_damping[:6].tolist() == [2] * 6
    assert same.dof_armature[:6].tolist() == [0.5] * 6


@pytest.mark.parametrize(("options", "word"), [
    ({"damping": (1, 1, 2)}, "damping"), ({"stiffness": (1, 2, 2)}, "stiffness"), ({"armature": (0, 0, 1)}, "armature"),
    ({"stiffness": 1, "rest": (0, 0, 1, 0)}, "rest away from zero"), ({"friction": (0, 1, 0)}, "friction"),
])  # fmt: skip
def test_balls_have_one_number_for_three_axes(options, word):
    b = od.ModelBuilder()
    b.add_body("a", od.Spherical(), mass=1, inertia=(1, 1, 1), **options)
    with pytest.raises(od.ModelError, match=f"joint 'a_joint'.*{word} of this Spherical"):
        od.io.mjcf_text(b.build())


@pytest.mark.slow
def test_equalities(rng):
    model = machine()
    loops = [od.Loop("b", "c", "ball"), od.Loop("base", "s", label="tie"), od.Loop("b", "s", "revolute"),
             od.JointCoupling("a_joint", "b_joint", 3, 0.5), od.LockedJoint("b_joint", 0.2)]  # fmt: skip
    theirs = loaded(model, constraints=loops)
    kinds = [mujoco.mjtEq(kind).name.removeprefix("mjEQ_") for kind in theirs.eq_type]
    assert kinds == ["JOINT", "JOINT", "CONNECT", "WELD", "CONNECT", "CONNECT", "JOINT", "JOINT"]
    assert theirs.eq("c_joint=a_joint").data[:3].tolist() == [0.1, -2, 0]
    follower, leader = (theirs.joint(f"{name}_joint").id for name in "ca")
    mimic = theirs.eq("c_joint=a_joint").id
    assert (theirs.eq_obj1id[mimic], theirs.eq_obj2id[mimic]) == (follower, leader)
    assert theirs.eq("b_joint.held").data[0] == 0.5
    assert theirs.eq("b_joint.locked").data[0] == 0.2
    assert theirs.eq("a_joint=b_joint").data[:2].tolist() == [0.5, 3]


LOOPS = {"ball": "ball", "fixed": "fixed", "revolute": "revolute",
         "about x": [(0, 1, 0, 0, 0, 0), (0, 1, 2, 0, 0, 0), *np.eye(6)[3:]]}  # fmt: skip


@pytest.mark.parametrize("axes", LOOPS.values(), ids=LOOPS)
@pytest.mark.slow
def test_loops_hold_what_ours_hold(axes, rng):
    """The rows of MuJoCo in a closed position span those of G, for loops between turned frames."""
    model = machine().with_limits(lower=-np.inf, upper=np.inf)
    q = model.random_q(rng)
    first = random_rotation(rng), rng.normal(size=3)
    (Ra, pa), (Rb, pb) = ([x.full() for x in od.pose(model, name, ca.DM(q))] for name in ("spot", "t"))
    second = Rb.T @ Ra @ first[0], (Rb.T @ (pa + Ra @ first[1][:, None] - pb)).ravel()
    loop = od.Loop("spot", "t", axes, first, second)
    theirs, layout = loaded(model, constraints=[loop]), od.Layout(model, "mujoco")
    data = mujoco.MjData(theirs)
    data.qpos[:] = layout.to_q(q).full().ravel()
    mujoco.mj_forward(theirs, data)
    at = np.flatnonzero(data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY)[1:]  # behind the mimic
    J = data.efc_J.reshape(-1, model.nv)
    G = od.constraint_jacobian(model, [loop], ca.DM(q)).full() @ layout.qd_map(q).full().T
    assert np.abs(data.efc_pos[at]).max() < 1e-9
    ranks = [np.linalg.matrix_rank(x, tol=1e-8) for x in (J[at], G, np.vstack([J[at], G]))]
    assert ranks == [len(loop.rows)] * 3


@pytest.mark.slow
def test_a_four_bar_swings_as_ours(rng):
    bars = od.models.n_four_bar(1)
    theirs = loaded(bars.model, constraints=list(bars.loops))
    layout, data = od.Layout(bars.model, "mujoco"), mujoco.MjData(theirs)
    q = np.ravel(od.assemble_q(bars.model, bars.loops, bars.q + np.array([0.6, -0.6, 0.6])))
    data.qpos[:] = layout.to_q(q).full().ravel()
    theirs.eq_solimp[:, :2] = 0.9999  # as stiff as they can be
    qd, zero = np.zeros(bars.model.nv), np.zeros(bars.model.nv)
    mujoco.mj_forward(theirs, data)
    wanted, _ = od.constrained_dynamics(bars.model, bars.loops, q, qd, zero)
    near(data.qacc, layout.to_qdd(q, qd, wanted), 2e-2)


@pytest.mark.slow
def test_planar_loops_on_legs_of_a_floating_base():
    """The plane of a loop moves with the base; the row across it is held by the legs all the same."""
    chain = od.models.heel_spring_biped()
    theirs, layout = loaded(chain.model, constraints=list(chain.loops)), od.Layout(chain.model, "mujoco")
    assert theirs.eq_type.tolist() == [mujoco.mjtEq.mjEQ_CONNECT] * 2
    data = mujoco.MjData(theirs)
    data.qpos[:] = layout.to_q(chain.q).full().ravel()
    mujoco.mj_forward(theirs, data)
    at = np.flatnonzero(data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J, G = data.efc_J.reshape(-1, theirs.nv)[at], od.constraint_jacobian(chain.model, chain.loops, chain.q)
    assert [np.linalg.matrix_rank(x, tol=1e-8) for x in (J, np.vstack([J, G.full()]))] == [4, 4]


@pytest.mark.slow
def test_a_planar_loop_out_of_its_plane():
    bars = od.models.n_four_bar(1)
    (loop, *_) = bars.loops
    aside = od.Loop(loop.predecessor, loop.successor, loop.axes, (np.eye(3), (0, 0.1, 0)))
    with pytest.raises(od.ModelError, match="no equality for the rows"):
        od.io.mjcf_text(bars.model, constraints=[aside])


@pytest.mark.parametrize(("constraint", "text"), [
    (od.Loop("b", "c", "prismatic"), "ball, revolute, fixed"), (od.Contact("a"), "shapes="),
    (od.LockedJoint("b_joint"), "at a position"), (od.LockedJoint("s_joint", (0, 0, 0, 1), 3), "hinges and slides"),
    (od.JointCoupling("s_joint", "a_joint"), "one dof"),
    (od.JointCoupling("c_joint", "a_joint", function=ca.sin), "without a function"),
])  # fmt: skip
@pytest.mark.slow
def test_constraints_that_mujoco_does_not_have(constraint, text):
    with pytest.raises(od.ModelError, match=text):
        od.io.mjcf_text(machine(), constraints=[constraint])


# Inertias


def test_zero_inertias_are_as_small_as_mujoco_takes(rng):
    b = od.ModelBuilder()
    b.add_body("arm", od.Euler("yxz"), mass=2.0, com=(0, 0.1, -0.4), inertia=(0.1, 0.1, 0.0), emulate=True)
    b.add_body("bob", od.Revolute("y"), "arm", origin=(0, 0, -1), mass=1.0, com=(0, 0, -1))
    b.add_body("rotor", od.Revolute("y"), "arm", armature=0.2)
    model = b.build()
    text = od.io.mjcf_text(model)
    assert "is written as 1e-14 kg or kg m^2" in text
    assert "arm#0, arm#1, arm, bob, rotor" in text
    same_dynamics(model, mujoco.MjModel.from_xml_string(text), rng)


def test_rounding_errors_of_far_points_are_no_inertias(rng):
    b = od.ModelBuilder()
    b.add_body("far", od.Revolute("y"))
    there = {"origin": (30.1, 40.3, 50.7), "rotation": random_rotation(rng)}
    b.add_body("bob", od.Fixed(), "far", mass=2, com=(0.1, 0.2, 0.3), **there)
    text = od.io.mjcf_text(b.build())
    assert "as files with few digits" not in text
    same_dynamics(b.build(), mujoco.MjModel.from_xml_string(text), rng)


def test_bodies_on_which_nothing_has_inertia():
    b = od.ModelBuilder()
    b.add_body("arm", od.Revolute("y"), mass=1, inertia=(1, 1, 1))
    b.add_body("toe", od.Revolute("y"), "arm")
    b.add_body("spinner", od.Revolute("z"), "arm", mass=1.0, com=(0, 0, 1))
    b.add_body("first", od.Revolute("y"))  # on the same axis as the next
    b.add_body("second", od.Revolute("y"), "first", mass=1, inertia=(1, 1, 1))
    with pytest.raises(
        od.ModelError, match=r"moved by toe_joint, spinner_joint, first_joint, .*with_inertia.*lock_joints"
    ):
        od.io.mjcf_text(b.build())


def test_balanced_moments_hold_after_rounding(rng):
    for moments in [*rng.uniform(size=(100, 3)), (0, 0, 1), (-1, -1, -1), (0.1, 0.2, 0.3)]:
        low, middle, high = np.sort(balance_moments(np.array(moments, dtype=float)))
        assert low > 0
        assert low + middle >= high
        assert high == max(*moments, 1e-14)


def test_inertias_that_no_body_has(rng):
    def body(a, b, c, **options):
        builder = od.ModelBuilder()
        R = random_rotation(rng)
        I = R @ np.diag([a, b, c]) @ R.T
        builder.add_body("body", od.FloatingBase(), mass=1, inertia=(I + I.T) / 2, inertia_check=False)
        return builder.build()

    lamina = od.io.mjcf_text(body(0.1, 0.2, 0.3))  # exact but for rounding
    assert "as files with few digits" not in lamina
    rounded = body(0.1, 0.2, 0.3003)
    text = od.io.mjcf_text(rounded)
    assert "as files with few digits contain them" in text
    assert "body" in text
    H = np.zeros((6, 6))
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    mujoco.mj_fullM(theirs, data, H)
    assert np.abs(np.linalg.eigvalsh(H[3:, 3:]) - [0.10015, 0.20015, 0.3003]).max() < 1e-12
    for wrong in (body(0.1, 0.2, 0.5), body(-0.1, 0.2, 0.25)):
        with pytest.raises(od.ModelError, match=r"body \(.*balance=True"):
            od.io.mjcf_text(wrong)
        A, B, C = np.sort(loaded(wrong, balance=True).body_inertia[1])
        assert A + B >= C


def test_layouts_of_all_written_joints():
    assert {key for key in ALL_TREES if key not in LACKING} == {key for key in ALL_TREES if _has_layout(key)}


def _has_layout(key):
    try:
        return bool(od.Layout(tree(key), "mujoco").joints)
    except ValueError:
        return False


def test_joints_that_move_nothing_are_named_and_rotors_count():
    """A joint without any inertia, one with a rotor alone, and one with a body."""
    builder = od.ModelBuilder()
    builder.add_body("body", od.Revolute("y"), mass=1, com=(0, 0, -0.3), inertia=(0.1, 0.1, 0.1))
    builder.add_body("rotor", od.Revolute("x"), "body", armature=0.1)
    builder.add_body("idle", od.Universal("x", "y"), "body")
    with pytest.raises(od.ModelError, match="moved by idle_joint") as error:
        od.io.mjcf_text(builder.build())
    assert "rotor" not in str(error.value).split(":")[1]
