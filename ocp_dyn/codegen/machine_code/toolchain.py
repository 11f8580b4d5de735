"""The C compiler of this machine: which one, for which processor, and how it is called."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .processes import Group

FLAGS = ("-std=gnu11", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-fvisibility=hidden", "-w")
"""Contraction to fused multiply-adds is wanted; nothing that lets the compiler change the meaning of numbers."""

OPTIMISED = ("-O2",)
OPTIMISED_LARGE = ("-O1", "-fschedule-insns2", "-fexpensive-optimizations")
"""The last is what lets GCC contract to fused multiply-adds at all: a sixth of the time, at no cost in compiling."""
LARGE = 24_000
"""Number of instructions beyond which -O2 is not worth its compile time: it makes the code only about 10 % faster."""

_SPARED = (
    *("-fno-tree-slp-vectorize", "-fno-tree-dse", "-fno-dse", "-fno-tree-pta", "-fno-tree-bit-ccp"),
    *("-fno-ipa-modref", "-fno-ipa-pure-const"),
)
"""Passes of GCC that find nothing in text where every value is assigned and stored once; a quarter of its time."""

_NATIVE = (("-march=native",), ("-mcpu=native",), ())
_HEADERS = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"


@dataclass(frozen=True)
class Compiler:
    """command and flags; identity: digest of its path and of all it predefines: version, target, instruction set."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str

    @property
    def name(self) -> str:
        return " ".join(self.command)

    def compile(self, group: Group, source: Path, made: Path, instructions: int = 0) -> None:
        """An object file of a C file that belongs to a function of so many instructions."""
        self._run(group, *(OPTIMISED_LARGE if instructions > LARGE else OPTIMISED), "-c", str(source), "-o", str(made))

    def link(self, group: Group, objects: list[Path], made: Path) -> None:
        """A shared library of object files."""
        self._run(group, "-shared", *map(str, objects), "-o", str(made), "-lm")

    def _run(self, group: Group, *arguments: str) -> None:
        status, words = group.run([*self.command, *self.flags, *arguments])
        if status:
            said = "\n".join(words.strip().splitlines()[:10]) or "nothing"
            raise RuntimeError(
                f"{self.name} failed with exit status {status} and said:\n{said}\n"
                "Another compiler may be named in the environment variable CC"
            )


def find_compiler() -> Compiler | None:
    """The compiler that CC names, else cc, gcc or clang of the PATH; the first that has the C headers, or None."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def _find(named: str, path: str) -> Compiler | None:
    for command in filter(None, (tuple(shlex.split(named)), ("cc",), ("gcc",), ("clang",))):
        program = shutil.which(command[0], path=path)
        if program:
            for chosen in ((*spared, *native) for native in _NATIVE for spared in (_SPARED, ())):
                identity = _identity((program, *command[1:], *FLAGS, *OPTIMISED_LARGE, *chosen))
                if identity:
                    return Compiler((program, *command[1:]), (*FLAGS, *chosen), identity)
    return None


def _identity(command: tuple[str, ...]) -> str | None:
    """None if the compiler does not take these flags or lacks the headers."""
    try:
        result = subprocess.run(
            [*command, "-dM", "-E", "-x", "c", "-"],
            input=_HEADERS.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if result.returncode:
        return None
    return hashlib.sha256("\0".join(command).encode() + result.stdout).hexdigest()
