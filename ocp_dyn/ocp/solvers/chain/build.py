"""The library of the chain solver in the cache of compiled functions: its search, and its compilation beside other work.

All C files of this room are compiled together, once for every machine, which takes a few seconds. A thread searches and
compiles, so that a solve builds its program meanwhile. The compilers are programs of their own and end with this process;
of two processes that want the same library one compiles it, and a library appears in the cache complete or not at all.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ....codegen.machine_code import cache
from ....codegen.machine_code.identity import digest, made_by
from ....codegen.machine_code.processes import Group
from ....codegen.machine_code.toolchain import WRITTEN, Compiler, find_compiler

FOLDER = Path(__file__).parent
"""Folder of the C files."""

LIBRARIES = ("-pthread",)

NO_COMPILER = "there is no C compiler: install gcc or clang, or name one in CC"
NOT_KEPT = "its library is not in the cache, and compile=False compiles nothing"
COMPILING = "its library was still being compiled; a later solve can use it"

LONGEST_REASON = 600
"""Number of letters of an error that a reason repeats."""

LOCK_INTERVAL = 0.05
"""Time between two looks at a lock that another process holds [s]."""

LONGEST_WAIT = 120.0
"""Time after which another process that holds the lock is taken for stopped [s]: a compilation takes a few seconds."""

END_SECONDS = 5.0
"""Longest time that the end of this process waits for a compilation to clean up [s]."""


class Search(threading.Thread):
    """The search for the library in the cache, and its compilation if it is missing and `build` is True; aside: the
    compilers leave the processors to other programs.

    looked: set once the cache has been looked up. path: the library, None if there is none, for this `reason`.
    """

    def __init__(self, build: bool, aside: bool = False) -> None:
        super().__init__(name="chain library", daemon=True)
        self.build, self.aside, self.looked = build, aside, threading.Event()
        self.path: Path | None = None
        self.reason = ""
        self._group: Group | None = None
        self._ended = False

    def run(self) -> None:
        try:
            self._find()
        except (OSError, RuntimeError, ValueError) as error:
            self.reason = f"its library cannot be made: {' '.join(str(error).split())[:LONGEST_REASON]}"
        finally:
            self.looked.set()

    def found(self, wait: bool) -> tuple[Path | None, str]:
        """The path of the library, or None and the reason; wait: until a compilation has ended."""
        self.looked.wait()
        if wait:
            self.join()
        return self.path, "" if self.path else self.reason or COMPILING

    def serves(self, build: bool, again: bool) -> bool:
        """Whether this search answers a request, or will do so; again: an earlier failure does not count."""
        if self.is_alive():
            return self.build or not build
        if self.path is not None:
            return self.path.is_file()
        return bool(self.reason) and (self.build or not build) and not again

    def end(self) -> None:
        """Ends a compilation."""
        self._ended = True
        if self._group is not None:
            self._group.end()
        self.join(END_SECONDS)

    def _find(self) -> None:
        compiler = find_compiler()
        if compiler is None:
            self.reason = NO_COMPILER
            return
        key = key_of(compiler)
        if (known := _found.get(key)) is not None and known.is_file():
            self.path = known
            return
        place = cache.directory()
        self.path = cache.find(place, key)
        if self.path is not None:
            _found[key] = self.path
            return
        if not self.build:
            self.reason = NOT_KEPT
            return
        self.looked.set()
        with self._alone(place / f"{key}.lock"):
            self.path = cache.find(place, key) or self._compiled(compiler, place, key)
        _found[key] = self.path

    def _compiled(self, compiler: Compiler, place: Path, key: str) -> Path:
        cache.bound()  # raises for a wrong setting before the compiler runs
        with cache.stage(place) as stage:
            self._group = group = Group(self.aside)
            try:
                objects = self._objects(compiler, group, stage)
                compiler.link(group, objects, stage / "chain.so", *LIBRARIES)
            finally:
                group.end()
            path = cache.store(place, key, stage / "chain.so")
        cache.prune(place)
        return path

    def _objects(self, compiler: Compiler, group: Group, stage: Path) -> list[Path]:
        """Compiles all C files side by side; RuntimeError with the words of the compiler."""
        made = {source: stage / f"{source.stem}.o" for source in sources() if source.suffix == ".c"}
        faults: list[RuntimeError] = []

        def compile_one(source: Path, to: Path) -> None:
            try:
                if self._ended:
                    raise RuntimeError("the compilation was ended")
                compiler.compile_written(group, source, to)
            except (OSError, RuntimeError) as error:
                faults.append(RuntimeError(str(error)))

        threads = [threading.Thread(target=compile_one, args=pair, daemon=True) for pair in made.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        return list(made.values())

    @contextlib.contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Waits until no other process compiles this library, or until LONGEST_WAIT has passed; on systems without locks,
        two may do so at once."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        begin = time.monotonic()
        with open(path, "w", encoding="ascii") as file:
            while not self._ended and time.monotonic() - begin < LONGEST_WAIT:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(LOCK_INTERVAL)
                except OSError:  # a file system without locks
                    break
                else:
                    break
            try:
                yield
            finally:
                path.unlink(missing_ok=True)


def sources() -> list[Path]:
    """The C files and headers of this room."""
    return sorted((*FOLDER.glob("*.c"), *FOLDER.glob("*.h")))


def key_of(compiler: Compiler) -> str:
    """Digest of all that the library depends on: sources, compiler with target and version, and flags."""
    texts = (text for path in sources() for text in (path.name, path.read_text(encoding="utf-8")))
    return digest(*texts, compiler.identity, *WRITTEN, *LIBRARIES, made_by(find_compiler.__module__))


_searches: dict[tuple[str, ...], Search] = {}
_found: dict[str, Path] = {}  # libraries by their keys: this process may have them loaded, whatever cache is set now
_lock = threading.Lock()


def search(build: bool, again: bool = False, aside: bool = False) -> Search:
    """The search for the library in the present environment, started if none serves this request.

    build: compiles the library if it is missing. again: does so after an earlier compilation has failed. aside: nothing
    waits for the compilation.
    """
    setting = tuple(os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "HOME", "CC", "PATH"))
    with _lock:
        known = _searches.get(setting)
        if known is None or not known.serves(build, again):
            known = _searches[setting] = Search(build, aside)
            known.start()
    return known


def _end_all() -> None:
    for each in list(_searches.values()):
        if each.is_alive():
            each.end()


def _forget_all() -> None:
    """In a new process the threads of the old one do not run."""
    global _lock
    _lock = threading.Lock()
    _searches.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
