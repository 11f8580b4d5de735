"""The file of a fit: where its search stands, so that a second call goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...._base.files import path_of, whole_file
from ...._base.identity import digest
from ...._base.types import Array
from .measured import Measured
from .parameters import Scaled

SUFFIX = ".npz"


def key_of(scaled: Scaled, data: Mapping[str, Any]) -> str:
    """A digest of the parameters, their bounds and priors, and of the data."""
    parts: list[str] = [repr(scaled.names), repr(scaled.entries)]
    numbers = [scaled.lower, scaled.upper, scaled.prior, scaled.spread, scaled.start]
    for name, measurements in data.items():
        parts.append(name)
        for measured in measurements:
            assert isinstance(measured, Measured)
            parts.append(measured.name)
            numbers += [measured.values, measured.spread]
    return digest(*parts, *(array.tobytes().hex() for array in numbers))


def save(path: Path, key: str, z: Array, costs: list[float], done: bool) -> None:
    """Writes the point that has been reached; the file is complete, or stays as it was."""
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, head=np.array(json.dumps({"key": key, "done": done})), z=z, costs=np.array(costs))


def load(path: Path, key: str) -> tuple[Array, list[float]] | None:
    """The point and the sums of squares in a file; None if there is none. ValueError for a file of another fit."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            head, z, costs = json.loads(str(file["head"])), np.array(file["z"]), file["costs"].tolist()
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: is no file of a fit ({error}): give another path, or remove it") from None
    if not isinstance(head, dict) or head.get("key") != key:
        raise ValueError(
            f"{path}: belongs to a fit of other parameters or data: give another path, or remove the file to begin anew"
        )
    return z, costs


def checked(path: Any) -> Path | None:
    """The path of the file, with its ending."""
    if path is None:
        return None
    found = path_of(path, "fit file")
    return found if found.suffix == SUFFIX else found.with_name(found.name + SUFFIX)
