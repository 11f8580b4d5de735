"""Limit cycles of walkers: the map from one step to the next, its fixed point, and the decay of disturbances.

A step flows along `x' = f(x)` until the guard vanishes (the foot strikes). A reset (impact, then exchange of the legs)
leads to the start of the next step:

    P(x) = reset(flow(x, T(x))),   guard(flow(x, T(x))) = 0.

A gait is a fixed point P(x) = x; the eigenvalues of dP/dx are its Floquet multipliers, and the gait is stable where
all lie inside the unit circle [A. Goswami, B. Espiau & A. Keramane, Limit cycles and their stability in a
passive bipedal gait, ICRA 1996; M. Garcia, A. Chatterjee, A. Ruina & M. Coleman, The simplest walking model,
J. Biomech. Eng. 120, 1998].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from ._base.checks import call_user, expression, function, numbers, positive, whole
from ._base.display import Tabular
from ._base.types import Array, repr_in_message
from .integrators import flow_step, scheme

Map = Callable[[SX], SX]


LARGEST_STATE_SIZE, LARGEST_STEP_COUNT = 200, 100_000
"""Limits for n, the size of a state, and for the number of Runge-Kutta steps: a map is built within a second."""


class NoGait(ValueError):
    """The error if no gait is found: a gait may not exist.

    >>> fall = ocp.StepMap(lambda x: ca.vertcat(x[1], -1), lambda x: x[0] + 1, lambda x: x, 2)  # never starts again
    >>> fall.limit_cycle([0.0, 0.0], 1.0)
    Traceback (most recent call last):
        ...
    ocp_dyn.limit_cycles.NoGait: no periodic gait was found from the guess [0. 0.], period 1 s: there ...
    """


class Multipliers(Tabular, np.ndarray):
    """Floquet multipliers: an array of complex numbers, largest first, that `print` and notebooks show as a table."""

    @classmethod
    def of(cls, derivative: Array) -> Multipliers:
        """The eigenvalues of the derivative of a map."""
        values = np.linalg.eigvals(derivative) if derivative.size else np.zeros(0)
        return values[np.argsort(-np.abs(values), kind="stable")].view(cls)

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        head = "multiplier", "magnitude", "angle [deg]"
        return head, [(f"{x:.4g}", f"{abs(x):.4g}", f"{np.degrees(np.angle(x)):.4g}") for x in np.asarray(self).ravel()]

    def __repr__(self) -> str:
        return repr(np.asarray(self))


@dataclass(frozen=True, eq=False)
class LimitCycle:
    """A periodic gait: state x (n) at the start of a step, period T [s], dP/dx (n x n), its eigenvalues, the path.

    x: right after the reset. derivative: dP/dx. multipliers: its eigenvalues, largest first; zero for directions that
    the guard and the reset remove. t (N+1) [s], states (N+1, n): the step from its start to the strike. residual: the
    largest error of P(x) = x and of the guard.

    >>> fall, strike = lambda x: ca.vertcat(x[1], ca.sin(x[0])), lambda x: x[0] - 0.4  # a rimless wheel on a slope
    >>> spoke = lambda x: ca.vertcat(-0.2, ca.cos(0.6) * x[1])  # spokes 0.6 rad apart, slope 0.1 rad
    >>> ocp.StepMap(fall, strike, spoke, 2).limit_cycle([-0.2, 0.4], 1.0).stable
    True
    """

    x: Array
    period: float
    derivative: Array
    multipliers: Multipliers
    t: Array
    states: Array
    residual: float

    @property
    def stable(self) -> bool:
        """Whether every multiplier lies inside the unit circle."""
        return bool(np.abs(self.multipliers[0]) < 1.0)


class StepMap:
    """The map from the start of a step to the start of the next.

    f: x -> dx/dt; guard: x -> a number that vanishes when the foot strikes; reset: x before the strike -> x after it;
    each from SX to SX. n: size of x. steps: number of steps of the fourth-order Runge-Kutta method in one step of the
    walker.

    >>> fall, strike = lambda x: ca.vertcat(x[1], ca.sin(x[0])), lambda x: x[0] - 0.4  # a rimless wheel on a slope
    >>> spoke = lambda x: ca.vertcat(-0.2, ca.cos(0.6) * x[1])  # spokes 0.6 rad apart, slope 0.1 rad
    >>> cycle = ocp.StepMap(fall, strike, spoke, 2).limit_cycle([-0.2, 0.4], 1.0)
    >>> round(float(np.abs(cycle.multipliers[0])), 4)  # cos(0.6)^2
    0.6812
    """

    def __init__(self, f: Map, guard: Map, reset: Map, n: int, steps: int = 1000) -> None:
        whole(n, "n", least=1, most=LARGEST_STATE_SIZE)
        whole(steps, "steps", least=1, most=LARGEST_STEP_COUNT)
        for key, part in (("f", f), ("guard", guard), ("reset", reset)):
            function(part, f"StepMap {key}")
        x, h, by_x, by_h = SX.sym("x", n), SX.sym("h"), SX.sym("by_x", n, n), SX.sym("by_h", n)
        strike = expression(call_user("StepMap guard", guard, x), "StepMap guard")
        after = expression(call_user("StepMap reset", reset, x), "StepMap reset")
        rate = expression(call_user("StepMap f", f, x), "StepMap f")
        if strike.shape != (1, 1) or after.shape != (n, 1):
            raise ValueError(
                f"StepMap guard must return one number and reset n = {n} numbers, got shapes {strike.shape} and "
                f"{after.shape}"
            )
        if rate.shape != (n, 1):
            raise ValueError(f"StepMap f must return n = {n} numbers, got shape {rate.shape}")
        x1 = flow_step(scheme("rk4"), f, x, h)
        A, b = ca.jacobian(x1, x), ca.jacobian(x1, h)
        carried = ca.vertcat(x1, ca.vec(A @ by_x), A @ by_h + b)
        step = ca.Function("step", [ca.vertcat(x, ca.vec(by_x), by_h), h], [ca.densify(carried)], {"cse": True})
        self._flow = step.mapaccum(steps)
        self._strike = ca.Function("strike", [x], [strike, ca.jacobian(strike, x), after, ca.jacobian(after, x)])
        self._rate = ca.Function("rate", [x], [rate])
        self.n, self.steps = n, steps

    def flow(self, x: Array, period: float) -> tuple[Array, Array, Array]:
        """States (steps + 1, n) from x over `period` [s], and the derivatives of the last state by x and by the
        period."""
        positive(period, "the period [s]")
        begin = np.concatenate([x, np.eye(self.n).ravel(), np.zeros(self.n)])
        path = np.asarray(self._flow(begin, period / self.steps).full()).T
        end = path[-1]
        by_x = end[self.n : -self.n].reshape(self.n, self.n, order="F")
        return np.vstack([x, path[:, : self.n]]), by_x, end[-self.n :] / self.steps

    def step(self, x: Array, period: float) -> tuple[Array, float]:
        """P(x) (n) and the time of the strike [s], found by Newton's method from the guess `period`."""
        for _ in range(30):
            states, _, by_T = self.flow(x, period)
            guard, slope, after, _ = (np.asarray(part.full()) for part in self._strike(states[-1]))
            change = -float(guard.item()) / float((slope @ by_T).item())
            if abs(change) < 1e-12 * period:
                return after.ravel(), period
            period = max(0.5 * period, period + change)
        raise NoGait(f"the foot does not strike near {period:.3g} s after {x}")

    def limit_cycle(self, x: Array, period: float, tolerance: float = 1e-12, iterations: int = 30) -> LimitCycle:
        """The fixed point P(x) = x near a guess, by Newton's method on (x, T); NoGait if it does not converge."""
        whole(iterations, "iterations", least=1)
        start = numbers(x, "x")
        if start.size != self.n:
            raise ValueError(f"x must be {self.n} numbers, got {repr_in_message(x)}")
        z = np.append(start, positive(period, "the period [s]"))
        positive(tolerance, "tolerance")
        for _ in range(iterations):
            if not (np.all(np.isfinite(z)) and 0 < z[-1] < 100 * period):
                break
            states, by_x, by_T = self.flow(z[:-1], z[-1])
            guard, slope, after, turn = (np.asarray(part.full()) for part in self._strike(states[-1]))
            residual = np.append(after.ravel() - z[:-1], guard.item())
            if np.abs(residual).max() < tolerance:
                return self._cycle(z, states, by_x, slope, turn, float(np.abs(residual).max()))
            jacobian = np.block(
                [[turn @ by_x - np.eye(self.n), (turn @ by_T)[:, None]], [slope @ by_x, slope @ by_T[:, None]]]
            )
            try:
                z = z - np.linalg.solve(jacobian, residual)
            except np.linalg.LinAlgError:
                break
        raise NoGait(
            f"no periodic gait was found from the guess {np.asarray(x)}, period {period:.4g} s: "
            "there may be none nearby; start from a known gait whose parameters are close to these"
        )

    def _cycle(self, z: Array, states: Array, by_x: Array, slope: Array, turn: Array, residual: float) -> LimitCycle:
        """Makes the `LimitCycle` of a fixed point. The time of the strike depends on x: dT/dx = -(g' Phi)/(g' f)."""
        rate = np.asarray(self._rate(states[-1]).full())
        closing = float((slope @ rate).item())
        if not closing:
            raise NoGait(
                f"the motion from {repr_in_message(z[:-1])} touches the guard without crossing it, or rests: this is "
                "no gait; start from another guess"
            )
        P = turn @ (by_x - rate @ (slope @ by_x) / closing)
        t = np.linspace(0.0, z[-1], self.steps + 1)
        return LimitCycle(z[:-1], float(z[-1]), P, Multipliers.of(P), t, states, residual)


def follow_limit_cycles(
    maps: Iterable[StepMap], x: Array, period: float, largest_change: float = 0.05
) -> Iterator[LimitCycle]:
    """An iterator over the limit cycle of every map of a family whose parameter, such as a slope, changes in even
    steps.

    The search for the first cycle starts at (x, period), for the second at the first cycle, for every later one at the
    linear extrapolation of the two before it. NoGait if no cycle is found, or if the period [s] changes by more than
    the fraction `largest_change` in one step: then another gait was found, and the branch may have ended.

    >>> def wheel_on(slope):  # a rimless wheel, spokes 0.6 rad apart
    ...     fall, strike = lambda x: ca.vertcat(x[1], ca.sin(x[0])), lambda x: x[0] - slope - 0.3
    ...     return ocp.StepMap(fall, strike, lambda x: ca.vertcat(slope - 0.3, ca.cos(0.6) * x[1]), 2, steps=100)
    >>> cycles = ocp.follow_limit_cycles(map(wheel_on, (0.1, 0.101, 0.102)), [-0.2, 0.4], 1.0)
    >>> [round(cycle.period, 3) for cycle in cycles]  # steeper is faster
    [1.207, 1.2, 1.192]
    """
    if not isinstance(maps, Iterable):
        raise TypeError(f"follow_limit_cycles needs an iterable of StepMaps as maps, got {repr_in_message(maps)}")
    guess = np.append(numbers(x, "x"), positive(period, "the period [s]"))
    return _followed(maps, guess, positive(largest_change, "largest_change"))


def _followed(maps: Iterable[StepMap], guess: Array, largest_change: float) -> Iterator[LimitCycle]:
    """The cycles, from a guess [x; period] of the first."""
    path: list[Array] = []
    for step_map in maps:
        if not isinstance(step_map, StepMap):
            raise TypeError(f"follow_limit_cycles needs StepMaps, got {repr_in_message(step_map)}")
        cycle = step_map.limit_cycle(guess[:-1], guess[-1])
        change = cycle.period / path[-1][-1] - 1 if path else 0.0
        if abs(change) > largest_change:
            raise NoGait(
                f"the period changes by {100 * change:.2g} % in step {len(path)}, from {path[-1][-1]:.4g} to "
                f"{cycle.period:.4g} s: that is another gait; change the parameter in smaller steps, or stop before "
                "this one"
            )
        path.append(np.append(cycle.x, cycle.period))
        guess = path[-1] if len(path) == 1 else 2 * path[-1] - path[-2]
        yield cycle
