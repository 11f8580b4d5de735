"""Jump of a leg with a four-bar knee, solved twice: with the loop held by multipliers, and in independent coordinates.

The leg (`od.models.four_bar_leg`) starts at rest, bent, on heel and toe, rolls over the toe and flies up to its apex,
where its joints are bent as at the start. The height of the apex is given, and the solver minimizes squared torques.
"multipliers": every phase holds the loop by `od.Loop`; all joint angles and the forces in the loop's pin are variables.
"independent": `ocp.DependentJoints` gives the angles of the shank's pin and of the rear bar by the front bar's angle.
Both have one optimum. On a coarse grid the costs differ: the first integrates all angles, the second independent ones.

    python -m ocp_dyn.problems.four_bar_leg [--height 0.25] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import asked, choice, finish, keep, motion_of, parser, run_command, within

INTERVALS, QUICK = (32, 16, 12), (12, 6, 5)
"""Numbers of intervals: on heel and toe, on the toe, in flight up to the apex."""

START = {"pitch": 0.2, "knee": 0.45, "ahead": 0.03}
"""Posture at the start: lean of the trunk and angle of the front bar [rad], mass center ahead of the ankle [m]."""
STATS = ("iterations", "solve_seconds", "variables", "constraints")
INDEPENDENT, FORMULATIONS = ("root", "hip", "knee", "ankle"), ("multipliers", "independent")


def entries(model: od.Model, joints: tuple[str, ...] = INDEPENDENT) -> list[int]:
    """Indices into q, and into qd, of the entries of joints."""
    return [k for name in joints for k in range(*model.q_slice(name).indices(model.nq))]


def start(model: od.Model) -> np.ndarray:
    """The configuration at the start: heel and toe on the ground, the heel 0.05 m behind the origin."""
    x, q = ca.SX.sym("x", 6), ca.SX(model.nq, 1)
    q[entries(model)] = x
    q[entries(model, ("pin", "rear"))] = od.models.four_bar_knee(x[4])
    heel, toe, ankle = (od.point_position(model, name, q) for name in ("heel", "toe", "foot"))
    ahead = od.center_of_mass(model, q)[0] - ankle[0] - START["ahead"]
    rows = ca.vertcat(heel[2], toe[2], heel[0] + 0.05, x[2] - START["pitch"], x[4] - START["knee"], ahead)
    solved = ca.rootfinder("posture", "newton", {"x": x, "g": rows})(x0=[0, 0.5, 0.2, -0.6, START["knee"], -0.3])
    return np.array(ca.Function("q", [x], [q])(solved["x"]).full()).ravel()


def problem(
    formulation: str = "multipliers", *, height: float = 0.25, intervals: Any = INTERVALS, **options: Any
) -> ocp.Problem:
    """The jump. height: of the mass center at the apex above its height at the start [m]; options: of `ocp.Problem`."""
    within(height, 0.1, 0.4, "height must lie between 0.1 and 0.4 m")
    choice(formulation, FORMULATIONS, "formulation")
    chain, free = od.models.four_bar_leg(), formulation == "independent"
    model, held = chain.model, () if free else tuple(chain.loops)
    knee: Any = ocp.DependentJoints(next(iter(chain.loops)), ("pin", "rear"), ["knee"], od.models.four_bar_knee)
    heel = ocp.Foothold(od.Contact("heel", axes="z"), y=0)
    toe = ocp.Foothold(od.Contact("toe", axes="xz"), x=0.11, y=0)
    push, posture, root, motors = (ocp.Unilateral(),), start(model), entries(model, ("root",)), entries(model)[3:]
    level, shape = float(od.center_of_mass(model, DM(posture))[2]), entries(model)[2:]
    effort = (ocp.TorqueSquared(scale=30.0), ocp.TorqueRateSquared(1e-3, scale=30.0),
              ocp.Integral(lambda instant: ca.sumsqr(instant.qdd[motors]), 1e-6, "acceleration"))  # fmt: skip

    def at_rest(first: ocp.Instant, last: ocp.Instant) -> Any:  # heel and toe stand: the trunk determines the leg
        return ca.vertcat(first.q[root] - posture[root], first.qd[root]), 0, 0

    def apex(first: ocp.Instant, last: ocp.Instant) -> Any:  # no spin, right above its place; as bent as at the start
        speed, spin = (f(model, last.q, last.qd) for f in (od.center_of_mass_velocity, od.centroidal_momentum))
        rise = od.center_of_mass(model, last.q)[2] - level
        return ca.vertcat(speed[0], speed[2], rise - height, spin[1], last.q[shape] - posture[shape]), 0, 0

    def guess(s: float) -> Any:  # the trunk leans forward and returns; in the last part of the motion it rises
        q, (z, pitch, hip), lean = posture.copy(), entries(model)[1:4], 0.4 * np.sin(np.pi * s)
        q[[z, pitch, hip]] += np.array([height * max(0.0, (s - 0.6) / 0.4), lean, -lean])
        return q, np.zeros(model.nv)

    return ocp.Problem(
        model,
        [ocp.Phase("flat", intervals[0], (0.2, 0.4), (heel, toe), push, effort, held),
         ocp.Phase("toe", intervals[1], (0.05, 0.12), (toe,), push, effort, held),
         ocp.Phase("flight", intervals[2], (0.05, 0.5), objective=effort, constraints=held)],
        boundary=(ocp.Boundary(at_rest, "at rest"), ocp.Boundary(apex, "apex")),
        unactuated=["root", "pin", "rear"], posture=posture, guess=guess, dependent=(knee,) if free else (),
        **({"integrator": "gauss:3", "torque": "linear"} | options),
    )  # fmt: skip


def difference(one: ocp.Solution, other: ocp.Solution) -> float:
    """Largest difference of independent coordinates at the nodes [rad, m]; both motions on one grid."""
    q, q_other = (solution.q[:, entries(solution.model)] for solution in (one, other))
    return float(np.abs(q - q_other).max())


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--height", type=float, default=0.25, help="rise of the mass center up to the apex [m]")
    options, problems = asked(arguments, argv, lambda o: [
        problem(k, height=o.height, intervals=QUICK if o.quick else INTERVALS) for k in FORMULATIONS])  # fmt: skip
    found = (motion_of(options, jump, tolerance=1e-9) for jump in problems)
    for name, solution in (solutions := dict(zip(FORMULATIONS, found, strict=True))).items():
        keep(options, solution, f"{name}.npz")
    one, other = solutions.values()

    def figures() -> dict[str, Any]:
        found = {f"{name}_{key}": s.stats[key] for name, s in solutions.items() for key in STATS}
        return found | {
            "other_converged": one.converged, "cost_multipliers": one.objective, "cost_independent": other.objective,
            "relative_difference_of_costs": abs(one.objective / other.objective - 1),
            "largest_difference_of_motions": difference(one, other),
            "knee_flexion_rad": float(other.q[:, entries(other.model, ("knee", "pin"))].sum(axis=1).max()),
        }  # fmt: skip

    return finish(options, other, figures, "Jump of a leg with a four-bar knee")


if __name__ == "__main__":
    sys.exit(run_command(main))
