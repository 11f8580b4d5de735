"""`ocp-dyn sweep`: the problem of a file at many points, by processes or a cluster; a table and a page."""

from __future__ import annotations

import argparse
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ... import _names as od
from ..._base.display import attempt
from ..._base.types import suggestion
from ..inputs import words
from ..streams import UsageError, as_json
from .page import write_page


class FileFunction:
    """A function of a Python file, which other processes call without importing the file: it goes to them as text."""

    def __init__(self, path: str, source: str, name: str) -> None:
        self.path, self.source, self.name = path, source, name

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def _function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(_module(self.path, self.source), self.name)
        return found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(*arguments, **named)

    def __repr__(self) -> str:
        return f"{self.name} of {self.path}"


@cache
def _module(path: str, source: str) -> types.ModuleType:
    """A file as a module, run once in a process."""
    module = types.ModuleType(Path(path).stem)
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102, the user's own file
    return module


def run(options: argparse.Namespace) -> int:
    if options.jobs < 0:
        raise UsageError(f"--jobs must be at least 0, got {options.jobs}")
    if options.jobs and options.scheduler:
        raise UsageError("--jobs counts processes of this machine: leave it out, or --scheduler")
    make, module = _file_function(options.file, options.function)
    points = _part(_points(options, module), options.part)
    sweep = od.ocp.Sweep(
        make, points, options.out, jobs=options.jobs, scheduler=options.scheduler, again=options.again,
        keep_going=not options.stop, patience=options.patience, solve=dict(getattr(module, "solve", {})),
    )  # fmt: skip
    rows = sweep.run(progress=not options.quiet)
    drawn = f" at {options.sample} points of a Latin hypercube, seed {options.seed}" if options.sample else ""
    attempt("the page", lambda: write_page(sweep.library, sweep.points, f"{options.file}{drawn}"))
    missing = [row["point"] for row in rows if not row["converged"]]
    if options.json:
        print(as_json({"points": len(rows), "found": len(rows) - len(missing), "not_found": missing,
                       "folder": str(sweep.library.folder)}))  # fmt: skip
    else:
        print(f"{len(rows) - len(missing)} of {len(rows)} points found; {sweep.library.folder}/report.md")
    return 1 if missing else 0


def python_file(path: Path) -> tuple[str, types.ModuleType]:
    """The text of a Python file, and the file as a module, which is run unless this process has done so."""
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(
            f"no Python file {str(path)!r}; expected one with a function build(...) that returns a Problem"
        )
    full, source = str(path.resolve()), path.read_text(encoding="utf-8")
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.insert(0, folder)  # files beside it are imported, here and in other processes
    return source, _module(full, source)


def _file_function(path: Path, name: str) -> tuple[FileFunction, types.ModuleType]:
    """The function of a file that makes the problem, and the file as a module."""
    source, module = python_file(path)
    if not callable(getattr(module, name, None)):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UsageError(f"{path} has no function {name!r}{suggestion(name, functions)}; --function names another one")
    return FileFunction(str(path.resolve()), source, name), module


def _points(options: argparse.Namespace, module: types.ModuleType) -> Sequence[Any]:
    """The points of --points, else those of the file."""
    if not options.points:
        if options.sample is not None:
            raise UsageError("--sample needs ranges: --points mass=50:100 sex=female,male")
        found = getattr(module, "points", None)
        found = found() if callable(found) else found
        if found is None:
            raise UsageError(f"{options.file} has no `points`: give some, --points speed=0.8:1.6:5 slope=0,0.1")
        return list(found)
    texts = dict(_pair(text) for text in options.points)
    try:
        if options.sample is None:
            return od.ocp.grid(**{name: _values(name, text) for name, text in texts.items()})
        ranges = {name: _range(name, text) for name, text in texts.items()}
        return od.ocp.latin_hypercube(ranges, options.sample, options.seed)
    except (ValueError, TypeError) as error:
        raise UsageError(f"--points: {error}") from None


def _pair(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not (name and equals and values):
        raise UsageError(f"--points: NAME=VALUES, such as speed=0.8:1.6:5 or sex=female,male, got {text!r}")
    return name, values


def _values(name: str, text: str) -> list[Any]:
    """The values of a grid: low:high:count, or a list with commas."""
    if ":" not in text:
        return [_number(part) for part in words(text)]
    try:
        low, high, count = text.split(":")
        return [round(x, 12) for x in np.linspace(float(low), float(high), int(count)).tolist()]  # names hold them
    except ValueError:
        raise UsageError(f"--points: {name} of a grid is low:high:count or a list with commas, got {text!r}; ranges "
                         "low:high need --sample N") from None  # fmt: skip


def _range(name: str, text: str) -> Any:
    """The range of a sample: low:high, or words with commas."""
    if ":" not in text:
        return list(words(text))
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise UsageError(f"--points: {name} of a sample is low:high or words with commas, got {text!r}") from None
    return low, high


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _part(points: Sequence[Any], text: str) -> Sequence[Any]:
    """The points of a part I/N, of N neighborhoods: all parts together are all points."""
    if not text:
        return points
    try:
        number, count = map(int, text.split("/"))
    except ValueError:
        number, count = 0, 0
    if not 1 <= number <= count <= len(points):
        raise UsageError(f"--part: I/N, the part I of 1 to N of at most {len(points)} points, got {text!r}")
    parts = od.ocp.neighborhoods(points, -(-len(points) // count))
    if len(parts) != count:  # 6 points in 4 parts: of at most 2 there are 3
        raise UsageError(f"--part: {len(points)} points make {len(parts)} parts of equal size: write I/{len(parts)}")
    return parts[number - 1]
