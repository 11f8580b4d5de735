"""Checks of what a sweep is given: points and options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...._base.checks import numbers, whole
from ...._base.types import repr_in_message, sequence
from ..solve import refuse_compile


def check_options(sweep: Any) -> None:
    """Raises TypeError or ValueError for options of a sweep that cannot be."""
    for key in ("solve", "settings"):
        if not isinstance(getattr(sweep, key), Mapping):
            raise TypeError(f"Sweep: {key} must be a dict by name, got {repr_in_message(getattr(sweep, key))}")
    refuse_compile(sweep.solve, "Sweep: solve")
    if "start" in sweep.solve:
        raise ValueError(
            "Sweep: solve must not hold start: every point starts from the nearest solution; the first may have "
            "guess=..."
        )
    if "values" in sweep.solve:
        raise ValueError(
            f"Sweep: solve must not hold values, got {repr_in_message(sweep.solve['values'])}: the points give the "
            "parameters their values"
        )
    if not isinstance(sweep.scheduler, str):
        raise TypeError(
            f"Sweep: scheduler must be an address such as 'tcp://host:8786', got {repr_in_message(sweep.scheduler)}"
        )
    if not (sweep.executor is None or hasattr(sweep.executor, "submit")):
        raise TypeError(f"Sweep: executor must have the method submit, got {repr_in_message(sweep.executor)}")
    whole(sweep.jobs, "Sweep: jobs", 0)
    if sweep.scheduler and (sweep.jobs or sweep.executor is not None):
        other = "jobs" if sweep.jobs else "executor"
        raise ValueError(f"Sweep: the workers of the scheduler are used, and {other} has no effect: leave it out")
    patience = numbers(sweep.patience, "Sweep: patience")
    if patience.size != 1 or not patience >= 0:
        raise ValueError(f"Sweep: patience must be a time [s], at least 0, got {repr_in_message(sweep.patience)}")


def checked_points(points: Any) -> tuple[Any, ...]:
    """The points of a sweep without duplicates; TypeError or ValueError if they are not points."""
    needs = "Sweep: points must be a list of points, such as grid(speed=[1.0, 1.2])"
    listed_points = sequence(points, needs)
    for point in listed_points:
        missing = [key for key in ("name", "values", "variant", "distance", "relaxes") if not hasattr(point, key)]
        if missing:
            raise TypeError(
                f"{needs}, got {repr_in_message(point)}, which lacks {', '.join(missing)}: see ocp.SweepPoint"
            )
    unique = tuple(dict.fromkeys(listed_points))
    name, count = next(iter(Counter(point.name for point in unique).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(
            f"Sweep: {count} points have the name {repr_in_message(name)}, and would have one file: give them "
            "different names"
        )
    return unique
