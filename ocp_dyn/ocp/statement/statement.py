"""The statement of a motion as an optimal control problem: phases, transitions, boundary conditions, periodicity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from casadi import SX

from ..._base.checks import choice, listed_names, name_among, not_negative, numbers, truth, whole
from ..._base.display import Several
from ..._base.extensible import Extensible, check_members
from ..._base.types import Array, repr_in_message, sequence
from ...integrators import Scheme, scheme
from ...mechanism import Model
from ...mechanism.loads import JOINT_LOADS, Loads, check_loads
from ...mechanism.parameters import MODEL_PARAMETERS, parameter_size
from ...symmetry.advance import obstacle
from ...symmetry.mirror import MirrorMap, mirror_map
from .custom_costs import Peak, TerminalCost
from .footholds import Foothold, rigid
from .ground.wrench_footholds import LoadedFoothold, WrenchFoothold
from .guesses import FootPlan, Postures
from .objectives import MAXIMIZED, Cost, RateCost, Weighed
from .path_constraints import PathConstraint
from .periodic import ENTRIES, Periodic
from .phases import TERMS, TRANSITIONS, BoundaryCondition, Continuous, Phase, Transition, members
from .state.components import Component, ComponentEquations, equations_of
from .state.components import check_names as check_channels
from .state.dependent import Coordinates, DependentJoints, check_dependent
from .statement_checks import check_names, check_needed_components, check_rates, check_torque_rates, free_instant
from .values.parameters import Parameter, number_of_weight
from .values.weights import Weights, weights_of

FORMS = {"implicit": ("midpoint", "position"), "explicit": ("rk4", "acceleration")}
"""The forms, each with its default integrator and its default contact level."""

LARGEST_STEP_COUNT = 10_000
"""Largest number of integrator steps in one interval; more are taken for a mistake."""

CONTACT_LEVELS = ("position", "velocity", "acceleration")


def free_stages(level: str, stages: int) -> tuple[int, ...]:
    """Stages of a step that have no row G qdd = gamma in the implicit form, at a contact level: the end of the step has
    the rows in their place."""
    return {"position": (0, stages - 1), "velocity": (stages - 1,), "acceleration": ()}[level]


TORQUES = ("constant", "linear")


class Resolved(NamedTuple):
    """Settings of a problem with defaults filled in; the fields of the problem stay as the user wrote them.

    `dataclasses.replace` copies fields, so that a changed problem finds its own defaults: those of the new form, of the
    new model, of the new phases.
    """

    integrator: str | Scheme
    """The integrator, or the form's default."""
    contact_level: str
    """The contact level, or the form's default."""
    unactuated: tuple[str, ...]
    """Joints without a motor, or the model's floating joints."""
    transitions: tuple[Transition, ...]
    """The transitions between phases, or `Continuous` ones."""
    parameters: tuple[Parameter, ...]
    """The parameters, those that are durations of phases, and those of costs and of boundary conditions."""


@dataclass(frozen=True, eq=False, repr=False)
class Statement:
    """The fields of a `Problem`, whose docstring describes them. All input is checked here."""

    model: Model
    phases: Sequence[Phase]
    transitions: Sequence[Transition] = ()
    periodic: Periodic | None = None
    boundary: Sequence[BoundaryCondition] = ()
    unactuated: Sequence[str] | None = None
    per_distance: bool = False
    posture: Array | Sequence[float] | None = None
    guess: Callable[[float], tuple[Array, Array]] | FootPlan | Postures | None = None
    form: str = "implicit"
    integrator: str | Scheme = ""
    limits: bool = True
    terminal: Sequence[TerminalCost] = ()
    parameters: Sequence[Parameter] = ()
    steps: int = 1
    torque: str = "constant"
    contact_level: str = ""
    baumgarte: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    loads: Loads = JOINT_LOADS
    dependent: Sequence[DependentJoints] = ()
    components: Sequence[Component | PathConstraint | Cost | RateCost | Peak] = ()
    coordinates: Coordinates = field(init=False, repr=False)
    """The independent coordinates: all, without dependent joints."""
    resolved: Resolved = field(init=False, repr=False)
    """Settings with the defaults of this form, this model and these phases filled in."""
    parts: ComponentEquations = field(init=False, repr=False)
    """The equations of the components, with their channels."""
    conditions: tuple[BoundaryCondition, ...] = field(init=False, repr=False)
    """The boundary conditions, with what follows from the problem."""
    weights: Weights = field(init=False, repr=False)
    """The weights of the costs, by name."""
    _kept: Any = field(default=None, init=False, repr=False)
    """The program that the last `solve` built. Copies, pickles and `replace` do not keep it."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(
                f"Problem needs a Model (od.load_urdf, od.models, ModelBuilder), got {repr_in_message(self.model)}"
            )
        kinds = {
            "phases": Phase,
            "boundary": BoundaryCondition,
            "terminal": TerminalCost,
            "parameters": Parameter,
            "dependent": DependentJoints,
        }
        for key, kind in kinds.items():
            self._set(key, members(getattr(self, key), (kind,), key))
        for term in self.terminal:
            what = f"weight of {type(term).__name__}"
            not_negative(number_of_weight(term.weight, what), what, MAXIMIZED)
        if not self.phases:
            raise ValueError("a problem needs at least one Phase")
        _distinct((phase.name for phase in self.phases), "phases")
        self._set("components", tuple(sequence(self.components, "components must be a list of Components")))
        terms = [part for part in self.components if isinstance(part, TERMS)]
        self._set("phases", Several(phase.with_terms(terms) for phase in self.phases))
        for key in ("per_distance", "limits"):
            truth(getattr(self, key), key)
        if not isinstance(self.options, Mapping) or not all(isinstance(key, str) for key in self.options):
            raise TypeError(
                f"options must be a dict of IPOPT's options by name, or {{}}, got {repr_in_message(self.options)}"
            )
        self._set("options", dict(self.options))
        self._resolve()
        self._check_transcription()
        self._check_parameters()
        check_names(self.model, self.phases, self.resolved.unactuated, self.resolved.parameters)
        check_rates(
            self.model, self.phases, self.resolved.parameters,
            linear=self.torque == "linear", periodic=self.periodic is not None,
        )  # fmt: skip
        check_torque_rates(self.phases, self.torque, self.limits)
        self._check_period()
        self._check_guess()
        self._check_dependent()
        self._check_components()
        self._set("conditions", tuple(condition.of_problem(self) for condition in self.boundary))
        self._set("weights", weights_of(self))

    def _set(self, key: str, value: Any) -> None:
        """Stores the checked form of a field while the problem is made."""
        object.__setattr__(self, key, value)

    def _resolve(self) -> None:
        """Fills in the defaults that depend on other fields."""
        choice(self.form, FORMS, "form")
        integrator, contact_level = FORMS[self.form]
        if self.unactuated is not None:
            self._set("unactuated", listed_names(self.unactuated, "unactuated"))
        unactuated = self.model.floating_joints if self.unactuated is None else tuple(self.unactuated)
        if (muscles := self._muscles()) is not None:
            muscles.check(self.model)
            unactuated = tuple(dict.fromkeys((*unactuated, *muscles.driven(self.model))))
        self._set("transitions", members(self.transitions, TRANSITIONS, "transitions"))
        for key in ("boundary", "terminal", "transitions"):
            for term in getattr(self, key):
                if isinstance(term, Extensible):
                    check_members(term, f"{key}: {type(term).__name__}")
        transitions = tuple(self.transitions) or tuple(Continuous() for _ in self.phases[1:])
        if len(transitions) != len(self.phases) - 1:
            raise ValueError(
                f"{len(self.phases)} phases need {len(self.phases) - 1} transitions between them, "
                f"got {len(transitions)}; the transition that closes a period goes to Periodic(transition=...)"
            )
        durations = [phase.shared_duration for phase in self.phases if phase.shared_duration is not None]
        costs = (term for phase in self.phases for term in phase.objective if isinstance(term, Weighed))
        of_costs = (parameter for cost in costs for parameter in cost.parameters.values())
        of_ends = (parameter for condition in self.boundary for parameter in condition.parameters)
        parameters = tuple(dict.fromkeys((*self.parameters, *durations, *of_costs, *of_ends)))
        resolved = Resolved(
            integrator if isinstance(self.integrator, str) and not self.integrator else self.integrator,
            contact_level if isinstance(self.contact_level, str) and not self.contact_level else self.contact_level,
            unactuated,
            transitions,
            parameters,
        )
        self._set("resolved", resolved)

    def _muscles(self) -> Component | None:
        """The component whose muscles take the place of motors, if there is one."""
        return None

    def _check_guess(self) -> None:
        """Checks posture and guess."""
        if self.posture is not None:
            what = f"posture must have nq = {self.model.nq} entries: it"
            posture = numbers(self.posture, what, self.model.q_names)
            if posture.size != self.model.nq:
                raise ValueError(
                    f"posture must have nq = {self.model.nq} entries for the model {repr_in_message(self.model.name)}, "
                    f"got {posture.size}: {repr_in_message(self.posture)}. To move a problem to another model write "
                    "dataclasses.replace(problem, model=..., posture=None), or give a posture of that model"
                )
            if not np.all(np.isfinite(posture)):
                raise ValueError(
                    f"posture must have nq = {self.model.nq} entries, all of them finite, got "
                    f"{repr_in_message(self.posture)}"
                )
            self._set("posture", posture.copy())
        planned = isinstance(self.guess, (FootPlan, Postures))
        if not (self.guess is None or callable(self.guess) or planned):
            raise TypeError(
                "guess must be a function s -> (q, qd) of the fraction s of the motion, ocp.FootPlan() or "
                f"ocp.Postures(...), got {repr_in_message(self.guess)}: a Solution goes to solve(guess=...), one "
                "posture to Problem(posture=...)"
            )
        soft = [f.name for f in self.footholds if isinstance(f, WrenchFoothold)]
        if planned and soft:
            raise ValueError(
                f"guess={type(self.guess).__name__}(...) plans places of footholds, and the foothold "
                f"{repr_in_message(soft[0])} has none: give the solution of a problem with ocp.Foothold to "
                "solve(guess=...), or a function s -> (q, qd) as guess"
            )
        if isinstance(self.guess, Postures):
            self.guess.check(self.model)

    def _check_dependent(self) -> None:
        """Checks the dependent joints at the posture, and finds the independent coordinates."""
        q = np.array(self.model.neutral() if self.posture is None else self.posture, dtype=float)
        if self.limits:
            q = np.clip(q, self.model.dofs.q_lower, self.model.dofs.q_upper)
        check_dependent(self.model, self.dependent, q)
        for phase in self.phases:
            for constraint in phase.constraints:
                if any(constraint == member.constraint for member in self.dependent):
                    raise ValueError(
                        f"phase {repr_in_message(phase.name)} holds a constraint that dependent joints fulfill "
                        f"already: leave {repr_in_message(constraint)} out of its constraints, or out of "
                        "Problem(dependent=...)"
                    )
        self._set("coordinates", Coordinates(self.model, tuple(self.dependent)))

    def _check_components(self) -> None:
        """Checks the components, and finds their channels."""
        model, parameters = self.model, self.resolved.parameters
        own = [part for part in self.components if not isinstance(part, TERMS)]
        own += filter(None, [self._muscles()])
        check_needed_components(self.phases, own)
        sizes = {parameter.name: parameter.size for parameter in parameters}
        if self.periodic is not None:
            moved = (name for name in ENTRIES if self.periodic.advance.moves(name))
            sizes |= dict.fromkeys(("step_length", *moved), 1)
        values = {name: SX.sym(name, size) for name, size in sizes.items()}
        free = [free_instant(model, phase, parameters) for phase in self.phases] if own else []
        for instant in free:
            instant.values, instant.tau_rate = values, instant.tau_rate if self.torque == "linear" else None
        self._set("parts", equations_of(own, model, free))
        check_channels(self.parts, [*sizes, *ENTRIES])

    def _check_parameters(self) -> None:
        """Checks names and sizes of the parameters; `check_names` looks up the names of bodies, frames and joints."""
        parameters = self.resolved.parameters
        _distinct((parameter.name for parameter in parameters), "parameters")
        for parameter in parameters:
            kind, colon, _ = parameter.name.partition(":")
            here = f"Parameter {repr_in_message(parameter.name)}"
            if colon:  # a user's own name has no colon, so that a misspelled kind of model parameter is noticed
                name_among(
                    kind, (name for name in MODEL_PARAMETERS if name != "gravity"), here, "kind of model parameter"
                )
            size = parameter_size(parameter.name) if kind in MODEL_PARAMETERS else parameter.size
            size = 1 if parameter.name == "slope" else size
            if parameter.size != size:
                raise ValueError(f"{here} has {size} numbers, got {parameter.size}")
        if {"gravity", "slope"} <= {parameter.name for parameter in parameters}:
            raise ValueError('Parameters "gravity" and "slope" both set the direction of gravity: give one of them')

    def _check_transcription(self) -> None:
        method, level = self.scheme, self.resolved.contact_level
        whole(self.steps, "steps per interval", least=1, most=LARGEST_STEP_COUNT)
        choice(self.torque, TORQUES, "torque")
        choice(level, CONTACT_LEVELS, "contact_level")
        not_negative(self.baumgarte, "baumgarte [1/s]")
        self._check_baumgarte()
        if check_loads(self.loads).external:
            raise ValueError(
                f"a problem has no external wrenches, got {repr_in_message(self.loads)}: leave external out; forces at "
                "contacts are variables, other external wrenches are not supported yet"
            )
        loaded = [f.name for f in self.footholds if isinstance(f, LoadedFoothold)]
        if self.form != "implicit" and loaded:
            raise ValueError(
                f"the wrench of the loaded foothold {repr_in_message(loaded[0])} is a variable of the implicit form, "
                f"and form={repr_in_message(self.form)} computes forces from the state: leave form out"
            )
        if self.form != "implicit" or not any(rigid(phase.held) for phase in self.phases):
            return
        if level == "position" and not method.holds_positions:
            raise ValueError(
                f"integrator {method.name!r} cannot hold contacts at contact_level 'position': the positions at the "
                "end of a step follow from the velocities at both ends; use 'velocity' or 'acceleration', or another "
                "integrator"
            )
        if level == "velocity" and not method.holds_velocities:
            raise ValueError(
                f"integrator {method.name!r} cannot hold contacts at contact_level 'velocity': its last stage has no "
                "weight in the velocity at the end of a step; use 'acceleration', or another integrator"
            )

    def _check_baumgarte(self) -> None:
        """ValueError for a rate of stabilization that is in no row."""
        if not self.baumgarte:
            return
        level, stages = self.resolved.contact_level, self.scheme.stages
        explicit = self.form == "explicit"
        if not any(rigid(phase.held) for phase in self.phases) and not (explicit and self.dependent):
            raise ValueError(
                f"baumgarte={self.baumgarte:g} has no effect: no phase has a contact or a constraint that could drift; "
                "leave baumgarte out"
            )
        if not explicit and set(free_stages(level, stages)) >= set(range(stages)):
            raise ValueError(
                f"baumgarte={self.baumgarte:g} has no effect: at contact_level {level!r} the ends of the steps of "
                f"{self.scheme.name!r} hold the contacts, and no acceleration does; leave baumgarte out, or give "
                "contact_level='acceleration'"
            )

    @property
    def scheme(self) -> Scheme:
        """The Runge-Kutta scheme that integrates the motion."""
        return scheme(self.resolved.integrator)

    @property
    def collocated(self) -> bool:
        """Whether accelerations are variables: always in the implicit form, else where the scheme is implicit."""
        return self.form == "implicit" or not self.scheme.explicit

    def _check_period(self) -> None:
        periodic = self.periodic
        if periodic is None:
            if self.per_distance:
                raise ValueError(
                    "per_distance divides costs by the step length, which only a Periodic problem has: add periodic=..."
                )
            return
        if not isinstance(periodic, Periodic):
            raise TypeError(f"periodic must be Periodic(...) or None, got {repr_in_message(periodic)}")
        self._check_step(periodic)
        periodic.check_durations(self.phases)

    def _check_step(self, periodic: Periodic) -> None:
        """Checks that the model's root, the direction of gravity and the parameters allow the step of a period."""
        step, model = periodic.advance, self.model
        moves = {name: step.moves(name) for name in ENTRIES}
        root, turns = repr_in_message(model.joint_names[0]), moves.pop("turn")
        lost = obstacle(model, shifts=tuple(moves.values()), turns=turns)
        if lost:
            raise ValueError(
                f"Periodic moves the model by {step}, but its root joint {root} cannot {lost}: use a model with a "
                "FloatingBase, or step_length=0 for a motion in place"
            )
        names = [parameter.name for parameter in self.resolved.parameters]
        if clash := [name for name in ENTRIES if step.moves(name) and name in names]:
            raise ValueError(
                f"Parameter {repr_in_message(clash[0])} has the name of an entry of the step of Periodic: give it "
                "another name"
            )
        if not turns:
            return
        tilted = [name for name in ("slope", "gravity") if name in names]
        if tilted or np.any(np.abs(model.gravity[:2]) > 1e-9 * np.linalg.norm(model.gravity)):
            raise ValueError(
                "Periodic turns the model about the vertical, and gravity must not change by this: it must point along "
                f"-z, got {f'the parameter {tilted[0]!r}' if tilted else model.gravity}; put the feet on a tilted "
                "Plane, or leave out the turn"
            )
        free = [name for name, parent in zip(model.joint_names, model.parent[1:], strict=True) if parent == 0]
        if len(free) > 1:
            raise ValueError(
                f"Periodic turns the model about the vertical by its root joint {root}, and other joints are fixed to "
                f"the ground too: {', '.join(map(repr, free[1:]))}"
            )

    @property
    def footholds(self) -> tuple[Foothold | WrenchFoothold, ...]:
        """The footholds of all phases, each of them once."""
        return Several(dict.fromkeys(f for phase in self.phases for f in phase.footholds))

    @property
    def actuated(self) -> list[int]:
        """Indices into tau of the dofs that have a motor."""
        idle = {
            k for joint in self.resolved.unactuated for k in range(*self.model.qd_slice(joint).indices(self.model.nv))
        }
        return [k for k in range(self.model.nv) if k not in idle]

    def mirror(self) -> MirrorMap | None:
        """The mirror map of a mirrored periodic problem, None for others; ModelError if the model is not symmetric."""
        mirrored = self.periodic is not None and self.periodic.mirror
        return mirror_map(self.model, loads=self.loads) if mirrored else None

    def __repr__(self) -> str:
        """A line for the problem, and one for each phase: intervals, duration [s], contacts."""
        ends = "" if self.periodic is None else ", periodic" + (" and mirrored" if self.periodic.mirror else "")
        head = f"{type(self).__name__} of {self.model!r}: {self.form}, {self.scheme.name}{ends}, phases"
        return "\n  ".join([head, *(phase.outline() for phase in self.phases)])

    def __getstate__(self) -> dict[str, Any]:
        """The state for copies and pickles, without the program that was built."""
        return self.__dict__ | {"_kept": None}


def _distinct(names: Iterable[str], what: str) -> None:
    given = list(names)
    if len(set(given)) != len(given):
        raise ValueError(f"{what} must have different names, got {given}")
