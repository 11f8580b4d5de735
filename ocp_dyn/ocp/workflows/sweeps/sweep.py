"""Sweep: solves a problem at many points, each from a neighbor's solution, in several processes or on a cluster.

The first point is solved from the library's first guess; every other point starts from the nearest point that comes
before it in a tree over all points (see `starts`), so that results do not depend on how many processes there are, which
of them is faster, or how often a sweep was stopped. A solution is written to a file as soon as it is found, completely
or not at all, with its digest in a record, so that a sweep that was stopped, or killed, continues with the points that
are not finished.

    def walk(mass: float, sex: str) -> ocp.Problem:  # in a module: other processes import it
        return ocp.Problem(..., parameters=[ocp.Parameter("speed", 1.2)])

    people = ocp.latin_hypercube({"mass": (50, 100), "sex": ["female", "male"], "speed": (0.8, 1.6)}, 1000)
    sweep = ocp.Sweep(walk, people, "gaits", keep_going=True)
    table = sweep.run()
    gait = sweep.library.load(people[0])

One problem along a line of values, in this process: `ocp_dyn.ocp.solve_along`.
"""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import KW_ONLY, dataclass, field
from os import cpu_count
from pathlib import Path
from typing import Any, Generic, TypeVar

from ...._base.checks import truth
from ...._base.display import Progress
from ...solution import Solution
from ...statement.statement import Statement
from ..parameter_values import by_name
from .checks import check_options, checked_points
from .cluster import ClusterCrew
from .crews import Crew, ExecutorCrew, Outcome
from .leases import Leases
from .library import Library
from .points import GridPoint, SweepPoint
from .processes import ProcessCrew
from .progress import Pace
from .recipe import Recipe
from .starts import Starts
from .store import WITHOUT_ROOM
from .tasks import Found, Task

MOST_TRIES = 5
"""Number of processes that may end while they solve one point; then the point counts as their reason."""

HOPELESS = 10
"""Number of errors after which a sweep that has solved nothing stops."""

LOOK = 2.0
"""Time between two looks at points that other sweeps work on [s]."""

P = TypeVar("P", bound=SweepPoint)


@dataclass(eq=False)
class Sweep(Generic[P]):
    """The solutions of a problem at many points; `run`, or iterating over the sweep, solves the points without a file
    in its folder.

    Iteration yields (point, solution) as each file is written, whether the solver converged or not; points are solved
    only while the sweep is iterated over. If a task raises an error, the running tasks are completed and written; then
    the error is raised, with the name of the point in a note. With keep_going=True the sweep goes on with the other
    points; `errors` and the records of the folder tell what was raised. A process that is killed costs its own task
    alone, which is given to another one; a point at which five have ended counts as an error.

    make: function of a module, or a `functools.partial` of one, that returns the problem. Coordinates of a `GridPoint`
    that are named arguments of `make` are given to it, and all others are values of the problem's parameters: for a
    population, `make(mass, height, sex)` builds a body, and `speed` is a parameter. Of other classes of points it gets
    the `variant`. A process keeps a problem as long as the points that follow have the same arguments. points: see
    `grid`, `latin_hypercube` and `SweepPoint`; the first is solved first. folder: for the files, made if it is missing:
    a path, or an address such as "s3://bucket/gaits" (extra `cluster`). Several sweeps may work on one folder at a
    time, on one machine or on several with a common disk: they share the points by leases.

    jobs: number of processes (0: one per processor). scheduler: address of a Dask scheduler, whose workers are used
    instead; it may be restarted. executor: an object with `submit` that returns futures, with `jobs` workers, is used
    instead. solve: options of `Problem.solve`, such as {"tolerance": 1e-8}; a guess among them is that of solves
    without a neighbor. settings: properties that all solutions of the folder have in common, kept in library.json;
    ValueError if the folder contains solutions of other settings. again: whether points that did not converge in an
    earlier sweep are solved again. patience: time to wait for room on a full disk, and for a scheduler that is gone
    [s]; then OSError says so, and a second run continues. joints, constraints: classes of the user's own joints and
    constraints, which files of solutions name.

    ValueError if the folder holds a solution of a point of the same name with other values, or of another problem than
    `make` makes now.

    Attributes: `library`, the folder, loads solutions; `done`, the solved points and whether they converged; `waiting`,
    the points that are not solved yet; `errors`, the text of the error by point.

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
    keep_going: bool = False
    patience: float = 60.0
    joints: Any = ()
    constraints: Any = ()
    library: Library = field(init=False)
    done: dict[P, bool] = field(init=False)
    waiting: list[P] = field(init=False)
    errors: dict[P, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.points = checked_points(self.points)
        self._recipe = Recipe(self.make)
        self.again, self.keep_going = truth(self.again, "Sweep: again"), truth(self.keep_going, "Sweep: keep_going")
        check_options(self)
        for point in self.points:
            by_name(self._recipe.split(point)[1])
        self.library = Library(self.folder, self.joints, self.constraints)
        self.library.claim(self.settings)
        known = self.library.records(self.points)
        self._recipe.check_contents(self.points, known, self.folder)
        self._records = {p: known[p.name] for p in self.points if "converged" in known.get(p.name, {})}
        states = ((point, self._records[point]["converged"]) for point in self.points if point in self._records)
        self.done = {point: state for point, state in states if state or not self.again}
        self.waiting = [point for point in self.points if point not in self.done]
        self._settled = set(self.done)  # not solved again from a cheaper solution
        self._relaxing = any(type(point) is not GridPoint for point in self.points)
        self._tries: Counter[P] = Counter()
        self._elsewhere: list[P] = []
        self._unsaved: list[tuple[P, Found]] = []
        self._leases: Leases | None = None
        self._say = Progress(False)
        self._starts = Starts(self.points, set(self.waiting))

    # Which point is next, and where it starts

    def next(self) -> Task | None:
        """The task for the waiting point with the longest way below it in the tree of starts; None if no point can be
        solved now."""
        while (point := self._starts.pop()) is not None:
            if point not in self.waiting:
                continue
            if not self._may_take(point):
                self._elsewhere.append(point)
                continue
            self.waiting.remove(point)
            if self._found_elsewhere(point):
                continue
            return self._task(point, self._start_of(point))
        return None

    def _start_of(self, point: P) -> P | None:
        """The nearest point on the way to the root of the tree that converged."""
        return next((other for other in self._starts.ancestors(point) if self.done.get(other, False)), None)

    def _may_take(self, point: P) -> bool:
        leases = self._leases
        return leases is None or self._patiently(lambda: leases.take(point.name))

    def _found_elsewhere(self, point: P) -> bool:
        """Whether another sweep has solved the point since this one looked; then it is done."""
        if self._leases is None or point in self._records:
            return False
        record = self.library.record(point)
        if "converged" not in record:
            return False
        self._finish(point, record)
        return True

    def another_try(self, point: P) -> Task | None:
        """A task for this point, or for a point that relaxes it, if its solution costs more than that of a point that
        it relaxes: it is solved once more, from the cheapest of them, when all of them are solved. None if there is no
        such point."""
        if not self._relaxing:
            return None
        solved = [other for other, converged in self.done.items() if converged]
        for wide in (
            other for other in solved if other not in self._settled and (other == point or other.relaxes(point))
        ):
            narrow = [other for other in self.points if other != wide and wide.relaxes(other)]
            if any(other not in self.done and other not in self.errors for other in narrow):
                continue
            family = [wide, *(other for other in narrow if self.done.get(other, False))]
            cheapest = min(family, key=lambda other: float(self._records[other]["objective"]))
            if cheapest != wide:
                self._settled.add(wide)
                return self._task(wide, cheapest)
        return None

    def _task(self, point: P, start: P | None) -> Task:
        content = None if start is None else self.library.store.read(f"{start.name}.npz")
        arguments, values = self._recipe.split(point)
        return Task(
            point, self._recipe.pickled, () if arguments else point.variant, arguments, values, self.solve, content,
            self.joints, self.constraints,
        )  # fmt: skip

    # Solving

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[tuple[P, Solution]]:
        for point in self._events():
            if point in self._records:
                yield point, self.library.load(point)

    def run(self, progress: bool = True) -> list[dict[str, Any]]:
        """Solves what is missing, with a line of progress for every point; the table, see `Library.rows`.

        >>> import functools, tempfile
        >>> phase = ocp.Phase("hang", 2, 1.0, objective=[ocp.TorqueSquared()])
        >>> hang = functools.partial(ocp.Problem, rod, [phase], parameters=[ocp.Parameter("mass:link1", 1.0)])
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        ...     rows = ocp.Sweep(hang, ocp.grid(**{"mass:link1": [2.0]}), folder, executor=executor).run(progress=False)
        >>> rows[0]["point"], rows[0]["converged"]
        ('mass:link1_2.0', True)
        """
        self._say = Progress(truth(progress, "progress"))
        pace = Pace(len(self.points), len(self.done))
        if self.done:
            self._say(f"{len(self.done)} of {len(self.points)} points are in {self.library.folder} already")
        for point in self._events():
            self._say(pace.line(point.name, self._records.get(point), self.errors.get(point, ""), len(self.done)))
        return self.library.rows(self.points)

    def _crew(self) -> AbstractContextManager[Crew]:
        if self.executor is not None:
            return nullcontext(ExecutorCrew(self.executor, max(1, self.jobs)))
        if self.scheduler:
            return ClusterCrew(self.scheduler, self.patience, self._say)
        return ProcessCrew(max(1, min(self.jobs or cpu_count() or 1, len(self.waiting))))

    def _events(self) -> Iterator[P]:
        """The points, as each is solved or has failed."""
        if not self.waiting:
            return
        failed: list[BaseException] = []
        try:
            with self._crew() as crew, Leases(self.library.store) as self._leases:
                while self._give_out(crew, failed):
                    outcomes = crew.wait(LOOK)
                    if not crew.busy() and not outcomes:
                        time.sleep(LOOK)  # other sweeps have what is left
                    for outcome in outcomes:
                        yield from self._take(outcome, crew, failed)
                    self._look_elsewhere()
                    if self._unsaved and not crew.busy():
                        self._save_the_rest()
                        failed = [error for error in failed if not _is_full(error)]
        finally:
            self._leases = None
        if failed:
            raise failed[0]

    def _give_out(self, crew: Crew, failed: list[BaseException]) -> bool:
        """Gives the crew as many tasks as it takes, unless the sweep has failed; whether there is anything to wait
        for."""
        try:
            while not failed and crew.room() > 0 and (task := self.next()) is not None:
                crew.submit(task)
        except OSError as error:
            if not _is_full(error):
                raise
            failed.append(error)
        return crew.busy() > 0 or bool(self._unsaved) or (bool(self._elsewhere) and not failed)

    def _take(self, outcome: Outcome, crew: Crew, failed: list[BaseException]) -> Iterator[P]:
        """Writes the result of a task; a lost one goes to another process."""
        point = outcome.task.point
        if outcome.lost:
            self._tries[point] += outcome.deadly
            if self._tries[point] < MOST_TRIES:
                self._say(f"  {point.name}: {outcome.lost}; it is solved anew")
                crew.submit(outcome.task)
                return
        if outcome.found is None:
            error = outcome.error or RuntimeError(f"{MOST_TRIES} processes ended: {outcome.lost}")
            self._fail(point, error, failed)
            yield point
            return
        try:
            self._keep_patiently(point, outcome.found)
        except OSError as error:
            if not _is_full(error):
                raise
            self._unsaved.append((point, outcome.found))
            failed.append(error)
            return
        except ValueError as error:  # of another problem, or a file that cannot be read
            failed.append(error)
            return
        if not failed and (task := self.another_try(point)) is not None:
            crew.submit(task)
        yield point

    def _fail(self, point: P, error: BaseException, failed: list[BaseException]) -> None:
        """Notes the error of a point, and whether the sweep ends."""
        error.add_note(f"This was raised at the point {point.name}.")
        self.errors[point] = f"{type(error).__name__}: {error}"
        with suppress(OSError):  # of a full disk: the next sweep tries the point in any case
            self.library.keep_error(point, self.errors[point], identity=self._recipe.content(point))
        hopeless = not self.done and len(self.errors) >= HOPELESS
        if not self.keep_going or hopeless or isinstance(error, BrokenExecutor):
            failed.append(error)
        self._free(point)
        self._starts.release(point, self.waiting)

    def _keep_patiently(self, point: P, found: Found) -> None:
        self._patiently(lambda: self.keep(point, found.content, found.figures))

    def keep(self, point: P, content: bytes, figures: Mapping[str, Any] | None = None) -> None:
        """Writes a point's file and record, unless the folder already holds a better solution.

        ValueError if the folder holds solutions of another problem, made from the same arguments.
        """
        self._recipe.check_problem(point, (figures or {}).get("problem"), self.folder)
        start = self._start_of(point)
        more = {"identity": self._recipe.content(point), "start": "" if start is None else start.name}
        self._finish(point, self.library.keep(point, content, figures, **more))

    def _finish(self, point: P, record: dict[str, Any]) -> None:
        self._records[point] = record
        self.done[point] = record["converged"]
        self._free(point)
        self._starts.release(point, self.waiting)

    def _free(self, point: P) -> None:
        if self._leases is not None:
            self._leases.free(point.name)

    def _look_elsewhere(self) -> None:
        """Points that other sweeps have: those that are solved now are done, and the others are tried again."""
        points, self._elsewhere = self._elsewhere, []
        for point, record in zip(points, map(self.library.record, points), strict=True):
            if "converged" in record:
                self.waiting.remove(point)
                self._finish(point, record)
            else:
                self._starts.push(point)

    def _patiently(self, action: Callable[[], Any]) -> Any:
        """The result of an action, which is tried again while the disk is full, as long as there is patience."""
        end, pause = time.monotonic() + self.patience, 0.25
        while True:
            try:
                return action()
            except OSError as error:
                if not _is_full(error) or time.monotonic() > end:
                    raise
                self._say(
                    f"  no room in {self.library.folder}: waiting up to {end - time.monotonic():.0f} s for it ..."
                )
                time.sleep(min(pause, max(0.0, end - time.monotonic())) + 0.01)
                pause = min(2 * pause, 10.0)

    def _save_the_rest(self) -> None:
        """Writes the solutions for which there was no room; OSError if there is none yet."""
        unsaved, self._unsaved = self._unsaved, []
        for k, (point, found) in enumerate(unsaved):
            try:
                self._keep_patiently(point, found)
            except OSError as error:
                names = ", ".join(point.name for point, _ in unsaved[k : k + 3])
                raise OSError(
                    error.errno or errno.ENOSPC,
                    f"no room for {len(unsaved) - k} solutions that were found ({names}, ...): make room and run the "
                    f"sweep again, which solves these and {len(self.waiting)} others; {len(self.done)} are kept",
                    str(self.library.folder),
                ) from error


def _is_full(error: BaseException) -> bool:
    """Whether an error says that a disk is full."""
    return isinstance(error, OSError) and error.errno in WITHOUT_ROOM
