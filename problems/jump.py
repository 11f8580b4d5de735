"""Vertical jump of a human from both feet: as high as joint strength and speed allow, with and without an arm swing.

The body starts at rest with slightly bent knees. It may sink; it pushes off from flat feet, then from the edges under
its toes, and flies up to its apex, where the motion ends. The solver maximizes the height of the center of mass at the
apex; a small torque term selects one of the motions of equal height. The largest torques fall with joint speed, as
those of motors do, and the rate of torques has a cost, because muscles need time to build up force.

python -m ocp_dyn.problems.jump [--strength 1] [--mass 73] [--height 1.741] [--no-arms] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, keep, motion_of, parser, run_command, within
from ocp_dyn.walking import Person, ballistic_height, both_arms, unevenness

INTERVALS, QUICK = (14, 6, 4), (10, 5, 3)
"""Numbers of intervals: on flat feet, on the toes' edges, in flight up to the apex."""

ARM_SWING_GAIN = 0.086
"""Published gain by an arm swing [m], 28 % by raised arms, 72 % by speed (Lees et al., J. Biomechanics 37, 2004)."""

numbers = od.walking.jump_figures

BENT, AHEAD = math.radians(10.0), 0.04
"""Start: angle between thigh and vertical, as straight legs are singular; center of mass ahead of the ankles [m]."""

LEAN = {f"root.q{axis}": math.sin(angle / 2) for axis, angle in zip("xyz", (0.2, math.radians(60), 0.2), strict=True)}
SPEEDS = (2.0, 2.0, 5.0, 5.0, 10.0, 5.0)
"""Bounds on the angles of the trunk, which may lean but not turn over, and on the speed of the pelvis [m/s, rad/s]."""


def problem(
    mass: float = 73.0, height: float = 1.741, strength: float = 1.0, *, arms: bool = True,
    intervals: tuple[int, int, int] = INTERVALS,
) -> ocp.Problem:  # fmt: skip
    """A jump up to its apex. strength: the joints' largest torques, as multiples of the model's."""
    within(strength, 0.8, 4, "strength must lie between 0.8 and 4 times that of the model")
    held = {"lumbar": np.zeros(3)} | ({} if arms else both_arms((0.0, 0.0, 0.0), (0.0,)))
    model = od.models.human(mass, height, root=od.FloatingBase()).lock_joints(held)
    model = model.with_limits(lower={q: -x for q, x in LEAN.items()}, upper=LEAN, velocity={"root": SPEEDS},
                              effort=strength * model.dofs.effort)  # fmt: skip
    jumper = Person(model, model, od.models.human_dimensions(height))
    spread = jumper.size.hip_spacing / 2
    right, left = jumper.feet("r", x=0.0, y=-spread), jumper.feet("l", x=0.0, y=spread)
    contact, motors = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure()), ocp.TorqueSpeedCurve()
    costs, ground = effort(model), (*contact, motors)
    reach = ocp.Path(lambda instant: ballistic_height(instant) - instant.values["apex"], 0.0, np.inf)
    return ocp.Problem(
        model,
        # the bound 0.7 s decides: with more time the jumper swings the arms again, for 2 cm of height
        [ocp.Phase("flat", intervals[0], (0.2, 0.7), (left.flat, right.flat), ground, costs),
         ocp.Phase("toes", intervals[1], (0.03, 0.2), (left.toes, right.toes), ground, costs),
         ocp.Phase("flight", intervals[2], (0.05, 0.6), path=(motors, reach), objective=costs)],
        # nothing is hit at the second; path constraints then also hold at the first node of the flight
        [ocp.Continuous(), ocp.Impact()],
        boundary=(ocp.Boundary(lambda start, end: (jumper.at_rest(start, BENT, AHEAD), 0.0, 0.0), "at rest"),
                  ocp.Boundary(apex, "apex")),
        parameters=[ocp.Parameter("apex", 1.2, bounds=(0.0, 5.0))],
        terminal=[ocp.Terminal(lambda start, end: -end.values["apex"], 100.0, "height")],
        guess=ocp.FootPlan(crouch=0.25, leave=math.radians(30.0)), options={"mu_init": 0.1},  # the cost is a height
        integrator="gauss:2",  # a maximized height exploits errors of the grid that add to it
    )  # fmt: skip


def effort(model: od.Model) -> tuple[Any, ...]:
    """Squares of torques and their rates over strength, and of left minus right; all small beside the height."""
    strength, sides = model.dofs.strength(), unevenness(model)
    return (
        ocp.TorqueSquared(weight=2.0, scale=strength),
        ocp.TorqueRateSquared(weight=0.01, scale=strength),
        ocp.AccelerationSquared(weight=1e-5),
        ocp.Integral(lambda instant: ca.sumsqr(sides(instant.q)), 20.0, "asymmetry"),
    )


def apex(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    """Center of mass at its highest, no angular momentum, trunk upright, symmetric: ready to land as it left."""
    speed = od.center_of_mass_velocity(end.model, end.q, end.qd)[2]
    spin = od.centroidal_momentum(end.model, end.q, end.qd)[:3]
    gap = unevenness(end.model)(end.q)
    free = np.array([*np.zeros(4), *np.full(3, 0.1), *np.zeros(gap.shape[0])])
    return ca.vertcat(speed, spin, end.q[3:6], gap), -free, free


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--strength", type=float, default=1.0, help="largest torques, times the model's")
    arguments.add_argument("--no-arms", action="store_true", help="keep the arms hanging, and make no comparison")
    options, (jump, *others) = asked(arguments, argv, lambda o: [
        problem(o.mass, o.height, o.strength, arms=arms, intervals=QUICK if o.quick else INTERVALS)
        for arms in ([False] if o.no_arms else [True, False])])  # fmt: skip
    solution = motion_of(options, jump)
    keep(options, solution)
    hanging = [motion_of(options, other) for other in others]

    def figures() -> dict[str, Any]:
        found = numbers(solution)
        for other in hanging:
            height = numbers(other)["jump_height_m"]
            found |= {"height_without_arms_m": height, "without_arms_converged": other.converged,
                      "arm_swing_gain_m": found["jump_height_m"] - height,
                      "arm_swing_gain_published_m": ARM_SWING_GAIN}  # fmt: skip
        return found

    return finish(options, solution, figures, "Vertical jump of a human")


if __name__ == "__main__":
    sys.exit(run_command(main))
