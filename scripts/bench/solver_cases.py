"""Problems of the benchmark of solvers, by name, and all problems of `problems/` that need no input."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import ocp_dyn as od
import problems
from ocp_dyn import ocp
from problems import five_link, human_walk, robot_trot, robot_walk
from problems.small import hopper, pendulum

NEED_ROBOTS = ("robot_trot", "robot_walk")
"""Problems whose robots come with the extra `robots`."""

ARGUMENTS: dict[str, dict[str, Any]] = {"validate": {"speed": 1.3}}
"""Arguments without a default."""

COARSE: dict[str, dict[str, Any]] = {
    "five_link": {"intervals": 12}, "five_link_diary": {"intervals": 20}, "robot_trot": {"intervals": 8},
    "robot_walk": {"intervals": (3, 8)}, "rabbit": {"intervals": 15}, "compliant_walk": {"intervals": 12},
}  # fmt: skip
"""Coarse grids of problems without a QUICK of the type of their intervals."""


@dataclass(frozen=True)
class Case:
    """A problem on grids of any fineness. make: from a multiple of the default number of intervals, and whether a coarse
    grid is to be multiplied."""

    title: str
    make: Callable[[int, bool], ocp.Problem]
    robot: bool = False


def _times(factor: int, counts: Iterable[int]) -> Any:
    return tuple(factor * count for count in counts)


def _human(still: bool) -> Callable[[int, bool], ocp.Problem]:
    def make(factor: int, quick: bool) -> ocp.Problem:
        counts = human_walk.QUICK if quick else human_walk.INTERVALS
        return human_walk.problem(intervals=_times(factor, counts), still=still)

    return make


CASES = {
    "pendulum": Case("pendulum, swing-up", lambda f, quick: pendulum.problem(f * (20 if quick else 60))),
    "five-link": Case("five-link biped", lambda f, quick: five_link.problem(intervals=f * (12 if quick else 50))),
    "hopper": Case("hopper", lambda f, quick: hopper.problem(f * (5 if quick else 15))),
    "human18": Case("human, 18 dofs", _human(still=True)),
    "human29": Case("human, 29 dofs", _human(still=False)),
    "talos": Case("TALOS, 38 dofs",
                  lambda f, quick: robot_walk.problem(0.5, intervals=_times(f, (3, 8) if quick else (6, 20))), robot=True),
    "trot": Case("Solo, trot", lambda f, quick: robot_trot.problem(intervals=f * (8 if quick else 16)), robot=True),
}  # fmt: skip
"""Cases by their names in the command line."""

WALKS = ("five-link", "human18", "human29", "talos", "trot")
"""Cases of the tables by linear solver."""

SMALL = ("pendulum", "five-link", "hopper", "human18")
"""Cases of the table of all solvers."""


def missing(case: Case) -> str:
    """Why a case cannot be measured here; "" if it can."""
    if not case.robot or od.robots.installed():
        return ""
    return 'the robot\'s file is not installed: pip install ".[robots]"'


def names() -> list[str]:
    """The modules of `problems/` and `problems/small/` with a function `problem` that needs no input."""
    found = []
    for prefix, package in (("", problems), ("small.", importlib.import_module("problems.small"))):
        for module in pkgutil.iter_modules(package.__path__):
            if module.ispkg or module.name.startswith("_"):
                continue
            function = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "problem", None)
            if function is not None and not _needed(function) - set(ARGUMENTS.get(module.name, {})):
                found.append(prefix + module.name)
    return [name for name in found if name not in NEED_ROBOTS or od.robots.installed()]


def ready(name: str, quick: bool) -> ocp.Problem:
    """A problem of `problems/` with its default arguments, or on its coarse grid."""
    module = importlib.import_module(f"problems.{name}")
    known = inspect.signature(module.problem).parameters
    given = dict(ARGUMENTS.get(name, {}))
    if quick and name in COARSE:
        given |= COARSE[name]
    elif quick and "quick" in known:
        given["quick"] = True
    elif quick and "intervals" in known and hasattr(module, "QUICK"):
        given["intervals"] = module.QUICK
    made: ocp.Problem = module.problem(**given)
    return made


def _needed(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in variable}
