"""Problems of the benchmark of solvers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from problems import five_link, human_walk, robot_trot, robot_walk
from problems.small import hopper, pendulum


@dataclass(frozen=True)
class Case:
    """A problem on grids of any fineness. make: from a multiple of the default number of intervals, and whether a
    coarse grid is to be multiplied."""

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
                  lambda f, quick: robot_walk.problem(
                      0.5, intervals=_times(f, (3, 8) if quick else (6, 20)), margins=None),
                  robot=True),
    "trot": Case("Solo, trot", lambda f, quick: robot_trot.problem(intervals=f * (8 if quick else 16)), robot=True),
}  # fmt: skip
"""Cases by their names in the command line."""

WALKS = ("five-link", "human18", "human29", "talos", "trot")
"""Cases of the tables by linear solver."""

SMALL = ("pendulum", "five-link", "hopper", "human18")
"""Cases of the table of all solvers."""


def missing(case: Case) -> str:
    """The reason why a case cannot be measured here; "" if it can."""
    if not case.robot or od.robots.installed():
        return ""
    return 'the robot\'s file is not installed: pip install ".[robots]"'
