"""A body that walks or trots in MuJoCo by a controller: commands, pushes, and what the controller is not told.

The robot is torque-controlled within the limits of its file, on MuJoCo's default soft contacts with a time step of
1 ms. The controller gets the state of base and joints and which feet feel the ground; its torques act one period later.

    python -m ocp_dyn.problems.control g1 | h1 | talos | human | go2 | anymal_c | ROBOT

    [--predictive | --terrain stairs | stones] [--seconds 10] [--command V [SIDE [TURN]] | --changing] [--push DV]
    [--trial mass | friction | delay | steps | slope | noise] [--seed 0] [--json] [--out DIR]

The body stands, follows the command, and stops in the last 3 s. `--predictive`: a plan of the whole body every 10 ms
(`ocp.Horizon`) instead of footholds by rule. `--terrain`: a ground that the controller knows. `--changing`: commands
that change every 2 s. `--push DV`: a push of 0.1 s at the trunk that changes the speed by DV [m/s], forward and
sideways at each of 8 phases of the gait. DIR gets an animation, command and motion, forces in their cones, and times of
the updates. MuJoCo comes with the extra "robots".
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, parser, print_numbers, run_command, within

QUICK = 4.0
"""Time of a run with --quick [s]."""

FASTEST = 3.0
"""Largest commanded speed [m/s, rad/s]."""


def _asked(o: argparse.Namespace) -> tuple[Any, ocp.Command, str, dict[str, Any]]:
    """Controller and command; what it is not told in words, and as options of `Controller.simulate`."""
    od.replay.check_installed()
    if o.changing and (o.command or o.push):
        raise ValueError("--changing excludes --command and --push: pushes need a steady gait")
    if o.command is not None and len(o.command) > 3:
        raise ValueError(f"--command takes forward, sideways and turning speed, got {len(o.command)} numbers")
    if o.seconds is not None and not 0 < o.seconds <= 3600:
        raise ValueError(f"--seconds must be positive and at most 3600, got {o.seconds:g}")
    if o.terrain and (o.predictive or o.trial):
        raise ValueError("--terrain excludes --predictive and --trial")
    od.control.Push((o.push or 0.0, 0.0))
    told, options = od.control.trial(o.trial) if o.trial else ("level ground", {})
    within(o.seed, 0, 2**32 - 1, "--seed must be a whole number, 0 or more")
    for speed in o.command or ():
        within(speed, -FASTEST, FASTEST, f"--command: speeds must lie between -{FASTEST:g} and {FASTEST:g}")
    command = ocp.Command(*(o.command or (0.4,)))
    ground = od.control.terrain(o.terrain) if o.terrain else None
    if ground:
        told, options = f"{o.terrain} that it knows", {"world": od.control.World(terrain=ground)}
    body = od.control.body(o.robot)
    if not o.predictive:
        return od.control.controller(body, ground), command, told, options | {"seed": o.seed}
    control = od.control.PredictiveController(body)
    control.control.asked(command)
    return control, command, told, options | {"seed": o.seed}


def _pushed(o: argparse.Namespace, control: Any, command: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The last run with pushes, and the figures of all."""
    given = od.control.pushes(o.push, 2 if o.quick else 8)
    runs, stood = od.control.pushed(control, command, given, _tell(o), **options)
    fallen = [(push.change, push.phase) for push, up in stood if not up]
    numbers = runs[-1].figures() | {
        "fell": len(stood) < len(given) or bool(fallen),
        "seconds": sum(run.seconds for run in runs),
        "pushes": len(given),
        "stood": sum(up for _, up in stood),
        "fell_by": fallen,
    }
    return runs[-1], numbers


def _tell(o: argparse.Namespace) -> Any:
    return None if o.quiet else lambda t: print(f"\r{t:5.1f} s", end="", file=sys.stderr, flush=True)


def arguments() -> argparse.ArgumentParser:
    """The options of the command."""
    found = parser(__doc__)
    add = found.add_argument
    add("robot", metavar="ROBOT", help="human, h1, or a name of od.robots with two or four feet")
    add("--predictive", action="store_true", help="predictive control instead of footholds by rule")
    add("--seconds", type=float, help="time of the run [s]; 10, with --quick 4")
    add("--command", type=float, nargs="+", metavar="V", help="forward, sideways [m/s], turn [rad/s]; 0.4 0 0")
    add("--terrain", metavar="NAME", help="a ground that the controller knows: stairs, stones")
    add("--changing", action="store_true", help="commands that change every 2 s")
    add("--push", type=float, metavar="DV", help="change of speed by every push [m/s]")
    add("--trial", metavar="NAME", help="what the controller is not told: mass, friction, delay, steps, slope, noise")
    add("--seed", type=int, default=0, help="of changing commands and of noise")
    return found


def main(argv: Any = None) -> int:
    o, (control, command, told, options) = asked(arguments(), argv, _asked)
    if o.push:
        run, numbers = _pushed(o, control, command, options)
    else:
        seconds = o.seconds or (QUICK if o.quick else 10.0)
        wanted = od.control.changing(o.seed) if o.changing else od.control.walk_and_stop(command, seconds)
        run = control.simulate(wanted, seconds, progress=_tell(o), **options)
        numbers = run.figures()
    if not o.quiet:
        print(file=sys.stderr)
    end = f"fell after {run.seconds:.3g} s" if run.fell else f"{run.seconds:.3g} s without a fall"
    print(f"{control.body.name} in MuJoCo, {told}: {end}")
    if o.out is not None:
        od.control.draw_run(run, o.out)
    print_numbers(o, numbers)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
