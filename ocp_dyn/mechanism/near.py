"""The same mechanism with its far bodies' frames at their centers of mass.

A frame may lie far from its body, as in files where all coordinates are those of a map or of one assembly. Inertias and
forces about its origin are then dominated by m c^2, and the recursions would lose the digits of the body's own inertia.
Joint-space dynamics do not depend on the frames of the bodies: q, qd and tau are those of the joints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Array, Expr, exact
from ..joints import Joint, JointState
from ..spatial_algebra.spatial import FarInertia, Inertia, Transform
from .equal_models import kept_per_model
from .model import Model
from .parts import Frame


def near(model: Model) -> Model:
    """A model of the same q, qd, tau and poses whose frames are near their bodies; `model` itself if they are.

    Only a `FarInertia` is far, so usual models pass at the cost of a look at their inertias. Poses of named frames do
    not change.
    """
    far = any(isinstance(body, FarInertia) for body in model.I) and not model.symbolic_bodies
    return _moved(model) if far else model


@kept_per_model
def _moved(model: Model) -> Model:
    far = {i: body for i, body in enumerate(model.I) if isinstance(body, FarInertia)}
    X_new = {i: Transform(DM.eye(3), exact(body.central()[0])) for i, body in far.items()}
    joints, X_tree, inertia = list(model.joints), list(model.X_tree), list(model.I)
    for i, body in far.items():
        joints[i] = Carrying(model.joints[i], X_new[i].r)
        inertia[i] = Inertia(body.m, DM(3, 1), body.I_com)
    for i, p in model.edges:
        if p in far:
            X_tree[i] = Transform(X_tree[i].E, X_tree[i].r - X_new[p].r)
    frames = {
        n: Frame(n, f.body, f.X @ X_new[f.body].inverse() if f.body in far else f.X, f) for n, f in model.frames.items()
    }
    return replace(model, joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(inertia), frames=frames)


@dataclass(frozen=True)
class Carrying(Joint):
    """A joint and, fixed to its moved frame, another frame with the same axes at r (3) in its coordinates."""

    joint: Joint
    r: DM

    @property
    def q_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.joint.q_labels

    @property
    def qd_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.joint.qd_labels

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        X = Transform(DM.eye(3), self.r)
        XJ, S, vJ, cJ = self.joint.jcalc(q, qd)
        return JointState(X @ XJ, X.apply(S), X.apply(vJ), X.apply(cJ))

    def basis(self, S: Expr) -> Expr | None:
        """Velocities of which the rotations turn about r, as far as the translations before them let them."""
        k, n = self.leading_translations, self.nv
        if not 0 < k < n:
            return None
        levers = -S[3:, :k].T @ S[3:, k:]
        return ca.blockcat([[DM.eye(k), levers], [DM(n - k, k), DM.eye(n - k)]])

    @property
    def has_quaternion(self) -> bool:
        return self.joint.has_quaternion

    @property
    def leading_translations(self) -> int:
        return self.joint.leading_translations

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        return self.joint.q_dot(q, qd)

    def integrate(self, q: Expr, v: Expr) -> Expr:
        return self.joint.integrate(q, v)

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        return self.joint.difference(q0, q1)

    def tangent_rate(self, theta: Expr, v: Expr) -> Expr:
        return self.joint.tangent_rate(theta, v)

    def neutral(self) -> Array:
        return self.joint.neutral()

    def random_q(self, rng: np.random.Generator) -> Array:
        return self.joint.random_q(rng)
