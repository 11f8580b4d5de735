"""Model <-> JSON, exact: every number, name and sparsity pattern comes back as it was.

The file is one JSON object: "format", "version", "name", "gravity", "bodies" (one entry per moving body, in body order;
"parent" 0 is the ground), "frames" and, where there are any, "mimics", joints that follow others, "passive", nonlinear
torques of joints, "file_joints", notes of a URDF, "markers", "muscles", "wraps", "prescribed", "configurations",
"constraints", "bushings" and "notes".
Numbers are written with the digits that give the same double again, infinite limits as "inf" and "-inf". Nothing in a
file is ever run or imported: joints are named by class, and classes that are not the library's are given when the file
is loaded.
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
from .._base.files import file_to_read, path_of, whole_file
from .._base.rooms import named_arguments
from .._base.types import ModelError, name_fault, repr_in_message, suggestion
from ..joints import CustomJoint, Fixed, Joint
from ..mechanism import CoordinateNames, DofData, FileJoint, Frame, Mimic, Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.parts import FINITE_FIELDS, NONNEGATIVE_FIELDS, SIZE_NQ, checked_mimics
from ..spatial_algebra.spatial import FarInertia, Inertia, Transform
from ._json_entry import JsonEntry, as_float, as_sparse
from ._json_parts import (
    annotations_from_dict,
    annotations_to_dict,
    connections_from_dict,
    passive_from_list,
    passive_to_list,
)
from .plain_classes import as_data, class_called, field_names, is_own_dataclass, known_classes, object_of

FORMAT, VERSION = "ocp_dyn model", 1
JOINT_CLASSES: dict[str, type[Joint]] = {
    name: kind
    for name, kind in sorted(vars(joint_kinds).items())
    if inspect.isclass(kind) and issubclass(kind, Joint) and not inspect.isabstract(kind) and kind is not CustomJoint
}
"""The library's joints that a file may name: those of `ocp_dyn.joints` but for `CustomJoint`, which holds a
function."""
DOF_FIELDS = {field.name: "nq" if field.name in SIZE_NQ else "nv" for field in dataclasses.fields(DofData)}
WRITERS = {
    ".urdf": "od.io.write_urdf",
    **dict.fromkeys((".xml", ".mjcf"), "od.io.write_mjcf"),
    ".osim": "od.io.write_osim",
    **dict.fromkeys((".sdf", ".lua", ".biomod"), "a name that ends in .json"),
}
"""Functions that write models of other formats, by the endings of their files."""

ROWS = ("bodies", "frames", "passive", "markers", "muscles", "wraps", "prescribed", "constraints", "bushings")
"""Lists of a file that have a line for each of their entries."""
ADDED_FIELDS = ("stiffness", "armature", "rest", "tau_min")
"""Fields of DOF_FIELDS that a file may leave out: then zero, for `rest` the neutral position, for `tau_min`
-tau_max."""


@checks_arguments()
def save_model(model: Model, path: str | PathLike[str]) -> None:
    """Writes `model` as JSON, a body per line; the file appears complete or not at all (see `whole_file`).

    Raises ModelError for a model that JSON cannot hold (see `model_to_dict`), ValueError for a name with the ending of
    another format, OSError if it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.save_model(rod, f"{folder}/rod.json")
    ...     print(od.load_model(f"{folder}/rod.json"))
    pendulum_1: 1 bodies, nq = 1, nv = 1, mass = 1 kg
    body   joint   kind      q  qd  mass [kg]
    link1  joint1  Revolute  0  0   1
    other frames: tip
    """
    other = WRITERS.get(path_of(path).suffix.lower())
    if other is not None:
        raise ValueError(f"save_model writes JSON, and {str(path)!r} has the ending of another format: use {other}")
    data = model_to_dict(model)
    parts = []
    for key, value in data.items():
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        if key in ROWS:
            rows = ",\n".join("  " + json.dumps(row, allow_nan=False, ensure_ascii=False) for row in value)
            text = f"[\n{rows}\n ]"
        parts.append(f" {json.dumps(key)}: {text}")
    with whole_file(path) as partial:
        partial.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def load_model(path: str | PathLike[str], *, joints: Any = ()) -> Model:
    """The model `save_model` wrote: equal to it bit for bit.

    joints: classes of the user's own joints in the file, `joints=(Screw,)`; a file itself never imports code.
    Raises ModelError, opening with the file's name, for other contents and for joints of unknown classes;
    OSError if it cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.save_model(rod, f"{folder}/rod.json")
    ...     od.load_model(f"{folder}/rod.json").mass
    1.0
    """
    known_joints(joints)  # an error in the argument is not an error of the file
    named = file_to_read(path)
    source, raw = str(named), named.read_bytes()
    try:
        data = json.loads(raw, parse_constant=no_constant, object_pairs_hook=unique_keys)
        return model_from_dict(data, joints=joints)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"{source}: not JSON: {error}; write it with save_model") from None
    except (RecursionError, ValueError) as error:  # nested without end; an integer of thousands of digits
        raise ModelError(f"{source}: not a model file: {error}; write it with save_model") from None


@checks_arguments()
def model_to_dict(model: Model) -> dict[str, Any]:
    """The model as plain lists, numbers and strings, ready for `json.dumps` (no NaN, no infinite float).

    Joints of the user's own are frozen dataclasses whose fields are numbers, texts and tuples of these.
    Raises ModelError for symbolic parameters and for joints that hold anything else.

    >>> od.model_to_dict(rod)["bodies"][0]["name"]
    'link1'
    """
    bodies = [_body_to_dict(model, i, parent) for i, parent in model.edges]
    frames = [
        {"name": f.name, "body": f.body, "X": _transform_to_dict(f.X, f"frame {repr_in_message(f.name)}")}
        for f in model.frames.values()
    ]
    mimics = [m._asdict() for m in model.mimics]
    noted = [f._asdict() | {"mounts": list(f.mounts)} for f in model.file_joints]
    passive = {"passive": passive_to_list(model.passive)} if model.passive else {}
    return {
        "format": FORMAT, "version": VERSION, "name": model.name,
        "gravity": [row[0] for row in _numbers(ca.vertcat(*model.gravity), "gravity")],
        "bodies": bodies, "frames": frames,
    } | ({"mimics": mimics} if mimics else {}) | ({"file_joints": noted} if noted else {}) | (
        passive | annotations_to_dict(model)
    )  # fmt: skip


def _body_to_dict(model: Model, i: int, parent: int) -> dict[str, Any]:
    where = f"body {repr_in_message(model.body_names[i - 1])}"
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
            **({"I_com": _numbers(far.I_com, where)} if isinstance(far := model.I[i], FarInertia) else {}),
        },
    }
    q, v = model.q_index[i : i + 2], model.v_index[i : i + 2]
    if model.joint_names[i - 1] in model.named_entries:
        body["coordinates"] = list(model.named_entries[model.joint_names[i - 1]])
    for key, size in DOF_FIELDS.items():
        part = getattr(model.dofs, key)[slice(*(q if size == "nq" else v))]
        body[key] = [_number(x) for x in part]
    return body


def model_outline(model: Model) -> dict[str, Any]:
    """Parts kept of a model that JSON cannot hold whole: its name, the names of q and qd, and all bodies, of
    which "unsaved" tells why one is not complete."""
    bodies = []
    for i, parent in model.edges:
        try:
            bodies.append(_body_to_dict(model, i, parent))
        except ModelError as error:
            joint = {"kind": type(model.joints[i]).__name__, "labels": list(model.joints[i].q_labels)}
            names = {"name": model.body_names[i - 1], "joint_name": model.joint_names[i - 1], "parent": parent}
            bodies.append(names | {"joint": joint, "unsaved": str(error)})
    return {"name": model.name, "q_names": list(model.q_names), "qd_names": list(model.qd_names), "bodies": bodies}


@np.errstate(over="ignore", invalid="ignore")  # from numbers near the largest, which the checks then refuse
@named_arguments
def model_from_dict(data: Mapping[str, Any], *, joints: Any = ()) -> Model:
    """The model that `model_to_dict` described. Raises ModelError that names the entry for anything malformed.

    joints: classes of the user's own joints, as in `load_model`.
    Shapes, finiteness, tree order, rotations, symmetry and signs of mass are checked. It is not checked whether a
    body can have its inertia: that was done when the model was built, and reduced models hold other inertias on
    purpose.

    >>> od.model_from_dict(od.model_to_dict(rod)).joint_names
    ('joint1',)
    """
    kinds = known_joints(joints)
    top = JsonEntry(data, "model")
    if top["format"] != FORMAT:
        raise ModelError(
            f"format is {repr_in_message(top['format'])}, expected {repr_in_message(FORMAT)}; write the file with "
            "save_model"
        )
    if top["version"] != VERSION or isinstance(top["version"], bool):
        raise ModelError(
            f"version is {repr_in_message(top['version'])}, this library reads {VERSION}; save the model again"
        )
    bodies = [JsonEntry(body, f"bodies[{i}]") for i, body in enumerate(top.items("bodies"))]
    if not bodies:
        raise ModelError("bodies is empty; a model has at least one moving body")
    made = [joint_from_dict(body.entry("joint"), kinds) for body in bodies]
    gx, gy, gz = top.vector("gravity", 3)
    model = Model(
        name=top.text("name"),
        gravity=(gx, gy, gz),
        parent=(-1, *(body.index("parent", i + 1) for i, body in enumerate(bodies))),
        joints=(Fixed(), *made),
        X_tree=(Transform.identity(), *(_transform_from_dict(body.entry("X_tree")) for body in bodies)),
        I=(Inertia.zero(), *(_inertia_from_dict(body.entry("inertia")) for body in bodies)),
        joint_names=_unique([body.text("joint_name") for body in bodies], "joint"),
        body_names=_unique([body.text("name") for body in bodies], "body"),
        frames=frames_from_list(top.items("frames"), len(bodies)),
        dofs=_dofs_from_dicts(bodies, made),
        mimics=mimics_from_list(top.items("mimics") if "mimics" in top.data else []),
        file_joints=_file_joints_from_list(top.items("file_joints") if "file_joints" in top.data else []),
        passive=passive_from_list(top.items("passive") if "passive" in top.data else []),
        coordinate_names=tuple(
            CoordinateNames(body.text("joint_name"), body.texts("coordinates"))
            for body in bodies
            if "coordinates" in body.data
        ),
        annotations=annotations_from_dict(top),
    )
    model = connections_from_dict(top, model)
    for noted in model.file_joints:
        if noted.joint not in model.joint_names:
            hint = suggestion(noted.joint, model.joint_names)
            raise ModelError(
                f"file_joints: no joint {repr_in_message(noted.joint)} in this model; correct or delete the entry{hint}"
            )
    checked_mimics(model.mimics, dict(zip(model.joint_names, (joint.nv for joint in made), strict=True)))
    for i, name in enumerate(model.body_names, start=1):
        if name not in model.frames or model.frames[name].body != i:
            raise ModelError(f"bodies[{i - 1}]: frames must hold {repr_in_message(name)} as a frame of body {i}")
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
    if not is_own_dataclass(type(joint)) or type(joint) is CustomJoint:
        reason = "it is not a frozen dataclass, and a file names a joint by its class and the fields of a dataclass"
        if type(joint) is CustomJoint:
            reason = "a file holds no functions; MultiDof(axes), or a joint of your own class, can be written"
        raise ModelError(f"{where}: a joint of class {kind} cannot be written to JSON: {reason}")
    if JOINT_CLASSES.get(kind, type(joint)) is not type(joint):
        raise ModelError(f"{where}: the class {kind} of its joint has the name of one of the library's: rename it")
    written: dict[str, Any] = {"kind": kind}
    for key in field_names(type(joint)):
        try:
            written[key] = as_data(getattr(joint, key))
        except TypeError:
            raise ModelError(
                f"{where}: {kind}.{key} = {repr_in_message(getattr(joint, key))} cannot be written to JSON: it holds "
                "finite numbers, texts, None and tuples of these"
            ) from None
    if kind not in JOINT_CLASSES:
        try:
            joint_from_dict(JsonEntry(written, where), JOINT_CLASSES | {kind: type(joint)})
        except ModelError as error:
            raise ModelError(f"a file would not give back the joint of {error}") from None
    return written


# Reading


def _transform_from_dict(entry: JsonEntry) -> Transform:
    E = entry.matrix("E")
    A = np.array(E.full())
    if np.abs(A).max() > 2 or not np.allclose(A @ A.T, np.eye(3), atol=1e-6) or np.linalg.det(A) < 0:
        raise entry.fail("E", "a rotation (orthonormal, determinant +1)")
    return Transform(E, as_sparse(entry.vector("r", 3)))


def _inertia_from_dict(entry: JsonEntry) -> Inertia:
    m = as_float(entry["m"], infinite=False)
    if m is None or m < 0:
        raise entry.fail("m", "a finite number >= 0")
    I = entry.matrix("I")
    A = np.array(I.full())
    if not np.allclose(A, A.T, rtol=0, atol=1e-8 * float(np.abs(A).max())):
        raise entry.fail("I", "a symmetric matrix")
    body = Inertia(as_sparse(m), as_sparse(entry.vector("h", 3)), I)
    return FarInertia(body.m, body.h, body.I, entry.matrix("I_com")) if "I_com" in entry.data else body


def known_joints(given: Any = ()) -> dict[str, type[Joint]]:
    """The classes of joints that a file may name: the library's and those given."""
    return known_classes(JOINT_CLASSES, given, "joints", lambda kind: issubclass(kind, Joint))


def joint_from_dict(entry: JsonEntry, kinds: Mapping[str, type[Joint]]) -> Joint:
    name = entry.text("kind")
    kind = class_called(name, kinds, "joints", entry.where)
    if kind is Fixed:
        raise ModelError(
            f"{entry.where}: a moving body needs a joint that moves; a body on a Fixed one is a frame of its parent"
        )
    joint: Joint = object_of(entry, kind)
    if name not in JOINT_CLASSES:
        _try_out(joint, entry)
    return joint


def _try_out(joint: Joint, entry: JsonEntry) -> None:
    """Evaluates a joint of a user's class once: its constructor may have taken values of a file that make no joint."""
    try:
        XJ, S, vJ, cJ = joint.jcalc(DM(joint.neutral()), DM.ones(joint.nv, 1))
        sizes = [tuple(x.shape) for x in (XJ.E, XJ.r, S, vJ, cJ)]
        regular = all(DM(x).is_regular() for x in (XJ.E, XJ.r, S, vJ, cJ))
    except Exception as error:  # noqa: BLE001, whatever a user's class raises for values of any kind
        raise ModelError(f"{entry.where}: {repr_in_message(joint)} cannot be evaluated: {str(error)[:200]}") from None
    if sizes != [(3, 3), (3, 1), (6, joint.nv), (6, 1), (6, 1)] or not regular:
        raise ModelError(
            f"{entry.where}: jcalc of {repr_in_message(joint)} must give finite E, r, S, vJ, cJ of the shapes (3, 3), "
            f"(3, 1), (6, {joint.nv}), (6, 1), (6, 1), got {sizes}"
        )


def _dofs_from_dicts(bodies: list[JsonEntry], joints: list[Joint]) -> DofData:
    arrays = {}
    for key, size in DOF_FIELDS.items():
        parts = [_dof_values(b, j, key, getattr(j, size)) for b, j in zip(bodies, joints, strict=True)]
        arrays[key] = np.array([x for part in parts for x in part], dtype=float)
    for key in NONNEGATIVE_FIELDS:
        if np.any(arrays[key] < 0):
            raise ModelError(f"{key} must not be negative, got {repr_in_message(arrays[key].tolist())}")
    for key in FINITE_FIELDS:
        if not np.all(np.isfinite(arrays[key])):
            raise ModelError(f"{key} must be finite, got {repr_in_message(arrays[key].tolist())}")
    if np.any(arrays["tau_min"] > 0):
        raise ModelError(f"tau_min must not be positive, got {repr_in_message(arrays['tau_min'].tolist())}")
    if np.any(arrays["q_lower"] > arrays["q_upper"]):
        raise ModelError("q_lower must not lie above q_upper")
    return DofData(**arrays)


def _dof_values(body: JsonEntry, joint: Joint, key: str, size: int) -> list[float]:
    if key in ADDED_FIELDS and key not in body.data:
        if key == "tau_min":
            return [0.0 - x for x in body.vector("tau_max", size, infinite=True)]
        return list(joint.neutral()) if key == "rest" else [0.0] * size
    return body.vector(key, size, infinite=True)


def frames_from_list(rows: list[Any], nb: int) -> dict[str, Frame]:
    entries = [JsonEntry(row, f"frames[{i}]") for i, row in enumerate(rows)]
    names = _unique([entry.text("name") for entry in entries], "frame")
    return {
        name: Frame(name, entry.index("body", nb + 1), _transform_from_dict(entry.entry("X")))
        for name, entry in zip(names, entries, strict=True)
    }


def mimics_from_list(rows: list[Any]) -> tuple[Mimic, ...]:
    entries = [JsonEntry(row, f"mimics[{i}]") for i, row in enumerate(rows)]
    return tuple(
        Mimic(entry.text("joint"), entry.text("other"), entry.number("ratio"), entry.number("offset"))
        for entry in entries
    )


def _file_joints_from_list(rows: list[Any]) -> tuple[FileJoint, ...]:
    entries = [JsonEntry(row, f"file_joints[{i}]") for i, row in enumerate(rows)]
    _unique([entry.text("joint") for entry in entries], "noted joint")
    return tuple(FileJoint(entry.text("joint"), entry.texts("mounts"), entry.flag("continuous")) for entry in entries)


def _unique(names: list[str], what: str) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            got = f"{repr_in_message(name)} twice" if name else "an empty one"
            raise ModelError(f"{what} names must be unique and not empty, got {got}")
        if fault := name_fault(name):
            raise ModelError(f"{what} {repr_in_message(name)}: a name {fault}")
        seen.add(name)
    return tuple(names)


def no_constant(text: str) -> None:
    raise ModelError(f'{text} is not a number a model may hold; limits without bound are written as "inf", "-inf"')


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ModelError(
            f"the key {repr_in_message(next(k for k in keys if keys.count(k) > 1))} stands twice in one object"
        )
    return dict(pairs)
