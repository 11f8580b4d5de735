"""Second derivatives of ID and FD, and the derivatives that CasADi finds when calls are differentiated: against AD."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, product

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.dynamics.recursions import joint_states
from ocp_dyn.mechanism.reduction import split_joints
from tests.helpers import TREES, State, add_random, close, evaluate, mostly_slow, symbols, tree

PAIRS = {
    "ID": (od.inverse_dynamics, od.inverse_dynamics_second_derivatives),
    "FD": (od.forward_dynamics, od.forward_dynamics_second_derivatives),
}
every_pair = pytest.mark.parametrize("name", PAIRS)
BOTH = ("screws", "mixed")
"""The trees whose S(q) changes most: those on which both are differentiated. On the others the one or the other."""


def weighted(algorithm, model, q, qd, x, mu, **options):
    return ca.dot(mu, algorithm(model, q, qd, x, **options))


def hessian_by_ad(algorithm, model, s: State, mu, **options) -> np.ndarray:
    """The Hessian of mu' algorithm by AD along integrate(q, delta) at delta = 0, by qd, and by qdd or tau."""
    q, qd, x = symbols(model)
    delta = SX.sym("delta", model.nv)
    L = weighted(algorithm, model, model.integrate(q, delta), qd, x, DM(mu), **options)
    H = ca.Function("H", [q, qd, x, delta], [ca.hessian(L, ca.vertcat(delta, qd, x))[0]])
    return H(s.q, s.qd, s.tau, np.zeros(model.nv)).full()


def assembled(blocks) -> np.ndarray:
    """The whole Hessian by (q, qd, x) from the blocks qq, q-qd, qd-qd, q-x."""
    qq, q_qd, qd_qd, q_x = (DM(block).full() for block in blocks)
    none = np.zeros_like(qq)
    return np.block([[qq, q_qd, q_x], [q_qd.T, qd_qd, none], [q_x.T, none, none]])


def equal(a, b) -> None:
    """Relative to the largest entry: near singular angles and for H^-1 the reference cancels in it."""
    b = np.asarray(b)
    scale = 1 + np.abs(b).max()
    close(np.asarray(a) / scale, b / scale)


@pytest.mark.parametrize(
    ("key", "name"), [*product(BOTH, PAIRS), *zip([key for key in TREES if key not in BOTH], cycle(PAIRS))]
)
@pytest.mark.slow
def test_second_derivatives(rng, key, name):
    model = tree(key)
    s, mu = State.of(model, rng), rng.normal(size=model.nv)
    plain, analytic = PAIRS[name]
    expected = hessian_by_ad(plain, model, s, mu)
    assert np.abs(expected).max() > 0.1
    equal(assembled(evaluate(analytic, model, args=(s.q, s.qd, s.tau, mu))), expected)


def with_armature() -> od.Model:
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("x"), mass=1, com=(0, 0.1, -0.3), inertia=(0.1, 0.2, 0.25), armature=0.3)
    builder.add_body("b", od.Euler("zyx"), "a", origin=(0, 0.2, 0), mass=2, com=(0.1, 0.2, 0), inertia=(0.1, 0.2, 0.25))
    return builder.build()


@pytest.mark.slow
def test_second_derivatives_with_armatures(rng):
    """They change FD by its H alone, and the Hessian of ID not at all."""
    model = with_armature()
    s, mu = State.of(model, rng), rng.normal(size=model.nv)
    args = (s.q, s.qd, s.tau, mu)
    result = assembled(
        evaluate(od.forward_dynamics_second_derivatives, model, args=args, loads=od.Loads(armature=True))
    )
    equal(result, hessian_by_ad(od.forward_dynamics, model, s, mu, loads=od.Loads(armature=True)))
    result = assembled(evaluate(od.inverse_dynamics_second_derivatives, model, args=args))
    equal(result, hessian_by_ad(od.inverse_dynamics, model, s, mu, loads=od.Loads(armature=True)))


@mostly_slow("name", PAIRS, ("ID",))
@pytest.mark.slow
def test_the_scale_of_a_quaternion_does_not_matter(rng, name):
    model = tree("floating")
    s, mu = State.of(model, rng), rng.normal(size=model.nv)
    scaled = s.q.copy()
    scaled[3:7] *= -1.7
    f = od.function(PAIRS[name][1], model)
    for a, b in zip(f(s.q, s.qd, s.tau, mu), f(scaled, s.qd, s.tau, mu), strict=True):
        equal(a.full(), b.full())


# Patterns and size


@pytest.mark.slow
def test_patterns():
    """Symmetric; zero between separate branches and along the base's translation."""
    model = branching()
    f = od.function(od.inverse_dynamics_second_derivatives, model)
    left, right = model.qd_slice("left_joint"), model.qd_slice("right_joint")
    for name in f.name_out():
        pattern = DM(f.sparsity_out(name), 1).full().astype(bool)
        assert not pattern[left, right].any()
        assert not pattern[right, left].any()
        assert pattern[left, left].any()
        assert not pattern[:3].any()
        if name in ("L_qq", "L_qd_qd"):
            assert (pattern == pattern.T).all()


@every_pair
@pytest.mark.slow
def test_hessians_are_symmetric_to_the_last_bit(rng, name):
    model = branching()
    s, mu = State.of(model, rng), rng.normal(size=model.nv)
    qq, _, qd_qd, _ = evaluate(PAIRS[name][1], model, args=(s.q, s.qd, s.tau, mu))
    assert (qq == qq.T).all()
    assert (qd_qd == qd_qd.T).all()


def branching() -> od.Model:
    rng = np.random.default_rng(5)
    builder = od.ModelBuilder("branching")
    add_random(builder, "base", od.FloatingBase(), "world", rng)
    add_random(builder, "left", od.Revolute((1, 2, 3)), "base", rng)
    add_random(builder, "right", od.Spherical(), "base", rng)
    add_random(builder, "tip", od.Helical((0.6, -0.3, 0.8, 0.15, 0.4, -0.2)), "right", rng)
    return builder.build()


@pytest.mark.slow
def test_instruction_count_on_a_humanoid():
    if not od.robots.installed():
        pytest.skip("example-robot-data is not installed")
    model = od.reduce(od.robots.load("simple_humanoid"))
    assert od.function(od.inverse_dynamics_second_derivatives, model).n_instructions() < 36000
    assert od.function(od.forward_dynamics_second_derivatives, model).n_instructions() < 155000


@pytest.mark.parametrize("key", TREES)
@pytest.mark.slow
def test_a_model_with_split_joints_is_the_same_mechanism(rng, key):
    """Equal forces, and constant S in all but the joints that are no chain of others, and screws."""
    model = tree(key)
    other = split_joints(model)
    s = State.of(model, rng)
    close(*(od.inverse_dynamics(m, DM(s.q), DM(s.qd), DM(s.qdd)) for m in (model, other)))
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    subspaces = [SX(state.S) for state in joint_states(other, q, qd).values()]
    assert all(S.is_constant() for S in subspaces) == (key != "screws")


# Derivatives that CasADi finds


@dataclass
class Differentiated:
    """Jacobian of a call f(q, qd, x) by z = (q, qd, x), gradient and Hessian of weights' f, as Functions."""

    jacobian: ca.Function
    gradient: ca.Function
    hessian: ca.Function

    @staticmethod
    def of(f: ca.Function, kind: type) -> Differentiated:
        inputs = [kind.sym(name, f.size1_in(name)) for name in f.name_in()]
        weights, z, y = kind.sym("weights", f.size1_out(0)), ca.vertcat(*inputs), f(*inputs)
        H, g = ca.hessian(ca.dot(weights, y), z)
        # SX: all of ca.jacobian, so that a symmetric reference is not taken for granted
        H = ca.jacobian(g, z) if kind is SX else H
        return Differentiated(
            ca.Function("J", inputs, [ca.jacobian(y, z)]),
            ca.Function("g", [*inputs, weights], [g]),
            ca.Function("H", [*inputs, weights], [H]),
        )


def called(f: ca.Function) -> dict[str, int]:
    """The Functions that f calls, by name, and their instructions."""
    found = {}
    for k in range(f.n_instructions()):
        if f.instruction_id(k) == ca.OP_CALL:
            g = f.instruction_MX(k).which_function()
            found[g.name()] = g.n_instructions()
    return found


def check_calls(model: od.Model, name: str, rng: np.random.Generator, **options) -> None:
    """At a quaternion that is not of unit length too."""
    plain = PAIRS[name][0]
    found = Differentiated.of(od.function(plain, model, derivatives=2, **options), MX)
    expected = Differentiated.of(od.function(plain, model, **options), SX)
    s, weights = State.of(model, rng), rng.normal(size=model.nv)
    args = (1.3 * s.q, s.qd, s.tau)
    equal(found.jacobian(*args).full(), expected.jacobian(*args).full())
    equal(found.gradient(*args, weights).full(), expected.gradient(*args, weights).full())
    equal(found.hessian(*args, weights).full(), expected.hessian(*args, weights).full())
    assert list(called(found.jacobian)) == [f"jac_{name}"]
    assert list(called(found.gradient)) == [f"adj1_{name}"]
    assert list(called(found.hessian)) == [f"jac_adj1_{name}"]


@every_pair
@pytest.mark.slow
def test_calls_find_the_analytic_derivatives(rng, name):
    check_calls(tree("chain"), name, rng)


@every_pair
@pytest.mark.slow
def test_calls_with_quaternions(rng, name):
    check_calls(branching(), name, rng)


@every_pair
@pytest.mark.slow
def test_calls_with_armatures(rng, name):
    check_calls(with_armature(), name, rng, loads=od.Loads(armature=True))


@pytest.mark.slow
def test_second_derivatives_of_a_nonlinear_function_of_a_call(rng):
    """Here the weights of the call depend on q themselves."""
    model = branching()
    s = State.of(model, rng)

    def hessian(f: ca.Function, kind: type) -> DM:
        inputs = [kind.sym(n, f.size1_in(n)) for n in f.name_in()]
        H = ca.hessian(ca.sumsqr(ca.sin(f(*inputs) / 10)), ca.vertcat(*inputs))[0]
        return ca.Function("H", inputs, [H])(s.q, s.qd, s.qdd).full()

    found = hessian(od.function(od.inverse_dynamics, model, derivatives=2), MX)
    equal(found, hessian(od.function(od.inverse_dynamics, model), SX))


@mostly_slow("name", PAIRS, ("ID",))
@pytest.mark.slow
def test_first_derivatives_alone(rng, name):
    model = branching()
    plain = PAIRS[name][0]
    f = od.function(plain, model, derivatives=1, name="f")
    s = State.of(model, rng)
    J = Differentiated.of(f, MX).jacobian
    assert list(called(J)) == ["jac_f"]
    exact = Differentiated.of(od.function(plain, model), SX).jacobian
    equal(J(s.q, s.qd, s.tau).full(), exact(s.q, s.qd, s.tau).full())


@pytest.mark.slow
def test_a_function_has_them_only_when_asked():
    model = branching()
    plain = od.function(od.inverse_dynamics, model)
    first, second = (od.function(od.inverse_dynamics, model, derivatives=order) for order in (1, 2))
    assert len({f.__hash__() for f in (plain, first, second)}) == 3
    assert od.function(od.inverse_dynamics, model, derivatives=2) is second
    assert plain.n_instructions() == second.n_instructions()
    assert plain.name_in() == second.name_in() == ["q", "qd", "qdd"]
    jacobians = [f.jacobian().n_instructions() for f in (plain, first, second)]
    assert jacobians[1] == jacobians[2] < jacobians[0] / 2
    hessians = [f.reverse(1).jacobian().n_instructions() for f in (first, second)]
    assert hessians[1] < hessians[0] / 3


@pytest.mark.parametrize("name", ["ID"])
@pytest.mark.slow
def test_calls_on_the_human_take_fewer_instructions(name):
    """Than with the sweeps that CasADi chooses by itself."""
    model, plain = od.models.human(), PAIRS[name][0]
    found = Differentiated.of(od.function(plain, model, derivatives=2), MX)
    usual = Differentiated.of(od.function(plain, model), MX)
    for order, least in (("jacobian", 4), ("hessian", 6)):
        sizes = [sum(called(getattr(calls, order)).values()) for calls in (found, usual)]
        assert least * sizes[0] < sizes[1], f"{order}: {sizes}"


# Errors


class Reversed(od.Revolute):
    """A joint whose velocity is minus the rate of its angle."""

    def q_dot(self, q, qd):
        return -qd


def reversing() -> od.Model:
    builder = od.ModelBuilder()
    add_random(builder, "a", Reversed("z"), "world", np.random.default_rng(0))
    return builder.build()


REFUSED = [
    ("derivatives=1 is for forward_dynamics, inverse_dynamics, got 'mass_matrix'", lambda: od.function(
        od.mass_matrix, branching(), derivatives=1)),
    ("derivatives must be 0, 1 or 2, got 3", lambda: od.function(od.inverse_dynamics, branching(), derivatives=3)),
    ("goes with name= and loads=od.Loads.armature=True. alone", lambda: od.function(
        od.inverse_dynamics, branching(), derivatives=1, loads=od.Loads(external=("base",)))),
    ("goes with name= and loads=od.Loads.armature=True. alone", lambda: od.function(
        od.forward_dynamics, branching(), derivatives=2, loads=od.Loads(passive=True))),
    ("are not the rates of its q", lambda: od.function(od.inverse_dynamics, reversing(), derivatives=1)),
    ("mu must have 11 rows", lambda: od.inverse_dynamics_second_derivatives(
        branching(), DM(branching().neutral()), DM.zeros(11), DM.zeros(11), DM.zeros(4))),
]  # fmt: skip


@pytest.mark.parametrize(("message", "call"), REFUSED, ids=[message for message, _ in REFUSED])
def test_errors(message, call):
    with pytest.raises(ValueError, match=message):
        call()
