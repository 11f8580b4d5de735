"""Costs of effort of a human body, with weights that a fit to measured gaits found: one set for bodies of all sizes.

The cost adds up

- activation: the square of torque over strength, in the direction of the torque;
- the rate of the torques, which muscles that switch on and off pay for;
- metabolic energy of muscle work, four times the positive and 0.83 times the negative work;
- the square of the load on passive tissue: without it the walker hangs in its ligaments, at the ends of its joints;
- smaller terms: accelerations of the joints, rates of the ground forces, distance of the joints from the neutral
  posture, with a weight for each group of joints.

Weights belong to quantities in units of the body: mass m, leg length l, gravity g. Times are in sqrt(l/g), powers in
m g sqrt(g l), forces in m g, torques in the strength of their joint, which grows with m times the stature. A man and a
child of the same proportions then walk alike at the same speed over sqrt(g l).

Some weights follow the speed v of a periodic walk, by a power of v. Squares of rates grow with it much faster than work
does: with one weight for all speeds they rule at 2 m/s, where walks become flat, and count for little at 0.7 m/s. The
fit gives torque rates an exponent of -2.15: their unit of time is that in which the body moves on by a leg, l/v. Hips
resist rotation more at speed, as muscles stiffen joints with their force, and ankles less.

The weights were found by `python -m scripts.fit_human`: walks of a man at three speeds, of a woman and of adults
beside their measured gaits (`gait_reference`), two speeds and one subject kept out. Gauss-Newton on the derivatives of
the optimal walks by the weights and exponents; the weight of effort is 100 by choice, as a common factor means nothing;
that of work is at its upper bound, beyond which the solver needs more iterations. Weights of tissue, ankle, hip flexion
and acceleration trade the angles of adults against pelvis and rise: of a valley in which the sum of squares grows by 5
%, the point where the angles of children and adults are equally near is taken. The exponents are those of a fit of all;
its weights at 1.3 m/s leave the adult who was kept out, and are not taken. Errors, also on the gaits that were kept
out: scripts/MEASUREMENTS.md. Strengths are those of the body: none was fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ..._base.types import suggestion
from ...mechanism import Model
from ...models import HumanDimensions, human_dimensions
from ...models.joint_limits import CALF
from ...ocp import (
    AccelerationSquared,
    ForceRateSquared,
    JointAngleSquared,
    JointWork,
    PassiveTorqueSquared,
    Tendon,
    TorquePower,
    TorqueRateSquared,
)
from ..subjects.limbs import turns_of


class Body(Protocol):
    """A person as costs of effort see it: fields of `Person`."""

    @property
    def model(self) -> Model: ...
    @property
    def measured(self) -> Model: ...
    @property
    def size(self) -> HumanDimensions: ...


REFERENCE_MASS, REFERENCE_LEG, REFERENCE_SPEED = 73.0, human_dimensions().leg_length, 1.3
"""Mass [kg], leg length [m] and speed [m/s] of the body whose weights are those of `WEIGHTS` in SI units."""

AXES = MappingProxyType({
    "hip": ("hip flexion", "hip abduction", "hip rotation"),
    "lumbar": ("lumbar flexion", "lumbar bending", "lumbar rotation"),
})  # fmt: skip
"""Groups of the joints that have one for every axis, about y, x and z; any other joint is a group."""

WEIGHTS: Mapping[str, float] = MappingProxyType({
    "effort": 100.0, "torque rate": 0.845, "work": 0.12, "tissue": 100.0, "acceleration": 1.5e-4,
    "ground force rate": 0.0152, "hip flexion": 4.0, "hip abduction": 13.1, "hip rotation": 49.5,
    "lumbar flexion": 205.0, "lumbar bending": 343.0, "lumbar rotation": 1440.0, "ankle": 60.0, "knee": 0.485,
    "subtalar": 9.3, "shoulder": 9.4, "elbow": 1.1,
})  # fmt: skip
"""Weights of the walk: of the terms, and of the distance from the neutral posture by groups of joints."""

EXPONENTS: Mapping[str, float] = MappingProxyType({
    "torque rate": -2.15, "acceleration": -2.55, "hip rotation": 1.2, "ankle": -1.31,
})  # fmt: skip
"""Exponents of the speed of the walk, over that of `REFERENCE_SPEED`, in the weights that follow it."""

BY_HAND: Mapping[str, float] = MappingProxyType({
    "torque rate": 0.45, "work": 0.05, "tissue": 270.0, "acceleration": 7e-4, "ground force rate": 0.0,
    "hip flexion": 9.0, "hip abduction": 9.0, "hip rotation": 144.0, "lumbar flexion": 100.0, "lumbar bending": 100.0,
    "lumbar rotation": 100.0, "ankle": 9.0, "knee": 1.0, "subtalar": 9.0, "shoulder": 9.0, "elbow": 1.0,
})  # fmt: skip
"""Weights chosen by hand, for motions that nothing was fitted to. The large weights of ankle and spine in `WEIGHTS`
make up for what the rigid foot of a walk lacks: on compliant feet they bend the knee by 11 degrees too much."""

ROUNDED_POWER = 150.0
"""Power [W] of the reference body within which the cost of muscle work is rounded, so that the solver sees no corner.
60 W double its iterations."""

ACHILLES = 470.0
"""Stiffness of the Achilles tendon about the ankle [N m/rad] of a man of 73 kg and 1.741 m: 188 N/mm (Lichtwark &
Wilson, J. Exp. Biol. 208, 2005) at a lever arm of 50 mm. It scales with the mass."""


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


def human_effort(
    person: Body, weights: Mapping[str, float] | None = None, exponents: Mapping[str, float] = EXPONENTS
) -> tuple[Any, ...]:
    """The costs of effort of a person of any size.

    weights: others than the usual ones, by name; KeyError for a name that is none of them. exponents: of the speed of a
    periodic walk, by the names of the weights that follow it (`by_speed`). Terms and units: at the head of
    `ocp_dyn/walking/effort/effort_costs.py`. Loads on tissue are compared with the strengths that dynamometers measure;
    without passive tissue they have no cost.

    >>> costs = od.walking.human_effort(od.walking.person(60.0, 1.65, "female"), {"work": 0.3})
    >>> [type(cost).__name__ for cost in costs][:3]
    ['TorquePower', 'TorqueRateSquared', 'JointWork']
    """
    for name in (*(weights or {}), *exponents):
        if name not in WEIGHTS:
            raise KeyError(f"no weight {name!r}; there are {', '.join(WEIGHTS)}{suggestion(name, WEIGHTS)}")
    model, measured = person.model, person.measured
    time2 = person.size.leg_length / REFERENCE_LEG  # square of the unit of time, sqrt(l/g), over the reference's
    w, pace = {**WEIGHTS, **(weights or {})}, REFERENCE_SPEED * math.sqrt(time2)
    follow = {name: (pace, exponents[name]) if name in exponents else None for name in w}
    power = measured.mass / REFERENCE_MASS * math.sqrt(time2)
    tissue = bool(model.passive) or bool(model.dofs.stiffness.any())
    costs = (
        TorquePower(2.0, weight=w["effort"]),
        TorqueRateSquared(weight=w["torque rate"] * time2, scale=model.dofs.strength(), by_speed=follow["torque rate"]),
        JointWork(weight=w["work"] / power, smoothing=ROUNDED_POWER * power, tendons=achilles_tendons(measured)),
        *([PassiveTorqueSquared(weight=w["tissue"], scale=tissue_strength(measured))] if tissue else []),
        AccelerationSquared(weight=w["acceleration"] * time2**2, by_speed=follow["acceleration"]),
        ForceRateSquared(weight=w["ground force rate"] * time2, scale=measured.weight),
        *(
            JointAngleSquared(weight=w[name], stiffness=stiffness, by_speed=follow[name])
            for name, stiffness in joint_groups(model).items()
        ),
    )
    return tuple(cost for cost in costs if cost.weight != 0)


def motion_effort(person: Body) -> tuple[Any, ...]:
    """The costs of effort of other motions than walks on rigid feet: those of `human_effort` with weights chosen by
    hand.

    >>> costs = od.walking.motion_effort(od.walking.person())
    >>> [cost.weight for cost in costs if isinstance(cost, ocp.PassiveTorqueSquared)]
    [270.0]
    """
    return human_effort(person, BY_HAND, {})


def joint_groups(model: Model) -> dict[str, np.ndarray]:
    """The groups of joints whose distance from the neutral posture has one weight, by name: 1 for their dofs, else 0
    (nv).

    >>> list(od.walking.joint_groups(od.models.human()))[:3]
    ['hip flexion', 'hip abduction', 'hip rotation']
    """
    found: dict[str, np.ndarray] = {}
    for dof, joint, axis, _ in turns_of(model):
        found.setdefault(AXES.get(joint, (joint,) * 3)[axis], np.zeros(model.nv))[dof] = 1.0
    return {name: found[name] for name in WEIGHTS if name in found}


def achilles_tendons(model: Model) -> list[Tendon]:
    """The Achilles tendons, in series with the muscles of the calves; none at an ankle that does not move, or has no
    muscles.

    >>> [tendon.dof for tendon in od.walking.achilles_tendons(od.models.human())]
    ['ankle_l', 'ankle_r']
    """
    ankles = [turn.dof for turn in turns_of(model) if (turn.joint, turn.axis) == ("ankle", 0)]
    stiffness = ACHILLES * model.mass / REFERENCE_MASS
    return [Tendon(model.qd_names[k], stiffness) for k in ankles if model.dofs.effort[k].any()]


def tissue_strength(measured: Model) -> np.ndarray:
    """Torques (nv) with which loads of tissue are compared [N m]: the strength; the tendons of the sole and the springs
    of prosthetic joints are made to be loaded, and cost almost nothing.

    >>> od.walking.tissue_strength(od.models.human()).shape
    (29,)
    """
    toes = np.array([name.startswith("toes") for name in measured.qd_names])
    prosthetic = (measured.dofs.stiffness > 0) & (measured.dofs.tau_max == 0)
    return np.where(toes | prosthetic, 1e3, measured.dofs.strength())
