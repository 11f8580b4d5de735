"""Continuation: solves a problem along a list of values of its parameters, each time from the previous solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._base.checks import numbers
from ..._base.convergence import Interrupted, failure, warn
from ..._base.types import Array, positional, repr_in_message
from ..solution import Solution
from ..statement.statement import Statement
from .parameter_values import by_name
from .solve import solution_of

MOST_HALVINGS = 3
"""Largest number of times that a step that does not converge is halved."""


def solve_along(
    problem: Statement,
    *,
    start: Solution | None = None,
    values: Mapping[str, Any] | None = None,
    solve: Mapping[str, Any] | None = None,
    **along: Sequence[Any],
) -> list[Solution]:
    """Solutions for every value of some parameters, in order: `solve_along(problem, speed=[1.0, 1.1, 1.2])`.

    Each solve starts from the last solution that converged, with its multipliers, and nothing is built again. If it
    does not converge, the step of the parameters is halved, up to three times. If a value is still not reached, its
    unconverged solution is returned, with a warning if nothing is printed, and the next value starts from the last
    solution that converged. Ctrl-C raises `ocp.Interrupted`, whose attribute `found` holds the solutions so far.

    along: for each parameter a sequence of values; all sequences have the same length, and the parameters change
    together. start: a solution of this problem from which to begin (default: the first guess of the problem). values:
    of parameters that do not change. solve: options of `problem.solve`, such as {"tolerance": 1e-8, "progress": False};
    a guess among them is that of solves without a start. TypeError for a value that is no sequence, ValueError for
    sequences that are empty or differ in length, and for a name both in values and in along.

    >>> aim = ocp.Boundary(lambda one, end: (ca.vertcat(one.q, one.qd, end.q - end.values["angle"], end.qd), 0, 0))
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> found = ocp.solve_along(problem, angle=[1.0, 1.5, 2.0], solve={"progress": False})
    >>> [round(solution.objective, 1) for solution in found]
    [12.0, 27.1, 48.1]
    """
    sequences = _checked(problem, values, solve, along)
    fixed, options = dict(values or {}), _options(solve, start)
    twice = sorted(set(fixed) & set(sequences))
    if twice:
        raise ValueError(
            f"solve_along: {', '.join(twice)} cannot both stay and change: leave {', '.join(twice)} out of values"
        )
    here: dict[str, Array] | None = None
    solutions: list[Solution] = []
    rows = zip(*sequences.values(), strict=True)
    goals = [by_name({name: _value(name, x) for name, x in zip(sequences, row, strict=True)}, problem) for row in rows]
    for goal in goals:
        try:
            solution = _reached(problem, here, goal, start, fixed, options, MOST_HALVINGS)
        except Interrupted as stop:
            raise Interrupted(str(stop), stop.solution, solutions) from None
        if solution.converged:
            here, start = goal, solution
        elif not options.get("progress", True):
            warn(f"solve_along: {_told(goal)} was not reached: {failure(solution)}")
        solutions.append(solution)
    return solutions


def _checked(problem: Any, values: Any, solve: Any, along: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The sequences of values by parameter; TypeError or ValueError for arguments of another kind."""
    if not isinstance(problem, Statement):
        raise TypeError(f"solve_along needs a Problem, got {repr_in_message(problem)}")
    for key, mapping in (("values", values), ("solve", solve)):
        if not (mapping is None or isinstance(mapping, Mapping)):
            raise TypeError(f"solve_along: {key} must be a dict by name, got {repr_in_message(mapping)}")
    if not along:
        raise ValueError("solve_along needs a sequence of values for at least one parameter, such as speed=[1.0, 1.1]")
    found = {name: positional(sequence, f"solve_along: {name}") for name, sequence in along.items()}
    for name, sequence in found.items():
        if isinstance(sequence, str) or not hasattr(sequence, "__len__") or not np.ndim(sequence):
            raise TypeError(
                f"solve_along needs a sequence of values for {name}, such as [1.0, 1.1], got "
                f"{repr_in_message(sequence)}"
            )
    lengths = {name: len(sequence) for name, sequence in found.items()}
    if len(set(lengths.values())) != 1 or not all(lengths.values()):
        raise ValueError(f"solve_along needs sequences of one length that are not empty, got {lengths}")
    return found


def _told(goal: Mapping[str, Array]) -> str:
    """Values of parameters, in words."""
    return ", ".join(f"{name} = {', '.join(f'{x:g}' for x in np.ravel(value))}" for name, value in goal.items())


def _options(solve: Mapping[str, Any] | None, start: Solution | None) -> dict[str, Any]:
    """The options of all solves; ValueError for those that solve_along sets itself."""
    options = dict(solve or {})
    for key in ("start", "values"):
        if key in options:
            raise ValueError(f"solve_along: solve must not hold {key}: give it as {key}=... of solve_along")
    if start is not None and "guess" in options:
        raise ValueError("solve_along: give start, or a guess in solve, not both: start is a guess with multipliers")
    return options


def _value(name: str, value: Any) -> Array:
    """One value of a parameter as an array of the same shape."""
    return np.reshape(numbers(value, f"solve_along: {name}"), np.shape(value))


def _reached(
    problem: Statement,
    here: dict[str, Array] | None,
    goal: dict[str, Array],
    start: Solution | None,
    fixed: dict[str, Any],
    options: dict[str, Any],
    halvings: int,
) -> Solution:
    """The solution at `goal`, from the solution `start` at `here`; through the midpoint if the direct step fails."""
    fresh = {key: value for key, value in options.items() if start is None or key != "guess"}
    solution = solution_of(problem, values={**fixed, **goal}, start=start, **fresh)
    if solution.converged or here is None or not halvings:
        return solution
    middle = {name: (here[name] + goal[name]) / 2 for name in goal}
    between = _reached(problem, here, middle, start, fixed, options, halvings - 1)
    if not between.converged:
        return solution
    return _reached(problem, middle, goal, between, fixed, options, halvings - 1)
