"""Inputs of `fuzz.py`: mutated URDF files, JSON models, saved solutions, and arguments of the public interface.

A case is made from a random generator alone, so that its number and the seed repeat it. It is a function without
arguments that hands the input to the library, and a text that describes the input.
"""

from __future__ import annotations

import copy
import inspect
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp

Rng = np.random.Generator


class Case(NamedTuple):
    """An input: what it is, and the call that takes it."""

    text: str
    run: Callable[[], object]


NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "-0",
    "0",
    "-1",
    "1" + "0" * 400,
    "3.5",
    "x",
    "",
    "1 2",
    "0x10",
    "٣",
]
TEXTS = [
    "",
    "world",
    "base",
    "root",
    "a" * 3000,
    "x\x00y",
    "naïve",
    "../../etc/passwd",
    "${xacro}",
    "a b",
    "#",
    "nan",
    "knee",
]

URDF = """<robot name="r"><link name="base"><inertial><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/><mass value="3"/>
<inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<link name="mount"/><link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0"
iyz="0"/></inertial></link><link name="finger"><inertial><mass value="0.1"/></inertial></link><link name="slide"/>
<joint name="weld" type="fixed"><parent link="base"/><child link="mount"/><origin xyz="0 0 1" rpy="0 0 1.57"/></joint>
<joint name="shoulder" type="revolute"><parent link="mount"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1"
upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0.2"/></joint>
<joint name="knuckle" type="continuous"><parent link="arm"/><child link="finger"/><mimic joint="shoulder"
multiplier="2" offset="0.1"/></joint>
<joint name="rail" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="1 1 0"/></joint></robot>"""
ROOTS: list[od.Joint | None] = [None, None, od.FloatingBase(), od.Planar()]


def urdf(rng: Rng) -> Case:
    """A mutated URDF text."""
    if rng.random() < 0.3:
        text: str | bytes = _damaged(URDF.encode(), rng)
    else:
        root = ElementTree.fromstring(URDF)
        for _ in range(int(rng.integers(1, 4))):
            _mutate_element(root, rng)
        text = ElementTree.tostring(root, "unicode")
    joint = ROOTS[int(rng.integers(len(ROOTS)))]
    mimic: Any = ("refuse", "free", "couple")[int(rng.integers(3))]
    inertia: Any = ("refuse", "keep")[int(rng.integers(2))]

    def run() -> object:
        model = od.parse_urdf(text, joint, mimic=mimic, inertia=inertia)
        return od.model_from_dict(od.model_to_dict(model)).q_names

    return Case(f"root={joint!r}, mimic={mimic!r}, inertia={inertia!r}, {text[:600]!r}", run)


def _mutate_element(root: ElementTree.Element, rng: Rng) -> None:
    elements = list(root.iter())
    one, other = (elements[int(k)] for k in rng.integers(len(elements), size=2))
    keys = list(one.attrib)
    key = keys[int(rng.integers(len(keys)))] if keys else "name"
    match int(rng.integers(7)):
        case 0:
            one.set(key, _pick(NUMBERS, rng))
        case 1:
            one.set(key, _pick(TEXTS, rng))
        case 2:
            one.attrib.pop(key, None)
        case 3:
            other.append(copy.deepcopy(one))
        case 4 if one is not root:
            next(parent for parent in elements if one in list(parent)).remove(one)
        case 5:
            one.tag = other.tag
        case _:
            words = one.get(key, "").split()
            words[:1] = [_pick(NUMBERS, rng)]
            one.set(key, " ".join(words))


@cache
def _model_data() -> str:
    builder = od.ModelBuilder("m", (0.0, 1.0, -9.0))
    builder.add_body("base", od.FloatingBase(), mass=3, com=(0.1, 0, 0.2), inertia=(0.1, 0.12, 0.15))
    builder.add_body(
        "arm", od.Revolute((1, 2, 3)), "base", mass=1, lower=-1, upper=2, effort=5, damping=0.1, stiffness=2
    )
    builder.add_body("rod", od.MultiDof([(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)]), "arm", mass=1, inertia=(1, 1, 1))
    builder.add_body("nut", od.Helical("x", pitch=0.1), "base", mass=1, inertia=(1, 1, 1), armature=0.1)
    builder.add_body("pin", od.Universal("x", "y"), "base")
    builder.add_frame("tool", "rod", (0, 0, 1))
    builder.add_mimic("arm_joint", "nut_joint", 2.0, 0.5)
    return json.dumps(od.model_to_dict(builder.build()))


JSON_VALUES: list[Any] = [
    None, True, -1, 0, 3.5, 1e308, -1e308, 10**400, 10**30, "inf", "-inf", "nan", "", "x", "a" * 5000, [], {}, [[]], [1, 2],
    [[1, 2], [3]], {"kind": "Revolute"}, ["inf", "inf"], "Fixed", "CustomJoint", "Joint", float("nan"), float("inf"),
]  # fmt: skip


def json_model(rng: Rng) -> Case:
    """A mutated JSON model, as a dict, or as a file."""
    data = json.loads(_model_data())
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(data))
        container, key = places[int(rng.integers(len(places)))]
        others = places[int(rng.integers(len(places)))]
        match int(rng.integers(4)):
            case 0:
                del container[key]
            case 1:
                container[key] = copy.deepcopy(others[0][others[1]])
            case _:
                container[key] = copy.deepcopy(_pick(JSON_VALUES, rng))
    if rng.random() < 0.7:
        return Case(repr(data)[:1500], lambda: _used(od.model_from_dict(data)))
    raw = json.dumps(data).encode()
    raw = _damaged(raw, rng) if rng.random() < 0.7 else raw
    return Case(repr(raw[:1500]), lambda: _from_file(raw, ".json", od.load_model))


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], (dict, list)):
            yield from _places(data[key])


def _used(model: od.Model) -> object:
    return str(model), od.model_to_dict(model)


@cache
def _solution_bytes() -> bytes:
    rotor = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    rotor.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=2.0)

    def rest_to_rest(start: Any, end: Any) -> Any:
        return ca.vertcat(start.q, start.v, end.q - 1, end.v), 0, 0

    phase = ocp.Phase("swing", intervals=4, duration=(0.5, 4.0), objective=[ocp.Integral(lambda stage: 1, name="time")])
    solution = ocp.Problem(rotor.build(), [phase], boundary=[ocp.Boundary(rest_to_rest)]).solve(progress=False)
    with tempfile.TemporaryDirectory() as folder:
        return solution.save(Path(folder) / "rotor.npz").read_bytes()


def npz(rng: Rng) -> Case:
    """A damaged or changed file of a solution."""
    raw = _solution_bytes()
    if rng.random() < 0.4:
        raw = _damaged(raw, rng)
        return Case(f"{len(raw)} damaged bytes", lambda: _from_file(raw, ".npz", ocp.Solution.load))
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = _pick(list(members), rng)
    done = f"{name}: "
    match int(rng.integers(4)):
        case 0:
            del members[name]
            done += "dropped"
        case 1:
            members[name] = _damaged(members[name], rng)
            done += "damaged bytes"
        case 2:
            array = _pick(ARRAYS, rng)
            members[name] = _npy(array)
            done += f"replaced by {array!r:.80}"
        case _:
            members[name] = members[name].replace(b"(4,", b"(99999999999,").replace(b"(5,", b"(99999999999,")
            done += "a header of huge size"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return Case(done, lambda: _from_file(packed.getvalue(), ".npz", ocp.Solution.load))


ARRAYS = [
    np.zeros(0), np.zeros((3, 7)), np.full(4, np.nan), np.array("x"), np.array(["a", "b"]), np.array(3), np.zeros((5, 1)),
    np.array([1 + 2j]), np.zeros(4, bool), np.array("{}"), np.array('{"version": 99}'), np.zeros((2, 2, 2), np.float32),
]  # fmt: skip


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _damaged(raw: bytes, rng: Rng) -> bytes:
    """Bytes flipped, cut out, repeated, or the end lost."""
    data = bytearray(raw)
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            break
        k = int(rng.integers(len(data)))
        match int(rng.integers(4)):
            case 0:
                data[k] = int(rng.integers(256))
            case 1:
                del data[k : k + int(rng.integers(1, 40))]
            case 2:
                data[k:k] = data[k : k + int(rng.integers(1, 60))]
            case _:
                del data[k + int(rng.integers(0, 400)) :]
    return bytes(data)


def _from_file(raw: bytes, ending: str, load: Callable[[Any], object]) -> object:
    handle, path = tempfile.mkstemp(ending)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        return load(path)
    finally:
        os.unlink(path)


# Arguments of the public interface

WRONG: list[Any] = [
    None, True, 0, -1, 1, 3.5, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), 1e308, 1e-320, 10**9, "", "x",
    "a" * 100_000, b"x", (), [], {}, {"x": 1}, (1, 2), [None], ["x"], [float("nan")] * 3, [10**400] * 3, (0, 0, 0), (1e308,) * 3,
    object(), 1j, np.zeros((2, 2)), np.zeros(0), np.zeros((3, 3)), np.full((3, 3), np.nan), np.array(["a", "b"]), np.zeros(1000),
    ca.DM(), ca.DM(3, 1), ca.DM([1, 2, np.nan]), ca.SX.sym("x"), ca.SX.sym("x", 3), ca.MX.sym("x", 3), {1: 2}, set(), int,
    np.eye(3), np.random.default_rng(0), ((0, 0, 1, 0, 0, 0),), "xyz", "xx", ("tip",), slice(3), range(3),
]  # fmt: skip


@cache
def _valid() -> dict[str, Any]:
    """A good value for parameters of the interface by their names."""
    builder = od.ModelBuilder("v")
    builder.add_body("rod", od.FloatingBase(), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    builder.add_body(
        "tip", od.Revolute("x"), "rod", origin=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1)
    )
    model = builder.build()
    q, v = ca.DM(model.neutral()), ca.DM.ones(model.nv)
    contact = od.Contact("tip", axes="xyz").at(model, q)
    bodies = {
        "body": "tip",
        "frame": "tip",
        "predecessor": "rod",
        "successor": "tip",
        "to": "rod",
        "joint": "tip_joint",
    }
    points = {
        "point": (0, 0, 1),
        "points": [(0, 0, 0), (1, 0, 0)],
        "corners": [(0, 0, 0), (1, 0, 0)],
        "start": (0, 0, 0),
    }
    points |= {
        "end": (1, 0, 0),
        "position": (0, 0, 1),
        "rpy": (0, 0, 1),
        "origin": (0, 0, 1),
        "first": "x",
        "second": "y",
    }
    return bodies | points | {
        "model": model, "constraints": (contact,), "constraint": contact, "T": 0.1, "q": q, "qd": v, "qdd": v, "tau": v, "mu": v,
        "q0": q, "qd0": v, "other": model, "radius": 0.1, "axis": "y", "axes": [(0, 0, 1, 0, 0, 0)], "kind": "pinocchio",
        "phi": lambda q: q[0], "wrench": ca.DM.ones(6), "lam": ca.DM.ones(3), "t": [0.0, 1.0], "R": np.eye(3), "rotation": np.eye(3),
        "targets": [od.PointTarget("tip", (0, 0, -1.5))], "n": 3, "quat": ca.DM([0, 0, 0, 1]), "values": {}, "text": URDF,
        "function": lambda q: od.Transform(ca.DM.eye(3), ca.vertcat(q, 0, 0)), "data": json.loads(_model_data()), "name": "new",
        "algorithm": od.mass_matrix, "positions": {"tip_joint": 0.1}, "v": v, "gravity": (0, 0, -1), "q1": q, "pitch": 0.1,
    }  # fmt: skip


SKIPPED = {"AssemblyError", "ModelError", "Constraint", "Joint", "Frame", "Inertia", "InverseKinematics", "Model", "ModelBuilder",
           "Transform", "save_model", "load_model", "load_urdf", "model_from_dict", "Fixed", "function"}  # fmt: skip
"""What is built by others, not by users; what writes files; what other kinds of input cover."""
METHODS = ("with_gravity", "with_inertia", "with_frame", "attach", "lock_joints", "subtree", "scale", "q_slice", "qd_slice", "frame",
           "q_dot", "integrate", "difference")  # fmt: skip
READY = ("pendulum", "chain", "human", "five_link_biped", "compass_walker", "human_dimensions")
OWN = {"JointCoupling": {"other": "root"}, "RollingContact": {"axis": None}, "joint_work": {"qd": np.ones((7, 2)), "tau": np.ones((7, 2))},
       "Contact": {"axes": "xyz"}, "Loop": {"axes": "ball"}, "Helical": {"axis": "x", "pitch": 0.1}}  # fmt: skip
RAW = {"q", "qd", "qdd", "tau", "mu", "lam", "f_ext", "model", "external", "e", "t", "actuated"}
FLAGS = {"passive", "armature", "residual", "relaxed", "limits"}
"""Arguments of algorithms as plain recursions over CasADi's matrices: `od.function` is their checked boundary. Flags are
taken by their truth."""


LEFT = {
    ("is_fully_actuated", "tolerance"),
    ("constraint_rank", "tolerance"),
    ("constrained_inverse_dynamics", "solver"),
}
LEFT |= {("constrained_dynamics", "solver"), ("impact", "solver")}
"""Arguments that are not checked yet."""


@cache
def _calls() -> list[tuple[str, Callable[..., Any], dict[str, Any], tuple[str, ...]]]:
    """Name, callable, good arguments, and the arguments that are made wrong."""
    good, found = _valid(), []
    model = good["model"]
    calls = {
        name: getattr(od, name)
        for name in dir(od)
        if name[0] != "_" and name not in SKIPPED and callable(getattr(od, name))
    }
    calls |= {f"models.{name}": getattr(od.models, name) for name in READY}
    calls |= {f"Model.{name}": getattr(model, name) for name in METHODS}
    for name, call in calls.items():
        parameters = inspect.signature(call).parameters
        algorithm = next(iter(parameters), "") == "model"
        known = {**good, **OWN.get(name, {})}
        required = {
            p.name: known[p.name]
            for p in parameters.values()
            if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
        }
        required |= {key: value for key, value in OWN.get(name, {}).items() if key in parameters}
        changed = tuple(p for p in parameters if not (algorithm and (p in RAW | FLAGS or (name, p) in LEFT)))
        if changed:
            found.append((name, call, required, changed))
    kind = {"name": "n", "joint": od.Revolute("x")}
    dofs = (
        "lower",
        "upper",
        "velocity",
        "effort",
        "damping",
        "friction",
        "stiffness",
        "rest",
        "armature",
        "rotor_inertia",
    )
    given = (
        "name",
        "joint",
        "parent",
        "joint_name",
        "origin",
        "rotation",
        "mass",
        "com",
        "inertia",
        *dofs,
        "gear_ratio",
    )
    found += [("add_body", lambda **a: od.ModelBuilder().add_body(**a), kind, given)] * 4
    found += [("ModelBuilder", lambda **a: _built(**a), {}, ("gravity",))]
    static = ("name", "signature", "external", "parameters", "derivatives", "algorithm", "model", "columns")
    found += [
        (
            "function",
            lambda algorithm, model, **a: od.function(algorithm, model, **a),
            {k: good[k] for k in ("algorithm", "model")},
            static,
        )
    ]
    f = od.function(od.inverse_dynamics, model)
    found += [("ID", f, {key: good[key] for key in ("q", "qd", "qdd")}, ("q", "qd", "qdd"))] * 4
    return found


def _built(gravity: Any) -> od.Model:
    builder = od.ModelBuilder("g", gravity)
    builder.add_body("b", od.Revolute("x"), mass=1)
    return builder.build()


def api(rng: Rng) -> Case:
    """A call of the public interface with one or two wrong arguments."""
    name, call, good, changed = _pick(_calls(), rng)
    given = dict(good)
    for _ in range(int(rng.integers(1, 3))):
        given[_pick(changed, rng)] = _pick(WRONG, rng)
    text = ", ".join(
        f"{key}={value!r:.60}" if not isinstance(value, int) else f"{key}=int" for key, value in given.items()
    )
    return Case(f"{name}({text})", lambda: call(**given))


def _pick(values: Any, rng: Rng) -> Any:
    return values[int(rng.integers(len(values)))]


KINDS: dict[str, Callable[[Rng], Case]] = {"urdf": urdf, "json": json_model, "npz": npz, "api": api}
