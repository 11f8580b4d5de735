"""Groups of constraint rows that may depend on each other, from the tree and the kinds of constraints.

Rows are made orthogonal group by group (`independent_rows`). The finer the groups, the shorter the graph; the usual
contacts of a robot that walks, one per foot, need no factorization at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Array, Expr
from ..constraints import Baumgarte, Constraint, Contact, Loop, RollingContact
from ..dynamics.kinematics import resolve
from ..mechanism import Model
from ..spatial_algebra.linalg import ancestors
from ..spatial_algebra.semidefinite import sharing

APART = 1e-3
"""Least singular value of the rows of a contact, relative to the largest, at which its own dofs move it in general."""
POSTURES = 3
"""Random postures in which own dofs may move a part: in a crowd one of many legs is nearly straight by chance."""
WELL_APART = 0.1
"""Least singular value of unit vectors at which they count as clearly independent."""


@dataclass(frozen=True)
class RowGroup:
    """Rows that may depend on each other: their indices, dofs, the columns of G that hold entries, the body they hold.

    dofs: those of the motions that they constrain; beside them the rows of an open loop act on its carrier, too.
    body: None for rows of several bodies or of coordinates. root: the dofs by which the root of that body floats in
    space: they tell alone which rows depend on each other. certain: the rows are independent in every posture.
    contacts: whether all are contacts with the world. between: whether they hold bodies to the world or to each other,
    so that dofs of their own may tell them from other rows.
    """

    rows: tuple[int, ...]
    dofs: frozenset[int]
    support: frozenset[int]
    body: int | None = None
    root: tuple[int, ...] = ()
    certain: bool = False
    contacts: bool = False
    between: bool = False

    @property
    def columns(self) -> list[int]:
        """The dofs by which dependence is judged."""
        return list(self.root) if self.root else sorted(self.support)

    @property
    def rank(self) -> int:
        """The most rows that can be independent: six on one body."""
        return min(len(self.rows), max(1, len(self.columns)), len(self.rows) if self.body is None else 6)

    def together(self, other: RowGroup) -> RowGroup:
        """The rows of both."""
        one_body = self.body is not None and self.body == other.body
        return RowGroup(
            self.rows + other.rows,
            self.dofs | other.dofs,
            self.support | other.support,
            self.body if one_body else None,
            self.root if one_body else (),
            contacts=self.contacts and other.contacts,
            between=self.between and other.between,
        )


def groups_of(model: Model, members: Sequence[Constraint], G: Expr) -> tuple[RowGroup, ...]:
    """The groups of all rows of a constraint set with the Jacobian G, whose pattern is read.

    Constraints that act on common dofs belong to one group. Contacts and loops on different branches do not, if each
    branch has at least as many dofs to itself as independent rows: they depend on each other in single postures only,
    and the factorization of G H^-1 G' sees that. Hands of a crowd that carries one beam are such loops. Groups stand in
    the order of their first rows; where they share few dofs, person by person, so that the factor is one of blocks.
    """
    parts: list[RowGroup] = []
    supports, start = _supports(G), 0
    for member in members:
        rows = tuple(range(start, start := start + len(member.rows)))
        parts.append(_part(model, member, rows, frozenset().union(*(supports[i] for i in rows))))
    parts = _merged(parts, lambda a, b: a.contacts and b.contacts and (a.dofs <= b.dofs or b.dofs <= a.dofs))
    apart = _apart(model, members, parts)
    merged = _merged(parts, lambda a, b: bool(a.dofs & b.dofs) and not (a in apart and b in apart))
    return tuple(_by_blocks(model, merged, supports))


def groups_by_pattern(G: Expr) -> tuple[RowGroup, ...]:
    """Groups of rows that act on common dofs, where nothing but G is known."""
    return joined([RowGroup((i,), support, support) for i, support in enumerate(_supports(G))])


def joined(groups: Sequence[RowGroup]) -> tuple[RowGroup, ...]:
    """Groups that have no dof in common, so that no row depends on one of another group."""
    return tuple(_merged(groups, lambda a, b: bool(a.dofs & b.dofs)))


def _part(model: Model, member: Constraint, rows: tuple[int, ...], dofs: frozenset[int]) -> RowGroup:
    inner = member.constraint if isinstance(member, Baumgarte) else member
    if isinstance(inner, (Contact, RollingContact)):
        body = resolve(model, inner.body).body
        slides, root = _root(model, body)
        return RowGroup(rows, dofs, dofs, body, root, _held_by_root(inner, slides, root), contacts=True, between=True)
    if isinstance(inner, Loop):  # motions that both ends share cancel
        one, other = (set(model.path(resolve(model, end).body)) for end in (inner.predecessor, inner.successor))
        own = dofs & {k for i in one ^ other for k in model.dofs_of(i)}
        return RowGroup(rows, own, dofs, certain=_held_by_one_root(model, inner), between=True)
    return RowGroup(rows, dofs, dofs)


def _apart(model: Model, members: Sequence[Constraint], parts: Sequence[RowGroup]) -> set[RowGroup]:
    """The contacts and loops that the dofs which no other part acts on move in as many directions as they have
    independent rows, in general posture; by their number alone where the model or a constraint holds symbols."""
    users = Counter(k for part in parts for k in part.dofs)
    own = {part: sorted(k for k in part.dofs if users[k] == 1) for part in parts if part.between}
    found = {part for part, dofs in own.items() if len(dofs) >= part.rank} if len(parts) > 1 else set()
    if not found:
        return found
    rng = np.random.default_rng(0)
    moved: set[RowGroup] = set()
    for _ in range(POSTURES):
        q = DM(model.random_q(rng))
        G = ca.vertcat(*(member.jacobian(model, q) for member in members))
        if not isinstance(G, DM):
            return found
        entries = np.array(G.full())
        for part in found - moved:
            values = np.linalg.svd(entries[np.ix_(part.rows, own[part])], compute_uv=False)
            if values[part.rank - 1] > APART * values[0]:
                moved.add(part)
        if moved == found:
            break
    return moved


def _by_blocks(model: Model, groups: list[RowGroup], supports: Sequence[frozenset[int]]) -> list[RowGroup]:
    """Groups in the order in which a factor by blocks eliminates their rows."""
    rows = [row for group in groups for row in group.rows]
    tree = model.dof_parent
    found = sharing([frozenset(k for i in supports[row] for k in (i, *ancestors(tree, i))) for row in rows])
    if found is None:
        return groups
    block_of = {rows[k]: number for number, block in enumerate(found[1]) for k in block}
    return sorted(groups, key=lambda group: block_of[group.rows[0]])


def _held_by_root(contact: Contact | RollingContact, slides: Array, root: tuple[int, ...]) -> bool:
    """Whether the motions of a floating root alone make the rows of one contact independent, in every posture."""
    if isinstance(contact, RollingContact) or contact.axes is None:
        return bool(root)
    along = np.array(contact.axes) @ slides
    return len(along) <= along.shape[1] and bool(np.linalg.svd(along, compute_uv=False)[-1] > WELL_APART)


def _held_by_one_root(model: Model, loop: Loop) -> bool:
    """Whether the motions of the floating root of one end alone, which the other end does not share, make the rows of a
    loop independent, in every posture."""
    ends = [resolve(model, end).body for end in (loop.predecessor, loop.successor)]
    if len({tuple(model.path(body)[:1]) for body in ends}) == 1:
        return False
    axes = np.array(loop.axes)
    unit = axes / np.linalg.norm(axes, axis=1)[:, None]
    if len(unit) > 6 or np.linalg.svd(unit, compute_uv=False)[-1] <= WELL_APART:
        return False
    roots = [_root(model, body) for body in ends]
    return any(six or (slides.shape[1] == 3 and not np.any(axes[:, :3])) for slides, six in roots)


def _root(model: Model, body: int) -> tuple[Array, tuple[int, ...]]:
    """World directions (3 x k) in which the first dofs on the way to a body slide, and the six dofs of a root that
    floats in space, if it does: three that slide, then three that turn about independent axes."""
    slides: list[Array] = []
    axes: list[Array] = []
    R, path, rng = np.eye(3), model.path(body), np.random.default_rng(0)
    regular = True
    for i in path:
        joint = model.joints[i]
        if not isinstance(model.X_tree[i].E, DM) or len(slides) + len(axes) >= 6:
            break
        parent = R @ np.array(model.X_tree[i].E.full()).T
        at = joint.jcalc(DM(joint.random_q(rng)), DM(joint.nv, 1))
        R = parent @ np.array(at.XJ.E.full()).T
        # angles that follow each other are singular in some postures; so is H then, if no body between them has a mass
        regular = regular and (not axes or _massless(model, model.parent[i]))
        turns = False
        for slide, s in zip(joint.lengths()[1], np.array(DM(at.S).full()).T, strict=True):
            turns = turns or not slide
            if not turns and not axes:
                slides.append(R @ s[3:])
            elif not slide:
                axes.append(R @ s[:3])
    world, turning = np.array(slides).reshape(-1, 3).T, np.array(axes).reshape(-1, 3)[:3]
    six = [k for i in path for k in model.dofs_of(i)][:6]
    floats = regular and len(six) == 6 and len(slides) == 3 and not any(model.lengths[1][six[3:]])
    apart = floats and min(np.linalg.svd(x, compute_uv=False)[-1] for x in (world, turning)) > 1e-3
    return world, tuple(six) if apart else ()


def _massless(model: Model, body: int) -> bool:
    m = model.I[body].m
    return (isinstance(m, (int, float)) and m == 0) or (isinstance(m, DM) and float(m) == 0)


def _supports(G: Expr) -> list[frozenset[int]]:
    """The dofs that every row acts on, by the pattern of G."""
    found: list[set[int]] = [set() for _ in range(G.shape[0])]
    for row, column in zip(G.sparsity().row(), G.sparsity().get_col(), strict=True):
        found[row].add(column)
    return [frozenset(support) for support in found]


def _merged(parts: Sequence[RowGroup], meet: Callable[[RowGroup, RowGroup], bool]) -> list[RowGroup]:
    """Parts joined until no two of them meet, in the order of their first rows."""
    found: list[tuple[RowGroup, list[RowGroup]]] = []
    for part in parts:
        whole, members = part, [part]
        touching = [(group, of) for group, of in found if any(meet(part, other) for other in of)]
        for group, of in touching:
            whole, members = group.together(whole), [*of, *members]
        found = [entry for entry in found if entry not in touching] + [(whole, members)]
    return sorted((group for group, _ in found), key=lambda group: min(group.rows))
