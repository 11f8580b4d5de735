"""Objectives that follow recordings: joint angles, markers, ground reaction forces.

A recording is a function of s, the fraction of the phase that has passed (0 to 1); `recording` makes one from samples.
Its values are data of the intervals, not constants in the expression graph: the size of the graph does not depend on
the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.checks import all_known, call_user, framed_points, function, listed_names, numbers
from ..._base.types import Array, Expr, Vector, repr_in_message
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from .instant import Instant
from .objectives import TrackingCost, per_dof

Recording = Callable[[float], Any]


def recording(times: Any, values: Any) -> Recording:
    """Samples (one row per time) as a function of the fraction s, linear between them; times are scaled to 0..1.

    >>> swing = ocp.recording([0.0, 0.5, 2.0], [[0.0], [1.0], [4.0]])
    >>> swing(0.25), swing(0.5)  # times are scaled to 0 ... 1
    (array([1.]), array([2.]))
    """
    flat = numbers(values, "a recording must be finite (fill its gaps, or leave those samples out): it")
    x = np.reshape(flat, values.shape if isinstance(values, DM) else np.shape(values))
    t = numbers(times, "times of a recording")
    if t.size < 2 or x.shape[:1] != t.shape or np.any(np.diff(t) <= 0):
        raise ValueError(f"a recording needs increasing times and a row of values for each, got {t.size} and {x.shape}")
    if not np.all(np.isfinite(x)):
        raise ValueError("a recording must be finite: fill its gaps, or leave those samples out")
    s, columns = (t - t[0]) / (t[-1] - t[0]), x.reshape(t.size, -1)
    return lambda fraction: np.array([np.interp(fraction, s, column) for column in columns.T])


@dataclass(frozen=True, eq=False)
class TrackJoints(TrackingCost):
    """|difference(q_ref, q) / scale|^2 over the chosen dofs [rad^2, m^2].

    reference: s -> q (nq). joints: names of the joints that count; None: all, the root included.

    >>> measured = ocp.recording([0, 1], [[0.0], [1.0]])
    >>> even = turn(ocp.TrackJoints(measured), ocp.TorqueSquared(1e-6)).solve(progress=False)
    >>> even.sample([0.25, 0.75]).round(2).ravel()  # at an even pace, as measured
    array([0.25, 0.75])
    """

    reference: Recording
    weight: float = 1.0
    joints: Sequence[str] | None = None
    scale: Any = 1.0
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_reference(self)
        if self.joints is not None:
            object.__setattr__(self, "joints", listed_names(self.joints, "TrackJoints joints"))

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known(self.joints or (), model.joint_names, "TrackJoints joints", "joint")
        super().check(model, feet)

    def reference_size(self, model: Model) -> int:
        return model.nq

    def residual(self, instant: Instant) -> Expr:
        model = instant.model
        gap = model.difference(instant.references[self], instant.q)
        gap = gap / ca.DM(per_dof(self.scale, model.nv, "TrackJoints scale"))
        if self.joints is None:
            return gap
        return ca.vertcat(*(gap[model.qd_slice(name)] for name in self.joints))


@dataclass(frozen=True, eq=False)
class TrackMarkers(TrackingCost):
    """sum of |p - p_ref|^2 over points of the body [m^2].

    points: pairs (frame, point in frame coordinates [m]); reference: s -> (x, y, z) of all k points, world axes (3 k).

    >>> measured = ocp.recording([0, 1], [[1.0, 0.0, 0.0], [0.54, 0.84, 0.0]])
    >>> marker = ocp.TrackMarkers([("rim", (1, 0, 0))], measured)
    >>> round(turn(marker, ocp.TorqueSquared(1e-6)).solve(progress=False).cost["TrackMarkers"], 4)
    0.0079
    """

    points: Sequence[tuple[str, Vector]]
    reference: Recording
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", framed_points(self.points, "TrackMarkers points"))
        super().__post_init__()
        _check_reference(self)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known((frame for frame, _ in self.points), model.frame_names, "TrackMarkers points", "frame")

    def reference_size(self, model: Model) -> int:
        return 3 * len(self.points)

    def residual(self, instant: Instant) -> Expr:
        found = [point_position(instant.model, frame, instant.q, point) for frame, point in self.points]
        return ca.vertcat(*found) - instant.references[self]


@dataclass(frozen=True, eq=False)
class TrackForces(TrackingCost):
    """sum of |f - f_ref|^2 / scale^2 over the feet [N^2 for scale 1].

    feet: names of the k contact frames, in the order of the reference; feet that the phase does not hold are left out.
    reference: s -> (f_x, f_y, f_z) on each of the feet, world axes (3 k).

    >>> measured = ocp.recording([0, 1], [[0, 0, 100], [0, 0, 100]])
    >>> track = ocp.TrackForces(["tip"], measured, scale=10.0)
    >>> instant.references[track] = ca.DM(measured(0.5))
    >>> track.integrand(instant)  # (30 N / 10 N)^2
    SX(9)
    """

    feet: Sequence[str]
    reference: Recording
    weight: float = 1.0
    scale: float = 1.0
    of_one: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feet", listed_names(self.feet, "TrackForces feet"))
        super().__post_init__()
        _check_reference(self)

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known(self.feet, feet, "TrackForces feet", "foothold in any phase of the problem")

    def reference_size(self, model: Model) -> int:
        return 3 * len(self.feet)

    def residual(self, instant: Instant) -> Expr:
        forces = {foothold.name: wrench[3:] for foothold, wrench in instant.wrenches.items()}
        wanted: Any = ca.vertsplit(instant.references[self], 3)
        gaps = [forces[foot] - f for foot, f in zip(self.feet, wanted, strict=True) if foot in forces]
        return ca.vertcat(ca.SX(0, 1), *gaps) / self.scale


def _check_reference(term: TrackJoints | TrackMarkers | TrackForces) -> None:
    what = type(term).__name__
    function(term.reference, f"{what} reference", ": ocp.recording(times, values) makes a function of s from samples")


def reference_numbers(term: Any, model: Model, s: float) -> Array:
    """Values of a term's reference at s; ValueError for a wrong number of values or values that are not finite."""
    what, size = f"{type(term).__name__}: reference(s)", term.reference_size(model)
    returned = call_user(what, term.reference, s)
    found = numbers(returned, what)
    if found.size != size or not np.all(np.isfinite(found)):
        raise ValueError(
            f"{what} must return {size} finite numbers, got {found.size}: {repr_in_message(returned)} at s = {s:.3g}"
        )
    return found
