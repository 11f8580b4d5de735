"""Channels of the components along an interval: values and rates at the stages, and the rows that tie them.

A state y has the value y + h sum_j A_ij r_j at stage i of a step of length h. Its rates r_j are variables with the rows
r_i - dy/dt (instant i) = 0 in collocation, and expressions in multiple shooting; if the component gives no derivative,
they are variables in both, and the rows of the component determine them.
"""

from __future__ import annotations

import numpy as np
from casadi import SX

from ..._base.types import Expr, split
from ...integrators import weighted
from ..nlp.program import BlockRows
from ..statement.instant import Instant
from ..statement.phases import Phase
from ..statement.state.channels import Channel
from ..statement.statement import Statement
from .grid_numbers import PER_PHASE
from .tracks import after, between, has_rate_variables, rate_of, rate_scale

Values = dict[str, Expr]


def at_node(problem: Statement, z: Values, suffix: str = "") -> Values:
    """The channels that have a value at a node, from the slots `name + suffix`."""
    return {c.name: z[c.name + suffix] for c in problem.parts.channels if c.at_nodes}


class Evolution:
    """The channels of the components along one interval; its methods are called step by step, stage by stage."""

    def __init__(self, problem: Statement, phase: Phase, z: Values) -> None:
        self._problem, self._phase, self._z = problem, phase, z
        self._channels, self._method = problem.parts.channels, problem.scheme
        self._h = z["T"] / z[PER_PHASE] / problem.steps
        self._states = [c for c in self._channels if c.kind == "state"]
        self._value = {c.name: z[c.name] for c in self._states}
        self._end: Values = {}
        self._rates: dict[str, list[Expr]] = {}
        self._step = 0

    def begin(self, step: int) -> None:
        """Begins a step: rates that are variables are known from now on, others from stage to stage."""
        self._step, stages = step, self._method.stages
        self._rates = {c.name: self._stage_values(c, rate_of(c.name)) for c in self._states}
        for c in self._states if self._problem.collocated else ():
            last = step == self._problem.steps - 1
            whole = self._z[after(c.name)] if last else self._parts(c, between(c.name))[step]
            self._end[c.name] = whole
        assert all(len(rates) in (0, stages) for rates in self._rates.values())

    def attach(self, instant: Instant, stage: int) -> None:
        """Adds the values of the channels at a stage to its instant, and the rates that are known."""
        fraction = (self._step + float(self._method.c[stage])) / self._problem.steps
        for c in self._channels:
            instant.channels[c.name] = self._at(c, stage, fraction)
            if c.kind == "state" and len(self._rates[c.name]) > stage:
                instant.rates[c.name] = self._rates[c.name][stage]
        instant.rates |= self.slopes()
        instant.values = instant.values | instant.channels

    def derive(self, rows: BlockRows, instant: Instant, stage: int) -> None:
        """Adds the rows of the components at a stage whose accelerations and forces are known, and its derivatives."""
        parts = self._problem.parts
        if not parts.components:
            return
        derivatives = parts.derivatives(instant)
        for c in self._states:
            rates = self._rates[c.name]
            scale = rate_scale(self._problem, self._phase, c)
            if c.name in derivatives and has_rate_variables(self._problem, c):
                rows.constrain(f"rate of {c.name}", rates[stage] - derivatives[c.name], scale=scale)
            elif c.name in derivatives:
                rates.append(derivatives[c.name])
                instant.rates[c.name] = rates[stage]
                if c.rate is not None and np.isfinite(c.rate):
                    rows.constrain(f"rate of {c.name}", rates[stage], -c.rate, c.rate, scale=scale)
        for name, value, lower, upper in parts.rows(instant):
            rows.constrain(name, value, lower, upper)

    def finish(self, rows: BlockRows) -> None:
        """Ends a step: the states at its end are those of the next node, or the start of the next step."""
        for c in self._states:
            end = weighted(self._value[c.name], self._h, self._method.b, self._rates[c.name])
            if c.name in self._end:
                rows.constrain(f"{c.name} step", self._end[c.name] - end, scale=c.scale)
            elif self._step == self._problem.steps - 1:
                rows.constrain(f"{c.name} step", self._z[after(c.name)] - end, scale=c.scale)
            self._value[c.name] = self._end.get(c.name, end)

    def slopes(self) -> Values:
        """Rates of the controls that are linear along the interval."""
        return {c.name: self._slope(c) for c in self._channels if c.kind == "control" and c.at_nodes}

    def limit_slopes(self, rows: BlockRows) -> None:
        """Adds the bounds of the rates of the controls that are linear along the interval."""
        for c in self._channels:
            if c.kind == "control" and c.rate is not None and np.isfinite(c.rate):
                scale = rate_scale(self._problem, self._phase, c)
                rows.constrain(f"rate of {c.name}", self._slope(c), -c.rate, c.rate, scale=scale)

    def at_end(self, instant: Instant, fraction: float) -> None:
        """Adds the values of the channels that are known at the start (0) or the end (1) of the interval."""
        for c in self._channels:
            if c.kind == "state":
                instant.channels[c.name] = self._z[after(c.name) if fraction else c.name]
            elif c.kind == "control":
                instant.channels[c.name] = self._control(c, fraction)
        instant.rates |= self.slopes()
        instant.values = instant.values | instant.channels

    def of_controls(self, instant: Instant, step: int, stage: int) -> None:
        """Adds controls and algebraic channels at a stage; states and their rates are free symbols."""
        self._step = step
        fraction = (step + float(self._method.c[stage])) / self._problem.steps
        for c in self._channels:
            free = c.kind == "state"
            instant.channels[c.name] = SX.sym(c.name, c.size) if free else self._at(c, stage, fraction)
            if free:
                instant.rates[c.name] = SX.sym(rate_of(c.name), c.size)
        instant.rates |= self.slopes()
        instant.values = instant.values | instant.channels

    def _at(self, c: Channel, stage: int, fraction: float) -> Expr:
        if c.kind == "control":
            return self._control(c, fraction)
        if c.kind == "algebraic":
            return self._stage_values(c, c.name)[stage]
        if c.name in self._end and self._method.ends_at_stage and stage == self._method.stages - 1:
            return self._end[c.name]
        return weighted(self._value[c.name], self._h, self._method.A[stage], self._rates[c.name])

    def _control(self, c: Channel, fraction: float) -> Expr:
        if not c.at_nodes:
            return self._z[c.name]
        return (1 - fraction) * self._z[c.name] + fraction * self._z[after(c.name)]

    def _slope(self, c: Channel) -> Expr:
        return (self._z[after(c.name)] - self._z[c.name]) / (self._h * self._problem.steps)

    def _stage_values(self, c: Channel, slot: str) -> list[Expr]:
        """The entries of a slot that belong to the stages of the current step; none without such a slot."""
        first = self._step * self._method.stages
        return self._parts(c, slot)[first : first + self._method.stages] if slot in self._z else []

    def _parts(self, c: Channel, slot: str) -> list[Expr]:
        """The columns of a slot that holds several values of a channel, one after the other."""
        return split(self._z[slot], *[c.size] * (self._z[slot].shape[0] // c.size))
