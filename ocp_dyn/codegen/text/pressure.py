"""Demands of emitted code on the stack: how many values every chunk names, and how many it keeps at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Pressure(NamedTuple):
    """Counts of one chunk.

    named: values that get a name: results of its statements, and values that it loads from w. alive: the largest number
    of values, entries of the inputs included, that are needed again later at one point. angles: calls of sincos_.
    calls: other calls, comparisons and selections. constants: operands that are constants. In chunks with vectors all
    are counted in numbers: a vector counts as many times as it has lanes. width: lanes of the widest statement; blocks:
    calls of angles_.
    """

    named: int
    alive: int
    angles: int
    calls: int
    constants: int
    width: int = 1
    blocks: int = 0


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


_DECLARED = re.compile(r"    (?:const )?V(\d*) (\w+)(?:, (\w+); sincos_)?")
_NAMES = re.compile(r"\b[tuvg]\d+\b|\bx\d+\[\d+\]")
_CALLS = re.compile(r"\b(?:PICK|TRUTH)(\d*)\(|\bv_\w+\(")


def pressure_of_text(chunk: str) -> Pressure:
    """The counts of a chunk with vectors, from its C code, in numbers; constants stay in the code.

    Names of values begin with t or u, of vectors with v or g; entries of the inputs are needed as values are.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    width: dict[str, int] = {}
    named = angles = calls = 0
    for k, line in enumerate(chunk.split("\n")):
        declared = _DECLARED.match(line)
        if declared:
            lanes = int(declared[1] or 1)
            made = [name for name in declared.groups()[1:] if name]
            width.update(dict.fromkeys(made, lanes))
            named = -(-named // lanes) * lanes + lanes * len(made)  # vectors are aligned
            angles += lanes * (len(made) == 2)
        calls += sum(int(lanes or 1) for lanes in _CALLS.findall(line))
        for name in _NAMES.findall(line):
            first.setdefault(name, k)
            last[name] = k
    changes: dict[int, int] = {}
    for name, start in first.items():
        for place, change in ((start, width.get(name, 1)), (last[name] + 1, -width.get(name, 1))):
            changes[place] = changes.get(place, 0) + change
    alive = most = 0
    for _, change in sorted(changes.items()):
        alive += change
        most = max(most, alive)
    blocks = chunk.count("    angles_(")
    return Pressure(named, most, angles, calls, 0, max(width.values(), default=1), blocks)
