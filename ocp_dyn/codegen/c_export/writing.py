"""Writes the files of an export: either all appear or none; sources that it no longer has go, nothing else changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..._base.files import alone_in, temporary_folder
from ..._base.types import repr_in_message
from . import text

STAGE = ".export-"
"""Beginning of the name of the folder in which an export is prepared."""


def check_target(target: Path, files: Iterable[str]) -> None:
    """ValueError if a file that `export` did not make would be overwritten."""
    if target.exists() and not target.is_dir():
        raise ValueError(
            f"export writes a directory, but {repr_in_message(str(target))} is a file: name another or remove it"
        )
    for name in files:
        path = target / name
        if path.exists() and not _is_ours(path):
            raise ValueError(
                f"{repr_in_message(str(path))} was not made by export and would be overwritten: choose another "
                "directory or prefix"
            )
        if path.parent.exists() and not path.parent.is_dir():
            raise ValueError(
                f"export writes a directory {repr_in_message(path.parent.name)}, but "
                f"{repr_in_message(str(path.parent))} is a file"
            )


def _is_ours(path: Path) -> bool:
    return text.MARK in _first_line(path)


def _first_line(path: Path) -> str:
    """The first line of a file, where exports leave their mark; "" for a folder."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.readline()


def _left_over(target: Path, header: str, files: Iterable[str]) -> list[str]:
    """Sources of an earlier export with the same header, of functions that this one does not have."""
    mine = f"see {header}."
    return sorted(
        path.name
        for pattern in ("*.c", "*.inc")
        for path in target.glob(pattern)
        if path.name not in files and text.MARK in (line := _first_line(path)) and mine in line
    )


def exported_files(folder: Path) -> list[Path]:
    """The files of exports in a folder and its subfolder simulink, by name; not those of the user or of a build."""
    return sorted(path for pattern in ("*", "simulink/*") for path in folder.glob(pattern) if _is_ours(path))


def write(target: Path, files: Mapping[str, str], header: str) -> None:
    """Writes all files, and removes sources of an earlier export with this header that are none of them. A new
    directory appears in one step. In an existing one the files are replaced one after the other, and an error or Ctrl-C
    in between brings the earlier files back; exports into it wait for each other."""
    exists = target.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _stage(target if exists else target.parent) as stage:
        complete = stage / "files"
        complete.mkdir()  # with the user's usual permissions, unlike the temporary directory
        for name, content in files.items():
            path = complete / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
        if not exists and _appears(complete, target):
            return
        with alone_in(target):
            check_target(target, files)
            _replace(target, complete, stage / "earlier", [*files, *_left_over(target, header, files)])


@contextmanager
def _stage(directory: Path) -> Iterator[Path]:
    """A temporary folder on the disk of the target, which may be a mount."""
    try:
        with temporary_folder(directory, STAGE) as path:
            yield path
    except OSError as error:
        if error.errno is not None and (error.filename is None or STAGE in os.fsdecode(error.filename)):
            error.filename = str(directory)  # a reader of the message does not know the temporary name
        raise


def _replace(target: Path, complete: Path, earlier: Path, names: Iterable[str]) -> None:
    """Moves the files of `complete` into the target, and those that are not in it away; puts all earlier files back if
    that fails."""
    made: list[Path] = []
    try:
        for name in names:
            old, kept = target / name, earlier / name
            kept.parent.mkdir(parents=True, exist_ok=True)
            if not old.parent.exists():
                made.append(old.parent)
                old.parent.mkdir()
            made.append(old)
            if old.exists():
                old.replace(kept)
            if (complete / name).exists():
                (complete / name).replace(old)
    except BaseException:
        for path in reversed(made):
            kept = earlier / path.relative_to(target)
            if path.is_dir():
                path.rmdir()
            elif kept.exists():
                kept.replace(path)
            else:
                path.unlink(missing_ok=True)
        raise


def _appears(complete: Path, target: Path) -> bool:
    """Renames the directory `complete` to `target`; False if another export has just made that directory."""
    try:
        complete.rename(target)
    except OSError:
        if not target.is_dir():
            raise
        return False
    return True
