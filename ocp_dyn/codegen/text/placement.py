"""Placement of values: their order of computation, its division into chunks, and storage for values shared by chunks.

A value that one chunk computes and another one needs is stored in an array and loaded again. The array should fit into
the processor's first-level cache, so the better of two valid orders is the one with the shorter array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Arguments = Sequence[Sequence[int]]
"""Operands of every value: entry k lists the indices of the values that value k is computed from."""

Group = tuple[int, ...]
"""Values that one statement computes."""

_ALONE: Mapping[int, Sequence[int | None]] = {}


class ChunkPlacement(NamedTuple):
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


def divided(groups: Sequence[Group], length: int) -> list[list[Group]]:
    """Chunks of `length` groups."""
    return [list(groups[k : k + length]) for k in range(0, len(groups), length)]


def place(
    groups: Sequence[Group],
    arguments: Arguments,
    length: int,
    *,
    first: Sequence[Sequence[Group]] = (),
    units: Mapping[int, Sequence[int | None]] = _ALONE,
    stored: Iterable[int] = (),
) -> ChunkPlacement:
    """Divides the groups into chunks of `length`; a slot is reused after the last chunk that needs its value.

    first: chunks that come before all others. units: for values that are stored side by side, the values in this order,
    None for a slot that stays empty; a unit begins at a multiple of its length. stored: values that get a slot even if
    no other chunk needs them.
    """
    chunks = [list(chunk) for chunk in first]
    chunks += divided(groups, length)
    chunks = chunks or [[]]
    chunk_of = {v: c for c, chunk in enumerate(chunks) for group in chunk for v in group}
    last = {v: chunk_of[v] for v in stored}
    for v, c in chunk_of.items():
        for a in arguments[v]:
            if chunk_of.get(a, c) != c:
                last[a] = c
    store = _Store()
    slots: dict[int, int] = {}
    for c, chunk in enumerate(chunks):
        store.end(c - 1)
        for v in (v for group in chunk for v in group if v in last and v not in slots):
            unit = units.get(v, (v,))
            begin = store.begin(len(unit), max(last.get(u, c) for u in unit if u is not None))
            slots.update((u, begin + k) for k, u in enumerate(unit) if u is not None)
    return ChunkPlacement(chunks, chunk_of, slots, store.size)


class _Store:
    """Slots of an array. size: how many there are."""

    def __init__(self) -> None:
        self.size = 0
        self.free: dict[int, list[int]] = {}  # first slots of free runs, by length
        self.ending: dict[int, list[tuple[int, int]]] = {}

    def begin(self, length: int, last: int) -> int:
        """The first of `length` slots that are used up to the chunk `last`."""
        free = self.free.setdefault(length, [])
        if not free:
            start = -(-self.size // length) * length
            self.size = start + length
            free.append(start)
        slot = free.pop()
        self.ending.setdefault(last, []).append((slot, length))
        return slot

    def end(self, chunk: int) -> None:
        """Frees the slots that no chunk after `chunk` needs."""
        for slot, length in reversed(self.ending.pop(chunk, [])):
            self.free.setdefault(length, []).append(slot)
