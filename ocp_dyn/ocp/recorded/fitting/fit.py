"""`fit`: inverse optimal control by Gauss-Newton steps on the derivatives of solved motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...._base.checks import truth, whole
from ...._base.display import Progress
from ...._base.types import Array, repr_in_message, suggestion
from ...solution import Solution
from ...statement.statement import Statement
from .crew import Crew, stacked
from .gauss_newton import Search
from .measured import Measured
from .motions import Motion
from .parameters import Scaled, scaled
from .report import DataAgreement, Fit, Fold, agreement_of, covariance_of, on_reference, sentences_of
from .saved import checked, key_of, load, save

TOLERANCE = 1e-8
"""Tolerance of the solves: derivatives are those of an optimum."""

SPREAD_OF_STARTS = 1.0
"""Standard deviation of further starts on the scales of the parameters without a prior: a factor of 2.7."""

NO_EFFECT = 1e-7
"""A parameter has no effect if it moves the data by less, in spreads, for a step of one on its scale."""

MOST_STARTS = 1000


def fit(
    problems: Any,
    data: Any,
    parameters: Any,
    *,
    starts: int = 1,
    seed: int = 0,
    groups: Mapping[str, str] | None = None,
    jobs: int = 1,
    file: Any = None,
    max_iterations: int = 30,
    progress: bool = True,
    tolerance: float = TOLERANCE,
    **options: Any,
) -> Fit:
    """Finds the parameters whose optimal motions come closest to measured ones: inverse optimal control.

        minimize over p:  sum ((h(x(p)) - measured) / spread)^2 + sum ((p - prior) / spread)^2,
        x(p): the solution of a problem for p

    problems: a Problem, or several by name: other speeds, other subjects. data: for each a list of `Measured`.
    parameters: names of costs, whose weights are fitted, and of parameters of the problems; `Fitted` for bounds, priors
    and starts. A parameter has one value for all problems. If all weights are fitted their common factor changes no
    motion: their geometric mean is kept on the way. Leave a weight out to hold it.

    Every trial solves all problems, from their last solutions; see `ocp_dyn.ocp.recorded.fitting.gauss_newton`. starts:
    searches from further points at random (`seed`). groups: group of every problem; each group is left out once, and
    predicted from the others (cross-validation). jobs: processes; more than one need problems and data that can be
    pickled, and in a script `if __name__ == '__main__':`. file: where the search stands, to go on. options: of `solve`.

    KeyError for unknown names; ValueError for data of another body, fewer data than parameters, parameters without
    effect, and problems without a solution at the start. What no parameters explain is told in `Fit.sentences`.

    [K. Mombaur, A. Truong & J.-P. Laumond, From human to humanoid locomotion: an inverse optimal control approach,
    Auton. Robots 28, 2010: the upper level without derivatives. Derivatives: `ocp_dyn.ocp.workflows.sensitivity`.]

    >>> problem = turn(ocp.TorqueSquared(), ocp.Rate(lambda instant: instant.tau, name="jerk", weight=0.2))
    >>> seen = ocp.Measured.motion("q", problem.with_weights(jerk=1.0).solve(progress=False).q, 0.001)
    >>> found = ocp.fit(problem, [seen], ["jerk"], progress=False)
    >>> found.status
    'Converged'
    """
    named, measured = _checked(problems, data)
    found = scaled(named, parameters)
    _enough(found, measured)
    truth(progress, "progress")
    whole(jobs, "jobs", least=1, most=1024)
    whole(max_iterations, "max_iterations", least=0)
    parts = _groups(groups, named)
    path, say = checked(file), Progress(progress)
    solving = {"tolerance": tolerance, "threads": 1, **options}
    motions = {
        name: Motion(problem, measured[name], found.names, found.entries, solving) for name, problem in named.items()
    }
    count, rng = whole(starts, "starts", least=1, most=MOST_STARTS), np.random.default_rng(whole(seed, "seed"))
    points = _points(found, count, rng)
    with Crew(motions, min(jobs, len(named))) as crew:
        return _Task(crew, found, measured, say, max_iterations, path).best(points, parts)


@dataclass
class _Result:
    """The end of one search."""

    z: Array
    J: Array
    costs: list[float]
    status: str
    solutions: dict[str, Solution]
    residual: float


@dataclass
class _Task:
    """All that the searches of a fit share."""

    crew: Crew
    scaled: Scaled
    data: Mapping[str, Sequence[Measured]]
    say: Progress
    most: int
    path: Any
    worst: float = 0.0
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = list(self.data)

    def attempt(self, z: Array) -> Array | None:
        """Residuals of all motions and of the priors; None if a motion has no solution."""
        answers = self.crew.attempt(self.scaled.values(z), self.names)
        self.failed = {name: status for name, (r, status) in answers.items() if r is None}
        if self.failed:
            return None
        rows = {name: r for name, (r, _) in answers.items() if r is not None}
        return np.concatenate([stacked(rows, self.names), self._prior(z)])

    def _prior(self, z: Array) -> Array:
        known = np.isfinite(self.scaled.spread)
        return ((z - self.scaled.prior) / self.scaled.spread)[known]

    def jacobian(self, z: Array) -> Array:
        answers = self.crew.jacobian(self.names)
        self.worst = max(residual for _, residual in answers.values())
        J = stacked({name: J for name, (J, _) in answers.items()}, self.names) * self.scaled.slopes(z)
        known = np.isfinite(self.scaled.spread)
        return np.concatenate([J, np.diag(1 / self.scaled.spread)[known]])

    def search(self, z: Array, number: int = 0, of: int = 1) -> _Result:
        """One search from z."""
        s, at = self.scaled, [z]
        key = key_of(s, self.data)
        costs: list[float] = []
        if self.path is not None and number == 0 and (known := load(self.path, key)) is not None:
            z, costs = known
            self.say(f"goes on from {self.path}, after {len(costs) - 1} iterations")
        tried: list[Array] = []

        def attempt(x: Array) -> Array | None:
            tried[:] = [x]
            return self.attempt(x)

        def accept() -> None:
            at[0] = tried[0]
            self.crew.keep(self.names)

        def told(search: Search) -> None:
            distance = np.sqrt(search.costs[-1] / max(1.0, self._count()))
            where = f"start {number + 1} of {of}, " if of > 1 else ""
            self.say(f"  {where}iteration {search.iteration}: {distance:.4g} spreads after {search.trials} trials")
            if self.path is not None and number == 0:
                save(self.path, key, at[0], [*costs[:-1], *search.costs], False)

        search = Search(attempt, accept, lambda: self._effective(at[0]), s.lower, s.upper, s.gauge, told)
        try:
            point, J = search.run(z, self.most)
        except ValueError as error:
            if not getattr(self, "failed", None):
                raise
            failed = "; ".join(f"{name}: {status}" for name, status in self.failed.items())
            raise ValueError(
                f"a problem has no solution for the first values of the parameters ({failed}): give other starts, "
                "ocp.Fitted(name, start=...), or look into it with problem.solve()"
            ) from error
        solutions = {name: x for name, x in self.crew.solutions().items() if x is not None and name in self.names}
        return _Result(point.z, J, [*costs[:-1], *search.costs], search.status, solutions, self.worst)

    def _count(self) -> float:
        return sum(measured.count for name in self.names for measured in self.data[name])

    def _effective(self, z: Array) -> Array:
        """The Jacobian; ValueError for parameters without effect."""
        J, s = self.jacobian(z), self.scaled
        idle = [label for k, label in enumerate(s.labels) if np.linalg.norm(J[:, k]) < NO_EFFECT]
        if idle:
            raise ValueError(
                f"{', '.join(map(repr, idle))} {'has' if len(idle) == 1 else 'have'} no effect on the data: leave "
                f"{'it' if len(idle) == 1 else 'them'} out, or give a prior, ocp.Fitted(name, prior=(value, spread))"
            )
        return J

    def best(self, points: Sequence[Array], groups: Mapping[str, Sequence[str]]) -> Fit:
        """The report on the best of the searches from these points, and on the groups that are left out."""
        results = [self.search(z, k, len(points)) for k, z in enumerate(points)]
        best = min(results, key=lambda result: result.costs[-1])
        self.crew.start_from(best.solutions)
        folds = tuple(self.fold(group, members, best.z) for group, members in groups.items())
        return self.report(best, [result.costs[-1] for result in results], folds)

    def fold(self, group: str, members: Sequence[str], z: Array) -> Fold:
        """Fits all but the members of a group, and holds these against their data."""
        everyone, s = self.names, self.scaled
        self.say(f"  without {group!r}:")
        rest = replace(self, names=[], path=None)
        rest.names = [name for name in everyone if name not in members]
        found = rest.search(z)
        values = s.values(found.z)
        answers = self.crew.attempt(values, members)
        if failed := [name for name, (r, _) in answers.items() if r is None]:
            raise ValueError(
                f"without {group!r}, the problem {failed[0]!r} has no solution for the values that are found"
            )
        self.crew.keep(members)
        solutions = self.crew.solutions()
        near = [a for name in members for a in agreement_of(name, _known(solutions[name]), self.data[name])]
        return Fold(group, dict(zip(s.labels, values.tolist(), strict=True)), tuple(near))

    def report(self, best: _Result, ends: list[float], folds: tuple[Fold, ...]) -> Fit:
        s = self.scaled
        near: tuple[DataAgreement, ...] = tuple(
            a for name in self.names for a in agreement_of(name, best.solutions[name], self.data[name])
        )
        inner = best.J[: -int(np.sum(np.isfinite(s.spread))) or None]
        z, covariance, reference = on_reference(best.z, covariance_of(inner, s, best.z), s)
        found = Fit(
            values=dict(zip(s.names, s.values(z).tolist(), strict=True)),
            names=s.labels,
            covariance=covariance,
            reference=reference,
            log=s.log,
            status=best.status,
            solutions=best.solutions,
            agreement=near,
            sentences=sentences_of(inner, s, best.z, near, best.residual),
            costs=tuple(best.costs),
            optima=tuple(sorted(ends)),
            work=self.crew.work(),
            scaled=s,
            folds=folds,
        )
        if self.path is not None:
            save(self.path, key_of(s, self.data), best.z, best.costs, True)
        self.say(str(found))
        return found


def _known(solution: Solution | None) -> Solution:
    assert solution is not None
    return solution


def _points(found: Scaled, count: int, rng: np.random.Generator) -> list[Array]:
    """The starts of the searches: that of the parameters, and others beside it, within the bounds."""
    spread = np.where(
        np.isfinite(found.spread),
        found.spread,
        SPREAD_OF_STARTS * np.where(found.log, 1.0, np.maximum(1.0, np.abs(found.start))),
    )
    points = [found.start]
    for _ in range(count - 1):
        step = rng.normal(size=spread.size) * spread
        if np.any(found.gauge):
            step[found.gauge] -= np.mean(step[found.gauge])
        points.append(np.clip(found.start + step, found.lower, found.upper))
    return points


def _checked(problems: Any, data: Any) -> tuple[dict[str, Statement], dict[str, list[Measured]]]:
    """Problems and data by name."""
    if isinstance(problems, Statement):
        problems, data = {"motion": problems}, {"motion": data}
    if not isinstance(problems, Mapping) or not problems:
        raise TypeError(f"problems must be a Problem, or a dict of several by name, got {repr_in_message(problems)}")
    for name, problem in problems.items():
        if not isinstance(name, str) or not isinstance(problem, Statement):
            raise TypeError(
                f"problems must hold Problems by name, got {repr_in_message(name)}: {repr_in_message(problem)}"
            )
    if not isinstance(data, Mapping):
        raise TypeError(
            f"data must be a dict with a list of ocp.Measured for every problem, got {repr_in_message(data)}"
        )
    for name in data:
        if name not in problems:
            raise KeyError(f"data of {repr_in_message(name)}, which is no problem{suggestion(name, problems)}")
    found = {}
    for name in problems:
        given = data.get(name, ())
        given = [given] if isinstance(given, Measured) else given
        if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(x, Measured) for x in given):
            raise TypeError(f"data of {name!r} must be a list of ocp.Measured, got {repr_in_message(given)}")
        if not given:
            raise ValueError(f"there are no data of the problem {name!r}: give some, or leave the problem out")
        found[name] = list(given)
    return dict(problems), found


def _enough(found: Scaled, data: Mapping[str, Sequence[Measured]]) -> None:
    """ValueError for fewer data than parameters."""
    values = sum(int(np.sum(measured.known)) for each in data.values() for measured in each)
    unknown = len(found.names) - bool(np.any(found.gauge)) - int(np.sum(np.isfinite(found.spread)))
    if values < unknown:
        raise ValueError(
            f"{values} measured values cannot tell {unknown} parameters: give more data, fewer parameters, or priors, "
            "ocp.Fitted(name, prior=(value, spread))"
        )


def _groups(groups: Any, problems: Mapping[str, Statement]) -> dict[str, list[str]]:
    """The members of every group of the cross-validation."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a dict, the group of every problem by its name, got {repr_in_message(groups)}")
    if wrong := [name for name in groups if name not in problems]:
        raise KeyError(f"groups: no problem {repr_in_message(wrong[0])}{suggestion(wrong[0], problems)}")
    if lost := [name for name in problems if name not in groups]:
        raise ValueError(f"groups: the problem {lost[0]!r} has no group")
    found: dict[str, list[str]] = {}
    for name in problems:
        found.setdefault(str(groups[name]), []).append(name)
    if len(found) < 2:
        raise ValueError(f"groups: cross-validation needs two groups or more, got {', '.join(found)}")
    return found
