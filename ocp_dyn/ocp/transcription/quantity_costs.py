"""Costs of quantities of the instant: of their rates, and of their largest values; for their samples see `quantities`.

Rates of torques, accelerations, contact forces, or any quantity. Within a phase, a rate is a difference quotient over
the length h of an interval: between neighboring nodes, or between the means of neighboring intervals. The cost is the
sum of h times the integrand: its limit, as intervals become shorter, is the integral over the phase. Costs of torques
continue from phase to phase.

Largest values: a variable bounds all samples of the quantity from above. Minimizing the variable minimizes the peak,
and all functions stay smooth.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.checks import call_user, divide_by_scale, scalar
from ..nlp.program import BlockRows, Slot, Span, Variable
from ..statement.custom_costs import Peak
from ..statement.objectives import RateCost
from ..statement.phases import Phase
from .grid_numbers import NEXT, PER_PHASE, following, numbers, sizes, symbols
from .instant_quantities import PhaseQuantity, needed
from .tracks import FORCE_SCALE
from .variables import Transcription, distance_of, full_tau, weight_of, weight_slots


def add_rates(transcription: Transcription, p: int, phase: Phase) -> None:
    """Adds the rate costs of a phase: within it and, for torques, from its end into the next phase."""
    terms = [term for term in phase.objective if isinstance(term, RateCost)]
    for term in terms:
        _add_inside(transcription, p, phase, term)
    continuing = [term for term in terms if term.continues]
    if continuing or _holds_torques(transcription, p):
        _add_between(transcription, p, phase, continuing)


def _holds_torques(transcription: Transcription, p: int) -> bool:
    """Whether a term of phase p or of the next phase, such as `Activation`, allows no jump of the torques between
    them."""
    phases = transcription.problem.phases
    terms = (t for phase in (phases[p], phases[(p + 1) % len(phases)]) for t in (*phase.path, *phase.objective))
    return any(term.needs_tau_rate for term in terms)


def _add_inside(transcription: Transcription, p: int, phase: Phase, term: RateCost) -> None:
    """Adds the cost within a phase."""
    quantity = PhaseQuantity(transcription, p, f"{type(term).__name__} {term.name!r}", term.quantity)
    first, names = _pair(quantity.slots(0), quantity.slots(min(1, quantity.last)))

    def difference(z: dict[str, SX]) -> SX:
        after = z | {name: z[key] for name, key in names.items()} | following(z)
        return quantity.mean(after) - quantity.mean(z)

    slots, free, _ = needed(first, difference, {name: SX.sym(name) for name in sizes(pair=True)})
    shared = _per_distance(transcription) | weight_slots(transcription, [term])
    slots |= {"T": transcription.phases[p].duration} | shared

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        h = z["T"] / z[PER_PHASE]
        if not quantity.at_nodes:  # from the middle of an interval to the middle of the next one
            h = (h + z["T"] / z[PER_PHASE + NEXT]) / 2
        _cost(transcription, rows, [term], difference(free | z) / h, h, z)

    block = transcription.program.block(f"{term.name} in {phase.name}", slots, body, **sizes(pair=True))
    for k in range(quantity.last if quantity.size else 0):
        filled = _pair(quantity.slots(k), quantity.slots(k + 1))[0] | shared
        span = Span.interval(p, k, 1 if quantity.at_nodes else 2)
        block.add(filled, span, **numbers(phase, k, pair=True))


def _pair(one: dict[str, Slot], other: dict[str, Slot]) -> tuple[dict[str, Slot], dict[str, str]]:
    """The slots of two nodes or intervals, every variable once, and the names that the slots of the second have in
    them."""
    shared = {slot: name for name, slot in one.items()}
    names = {name: shared.get(slot, f"next {name}") for name, slot in other.items()}
    return one | {names[name]: slot for name, slot in other.items()}, names


def _add_between(transcription: Transcription, p: int, phase: Phase, terms: list[RateCost]) -> None:
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
    slots = {"tau": x["tau"][-1], "tau1": y["tau"][0], "T": x.duration} | _per_distance(transcription)
    slots |= {"T1": y.duration} if y is not x else {}
    slots |= weight_slots(transcription, terms) if problem.torque == "constant" else {}

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        h = (z["T"] / z[PER_PHASE] + z.get("T1", z["T"]) / z[PER_PHASE + NEXT]) / 2
        before, after = (full_tau(problem, z[key]) for key in ("tau", "tau1"))
        turned = transcription.mirror.qd(before) if last and transcription.mirror is not None else before
        if problem.torque == "linear":  # a jump would have no rate
            rows.constrain("continuous torque", (after - turned)[problem.actuated], scale=FORCE_SCALE)
            return
        _cost(transcription, rows, terms, (after - turned) / h, h, z)

    of_last, of_first = numbers(phase, phase.grid.count - 1), numbers(other, 0)
    lengths = {PER_PHASE: of_last[PER_PHASE], PER_PHASE + NEXT: of_first[PER_PHASE]}
    block = transcription.program.block(f"torque rate after {phase.name}", slots, body, **dict.fromkeys(lengths, 1))
    block.add(slots, None, **lengths)


def _cost(
    transcription: Transcription, rows: BlockRows, terms: list[RateCost], rate: Any, h: SX, z: dict[str, SX]
) -> None:
    per = 1 / ca.fabs(distance_of(z)) if transcription.problem.per_distance else 1.0
    for term in terms:
        name, factor, found = term.name, weight_of(transcription, term, z) * h * per, term.with_values(z)
        integrand = scalar(call_user(name, found.rate_integrand, rate), f"cost {name!r}")
        residual = found.rate_residual(rate)
        rows.cost(name, factor * integrand, [(factor, residual)] if residual is not None else [])


def _per_distance(transcription: Transcription) -> dict[str, Slot]:
    """The slots of the step's distance, if costs are divided by it."""
    names = ("step_length", "sideways") if transcription.problem.per_distance else ()
    return {name: transcription.step[name] for name in names if name in transcription.step}


PEAK_SLOT = "largest value"
"""Name of the peak's variable in the blocks of its rows."""


def add_peaks(transcription: Transcription) -> None:
    """Adds the variables, rows and costs of all peaks; a peak in several phases is one peak over all of these
    phases."""
    phases = transcription.problem.phases
    for peak in dict.fromkeys(term for phase in phases for term in phase.objective if isinstance(term, Peak)):
        numbers = [p for p, phase in enumerate(phases) if peak in phase.objective]
        quantities = {p: PhaseQuantity(transcription, p, f"Peak {peak.name!r}", peak.function) for p in numbers}
        sizes = {quantity.size for quantity in quantities.values()}
        if peak.each and len(sizes) > 1:
            raise ValueError(
                f"Peak {peak.name!r}: the quantity has {' or '.join(map(str, sorted(sizes)))} entries in different "
                "phases: give every phase a separate Peak, or each=False"
            )
        if max(sizes):
            program = transcription.program
            if peak.name in [x.name for x in program.variables] + [x.name for x in program.parameters]:
                raise ValueError(
                    f"Peak {peak.name!r}: the problem has another peak, a variable or a parameter of this name: give "
                    "Peak(..., name=...) a different one"
                )
            peaks = transcription.program.variable(peak.name, max(sizes) if peak.each else 1, 0.0, np.inf, 1.0)
            _add_cost(transcription, peak, peaks)
            for p, quantity in quantities.items():
                _bound(transcription, p, peak, peaks, quantity)


def _add_cost(transcription: Transcription, peak: Peak, peaks: Variable) -> None:
    slots: dict[str, Slot] = {PEAK_SLOT: peaks, **weight_slots(transcription, [peak])}

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        rows.cost(peak.name, weight_of(transcription, peak, z) * ca.sum1(z[PEAK_SLOT]))

    transcription.program.block(f"cost of {peak.name}", slots, body).add(slots)


def _bound(transcription: Transcription, p: int, peak: Peak, peaks: Variable, quantity: PhaseQuantity) -> None:
    """Adds the rows peaks - value >= 0 at every sample in phase p, and peaks + value >= 0 if both signs count."""
    phase = transcription.problem.phases[p]
    slots, free, _ = needed(quantity.slots(0), lambda z: ca.vertcat(*(x for _, x in quantity.samples(z))), symbols())

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        for _, sample in quantity.samples(free | z):
            value = divide_by_scale(sample, peak.scale, f"Peak {peak.name!r}: scale")
            kept = [k for k in range(quantity.size) if not value[k].is_zero()]  # dofs without a motor have zero torque
            if not kept:
                continue
            bound = z[PEAK_SLOT][kept] if peak.each else z[PEAK_SLOT]
            for sign in (1.0, -1.0) if peak.kind == "absolute" else (1.0,):
                rows.constrain(peak.name, bound - sign * value[kept], 0.0, np.inf)

    name = f"{peak.name} in {phase.name}"
    block = transcription.program.block(name, slots | {PEAK_SLOT: peaks}, body, **sizes())
    for k in range(quantity.last + 1 if quantity.size else 0):
        span = Span.node(p, k) if quantity.at_nodes else Span.interval(p, k)
        block.add(quantity.slots(k) | {PEAK_SLOT: peaks}, span, **numbers(phase, k))
