"""Tracks: the sequences of variables in which the channels of a phase, and the slacks of its costs, appear in the
program.

A state has a track at the nodes. Where accelerations are variables (collocation), the rates of the states are too, at
all stages of an interval, and so are the states between the steps of an interval. A control has a track on the
intervals, or at the nodes if it has a rate. An algebraic channel has a track at the stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._base.types import Array
from ...mechanism import DofData
from ...symmetry.mirror import MirrorMap
from ..nlp.program import Slot, Variable
from ..statement.objectives import SlackCost
from ..statement.phases import Continuous, Impact, Phase
from ..statement.state.channels import Channel
from ..statement.statement import Statement

FORCE_SCALE = 100.0
"""Typical size of torques [N m], forces [N] and impulses: halves the iterations of the solver."""

USUAL_COUNT = 20
"""Number of intervals of a phase that counts for the typical size of a rate."""

SHARED = (Continuous, Impact)
"""Transitions after which the next phase begins with the positions at the end of this one."""


def after(name: str) -> str:
    """Name of the slot of a track at the end of an interval."""
    return f"{name}+"


def rate_of(name: str) -> str:
    """Name of the track of the rates of a state at the stages."""
    return f"{name}'"


def between(name: str) -> str:
    """Name of the track of a state between the steps of an interval."""
    return f"{name} inside"


@dataclass(frozen=True, eq=False)
class Track:
    """A sequence of variables of a phase, one per node or one per interval.

    labels: names of the entries, () if they have none; size: number of entries of a variable. nodes: whether there is
    one at every node. shared: transitions after which the next phase begins with the last variable of this phase.
    state: whether conditions on the state of a node see it. steps: "" or the name of the rows that lead to the next
    node.
    """

    name: str
    size: int
    labels: tuple[str, ...] = ()
    lower: Any = -np.inf
    upper: Any = np.inf
    start: Any = 0.0
    scale: Any = 1.0
    nodes: bool = False
    shared: tuple[type, ...] = ()
    state: bool = False
    words: str = ""

    @property
    def title(self) -> str:
        """The first words of the names of the variables."""
        return self.words or self.name


@dataclass
class PhaseVariables:
    """The variables of one phase: its duration, and its tracks by name."""

    duration: Slot
    tracks: dict[str, Track] = field(default_factory=dict)
    variables: dict[str, list[Variable]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> list[Variable]:
        """The variables of a track, in time order; empty if the phase has no such track."""
        return self.variables.get(name, [])

    def __iter__(self) -> Iterator[tuple[Track, list[Variable]]]:
        return ((track, self.variables[name]) for name, track in self.tracks.items())

    def state(self, k: int) -> dict[str, Variable]:
        """The state at node k (-1: the last), by the names of the tracks."""
        return {track.name: variables[k] for track, variables in self if track.state}

    def node(self, k: int) -> dict[str, Variable]:
        """The variables of node k."""
        return {track.name: variables[k] for track, variables in self if track.nodes}

    def interval(self, k: int) -> dict[str, Slot]:
        """Variables and parameters of interval k, by the names of its slots."""
        found: dict[str, Slot] = {**self.state(k), **{after(name): slot for name, slot in self.state(k + 1).items()}}
        others = [(track, variables) for track, variables in self if not track.state]
        for track, variables in others[:1]:  # the torques, and the duration beside them
            found |= {track.name: variables[k], "T": self.duration}
        found |= {after(track.name): variables[k + 1] for track, variables in others if track.nodes}
        return found | {track.name: variables[k] for track, variables in others[1:]}


def tracks_of(problem: Statement, phase: Phase, mirror: MirrorMap | None) -> list[Track]:
    """The tracks of a phase: those of the mechanics, then those of the components."""
    stages = problem.steps * problem.scheme.stages
    own = (
        track for channel in problem.parts.channels for track in _of_component(problem, phase, channel, stages, mirror)
    )
    return [*_of_mechanics(problem, phase, stages, mirror), *own]


def slacks_of(problem: Statement, phase: Phase) -> dict[Track, SlackCost]:
    """The tracks of the variables that costs of a phase have of their own: algebraic, one value for all stages of an
    interval. They are named by the position of the cost in the list of the phase."""
    costs = {k: cost for k, cost in enumerate(phase.objective) if isinstance(cost, SlackCost)}
    sizes = {k: cost.slack_size(problem.model) for k, cost in costs.items()}
    return {
        Track(f"slack:{k}", sizes[k], lower=0.0, scale=cost.scale, words=f"slack{k}"): cost for k, cost in costs.items()
    }


def _of_mechanics(problem: Statement, phase: Phase, stages: int, mirror: MirrorMap | None) -> Iterator[Track]:
    """The tracks of q, qd, tau, qdd and lam: of the entries that are variables."""
    model, chosen, limits = problem.model, problem.coordinates, limits_of(problem, mirror)
    nq, nv = len(chosen.q), len(chosen.qd)
    low, high, neutral = (np.asarray(x)[chosen.q] for x in (limits.q_lower, limits.q_upper, model.neutral()))
    names = tuple(model.q_names[k] for k in chosen.q)
    yield Track("q", nq, names, low, high, neutral, nodes=True, shared=SHARED, state=True)
    fastest = limits.qd_max[chosen.qd]
    speeds = tuple(model.qd_names[k] for k in chosen.qd)
    yield Track("qd", nv, speeds, -fastest, fastest, nodes=True, shared=(Continuous,), state=True)
    motors = tuple(model.qd_names[k] for k in problem.actuated)
    least, most = limits.tau_min[problem.actuated], limits.tau_max[problem.actuated]
    yield Track("tau", len(motors), motors, least, most, scale=FORCE_SCALE, nodes=problem.torque == "linear")
    if not problem.collocated:
        return
    yield Track("qdd", stages * nv, speeds)
    rows = tuple(row for held in phase.held for row in held.contact.rows)
    if rows and problem.form == "implicit":
        yield Track("lam", stages * sum(held.size for held in phase.held), rows, scale=FORCE_SCALE)
    if problem.steps > 1:  # joint limits are imposed at the nodes
        yield Track("inner", (problem.steps - 1) * (nq + nv), words="inner states")


def limits_of(problem: Statement, mirror: MirrorMap | None) -> DofData:
    """Data of the dofs with the limits that the motion keeps; in a mirrored period those of the mirror image too, as it
    is the next period."""
    model, dofs = problem.model, problem.model.dofs
    if problem.limits:
        return dofs if mirror is None else mirror.limits
    q, qd = np.full(model.nq, np.inf), np.full(model.nv, np.inf)
    return replace(dofs, q_lower=-q, q_upper=q, qd_max=qd, tau_min=-qd, tau_max=qd)


def _of_component(
    problem: Statement, phase: Phase, channel: Channel, stages: int, mirror: MirrorMap | None
) -> Iterator[Track]:
    """The tracks of a channel of a component."""
    name, size, scale, labels = channel.name, channel.size, np.array(channel.scale), channel.labels
    limits = channel.bounds if mirror is None else channel.mirrored_bounds(mirror.images)
    low, high = (np.array(limit) for limit in limits)
    bounds = low, high, np.array(channel.neutral)
    if channel.kind == "algebraic":
        yield _repeated(name, channel, stages, *bounds)
        return
    if channel.at_nodes:
        yield Track(name, size, labels, *bounds, scale, nodes=True, shared=SHARED, state=True)
    else:
        yield Track(name, size, labels, *bounds, scale)
    if has_rate_variables(problem, channel):
        most, typical = np.inf if channel.rate is None else channel.rate, rate_scale(problem, phase, channel)
        yield Track(rate_of(name), stages * size, labels, -most, most, scale=np.tile(typical, stages))
    if channel.kind == "state" and problem.collocated and problem.steps > 1:
        yield _repeated(between(name), channel, problem.steps - 1, *bounds)


def _repeated(name: str, channel: Channel, count: int, *bounds: Array) -> Track:
    """A track whose variables hold several values of a channel, one after the other; bounds: lower, upper, start."""
    low, high, start, scale = (np.tile(x, count) for x in (*bounds, np.array(channel.scale)))
    return Track(name, count * channel.size, channel.labels, low, high, start, scale)


def rate_scale(problem: Statement, phase: Phase, channel: Channel) -> Array:
    """Typical size of the rate of a state: its scale over the length of a step, so that both ends of a step and its
    rate are of one size in the row that ties them. All grids of a phase have the same one."""
    return np.array(channel.scale) * (USUAL_COUNT * problem.steps / float(np.mean(phase.duration_bounds)))


def has_rate_variables(problem: Statement, channel: Channel) -> bool:
    """Whether the derivative of a state at the stages is a variable: in collocation, and for rows that contain it."""
    return channel.kind == "state" and (problem.collocated or channel.name not in problem.parts.explicit)


def sequences(phases: Iterable[PhaseVariables]) -> list[list[Variable]]:
    """The variables of every track in time order, through all phases; nodes that two phases share appear once."""
    found: dict[str, list[Variable]] = {}
    for phase in phases:
        for track, variables in phase:
            sequence = found.setdefault(track.name, [])
            sequence += [variable for variable in variables if variable not in sequence[-1:]]
    return list(found.values())
