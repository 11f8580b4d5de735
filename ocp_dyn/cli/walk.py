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
from .options import HUMAN, ROBOT
from .ready import run_problem

INTERRUPTED = 130
"""Exit status of a problem whose solver Ctrl-C stopped."""
LEGS = 4
"""Feet of a robot that trots."""


def run(options: argparse.Namespace) -> int:
    problem, arguments = _problem(options)
    arguments += ["--out", str(options.out)]
    arguments += [f"--{name}" for name in ("quick", "quiet", "json") if getattr(options, name)]
    for option in ("--speed", *HUMAN, *ROBOT):
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
    feet = words(options.feet or "")
    if feet and len(feet) not in (2, LEGS):
        raise UsageError(f"--feet: two names (left, right) or four (front left, front right, hind left, hind right), "
                         f"got {len(feet)}")  # fmt: skip
    trots = len(feet or (od.robots.describe(name).feet if known else ())) == LEGS
    if trots:
        return "robot_trot", [name, *(["--feet", *feet] if feet else [])]
    return "robot_walk", [name, *(["--left-foot", feet[0], "--right-foot", feet[1]] if feet else [])]
