"""Costs of rates in phases of one interval: a quantity that has one value per interval has no rate there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
from casadi import SX

from ..._types import Expr, split
from ...mechanism import Model
from .costs import RateObjective, objective_name
from .footholds import Foothold
from .instant import Instant
from .phases import Parameter, Phase


def check_rates(
    model: Model, phases: Sequence[Phase], parameters: Sequence[Parameter], *, linear: bool, periodic: bool
) -> None:
    """ValueError for the cost of a rate that is zero in the whole problem, whatever the motion: it stands only in phases
    of one interval, its quantity has one value per interval, and it does not continue into a following phase.

    linear: whether torques are linear along the intervals, and so have values at the nodes. Terms of one name count as
    one, because phases often share their costs.
    """
    idle: dict[str, str] = {}
    counted: set[str] = set()
    for phase in phases:
        for term in phase.objective:
            if not isinstance(term, RateObjective):
                continue
            continues = getattr(term, "continues", False) and (periodic or phase is not phases[-1])
            if phase.intervals == 1 and not continues and _per_interval(term, model, phase, parameters, linear):
                idle.setdefault(objective_name(term), phase.name)
            else:
                counted.add(objective_name(term))
    for name, where in idle.items():
        if name not in counted:
            raise ValueError(
                f"phase {where!r} has one interval, and the quantity of {name!r} one value in it, so its rate would cost "
                "nothing: give the phase two intervals or more, or leave the term out"
            )


class _Values(dict[str, Any]):
    """The values of an instant by name; of names that are not known yet, a symbol."""

    def __missing__(self, name: str) -> Expr:
        return SX.sym(name)


def _per_interval(
    term: RateObjective, model: Model, phase: Phase, parameters: Sequence[Parameter], linear: bool
) -> bool:
    """Whether the quantity of a term depends on accelerations, contact forces or constant torques."""
    q, qd, s = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("s")
    qdd, tau, lam = SX.sym("qdd", model.nv), SX.sym("tau", model.nv), SX.sym("lam", sum(f.size for f in phase.held))
    feet = [f for f in phase.held if isinstance(f, Foothold)]
    places = {f: SX.sym("place", 3) for f in feet}
    forces = dict(zip(phase.held, split(lam, *(f.size for f in phase.held)) if phase.held else (), strict=True))
    wrenches = {f: f.wrench(forces[f], places[f]) for f in feet}
    values = _Values({p.name: SX.sym(p.name, p.size) for p in parameters})
    try:
        value = SX(term.quantity(Instant(model, q, qd, s, qdd, tau, wrenches, places, values, lam=lam)))
    except Exception:  # noqa: BLE001, what is wrong with the user's function is told when it is used
        return False
    return bool(value.numel() and ca.depends_on(value, ca.vertcat(qdd, lam, *([] if linear else [tau]))))
