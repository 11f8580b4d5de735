"""Costs of effort of a run: those of a walk with other weights, and tendons with a toe region in calf and thigh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...mechanism import Model
from ...ocp import JointWork, Tendon
from .effort_costs import ACHILLES, BY_HAND, REFERENCE_MASS, Body, human_effort

POSTURE = 0.2
WEIGHTS = {name: POSTURE * weight for name, weight in BY_HAND.items()} | {
    "torque rate": 0.3, "work": 0.1, "tissue": 150.0, "acceleration": 1e-3
}  # fmt: skip
"""Weights chosen by hand; those of the posture are a fifth of those of other motions."""

STRETCH = 0.027 / 0.042
"""Angle of the knee by which the tendon of the quadriceps stretches under its largest torque [rad]: 27 mm of the tendon
and aponeurosis of vastus lateralis (Stafilidis et al., Eur. J. Appl. Physiol. 94, 2005) at a lever arm of 42 mm."""

TOE, TOE_TORQUE = 0.2, 40.0
"""Slack, low part of the tendons: the angle [rad] that it adds, and the torque [N m] that takes it up in a man of 73
kg. The calf yields 30 degrees under 100 N m, of which its linear stiffness explains 14 to 23 (Hof, J. Biomechanics 31,
1998)."""

ROUNDED_POWER = 200.0
"""Power [W] within which the cost of muscle work is rounded; joints reach 1000 W, three times the power of a walk."""


def running_effort(person: Body) -> tuple[Any, ...]:
    """The costs of a human run: those of `human_effort` with weights of their own, and tendons in calf and thigh.

    >>> [type(cost).__name__ for cost in od.walking.running_effort(od.walking.person())][2:4]
    ['JointWork', 'PassiveTorqueSquared']
    """
    power, tendons = ROUNDED_POWER * person.measured.mass / REFERENCE_MASS, running_tendons(person.measured)
    return tuple(
        replace(cost, smoothing=power, tendons=tendons) if isinstance(cost, JointWork) else cost
        for cost in human_effort(person, WEIGHTS, {})
    )


def running_tendons(measured: Model) -> list[Tendon]:
    """The tendons of calf and thigh of both legs, which store and return what the joints take up and give.

    >>> [tendon.dof for tendon in od.walking.running_tendons(od.models.human())]
    ['ankle_l', 'ankle_r', 'knee_l', 'knee_r']
    """
    size = measured.mass / REFERENCE_MASS
    extension = dict(zip(measured.qd_names, -measured.dofs.tau_min, strict=True))
    stiffness = {f"ankle_{side}": ACHILLES * size for side in "lr"}
    stiffness |= {f"knee_{side}": float(extension[f"knee_{side}"]) / STRETCH for side in "lr"}
    return [Tendon(dof, value, toe=TOE, toe_torque=TOE_TORQUE * size) for dof, value in stiffness.items()]
