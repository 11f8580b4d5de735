"""Values of a Function: its operations in static single assignment, every different one once, and their text in C."""

from __future__ import annotations

import math
from typing import NamedTuple

import casadi as ca

from ..._types import shown

TRIGONOMETRIC = (ca.OP_SIN, ca.OP_COS)

COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR})

ARITHMETIC = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "K(1.0) / {0}",
}
"""Arithmetic operations; at most one of two operands may be a scalar constant, K(...)."""

SELECTIONS = {
    ca.OP_LT: "TRUTH({0} < {1})",
    ca.OP_LE: "TRUTH({0} <= {1})",
    ca.OP_EQ: "TRUTH({0} == {1})",
    ca.OP_NE: "TRUTH({0} != {1})",
    ca.OP_NOT: "TRUTH({0} == S(0.0))",
    ca.OP_AND: "PICK({0} != S(0.0), TRUTH({1} != S(0.0)), S(0.0))",
    ca.OP_OR: "PICK({0} != S(0.0), S(1.0), TRUTH({1} != S(0.0)))",
    ca.OP_IF_ELSE_ZERO: "PICK({0} != S(0.0), {1}, S(0.0))",
    ca.OP_FABS: "PICK({0} > S(0.0), {0}, S(0.0) - {0})",
    ca.OP_SIGN: "PICK({0} > S(0.0), S(1.0), PICK({0} < S(0.0), S(-1.0), {0}))",
    # as fmin and fmax of C: if one operand is nan, the result is the other one
    ca.OP_FMIN: "PICK({0} < {1}, {0}, PICK({1} == {1}, {1}, {0}))",
    ca.OP_FMAX: "PICK({0} > {1}, {0}, PICK({1} == {1}, {1}, {0}))",
}
"""Comparisons and conditionals, without branches."""

LIBRARY = {
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_SQRT: "sqrt",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_ERF: "erf",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_ATAN2: "atan2",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_HYPOT: "hypot",
}
"""Functions of libm."""

BINARY_LIBRARY = frozenset({"pow", "fmod", "remainder", "copysign", "atan2", "hypot"})


class Value(NamedTuple):
    """One value: an operation on earlier values, an input (operation INPUT) or a constant (CONSTANT)."""

    operation: int
    arguments: tuple[int, ...] = ()
    constant: float = 0.0


INPUT, CONSTANT = -1, -2
KINDS = {**dict.fromkeys((*SELECTIONS, *LIBRARY), "call"), **dict.fromkeys(TRIGONOMETRIC, "angle")}
KNOWN = frozenset({*ARITHMETIC, *SELECTIONS, *LIBRARY, *TRIGONOMETRIC})


def values_of(f: ca.Function, label: str) -> tuple[list[Value], list[tuple[int, int, int]]]:
    """All different values, and (output, nonzero, value) for every nonzero of the outputs."""
    values: list[Value] = []
    known: dict[Value | str, int] = {}
    slot: dict[int, int] = {}  # the value that a work variable of CasADi's virtual machine holds at this instruction
    stores = []
    operation_of, operands_of, results_of = f.instruction_id, f.instruction_input, f.instruction_output
    for k in range(f.n_instructions()):
        operation, operands, results = operation_of(k), operands_of(k), results_of(k)
        key: Value | str
        if operation == ca.OP_OUTPUT:
            stores.append((results[0], results[1], slot[operands[0]]))
            continue
        if operation in (ca.OP_ASSIGN, ca.OP_LIFT):
            slot[results[0]] = slot[operands[0]]
            continue
        if operation == ca.OP_INPUT:
            key = value = Value(INPUT, tuple(operands))
        elif operation == ca.OP_CONST:
            value = Value(CONSTANT, (), f.instruction_constant(k))
            key = value.constant.hex()  # tells 0.0 from -0.0
        else:
            if operation not in KNOWN:
                _refuse(operation, label)
            arguments = [slot[i] for i in operands]
            if operation in COMMUTATIVE:
                arguments.sort()
            key = value = Value(operation, tuple(arguments))
        number = known.setdefault(key, len(values))
        if number == len(values):
            values.append(value)
        slot[results[0]] = number
    return values, stores


def _refuse(operation: int, label: str) -> None:
    names = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}
    remedy = "; build it from inlined Functions" if operation == ca.OP_CALL else ""
    raise ValueError(
        f"{shown(label)} uses {names.get(operation, operation)}, which the emitter cannot write as C{remedy}. Or try "
        "od.codegen.export, which uses CasADi's generator for such functions"
    )


def instructions(f: ca.Function) -> int:
    """Approximate number of operations in `f`: its number of CasADi instructions, after expansion if necessary."""
    counts = f.is_a("SXFunction") or f.is_a("MXFunction")
    return int((f if counts else f.expand()).n_instructions())


def literal(x: float) -> str:
    """A C literal for exactly `x`."""
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return x.hex()
