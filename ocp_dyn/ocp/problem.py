"""A motion as an optimal control problem: phases, transitions, boundary conditions, periodicity.

The same text of a problem is transcribed in two forms (see `transcription`): "implicit", with accelerations
and contact forces as variables and inverse dynamics as constraint, and "explicit", with accelerations from
(constrained) forward dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..joints import FloatingBase, Planar, Prismatic
from ..model import Model
from .mirror import MirrorMap, mirror_map
from .stage import Foothold, Stage, as_bounds
from .terms import WHERE, Bounded, Objective, PathConstraint, RateObjective

if TYPE_CHECKING:
    from .solution import Solution

FORMS = {"implicit": ("midpoint",), "explicit": ("rk4", "euler")}


def _members(value: Any, kinds: tuple[type, ...], what: str) -> tuple[Any, ...]:
    """A sequence of objects of these kinds as a tuple; one object alone is a sequence too."""
    members = (value,) if isinstance(value, kinds) else value
    if not isinstance(members, Iterable) or isinstance(members, str):
        members = (value,)
    members = tuple(members)
    for member in members:
        if isinstance(member, type) or not isinstance(member, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            remedy = f": write {member.__name__}()" if isinstance(member, type) else ""
            if not remedy and callable(member):
                remedy = ": wrap a function in Path, Integral or Boundary"
            raise TypeError(f"{what} must hold {wanted} objects, got {member!r}{remedy}")
    return members


@dataclass(frozen=True, eq=False)
class Phase:
    """A stretch of motion in which the contacts do not change.

    intervals: their number; duration [s]: a number, or (lower, upper) if free. footholds: the contacts;
    path: constraints that hold all along; objective: integrands, summed.
    """

    name: str
    intervals: int
    duration: Any
    footholds: tuple[Foothold, ...] = ()
    path: tuple[PathConstraint, ...] = ()
    objective: tuple[Objective | RateObjective, ...] = ()

    def __post_init__(self) -> None:
        here = f"phase {self.name!r}"
        if not isinstance(self.intervals, Integral) or self.intervals < 1:
            raise ValueError(f"{here}: intervals must be at least 1, a whole number, got {self.intervals!r}")
        object.__setattr__(self, "duration", as_bounds(self.duration, f"{here}: duration"))
        if self.duration[0] <= 0 or np.isinf(self.duration[1]):
            raise ValueError(f"{here}: duration must be positive and finite, got {self.duration}")
        kinds = {"footholds": (Foothold,), "path": (PathConstraint,), "objective": (Objective, RateObjective)}
        for key, kind in kinds.items():
            object.__setattr__(self, key, _members(getattr(self, key), kind, f"{here}: {key}"))
        for term in self.path:
            if term.where not in WHERE:
                raise ValueError(f"{here}: {term!r} says where={term.where!r}, expected one of {', '.join(WHERE)}")
        names = [foothold.name for foothold in self.footholds]
        if len(set(names)) != len(names):
            raise ValueError(f"{here}: footholds need frames of their own, got {names}: add a frame for each")


@dataclass(frozen=True)
class Continuous:
    """The next phase starts in the state in which the last one ends; contacts may end, or begin at rest."""


@dataclass(frozen=True)
class Impact:
    """The next phase's contacts are hit: `H (v_plus - v) = G' Lam`, `G v_plus = 0`, the impulse Lam a variable.

    Wrench constraints of the next phase (push only, friction cone, centre of pressure) hold for the impulse too.
    weight: cost of sum of Lam^2 [1/(N s)^2].
    """

    weight: float = 0.0


Transition = Continuous | Impact


@dataclass(frozen=True)
class Periodic:
    """The motion repeats, shifted along x by `step_length` [m]; mirrored left to right if `mirror`.

    transition: how the end leads to the next start. speed [m/s]: step_length = speed * total time; None: free.
    step_length [m]: a number, or (lower, upper); negative backwards.
    """

    speed: float | None = None
    mirror: bool = True
    transition: Transition = field(default_factory=Impact)
    step_length: Any = (0.05, 3.0)

    def __post_init__(self) -> None:
        low, high = as_bounds(self.step_length, "Periodic step_length")
        object.__setattr__(self, "step_length", (low, high))
        _members(self.transition, (Continuous, Impact), "Periodic transition")
        if self.speed is None:
            return
        if not np.isfinite(self.speed):
            raise ValueError(f"Periodic speed [m/s] must be a finite number or None, got {self.speed!r}")
        if not np.sign(low) <= np.sign(self.speed) <= np.sign(high):
            raise ValueError(
                f"Periodic speed {self.speed} m/s cannot be met by a step_length between {low} and {high} m: "
                "speed and step_length must have one sign (both negative backwards)"
            )


@dataclass(frozen=True)
class Boundary:
    """lower <= function(start, end) <= upper: conditions on the first and the last state, by a user's function."""

    function: Callable[[Stage, Stage], Bounded]
    name: str = "boundary"


@dataclass(eq=False)
class Problem:
    """An optimal control problem for a model.

    phases, in time order; transitions between them (default: Continuous); periodic or not; boundary
    conditions. unactuated: joints without a motor (default: a floating or planar root). per_distance: costs are divided by
    the step length. The first guess is the library's own, from `posture` (nq; default: neutral, on the ground), or
    `guess(s) -> (q, v)` at the fraction s of the motion. limits: keep the model's joint limits.
    """

    model: Model
    phases: Sequence[Phase]
    transitions: Sequence[Transition] = ()
    periodic: Periodic | None = None
    boundary: Sequence[Boundary] = ()
    unactuated: Sequence[str] | None = None
    per_distance: bool = False
    posture: Array | None = None
    guess: Callable[[float], tuple[Array, Array]] | None = None
    form: str = "implicit"
    integrator: str = ""
    limits: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"Problem needs a Model (od.load_urdf, od.models, ModelBuilder), got {self.model!r}")
        self.phases = _members(self.phases, (Phase,), "phases")
        self.boundary = _members(self.boundary, (Boundary,), "boundary")
        if not self.phases:
            raise ValueError("a problem needs at least one Phase")
        names = [phase.name for phase in self.phases]
        if len(set(names)) != len(names):
            raise ValueError(f"phases need names of their own, got {names}")
        given = _members(self.transitions, (Continuous, Impact), "transitions")
        self.transitions = given or tuple(Continuous() for _ in self.phases[1:])
        if len(self.transitions) != len(self.phases) - 1:
            raise ValueError(
                f"{len(self.phases)} phases need {len(self.phases) - 1} transitions between them, "
                f"got {len(self.transitions)}; the one that closes a period belongs to Periodic"
            )
        if self.form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {self.form!r}")
        self.integrator = self.integrator or FORMS[self.form][0]
        if self.integrator not in FORMS[self.form]:
            raise ValueError(
                f"the {self.form} form integrates by {' or '.join(FORMS[self.form])}, got {self.integrator!r}"
            )
        if self.periodic is not None:
            self._check_periodic(self.periodic)
        if self.per_distance and self.periodic is None:
            raise ValueError("per_distance divides costs by the step length, which only a Periodic problem has")
        if self.posture is not None and np.shape(self.posture) != (self.model.nq,):
            raise ValueError(f"posture must have nq = {self.model.nq} entries, got shape {np.shape(self.posture)}")
        for foothold in self.footholds:
            self.model.frame(foothold.name)
        self.unactuated = self._unactuated()

    def _check_periodic(self, periodic: Periodic) -> None:
        if not isinstance(periodic, Periodic):
            raise TypeError(f"periodic must be Periodic(...) or None, got {periodic!r}")
        root = self.model.joints[1]
        if periodic.step_length != (0.0, 0.0) and not (root.q_labels[0] == "x" or isinstance(root, Prismatic)):
            raise ValueError(
                f"Periodic moves the model on along x, which its root joint {self.model.joint_names[0]!r} cannot: use a "
                "model with a FloatingBase, or step_length=0 for a motion in place"
            )

    def _unactuated(self) -> tuple[str, ...]:
        if self.unactuated is not None:
            for joint in self.unactuated:
                self.model.qd_slice(joint)
            return tuple(self.unactuated)
        free = isinstance(self.model.joints[1], (FloatingBase, Planar))
        return (self.model.joint_names[0],) if free else ()

    @property
    def footholds(self) -> list[Foothold]:
        """Every foothold of the problem, once."""
        return list(dict.fromkeys(f for phase in self.phases for f in phase.footholds))

    @property
    def actuated(self) -> list[int]:
        """Indices into tau of the dofs that have a motor."""
        idle = {k for joint in self.unactuated or () for k in range(*self.model.qd_slice(joint).indices(self.model.nv))}
        return [k for k in range(self.model.nv) if k not in idle]

    def mirror(self) -> MirrorMap | None:
        """The mirror map of a mirrored periodic problem."""
        return mirror_map(self.model) if self.periodic is not None and self.periodic.mirror else None

    def solve(self, **options: Any) -> Solution:
        """Transcribes and solves; see `ocp_dyn.ocp.solve`."""
        from .solver import solve

        return solve(self, **options)
