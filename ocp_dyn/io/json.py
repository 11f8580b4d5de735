"""Model <-> JSON, exact: every number, name and sparsity pattern comes back as it was.

The file is one JSON object: "format", "version", "name", "gravity", "bodies" (one entry per moving body, in
body order; "parent" 0 is the ground), "frames" and, where joints follow others, "mimics"; "file_joints" are notes of a URDF. Numbers are written with
the digits that give the same double again, infinite limits as "inf" and "-inf". Nothing in a file is ever run: joints
are named by class.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Mapping
from os import PathLike
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .. import joints as joint_kinds
from .._files import path_of, whole_file
from .._types import ROUNDING, ModelError, shown
from ..joints import CustomJoint, Fixed, Joint
from ..mechanism import DofData, FileJoint, Frame, Mimic, Model
from ..mechanism.boundary import boundary
from ..mechanism.parts import FINITE_FIELDS, NONNEGATIVE_FIELDS, SIZE_NQ, checked_mimics
from ..spatial_algebra.spatial import Inertia, Transform
from ._json_entry import Entry, as_float, as_sparse

FORMAT, VERSION = "ocp_dyn model", 1
KINDS: dict[str, type[Joint]] = {
    name: kind
    for name, kind in sorted(vars(joint_kinds).items())
    if inspect.isclass(kind) and issubclass(kind, Joint) and not inspect.isabstract(kind) and kind is not CustomJoint
}
"""The joints a file may name: those of `ocp_dyn.joints` but for `CustomJoint`, which holds a function."""
DOF_FIELDS = {field.name: "nq" if field.name in SIZE_NQ else "nv" for field in dataclasses.fields(DofData)}
ADDED_FIELDS = ("stiffness", "armature", "rest")
"""Those of DOF_FIELDS that a file may leave out: nothing, and springs that rest at neutral."""


@boundary()
def save_model(model: Model, path: str | PathLike[str]) -> None:
    """Writes `model` as JSON, a body per line; the file appears complete or not at all (see `whole_file`).

    Raises ModelError for a model that JSON cannot hold (see `model_to_dict`), OSError if it cannot be written.
    """
    data = model_to_dict(model)
    parts = []
    for key, value in data.items():
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        if key in ("bodies", "frames"):
            rows = ",\n".join("  " + json.dumps(row, allow_nan=False, ensure_ascii=False) for row in value)
            text = f"[\n{rows}\n ]"
        parts.append(f" {json.dumps(key)}: {text}")
    with whole_file(path) as partial:
        partial.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def load_model(path: str | PathLike[str]) -> Model:
    """The model `save_model` wrote: equal to it bit for bit.

    Raises ModelError, opening with the file's name, for what is not such a file; OSError if it cannot be read.
    """
    named = path_of(path)
    source, raw = str(named), named.read_bytes()
    try:
        data = json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
        return model_from_dict(data)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{source}: not JSON: {error}; write it with save_model") from None
    except (RecursionError, ValueError) as error:  # nested without end; an integer of thousands of digits
        raise ModelError(f"{source}: not a model file: {error}; write it with save_model") from None


@boundary()
def model_to_dict(model: Model) -> dict[str, Any]:
    """The model as plain lists, numbers and strings, ready for `json.dumps` (no NaN, no infinite float).

    Raises ModelError for symbolic parameters and for joints that are not the library's.
    """
    bodies = []
    for i, parent in model.edges:
        where = f"body {shown(model.body_names[i - 1])}"
        body: dict[str, Any] = {
            "name": model.body_names[i - 1],
            "joint_name": model.joint_names[i - 1],
            "parent": parent,
            "joint": _joint_to_dict(model.joints[i], where),
            "X_tree": _transform_to_dict(model.X_tree[i], where),
            "inertia": {
                "m": _numbers(model.I[i].m, where)[0][0],
                "h": [row[0] for row in _numbers(model.I[i].h, where)],
                "I": _numbers(model.I[i].I, where),
            },
        }
        q, v = model.q_index[i : i + 2], model.v_index[i : i + 2]
        for key, size in DOF_FIELDS.items():
            part = getattr(model.dofs, key)[slice(*(q if size == "nq" else v))]
            body[key] = [_number(x) for x in part]
        bodies.append(body)
    frames = [
        {"name": f.name, "body": f.body, "X": _transform_to_dict(f.X, f"frame {shown(f.name)}")}
        for f in model.frames.values()
    ]
    mimics = [m._asdict() for m in model.mimics]
    noted = [f._asdict() | {"mounts": list(f.mounts)} for f in model.file_joints]
    return {
        "format": FORMAT, "version": VERSION, "name": model.name, "gravity": [row[0] for row in _numbers(ca.vertcat(*model.gravity), "gravity")],
        "bodies": bodies, "frames": frames,
    } | ({"mimics": mimics} if mimics else {}) | ({"file_joints": noted} if noted else {})  # fmt: skip


@np.errstate(over="ignore", invalid="ignore")  # of numbers near the largest, which the checks then refuse
def model_from_dict(data: Mapping[str, Any]) -> Model:
    """The model of what `model_to_dict` gave. Raises ModelError that names the entry for anything malformed.

    Shapes, finiteness, tree order, rotations, symmetry and signs of mass are checked. Whether a body can have an
    inertia is not: that was done when the model was built, and derived models may hold other ones on purpose.
    """
    top = Entry(data, "model")
    if top["format"] != FORMAT:
        raise ModelError(f"format is {shown(top['format'])}, expected {shown(FORMAT)}; write the file with save_model")
    if top["version"] != VERSION or isinstance(top["version"], bool):
        raise ModelError(f"version is {shown(top['version'])}, this library reads {VERSION}; save the model again")
    bodies = [Entry(body, f"bodies[{i}]") for i, body in enumerate(top.items("bodies"))]
    if not bodies:
        raise ModelError("bodies is empty; a model has at least one moving body")
    joints = [_joint_from_dict(body.entry("joint")) for body in bodies]
    gx, gy, gz = top.vector("gravity", 3)
    model = Model(
        name=top.text("name"),
        gravity=(gx, gy, gz),
        parent=(-1, *(body.index("parent", i + 1) for i, body in enumerate(bodies))),
        joints=(Fixed(), *joints),
        X_tree=(Transform.identity(), *(_transform_from_dict(body.entry("X_tree")) for body in bodies)),
        I=(Inertia.zero(), *(_inertia_from_dict(body.entry("inertia")) for body in bodies)),
        joint_names=_unique([body.text("joint_name") for body in bodies], "joint"),
        body_names=_unique([body.text("name") for body in bodies], "body"),
        frames=_frames_from_list(top.items("frames"), len(bodies)),
        dofs=_dofs_from_dicts(bodies, joints),
        mimics=_mimics_from_list(top.items("mimics") if "mimics" in top.data else []),
        file_joints=_file_joints_from_list(top.items("file_joints") if "file_joints" in top.data else []),
    )
    for noted in model.file_joints:
        if noted.joint not in model.joint_names:
            raise ModelError(f"file_joints: no joint {shown(noted.joint)} in this model; correct or delete the entry")
    checked_mimics(model.mimics, dict(zip(model.joint_names, (joint.nv for joint in joints), strict=True)))
    for i, name in enumerate(model.body_names, start=1):
        if name not in model.frames or model.frames[name].body != i:
            raise ModelError(f"bodies[{i - 1}]: frames must hold {shown(name)} as a frame of body {i}")
    return model


# Writing


def _number(x: Any) -> float | str:
    value = float(x)
    if math.isnan(value):
        raise ModelError("a model holds a number that is not a number (NaN); correct the model")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def _numbers(matrix: Any, where: str) -> list[list[float | str]]:
    if not isinstance(matrix, DM):
        raise ModelError(
            f"{where}: holds symbols ({type(matrix).__name__}), JSON holds numbers only; put numbers in before saving"
        )
    return [[_number(x) for x in row] for row in matrix.full()]


def _transform_to_dict(X: Transform, where: str) -> dict[str, Any]:
    return {"E": _numbers(X.E, where), "r": [row[0] for row in _numbers(X.r, where)]}


def _joint_to_dict(joint: Joint, where: str) -> dict[str, Any]:
    kind = type(joint).__name__
    if KINDS.get(kind) is not type(joint):
        remedy = ": a file holds no functions; MultiDof(axes) can be written" if joint.__class__ is CustomJoint else ""
        raise ModelError(
            f"{where}: a joint of class {kind} is not one of the library's and cannot be written to JSON{remedy}"
        )
    fields: dict[str, Any] = {"kind": kind}
    for field in dataclasses.fields(joint):  # type: ignore[arg-type]
        value = getattr(joint, field.name)
        if isinstance(value, tuple) and all(isinstance(x, (int, float)) for x in value):
            value = [_number(x) for x in value]
        elif isinstance(value, tuple) and all(isinstance(row, tuple) for row in value):
            value = [[_number(x) for x in row] for row in value]
        elif not isinstance(value, str):
            raise ModelError(f"{where}: {kind}.{field.name} = {shown(value)} cannot be written to JSON")
        fields[field.name] = value
    return fields


# Reading


def _transform_from_dict(entry: Entry) -> Transform:
    E = entry.matrix("E")
    A = np.array(E.full())
    if np.abs(A).max() > 2 or not np.allclose(A @ A.T, np.eye(3), atol=1e-6) or np.linalg.det(A) < 0:
        raise entry.fail("E", "a rotation (orthonormal, determinant +1)")
    return Transform(E, as_sparse(entry.vector("r", 3)))


def _inertia_from_dict(entry: Entry) -> Inertia:
    m = as_float(entry["m"], infinite=False)
    if m is None or m < 0:
        raise entry.fail("m", "a finite number >= 0")
    I = entry.matrix("I")
    A = np.array(I.full())
    if not np.allclose(A, A.T, rtol=0, atol=1e-8 * float(np.abs(A).max())):
        raise entry.fail("I", "a symmetric matrix")
    return Inertia(as_sparse(m), as_sparse(entry.vector("h", 3)), I)


def _joint_from_dict(entry: Entry) -> Joint:
    name = entry.text("kind")
    if name not in KINDS:
        raise ModelError(f"{entry.where}: no kind of joint {shown(name)}; known: {', '.join(KINDS)}")
    kind = KINDS[name]
    if kind is Fixed:
        raise ModelError(
            f"{entry.where}: a moving body needs a joint that moves; a body on a Fixed one is a frame of its parent"
        )
    fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for key in entry.data:
        if key != "kind" and key not in fields:
            raise ModelError(f"{entry.where}: {name} has no {shown(key)}; it has: {', '.join(fields) or 'nothing'}")
    values: dict[str, Any] = {}
    for key in fields:
        value = entry[key]
        if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
            value = tuple(tuple(Entry({key: row}, entry.where).vector(key, len(row))) for row in value)
        elif not isinstance(value, str):
            value = tuple(entry.vector(key, len(value) if isinstance(value, list) else 3))
        values[key] = value
    try:
        joint = kind(**values)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{entry.where}: {error}") from None
    for key, value in values.items():
        _restore(joint, key, value, entry)
    return joint


def _restore(joint: Joint, key: str, value: Any, entry: Entry) -> None:
    """Puts back the very numbers of the file: a constructor normalises axes, which moves the last bit."""
    made = getattr(joint, key)
    if made == value:
        return
    # an axis is a direction or, with lengths, what a screw advances: rounding beside the larger of both
    alike = not isinstance(made, str) and np.shape(made) == np.shape(value)
    if not alike or not np.allclose(made, value, rtol=0, atol=ROUNDING * max(1.0, float(np.abs(value).max()))):
        raise entry.fail(key, f"{made} for a {type(joint).__name__}")
    object.__setattr__(joint, key, value)


def _dofs_from_dicts(bodies: list[Entry], joints: list[Joint]) -> DofData:
    arrays = {}
    for key, size in DOF_FIELDS.items():
        parts = [_dof_values(b, j, key, getattr(j, size)) for b, j in zip(bodies, joints, strict=True)]
        arrays[key] = np.array([x for part in parts for x in part], dtype=float)
    for key in NONNEGATIVE_FIELDS:
        if np.any(arrays[key] < 0):
            raise ModelError(f"{key} must not be negative, got {shown(arrays[key].tolist())}")
    for key in FINITE_FIELDS:
        if not np.all(np.isfinite(arrays[key])):
            raise ModelError(f"{key} must be finite, got {shown(arrays[key].tolist())}")
    if np.any(arrays["q_lower"] > arrays["q_upper"]):
        raise ModelError("q_lower must not lie above q_upper")
    return DofData(**arrays)


def _dof_values(body: Entry, joint: Joint, key: str, size: int) -> list[float]:
    if key in ADDED_FIELDS and key not in body.data:
        return list(joint.neutral()) if key == "rest" else [0.0] * size
    return body.vector(key, size, infinite=True)


def _frames_from_list(rows: list[Any], nb: int) -> dict[str, Frame]:
    entries = [Entry(row, f"frames[{i}]") for i, row in enumerate(rows)]
    names = _unique([entry.text("name") for entry in entries], "frame")
    return {
        name: Frame(name, entry.index("body", nb + 1), _transform_from_dict(entry.entry("X")))
        for name, entry in zip(names, entries, strict=True)
    }


def _mimics_from_list(rows: list[Any]) -> tuple[Mimic, ...]:
    entries = [Entry(row, f"mimics[{i}]") for i, row in enumerate(rows)]
    return tuple(
        Mimic(entry.text("joint"), entry.text("other"), entry.number("ratio"), entry.number("offset"))
        for entry in entries
    )


def _file_joints_from_list(rows: list[Any]) -> tuple[FileJoint, ...]:
    entries = [Entry(row, f"file_joints[{i}]") for i, row in enumerate(rows)]
    _unique([entry.text("joint") for entry in entries], "noted joint")
    return tuple(FileJoint(entry.text("joint"), entry.texts("mounts"), entry.flag("continuous")) for entry in entries)


def _unique(names: list[str], what: str) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            got = f"{shown(name)} twice" if name else "an empty one"
            raise ModelError(f"{what} names must be unique and not empty, got {got}")
        seen.add(name)
    return tuple(names)


def _no_constant(text: str) -> None:
    raise ModelError(f'{text} is not a number a model may hold; limits without bound are written as "inf", "-inf"')


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ModelError(f"the key {shown(next(k for k in keys if keys.count(k) > 1))} stands twice in one object")
    return data
