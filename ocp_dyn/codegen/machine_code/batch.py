"""Functions of numpy arrays, for one state or a batch, by a compiled library or by CasADi's virtual machine."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..._display import table
from ..._types import shown
from ...casadi_functions.checked import CheckedFunction
from ..kernels.interface import row_major
from ..kernels.values import instructions

Array = NDArray[Any]
Recipe = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments that make an object again, for pickles."""

DTYPES: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "single": np.dtype(np.float32)}
HEAD = ("function", "inputs", "outputs", "operations", "numbers", "backend")
"""Head of the table in which a notebook shows compiled functions."""

WORK_PER_THREAD = 4_000_000
"""Smallest work, instructions times states, for which another thread pays off; about a millisecond without lanes."""


class Backend(Protocol):
    """An evaluator of a function: compiled code or virtual machine.

    Arrays are dense, row-major and of one type; None means an input of zeros.
    """

    name: str
    lanes: int

    def runner(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], object]:
        """A callable without arguments, which evaluates one state: it reads `inputs` and writes `outputs`."""

    def run(
        self, states: int, inputs: Sequence[Array | None], strides: Sequence[int], outputs: Sequence[Array]
    ) -> None:
        """Evaluates `states` states; strides: distance from one state to the next in every input, in numbers."""


class Library:
    """A compiled library."""

    name = "compiled"

    def __init__(self, library: ctypes.CDLL, lanes: int) -> None:
        self.lanes = lanes
        self._one = getattr(library, "ocp_dyn_one", None)  # missing in a library for batches only
        self._many = library.ocp_dyn_many
        self._many.argtypes = [ctypes.c_longlong] + [ctypes.c_void_p] * 3

    def runner(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], object]:
        if self._one is None:
            return self.batch_runner(1, inputs, [x.size for x in inputs], outputs)
        pointers = _pointers(inputs), _pointers(outputs)
        call = functools.partial(self._one, *(ctypes.c_void_p(ctypes.addressof(x)) for x in pointers))
        call.keep = *pointers, *inputs, *outputs  # type: ignore[attr-defined]  # they must outlive the call
        return call

    def run(
        self, states: int, inputs: Sequence[Array | None], strides: Sequence[int], outputs: Sequence[Array]
    ) -> None:
        self.batch_runner(states, inputs, strides, outputs)()

    def batch_runner(
        self, states: int, inputs: Sequence[Array | None], strides: Sequence[int], outputs: Sequence[Array]
    ) -> Callable[[], None]:
        """A callable without arguments that repeats `run` on these arguments."""
        steps = (ctypes.c_longlong * max(1, len(strides)))(*strides)
        input_pointers, output_pointers = _pointers(inputs), _pointers(outputs)

        def run(_alive: object = (*inputs, *outputs)) -> None:  # keeps the arrays alive, which the pointers do not
            if self._many(states, input_pointers, steps, output_pointers):
                raise MemoryError("no memory for a batch of lanes")

        return run


class VirtualMachine:
    """Evaluator that uses CasADi's virtual machine, state by state."""

    name = "virtual machine"
    lanes = 1

    def __init__(self, f: ca.Function) -> None:
        self._f = row_major(f)

    def runner(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], object]:
        arguments = [np.zeros(x.size) for x in inputs]
        results = [np.zeros(y.size) for y in outputs]
        pair: Any = self._f.buffer()
        buffer, trigger = pair
        for i, x in enumerate(arguments):
            buffer.set_arg(i, memoryview(cast(Any, x)))
        for j, y in enumerate(results):
            buffer.set_res(j, memoryview(cast(Any, y)))

        def evaluate(_alive: object = (buffer, self._f)) -> None:  # keeps them alive, which the trigger does not
            for argument, value in zip(arguments, inputs, strict=True):
                argument[:] = value.ravel()
            trigger()
            for output, result in zip(outputs, results, strict=True):
                output[...] = result.reshape(output.shape)

        return evaluate

    def run(
        self, states: int, inputs: Sequence[Array | None], strides: Sequence[int], outputs: Sequence[Array]
    ) -> None:
        arguments = [np.zeros(self._f.numel_in(i)) for i in range(len(inputs))]
        results = [np.zeros(self._f.numel_out(j)) for j in range(len(outputs))]
        evaluate = self.runner(arguments, results)
        for k in range(states):
            for argument, value, stride in zip(arguments, inputs, strides, strict=True):
                if value is not None:
                    argument[:] = value[k].ravel() if stride else value.ravel()
            evaluate()
            for output, result in zip(outputs, results, strict=True):
                output[k] = result.reshape(output.shape[1:])


class _Words(NamedTuple):
    """Names for messages: of a function, of its inputs, and of the entries of each input."""

    function: str
    names: tuple[str, ...]
    rows: tuple[str, ...]


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
                    f"{words.function}: its buffer takes {len(self.inputs)} arguments ({names}), in this order, or none, "
                    f"got {len(values)}"
                )
            for name, rows, target, value in zip(words.names, words.rows, self.inputs, values, strict=True):
                target[:] = _fitting(value, target, f"{words.function}: {name}", rows)
        self._run()
        return self._outcome


class CompiledFunction:
    """A Function of numpy arrays: one state, or a batch of them along the first axis.

    name: of the Function; name_in, name_out: of its arguments. shape_in, shape_out: their shapes for one state, (n,)
    for a column. dtype: type of the arrays. backend: "compiled" or "virtual machine". A pickle contains the Function;
    when it is loaded, the library is found in the cache or built again.

    >>> ID = od.codegen.compile([od.function(od.inverse_dynamics, rod)]).ID
    >>> ID.name_in, ID.shape_in
    (('q', 'qd', 'qdd'), ((1,), (1,), (1,)))
    """

    def __init__(self, f: ca.Function, backend: Backend, precision: str, threads: int, recipe: Recipe) -> None:
        self.name, self.name_in, self.name_out = f.name(), tuple(f.name_in()), tuple(f.name_out())
        self.shape_in = tuple(_shape(f.size_in(i)) for i in range(f.n_in()))
        self.shape_out = tuple(_shape(f.size_out(j)) for j in range(f.n_out()))
        self.dtype = DTYPES[precision]
        self.backend = backend.name
        self._backend, self._threads = backend, threads
        self._instructions, self._recipe = instructions(f), recipe
        self._rows = f.rows if isinstance(f, CheckedFunction) else {}

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

        out: an array, or a tuple of arrays, to write the results to, of the right shapes and type, in C order, without
        common memory with the arguments; saves the allocation of large results.

        Raises TypeError or ValueError that names the argument whose type or shape does not fit.
        """
        if len(arguments) != len(self.shape_in):
            raise TypeError(
                f"{self.name} takes {len(self.shape_in)} arguments ({', '.join(self.name_in)}), got {len(arguments)}"
            )
        arrays = [self._array(i, value) for i, value in enumerate(arguments)]
        states = self._states(arrays)
        lead = () if states is None else (states,)
        shapes = [lead + shape for shape in self.shape_out]
        outputs = (
            [np.empty(shape, self.dtype) for shape in shapes]
            if out is None
            else self._checked_outputs(out, shapes, arrays)
        )
        if states is None:
            inputs = [np.zeros(s, self.dtype) if a is None else a for a, s in zip(arrays, self.shape_in, strict=True)]
            self._backend.runner(inputs, outputs)()
        else:
            self._run(states, arrays, outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def runner(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], object]:
        """A callable without arguments that evaluates `self(*inputs, out=outputs)`; checks the arrays once, here.

        For loops in which the overhead of a call matters: 2 microseconds instead of 40.
        """
        arrays = [self._array(i, value) for i, value in enumerate(inputs)]
        if any(array is not x for array, x in zip(arrays, inputs, strict=True)):
            raise ValueError(
                f"{self.name}: a runner reads its inputs in place and needs arrays of {self.dtype} in C order: convert "
                "them with np.ascontiguousarray"
            )
        states = self._states(arrays)
        lead = () if states is None else (states,)
        self._checked_outputs(tuple(outputs), [lead + shape for shape in self.shape_out], arrays)
        if states is None:
            return self._backend.runner(inputs, outputs)
        batched = [x.ndim > len(shape) for x, shape in zip(inputs, self.shape_in, strict=True)]
        strides = [int(np.prod(shape)) if many else 0 for many, shape in zip(batched, self.shape_in, strict=True)]
        if isinstance(self._backend, Library) and self._pieces(states) <= 1:
            return self._backend.batch_runner(states, inputs, strides, outputs)
        return functools.partial(self._run, states, inputs, outputs)

    def buffer(self) -> Buffer:
        """A `Buffer` for one state, with inputs and outputs of zeros."""
        inputs = [np.zeros(shape, self.dtype) for shape in self.shape_in]
        outputs = [np.zeros(shape, self.dtype) for shape in self.shape_out]
        rows = tuple(self._rows[name].text if name in self._rows else "" for name in self.name_in)
        words = _Words(self.name, self.name_in, rows)
        return Buffer(inputs, outputs, self._backend.runner(inputs, outputs), words)

    def _array(self, i: int, value: Any) -> Array | None:
        if value is None:
            return None
        name, shape = self.name_in[i], self.shape_in[i]
        array = value if isinstance(value, np.ndarray) else _array(value, shape)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{self.name}: {name} must hold real numbers, got {_kind(value, array)}")
        if array.ndim == 0 and shape == (1,):
            array = array.reshape(1)
        if array.shape != shape and (array.ndim != len(shape) + 1 or array.shape[1:] != shape):
            one = ", ".join(map(str, shape))
            raise ValueError(
                f"{self.name}: {name} has the shape {array.shape}, expected "
                f"({one}{',' * (len(shape) == 1)}) for one state or (N, {one}) for N"
                f"{self._rows[name].text if name in self._rows else ''}"
            )
        return np.ascontiguousarray(array, self.dtype)

    def _checked_outputs(
        self, out: Any, shapes: Sequence[tuple[int, ...]], arrays: Sequence[Array | None]
    ) -> list[Array]:
        """The arrays of `out`; TypeError or ValueError if results cannot be written to them."""
        outputs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outputs) != len(shapes):
            raise TypeError(
                f"{self.name} has {len(shapes)} outputs ({', '.join(self.name_out)}), out has {len(outputs)}"
            )
        for name, y, shape in zip(self.name_out, outputs, shapes, strict=True):
            fits = isinstance(y, np.ndarray) and y.shape == shape and y.dtype == self.dtype
            if not (fits and y.flags.c_contiguous and y.flags.writeable):
                got = f"{y.shape} of {y.dtype}" if isinstance(y, np.ndarray) else type(y).__name__
                raise ValueError(
                    f"{self.name}: out for {name} must be a writable array {shape} of {self.dtype} in C order, got "
                    f"{got}"
                )
        for k, y in enumerate(outputs):
            if any(np.may_share_memory(y, other) for other in (*arrays, *outputs[:k]) if other is not None):
                raise ValueError(
                    f"{self.name}: out for {self.name_out[k]} shares memory with another argument; copy it"
                )
        return outputs

    def _states(self, arrays: Sequence[Array | None]) -> int | None:
        """Number of states in the arguments; None if all are single states. ValueError if the numbers differ."""
        counts = {
            name: len(array)
            for name, array, shape in zip(self.name_in, arrays, self.shape_in, strict=True)
            if array is not None and array.ndim > len(shape)
        }
        if len(set(counts.values())) > 1:
            sizes = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise ValueError(f"{self.name}: all batches must have the same number of states, got {sizes}")
        return next(iter(counts.values()), None)

    def _run(self, states: int, arrays: Sequence[Array | None], outputs: Sequence[Array]) -> None:
        batched = [a is not None and a.ndim > len(shape) for a, shape in zip(arrays, self.shape_in, strict=True)]
        strides = [int(np.prod(shape)) if many else 0 for many, shape in zip(batched, self.shape_in, strict=True)]

        def part(begin: int, end: int) -> None:
            inputs = [a[begin:end] if a is not None and many else a for a, many in zip(arrays, batched, strict=True)]
            self._backend.run(end - begin, inputs, strides, [y[begin:end] for y in outputs])

        pieces = self._pieces(states)
        if pieces <= 1:
            part(0, states)
            return
        width = self._backend.lanes
        size = -(-states // (pieces * width)) * width  # whole vectors
        with ThreadPoolExecutor(pieces) as pool:
            for task in [pool.submit(part, k, min(k + size, states)) for k in range(0, states, size)]:
                task.result()

    def _pieces(self, states: int) -> int:
        """Number of threads that pay off for this many states; 1 for the virtual machine, which holds Python's GIL."""
        work = states * self._instructions // self._backend.lanes
        return min(self._threads, work // WORK_PER_THREAD) if self.backend == Library.name else 1


def _array(value: Any, shape: tuple[int, ...]) -> Array:
    """`value` as an array; a DM of one column fits an input of the shape (n,)."""
    if isinstance(value, (ca.SX, ca.MX)):
        return np.asarray(None)
    if isinstance(value, ca.DM):
        full = np.array(value.full())
        return full.ravel() if len(shape) == 1 and full.shape == (*shape, 1) else full
    return np.asarray(value)


def _kind(value: Any, array: Array) -> str:
    """An argument that holds no real numbers, for a message."""
    return f"an array of {array.dtype}" if isinstance(value, np.ndarray) else shown(value)


def _fitting(value: Any, target: Array, what: str, rows: str) -> Array:
    """`value` as an array of the shape of `target`; a single number fits a single entry only, it is not repeated. rows:
    names of the expected entries, for messages."""
    array = _array(value, target.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} must hold real numbers, got {_kind(value, array)}")
    if array.shape != target.shape and not array.size == target.size == 1:
        raise ValueError(f"{what} has the shape {array.shape}, expected {target.shape}{rows}")
    return array.reshape(target.shape)


def _pointers(arrays: Sequence[Array | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(
        *(None if a is None else a.__array_interface__["data"][0] for a in arrays)
    )


def _shape(size: tuple[int, int]) -> tuple[int, ...]:
    return size[:1] if size[1] == 1 else size


def _size(shape: tuple[int, ...]) -> str:
    """A shape as a text: "(7)" or "(6 × 7)"."""
    return f"({' × '.join(map(str, shape))})"
