"""Costs of effort of a human body: torques and their rate, muscle work, loads on passive tissue, posture.

The cost adds up

- activation: the square of torque over strength, in the direction of the torque;
- the rate of the torques, which muscles that switch on and off pay for;
- metabolic energy of muscle work, four times the positive and 0.83 times the negative work;
- the square of the load on passive tissue: without it the walker hangs in its ligaments, at the ends of its joints;
- smaller terms: accelerations of the joints, and distance of the joints from the neutral posture.

The weights were chosen by hand, so that joint angles and forces at 1.3 m/s come near those of people; they are the same
for all bodies, speeds and slopes. No term refers to a measured gait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanism import Model
from ...ocp import (
    AccelerationSquared,
    JointAngleSquared,
    JointWork,
    PassiveTorqueSquared,
    Tendon,
    TorquePower,
    TorqueRateSquared,
)

CALF = 2.8
"""Strength of plantar flexion [N m/kg]. Dynamometers measure half of it at best (`ocp_dyn.models.joint_limits`), but
the ankle's moment reaches 3 N m/kg when people run at 3.5 m/s (Schache et al., Med. Sci. Sports Exerc. 43, 2011)."""

ACHILLES = 470.0
"""Stiffness of the Achilles tendon about the ankle [N m/rad] of a man of 73 kg and 1.741 m: 188 N/mm (Lichtwark &
Wilson, J. Exp. Biol. 208, 2005) at a lever arm of 50 mm. It scales with the mass."""

STIFFNESS = {
    "lumbar": 10.0, "hip": 3.0, "hip_l.rz": 12.0, "hip_r.rz": 12.0, "ankle": 3.0, "subtalar": 3.0, "shoulder": 3.0
}  # fmt: skip
"""Stiffness by which joints return to the neutral posture, relative to the knees'."""

ROUNDED_POWER = 60.0
"""Power [W] within which the cost of muscle work is rounded, so that the solver sees no corner."""


def with_calves(model: Model) -> Model:
    """The model with the strength of the calf muscles that running shows, 2.8 N m/kg; `od.models.human` has the
    strength that dynamometers measure.

    >>> model = od.walking.with_calves(od.models.human(70.0))
    >>> round(dict(zip(model.qd_names, model.dofs.tau_max))["ankle_l"])
    196
    """
    lower = dict(zip(model.qd_names, model.dofs.tau_min, strict=True))
    largest = dict(zip(model.qd_names, model.dofs.tau_max, strict=True))
    ankles = [f"ankle_{side}" for side in "lr" if largest.get(f"ankle_{side}", 0) > 0]  # not locked, not prosthetic
    return model.with_limits(effort={ankle: (float(lower[ankle]), CALF * model.mass) for ankle in ankles})


def human_effort(measured: Model) -> tuple[Any, ...]:
    """The usual costs of a human motion.

    measured: the model with the strengths that dynamometers measure, which tell how much passive tissue bears; torques
    are compared with those of `with_calves(measured)`. Sources and weights: at the head of
    `ocp_dyn/walking/effort/effort_costs.py`.

    >>> [type(cost).__name__ for cost in od.walking.human_effort(od.models.human())][:3]
    ['TorquePower', 'TorqueRateSquared', 'JointWork']
    """
    model = with_calves(measured)
    return (
        TorquePower(2.0, weight=100.0),
        TorqueRateSquared(weight=0.45, scale=model.dofs.strength()),
        JointWork(weight=0.05, smoothing=ROUNDED_POWER, tendons=achilles_tendons(model)),
        PassiveTorqueSquared(weight=270.0, scale=tissue_strength(measured)),
        AccelerationSquared(weight=7e-4),
        JointAngleSquared(weight=1.0, stiffness=posture_stiffness(model)),
    )


def achilles_tendons(model: Model) -> list[Tendon]:
    """The Achilles tendons, in series with the muscles of the calves; none at an ankle that does not move, or has no
    muscles.

    >>> [tendon.dof for tendon in od.walking.achilles_tendons(od.models.human())]
    ['ankle_l', 'ankle_r']
    """
    strong = dict(zip(model.qd_names, model.dofs.tau_max, strict=True))
    ankles = (f"ankle_{side}" for side in "lr")
    return [Tendon(ankle, ACHILLES * model.mass / 73.0) for ankle in ankles if strong.get(ankle, 0) > 0]


def tissue_strength(measured: Model) -> np.ndarray:
    """Torques (nv) with which loads of tissue are compared [N m]: the strength; the tendons of the sole and the springs
    of prosthetic joints are made to be loaded, and cost almost nothing.

    >>> od.walking.tissue_strength(od.models.human()).shape
    (29,)
    """
    toes = np.array([name.startswith("toes") for name in measured.qd_names])
    prosthetic = (measured.dofs.stiffness > 0) & (measured.dofs.tau_max == 0)
    return np.where(toes | prosthetic, 1e3, measured.dofs.strength())


def posture_stiffness(model: Model) -> np.ndarray:
    """Stiffness (nv) by which the joints return to the neutral posture, relative to the knees'.

    >>> float(od.walking.posture_stiffness(od.models.human()).max())
    12.0
    """
    found = np.ones(model.nv)
    for prefix, value in STIFFNESS.items():
        found[[name.startswith(prefix) for name in model.qd_names]] = value
    return found
