"""A person who stands is pushed and comes to rest again: with both feet in place, or by one or two steps.

The push is an impulse at the middle of the upper trunk, along the ground. It is short: the velocity changes at once, as
in an impact, while both feet stay. Then the body recovers with least effort until it stands at rest: without steps in
the posture in which it stood, with one step wherever the foot lands, with two steps with the feet side by side. The
solver finds where and when the feet land. `--impulse largest` finds the largest impulse from which the body recovers
without excessive effort: one N s more would cost 1/SHARE of the cost's unit. The model knows the push as it happens.

    python -m ocp_dyn.problems.push_recovery [--impulse 20|largest] [--direction forward|backward|left|right]
        [--steps 0|1|2] [--model legs|human] [--quick] [--json] [--out DIR]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import add_person, asked, finish, motion_of, number_or, parser, person_of, run_command, within

TOWARDS = {"forward": (1.0, 0.0, 0.0), "backward": (-1.0, 0.0, 0.0), "left": (0.0, 1.0, 0.0), "right": (0.0, -1.0, 0.0)}
LARGEST, SHARE = 150.0, 0.02
"""Largest impulse that is considered [N s]; weight of the effort beside the largest impulse [1/(N s)]. With half of it
a body of 29 dofs gains by swinging its arms as far as they go, and the solver does not converge."""


def problem(
    impulse: float | None = 20.0, direction: Any = "forward", steps: int = 0, mass: float = 73.0,
    height: float = 1.741, sex: Any = "male", *, guess: Any = None, quick: bool = False, **body: Any,
) -> ocp.Problem:  # fmt: skip
    """Recovery from an impulse [N s], by 0, 1 or 2 steps; None: from the largest one. It is the parameter "impulse",
    which `solve(values=...)` changes. body: options of `od.walking.person`."""
    largest, share = impulse is None, SHARE if impulse is None else 1.0
    size = 20.0 if impulse is None else within(impulse, 0, LARGEST, f"impulse must lie between 0 and {LARGEST:g} N s")
    person = od.walking.person(mass, height, sex, **body)
    q = od.walking.standing_posture(person, elbows=0.3)  # straight elbows could not give way to the push
    costs = tuple(replace(cost, weight=share * cost.weight) for cost in od.walking.motion_effort(person))
    return ocp.Problem(
        person.model,
        od.walking.recovery_phases(person, direction, steps, costs, coarse=quick),
        boundary=[ends(person, q, direction, steps)],
        terminal=[ocp.Terminal(lambda start, end: -end.values["impulse"], name="impulse")] if largest else [],
        parameters=[ocp.Parameter("impulse", size, (0.0, LARGEST) if largest else None)],
        guess=guess or (ocp.FootPlan(crouch=0.01) if steps else ocp.Postures({0.0: q, 1.0: q})),
        posture=q, integrator="gauss:2", torque="linear", options={"mu_init": 0.1},  # nothing moves in the guess
    )  # fmt: skip


def velocity_after(model: od.Model, q: Any, direction: str) -> Any:
    """Velocity after a push of 1 N s on a body at rest, `H qd = J' p + G' Lam`: both feet stay on the ground (Felis,
    Autonomous Robots 41, 2017, eq. 10-12)."""
    J = od.point_jacobian(model, "upper_trunk", q)
    free = ca.solve(od.mass_matrix(model, q), J.T @ DM(TOWARDS[direction]))
    return od.impact(model, [od.Contact("heel_l"), od.Contact("heel_r")], q, free)[0]


def ends(person: od.walking.Person, q: np.ndarray, direction: str, steps: int) -> ocp.Boundary:
    """The body stands at the start, with the velocity after the push, and rests at the end; legs follow from the feet.
    Without steps, the posture at the end is that at the start; else the trunk is upright and the arms hang."""
    model, upper, dofs = person.model, person.upper_coordinates, person.dofs_above_legs
    after = np.array(velocity_after(model, DM(q), direction)).ravel()
    tilts = steps and direction in ("forward", "backward")  # the foot that steps rolls at once: it starts flat
    knee, rate, behind = model.q_names.index("knee_r"), *(model.qd_names.index(f"knee_{s}") for s in "rl")

    def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        push = start.values["impulse"]
        first = [start.q[:6] - q[:6], start.q[upper] - q[upper], start.qd[dofs] - push * after[dofs]]
        first += [start.q[knee] - q[knee], start.qd[rate] - push * after[rate]] if tilts else []
        last = [end.q[upper] - q[upper], end.qd[dofs]]
        last += [end.qd[behind]] if steps == 1 and direction == "forward" else []  # it stands on its toes
        last += [end.q[3:6]] if steps else [end.q[:6] - q[:6]]
        return ca.vertcat(*first, *last), 0.0, 0.0

    return ocp.Boundary(rows, "stands, and rests")


def numbers(solution: ocp.Solution, impulse: float) -> dict[str, Any]:
    """Numbers of the report beside the summary: the impulse, the ways of trunk and center of mass, steps, torques."""
    model = solution.model
    way = np.array([np.array(od.center_of_mass(model, DM(q))).ravel()[:2] for q in solution.q])
    upright = [float(od.pose(model, "upper_trunk", DM(q))[0][2, 2]) for q in solution.q]
    found = {"impulse_N_s": impulse, "impulse_per_mass_m_per_s": impulse / model.mass,
             "center_of_mass_way_m": float(np.hypot(*(way - way[0]).T).max()),
             "trunk_lean_peak_deg": float(np.degrees(np.arccos(min(*upright, 1.0))))}  # fmt: skip
    lifts = [(p.t[0], heel) for heel in ("heel_l", "heel_r") for p in solution.phases if heel not in p.places]
    for k, heel in enumerate(dict.fromkeys(heel for _, heel in sorted(lifts)), 1):
        here, there = (np.array(od.point_position(model, heel, DM(solution.q[end]))).ravel()[:2] for end in (0, -1))
        found[f"step_{k}_begins_s"] = float(min(t for t, name in lifts if name == heel))
        found[f"step_{k}_length_m"] = float(np.linalg.norm(there - here))
    return found | od.walking.peak_torques(solution)


def impulse_of(recovery: ocp.Problem, solution: ocp.Solution) -> float:
    """The impulse of a recovery [N s], also where it was to be as large as possible."""
    (parameter,) = recovery.parameters
    return -solution.cost["impulse"] if parameter.free else float(np.ravel(parameter.value)[0])


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--impulse", type=number_or("largest"), default=20.0, help="of the push [N s], or: largest")
    arguments.add_argument("--direction", choices=tuple(TOWARDS), default="forward")
    arguments.add_argument("--steps", type=int, choices=(0, 1, 2), default=0, help="number of steps")
    add_person(arguments)
    options, recovery = asked(arguments, argv, lambda o: problem(
        o.impulse, o.direction, o.steps, quick=o.quick, **person_of(o)))  # fmt: skip
    solution = motion_of(options, recovery)
    impulse = impulse_of(recovery, solution)
    return finish(options, solution, lambda: numbers(solution, impulse),
                  f"Push {options.direction} with {impulse:.3g} N s, {options.steps} steps")  # fmt: skip


if __name__ == "__main__":
    sys.exit(run_command(main))
