"""The cost of predictive simulations of walking after Falisse et al. 2019, the default of PredSim."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.checks import truth
from ..._base.types import Array, ModelError, suggestion
from ...dynamics.kinematics import all_poses_and_axes
from ...dynamics.passive_torques import passive_force
from ...mechanism import Model
from ...ocp import (
    AccelerationSquared,
    ChannelPower,
    ChannelRateSquared,
    Cost,
    MuscleMetabolicRate,
    Muscles,
    PassiveTorqueSquared,
    RateCost,
    TorqueSquared,
)
from ..subjects.limbs import turns_of
from .muscle_driven import LINEAR

WEIGHTS: Mapping[str, float] = MappingProxyType({
    "metabolic rate": 500.0, "activation": 2000.0, "acceleration": 5e4, "passive torque": 1000.0, "motor": 1e6,
    "activation rate": 1e-3,
})  # fmt: skip
"""Weights of the means of squares: rates [W] times the square root of the mass, activations, accelerations over
`ACCELERATIONS`, passive torques [N m], torques of motors over `MOTOR`, rates of activations over `RATE`."""

ACCELERATIONS: Mapping[str, tuple[float, float, float]] = MappingProxyType({
    "lumbar": (53.0, 110.0, 39.0), "hip": (201.0, 146.0, 137.0), "knee": (442.0, 442.0, 442.0),
    "ankle": (430.0, 430.0, 430.0), "subtalar": (233.0, 233.0, 233.0),
})  # fmt: skip
"""Accelerations [rad/s^2] about y, x and z: the bounds of PredSim, three and a half ranges of measured walking."""

TURNS, MOVES = (92.0, 20.0, 62.0), (61.0, 6.0, 17.0)
"""The same of the root about x, y and z [rad/s^2], and along them [m/s^2]."""

OTHER, MOTOR, RATE = 500.0, 150.0, 100.0
"""Acceleration of joints that are not in that table, such as toes [rad/s^2]; torque of a motor [N m]; rate of an
activation [1/s]."""

ARMS = ("shoulder", "elbow")
"""Joints whose accelerations are free, as their torques cost."""

ARM = 84.0
"""Acceleration of a joint of the arms that counts as one where they cost [rad/s^2]: three and a half ranges, as of the
others, of a swing by 20 degrees to both sides in 1.07 s."""


def falisse_effort(
    model: Model, muscles: Muscles = LINEAR, *, weights: Mapping[str, float] | None = None, arms: bool = False
) -> tuple[Cost | RateCost, ...]:
    """The cost of walking in PredSim: a sum of weighted mean squares per distance.

    Squared are metabolic rates of the muscles over the root of the mass, activations, accelerations, passive torques,
    torques of the motors and rates of activations [Falisse et al., Rapid predictive simulations with complex
    musculoskeletal models suggest that diverse healthy and pathological human gaits can emerge from similar control
    strategies, J. R. Soc. Interface 16 (2019)].

    Weights and scales are the defaults of PredSim, which has this cost; weights: others, by name. Metabolic rates are
    those of Bhargava et al. 2004, rounded. Every term is a mean, over muscles, dofs or motors. arms: whether
    accelerations of the arms cost, too; in PredSim they do not, and arms that swing at their natural rate for nothing
    turn the pelvis. Motors have no delay here. muscles: the component of the problem; with excitations their rates of
    activations are free. The problem needs `per_distance=True`.

        od.walking.muscle_driven(walk, model=body, costs=od.walking.falisse_effort(body), replace_costs=True)

    KeyError for a name of no weight, ModelError for a model without muscles.

    >>> body = od.models.human(muscles=True, root=od.FloatingBase())
    >>> [f"{cost.name} {cost.weight:.3g}" for cost in od.walking.falisse_effort(body)][:3]
    ['MuscleMetabolicRate 0.0796', 'ChannelPower activation 23.3', 'AccelerationSquared 2.38e+03']
    """
    for name in weights or {}:
        if name not in WEIGHTS:
            raise KeyError(f"no weight {name!r}; there are {', '.join(WEIGHTS)}{suggestion(name, WEIGHTS)}")
    if not model.muscles:
        raise ModelError(f"falisse_effort: the model {model.name!r} has no muscles: see od.models.human(muscles=True)")
    w, n = {**WEIGHTS, **(weights or {})}, muscles.hill(model).size
    scale, tissue = _accelerations(model, ARM if truth(arms, "falisse_effort: arms") else np.inf), _passive(model)
    idle = {*muscles.driven(model), *model.floating_joints}
    motors = sum(model.joints[i].nv for i, name in enumerate(model.joint_names, start=1) if name not in idle)
    costs: list[Cost | RateCost] = [
        MuscleMetabolicRate(muscles, weight=w["metabolic rate"] / (n * model.mass), power=2),
        ChannelPower("activation", weight=w["activation"] / n),
        AccelerationSquared(weight=w["acceleration"] / max(int(np.isfinite(scale).sum()), 1), scale=scale, base=True),
        TorqueSquared(weight=w["motor"] / max(motors, 1), scale=MOTOR),
    ]
    if tissue:
        costs.append(PassiveTorqueSquared(weight=w["passive torque"] / tissue))
    if muscles.activation == "limits":
        costs.append(ChannelRateSquared("activation", weight=w["activation rate"] / (n * RATE**2)))
    return tuple(costs)


def _accelerations(model: Model, of_arms: float) -> Array:
    """Accelerations (nv) that count as 1; of_arms: that of the arms, infinite where it is free."""
    scale = np.full(model.nv, OTHER)
    for turn in turns_of(model):
        scale[turn.dof] = of_arms if turn.joint in ARMS else ACCELERATIONS[turn.joint][turn.axis]
    places = all_poses_and_axes(model, DM(model.neutral()))
    for i, name in enumerate(model.joint_names, start=1):
        if name in model.floating_joints:
            scale[list(model.dofs_of(i))] = [_of_root(DM(places.w[k]), DM(places.v[k])) for k in model.dofs_of(i)]
    return scale


def _of_root(w: DM, v: DM) -> float:
    """The acceleration that counts as 1 of a dof of the root that turns by w, or moves by v."""
    axis, table = (w, TURNS) if float(ca.norm_2(w)) > 0 else (v, MOVES)
    return table[int(np.argmax(np.abs(axis.full())))]


def _passive(model: Model) -> int:
    """Number of dofs with passive torques."""
    force = passive_force(model, ca.SX.sym("q", model.nq), ca.SX(model.nv, 1))
    return len(set(force.sparsity().row()))
