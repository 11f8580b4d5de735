"""`pinocchio.Model` -> Model: joints, inertias, frames, limits, losses, reference configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..._base.types import Array, ModelError, repr_in_message
from ...joints import (
    Euler,
    FloatingBase,
    FunctionJoint,
    Helical,
    Joint,
    JointAxis,
    LinearFunction,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from ...mechanism import FileJoint, Model
from ...mechanism.annotations import Annotations
from ...mechanism.builder import WORLD, ModelBuilder
from ..layouts import Layout

IDENTITY = LinearFunction((1.0,), 0.0)
UNIVERSE = "universe"


class Link(NamedTuple):
    """A joint of ours: one of theirs, or one part of a composite joint, at (R, p) in the body before it."""

    name: str
    joint: Joint
    R: Array
    p: Array
    unbounded: bool
    q: int
    """The first of its entries in their q."""
    v: int
    last: bool


def is_pinocchio(model: object) -> bool:
    """Whether an object is a `pinocchio.Model`."""
    return type(model).__name__ == "Model" and type(model).__module__.split(".")[0].startswith("pinocchio")


def from_pinocchio(model: Any) -> Model:
    """The model of a `pinocchio.Model` in memory, with the same joints, in the same order, and the same dynamics.

    Revolute, prismatic, helical, universal, planar, spherical, translation, free-flyer, ellipsoid joints and composites
    of them are read; joints that mimic others are not: build the model with mimic=False. Bodies have the names of
    Pinocchio's body frames at their joints, else of their joints; all other frames but those of joints are frames.
    Limits, armature, damping and friction are those of the dofs, and count with `od.Loads(passive=True,
    armature=True)`; Pinocchio's algorithms have the armature always. Reference configurations are
    `model.configurations`. `od.Layout(model, "pinocchio", joints=model.joint_names)` converts q, qd and tau.

    TypeError for anything else, ModelError for a joint that is not read, or a model that no tree here can be.

    >>> od.io.from_pinocchio("robot.urdf")
    Traceback (most recent call last):
    ...
    TypeError: from_pinocchio needs a pinocchio.Model, got 'robot.urdf'; od.load reads files
    """
    if not is_pinocchio(model):
        raise TypeError(f"from_pinocchio needs a pinocchio.Model, got {repr_in_message(model)}; od.load reads files")
    builder = ModelBuilder(model.name, np.array(model.gravity.linear))
    names = _body_names(model)
    links: list[Link] = []
    for k in range(1, model.njoints):
        parent = names[model.parents[k]]
        for link in _links(model, k):
            body = names[k] if link.last else f"{names[k]}#{len(links)}"
            I = model.inertias[k]
            own = {"mass": I.mass, "com": np.array(I.lever), "inertia": np.array(I.inertia)} if link.last else {}
            builder.add_body(
                body, link.joint, parent, joint_name=link.name, origin=link.p, rotation=link.R, inertia_check=False,
                **own, **_dofs(model, link),
            )  # fmt: skip
            links.append(link)
            parent = body
    for frame in model.frames:
        if frame.name not in (*names, UNIVERSE) and "JOINT" not in str(frame.type).replace("FIXED_JOINT", ""):
            at = frame.placement
            builder.add_frame(frame.name, names[frame.parentJoint], np.array(at.translation), np.array(at.rotation))
    notes = tuple(FileJoint(link.name, continuous=True) for link in links if link.unbounded)
    built = replace(builder.build(), file_joints=notes)
    layout = Layout(built, "pinocchio", joints=tuple(link.name for link in links))
    rows = {
        entry.key(): tuple(np.array(layout.from_q(np.array(entry.data()))).ravel())
        for entry in model.referenceConfigurations
    }
    return replace(built, annotations=Annotations(configurations=tuple(rows.items())))


def _body_names(model: Any) -> list[str]:
    """The name of our body at every joint, theirs of the universe first."""
    found = [WORLD, *model.names[1:]]
    taken = set()
    for frame in model.frames:
        k, at = frame.parentJoint, frame.placement
        if k and k not in taken and str(frame.type) == "BODY" and at.isIdentity(1e-14):
            found[k] = frame.name
            taken.add(k)
    return found


def _links(model: Any, k: int) -> Iterator[Link]:
    """Our joints for joint k of theirs."""
    joint, place = model.joints[k], model.jointPlacements[k]
    R, p, name = np.array(place.rotation), np.array(place.translation), str(model.names[k])
    if not joint.shortname().startswith("JointModelComposite"):
        yield Link(name, _joint(joint, name), R, p, _unbounded(joint), joint.idx_q, joint.idx_v, True)
        return
    whole = joint.extract() if hasattr(joint, "extract") else joint
    count, q, v = len(whole.joints), joint.idx_q, joint.idx_v
    for n, (part, at) in enumerate(zip(whole.joints, whole.jointPlacements, strict=True)):
        if n:
            R, p = np.eye(3), np.zeros(3)
        R, p = R @ np.array(at.rotation), p + R @ np.array(at.translation)
        own = name if n == count - 1 else f"{name}#{n}"
        yield Link(own, _joint(part, own), R, p, _unbounded(part), q, v, n == count - 1)
        q, v = q + part.nq, v + part.nv


def _unbounded(joint: Any) -> bool:
    return bool(joint.nv == 1 and joint.nq == 2)


def _joint(joint: Any, name: str) -> Joint:
    """Our joint of one of theirs, by its name and its motion subspace (theirs has linear parts first)."""
    kind = joint.shortname().removeprefix("JointModel").removesuffix("Unaligned")
    fixed: dict[str, Callable[[], Joint]] = {
        "FreeFlyer": FloatingBase, "Spherical": Spherical, "Translation": Translation, "Planar": Planar,
        "SphericalZYX": lambda: Euler("zyx"),
    }  # fmt: skip
    if kind in fixed:
        return fixed[kind]()
    if joint.nv == 1 and kind[0] in "RPH":
        linear, angular = np.split(_subspace(joint), 2)
        if kind[0] == "P":
            return Prismatic(linear.ravel())
        if kind[0] == "R":
            return Revolute(angular.ravel())
        return Helical(np.concatenate([angular.ravel(), linear.ravel()]))
    if kind == "Universal":
        own = joint.extract() if hasattr(joint, "extract") else joint
        return Universal(np.array(own.axis1), np.array(own.axis2))
    if kind == "Ellipsoid":
        own = joint.extract() if hasattr(joint, "extract") else joint
        radii = np.array([own.radius_x, own.radius_y, own.radius_z])
        axes = [JointAxis(letter, IDENTITY, (n,)) for n, letter in enumerate("xyz")]
        return FunctionJoint(axes, [], ("rx", "ry", "rz"), radii)
    remedy = "build it with mimic=False" if kind == "Mimic" else "replace it by joints of other kinds"
    raise ModelError(f"joint {repr_in_message(name)}: Pinocchio's {joint.shortname()} is not read; {remedy}")


def _subspace(joint: Any) -> Array:
    """S (6 x 1) of a joint of one dof, linear part first."""
    data = joint.createData()
    q = np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(1)
    at = np.zeros(joint.idx_q + joint.nq)
    at[joint.idx_q :] = q
    joint.calc(data, at)
    return np.array(data.S).reshape(6, 1)


def _dofs(model: Any, link: Link) -> dict[str, Any]:
    """Limits and losses of the dofs of a joint; quaternions and circles have no limits of positions."""
    q, v, joint = slice(link.q, link.q + link.joint.nq), slice(link.v, link.v + link.joint.nv), link.joint
    found: dict[str, Any] = {}
    lower, upper = (_limit(np.array(x)[q]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
    free = np.full(joint.nq, link.unbounded)
    if joint.has_quaternion:
        free[-4:] = True
    if isinstance(joint, Planar):
        free[2] = True
    found["lower"], found["upper"] = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
    found["velocity"] = _limit(np.array(getattr(model, "upperVelocityLimit", model.velocityLimit))[v])
    high = np.array(getattr(model, "upperEffortLimit", model.effortLimit))[v]
    low = np.array(model.lowerEffortLimit)[v] if hasattr(model, "lowerEffortLimit") else -high
    found["effort"] = [(min(a, 0.0), max(b, 0.0)) for a, b in zip(_limit(low), _limit(high), strict=True)]
    friction = getattr(model, "upperDryFrictionLimit", None)
    found["friction"] = np.array(model.friction if friction is None else friction)[v]
    found["damping"], found["armature"] = np.array(model.damping)[v], np.array(model.armature)[v]
    return found


def _limit(values: Array) -> Array:
    """Limits, where Pinocchio has its largest numbers for none."""
    return np.where(np.abs(values) > 1e100, np.copysign(np.inf, values), values)
