"""Named tests of what published libraries are known to get wrong: joints, models, numbers that depend on history."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.joints import EULER_ORDERS
from ocp_dyn.spatial_algebra.spatial import vee
from tests.helpers import (
    JOINTS,
    State,
    close,
    evaluate,
    flat,
    random_inertia,
    random_rotation,
    symbols,
)

GROUND = {
    **{f"euler_{order}": od.Euler(order) for order in EULER_ORDERS},
    **{key: JOINTS[key] for key in ("helical_x", "helical_skew", "universal", "multi_dof", "cylindrical_skew")},
    "custom": JOINTS["custom"],
}


def lagrangian(model: od.Model, bodies: list[tuple], q: SX, qd: SX) -> SX:
    """L = T - V from poses alone: bodies are (name, mass, com, inertia about it)."""
    L = SX(0)
    for name, mass, com, inertia in bodies:
        R, p = od.pose(model, name, q)
        c = p + R @ DM(com)
        v = ca.jtimes(c, q, qd)
        Rd = ca.reshape(ca.jtimes(ca.vec(R), q, qd), 3, 3)
        w = vee(R.T @ Rd)
        L = L + mass / 2 * ca.dot(v, v) + ca.dot(w, DM(inertia) @ w) / 2 + mass * ca.dot(DM(model.gravity), c)
    return L


@pytest.mark.parametrize("joint", GROUND.values(), ids=GROUND.keys())
@pytest.mark.slow
def test_bias_force_of_joints_on_the_ground(joint, rng):
    """C = d/dt(dL/dqd) - dL/dq at qdd = 0, with L from poses alone: no S and no cJ in it."""
    builder, bodies = od.ModelBuilder(gravity=(1, 2, -9)), []
    for name, kind, parent in (("a", joint, "world"), ("b", od.Revolute((1, 2, 3)), "a"), ("c", joint, "a")):
        mass, com = rng.uniform(1, 2), rng.normal(size=3)
        bodies.append((name, mass, com, random_inertia(rng, mass)))
        place = {"origin": rng.normal(size=3), "rotation": random_rotation(rng)}
        builder.add_body(name, kind, parent, mass=mass, com=com, inertia=bodies[-1][3], **place)
    model = builder.build()
    q, qd, _ = symbols(model)
    L = lagrangian(model, bodies, q, qd)
    momentum = ca.gradient(L, qd)
    C = ca.jtimes(momentum, q, qd) - ca.gradient(L, q)
    state = State.of(model, rng)
    close(
        evaluate(od.bias_force, model, args=(state.q, state.qd)),
        flat(ca.Function("C", [q, qd], [C])(state.q, state.qd)),
    )


@pytest.mark.parametrize("kind", [od.Revolute, od.Prismatic, lambda a: od.Helical(a, pitch=0.4), od.Cylindrical])
def test_axes_along_minus_x_and_oblique_ones_in_symbols(kind, rng):
    """The joint about -a at q is the joint about a at -q, in SX as in numbers; un-normalized axes are the same
    joint."""
    for axis in ("x", (1.0, 2.0, -2.0), (0.0, 0.0, 7.0)):
        minus = "-x" if axis == "x" else tuple(-x for x in axis)
        joint, other = kind(axis), kind(minus)
        long = (3, 0, 0) if axis == "x" else tuple(2.5 * x for x in axis)
        assert kind(long) == joint
        q, qd = rng.normal(size=joint.nv), rng.normal(size=joint.nv)
        xq, xv = SX.sym("q", joint.nv), SX.sym("qd", joint.nv)
        results = []
        for j, sign in ((joint, 1), (other, -1)):
            state = j.jcalc(sign * xq, sign * xv)
            f = ca.Function("f", [xq, xv], [state.XJ.matrix(), sign * state.S, state.vJ, state.cJ])
            results.append([x.full() for x in f(q, qd)])
            numbers = j.jcalc(sign * DM(q), sign * DM(qd))
            close(results[-1][0], numbers.XJ.matrix())
        for a, b in zip(*results, strict=True):
            close(a, b)


def test_quaternion_integration_at_zero_rate(rng):
    """At zero rate the configuration stays to the last bit, and all derivatives are finite."""
    joint = od.Spherical()
    q = joint.random_q(rng)
    assert np.array_equal(flat(joint.integrate(DM(q), DM.zeros(3, 1))), q)
    close(joint.q_dot(DM(q), DM.zeros(3, 1)), np.zeros(4))
    x, v = SX.sym("q", 4), SX.sym("v", 3)
    step = joint.integrate(x, v)
    first = ca.jacobian(step, v)
    f = ca.Function("f", [x, v], [first, ca.jacobian(ca.vec(first), v), ca.jacobian(step, x)])
    for value in f(q, np.zeros(3)):
        assert np.all(np.isfinite(value.full()))
    small = 1e-9 * rng.normal(size=3)
    close((flat(joint.integrate(DM(q), DM(small))) - q) / 1e-9, flat(joint.q_dot(DM(q), DM(small))) / 1e-9, 1e-6)
