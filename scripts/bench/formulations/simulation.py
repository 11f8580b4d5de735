"""Simulations of mechanisms with the reason why one ended early."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import ocp_dyn as od

EXPLICIT = ("recursive", "multipliers", "penalty", "independent")
"""Formulations that RK4 integrates; "trapezoidal": natural coordinates, augmented Lagrangian form."""


def system_of(chain: od.models.ClosedChain, **options: Any) -> od.simulation.System:
    """A closed chain at its start; `simulate` says by which formulation it moves, how long and in which steps."""
    return od.simulation.System(chain.model, tuple(chain.loops), np.array(chain.q), np.array(chain.qd), "recursive",
                                1.0, 1e-3, **options)  # fmt: skip


def simulate(
    system: od.simulation.System, formulation: str, h: float, duration: float, what: str
) -> tuple[od.simulation.Simulation | None, str]:
    """The motion in steps of h [s], and why it ended early, "" if it did not; a line says what is simulated."""
    print(f"  {what}, {formulation}, h = {h:g} s ...", file=sys.stderr, flush=True)
    return od.simulation.simulate(system._replace(formulation=formulation, step=h, duration=duration))


def microseconds(run: od.simulation.Simulation) -> float:
    """Processor time per step."""
    return run.seconds / run.steps * 1e6
