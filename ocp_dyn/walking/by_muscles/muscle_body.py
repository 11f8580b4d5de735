"""Bodies of files that walk by their muscles: on the spheres under their feet, or as a person on rigid feet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike

from ..._base.files import file_to_read
from ...dynamics.compliant import HuntCrossleySphere
from ...io import osim_spheres
from ...io.formats import format_of, load
from ...mechanism import Model
from ..compliant_feet import compliant_feet
from ..person import Person
from ..subjects.load_subject import load_subject
from ..subjects.loaded_person import loaded_person
from .weakening import is_even, weakened


def muscle_body(path: str | PathLike[str]) -> tuple[Model, tuple[HuntCrossleySphere, ...]]:
    """The model of a file, and spheres of contact under its feet, for `muscle_walk`.

    Spheres are those of an OpenSim file that has some; the model is then that of `od.load`. For others the body is
    that of `loaded_person`, whose sole reaches from the rearmost to the foremost marker or muscle point on foot and
    toes, and the spheres, at the heel and under the ball of the foot, are those of `od.models.human_spheres` for its
    stature and the length of its sole. Errors are those of `od.load` and `loaded_person`.

    >>> od.walking.muscle_walk(*od.walking.muscle_body("gait.osim"))  # doctest: +SKIP
    """
    if format_of(file_to_read(path)).name == "OpenSim model" and (spheres := osim_spheres(path)):
        return load(path), spheres
    person = loaded_person(load_subject(path))
    feet = compliant_feet(person.model, person.size.height, length=person.size.foot_length)
    return person.model, tuple(ball for foot in feet for ball in foot.spheres)


def muscle_person(path: str | PathLike[str], weaken: Mapping[str, float] = {}) -> Person:
    """The person of a file (`loaded_person`) whose muscles may be weaker, for a walk on rigid feet by muscles.

    weaken: factors of maximum isometric forces by names of muscles; with uneven ones a stride of two steps repeats, not
    a step. Errors are those of `od.load` and `loaded_person`, and ModelError for a body without muscles.

    >>> walk = od.walking.human_walk(od.walking.muscle_person("subject.osim"), 1.2)  # doctest: +SKIP
    >>> by_muscles = od.walking.muscle_driven(walk).solve(guess=walk.solve())  # doctest: +SKIP
    """
    person = loaded_person(load_subject(path))
    model = weakened(person.model, weaken)
    return replace(person, model=model, mirrored=person.mirrored and is_even(model, weaken))
