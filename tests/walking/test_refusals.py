"""Wrong arguments of walks: one error in words for each, before anything is built."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import ocp_dyn as od
from tests.walking.test_any_model import stepper, table

NAN, WEIGHTLESS = float("nan"), (0.0, 0.0, 0.0)
w = od.walking


@functools.cache
def robot() -> od.walking.Biped:
    return w.biped("heel_spring_biped")


@functools.cache
def walker() -> od.walking.Person:
    return w.person(still=True)


def light_robot() -> Any:
    made = robot()
    return w.Biped(made.model.with_gravity(WEIGHTLESS), made.posture, made.sole, made.limits, made.loops)


def light_walker() -> Any:
    return w.Person(walker().model.with_gravity(WEIGHTLESS), walker().measured, walker().size)


def stand(swinging: Any = "l", facing: Any = None) -> Any:
    flat = w.Stand("flat", (walker().feet("r").flat,), (0.0, 0.5))
    return w.stand_phase(walker(), flat, 6, (0.1, 0.4), swinging, (), facing=facing)


def steps(places: Any, first: Any = "r") -> Any:
    return w.step_phases(walker(), places, walker().feet("l"), (2, 2, 6, 6), 0.55, (), first=first)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: w.biped_walk(None), TypeError, r"needs an od.walking.Biped, such as od.walking.biped\(model, feet\), got"),
    (lambda: w.biped_walk(robot().model), TypeError, "needs an od.walking.Biped"),
    (lambda: w.biped_walk("talos"), TypeError, "needs an od.walking.Biped"),
    (lambda: w.human_walk(None), TypeError, "needs an od.walking.Person"),
    (lambda: w.human_walk(robot()), TypeError, "needs an od.walking.Person"),
    (lambda: w.trot(None), TypeError, "needs an od.walking.Quadruped"),
    (lambda: w.trot(robot()), TypeError, "needs an od.walking.Quadruped"),
    (lambda: w.biped(5), TypeError, "biped needs a robot: a Model, the path of its file, or a name"),
    (lambda: w.biped(None), TypeError, "biped needs a robot"),
    (lambda: w.biped(NAN), TypeError, "biped needs a robot"),
    (lambda: w.biped([]), TypeError, "biped needs a robot"),
    (lambda: w.quadruped(5), TypeError, "quadruped needs a robot"),
    (lambda: w.biped(robot().model, "foot"), ValueError, r"feet must be two names, \(left, right\), got 'foot'"),
    (lambda: w.biped(robot().model, 5), ValueError, "feet must be two names"),
    (lambda: w.biped(robot().model, ["foot"]), ValueError, "feet must be two names"),
    (lambda: w.biped(robot().model, [1, 2]), TypeError, "feet must be two names"),
    (lambda: w.biped(robot().model, sole_height=5.0), ValueError, "sole_height is the height of the frames in feet"),
    (lambda: w.biped("heel_spring_biped", lock_light="no"), TypeError, "lock_light must be True or False"),
    (lambda: w.biped("heel_spring_biped", limits=5), TypeError, "limits must be True or False"),
    (lambda: w.biped("heel_spring_biped", load="a"), TypeError, "load"),
    (lambda: w.biped(robot().model, locked=5), TypeError, "locked must be a sequence of names"),
    (lambda: w.biped(stepper(), ("right_foot", "left_foot")), ValueError, "feet must be named left first, then right"),
    (
        lambda: w.quadruped(table(), ("fr_paw", "fl_paw", "hr_paw", "hl_paw")),
        ValueError,
        "feet must be named left first, then right, got 'fr_paw' and 'fl_paw'",
    ),
    (lambda: w.biped_walk(robot(), "a"), TypeError, "speed must be one number, got 'a'"),
    (lambda: w.biped_walk(robot(), True), TypeError, "speed must be one number, got True"),
    (lambda: w.biped_walk(robot(), slope="a"), TypeError, "slope must be one number"),
    (lambda: w.biped_walk(robot(), step_length=(0.2, 0.4)), TypeError, "step_length must be one number"),
    (lambda: w.biped_walk(robot(), step_width="a"), TypeError, "step_width must be"),
    (lambda: w.biped_walk(robot(), intervals=0), ValueError, "intervals must be two whole numbers"),
    (lambda: w.biped_walk(robot(), intervals=(1,)), ValueError, "intervals must be two whole numbers"),
    (lambda: w.biped_walk(robot(), intervals=(2, 3, 4)), ValueError, "intervals must be two whole numbers"),
    (lambda: w.biped_walk(robot(), intervals=(0, 3)), ValueError, "intervals in double support must be at least 1"),
    (lambda: w.biped_walk(robot(), backward="no"), TypeError, "backward must be True or False"),
    (lambda: w.biped_walk(robot(), impact="no"), TypeError, "impact must be True or False"),
    (lambda: w.biped_walk(robot(), clearance=5.0), ValueError, "clearance must lie between 0 and 0.95"),
    (lambda: w.biped_walk(robot(), double_support=5.0), ValueError, "double_support must be a time"),
    (lambda: w.biped_walk(light_robot()), ValueError, "has no gravity, and a walk needs weight"),
    (lambda: w.human_walk(walker(), intervals=(0, 2, 3, 4)), ValueError, "intervals in loading must be at least 1"),
    (lambda: w.human_walk(walker(), backward="no"), TypeError, "backward must be True or False"),
    (lambda: w.human_walk(light_walker()), ValueError, "has no gravity, and a walk needs weight"),
    (lambda: w.human_walk(walker(), "a"), TypeError, "speed must lie between"),
    (lambda: w.person(still=5), TypeError, "still must be True or False, got 5"),
    (lambda: walker().feet("x"), ValueError, "side must be one of l, r, got 'x'"),
    (lambda: walker().feet_at("x", 0.0, 0.0), ValueError, "side must be one of l, r"),
    (lambda: stand(swinging="q"), ValueError, "swinging must be one of l, r, got 'q'"),
    (lambda: stand(facing="nope"), KeyError, "facing: no frame 'nope'"),
    (lambda: steps([walker().feet("r")], first="x"), ValueError, "first must be one of l, r"),
    (lambda: steps([]), ValueError, "footsteps must hold at least one place"),
    (lambda: w.gait_grid([NAN]), ValueError, r"speeds \[m/s\]: each must not hold NaN"),
    (lambda: w.gait_grid([-1.0]), ValueError, r"speeds \[m/s\]: each must be positive, got -1"),
    (lambda: w.gait_grid([]), ValueError, "speeds must hold at least one number"),
    (lambda: w.gait_grid([1.0], steps=[0.0]), ValueError, r"steps \[m\]: each must be positive"),
    (
        lambda: w.quadruped(table(), ("fl_paw", "fr_paw", "hl_paw", "hr_paw"), foot_radius=-1),
        ValueError,
        "^foot_radius",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_a_wrong_argument_is_an_error_in_words(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
