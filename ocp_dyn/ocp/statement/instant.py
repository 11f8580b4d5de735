"""One instant of a motion: the expressions from which costs and path constraints are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..._types import Expr
from ...mechanism import Model
from .footholds import CompliantFoothold, Foothold


@dataclass
class Instant:
    """One instant of a motion, as expressions.

    q (nq), qd, qdd, tau (nv; tau is zero for unactuated joints). tau_rate (nv) [N m/s, N/s]: d(tau)/dt within an interval,
    (tau1 - tau) / h over its length h; None for `torque="constant"`, whose steps have no rate. wrenches: [moment; force] (6) at every foothold, world
    axes [N m; N]; places: (x, y, yaw) of every foothold but compliant ones in the coordinates of its plane. lam: forces of all rows of
    contacts and constraints of the phase. s: fraction of the phase that has passed, 0 to 1. values: variables and
    parameters of the problem by name, such as `step_length` [m] and `time` [s] of the whole motion; in a Boundary also
    the durations `T0`, `T1`, ... [s] of the phases. slacks, references:
    variables and reference values of single objectives, by objective. impulse: True at an impact, where wrenches are
    impulses [N m s; N s]. Quantities that are unknown at this instant are None, or missing in the dictionaries.

    >>> instant.tau * instant.qd  # the power in the instant of the examples
    DM(3)
    >>> seen = ocp.Integral(lambda instant: ca.sumsqr(instant.qd) * instant.s, name="late speed")
    >>> round(turn(seen, ocp.TorqueSquared(1e-3)).solve(progress=False).cost["late speed"], 2)
    0.36
    """

    model: Model
    q: Expr
    qd: Expr
    s: Expr = 0.0
    qdd: Expr = None
    tau: Expr = None
    wrenches: dict[Foothold | CompliantFoothold, Expr] = field(default_factory=dict)
    places: dict[Foothold, Expr] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    slacks: dict[Any, Expr] = field(default_factory=dict)
    references: dict[Any, Expr] = field(default_factory=dict)
    impulse: bool = False
    lam: Expr = None
    tau_rate: Expr = None
