"""Analytic derivatives of constrained dynamics and impacts: against AD of the plain functions, on every constraint."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion import rows
from ocp_dyn.constrained_motion.contact_frames import Motions
from ocp_dyn.functions.description import describe
from tests.dynamics.test_passive import BOTH
from tests.dynamics.test_passive import MODEL as PASSIVE
from tests.helpers import State, add_random, close, evaluate, random_rotation, symbols, tree

TREES = ("forest", "screws")
"""Joints whose S is constant and whose S is not, quaternions, and branches."""

DERIVATIVE = 1e-9
"""AD of the solves and the implicit function theorem round differently: the relative error is cond(H) eps in both."""


def pose(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random_rotation(rng), rng.normal(size=3)


def loop(rng, axes, **options) -> od.Loop:
    return od.Loop("b2", "b4", axes, pose(rng), pose(rng), **options)


def swing(q, t):
    return ca.vertcat(q[0] - ca.sin(3 * t), q[1] * t - q[0] ** 2)


OBLIQUE = ((0.1, -0.4, 0.3, 0.5, 0.2, -0.7), (0, 0, 1, 0, 0, 0), (0, 2, 0, 0, 0, 0))
KINDS = {
    "contact": lambda rng: od.Contact("b3", (0.1, 0.2, -0.3), reference=pose(rng)),
    "contact_xz": lambda rng: od.Contact("b4", (0.1, 0, 0.2), "xz", reference=pose(rng)),
    "contact_oblique": lambda rng: od.Contact("b2", axes=((1, 2, 3), (0, -1, 1)), reference=pose(rng)),
    "loop_ball": lambda rng: loop(rng, "ball"),
    "loop_fixed": lambda rng: loop(rng, "fixed"),
    "loop_prismatic": lambda rng: loop(rng, "prismatic"),
    "loop_revolute": lambda rng: loop(rng, "revolute"),
    "loop_cylindrical": lambda rng: loop(rng, "cylindrical"),
    "loop_turning": lambda rng: loop(rng, ((1, 2, 0, 0.3, 0, 0), (0, 1, 1, 0, 0, 0.2)), turning=True),
    "loop_oblique": lambda rng: loop(rng, OBLIQUE),
    "loop_oblique_sliding": lambda rng: loop(rng, OBLIQUE, sliding=True),
    "sphere": lambda rng: od.RollingContact("b3", 0.3, (0.1, 0.2, 0.1), (0.1, 0.2, 0.9)),
    "cylinder": lambda rng: od.RollingContact("b3", 0.3, (0.1, 0.2, 0.1), (0.1, 0.2, 0.9), axis=(0.3, 1, 0.2)),
    "planar sole": lambda rng: od.Contact("b3", (0.1, 0.2, -0.3), reference=pose(rng), planar=True),
    "planar edge": lambda rng: od.RollingContact("b3", 0.3, (0.1, 0, 0.1), (0.1, 0, 0.9), axis="y", planar=True),
    "custom": lambda rng: od.CustomConstraint(lambda q: ca.vertcat(ca.sin(q[0]) * q[1], q[2] + q[1] ** 3), 2),
}
PAIRS = [(key, kind) for t, key in enumerate(TREES) for k, kind in enumerate(KINDS)
         if key == "screws" or (t + k) % 4 == 0]  # fmt: skip
"""Rows of every kind on one tree; each other tree has a quarter of them, so that all trees together have all."""


def equal(results, expected) -> None:
    """Relative to the largest entry: an ill-conditioned H makes all of them lose alike."""
    for a, b in zip(results, expected, strict=True):
        a, b = np.atleast_2d(DM(a).full()), np.atleast_2d(DM(b).full())
        scale = 1 + np.abs(b).max(initial=0)
        close(a / scale, b / scale, DERIVATIVE)


def by_ad(algorithm, model, constraints, s: State, inputs: str = "q qd tau", *rest, **options) -> list[DM]:
    """Derivatives by AD, output by output, along integrate(q, delta) at delta = 0, by qd, and by tau."""
    q, qd, tau = symbols(model)
    delta = SX.sym("delta", model.nv)
    extra = [tau] if "tau" in inputs else []
    outputs = algorithm(model, constraints, model.integrate(q, delta), qd, *extra, *rest, **options)
    jacobians = [ca.jacobian(y, z) for y in outputs for z in (delta, qd, *extra)]
    numbers = [s.q, s.qd, *([s.tau] if extra else []), np.zeros(model.nv)]
    return list(ca.Function("f", [q, qd, *extra, delta], jacobians)(*numbers))


# Rows, kind by kind


@pytest.mark.parametrize(("key", "kind"), PAIRS)
@pytest.mark.slow
def test_rows_of_every_kind(rng, key, kind):
    """phi, G qd, G qdd - gamma and G' lam, each by AD of the constraint's own functions; recursion and fallback."""
    model, one = tree(key), KINDS[kind](rng)
    s = State.of(model, rng)
    q, qd, qdd = symbols(model)
    lam, delta = SX.sym("lam", len(one.rows)), SX.sym("delta", model.nv)
    moved = model.integrate(q, delta)
    G = one.jacobian(model, moved)
    plain = {
        "position": one.position(model, moved),
        "velocity": G @ qd,
        "acceleration": G @ qdd - one.hessian(model, moved, qd),
        "force": G.T @ lam,
    }
    f = ca.Function(
        "f", [q, qd, qdd, lam, delta], [ca.jacobian(y, ca.vertcat(delta, qd)) for y in plain.values()]
    )  # fmt: skip
    forces = rng.normal(size=len(one.rows))
    expected = dict(zip(plain, f(s.q, s.qd, s.qdd, forces, np.zeros(model.nv)), strict=True))
    at = Motions(model, DM(s.q), DM(s.qd), DM(s.qdd))
    found = {
        "position": rows.position_derivatives(one, at),
        "velocity": rows.velocity_derivatives(one, at),
        "acceleration": rows.acceleration_derivatives(one, at),
    }
    for name, derivative in found.items():
        close(derivative, expected[name], DERIVATIVE)
    close(rows.force_derivatives(one, at, DM(forces)), expected["force"][:, : model.nv], DERIVATIVE)


class Own(od.Constraint):
    """A constraint of no library, with the protocol's methods only: the height of a point."""

    rows = ("height",)

    def position(self, model, q):
        return od.point_position(model, "b3", q, (0.1, 0.2, 0.3))[2]

    def jacobian(self, model, q):
        return od.point_jacobian(model, "b3", q, (0.1, 0.2, 0.3))[2, :]

    def hessian(self, model, q, qd):
        return -od.point_acceleration(model, "b3", q, qd, point=(0.1, 0.2, 0.3))[2]


@pytest.mark.slow
def test_a_constraint_without_recursions_falls_back_on_ad_of_its_rows(rng):
    model = tree("forest")
    s = State.of(model, rng)
    contact = od.Contact("b3", (0.1, 0.2, 0.3), "z")
    ours, known = (evaluate(od.constrained_dynamics_derivatives, model, c, args=(s.q, s.qd, s.tau))
                   for c in (Own(), contact))  # fmt: skip
    equal(ours, known)


STABILIZED = {
    "loop": lambda rng: (KINDS["loop_fixed"](rng),),
    "others": lambda rng: (
        KINDS["contact"](rng),
        od.LockedJoint.of(tree("forest"), "b2_joint", tree("forest").random_q(rng)),
        od.JointCoupling("b3_joint", "b6_joint", 0.7, 0.1, lambda x: ca.sin(x) + x),
        od.CustomConstraint(swing, 2, "swing", timed=True),
    ),
}


@pytest.mark.parametrize("kinds", STABILIZED)
@pytest.mark.slow
def test_baumgarte_adds_the_errors(rng, kinds):
    """Derivatives for a loop; for a contact, a lock of a quaternion, a gear and a constraint on time."""
    model = tree("forest")
    s = State.of(model, rng)
    constraints, options = tuple(od.Baumgarte(one, 0.3) for one in STABILIZED[kinds](rng)), {"t": 0.37}
    found = evaluate(od.constrained_dynamics_derivatives, model, constraints, args=(s.q, s.qd, s.tau), **options)
    equal(found, by_ad(od.constrained_dynamics, model, constraints, s, **options))


# Constrained dynamics and impacts


@pytest.mark.parametrize("case", ["mixed-loop", "spherical-rolling", "planar-mixed"])
@pytest.mark.slow
def test_derivatives_are_those_of_ad(rng, case):
    key, name = case.split("-")
    model = tree(key)
    s = State.of(model, rng)
    constraints = {
        "loop": (KINDS["loop_oblique"](rng),),
        "rolling": (KINDS["sphere"](rng),),
        "mixed": (
            od.Baumgarte(KINDS["contact_xz"](rng), 0.2),
            KINDS["loop_oblique_sliding"](rng),
            KINDS["custom"](rng),
        ),
    }[name]
    args = (s.q, s.qd, s.tau)
    equal(
        evaluate(od.constrained_dynamics_derivatives, model, constraints, args=args),
        by_ad(od.constrained_dynamics, model, constraints, s),
    )
    equal(
        evaluate(od.impact_derivatives, model, constraints, args=args[:2], e=0.3),
        by_ad(od.impact, model, constraints, s, "q qd", e=0.3),
    )


@pytest.mark.slow
def test_on_a_random_tree_with_wrenches():
    """A six-row contact, a joint held and a gear, with wrenches that stay in the world."""
    rng = np.random.default_rng(3)
    builder = od.ModelBuilder()
    add_random(builder, "b0", od.FloatingBase("euler_zyx"), "world", rng)
    for k in range(1, 7):
        add_random(builder, f"b{k}", od.Revolute(rng.normal(size=3)), f"b{rng.integers(k)}", rng)
    model = builder.build()
    s = State.of(model, rng)
    constraints = (
        od.Contact("b6", (0.1, 0.2, 0.3)),
        od.LockedJoint("b1_joint"),
        od.JointCoupling("b2_joint", "b3_joint", -0.5),
    )
    external, f_ext = ("b2", "b6"), rng.normal(size=(6, 2))
    found = evaluate(
        od.constrained_dynamics_derivatives,
        model,
        constraints,
        args=(s.q, s.qd, s.tau, f_ext),
        loads=od.Loads(external=external),
    )
    equal(
        found,
        by_ad(od.constrained_dynamics, model, constraints, s, "q qd tau", DM(f_ext), loads=od.Loads(external=external)),
    )


@pytest.mark.slow
def test_with_springs_losses_and_armatures(rng):
    s = State.of(PASSIVE, rng)
    foot = od.Contact("b6", axes="xz")
    found = evaluate(od.constrained_dynamics_derivatives, PASSIVE, foot, args=(s.q, s.qd, s.tau), loads=BOTH)
    equal(found, by_ad(od.constrained_dynamics, PASSIVE, foot, s, loads=BOTH))
    found = evaluate(od.impact_derivatives, PASSIVE, foot, args=(s.q, s.qd), loads=od.Loads(armature=True))
    equal(found, by_ad(od.impact, PASSIVE, foot, s, "q qd", loads=od.Loads(armature=True)))


@pytest.mark.slow
def test_restitution_of_every_kind(rng):
    """One number, one per row, an input; constraints on time."""
    model = tree("planar")
    s = State.of(model, rng)
    constraints = (od.Contact("b3", axes="xy"), od.CustomConstraint(swing, 2, "swing", timed=True))
    e = (0.1, 0.9, 0.0, 1.0)
    found = evaluate(od.impact_derivatives, model, constraints, args=(s.q, s.qd), e=e, t=0.2)
    equal(found, by_ad(od.impact, model, constraints, s, "q qd", e=e, t=0.2))
    by_input = od.function(od.impact_derivatives, model, constraints, e="rows", t="input")
    equal(by_input(s.q, s.qd, e, 0.2), found)
    one = od.function(od.impact_derivatives, model, constraints, e="input", t=0.2)(s.q, s.qd, 0.5)
    equal(one, by_ad(od.impact, model, constraints, s, "q qd", e=0.5, t=0.2))
    timed = od.function(od.constrained_dynamics_derivatives, model, constraints, t="input")(s.q, s.qd, s.tau, 0.2)
    equal(timed, by_ad(od.constrained_dynamics, model, constraints, s, t=0.2))


@pytest.mark.slow
def test_redundant_rows(rng):
    """A flat foot held at four points, twelve rows of rank six: the one qdd, and the forces "range" chooses."""
    model = tree("floating")
    s = State.of(model, rng)
    s.qd = od.assemble_qd(model, od.Contact("b3"), s.q, s.qd)  # rows agree with each other on states they allow
    corners = od.point_contacts("b3", [(0, 0, 0), (0.2, 0, 0), (0, 0.1, 0), (0.2, 0.1, 0)])
    found = evaluate(od.constrained_dynamics_derivatives, model, corners, args=(s.q, s.qd, s.tau))
    whole = evaluate(od.constrained_dynamics_derivatives, model, od.Contact("b3"), args=(s.q, s.qd, s.tau))
    equal(found[2:3], whole[2:3])
    equal([found[0] @ found[2]], [whole[0] @ whole[2]])  # along motions that the foot allows
    equal(found, by_ad(od.constrained_dynamics, model, corners, s))
    dependent = ~np.any(np.abs(found[5]) > 1e-9, axis=1)
    assert dependent.sum() == 6


@pytest.mark.slow
def test_parameters_of_the_model_may_be_inputs(rng):
    """By recursion and by the fallback: at the model's own numbers they change nothing."""
    model = tree("floating")
    s = State.of(model, rng)
    constraints, args = (od.Contact("b3", (0.1, 0, 0), "xz"), Own()), (s.q, s.qd, s.tau)
    names = ("gravity", "origin:b3_joint", "point:b3")
    symbolic = od.function(od.constrained_dynamics_derivatives, model, constraints, parameters=names)
    found = symbolic(*args, model.gravity, model.X_tree[3].r, (0.1, 0, 0))
    equal(found, evaluate(od.constrained_dynamics_derivatives, model, constraints, args=args))


# Types, structure, errors


@pytest.mark.slow
def test_finite_at_neutral_and_rest():
    neutral = PASSIVE.neutral()
    rest = np.zeros(PASSIVE.nv)
    constraints = (od.Contact("b6", axes="xz").at(PASSIVE, neutral), od.LockedJoint.of(PASSIVE, "b1_joint", neutral))
    stabilized = tuple(od.Baumgarte(c, 0.1) for c in constraints)
    results = evaluate(od.constrained_dynamics_derivatives, PASSIVE, stabilized, args=(neutral, rest, rest), loads=BOTH)
    assert all(np.isfinite(x).all() for x in results)
    assert all(
        np.isfinite(x).all() for x in evaluate(od.impact_derivatives, PASSIVE, constraints, args=(neutral, rest))
    )


@pytest.mark.slow
def test_moving_the_whole_mechanism_changes_nothing(rng):
    """Columns of the base's translation vanish in dFDc; a column outside a contact's path is structurally zero."""
    model = tree("floating")
    feet = (od.Contact("b3"),)
    f = od.function(od.constrained_dynamics_derivatives, model, feet)
    pattern = DM(f.sparsity_out("dqdd_dq"), 1).full()
    assert not pattern[:, :3].any()
    assert pattern[:, 3:6].any()
    at = Motions(model, *(SX.sym(n, k) for n, k in (("q", model.nq), ("qd", model.nv), ("qdd", model.nv))))
    nv, off = model.nv, model.qd_slice("b2_joint")
    by_q_and_qd = DM(rows.acceleration_derivatives(feet[0], at).sparsity(), 1).full()
    outside = np.r_[np.arange(nv)[off], nv + np.arange(nv)[off]]
    assert not by_q_and_qd[:, outside].any()


@pytest.mark.slow
def test_registered_names_and_labels():
    model = tree("chain")
    feet = (od.Contact("b3", axes="xy"), od.Contact("b2", axes="z"))
    f = od.function(od.constrained_dynamics_derivatives, model, feet)
    assert f.name() == "dFDc"
    assert f.name_out() == ["dqdd_dq", "dqdd_dqd", "dqdd_dtau", "dlam_dq", "dlam_dqd", "dlam_dtau"]
    assert [f.size_out(k) for k in (0, 5)] == [(model.nv, model.nv), (3, model.nv)]
    labels = describe(f).labels["dlam_dq"]
    assert (labels.rows, labels.columns) == (od.constraint_rows(feet), model.qd_names)
    g = od.function(od.impact_derivatives, model, feet)
    assert (g.name(), g.name_out()) == ("dimpact", ["dqd_plus_dq", "dqd_plus_dqd", "dLam_dq", "dLam_dqd"])


def test_errors(rng):
    model = tree("chain")
    s = State.of(model, rng)
    args = [DM(x) for x in (s.q, s.qd, s.tau)]
    derive = od.constrained_dynamics_derivatives
    with pytest.raises(ValueError, match="constraint set is empty"):
        derive(model, (), *args)
    with pytest.raises(TypeError, match="constraints must be a tuple"):
        derive(model, "b3", *args)
    with pytest.raises(ValueError, match="has no reference pose"):
        derive(model, od.Baumgarte(od.Contact("b3"), 0.1), *args)
    with pytest.raises(ValueError, match="depends on time and none is given"):
        derive(model, od.CustomConstraint(swing, 2, timed=True), *args)
    with pytest.raises(ValueError, match="but no f_ext"):
        derive(model, od.Contact("b3", axes="z"), *args, loads=od.Loads(external=("b2",)))
    with pytest.raises(ValueError, match=r"restitution e must lie in \[0, 1\]"):
        od.impact_derivatives(model, od.Contact("b3", axes="z"), *args[:2], 1.5)
    with pytest.raises(ValueError, match="qd must have"):
        derive(model, od.Contact("b3", axes="z"), args[0], args[1][:2], args[2])
