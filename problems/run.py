"""Human running in 3-D: one periodic, mirrored step with a flight phase, of least effort at a given speed.

The step begins as the right heel touches down, with an impact. The foot rolls over its round heel until it is flat, the
body moves over it, the heel rises, and the foot pushes off from the edge under its toes; then both feet are in the air
until the left heel touches down. Durations of all phases, step length and step width are free.

The costs are those of the walk (`human_walk`): activation, rate of the torques, metabolic energy of muscle work, load on
passive tissue. The muscles of calf and thigh work through tendons with a toe region, which store and return what the
joints take up and give. The weights are the same at all speeds.

What the terms do. Over a step of the time T the ground must carry the weight, so the mean force during the contact time
c is T/c body weights, and the largest is s T/c with the shape s of the curve: 1 for a rectangle, 1.5 for a parabola, pi/2
for half a sine, 2 for a raised cosine; measured 1.8. Activation squared alone wants even forces (s = 1.25), the rate of
the torques a parabola and long contacts, and muscle work, which tendons do instead, the curve of a spring (1.6) and short
steps; accelerations and the rate lengthen the step. A flat foot that touches down takes a tenth of the weight's impulse
in its impact, and has steps that are a sixth shorter than after a landing on the heel.

                                     2.5    3     4     5    6 m/s
    contact time [s]                 0.31  0.26  0.22  0.21  0.18
      measured                             0.27        0.20
    largest vertical force [weights] 1.9   2.2   2.6   2.7   2.7
      measured                             2.5         2.8
    steps per second                 2.7   2.8   2.8   2.7   3.0
      measured                             2.6         3.0

The measured values are those of Munro, Miller and Fuglevand (J. Biomechanics 20, 1987); steps per second follow from their
mean force (1.40 and 1.70 body weights) and contact time. The curve has its maximum later than measured, at two thirds of
the contact, and no first peak, because the heel has no pad; so its largest force at 3 m/s is 13 % low. A greater weight of
work brings 2.3 body weights, but contacts of 0.24 s; the product of force and contact time hardly changes. From 5 m/s up the
strengths of knee and ankle decide. Below 2.5 m/s steps get longer than those of people.

    python -m problems.run [--speed 3] [--strength 1] [--mass 73] [--height 1.741] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, human_dimensions

from . import human_walk
from ._command import asked, finish, parser

INTERVALS = (3, 10, 9, 8)
"""Numbers of intervals: on the heel, on the flat foot, on the toes' edge, in flight."""

QUICK = (2, 5, 5, 4)

PUBLISHED = {3.0: (0.270, 2.51, 1.40), 5.0: (0.199, 2.83, 1.70)}
"""At two speeds [m/s]: contact time [s], largest and mean vertical force [body weights] (Munro et al. 1987)."""

CLEARANCE = 0.05
"""Height of the swinging foot in the middle of its swing [m]."""

TOE_OUT = math.radians(4.0)

DURATIONS = {"heel": (0.005, 0.15), "flat": (0.02, 0.4), "toes": (0.02, 0.4), "flight": (0.01, 0.4)}
"""Bounds on the durations of the phases [s]: wide, so that effort decides and not they."""

STRETCH = 0.027 / 0.042
"""Angle of the knee by which the tendon of the quadriceps stretches under its largest torque [rad]: 27 mm of the tendon
and aponeurosis of vastus lateralis (Stafilidis et al., Eur. J. Appl. Physiol. 94, 2005) at a lever arm of 42 mm."""

TOE, TOE_TORQUE = 0.2, 40.0
"""Slack, low part of the tendons: the angle [rad] that it adds, and the torque [N m] that takes it up in a man of 73 kg.
The calf yields 30 degrees under 100 N m, of which its linear stiffness explains 14 to 23 (Hof, J. Biomechanics 31,
1998)."""

ROUNDED_POWER = 200.0
"""Power [W] within which the cost of muscle work is rounded; joints reach 1000 W, three times the power of a walk."""


def problem(
    speed: float = 3.0,
    mass: float = 73.0,
    height: float = 1.741,
    strength: float = 1.0,
    *,
    intervals: tuple[int, int, int, int] = INTERVALS,
) -> ocp.Problem:
    """One step, from the right heel's touch-down to the left's. strength: largest torques, times the model's."""
    if not 1.8 <= speed <= 6:
        raise ValueError(f"speed must lie between 1.8 and 6 m/s for a run, got {speed}")
    if not 0.8 <= strength <= 4:
        raise ValueError(f"strength must lie between 0.8 and 4 times that of the model, got {strength}")
    size = human_dimensions(height)
    body = _stronger(human(mass, height, root=od.FloatingBase()), strength)
    model, effort = human_walk.with_calf(body), _effort(body)
    right = human_walk.feet(model, size, "r", x=0.0, y=(-0.2, 0.0), yaw=-TOE_OUT)
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure())
    soles = {side: human_walk.sole_points(side, size) for side in "lr"}
    apart = human_walk.separation(size, 0.5)

    def swing(side: str, begin: float, end: float) -> ocp.Clearance:
        return ocp.Clearance(soles[side], CLEARANCE, part=(begin, end))

    paths: dict[str, tuple[tuple[ocp.Foothold, ...], tuple[Any, ...]]] = {
        "heel": ((right.heel,), (*contact, swing("l", 0.2, 0.3), apart)),
        "flat": ((right.flat,), (*contact, swing("l", 0.2, 0.5), apart)),
        "toes": ((right.toes,), (*contact, swing("l", 0.5, 0.8), apart)),
        "flight": ((), (swing("l", 0.8, 1.0), swing("r", 0.0, 0.2), apart)),
    }
    return ocp.Problem(
        model,
        [
            ocp.Phase(name, n, DURATIONS[name], feet, path, effort)
            for n, (name, (feet, path)) in zip(intervals, paths.items(), strict=True)
        ],
        periodic=ocp.Periodic(speed, transition=ocp.Impact(weight=1e-2)),
        per_distance=True,
        guess=ocp.FootPlan(strike=0.15, leave=math.radians(40.0), lift=0.15, crouch=0.05),
        torque="linear",
    )


def _stronger(body: od.Model, strength: float) -> od.Model:
    limits = zip(body.qd_names, body.dofs.tau_min, body.dofs.tau_max, strict=True)
    return body.with_limits(
        effort={name: (strength * float(a), strength * float(b)) for name, a, b in limits if np.isfinite(b)}
    )


def _effort(body: od.Model) -> tuple[Any, ...]:
    """The costs of effort; body: the model with the strengths that dynamometers measure."""
    model, size = human_walk.with_calf(body), body.mass / 73.0
    return (
        ocp.TorquePower(2.0, weight=100.0),
        ocp.TorqueRateSquared(weight=0.3, scale=model.dofs.strength()),
        ocp.JointWork(weight=0.1, smoothing=ROUNDED_POWER * size, tendons=_tendons(body)),
        ocp.PassiveTorqueSquared(weight=150.0, scale=body.dofs.strength()),
        ocp.AccelerationSquared(weight=1e-3),
        ocp.JointAngleSquared(weight=0.2, stiffness=human_walk.stiffness(model)),
    )


def _tendons(body: od.Model) -> list[ocp.Tendon]:
    """The tendons of calf and thigh of both legs."""
    size = body.mass / 73.0
    extension = dict(zip(body.qd_names, -body.dofs.tau_min, strict=True))
    stiffness = {f"ankle_{side}": human_walk.ACHILLES * size for side in "lr"}
    stiffness |= {f"knee_{side}": float(extension[f"knee_{side}"]) / STRETCH for side in "lr"}
    return [ocp.Tendon(dof, value, toe=TOE, toe_torque=TOE_TORQUE * size) for dof, value in stiffness.items()]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: contact, impulse at touch-down, joint torques, published figures."""
    model = solution.model
    *stance, flight = solution.phases
    flat, contact = stance[1], sum(phase.duration for phase in stance)
    return {
        "step_width_m": 2 * abs(float(flat.places["heel_r"][1])),
        "cadence_steps_per_min": 60 / solution.duration,
        "steps_per_s": 1 / solution.duration,
        "contact_s": contact,
        "flight_s": flight.duration,
        "duty_factor": contact / solution.duration / 2,
        "touch_down_impulse_Ns": _impulse(solution),
        **human_walk.peak_torques(solution),
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
    return {
        "contact_published_s": contact,
        "peak_force_published_body_weights": peak,
        "steps_per_s_published": 1 / (contact * mean),
    }


def _impulse(solution: ocp.Solution) -> float:
    """Magnitude of the impulse of the touch-down [N s]: the change of the body's momentum."""
    model, mirror = solution.model, np.array([1.0, -1.0, 1.0])  # the step begins with the mirror image of its end
    before, after = (
        np.array(od.center_of_mass_velocity(model, DM(phase.q[k]), DM(phase.qd[k]))).ravel()
        for phase, k in ((solution.phases[-1], -1), (solution.phases[0], 0))
    )
    return float(model.mass * np.linalg.norm(after - mirror * before))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=3.0, help="running speed [m/s], 1.8 to 6")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--strength", type=float, default=1.0, help="largest torques, times the model's")
    options, run = asked(
        arguments,
        argv,
        lambda o: problem(o.speed, o.mass, o.height, o.strength, intervals=QUICK if o.quick else INTERVALS),
    )
    solution = run.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"Human running at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
