"""The rooms of the library: who may import whom, who may make symbols, how long a module may be.

The rooms are read from the tables of CONTRIBUTING.md: a room imports only from rooms on lower floors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

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


parsed = cache(ast.parse)


@cache
def imported(path: Path, source: str) -> set[str]:
    """Modules that `source`, the text of the module at `path`, imports anywhere: deferred and for types too."""
    package = ["ocp_dyn", *path.relative_to(ROOT).parent.parts]
    found: set[str] = set()
    for node in ast.walk(parsed(source)):
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


def faults(check: Callable[[Path, str], list[str]]) -> dict[str, list[str]]:
    """Results of a check of the path and the text of a module, by the names of the modules in which it finds anything."""
    results = {name: check(path, path.read_text()) for name, path in NAMES.items()}
    return {name: found for name, found in results.items() if found}


def test_rooms_look_into_lower_floors_only():
    assert faults(wrong_imports) == {}


def test_no_import_leads_back_to_where_it_came_from():
    graph = {name: of_the_library(path, path.read_text()) for name, path in NAMES.items()}
    assert circles(graph) == []


def test_every_room_of_the_table_exists():
    assert {room_of(name) for name in NAMES} == set(ROOMS)


def test_rooms_have_at_most_16_files():
    for folder in FOLDERS:
        assert len([path for path in MODULES if path.parent == folder]) <= 16, folder
        entries = {path.relative_to(folder).parts[0] for path in MODULES if folder in path.parents}
        assert len(entries) <= (28 if folder == ROOT else 24), folder


def test_optimal_control_has_few_doors():
    assert (
        len([path for path in (ROOT / "ocp").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()])
        <= 14
    )


def test_urdf_is_parsed_in_one_place():
    parsers = faults(lambda path, source: [name for name in imported(path, source) if "urdf_parser_py" in name])
    assert {room_of(name) for name in parsers} == {"io"}


EQUATIONS = {"constrained_motion", "derivatives", "dynamics/rnea_crba_aba", "dynamics/joint_space"}
"""Rooms and modules whose equations of motion hold springs, losses and rotors only when asked for them."""


def equations_imported(path: Path, source: str) -> list[str]:
    """Modules of `EQUATIONS` that a module imports."""
    names = {name.removeprefix("ocp_dyn.").replace(".", "/") for name in of_the_library(path, source)}
    return sorted(name for name in names if any(name.startswith(room) for room in EQUATIONS))


def test_optimal_control_has_its_equations_of_motion_from_one_place():
    users = [name for name in faults(equations_imported) if name.startswith("ocp_dyn.ocp.")]
    assert users == ["ocp_dyn.ocp.equations"]


def test_functions_name_no_algorithm():
    """The maker of Functions knows algorithms through signatures only."""
    path = ROOT / "casadi_functions" / "function.py"
    assert not of_the_library(path, path.read_text()) & {algorithm.__module__ for algorithm in REGISTRY}


SYMBOL_MAKERS = ("casadi_functions", "_autodiff", "_rounding", "codegen", "formulations", "limit_cycles", "ocp")
"""Rooms that may call `.sym`: below them, algorithms take what they are given."""


def symbols_made(path: Path, source: str) -> list[str]:
    """Places of calls such as `SX.sym(...)`."""
    calls = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.Call))
    sym = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "sym"]
    return [f"{path.name}:{call.lineno}" for call in sym]


def test_only_the_edge_makes_symbols():
    made = faults(symbols_made)
    assert {name: places for name, places in made.items() if room_of(name).split("/")[0] not in SYMBOL_MAKERS} == {}


def long_functions(path: Path, source: str) -> list[str]:
    """Functions of more than 60 lines: each is asking to be two."""
    functions = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.FunctionDef))
    lengths = [(node.name, node.end_lineno - node.lineno + 1) for node in functions]
    return [f"{name} has {length} lines" for name, length in lengths if length > 60]


def long_module(path: Path, source: str) -> list[str]:
    """The length of a module of more than 400 lines: it is asking to be two."""
    lines = source.count("\n")
    return [f"{lines} lines"] if lines > 400 else []


def test_modules_and_functions_are_short():
    assert faults(long_module) == {}
    assert faults(long_functions) == {}


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
    assert symbols_made(path, "x = 1\ny = ca.SX.sym('y')") == ["free.py:2"]
    assert equations_imported(solver, "from ...derivatives import first\nfrom ..equations import Equations") == [
        "derivatives/first"
    ]
    assert long_functions(path, "def f():\n" + 59 * "    pass\n") == []
    assert long_functions(path, "def f():\n" + 60 * "    pass\n") == ["f has 61 lines"]
    assert long_module(path, 400 * "\n") == []
    assert long_module(path, 401 * "\n") == ["401 lines"]
