"""Our functions: instruction counts, and microseconds by virtual machine, as C for one state, and as C for batches."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.functions.registry import REGISTRY
from scripts.common import microseconds

from . import casadi_c
from .robots import Array, Robot

FREE = ("ID", "C", "H", "FD", "dID", "dFD")
"""Quantities of free motion."""

CONTACT = ("G", "gamma", "FDc")
"""Quantities with contacts."""

ALGORITHMS = {signature.name: algorithm for algorithm, signature in REGISTRY.items()}

ONE_STATES = 64
MACHINE_STATES = 32

LOOP = """
typedef int function(const double *const *x, double *const *y);

int repeat(function *f, long long states, int inputs, const double *const *x, const long long *stride, double *const *y)
{
    const double *arg[16];
    long long k;
    int i;
    for (k = 0; k < states; ++k) {
        for (i = 0; i < inputs; ++i) arg[i] = x[i] + k * stride[i];
        f(arg, y);
    }
    return 0;
}
"""


def functions(robot: Robot, quantities: tuple[str, ...], reduce: bool = True) -> dict[str, ca.Function]:
    """Functions of the quantities that the robot has. reduce=False: of the model without reduction."""
    # "gamma" is also a function of C's library, which CasADi's generator does not look out for
    return {
        name: od.function(ALGORITHMS[name], robot.model, *([robot.contacts] if name in CONTACT else []),
                          name=name if reduce else f"plain_{name}", reduce=reduce)
        for name in quantities if name in FREE or robot.feet
    }  # fmt: skip


def measure(
    robot: Robot, drawn: Mapping[str, Array], quantities: tuple[str, ...], others: bool = True
) -> dict[str, dict[str, float]]:
    """Columns by quantity: instructions, machine, one, lanes; with `others` also CasADi's own C."""
    made = functions(robot, quantities)
    rows: dict[str, dict[str, float]] = {name: {"instructions": f.n_instructions()} for name, f in made.items()}
    for name, f in made.items():
        rows[name]["machine"] = interpreted(f, drawn)
    one = od.codegen.compile(made.values(), lanes=1, threads=1)
    if one.backend != "compiled":
        print("compiled columns are left out: no C compiler was found", file=sys.stderr)
        return rows
    lanes = od.codegen.compile(made.values(), threads=1, single=False)
    for name in made:
        rows[name] |= {"one": one_state(one[name], drawn), "lanes": called(lanes[name], drawn)}
    if others:
        for name, value in casadi_c.measure(functions(robot, quantities, reduce=False), drawn).items():
            rows[name]["casadi C"] = value
    return rows


def interpreted(f: ca.Function, drawn: Mapping[str, Array]) -> float:
    """Microseconds per state by CasADi's virtual machine."""
    mapped = f.map(MACHINE_STATES)
    columns: Any = [ca.DM(drawn[name][:MACHINE_STATES].T) for name in f.name_in()]
    return microseconds(lambda: mapped.call(columns), MACHINE_STATES, 5)


def one_state(f: Any, drawn: Mapping[str, Array]) -> float:
    """One state after the other, results always to the same place, as in a caller's own loop in C."""
    call = f._backend._one  # what a buffer calls from Python, some 0.3 us a time: here it is called from C
    inputs = [np.ascontiguousarray(drawn[name][:ONE_STATES]) for name in f.name_in]
    outputs = [np.zeros(shape) for shape in f.shape_out]
    given, wanted = ((ctypes.c_void_p * len(x))(*(y.ctypes.data for y in x)) for x in (inputs, outputs))
    strides = (ctypes.c_longlong * len(inputs))(*(x.shape[1] for x in inputs))
    repeat = ctypes.CDLL(str(casadi_c.library(LOOP))).repeat
    states, count = ctypes.c_longlong(ONE_STATES), ctypes.c_int(len(inputs))
    return microseconds(lambda: repeat(call, states, count, given, strides, wanted), ONE_STATES)


def called(f: od.codegen.CompiledFunction, drawn: Mapping[str, Array]) -> float:
    """A batch of all states, a state per row, by a call from Python with its checks."""
    rows = [drawn[name] for name in f.name_in]
    out = tuple(np.zeros((len(rows[0]), *shape)) for shape in f.shape_out)
    return microseconds(lambda: f(*rows, out=out), len(rows[0]))


def batch(f: od.codegen.CompiledFunction, drawn: Mapping[str, Array]) -> float:
    """A batch of all states by a runner, from and to arrays that exist; lane-major ones if the function's results
    are."""
    rows: list[Any] = [np.ascontiguousarray(drawn[name], f.dtype) for name in f.name_in]
    states = len(rows[0])
    if f.layout == "rows":
        return microseconds(f.runner(rows, [np.zeros((states, *shape), f.dtype) for shape in f.shape_out]), states)
    outputs = [od.codegen.Lanes.empty(states, shape, f.lanes, f.dtype) for shape in f.shape_out]
    return microseconds(f.runner([od.codegen.Lanes.of(x) for x in rows], outputs), states)
