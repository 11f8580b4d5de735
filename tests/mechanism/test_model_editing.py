"""Edited copies of a model: with other inertias, attached, locked, cut out, scaled. The original stays as it was."""

from __future__ import annotations

import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.mechanism import editing
from ocp_dyn.mechanism.parts import LIMIT_FIELDS
from ocp_dyn.mechanism.tree import Tree
from tests.helpers import (
    TREES,
    State,
    close,
    evaluate,
    flat,
    mostly_slow,
    random_inertia,
    random_rotation,
    tree,
)


def arm(rng: np.random.Generator, fixed: dict[str, float] | None = None, prefix: str = "") -> od.ModelBuilder:
    """A branching arm; joints in `fixed` are welded at an angle by the builder itself."""
    builder = od.ModelBuilder("arm", gravity=(1, -2, -9))
    for name, parent, axis in (
        ("a", "world", (1, 0, 0)), ("b", "a", (1, 2, 3)), ("c", "b", (0, 1, 0)), ("d", "a", (0, 0, -1)),
        ("e", "c", (1, 1, 0)),
    ):  # fmt: skip
        place, R = rng.normal(size=3), random_rotation(rng)
        mass = rng.uniform(1, 2)
        body = {"mass": mass, "com": rng.normal(size=3), "inertia": random_inertia(rng, mass)}
        data = {
            "lower": rng.uniform(-3, -2),
            "upper": 3.0,
            "velocity": rng.uniform(1, 2),
            "armature": rng.uniform(1, 2),
        }
        if name in (fixed or {}):
            turned = R @ od.Revolute(axis).jcalc(DM(fixed[name]), DM(1, 1)).XJ.E.full().T
            builder.add_body(prefix + name, od.Fixed(), parent, origin=place, rotation=turned, **body)
        else:
            parent = parent if parent == "world" else prefix + parent
            builder.add_body(
                prefix + name,
                od.Revolute(axis),
                parent,
                joint_name=f"{prefix}j_{name}",
                origin=place,
                rotation=R,
                **body,
                **data,
            )
        builder.add_frame(f"{prefix}tip_{name}", prefix + name, rng.normal(size=3), random_rotation(rng))
    builder.add_frame(f"{prefix}post", "world", rng.normal(size=3))
    return builder


def seeded(**options) -> od.Model:
    return arm(np.random.default_rng(6), **options).build()


def same(a: od.Model, b: od.Model, rng: np.random.Generator) -> None:
    """Asserts that two models are the same in names, data and dynamics, frames included."""
    assert (a.joint_names, a.body_names, a.parent) == (b.joint_names, b.body_names, b.parent)
    assert set(a.frame_names) == set(b.frame_names)
    for key, values in vars(a.dofs).items():
        assert np.array_equal(values, getattr(b.dofs, key)), key
    s = State.of(a, rng)
    for algorithm, args in (
        (od.inverse_dynamics, (s.q, s.qd, s.qdd)), (od.mass_matrix, (s.q,)), (od.forward_dynamics, (s.q, s.qd, s.tau)),
        (od.center_of_mass, (s.q,)), (od.potential_energy, (s.q,)),
    ):  # fmt: skip
        close(*(evaluate(algorithm, model, args=args) for model in (a, b)))
    for name in a.frame_names:
        close(*(od.point_acceleration_6d(model, name, DM(s.q), DM(s.qd), DM(s.qdd)) for model in (a, b)))
        for x, y in zip(*(od.pose(model, name, DM(s.q)) for model in (a, b)), strict=True):
            close(x, y)


# Gravity, inertia


def test_with_gravity(rng):
    model = seeded()
    lighter = model.with_gravity((0, 0, -1.62))
    assert lighter.gravity == (0.0, 0.0, -1.62)
    assert model.gravity == (1.0, -2.0, -9.0)
    with pytest.raises(od.ModelError, match="gravity must be 3"):
        model.with_gravity((0, 0))


def test_with_inertia_replaces_what_is_given(rng):
    model = seeded()
    I = random_inertia(rng, 3.0)
    changed = model.with_inertia("c", mass=3.0, com=(0.1, 0.2, 0.3), inertia=I)
    expected = od.Inertia.from_com(3.0, (0.1, 0.2, 0.3), I)
    close(changed.I[3].matrix(), expected.matrix())
    back = changed.with_inertia("c", mass=float(model.I[3].m)).with_inertia(
        "c", com=flat(model.I[3].h) / float(model.I[3].m)
    )
    m, h = float(back.I[3].m), flat(back.I[3].h)
    close([m, *h], [float(model.I[3].m), *flat(model.I[3].h)])
    c = h / m
    close(back.I[3].I.full() - m * (c @ c * np.eye(3) - np.outer(c, c)), I)  # about the com it stayed
    assert changed.mass == pytest.approx(model.mass - float(model.I[3].m) + 3.0)
    od.Contact(model.frame("tip_c")).jacobian(changed, DM(model.random_q(rng)))  # frames of the model hold on the copy


def test_with_inertia_refuses(rng):
    model = seeded()
    for wrong, error, message in (
        ({"body": "zz"}, KeyError, "no moving body 'zz'; moving bodies are: a, b"),
        ({"body": "tip_c"}, KeyError, "'tip_c' is fixed to 'c'"),
        ({"body": "post"}, KeyError, "'post' is fixed to the ground"),
        ({"body": "c", "mass": -1}, od.ModelError, "body 'c': mass must not be negative"),
        ({"body": "c", "com": (1, 2)}, od.ModelError, "body 'c': com must be 3"),
        ({"body": "c", "inertia": (1, 1, 3)}, od.ModelError, "none larger than the sum"),
    ):
        with pytest.raises(error, match=message):
            model.with_inertia(**wrong)


# Limits


def limbs(rng: np.random.Generator) -> od.Model:
    """A floating base, a ball joint and two joints of one dof, all with random limits."""
    builder = od.ModelBuilder("limbs", gravity=(1, -2, -9))
    for name, joint, parent in (
        ("trunk", od.FloatingBase(), "world"), ("arm", od.Spherical(), "trunk"),
        ("hand", od.Revolute((1, 2, 3)), "arm"),
        ("rail", od.Prismatic((0, 1, 1)), "trunk"),
    ):  # fmt: skip
        turning = np.arange(joint.nq) >= joint.nq - 4 * joint.has_quaternion
        limits = {key: np.where(turning, sign * np.inf, sign * rng.uniform(1, 2, joint.nq))
                  for key, sign in (("lower", -1), ("upper", 1))}  # fmt: skip
        limits |= {"velocity": rng.uniform(1, 2, joint.nv), "effort": rng.uniform(1, 2, joint.nv)}
        mass = rng.uniform(1, 2)
        builder.add_body(
            name, joint, parent, joint_name=f"j_{name}", mass=mass, inertia=random_inertia(rng, mass), **limits
        )
    return builder.build()


@pytest.mark.slow
def test_limits_by_joint_by_entry_and_for_all(rng):
    model = limbs(rng)
    copy = model.with_limits(
        lower={"j_hand": -0.25, "j_trunk.qy": 0.5},
        upper={"j_arm": (0.1, 0.2, 0.3, np.inf), "j_arm.qx": 0.7},
        velocity={"j_trunk": 3.0, "j_arm.wz": 4},
        effort=1.5 * model.dofs.tau_max,
    )
    lower, upper, velocity = (np.array(x) for x in (model.dofs.q_lower, model.dofs.q_upper, model.dofs.qd_max))
    lower[[4, 11]] = 0.5, -0.25
    upper[7:11] = 0.7, 0.2, 0.3, np.inf
    velocity[[*range(6), 8]] = *[3.0] * 6, 4.0
    for found, expected in (
        (copy.dofs.q_lower, lower), (copy.dofs.q_upper, upper), (copy.dofs.qd_max, velocity),
        (copy.dofs.tau_max, 1.5 * model.dofs.tau_max),
    ):  # fmt: skip
        assert np.array_equal(found, expected)
    assert not copy.dofs.q_lower.flags.writeable
    assert np.array_equal(model.with_limits(effort=7).dofs.tau_max, np.full(model.nv, 7.0))
    same(model.with_limits(lower={}, upper=None), model, rng)
    same(copy.with_limits(**{o: getattr(model.dofs, f) for o, f in LIMIT_FIELDS.items()}), model, rng)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"lower": {"j_hnad": 0}}, KeyError, "no joint, nor entry of q, 'j_hnad': did you mean 'j_hand'"),
        ({"effort": {"j_trunk.qw": 1}}, KeyError, "no joint, nor entry of qd, 'j_trunk.qw'"),
        ({"effort": {3: 1}}, KeyError, "known are: j_trunk, j_arm, j_hand"),
        (
            {"lower": {"j_hand": 0.5}, "upper": {"j_hand": 0.4}},
            od.ModelError,
            "lower limit of 'j_hand', 0.5, lies above its upper limit, .*: change both",
        ),
        ({"upper": -5}, od.ModelError, "lower limit of 'j_trunk.x', .*, lies above its upper limit, -5"),
        ({"velocity": {"j_arm": (1, 2)}}, od.ModelError, r"velocity of 'j_arm' must be one number or 3, got \(1, 2\)"),
        ({"velocity": [1, 2]}, od.ModelError, "velocity must be one number or 11"),
        ({"effort": {"j_hand": -1}}, od.ModelError, "effort of 'j_hand' must not be negative, got -1"),
        (
            {"effort": {"j_hand": np.nan}},
            od.ModelError,
            r"effort of 'j_hand' must be one number, or a pair \(lower, upper\), got nan",
        ),
        (
            {"effort": "strong"},
            od.ModelError,
            r"effort must be one number or 11, or 11 pairs \(lower, upper\), got 'strong'",
        ),
        ({"strength": 2}, TypeError, "strength"),
        ({"lower": {"j_arm": -1}}, od.ModelError, "lower of 'j_arm' would limit j_arm.qx, .*components of a unit quat"),
        (
            {"lower": {"j_arm": [-1] * 4}},
            od.ModelError,
            "would limit j_arm.qx, j_arm.qy, j_arm.qz, j_arm.qw, which are",
        ),
        (
            {"lower": {"j_arm": [-0.5] * 4}},
            od.ModelError,
            "would limit j_arm.qx, j_arm.qy, j_arm.qz, j_arm.qw, which are",
        ),
        ({"upper": np.full(13, 2.0)}, od.ModelError, "upper would limit j_trunk.qx, .*Euler angles"),
        ({"upper": {"j_arm.qy": 1.0}}, od.ModelError, "single components may have limits between -1 and 1"),
    ],
)
@pytest.mark.slow
def test_with_limits_refuses(wrong, error, message):
    with pytest.raises(error, match=message):
        limbs(np.random.default_rng(1)).with_limits(**wrong)


def test_strength_is_a_scale_for_every_dof():
    model = limbs(np.random.default_rng(1)).with_limits(effort={"j_trunk": np.inf, "j_rail": 0.0, "j_hand": 30.0})
    assert np.array_equal(model.dofs.strength(), [*[1.0] * 6, *model.dofs.tau_max[6:9], 30.0, 1.0])
    assert np.array_equal(model.dofs.strength(unlimited=100.0)[[0, 9, 10]], [100.0, 30.0, 100.0])


def test_weight(rng):
    model = seeded()
    assert model.weight == pytest.approx(model.mass * np.sqrt(86))
    assert model.with_gravity((0, 0, 0)).weight == 0.0
    g = SX.sym("g", 3)
    weight = ca.Function("weight", [g], [od.with_parameters(model, {"gravity": g}).weight])
    close(weight([3, 4, -12]), 13 * model.mass)


# Locking


@pytest.mark.slow
def test_locked_joints_equal_bodies_welded_by_the_builder(rng):
    fixed = {"b": 0.4, "d": -0.7}
    locked = seeded().lock_joints({f"j_{name}": angle for name, angle in fixed.items()})
    same(locked, seeded(fixed=fixed), rng)
    assert locked.body_names == ("a", "c", "e")
    assert locked.frame("b").body == locked.frame("a").body


@pytest.mark.slow
def test_a_locked_root_leaves_the_ground_without_inertia(rng):
    locked = seeded().lock_joints({"j_a": 0.2})
    same(locked, seeded(fixed={"a": 0.2}), rng)
    assert locked.frame("a").body == 0


@pytest.mark.parametrize("key", TREES)
@pytest.mark.slow
def test_locking_any_joint_leaves_the_other_dynamics(key, rng):
    """A row and column of the locked joint fall out of H; poses stay."""
    model = tree(key)
    name = "b2_joint"
    s = State.of(model, rng)
    locked = model.lock_joints({name: s.q[model.q_slice(name)]})
    q = np.delete(s.q, model.q_slice(name))
    keep = np.delete(np.arange(model.nv), model.qd_slice(name))
    H = evaluate(od.mass_matrix, model, args=(s.q,))
    close(evaluate(od.mass_matrix, locked, args=(q,)), H[np.ix_(keep, keep)])
    qd = np.where(np.isin(np.arange(model.nv), keep), s.qd, 0)
    close(evaluate(od.bias_force, locked, args=(q, qd[keep])), evaluate(od.bias_force, model, args=(s.q, qd))[keep])
    for body in model.frame_names[::3]:
        close(*(od.point_velocity_6d(m, body, DM(x), DM(v)) for m, x, v in ((model, s.q, qd), (locked, q, qd[keep]))))


def test_locking_outside_limits_is_told(rng):
    """One warning for all, at the caller's line; none for rounding, at a limit, and for joints without limits."""
    model = seeded().with_limits(lower={"j_a": -0.1, "j_b": 0.0}, upper={"j_a": 0.5, "j_b": 1.0})
    outside = "j_a is locked at 0.6, outside its limits -0.1 to 0.5; j_b is locked at -1, outside its limits 0 to 1$"
    with pytest.warns(od.ModelWarning, match=f"^lock_joints: {outside}") as told:
        locked = model.lock_joints({"j_a": 0.6, "j_b": -1.0})
    assert [Path(warning.filename).name for warning in told] == ["test_model_editing.py"]
    assert locked.nv == model.nv - 2
    model.lock_joints({"j_a": 0.5 + 1e-12, "j_b": -1e-12})
    seeded().with_limits(lower={"j_a": -np.inf}, upper={"j_a": np.inf}).lock_joints({"j_a": 100.0})


def test_locking_refuses():
    model = seeded()
    with pytest.raises(KeyError, match="no joint 'b'; joints are: j_a"):
        model.lock_joints({"b": 0.0})
    with pytest.raises(ValueError, match="position of joint 'j_b' must be 1 finite"):
        model.lock_joints({"j_b": (0.0, 1.0)})
    with pytest.raises(od.ModelError, match="no moving body is left"):
        model.lock_joints(dict.fromkeys(model.joint_names, 0.0))
    with pytest.raises(TypeError, match="lock_joints needs"):
        model.lock_joints("j_b")


# Attaching


@pytest.mark.slow
def test_attach_equals_building_in_one_go(rng):
    """Both on a frame of a body and on the world, turned and shifted."""
    tool = arm(np.random.default_rng(9), prefix="t_").build()
    R, p = random_rotation(rng), rng.normal(size=3)
    for to in ("tip_c", "world"):
        both = seeded().attach(arm(np.random.default_rng(9)).build(), to, "t_", p, R)
        builder = arm(np.random.default_rng(6))
        builder.add_frame("here", to, p, R)
        for i, parent in tool.edges:
            name = tool.body_names[i - 1]
            X = tool.X_tree[i]
            m, h = float(tool.I[i].m), flat(tool.I[i].h)
            c = h / m
            q = tool.q_index[i]
            builder.add_body(
                name, tool.joints[i], tool.body_names[parent - 1] if parent else "here",
                joint_name=tool.joint_names[i - 1], origin=flat(X.r), rotation=X.E.full().T, mass=m, com=c,
                inertia=tool.I[i].I.full() - m * (c @ c * np.eye(3) - np.outer(c, c)),
                lower=tool.dofs.q_lower[q], upper=3.0, velocity=tool.dofs.qd_max[q], armature=tool.dofs.armature[q],
            )  # fmt: skip
        expected = builder.build()
        assert set(both.frame_names) == {*expected.frame_names, *tool.frame_names} - {"here"}
        s = State.of(both, rng)
        assert both.joint_names == expected.joint_names
        for key, values in vars(both.dofs).items():
            assert np.array_equal(values, getattr(expected.dofs, key)), key
        for algorithm, args in ((od.inverse_dynamics, (s.q, s.qd, s.qdd)), (od.mass_matrix, (s.q,))):
            close(*(evaluate(algorithm, model, args=args) for model in (both, expected)))
        # frames of the other model, those on its ground too, go where the model goes
        at = flat(od.point_position(expected, "here", DM(s.q), flat(tool.frame("t_post").X.r)))
        close(flat(od.point_position(both, "t_post", DM(s.q))), at)


def test_attach_refuses_names_that_clash():
    model = seeded()
    with pytest.raises(od.ModelError, match=r"both models have 'a', 'b'.*prefix='arm_'"):
        model.attach(seeded(), "world")
    with pytest.raises(KeyError, match="no frame 'zz'"):
        model.attach(seeded(), "zz", "t_")
    with pytest.raises(od.ModelError, match="attach: rotation must be orthonormal"):
        model.attach(seeded(), "a", "t_", rotation=2 * np.eye(3))


# Cutting out


def test_a_subtree_hangs_on_the_ground_as_it_hung_on_its_parent(rng):
    model = seeded()
    part = model.subtree("b")
    assert part.body_names == ("b", "c", "e")
    assert part.parent == (-1, 0, 1, 2)
    assert set(part.frame_names) == {"b", "c", "e", "tip_b", "tip_c", "tip_e"}
    whole = seeded().lock_joints({"j_a": 0.0})
    s = State.of(part, rng)
    R, p = od.pose(whole, "a", DM.zeros(whole.nq, 1))
    q = np.zeros(whole.nq)
    for name in part.joint_names:
        q[whole.q_slice(name)] = s.q[part.q_slice(name)]
    expected = flat(R.T @ (od.point_position(whole, "tip_e", DM(q)) - p))
    close(od.point_position(part, "tip_e", DM(s.q)), expected)
    at = [model.qd_slice(name).start for name in part.joint_names]
    assert np.array_equal(part.dofs.qd_max, model.dofs.qd_max[at])
    with pytest.raises(KeyError, match="no moving body 'tip_b'"):
        model.subtree("tip_b")


@pytest.mark.slow
def test_a_subtree_s_own_inertia_is_the_block_of_h(rng):
    """With the parent at rest the block of H is that of the subtree, for every tree."""
    for key in TREES:
        if key == "star":
            continue
        model = tree(key)
        part = model.subtree("b2")
        s = State.of(model, rng)
        rows = [k for name in part.joint_names for k in range(model.nv)[model.qd_slice(name)]]
        q = np.concatenate([s.q[model.q_slice(name)] for name in part.joint_names])
        close(
            evaluate(od.mass_matrix, part, args=(q,)), evaluate(od.mass_matrix, model, args=(s.q,))[np.ix_(rows, rows)]
        )


# Scaling


@mostly_slow("key", [*(key for key in TREES if key != "screws"), "helical_skew", "multi_dof"], ("helical_skew",))
@pytest.mark.slow
def test_scaled_models_move_alike(key, rng):
    """Poses scale by length; kinetic energy by mass length^2; angles stay and lengths in q scale."""
    model = tree(key)
    s, m = 1.7, 0.6
    big = model.scale(length=s, mass=m)
    q, qd = model.random_q(rng), rng.normal(size=model.nv)
    grow_q, grow_v = (np.ones(n) for n in (model.nq, model.nv))
    for i, _ in model.edges:
        joint = model.joints[i]
        for k, label in enumerate(joint.qd_labels):
            S = joint.jcalc(DM(joint.neutral()), DM(joint.nv, 1)).S.full()
            if not S[:3, k].any():
                grow_v[model.v_index[i] + k] = s
                grow_q[model.q_index[i] + joint.q_labels.index(label)] = s
    Q, V = q * grow_q, qd * grow_v
    for name in model.frame_names[::3]:
        close(od.point_position(big, name, DM(Q)), s * flat(od.point_position(model, name, DM(q))))
        close(od.point_velocity(big, name, DM(Q), DM(V)), s * flat(od.point_velocity(model, name, DM(q), DM(qd))))
    T, T0 = (evaluate(od.kinetic_energy, x, args=a) for x, a in ((big, (Q, V)), (model, (q, qd))))
    close(T, m * s**2 * T0)
    assert big.mass == pytest.approx(m * model.mass)


def test_limits_of_lengths_scale():
    builder = od.ModelBuilder()
    builder.add_body(
        "a", od.Planar(), mass=1, lower=(-1, -2, -3), upper=(1, 2, 3), velocity=(4, 5, 6), rest=(0.1, 0.2, 0.3)
    )
    builder.add_body("b", od.FloatingBase(), "a", mass=1, lower=[*[-2.0] * 3, *[-np.inf] * 4])
    big = builder.build().scale(length=2.0)
    assert big.dofs.q_lower.tolist() == [-2, -4, -3, -4, -4, -4, *[-np.inf] * 4]
    assert big.dofs.q_upper[:3].tolist() == [2, 4, 3]
    assert big.dofs.qd_max[:3].tolist() == [8, 10, 6]
    assert big.dofs.rest[:3].tolist() == [0.2, 0.4, 0.3]
    with pytest.raises(od.ModelError, match="length and mass must be positive"):
        big.scale(length=-1)
    with pytest.raises(ValueError, match="cannot be scaled"):
        tree("custom").scale(length=2.0)


@pytest.mark.slow
def test_copies_have_functions_of_their_own(rng):
    """No copy shares a Function with the original, and the original is as it was."""
    model = seeded()
    q = model.random_q(rng)
    before = evaluate(od.gravity_force, model, args=(q,))
    for copy in (model.with_gravity((0, 0, 1)), model.with_inertia("e", mass=9), model.scale(length=2)):
        assert not np.allclose(evaluate(od.gravity_force, copy, args=(q,)), before)
    assert np.array_equal(evaluate(od.gravity_force, model, args=(q,)), before)


def test_a_frame_more(rng):
    model = seeded()
    host = model.frame_names[-1]
    R = random_rotation(rng)
    more = model.with_frame("tool", host, origin=(0.1, 0.2, 0.3), rotation=R)
    q = DM(model.random_q(rng))
    axes, place = od.pose(more, "tool", q)
    close(place.full().ravel(), flat(od.point_position(model, host, q, (0.1, 0.2, 0.3))))
    close(axes.full(), od.pose(model, host, q)[0].full() @ R)
    assert "tool" not in model.frames
    with pytest.raises(od.ModelError, match="has a frame of that name already"):
        more.with_frame("tool", host)
    with pytest.raises(KeyError):
        model.with_frame("tool", "nowhere")


def test_editing_knows_the_data_alone_and_keeps_the_class():
    """Copies of a tree are trees, copies of a model are models, and of a user's own class of models too."""

    class Robot(od.Model):
        pass

    model = tree("chain")
    data = {name: getattr(model, name) for name in od.Model.__dataclass_fields__}
    for kind in (Tree, od.Model, Robot):
        made = kind(**data)
        copies = (
            editing.with_gravity(made, (0, 0, -1.6)),
            editing.attach(made, model, "world", "second_", (1, 0, 0), None),
            editing.lock_joints(made, {"b2_joint": 0.1}),
            editing.subtree(made, made.body_names[-1]),
            editing.scale(made, 2.0, 1.0),
        )
        assert {type(copy) for copy in copies} == {kind}
        assert repr(made).startswith(f"<{kind.__name__} ")
    assert isinstance(pickle.loads(pickle.dumps(model)), od.Model)
    with pytest.raises(AttributeError):
        model.nickname = "h"


@pytest.mark.parametrize("limits", [{"lower": np.inf, "upper": np.inf}, {"upper": -np.inf}])
def test_limits_leave_a_position(limits):
    with pytest.raises(od.ModelError, match="leaves 'joint1' no position: for no limit write lower=-inf, upper=inf"):
        od.models.pendulum(2).with_limits(**limits)
