"""The library that makes and evaluates tapes: its files in C, compiled once per machine and kept in the cache of
compiled code."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from functools import cache
from pathlib import Path

from ..machine_code import cache as files
from ..machine_code import processes
from ..machine_code.identity import digest, made_by
from ..machine_code.toolchain import Compiler, find_compiler

FOLDER = Path(__file__).parent
SOURCES = ("tape.c", "run.c")
HEADERS = ("tape.h", "loops.h")

LONGEST_FAULT = 600
"""Number of letters of an error that `fault` repeats."""

_loading = threading.Lock()
if hasattr(os, "register_at_fork"):  # a process forked while another thread builds would wait for it forever
    os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)

_loaded: dict[str, ctypes.CDLL] = {}
_faults: dict[tuple[str, ...], str] = {}


def library(build: bool = True) -> ctypes.CDLL | None:
    """The library; None if there is no compiler, or if build is False and an earlier call has not built it.

    Cost: most of a second when it is built. Raises RuntimeError if the compiler fails or the library cannot be
    loaded, OSError if it cannot be kept; PermissionError if the cache is not private.
    """
    return _library(build)


def _library(build: bool, aside: bool = False) -> ctypes.CDLL | None:
    """The library, as `library` gives it; aside: its compiler runs beside other work."""
    compiler = find_compiler()
    if compiler is None:
        return None
    name = _key(compiler)
    if name in _loaded:
        return _loaded[name]
    if not _loading.acquire(blocking=build):
        return None  # another thread builds it
    try:
        if name not in _loaded:
            path = files.find(files.directory(), name) or (_built(compiler, name, aside) if build else None)
            if path is None:
                return None
            _loaded[name] = _opened(path)
        return _loaded[name]
    except (OSError, RuntimeError) as error:
        _faults[_place(name)] = " ".join(str(error).split())[:LONGEST_FAULT]
        raise
    finally:
        _loading.release()


def fault() -> str:
    """Why the library could not be built or loaded in the present environment; "" if this process has not tried it or
    has not failed."""
    compiler = find_compiler()
    return "" if compiler is None else _faults.get(_place(_key(compiler)), "")


def _place(name: str) -> tuple[str, ...]:
    """Name of the library, and what decides where the cache is."""
    return (name, *(os.environ.get(variable, "") for variable in ("XDG_CACHE_HOME", "HOME")))


def build_aside() -> None:
    """Builds a missing library in a thread, so that a run that begins later finds it; errors are left to `library`."""
    compiler = find_compiler()
    if compiler is not None and _key(compiler) not in _loaded:
        threading.Thread(target=_try, name="ocp_dyn tapes", daemon=True).start()


def _try() -> None:
    with contextlib.suppress(OSError, RuntimeError):
        _library(build=True, aside=True)


@cache
def version() -> str:
    """Digest of the files in C, on which the form of tapes depends."""
    return digest(*((FOLDER / name).read_text(encoding="ascii") for name in (*SOURCES, *HEADERS)))


def _key(compiler: Compiler) -> str:
    return digest(version(), compiler.identity, made_by(find_compiler.__module__))


def _built(compiler: Compiler, name: str, aside: bool) -> Path:
    place = files.directory()
    with files.stage(place) as stage, processes.group(aside) as group:
        objects = [stage / f"{source}.o" for source in SOURCES]
        for source, made in zip(SOURCES, objects, strict=True):
            compiler.compile(group, FOLDER / source, made)
        compiler.link(group, objects, stage / "tape.so")
        return files.store(place, name, stage / "tape.so")


def _opened(path: Path) -> ctypes.CDLL:
    """The loaded library; RuntimeError if this machine does not load it."""
    try:
        return _declared(ctypes.CDLL(str(path)))
    except (OSError, AttributeError) as error:
        raise RuntimeError(
            f"the library for machine code cannot be loaded: {error}. If programs may not run on this disk, set the "
            "environment variable XDG_CACHE_HOME to a directory of another one; else remove this file"
        ) from None


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    """The library with the types of its functions."""
    whole, number, address = ctypes.c_longlong, ctypes.c_int, ctypes.c_void_p
    found.tape_make.argtypes = [whole, address, number, number, number, address, number, number, number]
    found.tape_make.restype = address
    found.tape_free.argtypes, found.tape_free.restype = [address], None
    found.tape_run.argtypes, found.tape_run.restype = [whole, address, address, address], None
    found.tape_place.argtypes, found.tape_place.restype = [whole, address, address, address, whole, address], None
    return found
