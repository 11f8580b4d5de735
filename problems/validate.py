"""Validation of the human walk: gaits at several speeds and slopes, held beside measurements of people.

Walks at all speeds on level ground, and on slopes at the speeds of --slope-speeds, each from the library's own guess;
one that is not found starts once more from the nearest gait. Joint angles, forces, moments and powers are compared with
published bands: adults at their natural cadence (Winter 1991) for walks within 0.2 m/s of theirs, and children and
adolescents of the same speed relative to the length of their legs (Schwartz et al. 2008); cadence, step width, double
support, peaks and the metabolic cost (`od.walking.metabolism`) with the figures of several publications, interpolated
to the speed of the walk. With three speeds or more the report tells at which the metabolic cost per distance is least.

    python -m ocp_dyn.problems.validate [--speeds 0.7 0.9 1.1 1.3 1.6 2.0] [--slopes -0.08 0 0.08] [--data FILE.csv]
                                [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]

DIR gets report.md with all tables and pictures, a picture of every walk with its bands, and every walk as .npz.
--data FILE.csv: walks as this subject does, by mass, stature, sex, speed and slope of the file, beside its curves. The
file begins with lines such as `# mass: 68 kg`, `# stature: 1.71 m`, `# sex: female`, `# speed: 1.25 m/s`, `# slope: 0`,
`# cadence: 112 steps/min`; then follow a line with the names of columns, `percent,knee flexion mean,knee flexion sd,
vertical force,...`, and the numbers: curves of `ocp_dyn.ocp.Gait`, with mean and sd, or a single measured curve.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import INTERRUPTED, as_json, asked, attempt, keep, parser, run_command, within
from ocp_dyn.walking import ValidatedWalk, WalkCase, fitting_references, plot_validation, write_validation

from . import human_walk

SPEEDS, SLOPES, SLOPE_SPEEDS = (0.7, 0.9, 1.1, 1.3, 1.6, 2.0), (-0.08, 0.0, 0.08), (0.8, 1.3)
"""Speeds on level ground [m/s]; slopes, rise per distance, and speeds on them, those of Koelewijn et al. (2019)."""


def problem(speed: float, body: dict[str, Any] | None = None, *, quick: bool = False) -> ocp.Problem:
    """The human walk with a parameter `slope` [rad]. body: mass, height and sex of the person."""
    walk = human_walk.problem(speed, **body or {}, intervals=human_walk.QUICK if quick else human_walk.INTERVALS)
    return replace(walk, parameters=(*walk.parameters, ocp.Parameter("slope", 0.0)))


def _asked(o: argparse.Namespace) -> tuple[list[WalkCase], dict[str, Any], ocp.GaitReference | None]:
    subject = None if o.data is None else ocp.gait_reference(o.data)
    told = {} if subject is None else subject.numbers
    if subject is not None and o.speeds is None and "speed" not in told:
        raise ValueError(f"{o.data}: the speed of the subject is missing: add a line '# speed: 1.25 m/s', or --speeds")
    body = {"mass": told.get("mass", 73.0) if o.mass is None else o.mass,
            "height": told.get("stature", 1.741) if o.height is None else o.height,
            "sex": o.sex or (subject and subject.sex) or "male"}  # fmt: skip
    if subject is not None and o.speeds is None and o.slopes is None:
        wanted = [WalkCase(told["speed"], told.get("slope", 0.0))]
    else:
        speeds = o.speeds or ((told["speed"],) if "speed" in told else (1.3,) if o.quick else SPEEDS)
        wanted = od.walking.walk_cases(speeds, o.slopes or ((0.0,) if o.quick else SLOPES), o.slope_speeds)
    for case in wanted:
        within(case.slope, -0.3, 0.3, "slopes must lie between -0.3 and 0.3, where people walk on flat feet")
        within(case.speed, 0.5, 2.2, "speeds must lie between 0.5 and 2.2 m/s")
    problem(wanted[0].speed, body, quick=True)
    return wanted, body, subject


def tell(walk: ValidatedWalk, count: str) -> None:
    """A line on standard error: iterations, seconds, errors of the angles of the first measured gait."""
    how = f"{walk.iterations} iterations" if walk.solution.converged else f"NOT FOUND, {walk.solution.status}"
    start = f", from {walk.start.title}" if walk.start is not None else ""
    errors = [
        f"{a.curve.split()[0]} {a.rmse:.1f}" for c in walk.comparisons[:1] for a in c.curves if a.unit == "degrees"
    ]
    agreement = f"; {', '.join(errors[:3])} degrees RMSE" if errors else ""
    text = f"  {count:>5s}  {walk.case.title}: {how}, {walk.seconds:.1f} s{start}{agreement}"
    print(text, file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speeds", type=float, nargs="+", help="speeds on level ground [m/s], default 0.7 to 2.0")
    add("--slopes", type=float, nargs="+", help="rise per distance, default -0.08 0 0.08")
    add("--slope-speeds", type=float, nargs="+", default=SLOPE_SPEEDS, help="speeds on slopes [m/s]")
    add("--data", type=Path, metavar="FILE.csv", help="measured curves of a subject")
    add("--mass", type=float, help="body mass [kg], default 73 or the subject's")
    add("--height", type=float, help="stature [m], default 1.741 or the subject's")
    add("--sex", choices=("male", "female"), help="default male or the subject's")
    options, (wanted, body, subject) = asked(arguments, argv, _asked)
    begin, found, who = time.perf_counter(), [], "{sex}, {mass:g} kg, {height:g} m".format(**body)
    if not options.quiet:
        print(f"{len(wanted)} walk{'s' * (len(wanted) > 1)} of a human, {who}", file=sys.stderr, flush=True)
    for walk in od.walking.validated_walks(wanted, lambda v: problem(v, body, quick=options.quick), subject):
        found.append(walk)
        if not options.quiet:
            tell(walk, f"{len(found)}/{len(wanted)}")
        keep(options, walk.solution, f"{walk.case.name}.npz")
        if options.out is not None and walk.gait is not None:
            bands, path = fitting_references(walk.gait, subject), options.out / f"{walk.case.name}.png"
            drawn = partial(walk.solution.plot, path, reference=bands) if bands else partial(walk.gait.plot, path)
            attempt(path.name, drawn)
    if options.out is not None:
        attempt("speeds.png", lambda: plot_validation(found, options.out / "speeds.png"))
        write_validation(found, options.out / "report.md", who, subject)
    for walk in found:
        print(f"{walk.case.title}: {'' if walk.solution.converged else 'not '}converged")
        for k, comparison in enumerate(walk.comparisons):
            shown = replace(comparison, figures=()) if k else comparison  # the figures of the tables only once
            print("\n".join(f"  {line}".rstrip() for line in str(shown).splitlines()) + "\n")
    if options.json:
        print(as_json(od.walking.validation_numbers(found) | {"seconds": round(time.perf_counter() - begin, 3)}))
    if found[-1].solution.status == "Interrupted":
        return INTERRUPTED
    return 0 if all(walk.solution.converged for walk in found) else 1


if __name__ == "__main__":
    sys.exit(run_command(main))
