"""Least squares between bounds by Gauss-Newton steps with damping (Levenberg-Marquardt), for residuals that are
expensive and smooth but for kinks.

    minimize 1/2 |r(z)|^2,  lower <= z <= upper:   (J'J + mu D) step = -J' r

D is the largest diagonal of J'J so far [J. More, The Levenberg-Marquardt algorithm: implementation and theory, 1978],
and mu follows from how well the last step was predicted [H. B. Nielsen, Damping parameter in Marquardt's method, 1999].
Optimal motions have kinks where a bound becomes active or inactive: there a step may disappoint however it was
predicted. The failed step tells the residuals on the other side, and J is corrected along it (Broyden's update) before
the next, shorter step is tried: the derivative in this direction, over the kink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._base.types import Array

SMALLEST_STEP = 1e-6
"""Step of z at which the search ends; on the logarithmic scale a millionth of the parameter."""

SMALLEST_GAIN = 1e-10, 1e-12
"""Predicted decrease of the sum of squares, relative and absolute, below which the search ends."""

FIRST_DAMPING, MOST_DAMPING = 1e-3, 1e10
LONGEST_STEP = 1.5
"""Longest step of an entry of z: by the factor 4.5 on the logarithmic scale."""

HEAVY = 1e6
"""Weight of the row that keeps the mean of the weights, relative to the largest column."""


@dataclass(frozen=True)
class Point:
    """A point of the search: z, residuals, and the Jacobian once it is known."""

    z: Array
    r: Array

    @property
    def cost(self) -> float:
        return float(self.r @ self.r)


@dataclass
class Search:
    """The state of a search, from which it goes on.

    attempt(z) gives the residuals, None where there are none; accept() is called when the last attempt becomes the
    point; jacobian() is called at the point. told(search): called after every iteration.
    """

    attempt: Callable[[Array], Array | None]
    accept: Callable[[], None]
    jacobian: Callable[[], Array]
    lower: Array
    upper: Array
    gauge: Any
    told: Callable[[Search], None] = lambda search: None
    iteration: int = 0
    trials: int = 0
    damping: float = FIRST_DAMPING
    costs: list[float] = field(default_factory=list)
    status: str = ""

    def run(self, z: Array, most: int) -> tuple[Point, Array]:
        """The best point from z, and the Jacobian there; `status` tells why the search ended. ValueError if there are
        no residuals at z."""
        first = self.attempt(z)
        if first is None:
            raise ValueError("no residuals at the start")
        self.accept()
        point, J = Point(z, first), self.jacobian()
        scale = np.zeros(z.size)
        self.costs.append(point.cost)
        while not self.status:
            scale = np.maximum(scale, np.sum(J**2, axis=0))
            following = self._step(point, J, scale) if self.iteration < most else None
            if following is None:
                self.status = self.status or "Maximum_Iterations_Exceeded"
                break
            point = following
            self.accept()
            J = self.jacobian()
            self.iteration += 1
            self.costs.append(point.cost)
            self.told(self)
        return point, J

    def _step(self, point: Point, J: Array, scale: Array) -> Point | None:
        """The next point; None, with the status, where there is none."""
        growth, model = 2.0, J
        while True:
            step = damped_step(
                model, point.r, self.damping, scale, self.lower - point.z, self.upper - point.z, self.gauge
            )
            step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            gain = point.cost - float(np.sum((point.r + model @ step) ** 2))
            relative, absolute = SMALLEST_GAIN
            if gain <= relative * point.cost + absolute or np.abs(step).max(initial=0.0) < SMALLEST_STEP:
                kinked = self._predicted(point, J, scale) > KINKED * (1.0 + point.cost)
                self.status = "Stopped_At_A_Kink" if kinked else "Converged"
                return None
            self.trials += 1
            r = self.attempt(point.z + step)
            ratio = -1.0 if r is None else (point.cost - float(r @ r)) / gain
            if ratio > LEAST_RATIO and r is not None:
                self.damping = max(self.damping * max(1 / 3, 1 - (2 * ratio - 1) ** 3), 1e-12)
                return Point(point.z + step, r)
            if r is not None:
                model = model + np.outer(r - point.r - model @ step, step) / float(step @ step)
            self.damping, growth = self.damping * growth, 2 * growth
            if self.damping > MOST_DAMPING:
                self.status = "Stopped_At_A_Kink"
                return None

    def _predicted(self, point: Point, J: Array, scale: Array) -> float:
        """Decrease of the sum of squares that the Jacobian at the point itself predicts for a step without damping."""
        step = self._damped(J, point, 1e-9, scale)
        return point.cost - float(np.sum((point.r + J @ step) ** 2))

    def _damped(self, J: Array, point: Point, damping: float, scale: Array) -> Array:
        return damped_step(J, point.r, damping, scale, self.lower - point.z, self.upper - point.z, self.gauge)


LEAST_RATIO = 1e-3
"""Least ratio of the decrease of the sum of squares to the predicted one for a step to be taken."""

KINKED = 1e-4
"""Predicted decrease, relative to one and the sum of squares, above which a search that finds no better point has not
converged."""


def damped_step(J: Array, r: Array, damping: float, scale: Array, low: Array, high: Array, gauge: Any) -> Array:
    """The step that minimizes |r + J step|^2 + damping step' D step between low and high; steps of the entries in
    `gauge` have the mean zero. D: `scale`, at least a small part of its largest entry."""
    n = J.shape[1]
    size = max(float(scale.max(initial=0.0)), 1e-300)
    rows = [J, np.diag(np.sqrt(damping * np.maximum(scale, 1e-8 * size)))]
    if np.any(gauge):
        rows.append(HEAVY * np.sqrt(size) * np.asarray(gauge, dtype=float)[None, :])
    A = np.concatenate(rows)
    b = np.concatenate([-r, np.zeros(len(A) - r.size)])
    step, free = np.zeros(n), np.ones(n, dtype=bool)
    for _ in range(3 * n + 1):
        step[free] = np.linalg.lstsq(A[:, free], b - A[:, ~free] @ step[~free], rcond=None)[0] if np.any(free) else 0.0
        over = np.maximum(np.where(free, np.maximum(low - step, step - high), -np.inf), 0.0)
        worst = int(np.argmax(over))
        if over[worst] > 0:
            step[worst] = low[worst] if step[worst] < low[worst] else high[worst]
            free[worst] = False
            continue
        slope = A.T @ (A @ step - b)
        pulled = np.where(~free, np.where(step <= low, -slope, slope), -np.inf)
        back = int(np.argmax(pulled))
        if not pulled[back] > 1e-9 * np.abs(slope).max(initial=0.0) or low[back] == high[back]:
            break
        free[back] = True
    return step
