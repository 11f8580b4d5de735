"""Multistart: a problem solved from several first guesses; how many optima they lead to, and how far apart these are.

A local solver finds one of the local optima near its guess. Nothing proves that there is no better one; several guesses
tell whether the ones that can be thought of lead to the same.
"""

from __future__ import annotations

import inspect
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import active_children, get_context
from typing import Any

import numpy as np

from ..._base.checks import positive, truth, whole
from ..._base.convergence import Interrupted
from ..._base.display import Displayed, Progress, aligned, table
from ..._base.types import Array, suggestion
from ...mechanism import Model
from ..analysis.defects import distance
from ..guess.from_solution import carry_over
from ..guess.standing_guess import initial_guess
from ..motion.motion import PhaseMotion
from ..solution import Solution
from ..statement.statement import Statement
from ..transcription.variables import Transcription
from .attempt import Attempt
from .restarts import STOPPED, shift
from .solve import STOPPED_BY_USER, attempt_of
from .sweeps.processes import follow_parent, one_thread_each

NOISE = 0.3
"""Standard deviation of the noise on joint positions [rad, m]; at most `SHARE` of the range of a joint."""

SHARE = 0.25
SAME_ANGLE, SAME_LENGTH, SAME_COST = 0.02, 0.01, 1e-4
"""Motions are taken for one optimum if their joint angles [rad] and lengths [m] differ by less at every time, and their
costs by less, relatively."""

MOMENTS = 21
"""Moments of each phase at which motions are compared."""

OWN = ("starts", "noise", "seed", "jobs", "progress")
"""Arguments that `multistart` does not hand on."""

MOST = 1000
"""Largest number of starts."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """A local optimum that one start or several led to.

    solution: the solution of the first of these; starts: their numbers, 0 for the library's first guess. worse: cost
    above that of the best optimum, as a fraction of its size; angle [rad], length [m]: largest difference of a rotation
    and of a translation from the best optimum, of all dofs, at equal fractions of the phases.

    >>> ocp.multistart(turn(ocp.TorqueSquared()), 3, progress=False).optima[0].starts
    (0, 1, 2)
    """

    solution: Solution
    starts: tuple[int, ...]
    worse: float
    angle: float
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class Multistart(Displayed):
    """Optima of a problem, the best first, as `multistart` finds them. failed: status by number of the starts that did
    not converge; seconds: time of all solves.

    >>> found = ocp.multistart(turn(ocp.TorqueSquared()), 3, progress=False)
    >>> print(found)
    3 starts, of which 3 converged, to 1 optimum
    optimum  starts  objective  worse by  angle [deg]  length [m]  first guess
    1        3       12.0301    0 %       0            0           yes
    """

    optima: tuple[Optimum, ...]
    failed: Mapping[int, str]
    seconds: float

    @property
    def best(self) -> Solution:
        """The solution of least cost; ValueError if no start converged."""
        if not self.optima:
            raise ValueError(f"no start converged: {'; '.join(dict.fromkeys(self.failed.values()))}")
        return self.optima[0].solution

    def __str__(self) -> str:
        return "\n".join([self._head(), *([aligned(self._rows())] if self.optima else [])])

    def _head(self) -> str:
        converged = sum(len(optimum.starts) for optimum in self.optima)
        count = len(self.optima)
        return (
            f"{converged + len(self.failed)} starts, of which {converged} converged, to {count} "
            f"{'optimum' if count == 1 else 'optima'}"
        )

    def _rows(self) -> list[list[str]]:
        head = ["optimum", "starts", "objective", "worse by", "angle [deg]", "length [m]", "first guess"]
        rows = [
            [
                str(k + 1), str(len(o.starts)), f"{o.solution.objective:.6g}", f"{100 * o.worse:.3g} %",
                f"{np.degrees(o.angle):.3g}", f"{o.length:.3g}", "yes" if 0 in o.starts else "",
            ]
            for k, o in enumerate(self.optima)
        ]  # fmt: skip
        return [head, *rows]

    def __repr__(self) -> str:
        return f"Multistart: {self._head()}; print shows the optima"

    def _card_html(self) -> str:
        rows = self._rows()
        return f"<p>{self._head()}</p>" + (table(rows[0], rows[1:]) if self.optima else "")


def multistart(
    problem: Statement,
    starts: int = 16,
    *,
    noise: float = NOISE,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = True,
    **options: Any,
) -> Multistart:
    """Solves a problem from the library's first guess and from `starts` - 1 guesses beside it, and tells how many
    distinct optima they lead to, how far apart these are, and which is best.

    The first guess is moved by a normally distributed amount for each position of each joint [rad, m] with the standard
    deviation `noise`, at most a quarter of the joint's range: every second time by one amount for the whole motion,
    else by another one at every node. Positions stay within their bounds; the root and quaternions stay as they are.
    options: those of `Problem.solve`; a `guess` among them takes the place of the library's. The problem is built once,
    or once in each process, and every start costs one solve. jobs: number of processes that solve side by side; they
    find the same as one. TypeError for a problem that cannot be sent to them.

    Ctrl-C raises `ocp.Interrupted`; what was found until then is its attribute `found`.

    Two motions are one optimum if their dofs differ by less than 0.02 rad and 0.01 m at equal fractions of every phase,
    and their costs by less than 1e-4. Motions that are mirror images of each other count as two.

    >>> found = ocp.multistart(turn(ocp.TorqueSquared()), 3, progress=False)
    >>> len(found.optima), round(found.best.objective, 2)
    (1, 12.03)
    """
    count, most = whole(starts, "starts", least=1, most=MOST), whole(jobs, "jobs", least=1)
    say, begin = Progress(truth(progress, "progress")), time.perf_counter()
    _check_options(options)
    guess = options.pop("guess", None)
    work = _Starts(problem, options, guess, positive(noise, "noise"), whole(seed, "seed", 0))
    solved = _side_by_side(work, count, most) if min(count, most) > 1 else ((k, work.solved(k)) for k in range(count))
    found: dict[int, Solution] = {}
    try:
        for k, solution in solved:
            found[k] = solution
            told = f"cost {solution.objective:.6g}" if solution.converged else "not found"
            say(f"  start {k + 1} of {count}: {solution.status}, {solution.stats['iterations']} iterations, {told}")
            if solution.status == STOPPED:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise Interrupted(STOPPED_BY_USER, next(reversed(found.values()), None), _judged(found, begin)) from None
    return _judged(found, begin)


def _check_options(options: Mapping[str, Any]) -> None:
    """Raises TypeError for options of a solve that several starts cannot take, and for misspelled ones."""
    for key in ("start", "restarts"):
        if key in options:
            raise TypeError(f"multistart has no option {key}: every start is a guess of its own, and is solved once")
    for key in ("accuracy", "refine"):
        if key in options:
            raise TypeError(
                f"multistart has no option {key}: optima are compared on one grid. Refine that of the best one: "
                "found.best.refined(problem, accuracy)"
            )
    known = {"guess", *inspect.signature(attempt_of).parameters}
    for key in options:
        if key not in known and (near := suggestion(key, OWN)):
            raise TypeError(f"multistart has no option {key}{near}")


@dataclass
class _Starts:
    """Starts of a problem by their numbers, each with random numbers of its own: equal ones in every process."""

    problem: Statement
    options: Mapping[str, Any]
    guess: Solution | None
    noise: float
    seed: int

    def __post_init__(self) -> None:
        attempt_of(self.problem, progress=False, **self.options)  # tells faults of the options

    @cached_property
    def attempt(self) -> Attempt:
        return attempt_of(self.problem, progress=False, **self.options)

    def solved(self, k: int) -> Solution:
        """The solution of start k; that of start 0 begins from the first guess itself."""
        if not k:
            return self.attempt.solved(self.guess)
        rng = np.random.default_rng((self.seed, k))
        moves = _noise(self.problem.model, self.noise, rng, at_all_times=bool(k % 2))
        return self.attempt.solved(set_guess=partial(_set_guess, self.guess, moves))


def _side_by_side(work: _Starts, count: int, jobs: int) -> Iterator[tuple[int, Solution]]:
    """The solutions of all starts, in the order in which several processes find them."""
    try:
        sent = pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"the problem cannot be sent to other processes ({error}): define its functions in a module, with def, or "
            "give jobs=1"
        ) from None
    others = active_children()
    with one_thread_each(), ProcessPoolExecutor(min(jobs, count), get_context("spawn"), _receive, (sent,)) as pool:
        numbers = {pool.submit(_solved_here, k): k for k in range(count)}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BrokenProcessPool as error:
            raise BrokenProcessPool(
                "a process of multistart ended. In a script the call must stand under `if __name__ == '__main__':`, "
                "because every process imports the script; else the process was killed, perhaps for want of memory: "
                "try fewer jobs"
            ) from error
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - set(others):
                process.terminate()
            raise


_received: list[_Starts] = []
"""The starts that this process works on, if it is one of several."""


def _receive(sent: bytes) -> None:
    follow_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the parent ends
    _received.append(pickle.loads(sent))


def _solved_here(k: int) -> Solution:
    return _received[0].solved(k)


def _judged(found: Mapping[int, Solution], begin: float) -> Multistart:
    """The optima among the solutions of all starts; begin: of the first, in seconds of the clock."""
    found = dict(sorted(found.items()))
    failed = {k: solution.status for k, solution in found.items() if not solution.converged}
    optima = distinct({k: solution for k, solution in found.items() if solution.converged})
    return Multistart(optima, failed, time.perf_counter() - begin)


def _set_guess(guess: Solution | None, moves: Callable[[], Array], transcription: Transcription) -> None:
    """Sets the first values of a start: those of a guess, or the library's, moved by an amount at every node."""
    initial_guess(transcription)
    if guess is not None:
        carry_over(transcription, guess)
    shift(transcription, lambda: moves()[transcription.problem.coordinates.q])


def _noise(model: Model, spread: float, rng: np.random.Generator, at_all_times: bool) -> Callable[[], Array]:
    """A function that gives a random change of all positions of the joints but the root [rad, m]: always the same one,
    or another one each time."""
    span = model.dofs.q_upper - model.dofs.q_lower
    scale = np.minimum(spread, np.where(np.isfinite(span), SHARE * span, np.inf))
    root = model.joints[1].nq if model.nq > model.joints[1].nq else 0
    scale[:root] = 0.0
    for joint, name in zip(model.joints[1:], model.joint_names, strict=True):
        if joint.has_quaternion:
            scale[model.q_slice(name)] = 0.0
    constant = rng.normal(size=model.nq) * scale
    return lambda: constant if at_all_times else rng.normal(size=model.nq) * scale


def distinct(solutions: Mapping[int, Solution]) -> tuple[Optimum, ...]:
    """The distinct optima among solutions that converged, by the numbers of their starts; the best first."""
    groups: list[list[int]] = []
    for k, solution in solutions.items():
        for group in groups:
            angle, length = apart(solutions[group[0]], solution)
            if angle < SAME_ANGLE and length < SAME_LENGTH and _worse(solution, solutions[group[0]]) < SAME_COST:
                group.append(k)
                break
        else:
            groups.append([k])
    groups.sort(key=lambda group: solutions[group[0]].objective)
    return tuple(
        Optimum(
            solutions[group[0]],
            tuple(group),
            _worse(solutions[groups[0][0]], solutions[group[0]]),
            *apart(solutions[groups[0][0]], solutions[group[0]]),
        )
        for group in groups
    )


def _worse(one: Solution, other: Solution) -> float:
    """Difference of costs, as a fraction of the first one's size."""
    return abs(other.objective - one.objective) / max(abs(one.objective), 1e-12)


def apart(one: Solution, other: Solution) -> tuple[float, float]:
    """Largest difference of angles [rad] and of lengths [m] between two motions of one model, at equal fractions of
    their phases."""
    fractions = np.linspace(0.0, 1.0, MOMENTS)
    pairs = [
        distance(one.model, *rows)
        for mine, theirs in zip(one.phases, other.phases, strict=True)
        for rows in zip(_at(mine, fractions), _at(theirs, fractions), strict=True)
    ]
    angle, length = np.max(pairs, axis=0)
    return float(angle), float(length)


def _at(phase: PhaseMotion, fractions: Array) -> Array:
    """Positions at fractions of a phase: (fractions, nq)."""
    t = (phase.t - phase.t[0]) / (phase.t[-1] - phase.t[0])
    return np.column_stack([np.interp(fractions, t, column) for column in phase.q.T])
