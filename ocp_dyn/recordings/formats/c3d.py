"""Markers, analog channels and force plates of .c3d files, read by ezc3d (extra `gait`)."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.types import Array, ModelError, repr_in_message
from ..recording import Recording
from .trc import LENGTHS

BLOCK = 512
"""Bytes of a block of a .c3d file."""
CHILD = Path(__file__).with_name("_c3d_child.py")
MEMORY, LONGEST = 2**31, 8.0
"""Memory [bytes] and time [s] that a process which reads a small file may take."""
FARTHEST = 1e6
"""Distance above which a marker counts as missing [m]."""


@dataclass(frozen=True, eq=False)
class Capture:
    """Content of a .c3d file, in the axes of its laboratory; what it does not have is None.

    markers: points [m] at the rate of the cameras. analog: numbers, in the units of the file, at the rate of the analog
    channels. plates: wrenches on the force plates' users, [moment about the origin of the laboratory; force] [N m, N],
    "plate1", "plate2", ..., at that rate; corners: of the plates (plate, 4, 3) [m].

    >>> markers = od.recordings.Recording("heel", [0.0, 0.1], [[[0, 0, 0]], [[0.1, 0, 0]]], "m")
    >>> od.recordings.Capture(markers).plates is None
    True
    """

    markers: Recording | None = None
    analog: Recording | None = None
    plates: Recording | None = None
    corners: Array | None = None

    def __post_init__(self) -> None:
        for key in ("markers", "analog", "plates"):
            value = getattr(self, key)
            if value is not None and not isinstance(value, Recording):
                raise TypeError(f"Capture {key} must be a Recording or None, got {repr_in_message(value)}")


def read(path: Path) -> Capture:
    """The content of a file. ModelError for a file that is none, or is cut off."""
    if importlib.util.find_spec("ezc3d") is None:
        raise ModelError(f"{path.name}: .c3d files are read by ezc3d: pip install 'ocp_dyn[gait]'")
    _check_size(path)
    arrays = _arrays(path)
    return Capture(_markers(arrays, path), _analog(arrays, path), *_plates(arrays, path))


def _arrays(path: Path) -> dict[str, Any]:
    """Arrays of the file by name, read in another process, which a damaged file may end; see `_c3d_child`."""
    size = path.stat().st_size
    command = [sys.executable, "-I", str(CHILD), os.path.abspath(path), str(MEMORY + 40 * size)]
    try:
        run = subprocess.run(command, capture_output=True, timeout=LONGEST + size / 1e6, check=False)
    except subprocess.TimeoutExpired:
        raise ModelError(f"{path.name}: ezc3d does not come to an end with this file: it is damaged") from None
    if run.returncode:
        told = run.stderr.decode("utf-8", "replace").strip().splitlines() if run.returncode == 3 else []
        why = told[-1][:200] if told else "its process ended, as it does with damaged files"
        raise ModelError(f"{path.name}: ezc3d cannot read this file: {why}")
    with np.load(io.BytesIO(run.stdout), allow_pickle=False) as found:
        return dict(found)


def _check_size(path: Path) -> None:
    """Raises ModelError if the file is no .c3d file, or shorter than its header says: ezc3d would read zeros there.

    The C3D File Format, a Technical User Guide (Motion Lab Systems), header section: words 2, 3, 4, 5, 9 and 10.
    """
    raw = path.read_bytes()
    if len(raw) < 2 * BLOCK or raw[1] != 0x50:
        raise ModelError(f"{path.name}: this is no .c3d file: its second byte must be 0x50, and it has a header of 512")
    start = (raw[0] - 1) * BLOCK
    if raw[0] < 2 or start + 4 > len(raw):
        raise ModelError(f"{path.name}: the header places the parameters past the end of the file: it is cut off")
    kind = {84: "<", 85: "<", 86: ">"}.get(raw[start + 3])
    if kind is None:
        raise ModelError(f"{path.name}: the kind of processor must be 84, 85 or 86, got {raw[start + 3]}")
    words = np.frombuffer(raw[:BLOCK], dtype=f"{kind}u2").astype(int)
    frames = int(words[4]) - int(words[3]) + 1
    sign = {84: 15, 85: 13, 86: 12}[raw[start + 3]]  # byte of the sign of the scale, which is negative for floats
    size = 4 if raw[sign] & 0x80 else 2
    need = (int(words[8]) - 1) * BLOCK + frames * (4 * int(words[1]) + int(words[2])) * size
    if frames > 0 and len(raw) < need and int(words[4]) != 65535:
        raise ModelError(
            f"{path.name}: {frames} frames of {words[1]} markers and {words[2]} analog samples need {need} bytes, and "
            f"the file has {len(raw)}: it is cut off"
        )


def _names(labels: Any, count: int, word: str) -> tuple[str, ...]:
    """Labels of all, numbered where they are missing or repeated."""
    found: list[str] = []
    for k in range(count):
        name = (str(labels[k]) if k < len(labels) else "") or f"{word}{k + 1}"
        found.append(name if name not in found else f"{name} ({k + 1})")
    return tuple(found)


def _rates(arrays: dict[str, Any], path: Path) -> tuple[float, float, float]:
    """(time of the first sample [s], rates of cameras and of analog channels [Hz])."""
    cameras, analog = float(arrays["point_rate"]), float(arrays["analog_rate"])
    if not 0 < cameras < 1e6:
        raise ModelError(f"{path.name}: the rate of the cameras must be positive, got {cameras} Hz")
    return int(arrays["first_frame"]) / cameras, cameras, analog if 0 < analog < 1e9 else cameras


def _markers(arrays: dict[str, Any], path: Path) -> Recording | None:
    points = arrays["points"]
    if not points.size:
        return None
    unit = (str(arrays["point_units"][0]) if arrays["point_units"].size else "mm").lower()
    if unit not in LENGTHS:
        raise ModelError(f"{path.name}: POINT:UNITS must be one of {', '.join(LENGTHS)}, got {repr_in_message(unit)}")
    begin, rate, _ = _rates(arrays, path)
    names = _names(arrays["point_labels"], points.shape[1], "marker")
    values = np.transpose(points, (2, 1, 0)) * LENGTHS[unit]
    values[~(np.abs(values) < FARTHEST).all(axis=2)] = np.nan
    return Recording(names, begin + np.arange(len(values)) / rate, values, ("m",))


def _analog(arrays: dict[str, Any], path: Path) -> Recording | None:
    samples = arrays["analogs"]
    if not samples.size:
        return None
    begin, _, rate = _rates(arrays, path)
    samples = np.where(np.isfinite(samples), samples, np.nan).T
    names, units = _names(arrays["analog_labels"], samples.shape[1], "channel"), arrays["analog_units"]
    told = tuple(str(units[k]) if k < len(units) else "" for k in range(len(names)))
    return Recording(names, begin + np.arange(len(samples)) / rate, samples, told)


def _plates(arrays: dict[str, Any], path: Path) -> tuple[Recording | None, Array | None]:
    """Wrenches on those who stand on the plates, about the origin of the laboratory, and the corners.

    ezc3d gives moments about the middle of the corners.
    """
    force, moment, corners = (np.array(arrays[key]) for key in ("force", "moment", "corners"))
    if not force.size:
        return None, None
    units = [[unit.strip().lower().replace(" ", "") for unit in plate] for plate in arrays["plate_units"].tolist()]
    corners *= np.array([LENGTHS.get(length, 0.001) for length, _ in units])[:, None, None]
    moment *= np.array([0.001 if unit == "nmm" else 1.0 for _, unit in units])[:, None, None]
    moment = moment + np.cross(corners.mean(axis=1)[:, None], force)
    values = np.concatenate([moment, force], axis=2).swapaxes(0, 1)
    values[~np.isfinite(values).all(axis=2)] = np.nan
    begin, _, rate = _rates(arrays, path)
    names = tuple(f"plate{k}" for k in range(1, len(force) + 1))
    return Recording(names, begin + np.arange(len(values)) / rate, values, ("N m, N",)), corners
