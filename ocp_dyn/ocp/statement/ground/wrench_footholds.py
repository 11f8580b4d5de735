"""Footholds without a place on the ground: their six force variables are the wrench about the origin of their frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from ...._base.types import Expr, repr_in_message
from ....constraints import Contact
from ....dynamics.compliant import HuntCrossleySphere, as_spheres, center_in, sphere_wrench
from ....dynamics.kinematics import point_jacobian_6d, pose, resolve
from ....mechanism import Frame, Model
from ..footholds import Held
from .planes import GROUND, Plane


@dataclass(frozen=True, eq=False)
class WrenchFoothold(Held):
    """Base class of footholds whose force variables are the wrench [moment about the origin of the frame; force] on
    the foot, world axes [N m; N], and which hold no constraint rows.

    frame: a frame of the foot, or its name.
    """

    frame: Frame | str

    def __post_init__(self) -> None:
        if not isinstance(self.frame, (Frame, str)):
            raise TypeError(
                f"{type(self).__name__} needs a frame (model.frame(name)) or a name, got {repr_in_message(self.frame)}"
            )

    @property
    def name(self) -> str:
        """The name of the frame."""
        return self.frame if isinstance(self.frame, str) else self.frame.name

    @property
    def plane(self) -> Plane:
        """The ground: the plane z = 0."""
        return GROUND

    @property
    def contact(self) -> WrenchFoothold:
        """The object that a solved phase keeps among its contacts: the foothold itself."""
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the six force variables: moments about the origin of the frame, then forces, world axes."""
        return Contact(self.frame).rows

    @property
    def frames(self) -> tuple[Frame | str, ...]:
        """All frames that the foothold names."""
        return (self.frame,)

    def check(self, model: Model) -> None:
        """Raises KeyError for a frame that the model does not have."""
        resolve(model, self.frame)

    def jacobian(self, model: Model, q: Expr) -> Expr:
        """G (6 x nv): the generalized force of the foot is G' lam."""
        return point_jacobian_6d(model, resolve(model, self.frame), q)

    def wrench(self, lam: Expr, place: Expr = None) -> Expr:
        """[moment; force] on the foot about the origin of the frame, world axes: lam itself."""
        return lam


@dataclass(frozen=True, eq=False)
class CompliantFoothold(WrenchFoothold):
    """A foot that stands on compliant spheres: its force is a law of positions and velocities, not a constraint.

    The second way of standing, in the list of a phase's footholds like the first, `Foothold`. The foot may slide, roll,
    leave the ground and come back within a phase: the solver finds when. There is no place on the ground to choose, no
    impact, and no friction cone: the law (`ocp_dyn.dynamics.compliant`) implies that the ground pushes and where.
    Costs, pictures, reports and files get the force as that of any foothold: `wrenches` is about the origin of the
    frame.

    frame: a frame of the foot, or its name. spheres: `od.HuntCrossleySphere`s on the same body, perhaps in other frames
    of it. A foot with a joint at the toes has two such footholds, one for each body. plane: the ground z = 0, or any
    `Plane`.

    In the implicit form the wrench is a variable at every stage, which rows set equal to the law; in the explicit form
    it enters forward dynamics.

    >>> ball = ocp.CompliantFoothold("block", [od.HuntCrossleySphere("block", radius=0.1)])
    >>> above = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[2] - 0.2, start.qd), 0, 0))
    >>> fall = ocp.Phase("fall", 30, 0.3, [ball])
    >>> fallen = ocp.Problem(block, [fall], boundary=[above]).solve(progress=False)
    >>> bool(fallen.phases[0].wrenches["block"][:, 5].max() > 100)  # it hits the ground, and bounces
    True
    """

    spheres: Sequence[HuntCrossleySphere]
    plane: Plane = GROUND

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "spheres", as_spheres(self.spheres))
        if not isinstance(self.plane, Plane):
            raise TypeError(
                f"CompliantFoothold plane must be an ocp.Plane(point, normal), got {repr_in_message(self.plane)}"
            )

    @property
    def frames(self) -> tuple[Frame | str, ...]:
        """The frame of the foothold, and those of its spheres."""
        return (self.frame, *(sphere.frame for sphere in self.spheres))

    def check(self, model: Model) -> None:
        """Raises KeyError for frames that the model does not have, ValueError for spheres on another body."""
        for sphere in self.spheres:
            center_in(model, sphere, resolve(model, self.frame))

    def law(self, model: Model, q: Expr, qd: Expr) -> Expr:
        """The wrench on the foot [moment about the origin of the frame; force] (6), world axes."""
        return sphere_wrench(model, self.spheres, self.frame, q, qd, self.plane.point, self.plane.normal)

    def depth(self, model: Model, q: Expr) -> Expr:
        """Depths of the lowest points of the spheres below the plane (one entry each) [m]."""
        R, p = self.plane.pose(*pose(model, resolve(model, self.frame), q))
        frame = resolve(model, self.frame)
        heights = (p[2] + R[2, :] @ center_in(model, sphere, frame) - sphere.radius for sphere in self.spheres)
        return -ca.vertcat(*heights)


@dataclass(frozen=True, eq=False)
class LoadedFoothold(WrenchFoothold):
    """A foot on which the ground exerts any wrench, as far as costs and path constraints let it: a measured one.

    The third way of standing, beside `Foothold` and `CompliantFoothold`. The six entries of the wrench are variables of
    every interval; no row says where the foot is, and no law what it feels. `TrackWrenches` holds them near measured
    ones, so that the equations of motion are exact with the smallest corrections of forces and motion. A phase has it
    while the foot is on the ground. `Unilateral` and `FrictionCone` limit its force, on the plane z = 0; its moments
    are free. For the implicit form.

    >>> held = ocp.LoadedFoothold("block")
    >>> still = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[2], start.qd, end.qd), 0, 0))
    >>> stand = ocp.Phase("stand", 2, 1.0, [held], objective=[ocp.ForceSquared(1e-6)])
    >>> carried = ocp.Problem(block, [stand], boundary=[still]).solve(progress=False)
    >>> carried.phases[0].wrenches["block"][:, 5].round(2)  # m g
    array([19.62, 19.62])
    """

    kind: ClassVar[str] = "loaded"
