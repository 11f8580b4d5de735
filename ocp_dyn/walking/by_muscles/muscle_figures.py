"""Figures of a walk by muscles for reports: steps, activations, metabolic rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...muscles import Bhargava2004
from ...ocp import MuscleMetabolicRate, Muscles, Solution
from .muscle_timing import timing_if_known

STRONG = 3
"""Number of the most active muscles that a report names."""


FULL = 0.99
"""Share of the largest activation from which a muscle is at its limit: a stuck walk needs it stronger."""


def muscle_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a walk by muscles beside its summary: the body, cadence, the most active muscles, metabolic rate.

    The rate is that of `od.muscles.Bhargava2004`, with that of a body at rest. If the names of the muscles are known to
    `muscle_timing`, the agreement of their activity with electromyograms is added.

    ValueError for a solution without `ocp.Muscles`.
    """
    part = next((c for c in solution.components if isinstance(c, Muscles)), None)
    if part is None:
        raise ValueError("muscle_figures needs a solution of a problem with the component ocp.Muscles")
    names, largest = part.hill(solution.model).names, np.asarray(solution["activation"]).max(axis=0)
    full = [name for name, a in zip(names, largest, strict=True) if a > FULL * part.range[1]]
    return {
        "body": solution.model.name,
        "cadence_steps_per_min": 60 * (1 if solution.mirrored else 2) / solution.duration,
        "most_active_muscles": ", ".join(f"{names[k]} {largest[k]:.2f}" for k in np.argsort(-largest)[:STRONG]),
        "muscles_at_their_limit": ", ".join(full) or "none",
        **solution.metabolic_rate(MuscleMetabolicRate(part, Bhargava2004())).numbers(),
        **{
            f"agreement_with_emg_{name.replace(' ', '_')}": one.agreement
            for name, one in timing_if_known(solution).items()
        },
    }
