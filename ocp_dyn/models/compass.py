"""Two straight legs and a hip: the compass-like walker, and in its limits the simplest walking model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._base.checks import choice, not_negative, positive
from .._base.types import finite, repr_in_message
from ..joints import Fixed, Planar, Revolute
from ..mechanism import Model
from ..mechanism.builder import WORLD, ModelBuilder
from .biped import X_Z_PLANE


@dataclass(frozen=True)
class CompassParameters:
    """Point masses [kg] of the hip and of each leg; leg length and distance of the leg's mass from the hip [m].

    >>> od.models.CompassParameters(hip_mass=5.0).leg_mass
    5.0
    """

    hip_mass: float = 10.0
    leg_mass: float = 5.0
    leg_length: float = 1.0
    leg_com: float = 0.5

    def __post_init__(self) -> None:
        for name in ("hip_mass", "leg_mass", "leg_com"):
            not_negative(getattr(self, name), f"CompassParameters {name}")
        positive(self.leg_length, "CompassParameters leg_length [m]")


def compass_walker(
    parameters: CompassParameters | None = None, root: Literal["pinned", "planar"] = "pinned", slope: float = 0.0
) -> Model:
    """The compass-like walker in the x-z plane, x down the slope, z normal to it; `slope` [rad] turns gravity.

    q = (theta, phi): the stance leg from the slope's normal, leaning backwards positive, and the angle from the
    swing leg to the stance leg (the swing leg's own is theta - phi); both feet on the ground where phi = 2 theta. root
    "planar" puts the stance foot's x and z before them. Frames `stance_foot`, `hip`, `swing_foot`. Defaults: masses and
    lengths of A. Goswami, B. Thuilot & B. Espiau, INRIA RR-2996, 1996. ValueError for another root.

    >>> walker = od.models.compass_walker(slope=0.05)
    >>> walker.joint_names, walker.mass
    (('stance_joint', 'swing_joint'), 20.0)
    """
    choice(root, ("pinned", "planar"), "compass_walker: root")
    if parameters is not None and not isinstance(parameters, CompassParameters):
        raise TypeError(
            f"compass_walker: parameters must be CompassParameters or None, got {repr_in_message(parameters)}"
        )
    p = parameters or CompassParameters()
    slope = finite(slope, "compass_walker: slope [rad]")
    gravity = (9.81 * float(np.sin(slope)), 0.0, -9.81 * float(np.cos(slope)))
    builder = ModelBuilder("compass_walker", gravity=gravity)
    point = (0.0, 0.0, 0.0)
    com = (0.0, 0.0, p.leg_length - p.leg_com)
    if root == "pinned":
        builder.add_body("stance", Revolute("-y"), WORLD, mass=p.leg_mass, com=com, inertia=point)
    else:
        builder.add_body("base", Planar(), WORLD, joint_name="root", rotation=X_Z_PLANE)
        builder.add_body(
            "stance", Fixed(), "base", rotation=np.transpose(X_Z_PLANE), mass=p.leg_mass, com=com, inertia=point
        )
    builder.add_body("hip", Fixed(), "stance", origin=(0.0, 0.0, p.leg_length), mass=p.hip_mass, inertia=point)
    builder.add_body("swing", Revolute("y"), "hip", mass=p.leg_mass, com=(0.0, 0.0, -p.leg_com), inertia=point)
    builder.add_frame("stance_foot", "stance")
    builder.add_frame("swing_foot", "swing", (0.0, 0.0, -p.leg_length))
    return builder.build()
