"""Standing up from a chair, and sitting down: from rest to rest, with least effort.

The body sits at rest on the edge that joins the two points of the pelvis on which people sit (the frame `seat` of
`od.models.human`), with both feet flat on the ground. It shifts its weight forward on the seat, leaves it, rises, and
ends at rest, upright. The seat pushes and does not pull, in its friction cone, and its center of pressure stays between
the two points. When the seat is left, how long each part takes, how far the trunk leans and how the arms swing follow
from the cost: `od.walking.motion_effort`, over time instead of distance.

    python -m ocp_dyn.problems.sit_to_stand [--down] [--seat-height 0.45] [--arms free] [--mass 73] [--height 1.741]
        [--sex male] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, parser, run_command, solve
from ocp_dyn.walking import Chair, Person, both_arms

INTERVALS, QUICK = (12, 16), (8, 10)
"""Numbers of intervals: on the seat, and on the feet alone."""

BENT, AHEAD, STEEPEST = math.radians(5.0), 0.05, 4.0
"""Standing: angle between thigh and vertical, as straight legs are singular; center of mass ahead of the ankles [m].
Rate at which the seat's force may fall to zero, in body weights per duration of the time on the seat."""

HELD = {"hanging": ((0.0, 0.0, 0.0), (0.0,)), "crossed": ((-0.7, 0.0, -0.9), (-1.9,))}
"""Angles of the left shoulder and elbow of arms that do not move: hanging, or crossed before the chest."""


def problem(
    seat_height: float = 0.45, mass: float = 73.0, height: float = 1.741, sex: Any = "male", *, down: bool = False,
    arms: str = "free", still: bool = False, intervals: tuple[int, int] = INTERVALS,
) -> ocp.Problem:  # fmt: skip
    """Standing up; down: sitting down. arms: "free", or held "hanging" or "crossed". still: trunk and arms are one
    rigid body, which leaves 18 dofs. intervals: on the seat, and on the feet alone."""
    if arms not in ("free", *HELD):
        raise ValueError(f"arms must be free, hanging or crossed, got {arms!r}")
    size = od.models.human_dimensions(height, sex)
    chair, wide = Chair(size, seat_height), size.hip_spacing / 2
    held: Any = both_arms(*HELD["hanging" if arms == "free" else arms]) if still or arms != "free" else {}
    held |= {"lumbar": np.zeros(3)} if still else {}
    body = od.models.human(mass, height, sex, root=od.FloatingBase()).lock_joints(held)
    person = Person(od.walking.with_calves(body), body, size)
    model, costs, seat = person.model, effort(person), chair.seat(person)
    x = chair.ankles - size.heel + person.sole_middle
    feet = (person.feet_at("r", x, -wide).flat, person.feet_at("l", x, wide).flat)
    contact = od.walking.human_contact()
    most: Any = (lambda i: i.s * STEEPEST) if down else (lambda i: (1 - i.s) * STEEPEST)
    fade = ocp.Path(lambda i: i.wrenches[seat][5] / model.weight - most(i), -np.inf, 0.0, "interval")
    above = ocp.Clearance([("seat", (0, 0, 0))], height=0.0, terrain=lambda x, y: seat_height)
    seated = ocp.Phase("seated", intervals[0], (0.2, 1.5), (seat, *feet), (*contact, fade), costs)
    rise = ocp.Phase("rise", intervals[1], (0.4, 2.0), feet, (*contact, above), costs)
    way = -1 if down else 1
    ends: Any = (lambda i: chair.at_rest(person, i), lambda i: person.at_rest(i, BENT, AHEAD))[::way]
    return ocp.Problem(
        model,
        [seated, rise][::way],
        boundary=[ocp.Boundary(lambda a, b: (ca.vertcat(ends[0](a), ends[1](b)), 0.0, 0.0), "at rest")],
        guess=ocp.Postures(list(zip((0.0, 0.55 if down else 0.45, 1.0), postures(person, chair)[::way], strict=True))),
        integrator="gauss:2", torque="linear",
    )  # fmt: skip


def effort(person: Person) -> tuple[Any, ...]:
    """The costs of effort without the distance of the legs from the upright posture: a seated body is at rest too."""
    legs = np.array([name.startswith(("hip", "knee", "ankle", "subtalar")) for name in person.model.qd_names])
    costs = od.walking.motion_effort(person)
    return tuple(cost for cost in costs if not (isinstance(cost, ocp.JointAngleSquared) and legs @ cost.stiffness))


def postures(person: Person, chair: Chair) -> list[dict[str, Any]]:
    """The first guess: angles of a body that sits upright, that leans forward and leaves the seat, and that stands."""
    lean = {"lumbar.ry": 0.4} if "lumbar" in person.model.joint_names else {}
    lean |= {"hip_l.ry": chair.hip - 0.4, "hip_r.ry": chair.hip - 0.4, "ankle_l": -0.4, "ankle_r": -0.4}
    legs = [{f"knee_{s}": 2 * BENT, f"ankle_{s}": -BENT, f"hip_{s}.ry": -BENT} for s in "lr"]
    return [chair.posture(person), chair.posture(person) | lean, legs[0] | legs[1]]


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: times, lean of the trunk, forces, peaks of the extending moments."""
    model, seated = solution.model, next(phase for phase in solution.phases if phase.name == "seated")
    on_feet = [sum(w[:, 5] for name, w in phase.wrenches.items() if name != "seat") for phase in solution.phases]
    place = od.point_position
    up = [place(model, "upper_trunk", q) - place(model, "pelvis", q) for q in map(DM, solution.q)]
    tau = dict(zip(model.qd_names, solution.tau.T, strict=True))
    extending = {"hip": tau["hip_r.ry"], "knee": -tau["knee_r"], "ankle": tau["ankle_r"]}
    return {
        "seat_off_percent": 100 * seated.duration / solution.duration,
        "trunk_lean_peak_deg": float(np.degrees(max(math.atan2(float(u[0]), float(u[2])) for u in up))),
        "hip_flexion_peak_deg": float(-np.degrees(solution.q[:, model.q_slice("hip_r")][:, 0].min())),
        "force_on_both_feet_peak_body_weights": float(np.concatenate(on_feet).max()) / model.weight,
        "seat_force_at_seat_off_N": float(seated.wrenches["seat"][-1 if solution.phases[0] is seated else 0, 5]),
        **{f"{joint}_moment_peak_Nm_per_kg": float(m.max() / model.mass) for joint, m in extending.items()},
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--down", action="store_true", help="sit down instead")
    arguments.add_argument("--seat-height", type=float, default=0.45, help="height of the seat [m], 0.35 to 0.65")
    arguments.add_argument("--arms", choices=("free", "hanging", "crossed"), default="free")
    arguments.add_argument("--still", action="store_true", help="trunk and arms are one rigid body")
    add_person(arguments, still=False)
    options, motion = asked(arguments, argv, lambda o: problem(
        o.seat_height, o.mass, o.height, o.sex, down=o.down, arms=o.arms, still=o.still,
        intervals=QUICK if o.quick else INTERVALS))  # fmt: skip
    return solve(options, motion, numbers, "Sitting down" if options.down else "Standing up")


if __name__ == "__main__":
    sys.exit(run_command(main))
