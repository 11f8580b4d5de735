"""Costs of the largest value of a quantity: a variable that bounds it from above wherever it is sampled.

Minimising the variable minimises the peak, and all functions stay smooth. `quantities` says where samples are taken.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from ..._arguments import scaled
from ..nlp.program import Rows, Variable
from ..statement.custom_costs import Peak
from .quantities import PhaseQuantity, needed
from .variables import Transcription

SLOT = "largest value"
"""Name of the peak's variable in the blocks of its rows."""


def add_peaks(t: Transcription) -> None:
    """Adds the variables, rows and costs of all peaks; one that several phases name is one peak over all of them."""
    phases = t.problem.phases
    for peak in dict.fromkeys(term for phase in phases for term in phase.objective if isinstance(term, Peak)):
        where = [p for p, phase in enumerate(phases) if peak in phase.objective]
        quantities = {p: PhaseQuantity(t, p, f"Peak {peak.name!r}", peak.function) for p in where}
        sizes = {quantity.size for quantity in quantities.values()}
        if peak.each and len(sizes) > 1:
            raise ValueError(
                f"Peak {peak.name!r}: the quantity has {' or '.join(map(str, sorted(sizes)))} entries in different phases: "
                "give every phase a Peak of its own, or each=False"
            )
        if max(sizes):
            peaks = t.program.variable(peak.name, max(sizes) if peak.each else 1, 0.0, np.inf, 1.0)
            _add_cost(t, peak, peaks)
            for p, quantity in quantities.items():
                _bound(t, p, peak, peaks, quantity)


def _add_cost(t: Transcription, peak: Peak, peaks: Variable) -> None:
    def body(z: dict[str, SX], rows: Rows) -> None:
        rows.cost(peak.name, peak.weight * ca.sum1(z[SLOT]))

    t.program.block(f"cost of {peak.name}", {SLOT: peaks}, body).add({SLOT: peaks})


def _bound(t: Transcription, p: int, peak: Peak, peaks: Variable, quantity: PhaseQuantity) -> None:
    """Adds the rows peaks - value >= 0 at every sample in phase p, and peaks + value >= 0 if both signs count."""
    slots, free = needed(quantity.slots(0), lambda z: ca.vertcat(*(x for _, x in quantity.samples(z))))

    def body(z: dict[str, SX], rows: Rows) -> None:
        for _, sample in quantity.samples(free | z):
            value = scaled(sample, peak.scale, f"Peak {peak.name!r}: scale")
            kept = [k for k in range(quantity.size) if not value[k].is_zero()]  # motors, of all dofs
            bound = z[SLOT][kept] if peak.each else z[SLOT]
            for sign in (1.0, -1.0) if peak.kind == "absolute" else (1.0,):
                rows.constrain(peak.name, bound - sign * value[kept], 0.0, np.inf)

    block = t.program.block(f"{peak.name} in {t.problem.phases[p].name}", slots | {SLOT: peaks}, body, k=1)
    for k in range(quantity.last + 1 if quantity.size else 0):
        block.add(quantity.slots(k) | {SLOT: peaks}, k=k)
