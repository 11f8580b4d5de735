"""Lines of a text file, and tables of numbers in it, with errors that name the line."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.files import file_to_read
from ..._base.types import Array, ModelError, repr_in_message

LARGEST_FILE = 2**31
"""Size above which a text is refused [bytes]."""
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?", re.ASCII)
MISSING = {"", "nan", "na", "null", "none", "-nan", "nan(ind)", "-nan(ind)", "-1.#ind", "1.#qnan"}
"""Words, in small letters, that stand for a sample that is missing."""


@dataclass(frozen=True)
class Lines:
    """The lines of a file. name: of the file, in messages; decimal: the mark in its numbers, "." or ","."""

    name: str
    lines: tuple[str, ...]
    decimal: str = "."

    def error(self, line: int, text: str) -> ModelError:
        """An error at a line, which are numbered from 1."""
        return ModelError(f"{self.name}, line {line}: {text}")

    def number(self, word: str, line: int, what: str) -> float:
        """One number; NaN where it is missing."""
        word = word.strip()
        if self.decimal == ",":
            word = word.replace(",", ".")
        if NUMBER.fullmatch(word):
            found = float(word.replace("d", "e").replace("D", "e"))
            if math.isinf(found):
                raise self.error(line, f"{what} is {repr_in_message(word)}, too large for a number")
            return found
        if word.lower() in MISSING:
            return math.nan
        if self.decimal == "." and NUMBER.fullmatch(word.replace(",", ".")):
            raise self.error(
                line,
                f"{what} is {repr_in_message(word)}, with a comma as decimal mark: give decimal=',' when loading, or "
                "write the file with points",
            )
        raise self.error(line, f"{what} must be a number, got {repr_in_message(word)}")

    def row(self, words: Sequence[str], names: Sequence[str], line: int) -> list[float]:
        """The numbers of a row, of which the column has a name."""
        return [self.number(word, line, f"column {name}") for word, name in zip(words, names, strict=True)]


def read_lines(path: Any, encoding: str = "utf-8", decimal: str = ".") -> Lines:
    """Lines of a text file in an encoding, without the mark of byte order. ModelError for bytes that are not text;
    OSError where the file cannot be read."""
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', got {repr_in_message(decimal)}")
    file = file_to_read(path)
    if file.stat().st_size > LARGEST_FILE:
        raise ModelError(f"{file.name}: a recording may have 2 GiB at most: cut it into parts")
    return lines_of(file.read_bytes(), file.name, encoding, decimal)


def lines_of(raw: bytes, name: str, encoding: str = "utf-8", decimal: str = ".") -> Lines:
    """Lines of the bytes of a file."""
    try:
        codec = codecs.lookup(encoding).name
        if not codecs.lookup(encoding)._is_text_encoding:
            raise LookupError
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"encoding must be one that Python knows, such as 'utf-8', got {encoding!r:.80}") from None
    for mark, marked in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if raw.startswith(mark):
            codec, raw = marked, raw.removeprefix(mark) if marked == "utf-8" else raw
            break
    zero = -1 if "16" in codec or "32" in codec else raw.find(b"\0")
    if zero >= 0:
        line = len(re.split(rb"\r\n|\r|\n", raw[:zero]))
        raise ModelError(f"{name}, line {line}: a zero byte is no text: this may be a binary file, or UTF-16")
    try:
        text = raw.decode(codec)
    except (UnicodeDecodeError, ValueError) as error:
        start = getattr(error, "start", 0)
        line = len(re.split(rb"\r\n|\r|\n", raw[:start]))
        raise ModelError(
            f"{name}, line {line}: byte 0x{raw[start]:02x} is not {codec}: save the file as UTF-8, or name its "
            "encoding when loading, as encoding='cp1252'"
        ) from None
    return Lines(name, tuple(re.split("\r\n|\r|\n", text)), decimal)


def increasing(lines: Lines, times: Array, numbers: Sequence[int]) -> None:
    """Raises ModelError for a time that is missing or not after the one before. numbers: lines of the rows."""
    for k, (time, line) in enumerate(zip(times, numbers, strict=True)):
        if np.isnan(time):
            raise lines.error(line, "the time is missing")
        if k and time <= times[k - 1]:
            way = "the same as" if time == times[k - 1] else "before"
            raise lines.error(
                line,
                f"the time {time:.10g} is {way} {times[k - 1]:.10g} of the row before: times must increase; sort the "
                "rows, and keep one of those with the same time",
            )


def once(lines: Lines, names: Sequence[str], line: int, what: str) -> None:
    """Raises ModelError for an empty name, or one that is there twice."""
    seen: set[str] = set()
    for k, name in enumerate(names, 1):
        if not name:
            raise lines.error(line, f"{what} {k} of {len(names)} has no name")
        if name in seen:
            raise lines.error(line, f"the {what} {repr_in_message(name)} is there twice: give each a name of its own")
        seen.add(name)


def count_in(lines: Lines, word: str, line: int, what: str) -> int:
    """A whole number of a header."""
    if not re.fullmatch(r"\+?\d{1,15}", word.strip(), re.ASCII):
        raise lines.error(line, f"{what} must be a whole number, got {repr_in_message(word)}")
    return int(word)


def written(value: float) -> str:
    """The shortest text from which the same number is read; empty where it is missing."""
    return "" if math.isnan(value) else repr(float(value))


def writable(name: str, path: Path, forbidden: str) -> str:
    """A name, if a file can hold it: without the marks that separate columns."""
    if any(letter in name for letter in forbidden + "\n\r\0") or name != name.strip():
        raise ValueError(
            f"{path.name}: the name {repr_in_message(name)} holds a mark that separates columns or lines, or begins or "
            "ends with a blank: rename it"
        )
    return name
