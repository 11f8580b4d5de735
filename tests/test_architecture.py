"""The rooms of the library: who may import whom, who may make symbols, how long a module may be.

The rooms are read from the tables of CONTRIBUTING.md: a room imports only from rooms on lower floors.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ocp_dyn
from ocp_dyn.casadi_functions.registry import REGISTRY

ROOT = Path(ocp_dyn.__file__).parent
CONTRIBUTING = ROOT.parent / "CONTRIBUTING.md"
ROW = re.compile(r"^\| (\w+) \| ((?:`[\w/]+`(?:, )?)+) \|", re.MULTILINE)

ROWS = ROW.findall(CONTRIBUTING.read_text())
FLOORS = list(dict.fromkeys(floor for floor, _ in ROWS))
ROOMS = {room: FLOORS.index(floor) for floor, rooms in ROWS for room in re.findall(r"[\w/]+", rooms)}
"""Floor of every room in the tables of CONTRIBUTING.md."""

MODULES = sorted(ROOT.rglob("*.py"))
every_module = pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(ROOT)) for path in MODULES])
FOLDERS = sorted({path.parent for path in MODULES})


def name_of(path: Path) -> str:
    """Dotted name of a module; that of a package for its `__init__`."""
    parts = ("ocp_dyn", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in MODULES}


def room_of(name: str) -> str:
    """The room of a module: the longest entry of the table that its name begins with; "__init__" for the package."""
    parts = name.split(".")[1:] or ["__init__"]
    for k in range(len(parts), 0, -1):
        if "/".join(parts[:k]) in ROOMS:
            return "/".join(parts[:k])
    raise AssertionError(f"{name} belongs to no room of the table in CONTRIBUTING.md")


def imported(path: Path, source: str) -> set[str]:
    """Modules that `source`, the text of the module at `path`, imports anywhere: deferred and for types too."""
    package = ["ocp_dyn", *path.relative_to(ROOT).parent.parts]
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            inner = {alias.name: f"{name}.{alias.name}" for alias in node.names}
            # `from package import x` is the module x if there is one
            found |= {full if full in NAMES or name == "ocp_dyn" else name for full in inner.values()}
    return found


def of_the_library(path: Path, source: str) -> set[str]:
    return {name for name in imported(path, source) if name.split(".")[0] == "ocp_dyn"} - {name_of(path)}


def wrong_imports(path: Path, source: str) -> list[str]:
    """Rooms that a module looks into although they are not on a lower floor."""
    here = room_of(name_of(path))
    others = {room_of(name) for name in of_the_library(path, source)} - {here}
    return sorted(other for other in others if ROOMS[other] >= ROOMS[here])


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Names that lead back to themselves."""

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for other in graph.get(waiting.pop(), set()) - found:
                found.add(other)
                waiting.append(other)
        return found

    return sorted(name for name in graph if name in reached(name))


@every_module
def test_rooms_look_into_lower_floors_only(path):
    assert wrong_imports(path, path.read_text()) == []


def test_no_import_leads_back_to_where_it_came_from():
    graph = {name: of_the_library(path, path.read_text()) for name, path in NAMES.items()}
    assert circles(graph) == []


def test_every_room_of_the_table_exists():
    assert {room_of(name) for name in NAMES} == set(ROOMS)


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(folder.relative_to(ROOT)) for folder in FOLDERS])
def test_rooms_have_at_most_16_files(folder):
    assert len([path for path in MODULES if path.parent == folder]) <= 16
    assert len({path.relative_to(folder).parts[0] for path in MODULES if folder in path.parents}) <= 24


def test_optimal_control_has_few_doors():
    assert (
        len([path for path in (ROOT / "ocp").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()])
        <= 12
    )


@every_module
def test_urdf_is_parsed_in_one_place(path):
    uses = any(name.split(".")[0] == "urdf_parser_py" for name in imported(path, path.read_text()))
    assert not uses or room_of(name_of(path)) == "io"


EQUATIONS = {"constrained_motion", "derivatives", "dynamics/rnea_crba_aba", "dynamics/joint_space"}
"""Rooms and modules whose equations of motion hold springs, losses and rotors only when asked for them."""


@every_module
def test_optimal_control_has_its_equations_of_motion_from_one_place(path):
    if name_of(path).startswith("ocp_dyn.ocp.") and path.name != "equations.py":
        names = {name.removeprefix("ocp_dyn.").replace(".", "/") for name in of_the_library(path, path.read_text())}
        assert not {name for name in names if any(name.startswith(room) for room in EQUATIONS)}


def test_functions_name_no_algorithm():
    """The maker of Functions knows algorithms through signatures only."""
    path = ROOT / "casadi_functions" / "function.py"
    assert not of_the_library(path, path.read_text()) & {algorithm.__module__ for algorithm in REGISTRY}


SYMBOL_MAKERS = ("casadi_functions", "_autodiff", "_rounding", "codegen", "limit_cycles", "ocp")
"""Rooms that may call `.sym`: below them, algorithms take what they are given."""


def symbols_made(source: str) -> list[int]:
    """Line numbers of calls such as `SX.sym(...)`."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "sym"]


@every_module
def test_only_the_edge_makes_symbols(path):
    if path.relative_to(ROOT).with_suffix("").parts[0] not in SYMBOL_MAKERS:
        assert symbols_made(path.read_text()) == []


@every_module
def test_modules_are_short(path):
    lines = path.read_text().count("\n")
    assert lines <= 400, f"{lines} lines: a module past 400 is asking to be two"


@every_module
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines: past 60 it is asking to be two"


def test_the_checks_see_what_they_look_for():
    path = ROOT / "joints" / "free.py"
    assert wrong_imports(path, "from ..mechanism import Model") == ["mechanism"]
    assert wrong_imports(path, "from ..dynamics import kinematics") == ["dynamics"]
    assert wrong_imports(path, "def f():\n    from ocp_dyn.casadi_functions.function import function") == [
        "casadi_functions"
    ]
    assert wrong_imports(path, "if TYPE_CHECKING:\n    import ocp_dyn.ocp.problem") == ["ocp/problem"]
    assert (
        wrong_imports(path, "from ..spatial_algebra.spatial import skew\nfrom .._types import DM\nimport numpy") == []
    )
    solver = ROOT / "ocp" / "solvers" / "sqp.py"
    assert wrong_imports(solver, "from ..transcription import variables") == ["ocp/transcription"]
    assert wrong_imports(solver, "from ..nlp.blocks import Block\nfrom .interface import Start") == []
    assert wrong_imports(ROOT / "ocp" / "nlp" / "blocks.py", "from ..statement.phases import Phase") == [
        "ocp/statement"
    ]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert symbols_made("x = 1\ny = ca.SX.sym('y')") == [2]
