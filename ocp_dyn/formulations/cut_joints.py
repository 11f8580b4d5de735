"""Loops closed by cut joints, in the dependent velocities of Formulation B [GJB94, 8.3].

A loop is opened at one of its joints, the `Loop`; the conditions of that joint are rows of Phi2. In the velocities v of
the bodies, [velocity of the center of gravity; angular velocity] each,

    Phi2_q v = 0,   Phi2_q dv/dt = c2,   so with v = R qd:   Phi_z = Phi2_q R,   Phi_z qdd = c2 - Phi2_q Sc.
    (8.114)

A row of Phi2_q has entries for the two bodies that the joint connects only: with t = [tau; t_v] an axis of the loop in
world axes, rho the lever from a center of gravity to the end of the loop,

    [t_v, tau + rho x t_v] for the successor,   the opposite for the predecessor.

Rows, signs and forces are those of `Loop`: Phi_z is its G, c2 - Phi2_q Sc its gamma.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type, exact, repr_in_message, sparse
from ..constraints import Constraint, Constraints, Loop, as_set
from ..constraints.loop import Pose
from ..dynamics.kinematics import as_point, resolve
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.spatial import skew
from .velocity_transformations import OpenChain, Positions, Velocities, in_all_columns, open_chain


class CutJoint(NamedTuple):
    """Geometry of a cut joint: p, s the bodies of predecessor and successor; at_p, at_s the levers from their centers
    of gravity to the ends of the loop; d the step to the point at which the predecessor's motion is taken, nonzero
    where the ends may slide apart; R the rotation of the predecessor's frame; tau, t the rotations and translations of
    the axes (m x 3); world axes."""

    p: int
    s: int
    at_p: Expr
    at_s: Expr
    d: Expr
    R: Expr
    tau: Expr
    t: Expr

    @staticmethod
    def of(model: Model, loop: Loop, at: Positions) -> CutJoint:
        (p, R, at_p, x_p), (s, _, at_s, x_s) = (
            _end(model, frame, pose, at)
            for frame, pose in ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose))
        )
        T = exact(loop.axes)
        d = x_s - x_p if loop.sliding else DM(3, 1)
        return CutJoint(p, s, at_p, at_s, d, R, T[:, :3] @ R.T, T[:, 3:] @ R.T)

    def blocks(self) -> dict[int, Expr]:
        """The nonzero columns of Phi2_q, m x 6 for each moving body."""
        found: dict[int, Expr] = {}
        for body, sign, lever in ((self.s, 1, self.at_s), (self.p, -1, self.at_p + self.d)):
            block = sign * ca.horzcat(self.t, self.tau - self.t @ skew(lever))
            if body:
                found[body] = found[body] + block if body in found else block
        return found

    def products(self, moving: Velocities, sliding: bool) -> Expr:
        """c2 (m): minus the accelerations along the axes that are due to velocities alone."""
        w_p, w_s = moving.w[self.p], moving.w[self.s]
        u = moving.g[self.s] + ca.cross(w_s, self.at_s) - moving.g[self.p] - ca.cross(w_p, self.at_p)
        a = ca.cross(w_s, ca.cross(w_s, self.at_s)) - ca.cross(w_p, ca.cross(w_p, self.at_p))
        if sliding:
            a, u = a - ca.cross(w_p, u), u - ca.cross(w_p, self.d)
        return self.tau @ ca.cross(w_p, w_s) - self.t @ (a - ca.cross(w_p, u))


@dataclass(frozen=True)
class Closing:
    """The conditions of constraints at the level of accelerations, Phi_z qdd = gamma, and of velocities.

    Phi_z (m x nv); gamma (m), the book's c2 - Phi2_q Sc; rate (m): Phi_z qd.
    """

    Phi_z: Expr
    gamma: Expr
    rate: Expr

    @staticmethod
    def of(model: Model, constraints: Constraints, open: OpenChain, q: Expr, qd: Expr) -> Closing:
        """Rows of loops by their entries for two bodies, rows of other constraints by their G and gamma."""
        parts = [_closing(model, constraint, open, q, qd) for constraint in as_set(constraints)]
        return Closing(*(ca.vertcat(*column) for column in zip(*parts, strict=True)))

    def stabilized(self, position: Expr, omega: float, xi: float) -> Closing:
        """The same rows with Baumgarte's terms, gamma - 2 xi omega Phi_z qd - omega^2 Phi [GJB94, 5.1]."""
        return Closing(self.Phi_z, self.gamma - 2 * xi * omega * self.rate - omega**2 * position, self.rate)


@checks_arguments()
def closing_jacobian(model: Model, constraints: Constraints, q: M | Numbers) -> M:
    """Phi2_q (m x 6 nb): rows of cut joints in the velocities of the bodies, [center of gravity; angular]
    [GJB94, 8.108].

    constraints: loops. Structurally zero outside the columns of the two bodies that a loop connects. Phi2_q R is the
    constraint Jacobian G. TypeError for constraints other than `Loop`.

    >>> bar = od.models.n_four_bar(1)
    >>> Phi = od.formulations.closing_jacobian(bar.model, bar.loops, bar.q)
    >>> G = Phi @ od.formulations.velocity_transformation(bar.model, bar.q)
    >>> float(ca.norm_inf(G - od.constraint_jacobian(bar.model, bar.loops, bar.q))) < 1e-12
    True
    """
    open = open_chain(model, q, model.rest(q))
    rows = []
    for loop in as_set(constraints):
        if not isinstance(loop, Loop):
            raise TypeError(
                "closing_jacobian takes cut joints, od.Loop(predecessor, successor, axes), got "
                f"{repr_in_message(loop)}: take the Jacobian of other constraints from od.constraint_jacobian"
            )
        blocks: list[Expr] = [DM(len(loop.axes), 6)] * model.nb
        for body, block in CutJoint.of(model, loop, open.at).blocks().items():
            blocks[body - 1] = block
        rows.append(ca.horzcat(*blocks))
    return as_type(ca.vertcat(*rows), q)


def closing_rows(model: Model, constraints: Constraints, q: Expr, qd: Expr) -> Closing:
    """The conditions of constraints at (q, qd)."""
    return Closing.of(model, constraints, open_chain(model, q, qd), q, qd)


def _closing(model: Model, constraint: Constraint, open: OpenChain, q: Expr, qd: Expr) -> tuple[Expr, Expr, Expr]:
    """(Phi_z, gamma, Phi_z qd) of one constraint."""
    if not isinstance(constraint, Loop):
        velocity = constraint.velocity(model, q, qd)
        return constraint.jacobian(model, q), constraint.hessian(model, q, qd), velocity
    cut, m = CutJoint.of(model, constraint, open.at), len(constraint.axes)
    Phi_z: Expr = DM(m, model.nv)
    rate: Expr = DM(m, 1)
    gamma = cut.products(open.moving, bool(constraint.sliding))
    for i, block in cut.blocks().items():
        Phi_z = Phi_z + in_all_columns(model, block @ open.R[i], i)
        rate = rate + block @ ca.vertcat(open.moving.g[i], open.moving.w[i])
        gamma = gamma - block @ open.Sc[i]
    return Phi_z, gamma, rate


def _end(model: Model, frame: Frame | str, pose: Pose, at: Positions) -> tuple[int, Expr, Expr, Expr]:
    """One end of a loop: its body, its rotation, the lever from the body's center of gravity to it, its position."""
    f, (R, r) = resolve(model, frame), pose
    i = f.body
    arm = at.A[i] @ f.X.point(as_point(r))
    return i, at.A[i] @ (f.X.E.T @ sparse(np.reshape(R, (3, 3)))), arm - at.s[i], at.r[i] + arm
