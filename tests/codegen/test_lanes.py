"""Batches that keep their lanes, sparse results, and quotients in lanes: equal to plain batches to the last bit."""

from __future__ import annotations

import ctypes
import pickle
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen import Lanes, emit
from ocp_dyn.codegen.compiled import batch
from ocp_dyn.codegen.compiled.arrays import empty
from ocp_dyn.codegen.text.quotients import shared_reciprocals
from ocp_dyn.codegen.text.values import Value, values_of
from ocp_dyn.native.toolchain import find_compiler
from tests.helpers import tree

CC = find_compiler()
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler")
pytestmark = pytest.mark.filterwarnings("ignore:compile found no C compiler:RuntimeWarning")

SPARSE = (False, True, "distinct")


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """A cache of these tests' own, so that they build every library once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=[pytest.param("compiled", marks=needs_compiler), "virtual machine"])
def backend(request, monkeypatch, tmp_path) -> str:
    if request.param == "virtual machine":
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CC", raising=False)
    return request.param


def odd() -> ca.Function:
    """A matrix and a vector as inputs; outputs: symmetric with zeros and repeated entries; a vector; none; a
    constant."""
    A, x = ca.SX.sym("A", 2, 3), ca.SX.sym("x", 9)
    S = ca.SX(3, 3)
    S[0, 0] = S[2, 2] = ca.sin(x[0]) * A[0, 1]
    S[1, 0] = S[0, 1] = x[1] + A[1, 2]
    S[2, 1] = 0  # a structural nonzero that is zero
    return ca.Function(
        "odd", [A, x], [S, x / x[2] + x[1] / x[2], ca.SX(0, 1), ca.SX([1.0, 0.0])], ["A", "x"], list("Sync")
    )


def drawn(f: ca.Function, states: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=(states, *(s for s in f.size_in(i) if s > 1))) for i in range(f.n_in())]


def rows(results) -> list[np.ndarray]:
    return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("sparse", SPARSE)
@pytest.mark.slow
def test_layouts_and_patterns_change_nothing(rng, backend, sparse):
    f = odd()
    plain = od.codegen.compile([f]).odd
    made = {layout: od.codegen.compile([f], layout=layout, sparse=sparse).odd for layout in ("rows", "lanes")}
    assert {g.backend for g in made.values()} == {plain.backend} == {backend}
    assert made["lanes"].shape_out == {
        False: ((3, 3), (9,), (0,), (2,)), True: ((5,), (9,), (0,), (2,)), "distinct": ((2,), (9,), (0,), (1,))
    }[sparse]  # fmt: skip
    for states in (0, 1, 7, 8, 21):
        A, x = drawn(f, states, rng)
        expected = plain(A, x)
        for layout, g in made.items():
            for given in ((A, x), (Lanes.of(A), Lanes.of(x)), (Lanes.of(A), x)):
                results = g(*given)
                assert all(isinstance(y, Lanes) == (layout == "lanes") for y in results)
                for result, shape, pattern, right in zip(results, g.shape_out, g.patterns, expected, strict=True):
                    assert result.shape == (states, *shape)
                    dense = pattern.dense(result) if sparse else np.asarray(result)
                    np.testing.assert_array_equal(dense, right)
            if states:
                one = g(A[-1], x[-1])
                for result, many in zip(one, g(A, x), strict=True):
                    np.testing.assert_allclose(result, many[states - 1], rtol=1e-13, atol=1e-13)
                assert all((a == b).all() for a, b in zip(g.buffer()(A[-1], x[-1]), one, strict=True))


def test_one_state_for_all_and_none(rng, backend):
    f = odd()
    plain, lanes = od.codegen.compile([f]).odd, od.codegen.compile([f], layout="lanes").odd
    A, x = drawn(f, 19, rng)
    for given, same in (
        ((A[3], x), (A[3], Lanes.of(x))),
        ((None, x), (None, Lanes.of(x))),
        ((A, x[2]), (Lanes.of(A), x[2])),
    ):
        for result, right in zip(lanes(*same), plain(*given), strict=True):
            np.testing.assert_array_equal(np.asarray(result), right)
    assert all(isinstance(y, np.ndarray) for y in lanes(A[0], x[0]))  # a single state has no lanes


@pytest.mark.parametrize(("precision", "lanes"), [("single", None), ("double", 2), ("double", 1)])
@pytest.mark.slow
def test_other_numbers_of_lanes(rng, backend, precision, lanes):
    f = odd()
    options = {"precision": precision, "lanes": lanes, "single": False}
    plain = od.codegen.compile([f], **options).odd
    g = od.codegen.compile([f], layout="lanes", sparse="distinct", **options).odd
    width = lanes or 16
    assert (g.lanes, g.layout, g.sparse, g.dtype) == (width, "lanes", "distinct", plain.dtype)
    A, x = (y.astype(g.dtype) for y in drawn(f, 19, rng))
    results = g(Lanes.of(A, width), Lanes.of(x, lanes))
    for result, pattern, right in zip(results, g.patterns, plain(A, x), strict=True):
        assert (result.lanes, result.dtype) == (width, g.dtype)
        np.testing.assert_array_equal(pattern.dense(result), right)


@pytest.mark.slow
def test_results_are_arguments_of_the_next_function(rng, backend):
    model = tree("chain")
    fast = od.codegen.compile([od.function(a, model) for a in (od.forward_dynamics, od.bias_force)], layout="lanes")
    q, qd = np.array([model.random_q(rng) for _ in range(11)]), rng.normal(size=(11, model.nv))
    at, moving = Lanes.of(q), Lanes.of(qd)
    qdd = fast.FD(at, moving, fast.C(at, moving))
    assert np.abs(np.asarray(qdd)).max() < 1e-9  # torques that hold C leave no acceleration
    later = moving + 0.01 * qdd
    np.testing.assert_array_equal(np.asarray(later), qd + 0.01 * np.asarray(qdd))
    assert fast.C(at, later).shape == (11, model.nv)


def test_out_decides_the_layout(rng, backend):
    f = odd()
    A, x = drawn(f, 13, rng)
    rows_, lanes = (od.codegen.compile([f], layout=layout, sparse=True).odd for layout in ("rows", "lanes"))
    expected = rows_(A, x)
    for g in (rows_, lanes):
        out = tuple(
            Lanes.empty(13, shape, 8) if j % 2 else np.full((13, *shape), np.nan) for j, shape in enumerate(g.shape_out)
        )
        assert all(y is z for y, z in zip(g(A, Lanes.of(x), out=out), out, strict=True))
        run = g.runner([Lanes.of(A), x], out)
        for y in out:
            (y.data if isinstance(y, Lanes) else y)[...] = np.nan
        run()
        for y, right in zip(out, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(y), right)


@needs_compiler
def test_threads_change_nothing(rng, monkeypatch):
    monkeypatch.setattr(batch, "WORK_PER_THREAD", 100)  # threads for small batches too
    f = odd()
    A, x = drawn(f, 203, rng)
    for options in ({"layout": "lanes"}, {"layout": "lanes", "sparse": True}, {"sparse": "distinct"}):
        alone, shared = (od.codegen.compile([f], threads=k, **options).odd for k in (1, 3))
        for given in ((A, x), (Lanes.of(A), Lanes.of(x))):
            for y, z in zip(rows(alone(*given)), rows(shared(*given)), strict=True):
                np.testing.assert_array_equal(y, z)


@needs_compiler
def test_data_at_any_address(rng):
    """C code reads and writes vectors in place only at multiples of their size."""
    fast = od.codegen.compile([odd()], layout="lanes").odd
    A, x = drawn(odd(), 20, rng)
    right = rows(fast(A, x))
    shifted = []
    for y in (Lanes.of(A), Lanes.of(x), *fast(A, x)):
        memory = empty((y.data.size + 1,), y.dtype)[1:].reshape(y.data.shape)
        memory[...] = y.data
        shifted.append(Lanes(memory, 20, y.shape[1:]))
    assert shifted[0].data.ctypes.data % 64 == 8
    assert Lanes.of(A).data.ctypes.data % 64 == 0
    fast(*shifted[:2], out=tuple(shifted[2:]))
    for y, z in zip(shifted[2:], right, strict=True):
        np.testing.assert_array_equal(np.asarray(y), z)


def test_pickles(rng, backend):
    f = odd()
    g = od.codegen.compile([f], layout="lanes", sparse="distinct").odd
    A, x = (Lanes.of(y) for y in drawn(f, 9, rng))
    again, A_again = pickle.loads(pickle.dumps((g, A)))
    assert (again.layout, again.sparse, again.shape_out) == ("lanes", "distinct", g.shape_out)
    assert A_again.data.ctypes.data % 64 == 0
    assert A_again.shape == A.shape
    for y, z in zip(rows(again(A_again, x)), rows(g(A, x)), strict=True):
        np.testing.assert_array_equal(y, z)


@needs_compiler
def test_options_need_no_other_library(monkeypatch):
    f = odd()
    od.codegen.compile([f])
    compile_module = sys.modules["ocp_dyn.codegen.compiled.compile"]
    monkeypatch.setattr(compile_module, "build", lambda *_: pytest.fail("another library is built"))
    found = od.codegen.compile([f], layout="lanes", sparse=True).odd
    assert (found.layout, found.sparse, found.shape_out[0]) == ("lanes", True, (5,))


def test_errors_say_what_fits(backend):
    f = odd()
    g = od.codegen.compile([f], layout="lanes").odd
    A, x = np.ones((3, 2, 3)), np.ones((3, 9))
    with pytest.raises(ValueError, match=r"odd: x is Lanes\(\(3, 8\), float64, 8 lanes\), expected a shape \('N', 9\)"):
        g(A, Lanes.of(x[:, :8]))
    with pytest.raises(ValueError, match="with 8 lanes: make it by"):
        g(A, Lanes.of(x, lanes=4))
    with pytest.raises(ValueError, match="of float64 with 8 lanes"):
        g(A, Lanes.of(x.astype(np.float32), 8))
    with pytest.raises(ValueError, match="same number of states, got A 3, x 4"):
        g(A, Lanes.of(np.ones((4, 9))))
    good = [Lanes.empty(3, shape, 8) for shape in g.shape_out]
    with pytest.raises(ValueError, match=r"out for y must be a writable array \(3, 9\)"):
        g(A, x, out=(good[0], Lanes.empty(4, (9,), 8), *good[2:]))
    with pytest.raises(ValueError, match="out for y must have 8 lanes, got 4"):
        g(A, x, out=(good[0], Lanes.empty(3, (9,), 4), *good[2:]))
    y = Lanes.of(x)
    with pytest.raises(ValueError, match="out for y shares memory with another argument"):
        g(A, y, out=(good[0], y, *good[2:]))
    for options, message in (
        ({"layout": "lane"}, "layout must be one of rows, lanes, got 'lane'"),
        ({"layout": 8}, "layout must be one of rows, lanes, got 8"),
        ({"sparse": "unique"}, "sparse is False, True or 'distinct', got 'unique'"),
        ({"sparse": 1}, "sparse is False, True or 'distinct', got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            od.codegen.compile([f], **options)


# Lanes and Pattern


def test_lanes_read_like_rows(rng):
    array = rng.normal(size=(21, 3, 4))
    x = Lanes.of(array)
    assert (x.shape, x.lanes, len(x), x.data.shape) == ((21, 3, 4), 8, 21, (3, 12, 8))
    assert x.data[1, 5, 2] == array[10, 1, 1]
    assert (x.data[2, :, 5:] == x.data[2, :, 4:5]).all()  # unused lanes repeat the last state
    for index in (
        0,
        -1,
        slice(3, 15, 2),
        [2, 2, 20],
        np.arange(21) > 17,
        (5, 1),
        (slice(2, 4), 1, 3),
        (slice(None), ..., 0),
    ):
        np.testing.assert_array_equal(x[index], array[index])
    np.testing.assert_array_equal(np.asarray(x, np.float32), array.astype(np.float32))
    np.testing.assert_array_equal(np.array(list(x)), array)
    for width in (1, 2, 4, 16):
        np.testing.assert_array_equal(Lanes.of(array, width).rows(), array)
    x.fill(2 * array)
    np.testing.assert_array_equal(x.rows(), 2 * array)
    assert Lanes.of(array[:0]).rows().shape == (0, 3, 4)
    assert Lanes.of(np.ones((5, 2), np.float32)).lanes == 16
    assert Lanes.of(np.ones((5, 2), int)).dtype == np.float64
    with pytest.raises(IndexError):
        x[21]
    with pytest.raises(ValueError, match="cannot be had without a copy"):
        np.asarray(x, copy=False)


def test_arithmetic_of_lanes(rng):
    a, b = rng.normal(size=(2, 11, 3))
    x, y = Lanes.of(a), Lanes.of(b)
    np.testing.assert_array_equal(np.asarray(x + 2 * y), a + 2 * b)
    np.testing.assert_array_equal(np.asarray(np.sin(x) * b[0] - 1), np.sin(a) * b[0] - 1)
    np.testing.assert_array_equal(x < y, a < b)
    assert (x + y).data.ctypes.data % 64 == 0
    np.testing.assert_array_equal(x == Lanes.of(a), np.full((11, 3), True))
    with pytest.raises(ValueError, match="operands must be of one shape, type and number of lanes"):
        x + Lanes.of(a, 4)
    with pytest.raises(ValueError, match="operands must be of one shape, type and number of lanes"):
        x + Lanes.of(a.astype(np.float32), 8)
    with pytest.raises(TypeError, match="convert a batch of rows"):
        x + b
    with pytest.raises(TypeError, match=r"np.add combines .* pass np.asarray\(x\)"):
        np.add.reduce(x)
    with pytest.raises(TypeError, match=r"np.matmul combines .* pass np.asarray\(x\)"):
        x @ y
    with pytest.raises(TypeError):
        np.add(x, y, out=a)
    with pytest.raises(TypeError):
        np.add(x, y, where=False)


def test_comparisons_of_lanes_are_rows(rng):
    a = rng.normal(size=(11, 3))
    x = Lanes.of(a)
    for ufunc in (np.greater, np.less_equal, np.equal, np.logical_and):
        found = ufunc(x, 0.5)
        assert isinstance(found, np.ndarray)
        assert found.dtype == bool
        np.testing.assert_array_equal(found, ufunc(a, 0.5))
    np.testing.assert_array_equal(np.isfinite(x), np.full((11, 3), True))
    np.testing.assert_array_equal(x[(x > 0)[:, 0]], a[a[:, 0] > 0])


def test_lanes_change_in_place(rng):
    a, b = rng.normal(size=(2, 11, 3))
    x, kept = Lanes.of(a), Lanes.of(b)
    same, data = x, x.data
    x += 0.5 * kept
    x *= b[0]
    assert x is same
    assert x.data is data
    np.testing.assert_array_equal(np.asarray(x), (a + 0.5 * b) * b[0])
    assert np.sin(kept, out=x) is x
    np.testing.assert_array_equal(np.asarray(x), np.sin(b))
    assert np.greater(kept, 0.0, out=x) is x
    np.testing.assert_array_equal(np.asarray(x), b > 0)
    with pytest.raises(ValueError, match="operands must be of one shape, type and number of lanes"):
        np.sin(kept, out=Lanes.of(b, 4))


def test_a_runner_counts_its_arguments(backend):
    g = od.codegen.compile([odd()]).odd
    with pytest.raises(TypeError, match=r"odd takes \d arguments \(A, x.*\), got 1"):
        g.runner([np.ones((2, 3))], [])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Lanes.of(np.ones(3)),
            ValueError,
            r"needs an array \(N, n\) with a state per row, got the shape \(3,\)",
        ),
        (lambda: Lanes.of([["a"]]), TypeError, "needs real numbers"),
        (lambda: Lanes.of(np.ones((3, 2)), 3), ValueError, "lanes are 1, 2, 4, 8, 16, got 3"),
        (lambda: Lanes.empty(-1, (2,), 8), ValueError, "number of states is an integer, 0 or more, got -1"),
        (
            lambda: Lanes.empty(1, 2, 8),
            ValueError,
            r"the shape of one state is a tuple of integers, such as \(7,\), got 2",
        ),
        (lambda: Lanes(np.ones((1, 2, 8)), 3, (-2, -1)), ValueError, "shape of one state is a tuple of integers"),
        (lambda: Lanes.empty(1, (2,), 0), ValueError, "lanes are 1, 2, 4, 8, 16, got 0"),
        (
            lambda: Lanes.empty(3, (2,), 8).fill(np.ones(6)),
            ValueError,
            r"is filled by an array \(3, 2\), got the shape \(6,\)",
        ),
        (
            lambda: Lanes(np.ones((3, 2)), 6),
            TypeError,
            r"needs data \(blocks, entries, lanes\) .*, got \(3, 2\) of float64",
        ),
        (lambda: Lanes(np.ones((2, 3, 8), int), 9), TypeError, "of int"),
        (lambda: Lanes([1.0], 1), TypeError, r"got \[1.0\]"),
        (lambda: Lanes(np.ones((2, 3, 8)), 17), ValueError, "2 blocks of 8 lanes, which do not hold 17 states"),
        (lambda: Lanes(np.ones((2, 3, 8)), 8), ValueError, "do not hold 8 states"),
        (lambda: Lanes(np.ones((2, 3, 5)), 9), ValueError, "needs data in C order with 1, 2, 4, 8, 16 lanes"),
        (lambda: Lanes(np.ones((2, 3, 8)), 9, (2, 2)), ValueError, r"a state of the shape \(2, 2\)"),
        (lambda: Lanes(np.ones((8, 3, 2)).T, 9), ValueError, "in C order"),
    ],
)
def test_lanes_refuse_what_does_not_fit(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_patterns(backend):
    f = odd()
    nonzeros, distinct = (od.codegen.compile([f], sparse=kind).odd.patterns for kind in (True, "distinct"))
    assert od.codegen.compile([f]).odd.patterns[0].places.tolist() == nonzeros[0].places.tolist()
    assert [nonzeros[0].rows.tolist(), nonzeros[0].columns.tolist()] == [[0, 1, 0, 2, 2], [0, 0, 1, 1, 2]]
    assert [distinct[0].rows.tolist(), distinct[0].columns.tolist()] == [[0, 1], [0, 0]]  # the lower triangle, no zeros
    assert distinct[0].slots.tolist() == [[0, 1, -1], [1, -1, -1], [-1, -1, 0]]
    assert [len(p) for p in distinct] == [2, 9, 0, 1]
    assert repr(distinct[0]) == "Pattern((3, 3), 2 numbers)"
    np.testing.assert_array_equal(distinct[0].dense([5.0, 6.0]), [[5, 6, 0], [6, 0, 0], [0, 0, 5]])
    assert distinct[2].dense(np.ones((4, 0))).shape == (4, 0)
    assert distinct[3].dense(np.ones((4, 1))).tolist() == [[1, 0]] * 4
    for wrong in ([1.0], np.ones((2, 3)), 1.0):
        with pytest.raises(ValueError, match="the pattern has 2 numbers"):
            distinct[0].dense(wrong)


# Quotients


def test_quotients_share_reciprocals():
    x, y, z = (ca.SX.sym(n) for n in "xyz")
    f = ca.Function("f", [x, y, z], [x / y, z / y, x / z, 1 / y, x / 3, z / 3, 1 / x])
    values, stores = shared_reciprocals(*values_of(f, "f"))
    used = [v.operation for v in values]
    assert (used.count(ca.OP_INV), used.count(ca.OP_MUL)) == (2, 2)  # of y and x
    assert used.count(ca.OP_DIV) + sum(v.operation == ca.OP_MUL for v in values) == 5
    kept = [values[v.arguments[-1]] for v in values if v.operation == ca.OP_DIV]
    assert Value(-1, (2, 0)) in kept
    assert len(stores) == 7
    code = emit(f, "f", reciprocals=True).text
    assert code.count("K(1.0) /") == 2
    assert emit(f, "f").text.count(" / ") == code.count(" / ") + 2
    with pytest.raises(TypeError):
        emit(f, "f", reciprocals=1)


@needs_compiler
def test_quotients_in_lanes_round_twice_at_most(rng):
    x, d = ca.SX.sym("x", 6), ca.SX.sym("d")
    f = ca.Function("f", [x, d], [x / d], ["x", "d"], ["y"])
    fast = od.codegen.compile([f], single=False).f
    a, b = rng.normal(size=(500, 6)), 10.0 ** rng.uniform(-9, 9, (500, 1))
    np.testing.assert_array_max_ulp(fast(a, b), a / b, 2)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(fast(np.full((3, 6), -2.0), np.zeros((3, 1))), np.full((3, 6), -np.inf))


# Exports

COMPILERS = [path for path in map(shutil.which, ("gcc", "clang")) if path]


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize(("dense", "precision", "lanes"), [(False, "double", 8), (True, "single", 4)])
@pytest.mark.slow
def test_exported_functions_of_lanes(rng, tmp_path, dense, precision, lanes):
    f = odd()
    folder = od.codegen.export([f], tmp_path / "robot", lanes=lanes, dense=dense, precision=precision)
    sources = [path for path in folder.glob("*.c") if path.name != "example.c"]
    strict = ("-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC")
    for compiler in COMPILERS:
        made = tmp_path / f"{Path(compiler).name}.so"
        subprocess.run([compiler, *strict, *sources, "-o", made, "-lm"], check=True)
        _check_exported(
            ctypes.CDLL(str(made)), f, rng, dense, lanes, np.float64 if precision == "double" else np.float32
        )


def _check_exported(library, f, rng, dense, lanes, dtype):
    def address(x):
        return ctypes.c_void_p(x.ctypes.data)

    for states in (1, lanes, 2 * lanes + 3):
        count = ctypes.c_longlong(states)
        A, x = (y.astype(dtype) for y in drawn(f, states, rng))
        expected = [np.full((states, f.numel_out(j)), np.nan, dtype) for j in range(f.n_out())]
        assert library.robot_odd_batch(count, *map(address, (A, x, *expected))) == 0
        places = [pattern.places for pattern in od.codegen.compile([f]).odd.patterns]
        right = expected if dense else [y[:, p] for y, p in zip(expected, places, strict=True)]
        given = []
        for y in ((A if dense else A.transpose(0, 2, 1)).reshape(states, 6), x):
            y = np.ascontiguousarray(y)
            to = np.full((-(-states // lanes), y.shape[1], lanes), np.nan, dtype)
            library.robot_rows_to_lanes(count, ctypes.c_int(y.shape[1]), address(y), address(to))
            np.testing.assert_array_equal(to, Lanes.of(y, lanes).data)
            given.append(to)
        for name in ("robot_odd_lanes", "robot_odd_lanes_in"):
            outs = [np.full((-(-states // lanes), y.shape[1], lanes), np.nan, dtype) for y in right]
            library.robot_odd_batch_bytes.restype = ctypes.c_ulong
            work = [np.zeros(library.robot_odd_batch_bytes(), np.uint8)] if name.endswith("_in") else []
            assert getattr(library, name)(count, *map(address, (*given, *outs, *work))) == 0
            for out, y in zip(outs, right, strict=True):
                back = np.full(y.shape, np.nan, dtype)
                library.robot_lanes_to_rows(count, ctypes.c_int(y.shape[1]), address(out), address(back))
                np.testing.assert_array_equal(back, y)
        nothing = [ctypes.c_void_p(None)] * 6
        assert library.robot_odd_lanes(count, *nothing) == 0


def test_an_export_describes_lanes():
    files = od.codegen.generate([odd()], "robot", lanes=4)
    head = files["robot.h"]
    assert "#define ROBOT_LANES 4" in head
    assert "int robot_odd_lanes(long long states, const double *A, const double *x, double *S, double *y," in head
    assert "void robot_rows_to_lanes(long long states, int size, const double *from, double *to);" in head
    assert "blocks of L = ROBOT_LANES states" in head
    assert "`_lanes` and `_lanes_in` do the same with lane-major arrays" in files["README.md"]
    assert "_lanes" not in od.codegen.generate([odd()], "robot")["robot.h"]
    taken = ca.Function("rows_to_lanes", [], [ca.SX(1)])
    with pytest.raises(ValueError, match="'rows_to_lanes' is the name of a function that exports with lanes contain"):
        od.codegen.generate([taken], "robot")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86-64")
@needs_compiler
def test_lane_major_results_are_written_in_place():
    """Vectors and distinct values need no copy; a matrix with zeros does."""
    from ocp_dyn.codegen.text import driver

    text = driver.batch_source(emit(odd(), "k"), 8, "double")
    assert "same_0[] = {0, 0, 1}" in text
    assert "same_1[] = {1, 1, 1}" in text
    assert "same_3[] = {0, 0, 1}" in text
