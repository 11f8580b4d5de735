"""The emitter: what its C computes, that it is C without a warning, and its sine and cosine."""

from __future__ import annotations

import ctypes
import itertools
import math
import shutil
import subprocess
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.text import driver
from ocp_dyn.codegen.text.emit import emit
from ocp_dyn.codegen.text.lanes import PRECISIONS
from ocp_dyn.codegen.text.placement import by_demand, place
from ocp_dyn.codegen.text.writer import CHUNK_LENGTH
from tests.helpers import tree

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
WARNINGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-ffp-contract=fast")
every_compiler = pytest.mark.parametrize("compiler", COMPILERS)
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler")


def load(source: str, folder, compiler: str = "", flags=("-O1", "-march=native")) -> ctypes.CDLL:
    """The source as a library, compiled without a warning."""
    path = folder / f"k{len(list(folder.iterdir()))}.c"
    path.write_text(source)
    command = [
        compiler or COMPILERS[0],
        *WARNINGS,
        *flags,
        "-fPIC",
        "-shared",
        str(path),
        "-o",
        str(path) + ".so",
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert ": warning:" not in done.stderr, done.stderr[:2000]
    return ctypes.CDLL(str(path) + ".so")


def pointers(arrays):
    return (ctypes.c_void_p * max(1, len(arrays)))(*(None if a is None else a.ctypes.data for a in arrays))


def one(library: ctypes.CDLL, inputs, outputs) -> None:
    assert library.ocp_dyn_one(pointers(inputs), pointers(outputs)) == 0


def many(library: ctypes.CDLL, states: int, inputs, outputs) -> None:
    strides = [0 if a is None else a.shape[1] for a in inputs]
    steps = (ctypes.c_longlong * max(1, len(strides)))(*strides)
    assert library.ocp_dyn_many(ctypes.c_longlong(states), pointers(inputs), steps, pointers(outputs)) == 0


def operations() -> ca.Function:
    """Every operation the emitter knows, each of inputs, of a computed value and of a constant."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    unary = [
        *(ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_SIN, ca.OP_COS, ca.OP_NOT, ca.OP_FABS, ca.OP_SIGN),
        *(ca.OP_EXP, ca.OP_TAN, ca.OP_ATAN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_ERF, ca.OP_SINH, ca.OP_COSH, ca.OP_TANH),
        *(ca.OP_ASINH, ca.OP_EXPM1),
    ]
    halves = [ca.OP_ASIN, ca.OP_ACOS, ca.OP_ATANH]
    positive = [ca.OP_LOG, ca.OP_SQRT, ca.OP_LOG1P]
    binary = [
        *(ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR),
        *(ca.OP_IF_ELSE_ZERO, ca.OP_FMIN, ca.OP_FMAX, ca.OP_ATAN2, ca.OP_FMOD, ca.OP_COPYSIGN, ca.OP_HYPOT),
        ca.OP_REMAINDER,
    ]
    values = [ca.SX.unary(k, a) for k in unary for a in (x, x - y)]
    values += [ca.SX.unary(k, ca.tanh(x)) for k in halves] + [ca.acosh(1 + x * x)]
    values += [ca.SX.unary(k, 1 + x * x) for k in positive]
    values += [ca.SX.binary(k, *pair) for k in binary for pair in ((x, y), (x, ca.SX(0.3)), (ca.SX(-2), y), (x * y, x))]
    values += [ca.SX.binary(ca.OP_POW, 1 + x * x, y), (1 + x * x) ** 2.5, ca.if_else(x > y, x, 2 * y), 0.1, y, -0.0]
    values += [ca.SX.inf(), -ca.SX.inf(), ca.SX.nan(), ca.SX(1e300), ca.if_else(x == 0, 5, ca.sin(x) / x)]
    return ca.Function("ops", [x, y], [ca.vcat(values)])


@needs_compiler
@every_compiler
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.slow
def test_every_operation(rng, tmp_path, compiler, lanes):
    f = operations()
    library = load(driver.batch_source(emit(f, "ops"), lanes, "double"), tmp_path, compiler)
    special = [0.0, -0.0, 1.0, -1.0, 0.3, 2.0, np.nan]
    pairs = np.array([*itertools.product(special, special), *rng.normal(size=(27, 2)) * 3])
    x, y = (np.ascontiguousarray(pairs[:, [k]]) for k in (0, 1))
    got = np.full((len(pairs), f.numel_out(0)), 7.0)
    many(library, len(pairs), [x, y], [got])
    expected = np.array([f(*pair).full().ravel() for pair in pairs])
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


def test_operations_without_a_counterpart():
    x = ca.SX.sym("x")
    for value, name in ((ca.erfinv(x), "OP_ERFINV"), (x.printme(0), "OP_PRINTME")):
        with pytest.raises(ValueError, match=f"'f' uses {name}, which the emitter cannot write as C"):
            emit(ca.Function("f", [x], [value]), "f")
    inner = ca.Function("inner", [x], [x * x], {"never_inline": True})
    with pytest.raises(ValueError, match=r"OP_CALL.*inlined"):
        emit(ca.Function("f", [x], [inner(x)]), "f")


def test_text_is_deterministic_small_and_exact():
    model = tree("floating")
    f = od.function(od.forward_dynamics, model)
    assert emit(f, "k") == emit(f, "k")
    x = ca.SX.sym("x", 3)
    unused = ca.sin(x[2]) * x[1]
    a, b = x[0] * x[1], x[1] * x[0]
    g = ca.Function("g", [x], [ca.vertcat(a + ca.exp(0.1), b + ca.sin(x[0]) * ca.cos(x[0])), ca.SX(2, 2)])
    text = emit(g, "k").text
    assert text.count("sincos_(") == 1
    assert text.count("x0[0] * x0[1]") == 1, "a b and b a are one value"
    assert "x0[2]" not in text
    assert math.exp(0.1).hex() in text
    assert "libm" not in text
    assert emit(g, "k").library == ()
    assert unused.nnz() == 1


class WithConstants(ca.Function):
    """A Function whose constants are others: CasADi's expressions know no -0.0, its lists of instructions may."""

    def __init__(self, f: ca.Function, others: dict[float, float]) -> None:
        super().__init__(f)
        self.others = others

    def instruction_constant(self, k: int) -> float:
        return self.others[super().instruction_constant(k)]


@needs_compiler
@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_the_sign_of_zero_is_kept(tmp_path, zeros):
    """Constants that are equal as numbers but not the same: which of them comes first does not matter."""
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [ca.vertcat(ca.copysign(x, 3.0), ca.copysign(x, 4.0), ca.atan2(4.0, -x))])
    kernel = emit(WithConstants(f, {3.0: zeros[0], 4.0: zeros[1]}), "k")
    result = np.zeros(3)
    one(load("\n".join(driver.single_files(kernel, "double")), tmp_path), [np.array([2.0])], [result])
    signs = [math.copysign(1.0, zero) for zero in zeros]
    assert result.tolist() == [2.0 * signs[0], 2.0 * signs[1], math.pi * signs[1]]


def test_an_order_by_demand_keeps_fewer_values_waiting():
    """Two limbs, listed outwards for both and then inwards: by demand one limb after the other."""
    n = 600
    outwards = [() if k % n == 0 else (k - 1,) for k in range(2 * n)]
    inwards = [(k,) if k % n == n - 1 else (k, 2 * n + k + 1) for k in range(2 * n)]
    arguments = [*outwards, *inwards]
    order = [*range(2 * n), *range(3 * n - 1, 2 * n - 1, -1), *range(4 * n - 1, 3 * n - 1, -1)]
    found = by_demand(order, arguments, [3 * n, 2 * n])
    assert sorted(found) == sorted(order)
    when = {v: k for k, v in enumerate(found)}
    assert all(when[a] < when[v] for v in found for a in arguments[v])
    listed, limbs = (place([(v,) for v in o], arguments, 100) for o in (order, found))
    assert (listed.size, limbs.size) == (2 * n + 1, n + 1)  # and the one passed on inwards


@needs_compiler
@pytest.mark.slow
def test_values_pass_between_chunks(rng, tmp_path):
    """A recursion whose old values are needed much later, many chunks long."""
    x = ca.SX.sym("x", 3)
    values = ca.vertsplit(x)
    for k in range(6 * CHUNK_LENGTH):
        values.append(
            0.5 * values[-1] + 0.3 * (values[-(1 + 7 * k % 650)]) if k > 700 else 0.9 * values[-2] - values[-1]
        )
    f = ca.Function("recursion", [x], [ca.vcat(values[::97])])
    kernel = emit(f, "recursion")
    assert kernel.text.count("CHUNK void") > 6
    assert 0 < kernel.work < 1500, "places in w are used again"
    library = load(driver.single_source(kernel, "double"), tmp_path)
    given, got = rng.normal(size=3), np.zeros(f.numel_out(0))
    one(library, [given], [got])
    np.testing.assert_allclose(got, f(given).full().ravel(), rtol=1e-12)


def matrices() -> ca.Function:
    """A matrix as input, a sparse and a symmetric one as output, an empty and a constant output, no common size."""
    A, q = ca.SX.sym("A", 2, 3), ca.SX.sym("q", 3)
    sparse = ca.SX(3, 4)
    sparse[0, 1], sparse[2, 3], sparse[2, 0] = q[0], A[1, 2] * q[1], A[0, 1]
    return ca.Function("m", [A, q], [A @ q, sparse, A.T @ A, ca.SX(0, 1), ca.SX([1.0, 0.0, 2.0])])


@needs_compiler
@every_compiler
@pytest.mark.parametrize(("lanes", "precision"), [(1, "double"), (4, "double"), (16, "single")])
@pytest.mark.slow
def test_layouts_tails_and_nulls(rng, tmp_path, compiler, lanes, precision):
    f = matrices()
    dtype = np.float64 if precision == "double" else np.float32
    library = load(driver.batch_source(emit(f, "m"), lanes, precision), tmp_path, compiler)
    for n in range(1, 21):
        A, q = rng.normal(size=(n, 6)).astype(dtype), rng.normal(size=(n, 3)).astype(dtype)
        outputs = [np.full((n + 1, f.numel_out(j)), 7.0, dtype) for j in range(f.n_out())]
        many(library, n, [A, q], [*outputs[:3], None, outputs[4]])
        for k in range(n):
            for j, expected in enumerate(f(A[k].reshape(2, 3), q[k])):
                np.testing.assert_allclose(
                    outputs[j][k], expected.full().ravel(), rtol=0, atol=50 * np.finfo(dtype).eps
                )
        assert all((y[n:] == 7).all() for y in outputs), "nothing is written beyond the last state"
    A, q, y = rng.normal(size=(5, 6)).astype(dtype), None, np.full((5, 9), 7.0, dtype)
    many(library, 5, [A, q], [None, None, y, None, None])
    np.testing.assert_allclose(y[4], (A[4].reshape(2, 3).T @ A[4].reshape(2, 3)).ravel(), rtol=1e-5)


# Sine and cosine


def angles(rng) -> np.ndarray:
    """Below 1e4: everywhere, small ones, next to multiples of pi/4, at the limit."""
    multiples = np.arange(-12731, 12732) * (math.pi / 4)
    near = multiples[np.abs(multiples) < 1e4]
    return np.concatenate([
        rng.uniform(-1e4, 1e4, 400), rng.uniform(-4, 4, 400), 10.0 ** rng.uniform(-30, 1, 100),
        rng.choice(near, 300), np.nextafter(near[::111], 1e9), [0.0, -0.0, 9999.999999999998, -9999.999999999998],
    ])  # fmt: skip


def exact_sincos(x: float) -> tuple[Fraction, Fraction]:
    """To some 40 digits: reduced by pi of that many digits, then by the series."""
    bits = 220
    r = Fraction(x)
    r -= round(r / HALF_PI) * HALF_PI
    turns = round(Fraction(x) / HALF_PI) % 4
    scaled = round(r * 2**bits)
    sine = cosine = 0
    term = 1 << bits
    for k in range(36):
        if k % 2:
            sine += (-1) ** (k // 2) * term
        else:
            cosine += (-1) ** (k // 2) * term
        term = term * scaled // ((k + 1) << bits)
    s, c = Fraction(sine, 2**bits), Fraction(cosine, 2**bits)
    return [(s, c), (c, -s), (-s, -c), (-c, s)][turns]


def machin() -> Fraction:
    """pi/2 to some 90 digits."""

    def arctan(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(70)), Fraction(0))

    return 2 * (4 * arctan(5) - arctan(239))


HALF_PI = machin()


def test_parts_of_half_pi():
    """They add up, and multiples below 2^13 of all but the last are exact."""
    for p in PRECISIONS.values():
        assert abs(sum(map(Fraction, p.parts)) / HALF_PI - 1) < Fraction(1, 2 ** (p.mantissa * 2 - 1))
        for part in p.parts[:-1]:
            assert part.hex().rstrip("0")  # a number
            assert Fraction(part) / Fraction(2) ** (math.frexp(part)[1] - p.mantissa + 13) % 1 == 0


@needs_compiler
@every_compiler
@pytest.mark.parametrize(("lanes", "precision"), [(8, "double"), (1, "single")])
@pytest.mark.slow
def test_sine_and_cosine_to_two_units_in_the_last_place(rng, tmp_path, compiler, lanes, precision):
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [ca.vertcat(ca.sin(x), ca.cos(x))])
    library = load(driver.batch_source(emit(f, "f"), lanes, precision), tmp_path, compiler)
    dtype = np.float64 if precision == "double" else np.float32
    given = angles(rng).astype(dtype)[:, None]
    given = given[np.abs(given[:, 0]) < 1e4]
    got = np.zeros((len(given), 2), dtype)
    many(library, len(given), [given], [got])
    worst = Fraction(0)
    for value, row in zip(given[:, 0], got, strict=True):
        for exact, number in zip(exact_sincos(float(value)), row, strict=True):
            unit = Fraction(float(np.spacing(np.abs(dtype(float(exact))) + dtype(0))))
            worst = max(worst, abs(exact - Fraction(float(number))) / unit)
    assert worst < 2, float(worst)
    beyond = np.array([1e4, -1e4, 12345.678, 1e15, -1e22, 1e30, np.inf, -np.inf, np.nan, 1.0, 2.0], dtype)[:, None]
    got = np.zeros((len(beyond), 2), dtype)
    many(library, len(beyond), [beyond], [got])
    with np.errstate(invalid="ignore"):
        expected = np.hstack([np.sin(beyond.astype(float)), np.cos(beyond.astype(float))])
    np.testing.assert_allclose(got, expected, rtol=2 * np.finfo(dtype).eps, atol=0)


# The text in a compiler's eyes


@needs_compiler
@every_compiler
@pytest.mark.slow
def test_no_warnings(tmp_path, compiler):
    """Pedantic compilers give none; vectors, an extension, are compiled without a warning in all tests here."""
    for f in (operations(), ca.Function("none", [], [ca.SX(1.5)]), ca.Function("nil", [ca.SX.sym("x")], [])):
        load(driver.single_source(emit(f, "k"), "double"), tmp_path, compiler, ("-O0", "-std=c99", "-pedantic"))
