"""Costs of effort whose weights a fit to measured gaits found, in dimensionless form: one set for all bodies.

The terms are those of `human_effort` and a small cost of the rate of the ground forces. Their weights belong to
quantities in units of the body: mass m, leg length l, gravity g. Times are in sqrt(l/g), powers in m g sqrt(g l),
forces in m g, torques in the strength of their joint, which grows with m times the stature. A man and a child of the
same proportions then walk alike at the same speed over sqrt(g l).

The weights were found by `python -m scripts.fit_human`: walks of a man at three speeds, of a woman at one and of one
subject beside their measured gaits (`gait_reference`), two speeds and Winter's adults kept out, on feet that leave over
a round front (`human_feet`). Gauss-Newton on the derivatives of the optimal walks by the weights; the weight of effort
is 100 by choice, as a common factor means nothing; that of work is at its upper bound, beyond which the solver needs
twice the iterations. Errors, also on the gaits that were kept out: scripts/MEASUREMENTS.md. Strengths are those of
`human_effort`: none was fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._base.checks import positive
from ..._base.types import suggestion
from ...mechanism import Model
from ...models import human_dimensions
from ...ocp import (
    AccelerationSquared,
    ForceRateSquared,
    JointAngleSquared,
    JointWork,
    PassiveTorqueSquared,
    TorquePower,
    TorqueRateSquared,
)
from .effort_costs import achilles_tendons, tissue_strength, with_calves

REFERENCE_MASS, REFERENCE_LEG = 73.0, human_dimensions().leg_length
"""Mass [kg] and leg length [m] of the body whose weights are those of `FITTED` in SI units."""

GROUPS = MappingProxyType({
    "hip flexion": ("hip", ".ry"), "hip abduction": ("hip", ".rx"), "hip rotation": ("hip", ".rz"),
    "lumbar flexion": ("lumbar", ".ry"), "lumbar bending": ("lumbar", ".rx"), "lumbar rotation": ("lumbar", ".rz"),
    "ankle": ("ankle", ""), "knee": ("knee", ""), "subtalar": ("subtalar", ""), "shoulder": ("shoulder", ""),
    "elbow": ("elbow", ""),
})  # fmt: skip
"""Beginnings and ends of the names of dofs whose distance from the neutral posture has one weight."""

FITTED: Mapping[str, float] = MappingProxyType({
    "effort": 100.0, "torque rate": 0.845, "work": 0.12, "tissue": 16.3, "acceleration": 1.29e-4,
    "ground force rate": 0.0152, "hip flexion": 1.07, "hip abduction": 13.1, "hip rotation": 49.5,
    "lumbar flexion": 205.0, "lumbar bending": 343.0, "lumbar rotation": 1440.0, "ankle": 121.0, "knee": 0.485,
    "subtalar": 9.3, "shoulder": 9.4, "elbow": 1.1,
})  # fmt: skip
"""Weights that the fit found."""

ROUNDED = 150.0
"""Power [W] of the reference body within which the cost of muscle work is rounded. With its larger weight, the 60 W of
`human_effort` double the iterations of the solver."""


def fitted_effort(measured: Model, leg_length: float, weights: Mapping[str, float] | None = None) -> tuple[Any, ...]:
    """The costs of effort with fitted weights, of a body of any size.

    measured: the model with the strengths that dynamometers measure, which tell how much passive tissue bears; torques
    are compared with those of `with_calves(measured)`. leg_length [m], hip to sole. weights: others than the fitted
    ones, by name; KeyError for a name that is none of them. Terms and units: at the head of
    `ocp_dyn/walking/effort/fitted_effort.py`.

    >>> body = od.walking.person(60.0, 1.65, "female")
    >>> costs = od.walking.fitted_effort(body.measured, body.size.leg_length, {"work": 0.3})
    >>> [type(cost).__name__ for cost in costs][:3]
    ['TorquePower', 'TorqueRateSquared', 'JointWork']
    """
    model, leg_length = with_calves(measured), positive(leg_length, "leg_length [m]")
    w = dict(FITTED)
    for name, value in (weights or {}).items():
        if name not in FITTED:
            raise KeyError(f"no weight {name!r}; there are {', '.join(FITTED)}{suggestion(name, FITTED)}")
        w[name] = value
    time2 = leg_length / REFERENCE_LEG  # square of the unit of time, sqrt(l/g), over the reference's
    power = model.mass / REFERENCE_MASS * math.sqrt(time2)
    tissue = bool(model.passive) or bool(model.dofs.stiffness.any())
    postures = [
        JointAngleSquared(weight=w[name], stiffness=found)
        for name in GROUPS
        if (found := _of_group(model, *GROUPS[name])).any()
    ]
    return (
        TorquePower(2.0, weight=w["effort"]),
        TorqueRateSquared(weight=w["torque rate"] * time2, scale=model.dofs.strength()),
        JointWork(weight=w["work"] / power, smoothing=ROUNDED * power, tendons=achilles_tendons(model)),
        *([PassiveTorqueSquared(weight=w["tissue"], scale=tissue_strength(measured))] if tissue else []),
        AccelerationSquared(weight=w["acceleration"] * time2**2),
        ForceRateSquared(weight=w["ground force rate"] * time2, scale=model.weight),
        *postures,
    )


def _of_group(model: Model, begin: str, end: str) -> np.ndarray:
    """1 for the dofs of a group, 0 for others (nv)."""
    return np.array([float(name.startswith(begin) and name.endswith(end)) for name in model.qd_names])
