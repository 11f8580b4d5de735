"""Values of a Function: its operations in static single assignment, every different one once, and their text in C."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import casadi as ca

from ..._base.files import csv_rows
from ..._base.types import repr_in_message

OPERATIONS = Path(__file__).with_name("operations.csv")

TRIGONOMETRIC = (ca.OP_SIN, ca.OP_COS)

COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR})

ARITHMETIC, SELECTIONS, LIBRARY = (
    {getattr(ca, f"OP_{row['operation']}"): row["code"] for row in csv_rows(OPERATIONS) if row["kind"] == kind}
    for kind in ("arithmetic", "selection", "library")
)
"""C code of CasADi's operations. Arithmetic: at most one of two operands may be a scalar constant, K(...). Selections:
comparisons and conditionals, without branches; minimum and maximum as fmin and fmax of C: if one operand is nan, the
result is the other one. Library: functions of libm."""

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
        f"{repr_in_message(label)} uses {names.get(operation, operation)}, which the emitter cannot write as "
        f"C{remedy}. Or try od.codegen.export, which uses CasADi's generator for such functions"
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
