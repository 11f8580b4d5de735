"""Settings of first guesses that users write."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..._arguments import finite, not_negative


@dataclass(frozen=True)
class FootPlan:
    """A first guess from a plan of the feet: `Problem(guess=FootPlan())`.

    strike, leave [rad]: pitch of a foot when it strikes the ground on an edge, and when it leaves the ground from an
    edge. lift [m]: height of the middle of a swing above its ends. crouch: lowering of the base, as a fraction of its
    height when standing.

    >>> plan = ocp.FootPlan(lift=0.1)
    >>> float(np.degrees(plan.strike).round(3))  # degrees
    20.0
    """

    strike: float = math.radians(20.0)
    leave: float = math.radians(45.0)
    lift: float = 0.06
    crouch: float = 0.05

    def __post_init__(self) -> None:
        for key in ("strike", "leave"):
            if not abs(finite(getattr(self, key), f"FootPlan {key} [rad]")) < math.pi:
                raise ValueError(f"FootPlan {key} is an angle in rad, below pi, got {getattr(self, key)!r}")
        not_negative(self.lift, "FootPlan lift [m]")
        if not 0 <= finite(self.crouch, "FootPlan crouch") < 1:
            raise ValueError(f"FootPlan crouch must lie in [0, 1), a fraction of the height, got {self.crouch!r}")
