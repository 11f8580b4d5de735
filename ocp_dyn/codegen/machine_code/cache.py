"""Cache of compiled libraries: a private directory of the user, with complete files that match their digests."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import math
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

UNUSED_DAYS = 90
"""Time after which unused libraries are removed, when another is built [days]."""

SIZE_MB = 512
"""Largest size of the cache, unless the environment variable OCP_DYN_CACHE_MB sets another [MB].

Beyond it the least recently used files are removed, when another is built.
"""

RECENT = 600.0
"""Time after its last use during which a file is never removed, much longer than a process needs to load it [s]."""


def directory() -> Path:
    """The directory of the cache, created if missing: ocp_dyn in XDG_CACHE_HOME or in ~/.cache, with the mode 0700.

    If it is not writable, or the user has no home: a new private directory, which is removed when this process ends.
    Raises PermissionError if the directory belongs to another user, or if other users can read or write it.
    """
    path = _of_this_user()
    if path is None:
        return _of_this_process()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        usable = os.access(path, os.W_OK)
    except OSError:
        usable = os.path.lexists(path) and not path.is_dir()  # a file or link of this name: _check_private raises
    if not usable and not os.path.lexists(path):
        return _of_this_process()
    _check_private(path)
    return path if usable else _of_this_process()


def _of_this_user() -> Path | None:
    """The path of the user's directory, which need not exist; None for a user without a home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(named) if os.path.isabs(named) else Path("~/.cache").expanduser()
    except RuntimeError:  # neither HOME nor an entry in the list of users
        return None
    return base / "ocp_dyn"


def _check_private(path: Path) -> None:
    found = path.lstat()
    remedy = "remove it, or set the environment variable XDG_CACHE_HOME to another directory"
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, must be a directory and not a link: {remedy}"
        )
    if not hasattr(os, "getuid"):
        return  # the permissions below are those of POSIX
    if found.st_uid != os.getuid():
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, belongs to user {found.st_uid}, not to {os.getuid()}: "
            f"{remedy}"
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, has the mode {stat.S_IMODE(found.st_mode):04o}, expected "
            f"0700: other users could have put code there. Remove it"
        )


@functools.cache
def _of_this_process() -> Path:
    path = tempfile.mkdtemp(prefix="ocp_dyn-")  # only its owner may enter
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def find(cache: Path, key: str, suffix: str = ".so") -> Path | None:
    """The complete file of `key`, or None. Removes files whose content does not fit the digest in their name.

    If `cache` is the directory of this process, because that of the user is read-only, the latter is looked up too.
    """
    for place in (cache, *_readable(cache)):
        for path in sorted(place.glob(f"{key}.*{suffix}")):
            with contextlib.suppress(OSError):
                if _digest(path) == path.name.split(".")[1]:
                    with contextlib.suppress(OSError):  # a read-only disk keeps no times
                        os.utime(path)
                    return path
                path.unlink()
    return None


def _readable(cache: Path) -> list[Path]:
    """The user's directory if it is private, and `cache` is the one of this process."""
    path = _of_this_user()
    if path is None or not _of_this_process.cache_info().currsize or cache != _of_this_process():
        return []
    with contextlib.suppress(OSError):
        _check_private(path)
        return [path]
    return []


@contextlib.contextmanager
def stage(cache: Path) -> Iterator[Path]:
    """A temporary directory for one build, on the disk of the cache."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as path:
        yield Path(path)


def store(cache: Path, key: str, made: Path) -> Path:
    """Moves a file from a `stage` into the cache in one step.

    If two processes do this at the same time, each stores a complete file; one or both remain, and each is usable.
    """
    path = cache / f"{key}.{_digest(made)}{made.suffix}"
    os.replace(made, path)
    return path


def bound() -> int:
    """Largest size of the cache [bytes]: OCP_DYN_CACHE_MB of the environment, in 10^6 bytes, or SIZE_MB."""
    setting = os.environ.get("OCP_DYN_CACHE_MB", "").strip() or str(SIZE_MB)
    try:
        size = float(setting)
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise ValueError(f"OCP_DYN_CACHE_MB is the size of the cache in megabytes, 0 or more, got {setting!r}")
    return int(size * 1e6)


def prune(cache: Path) -> None:
    """Removes temporary directories of interrupted builds after a day, files that were not used for UNUSED_DAYS, and
    the least recently used files until the rest is within the bound; never a file that a process may be about to load.

    Several processes may do this at the same time: files that another process has removed or just used are skipped.
    """
    now, most = time.time(), bound()
    kept: list[tuple[float, int, Path]] = []
    for path in cache.iterdir():
        with contextlib.suppress(OSError):
            found = path.lstat()
            days = (now - found.st_mtime) / 86400
            if path.name.startswith("build-"):
                if days > 1:
                    shutil.rmtree(path)
            elif days > UNUSED_DAYS:
                path.unlink()
            elif stat.S_ISREG(found.st_mode):
                kept.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in kept)
    for used, size, path in sorted(kept):
        if total <= most or now - used < RECENT:
            break
        with contextlib.suppress(OSError):
            if path.stat().st_mtime == used:  # not used since
                path.unlink()
                total -= size


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
