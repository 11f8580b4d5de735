"""A solver of programs of your own is a function that `ocp.add_solver` gives a name; `solve(solver=name)` then runs it.

It gets the program (rows g(x, p) between `row_lower` and `row_upper`, cost f, derivatives), a function that orders the
stages, the start, the settings, and the monitor, which sees every iterate. It returns an `ocp.SolverResult`, with
multipliers such that `grad f + J' lam_g + lam_x = 0`. Here: Newton's method for programs without active bounds.

    python -m problems.extending.solver
"""

from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp


def newton(program: Any, make_order: Any, start: Any, settings: Any, monitor: Any) -> ocp.SolverResult:
    x, p, lam, free = np.array(start.x), start.p, np.zeros(program.row_lower.size), np.zeros(start.x.size)
    for _ in range(settings.max_iterations):
        (f, slope), (g, J) = ([np.squeeze(m.full()) for m in of(x, p)] for of in (program.gradient, program.jacobian))
        upper, gap = program.hessian(x, p, 1.0, lam).full(), g - program.row_lower
        error = max(np.abs(slope + J.T @ lam).max(), np.abs(gap).max())
        if monitor.see(x, float(f), g, free, lam) or error < settings.tolerance:
            break
        KKT = np.block([[upper + np.triu(upper, 1).T, J.T], [J, np.zeros((gap.size, gap.size))]])
        step, lam = np.split(np.linalg.lstsq(KKT, -np.append(slope, gap), rcond=None)[0], [x.size])
        x = x + step
    done = error < settings.tolerance
    return ocp.SolverResult(x, free, lam, "solved" if done else "not solved", done, monitor.iteration)


ocp.add_solver("newton", newton)

if __name__ == "__main__":
    turned = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd), 0.0, 0.0))
    phase = [ocp.Phase("swing", 30, 1.0, objective=[ocp.TorqueSquared()])]
    solution = ocp.Problem(od.models.pendulum(), phase, boundary=[turned]).solve(solver="newton", progress=False)
    print(solution.status, solution.stats["iterations"], "iterations, cost", round(solution.objective, 6))
