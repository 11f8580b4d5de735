"""A solution played in MuJoCo: do its torques carry the body in another library, and how many steps does it stay up?

First `od.replay.inverse`: MuJoCo's inverse dynamics along the motion, whose torques must be the solution's. Then
`od.replay.forward`: each motor gets the planned torque and a joint controller about the planned angle, with the same
gain and damping for all joints of all bodies. Nothing watches the base, the feet or the balance. A periodic motion is
repeated, mirrored as the solution says, until the body falls; a step is one period.

    python -m ocp_dyn.problems.replay human | talos | g1 | FILE.npz

    [--speed V] [--gain 30] [--damping 1] [--steps 20] [--friction 0.8] [--timestep 1e-4] [--quick] [--json] [--out DIR]

DIR gets report.md with its pictures, the solution as walk.npz, and the simulated motion as simulated.npz:
`ocp.Solution.load("simulated.npz").show()` plays it. MuJoCo comes with the extra "robots".
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import INTERRUPTED, as_json, asked, keep, motion_of, parser, run_command

from . import human_walk, robot_walk

USUAL = od.replay.Settings()


def walk(name: str, speed: float | None, quick: bool = False) -> ocp.Problem:
    """The walk of the human, or of a robot by its name in `robot_walk`; speed [m/s], by default that of its problem."""
    if name == "human":
        intervals = human_walk.QUICK if quick else human_walk.INTERVALS
        return human_walk.problem(1.2 if speed is None else speed, intervals=intervals)
    return robot_walk.problem(speed, name, intervals=(2, 8) if quick else (6, 20), margins=None)


def _asked(o: argparse.Namespace) -> tuple[od.replay.Settings, ocp.Problem | ocp.Solution]:
    """Settings, and the solution of a file or the problem to solve."""
    steps = (3 if o.quick else USUAL.steps) if o.steps is None else o.steps
    settings = od.replay.Settings(o.gain, o.damping, o.friction, o.timestep, steps)
    od.replay.check_installed()
    if not o.source.endswith(".npz"):
        return settings, walk(o.source, o.speed, o.quick)
    if o.speed is not None:
        raise ValueError("--speed is for a walk that is solved here; the file has its own")
    return settings, od.replay.check_ground(ocp.Solution.load(Path(o.source)))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("source", metavar="WHAT", help="human, a robot of robot_walk, or FILE.npz of a solution")
    add("--speed", type=float, help="walking speed [m/s]; by default that of human_walk or robot_walk")
    add("--gain", type=float, default=USUAL.gain, help="stiffness of joints [strengths/rad]")
    add("--damping", type=float, default=USUAL.damping, help="their damping [strengths s/rad]")
    add("--steps", type=int, help="most steps to simulate; 20, with --quick 3")
    add("--friction", type=float, default=USUAL.friction, help="coefficient of friction of the ground")
    add("--timestep", type=float, default=USUAL.timestep, help="time step of the simulation [s]")
    options, (settings, source) = asked(arguments, argv, _asked)
    solution = motion_of(options, source) if isinstance(source, ocp.Problem) else source
    keep(options, solution)
    if solution.status == "Interrupted":
        return INTERRUPTED
    if not solution.converged:
        print(f"the motion to replay was not found: {solution.status}", file=sys.stderr)
        return 1
    agreement = od.replay.inverse(solution)
    run = od.replay.forward(solution, settings, None if options.quiet else _tell)
    if not options.quiet:
        print(file=sys.stderr)
    numbers = od.replay.replay_figures(run, agreement)
    print(run.title)
    for key, value in numbers.items():
        print(f"  {key:28s} {f'{value:.6g}' if isinstance(value, float) else value}")
    if options.out is not None:
        od.replay.write_report(run, agreement, options.out)
    if options.json:
        print(as_json(numbers))
    return 0


def _tell(steps: float) -> None:
    print(f"\r{steps:5.1f} steps", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(run_command(main))
