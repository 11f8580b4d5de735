"""Names in C code: prefixes, parameters, comments. Names of a model become text, never code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..._types import shown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


C_KEYWORDS = _words(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "asm typeof fortran bool true false nullptr thread_local alignas alignof static_assert constexpr"
)
CPP_KEYWORDS = _words(
    "and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval "
    "constinit const_cast decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not "
    "not_eq operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try "
    "typeid typename using virtual wchar_t xor xor_eq"
)
COMMON_MACROS = _words("I NULL EOF errno assert stdin stdout stderr linux unix near far min max")
"""Names that old compilers, or headers included before the exported one, may define as macros."""

WRAPPER_LOCALS = _words("work_arg work_res work_iw work_w work_stride work_form work_chosen work_memory states")
"""Local variables of the wrapper, which no parameter may have as a name."""

STANDARD_HEADERS = _words(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"
)
OTHER_RESERVED = _words(
    "casadi example all help install preinstall clean edit_cache rebuild_cache test run_tests package package_source "
    "all_build zero_check"
)
"""CasADi's prefix, the file example.c, and the reserved targets of CMake."""

C_LIBRARY = _words(
    "abort abs acos asin atan atan2 atexit atof atoi atol bsearch calloc ceil clearerr clock close cos cosh creat "
    "ctime div dup environ exec exit exp fabs fclose feof ferror fflush fgetc fgets floor fmod fopen fork fprintf "
    "fputc fputs fread free freopen frexp fscanf fseek ftell fwrite getc getchar getenv gets gmtime index isalnum "
    "isalpha isdigit isspace kill labs ldexp ldiv link localtime log log10 longjmp main malloc mblen memchr memcmp "
    "memcpy memmove memset mktime modf open perror pipe pow printf putc putchar puts qsort raise rand read realloc "
    "remove rename rewind rindex scanf send setbuf setvbuf sin sinh sleep socket sprintf sqrt srand sscanf stat strcat "
    "strchr strcmp strcpy strlen strncmp strncpy strstr strtod strtol strtok system tan tanh tmpfile tmpnam tolower "
    "toupper ungetc unlink va_arg va_end va_start vprintf wait write"
)
"""Functions of the C library and of POSIX: files and targets with these names mislead linkers and readers."""

WINDOWS_DEVICES = _words("con prn aux nul clock$ conin$ conout$") | {
    f"{d}{k}" for d in ("com", "lpt") for k in range(10)
}
"""Names that Windows forbids for files, with any suffix."""

RESERVED_PREFIXES = C_LIBRARY | WINDOWS_DEVICES | C_KEYWORDS | CPP_KEYWORDS | STANDARD_HEADERS | OTHER_RESERVED

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def check_prefix(prefix: object) -> str:
    """`prefix`, if files, CMake targets and C names can begin with it; TypeError or ValueError otherwise."""
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string such as 'robot', got {shown(prefix)}")
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"prefix {shown(prefix)} is not a safe C name: use ASCII letters, digits and single underscores, with a "
            "letter first and no underscore last (names get one after the prefix)"
        )
    if prefix.lower() in RESERVED_PREFIXES:
        raise ValueError(
            f"prefix {shown(prefix)} is a keyword, the name of a standard header or function, of a device of Windows, "
            f"or reserved by the build files; choose another one, such as {shown('robot_' + prefix)}"
        )
    return prefix


def prefix_of(directory: Path) -> str:
    """A prefix made from a directory's base name: "build/left-arm" gives left_arm."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", directory.name).strip("_")
    if _PREFIX.fullmatch(stem) and stem.lower() not in RESERVED_PREFIXES:
        return stem
    return f"robot_{stem}".rstrip("_")


def parameters(labels: Iterable[str], prefix: str) -> list[str]:
    """A C parameter name for every label, all different; labels that are valid names stay unchanged."""
    taken: set[str] = set()
    result = []
    for label in labels:
        stem = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")
        unsafe = stem in C_KEYWORDS | CPP_KEYWORDS | COMMON_MACROS | WRAPPER_LOCALS or stem.startswith(f"{prefix}_")
        if not stem or stem[0].isdigit() or unsafe:
            stem = f"x_{stem}".rstrip("_")
        name, k = stem, 2
        while name in taken:
            name, k = f"{stem}_{k}", k + 1
        taken.add(name)
        result.append(name)
    return result


def macro_stems(names: list[str]) -> list[str]:
    """Parameter names as parts of macros: in capitals, except those that differ only by case."""
    capitals = [name.upper() for name in names]
    return [name if capitals.count(c) > 1 else c for name, c in zip(names, capitals, strict=True)]


def printable(text: str) -> str:
    """`text` for a C comment: printable ASCII that cannot end the comment, start another, or continue a line.

    Other characters become their code point, so that names stay different: "a*/" becomes "a<U+002A>/".
    """
    return "".join(c if " " <= c <= "~" and c not in '*\\?<>"' else f"<U+{ord(c):04X}>" for c in text)


def filled(items: Iterable[str], separator: str = ", ", indent: str = " *   ", width: int = 110) -> list[str]:
    """Items joined and wrapped into lines of equal indent; no item is split."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(separator) + len(item) <= width:
            lines[-1] += separator + item
        else:
            if lines:
                lines[-1] += separator.rstrip()
            lines.append(indent + item)
    return lines
