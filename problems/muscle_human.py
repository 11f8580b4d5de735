"""A person walks by muscles, in 3-D on rigid feet: 86 muscles of legs and trunk in place of motors.

The statement is that of `human_walk`: the feet roll from heel to toes, durations, step length and width are free. The
torques of legs and trunk are those of muscles (`od.models.human(muscles=True)`) with rigid tendons, at the moment arms
of their paths; the arms keep their motors. Activations change as fast as the times of activation and deactivation
allow. The costs are those of `human_walk`, in which torques are those of the arms, and the squares of the activations
and of their rates.

The first guess is the walk by motors: its torques are shared out to the muscles with the least squares of activations.
The report has the metabolic rate of the muscles (Bhargava et al. 2004), and the share of the stride in which muscles
are active if and only if measured electromyograms are.

    python -m ocp_dyn.problems.muscle_human [--speed 1.2] [--mass 73] [--height 1.741] [--sex male] [--quick]
        [--weaken MUSCLE=FACTOR ...] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, factors_of, finish, motion_of, parser, run_command

from . import human_walk

BARRIER = 1e-3
"""First barrier of IPOPT, from the walk by motors."""


def by_motors(
    speed: float = 1.2, mass: float = 73.0, height: float = 1.741, sex: Any = "male",
    weaken: Mapping[str, float] = {}, intervals: Any = human_walk.INTERVALS,
) -> ocp.Problem:  # fmt: skip
    """The same walk by motors, which is the first guess. weaken: factors of the strengths of muscles."""
    body = od.models.human(mass, height, sex, root=od.FloatingBase(), muscles=True)
    model = od.walking.weakened(body, weaken)
    return od.walking.human_walk(od.walking.person(height=height, sex=sex, model=model), speed, intervals=intervals)


def problem(speed: float = 1.2, *arguments: Any, **options: Any) -> ocp.Problem:
    """One step from the right heel's strike to the left's, or a stride if both sides differ; arguments: as of
    `by_motors`. Its first guess is that walk: `problem(...).solve(guess=by_motors(...).solve())`."""
    return od.walking.muscle_driven(by_motors(speed, *arguments, **options))


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of a walk, and how the activity of muscles agrees with electromyograms."""
    timing = od.walking.muscle_timing(solution)
    agreement = {f"agreement_with_emg_{name.replace(' ', '_')}": one.agreement for name, one in timing.items()}
    return od.walking.walk_figures(solution) | agreement


def _given(o: argparse.Namespace) -> dict[str, Any]:
    intervals = human_walk.QUICK if o.quick else human_walk.INTERVALS
    person = {"mass": o.mass, "height": o.height, "sex": o.sex}
    return person | {"speed": o.speed, "weaken": factors_of(o.weaken), "intervals": intervals}


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s], 0.5 to 2.2")
    arguments.add_argument("--weaken", metavar="MUSCLE=FACTOR", nargs="+", default=[], help="as in soleus_r=0.4")
    add_person(arguments, still=False)
    options, walk = asked(arguments, argv, lambda o: problem(**_given(o)))
    guess = by_motors(**_given(options)).solve(progress=False)
    solution = motion_of(options, walk, guess=guess, mu_init=BARRIER)
    return finish(options, solution, lambda: numbers(solution), f"Walking by muscles at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
