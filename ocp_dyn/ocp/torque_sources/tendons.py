"""Tendons in series with torque sources: the muscle's angle and speed, and the energy in the tendon.

A muscle turns the end of a spring whose other end turns the joint. The spring carries the torque tau of the joint, so
its stretch delta(tau) is the angle by which the muscle is ahead of the joint, and no state is needed:

    muscle angle  q_m = q + delta(tau),    muscle speed  qd_m = qd + delta'(tau) d(tau)/dt.

The power tau qd_m of the muscle is the power tau qd at the joint plus d/dt E(tau), with the energy E = integral of tau
d(delta): what the muscle gives and the joint does not get is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import all_positive, finite, label, name_among, not_negative, positive
from ..._base.types import Expr, names_in_message, repr_in_message
from ...mechanism import Model
from ..statement.instant import Instant
from .activation import tau_rate
from .strengths import ROUNDED_PART


@dataclass(frozen=True)
class Tendon:
    """A tendon between a torque source and its joint: a spring with the stretch delta(tau) [rad, m].

    delta = tau / stiffness + toe tanh(tau / toe_torque). dof: name of a dof (`model.qd_names`) or of a joint with one.
    stiffness [N m/rad, N/m]: a number, or (negative, positive) for torques in these directions, as the tendons on the
    two sides of a joint differ. toe [rad, m]: the stretch that the slack, low part of the curve adds; it is taken up at
    torques of about toe_torque [N m, N]. A tendon of the stiffness k along its line [N/m] at the lever arm r [m] has
    the stiffness k r^2 about the joint.

    Costs with `tendons=` count the work of the muscles instead of that of the joints.

    >>> achilles = ocp.Tendon("tip_joint", stiffness=400.0)
    >>> achilles.stretch(ca.DM(100.0)), achilles.energy(ca.DM(100.0))  # [rad], [J]
    (DM(0.25), DM(12.5))
    """

    dof: str
    stiffness: Any
    toe: float = 0.0
    toe_torque: float = 1.0

    def __post_init__(self) -> None:
        label(self.dof, "Tendon dof")
        if all_positive(self.stiffness, "Tendon stiffness [N m/rad]").size > 2:
            raise ValueError(
                f"Tendon stiffness must be one number, or (negative, positive), got {repr_in_message(self.stiffness)}: "
                "give every dof a separate Tendon"
            )
        not_negative(finite(self.toe, "Tendon toe [rad]"), "Tendon toe [rad]")
        positive(self.toe_torque, "Tendon toe_torque [N m]")

    @property
    def _compliance(self) -> tuple[float, float, float]:
        """Mean of the compliances in both directions, half their difference, and the torque that rounds the change."""
        k = np.broadcast_to(np.ravel(np.asarray(self.stiffness, dtype=float)), (2,))
        return float(np.mean(1 / k)), float(1 / k[1] - 1 / k[0]) / 2, ROUNDED_PART * float(np.min(k))

    def stretch(self, tau: Expr) -> Expr:
        """delta(tau) [rad, m]: the angle by which the muscle is ahead of the joint."""
        mean, half, width = self._compliance
        return mean * tau + half * (ca.sqrt(tau**2 + width**2) - width) + self.toe * ca.tanh(tau / self.toe_torque)

    def compliance(self, tau: Expr) -> Expr:
        """delta'(tau) [rad/(N m), m/N]."""
        mean, half, width = self._compliance
        toe = self.toe / self.toe_torque * (1 - ca.tanh(tau / self.toe_torque) ** 2)
        return mean + half * tau / ca.sqrt(tau**2 + width**2) + toe

    def energy(self, tau: Expr) -> Expr:
        """E(tau) [J]: the integral of tau delta'(tau), the energy in the tendon."""
        mean, half, width = self._compliance
        root, ratio = ca.sqrt(tau**2 + width**2), ca.fabs(tau) / self.toe_torque
        log_cosh = ratio + ca.log1p(ca.exp(-2 * ratio)) - np.log(2)  # without overflow
        toe = self.toe * (tau * ca.tanh(tau / self.toe_torque) - self.toe_torque * log_cosh)
        side = half / 2 * (tau * root - width**2 * ca.asinh(tau / width))
        return mean / 2 * tau**2 + side + toe

    def index(self, model: Model) -> int:
        """The index of the dof in qd and tau; KeyError for an unknown name, ValueError for a joint of several dofs."""
        if self.dof in model.qd_names:
            return model.qd_names.index(self.dof)
        name_among(self.dof, (*model.qd_names, *model.joint_names), "Tendon", "dof")
        span = model.qd_slice(self.dof)
        names = model.qd_names[span]
        if len(names) != 1:
            raise ValueError(f"Tendon: joint {self.dof!r} has {len(names)} dofs: give one of {names_in_message(names)}")
        return int(span.start)


def muscle_speed(instant: Instant, tendons: Sequence[Tendon]) -> Expr:
    """Speeds of the muscles (nv) [rad/s, m/s]: qd + delta'(tau) d(tau)/dt for dofs with a tendon, qd for the others.

    ValueError for an instant without the rate of the torques, KeyError for a tendon of an unknown dof, TypeError for
    other objects.

    >>> from dataclasses import replace
    >>> moving = replace(instant, tau_rate=ca.DM([80.0]))  # 1 rad/s, 3 N m, 80 N m/s
    >>> ocp.muscle_speed(moving, [ocp.Tendon(rod.qd_names[0], 400.0)])
    DM(1.2)
    """
    if not isinstance(instant, Instant) or instant.qd is None:
        raise TypeError(f"muscle_speed needs an Instant with qd, got {repr_in_message(instant)}")
    speed, tendons = instant.qd, check_tendons(tendons, "muscle_speed")
    if tendons:
        rate, rows = tau_rate(instant, "muscle_speed"), ca.vertsplit(speed)
        for tendon in tendons:
            k = tendon.index(instant.model)
            rows[k] = rows[k] + tendon.compliance(instant.tau[k]) * rate[k]
        speed = ca.vertcat(*rows)
    return speed


def check_tendons(value: Any, what: str) -> tuple[Tendon, ...]:
    """A sequence of tendons, or one tendon, as a tuple of tendons of different dofs."""
    found = (value,) if isinstance(value, Tendon) else tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for tendon in found:
        if not isinstance(tendon, Tendon):
            raise TypeError(
                f"{what} tendons must hold Tendon objects, such as Tendon('ankle_l', 400), got "
                f"{repr_in_message(tendon)}"
            )
    names = [tendon.dof for tendon in found]
    if len(set(names)) < len(names):
        raise ValueError(f"{what} tendons: one tendon per dof, got {names}")
    return found


def muscle_power(instant: Instant, tendons: Sequence[Tendon]) -> Expr:
    """Powers tau qd_m (nv) [W] of the muscles."""
    return instant.tau * muscle_speed(instant, tendons)
