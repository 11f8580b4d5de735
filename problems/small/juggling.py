"""Juggling a ball on a paddle: every 0.6 s the ball falls on the paddle and bounces up again.

Shows: a transition of your own (`Jump`, here an impact with restitution), and a periodic motion (`Periodic`).
Before and after the impact the ball's speed is g T / 2, so momentum and restitution determine the paddle's velocity v0
after the impact and v1 before it. Between them it moves as a cubic in time, and with D = v1 - v0 the integral of the
squared force is M^2 (4 (v0^2 + v0 v1 + v1^2) / T + 2 g D + g^2 T).
"""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

PADDLE, BALL, RESTITUTION, TIME = 1.0, 0.2, 0.8, 0.6


def bounce(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, float, float]:
    """Ball and paddle meet at height zero; momentum is conserved; separation speed = restitution x approach speed."""
    before, after = end.qd, start.qd
    momentum = PADDLE * (after[0] - before[0]) + BALL * (after[1] - before[1])
    speeds = after[1] - after[0] + RESTITUTION * (before[1] - before[0])
    return ca.vertcat(end.q, start.q, momentum, speeds), 0, 0


def problem(intervals: int = 30) -> ocp.Problem:
    builder = od.ModelBuilder("juggling")
    builder.add_body("paddle", od.Prismatic("z"), mass=PADDLE)
    builder.add_frame("left", "paddle", (-0.1, 0, 0))
    builder.add_frame("right", "paddle", (0.1, 0, 0))
    builder.add_body("ball", od.Prismatic("z"), origin=(0, 0, 0.05), mass=BALL)
    flight = ocp.Phase("flight", intervals, TIME, objective=[ocp.TorqueSquared()])
    again = ocp.Periodic(mirror=False, transition=ocp.Jump(bounce), step_length=0)
    return ocp.Problem(builder.build(), [flight], periodic=again, unactuated=["ball_joint"])


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, spread=2.0)
