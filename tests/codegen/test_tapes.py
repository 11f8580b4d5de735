"""Tapes: functions as tables of operations, against CasADi's virtual machine."""

from __future__ import annotations

import multiprocessing
import re
import sys
from fractions import Fraction
from functools import cache

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn.codegen import tables as tapes
from ocp_dyn.codegen.tables import OPERATIONS, Tape, TapeRun, tape_of, work_array
from ocp_dyn.native.libraries import TABLES
from tests.helpers import close

pytestmark = pytest.mark.skipif(TABLES.obtain(wait=True)[0] is None, reason="no native library")


def library():
    return TABLES.obtain()[0].functions


def by_tape(f, inputs, threads=1):
    """The outputs of all rows of the inputs."""
    made = tape_of(library(), f)
    outputs = [np.full((len(inputs[0]), f.nnz_out(j)), np.nan) for j in range(f.n_out())]
    calls = [(made, inputs, outputs)]
    TapeRun(library(), calls, [work_array(calls) for _ in range(threads)])()
    return outputs


def by_casadi(f, inputs):
    rows = [f.call([ca.DM(f.sparsity_in(i), x) for i, x in enumerate(row)]) for row in zip(*inputs, strict=True)]
    return [np.array([np.array(row[j].nonzeros()) for row in rows]) for j in range(f.n_out())]


def agree(f, inputs, tolerance=1e-13):
    for one, other in zip(by_tape(f, inputs), by_casadi(f, inputs), strict=True):
        close(one, other, tolerance)


@cache
def fused():
    """Whether this machine rounds a product and its sum once."""
    a, x = SX.sym("a"), 1 + 2.0**-30
    f = ca.Function("f", [a], [a * a - (1 + 2.0**-29)])
    return bool(by_tape(f, [np.array([[x]])])[0][0, 0])


@pytest.mark.parametrize("name", [*OPERATIONS[4:], "CONSTPOW"])
@pytest.mark.slow
def test_every_operation(name, rng):
    """On both sides of 0 and 1, with equal operands, zeros, and what is no number."""
    x, y = SX.sym("x"), SX.sym("y")
    operation = getattr(ca, f"OP_{name}")
    values = np.array([*rng.normal(size=9), 0.0, 0.5, 1.0, -1.0, 1.5, np.nan, np.inf])
    a, b = (part.ravel()[:, None] for part in np.meshgrid(values, values))
    try:
        f = ca.Function("f", [x, y], [SX.binary(operation, x, y)])
        assert f.n_instructions() == 4
    except (RuntimeError, AssertionError):
        f = ca.Function("f", [x, y], [SX.unary(operation, x)])
    with np.errstate(all="ignore"):
        (one,), (other,) = by_tape(f, [a, b]), by_casadi(f, [a, b])
    assert np.array_equal(np.isnan(one), np.isnan(other))
    same = ~np.isnan(other)
    assert np.all((one == other)[same & ~np.isfinite(other)])
    close(one[same & np.isfinite(other)], other[same & np.isfinite(other)], 1e-14)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
@pytest.mark.slow
def test_dynamics_of_any_number_of_states(count, rng):
    model = od.models.human()
    ID = od.function(od.inverse_dynamics, model)
    q = np.array([model.random_q(rng) for _ in range(count)])
    agree(ID, [q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))], 1e-11)


def test_sums_of_products_are_fused_in_every_form(rng):
    a, b, c = SX.sym("a"), SX.sym("b"), SX.sym("c")
    p, q = a * b, b * c
    sums = [a * b + c, c + a * c, a * b - b, b - a * a, p + q, p - q, (p + c) * (c - p), p, a + a, a * a]
    agree(ca.Function("f", [a, b, c], [ca.vertcat(*sums)]), [rng.normal(size=(11, 1)) for _ in range(3)])


class Number:
    """A number whose sums with products are rounded once, as by fused multiply-adds."""

    def __init__(self, value, factors=None):
        self.value, self.factors = value, factors

    def __mul__(self, other):
        return Number(self.value * other.value, (self.value, other.value))

    def __add__(self, other):
        return self._sum(1, other, 1)

    def __sub__(self, other):
        return self._sum(1, other, -1)

    def _sum(self, sign, other, other_sign):
        if not fused() or (self.factors is None and other.factors is None):
            return Number(sign * self.value + other_sign * other.value)
        if other.factors is None:
            return other._sum(other_sign, self, sign)
        (a, b), c = map(Fraction, other.factors), Fraction(self.value)
        exact = float(sign * c + other_sign * a * b)
        return Number(exact or sign * self.value + other_sign * other.value)  # zeros have signs


def kept_if(condition, value):
    if isinstance(value, SX):
        return SX.binary(ca.OP_IF_ELSE_ZERO, condition, value)
    return Number(value.value if condition.value else 0.0)


CHAINS = {
    "M_P": lambda a, b, c, d, e, f, g, h: a * b + c * d,
    "M_N": lambda a, b, c, d, e, f, g, h: a * b - c * d,
    "F_P": lambda a, b, c, d, e, f, g, h: a * b + c + d * e,
    "F_N": lambda a, b, c, d, e, f, g, h: (a * b + c) - d * e,
    "N_P": lambda a, b, c, d, e, f, g, h: c - a * b + d * e,
    "N_N": lambda a, b, c, d, e, f, g, h: c - a * b - d * e,
    "F_PLUS": lambda a, b, c, d, e, f, g, h: a * b + c + d,
    "F_TIMES": lambda a, b, c, d, e, f, g, h: (a * b + c) * d,
    "ADD_P": lambda a, b, c, d, e, f, g, h: a + b + c * d,
    "ADD_PLUS": lambda a, b, c, d, e, f, g, h: a + b + c,
    "ADD_TIMES": lambda a, b, c, d, e, f, g, h: (a + b) * c,
    "M_P_P": lambda a, b, c, d, e, f, g, h: a * b + c * d + e * f,
    "M_P_N": lambda a, b, c, d, e, f, g, h: a * b + c * d - e * f,
    "M_P_FROM": lambda a, b, c, d, e, f, g, h: e * f - (a * b + c * d),
    "M_P_PLUS": lambda a, b, c, d, e, f, g, h: a * b + c * d + e,
    "M_P_MINUS": lambda a, b, c, d, e, f, g, h: a * b + c * d - e,
    "M_P_TIMES": lambda a, b, c, d, e, f, g, h: (a * b + c * d) * e,
    "M_P_IF": lambda a, b, c, d, e, f, g, h: kept_if(e, a * b + c * d),
    "M_N_P": lambda a, b, c, d, e, f, g, h: a * b - c * d + e * f,
    "M_N_N": lambda a, b, c, d, e, f, g, h: a * b - c * d - e * f,
    "M_N_PLUS": lambda a, b, c, d, e, f, g, h: a * b - c * d + e,
    "F_P_P": lambda a, b, c, d, e, f, g, h: a * b + c + d * e + f * g,
    "F_P_PLUS": lambda a, b, c, d, e, f, g, h: a * b + c + d * e + f,
    "M_P_P_P": lambda a, b, c, d, e, f, g, h: a * b + c * d + e * f + g * h,
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_have_the_results_of_their_steps(name, rng):
    """To the last bit, in batches of eight and of four; alike chains are one run, signs of zeros included."""
    symbols = [SX.sym(letter, 5) for letter in "abcdefgh"]
    f = ca.Function("f", symbols, [ca.vertcat(*(CHAINS[name](*(x[k] for x in symbols)) for k in range(5)))])
    inputs = [rng.normal(size=(12, 5)) for _ in symbols]
    for x in inputs[:6]:
        x[rng.random(x.shape) < 0.2] = -0.0
    numbers = [[[Number(v) for v in row] for row in x.tolist()] for x in inputs]
    expected = [[CHAINS[name](*(x[r][k] for x in numbers)).value for k in range(5)] for r in range(12)]
    (found,) = by_tape(f, inputs)
    assert found.tobytes() == np.array(expected).tobytes()
    assert tape_of(library(), f).memory[:64].view(np.int64)[7] == 1


def test_all_chains_of_the_library_are_tested():
    listed = re.findall(r"^    CHAIN\((\w+),", (TABLES.folder / "tape.h").read_text(), re.MULTILINE)
    assert set(listed) == set(CHAINS)


def test_outputs_that_are_inputs_constants_or_equal(rng):
    """Also sparse outputs, empty ones, and results that nobody needs."""
    x = SX.sym("x", 3)
    unused = ca.sin(x[2])
    outputs = [ca.vertcat(x[1], 4.5, x[1], 0.0, unused * 0), SX(2, 2), ca.diag(x[:2]), ca.vertcat(x[0] + 1, 1 + x[0])]
    agree(ca.Function("f", [x, SX.sym("idle")], outputs), [rng.normal(size=(9, 3)), np.zeros((9, 1))])


@pytest.mark.slow
def test_many_places_need_wide_indices(rng):
    """More than 65,535 numbers at a time."""
    x = SX.sym("x", 40_000)
    f = ca.Function("f", [x], [ca.vertcat(x + 1, x[::-1] * x)])
    made = tape_of(library(), f)
    assert made.work > 8 * 65_536
    agree(f, [rng.normal(size=(9, 40_000))])  # a batch of eight and one of four


@pytest.mark.slow
def test_a_long_function_of_many_windows(rng, monkeypatch):
    """The order of evaluation is found window by window."""
    monkeypatch.setattr(tapes, "WINDOW", 7)
    model = od.models.human()
    FD = od.function(od.forward_dynamics, model)
    q = np.array([model.random_q(rng) for _ in range(3)])
    agree(FD, [q, rng.normal(size=(3, model.nv)), rng.normal(size=(3, model.nv))], 1e-9)


def some_instructions():
    """Two outputs with several entries, a constant, operations with one operand and with two."""
    x, y = SX.sym("x", 3), SX.sym("y", 2)
    return ca.Function("f", [x, y], [ca.sin(x) * 2.5 + x, ca.atan2(y, x[1]) - 1e-300])


@pytest.mark.skipif(sys.platform != "linux", reason="CasADi's methods are called in C on Linux only")
def test_instructions_read_at_once_are_those_told_one_by_one():
    for f in (some_instructions(), ca.Function("empty", [], [])):
        assert np.array_equal(tapes._at_once(library(), f), tapes._told(f))
    tapes._methods.cache_clear()
    assert tapes._methods() is not None


@pytest.mark.parametrize(
    "ends",
    [{"instruction_id": "2idEx"}, {"instruction_input": tapes.METHODS["instruction_output"]}],
    ids=["a method is missing", "another method"],
)
def test_instructions_are_told_one_by_one_where_they_are_not_read_at_once(ends, monkeypatch):
    f = some_instructions()
    code, constants = tapes.read(library(), f)
    with monkeypatch.context() as patch:
        patch.setattr(tapes, "METHODS", tapes.METHODS | ends)
        tapes._methods.cache_clear()
        assert tapes._at_once(library(), f) is None
        slow = tapes.read(library(), f)
    tapes._methods.cache_clear()
    assert np.array_equal(code, slow[0])
    assert np.array_equal(constants, slow[1])
    assert sorted(set(constants.tolist())) == [1e-300, 2.5]


@pytest.mark.slow
def test_two_threads_share_the_batches(rng, monkeypatch):
    monkeypatch.setattr(tapes, "WORTH_A_THREAD", 0)
    model = od.models.human()
    ID = od.function(od.inverse_dynamics, model)
    q = np.array([model.random_q(rng) for _ in range(60)])
    inputs = [q, rng.normal(size=(60, model.nv)), rng.normal(size=(60, model.nv))]
    for one, other in zip(by_tape(ID, inputs, 2), by_tape(ID, inputs), strict=True):
        assert np.array_equal(one, other)


def _squares(_):
    x = SX.sym("x")
    return by_tape(ca.Function("f", [x], [x * x]), [np.arange(9.0)[:, None]], 2)[0].ravel().tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(tapes, "WORTH_A_THREAD", -1)
    expected = _squares(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(_squares, [0]).get(30) == [expected]


def test_called_functions_are_linked(rng):
    """Calls in calls, twice, with results that nobody uses, one on an operand, and constants of their own."""
    x, y = SX.sym("x", 2), SX.sym("y")
    inner = ca.Function("inner", [x], [3.5 * x[1] - x[0], ca.sin(x[0])])
    a, b = inner.call([x * y], False, True)
    outer = ca.Function("outer", [x, y], [ca.vertcat(b, 2.5 * y, a), inner.call([x], False, True)[1] * a])
    first = outer.call([x, 1.5 + y], False, True)
    last = outer.call([first[0][1:], y], False, True)[0]
    f = ca.Function("f", [x, y], [last[1:] - y, first[0][0] * x])
    assert sum(f.instruction_id(k) == ca.OP_CALL for k in range(f.n_instructions())) == 2
    agree(f, [rng.normal(size=(9, 2)), rng.normal(size=(9, 1))])


def test_what_tapes_do_not_have_is_refused():
    x = SX.sym("x")
    with pytest.raises(ValueError, match="f has an operation that tapes do not have: number"):
        tape_of(library(), ca.Function("f", [x], [ca.erfinv(x)]))
    call = ca.Function("call", [ca.MX.sym("nothing", 0, 0)], [ca.MX(3.0)], {"never_inline": True})
    with pytest.raises(ValueError, match="tapes need an SX Function, got call"):
        tape_of(library(), ca.Function("f", [x], [x + call(SX(0, 0))]))
    y = ca.MX.sym("y")
    with pytest.raises(ValueError, match="tapes need an SX Function"):
        tape_of(library(), ca.Function("g", [y], [y + 1]))


def test_a_tape_may_be_kept(rng):
    x = SX.sym("x", 2)
    made = tape_of(library(), ca.Function("f", [x], [x * 2.5]))
    again, inputs, outputs = Tape(made.memory.copy()), [rng.normal(size=(3, 2))], [np.zeros((3, 2))]
    assert repr(again) == repr(made) == "Tape(2 operations, 2 inputs, 2 entries of outputs)"
    calls = [(again, inputs, outputs)]
    run = TapeRun(library(), calls, [work_array(calls)])
    for _ in range(2):
        inputs[0][:] = rng.normal(size=(3, 2))
        run()
        close(outputs[0], 2.5 * inputs[0], 1e-15)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [5, 40])
def test_entries_are_placed_as_by_bincount(size, weighted, rng):
    """Several entries to a number, and one to each, also with weights; zeros have no sign."""
    to = rng.permutation(40).astype(np.int32) % size
    entries, weights = rng.normal(size=40), rng.choice([1.0, 2.0], 40) if weighted else None
    entries[::7] = -0.0
    expected = np.bincount(to, entries if weights is None else entries * weights, size)
    result = np.full(size, np.nan)
    assert tapes.place(library(), entries, to, weights, result) is result
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("count", [1, 3, 4, 6, 8, 12])
def test_rows_beyond_the_outputs_stay_as_they_are(count, rng):
    """Unused lanes of the last batch write nothing, in squares of outputs and beside them."""
    x = SX.sym("x", 7)
    f = ca.Function("f", [x], [x * 2])
    room = np.full((count + 8, 7), -1.0)
    inputs, outputs = [rng.normal(size=(count, 7))], [room[:count]]
    calls = [(tape_of(library(), f), inputs, outputs)]
    TapeRun(library(), calls, [work_array(calls)])()
    assert np.array_equal(room[:count], 2 * inputs[0])
    assert np.all(room[count:] == -1)
