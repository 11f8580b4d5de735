"""A private directory of compiled libraries: what is in it belongs to the user, is complete, and fits its name."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

UNUSED_DAYS = 90
"""Libraries that nobody has loaded for so long are removed when another is built."""


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


def prune(cache: Path) -> None:
    """Removes libraries long unused, and what builds that were cut off have left for a day."""
    now = time.time()
    for pattern, days in (("*.so", UNUSED_DAYS), ("*.graph", UNUSED_DAYS), ("build-*", 1)):
        for path in cache.glob(pattern):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime > days * 86400:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
