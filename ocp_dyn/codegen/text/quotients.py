"""Quotients of one denominator share its reciprocal, for code of vectors.

A processor divides vectors slowly: eight quotients of double precision take AVX-512 sixteen cycles, in which it would
multiply thirty-two vectors. Solvers of linear equations divide whole columns by one pivot, so that without this, half
of the time of constrained dynamics would be divisions. One number is divided as fast as in four multiplications that
overlap others, so code for one state keeps its quotients.
"""

from __future__ import annotations

from collections import Counter

import casadi as ca

from .values import CONSTANT, Value

Stores = list[tuple[int, int, int]]


def shared_reciprocals(values: list[Value], stores: Stores) -> tuple[list[Value], Stores]:
    """Replaces x / d by x (1 / d) where two quotients or more have the denominator d; rounds twice instead of once.

    Quotients by constants stay, and so do those of a denominator that occurs once. values, stores: of `values_of`.
    """
    uses = Counter(v.arguments[-1] for v in values if v.operation in (ca.OP_DIV, ca.OP_INV))
    shared = {d for d, count in uses.items() if count > 1 and values[d].operation != CONSTANT}
    made: list[Value] = []
    place: list[int] = []
    reciprocals: dict[int, int] = {}

    def add(value: Value) -> int:
        made.append(value)
        return len(made) - 1

    for value in values:
        d = value.arguments[-1] if value.operation in (ca.OP_DIV, ca.OP_INV) else -1
        if d not in shared:
            renamed = tuple(place[a] for a in value.arguments) if value.operation >= 0 else value.arguments
            place.append(add(value._replace(arguments=renamed)))
            continue
        if d not in reciprocals:
            reciprocals[d] = add(Value(ca.OP_INV, (place[d],)))
        inverse = reciprocals[d]
        quotient = value.operation == ca.OP_DIV
        place.append(add(Value(ca.OP_MUL, (place[value.arguments[0]], inverse))) if quotient else inverse)
    return made, [(output, nonzero, place[v]) for output, nonzero, v in stores]
