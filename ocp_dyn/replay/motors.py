"""Motors of a simulated body: which joints have one, how strong they are, and their law."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
from casadi import DM, SX
from numpy.typing import NDArray

from .._base.on_arrays import in_place
from .._base.types import Array
from ..dynamics.momentum import center_of_mass
from ..dynamics.passive_torques import passive_force
from ..ocp import Solution

UNREAL = 10.0
"""Moments of the weight about the ground above which a limit of torque tells nothing about a motor; the strongest
joints of the robots in `od.robots` have 0.7."""


def passive_law(solution: Solution) -> ca.Function:
    """(q, qd) -> passive joint forces (nv), and minus their derivatives by the own velocities (nv)."""
    model = solution.model
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    force = SX(model.nv, 1)
    if solution.loads.passive:
        force = passive_force(model, q, qd, slip_speed=solution.loads.slip_speed)
    slopes = ca.vertcat(*(-ca.jacobian(force[k], qd[k]) for k in range(model.nv)))
    return ca.Function("passive", [q, qd], [ca.densify(force), ca.densify(slopes)], {"cse": True})


def actuated(solution: Solution) -> NDArray[np.bool_]:
    """The dofs (nv) that have a motor: those whose torque is not zero all along the motion."""
    found: NDArray[np.bool_] = np.any(solution.tau != 0, axis=0)
    return found


def strengths(solution: Solution) -> Array:
    """Strength of every dof (nv) [N m, N]; without a limit the largest torque of the motion, a tenth of that of all
    dofs at least.

    Files of robots state limits that are none, such as 1000 N m for the knee of a robot of 2.5 kg: one of more than
    UNREAL times the moment of the whole weight at the height of the center of mass counts as none.
    """
    peak = np.abs(solution.tau).max(axis=0)
    used = np.maximum(peak, 0.1 * peak.max())
    model = solution.model
    known = model.dofs.strength(unlimited=math.inf)
    height = max(float(center_of_mass(model, DM(q))[2]) for q in solution.q)
    return np.asarray(np.where(known <= max(UNREAL * model.weight * height, float(peak.max())), known, used))


class Motors:
    """Torques of the motors, within their limits, and passive forces of the joints."""

    def __init__(self, solution: Solution, gain: float, damping: float, feed_forward: float) -> None:
        model = solution.model
        strength = strengths(solution) * actuated(solution)
        self.stiffness, self.damping = gain * strength, damping * strength
        self.share = feed_forward * actuated(solution)
        self.lower = np.where(actuated(solution), model.dofs.tau_min, 0.0)
        self.upper = np.where(actuated(solution), model.dofs.tau_max, 0.0)
        self.saturated = False
        q, qd, wanted = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("wanted", model.nq)
        passive = passive_law(solution)(q, qd)
        law = ca.Function("law", [q, qd, wanted], [ca.densify(model.difference(q, wanted)), *passive], {"cse": True})
        self.given = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nq)
        self.found = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
        self.evaluate = in_place(law, self.given, self.found)

    def __call__(
        self, q: Array, qd: Array, q_plan: Array, qd_plan: Array, tau_plan: Array
    ) -> tuple[Array, Array, Array]:
        """(torques, other forces, damping), for the plan's angles, velocities and torques.

        damping: minus the slope of both by the velocity; a motor at its limit has none.
        """
        for array, x in zip(self.given, (q, qd, q_plan), strict=True):
            array[:] = x
        self.evaluate()
        error, passive, losses = self.found
        wanted = self.share * tau_plan + self.stiffness * error + self.damping * (qd_plan - qd)
        tau = np.clip(wanted, self.lower, self.upper)
        free = tau == wanted
        self.saturated = not bool(free.all())
        return tau, passive, np.maximum(losses, 0.0) + self.damping * free
