"""Tables in CSV: a line of names with units in brackets, as "time [s], knee [rad]", then a row per sample."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from ..._base.files import whole_file
from ..._base.types import repr_in_message
from ..recording import Recording
from .text import Lines, increasing, once, writable, written

TIME_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3}
LETTERS = {3: ("x", "y", "z"), 4: ("qx", "qy", "qz", "qw"), 6: ("mx", "my", "mz", "fx", "fy", "fz")}
"""Ends of the names of columns that hold the parts of one sample."""


def read(lines: Lines) -> Recording:
    """The table, of numbers; the first column is the time. Columns are separated by the mark that is most often in the
    first line: comma, semicolon or tab."""
    first = lines.lines[0]
    mark = max(",;\t", key=first.count)
    if mark == "," and lines.decimal == ",":
        raise lines.error(1, "columns are separated by commas, so numbers cannot have commas as decimal marks")
    labels = _split(lines, first, mark, 1)
    while labels and not labels[-1].strip():
        labels.pop()
    names, units = zip(*(_label(label) for label in labels), strict=True) if labels else ((), ())
    if not names or names[0].lower() not in ("time", "t") or units[0].lower() not in TIME_UNITS:
        raise lines.error(1, f"the first column must be 'time', in s or ms, got {repr_in_message(labels[:1])}")
    once(lines, names, 1, "column")
    rows, numbers = [], []
    for line, text in enumerate(lines.lines[1:], 2):
        if not text.strip():
            continue
        words = _split(lines, text, mark, line)
        while len(words) > len(names) and not words[-1].strip():
            words.pop()
        if len(words) != len(names):
            raise lines.error(line, f"{len(words)} columns, and line 1 names {len(names)}: the file is cut off here")
        rows.append(lines.row(words, names, line))
        numbers.append(line)
    if not rows:
        raise lines.error(1, "there is no row below the names")
    table = np.array(rows)
    increasing(lines, table[:, 0], numbers)
    return Recording(names[1:], table[:, 0] * TIME_UNITS[units[0].lower()], table[:, 1:], units[1:] or ("",))


def _split(lines: Lines, text: str, mark: str, line: int) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text), delimiter=mark, strict=True), [])
    except csv.Error as error:
        raise lines.error(line, f"the quotes of this row do not match ({error})") from None


def _label(label: str) -> tuple[str, str]:
    """(name, unit) of a heading such as "knee [rad]" or "Time (s)"."""
    pair = re.fullmatch(r"(.*?)\s*[\[(]([^\[\]()]*)[\])]\s*", label.strip())
    return (pair[1].strip(), pair[2].strip()) if pair and pair[1].strip() else (label.strip(), "")


def write(recording: Recording, path: Path) -> None:
    """Writes any recording; parts of points are NAME.x, of orientations NAME.qx, of wrenches NAME.mx, NAME.fx."""
    flat = recording.values.reshape(recording.times.size, -1)
    size = flat.shape[1] // max(len(recording.names), 1)
    heads = []
    for name, unit in zip(recording.names, recording.units, strict=True):
        writable(name, path, ',;"[]()')
        ends = [f".{letter}" for letter in LETTERS[size]] if size in LETTERS else [""]
        parts = unit.split(", ") if size == 6 else [unit]
        units = [parts[min(k // 3, len(parts) - 1)] for k in range(len(ends))]
        heads += [f"{name}{end} [{u}]" if u else name + end for end, u in zip(ends, units, strict=True)]
    rows = [",".join(["time [s]", *heads])]
    rows += [",".join([written(t), *(written(x) for x in row)]) for t, row in zip(recording.times, flat, strict=True)]
    with whole_file(path) as file:
        file.write_text("\n".join(rows) + "\n", encoding="utf-8")
