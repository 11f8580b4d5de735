"""Costs of the largest value of a quantity: a variable bounds all samples of the quantity from above.

Minimizing the variable minimizes the peak, and all functions stay smooth. For the samples see `quantities`.
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
    def body(z: dict[str, SX], rows: Rows) -> None:
        rows.cost(peak.name, peak.weight * ca.sum1(z[PEAK_SLOT]))

    transcription.program.block(f"cost of {peak.name}", {PEAK_SLOT: peaks}, body).add({PEAK_SLOT: peaks})


def _bound(transcription: Transcription, p: int, peak: Peak, peaks: Variable, quantity: PhaseQuantity) -> None:
    """Adds the rows peaks - value >= 0 at every sample in phase p, and peaks + value >= 0 if both signs count."""
    slots, free = needed(quantity.slots(0), lambda z: ca.vertcat(*(x for _, x in quantity.samples(z))))

    def body(z: dict[str, SX], rows: Rows) -> None:
        for _, sample in quantity.samples(free | z):
            value = scaled(sample, peak.scale, f"Peak {peak.name!r}: scale")
            kept = [k for k in range(quantity.size) if not value[k].is_zero()]  # dofs without a motor have zero torque
            if not kept:
                continue
            bound = z[PEAK_SLOT][kept] if peak.each else z[PEAK_SLOT]
            for sign in (1.0, -1.0) if peak.kind == "absolute" else (1.0,):
                rows.constrain(peak.name, bound - sign * value[kept], 0.0, np.inf)

    block = transcription.program.block(
        f"{peak.name} in {transcription.problem.phases[p].name}", slots | {PEAK_SLOT: peaks}, body, k=1
    )
    for k in range(quantity.last + 1 if quantity.size else 0):
        block.add(quantity.slots(k) | {PEAK_SLOT: peaks}, k=k)
