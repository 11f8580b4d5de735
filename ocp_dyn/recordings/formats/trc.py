"""Markers in .trc files (track row column, of Motion Analysis and OpenSim)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._base.files import whole_file
from ..._base.types import Array, repr_in_message, suggestion
from ..recording import Recording
from .text import Lines, count_in, increasing, once, writable, written

LENGTHS = {
    "m": 1.0, "meters": 1.0, "meter": 1.0, "dm": 0.1, "cm": 0.01, "centimeters": 0.01, "mm": 0.001,
    "millimeters": 0.001, "in": 0.0254, "inches": 0.0254, "ft": 0.3048,
}  # fmt: skip
"""Meters in a unit of length."""
NEAREST, FARTHEST = 0.02, 30.0
"""Median extent of the markers of a frame outside which the unit is not believed [m]."""
RATE_TOLERANCE = 0.02
"""Relative difference of the rates of header and times up to which they are the same."""


def read(lines: Lines, units: str | None = None) -> Recording:
    """Markers [m], in the axes of the file; units: those of the file, whatever its header says."""
    header = _header(lines)
    names, first = _names(lines, header["NumMarkers"])
    width = 2 + 3 * len(names)
    labels = ["Frame", "Time", *(f"{name} {axis}" for name in names for axis in "xyz")]
    rows, numbers = [], []
    for line in range(first, len(lines.lines) + 1):
        words = lines.lines[line - 1].split("\t")
        if not any(word.strip() for word in words):
            continue
        while len(words) > width and not words[-1].strip():
            words.pop()
        if len(words) != width:
            raise lines.error(
                line,
                f"{len(words)} columns, and frame, time and {len(names)} markers need {width}: the file is cut off "
                "here, or a tab is missing (missing samples are empty columns)",
            )
        rows.append(lines.row(words, labels, line))
        numbers.append(line)
    if not rows:
        raise lines.error(min(first, len(lines.lines)), "there is no frame below the header")
    if len(rows) != header["NumFrames"]:
        raise lines.error(
            3,
            f"NumFrames is {header['NumFrames']}, and there are {len(rows)} frames: the file is cut off, or its header "
            "is another one's; correct the number if all frames are there",
        )
    table = np.array(rows)
    increasing(lines, table[:, 1], numbers)
    _check_rate(lines, header, table[:, 1])
    values = table[:, 2:].reshape(len(table), len(names), 3)
    half = np.isnan(values).any(axis=2) & ~np.isnan(values).all(axis=2)
    if half.any():
        k, i = np.argwhere(half)[0]
        raise lines.error(numbers[k], f"the marker {names[i]} has only some of x, y and z")
    title = lines.lines[0].split("\t")[-1].strip()
    return Recording(tuple(names), table[:, 1], values * _length(lines, header, units, values), ("m",), title)


def _header(lines: Lines) -> dict[str, Any]:
    """The fields of lines 2 and 3."""
    if len(lines.lines) < 5 or not lines.lines[0].startswith("PathFileType"):
        raise lines.error(
            1,
            "a .trc file begins with 'PathFileType' and has five lines of header, got "
            f"{repr_in_message(lines.lines[0][:60])}",
        )
    keys, words = lines.lines[1].split(), lines.lines[2].split()  # some programs write two tabs between values
    found: dict[str, Any] = dict(zip(keys, words, strict=False))
    for key in ("NumFrames", "NumMarkers"):
        if key not in found:
            raise lines.error(2, f"the header has no {key}{suggestion(key, keys)}: lines 2 and 3 hold names and values")
        found[key] = count_in(lines, found[key], 3, key)
    return found


def _names(lines: Lines, count: int) -> tuple[list[str], int]:
    """Names of the markers, and the line from which the frames may begin."""
    words = [word.strip() for word in lines.lines[3].rstrip().split("\t")]
    if len(words) < 2 or words[1].lower() != "time":
        raise lines.error(4, "columns must be 'Frame#', 'Time' and the names of markers, every third column one")
    spaced = [word for k, word in enumerate(words[2:]) if k % 3 == 0]
    between = [word for k, word in enumerate(words[2:]) if k % 3 and word]
    names = words[2:] if between and all(words[2:]) else spaced
    if between and names is spaced:
        raise lines.error(4, f"the name {repr_in_message(between[0])} is not above the x of a marker: count the tabs")
    if len(names) != count:
        raise lines.error(3, f"NumMarkers is {count}, and line 4 has {len(names)} names")
    once(lines, names, 4, "marker")
    return names, 6


def _check_rate(lines: Lines, header: dict[str, Any], times: Array) -> None:
    """Raises ModelError if DataRate and the times contradict each other."""
    if "DataRate" not in header or times.size < 3:
        return
    rate = lines.number(header["DataRate"], 3, "DataRate")
    step = float(np.median(np.diff(times)))
    if not abs(rate * step - 1) <= max(RATE_TOLERANCE, 6e-4 / step):  # times may be rounded to milliseconds
        raise lines.error(
            3, f"DataRate is {rate:g} Hz, and the times are {step:.6g} s apart ({1 / step:.6g} Hz): correct one of them"
        )


def _length(lines: Lines, header: dict[str, Any], units: str | None, values: Array) -> float:
    """Meters in the unit of the file."""
    unit = str(header.get("Units", "")) if units is None else units
    if unit.lower() not in LENGTHS:
        text = f"Units must be one of {', '.join(LENGTHS)}, got {repr_in_message(unit)}: correct it, or give units='mm'"
        raise lines.error(3, text) if units is None else ValueError(f"{lines.name}: {text}")
    scale = LENGTHS[unit.lower()]
    if units is None and values.shape[1] > 2:
        seen = values[np.isfinite(values).all(axis=(1, 2))]
        extent = float(np.median(np.ptp(seen, axis=1).max(axis=1))) * scale if len(seen) else 1.0
        if not NEAREST < extent < FARTHEST and extent > 0:
            raise lines.error(
                3,
                f"Units is {unit}, and the markers of a frame are {extent:.3g} m apart, as no body's are: the numbers "
                "are in another unit; correct it, or give units=, which is then taken as it is",
            )
    return scale


def write(recording: Recording, path: Path, unit: str = "mm") -> None:
    """Writes points [m] with a frame per sample; ValueError for other kinds."""
    if recording.kind != "points" or any(u not in ("m", "") for u in recording.units):
        raise ValueError(f"{path.name}: a .trc file holds points in m, got {recording!r}")
    if unit not in LENGTHS:
        raise ValueError(f"{path.name}: unit must be one of {', '.join(LENGTHS)}, got {repr_in_message(unit)}")
    names = [writable(name, path, "\t") for name in recording.names]
    step = np.median(np.diff(recording.times)) if recording.times.size > 1 else 0.01
    rate, count = f"{1 / step:.10g}", recording.times.size
    keys = "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames"
    fields = [rate, rate, count, len(names), unit, rate, 1, count]
    axes = "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(names) + 1))
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        keys.replace(" ", "\t"),
        "\t".join(str(field) for field in fields),
        "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t",
        "\t\t" + axes,
        "",
    ]
    for k, (time, row) in enumerate(zip(recording.times, recording.values / LENGTHS[unit], strict=True), 1):
        lines.append("\t".join([str(k), written(time), *(written(x) for x in row.ravel())]))
    with whole_file(path) as file:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
