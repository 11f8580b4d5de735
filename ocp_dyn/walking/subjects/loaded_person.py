"""A person from the musculoskeletal model of a subject: root, sides, feet, strengths and ranges by names and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from casadi import DM

from ..._base.checks import is_pair, within
from ..._base.types import Array, ModelError, names_in_message, repr_in_message
from ...constraints import CoordinateCoupling
from ...dynamics.kinematics import point_position, pose
from ...joints import FloatingBase
from ...mechanism import Model, PathPoint
from ...models import HumanDimensions, human_dimensions
from ...symmetry.twin import facing_forward, symmetric_twin
from ..alterations import Joints, Sex, is_symmetric, locked_at
from ..person import Person
from ..robots import check_gravity, check_sides, locked_at_rest, massless_joints, moves_in_plane
from .limbs import equipped, part_of

ASYMMETRY = 0.2
"""Difference between the sides [m, kg per kg] up to which a subject gets a symmetric twin."""

STATURES = (1.0, 2.4)
"""Stature [m] of people; beyond it the lengths of a model are no meters."""

FEET = ("calcn", "calcaneus", "foot", "talus", "sole")
"""Words in the names of the frames of feet, the best first."""

ROOT, LEG = 6, 4
"""Dofs of a root in space; joints from the root to a foot that walks: root, hip, knee, ankle."""

SHORTEST = 0.1
"""Length [m] below which markers show no sole."""


def loaded_person(
    model: Model,
    *,
    feet: Sequence[str] | None = None,
    height: float | None = None,
    sex: Sex = "male",
    locked: Joints = (),
) -> Person:
    """A person who walks, from a model of a subject as `od.load` reads it from OpenSim's files.

    The body stands upright with level feet when all coordinates are zero. It gets a floating root, unless it moves in
    the x-z plane, looks along x, and its left and right sides become mirror images. Joints are recognized by words in
    their names: hip, knee, ankle, subtalar, back or lumbar, shoulder or acromial, elbow. All other joints hold still at
    zero, toes and wrists among them, but for those that a `CoordinateCoupling` drives, such as the patella: they
    follow, without a motor.

    feet: names of the frames of the left and the right foot, by default those with calcn, foot or talus in their names;
    left and right end in _l and _r, or begin with l_ and r_. A sole reaches from the rearmost to the foremost marker or
    muscle point on foot and toes, at the height of the lowest. height [m]: stature; by default it follows from the
    length of the legs. sex: for strengths and the breadth of the foot. locked: more joints that hold still, by name or
    with their positions.

    Torque limits are those of the model, and where it has none those of people of this mass and stature (`od.models`).
    Ranges of coordinates are those of the model as far as people reach.

    `ModelError` for a root that leaves the body free neither in space nor in the x-z plane, for a body without two
    legs, and for feet without a sole.

    >>> loaded = od.walking.loaded_person(od.models.human(80.0, 1.8))
    >>> round(loaded.size.height, 2), loaded.mirrored
    (1.8, True)
    """
    body = _free(model)
    left, right = _feet(body, feet)
    body = facing_forward(body, left, right, up=_upward(body, left, right))
    check_gravity(body)
    body, dependent = _held(body)
    body = _twin(body)
    soles = _soles(body, (left, right))
    size = _size(body, (left, right), soles, height, sex)
    body = _with_frames(body, (left, right), soles)
    body = locked_at(equipped(body, size, dependent), locked)
    loops = tuple(one for one in body.constraints if isinstance(one, CoordinateCoupling))
    dependent = tuple(name for name in dependent if name in body.joint_names)
    return Person(body, body, size, is_symmetric(body), loops=loops, passive=dependent)


def _free(model: Any) -> Model:
    """The model on a floating base with a quaternion; ModelError for a body that moves in a plane only."""
    if not isinstance(model, Model):
        raise TypeError(f"loaded_person needs a Model, such as od.load('subject.osim'), got {repr_in_message(model)}")
    if not model.floating_joints:
        raise ModelError(
            f"model {model.name!r} has no root that floats in space: a body that walks must leave the ground"
        )
    if model.joints[1].nv < ROOT:
        if moves_in_plane(model, model.body_names):
            return model
        names = model.q_names[: model.joints[1].nq]
        raise ModelError(
            f"model {model.name!r}: its root {model.joint_names[0]!r} has the {len(names)} coordinates "
            f"{names_in_message(names)}, which is neither a root with six nor one of a body that moves in the x-z "
            "plane, with z up: change the root in the file, or model.with_root(od.FloatingBase())"
        )
    if model.q_slice(model.joint_names[0]) == slice(0, 7):
        return model
    return model.with_root(FloatingBase())


def _feet(model: Model, feet: Sequence[str] | None) -> tuple[str, str]:
    """Frames of the left and the right foot."""
    if feet is not None:
        if not is_pair(feet) or not all(isinstance(name, str) for name in feet):
            raise ValueError(f"feet must be two names, (left, right), got {repr_in_message(feet)}")
        left, right = feet
        model.frame(left), model.frame(right)
        check_sides(left, right)
        return left, right
    for word in FEET:
        found = [[n for n in model.frame_names if word in n.lower() and side_of(n) == side] for side in "lr"]
        if all(found):
            return found[0][0], found[1][0]
    raise ModelError(
        f"model {model.name!r} has no frames of a left and a right foot with {', '.join(FEET)} in their names: name "
        f"them, feet=(left, right); its frames are {names_in_message(model.frame_names)}"
    )


def side_of(name: str) -> str | None:
    """ "l" or "r" by the end or the beginning of a name; None without one."""
    low = name.lower()
    for side, word in (("l", "left"), ("r", "right")):
        if word in low or low.endswith((f"_{side}", f".{side}")) or low.startswith((f"{side}_", f"{side}.")):
            return side
    return None


def _upward(model: Model, left: str, right: str) -> str:
    """The axis of the base that points from the feet to the hips when all coordinates are zero."""
    q = DM(model.neutral())
    up = np.zeros(3)
    for foot in (left, right):
        path = model.path(model.frame(foot).body)
        if len(path) < LEG:
            raise ModelError(
                f"model {model.name!r}: foot {foot!r} hangs on {len(path) - 1} joints, and a leg that walks has at "
                f"least {LEG - 1}, hip, knee and ankle: name the feet, feet=(left, right)"
            )
        hip = model.body_names[path[1] - 1]
        up += np.array((point_position(model, hip, q) - point_position(model, foot, q)).full()).ravel()
    axis = int(np.argmax(np.abs(up)))
    if up[axis] <= 0:
        raise ModelError(
            f"model {model.name!r}: with all coordinates at zero its feet lie above its hips along {'xyz'[axis]} of "
            "the base: it must stand upright then"
        )
    return "xyz"[axis]


def _held(model: Model) -> tuple[Model, tuple[str, ...]]:
    """The model without the joints that hold still, and the names of those that follow others."""
    driven = {one.coordinate for one in model.constraints if isinstance(one, CoordinateCoupling)}
    joints = model.joint_names[1:]
    follows = tuple(name for name in joints if {*model.q_names[model.q_slice(name)]} <= driven)
    idle = [name for name in joints if part_of(name) is None and name not in follows]
    still = locked_at_rest(model, dict.fromkeys([*idle, *massless_joints(model)]))
    return still, tuple(name for name in follows if name in still.joint_names)


def _twin(model: Model) -> Model:
    """The symmetric twin; the body itself if its sides differ too much for one, which then walks full strides."""
    try:
        return symmetric_twin(model, ASYMMETRY)
    except ModelError:
        return model


class _Sole(NamedTuple):
    """Rear end, front end, height and side of a sole [m], all coordinates at zero."""

    rear: float
    front: float
    ground: float
    side: float


def _soles(model: Model, feet: tuple[str, str]) -> _Sole:
    """The sole by markers, muscle points and frames on the feet; that of the mean of both."""
    q = DM(model.neutral())
    points: list[tuple[str, Any]] = [(name, (0.0, 0.0, 0.0)) for name in model.frame_names]
    points += [(marker.body, marker.point) for marker in model.markers]
    points += [(p.body, p.point) for muscle in model.muscles for p in muscle.path if isinstance(p, PathPoint)]
    found = []
    for foot, side in zip(feet, (1.0, -1.0), strict=True):
        body = model.frame(foot).body
        at = [_place(model, q, frame, point) for frame, point in points if model.frame(frame).body == body]
        low, high = np.min(at, axis=0), np.max(at, axis=0)
        found.append((low[0], high[0], low[2], side * _place(model, q, foot)[1]))
    sole = _Sole(*np.mean(found, axis=0).tolist())
    if not sole.front - sole.rear > SHORTEST:
        raise ModelError(
            f"model {model.name!r}: the markers and muscle points on {feet[0]!r} and {feet[1]!r} span "
            f"{sole.front - sole.rear:.3g} m from heel to toes, which is no foot: add markers at heel and toes by "
            "model.with_markers, or name other feet"
        )
    return sole


def _place(model: Model, q: DM, frame: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
    """World coordinates (3) of a point [m]."""
    return np.array(DM(point_position(model, frame, q, point)).full()).ravel()


def _joint(model: Model, foot: str, part: str) -> str:
    """The body that a joint of the leg moves; ModelError if the leg has none."""
    for i in model.path(model.frame(foot).body):
        if part_of(model.joint_names[i - 1]) == part:
            return model.body_names[i - 1]
    names = [model.joint_names[i - 1] for i in model.path(model.frame(foot).body)]
    raise ModelError(
        f"model {model.name!r}: no joint between the root and foot {foot!r} has the word {part!r} in its name; they "
        f"are {names_in_message(names)}"
    )


def _size(model: Model, feet: tuple[str, str], sole: _Sole, height: float | None, sex: Sex) -> HumanDimensions:
    """The lengths of the body; those that a model does not show are in proportion to the stature."""
    q, foot = DM(model.neutral()), feet[0]
    hip, knee, ankle = (_place(model, q, _joint(model, foot, part)) for part in ("hip", "knee", "ankle"))
    usual = human_dimensions(height=1.75, sex=sex)
    leg = float(hip[2] - sole.ground)
    stature = usual.height * leg / usual.leg_length if height is None else height
    within(stature, *STATURES, "height, which follows from the length of the legs if it is not given, must be that of "
           f"a person: between {STATURES[0]:g} and {STATURES[1]:g} m")  # fmt: skip
    return replace(
        human_dimensions(stature, sex), thigh=float(hip[2] - knee[2]), shank=float(knee[2] - ankle[2]),
        ankle_height=float(ankle[2] - sole.ground), foot_length=sole.front - sole.rear,
        heel=float(ankle[0]) - sole.rear, toe=sole.front - float(ankle[0]),
    )  # fmt: skip


def _with_frames(model: Model, feet: tuple[str, str], sole: _Sole) -> Model:
    """The model with the frames of feet and shanks that a person has, along the world's axes."""
    q = DM(model.neutral())
    middle = (sole.rear + sole.front) / 2
    for foot, side, s in zip(feet, "lr", (1.0, -1.0), strict=True):
        shank = _joint(model, foot, "knee")
        places = {
            "heel": (foot, np.array([sole.rear, s * sole.side, sole.ground])),
            "sole": (foot, np.array([middle, s * sole.side, sole.ground])),
            "shank": (shank, _place(model, q, shank)),
        }
        for name, (to, at) in places.items():
            if f"{name}_{side}" not in model.frame_names:
                R, p = (np.array(DM(x).full()) for x in pose(model, to, q))
                model = model.with_frame(f"{name}_{side}", to, origin=R.T @ (at - p.ravel()), rotation=R.T)
    return model
