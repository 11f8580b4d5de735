"""First values of the channels of components: from their guesses, or from another solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from ..._base.types import Array
from ..motion.motion import PhaseMotion
from ..statement.grids import Intervals
from ..statement.instant import Instant
from ..statement.state.channels import Channel
from ..transcription.tracks import Track, between, rate_of
from ..transcription.variables import Transcription, model_of, number, state_of


class Moment(NamedTuple):
    """A time of the other solution: in interval k of a phase, at the fraction u of that interval."""

    phase: PhaseMotion
    k: int
    u: float


Sample = Callable[[float], Array]
"""A function from a fraction of a phase to the values of a channel."""


def guess_channels(transcription: Transcription) -> None:
    """Sets the channels to what their components guess from the first values of q and qd, or to their neutral
    values."""
    problem, start = transcription.problem, transcription.program.start
    if not problem.parts.components:
        return
    values = {name: DM(number(transcription, slot, start)) for name, slot in transcription.slots.items()}
    model = model_of(transcription, values)
    for x, phase in zip(transcription.phases, problem.phases, strict=True):
        found = []
        for k in range(phase.grid.count + 1):
            q, qd = state_of(transcription, x, k, start)
            found.append(problem.parts.guess(Instant(model, DM(q), DM(qd), s=phase.grid.at(k), values=values)))
        for channel in problem.parts.channels:
            table = np.array([np.broadcast_to(guess[channel.name], (channel.size,)) for guess in found])
            _set(transcription, x, phase.grid, channel, partial(_linear, phase.grid, table))


def carry_channels(
    transcription: Transcription, p: int, theirs: Sequence[Channel], moment: Callable[[float], Any], torques: Sample
) -> None:
    """Sets the channels of phase p from another solution, where it has a channel of the same name; entries are matched
    by their labels. The components guess the others from the motion and the torques (nv) of that solution."""
    x = transcription.phases[p]
    _derive(transcription, p, theirs, moment, torques)
    for channel in transcription.problem.parts.channels:
        other = next((c for c in theirs if c.name == channel.name), None)
        pairs = (
            []
            if other is None
            else [(k, other.labels.index(n)) for k, n in enumerate(channel.labels) if n in other.labels]
        )
        if not pairs or other is None:
            continue
        ours, them = (list(part) for part in zip(*pairs, strict=True))
        kept = number(transcription, x[channel.name][0], transcription.program.start)[: channel.size].copy()

        def sample(s: float, kept: Array = kept, ours: Any = ours, them: Any = them, other: Channel = other) -> Array:
            phase, k, u = moment(s)
            kept[ours] = _at_moment(other, phase.channels[other.name], k, u)[them]
            return kept

        _set(transcription, x, transcription.problem.phases[p].grid, channel, sample)


def _derive(
    transcription: Transcription, p: int, theirs: Sequence[Channel], moment: Callable[[float], Any], torques: Sample
) -> None:
    """Sets the channels that another solution lacks."""
    x, problem, start = transcription.phases[p], transcription.problem, transcription.program.start
    grid, names = problem.phases[p].grid, {channel.name for channel in theirs}
    own = [channel for channel in problem.parts.channels if channel.name not in names]
    if not own:
        return
    values = {name: DM(number(transcription, slot, start)) for name, slot in transcription.slots.items()}
    model, found = model_of(transcription, values), list[dict[str, Any]]()
    for node in range(grid.count + 1):
        s = grid.at(node)
        phase, k, u = moment(s)
        known = {c.name: DM(_at_moment(c, phase.channels[c.name], k, u)) for c in theirs}
        q, qd = state_of(transcription, x, node, start)
        now = Instant(model, DM(q), DM(qd), s=s, tau=DM(torques(s)), values=values, channels=known)
        found.append(problem.parts.guess(now))
    for channel in own:
        table = np.array([np.broadcast_to(guess[channel.name], (channel.size,)) for guess in found])
        _set(transcription, x, grid, channel, partial(_linear, grid, table))


def _at_moment(channel: Channel, values: Array, k: int, u: float) -> Array:
    """The values of a channel in interval k, at the fraction u of it."""
    return np.asarray((1 - u) * values[k] + u * values[k + 1] if channel.at_nodes else values[k])


def _set(transcription: Transcription, x: Any, grid: Intervals, channel: Channel, sample: Sample) -> None:
    """Sets the variables of a channel, and of the rates of a state, from its values along the phase."""
    for track, variables in x:
        for k, variable in enumerate(variables if track.name in (channel.name, between(channel.name)) else ()):
            fractions = [grid.at(k)] if track.nodes else _fractions(transcription, track, channel, k, grid)
            transcription.program.set_start(variable, np.concatenate([sample(s).copy() for s in fractions]))
        if track.name == rate_of(channel.name):
            duration = float(number(transcription, x.duration, transcription.program.start)[0])
            for k, variable in enumerate(variables):
                h = duration / grid.count if grid.is_even else duration * grid.shares[k]
                rate = (sample(grid.at(k + 1)).copy() - sample(grid.at(k))) / h
                transcription.program.set_start(variable, np.tile(rate, variable.size // channel.size))


def _fractions(transcription: Transcription, track: Track, channel: Channel, k: int, grid: Intervals) -> list[float]:
    """Fractions of the phase at which the values of a variable of interval k lie."""
    problem, count = transcription.problem, track.size // channel.size
    if track.name == between(channel.name):
        return [grid.at(k, (j + 1) / problem.steps) for j in range(count)]
    return [grid.at(k, 0.5)] * count


def _linear(grid: Intervals, table: Array, s: float) -> Array:
    """The value at the fraction s of a table over the nodes of a grid."""
    k, u = grid.find(s)
    return np.asarray((1 - u) * table[k] + u * table[k + 1])
