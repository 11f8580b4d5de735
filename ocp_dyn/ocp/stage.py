"""What the terms of a problem look at: one stage of the motion, and the feet it stands on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .._types import Expr
from ..constraints import Contact
from ..model import Model


def as_bounds(value: Any, what: str) -> tuple[float, float]:
    """(lower, upper) of one number, or of two."""
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape not in ((1,), (2,)) or not numbers[0] <= numbers[-1]:
        raise ValueError(f"{what} must be a number or (lower, upper) with lower <= upper, got {value!r}")
    return float(numbers[0]), float(numbers[-1])


@dataclass(frozen=True, eq=False)
class Foothold:
    """A contact held on the ground plane z = 0, at a place that may be free in bounds.

    contact: `od.Contact`; without axes the foot lies flat (six rows), with axes "xyz" or "xz" it is a point.
    x, y [m], yaw [rad]: a number, or (lower, upper). half_length, half_width [m]: the sole about the contact point,
    for the centre of pressure. One Foothold used in phases that follow each other is one place on the
    ground; a phase that names it first sets the foot down.
    """

    contact: Contact
    x: Any = (-10.0, 10.0)
    y: Any = (-10.0, 10.0)
    yaw: Any = 0.0
    half_length: float = 0.0
    half_width: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.contact, Contact):
            raise TypeError(f"Foothold needs a Contact, such as od.Contact('foot'), got {self.contact!r}")
        for key in ("x", "y", "yaw"):
            object.__setattr__(self, key, as_bounds(getattr(self, key), f"Foothold {key}"))
        for key in ("half_length", "half_width"):
            if not getattr(self, key) >= 0:
                raise ValueError(f"Foothold {key} [m] must not be negative, got {getattr(self, key)!r}")

    @property
    def name(self) -> str:
        return self.contact.name

    @property
    def size(self) -> int:
        """Number of contact rows."""
        return len(self.contact.rows)

    def position(self, model: Model, q: Expr, place: Expr) -> Expr:
        """phi of the contact at place = (x, y, yaw): zero while the foot stays put."""
        c, s = ca.cos(place[2]), ca.sin(place[2])
        R = ca.blockcat([[c, -s, SX(1, 1)], [s, c, SX(1, 1)], [SX(1, 2), SX(1)]])
        return self.contact.position_from(model, q, R, ca.vertcat(place[0], place[1], SX(1, 1)))

    def wrench(self, lam: Expr) -> Expr:
        """[moment; force] on the foot at the contact point, world axes, from the contact's rows."""
        if self.contact.axes is None:
            return lam
        directions = ca.DM(self.contact.axes)
        return ca.vertcat(type(lam)(3, 1), ca.sparsify(directions).T @ lam)


@dataclass
class Stage:
    """One stage of a motion, as expressions.

    q, v, a, tau (nv, zero where unactuated); wrenches [moment; force] at every foothold, world axes, and
    places (x, y, yaw); s: fraction of the phase that has passed, 0 to 1; values: the problem's own
    variables by name, among them `step_length` and `time` [s] of the whole motion.
    """

    model: Model
    q: Expr
    v: Expr
    s: Expr = 0.0
    a: Expr = None
    tau: Expr = None
    wrenches: dict[Foothold, Expr] = field(default_factory=dict)
    places: dict[Foothold, Expr] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
