"""Dynamically equivalent models: the same q, qd, tau, H, C, ID and FD from fewer operations.

Three choices do not affect any joint-space quantity [RBDA, 9.7; W. Khalil and E. Dombre, Modeling, Identification and
Control of Robots, 2002, ch. 9]. They are used to make numbers of the model zero:

* Part of a body's inertia can be moved to its parent: the part I_s on which joint forces do not depend (I_s S = 0) and
  which the joint's motion does not change (XJ' I_s XJ = I_s). For a revolute joint this is the mass, the first moment
  along the axis and one of the second moments; for a prismatic joint the rotational inertia; for a joint that turns
  freely about a point the mass.
* The frame of a body can be chosen: its origin anywhere on the joint axis, and any angle about this axis.
* A joint of several degrees of freedom can be split into a chain of simpler ones. Then no body beyond the translation
  of a floating base needs a mass, and no joint has a motion subspace that depends on q.

The reduced model has many structural zeros. Forces in links and the effect of external wrenches change with the first
choice and need the original model; poses of named frames do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from .._base.types import ROUNDING, Array, ModelError, repr_in_message
from ..joints import (
    Euler,
    FloatingBase,
    Joint,
    MultiDof,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from ..spatial_algebra.spatial import Inertia, InertiaNumbers, Summed, Transform
from . import Frame, Model
from .boundary import checks_arguments
from .equal_models import kept_per_model
from .parts import CoordinateNames, clean, product
from .passive import entry_names
from .signs import with_equal_signs

LARGEST_SHIFT = 10
"""Largest distance over which an origin may be moved, in multiples of the largest offset to a neighbor."""


ALIGNED = 1 - 1e-9
"""Least size of an entry of a unit vector that lies along a coordinate axis."""


class ArrayTransform(Transform):
    """A transform of NumPy arrays, E (3x3) and r (3), for the many small products of a search."""

    def __post_init__(self) -> None:
        """Keeps the arrays as they are."""


@checks_arguments()
def reduce(model: Model) -> Model:
    """A model with the same joint-space dynamics whose transforms and inertias are as sparse as they can be made.

    Bodies, joints, names, layouts and frames' poses are those of `model`; inertias are base parameters, which need not
    be those of a real body. Not for link forces or external wrenches. Constraints on frames of `model` hold on it.
    Cost: some milliseconds per body, once. ModelError for symbolic inertias or positions: what may move to a parent
    depends on their values.

    >>> human = od.models.human()
    >>> od.function(od.inverse_dynamics, human).n_instructions() < od.function(
    ...     od.inverse_dynamics, human, reduce=False).n_instructions()
    True
    """
    if model.symbolic_bodies:
        raise ModelError(
            f"reduce: body {repr_in_message(model.symbolic_bodies[0])} has a symbolic inertia or position; reduce a "
            "model of numbers, and use a model with such parameters as it is"
        )
    return next(variants(model, split=False))


def variants(model: Model, split: bool = True) -> Iterator[Model]:
    """Models of the same joint-space dynamics that differ in the body whose frame takes up the offset of two joints.

    The model with the fewest operations depends on the robot and on the algorithm, so the operations must be counted.
    split: joints are split into simpler ones; this changes bodies, joints and their names, but not q, qd and frames.
    """
    if split:
        model = split_joints(model)
    skew = any(isinstance(j, (Revolute, Prismatic)) and np.abs(j.axis).max() <= ALIGNED for j in model.joints)
    for onward in (1.0, 0.9):
        # the first choice turns axes that lie askew into coordinate axes, the second sees the zeros that this brings
        reframed = _reframed(_reframed(model, onward) if skew else model, onward)
        yield _regrouped(with_equal_signs(reframed))


# Splitting of joints


@kept_per_model
def split_joints(model: Model, kinds: tuple[type[Joint], ...] = (Joint,)) -> Model:
    """The model with its joints split into chains of simpler ones; the last joint of a chain keeps body and names.

    Massless bodies lie between the joints of a chain. kinds: classes of the joints that are split; all by default.
    """
    chains = {i: _links(model.joints[i]) if isinstance(model.joints[i], kinds) else (model.joints[i],)
              for i, _ in model.edges}  # fmt: skip
    index = [0]  # the new index of every body
    for i, _ in model.edges:
        index.append(index[-1] + len(chains[i]))
    parent, joints, X_tree, I = [-1], [model.joints[0]], [model.X_tree[0]], [model.I[0]]
    joint_names: list[str] = []
    body_names: list[str] = []
    for i, p in model.edges:
        links = chains[i]
        carriers = len(links) - 1
        parent += [index[p], *range(index[i] - carriers, index[i])]
        joints += links
        X_tree += [model.X_tree[i], *[Transform.identity()] * carriers]
        I += [*[Inertia.zero()] * carriers, model.I[i]]
        for names, name in ((joint_names, model.joint_names[i - 1]), (body_names, model.body_names[i - 1])):
            names += [*(f"{name} ({k})" for k in range(1, len(links))), name]
    named = _names_of_links(model, chains)
    own = {noted.joint: noted.names for noted in named}
    entries = entry_names(joint_names, [joint.qd_labels for joint in joints[1:]], own)
    dofs = dict(zip(model.qd_names, entries, strict=True))
    return replace(
        model, parent=tuple(parent), joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(I),
        joint_names=tuple(joint_names), body_names=tuple(body_names),
        frames={n: Frame(n, index[f.body], f.X, f) for n, f in model.frames.items()},
        passive=tuple(element.renamed(lambda name: dofs[name]) for element in model.passive), coordinate_names=named,
    )  # fmt: skip


def _names_of_links(model: Model, chains: Mapping[int, tuple[Joint, ...]]) -> tuple[CoordinateNames, ...]:
    """The coordinate names of joints that are split, each on its link."""
    found = []
    for name, names in model.coordinate_names:
        links = chains[model.joint_names.index(name) + 1]
        at = 0
        for k, link in enumerate(links, 1):
            own = name if k == len(links) else f"{name} ({k})"
            found.append(CoordinateNames(own, names[at : at + link.nq]))
            at += link.nq
    return tuple(found)


def _links(joint: Joint) -> tuple[Joint, ...]:
    """The chain of simpler joints with the same motion, q and qd."""
    if isinstance(joint, FloatingBase):
        turning: tuple[Joint, ...] = (Spherical(),) if joint.has_quaternion else joint.chain()[3:]
        return (Translation(), *turning)
    return joint.chain() if isinstance(joint, (Euler, MultiDof, Planar, Universal)) else (joint,)


# Moving of inertia to the parent


def _regrouped(model: Model) -> Model:
    """Moves the part of each body's inertia that its joint neither feels nor changes to the parent, tips first.

    An entry counts as canceled if it is rounding beside the terms that were summed.
    """
    inertia = [Summed.of(body) for body in model.I]
    for i, p in reversed(list(model.edges)):
        unfelt = _unfelt(model.joints[i], inertia[i].cleaned())
        if unfelt is not None:
            moved = Summed.of(unfelt)
            inertia[i] -= moved
            if p:
                inertia[p] += moved.to_parent(model.X_tree[i])
    return replace(model, I=tuple(body.clean() for body in inertia))


def _unfelt(joint: Joint, body: InertiaNumbers) -> InertiaNumbers | None:
    """The part of a body's inertia that its joint neither feels nor changes; None if there is none.

    For a revolute joint this is a rod of mass along the axis a: m, h along a, and the second moment `a' J a`.
    """
    m, h, I = body
    if isinstance(joint, Revolute):
        a = np.array(joint.axis)
        second = float(a @ body.second_moments @ a)
        return InertiaNumbers(m, float(a @ h) * a, second * (np.eye(3) - np.outer(a, a)))
    if isinstance(joint, (Prismatic, Translation)):
        return InertiaNumbers(0 * m, 0 * h, I)
    if isinstance(joint, (Spherical, Euler)):
        return InertiaNumbers(m, 0 * h, 0 * I)
    return None


# Choice of frames


def _reframed(model: Model, onward: float) -> Model:
    """Chooses every body's frame anew, from the ground outwards: `X_new[i]` leads from the old frame to the new one.

    onward: weight of a nonzero in a transform to the next bodies, relative to one in the body's own transform. Below 1,
    moving a nonzero to the next body counts as progress, because that body may eliminate it.
    """

    X_old: list[Transform] = [
        ArrayTransform(np.array(DM(X.E).full()), np.array(DM(X.r).full()).ravel()) for X in model.X_tree
    ]
    X_new: dict[int, Transform] = {}
    joints, X_tree = list(model.joints), list(model.X_tree)
    children: list[list[int]] = [[] for _ in joints]
    for i, p in model.edges:
        children[p].append(i)
    for i, p in model.edges:
        joint, placed = joints[i], X_old[i]
        summed = _length(placed)
        if p in X_new:
            placed = placed @ X_new[p].inverse()  # from the parent's new frame
            summed += _length(X_new[p])
        if isinstance(joint, (Revolute, Prismatic)):
            E = _axis_to_coordinate(np.array(joint.axis))
            a, turn = E @ np.array(joint.axis), ArrayTransform(E, np.zeros(3))
            joints[i] = type(joint)(a)
            onwards = [X_old[c] @ turn.inverse() for c in children[i]]
            beyond = isinstance(joints[p], (Revolute, Prismatic))
            extra = _convenient(a, turn @ placed, isinstance(joint, Revolute), onwards, onward, beyond)
            if extra is not None or not np.array_equal(E, np.eye(3)):
                X_new[i] = turn if extra is None else extra @ turn
                placed = X_new[i] @ placed
                summed += _length(X_new[i])
        if i in X_new or p in X_new:
            X_tree[i] = _sparse_transform(placed, summed)
    back = {i: _sparse_transform(X.inverse()) for i, X in X_new.items()}
    inertia = [Summed.of(body).to_parent(back[i]).clean() if i in back else body for i, body in enumerate(model.I)]
    frames = {
        n: Frame(n, f.body, product(f.X, back[f.body]) if f.body in back else f.X, f) for n, f in model.frames.items()
    }
    return replace(model, joints=tuple(joints), X_tree=tuple(X_tree), I=tuple(inertia), frames=frames)


def _axis_to_coordinate(a: Array) -> Array:
    """The identity for a coordinate axis, else the rotation E with E a = z that has the most zeros."""
    if np.abs(a).max() > ALIGNED:
        return np.eye(3)
    x = _across(a)
    return np.array([x, np.cross(a, x), a])


def _across(a: Array) -> Array:
    """A unit vector across a, along a coordinate axis where a is along one."""
    b = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return np.asarray(b / np.linalg.norm(b))


def _convenient(
    a: Array, placed: Transform, slides: bool, onwards: list[Transform], onward: float, beyond: bool
) -> Transform | None:
    """Translation along and rotation about the axis a that give the cheapest transforms to this body and the next.

    Limbs that mirror each other get transforms of one pattern: of several that cost the same, those with the fewest
    offsets are taken, then those with the origin nearest to where it was, then the first by pattern. None of this
    depends on signs, as angles would. beyond: whether the parent's frame was chosen too; that of a floating base lies
    askew to the limbs' plane of symmetry, and then the distances to its planes are not those of the other limb.
    None: do not move the frame in this way.
    """
    length = max(_length(X) for X in (placed, *onwards))
    share = np.array([1.0, *[onward] * len(onwards)])
    E, r = np.stack([placed.E, *(X.E for X in onwards)]), np.stack([placed.r, *(X.r for X in onwards)])
    least: tuple[Any, ...] = (share @ (_weight_of_rotations(E) + _weight_of_offsets(r, length)) - 1e-9,)
    slides_along = _slides(a, placed, onwards, length) if slides else [0.0]
    along = np.stack([placed.E.T @ a, *[-a] * len(onwards)])  # change of r per length of the slide
    best = None
    for angle in _angles(a, placed, onwards):
        turn = _turn(a, angle)
        turned, moved = np.stack([turn @ E[0], *E[1:] @ turn.T]), np.stack([r[0], *r[1:] @ turn.T])
        of_turn = share @ _weight_of_rotations(turned)
        for slide in slides_along:
            offset, size = moved + slide * along, length + abs(slide)
            weight = round(float(of_turn + share @ _weight_of_offsets(offset, size)), 6)
            if weight > least[0]:
                continue
            offsets = int(np.sum(np.abs(offset).max(axis=1) > ROUNDING * size))
            far = round(abs(slide) / (length or 1.0), 6) if beyond else 0.0
            key = (weight, offsets, far, *(_pattern(*X, size) for X in zip(turned, offset, strict=True)))
            if key < least:
                best, least = ArrayTransform(turn, slide * a), key
    return best


def _turn(a: Array, angle: float) -> Array:
    """The rotation E of a joint about the axis a by an angle, by Rodrigues' formula."""
    along = np.outer(a, a)
    return np.asarray(along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * np.cross(a, np.eye(3)))


def _angles(a: Array, placed: Transform, onwards: list[Transform]) -> list[float]:
    """Angles about a that align an axis normal to a: with the old frame's axes, or a next joint's axes or origin."""
    b = _across(a)
    c = np.cross(a, b)
    found = {0.0: 0.0}  # by rounded values, so that each is tried once
    for d in (*placed.E.T, *(d for X in onwards for d in (*X.E, X.r / (_length(X) or 1.0)))):
        angle = float(np.arctan2(d @ c, d @ b)) % (np.pi / 2)
        if np.hypot(d @ b, d @ c) > 1e-9 and min(angle, np.pi / 2 - angle) > 1e-9:
            found |= {round(angle + k * np.pi / 2, 9): angle + k * np.pi / 2 for k in range(4)}
    return sorted(found.values())


def _slides(a: Array, placed: Transform, onwards: list[Transform], length: float) -> list[float]:
    """Distances along a that put the origin where a coordinate of some transform vanishes, the shortest first.

    length: the largest in these transforms. Distances far beyond it, which occur if axes are nearly at right angles,
    are left out: inertias about a remote origin would be dominated by rounding.
    """
    axis = placed.E.T @ a
    ahead = [
        float(-placed.r[k] / axis[k]) for k in range(3) if abs(axis[k]) * LARGEST_SHIFT * length > abs(placed.r[k])
    ]
    found = {0: 0.0}  # by rounded values, so that each is tried once
    for slide in (*ahead, *(float(X.r @ a) for X in onwards)):
        if length:
            found.setdefault(round(slide / length * 1e9), slide)
    return sorted(found.values(), key=abs)


def _weight_of_rotations(E: Array) -> Array:
    """Costs of rotations (k x 3 x 3): 2 per entry other than 0 and +-1, 0.5 per entry -1."""
    size = np.abs(E)
    general = (size > ROUNDING) & (size < 1 - ROUNDING)
    return np.asarray((2.0 * general + 0.5 * (E < ROUNDING - 1)).sum(axis=(1, 2)))


def _weight_of_offsets(r: Array, length: float) -> Array:
    """Costs of offsets (k x 3): 2.5 per nonzero entry, relative to `length`."""
    return np.asarray(2.5 * (np.abs(r) > ROUNDING * length).sum(axis=1))


def _pattern(E: Array, r: Array, length: float) -> tuple[int, ...]:
    """Kinds of the entries of r and E, the last first: 0 for zeros, -1 for 1, -2 for -1 in E, -3 for other numbers.

    The transforms of limbs that mirror each other differ in the signs of other numbers only.
    """
    E = E.ravel()
    kinds = np.where(np.abs(E) < ROUNDING, 0, np.where(np.abs(E) < 1 - ROUNDING, -3, np.where(E > 0, -1, -2)))
    return (*np.where(np.abs(r) > ROUNDING * length, -3, 0)[::-1].tolist(), *kinds[::-1].tolist())


def _length(X: Transform) -> float:
    """The largest entry of r of a transform on numpy arrays."""
    return float(np.abs(X.r).max())


def _sparse_transform(X: Transform, length: float = 0.0) -> Transform:
    """The transform on DM, with structural zeros where it is zero, r where it is a rounding error beside `length`."""
    return clean(Transform(DM(X.E), DM(X.r)), length)
