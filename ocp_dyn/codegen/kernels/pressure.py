"""Demands of emitted code on the stack: how many values every chunk names, and how many it keeps at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Pressure(NamedTuple):
    """Counts of one chunk.

    named: values that get a name: results of its statements, and values that it loads from w. alive: the largest number
    of values, entries of the inputs included, that are needed again later at one point. angles: calls of sincos_.
    calls: other calls, comparisons and selections. constants: operands that are constants.
    """

    named: int
    alive: int
    angles: int
    calls: int
    constants: int


def pressure(
    groups: Sequence[Sequence[int]],
    arguments: Callable[[int], Iterable[int]],
    constant: Callable[[int], bool],
    kind: Callable[[int], str],
) -> Pressure:
    """The counts of a chunk, a sequence of groups of values that one statement computes.

    arguments: operands of a value; constant: whether a value is a constant; kind: "angle", "call" or "" of a value.
    A value is alive from the statement that computes it, or first uses it, to the last one of this chunk that uses it.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    named = angles = calls = constants = 0
    for k, group in enumerate(groups):
        kinds = kind(group[0])
        angles += kinds == "angle"
        calls += kinds == "call"
        named += 2 if kinds == "angle" else 1
        for v in group:
            for a in arguments(v):
                if constant(a):
                    constants += 1
                    continue
                named += a not in first
                first.setdefault(a, k)
                last[a] = k
        for v in group:
            first[v] = last[v] = k
    changes = [0] * (len(groups) + 1)
    for v, start in first.items():
        changes[start] += 1
        changes[last[v] + 1] -= 1
    alive = most = 0
    for change in changes:
        alive += change
        most = max(most, alive)
    return Pressure(named, most, angles, calls, constants)
