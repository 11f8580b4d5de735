"""The regressor of joint forces: tau = Y pi for every joint, and identification with it."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.dynamics.regressor import PARAMETERS
from tests.helpers import QUICK_TREES, TREES, State, close, evaluate, flat, mostly_slow, tree


@mostly_slow("key", TREES, QUICK_TREES)
@pytest.mark.slow
def test_inverse_dynamics_is_linear_in_the_parameters(rng, key):
    model = tree(key)
    s = State.of(model, rng)
    args = (s.q, s.qd, s.qdd)
    Y = evaluate(od.inverse_dynamics_regressor, model, args=args)
    close(Y @ flat(od.inertial_parameters(model)), evaluate(od.inverse_dynamics, model, args=args))
    close(od.inverse_dynamics_regressor(model, *(DM(x) for x in args)), Y)


@mostly_slow("key", TREES, QUICK_TREES)
@pytest.mark.slow
def test_energies_are_linear_in_the_parameters(rng, key):
    """On every joint; the regressors hold for other inertias too."""
    model = tree(key)
    s = State.of(model, rng)
    Y_T, Y_V = od.kinetic_energy_regressor(model, s.q, s.qd), od.potential_energy_regressor(model, s.q)
    assert Y_T.shape == Y_V.shape == (1, 10 * model.nb)
    other = model
    for name in model.body_names:
        other = other.with_inertia(name, mass=rng.uniform(1, 2), com=rng.uniform(-0.1, 0.1, 3), inertia=(0.2, 0.3, 0.4))
    for one in (model, other):
        pi = od.inertial_parameters(one)
        close(Y_T @ pi, od.kinetic_energy(one, s.q, s.qd))
        close(Y_V @ pi, od.potential_energy(one, s.q))
        close(evaluate(od.kinetic_energy_regressor, one, args=(s.q, s.qd)), Y_T)
        close(evaluate(od.potential_energy_regressor, one, args=(s.q,)), Y_V)


def test_patterns_of_energy_regressors():
    """Inertias have no potential energy."""
    V = DM(od.function(od.potential_energy_regressor, tree("chain")).sparsity_out(0), 1).full().astype(bool).ravel()
    assert not any(V[10 * i + 4 : 10 * i + 10].any() for i in range(4))
    assert all(V[10 * i] for i in range(1, 4))


def test_the_regressor_knows_no_inertias(rng):
    """Y of a model gives tau of the same model with other inertias."""
    model = tree("forest")
    s = State.of(model, rng)
    args = (s.q, s.qd, s.qdd)
    other = model
    for name in model.body_names:
        other = other.with_inertia(name, mass=rng.uniform(1, 2), com=rng.uniform(-0.1, 0.1, 3), inertia=(0.2, 0.3, 0.4))
    Y = evaluate(od.inverse_dynamics_regressor, model, args=args)
    close(Y @ flat(od.inertial_parameters(other)), evaluate(od.inverse_dynamics, other, args=args))


def test_order_names_and_units_of_the_parameters():
    builder = od.ModelBuilder()
    I = np.array([[1.0, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 2.0]])
    builder.add_body("a", od.Revolute("x"), mass=2.0, com=(0.0, 0.0, 0.0), inertia=I)
    builder.add_body("b", od.Revolute("x"), "a", mass=3.0, com=(0.1, 0.2, 0.3))
    model = builder.build()
    pi = flat(od.inertial_parameters(model))
    close(pi[:10], [2, 0, 0, 0, 1, 0.1, 1.5, 0.2, 0.3, 2])
    close(pi[10:14], [3, 0.3, 0.6, 0.9])
    assert od.parameter_names(model)[:3] == ("a.m", "a.hx", "a.hy")
    assert len(od.parameter_names(model)) == 20 == 2 * len(PARAMETERS)


def test_a_block_is_zero_where_the_body_is_not_supported():
    model = tree("star")
    pattern = DM(od.function(od.inverse_dynamics_regressor, model).sparsity_out(0), 1).full().astype(bool)
    for i, _ in model.edges:
        for j, _ in model.edges:
            block = pattern[np.ix_(model.dofs_of(i), range(10 * (j - 1), 10 * j))]
            assert block.any() == (i == j)


def test_parameters_are_found_from_motions(rng):
    """Least squares over random states gives parameters that predict the forces of new ones."""
    model = tree("chain")
    Y, tau = od.function(od.inverse_dynamics_regressor, model), od.function(od.inverse_dynamics, model)
    states = [State.of(model, rng) for _ in range(40)]
    A = np.vstack([Y(s.q, s.qd, s.qdd).full() for s in states])
    b = np.concatenate([flat(tau(s.q, s.qd, s.qdd)) for s in states])
    pi = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    s = State.of(model, rng)
    close(Y(s.q, s.qd, s.qdd).full() @ pi, tau(s.q, s.qd, s.qdd), 1e-8)  # as ill-conditioned as the states make it


def test_pinocchio_agrees(rng):
    """The same order of parameters: the two regressors of a chain of revolute joints are equal."""
    pin = pytest.importorskip("pinocchio")
    joints = [od.Revolute("z"), od.Revolute("x"), od.Revolute("-y")]
    model = od.random_tree(5, 1, joints, rng)
    theirs = pin.Model()
    for i, p in model.edges:
        X = model.X_tree[i]
        kind = pin.JointModelRevoluteUnaligned(*model.joints[i].axis)
        theirs.addJoint(p, kind, pin.SE3(X.E.full().T, flat(X.r)), f"j{i}")
    s = State.of(model, rng)
    expected = pin.computeJointTorqueRegressor(theirs, theirs.createData(), s.q, s.qd, s.qdd)
    close(evaluate(od.inverse_dynamics_regressor, model, args=(s.q, s.qd, s.qdd)), expected)
