"""Muscles of a model in optimal control: a component with activations, states of tendons and excitations, and costs.

The muscles pull at the bones: the tensions times the moment arms of their paths are added to the torques of the joints.
Joints that muscles alone move are `unactuated`; others keep their torques besides, as reserves or as motors.

| option | channels |
|---|---|
| activation="smooth" | state `activation` and control `excitation`, tied by `od.muscles.activation_rate` |
| activation="limits" | `activation` alone, linear along intervals, within `od.muscles.activation_rate_limits` |
| tendon="rigid" | none |
| tendon="force" | state `tendon_force` over the maximum isometric force, from the balance with the fibers (implicit) |
| tendon="length" | state `fiber_length` over the optimal one, from the same balance |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.checks import bounds, choice, given_name, is_pair, listed_names, name_among, number, positive
from ..._base.types import Expr, ModelError, names_in_message, repr_in_message
from ...functions.function import function as function_of
from ...mechanism import Model
from ...mechanism.equal_models import kept_per_model
from ...muscles import (
    HillMuscles,
    MuscleForces,
    PathFault,
    activation_rate,
    activation_rate_limits,
    fiber_state,
    moment_arms,
    muscle_faults,
    muscle_lengths,
    muscle_speeds,
    muscle_torques,
    rigid_tendon,
    tendon_state,
)
from ...muscles.hill_muscles import FAMILIES
from ...muscles.path_algorithms import path_functions
from ...symmetry.muscles import muscle_images
from ..statement.instant import Instant
from ..statement.path_constraints import Bounded
from ..statement.state.channels import Channel
from ..statement.state.components import Component, LocalForce
from .muscle_guess import guessed_activations, muscle_places, neutral_activation
from .muscle_pulls import muscle_pull, with_images

FORCES, FIBERS = (0.0, 5.0), (0.2, 1.8)
"""Bounds of tendon forces over the maximum isometric force, and of fiber lengths over the optimal one."""


@dataclass(frozen=True)
class Muscles(Component):
    """Muscles of the model as a component: `Problem(unactuated=[...], components=[ocp.Muscles()])`.

    | field | meaning |
    |---|---|
    | names | of the muscles; None: all with the numbers of Hill's type |
    | tendon | "rigid", or compliant with a state: "force" or "length" |
    | activation | "smooth": a state with an excitation; "limits": no excitation, two linear rows instead |
    | curves | a family of curves, see `od.muscles.HillMuscles`; the state "force" needs "de_groote_fregly" |
    | range | least and largest activation and excitation |
    | excitations | "constant" on every interval, or "linear" along it and continuous, as in OpenSim Moco |
    | steepness | of the smooth activation, see `od.muscles.activation_rate`; OpenSim's default is 0.1 |
    | strengths | {muscle: parameter of the problem}: factors of maximum isometric forces |
    | reserves | joints that keep their motors beside the muscles, in `Problem(muscles=...)` |

    With the state "force" or "length" the equations are implicit: the rates of the state are determined by the balance
    of the forces of fibers and tendons; it is free at the start of a motion that is not periodic, where `balance` gives
    rows of equilibrium. Costs are `ChannelPower("excitation")`, `ChannelPower("activation", 10)`
    (fatigue), `MuscleMetabolicRate`. Names with the endings _r and _l, or with right and left, are mirror images.

    A forearm is lifted by a right angle in half a second:

    >>> ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.5, end.qd), 0, 0))
    >>> lift = ocp.Phase("lift", 20, 0.5, objective=[ocp.ChannelPower("activation")])
    >>> flexed = ocp.Problem(elbow, [lift], boundary=[ends], unactuated=["elbow"], components=[ocp.Muscles()])
    >>> moved = flexed.solve(progress=False)
    >>> moved["activation"].shape, moved["activation"].max(axis=0).round(1)
    ((21, 2), array([0.1, 0. ]))
    """

    names: Sequence[str] | None = None
    tendon: str = "rigid"
    activation: str = "smooth"
    curves: str = "de_groote_fregly"
    range: tuple[float, float] = (0.01, 1.0)
    strengths: Any = ()
    excitations: str = "constant"
    steepness: float = 10.0
    reserves: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.names is not None:
            names = listed_names(self.names, "Muscles names")
            if not names or len(set(names)) < len(names):
                raise ValueError(f"Muscles names must be different names, one or more, got {list(names)}")
            object.__setattr__(self, "names", names)
        choice(self.tendon, ("rigid", "force", "length"), "Muscles tendon")
        choice(self.activation, ("smooth", "limits"), "Muscles activation")
        choice(self.excitations, ("constant", "linear"), "Muscles excitations")
        positive(self.steepness, "Muscles steepness")
        object.__setattr__(self, "reserves", listed_names(self.reserves, "Muscles reserves"))
        name_among(self.curves, [*FAMILIES, "own"], "Muscles curves", "family of curves")
        if not is_pair(self.range):
            raise ValueError(f"Muscles range must be a pair, such as (0.01, 1.0), got {repr_in_message(self.range)}")
        low, high = (number(x, "Muscles range") for x in self.range)
        bounds(low, high, "Muscles range")
        if not 0 < low < high <= 1:
            raise ValueError(f"Muscles range must be (lower, upper) with 0 < lower < upper <= 1, got {self.range}")
        object.__setattr__(self, "strengths", _pairs(self.strengths))
        if self.tendon == "force" and self.curves != "de_groote_fregly":
            raise ValueError(
                'Muscles: tendon="force" needs the curves "de_groote_fregly", as the tendons of others go slack, got '
                f'curves={repr_in_message(self.curves)}: take tendon="length"'
            )

    def check(self, model: Model) -> None:
        if not model.muscles:
            raise ModelError(
                f"Muscles: the model {model.name!r} has no muscles: take one from a file that has some, or add them "
                "with model.with_muscles"
            )
        muscles = self.hill(model)
        for fault in _severe_faults(model):
            if fault.muscle in muscles.names:
                raise ModelError(f"Muscles: {fault}")
        for name, _ in self.strengths:
            name_among(name, muscles.names, "Muscles strengths", "muscle")
        for name in self.reserves:
            name_among(name, self._moved(model), "Muscles reserves", "joint that the muscles move")
        if self.tendon == "length":
            zero = ca.DM.zeros(muscles.size)
            muscles.curves.tendon_force(zero + 1)  # NotImplementedError for curves without a tendon

    def findings(self, model: Model) -> list[str]:
        """The `muscle_faults` of these muscles: the first one of every kind, and the names of all that have it."""
        names, kinds = self.hill(model).names, dict[str, list[PathFault]]()
        for fault in muscle_faults(model):
            if fault.muscle in names:
                kinds.setdefault(fault.remedy, []).append(fault)
        others = [list(dict.fromkeys(fault.muscle for fault in kind if fault.muscle != kind[0].muscle))
                  for kind in kinds.values()]  # fmt: skip
        more = [f" (the same of {names_in_message(found)})" if found else "" for found in others]
        return [f"{kind[0]}{rest}" for kind, rest in zip(kinds.values(), more, strict=True)]

    def hill(self, model: Model) -> HillMuscles:
        """The numbers of the muscles."""
        return _hill(model, self.names if self.names is None else tuple(self.names), self.curves)

    def channels(self, model: Model) -> list[Channel]:
        names = self.hill(model).names
        common: dict[str, Any] = {"labels": names, "mirror": _images(model, names)}
        active: dict[str, Any] = {**common, "bounds": self.range, "neutral": neutral_activation(self.range)}
        if self.activation == "limits":
            found = [Channel("activation", "control", rate=np.inf, **active)]
        else:
            rate = np.inf if self.excitations == "linear" else None
            found = [Channel("activation", **active), Channel("excitation", "control", rate=rate, **active)]
        if self.tendon == "force":
            found.append(Channel("tendon_force", bounds=FORCES, neutral=neutral_activation(FORCES), **common))
        if self.tendon == "length":
            found.append(Channel("fiber_length", bounds=FIBERS, neutral=1.0, **common))
        return found

    def derivatives(self, instant: Instant) -> dict[str, Expr]:
        if self.activation == "limits":
            return {}
        muscles, e, a = self.hill_at(instant), instant["excitation"], instant["activation"]
        return {"activation": activation_rate(muscles, e, a, steepness=self.steepness)}

    def rows(self, instant: Instant) -> Bounded:
        rows, lower, upper = [ca.SX(0, 1)], [np.zeros(0)], [np.zeros(0)]
        muscles = self.hill_at(instant)
        if self.activation == "limits":
            slow = muscles.deactivation_time
            low, high = activation_rate_limits(muscles, instant["activation"])
            rate = instant.rates["activation"]
            rows += [slow * (rate - low), muscles.activation_time * (high - rate)]
            lower.append(np.zeros(2 * muscles.size))
            upper.append(np.full(2 * muscles.size, np.inf))
        if self.tendon != "rigid":
            forces = self._contraction(instant, muscles, implicit=True)
            rows.append(forces.residual)
            lower.append(np.zeros(muscles.size))
            upper.append(np.zeros(muscles.size))
            if self.tendon == "length" and self.curves == "de_groote_fregly":  # whose tendons can push
                rows.append(forces.tendon_force / muscles.max_isometric_force)
                lower.append(np.full(muscles.size, FORCES[0]))
                upper.append(np.full(muscles.size, FORCES[1]))
        return ca.vertcat(*rows), np.concatenate(lower), np.concatenate(upper)

    def local_forces(self, model: Model) -> Sequence[LocalForce]:
        return _local_forces(model, replace(self, reserves=()))

    def force(self, instant: Instant) -> Expr:
        model = instant.model
        if self.local_forces(model):
            return super().force(instant)
        muscles = self.hill_at(instant)
        tensions = ca.SX(len(model.muscles), 1)
        tensions[muscle_places(model, muscles.names)] = self._tension(
            muscles, *_paths(instant, muscles), instant[STATES[self.tendon]]
        )
        return function_of(muscle_torques, model)(ca.SX(instant.q), tensions)

    def _tension(self, muscle: HillMuscles, length: Expr, speed: Expr, state: Expr) -> Expr:
        """Force of a tendon [N] by the activation, or by the state of the tendon."""
        if self.tendon == "force":
            return muscle.max_isometric_force * state
        if self.tendon == "length":
            return fiber_state(muscle, length, speed, 0 * state, state, ca.SX(muscle.size, 1)).tendon_force
        return rigid_tendon(muscle, length, speed, state).tendon_force

    def driven(self, model: Model) -> list[str]:
        """Joints that the muscles move, without the reserves."""
        return [name for name in self._moved(model) if name not in self.reserves]

    def _moved(self, model: Model) -> list[str]:
        moved = {dof for part in self.local_forces(model) for dof in part.dofs}
        if not moved:
            at, arms = muscle_places(model, self.hill(model).names), function_of(moment_arms, model).sparsity_out(0)
            moved = {dof for muscle, dof in zip(*arms.get_triplet(), strict=True) if muscle in at}
        return [name for name in model.joint_names if moved & set(range(*model.qd_slice(name).indices(model.nv)))]

    def guess(self, instant: Instant) -> dict[str, Any]:
        """Activations that share out the torques of the instant with least squares, and with them excitations and the
        states of tendons; without torques all are neutral."""
        muscles = self.hill(instant.model)
        a = instant.channels.get("activation")
        if a is None:
            a = DM(guessed_activations(instant, muscles, self.range))
        found: dict[str, Any] = {"activation": a, "excitation": a}
        if self.activation == "limits":
            del found["excitation"]
        if self.tendon == "rigid":
            return found
        forces = rigid_tendon(muscles, *_paths(instant, muscles), a)
        if self.tendon == "force":
            return found | {"tendon_force": _within(forces.tendon_force / muscles.max_isometric_force, (0.01, 1.0))}
        return found | {"fiber_length": _within(forces.fiber_length / muscles.optimal_fiber_length, FIBERS)}

    def balance(self, instant: Instant) -> Expr:
        """Rows (n) that vanish where compliant tendons balance fibers that stand still: for a start in equilibrium,
        `ocp.Boundary(lambda start, end: (muscles.balance(start), 0, 0))`. None with rigid tendons.
        """
        if self.tendon == "rigid":
            return ca.SX(0, 1)
        muscles, a = self.hill_at(instant), instant["activation"]
        length, speed = _paths(instant, muscles)
        if self.tendon == "length":
            return fiber_state(muscles, length, speed, a, instant["fiber_length"], 0 * a).residual
        z = instant["tendon_force"]
        rate = muscles.curves.tendon_stiffness(z) / muscles.tendon_slack_length * speed
        return tendon_state(muscles, length, speed, a, z, rate).residual

    def contraction(self, instant: Instant) -> MuscleForces:
        """Lengths, speeds and forces of the muscles at an instant; fiber speeds of compliant tendons are explicit."""
        return self._contraction(instant, self.hill_at(instant), implicit=False)

    def hill_at(self, instant: Instant) -> HillMuscles:
        """The numbers of the muscles, with the parameters of the problem."""
        muscles = self.hill(instant.model)
        if not self.strengths:
            return muscles
        factors = ca.SX.ones(muscles.size)
        for name, parameter in self.strengths:
            if parameter not in instant.values:
                raise ValueError(
                    f"Muscles strengths: the problem has no parameter {repr_in_message(parameter)}: give "
                    f"parameters=[ocp.Parameter({parameter!r}, 1.0)]"
                )
            factors[muscles.names.index(name)] = instant.values[parameter]
        return replace(muscles, max_isometric_force=muscles.max_isometric_force * factors)

    def _contraction(self, instant: Instant, muscles: HillMuscles, implicit: bool) -> MuscleForces:
        """The muscles at an instant."""
        length, speed = _paths(instant, muscles)
        a = instant["activation"]
        if self.tendon == "rigid":
            return rigid_tendon(muscles, length, speed, a)
        name, state = ("tendon_force", tendon_state) if self.tendon == "force" else ("fiber_length", fiber_state)
        rate = instant.rates[name] if implicit else None
        return state(muscles, length, speed, a, instant[name], rate)


def _pairs(strengths: Any) -> tuple[tuple[str, str], ...]:
    """Muscles and parameters of the problem that are factors of their forces."""
    given = strengths.items() if isinstance(strengths, Mapping) else strengths
    pairs = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(is_pair(pair) for pair in pairs):
        raise TypeError(f"Muscles strengths must be a dict {{muscle: parameter}}, got {repr_in_message(strengths)}")
    for name, parameter in pairs:
        given_name(name, "Muscles strengths: the muscle")
        given_name(parameter, f"Muscles strengths of {repr_in_message(name)}: the parameter")
    return tuple((name, parameter) for name, parameter in pairs)


@kept_per_model
def _hill(model: Model, names: tuple[str, ...] | None, curves: str) -> HillMuscles:
    return HillMuscles.of(model, names, curves)


STATES = {"rigid": "activation", "force": "tendon_force", "length": "fiber_length"}
"""Channels on which the forces of tendons depend."""


@kept_per_model
def _local_forces(model: Model, part: Muscles) -> tuple[LocalForce, ...]:
    """The force of every muscle, by the coordinates that its path crosses; none if one crosses a quaternion."""
    names, factors = part.hill(model).names, dict(part.strengths)

    def tension(k: int, length: Expr, speed: Expr, states: Expr) -> Expr:
        hill = HillMuscles.of(model, names[k : k + 1], part.curves)
        if names[k] in factors:
            hill = replace(hill, max_isometric_force=hill.max_isometric_force * states[1])
        return part._tension(hill, length, speed, states[0])

    if not (paths := path_functions(model, names, ca.SX.sym("q", model.nq))):
        return ()
    values = {name: (factors[name],) if name in factors else () for name in names}
    pulls = {
        name: muscle_pull(path, partial(tension, k), (STATES[part.tendon], k), values[name])
        for k, (name, path) in enumerate(zip(names, paths, strict=True))
        if path.dofs  # a muscle that crosses locked joints alone moves nothing
    }
    place = {name: k for k, name in enumerate(pulls)}
    images = {place[a]: place[b] for a, b in muscle_images(model).items() if {a, b} <= place.keys()}
    return with_images(list(pulls.values()), images)


@kept_per_model
def _severe_faults(model: Model) -> tuple[PathFault, ...]:
    return tuple(fault for fault in muscle_faults(model, fits=False) if fault.severe)


def _paths(instant: Instant, muscles: HillMuscles) -> tuple[Expr, Expr]:
    """Lengths [m] and speeds [m/s] of the paths."""
    model, at = instant.model, muscle_places(instant.model, muscles.names)
    q, qd = ca.SX(instant.q), ca.SX(instant.qd)
    return function_of(muscle_lengths, model)(q)[at], function_of(muscle_speeds, model)(q, qd)[at]


def _within(value: Expr, limits: tuple[float, float]) -> Expr:
    return ca.fmin(ca.fmax(value, limits[0]), limits[1])


def _images(model: Model, names: Sequence[str]) -> dict[str, tuple[str, float]] | None:
    """Mirror images of muscles by their names and places; None if each is its own."""
    images = {name: image for name, image in muscle_images(model).items() if name in names}
    if all(image == name for name, image in images.items()):
        return None
    return {name: (image if image in images else name, 1.0) for name, image in images.items()}
