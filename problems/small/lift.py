"""A three-link arm lifts a load of 2 kg by 0.8 m in a second; the solver chooses how it folds on the way.

Shows: a parameter of the model. `problem.solve(values={"payload:grip": ...})` takes another load without a new build.
The motion of least squared torque, 468 (N m)^2 s, moves the load close past the shoulder.
"""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

LENGTH, LIMITS = 0.4, {"upper": (-2.6, 1.0), "fore": (-2.6, 0.0), "hand": (-1.5, 0.5)}
LOW, HIGH = ca.DM([0.6, -0.4]), ca.DM([0.6, 0.4])


def arm() -> od.Model:
    builder = od.ModelBuilder("lift")
    for name, parent, z in (("upper", "world", 0.0), ("fore", "upper", -LENGTH), ("hand", "fore", -LENGTH)):
        builder.add_body(name, od.Revolute("y"), parent, origin=(0, 0, z), lower=LIMITS[name][0], upper=LIMITS[name][1],
                         mass=1, com=(0, 0, -LENGTH / 2), inertia=(LENGTH**2 / 12, LENGTH**2 / 12, 0))  # fmt: skip
    builder.add_frame("grip", "hand", (0, 0, -LENGTH))
    return builder.build()


def rows(start: ocp.Instant, end: ocp.Instant) -> tuple[ca.SX, float, float]:
    before, after = (od.point_position(instant.model, "grip", instant.q)[[0, 2]] for instant in (start, end))
    return ca.vertcat(before - LOW, start.qd, after - HIGH, end.qd), 0, 0  # at rest; one angle of three stays free


def problem(intervals: int = 40, load: float = 2.0) -> ocp.Problem:
    ends = ocp.Boundary(rows)
    payload = ocp.Parameter("payload:grip", [load] + 9 * [0])  # mass, first moment, inertia: a point mass
    lift = ocp.Phase("lift", intervals, duration=1.0, objective=[ocp.TorqueSquared()])
    return ocp.Problem(arm(), [lift], boundary=[ends], parameters=[payload], posture=(-0.5, -0.8, -0.5))


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["grip"])
