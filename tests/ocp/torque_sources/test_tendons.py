"""Tendons in series: energies, angles and speeds of muscles."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from tests.helpers import close, flat

TENDONS = [
    ocp.Tendon("rim_joint", 300.0),
    ocp.Tendon("rim_joint", (150.0, 400.0)),
    ocp.Tendon("rim_joint", (250.0, 90.0), toe=0.05, toe_torque=8.0),
]


def wheel():
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1), effort=20.0)
    return builder.build()


def cumulative(power, t):
    """Energy from the start [J] by Simpson's rule on every other time."""
    h = t[1] - t[0]
    return np.concatenate([[0], np.cumsum((power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * h / 3)])


@pytest.mark.parametrize("tendon", TENDONS)
def test_the_muscle_gives_what_the_joint_gets_and_the_tendon_stores(tendon):
    """Over any motion: work of the muscle = work at the joint + change of the tendon's energy, at all times."""
    t = np.linspace(0, 1.3, 4001)
    tau = 30 * np.sin(7 * t + 0.4) + 11 * np.cos(3 * t) - 4
    rate = 210 * np.cos(7 * t + 0.4) - 33 * np.sin(3 * t)
    qd = 2 * np.cos(5 * t) + np.exp(-t)
    instant = ocp.Instant(wheel(), None, ca.SX.sym("qd"), tau=ca.SX.sym("tau"), tau_rate=ca.SX.sym("rate"))
    speed = ca.Function("f", [instant.qd, instant.tau, instant.tau_rate], [ocp.muscle_speed(instant, [tendon])])
    muscle = np.ravel(speed(qd[None], tau[None], rate[None]).full()) * tau
    stored = flat(tendon.energy(ca.DM(tau)))[::2]
    close(cumulative(muscle, t), cumulative(tau * qd, t) + stored - stored[0], 1e-6)
    assert np.ptp(stored) > 1
    assert np.min(stored) >= 0
    assert np.abs(cumulative(muscle - tau * qd, t)).max() > 1  # the tendon matters


@pytest.mark.parametrize("tendon", TENDONS)
def test_stretch_compliance_and_energy_belong_together(tendon):
    tau = ca.SX.sym("tau")
    stretch, energy = tendon.stretch(tau), tendon.energy(tau)
    f = ca.Function("f", [tau], [ca.gradient(stretch, tau), tendon.compliance(tau), ca.gradient(energy, tau), stretch])
    for x in (-70.0, -3.0, -0.2, 0.3, 2.0, 500.0):
        slope, compliance, torque_slope, _ = (float(y) for y in f(x))
        close(slope, compliance, 1e-12)
        close(torque_slope, x * compliance, 1e-10)
        assert compliance > 0
    close(float(tendon.energy(ca.DM(0.0))), 0)
    close(float(f(0)[3]), 0)


def test_directions_and_toe_of_a_tendon():
    tendon = ocp.Tendon("x", (100.0, 400.0))
    assert float(tendon.stretch(ca.DM(-100.0))) == pytest.approx(-1, rel=0.02)
    assert float(tendon.stretch(ca.DM(100.0))) == pytest.approx(0.25, rel=0.02)
    toe = ocp.Tendon("x", 100.0, toe=0.1, toe_torque=5.0)
    close(float(toe.stretch(ca.DM(50.0))), 0.5 + 0.1 * np.tanh(10))
    close(float(toe.compliance(ca.DM(0.0))), 0.01 + 0.1 / 5)
    assert np.isfinite(float(toe.energy(ca.DM(1e5))))


def test_tendons_are_found_by_dof_or_joint():
    model = human()
    assert ocp.Tendon("ankle_l", 400).index(model) == model.qd_names.index("ankle_l")
    assert ocp.Tendon("hip_r.rx", 400).index(model) == model.qd_names.index("hip_r.rx")
    with pytest.raises(ValueError, match=r"joint 'hip_l' has 3 dofs: give one of hip_l.ry"):
        ocp.Tendon("hip_l", 400).index(model)
    with pytest.raises(KeyError, match="Tendon: no dof 'ankel_l': did you mean 'ankle_l'"):
        ocp.Tendon("ankel_l", 400).index(model)
    assert ocp.Tendon("joint2", 1.0).index(pendulum(2)) == 1
    instant = ocp.Instant(pendulum(2), None, ca.DM([1, 2]), tau=ca.DM([10, 10]), tau_rate=ca.DM([50, 100]))
    close(flat(ocp.muscle_speed(instant, [ocp.Tendon("joint2", 200.0)])), [1, 2.5])
    close(flat(ocp.muscle_speed(instant, [])), [1, 2])


WRONG = [
    (lambda: ocp.Tendon("", 1.0), "Tendon dof"),
    (lambda: ocp.Tendon("x", 0.0), "Tendon stiffness .* must be positive"),
    (lambda: ocp.Tendon("x", [1, 2, 3]), "Tendon stiffness must be one number, or"),
    (lambda: ocp.Tendon("x", 1.0, toe=-0.1), "Tendon toe"),
    (lambda: ocp.Tendon("x", 1.0, toe=np.inf), "Tendon toe"),
    (lambda: ocp.Tendon("x", 1.0, toe_torque=0.0), "Tendon toe_torque"),
    (lambda: ocp.JointWork(tendons=["x"]), "JointWork tendons must hold Tendon objects"),
    (lambda: ocp.MetabolicRate(tendons=[ocp.Tendon("x", 1), ocp.Tendon("x", 2)]), "one tendon per dof"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_tendons_are_told(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
