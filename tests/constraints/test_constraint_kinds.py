"""Loops, custom, joint-level, rolling and stabilized constraints: rows, right-hand sides, errors, wrenches."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion.row_units import ANGULAR, LINEAR, units_of
from ocp_dyn.ocp.analysis.touchdowns import fixed_rows
from tests.helpers import State, add_random, close, evaluate, flat, mostly_slow, random_rotation, rate_of, symbols, tree

TREES = ("chain", "forest", "mixed")
some_trees = pytest.mark.parametrize("key", TREES)
AXES = {
    **{kind: kind for kind in ("ball", "revolute", "fixed", "orientation")},
    "oblique": ((0.1, -0.4, 0.3, 0.5, 0.2, -0.7), (0, 0, 1, 0, 0, 0), (0, 2, 0, 0, 0, 0)),
}


def loop(rng: np.random.Generator, axes: object, ends: tuple[str, str] = ("b2", "b4"), **options) -> od.Loop:
    poses = ((random_rotation(rng), rng.normal(size=3)) for _ in range(2))
    return od.Loop(*ends, axes, *poses, **options)


# Loops


@mostly_slow("key", TREES, ("forest",))
@pytest.mark.parametrize("axes", [*AXES.values(), "cylindrical", "prismatic"], ids=[*AXES, "cylindrical", "prismatic"])
@pytest.mark.slow
def test_loop_rows_are_the_relative_motion(rng, key, axes):
    """G qd = T_w' ([w; v]_s - [w; v]_p), and gamma its rate by AD, which gamma's own code never uses."""
    model = tree(key)
    one = loop(rng, axes)
    q, qd, _ = symbols(model)
    G, gamma = od.constraint_jacobian(model, one, q), od.constraint_hessian(model, one, q, qd)
    expected = -rate_of(ca.densify(G), model, q, qd) @ qd
    f = ca.Function("f", [q, qd], [G @ qd, gamma, expected])
    s = State.of(model, rng)
    velocity, gamma, expected = f(s.q, s.qd)
    close(gamma, expected)
    if not one.sliding:
        Rp = od.pose(model, "b2", DM(s.q))[0] @ DM(np.reshape(one.predecessor_pose[0], (3, 3)))
        ends = (("b4", one.successor_pose[1]), ("b2", one.predecessor_pose[1]))
        vs, vp = (od.point_velocity_6d(model, body, DM(s.q), DM(s.qd), p) for body, p in ends)
        close(velocity, DM(one.axes) @ ca.diagcat(Rp.T, Rp.T) @ (vs - vp))


@some_trees
@pytest.mark.parametrize("axes", ["ball", "fixed", "cylindrical", "prismatic"])
@pytest.mark.slow
def test_loop_rows_are_the_rate_of_the_error_where_it_is_zero(rng, key, axes):
    """G qd = d(phi)/dt at phi = 0; with sliding the origins may stand apart along the free direction."""
    model = tree(key)
    s = State.of(model, rng)
    Rp = random_rotation(rng)
    bodies = {name: [x.full() for x in od.pose(model, name, DM(s.q))] for name in ("b2", "b4")}
    # frames made to coincide at s.q, but for a way along z where the loop leaves it free
    x = rng.normal(size=3)
    W = bodies["b2"][0] @ Rp
    apart = W @ np.array([0, 0, 0.7 if axes in ("cylindrical", "prismatic") else 0.0])
    succ = (bodies["b4"][0].T @ W, bodies["b4"][0].T @ (x + apart - bodies["b4"][1][:, 0]))
    pred = (Rp, bodies["b2"][0].T @ (x - bodies["b2"][1][:, 0]))
    one = od.Loop("b2", "b4", axes, pred, succ)
    q, qd, _ = symbols(model)
    phi = od.constraint_position(model, one, q)
    f = ca.Function("f", [q, qd], [phi, rate_of(phi, model, q, qd), od.constraint_jacobian(model, one, q) @ qd])
    phi, rate, velocity = f(s.q, s.qd)
    close(phi, np.zeros(len(one.axes)))
    close(rate, velocity)


@pytest.mark.slow
def test_loop_rows_do_not_know_where_the_world_begins(rng):
    """Rows with rotations: the same mechanism 10 m away has the same G, gamma, errors."""

    def far(shift):
        gen = np.random.default_rng(5)
        builder = od.ModelBuilder()
        place = {"origin": shift + np.array([0.1, 0.2, 0.3]), "mass": 1.0, "inertia": (1, 1, 1)}
        builder.add_body("a", od.Revolute((1, 2, 3)), "world", **place)
        add_random(builder, "b", od.Spherical(), "a", gen)
        builder.add_body("c", od.Revolute((0, 1, 1)), "world", **place)
        return builder.build()

    one = loop(rng, AXES["oblique"], ("b", "c"))
    near, away = far(np.zeros(3)), far(np.array([10.0, -20.0, 5.0]))
    s = State.of(near, rng)
    for algorithm, args in (
        (od.constraint_jacobian, (s.q,)),
        (od.constraint_hessian, (s.q, s.qd)),
        (od.constraint_position, (s.q,)),
    ):
        close(evaluate(algorithm, away, one, args=args), evaluate(algorithm, near, one, args=args))


@some_trees
@pytest.mark.slow
def test_wrenches_are_the_forces_on_the_bodies(rng, key):
    """As external forces, the wrenches do what G' lam does."""
    model = tree(key)
    s = State.of(model, rng)
    constraints = (
        loop(rng, AXES["oblique"]),
        loop(rng, "prismatic", ("b1", "b3")),
        od.Contact("b2", point=(0.1, 0.2, 0.3)),
        od.Baumgarte(od.Contact("b3", axes="zx"), 0.1),
        od.RollingContact("b1", 0.3, (0.1, 0, 0), axis="y"),
        od.Contact("b4", point=(0.1, 0.2, 0.3), planar=True),
        od.RollingContact("b2", 0.3, (0.1, 0, 0), (0.6, 0, 0.8), axis="y", planar=True),
    )
    G = od.constraint_jacobian(model, constraints, DM(s.q))
    lam = DM(rng.normal(size=G.shape[0]))
    wrenches = od.constraint_wrenches(model, constraints, DM(s.q), lam)
    assert set(wrenches) == {"b1", "b2", "b3", "b4"}
    args = (s.q, s.qd, s.qdd, ca.horzcat(*wrenches.values()))
    pushed = evaluate(od.inverse_dynamics, model, args=args, loads=od.Loads(external=tuple(wrenches)))
    close(evaluate(od.inverse_dynamics, model, args=args[:3]) - pushed, G.T @ lam)


@pytest.mark.parametrize("axes", ["fixed", "prismatic"])
def test_a_loop_between_two_places_of_one_frame_has_one_wrench(rng, axes):
    """Both ends push the one body: only their sum does what G' lam does."""
    model = tree("forest")
    s = State.of(model, rng)
    one = loop(rng, axes, ("b2", "b2"))
    lam = DM(rng.normal(size=len(one.rows)))
    wrenches = od.constraint_wrenches(model, (one,), DM(s.q), lam)
    assert list(wrenches) == ["b2"]
    args = (s.q, s.qd, s.qdd, wrenches["b2"])
    pushed = evaluate(od.inverse_dynamics, model, args=args, loads=od.Loads(external=("b2",)))
    forces = od.constraint_jacobian(model, (one,), DM(s.q)).T @ lam
    close(evaluate(od.inverse_dynamics, model, args=args[:3]) - pushed, forces)
    # a body does not slide along itself; held together at two places, its ends would move apart as it turns
    assert (np.abs(forces.full()).max() > 0.1) == (axes == "fixed")


@pytest.mark.parametrize("axes", ["revolute", "cylindrical", ((0.6, 0, 0.8, 0, 0, 0), (0, 1, 0, 0, 0, 0))])
@pytest.mark.parametrize("turn", [0.0, 2.0, np.pi])
@pytest.mark.slow
def test_a_hinge_sees_the_tilt_of_its_axis_at_any_turn(axes, turn):
    """phi is the sine of the angle between the axes, and G its derivative where it is zero, also after half a turn."""
    builder = od.ModelBuilder()
    builder.add_body("body", od.Spherical(), mass=1.0, inertia=(1, 1, 1))
    builder.add_frame("ground", "world")
    model = builder.build()
    hinge = od.Loop("ground", "body", axes, turning=None if isinstance(axes, str) else True)
    n = np.array((0, 0, 1) if isinstance(axes, str) else (-0.8, 0, 0.6))
    q = DM([*np.sin(turn / 2) * n, np.cos(turn / 2)])
    phi = od.function(od.constraint_position, model, hinge)
    close(phi(q), np.zeros(len(hinge.rows)), 1e-15)
    for tilt in (1e-6 * np.array([0.3, -0.8, 0.5]), 1e-6 * np.eye(3)[1]):
        expected = od.constraint_jacobian(model, hinge, q) @ tilt
        np.testing.assert_allclose(flat(phi(model.integrate(q, DM(tilt)))), flat(expected), atol=1e-11)


def test_turning_is_for_loops_that_leave_one_axis_free():
    """Rows given one by one are measured by vee unless turning says otherwise."""
    revolute = od.Loop("ground", "body", "revolute")
    assert revolute.turning
    assert not od.Loop("ground", "body", revolute.axes).turning
    for axes in ("fixed", "ball", "orientation", ((1, 0, 0, 0, 0, 0),)):
        assert not od.Loop("ground", "body", axes).turning
        with pytest.raises(ValueError, match="turning=True needs axes that hold two rotations"):
            od.Loop("ground", "body", axes, turning=True)
    with pytest.raises(TypeError, match="turning must be True, False or None, got 1"):
        od.Loop("ground", "body", "revolute", turning=1)


def test_what_a_loop_makes_leaves_its_own_axis_free():
    """Turns about z and slides along z of the predecessor, by kind: what no row holds."""
    free = {"ball": "rx ry rz", "revolute": "rz", "cylindrical": "rz tz", "prismatic": "tz", "fixed": ""}
    for kind, left in (free | {"orientation": "tx ty tz"}).items():
        held = [row.partition(".")[2] for row in od.Loop("a", "b", kind).rows]
        assert sorted([*held, *left.split()]) == ["rx", "ry", "rz", "tx", "ty", "tz"]


def test_a_wheel_rolls_at_the_height_of_its_plane():
    """phi is zero where the center lies the radius above a plane that is not the ground."""
    builder = od.ModelBuilder()
    builder.add_body("wheel", od.Translation(), mass=1.0, inertia=(1, 1, 1))
    wheel = od.RollingContact("wheel", 0.3, axis="y", height=0.25)
    close(od.constraint_position(builder.build(), wheel, DM([2.0, 1.0, 0.65])), [0.1, 0, 0, 0, 0])


def test_forces_by_name(rng):
    model = tree("forest")
    constraints = (
        od.Contact("b2", axes="xy"),
        od.Contact("b2", axes="z"),
        od.LockedJoint("b3_joint"),
        loop(rng, "ball"),
    )
    lam = DM(rng.normal(size=7))
    forces = od.split_forces(constraints, lam)
    assert list(forces) == ["b2", "b2#2", "b3_joint", "b2-b4"] == list(od.constraint_names(constraints))
    close(ca.vertcat(*forces.values()), lam)
    assert od.constraint_rows(constraints)[-3:] == ("b2-b4.tx", "b2-b4.ty", "b2-b4.tz")
    assert loop(rng, AXES["oblique"], label="arm").rows == (
        "arm.(0.1 -0.4 0.3 0.5 0.2 -0.7)",
        "arm.rz",
        "arm.(0 2 0 0 0 0)",
    )
    with pytest.raises(ValueError, match="lam must have 7 rows"):
        od.split_forces(constraints, lam[:3])
    with pytest.raises(ValueError, match="'b3_joint' acts on coordinates"):
        od.constraint_wrenches(model, constraints, DM(model.neutral()), lam)


# From a function


@mostly_slow("key", TREES, ("forest",))
@pytest.mark.slow
def test_a_custom_constraint_is_what_it_describes(rng, key):
    """phi of a point gives the point's rows: G of the Jacobian, gamma of the acceleration."""
    model = tree(key)
    s = State.of(model, rng)
    custom = od.CustomConstraint(lambda q: od.point_position(model, "b3", q, (0.1, 0.2, 0.3)), 3, "tip")
    contact = od.Contact("b3", (0.1, 0.2, 0.3), "xyz", reference=(np.eye(3), (0, 0, 0)))
    for algorithm, args in (
        (od.constraint_position, (s.q,)),
        (od.constraint_jacobian, (s.q,)),
        (od.constraint_hessian, (s.q, s.qd)),
        (od.constrained_dynamics, (s.q, s.qd, s.tau)),
        (od.impact, (s.q, s.qd)),
    ):
        ours, known = (evaluate(algorithm, model, c, args=args) for c in (custom, contact))
        for a, b in zip(ours, known, strict=True):
            close(a, b, 1e-8)  # the solves lose what H's condition takes
    assert custom.rows == ("tip0", "tip1", "tip2")


def swing(q, t):
    return ca.vertcat(q[0] - ca.sin(3 * t), q[1] * t - q[0] ** 2)


def test_a_constraint_on_time(rng):
    """G qd + dphi/dt is the rate of phi, gamma what makes its second rate zero; impacts end at rest on it."""
    model = tree("chain")
    moving = od.CustomConstraint(swing, 2, "swing", timed=True)
    s, t = State.of(model, rng), 0.37
    q, qd, qdd = symbols(model)
    time = SX.sym("time")
    phi = swing(q, time)
    rate = rate_of(phi, model, q, qd) + ca.jacobian(phi, time)
    second = rate_of(rate, model, q, qd, qdd) + ca.jacobian(rate, time)
    known = ca.Function("known", [q, qd, qdd, time], [phi, rate, second])
    FDc = od.function(od.constrained_dynamics, model, moving, t="input")
    assert FDc.name_in() == ["q", "qd", "tau", "t"]
    acceleration, _ = FDc(s.q, s.qd, s.tau, t)
    phi, rate, second = known(s.q, s.qd, acceleration, t)
    close(second, np.zeros(2), 1e-9)
    close(od.constraint_position(model, moving, DM(s.q), t=t), phi)
    close(od.constraint_velocity(model, moving, DM(s.q), DM(s.qd), t=t), rate)
    qd_plus, _ = od.function(od.impact, model, moving, t="input")(s.q, s.qd, t)
    close(known(s.q, qd_plus, s.qdd, t)[1], np.zeros(2), 1e-9)
    gamma = od.function(od.constraint_hessian, model, od.Baumgarte(moving, 0.2), t=t)(s.q, s.qd)
    plain = od.function(od.constraint_hessian, model, moving, t=t)(s.q, s.qd)
    close(gamma, plain - 10 * rate - 25 * phi)
    with pytest.raises(ValueError, match="'swing' depends on time and none is given"):
        od.constraint_jacobian(model, moving, DM(s.q))
    with pytest.raises(ValueError, match=r"t is a value \(s\) or 'input', got 'now'"):
        od.function(od.constrained_dynamics, model, moving, t="now")


# On joints


def test_a_gear_and_a_lock(rng):
    model = tree("forest")
    s = State.of(model, rng)
    constraints = (
        od.JointCoupling("b3_joint", "b6_joint", -2.5, 0.3),
        od.LockedJoint.of(model, "b2_joint", s.q),
        od.LockedJoint("b3_joint", 0.2),
    )
    qdd, _ = evaluate(od.constrained_dynamics, model, constraints, args=(s.q, s.qd, s.tau))
    i, j = (model.qd_slice(n).start for n in ("b3_joint", "b6_joint"))
    close(qdd[i] + 2.5 * qdd[j], 0, 1e-9)
    close(qdd[model.qd_slice("b2_joint")], np.zeros(3), 1e-9)
    phi = evaluate(od.constraint_position, model, constraints, args=(s.q,))
    at = [s.q[model.q_slice(n)][0] for n in ("b3_joint", "b6_joint")]
    close(phi, [at[0] + 2.5 * at[1] - 0.3, 0, 0, 0, at[0] - 0.2])
    assert od.constraint_rows(constraints) == (
        "b3_joint=b6_joint", "b2_joint.0", "b2_joint.1", "b2_joint.2", "b3_joint"
    )  # fmt: skip
    v = np.zeros(model.nv)
    v[model.qd_slice("b2_joint")] = (0.1, -0.2, 0.3)
    turned = flat(model.integrate(DM(s.q), DM(v)))
    close(od.constraint_position(model, constraints[1], DM(turned)), (0.1, -0.2, 0.3))


def test_a_cam(rng):
    """q_i = 2 sin(q_j) - 0.1: its rate and second rate by hand."""
    model = tree("chain")
    s = State.of(model, rng)
    cam = od.JointCoupling("b1_joint", "b3_joint", 2.0, -0.1, ca.sin)
    a, (w, v) = s.q[2], s.qd[[0, 2]]
    close(od.constraint_position(model, cam, DM(s.q)), s.q[0] - 2 * np.sin(a) + 0.1)
    close(od.constraint_velocity(model, cam, DM(s.q), DM(s.qd)), w - 2 * np.cos(a) * v)
    close(od.constraint_hessian(model, cam, DM(s.q), DM(s.qd)), -2 * np.sin(a) * v * v)
    qdd, lam = evaluate(od.constrained_dynamics, model, cam, args=(s.q, s.qd, s.tau))
    close(qdd[0] - 2 * np.cos(a) * qdd[2] + 2 * np.sin(a) * v * v, 0, 1e-9)
    H, C, G, _ = od.constrained_equations(model, cam, DM(s.q), DM(s.qd))
    close(H @ qdd + C - G.T @ lam, s.tau)
    assert G.nnz() == 2


# Rolling


def roller(joint: od.Joint) -> od.Model:
    builder = od.ModelBuilder()
    builder.add_body("shin", joint, mass=2, com=(0.1, 0, 0.2), inertia=(0.3, 0.2, 0.1))
    builder.add_body("foot", od.Spherical(), "shin", origin=(0, 0.1, -0.4), mass=1, inertia=(0.02, 0.01, 0.02))
    return builder.build()


@pytest.mark.parametrize("axis", [None, "y", (1, 1, 0)])
@pytest.mark.parametrize("normal", ["z", (0.3, -0.2, 0.9)])
@pytest.mark.slow
def test_rolling(rng, axis, normal):
    """The touching point is at rest, gamma is the rate of G by AD, height and tilt are the integrals of their rows."""
    model = roller(od.FloatingBase())
    foot = od.RollingContact("foot", 0.05, (0.01, 0.02, -0.03), normal, axis, height=0.1)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    G, phi = od.constraint_jacobian(model, foot, q), od.constraint_position(model, foot, q)
    gamma = od.constraint_hessian(model, foot, q, qd)
    expected = -rate_of(ca.densify(G), model, q, qd) @ qd
    f = ca.Function("f", [q, qd], [G, gamma, expected, rate_of(phi, model, q, qd)])
    G, gamma, expected, rate = (x.full() for x in f(s.q, s.qd))
    close(gamma, expected)
    close((G @ s.qd)[0], rate[0])
    assert len(foot.rows) == len(G) == (3 if axis is None else 5)
    if axis is not None:
        close((G @ s.qd)[4], rate[4])
    # with a velocity that rolls, the material point at the plane stands still
    rolling = s.qd - np.linalg.pinv(G) @ G @ s.qd
    R = od.pose(model, "foot", DM(s.q))[0].full()
    n = np.array(foot.normal)
    touching = np.array(foot.center) - R.T @ (0.05 * n)
    close(od.point_velocity(model, "foot", DM(s.q), DM(rolling), touching), np.zeros(3))


def test_planar_contacts_have_the_rows_of_the_plane(rng):
    """Those of the contacts in space, by name; on a slope along x the second row of an edge leads up the plane."""
    model, reference = roller(od.FloatingBase()), (random_rotation(rng), rng.normal(size=3))
    s, n = State.of(model, rng), (0.6, 0.0, 0.8)
    for kept, in_plane, space in (
        ([1, 3, 5], *(od.Contact("foot", (0.1, 0.2, 0.3), None, reference, planar) for planar in (True, False))),
        ([0, 2], *(od.RollingContact("foot", 0.1, (0.1, 0, 0), axis="y", planar=planar) for planar in (True, False))),
    ):
        assert in_plane.rows == tuple(space.rows[k] for k in kept)
        for of in (od.constraint_jacobian, od.constraint_position, od.constraint_velocity, od.constraint_hessian):
            rates = (DM(s.qd),) if of in (od.constraint_velocity, od.constraint_hessian) else ()
            close(of(model, in_plane, DM(s.q), *rates), of(model, space, DM(s.q), *rates)[kept, :])
    assert units_of([od.Contact("foot", planar=True)]) == [ANGULAR, LINEAR, LINEAR]
    edge = od.RollingContact("foot", 0.0, (0.1, 0, 0), n, axis="y", planar=True)
    assert units_of([edge]) == [LINEAR, LINEAR]
    assert [fixed_rows(one).tolist() for one in (edge, od.Contact("foot", planar=True))] == [[0], [0, 2]]
    way = DM([n, (-0.8, 0.0, 0.6)]) @ od.point_velocity(model, "foot", DM(s.q), DM(s.qd), edge.center)
    close(od.constraint_velocity(model, edge, DM(s.q), DM(s.qd)), way)
    with pytest.raises(ValueError, match="write axes='xz' alone"):
        od.Contact("foot", axes="xz", planar=True)


def test_a_sphere_rolls_down_a_slope():
    """A solid ball on a slope of angle a: 5/7 g sin(a), the closed form."""
    a, m, r = 0.3, 2.0, 0.2
    builder = od.ModelBuilder(gravity=(9.81 * np.sin(a), 0, -9.81 * np.cos(a)))
    builder.add_body("ball", od.FloatingBase(), mass=m, inertia=(0.4 * m * r * r,) * 3)
    model = builder.build()
    q = np.array([0, 0, r, 0, 0, 0, 1.0])
    qdd, lam = evaluate(
        od.constrained_dynamics, model, od.RollingContact("ball", r), args=(q, np.zeros(6), np.zeros(6))
    )
    close(qdd, [5 / 7 * 9.81 * np.sin(a), 0, 0, 0, 5 / 7 * 9.81 * np.sin(a) / r, 0])
    close(lam[0], m * 9.81 * np.cos(a))


# Sets of points


def test_soles():
    body, corners = "foot", [(x, y, 0) for x in (0, 0.2) for y in (0, 0.1)]
    model = roller(od.FloatingBase())
    q = model.neutral()
    for contacts, rows, rank in (
        (od.point_contacts(body, corners), 12, 6),
        (od.plane_contacts(body, corners), 4, 3),
        (od.edge_contacts(body, corners[0], corners[1]), 4, 4),
        (od.edge_contacts(body, corners[0], corners[1], across=(1, 0, 0)), 5, 5),
        (od.Contact(body, axes=((0, 0, 1), (1, 0, 1))), 2, 2),
    ):
        assert len(od.constraint_rows(contacts)) == rows
        assert od.constraint_rank(model, contacts, q) == rank


# Stabilized


def test_stabilized_errors_die_out():
    """phi'' + 2/T phi' + phi/T^2 = 0 along the motion, each constraint with its own T."""
    model = tree("chain")
    rng = np.random.default_rng(2)
    s = State.of(model, rng)
    contacts = (od.Contact("b4", axes="x").at(model, model.neutral()), od.Contact("b3", axes="y").at(model, s.q * 0.1))
    stable = tuple(od.Baumgarte(c, T) for c, T in zip(contacts, (0.1, 0.5), strict=True))
    q, qd, qdd = symbols(model)
    phi = od.constraint_position(model, contacts, q)
    rate = rate_of(phi, model, q, qd)
    f = ca.Function("f", [q, qd, qdd], [phi, rate, rate_of(rate, model, q, qd, qdd)])
    acceleration, _ = evaluate(od.constrained_dynamics, model, stable, args=(s.q, s.qd, s.tau))
    phi, rate, second = (flat(x) for x in f(s.q, s.qd, acceleration))
    T = np.array([0.1, 0.5])
    close(second + 2 / T * rate + phi / T**2, np.zeros(2), 1e-8)
    assert od.constraint_rows(stable) == od.constraint_rows(contacts)
    assert od.constraint_names(stable) == ("b4", "b3")


# Errors

WRONG = [
    (TypeError, "Loop successor must be a frame .* got 3", lambda: od.Loop("b1", 3)),
    (ValueError, "Loop axes must be one of ball, .*got 'screw'", lambda: od.Loop("b1", "b2", "screw")),
    (TypeError, "Loop axes must be one of ball, .*got 3", lambda: od.Loop("b1", "b2", 3)),
    (ValueError, "Loop axes must hold at least one axis", lambda: od.Loop("b1", "b2", ())),
    (ValueError, "none that is zero", lambda: od.Loop("b1", "b2", ((0,) * 6,))),
    (ValueError, "a loop axis .* must be 6", lambda: od.Loop("b1", "b2", ((0, 0, 1),))),
    (ValueError, r"Loop predecessor_pose must be \(R, p\)", lambda: od.Loop("b1", "b2", "ball", 3)),
    (ValueError, "a rotation matrix .* is needed", lambda: od.Loop("b1", "b2", "ball", (2 * np.eye(3), (0, 0, 0)))),
    (TypeError, r"CustomConstraint needs a function phi\(q\), got 3", lambda: od.CustomConstraint(3)),
    (ValueError, "size must be the number of rows of phi", lambda: od.CustomConstraint(np.sin, 0)),
    (ValueError, "JointCoupling needs two joints, got 'a' twice", lambda: od.JointCoupling("a", "a")),
    (TypeError, "function must be a function of q_j", lambda: od.JointCoupling("a", "b", function=2)),
    (TypeError, "Baumgarte needs a constraint", lambda: od.Baumgarte(3, 0.1)),
    (ValueError, "time constant T must be positive", lambda: od.Baumgarte(od.Contact("b1"), 0)),
    (ValueError, "RollingContact radius must not be negative", lambda: od.RollingContact("b1", -1)),
    (TypeError, "RollingContact needs a frame", lambda: od.RollingContact(3, 1)),
    (ValueError, "a sole needs at least one point", lambda: od.point_contacts("b1", ())),
]


@pytest.mark.parametrize(("error", "message", "call"), WRONG, ids=[message for _, message, _ in WRONG])
def test_constraints_refuse(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_constraints_refuse_a_model_they_do_not_fit():
    model = tree("forest")
    q = DM(model.neutral())
    for error, message, constraint in (
        (ValueError, "couples joints with one dof, 'b2_joint' has 3", od.JointCoupling("b2_joint", "b3_joint")),
        (ValueError, "joint 'b2_joint' has 3 dofs, this LockedJoint has dofs=1", od.LockedJoint("b2_joint")),
        (ValueError, "phi of 'custom' must be 1 x 1", od.CustomConstraint(lambda q: q[:2])),
        (KeyError, "no frame 'hand'", od.Loop("b1", "hand")),
    ):
        with pytest.raises(error, match=message):
            od.constraint_jacobian(model, constraint, q)
    with pytest.raises(ValueError, match="locked joint 'b3_joint' has no value, so no phi"):
        od.constraint_position(model, od.LockedJoint("b3_joint"), q)
