"""Tapes of Functions: their operations as tables, and the evaluation of many instances of them in one call.

A tape is made in about a microsecond per instruction, a hundred times faster than machine code, and it is evaluated as
fast as machine code of functions with more than some ten thousand operations: their code does not stay in the
processor's caches between two calls, and tables are read ahead. All is done by the native library TABLES:
instructions.c reads the instructions, tape.c makes a tape, run.c evaluates it.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from .._base.types import Array, Indices

OPERATIONS = (
    *("INPUT", "CONST", "OUTPUT", "ASSIGN", "ADD", "SUB", "MUL", "DIV", "NEG", "SQ", "TWICE", "INV"),
    *("LT", "LE", "EQ", "NE", "NOT", "AND", "OR", "IF_ELSE_ZERO", "FABS", "SIGN", "FMIN", "FMAX"),
    *("SQRT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "EXP", "LOG", "SINH", "COSH", "TANH", "ASINH", "ACOSH"),
    *("ATANH", "FLOOR", "CEIL", "ERF", "LOG1P", "EXPM1", "POW", "FMOD", "REMAINDER", "COPYSIGN", "ATAN2", "HYPOT"),
)
"""CasADi's operations, without OP_, in the order of their numbers in tape.h."""

ALIASES = {"LIFT": "ASSIGN", "CONSTPOW": "POW"}

WINDOW = 16384
"""Number of chains of operations that are ordered at a time: enough for long runs, few enough to keep the order of
evaluation, and so the number of values that wait to be used."""

LANES = 8
"""Number of instances that a batch has, or half as many."""

WORTH_A_THREAD = 200_000
"""Number of operations of all batches from which on a second thread pays."""

INPUT, CONSTANT, OUTPUT, SAME = range(4)

CHECKED = 16
"""Number of instructions that are compared with those that CasADi tells one by one."""

Code = NDArray[np.int32]
"""Instructions in rows: operation, result, and two operands, with inputs and outputs numbered through."""


class Tape:
    """A function as tables. memory: the bytes that tape.c has made, which may be kept in a file."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory = memory
        head = memory[:64].view(np.int64)
        self.inputs, self.entries, self.operations = int(head[2]), int(head[5]), int(head[6])
        self.work = int(head[4]) * LANES  # size of the work array

    def __repr__(self) -> str:
        return f"Tape({self.operations} operations, {self.inputs} inputs, {self.entries} entries of outputs)"


def tape_of(library: ctypes.CDLL, f: ca.Function) -> Tape:
    """The tape of an SX Function; its inputs and outputs are their nonzeros, one after the other.

    Raises ValueError for operations that tapes do not have: the inverse error function, printing.
    """
    code, constants = read(library, f)
    values = np.array([0.0, 1.0, *constants])
    code = np.ascontiguousarray(np.where((code[:, :1] == CONSTANT) & (np.arange(4) == 2), code + 2, code), np.int32)
    sizes = [sum(f.nnz_in(i) for i in range(f.n_in())), sum(f.nnz_out(j) for j in range(f.n_out()))]
    slots = int(code[code[:, 0] != OUTPUT, 1].max(initial=-1)) + 1
    address = library.tape_make(
        len(code), code.ctypes.data, slots, sizes[0], values.size, values.ctypes.data, 1, sizes[1], WINDOW
    )
    if not address:
        raise MemoryError(f"there is no memory for the tables of {f.name()}, with {len(code)} instructions")
    try:
        size = int(np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_int64)), (2,))[1])
        return Tape(np.frombuffer(ctypes.string_at(address, size), np.uint8))
    finally:
        library.tape_free(address)


def read(library: ctypes.CDLL, f: ca.Function) -> tuple[Code, Array]:
    """Instructions of an SX Function, and the constants that CONSTANT instructions refer to by number.

    The instructions of Functions that it calls are put in place of the calls.
    """
    if not f.is_a("SXFunction"):
        raise ValueError(f"tapes need an SX Function, got {f}")
    raw = _at_once(library, f)
    raw = _told(f) if raw is None else raw
    numbers = _numbers()
    calls = np.flatnonzero(raw[:, 0] == ca.OP_CALL)
    kinds = np.where(raw[:, 0] == ca.OP_CALL, ca.OP_ASSIGN, raw[:, 0])
    if kinds.size and (kinds.max() >= numbers.size or numbers[kinds].min() < 0):
        strange = next(k for k in kinds.tolist() if k >= numbers.size or numbers[k] < 0)
        raise ValueError(f"{f.name()} has an operation that tapes do not have: number {strange} of CasADi's")
    code = np.array(raw)
    code[:, 0] = numbers[kinds]
    constant, given, result = ((code[:, 0] == kind) for kind in (CONSTANT, INPUT, OUTPUT))
    constants = np.ascontiguousarray(raw[constant, 2:]).view(np.float64).ravel()
    code[constant, 2] = np.arange(constants.size)
    begin = [np.cumsum([0, *sizes]) for sizes in (map(f.nnz_in, range(f.n_in())), map(f.nnz_out, range(f.n_out())))]
    code[given, 2] = begin[0][raw[given, 2]] + raw[given, 3]
    code[result, 1] = begin[1][raw[result, 1]] + raw[result, 3]
    return _linked(library, f, code, constants, calls) if calls.size else (code, constants)


def _linked(library: ctypes.CDLL, f: ca.Function, code: Code, constants: Array, calls: Indices) -> tuple[Code, Array]:
    """The instructions with those of called Functions in place of the calls.

    These get work variables of their own, after those of f: their arguments, their results, and what they work with.
    """
    nodes, parts, values, done = f.instructions_sx(), [], [constants], 0
    written = [int(code[code[:, 0] != OUTPUT, 1].max()), *(k for call in calls for k in f.instruction_output(call))]
    first = 1 + max(written)
    for k in calls.tolist():
        called, more = _kept_code(library, nodes[k].which_function())
        arguments, results = np.array(f.instruction_input(k)), np.array(f.instruction_output(k))
        work = first + arguments.size + results.size
        body = called.copy()
        constant, given, result = ((body[:, 0] == kind) for kind in (CONSTANT, INPUT, OUTPUT))
        body[:, 1:] += work
        body[constant, 2] = called[constant, 2] + sum(map(len, values))
        body[given, 0], body[result, 0] = SAME, SAME
        body[given, 2] = first + called[given, 2]
        body[result, 1] = first + arguments.size + called[result, 1]
        used = np.flatnonzero(results >= 0)
        parts += [code[done:k], _moves(first + np.arange(arguments.size), arguments), body]
        parts += [_moves(results[used], first + arguments.size + used)]
        values.append(more)
        done = k + 1
    return np.concatenate([*parts, code[done:]]), np.concatenate(values)


@lru_cache(maxsize=16)
def _kept_code(library: ctypes.CDLL, f: ca.Function) -> tuple[Code, Array]:
    """`read`, kept because a Function is called many times."""
    return read(library, f)


def _moves(to: Indices, of: Indices) -> Code:
    """Instructions that set work variables to the values of others."""
    return np.stack([np.full(to.size, SAME), to, of, of], axis=1).astype(np.int32)


@cache
def _numbers() -> Indices:
    """The number in tape.h of every operation of CasADi; -1: none."""
    found = {getattr(ca, f"OP_{name}"): k for k, name in enumerate(OPERATIONS)}
    found |= {getattr(ca, f"OP_{name}"): OPERATIONS.index(same) for name, same in ALIASES.items()}
    return np.array([found.get(k, -1) for k in range(max(found) + 1)])


def _told(f: ca.Function) -> Code:
    """Rows (operation, result, operands) of all instructions, told one by one; a constant fills the last two."""
    return np.array([_one(f, k) for k in range(f.n_instructions())], np.int32).reshape(-1, 4)


def _one(f: ca.Function, k: int) -> tuple[int, ...]:
    operation, operands, results = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
    if operation == ca.OP_CONST:
        return operation, results[0], *struct.unpack("<ii", struct.pack("<d", f.instruction_constant(k)))
    if operation == ca.OP_OUTPUT:
        return operation, results[0], operands[0], results[1]
    # calls of Functions, which are refused later, may have no operands or results
    return operation, *(results[:1] or [0]), *(operands[:1] or [0]), *(operands[-1:] or [0])


METHODS = {
    "instruction_id": "14instruction_idEx",
    "instruction_input": "17instruction_inputEx",
    "instruction_output": "18instruction_outputEx",
    "instruction_constant": "20instruction_constantEx",
}
"""Methods of CasADi's Functions that take the number of an instruction, and the ends of their names in its library."""


def _at_once(library: ctypes.CDLL, f: ca.Function) -> Code | None:
    """The same rows by the same methods of CasADi, called by the native library, forty times faster; None if they are
    not found in CasADi's library, or CHECKED rows differ from those told one by one."""
    methods = _methods()
    if methods is None:
        return None
    count = f.n_instructions()
    rows = np.zeros((count, 4), np.int32)
    library.tape_instructions(int(vars(f)["this"]), methods, count, ca.OP_CONST, ca.OP_OUTPUT, rows.ctypes.data)
    checked = sorted({k * (count - 1) // (CHECKED - 1) for k in range(CHECKED)}) if count else []
    return rows if all(tuple(rows[k].tolist()) == _one(f, k) for k in checked) else None


@cache
def _methods() -> ctypes.Array[ctypes.c_void_p] | None:
    """Addresses of METHODS, for systems on which C can call methods of C++; else None."""
    if sys.platform != "linux":
        return None
    try:
        found = ctypes.CDLL(sys.modules["casadi._casadi"].__file__)  # and the libraries that it loads
        addresses = [ctypes.cast(found[f"_ZNK6casadi8Function{end}"], ctypes.c_void_p) for end in METHODS.values()]
    except (OSError, AttributeError, KeyError):
        return None
    return (ctypes.c_void_p * len(addresses))(*addresses)


class _Job(ctypes.Structure):
    """Job of run.c."""

    _fields_ = [
        ("tape", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("instances", "inputs", "outputs")),
        *((name, ctypes.c_void_p) for name in ("inputs_at", "input_sizes", "outputs_at", "output_sizes")),
    ]


Call = tuple[Tape, Sequence[Array], Sequence[Array]]
"""A tape, and arrays of its inputs and outputs with one row per instance, which stay in their place."""


def work_array(calls: Sequence[Call]) -> Array:
    """A work array that is large enough for every call, aligned as vectors need it."""
    size = max((tape.work for tape, _, _ in calls), default=0)
    room = np.zeros(size + LANES)
    begin = (-room.ctypes.data // 8) % LANES
    return room[begin : begin + size]


class TapeRun:
    """Evaluates tapes for all their instances, by two threads where that pays; calling it fills the outputs."""

    def __init__(self, library: ctypes.CDLL, calls: Sequence[Call], work: Sequence[Array]) -> None:
        self._library, self._calls, self._next = library, list(calls), ctypes.c_int64(0)
        self._kept: list[Any] = [list(work)]  # C keeps only addresses
        self._jobs = (_Job * len(calls))(*(self._job(*call) for call in calls))
        total = sum(tape.operations * -(-len(inputs[0]) // LANES) for tape, inputs, _ in calls)
        batches = sum(-(-len(inputs[0]) // LANES) for _, inputs, _ in calls)
        threads = min(len(work), batches) if total > WORTH_A_THREAD else 1
        self._work = [array.ctypes.data for array in work[:threads]]

    def _job(self, tape: Tape, inputs: Sequence[Array], outputs: Sequence[Array]) -> _Job:
        tables: list[NDArray[np.int64]] = []
        for arrays in (inputs, outputs):
            assert all(array.flags.c_contiguous for array in arrays)
            tables += [np.array([array.ctypes.data for array in arrays], np.int64)]
            tables += [np.array([array.size // max(1, len(array)) for array in arrays], np.int64)]
        self._kept += [tape, tables, list(inputs), list(outputs)]
        addresses = [table.ctypes.data for table in tables]
        return _Job(tape.memory.ctypes.data, len(inputs[0]), len(inputs), len(outputs), *addresses)

    def __call__(self) -> None:
        self._next.value = 0
        jobs, following = ctypes.addressof(self._jobs), ctypes.addressof(self._next)
        run, count = self._library.tape_run, len(self._jobs)
        others = [_pool().submit(run, count, jobs, following, work) for work in self._work[1:]]
        run(count, jobs, following, self._work[0])
        for other in others:
            other.result()


def place(library: ctypes.CDLL, entries: Array, to: NDArray[np.int32], weights: Array | None, result: Array) -> Array:
    """`result`, filled: every number is the sum of the entries (times their weights) that belong to it.

    to: the index of the number to which every entry belongs. The sums are those of numpy.bincount, in half its time.
    """
    assert entries.size == to.size
    assert entries.flags.c_contiguous
    assert result.flags.c_contiguous
    factors = None if weights is None else weights.ctypes.data
    library.tape_place(to.size, to.ctypes.data, factors, entries.ctypes.data, result.size, result.ctypes.data)
    return result


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(32, "ocp_dyn tapes")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)
