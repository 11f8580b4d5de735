"""Times of quadratic programs in stages: ours beside PIQP, OSQP and HPIPM, through CasADi, on the same programs.

    python -m scripts.bench.stage_qp [--repetitions 5] [--quick] [--json]

Random programs in general position with a feasible point, of the sizes of predictive controllers by inverse dynamics:
two integrators per degree of freedom, accelerations and contact forces as controls, equality rows, rows with two-sided
bounds, bounds of all variables. All solvers get the tolerance 1e-6, but HPIPM, to which CasADi hands none; they take
turns in one process. Figures are the least processor times, without the set-up of the others' structures. "warm": ours
again, after the costs have changed by a hundredth. A solver that CasADi does not load, or that fails, has no figure.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ocp_dyn.native.libraries import STAGE_QP
from ocp_dyn.ocp.solvers.stage_qp.solver import StageSolver
from ocp_dyn.ocp.solvers.stage_qp.statement import StageQP
from scripts.common import Table, command_line

TOLERANCE = 1e-6
ABSENT = 1e20
FAR = 1e4
"""Number that stands for an absent bound with HPIPM, which does not converge with infinite ones."""

SIZES = {
    "quadruped, 25 stages": (25, 18, 12, 40, 18),
    "quadruped, 53 stages": (53, 18, 12, 40, 18),
    "humanoid, 40 stages": (40, 35, 12, 61, 18),
}
"""Stages, degrees of freedom, forces, rows, equality rows."""

OPTIONS: dict[str, dict[str, Any]] = {
    "piqp": {"piqp": {"eps_abs": TOLERANCE, "eps_rel": 0.0}},
    "osqp": {"osqp": {"eps_abs": TOLERANCE, "eps_rel": 0.0, "max_iter": 20_000, "verbose": False}},
    "hpipm": {"hpipm": {"iter_max": 100}},
}


class Sparse(NamedTuple):
    """A program as CasADi's QP solvers take it: costs, rows with bounds, bounds of the variables."""

    H: ca.DM
    g: np.ndarray
    A: ca.DM
    rows: tuple[np.ndarray, np.ndarray]
    bounds: tuple[np.ndarray, np.ndarray]


def program(rng: np.random.Generator, stages: int, n: int, forces: int, m: int, ne: int) -> StageQP:
    """A random program with a strictly feasible point; half of its bounds are absent, rows have zeros."""
    N, nx, nu = stages, 2 * n, n + forces
    nz = nx + nu
    C = rng.normal(size=(N + 1, m, nz)) * (rng.random((1, m, nz)) < 0.4)
    z, h = 0.3 * rng.normal(size=(N + 1, nz)), np.full(N, 0.02)
    z[-1, nx:] = 0.0
    E = rng.normal(size=(N, ne, nz)) * np.r_[0.1 * np.ones(nx), np.ones(nu)]
    x = 0.1 * rng.normal(size=nx)
    x0 = x.copy()
    for k in range(N + 1):
        z[k, :nx] = x
        q, qd, qdd = x[:n], x[n:], z[k, nx : nx + n]
        x = np.r_[q + 0.02 * qd + 0.0002 * qdd, qd + 0.02 * qdd]
    c = rng.normal(size=(N + 1, m))
    bounds = {}
    for name, value in {"": np.einsum("kij,kj->ki", C, z) + c, "z": z}.items():
        for side, sign in (("lower", -1), ("upper", 1)):
            bound = value + sign * rng.uniform(0.05, 1, value.shape)
            bounds[name + side] = np.where(rng.random(value.shape) < 0.5, sign * ABSENT, bound)
        bounds[f"{name}price"] = np.full(value.shape, ABSENT)
    w = rng.random((N + 1, m)) * (rng.random(m) < 0.5)
    return StageQP(
        d=rng.uniform(0.1, 1, (N + 1, nz)), g=rng.normal(size=(N + 1, nz)), C=C, c=c, w=w, E=E,
        e=-np.einsum("kij,kj->ki", E, z[:-1]), b=np.zeros((N, nx)), h=h, x0=x0, **bounds,
    )  # fmt: skip


def sparse(qp: StageQP) -> Sparse:
    """The program stage by stage: dynamics, then equality rows and rows of the stage, as HPIPM asks for."""
    N, nx, nu = qp.sizes[:3]
    nz, n, total = nx + nu, nx // 2, N * (nx + nu) + nx
    H, A, low, up = [], [], [], []
    for k in range(N + 1):
        C, width = qp.C[k][:, : nz if k < N else nx], nz if k < N else nx
        H.append(ca.sparsify(ca.DM(np.diag(qp.d[k, :width]) + C.T @ (qp.w[k][:, None] * C))))
        rows = [np.hstack([qp.E[k]])] if k < N else []
        before, after = ca.DM(0, k * nz), total - k * nz - width
        if k < N:
            h, I = qp.h[k], np.eye(n)
            F = np.hstack([np.block([[I, h * I, h * h / 2 * I], [0 * I, I, h * I]]), np.zeros((nx, nu - n))])
            gap = ca.horzcat(ca.DM(nx, k * nz), ca.sparsify(ca.DM(F)), -ca.DM.eye(nx), ca.DM(nx, after - nx))
            A.append(gap)
            low.append(-qp.b[k])
            up.append(-qp.b[k])
        rows.append(C)
        block = ca.sparsify(ca.DM(np.vstack(rows)))
        A.append(ca.horzcat(ca.DM(block.size1(), before.size2()), block, ca.DM(block.size1(), after)))
        fixed = [-qp.e[k]] if k < N else []
        low.append(np.concatenate([*fixed, qp.lower[k] - qp.c[k]]))
        up.append(np.concatenate([*fixed, qp.upper[k] - qp.c[k]]))
    flat = [np.concatenate([a[:-1].ravel(), a[-1, :nx]]) for a in (qp.g, qp.zlower, qp.zupper)]
    g = flat[0] + np.concatenate(
        [(qp.C[k].T @ (qp.w[k] * qp.c[k]))[: nz if k < N else nx] for k in range(N + 1)]
    )  # fmt: skip
    flat[1][:nx] = flat[2][:nx] = qp.x0
    limits = tuple(
        np.where(np.abs(x) < 1e19, x, np.copysign(np.inf, x)) for x in (np.concatenate(low), np.concatenate(up))
    )
    bounds = tuple(np.where(np.abs(x) < 1e19, x, np.copysign(np.inf, x)) for x in flat[1:])
    return Sparse(ca.diagcat(*H), g, ca.vertcat(*A), (limits[0], limits[1]), (bounds[0], bounds[1]))


def peer(name: str, qp: StageQP) -> Callable[[], float] | None:
    """A solve by one of CasADi's solvers, which returns the cost; None if CasADi does not load it."""
    if not ca.has_conic(name):
        return None
    N, nx, nu, m, ne, _ = qp.sizes
    s, options = sparse(qp), dict(OPTIONS[name])
    low, up, zlow, zup = *s.rows, *s.bounds
    if name == "hpipm":
        low, up, zlow, zup = (np.clip(x, -FAR, FAR) for x in (low, up, zlow, zup))
        options |= {"N": N, "nx": (N + 1) * [nx], "nu": [*(N * [nu]), 0], "ng": [*(N * [ne + m]), m]}
    options |= {"error_on_fail": True}
    solver = ca.conic("qp", name, {"h": s.H.sparsity(), "a": s.A.sparsity()}, options)
    call = {"h": s.H, "g": s.g, "a": s.A, "lba": low, "uba": up, "lbx": zlow, "ubx": zup}
    return lambda: float(solver(**call)["cost"])


def cost(qp: StageQP, z: np.ndarray) -> float:
    """The cost of a solution, without the constant of the rows."""
    N, nx = len(qp.h), len(qp.x0)
    z = z.copy()
    z[N, nx:] = 0.0
    values = np.einsum("kij,kj->ki", qp.C, z)
    return float(np.sum(qp.d * z**2 / 2 + qp.g * z) + np.sum(qp.w * (values**2 / 2 + qp.c * values)))


def timed(call: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Least processor time [ms], and the result."""
    best, result = np.inf, None
    for _ in range(repetitions):
        begin = time.process_time()
        result = call()
        best = min(best, time.process_time() - begin)
    return 1e3 * best, result


def measured(size: tuple[int, ...], repetitions: int) -> dict[str, float]:
    """Figures of all solvers for programs of one size."""
    rng = np.random.default_rng(0)
    qp = program(rng, *size)
    solver = StageSolver(*qp.sizes)
    ours, found = timed(lambda: solver.solve(qp, tolerance=TOLERANCE), repetitions)
    row = {"ours": ours, "iterations": float(found.iterations), "per factorization": ours / found.iterations}
    near = moved(qp, found.z, 0.01 * rng.normal(size=qp.g.shape))
    row["warm"] = np.inf
    for _ in range(repetitions):
        solver.solve(qp, tolerance=TOLERANCE)
        taken, again = timed(lambda: solver.solve(near, warm=True, tolerance=TOLERANCE), 1)
        row |= {"warm": min(row["warm"], taken), "warm iterations": float(again.iterations)}
    best = cost(qp, found.z)
    for name in OPTIONS:
        row[name] = np.nan
        try:
            call = peer(name, qp)
            if call is not None:
                row[name], value = timed(call, max(1, repetitions // 2))
                row[f"{name} cost"] = value / best - 1
        except RuntimeError as error:
            print(f"{name} fails: {str(error).splitlines()[-1][:100]}")
    return row


def moved(qp: StageQP, z: np.ndarray, change: np.ndarray) -> StageQP:
    """The program about its solution, with another gradient: what the next step of a controller solves."""
    values = {name: getattr(qp, name) for name in qp.__dataclass_fields__}
    n, h, a, b = len(qp.x0) // 2, qp.h[:, None], z[:-1], z[1:]
    q, qd, qdd = a[:, :n], a[:, n : 2 * n], a[:, 2 * n : 3 * n]
    gaps = np.hstack([q + h * qd + h * h / 2 * qdd, qd + h * qdd]) - b[:, : 2 * n]
    values |= {"g": qp.g + qp.d * z + change, "c": qp.c + np.einsum("kij,kj->ki", qp.C, z), "b": qp.b + gaps}
    values |= {"e": qp.e + np.einsum("kij,kj->ki", qp.E, z[:-1]), "x0": qp.x0 - z[0, : 2 * n]}
    for name in ("zlower", "zupper"):
        values[name] = np.where(np.abs(values[name]) < 1e19, values[name] - z, values[name])
    return StageQP(**values)


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--repetitions", type=int, default=5, help="solves of every program (default 5)")
    parser.add_argument("--quick", action="store_true", help="the smallest programs only")
    parser.add_argument("--json", action="store_true", help="the figures as the last line")
    options = parser.parse_args()
    STAGE_QP.obtain(wait=True)
    sizes = dict(list(SIZES.items())[: 1 if options.quick else None])
    rows = {name: measured(size, options.repetitions) for name, size in sizes.items()}
    titles = ("ours ms", "steps", "ms each", "warm ms", "warm steps", "PIQP ms", "OSQP ms", "HPIPM ms")
    table = Table({"": "<22s"} | dict.fromkeys(titles, "9.3g"))
    for name, r in rows.items():
        figures = r["ours"], r["iterations"], r["per factorization"], r["warm"], r["warm iterations"]
        peers = (r[name] for name in OPTIONS)
        table.row(name, *figures, *(None if np.isnan(x) else x for x in peers))
    if options.json:
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
