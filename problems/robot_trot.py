"""A quadruped, by its name in `od.robots` or from a file, trots on diagonal pairs of point feet: one periodic, mirrored
half of the gait of least effort.

The half begins as one pair of feet touches down (an impact) and ends as the other pair touches down, in the mirror
image of the start. Between the stances of the pairs may be a flight (`--flight`) or a time on all four feet
(`--overlap`). The trot keeps an operator's margins (`od.walking.Margins`), unless `--margins none`.

    python -m ocp_dyn.problems.robot_trot solo12
    python -m ocp_dyn.problems.robot_trot my_robot.urdf --feet FL_FOOT FR_FOOT HL_FOOT HR_FOOT

    [--speed V] [--backward] [--slope 0] [--step-length L] [--step-time T] [--load KG] [--lock JOINT ...]
    [--foot-radius 0] [--flight S | --overlap S] [--margins NAME=VALUE ...] [--intervals 16]
    [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import (
    add_robot,
    add_walker,
    asked,
    asked_robot,
    bounds_of,
    finish,
    intervals_of,
    margins_of,
    motion_of,
    parser,
    run_command,
)  # fmt: skip

BODY = ("feet", "foot_radius", "locked", "load")
"""Options of the robot; all others are those of its gait."""


def problem(speed: float | None = None, model: Any = "solo12", **options: Any) -> ocp.Problem:
    """Half a trot, from the touchdown of front left and hind right on.

    model: a robot's name, a model, or the path of its file. Options of the robot are those of `od.walking.quadruped`:
    feet, foot_radius, locked, load. Options of the gait are those of `od.walking.trot`: flight, overlap, step_length,
    step_time, backward, slope, clearance, margins, intervals, guess.
    """
    body = {name: options.pop(name) for name in BODY if name in options}
    return od.walking.trot(od.walking.quadruped(model, **body), speed, **options)


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the robot."""
    return od.walking.robot_figures(solution.model)


def _asked(o: argparse.Namespace) -> ocp.Problem:
    if o.flight and o.overlap:
        raise ValueError("--flight and --overlap exclude each other: feet are off the ground or on it")
    robot = asked_robot(o)
    return problem(
        o.speed, robot, feet=tuple(o.feet) if o.feet else None, foot_radius=o.foot_radius, locked=o.lock or (),
        load=o.load, flight=o.flight, overlap=o.overlap, step_length=bounds_of(o.step_length, 1),
        step_time=bounds_of(o.step_time, 1), backward=o.backward, slope=o.slope, intervals=intervals_of(o, 16, 8),
        margins=margins_of(o, od.walking.trot),
    )  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    """The options of the command, with those of `ocp-dyn walk`."""
    found = parser(__doc__)
    add_robot(found)
    found.add_argument("--feet", nargs=4, metavar="NAME", help="links or frames of the feet: front left, front right, "
                       "hind left, hind right; robots by name have them")  # fmt: skip
    found.add_argument("--intervals", type=int, help="intervals of a stance (default 16, with --quick 8)")
    add_walker(found, "robot_trot", slope=0.0, load=0.0, flight=0.0, overlap=0.0)
    return found


def main(argv: Any = None) -> int:
    options, trot = asked(arguments(), argv, _asked)
    solution = motion_of(options, trot)
    speed = abs(solution.step_length) / solution.duration
    return finish(options, solution, lambda: numbers(solution), f"{trot.model.name} trots at {speed:.3g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
