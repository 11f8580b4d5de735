"""Models and their builder: what it refuses, how it merges, what a model tells of itself, that it stays as it is."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from tests.helpers import (
    ALL_TREES,
    JOINTS,
    MIXED,
    SIMILAR,
    TREES,
    State,
    add_random,
    close,
    evaluate,
    random_inertia,
    random_rotation,
    tree,
)


def build(**body) -> od.Model:
    builder = od.ModelBuilder()
    builder.add_body("a", body.pop("joint", od.Revolute()), **body)
    return builder.build()


# Errors

BODIES = {
    "mass must not be negative": {"mass": -1.0},
    "mass must be 1 finite": {"mass": np.nan},
    "com must be 3": {"com": (1, 2)},
    "origin must be 3": {"origin": (1, 2, np.inf)},
    "inertia must be symmetric": {"inertia": [[1, 0.01, 0], [0, 1, 0], [0, 0, 1]]},
    "principal moments of inertia 1, 1, 2.05": {"inertia": (1, 1, 2.05)},
    "none larger than the sum": {"inertia": (1, 1, 3)},
    "each must be >= 0": {"inertia": (1, 1, -0.1)},
    r"inertia .*must be 9": {"inertia": (1, 2)},
    "rotation must be orthonormal": {"rotation": 2 * np.eye(3)},
    "determinant": {"rotation": np.diag([1, 1, -1])},
    r"rotation \(3x3\) must be 9": {"rotation": (1, 0, 0)},
    "lower limit 2 lies above upper limit 1": {"lower": 2, "upper": 1},
    "lower limit must be one number or 1": {"lower": (1, 2)},
    "upper limit must be one number or 1": {"upper": "much"},
    "velocity limit must be one number": {"velocity": np.nan},
    "effort limit must not be negative": {"effort": -1},
    "damping must not be negative": {"damping": -1},
    "no parent 'b' yet; known: world": {"parent": "b"},
    "joint must be a joint such as": {"joint": od.Revolute},
}


@pytest.mark.parametrize(("message", "body"), BODIES.items(), ids=BODIES.keys())
def test_builder_refuses(message, body):
    with pytest.raises(od.ModelError, match=f"(body|joint) 'a.*{message}"):
        build(**body)


def test_builder_refuses_names_that_clash_or_are_none():
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute(), joint_name="j")
    for name, joint_name, message in (
        ("a", None, "body 'a': this name is taken"),
        ("world", None, "body 'world': this name is taken"),
        ("b", "j", "joint 'j' has the name of another joint"),
        ("", None, "non-empty string"),
        (3, None, "non-empty string"),
    ):
        with pytest.raises(od.ModelError, match=message):
            builder.add_body(name, od.Revolute(), joint_name=joint_name)
    with pytest.raises(od.ModelError, match="frame 'a': this name is taken"):
        builder.add_frame("a", "world")
    with pytest.raises(od.ModelError, match="frame 'c': no parent 'zz'"):
        builder.add_frame("c", "zz")
    assert builder.build().nb == 1  # nothing of the refused ones was kept


def test_root_joint_is_called_as_its_floating_base_and_may_clash():
    builder = od.ModelBuilder()
    builder.add_body("a", od.FloatingBase(name="base"))
    with pytest.raises(od.ModelError, match="joint 'base' has the name of another"):
        builder.add_body("b", od.Revolute(), "a", joint_name="base")
    builder.add_body("c", od.FloatingBase(name="base"), "a")  # inside a model the body names the joint
    assert builder.build().joint_names == ("base", "c_joint")


def test_a_model_needs_a_moving_body_and_a_gravity():
    builder = od.ModelBuilder("statue", gravity=(0, 0))
    builder.add_body("stone", od.Fixed(), mass=1)
    with pytest.raises(od.ModelError, match="'statue' has no moving body"):
        builder.build()
    builder.add_body("a", od.Revolute())
    with pytest.raises(od.ModelError, match="gravity must be 3"):
        builder.build()


def test_an_impossible_inertia_passes_if_asked():
    close(build(inertia=(1, 1, 3), inertia_check=False).I[1].I, np.diag([1, 1, 3]))


def test_random_tree_refuses_nonsense():
    for n, branching in ((0, 1.5), (3, 0.5), (3, np.nan)):
        with pytest.raises(ValueError, match="random_tree needs"):
            od.random_tree(n, branching)


# Merging


def merged_pair(rng: np.random.Generator) -> tuple[od.Model, od.Model]:
    """Two models of one mechanism: with bodies on fixed joints, and with their inertias added by hand."""
    place = [(random_rotation(rng), rng.normal(size=3)) for _ in range(5)]
    bodies = [(rng.uniform(0.5, 2), rng.normal(size=3), random_inertia(rng, 1.0)) for _ in range(5)]
    a, b = od.ModelBuilder(), od.ModelBuilder()

    def at(k: int) -> dict:
        return {"rotation": place[k][0], "origin": place[k][1]}

    def inertial(k: int) -> dict:
        return dict(zip(("mass", "com", "inertia"), bodies[k], strict=True))

    a.add_body("pedestal", od.Fixed(), **at(0), **inertial(0))
    a.add_body("arm", od.Revolute("x"), "pedestal", **at(1), **inertial(1))
    a.add_body("plate", od.Fixed(), "arm", **at(2), **inertial(2))
    a.add_body("plate2", od.Fixed(), "plate", **at(3), **inertial(3))
    a.add_body("tip", od.Spherical(), "plate2", **at(4), **inertial(4))

    R, p = compose(place[0], place[1])
    plate, plate2 = place[2], compose(place[2], place[3])
    whole = sum_bodies([bodies[1], moved(bodies[2], plate), moved(bodies[3], plate2)])
    b.add_body("arm", od.Revolute("x"), origin=p, rotation=R, mass=whole[0], com=whole[1], inertia=whole[2])
    R, p = compose(plate2, place[4])
    b.add_body("tip", od.Spherical(), "arm", origin=p, rotation=R, **inertial(4))
    return a.build(), b.build()


def compose(outer, inner):
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


def moved(body, place):
    m, c, I = body
    R, p = place
    return m, p + R @ c, R @ I @ R.T


def sum_bodies(bodies):
    m = sum(b[0] for b in bodies)
    c = sum(b[0] * b[1] for b in bodies) / m
    I = sum(b[2] + b[0] * (np.dot(b[1] - c, b[1] - c) * np.eye(3) - np.outer(b[1] - c, b[1] - c)) for b in bodies)
    return m, c, I


def test_merging_chains_of_fixed_bodies_changes_no_dynamics(rng):
    merged, plain = merged_pair(rng)
    assert merged.nb == plain.nb == 2
    assert merged.body_names == ("arm", "tip")
    assert merged.frame_names == ("pedestal", "arm", "plate", "plate2", "tip")
    s = State.of(plain, rng)
    close(evaluate(od.mass_matrix, merged, args=(s.q,)), evaluate(od.mass_matrix, plain, args=(s.q,)))
    args = (s.q, s.qd)
    close(evaluate(od.bias_force, merged, args=args), evaluate(od.bias_force, plain, args=args))
    close(merged.mass, plain.mass)
    assert merged.frame("pedestal").body == 0
    R, p = od.pose(merged, "plate2", DM(s.q))
    tip = od.pose(merged, "tip", DM(s.q))
    assert np.linalg.norm((tip[1] - p).full()) > 0.1
    close(R.T @ R, np.eye(3))


def test_frames_are_placed_in_frames(rng):
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("z"), mass=1)
    builder.add_frame("up", "a", origin=(0, 0, 1), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    builder.add_frame("side", "up", origin=(2, 0, 0))
    builder.add_frame("wall", "world", origin=(5, 0, 0))
    model = builder.build()
    close(od.pose(model, "side", DM([0.0]))[1], [0, 2, 1])
    close(od.pose(model, model.frame("side"), DM([np.pi / 2]))[1], [-2, 0, 1])
    close(od.pose(model, "wall", DM([0.3]))[1], [5, 0, 0])
    close(od.point_position(model, "up", DM([0.0]), (1, 0, 0)), [0, 1, 1])


def test_a_body_may_be_called_world():
    """Files do so. From then on "world" is that body."""
    builder = od.ModelBuilder()
    builder.add_body("world", od.Fixed())
    builder.add_body("a", od.Revolute("x"), "world", mass=1)
    assert builder.build().parent == (-1, 0)


# What a model tells


def test_sizes_names_and_slices(rng):
    model = tree("forest")
    assert (model.nb, model.nq, model.nv) == (6, 7 + 4 + 1 + 3 + 3 + 1, 6 + 3 + 1 + 3 + 3 + 1)
    assert model.parent == (-1, 0, 1, 1, 0, 4, 4)
    assert model.q_slice("b2_joint") == slice(7, 11)
    assert model.qd_slice("b2_joint") == slice(6, 9)
    assert model.q_slice("b6_joint") == slice(18, 19)
    assert model.q_names[:8] == (*(f"b1_joint.{k}" for k in ("x", "y", "z", "qx", "qy", "qz", "qw")), "b2_joint.qx")
    assert model.qd_names[-4:] == ("b5_joint.rx", "b5_joint.ry", "b5_joint.rz", "b6_joint")
    assert len(model.q_names) == model.nq
    assert len(model.qd_names) == model.nv
    assert model.path(3) == [1, 3]
    assert model.path(0) == []
    # the joints' dofs as chains: b1 0..5, b2 6..8 and b3 9 on 5, b4 10..12 on the ground, b5 13..15, b6 16 on 12
    assert model.dof_parent == (-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, -1, 10, 11, 12, 13, 14, 12)
    with pytest.raises(KeyError, match="no joint 'b2'; joints are: b1_joint"):
        model.q_slice("b2")
    with pytest.raises(KeyError, match="no frame 'b9'; frames are: b1"):
        model.body("b9")


def test_printing():
    text = str(tree("forest"))
    assert text.startswith("forest: 6 bodies, nq = 19, nv = 17, mass = ")
    for row in ("b1 ", "  b2 ", "FloatingBase (6 dof)", "7..10", "6..8", "b6_joint"):
        assert row in text
    assert repr(tree("star")) == "<Model 'star': nb=4, nq=15, nv=13>"
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute())
    builder.add_frame("tip", "a")
    assert str(builder.build()).endswith("other frames: tip")
    assert repr(builder.build().body("a")) == "Frame('a', body=1)"


def test_one_limit_for_several_entries_leaves_out_quaternions():
    """For the model and for a joint; not for speeds, nor where an entry is named."""
    model = tree("floating")
    quaternion = np.array([name.rpartition(".")[2] in ("qx", "qy", "qz", "qw") for name in model.q_names])
    assert quaternion.any()
    for limited in (model.with_limits(upper=1.5), model.with_limits(upper=dict.fromkeys(model.joint_names, 1.5))):
        assert np.all(limited.dofs.q_upper[~quaternion] == 1.5)
        assert np.all(limited.dofs.q_upper[quaternion] == np.inf)
    with pytest.raises(
        od.ModelError, match="lower limit would limit qx, qy, qz, qw, which are components of a unit quat"
    ):
        od.ModelBuilder().add_body("ball", od.Spherical(), mass=1, lower=[-1] * 4)
    limited = model.with_limits(lower=-1.0, upper=np.where(quaternion, np.inf, 2.0), velocity=3.0)
    assert np.all(limited.dofs.q_upper[~quaternion] == 2.0)
    assert np.all(limited.dofs.qd_max == 3.0)
    assert np.all(limited.dofs.q_lower[quaternion] == -np.inf)
    entry = model.q_names[int(np.argmax(quaternion))]
    assert model.with_limits(lower={entry: 0.1}).dofs.q_lower[np.argmax(quaternion)] == 0.1


def test_limits_are_kept_per_entry():
    model = build(joint=od.Planar(), lower=(-1, -2, -3), upper=4, velocity=5, effort=(1, 2, 3), damping=0.1, friction=2)
    assert model.dofs.q_lower.tolist() == [-1, -2, -3]
    assert model.dofs.q_upper.tolist() == [4, 4, 4]
    assert model.dofs.qd_max.tolist() == [5, 5, 5]
    assert model.dofs.tau_max.tolist() == [1, 2, 3]
    assert model.dofs.damping.tolist() == [0.1] * 3
    assert model.dofs.friction.tolist() == [2] * 3
    assert np.all(np.isinf(build().dofs.q_upper))


def test_random_q_keeps_limits(rng):
    cases = [(2.0, 3.0), (None, -5.0), (4.0, None), (-0.01, 0.01), (7.0, 7.0)]
    for lower, upper in cases:
        model = build(lower=lower, upper=upper)
        samples = np.array([model.random_q(rng)[0] for _ in range(50)])
        assert np.all(samples >= (-np.inf if lower is None else lower))
        assert np.all(samples <= (np.inf if upper is None else upper))


def test_constants_are_structurally_sparse():
    model = build(origin=(0, 1e-15, 1), rotation=[[0, -1, 1e-17], [1, 1e-16, 0], [0, 0, 1 - 1e-15]], mass=2)
    assert model.X_tree[1].E.nnz() == 3
    assert model.X_tree[1].r.nnz() == 1
    assert float(model.X_tree[1].E[2, 2]) == 1.0
    assert model.I[1].h.nnz() == model.I[1].I.nnz() == 0


# The manifold


def test_the_trees_of_tests_hold_all_kinds_of_joints():
    assert {kind for key in TREES for kind in (ALL_TREES | MIXED)[key][0]} >= set(JOINTS) - set(SIMILAR)


@pytest.mark.parametrize("key", TREES)
def test_integrate_and_difference_of_a_whole_model(rng, key):
    model = tree(key)
    q, v = model.random_q(rng), rng.uniform(-1, 1, model.nv)
    close(model.difference(q, model.integrate(q, v)), v)
    assert model.integrate(q, v).shape == (model.nq, 1)
    zero = model.q_dot(model.neutral(), np.zeros(model.nv))
    close(zero, np.zeros(model.nq))


def test_sizes_are_checked():
    model = tree("star")
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    for wrong in (lambda: model.integrate(q, q), lambda: model.q_dot(qd, qd), lambda: model.difference(q, q.T)):
        with pytest.raises(ValueError, match=r"must have \d+ entries \(.*\) in one column, got shape"):
            wrong()
    for wrong in (
        lambda: od.bias_force(model, q, q),
        lambda: od.mass_matrix(model, qd),
        lambda: od.pose(model, "b1", qd),
    ):
        with pytest.raises(ValueError, match=r"must have \d+ rows \(n[qv]: .*\) in this model, got shape"):
            wrong()


# Frozen data


def test_a_model_does_not_change():
    model = tree("star")
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"
    with pytest.raises(TypeError):
        model.frames["x"] = model.frame("b1")
    for twin in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        for array in vars(twin.dofs).values():
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0


def test_a_builder_goes_on_without_touching_what_it_built(rng):
    builder = od.ModelBuilder()
    add_random(builder, "a", od.Revolute(), "world", rng)
    first = builder.build()
    mass = first.mass
    builder.add_body("lump", od.Fixed(), "a", mass=3.0)
    add_random(builder, "b", od.Revolute(), "a", rng)
    second = builder.build()
    assert (first.nb, first.mass, first.frame_names) == (1, mass, ("a",))
    close(second.mass - mass, 3.0 + float(second.I[2].m))


@pytest.mark.slow
def test_pickling(rng):
    model, contact = pickle.loads(pickle.dumps((m := tree("forest"), od.Contact(m.body("b3")))))
    s = State.of(m, rng)
    close(evaluate(od.bias_force, model, args=(s.q, s.qd)), evaluate(od.bias_force, m, args=(s.q, s.qd)))
    assert evaluate(od.constraint_jacobian, model, contact, args=(s.q,)).shape == (6, model.nv)  # the frame is its own
    assert model.joints == m.joints
    assert model.frame_names == m.frame_names


@pytest.mark.parametrize("branching", [1, 1.5, 2, np.inf])
@pytest.mark.slow
def test_random_tree(branching):
    a, b = (od.random_tree(9, branching, rng=np.random.default_rng(5)) for _ in range(2))
    assert a.parent == b.parent
    assert a.joints == b.joints
    assert all(p < i for i, p in a.edges)
    depth = max(len(a.path(i)) for i in range(1, 10))
    assert depth == {1: 9, 1.5: 5, 2: 4, np.inf: 1}[branching]
    assert od.random_tree(3, joints=[JOINTS["planar"]]).nv == 9
