"""The body of a file that walks by its muscles, and the spheres under its feet."""

from __future__ import annotations

from os import PathLike

from ..._base.files import file_to_read
from ...dynamics.compliant import HuntCrossleySphere
from ...io import osim_spheres
from ...io.formats import format_of, load
from ...mechanism import Model
from ..compliant_feet import compliant_feet
from ..subjects.load_subject import load_subject
from ..subjects.loaded_person import loaded_person


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
