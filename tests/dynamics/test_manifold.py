"""Steps on the configuration manifold and their Jacobians, on every joint, against finite differences and
identities."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.joints import Joint
from tests.helpers import JOINTS, QUICK_TREES, TREES, close, evaluate, flat, mostly_slow, tree

every_tree = mostly_slow("key", TREES, QUICK_TREES)
SIZES = [0.0, 1e-9, 1e-3, 0.4, 1.0]


def differences(f, n):
    """Columns of df/de at e = 0, by central differences of fourth order."""
    h = 1e-2
    columns = [(8 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12 * h) for e in np.eye(n)]
    return np.column_stack(columns)


@every_tree
@pytest.mark.slow
def test_jacobians_against_differences(rng, key):
    """d_integrate by q and v, d_difference by q0 and q1: for steps from 0 to half a turn."""
    model = tree(key)
    step, gap = (od.function(algorithm, model) for algorithm in (od.integrate, od.difference))
    for size in (0.0, 0.4, 1.0):
        q, v = model.random_q(rng), size * rng.uniform(-1.8, 1.8, model.nv)
        ahead = flat(step(q, v))
        moved = {  # the tangent step of a result for a tangent step e of an argument
            "integrate by q": lambda e, q=q, v=v, ahead=ahead: flat(gap(ahead, step(step(q, e), v))),
            "integrate by v": lambda e, q=q, v=v, ahead=ahead: flat(gap(ahead, step(q, v + e))),
            "difference by q0": lambda e, q=q, ahead=ahead: flat(gap(step(q, e), ahead)),
            "difference by q1": lambda e, q=q, ahead=ahead: flat(gap(q, step(ahead, e))),
        }
        jacobians = [*od.d_integrate(model, q, v), *od.d_difference(model, q, ahead)]
        for f, J in zip(moved.values(), jacobians, strict=True):
            close(J, differences(f, model.nv), 1e-7)  # h^4
        for algorithm, args in ((od.d_integrate, (q, v)), (od.d_difference, (q, ahead))):
            for found, expected in zip(evaluate(algorithm, model, args=args), algorithm(model, *args), strict=True):
                close(found, expected)


@every_tree
def test_identities(rng, key):
    """difference(q, integrate(q, v)) = v stays so when q and v move; zero steps have the identity; patterns."""
    model = tree(key)
    one = np.eye(model.nv)
    for size in SIZES:
        q, v = model.random_q(rng), size * rng.uniform(-1.7, 1.7, model.nv)
        (by_q, by_v), (by_0, by_1) = od.d_integrate(model, q, v), od.d_difference(model, q, model.integrate(q, v))
        close(by_1 @ by_v, one)
        close(by_0 + by_1 @ by_q, np.zeros_like(one))
    at_rest = od.d_integrate(model, q, np.zeros(model.nv))
    for D in (*at_rest, -od.d_difference(model, q, q)[0], od.d_difference(model, q, q)[1]):
        close(D, one)
    full = model.nv + 6 * sum(joint.has_quaternion for joint in model.joints)
    for algorithm in (od.d_integrate, od.d_difference):
        f = od.function(algorithm, model)
        assert f.nnz_out(0) == f.nnz_out(1) == full


@pytest.mark.parametrize("name", ["spherical", "floating", "planar", "revolute_skew"])
@pytest.mark.slow
def test_expressions_of_a_joint_are_those_that_follow_from_its_tangent_rate(rng, name):
    joint = JOINTS[name]
    for size in SIZES:
        q, v = DM(joint.random_q(rng)), DM(size * rng.normal(size=joint.nv))
        for found, expected in zip(joint.d_integrate(q, v), Joint.d_integrate(joint, q, v), strict=True):
            close(found, expected)
        q1 = joint.integrate(q, v)
        for found, expected in zip(joint.d_difference(q, q1), Joint.d_difference(joint, q, q1), strict=True):
            close(found, expected)


@every_tree
def test_interpolation(rng, key):
    """Both ends, the middle, constant velocity; the algorithms are the methods of the model."""
    model = tree(key)
    q0 = model.random_q(rng)
    q1 = flat(model.integrate(q0, rng.uniform(-1.7, 1.7, model.nv)))
    step = flat(model.difference(q0, q1))
    for s in (0, 0.25, 1.0, 1.2, -0.3):
        between = model.interpolate(q0, q1, s)
        close(model.difference(q0, between), s * step)
        close(od.interpolate(model, q0, q1, s), between, 0)
        close(evaluate(od.interpolate, model, args=(q0, q1, s)), between)
    close(od.integrate(model, q0, step), model.integrate(q0, step), 0)
    close(od.difference(model, q0, q1), step, 0)
    for joint, at in zip(model.joints[1:], model.joint_names, strict=True):
        if joint.has_quaternion:
            place = model.q_slice(at)
            close(np.linalg.norm(flat(between)[place][-4:]), 1.0)


@pytest.mark.parametrize("kind", [SX, MX])
@pytest.mark.slow
def test_symbols(rng, kind):
    model = tree("floating")
    q0, q1, v, s = kind.sym("q0", model.nq), kind.sym("q1", model.nq), kind.sym("v", model.nv), kind.sym("s")
    results = [*model.d_integrate(q0, v), *model.d_difference(q0, q1), model.interpolate(q0, q1, s)]
    assert all(isinstance(x, kind) for x in results)
    a, b, step = model.random_q(rng), model.random_q(rng), rng.normal(size=model.nv)
    found = ca.Function("f", [q0, q1, v, s], results)(a, b, step, 0.3)
    expected = [*model.d_integrate(a, step), *model.d_difference(a, b), model.interpolate(a, b, 0.3)]
    for x, y in zip(found, expected, strict=True):
        close(x, y)
    flat_space = od.models.pendulum(2)
    x = kind.sym("x", 2)
    assert all(isinstance(D, kind) for D in flat_space.d_integrate(x, [0.1, 0.2]))
    assert all(isinstance(D, kind) for D in flat_space.d_difference([0.1, 0.2], x))


def test_wrong_arguments_are_refused():
    model = tree("floating")
    q, v = model.neutral(), np.zeros(model.nv)
    for call, error, message in (
        (lambda: model.interpolate(q, q, [0.1, 0.2]), ValueError, r"s must be one fraction .*, got \[0.1, 0.2\]"),
        (lambda: model.interpolate(q, v, 0.5), ValueError, r"q1 must have \d+ entries \(b1_joint.x.*got shape"),
        (lambda: od.d_integrate(model, v, v), ValueError, r"q must have \d+ rows \(nq: b1_joint.x.*got shape"),
        (lambda: od.d_difference(model, q, 0.0), ValueError, "q1 must have"),
        (lambda: od.d_integrate(model, SX.sym("q", model.nq), MX.sym("v", model.nv)), TypeError, "got SX and MX"),
        (lambda: model.interpolate(SX.sym("q", model.nq), q, MX.sym("s")), TypeError, "got SX and MX"),
    ):
        with pytest.raises(error, match=message):
            call()
