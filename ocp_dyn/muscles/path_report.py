"""Reports on the paths of a model before they are used: how good their smooth forms are, and what is wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._base.checks import positive
from .._base.types import ModelError, names_in_message, repr_in_message
from ..mechanism import Model, Muscle
from ..mechanism.boundary import checks_arguments
from .paths.geometry import Path, path_values
from .paths.smooth import TOLERANCE, smooth_paths
from .paths.smooth_path import SmoothPath
from .paths.trials import inside_of, trial_configurations

SHORTEST = 1e-6
"""Length below which a path, or a piece of it, counts as none [m]."""
JUMP = 1e-3
"""Jump of a length beyond which it is told [m]."""


class PathFault(NamedTuple):
    """Something wrong with the path of a muscle: what, and what to do about it.

    >>> print(od.muscles.PathFault("soleus", "its path has no length", "place its points apart"))
    muscle 'soleus': its path has no length; place its points apart
    """

    muscle: str
    what: str
    remedy: str
    severe: bool = False
    """Whether nothing can be solved with it."""

    def __str__(self) -> str:
        return f"muscle {repr_in_message(self.muscle)}: {self.what}; {self.remedy}"


@checks_arguments()
def path_report(model: Model, *, tolerance: float = TOLERANCE) -> tuple[SmoothPath, ...]:
    """The smooth forms of the paths of `model.muscles`, with their errors at configurations that were not fitted.

    The fits are those of `od.muscle_lengths` and its kin: found once for a model, and kept in the cache of the user
    under a digest of all data on which they depend. ModelError where a path cannot be fitted.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> od.muscles.path_report(arm.with_muscles([od.Muscle("flexor", "PathSpring", path)]))[0].straight
    True
    """
    return smooth_paths(model, positive(tolerance, "tolerance [m]")).reports


@checks_arguments()
def path_faults(model: Model, *, tolerance: float = TOLERANCE) -> tuple[PathFault, ...]:
    """Faults of the paths of a model, each with the muscle's name and a remedy; empty if all is well.

    Paths of length zero; points inside a wrap object, over which such a path does not wrap; coordinates without a range
    to fit in; polynomials that miss the tolerance [m]; lengths that jump, where a conditional point comes or goes or a
    line changes the side of its wrap object. Points are looked at in the corners of the ranges and at some
    configurations between them. Coordinates that constraints couple to others are no fault: `coupled_coordinates`.

    >>> path = (od.PathPoint("P1", "link1", (0, 0, -1)), od.PathPoint("P2", "link2", (0, 0, 0)))
    >>> print(od.muscles.path_faults(arm.with_muscles([od.Muscle("none", "PathSpring", path)]))[0])
    muscle 'none': its path has no length at q = [0, 0]; place its points apart
    """
    found = [fault for muscle in model.muscles for fault in geometry_faults(model, muscle)]
    try:
        reports = path_report(model, tolerance=tolerance)
    except ModelError as error:
        named = next((m.name for m in model.muscles if repr_in_message(m.name) in str(error)), model.muscle_names[0])
        return (*found, PathFault(named, str(error).split(";")[0], "see od.muscles.path_faults after this is mended"))
    return (*found, *(fault for report in reports for fault in _of_fit(report, tolerance)))


def geometry_faults(model: Model, muscle: Muscle) -> list[PathFault]:
    """Faults of one path as it is, without its polynomial."""
    if model.has_symbols:
        return []
    path, found = Path(model, muscle), []
    q = trial_configurations(model, path.coordinates)
    values = path_values(path, q)
    k = int(np.argmin(values.length))
    if values.length[k] < SHORTEST:
        at = ", ".join(f"{x:g}" for x in q[k])
        found.append(
            PathFault(muscle.name, f"its path has no length at q = [{at}]", "place its points apart", severe=True)
        )
    for wrap, point, share in inside_of(path, values):
        found.append(
            PathFault(
                muscle.name,
                f"its point {repr_in_message(point)} lies inside the wrap object {repr_in_message(wrap)} at "
                f"{share:.0%} of the configurations, where the path does not wrap",
                "move the point, or make the object smaller",
            )
        )
    return found


def _of_fit(report: SmoothPath, tolerance: float) -> list[PathFault]:
    found = []
    if report.arm_rms > tolerance:
        found.append(
            PathFault(
                report.name,
                f"its polynomial of degree {report.degree} in {names_in_message(report.coordinates)} has moment arms "
                f"that are off by {1e3 * report.arm_rms:.2g} mm RMS and {1e3 * report.arm_worst:.2g} mm at most, "
                f"more than {1e3 * tolerance:.2g} mm",
                "give the joints narrower ranges by model.with_limits, mend its wrap objects, or ask for a larger "
                "tolerance",
            )
        )
    if report.jump > JUMP:
        found.append(
            PathFault(
                report.name,
                f"its exact length jumps by {1e3 * report.jump:.2g} mm, where a conditional point comes or goes, a "
                "point enters a wrap object or a line changes its side, and the polynomial does not",
                "move the point or its range, give the wrap object a quadrant, or the joints narrower ranges",
            )
        )
    return found


@checks_arguments()
def coupled_coordinates(model: Model) -> dict[str, tuple[str, ...]]:
    """Coordinates of paths that constraints of the model couple to others, by muscle.

    Moment arms about them are arms of the tree, and the polynomials of these paths are right where the couplings hold.

    >>> od.muscles.coupled_coordinates(arm)
    {}
    """
    reports = path_report(model)
    return {report.name: report.coupled for report in reports if report.coupled}
