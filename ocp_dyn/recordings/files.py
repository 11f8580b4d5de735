"""Files of recordings, read and written by the ending of their name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._base.checks import choice
from .._base.files import file_to_read, path_of
from .._base.types import ModelError, repr_in_message
from .forces import force_table
from .formats import c3d, csv, sto, trc
from .formats.c3d import Capture
from .formats.text import read_lines
from .recording import Recording

ENDINGS = (".trc", ".mot", ".sto", ".csv", ".c3d")


def read(
    path: Any, *, up: str | None = None, units: str | None = None, encoding: str = "utf-8", decimal: str = "."
) -> Recording:
    """The recording in a file: .trc and .c3d give points [m], .mot and .sto what they hold, .csv numbers.

    up: the vertical axis of the file; "y" turns points, orientations and wrenches to z up, (x, y, z) becomes (x, -z,
    y). units: of the markers in a .trc file, whatever its header says. decimal: the mark in the numbers. Of a .c3d file
    the markers; see `read_c3d` for its force plates.

    Raises ModelError with the line and the remedy for a file that is cut off, contradicts its header, or holds anything
    but text and numbers; nothing is read by halves. OSError if the file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/heel.trc"
    ...     heel = od.recordings.Recording("heel", [0.0, 0.01], [[[1.0, 0.0, 0.2]], [[1.1, 0.0, 0.2]]], "m")
    ...     od.recordings.write(heel, file, up="y")  # as OpenSim has it
    ...     od.recordings.read(file, up="y")["heel"][1].tolist()
    [1.1, 0.0, 0.2]
    """
    file, ending = _file(path, "read")
    if units is not None and ending != ".trc":
        raise ValueError(f"read: units= is for the markers of a .trc file, and {file.name} is none")
    if ending == ".c3d":
        markers = c3d.read(file).markers
        if markers is None:
            raise ModelError(f"{file.name}: there are no markers in this file; read_c3d gives what it has")
        found = markers
    else:
        lines = read_lines(file, encoding, decimal)
        found = trc.read(lines, units) if ending == ".trc" else (csv if ending == ".csv" else sto).read(lines)
    return _in_axes(found, up, "read")


def read_c3d(path: Any, *, up: str | None = None) -> Capture:
    """Markers, analog channels and force plates of a .c3d file; see `Capture`. It needs the extra `gait` (ezc3d).

    >>> od.recordings.read_c3d("walk.c4d")
    Traceback (most recent call last):
        ...
    ocp_dyn._base.types.ModelError: read_c3d: 'walk.c4d' must end with .c3d
    """
    file = path_of(path, "read_c3d: path")
    if file.suffix.lower() != ".c3d":
        raise ModelError(f"read_c3d: {repr_in_message(file.name)} must end with .c3d")
    found = c3d.read(file_to_read(file))
    markers, plates = (None if x is None else _in_axes(x, up, "read_c3d") for x in (found.markers, found.plates))
    corners = found.corners
    if corners is not None and up == "y":
        corners = corners[..., [0, 2, 1]] * (1, -1, 1)
    return Capture(markers, found.analog, plates, corners)


def write(recording: Recording, path: Any, *, up: str | None = None, unit: str = "mm") -> None:
    """Writes a recording: points to .trc (in `unit`), numbers, points and orientations to .sto and .mot, wrenches to
    .mot as forces, centers of pressure and free moments (see `force_table`), anything to .csv.

    up: "y" turns axes with z up into axes with y up, as OpenSim has them: (x, y, z) becomes (x, z, -y). The file
    appears complete or not at all.

    >>> od.recordings.write(od.recordings.Recording("knee", [0.0], [[0.1]], "rad"), "knee.txt")
    Traceback (most recent call last):
        ...
    ValueError: write: 'knee.txt' must end with .trc, .mot, .sto or .csv
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"write needs a Recording, got {repr_in_message(recording)}")
    file = path_of(path, "write: path")
    ending = file.suffix.lower()
    if ending not in ENDINGS[:-1]:
        raise ValueError(f"write: {repr_in_message(file.name)} must end with .trc, .mot, .sto or .csv")
    if recording.kind == "wrenches" and ending in (".mot", ".sto"):
        recording = force_table(recording, up=choice(up or "z", ("y", "z"), "write: up"))
    elif up is not None and choice(up, ("y", "z"), "write: up") == "y" and recording.kind != "numbers":
        recording = recording.turned([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    if ending == ".trc":
        trc.write(recording, file, unit)
    elif ending == ".csv":
        csv.write(recording, file)
    else:
        sto.write(recording, file)


def _file(path: Any, what: str) -> tuple[Path, str]:
    file = path_of(path, f"{what}: path")
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise ModelError(f"{what}: {repr_in_message(file.name)} must end with {', '.join(ENDINGS)}")
    return file, ending


def _in_axes(recording: Recording, up: str | None, what: str) -> Recording:
    if up is None or choice(up, ("y", "z"), f"{what}: up") == "z":
        return recording
    if recording.kind == "numbers":
        raise ValueError(
            f"{what}: up='y' turns points, orientations and wrenches, and this file holds numbers: of forces say "
            "ground_forces(recording, feet, up='y'); angles and translations of joints do not turn"
        )
    return recording.z_up()
