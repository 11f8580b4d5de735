"""The loader of the library's own C: a folder of C files becomes a loaded library.

A library that came with the package is loaded at once. In a checkout, and in a package that was built without a
compiler, it is looked for in the cache of compiled code and else compiled, once for every machine, in a thread beside
other work. Its states:

    looking --> ready                      it came with the package, or the cache has it
       |          ^
       v          |
     making ------+                        a thread compiles it; only `obtain(wait=True)` waits for that
       |
       v
    missing                                `reason` tells why: no compiler, or one that fails

Compilers are programs of their own and end with this process. Of two processes that want the same library one compiles
it, and a library appears in the cache complete or not at all.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .._base import cache
from .._base.files import alone_in
from .._base.identity import digest
from . import variants
from .processes import Group
from .toolchain import REMEDY, WRITTEN, Compiler, find_compiler

NO_COMPILER = "is missing: this installation came without it, and there is no C compiler to make it: " + REMEDY
MAKING = "is still being made beside this run; later runs use it"

LONGEST_REASON = 600
"""Number of letters of an error that a reason repeats."""

LONGEST_WAIT = 120.0
"""Time after which another process that holds the lock is taken for stopped [s]: a compilation takes a few seconds."""

END_SECONDS = 5.0
"""Longest time that the end of this process waits for a compilation to clean up [s]."""

Signature = tuple[Any, tuple[Any, ...]]
"""Type of a C function's result, and of its arguments, as ctypes has them."""


class Loaded(NamedTuple):
    """A loaded library: its file and its functions."""

    path: Path
    functions: ctypes.CDLL


class NativeLibrary:
    """A folder of C files, and the functions that Python calls, with their types.

    Results are kept per environment: the variables that decide compiler and cache.
    """

    def __init__(self, name: str, signatures: Mapping[str, Signature], folder: Path | None = None) -> None:
        self.name, self.signatures = name, signatures
        self.folder = variants.FOLDER / name if folder is None else folder
        self.loaded: dict[str, Loaded] = {}  # by keys: this process has them, whatever cache is set now
        self.searches: dict[tuple[str, ...], LibrarySearch] = {}

    @cached_property
    def version(self) -> str:
        """Digest of the C files, for keys of what the library makes."""
        return digest(*self._texts())

    def key(self, compiler: Compiler) -> str:
        """Digest of all that the compiled library depends on: sources, compiler with target and version, and flags."""
        return digest(self.name, *self._texts(), compiler.identity, *WRITTEN)

    def _texts(self) -> list[str]:
        return [text for path in variants.sources(self.folder) for text in (path.name, path.read_text("utf-8"))]

    def request(self, wait: bool = False) -> LibrarySearch:
        """The search for the library, started if there is none; wait: something will wait for its end, so that it gets
        the processors, and an earlier failure does not count."""
        environment = (*cache.setting(), *(os.environ.get(name, "") for name in ("CC", "PATH")))
        with _lock:
            search = self.searches.get(environment)
            if search is None or search.is_stale(wait):
                search = self.searches[environment] = LibrarySearch(self, aside=not wait)
                _running.add(search)
                search.start()
        return search

    def obtain(self, wait: bool = False) -> tuple[Loaded | None, str]:
        """The library; or None and the reason. wait: until it is compiled, if the package and the cache have it not."""
        search = self.request(wait)
        search.looked.wait()
        if wait:
            search.join()
        reason = "" if search.result else f"the native library {self.name} {search.reason or MAKING}"
        return search.result, reason

    def open(self, path: Path) -> Loaded:
        """The loaded file, with the types of its functions; OSError if this machine does not load it, or if it has not
        all functions."""
        found = ctypes.CDLL(str(path))
        for name, (result, arguments) in self.signatures.items():
            try:
                function = getattr(found, name)
            except AttributeError as error:
                raise OSError(f"{path} is not the library {self.name}: {error}") from None
            function.restype, function.argtypes = result, list(arguments)
        return Loaded(path, found)


class LibrarySearch(threading.Thread):
    """The way of a library to `ready` or `missing`, in one environment; aside: compilers leave the processors to
    others.

    looked: set once it is known whether the library is there. result: the library; None if there is none, for this
    `reason`, "" as long as it is looked for or made.
    """

    def __init__(self, library: NativeLibrary, aside: bool) -> None:
        super().__init__(name=f"ocp_dyn {library.name}", daemon=True)
        self.library, self.aside, self.looked = library, aside, threading.Event()
        self.result: Loaded | None = None
        self.reason = ""
        self._group: Group | None = None
        self._ended = False

    def is_stale(self, wait: bool) -> bool:
        """Whether a new search is needed: the file is gone, or somebody waits and this search has failed."""
        if self.is_alive():
            return False
        return not self.result.path.is_file() if self.result is not None else wait or not self.reason

    def run(self) -> None:
        try:
            self.result = self._prebuilt() or self._own()
        except (OSError, RuntimeError, ValueError, RuntimeWarning) as error:  # a warning may be an error, as in tests
            self.reason = f"cannot be made: {_shortened(error)}"
        finally:
            self.looked.set()
            _running.discard(self)

    def end(self) -> None:
        """Ends a compilation."""
        self._ended = True
        if self._group is not None:
            self._group.end()
        self.join(END_SECONDS)

    def _prebuilt(self) -> Loaded | None:
        """The library that came with the package, if there is one and this system loads it."""
        path = variants.prebuilt(self.library.name) if self.library.folder.parent == variants.FOLDER else None
        try:
            return None if path is None else self.library.open(path)
        except OSError:  # an older system than that of the package build, or a disk without execution
            return None

    def _own(self) -> Loaded | None:
        """The library of this machine, out of the cache or compiled now; None, with a reason, if there is none."""
        compiler = find_compiler()
        if compiler is None:
            self.reason = NO_COMPILER
            return None
        key = self.library.key(compiler)
        known = self.library.loaded.get(key)
        if known is None or not known.path.is_file():
            path = self._file(compiler, key)
            try:
                known = self.library.loaded[key] = self.library.open(path)
            except OSError as error:
                self.reason = (
                    f"cannot be loaded: {_shortened(error)}. If programs may not run on this disk, set the environment "
                    "variable XDG_CACHE_HOME to a directory of another one; else remove this file"
                )
                return None
        return known

    def _file(self, compiler: Compiler, key: str) -> Path:
        """The file in the cache, compiled now if it is missing."""
        place = cache.directory()
        if (path := cache.find(place, key)) is not None:
            return path
        self.looked.set()
        # of several processes one compiles; without locks, or if that one stands still, two do so at once
        with alone_in(place, LONGEST_WAIT, lambda: self._ended):
            return cache.find(place, key) or self._compiled(compiler, place, key)

    def _compiled(self, compiler: Compiler, place: Path, key: str) -> Path:
        cache.bound()  # raises for a wrong setting before the compiler runs
        with cache.stage(place) as stage:
            self._group = group = Group(self.aside)
            try:
                if self._ended:
                    raise RuntimeError("the compilation was ended")
                made = stage / f"{self.library.name}{cache.LIBRARY}"
                compiler.make_library(group, variants.sources(self.library.folder), stage, made)
            finally:
                group.end()
            path = cache.store(place, key, made)
        cache.prune(place)
        return path


def _shortened(error: BaseException) -> str:
    return " ".join(str(error).split())[:LONGEST_REASON]


_running: set[LibrarySearch] = set()
_lock = threading.Lock()


def _end_all() -> None:
    for search in list(_running):
        search.end()


def _after_fork() -> None:
    """In a new process the threads of the old one do not run: what they were about to find is searched anew."""
    global _lock
    _lock = threading.Lock()
    for search in _running:
        search.library.searches = {
            setting: other for setting, other in search.library.searches.items() if other is not search
        }
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
