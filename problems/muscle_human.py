"""A person walks by muscles in 3-D: 86 muscles of legs and trunk in place of motors.

The statement is that of `human_walk`, whose rigid feet roll from heel to toes, or with --feet compliant that of
`compliant_walk`. The torques of legs and trunk are those of muscles (`od.models.human(muscles=True)`, or with --subject
those of an OpenSim or bioMod model) with rigid tendons; the arms keep their motors. Usual costs are those of that walk,
and the squares of the activations and of their rates; --effort falisse are those of PredSim, and of the arms'
accelerations (`od.walking.falisse_effort`), the default on compliant feet. The first guess is the same walk by motors.
The report has the metabolic rate of the muscles (Bhargava et al. 2004), and the share of the stride in which muscles
are active if and only if measured electromyograms are.

    python -m ocp_dyn.problems.muscle_human [--speed 1.2] [--feet rigid|compliant] [--effort usual|falisse] [--quick]
        [--mass 73] [--height 1.741] [--sex male] [--weaken MUSCLE=FACTOR ...] [--json] [--out DIR] [--subject FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, factors_of, finish, motion_of, parser, refuse_person, run_command

from . import compliant_walk, human_walk

COMPLIANT, BARRIER = 16, 1e-3
"""Intervals of a step on compliant feet; first barrier of IPOPT, from the walk by motors."""


def by_motors(
    speed: float = 1.2, mass: float = 73.0, height: float = 1.741, sex: Any = "male",
    weaken: Mapping[str, float] = {}, intervals: Any = None, feet: str = "rigid", subject: str | None = None,
) -> ocp.Problem:  # fmt: skip
    """The same walk by motors. weaken: factors of strengths of muscles, which decide whether sides differ. subject:
    a file with the body, in place of mass, height and sex."""
    if feet == "compliant":
        if subject is not None:
            raise ValueError("--subject: bodies of files walk on rigid feet here: leave out --feet compliant")
        return compliant_walk.problem(speed, mass, height, sex, intervals=intervals or COMPLIANT)
    if subject is not None:
        person = od.walking.muscle_person(subject, weaken)
    else:
        person = od.walking.person(height=height, sex=sex, model=body(mass, height, sex, weaken))
    return od.walking.human_walk(person, speed, intervals=intervals or human_walk.INTERVALS)


def body(mass: float, height: float, sex: Any, weaken: Mapping[str, float]) -> od.Model:
    """The person with muscles."""
    return od.walking.weakened(_strong(mass, height, sex), weaken)


@cache
def _strong(mass: float, height: float, sex: Any) -> od.Model:
    return od.models.human(mass, height, sex, root=od.FloatingBase(), muscles=True)


def problem(
    speed: float = 1.2, mass: float = 73.0, height: float = 1.741, sex: Any = "male",
    weaken: Mapping[str, float] = {}, intervals: Any = None, feet: str = "rigid", effort: str | None = None,
    subject: str | None = None,
) -> ocp.Problem:  # fmt: skip
    """One step from the right heel's strike to the left's, or a stride if both sides differ, on rigid feet. Its first
    guess is the walk by motors: `problem(...).solve(guess=by_motors(...).solve())`."""
    motors = by_motors(speed, mass, height, sex, weaken, intervals, feet, subject)
    return _by_muscles(motors, body(mass, height, sex, weaken) if subject is None else motors.model, weaken, effort)


def _by_muscles(motors: ocp.Problem, model: od.Model, weaken: Mapping[str, float], effort: str | None) -> ocp.Problem:
    """The walk by motors, by muscles."""
    compliant = any(isinstance(foot, ocp.CompliantFoothold) for foot in motors.footholds)
    if compliant and not od.walking.is_even(model, weaken):
        raise ValueError(
            "on compliant feet one step and its mirror image are solved, so both sides must be equally strong, got "
            f"weaken={dict(weaken)}: weaken both sides, such as soleus_r=0.4 soleus_l=0.4, or take rigid feet"
        )
    falisse = compliant if effort is None else effort == "falisse"
    costs = od.walking.falisse_effort(model, arms=True) if falisse else None
    return od.walking.muscle_driven(motors, model=model, costs=costs, replace_costs=costs is not None)


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of a walk and of its muscles, and how their activity agrees with electromyograms."""
    return od.walking.walk_figures(solution) | od.walking.muscle_figures(solution)


def _asked(o: argparse.Namespace) -> tuple[ocp.Problem, ocp.Problem]:
    """The walk by motors, and that by muscles."""
    refuse_person(o)
    grids = compliant_walk if o.feet == "compliant" else human_walk
    given = (o.mass, o.height, o.sex, weaken := factors_of(o.weaken))
    motors = by_motors(o.speed, *given, grids.QUICK if o.quick else None, o.feet, o.subject)
    return motors, _by_muscles(motors, body(*given) if o.subject is None else motors.model, weaken, o.effort)


def arguments() -> argparse.ArgumentParser:
    """The options of the command."""
    found = parser(__doc__)
    add = found.add_argument
    add("--speed", type=float, default=1.2, help="walking speed [m/s], 0.5 to 2.2")
    add("--feet", choices=("rigid", "compliant"), default="rigid", help="default rigid")
    add("--effort", choices=("usual", "falisse"), help="costs; default usual on rigid feet, falisse on compliant ones")
    add("--weaken", metavar="MUSCLE=FACTOR", nargs="+", default=[], help="as in soleus_r=0.4")
    add("--subject", metavar="FILE", help="an OpenSim or bioMod model with muscles, in place of mass, height and sex")
    add_person(found, still=False)
    return found


def main(argv: Any = None) -> int:
    o, (motors, walk) = asked(arguments(), argv, _asked)
    first = None if o.feet == "rigid" else compliant_walk.first_guess(o.speed, o.mass, o.height, o.sex)
    guess = motors.solve(guess=first, progress=False)
    solution = motion_of(o, walk, guess=guess, mu_init=BARRIER)
    return finish(o, solution, lambda: numbers(solution), f"{walk.model.name} walks by muscles at {o.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
