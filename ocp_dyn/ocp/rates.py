"""Costs of rates: of torques, accelerations, contact forces, or any quantity of the stage.

A rate is a difference quotient within a phase, over the length h of an interval. A quantity of the state alone (and of
torques, where they are linear) is compared at neighbouring nodes, any other by its means over neighbouring intervals,
with the weights of the scheme. The cost is the sum of h times the integrand: its limit, as intervals become shorter, is
the integral over the phase. Costs of torques go on from phase to phase.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
from casadi import SX

from .._types import Expr
from .arguments import called, expression, scalar
from .nlp import Rows, Slot
from .objectives import RateObjective, objective_name
from .phases import Phase
from .stage import Stage
from .steps import control_points, interval_points
from .variables import FORCE_SCALE, Transcription, full_tau, model_of, place_slots, places, wrenches

SAME_DEPTH = 20
"""Depth to which two expressions are compared."""


def add_rates(t: Transcription, p: int, phase: Phase) -> None:
    """Adds the rate costs of a phase: within it and, for torques, from its end into the next phase."""
    terms = [term for term in phase.objective if isinstance(term, RateObjective)]
    for term in terms:
        _add_inside(t, p, phase, term)
    continuing = [term for term in terms if getattr(term, "continues", False)]
    if continuing:
        _add_between(t, p, phase, continuing)


class _Plain(Rows):
    """Rows that give back the expressions themselves, in place of symbols for them."""

    def inner(self, value: Expr) -> SX:
        return SX(value)

    def call(self, f: ca.Function, differentiable: Any, *arguments: Expr) -> SX:
        return SX(f(*arguments))


class _Quantity:
    """The quantity of a rate cost in phase p: its value at a node, or its mean over an interval."""

    def __init__(self, t: Transcription, p: int, term: RateObjective) -> None:
        self._t, self._p, self._term, self._phase = t, p, term, t.problem.phases[p]
        self._what = f"phase {self._phase.name!r}: {type(term).__name__} {objective_name(term)!r}"
        self._shared = place_slots(t, self._phase.held) | t.slots | {"T": t.phases[p].duration}
        self._free = self._free_stage()
        parts = {name: getattr(self._free, name) for name in ("q", "v", "a", "tau", "lam")}
        value = self._of(self._free)
        needs = {name for name, x in parts.items() if x.numel() and ca.depends_on(value, x)}
        self.at_nodes = needs <= ({"q", "v", "tau"} if t.problem.torque == "linear" else {"q", "v"})
        controls = {"tau", *(["a"] if t.problem.collocated else []), *(["lam"] if t.problem.form == "implicit" else [])}
        self._by_controls = needs <= controls

    def slots(self, k: int) -> dict[str, Slot]:
        """Slots of node k, or of interval k."""
        x = self._t.phases[self._p]
        if not self.at_nodes:
            return x.interval(k) | self._shared
        return {"q": x.q[k], "v": x.v[k]} | ({"tau": x.tau[k]} if len(x.tau) == len(x.q) else {}) | self._shared

    def value(self, z: dict[str, SX]) -> SX:
        """The quantity at the node, or its mean over the interval, of number z["k"]."""
        t, phase = self._t, self._phase
        if self.at_nodes:
            node = replace(self._free, model=model_of(t, z), q=z["q"], v=z["v"], s=z["k"] / phase.intervals, values=z)
            node.places = places(t, phase.held, z)
            node.tau = full_tau(t.problem, z["tau"]) if "tau" in z else node.tau
            return self._of(node)
        points = control_points(t, phase, z) if self._by_controls else interval_points(t, phase, z, _Plain())
        found = []
        for point in points:
            point.stage.s = (z["k"] + point.fraction) / phase.intervals
            found.append(self._of(point.stage))
        if all(ca.is_equal(x, found[0], SAME_DEPTH) for x in found[1:]):
            return found[0]  # not a sum of weights, which add up to 1 but for rounding
        return sum((point.weight * x for point, x in zip(points, found, strict=True)), start=SX(0))

    def _free_stage(self) -> Stage:
        """A stage of free symbols: the quantity's value there tells what it depends on."""
        t, phase = self._t, self._phase
        nq, nv = t.problem.model.nq, t.problem.model.nv
        values = {name: SX.sym(name, slot.size) for name, slot in self._shared.items()}
        here, lam = places(t, phase.held, values), SX.sym("lam", sum(f.size for f in phase.held))
        q, v, a, tau = SX.sym("q", nq), SX.sym("v", nv), SX.sym("a", nv), SX.sym("tau", nv)
        forces = wrenches(phase.held, lam, here)
        return Stage(model_of(t, values), q, v, SX.sym("s"), a, tau, forces, here, values, lam=lam)

    def _of(self, stage: Stage) -> SX:
        found = called(self._what, self._term.quantity, stage, values=stage.values)
        value = expression(found, f"{self._what}: the quantity")
        if value.numel() and value.shape[1] != 1:
            raise ValueError(
                f"{self._what}: the quantity must be a column, got shape {value.shape}: casadi.vec makes it one"
            )
        return value


def _add_inside(t: Transcription, p: int, phase: Phase, term: RateObjective) -> None:
    """Adds the cost within a phase."""
    quantity = _Quantity(t, p, term)
    last = phase.intervals if quantity.at_nodes else phase.intervals - 1
    first, names = _pair(quantity.slots(0), quantity.slots(min(1, last)))
    first |= _per_distance(t)
    unused = {name: SX.sym(name, slot.size) for name, slot in first.items()}
    used = ca.vertcat(*ca.symvar(_difference(quantity, names, unused | {"k": SX.sym("k")})))
    always = {"T", *_per_distance(t)}
    kept = [name for name, x in unused.items() if name in always or ca.depends_on(used, x)]

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = z["T"] / phase.intervals
        difference = _difference(quantity, names, unused | z)
        if difference.numel():
            _cost(t, rows, [term], difference / h, h, z)

    block = t.program.block(f"{objective_name(term)} in {phase.name}", {name: first[name] for name in kept}, body, k=1)
    for k in range(last):
        slots = _pair(quantity.slots(k), quantity.slots(k + 1))[0] | _per_distance(t)
        block.add(slots, k=k)


def _pair(one: dict[str, Slot], other: dict[str, Slot]) -> tuple[dict[str, Slot], dict[str, str]]:
    """The slots of two nodes or intervals, a variable once, and the names of the second one's slots among them."""
    shared = {slot: name for name, slot in one.items()}
    names = {name: shared.get(slot, f"next {name}") for name, slot in other.items()}
    return one | {names[name]: slot for name, slot in other.items()}, names


def _difference(quantity: _Quantity, names: dict[str, str], z: dict[str, SX]) -> SX:
    """The quantity at the second node, or over the second interval, less that of the first."""
    after = z | {name: z[key] for name, key in names.items()} | {"k": z["k"] + 1}
    return quantity.value(after) - quantity.value(z)


def _add_between(t: Transcription, p: int, phase: Phase, terms: list[RateObjective]) -> None:
    """Adds the costs from the phase's last torques to the next phase's first; in a periodic motion from the last to the
    first.

    Torques that are linear along the intervals are constrained to be continuous there; for constant ones the difference
    has a cost.
    """
    problem, x = t.problem, t.phases[p]
    last = p == len(problem.phases) - 1
    if last and problem.periodic is None:
        return
    following = (p + 1) % len(problem.phases)
    y, other = t.phases[following], problem.phases[following]
    slots = {"x": x.tau[-1], "x1": y.tau[0], "T": x.duration} | _per_distance(t)
    slots |= {"T1": y.duration} if y is not x else {}

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = (z["T"] / phase.intervals + z.get("T1", z["T"]) / other.intervals) / 2
        before, after = (full_tau(problem, z[key]) for key in ("x", "x1"))
        turned = t.mirror.qd(before) if last and t.mirror is not None else before
        if problem.torque == "linear":  # a jump would have no rate
            rows.constrain("continuous torque", (after - turned)[problem.actuated], scale=FORCE_SCALE)
            return
        _cost(t, rows, terms, (after - turned) / h, h, z)

    t.program.block(f"torque rate after {phase.name}", slots, body).add(slots)


def _cost(t: Transcription, rows: Rows, terms: list[RateObjective], rate: Any, h: SX, z: dict[str, SX]) -> None:
    per = 1 / z["step_length"] if t.problem.per_distance else 1.0
    for term in terms:
        name = objective_name(term)
        integrand = scalar(called(name, term.rate_integrand, rate), f"cost {name!r}")
        residual = getattr(term, "rate_residual", None)
        squares = [(term.weight * h * per, residual(rate))] if residual is not None else []
        rows.cost(name, term.weight * h * per * integrand, squares)


def _per_distance(t: Transcription) -> dict[str, Slot]:
    """The slot of the step length, if costs are divided by it."""
    return {"step_length": t.step_length} if t.problem.per_distance and t.step_length is not None else {}
