"""One instant of a motion: the expressions from which costs and path constraints are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..._base.types import Expr, repr_in_message, suggestion
from ...mechanism import Model
from .footholds import Foothold
from .ground.wrench_footholds import WrenchFoothold
from .state.channels import MECHANICS


class Rates(dict[str, Expr]):
    """Rates of channels by name; a KeyError in words for one that is not known."""

    def __missing__(self, name: str) -> Expr:
        raise KeyError(
            f"no rate of {repr_in_message(name)} is known at this instant; there are {', '.join(self) or 'none'}"
            f"{suggestion(name, list(self))}. Rates of states are known in `rows`; in `derivatives` and `force` only "
            "those of controls with a rate are"
        )


@dataclass
class Instant:
    """One instant of a motion, as expressions.

    q (nq), qd, qdd, tau (nv; tau is zero for unactuated joints). tau_rate (nv) [N m/s, N/s]: d(tau)/dt within an
    interval, (tau1 - tau) / h over its length h; None for `torque="constant"`, whose steps have no rate. wrenches:
    [moment; force] (6) at every foothold, world axes [N m; N]; places: (x, y, yaw) of every foothold that has one
    in the coordinates of its plane. lam: forces of all rows of contacts and constraints of the phase. s: fraction of
    the phase that has passed, 0 to 1. values: variables and parameters of the problem by name, such as `step_length`
    [m] and `time` [s] of the whole motion; in a Boundary also the durations `T0`, `T1`, ... [s] of the phases. slacks,
    references: variables and reference values of single objectives, by objective. channels: values of the channels of
    components, `instant["heat"]`; rates: derivatives of their states and of their controls with a rate. impulse: True
    at an impact, where wrenches are impulses [N m s; N s]. Quantities that are unknown at this instant are None, or
    missing in the dictionaries.

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
    wrenches: dict[Foothold | WrenchFoothold, Expr] = field(default_factory=dict)
    places: dict[Foothold, Expr] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    slacks: dict[Any, Expr] = field(default_factory=dict)
    references: dict[Any, Expr] = field(default_factory=dict)
    impulse: bool = False
    lam: Expr = None
    tau_rate: Expr = None
    channels: dict[str, Expr] = field(default_factory=dict)
    rates: dict[str, Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rates = Rates(self.rates)

    def __getitem__(self, name: str) -> Expr:
        """The value of a channel: of a component, or one of q, qd, qdd, tau, lam. KeyError for one that is not known at
        this instant."""
        found = self.channels.get(name) if name not in MECHANICS else getattr(self, name)
        if found is None:
            known = [*self.channels, *(key for key in MECHANICS if getattr(self, key) is not None)]
            raise KeyError(
                f"no channel {repr_in_message(name)} is known at this instant; there are {', '.join(known)}"
                f"{suggestion(name, known)}"
            )
        return found
