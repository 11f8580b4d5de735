"""Whole-body human walking in 3-D: one periodic, mirrored step of least effort at a given speed.

A human of 29 dofs, any mass, height and sex. The step begins with the strike of the right heel. The right foot rolls
over its heel until it is flat; meanwhile the left foot pushes off on the edge under its toes. Then the body moves over
the flat right foot, until its heel rises and it rolls over the toes' edge; the step ends with the strike of the left
heel. Durations, step length and step width are free. The heel lands without an impulse, which would require the toes of
the other foot, still on the ground, to pull. Contacts push and do not pull, stay in their friction cones and keep the
center of pressure inside the sole or the edge.

The model has the passive torques of muscles at rest and ligaments (`od.models.passive_tissue`), and an Achilles tendon
in series with the muscles of the calf. The cost per distance adds up what effort costs a body:

- activation: the square of torque over strength, in the direction of the torque;
- the rate of the torques, which muscles that switch on and off pay for;
- metabolic energy of muscle work, four times the positive and 0.83 times the negative work;
- the square of the load on passive tissue: without it the walker hangs in its ligaments, at the ends of its joints;
- smaller terms: accelerations of the joints, and distance of the joints from the neutral posture.

The weights were chosen by hand, so that joint angles and forces at 1.3 m/s come near those of people; they are the same
for all bodies, speeds and slopes. No term refers to a measured gait.

The foot is rigid; it rolls over the edge at the fraction PIVOT of its length, where the toes of a real foot bend. With
--toes it has toes on a joint with a spring: when the heel rises they bend, roll on their round soles, and leave last.

    python -m problems.human_walk [--speed 1.2] [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal, NamedTuple

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human, human_dimensions

from ._command import asked, finish, parser

INTERVALS = (4, 2, 12, 13)
"""Numbers of intervals: heel strike to foot flat, to toe-off, to heel-off, to the next heel strike."""

QUICK = (2, 2, 6, 6)

PIVOT = 0.83
"""Distance from the heel of the edge over which the foot rolls onto its toes, as a fraction of the foot's length.

The center of pressure comes to about this point before the other heel strikes (Hansen et al., Effective foot length
ratio, J. Prosthet. Orthot. 16, 2004: 0.83 in able-bodied people).
"""

HEEL, HEEL_RADIUS = 0.12, 0.2
"""Distance from the rear of the heel to the point that first touches the ground, and radius of the heel's curve, as
fractions of the foot's length. The heel bone carries the load some 3 cm ahead of the rear of the heel. On a sharp edge
at the rear, the torque that lifts the toes would have to be almost twice as large, and the force would dip when the
foot gets flat."""

TOE_RADIUS = 0.3
"""Radius of the round sole of the toes, as a fraction of the foot's length; it touches the ground at the ball when the
toes are level. Assumed: so the toes, 0.28 of the foot's length, have rolled to their ends at 53 degrees, and that is about
the angle at which they leave the ground. Between 0.3 and 0.8 the gait hardly changes."""

CLEARANCE = 0.04
"""Height of the lowest point of the swinging foot, HEEL to PIVOT, in the middle of its swing [m]."""

TOE_OUT = math.radians(6.0)
"""Angle of the feet outwards; 5 to 7 degrees are normal in adults."""

CALF = 2.8
"""Strength of plantar flexion [N m/kg]. Dynamometers measure half of it at best (`ocp_dyn.models.joint_limits`), but the
ankle's moment reaches 3 N m/kg when people run at 3.5 m/s (Schache et al., Med. Sci. Sports Exerc. 43, 2011)."""

ACHILLES = 470.0
"""Stiffness of the Achilles tendon about the ankle [N m/rad] of a man of 73 kg and 1.741 m: 188 N/mm (Lichtwark & Wilson,
J. Exp. Biol. 208, 2005) at a lever arm of 50 mm. It scales with the mass."""

STIFFNESS = {
    "lumbar": 10.0, "hip": 3.0, "hip_l.rz": 12.0, "hip_r.rz": 12.0, "ankle": 3.0, "subtalar": 3.0, "shoulder": 3.0
}  # fmt: skip
"""Stiffness by which joints return to the neutral posture, relative to the knees'."""

ROUNDED_POWER = 60.0
"""Power [W] within which the cost of muscle work is rounded, so that the solver sees no corner."""

UPPER = {"lumbar": np.zeros(3)} | {
    f"{joint}_{side}": x for side in "lr" for joint, x in (("shoulder", np.zeros(3)), ("elbow", 0.0))
}
"""Joints of trunk and arms at rest."""

SHARES = {"loading": (0.04, 0.25), "push_off": (0.02, 0.3), "flat": (0.15, 0.8), "heel_off": (0.15, 0.75)}
"""Bounds on the durations of the phases, as fractions of the time that people take for a step at this speed: wide, so
that effort decides and not they. Normal in percent of a stride: foot flat after 7 to 8, the other foot leaves after 10
to 12, the heel rises at 31 to 40 (Perry & Burnfield, Gait Analysis, 2010)."""


class Feet(NamedTuple):
    """The footholds of one foot: the flat sole, and the edges at heel and toes."""

    flat: ocp.Foothold
    heel: ocp.Foothold
    toes: ocp.Foothold


def problem(
    speed: float = 1.2,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    base: str = "quaternion",
    form: str = "implicit",
    integrator: str = "",
    intervals: tuple[int, int, int, int] = INTERVALS,
    still: bool = False,
    toes: bool = False,
) -> ocp.Problem:
    """One step, from the right heel's strike to the left's; intervals in each of its four phases.

    still: trunk and arms are one rigid body, which leaves 18 dofs. toes: the feet have toes, which adds 2 dofs.
    """
    if not 0.5 <= speed <= 2.2:
        raise ValueError(f"speed must lie between 0.5 and 2.2 m/s for a walk that rolls over its feet, got {speed}")
    size = human_dimensions(height, sex)
    body = human(mass, height, sex, root=od.FloatingBase(base), toes=toes)
    if still:
        body = body.lock_joints(UPPER)
    model, effort = with_calf(body), _effort(body)
    right = feet(model, size, "r", x=0.0, y=(-0.2, -0.02), yaw=-TOE_OUT)
    left = feet(model, size, "l")
    muscles = ocp.Activation()  # torques cannot jump: muscles switch on in 15 ms, and off in 60 ms
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure(), muscles)
    apart = separation(size)
    corners = sole_points("l", size)
    rise, fall = (ocp.Clearance(corners, CLEARANCE, part=part) for part in ((0.0, 0.5), (0.5, 1.0)))
    stands: dict[str, tuple[tuple[ocp.Foothold, ...], tuple[Any, ...]]] = {
        "loading": ((right.heel, left.toes), contact),
        "push_off": ((right.flat, left.toes), contact),
        "flat": ((right.flat,), (*contact, rise, apart)),
        "heel_off": ((right.toes,), (*contact, fall, apart)),
    }
    time = step_length(speed, height) / speed
    phases = [
        ocp.Phase(name, n, (time * SHARES[name][0], time * SHARES[name][1]), feet, path, effort)
        for n, (name, (feet, path)) in zip(intervals, stands.items(), strict=True)
    ]
    return ocp.Problem(
        model,
        phases,
        periodic=ocp.Periodic(speed, transition=ocp.Continuous()),
        per_distance=True,
        guess=ocp.FootPlan(),
        form=form,
        integrator=integrator or ("gauss:2" if form == "implicit" else ""),
        torque="linear",  # the cost of the rate of piecewise constant torques would depend on the grid
    )


def step_length(speed: float, height: float) -> float:
    """Step length that people choose [m], in proportion to height and to the power 0.42 of the speed.

    0.66 m at 1.2 m/s and a height of 1.741 m (Grieve & Gear, 1966).
    """
    return 0.66 * height / 1.741 * math.pow(speed / 1.2, 0.42)


def with_calf(model: od.Model) -> od.Model:
    """The model with the strength of the calf muscles that running shows."""
    lower = dict(zip(model.qd_names, model.dofs.tau_min, strict=True))
    ankles = [f"ankle_{side}" for side in "lr"]
    return model.with_limits(effort={ankle: (float(lower[ankle]), CALF * model.mass) for ankle in ankles})


def feet(model: od.Model, size: HumanDimensions, side: str, **place: Any) -> Feet:
    """A foot flat on the ground from heel to pivot, its round heel, and the edge at the pivot; one place for the three.

    If the foot has toes it is flat up to their joint, and the round sole of the toes takes the place of the edge.
    """
    with_toes = f"toes_{side}" in model.joint_names
    rear, width = HEEL * size.foot_length, size.sole_half_breadth
    front = size.heel + size.ball if with_toes else PIVOT * size.foot_length
    radius = HEEL_RADIUS * size.foot_length
    heel = model.frame(f"heel_{side}")
    sole = od.Contact(heel, point=((rear + front) / 2, 0, 0))
    flat = ocp.Foothold(sole, half_length=(front - rear) / 2, half_width=width, **place)
    round_heel = od.RollingContact(heel, radius, center=(rear, 0, radius), axis=(0, 1, 0))
    toes = od.RollingContact(heel, radius=0.0, center=(front, 0, 0), axis=(0, 1, 0))
    if with_toes:
        radius = TOE_RADIUS * size.foot_length
        center = (size.ball - size.toe, 0, radius)
        toes = od.RollingContact(model.frame(f"toe_{side}"), radius, center=center, axis=(0, 1, 0))
    return Feet(flat, *(ocp.Foothold(edge, half_width=width, of=flat) for edge in (round_heel, toes)))


def sole_points(side: str, size: HumanDimensions) -> list[tuple[str, tuple[float, float, float]]]:
    """The corners of a sole from the point where the round heel begins to the pivot.

    The rear of the foot is not among them: it is above the round heel, and a sharp corner there would hit the ground
    before the heel strikes.
    """
    width, ends = size.sole_half_breadth, (HEEL * size.foot_length, PIVOT * size.foot_length)
    return [(f"heel_{side}", (x, y, 0.0)) for x in ends for y in (-width, width)]


def separation(size: HumanDimensions, breadths: float = 0.8) -> ocp.Separation:
    """Feet and knees pass each other side by side; breadths: distance of their middles, in breadths of a foot.

    0.8: heel and arch, which pass the other foot, are narrower than the ball of the foot, where its breadth is measured.
    """
    ends = (0.0, PIVOT * size.foot_length)
    soles = [(("heel_l", (x, 0, 0)), ("heel_r", (u, 0, 0))) for x in ends for u in ends]
    knees = (("shank_l", (0, 0, 0)), ("shank_r", (0, 0, 0)))
    # not at the ends of a swing: there both feet stand, and their footholds determine the distance
    return ocp.Separation([*soles, knees], breadths * size.foot_breadth, ends=False)


def _effort(body: od.Model) -> tuple[Any, ...]:
    """The costs of effort; body: the model with the strengths that dynamometers measure."""
    model = with_calf(body)
    return (
        ocp.TorquePower(2.0, weight=100.0),
        ocp.TorqueRateSquared(weight=0.45, scale=model.dofs.strength()),
        ocp.JointWork(weight=0.05, smoothing=ROUNDED_POWER, tendons=tendons(model)),
        ocp.PassiveTorqueSquared(weight=270.0, scale=_tissue(body)),
        ocp.AccelerationSquared(weight=7e-4),
        ocp.JointAngleSquared(weight=1.0, stiffness=stiffness(model)),
    )


def tendons(model: od.Model) -> list[ocp.Tendon]:
    """The Achilles tendons, in series with the muscles of the calves."""
    return [ocp.Tendon(f"ankle_{side}", ACHILLES * model.mass / 73.0) for side in "lr"]


def metabolism(solution: ocp.Solution) -> ocp.Metabolism:
    """Metabolic rate of a walk by the formula of Minetti and Alexander (`ocp.MetabolicRate`), which the walk does not
    minimize, and 1.2 W/kg at rest."""
    return solution.metabolic_rate(ocp.MetabolicRate(tendons=tendons(solution.model)))


def _tissue(body: od.Model) -> np.ndarray:
    """Torques with which loads of tissue are compared [N m]: the strength; the tendons of the sole are made to be
    loaded, and their spring at the toes costs almost nothing."""
    toes = np.array([name.startswith("toes") for name in body.qd_names])
    return np.where(toes, 1e3, body.dofs.strength())


def stiffness(model: od.Model) -> np.ndarray:
    """Stiffness of passive tissue per dof (nv), relative to the knees'."""
    found = np.ones(model.nv)
    for prefix, value in STIFFNESS.items():
        found[[name.startswith(prefix) for name in model.qd_names]] = value
    return found


GAIT = (
    "stance_percent", "stance_knee_peak_deg", "push_off_moment_Nm_per_kg", "push_off_power_W_per_kg",
    "vertical_force_maxima", "braking_force_body_weights", "propelling_force_body_weights",
    "pelvis_rotation_range_deg", "pelvis_obliquity_range_deg",
)  # fmt: skip
"""Numbers of `Solution.gait` that the report takes over by these names."""


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the gait in the terms of gait analysis, joint torques."""
    gait = solution.gait().numbers()
    double = gait["double_support_percent"] / 2  # gait analysis adds up both of a stride
    return {
        "step_width_m": gait["step_width_m"],
        "cadence_steps_per_min": gait["cadence_steps_per_min"],
        "heel_strike_to_flat_s": solution.phases[0].duration,
        "double_support_s": double / 100 * gait["stride_time_s"],
        "double_support_percent_of_stride": double,
        "heel_off_percent_of_stride": gait["heel_off_percent"],
        "swing_clearance_m": _clearance(solution),
        **peak_torques(solution),
        "knee_flexion_in_swing_deg": gait["swing_knee_peak_deg"],
        **_arm_swing(solution),
        **{name: gait[name] for name in GAIT},
        **metabolism(solution).numbers(),
    }


def peak_torques(solution: ocp.Solution) -> dict[str, float]:
    """Largest torques [N m] of the right leg, the lower back and the right shoulder, in the sagittal plane."""
    shown = ("hip_r.ry", "knee_r", "ankle_r", "lumbar.ry", "shoulder_r.ry")
    return {
        f"peak_torque_{name.replace('.', '_')}_Nm": float(np.abs(solution.tau[:, k]).max())
        for k, name in enumerate(solution.model.qd_names)
        if name.startswith(shown)
    }


def _arm_swing(solution: ocp.Solution) -> dict[str, float]:
    model = solution.model
    if "shoulder_l" not in model.joint_names:
        return {}
    return {"arm_swing_deg": float(np.degrees(np.ptp(solution.q[:, model.q_slice("shoulder_l")][:, 0])))}


def _clearance(solution: ocp.Solution) -> float:
    """Height of the lower end of the swinging sole's midline when the other heel rises [m]."""
    heel, middle = (
        float(od.point_position(solution.model, frame, DM(solution.phases[-1].q[0]))[2])
        for frame in ("heel_l", "sole_l")
    )
    return min(heel + 2 * part * (middle - heel) for part in (HEEL, PIVOT))


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--speed", type=float, default=1.2, help="walking speed [m/s], 0.5 to 2.2")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--sex", choices=("male", "female"), default="male")
    arguments.add_argument("--toes", action="store_true", help="feet with toes")
    options, walk = asked(
        arguments,
        argv,
        lambda o: problem(o.speed, o.mass, o.height, o.sex, intervals=QUICK if o.quick else INTERVALS, toes=o.toes),
    )
    solution = walk.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"Human walking at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
