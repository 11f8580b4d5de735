"""A two-link arm throws a ball as far as it can, from hanging at rest: torques up to 40 and 15 N m.

Shows: a cost of one's own of the last state (`Terminal`), here the distance at which the ball lands: it flies along a
parabola from the hand's last position and velocity. The answer is ... m.
"""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from problems.small._picture import show


def arm() -> od.Model:
    builder = od.ModelBuilder("throw")
    upper = {"mass": 2.0, "com": (0, 0, -0.15), "inertia": (0.015, 0.015, 0.002), "lower": -4, "upper": 1, "effort": 40}
    fore = {"mass": 1.0, "com": (0, 0, -0.15), "inertia": (0.01, 0.01, 0.001), "lower": -2.5, "upper": 0, "effort": 15}
    builder.add_body("upper", od.Revolute("y"), origin=(0, 0, 1.5), **upper)
    builder.add_body("fore", od.Revolute("y"), "upper", origin=(0, 0, -0.3), **fore)
    builder.add_body("ball", od.Fixed(), "fore", origin=(0, 0, -0.35), mass=0.2)
    return builder.build()


def distance(start: ocp.Stage, end: ocp.Stage) -> ca.SX:
    """Distance from the shoulder at which a ball released now meets the ground [m]."""
    place = od.point_position(end.model, "ball", end.q)
    speed = od.point_velocity(end.model, "ball", end.q, end.v)
    fall = (speed[2] + ca.sqrt(speed[2] ** 2 + 2 * 9.81 * place[2])) / 9.81
    return place[0] + speed[0] * fall


def problem(intervals: int = 40) -> ocp.Problem:
    swing = ocp.Phase("swing", intervals, (0.1, 1.0), objective=ocp.TorqueSquared(1e-5))
    terminal = ocp.Terminal(distance, weight=-1, name="distance")  # a negative weight maximises
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.v), 0, 0))
    return ocp.Problem(arm(), swing, boundary=rest, terminal=terminal, integrator="gauss:2")


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["ball"])
