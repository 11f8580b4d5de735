"""Five-link planar biped with an ankle motor: the step of the tutorial by Van Wouwe and Falisse.

Kelly's five-link problem (see `problems.five_link`) with a torque at the stance ankle, a step of 0.5 m in 0.8 s,
a cost of the squared torques plus 0.1 times the squared angular accelerations of the links, and backward Euler on 80
intervals. The model is the tutorial's: the center of mass of the torso lies 0.2 m from the hip; the distance that
locates a center of mass counts from the upper end in links of the stance leg, from the lower end in those of the
swing leg. So masses move within the links when the legs change roles. The impact is the tutorial's, too: angular
momenta about the joints before it, in the old roles, equal those after it, in the new ones. Published: 255.41740784.

    python -m ocp_dyn.problems.five_link_diary [--intervals N] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, finish, intervals_of, motion_of, parser, run_command
from ocp_dyn.models import FiveLinkParameters, absolute_angles, five_link_biped, five_link_swing

from .five_link import SMALL, STEP_LENGTH, with_knees

STEP_TIME = 0.8
PUBLISHED = 255.41740784
PARAMETERS = FiveLinkParameters(torso_com=0.625 - 0.2, swing_tibia_com=0.4 - 0.128, swing_femur_com=0.4 - 0.163)
START = (0.2, 0.35, 0.0, -0.25, -0.35)
"""Absolute angles of the first guess at the start of the step, knees bent a little."""


def problem(intervals: int = 80, integrator: str = "radau:1") -> ocp.Problem:
    """The step as a Problem."""
    model = with_knees(five_link_biped(PARAMETERS, root="pinned"))
    A = ca.DM(absolute_angles(model))
    accelerations = ocp.Integral(
        lambda instant: ca.sumsqr(A @ instant.qdd), weight=0.1, name="AngularAccelerationSquared"
    )
    return ocp.Problem(
        model,
        [ocp.Phase("step", intervals, STEP_TIME, objective=(ocp.TorqueSquared(), accelerations))],
        boundary=(ocp.Boundary(_swap_legs, "impact"), ocp.Boundary(_landing, "swing foot")),
        unactuated=(),
        integrator=integrator,
        guess=five_link_swing(START, STEP_TIME),
    )


def _swap_legs(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The legs change roles; angular momenta about the new stance foot and the joints above it are conserved."""
    A = ca.DM(absolute_angles(start.model))
    after = od.mass_matrix(start.model, start.q) @ start.qd
    swapped = ca.DM(np.eye(5)[::-1]) @ (A @ end.q)
    # momenta are some tens of times larger than angles
    return ca.vertcat(A @ start.q - swapped, (after - _momenta(end)) / 10), 0.0, 0.0


def _momenta(end: ocp.Instant) -> Any:
    """Angular momentum about the swing foot of all links, about the swing knee of all but its tibia, and so on."""
    model, p = end.model, PARAMETERS
    tibia, femur = p.tibia_length - p.tibia_com, p.femur_length - p.femur_com
    # from the swing foot up, then down the stance leg: link, lower joint of the new chain, height of its mass center
    chain = (
        ("swing_tibia", "swing_foot", p.tibia_mass, p.tibia_inertia, -p.swing_tibia_com),
        ("swing_femur", "swing_tibia", p.femur_mass, p.femur_inertia, -p.swing_femur_com),
        ("torso", "hip", p.torso_mass, p.torso_inertia, p.torso_length - p.torso_com),
        ("stance_femur", "hip", p.femur_mass, p.femur_inertia, femur),
        ("stance_tibia", "stance_femur", p.tibia_mass, p.tibia_inertia, tibia),
    )
    rates = ca.DM(np.eye(5)[::-1]) @ (ca.DM(absolute_angles(model)) @ end.qd)
    momenta = [0.0] * len(chain)
    for i, (link, _, mass, inertia, height) in enumerate(chain):
        center = od.point_position(model, link, end.q, (0, 0, height))
        velocity = od.point_velocity(model, link, end.q, end.qd, (0, 0, height))
        for j, (_, joint, *_) in enumerate(chain[: i + 1]):
            arm = center - od.point_position(model, joint, end.q)
            # angles count about -y
            momenta[j] = momenta[j] + inertia * rates[i] - mass * ca.cross(arm, velocity)[1]
    return ca.vertcat(*momenta)


def _landing(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
    """The swing foot lands one step ahead on the ground."""
    landing = od.point_position(end.model, "swing_foot", end.q)
    return ca.vertcat(landing[0] - STEP_LENGTH, landing[2]), 0.0, 0.0


def numbers(solution: ocp.Solution) -> dict[str, Any]:
    """Numbers of the report beside the summary: the published objective, the transcription, the step."""
    return {
        "published": PUBLISHED,
        "relative_difference": solution.objective / PUBLISHED - 1,
        "intervals": len(solution.phases[0].tau),
        "integrator": solution.stats["integrator"],
        "step_length_m": STEP_LENGTH,
    }


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--intervals", type=int, help="number of intervals (default 80, with --quick 20)")
    options, step = asked(arguments, argv, lambda o: problem(intervals_of(o, 80, 20)))
    solution = motion_of(options, step, mu_init=1e-2, **SMALL)
    return finish(options, solution, lambda: numbers(solution), "Five-link biped with an ankle motor: backward Euler")


if __name__ == "__main__":
    sys.exit(run_command(main))
