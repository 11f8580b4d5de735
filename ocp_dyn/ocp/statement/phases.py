"""Parts of a problem: phases, transitions between them, parameters, and conditions on the ends."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from casadi import DM, MX, SX

from ..._base.checks import as_bounds, function, given_name, not_negative, whole
from ..._base.display import Several
from ..._base.extensible import Extensible, check_members, derive
from ..._base.types import repr_in_message
from ...constraints import Constraint, as_set
from .custom_costs import Peak, TerminalCost
from .footholds import Foothold, Held, PhaseConstraint
from .grids import MOST_INTERVALS, Intervals
from .ground.wrench_footholds import WrenchFoothold
from .instant import Instant
from .objectives import Cost, RateCost
from .path_constraints import Bounded, PathConstraint
from .values.parameters import Parameter, number_of_weight

OBJECTIVES = (Cost, RateCost, Peak)
TERMS = (*OBJECTIVES, PathConstraint)
"""Kinds of costs, and of all terms of a phase."""


def members(value: Any, kinds: tuple[type, ...], what: str) -> tuple[Any, ...]:
    """A sequence of objects of these kinds as a tuple; a single object counts as a sequence of one."""
    members = (value,) if isinstance(value, kinds) and not isinstance(value, type) else value
    single = isinstance(members, (str, bytes, type, SX, MX, DM)) or getattr(members, "shape", None) == ()
    if single or not isinstance(members, Iterable):
        members = (value,)
    members = Several(members)
    for member in members:
        if isinstance(member, type) or not isinstance(member, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{what} must hold {wanted} objects, got {repr_in_message(member)}{remedy(member, kinds)}")
    return members


def remedy(member: Any, kinds: tuple[type, ...]) -> str:
    """Advice for an object of the wrong kind; an empty text if there is none."""
    if isinstance(member, type):
        return f": write {member.__name__}()"
    if not callable(member):
        return derive(member, kinds)
    wrappers = {JumpCondition: "Jump", TerminalCost: "Terminal"}
    found = [wrapper for kind, wrapper in wrappers.items() if kind in kinds]
    return f": wrap a function in {found[0] if found else 'Path, Integral or Boundary'}"


@dataclass(frozen=True, eq=False, repr=False)
class Phase:
    """A part of a motion in which the contacts do not change.

    | field | meaning |
    |---|---|
    | name | a text, for messages and results |
    | intervals | their number, or `Intervals` of different lengths |
    | duration | [s] a number, (lower, upper) if it is free, or a `Parameter` |
    | footholds | the contacts: `Foothold`, `CompliantFoothold` or `LoadedFoothold` |
    | path | constraints that hold throughout the phase, see `PathConstraint` |
    | objective | costs, which are summed, see `Cost` |
    | constraints | constraints of the robot itself, such as `od.Loop`; they are enforced as the contacts are |

    >>> ocp.Phase("push", 10, (0.2, 0.8), objective=[ocp.TorqueSquared()]).outline()
    "'push': 10 intervals, 0.2 to 0.8 s, on no contact"
    """

    name: str
    intervals: int | Intervals
    duration: Any
    footholds: Sequence[Foothold | WrenchFoothold] = ()
    path: Sequence[PathConstraint] = ()
    objective: Sequence[Cost | RateCost | Peak] = ()
    constraints: Sequence[Constraint] = ()
    held: tuple[Held, ...] = field(init=False)
    """Footholds and constraints: everything that has force variables."""

    def __post_init__(self) -> None:
        here = f"phase {repr_in_message(given_name(self.name, 'Phase name'))}"
        if not isinstance(self.intervals, Intervals):
            whole(self.intervals, f"{here}: intervals", least=1, most=MOST_INTERVALS)
        shared = self.shared_duration
        if shared is None:
            object.__setattr__(self, "duration", as_bounds(self.duration, f"{here}: duration"))
        elif shared.size != 1:
            raise ValueError(
                f"{here}: duration must be one number, got Parameter {repr_in_message(shared.name)} of size "
                f"{shared.size}"
            )
        if self.duration_bounds[0] <= 0 or np.isinf(self.duration_bounds[1]):
            raise ValueError(f"{here}: duration must be positive and finite, got {self.duration_bounds}")
        kinds = {"footholds": (Foothold, WrenchFoothold), "path": (PathConstraint,), "objective": OBJECTIVES}
        for key, kind in kinds.items():
            object.__setattr__(self, key, members(getattr(self, key), kind, f"{here}: {key}"))
        for term in (*self.path, *self.objective):
            term._check_members(here)
        none = isinstance(self.constraints, (tuple, list)) and not self.constraints
        object.__setattr__(self, "constraints", () if none else as_set(self.constraints))
        for each in (*self.footholds, *self.constraints):
            check_members(each, f"{here}: {type(each).__name__}")
        names = [foothold.name for foothold in self.footholds]
        if len(set(names)) != len(names):
            raise ValueError(
                f"{here}: footholds must have different frames, got {names}: add a frame for each foothold"
            )
        placed = [foothold.root for foothold in self.footholds if isinstance(foothold, Foothold)]
        if len(set(placed)) < len(placed):
            raise ValueError(
                f"{here}: of footholds that are derived from each other (of=) a phase can hold only one, got {names}"
            )
        object.__setattr__(self, "held", Several((*self.footholds, *map(PhaseConstraint, self.constraints))))

    def with_terms(self, terms: Sequence[PathConstraint | Cost | RateCost | Peak]) -> Phase:
        """The phase with these costs and path constraints too; those that it has already are not added again."""
        path = [term for term in terms if isinstance(term, PathConstraint) and term not in self.path]
        objective = [term for term in terms if isinstance(term, OBJECTIVES) and term not in self.objective]
        if not path and not objective:
            return self
        return replace(self, path=(*self.path, *path), objective=(*self.objective, *objective))

    def __repr__(self) -> str:
        return f"Phase {self.outline()}"

    def outline(self) -> str:
        """A line of text: name, intervals, duration [s] and contacts."""
        low, high = self.duration_bounds
        span = f"{low:.3g} s" if low == high else f"{low:.3g} to {high:.3g} s"
        held = [f.name for f in self.footholds] + [c.name for c in self.constraints]
        on = f"on {', '.join(held)}" if held else "on no contact"
        n = self.grid.count
        return f"{self.name!r}: {n} {'' if self.grid.is_even else 'unequal '}interval{'s' * (n > 1)}, {span}, {on}"

    @cached_property
    def grid(self) -> Intervals:
        """The intervals as a grid."""
        return self.intervals if isinstance(self.intervals, Intervals) else Intervals.even(self.intervals)

    @property
    def shared_duration(self) -> Parameter | None:
        """The Parameter that was given as the duration."""
        return self.duration if isinstance(self.duration, Parameter) else None

    @property
    def duration_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the duration [s]; equal if it is fixed."""
        shared = self.shared_duration
        if shared is None:
            return self.duration[0], self.duration[1]
        return as_bounds(
            np.ravel(shared.bounds if shared.free else shared.value), f"phase {repr_in_message(self.name)}: duration"
        )


@dataclass(frozen=True)
class Continuous:
    """The next phase starts in the state in which this one ends; contacts may end, or begin at rest.

    >>> halves = [ocp.Phase(name, 10, 0.5, objective=[ocp.TorqueSquared()]) for name in ("first", "second")]
    >>> solution = ocp.Problem(wheel, halves, transitions=[ocp.Continuous()], boundary=[rest]).solve(progress=False)
    >>> round(solution.objective, 2)  # as in one phase
    12.03
    """


@dataclass(frozen=True)
class Impact:
    """The contacts of the next phase begin with an impact: `H (qd_plus - qd) = G' Lam`, `G qd_plus = 0`.

    The impulse Lam [N s, N m s] is a variable.

    Wrench constraints of the next phase (push only, friction cone, center of pressure) hold for the impulse too, under
    every foot. If another foot stays on the ground almost no impulse is admissible: that foot cannot be pulled, and two
    flat feet allow an impulse in singular postures only. The multipliers then grow without bound, and `Continuous`, a
    soft landing, finds the same motion in half the iterations.

    weight: cost of sum of Lam^2 [1/(N s)^2].

    >>> drop = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[2] - 0.5, start.qd), 0, 0))
    >>> land = ocp.Phase("land", 2, 0.1, [ocp.Foothold(od.Contact("block"), x=0, y=0)])
    >>> phases = [ocp.Phase("fall", 10, (0.1, 1.0)), land]
    >>> fallen = ocp.Problem(block, phases, transitions=[ocp.Impact()], boundary=[drop]).solve(progress=False)
    >>> fallen.impulses[0].round(2)  # m sqrt(2 g h) upwards
    array([0.  , 0.  , 0.  , 0.  , 0.  , 6.26])
    """

    weight: float | Parameter = 0.0

    def __post_init__(self) -> None:
        not_negative(number_of_weight(self.weight, "Impact weight"), "Impact weight")


class JumpCondition(Extensible):
    """Base class of transitions of users; `Jump` makes one of a function.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Slower(ocp.JumpCondition):
    ...     share: float
    ...     def rows(self, end, start):
    ...         return ca.vertcat(start.q - end.q, start.qd - self.share * end.qd), 0, 0
    >>> halves = [ocp.Phase(name, 10, 0.5, objective=[ocp.TorqueSquared()]) for name in ("first", "second")]
    >>> solution = ocp.Problem(wheel, halves, [Slower(0.5)], boundary=[rest]).solve(progress=False)
    >>> (solution.phases[1].qd[0] / solution.phases[0].qd[-1]).round(3)
    array([0.5])
    """

    @property
    def name(self) -> str:
        """The name in reports: that of the class, unless the class gives another one."""
        return type(self).__name__

    @abstractmethod
    def rows(self, end: Instant, start: Instant) -> Bounded:
        """(expression, lower, upper) of the states before and after the transition."""


@dataclass(frozen=True)
class Jump(JumpCondition):
    """A transition that the user defines: lower <= function(end, start) <= upper on the states before and after it.

    No other condition links the two phases, so that positions may jump too; footholds that are new in the next phase
    are set down. In a mirrored period, `end` is the mirror image.

    >>> def half_the_speed(end, start):
    ...     return ca.vertcat(start.q - end.q, start.qd - 0.5 * end.qd), 0, 0
    >>> click = ocp.Jump(half_the_speed)
    >>> halves = [ocp.Phase(name, 10, 0.5, objective=[ocp.TorqueSquared()]) for name in ("first", "second")]
    >>> solution = ocp.Problem(wheel, halves, transitions=[click], boundary=[rest]).solve(progress=False)
    >>> before, after = solution.phases[0].qd[-1], solution.phases[1].qd[0]
    >>> (after / before).round(3)
    array([0.5])
    """

    function: Callable[[Instant, Instant], Bounded]
    name: str = "jump"

    def __post_init__(self) -> None:
        function(self.function, "Jump")
        given_name(self.name, "Jump name")

    def rows(self, end: Instant, start: Instant) -> Bounded:
        return self.function(end, start)


Transition = Continuous | Impact | JumpCondition
TRANSITIONS = (Continuous, Impact, JumpCondition)


class BoundaryCondition(Extensible):
    """Base class of conditions on the first and the last state; `Boundary` makes one of a function.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class AtRest(ocp.BoundaryCondition):
    ...     angle: float
    ...     def rows(self, start, end):
    ...         return ca.vertcat(start.q, start.qd, end.q - self.angle, end.qd), 0, 0
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> round(ocp.Problem(wheel, [push], boundary=[AtRest(0.5)]).solve(progress=False).objective, 2)
    3.01
    """

    @property
    def name(self) -> str:
        """The name in reports: that of the class, unless the class gives another one."""
        return type(self).__name__

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that the problem declares for it."""
        return ()

    @abstractmethod
    def rows(self, start: Instant, end: Instant) -> Bounded:
        """(expression, lower, upper) of the first and the last instant."""

    def of_problem(self, problem: Any) -> BoundaryCondition:
        """The condition with what follows from the problem, which asks for it once; ValueError if it does not fit."""
        return self


@dataclass(frozen=True)
class Boundary(BoundaryCondition):
    """Conditions on the first and the last state: function(start, end) gives (expression, lower, upper).

    Do not repeat conditions that footholds imply: with both feet flat on given places the joints of the legs follow
    from the root's pose, and their rates from its velocity. `Problem.check` names redundant rows.

    >>> half = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 0.5, end.qd), 0, 0))
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> round(ocp.Problem(wheel, [push], boundary=[half]).solve(progress=False).objective, 2)  # a quarter of 12
    3.01
    """

    function: Callable[[Instant, Instant], Bounded]
    name: str = "boundary"

    def __post_init__(self) -> None:
        function(self.function, "Boundary")
        given_name(self.name, "Boundary name")

    def rows(self, start: Instant, end: Instant) -> Bounded:
        return self.function(start, end)
