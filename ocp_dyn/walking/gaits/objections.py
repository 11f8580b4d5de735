"""Curves and figures of a walk one by one, each with its measured band: what a gait laboratory may object to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...gait.compare import GROWING, Expected, expected
from ...ocp import GaitComparison
from .validation import ValidatedWalk

FIGURES = (
    "cadence_steps_per_min", "stride_frequency_Hz", "dimensionless_cadence", "dimensionless_step_length",
    "step_width_leg_lengths", "stance_percent", "double_support_percent", "foot_flat_percent",
    "opposite_toe_off_percent", "heel_off_percent", "stance_knee_peak_deg", "swing_knee_peak_deg",
    "push_off_moment_Nm_per_kg", "first_vertical_peak_body_weights", "vertical_valley_body_weights",
    "second_vertical_peak_body_weights", "braking_force_body_weights", "propelling_force_body_weights",
    "pelvis_rotation_range_deg", "center_of_mass_rise_m", "center_of_mass_sway_m", "metabolic_cost_J_per_kg_m",
)  # fmt: skip
"""Figures in the order of the table: steps, times, knee and ankle, forces, pelvis, center of mass, cost."""


GROW = ("N m/kg", "W/kg")
"""Units of curves that grow with the length of the legs: those of children do not judge adults."""


class Objection(NamedTuple):
    """A curve or a figure of a walk beside its measured band.

    what: its name, with the unit; value and band in words; source of the band. outside: whether the walk leaves the
    band, None where people's spread is not known, or is that of children in moments and powers per mass, which grow
    with the legs.

    A figure leaves its band beyond two standard deviations from the mean. A curve leaves it where the root mean square
    of its difference from the mean of the people is larger than that of their standard deviation: it then differs more
    from the average person than most people do.

    >>> od.walking.Objection("knee flexion [degrees]", "RMSE 4.1, r 0.98", "SD 5.8", "Schwartz 2008", False).outside
    False
    """

    what: str
    value: str
    band: str
    source: str
    outside: bool | None


def objections(walk: ValidatedWalk) -> list[Objection]:
    """Every curve and figure of a walk that people are measured in, beside the measured band: first curves, then
    figures; those of a walk that was not found are none.

    >>> case = od.walking.WalkCase(1.3)
    >>> od.walking.objections(od.walking.ValidatedWalk(case, None, 0.0, None, None, ()))
    []
    """
    if walk.gait is None:
        return []
    curves = [one for comparison in walk.comparisons for one in _of_curves(comparison)]
    return [*curves, *_of_figures(walk.gait.numbers())]


def _of_curves(comparison: GaitComparison) -> Iterator[Objection]:
    source = comparison.caption.split(",")[0]
    for a in comparison.curves:
        if np.isfinite(a.rmse):
            r = f", r {a.correlation:.2f}" if np.isfinite(a.correlation) else ""
            known = bool(np.isfinite(a.spread))
            band = f"SD {a.spread:.2g}" if known else "one person"
            known = known and not ("children" in comparison.caption and a.unit in GROW)
            yield Objection(
                f"{a.curve} [{a.unit}]", f"RMSE {a.rmse:.2g}{r}", band, source, a.rmse > a.spread if known else None
            )


def _of_figures(figures: Mapping[str, float]) -> Iterator[Objection]:
    found = sorted((e for e in expected(figures) if e.figure in FIGURES), key=lambda e: FIGURES.index(e.figure))
    for e in found:
        known = bool(np.isfinite(e.sd) and e.sd > 0 and not e.figure.endswith(GROWING))
        spread = f" ± {2 * e.sd:.2g}" if known else ""
        yield Objection(
            e.figure.replace("_", " "),
            f"{e.value:.3g}",
            f"{e.mean:.3g}{spread}",
            _short(e),
            e.outside if known else None,
        )


def _short(e: Expected) -> str:
    """The source up to its journal."""
    return e.source.split(",")[0]


def objection_rows(found: Sequence[ValidatedWalk]) -> list[tuple[str, ...]]:
    """A line for every curve and figure of level walks, by speed: name with source, then value and band of each walk;
    what is outside is set in bold.
    """
    level = sorted((w for w in found if w.gait is not None and not w.case.slope), key=lambda w: w.case.speed)
    by_walk = [{(o.what, o.source): o for o in objections(walk)} for walk in level]
    lines = dict.fromkeys(key for walk in by_walk for key in walk)
    return [(f"{what} ({source})", *(_cell(walk.get((what, source))) for walk in by_walk)) for what, source in lines]


def _cell(o: Objection | None) -> str:
    if o is None:
        return ""
    text = f"{o.value}; {o.band}"
    return f"**{text}**" if o.outside else text


def body_rows(found: Mapping[str, Sequence[ValidatedWalk]]) -> list[tuple[str, ...]]:
    """A line for every body and walk on level ground: body, speed, whether it was found, number of curves and of
    figures with a known band, and the names of those outside."""
    rows: list[tuple[str, ...]] = []
    for who, walks in found.items():
        for walk in sorted((w for w in walks if not w.case.slope), key=lambda w: w.case.speed):
            judged = [o for o in objections(walk) if o.outside is not None]
            outside = list(dict.fromkeys(f"{o.what} {o.value} ({o.band})" for o in judged if o.outside))
            status = "yes" if walk.solution.converged else f"no: {walk.solution.status}"
            rows.append((who, walk.case.title, status, str(len(judged)), str(len(outside)), "; ".join(outside)))
    return rows
