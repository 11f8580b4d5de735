"""Costs on rates: of torques, accelerations and contact forces, from one interval to the next."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._arguments import called, scalar
from ..._types import Expr
from ..nlp.program import Rows, Slot, Variable
from ..statement.costs import RateObjective, objective_name
from ..statement.phases import Phase
from .variables import FORCE_SCALE, Transcription, full_tau


def add_rates(t: Transcription, p: int, phase: Phase) -> None:
    """Adds the rate costs of a phase: within it and, for torques, from its end into the next phase."""
    terms = [term for term in phase.objective if isinstance(term, RateObjective)]
    for quantity in ("tau", "a", "lam"):
        chosen = [term for term in terms if getattr(term, "of", "tau") == quantity]
        if not chosen:
            continue
        _add_inside(t, p, phase, quantity, chosen)
        if quantity == "tau":
            _add_between(t, p, phase, chosen)


def _add_inside(t: Transcription, p: int, phase: Phase, quantity: str, terms: list[RateObjective]) -> None:
    """Adds the costs within a phase: the rate is the difference between two neighbouring intervals over their
    length."""
    x = t.phases[p]
    held: list[Variable] = getattr(x, quantity)
    if not held:
        if quantity == "a" or phase.footholds:
            raise ValueError(
                f"phase {phase.name!r}: {type(terms[0]).__name__} needs {quantity} as variables: use form='implicit'"
            )
        return
    slots = {"x": held[0], "x1": held[-1], "T": x.duration} | _per_distance(t)

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = z["T"] / phase.intervals
        before, after = (_whole(t, quantity, z[key]) for key in ("x", "x1"))
        _cost(t, rows, terms, (after - before) / h, h, z)

    block = t.program.block(f"{quantity} rate in {phase.name}", slots, body)
    for first, second in pairwise(held):
        block.add(slots | {"x": first, "x1": second})


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
        rows.cost(name, term.weight * h * per * scalar(called(name, term.rate_integrand, rate), f"cost {name!r}"))


def _whole(t: Transcription, quantity: str, x: SX) -> Expr:
    """Torques of all dofs, zero without a motor; for accelerations and forces their means over the stages."""
    if quantity == "tau":
        return full_tau(t.problem, x)
    weights = np.tile(t.problem.scheme.b, t.problem.steps) / t.problem.steps
    return ca.reshape(x, -1, weights.size) @ ca.DM(weights)


def _per_distance(t: Transcription) -> dict[str, Slot]:
    """The slot of the step length, if costs are divided by it."""
    return {"step_length": t.step_length} if t.problem.per_distance and t.step_length is not None else {}
