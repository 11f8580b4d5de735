"""Rows that depend on others, or are zero but for rounding: which are left out, in every solver and derivative."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn._base.rounding import running_error
from ocp_dyn._base.types import ROUNDING
from ocp_dyn.constrained_motion import SOLVERS
from ocp_dyn.constrained_motion.groups import groups_of
from ocp_dyn.constrained_motion.independent_rows import DEPENDENT, OrthogonalRows
from ocp_dyn.constrained_motion.reflections import Reflections
from ocp_dyn.constraints import constraint_magnitudes
from ocp_dyn.spatial_algebra.semidefinite import Semidefinite
from scripts.checks.redundant.comparison import TOLERANCE, Reference, column, compare, number
from scripts.checks.redundant.sets import FAMILIES, along_the_axis, closed_chain, standing
from tests.helpers import close, mostly_slow

SKIPPING = [solver for solver in SOLVERS if solver != "null"]


def rod():
    """A body on a tilted axis, held along that axis at a point off it: the row is zero but for rounding."""
    axis = (0.36, 0.48, 0.8)
    builder = od.ModelBuilder("rod")
    builder.add_body("rod", od.Revolute(axis), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    return builder.build(), (od.Contact("rod", (0.3, 0, -1), axes=[axis]),)


@pytest.mark.parametrize("solver", SKIPPING)
def test_a_row_that_is_rounding_does_not_hold(solver):
    model, held = rod()
    qdd, lam, left = od.constrained_dynamics(model, held, DM(0.51), DM(1), DM(0), solver=solver, residual=True)
    close(qdd, od.forward_dynamics(model, DM(0.51), DM(1), DM(0)))
    close(qdd, [-4.53697], 1e-5)
    assert abs(float(lam)) < 1e-3
    close(left, [0.0])


@pytest.mark.parametrize("mass", [1e-24, 1e24])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.slow
def test_masses_of_any_size_are_held(solver, mass):
    """Forces of the ground are those of masses of one kilogram, times the mass."""
    model = od.models.pendulum(3)
    held = (od.Contact(model.body_names[-1], (0, 0, -1), "xz"),)
    q, qd, tau = DM([0.3, 0.5, -0.7]), DM([1.0, -0.5, 0.2]), DM([0.1, 2.0, -1.0])
    known = od.constrained_dynamics(model, held, q, qd, tau)
    qdd, lam = od.constrained_dynamics(model.scale(1.0, mass), held, q, qd, mass * tau, solver=solver)
    close(qdd, known[0], 1e-9)
    close(lam / mass, known[1], 1e-9)


def unlucky_body():
    """Nine rows on one body."""
    builder = od.ModelBuilder("body")
    builder.add_body("body", od.FloatingBase(), mass=5, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.4))
    near = od.Contact("body", (0, 0, 0), [(1, 0, 0), (1, 1e-4, 0), (0, 1, 0)])
    return builder.build(), (near, od.Contact("body", (0.3, 0.1, 0), "xyz"), od.Contact("body", (0, 0.4, 0), "xyz"))


def unlucky_loop():
    """Three rows between two branches."""
    builder = od.ModelBuilder("branches")
    for name in ("trunk", "l", "r"):
        joint, parent = (od.FloatingBase(), "world") if name == "trunk" else (od.Spherical(), "trunk")
        builder.add_body(name, joint, parent, mass=2, com=(0.1, 0, -0.5), inertia=(0.2, 0.3, 0.4))
    axes = [(0, 0, 0, 1, 0, 0), (0, 0, 0, 1, 1e-4, 0), (0, 0, 0, 0, 1, 0)]
    at = (np.eye(3), (0.3, 0.2, -1))
    return builder.build(), (od.Loop("l", "r", axes, at, at),)


@pytest.mark.parametrize("make", [unlucky_body, unlucky_loop])
@pytest.mark.parametrize("solver", ["range", "kkt", "aba", "proximal"])
@pytest.mark.slow
def test_rows_in_an_unlucky_order_lose_few_digits(solver, make):
    """The second row is the first but for an angle of 1e-4, the third would have served better: errors stay those of
    the rows' condition, 1e4, not of its square."""
    (model, held), rng = make(), np.random.default_rng(0)
    for _ in range(2):
        q, tau = DM(model.random_q(rng)), DM(10 * rng.normal(size=model.nv))
        left = od.constrained_dynamics(model, held, q, DM(model.nv, 1), tau, solver=solver, residual=True)[2]
        assert np.max(np.abs(left.full())) < 2e-9


def test_the_null_space_of_a_row_that_is_rounding_is_no_number():
    model, held = rod()
    qdd, lam = od.constrained_dynamics(model, held, DM(0.51), DM(1), DM(0), solver="null")
    assert np.isnan(float(qdd))
    assert np.isnan(float(lam))


LONG = ("four-point feet", "random contacts", "four-point feet, straight legs")
QUICK = [k for k, name in enumerate(FAMILIES) if name not in LONG
         and (not name.startswith("planar") or name.endswith(("ball", "prismatic")))]  # fmt: skip
"""Families of the quick run: chains of one kind with every closure, of the other with two."""


@mostly_slow("seed", range(len(FAMILIES)), QUICK, ids=list(FAMILIES))
@pytest.mark.slow
def test_redundant_sets_equal_a_dense_reference(seed):
    """One set of each kind, by the solvers in turn; `python -m scripts.checks.redundant` takes 2,000 of them."""
    _, errors = compare(seed, (SKIPPING[seed % len(SKIPPING)],))
    assert errors is None or max(errors.values()) < TOLERANCE, errors


def parallelogram():
    """A parallelogram of a meter in a tilted plane, on a root that floats; the rotation of its plane and its sides."""
    n = np.array((1, 2, 3)) / np.sqrt(14)
    x = np.cross(n, (0.3, 1.0, -0.2))
    x /= np.linalg.norm(x)
    y = np.cross(n, x)
    builder = od.ModelBuilder("parallelogram")
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=np.eye(3))
    for name, parent, place in (("crank", "base", 0 * x), ("rocker", "base", x), ("coupler", "crank", y)):
        builder.add_body(name, od.Revolute(n), parent, mass=1, com=y / 2, inertia=np.eye(3) / 12, origin=place)
    return builder.build(), np.column_stack([x, y, n]), x, y


@pytest.mark.slow
def test_rows_do_not_feel_how_far_the_world_is():
    """A parallelogram of a meter whose root stands far away: levers are sums along the bodies, not differences."""
    model, R, x, y = parallelogram()
    loop = (od.Loop("coupler", "rocker", "revolute", (R, x), (R, y)), od.LockedJoint.of(model, model.joint_names[0]))
    near = np.array((0, 0, 0, 0.1, -0.5, 0.3, 0.8, 0.4, 0.4, -0.4))
    away = near + 1e8 * np.array((0.6, -0.3, 0.7, *[0.0] * 7))
    qd = np.array((*[0.0] * 6, 1.0, 1.0, -1.0))
    tau = DM([0.0] * 6 + [1.0, 2.0, -1.0])
    for solver in SKIPPING:
        expected, got = (
            column(od.constrained_dynamics(model, loop, DM(q), DM(qd), tau, solver=solver)[0]) for q in (near, away)
        )
        close(got, expected, 1e-9)
        assert abs(got[6]) > 0.1
    one, two = (number(od.point_jacobian_6d(model, "coupler", DM(q), (0.1, 0.2, 0.3))) for q in (near, away))
    close(two, one, 1e-14)


@pytest.mark.slow
def test_a_loop_that_has_come_a_little_open_locks_nothing():
    """Apart by d, the row across the plane has entries of size d for the motion of the root: no constraint of its
    own."""
    model, R, x, y = parallelogram()
    loop = (od.Loop("coupler", "rocker", "revolute", (R, x), (R, y)),)
    held = (*loop, od.Contact("coupler", (0.1, 0.2, 0.3)))
    q, qd, tau = (0, 0, 0, 0.1, -0.5, 0.3, 0.8, 0.4, 0.4, -0.4), (0.3, 0.1, 0.2, 1, -1, 0.5, 1, 1, -1), np.arange(9.0)
    opened = [DM(q) + DM([0] * 8 + [d, 0]) for d in (0.0, 1e-11, 1e-9, 1e-7)]

    def compare_all(found):
        for d, got in zip((1e-11, 1e-9, 1e-7), found[1:], strict=True):
            assert np.max(np.abs(got - found[0])) < (10 * d + 1e-11) * (1 + np.max(np.abs(found[0]))), d

    for solver in SKIPPING:
        compare_all(
            [column(od.constrained_dynamics(model, loop, p, DM(qd), DM(tau), solver=solver)[0]) for p in opened]
        )
    compare_all([column(od.impact(model, loop, p, DM(tau))[0]) for p in opened])
    nothing = od.constrained_dynamics(model, loop, opened[1], DM(qd), DM(tau), solver="null")[0]
    assert np.isnan(nothing.full()).all()
    found = [od.constrained_inverse_dynamics(model, held, p, DM(9, 1), DM(tau)) for p in opened]
    compare_all([column(x) for _, _, x in found])
    compare_all([column(tau) for tau, _, _ in found])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_the_null_space_is_right_or_no_number(seed):
    """Six rows hold a free body at six points; a seventh row, or one that repeats, gives nan."""
    rng = np.random.default_rng(seed)
    builder = od.ModelBuilder("body")
    builder.add_body("body", od.FloatingBase(), mass=2, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.4))
    builder.add_body("arm", od.Revolute((1, 2, 3)), "body", mass=1, inertia=(0.1, 0.2, 0.2), origin=(0, 0.3, 0))
    model = builder.build()
    points = [od.Contact("body", tuple(rng.normal(size=3)), [tuple(rng.normal(size=3))]) for _ in range(6)]
    q, qd, tau = DM(model.random_q(rng)), DM(7, 1), DM(rng.normal(size=7))
    qdd, _ = od.constrained_dynamics(model, points, q, qd, tau, solver="null")
    close(qdd, od.constrained_dynamics(model, points, q, qd, tau, solver="proximal")[0], 1e-9)
    whole = (od.Contact("body"), od.Contact("body", tuple(rng.normal(size=3)), "z"))
    assert np.isnan(od.constrained_dynamics(model, whole, q, qd, tau, solver="null")[0].full()).all()


@pytest.mark.parametrize("kind", ["planar", "spherical"])
@pytest.mark.slow
def test_derivatives_leave_the_same_rows_out(kind, rng):
    """d qdd/d tau is the mobility that the independent rows leave; d qd_plus/d qd the projection."""
    model, loop, q = closed_chain(rng, kind, "revolute")
    reference = Reference.of(model, loop, q)
    assert reference.rank < 5
    free = reference.V[:, reference.rank :]
    Z = np.linalg.solve(reference.L.T, free)
    args = (DM(q), DM(reference.free(rng)), DM(rng.normal(size=model.nv)))
    found = od.constrained_dynamics_derivatives(model, loop, *args)
    close(found[2], Z @ Z.T, 1e-9)
    assert all(np.max(np.abs(d.full())) < 1e6 for d in found)
    # along the motion: d qdd/d qd against differences of qdd, which keeps its rank at other velocities
    by_qd = ca.DM(found[1]).full() @ reference.free(rng)
    close(od.impact_derivatives(model, loop, *args[:2])[1], Z @ free.T @ reference.L.T, 1e-9)
    assert np.all(np.isfinite(by_qd))
    qdd = od.function(od.constrained_dynamics, model, loop)
    close(qdd.jacobian()(*args, 0, 0)[2], Z @ Z.T, 1e-9)  # by automatic differentiation


@pytest.mark.slow
def test_directions_that_do_not_matter_lock_nothing(rng):
    """A planar four-bar closed by the revolute joint of its plane keeps the one motion it has, whatever the axis."""
    for axis in ((1, 2, 3), (0, 0, 1), (0.6, -0.3, 0.2)):
        n = np.array(axis) / np.linalg.norm(axis)
        x = np.cross(n, (0.3, 1.0, -0.2))
        x /= np.linalg.norm(x)
        y = np.cross(n, x)
        builder = od.ModelBuilder("four_bar")
        builder.add_body("crank", od.Revolute(n), mass=1, com=x / 2, inertia=np.eye(3) / 12)
        builder.add_body("coupler", od.Revolute(n), "crank", mass=1, com=y / 2, inertia=np.eye(3) / 12, origin=x)
        builder.add_body("rocker", od.Revolute(n), "coupler", mass=1, com=-x / 2, inertia=np.eye(3) / 12, origin=y)
        builder.add_frame("pivot", "world", y)
        model = builder.build()
        R = np.column_stack([x, y, n])
        loop = (od.Loop("pivot", "rocker", "revolute", (R, (0, 0, 0)), (R, -x)),)
        f = od.function(od.constrained_dynamics, model, loop, residual=True)
        qdd, lam, left = f(np.zeros(3), np.zeros(3), [1.0, 0, 0])
        # a parallelogram: crank and rocker turn together, the coupler moves with its end
        inertia = 1 / 12 + 1 / 4 + 1 + 1 / 12 + 1 / 4
        weight = -float(od.gravity_force(model, DM(3, 1)).T @ DM([1.0, -1.0, 1.0]))
        close(qdd, (1.0 + weight) / inertia * np.array([1.0, -1.0, 1.0]), 1e-9)
        close(left, np.zeros(5), 1e-9)
        assert np.max(np.abs(lam.full())) < 1e3


def test_impact_tells_what_is_left_over():
    """Two rows that ask for different speeds of one point: the second is left out, and the residual says so."""
    model = od.models.pendulum(1)
    body = model.body_names[-1]
    twice = (od.Contact(body, (0, 0, -1.0), "x"), od.Contact(body, (0, 0, -0.5), "x"))
    qd_plus, _, left = od.impact(model, twice, DM(0.2), DM(1.0), [0.0, 1.0], residual=True)
    close(qd_plus, [0.0])
    G, before = od.constraint_jacobian(model, twice, DM(0.2)), DM(1.0)
    close(left, G @ qd_plus + DM([0.0, 1.0]) * (G @ before))
    assert abs(float(left[1])) > 0.1


@pytest.mark.slow
def test_rank_counts_rows_before_they_cancel(rng):
    model, held = rod()
    assert od.constraint_rank(model, held, [0.51]) == 0
    for family, rank in (("planar chain, revolute", 2), ("planar chain, fixed", 3)):
        found = FAMILIES[family](rng)
        assert od.constraint_rank(*found) <= rank
    legs, soles, q = standing(rng, straight=False)
    assert od.constraint_rank(legs, soles, q) == 12
    assert od.is_fully_actuated(legs, soles, q)
    model, held, q = along_the_axis(rng)
    assert od.constraint_rank(model, held, q) == Reference.of(model, held, q).rank


# Magnitudes


KINDS = {
    "six rows": lambda: od.Contact("b2", (0.1, 0.2, 0.3)),
    "beyond a slide": lambda: od.Contact("slide", (0.1, 0.2, 0.3)),
    "directions": lambda: od.Contact("b2", (0.1, 0.2, 0.3), [(1, 2, 3), (0, 1, -1)]),
    "far directions": lambda: od.Contact("b2", (3, 2, -4), [(1, 2, 3), (0, 1, -1)]),
    "frame": lambda: od.Contact("tool"),
    "loop": lambda: od.Loop("b1", "b3", "fixed", successor_pose=(np.eye(3), (0.1, -0.2, 0.3))),
    "loop, explicit": lambda: od.Loop("b1", "b3", [(1, 2, 3, -1, 0.5, 2), (0, 0, 4, 0, 0, 0)]),
    "loop, sliding": lambda: od.Loop("b1", "b3", "cylindrical"),
    "loop, back": lambda: od.Loop("b3", "b1", "fixed", (np.eye(3), (0.3, 0.2, -0.1))),
    "loop, sliding back": lambda: od.Loop("b3", "b1", "cylindrical", successor_pose=(np.eye(3), (2, -3, 2))),
    "sphere": lambda: od.RollingContact("b2", 0.3, (0.1, 0, 0)),
    "cylinder": lambda: od.RollingContact("b2", 0.3, (0.1, 0, 0), (0, 0.6, 0.8), axis=(1, 0, 0)),
    "function": lambda: od.CustomConstraint(lambda q: ca.vertcat(q[0] * q[1], ca.sin(q[2]) - q[3] ** 2), 2, "f"),
    "coupling": lambda: od.JointCoupling("b1_joint", "b2_joint", -2.5),
    "lock": lambda: od.LockedJoint("b2_joint"),
    "stabilized": lambda: od.Baumgarte(od.Contact("b2", axes="xz").at(chain(), np.zeros(5)), 0.1),
}


def chain(scale=1.0):
    builder = od.ModelBuilder("chain")
    axes = ((0.36, 0.48, 0.8), (1, 0, 0), (0, 0.6, 0.8), (0.6, 0, -0.8))
    for k, axis in enumerate(axes):
        builder.add_body(
            f"b{k}", od.Revolute(axis), f"b{k - 1}" if k else "world", joint_name=f"b{k}_joint", mass=1,
            com=(0.1, 0.2, 0), inertia=(0.1, 0.1, 0.1), origin=np.array((0.3, -0.2, 0.5)) * scale,
        )  # fmt: skip
    builder.add_body("slide", od.Prismatic("x"), "b3", mass=1)
    builder.add_frame("tool", "b2", (2, -1, 3))
    return builder.build()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_magnitudes_bound_the_rows_and_are_not_far_above(kind, rng):
    """|G| <= magnitudes, reached within a small factor at some configuration, and zero where G is."""
    model, constraint = chain(), (KINDS[kind](),)
    largest = np.zeros((len(constraint[0].rows), model.nv))
    q = SX.sym("q", model.nq)
    rows = [od.constraint_jacobian(model, constraint, q), constraint_magnitudes(model, constraint, q)]
    both = ca.Function("both", [q], rows)
    for _ in range(60):
        G, M = (number(x) for x in both(rng.uniform(-3, 3, model.nq)))
        assert np.all(np.abs(G) <= M * (1 + 1e-12))
        largest = np.maximum(largest, np.abs(G) / np.where(M > 0, M, 1.0))
    assert np.all(largest[M == 0] == 0)
    assert np.all(np.max(largest, axis=1) > 0.1)  # by the dofs that the ends of a loop do not share


def test_magnitudes_do_not_cancel():
    """d/dq0 of sin(q0) - sin(q0 + q1) vanishes at q1 = 0, made from cosines; a stabilized row is made as it is
    itself."""
    model, q = od.models.pendulum(2), DM([0.7, 0.0])
    row = od.CustomConstraint(lambda q: ca.sin(q[0]) - ca.sin(q[0] + q[1]), 1, "f")
    for constraint in (row, od.Baumgarte(row, 0.1)):
        assert float(od.constraint_jacobian(model, (constraint,), q)[0, 0]) == pytest.approx(0, abs=1e-15)
        assert 2 * np.cos(0.7) < number(constraint_magnitudes(model, (constraint,), q))[0, 0] < 10


class OwnRow(od.Constraint):
    """A constraint of the user's own without magnitudes: what is written down is what they are found from."""

    rows = ("x", "y")

    def position(self, model, q):
        return ca.vertcat(q[0], q[1])

    def jacobian(self, model, q):
        return ca.vertcat(ca.horzcat(ca.sin(q[0]) - ca.sin(q[0] + q[1]) + ca.sin(q[1]), 1), ca.horzcat(0, 1))

    def hessian(self, model, q, qd):
        return DM(2, 1)


def test_a_constraint_without_magnitudes_is_found_by_its_running_error():
    """The entry cancels at q1 = 0 without being a structural zero; its magnitude stays that of the sines."""
    model = od.models.pendulum(2)
    found = number(constraint_magnitudes(model, (OwnRow(),), DM([0.7, 0.0])))
    assert 2 * np.sin(0.7) < found[0, 0] < 10
    x = DM([0.7, 0.0])
    qdd, _ = od.constrained_dynamics(model, (OwnRow(),), x, DM([0.1, 0.0]), DM(2, 1))
    assert float(qdd[1]) == pytest.approx(0, abs=1e-12)


def test_the_running_error_bounds_what_rounding_does(rng):
    """Against twice the digits by numpy's long doubles: error <= e u, and e is not far too large."""
    x = SX.sym("x", 3)
    y = ca.vertcat(
        (x[0] + 1e8) - x[1] * 1e8, x[0] / (x[1] - x[2]), ca.sqrt(x[0] ** 2 + x[1]) * ca.cos(x[2]), 3.0 * x[0]
    )
    f = ca.Function("f", [x], [y])
    e = running_error(f)
    for _ in range(200):
        v = rng.uniform(0.5, 2, 3)
        a, b, c = (np.longdouble(t) for t in v)
        exact = [(a + 1e8) - b * 1e8, a / (b - c), np.sqrt(a**2 + b) * np.cos(c), 3 * a]
        off = np.abs(np.array(exact) - f(v).full().ravel().astype(np.longdouble)).astype(float)
        bound = e(v).full().ravel() * 2.0**-52
        assert np.all(off <= bound)
        assert np.all(bound < 1e3 * 2.0**-52 * np.maximum(np.abs(np.array(exact, dtype=float)), [1e9, 1e5, 1, 1]))


@pytest.mark.parametrize(
    ("y", "error"),
    [
        (lambda a, b: a - b, 1 + 3 + 2),
        (lambda a, b: a * 0.1, 3 * 0.1 * 3),  # the result, the input and the constant, each by itself
        (lambda a, b: 0.5 - a, 2.5 + 0.5 + 3),
        (lambda a, b: a / b, 3 * 1.5),
        (lambda a, b: ca.sin(a - b), np.sin(1) + np.cos(1) * 6),
        (lambda a, b: ca.cos(a - b), np.cos(1) + np.sin(1) * 6),
    ],
)
def test_the_running_error_of_an_operation(y, error):
    """|y| + |dy/da| e(a) + |dy/db| e(b), by hand at a = 3, b = 2."""
    a, b = SX.sym("a"), SX.sym("b")
    assert float(running_error(ca.Function("f", [a, b], [y(a, b)]))(3.0, 2.0)) == pytest.approx(error, rel=1e-12)


# Which sets may hold dependent rows


def two_arms():
    builder = od.ModelBuilder("two arms")
    builder.add_body("trunk", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    for side in "lr":
        for k in range(4):
            builder.add_body(f"{side}{k}", od.Spherical(), f"{side}{k - 1}" if k else "trunk", mass=1,
                             inertia=(1, 1, 1), origin=(0, 0, -1))  # fmt: skip
    return builder.build()


@pytest.mark.parametrize(
    ("held", "groups"),
    [
        ([od.Contact("l3")], [(0,)]),
        ([od.Contact("l3"), od.Contact("r3")], [(0,), (1,)]),
        ([od.Contact("l3"), od.Contact("r3"), od.Contact("l3", (0, 0, -1), "x")], [(0, 2), (1,)]),
        ([od.Contact("l3"), od.Contact("l1"), od.Contact("r3")], [(0, 1, 2)]),  # two ball joints: five directions
        ([od.Contact("l3"), od.Contact("l1", (0, 0, -1), "x"), od.Contact("r3")], [(0, 1), (2,)]),
        ([od.Contact("l0"), od.Contact("r0")], [(0, 1)]),  # three dofs of their own are too few for six rows
        ([od.Contact("l3"), od.LockedJoint("r3_joint", dofs=3), od.LockedJoint("l0_joint", dofs=3)], [(0, 2), (1,)]),
        ([od.Loop("l3", "l1", "ball"), od.Contact("r3")], [(0,), (1,)]),
        ([od.Loop("l3", "r3", "ball"), od.Contact("l0", axes="x")], [(0,), (1,)]),
    ],
)
@pytest.mark.slow
def test_rows_that_may_depend_on_each_other_are_in_one_group(held, groups):
    """On a floating trunk with two limbs of four spherical joints each."""
    model = two_arms()
    G = od.constraint_jacobian(model, held, SX.sym("q", model.nq))
    of_row = [k for k, member in enumerate(held) for _ in member.rows]
    found = [tuple(dict.fromkeys(of_row[i] for i in group.rows)) for group in groups_of(model, held, G)]
    assert sorted(tuple(sorted(group)) for group in found) == groups


def carried(root):
    """A body on a root of that many chained joints, and a hand."""
    builder = od.ModelBuilder("carried")
    parent = "world"
    for k, joint in enumerate(root):
        builder.add_body(f"b{k}", joint, parent, mass=1, inertia=(1, 1, 1))
        parent = f"b{k}"
    builder.add_body("hand", od.Revolute("y"), parent, mass=1, inertia=(1, 1, 1), origin=(0, 0, -1))
    return builder.build()


SPACE = [[od.FloatingBase()], [*map(od.Prismatic, "xyz"), od.Spherical()]]
MASSES = [[*map(od.Prismatic, "zxy"), *map(od.Revolute, "xyz")]]  # between angles with singular postures
PLANE = [[od.Prismatic("x"), od.Prismatic("z"), od.Revolute("y")]]
FIXED = [[od.Spherical()], [od.Revolute("x"), *map(od.Prismatic, "xyz")], [od.Prismatic("x"), od.Spherical()]]


@pytest.mark.parametrize(
    ("roots", "contact", "certain"),
    [
        (SPACE, od.Contact("hand"), True),
        (SPACE, od.Contact("hand", axes="xz"), True),
        (SPACE, od.Contact("hand", axes=[(1, 0, 0), (1, 0.05, 0)]), False),
        (SPACE, od.Contact("hand", axes=[(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]), False),
        (SPACE, od.RollingContact("hand", 0.1), True),
        (MASSES, od.Contact("hand"), False),
        (MASSES, od.Contact("hand", axes="xz"), True),
        (PLANE, od.Contact("hand", axes="xz"), True),
        (PLANE, od.Contact("hand", axes="y"), False),
        (PLANE, od.Contact("hand"), False),
        (FIXED, od.Contact("hand", axes="xz"), False),
    ],
)
@pytest.mark.slow
def test_one_contact_with_a_body_that_floats_is_taken_as_it_is(roots, contact, certain):
    for root in roots:
        model = carried(root)
        (group,) = groups_of(model, (contact,), od.constraint_jacobian(model, contact, SX.sym("q", model.nq)))
        assert group.certain == certain, root


# The solves beneath


def test_pivots_are_judged_by_the_error_that_they_inherit():
    """A row that follows from a nearly dependent one: its pivot is rounding, blown up by the small pivot before."""
    rng = np.random.default_rng(5)
    for size in (1e-3, 1e-4, 1e-5):
        B = rng.normal(size=(2, 5))
        rows = np.vstack([B[0], B[0] + size * B[1], B[1], 2 * B[0] - 3 * B[1], B.sum(axis=0)])
        A, x = rows @ rows.T, rng.normal(size=5)
        found = Semidefinite.of(DM(A)).solve(DM(A @ x)).full().ravel()
        assert np.count_nonzero(found) == 2
        close(rows.T @ found, rows.T @ x, 1e-16 / size**2 * 100)


def test_a_pivot_is_kept_down_to_the_tolerance():
    """Rows at an angle of 3e-6 are two rows, at 3e-7 they are one: the square is compared with `ROUNDING`."""
    for angle, kept in ((3e-6, 2), (3e-7, 1)):
        A = np.array([[1, np.cos(angle)], [np.cos(angle), 1]])
        assert abs(A[1, 1] - A[0, 1] ** 2) == pytest.approx(angle**2, rel=1e-3)
        found = Semidefinite.of(DM(A)).solve(DM(A @ [1.0, 1.0]))
        assert np.count_nonzero(found.full()) == kept
    assert (3e-7) ** 2 < ROUNDING < (3e-6) ** 2


@pytest.mark.parametrize("size", [1e-40, 1.0, 1e40])
def test_rank_does_not_depend_on_units(size, rng):
    """Independent rows are kept and dependent ones left out, whatever the units of the matrix are."""
    B = rng.normal(size=(4, 6))
    B[2] = B[0] - B[1]
    A, x = size * (B @ B.T), rng.normal(size=4)
    found = Semidefinite.of(DM(A)).solve(DM(A @ x)).full().ravel()
    assert np.count_nonzero(found) == 3
    close(A @ found / size, A @ x / size, 1e-10)


def least_solution(A, b, sizes):
    """The least x of A x = b by orthogonal rows."""
    rows = OrthogonalRows.of(ca.diag(1 / sizes) @ A, DEPENDENT, min(A.shape))
    return ca.vertcat(*rows.Q).T @ rows.right_side(b / sizes)


def test_the_least_solution_leaves_dependent_rows_out(rng):
    B = rng.normal(size=(3, 7))
    mix = rng.normal(size=(6, 3))
    A, x = mix @ B, rng.normal(size=7)
    sizes = DM(np.linalg.norm(A, axis=1))
    found = least_solution(DM(A), DM(A @ x), sizes).full().ravel()
    close(found, np.linalg.pinv(A) @ (A @ x), 1e-9)
    zero = np.vstack([A, 1e-17 * rng.normal(size=(1, 7))])
    close(least_solution(DM(zero), DM([*(A @ x), 0.0]), DM([*sizes.full().ravel(), 1.0])), found, 1e-9)


def test_the_least_solution_has_finite_derivatives_where_a_row_is_zero():
    a, b = SX.sym("a"), SX.sym("b")
    A = ca.vertcat(ca.horzcat(a, 1), ca.horzcat(a - b, b - a), ca.horzcat(2 * a, 2))
    x = least_solution(A, ca.vertcat(1, 0, 2), DM([1, 1, 2]))
    derivatives = ca.Function("f", [a, b], [ca.jacobian(x, ca.vertcat(a, b))])
    assert np.all(np.isfinite(derivatives(0.7, 0.7).full()))


def test_reflections_of_dependent_columns_are_no_numbers(rng):
    A = rng.normal(size=(6, 3))
    lengths = DM(np.linalg.norm(A, axis=0))
    assert np.all(np.isfinite(Reflections.of(DM(A), lengths).R.full()))
    A[:, 2] = A[:, 0] - 2 * A[:, 1]
    assert np.isnan(Reflections.of(DM(A), lengths).R.full()[2, 2])


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_columns_that_follow_from_nearly_dependent_ones_are_no_numbers(size, rng):
    """The rest of such a column is rounding, 1e6 times as large."""
    a, b, c = rng.normal(size=(3, 6))
    for third, lost in ((b, True), (2 * a - 3 * b, True), (c, False)):
        A = size * np.column_stack([a, a + 1e-6 * b, third])
        R = Reflections.of(DM(A), DM(np.linalg.norm(A, axis=0))).R.full()
        assert np.isnan(R[2, 2]) == lost
        assert np.all(np.isfinite(R[:2, :2]))


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_the_least_solution_of_nearly_dependent_rows(size, rng):
    """Rows that follow from those with an angle of 1e-5 are left out, and the others hold to rounding."""
    a, b, c = rng.normal(size=(3, 6))
    A, x = size * np.vstack([a, a + 1e-5 * b, b, 2 * a - 3 * b, c]), rng.normal(size=6)
    found = least_solution(DM(A), DM(A @ x), DM(np.linalg.norm(A, axis=1))).full().ravel()
    assert np.max(np.abs(A[[0, 1, 4]] @ (found - x))) < 1e-14 * size
    close(found, np.linalg.lstsq(A, A @ x, rcond=1e-12)[0], 1e-7)
    c = a + 1e-5 * c  # orthogonal to the rows before after one pass but for 1e-11
    A = size * np.vstack([a, b, c])
    found = least_solution(DM(A), DM(A @ x), DM(np.linalg.norm(A, axis=1))).full().ravel()
    assert np.max(np.abs(A @ (found - x))) < 1e-14 * size


@pytest.mark.slow
def test_inverse_dynamics_of_redundant_rows_goes_nearest_and_pushes_least(rng):
    """Twelve joints on feet of twelve rows each, by singular values: the nearest motion and the least forces."""
    model, held, q = standing(rng, straight=False)
    G, v = number(od.constraint_jacobian(model, held, DM(q))), 0.3 * rng.normal(size=model.nv)
    v -= np.linalg.pinv(G, 1e-10) @ (G @ v)
    at = (DM(q), DM(v), DM(rng.normal(size=model.nv)))
    tau, lam, x = (column(y) for y in od.constrained_inverse_dynamics(model, held, *at))
    gamma = column(od.constraint_hessian(model, held, *at[:2]))
    some = np.linalg.pinv(G, 1e-10) @ gamma
    free = np.linalg.svd(G)[2][np.linalg.matrix_rank(G, 1e-8) :].T
    wanted = column(at[2])
    z = np.linalg.pinv(free[6:], 1e-10) @ (wanted - some)[6:]
    close(x, some + free @ z, 1e-8)
    assert np.max(np.abs(x - wanted)[6:]) > 0.1  # what was asked for cannot be kept
    force = number(od.mass_matrix(model, at[0])) @ x + column(od.bias_force(model, *at[:2]))
    close(lam, np.linalg.pinv(G[:, :6].T, 1e-10) @ force[:6], 1e-6 * np.max(np.abs(lam)))
    close(tau, force - G.T @ lam, 1e-10 * np.max(np.abs(force)))
    close(tau[:6], np.zeros(6))


def test_rank_does_not_depend_on_the_units_of_rows_and_dofs():
    builder = od.ModelBuilder("carts")
    for name, mass in (("ship", 1e12), ("mote", 1e-12)):
        builder.add_body(name, od.Prismatic("x"), mass=mass)
    model = builder.build()
    locks = (od.LockedJoint("ship_joint"), od.LockedJoint("mote_joint"))
    assert od.constraint_rank(model, locks, [0.1, 0.2]) == 2
    rows = (locks[0], od.CustomConstraint(lambda q: 1e-15 * (q[1] - q[0]), 1, "small"))
    assert od.constraint_rank(model, rows, [0.1, 0.2]) == 2
    assert od.constraint_rank(model, (*rows, locks[1]), [0.1, 0.2]) == 2
    assert od.constraint_rank(model, (locks[0], locks[0]), [0.1, 0.2]) == 1


def test_rank_counts_angles_down_to_the_tolerance(rng):
    """Two directions that differ by 1e-7 are two, as differences of 1e-11 are none."""
    model = od.models.pendulum(3)
    body = model.body_names[-1]
    for angle, rank in ((1e-7, 2), (1e-11, 1)):
        held = (od.Contact(body, (0, 0, -1), [(1, 0, 0), (1, 0, angle)]),)
        assert od.constraint_rank(model, held, [0.3, -0.5, 0.9]) == rank


def test_inverse_dynamics_keeps_its_digits_where_feet_are_nearly_in_line(rng):
    """Three points nearly in line hold a body against turning about the line by 1e-5 only: cond(G_u) = 1e5.

    The equations hold to rounding, and the torques equal those of a factor by singular values as closely as the
    condition allows; its square would leave nothing.
    """
    builder = od.ModelBuilder("body")
    builder.add_body("body", od.FloatingBase(), mass=5, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.4))
    for k in range(3):
        builder.add_body(f"arm{k}", od.Revolute(rng.normal(size=3)), "body", mass=1, com=(0, 0.1, 0.2),
                         inertia=(0.1, 0.1, 0.05), origin=rng.normal(size=3))  # fmt: skip
    model = builder.build()
    p, along, off = rng.normal(size=(3, 3))
    held = tuple(od.Contact("body", tuple(x), "xyz") for x in (p, p + along, p + along / 2 + 1e-5 * off))
    q, qdd = model.random_q(rng), rng.normal(size=model.nv)
    at = (DM(q), DM(model.nv, 1), DM(qdd))
    G, H = number(od.constraint_jacobian(model, held, at[0])), number(od.mass_matrix(model, at[0]))
    assert 3e4 < np.linalg.cond(G[:, :6]) < 3e6
    assert od.is_fully_actuated(model, held, q)
    tau, lam, x = (column(y) for y in od.constrained_inverse_dynamics(model, held, *at))
    C = column(od.bias_force(model, *at[:2]))
    size = 1 + np.max(np.abs(lam))
    assert np.max(np.abs(H @ x + C - G.T @ lam - tau)) < 1e-13 * size
    assert np.max(np.abs(G @ x)) < 1e-13
    force = H @ x + C
    least = np.linalg.lstsq(G[:, :6].T, force[:6], rcond=1e-14)[0]
    assert np.max(np.abs(lam - least)) < 1e-9 * size
