"""The robot RABBIT, a gait of it that was published with a program, and the figures of a step on its point feet.

Two public programs have the same masses, lengths, mass centers and inertias: V. Minh's of 2016, made from E.
Westervelt and J. Grizzle's of 2003 (github.com/peterminh227/the-biped_5DoF_VPP_walking), and N. Smit-Anseeuw's of 2018;
both leave the motors' rotors out. They are said to be those of Westervelt, Grizzle, Chevallereau, Choi & Morris,
Feedback Control of Dynamic Bipedal Robot Locomotion (2007); this was not compared with the book. (The 20 kg torso of
`FiveLinkParameters` by default is another set.) The gait is data of the first program only. Ranges of hips and knees
and the largest torque are from the second program, which uses several values: unverified as limits of the real robot.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from casadi import DM

from ...dynamics.kinematics import point_position
from ...dynamics.momentum import center_of_mass_acceleration
from ...mechanism import Model
from ...models import FiveLinkParameters, five_link_biped, five_link_leg_change
from ...ocp import Instant, Solution
from .zero_dynamics import VirtualConstraints, ZeroDynamics, fitted_constraints

RABBIT = FiveLinkParameters(
    torso_mass=12.0, tibia_inertia=0.20, femur_inertia=0.47, torso_inertia=1.33, torso_length=0.63,
    tibia_com=0.24, femur_com=0.11, torso_com=0.63 - 0.24,  # from the knee, from the hip, from the top
    swing_tibia_com=0.24, swing_femur_com=0.11,
)  # fmt: skip

TORQUE, BEND = 75.0, math.pi / 2
"""Largest torque [N m]; range of hips and knees [rad]."""

THETA = (-3.376641526, -3.376641526 + 0.51)
"""Published angle of the stance leg at both ends of a step [rad]."""

ALPHA = (
    (3.58, 3.689788372, 3.5, 3.2, 3.0, 3.0, 2.98),
    (2.98, 2.998250116, 3.0, 3.4, 3.500000052, 3.6, 3.58),
    (-0.32, -0.5636564229, -0.34, -0.22, -0.14, -0.1, -0.14),
    (-0.14, -0.1971802842, -0.05, -1.13, -0.32, -0.34, -0.32),
)
"""Published Bezier coefficients, a row for each of stance hip, swing hip, stance knee, swing knee. In the published
angles a straight leg in line with the torso has the hip angle pi."""


def rabbit() -> Model:
    """RABBIT with its stance foot pinned at the origin: knees that bend one way, a stance tibia above the ground, and
    limited torques.

    >>> od.walking.rabbit().mass
    32.0
    """
    hips = dict.fromkeys(("stance_hip", "swing_hip"), BEND)
    return five_link_biped(RABBIT).with_limits(
        lower={"stance_ankle": -BEND, "stance_knee": 0.0, "swing_knee": -BEND} | {hip: -x for hip, x in hips.items()},
        upper={"stance_ankle": BEND, "stance_knee": BEND, "swing_knee": 0.0} | hips,
        velocity={"stance_ankle": 10.0},
        effort=TORQUE,
    )


def rabbit_leg_change(q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """State and impulse (q, qd, impulse [N s]) of RABBIT after its swing foot has struck without slip.

    >>> q, _, _ = od.walking.rabbit_leg_change(ca.DM([0.3, -0.1, -0.2, -0.2, -0.1]), ca.DM([-1, 0, 0, 0, 0]))
    >>> q.full().ravel().round(3)
    array([-0.3,  0.1,  0.2,  0.2,  0.1])
    """
    return five_link_leg_change(q, qd, RABBIT)


def rabbit_example() -> ZeroDynamics:
    """The zero dynamics of the published gait of RABBIT, in the coordinates of `rabbit`.

    >>> round(od.walking.rabbit_example().sigma, 5)  # published: -25.16342287
    -25.16342
    """
    stance_hip, swing_hip, stance_knee, swing_knee = np.array(ALPHA)
    alpha = np.array([-stance_knee, math.pi - stance_hip, swing_hip - math.pi, swing_knee])
    begin, end = (theta + math.pi for theta in THETA)
    return ZeroDynamics(rabbit(), VirtualConstraints(alpha, begin, end), rabbit_leg_change)


def zero_dynamics_of_rabbit(step: Solution, degree: int = 6) -> ZeroDynamics:
    """The zero dynamics of RABBIT under polynomials of this degree that are fitted to a step."""
    phase = step.phases[0]
    return ZeroDynamics(step.model, fitted_constraints(phase.q, phase.qd, degree), rabbit_leg_change)


def ground_force(instant: Instant) -> Any:
    """Force (x, z) of the ground on the only foot that stands [N].

    >>> rest = ca.DM.zeros(5)
    >>> od.walking.ground_force(ocp.Instant(od.walking.rabbit(), rest, rest, qdd=rest))
    DM([0, 313.92])
    """
    model = instant.model
    acceleration = center_of_mass_acceleration(model, instant.q, instant.qd, instant.qdd)
    return (model.mass * (acceleration - DM(model.gravity)))[[0, 2]]


def point_foot_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a step of RABBIT beside its summary: length, speed, friction, forces (means over the intervals)."""
    model, step = solution.model, solution.phases[0]
    landing = float(point_position(model, "swing_foot", DM(step.q[-1]))[0])
    q, qd = (step.q[1:] + step.q[:-1]) / 2, (step.qd[1:] + step.qd[:-1]) / 2
    instants = [Instant(model, DM(x), DM(y), qdd=DM(z)) for x, y, z in zip(q, qd, step.qdd, strict=True)]
    forces = np.array([np.array(ground_force(instant).full()).ravel() for instant in instants])
    impulse = np.array(DM(rabbit_leg_change(DM(step.q[-1]), DM(step.qd[-1]))[2])).ravel()
    return {
        "period_s": solution.duration,
        "step_length_m": landing,
        "speed_m_per_s": landing / solution.duration,
        "cost_N2_m_s": solution.objective,
        "friction_needed": float(np.max(np.abs(forces[:, 0]) / forces[:, 1])),
        "friction_needed_at_impact": float(abs(impulse[0]) / impulse[1]),
        "least_vertical_force_N": float(forces[:, 1].min()),
    }
