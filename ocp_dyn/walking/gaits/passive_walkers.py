"""Passive walkers on two straight legs: a gait followed along slopes, its figures, its picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...limit_cycles import LimitCycle, NoGait, StepMap, follow_limit_cycles
from ...viz.drawing import figure, save


class KnownGait(NamedTuple):
    """A known gait, the start of a continuation: slope [rad], state (theta, phi, theta', phi') and period [s].

    >>> od.walking.KnownGait(0.009, (0.2003, 0.4006, -0.1998, -0.0158), 3.8825).period
    3.8825
    """

    slope: float
    state: tuple[float, ...]
    period: float


def follow_slopes(
    step_map: Callable[[float], StepMap], known: KnownGait, slope: float, stride: float = 0.25
) -> LimitCycle:
    """The gait at `slope` [rad], found from the known one by steps of the slope's logarithm of at most `stride`; NoGait
    where the gaits end. step_map: slope -> the map from step to step.

    >>> def on_slope(g):  # the simplest walker
    ...     turn, c = lambda x: ca.sin(x[0] - g), lambda x: ca.cos(2 * x[0])
    ...     swing = lambda x: turn(x) + (x[2] ** 2 - ca.cos(x[0] - g)) * ca.sin(x[1])
    ...     strike = lambda x: ca.vertcat(-x[0], -2 * x[0], c(x) * x[2], c(x) * (1 - c(x)) * x[2])
    ...     fall = lambda x: ca.vertcat(x[2:], turn(x), swing(x))
    ...     return ocp.StepMap(fall, lambda x: x[1] - 2 * x[0], strike, 4, 100)
    >>> known = od.walking.KnownGait(0.009, (0.2003, 0.4006, -0.1998, -0.0158), 3.8825)
    >>> round(od.walking.follow_slopes(on_slope, known, 0.01).period, 1)
    3.9
    """
    if not slope > 0:
        raise NoGait(f"a passive walker needs a slope downhill, which drives it: slope must be positive, got {slope:g}")
    count = max(1, int(np.ceil(abs(np.log(slope / known.slope)) / stride)))
    slopes = [known.slope, *(float(value) for value in np.geomspace(known.slope, slope, count + 1)[1:])]
    followed = follow_limit_cycles(map(step_map, slopes), np.array(known.state), known.period)
    for here in slopes:
        try:
            cycle = next(followed)
        except NoGait as error:
            raise NoGait(f"the long-period gait was not found at a slope of {here:.4g}: {error}") from error
    return cycle


def passive_figures(cycle: LimitCycle, leg: float) -> dict[str, Any]:
    """Numbers of a gait on legs of this length [m]; its state is that at the start of a step, just after the strike.

    >>> x, t, states = np.array([0.2, 0.4, -0.2, 0.0]), np.zeros(1), np.zeros((1, 4))
    >>> cycle = ocp.LimitCycle(x, 3.9, np.eye(4), np.array([0.6]), t, states, 0.0)
    >>> round(od.walking.passive_figures(cycle, 1.0)["step_length"], 3)
    0.397
    """
    theta, phi, theta_rate, phi_rate = (float(x) for x in cycle.x)
    step_length = 2 * leg * float(np.sin(theta))
    return {
        "theta": theta,
        "phi": phi,
        "theta_rate": theta_rate,
        "phi_rate": phi_rate,
        "period": cycle.period,
        "step_length": step_length,
        "speed": step_length / cycle.period,
        "multipliers": [[float(m.real), float(m.imag)] for m in cycle.multipliers],
        "multiplier_magnitude": float(np.abs(cycle.multipliers[0])),
        "stable": cycle.stable,
        "residual": cycle.residual,
    }


def plot_passive_gait(
    cycle: LimitCycle, leg: float, slope: float, path: str | Path | None = None, title: str = ""
) -> Any:
    """One step on the slope, the limit cycle of both legs, and the multipliers in the unit circle."""
    made = figure(13, 4)
    made.set_layout_engine("constrained")
    walk, phase, circle = made.subplots(1, 3)
    turn = np.array([[np.cos(slope), np.sin(slope)], [-np.sin(slope), np.cos(slope)]])
    for k in np.linspace(0, len(cycle.t) - 1, 9).astype(int):
        theta, phi = cycle.states[k, :2]
        hip = leg * np.array([-np.sin(theta), np.cos(theta)])
        foot = hip + leg * np.array([np.sin(theta - phi), -np.cos(theta - phi)])
        shade = 0.25 + 0.75 * k / (len(cycle.t) - 1)
        for end, color in ((np.zeros(2), "tab:blue"), (foot, "tab:orange")):
            walk.plot(*(turn @ np.array([end, hip]).T), color=color, alpha=shade)
        walk.plot(*(turn @ hip), "o", color="0.2", alpha=shade)
    ground = turn @ np.array([[-1.0, 1.0], [0.0, 0.0]]) * 0.8 * leg
    walk.plot(*ground, color="0.4", lw=1)
    walk.set(aspect="equal", title="one step", xlabel="x", ylabel="z")
    theta, phi, theta_rate, phi_rate = cycle.states.T
    phase.plot(theta, theta_rate, label="stance leg")
    phase.plot(theta - phi, theta_rate - phi_rate, label="swing leg")
    # at the strike the legs change their names and their rates jump
    phase.plot((theta[-1], -theta[0]), (theta_rate[-1], theta_rate[0] - phi_rate[0]), "k:", lw=1, label="strike")
    phase.plot((theta[-1] - phi[-1], theta[0]), (theta_rate[-1] - phi_rate[-1], theta_rate[0]), "k:", lw=1)
    phase.set(title="limit cycle", xlabel="angle from the slope's normal [rad]", ylabel="rate")
    phase.legend(frameon=False)
    around = np.linspace(0, 2 * np.pi, 200)
    circle.plot(np.cos(around), np.sin(around), color="0.6", lw=1)
    circle.plot(cycle.multipliers.real, cycle.multipliers.imag, "x", ms=8)
    circle.set(aspect="equal", title="Floquet multipliers", xlabel="real", ylabel="imaginary")
    made.suptitle(title)
    save(made, path, dpi=120)
    return made
