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

from .values import BINARY_LIBRARY
from .writer import Kernel

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
    lines = ["#include <math.h>", "#include <stdlib.h>", "#include <string.h>", "", *_COMMON, f"typedef {p.type} R;"]
    lines += _operations(lanes, p, kernel.library, kernel.angles)
    widths = sorted({2, *kernel.packing.vectors}) if kernel.packing else []
    for width in widths:
        lines += _packed(width, p, kernel.angles)
    return "\n".join(lines) + "\n"


def _operations(lanes: int, p: Precision, library: Iterable[str], angles: bool) -> list[str]:
    """The type V of `lanes` numbers, and its operations."""
    unsigned = f"unsigned {p.integer}"
    if lanes == 1:
        lines = ["typedef R V;", f"typedef {unsigned} U;", *_ONE]
    else:
        size = f"__attribute__((vector_size({lanes * p.bits // 8})))"
        lines = [f"typedef R V {size};", f"typedef {p.integer} I {size};", f"typedef {unsigned} U {size};", *_MANY]
        lines += [f"enum {{ LANES = {lanes} }};", *_any(lanes)]
    for name in library:
        lines += _library(name, p.suffix, lanes)
    return [*lines, *(_sincos(lanes, p) if angles else [])]


def _packed(width: int, p: Precision, angles: bool) -> list[str]:
    """The definitions for `width` lanes once more, under names that end in this number, and access to memory."""
    names = r"\b(V|I|U|S|PICK|TRUTH|ANY|SHUFFLE|LANES|any|bits|number|far)\b"
    lines = [re.sub(names, rf"\g<1>{width}", line.replace("sincos_(", f"sincos_{width}("))
             for line in _operations(width, p, (), angles) if not line.startswith(("#define K(", "#define AT("))]  # fmt: skip
    # numbers of one state lie anywhere: only the type of the access says that they are read as a vector
    size = f"vector_size({width * p.bits // 8}), aligned({p.bits // 8}), may_alias"
    lines += [f"typedef R W{width} __attribute__(({size}));"]
    lines += [
        f"#define LOAD{width}(p) (*(const W{width} *)(p))",
        f"#define STORE{width}(p, v) (*(W{width} *)(p) = (v))",
    ]
    if width == 4:
        lines += ["#if defined(__clang__) || __GNUC__ >= 12"]
        lines += ["#define JOIN4(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)", "#else"]
        lines += ["#define JOIN4(a, b) (V4){(a)[0], (a)[1], (b)[0], (b)[1]}", "#endif"]
    return lines + (_angles(p) if angles and width == 4 else [])


def _angles(p: Precision) -> list[str]:
    """C function that writes the sines and then the cosines of four angles to w."""
    whole = [
        "    V4 sine, cosine;",
        "    sincos_4((V4){a, b, c, d}, &sine, &cosine);",
        "    STORE4(w, sine);",
        "    STORE4(w + 4, cosine);",
    ]
    halves = ["    V2 sine, cosine;"]
    for k in (0, 2):
        halves += [f"    sincos_2((V2){{{'abcd'[k]}, {'abcd'[k + 1]}}}, &sine, &cosine);"]
        halves += [f"    STORE2(w + {k}, sine);", f"    STORE2(w + {k + 4}, cosine);"]
    # without AVX, registers hold two numbers of 64 bits
    body = ["#if defined(__AVX__)", *whole, "#else", *halves, "#endif"] if p.bits == 64 else whole
    return ["static NOINLINE void angles_(R a, R b, R c, R d, R *w)", "{", *body, "}"]


_COMMON = [
    "#if defined(__GNUC__)",
    '#pragma GCC diagnostic ignored "-Wpsabi"',
    "#define NOINLINE __attribute__((noinline, unused))",
    "#define RESTRICT __restrict__",
    "#define INLINE static inline __attribute__((always_inline, unused))",
    '#define EXPORT __attribute__((visibility("default")))',
    "#else",
    "#define NOINLINE",
    "#define RESTRICT restrict",
    "#define INLINE static inline",
    "#define EXPORT",
    "#endif",
    "#ifndef CHUNK",
    "#define CHUNK static NOINLINE",
    "#endif",
]
_ONE = [
    "#define K(x) ((R)(x))",
    "#define S(x) ((R)(x))",
    "#define PICK(c, a, b) ((c) ? (a) : (b))",
    "#define TRUTH(c) ((c) ? K(1.0) : K(0.0))",
    "#define AT(slot, place) (place)",
    "INLINE U bits(V x) { U u; memcpy(&u, &x, sizeof u); return u; }",
    "INLINE V number(U u) { V x; memcpy(&x, &u, sizeof x); return x; }",
]
_MANY = [
    "#define K(x) ((R)(x))",
    "#define S(x) ((R)(x) - (V){0})",
    "#define PICK(c, a, b) ((V)(((I)(c) & (I)(a)) | (~(I)(c) & (I)(b))))",
    "#define TRUTH(c) ((V)((I)(c) & (I)S(1.0)))",
    "#define AT(slot, place) (slot)",
    "#define ANY(c) any((I)(c))",
    "INLINE U bits(V x) { return (U)x; }",
    "INLINE V number(U u) { return (V)u; }",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)",
    "#else",
    "#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (I){__VA_ARGS__})",
    "#endif",
]


def _any(lanes: int) -> list[str]:
    """C function that tells whether a mask is set in any lane: combines the halves, then the quarters, ..."""
    lines = ["INLINE int any(I m)", "{"]
    half = lanes // 2
    while half:
        order = ", ".join(str((k + half) % lanes) for k in range(lanes))
        lines.append(f"    m |= SHUFFLE(m, m, {order});")
        half //= 2
    return [*lines, "    return m[0] != 0;", "}"]


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
    """
    f = p.suffix
    magic = (1.5 * 2.0 ** (p.mantissa - 1)).hex()
    exact, last, tail = p.parts[:-2], p.parts[-2], p.parts[-1]
    lines = [*_far(lanes, f), "INLINE void sincos_(V x, V *sine, V *cosine)", "{"]
    lines += [f"    const V shifted = x * K({(2 / math.pi).hex()}) + K({magic}), k = shifted - K({magic});"]
    lines += ["    const U n = bits(shifted);"]
    lines += [f"    const V a = x{''.join(f' - k * K({part.hex()})' for part in exact)}, b = k * K({last.hex()});"]
    lines += ["    const V t = a - b, u = t - a, lost = (a - (t - u)) - (b + u);"]
    lines += [f"    const V rest = lost - k * K({tail.hex()});"]
    lines += ["    const V r = t + rest, e = (t - r) + rest, z = r * r;"]
    sines = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, p.sine + 1)]
    cosines = [(-1) ** k / math.factorial(2 * k) for k in range(2, p.cosine + 2)]
    lines += [f"    const V ps = {_horner(sines)};", f"    const V pc = {_horner(cosines)};"]
    # sin(r + e) = r + (r^3 p + e cos r), cos(r + e) = h + ((1 - h) - r^2/2 + r^4 p - e sin r), h = 1 - r^2/2
    lines += ["    const V half = K(0.5) * z, h = K(1.0) - half;"]
    lines += ["    const V s = r + (z * (r * ps) + e * h);"]
    lines += ["    const V c = h + (((K(1.0) - h) - half) + (z * (z * pc) - r * e));"]
    shift = p.bits - 2
    lines += [f"    *sine = number(bits(PICK((n & 1) != 0, c, s)) ^ ((n & 2) << {shift}));"]
    lines += [f"    *cosine = number(bits(PICK((n & 1) != 0, s, c)) ^ (((n + 1) & 2) << {shift}));"]
    inside = f"(x < K({LARGEST_ANGLE!r})) & (x > K(-{LARGEST_ANGLE!r}))"
    return [
        *lines,
        f"    if (ANY(~({inside})))" if lanes > 1 else f"    if (!({inside}))",
        "        far(x, sine, cosine);",
        "}",
    ]


def _far(lanes: int, suffix: str) -> list[str]:
    """C function for large angles, infinities and nan: calls libm, lane by lane."""
    lines = ["static NOINLINE void far(V x, V *sine, V *cosine)", "{"]
    if lanes == 1:
        return [*lines, f"    *sine = sin{suffix}(x), *cosine = cos{suffix}(x);", "}"]
    return [
        *lines,
        "    int k;",
        "    for (k = 0; k < LANES; ++k)",
        f"        if (!(x[k] < K({LARGEST_ANGLE!r}) && x[k] > K(-{LARGEST_ANGLE!r})))",
        f"            (*sine)[k] = sin{suffix}(x[k]), (*cosine)[k] = cos{suffix}(x[k]);",
        "}",
    ]


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
