"""Placement of values: their order of computation, its division into chunks, and storage for values shared by chunks.

A value that one chunk computes and another one needs is stored in an array and loaded again. The array should fit into
the processor's first-level cache, so the better of two valid orders is the one with the shorter array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Arguments = Sequence[Sequence[int]]
"""Operands of every value: entry k lists the indices of the values that value k is computed from."""

Group = tuple[int, ...]
"""Values that one statement computes."""


class Placement(NamedTuple):
    """Result of `place`. chunks: lists of groups; chunk_of: chunk of every value; slots: index of every value that
    other chunks need in the array of stored values; size: length of this array."""

    chunks: list[list[Group]]
    chunk_of: dict[int, int]
    slots: dict[int, int]
    size: int


def by_demand(order: Sequence[int], arguments: Arguments, wanted: Sequence[int]) -> list[int]:
    """The values of `order` in a new order: the values `wanted` one after the other, each just after its operands.

    Dynamics recursions process all bodies outwards and then inwards. If the last joint's results are wanted first, the
    new order processes the tree limb by limb, so that only the values of one limb are stored at a time.
    """
    inside = set(order)
    computed: set[int] = set()
    result: list[int] = []
    for root in wanted:
        waiting = [root] if root in inside else []
        while waiting:
            v = waiting[-1]
            missing = next((a for a in arguments[v] if a in inside and a not in computed), None)
            if v not in computed and missing is not None:
                waiting.append(missing)
                continue
            waiting.pop()
            if v not in computed:
                computed.add(v)
                result.append(v)
    return result


def place(groups: Sequence[Group], arguments: Arguments, length: int) -> Placement:
    """Divides the groups into chunks of `length`; a slot is reused after the last chunk that needs its value."""
    chunks = [list(groups[k : k + length]) for k in range(0, len(groups), length)] or [[]]
    chunk_of = {v: c for c, chunk in enumerate(chunks) for group in chunk for v in group}
    last: dict[int, int] = {}
    for v, c in chunk_of.items():
        for a in arguments[v]:
            if chunk_of.get(a, c) != c:
                last[a] = c
    slots: dict[int, int] = {}
    ending: dict[int, list[int]] = {}
    free: list[int] = []
    size = 0
    for c, chunk in enumerate(chunks):
        free += reversed(ending.pop(c - 1, []))
        for v in (v for group in chunk for v in group if v in last):
            if not free:
                free.append(size)
                size += 1
            slots[v] = free.pop()
            ending.setdefault(last[v], []).append(slots[v])
    return Placement(chunks, chunk_of, slots, size)
