"""`Model` -> OpenSim: bodies, joints, coordinates, couplers, markers."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any
from xml.etree import ElementTree

import numpy as np
from casadi import DM

from ..._base.files import path_of, whole_file
from ..._base.types import Array, ModelError, is_one_of, repr_in_message, sequence, suggestion
from ...constraints import CoordinateCoupling
from ...joints import (
    ConstantFunction,
    FunctionJoint,
    Joint,
    JointAxis,
    LinearFunction,
    NaturalSpline,
    PolynomialFunction,
    Prismatic,
    Revolute,
    ScalarFunction,
    ScaledFunction,
    SineFunction,
)
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from .constraints import across
from .reader import DEFAULT, TO_Z_UP

Element = ElementTree.Element
VERSION = "40000"
UNBOUNDED = 99999.9
"""The end of a range that OpenSim writes for none."""
DROPS = {
    "muscles": "muscles and wrap objects", "constraints": "constraints other than couplings of coordinates",
    "passive": "passive torques", "springs": "springs and damping", "armature": "inertias of rotors",
    "effort": "limits of efforts and speeds",
}  # fmt: skip
"""Words of the option `drop`: parts of a model that are not written."""
IDENTITY = LinearFunction((1.0,), 0.0)


def write_osim(model: Model, path: str | PathLike[str], *, drop: str | Sequence[str] = ()) -> None:
    """Writes a model as .osim of OpenSim 4: read again by `load_osim`, it has the same dynamics and markers.

    Every joint becomes a CustomJoint, whose axes and functions are those of the joint; the ground is turned so that y
    is up. Entries of q come back in OpenSim's order, rotations before translations, and with their names.

    ModelError for joints that turn by quaternions or screws, for names with blanks or slashes, and for what is not
    written unless `drop` names it: muscles, constraints, passive, springs, armature, effort. Frames other than those of
    bodies are left out; markers in them move to their bodies. The file appears complete or not at all; OSError if it
    cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.io.write_osim(arm, f"{folder}/arm.osim")
    ...     od.load(f"{folder}/arm.osim")
    <Model 'pendulum_2': nb=2, nq=2, nv=2>
    """
    target = path_of(path)
    text = osim_text(model, drop=drop)
    with whole_file(target) as file:
        file.write_text(text, encoding="utf-8")


@checks_arguments()
def osim_text(model: Model, *, drop: str | Sequence[str] = ()) -> str:
    """The text that `write_osim` writes.

    >>> od.io.osim_text(rod)[:40]
    '<?xml version="1.0" encoding="UTF-8"?>\\n<'
    """
    if model.has_symbols:
        raise ModelError("write_osim: the model holds symbols; write the model whose values are numbers")
    _check_losses(model, drop)
    root = ElementTree.Element("OpenSimDocument", Version=VERSION)
    top = ElementTree.SubElement(root, "Model", name=model.name or "model")
    _text(top, "gravity", TO_Z_UP.T @ np.array(model.gravity))
    bodies, joints = (_objects(top, tag) for tag in ("BodySet", "JointSet"))
    for i, _ in model.edges:
        _body(bodies, model, i)
        _joint(joints, model, i)
    couplers = _objects(top, "ConstraintSet")
    for one in model.constraints:
        if isinstance(one, CoordinateCoupling):
            _coupler(couplers, one)
    markers = _objects(top, "MarkerSet")
    for marker in model.markers:
        frame = model.frame(marker.body)
        R, p = _pose(frame.X)
        place = p + R @ np.array(marker.point)
        made = ElementTree.SubElement(markers, "Marker", name=_name(marker.name, "marker"))
        _text(made, "socket_parent_frame", _path(model, frame.body))
        _text(made, "location", place if frame.body else TO_Z_UP.T @ place)
        _text(made, "fixed", str(marker.fixed).lower())
    ElementTree.indent(root, "\t")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _check_losses(model: Model, drop: Any) -> None:
    words = tuple(sequence((drop,) if isinstance(drop, str) else drop, "write_osim: drop must be a tuple of words"))
    for word in words:
        if not is_one_of(word, DROPS):
            raise ValueError(
                f"write_osim: drop must hold some of {', '.join(DROPS)}, got {repr_in_message(word)}"
                f"{suggestion(word, DROPS)}"
            )
    dofs = model.dofs
    lost = {
        "muscles": bool(model.muscles or model.wraps),
        "constraints": any(not isinstance(one, CoordinateCoupling) for one in model.constraints) or bool(model.mimics),
        "passive": bool(model.passive or model.bushings),
        "springs": bool(np.any(dofs.stiffness) or np.any(dofs.damping) or np.any(dofs.friction)),
        "armature": bool(np.any(dofs.armature)),
        "effort": bool(np.any(np.isfinite(dofs.effort)) or np.any(np.isfinite(dofs.qd_max))),
    }
    missing = [word for word, there in lost.items() if there and word not in words]
    if missing:
        asked = ", ".join(map(repr, dict.fromkeys((*words, *missing))))
        raise ModelError(
            f"write_osim: {' and '.join(DROPS[word] for word in missing)} are not written. To write the model without "
            f"them: drop=({asked},)"
        )


def _name(name: str, what: str) -> str:
    if any(c.isspace() or c in '/"<>' for c in name):
        raise ModelError(f"write_osim: {what} {repr_in_message(name)}: OpenSim takes no blanks and slashes in names")
    return name


def _objects(parent: Element, tag: str) -> Element:
    return ElementTree.SubElement(ElementTree.SubElement(parent, tag), "objects")


def _text(parent: Element, tag: str, value: Any) -> None:
    words = value if isinstance(value, str) else " ".join(repr(float(x)) for x in np.ravel(value))
    ElementTree.SubElement(parent, tag).text = words


def _path(model: Model, i: int) -> str:
    return f"/bodyset/{_name(model.body_names[i - 1], 'body')}" if i else "/ground"


def _pose(X: Any) -> tuple[Array, Array]:
    return np.array(DM(X.E).full()).T, np.array(DM(X.r).full()).ravel()


def _body(parent: Element, model: Model, i: int) -> None:
    body = model.I[i]
    c, I = body.central()
    J = np.array(DM(I).full())
    made = ElementTree.SubElement(parent, "Body", name=_name(model.body_names[i - 1], "body"))
    _text(made, "mass", float(body.m))
    _text(made, "mass_center", c.full())
    _text(made, "inertia", [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def angles_xyz(R: Array) -> Array:
    """Body-fixed angles x, y, z of a rotation R = Rx Ry Rz [rad]; the first is zero where the middle one is upright."""
    cosine = float(np.hypot(R[0, 0], R[0, 1]))
    middle = np.arctan2(R[0, 2], cosine)
    if cosine < 1e-12:
        return np.array([0.0, middle, np.arctan2(R[1, 0], R[1, 1])])
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), middle, np.arctan2(-R[0, 1], R[0, 0])])


def _joint(parent: Element, model: Model, i: int) -> None:
    joint, p = model.joints[i], model.parent[i]
    name = _name(model.joint_names[i - 1], "joint")
    turns, slides, pose, reverse = _axes(joint, name)
    R, r = _pose(model.X_tree[i])
    if not p:
        R, r = TO_Z_UP.T @ R, TO_Z_UP.T @ r
    made = ElementTree.SubElement(parent, "CustomJoint", name=name)
    outer, inner = (f"{name}_parent_offset", f"{name}_child_offset")[:: -1 if reverse else 1]
    _text(made, "socket_parent_frame", outer)
    _text(made, "socket_child_frame", inner)
    coordinates = ElementTree.SubElement(made, "coordinates")
    part = slice(model.q_index[i], model.q_index[i + 1])
    names = [_name(one, "coordinate") for one in model.q_names[part]]
    default = model.configurations.get(DEFAULT, model.neutral())[part]
    limits = (np.clip(x, -UNBOUNDED, UNBOUNDED) for x in (model.dofs.q_lower[part], model.dofs.q_upper[part]))
    for one, value, lower, upper in zip(names, default, *limits, strict=True):
        coordinate = ElementTree.SubElement(coordinates, "Coordinate", name=one)
        _text(coordinate, "default_value", value)
        _text(coordinate, "range", (lower, upper))
    frames = ElementTree.SubElement(made, "frames")
    placed = ((f"{name}_parent_offset", _path(model, p), R, r), (f"{name}_child_offset", _path(model, i), *pose))
    for frame, base, R_, p_ in placed:
        offset = ElementTree.SubElement(frames, "PhysicalOffsetFrame", name=frame)
        _text(offset, "socket_parent", base)
        _text(offset, "translation", p_)
        _text(offset, "orientation", angles_xyz(R_))
    transform = ElementTree.SubElement(made, "SpatialTransform")
    for kind, axes in (("rotation", _filled(turns)), ("translation", _filled(slides))):
        for k, axis in enumerate(axes, 1):
            row = ElementTree.SubElement(transform, "TransformAxis", name=f"{kind}{k}")
            _text(row, "coordinates", " ".join(names[c] for c in axis.coordinates))
            _text(row, "axis", axis.vector)
            _function(ElementTree.SubElement(row, "function"), axis.function, name)


def _axes(joint: Joint, name: str) -> tuple[list[JointAxis], list[JointAxis], tuple[Array, Array], bool]:
    """Rotations, translations, the pose of the moved frame in the body, and whether the joint is reversed."""
    if isinstance(joint, FunctionJoint) and not any(joint.radii) and len(joint.translations) <= 3:
        R, p = joint.pose
        pose = np.reshape(R, (3, 3)), np.array(p)
        return list(joint.rotations), list(joint.translations), pose, joint.reverse
    try:
        links = () if isinstance(joint, FunctionJoint) else joint.chain()
    except ValueError:
        links = ()
    kinds = [type(link) for link in links]
    slides = kinds.count(Prismatic)
    plain = kinds == [Prismatic] * slides + [Revolute] * (len(kinds) - slides)
    if not kinds or not plain or slides > 3 or len(kinds) - slides > 3:
        raise ModelError(
            f"write_osim: joint {repr_in_message(name)}: OpenSim's CustomJoint does not move as "
            f"{repr_in_message(joint)} does; replace it by one of angles and lengths, as Euler angles or several joints"
        )
    axes = [JointAxis(link.axis, IDENTITY, (k,)) for k, link in enumerate(links)]  # type: ignore[attr-defined]
    return axes[slides:], axes[:slides], (np.eye(3), np.zeros(3)), False


def _filled(axes: list[JointAxis]) -> list[JointAxis]:
    """Three axes: those given, and others across them that do not move; OpenSim wants no two along one line."""
    found = list(axes)
    while len(found) < 3:
        own = [np.array(axis.vector) for axis in found]
        normal = np.cross(own[0], own[1]) if len(own) > 1 else np.zeros(3)
        if np.linalg.norm(normal) < 1e-6:
            normal = np.array(across(own[0])[0]) if own else np.array([1.0, 0.0, 0.0])
        found.append(JointAxis(tuple(normal), ConstantFunction(0.0), ()))
    return found


def _function(parent: Element, function: ScalarFunction, name: str) -> None:
    kind = type(function).__name__
    tags = {
        "ConstantFunction": "Constant", "PiecewiseLinearFunction": "PiecewiseLinearFunction", "SineFunction": "Sine",
        "ScaledFunction": "MultiplierFunction", "LinearFunction": "LinearFunction", "SimmSpline": "SimmSpline",
        "NaturalSpline": "GCVSpline",
        "PolynomialFunction": "PolynomialFunction",
    }  # fmt: skip
    if kind not in tags:
        raise ModelError(f"write_osim: {repr_in_message(name)}: OpenSim has no function {kind}; use a SimmSpline")
    made = ElementTree.SubElement(parent, tags[kind])
    if isinstance(function, ConstantFunction):
        _text(made, "value", function.value)
    elif isinstance(function, LinearFunction):
        _text(made, "coefficients", (*np.ravel(function.slopes), function.intercept))
    elif isinstance(function, PolynomialFunction):
        _text(made, "coefficients", function.coefficients)
    elif isinstance(function, SineFunction):
        for tag in ("amplitude", "omega", "phase", "offset"):
            _text(made, tag, getattr(function, tag))
    elif isinstance(function, ScaledFunction):
        _function(ElementTree.SubElement(made, "function"), function.function, name)
        _text(made, "scale", function.scale)
    else:
        if isinstance(function, NaturalSpline):
            _text(made, "half_order", (function.degree + 1) // 2)
            _text(made, "error_variance", 0.0)
            _text(made, "weights", (1.0,) * len(function.x))
        _text(made, "x", function.x)  # type: ignore[attr-defined]
        _text(made, "y", function.y)  # type: ignore[attr-defined]


def _coupler(parent: Element, one: CoordinateCoupling) -> None:
    name = _name(one.name.replace(" ", ""), "coupler")
    made = ElementTree.SubElement(parent, "CoordinateCouplerConstraint", name=name)
    _function(ElementTree.SubElement(made, "coupled_coordinates_function"), one.function, one.name)
    _text(made, "independent_coordinate_names", " ".join(one.others))
    _text(made, "dependent_coordinate_name", one.coordinate)
    _text(made, "scale_factor", one.scale)
