"""Files that appear complete or not at all, whoever else writes or reads them at the same time."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from ._types import shown


def path_of(path: Any, what: str = "path") -> Path:
    """A path of the file system: a string or a PathLike of one. TypeError or ValueError for anything else.

    A number is refused: Python would take it for the descriptor of an open file.
    """
    text = os.fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a string or a pathlib.Path, got {shown(path)}")
    if not text or "\0" in text:
        raise ValueError(f"{what} must be the name of a file or directory, got {shown(text)}")
    return Path(text)


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """A new file name in the directory of `path`; the file written under it replaces `path` in one step at the end.

    Readers of `path` see the old file or the new one, each complete, even while several processes write it; the last
    of these wins. If the body raises, on a full disk or on Ctrl-C, the old file stays as it was and the new one is
    removed. The new content keeps the permissions of the file that it replaces; a new file gets the usual ones. If
    `path` is a symbolic link, the file it points to is replaced. A device or named pipe is written to directly.

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
    partial = target.with_name(f".ocp_dyn-{secrets.token_hex(8)}.part")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())  # a file system may delay writing, and report only now that it is full
        if mode is not None:
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except OSError as error:
        if error.filename == os.fspath(partial):  # a reader of the message knows `path` alone
            error.filename = os.fspath(path)
        raise
    finally:
        partial.unlink(missing_ok=True)


def _mode(path: str | PathLike[str]) -> int | None:
    """Kind and permissions of the file that `path` leads to; None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Locks a directory until the end of the block, if the system can; other processes that lock it wait."""
    try:
        import fcntl
    except ImportError:  # not POSIX
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:  # some network file systems have no such locks
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                raise
        yield
    finally:
        os.close(descriptor)
