"""Analytic derivatives of inverse and forward dynamics: against AD of the plain functions, on every joint."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.dynamics.coriolis import CoriolisInertia
from ocp_dyn.dynamics.passive import passive_derivatives
from ocp_dyn.spatial_algebra.spatial import Inertia, crf, crm
from tests.dynamics.test_passive import BOTH
from tests.dynamics.test_passive import MODEL as PASSIVE
from tests.helpers import TREES, State, close, evaluate, mostly_slow, random_inertia, rate_of, symbols, tree

RANDOM = {f"random{b}": b for b in (1, 2, np.inf)}
every_tree = pytest.mark.parametrize("key", [*TREES, *RANDOM])
PAIRS = {
    "ID": (od.inverse_dynamics, od.inverse_dynamics_derivatives),
    "FD": (od.forward_dynamics, od.forward_dynamics_derivatives),
}


def model_of(key: str) -> od.Model:
    return od.random_tree(7, RANDOM[key], rng=np.random.default_rng(11)) if key in RANDOM else tree(key)


def by_ad(algorithm, model, s: State, *f_ext, **options) -> list[DM]:
    """Derivatives by AD along integrate(q, delta) at delta = 0, by qd, and by qdd or tau."""
    q, qd, x = symbols(model)
    delta = SX.sym("delta", model.nv)
    y = algorithm(model, model.integrate(q, delta), qd, x, *f_ext, **options)
    f = ca.Function("f", [q, qd, x, delta], [ca.jacobian(y, z) for z in (delta, qd, x)])
    return f(s.q, s.qd, s.tau, np.zeros(model.nv))


def equal(results, expected) -> None:
    """Relative to the largest entry: near the singular angles of Euler joints H^-1 is large and AD cancels in it."""
    for a, b in zip(results, expected, strict=True):
        scale = 1 + np.abs(DM(b).full()).max()
        close(a / scale, b / scale)


@every_tree
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.slow
def test_derivatives_are_those_of_ad(rng, key, name):
    model = model_of(key)
    s = State.of(model, rng)
    plain, analytic = PAIRS[name]
    equal(evaluate(analytic, model, args=(s.q, s.qd, s.tau)), by_ad(plain, model, s))


@mostly_slow("key", ("floating", "floating_zyx", "forest", "chain"), ("chain",))
@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_with_external_forces(rng, key, name):
    """Wrenches stay in the world while the bodies they act on move, twice on one body and on the last."""
    model = tree(key)
    s = State.of(model, rng)
    external = (model.body_names[-1], model.body_names[1], model.body_names[1])
    f_ext = rng.normal(size=(6, 3))
    plain, analytic = PAIRS[name]
    exact = by_ad(plain, model, s, DM(f_ext), loads=od.Loads(external=external))
    equal(evaluate(analytic, model, args=(s.q, s.qd, s.tau, f_ext), loads=od.Loads(external=external)), exact)


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_with_armatures(rng, name):
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("x"), mass=1, com=(0, 0.1, -0.3), inertia=(0.1, 0.2, 0.25), armature=0.3)
    builder.add_body("b", od.Euler("zyx"), "a", origin=(0, 0.2, 0), mass=2, com=(0.1, 0.2, 0), inertia=(0.1, 0.2, 0.25))
    model = builder.build()
    s = State.of(model, rng)
    plain, analytic = PAIRS[name]
    equal(
        evaluate(analytic, model, args=(s.q, s.qd, s.tau), loads=od.Loads(armature=True)),
        by_ad(plain, model, s, loads=od.Loads(armature=True)),
    )


@mostly_slow("name", PAIRS, ("ID",))
def test_derivatives_with_springs_and_losses(rng, name):
    """Quaternions, screws and chains, every dof with a spring, damping, friction and armature; with a wrench."""
    s = State.of(PASSIVE, rng)
    s.qd *= 0.01  # about the slip speed, where friction depends on qd
    f_ext = rng.normal(size=(6, 1))
    plain, analytic = PAIRS[name]
    found = evaluate(analytic, PASSIVE, args=(s.q, s.qd, s.tau, f_ext), loads=replace(BOTH, external=("b6",)))
    equal(found, by_ad(plain, PASSIVE, s, DM(f_ext), loads=replace(BOTH, external=("b6",))))
    assert all(
        np.isfinite(x).all()
        for x in evaluate(analytic, PASSIVE, args=(PASSIVE.neutral(), 0 * s.qd, 0 * s.qd), loads=BOTH)
    )


def test_derivatives_of_springs_by_differences(rng):
    """Where q is at rest and elsewhere; columns are tangent directions."""
    s = State.of(PASSIVE, rng)
    for q in (s.q, DM(PASSIVE.dofs.rest).full()[:, 0]):
        by_q, by_qd = (x.full() for x in passive_derivatives(PASSIVE, DM(q), DM(s.qd)))
        h = 1e-5
        for k, step in enumerate(h * np.eye(PASSIVE.nv)):
            q_ahead, q_behind = (PASSIVE.integrate(DM(q), DM(sign * step)) for sign in (1, -1))
            change = od.passive_force(PASSIVE, q_ahead, DM(s.qd)) - od.passive_force(PASSIVE, q_behind, DM(s.qd))
            close(by_q[:, k], change / (2 * h), 1e-8)  # central differences: h^2 and rounding / h
        assert np.count_nonzero(by_qd) == PASSIVE.nv


@pytest.mark.parametrize("kind", [DM, MX])
@pytest.mark.parametrize("name", PAIRS)
def test_all_matrix_types_agree(rng, kind, name):
    model = tree("forest")
    s = State.of(model, rng)
    args = [kind(DM(x)) for x in (s.q, s.qd, s.tau)]
    results = PAIRS[name][1](model, *args)
    for a, b in zip(results, evaluate(PAIRS[name][1], model, args=(s.q, s.qd, s.tau)), strict=True):
        assert isinstance(a, kind)
        close(a if kind is DM else ca.evalf(a), b)


@pytest.mark.parametrize("key", ["star", "forest"])
def test_expressions_may_hold_numbers(rng, key):
    """An SX of numbers, or of numbers beside a symbol, is where S changes as much as symbols are."""
    model = tree(key)
    q, v = DM(model.random_q(rng)), DM(rng.normal(size=model.nv))
    mixed = SX(q)
    mixed[0] = SX.sym("q0")
    for algorithm in (od.inverse_dynamics_derivatives, od.coriolis_matrix):
        args = (v, v) if algorithm is od.inverse_dynamics_derivatives else (v,)
        known = algorithm(model, q, *args)
        for Q in (SX(q), mixed):
            found = algorithm(model, Q, *map(SX, args))
            pairs = zip(found, known, strict=True) if isinstance(known, tuple) else [(found, known)]
            for x, exact in pairs:
                close(ca.Function("f", [mixed[0]], [ca.densify(SX(x))])(q[0]), exact)


def test_derivatives_do_not_see_the_scale_of_a_quaternion(rng):
    model = tree("floating")
    s = State.of(model, rng)
    scaled = s.q.copy()
    scaled[3:7] *= -1.7
    f = od.function(od.inverse_dynamics_derivatives, model)
    for a, b in zip(f(s.q, s.qd, s.tau), f(scaled, s.qd, s.tau), strict=True):
        close(a, b)


def test_moving_the_whole_mechanism_changes_no_force(rng):
    """Columns of the base's translation are structurally zero: gravity is the same everywhere."""
    f = od.function(od.inverse_dynamics_derivatives, tree("floating"))
    pattern = DM(f.sparsity_out("dtau_dq"), 1).full()
    assert not pattern[:, :3].any()
    assert pattern[:, 3:6].any()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("ID", 1.5), ("FD", 2.0)])
def test_fewer_instructions_than_ad_on_the_human(name, least):
    """The plain function's ca.jacobian by tangent step, qd and qdd (tau) takes `least` times as many, or more."""
    model = od.models.human()
    plain, analytic = PAIRS[name]
    q, qd, x = symbols(model)
    delta = SX.sym("delta", model.nv)
    y = plain(model, model.integrate(q, delta), qd, x)
    by_q = ca.substitute(ca.jacobian(y, delta), delta, DM.zeros(model.nv))
    y = plain(model, q, qd, x)
    ad = ca.Function("ad", [q, qd, x], [by_q, ca.jacobian(y, qd), ca.jacobian(y, x)], {"cse": True})
    assert ad.n_instructions() > least * od.function(analytic, model).n_instructions()


# The Coriolis matrix


@mostly_slow("key", (*TREES, *RANDOM), ("chain", "floating_zyx"))
def test_coriolis_matrix(rng, key):
    """C qd is the velocity-dependent force, and dH/dt - 2 C is skew-symmetric."""
    model = model_of(key)
    s = State.of(model, rng)
    q, qd, _ = symbols(model)
    C = od.coriolis_matrix(model, DM(s.q), DM(s.qd)).full()
    force = evaluate(od.bias_force, model, args=(s.q, s.qd)) - evaluate(od.gravity_force, model, args=(s.q,))
    close(C @ s.qd, force)
    H_rate = ca.Function("f", [q, qd], [rate_of(ca.densify(od.mass_matrix(model, q)), model, q, qd)])(s.q, s.qd)
    N = H_rate.full() - 2 * C
    close(N, -N.T)
    close(od.function(od.coriolis_matrix, model)(s.q, s.qd), C)


def test_coriolis_inertia_is_its_matrix(rng):
    """B = 1/2 (v x* I + (I v) x^ - I v x), its transpose, and the same in another frame."""
    mass = 1.3
    body = Inertia.from_com(mass, rng.normal(size=3), random_inertia(rng, mass))
    v, X = DM(rng.normal(size=6)), od.Transform.pose(np.eye(3)[[1, 2, 0]], rng.normal(size=3))
    B = CoriolisInertia.of(body, v)
    E = np.eye(6)
    h = body.apply(v)
    expected = np.column_stack([
        (crf(v, body.apply(DM(e))) + crf(DM(e), h) - body.apply(crm(v, DM(e)))).full()[:, 0] / 2 for e in E
    ])  # fmt: skip
    close(B.matrix(), expected)
    m = DM(rng.normal(size=6))
    close(B.apply(m[:3]), expected @ m.full())
    close(B.apply_transpose(m), (expected.T @ m.full())[:3])
    close((expected.T @ m.full())[3:], np.zeros(3))
    close(B.to_parent(X).matrix(), X.matrix().T @ B.matrix() @ X.matrix())
    close((B + B).matrix(), 2 * expected)
