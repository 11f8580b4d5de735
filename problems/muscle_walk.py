"""Walking by muscles: one periodic, mirrored step of least effort of a body with muscles on compliant feet.

By default the body is a human in the sagittal plane (`od.models.planar_human`), with nine muscles in each leg; --model
takes an OpenSim model of a body with muscles. If its feet have no spheres of contact they get some at heel and toes, as
markers and muscle points show them (`od.walking.muscle_body`). Tendons are rigid, and activations
change no faster than excitations can make them; joints that no muscle moves, such as the back, have motors. The costs
are the squares of activations, torques and accelerations, per distance (`od.walking.muscle_walk`). Time and length of
the step are free, and the solver finds heel strike and toe-off. The first guess has the joint angles of people.

--track FILE: half a recorded stride of the model is followed instead, with excitations, and with --loads the recorded
forces on its feet: the statement of OpenSim Moco's example of a walk in two dimensions (`od.walking.muscle_tracking`).
--range NAME LOW HIGH limits a coordinate [degrees, or m], as that example does.

--weaken NAME=FACTOR multiplies the force of a muscle. Where that makes the sides uneven, a stride of two steps is
solved.

    python -m ocp_dyn.problems.muscle_walk [--speed 1.2] [--model FILE.osim] [--weaken soleus_r=0.4 ...] [--quick]
        [--json] [--out DIR] [--mass 73] [--height 1.741] [--sex male]
    python -m ocp_dyn.problems.muscle_walk --model FILE.osim --track COORDINATES.sto [--loads LOADS.xml]
        [--range NAME LOW HIGH ...] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_walker, asked, factors_of, finish, motion_of, parser, run_command

INTERVALS, QUICK = 48, 16
PLACED = "spheres at heel and ball of the foot, placed by markers and muscle points: the file has none"
RIGID = "a body in space whose file has no spheres: python -m ocp_dyn.problems.muscle_human --subject"

Ranges = Sequence[tuple[str, Any, Any]]
"""Names of coordinates, least and largest value [degrees, or m]."""

numbers = od.walking.muscle_figures


def problem(
    speed: float = 1.2, mass: float = 73.0, height: float = 1.741, sex: Any = "male", *, model: str | None = None,
    weaken: Mapping[str, float] = {}, ranges: Ranges = (), intervals: int = INTERVALS,
) -> ocp.Problem:  # fmt: skip
    """One step at a speed [m/s], or a stride. model: an OpenSim file in place of the person."""
    walker, spheres = body(mass, height, sex) if model is None else od.walking.muscle_body(model)
    if model and walker.joints[1].nv > 3 and not od.io.osim_spheres(model):
        raise ValueError(f"{model}: {RIGID} {model}")
    return od.walking.muscle_walk(limited(walker, ranges), speed, spheres, weaken=weaken, intervals=intervals)


def tracking(
    model: str, coordinates: str, loads: str | None = None, *, weaken: Mapping[str, float] = {}, ranges: Ranges = ()
) -> ocp.Problem:
    """Half a recorded stride followed; files of a model, of its coordinates and of the forces on its feet."""
    walker = od.walking.weakened(limited(od.load(model), ranges), weaken)
    forces = None if loads is None else od.recordings.read_external_loads(loads)
    return od.walking.muscle_tracking(walker, od.recordings.read(coordinates), forces, od.io.osim_spheres(model))


def limited(model: od.Model, ranges: Ranges) -> od.Model:
    """The model with ranges of its coordinates, (name, low, high) in degrees or m."""
    for name, low, high in ranges:
        length = name in model.q_names and model.lengths[0][model.q_names.index(name)]
        low, high = (float(x) if length else np.radians(float(x)) for x in (low, high))
        model = model.with_limits(lower={name: low}, upper={name: high})
    return model


def body(mass: float, height: float, sex: Any) -> tuple[od.Model, Sequence[od.HuntCrossleySphere]]:
    """A planar person, and the spheres under the feet."""
    person = od.models.planar_human(mass, height, sex)
    return person, [ball for foot in od.walking.compliant_feet(person, height, sex) for ball in foot.spheres]


def _asked(o: argparse.Namespace) -> ocp.Problem:
    person = {name: getattr(o, name) for name in ("mass", "height", "sex") if getattr(o, name) is not None}
    if o.model and person:
        raise ValueError(f"--{next(iter(person))}: the body is that of {o.model}; change it in its model")
    if o.loads and not o.track:
        raise ValueError("--loads: forces are followed beside coordinates: give --track COORDINATES")
    changes: dict[str, Any] = {"weaken": factors_of(o.weaken), "ranges": o.range}
    if o.track:
        if not o.model:
            raise ValueError("--track: the recorded coordinates are those of a model: give --model FILE.osim")
        return tracking(o.model, o.track, o.loads, **changes)
    return problem(o.speed, **person, model=o.model, intervals=QUICK if o.quick else INTERVALS, **changes)


def arguments() -> argparse.ArgumentParser:
    """The options of the command."""
    found = parser(__doc__)
    add = found.add_argument
    add_walker(found, "muscle_walk", speed=1.2, weaken=[])
    add("--model", metavar="FILE", help="an OpenSim model with muscles")
    add("--track", metavar="FILE", help="follow the coordinates of half a stride in this file, such as .sto")
    add("--loads", metavar="FILE", help="with --track: follow OpenSim's external loads on the feet, .xml")
    add("--range", nargs=3, action="append", default=[], metavar=("NAME", "LOW", "HIGH"),
        help="limits of a coordinate [degrees, or m]; may be repeated")  # fmt: skip
    add("--mass", type=float, help="body mass [kg], default 73")
    add("--height", type=float, help="stature [m], default 1.741")
    add("--sex", choices=("male", "female"), help="default male")
    return found


def main(argv: Any = None) -> int:
    options, walk = asked(arguments(), argv, _asked)
    solution = motion_of(options, walk)
    how = "following a recorded stride" if options.track else f"walking at {options.speed:g} m/s"
    placed = {"feet": PLACED} if options.model and not od.io.osim_spheres(options.model) else {}
    return finish(options, solution, lambda: numbers(solution) | placed, f"{walk.model.name} {how} by its muscles")


if __name__ == "__main__":
    sys.exit(run_command(main))
