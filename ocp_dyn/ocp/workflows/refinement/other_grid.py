"""An iterate of a program on another grid: the point, and the multipliers of its bounds and rows.

The motion between the old nodes is interpolated: what it violates, the first iterations mend. Integration from the old
nodes takes as many iterations on the whole, and more time.

A row of an interval or a stage is the value of a condition that holds in continuous time. Its multiplier is the
integral of the continuous multiplier over the interval, so that it is proportional to the length of the interval; so
is that of a bound of a variable, at a node over half of each interval beside it. A row that leads from one state to
the next has the costate as its multiplier, whatever the length: it is interpolated between the ends of the intervals
[J. T. Betts, Practical Methods for Optimal Control and Estimation Using Nonlinear Programming, 2010, 4.7; W. W. Hager,
Runge-Kutta methods in optimal control and the transformed adjoint system, Numer. Math. 87, 2000].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...._base.types import Array
from ...nlp.program import Assembled, Block, Span, Variable
from ...solution import Solution
from ...solvers.interface import Iterate, Start
from ...solvers.warm_start import recentered
from ...statement.grids import Intervals
from ...transcription.tracks import Track, between, rate_of
from ...transcription.variables import Transcription


@dataclass(frozen=True)
class Side:
    """A problem on one of the two grids."""

    transcription: Transcription
    program: Assembled

    @property
    def grids(self) -> list[Intervals]:
        return [phase.grid for phase in self.transcription.problem.phases]

    @property
    def share(self) -> float:
        """Length of an interval beside that of the usual grid."""
        return USUAL_INTERVALS / sum(grid.count for grid in self.grids)


USUAL_INTERVALS = 31
"""Number of intervals of the walk on which the central level of starts was measured."""

CLOSE = 2e-5
"""Level of the central path from which a solution on another grid is gone on with. To 62 and 124 intervals from half as
many a walk takes 12 and 14 iterations, 13 and 17 from the solution itself, and 12 and 14 from the central iterate of a
cold run; a run of 62 intervals 24, and more than 30, which is given up, from the others."""


def start_on(old: Side, new: Side, solution: Solution) -> Start:
    """The solution of the old program as a start of the new one, with its multipliers and its central iterate.

    Both programs are of one problem, up to the grids of its phases and the number of stages of its integrator.
    """
    carry = _Carry(old, new)
    program = new.transcription.program
    at = Iterate(*(solution.iterate[key] for key in Iterate._fields))
    x = carry.point(at.x)
    lam_x, lam_g = carry.bounds(at.lam_x), carry.rows(at.lam_g)
    start = Start(x, program.values, program.x_lower, program.x_upper, lam_x, lam_g)
    if solution.central:
        c = Iterate(**solution.central)
        moved = Iterate(x + carry.point(c.x - at.x), carry.bounds(c.lam_x), carry.rows(c.lam_g))
        start = replace(start, central=recentered(new.program, start, moved, share=new.share))
    return start


def close_to(new: Side, start: Start) -> Start:
    """The start with a central iterate that is close to its solution."""
    assert start.lam_x is not None
    assert start.lam_g is not None
    solution = Iterate(start.x, start.lam_x, start.lam_g)
    return replace(start, central=recentered(new.program, start, solution, CLOSE, new.share))


class _Carry:
    """The linear maps from the entries and rows of one program to those of another."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old, self.new = old, new
        tracked = {v for x in old.transcription.phases for _, variables in x for v in variables}
        self._single = {v.name: v for v in old.transcription.program.variables if v not in tracked}

    def point(self, x: Array) -> Array:
        """Entries of x, or of a difference of two points, by the values of every track over its times."""
        return self._by_tracks(x, physical=1)

    def bounds(self, lam: Array) -> Array:
        """Multipliers of the bounds of x, which are densities over the times."""
        return self._by_tracks(lam, physical=-1)

    def _by_tracks(self, x: Array, physical: int) -> Array:
        """Entries of the new program; physical: the power of the scale in their unit, 1 or -1."""
        found = self._others(x, physical)
        scaled, back = (np.multiply, np.divide) if physical == 1 else (np.divide, np.multiply)
        for p, track, (theirs, ours) in self._tracks():
            values = np.array([scaled(x[v.index], v.scale) for v in theirs])
            for v, value in zip(ours, self._moved(p, track, values, density=physical < 0), strict=True):
                found[v.index] = back(value, v.scale)
        return found

    def rows(self, lam: Array) -> Array:
        """Multipliers of the rows."""
        found = np.zeros(self.new.program.row_lower.size)
        known = dict(_blocks(self.old.program))
        for key, (block, first) in _blocks(self.new.program):
            if key in known:
                before, begin = known[key]
                size = before.lower.size * len(before.instances)
                table = lam[begin : begin + size].reshape(len(before.instances), -1)
                moved = self._rows(before, block, table)
                found[first : first + moved.size] = moved.ravel()
        return found

    def _others(self, x: Array, physical: float) -> Array:
        """The entries of variables that are there once; physical: the power of the scale in their unit."""
        program, found = self.new.transcription.program, np.zeros(self.new.program.n)
        for v in program.variables:
            if (u := self._single.get(v.name)) is not None and u.size == v.size:
                found[v.index] = x[u.index] * (u.scale / v.scale) ** physical
        return found

    def _tracks(self) -> Iterator[tuple[int, Track, tuple[list[Variable], list[Variable]]]]:
        """All tracks of both programs: phase, the new track, and its variables here and there."""
        for p, (theirs, ours) in enumerate(
            zip(self.old.transcription.phases, self.new.transcription.phases, strict=True)
        ):
            for track, variables in ours:
                yield p, track, (theirs[track.name], variables)

    def _moved(self, p: int, track: Track, values: Array, density: bool) -> Array:
        """The values of a track of phase p on the new grid; density: as integrals over the intervals."""
        a, b = self.old.grids[p], self.new.grids[p]
        if track.nodes:
            weights = (_node_shares(a)[:, None], _node_shares(b)[:, None]) if density else (1.0, 1.0)
            return _interpolated(a.nodes, values / weights[0], b.nodes) * weights[1]
        size = self._size_at_stage(track)
        if size is None:  # one value for the whole interval
            parents = [a.find(s)[0] for s in (b.nodes[:-1] + b.nodes[1:]) / 2]
            scaled = values / a.shares[:, None] if density else values
            return scaled[parents] * (b.shares[:, None] if density else 1.0)
        here, there = (self._stages(side, track) for side in (self.old, self.new))
        times, wanted = (_times(grid, part[0]) for grid, part in ((a, here), (b, there)))
        stages = values.reshape(-1, size)
        if density:
            stages = stages / np.outer(a.shares, here[1]).ravel()[:, None]
        found = _interpolated(times, stages, wanted)
        if density:
            found = found * np.outer(b.shares, there[1]).ravel()[:, None]
        return found.reshape(b.count, -1)

    def _size_at_stage(self, track: Track) -> int | None:
        """Number of entries of a track at one stage, or between two steps; None for one value per interval."""
        t = self.new.transcription
        nv, parts = len(t.problem.coordinates.qd), t.problem.parts
        sizes = {"qdd": nv, "lam": track.size // (t.problem.steps * t.problem.scheme.stages)}
        sizes["inner"] = len(t.problem.coordinates.q) + nv
        for c in parts.channels:
            sizes |= {rate_of(c.name): c.size, between(c.name): c.size}
            sizes |= {c.name: c.size} if c.kind == "algebraic" else {}
        return sizes.get(track.name)

    @staticmethod
    def _stages(side: Side, track: Track) -> tuple[Array, Array]:
        """Fractions of an interval at which a track has its values, and the weights of these in the interval."""
        problem = side.transcription.problem
        steps, scheme = problem.steps, problem.scheme
        if track.name == "inner" or track.name.endswith(between("")):
            return np.arange(1, steps) / steps, np.full(steps - 1, 1 / steps)
        fractions = np.concatenate([(step + scheme.c) / steps for step in range(steps)])
        return fractions, np.maximum(np.tile(scheme.b, steps) / steps, 1e-3)

    def _rows(self, before: Block, block: Block, lam: Array) -> Array:
        """The multipliers (instances, rows) of a block, from those of the same block in the old program."""
        names, theirs = np.array(block.row_names), np.array(before.row_names)
        found = np.zeros((len(block.instances), names.size))
        for name in dict.fromkeys(block.row_names):
            ours, old = np.flatnonzero(names == name), np.flatnonzero(theirs == name)
            table: Array | None = lam[:, old]
            if ours.size != old.size:  # the other number of stages: each has its share of the interval
                table = self._restaged(lam[:, old], ours.size)
            if table is None:
                continue
            if block.spans[0] is None:
                found[:, ours] = table if table.shape[0] == found.shape[0] else 0.0
            else:
                found[:, ours] = self._along(before, block, name, table)
        return found

    def _restaged(self, table: Array, size: int) -> Array | None:
        """Multipliers of stage rows for another number of stages."""
        one, other = (side.transcription.problem for side in (self.old, self.new))
        count, wanted = one.steps * one.scheme.stages, other.steps * other.scheme.stages
        if table.shape[1] % count or table.shape[1] // count * wanted != size:
            return None
        each = table.reshape(len(table), count, -1).sum(axis=1)
        weights = np.tile(other.scheme.b, other.steps) / other.steps
        return np.asarray((each[:, None, :] * weights[None, :, None]).reshape(len(table), -1))

    def _along(self, before: Block, block: Block, name: str, table: Array) -> Array:
        """The multipliers of rows that repeat along a phase."""
        p = block.spans[0].phase  # type: ignore[union-attr]
        (times, widths), (wanted, lengths) = (
            _places(grids[p], b.spans) for grids, b in ((self.old.grids, before), (self.new.grids, block))
        )
        if name in self.new.program.gaps:
            ends, goals = (np.array([g.nodes[s.last] for s in b.spans if s]) for g, b in (
                (self.old.grids[p], before), (self.new.grids[p], block)))  # fmt: skip
            return _interpolated(ends, table, goals)
        return _interpolated(times, table / widths[:, None], wanted) * lengths[:, None]


def _blocks(program: Assembled) -> Iterator[tuple[tuple[str, int], tuple[Block, int]]]:
    """The blocks of a program by name and occurrence, with the index of their first row."""
    seen: dict[str, int] = {}
    first = 0
    for block in program.blocks:
        seen[block.name] = seen.get(block.name, -1) + 1
        yield (block.name, seen[block.name]), (block, first)
        first += block.lower.size * len(block.instances)


def _places(grid: Intervals, spans: list[Span | None]) -> tuple[Array, Array]:
    """The middle of every span, and its share of the phase; at a node, half of the intervals beside it."""
    shares = _node_shares(grid)
    middle = [(grid.nodes[s.first] + grid.nodes[s.last]) / 2 for s in spans if s]
    width = [grid.nodes[s.last] - grid.nodes[s.first] if s.last > s.first else shares[s.first] for s in spans if s]
    return np.array(middle), np.array(width)


def _node_shares(grid: Intervals) -> Array:
    """Half of the intervals beside every node, as shares of the phase."""
    return np.asarray((np.append(grid.shares, 0.0) + np.append(0.0, grid.shares)) / 2)


def _times(grid: Intervals, fractions: Array) -> Array:
    """Fractions of the phase at fractions of all intervals, one after the other."""
    return np.concatenate([grid.at(k, fractions) for k in range(grid.count)])


def _interpolated(times: Array, values: Array, wanted: Array) -> Array:
    """Columns of values at increasing times, linear between them and constant beyond them."""
    if np.array_equal(times, wanted):
        return np.array(values)
    return np.array([np.interp(wanted, times, column) for column in values.T]).T.reshape(len(wanted), -1)
