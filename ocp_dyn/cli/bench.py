"""`ocp-dyn bench`: how long functions of a model take, interpreted, compiled and in a batch."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _names as od
from .._base.on_arrays import in_place
from .inputs import functions_of, model_of
from .streams import UsageError, as_json, number, table

BATCH = 1000
"""States of a batch."""


def run(options: argparse.Namespace) -> int:
    if not 0 < options.seconds <= 60:
        raise UsageError(f"--seconds must lie between 0 and 60, got {options.seconds}")
    model = model_of(options)
    functions = functions_of(options, model)
    compiled = None if options.no_compile else _compiled(functions, not options.no_pack)
    rows: dict[str, dict[str, float | int | None]] = {}
    for f in functions:
        print(f"{f.name()} ...", file=sys.stderr, flush=True)
        one, many = _states(model, f, 1), _states(model, f, BATCH)
        row: dict[str, float | int | None] = {"instructions": int(f.n_instructions())}
        row["interpreted_us"] = 1e6 * _seconds(_interpreted(f, one), options.seconds)
        batch = None if compiled is None else getattr(compiled, f.name())
        row["compiled_us"] = batch and 1e6 * _seconds(_compiled_single(batch, one), options.seconds)
        row["batch_us"] = batch and 1e6 / BATCH * _seconds(partial(batch, *many), options.seconds)
        rows[f.name()] = row
    if options.json:
        print(as_json({"model": model.name, "nq": model.nq, "nv": model.nv, "functions": rows}))
        return 0
    head = ("function", "instructions", "interpreted [us]", "compiled [us]", "batch [us]")
    cells = [(name, *("-" if x is None else number(x) for x in row.values())) for name, row in rows.items()]
    print(f"{model.name}: nq = {model.nq}, nv = {model.nv}; medians per state")
    print(table(head, cells, right=range(1, 5)))
    return 0


def _compiled(functions: list[Any], pack: bool) -> Any:
    """The functions as machine code; None, with a line that says so, without a compiler."""
    print("compiling ...", file=sys.stderr, flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return od.codegen.compile(functions, pack=pack)
        except RuntimeWarning as warning:
            print(f"note: {warning}", file=sys.stderr)
            return None


def _states(model: od.Model, f: Any, count: int) -> list[Any]:
    """Random arguments of a Function, a state in every row."""
    rng = np.random.default_rng(0)

    def argument(name: str, size: tuple[int, int]) -> Any:
        if name in ("q", "q0", "q1"):
            return np.array([model.random_q(rng) for _ in range(count)])
        return rng.normal(size=(count, size[0] * size[1]))

    made = [argument(f.name_in(k), f.size_in(k)) for k in range(f.n_in())]
    return [x if count > 1 else x[0] for x in made]


def _compiled_single(f: Any, arguments: list[Any]) -> Callable[[], object]:
    """A call of machine code for one state, without copies."""
    buffer = f.buffer()
    buffer(*(np.reshape(x, target.shape) for x, target in zip(arguments, buffer.inputs, strict=True)))
    call: Callable[[], object] = buffer
    return call


def _interpreted(f: Any, arguments: list[Any]) -> Callable[[], object]:
    """A call of the virtual machine that copies no matrix between Python and CasADi."""
    inputs = [np.array(x, dtype=float) for x in arguments]
    return in_place(f, inputs, [np.zeros(f.nnz_out(k)) for k in range(f.n_out())])


def _seconds(call: Callable[[], object], budget: float) -> float:
    """Median time of a call, of repetitions that take `budget` seconds together."""
    call()
    begin = time.perf_counter()
    call()
    once = max(time.perf_counter() - begin, 1e-8)
    inner = max(1, min(100_000, int(budget / 20 / once)))
    times: list[float] = []
    end = time.perf_counter() + budget
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(inner):
            call()
        times.append((time.perf_counter() - begin) / inner)
    return statistics.median(times)
