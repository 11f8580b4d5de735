"""Faults of muscles, told by name before anything is solved: of their paths, and of fibers and tendons on them."""

from __future__ import annotations

import numpy as np

from .._base.checks import positive
from .._base.types import Array, names_in_message, truth
from ..mechanism import Model, Muscle
from ..mechanism.boundary import checks_arguments
from .path_report import PathFault, geometry_faults, path_faults
from .paths.geometry import Path, path_values
from .paths.smooth import TOLERANCE
from .paths.trials import trial_configurations

BEARING = (0.2, 1.8)
"""Lengths of fibers over the optimal one between which the curves bear force."""


@checks_arguments()
def muscle_faults(model: Model, *, tolerance: float = TOLERANCE, fits: bool = True) -> tuple[PathFault, ...]:
    """Faults of the muscles of a model, each with the muscle's name and a remedy; empty if all is well.

    Those of `path_faults`, and for muscles with fibers and tendons: numbers that are not positive; tendons that are
    slack over all ranges of the joints; fibers that on a rigid tendon leave 0.2 to 1.8 of their optimal length, in the
    corners of the ranges or at configurations between them. fits=False leaves out the polynomials of paths, which take
    some seconds where they are not known yet. `fault.severe` marks those with which nothing can be solved.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> numbers = {"max_isometric_force": 800.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.9}
    >>> loose = arm.with_muscles([od.Muscle("biceps", "Thelen2003Muscle", path, **numbers)])
    >>> print(od.muscles.muscle_faults(loose)[0])
    muscle 'biceps': its tendon of 0.9 m is slack everywhere: the path is at most 0.705 m long; shorten its tendon_slack_length, or mend its path
    """  # noqa: E501
    positive(tolerance, "tolerance [m]")
    if truth(fits, "fits"):
        paths = path_faults(model, tolerance=tolerance)
    else:
        paths = tuple(fault for muscle in model.muscles for fault in geometry_faults(model, muscle))
    if model.has_symbols:
        return paths
    return (*paths, *(fault for muscle in model.muscles for fault in _of_fibers(model, muscle)))


def _of_fibers(model: Model, muscle: Muscle) -> list[PathFault]:
    l0, ls, F0 = muscle.optimal_fiber_length, muscle.tendon_slack_length, muscle.max_isometric_force
    if l0 is None or ls is None or F0 is None:
        return []  # a ligament
    for name, value in (("max_isometric_force", F0), ("optimal_fiber_length", l0), ("tendon_slack_length", ls)):
        if not value > 0:
            return [PathFault(muscle.name, f"its {name} is {value:g}", "give it a positive number", severe=True)]
    path = Path(model, muscle)
    lengths = path_values(path, trial_configurations(model, path.coordinates)).length
    longest = float(np.max(lengths))
    if longest <= ls:
        return [
            PathFault(
                muscle.name,
                f"its tendon of {ls:.3g} m is slack everywhere: the path is at most {longest:.3g} m long",
                "shorten its tendon_slack_length, or mend its path",
                severe=True,
            )
        ]
    return _of_range(model, path, _fibers(muscle, lengths) / l0)


def _fibers(muscle: Muscle, lengths: Array) -> Array:
    """Lengths of the fibers on a rigid tendon [m]; where that is slack, the width of the muscle."""
    width = (muscle.optimal_fiber_length or 0.0) * np.sin(muscle.pennation_angle or 0.0)
    found: Array = np.hypot(np.maximum(lengths - (muscle.tendon_slack_length or 0.0), 0.0), width)
    return found


def _of_range(model: Model, path: Path, fibers: Array) -> list[PathFault]:
    """Fibers that are too short or too long somewhere."""
    outside = (fibers < BEARING[0]) | (fibers > BEARING[1])
    if not np.any(outside):
        return []
    names = names_in_message([model.q_names[k] for k in path.coordinates])
    return [
        PathFault(
            path.muscle.name,
            f"its fibers are {np.min(fibers):.2f} to {np.max(fibers):.2f} of their optimal length over the ranges of "
            f"{names}, outside {BEARING[0]:g} to {BEARING[1]:g} at {np.mean(outside):.0%} of the configurations",
            "change its optimal_fiber_length and tendon_slack_length, or give the joints narrower ranges by "
            "model.with_limits",
        )
    ]
