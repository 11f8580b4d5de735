"""A motion as an optimal control problem: phases, transitions, boundary conditions, periodicity.

The same text of a problem is transcribed in two forms (see `transcription`): "implicit", with accelerations
and contact forces as variables and inverse dynamics as constraint, and "explicit", with accelerations from
(constrained) forward dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..model import Model
from ..parameters import MODEL_PARAMETERS, parameter_size
from ..passive import SLIP_SPEED
from .equations import Equations
from .integrators import Scheme, scheme
from .mirror import MirrorMap, mirror_map
from .objectives import Terminal
from .phases import TRANSITIONS, Boundary, Continuous, Parameter, Periodic, Phase, Transition, members
from .stage import Foothold

if TYPE_CHECKING:
    from .foot_plan import FootPlan
    from .rti import RealTimeIteration
    from .solution import Solution

FORMS = {"implicit": ("midpoint", "position"), "explicit": ("rk4", "acceleration")}
"""The forms, with the integrator and the contact level of each that hold if none is named."""

LEVELS = ("position", "velocity", "acceleration")
TORQUES = ("constant", "linear")


@dataclass(eq=False)
class Problem:
    """An optimal control problem for a model.

    phases, in time order; transitions between them (default: Continuous); periodic or not; boundary
    conditions. unactuated: joints without a motor (default: `model.floating_joints`; of a root made of several joints,
    name them all). per_distance: costs are divided by the step length. The first guess is the library's own, from `posture` (nq; default: neutral, on the ground), or
    `guess(s) -> (q, v)` at the fraction s of the motion, or by feet, `FootPlan()`. limits: keep the model's joint limits.
    terminal: costs of the first and the last state. parameters: see `Parameter`.

    form and integrator: see `ocp_dyn.ocp.steps` and `ocp_dyn.ocp.integrators`; steps: of the integrator, per interval.
    torque: "constant" on every interval, or "linear" and continuous within a phase. contact_level, baumgarte [1/s]: how
    contacts are kept from drifting, see `ocp_dyn.ocp.contact_levels`. passive, armature: springs, damping and friction of
    the model's joints, and the inertia of their rotors, are in the equations of motion; False leaves them out, here and in
    everything that is asked of the solution (tau is the motors' in any case). slip_speed [rad/s, m/s]: over which friction
    changes sign, see `od.passive_force`; solvers need it not much below the speeds of the motion. options: of
    IPOPT, for a start from the guess.
    """

    model: Model
    phases: Sequence[Phase]
    transitions: Sequence[Transition] = ()
    periodic: Periodic | None = None
    boundary: Sequence[Boundary] = ()
    unactuated: Sequence[str] | None = None
    per_distance: bool = False
    posture: Array | None = None
    guess: Callable[[float], tuple[Array, Array]] | FootPlan | None = None
    form: str = "implicit"
    integrator: str = ""
    limits: bool = True
    terminal: Sequence[Terminal] = ()
    parameters: Sequence[Parameter] = ()
    steps: int = 1
    torque: str = "constant"
    contact_level: str = ""
    baumgarte: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    passive: bool = True
    armature: bool = True
    slip_speed: float = SLIP_SPEED
    _kept: Any = field(default=None, init=False, repr=False)
    """What the last `solve` built (see `solver.prepare`)."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"Problem needs a Model (od.load_urdf, od.models, ModelBuilder), got {self.model!r}")
        self.phases = members(self.phases, (Phase,), "phases")
        self.boundary = members(self.boundary, (Boundary,), "boundary")
        self.terminal = members(self.terminal, (Terminal,), "terminal")
        if not self.phases:
            raise ValueError("a problem needs at least one Phase")
        names = [phase.name for phase in self.phases]
        if len(set(names)) != len(names):
            raise ValueError(f"phases need names of their own, got {names}")
        given = members(self.transitions, TRANSITIONS, "transitions")
        self.transitions = given or tuple(Continuous() for _ in self.phases[1:])
        if len(self.transitions) != len(self.phases) - 1:
            raise ValueError(
                f"{len(self.phases)} phases need {len(self.phases) - 1} transitions between them, "
                f"got {len(self.transitions)}; the one that closes a period belongs to Periodic"
            )
        if self.form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {self.form!r}")
        self._check_transcription()
        if self.periodic is not None:
            self._check_periodic(self.periodic)
        if self.per_distance and self.periodic is None:
            raise ValueError("per_distance divides costs by the step length, which only a Periodic problem has")
        if self.posture is not None and np.shape(self.posture) != (self.model.nq,):
            raise ValueError(f"posture must have nq = {self.model.nq} entries, got shape {np.shape(self.posture)}")
        for foothold in self.footholds:
            self.model.frame(foothold.name)
        self.unactuated = self._unactuated()
        self._check_parameters()

    def _check_parameters(self) -> None:
        given = members(self.parameters, (Parameter,), "parameters")
        shared = [phase.shared_duration for phase in self.phases if phase.shared_duration is not None]
        self.parameters = tuple(dict.fromkeys((*given, *shared)))
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            raise ValueError(f"parameters need names of their own, got {names}")
        for parameter in self.parameters:
            of_model = parameter.name.partition(":")[0] in MODEL_PARAMETERS
            size = parameter_size(parameter.name) if of_model else 1 if parameter.name == "slope" else parameter.size
            if parameter.size != size:
                raise ValueError(f"Parameter {parameter.name!r} has {size} numbers, got {parameter.size}")

    def _check_transcription(self) -> None:
        integrator, level = FORMS[self.form]
        self.integrator, self.contact_level = self.integrator or integrator, self.contact_level or level
        method = scheme(self.integrator)
        if not isinstance(self.steps, Integral) or self.steps < 1:
            raise ValueError(f"steps per interval must be at least 1, a whole number, got {self.steps!r}")
        for key, known in (("torque", TORQUES), ("contact_level", LEVELS)):
            if getattr(self, key) not in known:
                raise ValueError(f"{key} must be one of {', '.join(known)}, got {getattr(self, key)!r}")
        for key in ("passive", "armature"):
            if not isinstance(getattr(self, key), bool):
                raise TypeError(f"{key} must be True or False, got {getattr(self, key)!r}")
        if not (isinstance(self.slip_speed, Real) and 0 < self.slip_speed < np.inf):
            raise ValueError(f"slip_speed [rad/s, m/s] must be positive and finite, got {self.slip_speed!r}")
        if not 0 <= self.baumgarte < np.inf:
            raise ValueError(f"baumgarte [1/s] must not be negative, nor infinite, got {self.baumgarte!r}")
        at_ends = self.form == "implicit" and self.contact_level == "position" and any(p.held for p in self.phases)
        if at_ends and not method.holds_positions:
            raise ValueError(
                f"integrator {self.integrator!r} cannot hold contacts at contact_level 'position': the positions at the "
                "end of a step follow from the velocities at both; use 'velocity' or 'acceleration', or another integrator"
            )

    @property
    def scheme(self) -> Scheme:
        """The Runge-Kutta scheme that integrates the motion."""
        return scheme(self.integrator)

    @property
    def equations(self) -> Equations:
        """The equations of motion, with what the joints do by themselves unless that is left out."""
        return Equations(self.model, self.passive, self.armature, self.slip_speed)

    @property
    def collocated(self) -> bool:
        """Whether accelerations are variables: always in the implicit form, else where the scheme is implicit."""
        return self.form == "implicit" or not self.scheme.explicit

    def _check_periodic(self, periodic: Periodic) -> None:
        if not isinstance(periodic, Periodic):
            raise TypeError(f"periodic must be Periodic(...) or None, got {periodic!r}")
        if periodic.step_length != (0.0, 0.0) and not np.allclose(self.model.root_shifts[:, 0], (1, 0, 0)):
            raise ValueError(
                f"Periodic moves the model on along x, which its root joint {self.model.joint_names[0]!r} cannot: use a "
                "model with a FloatingBase, or step_length=0 for a motion in place"
            )

    def _unactuated(self) -> tuple[str, ...]:
        if self.unactuated is not None:
            for joint in self.unactuated:
                self.model.qd_slice(joint)
            return tuple(self.unactuated)
        return self.model.floating_joints

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
        return mirror_map(self.model, passive=self.passive, armature=self.armature) if mirrored else None

    def solve(self, *, values: Mapping[str, Any] | None = None, **options: Any) -> Solution:
        """Transcribes and solves; see `ocp_dyn.ocp.solve`. values: of parameters, in place of those declared.

        What was built is kept: the next call with other values builds nothing.
        """
        from .solver import solve

        from_guess = options.get("solver", "ipopt") == "ipopt" and options.get("start") is None
        return solve(self, values=values, **((self.options if from_guess else {}) | options))

    def check(self, *, values: Mapping[str, Any] | None = None) -> list[str]:
        """What keeps the problem from being solved, or makes it hard, as sentences; see `ocp_dyn.ocp.check`."""
        from .solver import check

        return check(self, values)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what was built."""
        return self.__dict__ | {"_kept": None}

    def rti(self, start: Solution, **options: Any) -> RealTimeIteration:
        """Predictive control from a solution of this problem; see `ocp_dyn.ocp.RealTimeIteration`."""
        from .rti import rti

        return rti(self, start, **options)
