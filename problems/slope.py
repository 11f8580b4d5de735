"""Walking up and down slopes: cost of transport against the slope, each gait from the gait on the next slope.

The world's axes follow the ground, so a slope turns gravity. The walk on level ground is solved first; then each slope
starts from the solution of the one before, uphill and downhill. The mechanical cost of transport is the joints'
positive work per weight and distance; the metabolic one is positive work / 0.25 + |negative work| / 1.2 (Margaria's
efficiencies of muscles). Its absolute value is too large, because rigid joints store no energy and each joint pays for
its work alone; relative to level ground it is compared with the measured cost, which is least between -10 and -15 %
(Minetti et al., J. Applied Physiology 93, 2002: 280.5 i^5 - 58.7 i^4 - 76.8 i^3 + 51.9 i^2 + 19.6 i + 2.5 J/(kg m)).

python -m ocp_dyn.problems.slope [--speed 1.2] [--slopes -0.1 0 0.1] [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, attempt, finish, keep, parser, run_command, save_figure, within

from . import human_walk

SLOPES = (-0.2, -0.1, 0.0, 0.1, 0.2)

EFFICIENCY = (0.25, -1.2)
"""Efficiency of muscles in positive and in negative work (Margaria, Int. Z. angew. Physiol. 25, 1968)."""


def problem(speed: float = 1.2, *, still: bool = True, quick: bool = False) -> ocp.Problem:
    """Human walking with a parameter `slope` [rad]. still: trunk and arms rigid."""
    intervals = human_walk.QUICK if quick else human_walk.INTERVALS
    walk = human_walk.problem(speed, intervals=intervals, still=still)
    return replace(walk, parameters=(ocp.Parameter("slope", 0.0),))


def gaits(walk: ocp.Problem, slopes: Sequence[float], progress: bool = False) -> dict[float, ocp.Solution]:
    """Gaits on all slopes, solved from the slope nearest to level outwards, uphill and downhill."""
    first, *others = sorted(slopes, key=abs)
    found = {first: walk.solve(values={"slope": np.arctan(first)}, progress=progress)}
    start, solve = found[first] if found[first].converged else None, {"progress": progress}
    for side in ([s for s in others if s > first], [s for s in others if s < first]):
        if side:
            along = ocp.solve_along(walk, start=start, solve=solve, slope=list(np.arctan(side)))
            found |= dict(zip(side, along, strict=True))
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
        here, (positive, negative) = f"at_{100 * slope:+.0f}_percent", s.mechanical_work()
        result |= {
            f"converged_{here}": s.converged, f"iterations_{here}": s.stats["iterations"],
            f"step_length_{here}_m": s.step_length, f"cost_of_transport_{here}": s.cost_of_transport(),
            f"positive_work_{here}_J": positive, f"negative_work_{here}_J": negative,
            f"metabolic_{here}_J_per_kg_m": metabolic(s),
            f"metabolic_published_{here}_J_per_kg_m": float(measured(slope)),
        }  # fmt: skip
        if 0.0 in found:
            result[f"over_level_{here}"] = metabolic(s) / metabolic(found[0.0])
            result[f"over_level_published_{here}"] = float(measured(slope) / measured(0.0))
    return result


def draw(found: dict[float, ocp.Solution], path: Path) -> None:
    """Plot of the cost of transport against slope, relative to the gait nearest to level, and of the measured one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes, level = figure.subplots(), min(found, key=abs)
    slopes = np.linspace(min(found) - 0.02, max(found) + 0.02, 100)
    ours, people = [metabolic(s) / metabolic(found[level]) for s in found.values()], measured(slopes) / measured(level)
    axes.plot(100 * slopes, people, color="0.4", linewidth=3, alpha=0.5, label="measured (Minetti et al. 2002)")
    axes.plot([100 * s for s in found], ours, "o-", color="#0072b2", label="joint work over Margaria's efficiencies")
    axes.set(xlabel="slope [%]", ylabel=f"cost of transport, {100 * level:.3g} % slope = 1", ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save_figure(figure, path)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s]")
    arguments.add_argument("--slopes", type=float, nargs="+", default=SLOPES, help="rise per distance, -0.3 to 0.3")
    arguments.add_argument("--model", choices=("legs", "human"), default="legs", help="legs: no moves of the trunk")
    told = "slopes must lie between -0.3 and 0.3, where people walk on flat feet"
    options, (walk, slopes) = asked(arguments, argv, lambda o: (
        problem(o.speed, still=o.model == "legs", quick=o.quick), [within(s, -0.3, 0.3, told) for s in o.slopes]
    ))  # fmt: skip
    gentle = [s for s in slopes if abs(s) <= 0.1] if options.quick else []
    found = gaits(walk, gentle or slopes, progress=not options.quiet)
    if options.out is not None:
        for slope, solution in found.items():
            keep(options, solution, f"slope_{100 * slope:+.0f}.npz")
        attempt("slope.png", lambda: draw(found, options.out / "slope.png"))
    title = f"Walking at {options.speed:g} m/s on slopes; pictures of the slope of {max(found):+.0%}"
    code = finish(options, found[max(found)], lambda: numbers(found), title)
    return code if all(s.converged for s in found.values()) else 1


if __name__ == "__main__":
    sys.exit(run_command(main))
