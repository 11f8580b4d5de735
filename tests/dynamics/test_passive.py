"""Springs, damping, friction and armature: data of the model that enter the equations when asked for."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.constrained_motion import SOLVERS
from tests.helpers import (
    JOINTS,
    State,
    close,
    evaluate,
    flat,
    mostly_slow,
    random_inertia,
    rate_of,
    symbols,
)


def model_of(*joints: str) -> od.Model:
    """A branching model whose every dof has all of it."""
    rng = np.random.default_rng(11)
    builder = od.ModelBuilder()
    for k, key in enumerate(joints):
        joint = JOINTS[key]
        mass = rng.uniform(1, 2)
        isotropic = 7.0 if joint.nq > joint.nv else rng.uniform(1, 10, joint.nv)
        builder.add_body(
            f"b{k}", joint, f"b{(k - 1) // 2}" if k else "world", origin=rng.normal(size=3), mass=mass,
            com=rng.normal(size=3), inertia=random_inertia(rng, mass), damping=rng.uniform(0, 1, joint.nv),
            friction=rng.uniform(0, 1, joint.nv), stiffness=isotropic, rest=joint.random_q(rng),
            armature=rng.uniform(0, 1, joint.nv),
        )  # fmt: skip
    return builder.build()


MODEL = model_of("floating", "spherical", "revolute_skew", "helical_skew", "euler_zyx", "multi_dof", "prismatic_x")
BOTH = od.Loads(passive=True, armature=True)


def test_passive_force_is_the_formula():
    builder = od.ModelBuilder()
    data = {"stiffness": 3.0, "rest": 0.4, "damping": 0.7, "friction": 0.5}
    builder.add_body("a", od.Revolute(), mass=1, com=(1, 0, 0), **data)
    model = builder.build()
    tau = flat(od.passive_force(model, DM(1.4), DM(0.02)))
    close(tau, [-3.0 - 0.7 * 0.02 - 0.5 * np.tanh(2.0)])
    close(od.passive_force(model, DM(1.4), DM(0.02), slip_speed=1.0), [-3.0 - 0.7 * 0.02 - 0.5 * np.tanh(0.02)])
    close(flat(od.spring_energy(model, DM(1.4))), [1.5])
    with pytest.raises(ValueError, match=r"slip_speed .* must be positive"):
        od.passive_force(model, DM(1.4), DM(0.02), slip_speed=0)


def test_a_rotor_counts_by_the_square_of_its_gear():
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute(), mass=1, com=(1, 0, 0), rotor_inertia=1e-4, gear_ratio=-50, armature=0.1)
    model = builder.build()
    close(model.dofs.armature, [0.35])
    close(evaluate(od.mass_matrix, model, args=(0.3,), loads=od.Loads(armature=True)), [1.35])
    close(evaluate(od.mass_matrix, model, args=(0.3,)), [1.0])


def test_nothing_enters_unless_asked(rng):
    bare = model_of("floating", "spherical")
    s = State.of(bare, rng)
    tau = evaluate(od.inverse_dynamics, bare, args=(s.q, s.qd, s.qdd))
    H, C = evaluate(od.mass_matrix, bare, args=(s.q,)), evaluate(od.bias_force, bare, args=(s.q, s.qd))
    close(tau, H @ s.qdd + C)
    assert od.function(od.passive_force, od.random_tree(4), signature="q qd -> tau").nnz_out() == 0


@pytest.mark.slow
def test_the_equation_of_motion_holds_with_all_of_it(rng):
    """(H + A) qdd + C = tau + tau_p in ID, FD by both algorithms; with external forces."""
    s = State.of(MODEL, rng)
    f = rng.normal(size=(6, 1))
    H = evaluate(od.mass_matrix, MODEL, args=(s.q,)) + np.diag(MODEL.dofs.armature)
    close(evaluate(od.mass_matrix, MODEL, args=(s.q,), loads=od.Loads(armature=True)), H)
    passive = flat(od.passive_force(MODEL, DM(s.q), DM(s.qd)))
    C = evaluate(od.bias_force, MODEL, args=(s.q, s.qd, f), loads=od.Loads(external=("b6",))) - passive
    close(evaluate(od.bias_force, MODEL, args=(s.q, s.qd, f), loads=od.Loads(external=("b6",), passive=True)), C)
    tau = evaluate(od.inverse_dynamics, MODEL, args=(s.q, s.qd, s.qdd, f), loads=replace(BOTH, external=("b6",)))
    close(tau, H @ s.qdd + C)
    for algorithm in (od.forward_dynamics, od.forward_dynamics_crba):
        close(evaluate(algorithm, MODEL, args=(s.q, s.qd, tau, f), loads=replace(BOTH, external=("b6",))), s.qdd)
        close(
            evaluate(algorithm, MODEL, args=(s.q, s.qd, s.tau), loads=od.Loads(passive=True)),
            evaluate(algorithm, MODEL, args=(s.q, s.qd, s.tau + passive)),
        )
        close(
            evaluate(algorithm, MODEL, args=(s.q, s.qd, s.tau), loads=od.Loads(armature=True)),
            np.linalg.solve(H, s.tau - evaluate(od.bias_force, MODEL, args=(s.q, s.qd))),
        )


def test_springs_are_conservative_and_losses_lose(rng):
    """d(spring energy)/dt + springs' power = 0, for quaternions too; damping and friction take power."""
    q, qd, _ = symbols(MODEL)
    springs = od.passive_force(MODEL, q, 0 * qd)
    power = rate_of(od.spring_energy(MODEL, q), MODEL, q, qd) + ca.dot(springs, qd)
    losses = ca.dot(od.passive_force(MODEL, q, qd) - springs, qd)
    f = ca.Function("f", [q, qd], [power, losses])
    for _ in range(3):
        s = State.of(MODEL, rng)
        balance, lost = f(s.q, s.qd)
        close(flat(balance), [0.0])
        assert float(lost) < 0


def test_at_rest_in_the_rest_position_there_is_no_force():
    q = DM(MODEL.dofs.rest)
    close(od.passive_force(MODEL, q, DM.zeros(MODEL.nv, 1)), np.zeros(MODEL.nv))
    x, v, _ = symbols(MODEL)
    J = ca.Function("J", [x, v], [ca.jacobian(od.passive_force(MODEL, x, v), ca.vertcat(x, v))])
    assert np.all(np.isfinite(J(q, np.zeros(MODEL.nv)).full()))


def test_joint_data_are_checked():
    wrong = {
        "stiffness must not be negative": {"stiffness": -1.0},
        "armature must not be negative": {"armature": -1.0},
        "rest must be finite": {"rest": np.inf},
        "damping must be finite": {"damping": np.inf},
        "stiffness must be one number or 1": {"stiffness": (1, 2)},
    }
    for message, data in wrong.items():
        with pytest.raises(od.ModelError, match=message):
            od.ModelBuilder().add_body("a", od.Revolute(), **data)
    with pytest.raises(
        TypeError, match=r"no option stifness; options of dofs are: lower, upper, .*did you mean .stiffness"
    ):
        od.ModelBuilder().add_body("a", od.Revolute(), stifness=1.0)


def test_joint_data_survive_a_file(tmp_path):
    od.save_model(MODEL, tmp_path / "m.json")
    again = od.load_model(tmp_path / "m.json")
    for key, values in vars(MODEL.dofs).items():
        assert np.array_equal(values, getattr(again.dofs, key)), key
    data = od.model_to_dict(MODEL)
    for body in data["bodies"]:
        for key in ("stiffness", "armature", "rest"):
            del body[key]
    old = od.model_from_dict(data)  # a file that knows nothing of them
    assert not old.dofs.armature.any()
    assert np.array_equal(old.dofs.rest, MODEL.neutral())


@mostly_slow("solver", SOLVERS, ("range", "aba"))
@pytest.mark.slow
def test_constrained_motion_holds_with_all_of_it(solver, rng):
    """(H + A) qdd + C - tau_p = tau + G' lam, G qdd = gamma, by every solver; impacts with A; constrained ID."""
    s = State.of(MODEL, rng)
    feet = (od.Contact("b6", axes="xz"), od.Contact("b4", point=(0.1, 0.2, 0.3), axes="y"))
    H, C, G, gamma = (
        evaluate(a, MODEL, *static, args=args, **options)
        for a, static, args, options in (
            (od.mass_matrix, (), (s.q,), {"loads": od.Loads(armature=True)}),
            (od.bias_force, (), (s.q, s.qd), {"loads": od.Loads(passive=True)}),
            (od.constraint_jacobian, (feet,), (s.q,), {}),
            (od.constraint_hessian, (feet,), (s.q, s.qd), {}),
        )
    )
    qdd, lam = evaluate(od.constrained_dynamics, MODEL, feet, args=(s.q, s.qd, s.tau), solver=solver, loads=BOTH)
    # the proximal forces are of least norm to 1e-10 of the largest
    close(H @ qdd + C, s.tau + G.T @ lam, 1e-8 if solver == "proximal" else 1e-9)
    close(G @ qdd, gamma, 1e-8 if solver == "proximal" else 1e-10)
    qd_plus, Lam = evaluate(od.impact, MODEL, feet, args=(s.q, s.qd), solver=solver, loads=od.Loads(armature=True))
    close(H @ (qd_plus - s.qd), G.T @ Lam, 1e-8 if solver == "proximal" else 1e-9)


@pytest.mark.slow
def test_constrained_equations_and_inverse_dynamics_hold_with_all_of_it(rng):
    s = State.of(MODEL, rng)
    feet = (od.Contact("b6"),)
    H, C, G, gamma = evaluate(od.constrained_equations, MODEL, feet, args=(s.q, s.qd), loads=BOTH)
    close(H, evaluate(od.mass_matrix, MODEL, args=(s.q,), loads=od.Loads(armature=True)))
    close(C, evaluate(od.bias_force, MODEL, args=(s.q, s.qd), loads=od.Loads(passive=True)))
    tau, lam, qdd = evaluate(od.constrained_inverse_dynamics, MODEL, feet, args=(s.q, s.qd, s.qdd), loads=BOTH)
    close(H @ qdd + C, tau + G.T @ lam, 1e-9)
    close(G @ qdd, gamma, 1e-9)
