"""Stores: the folder of a sweep, on a disk of this machine or on another one by fsspec.

A store writes files complete or not at all. On a disk a file is written under a hidden name, flushed and renamed; on
another machine it is written in one call under its own name where the service makes that atomic (object stores), else
under a temporary name, and moved.
"""

from __future__ import annotations

import contextlib
import errno
import posixpath
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from ...._base.files import PARTIAL, alone_in, path_of, whole_file

OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"}
"""Protocols whose writes appear complete or not at all."""

WITHOUT_ROOM = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""Errors of a disk that is full, or of a user who has used up a quota."""


class Store(Protocol):
    """Files of a folder by their names, which may contain "/"."""

    place: str

    def read(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError without it."""

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """The content of those of the files that exist, by name."""

    def write(self, name: str, content: bytes) -> None:
        """Writes or replaces a file."""

    def size(self, name: str) -> int | None:
        """Size of a file [bytes]; None without it."""

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Sizes of the files of the folder or one inside it, by their names there; hidden ones left out."""

    def move(self, name: str, target: str) -> None:
        """Renames a file; nothing happens without it."""

    def remove(self, name: str) -> None:
        """Removes a file; nothing happens without it."""

    def create(self, name: str, content: bytes) -> bool:
        """Writes a file that must not exist; whether it did not."""

    def age(self, name: str) -> float:
        """Time since the last change of a file, by the clock of the store [s]; FileNotFoundError without it."""


class LocalStore:
    """A folder on a disk of this machine, which may be shared with others."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        found = {}
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found[name] = self.read(name)
        return found

    def write(self, name: str, content: bytes) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(self.folder / name) as partial:
            partial.write_bytes(content)

    def size(self, name: str) -> int | None:
        try:
            return (self.folder / name).stat().st_size
        except FileNotFoundError:
            return None

    def sizes(self, folder: str = "") -> dict[str, int]:
        try:
            entries = sorted((self.folder / folder).iterdir())
        except FileNotFoundError:
            return {}
        return {path.name: path.stat().st_size for path in entries if not path.name.startswith(".") and path.is_file()}

    def move(self, name: str, target: str) -> None:
        (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / name).replace(self.folder / target)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def create(self, name: str, content: bytes) -> bool:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):  # a reader sees no empty file
            if path.exists():
                return False
            self.write(name, content)
            return True

    def age(self, name: str) -> float:
        changed = (self.folder / name).stat().st_mtime
        clock = self.folder / f"{PARTIAL}clock-{secrets.token_hex(4)}"
        try:  # of the disk, which may be on another machine
            clock.touch()
            return clock.stat().st_mtime - changed
        finally:
            clock.unlink(missing_ok=True)


class RemoteStore:
    """A folder on another machine, such as "s3://bucket/gaits", by fsspec."""

    def __init__(self, url: str, **options: Any) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise RuntimeError(f"the folder {url!r} needs fsspec: pip install 'ocp_dyn[cluster]'") from error
        try:
            self.system, self.root = fsspec.core.url_to_fs(url, **options)
        except (ImportError, ValueError) as error:
            raise ValueError(f"the folder {url!r} cannot be opened: {error}") from error
        self.place = url
        protocol = self.system.protocol
        self._whole = bool(OBJECT_STORES & set((protocol,) if isinstance(protocol, str) else protocol))

    def _path(self, name: str) -> str:
        return posixpath.join(self.root, name)

    def read(self, name: str) -> bytes:
        content: bytes = self.system.cat_file(self._path(name))
        return content

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """One request for all, which a store answers in parallel."""
        paths = {self._path(name): name for name in names}
        found = self.system.cat(list(paths), on_error="omit") if paths else {}
        return {paths[path]: content for path, content in found.items()}

    def write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        self.system.makedirs(posixpath.dirname(path), exist_ok=True)
        if self._whole:
            self.system.pipe_file(path, content)
            return
        partial = f"{posixpath.dirname(path)}/{PARTIAL}{secrets.token_hex(8)}.part"
        try:
            self.system.pipe_file(partial, content)
            self.system.mv(partial, path)
        except Exception:
            with contextlib.suppress(Exception):
                self.system.rm_file(partial)
            raise

    def size(self, name: str) -> int | None:
        self.system.invalidate_cache()
        try:
            return int(self.system.size(self._path(name)))
        except FileNotFoundError:
            return None

    def sizes(self, folder: str = "") -> dict[str, int]:
        self.system.invalidate_cache()
        try:
            entries = self.system.ls(self._path(folder) if folder else self.root, detail=True)
        except FileNotFoundError:
            return {}
        files = {posixpath.basename(e["name"]): int(e["size"] or 0) for e in entries if e["type"] == "file"}
        return {name: size for name, size in sorted(files.items()) if not name.startswith(".")}

    def move(self, name: str, target: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.write(target, self.read(name))
            self.remove(name)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.system.rm_file(self._path(name))

    def create(self, name: str, content: bytes) -> bool:
        """Between the look and the write another process may write: then a point is solved twice, which does no
        harm."""
        self.system.invalidate_cache()
        if self.system.exists(self._path(name)):
            return False
        self.write(name, content)
        return self.read(name) == content

    def age(self, name: str) -> float:
        self.system.invalidate_cache()
        changed: float = self.system.modified(self._path(name)).timestamp()
        return time.time() - changed


def store_of(folder: Any) -> LocalStore | RemoteStore:
    """The store of a folder: a path, or an address with "://" for fsspec."""
    if isinstance(folder, str) and "://" in folder and not folder.startswith("file://"):
        return RemoteStore(folder.rstrip("/"))
    if isinstance(folder, str):
        folder = folder.removeprefix("file://")
    return LocalStore(path_of(folder, "folder"))
