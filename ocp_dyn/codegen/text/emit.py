"""C code from the instruction list of a Function: static single assignment, divided into chunks that compile fast.

CasADi's generator writes one function with reused variables, for which a compiler needs minutes beyond some 50,000
instructions. Here every value is assigned once and is local to a chunk of some 500 statements; only values that another
chunk needs pass through the array `w`. So the compile time grows linearly. The type `V` of a value is defined
elsewhere, by `lanes.header`: a number, or a vector with one state in every lane. The macro `CHUNK` makes the chunks
static, or visible to other files.
"""

from __future__ import annotations

import casadi as ca

from ..._base.types import is_whole, repr_in_message, truth
from .packed import PackedWriter
from .quotients import shared_reciprocals
from .values import values_of
from .writer import Kernel, Writer


def emit(
    f: ca.Function, name: str, *, dense: bool = True, pack: bool = False, widest: int = 4, reciprocals: bool = False
) -> Kernel:
    """The C code of `f` as a function of the C name `name`.

    f: any Function that `expand` makes scalar. dense: arguments are dense and row-major; otherwise they hold the
    structural nonzeros, column by column, as in CasADi. Equal values are computed once (a b = b a), sine and cosine of
    one angle together, unused values not at all. pack: isomorphic operations, such as those of a left and a right limb,
    share vector statements (`pairs`); such code is for one state at a time and for compilers with vector extensions.
    widest: largest number of lanes of a statement, 2 or 4; without registers of four numbers, four lanes are slow.
    reciprocals: quotients of one denominator become products with its reciprocal, which is faster in lanes and rounds
    twice. Cost: about 6 us and 45 bytes per instruction, packed 40 us.

    Raises ValueError for operations without a counterpart in C: a call of another Function that may not be inlined,
    printing, the inverse error function.

    >>> od.codegen.emit(od.function(od.gravity_force, rod), "tau_g").statements  # sine, product, sign
    3
    """
    if not isinstance(f, ca.Function):
        raise TypeError(
            f"emit needs a casadi.Function, such as od.function(algorithm, model) makes, got {repr_in_message(f)}"
        )
    truth(dense, "dense"), truth(pack, "pack"), truth(reciprocals, "reciprocals")
    if not (is_whole(widest) and widest in (2, 4)):
        raise ValueError(f"widest must be 2 or 4, the largest number of lanes, got {repr_in_message(widest)}")
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ValueError(
            f"emit needs a C name for the function, of letters, digits and underscores, got {repr_in_message(name)}"
        )
    scalar = f if f.is_a("SXFunction") else f.expand()
    values, stores = values_of(scalar, f.name())
    if reciprocals:
        values, stores = shared_reciprocals(values, stores)
    packed = PackedWriter(scalar, name, values, stores, dense, widest).kernel() if pack else None
    if packed and packed.packing and packed.packing.vectors:
        return packed
    return Writer(scalar, name, values, stores, dense).kernel()
