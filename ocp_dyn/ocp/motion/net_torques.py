"""Net torques of joints: of motors and of the forces of components, such as muscles, together."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, split
from ...constraints import Constraint
from ...dynamics.frames import frame_jacobian
from ..equations import Equations
from ..statement.ground.wrench_footholds import WrenchFoothold


def net_torques(equations: Equations, phase: Any) -> Array:
    """Net torques (N, nv) of a `PhaseMotion`, ID(q, qd, qdd) - sum of G' lam - tau_p in the middle of every interval.

    Mean accelerations and forces stand for those of the middle.
    """
    model, h = equations.model, np.diff(phase.t)
    q, lam = SX.sym("q", model.nq), SX.sym("lam", phase.lam.shape[1])
    force = SX(model.nv, 1)
    rows = split(lam, *(len(contact.rows) for contact in phase.contacts)) if phase.contacts else []
    for contact, part in zip(phase.contacts, rows, strict=True):
        if isinstance(contact, WrenchFoothold):
            force += frame_jacobian(model, contact.name, q).T @ part
        elif isinstance(contact, Constraint):
            force += contact.jacobian(model, q).T @ part
    of_contacts = ca.Function("of_contacts", [q, lam], [ca.densify(force)])
    found = np.zeros(phase.tau.shape)
    for k, step in enumerate(h):
        change = np.array(DM(model.difference(DM(phase.q[k]), DM(phase.q[k + 1]))).full()).ravel()
        half = change / 2 + step / 8 * (phase.qd[k] - phase.qd[k + 1])
        middle = model.integrate(DM(phase.q[k]), DM(half))
        rate = DM((phase.qd[k] + phase.qd[k + 1]) / 2)
        whole = equations.inverse_dynamics(middle, rate, DM(phase.qdd[k]))
        found[k] = np.array(DM(whole - of_contacts(middle, phase.lam[k])).full()).ravel()
    return found
