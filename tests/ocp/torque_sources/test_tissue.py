"""Cost of the load on passive tissue: values by the formulas of springs and elements, refusals, Gauss-Newton."""

import math

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from tests.helpers import close, flat


def arm(**first):
    """Two hinges; the second has a one-sided spring, and an exponential that depends on the first."""
    builder = od.ModelBuilder("arm")
    builder.add_body("upper", od.Revolute("y"), mass=1, inertia=(0.1, 0.1, 0.1), joint_name="a", **first)
    builder.add_body("lower", od.Revolute("y"), "upper", mass=1, inertia=(0.1, 0.1, 0.1), joint_name="b")
    builder.add_passive(od.OneSidedSpring("b", 30.0, start=0.2))
    builder.add_passive(od.ExponentialTorque("b", 2.0, {"a": -3.0, "b": 1.0}, 0.5))
    return builder.build()


def loads(model, q, qd=0.0, scale=1.0):
    instant = ocp.Instant(model, ca.DM(q), ca.DM([qd] * model.nv))
    return flat(ocp.PassiveTorqueSquared(scale=scale).residual(instant))


def test_the_cost_is_that_of_springs_and_elements_over_the_scale():
    model = arm(stiffness=7.0, rest=0.1)
    a, b = 0.4, 0.5
    wanted = [-7 * (a - 0.1), -30 * (b - 0.2) + 2 * math.exp(0.5 - 3 * a + b)]
    close(loads(model, [a, b]), wanted)
    close(loads(model, [a, b], scale=[2.0, 5.0]), np.array(wanted) / [2, 5])
    instant = ocp.Instant(model, ca.DM([a, b]), ca.DM([0, 0]))
    close(float(ocp.PassiveTorqueSquared(weight=3.0, scale=4.0).integrand(instant)), np.dot(wanted, wanted) / 16)


def test_losses_are_no_load():
    """Damping and friction cost energy, which other terms count; tissue is loaded by angles only."""
    model = arm(stiffness=7.0, damping=4.0, friction=2.0)
    close(loads(model, [0.4, 0.5], qd=6.0), loads(model, [0.4, 0.5]))


def test_the_load_of_a_person_is_that_of_the_passive_force_without_the_root():
    model = human()
    rng = np.random.default_rng(3)
    q = model.neutral()
    q[7:] += 0.3 * rng.standard_normal(model.nq - 7)
    wanted = flat(od.passive_force(model, q, np.zeros(model.nv)))
    assert not wanted[:6].any()
    close(loads(model, q, qd=1.0), wanted[6:])
    strength = model.dofs.strength()
    close(loads(model, q, scale=strength), wanted[6:] / strength[6:])
    held = human(root=od.Fixed())
    close(loads(held, q[7:]), wanted[6:])  # without a floating base no dof is left out


def test_gauss_newton_gets_the_residual():
    """The integrand is the sum of squares of the residual, for symbols too; so J'J is the Hessian where torques
    vanish."""
    model = arm(stiffness=7.0)
    q = ca.SX.sym("q", 2)
    cost, instant = ocp.PassiveTorqueSquared(scale=2.0), ocp.Instant(model, q, ca.SX.zeros(2))
    residual = cost.residual(instant)
    close(flat(ca.Function("f", [q], [cost.integrand(instant) - ca.sumsqr(residual)])([0.3, 0.9])), [0.0])
    hessian = ca.Function("H", [q], [ca.hessian(cost.integrand(instant), q)[0]])
    J = np.array(ca.Function("J", [q], [ca.jacobian(residual, q)])([0.0, -40.0]).full())
    close(np.array(hessian([0.0, -40.0]).full()), 2 * J.T @ J, 1e-12)


def test_a_motion_avoids_the_load():
    """A hinge with a spring beyond 0 may end anywhere: effort alone lets the spring carry it, this cost holds it
    away."""
    builder = od.ModelBuilder("door")
    builder.add_body("leaf", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=50.0)
    builder.add_passive(od.OneSidedSpring("leaf_joint", 20.0, start=0.0))
    there = ocp.Boundary(lambda start, end: (ca.vertcat(start.q + 0.5, start.qd - 1, end.qd), 0, 0))

    def swing(*objective):
        phase = ocp.Phase("swing", 15, 1.0, objective=objective)
        return ocp.Problem(builder.build(), [phase], boundary=[there]).solve(progress=False)

    free, cared = (swing(ocp.TorqueSquared(1e-3), *more) for more in ((), (ocp.PassiveTorqueSquared(1.0),)))
    assert cared.cost["PassiveTorqueSquared"] > 0
    assert cared.q.max() < 0.5 * free.q.max()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ocp.PassiveTorqueSquared(weight=-1), ValueError, "PassiveTorqueSquared weight must be finite"),
        (lambda: ocp.PassiveTorqueSquared(scale=0.0), ValueError, "PassiveTorqueSquared scale"),
        (lambda: ocp.PassiveTorqueSquared(scale=[1.0, -1.0]), ValueError, "PassiveTorqueSquared scale"),
        (lambda: ocp.PassiveTorqueSquared().check(pendulum(2), ()), ValueError, "no springs and no passive elements"),
        (lambda: ocp.PassiveTorqueSquared(scale=[1, 2, 3]).check(arm(), ()), ValueError, "nv = 2"),
        (lambda: loads(arm(), [0, 0], scale=[1, 2, 3]), ValueError, "PassiveTorqueSquared scale: give one number"),
    ],
    ids=range(6),
)
def test_wrong_costs_of_tissue_are_told(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_springs_alone_are_enough():
    builder = od.ModelBuilder("door")
    builder.add_body("leaf", od.Revolute("z"), mass=1, inertia=(1, 1, 1), stiffness=3.0)
    model = builder.build()
    ocp.PassiveTorqueSquared().check(model, ())
    close(loads(model, [0.5]), [-1.5])
