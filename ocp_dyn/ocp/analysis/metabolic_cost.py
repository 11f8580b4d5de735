"""Metabolic rate of a solved motion, by the formulas of the costs `JointWork` and `MetabolicRate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import call_user
from ..._base.display import Displayed, aligned, table
from ..._base.types import Array, repr_in_message
from ...mechanism import Model
from ..motion.motion import Motion
from ..statement.instant import Instant
from ..statement.objectives import base_size
from ..torque_sources.effort import JointWork, RestingRate
from ..torque_sources.metabolic import MetabolicRate
from ..torque_sources.muscle_costs import MuscleMetabolicRate

SAMPLES = 8
"""Number of instants in every interval, in the middles of parts of equal length, at which the rate is evaluated."""


@dataclass(frozen=True, eq=False)
class Metabolism(Displayed):
    """Metabolic power of a motion and its cost of transport, per mass of the model.

    net, rest [W/kg]: mean power for the motion, and at rest; gross [W/kg]: their sum. net_cost, gross_cost [J/(kg m)]:
    the same per distance that a periodic motion covers; None for others. by_dof [W/kg]: the net power of every dof,
    or of every muscle, by its name; in a mirrored motion, which is one step, those of one side's stance and the other
    side's swing. duration [s]; distance [m]; mass [kg].

    >>> print(solution.metabolic_rate())
    net power    5.4648 W/kg
    rest         1.2 W/kg
    gross power  6.6648 W/kg
    """

    net: float
    rest: float
    by_dof: Mapping[str, float]
    duration: float
    distance: float
    mass: float

    @property
    def gross(self) -> float:
        """Mean power with the rest [W/kg]."""
        return self.net + self.rest

    @property
    def net_cost(self) -> float | None:
        """Energy for the motion per mass and distance [J/(kg m)]."""
        return self.net * self.duration / abs(self.distance) if self.distance else None

    @property
    def gross_cost(self) -> float | None:
        """Energy with the rest per mass and distance [J/(kg m)]."""
        return self.gross * self.duration / abs(self.distance) if self.distance else None

    def numbers(self) -> dict[str, float]:
        """The figures that apply, by name and unit, such as "gross_cost_J_per_kg_m"."""
        figures = {"net_power_W_per_kg": self.net, "rest_W_per_kg": self.rest, "gross_power_W_per_kg": self.gross}
        costs = {"net_cost_J_per_kg_m": self.net_cost, "gross_cost_J_per_kg_m": self.gross_cost}
        return figures | {key: value for key, value in costs.items() if value is not None}

    def rows(self) -> list[tuple[str, str]]:
        """Names, and values with units, in the order of the table."""
        found = []
        for key, value in self.numbers().items():
            name, unit = key.split("_W_" if "_W_" in key else "_J_")
            found.append((name.replace("_", " "), f"{value:.5g} {'W/kg' if unit == 'per_kg' else 'J/(kg m)'}"))
        return found

    def _card_html(self) -> str:
        return table((), self.rows())

    def __str__(self) -> str:
        return aligned(self.rows())


def metabolic_rate(solution: Motion, rate: Any, rest: Any) -> Metabolism:
    """The metabolic power of a motion by a rate such as `JointWork()`, and that at rest.

    Between nodes the velocity is linear, and q moves at a constant rate; torques are linear along intervals or
    constant, as in the problem.
    """
    if not isinstance(rate, (JointWork, MetabolicRate, MuscleMetabolicRate)):
        raise TypeError(
            "metabolic_rate: rate must be a JointWork, a MetabolicRate or a MuscleMetabolicRate, got "
            f"{repr_in_message(rate)}"
        )
    if not isinstance(rest, RestingRate):
        raise TypeError(
            f"metabolic_rate: rest must be a RestingRate, such as RestingRate(1.2), got {repr_in_message(rest)}"
        )
    model = solution.model
    rate.check(model, ())
    if isinstance(rate, MuscleMetabolicRate):
        first, names = 0, tuple(rate.muscles.hill(model).names)
        energy = sum((_of_muscles(solution, phase, rate) for phase in solution.phases), start=np.zeros(len(names)))
    else:
        first, names = base_size(model), model.qd_names
        energy = sum((_energies(solution, phase, rate) for phase in solution.phases), start=np.zeros(model.nv))
    mean = energy / (model.mass * solution.duration)
    return Metabolism(
        net=float(mean.sum()),
        rest=float(rest.watts_per_kg),
        by_dof=dict(zip(names[first:], (float(x) for x in mean[first:]), strict=True)),
        duration=solution.duration,
        distance=float(solution.distance),
        mass=float(model.mass),
    )


def _of_muscles(solution: Motion, phase: Any, rate: MuscleMetabolicRate) -> Array:
    """Metabolic energy [J] of every muscle in a phase, by the rates in the middles of the intervals."""
    model, h = solution.model, np.diff(phase.t)
    channels = {c.name: phase.channels[c.name] for c in solution.channels}
    if "activation" not in channels:
        raise ValueError(
            "metabolic_rate: the motion has no activations of muscles: give a JointWork or a MetabolicRate"
        )
    symbols = {c.name: SX.sym(c.name, c.size) for c in solution.channels}
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    value = rate.rates(Instant(model, q, qd, channels=symbols))
    f = ca.Function("rates", [q, qd, *symbols.values()], [ca.densify(value)])
    middle = [np.array(model.integrate(DM(a), model.difference(DM(a), DM(b)) / 2).full()).ravel()
              for a, b in zip(phase.q[:-1], phase.q[1:], strict=True)]  # fmt: skip
    columns = [np.transpose(middle), (phase.qd[:-1] + phase.qd[1:]).T / 2]
    columns += [((x[:-1] + x[1:]) / 2 if len(x) > len(h) else x).T for x in channels.values()]
    return np.asarray(f.map(len(h))(*columns).full() @ h)


def _energies(solution: Motion, phase: Any, rate: JointWork | MetabolicRate) -> Array:
    """Metabolic energy (nv) [J] of every dof in a phase."""
    linear = solution.stats.get("torque") == "linear" or bool(np.any(phase.tau_rate))
    driven = np.flatnonzero(np.any(solution.tau != 0, axis=0))
    f = _rates(solution.model, rate, [int(k) for k in driven], linear)
    count, parts = len(phase.tau), (np.arange(SAMPLES) + 0.5) / SAMPLES
    h = np.diff(phase.t)
    columns = [x.T for x in (phase.q[:-1], phase.q[1:], phase.qd[:-1], phase.qd[1:], phase.tau, phase.tau_rate)]
    inputs = [np.repeat(x, SAMPLES, axis=1) for x in (*columns, h[None, :])]
    found = f.map(count * SAMPLES)(*inputs, np.tile(parts, count)[None, :])
    return np.asarray(found.full() @ np.repeat(h, SAMPLES) / SAMPLES)


def _rates(model: Model, rate: JointWork | MetabolicRate, driven: list[int], linear: bool) -> ca.Function:
    """The rates (nv) [W] at a fraction of an interval; inputs: q, qd at both ends, mean and rate of tau, length,
    fraction."""
    ends = [
        SX.sym(name, size) for name, size in (("q0", model.nq), ("q1", model.nq), ("qd0", model.nv), ("qd1", model.nv))
    ]
    mean, slope, h, part = (
        SX.sym(name, size) for name, size in (("tau", model.nv), ("r", model.nv), ("h", 1), ("s", 1))
    )
    q = model.integrate(ends[0], model.difference(ends[0], ends[1]) * part)
    tau = SX(model.nv, 1)  # dofs that have no torque have no motor
    tau[driven] = (mean + slope * (part - 0.5) * h)[driven]
    instant = Instant(model, q, (1 - part) * ends[2] + part * ends[3], tau=tau, tau_rate=slope if linear else None)
    value = SX(call_user(type(rate).__name__, rate.rates, instant))
    return ca.Function("rates", [*ends, mean, slope, h, part], [ca.densify(value)])
