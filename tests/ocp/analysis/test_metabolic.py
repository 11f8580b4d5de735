"""Metabolic rate of a motion: against sums in NumPy over a motion with random numbers."""

from collections.abc import Callable

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.types import Array
from tests.helpers import close

SAMPLES = 8


def kicker() -> od.Model:
    """A floating trunk with two joints."""
    builder = od.ModelBuilder("kicker")
    builder.add_body("trunk", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    for name, host in (("thigh", "trunk"), ("shank", "thigh")):
        builder.add_body(name, od.Revolute("y"), host, mass=1, inertia=(0.1, 0.1, 0.1), effort=(-30, 50))
    return builder.build()


def motion(rng: np.random.Generator, step_length: float = 0.0, linear: bool = True, idle: bool = False) -> ocp.Solution:
    """Two phases of three intervals of unequal lengths; idle: without torques at the shank."""
    model, phases, start = kicker(), [], 0.0
    for name in ("one", "two"):
        t = start + np.array([0.0, 0.1, 0.3, 0.6])
        q, qd = np.array([model.random_q(rng) for _ in t]), rng.normal(size=(4, model.nv))
        tau, rate = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        driven = slice(6, 7 if idle else 8)
        tau[:, driven], start = rng.normal(size=tau[:, driven].shape) * 10, t[-1]
        rate[:, driven] = linear * 50 * rng.normal(size=rate[:, driven].shape)
        phases.append(ocp.PhaseMotion(name, t, q, qd, np.zeros_like(tau), tau, np.zeros((3, 0)), (), {}, rate))
    stats = {"converged": True, "status": "hand-made"}
    return ocp.Solution(model, tuple(phases), {}, (), step_length, False, stats, {}, None)


Rate = Callable[[float, float, float, float], float]
"""The rate of one joint by its angle, speed, torque and rate of the torque."""


def energies(found: ocp.Solution, rate: Rate) -> Array:
    """Energies of the two joints, by the middle rule on every interval."""
    total = np.zeros(2)
    for phase in found.phases:
        for k, h in enumerate(np.diff(phase.t)):
            for s in (np.arange(SAMPLES) + 0.5) / SAMPLES:
                for j in range(2):
                    angle = (1 - s) * phase.q[k, 7 + j] + s * phase.q[k + 1, 7 + j]
                    speed = (1 - s) * phase.qd[k, 6 + j] + s * phase.qd[k + 1, 6 + j]
                    slope = phase.tau_rate[k, 6 + j]
                    tau = phase.tau[k, 6 + j] + (s - 0.5) * h * slope
                    total[j] += rate(angle, speed, tau, slope) * h / SAMPLES
    return total


def test_work_of_joints_and_of_muscles_behind_tendons(rng):
    found = motion(rng, step_length=-1.5)

    def of_power(p: float) -> float:
        return p / 0.25 if p > 0 else -p / 1.2

    for tendons, compliance in (((), 0.0), ([ocp.Tendon(n, 200.0) for n in ("thigh_joint", "shank_joint")], 1 / 200)):
        wanted = energies(found, lambda q, qd, tau, rate, c=compliance: of_power(tau * (qd + c * rate)))
        spent = found.metabolic_rate(ocp.JointWork(tendons=tendons), ocp.RestingRate(1.1))
        close(list(spent.by_dof.values()), wanted / (4 * 1.2))
        assert list(spent.by_dof) == ["thigh_joint", "shank_joint"]
        close(spent.net, wanted.sum() / (4 * 1.2))
        close([spent.net_cost, spent.gross_cost], np.array([spent.net, spent.net + 1.1]) * 1.2 / 1.5)


def test_a_capacity_follows_the_angle_along_intervals(rng):
    """Without speed of the muscles the rate is strength speed Phi(0) activation."""
    curve = {"thigh_joint": (lambda q, qd: 20 + 5 * q, lambda q, qd: 40 - 3 * q + 2 * qd)}
    rate = ocp.MetabolicRate(strength=30.0, speed=1e9, capacity=ocp.TorqueCapacity(curve))
    found = motion(rng, idle=True)

    def wanted(q: float, qd: float, tau: float, _: float) -> float:
        return 30 * 1e9 * 0.054 * abs(tau) / (40 - 3 * q + 2 * qd if tau > 0 else 20 + 5 * q)

    spent = found.metabolic_rate(rate)
    close(np.array(list(spent.by_dof.values())) / 1e9, [energies(found, wanted)[0] / 4.8e9, 0], 1e-6)
    assert (spent.net_cost, spent.gross_cost) == (None, None)


def test_motors_are_the_dofs_that_have_torques(rng):
    """The shank has no motor in the problem, and needs no strength."""
    found = motion(rng, idle=True)
    endless = found.model.with_limits(effort={"shank_joint": np.inf}, velocity=10.0)
    spent = ocp.Solution(endless, found.phases, {}, (), 0.0, False, found.stats, {}, None)
    assert spent.metabolic_rate(ocp.MetabolicRate()).by_dof["shank_joint"] == 0
    busy = motion(rng)
    with pytest.raises(ValueError, match="no limit of the torque of shank_joint"):
        ocp.Solution(endless, busy.phases, {}, (), 0.0, False, found.stats, {}, None).metabolic_rate(
            ocp.MetabolicRate()
        )


def test_tendons_need_the_rates_of_torques(rng):
    rate = ocp.JointWork(tendons=[ocp.Tendon("thigh_joint", 200.0)])
    with pytest.raises(ValueError, match="needs the rate of the torques"):
        motion(rng, linear=False).metabolic_rate(rate)
    still = motion(rng, linear=False)
    still.stats["torque"] = "linear"
    close(still.metabolic_rate(rate).net, still.metabolic_rate(ocp.JointWork()).net)
    with pytest.raises(TypeError, match="metabolic_rate: rate must be a JointWork, a Met"):
        still.metabolic_rate(0)
    with pytest.raises(ValueError, match="MetabolicRate speed: give one number, or nv = 8"):
        motion(rng).metabolic_rate(ocp.MetabolicRate(speed=[1.0, 2.0]))
