"""The walk that the real-time iteration is measured on: the legs of Talos take two steps, as in Crocoddyl's benchmark.

Equal in both: 53 intervals of 37.5 ms, two steps of 0.6 m, weights of the costs, semi-implicit Euler. Different:
contact forces and accelerations are variables under the equations of motion (Crocoddyl eliminates them node by node);
equality rows put the swinging foot on its place, at rest, as it touches down (Crocoddyl: a penalty and an impulse).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

from .dynamics.robots import Array

SOLES = ("left_sole_link", "right_sole_link")
POSTURE = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *(0.0, 0.0, -0.4, 0.8, -0.4, 0.0) * 2)
STEP, HEIGHT, KNOTS, TIME = 0.6, 0.1, 25, 0.0375
"""Length [m] and height [m] of a step, intervals of a swing, seconds of an interval."""

TRACKING, REGULAR, TORQUE = 5e5, 5.0, 0.05
"""Weights: of the foot and the center of mass [1/m^2], of the state, of the torques [1/(N m)^2]."""


@dataclass(frozen=True, eq=False)
class TrackCenterOfMass(ocp.TrackingCost):
    """|center of mass - reference(s)|^2 [m^2]."""

    reference: Callable[[float], Array]
    weight: float = TRACKING

    def reference_size(self, model: od.Model) -> int:
        return 3

    def residual(self, stage: ocp.Instant) -> Any:
        return od.center_of_mass(stage.model, stage.q) - stage.references[self]


@dataclass(frozen=True, eq=False)
class StayNear(ocp.LeastSquares):
    """|weights (difference(posture, q), qd)|^2."""

    posture: Array
    weights: Array
    weight: float = REGULAR

    def residual(self, stage: ocp.Instant) -> Any:
        gap = stage.model.difference(DM(self.posture), stage.q)
        return DM(self.weights) * ca.vertcat(gap, stage.qd)


def legs(path: Path) -> od.Model:
    """Base and legs of the robot in the file, nothing above: 18 dofs."""
    robot = od.load_urdf(path, od.FloatingBase())
    builder = od.ModelBuilder("talos_legs")
    for i, parent in robot.edges:
        name = robot.body_names[i - 1]
        if i > 1 and "leg" not in name:
            continue
        I, mass = robot.I[i], float(robot.I[i].m)
        com = np.array(DM(I.h)).ravel() / mass
        cross = np.cross(com, np.eye(3)).T
        builder.add_body(
            name, robot.joints[i], robot.body_names[parent - 1] if parent else "world", **_pose(robot.X_tree[i]),
            mass=mass, com=com, inertia=np.array(DM(I.I)) + mass * cross @ cross, joint_name=robot.joint_names[i - 1],
        )  # fmt: skip
    for name in SOLES:
        frame = robot.frame(name)
        builder.add_frame(name, robot.body_names[frame.body - 1], **_pose(frame.X))
    return builder.build()


def _pose(X: Any) -> dict[str, Array]:
    return {"origin": np.array(DM(X.r)).ravel(), "rotation": np.array(DM(X.E)).T}


def standing(model: od.Model) -> Array:
    """Knees bent, soles on the ground."""
    q = np.array(POSTURE)
    q[2] -= _place(model, SOLES[0], q)[2]
    return q


def walk(model: od.Model, inequalities: bool = True) -> ocp.Problem:
    """Two steps from a measured state (parameters q0, v0); inequalities: friction cones and centers of pressure."""
    q = standing(model)
    nv = model.nv
    weights = np.array([0.0] * 3 + [500.0] * 3 + [0.01] * (nv - 6) + [10.0] * nv)
    always = StayNear(q, weights), ocp.TorqueSquared(TORQUE)
    cones = (ocp.FrictionCone(0.7), ocp.CenterOfPressure()) if inequalities else ()
    places = {name: _place(model, name, q) for name in SOLES}
    com = np.array(od.center_of_mass(model, DM(q))).ravel()

    def foot(name: str, x: float) -> ocp.Foothold:
        place = {"x": float(places[name][0]) + x, "y": float(places[name][1])}
        return ocp.Foothold(od.Contact(name), **place, half_length=0.1, half_width=0.05)

    def swing(name: str, length: float, begin: float) -> tuple[Any, ...]:
        def sole(s: float) -> Array:
            return places[name] + np.array([length * s, 0.0, HEIGHT * min(2 * s, 2 - 2 * s)])

        def center(s: float) -> Array:
            return com + np.array([begin + length / 2 * s, 0.0, 0.0])

        return *always, ocp.TrackMarkers([(name, (0.0, 0.0, 0.0))], sole, TRACKING), TrackCenterOfMass(center)

    left, right = SOLES
    feet = foot(left, 0.0), foot(right, 0.0), foot(right, STEP / 2), foot(left, STEP)
    phases = [
        ocp.Phase("double", 1, TIME, feet[:2], cones, always),
        ocp.Phase("right swing", KNOTS + 1, (KNOTS + 1) * TIME, feet[:1], cones, swing(right, STEP / 2, 0.0)),
        ocp.Phase("double again", 1, TIME, (feet[0], feet[2]), cones, always),
        ocp.Phase("left swing", KNOTS, KNOTS * TIME, feet[2:3], cones, swing(left, STEP, STEP / 4)),
    ]
    measured = ocp.Boundary(_measured, name="measured")
    parameters = ocp.Parameter("q0", q), ocp.Parameter("v0", np.zeros(nv))
    return ocp.Problem(
        model, phases, boundary=measured, parameters=parameters, posture=q, limits=False,
        integrator="euler", contact_level="acceleration",
    )  # fmt: skip


def _measured(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    gap = ca.vertcat(start.q - start.values["q0"], start.qd - start.values["v0"])
    return gap, 0.0, 0.0


def _place(model: od.Model, name: str, q: Array) -> Array:
    return np.array(od.point_position(model, name, DM(q))).ravel()
