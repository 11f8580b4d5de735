"""Formulation A: natural coordinates of open chains, and of closed chains by removed rigid bodies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from tests.helpers import QUICK_TREES, TREES, State, close, evaluate, flat, mostly_slow, rate_of, symbols, tree

b = od.formulations
ALGORITHMS = (
    b.velocity_transformation_a, b.velocity_products_a, b.projected_equations_a, b.forward_dynamics_formulation_a,
)  # fmt: skip
TAKEN = [key for key in TREES if not key.startswith(("helical", "custom", "multi_dof"))]
ALL = od.Loads(passive=True, armature=True)
MODELS = {
    "human": od.models.human(),
    "biped": od.models.five_link_biped(),
    "compass": od.models.compass_walker(),
    "chain": od.models.chain(6),
}


def check(model: od.Model, s: State, scale: float = 1.0, **options) -> None:
    """R and Sc against the rates of natural coordinates, H, C and qdd against CRBA, RNEA and ABA."""
    natural = b.natural(model)
    q, qd = DM(s.q), DM(s.qd)
    R = evaluate(b.velocity_transformation_a, model, natural, args=[s.q])
    close(R @ s.qd / scale, b.natural_velocity(model, natural, q, qd) / scale)
    x = b.natural_from_q(model, natural, q)
    J = b.natural_jacobian(model, natural, x).full() / scale
    close(J @ R / scale, np.zeros((natural.m, model.nv)))
    Sc = evaluate(b.velocity_products_a, model, natural, args=[s.q, s.qd])
    close(J @ Sc / scale, flat(b.natural_jacobian_rate(model, natural, x, DM(R @ s.qd))) / scale**2)
    for got, expected in zip(
        evaluate(b.projected_equations_a, model, natural, args=[s.q, s.qd], **options),
        evaluate(od.equations_of_motion, model, args=[s.q, s.qd], **options), strict=True,
    ):  # fmt: skip
        close(got / np.abs(expected).max(), expected / np.abs(expected).max())
    qdd = evaluate(od.forward_dynamics, model, args=[s.q, s.qd, s.tau], **options)
    close(evaluate(b.forward_dynamics_formulation_a, model, natural, args=[s.q, s.qd, s.tau], **options), qdd)


@mostly_slow("key", TAKEN, QUICK_TREES)
def test_every_joint(rng, key):
    model = tree(key)
    check(model, State.of(model, rng))


@pytest.mark.parametrize("key", MODELS)
def test_ready_models(rng, key):
    model = MODELS[key]
    check(model, State.of(model, rng), loads=ALL)


def test_joints_of_several_dofs_along_any_axes(rng):
    joint = od.MultiDof([(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 2, 3), (0.6, 0, 0.8, 0, 0, 0)])
    model = od.random_tree(4, 1.5, (joint, od.Revolute((1, 2, 3))), rng)
    check(model, State.of(model, rng))


def test_accelerations_are_rates_of_velocities(rng):
    model = tree("forest")
    natural = b.natural(model)
    q, qd, qdd = symbols(model)
    R = b.velocity_transformation_a(model, natural, q)
    rate = rate_of(R @ qd, model, q, qd, qdd) - R @ qdd - b.velocity_products_a(model, natural, q, qd)
    s = State.of(model, rng)
    close(ca.Function("rate", [q, qd, qdd], [rate])(s.q, s.qd, s.qdd), np.zeros(natural.n))


def test_external_wrenches(rng):
    model = tree("floating")
    natural = b.natural(model)
    s = State.of(model, rng)
    loads = od.Loads(passive=True, armature=True, external=("b3", "b5", "b3"))
    given = [s.q, s.qd, s.tau, rng.normal(size=(6, 3))]
    got = evaluate(b.forward_dynamics_formulation_a, model, natural, args=given, loads=loads)
    close(got, evaluate(od.forward_dynamics, model, args=given, loads=loads))


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-9), (1e3, 1e9)])
def test_scales(rng, length, mass):
    model = tree("forest").scale(length, mass).with_gravity((0.3 * length, 0, -9.8 * length))
    s = State.of(model, rng)
    by_q, by_v = model.lengths
    s.q[by_q] *= length
    for x in (s.qd, s.qdd):
        x[by_v] *= length
    s.tau = flat(od.inverse_dynamics(model, DM(s.q), DM(s.qd), DM(s.qdd)))
    check(model, s, max(length, 1.0))


def test_R_is_zero_where_a_dof_does_not_move_an_element():
    """Elements that two bodies share move with the first of them."""
    model = od.models.pendulum(3)
    natural = b.natural(model)
    R = b.velocity_transformation_a(model, natural, SX.sym("q", 3))
    assert natural.names[:4] == ("P2.x", "P2.z", "P3.x", "P3.z")
    pattern = np.array(DM(R.sparsity(), 1).full(), dtype=bool)
    assert [list(np.flatnonzero(row)) for row in pattern[:4]] == [[0], [0], [0, 1], [0, 1]]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_SX_MX_and_DM_agree(rng, algorithm):
    model = tree("star")
    natural = b.natural(model)
    s = State.of(model, rng)
    names = od.function(algorithm, model, natural).name_in()
    values = [DM(getattr(s, name)) for name in names]
    numbers = algorithm(model, natural, *values)
    for kind in (SX, MX):
        x = [kind.sym(name, len(flat(v))) for name, v in zip(names, values, strict=True)]
        results = algorithm(model, natural, *x)
        f = ca.Function("f", x, list(results) if isinstance(results, tuple) else [results])
        for got, expected in zip(f.call(values), numbers if isinstance(numbers, tuple) else (numbers,), strict=True):
            close(got, expected)


def test_inertias_and_gravity_as_inputs(rng):
    model = tree("euler_zyx")
    natural = b.natural(model)
    names = ("gravity", "inertia:b3", "mass:b2")
    s = State.of(model, rng)
    given = [s.q, s.qd, s.tau, (1, 2, 3), (2, 0.1, 0.2, 0.3, 3, 0.1, 4, 0.2, 0.3, 5), 3.0]
    f = od.function(b.forward_dynamics_formulation_a, model, natural, parameters=names)
    close(f(*given), od.function(od.forward_dynamics, model, parameters=names)(*given))


def test_closed_chains_are_refused():
    model = od.models.pendulum(3)
    loop = od.Loop("link1", "link3", ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)), successor_pose=(np.eye(3), (0, 0, -0.5)))
    natural = b.natural(model, loop, q=od.assemble_q(model, loop, (0.3, 2.0, 1.6)))
    with pytest.raises(ValueError, match=r"belong to a closed chain: .*natural\(model\), or open the loops by"):
        b.velocity_transformation_a(model, natural, DM(3, 1))
