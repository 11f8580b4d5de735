"""A person walks on level ground or a slope: one mirrored step, or several steps, again and again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.checks import truth, whole, within
from .._base.types import repr_in_message
from ..ocp import FootPlan, Parameter, Problem
from .pace import pace
from .person import Person
from .robots import check_gravity
from .steps import FORWARD

INTERVALS = (4, 2, 12, 13)
"""Numbers of intervals: heel strike to foot flat, to toe-off, to heel-off, to the next heel strike."""


def human_walk(
    person: Person,
    speed: float = 1.2,
    *,
    step_length: Any = None,
    step_width: Any = None,
    step_time: Any = None,
    steps: int | None = None,
    backward: bool = False,
    slope: float = 0.0,
    intervals: tuple[int, int, int, int] = INTERVALS,
    form: str = "implicit",
    integrator: str = "",
    guess: Any = None,
) -> Problem:
    """A walk of least effort at a mean speed [m/s]. It begins with the strike of the right heel.

    The right foot rolls over its heel until it is flat; meanwhile the left foot pushes off on the edge under its toes.
    Then the body moves over the flat right foot, until its heel rises and it rolls over the toes' edge; the step ends
    with the strike of the left heel. The heel lands without an impulse, which would require the toes of the other foot,
    still on the ground, to pull.

    step_length [m], step_width [m] (between the heels), step_time [s]: of every step, a number, or (lower, upper);
    None: free. The speed is a mean over all steps: of a single step, and in the mean of several, one of length and time
    follows from the other. steps: number of steps until the motion repeats; None: 1, or 2 if the body is not its own
    mirror image.

    backward: the walker goes backward, on the toes first; step_length stays positive. slope: rise per distance along
    the horizontal, in the direction in which the body looks; it is the parameter "slope" [rad], which
    `solve(values=...)` changes. intervals: in the four parts of a step. form, integrator, guess: those of
    `ocp.Problem`.

    >>> walk = od.walking.human_walk(od.walking.person(still=True), 1.0, step_length=(0.5, 0.6))
    >>> [phase.name for phase in walk.phases]
    ['loading', 'push_off', 'flat', 'heel_off']
    """
    _check_walker(person)
    backward = truth(backward, "backward")
    steps_of = pace(person, speed, step_length, step_width, step_time)
    within(slope, -0.3, 0.3, "slope must lie between -0.3 and 0.3, where people walk on flat feet")
    if not isinstance(intervals, (tuple, list)) or len(intervals) != len(INTERVALS):
        raise ValueError(f"intervals must be {len(INTERVALS)} whole numbers, such as {INTERVALS}, got {intervals!r}")
    for name, number in zip(FORWARD, intervals, strict=True):
        whole(number, f"intervals in {name}", 1)
    if backward and any(name.startswith("toes_") for name in person.model.joint_names):
        raise ValueError("backward: feet with toes walk forward only; leave toes out, or lock toes_l and toes_r")
    count = _count(person, steps)
    return Problem(
        person.model,
        steps_of.phases(person, intervals, count, backward),
        periodic=steps_of.periodic(count, backward),
        boundary=steps_of.boundary(count),
        per_distance=True,
        guess=guess or foot_plan(backward),
        form=form,
        integrator=integrator or ("gauss:2" if form == "implicit" else ""),
        torque="linear",  # the cost of the rate of piecewise constant torques would depend on the grid
        unactuated=(*person.model.floating_joints, *person.prosthetic, *person.passive),
        parameters=(Parameter("slope", math.atan(slope)),) if slope else (),
    )


def _check_walker(person: Any) -> None:
    """TypeError for anything but a Person, ValueError without gravity."""
    if not isinstance(person, Person):
        raise TypeError(
            "human_walk needs an od.walking.Person, such as od.walking.person(73.0, 1.741), got "
            f"{repr_in_message(person)}"
        )
    check_gravity(person.model)


def foot_plan(backward: bool = False) -> FootPlan:
    """The first guess of a walk; backward, the toes come down and the heels leave at small angles."""
    return FootPlan(strike=math.radians(30.0), leave=math.radians(20.0)) if backward else FootPlan()


def _count(person: Person, steps: int | None) -> int:
    """The number of steps until the motion repeats: 1 or any number, if the body is its own mirror image, else an even
    one; None: the smallest."""
    if steps is None:
        return 1 if person.mirrored else 2
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or not 1 <= steps <= 40:
        raise ValueError(f"steps must be a whole number from 1 to 40, or None, got {steps!r}")
    if steps % 2 and not person.mirrored:
        raise ValueError(
            f"steps = {steps}: the body is not its own mirror image, so that its left and right steps differ: give an "
            "even number of steps, or None for a stride of two"
        )
    return int(steps)
