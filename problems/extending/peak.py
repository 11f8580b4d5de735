"""A cost of the largest value that a quantity reaches is `ocp.Peak(function, weight, scale)`: the peak torque of a
motor.

A variable s is minimized under |function(instant)| / scale <= s throughout the phase, so that all functions stay
smooth. With each=True every entry has its own s. The same Peak in several phases is one peak over all of them. The
result is `solution.variables()[name]`.

    python -m problems.extending.peak
"""

from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp

INERTIA, ANGLE, TIME = 0.3, 1.5, 2.0
"""A rotor [kg m^2], turned by an angle [rad] in a time [s]."""


def turn(objective: Any, intervals: int = 20, **options: Any) -> ocp.Problem:
    """The rotor turns from rest to rest."""
    builder = od.ModelBuilder("rotor")
    builder.add_body("rotor", od.Revolute("z"), mass=1.0, inertia=(INERTIA, INERTIA, INERTIA))
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - ANGLE, end.qd), 0.0, 0.0))
    phases = [ocp.Phase("turn", intervals, TIME, objective=objective)]
    return ocp.Problem(builder.build(), phases, boundary=[ends], **options)


if __name__ == "__main__":
    solution = turn(ocp.Peak(lambda instant: instant.tau, name="peak torque")).solve(progress=False)
    print(solution.variables()["peak torque"], "exact:", 4 * INERTIA * ANGLE / TIME**2)
