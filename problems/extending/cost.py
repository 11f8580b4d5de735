"""A cost of your own is a function, `ocp.Integral(function, weight, name)`, or a class derived from `ocp.Cost`.

Its method `integrand(instant)` is integrated over the phase and multiplied by the weight. If it is a sum of squares,
derive the class from `ocp.LeastSquares`: `residual(instant)` gives the vector that is squared, which solvers for least
squares need. A cost of the first and the last state is `ocp.Terminal(function)` in `Problem(terminal=...)`.

    python -m problems.extending.cost
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class Sway(ocp.LeastSquares):
    """Squared speed of a frame's origin [m^2/s^2]."""

    frame: str
    weight: float = 1.0

    def residual(self, instant: ocp.Instant) -> Any:
        return od.point_velocity(instant.model, self.frame, instant.q, instant.qd)


def swing(objective: Any) -> ocp.Problem:
    """A double pendulum swings from one side to the other."""
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q + 1, start.qd, end.q - 1, end.qd), 0.0, 0.0))
    return ocp.Problem(od.models.pendulum(2), [ocp.Phase("swing", 20, 1.0, objective=objective)], boundary=[ends])


if __name__ == "__main__":
    effort = ocp.Integral(lambda instant: ca.sumsqr(instant.tau), weight=1e-2, name="effort")
    print(swing((effort, Sway("link2", 10.0))).solve())
