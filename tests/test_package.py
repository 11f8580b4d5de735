"""The package as users meet it: its version, its names, what `dir` and the star import show, when it loads CasADi."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ocp_dyn as od
from ocp_dyn._base.rooms import Retired, only_names

ROOT = Path(od.__file__).parents[1]
MODULES = {
    "codegen",
    "control",
    "formulations",
    "io",
    "layouts",
    "models",
    "muscles",
    "ocp",
    "recordings",
    "replay",
    "simulation",
    "robots",
    "viz",
    "walking",
}
"""Modules among the names of the library."""


def imported(path: Path) -> list[str]:
    """Names that a module imports with relative imports."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    nodes = [node for node in body if isinstance(node, ast.ImportFrom) and node.level]
    return sorted(name for node in nodes for alias in node.names if not (name := alias.asname or "").startswith("_"))


def test_the_version_has_one_source() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", od.__version__)
    assert f"\nversion: {od.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert "version = " not in (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool")[0]


def test_dir_and_the_star_import_show_the_names_of_the_library() -> None:
    names = imported(ROOT / "ocp_dyn/_names.py")
    assert od.__all__ == names
    assert [name for name in dir(od) if not name.startswith("__")] == names
    assert {name for name in names if isinstance(getattr(od, name), ModuleType)} == MODULES
    space: dict[str, object] = {}
    exec("from ocp_dyn import *", space)  # noqa: S102
    assert set(space) - {"__builtins__"} == set(names)
    assert {"__version__", "__doc__"} <= set(dir(od))


@pytest.mark.parametrize(
    "room", ["ocp", "viz", "codegen", "models", "formulations", "io", "recordings", "replay", "simulation", "walking"]
)
def test_rooms_show_their_names_and_no_modules(room: str) -> None:
    package = getattr(od, room)
    shown = [name for name in dir(package) if not name.startswith("__")]
    assert shown == package.__all__ == imported(Path(package.__file__))
    assert not [name for name in shown if isinstance(getattr(package, name), ModuleType) and name not in MODULES]


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(AttributeError, match="ocp_dyn has no 'mas_matrix': did you mean 'mass_matrix'"):
        od.mas_matrix  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'mas_matrix'"):
        exec("from ocp_dyn import mas_matrix")  # noqa: S102
    assert not hasattr(od, "__wrapped__")
    with pytest.raises(AttributeError, match=r"ocp_dyn\.ocp has no 'TorqueSquare': did you mean 'TorqueSquared'"):
        od.ocp.TorqueSquare  # noqa: B018
    assert not hasattr(od.ocp, "__wrapped__")


def test_retired_names_lead_to_their_successors() -> None:
    """A name that is gone tells the new one; one that still works warns, and is in no list."""
    with pytest.raises(
        AttributeError, match=r"ocp_dyn.ocp.Stage is called 'Instant' since version 0.2; the old name is"
    ):
        od.ocp.Stage  # noqa: B018
    room: dict[str, Any] = {"__name__": "room", "new": 3}
    only_names(room, {"old": Retired("new", since="1.1")})
    with pytest.warns(DeprecationWarning, match="room.old is called 'new' since version 1.1; the next major") as told:
        assert room["__getattr__"]("old") == 3
    assert told[0].filename == __file__
    assert room["__all__"] == ["new"]
    with pytest.raises(AttributeError, match="room has no 'odl'"):
        room["__getattr__"]("odl")


def test_names_of_other_libraries_lead_to_ours():
    from ocp_dyn import _names

    with pytest.raises(
        AttributeError, match="no 'rnea', the name in another library: it is called 'inverse_dynamics' here"
    ):
        od.rnea  # noqa: B018
    for theirs, ours in _names._ELSEWHERE.items():
        assert hasattr(od, ours)
        assert not hasattr(od, theirs)


@pytest.mark.slow
def test_the_import_loads_nothing_until_a_name_is_used() -> None:
    """A room that is imported alone loads what it needs, and its objects still have pictures in notebooks."""
    code = """
import sys
import ocp_dyn as od
assert od.__version__ and not hasattr(od, "__wrapped__")
assert not {"casadi", "numpy", "ocp_dyn._names"} & set(sys.modules)
from ocp_dyn.models import human
assert "ocp_dyn.ocp" not in sys.modules
import ocp_dyn.ocp, ocp_dyn.viz
assert not {"matplotlib", "PIL", "IPython"} & set(sys.modules)
assert human(70, 1.7, "male")._repr_png_() is not None
assert od.Model is type(human(70, 1.7, "male"))
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not run.stderr
