"""`natural`: natural coordinates of a model and its loops, chosen automatically [GJB94, ch. 2]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from .._base.types import Array, finite_vector, names_in_message, repr_in_message, sequence
from ..constrained_motion import AssemblyError, assemble_q
from ..constraints import Loop
from ..dynamics.kinematics import body_transforms, resolve
from ..joints import MultiDof
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments, column_of_numbers
from ..mechanism.reduction import split_joints
from .natural_coordinates import NaturalCoordinates, of_numbers
from .sharing.choice import WANTED, ElementChoice, Elements, Groups
from .sharing.joints import SUPPORTED, Sharing, join_groups, parallel
from .sharing.loops import Poses, check_closed, ends_of, link_of_loop, numbers_of, point_in_body
from .sharing.matrices import assembled
from .sharing.plane import joint_links, plane_axes, plane_of_motion


@checks_arguments(own=("q",))
def natural(
    model: Model,
    loops: Loop | Sequence[Loop] = (),
    *,
    q: Any = None,
    plane: bool | str = "auto",
    points: Mapping[str, tuple[str, Any]] | None = None,
    vectors: Mapping[str, tuple[str, Any]] | None = None,
) -> NaturalCoordinates:
    """Natural coordinates of a model: points and unit vectors, shared by the bodies that joints connect [GJB94, ch. 2].

    loops: closures by `od.Loop`; they too share points and vectors, and those that close to the ground tie these to
    constants. Their rows hold positions, phi = 0; velocities and accelerations are the derivatives of phi, also where
    `Loop.sliding` is False, which makes a difference where a loop leaves translations free. q (nq): a configuration in
    which the loops are closed; default: assembled from the neutral one. plane: True for two coordinates per point, for
    mechanisms that move in a plane; "auto" where they do. points, vectors: further ones, {name: (frame, coordinates in
    it)}; a body takes them before others if it lacks elements.

    Every joint but `Helical`, `CustomJoint` and those of a user's class; a `MultiDof` is split into massless bodies.
    Redundant conditions remain, see `NaturalCoordinates.rank`. ValueError for loops that are not closed at q, joints
    that it cannot take, and lengths that are expressions. Cost: milliseconds per body, once.

    >>> natural = od.formulations.natural(rod)
    >>> natural.names, natural.n
    (('u1.x', 'u1.z'), 2)
    """
    tree = split_joints(model, (MultiDof,))
    _check_joints(tree)
    closures = _loops(loops)
    wanted = _wanted(tree, points, vectors)
    q0 = _assembled(model, closures, q)
    size = _size(tree, closures, wanted)
    X0 = [numbers_of(X) for X in body_transforms(tree, DM(q0))]
    _check_finite(tree, X0, q0)
    for loop in closures:
        check_closed(tree, loop, X0, size)
    normal = plane_of_motion(tree, closures, X0, plane)
    axes = np.eye(3) if normal is None else plane_axes(normal)
    neutral = body_transforms(tree, DM(tree.neutral()))
    frames = [np.eye(3) if normal is None else numbers_of(X)[0] @ axes for X in neutral]
    links = [*joint_links(tree), *(link_of_loop(tree, loop, X0, normal) for loop in closures)]
    groups = Groups(tree.nb + 1, axes.shape[1])
    for link in filter(parallel, links):
        join_groups(groups, link, frames)
    sharing = Sharing(Elements(groups, size), frames)
    _add_wanted(sharing, wanted)
    for link in links:
        sharing.add(link)
    choice = ElementChoice(sharing.elements, axes.shape[1])
    for body in range(tree.nb + 1):
        choice.body(body)
    return assembled(tree, sharing, choice, axes, q0)


# Checks


def _check_joints(tree: Model) -> None:
    for i, _ in tree.edges:
        name, joint, X = tree.joint_names[i - 1], tree.joints[i], tree.X_tree[i]
        if type(joint) not in SUPPORTED:
            raise ValueError(
                f"joint {name}: natural coordinates take no {type(joint).__name__}, its motion is no polynomial of "
                f"points and vectors; they take {names_in_message([kind.__name__ for kind in SUPPORTED])}, MultiDof. "
                "Use Formulation B (velocity transformations), which takes every joint"
            )
        if not of_numbers(X):
            raise ValueError(
                f"joint {name}: its position is an expression, but natural coordinates hold numbers for lengths: make "
                "them from a model of numbers"
            )


def _loops(loops: Any) -> list[Loop]:
    found = [loops] if isinstance(loops, Loop) else sequence(loops, "loops must be od.Loop's")
    for loop in found:
        if not isinstance(loop, Loop):
            raise TypeError(
                f"loops must be od.Loop's, got {repr_in_message(loop)}: natural coordinates hold joints and closed "
                "loops; other constraints need Formulation B or constrained_dynamics"
            )
    return found


def _assembled(model: Model, loops: Sequence[Loop], q: Any) -> Array:
    """q as numbers, or the configuration nearest to the neutral one in which the loops are closed."""
    if q is not None:
        return np.array(column_of_numbers(q, model.nq, "q", model.q_names).full()).ravel()
    if not loops:
        return model.neutral()
    try:
        return assemble_q(model, tuple(loops), model.neutral())
    except AssemblyError as error:
        raise ValueError(
            f"loops {names_in_message([loop.name for loop in loops])} cannot be closed from model.neutral(), the "
            f"largest error is {error.error:.3g}: give a closed configuration, q=od.assemble_q(model, loops, q_near_it)"
        ) from error


def _check_finite(tree: Model, X0: Poses, q: Array) -> None:
    for name, (E, r) in zip(tree.body_names, X0[1:], strict=True):
        if not (np.all(np.isfinite(E)) and np.all(np.isfinite(r))):
            raise ValueError(f"q: body {name} has no pose at q = {repr_in_message(q)}: a quaternion must not be zero")


def _size(tree: Model, loops: Sequence[Loop], wanted: Sequence[_Wanted]) -> float:
    """The largest length between joints, ends of loops and points of the user; 1 m if there is none."""
    found = [numbers_of(X)[1] for X in tree.X_tree] + [point.r for point in wanted if point.is_point]
    found += [r for loop in loops for _, r, _ in ends_of(tree, loop)]
    return max((float(np.linalg.norm(r)) for r in found), default=0.0) or 1.0


# Elements that the user asked for


class _Wanted(NamedTuple):
    """A point, or a direction, of a body: coordinates r (3) in it."""

    name: str
    is_point: bool
    body: int
    r: Array


def _wanted(tree: Model, points: Any, vectors: Any) -> list[_Wanted]:
    """The points and vectors that the user asked for, checked."""
    found: list[_Wanted] = []
    for what, given in (("points", points), ("vectors", vectors)):
        if not isinstance(given, Mapping | None):
            raise TypeError(f"{what} must be {{name: (frame, three numbers)}}, got {repr_in_message(given)}")
        for name, value in (given or {}).items():
            if not isinstance(name, str) or not name or not isinstance(value, (tuple, list)) or len(value) != 2:
                raise TypeError(
                    f"{what} must be {{name: (frame, three numbers)}}, got {repr_in_message({name: value})}"
                )
            if any(other.name == name for other in found):
                raise ValueError(
                    f"{repr_in_message(name)} is the name of a point and of a vector: give them different names"
                )
            frame, r = resolve(tree, value[0]), finite_vector(value[1], 3, f"{what}: {repr_in_message(name)}")
            is_point = what == "points"
            at = point_in_body(frame.X, r) if is_point else numbers_of(frame.X)[0].T @ r
            found.append(_Wanted(name, is_point, frame.body, at))
    return found


def _add_wanted(sharing: Sharing, wanted: Sequence[_Wanted]) -> None:
    """Adds the points and vectors that the user asked for, in the plane their components along it."""
    for name, is_point, body, r in wanted:
        at = sharing.frames[body].T @ r
        if is_point:
            element = sharing.elements.point([(body, at)], WANTED, name)
        elif np.linalg.norm(at) > 0.5 * np.linalg.norm(r):
            element = sharing.elements.vector([(body, at / np.linalg.norm(at))], WANTED, name)
        else:
            raise ValueError(
                f"vectors: {repr_in_message(name)} must be a direction along which the mechanism moves, got {r}"
            )
        if element.name != name:
            raise ValueError(
                f"{repr_in_message(name)} and {repr_in_message(element.name)} are the same: leave out one of them"
            )
