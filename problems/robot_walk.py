"""A robot walks: one periodic, mirrored step of least effort for any humanoid or biped, by its name in `od.robots`,
from a file, or as a model with closed chains in its legs.

On flat feet the step has double support, single support, and a landing without impact (or `--impact`). On point feet
it has single support only: as the swinging foot hits the ground the other leaves it. The durations and the step
width are free, forces lie in friction cones, centers of pressure inside the soles. Sizes and bounds follow from the
length of the legs. The first guess is the robot standing with bent knees. Robots as built are not quite symmetric: the
gait is that of the symmetric twin, and the report gives the difference of the two. Joints that move no mass are locked.
The walk keeps an operator's margins of clearance, turning, joints and motors (`od.walking.Margins`), unless `--margins
none`.

    python -m ocp_dyn.problems.robot_walk talos
    python -m ocp_dyn.problems.robot_walk bolt --speed 0.5
    python -m ocp_dyn.problems.robot_walk my_robot.urdf [--left-foot left_sole_link --right-foot right_sole_link]
    python -m ocp_dyn.problems.robot_walk heel_spring_biped

    [--speed V] [--backward] [--slope 0] [--steps 1] [--step-length L] [--step-width W] [--step-time T] [--load KG]
    [--lock JOINT ...] [--lock-light] [--double-support S] [--sole-height 0] [--sole HALF_LENGTH HALF_WIDTH]
    [--intervals 6 20] [--impact] [--margins NAME=VALUE ...] [--ignore-limits] [--quick] [--json] [--out DIR]
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

BODY = ("feet", "sole", "sole_height", "locked", "lock_light", "load", "limits")
"""Options of the robot; all others are those of its steps."""

BUILT_HERE = "heel_spring_biped"
"""A robot without a file."""

numbers = od.walking.biped_figures
"""Numbers of the report beside the summary."""


def problem(speed: float | None = None, model: Any = "talos", **options: Any) -> ocp.Problem:
    """Steps of a robot, the first from the right foot's touchdown on.

    model: a robot's name, a model, the path of its file, or a `ClosedChain`. Options of the robot are those of
    `od.walking.biped`: feet, sole, sole_height, locked, lock_light, load, limits. Options of the steps are those of
    `od.walking.biped_walk`: step_length, step_width, step_time, steps, backward, slope, double_support, clearance,
    impact, margins, intervals, guess.
    """
    body = {name: options.pop(name) for name in BODY if name in options}
    return od.walking.biped_walk(od.walking.biped(model, **body), speed, **options)


def _asked(o: argparse.Namespace) -> ocp.Problem:
    robot, feet = asked_robot(o), (o.left_foot, o.right_foot)
    return problem(
        o.speed, robot, feet=feet, sole=tuple(o.sole) if o.sole else "known", sole_height=o.sole_height,
        locked=o.lock or (), lock_light=o.lock_light, load=o.load, limits=False if o.ignore_limits else None,
        step_length=bounds_of(o.step_length, 1), step_width=bounds_of(o.step_width, 1),
        step_time=bounds_of(o.step_time, 1), steps=o.steps, backward=o.backward, slope=o.slope, impact=o.impact,
        double_support=o.double_support, intervals=intervals_of(o, (6, 20), (2, 8)),
        margins=margins_of(o, od.walking.biped_walk),
    )  # fmt: skip


def differences(walk: ocp.Problem, built: od.Model) -> dict[str, Any]:
    """Numbers that tell the robot that walks from the one that was built: locked joints, asymmetry."""
    locked = sorted(set(built.joint_names) - set(walk.model.joint_names))
    try:
        apart = ocp.asymmetry(built)
    except od.ModelError:  # no twin
        apart = {}
    shown = {"locked_joints": ", ".join(locked)} if locked else {}
    return {**shown, **{f"asymmetry_{key}": value for key, value in apart.items()}}


def arguments() -> argparse.ArgumentParser:
    """The options of the command, with those of `ocp-dyn walk`."""
    found = parser(__doc__)
    add_robot(found)
    found.add_argument(
        "--left-foot",
        metavar="NAME",
        help="link or frame of the left sole; by default that of the robot's name, or of the shapes in its file",
    )
    found.add_argument("--right-foot", metavar="NAME", help="link or frame of the right sole")
    found.add_argument("--intervals", type=int, nargs=2, help="numbers of intervals in double and in single support")
    add_walker(found, "robot_walk", slope=0.0, load=0.0)
    return found


def main(argv: Any = None) -> int:
    options, walk = asked(arguments(), argv, _asked)
    solution = motion_of(options, walk)

    def figures() -> dict[str, Any]:
        if options.robot == BUILT_HERE:
            return numbers(solution)
        return numbers(solution) | differences(walk, od.walking.as_built(asked_robot(options)))

    speed = abs(solution.step_length) / solution.duration
    return finish(options, solution, figures, f"{walk.model.name} walks at {speed:.3g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
