"""Walking up and down slopes: cost of transport against the slope, each gait from the gait on the next slope.

The world's axes follow the ground, so a slope turns gravity. The walk on level ground is solved first; then each slope
starts from the solution of the one before, uphill and downhill. The mechanical cost of transport is the joints'
positive work per weight and distance; the metabolic one is positive work / 0.25 + |negative work| / 1.2 (Margaria's
efficiencies of muscles). Its absolute value is too large, because rigid joints store no energy and each joint pays for
its work alone; relative to level ground it is compared with the measured cost, which is least between -10 and -15 %
(Minetti et al., J. Applied Physiology 93, 2002: 280.5 i^5 - 58.7 i^4 - 76.8 i^3 + 51.9 i^2 + 19.6 i + 2.5 J/(kg m)).

    python -m problems.slope [--speed 1.2] [--slopes -0.2 -0.1 0 0.1] [--model legs|human]
                             [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.io import whole_file

from . import human_walk
from ._command import asked, attempt, finish, keep, parser

SLOPES = (-0.2, -0.1, 0.0, 0.1, 0.2)
"""Rise per distance along the horizontal."""

EFFICIENCY = (0.25, -1.2)
"""Efficiency of muscles in positive and in negative work (Margaria, Int. Z. angew. Physiol. 25, 1968)."""


def problem(speed: float = 1.2, *, still: bool = True, quick: bool = False) -> ocp.Problem:
    """Human walking with a parameter `slope` [rad]. still: trunk and arms rigid."""
    intervals = human_walk.QUICK if quick else human_walk.INTERVALS
    walk = human_walk.problem(speed, intervals=intervals, still=still)
    return replace(walk, parameters=(ocp.Parameter("slope", 0.0),))


def gaits(walk: ocp.Problem, slopes: Sequence[float], progress: bool = False) -> dict[float, ocp.Solution]:
    """Gaits on all slopes, solved from the slope nearest to level outwards, uphill and downhill."""
    ordered = sorted(slopes, key=abs)
    first, *others = ordered
    solve = {"progress": progress}
    found = {first: walk.solve(values={"slope": np.arctan(first)}, **solve)}
    start = found[first] if found[first].converged else None
    for side in ([s for s in others if s > first], [s for s in others if s < first]):
        if side:
            found |= dict(
                zip(side, ocp.solve_along(walk, start=start, solve=solve, slope=list(np.arctan(side))), strict=True)
            )
    return {slope: found[slope] for slope in sorted(found)}


def metabolic(solution: ocp.Solution) -> float:
    """Metabolic cost of transport by the work of the joints and Margaria's efficiencies [J/(kg m)]."""
    energy = sum(work / efficiency for work, efficiency in zip(solution.mechanical_work(), EFFICIENCY, strict=True))
    return energy / (solution.model.mass * solution.step_length)


def measured(slope: Any) -> Any:
    """Measured cost of walking at the best speed, slopes -0.45 to 0.45 [J/(kg m)] (Minetti et al. 2002)."""
    return np.polyval([280.5, -58.7, -76.8, 51.9, 19.6, 2.5], slope)


def numbers(found: dict[float, ocp.Solution]) -> dict[str, Any]:
    """Numbers of the report: the gait on every slope, with its metabolic cost beside the published one."""
    cheapest = min(found, key=lambda slope: metabolic(found[slope]))
    result: dict[str, Any] = {"cheapest_slope": cheapest, "cheapest_slope_published": -0.1}
    for slope, s in found.items():
        here = f"at_{100 * slope:+.0f}_percent"
        result |= {
            f"converged_{here}": s.converged,
            f"iterations_{here}": s.stats["iterations"],
            f"step_length_{here}_m": s.step_length,
            f"cost_of_transport_{here}": s.cost_of_transport(),
            f"positive_work_{here}_J": s.mechanical_work()[0],
            f"negative_work_{here}_J": s.mechanical_work()[1],
            f"metabolic_{here}_J_per_kg_m": metabolic(s),
            f"metabolic_published_{here}_J_per_kg_m": float(measured(slope)),
        }
        if 0.0 in found:
            result |= {
                f"over_level_{here}": metabolic(s) / metabolic(found[0.0]),
                f"over_level_published_{here}": float(measured(slope) / measured(0.0)),
            }
    return result


def draw(found: dict[float, ocp.Solution], path: Path) -> None:
    """Plot of the cost of transport against slope, relative to the gait nearest to level, and of the measured one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    level = min(found, key=abs)
    slopes = np.linspace(min(found) - 0.02, max(found) + 0.02, 100)
    people = measured(slopes) / measured(level)
    ours = [metabolic(s) / metabolic(found[level]) for s in found.values()]
    axes.plot(100 * slopes, people, color="0.4", linewidth=3, alpha=0.5, label="measured (Minetti et al. 2002)")
    axes.plot([100 * s for s in found], ours, "o-", color="#0072b2", label="joint work over Margaria's efficiencies")
    axes.set_xlabel("slope [%]")
    axes.set_ylabel(f"cost of transport, {100 * level:.3g} % slope = 1")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)


def _problem(options: argparse.Namespace) -> ocp.Problem:
    if any(abs(slope) > 0.3 for slope in options.slopes):
        raise ValueError(f"slopes must lie between -0.3 and 0.3, where people walk on flat feet, got {options.slopes}")
    return problem(options.speed, still=options.model == "legs", quick=options.quick)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s]")
    arguments.add_argument("--slopes", type=float, nargs="+", default=SLOPES, help="rise per distance, -0.3 to 0.3")
    arguments.add_argument(
        "--model", choices=("legs", "human"), default="legs", help="legs: trunk and arms do not move"
    )
    options, walk = asked(arguments, argv, _problem)
    slopes = [s for s in options.slopes if abs(s) <= 0.1] or options.slopes if options.quick else options.slopes
    found = gaits(walk, slopes, progress=not options.quiet)
    if options.out is not None:
        for slope, solution in found.items():
            keep(options, solution, f"slope_{100 * slope:+.0f}.npz")
        attempt("slope.png", lambda: draw(found, options.out / "slope.png"))
    steepest = found[max(found)]
    code = finish(
        options,
        steepest,
        lambda: numbers(found),
        f"Walking at {options.speed:g} m/s on slopes; pictures of the slope of {max(found):+.0%}",
    )
    return code if all(s.converged for s in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
