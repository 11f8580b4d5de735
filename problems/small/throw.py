"""A two-link arm throws a ball as far as it can, from hanging at rest: torques up to 40 and 15 N m.

Shows: a cost of the last state (`Terminal`), here the distance at which the ball lands; its flight begins with the last
position and velocity of the hand. The answer is about 23 m, with one swing back.
"""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show


def arm() -> od.Model:
    builder, hinge, com, rod = od.ModelBuilder("throw"), od.Revolute("y"), (0, 0, -0.15), (0.01, 0.01, 0)
    shoulder, elbow = (0, 0, 1.5), (0, 0, -0.3)
    builder.add_body("upper", hinge, origin=shoulder, mass=2, com=com, inertia=rod, lower=-4, upper=1, effort=40)
    builder.add_body("fore", hinge, "upper", origin=elbow, mass=1, com=com, inertia=rod, lower=-2.5, upper=0, effort=15)
    builder.add_body("ball", od.Fixed(), "fore", origin=(0, 0, -0.35), mass=0.2)
    return builder.build()


def distance(start: ocp.Instant, end: ocp.Instant) -> ca.SX:
    """Distance from the shoulder at which the ball meets the ground if the hand releases it at `end` [m]."""
    place = od.point_position(end.model, "ball", end.q)
    speed = od.point_velocity(end.model, "ball", end.q, end.qd)
    g = -end.model.gravity[2]
    landing: ca.SX = place[0] + speed[0] * (speed[2] + ca.sqrt(speed[2] ** 2 + 2 * g * place[2])) / g
    return landing


def problem(intervals: int = 80) -> ocp.Problem:
    swing = ocp.Phase("swing", intervals, (0.1, 1.0), objective=[ocp.TorqueSquared(1e-5)])
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd), 0, 0))
    far = ocp.Terminal(lambda start, end: -distance(start, end), name="distance")  # far costs less
    return ocp.Problem(arm(), [swing], boundary=[rest], terminal=[far], integrator="gauss:2")


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["ball"])
