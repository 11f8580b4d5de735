"""Standing up from a chair, and sitting down: from rest to rest, with least effort.

The body sits at rest on the edge that joins the two points of the pelvis on which people sit (the frame `seat` of
`od.models.human`), with both feet flat on the ground. It shifts its weight forward on the seat, leaves it, rises, and
ends at rest, upright. The pelvis rolls over the edge while it sits; the seat pushes and does not pull, in its friction
cone, and its center of pressure stays between the two points. When the seat is left, how long each part takes, how far
the trunk leans and how the arms swing follow from the cost: that of `human_walk`, over time instead of distance. The feet
stand so far back that the shanks lean forward by SHANK at the start.

    python -m problems.sit_to_stand [--down] [--seat-height 0.45] [--arms free] [--mass 73] [--height 1.741] [--sex male]
        [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions, human, human_dimensions

from . import _human
from ._command import asked, finish, parser

INTERVALS = (12, 16)
"""Numbers of intervals: on the seat, and on the feet alone."""

QUICK = (8, 10)

DURATIONS = {"seated": (0.2, 1.5), "rise": (0.4, 2.0)}
"""Bounds on the durations of the parts [s]."""

SEAT_HEIGHTS = (0.35, 0.65)
"""Range of the seat's height [m]."""

SHANK = math.radians(15.0)
"""Angle of the shanks at the start, forward of the vertical: people draw their feet back before they rise."""

BENT = math.radians(5.0)
"""Angle between thigh and vertical at the end; straight legs are singular."""

AHEAD = 0.05
"""Distance of the center of mass ahead of the ankles at the end [m]."""

RESTING = {"shoulder": (-0.3, 0.0, 0.0), "elbow": (-1.0,)}
"""Arms of a sitting body, the hands on the thighs."""

CROSSED = {"shoulder": (-0.7, 0.0, -0.9), "elbow": (-1.9,)}
"""Arms crossed before the chest, left side."""

Arms = Literal["free", "hanging", "crossed"]


STEEPEST = 4.0
"""Rate at which the seat's force may fall to zero, in body weights per duration of the time on the seat."""


class Chair(NamedTuple):
    """The seat's height and the place of the ankles ahead of the hip joints [m], and the angles of the legs."""

    height: float
    ankles: float
    hip: float
    knee: float
    ankle: float


def problem(
    seat_height: float = 0.45,
    mass: float = 73.0,
    height: float = 1.741,
    sex: Literal["male", "female"] = "male",
    *,
    down: bool = False,
    arms: Arms = "free",
    still: bool = False,
    intervals: tuple[int, int] = INTERVALS,
) -> ocp.Problem:
    """Standing up; intervals on the seat and on the feet alone.

    down: sitting down. arms: "free", or held "hanging" or "crossed". still: trunk and arms are one rigid body, which
    leaves 18 dofs.
    """
    size = human_dimensions(height, sex)
    chair = _chair(size, seat_height)
    body = human(mass, height, sex, root=od.FloatingBase()).lock_joints(_locked(arms, still))
    model, effort = _human.with_calf(body), _effort(body)
    feet = tuple(
        _human.feet(model, size, side, x=_sole(size, chair), y=y, yaw=math.copysign(_human.TOE_OUT, y)).flat
        for side, y in (("r", -size.hip_spacing / 2), ("l", size.hip_spacing / 2))
    )
    contact = (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure(), ocp.Activation())
    chair_edge = seat(model, size, seat_height)
    fade = ocp.Path(
        lambda i: i.wrenches[chair_edge][5] / model.weight - (i.s if down else 1 - i.s) * STEEPEST,
        -np.inf,
        0.0,
        "interval",
    )
    above = ocp.Clearance([("seat", (0, 0, 0))], height=0.0, terrain=lambda x, y: seat_height)
    seated = ocp.Phase("seated", intervals[0], DURATIONS["seated"], (chair_edge, *feet), (*contact, fade), effort)
    rise = ocp.Phase("rise", intervals[1], DURATIONS["rise"], feet, (*contact, above), effort)
    sitting, standing = _sitting(model), _standing(model, size)
    postures: list[dict[str, Any]] = [_seated_posture(model, chair), _leaning(model, chair), _upright(model)]
    if down:
        phases, ends, postures = [rise, seated], (standing, sitting), postures[::-1]
    else:
        phases, ends = [seated, rise], (sitting, standing)
    return ocp.Problem(
        model,
        phases,
        boundary=[ocp.Boundary(lambda start, end: _at_rest(model, ends, start, end), "at rest")],
        guess=ocp.Postures(list(zip((0.0, 0.55 if down else 0.45, 1.0), postures, strict=True))),
        integrator="gauss:2",
        torque="linear",
    )


def _effort(body: od.Model) -> tuple[Any, ...]:
    """The costs of walking, without the distance of the legs from the upright posture: a seated body is at rest too."""
    model = _human.with_calf(body)
    legs = np.array([name.startswith(("hip", "knee", "ankle", "subtalar")) for name in model.qd_names])
    posture = ocp.JointAngleSquared(weight=1.0, stiffness=np.where(legs, 0.0, _human.stiffness(model)))
    return tuple(posture if isinstance(cost, ocp.JointAngleSquared) else cost for cost in _human.effort(body))


def seat(model: od.Model, size: HumanDimensions, height: float) -> ocp.Foothold:
    """The seat of a chair at this height [m]: an edge of the pelvis, which it rolls over."""
    edge = od.RollingContact(model.frame("seat"), radius=0.0, center=(0, 0, 0), axis=(0, 1, 0))
    return ocp.Foothold(edge, x=0.0, y=0.0, half_width=size.seat_breadth / 2, plane=ocp.Plane((0.0, 0.0, height)))


def _chair(size: HumanDimensions, seat_height: float) -> Chair:
    """Place of the ankles and angles of the legs of a body that sits upright, its shanks forward by SHANK."""
    low, high = SEAT_HEIGHTS
    if not low <= seat_height <= high:
        raise ValueError(f"seat_height must lie between {low} and {high} m, got {seat_height}")
    knee = size.ankle_height + size.shank * math.cos(SHANK)
    drop = seat_height + size.seat_depth - knee
    thigh = math.asin(drop / size.thigh)  # below the horizontal
    ankles = size.thigh * math.cos(thigh) - size.shank * math.sin(SHANK)
    hip = -(math.pi / 2 - thigh)
    return Chair(seat_height, ankles, hip, SHANK - hip, -SHANK)


def _sole(size: HumanDimensions, chair: Chair) -> float:
    """Place of the middle of the sole, along x."""
    return chair.ankles - size.heel + (_human.HEEL + _human.PIVOT) / 2 * size.foot_length


def _arm(angles: dict[str, tuple[float, ...]], model: od.Model | None = None) -> dict[str, tuple[float, ...]]:
    """Angles of both arms from those of the left one; without those that the model does not have."""
    signs = {"l": np.ones(3), "r": np.array([1.0, -1.0, -1.0])}
    found = {
        f"{joint}_{side}": tuple(float(x) for x in np.array(values) * sign[: len(values)])
        for side, sign in signs.items()
        for joint, values in angles.items()
    }
    return {name: values for name, values in found.items() if model is None or name in model.joint_names}


def _locked(arms: Arms, still: bool) -> dict[str, Any]:
    """Angles of the joints that do not move."""
    if arms not in ("free", "hanging", "crossed"):
        raise ValueError(f"arms must be free, hanging or crossed, got {arms!r}")
    held = _arm(CROSSED) if arms == "crossed" else {k: v for k, v in _human.UPPER.items() if k != "lumbar"}
    trunk = {"lumbar": _human.UPPER["lumbar"]} if still else {}
    return {**(held if still or arms != "free" else {}), **trunk}


def _seated_posture(model: od.Model, chair: Chair) -> dict[str, Any]:
    """Angles of a body that sits upright."""
    legs = {f"{name}_{s}": x for s in "lr" for name, x in (("knee", chair.knee), ("ankle", chair.ankle))}
    return {**legs, **{f"hip_{s}.ry": chair.hip for s in "lr"}, **_arm(RESTING, model)}


def _leaning(model: od.Model, chair: Chair) -> dict[str, Any]:
    """Angles at the time at which the seat is left."""
    sits = _seated_posture(model, chair)
    lean = {"lumbar.ry": 0.4} if "lumbar" in model.joint_names else {}
    return {**sits, **{f"hip_{s}.ry": chair.hip - 0.4 for s in "lr"}, **{f"ankle_{s}": -0.4 for s in "lr"}, **lean}


def _upright(model: od.Model) -> dict[str, Any]:
    """Angles of a body that stands."""
    legs = {f"{name}_{s}": x for s in "lr" for name, x in (("knee", 2 * BENT), ("ankle", -BENT))}
    return {**legs, **{f"hip_{s}.ry": -BENT for s in "lr"}}


def _upper(model: od.Model) -> list[int]:
    """Dofs of trunk and arms."""
    return [k for k, name in enumerate(model.qd_names) if name.startswith(("lumbar", "shoulder", "elbow"))]


def _sitting(model: od.Model) -> Callable[[ocp.Instant], tuple[Any, Any]]:
    """Conditions on q and qd of a sitting body: trunk upright, hands on the thighs. Feet and seat determine the rest."""
    upper, shift = _upper(model), model.nq - model.nv
    wanted = np.zeros(model.nv)
    for joint, angles in _arm(RESTING, model).items():
        wanted[model.qd_slice(joint)] = angles
    return lambda i: (ca.vertcat(i.q[4], i.q[[k + shift for k in upper]] - wanted[upper]), i.qd[[4, *upper]])


def _standing(model: od.Model, size: HumanDimensions) -> Callable[[ocp.Instant], tuple[Any, Any]]:
    """Conditions on q and qd of a standing body: upright over both feet, arms hanging. The feet determine the rest."""
    upper, shift = _upper(model), model.nq - model.nv
    pelvis = size.leg_length - (size.thigh + size.shank) * (1 - math.cos(BENT))

    def rows(i: ocp.Instant) -> tuple[Any, Any]:
        ahead = od.center_of_mass(model, i.q)[0] - od.point_position(model, "foot_l", i.q)[0]
        posture = ca.vertcat(ahead - AHEAD, i.q[1], i.q[2] - pelvis, i.q[3:6], i.q[[k + shift for k in upper]])
        return posture, i.qd[[*range(6), *upper]]

    return rows


def _at_rest(model: od.Model, ends: Any, start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    return ca.vertcat(*ends[0](start), *ends[1](end)), 0.0, 0.0


def trunk_angles(solution: ocp.Solution) -> np.ndarray:
    """Angle of the trunk forward of the vertical at every node [rad]: of the line from the hip joints to the neck."""
    model = solution.model
    up = [
        np.array((od.point_position(model, "upper_trunk", q) - od.point_position(model, "pelvis", q)).full()).ravel()
        for q in map(DM, solution.q)
    ]
    return np.array([math.atan2(u[0], u[2]) for u in up])


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: times, lean of the trunk, moments of hip and knee, forces."""
    model = solution.model
    seated = next(phase for phase in solution.phases if phase.name == "seated")
    on_feet = [sum(w[:, 5] for name, w in phase.wrenches.items() if name != "seat") for phase in solution.phases]
    return {
        "seat_off_percent": 100 * seated.duration / solution.duration,
        "trunk_lean_peak_deg": float(np.degrees(trunk_angles(solution).max())),
        "hip_flexion_peak_deg": float(-np.degrees(solution.q[:, model.q_slice("hip_r")][:, 0].min())),
        "force_on_both_feet_peak_body_weights": float(np.concatenate(on_feet).max()) / model.weight,
        "seat_force_at_seat_off_N": float(seated.wrenches["seat"][-1 if solution.phases[0] is seated else 0, 5]),
        **moments(solution),
    }


def moments(solution: ocp.Solution) -> dict[str, float]:
    """Peak extending moments of hip, knee and ankle of the right leg, per body mass [N m/kg]."""
    model = solution.model
    signs = {"hip_r.ry": 1.0, "knee_r": -1.0, "ankle_r": 1.0}
    return {
        f"{name.split('_')[0]}_moment_peak_Nm_per_kg": float(
            (sign * solution.tau[:, model.qd_names.index(name)]).max() / model.mass
        )
        for name, sign in signs.items()
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--down", action="store_true", help="sit down instead")
    arguments.add_argument("--seat-height", type=float, default=0.45, help="height of the seat [m], 0.35 to 0.65")
    arguments.add_argument("--arms", choices=("free", "hanging", "crossed"), default="free")
    arguments.add_argument("--still", action="store_true", help="trunk and arms are one rigid body")
    arguments.add_argument("--mass", type=float, default=73.0, help="body mass [kg]")
    arguments.add_argument("--height", type=float, default=1.741, help="stature [m]")
    arguments.add_argument("--sex", choices=("male", "female"), default="male")
    options, motion = asked(
        arguments,
        argv,
        lambda o: problem(
            o.seat_height, o.mass, o.height, o.sex, down=o.down, arms=o.arms, still=o.still,
            intervals=QUICK if o.quick else INTERVALS,
        ),
    )  # fmt: skip
    solution = motion.solve(progress=not options.quiet)
    return finish(options, solution, lambda: numbers(solution), "Sitting down" if options.down else "Standing up")


if __name__ == "__main__":
    sys.exit(main())
