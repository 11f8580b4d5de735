"""The left-right mirror map of a model, derived from its geometry and checked by its dynamics.

Reflection at the world's x-z plane, M = diag(1, -1, 1), maps a configuration q of a symmetric model to the
configuration q' = mirror(q), in which the pose of every body is the reflection of its partner's pose in q. For
velocities the map is a signed permutation; for positions too, with quaternions (x, y, z, w) -> (-x, y, -z, w).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Array, Expr, ModelError
from ..dynamics.kinematics import PosesAndAxes, all_poses_and_axes
from ..dynamics.passive_torques import passive_force
from ..dynamics.rnea_crba_aba import inverse_dynamics
from ..functions.function import function
from ..mechanism import DofData, Frame, Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.equal_models import kept_per_model
from ..mechanism.loads import JOINT_LOADS, Loads
from ..mechanism.passive import PassiveElement
from ..spatial_algebra.spatial import Transform

REFLECTION = np.diag([1.0, -1.0, 1.0])
"""Reflection of points, velocities and forces."""

PSEUDO = np.diag([-1.0, 1.0, -1.0])
"""Reflection of pseudovectors: angular velocities and moments."""

PASSIVE, ROTORS = ("stiffness", "damping", "friction"), ("armature",)
"""Data of dofs, by their names in `DofData`, that must be equal for mirrored dofs."""

TOLERANCE = 1e-6
"""Asymmetry [m, kg per kg of the model] up to which a difference counts as rounding."""


NEGLIGIBLE = 1e-9
"""Passive torques of tissue [N m, N] that count as zero: those of a stop far from its joint limit."""


@dataclass(frozen=True, eq=False)
class MirrorMap:
    """The mirror map of a model: `mirror.q(q)`, `mirror.qd(qd)` are the reflected position and velocity.

    q_matrix (nq x nq), qd_matrix (nv x nv): the maps as matrices. partners: the index of every body's mirror image.

    >>> mirror = ocp.mirror_map(od.models.human())
    >>> mirror.frame("sole_l")
    Frame('sole_r', body=10)
    """

    model: Model
    q_matrix: DM
    qd_matrix: DM
    partners: tuple[int, ...]

    def q(self, q: Expr) -> Expr:
        """The reflected configuration (nq)."""
        return self.q_matrix @ q

    def qd(self, qd: Expr) -> Expr:
        """The reflected velocity, acceleration or generalized force (nv)."""
        return self.qd_matrix @ qd

    def of_dofs(self, data: Array) -> Array:
        """Unsigned data of the dofs (nv), such as their damping, with the value of every dof moved to its partner."""
        found: Array = np.asarray(data)[np.argmax(np.abs(np.array(self.qd_matrix.full())), axis=1)]
        return found

    def of_bounds(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds (nv each) of the reflected velocity or generalized force, if lower and upper bound the original.

        Every dof has its partner's bounds; where the partner turns the other way, (lower, upper) become
        (-upper, -lower), as for rotations about the x and z axes of a body whose frames have the world's axes.
        """
        return _reflected(self.qd_matrix, lower, upper)

    def of_limits(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds (nq each) of the reflected configuration, if lower and upper bound the original; see `of_bounds`."""
        return _reflected(self.q_matrix, lower, upper)

    @cached_property
    def common_range(self) -> tuple[Array, Array]:
        """Limits of positions (nq each) within those of the model and of its reflection; the lower one is above the
        upper one where these have nothing in common."""
        dofs = self.model.dofs
        low, high = self.of_limits(dofs.q_lower, dofs.q_upper)
        return np.maximum(low, dofs.q_lower), np.minimum(high, dofs.q_upper)

    @cached_property
    def limits(self) -> DofData:
        """Data of the dofs with limits of positions, speeds and torques within which the reflected motion is, too.

        Limits of a position that have nothing in common with the image of its partner's stay as they are.
        """
        dofs, (lower, upper) = self.model.dofs, self.common_range
        least, most = self.of_bounds(dofs.tau_min, dofs.tau_max)
        return replace(
            dofs,
            q_lower=np.where(lower <= upper, lower, dofs.q_lower),
            q_upper=np.where(lower <= upper, upper, dofs.q_upper),
            qd_max=np.minimum(dofs.qd_max, self.of_dofs(dofs.qd_max)),
            tau_min=np.maximum(least, dofs.tau_min),
            tau_max=np.minimum(most, dofs.tau_max),
        )

    @cached_property
    def images(self) -> dict[str, tuple[str, float]]:
        """Partner of every dof, and the sign of the partner's velocity in the mirror image (1 or -1)."""
        names, S = self.model.qd_names, np.array(self.qd_matrix.full())
        rows = [int(np.argmax(np.abs(column))) for column in S.T]
        return {name: (names[row], float(S[row, k])) for k, (name, row) in enumerate(zip(names, rows, strict=True))}

    def frame(self, name: str) -> Frame:
        """The frame on the partner body at the reflection of this frame's origin; ModelError if there is none."""
        frame = self.model.frame(name)
        X0 = _neutral(self.model).X0
        target = REFLECTION @ _origin(frame, X0)
        candidates = [f for f in self.model.frames.values() if f.body == self.partners[frame.body]]
        near = [f for f in candidates if np.linalg.norm(_origin(f, X0) - target) < TOLERANCE]
        same_kind = [f for f in near if (f.name in self.model.body_names) == (name in self.model.body_names)]
        if not near:
            partner = ("the ground", *map(repr, self.model.body_names))[self.partners[frame.body]]
            raise ModelError(f"frame {name!r} has no mirror image on {partner}: add one with ModelBuilder.add_frame")
        return (same_kind or near)[0]

    def point(self, body: int, place: Array) -> tuple[int, Array]:
        """The partner of a body, and the reflection of the point `place` (3) [m] in the partner's coordinates."""
        X0 = _neutral(self.model).X0
        partner = self.partners[body]
        seen = REFLECTION @ _numbers(X0[body].point(place))
        return partner, _numbers(X0[partner].inverse().point(seen))


def _reflected(matrix: DM, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the product with a signed permutation."""
    signs = np.array(matrix.full())
    ahead, back = (signs > 0).astype(float), (signs < 0).astype(float)
    pick = [np.argmax(side, axis=1) for side in (ahead, back)]
    keeps = ahead.any(axis=1)
    low = np.where(keeps, lower[pick[0]], -upper[pick[1]])
    high = np.where(keeps, upper[pick[0]], -lower[pick[1]])
    return low, high


@checks_arguments()
def mirror_map(model: Model, *, loads: Loads = JOINT_LOADS) -> MirrorMap:
    """Derives the mirror map of a left-right symmetric model; ModelError that names the body or dof if it has none.

    Partners are matched by their place in the tree, by mass and by position in `model.neutral()`, which must be a
    symmetric posture; signs follow from the bodies' Jacobians in this posture. The result is checked at random states:
    the forces that inverse dynamics gives for the mirrored motion must be the mirrored forces. Springs, tissue and
    losses of the joints, and their rotors, must be symmetric too, unless the loads leave them out (`od.Loads()` leaves
    out all of them). For a robot that is nearly symmetric, except for its cables for example, use its `symmetric_twin`.

    >>> human = od.models.human()
    >>> mirror = ocp.mirror_map(human)
    >>> q = human.neutral()
    >>> q[human.q_names.index("knee_l")] = 0.3
    >>> float(mirror.q(q)[human.q_names.index("knee_r")])
    0.3
    """
    q_matrix, qd_matrix, partners = _checked_mirror(model, loads)
    return MirrorMap(model, DM(q_matrix), DM(qd_matrix), partners)


@kept_per_model
def _checked_mirror(model: Model, loads: Loads) -> tuple[DM, DM, tuple[int, ...]]:
    """Matrices and partners of a mirror map by which the dynamics are symmetric."""
    mirror = kinematic_mirror(model)
    _check(mirror)
    _check_joints(mirror, (*PASSIVE * loads.passive, *ROTORS * loads.armature))
    if loads.passive:
        _check_elements(mirror)
    return mirror.q_matrix, mirror.qd_matrix, mirror.partners


def kinematic_mirror(model: Model) -> MirrorMap:
    """The mirror map, without the check by dynamics."""
    partners = match_bodies(model)
    neutral, qd_matrix = _neutral(model), np.zeros((model.nv, model.nv))
    axes = [_numbers(ca.vertcat(neutral.w[k], neutral.v[k])) for k in range(model.nv)]
    for i, _ in model.edges:
        for k, image in zip(model.dofs_of(i), model.dofs_of(partners[i]), strict=True):
            qd_matrix[image, k] = _sign(model, axes[k], axes[image], k, image)
    q_matrix = _position_matrix(model, partners, qd_matrix)
    return MirrorMap(model, ca.sparsify(DM(q_matrix)), ca.sparsify(DM(qd_matrix)), partners)


@kept_per_model
def _neutral(model: Model) -> PosesAndAxes:
    """Poses of all bodies in the neutral posture, and the axes of the dofs."""
    return all_poses_and_axes(model, DM(model.neutral()))


def _numbers(x: Expr) -> Array:
    return np.array(DM(x).full()).ravel()


def _origin(frame: Frame, X0: dict[int, Transform]) -> Array:
    return _numbers((frame.X @ X0[frame.body]).r)


def match_bodies(model: Model, tolerance: float = TOLERANCE) -> tuple[int, ...]:
    """The index of every body's partner: a child of the parent's partner, at the mirrored place, with equal mass."""
    X0 = _neutral(model).X0
    place = [_numbers(X.r) for X in X0.values()]
    com = [
        _numbers(X.point(body.h / body.m if float(body.m) else body.h))
        for X, body in zip(X0.values(), model.I, strict=True)
    ]
    partners = {0: 0}
    extent = max(float(np.linalg.norm(x)) for x in (*place, *com))
    for i, p in model.edges:
        if i in partners:
            continue

        def apart(j: int, i: int = i) -> tuple[float, float]:
            """Distances [m] of origins and mass centers, and difference of masses [kg], from the mirror image."""
            gap = np.linalg.norm(place[j] - REFLECTION @ place[i]) + np.linalg.norm(com[j] - REFLECTION @ com[i])
            return float(gap), abs(float(model.I[j].m) - float(model.I[i].m))

        siblings = [j for j, q in model.edges if q == partners[p] and type(model.joints[j]) is type(model.joints[i])]
        rank = {j: apart(j)[0] + extent * apart(j)[1] / (model.mass or 1.0) for j in siblings}
        # the legs of a planar walker lie on each other: each could be its own image, and the other one is meant
        near = [j for j in siblings if j not in partners and rank[j] <= min(rank.values()) + TOLERANCE * extent]
        best = min(near, key=lambda j: (j == i, j), default=0)
        if not best or sum(apart(best)) > tolerance * max(1.0, model.mass):
            raise ModelError(
                f"{model!r} is not left-right symmetric: body {model.body_names[i - 1]!r} has no mirror image in the "
                "neutral posture (equal mass, mirrored origin and mass center, on the image of its parent)"
                + (f": {_nearest(model, best, apart(best))}" if best else "")
                + (
                    ": use the model's `symmetric_twin`"
                    if tolerance <= TOLERANCE
                    else f": its sides differ by more than the tolerance of {tolerance:g} (m, kg per kg of the model): "
                    "raise it, or let the model walk full strides, Periodic(mirror=False)"
                )
            )
        partners[i], partners[best] = best, i
    return tuple(partners[i] for i in range(model.nb + 1))


def _nearest(model: Model, best: int, apart: tuple[float, float]) -> str:
    """A phrase on the body that comes nearest to a mirror image."""
    return f"the nearest, {model.body_names[best - 1]!r}, is {apart[0]:.3g} m and {apart[1]:.3g} kg away"


def _sign(model: Model, moved: Array, made: Array, k: int, image: int) -> float:
    """Sign (+1 or -1) with which dof `image` moves the partner body, with the velocity `made` (6), as the mirror image
    of the body that dof k moves with the velocity `moved`."""
    seen = np.concatenate([PSEUDO @ moved[:3], REFLECTION @ moved[3:]])
    for sign in (1.0, -1.0):
        if np.allclose(seen, sign * made, atol=TOLERANCE):
            return sign
    raise ModelError(
        f"{model!r}: dof {model.qd_names[k]!r} and its counterpart {model.qd_names[image]!r} do not mirror each other: "
        "their axes must be mirror images in the neutral posture"
    )


def _position_matrix(model: Model, partners: tuple[int, ...], qd_matrix: Array) -> Array:
    """The matrix of the map of q: the same as for qd, except that the entry w of a quaternion does not change."""
    S = np.zeros((model.nq, model.nq))
    for i, _ in model.edges:
        rows, columns = range(model.q_index[partners[i]], model.q_index[partners[i] + 1]), model.dofs_of(i)
        block = qd_matrix[np.ix_(list(model.dofs_of(partners[i])), list(columns))]
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
                f"{model!r} is not left-right symmetric: inverse dynamics of a mirrored motion differs from the "
                f"mirrored forces by {worst:.2g} (N, N m): check masses, inertias and joint axes, or use the model's "
                "`symmetric_twin`"
            )


def _check_joints(mirror: MirrorMap, kinds: tuple[str, ...]) -> None:
    """Raises ModelError if springs, losses or rotors of the joints, or rest positions of springs, are not mirrored."""
    model, dofs = mirror.model, mirror.model.dofs
    for kind in kinds:
        values = getattr(dofs, kind)
        image = mirror.of_dofs(values)
        worst = int(np.argmax(np.abs(values - image)))
        if abs(values[worst] - image[worst]) > TOLERANCE * np.abs(values).max():
            raise ModelError(
                f"{model!r} is not left-right symmetric: dof {model.qd_names[worst]!r} has {kind} {values[worst]:.6g}, "
                f"its mirror image {image[worst]:.6g}: make them equal, use the model's `symmetric_twin`, or leave "
                f"them out by loads=od.Loads({'passive' if kind in ROTORS else 'armature'}=True)"
            )
    if "stiffness" not in kinds:
        return
    apart = np.array(model.difference(mirror.q(DM(dofs.rest)), DM(dofs.rest)).full()).ravel()
    worst = int(np.argmax(np.abs(apart) * (dofs.stiffness > 0)))
    if dofs.stiffness[worst] and abs(apart[worst]) > TOLERANCE:
        raise ModelError(
            f"{model!r} is not left-right symmetric: the rest position of the spring of dof {model.qd_names[worst]!r} "
            f"is {abs(apart[worst]):.4g} away from the mirror image of its partner's: make `rest` symmetric, or leave "
            "springs out by loads=od.Loads(armature=True)"
        )


def _check_elements(mirror: MirrorMap) -> None:
    """Raises ModelError unless the nonlinear passive torques at mirrored positions are the mirrored torques."""
    uneven = uneven_dof(mirror)
    if uneven is not None:
        one, other = uneven, mirror.images[uneven][0]
        raise ModelError(
            f"{mirror.model!r} is not left-right symmetric: the passive torques (`model.passive`, `model.bushings`) on "
            f"dof {one!r} are not the mirror image of those on {other!r}: add the images of the elements, with the "
            "signs of `mirror.images`, use the model's `symmetric_twin`, or leave them out by "
            "loads=od.Loads(armature=True)"
        )


def uneven_dof(mirror: MirrorMap) -> str | None:
    """A dof whose nonlinear passive torque is not the image of its partner's; None if all are.

    Elements that are each other's images need no more. The torques of others are compared at random positions, and at
    positions where one of them acts: random ones miss a stop near the end of a joint's range. They are compared at rest
    and in motion, as some depend on velocities.
    """
    model = mirror.model
    images = Counter(element.mirrored(mirror.images) for element in model.passive)
    if images == Counter(model.passive) and not model.bushings:
        return None
    bare = replace(model, dofs=replace(model.dofs, **{kind: np.zeros(model.nv) for kind in PASSIVE}))
    force = function(passive_force, bare, signature="q qd -> tau_p")
    rates = DM.zeros(model.nv, 1), DM(np.random.default_rng(1).uniform(-1, 1, model.nv))
    places = _places(model, [element for element in model.passive if element not in images])
    for place, qd in product(places, rates):
        made = force(mirror.q(place), mirror.qd(qd)).full().ravel()
        seen = mirror.qd(force(place, qd)).full().ravel()
        both = np.isfinite(made) & np.isfinite(seen)  # far outside its range tissue may pull endlessly
        made, seen = np.where(both, made, 0.0), np.where(both, seen, 0.0)
        apart = np.abs(made - seen) - TOLERANCE * np.maximum(np.abs(made), np.abs(seen))
        if apart.max() > NEGLIGIBLE:
            return model.qd_names[int(np.argmax(apart))]
    return None


def _places(model: Model, elements: Sequence[PassiveElement]) -> Iterator[DM]:
    """Random positions, and for each of these elements one at which it acts."""
    rng = np.random.default_rng(0)
    for element in (*(None,) * 5, *elements):
        q = np.array(model.random_q(rng), dtype=float).ravel()
        if element is not None:
            entries = {name: model.passive_entries[name][0] for name in (element.dof, *element.coordinates)}
            for name, x in element.acting({name: float(q[k]) for name, k in entries.items()}).items():
                q[entries[name]] = x
        yield DM(q)
