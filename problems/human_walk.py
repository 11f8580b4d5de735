"""Whole-body human walking in 3-D: one periodic, mirrored step of least effort at a given speed.

A human of 29 dofs, any mass, height and sex. The step begins with the strike of the right heel. The right foot rolls
over its heel until it is flat; meanwhile the left foot pushes off on its round front. Then the body moves over the flat
right foot, until its heel rises and it rolls over its front; the step ends with the strike of the left heel. Durations,
step length and step width are free. Contacts push and do not pull, stay in their friction cones and keep the center of
pressure inside the sole or the edge. The costs are those of `od.walking.human_effort`.

The model has the passive torques of muscles at rest and ligaments (`od.models.passive_tissue`), and an Achilles tendon
in series with the muscles of the calf. The foot is rigid; its round front rolls as the toes of a real foot do. With
--toes it has toes on a joint with a spring: when the heel rises they bend, roll on their round soles, and leave last.

The body may carry a load, have locked joints or prosthetic ones, walk backward (the toes touch the ground first, and
the heel leaves it last) and on slopes. A body that is not its own mirror image walks a stride of two steps, whose
footholds and phases are its own.

`--subject FILE`: the body of an OpenSim or bioMod model, by `od.walking.loaded_person`.

    python -m ocp_dyn.problems.human_walk [--speed 1.2] [--mass 73] [--height 1.741] [--sex male] [--quick] [--json]
        [--out DIR] [--load KG] [--lock JOINT ...] [--prosthesis JOINT ...] [--backward] [--slope RISE] [--steps N]
        [--step-length M] [--step-width M] [--step-time S] [--subject FILE] [--feet LEFT,RIGHT]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_walker, asked, bounds_of, finish, motion_of, parser, run_command

INTERVALS = (4, 2, 12, 13)
"""Numbers of intervals: heel strike to foot flat, to toe-off, to heel-off, to the next heel strike."""

QUICK = (2, 2, 6, 6)

BODY = ("base", "still", "toes", "model", "load", "locked", "prosthesis")
"""Options of the body; all others are those of its steps."""

numbers = od.walking.walk_figures
"""Numbers of the report beside the summary."""


def problem(
    speed: float = 1.2, mass: float = 73.0, height: float = 1.741, sex: Any = "male", **options: Any
) -> ocp.Problem:
    """One step, from the right foot's strike to the left's, or `steps`.

    Options of the body are those of `od.walking.person`: base, still, toes, model, load, locked, prosthesis.
    Options of the steps are those of `od.walking.human_walk`: step_length, step_width, step_time, steps, backward,
    slope, intervals, form, integrator, guess.
    """
    body = {name: options.pop(name) for name in BODY if name in options}
    person = od.walking.person(mass, height, sex, **body)
    return od.walking.human_walk(person, speed, **options)


def _values(texts: list[str]) -> dict[str, float | None]:
    """Values by joint, from texts such as "ankle_r" (None) and "knee_r=0.3"."""
    found: dict[str, float | None] = {}
    for text in texts:
        name, given, value = text.partition("=")
        try:
            found[name] = float(value) if given else None
        except ValueError:
            raise ValueError(f"{text!r}: after = stands a number, as in knee_r=0.3, got {value!r}") from None
    return found


def _asked(o: argparse.Namespace) -> ocp.Problem:
    steps = {
        "intervals": QUICK if o.quick else INTERVALS, "backward": o.backward, "slope": o.slope, "steps": o.steps,
        "step_length": bounds_of(o.step_length), "step_width": bounds_of(o.step_width),
        "step_time": bounds_of(o.step_time),
    }  # fmt: skip
    if o.subject:
        return od.walking.human_walk(_subject(o), o.speed, **steps)
    if o.feet:
        raise ValueError("--feet: names of the feet of a subject, which --subject FILE gives")
    body = {name: getattr(o, name) for name in ("mass", "height") if getattr(o, name) is not None}
    changes = {"toes": o.toes, "load": o.load, "locked": _values(o.lock), "prosthesis": _values(o.prosthesis)}
    return problem(o.speed, sex=o.sex, **body, **changes, **steps)


def _subject(o: argparse.Namespace) -> od.walking.Person:
    """The person of --subject."""
    of_file = {"--mass": o.mass is not None, "--toes": o.toes, "--load": o.load != 0, "--prosthesis": o.prosthesis}
    for option, given in of_file.items():
        if given:
            raise ValueError(f"{option}: the body of {o.subject} is that of the file; change it in its model")
    feet = None if not o.feet else [name.strip() for name in o.feet.split(",")]
    model = od.walking.load_subject(o.subject)
    return od.walking.loaded_person(model, feet=feet, height=o.height, sex=o.sex, locked=_values(o.lock))


def arguments() -> argparse.ArgumentParser:
    """The options of the command, with those of `ocp-dyn walk`."""
    found = parser(__doc__)
    add_walker(found, "human_walk", speed=1.2, sex="male", load=0.0, slope=0.0, lock=[], prosthesis=[])
    found.add_argument("--subject", metavar="FILE", help="an OpenSim or bioMod model of the body that walks")
    found.add_argument("--feet", metavar="LEFT,RIGHT", help="frames of its feet, if their names do not tell")
    return found


def main(argv: Any = None) -> int:
    options, walk = asked(arguments(), argv, _asked)
    solution = motion_of(options, walk)
    way = "walking backward" if options.backward else "walking"
    who = walk.model.name if options.subject else "Human"
    return finish(options, solution, lambda: numbers(solution), f"{who} {way} at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
