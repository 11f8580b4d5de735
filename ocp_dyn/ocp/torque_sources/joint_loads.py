"""Loads of joints in optimal control: a quantity of an instant, a cost, a limit.

`JointLoad` says which joint, and which muscles pull across it; `JointLoadSquared` and `JointLoadLimit` are its cost and
its limit, and `Solution.joint_load` gives its values along a motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import DM

from ..._base.checks import bounds, choice, label, name_among, positive
from ..._base.types import Expr, finite_vector, repr_in_message
from ...constraints import RollingContact
from ...dynamics.kinematics import point_position, pose, resolve
from ...mechanism import Model
from ...mechanism.loads import Loads
from ...muscles import compartment_forces, joint_reaction
from ..statement.footholds import Foothold
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.instant import Instant
from ..statement.objectives import LeastSquares, own_name
from ..statement.path_constraints import Bounded, PathConstraint
from ..statement.values.parameters import Parameter
from .model_muscles import Muscles

AXES = ("child", "parent", "world")
"""Axes of a load, as `od.muscles.joint_reaction` has them."""

ROWS = ("n_x", "n_y", "n_z", "f_x", "f_y", "f_z")
"""Rows of a load: moments, then forces."""


@dataclass(frozen=True)
class JointLoad:
    """The load of a joint, R = [moment; force] on the body that it moves: see `od.muscles.joint_reaction`.

    | field | meaning |
    |---|---|
    | joint | its name |
    | muscles | the component of the problem, whose tensions are no load of the bones; None: R is the whole force |
    | axes | "child", "parent" or "world" |
    | compartments | (medial, lateral): places [m] of two contacts in these axes, which share the force along z |

    Called with an instant of an interval it gives R (6), or with compartments their two forces. Contacts push at the
    points that the footholds of the problem have; other constraints of the phase must not be beyond the joint.

    >>> load = ocp.JointLoad("joint1")
    >>> still = ocp.Instant(rod, ca.DM([0.0]), ca.DM([0.0]), qdd=ca.DM([0.0]))
    >>> load(still).T
    DM([[00, 00, 00, 00, 00, 9.81]])
    """

    joint: str
    muscles: Muscles | None = None
    axes: str = "child"
    compartments: Any = None

    def __post_init__(self) -> None:
        label(self.joint, "JointLoad joint")
        choice(self.axes, AXES, "JointLoad axes")
        if self.muscles is not None and not isinstance(self.muscles, Muscles):
            raise TypeError(f"JointLoad muscles must be ocp.Muscles or None, got {repr_in_message(self.muscles)}")
        if self.compartments is not None:
            if not isinstance(self.compartments, (tuple, list)) or len(self.compartments) != 2:
                raise ValueError(
                    f"JointLoad compartments must be (medial, lateral), two places, got "
                    f"{repr_in_message(self.compartments)}"
                )
            places = (tuple(map(float, finite_vector(x, 3, "JointLoad compartments [m]"))) for x in self.compartments)
            object.__setattr__(self, "compartments", tuple(places))

    @property
    def size(self) -> int:
        """Number of its entries: 6, or 2."""
        return 6 if self.compartments is None else 2

    def check(self, model: Model) -> None:
        """KeyError for a joint that the model does not have."""
        name_among(self.joint, model.joint_names, "JointLoad joint", "joint")

    def __call__(self, instant: Instant) -> Expr:
        model = instant.model
        frames, f_ext = _pressed(instant)
        F = None if self.muscles is None else _tensions(instant, self.muscles)
        R = joint_reaction(
            model, instant.q, instant.qd, instant.qdd, self.joint, F, f_ext, axes=self.axes,
            loads=Loads(external=frames),
        )  # fmt: skip
        return R if self.compartments is None else compartment_forces(R, *self.compartments)


def _tensions(instant: Instant, muscles: Muscles) -> Expr:
    """Tensions of all muscles of the model [N]; zero for those that are not in the component."""
    names, known = muscles.hill(instant.model).names, list(instant.model.muscle_names)
    force = muscles.contraction(instant).tendon_force
    F = type(force)(len(known), 1)
    for k, name in enumerate(names):
        F[known.index(name)] = force[k]
    return F


def _pressed(instant: Instant) -> tuple[tuple[str, ...], Expr | None]:
    """(frames, f_ext): the forces of the feet, about the world's origin."""
    model, columns, names = instant.model, [], []
    for foothold, wrench in instant.wrenches.items():
        at = _place(foothold, model, instant.q)
        columns.append(ca.vertcat(wrench[:3] + ca.cross(at, wrench[3:]), wrench[3:]))
        names.append(model.body_names[resolve(model, foothold.contact.body if isinstance(foothold, Foothold)
                                              else foothold.frame).body - 1])  # fmt: skip
    return tuple(names), ca.horzcat(*columns) if columns else None


def _place(foothold: Foothold | WrenchFoothold, model: Model, q: Expr) -> Expr:
    """The point of the world about which the wrench of a foothold is given [m]."""
    if isinstance(foothold, WrenchFoothold):
        return pose(model, resolve(model, foothold.frame), q)[1]
    contact = foothold.contact
    if isinstance(contact, RollingContact):
        return point_position(model, contact.body, q, contact.center) - contact.radius * DM(foothold.plane.normal)
    return point_position(model, contact.body, q, contact.point)


@dataclass(frozen=True)
class JointLoadSquared(LeastSquares):
    """Sum of (R / scale)^2 over the forces of a `JointLoad`, or over those of its compartments, per second.

    scale: a typical force [N], such as a body weight. To relieve one compartment give `part="medial"` or "lateral".

    >>> still = ocp.Instant(rod, ca.DM([0.0]), ca.DM([0.0]), qdd=ca.DM([0.0]))
    >>> ocp.JointLoadSquared(ocp.JointLoad("joint1"), scale=9.81).integrand(still)
    DM(1)
    """

    load: JointLoad
    weight: float | Parameter = 1.0
    scale: float = 1.0
    part: str = "all"
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_load(self.load, "JointLoadSquared")
        positive(self.scale, "JointLoadSquared scale [N]")
        choice(self.part, ("all", "medial", "lateral"), "JointLoadSquared part")
        if self.part != "all" and self.load.compartments is None:
            raise ValueError(f"JointLoadSquared part={self.part!r} needs a JointLoad with compartments")

    @property
    def needs_component(self) -> Muscles | None:
        return self.load.muscles

    def check(self, model: Model, feet: Any) -> None:
        self.load.check(model)

    def residual(self, instant: Instant) -> Expr:
        found = self.load(instant)
        forces = found[3:] if self.load.compartments is None else found
        return (forces if self.part == "all" else forces[("medial", "lateral").index(self.part)]) / self.scale


@dataclass(frozen=True)
class JointLoadLimit(PathConstraint):
    """lower <= R <= upper for one row of a `JointLoad`, in intervals.

    row: "n_x", "n_y", "n_z", "f_x", "f_y", "f_z"; of a load with compartments "medial" or "lateral". A force along z of
    a shank that presses the knee is negative, so that `lower=-3000` allows 3 kN.

    >>> still = ocp.Instant(rod, ca.DM([0.0]), ca.DM([0.0]), qdd=ca.DM([0.0]))
    >>> ocp.JointLoadLimit(ocp.JointLoad("joint1"), "f_z", upper=8.0).rows(still)
    (DM(9.81), -inf, 8.0)
    """

    load: JointLoad
    row: str = "f_z"
    lower: float = -float("inf")
    upper: float = float("inf")
    name: str = own_name()
    where = "interval"

    def __post_init__(self) -> None:
        _check_load(self.load, "JointLoadLimit")
        choice(self.row, ROWS if self.load.compartments is None else ("medial", "lateral"), "JointLoadLimit row")
        bounds(self.lower, self.upper, "JointLoadLimit")

    @property
    def needs_component(self) -> Muscles | None:
        return self.load.muscles

    def check(self, model: Model, feet: Any) -> None:
        self.load.check(model)

    def rows(self, instant: Instant) -> Bounded:
        rows = ROWS if self.load.compartments is None else ("medial", "lateral")
        return self.load(instant)[rows.index(self.row)], self.lower, self.upper


def _check_load(load: Any, what: str) -> None:
    if not isinstance(load, JointLoad):
        raise TypeError(f'{what} needs an ocp.JointLoad such as ocp.JointLoad("knee_l"), got {repr_in_message(load)}')
