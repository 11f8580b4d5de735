"""Solutions that did not converge: the warning, the errors, and the words that tables, files and pictures show.

Such a solution is returned by `solve`, because it tells what went wrong. It is no motion of the model: it does not
obey the equations of motion, or keep to the constraints. All that is made from it says so.
"""

from __future__ import annotations

from typing import Any

from .checks import warn_user

MARK = "NOT CONVERGED"
"""The words that tables, files and pictures of a solution show that did not converge."""


CAUSES = 3
"""Largest number of violated constraints that a message names."""


class NotConvergedWarning(RuntimeWarning):
    """The warning on a solution that did not converge, where nothing is printed that tells it: after
    `solve(progress=False)`, or when such a solution is read from a file.

        warnings.simplefilter("error", ocp.NotConvergedWarning)  # makes it an error

    >>> issubclass(ocp.NotConvergedWarning, RuntimeWarning)
    True
    """


class NotConverged(RuntimeError):
    """The error of `solve(check=True)` for a solution that did not converge, which is its attribute `solution`.

    >>> try:
    ...     turn(ocp.TorqueSquared()).solve(progress=False, check=True, max_iterations=0)
    ... except ocp.NotConverged as error:
    ...     print(error.solution.status)
    Maximum_Iterations_Exceeded
    """

    def __init__(self, message: str, solution: Any = None) -> None:
        super().__init__(message)
        self.solution = solution


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a solve. It ends loops as any `KeyboardInterrupt` does, and keeps what was found.

    solution: the best iterate of the run that was stopped, or the last motion found on a coarser grid. found: what a
    work of several solves had found before, such as the solutions of `solve_along`.

        try:
            walk = problem.solve()
        except ocp.Interrupted as stopped:
            walk = stopped.solution

    After an interactive session has shown it, it is `sys.last_value`.

    >>> ocp.Interrupted("stopped", solution).solution is solution
    True
    """

    def __init__(self, message: str, solution: Any = None, found: Any = ()) -> None:
        super().__init__(message)
        self.solution, self.found = solution, found


def mark_of(motion: Any) -> str:
    """The words that a picture, a table or a file of a motion shows: "" if it converged, or was not solved."""
    stats = getattr(motion, "stats", None) or {}
    if stats.get("converged", True):
        return ""
    return f"{MARK} ({stats.get('status', 'not solved')})"


def failure(solution: Any) -> str:
    """A sentence on a solution that did not converge: the solver's status, then the verdict, or else the constraints
    that are violated most."""
    stats = solution.stats
    why = stats.get("verdict") or "; ".join(stats.get("faults", [])[:CAUSES])
    held = f"; at their limits: {stats['at_limits']}" if stats.get("at_limits") and not stats.get("verdict") else ""
    return f"not converged: {stats.get('status', 'not solved')}" + (f": {why}" if why else "") + held


def warn(message: str) -> None:
    """Warns of a solution that did not converge, at the line of the user's own code."""
    warn_user(message, NotConvergedWarning)
