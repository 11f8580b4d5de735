"""A human who climbs stairs, or walks down: one periodic, mirrored step of least effort, one stair per step.

The human is that of `human_walk`, on feet with an edge; the costs are `od.walking.motion_effort`. The right foot is on
one stair; meanwhile the left foot leaves the stair below (upwards) or above (downwards), swings past two edges, and is
set down on the next stair. Upwards the whole sole lands at once, and the foot leaves from the edge under its toes;
downwards this edge lands first, the heel comes down, and at the end the heel rises while the body sinks. Where the feet
stand, and for how long, is free; soles stay on their stairs, and the swinging foot stays clear of them.

    python -m ocp_dyn.problems.stairs [--down] [--rise 0.17] [--tread 0.29] [--speed 0.45] [--model legs|human]
        [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, parser, person_of, run_command, solve, within

INTERVALS, QUICK = (4, 6, 10, 10), (2, 3, 6, 6)
SHARES = {"toes": (0.02, 0.3), "double": (0.05, 0.4), "flat": (0.15, 0.9), "heel_off": (0.05, 0.75)}
"""Numbers of intervals, and bounds on the durations of the phases as fractions of the time of a step: on the toes' edge
of both feet (only downwards), on one flat foot and one edge, on the flat foot, on the toes' edge."""

CLEARANCE, TIP, GAP, SMOOTHING = 0.03, 0.015, 0.005, 0.05
"""Height of the swinging foot above the stairs in the middle of its swing; of the tip of the toes above the plane of
the sole, as shoes and toes bend up; distance between the standing foot and the riser beside it; distance from an edge
within which the swinging foot has to stay higher than the stair beside it [m]."""

STRIKE, LEAVE, UPWARD_BARRIER = math.radians(20.0), math.radians(30.0), 1e-2
"""Pitch of a foot in the first guess, toes down: when it lands on its toes, downwards, and when it leaves the ground.
First barrier of IPOPT upwards: from its default, 0.1, steps lead away from the plan of the feet, and then to one of
three optima, which one hangs on the last bits of the first guess."""


def problem(
    rise: float = 0.17, tread: float = 0.29, *, down: bool = False, speed: float = 0.45,
    intervals: tuple[int, int, int, int] = INTERVALS, **body: Any,
) -> ocp.Problem:  # fmt: skip
    """One step, from one touchdown of a foot to the next. rise, tread [m] of a stair; speed [m/s]: horizontal.

    body: options of `od.walking.person`, such as mass, height or still.
    """
    within(rise, 0.05, 0.25, "rise must lie between 0.05 and 0.25 m; which way the stairs go is told by `down`")
    within(tread, 0.22, 0.45, "tread must lie between 0.22 and 0.45 m")
    within(speed, 0.2, 0.9, "speed must lie between 0.2 and 0.9 m/s")
    if not isinstance(down, bool):
        raise TypeError(f"down must be True or False, got {down!r}")
    climber, time = replace(od.walking.person(**body), rounded=False), tread / speed
    climb, costs = -rise if down else rise, od.walking.motion_effort(climber)
    terrain = ocp.stairs(climb, tread, 4, x=-1.5 * tread, z=-2 * climb, landing=tread, smoothing=SMOOTHING)
    right = climber.feet_at("r", along(climber, tread, down), (-0.2, -0.02), plane=terrain.plane("stair 2"))
    left = climber.feet("l", plane=terrain.plane("stair 1"))
    points = [*climber.sole_points("l"), ("heel_l", (climber.size.foot_length, 0.0, TIP))]
    swing = [ocp.Clearance(points, CLEARANCE, terrain, part) for part in ((0.0, 0.5), (0.5, 1.0))]
    stands: dict[str, tuple[tuple[ocp.Foothold, ...], tuple[Any, ...]]] = {
        "toes": ((right.toes, left.toes), ()),
        "double": ((right.flat, left.toes), ()),
        "flat": ((right.flat,), (swing[0], climber.separation())),
        "heel_off": ((right.toes,), (swing[1], climber.separation())),
    }
    phases = [
        ocp.Phase(name, n, tuple(time * x for x in SHARES[name]), held, (*od.walking.human_contact(), *path), costs)
        for n, (name, (held, path)) in zip(intervals, stands.items(), strict=True)
    ]
    return ocp.Problem(
        climber.model,
        phases if down else phases[1:],
        periodic=ocp.Periodic(speed, transition=ocp.Continuous(), step=ocp.Step(length=tread, rise=climb)),
        per_distance=True,
        guess=ocp.FootPlan(strike=-STRIKE, leave=LEAVE, lift=0.06, crouch=0.05),
        integrator="gauss:2",
        torque="linear",
        options={} if down else {"mu_init": UPWARD_BARRIER},
    )


def along(climber: od.walking.Person, tread: float, down: bool) -> tuple[float, float]:
    """Bounds on the place of the middle of the sole on its stair [m]: beside a riser is room for the whole foot."""
    if down:
        return -tread / 2 + climber.sole_middle + GAP, 1.0
    return -1.0, tread / 2 - (climber.size.foot_length - climber.sole_middle) - GAP


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: cadence, knees, torques, metabolic rate."""
    knees = [float(np.degrees(solution.q[:, solution.model.q_slice(f"knee_{side}")].max())) for side in "lr"]
    return {
        "cadence_steps_per_min": 60.0 / solution.duration,
        "knee_flexion_in_swing_deg": knees[0],
        "knee_flexion_in_stance_deg": knees[1],
        "double_support_percent_of_stride": 50 * sum(p.duration for p in solution.phases[:-2]) / solution.duration,
        "climbing_speed_m_per_s": solution.rise / solution.duration,
        **od.walking.peak_torques(solution),
        **od.walking.metabolism(solution).numbers(),
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--down", action="store_true", help="down the stairs")
    arguments.add_argument("--rise", type=float, default=0.17, help="height of a stair [m], 0.05 to 0.25")
    arguments.add_argument("--tread", type=float, default=0.29, help="depth of a stair [m], 0.22 to 0.45")
    arguments.add_argument("--speed", type=float, default=0.45, help="horizontal speed [m/s], 0.2 to 0.9")
    add_person(arguments)
    options, climb = asked(arguments, argv, lambda o: problem(
        o.rise, o.tread, down=o.down, speed=o.speed, intervals=QUICK if o.quick else INTERVALS,
        **person_of(o)))  # fmt: skip
    title = f"{'Down' if options.down else 'Up'} stairs of {options.rise:g} by {options.tread:g} m"
    return solve(options, climb, numbers, title)


if __name__ == "__main__":
    sys.exit(run_command(main))
