"""The motion of a model that was fitted to a recording."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .._base import checks
from .._base.types import Array
from ..mechanism import Model
from .fitting.least_squares import entries_with_dofs
from .fitting.placed import interpreted, turning_dofs
from .recording import Recording
from .signals import Spline, butterworth, runs, sampling_rate


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """Configurations of a model over time, as `fit_motion` finds them.

    times (N) [s]; q (N, nq), qd and qdd (N, nv), which are None without `smooth` and until `filtered`. markers,
    sensors: names of those that count; distances (N, m): of markers from their measured places [m], angles (N, s) of
    sensors [rad], NaN where they are missing. converged (N): whether the last step of a frame was small enough.

    >>> end = od.recordings.Recording("end", [0.0, 0.1], [[[0, 0, -1.0]], [[-1.0, 0, 0]]], "m")
    >>> motion = od.recordings.fit_motion(rod, end, places={"end": ("tip", (0, 0, 0))})
    >>> motion
    FittedMotion(2 frames from 0 to 0.1 s, 1 marker, root mean square 0 mm)
    """

    model: Model
    times: Array
    q: Array
    markers: tuple[str, ...]
    sensors: tuple[str, ...]
    distances: Array
    angles: Array
    converged: Any
    iterations: int
    qd: Array | None = None
    qdd: Array | None = None

    @property
    def rms(self) -> Array:
        """Root mean square of the distances of the markers of each frame (N) [m]; NaN without any marker."""
        seen = ~np.isnan(self.distances)
        squares = np.where(seen, self.distances, 0.0) ** 2
        count = seen.sum(axis=1)
        return np.where(count > 0, np.sqrt(squares.sum(axis=1) / np.maximum(count, 1)), np.nan)

    def __repr__(self) -> str:
        text = f"FittedMotion({self.times.size} frames from {self.times[0]:.6g} to {self.times[-1]:.6g} s"
        if self.markers:
            seen = self.rms[~np.isnan(self.rms)]
            error = 1000 * float(np.sqrt(np.mean(seen**2))) if seen.size else np.nan
            text += f", {len(self.markers)} marker{'s' * (len(self.markers) != 1)}, root mean square {error:.3g} mm"
        if self.sensors:
            text += f", {len(self.sensors)} sensors"
        there = ~np.isnan(self.q).any(axis=1)
        lost = int(np.sum(there & ~np.asarray(self.converged)))
        empty = f", {int(np.sum(~there))} frames without measurements" if not there.all() else ""
        return text + empty + (f", {lost} frames did not converge" if lost else "") + ")"

    def coordinates(self, *, degrees: bool = False) -> Recording:
        """The configurations as numbers by `model.q_names` [rad, m]; degrees: angles in degrees, as OpenSim has them.

        `od.recordings.write(motion.coordinates(degrees=True), "walk.mot")` is a motion that OpenSim opens.
        """
        turning = rotational(self.model)
        scale = np.where(turning, 180 / np.pi, 1.0) if checks.truth(degrees, "coordinates: degrees") else 1.0
        angle = "deg" if degrees else "rad"
        units = tuple(angle if turns else "m" for turns in turning)
        return Recording(self.model.q_names, self.times, self.q * scale, units, "Coordinates")

    def filtered(self, cutoff: float, *, order: int = 3) -> FittedMotion:
        """The motion after a zero-phase Butterworth filter of its coordinates, with qd and qdd by quintic splines.

        cutoff [Hz]: see `Recording.filter`; order 3 is OpenSim's. Distances of markers are those of before.
        """
        return replace(
            self, q=butterworth(_continued(self.model, self.q), sampling_rate(self.times), cutoff, order)
        ).derived()

    def derived(self) -> FittedMotion:
        """The motion with qd and qdd by quintic splines through its configurations."""
        q = _continued(self.model, self.q)
        rates, second = np.full(q.shape, np.nan), np.full(q.shape, np.nan)
        for columns, a, b in runs(q):
            if b - a >= 3:
                spline = Spline.through(self.times[a:b], q[a:b, columns], 5)
                rates[a:b, columns] = spline(self.times[a:b], 1)
                second[a:b, columns] = spline(self.times[a:b], 2)
        qd, qdd = velocities(self.model, q, rates, second)
        return replace(self, q=q, qd=qd, qdd=qdd)


def rotational(model: Model) -> Any:
    """Whether each entry of q is an angle (nq): see `turning_dofs`."""
    found, turning = np.zeros(model.nq, dtype=bool), turning_dofs(model)
    for entry, dof in entries_with_dofs(model):
        found[entry] = turning[dof]
    return found


def velocities(model: Model, q: Array, rates: Array, second: Array) -> tuple[Array, Array]:
    """qd and qdd (N, nv) from the first and second derivatives (N, nq) of q: dq/dt = N(q) qd, by least squares."""
    x, v, u = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("u", model.nq)
    rate = model.q_dot(x, v)
    N = ca.jacobian(rate, v)
    if N.is_constant() and model.nq == model.nv and bool(np.array_equal(np.array(ca.DM(N).full()), np.eye(model.nv))):
        return rates, second
    f = ca.Function("rates", [x], [ca.densify(N)])
    bias = ca.Function("bias", [x, v, u], [ca.densify(ca.jtimes(rate, x, u))])
    at = interpreted(f, q)
    inverse = np.linalg.pinv(np.nan_to_num(at))
    qd = np.einsum("nij,nj->ni", inverse, rates)
    qdd = np.einsum("nij,nj->ni", inverse, second - interpreted(bias, q, qd, rates))
    return qd, qdd


def _continued(model: Model, q: Array) -> Array:
    """q with quaternions whose sign does not change from frame to frame."""
    found = np.array(q)
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.has_quaternion:
            where = slice(model.q_index[i] + joint.nq - 4, model.q_index[i] + joint.nq)
            for k in range(1, len(found)):
                if found[k, where] @ found[k - 1, where] < 0:
                    found[k, where] *= -1
    return found
