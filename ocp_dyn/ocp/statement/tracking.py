"""Objectives that follow recordings: joint angles, markers, forces and wrenches of the ground.

A recording is a function of s, the fraction of the phase that has passed (0 to 1); `recording` makes one from samples.
Its values are data of the intervals, not constants in the expression graph: the size of the graph does not depend on
the recording.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.checks import (
    all_known,
    call_user,
    framed_points,
    listed_names,
    not_negative,
    numbers,
)
from ..._base.types import Array, Expr, Vector, repr_in_message, sequence
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from .footholds import Foothold
from .ground.wrench_footholds import WrenchFoothold
from .instant import Instant
from .objectives import TrackingCost, own_name, per_dof
from .values.parameters import Parameter

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
class _TrackDofs(TrackingCost):
    """The squared distance of the chosen dofs from a reference, over a scale."""

    reference: Recording
    weight: float | Parameter = 1.0
    joints: Sequence[str] | None = None
    scale: Any = 1.0
    of_dofs: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joints is not None:
            object.__setattr__(self, "joints", listed_names(self.joints, f"{type(self).__name__} joints"))

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known(self.joints or (), model.joint_names, f"{type(self).__name__} joints", "joint")
        super().check(model, feet)

    @abstractmethod
    def gap(self, instant: Instant) -> Expr:
        """The distance from the reference, by dof."""

    def residual(self, instant: Instant) -> Expr:
        model = instant.model
        gap = self.gap(instant) / ca.DM(per_dof(self.scale, model.nv, f"{type(self).__name__} scale"))
        if self.joints is None:
            return gap
        return ca.vertcat(*(gap[model.qd_slice(name)] for name in self.joints))


@dataclass(frozen=True, eq=False)
class TrackJoints(_TrackDofs):
    """|difference(q_ref, q) / scale|^2 over the chosen dofs [rad^2, m^2].

    reference: s -> q (nq). joints: names of the joints that count; None: all, the root included.

    >>> measured = ocp.recording([0, 1], [[0.0], [1.0]])
    >>> even = turn(ocp.TrackJoints(measured), ocp.TorqueSquared(1e-6)).solve(progress=False)
    >>> even.sample([0.25, 0.75]).round(2).ravel()  # at an even pace, as measured
    array([0.25, 0.75])
    """

    name: str = own_name()

    def reference_size(self, model: Model) -> int:
        return model.nq

    def gap(self, instant: Instant) -> Expr:
        return instant.model.difference(instant.references[self], instant.q)


@dataclass(frozen=True, eq=False)
class TrackVelocities(_TrackDofs):
    """|(qd - qd_ref) / scale|^2 over the chosen dofs [(rad/s)^2, (m/s)^2].

    reference: s -> qd (nv), such as the derivatives of measured angles. joints: names of the joints that count; None:
    all, the root included.

    >>> even = ocp.recording([0, 1], [[1.0], [1.0]])
    >>> turned = turn(ocp.TrackVelocities(even), ocp.TorqueSquared(1e-6)).solve(progress=False)
    >>> ((turned.qd[5] + turned.qd[6]) / 2).round(2)  # in the middle of an interval, where midpoint sees it
    array([1.01])
    """

    name: str = own_name()

    def reference_size(self, model: Model) -> int:
        return model.nv

    def gap(self, instant: Instant) -> Expr:
        return instant.qd - instant.references[self]


@dataclass(frozen=True, eq=False)
class TrackMarkers(TrackingCost):
    """sum of w |p - p_ref|^2 over points of the body [m^2].

    points: pairs (frame, point in frame coordinates [m]); reference: s -> (x, y, z) of all k points, world axes (3 k).
    weights: w, one for each point; None: 1 for each.

    >>> measured = ocp.recording([0, 1], [[1.0, 0.0, 0.0], [0.54, 0.84, 0.0]])
    >>> marker = ocp.TrackMarkers([("rim", (1, 0, 0))], measured)
    >>> round(turn(marker, ocp.TorqueSquared(1e-6)).solve(progress=False).cost["TrackMarkers"], 4)
    0.0079
    """

    points: Sequence[tuple[str, Vector]]
    reference: Recording
    weight: float | Parameter = 1.0
    weights: Sequence[float] | None = None
    name: str = own_name()

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", framed_points(self.points, "TrackMarkers points"))
        super().__post_init__()
        if self.weights is not None:
            found = [not_negative(w, "TrackMarkers weights") for w in numbers(self.weights, "TrackMarkers weights")]
            if len(found) != len(self.points):
                raise ValueError(
                    f"TrackMarkers weights: give one for each of {len(self.points)} points, got {len(found)}"
                )
            object.__setattr__(self, "weights", tuple(found))

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known((frame for frame, _ in self.points), model.frame_names, "TrackMarkers points", "frame")

    def reference_size(self, model: Model) -> int:
        return 3 * len(self.points)

    def residual(self, instant: Instant) -> Expr:
        found = [point_position(instant.model, frame, instant.q, point) for frame, point in self.points]
        gap = ca.vertcat(*found) - instant.references[self]
        return gap if self.weights is None else gap * ca.DM(np.repeat(np.sqrt(self.weights), 3))


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
    weight: float | Parameter = 1.0
    scale: float = 1.0
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feet", listed_names(self.feet, "TrackForces feet"))
        super().__post_init__()

    def check(self, model: Model, feet: Sequence[str]) -> None:
        all_known(self.feet, feet, "TrackForces feet", "foothold in any phase of the problem")

    def reference_size(self, model: Model) -> int:
        return 3 * len(self.feet)

    def residual(self, instant: Instant) -> Expr:
        forces = {foothold.name: wrench[3:] for foothold, wrench in instant.wrenches.items()}
        wanted: Any = ca.vertsplit(instant.references[self], 3)
        gaps = [forces[foot] - f for foot, f in zip(self.feet, wanted, strict=True) if foot in forces]
        return ca.vertcat(ca.SX(0, 1), *gaps) / self.scale


@dataclass(frozen=True, eq=False)
class TrackWrenches(TrackingCost):
    """sum of |f - f_ref|^2 / force_scale^2 + |n - n_ref|^2 / moment_scale^2 over the feet, with the moments n about the
    points at which the measured forces act.

    feet: names of the k contact frames, in the order of the reference; several names in a tuple are footholds that
    bear one measured wrench together. Feet that the phase does not hold are left out. reference: s -> (p, f, n) on
    each of the feet, world axes (9 k): a point [m], the force [N] and the moment about the point [N m]. At a center of
    pressure n is vertical, and moment_scale over the force is the scale of its distance from the measured one.

    >>> measured = ocp.recording([0, 1], [[0.1, 0, 0, 30, 0, 100, 0, 0, 0]] * 2)
    >>> track = ocp.TrackWrenches(["tip"], measured, moment_scale=4.0)
    >>> instant.references[track] = ca.DM(measured(0.5))
    >>> track.integrand(instant)  # 100 N at the origin, not at 0.1 m, and 2 N m: (12 N m / 4 N m)^2
    SX(9)
    """

    feet: Sequence[str | Sequence[str]]
    reference: Recording
    weight: float | Parameter = 1.0
    force_scale: float = 1.0
    moment_scale: float = 1.0
    name: str = own_name()
    of_one: ClassVar[tuple[str, ...]] = ("force_scale", "moment_scale")

    def __post_init__(self) -> None:
        what = "TrackWrenches feet"
        given = sequence(self.feet, f"{what} must be a list of names")
        object.__setattr__(self, "feet", tuple(listed_names((x,) if isinstance(x, str) else x, what) for x in given))
        super().__post_init__()

    def check(self, model: Model, feet: Sequence[str]) -> None:
        named = (name for names in self.feet for name in names)
        all_known(named, feet, "TrackWrenches feet", "foothold in any phase of the problem")

    def reference_size(self, model: Model) -> int:
        return 9 * len(self.feet)

    def residual(self, instant: Instant) -> Expr:
        gaps: list[Expr] = [ca.SX(0, 1)]
        parts: Any = ca.vertsplit(instant.references[self], 9)
        for names, part in zip(self.feet, parts, strict=True):
            p, f, n = ca.vertsplit(part, 3)
            bearing = [(foothold, w) for foothold, w in instant.wrenches.items() if foothold.name in names]
            for foothold, w in bearing:
                f, n = f - w[3:], n - w[:3] - ca.cross(origin_of(instant, foothold) - p, w[3:])
            gaps += [f / self.force_scale, n / self.moment_scale] if bearing else []
        return ca.vertcat(*gaps)


def origin_of(instant: Instant, foothold: Foothold | WrenchFoothold) -> Expr:
    """The point about which the wrench of a foothold is given (3) [m], world axes."""
    if isinstance(foothold, Foothold):
        return foothold.origin(instant.places[foothold])
    return point_position(instant.model, foothold.name, instant.q)


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
