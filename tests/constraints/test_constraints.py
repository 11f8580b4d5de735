"""Contacts and the dynamics under them: rows, right-hand sides, forces, redundant sets, impacts."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from tests.helpers import (
    QUICK_TREES,
    TREES,
    State,
    add_random,
    close,
    evaluate,
    flat,
    mostly_slow,
    rate_of,
    symbols,
    tree,
)

every_tree = mostly_slow("key", TREES, QUICK_TREES)
some_trees = pytest.mark.parametrize("key", ["chain", "forest", "mixed"])
FOOT = [(x, y, -0.1) for x in (-0.1, 0.15) for y in (-0.05, 0.05)]
SETS = {
    "six rows": (od.Contact("b2", point=(0.1, -0.2, 0.3)),),
    "linear": (od.Contact("b3", point=(0.1, -0.2, 0.3), axes="zx"),),
    "directions": (od.Contact("b1", axes=((1, 2, 2), (0, -3, 0))), od.Contact("b3", axes="y")),
}
every_set = pytest.mark.parametrize("contacts", SETS.values(), ids=SETS.keys())


def walker(feet: int = 2) -> od.Model:
    """A floating trunk with legs of six revolute joints; the last body of each is `foot0`, `foot1`."""
    rng = np.random.default_rng(3)
    builder = od.ModelBuilder("walker")
    builder.add_frame("wall", "world")
    add_random(builder, "trunk", od.FloatingBase(), "world", rng)
    for leg in range(feet):
        parent = "trunk"
        for k, axis in enumerate(("z", "x", "y", "y", "y")):
            add_random(builder, f"leg{leg}{k}", od.Revolute(axis), parent, rng)
            parent = f"leg{leg}{k}"
        add_random(builder, f"foot{leg}", od.Revolute("x"), parent, rng)
    return builder.build()


def matrices(model: od.Model, contacts, s: State):
    """H, C, G, gamma as dense arrays."""
    H = od.function(od.mass_matrix, model)(s.q).full()
    G = od.function(od.constraint_jacobian, model, contacts)(s.q).full()
    gamma = od.function(od.constraint_hessian, model, contacts)(s.q, s.qd).full()[:, 0]
    return H, evaluate(od.bias_force, model, args=(s.q, s.qd)), G, gamma


def keep_contact(model: od.Model, contacts, s: State) -> None:
    """Takes out of qd what moves the contacts, so that redundant rows do not contradict each other."""
    G = od.function(od.constraint_jacobian, model, contacts)(s.q).full()
    s.qd = s.qd - np.linalg.pinv(G) @ G @ s.qd


# Rows


@every_tree
@every_set
def test_jacobian_is_the_rate_of_the_position_error(rng, key, contacts):
    """G qd = d(phi)/dt: everywhere for linear rows, at phi = 0 for angular ones."""
    model = tree(key)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    fixed = tuple(contact.at(model, s.q) for contact in contacts)
    phi, G = od.constraint_position(model, fixed, q), od.constraint_jacobian(model, fixed, q)
    f = ca.Function("f", [q, qd], [phi, rate_of(phi, model, q, qd), G @ qd])
    phi, rate, velocity = f(s.q, s.qd)
    close(phi, np.zeros(phi.shape[0]))
    close(rate, velocity)
    elsewhere = f(model.random_q(rng), s.qd)
    assert np.linalg.norm(elsewhere[0].full()) > 1e-3
    linear = [k for k, row in enumerate(od.constraint_rows(fixed)) if ".t" in row]
    close(elsewhere[1][linear], elsewhere[2][linear])


@every_tree
@every_set
def test_gamma_is_minus_the_rate_of_the_jacobian(rng, key, contacts):
    """gamma = -dG/dt qd, with dG/dt by AD of G along q_dot, which gamma's own code never uses."""
    model = tree(key)
    q, qd, _ = symbols(model)
    s = State.of(model, rng)
    G = ca.densify(od.constraint_jacobian(model, contacts, q))
    expected = -rate_of(G, model, q, qd) @ qd
    close(*ca.Function("f", [q, qd], [od.constraint_hessian(model, contacts, q, qd), expected])(s.q, s.qd))


def test_rows_of_a_contact(rng):
    model = tree("floating")
    q = DM(model.random_q(rng))
    p = (0.1, 0.2, 0.3)
    J = od.point_jacobian_6d(model, "b2", q, p).full()
    close(od.constraint_jacobian(model, od.Contact("b2", point=p), q), J)
    close(od.constraint_jacobian(model, od.Contact(model.body("b2"), point=p, axes="zx"), q), J[[5, 3]])
    n = np.array([1.0, 2.0, 2.0]) / 3
    close(od.constraint_jacobian(model, od.Contact("b2", point=p, axes=((1, 2, 2),)), q), (n @ J[3:])[None, :])
    contacts = [od.Contact("b2"), od.Contact("b3", axes="y"), od.Contact("b3", axes=((0, 0, -1), (3, 0, 4)))]
    names = od.constraint_rows(contacts)
    assert names[:7] == ("b2.rx", "b2.ry", "b2.rz", "b2.tx", "b2.ty", "b2.tz", "b3.ty")
    assert names[7:] == ("b3.t(-0 -0 -1)", "b3.t(0.6 0 0.8)") or names[8:] == ("b3.t(0.6 0 0.8)",)
    assert len(names) == od.constraint_jacobian(model, contacts, q).shape[0] == 9


def test_position_error_against_a_given_reference(rng):
    """phi measures from the reference pose: the sine of the angle about its axis, and the way."""
    builder = od.ModelBuilder()
    builder.add_body("a", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    contact = od.Contact("a", reference=(np.eye(3), (1, 2, 3)))
    phi = od.constraint_position(model, contact, DM([1.5, 2, 3, 0, 0, np.sin(0.1), np.cos(0.1)]))
    close(phi, [0, 0, np.sin(0.2), 0.5, 0, 0])
    assert hash(contact) == hash(od.Contact("a", reference=(np.eye(3).tolist(), [1, 2, 3])))


@pytest.mark.slow
def test_jacobian_is_structurally_zero_outside_the_path():
    model = walker()
    G = od.function(od.constraint_jacobian, model, od.Contact("foot1", axes="xz")).sparsity_out(0)
    on_path = {k for i in model.path(model.frame("foot1").body) for k in model.dofs_of(i)}
    assert set(G.get_col()) == on_path


# Dynamics


@some_trees
@every_set
@pytest.mark.slow
def test_kkt_residual(rng, key, contacts):
    """H qdd + C = tau + G' lam and G qdd = gamma; lam as the dense solve has it where it is unique."""
    model = tree(key)
    s = State.of(model, rng)
    H, C, G, gamma = matrices(model, contacts, s)
    if np.linalg.matrix_rank(G, 1e-9) < len(G):
        keep_contact(model, contacts, s)
        H, C, G, gamma = matrices(model, contacts, s)
    qdd, lam, residual = evaluate(od.constrained_dynamics, model, contacts, args=(s.q, s.qd, s.tau), residual=True)
    tolerance = 1e-10 * max(1.0, np.linalg.norm(lam))
    close(H @ qdd + C - G.T @ lam, s.tau, tolerance)
    close(residual, G @ qdd - gamma, tolerance)
    if np.linalg.matrix_rank(G, 1e-9) == len(G):
        close(G @ qdd, gamma, tolerance)
        A = G @ np.linalg.solve(H, G.T)
        expected = np.linalg.solve(A, gamma - G @ np.linalg.solve(H, s.tau - C))
        close(lam, expected, 1e-9 * np.linalg.cond(A) ** 0.5)  # as ill-conditioned as the contact


def test_the_residual_tells_of_a_contradiction():
    """Two rows that cannot both hold: a turning rod cannot keep a point still and obey gravity's tilt alike."""
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("z"), mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    model = builder.build()
    contacts = (od.Contact("a", point=(1, 0, 0), axes="xy"),)
    qdd, lam, residual = evaluate(od.constrained_dynamics, model, contacts, args=(0.3, 1.0, 0.0), residual=True)
    assert np.all(np.isfinite([*qdd, *lam]))
    kept, left = sorted(np.abs(np.ravel(residual)))
    close(kept, 0)
    assert left > 0.1  # qd = 1 needs a centripetal acceleration that no qdd gives


# Impacts


@some_trees
@every_set
@pytest.mark.slow
def test_impact(rng, key, contacts):
    """H (qd+ - qd) = G' Lam, G qd+ = -e G qd; the energy never grows, and stays for e = 1."""
    model = tree(key)
    s = State.of(model, rng)
    H, _, G, _ = matrices(model, contacts, s)
    for e in (0.0, 0.4, 1.0):
        qd_plus, Lam = evaluate(od.impact, model, contacts, args=(s.q, s.qd, e), e="input")
        tolerance = 1e-10 * max(1.0, np.linalg.norm(Lam))
        close(H @ (qd_plus - s.qd), G.T @ Lam, tolerance)
        close(G @ qd_plus, -e * (G @ s.qd), tolerance * np.linalg.cond(H) ** 0.5)
        before, after = s.qd @ H @ s.qd, qd_plus @ H @ qd_plus
        assert after <= before * (1 + 1e-9)
        if e == 1:
            close(after, before, 1e-8)


@pytest.mark.slow
def test_impact_with_a_static_restitution_and_plastic_by_default(rng):
    model, contacts = walker(1), od.Contact("foot0", axes="xyz")
    s = State.of(model, rng)
    static = evaluate(od.impact, model, contacts, args=(s.q, s.qd), e=0.3)
    close(static[0], evaluate(od.impact, model, contacts, args=(s.q, s.qd, 0.3), e="input")[0])
    qd_plus, _ = evaluate(od.impact, model, contacts, args=(s.q, s.qd))
    close(flat(od.constraint_jacobian(model, contacts, DM(s.q)) @ qd_plus), np.zeros(3), 1e-9)


# Errors

WRONG_CONTACTS = [
    (TypeError, r"Contact needs a frame \(model\.body\(name\)\) or a name, got 3", (3,), {}),
    (ValueError, "Contact point must be 3 finite numbers", ("b1", (1, 2)), {}),
    (ValueError, "axes must be a subset of 'xyz' or a sequence of directions, got 'xx'", ("b1",), {"axes": "xx"}),
    (ValueError, "axes must be a subset of 'xyz'.*got ''", ("b1",), {"axes": ""}),
    (ValueError, "axes must be a subset of 'xyz'.*got 3", ("b1",), {"axes": 3}),
    (ValueError, "a contact direction .* must be 3 finite numbers", ("b1",), {"axes": (0, 0, 1)}),
    (ValueError, "direction must not be zero", ("b1",), {"axes": ((0, 0, 0),)}),
    (ValueError, "axes must not be empty", ("b1",), {"axes": ()}),
    (ValueError, r"reference must be \(R, p\)", ("b1",), {"reference": 3}),
    (ValueError, "reference position must be 3", ("b1",), {"reference": (np.eye(3), (1, 2))}),
    (ValueError, "a rotation matrix .* is needed", ("b1",), {"reference": (2 * np.eye(3), (1, 2, 3))}),
]


@pytest.mark.parametrize(("error", "message", "args", "options"), WRONG_CONTACTS)
def test_contacts_refuse(error, message, args, options):
    with pytest.raises(error, match=message):
        od.Contact(*args, **options)


def test_sets_are_checked():
    model = tree("chain")
    q = SX.sym("q", model.nq)
    for wrong in ("b1", 3, (3,), ("b1",)):
        with pytest.raises(TypeError, match="constraints must be a tuple of constraints such as Contact"):
            od.constraint_jacobian(model, wrong, q)
    with pytest.raises(ValueError, match="the constraint set is empty: use forward_dynamics"):
        od.constrained_dynamics(model, (), q, q, q)
    with pytest.raises(KeyError, match="no frame 'hand'"):
        od.constraint_jacobian(model, od.Contact("hand"), q)
    with pytest.raises(ValueError, match="no reference pose, so no phi"):
        od.constraint_position(model, od.Contact("b1"), q)
    with pytest.raises(ValueError, match="belongs to another model"):
        od.constraint_jacobian(model, od.Contact(od.Frame("b1", 2)), q)
    with pytest.raises(ValueError, match="q must have 4 entries"):
        od.Contact("b1").at(model, np.zeros(3))
    with pytest.raises(TypeError, match=r"q must be numbers, got .*call contact\.position_from"):
        od.Contact("b1").at(model, ca.MX.sym("q", 4))


@pytest.mark.parametrize("e", [-0.1, 1.1, np.nan, np.int64(2), np.float32(1.5), DM(2)])
def test_restitution_is_checked(e):
    model = tree("chain")
    with pytest.raises(ValueError, match=r"restitution e must lie in \[0, 1\]"):
        od.impact(model, od.Contact("b1", axes="x"), DM.zeros(4), DM.zeros(4), e)
