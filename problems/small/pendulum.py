"""The weakest motor that swings a pendulum up in three seconds: a rod of 1 kg and 1 m, from hanging to upright.

Shows: a free parameter of your own. It bounds the torque of the whole motion, and it is the cost, so that the peak
torque is minimized. The answer is about 1.57 N m; to hold the rod level takes 4.9 N m.
"""

import math

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show

TIME = 3.0


def problem(intervals: int = 60) -> ocp.Problem:
    room = lambda instant: ca.vertcat(instant.values["peak"] - instant.tau, instant.values["peak"] + instant.tau)
    limit = ocp.Path(room, lower=0, upper=math.inf, where="interval")
    swing = ocp.Phase("swing", intervals, TIME, path=[limit])
    up = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - math.pi, end.qd), 0, 0))
    peak = ocp.Parameter("peak", 3.0, bounds=(0, 10))
    cost = ocp.Terminal(lambda start, end: end.values["peak"], name="peak torque")
    return ocp.Problem(od.models.pendulum(), [swing], boundary=[up], parameters=[peak], terminal=[cost])


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["tip"])
