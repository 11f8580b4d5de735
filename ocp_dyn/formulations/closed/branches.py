"""Kinematics of the open branches that remain of a closed chain in natural coordinates without some of its bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
from casadi import DM

from ..._base.types import Expr, exact, repr_in_message
from ...constraints import Loop
from ...mechanism import Model
from ...spatial_algebra.spatial import acceleration_field
from ..cut_joints import CutJoint
from ..formulation_a import elements_at, in_plane
from ..natural_coordinates import ChosenElement, NaturalCoordinates
from ..velocity_transformations import OpenChain, open_chain


class Edge(NamedTuple):
    """A step outwards in the open chain, from a body to the next: by the joint of body `joint` in the tree, or by a
    loop; backwards: from the joint's (or loop's) successor to its predecessor. free: axes (6 x f) along which a loop
    lets the successor move, in the predecessor's frame. dofs: columns in R1."""

    start: int
    end: int
    joint: int
    loop: Loop | None
    backwards: bool
    free: DM
    dofs: range


@dataclass(frozen=True, eq=False)
class OpenedChain:
    """A closed chain without some bodies, in natural coordinates; made by `open_by_removing`.

    natural: coordinates of the closed mechanism. bodies: names of the removed bodies. rates: names of the rates of all
    edges, then of coordinates that only removed bodies have; kept: indices of those that are z1-dot, the others move
    nothing that these do not move. edges: the open chain, outwards. homes: the bodies that carry the coordinates. rows:
    indices of the conditions Phi2.

    >>> bar = od.models.n_four_bar(1)
    >>> opened = od.formulations.open_by_removing(bar.model, bar.loops, "coupler1")
    >>> opened.bodies, opened.conditions
    (('coupler1',), ('coupler1: P2P4.P2P4',))
    """

    natural: NaturalCoordinates
    bodies: tuple[str, ...]
    rates: tuple[str, ...]
    kept: tuple[int, ...]
    edges: tuple[Edge, ...]
    homes: tuple[ChosenElement, ...]
    rows: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rates z1-dot."""
        return tuple(self.rates[k] for k in self.kept)

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


def check_opened(opened: Any) -> None:
    """TypeError unless it is an opened chain."""
    if not isinstance(opened, OpenedChain):
        raise TypeError(
            "opened must be a chain without one of its bodies, od.formulations.open_by_removing(model, loops, body), "
            f"got {repr_in_message(opened)}"
        )


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


class BranchStep(NamedTuple):
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
    steps: dict[int, BranchStep] = {0: BranchStep(DM(3, 1), [], [], DM(3, 1), DM(3, 1), DM(3, 3))}
    for edge in opened.edges:
        make = _joint_step if edge.loop is None else _loop_step
        steps[edge.end] = make(tree, edge, full, steps[edge.start])
    R, Sc = [], []
    count, dimension = len(opened.rates), opened.natural.dimension
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
    columns_of_R = in_plane(opened.natural, R)[:, list(opened.kept)]
    return Branches(x, xd, columns_of_R, in_plane(opened.natural, Sc))


def _joint_step(tree: Model, edge: Edge, full: OpenChain, start: BranchStep) -> BranchStep:
    """Across a joint of the tree; backwards with the same rates, dw_p = dw_i - turn, a_p = a_i - U_p d - slide."""
    i, d = edge.joint, full.at.d[edge.joint]
    w, v = ([axes[k] for k in tree.dofs_of(i)] for axes in full.by)
    turn, slide = full.products.turn[i], full.products.slide[i]
    if not edge.backwards:
        dw = start.dw + turn
        return BranchStep(d, w, v, dw, start.a + start.U @ d + slide, acceleration_field(full.moving.w[i], dw))
    dw = start.dw - turn
    U = acceleration_field(full.moving.w[edge.end], dw)
    back = [ca.cross(w_k, d) - v_k for w_k, v_k in zip(w, v, strict=True)]
    return BranchStep(-d, [-w_k for w_k in w], back, dw, start.a - U @ d - slide, U)


def _loop_step(tree: Model, edge: Edge, full: OpenChain, start: BranchStep) -> BranchStep:
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
    return BranchStep(sign * step, turns, slides, dw, start.a + sign * apart, U)
