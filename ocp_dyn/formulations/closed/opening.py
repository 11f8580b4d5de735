"""Closed chains opened by removing bodies: the branches that remain, and the conditions that close them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base.autodiff import as_function
from ..._base.types import Expr, is_one_of, names_in_message, repr_in_message, sequence, sparse, suggestion
from ...constraints import Constraints, Loop, as_set
from ...dynamics.kinematics import resolve
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from ..cut_joints import CutJoint
from ..natural_coordinates import ChosenElement, NaturalCoordinates
from ..natural_from_model import natural
from ..velocity_transformations import open_chain
from .branches import Branches, Edge, OpenedChain
from .conditions import Conditions, eliminate

IDENTITY = 1e-9
"""Largest entry of Phi_x R1, relative to the mechanism, of conditions that the branches keep by themselves."""


@checks_arguments(own=("q",))
def open_by_removing(
    model: Model, constraints: Constraints, bodies: str | Sequence[str], *, q: Any = None
) -> OpenedChain:
    """The open chain that remains of a closed one if the rigid-body conditions of bodies are removed [GJB94, 8.3].

    constraints: the loops. bodies: name of one body, or of one per loop; conditions of loops that stay closed are kept
    beside those of the removed bodies. q (nq): a closed configuration in general position, default as of `natural`; the
    conditions that close the chain are found there, and at closed positions near it. ValueError where a body carries
    others that nothing else supports.

    >>> bar = od.models.n_four_bar(1)
    >>> od.formulations.open_by_removing(bar.model, bar.loops, "coupler1").conditions
    ('coupler1: P2P4.P2P4',)
    """
    loops = _loops(constraints)
    coordinates = natural(model, loops, q=q)
    known = coordinates.tree.body_names
    names = (bodies,) if isinstance(bodies, str) else tuple(sequence(bodies, "bodies must be names of moving bodies"))
    for name in names:
        if not is_one_of(name, known):
            raise KeyError(
                f"no moving body {repr_in_message(name)}; bodies are: "
                f"{names_in_message(known)}{suggestion(name, known)}"
            )
    removed = {known.index(name) + 1 for name in names}
    edges, rates = _spanning_edges(coordinates, loops, removed)
    homes, own = _homes(coordinates, removed)
    rates += own
    opened = OpenedChain(coordinates, names, tuple(rates), tuple(range(len(rates))), edges, homes, ())
    kept, rows = _kept_and_closing(model, loops, opened)
    return replace(opened, kept=kept, rows=rows)


def _loops(constraints: Constraints) -> tuple[Loop, ...]:
    found = []
    for loop in as_set(constraints):
        if not isinstance(loop, Loop):
            raise TypeError(
                f"open_by_removing takes loops, od.Loop(predecessor, successor, axes), got {repr_in_message(loop)}"
            )
        found.append(loop)
    return tuple(found)


def _spanning_edges(
    coordinates: NaturalCoordinates, loops: Sequence[Loop], removed: Collection[int]
) -> tuple[tuple[Edge, ...], list[str]]:
    """Edges from the ground to all bodies but removed ones: joints outwards first, then inwards, then loops; and the
    names of their rates."""
    tree = coordinates.tree
    steps: list[tuple[int, int, int, Loop | None, bool]] = [(p, i, i, None, False) for i, p in tree.edges]
    steps += [(i, p, i, None, True) for i, p in tree.edges if p]
    for loop in loops:
        p, s = (resolve(tree, frame).body for frame in (loop.predecessor, loop.successor))
        steps += [(p, s, 0, loop, False), (s, p, 0, loop, True)]
    reached, edges, names = {0}, list[Edge](), list[str]()
    while True:
        able = (step for step in steps if step[0] in reached and step[1] not in {*reached, *removed})
        step = next(able, None)
        if step is None:
            break
        joint, via = step[2:4]
        free = DM(6, 0) if via is None else _free_axes(coordinates, via)
        own = [tree.qd_names[k] for k in tree.dofs_of(joint)]
        own += [] if via is None else [f"{via.name}.free{k + 1}" for k in range(free.shape[1])]
        edges.append(Edge(*step, free, range(len(names), len(names) + len(own))))
        names += own
        reached.add(step[1])
    left = [tree.body_names[i - 1] for i, _ in tree.edges if i not in {*reached, *removed}]
    if left:
        raise ValueError(
            f"without {names_in_message([tree.body_names[i - 1] for i in removed])} nothing supports "
            f"{names_in_message(left)}: no loop joins them to the rest. Remove another body"
        )
    return tuple(edges), names


def _free_axes(coordinates: NaturalCoordinates, loop: Loop) -> DM:
    """Axes (6 x f) along which the loop lets the successor move; of a planar mechanism those in the plane."""
    tree, T, units = coordinates.tree, np.array(loop.axes), np.eye(6)
    if coordinates.dimension == 2:
        at = open_chain(tree, DM(coordinates.q), DM(tree.nv, 1)).at
        R = np.array(DM(CutJoint.of(tree, loop, at).R).full())
        units = np.zeros((6, 3))
        units[:3, 0], units[3:, 1:] = R.T @ np.cross(*coordinates.plane.T), R.T @ coordinates.plane
    _, s, V = np.linalg.svd(T @ units)
    free = units @ V[int(np.sum(s > 1e-9 * s[0])) :].T
    return sparse(free[:, np.argsort(-np.abs(free).argmax(axis=0))[::-1]])


def _homes(coordinates: NaturalCoordinates, removed: Collection[int]) -> tuple[tuple[ChosenElement, ...], list[str]]:
    """A body for every coordinate element that has it, of the branches if there is one, with its coordinates there; and
    the names of coordinates that only removed bodies have."""
    tree, found, own = coordinates.tree, [], list[str]()
    elements = [element for element in (*coordinates.points, *coordinates.vectors) if element.first is not None]
    for element in sorted(elements, key=lambda element: element.first or 0):
        bodies = [tree.body_names.index(name) + 1 for name in element.bodies]
        k = next((k for k, b in enumerate(bodies) if b not in removed), 0)
        r = coordinates.bodies[bodies[k]].frame @ np.array(element.local[k])
        found.append(ChosenElement(element.is_point, bodies[k], r))
        if bodies[k] in removed:
            first = element.first or 0
            own += coordinates.names[first : first + coordinates.dimension]
    return tuple(found), own


def _kept_and_closing(
    model: Model, loops: Sequence[Loop], opened: OpenedChain
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Columns of R1 that are independent, and conditions whose rows of Phi_x R1 are not zero, at the configuration and
    at closed positions near it."""
    coordinates = opened.natural
    units = np.where(coordinates.lengths, coordinates.size, 1.0)

    def rates(q: Expr) -> list[Expr]:
        branches = Branches.of(model, opened, q, model.rest(q))
        return [coordinates.conditions.jacobian(branches.x), branches.R]

    evaluate, conditions = as_function(rates, model.nq), Conditions.of(model, loops)
    q = DM(coordinates.q)
    kept: set[int] = set()
    found: set[int] = set()
    for at in (q, *conditions.neighbors(q, conditions.scaled(q))):
        J, R = (np.array(part.full()) for part in evaluate(at))
        R = R / units[:, None]
        sizes = np.abs(R).max(axis=0, initial=0.0)
        R, J = R / np.where(sizes > 0, sizes, 1.0), J * units
        kept = max(kept, set(eliminate(R).columns), key=len)
        apart = np.abs(J @ R) > IDENTITY * np.abs(J).max(axis=1, keepdims=True, initial=0.0)
        found |= set(np.flatnonzero(apart.any(axis=1)).tolist())
    return tuple(sorted(kept)), tuple(sorted(found))
