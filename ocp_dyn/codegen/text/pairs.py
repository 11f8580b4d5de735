"""Bundles: isomorphic values that one statement computes, each in a lane of a vector.

Robots and people are mirror images of themselves, so most operations on a left limb have counterparts on the right one.
Two values may share a statement if they are the same operation and neither depends on the other; it pays if their
operands share statements too, or are equal, or constants. This is superword-level parallelism (Larsen, Amarasinghe,
2000), for code without loops and branches, in which pairs of whole subtrees are searched from the results down.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import casadi as ca
import numpy as np

from .values import ARITHMETIC, COMMUTATIVE, CONSTANT, INPUT, SELECTIONS, TRIGONOMETRIC, Value

LEVELS = (24, 6, 4)
"""Depths to which the expressions of two values must be of one shape, in the first search and in the next ones. The
second is for values that would not be found otherwise: a constant that is zero in one limb only changes the shapes of
all that depends on it, to any depth."""

SMALLEST_TREE = 24
"""Number of pairs that a pair and its operands' pairs must have together to tell which inputs are mirror images."""

CANDIDATES = 4
"""Number of values tried as partners where no operand suggests any."""

MOST_USERS = 200
"""Number of uses beyond which an operand suggests no partners."""

FEW_USERS = 10
"""Number of bundles up to which a vector that they share becomes noticeably dearer when one does without it."""

SUMS = (ca.OP_ADD, ca.OP_SUB)

WEIGHTS = {**dict.fromkeys(ARITHMETIC, 1.0), ca.OP_DIV: 4.0, ca.OP_INV: 4.0,
           **dict.fromkeys(SELECTIONS, 3.0), **dict.fromkeys(TRIGONOMETRIC, 30.0)}  # fmt: skip
"""Cost of the operations that vectors can compute, in additions; functions of libm are computed one by one."""

BROADCAST = 0.5
"""Cost of a computed number in all lanes, in additions: often a part of the load of a stored one."""


class Bundle(NamedTuple):
    """Values of one operation, computed by one statement. lanes: the values. operands: for every operand of the
    operation, its values in all lanes; operands of commutative operations are in the order that fits best. signs: for
    sums beside differences, the signs of both operands in all lanes; otherwise nothing."""

    lanes: tuple[int, ...]
    operands: tuple[tuple[int, ...], ...]
    signs: tuple[tuple[int, ...], ...] = ()


def pairs(values: Sequence[Value], live: Sequence[int], move: float = 1.0) -> list[Bundle]:
    """Bundles of two of the values `live`, whose statements can be ordered, and which save time.

    move: cost of a move between lanes, in additions.
    Cost: about 60 us for every value.
    """
    return _Economy(values, live, _ordered(values, live, _PairSearch(values, live).rounds()), move).kept()


def shapes(values: Sequence[Value], levels: Sequence[int], signs: bool = True) -> list[list[int]]:
    """Numbers for all values, for each of the `levels`: equal for values of one shape, expressions that have the same
    operations to this depth.

    All constants have one shape, and all entries of one input. signs: whether sums differ from differences.
    """
    operations = [ca.OP_ADD if v.operation == ca.OP_SUB and not signs else v.operation for v in values]
    kinds = [(operation, v.arguments[0] if operation == INPUT else 0)
             for operation, v in zip(operations, values, strict=True)]  # fmt: skip
    numbers = {kind: k for k, kind in enumerate(dict.fromkeys(kinds))}
    kind = np.array([numbers[k] for k in kinds], dtype=np.int64)
    both = [(v.arguments * 2)[:2] if v.operation >= 0 else (k, k) for k, v in enumerate(values)]
    operands = np.array(both, dtype=np.int64).reshape(-1, 2).T
    either = np.array([operation in COMMUTATIVE for operation in operations], dtype=bool)
    shape, found = kind, {}
    for level in range(1, max(levels) + 1):
        a, b = shape[operands]
        a, b = np.where(either, np.minimum(a, b), a), np.where(either, np.maximum(a, b), b)
        shape = np.unique((kind * len(values) + a) * len(values) + b, return_inverse=True)[1]
        if level in levels:
            found[level] = shape.tolist()
    return [found[level] for level in levels]


def depths(values: Sequence[Value]) -> list[int]:
    """Length of the longest chain of operations that leads to every value."""
    depth: list[int] = []
    for value in values:
        depth.append(1 + max((depth[a] for a in value.arguments), default=0) if value.operation >= 0 else 0)
    return depth


class _PairSearch:
    """Search of pairs: from the deepest values down to their operands, which become pairs in turn."""

    def __init__(self, values: Sequence[Value], live: Sequence[int]) -> None:
        self.values, self.depth = values, depths(values)
        self.packable = [v for v in live if values[v].operation in WEIGHTS]
        self.order = sorted(self.packable, key=lambda v: -self.depth[v])
        self.partner: dict[int, tuple[int, int]] = {}  # of a value: the other value, and its own lane
        self.found: list[Bundle] = []
        self.alike: dict[int, deque[int]] = {}
        self.unpaired: dict[int, int] = {}
        self.shape: list[int] = []
        self.strict = True
        self.trees: list[list[Bundle]] = []
        self.image = self.reach = [0] * len(values)
        self.users: dict[int, list[int]] = defaultdict(list)
        for v in self.packable:
            for a in values[v].arguments:
                self.users[a].append(v)

    def rounds(self) -> list[list[Bundle]]:
        """The pairs found by every search; all exclude each other.

        The first pass only shows which inputs two limbs exchange. Its pairs are dropped, and the second pass prefers
        pairs that agree with the exchange. A last search takes what is left, whatever the exchange. A joint of one limb
        that turns the other way exchanges some sums and differences: therefore later searches go by shapes without
        signs.
        """
        signed = shapes(self.values, LEVELS[:2])
        unsigned = shapes(self.values, LEVELS[1:], signs=False)
        self._pass([*signed, unsigned[0]])
        self.reach, self.image = self.reaches(self.exchange())
        self.partner.clear()
        found = self._pass([*signed, *unsigned])
        self.image = self.reach = [0] * len(self.values)
        return [*found, self.round(unsigned[-1])]

    def _pass(self, searches: list[list[int]]) -> list[list[Bundle]]:
        """The pairs of one search after the other; the first one, by the deepest shapes, is strict."""
        return [self.round(shape, strict=k == 0) for k, shape in enumerate(searches)]

    def round(self, shape: list[int], strict: bool = False) -> list[Bundle]:
        """The pairs of one search. strict: nothing is tried that no operand suggests and that has an alternative."""
        self.shape, self.found, self.strict = shape, [], strict
        self.alike = defaultdict(deque)
        for v in self.order:
            if v not in self.partner:
                self.alike[self.shape[v]].append(v)
        self.unpaired = {number: len(alike) for number, alike in self.alike.items()}
        for u in self.order:
            if u not in self.partner and self.unpaired[self.shape[u]] > 1:
                fits = [(self.fit(*pair), self.depth[v], -v, pair)
                        for v in self.candidates(u) for pair in ((u, v), (v, u))]  # fmt: skip
                if fits:  # all candidates are at most as deep as u
                    start = len(self.found)
                    self.descend(max(fits)[3])
                    self.trees.append(self.found[start:])
        return self.found

    def exchange(self) -> dict[int, int]:
        """The exchange of inputs, such as of left and right, that the pairs found suggest; the largest trees first."""
        image: dict[int, int] = {}
        for tree in sorted((tree for tree in self.trees if len(tree) >= SMALLEST_TREE), key=len, reverse=True):
            both: set[tuple[int, int]] = set()
            for a, b in (pair for bundle in tree for pair in bundle.operands):
                if a != b and self.values[a].operation == self.values[b].operation == INPUT:
                    both |= {(a, b), (b, a)}
            if len(dict(both)) == len(both) and all(image.get(a, b) == b for a, b in both):
                image.update(both)
        return image

    def reaches(self, image: Mapping[int, int]) -> tuple[list[int], list[int]]:
        """The inputs that every value depends on, as bits, and the same after the exchange `image` of inputs."""
        bit = {v: 1 << k for k, v in enumerate(sorted(image))}
        reach: list[int] = []
        exchanged: list[int] = []
        for v, value in enumerate(self.values):
            here = there = 0
            if v in image:
                here, there = bit[v], bit[image[v]]
            elif value.operation >= 0:
                for a in value.arguments:
                    here |= reach[a]
                    there |= exchanged[a]
            reach.append(here)
            exchanged.append(there)
        return reach, exchanged

    def candidates(self, u: int) -> list[int]:
        """Values that may become the partner of u: they use partners of its operands, or equal operands."""
        near: set[int] = set()
        for a in self.values[u].arguments:
            if a in self.partner or not self.strict:
                users = self.users[self.partner[a][0] if a in self.partner else a]
                if len(users) <= MOST_USERS:
                    near.update(users)
        chosen = [v for v in near if self.free(v, u)] if near else []
        if chosen or (self.strict and self.unpaired[self.shape[u]] > 2):
            return chosen
        alike = self.alike[self.shape[u]]
        while alike and alike[0] in self.partner:
            alike.popleft()
        return list(islice((v for v in alike if self.free(v, u)), CANDIDATES))

    def free(self, v: int, u: int) -> bool:
        return self.shape[v] == self.shape[u] and v != u and v not in self.partner and self.reach[v] == self.image[u]

    def descend(self, seed: tuple[int, int]) -> None:
        """Makes a pair, and pairs of the operands of its values where these fit.

        A sum and a difference become a pair with signs.
        """
        waiting = [seed]
        while waiting:
            u, v = waiting.pop()
            if u in self.partner or not self.free(v, u) or self.values[u].operation not in WEIGHTS:
                continue
            operands = self.aligned(u, v)
            self.partner[u], self.partner[v] = (v, 0), (u, 1)
            self.unpaired[self.shape[u]] -= 2
            self.found.append(Bundle((u, v), operands, self.signs((u, v), operands)))
            waiting += operands

    def signs(self, lanes: tuple[int, int], operands: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
        """The signs of a sum's operands in both lanes, if they differ from lane to lane."""
        if self.values[lanes[0]].operation not in SUMS:
            return ()
        found = []
        for v, given in zip(lanes, zip(*operands, strict=True), strict=True):
            first = 1 if self.values[v].operation == ca.OP_ADD or given == self.values[v].arguments else -1
            found.append((first, first if self.values[v].operation == ca.OP_ADD else -first))
        return tuple(zip(*found, strict=True)) if found[0] != found[1] else ()

    def commutes(self, u: int) -> bool:
        return self.values[u].operation in COMMUTATIVE

    def fit(self, u: int, v: int) -> int:
        return sum(self.likeness(a, b) for a, b in self.aligned(u, v))

    def aligned(self, u: int, v: int) -> tuple[tuple[int, int], ...]:
        """The operands of u and v, lane by lane; those of v exchanged if that fits better and changes at most a
        sign."""
        a, b = self.values[u].arguments, self.values[v].arguments
        if self.commutes(u) or self.values[u].operation == ca.OP_SUB:
            straight, crossed = (sum(map(self.likeness, a, other)) for other in (b, b[::-1]))
            if crossed > straight:
                b = b[::-1]
        return tuple(zip(a, b, strict=True))

    def likeness(self, a: int, b: int) -> int:
        """A score of a and b as one operand of a vector operation."""
        if a == b:
            return 2
        if a in self.partner or b in self.partner:
            return 3 if self.partner.get(a) == (b, 0) else 1 if self.partner.get(a) == (b, 1) else -2
        if self.shape[a] != self.shape[b]:
            return -2
        return 2 if self.values[a].operation < 0 else 1


def _ordered(values: Sequence[Value], live: Sequence[int], rounds: Sequence[Sequence[Bundle]]) -> list[Bundle]:
    """The bundles without those that depend on each other in a circle, so that no order of statements computes them.

    Statements are taken in the order in which their operands are ready. Where none is, a bundle of which one lane is
    ready is given up: one of the last search, and of these the one whose lanes differ most in depth.
    """
    depth = depths(values)
    found = [bundle for bundles in rounds for bundle in bundles]
    doubt = [(-k, -abs(depth[u] - depth[v])) for k, bundles in enumerate(rounds) for (u, v), *_ in bundles]
    of = {v: k for k, bundle in enumerate(found) for v in bundle.lanes}
    inside = set(live)
    missing = {v: sum(a in inside for a in set(values[v].arguments)) for v in live}
    users: dict[int, list[int]] = defaultdict(list)
    for v in live:
        for a in set(values[v].arguments) & inside:
            users[a].append(v)
    ready = [v for v in live if not missing[v]]
    arrived: dict[int, int] = {}  # the lane that is ready, by bundle
    doubted: list[tuple[tuple[int, int], int]] = []  # a heap of these bundles and others
    while ready or arrived:
        if not ready:
            k = heappop(doubted)[1]
            if k not in arrived:
                continue
            for v in found[k].lanes:
                del of[v]
            ready.append(arrived.pop(k))
        v = ready.pop()
        computed: Sequence[int] = (v,)
        if v in of:
            k = of[v]
            if k not in arrived:
                arrived[k] = v
                heappush(doubted, (doubt[k], k))
                continue
            del arrived[k]
            computed = found[k].lanes
        for user in (user for w in computed for user in users[w]):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return [bundle for bundle in found if bundle.lanes[0] in of]


class _Economy:
    """Removal of the bundles that cost more moves between lanes than they save operations.

    A bundle saves its operation in all lanes but one. An operand whose lanes are not one bundle, in its order, is put
    together by a move, once for all bundles that use it; a number of a lane beside the first that a plain statement
    uses takes a move as well. Constants and equal inputs cost nothing, and neither does a product that one sum alone
    uses: processors compute both at once. So a bundle of products is worth most beside that of their sums, and costs
    time beside plain ones.
    """

    def __init__(self, values: Sequence[Value], live: Sequence[int], found: Sequence[Bundle], move: float) -> None:
        self.values, self.move = values, move
        self.kept_of = {bundle.lanes: bundle for bundle in found}
        self.of = {v: bundle for bundle in found for v in bundle.lanes}
        self.using: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)  # bundles by operand
        self.plain: dict[int, int] = defaultdict(int)  # number of plain statements that use a value
        for bundle in found:
            for operand in bundle.operands:
                self.using[operand].add(bundle.lanes)
        for v in live:
            if v not in self.of:
                for a in values[v].arguments:
                    self.plain[a] += 1
        self.sum_of = _sums(values, live)

    def kept(self) -> list[Bundle]:
        waiting = dict.fromkeys(self.kept_of)
        while waiting:
            lanes, _ = waiting.popitem()
            if lanes in self.kept_of and self.saved(self.kept_of[lanes]) <= 0:
                waiting.update(dict.fromkeys(self.remove(self.kept_of[lanes])))
        return list(self.kept_of.values())

    def remove(self, bundle: Bundle) -> list[tuple[int, ...]]:
        """Removes a bundle; returns those that its removal makes dearer."""
        del self.kept_of[bundle.lanes]
        touched = list(self.using[bundle.lanes])
        for v in bundle.lanes:
            del self.of[v]
            for a in self.values[v].arguments:
                self.plain[a] += 1
        for operand in bundle.operands:
            self.using[operand].discard(bundle.lanes)
            touched.append(operand)
            if len(self.using[operand]) <= FEW_USERS:  # the others share the cost of putting it together
                touched += self.using[operand]
        return touched

    def saved(self, bundle: Bundle) -> float:
        """The cost of the code without this bundle less that with it, all others unchanged."""
        width = len(bundle.lanes)
        sums = tuple(self.sum_of.get(v, -1) for v in bundle.lanes)
        fused = width - sums.count(-1)
        saved = WEIGHTS[self.values[bundle.lanes[0]].operation] * (width - 1)
        user = self.kept_of.get(sums)
        saved += fused * (-1 if user is None else 0 if user.signs else 1)
        saved -= all(len(set(signs)) > 1 for signs in bundle.signs) if bundle.signs else 0
        moves = 0
        for operand in set(bundle.operands):
            if all(self.sum_of.get(a) == v for a, v in zip(operand, bundle.lanes, strict=True)):
                saved += (not bundle.signs) if operand in self.kept_of else -width
            saved -= self.gathering(operand) / len(self.using[operand])
            if operand in self.kept_of:  # its lanes would be read one by one
                moves += sum(not self.plain[a] for a in operand[1:])
        moves += (width - 1) * bool(self.using[bundle.lanes]) - sum(self.plain[v] > 0 for v in bundle.lanes[1:])
        return saved + self.move * moves

    def gathering(self, operand: tuple[int, ...]) -> float:
        """Cost of a vector of these values."""
        kinds = {self.values[a].operation for a in operand}
        if operand in self.kept_of or kinds == {CONSTANT}:
            return 0.0
        if len(set(operand)) == 1:
            return 0.0 if kinds == {INPUT} else BROADCAST
        if kinds == {INPUT} and _adjacent(self.values, operand):
            return 0.0
        return self.move * (len(operand) - 1)


def _sums(values: Sequence[Value], live: Sequence[int]) -> dict[int, int]:
    """For every product that a sum or difference alone uses, and in which it is the only one, that sum."""
    uses: dict[int, list[int]] = defaultdict(list)
    for v in live:
        for a in values[v].arguments:
            uses[a].append(v)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for v in live:
        if values[v].operation in (ca.OP_MUL, ca.OP_SQ) and len(uses[v]) == 1:
            user = uses[v][0]
            if values[user].operation in (ca.OP_ADD, ca.OP_SUB) and user not in taken:
                taken.add(user)
                found[v] = user
    return found


def _adjacent(values: Sequence[Value], operand: Sequence[int]) -> bool:
    """Whether these inputs stand one after the other."""
    first = values[operand[0]].arguments
    return all(values[a].arguments == (first[0], first[1] + k) for k, a in enumerate(operand))
