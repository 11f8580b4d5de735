"""Natural coordinates: which points and vectors are chosen, their conditions, and the same mechanics as in q."""

from __future__ import annotations

import dataclasses
import pickle
from contextlib import nullcontext

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import (
    JOINTS,
    TIGHT,
    TREES,
    State,
    add_random,
    close,
    flat,
    random_inertia,
    random_rotation,
    tree,
    turn,
)

fm = od.formulations

TAKEN = [key for key in TREES if key != "screws"]
BRICARD = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
BRICARD_AXES = "yzxyzx"
ALONG_X = ((0, 0, 1), (1, 0, 0), (0, 1, 0))
"""A frame whose z is the x of the body."""


def five_bars() -> od.Model:
    """The spatial pendulum of five bars whose end closes to Bricard's mechanism [GJB94, figures 8.21 and 8.22]."""
    builder = od.ModelBuilder("five_bars")
    for k in range(5):
        bar = BRICARD[k + 1] - BRICARD[k]
        builder.add_body(
            f"bar{k + 1}", od.Revolute(BRICARD_AXES[k]), f"bar{k}" if k else "world", mass=1.0, com=bar / 2,
            origin=BRICARD[k] - BRICARD[k - 1] if k else (0, 0, 0), inertia=np.eye(3) / 12 - np.diag(bar**2) / 13,
        )  # fmt: skip
    builder.add_frame("base", "world")
    return builder.build()


def bricard_loop() -> od.Loop:
    return od.Loop("base", "bar5", "revolute", (ALONG_X, BRICARD[5]), (ALONG_X, BRICARD[5] - BRICARD[4]))


def planar_tree(rng: np.random.Generator, kinds: str = "rrprPpr", length: float = 1.0) -> od.Model:
    """Bodies with masses anywhere that move along a plane of any normal: r revolute, p prismatic, P planar."""
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    builder = od.ModelBuilder("planar", gravity=(1.1, -2.3, -9.81))
    world = {0: np.eye(3)}
    for i, kind in enumerate(kinds, 1):
        p = int(rng.integers(max(0, i - 2), i))
        R = random_rotation(rng)
        if kind == "P":
            across = np.cross(n, rng.normal(size=3))
            across /= np.linalg.norm(across)
            R = world[p].T @ np.column_stack([across, np.cross(n, across), n])
        world[i] = world[p] @ R
        along = {"r": -n if i % 2 else n, "p": np.cross(n, rng.normal(size=3)), "P": n}[kind]
        joint = {"r": od.Revolute, "p": od.Prismatic}.get(kind, lambda axis: od.Planar())(world[i].T @ along)
        builder.add_body(
            f"b{i}", joint, f"b{p}" if p else "world", origin=length * rng.uniform(-0.5, 0.5, 3), rotation=R,
            mass=rng.uniform(1, 2), com=length * rng.uniform(-0.2, 0.2, 3),
            inertia=length**2 * random_inertia(rng, 1.5),
        )  # fmt: skip
    return builder.build()


def transformation(model: od.Model, natural: fm.NaturalCoordinates, q, qd) -> tuple[np.ndarray, np.ndarray]:
    """R_A = d(xd)/d(qd) and Sc = d(xd)/dt at qdd = 0, by automatic differentiation of xd."""
    qs, qds = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    xd = fm.natural_velocity(model, natural, qs, qds)
    f = ca.Function("R", [qs, qds], [ca.jacobian(xd, qds), ca.jtimes(xd, qs, model.q_dot(qs, qds))])
    R, Sc = f(q, qd)
    return R.full(), Sc.full().ravel()


def constrained(M: np.ndarray, force: np.ndarray, J: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The a with M a + J' lam = force, J a = c, rows of J redundant or not: a particular one and the null space of
    J."""
    _, values, V = np.linalg.svd(J)
    rank = int(np.sum(values > 1e-9 * values.max(initial=0.0)))
    a, N = np.linalg.lstsq(J, c, rcond=1e-9)[0], V[rank:].T
    return a + N @ np.linalg.solve(N.T @ M @ N, N.T @ (force - M @ a))


def accelerations(model, natural, x, xd, tau) -> np.ndarray:
    """xdd of M xdd + Phi_x' lam = Q, Phi_x xdd = c."""
    M, J = (f(model, natural, x).full() for f in (fm.natural_mass_matrix, fm.natural_jacobian))
    Q = flat(fm.natural_force(model, natural, x, xd, ca.DM(tau)))
    return constrained(M, Q, J, flat(fm.natural_jacobian_rate(model, natural, x, xd)))


def assert_same_mechanics(model: od.Model, natural: fm.NaturalCoordinates, rng, accuracy: float = TIGHT) -> None:
    """Conditions, energy, H, C and accelerations of a tree are those in joint coordinates."""
    s = State.of(model, rng)
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    x, xd = fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)
    R, Sc = transformation(model, natural, s.q, s.qd)
    J = fm.natural_jacobian(model, natural, x)
    M = fm.natural_mass_matrix(model, natural, x).full()
    Q = flat(fm.natural_force(model, natural, x, xd, ca.DM(s.tau)))
    assert natural.rank(x) == natural.m == natural.n - model.nv  # no condition of a tree is redundant
    assert natural.degrees_of_freedom(x) == model.nv
    close(fm.natural_constraints(model, natural, x), np.zeros(natural.m))
    close(J @ xd, np.zeros(natural.m))
    close(R @ s.qd, flat(xd))
    close(fm.natural_jacobian_rate(model, natural, x, xd), flat(J @ Sc))
    close(M, M.T)
    close(R.T @ M @ R, od.mass_matrix(model, q).full())
    close(R.T @ (M @ Sc - Q), flat(od.bias_force(model, q, qd)) - s.tau)
    close(xd.T @ M @ xd / 2, flat(od.kinetic_energy(model, q, qd)))
    qdd = flat(od.forward_dynamics(model, q, qd, ca.DM(s.tau)))
    close(accelerations(model, natural, x, xd, s.tau), R @ qdd + Sc, accuracy)


@pytest.mark.parametrize("key", TAKEN)
@pytest.mark.slow
def test_the_mechanics_of_a_tree_is_that_in_joint_coordinates(rng, key):
    model = tree(key)
    assert_same_mechanics(model, fm.natural(model), rng)


@pytest.mark.slow
def test_a_body_of_forty_bodies(rng):
    model = od.models.human_body()
    natural = fm.natural(model)
    assert (natural.n, natural.m) == (246, 201)
    assert_same_mechanics(model, natural, rng, 1e-9)  # the condition of H is 6e5


@pytest.mark.slow
def test_joints_of_several_axes_are_split(rng):
    builder = od.ModelBuilder("axes")
    joint = od.MultiDof([(0, 0, 1, 0, 0, 0), (0.6, 0, 0.8, 0, 0, 0), (0, 0, 0, 1, 2, 3)])
    add_random(builder, "b1", joint, "world", rng)
    add_random(builder, "b2", joint, "b1", rng)
    model = builder.build()
    assert_same_mechanics(model, fm.natural(model), rng)


@pytest.mark.parametrize("kinds", ["r", "P", "rrprPpr", "pprrr", "rrrrr"])
@pytest.mark.slow
def test_a_planar_mechanism_takes_two_coordinates_per_point(rng, kinds):
    model = planar_tree(rng, kinds)
    natural = fm.natural(model)
    assert natural.dimension == 2
    assert natural.n < fm.natural(model, plane=False).n
    assert_same_mechanics(model, natural, rng)
    assert_same_mechanics(model, fm.natural(model, plane=False), rng)


def test_axes_of_the_plane_are_those_of_the_world_where_possible():
    for axis, names in (("x", "yz"), ("y", "xz"), ("-z", "xy")):
        builder = od.ModelBuilder()
        builder.add_body("a", od.Revolute(axis), mass=1, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
        natural = fm.natural(builder.build())
        assert [name.partition(".")[2] for name in natural.names] == list(names)
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute((1, 2, 3)), mass=1, inertia=(1, 1, 1))
    assert fm.natural(builder.build()).names == ("u1.1", "u1.2")


@pytest.mark.parametrize("length", [1e-3, 1e3])
@pytest.mark.slow
def test_small_and_large_mechanisms(rng, length):
    """A tree of all joints, and a planar one: the same choice, scaled."""
    for model in (tree("forest"), planar_tree(rng)):
        natural, other = fm.natural(model), fm.natural(model.scale(length))
        assert (other.n, other.m, other.names, other.powers) == (natural.n, natural.m, natural.names, natural.powers)
        scale = np.where(natural.lengths, length, 1.0)
        rows = length ** np.array(natural.powers, dtype=float)
        x = ca.DM(rng.normal(size=natural.n))
        close(flat(fm.natural_constraints(model.scale(length), other, scale * x)) / rows,
              flat(fm.natural_constraints(model, natural, x)))  # fmt: skip
        M = fm.natural_mass_matrix(model.scale(length), other, x).full()
        close(M * np.outer(scale, scale) / length**2, fm.natural_mass_matrix(model, natural, x).full())
        assert other.rank() == natural.rank() == natural.m


# Loops


CHAINS = {
    "turning": ("spherical", "revolute_skew", "spherical", "cylindrical_skew"),
    "sliding": ("prismatic_skew", "universal", "planar", "euler_xyz"),
    "long": ("floating", "translation", "revolute_z", "revolute_z", "spherical", "prismatic_x"),
}
ROWS = ((0.3, 0.2, -0.4, 0.1, 0.5, 0.2), (0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 2, 0))
TWO_TURNS = ((0.3, 0.2, -0.4, 0.1, 0.5, 0.2), (0, 1, 0.5, 0, 0, 0.3), (0, 0, 0, 1, 2, 0))
"""Rows that mix rotations and translations; the second ones leave one axis free to turn, and say so."""
KINDS = ("ball", "orientation", "revolute", "cylindrical", "prismatic", "fixed", ROWS, TWO_TURNS)


def closed_chain(chain: str, axes, grounded: bool, rng) -> tuple[od.Model, od.Loop, np.ndarray]:
    """A random chain, and a loop of random pose from its first body, or the ground, to its last, closed at q."""
    builder = od.ModelBuilder("chain", gravity=(1.1, -2.3, -9.81))
    kinds = CHAINS[chain]
    for i, kind in enumerate(kinds, 1):
        add_random(builder, f"b{i}", JOINTS[kind], f"b{i - 1}" if i > 1 else "world", rng)
    builder.add_frame("wall", "world", rng.normal(size=3), random_rotation(rng))
    model = builder.build()
    q = model.random_q(rng)
    ends, R, x, poses = ["wall" if grounded else "b1", f"b{len(kinds)}"], random_rotation(rng), rng.normal(size=3), []
    if chain == "sliding":
        ends.reverse()
    for frame in ends:
        Rf, xf = (value.full() for value in od.pose(model, frame, ca.DM(q)))
        poses.append((Rf.T @ R, Rf.T @ (x - xf[:, 0])))
    return model, od.Loop(*ends, axes, *poses, turning=True if axes is TWO_TURNS else None), q


def rows_of(model: od.Model, loops) -> ca.Function:
    """(q, qd) -> G and gamma of the loops' positions phi(q), by automatic differentiation."""
    qs, qds = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    rate = ca.jtimes(ca.vertcat(*(loop.position(model, qs) for loop in loops)), qs, model.q_dot(qs, qds))
    return ca.Function("G", [qs, qds], [ca.jacobian(rate, qds), -ca.jtimes(rate, qs, model.q_dot(qs, qds))])


def assert_same_constrained_mechanics(model, natural, loops, q, rng) -> None:
    """Conditions hold at q, and accelerations of natural coordinates are those of the loops in joint coordinates."""
    s, rows = State.of(model, rng), rows_of(model, loops)
    G = rows(q, s.qd)[0].full()
    qd = s.qd - np.linalg.lstsq(G, G @ s.qd, rcond=1e-9)[0]
    gamma = flat(rows(q, qd)[1])
    x = fm.natural_from_q(model, natural, ca.DM(q))
    xd = fm.natural_velocity(model, natural, ca.DM(q), ca.DM(qd))
    close(x, natural.x)
    close(fm.natural_constraints(model, natural, x), np.zeros(natural.m))
    close(fm.natural_jacobian(model, natural, x) @ xd, np.zeros(natural.m))
    assert natural.degrees_of_freedom(x) == model.nv - np.linalg.matrix_rank(G, 1e-8)
    close(fm.qd_from_natural(model, natural, x, xd), qd)
    H = od.mass_matrix(model, ca.DM(q)).full()
    C = flat(od.bias_force(model, ca.DM(q), ca.DM(qd)))
    qdd = constrained(H, s.tau - C, G, gamma)
    R, Sc = transformation(model, natural, q, qd)
    close(accelerations(model, natural, x, xd, s.tau), R @ qdd + Sc)


@pytest.mark.parametrize(
    ("chain", "axes", "grounded"),
    [
        *(("turning", axes, k % 2 == 0) for k, axes in enumerate(KINDS)),
        *(("sliding", axes, False) for axes in KINDS[::2]), *(("long", axes, False) for axes in KINDS[1::2]),
    ],
    ids=lambda x: "rows" if isinstance(x, tuple) else str(x),
)  # fmt: skip
@pytest.mark.slow
def test_loops_share_points_and_vectors(rng, chain, axes, grounded):
    model, loop, q = closed_chain(chain, axes, grounded, rng)
    natural, tree = fm.natural(model, loop, q=q), fm.natural(model)
    removed = {"ball": 3, "orientation": 9, "revolute": 6, "cylindrical": 3, "prismatic": 9, "fixed": 12}.get(axes, 0)
    tied = sum(": tie" in name for name in natural.constraint_names)
    assert natural.n == tree.n - removed + tied
    assert natural.redundant == 0
    assert_same_constrained_mechanics(model, natural, [loop], q, rng)


@pytest.mark.parametrize("axes", ["ball", "revolute", "cylindrical", "prismatic", "fixed", "orientation"])
@pytest.mark.slow
def test_loops_in_the_plane(rng, axes):
    model = planar_tree(rng, "rrrrrr")
    q = model.random_q(rng)
    n = od.pose(model, "b1", ca.DM(q))[0].full() @ np.array(model.joints[1].axis)
    z = n if axes in ("revolute", "cylindrical") else np.cross(n, rng.normal(size=3))
    z /= np.linalg.norm(z)
    x = np.cross(z, n if axes not in ("revolute", "cylindrical") else rng.normal(size=3))
    x /= np.linalg.norm(x)
    R, at, poses = np.column_stack([x, np.cross(z, x), z]), rng.normal(size=3), []
    for frame in ("b2", "b6"):
        Rf, xf = (value.full() for value in od.pose(model, frame, ca.DM(q)))
        poses.append((Rf.T @ R, Rf.T @ (at - xf[:, 0])))
    loop = od.Loop("b2", "b6", axes, *poses)
    natural = fm.natural(model, loop, q=q)
    assert natural.dimension == 2
    assert_same_constrained_mechanics(model, natural, [loop], q, rng)
    assert_same_constrained_mechanics(model, fm.natural(model, loop, q=q, plane=False), [loop], q, rng)


TURNED = np.kron(np.eye(2), random_rotation(np.random.default_rng(3)))
"""A rotation of 6-D axes: the same loop in the rows of another basis."""


@pytest.mark.parametrize("kind", ["ball", "orientation", "fixed", "revolute", "prismatic", "cylindrical"])
@pytest.mark.slow
def test_rows_are_known_by_what_they_hold(rng, kind):
    """A basis of the same rotations and translations is the same joint, about whichever axis; one row more mixes."""
    rows = np.array(od.Loop("p", "s", kind).axes) @ TURNED.T
    rows = np.vstack([rows, rows[0] - 2 * rows[-1]])
    if kind in ("ball", "orientation"):
        rows = rng.normal(size=(3, 3)) @ rows[:3]
    model, loop, q = closed_chain("turning", tuple(map(tuple, rows)), False, rng)
    natural = fm.natural(model, loop, q=q)
    plain = fm.natural(model, od.Loop("b1", "b4", kind, loop.predecessor_pose, loop.successor_pose), q=q)
    assert (natural.n, natural.m, natural.redundant) == (plain.n, plain.m, 0)
    G = rows_of(model, [loop])(q, np.zeros(model.nv))[0].full()
    R, _ = transformation(model, natural, q, np.zeros(model.nv))
    null = np.linalg.svd(G)[2][np.linalg.matrix_rank(G, 1e-9) :].T
    close(fm.natural_jacobian(model, natural, ca.DM(natural.x)).full() @ R @ null, np.zeros((natural.m, null.shape[1])))
    assert natural.degrees_of_freedom() == null.shape[1]


def test_frames_that_are_turned_against_each_other_stay_so(rng):
    """phi vanishes for half turns, too: the loop holds whichever orientation it has at q."""
    model, loop, q = closed_chain("turning", "fixed", False, rng)
    R, r = loop.successor_pose
    for axes, half_turn in (("fixed", np.diag([-1, 1, -1])), ("revolute", np.diag([-1, 1, -1])),
                            ("prismatic", np.diag([-1, -1, 1]))):  # fmt: skip
        turned = (np.reshape(R, (3, 3)) @ half_turn, r)
        other = od.Loop("b1", "b4", axes, loop.predecessor_pose, turned)
        natural = fm.natural(model, other, q=q)
        plain = fm.natural(model, od.Loop("b1", "b4", axes, loop.predecessor_pose, loop.successor_pose), q=q)
        assert (natural.n, natural.m, natural.redundant) == (plain.n, plain.m, 0)
        close(fm.natural_constraints(model, natural, ca.DM(natural.x)), np.zeros(natural.m))
        close(fm.natural_constraints(model, plain, ca.DM(natural.x)), np.zeros(natural.m))


@pytest.mark.parametrize(
    "rows",
    [
        ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)), ((0, 0, 0, 1, 2, 3), (0, 0, 0, 3, 1, 1), (0, 0, 0, 1, 7, 1)),
        ((0, 0, 0, 1, 0.5, -2),), ((0, 1, 0, 0.3, 0, 0.2),), ((0, 1, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)),
        ((1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 1), (0, 0, 0, 0, 1, 0)), ((0, 1, 0, 0.3, 0, 0.2), (1, 0, 0, 0, 0, 0)),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_rows_of_loops_in_the_plane(rng, rows):
    """Two translations share a point; single rows and rows that mix a rotation with a translation are conditions."""
    model, _ = four_bar()
    q = np.array([0.3, 0.5, -0.2])
    loop = od.Loop("crank", "rocker", rows, *(
        (R.T, R.T @ (np.array((0.7, 0, 0.1)) - p[:, 0]))
        for R, p in ([value.full() for value in od.pose(model, f, ca.DM(q))] for f in ("crank", "rocker"))
    ))  # fmt: skip
    natural = fm.natural(model, loop, q=q)
    assert natural.dimension == 2
    assert natural.redundant == 0
    assert_same_constrained_mechanics(model, natural, [loop], q, rng)


def test_rows_that_turn_frames_out_of_the_plane_need_space(rng):
    model, _ = four_bar()
    tilted = turn((0.3, 0, 0))
    loop = od.Loop("crank", "rocker", ((0, 1, 0, 0.3, 0, 0.2),), (np.eye(3), (2, 0, 1)), (tilted, (0, 0, 0)))
    natural = fm.natural(model, loop)
    assert natural.dimension == 3
    assert_same_constrained_mechanics(model, natural, [loop], natural.q, rng)
    with pytest.raises(ValueError, match=r"plane=True: .*rows of loop crank-rocker turn frames out of it"):
        fm.natural(model, loop, plane=True)


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [(od.models.bricard, (24, 24, 1)), (od.models.n_four_bar, (6, 5, 0)),
     (od.models.squeezer, (8, 7, 0)), (od.models.spatial_slider_crank, (15, 14, 0)), (od.models.car, (171, 156, 0)),],
)  # fmt: skip
@pytest.mark.slow
def test_ready_mechanisms(rng, mechanism, size):
    chain = mechanism()
    natural = fm.natural(chain.model, chain.loops, q=chain.q)
    assert (natural.n, natural.m, natural.redundant) == size
    assert natural.degrees_of_freedom() == chain.degrees_of_freedom()
    assert_same_constrained_mechanics(chain.model, natural, chain.loops, chain.q, rng)


def four_bar(*, crossed: bool = False) -> tuple[od.Model, od.Loop]:
    """Crank 1 m, coupler 2 m, rocker 1 m on a base of 2 m; crossed: the loop's axes point at each other."""
    builder = od.ModelBuilder("four_bar")
    turn = np.diag([-1.0, 1.0, -1.0]) if crossed else np.eye(3)
    for name, parent, origin, com in (
        ("crank", "world", (0, 0, 0), (0, 0, 0.5)), ("coupler", "crank", (0, 0, 1), (1, 0, 0)),
        ("rocker", "coupler", (2, 0, 0), (0, 0, -0.5)),
    ):  # fmt: skip
        builder.add_body(name, od.Revolute("y"), parent, origin=origin, mass=1.0, com=com, inertia=(0.1, 0.1, 0.1))
    builder.add_frame("base", "world", (2, 0.3, 0))
    model = builder.build()
    R = np.array(((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    return model, od.Loop("base", "rocker", "revolute", (R, (0, 0, 0)), (R @ turn, (0, 0.3, -1)))


def test_a_four_bar_has_four_coordinates():
    model, loop = four_bar()
    natural = fm.natural(model, loop)
    assert (natural.n, natural.m, natural.degrees_of_freedom()) == (4, 3, 1)
    assert natural.constraint_names == ("crank: P1P2.P1P2", "coupler: P2P3.P2P3", "rocker: P3P4.P3P4")
    assert (natural.rows_of("coupler"), natural.rows_of("coup")) == ((1,), ())
    assert [e.bodies for e in natural.points if e.fixed] == [("world", "crank"), ("world", "rocker")]
    space = fm.natural(model, loop, plane=False)
    assert (space.n, space.m, space.redundant) == (15, 15, 1)
    opposite = fm.natural(*four_bar(crossed=True), plane=False)
    assert (opposite.n, opposite.m, opposite.redundant) == (15, 15, 1)


def test_five_bars_have_the_coordinates_of_the_book():
    """[GJB94, 8.4.3]: 30 coordinates; closed, Bricard's mechanism has one degree of freedom that counting denies."""
    model = five_bars()
    natural = fm.natural(
        model, points={"tip": ("bar5", BRICARD[5] - BRICARD[4])}, vectors={"tip axis": ("bar5", (1, 0, 0))}
    )
    assert (natural.n, natural.m, natural.degrees_of_freedom()) == (30, 25, 5)
    assert natural.element("tip").first is not None
    closed = fm.natural(model, bricard_loop())
    assert (closed.n, closed.m, closed.degrees_of_freedom(), closed.redundant) == (24, 24, 1, 1)
    assert_same_constrained_mechanics(model, closed, [bricard_loop()], closed.q, np.random.default_rng(0))


def test_two_loops_that_meet_in_one_point(rng):
    """Bars of a row of four-bars share the point at which two couplers and an upright meet."""
    builder = od.ModelBuilder("row")
    for k in range(2):
        builder.add_body(f"upright{k}", od.Revolute("y"), "world", origin=(k, 0, 0), mass=1, com=(0, 0, 0.5))
    for k in range(2):
        builder.add_body(f"coupler{k}", od.Revolute("y"), f"upright{k}", origin=(0, 0, 1), mass=1, com=(0.5, 0, 0))
    builder.add_body("upright2", od.Revolute("y"), "coupler1", origin=(1, 0, 0), mass=1, com=(0, 0, -0.5))
    builder.add_frame("base", "world", (2, 0, 0))
    model = builder.build()
    R = ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    loops = [
        od.Loop("upright1", "coupler0", "revolute", (R, (0, 0, 1)), (R, (1, 0, 0))),
        od.Loop("base", "upright2", "revolute", (R, (0, 0, 0)), (R, (0, 0, -1))),
    ]
    q = od.assemble_q(model, loops, [0.4, 0.4, -0.4, -0.4, 0.4])
    natural = fm.natural(model, loops, q=q)
    assert (natural.n, natural.m, natural.degrees_of_freedom()) == (6, 5, 1)
    assert ("upright1", "coupler0", "coupler1") in [e.bodies for e in natural.points]
    assert_same_constrained_mechanics(model, natural, loops, q, rng)


def test_a_singular_position_has_more_freedom():
    """A parallelogram whose bars lie in one line can move on in two ways."""
    model, loop = four_bar()
    natural = fm.natural(model, loop)
    q = ca.DM([np.pi / 2, -np.pi / 2, np.pi / 2])
    flat_ = fm.natural_from_q(model, natural, q)
    close(fm.natural_constraints(model, natural, flat_), np.zeros(3))
    assert (natural.degrees_of_freedom(), natural.degrees_of_freedom(flat_)) == (1, 2)


@pytest.mark.parametrize("tilt", [0.0, 0.03])
@pytest.mark.slow
def test_given_elements_that_hardly_span_a_body_are_tied(rng, tilt):
    """A point, an axis and another point on the axis, or near it, each shared with another body: the last body has too
    little for a basis, and one element too many for its line."""
    builder = od.ModelBuilder("line", gravity=(1.1, -2.3, -9.81))
    for name, joint, parent in (
        ("b1", od.Spherical(), "world"), ("b4", od.Spherical(), "b1"), ("b2", od.Spherical(), "b1"),
        ("b3", od.Revolute("z"), "b2"),
    ):  # fmt: skip
        add_random(builder, name, joint, parent, rng)
    model = builder.build()
    q = model.random_q(rng)
    point = np.array((0.4 * tilt, 0, 0.4))
    at = od.point_position(model, "b3", ca.DM(q), point)
    R, p = od.pose(model, "b4", ca.DM(q))
    loop = od.Loop("b4", "b3", "ball", (np.eye(3), flat(R.T @ (at - p))), (np.eye(3), point))
    natural = fm.natural(model, loop, q=q)
    assert sum(": tie" in name for name in natural.constraint_names) == 3
    assert natural.redundant == 0
    assert_same_constrained_mechanics(model, natural, [loop], q, rng)


@pytest.mark.slow
def test_a_surplus_element_is_tied_by_linear_conditions(rng):
    """A platform on six given points: one is its origin, three give its directions, two are tied."""
    builder = od.ModelBuilder("platform", gravity=(1.1, -2.3, -9.81))
    add_random(builder, "b0", od.FloatingBase(), "world", rng)
    for i in range(1, 6):
        add_random(builder, f"b{i}", od.Spherical(), "world", rng)
    add_random(builder, "platform", od.FloatingBase(), "world", rng)
    model = builder.build()
    q, loops = model.random_q(rng), []
    for i in range(6):
        at = rng.normal(size=3)
        poses = []
        for frame in (f"b{i}", "platform"):
            R, p = (value.full() for value in od.pose(model, frame, ca.DM(q)))
            poses.append((np.eye(3), R.T @ (at - p[:, 0])))
        loops.append(od.Loop(f"b{i}", "platform", "ball", *poses))
    enough, further = fm.natural(model, loops[:4], q=q), {"n": ("platform", (0.6, 0, 0.8))}
    assert fm.natural(model, loops[:4], q=q, vectors=further).n == enough.n  # given elements come first
    natural = fm.natural(model, loops, q=q)
    assert [p for p, name in zip(natural.powers, natural.constraint_names, strict=True) if ": tie" in name] == [1] * 6
    assert natural.redundant == 0
    assert_same_constrained_mechanics(model, natural, loops, q, rng)


# Elements


def test_every_element_is_where_its_bodies_have_it(rng):
    model, loop, q = closed_chain("turning", "revolute", False, rng)
    natural = fm.natural(model, loop, q=q, points={"mine": ("b4", (0.3, -0.2, 0.1))}, vectors={"n": ("b4", (0, 0, 2))})
    x = ca.DM(natural.x)
    for element in (*natural.points, *natural.vectors):
        for body, local in zip(element.bodies, element.local, strict=True):
            R, p = od.pose(model, body, ca.DM(q)) if body != "world" else (ca.DM.eye(3), ca.DM(3, 1))
            close(element.value(x), flat(R @ ca.DM(local) + (p if element.is_point else 0)))
        if element.first is not None:
            close(natural.x[element.first : element.first + 3], flat(element.value(x)))
    close(natural.element("n").local[0], (0, 0, 1))
    close(natural.element("mine").local[0], (0.3, -0.2, 0.1))


def test_elements_that_are_asked_for_are_in_their_frame(rng):
    """A point and a direction in a frame that is turned and moved on its body."""
    turn, r = random_rotation(rng), (0.1, 0.2, -0.3)
    model = tree("spherical")
    body = model.body_names[1]
    model = model.with_frame("tool", body, r, turn)
    natural = fm.natural(model, points={"A": ("tool", (0.5, 0, 0))}, vectors={"a": ("tool", (0, 3, 0))})
    point, vector = (dict(zip(e.bodies, e.local, strict=True))[body] for e in map(natural.element, "Aa"))
    close(np.array(point), r + turn[:, 0] / 2)
    close(np.array(vector), turn[:, 1])


def test_points_are_one_by_the_size_of_the_mechanism():
    """Two points half a nanometer apart are two in a mechanism of 1 mm, and one in a mechanism of 1 m."""
    for length, message in ((1e-3, None), (1.0, "'b' and 'a' are the same")):
        points = {"a": ("rocker", (0, 0, 0)), "b": ("rocker", (5e-10, 0, 0))}
        with pytest.raises(ValueError, match=message) if message else nullcontext():
            fm.natural(MODEL.scale(length), points=points)


def test_errors_of_loops_count_by_the_size_of_the_mechanism():
    """A gap of a tenth of a micrometer is large on a mechanism of 1 mm, and small on one of 1 km."""
    for length, message in ((1e-3, "loop base-rocker is not closed at q"), (1e3, None)):
        model, end = MODEL.scale(length), tuple(length * np.array(LOOP.successor_pose[1]) + (1e-7, 0, 0))
        start = tuple(length * np.array(LOOP.predecessor_pose[1]))
        loop = LOOP.with_parameter("predecessor", start).with_parameter("successor", end)
        q = od.assemble_q(MODEL, (LOOP,), MODEL.neutral())
        with pytest.raises(ValueError, match=message) if message else nullcontext():
            fm.natural(model, loop, q=q)


def test_two_sliders_span_a_plane(rng):
    """A cross slide without a revolute joint; a third slide out of its plane needs space."""
    a, b, c = random_rotation(rng).T
    builder = od.ModelBuilder("slides")
    builder.add_body("x", od.Prismatic(a), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.add_body("y", od.Prismatic(0.3 * a + b), "x", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    natural = fm.natural(model)
    assert natural.dimension == 2
    assert_same_mechanics(model, natural, rng)
    builder.add_body("z", od.Prismatic(c), "y", mass=1.0, inertia=(0.1, 0.1, 0.1))
    assert fm.natural(builder.build()).dimension == 3


def test_the_text_lists_points_and_vectors():
    text = str(fm.natural(*four_bar(), plane=False))
    assert text.startswith(
        "natural coordinates of four_bar: n = 15 coordinates, m = 15 conditions, 1 of them redundant, 1 degree of "
        "freedom"
    )
    assert "P2       x[0:3]       (0, 0, 1)    crank, coupler" in text
    assert "u1       fixed        (0, 1, 0)    world, crank, coupler, rocker" in text
    assert "in the plane" in str(fm.natural(*four_bar()))


def test_parallel_axes_and_coincident_points_are_one():
    """Two axes of a wrist through one point, and opposite axes of a finger."""
    builder = od.ModelBuilder()
    for k, axis in enumerate(("z", "x", "-x")):
        builder.add_body(f"b{k}", od.Revolute(axis), f"b{k - 1}" if k else "world", mass=1, com=(0.1, 0.2, 0.3),
                         inertia=(1, 1, 1), origin=(0, 0, 0 if k < 2 else 0.5))  # fmt: skip
    natural = fm.natural(builder.build())
    assert sum(not e.fixed for e in natural.vectors if len(e.bodies) > 1) == 1
    assert [e.bodies for e in natural.points if len(e.bodies) > 2] == [("world", "b0", "b1")]


def test_natural_coordinates_can_be_pickled_and_are_compared_by_identity():
    natural = fm.natural(*four_bar())
    again = pickle.loads(pickle.dumps(natural))
    assert again != natural
    assert again.names == natural.names
    assert hash(natural) == hash(natural)
    assert repr(natural) == "<NaturalCoordinates of 'four_bar': n=4, m=3, dimension=2>"


# Expressions, Functions, parameters


ALGORITHMS = (
    fm.natural_mass_matrix, fm.natural_constraints, fm.natural_jacobian, fm.natural_jacobian_rate, fm.natural_force,
    fm.natural_from_q, fm.natural_velocity, fm.q_from_natural, fm.qd_from_natural,
)  # fmt: skip


def test_the_jacobian_is_the_derivative_of_the_conditions(rng):
    model, loop, q = closed_chain("sliding", ROWS, False, rng)
    natural = fm.natural(model, loop, q=q)
    x, xd = ca.SX.sym("x", natural.n), ca.SX.sym("xd", natural.n)
    J = ca.jacobian(fm.natural_constraints(model, natural, x), x)
    at = rng.normal(size=natural.n), rng.normal(size=natural.n)
    ours = fm.natural_jacobian(model, natural, x), fm.natural_jacobian_rate(model, natural, x, xd)
    f = ca.Function("f", [x, xd], [ours[0], J, ours[1], -ca.jtimes(J @ xd, x, xd)])
    found, J, c, expected = f(*at)
    close(found, J.full())
    close(c, flat(expected))
    assert set(ca.symvar(fm.natural_mass_matrix(model, natural, x))) == set()


def test_labels_and_sizes_of_functions():
    model, loop = four_bar()
    natural = fm.natural(model, loop)
    f = od.function(fm.natural_jacobian, model, natural)
    assert str(f).startswith("NC_Phi_x:(x[4])->(Phi_x[3x4")
    labels = od.functions.description.describe(f).labels
    assert labels["x"].rows == natural.names == ("P2.x", "P2.z", "P3.x", "P3.z")
    assert labels["Phi_x"].rows == natural.constraint_names


@pytest.mark.slow
def test_masses_and_gravity_are_parameters(rng):
    """Natural coordinates hold the geometry; mass, inertia and gravity come from the model."""
    for model in (tree("forest"), planar_tree(rng)):
        natural = fm.natural(model)
        other = model.with_inertia("b2", 3.3, (0.1, -0.2, 0.3), np.diag([0.5, 0.4, 0.3])).with_gravity((1, 2, 3))
        values = {name: model_parameter(other, name) for name in ("inertia:b2", "gravity")}
        s = State.of(model, rng)
        x, zero = fm.natural_from_q(model, natural, ca.DM(s.q)), ca.DM.zeros(natural.n)
        M = od.function(fm.natural_mass_matrix, model, natural, parameters=("inertia:b2",))
        close(M(x, values["inertia:b2"]), fm.natural_mass_matrix(other, natural, x).full())
        Q = od.function(fm.natural_force, model, natural, parameters=tuple(values))
        expected = fm.natural_force(other, natural, x, zero, ca.DM(s.tau))
        close(Q(x, zero, s.tau, *values.values()), flat(expected))


def model_parameter(model: od.Model, name: str) -> ca.DM:
    if name == "gravity":
        return ca.DM(model.gravity)
    return od.mechanism.parameters.inertia_parameters(model.I[model.body_names.index(name.partition(":")[2]) + 1])


# Forces


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.slow
def test_external_wrenches(rng, planar):
    model = planar_tree(rng) if planar else tree("forest")
    model = model.with_frame("hand", model.body_names[-1], (0.1, 0.2, -0.3), random_rotation(rng))
    natural = fm.natural(model)
    loads = od.Loads(external=("hand", "b1"))
    s, f_ext = State.of(model, rng), ca.DM(rng.normal(size=(6, 2)))
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    x, xd = fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)
    R, _ = transformation(model, natural, s.q, s.qd)
    with_, without = (
        flat(fm.natural_force(model, natural, x, xd, ca.DM(s.tau), *f, loads=l))
        for f, l in (((f_ext,), loads), ((), od.Loads()))
    )
    C = flat(od.bias_force(model, q, qd)) - flat(od.bias_force(model, q, qd, f_ext, loads=loads))
    close(R.T @ (with_ - without), C)
    function = od.function(fm.natural_force, model, natural, loads=loads)
    close(function(x, xd, s.tau, f_ext), with_)


@pytest.mark.parametrize("key", ["revolute_skew", "spherical", "forest", "euler_zyx"])
@pytest.mark.slow
def test_springs_damping_and_friction(rng, key):
    source = tree(key)
    builder = od.ModelBuilder(key)
    for i, p in source.edges:
        nv = source.joints[i].nv
        builder.add_body(
            f"b{i}", source.joints[i], f"b{p}" if p else "world", origin=flat(source.X_tree[i].r), mass=1.0,
            inertia=(0.1, 0.2, 0.25), stiffness=rng.uniform(1, 2, nv), damping=rng.uniform(1, 2, nv),
            friction=rng.uniform(1, 2, nv),
        )  # fmt: skip
    model = builder.build()
    natural, loads, s = fm.natural(model), od.Loads(passive=True, slip_speed=0.3), State.of(model, rng)
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    x, xd = fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)
    R, Sc = transformation(model, natural, s.q, s.qd)
    M = fm.natural_mass_matrix(model, natural, x).full()
    Q = flat(fm.natural_force(model, natural, x, xd, ca.DM(s.tau), loads=loads))
    close(R.T @ (M @ Sc - Q), flat(od.bias_force(model, q, qd, loads=loads)) - s.tau)


def test_torques_have_the_power_of_their_joints(rng):
    model = tree("forest")
    natural, s = fm.natural(model), State.of(model, rng)
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    x, xd = fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)
    Q, rest = (fm.natural_force(model, natural, x, xd, tau) for tau in (ca.DM(s.tau), ca.DM.zeros(model.nv)))
    close(ca.dot(Q - rest, xd), s.tau @ s.qd)


# Errors


def joined(joint: od.Joint) -> od.Model:
    builder = od.ModelBuilder()
    builder.add_body("a", joint, joint_name="odd", mass=1, inertia=(1, 1, 1))
    builder.add_frame("base", "world", (1, 0, 0))
    return builder.build()


MODEL, LOOP = four_bar()
NATURAL = fm.natural(MODEL, LOOP)
ROLLED = dataclasses.replace(MODEL, joints=(*MODEL.joints[:-1], od.Revolute("-y")))
OPEN = od.Loop("base", "rocker", "revolute", LOOP.predecessor_pose, LOOP.successor_pose, label="knee")
TOO_FAR = od.Loop("base", "rocker", "ball", (np.eye(3), (9, 0, 0)), label="knee")


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "joint odd: natural coordinates take no Helical.*Formulation B", lambda: fm.natural(
            joined(JOINTS["helical_x"]))),
        (ValueError, "joint odd: natural coordinates take no CustomJoint", lambda: fm.natural(
            joined(JOINTS["custom"]))),
        (ValueError, r"joint odd \(2\): natural coordinates take no Helical", lambda: fm.natural(
            joined(JOINTS["multi_dof"]))),
        (ValueError, r"loop knee is not closed at q: row knee.tx is .*od.assemble_q", lambda: fm.natural(
            MODEL, OPEN, q=[0.1, 0.2, 0.3])),
        (ValueError, "loops knee cannot be closed from model.neutral.*give a closed", lambda: fm.natural(
            MODEL, TOO_FAR)),
        (TypeError, "loops must be od.Loop's, got Contact.*Formulation B", lambda: fm.natural(
            MODEL, [od.Contact("rocker")])),
        (TypeError, "loops must be od.Loop's, got 3", lambda: fm.natural(MODEL, 3)),
        (ValueError, "loop crank-crank: both ends are on one body, crank", lambda: fm.natural(
            MODEL, od.Loop("crank", "crank", "ball"))),
        (ValueError, "q must have 3 entries", lambda: fm.natural(MODEL, LOOP, q=[1, 2])),
        (ValueError, "q: body a has no pose at q = .*a quaternion must not be zero", lambda: fm.natural(
            joined(od.Spherical()), q=np.zeros(joined(od.Spherical()).nq))),
        (ValueError, "plane must be True, False or 'auto', got 'yes'", lambda: fm.natural(MODEL, plane="yes")),
        (ValueError, "plane=True: .* joint b1_joint .*leaves it", lambda: fm.natural(tree("spherical"), plane=True)),
        (ValueError, "plane=True: .*axis of joint2|plane=True: .*the axis of", lambda: fm.natural(
            tree("revolute_z"), plane=True)),
        (ValueError, "plane=True: .*it has no revolute joint", lambda: fm.natural(
            joined(od.Prismatic("x")), plane=True)),
        (ValueError, "plane must be True, False or 'auto', got array", lambda: fm.natural(MODEL, plane=np.ones(2))),
        (TypeError, "points must be .*got {'': ", lambda: fm.natural(MODEL, points={"": ("rocker", (0, 0, 1))})),
        (ValueError, "'a' is the name of a point and of a vector", lambda: fm.natural(
            MODEL, points={"a": ("rocker", (0, 0, 1))}, vectors={"a": ("rocker", (0, 0, 1))})),
        (KeyError, "no frame 'thigh'", lambda: fm.natural(MODEL, points={"p": ("thigh", (0, 0, 0))})),
        (TypeError, "points must be .*got {'p': 3}", lambda: fm.natural(MODEL, points={"p": 3})),
        (ValueError, "'b' and 'a' are the same", lambda: fm.natural(
            MODEL, points={"a": ("rocker", (0, 0, 1)), "b": ("rocker", (0, 2, 1))})),
        (TypeError, "vectors must be .*got 3", lambda: fm.natural(MODEL, vectors=3)),
        (ValueError, "vectors: 'v' must be a direction along which", lambda: fm.natural(
            MODEL, vectors={"v": ("crank", (0, 1, 0))})),
        (KeyError, "no point or vector 'P9'; there are: P1, ", lambda: NATURAL.element("P9")),
        (ValueError, "x must have 4 entries", lambda: NATURAL.rank(np.zeros(3))),
        (TypeError, "x must be 4 numbers, got the expression", lambda: NATURAL.rank(ca.SX.sym("x", 4))),
        (ValueError, "x must be finite", lambda: NATURAL.rank([np.nan] * 4)),
        (ValueError, "rank: tolerance must be positive", lambda: NATURAL.rank(tolerance=-1.0)),
        (ValueError, "read-only", lambda: NATURAL.x.fill(1.0)),
        (TypeError, r"natural must be natural coordinates, .*got \(\)", lambda: fm.natural_constraints(
            MODEL, (), ca.DM(4, 1))),
        (ValueError, r"x must be one column of 4 entries, got shape \(3, 1\)", lambda: fm.natural_constraints(
            MODEL, NATURAL, ca.DM(3, 1))),
        (ValueError, r"xd must be one column of \d+ entries, got shape", lambda: fm.natural_jacobian_rate(
            MODEL, NATURAL, ca.DM(4, 1), [0, 0])),
        (TypeError, "one kind, got SX and MX", lambda: fm.natural_jacobian_rate(
            MODEL, NATURAL, ca.SX(4, 1), ca.MX(4, 1))),
        (ValueError, "belong to another mechanism", lambda: fm.natural_mass_matrix(
            five_bars(), NATURAL, ca.DM(4, 1))),
        (ValueError, "belong to another mechanism", lambda: fm.natural_mass_matrix(
            MODEL.scale(1.1), NATURAL, ca.DM(4, 1))),
        (ValueError, "belong to another mechanism", lambda: fm.natural_mass_matrix(
            ROLLED, NATURAL, ca.DM(4, 1))),
        *((ValueError, "belong to another mechanism", lambda f=f, k=k: f(MODEL.scale(1.1), NATURAL, *[ca.DM(4, 1)] * k))
          for f, k in ((fm.natural_constraints, 1), (fm.natural_jacobian, 1), (fm.natural_jacobian_rate, 2))),
        (ValueError, "joint coupler_joint: its position is an expression", lambda: od.function(
            fm.natural_constraints, MODEL, NATURAL, parameters=("origin:coupler_joint",))),
        (ValueError, "joint coupler_joint: its position is an expression", lambda: od.function(
            fm.natural_mass_matrix, MODEL, NATURAL, parameters=("origin:coupler_joint",))),
        (ValueError, "joint coupler_joint: its position is an expression", lambda: fm.natural(
            od.mechanism.parameters.with_parameters(MODEL, {"origin:coupler_joint": ca.SX.sym("r", 3)}))),
        (ValueError, "loop base-rocker: its pose is an expression", lambda: fm.natural(
            MODEL, LOOP.with_parameter("successor", ca.SX.sym("r", 3)), q=np.zeros(3))),
        (ValueError, "the position of a frame is an expression", lambda: fm.natural(
            od.mechanism.parameters.with_parameters(MODEL.with_frame("f", "rocker"), {"position:f": ca.SX.sym("r", 3)}),
            points={"p": ("f", (0, 0, 0))})),
        (ValueError, "constant mass matrix, loads.armature", lambda: fm.natural_force(
            MODEL, NATURAL, ca.DM(4, 1), ca.DM(4, 1), ca.DM(3, 1), loads=od.Loads(armature=True))),
        (ValueError, "f_ext must be 6 x 1", lambda: fm.natural_force(
            MODEL, NATURAL, ca.DM(4, 1), ca.DM(4, 1), ca.DM(3, 1), ca.DM(6, 2), loads=od.Loads(external=("base",)))),
        (ValueError, "names frames but no f_ext", lambda: fm.natural_force(
            MODEL, NATURAL, ca.DM(4, 1), ca.DM(4, 1), ca.DM(3, 1), loads=od.Loads(external=("base",)))),
        (ValueError, "have the sizes of natural coordinates, and none are given", lambda: od.function(
            fm.natural_constraints, MODEL)),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_errors_name_what_is_wrong_and_the_remedy(error, message, call):
    with pytest.raises(error, match=message):
        call()
