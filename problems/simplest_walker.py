"""The simplest walking model: a hip on two massless legs with feet of vanishing mass, down a gentle slope.

M. Garcia, A. Chatterjee, A. Ruina & M. Coleman, "The simplest walking model: stability, complexity, and scaling",
J. Biomech. Eng. 120 (1998): with length and gravity 1, theta the stance leg's angle from the slope's normal and phi the
angle between the legs,

    theta'' = sin(theta - gamma),   theta'' - phi'' + theta'^2 sin phi - cos(theta - gamma) sin phi = 0,

a strike where phi = 2 theta, after which theta+ = -theta, theta'+ = cos(2 theta) theta'. Published at gamma = 0.009:
theta = 0.200310900544, theta' = -0.199832473005, period 3.882463, |multiplier| 0.589113 (a complex pair).

    python -m ocp_dyn.problems.simplest_walker [--slope 0.009] [--json] [--out DIR] [--quick]
"""

from __future__ import annotations

import math
import sys

import casadi as ca
from casadi import SX

import ocp_dyn as od
from ocp_dyn.cli.examples import asked, finish_cycle, parser, run_command
from ocp_dyn.models import CompassParameters, compass_walker
from ocp_dyn.ocp import LimitCycle, StepMap
from ocp_dyn.walking import KnownGait, follow_slopes

KNOWN = KnownGait(0.009, (0.200310900544, 0.400621801088, -0.199832473005, -0.0158230), 3.882463)
PUBLISHED = {"published_theta": 0.200310900544, "published_period": 3.882463, "published_magnitude": 0.589113}


def dynamics(slope: float, q: SX, qd: SX) -> SX:
    """qdd in the limit of feet without mass: the stance leg carries only the hip, the swing leg moves only its foot.

    These are the leading terms of the rows of `H qdd + C = 0`: of order 1 in the first row, of the order of the foot's
    mass in the second.
    """
    gravity = (math.sin(slope), 0.0, -math.cos(slope))
    hip = compass_walker(CompassParameters(hip_mass=1.0, leg_mass=0.0)).with_gravity(gravity)
    foot = compass_walker(CompassParameters(hip_mass=0.0, leg_mass=1.0, leg_com=1.0)).with_gravity(gravity)
    (H, C), (H_foot, C_foot) = (od.equations_of_motion(model, q, qd) for model in (hip, foot))
    theta = -C[0] / H[0, 0]
    return ca.vertcat(theta, -(C_foot[1] + H_foot[1, 0] * theta) / H_foot[1, 1])


def strike(x: SX) -> SX:
    """The swing foot strikes: angular momentum about it is conserved, and stance and swing leg change roles."""
    theta, _, rate, _ = ca.vertsplit(x)
    c = ca.cos(2 * theta)
    return ca.vertcat(-theta, -2 * theta, c * rate, c * (1 - c) * rate)


def step_map(slope: float, steps: int = 1000) -> StepMap:
    """Map from the start of a step to the start of the next, x = (theta, phi, theta', phi')."""
    return StepMap(
        lambda x: ca.vertcat(x[2:], dynamics(slope, x[:2], x[2:])), lambda x: x[1] - 2 * x[0], strike, 4, steps
    )


def gait(slope: float, steps: int = 1000) -> LimitCycle:
    """The long-period gait at `slope` [rad]; NoGait where there is none."""
    return follow_slopes(lambda value: step_map(value, steps), KNOWN, slope)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--slope", type=float, default=KNOWN.slope, help="slope [rad], 0.001 to 0.015")
    options, slope = asked(arguments, argv, lambda o: o.slope)
    published = PUBLISHED if slope == KNOWN.slope else {}
    steps = 200 if options.quick else 1000
    return finish_cycle(options, lambda: gait(slope, steps), slope, published, "The simplest walking model")


if __name__ == "__main__":
    sys.exit(run_command(main))
