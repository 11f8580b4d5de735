"""Sweep: solves a problem at many values of its parameters, each from the nearest solution, in several processes.

The first point is solved from the library's first guess; every other point starts from the nearest point that has been
solved. A solution is written to a file as soon as it is found, completely or not at all, so that a sweep that was
stopped, or killed, continues with the points that are not finished.

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

from ..._base.checks import numbers, truth, whole
from ..._base.files import path_of
from ..._base.types import repr_in_message, sequence
from ..solution import Solution
from ..statement.statement import Statement
from .motion_library import Library
from .parameter_values import by_name
from .solve import refuse_compile
from .sweep_workers import Task, explained, find, workers


class SweepPoint(Protocol):
    """A point of a sweep, such as `GridPoint`. A class that a user writes is a frozen dataclass in a module."""

    @property
    def name(self) -> str:
        """Name of the point's file without the ending, different for every point."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values of the problem's parameters by name."""

    @property
    def variant(self) -> tuple[Any, ...]:
        """Arguments of the function that makes the problem: points of one variant share a problem."""

    def distance(self, other: Any) -> float:
        """Distance to another point; the next point to be solved is the point nearest to a solution."""

    def relaxes(self, other: Any) -> bool:
        """Whether every motion that is admissible at the other point is admissible at this one, so that the optimum at
        this point costs no more."""


P = TypeVar("P", bound=SweepPoint)


@dataclass(frozen=True)
class GridPoint:
    """A point of a grid: coordinates (parameter, value), and the step of the grid along each, the unit of distances.

    >>> ocp.grid(speed=[1.0, 1.2])[0].values
    {'speed': 1.2}
    """

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
    """All combinations of the values of some parameters, points in the middle of the grid first.

    The distance between points is the sum over all parameters of the difference, divided by the median step of the
    grid.

    >>> [point.name for point in ocp.grid(speed=[0.9, 1.1, 1.3])]  # the middle first
    ['speed_1.1', 'speed_1.3', 'speed_0.9']
    """
    axes = {}
    for name, sequence_of_values in values.items():
        axes[name] = sorted({float(x) for x in numbers(sequence_of_values, f"grid: {name}")})
        if not axes[name] or not np.all(np.isfinite(axes[name])):
            raise ValueError(
                f"grid: {name} must be finite numbers, one or more, got {repr_in_message(sequence_of_values)}"
            )
    if not axes:
        raise ValueError("grid needs values of at least one parameter, such as speed=[1.0, 1.2]")
    steps = tuple(float(np.median(np.diff(axis))) if len(axis) > 1 else 1.0 for axis in axes.values())
    points = [GridPoint(tuple(zip(axes, point, strict=True)), steps) for point in product(*axes.values())]
    middle = GridPoint(tuple((name, float(np.median(axis))) for name, axis in axes.items()), steps)
    return sorted(points, key=middle.distance)


@dataclass(eq=False)
class Sweep(Generic[P]):
    """The solutions of a problem at many points; iterating over the sweep solves the points without a file in its
    folder.

    Iteration yields (point, solution) as each file is written, whether the solver converged or not; points are solved
    only while the sweep is iterated over. If a task raises an error, the running tasks are completed and written; then
    the error is raised.

    make: function of a module, or a `functools.partial` of one, that returns the problem; it is called with the
    `variant` of a point. points: see `grid` and `SweepPoint`; the first is solved first. folder: for the files, made if
    it is missing.

    jobs: number of processes (0: one per processor). scheduler: address of a Dask scheduler, whose workers are used
    instead. executor: an object with `submit` that returns futures, with `jobs` workers, is used instead. solve:
    options of `Problem.solve`, such as {"tolerance": 1e-8}; a guess among them is that of solves without a neighbor.
    settings: properties that all solutions of the folder have
    in common, kept in library.json; ValueError if the folder contains solutions of other settings. again: whether
    points that did not converge in an earlier sweep are solved again. joints, constraints: classes of the user's own
    joints and constraints, which files of solutions name.

    Attributes: `library`, the folder, loads solutions; `done`, the solved points and whether they converged; `waiting`,
    the points that are not solved yet.

    >>> import functools, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> phase = ocp.Phase("hang", 2, 1.0, objective=[ocp.TorqueSquared()])
    >>> hang = functools.partial(ocp.Problem, rod, [phase], parameters=[ocp.Parameter("mass:link1", 1.0)])
    >>> grid = ocp.grid(**{"mass:link1": [1.0, 2.0]})
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
    ...     sweep = ocp.Sweep(hang, grid, folder, executor=executor, solve={"progress": False})
    ...     print([(point.values, solution.converged) for point, solution in sweep])
    [({'mass:link1': 1.0}, True), ({'mass:link1': 2.0}, True)]
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
    joints: Any = ()
    constraints: Any = ()
    library: Library = field(init=False)
    done: dict[P, bool] = field(init=False)
    waiting: list[P] = field(init=False)

    def __post_init__(self) -> None:
        self.points = _checked(self.points)
        self._pickled = _pickled(self.make)
        for key in ("solve", "settings"):
            if not isinstance(getattr(self, key), Mapping):
                raise TypeError(f"Sweep: {key} must be a dict by name, got {repr_in_message(getattr(self, key))}")
        refuse_compile(self.solve, "Sweep: solve")
        if "start" in self.solve:
            raise ValueError(
                "Sweep: solve must not hold start: every point starts from the nearest solution; the first may have "
                "guess=..."
            )
        if "values" in self.solve:
            raise ValueError(
                f"Sweep: solve must not hold values, got {repr_in_message(self.solve['values'])}: the points give the "
                "parameters their values"
            )
        if not isinstance(self.scheduler, str):
            raise TypeError(
                f"Sweep: scheduler must be an address such as 'tcp://host:8786', got {repr_in_message(self.scheduler)}"
            )
        if not (self.executor is None or hasattr(self.executor, "submit")):
            raise TypeError(f"Sweep: executor must have the method submit, got {repr_in_message(self.executor)}")
        whole(self.jobs, "Sweep: jobs", 0)
        if self.scheduler and (self.jobs or self.executor is not None):
            other = "jobs" if self.jobs else "executor"
            raise ValueError(f"Sweep: the workers of the scheduler are used, and {other} has no effect: leave it out")
        again = truth(self.again, "Sweep: again")
        self.library = Library(path_of(self.folder, "folder"), self.joints, self.constraints)
        self.library.claim(self.settings)
        states = ((point, self.library.converged(point)) for point in self.points)
        self.done = {point: state for point, state in states if state is not None and (state or not again)}
        self.waiting = [point for point in self.points if point not in self.done]
        self._settled = set(self.done)  # not solved again from a cheaper solution

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[tuple[P, Solution]]:
        if not self.waiting:
            return
        pool = (
            nullcontext((self.executor, max(1, self.jobs)))
            if self.executor is not None
            else workers(self.jobs, self.scheduler, len(self.waiting))
        )
        with pool as (executor, count):
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
            raise explained(failed[0])

    def next(self, busy: int = 0) -> Task | None:
        """The task for the waiting point nearest to a solved one; None if no point waits.

        busy: number of running tasks; None is returned, too, while the first point, which is solved alone, is running.
        """
        solved = [point for point, converged in self.done.items() if converged]
        if not self.waiting or (not solved and busy):
            return None
        if not solved:
            return Task(self.waiting.pop(0), self._pickled, self.solve)
        point, near = min(product(self.waiting, solved), key=lambda pair: pair[0].distance(pair[1]))
        self.waiting.remove(point)
        return self._from(near, point, point.variant == near.variant)

    def another_try(self, point: P) -> Task | None:
        """A task for this point, or for a point that relaxes it, if its solution costs more than that of a point that
        it relaxes: it is solved once more, from the cheaper solution. None if there is no such point."""
        solved = [other for other, converged in self.done.items() if converged]
        for wide in (
            other for other in solved if other not in self._settled and (other == point or other.relaxes(point))
        ):
            family = [wide, *(other for other in solved if other != wide and wide.relaxes(other))]
            cheapest = min(family, key=lambda other: self.library.load(other).objective)
            if cheapest != wide:
                self._settled.add(wide)
                return self._from(cheapest, wide, False)
        return None

    def _from(self, start: P, point: P, same: bool) -> Task:
        content = self.library.path(start).read_bytes()
        return Task(point, self._pickled, self.solve, content, same, self.joints, self.constraints)

    def keep(self, point: P, content: bytes) -> Solution:
        """Writes a point's file, unless it already contains a better solution; returns the solution in the file."""
        solution = self.library.keep(point, content, if_better=self.done.get(point, False))
        self.done[point] = solution.converged
        return solution


def _checked(points: Any) -> tuple[Any, ...]:
    """The points of a sweep without duplicates; TypeError or ValueError if they are not points."""
    needs = "Sweep: points must be a list of points, such as grid(speed=[1.0, 1.2])"
    listed_points = sequence(points, needs)
    for point in listed_points:
        missing = [key for key in ("name", "values", "variant", "distance", "relaxes") if not hasattr(point, key)]
        if missing:
            raise TypeError(
                f"{needs}, got {repr_in_message(point)}, which lacks {', '.join(missing)}: see ocp.SweepPoint"
            )
        by_name(point.values)
    unique = tuple(dict.fromkeys(listed_points))
    name, count = next(iter(Counter(point.name for point in unique).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(
            f"Sweep: {count} points have the name {repr_in_message(name)}, and would have one file: give them "
            "different names"
        )
    return unique


def _pickled(make: Any) -> bytes:
    """The function that makes the problem, pickled for other processes."""
    if not callable(make):
        raise TypeError(f"Sweep: make must be a function that returns a Problem, got {repr_in_message(make)}")
    try:
        return pickle.dumps(make)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            "Sweep: make must be a function of a module, which other processes can import, got "
            f"{repr_in_message(make)}: {error}"
        ) from None
