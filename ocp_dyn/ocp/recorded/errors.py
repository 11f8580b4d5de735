"""Deviations of a solution from the recording that its costs follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, repr_in_message
from ...dynamics.kinematics import point_position
from ..motion.motion import PhaseMotion
from ..problem import Problem
from ..solution import Solution
from ..statement.objectives import TrackingCost
from ..statement.tracking import TrackJoints, TrackMarkers, TrackWrenches, reference_numbers
from .curves import over_frames


@dataclass(frozen=True, eq=False)
class TrackingErrors:
    """Deviations of a solution from what it follows; arrays are empty for what it does not follow.

    marker_rms [m], force_rms [N], moment_rms [N m]: root mean squares of these deviations.

    markers (N, m): distances of the markers at all nodes [m]; angles (N, nv): q minus that which is followed [rad, m].
    forces, moments (M, 3): of the ground minus measured ones, of every foot in every interval, the moments about the
    measured centers of pressure [N, N m].

    >>> problem = turn(ocp.TrackJoints(ocp.recording([0, 1], [[0.0], [1.0]])))
    >>> ocp.tracking_errors(problem, problem.solve(progress=False)).forces.shape
    (0, 3)
    """

    markers: Array
    angles: Array
    forces: Array
    moments: Array

    @property
    def marker_rms(self) -> float:
        """Root mean square of the distances of the markers [m]; nan without markers."""
        return _rms(self.markers)

    @property
    def force_rms(self) -> float:
        """Root mean square of the lengths of the deviations of forces [N]."""
        return _rms(np.linalg.norm(self.forces, axis=1))

    @property
    def moment_rms(self) -> float:
        """Root mean square of the lengths of the deviations of moments [N m]."""
        return _rms(np.linalg.norm(self.moments, axis=1))

    def numbers(self) -> dict[str, float]:
        """The root mean squares by names, for reports; those of what is not followed are left out."""
        found = {"marker_rms_m": self.marker_rms, "force_rms_N": self.force_rms, "moment_rms_Nm": self.moment_rms}
        return {name: x for name, x in found.items() if np.isfinite(x)}

    def __repr__(self) -> str:
        marked = f"markers {1000 * self.marker_rms:.3g} mm, " if self.markers.size else ""
        angles = np.degrees(_rms(self.angles))
        return (
            f"TrackingErrors(root mean squares: {marked}coordinates {angles:.3g} degrees, "
            f"forces {self.force_rms:.3g} N, moments {self.moment_rms:.3g} N m)"
        )


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else float("nan")


def tracking_errors(problem: Problem, solution: Solution) -> TrackingErrors:
    """Deviations of a solution from the markers, angles and wrenches that the costs of its problem follow.

    problem: of `track`, or another one with `TrackMarkers`, `TrackJoints` or `TrackWrenches`. ValueError for a solution
    of another problem.

    >>> measured = ocp.recording([0, 1], [[0.0], [1.0]])
    >>> problem = turn(ocp.TrackJoints(measured), ocp.TorqueSquared(1e-6))
    >>> ocp.tracking_errors(problem, problem.solve(progress=False)).angles.shape
    (21, 1)
    """
    if not isinstance(problem, Problem) or not isinstance(solution, Solution):
        raise TypeError(
            "tracking_errors needs a Problem and its Solution, got "
            f"{repr_in_message(problem)} and {repr_in_message(solution)}"
        )
    if [phase.name for phase in problem.phases] != [phase.name for phase in solution.phases]:
        raise ValueError(f"tracking_errors: {repr_in_message(solution)} is no solution of this problem")
    found: dict[str, list[Array]] = {"markers": [], "angles": [], "forces": [], "moments": []}
    for phase, motion in zip(problem.phases, solution.phases, strict=True):
        for term in phase.objective:
            if isinstance(term, TrackMarkers):
                found["markers"].append(_distances(term, solution, motion))
            elif isinstance(term, TrackJoints):
                found["angles"].append(_angles(term, solution, motion))
            elif isinstance(term, TrackWrenches):
                forces, moments = _wrenches(term, solution, motion)
                found["forces"].append(forces)
                found["moments"].append(moments)
    empty = {"markers": (0, 0), "angles": (0, 0), "forces": (0, 3), "moments": (0, 3)}
    return TrackingErrors(
        **{key: np.concatenate(parts) if parts else np.zeros(empty[key]) for key, parts in found.items()}
    )


def _references(term: TrackingCost, solution: Solution, fractions: Array) -> Array:
    return np.array([reference_numbers(term, solution.model, float(s)) for s in fractions])


def _distances(term: TrackMarkers, solution: Solution, motion: PhaseMotion) -> Array:
    """Distances of the points at the nodes of a phase (N, m)."""
    model = solution.model
    q = SX.sym("q", model.nq)
    places = ca.vertcat(*(point_position(model, frame, q, point) for frame, point in term.points))
    found = over_frames(ca.Function("points", [q], [ca.densify(places)], {"cse": True}), motion.q)
    gaps = found - _references(term, solution, motion.grid.nodes)
    return np.asarray(np.linalg.norm(gaps.reshape(len(found), -1, 3), axis=2))


def _angles(term: TrackJoints, solution: Solution, motion: PhaseMotion) -> Array:
    """Coordinates minus those that are followed, at the nodes of a phase (N, nv)."""
    model = solution.model
    a, b = SX.sym("a", model.nq), SX.sym("b", model.nq)
    difference = ca.Function("difference", [a, b], [ca.densify(model.difference(a, b))])
    return over_frames(difference, _references(term, solution, motion.grid.nodes), motion.q)


def _wrenches(term: TrackWrenches, solution: Solution, motion: PhaseMotion) -> tuple[Array, Array]:
    """Forces, and moments about the measured points, minus measured ones, in the middle of each interval of a phase."""
    nodes = motion.grid.nodes
    references = _references(term, solution, (nodes[1:] + nodes[:-1]) / 2).reshape(len(nodes) - 1, len(term.feet), 9)
    forces, moments = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for names, reference in zip(term.feet, references.swapaxes(0, 1), strict=True):
        bearing = [name for name in names if name in motion.wrenches]
        if not bearing:
            continue
        p, f, n = reference[:, :3], reference[:, 3:6], reference[:, 6:]
        force, moment = -f, -n
        for name in bearing:
            w = motion.wrenches[name]
            force = force + w[:, 3:]
            moment = moment + w[:, :3] + np.cross(_origins(solution, motion, name) - p, w[:, 3:])
        forces.append(force)
        moments.append(moment)
    return np.concatenate(forces), np.concatenate(moments)


def _origins(solution: Solution, motion: PhaseMotion, name: str) -> Array:
    """Points about which the wrenches on a foot are given, in the middle of the intervals (N, 3) [m]."""
    model = solution.model
    if name in motion.places:
        contact: Any = next(c for c in motion.contacts if c.name == name)
        place = motion.foothold(contact).origin(DM(motion.places[name]))
        return np.tile(np.array(place.full()).ravel(), (len(motion.tau), 1))
    a, b = SX.sym("a", model.nq), SX.sym("b", model.nq)
    middle = model.integrate(a, model.difference(a, b) / 2)
    origin = ca.Function("origin", [a, b], [ca.densify(point_position(model, name, middle))])
    return over_frames(origin, motion.q[:-1], motion.q[1:])
