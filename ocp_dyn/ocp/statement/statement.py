"""The statement of a motion as an optimal control problem: phases, transitions, boundary conditions, periodicity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._arguments import choice, known, listed_names, not_negative, numbers, truth, whole
from ..._types import Array, shown
from ...dynamics.kinematics import resolve
from ...integrators import Scheme, scheme
from ...mechanism import Model
from ...mechanism.loads import JOINT_LOADS, Loads, check_loads
from ...mechanism.parameters import MODEL_PARAMETERS, parameter_size
from ...symmetry.mirror import MirrorMap, mirror_map
from .custom_costs import Terminal
from .footholds import Foothold
from .guesses import FootPlan
from .phases import TRANSITIONS, Boundary, Continuous, Parameter, Periodic, Phase, Transition, members

FORMS = {"implicit": ("midpoint", "position"), "explicit": ("rk4", "acceleration")}
"""The forms, each with its default integrator and its default contact level."""

MOST = 10_000
"""Largest number of steps in one interval; more are taken for a mistake."""

LEVELS = ("position", "velocity", "acceleration")
TORQUES = ("constant", "linear")


@dataclass(frozen=True, eq=False)
class Statement:
    """The data of a `Problem`, which says what they mean; all input is checked here."""

    model: Model
    phases: Sequence[Phase]
    transitions: Sequence[Transition] = ()
    periodic: Periodic | None = None
    boundary: Sequence[Boundary] = ()
    unactuated: Sequence[str] | None = None
    per_distance: bool = False
    posture: Array | Sequence[float] | None = None
    guess: Callable[[float], tuple[Array, Array]] | FootPlan | None = None
    form: str = "implicit"
    integrator: str | Scheme = ""
    limits: bool = True
    terminal: Sequence[Terminal] = ()
    parameters: Sequence[Parameter] = ()
    steps: int = 1
    torque: str = "constant"
    contact_level: str = ""
    baumgarte: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    loads: Loads = JOINT_LOADS
    _kept: Any = field(default=None, init=False, repr=False)
    """The program that the last `solve` built (see `solver.prepare`); copies, pickles and `replace` begin without
    it."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"Problem needs a Model (od.load_urdf, od.models, ModelBuilder), got {shown(self.model)}")
        kinds = {"phases": Phase, "boundary": Boundary, "terminal": Terminal, "parameters": Parameter}
        for key, kind in kinds.items():
            self._set(key, members(getattr(self, key), (kind,), key))
        if not self.phases:
            raise ValueError("a problem needs at least one Phase")
        _distinct((phase.name for phase in self.phases), "phases")
        for key in ("per_distance", "limits"):
            truth(getattr(self, key), key)
        self._check_transitions()
        self._check_transcription()
        self._check_period()
        self._check_guess()
        if not isinstance(self.options, Mapping) or not all(isinstance(key, str) for key in self.options):
            raise TypeError(f"options must be a dict of IPOPT's options by name, or {{}}, got {shown(self.options)}")
        self._set("options", dict(self.options))
        self._check_names()
        self._check_parameters()

    def _set(self, key: str, value: Any) -> None:
        """Stores the checked form of a field while the problem is made."""
        object.__setattr__(self, key, value)

    def _check_transitions(self) -> None:
        given = members(self.transitions, TRANSITIONS, "transitions")
        self._set("transitions", given or tuple(Continuous() for _ in self.phases[1:]))
        if len(self.transitions) != len(self.phases) - 1:
            raise ValueError(
                f"{len(self.phases)} phases need {len(self.phases) - 1} transitions between them, "
                f"got {len(self.transitions)}; the one that closes a period belongs to Periodic"
            )

    def _check_guess(self) -> None:
        """Checks posture and guess."""
        if self.posture is not None:
            posture = numbers(self.posture, f"posture must have nq = {self.model.nq} entries: it")
            if posture.size != self.model.nq or not np.all(np.isfinite(posture)):
                raise ValueError(
                    f"posture must have nq = {self.model.nq} entries, finite ones, got shape {posture.shape}: "
                    f"{shown(self.posture)}"
                )
            self._set("posture", posture.copy())
        if not (self.guess is None or callable(self.guess) or hasattr(self.guess, "crouch")):
            raise TypeError(
                f"guess must be a function s -> (q, qd) of the fraction of the motion, or ocp.FootPlan(), got "
                f"{shown(self.guess)}: a Solution goes to solve(guess=...), one posture to Problem(posture=...)"
            )

    def _check_names(self) -> None:
        """Checks the frames and joints that footholds, terms and `unactuated` name."""
        model, feet = self.model, tuple(dict.fromkeys(f.name for f in self.footholds))
        for phase in self.phases:
            here = f"phase {shown(phase.name)}"
            for foothold in phase.footholds:
                known(foothold.name, model.frame_names, f"{here}: Foothold", "frame")
                resolve(model, foothold.contact.body)
            for term in (*phase.path, *phase.objective):
                check = getattr(term, "check", None)
                if check is not None:
                    _checked(here, check, model, feet)
        if self.unactuated is None:
            self._set("unactuated", model.floating_joints)
            return
        joints = listed_names(self.unactuated, "unactuated")
        self._set("unactuated", tuple(known(joint, model.joint_names, "unactuated", "joint") for joint in joints))

    def _check_parameters(self) -> None:
        shared = [phase.shared_duration for phase in self.phases if phase.shared_duration is not None]
        self._set("parameters", tuple(dict.fromkeys((*self.parameters, *shared))))
        _distinct((parameter.name for parameter in self.parameters), "parameters")
        for parameter in self.parameters:
            kind, colon, _ = parameter.name.partition(":")
            here = f"Parameter {shown(parameter.name)}"
            if colon:  # a name of the user's own holds none, so that a misspelt one is not taken for it
                known(kind, (name for name in MODEL_PARAMETERS if name != "gravity"), here, "kind of model parameter")
            if kind in MODEL_PARAMETERS and kind != "gravity":
                self._check_target(parameter.name)
            size = parameter_size(parameter.name) if kind in MODEL_PARAMETERS else parameter.size
            size = 1 if parameter.name == "slope" else size
            if parameter.size != size:
                raise ValueError(f"{here} has {size} numbers, got {parameter.size}")
        if {"gravity", "slope"} <= {parameter.name for parameter in self.parameters}:
            raise ValueError('Parameters "gravity" and "slope" both say where gravity points to: give one of them')

    def _check_target(self, name: str) -> None:
        """Raises KeyError if the model has no body, frame or joint with the name after the colon."""
        kind, _, target = name.partition(":")
        names, what = self.model.body_names, "body"
        if kind in ("payload", "position"):
            names, what = self.model.frame_names, "frame"
        elif kind == "origin":
            names, what = self.model.joint_names, "joint"
        known(target, names, f"Parameter {shown(name)}", what)

    def _check_transcription(self) -> None:
        choice(self.form, FORMS, "form")
        for key, own in zip(("integrator", "contact_level"), FORMS[self.form], strict=True):
            given = getattr(self, key)
            self._set(key, own if isinstance(given, str) and not given else given)
        method = scheme(self.integrator)
        whole(self.steps, "steps per interval", least=1, most=MOST)
        choice(self.torque, TORQUES, "torque")
        choice(self.contact_level, LEVELS, "contact_level")
        not_negative(self.baumgarte, "baumgarte [1/s]")
        if check_loads(self.loads).external:
            raise ValueError(
                f"a problem has no external wrenches, got {shown(self.loads)}: leave external out; forces at contacts "
                "are found, others are not supported yet"
            )
        level = self.contact_level if self.form == "implicit" and any(p.held for p in self.phases) else ""
        if level == "position" and not method.holds_positions:
            raise ValueError(
                f"integrator {method.name!r} cannot hold contacts at contact_level 'position': the positions at the "
                "end of a step follow from the velocities at both; use 'velocity' or 'acceleration', or another integrator"
            )
        if level == "velocity" and not method.holds_velocities:
            raise ValueError(
                f"integrator {method.name!r} cannot hold contacts at contact_level 'velocity': its last stage has no weight "
                "in the velocity at the end of a step; use 'acceleration', or another integrator"
            )

    @property
    def scheme(self) -> Scheme:
        """The Runge-Kutta scheme that integrates the motion."""
        return scheme(self.integrator)

    @property
    def collocated(self) -> bool:
        """Whether accelerations are variables: always in the implicit form, else where the scheme is implicit."""
        return self.form == "implicit" or not self.scheme.explicit

    def _check_period(self) -> None:
        periodic = self.periodic
        if periodic is None:
            if self.per_distance:
                raise ValueError("per_distance divides costs by the step length, which only a Periodic problem has")
            return
        if not isinstance(periodic, Periodic):
            raise TypeError(f"periodic must be Periodic(...) or None, got {shown(periodic)}")
        if periodic.step_length != (0.0, 0.0) and not np.allclose(self.model.root_shifts[:, 0], (1, 0, 0)):
            raise ValueError(
                f"Periodic moves the model on along x, which its root joint {shown(self.model.joint_names[0])} cannot: use a "
                "model with a FloatingBase, or step_length=0 for a motion in place"
            )

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
        mirrored = self.periodic is not None and self.periodic.mirror
        return mirror_map(self.model, loads=self.loads) if mirrored else None

    def __getstate__(self) -> dict[str, Any]:
        """State for copies and pickles, without the program that was built."""
        return self.__dict__ | {"_kept": None}


def _distinct(names: Iterable[str], what: str) -> None:
    given = list(names)
    if len(set(given)) != len(given):
        raise ValueError(f"{what} need names of their own, got {given}")


def _checked(here: str, check: Callable[..., None], model: Model, feet: tuple[str, ...]) -> None:
    """Runs a term's own check of names and sizes; its errors then name the phase too."""
    try:
        check(model, feet)
    except KeyError as error:
        raise KeyError(f"{here}: {error.args[0]}") from None
    except ValueError as error:
        raise ValueError(f"{here}: {error}") from None
