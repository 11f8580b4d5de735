"""A human who climbs stairs, or walks down: one periodic, mirrored step of least effort, one stair per step.

The human, the feet and the costs are those of `human_walk`. The right foot is on one stair; meanwhile the left foot
leaves the stair below (upwards) or above (downwards), swings past two edges, and is set down on the next stair:

- upwards the whole sole lands at once, and the foot leaves from the edge under its toes;
- downwards the toes' edge lands first, the heel comes down, and at the end the heel rises while the body sinks.

Where on the stairs the feet stand, and for how long, is free; the whole sole from heel to pivot stays on its stair. Points of the
swinging foot, its toes included, stay clear of the stairs and their edges (`ocp.Terrain.height`).

Compared with people: upwards the swinging knee bends by some 90 to 100 degrees.

    python -m problems.stairs [--down] [--rise 0.17] [--tread 0.29] [--speed 0.45] [--model legs|human]
                              [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human, human_dimensions

from . import human_walk
from ._command import asked, finish, parser, within

INTERVALS = (4, 6, 10, 10)
"""Numbers of intervals: on the toes' edge of both feet (only downwards), on one flat foot and one edge, on the flat foot, on
the toes' edge."""

QUICK = (2, 3, 6, 6)

SHARES = {"toes": (0.02, 0.3), "double": (0.05, 0.4), "flat": (0.15, 0.9), "heel_off": (0.05, 0.75)}
"""Bounds on the durations of the phases, as fractions of the time of a step."""

CLEARANCE = 0.03
"""Height of the swinging foot above the stairs in the middle of its swing [m]."""

TIP = 0.015
"""Height of the tip of the toes above the plane of the sole [m]: shoes and toes bend up."""

SMOOTHING = 0.05
"""Distance from an edge within which the swinging foot has to stay higher than the stair beside it [m]. At the 0.02 m
of `ocp.stairs` the solver needs twice the iterations."""

STRIKE, LEAVE = math.radians(20.0), math.radians(30.0)
"""Pitch of a foot in the first guess, toes down: when it lands on its toes, downwards, and when it leaves the ground."""

GAP = 0.005
"""Distance between the standing foot and the riser beside it [m]."""


def problem(
    rise: float = 0.17,
    tread: float = 0.29,
    *,
    down: bool = False,
    speed: float = 0.45,
    mass: float = 73.0,
    height: float = 1.741,
    still: bool = False,
    intervals: tuple[int, int, int, int] = INTERVALS,
) -> ocp.Problem:
    """One step, from one touchdown of a foot to the next. rise, tread [m] of a stair; speed [m/s]: horizontal.

    still: trunk and arms are one rigid body.
    """
    within(rise, 0.05, 0.25, "rise must lie between 0.05 and 0.25 m; which way the stairs go is told by `down`")
    within(tread, 0.22, 0.45, "tread must lie between 0.22 and 0.45 m")
    within(speed, 0.2, 0.9, "speed must lie between 0.2 and 0.9 m/s")
    if not isinstance(down, bool):
        raise TypeError(f"down must be True or False, got {down!r}")
    size = human_dimensions(height)
    body = human(mass, height, root=od.FloatingBase())
    if still:
        body = body.lock_joints(human_walk.UPPER)
    model, costs = human_walk.with_calf(body), human_walk.effort(body)
    climb = -rise if down else rise
    terrain = ocp.stairs(climb, tread, 4, x=-1.5 * tread, z=-2 * climb, landing=tread, smoothing=SMOOTHING)
    place = {"x": _along(tread, size, down), "y": (-0.2, -0.02), "yaw": -human_walk.TOE_OUT}
    right = human_walk.feet(model, size, "r", plane=terrain.plane("stair 2"), **place)
    left = human_walk.feet(model, size, "l", plane=terrain.plane("stair 1"))
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure(), ocp.Activation())
    apart = human_walk.separation(size)
    points = [*human_walk.sole_points("l", size), ("heel_l", (size.foot_length, 0.0, TIP))]
    first, second = (ocp.Clearance(points, CLEARANCE, terrain, part) for part in ((0.0, 0.5), (0.5, 1.0)))
    stands = {
        "toes": ((right.toes, left.toes), contact),
        "double": ((right.flat, left.toes), contact),
        "flat": ((right.flat,), (*contact, first, apart)),
        "heel_off": ((right.toes,), (*contact, second, apart)),
    }
    if not down:
        del stands["toes"]
    time = tread / speed
    phases = [
        ocp.Phase(name, n, (time * SHARES[name][0], time * SHARES[name][1]), held, path, costs)
        for n, (name, (held, path)) in zip(intervals[-len(stands) :], stands.items(), strict=True)
    ]
    return ocp.Problem(
        model,
        phases,
        periodic=ocp.Periodic(speed, transition=ocp.Continuous(), step=ocp.Step(length=tread, rise=climb)),
        per_distance=True,
        guess=ocp.FootPlan(strike=-STRIKE, leave=LEAVE, lift=0.06, crouch=0.05),
        integrator="gauss:2",
        torque="linear",
    )


def _along(tread: float, size: HumanDimensions, down: bool) -> tuple[float, float]:
    """Bounds on the place of the middle of the sole on its stair [m]: beside a riser is room for the whole foot."""
    middle = (human_walk.HEEL + human_walk.PIVOT) / 2 * size.foot_length
    if down:
        return -tread / 2 + middle + GAP, 1.0
    return -1.0, tread / 2 - (size.foot_length - middle) - GAP


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: cadence, knees, torques, metabolic rate."""
    swing, stance = (
        float(np.degrees(solution.q[:, solution.model.q_names.index(f"knee_{side}")].max())) for side in "lr"
    )
    return {
        "cadence_steps_per_min": 60.0 / solution.duration,
        "knee_flexion_in_swing_deg": swing,
        "knee_flexion_in_stance_deg": stance,
        "double_support_percent_of_stride": 50 * sum(p.duration for p in solution.phases[:-2]) / solution.duration,
        "climbing_speed_m_per_s": solution.rise / solution.duration,
        **human_walk.peak_torques(solution),
        **human_walk.metabolism(solution).numbers(),
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--down", action="store_true", help="down the stairs")
    arguments.add_argument("--rise", type=float, default=0.17, help="height of a stair [m], 0.05 to 0.25")
    arguments.add_argument("--tread", type=float, default=0.29, help="depth of a stair [m], 0.22 to 0.45")
    arguments.add_argument("--speed", type=float, default=0.45, help="horizontal speed [m/s], 0.2 to 0.9")
    arguments.add_argument("--model", choices=("legs", "human"), default="human", help="legs: trunk and arms rigid")
    options, climb = asked(
        arguments,
        argv,
        lambda o: problem(
            o.rise,
            o.tread,
            down=o.down,
            speed=o.speed,
            still=o.model == "legs",
            intervals=QUICK if o.quick else INTERVALS,
        ),
    )
    solution = climb.solve(progress=not options.quiet)
    title = f"{'Down' if options.down else 'Up'} stairs of {options.rise:g} by {options.tread:g} m"
    return finish(options, solution, lambda: numbers(solution), title)


if __name__ == "__main__":
    sys.exit(main())
