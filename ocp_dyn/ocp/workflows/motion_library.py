"""Library of solutions: a folder with a file for every point of a sweep, and a note of the settings of all of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..._base.files import path_of, whole_file
from ..._base.types import repr_in_message
from ..solution import Solution


class Named(Protocol):
    """Anything with a name that can be the name of a file."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Library:
    """A folder of solutions, NAME.npz for the point of that name; every file appears complete or not at all.

    joints, constraints: classes of the user's own joints and constraints, see `Solution.load`.

    >>> ocp.Library("gaits").path(ocp.grid(speed=[1.2])[0]).name
    'speed_1.2.npz'
    """

    folder: Path
    joints: Any = ()
    constraints: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", path_of(self.folder, "folder"))

    def path(self, point: Named) -> Path:
        """The path of a point's file, which need not exist."""
        if not isinstance(getattr(point, "name", None), str):
            raise TypeError(
                "a library holds solutions of points that have a name, such as grid(...)[0], got "
                f"{repr_in_message(point)}"
            )
        return self.folder / f"{point.name}.npz"

    def load(self, point: Named) -> Solution:
        """The solution of a point; FileNotFoundError if there is none yet, ValueError if its file is damaged."""
        return self._read(self.path(point))

    def _read(self, path: Path) -> Solution:
        return Solution.load(path, joints=self.joints, constraints=self.constraints)

    def converged(self, point: Named) -> bool | None:
        """Whether the point's solution converged; None if there is none yet, or its file is damaged."""
        try:
            return self.load(point).converged
        except (FileNotFoundError, ValueError):
            return None

    def write(self, name: str, content: bytes) -> Path:
        """Writes a file of the folder."""
        with whole_file(self.folder / name) as partial:
            partial.write_bytes(content)
        return self.folder / name

    def keep(self, point: Named, content: bytes, if_better: bool = False) -> Solution:
        """Writes the file of a point's solution, and returns the solution that the file then contains.

        if_better: an existing file is replaced only if the new solution converged and costs less.
        """
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(folder, "fresh.npz")
            fresh.write_bytes(content)
            solution = self._read(fresh)
        if if_better:
            before = self.load(point)
            if not (solution.converged and solution.objective < before.objective):
                return before
        self.write(self.path(point).name, content)
        return solution

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Makes the folder, with the settings of all its solutions in the file library.json.

        ValueError if the folder contains solutions of other settings, or library.json is damaged.
        """
        try:
            text = json.dumps(dict(settings))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"settings must be values that JSON can hold, got {repr_in_message(settings)}: {error}"
            ) from None
        self.folder.mkdir(parents=True, exist_ok=True)
        note = self.folder / "library.json"
        if not note.exists():
            self.write(note.name, text.encode())
        try:
            known = json.loads(note.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{note} is damaged ({error}): remove it, or choose another folder") from None
        if known != json.loads(text):
            raise ValueError(
                f"{self.folder} holds solutions of {repr_in_message(known)}, not {repr_in_message(dict(settings))}: "
                "choose another folder"
            )
