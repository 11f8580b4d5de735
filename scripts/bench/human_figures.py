"""Figures of the ready human's walk beside people, by speed and body: the tables of MEASUREMENTS.md.

    python -m scripts.bench.human_figures [speeds] [bodies] [toes] [slopes] [--speeds 0.7 1.3] [--quick]
                                          [--weights FILE.json]

speeds: a man of 73 kg and 1.741 m. bodies: six at 1.1 m/s. toes: feet with toes at 1.3 m/s. slopes: 10 % down to 10 %
up at 1.3 m/s. Curves are compared with the means of Schwartz et al. (2008) between the two groups next to the
dimensionless speed, without any shift in time: root mean squares of the differences and correlations r. Moments are
those of hip, knee and ankle; of the children they are compared with 1.27 times theirs, see `scripts/fit_human.py`.
weights: others than those of the ready walk, a file of `python -m scripts.fit_human`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.problems import human_walk
from ocp_dyn.walking.effort.effort_costs import EXPONENTS
from scripts.common import Table, command_line
from scripts.fit_human import CHILD, OF_SPEED, by_speed

SPEEDS = (0.5, 0.7, 1.0, 1.3, 1.6, 1.9, 2.0, 2.1)

BODIES = (
    (40.0, 1.45, "female"), (55.0, 1.60, "male"), (60.0, 1.65, "female"), (73.0, 1.741, "female"),
    (73.0, 1.741, "male"), (110.0, 2.0, "male"),
)  # fmt: skip
"""Mass [kg], stature [m] and sex of the bodies."""

SLOPES = (-0.1, -0.05, 0.0, 0.05, 0.1)

COLUMNS = {
    "walk": "<24", "hip knee ankle": "15", "list r, RMSE": "13", "rotation r, RMSE": "16", "force": "6",
    "moments": "15", "double": "7", "rise cm": "8", "J/kg/m": "7", "knee": "5", "iterations": "11",
}  # fmt: skip


def figures(solution: ocp.Solution) -> list[str]:
    """Cells of the table."""
    gait = solution.gait()
    measured, numbers = by_speed(gait), gait.figures

    def rms(name: str, factor: float = 1.0, to: int | None = None) -> float:
        return float(np.sqrt(np.mean((gait[name] - factor * measured[name].mean)[:to] ** 2)))

    def both(name: str) -> str:
        return f"{np.corrcoef(gait[name], measured[name].mean)[0, 1]:.2f}, {rms(name):.1f}"

    moments = ("hip extension moment", "knee extension moment", "ankle plantar flexion moment")
    cost = od.walking.metabolism(solution).gross / numbers["speed_m_per_s"]
    return [
        " ".join(f"{rms(name):.1f}" for name in ("thigh flexion", "knee flexion", "ankle dorsiflexion")),
        both("pelvis obliquity"),
        both("pelvis rotation"),
        f"{rms('vertical force', to=61):.3f}",
        " ".join(f"{rms(name, CHILD):.2f}" for name in moments),
        f"{numbers['double_support_percent'] / 2:.1f}",
        f"{100 * numbers['center_of_mass_rise_m']:.1f}",
        f"{cost:.2f}",
        f"{numbers.get('stance_knee_peak_deg', np.nan):.1f}",
        str(solution.stats["iterations"]) if solution.converged else solution.status,
    ]


def walks(what: list[str], speeds: list[float], intervals: Any) -> list[tuple[str, float, dict[str, Any], float]]:
    """Title, speed, options of the body and slope of every walk."""
    found: list[tuple[str, float, dict[str, Any], float]] = []
    if "speeds" in what:
        found += [(f"{speed:g} m/s", speed, {}, 0.0) for speed in speeds]
    if "bodies" in what:
        found += [
            (f"{sex}, {mass:g} kg, {height:g} m", 1.1, {"mass": mass, "height": height, "sex": sex}, 0.0)
            for mass, height, sex in BODIES
        ]
    if "toes" in what:
        found.append(("1.3 m/s, toes", 1.3, {"toes": True}, 0.0))
    if "slopes" in what:
        found += [(f"1.3 m/s, slope {100 * slope:g} %", 1.3, {}, slope) for slope in SLOPES]
    return found


def main() -> int:
    parser = command_line(__doc__)
    names = ("speeds", "bodies", "toes", "slopes")
    parser.add_argument("what", nargs="*", choices=[*names, []], default=["speeds", "bodies"], metavar="WHAT",
                        help=f"tables: {', '.join(names)}")  # fmt: skip
    parser.add_argument("--speeds", type=float, nargs="+", default=SPEEDS, help="speeds of the man [m/s]")
    parser.add_argument("--weights", type=Path, help="file of weights; none: those of the ready walk")
    parser.add_argument("--quick", action="store_true", help="half as many intervals")
    options = parser.parse_args()
    intervals = human_walk.QUICK if options.quick else human_walk.INTERVALS
    weights: dict[str, float] = {}
    if options.weights is not None:
        weights = json.loads(options.weights.read_text(encoding="utf-8"))["weights"]
    exponents = dict(EXPONENTS) | {
        name: weights.pop(name + OF_SPEED) for name in EXPONENTS if name + OF_SPEED in weights
    }
    table = Table(COLUMNS)
    for title, speed, body, slope in walks(options.what, options.speeds, intervals):
        person = od.walking.person(**body)
        person = replace(person, costs=od.walking.human_effort(person, weights, exponents))
        walk = od.walking.human_walk(person, speed, slope=slope, intervals=intervals)
        table.row(title, *figures(walk.solve(progress=False)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
