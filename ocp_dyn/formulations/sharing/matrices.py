"""Matrices of natural coordinates from chosen points and vectors: elements of bodies, and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from casadi import DM

from ..._base.types import Array, exact
from ...mechanism import Model
from ...mechanism.parts import WORLD
from ..natural_coordinates import (
    ChosenElement,
    LinearPoint,
    NaturalCoordinates,
    NaturalElement,
    Quadratic,
    RigidElement,
    factor_block,
    linear,
)
from .choice import OFFERED, Combination, ElementChoice, Elements, SharedElement
from .joints import Between, Sharing, combination

Matrices = Callable[[Combination], LinearPoint]


def assembled(tree: Model, sharing: Sharing, choice: ElementChoice, plane: Array, q: Array) -> NaturalCoordinates:
    """All matrices of the natural coordinates of a tree, from the chosen elements."""
    d, elements = plane.shape[1], sharing.elements
    first = {k: d * number for number, k in enumerate(choice.coordinates)}

    def matrices(value: Combination) -> LinearPoint:
        A = np.zeros((d, d * len(first)))
        for k, c in value.terms.items():
            A[:, first[k] : first[k] + d] = factor_block(np.array([c.real, c.imag])) if d == 2 else c.real * np.eye(3)
        return linear(A, value.constant)

    listed = [k for k, e in enumerate(elements.all) if k in first or e.rank < OFFERED or len(e.at) > 1]
    labels = _labels(elements.all, listed)
    records = [_record(tree, elements, k, labels[k], first.get(k), matrices(choice.known[k])) for k in listed]
    rows = [*_inner_products(tree, choice, labels), *_of_links(sharing, choice), *_ties(choice, labels, d)]
    axes = ["xyz"[int(np.argmax(a))] if a.max() == 1.0 else str(k) for k, a in enumerate(plane.T, 1)]
    made = NaturalCoordinates(
        tree=tree, dimension=d, plane=plane,
        points=tuple(r for r in records if r.is_point), vectors=tuple(r for r in records if not r.is_point),
        names=tuple(f"{labels[k]}.{axis}" for k in first for axis in axes),
        constraint_names=tuple(row.name for row in rows), powers=tuple(row.power for row in rows),
        bodies=tuple(_rigid(choice, sharing.frames[body], body, matrices) for body in range(tree.nb + 1)),
        conditions=_quadratic(rows, matrices, d, d * len(first)),
        chosen=tuple(_chosen(sharing.frames, elements.all[k]) for k in first),
        q=np.array(q), x=np.zeros(0), size=elements.size,
    )  # fmt: skip
    object.__setattr__(made, "x", np.array(DM(made.positions(tree, DM(q))).full()).ravel())
    for array in (made.q, made.x):
        array.setflags(write=False)
    return made


class Row(NamedTuple):
    """Sum of factor * left . right = constant, in m^power."""

    name: str
    products: list[tuple[Combination, Combination, float]]
    constant: float
    power: int


def _inner_products(tree: Model, choice: ElementChoice, labels: Sequence[str]) -> list[Row]:
    """Constant lengths and angles of the directions of every group."""
    rows, groups = [], choice.elements.groups
    for group, k, l in choice.inner:
        body = groups.of.index(group)
        found = choice.directions[group]
        name = ".".join("".join(labels[e] for e in reversed(choice.made_of[group][i])) for i in (k, l))
        product = float(found.local[k] @ found.local[l])
        power = sum(len(choice.made_of[group][i]) - 1 for i in (k, l))
        rows.append(Row(f"{_body_name(tree, body)}: {name}", [(found.found[k], found.found[l], 1.0)], product, power))
    return rows


def _of_links(sharing: Sharing, choice: ElementChoice) -> list[Row]:
    """Conditions of joints and loops; those between constants are left out."""
    rows = []
    for name, products, constant in sharing.conditions:
        parts = [
            (combination(choice, sharing.frames, left), combination(choice, sharing.frames, right), factor)
            for left, right, factor in products
        ]
        if any(left.terms or right.terms for left, right, _ in parts):
            spans = any(isinstance(part, Between) for product in products for part in product[:2])
            rows.append(Row(name, parts, constant, int(spans)))
    return rows


def _ties(choice: ElementChoice, labels: Sequence[str], d: int) -> list[Row]:
    """Linear conditions of surplus elements, one per axis."""
    return [
        Row(f"{labels[k]}: tie{axis}", [(gap, Combination({}, e), 1.0)], 0.0, int(choice.elements.all[k].is_point))
        for k, gap in choice.ties
        for axis, e in enumerate(np.eye(d), 1)
    ]


def _quadratic(rows: Sequence[Row], matrices: Matrices, d: int, n: int) -> Quadratic:
    """The rows as matrices."""
    products = [(r, product) for r, row in enumerate(rows) for product in row.products]
    sides = []
    for side in ([product[0] for _, product in products], [product[1] for _, product in products]):
        parts = [matrices(combined) for combined in side]
        A = np.vstack([np.zeros((0, n)), *(np.array(part.A.full()) for part in parts)])
        a = np.concatenate([np.zeros(0), *(np.array(part.a.full()).ravel() for part in parts)])
        sides.append(LinearPoint(exact(A), exact(a)))
    pick = np.zeros((len(rows), d * len(products)))
    for column, (r, product) in enumerate(products):
        pick[r, d * column : d * (column + 1)] = product[2]
    return Quadratic(sides[0], sides[1], exact(pick), exact(np.array([row.constant for row in rows])))


def _rigid(choice: ElementChoice, frame: Array, body: int, matrices: Matrices) -> RigidElement:
    """A body's origin and directions."""
    elements = choice.elements
    group = elements.groups.of[body]
    found = choice.directions[group]
    origin = choice.origin[body]
    if frame.shape[1] == 2:
        reciprocal = 1 / complex(*found.local[0])
        inverse = factor_block(np.array([reciprocal.real, reciprocal.imag]))
    else:
        inverse = np.linalg.inv(np.column_stack(found.local))
    inverse = inverse @ elements.groups.turn[body]
    inverse[np.abs(inverse) < 1e-14 * np.abs(inverse).max(axis=1, keepdims=True)] = 0.0
    parts = [matrices(direction) for direction in found.found]
    A, a = (np.vstack([np.array(part[k].full()) for part in parts]) for k in (0, 1))
    return RigidElement(
        matrices(choice.known[origin]), LinearPoint(exact(A), exact(a)), frame, elements.all[origin].at[body], inverse
    )


def _chosen(frames: Sequence[Array], element: SharedElement) -> ChosenElement:
    """A coordinate in the first body that has it; coordinates of a group are those of its first body."""
    body = min(element.at)
    return ChosenElement(element.is_point, body, np.asarray(frames[body] @ element.at[body]))


def _labels(elements: Sequence[SharedElement], listed: Sequence[int]) -> list[str]:
    """Names: those of the user, else P1, P2 ... of points and u1, u2 ... of vectors, the listed ones first."""
    taken = {e.name for e in elements if e.name}
    names = [e.name for e in elements]
    for is_point, letter in ((True, "P"), (False, "u")):
        number = 0
        for k in [*listed, *(k for k in range(len(elements)) if k not in listed)]:
            if elements[k].is_point != is_point or names[k]:
                continue
            number += 1
            while f"{letter}{number}" in taken:
                number += 1
            names[k] = f"{letter}{number}"
    return names


def _record(
    tree: Model, elements: Elements, k: int, name: str, first: int | None, value: LinearPoint
) -> NaturalElement:
    """The public record of an element."""
    element, groups = elements.all[k], elements.groups
    if element.is_point:
        local = {body: element.at[body] for body in sorted(element.at)}
    else:
        local = {b: groups.turn[b].T @ element.at[g] for b, g in enumerate(groups.of) if g in element.at}
    return NaturalElement(
        name, element.is_point, tuple(_body_name(tree, body) for body in local),
        tuple(tuple(float(c) for c in r) for r in local.values()), first, value,
    )  # fmt: skip


def _body_name(tree: Model, body: int) -> str:
    return tree.body_names[body - 1] if body else WORLD
