"""First guesses as their users write them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..._arguments import finite, not_negative


@dataclass(frozen=True)
class FootPlan:
    """A guess by feet: `Problem(guess=FootPlan())`.

    strike, leave [rad]: pitch of a foot that strikes on an edge, and of one that leaves from an edge; lift [m]: height
    of the middle of a swing above its ends; crouch: how much lower than standing the base is, as a fraction.
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
