"""Recovery from a push: a person who stands is pushed at the trunk, and comes to rest again, with or without a step.

The push is an impulse on the trunk in a horizontal direction. It acts at once: the feet stay on the ground, and the body
starts with the velocities that it gives to the joints, those of an impact with both feet held and a stiff trunk. Without a step both feet
stay where they are, flat: ankles, hips and arms bring the body back to the posture from which it was pushed. With one
step a foot is set down where the solver wants it; with two the other foot follows. In the end the body stands at rest
with its center of mass between the feet. The cost is that of `human_walk`, over time instead of distance. The body knows
of the push at once, and its muscles need 15 ms to switch on: people take about 0.1 s longer to react.

With --largest the impulse is not given: the solver finds the largest one.

    python -m problems.push_recovery [--impulse 20] [--direction forward] [--steps 0] [--largest] [--human]
        [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human, human_dimensions

from . import _human
from ._command import asked, finish, parser

DIRECTIONS = {
    "forward": (1.0, 0.0, 0.0),
    "backward": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
}
"""Directions of the push, world axes; the person looks along x."""

INTERVALS = 12
"""Number of intervals of a phase on one foot, and of the last one; the phase before a step has half of them."""

QUICK = 10

BENT = math.radians(8.0)
"""Angle between thigh and vertical of the standing body; straight legs are singular."""

ELBOW = 0.3
"""Flexion of the elbows of the standing body [rad]."""

AHEAD = 0.05
"""Distance of the center of mass ahead of the ankles of the standing body [m]."""

CHEST = 0.25
"""Height of the pushed point above the lumbar joint, as a fraction of the height from there to the vertex."""

LARGEST_IMPULSE = 150.0
"""Bound on the impulse [N s]."""

ROOM = 0.8
"""Bound on the distance of a step from the place where the foot stood [m]."""

Direction = Literal["forward", "backward", "left", "right"]


def problem(
    impulse: float = 20.0,
    direction: Direction = "forward",
    steps: int = 0,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    largest: bool = False,
    still: bool = True,
    intervals: int = INTERVALS,
) -> ocp.Problem:
    """Standing, after a push of this impulse [N s], with 0, 1 or 2 steps.

    largest: the impulse is free and as large as possible; `impulse` is its first guess. still: trunk and arms are one
    rigid body, which leaves 18 dofs.
    """
    _check(impulse, direction, steps)
    size = human_dimensions(height, sex)
    body = human(mass, height, sex, root=od.FloatingBase())
    body = body.lock_joints(_human.UPPER) if still else body
    model = _human.with_calf(body)
    q0 = standing(model, size)
    phases = _phases(model, size, direction, steps, intervals, _human.effort(body))
    kick = velocities(model, phases[0].footholds, q0, direction)
    push = ocp.Parameter("impulse", impulse, bounds=(0.0, LARGEST_IMPULSE) if largest else None)
    return ocp.Problem(
        model,
        phases,
        boundary=[_pushed(model, q0, kick), _at_rest(model, size, q0, steps)],
        parameters=[push],
        terminal=[ocp.Terminal(lambda start, end: -end.values["impulse"], 10.0, "impulse")] if largest else [],
        posture=q0,
        guess=ocp.FootPlan() if steps else ocp.Postures({0.0: q0, 1.0: q0}),
        integrator="gauss:2",
        torque="linear",
    )


def _check(impulse: float, direction: str, steps: int) -> None:
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}")
    if steps not in (0, 1, 2):
        raise ValueError(f"steps must be 0, 1 or 2, got {steps}")
    if not 0 <= impulse <= LARGEST_IMPULSE:
        raise ValueError(f"impulse must lie between 0 and {LARGEST_IMPULSE:g} N s, got {impulse}")


def standing(model: od.Model, size: HumanDimensions) -> np.ndarray:
    """The posture (nq) from which the body is pushed: upright on parallel feet, knees bent by 2 BENT or so.

    The lean of the shanks follows from the place of the center of mass, AHEAD of the ankles.
    """

    def posture(shank: float) -> np.ndarray:
        q = np.array(model.neutral(), dtype=float)
        for side in "lr":
            q[model.q_slice(f"hip_{side}")] = (-BENT, 0.0, 0.0)
            q[model.q_slice(f"knee_{side}")] = BENT + shank
            q[model.q_slice(f"ankle_{side}")] = -shank
            if f"elbow_{side}" in model.joint_names:  # a push would straighten straight arms beyond their limits
                q[model.q_slice(f"elbow_{side}")] = -ELBOW
        q[0] = size.shank * math.sin(shank) - size.thigh * math.sin(BENT)  # the ankles are at x = 0
        q[2] = size.ankle_height + size.shank * math.cos(shank) + size.thigh * math.cos(BENT)
        return q

    def ahead(shank: float) -> float:
        return float(od.center_of_mass(model, DM(posture(shank)))[0]) - AHEAD

    low, high = 0.0, 0.5
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if ahead(middle) < 0 else (low, middle)
    return posture(low)


def velocities(model: od.Model, feet: Any, q0: np.ndarray, direction: str) -> np.ndarray:
    """Velocities (nv) after a push of 1 N s: H qd = J' p + G' Lam, G qd = 0, both feet held; trunk and arms move as
    one body, because a push on a loose spine would whip the pelvis backward."""
    H = od.mass_matrix(model, DM(q0))
    G = od.constraint_jacobian(model, [f.contact for f in feet], DM(q0))
    stiff = [k for k in _free(model) if k >= 6]
    G = ca.vertcat(G, DM.eye(model.nv)[stiff, :])
    frame = "torso" if "lumbar" in model.joint_names else "upper_trunk"
    point = _chest(model, q0, frame)
    J = od.point_jacobian(model, frame, DM(q0), point)
    n = G.shape[0]
    K = ca.blockcat([[H, -G.T], [G, DM(n, n)]])
    p = J.T @ DM(DIRECTIONS[direction])
    return np.array(ca.solve(K, ca.vertcat(p, DM(n, 1))).full()).ravel()[: model.nv]


def _chest(model: od.Model, q0: np.ndarray, frame: str) -> tuple[float, float, float]:
    """The pushed point in the coordinates of a frame of the upright trunk."""
    above, head = (float(od.point_position(model, name, DM(q0))[2]) for name in (frame, "head"))
    low = float(od.point_position(model, "pelvis", DM(q0))[2])
    return 0.0, 0.0, low + 0.45 * (head - low) - above


def _phases(model: od.Model, size: HumanDimensions, direction: str, steps: int, n: int, costs: Any) -> list[ocp.Phase]:
    """Both feet; with steps one foot, both feet, and once more for the second step."""
    path = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure(), ocp.Activation())
    spread, x = size.hip_spacing / 2, -size.heel + (_human.HEEL + _human.PIVOT) / 2 * size.foot_length
    first = "l" if direction == "left" else "r"
    out = {"l": 1.0, "r": -1.0}
    on = {s: _human.feet(model, size, s, x=x, y=out[s] * spread).flat for s in "lr"}
    if not steps:
        if direction in ("forward", "backward"):  # bends of one knee and turns of the pelvis cost almost nothing
            costs = (*costs, ocp.Integral(lambda i: ca.sumsqr(i.q[[1, 3, 5]]), 1e3, "asymmetry"))
        return [ocp.Phase("recover", 2 * n, (0.5, 2.5), tuple(on.values()), path, costs)]
    found = [ocp.Phase("stand", n // 2, (0.05, 0.4), tuple(on.values()), path, costs)]
    for k, side in enumerate((first, "l" if first == "r" else "r")[:steps]):
        stays = on["l" if side == "r" else "r"]
        on[side] = _human.feet(model, size, side, **_places(direction, x, out[side] * spread), yaw=(-0.2, 0.2)).flat
        swing = ocp.Clearance(_human.sole_points(side, size), _human.CLEARANCE)
        last = k == steps - 1
        found += [
            ocp.Phase(f"swing_{k + 1}", n, (0.2, 0.7), (stays,), (*path, swing, _human.separation(size)), costs),
            ocp.Phase("recover" if last else "both", n if last else n // 2, (0.2, 1.5) if last else (0.05, 0.5),
                      tuple(on.values()), path, costs),
        ]  # fmt: skip
    return found


def _places(direction: str, x: float, y: float) -> dict[str, tuple[float, float]]:
    """Bounds on the place of a step, from the place (x, y) of the foot before: ahead in the direction of the push; the
    feet keep to their sides."""
    dx, dy, _ = DIRECTIONS[direction]
    along = (x + ROOM * min(dx, 0.0), x + ROOM * max(dx, 0.0)) if dx else (x - 0.2, x + 0.2)
    aside = (y, y + ROOM * dy) if y * dy > 0 else (0.5 * y, 1.5 * y) if not dy else (0.4 * y, y)
    return {"x": along, "y": (min(aside), max(aside))}


def _free(model: od.Model) -> list[int]:
    """Dofs that flat feet do not determine: pelvis, trunk, arms."""
    return [k for k, name in enumerate(model.qd_names) if name.startswith(("root", "lumbar", "shoulder", "elbow"))]


def _pushed(model: od.Model, q0: np.ndarray, kick: np.ndarray) -> ocp.Boundary:
    """The standing posture, with the velocities after the push."""
    free, shift = _free(model), model.nq - model.nv
    entries = [*range(6), *(k + shift for k in free if k >= 6)]

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        return (
            ca.vertcat(start.q[entries] - q0[entries], start.qd[free] - kick[free] * start.values["impulse"]),
            0.0,
            0.0,
        )

    return ocp.Boundary(rows, "pushed")


def _at_rest(model: od.Model, size: HumanDimensions, q0: np.ndarray, steps: int) -> ocp.Boundary:
    """Rest: in the posture before the push, or after steps upright with the center of mass between the feet."""
    free, shift = _free(model), model.nq - model.nv
    upper = [k + shift for k in free if k >= 6]

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
        q = end.q
        if not steps:
            entries = [*range(6), *upper]
            return ca.vertcat(q[entries] - q0[entries], end.qd[free]), 0.0, 0.0
        middle = sum(od.point_position(model, f"sole_{side}", q) for side in "lr") / 2
        gap = (od.center_of_mass(model, q) - middle)[:2]
        lowest = ca.vertcat(gap, q[3:6], q[upper] - q0[upper], end.qd[free])
        room = np.array([0.03, 0.03, 0.05, 0.05, 0.1, *(0.1,) * len(upper), *(0.0,) * len(free)])
        return lowest, -room, room

    return ocp.Boundary(rows, "at rest")


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the push, the places of steps, how far the body goes, torques."""
    model = solution.model
    values = dict(zip(solution.record.parameters, solution.record.values, strict=True)) if solution.record else {}
    com = np.array([od.center_of_mass(model, DM(q)).full().ravel() for q in solution.q])
    speed = np.array(od.center_of_mass_velocity(model, DM(solution.q[0]), DM(solution.qd[0])).full()).ravel()
    found: dict[str, Any] = {
        "impulse_Ns": float(values["impulse"]) if "impulse" in values else model.mass * float(np.hypot(*speed[:2])),
        "speed_after_push_m_per_s": float(np.hypot(*speed[:2])),
        "excursion_m": float(np.hypot(*(com[:, :2] - com[0, :2]).T).max()),
    }
    for phase in (p for p in solution.phases if p.name.startswith("swing")):
        side = "l" if "heel_r" in phase.places else "r"
        last = solution.phases[-1].places[f"heel_{side}"]
        first = solution.phases[0].places[f"heel_{side}"]
        found[f"{phase.name}_m"] = float(np.hypot(*(last - first)[:2]))
    return {**found, **_human.peak_torques(solution)}


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    add = arguments.add_argument
    add("--impulse", type=float, default=20.0, help="impulse of the push [N s]")
    add("--direction", choices=tuple(DIRECTIONS), default="forward")
    add("--steps", type=int, default=0, help="0, 1 or 2 steps")
    add("--largest", action="store_true", help="the largest impulse from which the body recovers")
    add("--human", action="store_true", help="all 29 dofs; without, trunk and arms are one rigid body")
    add("--mass", type=float, default=73.0, help="body mass [kg]")
    add("--height", type=float, default=1.741, help="stature [m]")
    options, motion = asked(
        arguments, argv,
        lambda o: problem(o.impulse, o.direction, o.steps, o.mass, o.height, largest=o.largest, still=not o.human,
                          intervals=QUICK if o.quick else INTERVALS),
    )  # fmt: skip
    solution = motion.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), f"Recovery from a push {options.direction}")


if __name__ == "__main__":
    sys.exit(main())
