"""Files for the fuzz: mutated URDF files, JSON models and saved solutions.

A case is made from a random generator alone, so that its number and the seed repeat it. It is a function without
arguments that hands the input to the library, and a text that describes the input.
"""

from __future__ import annotations

import copy
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree import ElementTree

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp

Rng = np.random.Generator


class Case(NamedTuple):
    """An input: what it is, and the call that takes it.

    wrong: arguments of a call that are wrong, by name; misspelled: whether it is the name that is.
    """

    text: str
    run: Callable[[], object]
    wrong: Mapping[str, Any] = MappingProxyType({})
    misspelled: bool = False


NUMBERS = [
    "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "-0", "0", "-1", "1" + "0" * 400, "3.5", "x", "", "1 2", "0x10",
    "٣",
]  # fmt: skip
TEXTS = [
    "", "world", "base", "root", "a" * 3000, "x\x00y", "naïve", "../../etc/passwd", "${xacro}", "a b", "#", "nan",
    "knee",
]  # fmt: skip

URDF = Path(__file__).with_name("arm.urdf").read_text(encoding="utf-8")
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
            one.set(key, pick(NUMBERS, rng))
        case 1:
            one.set(key, pick(TEXTS, rng))
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
            words[:1] = [pick(NUMBERS, rng)]
            one.set(key, " ".join(words))


@cache
def model_data() -> str:
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
    builder.add_passive(
        od.ExponentialTorque("arm_joint", 2.0, {"arm_joint": 1.0, "nut_joint": 0.5}, 0.1),
        od.OneSidedSpring("nut_joint", 3.0, 0.2, 0.1, "below"),
    )
    return json.dumps(od.model_to_dict(builder.build()))


JSON_VALUES: list[Any] = [
    None, True, -1, 0, 3.5, 1e308, -1e308, 10**400, 10**30, "inf", "-inf", "nan", "", "x", "a" * 5000, [], {}, [[]],
    [1, 2],
    [[1, 2], [3]], {"kind": "Revolute"}, ["inf", "inf"], "Fixed", "CustomJoint", "Joint", float("nan"), float("inf"),
]  # fmt: skip


def json_model(rng: Rng) -> Case:
    """A mutated JSON model, as a dict, or as a file."""
    data = json.loads(model_data())
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
                container[key] = copy.deepcopy(pick(JSON_VALUES, rng))
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
def rotor() -> ocp.Problem:
    """A disc turned by one radian in the least time."""
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=2.0)

    def rest_to_rest(start: Any, end: Any) -> Any:
        return ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0

    phase = ocp.Phase("swing", intervals=4, duration=(0.5, 4.0), objective=[ocp.Integral(lambda stage: 1, name="time")])
    return ocp.Problem(builder.build(), [phase], boundary=[ocp.Boundary(rest_to_rest)])


@cache
def rotor_solution() -> ocp.Solution:
    """The solution of that problem, without what differs from run to run."""
    solution = rotor().solve(progress=False)
    return replace(solution, stats={k: 0.0 if k.endswith("seconds") else v for k, v in solution.stats.items()})


@cache
def _solution_bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return rotor_solution().save(Path(folder) / "rotor.npz").read_bytes()


def npz(rng: Rng) -> Case:
    """A damaged or changed file of a solution."""
    raw = _solution_bytes()
    load = partial(ocp.Solution.load, verify=bool(rng.random() < 0.3))  # digests notice all, the schema has to
    if rng.random() < 0.4:
        raw = _damaged(raw, rng)
        return Case(f"{len(raw)} damaged bytes", lambda: _from_file(raw, ".npz", load))
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = pick(list(members), rng)
    done = f"{name}: "
    match int(rng.integers(4)):
        case 0:
            del members[name]
            done += "dropped"
        case 1:
            members[name] = _damaged(members[name], rng)
            done += "damaged bytes"
        case 2:
            array = pick(ARRAYS, rng)
            members[name] = _npy(array)
            done += f"replaced by {array!r:.80}"
        case _:
            members[name] = members[name].replace(b"(4,", b"(99999999999,").replace(b"(5,", b"(99999999999,")
            done += "a header of huge size"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return Case(done, lambda: _from_file(packed.getvalue(), ".npz", load))


ARRAYS = [
    np.zeros(0), np.zeros((3, 7)), np.full(4, np.nan), np.array("x"), np.array(["a", "b"]), np.array(3),
    np.zeros((5, 1)),
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


def pick(values: Any, rng: Rng) -> Any:
    """One of the values."""
    return values[int(rng.integers(len(values)))]
