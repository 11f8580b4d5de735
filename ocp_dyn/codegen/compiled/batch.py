"""Functions of numpy arrays, for one state or a batch, by a compiled library or by CasADi's virtual machine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..._base.display import table
from ..._base.types import positional, repr_in_message
from ...functions.checked import CheckedFunction
from ...functions.quantities import NO_ROWS, InputRows
from ..text.driver import LANE_MAJOR
from ..text.values import instructions
from .arrays import Array, Lanes, Pattern, distinct_pattern, nonzero_pattern
from .backends import DENSE, DISTINCT, NONZEROS, Backend, CompiledLibrary, by_rows

Recipe = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments that make an object again, for pickles."""

DTYPES: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "single": np.dtype(np.float32)}
HEAD = ("function", "inputs", "outputs", "operations", "numbers", "backend")
"""Head of the table in which a notebook shows compiled functions."""

WORK_PER_THREAD = 4_000_000
"""Smallest work, instructions times states, for which another thread pays off; about a millisecond without lanes."""


LAYOUTS = ("rows", "lanes")
SPARSE: dict[bool | str, int] = {False: DENSE, True: NONZEROS, "distinct": DISTINCT}
"""The option `sparse` of `compile`, and what it makes a batch store of an output."""


class Form(NamedTuple):
    """Form of the results of batches. lanes: states of a lane-major block; layout: of LAYOUTS; sparse: of SPARSE."""

    lanes: int
    layout: str = LAYOUTS[0]
    sparse: bool | str = False


class _Words(NamedTuple):
    """Names of a function, of its inputs, and of the entries of each input."""

    function: str
    names: tuple[str, ...]
    rows: tuple[InputRows, ...]


class Buffer:
    """A function of one state with fixed input and output arrays, without overhead besides the evaluation.

    `b = fast.ID.buffer()`; then write the inputs, `b.inputs[0][:] = q`, call `b()`, and read `b.outputs[0]`; or call
    `b(q, qd, qdd)`, which copies its arguments. A call returns the outputs (one array, or a tuple), always in the same
    arrays: copy results before the next call. One thread at a time may use a buffer.

    >>> ID = od.codegen.compile([od.function(od.inverse_dynamics, rod)]).ID.buffer()
    >>> ID([np.pi / 2], [0.0], [0.0])
    array([4.905])
    """

    __slots__ = ("_outcome", "_run", "_words", "inputs", "outputs")

    def __init__(
        self, inputs: Sequence[Array], outputs: Sequence[Array], run: Callable[[], object], words: _Words
    ) -> None:
        self.inputs, self.outputs, self._words = tuple(inputs), tuple(outputs), words
        self._outcome = self.outputs[0] if len(outputs) == 1 else self.outputs
        self._run = run

    def __call__(self, *values: Any) -> Any:
        if values:
            words = self._words
            if len(values) != len(self.inputs):
                names = ", ".join(words.names)
                raise TypeError(
                    f"{words.function}: its buffer takes {len(self.inputs)} arguments ({names}), in this order, or "
                    f"none, got {len(values)}"
                )
            for name, rows, target, value in zip(words.names, words.rows, self.inputs, values, strict=True):
                target[:] = _fitting(value, target, f"{words.function}: {name}", rows)
        self._run()
        return self._outcome


class CompiledFunction:
    """A Function of numpy arrays: one state, or a batch of them along the first axis.

    name: of the Function; name_in, name_out: of its arguments. shape_in, shape_out: their shapes for one state, (n,)
    for a column and for a sparse result. dtype: type of the arrays. lanes: states in a block of `Lanes` that it takes.
    layout, sparse: of its results, see `compile`. backend: "compiled" or "virtual machine". A pickle contains the
    Function; when it is loaded, the library is found in the cache or built again.

    >>> ID = od.codegen.compile([od.function(od.inverse_dynamics, rod)]).ID
    >>> ID.name_in, ID.shape_in
    (('q', 'qd', 'qdd'), ((1,), (1,), (1,)))
    """

    def __init__(
        self, f: ca.Function, backend: Backend, precision: str, threads: int, recipe: Recipe, form: Form
    ) -> None:
        self.name, self.name_in, self.name_out = f.name(), tuple(f.name_in()), tuple(f.name_out())
        self.shape_in = tuple(_shape(f.size_in(i)) for i in range(f.n_in()))
        self._dense = tuple(_shape(f.size_out(j)) for j in range(f.n_out()))
        self._nonzeros = tuple(_places(f.sparsity_out(j)) for j in range(f.n_out()))
        self.lanes, self.layout, self.sparse = form
        self._kind = SPARSE[form.sparse]
        self.dtype = DTYPES[precision]
        self.backend = backend.name
        self._backend, self._threads = backend, threads
        self._instructions, self._recipe = instructions(f), recipe
        self._rows = f.rows if isinstance(f, CheckedFunction) else {}
        self.shape_out = tuple((len(p),) for p in self.patterns) if self._kind else self._dense

    @functools.cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """For every output, the places of the numbers of a sparse result; without `sparse`, of the structural
        nonzeros."""
        if self._kind != DISTINCT:
            return tuple(nonzero_pattern(*pair) for pair in zip(self._dense, self._nonzeros, strict=True))
        return tuple(
            distinct_pattern(shape, *self._backend.slots(j, int(np.prod(shape))), places)
            for j, (shape, places) in enumerate(zip(self._dense, self._nonzeros, strict=True))
        )

    def __reduce__(self) -> Recipe:
        return self._recipe

    def __repr__(self) -> str:
        given, made = (
            ", ".join(f"{name}{list(shape)}" for name, shape in zip(*side, strict=True))
            for side in ((self.name_in, self.shape_in), (self.name_out, self.shape_out))
        )
        return f"{self.name}:({given})->({made}) {self.dtype}, {self.backend}"

    def cells(self) -> tuple[str, ...]:
        """Cells of a row in a table with the head HEAD."""
        given, made = (
            ", ".join(f"{name} {_size(shape)}" for name, shape in zip(*side, strict=True))
            for side in ((self.name_in, self.shape_in), (self.name_out, self.shape_out))
        )
        lanes = f", {self._backend.lanes} states at once" if self._backend.lanes > 1 else ""
        return self.name, given, made, f"{self._instructions:,}".replace(",", " "), f"{self.dtype}{lanes}", self.backend

    def _repr_html_(self) -> str:
        return table(HEAD, [self.cells()])

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Results for one state, or for N states if an argument has N; a tuple if there are several outputs.

        Batches are arrays of rows or `Lanes`. out: an array or `Lanes`, or a tuple of them, to write the results to, of
        the right shapes and type, in C order, without common memory with the arguments; saves the allocation of large
        results, and decides their layout.

        Raises TypeError or ValueError that names the argument whose type or shape does not fit.
        """
        arrays = self._arrays(arguments)
        states = self._states(arrays)
        lead = () if states is None else (states,)
        shapes = [lead + shape for shape in self.shape_out]
        outputs = self._outputs(states) if out is None else self._checked_outputs(out, shapes, arrays)
        if states is None:
            inputs = [np.zeros(s, self.dtype) if a is None else a for a, s in zip(arrays, self.shape_in, strict=True)]
            self._one(inputs, outputs)()
        else:
            (self._whole(states, arrays, outputs) or functools.partial(self._run, states, arrays, outputs))()
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _outputs(self, states: int | None) -> list[Any]:
        """New arrays for the results."""
        if states is None:
            return [np.empty(shape, self.dtype) for shape in self.shape_out]
        if self.layout == "rows":
            return [np.empty((states, *shape), self.dtype) for shape in self.shape_out]
        return [Lanes.empty(states, shape, self.lanes, self.dtype) for shape in self.shape_out]

    def _one(self, inputs: Sequence[Any], outputs: Sequence[Array]) -> Callable[[], object]:
        """A callable that evaluates one state; sparse results are chosen from dense ones."""
        if not self._kind:
            return self._backend.runner(inputs, outputs)
        dense = [np.empty(shape, self.dtype) for shape in self._dense]
        run = self._backend.runner(inputs, dense)

        def evaluate() -> None:
            run()
            for y, result, pattern in zip(outputs, dense, self.patterns, strict=True):
                np.take(result, pattern.places, out=y)

        return evaluate

    def runner(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], object]:
        """A callable without arguments that evaluates `self(*inputs, out=outputs)`; checks the arrays once, here.

        For loops in which the overhead of a call matters: 2 microseconds instead of 40.
        """
        arrays = self._arrays(inputs)
        if any(array is not x for array, x in zip(arrays, inputs, strict=True)):
            raise ValueError(
                f"{self.name}: a runner reads its inputs in place and needs arrays of {self.dtype} in C order: convert "
                "them with np.ascontiguousarray"
            )
        states = self._states(arrays)
        lead = () if states is None else (states,)
        self._checked_outputs(tuple(outputs), [lead + shape for shape in self.shape_out], arrays)
        if states is None:
            return self._one(inputs, outputs)
        whole = self._whole(states, inputs, outputs)
        return functools.partial(self._run, states, inputs, outputs) if whole is None else whole

    def _whole(self, states: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], None] | None:
        """One call of the library for all states; None if threads share them, or if it knows rows only."""
        if self._library is None or self._pieces(states) > 1:
            return None
        given, wanted = ([x.data if isinstance(x, Lanes) else x for x in side] for side in (inputs, outputs))
        return self._library.batch_runner(states, given, self._strides(inputs), wanted, self._forms(outputs))

    @property
    def _library(self) -> CompiledLibrary | None:
        """The evaluator, if it knows lane-major and sparse batches."""
        return self._backend if isinstance(self._backend, CompiledLibrary) and self._backend.lanes > 1 else None

    def _strides(self, arrays: Sequence[Any]) -> list[int]:
        """Distances between the states of every input: -1 for lane-major ones, 0 for one state."""
        return [
            -1 if isinstance(a, Lanes) else int(np.prod(shape)) if a is not None and a.ndim > len(shape) else 0
            for a, shape in zip(arrays, self.shape_in, strict=True)
        ]

    def _forms(self, outputs: Sequence[Any]) -> list[int]:
        return [self._kind + LANE_MAJOR * isinstance(y, Lanes) for y in outputs]

    def buffer(self) -> Buffer:
        """A `Buffer` for one state, with inputs and outputs of zeros."""
        inputs = [np.zeros(shape, self.dtype) for shape in self.shape_in]
        outputs = [np.zeros(shape, self.dtype) for shape in self.shape_out]
        rows = tuple(self._rows.get(name, NO_ROWS) for name in self.name_in)
        words = _Words(self.name, self.name_in, rows)
        return Buffer(inputs, outputs, self._one(inputs, outputs), words)

    def _arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """All arguments, each as `_array` has it; TypeError if there are too many or too few."""
        if len(arguments) != len(self.shape_in):
            raise TypeError(
                f"{self.name} takes {len(self.shape_in)} arguments ({', '.join(self.name_in)}), got {len(arguments)}"
            )
        return [self._array(i, value) for i, value in enumerate(arguments)]

    def _array(self, i: int, value: Any) -> Any:
        """An argument as an array in C order, as `Lanes`, or None."""
        if value is None:
            return None
        name, shape = self.name_in[i], self.shape_in[i]
        rows = self._rows.get(name, NO_ROWS)
        if isinstance(value, Lanes):
            if (value.shape[1:], value.dtype, value.lanes) != (shape, self.dtype, self.lanes):
                raise ValueError(
                    f"{self.name}: {name} is {value}, expected a shape {('N', *shape)} of {self.dtype} with "
                    f"{self.lanes} lanes: make it by Lanes.of(rows, lanes={self.lanes})"
                )
            if rows.parameter:
                rows.check(np.asarray(value), f"{self.name}: {name}")
            return value
        array = value if type(value) is np.ndarray else _array(value, shape, f"{self.name}: {name}", rows)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{self.name}: {name} must hold real numbers, got {_kind(value, array)}")
        if array.ndim == 0 and shape == (1,):
            array = array.reshape(1)
        if array.shape != shape and (array.ndim != len(shape) + 1 or array.shape[1:] != shape):
            one = ", ".join(map(str, shape))
            raise ValueError(
                f"{self.name}: {name} has the shape {array.shape}, expected "
                f"({one}{',' * (len(shape) == 1)}) for one state or (N, {one}) for N{rows.text}"
            )
        if rows.parameter:
            rows.check(array.reshape(-1, *shape), f"{self.name}: {name}")
        return np.ascontiguousarray(array, self.dtype)

    def _checked_outputs(self, out: Any, shapes: Sequence[tuple[int, ...]], arrays: Sequence[Any]) -> list[Any]:
        """The arrays of `out`; TypeError or ValueError if results cannot be written to them."""
        outputs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outputs) != len(shapes):
            raise TypeError(
                f"{self.name} has {len(shapes)} outputs ({', '.join(self.name_out)}), out has {len(outputs)}"
            )
        for name, y, shape in zip(self.name_out, outputs, shapes, strict=True):
            memory = y.data if isinstance(y, Lanes) else y
            fits = isinstance(memory, np.ndarray) and y.shape == shape and y.dtype == self.dtype
            if not (fits and memory.flags.c_contiguous and memory.flags.writeable):
                got = f"{y.shape} of {y.dtype}" if isinstance(memory, np.ndarray) else type(y).__name__
                raise ValueError(
                    f"{self.name}: out for {name} must be a writable array {shape} of {self.dtype} in C order, got "
                    f"{got}"
                )
            if isinstance(y, Lanes) and y.lanes != self.lanes:
                raise ValueError(f"{self.name}: out for {name} must have {self.lanes} lanes, got {y.lanes}")
        inputs = [a.data if isinstance(a, Lanes) else a for a in arrays if a is not None]
        memories = [y.data if isinstance(y, Lanes) else y for y in outputs]
        for k, y in enumerate(memories):
            if any(np.may_share_memory(y, other) for other in (*inputs, *memories[:k])):
                raise ValueError(
                    f"{self.name}: out for {self.name_out[k]} shares memory with another argument; copy it"
                )
        return outputs

    def _states(self, arrays: Sequence[Any]) -> int | None:
        """Number of states in the arguments; None if all are single states. ValueError if the numbers differ."""
        counts = {
            name: len(array)
            for name, array, shape in zip(self.name_in, arrays, self.shape_in, strict=True)
            if array is not None and len(array.shape) > len(shape)
        }
        if len(set(counts.values())) > 1:
            sizes = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise ValueError(f"{self.name}: all batches must have the same number of states, got {sizes}")
        return next(iter(counts.values()), None)

    def _run(self, states: int, arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
        strides, forms = self._strides(arrays), self._forms(outputs)

        def part(begin: int, end: int) -> None:
            inputs = [a if stride == 0 else _part(a, begin, end) for a, stride in zip(arrays, strides, strict=True)]
            results = [_part(y, begin, end) for y in outputs]
            if self._library:
                self._library.batch_runner(end - begin, inputs, strides, results, forms)()
            elif not any(forms) and min(strides, default=0) >= 0:
                self._backend.run(end - begin, inputs, strides, results)
            else:
                places = [pattern.places for pattern in self.patterns] if self._kind else [np.arange(0)] * len(results)
                by_rows(self._backend, end - begin, inputs, strides, results, forms, self._dense, places)

        pieces = self._pieces(states)
        if pieces <= 1:
            part(0, states)
            return
        width = max(self._backend.lanes, self.lanes)
        size = -(-states // (pieces * width)) * width  # whole vectors
        with ThreadPoolExecutor(pieces) as pool:
            for task in [pool.submit(part, k, min(k + size, states)) for k in range(0, states, size)]:
                task.result()

    def _pieces(self, states: int) -> int:
        """Number of threads that pay off for this many states; 1 for the virtual machine, which holds Python's GIL."""
        work = states * self._instructions // self._backend.lanes
        return min(self._threads, work // WORK_PER_THREAD) if self.backend == CompiledLibrary.name else 1


def _array(value: Any, shape: tuple[int, ...], what: str, rows: InputRows) -> Array:
    """`value` as an array; a DM of one column fits an input of the shape (n,)."""
    if isinstance(value, (ca.SX, ca.MX)):
        return np.asarray(None)
    if isinstance(value, ca.DM):
        full = np.array(value.full())
        return full.ravel() if len(shape) == 1 and full.shape == (*shape, 1) else full
    return np.asarray(positional(value, what, rows.names))


def _kind(value: Any, array: Array) -> str:
    """An argument that holds no real numbers, for a message."""
    return f"an array of {array.dtype}" if isinstance(value, np.ndarray) else repr_in_message(value)


def _fitting(value: Any, target: Array, what: str, rows: InputRows) -> Array:
    """`value` as an array of the shape of `target`; a single number fits a single entry only, it is not repeated. rows:
    names of the expected entries."""
    array = _array(value, target.shape, what, rows)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold real numbers, got {_kind(value, array)}")
    if array.shape != target.shape and not array.size == target.size == 1:
        raise ValueError(f"{what} has the shape {array.shape}, expected {target.shape}{rows.text}")
    rows.check(array.reshape(1, -1), what)
    return array.reshape(target.shape)


def _part(x: Any, begin: int, end: int) -> Array:
    """The data of some states of a batch; lane-major ones begin with a block."""
    if isinstance(x, Lanes):
        return x.data[begin // x.lanes : -(-end // x.lanes)]
    found: Array = x[begin:end]
    return found


def _places(pattern: ca.Sparsity) -> list[int]:
    """Indices of the nonzeros, column by column, in the dense matrix that is stored row by row."""
    columns = pattern.size2()
    return [row * columns + column for row, column in zip(pattern.row(), pattern.get_col(), strict=True)]


def _shape(size: tuple[int, int]) -> tuple[int, ...]:
    return size[:1] if size[1] == 1 else size


def _size(shape: tuple[int, ...]) -> str:
    """A shape as a text: "(7)" or "(6 × 7)"."""
    return f"({' × '.join(map(str, shape))})"
