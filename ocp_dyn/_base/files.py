"""Files that appear complete or not at all, whoever else writes or reads them at the same time."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import math
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from .rooms import named_arguments
from .types import ModelError, repr_in_message, suggestion

PARTIAL = ".ocp_dyn-"
"""Beginning of the names of files that are being written."""

ABANDONED = 86400.0
"""Time without a change after which a temporary file or folder counts as left behind, if it is not known whether the
process that made it still runs [s]."""

UNKNOWN = "unknown"
"""The machine in the name of a temporary file, where the system does not tell which one it is."""

LOCK_INTERVAL = 0.05
"""Time between two looks at a lock that another process holds [s]."""

MOST_BYTES = 50_000_000
"""Largest size of a file of a model that is plain text."""


def path_of(path: Any, what: str = "path") -> Path:
    """A path of the file system: a string or a PathLike of one. TypeError or ValueError for anything else.

    A number is refused: Python would take it for the descriptor of an open file.
    """
    text = os.fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a string or a pathlib.Path, got {repr_in_message(path)}")
    if not text or "\0" in text:
        raise ValueError(f"{what} must be the name of a file or directory, got {repr_in_message(text)}")
    return Path(text)


def file_to_read(path: Any, what: str = "path") -> Path:
    """`path_of` a file that is there; FileNotFoundError suggests the nearest name in its folder."""
    file = path_of(path, what)
    if not str(file).lstrip().startswith("<") and not file.exists():  # a text of XML has messages of its own
        raise FileNotFoundError(no_file(file))
    return file


def no_file(file: Path) -> str:
    """A message about a file that is missing, with the nearest name in its folder."""
    names = [one.name for one in file.parent.iterdir()] if file.parent.is_dir() else []
    return f"no file {repr_in_message(str(file))}{suggestion(file.name, sorted(names))}"


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table of this library, texts by the names of their columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@contextmanager
@named_arguments
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """A new file name in the directory of `path`; the file written under it replaces `path` in one step at the end.

    Readers of `path` see the old file or the new one, each complete, even while several processes write it; the last
    of these wins. If the body raises, on a full disk or on Ctrl-C, the old file stays as it was and the new one is
    removed. The new content keeps the permissions of the file that it replaces; a new file gets the usual ones. If
    `path` is a symbolic link, the file it points to is replaced. A device or named pipe is written to directly. The new
    name is hidden; what a killed process has left under such a name is removed by the next write into the directory.
    Errors that the body raises name `path` where they would name the hidden file.

    Raises OSError if the file cannot be written: no such directory, a directory of this name, no permission, no space.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with od.io.whole_file(f"{folder}/table.csv") as file:
    ...         size = file.write_text("t,q")
    ...         there = pathlib.Path(folder, "table.csv").exists()
    ...     there, pathlib.Path(folder, "table.csv").read_text()
    (False, 't,q')
    """
    path = path_of(path)
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "a file is to be written, and this is a directory", os.fspath(path))
        yield path
        return
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    target = Path(os.path.realpath(path))
    # not derived from the name of the target, which may be as long as the file system allows
    partial = target.with_name(f"{PARTIAL}{owner()}-{secrets.token_hex(8)}.part")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())  # a file system may delay writing, and report only now that it is full
        _sweep(target.parent, PARTIAL, partial)
        if mode is not None:
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except Exception as error:
        _rename_in(error, partial, path)
        raise
    finally:
        partial.unlink(missing_ok=True)


def _rename_in(error: BaseException, partial: Path, path: Path) -> None:
    """Puts `path` into an error in the place of the hidden file, which a reader of the message does not know."""
    hidden, named = os.fspath(partial), os.fspath(path)

    def renamed(value: Any) -> Any:
        return value.replace(hidden, named).replace(partial.name, path.name) if isinstance(value, str) else value

    error.args = tuple(renamed(value) for value in error.args)
    if not isinstance(error, OSError) or error.errno is None:
        return
    for key in ("filename", "filename2"):
        value = getattr(error, key)
        if value is not None:
            setattr(error, key, renamed(os.fspath(value) if isinstance(value, PathLike) else value))
    if error.filename is None:  # of a full disk
        error.filename = named
    if error.filename2 == os.path.realpath(path):
        del error.filename2  # of a move from the hidden file to this one


def _mode(path: str | PathLike[str]) -> int | None:
    """Kind and permissions of the file that `path` leads to; None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def regular_content(path: Path) -> bytes:
    """Content of a regular file; OSError for anything else. It never waits, as for the other end of a named pipe."""
    flags = (getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
    descriptor = os.open(path, os.O_RDONLY | sum(flags))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "this is not a regular file", os.fspath(path))
        return file.read()


# Temporary files and folders


@contextmanager
def temporary_folder(directory: Path, kind: str) -> Iterator[Path]:
    """A private folder in `directory`, removed at the end of the block; its name begins with `kind`.

    Folders of this kind that killed processes of this user have left there are removed first.
    """
    path = directory / f"{kind}{owner()}-{secrets.token_hex(8)}"
    path.mkdir(mode=0o700)
    try:
        _sweep(directory, kind, path)
        yield path
    finally:  # not by tempfile: a forked process that ends would remove the folder of its parent
        shutil.rmtree(path, ignore_errors=True)


def owner() -> str:
    """The machine and the number of this process, for names of temporary files."""
    return f"{_machine()}-{os.getpid()}"


def _machine() -> str:
    """Text that two processes share if each of them sees whether the other one runs; UNKNOWN if the system does not
    tell.

    Containers of one machine, and machines with a common disk, have different ones, and so has a machine that was
    started again. It is not kept: a forked process may enter another container.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        text = f"{os.uname().nodename} {boot} {os.readlink('/proc/self/ns/pid')}"
    except (OSError, AttributeError, ValueError):
        return UNKNOWN
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _sweep(directory: Path, kind: str, fresh: Path) -> None:
    """Removes files and folders of a kind that processes of this user have left behind. What cannot be removed stays.

    fresh: a file or folder just made there, whose time is now by the clock of the disk, which may be on another
    machine.
    """
    with contextlib.suppress(OSError):
        now = fresh.lstat()
        for path in [Path(entry.path) for entry in os.scandir(directory) if entry.name.startswith(kind)]:
            with contextlib.suppress(OSError):
                found = path.lstat()
                if found.st_uid == now.st_uid and left_behind(path.name[len(kind) :], now.st_mtime - found.st_mtime):
                    remove(path)


def left_behind(rest: str, age: float) -> bool:
    """Whether the process that made a temporary file has ended. rest: its name without the kind; age: time since its
    last change [s]."""
    parts, machine = rest.split("-"), _machine()
    known = len(parts) == 3 and parts[0] == machine != UNKNOWN and parts[1].isdecimal()
    if known and not _runs(int(parts[1])):
        return True
    return age > ABANDONED  # of another machine, or the number of the process is in use again


def _runs(process: int) -> bool:
    """Whether a process runs, where a signal can ask: on other systems than POSIX signal 0 would end it."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


def remove(path: Path) -> None:
    """Removes a file, a link, a pipe, or a folder with all that is in it."""
    if stat.S_ISDIR(path.lstat().st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def alone_in(directory: Path, longest: float = math.inf, ended: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Locks a directory until the end of the block, if the system can; other processes that lock it wait.

    longest: time after which it goes on without the lock [s]; so it does once `ended()` is True. A lock leaves nothing
    on the disk, also if its process is killed.
    """
    try:
        import fcntl
    except ImportError:  # not POSIX
        yield
        return
    begin = time.monotonic()
    descriptor = os.open(directory, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        while not ended() and time.monotonic() - begin < longest:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOCK_INTERVAL)
            except OSError as error:  # some network file systems have no such locks
                if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                    raise
                break
            else:
                break
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a process forked meanwhile holds the same lock
    finally:
        os.close(descriptor)


def decoded(text: str | bytes, source: str) -> str:
    """The text of a model's file, out of UTF-8 if it is bytes. ModelError if it is too long, or no UTF-8."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{source} must be a str or bytes, got {type(text).__name__}")
    if len(text) > MOST_BYTES:
        raise ModelError(f"{source} has {len(text)} bytes; a model has at most {MOST_BYTES}")
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{source}: cannot be decoded: {error}; save it as UTF-8") from None
