"""Exported libraries as others use them: CasADi with derivatives, batches, single precision, CMake, pkg-config,
README."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.c_export.manual import penalty
from ocp_dyn.codegen.text import differentiated
from tests.helpers import close, tree

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
COMPILERS = [path for path in map(shutil.which, ("gcc", "clang")) if path]
STRICT = ("-std=gnu99", "-Wall", "-Wextra", "-Werror")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")
every_compiler = pytest.mark.parametrize("compiler", COMPILERS, ids=lambda path: Path(path).name)

MODEL = tree("chain")
ID = od.function(od.inverse_dynamics, MODEL)
H = od.function(od.mass_matrix, MODEL)
SMALL = od.function(od.inverse_dynamics, od.models.pendulum(2))


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr[:3000]}"
    return done.stdout


def library(directory: Path, *flags: str, compiler: str | None = None) -> Path:
    """All files of an export as a shared library, without a warning."""
    made = directory / f"lib{directory.name}.so"
    sources = [path for path in sorted(directory.glob("*.c")) if path.name != "example.c"]
    run(compiler or CC, *STRICT, "-O0", *flags, "-shared", "-fPIC", *sources, "-o", made, "-lm")
    return made


def pointers(*arrays: np.ndarray | None) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(None if a is None else a.ctypes.data) for a in arrays]


def odd() -> ca.Function:
    """Sparse and matrix arguments, an empty and a constant output."""
    U, A, q = ca.SX.sym("U", ca.Sparsity.upper(3)), ca.SX.sym("A", 2, 3), ca.SX.sym("q", 3)
    sparse = ca.SX(3, 4)
    sparse[0, 1], sparse[2, 3], sparse[2, 0] = q[0] * U[0, 2], A[1, 2] * q[1], ca.sin(A[0, 1])
    return ca.Function("odd", [U, A, q], [A @ U @ q, sparse, ca.SX(0, 1), ca.SX([1.0, 0.0])], ["U", "A", "q"],
        list("abcd"))  # fmt: skip


def random_inputs(f: ca.Function, rng: np.random.Generator) -> list[ca.DM]:
    return [ca.DM(f.sparsity_in(i), rng.normal(size=f.nnz_in(i))) for i in range(f.n_in())]


# CasADi


@needs_cc
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.slow
def test_casadi_loads_the_library_with_its_derivatives(rng, tmp_path, dense):
    functions = [odd()] if dense else [SMALL, odd()]
    directory = od.codegen.export(functions, tmp_path / "robot", dense=dense, derivatives=True)
    path = library(directory)
    for f in functions:
        loaded = ca.external(f.name(), str(path), {"jac_penalty": penalty(f)})
        assert loaded.name_in() == f.name_in()
        assert loaded.name_out() == f.name_out()
        assert [loaded.sparsity_out(j) for j in range(f.n_out())] == [f.sparsity_out(j) for j in range(f.n_out())]
        values = random_inputs(f, rng)
        for got, expected in zip(loaded.call(values), f.call(values), strict=True):
            close(got, expected, 1e-12)
        # a program of CasADi's: some outputs unused, gradient, Jacobian and Hessian through the loaded derivatives
        for program in (weighted, blocks):
            for got, expected in zip(program(loaded).call(values), program(f).call(values), strict=True):
                close(got, expected, 1e-10)


def weighted(f: ca.Function) -> ca.Function:
    """Gradient and Hessian of a weighted sum of the first output."""
    symbols = [ca.MX.sym("x", f.sparsity_in(i)) for i in range(f.n_in())]
    y = f.call(symbols)[0]
    energy = ca.dot(ca.MX(ca.DM(np.linspace(1, 2, y.numel())).reshape(y.shape)), y)
    x = symbols[-1]
    return ca.Function("weighted", symbols, [ca.gradient(energy, x), ca.hessian(energy, x)[0],
        ca.jtimes(y, x, ca.MX.ones(x.shape))])  # fmt: skip


def blocks(f: ca.Function) -> ca.Function:
    symbols = [ca.MX.sym("x", f.sparsity_in(i)) for i in range(f.n_in())]
    return ca.Function("blocks", symbols, [ca.jacobian(y, x) for y in f.call(symbols)[:2] for x in symbols])


@pytest.mark.slow
def test_derivatives_are_named_and_shaped_as_casadi_expects():
    for kind in differentiated.DERIVATIVE_KINDS:
        made = differentiated.differentiated(ID, kind)
        assert made.name() == f"{kind}_ID"
    adjoint = differentiated.differentiated(odd(), "adj1")
    assert [adjoint.sparsity_out(i) for i in range(3)] == [odd().sparsity_in(i) for i in range(3)]
    assert differentiated.kinds(True) == differentiated.DERIVATIVE_KINDS
    assert differentiated.kinds(["jac", "jac"]) == ("jac",)
    files = od.codegen.generate([H], "robot", derivatives=("jac",))
    assert "robot_jac_H.c" in files
    assert "robot_adj1_H.c" not in files
    assert "int robot_jac_H(const double *q, " in files["robot.h"]
    assert "jac_H" not in files["example.c"]


@needs_cc
@pytest.mark.slow
def test_null_pointers_of_casadi(rng, tmp_path):
    for dense in (False, True):
        directory = od.codegen.export([odd()], tmp_path / f"null{dense}", dense=dense)
        loaded = ctypes.CDLL(str(library(directory)))
        sizes = [ctypes.c_longlong() for _ in range(4)]
        loaded.odd_work(*map(ctypes.byref, sizes))
        w = np.zeros(max(1, sizes[3].value))
        U, q = rng.normal(size=6), rng.normal(size=3)
        out = np.full(3, np.nan)
        arg, res = (ctypes.c_void_p * 3)(*pointers(U, None, q)), (ctypes.c_void_p * 4)(*pointers(None, out, None, None))
        assert loaded.odd(arg, res, None, ctypes.c_void_p(w.ctypes.data), 0) == 0
        close(out, odd()(ca.DM(ca.Sparsity.upper(3), U), 0, q)[1].nonzeros(), 1e-14)
        assert (
            loaded.odd((ctypes.c_void_p * 3)(), (ctypes.c_void_p * 4)(), None, ctypes.c_void_p(w.ctypes.data), 0) == 0
        )


@needs_cc
@every_compiler
@pytest.mark.slow
def test_names_of_libm_and_of_c(tmp_path, compiler):
    """`gamma` is a function of libm; one called `for` cannot be a symbol of C."""
    s = ca.SX.sym("s")
    functions = [ca.Function(name, [s], [s * s + 1]) for name in ("gamma", "sin", "double", "y0")]
    path = library(od.codegen.export(functions, tmp_path / "words"), compiler=compiler)
    for f in functions:
        if f.name() == "double":
            with pytest.raises(RuntimeError):
                ca.external("double", str(path))
        else:
            close(ca.external(f.name(), str(path))(3), 10)


# Batches


def batch(
    loaded: ctypes.CDLL, name: str, f: ca.Function, inputs: list[np.ndarray], dtype=np.float64
) -> list[np.ndarray]:
    n = len(inputs[0])
    outputs = [np.full((n, f.numel_out(j)), 7.0, dtype) for j in range(f.n_out())]
    assert getattr(loaded, name)(ctypes.c_longlong(n), *pointers(*inputs, *outputs)) == 0
    return outputs


@pytest.fixture(scope="module")
def batches_of(tmp_path_factory) -> Callable[[str, tuple[str, ...], int], ctypes.CDLL]:
    """Libraries of ID and `odd` with batches, by compiler, flags and lanes; each is made once."""

    @cache
    def made(compiler: str, flags: tuple[str, ...], lanes: int) -> ctypes.CDLL:
        directory = od.codegen.export([ID, odd()], tmp_path_factory.mktemp("batches") / "robot", lanes=lanes)
        return ctypes.CDLL(str(library(directory, *flags, compiler=compiler)))

    return made


@needs_cc
@every_compiler
@pytest.mark.parametrize(("flags", "lanes"), [((), 8), (("-march=native", "-DROBOT_ONE_SET"), 4)])
@pytest.mark.slow
def test_batches(rng, batches_of, compiler, flags, lanes):
    """Kernels that choose an instruction set when they run, and kernels of the one they are compiled for."""
    functions, loaded = [ID, odd()], batches_of(compiler, flags, lanes)
    for f in functions:
        for n in (1, lanes - 1, 2 * lanes, 2 * lanes + 3):
            states = [random_inputs(f, rng) for _ in range(n)]
            inputs = [np.array([s[i].full().ravel() for s in states]) for i in range(f.n_in())]
            outputs = batch(loaded, f"robot_{f.name()}_batch", f, inputs)
            for k, state in enumerate(states):
                for got, expected in zip(outputs, f.call(state), strict=True):
                    close(got[k], expected.full().ravel(), 1e-12)
    assert loaded.robot_ID_batch(ctypes.c_longlong(3), *pointers(None, None, None, None)) == 0
    assert loaded.robot_ID_batch(ctypes.c_longlong(0), *pointers(None, None, None, None)) == 0
    loaded.robot_ID_batch_bytes.restype = ctypes.c_ulong
    lent = np.full(loaded.robot_ID_batch_bytes() + 16, 77, np.uint8)
    for start in (0, 1, 8):  # aligned or not, and not a byte beyond
        states = [random_inputs(ID, rng) for _ in range(5)]
        inputs = [np.array([s[i].full().ravel() for s in states]) for i in range(3)]
        tau, again = np.full((5, 4), np.nan), np.full((5, 4), np.nan)
        assert loaded.robot_ID_batch(ctypes.c_longlong(5), *pointers(*inputs, tau)) == 0
        assert loaded.robot_ID_batch_in(ctypes.c_longlong(5), *pointers(*inputs, again, lent[start:])) == 0
        assert np.array_equal(tau, again)
        assert np.all(lent[start + loaded.robot_ID_batch_bytes() :] == 77)
        lent[:] = 77


@needs_cc
def test_headers_of_batches_are_cpp98(tmp_path):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    directory = od.codegen.export([ID], tmp_path / "robot", lanes=8)
    (tmp_path / "user.cpp").write_text('#include "robot.h"\nint main() { return robot_ID_batch_bytes() == 0; }\n')
    flags = ["-std=c++98", "-Wall", "-Wextra", "-pedantic-errors", "-Werror", "-fsyntax-only"]
    subprocess.run([compiler, *flags, f"-I{directory}", str(tmp_path / "user.cpp")], check=True)


@pytest.mark.parametrize("prefix", ["malloc", "free", "CON", "nul", "com1", "printf"])
def test_names_of_the_c_library_and_of_devices_are_refused(tmp_path, prefix):
    with pytest.raises(ValueError, match=f"prefix {prefix!r} is a keyword, the name of a standard header or function"):
        od.codegen.export([ID], tmp_path / "robot", prefix=prefix)
    assert not (tmp_path / "robot").exists()


@needs_cc
@every_compiler
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="instruction sets of x86-64")
@pytest.mark.slow
def test_every_instruction_set_of_the_library_computes_the_same(rng, batches_of, compiler):
    loaded = batches_of(compiler, (), 8)
    inputs = [rng.normal(size=(13, ID.numel_in(i))) for i in range(3)]
    strides = (ctypes.c_longlong * 3)(4, 4, 4)
    here = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    for name, flag in (("base", ""), ("avx2", "avx2"), ("avx512", "avx512dq")):
        if flag in here:
            tau = np.full((13, 4), np.nan)
            arguments = (ctypes.c_void_p * 3)(*pointers(*inputs)), strides, (ctypes.c_void_p * 1)(*pointers(tau))
            assert getattr(loaded, f"robot_ID_{name}")(ctypes.c_longlong(13), *arguments) == 0
            for k in range(13):
                close(tau[k], ID(*(x[k] for x in inputs)), 1e-12)


SANITIZED = """
#include <stdlib.h>
#include "robot.h"
int main(void)
{
    int k, n, failed = 0;
    for (n = 1; n < 20; ++n) {
        double *q = malloc(n * 2 * sizeof(double)), *tau = malloc(n * 2 * sizeof(double));
        for (k = 0; k < 2 * n; ++k) q[k] = 0.1 * k - 3;
        failed |= robot_ID_batch(n, q, 0, q, tau) || robot_ID(q, q, 0, tau + 2 * n - 2);
        free(q);
        free(tau);
    }
    return failed;
}
"""


@needs_cc
@every_compiler
@pytest.mark.parametrize("flags", [(), ("-march=native", "-DROBOT_ONE_SET")])
@pytest.mark.slow
def test_sanitizers_find_nothing(tmp_path, compiler, flags):
    """Arrays of just the right size on the heap."""
    directory = od.codegen.export([SMALL], tmp_path / "robot", lanes=8)
    (directory / "example.c").write_text(SANITIZED)
    checked = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    (tmp_path / "probe.c").write_text("int main(void) { return 0; }")
    command = [compiler, *checked, tmp_path / "probe.c", "-o", tmp_path / "probe"]
    probe = subprocess.run(command, capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no sanitizer libraries")
    run(compiler, *STRICT, "-O0", *flags, *checked, *directory.glob("*.c"), "-o", tmp_path / "main", "-lm")
    run(tmp_path / "main")


def test_lanes_of_no_number_are_the_most():
    x = ca.SX.sym("x")
    small = ca.Function("f", [x], [x * x], ["x"], ["y"])
    for precision, lanes in (("double", 8), ("single", 16)):
        files = od.codegen.generate([small], "robot", lanes=None, precision=precision)
        assert files == od.codegen.generate([small], "robot", lanes=lanes, precision=precision)


@needs_cc
@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="registers of x86-64")
@pytest.mark.slow
def test_lanes_are_vector_registers(tmp_path):
    directory = od.codegen.export([ID], tmp_path / "robot", lanes=8)
    for name, register in (("avx512", "%zmm"), ("avx2", "%ymm"), ("batch", "%xmm")):
        made = tmp_path / f"{name}.o"
        run(CC, "-O1", "-c", directory / f"robot_ID_{name}.c", "-o", made)
        multiplications = re.findall(r"v?(?:mul|fn?m(?:add|sub)\d*)pd\s.*", run("objdump", "-d", made))
        assert len(multiplications) > 50
        assert sum(register in line for line in multiplications) == len(multiplications)


# Single precision


@needs_cc
@pytest.mark.slow
def test_single_precision(rng, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    directory = od.codegen.export([ID], tmp_path / "robot", precision="single", lanes=4, dense=True)
    assert not (directory / "robot_external.c").exists(), "CasADi computes in double precision"
    loaded = ctypes.CDLL(str(library(directory)))
    header = (directory / "robot.h").read_text()
    assert "int robot_ID(const float *q, const float *qd, const float *qdd, float *tau);" in header
    inputs = [rng.normal(size=(21, 4)).astype(np.float32) for _ in range(3)]
    (tau,) = batch(loaded, "robot_ID_batch", ID, inputs, np.float32)
    stated = dict(re.findall(r"\| `robot_(\w+)` \| (\S+) \|",
        (directory / "README.md").read_text().split("## Precision")[1].split("## ")[0]))  # fmt: skip
    for k in range(21):
        state = [x[k] for x in inputs]
        one = np.full(4, np.nan, np.float32)
        assert loaded.robot_ID(*pointers(*state, one)) == 0
        expected = ID(*(x.astype(float) for x in state)).full().ravel()
        for got in (one, tau[k]):
            assert np.abs(got - expected).max() < 5 * float(stated["ID"]) * np.abs(expected).max()
    assert 1e-8 < float(stated["ID"]) < 1e-4
    assert set(stated) == {"ID"}


def test_errors_of_single_precision_are_not_invented(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    files = od.codegen.generate([H], "robot", precision="single")
    assert "not measured" in files["README.md"]
    assert "#define NUMBERS SS_SINGLE" in files["simulink/sfun_robot.c"]
    assert "typedef float Real;" in files["simulink/sfun_robot.c"]


# Layout, text


@pytest.mark.slow
def test_the_same_functions_give_the_same_bytes():
    once, again = (
        od.codegen.generate([SMALL], "robot", lanes=8, derivatives=("jac", "adj1"), dense=True) for _ in range(2)
    )
    assert once == again
    for name, content in once.items():
        assert content.isascii(), name
        assert "Generated by ocp_dyn.codegen.c_export.export" in content.split("\n", 1)[0], name
        assert content.endswith("\n"), name
        assert "\n\n\n" not in content or name.endswith((".c", ".inc")), name


def test_batches_are_stored_by_rows_in_both_layouts():
    x = ca.SX.sym("x", 2, 3)
    f = ca.Function("f", [x], [ca.vertcat(ca.sin(x), 2 * x)])
    sparse, dense = (od.codegen.generate([f], "robot", lanes=2, dense=option) for option in (False, True))
    assert sparse["robot_f.c"] != dense["robot_f.c"]
    kernels = [files["robot_f_batch.inc"].partition("transpose")[0] for files in (sparse, dense)]
    assert kernels[0] == kernels[1]
    # only lane-major arrays have the layout of single states: the input's by columns is sorted
    assert "place_0[6] = {\n    0, 3, 1, 4, 2, 5\n}" in sparse["robot_f_batch.inc"]
    assert "place_0" not in dense["robot_f_batch.inc"]


@pytest.mark.slow
def test_the_readme_tells_sizes_layouts_and_units():
    text = od.codegen.generate([ID, H], "robot", lanes=8, derivatives=("jac",))["README.md"]
    assert "| `robot_ID` | `q` in | 4 | dense | rad, m; quaternions (x, y, z, w) |" in text
    assert f"|  | `H` out | 4 x 4 | {'column-major' if H.sparsity_out(0).is_dense() else 'sparse'}" in text
    for title in ("Building", "Functions", "Batches", "From C and C++", "From Python", "From CasADi", "From Simulink",
        "In a real-time loop"):  # fmt: skip
        assert f"\n## {title}\n" in text
    dense = od.codegen.generate([H], "robot", dense=True, precision="double")["README.md"]
    assert "row by row: element (i, j) is at index `[i*COLS + j]`" in dense
    assert "Batches" not in dense


@needs_cc
@pytest.mark.slow
def test_the_readme_is_right(tmp_path, monkeypatch):
    """Its code for C, C++, Python and CasADi runs."""
    directory = od.codegen.export([SMALL], tmp_path / "robot", derivatives=("jac",))
    library(directory)
    blocks = re.findall(r"```(\w+)\n(.*?)```", (directory / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(directory)
    codes = [code for language, code in blocks if language == "python"]
    assert len(codes) == 2
    for code in codes:
        exec(code, {})  # noqa: S102 (running it is the point)
    (call,) = (code for language, code in blocks if language == "c" and "include" in code)
    head, body = call.split("\n", 1)
    for suffix, compiler in (("c", CC), ("cpp", shutil.which("c++"))):
        if compiler:
            program = tmp_path / f"call.{suffix}"
            program.write_text(f"{head}\nint main(void)\n{{\n{body}\nreturn failed;\n}}\n")
            run(compiler, "-I", directory, program, directory / "librobot.so", "-o", tmp_path / "call")
            run("env", f"LD_LIBRARY_PATH={directory}", tmp_path / "call")


@pytest.mark.skipif(None in map(shutil.which, ("cmake", "pkg-config", "cc")), reason="no cmake or pkg-config")
@pytest.mark.slow
def test_installed_by_cmake_found_by_pkg_config(tmp_path, monkeypatch):
    """For this processor; for any one: tests/interoperation/test_cmake.py."""
    directory = od.codegen.export([H], tmp_path / "robot", lanes=4)
    run("cmake", "-S", directory, "-B", tmp_path / "build", "-DROBOT_ARCH=native")
    run("cmake", "--build", tmp_path / "build")
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path / "prefix" / "lib" / "pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "robot").split()
    run("cc", directory / "example.c", *flags, "-o", tmp_path / "example")
    printed = run("env", f"LD_LIBRARY_PATH={tmp_path / 'prefix' / 'lib'}", tmp_path / "example")
    assert len(printed.splitlines()) == H.nnz_out()
    close(ca.external("H", str(tmp_path / "prefix" / "lib" / "librobot.so"))(np.ones(4)), H(np.ones(4)), 1e-13)


def test_a_models_name_has_no_meaning_in_files_of_pkg_config():
    builder = od.ModelBuilder("a $b #c")
    builder.add_body("rod", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    files = od.codegen.generate([od.function(od.mass_matrix, builder.build())], "robot", version="1.2")
    assert "\nDescription: Functions of a $$b c: H\nVersion: 1.2\n" in files["robot.pc"]


# Errors


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"derivatives": ("hess",)}, ValueError, "derivatives are 'jac', .*got 'hess'"),
        ({"derivatives": "jac"}, TypeError, "must be True or a tuple of names, got 'jac'"),
        ({"derivatives": ("jac_adj1",)}, ValueError, "is the Jacobian of 'adj1'"),
        ({"derivatives": True, "precision": "single"}, ValueError, "loads only double precision"),
        ({"lanes": 3}, ValueError, "lanes in double precision are 1, 2, 4, 8"),
        ({"precision": "half"}, ValueError, "precision must be one of double, single"),
    ],
)
def test_options_that_do_not_fit(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        od.codegen.export([H], tmp_path / "robot", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_only_casadi_can_write():
    x = ca.MX.sym("x", 2)
    f = ca.Function("f", [x], [ca.solve(ca.diag(x + 2) + ca.DM.ones(2, 2), x, "ldl")])
    assert "robot_casadi.c" in od.codegen.generate([f, H], "robot")
    for options in ({"lanes": 8}, {"precision": "single"}):
        with pytest.raises(ValueError, match="'f' does not expand to scalar operations"):
            od.codegen.generate([f, H], "robot", **options)


def test_names_of_batches_may_not_clash():
    s = ca.SX.sym("s")
    for name in ("external", "Casadi"):
        with pytest.raises(ValueError, match=f"'{name}' would share a file"):
            od.codegen.generate([ca.Function(name, [s], [s])], "robot")
    with pytest.raises(ValueError, match="both define robot_a_batch"):
        od.codegen.generate([ca.Function("a", [s], [s]), ca.Function("a_batch", [s], [s])], "robot")
