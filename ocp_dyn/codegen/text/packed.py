"""C code in which isomorphic values share vector statements, for one state.

A bundle is a vector variable. The sines and cosines of all angles that need no others come first, four angles at a
time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import casadi as ca

from . import placement
from .bundles import bundles
from .pairs import Bundle
from .placement import Group
from .pressure import pressure_of_text
from .values import ARITHMETIC, CONSTANT, INPUT, SELECTIONS, TRIGONOMETRIC, Value, literal
from .writer import CHUNK_LENGTH, Kernel, Packing, Writer

BLOCK = 4
"""Number of angles whose sines and cosines are computed together."""

ONE_PER_WIDTH = re.compile(r"\b(S|PICK|TRUTH)(?=\()")
"""Macros of the templates that have one form for numbers and one for every width of vectors."""

Operand = tuple[int, ...]
"""The values of an operand in all lanes of a statement."""


class PackedWriter(Writer):
    """Writes a kernel with bundles and blocks of angles.

    A group is a value; a bundle; the sines and cosines of one angle, or of a bundle of angles; or those of a block of
    angles. The chunk number `angles` computes the blocks. widest: largest number of lanes of a bundle.
    """

    bundle_of: dict[int, Bundle]
    blocks: list[Operand]
    angles: int

    def __init__(
        self,
        f: ca.Function,
        name: str,
        values: list[Value],
        stores: list[tuple[int, int, int]],
        dense: bool,
        widest: int,
    ) -> None:
        self.widest = widest
        super().__init__(f, name, values, stores, dense)

    def kernel(self) -> Kernel:
        self.vectors: Counter[int] = Counter()
        self.moves = self.saved = self.chunk = 0
        self.known: set[int] = set()
        kernel = super().kernel()
        statements = len(self.chunk_of) - self.saved
        packing = Packing(len(self.chunk_of), statements, dict(sorted(self.vectors.items())), self.moves)
        return replace(kernel, packing=packing, pressures=tuple(map(pressure_of_text, kernel.chunks)))

    # Placement

    def _placement(self) -> placement.ChunkPlacement:
        live = self._needed()
        self.bundle_of = {v: bundle for bundle in bundles(self.values, live, self.widest) for v in bundle.lanes}
        self.trigonometric = {(value.operation, value.arguments[0]): v for v in live
                              if (value := self.values[v]).operation in TRIGONOMETRIC}  # fmt: skip
        angles, before = self._early_angles()
        self.blocks = [tuple(angles[k : k + BLOCK]) for k in range(0, len(angles), BLOCK)]
        units: dict[int, Sequence[int | None]] = {v: bundle.lanes for v, bundle in self.bundle_of.items()}
        blocked: list[Group] = []
        for block in self.blocks:
            unit = self._unit(block)
            group = tuple(v for v in unit if v is not None)
            units.update(dict.fromkeys(group, unit))
            blocked.append(group)
        done = {*before, *(v for group in blocked for v in group)}
        for lanes in {self.bundle_of[v].lanes for v in done if v in self.bundle_of}:
            if not done.issuperset(lanes):  # the sine of an early angle beside that of a later one
                for v in lanes:
                    del self.bundle_of[v]
        groups = self._groups(sorted(before))
        order = placement.by_demand(range(len(groups)), self._needs(groups), range(len(groups)))
        first = placement.divided([groups[g] for g in order], CHUNK_LENGTH) + ([blocked] if blocked else [])
        self.angles = len(first) - 1 if blocked else -1
        return self._best([v for v in live if v not in done], first, units, [v for group in blocked for v in group])

    def _early_angles(self) -> tuple[list[int], set[int]]:
        """Angles that arithmetic alone gives, those of one bundle side by side, and the values to compute before them.

        Both are empty if there are fewer than two such angles.
        """
        early = self._by_arithmetic()
        bundles = [self.bundle_of[v] for v in self.trigonometric.values() if v in self.bundle_of]
        side_by_side = (a for bundle in bundles for a in bundle.operands[0])
        angles = [a for a in dict.fromkeys([*side_by_side, *(a for _, a in self.trigonometric)]) if early[a]]
        return (angles, self._before(angles, early)) if len(angles) > 1 else ([], set())

    def _by_arithmetic(self) -> list[bool]:
        """Whether arithmetic alone gives each value: no sine, no cosine, no function of libm."""
        found: list[bool] = []
        for operation, arguments in ((value.operation, value.arguments) for value in self.values):
            found.append(operation < 0 or (operation in ARITHMETIC and all(found[a] for a in arguments)))
        return found

    def _before(self, angles: list[int], early: list[bool]) -> set[int]:
        """The operations that the angles need, with all lanes of their bundles. A bundle with a lane that is not early
        is dissolved, because its other lanes come much later."""
        before: set[int] = set()
        waiting = [a for a in angles if self.values[a].operation >= 0]
        while waiting:
            v = waiting.pop()
            if v in before:
                continue
            before.add(v)
            waiting += [a for a in self.values[v].arguments if self.values[a].operation >= 0]
            lanes = self.bundle_of[v].lanes if v in self.bundle_of else ()
            if all(early[u] for u in lanes):
                waiting += lanes
            else:
                for u in lanes:
                    del self.bundle_of[u]
        return before

    def _unit(self, block: Operand) -> tuple[int | None, ...]:
        """The sines and then the cosines of a block; None for those that nobody needs."""
        return tuple(
            self.trigonometric.get((operation, block[k])) if k < len(block) else None
            for operation in TRIGONOMETRIC
            for k in range(BLOCK)
        )

    def _groups(self, order: Sequence[int]) -> list[Group]:
        groups: dict[object, list[int]] = {}
        for v in order:
            value = self.values[v]
            bundle = self.bundle_of.get(v)
            if value.operation in TRIGONOMETRIC:
                key: object = ("angle", bundle.operands[0] if bundle else value.arguments)
            else:
                key = bundle.lanes if bundle else v
            lanes = bundle.lanes if bundle else (v,)
            members = groups.setdefault(key, [])
            if lanes[0] not in members:
                members += lanes
        return [tuple(group) for group in groups.values()]

    def _needs(self, groups: Sequence[Group]) -> list[list[int]]:
        """The numbers of the groups that compute the operands of every group."""
        of = {v: g for g, group in enumerate(groups) for v in group}
        return [sorted({of[a] for v in group for a in self.values[v].arguments if a in of}) for group in groups]

    def _best(
        self,
        rest: list[int],
        first: list[list[Group]],
        units: dict[int, Sequence[int | None]],
        blocked: list[int],
    ) -> placement.ChunkPlacement:
        """The better of two orders of the remaining values, with all lanes of a group together: the one that moves
        fewer values."""
        groups = self._groups(rest)
        arguments = self._needs(groups)
        last = [max(((j, place) for v in group for j, _, place in self.places.get(v, ())), default=(-1, -1))
                for group in groups]  # fmt: skip
        wanted = sorted((g for g in range(len(groups)) if last[g] >= (0, 0)), key=last.__getitem__, reverse=True)
        every = [value.arguments if value.operation >= 0 else () for value in self.values]
        placements = []
        for goals in (range(len(groups)), wanted):
            order = placement.by_demand(range(len(groups)), arguments, goals)
            placements.append(
                placement.place(
                    [groups[g] for g in order], every, CHUNK_LENGTH, first=first, units=units, stored=blocked
                )
            )
        return min(placements, key=self._traffic)

    def _traffic(self, placed: placement.ChunkPlacement) -> int:
        """Number of loads and stores of w, a bundle counting once, and of vectors put together, chunk by chunk."""
        first = {v: bundle.lanes[0] for v, bundle in self.bundle_of.items()}
        count = len({first.get(v, v) for v in placed.slots})
        for c, chunk in enumerate(placed.chunks):
            loaded = {first.get(a, a) for group in chunk for v in group for a in self.values[v].arguments
                      if placed.chunk_of.get(a, c) != c}  # fmt: skip
            operands = {operand for group in chunk if group[0] in first
                        for operand in self.bundle_of[group[0]].operands if len(set(operand)) > 1}  # fmt: skip
            whole = {operand for operand in operands if self._is_whole(operand)}
            count += len(loaded) + len(operands - whole)
        return count

    def _is_whole(self, operand: Operand) -> bool:
        """Whether an operand is a bundle, or constants."""
        bundle = self.bundle_of.get(operand[0])
        constant = all(self.values[a].operation == CONSTANT for a in operand)
        return constant or (bundle is not None and bundle.lanes == operand)

    # Text

    def _body(self, c: int) -> Iterator[str]:
        if c == self.angles:
            yield from self._angles(c)
            return
        self._enter(c)
        for group in self.chunks[c]:
            width = len(self.bundle_of[group[0]].lanes) if group[0] in self.bundle_of else 1
            yield from self._bundle(group, width) if width > 1 else self._plain(group)

    def _enter(self, c: int) -> None:
        """Forgets what another chunk has made known."""
        self.chunk = c
        self.vector_of: dict[Operand, str] = {}
        for v in self.known:
            self.operands[v] = f"t{v}"
        self.known = set()

    def _angles(self, c: int) -> Iterator[str]:
        """Calls of `angles_`, which writes the sines and the cosines of a block to w."""
        self._enter(c)
        for block in self.blocks:
            padded = block + block[-1:] * (BLOCK - len(block))
            for a in padded:
                yield from self._number(a)
            unit = self._unit(block)
            begin = min(self.slots[v] - k for k, v in enumerate(unit) if v is not None)
            angles = ", ".join(self.operands[a] for a in padded)
            yield f"    angles_({angles}, w + {begin});"
            for needed in (BLOCK - half.count(None) for half in (unit[:BLOCK], unit[BLOCK:])):
                self.vectors[BLOCK] += needed > 0
                self.saved += max(0, needed - 1)
            for v in (v for v in unit if v is not None):
                self.known.add(v)
                self.operands[v] = f"w[{self.slots[v]}]"
                if v in self.places:
                    yield from self._stores(v)

    def _plain(self, group: Group) -> Iterator[str]:
        for v in group:
            for a in self.values[v].arguments:
                yield from self._number(a)
        yield from self._computed(group)

    def _bundle(self, group: Group, width: int) -> Iterator[str]:
        members = [self.bundle_of[v] for v in group[::width]]
        for operand in members[0].operands:
            yield from self._vector(operand)
        operation = self.values[group[0]].operation
        expressions = [self.vector_of[operand] for operand in members[0].operands]
        if operation in SELECTIONS:
            expressions = [f"S({e})" if len(set(o)) == 1 else e
                           for e, o in zip(expressions, members[0].operands, strict=True)]  # fmt: skip
        names = [f"v{bundle.lanes[0]}" for bundle in members]
        if operation in TRIGONOMETRIC:
            by_operation = dict(zip((self.values[v].operation for v in group[::width]), names, strict=True))
            sine, cosine = (by_operation.get(kind, f"u{group[0]}") for kind in TRIGONOMETRIC)
            yield f"    V{width} {sine}, {cosine}; sincos_{width}({expressions[0]}, &{sine}, &{cosine});"
        else:
            template = signed(members[0]) or {**ARITHMETIC, **SELECTIONS}[operation]
            expression = ONE_PER_WIDTH.sub(rf"\g<1>{width}", template.format(*expressions))
            yield f"    const V{width} {names[0]} = {expression};"
        for name, bundle in zip(names, members, strict=True):
            self.vectors[width] += 1
            self.saved += width - 1
            self._names(bundle, name)
            if bundle.lanes[0] in self.slots:
                yield f"    STORE{width}(w + {self.slots[bundle.lanes[0]]}, {name});"
            yield from self._stores_of(bundle, name)

    def _names(self, bundle: Bundle, name: str) -> None:
        """Makes a vector known in this chunk."""
        self.vector_of[bundle.lanes] = name
        for k, v in enumerate(bundle.lanes):
            self.known.add(v)
            self.operands[v] = f"{name}[{k}]"

    def _stores_of(self, bundle: Bundle, name: str) -> Iterator[str]:
        """Stores of a bundle: of the whole vector where its lanes stand side by side in an output."""
        width = len(bundle.lanes)
        places = [{(j, position): slot for j, slot, position in self.places.get(v, ())} for v in bundle.lanes]
        for j, position in list(places[0]):
            if all((j, position + k) in lane for k, lane in enumerate(places)):
                yield f"    STORE{width}(y{j} + {position}, {name});"
                for k, lane in enumerate(places):
                    del lane[j, position + k]
        for k, lane in enumerate(places):
            for (j, position), slot in lane.items():
                yield f"    y{j}[AT({slot}, {position})] = {name}[{k}];"

    def _number(self, v: int) -> Iterator[str]:
        """Loads a value of another chunk, unless it is known here."""
        if self.chunk_of.get(v, self.chunk) != self.chunk and v not in self.known:
            self.known.add(v)
            yield f"    const V t{v} = w[{self.slots[v]}];"

    def _vector(self, operand: Operand) -> Iterator[str]:
        """Makes the expression of an operand known: a number for all lanes, constants, a bundle, or a new vector."""
        if operand in self.vector_of:
            return
        width, v = len(operand), operand[0]
        if len(set(operand)) == 1:
            yield from self._number(v)
            self.vector_of[operand] = self.constants.get(v, self.operands[v])
            return
        if all(self.values[a].operation == CONSTANT for a in operand):
            numbers = ", ".join(literal(self.values[a].constant) for a in operand)
            self.vector_of[operand] = f"((V{width}){{{numbers}}})"
            return
        place = self._side_by_side(operand)
        bundle = self.bundle_of.get(v)
        if place and bundle and bundle.lanes == operand:
            self._names(bundle, f"v{v}")
            yield f"    const V{width} v{v} = LOAD{width}({place});"
            return
        if place:
            made = f"LOAD{width}({place})"
        else:
            self.moves += 1
            halves = operand[: width // 2], operand[width // 2 :]
            if width > 2 and all(map(self._is_vector, halves)):
                for half in halves:
                    yield from self._vector(half)
                made = f"JOIN{width}({', '.join(map(self.vector_of.__getitem__, halves))})"
            else:
                for a in operand:
                    yield from self._number(a)
                made = f"{{{', '.join(map(self.operands.__getitem__, operand))}}}"
        self.vector_of[operand] = f"g{len(self.vector_of)}"
        yield f"    const V{width} {self.vector_of[operand]} = {made};"

    def _is_vector(self, operand: Operand) -> bool:
        """Whether an operand is a vector already, or can be loaded as one."""
        lanes = self.bundle_of[operand[0]].lanes if operand[0] in self.bundle_of else ()
        if len(set(operand)) == 1:
            return False
        return lanes == operand or operand in self.vector_of or bool(self._side_by_side(operand))

    def _side_by_side(self, operand: Operand) -> str:
        """The address of values that stand side by side in memory: inputs, or values of other chunks; else ""."""
        if all(self.values[a].operation == INPUT for a in operand):
            places = [tuple(self.operands[a].rstrip("]").split("[")) for a in operand]
        elif all(self.chunk_of.get(a, self.chunk) != self.chunk for a in operand):
            places = [("w", str(self.slots[a])) for a in operand]
        else:
            return ""
        start = int(places[0][1])
        follows = all(place == (places[0][0], str(start + k)) for k, place in enumerate(places))
        return f"{places[0][0]} + {start}" if follows else ""


def signed(bundle: Bundle) -> str:
    """The template of sums beside differences, "" for another bundle: products with signs are exact."""
    if not bundle.signs:
        return ""
    first, second = (f"((V{len(signs)}){{{{{', '.join(map(str, signs))}}}}}) * " for signs in bundle.signs)
    mixed = [len(set(signs)) > 1 for signs in bundle.signs]
    # exchanged differences have both signs: a difference with its sign changed afterwards could give -0.0 for 0.0
    return f"{first if mixed[0] else ''}{{0}} + {second if mixed[1] else ''}{{1}}"
