"""The left-right mirror map of a model, found from its geometry and checked by its dynamics.

Reflection at the world's x-z plane, M = diag(1, -1, 1), turns a configuration q of a symmetric model into another,
q' = mirror(q), in which every body stands where the reflection of its partner was. For velocities
the map is a signed permutation; for positions too, with quaternions (x, y, z, w) -> (-x, y, -z, w).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import DM

from .._types import Array, Expr, ModelError
from ..casadi_functions.function import function
from ..dynamics.kinematics import body_transforms, point_jacobian_6d
from ..dynamics.rnea_crba_aba import inverse_dynamics
from ..mechanism import Frame, Model
from ..mechanism.boundary import boundary
from ..mechanism.loads import JOINT_LOADS, Loads
from ..spatial_algebra.spatial import Transform

REFLECTION = np.diag([1.0, -1.0, 1.0])
PSEUDO = np.diag([-1.0, 1.0, -1.0])  # what reflection does to rotation vectors


PASSIVE, ROTORS = ("stiffness", "damping", "friction"), ("armature",)
"""Data of dofs, by their names in `DofData`, that must be mirrored as the bodies are."""

TOLERANCE = 1e-6
"""Asymmetry [m, kg per kg of the model] up to which a difference counts as rounding."""


@dataclass(frozen=True, eq=False)
class MirrorMap:
    """`mirror.q(q)`, `mirror.qd(qd)`: the reflected position and velocity; partners of bodies and frames by name."""

    model: Model
    q_matrix: DM
    v_matrix: DM
    partners: tuple[int, ...]

    def q(self, q: Expr) -> Expr:
        """The reflected configuration (nq)."""
        return self.q_matrix @ q

    def qd(self, qd: Expr) -> Expr:
        """The reflected velocity, acceleration or generalized force (nv)."""
        return self.v_matrix @ qd

    def of_dofs(self, data: Array) -> Array:
        """Unsigned data of the dofs (nv), such as their damping, with every dof's number moved to its partner."""
        return np.asarray(np.abs(np.array(self.v_matrix.full())) @ data)

    @cached_property
    def _neutral(self) -> list[Transform]:
        return body_transforms(self.model, DM(self.model.neutral()))

    def frame(self, name: str) -> Frame:
        """The frame on the partner body whose origin is the reflection of this frame's origin."""
        frame = self.model.frame(name)
        X0 = self._neutral
        target = REFLECTION @ _origin(frame, X0)
        candidates = [f for f in self.model.frames.values() if f.body == self.partners[frame.body]]
        near = [f for f in candidates if np.linalg.norm(_origin(f, X0) - target) < TOLERANCE]
        same_kind = [f for f in near if (f.name in self.model.body_names) == (name in self.model.body_names)]
        if not near:
            raise ModelError(f"frame {name!r} has no mirror image on body {self.partners[frame.body]}: add one")
        return (same_kind or near)[0]

    def point(self, body: int, place: Array) -> tuple[int, Array]:
        """The partner of a body, and a point's reflection in its coordinates."""
        X0 = self._neutral
        partner = self.partners[body]
        seen = REFLECTION @ np.array(DM(X0[body].point(place)).full()).ravel()
        return partner, np.array(DM(X0[partner].inverse().point(seen)).full()).ravel()


@boundary()
def mirror_map(model: Model, *, loads: Loads = JOINT_LOADS) -> MirrorMap:
    """Derives the mirror map of a left-right symmetric model; ModelError, with the place, if it is not symmetric.

    Partners are matched by their place in the tree, mass and position in `model.neutral()`, which must be a symmetric
    posture; signs come from the bodies' Jacobians there. The result is checked at random states: the forces of inverse
    dynamics of the mirrored motion must be the mirrored forces. Springs and losses of the joints, and their rotors,
    must be mirrored too, unless the loads leave them out (`od.Loads()` leaves out all). For a robot that is symmetric except
    for its cables use its `symmetric_twin`.
    """
    mirror = kinematic_mirror(model)
    _check(mirror)
    _check_joints(mirror, (*PASSIVE * loads.passive, *ROTORS * loads.armature))
    return mirror


def kinematic_mirror(model: Model) -> MirrorMap:
    """The mirror map, not checked by dynamics."""
    partners = match_bodies(model)
    q0 = DM(model.neutral())
    v_matrix = np.zeros((model.nv, model.nv))
    jacobians = [np.zeros((6, model.nv))] + [
        np.array(point_jacobian_6d(model, name, q0).full()) for name in model.body_names
    ]
    for i, _ in model.edges:
        j = partners[i]
        for k, image in zip(model.dofs_of(i), model.dofs_of(j), strict=True):
            v_matrix[image, k] = _sign(model, jacobians[i], jacobians[j], k, image)
    q_matrix = _position_matrix(model, partners, v_matrix)
    return MirrorMap(model, ca.sparsify(DM(q_matrix)), ca.sparsify(DM(v_matrix)), partners)


def _origin(frame: Frame, X0: list[Transform]) -> Array:
    X = frame.X @ X0[frame.body]
    return np.array(DM(X.r).full()).ravel()


def match_bodies(model: Model, tolerance: float = TOLERANCE) -> tuple[int, ...]:
    """Partner of every body: children of partners that lie at mirrored places and have equal masses."""
    X0 = body_transforms(model, DM(model.neutral()))
    place = [np.array(DM(X.r).full()).ravel() for X in X0]
    com = [
        np.array(DM(X.point(body.h / body.m if float(body.m) else body.h)).full()).ravel()
        for X, body in zip(X0, model.I, strict=True)
    ]
    partners = {0: 0}
    for i, p in model.edges:

        def distance(j: int, i: int = i) -> float:
            gap = np.linalg.norm(place[j] - REFLECTION @ place[i]) + np.linalg.norm(com[j] - REFLECTION @ com[i])
            return float(gap + abs(float(model.I[j].m) - float(model.I[i].m)))

        siblings = [j for j, q in model.edges if q == partners[p] and type(model.joints[j]) is type(model.joints[i])]
        best = min(siblings, key=distance, default=0)
        if not best or distance(best) > tolerance * max(1.0, model.mass):
            raise ModelError(
                f"{model!r} is not left-right symmetric: body {model.body_names[i - 1]!r} has no mirror image in the "
                "neutral posture (same parent's image, mass and mirrored center of mass): walk with its `symmetric_twin`"
            )
        partners[i] = best
    return tuple(partners[i] for i in range(model.nb + 1))


def _sign(model: Model, J: Array, J_partner: Array, k: int, image: int) -> float:
    """Sign (+1 or -1) of dof `image` with which it moves the partner body as the mirror image of the body under dof
    k."""
    seen = np.concatenate([PSEUDO @ J[:3, k], REFLECTION @ J[3:, k]])
    made = J_partner[:, image]
    for sign in (1.0, -1.0):
        if np.allclose(seen, sign * made, atol=TOLERANCE):
            return sign
    raise ModelError(
        f"{model!r}: dof {model.qd_names[k]!r} and its counterpart {model.qd_names[image]!r} do not mirror each other: "
        "their axes must be mirror images in the neutral posture"
    )


def _position_matrix(model: Model, partners: tuple[int, ...], v_matrix: Array) -> Array:
    """The map of q: that of qd, if q of the joint has the same entries; for a quaternion (., w), w stays."""
    S = np.zeros((model.nq, model.nq))
    for i, _ in model.edges:
        rows, columns = range(model.q_index[partners[i]], model.q_index[partners[i] + 1]), model.dofs_of(i)
        block = v_matrix[np.ix_(list(model.dofs_of(partners[i])), list(columns))]
        n = len(columns)
        S[rows.start : rows.start + n, model.q_index[i] : model.q_index[i] + n] = block
        if len(rows) == n + 1:
            S[rows.stop - 1, model.q_index[i + 1] - 1] = 1.0
    return S


def _check(mirror: MirrorMap) -> None:
    model = mirror.model
    rng = np.random.default_rng(0)
    ID = function(inverse_dynamics, model)
    for _ in range(3):
        q, qd, qdd = DM(model.random_q(rng)), DM(rng.normal(size=model.nv)), DM(rng.normal(size=model.nv))
        error = ID(mirror.q(q), mirror.qd(qd), mirror.qd(qdd)) - mirror.qd(ID(q, qd, qdd))
        worst = float(ca.norm_inf(ca.densify(error)))
        if worst > TOLERANCE * max(1.0, model.mass):
            raise ModelError(
                f"{model!r} is not left-right symmetric: its inverse dynamics differs from the image's by {worst:.2g}"
            )


def _check_joints(mirror: MirrorMap, kinds: tuple[str, ...]) -> None:
    """Raises ModelError if springs, losses or rotors of the joints, or rest positions of springs, are not mirrored."""
    model, dofs = mirror.model, mirror.model.dofs
    for kind in kinds:
        own = getattr(dofs, kind)
        image = mirror.of_dofs(own)
        worst = int(np.argmax(np.abs(own - image)))
        if abs(own[worst] - image[worst]) > TOLERANCE * np.abs(own).max():
            raise ModelError(
                f"{model!r} is not left-right symmetric: dof {model.qd_names[worst]!r} has {kind} {own[worst]:.6g}, its "
                f"mirror image {image[worst]:.6g}: make them equal, walk with its `symmetric_twin`, or leave them out by "
                f"loads=od.Loads({'passive' if kind in ROTORS else 'armature'}=True)"
            )
    if "stiffness" not in kinds:
        return
    apart = np.array(model.difference(mirror.q(DM(dofs.rest)), DM(dofs.rest)).full()).ravel()
    worst = int(np.argmax(np.abs(apart) * (dofs.stiffness > 0)))
    if dofs.stiffness[worst] and abs(apart[worst]) > TOLERANCE:
        raise ModelError(
            f"{model!r} is not left-right symmetric: the spring of dof {model.qd_names[worst]!r} rests {abs(apart[worst]):.4g} "
            "away from where its mirror image does: make `rest` symmetric, or leave springs out by loads=od.Loads(armature=True)"
        )
