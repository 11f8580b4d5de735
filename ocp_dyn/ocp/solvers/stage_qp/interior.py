"""The interior-point method of stage_qp in numpy: what interior.c, recursion.c and eliminate.c do, for machines without
a compiler, and to read.

Inside, z = (u, x). The bounds of V = (C z + c, z) are sides, lower ones first: sign V + t - s = beta with multipliers
lambda of t and nu = price - lambda of s; s = 0 and nu is infinite where the bound is hard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...._base.types import Array
from ..riccati import split_rows
from .statement import ABSENT, STATUSES, StageQP, StageSizes, StageSolution

FRACTION = 0.995
"""Share of the step to the boundary that is taken."""

FULL, FULLY = 0.95, 15
"""Shorter steps are taken fully, in so many iterations and while products are below costs: a few sides would block them
after a change of the active ones. Where slacks and multipliers leave their range, or come near its end, one follows
from the other by their product."""

CENTRAL, SHRINKS = 0.1, 1e-3
"""Least product after a full step, relative to the one aimed at, and least ratio to the slack or multiplier before."""

CORRECTS = 0.3
"""Least length of a predicted step that tells a correction."""

KEEPS = 0.9
"""Ratio of the products aimed at to the present ones after a shorter predicted step; no other is predicted then."""

FADES = 0.3
"""Least ratio of the scales of two iterations, for solutions at which all vanishes."""


class Settings(NamedTuple):
    """Settings of a solve, in the order of stacked.c."""

    iterations: int
    warm: bool
    tolerance: float
    start: float


class _Reduced(NamedTuple):
    """z = T y + t, y being the free controls and x; L x = l: what rows of E leave to the state."""

    T: Array
    t: Array
    L: Array
    l: Array


class _Factors(NamedTuple):
    """Factors of a stage: the lower Cholesky factor of M_ff, its quotient with M_fx, and M, P."""

    U: Array
    V: Array
    M: Array
    P: Array


class _Stages:
    """A program with z = (u, x), and its rows of E eliminated."""

    def __init__(self, qp: StageQP, sizes: StageSizes) -> None:
        self.qp, (self.N, self.nx, self.nu, self.m, self.ne, _) = qp, sizes
        self.d, self.g, self.C = (self._turned(a).copy() for a in (qp.d, qp.g, qp.C))
        for a in (self.d, self.g, self.C):
            a[-1, ..., : self.nu] = 0.0
        self.F = [self._dynamics(k) for k in range(self.N)]
        self.inherited: list[tuple[Array, Array]] = []
        self.reduced, self.unmet = self._eliminated()
        bounds = [np.hstack([rows, self._turned(z)]) for rows, z in ((qp.lower, qp.zlower), (qp.upper, qp.zupper))]
        self.beta, prices = np.array([-bounds[0], bounds[1]]), np.hstack([qp.price, self._turned(qp.zprice)])
        self.present = (np.abs(self.beta) < ABSENT) & (prices > 0)
        self.center = np.zeros(self.nx)
        self.present[:, 0, self.m + self.nu :] = False
        self.present[:, -1, self.m : self.m + self.nu] = False
        self.price = np.where(prices < ABSENT, prices, np.inf)[None].repeat(2, 0)
        self.sign = np.array([-1.0, 1.0])[:, None, None]

    def _turned(self, a: Array) -> Array:
        return np.concatenate([a[..., self.nx :], a[..., : self.nx]], axis=-1)

    def _outside(self, a: Array) -> Array:
        return np.concatenate([a[..., self.nu :], a[..., : self.nu]], axis=-1)

    def _dynamics(self, k: int) -> Array:
        if self.qp.F is not None:
            return self._turned(self.qp.F[k])
        n, h, I = self.nx // 2, self.qp.h[k], np.eye(self.nx // 2)
        F = np.zeros((self.nx, self.nu + self.nx))
        F[:, :n], F[:, self.nu :] = np.vstack([h * h / 2 * I, h * I]), np.block([[I, h * I], [0 * I, I]])
        return F

    def _eliminated(self) -> tuple[list[_Reduced], float]:
        """The stages, and the largest residual of rows that contradict others."""
        found: list[_Reduced] = []
        L, l, unmet = np.zeros((0, self.nx)), np.zeros(0), 0.0
        for k in reversed(range(self.N)):
            self.inherited.insert(0, (self._outside(L @ self.F[k]), L @ self.qp.b[k] - l))
            rows = split_rows(np.vstack([self._turned(self.qp.E[k]), L @ self.F[k]]), self.nu)
            sides = rows.transform @ np.concatenate([-self.qp.e[k], l - L @ self.qp.b[k]])
            rank, left = rows.rank, rows.rank + rows.left
            free = [*rows.order[rank:], *range(self.nu, self.nu + self.nx)]
            T, t = np.zeros((self.nu + self.nx, len(free))), np.zeros(self.nu + self.nx)
            T[free, range(len(free))], T[rows.order[:rank]] = 1.0, -rows.reduced[:rank, free]
            t[rows.order[:rank]] = sides[:rank]
            L, l = rows.reduced[rank:left, self.nu :], sides[rank:left]
            unmet = max(unmet, float(np.max(np.abs(sides[left:]), initial=0.0)))
            found.append(_Reduced(T, t, L, l))
        return found[::-1], max(unmet, float(np.max(np.abs(L @ self.qp.x0 - l), initial=0.0)))

    def values(self, z: Array) -> Array:
        """C z + c and z (N+1, m + nu + nx)."""
        return np.hstack([np.einsum("kij,kj->ki", self.C, z) + self.qp.c, z])

    def back(self, values: Array) -> Array:
        """C' times the rows, plus the part of z."""
        return np.asarray(np.einsum("kij,ki->kj", self.C, values[:, : self.m]) + values[:, self.m :])

    def terminal(self, z: Array) -> Array:
        """P (x - center) of the last stage, as a part of the gradient."""
        out = np.zeros_like(z)
        if self.qp.P is not None:
            out[-1, self.nu :] = self.qp.P @ (z[-1, self.nu :] - self.center)
        return out


class InteriorPoint:
    """The method with its multipliers, which a warm start uses; its methods are described in `StageSolver`."""

    how = "in numpy, some hundred times slower than in C"

    def __init__(self, sizes: StageSizes) -> None:
        self.sizes = sizes
        self._kept = np.zeros((2, sizes.stages + 1, sizes.m + sizes.nx + sizes.nu))
        self._gains: list[Array] = [np.zeros((sizes.nu, sizes.nx)) for _ in range(sizes.stages)]

    def shift(self, steps: int) -> None:
        last = self.sizes.stages - 1
        self._kept[:, : last + 1] = self._kept[:, np.minimum(np.arange(last + 1) + steps, last)]

    def gains(self, k: int) -> Array:
        return self._gains[k]

    def solve(self, qp: StageQP, settings: Settings) -> StageSolution:
        with np.errstate(all="ignore"):
            self._run = _Run(self.sizes, qp, settings, self._kept)
            return self._run.finished(self)

    def feedback(self, x0: Array, settings: Settings) -> StageSolution:
        """The program of stage 0 with the cost to go of the last solution; later stages answer by their gains."""
        run, st = self._run, self._run.stages
        P, nx, (rows, sides) = run.factors[1].P, self.sizes.nx, st.inherited[0]
        E, e = np.vstack([st.qp.E[0], rows]), np.concatenate([st.qp.e[0], sides])
        names = ("d", "g", "C", "c", "w", "lower", "upper", "price", "zlower", "zupper", "zprice")
        arrays = {name: np.stack([getattr(st.qp, name)[0], 0 * getattr(st.qp, name)[0]]) for name in names}
        for name, bound in (("lower", -ABSENT), ("upper", ABSENT), ("zlower", -ABSENT), ("zupper", ABSENT)):
            arrays[name][1] = bound
        arrays["g"][1, :nx] = run.costates[1]
        F = None if st.qp.F is None else st.qp.F[:1]
        one = StageQP(**arrays, E=E[None], e=e[None], b=st.qp.b[:1], h=st.qp.h[:1], x0=x0, F=F, P=P)
        sizes = self.sizes._replace(stages=1, ne=len(e))
        owner = InteriorPoint(sizes)
        owner._kept = self._kept[:, :2].copy()
        with np.errstate(all="ignore"):
            first = _Run(sizes, one, settings, owner._kept)
            first.stages.center = run.z[1, st.nu :].copy()
            found = first.finished(owner)
        if found.status == "not finite":
            return found
        self._kept[:, 0], self._gains[0] = owner._kept[:, 0], owner.gains(0)
        dx = first.z[1, st.nu :] - run.z[1, st.nu :]
        run.z[0], run.costates[1] = first.z[0], run.costates[1] + P @ dx
        for k in range(1, st.N + 1):
            step = np.concatenate([self._gains[k] @ dx if k < st.N else np.zeros(st.nu), dx])
            run.z[k] += step
            dx = st.F[k] @ step if k < st.N else dx
        return replace(found, z=st._outside(run.z), K=self._gains[0])


class _Run:
    """One solve."""

    def __init__(self, sizes: StageSizes, qp: StageQP, settings: Settings, kept: Array) -> None:
        self.sizes, self.settings, self.kept = sizes, settings, kept
        self.finite = _all_finite(qp)
        if not self.finite:
            return
        self.stages = s = _Stages(qp, sizes)
        self.z = np.zeros((s.N + 1, s.nu + s.nx))
        self.lam = self.t = self.s = np.zeros_like(s.beta)
        self.count = int(np.sum(s.present)) + int(np.sum(s.present & np.isfinite(s.price)))
        self.iterations = self.replaced = 0
        self.blocked = False
        self.typical, self.scales = 0.0, (1.0, 0.0, 0.0)
        self.factors: list[_Factors] = []
        self.done = False

    def finished(self, owner: InteriorPoint) -> StageSolution:
        """Iterates, and tells the result."""
        s = self.sizes
        shape = s.stages + 1, s.m + s.nx + s.nu
        if not self.finite:
            zero = np.zeros(shape)
            return StageSolution(
                np.zeros((s.stages + 1, s.nx + s.nu)), np.zeros((s.nu, s.nx)), "not finite", 0, 0.0, 0.0, 0.0, 0.0,
                np.zeros(3), zero, zero,
            )  # fmt: skip
        good = self._begin()
        while good:
            self._measure()
            self._report()
            if self.done or self.iterations >= self.settings.iterations:
                break
            good = self._iterate()
        st = self.stages
        if good:
            owner._kept[:] = np.where(st.present, self.lam, 0.0)
            owner._gains[:] = [self._gain(k) for k in range(s.stages)]
        relaxed = st.present & (self.s > 1e-3 * self.t) & (self.s > 1e-6 * self.typical)
        word = 4 if not good else 1 if not self.done else 3 if st.unmet > 1e-6 else 2 if np.any(relaxed) else 0
        over = np.max(np.where(st.present, st.sign * st.values(self.z) - st.beta, 0.0), axis=0)
        back = [*range(s.m), *range(s.m + s.nu, s.m + s.nu + s.nx), *range(s.m, s.m + s.nu)]
        force = np.sum(np.where(st.present, st.sign * self.lam, 0.0), axis=0)
        return StageSolution(
            st._outside(self.z), owner.gains(0), STATUSES[word], self.iterations, *self.residuals, st.unmet,
            np.array(self.scales), np.maximum(over, 0.0)[:, back], force[:, back], self.replaced,
        )  # fmt: skip

    # Residuals

    def _measure(self) -> None:
        """Gradients, residuals and their scales."""
        st, V = self.stages, self.stages.values(self.z)
        nu = st.price - self.lam
        soft = st.present & np.isfinite(st.price)
        extra = np.where(soft, self.s * nu, 0.0)
        product = np.where(st.present, self.t * self.lam, 0.0)
        self.sum = float(np.sum(product) + np.sum(extra))
        off = np.where(st.present, st.sign * V + self.t - self.s - st.beta, 0.0)
        weighted = np.zeros_like(V)
        weighted[:, : st.m] = st.qp.w * V[:, : st.m]
        weighted += np.sum(np.where(st.present, st.sign * self.lam, 0.0), axis=0)
        self.grad = st.d * self.z + st.g + st.back(weighted) + st.terminal(self.z)
        cost = float(np.sum(np.abs(self.z) * (np.abs(st.g) + st.d * np.abs(self.z) / 2)))
        paid = np.where(soft, np.where(soft, st.price, 0.0) * np.maximum(st.sign * V - st.beta, 0.0), 0.0)
        self.cost = cost + float(np.sum(st.qp.w * V[:, : st.m] ** 2)) / 2 + float(np.sum(paid))
        largest = float(np.max(np.where(st.present, self.lam, 0.0), initial=0.0))
        relative = float(np.max(np.abs(off) / self._side_sizes(V), initial=0.0))
        primal = float(np.max(np.abs(off), initial=0.0))
        self.root = float(np.sqrt(np.sum(np.where(st.present, V**2, 0.0)) / self.count)) if self.count else 0.0
        gradient = max(float(np.max(np.maximum(np.abs(st.g), st.d * np.abs(self.z)))), largest, 1e-300)
        self.share = max(self.cost / max(self.count, 1), 1e-300)
        self.relative, self.gradient_size = relative, gradient
        self.residuals = primal, self._dual(), self.sum / max(self.count, 1)

    def _report(self) -> None:
        """Scales of the residuals, and whether these are below the tolerance."""
        sizes = zip(self.scales[1:], (self.gradient_size, self.share), strict=True)
        gradient, share = (max(FADES * old, new) for old, new in sizes)
        self.scales, dual, gap = (self.typical, gradient, share), *self.residuals[1:]
        tolerance = self.settings.tolerance
        self.done = self.relative <= tolerance and dual <= tolerance * gradient and gap <= tolerance * share

    def _side_sizes(self, V: Array) -> Array:
        """Sizes with which residuals of sides are compared."""
        return np.asarray(np.abs(self.stages.beta) + np.abs(V) + 1e-2 * self.typical + 1e-300)

    def _dual(self) -> float:
        """Largest entry of the gradient of the Lagrangian along free controls."""
        st, p, largest = self.stages, self.grad[-1, self.sizes.nu :], 0.0
        self.costates = [p]
        for k in reversed(range(st.N)):
            T = st.reduced[k].T
            y = T.T @ (self.grad[k] + st.F[k].T @ p)
            f = T.shape[1] - st.nx
            largest, p = max(largest, float(np.max(np.abs(y[:f]), initial=0.0))), y[f:]
            self.costates.insert(0, p)
        return largest

    # The Riccati recursion

    def _factor(self, barrier: Array) -> None:
        """Factors all stages, the last first; barrier: weights of rows and of z."""
        st, n = self.stages, self.stages.nu
        W = barrier.copy()
        W[:, : st.m] += st.qp.w
        H = [np.diag(st.d[k] + W[k, st.m :]) + st.C[k].T @ (W[k, : st.m, None] * st.C[k]) for k in range(st.N + 1)]
        P = H[-1][n:, n:] + (0.0 if st.qp.P is None else st.qp.P)
        self.factors = [_Factors(np.zeros((0, 0)), np.zeros((0, st.nx)), H[-1], P)]
        for k in reversed(range(st.N)):
            T = st.reduced[k].T
            M = H[k] + st.F[k].T @ P @ st.F[k]
            R = T.T @ M @ T
            f = len(R) - st.nx
            flat = np.linalg.eigvalsh(R[:f, :f])[:1] <= 1e-14 * np.max(np.abs(np.diag(R)[:f]), initial=0.0)
            if np.any(flat):  # controls along which the cost is flat do not move
                self.replaced += 1
                R[range(f), range(f)] += 1e-12 * np.max(np.abs(np.diag(R)), initial=1e-300)
            U = np.asarray(np.linalg.cholesky(R[:f, :f]), dtype=float)
            V = np.asarray(np.linalg.solve(U, R[:f, f:]), dtype=float)
            P = R[f:, f:] - V.T @ V
            self.factors.insert(0, _Factors(U, V, M, P))

    def _newton(self, gradient: Array, first: bool) -> Array:
        """The step in z for this gradient; first: it also leads onto the dynamics and the rows of E."""
        st, p, downs = self.stages, gradient[-1, self.sizes.nu :], []
        for k in reversed(range(st.N)):
            T, t = st.reduced[k][:2]
            here, following = self.factors[k], p + (self.factors[k + 1].P @ st.qp.b[k] if first else 0.0)
            y = T.T @ (gradient[k] + st.F[k].T @ following + (here.M @ t if first else 0.0))
            f = len(here.U)
            downs.append(np.linalg.solve(here.U, y[:f]))
            p = y[f:] - here.V.T @ downs[-1]
        x = st.qp.x0 if first else np.zeros(st.nx)
        step = np.zeros_like(self.z)
        for k, down in enumerate(reversed(downs)):
            here, (T, t) = self.factors[k], st.reduced[k][:2]
            y = np.concatenate([-np.linalg.solve(here.U.T, down + here.V @ x), x])
            step[k] = T @ y + (t if first else 0.0)
            x = st.F[k] @ step[k] + (st.qp.b[k] if first else 0.0)
        step[-1, st.nu :] = x
        return step

    def _gain(self, k: int) -> Array:
        here, T = self.factors[k], self.stages.reduced[k].T
        free = np.vstack([-np.linalg.solve(here.U.T, here.V), np.eye(self.sizes.nx)])
        return np.asarray((T @ free)[: self.sizes.nu])

    # Sides

    def _sides(self, slack: Array | float, paid: Array | float) -> tuple[Array, Array]:
        """(W, q) of all sides, for wanted products of t lambda and s nu."""
        st = self.stages
        nu = st.price - self.lam
        W = np.where(st.present, 1 / (self.t / self.lam + self.s / nu), 0.0)
        q = st.sign * st.values(self.z) - st.beta + slack / self.lam - paid / nu
        return W, np.where(st.present, q, 0.0)

    def _changes(
        self, step: Array, sides: tuple[Array, Array], slack: Array | float, paid: Array | float
    ) -> tuple[Array, Array, Array, float]:
        """Changes of lambda, t and s, and the longest step that keeps them positive."""
        st, (W, q) = self.stages, sides
        move = np.hstack([np.einsum("kij,kj->ki", st.C, step), step])
        dlam = W * (st.sign * move + q)
        soft, nu = st.present & np.isfinite(st.price), st.price - self.lam
        dt = np.where(st.present, (slack - self.t * dlam) / self.lam - self.t, 0.0)
        ds = np.where(soft, (paid + self.s * dlam) / nu - self.s, 0.0)
        length = np.inf
        for x, dx, where in (
            (self.t, dt, st.present),
            (self.lam, dlam, st.present),
            (self.s, ds, soft),
            (nu, -dlam, soft),
        ):
            shrinks = where & (dx < 0)
            length = min(length, float(np.min(-x[shrinks] / dx[shrinks], initial=np.inf)))
        return dlam, dt, ds, length

    def _begin_sides(self, mu: float, least: float, old: Array | float) -> None:
        """Slacks at the current z, and multipliers with products of mu or more, old ones if they are larger."""
        st, V = self.stages, self.stages.values(self.z)
        gap, soft = st.beta - st.sign * V, st.present & np.isfinite(st.price)
        t = np.maximum(np.abs(gap), least * self._side_sizes(V))
        lam = np.maximum(old, mu / t)
        t = np.where(old > mu / t, np.maximum(gap, mu / np.maximum(old, 1e-300)), t)
        lam = np.where(soft, np.minimum(lam, st.price * np.where(np.asarray(old) > 0, 1 - 1e-3, 0.5)), lam)
        self.s = np.where(soft, mu / (st.price - lam), 0.0)
        self.t, self.lam = np.where(st.present, t, 1.0), np.where(st.present, lam, 0.0)

    def _full_step(self, mu: float, dlam: Array, dt: Array, ds: Array) -> None:
        """Full steps of the sides, with products of about mu or more."""
        st, t, lam, paid = self.stages, self.t + dt, self.lam + dlam, self.s + ds
        soft = st.present & np.isfinite(st.price)
        paid, nu = _paired_again(mu, self.s, st.price - self.lam, paid, st.price - lam)
        lam = np.where(soft, st.price - nu, lam)
        t, lam = _paired_again(mu, self.t, self.lam, t, lam)
        dear = soft & (lam >= st.price)
        lam = np.where(dear, st.price / 2, lam)
        t = np.where(dear, np.maximum(t, mu / lam), t)
        self.s = np.where(soft, np.maximum(paid, CENTRAL * mu / (st.price - lam)), 0.0)
        self.t, self.lam = np.where(st.present, t, 1.0), np.where(st.present, lam, 0.0)

    # Steps

    def _begin(self) -> bool:
        """The first step, full in z: from z = 0 to the dynamics and rows of E."""
        st, old = self.stages, np.maximum(np.where(np.isfinite(self.kept), self.kept, 0.0), 0.0)
        self._measure()
        self._report()
        share, mu, sides = self.share, self.settings.start * self.scales[2], None
        gradient, barrier = self.grad, np.zeros((st.N + 1, st.m + st.nu + st.nx))
        if self.settings.warm:
            self.typical = self.root
            self._begin_sides(mu, 1e-4, old)
            self._measure()
            sides = self._sides(mu, mu)
            barrier = np.sum(sides[0], axis=0)
            gradient = self.grad + st.back(np.sum(st.sign * sides[0] * sides[1], axis=0))
        self.iterations += 1
        if not self._tried(barrier):
            return False
        step = self._newton(gradient, True)
        if not np.all(np.isfinite(step)):
            return False
        if sides is not None:
            self._full_step(mu, *self._changes(step, sides, mu, mu)[:3])
            self.z = self.z + step
            return True
        self.z, self.lam = self.z + step, np.zeros_like(st.beta)
        self._measure()
        self.typical = self.root
        self._begin_sides(max(share, self.share), 1e-2, 0.0)
        return True

    def _tried(self, barrier: Array) -> bool:
        try:
            self._factor(barrier)
        except np.linalg.LinAlgError:
            return False
        return True

    def _iterate(self) -> bool:
        """A predictor and a corrector, or one step for both as long as few sides block; False if it is not finite."""
        st, tried = self.stages, self.blocked
        mu, least = self.sum / max(self.count, 1), self.settings.tolerance * self.scales[2] / 4
        target = max(KEEPS * mu, least) if tried else 0.0
        sides = self._sides(target, target)
        self.iterations += 1
        if not self._tried(np.sum(sides[0], axis=0)):
            return False

        def step_for(sides: tuple[Array, Array]) -> Array:
            return self._newton(self.grad + st.back(np.sum(st.sign * sides[0] * sides[1], axis=0)), False)

        step = step_for(sides)
        dlam, dt, ds, longest = self._changes(step, sides, target, target)
        length, full = min(1.0, longest), self.iterations <= FULLY
        self.blocked = full and length < CORRECTS
        if self.count and not (tried and self.blocked):
            nu = np.where(np.isfinite(st.price), st.price - self.lam - length * dlam, 0.0)
            products = (self.t + length * dt) * (self.lam + length * dlam) + (self.s + length * ds) * nu
            ratio = 1 - length if tried else float(np.sum(np.where(st.present, products, 0.0))) / self.sum
            target = max(ratio**3 * mu, least)
            corrects = length > CORRECTS
            wanted = target - corrects * dt * dlam, target + corrects * ds * dlam
            sides = self._sides(*wanted)
            step = step_for(sides)
            dlam, dt, ds, longest = self._changes(step, sides, *wanted)
        if self.count:
            length = min(1.0, FRACTION * longest)
        if not np.all(np.isfinite(step)):
            return False
        if length < FULL and full and target < self.scales[2]:
            self._full_step(target, dlam, dt, ds)
            self.z = self.z + step
            return True
        self.z, self.lam = self.z + length * step, self.lam + length * dlam
        self.t, self.s = self.t + length * dt, self.s + length * ds
        return True


def _paired_again(mu: float, x: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """(a, b) with a product of mu where one of them is not positive or it is far smaller: the one that has grown more
    since they were (x, y) stays."""
    good = (a > 0) & (b > 0) & (a * b >= CENTRAL * mu)
    first = (b <= 0) | ((a > 0) & (a * y > b * x))
    stays = np.where(first, np.maximum(a, SHRINKS * x), np.maximum(b, SHRINKS * y))
    return np.where(good, a, np.where(first, stays, mu / stays)), np.where(good, b, np.where(first, mu / stays, stays))


def _all_finite(qp: StageQP) -> bool:
    """Whether all numbers of a program are finite; bounds may be infinite, but not the wrong way."""
    numbers = (qp.d, qp.g, qp.C, qp.c, qp.w, qp.E, qp.e, qp.b, qp.h, qp.x0, qp.F, qp.P)
    bounds = (qp.lower, -qp.upper, qp.zlower, -qp.zupper)
    prices = (qp.price, qp.zprice)
    return (
        all(a is None or np.all(np.isfinite(a)) for a in numbers)
        and all(np.all(a < ABSENT) for a in bounds)
        and all(np.all(a >= 0) for a in prices)
    )
