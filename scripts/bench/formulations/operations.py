"""Counts of floating-point operations of SX functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca


class Operations(NamedTuple):
    """Operations of one evaluation.

    A square counts as a multiplication and twice a number as an addition. Changes of sign are free, as in counts by
    hand. functions: sines, cosines and others of a library. others: comparisons, magnitudes and selections.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    roots: int = 0
    functions: int = 0
    others: int = 0

    def __str__(self) -> str:
        """Multiplications and additions as the book writes them: "1560m + 960a"."""
        return f"{self.multiplications}m + {self.additions}a"


FREE = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER, ca.OP_ASSIGN, ca.OP_NEG}
KINDS = {
    ca.OP_MUL: "multiplications", ca.OP_SQ: "multiplications",
    ca.OP_ADD: "additions", ca.OP_SUB: "additions", ca.OP_TWICE: "additions",
    ca.OP_DIV: "divisions", ca.OP_INV: "divisions",
    ca.OP_SQRT: "roots",
    **dict.fromkeys(
        (ca.OP_FABS, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO,
         ca.OP_FMIN, ca.OP_FMAX, ca.OP_SIGN, ca.OP_COPYSIGN), "others"),
}  # fmt: skip
"""Kinds of operations; those that are neither here nor free are functions."""


def count(f: ca.Function) -> Operations:
    """The operations of an SX function; ValueError for another kind of function, whose instructions are whole
    arrays."""
    if not f.is_a("SXFunction"):
        raise ValueError(f"operations are counted in SX functions, got {f.name()}, a {f.class_name()}: expand it first")
    codes = Counter(f.instruction_id(k) for k in range(f.n_instructions()))
    found: Counter[str] = Counter()
    for code, times in codes.items():
        if code not in FREE:
            found[KINDS.get(code, "functions")] += times
    return Operations(**found)


def by_stage(inputs: Sequence[ca.SX], stages: Mapping[str, Sequence[ca.SX]]) -> dict[str, Operations]:
    """The operations that every stage adds to those of the stages before it; stages: name -> its results.

    Results that an earlier stage has computed already are free, and the counts of all stages add up to those of one
    function with all results.
    """
    found: dict[str, Operations] = {}
    results: list[ca.SX] = []
    before = Operations()
    for name, parts in stages.items():
        results += [ca.SX(part) for part in parts]
        total = count(ca.Function("stages", list(inputs), results, {"cse": True}))
        found[name] = Operations(*(a - b for a, b in zip(total, before, strict=True)))
        before = total
    return found
