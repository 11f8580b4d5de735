"""The C compiler of this machine: search, flags, and calls.

This module imports nothing but Python's own modules: the package build has no CasADi.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .processes import Group

FLAGS = ("-std=gnu11", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-fvisibility=hidden", "-w")
"""Flags of all calls: they allow fused multiply-adds, but no other change of floating-point results."""

OPTIMIZED = ("-O2",)
OPTIMIZED_LARGE = ("-O1", "-fschedule-insns2", "-fexpensive-optimizations")
"""Flags for large functions. GCC needs the last one for fused multiply-adds, which save a sixth of the run time at no
cost in compile time."""

LARGE = 24_000
"""Number of instructions beyond which -O2 is not worth its compile time: it makes the code only about 10 % faster."""

_SKIPPED_PASSES = (
    *("-fno-tree-slp-vectorize", "-fno-tree-dse", "-fno-dse", "-fno-tree-pta", "-fno-tree-bit-ccp"),
    *("-fno-ipa-modref", "-fno-ipa-pure-const"),
)
"""Flags against GCC's passes that cannot improve code in which every value is assigned once; they save a quarter of the
compile time."""

WRITTEN = ("-O3", "-pthread")
"""Flags for C that was written by hand, in place of those for generated code: all optimizations, and threads."""

REMEDY = "install gcc or clang, or name one in the environment variable CC" + (
    "; on Windows that is one of MinGW-w64, because MSVC's cl does not compile GNU C" if sys.platform == "win32" else ""
)
"""Advice where no compiler is found."""

STANDING_ALONE = ("-static",) if sys.platform == "win32" else ()
"""Flags for a shared library that needs no other: Python on Windows does not look for MinGW's on the PATH."""

_NATIVE = (("-march=native",), ("-mcpu=native",), ())
_HEADERS = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its command and flags.

    identity: digest of its path and of its predefined macros, which tell version, target and instruction set. vectors:
    how many doubles a vector register holds, 2 or 4; 0 without the vector extensions of GCC. Macros tell this, too.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str
    vectors: int

    @property
    def name(self) -> str:
        return " ".join(self.command)

    def compile(self, group: Group, source: Path, made: Path, instructions: int = 0) -> None:
        """Compiles a C file to an object file; instructions: size of the function that it belongs to."""
        self._run(group, *(OPTIMIZED_LARGE if instructions > LARGE else OPTIMIZED), "-c", str(source), "-o", str(made))

    def make_library(
        self, group: Group, sources: Sequence[Path], stage: Path, made: Path, processor: str | None = None
    ) -> None:
        """Compiles C files that were written by hand side by side, in the folder `stage`, and links them.

        processor: the flag of the processors that can run the library; default: this one.
        """
        own = [flag for flag in self.flags if flag not in _SKIPPED_PASSES]
        flags = own if processor is None else [*(flag for flag in own if (flag,) not in _NATIVE), processor]
        compiler = replace(self, flags=(*flags, *WRITTEN))
        objects = {source: stage / f"{made.stem}-{source.stem}.o" for source in sources if source.suffix == ".c"}
        faults: list[Exception] = []

        def compile_one(source: Path, to: Path) -> None:
            try:
                compiler._run(group, "-c", str(source), "-o", str(to))
            except (OSError, RuntimeError) as error:
                faults.append(error)

        # not a pool of threads: the end of the process would wait for it before it ends the compilers
        threads = [threading.Thread(target=compile_one, args=pair, daemon=True) for pair in objects.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        compiler.link(group, list(objects.values()), made)

    def link(self, group: Group, objects: Sequence[Path], made: Path) -> None:
        """Links object files to a shared library."""
        self._run(group, "-shared", *STANDING_ALONE, *map(str, objects), "-o", str(made), "-lm")

    def _run(self, group: Group, *arguments: str) -> None:
        status, words = group.run([*self.command, *self.flags, *arguments])
        if status:
            message = "\n".join(words.strip().splitlines()[:10]) or "no message"
            raise RuntimeError(
                f"{self.name} failed with exit status {status}:\n{message}\n"
                "To use another compiler, set the environment variable CC"
            )


def find_compiler() -> Compiler | None:
    """The first working compiler with the C headers: CC of the environment, or cc, gcc, clang of the PATH; else
    None."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def _find(named: str, path: str) -> Compiler | None:
    for command in filter(None, (_words(named), ("cc",), ("gcc",), ("clang",))):
        program = shutil.which(command[0], path=path)
        if program:
            for chosen in ((*spared, *native) for native in _NATIVE for spared in (_SKIPPED_PASSES, ())):
                call = (program, *command[1:], *FLAGS, *OPTIMIZED_LARGE, *chosen)
                macros = _macros(call)
                if macros is not None:
                    identity = hashlib.sha256("\0".join(call).encode() + macros).hexdigest()
                    vectors = 0 if b"#define __GNUC__ " not in macros else 4 if b"#define __AVX__ " in macros else 2
                    return Compiler((program, *command[1:]), (*FLAGS, *chosen), identity, vectors)
    return None


def _words(command: str) -> tuple[str, ...]:
    """The words of a command, or the path of a program whose name has blanks; none if a quotation has no end.

    Backslashes are parts of paths on Windows.
    """
    if command and shutil.which(command):
        return (command,)
    try:
        return tuple(word.strip('"') for word in shlex.split(command, posix=os.name == "posix"))
    except ValueError:
        return ()


def _macros(command: tuple[str, ...]) -> bytes | None:
    """A compiler's predefined macros; None if it rejects these flags or has no C headers."""
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
    return None if result.returncode else result.stdout
