"""Running error analysis: a bound on the rounding errors in the values of an expression.

Every operation y = f(a, b) rounds its result and passes on the errors of its operands. To first order:

    e(y) = |y| + |df/da| e(a) + |df/db| e(b),

in units of the machine's precision [J. H. Wilkinson; N. J. Higham, Accuracy and Stability of Numerical Algorithms,
2002, sec. 3.3]. If terms cancel, so that y is zero, e(y) remains as large as the error of the terms.

Last bits differ from processor to processor. Where one of several numbers is chosen, or all are put in an order, those
that differ by rounding count as equal: `largest`, `ordinal`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .types import Expr, split

DIGITS = 6
"""Digits by which numbers are compared: more than rounding changes in a solution, fewer than anybody reads."""


def largest(values: Any) -> int:
    """The place of the first of the largest values, which may differ by rounding; of one that is nan, if there is
    any."""
    values = np.asarray(values, dtype=float)
    most = float(values.max())
    alike = values >= most - 10.0**-DIGITS * abs(most) if math.isfinite(most) else values
    return int(np.argmax(alike))


def ordinal(value: float) -> float:
    """The value to `DIGITS` digits, as a key of an order: what differs by rounding stays in the order that it had."""
    return float(f"{value:.{DIGITS}g}")


def running_error(f: ca.Function) -> ca.Function:
    """The errors e(y) of an SX function's outputs, as a Function of the same inputs; inputs are rounded numbers.

    Inputs must be dense. Three to five times the operations of f.
    """
    symbols = f.sx_in()
    entries = [split(ca.vec(x)) for x in symbols]
    free: list[Expr] = f.free_sx()
    work: dict[int, tuple[Expr, Expr]] = {}
    errors: list[list[Expr]] = [[SX(0)] * f.nnz_out(k) for k in range(f.n_out())]
    for k in range(f.n_instructions()):
        op, taken, given = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            errors[given[0]][given[1]] = work[taken[0]][1]
        elif op == ca.OP_CONST:
            value: Expr = SX(f.instruction_constant(k))
            work[given[0]] = value, ca.fabs(value)
        elif op in (ca.OP_INPUT, ca.OP_PARAMETER):
            value = entries[taken[0]][taken[1]] if op == ca.OP_INPUT else free[taken[0]]
            work[given[0]] = value, ca.fabs(value)
        elif op == ca.OP_CALL:
            raise ValueError(f"{f.name()!r} calls other functions: expand it first, so that it holds scalar operations")
        else:
            value, error = _step(op, len(taken)).call([x for i in taken for x in work[i]])
            work[given[0]] = value, error
    outputs = [SX(f.sparsity_out(k), ca.vertcat(*errors[k]) if errors[k] else SX(0, 1)) for k in range(f.n_out())]
    return ca.Function(f"{f.name()}_error", symbols, outputs, {"cse": True, "allow_free": True})


@functools.cache
def _step(op: int, operands: int) -> ca.Function:
    """(a, e(a), b, e(b)) -> (y, e(y)) of one operation; a sum or a product by a constant is rounded too."""
    x, e = SX.sym("x", operands), SX.sym("e", operands)
    y = SX.unary(op, x) if operands == 1 else SX.binary(op, x[0], x[1])
    slopes = ca.fabs(ca.gradient(y, x))
    pairs = [s for k in range(operands) for s in (x[k], e[k])]
    return ca.Function("step", pairs, [y, ca.fabs(y) + ca.dot(slopes, e)])
