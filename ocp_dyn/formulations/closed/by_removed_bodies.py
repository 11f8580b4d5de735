"""Closed chains in Formulation A: loops opened by removing the rigid-body conditions of a body [GJB94, 8.3, fig. 8.16].

The points and vectors that the removed body shares with the bodies on its two sides move with these, which are open
branches then; elements of its own move freely. So xd = R1 z1-dot for all natural coordinates, and the mass of the removed
body stays in M; its conditions, lengths and angles between its elements, close the loop:

    [R1' M R1  R1' Phi2_x'] [z1dd]   [R1' (Q - M S1c1)]
    [Phi2_x R1      0     ] [-lam] = [c2 - Phi2_x S1c1],     xdd = R1 z1dd + S1c1.                        (8.111, 8.114)

Bodies that the tree carried beyond the removed body hang on the loop's other end: their joints are passed in reverse.
z1-dot holds the rates of the joints that remain, those of reversed joints unchanged, those along the free axes of loops
that serve as joints, and the rates of the removed body's own elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ..._autodiff import as_function
from ..._types import Expr, M, as_type, exact, listed, meant, shown, sparse
from ...constraints import Constraints, Loop, as_set
from ...dynamics.invertible import check_invertible
from ...dynamics.kinematics import resolve
from ...mechanism import Model
from ...mechanism.boundary import boundary
from ...mechanism.loads import NO_LOADS, Loads
from ...spatial_algebra.linalg import elimination_tree, symmetric
from ...spatial_algebra.spatial import acceleration_field
from ..cut_joints import Closing, CutJoint
from ..formulation_a import elements_at, in_plane
from ..joint_coordinates import joint_rates, qd_of
from ..natural_coordinates import Chosen, NaturalCoordinates
from ..natural_dynamics import natural_force, natural_mass_matrix
from ..natural_from_model import natural
from ..velocity_transformations import OpenChain, open_chain
from .by_cut_joints import Options
from .independent_coordinates import Conditions

IDENTITY = 1e-9
"""Largest entry of Phi_x R1, relative to the mechanism, of conditions that the branches keep by themselves."""


class Edge(NamedTuple):
    """A step outwards in the open chain, from a body to the next: by the joint of body `joint` in the tree, or by a loop;
    backwards: from the joint's (or loop's) successor to its predecessor. free: axes (6 x f) along which a loop lets the
    successor move, in the predecessor's frame. dofs: columns in R1."""

    start: int
    end: int
    joint: int
    loop: Loop | None
    backwards: bool
    free: DM
    dofs: range


@dataclass(frozen=True, eq=False)
class OpenedChain:
    """A closed chain without one body, in natural coordinates; made by `open_by_removing`.

    natural: coordinates of the closed mechanism. body: name of the removed body. names: of the rates z1-dot. edges: the
    open chain, outwards. homes: the bodies that carry the coordinates; those of elements that only the removed body has
    are the last rates, in their order. rows: indices of the conditions Phi2.
    """

    natural: NaturalCoordinates
    body: str
    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    homes: tuple[Chosen, ...]
    rows: tuple[int, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """Names of the conditions Phi2, rows of lam."""
        return tuple(self.natural.constraint_names[k] for k in self.rows)

    def path(self, b: int) -> list[Edge]:
        """The edges that support a body, from the ground outwards."""
        into = {edge.end: edge for edge in self.edges}
        found: list[Edge] = []
        while b in into:
            found.insert(0, into[b])
            b = into[b].start
        return found


# Opening


@boundary(own=("q",))
def open_by_removing(model: Model, constraints: Constraints, body: str, *, q: Any = None) -> OpenedChain:
    """The open chain that remains of a closed one if the rigid-body conditions of `body` are removed [GJB94, 8.3].

    constraints: the loops. q (nq): a closed configuration in general position, default as of `natural`; the conditions
    that close the chain are found there, and at closed positions near it. ValueError where the body carries others that
    nothing else supports.
    """
    loops = _loops(constraints)
    coordinates = natural(model, loops, q=q)
    tree = coordinates.tree
    if body not in tree.body_names:
        raise KeyError(
            f"no moving body {shown(body)}; bodies are: {listed(tree.body_names)}{meant(body, tree.body_names)}"
        )
    removed = tree.body_names.index(body) + 1
    edges, names = _spanning_edges(coordinates, loops, removed)
    homes, own = _homes(coordinates, removed)
    opened = OpenedChain(coordinates, body, (*names, *own), edges, homes, ())
    return replace(opened, rows=_closing_rows(model, loops, opened))


def _loops(constraints: Constraints) -> tuple[Loop, ...]:
    found = []
    for loop in as_set(constraints):
        if not isinstance(loop, Loop):
            raise TypeError(f"open_by_removing takes loops, od.Loop(predecessor, successor, axes), got {shown(loop)}")
        found.append(loop)
    return tuple(found)


def _spanning_edges(
    coordinates: NaturalCoordinates, loops: Sequence[Loop], removed: int
) -> tuple[tuple[Edge, ...], list[str]]:
    """Edges from the ground to all bodies but the removed one: joints outwards first, then inwards, then loops; and the
    names of their rates."""
    tree = coordinates.tree
    steps: list[tuple[int, int, int, Loop | None, bool]] = [(p, i, i, None, False) for i, p in tree.edges]
    steps += [(i, p, i, None, True) for i, p in tree.edges if p]
    for loop in loops:
        p, s = (resolve(tree, frame).body for frame in (loop.predecessor, loop.successor))
        steps += [(p, s, 0, loop, False), (s, p, 0, loop, True)]
    reached, edges, names = {0}, list[Edge](), list[str]()
    while True:
        able = (step for step in steps if step[0] in reached and step[1] not in {*reached, removed})
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
    left = [tree.body_names[i - 1] for i, _ in tree.edges if i not in {*reached, removed}]
    if left:
        raise ValueError(
            f"without {shown(tree.body_names[removed - 1])} nothing supports {listed(left)}: no loop joins them to the "
            "rest. Remove another body"
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


def _homes(coordinates: NaturalCoordinates, removed: int) -> tuple[tuple[Chosen, ...], list[str]]:
    """For every coordinate element a body that has it, of the branches if there is one, with its coordinates there; and
    the names of coordinates that only the removed body has."""
    tree, found, own = coordinates.tree, [], list[str]()
    elements = [element for element in (*coordinates.points, *coordinates.vectors) if element.first is not None]
    for element in sorted(elements, key=lambda element: element.first or 0):
        bodies = [tree.body_names.index(name) + 1 for name in element.bodies]
        k = next((k for k, b in enumerate(bodies) if b != removed), 0)
        r = coordinates.bodies[bodies[k]].frame @ np.array(element.local[k])
        found.append(Chosen(element.is_point, bodies[k], r))
        if bodies[k] == removed:
            first = element.first or 0
            own += coordinates.names[first : first + coordinates.dimension]
    return tuple(found), own


def _closing_rows(model: Model, loops: Sequence[Loop], opened: OpenedChain) -> tuple[int, ...]:
    """The conditions whose rows of Phi_x R1 are not zero at the configuration and at closed positions near it."""
    coordinates = opened.natural
    units = np.where(coordinates.lengths, coordinates.size, 1.0)

    def rates(q: Expr) -> list[Expr]:
        branches = Branches.of(model, opened, q, model.rest(q))
        return [coordinates.conditions.jacobian(branches.x), branches.R]

    evaluate, conditions = as_function(rates, model.nq), Conditions.of(model, loops)
    q = DM(coordinates.q)
    found: set[int] = set()
    for at in (q, *conditions.neighbors(q, conditions.scaled(q))):
        J, R = (np.array(part.full()) for part in evaluate(at))
        columns = np.abs(R / units[:, None]).max(axis=0, initial=0.0)
        J = J * units
        rows = np.abs(J @ (R / units[:, None])) / np.where(columns > 0, columns, 1.0)
        size = np.abs(J).max(axis=1, keepdims=True, initial=0.0)
        found |= set(np.flatnonzero((rows > IDENTITY * size).any(axis=1)).tolist())
    return tuple(sorted(found))


# Kinematics


class Branches(NamedTuple):
    """Kinematics of the open chain at a closed position: x, xd, R1 (n x f1) and S1c1 (n)."""

    x: Expr
    xd: Expr
    R: Expr
    Sc: Expr

    @staticmethod
    def of(model: Model, opened: OpenedChain, q: Expr, qd: Expr) -> Branches:
        tree = opened.natural.split(model)
        return branches(tree, opened, open_chain(tree, q, qd))


class Step(NamedTuple):
    """An edge at a position: d from the origin of its first body to that of the next; w, v by dof, angular velocity and
    velocity of the next body's origin; dw, a, U of the next body at z1dd = 0."""

    d: Expr
    w: list[Expr]
    v: list[Expr]
    dw: Expr
    a: Expr
    U: Expr


def branches(tree: Model, opened: OpenedChain, full: OpenChain) -> Branches:
    """Positions and velocities are those of the full tree at (q, qd); axes and accelerations follow the edges."""
    steps: dict[int, Step] = {0: Step(DM(3, 1), [], [], DM(3, 1), DM(3, 1), DM(3, 3))}
    for edge in opened.edges:
        make = _joint_step if edge.loop is None else _loop_step
        steps[edge.end] = make(tree, edge, full, steps[edge.start])
    R, Sc = [], []
    count, dimension = len(opened.names), opened.natural.dimension
    own = sum(edge.dofs.stop - edge.dofs.start for edge in opened.edges)
    for is_point, b, r in opened.homes:
        arm = full.at.A[b] @ exact(r)
        columns: list[Expr] = [DM(3, 1)] * count
        if b not in steps:
            columns[own : own + dimension] = ca.horzsplit(exact(opened.natural.plane))
            own += dimension
            R.append(ca.horzcat(*columns))
            Sc.append(DM(3, 1))
            continue
        lever = arm
        for edge in reversed(opened.path(b)):
            step = steps[edge.end]
            for k, w, v in zip(edge.dofs, step.w, step.v, strict=True):
                columns[k] = v + ca.cross(w, lever) if is_point else ca.cross(w, arm)
            lever = lever + step.d
        R.append(ca.horzcat(*columns))
        Sc.append(steps[b].a + steps[b].U @ arm if is_point else steps[b].U @ arm)
    x, xd = elements_at(opened.natural, opened.homes, full)
    return Branches(x, xd, in_plane(opened.natural, R), in_plane(opened.natural, Sc))


def _joint_step(tree: Model, edge: Edge, full: OpenChain, start: Step) -> Step:
    """Across a joint of the tree; backwards with the same rates, dw_p = dw_i - turn, a_p = a_i - U_p d - slide."""
    i, d = edge.joint, full.at.d[edge.joint]
    w, v = ([axes[k] for k in tree.dofs_of(i)] for axes in full.by)
    turn, slide = full.products.turn[i], full.products.slide[i]
    if not edge.backwards:
        dw = start.dw + turn
        return Step(d, w, v, dw, start.a + start.U @ d + slide, acceleration_field(full.moving.w[i], dw))
    dw = start.dw - turn
    U = acceleration_field(full.moving.w[edge.end], dw)
    back = [ca.cross(w_k, d) - v_k for w_k, v_k in zip(w, v, strict=True)]
    return Step(-d, [-w_k for w_k in w], back, dw, start.a - U @ d - slide, U)


def _loop_step(tree: Model, edge: Edge, full: OpenChain, start: Step) -> Step:
    """Across a loop that serves as a joint: along its free axes, zdd is the rate of the relative velocity there, turned
    back by the predecessor's rotation (see `Loop.hessian`)."""
    assert edge.loop is not None
    cut = CutJoint.of(tree, edge.loop, full.at)
    to_p, to_s = cut.at_p + full.at.s[cut.p], cut.at_s + full.at.s[cut.s]  # levers from the origins
    w, v = (ca.horzsplit(cut.R @ half) for half in (edge.free[:3, :], edge.free[3:, :]))
    w_p, w_s = full.moving.w[cut.p], full.moving.w[cut.s]
    u = full.moving.v[cut.s] + ca.cross(w_s, to_s) - full.moving.v[cut.p] - ca.cross(w_p, to_p)
    turn, slide = ca.cross(w_p, w_s), ca.cross(w_p, u)
    if edge.loop.sliding:
        slide = 2 * slide - ca.cross(w_p, ca.cross(w_p, cut.d))
    step = to_p + cut.d - to_s
    sign = -1 if edge.backwards else 1
    dw = start.dw + sign * turn
    U = acceleration_field(w_p if edge.backwards else w_s, dw)
    before, after = (U, start.U) if edge.backwards else (start.U, U)
    dw_p = dw if edge.backwards else start.dw
    apart = slide + before @ to_p + ca.cross(dw_p, cut.d) - after @ to_s  # a_s - a_p
    lever = -(to_p + cut.d) if edge.backwards else -to_s
    turns = [sign * w_k for w_k in w]
    slides = [sign * v_k + ca.cross(w_k, lever) for w_k, v_k in zip(turns, v, strict=True)]
    return Step(sign * step, turns, slides, dw, start.a + sign * apart, U)


# Dynamics


@boundary(own=("mu",))
def closed_chain_dynamics_a(
    model: Model,
    opened: OpenedChain,
    q: M,
    qd: M,
    tau: M,
    f_ext: M | None = None,
    *,
    method: str = "multipliers",
    alpha: Any = 1e7,
    omega: float = 10.0,
    mu: float = 1.0,
    baumgarte: tuple[float, float] | None = None,
    loads: Loads = NO_LOADS,
) -> tuple[M, M, M]:
    """(qdd, lam, xdd) of a closed chain in natural coordinates, by removed rigid-body conditions [GJB94, 8.114].

    opened: by `open_by_removing`. q (nq), qd (nv): closed, as the model has them. qdd (nv) [rad/s^2, m/s^2], xdd (n)
    [m/s^2, 1/s^2]. lam: forces of the conditions `opened.conditions`, Phi2_x' lam acts on the coordinates. method:
    "multipliers" or "penalty", the other options as in `closed_chain_dynamics`; redundant conditions are allowed.
    loads.armature is refused, as by `natural_force`.
    """
    if not isinstance(opened, OpenedChain):
        raise TypeError(
            "opened must be a chain without one of its bodies, od.formulations.open_by_removing(model, loops, body), got "
            f"{shown(opened)}"
        )
    if method == "independent":
        raise ValueError(
            "method='independent' is for cut joints: use closed_chain_dynamics, 'multipliers' or 'penalty'"
        )
    options = Options.of(method, alpha, omega, mu, baumgarte)
    check_invertible(model, loads=loads)
    natural, rows = opened.natural, list(opened.rows)
    tree = natural.split(model)
    x, xd, R, Sc = Branches.of(model, opened, q, qd)
    mass = natural_mass_matrix(model, natural, x)
    Q = natural_force(model, natural, x, xd, tau, f_ext, loads=loads)
    J = natural.conditions.jacobian(x)[rows, :]
    closing = Closing(J @ R, natural.conditions.rate(xd)[rows] - J @ Sc, J @ xd)
    H, f = symmetric(R.T @ (mass @ R)), R.T @ (Q - mass @ Sc)
    zdd, lam = options.solve(
        H, elimination_tree(H), f, closing, partial(_position, natural, x, rows), lambda: ca.fabs(J) @ ca.fabs(R)
    )
    xdd = R @ zdd + Sc
    qdd = joint_rates(natural, tree, x) @ xdd + _rates_of_rates(natural, tree, x, xd)
    return as_type(qdd, q), as_type(lam, q), as_type(xdd, q)


def _position(natural: NaturalCoordinates, x: Expr, rows: list[int]) -> Expr:
    """Phi2 (m2)."""
    return natural.conditions.value(x)[rows]


def _rates_of_rates(natural: NaturalCoordinates, tree: Model, x: Expr, xd: Expr) -> Expr:
    """(dB/dt) xd (nv) of qd = B(x) xd."""
    n = natural.n

    def product(both: Expr) -> list[Expr]:
        rates = qd_of(natural, tree, both[:n], both[n:])
        return [ca.jtimes(rates, both, ca.vertcat(both[n:], DM(n, 1)))]

    return as_function(product, 2 * n)(ca.vertcat(x, xd))
