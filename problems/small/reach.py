"""A two-link arm reaches past a ball, from rest to rest in one second, at least squared torque.

Shows: a least distance along the path (`NoCollision`), and a first guess of your own, in which the arm folds.
The cost is 1.65 (N m)^2 s without the ball, and about 2.5 with it.
"""

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

LENGTH, START, END = 0.4, np.array([-2.4, 0.5]), np.array([-0.9, 0.5])
BALL = ocp.Obstacle((0.65, 0, 0), radius=0.2)


def arm() -> od.Model:
    builder = od.ModelBuilder("reach", gravity=(0, 0, 0))
    for name, parent, z, lower in (("upper", "world", 0.0, -2.9), ("fore", "upper", -LENGTH, 0.0)):
        builder.add_body(name, od.Revolute("y"), parent, origin=(0, 0, z), lower=lower, upper=lower + 2.9,
                         mass=1, com=(0, 0, -LENGTH / 2), inertia=(0.014, 0.014, 0.001))  # fmt: skip
    builder.add_frame("hand", "fore", (0, 0, -LENGTH))
    return builder.build()


def folded(s: float) -> tuple[np.ndarray, np.ndarray]:
    return START + (END - START) * s + np.array([0, 1.9 * np.sin(np.pi * s)]), np.zeros(2)


def problem(intervals: int = 40, *, ball: bool = True) -> ocp.Problem:
    clear = ocp.NoCollision([(ocp.Capsule(link, 0.03, end=(0, 0, -LENGTH)), BALL) for link in ("upper", "fore")])
    reach = ocp.Phase("reach", intervals, 1.0, path=[clear] if ball else [], objective=[ocp.TorqueSquared()])
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - START, start.qd, end.q - END, end.qd), 0, 0))
    return ocp.Problem(arm(), [reach], boundary=[rest], guess=folded)


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["hand"], obstacles=[BALL])
