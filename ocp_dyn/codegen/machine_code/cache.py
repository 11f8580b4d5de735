"""A private directory of compiled libraries: its files belong to the user, are complete, and match their names."""

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
"""Libraries that nobody has loaded for so long are removed when another is built."""

SIZE_MB = 512
"""Size of the cache unless the environment variable OCP_DYN_CACHE_MB names another: beyond, what was used least recently
is removed when something is built."""

RECENT = 600.0
"""Seconds from its last use in which a file stays in any case: from finding to loading it takes far less."""


def directory() -> Path:
    """The cache, made if it is not there: ocp_dyn in XDG_CACHE_HOME, or in ~/.cache, with the mode 0700.

    Where that cannot be written, a new private directory that lasts as long as this process.
    Raises PermissionError if the directory belongs to somebody else or others can write to it or read it.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if os.path.isabs(named) else Path("~/.cache").expanduser()
    path = base / "ocp_dyn"
    try:
        base.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        usable = os.access(path, os.W_OK)
    except OSError:
        usable = os.path.lexists(path) and not path.is_dir()  # something else stands there: say so
    if not usable and not os.path.lexists(path):
        return _of_this_process()
    _check_private(path)
    return path if usable else _of_this_process()


def _check_private(path: Path) -> None:
    found = path.lstat()
    remedy = "remove it, or name another place in the environment variable XDG_CACHE_HOME"
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, must be a directory and no link: {remedy}"
        )
    if not hasattr(os, "getuid"):
        return  # the permissions below are those of POSIX
    if found.st_uid != os.getuid():
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, belongs to user {found.st_uid}, not to {os.getuid()}: {remedy}"
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(
            f"the cache of compiled functions, {str(path)!r}, has the mode {stat.S_IMODE(found.st_mode):04o}, expected "
            f"0700: others could have put code there. Remove it"
        )


@functools.cache
def _of_this_process() -> Path:
    path = tempfile.mkdtemp(prefix="ocp_dyn-")  # only its owner may enter
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def find(cache: Path, key: str, suffix: str = ".so") -> Path | None:
    """The complete file of `key`, or None. Files whose content does not fit the digest in their name go."""
    for path in sorted(cache.glob(f"{key}.*{suffix}")):
        with contextlib.suppress(OSError):
            if _digest(path) == path.name.split(".")[1]:
                os.utime(path)
                return path
            path.unlink()
    return None


@contextlib.contextmanager
def stage(cache: Path) -> Iterator[Path]:
    """A directory of this build's own, on the disk of the cache, gone afterwards."""
    with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as path:
        yield Path(path)


def store(cache: Path, key: str, made: Path) -> Path:
    """Moves a file from a stage into the cache in one step.

    Two processes that do so at once each put a complete file; one remains or both do, and each serves.
    """
    path = cache / f"{key}.{_digest(made)}{made.suffix}"
    os.replace(made, path)
    return path


def bound() -> int:
    """Bytes that the cache may take: OCP_DYN_CACHE_MB from the environment, in 10^6 bytes, or SIZE_MB."""
    given = os.environ.get("OCP_DYN_CACHE_MB", "").strip() or str(SIZE_MB)
    try:
        size = float(given)
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise ValueError(f"OCP_DYN_CACHE_MB is the size of the cache in megabytes, 0 or more, got {given!r}")
    return int(size * 1e6)


def prune(cache: Path) -> None:
    """Removes what builds that were cut off have left for a day, files long unused, and, until the rest is within the
    bound, those used least recently; never a file that some process may be about to load.

    Several processes may do so at once: what another has removed is gone, what another has just used stays.
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
            if path.stat().st_mtime == used:  # nobody has used it since
                path.unlink()
                total -= size


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
