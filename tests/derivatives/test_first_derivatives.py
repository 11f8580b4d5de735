"""Analytic derivatives of inverse and forward dynamics: against AD of the plain functions, on every joint."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.derivatives import first
from tests.dynamics.test_passive import BOTH
from tests.dynamics.test_passive import MODEL as PASSIVE
from tests.helpers import TREES, State, close, evaluate, mostly_slow, rate_of, symbols, tree

RANDOM = {"random2": 2}
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


@mostly_slow("key", ("mixed", "chain"), ("chain",))
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
@pytest.mark.slow
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


@pytest.mark.parametrize("key", ["star", "forest"])
@pytest.mark.slow
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


@pytest.mark.slow
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


# The Coriolis matrix


@mostly_slow("key", (*TREES, *RANDOM), ("chain",))
@pytest.mark.slow
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


@pytest.mark.parametrize("key", ["mixed", "chain"])
@pytest.mark.slow
def test_articulated_bodies_give_the_derivatives_of_long_chains(rng, key, monkeypatch):
    """Chains of more than 41 links take another way than the factor of H, with the same derivatives and fewer
    operations; here both ways on short models, with springs, armatures and external forces."""
    model = PASSIVE if key == "mixed" else od.models.chain(44)
    loads = BOTH if key == "mixed" else od.Loads(external=[model.body_names[-1]])
    f_ext = () if key == "mixed" else (DM(rng.normal(size=(6, 1))),)
    q, qd, tau = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    found = {}
    for deep in (0.0, 1e9):
        monkeypatch.setattr(first, "DEEP", deep)
        found[deep] = od.forward_dynamics_derivatives(model, DM(q), DM(qd), DM(tau), *f_ext, loads=loads)
    for one, other in zip(*found.values(), strict=True):
        close(one, other, 1e-9)
    assert (first.mean_ancestors(model) > 20) == (key == "chain")


def test_mean_ancestors_of_branches():
    builder = od.ModelBuilder("fork")
    builder.add_body("stem", od.Spherical(), mass=1, inertia=(1, 1, 1))
    for name in "ab":
        builder.add_body(name, od.Revolute("y"), "stem", mass=1, inertia=(1, 1, 1))
    assert first.mean_ancestors(builder.build()) == (0 + 1 + 2 + 3 + 3) / 5
