"""Output of commands: tables, or one JSON object; a disk that is full ends them with an error, a pipe that is closed
without a word. Folders and files of an earlier run are not overwritten without a word."""

from __future__ import annotations

import argparse
import errno
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

FAULTY, CLOSED_PIPE = 1, 141
"""Exit statuses: the output cannot be written; the reader of a pipe has stopped, as of other programs."""

WITHOUT_ROOM = tuple(getattr(errno, name) for name in ("ENOSPC", "EFBIG", "EDQUOT", "EIO") if hasattr(errno, name))
"""Errors of output that cannot be written."""


class UsageError(Exception):
    """A wrong command line: exit status 2."""


class Parser(argparse.ArgumentParser):
    """A parser whose help is written or fails; that of argparse ignores errors of standard output."""

    def print_help(self, file: Any = None) -> None:
        stream = sys.stdout if file is None else file
        if stream is not None:
            stream.write(self.format_help())
            stream.flush()

    def error(self, message: str) -> NoReturn:
        """One line, with the nearest option or word; --help has the long list of options."""
        from .._base.types import suggestion  # loads CasADi, which --help does without

        near = ""
        if message.startswith("unrecognized arguments: "):
            words = [word.partition("=")[0] for word in message.split()[2:] if word.startswith("-")]
            near = suggestion(words[0], self._option_string_actions) if words else ""
        if invalid := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            near = suggestion(invalid[1], re.findall(r"[\w.+-]+", invalid[2]))
        self.exit(2, f"{self.prog}: error: {message}{near}{'' if near else f'; `{self.prog} --help` tells more'}\n")


def flush() -> None:
    """Writes out what was printed, here where errors are caught; a process without standard output has None there."""
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon() -> None:
    """Lets what is left in the buffer go nowhere: Python writes it when the process ends, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def said(error: OSError) -> str:
    """An error of the system in words, with the file or stream that it is about."""
    if error.strerror is None:
        return str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return f"standard output: {error.strerror}" if error.errno in WITHOUT_ROOM else str(error)


def run_command(main: Callable[[], int]) -> int:
    """The exit status of a program, whose output is written before it ends."""
    try:
        try:
            return main()
        finally:  # --help ends by SystemExit
            flush()
    except BrokenPipeError:
        abandon()
        return CLOSED_PIPE
    except OSError as error:
        if error.filename is not None or error.errno not in WITHOUT_ROOM:
            raise
        abandon()
        print(f"{os.path.basename(sys.argv[0])}: {said(error)}", file=sys.stderr)
        return FAULTY


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table of texts. right: numbers of the columns that are aligned to the right."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]

    def cell(text: str, k: int) -> str:
        return text.rjust(widths[k]) if k in right else text.ljust(widths[k])

    return "\n".join("  ".join(cell(text, k) for k, text in enumerate(line)).rstrip() for line in lines)


def number(x: float, digits: int = 4) -> str:
    """A number for a table: "inf" and "-inf" as "-"; no trailing zeros."""
    return f"{x:.{digits}g}" if math.isfinite(x) else "-"


def as_json(value: Any) -> str:
    """One JSON object in ASCII, which every terminal and pipe can carry; numbers that are not finite are null."""
    return json.dumps(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Folders and files of results

RESULTS = ("report.md", "walk.npz")
"""Files by which the results of an earlier run are known."""

MADE = (*RESULTS, "report.html", "walk.gif", "motion.png", "strip.png")
"""Files that every run of a walk makes; its report names all others."""


def claim(folder: Path, force: bool) -> None:
    """Makes sure that a folder holds no results of an earlier run. ValueError if there are some; with `force` they are
    removed, so that a run which is cut off leaves no mixture of two. Other files stay."""
    found = results_in(folder)
    if found and not force:
        raise ValueError(
            f"--out {folder}: it holds results of an earlier run ({', '.join(path.name for path in found)}): give "
            "another folder, or --force to replace them"
        )
    for path in _made(folder) if found else ():
        path.unlink(missing_ok=True)


def results_in(folder: Path) -> list[Path]:
    """The results of an earlier run in a folder: its report, and solutions."""
    named = [folder / name for name in RESULTS if (folder / name).is_file()]
    solutions = sorted(folder.glob("*.npz")) if folder.is_dir() else []
    return list(dict.fromkeys([*named, *solutions]))


def _made(folder: Path) -> Iterable[Path]:
    """The files in a folder that earlier runs made: those of every run, those that the report names, solutions."""
    report = folder / "report.md"
    text = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
    named = [name for name in re.findall(r"\]\(([^)\s]+)\)", text) if Path(name).name == name]
    paths = [*(folder / name for name in (*MADE, *named)), *results_in(folder)]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


def tell_replaced(path: Path) -> None:
    """A line on standard error if a file is there already, which the command is about to replace."""
    if path.is_file():
        print(f"note: {path} is replaced", file=sys.stderr)
