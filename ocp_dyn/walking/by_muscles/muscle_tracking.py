"""Recorded steps followed by muscles on compliant feet: activations that make the motion and the forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._base.checks import not_negative, whole
from ..._base.types import Array, repr_in_message
from ...dynamics.compliant import HuntCrossleySphere
from ...mechanism import Model
from ...ocp import (
    ChannelPower,
    Continuous,
    Muscles,
    Periodic,
    Phase,
    Problem,
    TorqueSquared,
    TrackForces,
    TrackJoints,
    TrackVelocities,
)
from ...recordings import Recording, fit_motion
from ...recordings.signals import Spline
from .muscle_walk import feet_on, motorized

INTERVALS = 24
"""Intervals of the recorded half stride, as in OpenSim's example."""


def muscle_tracking(
    model: Model,
    coordinates: Recording,
    forces: Recording | None = None,
    spheres: Sequence[HuntCrossleySphere] = (),
    *,
    effort: float = 10.0,
    states: float = 1.0,
    contact: float = 1.0,
    cutoff: float = 6.0,
    muscles: Muscles | None = None,
    intervals: int = INTERVALS,
    integrator: str = "hermite_simpson",
) -> Problem:
    """Half a recorded stride that muscles make: excitations, motion and contact forces near the recorded ones.

        minimize  integral of  states (|q - q_ref|^2 + |qd - qd_ref|^2) + contact |f - f_ref|^2 / (m g) + effort |u|^2

    with the excitations and the torques of the joints without muscles [N m] in u. The end is the mirror image of the
    start, moved forward. This is the statement of OpenSim Moco's example of tracking a walk in two dimensions.

    coordinates: all entries of q, by name or by OpenSim's paths of states, from the first to the last time of half a
    stride; they pass a low-pass filter of `cutoff` [Hz] and are the first guess. forces: wrenches on frames of the
    feet, such as `od.recordings.read_external_loads` gives; None: none are followed. spheres: of both feet, such as
    `od.io.osim_spheres(file)`. muscles: by default as OpenSim has them, with rigid tendons and linear excitations.

    ModelError for models without muscles or spheres, KeyError for frames of forces on which no sphere stands.
    """
    for what, weight in (("effort", effort), ("states", states), ("contact", contact)):
        not_negative(weight, f"muscle_tracking: {what}")
    whole(intervals, "intervals", 2)
    feet = feet_on(model, spheres)
    motion = fit_motion(model, coordinates=_by_coordinate(coordinates)).filtered(cutoff)
    begin, end = float(motion.times[0]), float(motion.times[-1])

    def over_step(times: Array, values: Any) -> Callable[[float], Array]:
        spline = Spline.through(times, np.asarray(values), 5)
        return lambda s: np.asarray(spline(np.array([begin + s * (end - begin)]))[0])

    q, qd = over_step(motion.times, motion.q), over_step(motion.times, motion.qd)
    motors = motorized(model)
    costs: list[Any] = [TrackJoints(q, states), TrackVelocities(qd, states), ChannelPower("excitation", 2.0, effort)]
    costs += [TorqueSquared(effort)] if motors else []
    if forces is not None:
        costs.append(_followed(forces, [foot.name for foot in feet], over_step, contact / model.weight))
    return Problem(
        model,
        [Phase("step", intervals, end - begin, feet, objective=costs)],
        periodic=Periodic(mirror=True, transition=Continuous()),
        components=[muscles or Muscles(excitations="linear", steepness=0.1)],
        unactuated=[name for name in model.joint_names if name not in motors],
        integrator=integrator,
        torque="linear",
        guess=lambda s: (q(s), qd(s)),
        options={"mu_init": 1e-2},
    )


def _by_coordinate(table: Recording) -> Recording:
    """The table with the names of coordinates for OpenSim's paths of states, .../NAME/value, without other states."""
    paths = [name for name in table.names if name.startswith("/")]
    if not paths:
        return table
    values = [name for name in paths if name.endswith("/value")]
    chosen = table.select(values)
    return replace(chosen, names=tuple(name.split("/")[-2] for name in values))


def _followed(forces: Recording, feet: list[str], over_step: Any, weight: float) -> TrackForces:
    """The cost of the forces of all feet that the recording has."""
    known = [name for name in feet if name in forces.names]
    if forces.kind != "wrenches" or not known:
        raise KeyError(
            f"muscle_tracking: forces must be wrenches on some of {repr_in_message(feet)}, which have spheres, got "
            f"{forces.kind} of {repr_in_message(list(forces.names))}"
        )
    at = [forces.names.index(name) for name in known]
    return TrackForces(known, over_step(forces.times, forces.values[:, at, 3:].reshape(len(forces.times), -1)), weight)
