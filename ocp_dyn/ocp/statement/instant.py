"""One instant of a motion, in which costs and path constraints are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..._types import Expr
from ...mechanism import Model
from .footholds import Foothold


@dataclass
class Instant:
    """One stage of a motion, as expressions.

    q, qd, qdd, tau (nv, zero where unactuated); wrenches [moment; force] at every foothold, world axes, and places (x, y,
    yaw) in the coordinates of their planes; lam: rows of all contacts and constraints of the phase; s: fraction of the phase that has passed, 0 to 1; values: the problem's own variables by name, among them
    `step_length` and `time` [s] of the whole motion; slacks and references: variables and reference values of single
    objectives, by objective. impulse: True at an impact, where wrenches are impulses [N m s; N s].
    """

    model: Model
    q: Expr
    qd: Expr
    s: Expr = 0.0
    qdd: Expr = None
    tau: Expr = None
    wrenches: dict[Foothold, Expr] = field(default_factory=dict)
    places: dict[Foothold, Expr] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    slacks: dict[Any, Expr] = field(default_factory=dict)
    references: dict[Any, Expr] = field(default_factory=dict)
    impulse: bool = False
    lam: Expr = None
