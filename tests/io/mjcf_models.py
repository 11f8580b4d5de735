"""A model with all that the joints of an MJCF file have, and its file read by MuJoCo; for the tests of `write_mjcf`."""

from functools import cache

import numpy as np

import ocp_dyn as od
from tests.helpers import turns


def loaded(model, shapes=(), **options):
    import mujoco

    return mujoco.MjModel.from_xml_string(od.io.mjcf_text(model, shapes, **options))


@cache
def machine():
    """A model with all that joints have, and frames."""
    b = od.ModelBuilder("machine", gravity=(0.3, -0.2, -1.62))
    b.add_body("base", od.FloatingBase(), mass=3, inertia=(0.1, 0.1, 0.1))
    b.add_body("a", od.Revolute("y"), "base", origin=(0.1, 0, 0), mass=1, inertia=(0.1, 0.2, 0.1), lower=-1, upper=2,
               effort=(-5, np.inf), velocity=3, damping=0.1, friction=0.2, stiffness=3, rest=0.3,
               armature=0.01)  # fmt: skip
    b.add_body("b", od.Revolute("y"), "base", origin=(-0.1, 0, 0), rotation=turns("z", [0.4]), mass=1,
               inertia=(0.1, 0.2, 0.1), lower=0.5,
               upper=0.5, effort=0)  # fmt: skip
    b.add_body("c", od.Revolute("y"), "a", origin=(0, 0, -0.3), mass=1, inertia=(0.1, 0.2, 0.1), upper=1)
    b.add_body("s", od.Spherical(), "c", origin=(0, 0, -0.3), mass=1, inertia=(0.1, 0.2, 0.15), effort=[(-4, 2)] * 3,
               damping=0.4, stiffness=2.0, armature=0.03)  # fmt: skip
    b.add_body("t", od.Prismatic((1, 1, 0)), "b", mass=1, inertia=(0.1, 0.1, 0.1), lower=-0.1)
    b.add_frame("tip", "c", (0, 0, -0.3), turns("xyz", [0.1, 0.2, 0.3]))
    b.add_frame("spot", "world", (0, 0, 1))
    b.add_mimic("c_joint", "a_joint", -2, 0.1)
    return b.build()
