"""The quickest half turn of a slider-crank: a motor of limited torque drives a piston from one end to the other.

Shows: a closed loop. The tree is cut at the piston's pin, and `od.Loop` closes it. With one degree of freedom and the
inertia I(angle), full torque reverses after a quarter turn; energy gives the speed, and T = 0.8284 s by quadrature.
"""

import math

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

CRANK, ROD, TORQUE = 0.3, 1.0, 2.0


def slider_crank() -> od.Model:
    builder = od.ModelBuilder("slider_crank", gravity=(0, 0, 0))
    builder.add_body("crank", od.Revolute("y"), mass=1.0, com=(-CRANK / 2, 0, 0), effort=TORQUE)
    builder.add_body("rod", od.Revolute("y"), "crank", origin=(-CRANK, 0, 0), mass=1.0, com=(ROD / 2, 0, 0))
    builder.add_frame("pin", "rod", (ROD, 0, 0))
    builder.add_body("piston", od.Prismatic("x"), origin=(ROD - CRANK, 0, 0), mass=2.0)
    return builder.build()


def problem(intervals: int = 40) -> ocp.Problem:
    loop = od.Loop("piston", "pin", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])  # in the plane: x and z coincide
    turn = ocp.Phase("turn", intervals, (0.1, 5), objective=[ocp.Duration()], constraints=[loop])
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], start.qd[0], end.q[0] - math.pi, end.qd[0]), 0, 0))
    return ocp.Problem(slider_crank(), [turn], boundary=[rest], unactuated=["rod_joint", "piston_joint"])


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, poses=9, trace=["rod"])
