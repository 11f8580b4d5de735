"""`ocp-dyn walk`: a human or a robot walks, a quadruped trots; pictures, an animation and a report."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from pathlib import Path

from .. import _names as od
from .._types import meant
from .inputs import UsageError, words
from .options import BIPED, HUMAN, QUADRUPED, ROBOT, STEPS, WALK
from .ready import run_problem

INTERRUPTED = 130
"""Exit status of a problem whose solver Ctrl-C stopped."""
LEGS = 4
"""Feet of a robot that trots."""
WALKERS = {"human_walk": ("a human", WALK | STEPS | HUMAN),
           "robot_walk": ("a robot on two feet", WALK | STEPS | ROBOT | BIPED),
           "robot_trot": ("a quadruped", WALK | ROBOT | QUADRUPED)}  # fmt: skip
"""Who walks in each problem, and the options of --help that it has."""


def run(options: argparse.Namespace) -> int:
    problem, arguments = _problem(options)
    _refuse_options_of_others(problem, options)
    arguments += ["--out", str(options.out)]
    arguments += [f"--{name}" for name in ("quick", "quiet", "json") if getattr(options, name)]
    for option in ("--speed", *WALKERS[problem][1]):
        arguments += [] if option == "--feet" else _given(option, options)
    if not options.json:
        status = run_problem(problem, arguments, options.parser.prog)
        if status == INTERRUPTED:
            return status
        print(f"report with pictures: {options.out / 'report.md'}; animation: {options.out / 'walk.gif'}")
        return status
    printed = io.StringIO()  # the problem prints a table, too; here the JSON object stands alone
    with contextlib.redirect_stdout(printed):
        status = run_problem(problem, arguments, options.parser.prog)
    if status == INTERRUPTED:
        return status
    numbers = json.loads(printed.getvalue().splitlines()[-1])
    print(json.dumps(numbers | {"files": sorted(str(path) for path in options.out.iterdir())}))
    return status


def _refuse_options_of_others(problem: str, options: argparse.Namespace) -> None:
    who, own = WALKERS[problem]
    for option in STEPS | HUMAN | ROBOT | BIPED | QUADRUPED:
        if option not in own and _given(option, options):
            others = " or ".join(name for name, known in WALKERS.values() if option in known)
            raise UsageError(f"{option} is an option of {others}; here walks {who}")
    if options.flight and options.overlap:
        raise UsageError("--flight and --overlap exclude each other: feet are off the ground or on it")


def _given(option: str, options: argparse.Namespace) -> list[str]:
    """An option with its values as the problem reads it; nothing if it was not given."""
    value = getattr(options, option[2:].replace("-", "_"))
    if value is None or value is False:
        return []
    return [option, *([] if value is True else map(str, value if isinstance(value, list) else [value]))]


def _problem(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The problem of FILE, and the arguments that name robot and feet."""
    if options.file in (None, "human"):
        return "human_walk", []
    name = str(options.file)
    known = name in od.robots.names()
    if not known and not Path(name).is_file():
        walkers = [n for n in od.robots.names() if len(od.robots.describe(n).feet) in (2, LEGS)]
        near = meant(name, walkers) or f"; robots that walk: {', '.join(walkers)}"
        raise UsageError(f"no file and no robot {name!r}{near}")
    if Path(name).suffix.lower() == ".json":
        raise UsageError(f"{name}: a walk needs the URDF of the robot, not a model as JSON")
    feet = words(options.feet or "")
    if not feet and not (known and od.robots.describe(name).feet):
        raise UsageError(f"the feet of {name} are not known: name their links or frames, --feet LEFT,RIGHT or "
                         "--feet FRONT_LEFT,FRONT_RIGHT,HIND_LEFT,HIND_RIGHT (`ocp-dyn info` lists frames)")  # fmt: skip
    if feet and len(feet) not in (2, LEGS):
        raise UsageError(f"--feet: two names (left, right) or four (front left, front right, hind left, hind right), "
                         f"got {len(feet)}")  # fmt: skip
    trots = len(feet or (od.robots.describe(name).feet if known else ())) == LEGS
    if trots:
        return "robot_trot", [name, *(["--feet", *feet] if feet else [])]
    return "robot_walk", [name, *(["--left-foot", feet[0], "--right-foot", feet[1]] if feet else [])]
