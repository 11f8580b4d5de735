"""Definitions for the emitted C code: the type `V` of one state or of several states at once, and its operations.

With one lane, `V` is a number and the code is C99. With more lanes, `V` is a vector type, an extension of GCC and
Clang, which they compile to the instructions of the target (AVX-512, AVX2, SSE2, NEON, or scalar ones).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..._base.templates import lines_of
from .values import BINARY_LIBRARY
from .writer import Kernel

TEMPLATES = Path(__file__).parent / "templates"

LARGEST_ANGLE = 1e4
"""Angles below this size are reduced by the emitted code, larger ones by libm [rad]."""


@dataclass(frozen=True)
class Precision:
    """A floating-point format: its C name, mantissa bits, and how sine and cosine are computed in it.

    parts: numbers whose sum is pi/2. Integer multiples of all but the last two are exact for angles up to
    LARGEST_ANGLE, and so is their difference from the angle. sine, cosine: number of Taylor terms beyond
    x and 1 - x^2/2.
    """

    type: str
    integer: str
    bits: int
    mantissa: int
    suffix: str
    parts: tuple[float, ...]
    sine: int
    cosine: int


def _half_pi() -> Fraction:
    """pi/2 to 60 digits, by Machin's formula."""

    def arctan(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(50)), Fraction(0))

    return 8 * arctan(5) - 2 * arctan(239)


def _parts(bits: int, count: int) -> tuple[float, ...]:
    """pi/2 as a sum of `count` numbers of `bits` bits each and a remainder."""
    rest, parts = _half_pi(), []
    for k in range(count):
        unit = Fraction(2) ** (1 - bits * (k + 1))
        parts.append(unit * (rest // unit))
        rest -= parts[-1]
    return (*(float(part) for part in parts), float(rest))


# a product of 13 bits (2 LARGEST_ANGLE / pi) with 33 or 11 bits is exact in 53 or 24 bits
PRECISIONS = {
    "double": Precision("double", "long long", 64, 53, "", _parts(33, 2), 8, 7),
    "single": Precision("float", "int", 32, 24, "f", _parts(11, 3), 4, 4),
}


def header(lanes: int, precision: str, kernel: Kernel) -> str:
    """Definitions for the emitted code: V, its operations on `lanes` states, and the functions that `kernel` calls.

    For a packed kernel, also vectors V2, V4 of values of one state, and the same operations on these.
    """
    p = PRECISIONS[precision]
    lines = [*lines_of(TEMPLATES / "common.h.in"), f"typedef {p.type} R;"]
    lines += _operations(lanes, p, kernel.library, kernel.angles)
    widths = sorted({2, *kernel.packing.vectors}) if kernel.packing else []
    for width in widths:
        lines += _packed(width, p, kernel.angles)
    return "\n".join(lines) + "\n"


def _operations(lanes: int, p: Precision, library: Iterable[str], angles: bool) -> list[str]:
    """The type V of `lanes` numbers, and its operations."""
    lines = lines_of(
        TEMPLATES / "operations.h.in",
        several=lanes > 1,
        integer=p.integer,
        bytes=lanes * p.bits // 8,
        lanes=lanes,
        halves=_halves(lanes),
    )
    for name in library:
        lines += _library(name, p.suffix, lanes)
    return [*lines, *(_sincos(lanes, p) if angles else [])]


def _packed(width: int, p: Precision, angles: bool) -> list[str]:
    """The definitions for `width` lanes once more, under names that end in this number, and access to memory."""
    names = r"\b(V|I|U|S|PICK|TRUTH|ANY|SHUFFLE|LANES|any|bits|number|far)\b"
    lines = [re.sub(names, rf"\g<1>{width}", line.replace("sincos_(", f"sincos_{width}("))
             for line in _operations(width, p, (), angles) if not line.startswith(("#define K(",
                 "#define AT("))]  # fmt: skip
    # numbers of one state lie anywhere: only the type of the access says that they are read as a vector
    four = width == 4  # without AVX, registers hold two numbers of 64 bits
    return lines + lines_of(
        TEMPLATES / "packed.h.in",
        width=width,
        bytes=width * p.bits // 8,
        aligned=p.bits // 8,
        four=four,
        angles=four and angles,
        halves=four and angles and p.bits == 64,
    )


def _halves(lanes: int) -> list[str]:
    """Statements that tell whether a mask is set in any lane: they combine the halves, then the quarters, ..."""
    lines, half = [], lanes // 2
    while half:
        order = ", ".join(str((k + half) % lanes) for k in range(lanes))
        lines.append(f"    m |= SHUFFLE(m, m, {order});")
        half //= 2
    return lines


def _library(name: str, suffix: str, lanes: int) -> list[str]:
    call = name + suffix
    if lanes == 1:
        return [f"#define v_{name} {call}"]
    if name in BINARY_LIBRARY:
        head, argument = f"static V v_{name}(V a, V b)", "a[k], b[k]"
    else:
        head, argument = f"static V v_{name}(V a)", "a[k]"
    return [head, f"{{ int k; V r = a; for (k = 0; k < LANES; ++k) r[k] = {call}({argument}); return r; }}"]


def _sincos(lanes: int, p: Precision) -> list[str]:
    """Sine and cosine together: Cody and Waite's reduction to |r| <= pi/4, then Taylor's polynomials.

    The remainder is r + e, with e the rounding error of r (Knuth's two-sum), so that it is accurate to the last bit
    also near multiples of pi/2. The multiple n is read from the last bits of x 2/pi + 1.5 2^(mantissa - 1).

    sin(r + e) = r + (r^3 p + e cos r), cos(r + e) = h + ((1 - h) - r^2/2 + r^4 p - e sin r), h = 1 - r^2/2. Large
    angles, infinities and nan go to libm, lane by lane.
    """
    *exact, last, tail = p.parts
    return lines_of(
        TEMPLATES / "sincos.h.in",
        several=lanes > 1,
        largest=repr(LARGEST_ANGLE),
        f=p.suffix,
        two_by_pi=(2 / math.pi).hex(),
        magic=(1.5 * 2.0 ** (p.mantissa - 1)).hex(),
        exact="".join(f" - k * K({part.hex()})" for part in exact),
        last=last.hex(),
        tail=tail.hex(),
        sines=_horner([(-1) ** k / math.factorial(2 * k + 1) for k in range(1, p.sine + 1)]),
        cosines=_horner([(-1) ** k / math.factorial(2 * k) for k in range(2, p.cosine + 2)]),
        shift=p.bits - 2,
    )


def _horner(coefficients: list[float]) -> str:
    text = f"K({coefficients[-1].hex()})"
    for c in reversed(coefficients[:-1]):
        text = f"K({c.hex()}) + z * ({text})"
    return text


def transpose(lanes: int) -> list[str]:
    """C function that transposes LANES rows in place: swaps the off-diagonal blocks of half the size, a quarter, ..."""
    lines = ["static inline __attribute__((always_inline, unused)) void transpose(V *v)", "{", "    V a, b;"]
    half = lanes // 2
    while half:
        low = ", ".join(str(k if not k & half else lanes + k - half) for k in range(lanes))
        high = ", ".join(str(k + half if not k & half else lanes + k) for k in range(lanes))
        for i in (i for i in range(lanes) if not i & half):
            lines.append(f"    a = v[{i}], b = v[{i + half}];")
            lines.append(f"    v[{i}] = SHUFFLE(a, b, {low}), v[{i + half}] = SHUFFLE(a, b, {high});")
        half //= 2
    return [*lines, "}"]
