"""A solution played in MuJoCo: do its torques carry the body in another library, and how many steps does it stay up?

First `mj_inverse` along the motion, with the solution's states, accelerations and contact wrenches: its torques must be
the solution's. Then forward: each motor gets the planned torque and a joint controller about the planned angle,

    tau = tau_plan + gain strength (q_plan - q) + damping strength (qd_plan - qd),

within the limits of its strength, with the same gain and damping for all joints of all bodies. Nothing watches the base,
the feet or the balance. The feet are hard shapes (`ocp.contact_shapes`) on MuJoCo's ground with friction. A periodic
motion is repeated, mirrored as the solution says, until the body falls; a step is one period.

    python -m problems.replay human | talos | g1 | FILE.npz

    [--speed V] [--gain 30] [--damping 1] [--steps 20] [--friction 0.8] [--timestep 1e-4] [--quick] [--json] [--out DIR]

DIR gets report.md with its pictures, the solution as walk.npz, and the simulated motion as simulated.npz:
`ocp.Solution.load("simulated.npz").show()` plays it. MuJoCo comes with the extra "robots".
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ocp_dyn import ocp
from ocp_dyn.cli.report import as_json

from . import human_walk, robot_walk
from ._command import INTERRUPTED, asked, keep, parser
from ._replay import inverse, load, mujoco
from ._replay_report import write_report
from ._replay_run import DAMPING, GAIN, TIMESTEP, Run, Settings, forward

QUICK_STEPS = 3


def walk(name: str, speed: float | None, quick: bool = False) -> ocp.Problem:
    """The walk of the human, or of a robot by its name in `robot_walk`; speed [m/s], by default that of its problem."""
    if name == "human":
        return human_walk.problem(
            1.2 if speed is None else speed, intervals=human_walk.QUICK if quick else human_walk.INTERVALS
        )
    return robot_walk.problem(speed, name, intervals=(2, 8) if quick else (6, 20))


def numbers(run: Run, torque: float, root: float) -> dict[str, Any]:
    """Numbers of the report; torque, root: errors of `mj_inverse`, see `Agreement`."""
    solution, settings = run.solution, run.settings
    return {
        "model": solution.model.name,
        "mass_kg": float(solution.model.mass),
        "step_s": solution.duration,
        "step_length_m": solution.step_length,
        "inverse_torque_error": torque,
        "inverse_root_error": root,
        "gain_strengths_per_rad": settings.gain,
        "damping_strengths_s_per_rad": settings.damping,
        "friction": settings.friction,
        "timestep_s": settings.timestep,
        "steps_asked": settings.steps if solution.repeats else 1,
        "steps_upright": run.steps,
        "fell": run.fallen,
        "distance_m": float(run.q[-1, 0] - run.q[0, 0]),
        "planned_distance_m": float(np.diff(solution.sample(run.t[[0, -1]])[:, 0])[0]),
        "saturated_percent": 100 * run.saturated,
    }


def _source(options: argparse.Namespace) -> ocp.Problem | ocp.Solution:
    """The solution of a file, or the problem to solve."""
    mujoco()
    for name in ("gain", "damping", "friction"):
        if not 0 <= getattr(options, name) < math.inf:
            raise ValueError(f"--{name} must be a finite number, not negative, got {getattr(options, name)}")
    if not 0 < options.timestep <= 1e-3:
        raise ValueError(f"--timestep must be positive and at most 0.001 s, got {options.timestep}")
    if options.steps is not None and options.steps < 1:
        raise ValueError(f"--steps must be 1 or more, got {options.steps}")
    path = Path(options.source)
    if path.suffix != ".npz":
        return walk(options.source, options.speed, options.quick)
    if options.speed is not None:
        raise ValueError("--speed is for a walk that is solved here; the file has its own")
    return checked(ocp.Solution.load(path))


def checked(solution: ocp.Solution) -> ocp.Solution:
    """The solution; ValueError for one that the simulated ground cannot carry."""
    for phase in solution.phases:
        if phase.planes:
            raise ValueError(
                f"replay has the ground z = 0, and the foothold {next(iter(phase.planes))!r} of phase {phase.name!r} "
                "lies on another plane: replay a walk on level ground"
            )
        soft = [c.name for c in phase.contacts if isinstance(c, ocp.CompliantFoothold)]
        if soft:
            raise ValueError(
                f"replay has hard ground, and the foothold {soft[0]!r} is compliant: replay a motion with Foothold"
            )
    ocp.contact_shapes(solution)  # raises an error if sizes are missing
    return solution


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("source", metavar="WHAT", help="human, a robot of robot_walk, or FILE.npz of a solution")
    arguments.add_argument(
        "--speed", type=float, help="walking speed [m/s]; by default that of human_walk or robot_walk"
    )
    arguments.add_argument("--gain", type=float, default=GAIN, help="stiffness of joints [strengths/rad]")
    arguments.add_argument("--damping", type=float, default=DAMPING, help="their damping [strengths s/rad]")
    arguments.add_argument("--steps", type=int, help="most steps to simulate; 20, with --quick 3")
    arguments.add_argument("--friction", type=float, default=0.8, help="coefficient of friction of the ground")
    arguments.add_argument("--timestep", type=float, default=TIMESTEP, help="time step of the simulation [s]")
    options, source = asked(arguments, argv, _source)
    solution = source.solve(progress=not options.quiet) if isinstance(source, ocp.Problem) else source
    keep(options, solution)
    if solution.status == "Interrupted":
        return INTERRUPTED
    if not solution.converged:
        print(f"the motion to replay was not found: {solution.status}", file=sys.stderr)
        return 1
    steps = options.steps or (QUICK_STEPS if options.quick else Settings().steps)
    settings = Settings(options.gain, options.damping, options.friction, options.timestep, steps)
    return _replay(options, solution, settings)


def _replay(options: argparse.Namespace, solution: ocp.Solution, settings: Settings) -> int:
    agreement = inverse(solution, load(solution))
    run = forward(solution, settings, None if options.quiet else _tell)
    if not options.quiet:
        print(file=sys.stderr)
    found = numbers(run, agreement.torque, agreement.root)
    title = f"{solution.model.name} in MuJoCo: {run.steps:.3g} steps upright" + ("" if run.fallen else ", and no fall")
    print(title)
    for key, value in found.items():
        print(f"  {key:28s} {f'{value:.6g}' if isinstance(value, float) else value}")
    if options.out is not None:
        write_report(options.out, run, found, title)
    if options.json:
        print(as_json(found))
    return 0


def _tell(steps: float) -> None:
    print(f"\r{steps:5.1f} steps", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
