"""Exported C: equal to Python, clean under strict flags, readable, safe from hostile names, whole or absent."""

from __future__ import annotations

import ctypes
import gc
import importlib
import inspect
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn.codegen.text.names import macro_stems, parameters, prefix_of, printable, wrap_items
from ocp_dyn.functions.description import describe
from ocp_dyn.functions.quantities import QUANTITIES
from ocp_dyn.functions.registry import REGISTRY
from tests.helpers import OF_CLOSED_CHAINS, State, close, closed_chain_function, with_straight_muscles

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")
COMPILERS = [path for path in map(shutil.which, ("gcc", "clang")) if path]
OTHERS = [path for path in COMPILERS if CC is None or Path(path).resolve() != Path(CC).resolve()]
HOSTILE = 'knee*/ int x; /*\nleft\\\r\n??/ "quoted" %s <b> Hüfte\\'


@cache
def random_model(bodies: int = 4) -> od.Model:
    joints = (od.FloatingBase(), od.Spherical(), od.Revolute("z"), od.Revolute((1, 2, 3)), od.Prismatic("y"))
    return with_straight_muscles(od.random_tree(bodies, 2, joints, np.random.default_rng(24)))


MODEL = random_model()
CONTACTS = (
    od.Contact("body2").at(MODEL, MODEL.neutral()),
    od.Contact("body4", point=(0.1, 0, 0.2), axes="xz").at(MODEL, MODEL.neutral()),
)
ALGORITHMS = {signature.name: algorithm for algorithm, signature in REGISTRY.items()}


def registered(name: str, /, model: od.Model = MODEL, contacts: tuple = CONTACTS, **options) -> ca.Function:
    algorithm = ALGORITHMS[name]
    if algorithm in OF_CLOSED_CHAINS:
        return closed_chain_function(algorithm, **options)
    takes = inspect.signature(algorithm).parameters
    static = (contacts,) if "constraints" in takes else ("body3",) if "frame" in takes else ()
    if "natural" in takes:  # its code grows fast
        model = random_model(2) if model is MODEL else model
        static = (od.formulations.natural(model),)
    return od.function(algorithm, model, *static, **options)


plain = cache(registered)  # without options: the same Functions in many tests


def state(f: ca.Function, rng: np.random.Generator) -> list[DM]:
    """Random inputs for a Function of MODEL."""
    s = State.of(MODEL, rng)
    values = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.tau}
    fits = {n: values[n] for n in f.name_in() if n in values and len(values[n]) == f.size1_in(n)}
    return [DM(fits.get(n, rng.normal(size=f.size_in(n)))) for n in f.name_in()]


def compiled(directory: Path, *flags: str) -> ctypes.CDLL:
    """The files of an export as a shared library."""
    library = directory / "lib.so"
    sources = [str(path) for path in sorted(directory.glob("*.c")) if path.name != "example.c"]
    run(CC, "-O0", *flags, "-shared", "-fPIC", *sources, "-o", str(library), "-lm")
    return ctypes.CDLL(str(library))


def run(*command: str | None) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def stored(x: DM, dense: bool) -> np.ndarray:
    """Numbers of a matrix in the order of its C array."""
    return x.full().ravel() if dense else np.array(x.nonzeros(), dtype=float)


def call_c(library: ctypes.CDLL, public: str, f: ca.Function, values: list[DM], dense: bool = False) -> list[DM]:
    """The outputs of an exported function at `values`."""
    pointer = ctypes.POINTER(ctypes.c_double)
    given = []
    for k, value in enumerate(values):
        given.append(np.ascontiguousarray(stored(ca.project(DM(value), f.sparsity_in(k)), dense)))
    patterns = [f.sparsity_out(k) for k in range(f.n_out())]
    arrays = [np.full(p.numel() if dense else p.nnz(), np.nan) for p in patterns]
    code = getattr(library, public)(*(a.ctypes.data_as(pointer) for a in (*given, *arrays)))
    assert code == 0
    if dense:
        return [DM(a.reshape(p.shape)) for a, p in zip(arrays, patterns, strict=True)]
    return [DM(p, a) for a, p in zip(arrays, patterns, strict=True)]


def tolerance(name: str) -> float:
    """Rounding differs from CasADi's in the order of factors and in sines; solving for forces amplifies that."""
    if name in ("dFDc", "dimpact"):
        return 1e-6  # rounding times the square of cond(G H^-1 G') = 1e5: these contacts are nearly singular
    return (
        1e-10
        if name in ("FD", "FD_HC", "FD_A", "FD_B", "FDc", "FDc_B", "IDc", "impact", "Minv", "H_inv", "dFD")
        else 1e-12
    )


def near(results: list[DM], expected: list[DM], tolerance: float = 1e-12) -> None:
    for a, b in zip(results, expected, strict=True):
        close(a, b, tolerance)


def entries_of(dense: bool) -> list[ca.Function]:
    """The functions of `built`: each operation, layout and set of arguments occurs in some of them."""
    some = ("H", "FDc", "gamma", "pose")
    more = ("ID", "impact", "zmp", "interpolate", "d_difference", "qd_R2", "l_mt", "tau_mt", "NC_Phi_x")
    return [plain(n) for n in ALGORITHMS if n in (some if dense else (*some, *more))]


@pytest.fixture(scope="module", params=[False, True], ids=["sparse", "dense"])
def built(request, tmp_path_factory) -> tuple[Path, ctypes.CDLL, bool]:
    """Many algorithms, exported and compiled: in CasADi's layout with vector statements; some dense and without."""
    if CC is None:
        pytest.skip("no C compiler")
    functions = entries_of(request.param)
    functions.append(registered("ID", loads=od.Loads(external=("body3", "body1")), name="ID_ext"))
    folder = tmp_path_factory.mktemp("c") / "robot"
    directory = od.codegen.export(functions, folder, dense=request.param, pack=not request.param)
    return directory, compiled(directory, *STRICT), request.param


# Values


@pytest.mark.slow
def test_compiled_c_equals_python(rng, built):
    _, library, dense = built
    for f in entries_of(dense):
        for _ in range(3):
            values = state(f, rng)
            near(call_c(library, f"robot_{f.name()}", f, values, dense), f.call(values), tolerance(f.name()))


@pytest.mark.slow
def test_matrix_inputs(rng, built):
    _, library, dense = built
    f = registered("ID", loads=od.Loads(external=("body3", "body1")), name="ID_ext")
    assert f.size_in("f_ext") == (6, 2)
    values = state(f, rng)
    near(call_c(library, "robot_ID_ext", f, values, dense), f.call(values))


@pytest.mark.slow
def test_two_threads_at_once(rng, built):
    """Many random states in two threads give what one gives: no state is shared."""
    _, library, dense = built
    f = registered("FDc")
    states = [state(f, rng) for _ in range(30)]

    def work(order):
        return {k: [call_c(library, "robot_FDc", f, states[k], dense) for _ in range(3)] for k in order}

    expected = work(range(30))

    with ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(work, range(30)), pool.submit(work, range(29, -1, -1))]
        for task in tasks:
            for k, repeated in task.result().items():
                for result in repeated:
                    near(result, expected[k][0], 0)


@pytest.mark.slow
def test_null_pointers(rng, built):
    """A null input is zeros, a null output is skipped."""
    _, library, dense = built
    f = registered("FDc")
    q, _, tau = state(f, rng)
    lam = np.full(f.size1_out("lam"), np.nan)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (stored(q, dense), stored(tau, dense), lam)]
    assert library.robot_FDc(pointers[0], None, pointers[1], None, pointers[2]) == 0
    close(lam, f(q, 0, tau)[1], tolerance("FDc"))
    assert library.robot_FDc(None, None, None, None, None) == 0


@pytest.mark.slow
def test_tables_of_rows_and_columns(built):
    directory, library, dense = built
    header = (directory / "robot.h").read_text()
    pattern = registered("H").sparsity_out(0)
    assert pattern.nnz() < pattern.numel()
    assert ("robot_H_H_row" in header) is not dense
    layout = "row-major" if dense else f"sparse, {pattern.nnz()} nonzeros"
    assert (
        f" H [{MODEL.nv} x {MODEL.nv}, {layout}], out; {QUANTITIES['H'].units}; rows: list 2; columns: list 2" in header
    )
    assert f"#define ROBOT_H_H_SIZE {pattern.numel() if dense else pattern.nnz()}\n" in header
    assert f"#define ROBOT_H_H_ROWS {MODEL.nv}\n" in header
    if not dense:
        table = ctypes.c_int * pattern.nnz()
        assert list(table.in_dll(library, "robot_H_H_row")) == pattern.row()
        assert list(table.in_dll(library, "robot_H_H_col")) == pattern.get_col()


@needs_cc
@pytest.mark.slow
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_the_example_prints_what_python_computes(tmp_path, dense):
    functions = [plain(name) for name in ("ID", "pose")]
    directory = od.codegen.export(functions, tmp_path / "robot", dense=dense)
    printed = run_example(directory)
    source = (directory / "example.c").read_text()
    for f in functions:
        body = source[source.index(f"static int example_{f.name()}(void)") :]
        values = []
        for name in f.name_in():
            numbers = body[body.index(f" in_{name}[") :].split("{", 1)[1].split("}", 1)[0]
            numbers = re.sub(r"/\*.*?\*/", "", numbers)
            values.append(DM([float(x) for x in numbers.replace(",", " ").split()]))
        for label, result in zip(f.name_out(), f.call(values), strict=True):
            assert np.all(np.isfinite(result.full()))
            close(printed[f.name(), label], stored(result, dense), 1e-12)


def run_example(directory: Path, *flags: str) -> dict[tuple[str, str], np.ndarray]:
    sources = [str(path) for path in directory.glob("*.c")]
    program = directory / "program"
    run(CC, "-O0", *flags, *sources, "-o", str(program), "-lm")
    values: dict[tuple[str, str], list[float]] = {}
    for line in run(str(program)).splitlines():
        function, output, index, value = line.split()
        entries = values.setdefault((function, output), [])
        assert int(index) == len(entries)
        entries.append(float(value))
    return {key: np.array(entries) for key, entries in values.items()}


@pytest.mark.slow
def test_the_example_starts_from_a_valid_configuration(built):
    source = (built[0] / "example.c").read_text()
    body = source[source.index(" in_q[") :].split("{", 1)[1].split("}", 1)[0]
    q = np.array([float(x) for x in re.findall(r"^\s*(\S+),", body, re.MULTILINE)])
    assert MODEL.nq > MODEL.nv, "the model has quaternions"
    for name, joint in zip(MODEL.joint_names, MODEL.joints[1:], strict=True):
        if joint.nq > joint.nv:
            close(np.linalg.norm(q[MODEL.q_slice(name)][-4:]), 1.0, 1e-11)  # printed with 12 digits
    assert np.all(np.abs(q - MODEL.neutral()) > 1e-3)


# Compilers


@pytest.mark.parametrize("compiler", OTHERS, ids=lambda path: Path(path).name)
@pytest.mark.slow
def test_strict_flags(compiler, tmp_path):
    """The fixture compiles the whole registry with them, by the usual compiler."""
    for dense in (False, True):
        directory = od.codegen.export([plain("FDc"), plain("H")], tmp_path / f"robot{dense}", dense=dense)
        run(compiler, *STRICT, "-fsyntax-only", *sorted(directory.glob("*.c")))


@needs_cc
@pytest.mark.slow
def test_names_of_libm_do_not_clash(built, tmp_path):
    """gamma is a function of libm; the header must live beside math.h and inside C++."""
    source = '#include <complex.h>\n#include <math.h>\n#include "robot.h"\nint x(void) { return (int) tgamma(3.0); }\n'
    (tmp_path / "a.c").write_text(source)
    run(CC, "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{built[0]}", "-c", tmp_path / "a.c", "-o", tmp_path / "o")
    cxx = shutil.which("c++")
    if cxx:
        (tmp_path / "a.cpp").write_text('#include "robot.h"\nint main() { return robot_gamma(0, 0, 0); }\n')
        run(cxx, "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{built[0]}", tmp_path / "a.cpp", built[0] / "lib.so",
            "-o", tmp_path / "o")  # fmt: skip


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
@pytest.mark.slow
def test_every_symbol_has_the_prefix(built):
    symbols = re.findall(r" [TDRBC] (\w+)", run("nm", "-g", "--defined-only", built[0] / "lib.so"))
    assert "robot_gamma" in symbols
    foreign = [s for s in symbols if not s.startswith(("robot_", "_init", "_fini"))]
    external = [s for s in foreign if s.split("_n_in")[0] in ALGORITHMS]
    assert {s.split("_n_in")[0] for s in external} == {f.name() for f in entries_of(built[2])}, (
        "CasADi finds every function"
    )
    run(CC, "-O0", "-c", built[0] / "robot_external.c", "-o", built[0] / "external.o")
    apart = re.findall(r" [TDRBC] (\w+)", run("nm", "-g", "--defined-only", built[0] / "external.o"))
    assert set(foreign) == set(apart), "a library without that file has the prefix everywhere"


def test_large_functions_are_not_optimized_for_minutes(monkeypatch):
    assert "-O1" not in od.codegen.generate([registered("H")], "robot")["CMakeLists.txt"]
    monkeypatch.setattr("ocp_dyn.native.toolchain.LARGE", 100)
    assert "-O1" in od.codegen.generate([registered("H")], "robot")["CMakeLists.txt"]


# Functions from elsewhere


def plain_functions() -> list[ca.Function]:
    """Sparse and matrix arguments, work memory, nothing in, nothing out, names that are no C names."""
    x, A = MX.sym("x", 3), MX.sym("A", 3, 3)
    s, U = SX.sym("s"), SX.sym("U", ca.Sparsity.upper(3))
    empty = SX.sym("empty", 0)
    inner = ca.Function("inner", [x], [ca.sin(x)], ["x"], ["y"], {"never_inline": True})
    return [
        ca.Function("solve", [A, x], [ca.solve(A + 5 * DM.eye(3), x, "ldl"), ca.solve(A + 5 * DM.eye(3), x, "qr")]),
        ca.Function("twice", [x], [inner(inner(x)), x[0] * DM([[1, 2], [3, 4]])], ["w"], ["arg", "res"]),
        inner.map(3),
        ca.Function("upper", [U, s], [U.T, ca.if_else(s > 0, ca.fmax(s, 2), -s), U @ SX([1, 2, 3])]),
        ca.Function("words", [s, U], [s * 2, s + 1, SX(2, 3)], ["for", "double x*/"], ["I", "_T", "x_for"]),
        ca.Function("constant", [], [DM([1, 2, 3])], [], ["y"]),
        ca.Function("nothing", [s, empty], [SX(0, 0)], ["s", "p"], ["y"]),
        ca.interpolant("table", "linear", [[0, 1, 2], [0, 1]], [0, 1, 4, 1, 2, 3]),
        ca.rootfinder("root", "fast_newton", {"x": x, "p": A, "g": ca.sinh(x) - ca.sum2(ca.sin(A))}),
        ca.Function("case", [s], [s + 1], ["t"], ["T"]),
        ca.Function("limits", [s], [1 / (s**2 + ca.inf), ca.fmin(s, 1e-300)]),
    ]


def sanitizer(scratch: Path) -> tuple[str, ...]:
    """Flags that make a program stop at a bad access, where the compiler has them."""
    flags = ("-fsanitize=address,undefined",)
    (scratch / "probe.c").write_text("int main(void) { return 0; }")
    command = (str(CC), *flags, str(scratch / "probe.c"), "-o", str(scratch / "probe"))
    return flags if subprocess.run(command, capture_output=True, check=False).returncode == 0 else ()


@needs_cc
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.slow
def test_plain_functions(rng, tmp_path, dense):
    functions = plain_functions()
    directory = od.codegen.export(functions, tmp_path / "my-lib", dense=dense)
    library = compiled(directory, "-Wall", "-Werror")
    for f in functions:
        for _ in range(3):
            values = [DM(f.sparsity_in(k), rng.normal(size=f.nnz_in(k))) for k in range(f.n_in())]
            near(call_c(library, f"my_lib_{f.name()}", f, values, dense), f.call(values))
    run(CC, *STRICT, "-c", directory / "example.c", "-o", tmp_path / "o")
    asked = [ctypes.c_longlong() for _ in range(4)]
    k = [f.name() for f in functions].index("table")
    getattr(library, f"my_lib_casadi_e{k}_table_work")(*map(ctypes.byref, asked))
    assert asked[2].value > 0
    assert f"long long int work_iw[{asked[2].value}];" in (directory / "my_lib.c").read_text()
    assert len(run_example(directory, *sanitizer(tmp_path))["solve", "o0"]) == 3, "work arrays are long enough"
    if shutil.which("nm"):
        for name in ("my_lib.c", "my_lib_casadi.c"):
            run(CC, *(STRICT if name == "my_lib.c" else ()), "-c", directory / name, "-o", tmp_path / "o")
            assert re.findall(r" [dDbBC] (\w+)", run("nm", tmp_path / "o")) == [], "no static state"
    header = (directory / "my_lib.h").read_text()
    assert (
        "int my_lib_words(const double *x_for, const double *double_x, double *x_I, double *T, double *x_for_2);"
        in header
    )
    assert "int my_lib_constant(double *y);" in header
    assert "#define MY_LIB_CASE_t_SIZE 1\n" in header, "t and T differ by case only"
    assert "list" not in header.split("#ifndef")[0], "nothing is known of the entries"


@pytest.mark.slow
def test_a_function_given_twice_counts_once():
    f = registered("H")
    assert od.codegen.generate([f, f], "robot") == od.codegen.generate([f], "robot")
    assert od.codegen.generate((g for g in [f]), "robot") == od.codegen.generate([f], "robot")


# The header


@pytest.mark.slow
def test_the_header_says_sizes_orders_and_units():
    model = random_model()
    contacts = (od.Contact("body4", axes="z"),)
    functions = [
        registered("FDc", model, contacts),
        registered("ID", model, loads=od.Loads(external=("body3", "body1"))),
    ]
    header = od.codegen.generate(functions, "robot")["robot.h"]
    text = re.sub(r"\s+\*\s+", " ", header)
    assert "int robot_FDc(const double *q, const double *qd, const double *tau, double *qdd, double *lam);" in header
    assert f"q [{model.nq}], in; {QUANTITIES['q'].units}; entries: list 1" in text
    assert f"qd [{model.nv}], in; {QUANTITIES['qd'].units}; entries: list 2" in text
    assert f"lam [1], out; {QUANTITIES['lam'].units}; entries: list 3" in text
    assert "f_ext [6 x 2, column-major], in; N m, N;" in text
    assert "columns: list 4" in text
    assert model.name in header
    for k, names in enumerate((model.q_names, model.qd_names, ("body4.tz",), ("body3", "body1")), 1):
        listed = ", ".join(f"{i}: {name}" for i, name in enumerate(names))
        assert f"Order of entries, list {k}: {listed}" in text
    assert "column by column" in text
    assert "row by row" in re.sub(r"\s+\*\s+", " ", od.codegen.generate(functions, "robot", dense=True)["robot.h"])


def test_a_users_algorithm_has_labels_for_what_is_known():
    def energy(model, q, qd, p):
        return od.kinetic_energy(model, q, qd) * p[0]

    f = od.function(energy, MODEL, signature="q qd p[2] -> T", name="E")
    labels = describe(f).labels
    assert set(labels) == {"q", "qd"}, "the registry's T is not the user's"
    assert labels["q"].rows == MODEL.q_names
    assert describe(ca.Function("f", [SX.sym("q")], [1])) is None


@pytest.mark.slow
def test_labels_outlive_the_model():
    model = random_model()
    f = registered("ID", model)
    names = model.q_names
    del model
    gc.collect()
    assert describe(f).labels["q"].rows == names


@pytest.mark.slow
def test_the_same_functions_give_the_same_bytes():
    once, again = (od.codegen.generate([registered(n, random_model()) for n in ("ID", "H")], "robot") for _ in range(2))
    assert once == again
    assert all(text.isascii() and text.endswith("\n") for text in once.values())


# Hostile names


@needs_cc
@pytest.mark.parametrize("compiler", COMPILERS, ids=lambda path: Path(path).name)
@pytest.mark.slow
def test_hostile_names_stay_text(tmp_path, compiler):
    hostile = " ".join(HOSTILE.split())  # names of models have no line breaks
    builder = od.ModelBuilder(hostile)
    builder.add_body("a*/", od.Revolute("z"), joint_name=hostile, mass=1, com=(1, 0, 0))
    builder.add_body("b??/", od.Spherical(), "a*/", joint_name="#error\\", mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    model = builder.build()
    functions = [registered("ID", model), registered("G", model, (od.Contact("b??/", axes="xz"),))]
    directory = od.codegen.export(functions, tmp_path / "robot")
    for name in ("robot.c", "example.c"):
        run(compiler, *STRICT, "-Wtrigraphs", "-Wcomment", "-c", directory / name, "-o", tmp_path / "o")
    header = (directory / "robot.h").read_text()
    assert header.isascii()
    assert header.count("*/") == header.count("/*") == 1 + len(functions)
    assert "H<U+00FC>fte" in header
    assert ("ID", "tau") in run_example(directory)


def test_printable():
    assert printable("left/leg 1.x") == "left/leg 1.x"
    for text in (HOSTILE, "*/", "/*", "a\\\n", "??/", "\u2028", "\x00", "*" * 3):
        safe = printable(text)
        assert safe.isascii()
        assert not {"*", "\\", "?", '"', "\n", "\r", "\0"} & set(safe)
    assert printable("<U+002A>") != printable("*")


def test_filled():
    assert wrap_items(["a", "b"], indent="") == ["a, b"]
    assert wrap_items(["aaa", "b c"], indent="> ", width=6) == ["> aaa,", "> b c"]
    assert wrap_items([]) == []


def test_parameters_are_c_names():
    labels = ["q", "for", "class", "I", "work_w", "1a", "", "é", "a b", "a_b", "_q", "robot_ID"]
    names = parameters(labels, "robot")
    assert names[:5] == ["q", "x_for", "x_class", "x_I", "x_work_w"]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in names)
    assert names[-1] == "x_robot_ID"
    assert macro_stems(["t", "T", "q"]) == ["t", "T", "Q"]


# Prefixes


@pytest.mark.parametrize(
    ("directory", "prefix"),
    [
        ("robot", "robot"), ("left-arm v2", "left_arm_v2"), ("__x__", "x"), ("3dof", "robot_3dof"),
        ("int", "robot_int"),
        ("Math", "robot_Math"), ("example", "robot_example"), ("test", "robot_test"), ("é", "robot"), ("a*/b", "b"),
    ],
)  # fmt: skip
def test_the_default_prefix(directory, prefix):
    assert prefix_of(Path("build") / directory) == prefix


@pytest.mark.parametrize(
    "prefix",
    ["", "_x", "x_", "a__b", "1a", "a b", "a-b", "é", "int", "while", "class", "math", "Example", "test", "a\n"],
)
def test_unsafe_prefixes(tmp_path, prefix):
    with pytest.raises(ValueError, match="prefix"):
        od.codegen.export([registered("H")], tmp_path / "robot", prefix=prefix)
    assert list(tmp_path.iterdir()) == []


def test_the_current_directory(tmp_path, monkeypatch):
    (tmp_path / "arm").mkdir()
    monkeypatch.chdir(tmp_path / "arm")
    assert od.codegen.export([registered("H")], ".") == Path(".")
    assert (tmp_path / "arm" / "arm.h").exists()


def test_a_prefix_of_ones_own(tmp_path):
    directory = od.codegen.export([registered("gamma")], tmp_path / "robot", prefix="Biped")
    assert sorted(p.name for p in directory.iterdir()) == [
        "Biped.c", "Biped.h", "Biped.pc", "Biped_external.c", "Biped_gamma.c", "CMakeLists.txt", "README.md",
        "example.c",
        "simulink",
    ]  # fmt: skip
    assert "int Biped_gamma(" in (directory / "Biped.h").read_text()


# Writing


@pytest.mark.slow
def test_only_own_files_are_replaced(tmp_path):
    target = tmp_path / "robot"
    target.mkdir()
    (target / "notes.txt").write_text("mine")
    od.codegen.export([registered("H")], target)
    before = (target / "robot.h").read_bytes()
    assert od.codegen.export([registered("H"), registered("C")], str(target)) == target
    assert (target / "robot.h").read_bytes() != before
    assert (target / "notes.txt").read_text() == "mine"
    (target / "robot.c").write_text("int main(void) { return 0; }")
    before = (target / "robot.h").read_bytes()
    with pytest.raises(ValueError, match=r"robot\.c.*not made by export"):
        od.codegen.export([registered("H")], target)
    assert (target / "robot.c").read_text() == "int main(void) { return 0; }"
    assert (target / "robot.h").read_bytes() == before
    assert len(list(target.iterdir())) == 11


@pytest.mark.slow
def test_nothing_is_left_of_a_failure(tmp_path, monkeypatch):
    whole = Path.write_bytes

    def full_disk(path, data):
        if path.name == "example.c":
            raise OSError("no space left")
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="no space"):
        od.codegen.export([registered("H")], tmp_path / "robot")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    with pytest.raises(OSError, match="no space"):
        od.codegen.export([registered("H")], tmp_path / "old")
    assert list((tmp_path / "old").iterdir()) == []


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "robot").write_text("x")
    with pytest.raises(ValueError, match="is a file"):
        od.codegen.export([registered("H")], tmp_path / "robot")
    (tmp_path / "other" / "robot.c").mkdir(parents=True)
    with pytest.raises(ValueError, match="not made by export"):
        od.codegen.export([registered("H")], tmp_path / "other", prefix="robot")


def test_directories_are_made_and_readable(tmp_path):
    directory = od.codegen.export([registered("H")], tmp_path / "a" / "b" / "robot")
    other = tmp_path / "usual"
    other.mkdir()
    assert directory.stat().st_mode == other.stat().st_mode
    (tmp_path / "link").symlink_to(directory)
    od.codegen.export([registered("H")], tmp_path / "link", prefix="again")
    assert (directory / "again.h").exists()


# Errors


def callback() -> ca.Callback:
    class Twice(ca.Callback):
        def __init__(self):
            ca.Callback.__init__(self)
            self.construct("Twice", {})

        def eval(self, arguments):
            return [2 * arguments[0]]

    return Twice()


X = MX.sym("x", 2)
QP = {"print_iteration": False, "print_header": False, "print_time": False, "qpsol": "qrqp",
    "qpsol_options": {"print_header": False, "print_info": False, "print_iter": False}}  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        callback,
        lambda: ca.nlpsol("S", "sqpmethod", {"x": X, "f": ca.sumsqr(X - 1)}, QP),
        lambda: ca.rootfinder("S", "newton", {"x": X, "g": ca.sin(X) - 0.1}),
        lambda: ca.Function("S", [X], [ca.solve(ca.diag(X + 2) + DM.ones(2, 2), X, "csparse")]),
        lambda: ca.Function("inner", [X], [X + 1], {"never_inline": True}).map(2, "thread", 2),
    ],
    ids=["callback", "nlpsol", "rootfinder", "csparse", "threads"],
)
@pytest.mark.slow
def test_functions_that_cannot_stand_alone(tmp_path, make):
    f = make()
    with pytest.raises(ValueError, match=rf"^{f.name()!r} cannot become self-contained C code: .+"):
        od.codegen.export([registered("H"), f], tmp_path / "robot")
    assert list(tmp_path.iterdir()) == []


def test_memory_is_refused_whatever_it_includes(monkeypatch):
    room = importlib.import_module("ocp_dyn.codegen.c_export.library")
    monkeypatch.setattr(room, "ALLOWED_INCLUDES", {"math.h", "stdio.h", "stdarg.h"})
    with pytest.raises(ValueError, match="a solver that allocates memory"):
        od.codegen.generate([ca.nlpsol("S", "sqpmethod", {"x": X, "f": ca.sumsqr(X - 1)}, QP)], "robot")


@needs_cc
@pytest.mark.slow
def test_external_functions(tmp_path):
    directory = od.codegen.export([registered("H")], tmp_path / "robot")
    compiled(directory)
    f = ca.external("H", str(directory / "lib.so"))
    wrapped = ca.Function("wrapped", [MX.sym("q", MODEL.nq)], [f(MX.sym("q", MODEL.nq))], {"allow_free": True})
    with pytest.raises(ValueError, match="external function"):
        od.codegen.generate([f], "robot")
    with pytest.raises(ValueError, match="free variables"):
        od.codegen.generate([wrapped], "robot")


def test_names_that_clash():
    left, right = (registered("G", contacts=(contact,)) for contact in CONTACTS)
    with pytest.raises(ValueError, match=r"name=\"G_left\""):
        od.codegen.generate([left, right], "robot")
    renamed = registered("G", contacts=CONTACTS[:1], name="G_left")
    assert "robot_G_left(" in od.codegen.generate([renamed, right], "robot")["robot.h"]
    lower = registered("G", contacts=CONTACTS[:1], name="g")
    with pytest.raises(ValueError, match="more than case"):
        od.codegen.generate([lower, right], "robot")
    s = SX.sym("s")
    one, other = ca.Function("a", [s], [s], ["b_c"], ["y"]), ca.Function("a_b", [s], [s], ["c"], ["z"])
    with pytest.raises(ValueError, match="both define ROBOT_A_B_C_"):
        od.codegen.generate([one, other], "robot")
    with pytest.raises(ValueError, match="casadi_"):
        od.codegen.generate([ca.Function("casadi_f0", [s], [s])], "robot")


def test_hostile_labels_inside_a_function():
    x = MX.sym("x")
    inner = ca.Function("inner", [x], [ca.sin(x)], ["*/ int y; /*"], ["y"], {"never_inline": True})
    with pytest.raises(ValueError, match="not safe"):
        od.codegen.generate([ca.Function("outer", [x], [inner(x)])], "robot")


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        ([], ValueError, "no Functions"),
        (None, TypeError, "list of Functions"),
        (registered("H"), TypeError, "list of Functions.*H:"),
        ("ID", TypeError, "list of Functions"),
        ([od.mass_matrix], TypeError, "od.function"),
        ([registered("H"), 3], TypeError, "got 3"),
        ([ca.Function()], ValueError, "empty"),
    ],
)
def test_what_is_not_a_list_of_functions(tmp_path, functions, error, message):
    with pytest.raises(error, match=message):
        od.codegen.export(functions, tmp_path / "robot")
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_is_no_string(tmp_path):
    with pytest.raises(TypeError, match="prefix must be a string"):
        od.codegen.export([registered("H")], tmp_path / "robot", prefix=3)
