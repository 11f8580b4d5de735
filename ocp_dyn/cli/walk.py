"""`ocp-dyn walk`: a human or a robot walks, a quadruped trots; pictures, an animation and a report."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from .. import _names as od
from .._base.types import ModelError, suggestion
from .inputs import words
from .options import ROBOT, WALKERS, attribute
from .ready import run_problem
from .streams import UsageError

INTERRUPTED = 130
"""Exit status of a problem whose solver Ctrl-C stopped."""
LEGS = 4
"""Feet of a robot that trots."""
SPACE = 6
"""Dofs of a root that moves in space."""
BODIES = (".osim", ".biomod")
"""Endings of files with models of human bodies."""


def run(options: argparse.Namespace) -> int:
    problem, robot = _problem(options)
    who, own = WALKERS[problem]
    for option in dict.fromkeys(option for _, known in WALKERS.values() for option in known):
        if option not in own and attribute(option) not in robot and _is_given(option, options):
            others = " or ".join(name for name, known in WALKERS.values() if option in known)
            raise UsageError(f"{option} is an option of {others}; here walks {who}")
    asked = importlib.import_module(f"ocp_dyn.problems.{problem}").arguments().parse_args([])
    asked.alone = options.json
    options.out = options.out or folder_of(options.file)
    for option in ("--out", "--quick", "--quiet", "--json", "--no-pictures", "--pictures", "--force", *own):
        if option not in ROBOT and _is_given(option, options):
            setattr(asked, attribute(option), getattr(options, attribute(option)))
    for name, value in robot.items():
        setattr(asked, name, value)
    status = run_problem(problem, asked, options.parser.prog)
    if status != INTERRUPTED and not options.json:
        made = (f"{options.out / name}" for name in ("report.html", "walk.gif") if (options.out / name).is_file())
        print(", ".join((f"report: {options.out / 'report.md'}", *made)))
    return status


def folder_of(walker: Any) -> Path:
    """The folder of a walk without --out: "walk" for a human, "walk_talos" for a robot or a file of this name."""
    return Path("walk" if walker in (None, "human") else f"walk_{Path(str(walker)).stem}")


def _is_given(option: str, options: argparse.Namespace) -> bool:
    value = getattr(options, attribute(option))
    return value is not None and value is not False


def _problem(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The problem of FILE, and those of its options that name robot and feet."""
    if options.file in (None, "human"):
        return "human_walk", {}
    name = str(options.file)
    known = name in od.robots.names()
    if not known and not Path(name).is_file():
        walkers = [n for n in od.robots.names() if len(od.robots.describe(n).feet) in (2, LEGS)]
        near = suggestion(name, walkers) or f"; robots that walk: {', '.join(walkers)}"
        raise UsageError(f"no file and no robot {name!r}{near}")
    if Path(name).suffix.lower() in BODIES:
        if _by_muscles(name):
            return "muscle_walk", {"model": name}
        return "human_walk", {"subject": name, "feet": options.feet}
    feet = words(options.feet or "")
    named = bool(feet)
    if not feet and not (known and od.robots.describe(name).feet):
        feet = _found_feet(name, options)
    if feet and len(feet) not in (2, LEGS):
        raise UsageError(f"--feet: two names (left, right) or four (front left, front right, hind left, hind right), "
                         f"got {len(feet)}")  # fmt: skip
    if len(feet or od.robots.describe(name).feet) == LEGS:
        # links that shapes show as feet may begin at the knee: of a file the problem finds the points under them
        return "robot_trot", {"robot": name, "feet": list(feet) if feet and (named or known) else None}
    left, right = feet or (None, None)
    return "robot_walk", {"robot": name, "left_foot": left, "right_foot": right}


def _found_feet(name: str, options: argparse.Namespace) -> tuple[str, ...]:
    """The feet that the shapes in a robot's file show, which are told."""
    try:
        found: tuple[str, ...] = od.walking.find_feet(od.walking.as_built(name))
    except ModelError as error:
        raise UsageError(f"{error}, --feet LEFT,RIGHT or --feet FRONT_LEFT,FRONT_RIGHT,HIND_LEFT,HIND_RIGHT "
                         "(`ocp-dyn info` lists frames)") from None  # fmt: skip
    if not (options.quiet or options.json):
        print(f"feet, by the shapes in the file: {', '.join(found)}")
    return found


def _by_muscles(file: str) -> bool:
    """Whether the body of a file moves in a plane, with muscles; not for a file with faults, which are told later."""
    try:
        model = od.load(file)
    except ModelError:
        return False
    return bool(model.floating_joints) and model.joints[1].nv < SPACE and bool(model.muscles)
