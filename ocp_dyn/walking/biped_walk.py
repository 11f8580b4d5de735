"""A robot on two feet walks: one mirrored step of least effort, or several steps, again and again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.checks import is_pair, truth, whole, within
from .._base.types import repr_in_message
from ..ocp import (
    CenterOfPressure,
    Clearance,
    Continuous,
    FrictionCone,
    Impact,
    Parameter,
    Periodic,
    Phase,
    Problem,
    Solution,
)
from .biped import SOLES, Biped
from .margins import USUAL, Margins, check_margins
from .robots import LOADS, check_gravity, leg_length, one_number, robot_figures
from .strides import Strides, check_slope

SPEED = 0.17
"""Speed of a robot for which none is given, in sqrt(g l): 0.5 m/s for TALOS. People choose 0.45."""

DOUBLE, SINGLE = (0.05, 1.5), (0.7, 4.0)
"""Bounds on the times on both feet and on one foot, in sqrt(l/g), the time of a pendulum as long as the leg, l. People
at their own speed take 0.4 and 1.4 (step time 0.53 s, a fifth of it on both feet, l = 0.9 m; Perry & Burnfield, Gait
Analysis, 2010); the half period of a leg that swings as a straight rod is pi sqrt(2/3) = 2.6."""

FASTEST = 1.0
"""Largest Froude number v^2 / (g l) of a walk. Above it the weight cannot hold the body on its arc over a stiff leg
(Alexander, Physiol. Rev. 69, 1989); people begin to run at 0.5."""

LONGEST = 6.0
"""Largest time on both feet, in sqrt(l/g): four times the longest that is free."""

CLEARANCE = 0.045
"""Height of the swinging foot in the middle of its swing without margins, in lengths of the leg: 4 cm for TALOS."""

SLOW = 0.6
"""Speed limit of a joint of the legs, in sqrt(g/l), below which limits of speed hold all through a walk: Romeo's hips
turn by 18 degrees/s. IPOPT then starts with a larger barrier, 0.03 instead of 0.01: Romeo takes 55 instead of 107
iterations with it, TALOS 94 instead of 32."""


def biped_walk(
    robot: Biped,
    speed: float | None = None,
    *,
    step_length: float | None = None,
    step_width: float | None = None,
    step_time: float | None = None,
    steps: int | None = None,
    backward: bool = False,
    slope: float = 0.0,
    double_support: float | tuple[float, float] | None = None,
    clearance: float | None = None,
    impact: bool = False,
    margins: Margins | None = USUAL,
    intervals: tuple[int, int] = (6, 20),
    guess: Any = None,
) -> Problem:
    """A walk of least effort at a speed [m/s], by default 0.17 sqrt(g l) with legs of length l. It begins with the
    right foot's touchdown.

    On flat feet the step has double support, single support, and a landing without impact. On point feet it has single
    support only: as the swinging foot hits the ground the other leaves it. Durations and step width are free, forces
    lie in friction cones, centers of pressure inside the soles. Sizes and bounds follow from the length of the legs.

    step_length [m], step_width [m] between the soles' middles, step_time [s]: free by default. steps: in a period,
    which is mirrored for odd numbers; by default 1, or 2 for a robot whose sides differ. slope: rise per distance,
    negative downhill. double_support [s]: time on both feet, or its bounds. clearance [m] of the swinging foot: by
    default that of the margins. impact: the foot may hit the ground; solvers then need longer. Except in singular
    postures the impulse is zero, as the other foot cannot be pulled. margins: those of an operator; None: the walk may
    use all that the robot can do. intervals: in double and single support. guess: by default the robot stands bent.

    >>> walk = od.walking.biped_walk(od.walking.biped("heel_spring_biped"), 0.4)
    >>> [phase.name for phase in walk.phases]
    ['double_support', 'single_support']
    """
    backward, impact = truth(backward, "backward"), truth(impact, "impact")
    _check(robot, double_support, step_width, clearance, margins)
    check_slope(slope, FrictionCone())
    count, gravity = _count(robot, steps), float(np.linalg.norm(robot.model.gravity))
    step, speed = Strides(robot.model.name, robot.leg, gravity, SPEED, FASTEST).at(speed, step_length, step_time)
    flat = robot.sole is not None
    transition = Continuous() if flat and not impact else Impact(weight=1e-3 if flat else 1e-2)
    phases = _phases(robot, count, _intervals(intervals), clearance, double_support, step_width, margins)
    sign = -1.0 if backward else 1.0
    lengths = tuple(sorted(sign * count * x for x in step))
    return Problem(
        (robot if margins is None else margins.of(robot)).model,
        phases,
        transitions=[Continuous() if flat and k % 2 == 0 else transition for k in range(len(phases) - 1)],
        periodic=Periodic(sign * speed, mirror=count % 2 == 1, transition=transition, step_length=lengths),
        unactuated=robot.unactuated,
        posture=robot.posture,
        guess=guess,
        limits=robot.limits,
        integrator="gauss:2",  # with as many intervals the midpoint rule errs by 2 % in cost and 0.2 degrees per node
        torque="linear",
        loads=LOADS,
        parameters=(Parameter("slope", math.atan(slope)),) if slope else (),
        options=_options(robot),
    )


def _options(robot: Biped) -> dict[str, Any]:
    """Options of IPOPT: a first barrier below its default, 0.1, halves the iterations of some robots."""
    legs = {body for sole in SOLES for body in robot.model.path(robot.model.frame(sole).body)[1:]}
    dofs = [dof for body in legs for dof in robot.model.dofs_of(body)]
    slow = robot.limits and float(robot.model.dofs.qd_max[dofs].min()) * robot.time < SLOW
    return {"mu_init": 3e-2 if slow else 1e-2}


def _intervals(value: Any) -> tuple[int, int]:
    """Numbers of intervals in double and in single support."""
    if not is_pair(value):
        raise ValueError(
            f"intervals must be two whole numbers, in double and in single support, such as (6, 20), got "
            f"{repr_in_message(value)}"
        )
    return whole(value[0], "intervals in double support", 1), whole(value[1], "intervals in single support", 1)


def _check(robot: Any, double_support: Any, width: float | None, clearance: float | None, margins: Any) -> None:
    """TypeError for anything but a Biped and Margins; ValueError without gravity, for a time on both feet that points
    do not have, for feet that would stand on each other, and for sizes and times out of reach."""
    if not isinstance(robot, Biped):
        raise TypeError(
            f"biped_walk needs an od.walking.Biped, such as od.walking.biped(model, feet), got {repr_in_message(robot)}"
        )
    check_margins(margins)
    check_gravity(robot.model)
    if robot.sole is None and double_support is not None:
        raise ValueError(
            f"double_support: {robot.model.name} stands on points here, and goes from one to the other without a time "
            "on both: leave it out, or give the half length and half width of a sole"
        )
    for half in robot.sole or ():
        within(half, 0.0, robot.leg, f"sole: half sizes must lie between 0 and {robot.leg:.3g} m, the length of a leg")
    if clearance is not None:
        within(clearance, 0.0, robot.leg, f"clearance must lie between 0 and {robot.leg:.3g} m, the length of a leg")
    longest = LONGEST * robot.time
    for time in () if double_support is None else double_support if is_pair(double_support) else (double_support,):
        within(time, 0.0, longest, f"double_support must be a time, or its bounds, from 0 to {longest:.3g} s, which is "
               f"{LONGEST:g} times that of a pendulum as long as the leg")  # fmt: skip
    width = None if width is None else one_number(width, "step_width")
    least = 2 * robot.sole[1] if robot.sole else 0.0
    if width is not None and width > 2 * robot.leg:
        raise ValueError(f"step_width of {width:g} m is out of reach of legs of {robot.leg:.3g} m")
    if width is not None and not (math.isfinite(width) and width > least):
        raise ValueError(
            f"step_width must be more than the width of a sole, {least:g} m, or the feet stand on each other, got "
            f"{width:g}"
        )


def _count(robot: Biped, steps: int | None) -> int:
    """Steps of a period; ValueError for an odd number of steps of a robot whose sides differ."""
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 40):
        most = " and at most 40" if isinstance(steps, int) and steps > 40 else ""
        raise ValueError(f"steps must be a whole number, 1 or more{most}, got {steps!r}")
    if steps is not None and steps % 2 == 0:
        return steps
    if steps is not None and not robot.mirrored:
        raise ValueError(
            f"steps must be even for {robot.model.name}, whose left and right side differ, got {steps}: after an odd "
            "number of steps the period is a mirror image"
        )
    return steps or (1 if robot.mirrored else 2)


def _phases(
    robot: Biped,
    count: int,
    intervals: tuple[int, int],
    clearance: float | None,
    double: Any,
    width: float | None,
    margins: Margins | None,
) -> list[Phase]:
    """The phases of all steps; right feet land first, third, ..."""
    flat = robot.sole is not None
    contact: tuple[Any, ...] = (
        FrictionCone(),
        *([CenterOfPressure()] if flat else []),
    )  # its pyramid admits no pulling
    usual = CLEARANCE if margins is None else margins.clearance
    height = usual * robot.leg if clearance is None else clearance
    contact = (*contact, *(() if margins is None else margins.path(robot)))
    effort, (transfer, gradual) = robot.effort(), robot.transfer()
    soft = double is None or is_pair(double)  # a chosen time needs no cost
    lasting = tuple(robot.time * x for x in DOUBLE) if double is None else double
    single = tuple(robot.time * x for x in SINGLE)
    old = robot.foothold(SOLES[0])
    phases = []
    for k in range(count):
        here, other = (SOLES[1], SOLES[0]) if k % 2 == 0 else SOLES
        place = {"x": 0.0} if k == 0 else {}
        if k == 0 or (k == 1 and (count % 2 == 0)) or width is not None:
            place |= {"y": robot.beside(here, width)}
        new = robot.foothold(here, **place)
        label = "" if count == 1 else f"_{k + 1}"
        if flat:
            path = (*contact, *([gradual] if soft else []))
            costs = (*effort, *([transfer] if soft else []))
            name = f"double_support{label}"
            phases.append(Phase(name, intervals[0], lasting, (new, old), path, costs, robot.loops))
        swing = (*contact, Clearance(robot.corners(other), height), robot.separation())
        phases.append(Phase(f"single_support{label}", intervals[1], single, (new,), swing, effort, robot.loops))
        old = new
    return phases


def biped_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a robot's walk beside its summary: the robot, the size of its step, its times relative to a
    pendulum's."""
    model = solution.model
    length = leg_length(model, SOLES[0])
    double = sum(phase.duration for phase in solution.phases if phase.name.startswith("double_support"))
    speed = abs(solution.step_length) / solution.duration
    return {
        **robot_figures(model),
        "step_width_m": _width(solution),
        "leg_length_m": length,
        "froude_number": speed**2 / (float(np.linalg.norm(model.gravity)) * length),
        "double_support_percent_of_step": 100 * double / solution.duration,
    }


def _width(solution: Solution) -> float:
    """Distance of the feet across the direction of walking [m]."""
    if solution.mirror() is not None:
        return 2 * abs(float(solution.phases[0].places[SOLES[1]][1]))
    y = {name: float(place[1]) for phase in solution.phases for name, place in phase.places.items()}
    return y[SOLES[0]] - y[SOLES[1]]
