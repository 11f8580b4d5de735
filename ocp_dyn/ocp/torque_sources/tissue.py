"""Cost of the load on passive tissue: muscles at rest, ligaments, joint stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..._base.checks import divide_by_scale
from ..._base.types import Expr
from ...dynamics.passive_torques import passive_force
from ...functions.function import function
from ...mechanism import Model
from ...mechanism.loads import SLIP_SPEED
from ..statement.instant import Instant
from ..statement.objectives import LeastSquares, base_size, own_by_speed, own_name
from ..statement.values.parameters import Parameter


@dataclass(frozen=True)
class PassiveTorqueSquared(LeastSquares):
    """sum of (tau_p(q) / scale)^2 [(N m)^2 for scale 1]: the squared torques of the model's springs and passive
    elements.

    tau_p is `passive_force` at rest, without damping and friction. Passive torques cost no activation, so without this
    term a motion of least effort hangs in the ligaments: it stretches tissue to the ends of the joints' ranges because
    the energy comes back for nothing. People avoid the load. scale [N m]: a number, or one per entry of tau, such as
    `model.dofs.strength()`: then a load of tissue counts like an equal load of a muscle, times the weight. A floating
    or planar root is left out. ValueError for a model without springs and passive elements.

    >>> sprung = wheel.with_passive([od.OneSidedSpring(wheel.qd_names[0], 10.0, start=0.5)])
    >>> still = ocp.Instant(sprung, ca.DM([1.5]), ca.DM([0.0]))
    >>> float(ocp.PassiveTorqueSquared(scale=10.0).integrand(still))  # the spring is stretched by 1 rad
    1.0
    """

    weight: float | Parameter = 1.0
    scale: Any = 1.0
    name: str = own_name()
    by_speed: tuple[float, float] | None = own_by_speed()
    of_dofs = ("scale",)
    changing = ("scale",)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        super().check(model, feet)
        if not model.passive and not model.dofs.stiffness.any():
            raise ValueError(
                f"PassiveTorqueSquared: the model {model.name!r} has no springs and no passive elements, so the cost "
                "would be zero: leave it out, or give the model some (model.with_passive, add_body(stiffness=))"
            )

    def residual(self, instant: Instant) -> Expr:
        model = instant.model
        rest = ca.DM(model.nv, 1)
        if model.has_symbols:
            force = passive_force(model, instant.q, rest)
        else:  # made once for all stages, and for the equations of motion
            made = function(passive_force, model, signature="q qd -> tau_p", slip_speed=SLIP_SPEED)
            force = made(instant.q, rest)
        scaled = divide_by_scale(force, self.scale, "PassiveTorqueSquared scale")
        return scaled[base_size(model) :]
