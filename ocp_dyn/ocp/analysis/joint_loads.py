"""Loads of joints along a solved motion."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, repr_in_message
from ...constraints import Contact, RollingContact
from ..motion.motion import Motion, PhaseMotion
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.instant import Instant
from ..torque_sources.joint_loads import JointLoad
from .component_flow import parameters


def joint_load(solution: Motion, load: Any) -> Array:
    """The load of a joint in the middle of every interval (intervals x 6), or (intervals x 2) with compartments."""
    if not isinstance(load, JointLoad):
        raise TypeError(f"joint_load: give an ocp.JointLoad, got {repr_in_message(load)}")
    load.check(solution.model)
    found = [_of_phase(solution, phase, load) for phase in solution.phases]
    return np.concatenate(found) if found else np.zeros((0, load.size))


def _of_phase(solution: Motion, phase: PhaseMotion, load: JointLoad) -> Array:
    model, n = solution.model, len(phase.tau)
    halves = [np.array(model.integrate(DM(a), model.difference(DM(a), DM(b)) / 2)).ravel()
              for a, b in zip(phase.q[:-1], phase.q[1:], strict=True)]  # fmt: skip
    channels = {name: x if len(x) == n else (x[:-1] + x[1:]) / 2 for name, x in phase.channels.items()}
    held: list[Any] = []
    for contact in phase.contacts:
        if isinstance(contact, WrenchFoothold):
            held.append(contact)
        elif isinstance(contact, (Contact, RollingContact)) and contact.name in phase.places:
            held.append(phase.foothold(contact))
    columns = [np.array(halves), (phase.qd[:-1] + phase.qd[1:]) / 2, phase.qdd,
               *(phase.wrenches[foot.name] for foot in held), *channels.values()]  # fmt: skip
    z = [SX.sym("z", x.shape[1]) for x in columns]
    wrenches = dict(zip(held, z[3:], strict=False))
    at = dict(zip(channels, z[3 + len(held) :], strict=True))
    values = {name: DM(x) for name, x in parameters(solution).items()} | at
    instant = Instant(model, z[0], z[1], qdd=z[2], tau=SX(model.nv, 1), wrenches=wrenches, channels=at, values=values)
    f = ca.Function("load", z, [ca.densify(load(instant))], {"cse": True})
    rows: Array = np.array(f.map(n)(*(x.T for x in columns))).T
    return rows
