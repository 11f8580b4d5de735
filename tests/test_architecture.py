"""The rooms of the library: who may import whom, who may make symbols, how long a module may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ocp_dyn

ROOT = Path(ocp_dyn.__file__).parent

LAYERS = {
    0: ("_types", "_rounding", "_autodiff", "_files", "linalg"),
    1: ("spatial", "rotations"),
    2: ("joints",),
    3: ("model", "builder", "boundary", "joint_derivatives", "recursions"),
    4: ("io", "models", "kinematics", "layouts", "reduction", "passive", "parameters", "invertible"),
    5: ("dynamics", "momentum", "constraints", "coriolis", "regressor"),
    6: (
        "constrained",
        "derivatives",
        "second_derivatives",
        "call_derivatives",
        "inverse_kinematics",
        "joint_space",
        "lightest",
        "formulations",
    ),
    7: ("functions", "registry", "checked"),
    8: ("codegen", "viz"),
    9: ("ocp",),
    10: ("cli", "__main__"),
    11: ("__init__",),  # the front door sees every room
}
ROOMS = {room: layer for layer, rooms in LAYERS.items() for room in rooms}
SAME_LAYER = {
    ("rotations", "spatial"),
    ("builder", "model"),
    ("recursions", "model"),
    ("boundary", "model"),
    ("linalg", "_types"),
    ("_files", "_types"),
    ("_autodiff", "_types"),
    ("_autodiff", "_rounding"),
    ("_rounding", "_types"),
    ("constrained", "joint_space"),
    ("functions", "registry"),
    ("functions", "checked"),
    ("constrained", "derivatives"),
    ("second_derivatives", "derivatives"),
    ("call_derivatives", "derivatives"),
    ("call_derivatives", "second_derivatives"),
    ("call_derivatives", "lightest"),
}
"""Within a layer the first of a pair may look into the second, never the other way."""
SYMBOL_MAKERS = ("functions", "_autodiff", "_rounding", "codegen", "ocp")
"""Rooms that may call `.sym`: below the formulations, algorithms take what they are given."""

MODULES = sorted(path for path in ROOT.rglob("*.py"))
every_module = pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES])


def room(path: Path) -> str:
    """The room a module belongs to: a folder of the library, or the module itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0]


def modules_imported(path: Path, source: str) -> Iterator[str]:
    """Absolute names of all modules that `source`, the text of the module at `path`, imports."""
    package = ("ocp_dyn", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join((*base, *([node.module] if node.module else [])))
            # `from . import x, y` imports the modules x and y
            yield from (f"{name}.{alias.name}" for alias in node.names) if name == "ocp_dyn" else (name,)


def rooms_imported(path: Path, source: str) -> set[str]:
    names = (name.split(".") for name in modules_imported(path, source))
    return {parts[1] for parts in names if parts[0] == "ocp_dyn" and len(parts) > 1}


def wrong_imports(path: Path, source: str) -> list[str]:
    here = room(path)
    others = rooms_imported(path, source) - {here}
    unknown = others - ROOMS.keys()
    assert not unknown, f"{path.name} imports {unknown}: no room of that name has a layer"
    return [o for o in others if ROOMS[o] >= ROOMS[here] and not (ROOMS[o] == ROOMS[here] and (here, o) in SAME_LAYER)]


@every_module
def test_rooms_look_into_lower_layers_only(path):
    assert room(path) in ROOMS, f"{room(path)} has no layer yet"
    assert wrong_imports(path, path.read_text()) == []


@every_module
def test_urdf_is_parsed_in_one_place(path):
    uses = any(name.split(".")[0] == "urdf_parser_py" for name in modules_imported(path, path.read_text()))
    assert not uses or room(path) == "io"


def symbols_made(source: str) -> list[int]:
    """Line numbers of calls such as `SX.sym(...)`."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "sym"]


FORCES = {"dynamics", "constrained", "derivatives", "second_derivatives", "call_derivatives", "joint_space"}
"""Rooms whose equations of motion hold springs, losses and rotors only when asked for them."""
ASK_FOR_THEM = {"equations.py", "differentiated_dynamics.py", "mirror.py"}
"""What calls them in optimal control: the equations of a problem, their derivatives for the bodies, the mirror's check."""


@every_module
def test_optimal_control_has_its_equations_of_motion_from_one_place(path):
    if room(path) == "ocp" and path.name not in ASK_FOR_THEM:
        assert not rooms_imported(path, path.read_text()) & FORCES


@every_module
def test_only_the_edge_makes_symbols(path):
    if room(path) not in SYMBOL_MAKERS:
        assert symbols_made(path.read_text()) == []


@every_module
def test_modules_are_short(path):
    lines = path.read_text().count("\n")
    assert lines <= 450, f"{lines} lines: a module past 400 is asking to be two"


@every_module
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 75, f"{node.name} has {length} lines: past 60 it is asking to be two"


def test_the_checks_see_what_they_look_for():
    path = ROOT / "joints.py"
    assert wrong_imports(path, "from .model import Model") == ["model"]
    assert wrong_imports(path, "from . import dynamics") == ["dynamics"]
    assert wrong_imports(path, "def f():\n    from ocp_dyn.functions import function") == ["functions"]
    assert wrong_imports(path, "import ocp_dyn.cli") == ["cli"]
    assert wrong_imports(ROOT / "io" / "urdf.py", "from ..dynamics import rnea\nfrom .json import x") == ["dynamics"]
    assert wrong_imports(path, "from .spatial import skew\nfrom ._types import DM\nimport numpy") == []
    assert symbols_made("x = 1\ny = ca.SX.sym('y')") == [2]
