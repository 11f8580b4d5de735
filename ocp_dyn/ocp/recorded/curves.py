"""Curves of time as references of phases and as first guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Array, Vector
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...recordings import FittedMotion, Recording, pressure_centers
from ...recordings.signals import Spline


@dataclass(frozen=True)
class Curve:
    """Rows of numbers over time, between the samples by cubic splines."""

    spline: Spline

    @classmethod
    def through(cls, times: Array, values: Array) -> Curve:
        return cls(Spline.through(times, values.reshape(times.size, -1), 3))

    def __call__(self, time: float) -> Array:
        return np.asarray(self.spline(np.array([time]))[0])

    def between(self, begin: float, end: float) -> Callable[[float], Array]:
        """The curve as a function of the fraction s of the time from `begin` to `end`."""
        return lambda s: self(begin + s * (end - begin))


@dataclass(frozen=True)
class Configurations:
    """The configurations of a fitted motion over time, with quaternions of length one, and their velocities."""

    model: Model
    q: Curve
    qd: Curve

    @classmethod
    def of(cls, motion: FittedMotion) -> Configurations:
        assert motion.qd is not None
        return cls(motion.model, Curve.through(motion.times, motion.q), Curve.through(motion.times, motion.qd))

    def at(self, time: float) -> Array:
        """q (nq) at a time."""
        q = self.q(time)
        for i, _ in self.model.edges:
            joint = self.model.joints[i]
            if joint.has_quaternion:
                last = self.model.q_index[i] + joint.nq
                q[last - 4 : last] /= np.linalg.norm(q[last - 4 : last])
        return q

    def between(self, begin: float, end: float) -> Callable[[float], Array]:
        """The configurations as a function of the fraction s of the time from `begin` to `end`."""
        return lambda s: self.at(begin + s * (end - begin))


def over_frames(function: ca.Function, *rows: Array) -> Array:
    """The one output of a function at every row of its arguments (N, size): (N, entries), column by column."""
    found = function.map(len(rows[0]))(*(ca.DM(np.ascontiguousarray(x.T)) for x in rows))
    size = function.numel_out(0)
    return np.array(ca.reshape(found, size, -1)).T


def marker_curve(motion: FittedMotion, markers: Recording, points: Sequence[tuple[str, Vector]]) -> Curve:
    """Positions of the markers of a motion; a sample that is missing is where the motion has its marker."""
    model = motion.model
    q = SX.sym("q", model.nq)
    places = ca.vertcat(*(point_position(model, frame, q, point) for frame, point in points))
    own = over_frames(ca.Function("points", [q], [ca.densify(places)], {"cse": True}), motion.q)
    seen = markers.resample(times=motion.times).values.reshape(len(motion.q), -1)
    return Curve.through(motion.times, np.where(np.isnan(seen), own, seen))


def wrench_curve(motion: FittedMotion, wrenches: Recording) -> Callable[[tuple[str, ...], float], Array]:
    """(p, f, n) of wrenches by their names, one after the other (9 k), at a time: the center of pressure, and force and
    moment there; while the foot is hardly loaded the origin of its frame takes the place of the center."""
    model = motion.model
    q = SX.sym("q", model.nq)
    origins = ca.vertcat(*(point_position(model, name, q) for name in wrenches.names))
    own = over_frames(ca.Function("origins", [q], [ca.densify(origins)]), motion.q)
    points = pressure_centers(wrenches)[0].values.reshape(len(own), -1)
    p = np.where(np.isnan(points), own, points).reshape(len(own), -1, 3)
    f = wrenches.values[..., 3:]
    values = np.concatenate([p, f, wrenches.values[..., :3] - np.cross(p, f)], axis=2)
    curves = {name: Curve.through(wrenches.times, values[:, k]) for k, name in enumerate(wrenches.names)}
    return lambda names, time: np.concatenate([curves[name](time) for name in names])
