"""Standard output of commands: tables, or one JSON object. A disk that is full ends them with an error, a pipe that is
closed without a word."""

from __future__ import annotations

import argparse
import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

FAULTY, CLOSED_PIPE = 1, 141
"""Exit statuses: the output cannot be written; the reader of a pipe has stopped, as of other programs."""

WITHOUT_ROOM = tuple(getattr(errno, name) for name in ("ENOSPC", "EFBIG", "EDQUOT", "EIO") if hasattr(errno, name))
"""Errors of output that cannot be written."""


class Parser(argparse.ArgumentParser):
    """A parser whose help is written or fails; that of argparse ignores errors of standard output."""

    def print_help(self, file: Any = None) -> None:
        stream = sys.stdout if file is None else file
        if stream is not None:
            stream.write(self.format_help())
            stream.flush()


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
