"""Limbs that mirror each other get mirrored expressions: as many operations, of the same structure.

The structure of an expression is compared by a number for every operation, made from the numbers of its operands. All
constants have one number, and so have inputs of joints that mirror each other.
"""

from __future__ import annotations

from collections import Counter

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.text.emit import emit
from ocp_dyn.codegen.text.values import COMMUTATIVE, CONSTANT, INPUT, values_of
from ocp_dyn.functions.cheapest_equivalent import cheapest_equivalent
from ocp_dyn.joints import FloatingBase, Prismatic, Revolute
from ocp_dyn.mechanism.signs import with_equal_signs
from ocp_dyn.models import human
from tests.helpers import close

REFLECTION = np.diag([1.0, -1.0, 1.0])


def turn(rng):
    """A random rotation."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def body_inertia(rng):
    A = rng.normal(size=(3, 3))
    return np.trace(A @ A.T) * np.eye(3) - A @ A.T


def mirrored(rng, joints=3, scale=1.0, heavier=0.0, reversed_joints=(), about="", askew=True):
    """A floating base with two limbs that are mirror images, all turned at random. askew: every frame is turned too,
    left and right independently. about: coordinate axes in place of random ones."""
    builder = od.ModelBuilder("mirrored")
    world = turn(rng)
    builder.add_body("base", FloatingBase(), mass=9, com=scale * world @ [0.1, 0, 0.2], inertia=(2 * scale**2,) * 3)
    limb = [(rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), body_inertia(rng)) for _ in range(joints)]
    axes = [np.eye(3)["xyz".index(about[k % len(about)])] if about else axis for k, (axis, *_) in enumerate(limb)]
    for side, image in (("l", np.eye(3)), ("r", REFLECTION)):
        R0, o0 = np.eye(3), np.zeros(3)
        for k, (_, origin, com, inertia) in enumerate(limb):
            R = turn(rng) if askew else world
            placed = image @ origin
            a = image @ axes[k] * (np.linalg.det(image) if k not in reversed_joints or side == "l" else 1)
            builder.add_body(
                f"{k}_{side}", Revolute(R.T @ world @ a), f"{k - 1}_{side}" if k else "base", rotation=R0.T @ R,
                origin=scale * R0.T @ world @ (placed - o0), mass=1.0 + k + heavier * (side == "r"),
                com=scale * R.T @ world @ (image @ com),
                inertia=scale**2 * R.T @ world @ image @ inertia @ image @ world.T @ R,
            )  # fmt: skip
            R0, o0 = R, placed
    return builder.build()


def sides(names):
    """For every entry of q or qd its name without the side, and 1 for left, 2 for right, 0 for neither."""
    side = {"l": 1, "r": 2}
    found = {n: next(((n.replace(s, "*"), side[s[1]]) for s in ("_l", "_r") if s in n), (n, 0)) for n in names}
    return [found[n] for n in names]


def structures(f, model):
    """Counts of the operations that depend on the left limb only, and of those of the right limb, by structure."""
    values, stores = values_of(f, f.name())
    needed = {v for _, _, v in stores}
    for v in range(len(values) - 1, -1, -1):
        if v in needed and values[v].operation >= 0:
            needed |= set(values[v].arguments)
    numbers: dict[tuple, int] = {}
    structure, reach = [], []
    counts = (Counter(), Counter(), Counter(), Counter())
    for v, value in enumerate(values):
        if value.operation == INPUT:
            i, k = value.arguments
            label, side = sides(model.q_names if f.name_in(i) == "q" else model.qd_names)[k]
            key = ("input", i, label)
        elif value.operation == CONSTANT:
            key, side = ("constant",), 0
        else:
            operands = [structure[a] for a in value.arguments]
            key = (value.operation, *(sorted(operands) if value.operation in COMMUTATIVE else operands))
            side = int(np.bitwise_or.reduce([reach[a] for a in value.arguments]))
        structure.append(numbers.setdefault(key, len(numbers)))
        reach.append(side)
        if v in needed and value.operation >= 0:
            counts[side][structure[-1]] += 1
    return counts[1], counts[2]


def share_in_pairs(f, model):
    left, right = structures(f, model)
    return 2 * (left & right).total() / (left.total() + right.total())


@pytest.mark.parametrize(
    ("algorithm", "scale", "reversed_joints"),
    [
        (od.mass_matrix, 1e-3, ()),
        (od.mass_matrix, 1e3, (1,)),
        (od.inverse_dynamics, 1.0, (0, 2)),
        pytest.param(od.inverse_dynamics_derivatives, 1.0, (1,), marks=pytest.mark.slow),
        pytest.param(od.bias_force, 1e-3, (0, 1, 2), marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_trees_in_general_position(rng, algorithm, scale, reversed_joints):
    """The whole tree and all frames are turned at random, and joints turn the other way: nothing is hidden by it.

    Of two limbs the first is added to constants of the base, the second to the sum; so the counts are not quite equal.
    """
    model = mirrored(rng, scale=scale, reversed_joints=reversed_joints)
    f = od.function(algorithm, model)
    left, right = structures(f, model)
    assert abs(left.total() - right.total()) < 0.02 * left.total()
    assert share_in_pairs(f, model) > 0.98


@pytest.mark.parametrize("joints", [2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_counts_do_not_depend_on_frames(joints):
    """Legs about coordinate axes take as many operations, to a hundredth, if all frames of the file lie askew to the
    axes."""
    models = [mirrored(np.random.default_rng(7), joints, about="xzy", askew=askew) for askew in (False, True)]
    a, b = (emit(od.function(od.mass_matrix, model), "f").statements for model in models)
    assert abs(a - b) < 0.01 * a


@pytest.mark.parametrize("heavier", [0.0, 1e-6])
@pytest.mark.slow
def test_physics_stays(rng, heavier):
    """The masses of limbs that differ by a millionth stay different; all results are those of the model as given."""
    model = mirrored(rng, 2, heavier=heavier, reversed_joints=(1,))
    q, (qd, qdd) = model.random_q(rng), rng.normal(size=(2, model.nv))
    plain, reduced = (od.function(od.inverse_dynamics, model, reduce=reduce)(q, qd, qdd) for reduce in (False, True))
    close(reduced, plain, 1e-13)
    gravity = np.array(od.function(od.gravity_force, model)(q)).ravel()
    assert np.linalg.norm(gravity[:3]) == pytest.approx(9.81 * model.mass, rel=1e-13)


LEG = "x -y z y z"


def legs(left=LEG, right=LEG, kinds_left=Revolute, kinds_right=Revolute):
    """Two legs about the given axes; the second joint of each is of the given kind."""
    builder = od.ModelBuilder("legs")
    builder.add_body("base", FloatingBase(), mass=5, inertia=(1, 2, 2))
    for side, axes, kind in (("l", left.split(), kinds_left), ("r", right.split(), kinds_right)):
        y = 0.1 if side == "l" else -0.1
        for k, axis in enumerate(axes):
            builder.add_body(
                f"{k}_{side}", (kind if k == 1 else Revolute)(axis), f"{k - 1}_{side}" if k else "base",
                origin=(0.02, y, -0.3), mass=1 + k, com=(0.03, 2 * y, -0.1),
                inertia=np.array([[2, y, 0.3], [y, 3, -y], [0.3, -y, 4]]),
            )  # fmt: skip
    builder.add_frame("toe", "4_r", (0.1, 0, 0.2), od.rpy_matrix((0.1, 0.2, 0.3)))
    return builder.build()


@pytest.mark.parametrize("kind", [Revolute, Prismatic])
@pytest.mark.slow
def test_half_turns_change_no_number(rng, kind):
    """The right leg gets the axes of the left one, and no number of the model is rounded."""
    model = legs(LEG, "x y -z -y -z", kind, kind)
    found = with_equal_signs(model)
    joints = dict(zip(found.body_names, found.joints[1:], strict=True))
    for k in range(5):
        assert joints[f"{k}_r"] == joints[f"{k}_l"]
        assert joints[f"{k}_l"] == model.joints[model.body(f"{k}_l").body]
    assert sum(int(np.sum(X.E.full() < 0)) for X in found.X_tree) == 2
    reduced = cheapest_equivalent(model)
    assert reduced.joints[reduced.body("3_r").body] == reduced.joints[reduced.body("3_l").body]
    for a, b in zip(model.I, found.I, strict=True):
        assert np.array_equal(np.abs(a.matrix().full()), np.abs(b.matrix().full()))
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    for algorithm, arguments in ((od.inverse_dynamics, (q, qd, qdd)), (od.mass_matrix, (q,))):
        a, b = (od.function(algorithm, m, reduce=False)(*arguments) for m in (model, found))
        close(b, a, 1e-15)
    for frame in ("toe", "4_r", "base"):
        for a, b in zip(od.pose(model, frame, ca.DM(q)), od.pose(found, frame, ca.DM(q)), strict=True):
            close(b, a, 1e-15)
    close(od.pose(found, model.frame("toe"), ca.DM(q))[1], od.pose(model, "toe", ca.DM(q))[1], 1e-15)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(legs(), id="equal signs"),
        pytest.param(legs(LEG, "x -y z y -z"), id="a single joint"),
        pytest.param(legs(LEG, "x -y z -y -z"), id="two joints"),
        pytest.param(legs(LEG, "x y -z -y -z", Revolute, Prismatic), id="joints of other kinds"),
        pytest.param(legs(LEG, "x y -z -x -z"), id="other axes"),
    ],
)
def test_frames_stay_where_turning_does_not_pay(model):
    """A negative axis would only become negative entries of transforms; legs of other joints make no pair."""
    assert with_equal_signs(model) is model


def test_fingers_go_with_their_hands():
    """The left fingers are made equal, then the right hand is, with its fingers: all end with the axes of one
    finger."""
    builder = od.ModelBuilder("hands")
    builder.add_body("base", FloatingBase(), mass=5, inertia=(1, 2, 2))
    for side in "lr":
        for part, axes, opposite in (("arm", "xyxyxy", ""), ("a", "zyxyzy", ""), ("b", "zyxyzy", "xy")):
            for k, axis in enumerate(axes):
                turns = (axis in opposite and side == "l") + (side == "r" and axis in "yz")
                parent = f"{part}{k - 1}_{side}" if k else "base" if part == "arm" else f"arm5_{side}"
                joint = Revolute("-" * (turns % 2) + axis)
                builder.add_body(f"{part}{k}_{side}", joint, parent, origin=(0.1, 0, 0), mass=1)
    model = builder.build()
    joints = dict(zip(model.body_names, with_equal_signs(model).joints[1:], strict=True))
    for name in model.body_names[1:]:
        assert joints[name] == Revolute(("xyxyxy" if "arm" in name else "zyxyzy")[int(name[-3])])


def test_no_pairs_no_change(rng):
    model = od.random_tree(8, 2.0, [od.Revolute((0.2, 1, 0.3)), od.Spherical()], rng)
    assert with_equal_signs(model) is model


@pytest.mark.slow
def test_human_limbs():
    model = human()
    assert share_in_pairs(od.function(od.mass_matrix, model), model) > 0.99


@pytest.mark.parametrize("right", [LEG, "x -y -z y z"])
@pytest.mark.slow
def test_a_joint_that_turns_the_other_way_hides_no_pairs(right):
    packing = emit(od.function(od.inverse_dynamics, legs(LEG, right)), "f", pack=True).packing
    assert packing is not None
    assert packing.statements < 0.6 * packing.operations


@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
@pytest.mark.slow
def test_talos_in_pairs():
    """A gripper of TALOS hangs on two quarter turns of 1.57079632679: they leave no entries of 1e-11.

    It turns the other way than its twin, which exchanges sums and differences; shapes without signs are found in pairs.
    """
    model = od.robots.load("talos")
    for X in cheapest_equivalent(model).X_tree:
        assert np.abs(np.array(X.E.nonzeros())).min() > 1e-9
    for algorithm, least in ((od.forward_dynamics, 0.83), (od.mass_matrix, 0.86)):
        packing = emit(od.function(algorithm, model), "f", pack=True).packing
        assert packing is not None
        assert packing.statements < (1 - least / 2) * packing.operations
