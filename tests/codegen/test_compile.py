"""Compiled functions: their results, shapes and errors; the cache; the compiler and its absence."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base import cache, display
from ocp_dyn.codegen import compile as compile_functions
from ocp_dyn.codegen import emit
from ocp_dyn.codegen.compiled import batch
from ocp_dyn.codegen.text import driver
from ocp_dyn.native.toolchain import Compiler, find_compiler
from tests.helpers import JOINTS, add_random, tree

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
pytestmark = pytest.mark.filterwarnings("ignore:compile found no C compiler:RuntimeWarning")
REPOSITORY = Path(od.__file__).parents[1]


@pytest.fixture(autouse=True, scope="module")
def shared_cache(tmp_path_factory):
    """A cache of these tests, so that they build every library once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


@pytest.fixture
def no_compiler(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("CC", raising=False)


def states(f: ca.Function, model: od.Model, n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Random inputs."""
    return [
        np.array([model.random_q(rng) if name == "q" else rng.normal(size=f.size1_in(name)) for _ in range(n)])
        for name in f.name_in()
    ]


def reference(f: ca.Function, inputs: list[np.ndarray], k: int) -> list[np.ndarray]:
    results = f.call([x[k] for x in inputs])
    return [r.full().ravel() if r.shape[1] == 1 else r.full() for r in results]


def listed(x) -> tuple[np.ndarray, ...]:
    return x if isinstance(x, tuple) else (x,)


def agree(got, expected, tolerance=1e-12) -> None:
    """To `tolerance` of the largest entry."""
    assert got.shape == expected.shape
    assert np.abs(got - expected).max(initial=0) <= tolerance * (1 + np.abs(expected).max(initial=0))


@needs_compiler
@pytest.mark.slow
def test_functions_equal_the_virtual_machine(rng):
    """On a small tree with quaternions, with numbers of states below, at and above one and two registers of lanes."""
    builder = od.ModelBuilder("small", gravity=(1.1, -2.3, -9.81))
    for name, kind, parent in (("b1", "spherical", "world"), ("b2", "revolute_z", "b1")):
        add_random(builder, name, JOINTS[kind], parent, rng)
    model = builder.build()
    functions = [od.function(a, model) for a in (od.forward_dynamics, od.body_poses, od.integrate)]
    fast = od.codegen.compile(functions)
    assert list(fast) == [f.name() for f in functions]
    for f in functions:
        inputs = states(f, model, 17, rng)
        for n in (1, 7, 8, 17):
            results = listed(fast[f.name()](*(x[:n] for x in inputs)))
            for k in range(n):
                for got, expected in zip(results, reference(f, inputs, k), strict=True):
                    agree(got[k], expected, 1e-10)
        for got, expected in zip(listed(fast[f.name()](*(x[3] for x in inputs))), reference(f, inputs, 3), strict=True):
            agree(got, expected, 1e-10)


MODEL = tree("chain")
ID = od.function(od.inverse_dynamics, MODEL)
H = od.function(od.mass_matrix, MODEL)


@needs_compiler
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.slow
def test_lanes_and_threads_change_nothing(rng, monkeypatch, lanes):
    monkeypatch.setattr(batch, "WORK_PER_THREAD", 1000)  # threads for small batches too
    inputs = states(ID, MODEL, 1003, rng)
    alone = od.codegen.compile([ID], lanes=lanes, threads=1).ID(*inputs)
    shared = od.codegen.compile([ID], lanes=lanes, threads=3).ID(*inputs)
    assert (alone == shared).all()
    for k in (0, 500, 1002):
        agree(alone[k], reference(ID, inputs, k)[0])


@needs_compiler
@pytest.mark.slow
def test_single_precision(rng):
    fast = od.codegen.compile([ID], precision="single", lanes=4)
    inputs = states(ID, MODEL, 37, rng)
    tau = fast.ID(*(x.astype(np.float32) for x in inputs))
    assert tau.dtype == np.float32
    agree(tau[36], reference(ID, inputs, 36)[0], 1e-5)
    agree(fast.ID(*(x[3] for x in inputs)), reference(ID, inputs, 3)[0], 1e-5)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.slow
def test_shapes_none_and_single_arguments(rng, compiled, request):
    if not compiled:
        request.getfixturevalue("no_compiler")
    elif find_compiler() is None:
        pytest.skip("no C compiler")
    A, x = ca.SX.sym("A", 2, 3), ca.SX.sym("x")
    f = ca.Function("f", [A, x], [A * x, ca.sum2(A), ca.SX(3, 2)], ["A", "x"], ["Ax", "sums", "nothing"])
    fast = od.codegen.compile([f])
    assert fast.f.backend == fast.backend == ("compiled" if compiled else "virtual machine")
    assert (fast.f.shape_in, fast.f.shape_out) == (((2, 3), (1,)), ((2, 3), (2,), (3, 2)))
    a = rng.normal(size=(11, 2, 3))
    product, sums, nothing = fast.f(a, 2)
    assert (product.shape, sums.shape, nothing.shape) == ((11, 2, 3), (11, 2), (11, 3, 2))
    np.testing.assert_array_equal(product, 2 * a)
    np.testing.assert_allclose(sums, a.sum(2), rtol=1e-15, atol=1e-15)
    assert not nothing.any()
    assert not fast.f(None, np.ones((4, 1)))[0].any()
    np.testing.assert_array_equal(fast.f(a[0], 3.0)[0], 3 * a[0])
    np.testing.assert_array_equal(fast.f(a.transpose(0, 2, 1).copy().transpose(0, 2, 1), 2)[0], 2 * a)
    np.testing.assert_array_equal(fast.f(a[::2], [[1], [2], [3], [4], [5], [6]])[0][5], 6 * a[10])
    np.testing.assert_array_equal(fast.f(a.astype(np.float32), 1)[0], a.astype(np.float32))
    assert fast.f(a[:0], 2)[0].shape == (0, 2, 3)
    buffer = fast.f.buffer()
    buffer.inputs[0][:], buffer.inputs[1][:] = a[3], 2
    assert buffer() is buffer(a[3], 2)
    np.testing.assert_array_equal(buffer.outputs[0], 2 * a[3])
    assert repr(fast.f).startswith("f:(A[2, 3], x[1])->(Ax[2, 3], sums[2], nothing[3, 2]) float64")


def test_results_do_not_need_a_compiler_and_who_asks_for_one_is_told(rng, no_compiler, recwarn):
    with pytest.warns(
        RuntimeWarning, match=r"found no C compiler: .* virtual machine.*install gcc or clang.* CC"
    ) as told:
        fast = od.codegen.compile([ID, H])
    assert [Path(warning.filename).name for warning in told] == ["test_compile.py"]
    assert (fast.backend, fast.compiler) == ("virtual machine", None)
    inputs = states(ID, MODEL, 5, rng)
    got, matrices = fast.ID(*inputs), fast.H(inputs[0])
    for k in range(5):
        agree(got[k], reference(ID, inputs, k)[0])
        agree(matrices[k], reference(H, inputs[:1], k)[0])
    assert od.codegen.compile([H], precision="single").H(inputs[0]).dtype == np.float32


def test_arguments_may_be_dm(rng, no_compiler):
    """A DM of one column is one state; a DM with a row per state is a batch; matrices as they are."""
    fast = od.codegen.compile([ID, H])
    batch = states(ID, MODEL, 3, rng)
    one = [x[0] for x in batch]
    expected = fast.ID(*one)
    np.testing.assert_array_equal(fast.ID(*map(ca.DM, one)), expected)
    np.testing.assert_array_equal(fast.ID(ca.DM(one[0]), *one[1:]), expected)
    np.testing.assert_array_equal(fast.ID(*map(ca.DM, batch)), fast.ID(*batch))
    np.testing.assert_array_equal(fast.ID.buffer()(*map(ca.DM, one)), expected)
    sparse = ca.DM(4, 1)
    np.testing.assert_array_equal(fast.H(sparse), fast.H(np.zeros(4)))
    A = ca.SX.sym("A", 2, 3)
    turned = od.codegen.compile([ca.Function("f", [A], [2 * A])]).f
    np.testing.assert_array_equal(turned(ca.DM([[1, 2, 3], [4, 5, 6]])), [[2, 4, 6], [8, 10, 12]])
    for wrong, message in (
        (ca.SX.sym("q", 4), "ID: q must hold real numbers, got <?SX"),
        (ca.DM(4, 4)[:, :3], r"ID: q has the shape \(4, 3\)"),
        (ca.DM(1, 3), r"ID: q has the shape \(1, 3\), expected .* for N: nq = 4, b1_joint, b2_joint"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fast.ID(wrong, *one[1:])
    with pytest.raises(ValueError, match=r"ID: q has the shape \(3, 1\), expected \(4,\): nq = 4, b1_joint"):
        fast.ID.buffer()(ca.DM(3, 1), *one[1:])


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.slow
def test_results_into_given_arrays(rng, compiled, request):
    if not compiled:
        request.getfixturevalue("no_compiler")
    elif find_compiler() is None:
        pytest.skip("no C compiler")
    fast = od.codegen.compile([ID, H])
    inputs = states(ID, MODEL, 9, rng)
    tau, M = np.full((9, 4), 7.0), np.full((4, 4), 7.0)
    assert fast.ID(*inputs, out=tau) is tau
    assert fast.H(inputs[0][2], out=(M,)) is M
    np.testing.assert_array_equal(tau, fast.ID(*inputs))
    np.testing.assert_array_equal(M, fast.H(inputs[0][2]))
    for wrong in (tau[:8], tau.T, tau.astype(np.float32), [[0.0]]):
        with pytest.raises((ValueError, TypeError), match=r"out for tau must be|out has"):
            fast.ID(*inputs, out=wrong)
    with pytest.raises(ValueError, match="out for tau shares memory with another argument"):
        fast.ID(*inputs, out=inputs[1])
    shared = np.zeros(10 * 4)
    inputs[1] = shared[:36].reshape(9, 4)
    with pytest.raises(ValueError, match="out for tau shares memory with another argument"):
        fast.ID(*inputs, out=shared[4:].reshape(9, 4))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("count", [None, 9])
def test_runners_read_and_write_where_arrays_are(rng, compiled, count, request):
    if not compiled:
        request.getfixturevalue("no_compiler")
    elif find_compiler() is None:
        pytest.skip("no C compiler")
    ID_fast = od.codegen.compile([ID]).ID
    first, other = ([x if count else x[0] for x in states(ID, MODEL, 9, rng)] for _ in range(2))
    inputs, tau = [x.copy() for x in first], np.full_like(first[0], 7.0)
    run = ID_fast.runner(inputs, [tau])
    for given in (first, other):
        for mine, x in zip(inputs, given, strict=True):
            mine[...] = x
        run()
        np.testing.assert_array_equal(tau, ID_fast(*given))
    with pytest.raises(ValueError, match="a runner reads its inputs in place and needs arrays of float64 in C order"):
        ID_fast.runner([x.astype(np.float32) for x in inputs], [tau])
    with pytest.raises(ValueError, match="out for tau shares memory with another argument"):
        ID_fast.runner(inputs, [inputs[1]])


# Errors


q4, q54 = np.zeros(4), np.zeros((5, 4))
REFUSED_CALLS = [
    (TypeError, r"ID takes 3 arguments \(q, qd, qdd\), got 1", (q4,)),
    (
        ValueError,
        r"ID: qd has the shape \(3,\), expected \(4,\) for one state or \(N, 4\) for N",
        (q4, np.zeros(3), q4),
    ),
    (ValueError, r"ID: q has the shape \(4, 1\)", (q4[:, None], q4, q4)),
    (ValueError, "the same number of states, got q 5, qd 2", (q54, q54[:2], q4)),
    (TypeError, "ID: q must hold real numbers, got an array of complex128", (q4 + 1j, q4, q4)),
    (TypeError, "ID: q must hold real numbers", (["a", "b", "c", "d"], q4, q4)),
]


@pytest.mark.parametrize(("error", "message", "arguments"), REFUSED_CALLS)
def test_calls_that_do_not_fit(no_compiler, error, message, arguments):
    with pytest.raises(error, match=message):
        od.codegen.compile([ID]).ID(*arguments)


x = ca.SX.sym("x")
other = ca.Function("ID", [x], [x])
REFUSED = [
    (TypeError, "needs a list of Functions", lambda: compile_functions(ID)),
    (TypeError, "needs casadi.Functions", lambda: compile_functions([od.inverse_dynamics])),
    (ValueError, "no Functions", lambda: compile_functions([])),
    (ValueError, "two different functions are called 'ID'", lambda: compile_functions([ID, other])),
    (ValueError, "empty or has free variables", lambda: compile_functions([ca.Function("f", [], [x], {
        "allow_free": True})])),
    (ValueError, "lanes in double precision are 1, 2, 4, 8 or None, got 3", lambda: compile_functions([ID], lanes=3)),
    (ValueError, "precision must be one of double, single", lambda: compile_functions([ID], precision="half")),
    (ValueError, "threads, unless None, must be at least 1", lambda: compile_functions([ID], threads=0)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_what_cannot_be_compiled(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_unknown_names(no_compiler):
    fast = od.codegen.compile([ID, ID])
    assert len(fast) == 1
    with pytest.raises(KeyError, match="'FD' was not compiled; compiled functions are ID"):
        fast["FD"]
    with pytest.raises(AttributeError, match="'FD' was not compiled; compiled functions are ID"):
        fast.FD  # noqa: B018
    with pytest.raises(
        TypeError, match=r"ID: its buffer takes 3 arguments \(q, qd, qdd\), in this order, or none, got 1"
    ):
        fast.ID.buffer()(q4)


@needs_compiler
@pytest.mark.slow
def test_a_compiler_that_fails(tmp_path, home, monkeypatch):
    """It answers what it is, but compiles nothing; one that does not answer is passed over."""
    fake = tmp_path / "fake"
    fake.write_text('#!/bin/sh\ncase "$*" in *-dM*) echo "#define FAKE";; *) echo "no disk" >&2; exit 3;; esac\n')
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    with pytest.raises(RuntimeError, match=r"(?s)fake failed with exit status 3:\nno disk\n.*variable CC"):
        od.codegen.compile([H])
    assert list(home.iterdir()) == [], "nothing half-made is left"
    monkeypatch.setenv("CC", str(tmp_path / "absent"))
    assert od.codegen.compile([H]).backend == "compiled"


# The cache


@needs_compiler
@pytest.mark.slow
def test_a_library_is_built_once_and_private(home, monkeypatch):
    od.codegen.compile([H], lanes=1)
    files = list(home.iterdir())
    assert len(files) == 1
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    monkeypatch.setattr(Compiler, "compile", None)  # a call would fail
    assert od.codegen.compile([H], lanes=1).compiler
    assert list(home.iterdir()) == files


@needs_compiler
@pytest.mark.slow
def test_what_makes_another_library(home):
    od.codegen.compile([H], lanes=1)
    od.codegen.compile([H], lanes=2)
    od.codegen.compile([H], lanes=2, precision="single")
    heavier = od.function(od.mass_matrix, tree("chain", np.random.default_rng(8)))
    od.codegen.compile([heavier], lanes=1)
    assert len(list(home.iterdir())) == 4


@needs_compiler
@pytest.mark.slow
def test_another_compiler_makes_another_library(home, monkeypatch):
    """Its version and options count, not its name alone."""
    found = find_compiler()
    module = sys.modules["ocp_dyn.codegen.compiled.compile"]
    od.codegen.compile([H], lanes=1)
    newer = replace(found, identity="of a later version")
    monkeypatch.setattr(module, "find_compiler", lambda: newer)
    od.codegen.compile([H], lanes=1)
    assert len(list(home.iterdir())) == 2


@needs_compiler
@pytest.mark.slow
def test_damaged_libraries_are_built_again(home):
    od.codegen.compile([H], lanes=2)
    (path,) = home.iterdir()
    path.unlink()  # not in place: this process has it loaded
    path.write_bytes(b"\x7fELF half of it")
    value = od.codegen.compile([H], lanes=2).H(np.zeros((3, 4)))
    agree(value[1], reference(H, [np.zeros((3, 4))], 1)[0])
    (again,) = home.iterdir()
    assert len(again.read_bytes()) > 1000


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are those of POSIX")
def test_a_cache_that_is_not_private_is_refused(home, tmp_path, monkeypatch):
    assert cache.directory() == home
    for mode in (0o770, 0o740, 0o704, 0o701):
        home.chmod(mode)
        with pytest.raises(PermissionError, match=f"mode {mode:04o}, expected 0700"):
            cache.directory()
    home.rmdir()
    home.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="must be a directory and not a link"):
        cache.directory()
    home.unlink()
    home.write_text("")
    with pytest.raises(PermissionError, match="must be a directory"):
        cache.directory()
    home.unlink()
    home.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: home.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="belongs to user"):
        cache.directory()


def test_where_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(cache, "_temporary", {})
    with pytest.warns(
        RuntimeWarning, match="ocp_dyn keeps no compiled code .*: the directory '.*ocp_dyn' cannot be made"
    ):
        place = cache.directory()
    assert place.is_dir()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "ocp_dyn"


def test_old_libraries_go(home):
    place = cache.directory()
    for name in ("old.1.so", "seldom.3.so", "new.2.so"):
        (place / name).write_text("")
    os.utime(place / "seldom.3.so", (time.time() - 86400 * (cache.UNUSED_DAYS + 1),) * 2)
    (place / "build-left").mkdir()
    for name in ("old.1.so", "build-left"):
        os.utime(place / name, (1, 1))
    with cache.stage(place):
        assert not (place / "build-left").exists()
    cache.prune(place)
    assert [path.name for path in place.iterdir()] == ["new.2.so"]


def test_the_cache_is_bounded_and_loses_what_was_used_least_recently(home, monkeypatch):
    place, now = cache.directory(), time.time()
    for k, hours in enumerate((5, 4, 3, 0)):  # the last one was used just now
        path = place / f"f{k}.0.so"
        path.write_bytes(bytes(1_000_000))
        os.utime(path, (now - 3600 * hours,) * 2)
    monkeypatch.setenv("OCP_DYN_CACHE_MB", "2.5")
    cache.prune(place)
    assert sorted(path.name for path in place.iterdir()) == ["f2.0.so", "f3.0.so"]
    monkeypatch.setenv("OCP_DYN_CACHE_MB", "0")
    cache.prune(place)
    assert [path.name for path in place.iterdir()] == ["f3.0.so"]
    for wrong in ("much", "-1", "nan", "inf"):
        monkeypatch.setenv("OCP_DYN_CACHE_MB", wrong)
        with pytest.raises(ValueError, match="OCP_DYN_CACHE_MB is the size of the cache"):
            cache.prune(place)
    monkeypatch.delenv("OCP_DYN_CACHE_MB")
    assert cache.bound() == 512_000_000


@needs_compiler
def test_a_wrong_bound_is_told_before_anything_is_built(home, monkeypatch):
    monkeypatch.setenv("OCP_DYN_CACHE_MB", "much")
    monkeypatch.setattr(sys.modules["ocp_dyn.codegen.compiled.compile"], "build", lambda *_: pytest.fail("built"))
    with pytest.raises(ValueError, match="OCP_DYN_CACHE_MB is the size of the cache"):
        od.codegen.compile([ID])


@needs_compiler
@pytest.mark.slow
def test_single_states_of_a_library_for_batches(rng, home):
    fast = od.codegen.compile([ID], single=False, lanes=2).ID
    one = [x[0] for x in states(ID, MODEL, 1, rng)]
    np.testing.assert_allclose(fast(*one), np.array(ID(*one)).ravel(), rtol=1e-12)
    buffer = fast.buffer()
    np.testing.assert_array_equal(buffer(*one), fast(*one))
    fast._backend._many = lambda *_: 1  # no memory
    with pytest.raises(MemoryError, match="no memory for a batch of lanes"):
        fast(*one)


def test_processes_may_tidy_the_cache_at_once(home, monkeypatch):
    """Files that another process removes or uses during pruning cause no error, and files just used stay."""
    place = cache.directory()
    for name in ("gone.0.so", "used.0.so", "old.0.so"):
        (place / name).write_bytes(bytes(10))
        os.utime(place / name, (time.time() - 7200,) * 2)

    def meanwhile(files):
        (place / "gone.0.so").unlink()
        os.utime(place / "used.0.so")
        return sorted(files)

    monkeypatch.setenv("OCP_DYN_CACHE_MB", "0")
    monkeypatch.setattr(cache, "sorted", meanwhile, raising=False)
    cache.prune(place)
    assert [path.name for path in place.iterdir()] == ["used.0.so"]


PROCESS = """
import numpy as np, ocp_dyn as od
fast = od.codegen.compile([od.function(od.mass_matrix, od.models.pendulum(2))], lanes=2)
print(fast.backend, float(fast.H(np.ones((9, 2)))[8].sum()))
"""


@needs_compiler
@pytest.mark.slow
def test_long_functions_are_compiled_in_parts(rng, monkeypatch, capsys):
    """Parts share values, and the forms for one state and for lanes do not mix up theirs."""
    monkeypatch.setattr(driver, "CHUNKS_PER_FILE", 1)
    monkeypatch.setattr(display, "REPORT_INTERVAL", -1.0)
    model = tree("floating")
    f = od.function(od.forward_dynamics, model)
    assert len(driver.batch_files(emit(f, "k"), 4, "double")) > 3
    fast = od.codegen.compile([f], lanes=4)
    inputs = states(f, model, 6, rng)
    for k in range(6):
        expected = reference(f, inputs, k)[0]
        agree(fast.FD(*inputs)[k], expected, 1e-10)
        agree(fast.FD(*(x[k] for x in inputs)), expected, 1e-10)
    told = capsys.readouterr().err
    assert "ocp_dyn: writing FD; 0 of 1 functions, " in told
    assert "ocp_dyn: FD is compiled; 1 of 1 functions, " in told


@needs_compiler
@pytest.mark.slow
def test_a_map_is_compiled(rng):
    """A Function without a list of instructions of its own."""
    x = ca.MX.sym("x", 2)
    f = ca.Function("inner", [x], [ca.sin(x)]).map(3)
    values = rng.normal(size=(5, 2, 3))
    np.testing.assert_allclose(od.codegen.compile([f])[f.name()](values), np.sin(values), rtol=1e-14, atol=1e-15)


@needs_compiler
@pytest.mark.slow
def test_processes_share_a_cache(home):
    command = [sys.executable, "-c", PROCESS]
    running = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    here = od.codegen.compile([od.function(od.mass_matrix, od.models.pendulum(2))], lanes=2)
    assert running.communicate(timeout=300)[0].startswith("compiled ")
    assert here.backend == "compiled"
    (path,) = home.iterdir()
    assert path.suffix == ".so"
