"""The generated Simulink S-function, compiled against a stand-in of Simulink's header, computes what Python does."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.codegen.test_export import odd
from tests.helpers import close, mostly_slow, tree

CC = shutil.which("cc") or shutil.which("gcc")
STANDIN = Path(__file__).parent / "simulink"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-function")

pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")

MODEL = tree("chain")
H = od.function(od.mass_matrix, MODEL)
ID = od.function(od.inverse_dynamics, MODEL)
FUNCTIONS = [ID, H, odd()]


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr[-3000:]}"
    return done.stdout


def mex(folder: Path) -> Path:
    """The S-function with the sources that its build script names, as `mex` compiles it."""
    prefix = folder.name
    script = (folder / "simulink" / f"build_sfun_{prefix}.m").read_text()
    (listed,) = re.findall(r"sources = \{(.*)\};", script)
    sources = [folder / "simulink" / name for name in re.findall(r"'([^']+)'", listed)]
    made = folder / "simulink" / f"sfun_{prefix}.so"
    include = (f"-I{folder}", f"-I{STANDIN}", "-DMATLAB_MEX_FILE")
    run(CC, *STRICT, "-O0", *include, "-shared", "-fPIC", folder / "simulink" / f"sfun_{prefix}.c", *sources, "-o",
        made, "-lm", "-Wl,-z,defs")  # fmt: skip
    return made


def run_block(library: ctypes.CDLL, f: ca.Function, values: list[np.ndarray], dtype: type) -> list[np.ndarray]:
    """Outputs of a block, which must have the shapes of f, leaving out empty arguments."""
    given = [v for v in values if v.size]
    results = [np.full(f.size_out(j), np.nan, dtype, order="F") for j in range(f.n_out()) if f.numel_out(j)]
    inputs = [np.asfortranarray(v, dtype) for v in given]
    pointers = [(ctypes.c_void_p * 16)(*(a.ctypes.data for a in side)) for side in (inputs, results)]
    report = (ctypes.c_int * 100)()
    assert library.run_block(f.name().encode(), b"ID", *pointers, report) == 0
    assert list(report[:2]) == [len(inputs), len(results)]
    for k, array in enumerate((*inputs, *results)):
        rows, columns, kind, feedthrough = report[2 + 4 * k : 6 + 4 * k]
        assert (rows, columns) == (*array.shape, 1)[:2]
        assert kind == (dtype is np.float32)
        assert bool(feedthrough) is (k < len(inputs))
    return results


@mostly_slow("kind", ("sparse", "dense", "single"), ("sparse", "dense"))
@pytest.mark.slow
def test_blocks_compute_what_python_does(rng, tmp_path, kind):
    """Dense, sparse, constant, empty and matrix arguments; two blocks of one library in turn."""
    precision, lanes = ("single", 4) if kind == "single" else ("double", 1)
    folder = od.codegen.export(FUNCTIONS, tmp_path / "robot", dense=kind == "dense", precision=precision, lanes=lanes)
    library = ctypes.CDLL(str(mex(folder)))
    dtype, tolerance = (np.float32, 1e-4) if precision == "single" else (np.float64, 1e-12)
    for f in FUNCTIONS:
        values = [np.array(ca.DM(f.sparsity_in(i), rng.normal(size=f.nnz_in(i))).full()) for i in range(f.n_in())]
        expected = [y.full() for y in f.call(values) if y.numel()]
        for got, wanted in zip(run_block(library, f, values, dtype), expected, strict=True):
            close(got, wanted, tolerance)


@pytest.mark.slow
def test_wrong_parameters(tmp_path, capfd):
    library = ctypes.CDLL(str(mex(od.codegen.export([ID, H], tmp_path / "robot"))))
    nothing = (ctypes.c_void_p * 16)()
    for name in (b"FD", b"x" * 200, None):
        assert library.run_block(name, b"ID", nothing, nothing, (ctypes.c_int * 100)()) == 1
        assert "sfun_robot: parameter 1 must be the name of a function: ID, H" in capfd.readouterr().out
    assert library.too_many_parameters() == 0


@pytest.mark.slow
def test_derivatives_are_no_blocks(tmp_path):
    """They serve CasADi; the sources of the library refer to them, so that they are compiled all the same."""
    folder = od.codegen.export([H], tmp_path / "robot", derivatives=("jac",))
    mex(folder)
    text = (folder / "simulink" / "sfun_robot.c").read_text()
    assert "jac_H" not in text
    assert "jac_H" in (folder / "simulink" / "build_sfun_robot.m").read_text()


@pytest.mark.slow
def test_no_state_and_no_globals(tmp_path):
    folder = od.codegen.export(FUNCTIONS, tmp_path / "robot")
    made = folder / "o"
    run(CC, "-c", f"-I{folder}", f"-I{STANDIN}", folder / "simulink" / "sfun_robot.c", "-DMATLAB_MEX_FILE", "-o", made)
    if shutil.which("nm"):
        assert re.findall(r" [bBC] (\w+)", run("nm", made)) == []
        writable = re.findall(r" [dD] (\w+)", run("nm", made))
        assert [name for name in writable if name not in ("functions",) and not name.endswith("_arguments")] == []


def test_the_file_and_the_manual_name_the_ports():
    files = od.codegen.generate([ID, H], "robot")
    text = files["simulink/sfun_robot.c"]
    assert " *   'ID'; input 1: q [4]; input 2: qd [4]; input 3: qdd [4]; output 1: tau [4]\n" in text
    assert " *   'H'; input 1: q [4]; output 1: H [4 x 4]\n" in text
    readme = files["README.md"].split("## From Simulink")[1]
    assert "run('simulink/build_sfun_robot.m')" in readme
    assert "port_label('input', 3, 'qdd')\nport_label('output', 1, 'tau')\n" in readme
