"""Solved motions unrolled in time: step after step, mirrored if the motion says so, with the forces on the feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from casadi import DM

from .._types import Array, shown
from ..mechanism import Model
from .skeleton import Side, sides
from .stances import Phase, cut


class Motion(Protocol):
    """Attributes and methods of a solution that the pictures need; `ocp_dyn.ocp.Solution` has them."""

    @property
    def model(self) -> Model: ...
    @property
    def phases(self) -> Sequence[Phase]: ...
    @property
    def duration(self) -> float: ...
    @property
    def step_length(self) -> float: ...
    def mirror(self) -> Any: ...
    def sample(self, times: Array) -> Array: ...


REFLECTION = np.array([1.0, -1.0, 1.0])
"""Signs of a vector's components after reflection in the x-z plane."""

AXIAL_REFLECTION = np.array([-1.0, 1.0, -1.0])
"""Signs of the components of moments and angles after this reflection."""


@dataclass(frozen=True, eq=False)
class Support:
    """One foot on the ground during one phase of N intervals.

    wrench (N, 6): [moment; force] on the foot about its contact point, world axes. place: (x, y, yaw) of the contact
    point in the world, None if unknown; height: its z [m].
    """

    name: str
    side: Side
    wrench: Array
    place: Array | None
    height: float = 0.0

    @property
    def force(self) -> Array:
        """Force on the foot (N, 3) [N], world axes."""
        return self.wrench[:, 3:]

    def pressure(self, least: float) -> Array:
        """Center of pressure (N, 2) [m] relative to the place, world axes; nan below the vertical force `least` [N]."""
        moment, vertical = self.wrench[:, :3], self.wrench[:, 5]
        load = np.where(vertical > least, vertical, np.nan)
        return np.column_stack([-moment[:, 1] / load, moment[:, 0] / load])


@dataclass(frozen=True, eq=False)
class Stretch:
    """One phase of one step: t (N+1), q (N+1, nq), qd (N+1, nv) at the nodes, tau (N, nv) on the intervals."""

    name: str
    step: int
    t: Array
    q: Array
    qd: Array
    tau: Array
    supports: tuple[Support, ...]

    @property
    def middle(self) -> Array:
        """Times of the intervals' midpoints (N) [s]."""
        return (self.t[:-1] + self.t[1:]) / 2


def check_motion(motion: Any) -> None:
    """TypeError unless `motion` is a solved motion."""
    if not isinstance(getattr(motion, "model", None), Model) or not hasattr(motion, "step_length"):
        remedy = ": draw its .trajectory(loops)" if hasattr(motion, "trajectory") else ""
        raise TypeError(
            f"a motion is needed, such as problem.solve() or ocp.Solution.load(file) gives, got {shown(motion)}{remedy}"
        )


def check_finite(motion: Motion, what: str) -> None:
    """ValueError unless all times and positions of the motion are finite; what: the function that needs them."""
    if not all(np.all(np.isfinite(x)) for phase in motion.phases for x in (phase.t, phase.q)):
        raise ValueError(
            f"{what} needs finite times and positions, and some of this motion are not finite: solve again"
        )


def unroll(motion: Motion, steps: int = 1) -> list[Stretch]:
    """The phases of `steps` steps, one after the other; a motion that is not periodic is a single step.

    Phases with compliant feet are cut where these touch down and lift off, see `stances`.
    """
    mirror = motion.mirror() if motion.step_length else None
    side, phases = sides(motion.model), cut(motion.model, motion.phases)
    found: list[Stretch] = []
    for step in range(steps if motion.step_length else 1):
        image = mirror if step % 2 else None
        for phase in phases:
            q, qd, tau = phase.q.copy(), phase.qd, phase.tau
            if image is not None:
                q, qd, tau = (_mapped(f, x) for f, x in ((image.q, q), (image.qd, qd), (image.qd, tau)))
            if motion.step_length:
                q[:, 0] += step * motion.step_length
            supports = _supports(motion, phase, image, step, side)
            found.append(Stretch(phase.name, step, phase.t + step * motion.duration, q, qd, tau, supports))
    return found


def _mapped(f: Any, rows: Array) -> Array:
    return np.array(DM(f(DM(rows.T))).full()).T


def _supports(motion: Motion, phase: Phase, image: Any, step: int, side: tuple[Side, ...]) -> tuple[Support, ...]:
    found = []
    places: Mapping[str, Array] = phase.places
    for name, wrench in phase.wrenches.items():
        frame, place = motion.model.frame(name), places.get(name)
        height = 0.0
        if place is not None:
            place = np.array(place, dtype=float)
            if name in phase.planes:
                place[0], place[1], height = np.array(phase.planes[name].to_world(DM([*place[:2], 0.0]))).ravel()
        if image is not None:
            frame, wrench = image.frame(name), wrench * np.concatenate([AXIAL_REFLECTION, REFLECTION])
            place = None if place is None else place * [1.0, -1.0, -1.0]
        if place is not None:
            place = place + np.array([step * motion.step_length, 0.0, 0.0])
        found.append(Support(frame.name, side[frame.body], wrench, place, float(height)))
    return tuple(found)


def touch_down(stretches: list[Stretch], side: Side, end: float) -> tuple[float, float]:
    """Times at which a side touches down and leaves the ground [% of the cycle]."""
    stands = [any(s.side == side for s in stretch.supports) for stretch in stretches]
    down = [k for k, on_ground in enumerate(stands) if on_ground and not stands[k - 1]]
    off = [k for k, on_ground in enumerate(stands) if not on_ground and stands[k - 1]]
    if len(down) != 1 or len(off) != 1:
        raise ValueError(
            f"curves over the gait cycle need legs that leave the ground once per cycle, the {side} one "
            f"leaves it {len(off)} times: use plot without bands"
        )
    landing, lifting = (100 * float(stretches[k[0]].t[0]) / end for k in (down, off))
    return landing, lifting


def weight(model: Model) -> float:
    """Body weight [N]; without gravity the weight on Earth, so that force arrows have a scale; never 0."""
    return model.weight or model.mass * 9.81 or 1.0


def ground_forces(stretch: Stretch, time: float, least: float) -> list[tuple[Support, Array, Array]]:
    """(foot, center of pressure in the world (3), force (3)) of every foot that carries more than `least` [N]."""
    k = int(np.clip(np.searchsorted(stretch.t, time, side="right") - 1, 0, len(stretch.tau) - 1))
    found = []
    for support in stretch.supports:
        if support.place is None or support.wrench[k, 5] <= least:
            continue
        x, y = support.place[:2] + support.pressure(least)[k]
        found.append((support, np.array([x, y, support.height]), support.force[k]))
    return found


def check_quaternions(model: Model, q: Array, what: str) -> None:
    """ValueError if a quaternion in q (nq), or in a row of q (N, nq), is zero, which is no rotation."""
    for i, _ in model.edges:
        joint = model.joints[i]
        if joint.has_quaternion:
            end = model.q_index[i] + joint.nq
            if np.any(np.linalg.norm(np.atleast_2d(q)[:, end - 4 : end], axis=1) < 1e-9):
                raise ValueError(
                    f"{what}: the quaternion of joint {shown(model.joint_names[i - 1])}, q[{end - 4}:{end}], is zero, "
                    "which is no rotation: start from model.neutral()"
                )
