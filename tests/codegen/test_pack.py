"""The option `pack` of compilers and exports, and packed against plain code bit by bit."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.compiled import build
from ocp_dyn.native.toolchain import find_compiler
from scripts.checks.packing.comparison import Setting, compare
from scripts.checks.packing.models import MODELS, functions, mirrored

GCC = shutil.which("gcc")
COMPILE = sys.modules["ocp_dyn.codegen.compiled.compile"]
needs_gcc = pytest.mark.skipif(GCC is None, reason="no gcc")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

CASE = mirrored(length=1)
ID = od.function(od.inverse_dynamics, CASE.model)
FALL = od.function(od.gravity_force, od.models.pendulum(1))
"""A function of one angle, of which nothing shares a statement."""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


@pytest.fixture
def asked(monkeypatch) -> list[bool]:
    """The option `pack` of all calls of the emitter by `compile`."""
    found: list[bool] = []
    emit = build.emit

    def spy(f: ca.Function, name: str, **options: Any) -> object:
        found.append(options.get("pack", False))
        return emit(f, name, **options)

    monkeypatch.setattr(build, "emit", spy)
    return found


# Compilation in this process


@needs_compiler
@pytest.mark.slow
def test_only_code_for_one_state_is_packed(asked, home):
    made = {}
    for options, packs in (
        ({"lanes": 1}, [True]),
        ({"lanes": 1, "pack": False}, [False]),
        ({"lanes": 2}, [False, True]),
        ({"lanes": 2, "pack": False}, [False, False]),
        ({"lanes": 2, "single": False}, [False]),
        ({"lanes": 2, "single": False, "pack": False}, []),  # the same library
    ):
        asked.clear()
        made[str(options)] = od.codegen.compile([FALL], **options).tau_g
        assert asked == packs, options
    assert len(list(home.iterdir())) == 5
    for fast in made.values():
        np.testing.assert_allclose(fast([0.3]), np.array(FALL([0.3]))[0], rtol=1e-14)


@needs_gcc
def test_a_compiler_without_vector_extensions_gets_plain_code(asked, home, monkeypatch):
    found = find_compiler()
    assert found.vectors in (2, 4)
    monkeypatch.setattr(COMPILE, "find_compiler", lambda: replace(found, vectors=0))
    od.codegen.compile([FALL], lanes=1)
    od.codegen.compile([FALL], lanes=1, pack=False)
    assert asked == [False], "the same library"
    monkeypatch.setenv("CC", f"{GCC} -U__GNUC__")
    assert find_compiler().vectors == 0


@needs_compiler
def test_what_is_kept_knows_its_option(asked):
    fast = od.codegen.compile([FALL], lanes=1, pack=False)
    again = pickle.loads(pickle.dumps(fast.tau_g)), pickle.loads(pickle.dumps(fast)).tau_g
    assert [float(f([0.3])[0]) for f in again] == [float(fast.tau_g([0.3])[0])] * 2
    assert asked == [False], "found in the cache"


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_what_is_no_answer(tmp_path, value):
    for call in (
        lambda: od.codegen.compile([FALL], pack=value),
        lambda: od.codegen.generate([FALL], "robot", pack=value),
        lambda: od.codegen.export([FALL], tmp_path / "robot", pack=value),
        lambda: od.codegen.emit(FALL, "f", pack=value),
    ):
        with pytest.raises(TypeError, match=rf"pack must be True or False, got {value!r}"):
            call()
    assert not (tmp_path / "robot").exists()


# Exports


@pytest.mark.slow
def test_an_export_holds_both_forms_or_the_plain_one():
    packed, plain = (od.codegen.generate([ID, FALL], "robot", pack=pack) for pack in (True, False))
    assert packed.keys() == plain.keys()
    different = {name for name in plain if packed[name] != plain[name]}
    assert different == {"robot_ID.c", "CMakeLists.txt", "README.md"}
    mark, rest = packed["robot_ID.c"].split("\n", 1)
    vectors, other = rest.split("\n#else\n\n")
    assert vectors.startswith("#if defined(__GNUC__) && !defined(ROBOT_PLAIN)")
    assert "vector_size(16)" in vectors
    assert f"{mark}\n{other}" == plain["robot_ID.c"].removesuffix("\n") + "\n\n#endif\n"
    assert "vector_size" not in plain["robot_ID.c"]


@pytest.mark.slow
def test_the_manual_tells_what_is_packed():
    files = od.codegen.generate([ID, FALL], "robot")
    p = od.codegen.emit(ID, "k", dense=False, pack=True, widest=2).packing
    vectors = ", ".join(f"{count} of {width} numbers" for width, count in p.vectors.items())
    assert p.operations > p.statements > 0
    assert f"| `robot_ID` | {p.operations} | {p.statements} | {vectors} | {p.moves} |" in files["README.md"]
    assert "| `robot_tau_g` | nothing: no isomorphic operations that save time together | | |" in files["README.md"]
    assert "with Microsoft's compiler the code without them" in files["README.md"]
    assert "option(ROBOT_PLAIN " in files["CMakeLists.txt"]
    nothing = od.codegen.generate([FALL], "robot")
    assert "## Vector statements" in nothing["README.md"]
    assert "ROBOT_PLAIN" not in nothing["README.md"] + nothing["CMakeLists.txt"] + nothing["robot_tau_g.c"]
    assert "Vector statements" not in od.codegen.generate([ID], "robot", pack=False)["README.md"]


@needs_gcc
@pytest.mark.slow
def test_four_limbs_share_statements_where_registers_hold_four_numbers(tmp_path):
    case = MODELS["quadruped"]()
    f = od.function(od.inverse_dynamics, case.model)
    folder = od.codegen.export([f], tmp_path / "robot")
    text, manual = ((folder / name).read_text() for name in ("robot_ID.c", "README.md"))
    condition = "defined(__GNUC__) && !defined(ROBOT_PLAIN)"
    assert [line for line in text.splitlines() if condition in line] == [f"#if {condition} && defined(__AVX__)",
                                                                        f"#elif {condition}"]  # fmt: skip
    wide, narrow = (od.codegen.emit(f, "k", dense=False, pack=True, widest=n).packing for n in (4, 2))
    assert wide.statements < narrow.statements < narrow.operations
    assert f"| `robot_ID` | {narrow.operations} | {narrow.statements} | " in manual
    assert f"| `robot_ID` with AVX | {wide.operations} | {wide.statements} | " in manual
    assert compare(f, case.model, 20, tmp_path, Setting(GCC, "-O0", widest=2)).different == 0
    single = od.codegen.generate([f], "robot", precision="single")["robot_ID.c"]
    assert "vector_size(16)" in single
    assert "defined(__AVX__)" not in single


@pytest.mark.parametrize("widest", [1, 3, 8, 2.0, True, "4", None])
def test_lanes_that_no_statement_has(widest):
    with pytest.raises(ValueError, match="widest must be 2 or 4, the largest number of lanes, got"):
        od.codegen.emit(FALL, "f", pack=True, widest=widest)


def test_the_manual_names_code_of_casadis_generator():
    A, b = ca.MX.sym("A", 2, 2), ca.MX.sym("b", 2)
    solve = ca.Function("solve", [A, b], [ca.solve(A, b, "qr")])
    text = od.codegen.generate([solve, ID], "robot")["README.md"]
    assert "| `robot_solve` | code of CasADi's generator, without vectors | | |" in text


@needs_gcc
@pytest.mark.parametrize("precision", ["double", pytest.param("single", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_every_form_of_an_export_prints_the_same(tmp_path, precision):
    folder = od.codegen.export([ID], tmp_path / "robot", precision=precision)
    sources = [str(folder / name) for name in ("example.c", "robot.c", "robot_ID.c")]
    said = []
    for options in ((), ("-DROBOT_PLAIN",)):
        flags = ("-std=c99", "-O0", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", *options)
        subprocess.run([GCC, *flags, *sources, "-o", str(tmp_path / "run"), "-lm"], check=True)
        said.append(subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, check=True).stdout)
    assert len(said[0].splitlines()) == CASE.model.nv
    assert said[0] == said[1]


# Equality


@needs_gcc
@pytest.mark.parametrize(
    ("precision", "algorithms"), [("double", (od.forward_dynamics,)), ("single", (od.inverse_dynamics, od.mass_matrix))]
)
@pytest.mark.slow
def test_packed_code_is_equal_to_the_last_bit(tmp_path, precision, algorithms):
    """`python -m scripts.checks.packing` compares all algorithms at 10,000 states."""
    setting = Setting(GCC, "-O0", precision)
    for algorithm in algorithms:
        found = compare(od.function(algorithm, CASE.model), CASE.model, 40, tmp_path, setting)
        assert found.packing
        assert found.packing.statements < 0.75 * found.packing.operations, algorithm
        assert found.numbers > 0
        assert found.different == 0, algorithm


ENTRIES = {"planar": ("FDc", "Y"), "closed": ("FDc_A",), "quadruped": ("H",), "random": ("difference", "pose")}


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_algorithms_of_the_registry(tmp_path, name):
    case = MODELS[name]()
    found = [compare(f, case.model, 20, tmp_path, Setting(GCC, "-O0")) for f in functions(case, ENTRIES[name])]
    assert [one.different for one in found] == [0] * len(found)
    assert any(one.packing for one in found)


@needs_gcc
@pytest.mark.slow
def test_a_difference_is_seen(monkeypatch, tmp_path):
    """One more operation in the code of one form, of one entry."""
    comparison = sys.modules[compare.__module__]
    source = comparison.driver.batch_source

    def wrong(kernel, lanes, precision):
        text = source(kernel, lanes, precision)
        return text if kernel.packing else text.replace("y0[AT(0, 0)] = ", "y0[AT(0, 0)] = K(0.5) + ", 1)

    monkeypatch.setattr(comparison.driver, "batch_source", wrong)
    found = compare(od.function(od.mass_matrix, CASE.model), CASE.model, 30, tmp_path, Setting(GCC, "-O0"))
    assert (found.numbers, found.different) == (30 * CASE.model.nv**2, 30)


@pytest.mark.slow
def test_the_script_knows_its_models():
    command = [sys.executable, "-m", "scripts.checks.packing", "--models", "humann"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 2
    assert "models are mirrored, quadruped, " in done.stderr
