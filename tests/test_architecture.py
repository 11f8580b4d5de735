"""The rooms of the library: who may import whom, who may make symbols, how much a reader must know.

The rooms are read from the tables of docs/development/rooms.md: a room imports only from rooms on lower floors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ocp_dyn
from ocp_dyn.functions.registry import REGISTRY

ROOT = Path(ocp_dyn.__file__).parent
PAGE = ROOT.parent / "docs/development/rooms.md"
ROW = re.compile(r"^\| (\w+) \| ((?:`[\w/]+`(?:, )?)+) \|", re.MULTILINE)

ROWS = ROW.findall(PAGE.read_text())
FLOORS = list(dict.fromkeys(floor for floor, _ in ROWS))
ROOMS = {room: FLOORS.index(floor) for floor, rooms in ROWS for room in re.findall(r"[\w/]+", rooms)}
"""Floor of every room in the tables of the page."""

MODULES = sorted(ROOT.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})


def name_of(path: Path) -> str:
    """Dotted name of a module; that of a package for its `__init__`."""
    parts = ("ocp_dyn", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in MODULES}

OUTSIDE = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path
    for folder in ("problems", "scripts")
    for path in sorted((ROOT.parent / folder).rglob("*.py"))
}
"""Modules of the problems and scripts, by their dotted names."""


def room_of(name: str) -> str:
    """The room of a module: the longest entry of the table that its name begins with; "__init__" for the package."""
    parts = name.split(".")[1:] or ["__init__"]
    for k in range(len(parts), 0, -1):
        if "/".join(parts[:k]) in ROOMS:
            return "/".join(parts[:k])
    raise AssertionError(f"{name} belongs to no room of the table in docs/development/rooms.md")


IMPORT = re.compile(
    r"^ *((?:from [.\w]+ )?import (?:\((?:[^()]|\([^()]*\))*\)|[\w.*, ]+))(?=\s*(?:#.*)?$)", re.MULTILINE
)
"""Statements that import, also inside of functions and conditions: quicker found than all nodes of a syntax tree."""


@cache
def nodes(source: str) -> list[ast.AST]:
    """All nodes of the syntax tree of a text."""
    return list(ast.walk(ast.parse(source)))


@cache
def imported(path: Path, source: str) -> set[str]:
    """Modules that `source`, the text of the module at `path`, imports anywhere: deferred and for types too."""
    package = path.relative_to(ROOT.parent).parent.parts
    found: set[str] = set()
    for node in ast.parse("\n".join(line.strip() for line in IMPORT.findall(source))).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            inner = {alias.name: f"{name}.{alias.name}" for alias in node.names}
            # `from package import x` is the module x if there is one
            found |= {
                full if full in NAMES or full in OUTSIDE or name == "ocp_dyn" else name for full in inner.values()
            }
    return found


def of_the_library(path: Path, source: str) -> set[str]:
    return {name for name in imported(path, source) if name.split(".")[0] == "ocp_dyn"} - {name_of(path)}


def wrong_imports(path: Path, source: str) -> list[str]:
    """Rooms that a module looks into although they are not on a lower floor."""
    here = room_of(name_of(path))
    others = {room_of(name) for name in of_the_library(path, source)} - {here}
    return sorted(other for other in others if ROOMS[other] >= ROOMS[here])


USED = "codegen formulations io models ocp replay simulation spatial_algebra.rotations viz walking cli.examples"
PUBLIC = {"ocp_dyn"} | {f"ocp_dyn.{room}" for room in USED.split()}
"""Modules of the library that a problem may import: the front doors, rotations, and the command lines of problems."""


def not_public(path: Path, source: str) -> list[str]:
    """Modules of the library that a problem imports and users do not call, and private names."""
    found = []
    for node in nodes(source):
        names = [alias.name for alias in getattr(node, "names", [])] if isinstance(node, ast.ImportFrom) else []
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        own = [m.removeprefix("ocp_dyn.problems.") for m in modules]
        found += [m for m in modules if m.startswith("ocp_dyn") and not m.startswith("ocp_dyn.problems")
                  and m not in PUBLIC]  # fmt: skip
        parts = {part for m in own for part in m.split(".")} | set(names)
        found += sorted(part for part in parts if part.startswith("_") and part != "__future__")
    return found


def test_problems_import_public_names_only():
    problems = {name: path for name, path in OUTSIDE.items() if name.startswith("problems.")}
    results = {name: not_public(path, path.read_text()) for name, path in problems.items()}
    assert {name: found for name, found in results.items() if found} == {}
    assert {path.stem for path in problems.values() if path.stem.startswith("_")} == {"__init__"}


def private_problems(path: Path, source: str) -> list[str]:
    """Private modules of the problems that a module imports."""
    return sorted(name for name in imported(path, source) if name.startswith("problems.") and "._" in name)


def test_scripts_import_no_private_modules_of_problems():
    scripts = {name: path for name, path in OUTSIDE.items() if name.startswith("scripts.")}
    found = {name: private_problems(path, path.read_text()) for name, path in scripts.items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_examples_are_short():
    """A reader takes in an example at once."""
    lines = {name: path.read_text().count("\n") for name, path in OUTSIDE.items() if name.startswith("problems.")}
    assert {name: count for name, count in lines.items() if count > 120} == {}


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
    """Results of a check of the path and the text of a module, by the names of the modules in which it finds
    anything."""
    results = {name: check(path, path.read_text()) for name, path in NAMES.items()}
    return {name: found for name, found in results.items() if found}


def test_rooms_look_into_lower_floors_only():
    assert faults(wrong_imports) == {}


def test_no_import_leads_back_to_where_it_came_from():
    graph = {name: of_the_library(path, path.read_text()) for name, path in NAMES.items()}
    assert circles(graph) == []
    graph = {
        name: {other.replace("ocp_dyn.problems.", "problems.") for other in imported(path, path.read_text())}
        for name, path in OUTSIDE.items()
    }
    assert circles({name: others & OUTSIDE.keys() for name, others in graph.items()}) == []


def test_every_room_of_the_table_exists():
    assert {room_of(name) for name in NAMES} == set(ROOMS)


def test_rooms_have_at_most_16_files():
    for folder in FOLDERS:
        assert len([path for path in MODULES if path.parent == folder]) <= 16, folder
        entries = {path.relative_to(folder).parts[0] for path in MODULES if folder in path.parents}
        assert len(entries) <= (31 if folder == ROOT else 24), folder


def test_optimal_control_has_few_doors():
    assert (
        len([path for path in (ROOT / "ocp").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()])
        <= 15
    )


EQUATIONS = {"constrained_motion", "derivatives", "dynamics/rnea_crba_aba", "dynamics/joint_space"}
"""Rooms and modules whose equations of motion hold springs, losses and rotors only when asked for them."""


def equations_imported(path: Path, source: str) -> list[str]:
    """Modules of `EQUATIONS` that a module imports."""
    names = {name.removeprefix("ocp_dyn.").replace(".", "/") for name in of_the_library(path, source)}
    return sorted(name for name in names if any(name.startswith(room) for room in EQUATIONS))


def test_optimal_control_has_its_equations_of_motion_from_two_places():
    """Those of problems, and those of the moving windows of predictive control."""
    users = [name for name in faults(equations_imported) if name.startswith("ocp_dyn.ocp.")]
    assert users == ["ocp_dyn.ocp.equations", "ocp_dyn.ocp.horizon.stage"]


def test_functions_name_no_algorithm():
    """The maker of Functions knows algorithms through signatures only."""
    path = ROOT / "functions" / "function.py"
    assert not of_the_library(path, path.read_text()) & {algorithm.__module__ for algorithm in REGISTRY}


SYMBOL_MAKERS = (
    "_base",
    "functions",
    "codegen",
    "control",
    "formulations",
    "gait",
    "limit_cycles",
    "ocp",
    "recordings",
    "replay",
    "simulation",
    "walking",
)
"""Rooms that may call `.sym`: below them, algorithms take what they are given."""


def symbols_made(path: Path, source: str) -> list[str]:
    """Places of calls such as `SX.sym(...)`."""
    calls = (node for node in (nodes(source) if ".sym(" in source else ()) if isinstance(node, ast.Call))
    sym = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "sym"]
    return [f"{path.name}:{call.lineno}" for call in sym]


def test_only_the_edge_makes_symbols():
    made = faults(symbols_made)
    assert {name: places for name, places in made.items() if room_of(name).split("/")[0] not in SYMBOL_MAKERS} == {}


class Sealed(NamedTuple):
    """A sealed room. doors: its modules that others may import. below: what it may import."""

    doors: set[str]
    below: set[str]


def lower(room: str) -> set[str]:
    """Rooms on lower floors."""
    return {other for other in ROOMS if ROOMS[other] < ROOMS[room]}


DESCRIPTIONS = {f"functions.{name}" for name in ("checked", "conventions", "description", "quantities")}
SEALED = {
    "native": Sealed(
        {f"native.{name}" for name in ("libraries", "library", "processes", "provenance", "toolchain")}, {"_base"}
    ),
    "codegen": Sealed({"codegen", "codegen.tables", "codegen.c_export.writing"}, {"_base", "native"} | DESCRIPTIONS),
    "io": Sealed(
        {f"io{door}" for door in ("", ".constraints", ".formats", ".json", ".layouts", ".npz", ".opensim.document")}
        | {"io.plain_classes", "io.simulators"}
        | {f"io.shapes.{door}" for door in ("body_shape", "meshes", "placed")},
        lower("io"),
    ),
    "muscles": Sealed(
        {f"muscles{door}" for door in ("", ".hill_muscles", ".least_effort", ".path_algorithms", ".path_geometry")},
        lower("muscles"),
    ),
    "recordings": Sealed(
        {f"recordings{door}" for door in ("", ".fit_motion", ".forces", ".signals")},
        lower("recordings") - {"models"},
    ),
    "formulations": Sealed({"formulations"}, lower("formulations")),
    "constrained_motion": Sealed(
        {"constrained_motion", *(f"constrained_motion.{door}" for door in ("derivatives", "second_derivatives"))}
        | {"constrained_motion.independent_rows", "constrained_motion.solvers"},
        lower("constrained_motion"),
    ),
    "models": Sealed(
        {f"models{door}" for door in ("", ".human", ".joint_limits", ".robots", ".robots.load", ".strength_curves")},
        lower("models"),
    ),
    "viz": Sealed(
        {f"viz{door}" for door in ("", ".drawing", ".gait_curves", ".panels", ".pictures.phase_strip", ".pictures.spy")}
        | {"viz.overview", "viz.skeleton"},  # functions of these names, too
        lower("viz"),
    ),
    "cli": Sealed({"cli.main", "cli.examples"}, lower("cli")),
    "walking": Sealed(
        {f"walking{door}" for door in ("", ".biped", ".person", ".quadruped", ".robots", ".effort.effort_costs")},
        lower("walking"),
    ),
}
"""Rooms that nobody needs to open who works elsewhere; each has a page, README.md, and a folder of tests."""

PROOFS = [ROOT.parent / "scripts/checks" / name for name in ("packing", "fuzz", "formats", "musculature.py")]
"""Checks that look inside sealed rooms."""


def under(name: str, places: set[str]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


def unsealed(path: Path, source: str) -> list[str]:
    """Modules that are imported past the doors of a sealed room, or upward out of one."""
    own = name_of(path).removeprefix("ocp_dyn.") if ROOT in path.parents else ""
    here = own.split(".")[0]
    names = {name.removeprefix("ocp_dyn.") for name in imported(path, source) if name.startswith("ocp_dyn.")} - {own}
    past = {name for name in names if (room := SEALED.get(name.split(".")[0])) and name not in room.doors}
    up = {name for name in names if here in SEALED and not under(name, SEALED[here].below)}
    return sorted(name for name in past | up if name.split(".")[0] != here)


def test_sealed_rooms_are_entered_by_their_doors():
    assert faults(unsealed) == {}
    outside = [path for path in OUTSIDE.values() if not any(proof in (path, *path.parents) for proof in PROOFS)]
    found = {path: unsealed(path, path.read_text()) for path in outside}
    assert {path: names for path, names in found.items() if names} == {}


def test_sealed_rooms_have_a_page_and_tests():
    for room, sealed in SEALED.items():
        page = (ROOT / room / "README.md").read_text()
        assert "sealed room" in page
        assert "proved right" in page
        assert page.count("\n") < 130
        assert list((ROOT.parent / "tests" / room).glob("test_*.py"))
        assert all(f"ocp_dyn.{door}" in NAMES for door in sealed.doors)


C_FILES = sorted(ROOT.rglob("*.[ch]"))
C_FUNCTION = re.compile(r"^(?!static |INLINE |typedef |#)[A-Za-z_][\w *]*?\b(\w+)\([^;{]*\)\s*\{", re.MULTILINE)
"""The head of a function that other files can call."""


def c_graph(texts: dict[str, str]) -> dict[str, set[str]]:
    """For every C file of a folder the headers that it includes and the files whose functions it names."""
    code = {name: re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL) for name, text in texts.items()}
    home = {name: file for file, text in code.items() if file.endswith(".c") for name in C_FUNCTION.findall(text)}
    found = {file: set(re.findall(r'#include "([^"]+)"', text)) for file, text in code.items()}
    for file in (file for file in code if file.endswith(".c")):
        found[file] |= {home[word] for word in re.findall(r"\w+", code[file]) if word in home} - {file}
    return found


def test_no_c_file_leads_back_to_where_it_was_called_from():
    for folder in {path.parent for path in C_FILES}:
        graph = c_graph({path.name: path.read_text() for path in C_FILES if path.parent == folder})
        assert circles(graph) == [], folder
        assert set.union(*graph.values()) <= set(graph), folder


def long_functions(path: Path, source: str) -> list[str]:
    """Functions of more than 60 lines: each is asking to be two."""
    functions = (node for node in nodes(source) if isinstance(node, ast.FunctionDef))
    lengths = [(node.name, node.end_lineno - node.lineno + 1) for node in functions]
    return [f"{name} has {length} lines" for name, length in lengths if length > 60]


MOST_IMPORTS, MOST_ATTRIBUTES = 28, 28
"""Most modules of the library that a module imports, and most attributes that a class has: all that its reader must
know."""


def many_imports(path: Path, source: str) -> list[str]:
    """The number of modules of the library that a module imports, if it is too large."""
    count = len(of_the_library(path, source))
    return [f"{count} imports"] if count > MOST_IMPORTS and path.name not in ("__init__.py", "_names.py") else []


def many_attributes(path: Path, source: str) -> list[str]:
    """Classes with too many attributes: fields, and what methods store in self."""
    found = []
    for made in (node for node in nodes(source) if isinstance(node, ast.ClassDef)):
        stored = {node.attr for node in ast.walk(made) if isinstance(node, ast.Attribute) and _of_self(node)}
        fields = {node.target.id for node in made.body if isinstance(node, ast.AnnAssign)}
        if len(stored | fields) > MOST_ATTRIBUTES:
            found.append(f"{made.name} has {len(stored | fields)} attributes")
    return found


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"


def test_functions_are_short_and_their_readers_need_not_know_much():
    assert faults(long_functions) == {}
    assert faults(many_imports) == {}
    assert faults(many_attributes) == {}


def test_the_checks_see_what_they_look_for():
    path = ROOT / "joints" / "free.py"
    assert wrong_imports(path, "from ..mechanism import Model") == ["mechanism"]
    assert wrong_imports(path, "from ..dynamics import kinematics") == ["dynamics"]
    assert wrong_imports(path, "def f():\n    from ocp_dyn.functions.function import function") == ["functions"]
    assert wrong_imports(path, "if TYPE_CHECKING:\n    import ocp_dyn.ocp.problem") == ["ocp/problem"]
    assert (
        wrong_imports(path, "from ..spatial_algebra.spatial import skew\nfrom .._base.types import DM\nimport numpy")
        == []
    )
    problem = ROOT.parent / "problems" / "run.py"
    assert not_public(problem, "from ocp_dyn.ocp.statement import costs\nfrom ocp_dyn.ocp import Phase") == [
        "ocp_dyn.ocp.statement"
    ]
    assert not_public(problem, "from ._steps import walk\nfrom ocp_dyn.ocp import _hidden") == ["_steps", "_hidden"]
    script = OUTSIDE["scripts.bench.walking"]
    assert private_problems(script, "from problems._steps import walk") == ["problems._steps"]
    assert private_problems(script, "from problems import human_walk") == []
    solver = ROOT / "ocp" / "solvers" / "sqp.py"
    assert wrong_imports(solver, "from ..transcription import variables") == ["ocp/transcription"]
    assert wrong_imports(solver, "from ..nlp.blocks import Block\nfrom .interface import Start") == []
    assert wrong_imports(ROOT / "ocp" / "nlp" / "blocks.py", "from ..statement.phases import Phase") == [
        "ocp/statement"
    ]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert unsealed(solver, "from ...native.variants import FOLDER") == ["native.variants"]
    assert unsealed(solver, "from ...native import libraries\nfrom ...formulations import natural") == []
    assert unsealed(solver, "from ...formulations.natural_coordinates import NaturalCoordinates") != []
    assert unsealed(ROOT / "codegen" / "tables.py", "from ..mechanism import Model") == ["mechanism"]
    assert unsealed(ROOT / "codegen" / "tables.py", "from .text import emit\nfrom ..functions import function") != []
    assert unsealed(OUTSIDE["problems.human_walk"], "from ocp_dyn.codegen.text.emit import emit") == [
        "codegen.text.emit"
    ]
    files = {"a.c": '#include "a.h"\nint f(int x)\n{\n    return g(x);\n}\n', "a.h": "int f(int x);\n/* h() */\n"}
    assert circles(
        c_graph(files | {"b.c": "static int h(void) { return 1; }\nint g(int x) { return h() + f(x); }\n"})
    ) == ["a.c", "b.c"]
    assert circles(c_graph(files | {"b.c": "int g(int x) { return x; } /* f */\n"})) == []
    assert circles({"a.h": {"b.h"}, "b.h": {"a.h"}}) == ["a.h", "b.h"]
    assert symbols_made(path, "x = 1\ny = ca.SX.sym('y')") == ["free.py:2"]
    assert equations_imported(solver, "from ...derivatives import first\nfrom ..equations import Equations") == [
        "derivatives/first"
    ]
    assert long_functions(path, "def f():\n" + 59 * "    pass\n") == []
    assert long_functions(path, "def f():\n" + 60 * "    pass\n") == ["f has 61 lines"]
    names = [name.removeprefix("ocp_dyn.") for name in NAMES if name.count(".") == 2][: MOST_IMPORTS + 1]
    assert many_imports(path, "\n".join(f"import ocp_dyn.{name}" for name in names)) == [f"{MOST_IMPORTS + 1} imports"]
    assert many_imports(path, "\n".join(f"import ocp_dyn.{name}" for name in names[1:])) == []
    body = "class A:\n    a0: int\n    def f(self):\n        self.a0 = 1\n"
    stored = [f"        self.a{k} = {k}\n" for k in range(1, MOST_ATTRIBUTES + 1)]
    assert many_attributes(path, body + "".join(stored[1:])) == []
    assert many_attributes(path, body + "".join(stored)) == [f"A has {MOST_ATTRIBUTES + 1} attributes"]
