"""An ape swings from bar to bar without work: arms of 1 m and 1 kg, a body of 2 kg and a motor between the arms.

Shows: a free parameter of the design, the distance of the bars, and a parameter of the model, the body's mass. At a
distance of 0.804 m no torque is needed: after a passive swing of 1.273 s the hand meets the next bar at rest, and the
cost is 0. Gomes and Ruina, J. Theoretical Biology 237 (2005), found such motions of apes.
"""

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show


def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[ca.SX, float, float]:
    """At rest with one hand on the bar at the origin, the other on the bar behind, then on the bar ahead."""
    behind, ahead = (od.point_position(instant.model, "tip", instant.q)[[0, 2]] for instant in (start, end))
    bar = ca.vertcat(start.values["distance"], 0)
    return ca.vertcat(behind + bar, start.qd, ahead - bar, end.qd), 0, 0


def half_period(s: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.5, 2.1]) * np.cos(np.pi * s), np.zeros(2)


def problem(intervals: int = 40) -> ocp.Problem:
    swing = ocp.Phase("swing", intervals, (0.8, 2.0), objective=[ocp.TorqueSquared()])
    distance = ocp.Parameter("distance", 1.0, bounds=(0.4, 1.6))
    body = ocp.Parameter("payload:link2", [2.0] + 9 * [0])  # mass, first moment and inertia at the joint of the arms
    return ocp.Problem(
        od.models.pendulum(2), [swing], boundary=[ocp.Boundary(rows)], unactuated=["joint1"],
        parameters=[distance, body], guess=half_period, integrator="gauss:2",
    )  # fmt: skip


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["tip"])
