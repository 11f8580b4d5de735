"""Nonlinear passive torques: their formulas, derivatives and potentials, in every algorithm that has passive forces."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import formulations as fm
from ocp_dyn.dynamics.passive_torques import passive_derivatives
from ocp_dyn.mechanism.reduction import variants
from tests.dynamics.test_passive import model_of
from tests.helpers import State, close, evaluate, flat, rate_of, symbols

PASSIVE = od.Loads(passive=True)


def with_elements(bare: od.Model, seed: int = 3) -> od.Model:
    """On every dof whose coordinate is an entry of q: an exponential of several coordinates, and springs to both
    sides."""
    rng = np.random.default_rng(seed)
    free = [f"{name}.{label}" if label else name
            for name, joint in zip(bare.joint_names, bare.joints[1:], strict=True)
            for label, entry in zip(joint.qd_labels, joint.coordinates(),
                strict=True) if entry is not None]  # fmt: skip
    elements: list[od.ExponentialTorque | od.OneSidedSpring] = []
    for dof in free:
        others = rng.choice(free, size=3, replace=False)
        slopes = {str(name): float(rng.uniform(-1, 1)) for name in {dof, *others}}
        elements.append(od.ExponentialTorque(dof, rng.uniform(-2, 2), slopes, rng.uniform(-1, 1)))
        for side in ("above", "below"):
            elements.append(
                od.OneSidedSpring(dof, rng.uniform(1, 5), rng.uniform(-0.3, 0.3), rng.uniform(0.1, 0.5), side)
            )
    elements.append(od.ExponentialTorque(free[-1], 1.5, offset=0.4))
    return bare.with_passive(elements)


BARE = model_of("floating", "revolute_skew", "euler_zyx", "prismatic_x", "spherical", "universal")
MODEL = with_elements(BARE)


def formula(model: od.Model, q: np.ndarray) -> np.ndarray:
    """The sum of the elements in plain Python, by names of q and qd; the names of coordinates are equal in these
    joints."""
    at = dict(zip(model.q_names, q, strict=True))
    total = np.zeros(model.nv)
    for e in model.passive:
        if isinstance(e, od.ExponentialTorque):
            value = e.gain * math.exp(e.offset + sum(x * at[j.replace(".w", ".r")] for j, x in dict(e.slopes).items()))
        else:
            sign = 1 if e.side == "above" else -1
            x = sign * (at[e.dof] - e.start) / e.smoothing
            normal = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
            value = -sign * e.stiffness * e.smoothing * (x * (1 + math.erf(x / math.sqrt(2))) / 2 + normal)
        total[model.qd_names.index(e.dof)] += value
    return total


def elements_only(model: od.Model, q: DM) -> np.ndarray:
    bare = model.with_passive([], replace_all=True)
    still = DM.zeros(model.nv, 1)
    return flat(od.passive_force(model, q, still)) - flat(od.passive_force(bare, q, still))


def test_torques_are_the_formulas(rng):
    assert len(MODEL.passive) == 3 * 10 + 1
    assert all(len(e.coordinates) > 2 for e in MODEL.passive[::3][:10])
    for _ in range(3):
        q = MODEL.random_q(rng)
        close(elements_only(MODEL, DM(q)), formula(MODEL, q), 1e-11)


def test_far_from_its_start_a_one_sided_spring_is_linear_or_slack():
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("y"), mass=1, joint_name="j", inertia=(1, 1, 1))
    above, below = (
        builder.build().with_passive([od.OneSidedSpring("j", 100.0, 0.2, 0.1, side)]) for side in ("above", "below")
    )
    torques = [float(od.passive_force(above, [x], [0.0])) for x in (-0.8, -0.1, 0.0, 0.2, 0.5, 1.2)]
    close(torques, [0, -0.00382, -0.0849, -3.9894, -30.0038, -100], 1e-5)  # the docstring's 0.0004, 0.0085, 0.4 w
    for x in (-0.8, 0.0, 0.2, 0.5):
        close(od.passive_force(below, [0.4 - x], [0.0]), -od.passive_force(above, [x], [0.0]), 1e-12)
        close(od.spring_energy(below, [0.4 - x]), od.spring_energy(above, [x]), 1e-12)


@pytest.mark.slow
def test_derivatives_by_differences_and_only_where_there_are_couplings(rng):
    s, h = State.of(MODEL, rng), 1e-5
    by_q, by_qd = passive_derivatives(MODEL, DM(s.q), DM(s.qd))
    for k, step in enumerate(h * np.eye(MODEL.nv)):
        ahead, behind = (
            od.passive_force(MODEL, MODEL.integrate(DM(s.q), DM(sign * step)), DM(s.qd)) for sign in (1, -1)
        )
        close(by_q.full()[:, k], flat(ahead - behind) / (2 * h), 1e-8)
    own, _ = passive_derivatives(BARE, DM(s.q), DM(s.qd))
    coupled = {(MODEL.qd_names.index(e.dof), MODEL.qd_names.index(j)) for e in MODEL.passive for j in e.coordinates}
    extra = set(zip(*by_q.sparsity().get_triplet(), strict=True)) - set(zip(*own.sparsity().get_triplet(), strict=True))
    assert {(i, j) for i, j in coupled if i != j} <= extra | {(j, i) for i, j in extra}
    assert extra <= coupled
    assert by_qd.nnz() == MODEL.nv


@pytest.mark.parametrize("kind", ["ID", "FD"])
@pytest.mark.slow
def test_analytic_derivatives_are_those_of_differentiation(rng, kind):
    s = State.of(MODEL, rng)
    plain, analytic = {
        "ID": (od.inverse_dynamics, od.inverse_dynamics_derivatives),
        "FD": (od.forward_dynamics, od.forward_dynamics_derivatives),
    }[kind]
    q, qd, x = symbols(MODEL)
    y = plain(MODEL, q, qd, x, loads=PASSIVE)
    d, direction = ca.SX.sym("d", MODEL.nv), rng.normal(size=MODEL.nv)
    along = ca.substitute(ca.jtimes(y, ca.vertcat(q, qd, x), ca.vertcat(MODEL.q_dot(q, d), d, d)), d, DM(direction))
    wanted = ca.Function("wanted", [q, qd, x], [along])(s.q, s.qd, s.tau)
    found = evaluate(analytic, MODEL, args=(s.q, s.qd, s.tau), loads=PASSIVE)
    close(sum(block for block in found) @ direction, flat(wanted), 1e-9)


@pytest.mark.slow
def test_forward_dynamics_inverts_inverse_dynamics(rng):
    s = State.of(MODEL, rng)
    tau = evaluate(od.inverse_dynamics, MODEL, args=(s.q, s.qd, s.qdd), loads=PASSIVE)
    close(tau, evaluate(od.inverse_dynamics, MODEL, args=(s.q, s.qd, s.qdd)) - flat(od.passive_force(MODEL, s.q, s.qd)))
    for algorithm in (od.forward_dynamics, od.forward_dynamics_crba):
        close(evaluate(algorithm, MODEL, args=(s.q, s.qd, tau), loads=PASSIVE), s.qdd)
    close(
        evaluate(od.static_torque, MODEL, args=(s.q,), loads=PASSIVE),
        evaluate(od.gravity_force, MODEL, args=(s.q,)) - flat(od.passive_force(MODEL, s.q, 0 * s.qd)),
    )


@pytest.mark.slow
def test_a_reduced_or_split_model_has_the_same_torques(rng):
    q = DM(MODEL.random_q(rng))
    for other in (od.reduce(MODEL), *variants(MODEL), copy.deepcopy(MODEL), pickle.loads(pickle.dumps(MODEL))):
        assert other.nv == MODEL.nv
        assert len(other.passive) == len(MODEL.passive)
        close(elements_only(other, q), elements_only(MODEL, q), 1e-12)


def test_elements_on_their_own_dof_have_a_potential_and_coupled_ones_none(rng):
    """d(energy)/dt is minus the power of these elements; an element across two joints adds nothing."""
    uncoupled = [
        od.ExponentialTorque("b1_joint", 2.0, {"b1_joint": -1.5}, 0.3),
        od.ExponentialTorque("b2_joint.ry", -1.2),
        od.OneSidedSpring("b3_joint", 20.0, 0.1, 0.3),
        od.OneSidedSpring("b3_joint", 20.0, 0.2, 0.3, "below"),
    ]
    coupled = od.ExponentialTorque("b1_joint", 2.0, {"b1_joint": -1.5, "b3_joint": 0.2})
    model = BARE.with_passive(uncoupled)
    q, qd, _ = symbols(model)
    power = rate_of(od.spring_energy(model, q), model, q, qd) + ca.dot(od.passive_force(model, q, 0 * qd), qd)
    f = ca.Function("f", [q, qd], [power])
    for _ in range(3):
        s = State.of(model, rng)
        close(flat(f(s.q, s.qd)), [0.0])
        close(od.spring_energy(model.with_passive([coupled]), s.q), od.spring_energy(model, s.q), 1e-13)
    held = {name: DM(0.1) for name in ("b1_joint", "b3_joint")}
    assert coupled.potential(held) is None
    assert uncoupled[0].potential(held) is not None


@pytest.mark.slow
def test_formulations_and_simulations_have_them(rng):
    """Velocity transformations, natural coordinates and a motion of both kinds, whose energy stays."""
    model = od.models.pendulum(2)
    one, other = model.qd_names
    pair = [od.ExponentialTorque(one, 2.0, {other: -1.0, one: -0.5}), od.OneSidedSpring(other, 30.0, 0.2, 0.1)]
    coupled, s = model.with_passive(pair), State.of(model, rng)
    wanted = flat(od.bias_force(coupled, s.q, s.qd, loads=PASSIVE))
    natural = fm.natural(coupled)
    close(flat(fm.projected_equations(coupled, s.q, s.qd, loads=PASSIVE)[1]), wanted)
    close(flat(fm.projected_equations_a(coupled, natural, s.q, s.qd, loads=PASSIVE)[1]), wanted)
    x, xd = fm.natural_from_q(coupled, natural, s.q), fm.natural_velocity(coupled, natural, s.q, s.qd)
    zero = DM.zeros(2)
    apart = fm.natural_force(coupled, natural, x, xd, zero, loads=PASSIVE) - fm.natural_force(
        coupled, natural, x, xd, zero
    )
    close(flat(apart), flat(fm.natural_force(model, natural, x, xd, DM(elements_only(coupled, DM(s.q)))) -
                            fm.natural_force(model, natural, x, xd, zero)))  # fmt: skip
    sprung = model.with_passive([pair[1]])
    FD = od.function(od.forward_dynamics, sprung, loads=PASSIVE)
    motion = fm.runge_kutta_motion(sprung, FD, [0.5, 1.0], [0.0, 0.0], h=1e-3, duration=0.4, loads=PASSIVE)
    assert motion.energy_error < 1e-7
    assert fm.Trajectory(model, motion.t, motion.q, motion.qd).energy_error > 1e-2


@pytest.mark.slow
def test_closed_chains_have_them_however_they_are_opened():
    """Cut joints, a removed body, independent coordinates, against constrained dynamics."""
    bar = od.models.n_four_bar(1)
    one, two, three = bar.model.qd_names
    model = bar.model.with_passive([
        od.ExponentialTorque(one, 2.0, {three: 0.7, one: -0.3}, 0.1),
        od.OneSidedSpring(two, 40.0, 0.1, 0.2),
        od.ExponentialTorque(three, 0.5, {two: 1.0}),
    ])  # fmt: skip
    at = (bar.q, bar.qd, np.zeros(3))
    wanted = od.constrained_dynamics(model, bar.loops, *at, loads=PASSIVE)[0]
    assert float(ca.norm_inf(wanted)) > 1
    close(fm.closed_chain_dynamics(model, bar.loops, *at, loads=PASSIVE)[0], wanted)
    independent = {"method": "independent", "independent": fm.independent_coordinates(model, bar.loops, bar.q)}
    close(fm.closed_chain_dynamics(model, bar.loops, *at, loads=PASSIVE, **independent)[0], wanted)
    opened = fm.open_by_removing(model, bar.loops, "coupler1")
    close(fm.closed_chain_dynamics_a(model, opened, *at, loads=PASSIVE)[0], wanted)


@pytest.mark.slow
def test_exported_and_compiled_code_has_them_and_its_header_says_so(rng, tmp_path: Path):
    model = od.models.pendulum(2)
    one, other = model.qd_names
    model = model.with_passive(
        [od.ExponentialTorque(one, 2.0, {other: -1.0}), od.OneSidedSpring(other, 30.0, 0.2, 0.1)]
    )
    f = od.function(od.inverse_dynamics, model, loads=PASSIVE)
    q, zero = rng.normal(size=(9, 2)), np.zeros((9, 2))
    close(od.codegen.compile([f], lanes=8).ID(q, zero, zero), f(q.T, zero.T, zero.T).full().T)
    od.codegen.export([f], tmp_path / "c", prefix="arm")
    header = " ".join((tmp_path / "c" / "arm.h").read_text().replace(" *", " ").split())
    assert f"nonlinear passive torques on {one}, {other}" in header
    assert od.codegen.model_digest(model) != od.codegen.model_digest(od.models.pendulum(2))


def test_symbolic_models_have_them():
    model = od.models.pendulum(1)
    (dof,) = model.qd_names
    model = model.with_passive([od.OneSidedSpring(dof, 30.0, 0.2, 0.1)])
    f = od.function(od.inverse_dynamics, model, loads=PASSIVE, parameters=("gravity",))
    close(f(0.5, 0, 0, (0, 0, 0)), -od.passive_force(model, [0.5], [0.0]))


@pytest.mark.parametrize(("message", "make"), [
    ("gain .* must be finite", lambda: od.ExponentialTorque("a", math.inf)),
    ("constant torque .* must be finite", lambda: od.ExponentialTorque("a", 1, {"a": 0.0}, 800)),
    ("constant torque .* must be finite", lambda: od.ExponentialTorque("a", 1, {"b": 2}, 800).folded({"b": 0.0})),
    ("the slope of 'a' is given twice", lambda: od.ExponentialTorque("a", 1, [("a", 1), ("a", 2)])),
    ("slope of a must be finite", lambda: od.ExponentialTorque("a", 1, {"a": math.inf})),
    ("stiffness .* must not be negative", lambda: od.OneSidedSpring("a", -1, 0)),
    ("smoothing .* must be positive", lambda: od.OneSidedSpring("a", 1, 0, 0)),
    ("side must be one of above, below, got 'up'", lambda: od.OneSidedSpring("a", 1, 0, side="up")),
    (r"'b4_joint.wx' is no rate of one entry of q", lambda: BARE.with_passive([od.OneSidedSpring("b4_joint.wx", 1,
        0)])),
    (r"no dof 'b9_joint' .*did you mean", lambda: BARE.with_passive([od.ExponentialTorque("b1_joint", 1,
        {"b9_joint": 1})])),
])  # fmt: skip
def test_wrong_values_are_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()


def test_slopes_are_kept_as_sorted_pairs_without_zeros():
    element = od.ExponentialTorque("b", 1, {"b": 2, "a": -1, "c": 0})
    assert element.slopes == (("a", -1.0), ("b", 2.0))
    assert element == od.ExponentialTorque("b", 1.0, element.slopes)
    assert len({element, od.ExponentialTorque("b", 1.0, {"a": -1.0, "b": 2.0})}) == 1


def test_wrong_types_are_refused():
    for message, make in {
        "slopes must be": lambda: od.ExponentialTorque("a", 1, [1.0]),
        "dof must be a name": lambda: od.OneSidedSpring(3, 1, 0),
        "a passive element must be": lambda: BARE.with_passive(["knee"]),
        "replace_all": lambda: BARE.with_passive([], replace_all="yes"),
    }.items():
        with pytest.raises(TypeError, match=message):
            make()
    builder = od.ModelBuilder()
    with pytest.raises(od.ModelError, match="no dof 'knee'"):
        builder.add_passive(od.OneSidedSpring("knee", 1, 0))


def test_elements_tell_where_they_act():
    """An exponential has its gain there, whatever the other angles are; a spring is stretched by three smoothings."""
    coupled = od.ExponentialTorque("a", -3.0, {"a": 20.0, "b": -0.5}, -40.0)
    place = coupled.acting({"a": 0.3, "b": 0.7})
    close(coupled.torque(place), -3)
    assert od.ExponentialTorque("a", 2.0).acting({"a": 0.3}) == {}
    for side, sign in (("above", 1), ("below", -1)):
        spring = od.OneSidedSpring("a", 100.0, 0.5, 0.02, side)
        assert spring.acting({"a": 7.0}) == {"a": pytest.approx(0.5 + sign * 0.06)}
