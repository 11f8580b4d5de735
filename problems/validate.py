"""Validation of the human walk: gaits at several speeds and slopes, held beside measurements of people.

Walks at all speeds on level ground, and on slopes at the speeds of --slope-speeds, each from the library's own guess;
one that is not found starts once more from the nearest gait. Curves of all three planes are compared with published
bands: adults at their natural cadence (Winter 1991) and one adult (Rajagopal 2016) at their speeds, children and
adolescents of the same speed relative to the length of their legs (Schwartz et al. 2008); steps, times, forces, the
rise of the center of mass and the metabolic cost (`od.walking.metabolism`) with figures of several publications.

    python -m ocp_dyn.problems.validate [--speeds 0.7 0.9 1.1 1.3 1.6 2.0] [--slopes -0.08 0 0.08] [--data FILE.csv]
                    [--mass 73 ...] [--height 1.741 ...] [--sex male ...] [--muscles] [--quick] [--json] [--out DIR]

DIR gets report.md with all tables and pictures, a picture of every walk with its bands, and every walk as .npz; with
several bodies each gets a folder, and bodies.md tells which figures of which body lie outside the measured bands.
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
from ocp_dyn.cli.examples import INTERRUPTED, as_json, asked, attempt, parser, run_command, within
from ocp_dyn.walking import ValidatedWalk, WalkCase, plot_validation, write_validation

from . import human_walk, muscle_walk

SPEEDS, SLOPES, SLOPE_SPEEDS = (0.7, 0.9, 1.1, 1.3, 1.6, 2.0), (-0.08, 0.0, 0.08), (0.8, 1.3)
"""Speeds on level ground [m/s]; slopes, rise per distance, and speeds on them, those of Koelewijn et al. (2019)."""


def problem(speed: float, body: Any = None, *, quick: bool = False, muscles: bool = False) -> ocp.Problem:
    """The human walk with a parameter `slope` [rad], or level, by muscles. body: mass, height and sex."""
    if muscles:
        return muscle_walk.problem(speed, **body or {}, intervals=muscle_walk.QUICK if quick else muscle_walk.INTERVALS)
    walk = human_walk.problem(speed, **body or {}, intervals=human_walk.QUICK if quick else human_walk.INTERVALS)
    return replace(walk, parameters=(*walk.parameters, ocp.Parameter("slope", 0.0)))


def _asked(o: argparse.Namespace) -> tuple[list[WalkCase], list[dict[str, Any]], ocp.GaitReference | None]:
    subject = None if o.data is None else ocp.gait_reference(o.data)
    told = {} if subject is None else subject.numbers
    if subject is not None and o.speeds is None and "speed" not in told:
        raise ValueError(f"{o.data}: the speed of the subject is missing: add a line '# speed: 1.25 m/s', or --speeds")
    bodies = od.walking.bodies_of(
        mass=o.mass or [told.get("mass", 73.0)], height=o.height or [told.get("stature", 1.741)],
        sex=o.sex or [(subject and subject.sex) or "male"],
    )  # fmt: skip
    steep, slopes = (0, (0.0,)) if o.muscles else (0.3, (0.0,) if o.quick else SLOPES)
    if subject is not None and o.speeds is None and o.slopes is None:
        wanted = [WalkCase(told["speed"], told.get("slope", 0.0))]
    else:
        speeds = o.speeds or ((told["speed"],) if "speed" in told else (1.3,) if o.quick else SPEEDS)
        wanted = od.walking.walk_cases(speeds, o.slopes or slopes, o.slope_speeds)
    for case in wanted:
        within(case.slope, -steep, steep, f"slopes must lie between {-steep} and {steep}, for walks of this kind")
        within(case.speed, 0.5, 2.2, "speeds must lie between 0.5 and 2.2 m/s")
    for body in bodies:
        problem(wanted[0].speed, body, quick=True, muscles=o.muscles)
    return wanted, bodies, subject


def walks(o: argparse.Namespace, wanted: list[WalkCase], body: Any, subject: Any, out: Any) -> list[ValidatedWalk]:
    """The walks of one body, with their report and pictures in the folder `out`, None for none."""
    found, who = [], "{sex}, {mass:g} kg, {height:g} m".format(**body)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    make = partial(problem, body=body, quick=o.quick, muscles=o.muscles)
    for walk in od.walking.validated_walks(wanted, make, subject):
        found.append(walk)
        if not o.quiet:
            print(f"  {who}: {len(found)}/{len(wanted)}  {walk.line}", file=sys.stderr, flush=True)
        if out is not None:
            walk.solution.save(out / f"{walk.case.name}.npz")
            attempt(f"{walk.case.name}.png", partial(walk.plot, out / f"{walk.case.name}.png", subject))
    if out is not None:
        attempt("speeds.png", lambda: plot_validation(found, out / "speeds.png"))
        write_validation(found, out / "report.md", who, subject)
    print(*found, sep="\n")
    return found


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speeds", type=float, nargs="+", help="speeds on level ground [m/s], default 0.7 to 2.0")
    add("--slopes", type=float, nargs="+", help="rise per distance, default -0.08 0 0.08")
    add("--slope-speeds", type=float, nargs="+", default=SLOPE_SPEEDS, help="speeds on slopes [m/s]")
    add("--data", type=Path, metavar="FILE.csv", help="measured curves of a subject")
    add("--mass", type=float, nargs="+", help="body mass [kg], default 73 or the subject's; several: a body each")
    add("--height", type=float, nargs="+", help="stature [m], default 1.741 or the subject's; one, or one a body")
    add("--sex", choices=("male", "female"), nargs="+", help="default male or the subject's; one, or one a body")
    add("--muscles", action="store_true", help="walks of the planar body by its muscles, on level ground")
    o, (wanted, bodies, subject) = asked(arguments, argv, _asked)
    begin, found = time.perf_counter(), dict[str, Any]()
    for body in bodies:
        name = "{sex}_{mass:g}_{height:g}".format(**body)
        found[name] = walks(o, wanted, body, subject, o.out if o.out is None or len(bodies) == 1 else o.out / name)
    if o.out is not None and len(bodies) > 1:
        od.walking.write_bodies(found, o.out / "bodies.md")
    last = [walk for of in found.values() for walk in of]
    if o.json:
        each = {who: od.walking.validation_numbers(of) for who, of in found.items()}
        print(as_json((each if len(each) > 1 else each.popitem()[1]) | {"seconds": time.perf_counter() - begin}))
    return (
        INTERRUPTED if last[-1].solution.status == "Interrupted" else int(not all(w.solution.converged for w in last))
    )


if __name__ == "__main__":
    sys.exit(run_command(main))
