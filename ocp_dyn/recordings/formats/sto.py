"""Tables of OpenSim and SIMM: .sto and .mot, all versions.

| header | meaning |
|---|---|
| a line without "=" before the first that has one | title |
| `version=1`, 2 or 3; `nRows=`, `nColumns=`, `datarows N`, `datacolumns N` | checked against the table |
| `inDegrees=yes` | numbers that are angles are in degrees |
| `DataType=double`, `Vec3`, `Quaternion`, `SpatialVec` | numbers, points, orientations (w first), wrenches |
| `endheader` | the names follow, then the rows |
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..._base.files import whole_file
from ..._base.types import repr_in_message
from ..recording import Recording
from .text import Lines, count_in, increasing, once, writable, written

SIZES = {"double": 1, "vec3": 3, "quaternion": 4, "spatialvec": 6}
"""Numbers of an entry by the type of data."""
UNITS = {"double": "", "vec3": "", "quaternion": "", "spatialvec": "N m, N"}


def read(lines: Lines) -> Recording:
    """The table; its units are "deg" with inDegrees=yes, else not known; quaternions become (x, y, z, w)."""
    header, title, end = _header(lines)
    kind = header.get("datatype", ("double", end))
    if kind[0].lower() not in SIZES:
        raise lines.error(kind[1], f"DataType must be double, Vec3, Quaternion or SpatialVec, got {kind[0]!r:.80}")
    size = SIZES[kind[0].lower()]
    names, first = _names(lines, end)
    rows, numbers = [], []
    for line in range(first, len(lines.lines) + 1):
        text = lines.lines[line - 1]
        if not text.strip():
            continue
        words = _words(text)
        if len(words) != len(names):
            raise lines.error(
                line,
                f"{len(words)} columns, and line {first - 1} names {len(names)}: the file is cut off here, or a column "
                "is empty (write nan for a missing number)",
            )
        rows.append(_row(lines, words, names, line, size))
        numbers.append(line)
    if not rows:
        raise lines.error(end, "there is no row below the header")
    for keys, count in ((("nrows", "datarows"), len(rows)), (("ncolumns", "datacolumns"), len(names))):
        for key in keys:
            if key in header and count_in(lines, *header[key], key) != count:
                raise lines.error(
                    header[key][1],
                    f"{key} is {header[key][0]}, and there are {count}: the file is cut off, or its header is another "
                    "one's; correct the number if all is there",
                )
    table = np.array(rows)
    increasing(lines, table[:, 0], numbers)
    values = table[:, 1:] if size == 1 else table[:, 1:].reshape(len(table), len(names) - 1, size)
    if size == 4:
        values = _unit(lines, values, numbers, names)
    unit = "deg" if _in_degrees(lines, header) and size == 1 else UNITS[kind[0].lower()]
    return Recording(tuple(names[1:]), table[:, 0], values, (unit,), title)


def _header(lines: Lines) -> tuple[dict[str, tuple[str, int]], str, int]:
    """(values with their lines by key in small letters, title, line of endheader)."""
    found: dict[str, tuple[str, int]] = {}
    title = ""
    for line, text in enumerate(lines.lines, 1):
        words = text.strip()
        if words.lower() == "endheader":
            return found, title, line
        pair = re.fullmatch(r"(\w+)\s*=\s*(.*)", words) or re.fullmatch(
            r"(?i)(datacolumns|datarows|name|range|otherdata)\s+(.*)", words
        )
        if pair:
            key, value = pair[1].lower(), pair[2].strip()
            if key in found and found[key][0] != value:
                raise lines.error(
                    line, f"{pair[1]} is {value!r:.80} here and {found[key][0]!r:.80} on line {found[key][1]}"
                )
            found[key] = value, line
            title = value if key == "name" and not title else title
        elif line == 1:
            title = words
        if line > 10_000:
            break
    raise lines.error(len(lines.lines), "no line is 'endheader', which ends the header of a .sto or .mot file")


def _words(text: str) -> list[str]:
    """Columns of a row: between tabs if there are any, else between blanks; empty ones at the end do not count."""
    text = text.rstrip()
    return [word.strip() for word in text.lstrip(" ").split("\t")] if "\t" in text else text.split()


def _names(lines: Lines, end: int) -> tuple[list[str], int]:
    """Names of the columns, and the first line after them."""
    line = end + 1
    while line <= len(lines.lines) and not lines.lines[line - 1].strip():
        line += 1
    names = _words(lines.lines[line - 1]) if line <= len(lines.lines) else []
    if not names or names[0].lower() != "time":
        got = f"got {repr_in_message(names[0])}" if names else "and the file ends"
        raise lines.error(min(line, len(lines.lines)), f"the first column below the header must be 'time', {got}")
    once(lines, names, line, "column")
    return names, line + 1


def _row(lines: Lines, words: list[str], names: list[str], line: int, size: int) -> list[float]:
    if size == 1:
        return lines.row(words, names, line)
    found = [lines.number(words[0], line, "column time")]
    for word, name in zip(words[1:], names[1:], strict=True):
        parts = word.strip("()~[] ").split(",")
        if len(parts) != size:
            if word.strip().lower() in ("nan", ""):
                parts = ["nan"] * size
            else:
                raise lines.error(line, f"column {name} must hold {size} numbers with commas between, got {word!r:.80}")
        found += [lines.number(part, line, f"column {name}") for part in parts]
    return found


def _unit(lines: Lines, values: np.ndarray, numbers: list[int], names: list[str]) -> np.ndarray:
    """Quaternions (w, x, y, z) of a file as (x, y, z, w) of length one."""
    length = np.linalg.norm(values, axis=2)
    wrong = np.argwhere(np.abs(length - 1) > 1e-2)
    if wrong.size:
        k, i = wrong[0]
        raise lines.error(
            numbers[k], f"the quaternion of {names[1 + i]} has the length {length[k, i]:.4g}: orientations have 1"
        )
    return np.asarray((values / length[..., None])[..., [1, 2, 3, 0]])


def _in_degrees(lines: Lines, header: dict[str, tuple[str, int]]) -> bool:
    value, line = header.get("indegrees", ("no", 1))
    if value.lower() not in ("yes", "no", "y", "n", "true", "false"):
        raise lines.error(line, f"inDegrees must be yes or no, got {value!r:.80}")
    return value.lower()[0] in "yt"


def write(recording: Recording, path: Path) -> None:
    """Writes numbers (inDegrees=yes if a unit is "deg"), points or orientations; ValueError for wrenches."""
    kinds = {"numbers": "double", "points": "Vec3", "orientations": "Quaternion"}
    if recording.kind not in kinds:
        raise ValueError(f"{path.name}: a .sto file holds numbers, points or orientations, got {recording!r}")
    names = [writable(name, path, "\t") for name in recording.names]
    kind = kinds[recording.kind]
    degrees = "yes" if "deg" in recording.units else "no"
    header = [writable(recording.title.strip(), path, "=") or path.stem.replace("=", " ")]
    if kind == "double":
        header += ["version=1", f"nRows={recording.times.size}", f"nColumns={len(names) + 1}", f"inDegrees={degrees}"]
    else:
        header += [f"DataType={kind}", "version=3", "OpenSimVersion=4.6"]
    rows = ["\t".join(["time", *names])]
    for time, row in zip(recording.times, recording.values, strict=True):
        if kind == "double":
            words = [written(x) or "nan" for x in row]
        else:
            order = row[:, [3, 0, 1, 2]] if kind == "Quaternion" else row
            words = [",".join(written(x) or "nan" for x in entry) for entry in order]
        rows.append("\t".join([written(time), *words]))
    with whole_file(path) as file:
        file.write_text("\n".join([*header, "endheader", *rows]) + "\n", encoding="utf-8")
