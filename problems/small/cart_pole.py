"""Swing-up of a pole on a cart: the motor moves only the cart.

Shows: a joint without a motor (`unactuated`), limits of the rail and of the motor. Masses, lengths and limits are those
of Kelly, SIAM Review 59 (2017): a cart of 1 kg, a point mass of 0.3 kg at 0.5 m, 1 m to go in 2 s. The integral of the
squared force is 58.0 N^2 s on a fine grid; swung up on the other side of the cart it is 82.5.
"""

import math
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show


def cart_pole() -> od.Model:
    builder = od.ModelBuilder("cart_pole")
    builder.add_body("cart", od.Prismatic("x"), mass=1.0, lower=-2, upper=2, effort=20)
    builder.add_body("pole", od.Revolute("y"), "cart", mass=0.3, com=(0, 0, -0.5))  # hangs at q = 0
    return builder.build()


def problem(intervals: int = 50) -> ocp.Problem:
    swing = ocp.Phase("swing", intervals, duration=2.0, objective=[ocp.TorqueSquared()])
    return ocp.Problem(cart_pole(), [swing], boundary=[ocp.Boundary(hangs_then_stands)], unactuated=["pole_joint"])


def hangs_then_stands(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
    return ca.vertcat(start.q, start.qd, end.q - ca.DM([1.0, -math.pi]), end.qd), 0, 0


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__)
