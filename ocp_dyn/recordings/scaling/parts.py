"""Joints, constraints, markers, paths of muscles and wrap objects of a model whose bodies are stretched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, repr_in_message
from ...constraints import CoordinateCoupling, JointCoupling, LockedJoint, Loop, PointDistance
from ...joints import ConstantFunction, FunctionJoint, Helical, Joint, JointAxis, LinearFunction
from ...mechanism import BodySpring, Frame, Marker, Model, MovingPathPoint, Muscle, WrapObject
from ...mechanism.parts import WORLD
from .stretches import Stretches, rotation

IDENTITY = LinearFunction()


def stretched_joint(joint: Joint, R: Array, outer: Array, inner: Array) -> Joint:
    """A joint between two bodies that are stretched; R: its axes in those of the parent.

    Translations by functions of the coordinates are displacements of the side on which the joint is fixed, and are
    stretched with it; those that are coordinates themselves are not, nor are angles. The place of the joint in its body
    is stretched with the body.
    """
    if isinstance(joint, Helical):
        t = R.T @ outer @ R @ np.array(joint.axis[3:])
        return Helical((*joint.axis[:3], *t))
    if not isinstance(joint, FunctionJoint):
        return joint
    pose_R, pose_p = np.reshape(joint.pose[0], (3, 3)), np.array(joint.pose[1])
    S = pose_R.T @ inner @ pose_R if joint.reverse else R.T @ outer @ R
    radii = tuple(float(r * np.linalg.norm(S[:, k])) for k, r in enumerate(joint.radii))
    translations = tuple(_stretched_axis(axis, S) for axis in joint.translations)
    return replace(joint, translations=translations, radii=radii, pose=(joint.pose[0], tuple(inner @ pose_p)))


def _stretched_axis(axis: JointAxis, S: Array) -> JointAxis:
    if axis.function == IDENTITY:
        return axis
    along = S @ np.array(axis.vector)
    size = float(np.linalg.norm(along))
    return replace(axis, axis=tuple(along / size), function=axis.function.times(size))


def coordinate_factors(model: Model, stretches: Stretches) -> dict[str, float]:
    """By what the displacements grow that entries of q and joints of one dof are; 1 for angles. By the directions in
    which they move their bodies in the neutral configuration, and the maps of their parents."""
    lengths = model.lengths[0]
    found: dict[str, float] = {}
    for i, p in model.edges:
        joint, first = model.joints[i], model.q_index[i]
        neutral = np.array(joint.neutral(), dtype=float).ravel()
        R = rotation(model.X_tree[i])
        for k in range(joint.nq):
            factor = 1.0
            if lengths[first + k]:
                moved = neutral + np.eye(joint.nq)[k]
                there, here = (joint.jcalc(DM(q), DM(joint.nv, 1)).XJ.r for q in (moved, neutral))
                way = R @ np.array(DM(there - here).full()).ravel()
                factor = float(np.linalg.norm(stretches.maps[p] @ way) / np.linalg.norm(way)) if way.any() else 1.0
            found[model.q_names[first + k]] = factor
        if joint.nq == 1:
            found[model.joint_names[i - 1]] = factor
    return found


def stretched_constraint(one: Any, model: Model, stretches: Stretches, factors: dict[str, float]) -> Any:
    """A constraint of a model whose bodies are stretched: points move with their bodies; a coordinate that is a length
    follows others by a function that grows with the length.

    ModelError for constraints of other classes: how they grow is not known.
    """
    if isinstance(one, CoordinateCoupling):
        return replace(one, scale=one.scale * factors[one.coordinate])
    if isinstance(one, JointCoupling):
        return replace(one, ratio=one.ratio * factors[one.joint], offset=one.offset * factors[one.joint])
    if isinstance(one, LockedJoint):
        return one
    if isinstance(one, PointDistance):
        points: Any = {
            key: tuple(stretches.of(frame) @ np.array(getattr(one, key)))
            for key, frame in (("point", one.frame), ("other_point", one.other))
        }
        return replace(one, **points)
    if isinstance(one, Loop):
        ends: Any = {}
        for key in ("predecessor", "successor"):
            frame = getattr(one, key)
            name = frame.name if isinstance(frame, Frame) else frame
            R, p = getattr(one, f"{key}_pose")
            ends |= {key: name, f"{key}_pose": (R, tuple(stretches.of(name) @ np.array(p)))}
        return replace(one, **ends)
    raise ModelError(
        f"scale_segments: how a constraint of the class {type(one).__name__} grows is not known; add it to the "
        f"scaled model, and scale model.with_constraints([], replace_all=True): {repr_in_message(one)}"
    )


def stretched_bushing(spring: BodySpring, stretches: Stretches) -> BodySpring:
    """The spring between the stretched bodies: its frames move with their origins; the ground stays."""
    return spring.placed(
        lambda name, pose: (name, pose if name == WORLD else (pose[0], tuple(stretches.of(name) @ np.array(pose[1]))))
    )


def stretched_marker(marker: Marker, stretches: Stretches) -> Marker:
    return replace(marker, point=tuple(stretches.of(marker.body) @ np.array(marker.point)))


def stretched_muscle(muscle: Muscle, stretches: Stretches) -> Muscle:
    """The muscle with its path on the stretched bodies; its own lengths are those of before."""
    return replace(muscle, path=tuple(_stretched_point(point, stretches) for point in muscle.path))


def _stretched_point(point: Any, stretches: Stretches) -> Any:
    S = stretches.of(point.body)
    if not isinstance(point, MovingPathPoint):
        return replace(point, point=tuple(S @ np.array(point.point)))
    if np.abs(S - np.diag(np.diag(S))).max() > 1e-12:
        raise ModelError(
            f"scale_segments: the moving point {repr_in_message(point.name)} is in a frame that is turned against the "
            f"axes of its body; its places would be functions of several coordinates. Scale the body of "
            f"{repr_in_message(point.body)} by equal factors"
        )
    functions = tuple(
        ConstantFunction(f.value * s) if isinstance(f, ConstantFunction) else f.times(float(s))
        for f, s in zip(point.functions, np.diag(S), strict=True)
    )
    return replace(point, functions=functions)


def stretched_wrap(wrap: WrapObject, stretches: Stretches) -> WrapObject:
    """The wrap object on the stretched body: of the same kind, at its stretched place.

    Sizes along its own axes grow by the lengths of their stretched unit vectors; the radius of a cylinder and those of
    a torus by the mean of two, that of a sphere by the mean of three [OpenSim, WrapObject::extendScale].
    """
    S = stretches.of(wrap.body)
    along = np.linalg.norm(S @ np.reshape(wrap.rotation, (3, 3)), axis=0)
    both = along[:2].mean()
    grow = {
        "cylinder": (both, along[2]),
        "sphere": (along.mean(),),
        "ellipsoid": tuple(along),
        "torus": (both, both),
    }[wrap.kind]
    sizes = tuple(float(a * b) for a, b in zip(wrap.sizes, grow, strict=True))
    return replace(wrap, sizes=sizes, origin=tuple(S @ np.array(wrap.origin)))
