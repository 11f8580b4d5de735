"""The quickest half turn of a rotor: a motor of limited torque turns a wheel from rest to rest in the least time.

Shows: a free duration, and a limit of the model (`effort`) that bounds the torque. The answer is bang-bang: full torque
forwards for half of the way, then backwards; it takes T = 2 sqrt(I angle / torque) = 2.5066 s.
"""

import math

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

INERTIA, ANGLE, TORQUE = 1.0, math.pi, 2.0


def problem(intervals: int = 40) -> ocp.Problem:
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("wheel", od.Revolute("y"), mass=2, inertia=(INERTIA / 2, INERTIA, INERTIA / 2), effort=TORQUE)
    builder.add_frame("rim", "wheel", (1, 0, 0))
    turn = ocp.Phase("turn", intervals, duration=(0.1, 10), objective=[ocp.Duration()])
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - ANGLE, end.qd), 0, 0))
    return ocp.Problem(builder.build(), [turn], boundary=[rest])


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["rim"])
