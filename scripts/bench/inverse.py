"""Inverse optimal control of small problems: two levels by Gauss-Newton (`ocp.fit`), one level, and search without
derivatives, side by side: processor time, factorizations, error of the planted weights.

python -m scripts.bench.inverse [--search]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.analysis.active_set import table_of
from ocp_dyn.ocp.recorded.fitting.gauss_newton import damped_step
from ocp_dyn.ocp.recorded.fitting.motions import _moved
from ocp_dyn.ocp.workflows.attempt import prepare
from ocp_dyn.ocp.workflows.optimum_system import OptimumSystem
from problems import five_link

PLANTED = {"TorqueSquared": 1.0, "AccelerationSquared": 0.3, "MechanicalWork": 2.0}
FIRST = {"TorqueSquared": 1.0, "AccelerationSquared": 0.05, "MechanicalWork": 0.4}
SOLVE: dict[str, Any] = {"progress": False, "tolerance": 1e-9, "threads": 1}
SPREAD = 1e-3
LONGEST = 0.3
"""Longest step of a weight, on the logarithmic scale, in the single-level form: from 1 on it fails more often."""


def costs(size: float = 1.0) -> list[Any]:
    """The first weights, in units of the problem."""
    return [
        ocp.TorqueSquared(FIRST["TorqueSquared"]), ocp.AccelerationSquared(FIRST["AccelerationSquared"] * size),
        ocp.MechanicalWork(FIRST["MechanicalWork"] * size, smoothing=2.0),
    ]  # fmt: skip


def swing(model: od.Model, end: Sequence[float], duration: float, **options: Any) -> ocp.Problem:
    ends = ocp.Boundary(lambda start, last: (ca.vertcat(start.q, start.qd, last.q - ca.DM(end), last.qd), 0, 0))
    return ocp.Problem(model, [ocp.Phase("swing", 30, duration, objective=costs())], boundary=[ends], **options)


def cases() -> dict[str, list[ocp.Problem]]:
    pendulum = od.models.pendulum(1)
    strong = pendulum.with_limits(effort=dict.fromkeys(pendulum.qd_names, 6.0))
    acrobot = od.models.pendulum(2)
    step = five_link.problem(form="implicit", intervals=25)
    walks = []
    for duration in (0.6, 0.8):
        phase = replace(step.phases[0], duration=duration, objective=costs(4.0))
        walks.append(replace(step, phases=[phase]))
    return {
        "pendulum, torque limited": [swing(strong, [np.pi], T) for T in (2.0, 2.6)],
        "acrobot": [swing(acrobot, [np.pi, 0.0], T, unactuated=(acrobot.joint_names[0],)) for T in (3.0, 3.5)],
        "five_link": walks,
    }


@dataclass
class Single:
    """One motion of the single-level form: variables and multipliers of the program that are not yet optimal."""

    problem: ocp.Problem
    data: ocp.Measured
    solution: ocp.Solution

    def at(self, p: np.ndarray) -> ocp.Solution:
        return replace(self.solution, record=replace(table_of(self.solution), values=p))

    def system(self, p: np.ndarray, names: Sequence[str]) -> tuple[Any, ...]:
        """Residual r, its change along the Newton step, its Jacobian by the parameters, the steps of the iterate, and
        the size of the first-order conditions."""
        t, program = prepare(self.problem, 1)
        here = self.at(p)
        system = OptimumSystem.at(t, program, here)
        x, lam_g, e = here.iterate["x"], here.iterate["lam_g"], program.evaluator
        gradient = e.gradient(x, p) + np.array((system.J.T @ ca.DM(lam_g)).full()).ravel()
        g = e.constraints(x, p).copy()
        lower, upper = program.row_lower[system.rows], program.row_upper[system.rows]
        bound = np.where(np.isfinite(lower), lower, upper)
        bound = np.where((lower < upper) & (lam_g[system.rows] > 0) & np.isfinite(upper), upper, bound)
        gap = g[system.rows] - bound
        z, _ = system._solved(-gradient[system.free][:, None], -gap[:, None])
        dx, dlam = np.zeros(x.size), np.zeros(lam_g.size)
        dx[system.free], dlam[system.rows] = z[: len(system.free), 0], z[len(system.free) :, 0]
        dlam[np.setdiff1d(np.arange(lam_g.size), system.rows)] = -lam_g[
            np.setdiff1d(np.arange(lam_g.size), system.rows)
        ]
        places = [int(q.index[0]) for name in names for q in t.program.parameters if q.name == name]
        slopes = system.slopes(places)
        base = self.data.residual(_moved(t, program, here, p))

        def along(direction: np.ndarray) -> np.ndarray:
            h = 1e-6 / max(1.0, float(np.abs(direction).max(initial=0.0)))
            return (self.data.residual(_moved(t, program, here, p, h * direction)) - base) / h

        J = np.column_stack([along(s.x) for s in slopes])
        size = float(np.abs(gradient[system.free]).sum() + np.abs(gap).sum())
        return base, along(dx), J, (dx, dlam, slopes), size


def single_level(problems: list[ocp.Problem], data: list[ocp.Measured], names: list[str]) -> tuple[np.ndarray, int]:
    """The weights by Newton steps on the first-order conditions of all motions together; number of factorizations."""
    parameters = [f"weight of {name}" for name in names]
    motions = [Single(p, d, p.solve(**SOLVE)) for p, d in zip(problems, data, strict=True)]
    factorizations = sum(m.solution.stats["iterations"] for m in motions)
    p0 = [dict(zip(table_of(m.solution).parameters, table_of(m.solution).values, strict=True)) for m in motions]
    z = np.log([p0[0][name] for name in parameters])
    gauge, damping = np.ones(len(names), dtype=bool), 1e-3
    for _ in range(200):
        values = [
            np.array([{**start, **dict(zip(parameters, np.exp(z), strict=True))}[n] for n in start]) for start in p0
        ]
        found = [m.system(p, parameters) for m, p in zip(motions, values, strict=True)]
        factorizations += len(motions)
        r = np.concatenate([f[0] + f[1] for f in found])
        J = np.concatenate([f[2] for f in found]) * np.exp(z)
        limit = np.full(z.size, np.inf)
        dz = damped_step(J, r, damping, np.sum(J**2, axis=0), -limit, limit, gauge)
        dz *= min(1.0, LONGEST / np.abs(dz).max())
        longest = max(float(np.abs(f[3][0]).max(initial=0.0)) for f in found)
        share = min(1.0, 1.0 / longest) if longest else 1.0
        dp = np.exp(z + share * dz) - np.exp(z)
        for m, p, (_, _, _, (dx, dlam, slopes), _) in zip(motions, values, found, strict=True):
            it, (t, program) = m.solution.iterate, prepare(m.problem, 1)
            x = it["x"] + share * dx + sum(c * s.x for c, s in zip(dp, slopes, strict=True))
            x = np.clip(x, t.program.x_lower, t.program.x_upper)
            lam_g = it["lam_g"] + share * dlam + sum(c * s.lam_g for c, s in zip(dp, slopes, strict=True))
            e = program.evaluator
            J_g = ca.DM(e.jacobian_pattern, e.jacobian(x, p).copy())
            lam_x = -(e.gradient(x, p) + np.array((J_g.T @ ca.DM(lam_g)).full()).ravel())
            at_bound = (x <= t.program.x_lower) | (x >= t.program.x_upper)
            m.solution = replace(m.solution, iterate={"x": x, "lam_g": lam_g, "lam_x": np.where(at_bound, lam_x, 0.0)})
        z = z + share * dz
        if np.abs(dz).max() < 1e-6 and max(f[4] for f in found) < 1e-4:
            break
        damping = max(damping / 3, 1e-9)
    else:
        raise RuntimeError("not converged")
    return np.exp(z), factorizations


def search(problems: list[ocp.Problem], data: list[ocp.Measured], names: list[str]) -> tuple[np.ndarray, int]:
    """The weights by the simplex search of Nelder and Mead, which needs no derivatives; number of factorizations."""
    from scipy.optimize import minimize

    kept, work = [p.solve(**SOLVE) for p in problems], [0]
    start = np.log([problems[0].weights[name] for name in names])

    def distance(z: np.ndarray) -> float:
        total = 0.0
        for k, problem in enumerate(problems):
            values = {f"weight of {name}": x for name, x in zip(names[1:], np.exp(z), strict=True)}
            solution = problem.solve(values=values, start=kept[k], **SOLVE)
            work[0] += solution.stats["iterations"]
            if not solution.converged:
                return 1e12
            kept[k] = solution
            total += float(np.sum(data[k].residual(solution) ** 2))
        return total

    found = minimize(distance, start[1:], method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9, "maxfev": 2000})
    return np.exp(np.concatenate([start[:1], found.x])), work[0]


def two_levels(problems: list[ocp.Problem], data: list[ocp.Measured], names: list[str]) -> tuple[np.ndarray, int]:
    named = {f"{k}": p for k, p in enumerate(problems)}
    found = ocp.fit(named, {f"{k}": [d] for k, d in enumerate(data)}, names, progress=False)
    return np.array([found[name] for name in names]), int(found.work["iterations"] + found.work["systems"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--search", action="store_true", help="search without derivatives, too")
    o = parser.parse_args()
    ways: dict[str, Callable[..., Any]] = {"two levels": two_levels, "one level": single_level}
    ways |= {"Nelder-Mead": search} if o.search else {}
    for case, problems in cases().items():
        names = list(problems[0].weights)
        size = {name: problems[0].weights[name] / FIRST[name] for name in names}
        planted = {name: PLANTED[name] * size[name] for name in names}
        data = []
        for problem in problems:
            motion = problem.with_weights(planted).solve(**SOLVE)
            data.append(ocp.Measured.motion("q", motion.q, SPREAD))
        for way, found_by in ways.items():
            fresh = [replace(problem) for problem in problems]
            for problem in fresh:
                prepare(problem, 1)
            begin = time.process_time()
            try:
                weights, factorizations = found_by(fresh, data, names)
            except (RuntimeError, ValueError, np.linalg.LinAlgError) as error:
                print(f"{case:26} {way:12} {type(error).__name__}: {str(error)[:90]}", flush=True)
                continue
            seconds = time.process_time() - begin
            ratio = np.log(weights / np.array([planted[name] for name in names]))
            error = np.max(np.abs(ratio - ratio[0]))
            print(
                f"{case:26} {way:12} {seconds:6.2f} s, {factorizations:6d} factorizations, error {error:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
