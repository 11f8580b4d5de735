"""One stride of one leg: the unrolled motion from this leg's heel strike to its next one, and what is sampled from it.

A motion that is one mirrored step is unrolled to two steps. All quantities are periodic, so that the stride of either
leg can be read from the same two steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Array
from ..dynamics.kinematics import pose
from ..dynamics.momentum import center_of_mass
from ..dynamics.passive_torques import passive_force
from ..functions.function import function
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from .bodies import Side
from .cuts import load_of
from .data import PERCENT
from .joint_angles import Coordinate
from .stances import contact_samples
from .unrolled import LEAST_LOAD, Stretch, Support, Walk, unroll, weight

Rows = Callable[[Array, Array], Array]
"""Function of two arrays, row by row."""


@dataclass(frozen=True, eq=False)
class LoadedStance:
    """The time of one foot on the ground, from `start` to `end` [s], with the forces at the midpoints of intervals.

    t (n); force (n, 3) [N], world axes; pressure (n, 2): center of pressure in the frame of the foot, forward
    from the heel and to the left [foot lengths]; nan for a small load or an unknown foot. soft: the force
    with which it begins and ends, if the force decides when it stands; else 0.
    """

    start: float
    end: float
    t: Array
    force: Array
    pressure: Array
    soft: float = 0.0


class Stride:
    """The stride of a leg ("left" or "right") of a periodic motion on two legs.

    coordinates: the flexions of hips, knees and ankles, from `gait_coordinates`.
    """

    def __init__(self, motion: Walk, side: Side, coordinates: dict[str, list[Coordinate]]) -> None:
        self.motion, self.model, self.side = motion, motion.model, side
        self.other: Side = "left" if side == "right" else "right"
        self.out = 1.0 if side == "left" else -1.0  # sign of y on this side
        self.coordinates = coordinates
        legs = ("hip", "knee", "ankle")
        self.joints = {joint: next(c for c in coordinates[joint] if c.side == side) for joint in legs}
        self._poses: dict[str, ca.Function] = {}
        self.stretches = unroll(motion, 2 if motion.mirrored else 1)
        self.duration = float(self.stretches[-1].t[-1])
        self.length = motion.step_length * (2 if motion.mirrored else 1)
        self.stances = {s: _stances(self, s) for s in (side, self.other)}
        self.strike = self.stances[side].start

    @cached_property
    def weight(self) -> float:
        """Body weight [N]."""
        return weight(self.model)

    @cached_property
    def lean(self) -> float:
        """Angle from the ground's normal forward to the vertical [rad]: positive on a way up."""
        up = -np.array(self.model.gravity, dtype=float).ravel()
        return float(np.arctan2(up[0], up[2])) if up.any() else 0.0

    @property
    def slope(self) -> float:
        """Rise per distance."""
        return float(np.tan(self.lean)) + 0.0  # no -0

    def body(self, joint: str) -> str:
        """Name of the body that a joint of the leg, "hip", "knee" or "ankle", moves."""
        return body_of(self.model, self.joints[joint].qd_index)

    def poses(self, name: str, q: Array) -> tuple[Array, Array]:
        """(R (n, 3, 3), p (n, 3) [m]) of a frame in the configurations q (n, nq)."""
        if name not in self._poses:
            x = SX.sym("q", self.model.nq)
            R, p = pose(self.model, name, x)
            self._poses[name] = ca.Function("pose", [x], [ca.densify(ca.vertcat(ca.vec(R.T), p))])
        found = np.array(self._poses[name](DM(q.T)).full()).T
        return found[:, :9].reshape(-1, 3, 3), found[:, 9:]

    def mass_center(self, q: Array) -> Array:
        """Center of mass (n, 3) [m] in the configurations q (n, nq)."""
        return np.array(DM(function(center_of_mass, self.model)(DM(q.T))).full()).T

    def upright(self, name: str) -> tuple[Array, Array]:
        """(R (3, 3), p (3) [m]) of a frame in the neutral posture."""
        R, p = self.poses(name, np.array(self.model.neutral(), dtype=float)[None])
        return R[0], p[0]

    @cached_property
    def steps(self) -> tuple[Rows, Rows]:
        """`difference` and `integrate` of the model, of rows of configurations."""
        return _steps(self.model)

    def percent(self, time: float) -> float:
        """A time [s] as percent of the stride, 0 to 100."""
        found = 100 * (time - self.strike) / self.duration % 100
        return 0.0 if found > 100 - 1e-7 else float(found)

    @cached_property
    def states(self) -> tuple[Array, Array, Array, Array]:
        """(t, q, qd, tau) at start, middle and end of every interval of all steps; tau includes passive forces."""
        mirror = self.motion.mirror()
        sides = (
            [np.eye(self.model.nv)] if mirror is None else [np.eye(self.model.nv), np.array(mirror.qd_matrix.full())]
        )
        rates = np.concatenate([phase.tau_rate @ side.T for side in sides for phase in self.motion.phases])
        # the stretches of a step have the intervals of its phases, but may be shorter than phases
        ends = np.cumsum([len(stretch.tau) for stretch in self.stretches])[:-1]
        parts = [_fine(self, *pair) for pair in zip(self.stretches, np.split(rates, ends), strict=True)]
        t, q, qd, tau = (np.concatenate([part[k] for part in parts]) for k in range(4))
        if self.motion.loads.passive:
            tau = tau + _passive(self.model, q, qd, self.motion.loads.slip_speed)
        return t, q, qd, tau

    def at_percent(self, t: Array, values: Array) -> Array:
        """Values (n) or (n, m) of a periodic quantity at the times t of the unrolled steps, read at `PERCENT`."""
        shifts = (-self.duration, 0.0, self.duration)
        times = np.concatenate([t + shift for shift in shifts])
        # times repeat where intervals meet: a moment later than a jump is its right side
        wanted = self.strike + PERCENT / 100 * self.duration + 1e-9 * self.duration
        columns = np.atleast_2d(np.asarray(values).T)
        found = np.array([np.interp(wanted, times, np.tile(column, 3)) for column in columns]).T
        return found[:, 0] if np.ndim(values) == 1 else found

    def frame(self, name: str) -> tuple[Array, Array]:
        """(R (101, 3, 3), p (101, 3) [m]) of a frame, with p relative to the walk's mean speed along x."""
        t, q = self.states[:2]
        R, p = self.poses(name, q)
        p = p - np.outer(t, [self.length / self.duration, 0.0, 0.0])
        values = self.at_percent(t, np.column_stack([R.reshape(-1, 9), p]))
        return values[:, :9].reshape(-1, 3, 3), values[:, 9:]

    def ground(self, side: Side) -> tuple[Array, Array]:
        """(force (101, 3) in body weights, world axes; center of pressure (101, 2) [foot lengths]) of a foot."""
        stance = self.stances[side]
        force = np.zeros((len(PERCENT), 3))
        pressure = np.full((len(PERCENT), 2), np.nan)
        wanted = self.strike + PERCENT / 100 * self.duration
        for shift in (-self.duration, 0.0, self.duration):
            on = (wanted >= stance.start + shift - 1e-9) & (wanted <= stance.end + shift + 1e-9)
            on[-1] &= wanted[-1] > stance.start + shift + 1e-6  # at 100 % the foot is still in the air
            times = np.concatenate([[stance.start], stance.t, [stance.end]]) + shift
            for k in range(3):
                force[on, k] = np.interp(wanted[on], times, _to_ends(stance, stance.force[:, k], k == 2))
            loaded = np.isfinite(stance.pressure[:, 0])
            if loaded.any():
                t = stance.t[loaded] + shift
                within = on & (wanted >= t[0]) & (wanted <= t[-1])
                for k in range(2):
                    pressure[within, k] = np.interp(wanted[within], t, stance.pressure[loaded, k])
        return force / self.weight, pressure


def _to_ends(stance: LoadedStance, values: Array, pushes: bool) -> Array:
    """Forces with values at the ends of the stance, from the line through the two midpoints next to each end.

    pushes: for the vertical force, which is not negative.
    """
    t = stance.t
    if stance.soft:
        end = stance.soft if pushes else 0.0
        return np.concatenate([[end], values, [end]])
    if len(t) < 2:
        return np.concatenate([values[:1], values, values[-1:]])
    first = values[0] + (values[0] - values[1]) * (t[0] - stance.start) / (t[1] - t[0])
    last = values[-1] + (values[-1] - values[-2]) * (stance.end - t[-1]) / (t[-1] - t[-2])
    if pushes:
        first, last = max(first, 0.0), max(last, 0.0)
    return np.concatenate([[first], values, [last]])


def body_of(model: Model, dof: int) -> str:
    """Name of the body that the joint with this dof moves."""
    return model.body_names[next(i for i, _ in model.edges if dof in model.dofs_of(i)) - 1]


def _passive(model: Model, q: Array, qd: Array, slip_speed: float) -> Array:
    force = function(passive_force, model, signature="q qd -> tau_p", slip_speed=slip_speed)
    return np.array(DM(force(DM(q.T), DM(qd.T))).full()).T


def _fine(stride: Stride, stretch: Stretch, tau_rate: Array) -> tuple[Array, Array, Array, Array]:
    """(t, q, qd, tau) at start, middle and end of the intervals of a stretch, with the slopes tau_rate of the torques.

    Torques are lines over an interval; the configuration in the middle is that of the cubic through both ends.
    """
    t, q, qd = stretch.t, stretch.q, stretch.qd
    h = np.diff(t)[:, None]
    difference, integrate = stride.steps
    half = difference(q[:-1], q[1:]) / 2 + h / 8 * (qd[:-1] - qd[1:])
    middle = integrate(q[:-1], half)
    rise = tau_rate * h / 2

    def woven(*parts: Array) -> Array:
        return np.stack(parts, axis=1).reshape(-1, *parts[0].shape[1:])

    return (
        woven(t[:-1], stretch.middle, t[1:]),
        woven(q[:-1], middle, q[1:]),
        woven(qd[:-1], (qd[:-1] + qd[1:]) / 2, qd[1:]),
        woven(stretch.tau - rise, stretch.tau, stretch.tau + rise),
    )


@kept_per_model
def _steps(model: Model) -> tuple[Rows, Rows]:
    """`difference` and `integrate` of rows of configurations."""
    a, b, v = SX.sym("a", model.nq), SX.sym("b", model.nq), SX.sym("v", model.nv)
    difference = ca.Function("difference", [a, b], [ca.densify(model.difference(a, b))])
    integrate = ca.Function("integrate", [a, v], [ca.densify(model.integrate(a, v))])

    def rows(f: ca.Function) -> Rows:
        return lambda x, y: np.array(DM(f(DM(x.T), DM(y.T))).full()).T

    return rows(difference), rows(integrate)


# Contacts of a foot


def _stances(stride: Stride, side: Side) -> LoadedStance:
    """The stance of a foot. Where phases switch its contacts, it lasts as long as they do; where the contacts of a foot
    are never switched, or compliant, while they carry more than `load_of`. ValueError unless it leaves the ground
    once per stride.
    """
    pieces = list(_loads(stride, side))
    present = [bool(supports) for _, supports, *_ in pieces]
    soft = _compliant_load(stride, {s.name for _, supports, *_ in pieces for s in supports})
    if soft is not None:
        t, load = soft
        down, up = _crossings(t, load - load_of(stride.model), stride.duration)
    elif any(present) and not all(present):
        spans = [stretch.t[[0, -1]] for stretch, *_ in pieces]
        down, up = _switched(present, spans)
    else:
        t = np.concatenate([stretch.middle for stretch, *_ in pieces])
        load = np.concatenate([force[:, 2] for _, _, force, _ in pieces])
        down, up = _crossings(t, load - load_of(stride.model), stride.duration)
    if len(down) != 1 or len(up) != 1:
        raise ValueError(
            f"the curves of a gait need feet that leave the ground once per stride, and the {side} one leaves it "
            f"{len(up)} times: gait() is for walking and running on two feet"
        )
    start, end = down[0], up[0] if up[0] > down[0] else up[0] + stride.duration
    found = []
    for shift in (0.0, stride.duration):
        for stretch, supports, force, pressure in pieces:
            if supports:
                found.append((stretch.middle + shift, force, pressure))
    t, force, pressure = (np.concatenate(parts) for parts in zip(*found, strict=True))
    on = (t >= start) & (t <= end)
    return LoadedStance(start, end, t[on], force[on], pressure[on], load_of(stride.model) if soft is not None else 0.0)


def _compliant_load(stride: Stride, names: set[str]) -> tuple[Array, Array] | None:
    """(times, load [N]) of the compliant contacts with these names, at the midpoints of the intervals of the stride,
    also of those in which they carry almost nothing; None if a contact is not compliant."""
    samples = [of for name, of in contact_samples(stride.motion, load_of(stride.model)).items() if name in names]
    if not samples or any(sample.force is None for of in samples for sample in of):
        return None
    t = np.array([(sample.begin + sample.end) / 2 for sample in samples[0]])
    loads = np.array([[sample.force for sample in of] for of in samples], dtype=float)
    return t, loads.sum(axis=0)


def _loads(stride: Stride, side: Side) -> Iterator[tuple[Stretch, tuple[Support, ...], Array, Array]]:
    """(stretch, contacts, force (N, 3) [N], center of pressure (N, 2) [foot lengths]) of a foot in every phase."""
    for stretch in stride.stretches:
        supports = tuple(s for s in stretch.supports if s.side == side)
        n = len(stretch.tau)
        force = sum((s.force for s in supports), np.zeros((n, 3)))
        pressure = np.full((n, 2), np.nan)
        if supports and all(s.place is not None and s.foot.from_heel and s.foot.length > 0 for s in supports):
            parts = [s.force[:, 2:] * s.pressure_in_foot(1e-6) / s.foot.length for s in supports]
            load = np.where(force[:, 2:] > LEAST_LOAD * stride.weight, force[:, 2:], np.nan)
            pressure = sum(np.nan_to_num(part) for part in parts) / load
        yield stretch, supports, force, pressure


def _switched(present: list[bool], spans: list[Array]) -> tuple[list[float], list[float]]:
    """Times at which contacts begin and end, for phases with and without them."""
    down = [float(spans[k][0]) for k in range(len(spans)) if present[k] and not present[k - 1]]
    up = [float(spans[k - 1][1]) for k in range(len(spans)) if not present[k] and present[k - 1]]
    return down, up


def _crossings(t: Array, excess: Array, period: float) -> tuple[list[float], list[float]]:
    """Times at which a periodic curve rises above zero, and those at which it falls below it, by lines between
    points."""
    times, values = np.append(t, t[0] + period), np.append(excess, excess[0])
    down: list[float] = []
    up: list[float] = []
    for k in range(len(t)):
        a, b = values[k], values[k + 1]
        if (a > 0) != (b > 0):
            at = times[k] + (times[k + 1] - times[k]) * a / (a - b)
            (down if b > 0 else up).append(float(at % period))
    return down, up
