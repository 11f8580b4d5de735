"""Cache of compiled libraries: a private directory of the user, with complete files that match their digests."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import math
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
import warnings
from contextlib import AbstractContextManager
from pathlib import Path

from .files import regular_content, remove, temporary_folder

PRUNED_AGAIN = 60.0
"""Time after which a process that keeps files looks at the whole cache once more [s]: with thousands of files a look
takes a tenth of a second."""

_PRUNED: dict[Path, float] = {}

UNUSED_DAYS = 90
"""Time after which unused libraries are removed, when another is built [days]."""

SIZE_MB = 512
"""Largest size of the cache, unless the environment variable OCP_DYN_CACHE_MB sets another [MB].

Beyond it the least recently used files are removed, when another is built.
"""

LIBRARY = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""Ending of the names of shared libraries on this system."""

RECENT = 600.0
"""Time after its last use during which a file is never removed, much longer than a process needs to load it [s]."""


def directory() -> Path:
    """The directory of the cache, created if missing: ocp_dyn in XDG_CACHE_HOME or in ~/.cache, with the mode 0700.

    Relative paths in XDG_CACHE_HOME and HOME count as missing, as the XDG specification asks; without HOME the home is
    that in the list of users. If the directory is not writable, or the user has no home: a new private directory, which
    is removed when this process ends; a RuntimeWarning tells it once.
    Raises PermissionError if the directory belongs to another user, or if other users can read or write it; OSError if
    not even a temporary directory can be made.
    """
    path = _of_this_user()
    if path is None:
        return _of_this_process("neither XDG_CACHE_HOME nor HOME is an absolute path")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        usable = os.access(path, os.W_OK)
    except OSError:
        usable = os.path.lexists(path) and not path.is_dir()  # a file or link of this name: _check_private raises
    if not usable and not os.path.lexists(path):
        return _of_this_process(f"the directory {str(path)!r} cannot be made")
    _check_private(path)
    return path if usable else _of_this_process(f"the directory {str(path)!r} cannot be written to")


def setting() -> tuple[str, ...]:
    """The variables of the environment that decide the directory."""
    return tuple(os.environ.get(variable, "") for variable in ("XDG_CACHE_HOME", "HOME"))


def _of_this_user() -> Path | None:
    """The path of the user's directory, which need not exist; None for a user without a home."""
    named, home = setting()
    if os.path.isabs(named):
        return Path(named, "ocp_dyn")
    home = home if os.path.isabs(home) else _home_in_the_list_of_users()
    return Path(home, ".cache", "ocp_dyn") if os.path.isabs(home) else None


def _home_in_the_list_of_users() -> str:
    """The home of this user; "" for a user who is in no list. Systems without HOME have one variable of their own."""
    try:
        import pwd
    except ImportError:  # not POSIX
        return os.path.expanduser("~")
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


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


_temporary: dict[int, Path] = {}
"""Directories of processes by their numbers: a forked process has one of its own."""

_making = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


def _of_this_process(reason: str) -> Path:
    with _making:
        process, told = os.getpid(), bool(_temporary)
        path = _temporary.get(process)
        if path is not None and path.is_dir():
            return path
        path = _temporary[process] = Path(tempfile.mkdtemp(prefix="ocp_dyn-"))  # only its owner may enter
        atexit.register(_remove_own, process, path)
    if not told:
        warnings.warn(
            f"ocp_dyn keeps no compiled code for later processes: {reason}. Set the environment variable "
            "XDG_CACHE_HOME to the absolute path of a directory",
            RuntimeWarning,
            stacklevel=2,
        )
    return path


def _remove_own(process: int, path: Path) -> None:
    """Removes the directory at the end of its process; a forked one that ends before leaves it."""
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def find(cache: Path, key: str, suffix: str = LIBRARY) -> Path | None:
    """The complete file of `key`, or None. Removes what has its name and is no regular file that this user can read, or
    has a content that does not fit the digest in its name.

    If `cache` is the directory of this process, because that of the user is read-only, the latter is looked up too.
    """
    for place in (cache, *_readable(cache)):
        for path in sorted(place.glob(f"{key}.*{suffix}")):
            with contextlib.suppress(OSError):
                if _is_complete(path):
                    with contextlib.suppress(OSError):  # a read-only disk keeps no times
                        os.utime(path)
                    return path
                remove(path)
    return None


def _is_complete(path: Path) -> bool:
    """Whether a file is regular and its content fits its name; OSError if that cannot be found out now."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False  # before it is opened: opening a pipe or a device can wait, or do something
    try:
        return _digest(path) == path.name.split(".")[1]
    except PermissionError:
        return False


def _readable(cache: Path) -> list[Path]:
    """The user's directory if it is private, and `cache` is the one of this process."""
    path = _of_this_user()
    if path is None or cache != _temporary.get(os.getpid()):
        return []
    with contextlib.suppress(OSError):
        _check_private(path)
        return [path]
    return []


def stage(cache: Path) -> AbstractContextManager[Path]:
    """A temporary directory for one build, on the disk of the cache; those of interrupted builds are removed first."""
    return temporary_folder(cache, "build-")


def store(cache: Path, key: str, made: Path) -> Path:
    """Moves a file from a `stage` into the cache in one step.

    If two processes do this at the same time, each stores a complete file; one or both remain, and each is usable. A
    directory of this name, which no process of the library makes, is removed.
    """
    path = cache / f"{key}.{_digest(made)}{made.suffix}"
    try:
        os.replace(made, path)
    except (IsADirectoryError, PermissionError):  # the latter on other systems than POSIX
        if not path.is_dir():
            raise
        remove(path)
        os.replace(made, path)
    return path


def keep(key: str, suffix: str, content: bytes | memoryview) -> None:
    """Stores a file for other processes, unless they have it, if there is room on the disk and OCP_DYN_CACHE_MB is a
    number."""
    with contextlib.suppress(OSError, ValueError):
        place = directory()
        bound()
        if find(place, key, suffix) is None:
            with stage(place) as folder:
                made = folder / f"made{suffix}"
                made.write_bytes(content)
                store(place, key, made)
            if time.monotonic() - _PRUNED.get(place, -math.inf) > PRUNED_AGAIN:
                prune(place)
                _PRUNED[place] = time.monotonic()


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
    """Removes files that were not used for UNUSED_DAYS, and the least recently used ones until the rest is within the
    bound; never a file that a process may be about to load. `stage` removes what interrupted builds have left.

    Several processes may do this at the same time: files that another process has removed or just used are skipped.
    """
    now, most = time.time(), bound()
    kept: list[tuple[float, int, Path]] = []
    for path in cache.iterdir():
        with contextlib.suppress(OSError):
            found = path.lstat()
            if (now - found.st_mtime) / 86400 > UNUSED_DAYS:
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
    return hashlib.sha256(regular_content(path)).hexdigest()[:32]
