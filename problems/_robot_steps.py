"""Parts of the steps of a robot: its standing posture, feet, effort, and the transfer of load between its feet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from ._robots import leg_length, loaded, locked_at_rest, pendulum_time

SOLES = ("left_sole", "right_sole")

TRANSFER = 0.25
"""Effort of moving the load from foot to foot: a rate of one weight per sqrt(l/g) costs as much as TRANSFER^2 of the
strength of one joint. Without it least effort leaves no double support, because moving the load fast costs no torque;
with it the time on both feet is a compromise, 15 to 25 % of a step, as in people."""

LEAST_LOAD = 0.8
"""Least load on both feet together in double support, in weights: the robot does not fall from foot to foot."""

BEND = 0.04
"""Lowering of the base by bent legs in the standing posture, as a fraction of its height on straight legs."""


def standing(model: od.Model, limits: bool = True, flat: bool = True) -> np.ndarray:
    """Standing posture: feet on the ground, as far apart as with all joints at zero, knees bent within their range.

    flat: the soles lie flat; otherwise they are points.
    """
    dofs = model.dofs
    q = np.array(model.neutral())
    places = [np.array(od.point_position(model, sole, DM(q)).full()).ravel() for sole in SOLES]
    bend = BEND if flat else 2 * BEND
    q[2] = -(1 - bend) * places[0][2]
    targets: list[Any] = [
        od.PointTarget(model.body_names[0], q[:3]),
        od.OrientationTarget(model.body_names[0], np.eye(3)),
    ]
    for sole, place in zip(SOLES, places, strict=True):
        targets.append(od.PointTarget(sole, (place[0], place[1], 0.0)))
        targets += [od.OrientationTarget(sole, np.eye(3))] if flat else []
    # a leg with a locked joint may not stand below its hip: then the base moves to where its legs allow, and tilts last
    for given in (targets, targets[1:], targets[2:]):
        for begin in _bent(model, q, dofs.q_lower, dofs.q_upper):
            found = od.inverse_kinematics(model, given, begin, limits=limits)
            if found.reached:
                return np.asarray(found.q)
    raise ValueError(
        f"{model!r} cannot stand on {'flat' if flat else 'its'} feet with its base {q[2]:.3g} m high: check the names "
        "of the feet, --sole-height, and the limits of joints in the file (--ignore-limits leaves them out)"
    )


def _bent(model: od.Model, q: np.ndarray, low: np.ndarray, high: np.ndarray) -> Iterable[np.ndarray]:
    """Postures from which to search: bent towards the middle of the ranges, so that a straight knee bends into its
    range; for knees that bend both ways also forward by themselves."""
    middle = (np.clip(low[7:], -np.pi, np.pi) + np.clip(high[7:], -np.pi, np.pi)) / 2
    for bend in (0.1, 0.3, 0.02):
        yield np.concatenate([q[:7], q[7:] + np.clip(middle, -bend, bend)])
    knees = q.copy()
    for sole in SOLES:
        hip, knee = model.path(model.frame(sole).body)[-2:]
        knees[model.q_index[hip]], knees[model.q_index[knee]] = 0.4, -0.8
    yield knees


class Walker:
    """A robot as its problem sees it: model, loops, posture, feet, length and time of its legs."""

    def __init__(
        self, given: od.Model | od.models.ClosedChain, sole: tuple[float, float] | None, locked: Any, load: float,
        limits: bool,
    ) -> None:  # fmt: skip
        chain = given if isinstance(given, od.models.ClosedChain) else None
        self.sole, self.limits = sole, limits
        self.model = loaded(given.model if isinstance(given, od.models.ClosedChain) else given, load, SOLES)
        self.loops = tuple(chain.loops) if chain else ()
        if self.loops and locked:
            raise ValueError("locked joints: not for a robot with closed chains, lock them in its model")
        self.model = locked_at_rest(self.model, locked)
        self.posture = np.array(chain.q) if chain else standing(self.model, limits, sole is not None)
        self.spread = abs(float(od.point_position(self.model, SOLES[0], DM(self.posture))[1]))
        self.leg = leg_length(self.model, SOLES[0])
        self.time = pendulum_time(self.leg, self.model.gravity)
        self.gap = (0.024 if sole else 0.1) * self.leg  # between the feet; above a point foot is a shank
        idle = self.model.dofs.tau_max == 0
        passive = [n for n in self.model.joint_names if idle[self.model.qd_slice(n)].all()] if chain else []
        self.unactuated = [*self.model.floating_joints, *(n for n in passive if n not in self.model.floating_joints)]

    @property
    def mirrored(self) -> bool:
        """Whether left and right are mirror images, so that one step is a period."""
        try:
            ocp.mirror_map(self.model)
        except od.ModelError:
            return False
        return True

    def foothold(self, sole: str, **place: Any) -> ocp.Foothold:
        if self.sole is None:
            return ocp.Foothold(od.Contact(sole, axes="xyz"), **place)
        return ocp.Foothold(od.Contact(sole), half_length=self.sole[0], half_width=self.sole[1], **place)

    def beside(self, sole: str, width: float | None) -> Any:
        """Bounds of a sole's y [m]: left feet left of the middle, right feet right of it."""
        side = 1.0 if sole == SOLES[0] else -1.0
        least = 0.4 * self.spread if self.sole else self.gap / 2
        near, far = (width / 2,) * 2 if width is not None else (least, 2.5 * self.spread)
        return tuple(sorted((side * near, side * far)))

    def corners(self, sole: str) -> list[tuple[str, tuple[float, float, float]]]:
        length, width = self.sole or (0.0, 0.0)
        return list(dict.fromkeys((sole, (x, y, 0.0)) for x in (-length, length) for y in (-width, width)))

    def apart(self) -> ocp.Separation:
        """Feet that pass each other side by side. Not at the ends of a swing: footholds determine the distance there."""
        length, width = self.sole or (0.0, 0.0)
        ends = list(dict.fromkeys((-length, length)))
        pairs = [((SOLES[0], (x, 0, 0)), (SOLES[1], (u, 0, 0))) for x in ends for u in ends]
        return ocp.Separation(pairs, 2 * width + self.gap, ends=False)

    def transfer(self) -> tuple[ocp.Rate, ocp.Path]:
        """The effort of moving the load from the old foot to the new one, which starts with none and ends with all."""
        weight = self.model.weight

        def loads(instant: ocp.Instant) -> Any:
            return ca.vertcat(*(wrench[5] for wrench in instant.wrenches.values())) / weight

        def gradual(instant: ocp.Instant) -> Any:
            new, old = ca.vertsplit(loads(instant))
            return ca.vertcat(2 * instant.s - new, 2 * (1 - instant.s) - old, new + old - LEAST_LOAD)

        cost = ocp.Rate(loads, weight=100.0 * (TRANSFER * self.time) ** 2, name="load transfer")
        return cost, ocp.Path(gradual, 0.0, np.inf, where="interval")

    def effort(self) -> tuple[Any, ...]:
        """Square of torque over its limit; small terms for a smooth motion with joints near mid-range.

        Limits beyond the moment of the whole weight at the leg's length say nothing about the robot.
        """
        strength = np.minimum(self.model.dofs.strength(unlimited=100.0), self.model.weight * self.leg)
        return (
            ocp.TorqueSquared(weight=100.0, scale=np.where(strength > 0, strength, 1.0)),
            ocp.AccelerationSquared(weight=1e-3),
            ocp.JointAngleSquared(weight=1.0),
        )
