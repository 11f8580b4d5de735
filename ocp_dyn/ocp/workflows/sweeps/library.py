"""Library of solutions: a folder with a file and a record for every point of a sweep, and a note of the settings.

    library.json          settings that all solutions have in common
    NAME.npz              the solution of the point of that name
    records/NAME.json     its record: digest of the file, cost, iterations, start; or why there is no solution
    quarantine/           files that are damaged: their points are solved again
    leases/               which running sweep works on which point, see `leases`

A solution is written first and its record after it. A solution without a record, as a killed process may leave one, is
read as a whole, and gets a record if it is sound.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...._base.types import repr_in_message
from ...motion.solution_files import load_motion
from ...solution import Solution
from . import data_set
from .store import LocalStore, Store, store_of

ROUNDING = 1e-9
"""Difference of costs below which two solutions are the same one, solved twice."""

RECORDS, QUARANTINE = "records", "quarantine"


class Named(Protocol):
    """Anything with a name that can be the name of a file."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Library:
    """A folder of solutions, NAME.npz for the point of that name; every file appears complete or not at all.

    folder: a path, or an address such as "s3://bucket/gaits" that fsspec (extra `cluster`) opens. joints, constraints:
    classes of the user's own joints and constraints, see `Solution.load`.

    >>> ocp.Library("gaits").path(ocp.grid(speed=[1.2])[0]).name
    'speed_1.2.npz'
    """

    folder: Any
    joints: Any = ()
    constraints: Any = ()
    store: Store = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        store = store_of(self.folder)
        object.__setattr__(self, "store", store)
        object.__setattr__(self, "folder", store.folder if isinstance(store, LocalStore) else store.place)

    def path(self, point: Named) -> Path:
        """The path of a point's file, which need not exist; ValueError in a folder on another machine."""
        name = file_of(point)
        if isinstance(self.store, LocalStore):
            return self.store.folder / name
        raise ValueError(f"{self.folder} has no paths of this machine: library.load(point) reads a solution")

    def load(self, point: Named) -> Solution:
        """The solution of a point; FileNotFoundError if there is none yet, ValueError if its file is damaged."""
        name = file_of(point)
        if isinstance(self.store, LocalStore):
            return self._read(self.store.folder / name)
        return self.solution(self.store.read(name))

    def solution(self, content: bytes) -> Solution:
        """The solution that a file of this content holds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "solution.npz")
            path.write_bytes(content)
            return self._read(path)

    def _read(self, path: Path) -> Solution:
        return load_motion(path, Solution, joints=self.joints, constraints=self.constraints)

    def converged(self, point: Named) -> bool | None:
        """Whether the point's solution converged; None if there is none yet, or its file is damaged."""
        return self.record(point).get("converged")

    def records(self, points: Iterable[Named]) -> dict[str, dict[str, Any]]:
        """Records of those of the points that have a sound solution, or an error, by name. The folder is listed once.

        The content of every file on a disk of this machine is compared with the digest in its record; of a remote file
        its size alone.
        """
        there, noted = self.store.sizes(), self.store.sizes(RECORDS)
        listed = [point for point in points if file_of(point) in there or f"{point.name}.json" in noted]
        contents = self.store.read_many(_note_of(point) for point in listed)
        found = {
            point.name: self._checked(point, _parsed(contents.get(_note_of(point), b"")), there.get(file_of(point)))
            for point in listed
        }
        return {name: record for name, record in found.items() if record}

    def record(self, point: Named) -> dict[str, Any]:
        """The record of a point: its entries are those of `figures_of`, the digest and size of the file, and what the
        sweep adds; only an "error" of a point that could not be solved; empty without a sound solution."""
        name = _note_of(point)
        known = _parsed(self.store.read_many([name]).get(name, b""))
        return self._checked(point, known, self.store.size(file_of(point)))

    def _checked(self, point: Named, known: dict[str, Any], size: int | None) -> dict[str, Any]:
        """A record, if it is that of the point's file of this size, else the one that the file gives."""
        if size is None:
            return known if "error" in known else {}
        if known.get("bytes") == size and self._as_noted(point, known):
            return known
        try:
            content = self.store.read(file_of(point))
            solution = self.solution(content)
        except (FileNotFoundError, ValueError):
            return {}
        self._note(point, record := file_figures(content) | figures_of(solution))
        return record

    def _as_noted(self, point: Named, known: Mapping[str, Any]) -> bool:
        """Whether a file has the content that its record was made for."""
        if not isinstance(self.store, LocalStore):
            return True
        return bool(known.get("sha256") == file_figures(self.store.read(file_of(point)))["sha256"])

    def write(self, name: str, content: bytes) -> Any:
        """Writes a file of the folder; its path, or its address on another machine."""
        self.store.write(name, content)
        return self.store.folder / name if isinstance(self.store, LocalStore) else f"{self.folder}/{name}"

    def keep(
        self, point: Named, content: bytes, figures: Mapping[str, Any] | None = None, **more: Any
    ) -> dict[str, Any]:
        """Writes a point's solution and its record, unless the folder holds one that is as good; the record of the
        solution that the folder then holds.

        figures: those of `figures_of`; without them the solution is read. more: entries to add to the record. A
        solution is replaced if it did not converge, or if the new one converged and costs less. A damaged file goes to
        quarantine.
        """
        figures = figures_of(self.solution(content)) if figures is None else figures
        record = file_figures(content) | dict(figures) | more
        before = self.record(point)
        if "converged" in before and not _better(record, before):
            return before
        if "converged" not in before:
            self.quarantine(point)
        self.write(file_of(point), content)
        self._note(point, record)
        return record

    def keep_error(self, point: Named, error: str, **more: Any) -> None:
        """Notes why a point has no solution; a solution that is there stays."""
        if "converged" not in self.record(point):
            self._note(point, {"error": error} | more)

    def _note(self, point: Named, record: Mapping[str, Any]) -> None:
        self.write(_note_of(point), json.dumps(record).encode())

    def quarantine(self, point: Named) -> None:
        """Moves the file of a point, if there is one, to the folder of damaged files."""
        try:
            digest = file_figures(self.store.read(file_of(point)))["sha256"][:8]
        except FileNotFoundError:
            return
        self.store.move(file_of(point), f"{QUARANTINE}/{point.name}.{digest}.npz")

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
        if isinstance(self.store, LocalStore):
            self.store.folder.mkdir(parents=True, exist_ok=True)
        note = f"{self.store.place}/library.json"
        try:
            known = json.loads(self.store.read("library.json"))
        except FileNotFoundError:
            self.write("library.json", text.encode())
            return
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{note} is damaged ({error}): remove it, or choose another folder") from None
        if known != json.loads(text):
            raise ValueError(
                f"{self.folder} holds solutions of {repr_in_message(known)}, not {repr_in_message(dict(settings))}: "
                "choose another folder"
            )

    def rows(self, points: Sequence[Any]) -> list[dict[str, Any]]:
        """A row for every point, sorted by name: its coordinates, figures of its solution, or the error; see
        `to_table`."""
        return data_set.rows(self, points)

    def to_table(self, points: Sequence[Any], path: str | Path) -> Any:
        """Writes a row for every point to a table, .csv or .parquet (extra `data`); its path. No solution is read."""
        return data_set.write_table(self, points, path)

    def to_dataset(self, points: Sequence[Any], nodes: int = 101) -> Any:
        """The motions of the points that converged as one `xarray.Dataset` (extra `data`), over the dimensions point,
        node (of equal steps of the motion's time) and dof; see `ocp_dyn.ocp.workflows.sweeps.data_set`."""
        return data_set.data_set(self, points, nodes)


def file_of(point: Any) -> str:
    """The name of a point's file."""
    if not isinstance(getattr(point, "name", None), str):
        raise TypeError(
            f"a library holds solutions of points that have a name, such as grid(...)[0], got {repr_in_message(point)}"
        )
    return f"{point.name}.npz"


def _note_of(point: Named) -> str:
    return f"{RECORDS}/{point.name}.json"


def _parsed(content: bytes) -> dict[str, Any]:
    """The content of the file of a record; nothing if it is not whole."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def file_figures(content: bytes) -> dict[str, Any]:
    """Size and digest of a file."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def figures_of(solution: Solution) -> dict[str, Any]:
    """Figures of a solution for its record; lengths [m], times [s]."""
    return {
        "converged": bool(solution.converged),
        "status": solution.status,
        "objective": float(solution.objective),
        "duration": float(solution.duration),
        "step_length": float(solution.step_length),
        "infeasibility": float(solution.stats.get("infeasibility", 0.0)),
        "iterations": int(solution.stats.get("iterations", 0)),
        "build_seconds": round(float(solution.stats.get("build_seconds", 0.0)), 3),
        "solve_seconds": round(float(solution.stats.get("solve_seconds", 0.0)), 3),
    }


def _better(record: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a solution replaces another: the other did not converge, or it did and costs more than by rounding."""
    if not before["converged"]:
        return True
    least = float(before["objective"]) - ROUNDING * abs(float(before["objective"]))
    return bool(record["converged"] and record["objective"] < least)
