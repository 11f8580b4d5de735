"""`Model`, the class that users see: the data of `tree`, with the functions of `editing` as methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from .._base.display import Displayed, folded, heading, show, table
from .._base.types import Array, Vector
from ..joints import Joint
from . import additions, editing
from .annotations import Marker, Muscle, PrescribedMotion, WrapObject
from .model_description import HEAD, notes_of, rows_of, sizes_of, text_of
from .new_root import with_root
from .parts import EffortLimits, KeptConstraint, Limits
from .passive import BodySpring, PassiveElement
from .tree import Tree

MOST_ROWS_SHOWN = 12
"""Largest number of bodies whose table a notebook shows unfolded."""


@dataclass(frozen=True, eq=False, repr=False)
class Model(Tree, Displayed):
    """An articulated mechanism. Build one with `ModelBuilder`, `load_urdf` or `ocp_dyn.models`.

    Its data and sizes are those of `Tree`: `parent, joints, X_tree, I` by body, entry 0 the ground; `joint_names,
    body_names` by moving body. Methods that take q, qd or a tangent step take numbers, also as arrays and lists, and
    give a DM; of expressions they give an expression of the same kind. The methods here give edited copies; with
    `with_parameters` gravity, inertias and positions of a copy may be symbols.

    Models with equal data are equal, in sets and dicts too, and share the Functions that `od.function` makes. Those
    with symbols or a user's function, as in `CustomJoint`, equal only themselves.

    >>> human = od.models.human()
    >>> human
    <Model 'human_male': nb=14, nq=30, nv=29>
    >>> human.qd_names[:7]
    ('root.x', 'root.y', 'root.z', 'root.wx', 'root.wy', 'root.wz', 'lumbar.ry')
    >>> od.models.human() == human, human.with_gravity((0, 0, -1.62)) == human
    (True, False)
    """

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers of the model: points of its frames, by name."""
        return self.annotations.markers

    @property
    def muscles(self) -> tuple[Muscle, ...]:
        """The muscles, ligaments and other forces along paths, as data; see `od.muscle_lengths` and `od.muscles`."""
        return self.annotations.muscles

    @property
    def muscle_names(self) -> tuple[str, ...]:
        """Names of `muscles`, in the order of lengths, moment arms and tensions."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def wraps(self) -> tuple[WrapObject, ...]:
        """The surfaces around which paths of muscles bend."""
        return self.annotations.wraps

    @property
    def prescribed(self) -> tuple[PrescribedMotion, ...]:
        """Motions that a file prescribes for coordinates."""
        return self.annotations.prescribed

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines on what the reader of the model's file left out or turned, such as a ground with another axis up."""
        return self.annotations.notes

    @property
    def configurations(self) -> dict[str, Array]:
        """Configurations q (nq) that have a name, such as "default" of a file."""
        return {name: np.array(q) for name, q in self.annotations.configurations}

    def with_markers(self, markers: Iterable[Marker], *, replace_all: bool = False) -> Model:
        """A copy with markers added; replace_all=True: with these only.

        ModelError for a frame that the model does not have, and for a name that stands there twice.

        >>> rod.with_markers([od.Marker("top", "link1", (0, 0, 0.1))]).markers[0].point
        (0.0, 0.0, 0.1)
        """
        return additions.with_markers(self, markers, replace_all)

    def with_muscles(
        self, muscles: Iterable[Muscle], wraps: Iterable[WrapObject] = (), *, replace_all: bool = False
    ) -> Model:
        """A copy with muscles, and surfaces for their paths, added; replace_all=True: with these only.

        ModelError for frames, coordinates and surfaces that the model does not have, and for names that stand there
        twice.

        >>> path = (od.PathPoint("P1", "link1", (0, 0, 0)), od.PathPoint("P2", "tip", (0, 0, 0)))
        >>> rod.with_muscles([od.Muscle("string", "PathSpring", path)]).muscles[0].name
        'string'
        """
        return additions.with_muscles(self, muscles, wraps, replace_all)

    def with_constraints(self, constraints: Iterable[KeptConstraint], *, replace_all: bool = False) -> Model:
        """A copy with constraints that belong to the model, as `model.constraints`; replace_all=True: with these only.

        No algorithm uses them unless it is given them, as in `od.constrained_dynamics(model, model.constraints, ...)`.
        They name frames, and hold no Frame and no function, so that they follow edits of the model.

        >>> arm.with_constraints([od.JointCoupling("joint2", "joint1")]).constraints[0].ratio
        1.0
        """
        return additions.with_constraints(self, constraints, replace_all)

    def with_gravity(self, gravity: Vector) -> Model:
        """A copy with another gravity [m/s^2], in ground axes.

        >>> od.gravity_force(rod.with_gravity((0, 0, -1.62)), [np.pi / 2])  # on the moon
        DM(0.81)
        """
        return editing.with_gravity(self, gravity)

    def with_inertia(
        self, body: str, mass: float | None = None, com: Vector | None = None, inertia: object = None
    ) -> Model:
        """A copy with another mass [kg], com [m] or inertia [kg m^2] (3x3 or its diagonal, about the com) of a moving
        body.

        In body axes, and for the whole body with everything that is fixed to it. Values that are not given do not
        change.

        >>> rod.with_inertia("link1", mass=3.0).mass
        3.0
        """
        return editing.with_inertia(self, body, mass, com, inertia)

    def with_limits(
        self, *, lower: Limits = None, upper: Limits = None, velocity: Limits = None, effort: EffortLimits = None
    ) -> Model:
        """A copy with other limits of its dofs; inf: none. Limits that are not given do not change.

        lower, upper: of positions, entries of q [rad or m]; velocity [rad/s or m/s] and effort [N m or N]: of entries
        of qd, in both directions. For motors that are stronger in one direction effort is a pair (lower, upper) per
        entry, lower <= 0 <= upper: `effort={"ankle": (-40, 120)}`. Each is a dict by the names of joints or of single
        entries, in which later items override earlier ones, or values for all entries; values are one number or one per
        entry. One number for several entries of q leaves out the entries of quaternions, which are neither angles nor
        lengths: `with_limits(lower={"knee": 0.0, "root.z": 0.2}, effort=1.5 * model.dofs.effort)`.

        >>> rod.with_limits(lower={"joint1": -1.0}, effort=20.0).dofs.tau_max
        array([20.])
        >>> rod.with_limits(effort={"joint1": (-5.0, 20.0)}).dofs.effort
        array([[-5., 20.]])
        """
        return additions.with_limits(self, lower=lower, upper=upper, velocity=velocity, effort=effort)

    def with_passive(self, elements: Iterable[PassiveElement], *, replace_all: bool = False) -> Model:
        """A copy with passive torques of joints added, such as `od.ExponentialTorque` and `od.OneSidedSpring`.

        replace_all=True leaves out the elements that the model has: `with_passive([], replace_all=True)` has none.
        `model.passive` holds them. ModelError for a dof that the model does not have, or whose coordinate is no entry
        of q.

        >>> stop = od.OneSidedSpring("joint1", 100.0, start=1.5)
        >>> od.passive_force(rod.with_passive([stop]), [1.7], [0.0])  # 100 N m/rad beyond 1.5 rad
        DM(-20)
        """
        return editing.with_passive(self, elements, replace_all)

    def with_bushings(self, bushings: Iterable[BodySpring], *, replace_all: bool = False) -> Model:
        """A copy with springs between bodies added: `od.Bushing`, `od.PathSpring`, `od.WeightSupport`. replace_all=True
        leaves out those that the model has; `model.bushings` holds them. ModelError for a frame that it does not have.

        >>> held = rod.with_bushings([od.Bushing("world", "tip", stiffness=(30, 30, 30, 0, 0, 0))])
        >>> od.passive_force(held, [0.1], [0.0])  # 30 N m/rad
        DM(-3)
        """
        return editing.with_bushings(self, bushings, replace_all)

    def with_springs(
        self,
        stiffness: Mapping[str, float],
        *,
        rest: Mapping[str, float] | None = None,
        damping: Mapping[str, float] | None = None,
    ) -> Model:
        """A copy with other springs at its joints: tau = -stiffness (q - rest) - damping qd.

        Dicts by names of dofs (`model.qd_names`): stiffness [N m/rad or N/m], rest [rad or m], damping
        [N m s/rad or N s/m]. What is not named does not change. Springs and damping count where `loads.passive` is set,
        as optimal control does. KeyError for a dof that the model does not have, ModelError for one of a joint with a
        quaternion.

        >>> sprung = rod.with_springs({"joint1": 100.0}, rest={"joint1": 0.5})
        >>> od.passive_force(sprung, [0.7], [0.0])
        DM(-20)
        """
        return additions.with_springs(self, stiffness, rest, damping)

    def with_load(self, to: str, mass: float, com: Vector = (0.0, 0.0, 0.0), inertia: object = None) -> Model:
        """A copy that carries a rigid load, fixed in the frame `to`: mass [kg], its center com [m] in this frame, and
        its inertia [kg m^2] (3x3 or its diagonal, about com, axes of the frame); None: a point mass.

        The load belongs to the body that carries the frame; names, dofs and limits do not change. ModelError for a mass
        below zero, an inertia that no body can have, or a frame of the ground.

        >>> loaded = rod.with_load("tip", 2.0)
        >>> loaded.mass - rod.mass
        2.0
        """
        return additions.with_load(self, to, mass, com, inertia)

    def with_frame(self, name: str, to: str, origin: Vector = (0.0, 0.0, 0.0), rotation: object = None) -> Model:
        """A copy with another named frame, fixed in the frame `to` at origin [m], its axes the columns of rotation
        (3x3).

        >>> od.point_position(rod.with_frame("middle", "link1", (0, 0, -0.5)), "middle", [0.0])
        DM([0, 00, -0.5])
        """
        return editing.with_frame(self, name, to, origin, rotation)

    def attach(
        self, other: Model, to: str, prefix: str = "", origin: Vector = (0.0, 0.0, 0.0), rotation: object = None
    ) -> Model:
        """A copy with all of `other` added: its ground becomes the frame `to`, or lies in it at (rotation, origin).

        `to`: a frame of this model or "world". Names of the other's bodies, joints and frames get the prefix; bodies
        and dofs come after this model's. Its gravity is not taken over, nor the inertia of bodies that
        were fixed to its ground, which a model does not keep.

        >>> rod.attach(rod, "tip", prefix="lower_").joint_names
        ('joint1', 'lower_joint1')
        """
        return editing.attach(self, other, to, prefix, origin, rotation)

    def lock_joints(self, positions: Mapping[str, float | Vector]) -> Model:
        """A copy in which the named joints are fixed at the given positions (their entries of q).

        Their bodies are merged into their parents and stay as frames; the other dofs keep their order. Joints that
        mimic a locked one are locked too, at the positions that follow from it; a mimicking joint that is locked itself
        no longer follows. Passive torques of locked joints are left out; those that depend on a locked coordinate keep
        its value. A `ModelWarning` names positions outside the limits of the joints.

        >>> stiff = arm.lock_joints({"joint2": 0.0})
        >>> stiff.joint_names, stiff.mass
        (('joint1',), 2.0)
        >>> od.mass_matrix(stiff, [0.0])  # one rod of 2 kg and 2 m: m l^2 / 3
        DM(2.66667)
        """
        return editing.lock_joints(self, positions)

    def with_root(self, joint: Joint) -> Model:
        """A copy whose root is joined to the world by another joint, such as `od.FloatingBase()`.

        The joint moves the frame of the root body against the world's axes; limits, springs and losses of the old root
        are left out, as are passive torques and constraints on it. Bodies, masses, all other joints, markers and
        muscles stay. Named configurations keep their other entries; the new root is neutral there. `ModelError` if
        several bodies are joined to the ground.

        >>> free = arm.with_root(od.FloatingBase())
        >>> free.joint_names, free.nv, free.mass
        (('root', 'joint2'), 7, 2.0)
        """
        return with_root(self, joint)

    def subtree(self, body: str) -> Model:
        """The model of the moving body of that name and all bodies that it carries; its parent becomes the ground.

        Passive torques that depend on a joint that is left out are those of its neutral position, and a `ModelWarning`
        names it.

        >>> arm.subtree("link2").body_names
        ('link2',)
        """
        return editing.subtree(self, body)

    def scale(self, length: float = 1.0, mass: float = 1.0) -> Model:
        """A copy of the same shape: lengths times `length`, masses times `mass`, inertias with both.

        Limits of positions and velocities that are lengths scale too; efforts, armatures, springs and losses belong to
        the drives and do not change. Slopes and starts of passive torques follow coordinates that are lengths.

        >>> od.mass_matrix(rod.scale(length=2.0, mass=3.0), [0.0])  # 12 times that of the rod
        DM(4)
        """
        return editing.scale(self, length, mass)

    def show(self, q: Any = None, **options: Any) -> Any:
        """Shows the model in the browser, with a slider for every joint, and returns the running viewer; see
        `ocp_dyn.viz.show` for the options."""
        return show(self, q, **options)

    def __str__(self) -> str:
        return text_of(self)

    def _card_html(self) -> str:
        """Sizes, and the tree as a table, for notebooks."""
        rows, depth = rows_of(self)
        head = heading(self.name or "model", f": {sizes_of(self)}")
        tree = folded("tree of bodies", table(HEAD, rows, depth), self.nb <= MOST_ROWS_SHOWN)
        notes = "<br>".join(map(escape, notes_of(self)))
        return head + tree + (folded("other frames, passive torques, joints that mimic others", notes) if notes else "")
