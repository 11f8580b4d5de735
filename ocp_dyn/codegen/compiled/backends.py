"""Evaluators of one function: a compiled library, or CasADi's virtual machine."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Protocol

import casadi as ca
import numpy as np

from ..._base.on_arrays import in_place
from ..text.driver import FORMS, LANE_MAJOR
from ..text.emit import emit
from ..text.interface import row_major
from .arrays import Array, Lanes

DENSE, NONZEROS, DISTINCT = range(len(FORMS))


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

    def slots(self, output: int, size: int) -> tuple[Array, int]:
        """For every entry of an output the index of its value among the distinct ones, and their number, which is the
        index of zeros."""


class CompiledLibrary:
    """A compiled library."""

    name = "compiled"

    def __init__(self, library: ctypes.CDLL, lanes: int) -> None:
        self.lanes = lanes
        self._one = getattr(library, "ocp_dyn_one", None)  # missing in a library for batches only
        self._many = library.ocp_dyn_many
        self._many.argtypes = [ctypes.c_longlong] + [ctypes.c_void_p] * 3
        self._slots = library.ocp_dyn_slots
        if lanes > 1:
            self._formed = library.ocp_dyn_many_in
            self._formed.argtypes = [ctypes.c_longlong] + [ctypes.c_void_p] * 5

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
        self,
        states: int,
        inputs: Sequence[Array | None],
        strides: Sequence[int],
        outputs: Sequence[Array],
        forms: Sequence[int] = (),
    ) -> Callable[[], None]:
        """A callable without arguments that repeats `run` on these arguments.

        forms: of the outputs, as `driver.FORMS` says; default: dense rows. Strides of -1: lane-major inputs.
        """
        steps = (ctypes.c_longlong * max(1, len(strides)))(*strides)
        input_pointers, output_pointers = _pointers(inputs), _pointers(outputs)
        call = functools.partial(self._many, states, input_pointers, steps, output_pointers)
        if any(forms):
            formed = (ctypes.c_int * len(forms))(*forms)
            call = functools.partial(self._formed, states, input_pointers, steps, output_pointers, formed, None)

        def run(_alive: object = (*inputs, *outputs)) -> None:  # keeps the arrays alive, which the pointers do not
            if call():
                raise MemoryError("no memory for a batch of lanes")

        return run

    def slots(self, output: int, size: int) -> tuple[Array, int]:
        found = ctypes.POINTER(ctypes.c_int)()
        stored = self._slots(output, ctypes.byref(found))
        return np.array(found[:size], int), int(stored)


class VirtualMachine:
    """Evaluator that uses CasADi's virtual machine, state by state."""

    name = "virtual machine"
    lanes = 1

    def __init__(self, f: ca.Function) -> None:
        self._source, self._f = f, row_major(f)

    def runner(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], object]:
        arguments = [np.zeros(x.size) for x in inputs]
        results = [np.zeros(y.size) for y in outputs]
        run = in_place(self._f, arguments, results)

        def evaluate() -> None:
            for argument, value in zip(arguments, inputs, strict=True):
                argument[:] = value.ravel()
            run()
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

    def slots(self, output: int, size: int) -> tuple[Array, int]:
        found = emit(self._source, "kernel").outputs[output]
        return np.array([found.stored if slot < 0 else slot for slot in found.slots], int), found.stored


def by_rows(
    backend: Backend,
    states: int,
    inputs: Sequence[Array | None],
    strides: Sequence[int],
    outputs: Sequence[Array],
    forms: Sequence[int],
    dense: Sequence[tuple[int, ...]],
    places: Sequence[Array],
) -> None:
    """Evaluates a batch by dense rows and lays the results out as `forms` say, for evaluators that know rows only.

    dense: shapes of the dense results of one state. places: of the numbers that sparse results hold.
    """
    given, steps = list(inputs), list(strides)
    for i, (x, stride) in enumerate(zip(inputs, strides, strict=True)):
        if x is not None and stride < 0:
            given[i], steps[i] = Lanes(x, states).rows(), x.shape[1]
    results = [
        np.empty((states, *shape), y.dtype) if form else y for y, form, shape in zip(outputs, forms, dense, strict=True)
    ]
    backend.run(states, given, steps, results)
    for y, result, form, chosen in zip(outputs, results, forms, places, strict=True):
        values = result.reshape(states, int(np.prod(result.shape[1:])))
        values = values if form % LANE_MAJOR == DENSE else values[:, chosen]
        if form >= LANE_MAJOR:
            Lanes(y, states).fill(values)
        elif form:
            y[...] = values


def _pointers(arrays: Sequence[Array | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(
        *(None if a is None else a.__array_interface__["data"][0] for a in arrays)
    )
