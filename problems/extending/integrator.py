"""An integrator of your own is a value: the tableau of a Runge-Kutta scheme, `ocp.Scheme(name, A, b)`.

A (s x s) and the weights b (s) are checked: b sums to 1, the fractions c = A 1 of the step lie between 0 and 1. The
order is computed from the tableau. A scheme can replace the name of an integrator everywhere, in both forms of a
problem, and files of solutions keep it: `ocp.Solution.load(path).stats["integrator"]`.

    python -m problems.extending.integrator
"""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp

RALSTON = ocp.Scheme("Ralston", A=[[0, 0], [2 / 3, 0]], b=[1 / 4, 3 / 4])
"""The explicit scheme of order 2 with the least bound on its error (Ralston 1962)."""

RADAU_IA = ocp.Scheme("Radau IA", A=[[1 / 4, -1 / 4], [1 / 4, 5 / 12]], b=[1 / 4, 3 / 4])
"""An implicit scheme of order 3 with a stage at the start of the step (Ehle 1969)."""


def fall(integrator: str | ocp.Scheme, form: str, intervals: int) -> ocp.Problem:
    """A double pendulum without motors falls for half a second."""
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0] - 1.5, start.q[1], start.qd), 0.0, 0.0))
    return ocp.Problem(
        od.models.pendulum(2),
        [ocp.Phase("fall", intervals, 0.5)],
        boundary=[rest],
        unactuated=["joint1", "joint2"],
        form=form,
        integrator=integrator,
    )


if __name__ == "__main__":
    for scheme in (RALSTON, RADAU_IA):
        print(scheme.name, scheme.order, fall(scheme, "implicit", 20).solve(progress=False).q[-1])
