"""Batches in lane-major order, and patterns of sparse results: what a compiled function takes and returns beside
arrays of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from ..._base.types import is_whole, positional, repr_in_message

Array = NDArray[Any]

ALIGNMENT = 64
"""Address multiple at which lane-major data begin, the size of the largest vector register [bytes]."""

WIDTHS = (1, 2, 4, 8, 16)
"""Numbers of lanes."""


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array in C order, not initialized, that begins at a multiple of ALIGNMENT bytes."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + size].view(dtype).reshape(shape)


class Lanes(NDArrayOperatorsMixin):
    """A batch of states in lane-major order: compiled functions read and write it without transposing.

    `data[b, e, l]` is the entry e of the state `b * lanes + l`; an entry of a matrix is counted row by row. So the
    numbers that a vector register holds, one entry of `lanes` states, are neighbors in memory. `Lanes.of(q)` makes it
    from an array of a state per row; `np.asarray(x)` is that array again, and `x[k]` the state k, `x[2:5]` three states
    as rows.

    data: (blocks, entries, lanes), C order, float64 or float32, with blocks = ceil(states / lanes). In the last block,
    lanes without a state hold numbers of no meaning. shape: (states, ...), as of the array of rows. Sums, products and
    other functions of numpy that act on single numbers take `Lanes` of one shape, numbers, and arrays of the shape of
    one state, and return `Lanes`: `qd + 0.01 * qdd`, or `qd += 0.01 * qdd` in the same memory; comparisons return rows.
    Raises TypeError or ValueError for data that do not fit.

    >>> x = od.codegen.Lanes.of(np.arange(20.0).reshape(10, 2))
    >>> x
    Lanes((10, 2), float64, 8 lanes)
    >>> x.data.shape, x[9], len(x)
    ((2, 2, 8), array([18., 19.]), 10)
    >>> np.asarray(0.5 * x)[:2]
    array([[0. , 0.5],
           [1. , 1.5]])
    """

    __slots__ = ("data", "shape")

    def __init__(self, data: Array, states: int, shape: tuple[int, ...] | None = None) -> None:
        if not (isinstance(data, np.ndarray) and data.ndim == 3 and data.dtype in (np.float64, np.float32)):
            got = f"{data.shape} of {data.dtype}" if isinstance(data, np.ndarray) else repr_in_message(data)
            raise TypeError(f"Lanes needs data (blocks, entries, lanes) of float64 or float32, got {got}")
        one = (data.shape[1],) if shape is None else _checked_shape(shape)
        if not is_whole(states) or -(-states // max(1, data.shape[2])) != data.shape[0]:
            raise ValueError(
                f"Lanes has {data.shape[0]} blocks of {data.shape[2]} lanes, which do not hold "
                f"{repr_in_message(states)} states"
            )
        if data.shape[2] not in WIDTHS or int(np.prod(one)) != data.shape[1] or not data.flags.c_contiguous:
            raise ValueError(
                f"Lanes needs data in C order with {', '.join(map(str, WIDTHS))} lanes and as many entries as a state "
                f"of the shape {one}, got {data.shape}"
            )
        self.data = data
        self.shape: tuple[int, ...] = (int(states), *one)

    @classmethod
    def of(cls, rows: Any, lanes: int | None = None) -> Lanes:
        """The batch `rows`, an array (N, n) or (N, rows, columns), in lane-major order.

        lanes: as of the function that will take it; default: 16 for float32, else 8, as for compiled functions. Numbers
        other than float32 become float64. Cost: one copy.
        """
        array = np.asarray(positional(rows, "Lanes.of"))
        if array.dtype.kind not in "biuf":
            raise TypeError(f"Lanes.of needs real numbers, got {repr_in_message(rows)}")
        if array.ndim < 2:
            raise ValueError(f"Lanes.of needs an array (N, n) with a state per row, got the shape {array.shape}")
        array = array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
        width = (16 if array.dtype == np.float32 else 8) if lanes is None else lanes
        made = cls.empty(len(array), array.shape[1:], width, array.dtype)
        made.fill(array)
        return made

    @classmethod
    def empty(cls, states: int, shape: tuple[int, ...], lanes: int, dtype: Any = np.float64) -> Lanes:
        """A batch that is not initialized; shape: of one state. For `out=`."""
        if not is_whole(states):
            raise ValueError(f"the number of states is an integer, 0 or more, got {repr_in_message(states)}")
        if not (is_whole(lanes) and lanes in WIDTHS):
            raise ValueError(f"lanes are {', '.join(map(str, WIDTHS))}, got {repr_in_message(lanes)}")
        one = _checked_shape(shape)
        return cls(empty((-(-states // lanes), int(np.prod(one)), lanes), np.dtype(dtype)), states, one)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.data.dtype

    @property
    def lanes(self) -> int:
        """Number of states in a block."""
        return int(self.data.shape[2])

    def __len__(self) -> int:
        return int(self.shape[0])

    def __repr__(self) -> str:
        return f"Lanes({self.shape}, {self.dtype}, {self.lanes} lanes)"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _restored, (np.ascontiguousarray(self.data), *self.shape)

    def rows(self) -> Array:
        """The batch as an array (N, ...) with a state per row, a copy."""
        return _rows(self.data, len(self)).reshape(self.shape)

    def fill(self, rows: Array) -> None:
        """Overwrites all states by `rows`, an array (N, ...); lanes without a state repeat the last one."""
        if np.shape(rows) != self.shape:
            raise ValueError(f"{self} is filled by an array {self.shape}, got the shape {np.shape(rows)}")
        rows = np.reshape(rows, (len(self), self.data.shape[1]))
        whole = len(self) // self.lanes
        self.data[:whole] = rows[: whole * self.lanes].reshape(whole, self.lanes, rows.shape[1]).transpose(0, 2, 1)
        rest = rows[whole * self.lanes :]
        if len(rest):
            self.data[whole, :, : len(rest)] = rest.T
            self.data[whole, :, len(rest) :] = rest[-1][:, None]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("rows of Lanes cannot be had without a copy; read x.data instead")
        found = self.rows()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        """States by number, slice, mask or list, as rows; further indices choose entries."""
        first, *rest = index if isinstance(index, tuple) else (index,)
        number = np.arange(len(self))[first]
        found = self.data[number // self.lanes, :, number % self.lanes].reshape(*np.shape(number), *self.shape[1:])
        return found[(*(slice(None),) * np.ndim(number), *rest)] if rest else found

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        if method != "__call__" or ufunc.signature:
            raise TypeError(
                f"np.{ufunc.__name__} combines numbers of several entries or states, and Lanes have no such form of "
                "it: pass np.asarray(x)"
            )
        if options or ufunc.nout != 1 or not all(isinstance(x, Lanes) for x in out):
            return NotImplemented
        operands = [self._operand(x) for x in inputs]
        if not out and "d" * ufunc.nin + "->?" in ufunc.types:  # comparisons
            return _rows(ufunc(*operands), len(self)).reshape(self.shape)
        result = self._operand(out[0]) if out else empty(self.data.shape, self.dtype)
        ufunc(*operands, out=result)
        return out[0] if out else Lanes(result, len(self), self.shape[1:])

    def _operand(self, x: Any) -> Any:
        if isinstance(x, Lanes):
            if (x.shape, x.lanes, x.dtype) != (self.shape, self.lanes, self.dtype):
                raise ValueError(f"operands must be of one shape, type and number of lanes, got {self} and {x}")
            return x.data
        if np.ndim(x) and np.shape(x) != self.shape[1:]:
            raise TypeError(
                f"operands beside {self} are Lanes, numbers, or arrays {self.shape[1:]}, got the shape {np.shape(x)}; "
                "convert a batch of rows by Lanes.of"
            )
        return np.reshape(x, (-1, 1)) if np.ndim(x) else x


def _checked_shape(shape: Any) -> tuple[int, ...]:
    """The shape of one state; ValueError unless it is a tuple of integers."""
    if not (isinstance(shape, tuple) and all(is_whole(size) for size in shape)):
        raise ValueError(f"the shape of one state is a tuple of integers, such as (7,), got {repr_in_message(shape)}")
    return tuple(int(size) for size in shape)


def _rows(data: Array, states: int) -> Array:
    """A copy of lane-major data as an array (states, entries)."""
    return data.transpose(0, 2, 1).reshape(data.shape[0] * data.shape[2], data.shape[1])[:states].copy()


def _restored(data: Array, states: int, *shape: int) -> Lanes:
    """A batch from a pickle, aligned again."""
    made = Lanes.empty(states, shape, data.shape[2], data.dtype)
    made.data[...] = data
    return made


class Pattern:
    """The places of the numbers that a sparse result holds.

    shape: of the dense result for one state. rows, columns: place of every number; a vector has columns of zeros, and
    of equal entries that are stored once, it is the first place, column by column. slots: array of the dense shape with
    the index of the number at every entry, -1 for zeros. `len(pattern)` is the number of numbers.

    >>> fast = od.codegen.compile([od.function(od.mass_matrix, arm)], sparse="distinct")
    >>> pattern = fast.H.patterns[0]
    >>> pattern, pattern.rows, pattern.columns  # symmetric: entry (0, 1) equals (1, 0)
    (Pattern((2, 2), 3 numbers), array([0, 1, 1]), array([0, 0, 1]))
    >>> dense = od.codegen.compile([od.function(od.mass_matrix, arm)])
    >>> bool((pattern.dense(fast.H(np.ones(2))) == dense.H(np.ones(2))).all())
    True
    """

    __slots__ = ("columns", "places", "rows", "shape", "slots")

    def __init__(self, shape: tuple[int, ...], slots: Array, places: Array) -> None:
        self.shape, self.slots, self.places = shape, slots.reshape(shape), places
        width = shape[1] if len(shape) > 1 else 1
        self.rows, self.columns = places // max(1, width), places % max(1, width)

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return f"Pattern({self.shape}, {len(self)} numbers)"

    def dense(self, values: Any) -> Array:
        """Dense results from sparse ones: (..., n) -> (..., *shape), also from `Lanes`."""
        array = np.asarray(positional(values, "Pattern.dense"))
        if not array.ndim or array.shape[-1] != len(self):
            raise ValueError(
                f"the pattern has {len(self)} numbers, expected values (..., {len(self)}), got {array.shape}"
            )
        padded = np.concatenate([array, np.zeros_like(array, shape=(*array.shape[:-1], 1))], axis=-1)
        return padded[..., self.slots]


def nonzero_pattern(shape: tuple[int, ...], places: list[int]) -> Pattern:
    """The pattern of structural nonzeros; places: their indices in the dense result, row by row."""
    slots = np.full(int(np.prod(shape)), -1)
    slots[places] = np.arange(len(places))
    return Pattern(shape, slots, np.array(places, int))


def distinct_pattern(shape: tuple[int, ...], slots: Array, stored: int, places: list[int]) -> Pattern:
    """The pattern of values that are stored once; slots: their indices for all entries, `stored` for zeros. places: of
    the structural nonzeros, column by column."""
    firsts = np.zeros(stored, int)
    for place in reversed(places):
        if slots[place] < stored:
            firsts[slots[place]] = place
    return Pattern(shape, np.where(slots < stored, slots, -1), firsts)
