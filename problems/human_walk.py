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

The body may carry a load, have locked joints or prosthetic ones, walk backward (the toes touch the ground first, and the
heel leaves it last) and on slopes. A body that is not its own mirror image walks a stride of two steps, whose footholds
and phases are its own.

    python -m problems.human_walk [--speed 1.2] [--mass 73] [--height 1.741] [--sex male] [--quick] [--json] [--out DIR]
        [--load KG] [--lock JOINT ...] [--prosthesis JOINT ...] [--backward] [--slope RISE] [--steps N]
        [--step-length M] [--step-width M] [--step-time S] [--compile]
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, Literal

import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human_dimensions

from . import _steps, _walker
from ._command import asked, finish, parser, within
from ._human import (
    ACHILLES,
    CALF,
    CLEARANCE,
    HEEL,
    HEEL_RADIUS,
    PIVOT,
    ROUNDED_POWER,
    SHARES,
    STIFFNESS,
    TOE_OUT,
    TOE_RADIUS,
    UPPER,
    Feet,
    effort,
    feet,
    metabolism,
    peak_torques,
    separation,
    sole_points,
    step_length,
    stiffness,
    tendons,
    tissue,
    with_calf,
)
from ._walker import Joints

__all__ = [
    "ACHILLES",
    "CALF",
    "CLEARANCE",
    "GAIT",
    "HEEL",
    "HEEL_RADIUS",
    "INTERVALS",
    "PIVOT",
    "QUICK",
    "ROUNDED_POWER",
    "SHARES",
    "STIFFNESS",
    "TOE_OUT",
    "TOE_RADIUS",
    "UPPER",
    "Feet",
    "effort",
    "feet",
    "main",
    "metabolism",
    "numbers",
    "peak_torques",
    "problem",
    "separation",
    "sole_points",
    "step_length",
    "stiffness",
    "tendons",
    "tissue",
    "with_calf",
]
"""The parts of `_human` that other problems take from here, and the names of this problem."""

INTERVALS = (4, 2, 12, 13)
"""Numbers of intervals: heel strike to foot flat, to toe-off, to heel-off, to the next heel strike."""

QUICK = (2, 2, 6, 6)


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
    model: od.Model | None = None,
    guess: Any = None,
    step_length: Any = None,
    step_width: Any = None,
    step_time: Any = None,
    load: float = 0.0,
    locked: Joints = (),
    prosthesis: Joints = (),
    backward: bool = False,
    slope: float = 0.0,
    steps: int | None = None,
) -> ocp.Problem:
    """One step, from the right foot's strike to the left's; intervals in each of its four phases.

    still: trunk and arms are one rigid body, which leaves 18 dofs. toes: the feet have toes, which adds 2 dofs.

    model: another body, such as `od.models.human` with your changes or a load in its hand; mass, base and toes are then
    its own, and its feet have the size of a person of this height and sex. Its calves get the strength that walking
    needs, in proportion to that of its ankles (`_walker.strengthened`). guess: that of `ocp.Problem`.

    step_length [m], step_width [m] (between the heels), step_time [s]: of every step, a number, or (lower, upper); None:
    free. The speed is a mean over all steps: of a single step, and in the mean of several, one of length and time follows
    from the other.

    load [kg]: a rigid backpack. locked: names of joints that do not move, or a dict of their angles [rad]. prosthesis:
    names of joints with a spring and without muscles, or a dict of its stiffness [N m/rad].

    backward: the walker goes backward, on the toes first; step_length stays positive. slope: rise per distance along the
    horizontal, in the direction in which the body looks; it is the parameter "slope" [rad], which `solve(values=...)`
    changes. steps: number of steps until the motion repeats; None: 1, or 2 if the body is not its own mirror image.
    """
    size = human_dimensions(height, sex)
    plan = _steps.plan(speed, height, size, step_length, step_width, step_time)
    within(slope, -0.3, 0.3, "slope must lie between -0.3 and 0.3, where people walk on flat feet")
    if not isinstance(backward, bool):
        raise TypeError(f"backward must be True or False, got {backward!r}")
    if not isinstance(intervals, (tuple, list)) or len(intervals) != len(INTERVALS):
        raise ValueError(f"intervals must be {len(INTERVALS)} whole numbers, such as {INTERVALS}, got {intervals!r}")
    both = sorted(set(_walker.listed(locked)) & set(_walker.listed(prosthesis)))
    if both:
        raise ValueError(
            f"{both[0]!r} is both locked and prosthetic: a locked joint does not move; leave out one of both"
        )
    person = _walker.body(model, mass, height, sex, base=base, toes=toes, still=still)
    bare = _walker.with_prosthesis(_walker.locked_at(person, locked), prosthesis)
    walker = _walker.with_backpack(_walker.strengthened(bare, height, sex), load, height)
    symmetric = (model is None and not locked and not prosthesis) or _walker.is_symmetric(walker)
    count = _walker.steps_of(symmetric, steps)
    if backward and any(name.startswith("toes_") for name in walker.joint_names):
        raise ValueError("backward: feet with toes walk forward only; leave toes out, or lock toes_l and toes_r")
    return ocp.Problem(
        walker,
        plan.phases(walker, size, intervals, effort(bare), count, backward),
        periodic=plan.periodic(count, backward),
        boundary=plan.boundary(count),
        per_distance=True,
        guess=guess or _steps.foot_plan(backward),
        form=form,
        integrator=integrator or ("gauss:2" if form == "implicit" else ""),
        torque="linear",  # the cost of the rate of piecewise constant torques would depend on the grid
        unactuated=(*walker.floating_joints, *_walker.named(walker, prosthesis, "prosthesis")),
        parameters=(ocp.Parameter("slope", math.atan(slope)),) if slope else (),
    )


GAIT = (
    "stance_percent", "stance_knee_peak_deg", "push_off_moment_Nm_per_kg", "push_off_power_W_per_kg",
    "vertical_force_maxima", "braking_force_body_weights", "propelling_force_body_weights",
    "pelvis_rotation_range_deg", "pelvis_obliquity_range_deg",
)  # fmt: skip
"""Numbers of `Solution.gait` that the report takes over by these names."""


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: steps, the gait in the terms of gait analysis, joint torques.

    Gait analysis needs two legs with hip, knee and ankle and one stride: without it, the other numbers remain.
    """
    found = _steps.numbers(solution)
    try:
        gait = solution.gait().numbers()
    except ValueError:
        gait = {}
    if gait:
        double = gait["double_support_percent"] / 2  # gait analysis adds up both of a stride
        found |= {
            "step_width_m": gait["step_width_m"],
            "cadence_steps_per_min": gait["cadence_steps_per_min"],
            "double_support_s": double / 100 * gait["stride_time_s"],
            "double_support_percent_of_stride": double,
            "heel_off_percent_of_stride": gait["heel_off_percent"],
            "knee_flexion_in_swing_deg": gait["swing_knee_peak_deg"],
            **{name: gait[name] for name in GAIT},
        }
    if solution.phases[0].name == "loading":
        found |= {"heel_strike_to_flat_s": solution.phases[0].duration, "swing_clearance_m": _clearance(solution)}
    return found | {**peak_torques(solution), **_arm_swing(solution), **metabolism(solution).numbers()}


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


def _values(texts: list[str]) -> dict[str, float | None]:
    """Values by joint, from texts such as "ankle_r" (None) and "knee_r=0.3"."""
    found: dict[str, float | None] = {}
    for text in texts:
        name, given, value = text.partition("=")
        try:
            found[name] = float(value) if given else None
        except ValueError:
            raise ValueError(f"{text!r}: after = stands a number, as in knee_r=0.3, got {value!r}") from None
    return found


def _range(values: list[float] | None) -> Any:
    """A number, or (lower, upper), of an option with one or two values."""
    if values is None or len(values) == 1:
        return values[0] if values else None
    if len(values) > 2:
        raise ValueError(f"an option of one number, or of two as bounds, got {len(values)}: {values}")
    return tuple(values)


def _asked(o: argparse.Namespace) -> ocp.Problem:
    return problem(
        o.speed, o.mass, o.height, o.sex, intervals=QUICK if o.quick else INTERVALS, toes=o.toes, load=o.load,
        locked=_values(o.lock), prosthesis=_values(o.prosthesis), backward=o.backward, slope=o.slope, steps=o.steps,
        step_length=_range(o.step_length), step_width=_range(o.step_width), step_time=_range(o.step_time),
    )  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--speed", type=float, default=1.2, help="walking speed [m/s], 0.5 to 2.2")
    add("--mass", type=float, default=73.0, help="body mass [kg]")
    add("--height", type=float, default=1.741, help="stature [m]")
    add("--sex", choices=("male", "female"), default="male")
    add("--toes", action="store_true", help="feet with toes")
    add("--load", type=float, default=0.0, help="rigid backpack [kg]")
    add("--lock", nargs="+", default=[], metavar="JOINT[=ANGLE]", help="joints that do not move, at an angle [rad]")
    add("--prosthesis", nargs="+", default=[], metavar="JOINT[=K]", help="springs without muscles, K [N m/rad]")
    add("--backward", action="store_true", help="the walker goes backward, on the toes first")
    add("--slope", type=float, default=0.0, help="rise per distance, ahead of the body, -0.3 to 0.3")
    add("--step-length", type=float, nargs="+", metavar="M", help="length of a step [m]: a number, or bounds of two")
    add("--step-width", type=float, nargs="+", metavar="M", help="width between the heels [m]: one number or two")
    add("--step-time", type=float, nargs="+", metavar="S", help="time of a step [s]: one number or two")
    add("--steps", type=int, help="steps until the motion repeats")
    add("--compile", action="store_true", help="make all tables for machine code first; the cache keeps them")
    options, walk = asked(arguments, argv, _asked)
    solution = walk.solve(progress=not options.quiet, compile=True if options.compile else "auto")
    way = "walking backward" if options.backward else "walking"
    return finish(options, solution, lambda: numbers(solution), f"Human {way} at {options.speed:g} m/s")


if __name__ == "__main__":
    sys.exit(main())
