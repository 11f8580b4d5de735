"""Solvers of constrained motion, impacts by row, constrained inverse dynamics, assembly."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.constrained_motion import SOLVERS
from ocp_dyn.constrained_motion.independent_rows import ConstraintRows, GroupRows
from ocp_dyn.constrained_motion.inverse_dynamics import actuated_dofs
from scripts.bench.dynamics.robots import robot
from scripts.bench.instructions import solver_counts
from tests.helpers import State, add_random, close, evaluate, flat, mostly_slow, tree

every_solver = pytest.mark.parametrize("solver", SOLVERS)
FOOT = [(x, y, -0.1) for x in (-0.1, 0.15) for y in (-0.05, 0.05)]


def walker(root: od.Joint | None = None) -> od.Model:
    """A trunk with two legs of six revolute joints and an arm that forks: branches at several depths."""
    rng = np.random.default_rng(3)
    builder = od.ModelBuilder("walker")
    builder.add_frame("ground", "world")
    add_random(builder, "trunk", root or od.FloatingBase(), "world", rng)
    for leg in range(2):
        parent = "trunk"
        for k, axis in enumerate(("z", "x", "y", "y", "y")):
            add_random(builder, f"leg{leg}{k}", od.Revolute(axis), parent, rng)
            parent = f"leg{leg}{k}"
        add_random(builder, f"foot{leg}", od.Revolute("x"), parent, rng)
    add_random(builder, "arm", od.Spherical(), "trunk", rng)
    add_random(builder, "hand0", od.Revolute("y"), "arm", rng)
    add_random(builder, "hand1", od.Prismatic("z"), "arm", rng)
    return builder.build()


def bricard() -> od.Model:
    """The cubic Bricard loop cut at its last joint: unit rods along the edges of a cube [GJB94, ch. 3]."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    builder = od.ModelBuilder("bricard")
    builder.add_frame("ground", "world")
    parent, before = "world", np.zeros(3)
    for k, axis in enumerate("yzxyz"):
        rod = points[k + 1] - points[k]
        builder.add_body(
            f"rod{k}", od.Revolute(axis), parent, origin=points[k] - before, mass=1, com=rod / 2,
            inertia=(np.eye(3) - np.outer(rod, rod)) / 12 + 1e-3 * np.eye(3),
        )  # fmt: skip
        parent, before = f"rod{k}", points[k]
    return builder.build()


HINGE_X = tuple(tuple(map(float, row)) for row in np.eye(6)[1:])  # every axis but the rotation about x
BRICARD = (od.Loop("ground", "rod4", HINGE_X, (np.eye(3), (0, 0, 1)), (np.eye(3), (0, 1, 0))),)

INDEPENDENT = {
    "two feet": (od.Contact("foot0"), od.Contact("foot1")),
    "a foot and a hand on a gear": (
        od.Contact("foot0", axes="xyz"),
        od.Contact("hand0", axes="z"),
        od.JointCoupling("leg13_joint", "leg14_joint", 2.0),
    ),
    "branches tied together": (
        od.Loop("hand0", "hand1", ((0, 0, 1, 0.3, 0, 0), (0, 0, 0, 0, 1, 0))),
        od.Loop("foot0", "foot1", "ball", (np.eye(3), (0.1, 0.2, 0))),
    ),
    "a round foot, a sole": (od.RollingContact("foot0", 0.1, axis="y"), *od.plane_contacts("foot1", FOOT[:3])),
    "what a function says": (
        od.CustomConstraint(lambda q: q[8] * q[9] + ca.sin(q[0]), 1),
        od.Contact("foot1", axes=((1, 2, 3),)),
    ),
}
REDUNDANT = {
    "double support": (*od.point_contacts("foot0", FOOT), *od.point_contacts("foot1", FOOT)),
    "a foot twice": (od.Contact("foot0"), od.Contact("foot0", point=FOOT[0])),
    "twelve rows on four points": od.point_contacts("foot1", FOOT),
}
MODEL = walker()


def matrices(model, constraints, s):
    q, qd = DM(s.q), DM(s.qd)
    H, C, G, gamma = od.constrained_equations(model, constraints, q, qd)
    return H.full(), flat(C), G.full(), flat(gamma)


# Solvers


@pytest.mark.parametrize(
    ("constraints", "solver"),
    [
        (rows, solver)
        for k, rows in enumerate(INDEPENDENT.values())
        for solver in SOLVERS
        if k == 2 or solver == "range"
    ],
)
@pytest.mark.slow
def test_solvers_agree(rng, constraints, solver):
    """qdd, lam, qd_plus, Lam of every solver are those of the plain dense solve, signs and all."""
    s = State.of(MODEL, rng)
    H, C, G, gamma = matrices(MODEL, constraints, s)
    m = len(G)
    assert od.constraint_rank(MODEL, constraints, s.q) == m
    K = np.block([[H, -G.T], [G, np.zeros((m, m))]])
    tolerance = 1e-12 * np.linalg.cond(G @ np.linalg.solve(H, G.T))
    expected = np.linalg.solve(K, np.concatenate([s.tau - C, gamma]))
    qdd, lam = evaluate(od.constrained_dynamics, MODEL, constraints, args=(s.q, s.qd, s.tau), solver=solver)
    close(np.concatenate([qdd, lam]), expected, tolerance)
    expected = np.linalg.solve(K, np.concatenate([H @ s.qd, -0.3 * (G @ s.qd)]))
    qd_plus, Lam = evaluate(od.impact, MODEL, constraints, args=(s.q, s.qd), e=0.3, solver=solver)
    close(np.concatenate([qd_plus, Lam]), expected, tolerance)


@every_solver
def test_the_ground_pushes(solver):
    """A mass on the ground is pushed up by its weight, and stopped by an upward impulse: one sign for all solvers."""
    builder = od.ModelBuilder()
    builder.add_body("mass", od.Translation(), mass=3, inertia=(1, 1, 1))
    model, floor = builder.build(), od.Contact("mass", axes="z")
    zero = np.zeros(3)
    _, lam = evaluate(od.constrained_dynamics, model, floor, args=(zero, zero, zero), solver=solver)
    close(lam, [3 * 9.81])
    qd_plus, Lam = evaluate(od.impact, model, floor, args=(zero, (0.5, 0, -2.0)), solver=solver, e=0.5)
    close(qd_plus, (0.5, 0, 1.0))
    close(Lam, [3 * 3.0])


@every_solver
@pytest.mark.slow
def test_solvers_on_symbols_and_with_external_forces(rng, solver):
    model, constraints = tree("floating"), od.Contact("b3")
    s = State.of(model, rng)
    f_ext = rng.normal(size=(6, 1))
    loads = od.Loads(external=("b2",))
    q, qd, tau = (ca.MX.sym(name, n) for name, n in (("q", model.nq), ("qd", model.nv), ("tau", model.nv)))
    qdd, lam = od.constrained_dynamics(model, constraints, q, qd, tau, DM(f_ext), loads=loads, solver=solver)
    values = ca.Function("f", [q, qd, tau], [qdd, lam])(s.q, s.qd, s.tau)
    known = evaluate(od.constrained_dynamics, model, constraints, args=(s.q, s.qd, s.tau, f_ext), loads=loads)
    for a, b in zip(values, known, strict=True):
        close(a, b, 1e-8)


@pytest.mark.parametrize(
    ("name", "solver"),
    [*((name, "range") for name in REDUNDANT), *(("double support", s) for s in ("aba", "proximal"))],
)
@pytest.mark.slow
def test_redundant_rows(rng, name, solver):
    """qdd as with independent rows, every row kept, forces that fit; "proximal" has the least of them."""
    constraints = REDUNDANT[name]
    s = State.of(MODEL, rng)
    s.qd = od.assemble_qd(MODEL, constraints, s.q, s.qd)
    H, C, G, gamma = matrices(MODEL, constraints, s)
    rank = od.constraint_rank(MODEL, constraints, s.q)
    assert rank == (12 if name == "double support" else 6) < len(G)
    inverse = np.linalg.inv(H)
    least = np.linalg.pinv(G @ inverse @ G.T, 1e-9) @ (gamma - G @ inverse @ (s.tau - C))
    qdd, lam, residual = evaluate(
        od.constrained_dynamics, MODEL, constraints, args=(s.q, s.qd, s.tau), solver=solver, residual=True
    )
    close(qdd, inverse @ (s.tau - C + G.T @ least), 1e-7)  # what the pseudo-inverse and skipped pivots lose
    close(residual, np.zeros(len(G)), 1e-7)
    close(H @ qdd + C - G.T @ lam, s.tau, 1e-9)
    if solver == "proximal":
        rows = ConstraintRows.of(MODEL, constraints, DM(s.q))
        inertias = DM(np.diag(H))
        for group in rows.groups:  # the least in proportion to the sizes of moments and of forces
            at = list(group.rows)
            w = GroupRows.of(rows, group, 1 / ca.sqrt(inertias)).mean.full().ravel()
            part = G[at].T / w
            close(w * lam[at], np.linalg.pinv(part) @ part @ (w * lam[at]), 1e-9)
    qd_plus, Lam = evaluate(od.impact, MODEL, constraints, args=(s.q, s.qd + inverse @ s.tau), solver=solver)
    close(G @ qd_plus, np.zeros(len(G)), 1e-7)
    close(H @ (qd_plus - s.qd - inverse @ s.tau), G.T @ Lam, 1e-8)


@pytest.mark.parametrize("solver", ["range", "aba", "proximal"])
@pytest.mark.slow
def test_the_bricard_loop(solver):
    """Five rows, five dofs, yet it moves: rank 4. Along its motion the energy stays and the loop stays closed."""
    model = bricard()
    q = od.assemble_q(model, BRICARD, np.zeros(5), weights=(1e6, 1, 1, 1, 1))
    assert od.constraint_rank(model, BRICARD, q) == 4
    qd = od.assemble_qd(model, BRICARD, q, (1.0, 0, 0, 0, 0))
    assert np.linalg.norm(qd) > 0.1
    f = od.function(od.constrained_dynamics, model, BRICARD, solver=solver, residual=True)
    E = od.function(od.kinetic_energy, model)
    V = od.function(od.potential_energy, model)
    start = float(E(q, qd) + V(q))
    h = 1e-3
    for _ in range(200):  # classical Runge-Kutta
        k = []
        for a, last in ((0, None), (h / 2, 0), (h / 2, 1), (h, 2)):
            dq, dv = k[last] if last is not None else (0 * qd, 0 * qd)
            qdd, _, residual = f(q + a * dq, qd + a * dv, np.zeros(5))
            assert last is not None or np.abs(residual.full()).max() < 1e-6  # inner stages leave the loop by h^2
            k.append((qd + a * dv, flat(qdd)))
        q, qd = (x + h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i, x in enumerate((q, qd)))
    close(float(E(q, qd) + V(q)), start, 1e-7)  # the integrator's error
    close(od.constraint_position(model, BRICARD, DM(q)), np.zeros(5), 1e-7)
    assert np.abs(q).max() > 0.05


@pytest.mark.slow
def test_proximal_iterations_come_to_rows_that_nearly_repeat_each_other(rng):
    """Two directions half a hundredth of a radian apart: independent rows, but the compliance of one combination of
    them is 1e-5 of the other's, so that each iteration takes the error to a tenth, and three of them to a
    thousandth."""
    model = tree("forest")
    s = State.of(model, rng)
    apart = 5e-3
    constraints = od.Contact("b1", (0.1, 0.2, 0.3), ((1, 0, 0), (np.cos(apart), np.sin(apart), 0)))
    args = (s.q, s.qd, s.tau)
    expected = evaluate(od.constrained_dynamics, model, constraints, args=args, solver="null")
    found = evaluate(od.constrained_dynamics, model, constraints, args=args, solver="proximal", residual=True)
    for a, b in zip(found[:2], expected, strict=True):
        close(a / np.abs(b).max(), b / np.abs(b).max(), 1e-7)
    close(found[2], np.zeros(2), 1e-7)


@pytest.mark.slow
def test_solvers_are_named():
    with pytest.raises(ValueError, match="solver must be one of range, kkt, null, aba, proximal, got 'lu'"):
        od.function(od.constrained_dynamics, MODEL, INDEPENDENT["two feet"], solver="lu")
    small = tree("chain")
    with pytest.raises(ValueError, match='solver "null" needs independent rows, got 6 of them for 4 dofs'):
        od.function(od.impact, small, od.Contact("b4"), solver="null")


CEILINGS = {
    "FDc": 15300, "FDc kkt": 42500, "FDc null": 23700, "FDc aba": 19900, "FDc proximal": 23900,
    "impact": 12200, "EoMc": 6600, "IDc": 13400,
}  # fmt: skip


@pytest.mark.slow
def test_instruction_counts_of_every_solver():
    """On a humanoid of 35 dofs with two 6-D feet; the range space at least twice below the dense solve."""
    humanoid = robot("simple_humanoid")
    if humanoid is None:
        pytest.skip("example-robot-data is not installed")
    model, feet = humanoid.model, humanoid.contacts
    algorithms = (od.constrained_dynamics, od.impact, od.constrained_equations, od.constrained_inverse_dynamics)
    functions = [od.function(algorithm, model, feet) for algorithm in algorithms]
    counts = {f.name(): f.n_instructions() for f in functions} | solver_counts(model, feet, algorithms[:1])
    assert counts.keys() == CEILINGS.keys()
    assert {name: counts[name] for name, ceiling in CEILINGS.items() if counts[name] > ceiling} == {}
    assert counts["FDc kkt"] > 2 * counts["FDc"]


# Impacts


@mostly_slow("solver", ("range", "null"), ("range",))
@pytest.mark.slow
def test_restitution_by_row(rng, solver):
    constraints = (od.Contact("foot0", axes="xyz"), od.Contact("foot1", axes="z"))
    s = State.of(MODEL, rng)
    _, _, G, _ = matrices(MODEL, constraints, s)
    e = (0.0, 0.2, 0.7, 1.0)
    qd_plus, Lam = evaluate(od.impact, MODEL, constraints, args=(s.q, s.qd), e=e, solver=solver)
    close(G @ qd_plus, -np.array(e) * (G @ s.qd), 1e-9)
    by_input = od.function(od.impact, MODEL, constraints, e="rows", solver=solver)
    assert by_input.size_in("e") == (4, 1)
    for a, b in zip(by_input(s.q, s.qd, e), (qd_plus, Lam), strict=True):
        close(a, b)
    one = evaluate(od.impact, MODEL, constraints, args=(s.q, s.qd, 0.4), e="input", solver=solver)
    close(one[0], by_input(s.q, s.qd, (0.4,) * 4)[0])
    q, qd = DM(s.q), DM(s.qd)
    with pytest.raises(ValueError, match="restitution e must be one number or 4, one per row, got 2"):
        od.impact(MODEL, constraints, q, qd, (0.1, 0.2))
    with pytest.raises(ValueError, match=r"restitution e must lie in \[0, 1\]"):
        od.impact(MODEL, constraints, q, qd, (0.1, 0.2, 0.3, 1.1))
    with pytest.raises(ValueError, match=r"one value or 4, one per row, got shape \(3, 1\)"):
        od.impact(MODEL, constraints, SX(q), SX(qd), SX.sym("e", 3))


# Inverse dynamics


INVERSE = {
    "a foot: exact": ((od.Contact("foot0"),), None, True),
    "two feet: overdetermined": ((od.Contact("foot0"), od.Contact("foot1")), None, True),
    "redundant points": (od.point_contacts("foot0", FOOT), None, True),
    "a point: underactuated": ((od.Contact("foot0", axes="xyz"),), None, False),
    "no motors in a leg": ((od.Contact("foot0"), od.Contact("foot1")), "leg", True),
}


@pytest.mark.parametrize(("constraints", "actuated", "full"), INVERSE.values(), ids=INVERSE.keys())
@pytest.mark.slow
def test_constrained_inverse_dynamics(rng, constraints, actuated, full):
    """The equations hold, torques only where there are motors, and they give back the same motion."""
    if actuated == "leg":
        passive = ("root", "trunk_joint", "leg03_joint", "leg04_joint")
        actuated = tuple(name for name in MODEL.joint_names if name not in passive)
    s = State.of(MODEL, rng)
    s.qd = od.assemble_qd(MODEL, constraints, s.q, s.qd)
    H, C, G, gamma = matrices(MODEL, constraints, s)
    assert od.is_fully_actuated(MODEL, constraints, s.q, actuated) == full
    tau, lam, qdd = evaluate(
        od.constrained_inverse_dynamics, MODEL, constraints, args=(s.q, s.qd, s.qdd), actuated=actuated
    )
    mask = np.ones(MODEL.nv, dtype=bool)
    mask[:6] = False
    if actuated:
        for name in ("leg03_joint", "leg04_joint"):
            mask[MODEL.qd_slice(name)] = False
    close(tau[~mask], np.zeros((~mask).sum()))
    scale = max(1.0, np.linalg.norm(tau), np.linalg.norm(lam))
    close(G @ qdd, gamma, 1e-9)
    close(H @ qdd + C - G.T @ lam, tau, 1e-9 * scale)
    back = evaluate(od.constrained_dynamics, MODEL, constraints, args=(s.q, s.qd, tau), solver="proximal")
    close(back[0], qdd, 1e-10 * scale * np.linalg.cond(H) ** 0.5)
    # the motion it gives back can be kept on the motors' dofs exactly
    again = evaluate(od.constrained_inverse_dynamics, MODEL, constraints, args=(s.q, s.qd, qdd), actuated=actuated)
    close(again[2][mask], qdd[mask], 1e-9)
    if full:  # no motion that keeps the constraints is nearer
        Z = np.linalg.svd(G)[2][od.constraint_rank(MODEL, constraints, s.q) :].T
        close(Z.T @ (mask * (qdd - s.qdd)), np.zeros(Z.shape[1]), 1e-9)
    else:
        close(qdd[mask], s.qdd[mask], 1e-9)


@pytest.mark.slow
def test_inverse_dynamics_with_all_motors_is_plain_where_the_motion_keeps_the_constraints(rng):
    model = walker(od.Revolute("z"))
    s = State.of(model, rng)
    contact = (od.Contact("foot0", axes="xy"),)
    tau, lam, qdd = evaluate(od.constrained_inverse_dynamics, model, contact, args=(s.q, s.qd, s.qdd))
    close(lam, np.zeros(2))
    close(tau, evaluate(od.inverse_dynamics, model, args=(s.q, s.qd, qdd)))
    assert od.is_fully_actuated(model, contact, s.q)


@pytest.mark.slow
def test_relaxed_and_external(rng):
    """With relaxed=True a fully actuated model tracks what it can; external forces enter the equations."""
    contact = (od.Contact("foot0"),)
    s = State.of(MODEL, rng)
    f_ext = rng.normal(size=(6, 1))
    args = (s.q, s.qd, s.qdd, f_ext)
    exact = evaluate(od.constrained_inverse_dynamics, MODEL, contact, args=args, loads=od.Loads(external=("arm",)))
    relaxed = evaluate(
        od.constrained_inverse_dynamics, MODEL, contact, args=args, loads=od.Loads(external=("arm",)), relaxed=True
    )
    for a, b in zip(exact, relaxed, strict=True):
        close(a, b, 1e-6)  # M_a takes H's condition twice
    C = evaluate(od.bias_force, MODEL, args=(s.q, s.qd, f_ext), loads=od.Loads(external=("arm",)))
    H, _, G, _ = matrices(MODEL, contact, s)
    close(H @ exact[2] + C - G.T @ exact[1], exact[0], 1e-8)


@pytest.mark.slow
def test_roots_that_float_have_no_motors():
    for root, without in ((od.FloatingBase(), 6), (od.FloatingBase("euler_zyx"), 6), (od.Planar(), 3),
                          (od.Revolute("x"), 0)):  # fmt: skip
        assert actuated_dofs(walker(root))[1] == list(range(without))


@pytest.mark.slow
def test_inverse_dynamics_refuses():
    contact = (od.Contact("foot0", axes="z"),)
    for error, message, options in (
        (TypeError, "actuated must be a sequence .* got 'arm'", {"actuated": "arm"}),
        (ValueError, "actuated must hold 23 truth values", {"actuated": (True, False)}),
        (KeyError, "no joint 'tail'", {"actuated": ("tail",)}),
        (ValueError, "1 constraint rows cannot actuate 6 unactuated dofs", {"relaxed": False}),
    ):
        with pytest.raises(error, match=message):
            od.function(od.constrained_inverse_dynamics, MODEL, contact, **options)


@pytest.mark.slow
def test_inverse_dynamics_with_numbers_refuses_where_forces_do_not_reach_the_unactuated_dofs(rng):
    """Enough rows but dependent ones: said so for numbers; redundant rows that reach all dofs do no harm."""
    s = State.of(MODEL, rng)
    q, qd, qdd = (DM(x) for x in (s.q, s.qd, s.qdd))
    corners = ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0))
    line = od.point_contacts("foot0", ((0, 0, 0), (0.1, 0, 0), (0.2, 0, 0)))
    for constraints, reach in ((line, 5), ((*line[:1] * 3,), 3), (od.plane_contacts("foot0", (*corners,) * 2), 3)):
        with pytest.raises(ValueError, match=rf"rows reach {reach} of 6 unactuated dofs.*set relaxed=True"):
            od.constrained_inverse_dynamics(MODEL, constraints, q, qd, qdd)
        tau, lam, qdd_c = od.constrained_inverse_dynamics(MODEL, constraints, q, qd, qdd, relaxed=True)
        H, C, G, gamma = matrices(MODEL, constraints, s)
        tau, lam, qdd_c = flat(tau), flat(lam), flat(qdd_c)
        close(H @ qdd_c + C - G.T @ lam, tau, 1e-7)  # answers to unit torques take H's condition twice
        close(tau[:6], np.zeros(6))
    sole = od.point_contacts("foot0", corners)
    G = matrices(MODEL, sole, s)[2]
    s.qd -= np.linalg.pinv(G) @ (G @ s.qd)  # rows that depend on each other agree only for velocities that keep them
    qd = DM(s.qd)
    tau, lam, qdd_c = (flat(x) for x in od.constrained_inverse_dynamics(MODEL, sole, q, qd, qdd))
    H, C, G, gamma = matrices(MODEL, sole, s)
    close(G @ qdd_c, gamma, 1e-8)
    close(H @ qdd_c + C - G.T @ lam, tau, 1e-8 * (1 + np.abs(C).max()))


# Assembly


@pytest.mark.slow
def test_assembly_closes_and_stays_near(rng):
    """The constraints hold, and no nearer configuration keeps them: the step is in the range of W^-1 G'."""
    R, p = (x.full() for x in od.pose(MODEL, "foot0", DM(MODEL.random_q(rng))))
    constraints = (
        od.Contact("foot0", reference=(R, p)),
        od.Contact("foot1", axes="z", reference=(np.eye(3), (0, 0, 0.1))),
        od.JointCoupling("leg13_joint", "leg14_joint", 0.5),
    )
    q0 = MODEL.random_q(rng)
    weights = rng.uniform(0.5, 20.0, MODEL.nv)
    q = od.assemble_q(MODEL, constraints, q0, weights)
    assert np.abs(od.constraint_position(MODEL, constraints, DM(q)).full()).max() < 1e-12
    distance = {}
    for key, w in (("weighted", weights), ("plain", None)):
        found = od.assemble_q(MODEL, constraints, q0, w)
        step = flat(MODEL.difference(DM(q0), DM(found)))
        distance[key] = step @ (weights * step)
    assert distance["weighted"] <= distance["plain"]
    qd0 = rng.normal(size=MODEL.nv)
    qd = od.assemble_qd(MODEL, constraints, q, qd0, weights)
    G = od.constraint_jacobian(MODEL, constraints, DM(q)).full()
    close(G @ qd, np.zeros(len(G)))
    multipliers = np.linalg.lstsq(G.T, weights * (qd - qd0), rcond=None)[0]
    close(G.T @ multipliers, weights * (qd - qd0), 1e-9)


def test_assembly_of_what_is_assembled_changes_nothing():
    model = bricard()
    close(od.assemble_q(model, BRICARD, np.zeros(5)), np.zeros(5))


@pytest.mark.parametrize(("b", "noise"), [(-1.0, 1e-3), (0.3, 0.05), (-2.5, 0.2)])
@pytest.mark.slow
def test_assembly_of_a_row_that_repeats_others_only_where_all_hold(rng, b, noise):
    """Bricard's linkage beside its curve of assembled positions: G is of rank five, and a full step of Newton's method
    would slide far along the curve."""
    chain = od.models.bricard()
    a = np.arcsin(np.sin(b) / (1 - np.sin(b)))
    near = np.array([a, b, a, -b, -a])
    q0 = near + noise * rng.normal(size=5)
    assert od.constraint_rank(chain.model, chain.loops, q0, tolerance=1e-9) == 5
    assert chain.degrees_of_freedom(q0) == (1 if noise == 1e-3 else 0)  # a loop that is slightly open can move
    q = od.assemble_q(chain.model, chain.loops, q0)
    assert np.abs(od.constraint_position(chain.model, chain.loops, DM(q)).full()).max() < 1e-12
    assert np.linalg.norm(q - q0) <= np.linalg.norm(near - q0)
    close(q, [q[0], q[1], q[0], -q[1], -q[0]])


def test_assembly_halves_steps_that_lead_away():
    """Newton's method on the arc tangent of x - 1 from x = 4 goes farther away with every full step."""
    model = tree("chain")
    bent = od.CustomConstraint(lambda q: ca.atan(q[0] - 1))
    close(od.assemble_q(model, bent, (4.0, 0, 0, 0)), (1, 0, 0, 0))


@pytest.mark.slow
def test_assembly_finds_the_nearest_point():
    """Nearest points of a line by weights, and of an ellipse, where the first point that Newton's method finds is not
    the nearest."""
    model = tree("chain")
    line = od.CustomConstraint(lambda q: q[0] + q[1] - 1)
    close(od.assemble_q(model, line, np.zeros(4), weights=(4, 1, 1, 1)), (0.2, 0.8, 0, 0))
    ellipse = od.CustomConstraint(lambda q: (q[0] / 2) ** 2 + q[1] ** 2 - 1)
    q0 = np.array([2.0, 1.0, 0.3, 0])
    q = od.assemble_q(model, ellipse, q0)
    slope, step = np.array([q[0] / 2, 2 * q[1]]), (q - q0)[:2]
    # the step is along the normal, but for what no longer changes its length: the root of rounding
    close(slope[0] * step[1] - slope[1] * step[0], 0, 1e-7)
    close(q[2:], q0[2:])


def test_assembly_on_time():
    model = tree("chain")
    moving = od.CustomConstraint(lambda q, t: q[0] - ca.sin(t), timed=True)
    q = od.assemble_q(model, moving, np.zeros(4), t=0.4)
    qd = od.assemble_qd(model, moving, q, np.ones(4), t=0.4)
    close(q, (np.sin(0.4), 0, 0, 0))
    close(qd, (np.cos(0.4), 1, 1, 1))


@pytest.mark.slow
def test_assembly_tells_when_it_cannot():
    model = bricard()
    far = od.Contact("rod4", axes="x", reference=(np.eye(3), (9.0, 0, 0)))
    with pytest.raises(od.AssemblyError, match=r"no configuration near q0 keeps .*, that of rod4\.\w+, tol") as caught:
        od.assemble_q(model, far, np.full(5, 0.1))
    assert caught.value.best.shape == (5,)
    assert caught.value.error > 1
    moving = tuple(od.CustomConstraint(lambda q, t, k=k: q[0] - k * t, timed=True) for k in (1, 2))
    with pytest.raises(od.AssemblyError, match="the constraints contradict each other at q"):
        od.assemble_qd(model, moving, np.zeros(5), np.zeros(5), t=0.0)
    with pytest.raises(ValueError, match="assembly weights must be positive"):
        od.assemble_q(model, far, np.zeros(5), weights=np.zeros(5))
    with pytest.raises(ValueError, match="q0 must have 5 entries"):
        od.assemble_q(model, far, np.zeros(3))
