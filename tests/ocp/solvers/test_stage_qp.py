"""Quadratic programs in stages: the solver in C and the one in numpy against dense optimality conditions."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from ocp_dyn.native.libraries import STAGE_QP
from ocp_dyn.ocp.solvers.stage_qp.interior import InteriorPoint
from ocp_dyn.ocp.solvers.stage_qp.solver import StageSolver
from ocp_dyn.ocp.solvers.stage_qp.statement import StageQP

HAS_LIBRARY = STAGE_QP.obtain(wait=True)[0] is not None
WAYS = [pytest.param("C", marks=pytest.mark.skipif(not HAS_LIBRARY, reason="no native library")), "numpy"]
NONE = 1e20


def program(rng, N=5, n=4, forces=3, m=7, ne=3, *, price=NONE, dense=False):
    """A random program in general position with a strictly feasible point; half of its bounds are absent."""
    nx, nu = 2 * n, n + forces
    nz = nx + nu
    C = rng.normal(size=(N + 1, m, nz)) * (rng.random((N + 1, m, nz)) < 0.5)
    C[:, :1, :16] = 0.0  # a whole block of zeros
    E, z, h = rng.normal(size=(N, ne, nz)), 0.3 * rng.normal(size=(N + 1, nz)), rng.uniform(0.02, 0.2, N)
    F = rng.normal(size=(N, nx, nz)) / nz**0.5 if dense else double_integrators(h, nx, nu)
    z[:, :nx] *= 0.3
    z[-1, nx:] = 0.0
    b = np.array([z[k + 1, :nx] - F[k] @ z[k] for k in range(N)])
    c = rng.normal(size=(N + 1, m))
    values = {"": np.einsum("kij,kj->ki", C, z) + c, "z": z}
    bounds = {}
    for name, value in values.items():
        for side, sign in (("lower", -1), ("upper", 1)):
            bound = value + sign * rng.uniform(0.05, 1, value.shape)
            bounds[name + side] = np.where(rng.random(value.shape) < 0.5, sign * NONE, bound)
        bounds[f"{name}price"] = np.full(value.shape, price)
    P = rng.normal(size=(nx, nx))
    return StageQP(
        d=rng.uniform(0.1, 1, (N + 1, nz)), g=rng.normal(size=(N + 1, nz)), C=C, c=c,
        w=rng.random((N + 1, m)) * (rng.random((N + 1, m)) < 0.5), E=E, e=-np.einsum("kij,kj->ki", E, z[:-1]), b=b,
        h=h, x0=z[0, :nx], F=F if dense else None, P=P @ P.T, **bounds,
    )  # fmt: skip


def double_integrators(h, nx, nu):
    n, I = nx // 2, np.eye(nx // 2)
    F = np.zeros((len(h), nx, nx + nu))
    for k, step in enumerate(h):
        F[k, :n] = np.hstack([I, step * I, step**2 / 2 * I, np.zeros((n, nu - n))])
        F[k, n:] = np.hstack([0 * I, I, step * I, np.zeros((n, nu - n))])
    return F


def optimality(qp, found):
    """Largest residuals: of equalities, of inequalities that are not paid for, of the stationarity of the Lagrangian,
    and of multipliers of bounds that do not hold; all of the whole dense program."""
    N, nx, nu, m, _, _ = qp.sizes
    nz, z = nx + nu, found.z
    F = double_integrators(qp.h, nx, nu) if qp.F is None else qp.F
    rows = [np.eye(nx, (N + 1) * nz)]
    equal = [z[0, :nx] - qp.x0]
    for k in range(N):
        row = np.zeros((nx + qp.E.shape[1], (N + 1) * nz))
        row[:, k * nz : (k + 1) * nz] = np.vstack([F[k], qp.E[k]])
        row[:nx, (k + 1) * nz : (k + 1) * nz + nx] = -np.eye(nx)
        rows.append(row)
        equal += [F[k] @ z[k] + qp.b[k] - z[k + 1, :nx], qp.E[k] @ z[k] + qp.e[k]]
    C = qp.C.copy()
    C[-1, :, nx:] = 0.0
    values = np.einsum("kij,kj->ki", C, z) + qp.c
    force = found.multipliers
    gradient = qp.d * z + qp.g + np.einsum("kij,ki->kj", C, qp.w * values + force[:, :m]) + force[:, m:]
    gradient[-1, :nx] += 0.0 if qp.P is None else qp.P @ z[-1, :nx]
    gradient[-1, nx:] = 0.0
    A = np.vstack(rows)
    free = gradient.ravel() - A.T @ np.linalg.lstsq(A.T, gradient.ravel(), rcond=None)[0]
    both, price = np.hstack([values, z]), np.hstack([qp.price, qp.zprice])
    over = np.maximum(both - np.hstack([qp.upper, qp.zupper]), np.hstack([qp.lower, qp.zlower]) - both)
    over[0, m : m + nx] = over[-1, m + nx :] = -1.0
    over[(np.abs(force) > price * (1 - 1e-4))] = 0.0  # paid for
    loose = np.abs(force) * np.maximum(-over, 0.0)
    return [float(np.max(np.abs(x), initial=0.0)) for x in (np.concatenate(equal), np.maximum(over, 0), free, loose)]


def solver(qp, way):
    made = StageSolver(*qp.sizes)
    if way == "numpy":
        made._method = InteriorPoint(qp.sizes)
    return made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dense", [False, True])
def test_solutions_are_optimal(way, dense):
    for seed in range(3):
        qp = program(np.random.default_rng(seed), dense=dense)
        found = solver(qp, way).solve(qp, tolerance=1e-10)
        assert found.status == "solved"
        assert max(optimality(qp, found)) < 1e-7
        assert np.count_nonzero(np.abs(found.multipliers) > 1e-3) > 3  # bounds are active


@pytest.mark.skipif(not HAS_LIBRARY, reason="no native library")
def test_both_ways_take_the_same_steps():
    rng = np.random.default_rng(5)
    for price in (NONE, 0.5):
        qp = program(rng, price=price)
        qp = replace(qp, x0=qp.x0 + (0.0 if price == NONE else 0.5))
        ways = [solver(qp, way) for way in ("C", "numpy")]
        first, second = (made.solve(qp, iterations=7) for made in ways)
        assert first.iterations == second.iterations
        assert first.status == second.status
        for name in ("z", "K", "multipliers", "violations", "scales"):
            assert np.allclose(getattr(first, name), getattr(second, name), rtol=1e-6, atol=1e-9), name
        again = replace(qp, g=qp.g + 0.05, x0=qp.x0 + 0.02)
        for made in ways:
            made.shift(1)
        first, second = (made.solve(again, warm=True, iterations=5, start=1e-2) for made in ways)
        assert np.allclose(first.z, second.z, rtol=1e-6, atol=1e-9)
        first, second = (made.feedback(again.x0 + 0.1, iterations=5) for made in ways)
        for name in ("z", "K"):
            assert np.allclose(getattr(first, name), getattr(second, name), rtol=1e-5, atol=1e-7), name


@pytest.mark.parametrize("way", WAYS)
def test_dependent_rows_and_rows_that_no_control_acts_on(way):
    rng = np.random.default_rng(1)
    qp = program(rng, ne=6)
    E, e = qp.E.copy(), qp.e.copy()
    E[:, 3], e[:, 3] = E[:, 0] - 2 * E[:, 1], e[:, 0] - 2 * e[:, 1]  # twice the same fact
    E[:, 4:, 8:], E[0, 4:] = 0.0, 0.0  # states alone: the stage before must bring them there
    point = replace(qp, E=E, e=e)
    z = solver(qp, way).solve(qp).z
    e[:, 4:] = -np.einsum("kij,kj->ki", E[:, 4:], z[:-1])
    e[0, 4:] = 0.0
    found = solver(point, way).solve(point, tolerance=1e-10)
    assert found.solved, found
    assert found.unmet < 1e-9
    assert max(optimality(point, found)) < 1e-6


@pytest.mark.parametrize("way", WAYS)
def test_contradicting_rows_are_told(way):
    qp = program(np.random.default_rng(2), ne=3)
    E, e = qp.E.copy(), qp.e.copy()
    E[1, 2], e[1, 2] = E[1, 0], e[1, 0] + 0.25
    found = solver(qp, way).solve(replace(qp, E=E, e=e))
    assert found.status == "contradiction"
    assert found.unmet == pytest.approx(0.25, rel=0.9)
    assert np.all(np.isfinite(found.z))


@pytest.mark.parametrize("way", WAYS)
def test_windows_without_a_feasible_point_pay_the_price(way):
    qp = program(np.random.default_rng(3), price=0.4)
    qp = replace(qp, x0=qp.x0 + 1.0)
    found = solver(qp, way).solve(qp, tolerance=1e-10)
    assert found.status == "relaxed"
    assert found.solved
    assert np.max(found.violations) > 0.1
    assert max(optimality(qp, found)) < 1e-7
    hard = solver(qp, way).solve(replace(qp, price=qp.price + NONE, zprice=qp.zprice + NONE))
    assert not hard.solved
    assert hard.primal > 1e-3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_warm_starts_after_a_shift(way):
    qp = program(np.random.default_rng(4), N=8)
    made = solver(qp, way)
    cold = made.solve(qp)
    # two stages later: the window's rest, with its solution as the point of linearization
    rest = moved(qp, cold.z, 2)
    made.shift(2)
    shifted = made.solve(rest, warm=True)
    assert shifted.solved
    assert shifted.iterations < solver(rest, way).solve(rest).iterations
    assert max(optimality(rest, shifted)) < 1e-5


def moved(qp, z, steps):
    """The program about its solution, from stage `steps` on, with its last stages repeated."""
    N = len(qp.h)
    nodes, stages = np.minimum(np.arange(N + 1) + steps, N - 1), np.minimum(np.arange(N) + steps, N - 1)
    nodes[-1] = N
    nx, at = len(qp.x0), z[nodes]
    new = {f.name: getattr(qp, f.name) for f in fields(qp)}
    new |= {
        name: new[name][nodes]
        for name in ["d", "g", "C", "c", "w", "lower", "upper", "price", "zlower", "zupper", "zprice"]
    }
    new |= {name: new[name][stages] for name in ["E", "e", "b", "h"]}
    new["g"] = new["g"] + new["d"] * at
    new["c"] = new["c"] + np.einsum("kij,kj->ki", new["C"], at)
    for name in ("zlower", "zupper"):
        new[name] = np.where(np.abs(new[name]) < 1e19, new[name] - at, new[name])
    new["zlower"], new["zupper"] = np.minimum(new["zlower"], -0.01), np.maximum(new["zupper"], 0.01)
    new["lower"] = np.minimum(new["lower"], new["c"] - 0.01)
    new["upper"] = np.maximum(new["upper"], new["c"] + 0.01)
    new["e"], new["b"], new["x0"] = 0 * new["e"], 0 * new["b"], np.full(nx, 1e-3)
    return StageQP(**new)


@pytest.mark.parametrize("way", WAYS)
def test_gains_are_derivatives_of_the_first_controls(way):
    qp = program(np.random.default_rng(6))
    free = {name: np.sign(getattr(qp, name)) * NONE for name in ("lower", "upper", "zlower", "zupper")}
    free |= {"lower": -NONE + 0 * qp.lower, "zlower": -NONE + 0 * qp.d}
    free |= {"upper": NONE + 0 * qp.lower, "zupper": NONE + 0 * qp.d}
    qp, nx = replace(qp, **free), len(qp.x0)
    made = solver(qp, way)
    found, dx = made.solve(qp), np.random.default_rng(0).normal(size=nx)
    moved_by = made.solve(replace(qp, x0=qp.x0 + dx)).z - found.z
    assert found.iterations == 1
    for k in range(len(qp.h)):
        assert np.allclose(made.gains(k) @ moved_by[k, :nx], moved_by[k, nx:], rtol=1e-9, atol=1e-9)
    assert np.array_equal(found.K, made.gains(0))


@pytest.mark.parametrize("way", WAYS)
def test_feedback_answers_another_first_state(way):
    """Exactly without bounds, and while the same bounds are active; else within the bounds of the first stage."""
    qp = program(np.random.default_rng(6), ne=4)
    E, e = qp.E.copy(), qp.e.copy()
    E[:, 3, 8:], E[0, 3], e[0, 3] = 0.0, 0.0, 0.0  # of the state alone
    e[1:, 3] = -np.einsum("kj,kj->k", E[1:, 3], solver(qp, way).solve(qp).z[1:-1])
    qp = replace(qp, E=E, e=e)
    free = {name: -NONE + 0 * getattr(qp, name) for name in ("lower", "zlower")}
    free |= {name: NONE + 0 * getattr(qp, name) for name in ("upper", "zupper")}
    change = 0.2 * np.random.default_rng(0).normal(size=qp.x0.size)
    for name, which, dx in (("free", replace(qp, **free), change), ("bounded", qp, 1e-4 * change)):
        made = solver(which, way)
        before = made.solve(which, tolerance=1e-10).z
        for share in (0.5, 1.0):  # one feedback after the other
            found = made.feedback(which.x0 + share * dx, tolerance=1e-10)
        other = solver(which, way).solve(replace(which, x0=which.x0 + dx), tolerance=1e-10)
        assert found.solved
        assert np.allclose(found.z[:, :8], other.z[:, :8], rtol=0, atol=1e-3 * np.abs(other.z - before).max()), name
        assert np.allclose(found.z[:-1], other.z[:-1], rtol=0, atol=1e-3 * np.abs(other.z - before).max()), name
    plain = program(np.random.default_rng(6), ne=4)
    made = solver(plain, way)
    before, K = made.solve(plain, tolerance=1e-10).z, made.gains(0)
    far = made.feedback(plain.x0 + change, tolerance=1e-10)
    assert far.violations[0].max() < 1e-7
    assert np.abs(far.z[0, 8:] - before[0, 8:] - K @ change).max() > 0.1  # limits were met, not the gains
    with pytest.raises(ValueError, match="no solution yet"):
        solver(qp, way).feedback(qp.x0)
    with pytest.raises(ValueError, match="x0 must be 8 numbers"):
        made.feedback(qp.x0[1:])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [f.name for f in fields(StageQP) if f.name != "F"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.slow
def test_numbers_that_are_not_finite(way, name, value):
    qp = program(np.random.default_rng(7), N=2, n=2)
    made = solver(qp, way)
    good = made.solve(qp)
    broken = getattr(qp, name).copy()
    broken[broken.ndim * (1,)] = value
    found = made.solve(replace(qp, **{name: broken}))
    absent = value == np.inf and name in ("upper", "zupper", "price", "zprice")
    assert found.status == ("solved" if absent else "not finite"), name
    assert np.all(np.isfinite(found.z))
    assert np.all(np.isfinite(found.K))
    again = made.solve(qp, warm=True)  # nothing of it is kept
    assert again.solved
    assert np.allclose(again.z, good.z, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_units_do_not_matter(way):
    qp = program(np.random.default_rng(8))
    found = solver(qp, way).solve(qp)
    scaled = {name: 1e-6 * getattr(qp, name) for name in ("d", "g", "w", "P")}
    other = solver(qp, way).solve(replace(qp, **scaled))
    assert other.iterations == found.iterations
    assert np.allclose(other.z, found.z, atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_flat_costs_leave_controls_at_rest(way):
    qp = program(np.random.default_rng(9), ne=0, m=0)
    d, g = qp.d.copy(), qp.g.copy()
    d[:, -1] = g[:, -1] = 0.0  # the last control neither costs nor acts
    wide = {"zlower": -NONE + 0 * d, "zupper": NONE + 0 * d}
    found = solver(qp, way).solve(replace(qp, d=d, g=g, **wide))
    assert found.replaced > 0
    assert np.max(np.abs(found.z[:, -1])) == 0.0


def test_sizes_are_checked():
    qp = program(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"StageQP.C must have the shape \(6, 7, 15\)"):
        StageSolver(*qp.sizes).solve(replace(qp, C=qp.C[:, :, 1:]))
    with pytest.raises(ValueError, match="nx = 7 and nu = 3: give F"):
        StageSolver(3, 7, 3, 0, 0)
    with pytest.raises(ValueError, match="dense=True"):
        StageSolver(*qp.sizes).solve(replace(qp, F=double_integrators(qp.h, 8, 7)))
    if HAS_LIBRARY:
        with pytest.raises(ValueError, match="more than 512 columns"):
            StageSolver(3, 400, 400, 0, 0)
