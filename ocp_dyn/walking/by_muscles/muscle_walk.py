"""A body that walks by its muscles, on compliant feet: one mirrored step, or a stride of two where its sides differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._base.checks import whole, within
from ..._base.types import ModelError
from ...dynamics.compliant import HuntCrossleySphere
from ...mechanism import Model
from ...ocp import (
    AccelerationSquared,
    ChannelPower,
    ChannelRateSquared,
    CompliantFoothold,
    Continuous,
    Cost,
    Muscles,
    Periodic,
    Phase,
    Problem,
    RateCost,
    TorqueSquared,
)
from .measured_guess import measured_guess
from .weakening import is_even, weakened

INTERVALS = 48
"""Intervals of a step."""

TIMES = (0.3, 0.9)
"""Bounds of the time of a step [s]."""

PACE = 0.55
"""Time of a step of first guesses [s], where the bounds allow it."""


def muscle_walk(
    model: Model,
    speed: float = 1.2,
    spheres: Sequence[HuntCrossleySphere] = (),
    *,
    costs: Sequence[Cost | RateCost] | None = None,
    muscles: Muscles | None = None,
    step_time: Any = TIMES,
    weaken: Mapping[str, float] = {},
    intervals: int = INTERVALS,
    integrator: str = "midpoint",
) -> Problem:
    """A walk at a mean speed [m/s] of a model with muscles, of least effort per distance.

    The root has no motor, nor has any joint that a muscle moves; joints that no muscle moves, such as the back of a
    model of legs, keep theirs. spheres: of both feet, such as those of `muscle_body(file)`.

    muscles: the component, by default with rigid tendons and limits of the rates of activations, which take far fewer
    iterations than excitations. costs: by default the squares of activations and of the torques of motors over their
    limits, times 10, of accelerations, times 3e-4, and of the rates of activations, times 0.01; with excitations those
    of OpenSim Moco's example, ten times their cubes. step_time [s]: a number or bounds. weaken: factors of maximum
    isometric forces by the names of muscles, such as {"soleus_r": 0.4}; uneven sides walk a stride of two steps, others
    one step and its mirror image.
    intervals: in a step. The first guess has the joint angles of people (`measured_guess`).

    ModelError for models without muscles or spheres, KeyError for names of muscles that there are not.

    >>> body = od.models.human(muscles=True, root=od.FloatingBase())
    >>> spheres = [ball for foot in od.walking.compliant_feet(body) for ball in foot.spheres]
    >>> od.walking.muscle_walk(body, 1.3, spheres, intervals=10).phases[0].outline()
    "'step': 10 intervals, 0.3 to 0.9 s, on heel_l, heel_r"
    """
    within(speed, 0.3, 2.5, "speed must lie between 0.3 and 2.5 m/s for a walk")
    whole(intervals, "intervals", 2)
    model = weakened(model, weaken)
    even = is_even(model, weaken)
    muscles = muscles or Muscles(activation="limits")
    feet = feet_on(model, spheres)
    steps = 1 if even else 2
    low, high = (step_time, step_time) if isinstance(step_time, (int, float)) else step_time
    motors, guessed = motorized(model), float(np.clip(PACE, low, high))
    name, duration = "step" if even else "stride", (low * steps, high * steps)
    effort = _effort(model, muscles) if costs is None else costs
    return Problem(
        model,
        [Phase(name, intervals * steps, duration, feet, objective=effort)],
        periodic=Periodic(speed, mirror=even, transition=Continuous()),
        components=[muscles],
        unactuated=[joint for joint in model.joint_names if joint not in motors],
        per_distance=True,
        integrator=integrator,
        torque="linear",
        guess=measured_guess(model, feet, speed, guessed, steps),
        options={"mu_init": 1e-3 if muscles.activation == "limits" else 1e-4},
    )


def _effort(model: Model, muscles: Muscles) -> list[Cost | RateCost]:
    """The usual costs."""
    torques = [TorqueSquared(weight=10.0, scale=model.dofs.strength())] if motorized(model) else []
    if muscles.activation == "limits":
        activity = ChannelPower("activation", 2.0, weight=10.0), ChannelRateSquared("activation", weight=0.01)
        return [*activity, *torques, AccelerationSquared(weight=3e-4)]
    return [ChannelPower("excitation", 3.0, weight=10.0), *torques]


def motorized(model: Model) -> list[str]:
    """Joints that keep their motors in `muscle_walk`: those that no muscle moves, but for the root.

    >>> od.walking.motorized(od.models.elbow())
    []
    """
    moved = Muscles().driven(model)
    return [name for name in model.joint_names if name not in model.floating_joints and name not in moved]


def feet_on(model: Model, spheres: Sequence[HuntCrossleySphere]) -> list[CompliantFoothold]:
    """A foothold for every frame that has spheres."""
    if not spheres:
        raise ModelError(
            f"model {model.name!r}: its feet have no spheres, on which they stand: give spheres=..., or take both from "
            "od.walking.muscle_body(file)"
        )
    by_frame: dict[str, list[HuntCrossleySphere]] = {}
    for sphere in spheres:
        by_frame.setdefault(sphere.name, []).append(sphere)
    return [CompliantFoothold(name, found) for name, found in sorted(by_frame.items())]
