"""Figures of a walk by muscles for reports: steps, activations, metabolic rate."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ...muscles import Bhargava2004
from ...ocp import Instant, MuscleMetabolicRate, Muscles, Solution

RESTING = 1.2
"""Metabolic rate of a body at rest [W/kg], as in OpenSim's metabolic models."""

STRONG = 3
"""Number of the most active muscles that a report names."""


def muscle_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a walk by muscles beside its summary: cadence, the most active muscles, metabolic rate [W/kg].

    The metabolic rate is that of `od.muscles.Bhargava2004`, mean over the motion, with 1.2 W/kg at rest, and per
    distance the cost of transport [J/(kg m)]. ValueError for a solution without `ocp.Muscles`.
    """
    part = next((c for c in solution.components if isinstance(c, Muscles)), None)
    if part is None:
        raise ValueError("muscle_figures needs a solution of a problem with the component ocp.Muscles")
    names, largest = part.hill(solution.model).names, np.asarray(solution["activation"]).max(axis=0)
    rate = RESTING + _metabolic_rate(solution, part) / solution.model.mass
    return {
        "body": solution.model.name,
        "cost": solution.objective,
        "iterations": solution.stats["iterations"],
        "cadence_steps_per_min": 60 * (1 if solution.mirrored else 2) / solution.duration,
        "most_active_muscles": ", ".join(f"{names[k]} {largest[k]:.2f}" for k in np.argsort(-largest)[:STRONG]),
        "metabolic_rate_W_per_kg": rate,
        "cost_of_transport_J_per_kg_m": rate * solution.duration / abs(solution.distance),
    }


def _metabolic_rate(solution: Solution, part: Muscles) -> float:
    """Mean of the metabolic rates of all muscles [W], without that at rest."""
    cost, phase = MuscleMetabolicRate(part, Bhargava2004()), solution.phases[0]
    columns = {"q": phase.q, "qd": phase.qd, **{name: x for name, x in phase.channels.items() if len(x) == len(phase.q)}}
    z = {name: SX.sym(name, x.shape[1]) for name, x in columns.items()}
    channels = {name: x for name, x in z.items() if name not in ("q", "qd")}
    rate = cost.integrand(Instant(solution.model, z["q"], z["qd"], channels=channels))
    f = ca.Function("rate", list(z.values()), [rate], {"cse": True})
    rates = np.array(f.map(len(phase.q))(*(x.T for x in columns.values()))).ravel()
    return float(np.sum((rates[1:] + rates[:-1]) / 2 * np.diff(phase.t)) / solution.duration)
