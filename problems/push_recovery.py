"""A person who stands is pushed and comes to rest again: with both feet in place, or by one or two steps.

The push is an impulse at the middle of the upper trunk, along the ground. It is short: the velocity changes at once, as in
an impact, while both feet stay where they are. From there on the body recovers with least effort until it stands at rest:
without steps in the posture in which it stood; with one step, wherever the foot lands; with two steps the other foot
comes down beside it. Where and when the feet land and how long it takes is for the solver to find.
`--impulse largest` finds the largest impulse from which the body recovers without excessive effort: one N s more would cost 1/SHARE of the
cost's unit. The model knows the push as soon as it happens, and its muscles lose no time but that of their activation.

    python -m problems.push_recovery [--impulse 20|largest] [--direction forward|backward|left|right] [--steps 0|1|2]
        [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human_dimensions

from . import _human, _steps, _walker
from ._command import asked, finish, parser, within
from ._human import Feet
from ._steps import Side, Stand

Direction = Literal["forward", "backward", "left", "right"]

TOWARDS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
"""Directions along the ground, x and y."""

INTERVALS = {"stand": 8, "off": 3, "swing": 12, "down": 3}
"""Numbers of intervals: on both feet, while a foot leaves the ground, in its swing, while it comes down."""

QUICK = {"stand": 5, "off": 2, "swing": 6, "down": 2}

STANDING = 24
"""Number of intervals without steps."""

DURATIONS = {
    "stand": (0.04, 0.5), "off": (0.04, 0.4), "swing": (0.15, 0.7), "half": (0.05, 0.5), "down": (0.03, 0.3),
    "rest": (0.3, 1.5),
}  # fmt: skip
"""Bounds on the durations of the parts [s]; rest: the last one."""

STANDING_TIME = (0.8, 2.5)
"""Bounds on the duration of a recovery without steps [s]."""

LARGEST = 150.0
"""Largest impulse that is considered [N s]."""

SHARE = 0.02
"""Weight of the effort beside the largest impulse [1/(N s)]. With half of it a body of 29 dofs gains by swinging its arms as far as they
go, and the solver does not converge."""

AHEAD, BENT = 0.05, math.radians(8.0)
"""Distance of the center of mass ahead of the ankles of a person who stands [m]; angle between thigh and vertical, because
straight legs are singular."""

STEEPEST = math.radians(50.0)
"""Largest pitch of the foot that stands behind, on its toes, after a step."""

ELBOW = 0.3
"""Flexion of the elbows of a person who stands [rad]."""

FARTHEST = 0.9
"""Farthest step [m]."""


def problem(
    impulse: float | None = 20.0,
    direction: Direction = "forward",
    steps: int = 0,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    still: bool = False,
    model: od.Model | None = None,
    guess: Any = None,
    quick: bool = False,
) -> ocp.Problem:
    """Recovery from an impulse [N s], by 0, 1 or 2 steps; None: from the largest one.

    The impulse is the parameter "impulse", which `solve(values=...)` changes. still: trunk and arms are one rigid body,
    which leaves 18 dofs. model, guess: as in `human_walk`.
    """
    if not isinstance(direction, str) or direction not in TOWARDS:
        raise ValueError(f"direction must be one of {', '.join(TOWARDS)}, got {direction!r}")
    if steps not in (0, 1, 2) or isinstance(steps, bool):
        raise ValueError(f"steps must be 0, 1 or 2, got {steps!r}")
    if impulse is not None:
        within(impulse, 0, LARGEST, f"impulse must lie between 0 and {LARGEST:g} N s")
    size = human_dimensions(height, sex)
    body = _walker.body(model, mass, height, sex, still=still)
    person, costs = _walker.strengthened(body, height, sex), _human.effort(body)
    q = standing(person, size)
    count = {name: (QUICK if quick else INTERVALS)[name] for name in INTERVALS}
    share = SHARE if impulse is None else 1.0
    costs = tuple(replace(cost, weight=share * cost.weight) for cost in costs)
    pushed = ocp.Parameter("impulse", 20.0 if impulse is None else impulse, (0.0, LARGEST) if impulse is None else None)
    return ocp.Problem(
        person,
        _phases(person, size, direction, steps, count, costs, quick),
        boundary=[_ends(person, q, direction, steps)],
        terminal=[ocp.Terminal(lambda start, end: -end.values["impulse"], name="impulse")] if impulse is None else [],
        parameters=[pushed],
        guess=guess or (ocp.FootPlan(crouch=0.01) if steps else ocp.Postures({0.0: q, 1.0: q})),
        posture=q,
        integrator="gauss:2",
        torque="linear",
    )


def standing(model: od.Model, size: HumanDimensions) -> np.ndarray:
    """q of a person who stands: both feet flat, knees bent by a little, the center of mass AHEAD of the ankles."""
    q = np.array(model.neutral(), dtype=float)
    for side in "lr":
        for joint, angle in (("knee", 2 * BENT), ("ankle", -BENT)):
            q[model.q_slice(f"{joint}_{side}")] = angle
        q[model.q_slice(f"hip_{side}").start] = -BENT
        if f"elbow_{side}" in model.joint_names:  # straight elbows could not give way to the push
            q[model.q_slice(f"elbow_{side}")] = -ELBOW
    q[2] = size.leg_length - (size.thigh + size.shank) * (1 - math.cos(BENT))
    for _ in range(4):
        q = _on_feet(model, size, q)
        ankle = float(od.point_position(model, "foot_l", DM(q))[0])
        q[0] += AHEAD - (float(od.center_of_mass(model, DM(q))[0]) - ankle)
    return _on_feet(model, size, q)


def _on_feet(model: od.Model, size: HumanDimensions, q: np.ndarray) -> np.ndarray:
    """The posture near q that has the pelvis of q, and both feet flat on the ground."""
    targets: list[Any] = [od.PointTarget("pelvis", q[:3]), od.OrientationTarget("pelvis", np.eye(3))]
    for side, out in (("l", 1.0), ("r", -1.0)):
        c, s = math.cos(_human.TOE_OUT), out * math.sin(_human.TOE_OUT)
        R, x = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), _middle(size)
        targets.append(od.PointTarget(f"heel_{side}", [0.0, out * size.hip_spacing / 2, 0.0] - R @ [x, 0.0, 0.0]))
        targets.append(od.OrientationTarget(f"heel_{side}", R))
    found = od.inverse_kinematics(model, targets, q)
    if not found.reached:
        raise ValueError(f"model {model.name!r} cannot stand on flat feet with its pelvis {q[2]:.3g} m high")
    return np.asarray(found.q)


def _middle(size: HumanDimensions) -> float:
    """Distance of the middle of the flat sole ahead of the rear of the heel [m]."""
    return (_human.HEEL + _human.PIVOT) / 2 * size.foot_length


def velocity_after(model: od.Model, q: Any, direction: Direction) -> Any:
    """Velocity after a push of 1 N s on a body at rest: both feet stay on the ground (Felis, Autonomous Robots 41, 2017,
    eq. 10-12), and `H qd = J' p + G' Lam`."""
    force = DM([*TOWARDS[direction], 0.0])
    J = od.point_jacobian(model, "upper_trunk", q)
    free = ca.solve(od.mass_matrix(model, q), J.T @ force)
    return od.impact(model, [od.Contact("heel_l"), od.Contact("heel_r")], q, free)[0]


def _phases(
    model: od.Model,
    size: HumanDimensions,
    direction: Direction,
    steps: int,
    count: dict[str, int],
    costs: Any,
    quick: bool,
) -> list[ocp.Phase]:
    """The phases between the push and rest."""
    x, wide = 0.0, size.hip_spacing / 2
    left, right = _steps.placed(model, size, "l", x, wide), _steps.placed(model, size, "r", x, -wide)
    if not steps:
        both = Stand("stand", (left.flat, right.flat), None)
        return [_steps.phase(both, STANDING // 2 if quick else STANDING, STANDING_TIME, "l", size, costs)]
    side: Side = "l" if direction == "left" else "r"
    here, other = (left, right) if side == "l" else (right, left)
    there = _landing(model, size, side, direction)
    stands = _first_step(side, here, there, other, direction)
    if steps == 2:
        swinging = _steps.other(side)
        stands += _second_step(swinging, _landing(model, size, swinging, direction), there, direction)
    last, swinging, _ = stands.pop()
    stands.append((Stand("rest", last.footholds, None), swinging, "rest"))
    kinds = {"rest": "stand", "half": "stand"}
    phases = [
        _steps.phase(stand, count[kinds.get(kind, kind)], DURATIONS[kind], swinging, size, costs)
        for stand, swinging, kind in stands
    ]
    low = _heel_low(size, _steps.other(side))
    return [replace(p, path=(*p.path, low)) if p.name in ("down", "landed", "rest") else p for p in phases]


def _heel_low(size: HumanDimensions, side: Side) -> ocp.Path:
    """The foot that stands on its toes tilts by STEEPEST at most: its tip would go into the ground."""
    height = math.sin(STEEPEST) * _human.PIVOT * size.foot_length
    return ocp.Path(lambda i: od.point_position(i.model, f"heel_{side}", i.q)[2], -np.inf, height, ends=True)


Part = tuple[Stand, Side, str]
"""A part of a step: its stand, the side of the foot that steps, and the kind of part."""


def _first_step(side: Side, here: Feet, there: Feet, other: Feet, direction: Direction) -> list[Part]:
    """The parts of the first step. Forward, the foot leaves over its toes and lands on its heel, and the other one rolls
    onto its toes; backward it is the other way round; to the side the foot is lifted and put down flat."""
    parts = {
        "forward": [
            (Stand("off", (here.toes, other.flat), None), "off"),
            (Stand("flat", (other.flat,), (0.0, 0.5)), "half"),
            (Stand("heel_off", (other.toes,), (0.5, 1.0)), "half"),
            (Stand("down", (there.heel, other.toes), None), "down"),
            (Stand("landed", (there.flat, other.toes), None), "stand"),
        ],
        "backward": [
            (Stand("off", (here.heel, other.flat), None), "off"),
            (Stand("swing", (other.flat,), (0.0, 1.0)), "swing"),
            (Stand("down", (there.toes, other.flat), None), "down"),
            (Stand("landed", (there.flat, other.flat), None), "stand"),
        ],
    }.get(direction) or [
        (Stand("stand", (here.flat, other.flat), None), "stand"),
        (Stand("swing", (other.flat,), (0.0, 1.0)), "swing"),
        (Stand("landed", (there.flat, other.flat), None), "stand"),
    ]
    return [(stand, side, kind) for stand, kind in parts]


def _second_step(side: Side, there: Feet, other: Feet, direction: Direction) -> list[Part]:
    """The parts of the second step, of the foot that stood."""
    lands = {"forward": [there.heel], "backward": [there.toes]}.get(direction, [])
    return [
        (Stand("second_swing", (other.flat,), (0.0, 1.0)), side, "swing"),
        *((Stand("second_down", (foot, other.flat), None), side, "down") for foot in lands),
        (Stand("second_landed", (there.flat, other.flat), None), side, "stand"),
    ]


def _landing(model: od.Model, size: HumanDimensions, side: Side, direction: Direction) -> Feet:
    """Footholds at which a foot may land."""
    out, wide = 1.0 if side == "l" else -1.0, size.hip_spacing / 2
    along = {"forward": (0.0, FARTHEST), "backward": (-FARTHEST, 0.0)}.get(direction, (-0.2, 0.2))
    across = {"left": (0.0, FARTHEST), "right": (-FARTHEST, 0.0)}.get(direction, (-0.15, 0.15))
    y = tuple(sorted((out * wide + across[0], out * wide + across[1])))
    return _steps.placed(model, size, side, along, y)


def _ends(model: od.Model, q: np.ndarray, direction: Direction, steps: int) -> ocp.Boundary:
    """The body stands at the start, with the velocity after the push, and rests at the end. The legs follow from the feet.

    Without steps, the posture at the end is that at the start; else the trunk is upright and the arms hang.
    """
    legs = ("hip", "knee", "ankle", "subtalar", "toes")
    dofs = [k for k, name in enumerate(model.qd_names) if not name.startswith(legs)]
    upper = [k for k, name in enumerate(model.q_names) if not name.startswith((*legs, *model.floating_joints))]
    after = np.array(velocity_after(model, DM(q), direction)).ravel()
    pushed = after[dofs]
    tilts = steps and direction in (
        "forward",
        "backward",
    )  # the foot that steps rolls over an edge at once: it starts flat
    knee, rate = model.q_names.index("knee_r"), model.qd_names.index("knee_r")
    behind = model.qd_names.index("knee_l")

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        first = [start.q[:6] - q[:6], start.q[upper] - q[upper], start.qd[dofs] - start.values["impulse"] * pushed]
        first += [start.q[knee] - q[knee], start.qd[rate] - start.values["impulse"] * after[rate]] if tilts else []
        last = [end.q[upper] - q[upper], end.qd[dofs]]
        last += [end.qd[behind]] if steps == 1 and direction == "forward" else []  # it stands on its toes
        last += [end.q[3:6]] if steps else [end.q[:6] - q[:6]]
        return ca.vertcat(*first, *last), 0.0, 0.0

    return ocp.Boundary(rows, "stands, and rests")


def impulse_of(recovery: ocp.Problem, solution: ocp.Solution) -> float:
    """The impulse of a recovery [N s], also where it was to be as large as possible."""
    (parameter,) = recovery.parameters
    return -solution.cost["impulse"] if parameter.free else float(np.ravel(parameter.value)[0])


def numbers(solution: ocp.Solution, impulse: float) -> dict[str, Any]:
    """Numbers of the report beside the summary: the impulse [N s], the way of the center of mass, steps, torques."""
    model = solution.model
    c = np.array([np.array(od.center_of_mass(model, DM(q)).full()).ravel() for q in solution.q])
    way = c - c[0]
    lean = np.degrees(
        np.arccos(np.clip([float(od.pose(model, "upper_trunk", DM(q))[0][2, 2]) for q in solution.q], -1, 1))
    )
    found: dict[str, Any] = {
        "impulse_N_s": impulse,
        "impulse_per_mass_m_per_s": impulse / model.mass,
        "center_of_mass_way_m": float(np.hypot(way[:, 0], way[:, 1]).max()),
        "trunk_lean_peak_deg": float(lean.max()),
    }
    for k, (begin, length) in enumerate(sorted(filter(None, (_stepped(solution, side) for side in "lr")))):
        found |= {f"step_{k + 1}_begins_s": begin, f"step_{k + 1}_length_m": length}
    return found | _human.peak_torques(solution)


def _stepped(solution: ocp.Solution, side: str) -> tuple[float, float] | None:
    """Time [s] at which a foot leaves the ground, and the length of its step [m]; None if it stays."""
    swings = [phase for phase in solution.phases if f"heel_{side}" not in phase.places]
    if not swings:
        return None
    here, there = (
        np.array(od.point_position(solution.model, f"heel_{side}", DM(q)).full()).ravel()
        for q in (solution.q[0], solution.q[-1])
    )
    return float(swings[0].t[0]), float(np.linalg.norm((there - here)[:2]))


def _impulse(text: str) -> float | None:
    return None if text == "largest" else float(text)


def _asked(o: argparse.Namespace) -> ocp.Problem:
    try:
        impulse = _impulse(o.impulse)
    except ValueError:
        raise ValueError(f"--impulse must be a number [N s] or the word largest, got {o.impulse!r}") from None
    still = o.model == "legs"
    return problem(impulse, o.direction, o.steps, o.mass, o.height, o.sex, still=still, quick=o.quick)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--impulse", default="20", help="impulse of the push [N s], or: largest")
    add("--direction", choices=tuple(TOWARDS), default="forward")
    add("--steps", type=int, choices=(0, 1, 2), default=0, help="number of steps")
    add("--model", choices=("legs", "human"), default="human", help="legs: trunk and arms rigid")
    add("--mass", type=float, default=73.0, help="body mass [kg]")
    add("--height", type=float, default=1.741, help="stature [m]")
    add("--sex", choices=("male", "female"), default="male")
    options, recovery = asked(arguments, argv, _asked)
    solution = recovery.solve(progress=not options.quiet)
    impulse = impulse_of(recovery, solution)
    title = f"Push {options.direction} with {impulse:.3g} N s, {options.steps} steps"
    return finish(options, solution, lambda: numbers(solution, impulse), title)


if __name__ == "__main__":
    sys.exit(main())
