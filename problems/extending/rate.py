"""A cost of the rate of any quantity is `ocp.Rate(function, weight, scale)`: the integral of |d(function)/dt /
scale|^2.

`function(instant)` is any expression of the instant: a torque, a contact force, the velocity of the mass center. The
rate is a difference quotient over the intervals of a phase, so that the cost converges to the integral as the intervals
become shorter. `ocp.TorqueRateSquared`, `ocp.JerkSquared` and `ocp.ForceRateSquared` are ready cases.

    python -m problems.extending.rate
"""

from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


def cart(mass: float = 2.0) -> od.Model:
    """A cart on a rail, moved by a force."""
    builder = od.ModelBuilder("cart")
    builder.add_body("cart", od.Prismatic("x"), mass=mass)
    return builder.build()


def move(objective: Any, intervals: int = 20, **options: Any) -> ocp.Problem:
    """The cart moves by 1 m in 1 s, from rest to rest."""
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0.0, 0.0))
    return ocp.Problem(cart(), [ocp.Phase("move", intervals, 1.0, objective=objective)], boundary=[ends], **options)


SMOOTH = ocp.Rate(lambda instant: instant.tau[0], weight=0.5, scale=2.0, name="force rate")

if __name__ == "__main__":
    for intervals in (10, 20, 40, 80):
        print(intervals, move(SMOOTH, intervals).solve(progress=False).cost, "exact: 0.5 * 120")
