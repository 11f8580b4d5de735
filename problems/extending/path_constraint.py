"""A path constraint of your own is a function, `ocp.Path(function, lower, upper)`, or a class derived from
`ocp.PathConstraint` with `where` and `rows`. `rows(instant)` returns (expression, lower, upper). With `where = "node"`
the instant has q and qd; with "interval" also qdd, tau and contact wrenches. `check(model, feet)` raises errors early.

    python -m problems.extending.path_constraint
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class Corridor(ocp.PathConstraint):
    """The origin of a frame stays between two walls, |x| <= width [m]."""

    frame: str
    width: float
    where = "node"

    def check(self, model: od.Model, feet: Any) -> None:
        model.frame(self.frame)

    def rows(self, instant: ocp.Instant) -> tuple[Any, Any, Any]:
        return od.point_position(instant.model, self.frame, instant.q)[0], -self.width, self.width


def swing(path: Any) -> ocp.Problem:
    """A double pendulum swings from one side to the other."""
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q + 1, start.qd, end.q[0] - 1, end.qd), 0.0, 0.0))
    phases = [ocp.Phase("swing", 20, 1.0, path=path, objective=(ocp.TorqueSquared(),))]
    return ocp.Problem(od.models.pendulum(2), phases, boundary=[ends])


if __name__ == "__main__":
    print(swing(Corridor("link2", 0.85)).solve())
