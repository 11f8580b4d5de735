"""Variants of the libraries for processors of one kind, and the choice among them; used by the package build too.

This module imports nothing but Python's own modules: the package build has no CasADi.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
"""Folder with a folder of C files for every library."""

NAMES = ("block_ldl", "fitting", "riccati", "stage_qp", "tables")
"""Names of the libraries, and of their folders."""

PREBUILT = FOLDER / "prebuilt"
"""Folder of the libraries that a wheel brings; a checkout has none."""

CPU_INFO = Path("/proc/cpuinfo")


class Variant(NamedTuple):
    """A set of instructions: its name, the compiler's flag, the machines that may have it, and what Linux must list
    among the features of a processor that has it."""

    name: str
    flag: str
    machines: tuple[str, ...]
    features: frozenset[str]


_V2 = frozenset(["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"])
_V3 = _V2 | frozenset(["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"])
_V4 = _V3 | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
_X86, _ARM = ("x86_64", "AMD64"), ("aarch64", "arm64")

VARIANTS = (
    Variant("x86-64-v4", "-march=x86-64-v4", _X86, _V4),
    Variant("x86-64-v3", "-march=x86-64-v3", _X86, _V3),
    Variant("x86-64-v2", "-march=x86-64-v2", _X86, _V2),
    Variant("arm64", "-march=armv8-a", _ARM, frozenset()),
)
"""All variants; of those that a processor has, the first is the fastest. The levels of x86-64 are those of the System V
ABI, in Linux's names of features."""


def variants_of(machine: str) -> list[Variant]:
    """The variants for a kind of machine, such as "x86_64"; none for a kind that has none."""
    return [variant for variant in VARIANTS if machine in variant.machines]


def supported(machine: str, features: AbstractSet[str]) -> list[Variant]:
    """The variants that a processor with these features runs, the fastest first."""
    return [variant for variant in variants_of(machine) if variant.features <= features]


def processor_features() -> frozenset[str]:
    """Features that Linux lists for the first processor; none on other systems."""
    with contextlib.suppress(OSError):
        for line in CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, listed = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(listed.split())
    return frozenset()


def prebuilt(name: str) -> Path | None:
    """The file of a library that came with the package for this processor; None if there is none."""
    if not PREBUILT.is_dir():
        return None
    paths = (PREBUILT / file_name(name, variant) for variant in supported(platform.machine(), processor_features()))
    return next((path for path in paths if path.is_file()), None)


def file_name(name: str, variant: Variant) -> str:
    return f"{name}-{variant.name}.so"


def sources(folder: Path) -> list[Path]:
    """The C files and headers of a library."""
    return sorted((*folder.glob("*.c"), *folder.glob("*.h")))
