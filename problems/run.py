"""Human running in 3-D: one periodic, mirrored step with a flight phase, of least effort at a given speed.

The step begins as the right heel touches down, with an impact. The foot rolls over its round heel until it is flat, the
body moves over it, the heel rises, and the foot pushes off from the edge under its toes; then both feet are in the air
until the left heel touches down. Durations of all phases, step length and step width are free. The costs are those of
the walk with other weights, the same at all speeds; the muscles of calf and thigh work through tendons with a toe
region (`od.walking.running_effort`). The gallery of the documentation compares the gait with that of people.

python -m ocp_dyn.problems.run [--speed 3] [--strength 1] [--mass 73] [--height 1.741] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, parser, person_of, run_command, solve, within
from ocp_dyn.walking import Person

INTERVALS, QUICK = (3, 10, 9, 8), (2, 5, 5, 4)  # in the phases
PUBLISHED = {3.0: (0.270, 2.51, 1.40), 5.0: (0.199, 2.83, 1.70)}
"""At two speeds [m/s]: contact time [s], largest and mean vertical force [body weights] (Munro et al. 1987)."""

CLEARANCE, TOE_OUT = 0.05, math.radians(4.0)
"""Height of the swinging foot in the middle of its swing [m]; angle of the feet outwards."""

DURATIONS = {"heel": (0.005, 0.15), "flat": (0.02, 0.4), "toes": (0.02, 0.4), "flight": (0.01, 0.4)}
"""Bounds on the durations of the phases [s]: wide, so that effort decides and not they."""


def problem(
    speed: float = 3.0, mass: float = 73.0, height: float = 1.741, strength: float = 1.0, sex: Any = "male",
    *, intervals: tuple[int, int, int, int] = INTERVALS,
) -> ocp.Problem:  # fmt: skip
    """One step, from the right heel's touch-down to the left's. strength: largest torques, times the model's."""
    within(speed, 1.8, 6, "speed must lie between 1.8 and 6 m/s for a run")
    within(strength, 0.8, 4, "strength must lie between 0.8 and 4 times that of the model")
    body = od.models.human(mass, height, sex, root=od.FloatingBase())
    body = body.with_limits(effort=strength * body.dofs.effort)
    runner = Person(od.walking.with_calves(body), body, od.models.human_dimensions(height, sex), rounded=False)
    right = runner.feet("r", x=0.0, y=(-0.2, 0.0), yaw=-TOE_OUT)
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure())

    def swing(side: Any, begin: float, end: float) -> ocp.Clearance:
        return ocp.Clearance(runner.sole_points(side), CLEARANCE, part=(begin, end))

    apart, costs = runner.separation(0.5), od.walking.running_effort(runner)
    parts: dict[str, tuple[tuple[ocp.Foothold, ...], tuple[Any, ...]]] = {
        "heel": ((right.heel,), (*contact, swing("l", 0.2, 0.3), apart)),
        "flat": ((right.flat,), (*contact, swing("l", 0.2, 0.5), apart)),
        "toes": ((right.toes,), (*contact, swing("l", 0.5, 0.8), apart)),
        "flight": ((), (swing("l", 0.8, 1.0), swing("r", 0.0, 0.2), apart)),
    }
    return ocp.Problem(
        runner.model,
        [ocp.Phase(name, n, DURATIONS[name], *part, costs)
         for n, (name, part) in zip(intervals, parts.items(), strict=True)],
        periodic=ocp.Periodic(speed, transition=ocp.Impact(weight=1e-2)),
        per_distance=True,
        guess=ocp.FootPlan(strike=0.15, leave=math.radians(40.0), lift=0.15, crouch=0.05),
        torque="linear",
    )  # fmt: skip


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: contact, impulse at touch-down, joint torques, published figures."""
    model, (*stance, flight) = solution.model, solution.phases
    contact = sum(phase.duration for phase in stance)
    return {
        "step_width_m": 2 * abs(float(stance[1].places["heel_r"][1])),
        "cadence_steps_per_min": 60 / solution.duration,
        "steps_per_s": 1 / solution.duration,
        "contact_s": contact,
        "flight_s": flight.duration,
        "duty_factor": contact / solution.duration / 2,
        "touch_down_impulse_Ns": impulse(solution),
        **od.walking.peak_torques(solution),
        "knee_flexion_in_swing_deg": float(np.degrees(solution.q[:, model.q_slice("knee_l")].max())),
        "arm_swing_deg": float(np.degrees(np.ptp(solution.q[:, model.q_slice("shoulder_l")][:, 0]))),
        **published(solution.step_length / solution.duration),
    }


def published(speed: float) -> dict[str, float]:
    """Measured figures at a speed of 3 to 5 m/s, linear between the two; none elsewhere."""
    low, high = sorted(PUBLISHED)
    if not low - 1e-6 < speed < high + 1e-6:
        return {}
    contact, peak, mean = (float(np.interp(speed, (low, high), x)) for x in zip(*PUBLISHED.values(), strict=True))
    names = ("contact_published_s", "peak_force_published_body_weights", "steps_per_s_published")
    return dict(zip(names, (contact, peak, 1 / (contact * mean)), strict=True))


def impulse(solution: ocp.Solution) -> float:
    """Magnitude of the impulse of the touch-down [N s]: the change of the body's momentum."""
    ends = ((DM(solution.q[k]), DM(solution.qd[k])) for k in (-1, 0))
    before, after = (np.array(od.center_of_mass_velocity(solution.model, *state)).ravel() for state in ends)
    mirror = [1.0, -1.0, 1.0]  # the step begins with the mirror image of its end
    return float(solution.model.mass * np.linalg.norm(after - mirror * before))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=3.0, help="running speed [m/s], 1.8 to 6")
    arguments.add_argument("--strength", type=float, default=1.0, help="largest torques, times the model's")
    add_person(arguments, still=False)
    options, run = asked(arguments, argv, lambda o: problem(
        o.speed, strength=o.strength, intervals=QUICK if o.quick else INTERVALS, **person_of(o)))  # fmt: skip
    return solve(options, run, numbers, f"Human running at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(run_command(main))
