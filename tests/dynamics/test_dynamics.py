"""The equation of motion: identities that hold on every tree, closed forms, another library."""

from __future__ import annotations

from functools import cache

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

RANDOM = {"random1.5": 1.5}
every_tree = mostly_slow("key", [*TREES, *RANDOM], QUICK_TREES)


@cache
def model_of(key: str) -> od.Model:
    return od.random_tree(7, RANDOM[key], rng=np.random.default_rng(11)) if key in RANDOM else tree(key)


def joint_space(model: od.Model, s: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tau, H, C) at a state."""
    tau = evaluate(od.inverse_dynamics, model, args=(s.q, s.qd, s.qdd))
    H = ca.DM(od.function(od.mass_matrix, model)(s.q)).full()
    return tau, H, evaluate(od.bias_force, model, args=(s.q, s.qd))


@every_tree
@pytest.mark.slow
def test_inverse_dynamics_is_the_mass_matrix_and_the_bias(rng, key):
    """tau = H qdd + C, and column by column H e_i = ID(e_i) - C."""
    model = model_of(key)
    s = State.of(model, rng)
    tau, H, C = joint_space(model, s)
    close(tau, H @ s.qdd + C)
    columns = od.function(od.inverse_dynamics, model)(s.q, s.qd, np.eye(model.nv)).full()
    close(columns - C[:, None], H)
    rest = np.zeros(model.nv)
    close(evaluate(od.gravity_force, model, args=(s.q,)), evaluate(od.bias_force, model, args=(s.q, rest)))


@every_tree
def test_mass_matrix_is_symmetric_positive_definite_and_branch_sparse(rng, key):
    model = model_of(key)
    function = od.function(od.mass_matrix, model)
    H = function(model.random_q(rng)).full()
    assert np.array_equal(H, H.T)
    np.linalg.cholesky(H)  # raises unless positive definite
    body = [i for i in range(1, model.nb + 1) for _ in model.dofs_of(i)]
    related = np.array([[i in model.path(j) or j in model.path(i) for j in body] for i in body])
    pattern = DM(function.sparsity_out(0), 1).full().astype(bool)
    assert not np.any(pattern & ~related)


@every_tree
@pytest.mark.slow
def test_forward_dynamics_inverts_inverse_dynamics(rng, key):
    model = model_of(key)
    s = State.of(model, rng)
    tau, H, C = joint_space(model, s)
    args = (s.q, s.qd, tau)
    close(evaluate(od.forward_dynamics, model, args=args), s.qdd)
    close(evaluate(od.forward_dynamics_crba, model, args=args), s.qdd)
    args = (s.q, s.qd, s.tau)
    expected = np.linalg.solve(H, s.tau - C)
    close(evaluate(od.forward_dynamics, model, args=args), expected)
    close(evaluate(od.forward_dynamics_crba, model, args=args), expected)


@every_tree
@pytest.mark.slow
def test_ways_to_the_accelerations_agree(rng, key):
    """ABA; CRBA with L'DL, L'L and dense Cholesky; H^-1 by the articulated-body operator and in full."""
    model = model_of(key)
    s = State.of(model, rng)
    args = (s.q, s.qd, s.tau)
    expected = evaluate(od.forward_dynamics, model, args=args)
    for method in ("ltdl", "ltl", "cholesky"):
        close(evaluate(od.forward_dynamics_crba, model, args=args, method=method), expected)
    _, H, C = joint_space(model, s)
    B = rng.normal(size=(model.nv, 3))
    close(evaluate(od.mass_matrix_inverse_product, model, args=(s.q, s.tau - C)), expected)
    product = od.function(od.mass_matrix_inverse_product, model, columns=3)
    assert product.size_in("tau") == (model.nv, 3)
    close(H @ product(s.q, B).full(), B)
    inverse = od.function(od.mass_matrix_inverse, model)(s.q).full()
    assert np.array_equal(inverse, inverse.T)
    close(H @ inverse, np.eye(model.nv))
    both = od.function(od.equations_of_motion, model)
    close(both(s.q, s.qd)[0], H)
    close(both(s.q, s.qd)[1], C)
    apart = (od.function(od.mass_matrix, model), od.function(od.bias_force, model))
    assert both.n_instructions() <= sum(f.n_instructions() for f in apart)


def test_ways_to_the_accelerations_are_checked():
    model = tree("chain")
    q, v = DM(model.neutral()), DM(model.nv, 1)
    with pytest.raises(ValueError, match="method must be 'ltdl', 'ltl' or 'cholesky', got 'lu'"):
        od.forward_dynamics_crba(model, q, v, v, method="lu")
    with pytest.raises(ValueError, match=r"tau must have columns=2 columns, got shape \(4, 1\)"):
        od.mass_matrix_inverse_product(model, q, v, columns=2)


@every_tree
@pytest.mark.slow
def test_energy(rng, key):
    """T = 1/2 qd' H qd, and the power balance d(T + V)/dt = qd' tau."""
    model = model_of(key)
    s = State.of(model, rng)
    q, qd, qdd = symbols(model)
    _, H, _ = joint_space(model, s)
    close(evaluate(od.kinetic_energy, model, args=(s.q, s.qd)), [s.qd @ H @ s.qd / 2])
    E = od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)
    power = ca.dot(qd, od.inverse_dynamics(model, q, qd, qdd))
    close(*ca.Function("f", [q, qd, qdd], [rate_of(E, model, q, qd, qdd), power])(s.q, s.qd, s.qdd))


@every_tree
@pytest.mark.slow
def test_external_forces_enter_as_minus_jacobian_transpose(rng, key):
    """tau = H qdd + C - J' f: J at the body point that is at the world origin, as the moment is about it."""
    model = model_of(key)
    s = State.of(model, rng)
    names = (model.body_names[-1], model.body_names[0])
    f_ext = rng.normal(size=(6, 2))
    push = np.zeros(model.nv)
    for name, wrench in zip(names, f_ext.T, strict=True):
        R, p = od.pose(model, name, DM(s.q))
        push += flat(od.point_jacobian_6d(model, name, DM(s.q), -R.T @ p).T @ DM(wrench))
    tau, H, C = joint_space(model, s)
    args = {"args": (s.q, s.qd, s.qdd, f_ext), "loads": od.Loads(external=names)}
    close(evaluate(od.inverse_dynamics, model, **args), tau - push)
    close(evaluate(od.bias_force, model, args=(s.q, s.qd, f_ext), loads=od.Loads(external=names)), C - push)
    args["args"] = (s.q, s.qd, s.tau, f_ext)
    qdd = np.linalg.solve(H, s.tau - C + push)
    close(evaluate(od.forward_dynamics, model, **args), qdd)
    close(evaluate(od.forward_dynamics_crba, model, **args), qdd)


def test_external_forces_on_merged_and_ground_frames_and_twice_on_one(rng):
    builder = od.ModelBuilder()
    add_random(builder, "a", od.FloatingBase(), "world", rng)
    add_random(builder, "plate", od.Fixed(), "a", rng)
    builder.add_frame("wall", "world")
    model = builder.build()
    s = State.of(model, rng)
    w = rng.normal(size=6)
    one = evaluate(od.bias_force, model, args=(s.q, s.qd, w), loads=od.Loads(external=("a",)))
    close(evaluate(od.bias_force, model, args=(s.q, s.qd, w), loads=od.Loads(external=("plate",))), one)
    halves = np.column_stack([w / 4, w * 3 / 4, w * 9])
    close(evaluate(od.bias_force, model, args=(s.q, s.qd, halves), loads=od.Loads(external=("a", "a", "wall"))), one)


def test_external_forces_are_checked():
    model = tree("chain")
    q, v = DM(model.neutral()), DM(model.nv, 1)
    with pytest.raises(ValueError, match=r"f_ext must be 6 x 1, a column per name in loads.external, got \(6, 2\)"):
        od.inverse_dynamics(model, q, v, v, DM(6, 2), loads=od.Loads(external=("b1",)))
    with pytest.raises(ValueError, match=r"external=\('b1',\) names frames but no f_ext \(6 x 1\) is given"):
        od.forward_dynamics(model, q, v, v, loads=od.Loads(external=("b1",)))
    with pytest.raises(KeyError, match="no frame 'hand'"):
        od.bias_force(model, q, v, DM(6, 1), loads=od.Loads(external=("hand",)))


def test_massless_bodies_in_between_do_no_harm(rng):
    """Two massless links make a universal joint; the tree with one Euler joint moves alike."""
    chain, single = od.ModelBuilder(), od.ModelBuilder()
    chain.add_body("z", od.Revolute("z"))
    chain.add_body("y", od.Revolute("y"), "z")
    for builder, joint, parent in ((chain, od.Revolute("x"), "y"), (single, od.Euler("zyx"), "world")):
        builder.add_body("body", joint, parent, mass=2, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.2, 0.25))
    a, b = chain.build(), single.build()
    s = State.of(b, rng)
    for algorithm in (od.inverse_dynamics, od.forward_dynamics, od.forward_dynamics_crba):
        close(evaluate(algorithm, a, args=(s.q, s.qd, s.tau)), evaluate(algorithm, b, args=(s.q, s.qd, s.tau)))


# Closed forms


def test_pendulum():
    """(I + m l^2) qdd + m g l sin(q) = tau."""
    m, l, I, g = 1.3, 0.7, 0.05, 9.81
    builder = od.ModelBuilder("pendulum")
    builder.add_body("rod", od.Revolute("-y"), mass=m, com=(0, 0, -l), inertia=(I, I, 0))
    model = builder.build()
    q, qd, tau = 0.6, 1.1, 0.4
    close(evaluate(od.mass_matrix, model, args=(q,)), [I + m * l**2])
    close(evaluate(od.bias_force, model, args=(q, qd)), [m * g * l * np.sin(q)])
    expected = (tau - m * g * l * np.sin(q)) / (I + m * l**2)
    close(evaluate(od.forward_dynamics, model, args=(q, qd, tau)), [expected])


def test_two_link_arm():
    """The planar double pendulum of every textbook: angles from the downward vertical, relative elbow."""
    m1, m2, l1, c1, c2, I1, I2, g = 1.2, 0.8, 0.9, 0.4, 0.35, 0.07, 0.03, 9.81
    builder = od.ModelBuilder("arm", gravity=(0, -g, 0))
    builder.add_body("upper", od.Revolute("z"), mass=m1, com=(0, -c1, 0), inertia=(I1, 0, I1))
    builder.add_body("lower", od.Revolute("z"), "upper", origin=(0, -l1, 0), mass=m2, com=(0, -c2, 0),
                     inertia=(I2, 0, I2))  # fmt: skip
    model = builder.build()
    (a, b), (da, db) = q, qd = (0.5, -1.2), (0.9, 1.7)
    h = m2 * l1 * c2
    H22 = I2 + m2 * c2**2
    H12 = H22 + h * np.cos(b)
    H11 = I1 + m1 * c1**2 + m2 * l1**2 + H22 + 2 * h * np.cos(b)
    g2 = m2 * g * c2 * np.sin(a + b)
    g1 = (m1 * c1 + m2 * l1) * g * np.sin(a) + g2
    C = [g1 - h * np.sin(b) * (2 * da * db + db**2), g2 + h * np.sin(b) * da**2]
    close(evaluate(od.mass_matrix, model, args=(q,)), [[H11, H12], [H12, H22]])
    close(evaluate(od.bias_force, model, args=(q, qd)), C)


def test_a_free_body_obeys_euler(rng):
    """Torque-free: I dw + w x I w = 0 in body axes, and the mass center falls."""
    I = np.diag([0.1, 0.2, 0.25])
    builder = od.ModelBuilder()
    builder.add_body("body", od.FloatingBase(), mass=2.0, inertia=I)
    model = builder.build()
    s = State.of(model, rng)
    w = s.qd[3:]
    expected = [0, 0, -9.81, *np.linalg.solve(I, -np.cross(w, I @ w))]
    close(evaluate(od.forward_dynamics, model, args=(s.q, s.qd, np.zeros(6))), expected)


# Another library


def pinocchio_joint(pin, joint: od.Joint):
    match joint:
        case od.Revolute():
            return pin.JointModelRevoluteUnaligned(*joint.axis)
        case od.Prismatic():
            return pin.JointModelPrismaticUnaligned(*joint.axis)
        case od.Spherical():
            return pin.JointModelSpherical()
        case od.Translation():
            return pin.JointModelTranslation()
        case od.Euler(order="zyx"):
            return pin.JointModelSphericalZYX()
        case od.FloatingBase():
            return pin.JointModelFreeFlyer()
    raise NotImplementedError(joint)


@pytest.mark.parametrize("branching", [1, 1.5, np.inf])
def test_pinocchio_agrees_on_random_trees(rng, branching):
    pin = pytest.importorskip("pinocchio")
    joints = [od.Revolute((1, -2, 3)), od.Prismatic((0, 1, 2)), od.Spherical(), od.Translation(), od.Euler("zyx")]
    model = od.random_tree(9, branching, joints, rng)
    theirs = pin.Model()
    ids = {0: 0}
    for i in sorted(range(1, model.nb + 1), key=model.path):  # depth-first: pin.crba needs subtrees in one piece
        p = model.parent[i]
        X, I = model.X_tree[i], model.I[i]
        place = pin.SE3(X.E.full().T, X.r.full().ravel())
        ids[i] = theirs.addJoint(ids[p], pinocchio_joint(pin, model.joints[i]), place, f"j{i}")
        m = float(I.m)
        c = I.h.full().ravel() / m
        about_com = I.I.full() - m * (c @ c * np.eye(3) - np.outer(c, c))
        theirs.appendBodyToJoint(ids[i], pin.Inertia(m, c, about_com), pin.SE3.Identity())
    s = State.of(model, rng)
    iq = np.concatenate([theirs.idx_qs[ids[i]] + np.arange(model.joints[i].nq) for i, _ in model.edges])
    iv = np.concatenate([theirs.idx_vs[ids[i]] + np.arange(model.joints[i].nv) for i, _ in model.edges])

    def to(x: np.ndarray, index: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        y[index] = x
        return y

    data, q, qd, x = theirs.createData(), to(s.q, iq), to(s.qd, iv), to(s.tau, iv)
    close(evaluate(od.inverse_dynamics, model, args=(s.q, s.qd, s.tau)), pin.rnea(theirs, data, q, qd, x)[iv])
    close(evaluate(od.forward_dynamics, model, args=(s.q, s.qd, s.tau)), pin.aba(theirs, data, q, qd, x)[iv])
    H = np.triu(pin.crba(theirs, data, q))
    H = H + np.triu(H, 1).T
    close(od.function(od.mass_matrix, model)(s.q), H[np.ix_(iv, iv)])


def test_symbolic_sizes_are_checked():
    model = tree("chain")
    q, v, wrong = SX.sym("q", model.nq), SX.sym("v", model.nv), SX.sym("w", model.nv + 1)
    for what, call in (
        ("qd", lambda: od.inverse_dynamics(model, q, wrong, v)),
        ("qdd", lambda: od.inverse_dynamics(model, q, v, wrong)),
        ("tau", lambda: od.forward_dynamics(model, q, v, wrong)),
    ):
        with pytest.raises(ValueError, match=f"^{what} must have 4 rows .*in this model"):
            call()


@mostly_slow("key", TREES, QUICK_TREES)
@pytest.mark.slow
def test_static_torque_balances_gravity_wrenches_and_springs(rng, key):
    """tau_g - J' f_ext at two frames, one of them twice; springs pull in its place."""
    model, q = tree(key), tree(key).random_q(rng)
    last, first = model.body_names[-1], model.body_names[0]
    f_ext = rng.normal(size=(6, 3))
    close(od.static_torque(model, q), od.gravity_force(model, q))
    loads = od.Loads(external=(last, first, last))
    expected = flat(od.gravity_force(model, q))
    for frame, wrench in zip(loads.external, f_ext.T, strict=True):
        expected = expected - od.frame_jacobian(model, frame, q, reference="world").full().T @ wrench
    close(od.static_torque(model, q, f_ext, loads=loads), expected)
    close(evaluate(od.static_torque, model, args=(q, f_ext), loads=loads), expected)
    springs = od.Loads(passive=True)
    pull = od.passive_force(model, q, np.zeros(model.nv))
    close(od.static_torque(model, q, loads=springs), od.gravity_force(model, q) - pull)
