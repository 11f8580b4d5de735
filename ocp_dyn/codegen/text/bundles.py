"""Bundles of two and of four lanes: pairs of values, and then pairs of such pairs.

A quadruped has four limbs alike. Pairs of pairs are found as pairs are, on the quotient of the operation list: every
pair becomes one value, and so does every operand of a pair that is not a pair itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .pairs import Bundle, pairs, shapes
from .placement import by_demand
from .values import CONSTANT, INPUT, Value

PLAIN, GATHERED, UNIFORM = 1000, 2000, 2001
"""Operations of the quotient that nothing is packed with: statements of one value (their own number is added), vectors
put together from several statements, and a number in all lanes."""

HALVES = 2.0
"""Cost of a move between the halves of a vector of four lanes, in additions."""

MOST = 0.5
"""Share of the pairs that pairs of pairs must contain. Where few limbs are four times there, code that changes between
two and four lanes is slower than the moves tell: a human's legs and arms have some operations in common, which took a
fifth of the time of its derivatives more."""

SHAPE = 6
"""Depth to which expressions are compared to tell, before the search, that too few pairs can have counterparts."""


def bundles(values: Sequence[Value], live: Sequence[int], widest: int = 4) -> list[Bundle]:
    """Bundles of two lanes and, unless `widest` is 2, of four among the values `live`, without common members, whose
    statements can be ordered."""
    twos = pairs(values, live)
    (shape,) = shapes(values, [SHAPE])
    alike = Counter(shape[bundle.lanes[0]] for bundle in twos)
    if widest < 4 or sum(count for count in alike.values() if count > 1) < MOST * len(twos):
        return twos
    quotient = _Quotient(values, live, twos)
    fours = [quotient.joined(bundle) for bundle in pairs(quotient.values, quotient.live, HALVES)]
    if 2 * len(fours) < MOST * len(twos):
        return twos
    packed = {v for bundle in fours for v in bundle.lanes}
    return fours + [bundle for bundle in twos if bundle.lanes[0] not in packed]


class _Quotient:
    """The operation list with one value for every bundle. values: its values; lanes: what each of them stands for."""

    def __init__(self, values: Sequence[Value], live: Sequence[int], found: Sequence[Bundle]) -> None:
        self.original = values
        self.values: list[Value] = []
        self.lanes: list[tuple[int, ...]] = []
        self.number: dict[tuple[int, ...], int] = {}  # of a statement's values, or of an operand
        self.member: dict[int, int] = {}  # the value of the quotient that contains a value
        bundle_of = {v: bundle for bundle in found for v in bundle.lanes}
        groups = list(dict.fromkeys(bundle_of[v].lanes if v in bundle_of else (v,) for v in live))
        of = {v: g for g, group in enumerate(groups) for v in group}
        needs = [sorted({of[a] for v in group for a in values[v].arguments if a in of}) for group in groups]
        for g in by_demand(range(len(groups)), needs, range(len(groups))):
            lanes = groups[g]
            operation = values[lanes[0]].operation
            if len(lanes) == 1:
                arguments = tuple(self.leaf(a) for a in values[lanes[0]].arguments)
                self.add(Value(PLAIN + operation, arguments), lanes)
            else:
                bundle = bundle_of[lanes[0]]
                kind = PLAIN + operation if bundle.signs else operation
                self.add(Value(kind, tuple(map(self.operand, bundle.operands))), lanes)
            self.member.update(dict.fromkeys(lanes, self.number[lanes]))
        self.live = [k for k, value in enumerate(self.values) if value.operation >= 0]

    def add(self, value: Value, lanes: tuple[int, ...]) -> int:
        self.number[lanes] = len(self.values)
        self.values.append(value)
        self.lanes.append(lanes)
        return self.number[lanes]

    def leaf(self, v: int) -> int:
        """The value of the quotient that contains v, an operand of a plain statement."""
        if v not in self.member:  # an input or a constant
            self.member[v] = self.add(self.original[v], (v,))
        return self.member[v]

    def operand(self, lanes: tuple[int, ...]) -> int:
        """The value of the quotient for an operand of a bundle."""
        if lanes in self.number:
            return self.number[lanes]
        kinds = {self.original[v].operation for v in lanes}
        uniform = len(set(lanes)) == 1
        if kinds == {CONSTANT}:
            return self.add(Value(CONSTANT), lanes)
        if kinds == {INPUT}:  # even numbers: no two of these stand side by side
            source = self.original[lanes[0]].arguments[0]
            return self.add(Value(INPUT, (2 * source + uniform, 2 * len(self.values))), lanes)
        return self.add(Value(UNIFORM if uniform else GATHERED, tuple(map(self.leaf, lanes))), lanes)

    def joined(self, bundle: Bundle) -> Bundle:
        """A bundle of the quotient as one of the original values."""

        def flat(members: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(v for member in members for v in self.lanes[member])

        signs = tuple(
            tuple(sign for sign, member in zip(signs, bundle.lanes, strict=True) for _ in self.lanes[member])
            for signs in bundle.signs
        )
        return Bundle(flat(bundle.lanes), tuple(map(flat, bundle.operands)), signs)
