"""A quantity of the instant over a phase, and its samples as expressions of the variables of a node or an interval.

A quantity of the state alone (and of torques, if they are linear along the intervals) is sampled at the nodes, any
other quantity at the stages of the intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
from casadi import SX

from ..._base.checks import call_user, expression
from ..._base.types import Expr
from ..nlp.program import BlockRows, Slot
from ..statement.instant import Instant
from ..statement.state.channels import MECHANICS
from ..statement.state.components import with_symbols
from .evolution import at_node
from .grid_numbers import PER_PHASE
from .intervals import control_points, interval_points
from .tracks import rate_of
from .variables import Transcription, completed, full_tau, model_of, place_slots, places, wrenches

COMPARED_DEPTH = 20
"""Depth to which the graphs of two expressions are compared."""

Expressions = dict[str, SX]


class _Plain(BlockRows):
    """Rows that return expressions themselves instead of symbols for them."""

    def inner(self, value: Expr) -> SX:
        return SX(value)

    def call(self, f: ca.Function, differentiable: Any, *arguments: Expr, maker: str = "") -> SX:
        return SX(f(*arguments))


class PhaseQuantity:
    """The quantity function(instant) in phase p; what: its name in messages.

    size: number of its entries; at_nodes: whether it is sampled at nodes; last: number of the last node or interval.
    """

    def __init__(self, transcription: Transcription, p: int, what: str, function: Callable[[Instant], Expr]) -> None:
        self._transcription, self._p, self._phase = transcription, p, transcription.problem.phases[p]
        self._what, self._function = f"phase {self._phase.name!r}: {what}", function
        self._shared = (
            place_slots(transcription, self._phase.held) | transcription.slots | {"T": transcription.phases[p].duration}
        )
        self._free = self._free_instant()
        value = self._of(self._free)
        self.size = int(value.numel())
        parts = {name: getattr(self._free, name) for name in (*MECHANICS, "tau_rate")} | self._free.channels
        parts |= {rate_of(name): rate for name, rate in self._free.rates.items()}
        needs = {name for name, x in parts.items() if x is not None and x.numel() and ca.depends_on(value, x)}
        tracks = transcription.phases[p].tracks
        self.at_nodes = needs <= {name for name, track in tracks.items() if track.nodes}
        self.last = self._phase.grid.count - (not self.at_nodes)
        states = {name for name, its in MECHANICS.items() if its.kind == "state"}
        states |= {c.name for c in transcription.problem.parts.channels if c.kind == "state"}
        slopes = {rate_of(c.name) for c in transcription.problem.parts.channels if c.kind == "control"}
        controls = {"tau_rate", *slopes, *(tracks.keys() - states)}
        if transcription.problem.dependent:  # accelerations and forces then follow from those of independent joints
            controls -= {name for name, its in MECHANICS.items() if its.kind == "algebraic"}
        self._by_controls = needs <= controls - {rate_of(name) for name in states}

    def slots(self, k: int) -> dict[str, Slot]:
        """The slots of node k if the quantity is sampled at nodes, else of interval k."""
        x = self._transcription.phases[self._p]
        if not self.at_nodes:
            return x.interval(k) | self._shared
        return x.node(k) | self._shared

    def samples(self, z: Expressions) -> list[tuple[float, SX]]:
        """The quantity at node z["k"], or at the stages of interval z["k"]: pairs of weight in the mean, and
        expression.

        If it is the same expression at all stages there is one sample.
        """
        t, phase = self._transcription, self._phase
        if self.at_nodes:
            z = completed(t, z)
            node = replace(self._free, model=model_of(t, z), q=z["q"], qd=z["qd"], values=z)
            node.s = z["k"] / z[PER_PHASE]
            node.places, node.channels = places(t, phase.held, z), at_node(t.problem, z)
            node.values = z | node.channels
            node.tau = full_tau(t.problem, z["tau"]) if "tau" in z else node.tau
            return [(1.0, self._of(node))]
        points = control_points(t, phase, z) if self._by_controls else interval_points(t, phase, z, _Plain())
        samples = []
        for point in points:
            samples.append((point.weight, self._of(point.instant)))
        same = all(ca.is_equal(x, samples[0][1], COMPARED_DEPTH) for _, x in samples)
        return [(1.0, samples[0][1])] if same else samples  # the weights add up to 1, except for rounding

    def mean(self, z: Expressions) -> SX:
        """The quantity at the node, or its mean over the interval."""
        (weight, first), *rest = self.samples(z)
        return sum((w * x for w, x in rest), start=weight * first)

    def _free_instant(self) -> Instant:
        """An instant of free symbols: the quantity's value at it shows on which parts of the instant it depends."""
        t, phase = self._transcription, self._phase
        nq, nv = t.problem.model.nq, t.problem.model.nv
        held = (*phase.held, *t.problem.coordinates.held)
        values = {name: SX.sym(name, slot.size) for name, slot in self._shared.items()}
        here, lam = places(t, phase.held, values), SX.sym("lam", sum(f.size for f in held))
        q, qd, qdd, tau = SX.sym("q", nq), SX.sym("qd", nv), SX.sym("qdd", nv), SX.sym("tau", nv)
        forces = wrenches(phase.held, lam, here)
        rate = SX.sym("tau_rate", nv) if t.problem.torque == "linear" else None
        free = Instant(model_of(t, values), q, qd, SX.sym("s"), qdd, tau, forces, here, values, lam=lam, tau_rate=rate)
        return with_symbols(free, t.problem.parts.channels)

    def _of(self, instant: Instant) -> SX:
        result = call_user(self._what, self._function, instant, values=instant.values)
        value = expression(result, f"{self._what}: the quantity")
        if value.numel() and value.shape[1] != 1:
            raise ValueError(
                f"{self._what}: the quantity must be a column, got shape {value.shape}: casadi.vec makes it one"
            )
        return value


def needed(
    slots: dict[str, Slot], build: Callable[[Expressions], SX], here: Expressions
) -> tuple[dict[str, Slot], Expressions, SX]:
    """The slots on which an expression depends, symbols for all slots, and the expression of these.

    build: makes the expression from the expressions of the slots and the numbers of the grid; here: symbols for these.
    """
    free = {name: SX.sym(name, slot.size) for name, slot in slots.items()}
    value = build(free | here)
    used = ca.vertcat(SX(0, 1), *ca.symvar(value))
    return {name: slot for name, slot in slots.items() if ca.depends_on(used, free[name])}, free, value
