"""Sweep: a problem solved at many values of its parameters, each from its nearest solution, in several processes.

The first point is solved from the library's own guess; every other begins at the nearest one that was found. A solution is
written to its own file as soon as it is there, whole or not at all, so that a sweep that was stopped, or killed, goes on
where it was: what is finished is not done again.

    def walk() -> ocp.Problem:  # in a module: other processes import it
        return ocp.Problem(..., parameters=[ocp.Parameter("speed", 1.2), ocp.Parameter("slope", 0.0)])

    sweep = ocp.Sweep(walk, ocp.grid(speed=[0.9, 1.1, 1.3], slope=[-0.1, 0.0, 0.1]), "gaits")
    for point, solution in sweep:
        print(point.name, solution.status)
    gait = sweep.library.load(sweep.points[0])

One problem along a line of values, in this process: `ocp_dyn.ocp.solve_along`.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..._arguments import numbers, truth, whole
from ..._files import path_of
from ..._types import sequence, shown
from ..solution import Solution
from ..statement.statement import Statement
from .library import Library
from .sweep_workers import Task, find, workers


class SweepPoint(Protocol):
    """A point of a sweep. `GridPoint` is one; a class of a user's own is a frozen dataclass in a module."""

    @property
    def name(self) -> str:
        """Name of its file, without the ending; no other point has it."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the problem's parameters by name."""

    @property
    def variant(self) -> tuple[Any, ...]:
        """Arguments of the maker of problems: points of one variant share a problem."""

    def distance(self, other: Any) -> float:
        """Distance to another point; the next one to be solved is the one nearest to a solution."""

    def relaxes(self, other: Any) -> bool:
        """Whether each motion that the other point admits is admitted here too, so that this one need not cost more."""


P = TypeVar("P", bound=SweepPoint)


@dataclass(frozen=True)
class GridPoint:
    """A point of a grid: coordinates (parameter, value), and the step of the grid along each, in which distances are told."""

    coordinates: tuple[tuple[str, float], ...]
    steps: tuple[float, ...]

    @property
    def name(self) -> str:
        return "_".join(f"{name}_{value!r}" for name, value in self.coordinates)

    @property
    def values(self) -> dict[str, float]:
        return dict(self.coordinates)

    @property
    def variant(self) -> tuple[Any, ...]:
        return ()

    def distance(self, other: GridPoint) -> float:
        pairs = zip(self.coordinates, other.coordinates, self.steps, strict=True)
        return sum(abs(mine - theirs) / step for (_, mine), (_, theirs), step in pairs)

    def relaxes(self, other: GridPoint) -> bool:
        return False


def grid(**values: Sequence[float]) -> list[GridPoint]:
    """All combinations of the values of the parameters named, those in the middle first.

    Distances between points count steps along every parameter, of the usual size that they have in the grid.
    """
    axes = {}
    for name, given in values.items():
        axes[name] = sorted({float(x) for x in numbers(given, f"grid: {name}")})
        if not axes[name] or not np.all(np.isfinite(axes[name])):
            raise ValueError(f"grid: {name} must be finite numbers, one or more, got {shown(given)}")
    if not axes:
        raise ValueError("grid needs values of at least one parameter, such as speed=[1.0, 1.2]")
    steps = tuple(float(np.median(np.diff(axis))) if len(axis) > 1 else 1.0 for axis in axes.values())
    points = [GridPoint(tuple(zip(axes, point, strict=True)), steps) for point in product(*axes.values())]
    middle = GridPoint(tuple((name, float(np.median(axis))) for name, axis in axes.items()), steps)
    return sorted(points, key=middle.distance)


@dataclass(eq=False)
class Sweep(Generic[P]):
    """The solutions of a problem at many points; iterating over it solves those that its folder does not hold yet.

    Iteration yields (point, solution) as each file is written, whether the solver converged or not; what is not iterated
    over is not solved. Where a task raises, those that run are still waited for and written; then it is raised.

    make: function of a module, or a `functools.partial` of one, that returns the problem; it is called with the
    `variant` of a point. points: see `grid` and `SweepPoint`; the first is solved first. folder: of the files, made if
    it is missing.

    jobs: number of processes (0: one per processor). scheduler: address of a Dask scheduler, whose workers do the
    work instead. executor: anything with `submit` that returns futures, with `jobs` workers, instead. solve: options of
    `Problem.solve`, such as {"tolerance": 1e-8}. settings: whatever all solutions of the folder have in common, kept in
    library.json; ValueError if the folder holds solutions of other settings. again: whether points that did not
    converge in an earlier sweep are tried again.

    Attributes: `library`, the folder, loads solutions; `done`, the points that were solved and whether they converged;
    `waiting`, the points that are not.
    """

    make: Callable[..., Statement]
    points: Sequence[P]
    folder: str | Path
    _: KW_ONLY
    jobs: int = 0
    scheduler: str = ""
    executor: Executor | None = None
    solve: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    again: bool = False
    library: Library = field(init=False)
    done: dict[P, bool] = field(init=False)
    waiting: list[P] = field(init=False)

    def __post_init__(self) -> None:
        self.points = _checked(self.points)
        self._pickled = _pickled(self.make)
        for key in ("solve", "settings"):
            if not isinstance(getattr(self, key), Mapping):
                raise TypeError(f"Sweep: {key} must be a dict by name, got {shown(getattr(self, key))}")
        if not isinstance(self.scheduler, str):
            raise TypeError(
                f"Sweep: scheduler must be an address such as 'tcp://host:8786', got {shown(self.scheduler)}"
            )
        if not (self.executor is None or hasattr(self.executor, "submit")):
            raise TypeError(f"Sweep: executor must have the method submit, got {shown(self.executor)}")
        whole(self.jobs, "Sweep: jobs", 0)
        again = truth(self.again, "Sweep: again")
        self.library = Library(path_of(self.folder, "folder"))
        self.library.claim(self.settings)
        found = ((point, self.library.converged(point)) for point in self.points)
        self.done = {point: state for point, state in found if state is not None and (state or not again)}
        self.waiting = [point for point in self.points if point not in self.done]
        self._settled = set(self.done)  # not tried once more from a solution that turns out cheaper

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[tuple[P, Solution]]:
        if not self.waiting:
            return
        given = self.executor
        chosen = (
            nullcontext((given, max(1, self.jobs)))
            if given is not None
            else workers(self.jobs, self.scheduler, len(self.waiting))
        )
        with chosen as (executor, count):
            yield from self._solved(executor, count)

    def _solved(self, executor: Executor, count: int) -> Iterator[tuple[P, Solution]]:
        running: dict[Future[bytes], P] = {}
        failed: list[BaseException] = []
        while True:
            while not failed and len(running) < count and (task := self.next(busy=len(running))) is not None:
                running[executor.submit(find, task)] = task.point
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                point = running.pop(future)
                if (error := future.exception()) is not None:
                    failed.append(error)
                    continue
                solution = self.keep(point, future.result())
                if not failed and (task := self.another_try(point)) is not None:
                    running[executor.submit(find, task)] = task.point
                yield point, solution
        if failed:
            raise failed[0]

    def next(self, busy: int = 0) -> Task | None:
        """The task for the point nearest to one that was found; None while the first of all, which goes alone, is `busy`."""
        found = [point for point, converged in self.done.items() if converged]
        if not self.waiting or (not found and busy):
            return None
        if not found:
            return Task(self.waiting.pop(0), self._pickled, self.solve)
        point, near = min(product(self.waiting, found), key=lambda pair: pair[0].distance(pair[1]))
        self.waiting.remove(point)
        return self._from(near, point, point.variant == near.variant)

    def another_try(self, point: P) -> Task | None:
        """The task of a point that turned out to cost more than one that it relaxes: once more, from there."""
        found = [other for other, converged in self.done.items() if converged]
        for wide in (
            other for other in found if other not in self._settled and (other == point or other.relaxes(point))
        ):
            family = [wide, *(other for other in found if other != wide and wide.relaxes(other))]
            cheapest = min(family, key=lambda other: self.library.load(other).objective)
            if cheapest != wide:
                self._settled.add(wide)
                return self._from(cheapest, wide, False)
        return None

    def _from(self, start: P, point: P, same: bool) -> Task:
        return Task(point, self._pickled, self.solve, self.library.path(start).read_bytes(), same)

    def keep(self, point: P, content: bytes) -> Solution:
        """Writes a point's file, unless there is a better one already; the solution that it then holds."""
        found = self.library.keep(point, content, if_better=self.done.get(point, False))
        self.done[point] = found.converged
        return found


def _checked(points: Any) -> tuple[Any, ...]:
    """The points of a sweep, each once."""
    needs = "Sweep: points must be a list of points, such as grid(speed=[1.0, 1.2])"
    given = sequence(points, needs)
    for point in given:
        missing = [key for key in ("name", "values", "variant", "distance", "relaxes") if not hasattr(point, key)]
        if missing:
            raise TypeError(f"{needs}, got {shown(point)}, which lacks {', '.join(missing)}: see ocp.SweepPoint")
    found = tuple(dict.fromkeys(given))
    name, count = next(iter(Counter(point.name for point in found).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(f"Sweep: {count} points have the name {shown(name)}, and would have one file: name them apart")
    return found


def _pickled(make: Any) -> bytes:
    """The maker of problems for other processes."""
    if not callable(make):
        raise TypeError(f"Sweep: make must be a function that returns a Problem, got {shown(make)}")
    try:
        return pickle.dumps(make)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"Sweep: make must be a function of a module, which other processes can import, got {shown(make)}: {error}"
        ) from None
