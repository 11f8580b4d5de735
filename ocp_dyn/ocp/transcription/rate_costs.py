"""Costs of rates of torques, accelerations, contact forces, or any quantity of the instant.

Within a phase, a rate is a difference quotient over the length h of an interval: between neighboring nodes, or between
the means of neighboring intervals, see `quantities`. The cost is the sum of h times the integrand: its limit, as
intervals become shorter, is the integral over the phase. Costs of torques continue from phase to phase.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from ..._arguments import called, scalar
from ..nlp.program import Rows, Slot
from ..statement.objectives import RateObjective, objective_name
from ..statement.phases import Phase
from .period import distance_of
from .quantities import PhaseQuantity, needed
from .variables import FORCE_SCALE, Transcription, full_tau


def add_rates(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds the rate costs of a phase: within it and, for torques, from its end into the next phase."""
    terms = [term for term in phase.objective if isinstance(term, RateObjective)]
    for term in terms:
        _add_inside(transcription, p, phase, term)
    continuing = [term for term in terms if getattr(term, "continues", False)]
    if continuing or _holds_torques(transcription, p):
        _add_between(transcription, p, phase, continuing)


def _holds_torques(transcription: Transcription, p: int) -> bool:
    """Whether a term of phase p or of the next phase, such as `Activation`, allows no jump of the torques between
    them."""
    phases = transcription.problem.phases
    terms = (t for phase in (phases[p], phases[(p + 1) % len(phases)]) for t in (*phase.path, *phase.objective))
    return any(getattr(term, "needs_tau_rate", False) for term in terms)


def _add_inside(transcription: Transcription, p: int, phase: Phase, term: RateObjective) -> None:
    """Adds the cost within a phase."""
    quantity = PhaseQuantity(transcription, p, f"{type(term).__name__} {objective_name(term)!r}", term.quantity)
    first, names = _pair(quantity.slots(0), quantity.slots(min(1, quantity.last)))

    def difference(z: dict[str, SX]) -> SX:
        after = z | {name: z[key] for name, key in names.items()} | {"k": z["k"] + 1}
        return quantity.mean(after) - quantity.mean(z)

    slots, free = needed(first, difference)
    slots |= {"T": transcription.phases[p].duration} | _per_distance(transcription)

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = z["T"] / phase.intervals
        _cost(transcription, rows, [term], difference(free | z) / h, h, z)

    block = transcription.program.block(f"{objective_name(term)} in {phase.name}", slots, body, k=1)
    for k in range(quantity.last if quantity.size else 0):
        block.add(_pair(quantity.slots(k), quantity.slots(k + 1))[0] | _per_distance(transcription), k=k)


def _pair(one: dict[str, Slot], other: dict[str, Slot]) -> tuple[dict[str, Slot], dict[str, str]]:
    """The slots of two nodes or intervals, every variable once, and the names that the slots of the second have in
    them."""
    shared = {slot: name for name, slot in one.items()}
    names = {name: shared.get(slot, f"next {name}") for name, slot in other.items()}
    return one | {names[name]: slot for name, slot in other.items()}, names


def _add_between(transcription: Transcription, p: int, phase: Phase, terms: list[RateObjective]) -> None:
    """Adds the costs of the change from the phase's last torques to the first torques of the next phase; in a periodic
    motion the first phase follows the last.

    Torques that are linear along the intervals are constrained to be continuous between the phases; for constant
    torques the difference has a cost.
    """
    problem, x = transcription.problem, transcription.phases[p]
    last = p == len(problem.phases) - 1
    if last and problem.periodic is None:
        return
    following = (p + 1) % len(problem.phases)
    y, other = transcription.phases[following], problem.phases[following]
    slots = {"x": x.tau[-1], "x1": y.tau[0], "T": x.duration} | _per_distance(transcription)
    slots |= {"T1": y.duration} if y is not x else {}

    def body(z: dict[str, SX], rows: Rows) -> None:
        h = (z["T"] / phase.intervals + z.get("T1", z["T"]) / other.intervals) / 2
        before, after = (full_tau(problem, z[key]) for key in ("x", "x1"))
        turned = transcription.mirror.qd(before) if last and transcription.mirror is not None else before
        if problem.torque == "linear":  # a jump would have no rate
            rows.constrain("continuous torque", (after - turned)[problem.actuated], scale=FORCE_SCALE)
            return
        _cost(transcription, rows, terms, (after - turned) / h, h, z)

    transcription.program.block(f"torque rate after {phase.name}", slots, body).add(slots)


def _cost(
    transcription: Transcription, rows: Rows, terms: list[RateObjective], rate: Any, h: SX, z: dict[str, SX]
) -> None:
    per = 1 / ca.fabs(distance_of(z)) if transcription.problem.per_distance else 1.0
    for term in terms:
        name = objective_name(term)
        integrand = scalar(called(name, term.rate_integrand, rate), f"cost {name!r}")
        residual = getattr(term, "rate_residual", None)
        squares = [(term.weight * h * per, residual(rate))] if residual is not None else []
        rows.cost(name, term.weight * h * per * integrand, squares)


def _per_distance(transcription: Transcription) -> dict[str, Slot]:
    """The slots of the step's distance, if costs are divided by it."""
    names = ("step_length", "sideways") if transcription.problem.per_distance else ()
    return {name: transcription.step[name] for name in names if name in transcription.step}
